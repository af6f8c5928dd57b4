//! Small glTF files built in memory, and what imports of them are asked.

use glam::{Affine3A, Mat4, Vec3};
use serde_json::{Value, json};
use sinew::character::{CharacterAsset, ImportError, ImportOptions, LocalTransform};

/// A glTF under construction: JSON and the binary chunk.
pub struct Builder {
    pub json: Value,
    pub binary: Vec<u8>,
}

impl Builder {
    pub fn new() -> Self {
        Self {
            json: json!({
                "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
                "nodes": [], "meshes": [], "accessors": [], "bufferViews": []
            }),
            binary: Vec::new(),
        }
    }

    pub fn push(&mut self, list: &str, item: Value) -> usize {
        let list = self.json.as_object_mut().unwrap().entry(list).or_insert(json!([])).as_array_mut().unwrap();
        list.push(item);
        list.len() - 1
    }

    pub fn view(&mut self, bytes: &[u8]) -> usize {
        while !self.binary.len().is_multiple_of(4) {
            self.binary.push(0);
        }
        let at = self.binary.len();
        self.binary.extend(bytes);
        self.push("bufferViews", json!({ "buffer": 0, "byteOffset": at, "byteLength": bytes.len() }))
    }

    pub fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        self.push("accessors", json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }))
    }

    pub fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.accessor(&bytes, 5126, kind, values.len() / width)
    }

    pub fn bytes(&self) -> Vec<u8> {
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

    pub fn import(&self) -> Result<CharacterAsset, ImportError> {
        CharacterAsset::from_slice("built", &self.bytes(), None, &ImportOptions::default())
    }

    pub fn import_sound(&self) -> CharacterAsset {
        self.import().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Corners of a unit tetrahedron, faces counter-clockwise from outside.
pub const CORNERS: [f32; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
pub const FACES: [u8; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];

/// A tetrahedron mesh of one primitive; its node is for the caller to add.
pub fn tetrahedron() -> Builder {
    let mut builder = Builder::new();
    let positions = builder.floats("VEC3", 3, &CORNERS);
    let indices = builder.accessor(&FACES, 5121, "SCALAR", 12);
    let primitive = json!({ "attributes": { "POSITION": positions }, "indices": indices });
    builder.push("meshes", json!({ "name": "Body", "primitives": [primitive] }));
    builder
}

/// A tetrahedron skinned to two joints: nodes 0 (mesh), 1 and its child 2 (joints), bind matrices as given.
pub fn skinned_tetrahedron(joints: [Value; 2], binds: Option<[Mat4; 2]>) -> Builder {
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

pub fn palette(asset: &CharacterAsset, pose: &[LocalTransform]) -> Vec<Affine3A> {
    let (mut model, mut palette) = (Vec::new(), Vec::new());
    asset.skeleton.model_matrices(pose, &mut model);
    asset.palette_matrices(&model, &mut palette);
    palette
}

pub fn skinned(asset: &CharacterAsset, pose: &[LocalTransform]) -> Vec<Vec3> {
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

pub fn at_rest(asset: &CharacterAsset) -> Vec<Vec3> {
    skinned(asset, &asset.skeleton.rest_pose())
}

pub fn assert_near(places: &[Vec3], expected: impl Fn(Vec3) -> Vec3, corners: &[f32]) {
    assert_eq!(places.len(), corners.len() / 3);
    for (place, corner) in places.iter().zip(corners.chunks_exact(3)) {
        let expected = expected(Vec3::from_slice(corner));
        assert!(place.distance(expected) < 1e-5, "{place} is not {expected}");
    }
}

pub fn assert_warns(asset: &CharacterAsset, parts: &[&str]) {
    let found = asset.warnings.iter().any(|warning| parts.iter().all(|part| warning.0.contains(part)));
    assert!(found, "no warning with {parts:?} in {:?}", asset.warnings);
}

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}
