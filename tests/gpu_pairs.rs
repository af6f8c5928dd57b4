//! Which segments may touch, on the GPU: the same pairs as on the CPU.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::{FRAME, Random};
use glam::DVec3;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::gpu::PairReport;
use sinew::step::{Stage, StepConfig, Walk};
use sinew::{Active, FleshHandle, Motion, Physics, Pose, SegmentPair};

/// A frame up to where pairs are found.
const UNTIL_PAIRS: Walk = Walk { last: Some(Stage::FindPairs), fused: true };

/// Rods of sizes over three decades, some of which overlap at rest; of every third flesh one rod hangs on a bone.
fn flesh(random: &mut Random, index: usize) -> (Arc<Flesh>, Vec<Pose>) {
    let count = 1 + (random.uniform(0.0, 10.0) as usize);
    let spread = random.log_uniform(0.03, 1.0);
    let bones = if index.is_multiple_of(3) { vec![Pose::IDENTITY] } else { Vec::new() };
    let rods: Vec<RodSpec> = (0..count)
        .map(|rod| {
            let radius = random.log_uniform(1.0e-3, 1.0);
            let segments = 1 + (random.uniform(0.0, 7.0) as usize);
            let from = random.vector(-1.0, 1.0) * spread;
            let way = random.vector(-1.0, 1.0).normalize() * (2.5 * radius * segments as f64);
            let spec = RodSpec::straight(format!("{rod}"), from, from + way, segments, radius);
            if rod == 0 && !bones.is_empty() { spec.attach(0, 0, Holds::CLAMP) } else { spec }
        })
        .collect();
    (Arc::new(Flesh::build(&rods, &bones).unwrap()), bones)
}

/// Fills a scene, of which some are thrown, some pushed, some paused and some far from the world's origin.
fn fill(seed: u64, physics: &mut Physics) -> Vec<FleshHandle> {
    let mut random = Random(seed);
    let far = if seed.is_multiple_of(5) { DVec3::new(5000.0, 30.0, -7000.0) } else { DVec3::ZERO };
    let spread = [0.2, 1.0, 3.0][seed as usize % 3];
    let mut handles = Vec::new();
    for index in 0..2 + (random.uniform(0.0, 10.0) as usize) {
        let (flesh, bones) = flesh(&mut random, index);
        let root = Pose::new(random.vector(-1.0, 1.0) * spread + far, random.rotation());
        let bones: Vec<Pose> = bones.iter().map(|_| root).collect();
        let moved: Vec<Pose> =
            bones.iter().map(|bone| Pose::from_translation(random.vector(-0.1, 0.1)) * *bone).collect();
        let speed = random.log_uniform(0.01, 100.0);
        let [velocity, force] = [(); 2].map(|()| random.vector(-1.0, 1.0) * speed);
        let spin = random.vector(-3.0, 3.0);
        let handle = physics.insert(flesh.clone(), &bones, root).unwrap();
        physics.set_bones(handle, &moved, root).unwrap();
        match index % 4 {
            0 => physics.set_velocity(handle, Motion { velocity, spin, centre: root.translation }).unwrap(),
            1 => physics.add_force(handle, 0, 1, force).unwrap(),
            _ if index % 7 == 2 => physics.set_active(handle, Active::PAUSED).unwrap(),
            _ => {}
        }
        handles.push(handle);
    }
    handles
}

fn with_passes() -> StepConfig {
    StepConfig { passes: 2, ..StepConfig::default() }
}

/// The pairs of a scene's next frame.
fn pairs_of(physics: &mut Physics) -> Vec<SegmentPair> {
    physics.step_flesh_by(FRAME, &UNTIL_PAIRS).unwrap();
    physics.segment_pairs().unwrap()
}

#[test]
fn both_backends_find_the_same_pairs() {
    let Some(mut gpu) = common::gpu_physics() else { return };
    gpu.config = with_passes();
    let (mut total, mut of_one, mut grown) = (0, 0, 0);
    for seed in 0..50 {
        let mut cpu = Physics::with_config(with_passes());
        fill(seed, &mut cpu);
        let expected = pairs_of(&mut cpu);
        let mut handles;
        // Where there is no room for all, there is once that is known.
        let found = loop {
            handles = fill(seed, &mut gpu);
            let found = pairs_of(&mut gpu);
            gpu.finish().unwrap();
            let PairReport { found: count, room } = gpu.pair_report().unwrap();
            assert_eq!(count, expected.len() as u64, "scene {seed}");
            if count <= room {
                break found;
            }
            assert!(!found.is_empty() && found.len() as u64 <= room);
            handles.iter().rev().for_each(|handle| gpu.remove(*handle).unwrap());
            grown += 1;
        };
        of_one += expected.iter().filter(|[a, b]| a.0 == b.0).count();
        total += expected.len();
        let missing = expected.iter().filter(|pair| !found.contains(pair)).count();
        assert!(found == expected, "scene {seed}: {missing} of {} missing, or in another order", expected.len());
        handles.iter().rev().for_each(|handle| gpu.remove(*handle).unwrap());
    }
    println!("50 scenes, {total} pairs, {of_one} of them of one instance: the same sets; room grew {grown} times");
    assert!(total > 10_000 && of_one > 100 && grown > 0);
}
