//! What goes over the bus: what comes back from a GPU unasked and asked for, that no frame waits for it, what outlives a lost
//! device or a dropped encoder when nothing came back, and that spawning one character sends that one's rows.
#![cfg(feature = "gpu")]

mod common;

use std::time::{Duration, Instant};

use common::parity::{DT, Scene, scenes};
use glam::DVec3;
use sinew::gpu::GpuDevice;
use sinew::step::{Integrator, Stage, Walk};
use sinew::{Active, Backend, FleshHandle, Physics, Pose, ReadBack};

/// The scene with skin on a GPU, of which nothing is sent back.
fn silent() -> Option<(GpuDevice, Scene, Physics, Vec<FleshHandle>)> {
    let own = common::gpu()?;
    let scene = scenes().pop().unwrap();
    let mut physics = Physics::with_device(own.device().clone(), own.queue().clone()).unwrap();
    let handles = scene.fill(&mut physics);
    physics.read_back = ReadBack::NOTHING;
    Some((own, scene, physics, handles))
}

/// Lets the GPU do what it was given, as a host that draws does, without waiting for it.
fn let_run(physics: &Physics) {
    for _ in 0..2000 {
        if physics.gpu().unwrap().device().poll(wgpu::PollType::Poll).unwrap().is_queue_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the GPU is at it for 2 s");
}

/// Frames of a host that submits its own encoders.
fn encode(physics: &mut Physics, scene: &Scene, handles: &[FleshHandle], steps: std::ops::RangeInclusive<usize>) {
    for step in steps {
        scene.pose(physics, handles, step);
        let gpu = physics.gpu().unwrap().clone();
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        physics.encode(DT, &mut encoder).unwrap();
        gpu.queue().submit([encoder.finish()]);
    }
}

#[test]
fn what_is_not_asked_for_stays_on_the_gpu() {
    let Some((_, scene, mut physics, handles)) = silent() else { return };
    let mut most = 0;
    for step in 1..=12 {
        scene.pose(&mut physics, &handles, step);
        physics.step_flesh(DT).unwrap();
        let_run(&physics);
        most = most.max(physics.transfers().read_back);
    }
    println!("{most} bytes a frame come back of {} instances of which nothing is asked for", handles.len());
    assert!(most > 0 && most <= 64 * handles.len() as u64);
    assert!(handles.iter().all(|handle| physics.state_step(*handle) == Ok(0)));
    assert!(physics.vertices(handles[0]).unwrap().positions.is_empty());

    // Of one its state, of another its sections and vertices.
    physics.ask_for(handles[1], ReadBack { state: true, ..ReadBack::NOTHING }).unwrap();
    physics.ask_for(handles[2], ReadBack { sections: true, vertices: true, ..ReadBack::NOTHING }).unwrap();
    for step in 13..=20 {
        scene.pose(&mut physics, &handles, step);
        physics.step_flesh(DT).unwrap();
        let_run(&physics);
    }
    let nodes: usize = physics.flesh(handles[1]).unwrap().chains().iter().map(|chain| chain.node_count()).sum();
    println!("{} bytes with the state of one of {nodes} nodes and the skin of another", physics.transfers().read_back);
    let shown = physics.state_step(handles[1]).unwrap();
    assert!(shown >= 15 && physics.vertices(handles[2]).unwrap().step >= 15, "step {shown} has arrived");
    assert_eq!([0, 2].map(|other| physics.state_step(handles[other])), [Ok(0), Ok(0)]);
    assert_eq!(physics.section_matrices(handles[2]).unwrap().len(), scene.flesh[2].1.sections.len());
    assert!(physics.section_matrices(handles[0]).unwrap().is_empty());

    // What arrived is what a step earlier was.
    let Some(mut twin) = common::gpu_physics() else { return };
    assert_eq!(scene.fill(&mut twin), handles);
    for step in 1..=shown as usize {
        scene.pose(&mut twin, &handles, step);
        twin.step_flesh(DT).unwrap();
    }
    twin.finish().unwrap();
    assert!(twin.state(handles[1]).unwrap() == physics.state(handles[1]).unwrap());
}

#[test]
fn no_frame_waits() {
    let Some((_, scene, mut physics, handles)) = silent() else { return };
    physics.read_back = ReadBack::ALL;
    let waits = |physics: &Physics| physics.gpu().unwrap().waits();
    let made = waits(&physics);
    // However far behind the GPU is, where the host submits.
    encode(&mut physics, &scene, &handles, 1..=20);
    assert_eq!(waits(&physics), made);
    let_run(&physics);
    physics.measure_stages = true;
    for step in 21..=40 {
        scene.pose(&mut physics, &handles, step);
        physics.step_flesh(DT).unwrap();
        let_run(&physics);
    }
    assert_eq!(waits(&physics), made, "step_flesh waits though the GPU keeps up");
    let lag = physics.step_count() - physics.state_step(handles[0]).unwrap();
    assert!(lag <= 2, "nothing has arrived for {lag} frames");
    physics.finish().unwrap();
    assert!(waits(&physics) > made, "the count sees none");

    // There is no other way to wait than the one that is counted.
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/gpu")).unwrap();
    let ways = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap().matches("PollType::Wait").count();
    assert_eq!(files.map(|file| ways(file.unwrap().path())).sum::<usize>(), 1);
}

#[test]
fn what_was_laid_anew_is_known_though_nothing_is_asked_for() {
    let Some((_, scene, mut physics, handles)) = silent() else { return };
    encode(&mut physics, &scene, &handles, 1..=3);
    let flesh = physics.flesh(handles[2]).unwrap().clone();
    let mut node = physics.node(handles[2], 1, 3).unwrap();
    node.velocity.x = f32::NAN;
    physics.state_mut(handles[2]).unwrap().set_node(&flesh, 1, 3, &node);
    for step in 4..=16 {
        encode(&mut physics, &scene, &handles, step..=step);
        let_run(&physics);
    }
    let health = |handle| physics.health(handle).unwrap().clone();
    assert_eq!(handles.iter().map(|handle| health(*handle).resets).collect::<Vec<_>>(), [0, 0, 1]);
    let named: Vec<_> = health(handles[2]).laid_anew.iter().map(|laid| (laid.chain, laid.times)).collect();
    assert_eq!(named, [(1, 1)]);
    assert!(physics.transfers().read_back <= 64 * 3, "what is known is asked for no more");
}

#[test]
fn a_dropped_encoder_loses_nothing_though_nothing_came_back() {
    let Some((own, scene, mut physics, handles)) = silent() else { return };
    let Some(mut twin) = common::gpu_physics() else { return };
    assert_eq!(scene.fill(&mut twin), handles);
    encode(&mut physics, &scene, &handles, 1..=6);
    // What is dropped has arrays grow, and a guest who is never there.
    let (flesh, skin, root) = &scene.flesh[0];
    let bones = &(scene.bones)(3)[..flesh.bones().len()];
    let mut guests = Vec::new();
    for step in 7..=8 {
        guests.extend((0..20).map(|_| physics.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap()));
        scene.pose(&mut physics, &handles, step);
        physics.encode(DT, &mut own.device().create_command_encoder(&Default::default())).unwrap();
    }
    physics.encoder_dropped().unwrap();
    assert_eq!(physics.step_count(), 6);
    guests.into_iter().for_each(|guest| physics.remove(guest).unwrap());
    encode(&mut physics, &scene, &handles, 7..=12);
    for step in 1..=12 {
        scene.pose(&mut twin, &handles, step);
        twin.step_flesh(DT).unwrap();
    }
    for physics in [&mut physics, &mut twin] {
        physics.finish().unwrap();
    }
    assert_eq!(physics.state_hash(), twin.state_hash(), "as if nothing had been dropped");
}

/// A GPU with one [`common::slow_muscle`] of which nothing is sent back.
fn silent_muscle() -> Option<(Physics, FleshHandle)> {
    let mut physics = common::gpu_physics_alone()?;
    physics.read_back = ReadBack::NOTHING;
    let handle = common::slow_muscle(&mut physics);
    Some((physics, handle))
}

/// Records a frame of `dt` (s) that is never submitted.
fn drop_a_frame(physics: &mut Physics, dt: f64) {
    let gpu = physics.gpu().unwrap().clone();
    physics.encode(dt, &mut gpu.device().create_command_encoder(&Default::default())).unwrap();
    physics.encoder_dropped().unwrap();
}

/// What a host may do next.
type Then = fn(&mut Physics, FleshHandle);

#[test]
fn activations_outlive_a_teleport_of_which_nothing_came_back() {
    let after: [(&str, Then); 4] = [
        ("another backend", |physics, _| physics.switch_backend(Backend::Cpu).unwrap()),
        ("a dropped encoder", |physics, _| drop_a_frame(physics, DT)),
        ("a state that is changed", |physics, handle| assert!(physics.state_mut(handle).is_ok())),
        ("a finish", |physics, _| physics.finish().unwrap()),
    ];
    for (what, then) in after {
        let Some((mut physics, handle)) = silent_muscle() else { return };
        physics.set_activation(handle, 0, 1.0).unwrap();
        (0..40).for_each(|_| physics.step_flesh(DT).unwrap());
        let there = Pose::from_translation(DVec3::Y * 5.0);
        physics.teleport(handle, &[there], there).unwrap();
        then(&mut physics, handle);
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        let activation = physics.muscle(handle, 0).unwrap().activation;
        println!("{activation:.3} after a teleport and {what}");
        assert!(activation > 0.99);
    }
}

#[test]
fn what_was_not_restored_goes_on_after_a_dropped_encoder_too() {
    let Some((mut physics, _)) = silent_muscle() else { return };
    physics.step_flesh(DT).unwrap();
    physics.finish().unwrap();
    let saved = physics.save();
    let newer = common::slow_muscle(&mut physics);
    for frame in 0..60 {
        let there = Pose::from_translation(DVec3::Y * 0.05 * f64::from(frame));
        physics.set_bones(newer, &[there], there).unwrap();
        physics.step_flesh(DT).unwrap();
    }
    assert_eq!(physics.restore(&saved).unwrap().newer, [newer]);
    let shown = physics.node(newer, 0, 8).unwrap().place;
    drop_a_frame(&mut physics, DT);
    assert_eq!((physics.step_count(), physics.state_step(newer)), (1, Ok(1)));
    let kept = physics.node(newer, 0, 8).unwrap().place;
    physics.step_flesh(DT).unwrap();
    physics.finish().unwrap();
    assert!(shown.y > 1.0 && kept == shown, "{shown} {kept}");
    assert_eq!(physics.health(newer).unwrap().teleports, 0);
}

#[test]
fn skin_that_is_not_deformed_is_nobody_elses() {
    let Some((_, scene, mut physics, handles)) = silent() else { return };
    physics.read_back.vertices = true;
    encode(&mut physics, &scene, &handles, 1..=4);
    physics.finish().unwrap();
    let removed = physics.vertices(handles[0]).unwrap().positions.clone();
    handles.iter().for_each(|handle| physics.remove(*handle).unwrap());
    let (flesh, skin, root) = &scene.flesh[0];
    let bones = &(scene.bones)(0)[..flesh.bones().len()];
    let paused = physics.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
    physics.set_active(paused, Active::PAUSED).unwrap();
    physics.deform_skin(paused).unwrap();
    let own = physics.vertices(paused).unwrap().positions.clone();
    (0..3).for_each(|_| physics.step_flesh(DT).unwrap());
    let sent = physics.transfers().read_back;
    physics.finish().unwrap();
    let shown = &physics.vertices(paused).unwrap().positions;
    let off = shown.iter().zip(&own).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    println!("{sent} bytes come back of a paused one; its skin is {off:.1e} m from what it was");
    assert!(sent <= 64 && off < 1.0e-5 && *shown != removed);
}

#[test]
fn what_the_host_has_set_outlives_a_lost_device() {
    let Some((mut physics, handle)) = silent_muscle() else { return };
    (0..30).for_each(|_| physics.step_flesh(DT).unwrap());
    physics.finish().unwrap();
    let (saved, tip) = (physics.save_flesh(handle).unwrap(), physics.node(handle, 0, 8).unwrap().place);
    (0..10).for_each(|_| physics.step_flesh(DT).unwrap());
    physics.restore_flesh(handle, &saved).unwrap();
    physics.gpu().unwrap().device().destroy();
    physics.switch_backend(Backend::Cpu).unwrap();
    assert_eq!(physics.node(handle, 0, 8).unwrap().place, tip);
}

/// Another length of a frame that never was says nothing of the next one.
#[test]
fn a_dropped_frame_is_forgotten_with_its_length() {
    let run = |drops: bool| {
        let (mut physics, handle) = silent_muscle()?;
        physics.config.integrator = Integrator::SecondOrder;
        (0..20).for_each(|_| physics.step_flesh(DT).unwrap());
        if drops {
            drop_a_frame(&mut physics, 4.0 * DT);
        }
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        assert_eq!(physics.last_frame().asked, DT);
        Some((physics.step_count(), physics.node(handle, 0, 8).unwrap().place))
    };
    let Some(without) = run(false) else { return };
    assert_eq!(run(true), Some(without));
}

/// A game that resets what was laid anew does not make it unsaid.
#[test]
fn resets_are_not_forgotten_by_a_reset() {
    let Some((mut physics, handle)) = silent_muscle() else { return };
    physics.step_flesh(DT).unwrap();
    let flesh = physics.flesh(handle).unwrap().clone();
    let mut node = physics.node(handle, 0, 3).unwrap();
    node.velocity.x = f32::NAN;
    physics.state_mut(handle).unwrap().set_node(&flesh, 0, 3, &node);
    let mut told = Vec::new();
    for _ in 0..16 {
        physics.step_flesh(DT).unwrap();
        let_run(&physics);
        told.push(physics.health(handle).unwrap().resets);
        if told.last() == Some(&1) && told.iter().filter(|resets| **resets == 1).count() == 1 {
            physics.reset(handle).unwrap();
        }
    }
    println!("resets: {told:?}");
    assert!(told.is_sorted() && told.last() == Some(&1));
    assert!(physics.transfers().read_back <= 64, "names that nobody knows are asked for no more");
}

#[test]
fn flesh_outlives_a_device_that_is_lost_with_its_state() {
    let Some((_, scene, mut physics, handles)) = silent() else { return };
    let muscle = common::slow_muscle(&mut physics);
    physics.set_activation(muscle, 0, 1.0).unwrap();
    physics.ask_for(handles[2], ReadBack { state: true, ..ReadBack::NOTHING }).unwrap();
    for step in 1..=10 {
        scene.pose(&mut physics, &handles, step);
        physics.step_flesh(DT).unwrap();
        let_run(&physics);
    }
    let arrived = physics.state(handles[2]).unwrap().clone();
    physics.gpu().unwrap().device().destroy();
    scene.pose(&mut physics, &handles, 11);
    assert!(physics.step_flesh(DT).is_err());
    physics.switch_backend(Backend::Cpu).unwrap();
    assert_eq!(physics.step_count(), 10);
    assert!(*physics.state(handles[2]).unwrap() == arrived, "what was asked for is as it arrived");
    // The others are at rest on the bones as they were last set.
    let swing = |physics: &Physics| {
        let chains = physics.flesh(handles[0]).unwrap().chains().iter().enumerate();
        let nodes = chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |node| (chain, node)));
        nodes.map(|(chain, node)| physics.swing(handles[0], chain, node).unwrap().length()).fold(0.0, f64::max)
    };
    let (lost, activation) = (swing(&physics), physics.muscle(muscle, 0).unwrap().activation);
    println!("{lost:.1e} m from its bones once the device is lost");
    assert!(lost < 1.0e-6, "{lost} m");
    physics.step_flesh(DT).unwrap();
    let after = physics.muscle(muscle, 0).unwrap().activation;
    let expected = 1.0 - (-11.0 * DT / 0.05).exp();
    println!("activation {activation:.3}, a frame later {after:.3}, {expected:.3} of 11 frames");
    assert!((after - expected).abs() < 0.01);
    for step in 12..=40 {
        scene.pose(&mut physics, &handles, step);
        physics.step_flesh(DT).unwrap();
    }
    assert!(handles.iter().all(|handle| physics.health(*handle).unwrap().resets == 0));
    assert!(swing(&physics) > 1.0e-3, "it moves");
}

/// What a frame in which one is spawned sends beyond the next (bytes), and how long both take (s).
type Spawn = (u64, [f64; 2]);

/// The first of its kind that is spawned, and the 100th. Frames end before the GPU steps.
fn spawn_a_hundred(mut physics: Physics, uploaded: fn(&Physics) -> u64) -> [[Spawn; 2]; ROUNDS] {
    let scene = scenes().pop().unwrap();
    let (flesh, skin, root) = scene.flesh[0].clone();
    let bones = (scene.bones)(0)[..flesh.bones().len()].to_vec();
    let frame = |physics: &mut Physics, spawned: &mut Vec<FleshHandle>, spawns: bool| {
        let start = Instant::now();
        if spawns {
            spawned.push(physics.insert_with_skin(flesh.clone(), skin.clone(), &bones, root).unwrap());
        }
        physics.step_flesh_by(DT, &Walk { last: Some(Stage::GatherInputs), ..Walk::default() }).unwrap();
        (uploaded(physics), start.elapsed().as_secs_f64())
    };
    [(); ROUNDS].map(|()| {
        let mut spawned = Vec::new();
        let measured: Vec<_> = (0..100)
            .map(|_| {
                let (with, without) =
                    (frame(&mut physics, &mut spawned, true), frame(&mut physics, &mut spawned, false));
                (with.0 - without.0, [with.1, without.1])
            })
            .collect();
        spawned.into_iter().for_each(|handle| physics.remove(handle).unwrap());
        frame(&mut physics, &mut Vec::new(), false);
        [measured[0], measured[99]]
    })
}

/// What a clock and a scheduler make of it (µs).
const TICK: f64 = 3.0;

/// How often a hundred are spawned.
const ROUNDS: usize = 15;

#[test]
fn spawning_one_sends_its_own_rows() {
    let Some(gpu) = common::gpu_physics() else { return };
    let rounds = [
        ("CPU", spawn_a_hundred(Physics::default(), |_| 0)),
        ("GPU", spawn_a_hundred(gpu, |gpu| gpu.transfers().uploaded)),
    ];
    for (backend, rounds) in rounds {
        // The very first has arrays grow that no later one does.
        let least = |of: usize, with: usize| {
            1.0e6 * rounds[1..].iter().map(|round| round[of].1[with]).fold(f64::INFINITY, f64::min)
        };
        let times = [0, 1].map(|of| least(of, 0) - least(of, 1));
        let [(first, _), (last, _)] = rounds[1];
        println!(
            "spawned on the {backend}: the first of its kind takes {:.0} µs and sends {first} bytes, the 100th {:.0} µs and {last} bytes",
            times[0], times[1],
        );
        assert!(last <= first && times[1] <= 1.2 * times[0] + TICK);
    }
    let sent: Vec<u64> = rounds[1].1.iter().map(|round| round[1].0).collect();
    assert!(sent.iter().all(|bytes| *bytes == sent[0] && *bytes > 0), "{sent:?}");
}
