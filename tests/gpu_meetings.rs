//! Chains that meet chains, on the GPU: what they do over many frames, what they remember from one to the next, and where there is no
//! room for all of it.
#![cfg(feature = "gpu")]

mod common;

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use common::{FRAME, material};
use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::gpu::{KERNELS, KernelSpec};
use sinew::step::{Domain, Size, Stage, StepConfig, schedule};
use sinew::{Active, CollisionGroups, Collisions, FleshHandle, HalfSpace, Motion, Physics, Pose, ReadBack};

const RADIUS: f64 = 0.03;
const SEGMENTS: usize = 10;
const LENGTH: f64 = 0.5;

/// Logs of several layers of three on the ground, each across the one below, an instance each.
fn stack(mut physics: Physics, layers: usize, youngs_modulus: f64) -> (Physics, Vec<FleshHandle>) {
    physics.config = StepConfig { passes: 6, ..StepConfig::default() };
    physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
    physics.read_back = ReadBack::NOTHING;
    let half = DVec3::X * (LENGTH / 2.0);
    let mut rod = RodSpec::straight("log", -half, half, SEGMENTS, RADIUS);
    rod.material = material(youngs_modulus, 0.3, 1000.0, 3.0);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
    let mut logs = Vec::new();
    for layer in 0..layers {
        for log in -1..=1 {
            let aside = f64::from(log) * 0.15;
            let height = (2.0 * layer as f64 + 1.0) * RADIUS;
            let (place, turn) = if layer % 2 == 0 {
                (DVec3::new(0.0, height, aside), DQuat::IDENTITY)
            } else {
                (DVec3::new(aside, height, 0.0), DQuat::from_rotation_y(FRAC_PI_2))
            };
            logs.push(physics.insert(flesh.clone(), &[], Pose::new(place, turn)).unwrap());
        }
    }
    (physics, logs)
}

fn run(physics: &mut Physics, frames: usize) {
    (0..frames).for_each(|_| physics.step_flesh(FRAME).unwrap());
    physics.finish().unwrap();
}

fn places(physics: &Physics, logs: &[FleshHandle]) -> Vec<DVec3> {
    let nodes = |log: &FleshHandle| {
        let log = *log;
        (0..=SEGMENTS).map(move |node| physics.node(log, 0, node).unwrap().place)
    };
    logs.iter().flat_map(nodes).collect()
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

fn speed(physics: &Physics, logs: &[FleshHandle]) -> f64 {
    let nodes = |log: &FleshHandle| {
        let log = *log;
        (0..=SEGMENTS).map(move |node| f64::from(physics.node(log, 0, node).unwrap().velocity.length()))
    };
    logs.iter().flat_map(nodes).fold(0.0, f64::max)
}

/// Stands, as on the CPU, and no frame waits.
#[test]
fn logs_lie_on_logs() {
    let Some(gpu) = common::gpu_physics_alone() else { return };
    let (mut cpu, logs) = stack(Physics::default(), 3, 1.0e7);
    let (mut gpu, others) = stack(gpu, 3, 1.0e7);
    assert_eq!(logs, others);
    let start = places(&cpu, &logs);
    for frames in [1, 5, 24, 210] {
        run(&mut cpu, frames);
        let waits = gpu.gpu().unwrap().waits();
        (0..frames.min(3)).for_each(|_| gpu.step_flesh(FRAME).unwrap());
        assert_eq!(gpu.gpu().unwrap().waits(), waits, "a frame waited");
        run(&mut gpu, frames - frames.min(3));
        let off = farthest(&places(&cpu, &logs), &places(&gpu, &logs));
        println!("after {frames} frames more: {off:.1e} m from where the CPU has them (bar 2e-5)");
        assert!(off <= 2.0e-5);
    }
    let (sunk, speed) = (farthest(&start, &places(&gpu, &logs)), speed(&gpu, &logs));
    println!(
        "three layers: sunk by {:.2} % of the radius (bar 5 %), {speed:.1e} m/s left (bar 1e-4)",
        100.0 * sunk / RADIUS
    );
    assert!(sunk <= 0.05 * RADIUS && speed <= 1.0e-4);
    let report = gpu.pair_report().unwrap();
    assert!(report.found > 18 && report.rows >= 36 && report.is_whole(), "{report:?}");
}

/// A log across two of a thousandth of its density is borne by them, and in a frame that is next to nothing as well.
#[test]
fn light_logs_bear_a_heavy_one_as_on_the_cpu() {
    let Some(gpu) = common::gpu_physics() else { return };
    let places = [Physics::default(), gpu].map(|mut physics| {
        physics.config = StepConfig { passes: 6, ..StepConfig::default() };
        physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
        let half = DVec3::X * (LENGTH / 2.0);
        let logs = [(1.0, -0.1), (1.0, 0.1), (1000.0, 0.0)].map(|(density, aside)| {
            let mut rod = RodSpec::straight("log", -half, half, SEGMENTS, RADIUS);
            rod.material = material(1.0e6, 0.3, density, 3.0);
            let across = DQuat::from_rotation_y(FRAC_PI_2);
            let pose = if density > 1.0 {
                Pose::new(DVec3::Y * (3.0 * RADIUS), across)
            } else {
                Pose::from_translation(DVec3::new(0.0, RADIUS, aside))
            };
            physics.insert(Arc::new(Flesh::build(&[rod], &[]).unwrap()), &[], pose).unwrap()
        });
        run(&mut physics, 90);
        let height = physics.node(logs[2], 0, SEGMENTS / 2).unwrap().place.y / RADIUS;
        (0..3).for_each(|_| physics.step_flesh(1.0e-4).unwrap());
        physics.finish().unwrap();
        let speed = speed(&physics, &logs);
        println!("{height:.3} radii high (3); in three frames of 0.1 ms {speed:.1e} m/s at most (bar 0.02)");
        assert!((height - 3.0).abs() < 0.1 && speed < 0.02);
        places(&physics, &logs)
    });
    let off = farthest(&places[0], &places[1]);
    println!("{off:.1e} m from where the CPU has them (bar 2e-5)");
    assert!(off <= 2.0e-5);
}

/// A log thrown along others across it is slowed by friction, which remembers where it pulled; a shove moves a stack as it does on the
/// CPU.
#[test]
fn logs_that_are_pushed_go_as_on_the_cpu() {
    let Some(gpu) = common::gpu_physics() else { return };
    let gone = [Physics::default(), gpu].map(|physics| {
        let (mut physics, logs) = stack(physics, 2, 1.0e6);
        run(&mut physics, 10);
        for (log, velocity) in [(3, DVec3::Z * 0.5), (4, DVec3::X * 0.3), (5, DVec3::Y * 1.0)] {
            let motion = Motion { velocity, spin: DVec3::ZERO, centre: DVec3::ZERO };
            physics.set_velocity(logs[log], motion).unwrap();
        }
        (0..3)
            .map(|_| {
                run(&mut physics, 8);
                places(&physics, &logs)
            })
            .collect::<Vec<_>>()
    });
    for (frames, (cpu, gpu)) in gone[0].iter().zip(&gone[1]).enumerate() {
        let (off, way) = (farthest(cpu, gpu), farthest(cpu, &gone[0][0]));
        println!("after {} frames: {off:.1e} m apart (bar 1e-4), {way:.3} m on their way", 8 * (frames + 1));
        assert!(off <= 1.0e-4);
    }
    assert!(farthest(&gone[0][2], &gone[0][0]) > 0.02);
}

/// What touches is saved with the state, put back with it, and told from one backend to the other.
#[test]
fn stacks_go_on_where_they_were_put_back() {
    let Some(gpu) = common::gpu_physics() else { return };
    let (mut physics, logs) = stack(gpu, 3, 1.0e6);
    let motion = Motion { velocity: DVec3::new(0.4, 0.0, 0.1), spin: DVec3::ZERO, centre: DVec3::ZERO };
    physics.set_velocity(logs[4], motion).unwrap();
    run(&mut physics, 15);
    let saved = physics.save();
    run(&mut physics, 10);
    let went_on = physics.state_hash();
    run(&mut physics, 7);
    assert!(physics.restore(&saved).unwrap().is_whole());
    run(&mut physics, 10);
    assert_eq!(physics.state_hash(), went_on);
    physics.restore(&saved).unwrap();
    run(&mut physics, 1);
    let on_gpu = places(&physics, &logs);
    physics.restore(&saved).unwrap();
    physics.switch_backend(sinew::Backend::Cpu).unwrap();
    run(&mut physics, 1);
    let off = farthest(&places(&physics, &logs), &on_gpu);
    println!("a frame of a stack on the GPU, and from the same state on the CPU: {off:.1e} m apart (bar 1e-6)");
    assert!(off <= 1.0e-6);
}

#[test]
fn two_runs_have_the_same_bits() {
    let run_once = || {
        let (mut physics, logs) = stack(common::gpu_physics()?, 4, 1.0e5);
        let motion = Motion { velocity: DVec3::new(1.0, -3.0, 0.5), spin: DVec3::ONE, centre: DVec3::Y };
        physics.set_velocity(logs[10], motion).unwrap();
        run(&mut physics, 40);
        Some(physics.state_hash())
    };
    let Some(first) = run_once() else { return };
    assert_eq!(Some(first), run_once());
}

/// Pairs that there is no room for are left out, which is told, and have it some frames later.
#[test]
fn room_for_pairs_grows() {
    let Some(mut physics) = common::gpu_physics() else { return };
    physics.config = StepConfig { passes: 2, gravity: DVec3::ZERO, ..StepConfig::default() };
    physics.read_back = ReadBack::NOTHING;
    let rod = RodSpec::straight("rod", DVec3::NEG_X * 0.5, DVec3::X * 0.5, 8, 0.05);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
    let mut insert = |index: usize| {
        let turn = DQuat::from_rotation_y(0.3 * index as f64) * DQuat::from_rotation_z(0.2 * index as f64);
        physics.insert(flesh.clone(), &[], Pose::new(DVec3::ZERO, turn)).unwrap()
    };
    let rods: Vec<FleshHandle> = (0..56).map(&mut insert).collect();
    let mut reports = Vec::new();
    for _ in 0..12 {
        physics.step_flesh(FRAME).unwrap();
        reports.extend(physics.pair_report());
    }
    physics.finish().unwrap();
    reports.extend(physics.pair_report());
    println!("{:?} to {:?}", reports[0], reports.last());
    assert!(reports.iter().any(|report| report.found > report.room), "there was room for all");
    let last = reports.last().unwrap();
    assert!(last.is_whole() && last.found > 100);
    for rod in rods {
        assert!(physics.state(rod).unwrap().is_finite());
    }
}

/// Of pairs that all touch, rows are more than they are: where these have no room, that is said, and they have it some frames later.
#[test]
fn room_for_rows_grows() {
    let Some(mut physics) = common::gpu_physics() else { return };
    physics.config = StepConfig { passes: 2, gravity: DVec3::ZERO, ..StepConfig::default() };
    physics.read_back = ReadBack::NOTHING;
    let rod = RodSpec::straight("rod", DVec3::NEG_X * 0.5, DVec3::X * 0.5, 8, 0.05);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
    // Each lies along the four around it, and a little in them.
    let mut rods = Vec::new();
    for index in 0..400 {
        let (row, layer) = (f64::from(index % 20), f64::from(index / 20));
        let place = Pose::from_translation(DVec3::new(0.0, layer * 0.09, row * 0.09));
        rods.push(physics.insert(flesh.clone(), &[], place).unwrap());
    }
    let mut reports = Vec::new();
    for _ in 0..6 {
        physics.step_flesh(FRAME).unwrap();
        reports.extend(physics.pair_report());
    }
    physics.finish().unwrap();
    reports.extend(physics.pair_report());
    println!("{reports:?}");
    assert!(reports.iter().any(|report| report.found <= report.room && report.rows > report.room));
    assert!(reports.last().unwrap().is_whole());
    rods.into_iter().for_each(|rod| assert!(physics.state(rod).unwrap().is_finite()));
}

/// Of one character there is room for all pairs in its first frame.
#[cfg(feature = "gltf")]
#[test]
fn arms_that_touch_go_as_on_the_cpu() {
    let octopus = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/octopus.glb");
    let flesh = sinew::Character::load(octopus).unwrap().body().flesh.clone();
    let Some(gpu) = common::gpu_physics() else { return };
    let mut both = [Physics::default(), gpu];
    let handles = both.each_mut().map(|physics| {
        physics.config.passes = 6;
        physics.insert(flesh.clone(), flesh.bones(), Pose::IDENTITY).unwrap()
    });
    let mut worst = 0.0_f64;
    for frame in 1..=12 {
        let sway = DVec3::X * (0.1 * (0.1 * f64::from(frame)).sin());
        let bones: Vec<Pose> =
            flesh.bones().iter().map(|bone| Pose::new(bone.translation + sway, bone.rotation)).collect();
        for (physics, handle) in both.iter_mut().zip(handles) {
            physics.set_bones(handle, &bones, Pose::IDENTITY).unwrap();
            physics.step_flesh(FRAME).unwrap();
            physics.finish().unwrap();
        }
        for (chain, info) in flesh.chains().iter().enumerate() {
            for node in 0..info.node_count() {
                let [cpu, gpu] = [0, 1].map(|k| both[k].node(handles[k], chain, node).unwrap().place);
                worst = worst.max(cpu.distance(gpu));
            }
        }
    }
    let contacts = both[0].flesh_contacts().count();
    println!("{contacts} contacts; {worst:.1e} m from the CPU in 12 frames (bar 1e-6)");
    assert!(contacts > 20 && worst < 1.0e-6);
}

/// What is removed, paused, thrown, put back or no number does no harm to what it touched.
#[test]
fn piles_outlive_what_happens_in_them() {
    let Some(gpu) = common::gpu_physics() else { return };
    let (mut physics, mut logs) = stack(gpu, 3, 1.0e6);
    run(&mut physics, 6);
    physics.remove(logs.remove(1)).unwrap();
    run(&mut physics, 3);
    physics.set_active(logs[0], Active::PAUSED).unwrap();
    run(&mut physics, 3);
    physics.set_active(logs[0], Active::default()).unwrap();
    let saved = physics.save();
    let flesh = physics.flesh(logs[2]).unwrap().clone();
    let mut node = physics.node(logs[2], 0, 4).unwrap();
    node.place = DVec3::NAN;
    physics.state_mut(logs[2]).unwrap().set_node(&flesh, 0, 4, &node);
    let motion = Motion { velocity: DVec3::Y * 300.0, spin: DVec3::X * 50.0, centre: DVec3::ZERO };
    physics.set_velocity(logs[3], motion).unwrap();
    run(&mut physics, 20);
    assert!(logs.iter().all(|log| physics.state(*log).unwrap().is_finite()));
    physics.restore(&saved).unwrap();
    physics.config.substeps = 1;
    physics.config.iterations = 3;
    run(&mut physics, 10);
    physics.config.passes = 0;
    run(&mut physics, 2);
    physics.config.passes = 3;
    run(&mut physics, 3);
    assert!(logs.iter().all(|log| physics.state(*log).unwrap().is_finite()));
}

/// What chains that meet take: passes are two dispatches each, and without them there is not one more. Passes for chains that hang on
/// each other are in the place of those for others; where there are both kinds, beside them. Where anything may sleep, the frame has
/// four more, and where contact events are asked for a substep one.
#[test]
fn dispatches_are_few() {
    let count = |substeps: u32, passes: u32| {
        // There is nothing solid around.
        let elsewhere = [Size::Of(Domain::Trees), Size::Of(Domain::TouchingChains)];
        let of_others = |specs: &&[KernelSpec]| specs.iter().filter(|spec| !elsewhere.contains(&spec.size)).count();
        let kernels = |stage| KERNELS.iter().find(|(of, _)| *of == stage).map_or(0, |(_, specs)| of_others(specs));
        let scheduled = schedule(substeps, 1, passes);
        let asked = |stage: &Stage| !matches!(stage, Stage::LetSleep | Stage::Tally);
        scheduled.iter().map(|scheduled| scheduled.stage).filter(asked).map(kernels).sum::<usize>()
    };
    let of_substep = |passes: u32| count(2, passes) - count(1, passes);
    let (frame, calm) = (count(1, 6) - of_substep(6), count(1, 0) - of_substep(0));
    println!(
        "{} dispatches a substep with 6 passes, {} without; {} more a frame",
        of_substep(6),
        of_substep(0),
        frame - calm
    );
    assert_eq!((of_substep(0), of_substep(6), frame - calm), (5, 5 + 2 + 2 * 7, 14));
}

/// Who wants to touch whom is told to a GPU when it changes, of flesh and of half-spaces; what is wanted no more lets go.
#[test]
fn groups_hold_on_a_gpu() {
    let Some(gpu) = common::gpu_physics() else { return };
    let heights = |physics: Physics| {
        let (mut physics, logs) = stack(physics, 2, 1.0e7);
        let groups = |memberships, filter| Collisions {
            groups: CollisionGroups::new(memberships, filter),
            ..Collisions::default()
        };
        for log in &logs[..3] {
            physics.set_collisions(*log, groups(1, !4)).unwrap();
        }
        physics.set_collisions(logs[3], groups(2, u32::MAX)).unwrap();
        physics.set_collisions(logs[4], groups(4, u32::MAX)).unwrap();
        physics.set_collisions(logs[5], Collisions { half_spaces: false, ..groups(4, u32::MAX) }).unwrap();
        run(&mut physics, 40);
        let middle = |physics: &Physics, log: usize| physics.node(logs[log], 0, SEGMENTS / 2).unwrap().place.y / RADIUS;
        let first = [3, 4, 5].map(|log| middle(&physics, log));
        physics.set_collisions(logs[3], Collisions { others: false, ..Collisions::default() }).unwrap();
        physics.set_collisions(logs[4], Collisions::NOTHING).unwrap();
        run(&mut physics, 40);
        (first, [3, 4].map(|log| middle(&physics, log)))
    };
    let (cpu, cpu_then) = heights(Physics::default());
    let (on_gpu, gpu_then) = heights(gpu);
    println!("heights in radii: {cpu:.3?}, {on_gpu:.3?} on the GPU; then {cpu_then:.3?}, {gpu_then:.3?}");
    assert!((on_gpu[0] - 3.0).abs() < 0.1 && (on_gpu[1] - 1.0).abs() < 0.1 && on_gpu[2] < -50.0);
    assert!((gpu_then[0] - 1.0).abs() < 0.1 && gpu_then[1] < -50.0);
    let apart = cpu.into_iter().chain(cpu_then).zip(on_gpu.into_iter().chain(gpu_then)).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 0.02);
}
