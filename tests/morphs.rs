//! Morph targets: every file that has any against an f64 skinner over the file's own JSON, on both backends; what is malformed; and what
//! the game sets.
#![cfg(feature = "gltf")]

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "import_support/builder.rs"]
mod builder;
mod common;
#[path = "import_support/reference.rs"]
mod reference;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use builder::{Builder, assert_warns, skinned_tetrahedron, tetrahedron};
use common::{backends, data};
use glam::{DMat4, DVec3, Mat4, Vec3};
use reference::{Reference, Vertex};
use serde_json::json;
use sinew::character::{CharacterAsset, FleshOptions, ImportOptions};
use sinew::flesh::{Flesh, RodSpec};
use sinew::{Character, FleshHandle, Physics, Pose, Skin, SkinnedVertices, StepError, palette_matrix};

const DT: f64 = 1.0 / 60.0;

/// Somewhere a flesh must be; nothing follows it.
fn flesh() -> Arc<Flesh> {
    let rod = RodSpec::straight("alone", DVec3::ZERO, DVec3::X * 0.1, 2, 0.01);
    Arc::new(Flesh::build(&[rod], &[]).unwrap())
}

/// An instance of a character's skin that follows joints alone, as glTF has it.
fn insert(physics: &mut Physics, character: &Character) -> FleshHandle {
    let mut skin = Skin::clone(&character.body().skin);
    skin.vertices.iter_mut().for_each(|vertex| vertex.section_count = 0);
    skin.sections.clear();
    physics.insert_with_skin(flesh(), Arc::new(skin), &[], Pose::IDENTITY).unwrap()
}

/// The largest error of places over the size of the character, and of unit normals and tangents.
#[derive(Debug, Default)]
struct Worst {
    place: f64,
    normal: f64,
    tangent: f64,
    size: f64,
}

impl Worst {
    fn max(self, other: Self) -> Self {
        Self {
            place: self.place.max(other.place),
            normal: self.normal.max(other.normal),
            tangent: self.tangent.max(other.tangent),
            size: other.size,
        }
    }
}

fn compare(found: &SkinnedVertices, expected: &[Vertex], globals: &[DMat4]) -> Worst {
    assert_eq!(found.positions.len(), expected.len());
    let places: Vec<DVec3> = expected.iter().map(|vertex| vertex.skinned(globals)).collect();
    let low = places.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = places.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let mut worst = Worst { size: (high - low).length().max(1.0e-6), ..Worst::default() };
    for (index, (vertex, place)) in expected.iter().zip(places).enumerate() {
        worst.place = worst.place.max(found.positions[index].as_dvec3().distance(place) / worst.size);
        let linear = vertex.linear(globals);
        let volume = linear.determinant();
        // Normals of what is flat are anyone's.
        let scale = linear.x_axis.length().max(linear.y_axis.length()).max(linear.z_axis.length());
        if volume.abs() < 1.0e-3 * scale.powi(3) {
            continue;
        }
        if let Some(normal) = vertex.normal.filter(|normal| normal.length() > 0.1) {
            let expected = (linear.inverse().transpose() * normal).normalize();
            worst.normal = worst.normal.max(found.normals[index].as_dvec3().distance(expected));
        }
        if let Some((tangent, side)) = vertex.tangent.filter(|(tangent, _)| tangent.length() > 0.1) {
            let expected = (linear * tangent).normalize();
            worst.tangent = worst.tangent.max(found.tangents[index].truncate().as_dvec3().distance(expected));
            assert_eq!(f64::from(found.tangents[index].w), side * volume.signum());
        }
    }
    worst
}

/// A character's skin against the reference: at animations' times, and with weights of the game's at rest.
fn check(path: &Path) -> Worst {
    let reference = Reference::load(path);
    let asset = CharacterAsset::load(path, &ImportOptions::default()).unwrap();
    let character = Character::from_asset(asset, &FleshOptions::default()).unwrap();
    let asset = character.asset();
    let morphs = &asset.mesh.morphs;
    assert!(!morphs.is_empty() && morphs.iter().any(|morph| !morph.rows.is_empty()), "{}", path.display());
    let mut worst = Worst::default();
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let handle = insert(&mut physics, &character);
        let mut run = |pose: &[_], weights: &[f32], expected: &[Vertex], globals: &[DMat4], what: &str| {
            let (mut model, mut palette) = (Vec::new(), Vec::new());
            asset.skeleton.model_matrices(pose, &mut model);
            asset.palette_matrices(&model, &mut palette);
            physics.set_palette(handle, palette.iter().map(palette_matrix)).unwrap();
            physics.set_morphs(handle, weights).unwrap();
            physics.step_flesh(DT).unwrap();
            physics.finish().unwrap();
            let found = compare(physics.vertices(handle).unwrap(), expected, globals);
            assert!(found.place <= 1.0e-5, "{}, {backend}, {what}: {found:?}", path.display());
            assert!(
                found.normal <= 1.0e-5 && found.tangent <= 1.0e-5,
                "{}, {backend}, {what}: {found:?}",
                path.display()
            );
            worst = std::mem::take(&mut worst).max(found);
        };
        let rest = asset.skeleton.rest_pose();
        let globals = reference.global_matrices(None);
        let given: Vec<f32> = morphs.iter().map(|morph| morph.weight).collect();
        run(&rest, &given, &reference.vertices(), &globals, "as given");
        // Every target of a mesh at weights of its own, below 0 and above 1 too, and then back.
        for round in 0..4 {
            let weight = |target: usize| (((target * 5 + round * 3) % 11) as f32 - 3.0) * 0.2;
            let mut weights = given.clone();
            let mut before = (u32::MAX, 0);
            for (weight_of, morph) in weights.iter_mut().zip(morphs.iter()) {
                before = if before.0 == morph.joint { (morph.joint, before.1 + 1) } else { (morph.joint, 0) };
                *weight_of = weight(before.1);
            }
            let own = |_| (0..64).map(|target| f64::from(weight(target))).collect();
            run(&rest, &weights, &reference.vertices_with(own), &globals, "by the game");
        }
        run(&rest, &given, &reference.vertices(), &globals, "as given again");
        for (index, animation) in asset.animations.iter().enumerate() {
            for k in 0..7 {
                let time = (animation.duration * (k as f32 + 0.3) / 6.0).min(animation.duration);
                let (mut pose, mut weights) = (rest.clone(), given.clone());
                animation.sample(time, &mut pose);
                animation.sample_morphs(time, morphs, &mut weights);
                let at = Some((index, f64::from(time)));
                let expected = reference.vertices_with(|node| reference.morph_weights(node, at));
                run(
                    &pose,
                    &weights,
                    &expected,
                    &reference.global_matrices(at),
                    &format!("{} at {time} s", animation.name),
                );
            }
        }
    }
    worst
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|kind| ["gltf", "glb", "vrm"].iter().any(|known| kind == *known)) {
            found.push(path);
        }
    }
}

#[test]
fn every_file_with_targets_is_as_its_own_json_says() {
    let mut all = Vec::new();
    let sparse = "gltf_malformed/gltf_rs/tests";
    for folder in ["gltf_edge", "gltf_generator", "gltf_humanoid", "gltf_khronos", "blender", "anatomy", sparse] {
        let Some(folder) = data(folder) else { return };
        files(&folder, &mut all);
    }
    all.sort();
    let mut checked = 0;
    for path in &all {
        // As a name on a file's own JSON, not in its buffers.
        let bytes = std::fs::read(path).unwrap();
        let end = if bytes.starts_with(b"glTF") { bytes.len().min(1 << 20) } else { bytes.len() };
        if !bytes[..end].windows(10).any(|window| window == b"\"targets\":") {
            continue;
        }
        let worst = check(path);
        let name = path.file_name().unwrap().to_string_lossy();
        println!(
            "{name}: {:.1e} of {:.3} m, normals {:.1e}, tangents {:.1e}",
            worst.place, worst.size, worst.normal, worst.tangent
        );
        checked += 1;
    }
    assert!(checked >= 5, "{checked} files with morph targets");
}

/// A skinned tetrahedron with normals, tangents and three targets: a sparse one of places, one of everything, and an empty one.
fn fixture() -> Builder {
    let joints =
        [json!({ "name": "Root", "scale": [1.2, 0.8, -1] }), json!({ "name": "Tip", "translation": [0, 1, 0] })];
    let mut builder = skinned_tetrahedron(joints, Some([Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_Y)]));
    let normals = builder.floats("VEC3", 3, &[0.0, 0.0, 1.0].repeat(4));
    let tangents = builder.floats("VEC4", 4, &[1.0, 0.0, 0.0, -1.0].repeat(4));
    let at = builder.view(&[1, 0, 3, 0]);
    let to: Vec<u8> = [0.0_f32, 0.5, 0.0, 0.1, 0.2, 0.3].iter().flat_map(|value| value.to_le_bytes()).collect();
    let to = builder.view(&to);
    let sparse = builder.push(
        "accessors",
        json!({ "componentType": 5126, "type": "VEC3", "count": 4, "sparse": {
            "count": 2, "indices": { "bufferView": at, "componentType": 5123 }, "values": { "bufferView": to } } }),
    );
    let ramp = |from: f32| (0..12).map(|k| from + 0.05 * k as f32).collect::<Vec<_>>();
    let [places, turns, slants] = [-0.3, 0.1, -0.2].map(|from| builder.floats("VEC3", 3, &ramp(from)));
    let mesh = &mut builder.json["meshes"][0];
    let primitive = &mut mesh["primitives"][0];
    primitive["attributes"]["NORMAL"] = json!(normals);
    primitive["attributes"]["TANGENT"] = json!(tangents);
    primitive["targets"] =
        json!([{ "POSITION": sparse }, { "POSITION": places, "NORMAL": turns, "TANGENT": slants }, {}]);
    mesh["weights"] = json!([0.25, 0.5, 0.0]);
    mesh["extras"] = json!({ "targetNames": ["Sharp", "Round", "Nothing"] });
    let times = builder.floats("SCALAR", 1, &[0.5, 1.0, 2.0]);
    for (kind, per_key) in [("LINEAR", 1), ("STEP", 1), ("CUBICSPLINE", 3)] {
        let values: Vec<f32> = (0..9 * per_key).map(|k| ((k * 7) % 10) as f32 * 0.2 - 0.7).collect();
        let values = builder.floats("SCALAR", 1, &values);
        let animation = json!({
            "name": kind,
            "samplers": [{ "input": times, "output": values, "interpolation": kind }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }],
        });
        builder.push("animations", animation);
    }
    builder
}

#[test]
fn a_fixture_of_every_kind_is_as_its_own_json_says() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("morphs.glb");
    let mut builder = fixture();
    std::fs::write(&path, builder.bytes()).unwrap();
    let worst = check(&path);
    println!("of the mesh's weights: {worst:?}");
    assert!(worst.size > 0.5);
    builder.json["nodes"][0]["weights"] = json!([-0.5, 0.75, 1.0]);
    std::fs::write(&path, builder.bytes()).unwrap();
    println!("of the node's: {:?}", check(&path));

    let asset = builder.import_sound();
    let names: Vec<&str> = asset.mesh.morphs.iter().map(|morph| morph.name.as_str()).collect();
    assert_eq!(names, ["Sharp", "Round", "Nothing"]);
    let weights: Vec<f32> = asset.mesh.morphs.iter().map(|morph| morph.weight).collect();
    assert_eq!(weights, [-0.5, 0.75, 1.0]);
    // Sparse: what is not moved is not there.
    let rows: Vec<u32> = asset.mesh.morphs[0].rows.iter().map(|row| row.vertex).collect();
    assert_eq!((rows, asset.mesh.morphs[2].rows.len()), (vec![1, 3], 0));
}

#[test]
fn malformed_targets_are_said_and_left_out() {
    let target = |change: fn(&mut Builder)| {
        let mut builder = tetrahedron();
        let deltas = builder.floats("VEC3", 3, &[0.0, 2.0, 0.0].repeat(4));
        builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": deltas }]);
        builder.push("nodes", json!({ "name": "Hero", "mesh": 0 }));
        change(&mut builder);
        builder.import_sound()
    };
    let whole = target(|_| ());
    assert_eq!((whole.mesh.morphs[0].name.as_str(), whole.mesh.morphs[0].rows.len()), ("target 0", 4));
    assert!(whole.warnings.iter().all(|warning| !warning.0.contains("morph")), "{:?}", whole.warnings);

    let short = target(|builder| {
        let deltas = builder.floats("VEC3", 3, &[0.0; 9]);
        builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": deltas }]);
    });
    assert_warns(&short, &["Body", "morph target has 3 vertices, the mesh 4", "left out"]);
    assert!(short.mesh.morphs[0].rows.is_empty());

    let nan = target(|builder| {
        let mut deltas = [0.5; 12];
        (deltas[4], deltas[6]) = (f32::NAN, 1.0e30);
        let deltas = builder.floats("VEC3", 3, &deltas);
        builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": deltas }]);
    });
    assert_warns(&nan, &["Body", "moves 2 vertices by what is not finite", "they stay"]);
    assert_eq!(nan.mesh.morphs[0].rows.len(), 2);

    let heavy = target(|builder| builder.json["meshes"][0]["weights"] = json!([1.0e30]));
    assert_warns(&heavy, &["Body", "morph weight", "taken as 0"]);
    assert_eq!(heavy.mesh.morphs[0].weight, 0.0);

    let many = target(|builder| builder.json["meshes"][0]["weights"] = json!([0.0, 1.0]));
    assert_warns(&many, &["Body", "1 morph targets for 2 weights"]);

    let names = target(|builder| builder.json["meshes"][0]["extras"] = json!({ "targetNames": 7 }));
    assert_eq!(names.mesh.morphs[0].name, "target 0");

    let drive = |builder: &mut Builder, values: &[f32], node: usize| {
        let times = builder.floats("SCALAR", 1, &[0.0, 1.0]);
        let values = builder.floats("SCALAR", 1, values);
        let sampler = json!({ "input": times, "output": values });
        let channel = json!({ "sampler": 0, "target": { "node": node, "path": "weights" } });
        builder.push("animations", json!({ "samplers": [sampler], "channels": [channel] }));
    };
    let animated = |values: &'static [f32], node: usize| {
        let mut builder = tetrahedron();
        let deltas = builder.floats("VEC3", 3, &[0.0, 2.0, 0.0].repeat(4));
        builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": deltas }]);
        builder.push("nodes", json!({ "name": "Hero", "mesh": 0, "children": [1] }));
        builder.push("nodes", json!({ "name": "Bare" }));
        drive(&mut builder, values, node);
        builder.import_sound()
    };
    assert_eq!(animated(&[0.0, 1.0], 0).animations[0].tracks.len(), 1);
    assert_warns(&animated(&[0.0, 1.0], 1), &["channel 0", "Bare", "has none", "left out"]);
    assert_warns(&animated(&[0.0], 0), &["1 values for 2 keys"]);
    assert_warns(&animated(&[0.0, f32::NAN], 0), &["weights that are not finite"]);
    assert!(animated(&[0.0, f32::NAN], 0).animations[0].tracks.is_empty());
}

#[test]
fn what_the_game_sets_is_checked() {
    let character = Character::from_asset(fixture().import_sound(), &FleshOptions::default()).unwrap();
    let mut physics = Physics::default();
    let handle = insert(&mut physics, &character);
    assert_eq!(physics.morphs(handle).unwrap(), [0.25, 0.5, 0.0]);
    physics.set_morph_named(handle, "Sharp", 1.0).unwrap();
    assert_eq!(physics.morphs(handle).unwrap(), [1.0, 0.5, 0.0]);
    assert_eq!(physics.set_morphs(handle, &[0.0]), Err(StepError::MorphCount { given: 1, expected: 3 }));
    let error = physics.set_morphs(handle, &[0.0, f32::NAN, 0.0]).unwrap_err();
    assert!(matches!(error, StepError::BadMorphWeight { morph: 1, .. }), "{error}");
    assert!(matches!(physics.set_morph_named(handle, "Sharp", 1.1e3), Err(StepError::BadMorphWeight { morph: 0, .. })));
    let error = physics.set_morph_named(handle, "sharp", 1.0).unwrap_err().to_string();
    assert!(error.contains("`sharp`") && error.contains("Nothing, Round, Sharp"), "{error}");
    assert_eq!(physics.morphs(handle).unwrap(), [1.0, 0.5, 0.0], "nothing changed");

    // What is saved comes back, and a skin whose targets are not of its vertices is refused.
    let saved = physics.save();
    physics.set_morphs(handle, &[0.0; 3]).unwrap();
    physics.restore(&saved).unwrap();
    assert_eq!(physics.morphs(handle).unwrap(), [1.0, 0.5, 0.0]);
    let mut skin = Skin::clone(&character.body().skin);
    skin.vertices.pop();
    Arc::make_mut(&mut skin.rest_linear).pop();
    let refused = physics.insert_with_skin(character.body().flesh.clone(), skin.into(), &[], Pose::IDENTITY);
    assert!(matches!(refused, Err(StepError::BadMorphTarget(_))), "{refused:?}");
}

#[test]
fn skin_of_flesh_that_sleeps_follows_its_weights() {
    let character = Character::from_asset(fixture().import_sound(), &FleshOptions::default()).unwrap();
    let mut physics = Physics::default();
    (physics.config.sleep_after, physics.config.gravity) = (0.1, DVec3::ZERO);
    let handle = insert(&mut physics, &character);
    (0..30).for_each(|_| physics.step_flesh(DT).unwrap());
    assert!(physics.is_asleep(handle).unwrap());
    let before = physics.vertices(handle).unwrap().positions.clone();
    physics.set_morph_named(handle, "Round", 1.0).unwrap();
    physics.step_flesh(DT).unwrap();
    assert!(physics.is_asleep(handle).unwrap());
    let after = &physics.vertices(handle).unwrap().positions;
    assert!(before.iter().zip(after).any(|(a, b)| a.distance(*b) > 0.05));
}

#[cfg(feature = "hecs")]
#[test]
fn a_character_of_a_world_has_weights() {
    use sinew::components::MorphWeights;
    use sinew::world::{morph_named, vertices};
    let character = Character::from_asset(fixture().import_sound(), &FleshOptions::default()).unwrap();
    let (mut world, mut physics) = (hecs::World::new(), Physics::default());
    let entity = character.spawn_without_bodies(&mut world, &mut physics, Pose::IDENTITY).unwrap();
    assert_eq!(world.get::<&MorphWeights>(entity).unwrap().0, [0.25, 0.5, 0.0]);
    physics.step_world(&mut world, DT).unwrap();
    let given = vertices(&world, &physics, entity).unwrap().positions.clone();
    morph_named(&mut world, entity, "Round", 1.0).unwrap();
    physics.step_world(&mut world, DT).unwrap();
    let moved = vertices(&world, &physics, entity).unwrap().positions.clone();
    assert!(given.iter().zip(&moved).any(|(a, b)| a.distance(*b) > 0.05));
    world.get::<&mut MorphWeights>(entity).unwrap().0[1] = f32::INFINITY;
    physics.step_world(&mut world, DT).unwrap();
    assert_eq!(vertices(&world, &physics, entity).unwrap().positions, moved, "it keeps what it had");
    assert_eq!(world.get::<&sinew::Health>(entity).unwrap().fault, Some(sinew::Fault::Morph(1)));
    world.get::<&mut MorphWeights>(entity).unwrap().0[1] = 0.5;
    physics.step_world(&mut world, DT).unwrap();
    assert_eq!(vertices(&world, &physics, entity).unwrap().positions, given);
    assert_eq!(world.get::<&sinew::Health>(entity).unwrap().fault, None);
    assert!(morph_named(&mut world, entity, "round", 1.0).unwrap_err().to_string().contains("Round"));

    // Saved with the character, by which the next step goes, and gone where it was not there.
    let saved = sinew::world::save(&world, &physics, entity).unwrap();
    let bare = sinew::world::CharacterSnapshot { morphs: None, ..saved.clone() };
    for (snapshot, there) in [(&saved, true), (&bare, false)] {
        world.insert_one(entity, MorphWeights(vec![0.0, 1.0, 1.0])).unwrap();
        physics.step_world(&mut world, DT).unwrap();
        assert_ne!(vertices(&world, &physics, entity).unwrap().positions, given);
        sinew::world::restore_without_bodies(&mut world, &mut physics, entity, snapshot).unwrap();
        physics.step_world(&mut world, DT).unwrap();
        assert_eq!(vertices(&world, &physics, entity).unwrap().positions, given);
        assert_eq!(world.get::<&MorphWeights>(entity).is_ok(), there);
    }
}
