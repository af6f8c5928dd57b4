//! Rods on the brink of an instability: the load at which a small push neither grows nor fades, against Kirchhoff's.
//!
//! Four substeps of one solve find it where bending takes its time, h√(EI/ρA)/L² = 0.001 to 0.0035 here. From some 0.004 on
//! (0.003 under TL²/EI = 100) rods that hold large moments shiver by 10⁻⁴ to 10⁻³ of their length instead: the blocks leave
//! out the moments' geometric stiffness, one solve overshoots, and Π tells so only where it rises by more than rounding.

use std::f64::consts::{PI, TAU};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, FleshState, Holds, NodeState, RodNode, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{Physics, Pose, Section};

use crate::common::{FRAME, material};
use crate::critical_loads::{HeavyRod, greenhill_moment, ring_twist};

/// Of every rod (m).
const LENGTH: f64 = 1.0;
/// Of round ones, and the thickness of straps (m).
const RADIUS: f64 = 0.005;
/// (kg/m³)
const DENSITY: f64 = 1000.0;
/// Enough that the slowest mode creeps (1/s).
const DAMPING: f64 = 10.0;
/// (m/s²)
const GRAVITY: f64 = 9.81;
/// About the size of a push (m).
const PUSH: f64 = 1.0e-4 * LENGTH;
/// Frames over which a push is watched, or until it has grown or faded by a factor of e.
const WATCHED: usize = 300;

/// A rod in balance.
struct Balanced {
    /// Bones hold it by clamps alone.
    rod: RodSpec,
    /// Where each node is, and how far turned from rest.
    nodes: Vec<Pose>,
    /// A displacement of each node (m) that takes it out of its balance, if anything does.
    push: Vec<DVec3>,
}

/// Which instability.
struct Brink<'a> {
    name: &'a str,
    critical: f64,
    /// Whether rods are unstable below the critical load, not above.
    below: bool,
    /// (m/s²)
    gravity: f64,
    /// Frames after which a push has come to its slowest mode.
    settled: usize,
}

impl Brink<'_> {
    /// The load from which on pushes grow, or fade, of eight from 3.5 % below the critical one to 3.5 % above; NaN where
    /// there is not one.
    fn found(&self, integrator: Integrator, balanced: impl Fn(f64) -> Balanced) -> f64 {
        let loads: [f64; 8] = std::array::from_fn(|k| self.critical * (0.965 + 0.01 * k as f64));
        let gravity = DVec3::NEG_Y * self.gravity;
        let config = StepConfig { gravity, integrator, ..StepConfig::default() };
        let mut growths = growths(&loads.map(balanced), config, self.settled);
        if self.below {
            growths.iter_mut().for_each(|growth| *growth = -*growth);
        }
        // A push that changed its side did not grow: it is not what is looked for.
        if growths.iter().any(|growth| growth.is_nan()) {
            return f64::NAN;
        }
        let crosses = |k: &usize| (growths[*k] > 0.0) != (growths[k - 1] > 0.0);
        match (1..loads.len()).filter(crosses).collect::<Vec<usize>>()[..] {
            [k] if growths[0] < 0.0 => {
                let share = growths[k - 1] / (growths[k - 1] - growths[k]);
                loads[k - 1] + (loads[k] - loads[k - 1]) * share
            }
            _ => f64::NAN,
        }
    }

    /// Whether it is within 3 % of the critical load with 40 segments and within 1 % with 80.
    fn holds(&self, balanced: impl Fn(usize, f64) -> Balanced) -> bool {
        let mut holds = true;
        for (segments, bar) in [(40, 0.03), (80, 0.01)] {
            for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
                let found = self.found(integrator, |load| balanced(segments, load));
                let error = found / self.critical - 1.0;
                println!(
                    "{}, N = {segments}, {integrator:?}: {found:.4}, {:+.3} % off {:.4} (bar {} %)",
                    self.name,
                    100.0 * error,
                    self.critical,
                    100.0 * bar
                );
                holds &= error.abs() <= bar;
            }
        }
        holds
    }
}

/// Puts a chain where it is in balance, and pushes it by so many times its push.
fn place(state: &mut FleshState, rest: &FleshState, flesh: &Flesh, chain: usize, balanced: &Balanced, pushes: f64) {
    let count = balanced.nodes.len();
    let wanted = |j: usize| {
        let (pose, rest) = (balanced.nodes[j], rest.node(flesh, chain, j));
        let frame = (pose.rotation * rest.frame.as_dquat()).as_quat();
        NodeState { place: pose.translation + balanced.push[j] * pushes, frame, ..rest }
    };
    (0..count).for_each(|j| state.set_node(flesh, chain, j, &wanted(j)));
}

/// How fast (1/s) the pushes of rods grow.
///
/// Each rod is there twice and pushed both ways: the difference knows nothing of where exactly the balance of the discrete
/// rod is, nor of what rounding adds to it.
fn growths(balanced: &[Balanced], config: StepConfig, settled: usize) -> Vec<f64> {
    let (mut rods, mut rest_bones, mut bones) = (Vec::new(), Vec::new(), Vec::new());
    for Balanced { rod, nodes, .. } in balanced.iter().flat_map(|balanced| [balanced; 2]) {
        let mut rod = rod.clone();
        for attachment in &mut rod.attachments {
            attachment.bone = bones.len();
            rest_bones.push(Pose::from_translation(rod.nodes[attachment.node].place));
            bones.push(nodes[attachment.node]);
        }
        rods.push(rod);
    }
    let flesh = Arc::new(Flesh::build(&rods, &rest_bones).expect("in range"));
    let rest = FleshState::at_rest(&flesh, &rest_bones, &Pose::IDENTITY);
    let mut physics = Physics::with_config(config);
    let handle = physics.insert(flesh.clone(), &bones, Pose::IDENTITY).expect("as many bones as built with");
    let state = physics.state_mut(handle).unwrap();
    for chain in 0..rods.len() {
        place(state, &rest, &flesh, chain, &balanced[chain / 2], [1.0, -1.0][chain % 2]);
    }
    let mut offsets = |frames: usize| -> Vec<f64> {
        for _ in 0..frames {
            physics.step_flesh(FRAME).unwrap();
        }
        let along = |chain: usize, push: &[DVec3]| -> f64 {
            push.iter().enumerate().map(|(j, push)| physics.node(handle, chain, j).unwrap().place.dot(*push)).sum()
        };
        balanced.iter().enumerate().map(|(k, rod)| along(2 * k, &rod.push) - along(2 * k + 1, &rod.push)).collect()
    };
    let early = offsets(settled);
    // And whether it is still watched.
    let mut growths = vec![(0.0, true); balanced.len()];
    for frame in 1..=WATCHED {
        let late = offsets(1);
        for (k, (growth, watched)) in growths.iter_mut().enumerate() {
            if *watched {
                let folds = (late[k] / early[k]).ln();
                *growth = folds / (FRAME * frame as f64);
                *watched = folds.abs() < 1.0;
            }
        }
    }
    assert_eq!(physics.health(handle).unwrap().resets, 0);
    growths.into_iter().map(|(growth, _)| growth).collect()
}

/// What a function of the share of the length is at each node.
fn along<T>(segments: usize, f: impl Fn(f64) -> T) -> Vec<T> {
    (0..=segments).map(|j| f(j as f64 / segments as f64)).collect()
}

/// A straight round rod along x, of ν = 0, so that GJ = EI, clamped at both ends.
fn straight(segments: usize) -> RodSpec {
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * LENGTH, segments, RADIUS);
    rod.material = material(1.0e7, 0.0, DENSITY, DAMPING);
    rod.attach(0, 0, Holds::CLAMP).attach(segments, 1, Holds::CLAMP)
}

#[test]
fn a_twisted_ring_leaves_its_plane_where_michell_has_it() {
    let ring = |segments: usize, twist: f64| {
        // Of the polygon's corners.
        let radius = 0.5 * LENGTH / segments as f64 / (PI / segments as f64).sin();
        let pose = |s: f64| {
            let (sin, cos) = (TAU * s).sin_cos();
            let turn = DQuat::from_rotation_z(TAU * s) * DQuat::from_rotation_x(twist * s);
            Pose::new(DVec3::new(sin, 1.0 - cos, 0.0) * radius, turn)
        };
        // Two waves, turned so that the clamped seam stays where it is.
        let push = |s: f64| DVec3::Z * (PUSH * ((2.0 * TAU * s).sin() - 2.0 * (TAU * s).sin()));
        Balanced { rod: straight(segments), nodes: along(segments, pose), push: along(segments, push) }
    };
    let critical = ring_twist(1.0);
    let brink = Brink { name: "twist (rad) of a ring", critical, below: false, gravity: 0.0, settled: 60 };
    assert!(brink.holds(ring));
}

#[test]
fn a_twisted_rod_leaves_its_line_where_greenhill_has_it() {
    let held = [0.0, 20.0, 100.0].map(|tension| {
        // EI/EA = r²/4.
        let stretched = LENGTH + tension * 0.25 * RADIUS * RADIUS / LENGTH;
        let line = |segments: usize, twist: f64| {
            let pose = |s: f64| Pose::new(DVec3::X * (stretched * s), DQuat::from_rotation_x(twist * s));
            let push = |s: f64| DVec3::Y * (PUSH * (PI * s).sin().powi(2));
            Balanced { rod: straight(segments), nodes: along(segments, pose), push: along(segments, push) }
        };
        let (name, critical) = (format!("ML/EI at TL²/EI = {tension}"), greenhill_moment(tension));
        Brink { name: &name, critical, below: false, gravity: 0.0, settled: 60 }.holds(line)
    });
    assert_eq!(held, [true; 3]);
}

/// A rod in balance under its own weight number Γ.
fn heavy(rod: RodSpec, exact: &HeavyRod, weight: f64) -> Balanced {
    let segments = rod.nodes.len() - 1;
    let pose = |(j, [x, y, angle]): (usize, [f64; 3])| {
        let rest_angle = exact.clamp_angle + exact.rest_turn * j as f64 / segments as f64;
        Pose::new(DVec3::new(x, y, 0.0) * LENGTH, DQuat::from_rotation_z(angle - rest_angle))
    };
    let nodes = exact.shape(weight, segments).into_iter().enumerate().map(pose).collect();
    let push = along(segments, |s| DVec3::Z * (PUSH * s * s));
    Balanced { rod: rod.attach(0, 0, Holds::CLAMP), nodes, push }
}

/// The bend–twist test of Romero et al. 2021: a curl of 6 rad at ν = 0.3, light enough to hang in its plane at Γ < 13.93 and
/// heavy enough at Γ > 25.15.
#[test]
fn a_hanging_curl_leaves_its_plane_and_comes_back() {
    let nu = 0.3;
    let exact = HeavyRod::curl(6.0, 1.0 / (1.0 + nu));
    let curl = |segments: usize, weight: f64| {
        let youngs_modulus = 4.0 * DENSITY * GRAVITY * LENGTH.powi(3) / (weight * RADIUS * RADIUS);
        let chord = LENGTH / segments as f64;
        let mut nodes = vec![RodNode::disc(DVec3::ZERO, RADIUS)];
        for j in 0..segments {
            let (sin, cos) = (exact.rest_turn * (j as f64 + 0.5) / segments as f64).sin_cos();
            nodes.push(RodNode::disc(nodes[j].place + DVec3::new(sin, -cos, 0.0) * chord, RADIUS));
        }
        let material = material(youngs_modulus, nu, DENSITY, DAMPING);
        heavy(RodSpec { nodes, material, ..RodSpec::default() }, &exact, weight)
    };
    let [lower, upper] = exact.thresholds(60.0)[..] else { panic!("out of the plane and back") };
    let held = [("lower", lower, false), ("upper", upper, true)].map(|(which, critical, below)| {
        let name = format!("Γ of a curl, {which} transition");
        Brink { name: &name, critical, below, gravity: GRAVITY, settled: 240 }.holds(curl)
    });
    assert_eq!(held, [true; 2]);
}

#[test]
fn straps_on_edge_buckle_sideways_under_their_weight() {
    let nu = 0.3;
    let held = [4.0_f64, 10.0].map(|ratio| {
        let (width, thickness) = (ratio * RADIUS, RADIUS);
        let section = Section {
            area: width * thickness,
            second_moment_u: thickness * width.powi(3) / 12.0,
            second_moment_v: width * thickness.powi(3) / 12.0,
            product_moment: 0.0,
            // Of a rectangle, to half a percent (Roark).
            torsion_constant: width * thickness.powi(3) * (1.0 / 3.0 - 0.21 / ratio * (1.0 - ratio.powi(-4) / 12.0)),
        };
        let Section { area, second_moment_u: strong, second_moment_v: weak, torsion_constant, .. } = section;
        let exact = HeavyRod::strap(strong / weak, torsion_constant / (2.0 * (1.0 + nu) * weak));
        let strap = |segments: usize, weight: f64| {
            let youngs_modulus = DENSITY * area * GRAVITY * LENGTH.powi(3) / (weight * weak);
            let material = material(youngs_modulus, nu, DENSITY, DAMPING);
            let nodes = along(segments, |s| RodNode { place: DVec3::X * (LENGTH * s), section });
            heavy(RodSpec { nodes, material, u_axis: Some(DVec3::Z), ..RodSpec::default() }, &exact, weight)
        };
        let (name, critical) = (format!("Γ of a strap of {ratio}:1"), exact.thresholds(40.0)[0]);
        Brink { name: &name, critical, below: false, gravity: GRAVITY, settled: 240 }.holds(strap)
    });
    assert_eq!(held, [true; 2]);
}
