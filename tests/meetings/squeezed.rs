//! What is pressed by what does not give way.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::hecs::World;
use sinew::rapier3d::prelude::{CoefficientCombineRule, ColliderBuilder, RigidBodyBuilder};
use sinew::rigid::RigidWorld;
use sinew::scenes::SceneParameters;
use sinew::scenes::octopuses::Octopus;
use sinew::step::StepConfig;
use sinew::{Coefficient, Collisions, CombineRule, FleshHandle, HalfSpace, Material, Physics, Pose, Shape, Solid};

use crate::common::FRAME;
use crate::pile::PASSES;

/// Soft rods that lie in a heap, and a wall that pushes them along the ground at 3 m/s: they go on ahead of it, at about its speed. Of
/// what is caught between wall and ground the surfaces may not get firmer and firmer: that threw it at 10¹⁴ m/s.
#[test]
fn a_wall_pushes_a_heap_along() {
    const SPEED: f64 = 3.0;
    const RADIUS: f64 = 0.03;
    for (count, segments) in [(3, 16), (10, 8), (10, 16)] {
        let material = Material { youngs_modulus: 1.0e5, damping: 3.0, ..Material::default() };
        let rod = RodSpec::straight("rod", DVec3::X * -0.5, DVec3::X * 0.5, segments, RADIUS);
        let flesh = Arc::new(Flesh::build(&[RodSpec { material, ..rod }], &[]).unwrap());
        let mut physics = Physics::with_config(StepConfig { substeps: 2, passes: PASSES, ..StepConfig::default() });
        physics.planes = vec![HalfSpace { friction_rule: CombineRule::Max, ..HalfSpace::ground(0.0, 0.8) }];
        let (mut world, mut rigid) = (World::new(), RigidWorld::default());
        let friction = Some(Coefficient::new(0.5, CombineRule::Average));
        let rods: Vec<_> = (0..count)
            .map(|index| {
                let [x, z] = [0.25 * f64::from(index % 3), 0.07 * f64::from(index % 2)];
                let place = DVec3::new(x, RADIUS + 2.2 * RADIUS * f64::from(index), z);
                let pose = Pose::new(place, DQuat::from_rotation_y(1.1 * f64::from(index)));
                let rod = physics.insert(flesh.clone(), &[], pose).unwrap();
                physics.set_collisions(rod, Collisions { friction, ..Collisions::default() }).unwrap();
                rod
            })
            .collect();
        (0..240).for_each(|_| physics.step(&mut world, &mut rigid, FRAME).unwrap());
        let from = Vec3::new(-2.0, 0.75, 0.0);
        let wall = rigid.bodies.insert(RigidBodyBuilder::kinematic_position_based().translation(from));
        let side =
            ColliderBuilder::cuboid(0.3, 1.25, 5.0).friction(0.8).friction_combine_rule(CoefficientCombineRule::Max);
        rigid.colliders.insert_with_parent(side, wall, &mut rigid.bodies);
        let (mut fastest, mut most) = (0.0_f64, 0.0_f64);
        for frame in 1..=160 {
            let goes = Vec3::X * (SPEED * f64::from(frame) * FRAME) as f32;
            rigid.bodies[wall].set_next_kinematic_translation(from + goes);
            physics.step(&mut world, &mut rigid, FRAME).unwrap();
            let quality = physics.quality();
            fastest = fastest.max(quality.speed_max);
            most = most.max(quality.energy.elastic + quality.energy.kinetic);
        }
        let front = -2.0 + 0.3 + SPEED * 160.0 * FRAME;
        let nodes = rods.iter().flat_map(|rod| (0..=segments).map(|node| physics.node(*rod, 0, node).unwrap().place.x));
        let behind = nodes.map(|x| front - x).fold(f64::NEG_INFINITY, f64::max);
        let mass: f64 = f64::from(count) * flesh.mass(0);
        let own = 0.5 * mass * SPEED * SPEED;
        let resets: u32 = rods.iter().map(|rod| physics.health(*rod).unwrap().resets).sum();
        println!(
            "{count} rods of {segments}: {fastest:.1} m/s at most (bar 15), {most:.0} J, {own:.0} J all as fast as the wall; \
             {resets} laid anew; {behind:.3} m behind the wall's front (bar 0.1)"
        );
        assert!(fastest < 5.0 * SPEED && most < 4.0 * own && resets == 0 && behind < 0.1);
    }
}

/// Octopuses on the ground: the fastest of their nodes, how often any was laid anew, and how far (m) any node was left behind by a wall
/// of a kinematic body that came from −2.5 m to 3 m at some speed, with so many substeps a frame.
fn before_a_wall(poses: &[Pose], speed: f64, substeps: u32) -> (f64, u32, f64) {
    let flesh = Octopus::default().build().unwrap();
    let mut physics = Physics::with_config(StepConfig { substeps, passes: PASSES, ..StepConfig::default() });
    let (mut world, mut rigid) = (World::new(), RigidWorld::default());
    rigid.spawn_ground(0.0, 0.8).unwrap();
    let all: Vec<FleshHandle> = poses.iter().map(|pose| physics.insert(flesh.clone(), &[], *pose).unwrap()).collect();
    (0..180).for_each(|_| physics.step(&mut world, &mut rigid, FRAME).unwrap());
    let from = Vec3::new(-2.5, 1.0, 0.0);
    let wall = rigid.bodies.insert(RigidBodyBuilder::kinematic_position_based().translation(from));
    rigid.colliders.insert_with_parent(ColliderBuilder::cuboid(0.1, 1.0, 5.0), wall, &mut rigid.bodies);
    let mut fastest = 0.0_f64;
    for frame in 1..=(5.5 / (speed * FRAME)) as u32 {
        let goes = Vec3::X * (speed * f64::from(frame) * FRAME) as f32;
        rigid.bodies[wall].set_next_kinematic_translation(from + goes);
        physics.step(&mut world, &mut rigid, FRAME).unwrap();
        fastest = fastest.max(physics.quality().speed_max);
    }
    let front = f64::from(rigid.bodies[wall].translation().x) + 0.1;
    let chains =
        flesh.chains().iter().enumerate().flat_map(|(chain, info)| (0..info.node_count()).map(move |n| (chain, n)));
    let nodes = chains.flat_map(|(chain, node)| all.iter().map(move |octopus| (*octopus, chain, node)));
    let behind = nodes.map(|(octopus, chain, node)| front - physics.node(octopus, chain, node).unwrap().place.x);
    let behind = behind.fold(f64::NEG_INFINITY, f64::max);
    (fastest, all.iter().map(|octopus| physics.health(*octopus).unwrap().resets).sum(), behind)
}

/// A wall that comes at 3 m/s into an octopus that lies there takes it along, however it lies: its limbs, squeezed against each other
/// between wall and ground, have steps that are shortened, and passes may not move what they do not know enough of. With 2 substeps 3 of
/// 60 ways to lie go beyond six times the wall's speed, with 4 none.
#[test]
fn a_wall_takes_an_octopus_along() {
    const SPEED: f64 = 3.0;
    for (substeps, bar) in [(4, 6.0), (2, 12.0)] {
        let (mut most, mut slower) = (0.0_f64, 0);
        for turn in 0..20 {
            let pose = Pose::new(DVec3::Y * 0.4, DQuat::from_rotation_y(0.3 * f64::from(turn)));
            let (fastest, resets, behind) = before_a_wall(&[pose], SPEED, substeps);
            let name = format!("{substeps} substeps, turned by {:.1}", 0.3 * f64::from(turn));
            assert!(resets == 0 && behind < 0.1, "{name}: {resets} laid anew, {behind:.3} m behind (bar 0.1)");
            assert!(fastest < bar * SPEED, "{name}: {fastest:.1} m/s");
            most = most.max(fastest);
            slower += u32::from(fastest < 6.0 * SPEED);
        }
        println!(
            "20 ways to lie, {substeps} substeps: {most:.1} m/s at most (bar {}), {slower} below 18 (18)",
            bar * SPEED
        );
        assert!(slower >= 18);
    }
}

/// A heap of them meets walls that are faster.
#[test]
fn walls_go_into_a_heap() {
    for (speed, substeps, bar) in [(1.0, 2, 15.0), (3.0, 2, 10.0), (3.0, 4, 6.0), (5.0, 4, 6.0)] {
        let poses = Octopus::default().drop_poses(25);
        let (fastest, resets, behind) = before_a_wall(&poses, speed, substeps);
        println!(
            "at {speed} m/s, {substeps} substeps: {fastest:.1} m/s at most (bar {}), {resets} laid anew, {behind:.3} m behind (bar 0.2)",
            bar * speed
        );
        assert!(fastest < bar * speed && resets == 0 && behind < 0.2);
    }
}

/// A block 0.5 m thick goes through a heap of octopuses at 10 m/s, 8 cm a substep, three radii of a tentacle: nothing bears that. What
/// it crushed flew off at hundreds of times its speed.
#[test]
fn what_a_fast_block_crushes_does_not_burst() {
    const SPEED: f64 = 10.0;
    let (mut logs, counts) = (0.0, [20, 23, 26, 29]);
    for count in counts {
        let parameters = SceneParameters { rods: count, ..SceneParameters::of("octopuses").expect("is there") };
        let scene = parameters.build("octopuses").expect("in range");
        let mut physics = Physics::with_config(StepConfig { substeps: 2, ..scene.config });
        scene.insert(&mut physics).expect("finite");
        (0..150).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
        let handles: Vec<FleshHandle> = physics.instances().collect();
        let mut front = f64::INFINITY;
        for &octopus in &handles {
            for (index, chain) in physics.flesh(octopus).expect("is there").chains().iter().enumerate() {
                let nodes = (0..chain.node_count()).map(|node| physics.node(octopus, index, node));
                front = nodes.fold(front, |front, node| front.min(node.expect("is there").place.x));
            }
        }
        let shape = Arc::new(Shape::Cuboid { half_extents: Vec3::new(0.25, 2.0, 8.0) });
        let (mut fastest, mut at) = (0.0_f64, front - 0.1);
        for _ in 0..100 {
            let pose = Pose::from_translation(DVec3::new(at - 0.25, 2.0, 0.0));
            let block = Solid::new(Arc::clone(&shape), pose, 0.5);
            physics.solids = vec![Solid { velocity: DVec3::X * SPEED, ..block }];
            physics.step_flesh(FRAME).expect("steps");
            fastest = fastest.max(physics.quality().speed_max);
            at += SPEED * FRAME;
        }
        let resets: u32 = handles.iter().map(|&octopus| physics.health(octopus).expect("is there").resets).sum();
        println!(
            "{count} octopuses: {:.1} times as fast as the block (bar 20), {resets} chains laid anew (bar 9, an octopus)",
            fastest / SPEED
        );
        assert!(fastest < 20.0 * SPEED && resets <= 9);
        logs += (fastest / SPEED).ln();
    }
    let mean = (logs / counts.len() as f64).exp();
    println!("in the geometric mean {mean:.1} times (bar 10)");
    assert!(mean < 10.0);
}
