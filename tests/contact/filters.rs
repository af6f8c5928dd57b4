//! What of half-spaces and solids flesh touches, and how both sides' friction is one.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::step::StepConfig;
use sinew::{Coefficient, CollisionGroups, Collisions, CombineRule, HalfSpace, Pose, Shape, Solid, Touched};

use super::{GRAVITY, RADIUS, Scene};

/// A plate whose upper face is at a height (m).
fn plate(height: f64) -> Solid {
    let shape = Arc::new(Shape::Cuboid { half_extents: Vec3::new(2.0, 0.1, 2.0) });
    Solid::new(shape, Pose::from_translation(DVec3::Y * (height - 0.1)), 0.5)
}

/// Plates and floors one below the other: the rod lies on the first that it and that want each other, and falls on to the next when
/// that is no longer so.
#[test]
fn what_is_not_wanted_is_fallen_through() {
    let mut scene = Scene::new(Pose::from_translation(DVec3::Y * 0.4), Vec::new());
    let (one, two) = (CollisionGroups::new(1, u32::MAX), CollisionGroups::new(2, u32::MAX));
    scene.physics.solids = vec![
        plate(0.3).in_groups(CollisionGroups::new(u32::MAX, 4)),
        plate(0.0).in_groups(one),
        plate(-0.4).in_groups(two),
    ];
    scene.physics.planes =
        vec![HalfSpace::ground(-1.0, 0.5).in_groups(one), HalfSpace::ground(-1.5, 0.5).in_groups(two)];
    let wants = |filter: u32| Collisions { groups: CollisionGroups::new(8, filter), ..Collisions::default() };
    let all = [
        (wants(3), 0.0, Touched::Solid(1)),
        (wants(2), -0.4, Touched::Solid(2)),
        (Collisions { solids: false, ..wants(3) }, -1.0, Touched::Plane(0)),
        (Collisions { solids: false, ..wants(2) }, -1.5, Touched::Plane(1)),
    ];
    for (collisions, height, touched) in all {
        scene.physics.set_collisions(scene.handle, collisions).unwrap();
        scene.run(1.5);
        let off = scene.centre().y - height - RADIUS;
        println!("at {height} m by {off:.1e} m");
        assert!(off.abs() < 0.02 * RADIUS, "{off}");
        let contacts: Vec<_> = scene.physics.contacts(scene.handle).unwrap().collect();
        assert!(!contacts.is_empty() && contacts.iter().all(|contact| contact.touched == touched));
    }
    scene.physics.set_collisions(scene.handle, Collisions::NOTHING).unwrap();
    scene.run(1.0);
    let fallen = -1.5 + RADIUS - scene.centre().y;
    assert!((fallen / (0.5 * GRAVITY) - 1.0).abs() < 0.05, "{fallen}");
}

/// A rod thrown over ground of 0.3 that rubs by a rule of its own or not stops after v²/2μg.
#[test]
fn friction_is_of_both_sides() {
    let speed = 1.5;
    let ground = HalfSpace::ground(0.0, 0.3);
    let solid = Solid { friction: 0.3, ..plate(0.0) };
    let cases = [
        (None, CombineRule::Max, 0.3),
        (Some(Coefficient::new(0.9, CombineRule::Average)), CombineRule::Average, 0.6),
        (Some(Coefficient::new(0.1, CombineRule::Average)), CombineRule::Min, 0.1),
        (Some(Coefficient::new(0.8, CombineRule::Max)), CombineRule::Min, 0.8),
        (Some(Coefficient::new(0.5, CombineRule::Min)), CombineRule::Multiply, 0.15),
    ];
    for (friction, rule, expected) in cases {
        for on_solid in [false, true] {
            let mut scene = Scene::bowed(
                StepConfig::default(),
                Pose::new(DVec3::new(-1.0, RADIUS, 0.0), DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2)),
                Vec::new(),
            );
            if on_solid {
                scene.physics.solids = vec![Solid { friction_rule: rule, ..solid.clone() }];
            } else {
                scene.physics.planes = vec![HalfSpace { friction_rule: rule, ..ground }];
            }
            let collisions = Collisions { friction, ..Collisions::default() };
            scene.physics.set_collisions(scene.handle, collisions).unwrap();
            scene.run(1.0);
            let from = scene.centre();
            scene.push(DVec3::X * speed);
            // As fast as it is slowed down in a quarter of the time in which it would stop.
            let time = 0.25 * speed / (expected * GRAVITY);
            let frames = (time * 60.0).round().max(2.0) / 60.0;
            scene.run(frames);
            let went = (scene.centre() - from).x;
            // Of v·t − ½a·t², a substep takes ½a·t·h more.
            let substep = 1.0 / 240.0;
            let slowed = 2.0 * (speed * frames - went) / (frames * (frames + substep)) / GRAVITY;
            println!("{friction:?} by {rule:?} on a solid: {on_solid}: {slowed:.3} g, {expected} expected");
            assert!((slowed / expected - 1.0).abs() < 0.02, "{slowed} for {expected}");
        }
    }
}
