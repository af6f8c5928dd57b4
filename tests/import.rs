//! glTF import on files built here: what each feature means.
#![cfg(feature = "gltf")]

#[path = "import_support/builder.rs"]
mod builder;

use builder::*;
use glam::{Mat4, Quat, Vec3, Vec4};
use serde_json::json;
use sinew::character::{
    Animation, CharacterAsset, ImportError, ImportOptions, Interpolation, LocalTransform, Track, TrackValues,
};

/// Positive where triangles are counter-clockwise from outside.
fn volume(places: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let corner = |vertex: u32| places[vertex as usize];
    triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
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

/// Uniform in −1…1.
fn signed(random: &mut Random) -> f32 {
    (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
}

#[test]
fn matrices_become_their_parts() {
    let mut random = Random(7);
    for case in 0..500 {
        let scale = Vec3::from_array(std::array::from_fn(|_| signed(&mut random) * 3.0));
        // One case in eight flattens an axis.
        let scale = if case % 8 == 0 { scale * Vec3::new(1.0, 0.0, 1.0) } else { scale };
        let rotation = Quat::from_array(std::array::from_fn(|_| signed(&mut random))).normalize();
        let translation = Vec3::from_array(std::array::from_fn(|_| signed(&mut random) * 10.0));
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
fn tangents_are_unit_vectors_with_a_side() {
    let (root, tip) = (json!({ "scale": [1, 2, -1] }), json!({ "translation": [0, 1, 0] }));
    let mut builder = skinned_tetrahedron([root, tip], Some([Mat4::IDENTITY, Mat4::from_translation(-Vec3::Y)]));
    let given = [[0.0, 2.0, 0.0, 1.0], [0.6, 0.8, 0.0, -1.0], [0.0, 0.0, 0.0, 1.0], [f32::NAN, 0.0, 0.0, -1.0]];
    let tangents = builder.floats("VEC4", 4, given.as_flattened());
    builder.json["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(tangents);
    // One without.
    builder.push("nodes", json!({ "mesh": 1 }));
    let mut plain = builder.json["meshes"][0].clone();
    plain["primitives"][0]["attributes"] = json!({ "POSITION": plain["primitives"][0]["attributes"]["POSITION"] });
    builder.push("meshes", plain);
    builder.json["scenes"] = json!([{ "nodes": [3, 0, 1] }]);

    let asset = builder.import_sound();
    let expected = [Vec4::new(0.0, 1.0, 0.0, 1.0), Vec4::new(0.6, 0.8, 0.0, -1.0)];
    assert_eq!(asset.mesh.positions.len(), 8);
    assert_eq!((&asset.mesh.tangents[..2], &asset.mesh.tangents[2..]), (&expected[..], &[Vec4::ZERO; 6][..]));
    assert_warns(&asset, &["2 tangents", "left out"]);

    // At rest joints stretch and mirror: rest tangents are as long as that takes unit ones.
    let character = sinew::Character::from_asset(asset, &Default::default()).unwrap();
    let vertex = &character.body().skin.vertices[1];
    assert_eq!(vertex.tangent, [0.6, 0.8, 0.0, -1.0]);
    assert!(Vec3::from(vertex.rest_tangent).distance(Vec3::new(0.6, 1.6, 0.0)) < 1.0e-6, "{:?}", vertex.rest_tangent);
    assert!(character.body().skin.has_tangents());

    let bare = skinned_tetrahedron([json!({}), json!({})], None).import_sound();
    assert!(bare.mesh.tangents.is_empty());
}
