//! glTF import on files built here: what each feature means, and that no defect gets through unnamed.
#![cfg(feature = "gltf")]

use glam::{Affine3A, Mat4, Quat, Vec3};
use serde_json::{Value, json};
use sinew::character::{
    Animation, CharacterAsset, ImportError, ImportOptions, Interpolation, LocalTransform, Track, TrackValues,
};

/// A glTF under construction: JSON and the binary chunk.
struct Builder {
    json: Value,
    binary: Vec<u8>,
}

impl Builder {
    fn new() -> Self {
        Self {
            json: json!({
                "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
                "nodes": [], "meshes": [], "accessors": [], "bufferViews": []
            }),
            binary: Vec::new(),
        }
    }

    fn push(&mut self, list: &str, item: Value) -> usize {
        let list = self.json.as_object_mut().unwrap().entry(list).or_insert(json!([])).as_array_mut().unwrap();
        list.push(item);
        list.len() - 1
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.binary.len().is_multiple_of(4) {
            self.binary.push(0);
        }
        let at = self.binary.len();
        self.binary.extend(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": at, "byteLength": bytes.len() }))
    }

    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.push("accessors", json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }))
    }

    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(&bytes, 5126, kind, values.len() / width)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{ "byteLength": self.binary.len() }]);
        let mut text = serde_json::to_vec(&json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut binary = self.binary.clone();
        binary.resize(binary.len().next_multiple_of(4), 0);
        let word = |value: usize| (value as u32).to_le_bytes();
        let mut glb = Vec::new();
        glb.extend(b"glTF");
        glb.extend(word(2));
        glb.extend(word(12 + 8 + text.len() + 8 + binary.len()));
        glb.extend(word(text.len()));
        glb.extend(b"JSON");
        glb.extend(text);
        glb.extend(word(binary.len()));
        glb.extend(b"BIN\0");
        glb.extend(binary);
        glb
    }

    fn import(&self) -> Result<CharacterAsset, ImportError> {
        CharacterAsset::from_slice("built", &self.bytes(), None, &ImportOptions::default())
    }

    fn import_sound(&self) -> CharacterAsset {
        self.import().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Corners of a unit tetrahedron, faces counter-clockwise from outside.
const CORNERS: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
const FACES: [u8; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];

/// A tetrahedron mesh of one primitive; its node is for the caller to add.
fn tetrahedron() -> Builder {
    let mut builder = Builder::new();
    let positions = builder.floats("VEC3", 3, &CORNERS);
    let indices = builder.accessor(&FACES, 5121, "SCALAR", 12);
    let primitive = json!({ "attributes": { "POSITION": positions }, "indices": indices });
    builder.push("meshes", json!({ "name": "Body", "primitives": [primitive] }));
    builder
}

/// A tetrahedron skinned to two joints: nodes 0 (mesh), 1 and its child 2 (joints), bind matrices as given.
fn skinned_tetrahedron(joints: [Value; 2], binds: Option<[Mat4; 2]>) -> Builder {
    let mut builder = tetrahedron();
    let slots = builder.accessor(&[0, 1, 0, 0].repeat(4), 5121, "VEC4", 4);
    let weights = builder.floats("VEC4", 4, &[0.75, 0.25, 0.0, 0.0].repeat(4));
    let attributes = &mut builder.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_0"] = json!(slots);
    attributes["WEIGHTS_0"] = json!(weights);
    let mut skin = json!({ "name": "Rig", "joints": [1, 2] });
    if let Some(binds) = binds {
        let values: Vec<f32> = binds.iter().flat_map(Mat4::to_cols_array).collect();
        skin["inverseBindMatrices"] = json!(builder.floats("MAT4", 16, &values));
    }
    builder.push("skins", skin);
    // A skinned node's own transform must not count.
    builder.push("nodes", json!({ "name": "Skinned", "mesh": 0, "skin": 0, "translation": [7, 7, 7] }));
    let [mut root, tip] = joints;
    root["children"] = json!([2]);
    builder.push("nodes", root);
    builder.push("nodes", tip);
    builder.json["scenes"] = json!([{ "nodes": [0, 1] }]);
    builder
}

fn palette(asset: &CharacterAsset, pose: &[LocalTransform]) -> Vec<Affine3A> {
    let (mut model, mut palette) = (Vec::new(), Vec::new());
    asset.skeleton.model_matrices(pose, &mut model);
    asset.palette_matrices(&model, &mut palette);
    palette
}

fn skinned(asset: &CharacterAsset, pose: &[LocalTransform]) -> Vec<Vec3> {
    let palette = palette(asset, pose);
    let mesh = &asset.mesh;
    (0..mesh.positions.len())
        .map(|vertex| {
            (mesh.influence_joints[vertex].iter().zip(mesh.influence_weights[vertex]))
                .map(|(&joint, weight)| palette[joint as usize].transform_point3(mesh.positions[vertex]) * weight)
                .sum()
        })
        .collect()
}

fn at_rest(asset: &CharacterAsset) -> Vec<Vec3> {
    skinned(asset, &asset.skeleton.rest_pose())
}

/// Positive where triangles are counter-clockwise from outside.
fn volume(places: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let corner = |vertex: u32| places[vertex as usize];
    triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
}

fn assert_near(places: &[Vec3], expected: impl Fn(Vec3) -> Vec3, corners: &[f32]) {
    assert_eq!(places.len(), corners.len() / 3);
    for (place, corner) in places.iter().zip(corners.chunks_exact(3)) {
        let expected = expected(Vec3::from_slice(corner));
        assert!(place.distance(expected) < 1e-5, "{place} is not {expected}");
    }
}

fn assert_warns(asset: &CharacterAsset, parts: &[&str]) {
    let found = asset.warnings.iter().any(|warning| parts.iter().all(|part| warning.0.contains(part)));
    assert!(found, "no warning with {parts:?} in {:?}", asset.warnings);
}

#[test]
fn a_skin_ignores_its_nodes_transform() {
    let (root, tip) = (json!({ "translation": [0, 1, 0] }), json!({ "translation": [0, 1, 0] }));
    let binds = [Mat4::from_translation(-Vec3::Y), Mat4::from_translation(-2.0 * Vec3::Y)];
    let asset = skinned_tetrahedron([root.clone(), tip.clone()], Some(binds)).import_sound();
    assert_near(&at_rest(&asset), |corner| corner, &CORNERS);
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    // Without bind matrices the joints' own transforms carry the mesh: 0.75 × 1 + 0.25 × 2.
    let asset = skinned_tetrahedron([root, tip], None).import_sound();
    assert_near(&at_rest(&asset), |corner| corner + 1.25 * Vec3::Y, &CORNERS);
}

#[test]
fn units_scale_skinned_and_rigid_meshes_and_animations_alike() {
    let root = json!({ "translation": [0, 100, 0], "scale": [2, 2, 2] });
    let binds = [Mat4::from_translation(Vec3::new(0.0, -30.0, 4.0)), Mat4::from_scale(Vec3::splat(0.5))];
    let mut builder = skinned_tetrahedron([root, json!({ "translation": [5, 50, 0], "mesh": 0 })], Some(binds));
    let times = builder.floats("SCALAR", 1, &[0.0, 1.0]);
    let places = builder.floats("VEC3", 3, &[0.0, 0.0, 0.0, 10.0, 20.0, 30.0]);
    let channel = |node: usize| json!({ "sampler": 0, "target": { "node": node, "path": "translation" } });
    let sampler = json!({ "input": times, "output": places });
    builder.push("animations", json!({ "channels": [channel(1), channel(2)], "samplers": [sampler] }));
    let load = |meters_per_unit| {
        let options = ImportOptions { meters_per_unit, ..Default::default() };
        CharacterAsset::from_slice("built", &builder.bytes(), None, &options).unwrap()
    };
    let (units, metres) = (load(1.0), load(0.01));
    for time in [None, Some(0.3), Some(1.0)] {
        let places = |asset: &CharacterAsset| {
            let mut pose = asset.skeleton.rest_pose();
            if let Some(time) = time {
                asset.animations[0].sample(time, &mut pose);
            }
            skinned(asset, &pose)
        };
        for (unit, metre) in places(&units).iter().zip(places(&metres)) {
            assert!((*unit * 0.01).distance(metre) < 1e-5, "{unit} units are not {metre} m");
        }
    }
    assert_warns(&units, &["tall", "meters_per_unit"]);
    assert!(metres.warnings.iter().all(|warning| !warning.0.contains("meters_per_unit")));
    let zero = ImportOptions { meters_per_unit: 0.0, ..Default::default() };
    let refused = CharacterAsset::from_slice("built", &builder.bytes(), None, &zero);
    assert!(matches!(refused, Err(ImportError::MetersPerUnit(_))));
}

#[test]
fn mirrored_characters_keep_their_outside_out() {
    for scale in [[1, 1, 1], [-1, 1, 1], [1, -2, 1], [-1, -1, 1], [-1, -1, -3]] {
        let mut rigid = tetrahedron();
        rigid.push("nodes", json!({ "mesh": 0, "scale": scale }));
        let skinned = skinned_tetrahedron([json!({ "scale": scale }), json!({})], None);
        for asset in [rigid.import_sound(), skinned.import_sound()] {
            let places = at_rest(&asset);
            assert!(volume(&places, &asset.mesh.triangles) > 0.1, "scale {scale:?} is inside out");
            let normal_matrix = palette(&asset, &asset.skeleton.rest_pose())[0].matrix3.inverse().transpose();
            let centre: Vec3 = places.iter().sum::<Vec3>() / 4.0;
            for (place, normal) in places.iter().zip(&asset.mesh.normals) {
                assert!(
                    (normal_matrix * *normal).dot(*place - centre) > 0.0,
                    "scale {scale:?}: a normal points inwards"
                );
            }
        }
    }
}

#[test]
fn strips_fans_and_plain_vertices_make_the_same_square() {
    let corner = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    for (mode, order) in [(4, &[0, 1, 2, 0, 2, 3][..]), (5, &[0, 1, 3, 2]), (6, &[0, 1, 2, 3])] {
        for indexed in [false, true] {
            let mut builder = Builder::new();
            let values: Vec<f32> =
                if indexed { corner.concat() } else { order.iter().flat_map(|&at: &usize| corner[at]).collect() };
            let positions = builder.floats("VEC3", 3, &values);
            let mut primitive = json!({ "attributes": { "POSITION": positions }, "mode": mode });
            if indexed {
                let bytes: Vec<u8> = order.iter().flat_map(|&at| (at as u16).to_le_bytes()).collect();
                primitive["indices"] = json!(builder.accessor(&bytes, 5123, "SCALAR", order.len()));
            }
            builder.push("meshes", json!({ "primitives": [primitive] }));
            builder.push("nodes", json!({ "mesh": 0 }));
            let asset = builder.import_sound();
            let place = |vertex: u32| asset.mesh.positions[vertex as usize];
            let areas: Vec<Vec3> = (asset.mesh.triangles.iter())
                .map(|&[a, b, c]| (place(b) - place(a)).cross(place(c) - place(a)) / 2.0)
                .collect();
            assert_eq!(areas, vec![Vec3::new(0.0, 0.0, 0.5); 2], "mode {mode}, indexed {indexed}");
            assert!(asset.mesh.normals.iter().all(|normal| *normal == Vec3::Z));
        }
    }
}

#[test]
fn eight_influences_of_normalised_bytes_sum_to_one() {
    let mut builder = skinned_tetrahedron([json!({}), json!({})], None);
    for _ in 0..6 {
        let node = builder.push("nodes", json!({}));
        builder.json["skins"][0]["joints"].as_array_mut().unwrap().push(json!(node));
    }
    let slots: Vec<u8> = (0..4u16).flat_map(|_| (4..8u16).flat_map(u16::to_le_bytes)).collect();
    let first = builder.accessor(&[0, 1, 2, 3].repeat(4), 5121, "VEC4", 4);
    let second = builder.accessor(&slots, 5123, "VEC4", 4);
    let bytes = builder.accessor(&[10, 20, 30, 40].repeat(4), 5121, "VEC4", 4);
    let words: Vec<u8> = [5140u16, 7710, 10280, 2570].repeat(4).iter().flat_map(|word| word.to_le_bytes()).collect();
    let words = builder.accessor(&words, 5123, "VEC4", 4);
    for accessor in [bytes, words] {
        builder.json["accessors"][accessor]["normalized"] = json!(true);
    }
    let attributes = &mut builder.json["meshes"][0]["primitives"][0]["attributes"];
    for (name, accessor) in [("JOINTS_0", first), ("JOINTS_1", second), ("WEIGHTS_0", bytes), ("WEIGHTS_1", words)] {
        attributes[name] = json!(accessor);
    }
    let asset = builder.import_sound();
    assert_warns(&asset, &["Body", "4 of 4 vertices", "do not sum to 1"]);
    let sum = 10.0 + 20.0 + 30.0 + 40.0 + 20.0 + 30.0 + 40.0 + 10.0;
    for (joints, weights) in asset.mesh.influence_joints.iter().zip(&asset.mesh.influence_weights) {
        assert_eq!(*joints, [0, 1, 2, 3, 4, 5, 6, 7]);
        for (weight, share) in weights.iter().zip([10.0, 20.0, 30.0, 40.0, 20.0, 30.0, 40.0, 10.0]) {
            assert!((weight - share / sum).abs() < 1e-6);
        }
    }
}

#[test]
fn skins_share_palette_entries_only_with_equal_bind_matrices() {
    let binds = [Mat4::from_translation(Vec3::X), Mat4::IDENTITY];
    let mut builder = skinned_tetrahedron([json!({}), json!({})], Some(binds));
    builder.push("skins", json!({ "joints": [1, 2] }));
    let node = builder.push("nodes", json!({ "mesh": 0, "skin": 1 }));
    builder.json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(node));
    let asset = builder.import_sound();
    // Joint 2 is bound by the identity in both skins.
    assert_eq!(asset.palette.len(), 3);
    assert_eq!(asset.mesh.positions.len(), 8);
    let places = at_rest(&asset);
    assert_near(&places[..4], |corner| corner + 0.75 * Vec3::X, &CORNERS);
    assert_near(&places[4..], |corner| corner, &CORNERS);
}

#[test]
fn sparse_values_replace_those_below() {
    let mut builder = tetrahedron();
    let at = builder.view(&3u16.to_le_bytes());
    let to: Vec<u8> = [0.0f32, 0.0, 9.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let to = builder.view(&to);
    builder.json["accessors"][0]["sparse"] = json!({
        "count": 1, "indices": { "bufferView": at, "componentType": 5123 }, "values": { "bufferView": to }
    });
    builder.push("nodes", json!({ "mesh": 0 }));
    let expected = |corner: Vec3| if corner.z > 0.0 { Vec3::Z * 9.0 } else { corner };
    assert_near(&builder.import_sound().mesh.positions, expected, &CORNERS);
    // Without a base the others are zero.
    builder.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    let asset = builder.import_sound();
    assert_eq!(asset.mesh.positions, [Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::Z * 9.0]);
    builder.json["accessors"][0]["sparse"]["count"] = json!(2);
    assert!(builder.import().unwrap_err().to_string().contains("accessor 0"));
}

#[test]
fn morph_targets_stand_at_default_weights() {
    let mut builder = tetrahedron();
    let deltas = builder.floats("VEC3", 3, &[0.0, 2.0, 0.0].repeat(4));
    builder.json["meshes"][0]["primitives"][0]["targets"] = json!([{ "POSITION": deltas }]);
    builder.push("nodes", json!({ "mesh": 0 }));
    assert_near(&builder.import_sound().mesh.positions, |corner| corner, &CORNERS);
    builder.json["meshes"][0]["weights"] = json!([0.5]);
    assert_near(&builder.import_sound().mesh.positions, |corner| corner + Vec3::Y, &CORNERS);
    builder.json["nodes"][0]["weights"] = json!([0.25]);
    assert_near(&builder.import_sound().mesh.positions, |corner| corner + 0.5 * Vec3::Y, &CORNERS);
}

#[test]
fn matrices_become_their_parts() {
    let mut random = Random(7);
    for case in 0..500 {
        let scale = Vec3::from_array(std::array::from_fn(|_| random.signed() * 3.0));
        // One case in eight flattens an axis.
        let scale = if case % 8 == 0 { scale * Vec3::new(1.0, 0.0, 1.0) } else { scale };
        let rotation = Quat::from_array(std::array::from_fn(|_| random.signed())).normalize();
        let translation = Vec3::from_array(std::array::from_fn(|_| random.signed() * 10.0));
        let matrix = Mat4::from_scale_rotation_translation(scale, rotation, translation);
        let mut builder = tetrahedron();
        builder.push("nodes", json!({ "mesh": 0, "matrix": matrix.to_cols_array() }));
        let asset = builder.import_sound();
        assert_near(&at_rest(&asset), |corner| matrix.transform_point3(corner), &CORNERS);
        assert!(asset.warnings.iter().all(|warning| !warning.0.contains("shear")), "{:?}", asset.warnings);
    }
    let mut builder = tetrahedron();
    builder.push(
        "nodes",
        json!({ "name": "Leaning", "mesh": 0, "matrix": [1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] }),
    );
    assert_warns(&builder.import_sound(), &["Leaning", "shears"]);
}

#[test]
fn materials_and_vertex_colours_colour_triangles() {
    let mut builder = tetrahedron();
    let colors = builder.floats("VEC3", 3, &[1.0, 0.5, 0.0].repeat(4));
    builder.push("materials", json!({ "pbrMetallicRoughness": { "baseColorFactor": [0.5, 1, 1, 0.25] } }));
    builder.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    builder.push("nodes", json!({ "mesh": 0 }));
    assert_eq!(builder.import_sound().mesh.triangle_colors, vec![[0.5, 1.0, 1.0, 0.25]; 4]);
    builder.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(colors);
    assert_eq!(builder.import_sound().mesh.triangle_colors, vec![[0.5, 0.5, 0.0, 0.25]; 4]);
}

fn track(interpolation: Interpolation, values: TrackValues) -> Animation {
    let track = Track { joint: 0, interpolation, times: vec![1.0, 3.0], values };
    Animation { name: "test".into(), duration: 3.0, tracks: vec![track] }
}

fn sampled(animation: &Animation, time: f32) -> LocalTransform {
    let mut pose = [LocalTransform::IDENTITY];
    animation.sample(time, &mut pose);
    pose[0]
}

#[test]
fn sampling_follows_the_specification() {
    let ends = vec![Vec3::ZERO, Vec3::new(4.0, 0.0, 0.0)];
    let linear = track(Interpolation::Linear, TrackValues::Translation(ends.clone()));
    let step = track(Interpolation::Step, TrackValues::Scale(ends.clone()));
    for (time, at, stepped) in [(-5.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.5, 1.0, 0.0), (3.0, 4.0, 4.0), (9.0, 4.0, 4.0)] {
        assert_eq!(sampled(&linear, time).translation, Vec3::X * at);
        assert_eq!(sampled(&step, time).scale, Vec3::X * stepped);
    }
    assert_eq!(linear.looped(7.5), 1.5);
    // A cubic through its own tangents is that cubic: x = u³ with u from 0 to 2, tangents 3u².
    let tangent = |u: f32| Vec3::X * 3.0 * u * u;
    let values = vec![tangent(0.0), Vec3::ZERO, tangent(0.0), tangent(2.0), Vec3::X * 8.0, tangent(2.0)];
    let cubic = track(Interpolation::CubicSpline, TrackValues::Translation(values));
    for u in [0.0f32, 0.3, 1.0, 1.7, 2.0] {
        assert!((sampled(&cubic, 1.0 + u).translation.x - u.powi(3)).abs() < 1e-5);
    }
    // The shorter way round, at constant speed, and for hardly any angle too.
    for step in 0..400 {
        let angle = if step == 0 { 1e-4 } else { step as f32 * std::f32::consts::PI / 401.0 };
        let ends = vec![Quat::IDENTITY, -Quat::from_rotation_y(angle)];
        let turn = track(Interpolation::Linear, TrackValues::Rotation(ends));
        for fraction in [0.1, 0.25, 0.5, 0.9] {
            let (found, expected) =
                (sampled(&turn, 1.0 + 2.0 * fraction).rotation, Quat::from_rotation_y(angle * fraction));
            let error = (found - expected).length();
            assert!(error < 1e-6, "turn by {angle}: off by {error:e}");
        }
    }
}

#[test]
fn unsound_animations_are_left_out_by_name() {
    let build = |times: &[f32], path: &str, kind: &str, width: usize, values: &[f32]| {
        let mut builder = tetrahedron();
        builder.push("nodes", json!({ "mesh": 0 }));
        let input = builder.floats("SCALAR", 1, times);
        let output = builder.floats(kind, width, values);
        let channel = json!({ "sampler": 0, "target": { "node": 0, "path": path } });
        let sampler = json!({ "input": input, "output": output });
        builder.push("animations", json!({ "name": "Walk", "channels": [channel], "samplers": [sampler] }));
        builder.import_sound()
    };
    for (times, values) in
        [(&[0.0, f32::NAN][..], &[0.0; 6][..]), (&[0.0, 1.0], &[f32::INFINITY; 6]), (&[0.0, 1.0], &[0.0; 3])]
    {
        let asset = build(times, "translation", "VEC3", 3, values);
        assert_warns(&asset, &["Walk", "channel 0", "left out"]);
        assert!(asset.animation("Walk").unwrap().tracks.is_empty());
    }
    assert_warns(&build(&[0.0], "rotation", "VEC4", 4, &[0.0; 4]), &["Walk", "length 0"]);
    let asset = build(&[0.0, 1.0, 1.0, 0.5, 2.0], "scale", "VEC3", 3, &[1.0; 15]);
    assert_warns(&asset, &["Walk", "2 of 5 key times do not rise"]);
    assert_eq!(asset.animations[0].tracks[0].times, [0.0, 1.0, 2.0]);
}

#[test]
fn defects_are_named() {
    let rigid = || {
        let mut builder = tetrahedron();
        builder.push("nodes", json!({ "name": "Hips", "mesh": 0 }));
        builder
    };
    let skinned = || skinned_tetrahedron([json!({ "name": "Hips" }), json!({})], None);
    type Break = fn(&mut Value);
    let fatal: [(Builder, Break, &[&str]); 13] = [
        (rigid(), |file| file["nodes"][0]["children"] = json!([0]), &["Hips", "ancestor"]),
        (rigid(), |file| file["nodes"][0]["children"] = json!([5]), &["Hips", "child node 5"]),
        (skinned(), |file| file["nodes"][0]["children"] = json!([2]), &["node 2", "both node 0 and node 1"]),
        (rigid(), |file| file["nodes"][0]["mesh"] = json!(4), &["Hips", "mesh 4"]),
        (skinned(), |file| file["nodes"][0]["skin"] = json!(4), &["skin 4"]),
        (skinned(), |file| file["skins"][0]["joints"] = json!([1, 9]), &["Rig", "joint node 9"]),
        (rigid(), |file| file["nodes"][0]["scale"] = json!([1e39, 1, 1]), &["Hips", "not finite"]),
        (rigid(), |file| file["accessors"][0]["count"] = json!(5), &["Body", "POSITION", "do not fit"]),
        (rigid(), |file| file["accessors"][0]["byteOffset"] = json!(u64::MAX), &["POSITION", "do not fit"]),
        (rigid(), |file| file["bufferViews"][0]["byteStride"] = json!(0), &["POSITION", "every 0"]),
        (rigid(), |file| file["accessors"][0]["type"] = json!("VEC2"), &["POSITION", "Vec2"]),
        (rigid(), |file| file["asset"]["version"] = json!("1.0"), &["glTF 1.0"]),
        (skinned(), |file| file["accessors"][2]["count"] = json!(3), &["JOINTS_0", "3 elements for 4 vertices"]),
    ];
    for (mut builder, damage, parts) in fatal {
        damage(&mut builder.json);
        let error = builder.import().unwrap_err().to_string();
        assert!(error.starts_with("built: ") && parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let mendable: [(Builder, Break, &[&str]); 7] = [
        (rigid(), |_| {}, &["nothing is skinned"]),
        (rigid(), |file| file["scene"] = json!(3), &["default scene 3"]),
        (rigid(), |file| file["meshes"][0]["primitives"][0]["material"] = json!(3), &["Body", "material 3"]),
        (rigid(), |file| file["meshes"][0]["primitives"][0]["mode"] = json!(1), &["Body", "Lines"]),
        (rigid(), |file| file["nodes"][0]["rotation"] = json!([0, 0, 0, 2]), &["Hips", "length 2"]),
        (rigid(), |file| file["accessors"][0]["count"] = json!(3), &["Body", "3 of 4 triangles", "beyond its 3"]),
        (skinned(), |file| file["skins"][0]["joints"] = json!([1]), &["4 of 4 vertices", "the skin lacks"]),
    ];
    for (mut builder, damage, parts) in mendable {
        damage(&mut builder.json);
        assert_warns(&builder.import_sound(), parts);
    }
}

#[test]
fn required_extensions_are_named_with_a_way_out() {
    for (extension, way_out) in [
        ("KHR_draco_mesh_compression", "Blender"),
        ("EXT_meshopt_compression", "gltfpack"),
        ("KHR_mesh_quantization", "-noq"),
        ("ACME_unheard_of", "export"),
    ] {
        let mut builder = tetrahedron();
        builder.json["extensionsRequired"] = json!([extension]);
        let error = builder.import().unwrap_err();
        assert!(matches!(&error, ImportError::RequiredExtension { extension: named, .. } if named == extension));
        assert!(error.to_string().contains(way_out), "{error}");
    }
    let mut builder = tetrahedron();
    builder.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
    assert!(builder.import().is_ok(), "what only changes looks is no obstacle");
}

#[test]
fn buffers_come_from_data_uris_and_files_below() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("import");
    std::fs::create_dir_all(folder.join("sub dir")).unwrap();
    let mut builder = tetrahedron();
    builder.push("nodes", json!({ "mesh": 0 }));
    std::fs::write(folder.join("sub dir/ä.bin"), &builder.binary).unwrap();
    std::fs::write(folder.parent().unwrap().join("outside.bin"), &builder.binary).unwrap();
    let import = |uri: &str, base_dir| {
        let mut json = builder.json.clone();
        json["buffers"] = json!([{ "byteLength": builder.binary.len(), "uri": uri }]);
        CharacterAsset::from_slice("built", &serde_json::to_vec(&json).unwrap(), base_dir, &ImportOptions::default())
    };
    let base64 = base64_of(&builder.binary);
    let sound = [
        format!("data:application/octet-stream;base64,{base64}"),
        format!("data:;base64,{}", base64.trim_end_matches('=')),
        "sub%20dir/%C3%A4.bin".into(),
        "sub dir/../sub dir/./ä.bin".into(),
    ];
    for uri in &sound {
        let asset = import(uri, Some(folder.as_path())).unwrap_or_else(|error| panic!("{error}"));
        assert_near(&asset.mesh.positions, |corner| corner, &CORNERS);
    }
    let refused = [
        "../outside.bin",
        "sub dir/../../outside.bin",
        "%2e%2e/outside.bin",
        "..\\outside.bin",
        "/etc/passwd",
        "C:\\x.bin",
        "file:///etc/passwd",
        "http://example.org/x.bin",
        "",
        "data:;base64",
        "data:;base64,!!!",
        "%zz",
        "%ff",
    ];
    for uri in refused {
        let result = import(uri, Some(folder.as_path()));
        assert!(matches!(result, Err(ImportError::Uri { .. })), "{uri:?} gave {result:?}");
    }
    assert!(matches!(import("missing.bin", Some(folder.as_path())), Err(ImportError::Io { .. })));
    assert!(matches!(import("sub dir", Some(folder.as_path())), Err(ImportError::Uri { .. } | ImportError::Io { .. })));
    assert!(matches!(import("sub%20dir/%C3%A4.bin", None), Err(ImportError::Uri { .. })));
}

fn base64_of(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |chunk: &[u8]| {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        let letter = |at: usize| char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]);
        (0..4).map(|at| if at <= chunk.len() { letter(at) } else { '=' }).collect::<String>()
    };
    bytes.chunks(3).map(encode).collect()
}

/// A few bytes of JSON must not ask for memory or time without end.
#[test]
fn small_files_cannot_ask_for_much() {
    let mut zeros = Builder::new();
    zeros.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 4_000_000_000u32 }));
    zeros.push("meshes", json!({ "primitives": [{ "attributes": { "POSITION": 0 } }] }));
    zeros.push("nodes", json!({ "mesh": 0 }));
    assert!(matches!(zeros.import(), Err(ImportError::Budget { .. })));

    let mut keys = tetrahedron();
    keys.push("nodes", json!({ "mesh": 0 }));
    let input = keys.push("accessors", json!({ "componentType": 5126, "type": "SCALAR", "count": 4_000_000_000u32 }));
    let output = keys.push("accessors", json!({ "componentType": 5126, "type": "VEC3", "count": 4_000_000_000u32 }));
    let channel = json!({ "sampler": 0, "target": { "node": 0, "path": "scale" } });
    keys.push("animations", json!({ "channels": [channel], "samplers": [{ "input": input, "output": output }] }));
    assert!(matches!(keys.import(), Err(ImportError::Budget { .. })));

    // One long accessor in many primitives on many nodes.
    let mut copies = Builder::new();
    let positions = copies.floats("VEC3", 3, &CORNERS.repeat(300));
    let primitive = json!({ "attributes": { "POSITION": positions } });
    copies.push("meshes", json!({ "primitives": vec![primitive; 1000] }));
    for _ in 0..1000 {
        copies.push("nodes", json!({ "mesh": 0 }));
    }
    copies.json["scenes"] = json!([{ "nodes": (0..1000).collect::<Vec<_>>() }]);
    assert!(matches!(copies.import(), Err(ImportError::Budget { .. })));

    let mut deep = tetrahedron();
    for node in 0..20_000 {
        deep.push("nodes", json!({ "children": [node + 1] }));
    }
    deep.push("nodes", json!({ "mesh": 0 }));
    assert_eq!(deep.import_sound().skeleton.joints.len(), 20_001);

    let nested = [b"{\"asset\":".repeat(100_000), b"1".to_vec()].concat();
    let nested = CharacterAsset::from_slice("nested", &nested, None, &ImportOptions::default());
    assert!(matches!(nested, Err(ImportError::Json { .. })));
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform in −1…1.
    fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[test]
fn damaged_bytes_never_panic() {
    let mut builder = skinned_tetrahedron([json!({ "name": "Hips" }), json!({ "mesh": 0 })], Some([Mat4::IDENTITY; 2]));
    let times = builder.floats("SCALAR", 1, &[0.0, 1.0]);
    let turns = builder.floats("VEC4", 4, &[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    let channel = json!({ "sampler": 0, "target": { "node": 1, "path": "rotation" } });
    builder.push("animations", json!({ "channels": [channel], "samplers": [{ "input": times, "output": turns }] }));
    let bytes = builder.bytes();
    let import = |bytes: &[u8]| CharacterAsset::from_slice("damaged", bytes, None, &ImportOptions::default());
    assert!(import(&bytes).is_ok());
    for length in 0..bytes.len() {
        // The last bytes are the binary chunk's; losing any of them cuts it.
        assert!(import(&bytes[..length]).is_err(), "{length} of {} bytes were enough", bytes.len());
    }
    let mut random = Random(11);
    let (mut errors, runs) = (0, 20_000);
    for _ in 0..runs {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.next() % 4 {
            let at = random.next() as usize % damaged.len();
            damaged[at] = random.next() as u8;
        }
        match import(&damaged) {
            Ok(asset) => {
                let finite = |place: &Vec3| place.is_finite();
                assert!(at_rest(&asset).iter().all(finite), "not finite: {:?}", asset.warnings);
            }
            Err(_) => errors += 1,
        }
    }
    println!("{runs} damaged files: {errors} errors, {} imports", runs - errors);
    assert!(errors > 0 && errors < runs);
}
