//! Forces, impulses and velocities from the game: against closed forms, on both backends, from the kindest to the wildest.

mod common;

use std::sync::Arc;

use common::{FRAME, material};
use glam::DVec3;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::rest;
use sinew::step::{Integrator, StepConfig};
use sinew::{FleshHandle, Motion, Physics, Pose, StepError};

/// [`common::backends`] without gravity.
fn backends() -> Vec<(&'static str, Physics)> {
    let mut backends = common::backends();
    backends.iter_mut().for_each(|(_, physics)| physics.config.gravity = DVec3::ZERO);
    backends
}

/// A rod of 0.5 m along x from a place on.
fn rod(from: DVec3, youngs_modulus: f64, damping: f64) -> RodSpec {
    let mut rod = RodSpec::straight("rod", from, from + DVec3::X * 0.5, 20, 0.02);
    rod.material = material(youngs_modulus, 0.45, 1000.0, damping);
    rod
}

fn free(physics: &mut Physics, from: DVec3, damping: f64) -> (Arc<Flesh>, FleshHandle) {
    let flesh = Arc::new(Flesh::build(&[rod(from, 1.0e6, damping)], &[]).unwrap());
    let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
    (flesh, handle)
}

/// Mass (kg), centre of mass (m), momentum (N·s) and angular momentum about it of the centres of a chain's sections (N·m·s).
fn momentum(physics: &mut Physics, flesh: &Flesh, handle: FleshHandle) -> (f64, DVec3, DVec3, DVec3) {
    physics.finish().unwrap();
    let rows = &flesh.groups()[0].rows;
    let nodes: Vec<_> = (0..flesh.chains()[0].node_count())
        .map(|j| (f64::from(rows[j * rest::ENTRIES + rest::MASS][0]), physics.node(handle, 0, j).unwrap()))
        .collect();
    let mass: f64 = nodes.iter().map(|(mass, _)| mass).sum();
    let centre = nodes.iter().map(|(mass, node)| node.place * *mass).sum::<DVec3>() / mass;
    let linear = nodes.iter().map(|(mass, node)| node.velocity.as_dvec3() * *mass).sum::<DVec3>();
    let angular = nodes.iter().map(|(mass, node)| (node.place - centre).cross(node.velocity.as_dvec3() * *mass)).sum();
    (mass, centre, linear, angular)
}

#[test]
fn impulses_and_forces_are_momentum() {
    for (name, mut physics) in backends() {
        for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
            physics.config.integrator = integrator;
            // Free of damping: that of a free chain leaves its momentum alone, but not what an impulse on one node makes of it.
            let (flesh, handle) = free(&mut physics, DVec3::new(1.0, 2.0, 3.0), 0.0);
            (0..3).for_each(|_| physics.step_flesh(FRAME).unwrap());
            let impulse = DVec3::new(0.02, -0.05, 0.08);
            physics.apply_impulse(handle, 0, 4, impulse * 0.5).unwrap();
            physics.apply_impulse(handle, 0, 4, impulse * 0.5).unwrap();
            physics.step_flesh(FRAME).unwrap();
            let (.., given, _) = momentum(&mut physics, &flesh, handle);
            // It is given once.
            (0..3).for_each(|_| physics.step_flesh(FRAME).unwrap());
            let (.., kept, _) = momentum(&mut physics, &flesh, handle);

            let force = DVec3::new(-0.3, 0.2, 0.5);
            for _ in 0..6 {
                physics.add_force(handle, 0, 4, force * 0.25).unwrap();
                physics.add_force(handle, 0, 15, force * 0.75).unwrap();
                physics.step_flesh(FRAME).unwrap();
            }
            let (.., pushed, _) = momentum(&mut physics, &flesh, handle);
            let off = [given - impulse, kept - impulse, pushed - impulse - force * (6.0 * FRAME)];
            let off = off.map(|off| off.length() / impulse.length());
            println!(
                "{name}, {integrator:?}: momentum off by {:.1e} of the impulse",
                off.iter().fold(0.0_f64, |most, off| most.max(*off))
            );
            assert!(off.iter().all(|off| *off < 1.0e-4), "{off:?}");
            physics.remove(handle).unwrap();
        }
    }
}

/// A cantilever that is pushed at its tip, gently: FL³/3EI and FL/κGA; its bone takes the force.
#[test]
fn a_pushed_cantilever_bends_as_beams_do_and_its_bone_takes_the_force() {
    for (name, mut physics) in backends() {
        let spec = rod(DVec3::ZERO, 1.0e6, 8.0).attach(0, 0, Holds::CLAMP);
        let flesh = Arc::new(Flesh::build(&[spec], &[Pose::IDENTITY]).unwrap());
        let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let force = DVec3::Y * 0.05;
        for _ in 0..400 {
            physics.add_force(handle, 0, 20, force).unwrap();
            physics.step_flesh(FRAME).unwrap();
        }
        physics.finish().unwrap();
        let (area, inertia) = (std::f64::consts::PI * 0.02_f64.powi(2), 0.25 * std::f64::consts::PI * 0.02_f64.powi(4));
        let shear = 1.0e6 / 2.9;
        let expected = force.y * 0.5_f64.powi(3) / (3.0e6 * inertia) + force.y * 0.5 / (shear * area);
        let tip = physics.node(handle, 0, 20).unwrap().place.y;
        let reaction = physics.reaction(handle, 0, 0).unwrap();
        let off = [
            (tip - expected).abs() / expected,
            reaction.force.distance(force) / force.length(),
            (reaction.couple.z - 0.5 * force.y).abs() / (0.5 * force.y),
        ];
        println!(
            "{name}: the tip goes {:.4} mm, off by {:.1e}; force {:.1e} and couple {:.1e} off",
            1.0e3 * tip,
            off[0],
            off[1],
            off[2]
        );
        assert!(off[0] < 0.01 && off[1] < 1.0e-3 && off[2] < 1.0e-3, "{off:?}");
    }
}

/// An acceleration is to flesh what gravity is, and both may take each other away; it stays until it is set again.
#[test]
fn an_acceleration_is_as_gravity() {
    let fall = DVec3::new(1.0, -9.81, 0.5);
    let hashes = [(fall, DVec3::ZERO), (DVec3::ZERO, fall), (fall, -fall)].map(|(gravity, acceleration)| {
        let mut physics = Physics::with_config(StepConfig { gravity, ..StepConfig::default() });
        let hung = Flesh::build(&[rod(DVec3::ZERO, 1.0e6, 2.0).attach(0, 0, Holds::CLAMP)], &[Pose::IDENTITY]).unwrap();
        let handle = physics.insert(Arc::new(hung), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        physics.set_acceleration(handle, acceleration).unwrap();
        (0..30).for_each(|_| physics.step_flesh(FRAME).unwrap());
        let saved = physics.save_flesh(handle).unwrap();
        physics.step_flesh(FRAME).unwrap();
        let hash = physics.state_hash();
        // A snapshot knows of it.
        physics.set_acceleration(handle, DVec3::X).unwrap();
        physics.restore_flesh(handle, &saved).unwrap();
        physics.step_flesh(FRAME).unwrap();
        assert_eq!(physics.state_hash(), hash);
        (hash, physics.node(handle, 0, 20).unwrap().place.distance(DVec3::X * 0.5))
    });
    assert_eq!(hashes[0].0, hashes[1].0);
    assert!(hashes[0].1 > 1.0e-3 && hashes[2].1 == 0.0, "{hashes:?}");
}

/// A rod thrown spinning flies as a rigid body does, 1000 km from the world's origin too.
#[test]
fn what_is_thrown_flies() {
    for (name, mut physics) in backends() {
        for from in [DVec3::ZERO, DVec3::new(1.0e6, 20.0, -3.0e5)] {
            physics.config.gravity = DVec3::Y * -9.81;
            let (flesh, handle) = free(&mut physics, from, 2.0);
            let (_, start, ..) = momentum(&mut physics, &flesh, handle);
            // It falls for a while, and that is forgotten.
            (0..5).for_each(|_| physics.step_flesh(FRAME).unwrap());
            let (mass, centre, ..) = momentum(&mut physics, &flesh, handle);
            assert!((start - centre).length() > 0.01);
            let thrown = Motion { velocity: DVec3::new(3.0, 4.0, -1.0), spin: DVec3::Y * 6.0, centre };
            physics.set_velocity(handle, thrown).unwrap();
            // As much is added, and taken away again.
            let other = Motion { velocity: DVec3::X, spin: DVec3::Z, centre: centre + DVec3::Y };
            physics.add_velocity(handle, other).unwrap();
            let back = Motion { velocity: -other.velocity, spin: -other.spin, ..other };
            physics.add_velocity(handle, back).unwrap();
            let frames = 30;
            (0..frames).for_each(|_| physics.step_flesh(FRAME).unwrap());
            let (_, landed, linear, angular) = momentum(&mut physics, &flesh, handle);
            let time = f64::from(frames) * FRAME;
            // Implicit Euler falls by ½g·t(t + h).
            let fall = DVec3::Y * (-0.5 * 9.81 * time * (time + FRAME / 4.0));
            let off = [
                landed.distance(centre + thrown.velocity * time + fall),
                (linear / mass).distance(thrown.velocity - DVec3::Y * (9.81 * time)),
            ];
            // mL²/12 and what a section in the middle of each segment lacks.
            let inertia = mass * 0.25 / 12.0;
            let spin = angular.y / inertia;
            println!(
                "{name}, from {from}: {:.1e} m and {:.1e} m/s off after {time} s; spins with {spin:.3} of 6 rad/s",
                off[0], off[1]
            );
            assert!(off[0] < 1.0e-3 && off[1] < 1.0e-3, "{off:?}");
            // Flesh that is drawn out by spinning is slower.
            assert!((5.8..6.1).contains(&spin), "{spin}");
            physics.remove(handle).unwrap();
        }
    }
}

/// Thrown flesh on bones swings; what the bones hold stays.
#[test]
fn flesh_on_bones_is_thrown_but_what_they_hold() {
    for (name, mut physics) in backends() {
        let spec = rod(DVec3::ZERO, 1.0e5, 2.0).attach(0, 0, Holds::CLAMP);
        let flesh = Arc::new(Flesh::build(&[spec], &[Pose::IDENTITY]).unwrap());
        let handle = physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        physics.add_velocity(handle, Motion { velocity: DVec3::Z * 2.0, ..Motion::default() }).unwrap();
        (0..6).for_each(|_| physics.step_flesh(FRAME).unwrap());
        physics.finish().unwrap();
        let [held, tip] = [0, 20].map(|node| physics.node(handle, 0, node).unwrap().place);
        println!("{name}: the tip swings by {:.3} m", tip.z);
        assert!(held.length() < 1.0e-6 && tip.z > 0.02, "{held} {tip}");
    }
}

#[test]
fn what_no_flesh_can_be_given_is_refused() {
    let mut physics = Physics::default();
    let (_, handle) = free(&mut physics, DVec3::ZERO, 0.0);
    let mut others = Physics::default();
    let (_, other) = free(&mut others, DVec3::ZERO, 0.0);
    let motion = |velocity, spin, centre| Motion { velocity, spin, centre };
    let far = DVec3::X * 1.0e13;
    let refused = [
        physics.add_force(handle, 0, 3, DVec3::NAN),
        physics.add_force(handle, 0, 3, DVec3::X * 1.1e9),
        physics.apply_impulse(handle, 0, 3, DVec3::INFINITY),
        physics.set_acceleration(handle, DVec3::Y * 1.1e6),
        physics.set_velocity(handle, motion(DVec3::X * 1.1e4, DVec3::ZERO, DVec3::ZERO)),
        physics.add_velocity(handle, motion(DVec3::ZERO, DVec3::NAN, DVec3::ZERO)),
        physics.add_velocity(handle, motion(DVec3::ZERO, DVec3::ZERO, far)),
    ];
    for error in refused {
        println!("{}", error.clone().unwrap_err());
        assert!(matches!(error, Err(StepError::BadPush { .. })), "{error:?}");
    }
    assert_eq!(
        physics.add_force(handle, 0, 21, DVec3::X),
        Err(StepError::NoSuchNode { chain: 0, node: 21, count: 21 })
    );
    assert_eq!(physics.apply_impulse(handle, 1, 0, DVec3::X), Err(StepError::NoSuchChain { chain: 1, count: 1 }));
    physics.remove(handle).unwrap();
    assert_eq!(physics.set_acceleration(handle, DVec3::X), Err(StepError::NoSuchFlesh));
    // Nothing of it was taken.
    let (_, again) = free(&mut physics, DVec3::ZERO, 0.0);
    for (physics, handle) in [(&mut physics, again), (&mut others, other)] {
        (0..3).for_each(|_| physics.step_flesh(FRAME).unwrap());
        assert!(physics.state(handle).unwrap().is_finite());
    }
    assert_eq!(physics.state_hash(), others.state_hash());
}

/// Something that a game does.
type Wild = dyn Fn(&mut Physics, FleshHandle);

/// The wildest that is not refused ends in flesh that is whole again a while later.
#[test]
fn flesh_survives_all_that_is_not_refused() {
    for (name, mut physics) in backends() {
        physics.config.gravity = DVec3::Y * -9.81;
        let hung = rod(DVec3::ZERO, 1.0e5, 2.0).attach(0, 0, Holds::CLAMP);
        let flesh = Arc::new(Flesh::build(&[hung], &[Pose::IDENTITY]).unwrap());
        let mut kinds: Vec<(&str, Box<Wild>)> = Vec::new();
        kinds.push(("force", Box::new(|physics, handle| physics.add_force(handle, 0, 20, DVec3::Z * 1.0e9).unwrap())));
        kinds.push((
            "impulse",
            Box::new(|physics, handle| {
                physics.apply_impulse(handle, 0, 10, DVec3::new(1.0e9, 0.0, 0.0)).unwrap();
            }),
        ));
        kinds.push((
            "acceleration",
            Box::new(|physics, handle| physics.set_acceleration(handle, DVec3::X * 1.0e6).unwrap()),
        ));
        kinds.push((
            "spin",
            Box::new(|physics, handle| {
                let wild = Motion { velocity: DVec3::Y * 1.0e4, spin: DVec3::X * 1.0e4, centre: DVec3::X * 1.0e12 };
                physics.set_velocity(handle, wild).unwrap();
            }),
        ));
        for (kind, push) in kinds {
            let handle = physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
            for _ in 0..20 {
                push(&mut physics, handle);
                physics.step_flesh(FRAME).unwrap();
            }
            physics.set_acceleration(handle, DVec3::ZERO).unwrap();
            (0..150).for_each(|_| physics.step_flesh(FRAME).unwrap());
            physics.finish().unwrap();
            let (mut longest, info) = (0.0_f64, &flesh.chains()[0]);
            for j in 1..info.node_count() {
                let [a, b] = [j - 1, j].map(|j| physics.node(handle, 0, j).unwrap().place);
                longest = longest.max(a.distance(b) / (info.rest_length / 20.0));
            }
            let resets = physics.health(handle).unwrap().resets;
            println!(
                "{name}: after a wild {kind}, a segment is stretched to {longest:.2} at most; laid anew {resets} times"
            );
            assert!(physics.state(handle).unwrap().is_finite() && longest < 1.5, "{kind}: {longest}");
            physics.remove(handle).unwrap();
        }
    }
}

/// A step that was refused keeps what it was to give.
#[test]
fn a_refused_step_forgets_no_push() {
    let mut physics = Physics::default();
    physics.config.gravity = DVec3::ZERO;
    let (flesh, handle) = free(&mut physics, DVec3::ZERO, 0.0);
    physics.apply_impulse(handle, 0, 4, DVec3::Y).unwrap();
    assert!(physics.step_flesh(0.0).is_err());
    physics.step_flesh(FRAME).unwrap();
    let (.., linear, _) = momentum(&mut physics, &flesh, handle);
    assert!((linear.y - 1.0).abs() < 1.0e-4, "{linear}");
}

/// What was given before a state was restored is not given after it, and what takes each other away leaves nothing, however much
/// it is.
#[test]
fn pushes_add_up_and_do_not_outlive_a_restore() {
    let mut physics = Physics::default();
    let (_, handle) = free(&mut physics, DVec3::ZERO, 0.0);
    physics.step_flesh(FRAME).unwrap();
    let saved = physics.save();
    physics.step_flesh(FRAME).unwrap();
    let hash = physics.state_hash();
    physics.apply_impulse(handle, 0, 8, DVec3::Z).unwrap();
    physics.restore(&saved).unwrap();
    physics.step_flesh(FRAME).unwrap();
    assert_eq!(physics.state_hash(), hash);
    physics.restore(&saved).unwrap();
    for sign in [1.0, -1.0] {
        physics.apply_impulse(handle, 0, 20, DVec3::Z * (1.0e6 * sign)).unwrap();
        physics.add_force(handle, 0, 20, DVec3::X * (1.0e6 * sign)).unwrap();
    }
    physics.step_flesh(FRAME).unwrap();
    assert_eq!(physics.state_hash(), hash);
}
