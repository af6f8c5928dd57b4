//! What bounces off half-spaces and solids.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::StepConfig;
use sinew::{Coefficient, Collisions, CombineRule, FleshHandle, HalfSpace, Physics, Pose, Shape, Solid};

use super::{GRAVITY, RADIUS, common};

/// A stiff rod that lies across z, its middle so high.
fn rod(physics: &mut Physics, height: f64) -> FleshHandle {
    let half = DVec3::X * 0.2;
    let mut spec = RodSpec::straight("rod", -half, half, 5, RADIUS);
    spec.material = common::material(1.0e7, 0.3, 1000.0, 1.0);
    let flesh = Arc::new(Flesh::build(&[spec], &[]).unwrap());
    physics.insert(flesh, &[], Pose::from_translation(DVec3::Y * height)).unwrap()
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

/// Flesh that says itself how it bounces does so by rapier's rules, both sides together.
#[test]
fn restitution_is_of_both_sides() {
    let mut physics = Physics::default();
    let cases = [
        (None, CombineRule::Max, 0.4),
        (Some(Coefficient::new(0.8, CombineRule::Average)), CombineRule::Average, 0.6),
        (Some(Coefficient::new(0.8, CombineRule::Max)), CombineRule::Min, 0.8),
        (Some(Coefficient::new(0.5, CombineRule::Min)), CombineRule::Multiply, 0.2),
        (Some(Coefficient::new(0.8, CombineRule::ClampedSum)), CombineRule::Average, 1.0),
    ];
    for (restitution, restitution_rule, expected) in cases {
        physics.planes = vec![HalfSpace { restitution: 0.4, restitution_rule, ..HalfSpace::ground(0.0, 0.5) }];
        let handle = rod(&mut physics, 1.0 + RADIUS);
        physics.set_collisions(handle, Collisions { restitution, ..Collisions::default() }).unwrap();
        let came = rebound(&mut physics, handle).sqrt();
        println!("{restitution:?} by {restitution_rule:?}: {came:.3} of {expected}");
        assert!((came - expected).abs() <= 0.05, "{came} for {expected}");
        physics.remove(handle).unwrap();
    }
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

    for (angle, restitution) in [(0.1, 0.9), (0.7, 0.5), (1.3, 1.0)] {
        let mut physics = Physics::default();
        physics.planes = vec![HalfSpace::ground(0.0, 0.5).bouncing(restitution)];
        let half = DVec3::X * 0.2;
        let mut spec = RodSpec::straight("rod", -half, half, 5, RADIUS);
        spec.material = common::material(1.0e6, 0.3, 1000.0, 1.0);
        let flesh = Arc::new(Flesh::build(&[spec], &[]).unwrap());
        let mass = flesh.mass(0);
        let pose = Pose::new(DVec3::Y, DQuat::from_rotation_z(angle));
        let handle = physics.insert(flesh, &[], pose).unwrap();
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
        println!("tilted by {angle}, e = {restitution}: {:.4} of {start:.3} J at most; {height:.3} m", most - start);
        assert!(most - start <= 1.0e-3 * mass * GRAVITY, "{most} {start}");
        assert!(
            restitution == 1.0 || (height - RADIUS).abs() < 0.02 * RADIUS && speed.abs() < 1.0e-3,
            "{height} {speed}"
        );
    }
}
