//! Which segments may touch, on the GPU: the same pairs as on the CPU.
#![cfg(feature = "gpu")]

mod common;

use std::sync::Arc;

use common::{FRAME, Random};
use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::gpu::{KERNELS, PairReport};
use sinew::step::{Stage, StepConfig, Walk};
use sinew::{Active, CollisionGroups, Collisions, FleshHandle, Motion, Physics, Pose, SegmentPair};

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

/// The scene in which most meet.
const CROWDED: u64 = 48;

/// Fills a scene, of which some are thrown, some pushed, some paused and some far from the world's origin.
fn fill(seed: u64, physics: &mut Physics) -> Vec<FleshHandle> {
    let mut random = Random(seed);
    let far = if seed.is_multiple_of(5) { DVec3::new(5000.0, 30.0, -7000.0) } else { DVec3::ZERO };
    let spread = [0.2, 1.0, 3.0][seed as usize % 3];
    let mut handles = Vec::new();
    // One has more pairs than there is room for at first.
    let crowd = if seed == CROWDED { 12 } else { 0 };
    for index in 0..2 + crowd + (random.uniform(0.0, 10.0) as usize) {
        let (flesh, bones) = flesh(&mut random, index);
        let root = Pose::new(random.vector(-1.0, 1.0) * spread + far, random.rotation());
        let bones: Vec<Pose> = bones.iter().map(|_| root).collect();
        let moved: Vec<Pose> = bones
            .iter()
            .map(|bone| Pose::new(random.vector(-0.1, 0.1), DQuat::from_scaled_axis(random.vector(-0.2, 0.2))) * *bone)
            .collect();
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
    // In every other scene not all want to touch all.
    for (index, handle) in handles.iter().enumerate().filter(|_| !seed.is_multiple_of(2)) {
        physics.set_collisions(*handle, collisions(index)).unwrap();
    }
    handles
}

/// Groups and switches of all kinds.
fn collisions(index: usize) -> Collisions {
    let groups = CollisionGroups::new(1 << (index % 3), [0b111, 0b110, 0b011, 0b101][index % 4]);
    let [others, own_chains, within_chains] = [index % 7 != 6, index % 3 != 1, index.is_multiple_of(2)];
    Collisions { groups, others, own_chains, within_chains, ..Collisions::default() }
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
    let (mut total, mut of_one, mut of_chain, mut grown) = (0, 0, 0, 0);
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
            let PairReport { found: count, room, .. } = gpu.pair_report().unwrap();
            assert_eq!(count, expected.len() as u64, "scene {seed}");
            if count <= room {
                break found;
            }
            assert!(!found.is_empty() && found.len() as u64 <= room);
            handles.iter().rev().for_each(|handle| gpu.remove(*handle).unwrap());
            grown += 1;
        };
        of_one += expected.iter().filter(|[a, b]| a.0 == b.0).count();
        of_chain += expected.iter().filter(|[a, b]| a.0 == b.0 && a.1[..2] == b.1[..2]).count();
        total += expected.len();
        let missing = expected.iter().filter(|pair| !found.contains(pair)).count();
        assert!(found == expected, "scene {seed}: {missing} of {} missing, or in another order", expected.len());
        handles.iter().rev().for_each(|handle| gpu.remove(*handle).unwrap());
    }
    println!(
        "50 scenes, {total} pairs, {of_one} of them of one instance, {of_chain} of one chain: the same sets; room grew {grown} times"
    );
    assert!(total > 10_000 && of_one > 100 && of_chain > 10 && grown > 0);
}

/// A stage, a line of its source with `⟨what⟩` marked, and what becomes of that.
type Mutant = (Stage, &'static str, &'static str);

const MUTANTS: &[Mutant] = &[
    (Stage::GatherSegments, "let first_origin = chain3(word(group_at(⟨0u⟩), CHAIN", "place"),
    (Stage::GatherSegments, "segment.reach = 0.5 ⟨*⟩ size(along)", "/"),
    (Stage::GatherSegments, "let pushed = forces ⟨>=⟩ 0.0;", "<"),
    (Stage::GatherSegments, "let kick = given3(given, INPUT_KICK_VELOCITY) ⟨+⟩ spin;", "-"),
    (Stage::GatherSegments, "0.5 * accelerated * frame ⟨*⟩ frame", "+"),
    (Stage::GatherSegments, "goes ⟨+⟩ sqrt(turns2)", "-"),
    (Stage::GatherSegments, "LANES + lane ⟨*⟩ group.node_count + node] = segment;", "+"),
    (Stage::GatherSegments, "1u << (segment.level ⟨%⟩ 32u));", "/"),
    (Stage::FindPairs, "vec3<u32>(k % 3u, k / 3u % 3u, k / ⟨9u⟩)", "27u"),
    (Stage::FindPairs, "if level == segment.level && other ⟨<=⟩ own {", "=="),
    (Stage::FindPairs, "params.frame + a.slack ⟨+⟩ b.slack;", "-"),
    (Stage::FindPairs, "return a.base != b.base ⟨||⟩ !overlap_at_rest", "&&"),
    (Stage::FindPairs, "return (a.flags & ⟨WITHIN_CHAINS⟩) != 0u;", "OWN_CHAINS"),
    (Stage::FindPairs, "return (a.flags & ⟨OWN_CHAINS⟩) != 0u;", "WITHIN_CHAINS"),
    (Stage::FindPairs, "return (a.memberships & b.touches) != 0u ⟨&&⟩ (b", "||"),
    (Stage::GatherSegments, "segment.flags = group.own ⟨|⟩ select", "&"),
    (Stage::FindPairs, "there.x < first || (there.x ⟨==⟩ first", "!="),
    (Stage::FindPairs, "let lower = rank_of(own, frame, ⟨own⟩);", "0u"),
    (Stage::FindPairs, "let pair = first_pair ⟨+⟩ k;", "*"),
    (Stage::FindPairs, "if before ⟨<⟩ partner {", ">"),
    (Stage::FindPairs, "var before = sum.⟨before⟩;", "all"),
    (Stage::GatherSegments, "let exponent = i32(bits >> 23u) - ⟨127⟩ + select", "130"),
];

#[test]
fn changed_kernels_are_seen() {
    let Some(mut gpu) = common::gpu_physics() else { return };
    gpu.config = with_passes();
    let mut pairs_on_gpu = |stage: Stage, written: Option<&str>, seed: u64| {
        gpu.replace_kernels(stage, written).unwrap();
        let handles = fill(seed, &mut gpu);
        let pairs = pairs_of(&mut gpu);
        gpu.finish().unwrap();
        let PairReport { found, room, .. } = gpu.pair_report().unwrap();
        handles.iter().rev().for_each(|handle| gpu.remove(*handle).unwrap());
        gpu.replace_kernels(stage, None).unwrap();
        (found <= room).then_some(pairs)
    };
    // Some that have room for all pairs at once.
    let fits = |seed: &u64| pairs_on_gpu(Stage::FindPairs, None, *seed).is_some();
    let seeds: Vec<u64> = (0..20).filter(fits).take(6).collect();
    assert_eq!(seeds.len(), 6);
    let expected: Vec<_> = seeds
        .iter()
        .map(|seed| {
            let mut cpu = Physics::with_config(with_passes());
            fill(*seed, &mut cpu);
            pairs_of(&mut cpu)
        })
        .collect();
    let mut unseen = Vec::new();
    for (stage, line, to) in MUTANTS {
        let spec = KERNELS.iter().find(|(of, _)| of == stage).and_then(|(_, specs)| specs.first()).unwrap();
        let (before, rest) = line.split_once('⟨').expect("has a mark");
        let (what, after) = rest.split_once('⟩').expect("has a mark");
        let (source, line) = (spec.written(), format!("{before}{what}{after}"));
        assert_eq!(source.matches(&line).count(), 1, "{line}");
        let changed = source.replace(&line, &format!("{before}{to}{after}"));
        let mut differs = |(seed, expected): (&u64, &Vec<SegmentPair>)| {
            pairs_on_gpu(*stage, Some(&changed), *seed).as_ref() != Some(expected)
        };
        if !seeds.iter().zip(&expected).any(&mut differs) {
            unseen.push(format!("{line} → {to}"));
        }
    }
    assert!(unseen.is_empty(), "not seen: {unseen:#?}");
    println!("{} changed kernels: all seen", MUTANTS.len());
}
