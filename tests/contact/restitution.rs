//! What bounces off half-spaces and solids.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::StepConfig;
use sinew::{Coefficient, Collisions, CombineRule, FleshHandle, HalfSpace, Motion, Physics, Pose, Shape, Solid};

use super::{GRAVITY, RADIUS, common};

/// A stiff rod that lies across z, its middle so high.
fn rod(physics: &mut Physics, height: f64) -> FleshHandle {
    tilted(physics, 1.0e7, height, 0.0)
}

/// A rod of Young's modulus (Pa), its middle so high, tilted by an angle from lying along x.
fn tilted(physics: &mut Physics, youngs_modulus: f64, height: f64, angle: f64) -> FleshHandle {
    let half = DVec3::X * 0.2;
    let mut spec = RodSpec::straight("rod", -half, half, 5, RADIUS);
    spec.material = common::material(youngs_modulus, 0.3, 1000.0, 1.0);
    let flesh = Arc::new(Flesh::build(&[spec], &[]).unwrap());
    physics.insert(flesh, &[], Pose::new(DVec3::Y * height, DQuat::from_rotation_z(angle))).unwrap()
}

fn middle(physics: &Physics, rod: FleshHandle) -> [f64; 2] {
    let nodes = (0..6).map(|node| physics.node(rod, 0, node).unwrap());
    nodes.fold([0.0; 2], |[place, speed], node| [place + node.place.y / 6.0, speed + f64::from(node.velocity.y) / 6.0])
}

/// What a rod comes to after it was dropped by a metre: how high it gets again over how high it was.
fn rebound(physics: &mut Physics, rod: FleshHandle) -> f64 {
    let mut highest: f64 = 0.0;
    let mut rises = false;
    for _ in 0..120 {
        physics.step_flesh(1.0 / 60.0).unwrap();
        physics.finish().unwrap();
        let [place, speed] = middle(physics, rod);
        rises |= speed > 0.0;
        if rises {
            highest = highest.max(place - RADIUS);
        }
        if rises && speed < 0.0 {
            break;
        }
    }
    highest
}

/// Dropped flat by a metre, it comes up again by e² of that, off half-spaces and solids, at any number of substeps.
#[test]
fn what_is_dropped_comes_up_again() {
    let block = || Arc::new(Shape::Cuboid { half_extents: Vec3::new(2.0, 0.5, 2.0) });
    for (name, mut physics) in common::backends() {
        for (substeps, restitution) in [(4, 0.0), (4, 0.3), (4, 0.7), (4, 1.0), (1, 0.7), (16, 0.7)] {
            for on_solid in [false, true] {
                physics.config = StepConfig { substeps, ..StepConfig::default() };
                let handle = rod(&mut physics, 1.0 + RADIUS);
                if on_solid {
                    let solid = Solid::new(block(), Pose::from_translation(DVec3::NEG_Y * 0.5), 0.5);
                    physics.solids = vec![solid.bouncing(restitution)];
                } else {
                    physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(restitution)];
                }
                let height = rebound(&mut physics, handle);
                let expected = f64::from(restitution * restitution);
                println!(
                    "{name}, {substeps} substeps, e = {restitution}, a solid: {on_solid}: {height:.3} m of {expected:.3}"
                );
                // Of the speed, what gravity makes in two substeps may be missing.
                let missing = 2.0 * 2.0 * GRAVITY / (60.0 * f64::from(substeps)) / (2.0 * GRAVITY).sqrt();
                assert!((height - expected).abs() <= missing * expected + 0.01, "{name} {height} {expected}");
                physics.remove(handle).unwrap();
                physics.planes.clear();
                physics.solids.clear();
            }
        }
    }
}

/// Flesh that says itself how it bounces does so by rapier's rules, both sides together, off half-spaces and solids.
#[test]
fn restitution_is_of_both_sides() {
    let cases = [
        (None, CombineRule::Max, 0.4),
        (Some(Coefficient::new(0.8, CombineRule::Average)), CombineRule::Average, 0.6),
        (Some(Coefficient::new(0.8, CombineRule::Max)), CombineRule::Min, 0.8),
        (Some(Coefficient::new(0.5, CombineRule::Min)), CombineRule::Multiply, 0.2),
        (Some(Coefficient::new(0.8, CombineRule::ClampedSum)), CombineRule::Average, 1.0),
    ];
    for (name, mut physics) in common::backends() {
        for (case, (restitution, restitution_rule, expected)) in cases.into_iter().enumerate() {
            let on_solid = case % 2 == 1;
            if on_solid {
                let block = Arc::new(Shape::Cuboid { half_extents: Vec3::new(2.0, 0.5, 2.0) });
                let solid = Solid::new(block, Pose::from_translation(DVec3::NEG_Y * 0.5), 0.5);
                physics.solids = vec![Solid { restitution: 0.4, restitution_rule, ..solid }];
            } else {
                physics.planes = vec![HalfSpace { restitution: 0.4, restitution_rule, ..HalfSpace::ground(0.0, 0.5) }];
            }
            let handle = rod(&mut physics, 1.0 + RADIUS);
            physics.set_collisions(handle, Collisions { restitution, ..Collisions::default() }).unwrap();
            let came = rebound(&mut physics, handle).sqrt();
            println!("{name}, {restitution:?} by {restitution_rule:?}, a solid: {on_solid}: {came:.3} of {expected}");
            assert!((came - expected).abs() <= 0.05, "{came} for {expected}");
            physics.remove(handle).unwrap();
            physics.planes.clear();
            physics.solids.clear();
        }
    }
}

/// A stiff rod that lands on its end bounces as one that lands flat: it is thrown as a whole, not at the node that touches.
#[test]
fn what_lands_on_its_end_bounces_too() {
    for (name, mut physics) in common::backends() {
        for (substeps, restitution) in [(1, 0.5_f32), (4, 0.5), (4, 0.9), (8, 0.5)] {
            physics.config = StepConfig { substeps, ..StepConfig::default() };
            physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(restitution)];
            let handle = tilted(&mut physics, 1.0e9, 1.2 + RADIUS, std::f64::consts::FRAC_PI_2);
            let height = rebound(&mut physics, handle) - 0.2;
            let expected = f64::from(restitution * restitution);
            println!("{name}, {substeps} substeps, e = {restitution}: {height:.3} m of {expected:.3}");
            let missing = 2.0 * 2.0 * GRAVITY / (60.0 * f64::from(substeps)) / (2.0 * GRAVITY).sqrt();
            assert!((height - expected).abs() <= missing * expected + 0.02, "{name} {height} {expected}");
            physics.remove(handle).unwrap();
        }
    }
}

/// Friction is of the bounce: what slides along its axis as it lands is slowed by μ(1 + e) of what it came down with; and so are
/// events' impulses, which come to (1 + e) of that.
#[test]
fn friction_and_events_are_of_the_bounce() {
    for (substeps, restitution) in [(4, 0.0_f32), (4, 0.5), (4, 0.9), (16, 0.2), (16, 0.5)] {
        let mut physics = Physics::default();
        physics.config.substeps = substeps;
        physics.gather_events = true;
        let friction = 0.2;
        physics.planes = vec![HalfSpace::ground(0.0, friction).bouncing(restitution)];
        let handle = rod(&mut physics, 1.0 + RADIUS);
        physics.set_velocity(handle, Motion { velocity: DVec3::X * 3.0, ..Motion::default() }).unwrap();
        let mass = physics.flesh(handle).unwrap().mass(0);
        // The frame in which it lands and the next: what it weighs in these is 6 % of what it lands with.
        let (mut impulse, mut steps) = (0.0, 0);
        while steps < 2 {
            physics.step_flesh(1.0 / 60.0).unwrap();
            impulse += physics.contact_events().map(|event| event.impulse).sum::<f64>();
            steps += usize::from(impulse > 0.0);
        }
        let along = (0..6).map(|node| f64::from(physics.node(handle, 0, node).unwrap().velocity.x)).sum::<f64>() / 6.0;
        let thrown = mass * (1.0 + f64::from(restitution)) * (2.0 * GRAVITY).sqrt();
        let lost = f64::from(friction) * thrown / mass;
        println!(
            "{substeps} substeps, e = {restitution}: {:.3} of {lost:.3} m/s lost, {impulse:.3} of {thrown:.3} N·s told",
            3.0 - along
        );
        assert!(((3.0 - along) / lost - 1.0).abs() <= 0.1, "{along} {lost}");
        assert!((impulse / thrown - 1.0).abs() <= 0.1, "{impulse} {thrown}");
    }
}

/// What was no number is laid anew, and nothing of it is left in what is saved.
#[test]
fn what_was_no_number_can_be_saved() {
    for (name, mut physics) in common::backends() {
        for restitution in [0.0, 0.5] {
            physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(restitution)];
            let handle = rod(&mut physics, 1.5 * RADIUS);
            let flesh = physics.flesh(handle).unwrap().clone();
            let velocity = Vec3::splat(f32::NAN);
            let lost = sinew::flesh::NodeState { velocity, ..physics.node(handle, 0, 1).unwrap() };
            physics.state_mut(handle).unwrap().set_node(&flesh, 0, 1, &lost);
            for _ in 0..2 {
                physics.step_flesh(1.0 / 60.0).unwrap();
                physics.finish().unwrap();
                let saved = physics.save();
                physics.restore(&saved).unwrap_or_else(|error| panic!("{name}, {restitution}: {error}"));
            }
            physics.remove(handle).unwrap();
        }
    }
}

/// Without gravity, what its own acceleration holds on a floor lies still.
#[test]
fn what_an_acceleration_holds_down_lies_still() {
    let mut physics = Physics::default();
    physics.config.gravity = DVec3::ZERO;
    physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(1.0)];
    let handle = rod(&mut physics, RADIUS);
    physics.set_acceleration(handle, DVec3::NEG_Y * 30.0).unwrap();
    let mut fastest: f64 = 0.0;
    for _ in 0..120 {
        physics.step_flesh(1.0 / 60.0).unwrap();
        fastest = fastest.max(middle(&physics, handle)[1].abs());
    }
    println!("{fastest:.1e} m/s");
    assert!(fastest <= 1.0e-3, "{fastest}");
}

/// What comes at flesh throws it, as fast as it comes itself and a share of that more; a tilted rod turns, and none ever has more
/// energy than it began with; all come to rest.
#[test]
fn bounces_take_what_they_should() {
    let mut physics = Physics::default();
    physics.config.gravity = DVec3::ZERO;
    let handle = rod(&mut physics, 0.2 + RADIUS);
    physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(0.5).moving(DVec3::Y * 2.0)];
    for frame in 1..=30 {
        physics.planes[0].offset = 2.0 * f64::from(frame) / 60.0;
        physics.step_flesh(1.0 / 60.0).unwrap();
    }
    let [_, thrown] = middle(&physics, handle);
    println!("a floor at 2 m/s throws it at {thrown:.3} m/s (3 expected)");
    assert!((thrown / 3.0 - 1.0).abs() <= 0.02, "{thrown}");

    let stiffs = [1.0e5, 1.0e6, 1.0e8, 1.0e9];
    let all = stiffs
        .map(|stiff| [1, 4, 16].map(|substeps| [(0.1, 0.9), (0.7, 0.5), (1.3, 1.0)].map(|of| (stiff, substeps, of))));
    for (youngs_modulus, substeps, (angle, restitution)) in all.into_iter().flatten().flatten() {
        let mut physics = Physics::default();
        physics.config.substeps = substeps;
        physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(restitution)];
        let handle = tilted(&mut physics, youngs_modulus, 1.0, angle);
        let mass = physics.flesh(handle).unwrap().mass(0);
        let energy = |physics: &Physics| {
            let energy = physics.quality().energy;
            energy.kinetic + energy.potential + energy.elastic
        };
        let start = energy(&physics);
        let mut most = f64::MIN;
        for _ in 0..600 {
            physics.step_flesh(1.0 / 60.0).unwrap();
            most = most.max(energy(&physics));
        }
        let [height, speed] = middle(&physics, handle);
        println!(
            "{youngs_modulus:.0e} Pa, {substeps} substeps, tilted by {angle}, e = {restitution}: {:.4} of {start:.3} J at most; \
             {height:.3} m, {speed:.1e} m/s",
            most - start
        );
        // What is as stiff as a stone and loses nothing gains some of that by a step in which it turns far.
        let gains = if restitution == 1.0 && youngs_modulus > 1.0e6 && substeps == 1 { 0.06 } else { 1.0e-3 };
        assert!(most - start <= gains * mass * GRAVITY, "{most} {start}");
        assert!(
            restitution == 1.0 || (height - RADIUS).abs() < 0.02 * RADIUS && speed.abs() < 1.0e-3,
            "{height} {speed}"
        );
    }
}
