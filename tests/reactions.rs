//! What flesh does to the bones that hold it: all reactions together are its weight and what it takes to move it, and each is
//! what a beam's end has.

mod common;

use common::{FRAME, OneRod, material};
use glam::{DQuat, DVec3};
use sinew::flesh::{Holds, NodeState, Reaction, RodSpec};
use sinew::layout::{contact, rest};
use sinew::step::{Integrator, StepConfig};
use sinew::{HalfSpace, Material, Pose};

/// A rod of 16 segments along x, 1 m long.
fn rod(youngs_modulus: f64) -> RodSpec {
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 16, 0.03);
    rod.material = material(youngs_modulus, 0.4, 1000.0, 0.0);
    rod
}

/// A rod's only lane.
const LANE: usize = 0;

#[derive(Default)]
struct Forces {
    on_bones: DVec3,
    on_ground: DVec3,
    moved: DVec3,
    /// Of the magnitudes of what gravity and acceleration make of each mass (N).
    sum: f64,
}

impl Forces {
    /// All reactions on bones, all forces on what touches the rod, and what gravity and the last step's acceleration make of
    /// its masses; `before` are its nodes before the step of one substep
    /// (s).
    fn of(rod: &OneRod, before: &[NodeState], step: f64) -> Self {
        let flesh = rod.physics.flesh(rod.handle).unwrap().clone();
        let state = rod.physics.state(rod.handle).unwrap();
        let mut all = Self::default();
        for (index, (from, to)) in before.iter().zip(rod.nodes()).enumerate() {
            let mass = f64::from(flesh.groups()[0].row(index)[rest::MASS][LANE]);
            let acceleration = (to.velocity - from.velocity).as_dvec3() / step;
            let force = (rod.physics.config.gravity - acceleration) * mass;
            all.moved += force;
            let reaction = rod.physics.reaction(rod.handle, 0, index).unwrap();
            all.on_bones += reaction.force;
            all.sum += force.length();
        }
        let contacts = state.contacts().next().unwrap();
        for row in contacts.chunks_exact(contact::ENTRIES) {
            let of = |entry: usize| f64::from(row[entry][LANE]);
            let vector = |at: usize| DVec3::new(of(at), of(at + 1), of(at + 2));
            all.on_ground -= vector(contact::DIRECTION) * of(contact::DUAL) + vector(contact::TANGENT);
        }
        all
    }
}

type Bones = fn(f64) -> Vec<Pose>;

fn still(_: f64) -> Vec<Pose> {
    vec![Pose::IDENTITY, Pose::from_translation(DVec3::X * 0.5), Pose::from_translation(DVec3::X)]
}

/// As [`still`], after a quarter of a second drawn aside.
fn dragged(t: f64) -> Vec<Pose> {
    let aside = Pose::from_translation(DVec3::Z * (0.3 * (t - 0.25).max(0.0)));
    still(t).into_iter().map(|bone| aside * bone).collect()
}

/// As [`still`], after a quarter of a second lifted.
fn lifted(t: f64) -> Vec<Pose> {
    let up = Pose::from_translation(DVec3::Y * (0.3 * (t - 0.25).max(0.0)));
    still(t).into_iter().map(|bone| up * bone).collect()
}

/// Three bones that shake, and turn as they do.
fn shaken(t: f64) -> Vec<Pose> {
    let turn = DQuat::from_scaled_axis(DVec3::new(0.2, 0.3, 0.1) * (9.0 * t).sin());
    let whole = Pose::new(DVec3::new(0.05, 0.1, -0.05) * (12.0 * t).sin(), turn);
    still(t).into_iter().map(|bone| whole * bone).collect()
}

/// Every frame of half a second of a rod that hangs by one end, by both, over a via point, excited, on the ground with friction,
/// still and shaken.
#[test]
fn reactions_are_weight_and_acceleration() {
    let muscle = Material { peak_stress: 3.0e5, ..material(2.0e5, 0.45, 1000.0, 0.0) };
    let both = |rod: RodSpec| rod.attach(0, 0, Holds::CLAMP).attach(16, 2, Holds::CLAMP);
    let excited = RodSpec { material: muscle, ..rod(1.0) };
    let cases: [(&str, RodSpec, Bones, f32, Option<f32>); 10] = [
        ("clamped, swings", rod(1.0e6).attach(0, 0, Holds::CLAMP), still, 0.0, None),
        ("clamped, shaken", rod(1.0e7).attach(0, 0, Holds::CLAMP), shaken, 0.0, None),
        ("held at both ends, shaken", both(rod(1.0e6)), shaken, 0.0, None),
        ("over a via point, shaken", both(rod(1.0e6)).attach(8, 1, Holds::GUIDE), shaken, 0.0, None),
        ("excited over a via point", both(excited).attach(8, 1, Holds::GUIDE), shaken, 0.7, None),
        ("dragged along the ground", rod(1.0e6).attach(0, 0, Holds::PIN), dragged, 0.0, Some(0.4)),
        ("lifted off the ground", rod(1.0e6).attach(0, 0, Holds::PIN), lifted, 0.0, Some(0.4)),
        ("pinned and rigid", RodSpec { rigid: true, ..rod(1.0e7) }.attach(0, 0, Holds::PIN), shaken, 0.0, None),
        ("E = 10⁹ Pa", both(rod(1.0e9)), shaken, 0.0, None),
        ("E = 10¹¹ Pa", both(rod(1.0e11)), shaken, 0.0, None),
    ];
    for (name, spec, bones, activation, ground) in cases {
        // Forces are those of whole steps; with few retries the one that tears the rod off the ground is cut short.
        let config = StepConfig { substeps: 1, retries: 8, ..StepConfig::default() };
        let mut scene = OneRod::new(&spec, &still(0.0), config);
        scene.physics.planes = ground.map(|friction| HalfSpace::ground(-0.0305, friction)).into_iter().collect();
        scene.physics.set_activation(scene.handle, 0, activation).unwrap();
        let (dt, mut worst, mut touched) = (FRAME / 4.0, 0.0_f64, 0.0_f64);
        for step in 1..=120 {
            let before = scene.nodes();
            scene.set_bones(&bones(dt * f64::from(step)));
            scene.physics.step_flesh(dt).unwrap();
            // While it lands, a contact that a solve did not foresee presses only in the next.
            if ground.is_some() && step < 60 {
                continue;
            }
            let forces = Forces::of(&scene, &before, dt);
            worst = worst.max((forces.moved - forces.on_bones - forces.on_ground).length() / forces.sum);
            touched = touched.max(forces.on_ground.length());
        }
        // Where EA/l times a step of the solve, some mm, is 10⁷ N, f32 solves to a newton or two.
        let bar = if name == "E = 10¹¹ Pa" { 1.0e-2 } else { 1.0e-3 };
        println!(
            "{name}: {worst:.1e} of weight and acceleration is in no reaction (bar {bar:.0e}); ground {touched:.2} N"
        );
        assert!(scene.is_sound() && worst <= bar, "{name}");
        assert_eq!(touched > 1.0, ground.is_some(), "{name}");
    }
}

/// A cantilever that has come to rest puts its whole weight on its clamp, the held node's half segment too, and the couple that
/// its weight has about it: at 10, 20 and 40 segments, and however stiff.
#[test]
fn a_resting_cantilever_bears_on_its_clamp() {
    for (segments, modulus) in [(10, 1.0e6), (20, 1.0e6), (40, 1.0e6), (20, 1.0e9), (20, 1.0e11)] {
        for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
            let mut spec = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, segments, 0.03);
            spec.material = material(modulus, 0.4, 1000.0, 6.0);
            let config = StepConfig { integrator, ..StepConfig::default() };
            let mut scene = OneRod::new(&spec.attach(0, 0, Holds::CLAMP), &[Pose::IDENTITY], config);
            scene.run(FRAME, 600);
            let flesh = scene.physics.flesh(scene.handle).unwrap().clone();
            let weight = |j: usize| config.gravity * f64::from(flesh.groups()[0].row(j)[rest::MASS][LANE]);
            let nodes = scene.nodes();
            let force: DVec3 = (0..=segments).map(weight).sum();
            let couple: DVec3 = (0..=segments).map(|j| (nodes[j].place - nodes[0].place).cross(weight(j))).sum();
            // Of a rod as stiff as steel, places a rounding off are forces: it trembles about rest by a thousandth of them.
            let (mut mean, frames) = (Reaction::default(), 60);
            for _ in 0..frames {
                scene.run(FRAME, 1);
                let found = scene.physics.reaction(scene.handle, 0, 0).unwrap();
                mean.force += found.force / f64::from(frames);
                mean.couple += found.couple / f64::from(frames);
            }
            let found = mean;
            let off = found.force.distance(force) / force.length();
            let couple_off = found.couple.distance(couple) / couple.length();
            // As above.
            let bar = if modulus > 1.0e10 { 2.0e-3 } else { 1.0e-3 };
            println!(
                "{segments} segments, E = {modulus:.0e} Pa, {integrator:?}: force off by {off:.1e}, couple by {couple_off:.1e} \
                 (bar {bar:.0e})"
            );
            assert!(off <= bar && couple_off <= bar);
            let (found, muscle) =
                (scene.physics.reaction(scene.handle, 0, 0).unwrap(), scene.physics.muscle(scene.handle, 0).unwrap());
            assert_eq!((muscle.origin_force, muscle.origin_couple), (found.force, found.couple));
            assert_eq!((muscle.insertion_force, muscle.insertion_couple), (DVec3::ZERO, DVec3::ZERO));
        }
    }
}

/// What a bone holds inside the floor, the floor does not push: its clamp bears the rod's weight, whatever the step.
#[test]
fn a_clamp_in_the_floor_bears_weight_alone() {
    for substeps in [1, 4, 16] {
        let spec = rod(1.0e6).attach(0, 0, Holds::CLAMP);
        let spec = RodSpec { material: material(1.0e6, 0.4, 1000.0, 6.0), ..spec };
        let upright = Pose::new(DVec3::ZERO, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2));
        let mut scene = OneRod::new(&spec, &[Pose::IDENTITY], StepConfig { substeps, ..StepConfig::default() });
        scene.physics.teleport(scene.handle, &[upright], Pose::IDENTITY).unwrap();
        scene.physics.planes = vec![HalfSpace::ground(-0.01, 0.5)];
        scene.run(FRAME, 240);
        let flesh = scene.physics.flesh(scene.handle).unwrap().clone();
        let weight: f64 = (0..17).map(|j| 9.81 * f64::from(flesh.groups()[0].row(j)[rest::MASS][LANE])).sum();
        let force = scene.physics.reaction(scene.handle, 0, 0).unwrap().force;
        println!("a clamp 2 cm in the floor, {substeps} substeps: {force:.3} N, the rod weighs {weight:.3} N");
        assert!(scene.is_sound() && (-force.y / weight - 1.0).abs() < 0.02 && force.x.hypot(force.z) < 0.02 * weight);
    }
}
