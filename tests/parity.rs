//! The GPU does what the CPU does: raw rows stage by stage, the canonical cantilever, and the same bits run after run.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::parity::{DT, compare, scenes};
use glam::DVec3;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::scenes::Cantilevers;
use sinew::step::Stage;
use sinew::{FleshHandle, Physics, Pose};

#[test]
fn every_stage_leaves_the_rows_of_its_twin() {
    for scene in scenes() {
        let Some(mut gpu) = common::gpu_physics() else { return };
        let mut cpu = Physics::with_config(scene.config);
        let handles = scene.fill(&mut cpu);
        assert_eq!(scene.fill(&mut gpu), handles);
        for step in 1..=scene.before {
            scene.pose(&mut cpu, &handles, step);
            cpu.step_flesh(DT).unwrap();
        }
        let start = cpu.save();
        let mut line = format!("{:28}", scene.name);
        for stage in &Stage::ALL[1..8] {
            for physics in [&mut cpu, &mut gpu] {
                physics.last_stage = Some(*stage);
                physics.restore(&start).unwrap();
            }
            for physics in [&mut cpu, &mut gpu] {
                scene.pose(physics, &handles, scene.before + 1);
                physics.step_flesh(DT).unwrap();
                physics.finish().unwrap();
            }
            let (worst, at) = compare(&scene, &cpu, &gpu, &handles);
            line += &format!(" {} {worst:.2}", stage.name());
            assert!(worst <= 1.0, "{} after {}: {worst} × 1e-5, {at}", scene.name, stage.name());
        }
        println!("{line}  (× 1e-5)");
    }
}

/// The cantilever's tip over its length, from the elastica of Γ = 1, 5 and 20, and the bar.
const ELASTICA: [(f64, [f64; 2], f64); 3] = [
    (1.0, [0.9912463953, -0.1234714020], 2.0e-4),
    (5.0, [0.8466571800, -0.4959050446], 5.0e-4),
    (20.0, [0.4452320522, -0.8298814434], 1.0e-3),
];

/// Clamped rods of 20 segments at Γ = 1, 5, 20, clamped to a bone.
fn elasticas(at: DVec3) -> Arc<Flesh> {
    let rod = |(index, (gamma, ..)): (usize, &(f64, [f64; 2], f64))| {
        let from = at + DVec3::Z * index as f64;
        let mut rod = RodSpec::straight(format!("Γ = {gamma}"), from, from + DVec3::X, 20, 0.01);
        rod.material = Cantilevers::default().with_gamma(*gamma, 9.81).material;
        rod.attach(0, 0, Holds::CLAMP)
    };
    let rods: Vec<RodSpec> = ELASTICA.iter().enumerate().map(rod).collect();
    Arc::new(Flesh::build(&rods, &[Pose::from_translation(at)]).unwrap())
}

#[test]
fn cantilevers_come_to_rest_on_the_elastica() {
    let Some(mut physics) = common::gpu_physics() else { return };
    let places = [DVec3::ZERO, DVec3::new(5000.0, 30.0, -2000.0)];
    let insert = |at: &DVec3| physics.insert(elasticas(*at), &[Pose::from_translation(*at)], Pose::IDENTITY).unwrap();
    let handles: Vec<FleshHandle> = places.iter().map(insert).collect();
    for _ in 0..600 {
        physics.step_flesh(DT).unwrap();
    }
    physics.finish().unwrap();
    assert_eq!((physics.state_step(), physics.step_count()), (600, 600));
    for (handle, at) in handles.iter().zip(places) {
        for (chain, (gamma, tip, bar)) in ELASTICA.iter().enumerate() {
            let place = physics.node(*handle, chain, 20).unwrap().place - at;
            let error = (place.x - tip[0]).hypot(place.y - tip[1]);
            println!("Γ = {gamma} at {at}: tip off by {:.4} % of L", 100.0 * error);
            assert!(error <= *bar, "Γ = {gamma} at {at}: {place}");
        }
    }
}

#[test]
fn two_runs_have_the_same_bits_and_stay_finite() {
    let run = || {
        let mut physics = common::gpu_physics()?;
        let mut hashes = Vec::new();
        for scene in &scenes() {
            let handles = scene.fill(&mut physics);
            for step in 1..=90 {
                scene.pose(&mut physics, &handles, step % 40);
                physics.step_flesh(DT).unwrap();
            }
            physics.finish().unwrap();
            hashes.push(physics.state_hash());
            for handle in handles {
                assert_eq!(physics.health(handle).unwrap().resets, 0, "{}", scene.name);
                let vertices = physics.vertices(handle).unwrap();
                assert!(vertices.positions.iter().chain(&vertices.normals).all(|v| v.is_finite()));
                physics.remove(handle).unwrap();
            }
        }
        Some(hashes)
    };
    let Some(first) = run() else { return };
    println!("{first:x?}");
    assert_eq!(Some(first), run());
}
