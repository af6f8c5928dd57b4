//! glTF import on damaged files built here: no defect gets through unnamed, none brings the importer down.
#![cfg(feature = "gltf")]

#[path = "import_support/builder.rs"]
mod builder;

use builder::*;
use glam::{Mat4, Vec3};
use serde_json::{Value, json};
use sinew::character::{CharacterAsset, ImportError, ImportOptions};

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
        "/absolute.bin",
        "C:\\x.bin",
        "file:///absolute.bin",
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
