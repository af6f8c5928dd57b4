//! What hosts do with a GPU: results that arrive late, instances that come and go, snapshots, loss, encoders of their own.
#![cfg(feature = "gpu")]

mod common;

use common::parity::{DT, Scene, compare, scenes};
use glam::DVec3;
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::Stage;
use sinew::{Backend, FleshHandle, HalfSpace, Material, Physics, PipelineProgress, Pose, ReadBack, StepError};
use std::sync::Arc;

/// The CPU and the GPU with the "skin" scene.
fn skin_scene() -> Option<(Scene, Physics, Physics, Vec<FleshHandle>)> {
    let mut gpu = common::gpu_physics()?;
    let scene = scenes().pop().unwrap();
    let mut cpu = Physics::with_config(scene.config);
    let handles = scene.fill(&mut cpu);
    assert_eq!(scene.fill(&mut gpu), handles);
    Some((scene, cpu, gpu, handles))
}

const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Physics>();
};

#[test]
fn auto_takes_a_gpu_that_is_one() {
    let Some(gpu) = common::gpu() else { return };
    let mut physics = Physics::new(Backend::Auto).unwrap();
    println!("{}: {:?}", gpu.report(), physics.backend_report());
    assert_eq!(physics.backend_report().backend, if gpu.is_software() { "cpu" } else { "gpu" });
    physics.switch_backend(Backend::Gpu).unwrap();
    assert_eq!(physics.backend_report().adapter, Some(gpu.report().to_string()));
    for _ in 0..3 {
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
    }
    assert_eq!(physics.step_count(), 3, "an empty scene steps too");
    assert_eq!(physics.step_flesh(0.0), Err(StepError::BadTimeStep(0.0)));
}

#[test]
fn results_arrive_without_waiting_and_say_their_step() {
    let Some((scene, _, mut gpu, handles)) = skin_scene() else { return };
    assert!(gpu.vertex_slice(handles[0]).unwrap().is_none());
    assert_eq!(gpu.backend_report().backend, "gpu");
    assert!(gpu.backend_report().adapter.is_some());
    gpu.measure_stages = true;
    gpu.read_back = ReadBack::ALL;
    for step in 1..=12 {
        scene.pose(&mut gpu, &handles, step);
        gpu.step_flesh(DT).unwrap();
        let lag = gpu.step_count() - gpu.state_step(handles[0]).unwrap();
        assert!(lag <= 5, "{lag} steps behind");
        if step == 12 {
            assert!(gpu.state_step(handles[0]).unwrap() > 0);
            assert_eq!(gpu.vertices(handles[0]).unwrap().step, gpu.state_step(handles[0]).unwrap());
            assert_eq!(gpu.vertices(handles[0]).unwrap().positions.len(), 150);
        }
    }
    gpu.finish().unwrap();
    if gpu.gpu().is_some_and(|device| device.has_timestamps()) {
        gpu.step_flesh(DT).unwrap();
        let times = gpu.stage_times();
        println!("{times:?}");
        // Where there are no passes, none of what chains do that meet is done; nor what moves skin before it is skinned, where
        // nothing does, nor tallies, where nobody asks for events.
        let idle = |stage: Stage| {
            let asked = matches!(stage, Stage::MorphSkin | Stage::InferCorrectives | Stage::Tally);
            stage.domain().is_of_meetings() || asked
        };
        assert!(Stage::ALL.into_iter().all(|stage| (times.get(stage) > 0.0) != idle(stage)));
    }
    gpu.finish().unwrap();
    gpu.read_back.vertices = false;
    let shown = gpu.vertices(handles[0]).unwrap().step;
    for _ in 0..8 {
        gpu.step_flesh(DT).unwrap();
    }
    assert!(gpu.state_step(handles[0]).unwrap() > shown && gpu.vertices(handles[0]).unwrap().step == shown);
    let slice = gpu.vertex_slice(handles[2]).unwrap().unwrap();
    assert_eq!((slice.count, slice.offset), (150, 150 * 40));
}

#[test]
fn instances_come_and_go_and_one_that_breaks_is_reset_alone() {
    let Some((scene, mut cpu, mut gpu, mut handles)) = skin_scene() else { return };
    for physics in [&mut cpu, &mut gpu] {
        for step in 1..=4 {
            scene.pose(physics, &handles, step);
            physics.step_flesh(DT).unwrap();
        }
        physics.remove(handles[0]).unwrap();
        physics.step_flesh(DT).unwrap();
        let (flesh, skin, root) = &scene.flesh[0];
        let again = physics.insert_with_skin(flesh.clone(), skin.clone(), &(scene.bones)(4), *root).unwrap();
        assert_ne!(again, handles[0]);
        assert_eq!(physics.state(handles[0]), Err(StepError::NoSuchFlesh));
        physics.teleport(handles[1], &[Pose::from_translation(DVec3::Y)], Pose::IDENTITY).unwrap();
        physics.step_flesh(DT).unwrap();
    }
    handles[0] = successor(&gpu, &scene, handles[0]);
    gpu.finish().unwrap();
    let (worst, at) = compare(&scene, Stage::DeformSkin, &cpu, &gpu, &handles);
    assert!(worst <= 1.0, "{worst} × 1e-5, {at}");

    let broken = handles[2];
    for physics in [&mut cpu, &mut gpu] {
        let flesh = physics.flesh(broken).unwrap().clone();
        let mut node = physics.node(broken, 0, 3).unwrap();
        node.velocity.x = f32::NAN;
        physics.state_mut(broken).unwrap().set_node(&flesh, 0, 3, &node);
        for _ in 0..3 {
            physics.step_flesh(DT).unwrap();
        }
        physics.finish().unwrap();
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        assert_eq!(handles.iter().map(|h| physics.health(*h).unwrap().resets).collect::<Vec<_>>(), [0, 0, 1]);
        assert!(handles.iter().all(|handle| physics.state(*handle).unwrap().is_finite()));
    }
}

/// The handle of the instance that took the place of a removed one.
fn successor(physics: &Physics, scene: &Scene, old: FleshHandle) -> FleshHandle {
    let mut other = Physics::with_config(scene.config);
    scene.fill(&mut other);
    other.remove(old).unwrap();
    let (flesh, skin, root) = &scene.flesh[0];
    let bones = &(scene.bones)(0)[..flesh.bones().len()];
    let handle = other.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
    assert!(physics.state(handle).is_ok());
    handle
}

#[test]
fn a_snapshot_continues_bit_for_bit() {
    let Some((scene, _, mut gpu, handles)) = skin_scene() else { return };
    let steps = |gpu: &mut Physics, from: usize, to: usize| {
        for step in from..to {
            scene.pose(gpu, &handles, step);
            gpu.step_flesh(DT).unwrap();
        }
        gpu.finish().unwrap();
        gpu.state_hash()
    };
    steps(&mut gpu, 1, 8);
    let saved = gpu.save();
    let first = steps(&mut gpu, 8, 20);
    assert!(gpu.restore(&saved).unwrap().is_whole());
    assert_eq!(gpu.step_count(), 7);
    assert_eq!(steps(&mut gpu, 8, 20), first);

    // One of them alone, and all while another one comes.
    let rows = |gpu: &Physics, handle: FleshHandle| gpu.state(handle).unwrap().clone();
    gpu.restore(&saved).unwrap();
    let one = gpu.save_flesh(handles[1]).unwrap();
    steps(&mut gpu, 8, 12);
    let (straight, other) = (rows(&gpu, handles[1]), rows(&gpu, handles[0]));
    gpu.restore_flesh(handles[1], &one).unwrap();
    assert!(rows(&gpu, handles[0]) == other);
    steps(&mut gpu, 8, 12);
    assert!(rows(&gpu, handles[1]) == straight && rows(&gpu, handles[0]) != other);
    let (flesh, skin, root) = &scene.flesh[0];
    let bones = &(scene.bones)(3)[..flesh.bones().len()];
    let guest = gpu.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
    gpu.step_flesh(DT).unwrap();
    assert_eq!(gpu.restore(&saved).unwrap().newer, [guest]);
    steps(&mut gpu, 8, 12);
    assert!(rows(&gpu, handles[1]) == straight);
}

#[test]
fn state_moves_between_backends_and_outlives_a_lost_device() {
    let Some((scene, mut cpu, mut gpu, handles)) = skin_scene() else { return };
    let steps = |physics: &mut Physics, from: usize, to: usize| {
        for step in from..to {
            scene.pose(physics, &handles, step);
            physics.step_flesh(DT).unwrap();
        }
    };
    steps(&mut cpu, 1, 10);
    steps(&mut gpu, 1, 4);
    gpu.switch_backend(Backend::Cpu).unwrap();
    assert_eq!(gpu.backend_report().backend, "cpu");
    steps(&mut gpu, 4, 7);
    gpu.switch_backend(Backend::Gpu).unwrap();
    steps(&mut gpu, 7, 10);
    gpu.finish().unwrap();
    let (worst, at) = compare(&scene, Stage::DeformSkin, &cpu, &gpu, &handles);
    println!("after two changes: {worst:.2} × 1e-5");
    assert!(worst <= 10.0, "{worst} × 1e-5, {at}");

    let known = gpu.state_hash();
    gpu.gpu().unwrap().device().destroy();
    let error = gpu.step_flesh(DT).unwrap_err();
    println!("{error}");
    assert!(matches!(error, StepError::Gpu(sinew::gpu::GpuError::Lost { .. })), "{error:?}");
    assert!(matches!(gpu.finish(), Err(StepError::Gpu(_))));
    assert_eq!((gpu.state_hash(), gpu.state_step(handles[0])), (known, Ok(9)));
    gpu.switch_backend(Backend::Cpu).unwrap();
    assert_eq!((gpu.state_hash(), gpu.step_count()), (known, 9));
    for physics in [&mut cpu, &mut gpu] {
        steps(physics, 10, 12);
    }
    let (worst, at) = compare(&scene, Stage::DeformSkin, &cpu, &gpu, &handles);
    assert!(worst <= 10.0, "{worst} × 1e-5, {at}");
}

#[test]
fn a_host_records_steps_into_its_own_encoder() {
    let Some(own) = common::gpu() else { return };
    let Some((scene, mut cpu, mut by_itself, handles)) = skin_scene() else { return };
    let mut physics = Physics::with_device(own.device().clone(), own.queue().clone()).unwrap();
    assert_eq!(scene.fill(&mut physics), handles);
    let mut encoder = own.device().create_command_encoder(&Default::default());
    for step in 1..=6 {
        scene.pose(&mut physics, &handles, step);
        scene.pose(&mut by_itself, &handles, step);
        physics.encode(DT, &mut encoder).unwrap();
        by_itself.step_flesh(DT).unwrap();
        if step % 2 == 0 {
            own.queue().submit([encoder.finish()]);
            encoder = own.device().create_command_encoder(&Default::default());
        }
    }
    physics.finish().unwrap();
    by_itself.finish().unwrap();
    assert_eq!(physics.state_hash(), by_itself.state_hash());
    assert_eq!(cpu.encode(DT, &mut encoder), Err(StepError::NotOnGpu));
    physics.report_device_lost("the host says so");
    assert!(matches!(physics.step_flesh(DT), Err(StepError::Gpu(_))));
}

#[test]
fn a_dropped_encoder_takes_its_steps_back() {
    let Some(own) = common::gpu() else { return };
    let Some((scene, _, mut by_itself, handles)) = skin_scene() else { return };
    let mut physics = Physics::with_device(own.device().clone(), own.queue().clone()).unwrap();
    assert_eq!(scene.fill(&mut physics), handles);
    let encoder = || own.device().create_command_encoder(&Default::default());
    let record = |physics: &mut Physics, step: usize| {
        let mut encoder = encoder();
        scene.pose(physics, &handles, step);
        physics.encode(DT, &mut encoder).unwrap();
        encoder
    };
    // The very first one holds all uploads; later ones hold their step's, and perhaps arrays that grew.
    drop(record(&mut physics, 1));
    physics.encoder_dropped().unwrap();
    assert_eq!(physics.step_count(), 0);
    for step in 1..=3 {
        own.queue().submit([record(&mut physics, step).finish()]);
    }
    let (flesh, skin, root) = &scene.flesh[0];
    let bones = &(scene.bones)(3)[..flesh.bones().len()];
    let guest = physics.insert_with_skin(flesh.clone(), skin.clone(), bones, *root).unwrap();
    let thrown = [4, 5].map(|step| record(&mut physics, step));
    drop(thrown);
    physics.encoder_dropped().unwrap();
    assert_eq!((physics.step_count(), physics.state_step(handles[0])), (3, Ok(3)));
    physics.remove(guest).unwrap();
    for step in 4..=8 {
        own.queue().submit([record(&mut physics, step).finish()]);
    }
    for step in 1..=8 {
        scene.pose(&mut by_itself, &handles, step);
        by_itself.step_flesh(DT).unwrap();
    }
    for physics in [&mut physics, &mut by_itself] {
        physics.finish().unwrap();
    }
    assert_eq!(physics.state_hash(), by_itself.state_hash(), "as if nothing had been dropped");
    let mut cpu = Physics::default();
    assert_eq!(cpu.encoder_dropped(), Ok(()));
}

/// Excites a [`common::slow_muscle`].
fn excited(mut physics: Physics) -> (Physics, FleshHandle) {
    let handle = common::slow_muscle(&mut physics);
    physics.set_activation(handle, 0, 1.0).unwrap();
    (physics, handle)
}

#[test]
fn a_dropped_encoder_gives_back_activations() {
    let Some(own) = common::gpu() else { return };
    let [mut host, mut by_itself] = [(); 2].map(|()| {
        let (mut physics, handle) = excited(Physics::with_device(own.device().clone(), own.queue().clone()).unwrap());
        physics.step_flesh(DT).unwrap();
        (physics, handle)
    });
    for _ in 0..3 {
        host.0.encode(DT, &mut own.device().create_command_encoder(&Default::default())).unwrap();
        host.0.encoder_dropped().unwrap();
    }
    let told = [&mut host, &mut by_itself].map(|(physics, handle)| {
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        physics.muscle(*handle, 0).unwrap().activation
    });
    println!("activation after two frames of 1/60 s: {told:?}");
    assert_eq!(told[0], told[1]);
    assert!((told[0] - (1.0 - (-2.0 * DT / 0.05).exp())).abs() < 0.01);
}

#[test]
fn a_teleport_leaves_activations_alone() {
    let Some(own) = common::gpu() else { return };
    let there = Pose::from_translation(DVec3::Y * 5.0);
    let told =
        [Physics::with_device(own.device().clone(), own.queue().clone()).unwrap(), Physics::default()].map(|physics| {
            let (mut physics, handle) = excited(physics);
            (0..5).for_each(|_| physics.step_flesh(DT).unwrap());
            physics.teleport(handle, &[there], there).unwrap();
            physics.step_flesh(DT).unwrap();
            physics.finish().unwrap();
            physics.muscle(handle, 0).unwrap().activation
        });
    println!("activation on the GPU and on the CPU: {told:?}");
    assert!(told[0] == told[1] && told[0] > 0.5);
}

#[test]
fn pipelines_are_compiled_with_the_device_and_in_no_step() {
    let Some(own) = common::gpu() else { return };
    let entries = || sinew::gpu::KERNELS.iter().flat_map(|(_, specs)| specs.iter().map(|spec| Some(spec.entry)));
    let total = entries().count();
    let mut told = Vec::new();
    let (device, queue) = (own.device().clone(), own.queue().clone());
    let mut gpu = Physics::with_device_with_progress(device, queue, |progress| told.push(progress)).unwrap();
    println!("{told:?}");
    let expected =
        entries().chain([None]).enumerate().map(|(ready, compiling)| PipelineProgress { compiling, ready, total });
    assert_eq!(told, expected.collect::<Vec<_>>());
    let created = |physics: &Physics| physics.gpu().unwrap().pipelines_created();
    assert_eq!(created(&gpu), total);

    // Steps of instances that come and go, arrays that grow, timed and not, with more substeps.
    let scene = scenes().pop().unwrap();
    gpu.config = scene.config;
    let mut handles = scene.fill(&mut gpu);
    for step in 1..=12 {
        gpu.measure_stages = step % 2 == 0;
        gpu.config.substeps = if step < 6 { 4 } else { 9 };
        if step % 4 == 0 {
            handles.extend(scene.fill(&mut gpu));
        }
        scene.pose(&mut gpu, &handles[..3], step);
        gpu.step_flesh(DT).unwrap();
    }
    gpu.remove(handles[0]).unwrap();
    gpu.step_flesh(DT).unwrap();
    gpu.finish().unwrap();
    assert_eq!(created(&gpu), total, "a step made a pipeline");
    let other = Physics::with_gpu(gpu.gpu().unwrap().clone()).unwrap();
    assert_eq!(created(&other), total, "another scene on the device finds them");

    let mut ready = 0;
    gpu.switch_backend_with_progress(Backend::Cpu, |_| ready += 1).unwrap();
    assert_eq!(ready, 0, "the CPU has nothing to compile");
    gpu.switch_backend_with_progress(Backend::Gpu, |progress| ready = progress.ready).unwrap();
    assert_eq!((ready, created(&gpu)), (total, total), "another device");
}

/// Drivers that compile a pipeline when it first runs, as Mesa's do, have done so before the first step.
#[test]
#[cfg(feature = "cli")]
fn no_step_waits_for_the_drivers_compiler() {
    if common::gpu().is_none() {
        return;
    }
    let report = std::env::temp_dir().join(format!("sinew-pipelines-{}.json", std::process::id()));
    let arm = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");
    let start = std::time::Instant::now();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["run", arm, "--backend", "gpu", "--frames", "12", "--report"])
        .arg(&report)
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        // Without LLVM's passes: as many pipelines, a fifth sooner.
        .env("GALLIVM_PERF", "nopt")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let whole = 1.0e3 * start.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(&report).unwrap();
    std::fs::remove_file(&report).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let slowest = report["timing_ms"]["step"]["max"].as_f64().unwrap();
    println!("the run takes {whole:.0} ms, its slowest step {slowest:.1} ms");
    assert!(slowest < 800.0);
}

/// Half-spaces come, go and move while steps are under way, and a reset, a teleport and a snapshot of another count come between:
/// both backends stay together, and what a GPU has of old contacts says nothing.
#[test]
fn half_spaces_come_and_go_alike() {
    let Some(gpu) = common::gpu_physics() else { return };
    let rods: Vec<RodSpec> = (0..3)
        .map(|index| {
            let aside = DVec3::new(0.0, 0.0299, 0.2 * f64::from(index));
            let mut rod = RodSpec::straight(format!("rod {index}"), aside, aside + DVec3::X, 8, 0.03);
            rod.material = Material { youngs_modulus: 1.0e6, density: 1000.0, damping: 2.0, ..Material::default() };
            rod
        })
        .collect();
    let flesh = Arc::new(Flesh::build(&rods, &[]).unwrap());
    let mut runs = [Physics::default(), gpu].map(|mut physics| {
        // Aside too: what friction is remembered of makes a difference.
        physics.config.gravity = DVec3::new(3.0, -9.81, 0.0);
        let handle = physics.insert(flesh.clone(), &[], Pose::IDENTITY).unwrap();
        (physics, handle, None)
    });
    let floor = |friction| HalfSpace::ground(0.0, friction);
    let slope = HalfSpace::new(DVec3::new(0.6, 0.8, 0.0), -0.1, 0.3).moving(DVec3::X * 0.2);
    for step in 0..60 {
        let planes = match step / 10 {
            0 => vec![],
            1 | 5 => vec![floor(0.5)],
            2 => vec![floor(0.5), slope, HalfSpace::new(DVec3::Z, -0.3, 0.2)],
            _ => vec![floor(0.0)],
        };
        for (physics, handle, saved) in &mut runs {
            physics.planes = planes.clone();
            match step {
                15 => *saved = Some(physics.save_flesh(*handle).unwrap()),
                25 | 48 => physics.reset(*handle).unwrap(),
                35 => {
                    physics.finish().unwrap();
                    physics.restore_flesh(*handle, saved.as_ref().unwrap()).unwrap();
                }
                _ => (),
            }
            physics.step_flesh(1.0 / 60.0).unwrap();
            if [14, 29, 34, 44, 59].contains(&step) {
                physics.finish().unwrap();
            }
        }
        if ![29, 44, 59].contains(&step) {
            continue;
        }
        let places = runs.each_ref().map(|(physics, handle, _)| {
            (0..27).map(|node| physics.node(*handle, node / 9, node % 9).unwrap().place).collect::<Vec<_>>()
        });
        let off = places[0].iter().zip(&places[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        println!("half-spaces come and go: {off:.1e} m apart after step {}", step + 1);
        assert!(off < 1.0e-4, "{off} m");
    }
}
