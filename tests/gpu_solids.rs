//! Flesh on solids, on the GPU: what it does over many frames, what it remembers, and what is sent.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::{FRAME, material};
use glam::{DQuat, DVec3, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::{Collisions, FleshHandle, Mesh, Physics, Pose, Shape, Solid};

const RADIUS: f64 = 0.03;
const SEGMENTS: usize = 8;

/// A rod somewhere above a solid.
fn dropped(mut physics: Physics, solid: Solid, at: DVec3) -> (Physics, FleshHandle) {
    let half = DVec3::X * 0.25;
    let mut rod = RodSpec::straight("rod", -half, half, SEGMENTS, RADIUS);
    rod.material = material(2.0e5, 0.3, 1000.0, 3.0);
    physics.solids = vec![solid];
    let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
    let handle = physics.insert(flesh, &[], Pose::new(at, DQuat::from_rotation_y(0.3))).unwrap();
    (physics, handle)
}

fn run(physics: &mut Physics, frames: usize) {
    (0..frames).for_each(|_| physics.step_flesh(FRAME).unwrap());
    physics.finish().unwrap();
}

fn places(physics: &Physics, rod: FleshHandle) -> Vec<DVec3> {
    (0..=SEGMENTS).map(|node| physics.node(rod, 0, node).unwrap().place).collect()
}

fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

fn block() -> Arc<Shape> {
    Arc::new(Shape::Cuboid { half_extents: Vec3::new(1.0, 0.5, 1.0) })
}

/// The same with triangles, solid below.
fn ground() -> Arc<Shape> {
    let corner = |x: f32, z: f32| Vec3::new(x, 0.5, z);
    let points = vec![corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, -1.0), corner(1.0, 1.0)];
    Arc::new(Shape::Mesh(Mesh::new(points, vec![[0, 1, 2], [2, 1, 3]], true).unwrap()))
}

#[test]
fn a_rod_that_is_dropped_comes_to_rest_as_on_the_cpu() {
    for (name, shape) in [("cuboid", block()), ("mesh", ground())] {
        // At the world's origin, and 3 km off.
        for origin in [DVec3::ZERO, DVec3::new(3000.0, 40.0, -1000.0)] {
            let solid = Solid::new(shape.clone(), Pose::from_translation(origin - DVec3::Y * 0.5), 0.5);
            let at = origin + DVec3::Y * 0.15;
            let Some(gpu) = common::gpu_physics() else { return };
            let (mut cpu, rod) = dropped(Physics::default(), solid.clone(), at);
            let (mut gpu, same) = dropped(gpu, solid, at);
            run(&mut cpu, 120);
            run(&mut gpu, 120);
            let (on_cpu, on_gpu) = (places(&cpu, rod), places(&gpu, same));
            let lowest = on_gpu.iter().map(|place| place.y - origin.y - RADIUS).fold(f64::INFINITY, f64::min);
            let off = apart(&on_cpu, &on_gpu);
            run(&mut gpu, 30);
            let moved = apart(&on_gpu, &places(&gpu, same));
            println!(
                "{name} at {origin}: {off:.1e} m apart, {lowest:.1e} m over it, goes {moved:.1e} m in half a second"
            );
            assert!(off < 1.0e-4 && lowest.abs() < 1.0e-4 && moved < 1.0e-5);
            gpu.remove(same).unwrap();
        }
    }
}

/// What the CPU had pressing on a slope holds on the GPU, and there from step to step.
#[test]
fn what_sticks_to_a_slope_goes_on_sticking() {
    let angle = 0.35_f64;
    let tilted = Pose::new(DVec3::new(0.5 * angle.sin(), -0.5 * angle.cos(), 0.0), DQuat::from_rotation_z(-angle));
    let solid = Solid::new(block(), tilted, 0.8);
    let Some(gpu) = common::gpu_physics() else { return };
    let turned = DQuat::from_rotation_z(-angle);
    let (mut cpu, mut gpu) = (Physics::default(), gpu);
    cpu.solids = vec![solid.clone()];
    gpu.solids = vec![solid];
    // Along the slope it lies.
    let laid = Pose::new(turned * DVec3::Y * RADIUS, turned);
    let half = DVec3::X * 0.25;
    let mut spec = RodSpec::straight("rod", -half, half, SEGMENTS, RADIUS);
    spec.material = material(2.0e5, 0.3, 1000.0, 3.0);
    let flesh = Arc::new(Flesh::build(&[spec], &[]).unwrap());
    let rod = cpu.insert(flesh.clone(), &[], laid).unwrap();
    assert_eq!(gpu.insert(flesh, &[], laid).unwrap(), rod);
    run(&mut cpu, 60);
    gpu.restore(&cpu.save()).unwrap();
    let before = places(&cpu, rod);
    run(&mut cpu, 60);
    run(&mut gpu, 60);
    let [on_cpu, on_gpu] = [&cpu, &gpu].map(|physics| apart(&before, &places(physics, rod)));
    println!("in a second it creeps by {on_cpu:.1e} m on the CPU and {on_gpu:.1e} m on the GPU");
    assert!(on_cpu < 1.0e-4 && on_gpu < on_cpu + 2.0e-5);
    gpu.remove(rod).unwrap();
}

/// Solids that stand still are sent once; of many, only what moves is sent again. Flesh that touches none pays for none.
#[test]
fn only_what_moved_is_sent() {
    let Some(gpu) = common::gpu_physics() else { return };
    let solid = Solid::new(block(), Pose::from_translation(DVec3::NEG_Y * 0.5), 0.5);
    let (mut physics, rod) = dropped(gpu, solid.clone(), DVec3::Y * 0.1);
    physics.solids.clear();
    run(&mut physics, 3);
    let without = physics.transfers().uploaded;
    let aside = |index: usize| Solid { pose: Pose::from_translation(DVec3::X * (5.0 * index as f64)), ..solid.clone() };
    physics.solids = (0..200).map(aside).collect();
    run(&mut physics, 1);
    let first = physics.transfers().uploaded;
    run(&mut physics, 1);
    let still = physics.transfers().uploaded;
    let velocity = DVec3::Y;
    physics.solids[100] = aside(100).moving(velocity);
    run(&mut physics, 1);
    physics.solids[100].pose.translation += velocity * FRAME;
    run(&mut physics, 1);
    let one_moves = physics.transfers().uploaded;
    println!(
        "{without} bytes without solids, {first} with 200 new ones, {still} where they stand, {one_moves} where one moves"
    );
    assert_eq!(still, without);
    assert!(first > without + 200 * 160 && one_moves < without + 2048);
    // What touches none is as without.
    let place = places(&physics, rod);
    physics.set_collisions(rod, Collisions { solids: false, ..Collisions::default() }).unwrap();
    run(&mut physics, 30);
    assert!(places(&physics, rod)[0].y < place[0].y - 0.5, "it falls through");
    physics.remove(rod).unwrap();
}

/// Rapier's colliders, of every form that has triangles, and round ones.
#[cfg(feature = "rapier")]
#[test]
fn rapier_s_colliders_stop_flesh_as_on_the_cpu() {
    use sinew::rapier3d::prelude::*;
    let mut rigid = sinew::rigid::RigidWorld::default();
    let hill = |i: usize, k: usize| 0.04 * (i as f32).sin() * (k as f32).cos();
    let heights = sinew::rapier3d::parry::utils::Array2::new(9, 9, (0..81).map(|at| hill(at % 9, at / 9)).collect());
    rigid.colliders.insert(ColliderBuilder::heightfield(heights, Vec3::new(2.0, 1.0, 2.0)));
    rigid.colliders.insert(ColliderBuilder::round_cuboid(0.05, 0.02, 0.2, 0.02).translation(Vec3::new(0.1, 0.03, 0.0)));
    let colliders = rigid.solids(|_| false);
    assert!(colliders.len() == 2 && rigid.touched.left_out.is_empty());
    let Some(gpu) = common::gpu_physics() else { return };
    let solid = colliders[0].clone();
    let [on_cpu, on_gpu] = [Physics::default(), gpu].map(|physics| {
        let (mut physics, rod) = dropped(physics, solid.clone(), DVec3::new(0.05, 0.2, 0.07));
        physics.solids.clear();
        physics.set_world_solids(colliders.clone());
        run(&mut physics, 40);
        places(&physics, rod)
    });
    let off = apart(&on_cpu, &on_gpu);
    let lowest = on_gpu.iter().map(|place| place.y).fold(f64::INFINITY, f64::min);
    println!("{off:.1e} m apart, the lowest node {lowest:.3} m high");
    assert!(off < 1.0e-3 && lowest > -0.02);
}
