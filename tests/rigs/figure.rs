//! A human figure of tubes, 1.75 m high, with its arms out, skinned to whatever rig is given.

use std::f32::consts::TAU;

use glam::{Mat4, Vec3};
use serde_json::json;

use crate::builder::Builder;

/// A joint: its name, its parent's, its place in model space (m).
pub type Bone = (String, Option<String>, Vec3);

/// A tube of skin: from, to, radius (m), and along it the joints that pull, each with where it pulls alone (0 to 1).
pub struct Tube {
    pub ends: [Vec3; 2],
    pub radius: f32,
    pub pulls: Vec<(String, f32)>,
}

/// Rings of a tube, and vertices of a ring.
const RINGS: usize = 24;
const AROUND: usize = 16;

/// Places of a figure; x is its left.
pub struct Places {
    pub hips: Vec3,
    pub spine: Vec3,
    pub chest: Vec3,
    pub neck: Vec3,
    pub head: Vec3,
    pub crown: Vec3,
    pub collar: Vec3,
    pub shoulder: Vec3,
    pub elbow: Vec3,
    pub wrist: Vec3,
    pub fingers: Vec3,
    pub hip: Vec3,
    pub knee: Vec3,
    pub ankle: Vec3,
    pub ball: Vec3,
    pub toe: Vec3,
}

/// The places of one side; -1 is its right.
pub fn places(side: f32) -> Places {
    let at = |x: f32, y: f32, z: f32| Vec3::new(side * x, y, z);
    Places {
        hips: at(0.0, 0.96, 0.0),
        spine: at(0.0, 1.12, 0.0),
        chest: at(0.0, 1.3, 0.0),
        neck: at(0.0, 1.48, 0.0),
        head: at(0.0, 1.55, 0.0),
        crown: at(0.0, 1.75, 0.0),
        collar: at(0.04, 1.42, 0.0),
        shoulder: at(0.18, 1.42, 0.0),
        elbow: at(0.44, 1.42, 0.0),
        wrist: at(0.68, 1.42, 0.0),
        fingers: at(0.8, 1.42, 0.0),
        hip: at(0.1, 0.92, 0.0),
        knee: at(0.1, 0.5, 0.0),
        ankle: at(0.1, 0.09, 0.0),
        ball: at(0.1, 0.04, 0.13),
        toe: at(0.1, 0.04, 0.2),
    }
}

/// The figure as a file: nodes by their names in the order given, parents first, and one skinned mesh of all tubes.
/// `scale` is the topmost node's, as of a rig in centimetres.
pub fn file(bones: &[Bone], tubes: &[Tube], scale: f32) -> Builder {
    let mut builder = Builder::new();
    let index = |name: &str| bones.iter().position(|(own, _, _)| own == name).unwrap_or_else(|| panic!("no {name}"));
    for (name, parent, place) in bones {
        let from = parent.as_ref().map_or(Vec3::ZERO, |parent| bones[index(parent)].2);
        let mut node = json!({ "name": name });
        if parent.is_none() {
            node["scale"] = json!([scale, scale, scale]);
            node["translation"] = json!(place.to_array());
        } else {
            node["translation"] = json!(((*place - from) / scale).to_array());
        }
        let children: Vec<usize> =
            (0..bones.len()).filter(|&child| bones[child].1.as_deref() == Some(name.as_str())).collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        builder.push("nodes", node);
    }
    let (mut places, mut indices) = (Vec::new(), Vec::new());
    let (mut slots, mut weights) = (Vec::new(), Vec::new());
    for tube in tubes {
        let pulls: Vec<(usize, f32)> = tube.pulls.iter().map(|(name, at)| (index(name), *at)).collect();
        add(tube, &pulls, [&mut places, &mut weights], &mut indices, &mut slots);
    }
    let count = places.len() / 3;
    let attributes = json!({
        "POSITION": builder.floats("VEC3", 3, &places),
        "JOINTS_0": builder.accessor(&slots.iter().flat_map(|slot: &u16| slot.to_le_bytes()).collect::<Vec<u8>>(), 5123, "VEC4", count),
        "WEIGHTS_0": builder.floats("VEC4", 4, &weights),
    });
    let bytes: Vec<u8> = indices.iter().flat_map(|index: &u32| index.to_le_bytes()).collect();
    let corners = builder.accessor(&bytes, 5125, "SCALAR", indices.len());
    builder.push("meshes", json!({ "primitives": [{ "attributes": attributes, "indices": corners }] }));
    let binds: Vec<f32> = bones
        .iter()
        .flat_map(|(_, _, place)| {
            let model = Mat4::from_translation(*place) * Mat4::from_scale(Vec3::splat(scale));
            model.inverse().to_cols_array()
        })
        .collect();
    let binds = builder.floats("MAT4", 16, &binds);
    let joints: Vec<usize> = (0..bones.len()).collect();
    builder.push("skins", json!({ "joints": joints, "inverseBindMatrices": binds }));
    let body = builder.push("nodes", json!({ "name": "Body", "mesh": 0, "skin": 0 }));
    let mut roots: Vec<usize> = (0..bones.len()).filter(|&bone| bones[bone].1.is_none()).collect();
    roots.push(body);
    builder.json["scenes"] = json!([{ "nodes": roots }]);
    builder
}

fn add(
    tube: &Tube,
    pulls: &[(usize, f32)],
    [places, weights]: [&mut Vec<f32>; 2],
    indices: &mut Vec<u32>,
    slots: &mut Vec<u16>,
) {
    let [from, to] = tube.ends;
    let axis = (to - from).normalize();
    let across = axis.any_orthonormal_vector();
    let first = (places.len() / 3) as u32;
    for ring in 0..=RINGS {
        let along = ring as f32 / RINGS as f32;
        let after = pulls.partition_point(|(_, at)| *at <= along);
        let (a, b) = (pulls[after.saturating_sub(1)], pulls[after.min(pulls.len() - 1)]);
        let share = if b.1 > a.1 { ((along - a.1) / (b.1 - a.1)).clamp(0.0, 1.0) } else { 0.0 };
        for k in 0..AROUND {
            let angle = TAU * k as f32 / AROUND as f32;
            // Rounded ends.
            let round = (1.0 - (2.0 * along - 1.0).powi(20)).sqrt().max(0.2);
            let out = (across * angle.cos() + axis.cross(across) * angle.sin()) * (tube.radius * round);
            places.extend((from.lerp(to, along) + out).to_array());
            slots.extend([a.0 as u16, b.0 as u16, 0, 0]);
            let same = a.0 == b.0;
            weights.extend([if same { 1.0 } else { 1.0 - share }, if same { 0.0 } else { share }, 0.0, 0.0]);
        }
    }
    let at = |ring: usize, k: usize| first + (ring * AROUND + k % AROUND) as u32;
    for ring in 0..RINGS {
        for k in 0..AROUND {
            indices.extend([at(ring, k), at(ring, k + 1), at(ring + 1, k)]);
            indices.extend([at(ring, k + 1), at(ring + 1, k + 1), at(ring + 1, k)]);
        }
    }
    for k in 1..AROUND - 1 {
        indices.extend([at(0, 0), at(0, k + 1), at(0, k)]);
        indices.extend([at(RINGS, 0), at(RINGS, k), at(RINGS, k + 1)]);
    }
}
