//! Rapier's groups and combine rules as flesh keeps to them, and contact events of colliders.

use glam::{DVec3, Vec3};
use sinew::rapier3d::geometry::{Group, InteractionTestMode};
use sinew::rapier3d::na::Unit;
use sinew::rapier3d::prelude::*;
use sinew::rigid::{RigidWorld, collider_id, collider_of};
use sinew::world::{ContactBody, contact_events};
use sinew::{Coefficient, CollisionGroups, Collisions, CombineRule, ContactPhase, ContactWith};

use crate::{FRAME, RADIUS, SEGMENTS, Scene};

/// A rod 0.1 m above, with events.
fn above(rigid: RigidWorld) -> Scene {
    let mut scene = Scene::beside(rigid, DVec3::Y * 0.1, 0.0, 0.0);
    scene.physics.gather_events = true;
    scene
}

fn height(scene: &Scene) -> f64 {
    scene.physics.node(scene.rod, 0, SEGMENTS / 2).expect("is there").place.y
}

fn groups(memberships: u32, filter: u32) -> InteractionGroups {
    let of = Group::from_bits_truncate;
    InteractionGroups::new(of(memberships), of(filter), InteractionTestMode::And)
}

/// The table of rapier's own test, and ours: the same for all of them.
#[test]
fn groups_and_rules_are_rapiers() {
    let bits = [0_u32, 1, 2, 3, 1 << 31, u32::MAX];
    let mut met = 0;
    for (a, b) in bits.iter().flat_map(|a| bits.map(|b| (*a, b))) {
        for (c, d) in bits.iter().flat_map(|c| bits.map(|d| (*c, d))) {
            let (one, other) = (groups(a, b), groups(c, d));
            let own = CollisionGroups::from(one).meets(CollisionGroups::from(other));
            assert_eq!(own, one.test(other), "{one:?} {other:?}");
            met += u32::from(own);
        }
    }
    assert!(met > 100);
    use CoefficientCombineRule as Rule;
    let rules = [Rule::Average, Rule::Min, Rule::Multiply, Rule::Max, Rule::ClampedSum, Rule::GeometricMean];
    for (a, b) in rules.iter().flat_map(|a| rules.map(|b| (*a, b))) {
        for (x, y) in [(0.0, 0.7), (0.25, 1.0), (0.9, 1.6)] {
            let own = Coefficient::new(x, CombineRule::from(a)).with(Coefficient::new(y, CombineRule::from(b)));
            let theirs = Rule::combine(x, y, a, b);
            assert!((own - theirs).abs() <= 1.0e-6, "{a:?} {b:?} of {x}, {y}: {own}, not {theirs}");
        }
    }
}

/// A rod falls through a platform whose groups it does not want on to the ground; so do a half-space's groups, and both are named in
/// events.
#[test]
fn colliders_bring_their_groups() {
    let mut rigid = RigidWorld::default();
    let platform =
        ColliderBuilder::cuboid(1.0, 0.05, 1.0).translation(Vec3::NEG_Y * 0.05).collision_groups(groups(1, 0b110));
    let platform = rigid.colliders.insert(platform);
    let floor = rigid.colliders.insert(
        ColliderBuilder::halfspace(Unit::new_unchecked(Vec3::Y))
            .translation(Vec3::NEG_Y)
            .collision_groups(groups(8, u32::MAX)),
    );
    let mut scene = above(rigid);
    let player = |filter: u32| Collisions { groups: CollisionGroups::new(2, filter), ..Collisions::default() };
    scene.physics.set_collisions(scene.rod, player(1 | 8)).unwrap();
    scene.run(1.0);
    assert!((height(&scene) / RADIUS - 1.0).abs() < 0.05, "{}", height(&scene));
    let events: Vec<_> = contact_events(&scene.physics).collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].sides, [ContactBody::Flesh(scene.rod), ContactBody::Collider(platform)]);
    assert_eq!(events[0].phase, ContactPhase::GoesOn);
    assert_eq!((collider_of(collider_id(floor)), collider_of(collider_id(platform))), (floor, platform));

    scene.physics.set_collisions(scene.rod, player(8)).unwrap();
    scene.run(FRAME);
    let event = scene.physics.contact_events().next().copied().unwrap();
    assert_eq!((event.other, event.phase), (ContactWith::World(collider_id(platform)), ContactPhase::Ended));
    scene.run(1.0);
    assert!((height(&scene) + 1.0 - RADIUS).abs() < 0.05 * RADIUS, "{}", height(&scene));
    let events: Vec<_> = contact_events(&scene.physics).collect();
    assert_eq!(events[0].sides[1], ContactBody::Collider(floor));

    // What all flesh collides with is asked first, as ever.
    scene.rigid.touched.groups = groups(2, 1);
    scene.run(0.5);
    assert!(height(&scene) < -1.5);
}

/// A collider goes on being the same where another one comes before it in rapier's set.
#[test]
fn events_follow_colliders_not_places() {
    let mut rigid = RigidWorld::default();
    let gone = rigid.colliders.insert(ColliderBuilder::ball(0.1).translation(Vec3::X * 5.0));
    let platform = rigid.colliders.insert(ColliderBuilder::cuboid(1.0, 0.05, 1.0).translation(Vec3::NEG_Y * 0.05));
    let mut scene = above(rigid);
    scene.run(1.0);
    let remove = |rigid: &mut RigidWorld, collider| {
        rigid.colliders.remove(collider, &mut rigid.islands, &mut rigid.bodies, &mut rigid.soft_bodies, true)
    };
    remove(&mut scene.rigid, gone).expect("is there");
    scene.run(FRAME);
    let events: Vec<_> = scene.physics.contact_events().copied().collect();
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].other, events[0].phase), (ContactWith::World(collider_id(platform)), ContactPhase::GoesOn));
    remove(&mut scene.rigid, platform).expect("is there");
    scene.run(FRAME);
    let events: Vec<_> = contact_events(&scene.physics).collect();
    assert_eq!((events.len(), events[0].phase, events[0].impulse), (1, ContactPhase::Ended, 0.0));
    assert_eq!(events[0].sides[1], ContactBody::Collider(platform));
}

/// Colliders bring their restitution: a rod that falls on a block with 0.7 and a rule comes up again by half.
#[test]
fn colliders_bring_their_restitution() {
    let mut rigid = RigidWorld::default();
    let block = ColliderBuilder::cuboid(1.0, 0.05, 1.0).translation(Vec3::NEG_Y * 0.05).restitution(0.7);
    rigid.colliders.insert(block.restitution_combine_rule(CoefficientCombineRule::Max));
    let solids = rigid.solids(|_| false);
    assert_eq!((solids[0].restitution, solids[0].restitution_rule), (0.7, CombineRule::Max));
    let mut scene = Scene::beside(rigid, DVec3::Y * 0.5, 0.0, 0.0);
    let start = height(&scene) - RADIUS;
    let (mut lowest, mut highest) = (start, 0.0_f64);
    for _ in 0..90 {
        scene.run(1.0 / 60.0);
        let gap = height(&scene) - RADIUS;
        lowest = lowest.min(gap);
        highest = if lowest < 0.1 * start { highest.max(gap) } else { 0.0 };
    }
    println!("dropped by {start:.2} m, up again by {highest:.3}");
    assert!((highest / (0.49 * start) - 1.0).abs() < 0.1, "{highest} of {start}");
}
