//! What lies on what: towers of logs, heavy and light bodies.

use std::f64::consts::TAU;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::scenes::{Logs, SceneParameters};
use sinew::step::StepConfig;
use sinew::{Material, Physics, Pose};

use crate::common::{FRAME, material};
use crate::pile::{LENGTH, PASSES, Pile, RADIUS, SEGMENTS, deepest};

/// Ten layers of three logs: seconds, and how they then stand.
struct Tower {
    physics: Physics,
    handle: sinew::FleshHandle,
    start: Vec<DVec3>,
}

impl Tower {
    fn new(youngs_modulus: f64) -> Self {
        let mut parameters = SceneParameters::of("logs").unwrap();
        parameters.material.youngs_modulus = youngs_modulus;
        let scene = parameters.build("logs").unwrap();
        let mut physics = Physics::with_config(scene.config);
        let handle = scene.insert(&mut physics).unwrap();
        let mut tower = Self { physics, handle, start: Vec::new() };
        tower.start = tower.middles();
        tower
    }

    fn nodes(&self) -> impl Iterator<Item = sinew::flesh::NodeState> {
        let flesh = self.physics.flesh(self.handle).unwrap();
        let nodes =
            (0..flesh.chains().len()).flat_map(|log| (0..flesh.chains()[log].node_count()).map(move |j| (log, j)));
        nodes.map(|(log, j)| self.physics.node(self.handle, log, j).unwrap())
    }

    fn middles(&self) -> Vec<DVec3> {
        let segments = Logs::default().segments;
        let logs = 0..3 * Logs::default().layers;
        logs.map(|log| self.physics.node(self.handle, log, segments / 2).unwrap().place).collect()
    }

    fn run(&mut self, seconds: f64) {
        (0..(seconds / FRAME) as usize).for_each(|_| self.physics.step_flesh(FRAME).unwrap());
    }

    fn speed(&self) -> f64 {
        self.nodes().map(|node| f64::from(node.velocity.length())).fold(0.0, f64::max)
    }

    /// How far the middle of a log has gone sideways (m).
    fn drift(&self, since: &[DVec3]) -> f64 {
        let apart = self.middles().into_iter().zip(since).map(|(now, then)| (now - *then).with_y(0.0).length());
        apart.fold(0.0, f64::max)
    }

    fn deepest(&self) -> f64 {
        deepest(&self.physics, &[self.handle]) / RADIUS
    }
}

#[test]
fn ten_layers_of_stiff_logs_stand() {
    let mut tower = Tower::new(1.0e7);
    tower.run(10.0);
    let (speed, depth) = (tower.speed(), tower.deepest());
    let drift = tower.drift(&tower.start);
    println!(
        "ten layers of three logs, E = 10⁷, 10 s: {speed:.1e} m/s left (bar 1e-4), depth {:.2} % of the radius (bar 5 %), gone \
         sideways {:.2} mm (bar 1)",
        100.0 * depth,
        1.0e3 * drift
    );
    assert!(speed <= 1.0e-4 && depth <= 0.05 && drift <= 1.0e-3);
}

/// Soft logs hang over by a twelfth of their radius, and settle by as much: what they go sideways is against where they settled.
#[test]
fn ten_layers_of_soft_logs_stand() {
    let mut tower = Tower::new(1.0e5);
    tower.run(4.0);
    let settled = tower.middles();
    tower.run(8.0);
    let (speed, depth, drift) = (tower.speed(), tower.deepest(), tower.drift(&settled));
    println!(
        "ten layers of three logs, E = 10⁵, 12 s: {speed:.1e} m/s left (bar 1e-3), depth {:.2} % of the radius (bar 5 %), gone \
         sideways {:.2} mm in the last 8 s (bar 1)",
        100.0 * depth,
        1.0e3 * drift
    );
    assert!(speed <= 1.0e-3 && depth <= 0.05 && drift <= 1.0e-3);
}

/// A log of so many times the density across three soft ones, or three soft ones across two such.
fn lying(ratio: f64, on_top: bool) -> Pile {
    let mut pile = Pile::of(material(1.0e6, 0.3, 1000.0, 3.0), &[]);
    let (soft, other) = if on_top { (RADIUS, 3.0 * RADIUS) } else { (3.0 * RADIUS, RADIUS) };
    for aside in [-0.15, 0.0, 0.15] {
        pile.add(DVec3::new(0.0, soft, aside), DQuat::IDENTITY, 1.0);
    }
    let across = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
    for aside in if on_top { &[0.0][..] } else { &[-0.15, 0.15] } {
        pile.add(DVec3::new(*aside, other, 0.0), across, ratio);
    }
    pile.on_ground();
    pile
}

#[test]
fn heavy_and_light_logs_lie_on_and_under_soft_ones() {
    let mut missed = Vec::new();
    for on_top in [true, false] {
        for (ratio, bar) in [(0.01, 0.05), (1.0, 0.05), (100.0, 0.05), (1000.0, 0.1)] {
            let mut pile = lying(ratio, on_top);
            pile.run(360);
            let (speed, depth) = (pile.speed(), pile.deepest() / RADIUS);
            let upper = if on_top { 3..4 } else { 0..3 };
            // What is a thousand times as heavy flattens soft flesh.
            let height = if ratio > 100.0 { 1.0 } else { 2.5 } * RADIUS;
            let lie = upper.map(|log| pile.centre(log).y).fold(f64::MAX, f64::min) > height;
            println!(
                "{ratio} times the density {} soft logs, 6 s: depth {:.2} % of the radius (bar {:.0} %), {speed:.1e} m/s left (bar 1e-3 \
                 on them up to 100 times)",
                if on_top { "on" } else { "under" },
                100.0 * depth,
                100.0 * bar
            );
            if !(lie && depth <= bar && (speed <= 1.0e-3 || ratio > 100.0 || !on_top)) {
                missed.push((ratio, on_top));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

/// By γ·m/h² of what is light, it was let through: of a hundred times the density when dropped, of a thousand times when laid on the others,
/// and then it stayed on the ground within them.
#[test]
fn what_is_light_bears_what_is_heavy() {
    let mut missed = Vec::new();
    for ratio in [10.0, 30.0, 100.0, 1000.0] {
        for drop in [0.0, 0.5] {
            let mut pile = Pile::of(material(1.0e6, 0.3, 1000.0 / ratio, 3.0), &[]);
            for light in -2..=2 {
                pile.add(DVec3::new(0.0, RADIUS, 2.4 * RADIUS * f64::from(light)), DQuat::IDENTITY, 1.0);
            }
            let across = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
            pile.add(DVec3::Y * (3.0 * RADIUS + drop), across, ratio);
            pile.on_ground();
            let mut most = 0.0_f64;
            for _ in 0..300 {
                pile.run(1);
                most = most.max(pile.deepest() / RADIUS);
            }
            let (height, depth) = (pile.centre(5).y / RADIUS, pile.deepest() / RADIUS);
            // Those beside may have been thrown aside, and roll on.
            let speed = |node| f64::from(pile.physics.node(pile.logs[5], 0, node).unwrap().velocity.length());
            let speed = (0..=SEGMENTS).map(speed).fold(0.0, f64::max);
            println!(
                "{ratio} times as dense, from {drop} m: {:.0} % of the radius deep on the way, in the end {:.1} % (bar 5 %) and its middle \
                 {height:.2} radii high (3), {speed:.1e} m/s left of it (bar 5e-3)",
                100.0 * most,
                100.0 * depth
            );
            let held = most <= if drop > 0.0 { 0.5 } else { 0.05 };
            // What is a thousand times as dense parts those beneath as it comes down.
            let sunk = if ratio > 100.0 { 0.2 } else { 0.1 };
            if !(held && depth <= 0.05 && (height - 3.0).abs() <= sunk && speed <= 5.0e-3) {
                missed.push((ratio, drop));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn a_heap_of_logs_comes_to_lie() {
    let mut pile = Pile::of(material(1.0e6, 0.3, 1000.0, 3.0), &[]);
    for index in 0..24 {
        let random = |k: u64| ((index * 3 + k) * 2_654_435_761 % 1000) as f64 / 1000.0 - 0.5;
        let turn = DQuat::from_rotation_y(6.0 * random(0)) * DQuat::from_rotation_z(0.5 * random(1));
        pile.add(DVec3::new(0.3 * random(1), 0.2 + 0.09 * index as f64, 0.3 * random(2)), turn, 1.0);
    }
    pile.on_ground();
    let start = pile.energy();
    let (mut most, mut worst) = (0.0_f64, 0.0_f64);
    for _ in 0..30 {
        pile.run(10);
        most = most.max(pile.energy() / start);
        worst = worst.max(pile.deepest() / RADIUS);
    }
    let depth = pile.deepest() / RADIUS;
    println!(
        "24 logs dropped from up to 2 m: energy at most {most:.4} of the start's (bar 1), depth {:.0} % of the radius at the \
         worst (bar 100 %), {:.1} % after 5 s (bar 5 %)",
        100.0 * worst,
        100.0 * depth
    );
    assert!(most <= 1.0001 && worst <= 1.0 && depth <= 0.05);
    assert!((0..24).all(|log| pile.centre(log).y > 0.5 * RADIUS && pile.centre(log).y < LENGTH));
}

/// A log on two posts that is pressed by more and less in turn, as by what sways: pairs get stiffer where they are deep, and softer where
/// they hardly touch. As fast as that, they would give back 17, 27 and 24 % of what they store in each cycle, and what sways energy.
#[test]
fn what_presses_and_lets_go_gives_back_no_more_than_it_took() {
    const CYCLE: usize = 36;
    const MASS: f64 = 1050.0 * std::f64::consts::PI * 0.05 * 0.05;
    let rod = |name, from, to, segments| {
        let material = Material { youngs_modulus: 1.0e7, density: 1050.0, damping: 3.0, ..Material::default() };
        RodSpec { material, ..RodSpec::straight(name, from, to, segments, 0.05) }
    };
    let posts = [-0.3, 0.3].map(|x| {
        let at = |z: f64| DVec3::new(x, -0.1, z);
        (0..7).fold(rod("post", at(-0.3), at(0.3), 6), |post, node| post.attach(node, 0, Holds::CLAMP))
    });
    let bones = [Pose::IDENTITY];
    for (gravity, substeps) in [(80.0, 2), (20.0, 1), (40.0, 1)] {
        let config = StepConfig { substeps, passes: PASSES, sleep_after: f64::INFINITY, ..StepConfig::default() };
        let mut physics = Physics::with_config(config);
        let log = rod("log", DVec3::X * -0.5, DVec3::X * 0.5, 10);
        let log = physics.insert(Arc::new(Flesh::build(&[log], &[]).unwrap()), &[], Pose::IDENTITY).unwrap();
        physics.insert(Arc::new(Flesh::build(&posts, &bones).unwrap()), &bones, Pose::IDENTITY).unwrap();
        let height = |physics: &Physics| {
            let share = |node| if node % 10 == 0 { 0.05 } else { 0.1 };
            (0..=10).map(|node| physics.node(log, 0, node).unwrap().place.y * share(node)).sum::<f64>()
        };
        let (mut work, mut stored, mut depths) = (0.0, 0.0_f64, [f64::MAX, 0.0]);
        for frame in 0..10 * CYCLE {
            let pressed = gravity * (1.0 + 0.9 * (TAU * frame as f64 / CYCLE as f64).sin());
            physics.config.gravity = DVec3::NEG_Y * pressed;
            let before = height(&physics);
            physics.step_flesh(FRAME).unwrap();
            if frame >= 5 * CYCLE {
                work += MASS * pressed * (before - height(&physics));
                let depth = physics.quality().penetration_max;
                stored = stored.max(0.5 * MASS * pressed * depth * 0.05);
                depths = [depth.min(depths[0]), depth.max(depths[1])];
            }
        }
        let taken = work / 5.0 / stored;
        println!(
            "pressed at {gravity} m/s², {substeps} substeps, {depths:.3?} of the radius deep: a cycle takes {taken:.3} of what is stored \
             (bar 0)"
        );
        assert!(taken >= 0.0 && depths[0] < 0.02 && depths[1] > 0.04 && height(&physics).abs() < 0.05);
    }
}
