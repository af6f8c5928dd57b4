//! Networks that do not fit: the skin, or a GPU's memory.

use std::sync::Arc;

use glam::Quat;
use sinew::neural::*;
use sinew::{Physics, Pose, ReadBack, Skin, StepError};

#[cfg(feature = "gpu")]
use crate::{DT, common};
use crate::{bare_skin, binding, fixture, flesh, insert_sheet};

/// A basis beyond what WebGPU's default limits let into a binding is refused when it is given, not in every step.
#[cfg(feature = "gpu")]
#[test]
fn a_gpu_without_room_for_a_network_says_so_when_it_is_given() {
    use sinew::gpu::GpuError;
    let Some(gpu) = common::gpu() else { return };
    let limits = gpu.device().limits();
    let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    // 768 bytes a component and block of vertices; a network has at most 4096 components of each kind.
    let (components, block) = (4096, 768);
    let blocks = (limit / (components * block)) as usize + 1;
    if limit > 200_000_000 {
        println!("skipped: the device allows {limit} bytes in a binding, more than a test should fill");
        return;
    }
    let vertices = 64 * blocks;
    let part = PartSpec {
        input_mean: vec![0.0; 9],
        input_scale: vec![1.0; 9],
        layers: [Layer::zeros(9, 1), Layer::zeros(1, 1), Layer::zeros(1, components as usize)],
        low: vec![0.0; components as usize],
        high: vec![1.0e-6; components as usize],
        basis: vec![1.0; components as usize * 3 * vertices],
    };
    let spec = NetworkSpec {
        joints: vec!["a".into()],
        vertex_count: vertices,
        mean: vec![0.0; 3 * vertices],
        passive: Some(part),
        ..NetworkSpec::default()
    };
    let network = Arc::new(CorrectiveNetwork::new(&spec, Precision::F32, 0.0).unwrap());
    drop(spec);
    let mut physics = Physics::with_gpu(gpu).unwrap();
    let handle = physics.insert_with_skin(flesh(1), bare_skin(vertices), &[], Pose::IDENTITY).unwrap();
    let small = fixture(Precision::I8);
    let error = physics.set_network(handle, network.clone(), binding(&network)).unwrap_err();
    println!("{error}");
    assert!(matches!(error, StepError::Gpu(GpuError::NetworksTooLarge { .. })), "{error}");
    assert!(
        error.to_string().contains("max_storage_buffer_binding_size") && error.to_string().contains("--precision i8")
    );
    // Nothing changed, and what fits is taken.
    assert!(physics.network(handle).unwrap().is_none());
    physics.step_flesh(DT).unwrap();
    let other = physics.insert_with_skin(flesh(3), bare_skin(150), &[], Pose::IDENTITY).unwrap();
    physics.set_network(other, small.clone(), binding(&small)).unwrap();
    physics.step_flesh(DT).unwrap();
    physics.finish().unwrap();

    // A CPU takes it, and then does not pass it on.
    physics.switch_backend(sinew::Backend::Cpu).unwrap();
    physics.set_network(handle, network.clone(), binding(&network)).unwrap();
    physics.step_flesh(DT).unwrap();
    let error = physics.switch_backend(sinew::Backend::Gpu).unwrap_err();
    assert!(error.to_string().contains("the networks in use need"), "{error}");
    assert_eq!(physics.backend_report().backend, "cpu");
}

/// What morph targets and networks add to a crowd's vertices outgrows a binding before the vertices do.
#[cfg(feature = "gpu")]
#[test]
fn a_gpu_without_room_for_what_networks_add_says_so_when_one_is_given() {
    use sinew::gpu::GpuError;
    const CROWD: u64 = 100;
    let Some(mut physics) = common::gpu_physics() else { return };
    let limits = physics.gpu().unwrap().device().limits();
    let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size);
    if limit > 200_000_000 {
        println!("skipped: the device allows {limit} bytes in a binding, more than a test should fill");
        return;
    }
    // 48 bytes a vertex and instance, and 36 a vertex of the skin: the last of the crowd is one too many.
    let vertices = (limit / (48 * CROWD)) as usize;
    let row = sinew::MorphRow { vertex: 3, place: [0.1; 3], ..sinew::MorphRow::default() };
    let morph = sinew::MorphTarget { rows: vec![row], ..sinew::MorphTarget::default() };
    let skin = Arc::new(Skin { morphs: Arc::new(vec![morph]), ..Skin::clone(&bare_skin(vertices)) });
    let spec = NetworkSpec {
        joints: vec!["a".into()],
        vertex_count: vertices,
        mean: vec![0.0; 3 * vertices],
        passive: Some(PartSpec {
            input_mean: vec![0.0; 9],
            input_scale: vec![1.0; 9],
            layers: [Layer::zeros(9, 1), Layer::zeros(1, 1), Layer::zeros(1, 1)],
            low: vec![0.0],
            high: vec![1.0],
            basis: vec![0.0; 3 * vertices],
        }),
        ..NetworkSpec::default()
    };
    let network = Arc::new(CorrectiveNetwork::new(&spec, Precision::F16, 0.0).unwrap());
    let flesh = flesh(1);
    let insert = |physics: &mut Physics| {
        let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &[], Pose::IDENTITY).unwrap();
        physics.set_morphs(handle, &[0.5]).unwrap();
        handle
    };
    for _ in 1..CROWD {
        let handle = insert(&mut physics);
        physics.set_network(handle, network.clone(), binding(&network)).unwrap();
    }
    let last = insert(&mut physics);
    let error = physics.set_network(last, network.clone(), binding(&network)).unwrap_err();
    println!("{error}");
    assert!(
        matches!(error, StepError::Gpu(GpuError::ArrayTooLarge { array: "skin_deltas", bytes, limit: of })
            if bytes > limit && of == limit),
        "{error}"
    );
    assert!(physics.network(last).unwrap().is_none(), "nothing changed");
}

#[test]
fn what_does_not_fit_is_said() {
    let mut physics = Physics::default();
    let network = fixture(Precision::I8);
    let fits = binding(&network);
    let handle = insert_sheet(&mut physics);
    assert_eq!(physics.set_joint_rotations(handle, &[]), Err(StepError::NoNetwork));
    assert_eq!(
        physics.set_network(handle, network.clone(), fits.clone()),
        Err(StepError::NoSuchChain { chain: 2, count: 2 })
    );
    let few = Binding { joints: vec![0], ..fits.clone() };
    let error = physics.set_network(handle, network.clone(), few).unwrap_err();
    assert_eq!(error, StepError::NetworkInputs { what: "joints", given: 1, expected: 4 });
    let other = physics.insert_with_skin(flesh(3), bare_skin(7), &[], Pose::IDENTITY).unwrap();
    let error = physics.set_network(other, network.clone(), fits.clone()).unwrap_err();
    assert_eq!(error, StepError::NetworkVertices { network: 150, skin: 7 });
    assert!(error.to_string().contains("train it on this one"));
    let dual = Skin { blending: sinew::SkinBlending::DualQuaternion, ..Skin::clone(&bare_skin(150)) };
    let dual = physics.insert_with_skin(flesh(3), Arc::new(dual), &[], Pose::IDENTITY).unwrap();
    let error = physics.set_network(dual, network.clone(), fits.clone()).unwrap_err();
    assert!(error == StepError::NetworkBlending && error.to_string().contains("to Linear"), "{error}");
    assert!(physics.network(dual).unwrap().is_none());
    let there = physics.insert_with_skin(flesh(3), bare_skin(150), &[], Pose::IDENTITY).unwrap();
    physics.set_network(there, network, fits).unwrap();
    let error = physics.set_joint_rotations(there, &[Quat::IDENTITY]).unwrap_err();
    assert!(error.to_string().contains("1 joints were given, but the network reads 4"), "{error}");
    physics.remove(there).unwrap();
    assert_eq!(physics.remove_network(there), Err(StepError::NoSuchFlesh));
    physics.read_back = ReadBack::NOTHING;
}
