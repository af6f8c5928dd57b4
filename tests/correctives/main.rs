//! Networks that move skin in a step: what they add is what the format says, on both backends; what is not inferred changes nothing.

#[path = "../common/mod.rs"]
mod common;
mod room;
mod switching;

use std::path::Path;
use std::sync::Arc;

use common::{backends, sheet};
use glam::{DVec3, Quat, Vec3};
use safetensors::SafeTensors;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::neural::*;
use sinew::{Active, FleshHandle, Physics, Pose, Skin, SkinMotion, SkinVertex};

const DT: f64 = 1.0 / 60.0;
const PRECISIONS: [(Precision, f64); 3] = [(Precision::F32, 1.0e-5), (Precision::F16, 2.0e-3), (Precision::I8, 1.0e-2)];

fn read(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/networks").join(name)).expect("is committed")
}

fn fixture(precision: Precision) -> Arc<CorrectiveNetwork> {
    let name = format!("{}.safetensors", precision.name().to_lowercase());
    Arc::new(CorrectiveNetwork::from_slice(&name, &read(&name)).expect("is sound"))
}

fn numbers<const N: usize, T>(data: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    data.chunks_exact(N).map(|bytes| of(bytes.try_into().expect("so many bytes"))).collect()
}

/// Some rods that no bone holds, whose activations follow at once.
fn flesh(rods: usize) -> Arc<Flesh> {
    let rod =
        |k: usize| RodSpec::straight(format!("rod {k}"), DVec3::Z * k as f64, DVec3::Z * k as f64 + DVec3::X, 4, 0.05);
    Arc::new(Flesh::build(&(0..rods).map(rod).collect::<Vec<_>>(), &[]).unwrap())
}

fn binding(network: &CorrectiveNetwork) -> Binding {
    let count = |names: &[String]| (0..names.len() as u32).collect();
    Binding { joints: count(network.joints()), muscles: count(network.muscles()) }
}

/// A skin of vertices at the origin that one matrix, the identity, moves: where they go is what moves them.
fn bare_skin(vertices: usize) -> Arc<Skin> {
    let vertex = SkinVertex {
        normal: [0.0, 0.0, 1.0],
        weights: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        ..SkinVertex::default()
    };
    Arc::new(Skin { vertices: vec![vertex; vertices], palette_len: 1, ..Skin::default() })
}

#[test]
fn exported_networks_move_skin_as_numpy_says() {
    let bytes = read("reference.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).expect("is sound");
    let data = |name| tensors.tensor(name).expect("is there").data();
    let turns: Vec<Quat> =
        numbers(data("rotations"), f32::from_le_bytes).chunks_exact(4).map(Quat::from_slice).collect();
    let pulls = numbers(data("activations"), f32::from_le_bytes);
    let deltas = numbers(data("deltas"), f64::from_le_bytes);
    for (precision, bar) in PRECISIONS {
        let network = fixture(precision);
        let (joints, muscles) = (network.joints().len(), network.muscles().len());
        let poses: Vec<_> = turns
            .chunks(joints)
            .zip(pulls.chunks(muscles))
            .zip(deltas.chunks(3 * network.vertex_count()))
            // No game excites muscles more.
            .filter(|((_, pulls), _)| pulls.iter().all(|pull| *pull <= 10.0))
            .collect();
        assert!(poses.len() >= 5, "{} poses", poses.len());
        for (backend, mut physics) in backends() {
            physics.read_back.vertices = true;
            // All at once, so that they are a batch of whole groups and a part of one.
            let skin = bare_skin(network.vertex_count());
            let handles: Vec<FleshHandle> = poses
                .iter()
                .map(|((turns, pulls), _)| {
                    let handle = physics.insert_with_skin(flesh(muscles), skin.clone(), &[], Pose::IDENTITY).unwrap();
                    physics.set_network(handle, network.clone(), binding(&network)).unwrap();
                    physics.set_joint_rotations(handle, turns).unwrap();
                    (0..).zip(*pulls).for_each(|(chain, pull)| physics.set_activation(handle, chain, *pull).unwrap());
                    handle
                })
                .collect();
            physics.step_flesh(DT).unwrap();
            physics.finish().unwrap();
            let (mut error, mut size) = (0.0_f64, 0.0_f64);
            for (handle, (_, expected)) in handles.iter().zip(&poses) {
                let vertices = physics.vertices(*handle).unwrap();
                for (found, &expected) in vertices.positions.iter().flat_map(Vec3::to_array).zip(*expected) {
                    error = error.max((f64::from(found) - expected).abs());
                    size = size.max(expected.abs());
                }
                assert!(vertices.normals.iter().all(|normal| *normal == Vec3::Z), "normals stay");
            }
            println!("{} on the {backend}: {:.1e} of {size:.3} m", precision.name(), error / size);
            assert!(error <= bar * size && size > 1.0e-3, "{precision:?} on the {backend}: {error} of {size}");
        }
    }
}

/// A network of a sheet's 150 vertices that moves nothing, though its basis would.
fn idle() -> Arc<CorrectiveNetwork> {
    let part = |inputs: usize| PartSpec {
        input_mean: vec![0.0; inputs],
        input_scale: vec![1.0; inputs],
        layers: [Layer::zeros(inputs, 3), Layer::zeros(3, 4), Layer::zeros(4, 2)],
        low: vec![-1.0; 2],
        high: vec![1.0; 2],
        basis: vec![0.5; 2 * 450],
    };
    let spec = NetworkSpec {
        joints: vec!["a".into()],
        muscles: vec!["b".into()],
        vertex_count: 150,
        mean: vec![0.0; 450],
        passive: Some(part(9)),
        active: Some(part(1)),
        ..NetworkSpec::default()
    };
    Arc::new(CorrectiveNetwork::new(&spec, Precision::F16, 0.0).unwrap())
}

fn insert_sheet(physics: &mut Physics) -> FleshHandle {
    let flesh = flesh(2);
    let skin = Arc::new(sheet(&flesh));
    let handle = physics.insert_with_skin(flesh, skin, &[], Pose::IDENTITY).unwrap();
    let matrix = |index: usize| {
        let turn = Quat::from_rotation_z(0.3 + 0.2 * index as f32);
        sinew::palette_matrix(&glam::Affine3A::from_rotation_translation(turn, Vec3::new(0.1, 0.2, 0.3)))
    };
    physics.set_palette(handle, (0..2).map(matrix)).unwrap();
    handle
}

fn bits(physics: &mut Physics, handle: FleshHandle) -> Vec<u32> {
    physics.finish().unwrap();
    let vertices = physics.vertices(handle).unwrap();
    let vectors = vertices.positions.iter().chain(&vertices.normals).flat_map(Vec3::to_array);
    vectors.chain(vertices.tangents.iter().flat_map(|tangent| tangent.to_array())).map(f32::to_bits).collect()
}

#[test]
fn a_network_of_zeros_changes_no_bit_of_skin() {
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let [with, without] = [0, 1].map(|_| insert_sheet(&mut physics));
        let network = idle();
        physics.set_network(with, network.clone(), binding(&network)).unwrap();
        for step in 0..20 {
            let t = step as f32 * 0.2;
            physics.set_joint_rotations(with, &[Quat::from_rotation_y(t)]).unwrap();
            for handle in [with, without] {
                physics.set_activation(handle, 0, (t * 0.3).min(1.0)).unwrap();
                let turn = glam::Affine3A::from_rotation_x(t);
                physics.set_palette(handle, (0..2).map(|_| sinew::palette_matrix(&turn))).unwrap();
            }
            physics.step_flesh(DT).unwrap();
            let (with, without) = (bits(&mut physics, with), bits(&mut physics, without));
            assert!(!with.is_empty() && with == without, "on the {backend} in step {step}");
        }
    }
}

#[test]
fn what_is_taken_away_leaves_nothing() {
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let [moved, plain] = [0, 1].map(|_| insert_sheet(&mut physics));
        let network = fixture(Precision::I8);
        physics.set_network(moved, network.clone(), Binding { joints: vec![0; 4], muscles: vec![0, 1, 0] }).unwrap();
        let step = |physics: &mut Physics| {
            physics.step_flesh(DT).unwrap();
            bits(physics, moved) == bits(physics, plain)
        };
        assert!(!step(&mut physics), "the {backend} moves nothing");
        physics.set_detail(moved, Detail { weight: 0.0, ..Detail::default() }).unwrap();
        assert!(step(&mut physics), "a weight of 0 on the {backend}");
        physics.set_detail(moved, Detail { weight: 0.5, ..Detail::default() }).unwrap();
        assert!(!step(&mut physics));
        physics.remove_network(moved).unwrap();
        assert!(step(&mut physics), "removed on the {backend}");
        assert!(physics.network(moved).unwrap().is_none());
        // Skin that is not deformed stays as it is.
        physics.set_network(moved, network, Binding { joints: vec![0; 4], muscles: vec![0, 1, 0] }).unwrap();
        physics.set_active(moved, Active { skin: false, flesh: true }).unwrap();
        let before = bits(&mut physics, moved);
        physics.step_flesh(DT).unwrap();
        assert_eq!(before, bits(&mut physics, moved));
        // Nor does who comes after it have anything of it.
        physics.remove(moved).unwrap();
        let next = insert_sheet(&mut physics);
        physics.teleport(plain, &[], Pose::IDENTITY).unwrap();
        physics.step_flesh(DT).unwrap();
        assert_eq!(bits(&mut physics, next), bits(&mut physics, plain), "on the {backend}");
    }
}

#[test]
fn details_and_masks_are_those_of_the_character() {
    let network = fixture(Precision::F16);
    let turns = [Quat::from_rotation_x(0.4), Quat::from_rotation_z(-0.3), Quat::from_rotation_y(0.2), Quat::IDENTITY];
    let detail = Detail { weight: 0.5, passive: 2.25, active: 1.0 };
    let mut alone = Correctives::new(&network);
    alone.detail = detail;
    alone.joint_mask[1] = false;
    alone.set_inputs(&network, &turns, &[0.6, 0.0, 0.9]);
    Inference::new(1).infer(&network, &mut [&mut alone]);
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let skin = bare_skin(network.vertex_count());
        let handle = physics.insert_with_skin(flesh(3), skin, &[], Pose::IDENTITY).unwrap();
        physics.set_network(handle, network.clone(), binding(&network)).unwrap();
        physics.set_joint_rotations(handle, &turns).unwrap();
        physics.set_detail(handle, detail).unwrap();
        physics.set_network_masks(handle, &[true, false, true, true], &[true, false, true]).unwrap();
        [0.6, 0.7, 0.9].into_iter().enumerate().for_each(|(k, pull)| physics.set_activation(handle, k, pull).unwrap());
        physics.step_flesh(DT).unwrap();
        physics.finish().unwrap();
        let far = alone.deltas().iter().map(|delta| delta.length()).fold(0.0, f32::max);
        let found = &physics.vertices(handle).unwrap().positions;
        let off = found.iter().zip(alone.deltas()).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!("on the {backend}: {off:.1e} of {far:.4} m");
        assert!(off <= 1.0e-5 * far && far > 1.0e-3);
    }
}

/// As those of a character's pose are, which a game blends as it likes.
#[test]
fn rotations_of_any_length_are_those_that_they_are_along() {
    let network = fixture(Precision::F32);
    let turn = Quat::from_rotation_x(0.12) * Quat::from_rotation_z(-0.1);
    let mut physics = Physics::default();
    let mut inputs = |turn: Quat| {
        let handle = physics.insert_with_skin(flesh(3), bare_skin(150), &[], Pose::IDENTITY).unwrap();
        physics.set_network(handle, network.clone(), binding(&network)).unwrap();
        physics.set_joint_rotations(handle, &[turn; 4]).unwrap();
        physics.step_flesh(DT).unwrap();
        physics.correctives(handle).unwrap().unwrap().coefficients().to_vec()
    };
    let [unit, rest] = [turn, Quat::IDENTITY].map(&mut inputs);
    for length in [1.0e-6, 0.5, 3.0, 1.0e6] {
        let off = inputs(turn * length).iter().zip(&unit).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("of length {length}: {off:.1e}, {:?}", &unit[..5]);
        assert!(off < 1.0e-5, "of length {length}: {off}");
    }
    for none in [turn * 0.0, turn * f32::INFINITY, Quat::NAN] {
        assert_eq!(inputs(none), rest, "{none}");
    }
    assert!(unit != rest);
}

/// Of 2000 poses that no training has on each backend, a hundred at a time.
#[test]
fn poses_far_outside_of_training_stay_within_its_range() {
    let network = fixture(Precision::I8);
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let (flesh, skin) = (flesh(3), bare_skin(network.vertex_count()));
        let insert = |_| {
            let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &[], Pose::IDENTITY).unwrap();
            physics.set_network(handle, network.clone(), binding(&network)).unwrap();
            physics.set_active(handle, Active { skin: true, flesh: false }).unwrap();
            handle
        };
        let handles: Vec<FleshHandle> = (0..100).map(insert).collect();
        let mut state = 5_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
        };
        let mut farthest = 0.0_f32;
        for round in 0..20 {
            let size = [1.0, 1.0e3, 1.0e-30, 1.0e30][round % 4];
            for &handle in &handles {
                let turns = [(); 4].map(|()| Quat::from_array([(); 4].map(|()| size * number())));
                physics.set_joint_rotations(handle, &turns).unwrap();
                (0..3).for_each(|chain| physics.set_activation(handle, chain, 10.0 * number().abs()).unwrap());
            }
            physics.step_flesh(DT).unwrap();
            physics.finish().unwrap();
            for &handle in &handles {
                let positions = &physics.vertices(handle).unwrap().positions;
                assert!(positions.len() == 150 && positions.iter().all(|place| place.is_finite()), "on the {backend}");
                farthest = positions.iter().map(|place| place.length()).fold(farthest, f32::max);
            }
        }
        println!("on the {backend}: farthest {farthest:.4} m, reach {:.4} m", network.reach());
        assert!(f64::from(farthest) <= network.reach() * 1.000_01 && farthest > 1.0e-3);
    }
}

/// A rod that sags between two places of a bone, and a sheet that goes with it.
fn insert_sagging(physics: &mut Physics, at: f64) -> FleshHandle {
    let mut rod = RodSpec::straight("sagging", DVec3::ZERO, DVec3::X, 16, 0.03);
    rod.material.youngs_modulus = 2.0e6;
    let rod = rod.attach(0, 0, Holds::CLAMP).attach(16, 0, Holds::CLAMP);
    let flesh = Arc::new(Flesh::build(&[rod], &[Pose::IDENTITY]).unwrap());
    let skin = Arc::new(sheet(&flesh));
    let place = Pose::from_translation(DVec3::Z * at);
    let handle = physics.insert_with_skin(flesh, skin, &[place], place).unwrap();
    let network = fixture(Precision::I8);
    physics.set_network(handle, network, Binding { joints: vec![0; 4], muscles: vec![0; 3] }).unwrap();
    physics.set_joint_rotations(handle, &[Quat::from_rotation_x(0.3); 4]).unwrap();
    handle
}

#[cfg(feature = "serde")]
#[test]
fn snapshots_have_what_is_set_of_networks_and_what_moves_skin() {
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let handle = insert_sagging(&mut physics, 0.0);
        let steps = |physics: &mut Physics, count: usize| -> Vec<Vec<u32>> {
            let step = |_| {
                physics.step_flesh(DT).unwrap();
                bits(physics, handle)
            };
            (0..count).map(step).collect()
        };
        drop(steps(&mut physics, 30));
        physics.set_detail(handle, Detail { weight: 0.7, passive: 2.5, ..Detail::default() }).unwrap();
        physics.set_network_masks(handle, &[true, false, true, true], &[true, false, true]).unwrap();
        physics.set_skin_motion(handle, SkinMotion::Network, 0.5).unwrap();
        drop(steps(&mut physics, 10));
        let (saved, shares) = (physics.save(), physics.skin_motion(handle).unwrap());
        assert!(shares.1[0] > 0.5 && shares.1[0] < 1.0, "halfway: {shares:?}");
        let straight = steps(&mut physics, 40);
        assert_eq!(physics.skin_motion(handle).unwrap().1, [0.0, 1.0]);

        // All of it is set otherwise, then taken back as it was written.
        physics.set_detail(handle, Detail::default()).unwrap();
        physics.set_network_masks(handle, &[true; 4], &[true; 3]).unwrap();
        physics.set_joint_rotations(handle, &[Quat::IDENTITY; 4]).unwrap();
        physics.set_skin_motion(handle, SkinMotion::Rods, 0.0).unwrap();
        drop(steps(&mut physics, 3));
        let bytes = postcard::to_stdvec(&saved).unwrap();
        let read: sinew::Snapshot = postcard::from_bytes(&bytes).unwrap();
        assert!(physics.restore(&read).unwrap().is_whole() && read == saved);
        assert_eq!(physics.skin_motion(handle).unwrap(), shares);
        assert!(steps(&mut physics, 40) == straight, "on the {backend} it does not go on as it did");
        // Infinity, which is all components, is no number in JSON.
        let text = serde_json::to_string(&saved).unwrap();
        let read: sinew::Snapshot = serde_json::from_str(&text).unwrap();
        physics.restore(&read).unwrap();
        assert_eq!(physics.correctives(handle).unwrap().unwrap().detail.active, f32::INFINITY);

        // What has no network then takes the rest.
        physics.remove_network(handle).unwrap();
        assert!(physics.restore(&saved).unwrap().is_whole() && physics.network(handle).unwrap().is_none());
        assert_eq!(physics.skin_motion(handle).unwrap(), shares);
        let broken = text.replacen("\"seconds\":0.5", "\"seconds\":-0.5", 1);
        let read: sinew::Snapshot = serde_json::from_str(&broken).unwrap();
        assert_eq!(physics.restore(&read), Err(sinew::SnapshotError::NotSound("skin motion")));
    }
}

/// The project's own arm in an hecs world: its network reads the pose and the activations of the entity.
#[cfg(all(feature = "gltf", feature = "hecs"))]
#[test]
fn a_characters_pose_and_muscles_are_read() {
    use sinew::components::{Activations, CharacterPose};
    use sinew::world;
    let arm = sinew::Character::load(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb")).unwrap();
    let mesh = &arm.asset().mesh;
    let joint = arm.asset().skeleton.joints.iter().position(|joint| joint.parent.is_some()).unwrap();
    let vertices = mesh.positions.len();
    // What it adds is the sine of the joint's turn about x, and the muscle's activation, along y.
    let mut by_joint = Layer::zeros(9, 2);
    (by_joint.weight[7], by_joint.weight[9 + 7]) = (1.0, -1.0);
    let both = Layer { weight: vec![1.0, 0.0, 0.0, 1.0], bias: vec![0.0; 2] };
    let passive = PartSpec {
        input_mean: vec![0.0; 9],
        input_scale: vec![1.0; 9],
        layers: [by_joint, both, Layer { weight: vec![1.0, -1.0], bias: vec![0.0] }],
        low: vec![-1.0],
        high: vec![1.0],
        basis: [0.0, 0.01, 0.0].repeat(vertices),
    };
    let one = || Layer { weight: vec![1.0], bias: vec![0.0] };
    let active =
        PartSpec { input_mean: vec![0.0], input_scale: vec![1.0], layers: [one(), one(), one()], ..passive.clone() };
    let mut spec = NetworkSpec {
        joints: vec![arm.asset().skeleton.joints[joint].name.clone()],
        muscles: vec![arm.body().flesh.chains()[0].name.clone()],
        mesh: MeshHash::of(&mesh.positions, &mesh.triangles),
        vertex_count: vertices,
        mean: vec![0.0; 3 * vertices],
        passive: Some(passive),
        active: Some(active),
        ..NetworkSpec::default()
    };
    let network = Arc::new(CorrectiveNetwork::new(&spec, Precision::F32, 0.0).unwrap());
    let (mut world, mut physics) = (hecs::World::new(), Physics::default());
    let entity = arm.spawn_without_bodies(&mut world, &mut physics, Pose::IDENTITY).unwrap();
    world::set_network(&world, &mut physics, entity, network).unwrap();
    let turn = Quat::from_rotation_x(0.4);
    world.get::<&mut CharacterPose>(entity).unwrap().0[joint].rotation *= turn;
    world.get::<&mut Activations>(entity).unwrap().0[0] = 0.5;
    for _ in 0..60 {
        physics.step_world(&mut world, DT).unwrap();
    }
    let handle = world.get::<&sinew::components::CharacterInstance>(entity).unwrap().flesh;
    let found = physics.correctives(handle).unwrap().unwrap();
    assert!((found.coefficients()[0] - 0.4_f32.sin()).abs() < 1.0e-5, "{:?}", found.coefficients());
    assert!((found.coefficients()[1] - 0.5).abs() < 1.0e-2, "{:?}", found.coefficients());
    let expected = 0.01 * (found.coefficients()[0] + found.coefficients()[1]);
    assert!(found.deltas().iter().all(|delta| (delta.y - expected).abs() < 1.0e-7));

    spec.mesh.rest_shape ^= 1;
    let other = Arc::new(CorrectiveNetwork::new(&spec, Precision::F32, 0.0).unwrap());
    let error = world::set_network(&world, &mut physics, entity, other).unwrap_err();
    assert!(error.to_string().contains("its rest shape is"), "{error}");
}
