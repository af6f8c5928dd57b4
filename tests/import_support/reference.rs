//! An f64 glTF skinner of its own, written from the specification straight over the raw JSON. It trusts its
//! input: it only meets sound files.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};
use serde_json::Value;

/// A parsed file with its buffers.
pub struct Reference {
    pub json: Value,
    buffers: Vec<Vec<u8>>,
}

/// A vertex as the reference sees it: its place in mesh space and what pulls on it.
pub struct Vertex {
    pub position: DVec3,
    /// The file's normal there, with what morph targets add.
    pub normal: Option<DVec3>,
    /// The same of the tangent, with its bitangent's side.
    pub tangent: Option<(DVec3, f64)>,
    /// Node, inverse bind matrix, weight.
    pub pulls: Vec<(usize, DMat4, f64)>,
}

impl Reference {
    pub fn load(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let (json, binary) = if bytes.starts_with(b"glTF") {
            let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
            let json_end = 20 + length(12);
            let binary = if json_end + 8 < bytes.len() { bytes[json_end + 8..].to_vec() } else { Vec::new() };
            (bytes[20..json_end].to_vec(), binary)
        } else {
            (bytes, Vec::new())
        };
        let json: Value = serde_json::from_slice(&json).unwrap();
        let buffers = list(&json, "buffers")
            .iter()
            .map(|buffer| match buffer["uri"].as_str() {
                None => binary.clone(),
                Some(uri) if uri.starts_with("data:") => base64(uri.split_once(',').unwrap().1),
                Some(uri) => std::fs::read(path.parent().unwrap().join(uri.replace("%20", " "))).unwrap(),
            })
            .collect();
        Self { json, buffers }
    }

    /// All numbers of an accessor, element after element, normalised if it says so.
    fn accessor(&self, index: &Value) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][index.as_u64().unwrap() as usize];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let count = accessor["count"].as_u64().unwrap() as usize;
        let kind = accessor["componentType"].as_u64().unwrap();
        let normalized = accessor["normalized"].as_bool().unwrap_or(false);
        let mut elements = match accessor.get("bufferView") {
            Some(view) => self.elements(view, &accessor["byteOffset"], kind, width, count, normalized),
            None => vec![vec![0.0; width]; count],
        };
        if let Some(sparse) = accessor.get("sparse") {
            let changed = sparse["count"].as_u64().unwrap() as usize;
            let (indices, values) = (&sparse["indices"], &sparse["values"]);
            let index_kind = indices["componentType"].as_u64().unwrap();
            let at = self.elements(&indices["bufferView"], &indices["byteOffset"], index_kind, 1, changed, false);
            let to = self.elements(&values["bufferView"], &values["byteOffset"], kind, width, changed, normalized);
            for (at, to) in at.iter().zip(to) {
                elements[at[0] as usize] = to;
            }
        }
        elements
    }

    fn elements(
        &self,
        view: &Value,
        offset: &Value,
        kind: u64,
        width: usize,
        count: usize,
        normalized: bool,
    ) -> Vec<Vec<f64>> {
        let view = &self.json["bufferViews"][view.as_u64().unwrap() as usize];
        let bytes = &self.buffers[view["buffer"].as_u64().unwrap() as usize];
        let start = (view["byteOffset"].as_u64().unwrap_or(0) + offset.as_u64().unwrap_or(0)) as usize;
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        let stride = view["byteStride"].as_u64().map_or(size * width, |stride| stride as usize);
        let read = |at: usize| {
            let (value, most) = match kind {
                5120 => (f64::from(bytes[at] as i8), 127.0),
                5121 => (f64::from(bytes[at]), 255.0),
                5122 => (f64::from(i16::from_le_bytes([bytes[at], bytes[at + 1]])), 32767.0),
                5123 => (f64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])), 65535.0),
                5125 => (f64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())), 1.0),
                _ => (f64::from(f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())), 1.0),
            };
            if normalized { (value / most).max(-1.0) } else { value }
        };
        (0..count)
            .map(|element| (0..width).map(|part| read(start + element * stride + part * size)).collect())
            .collect()
    }

    /// Each node's local matrix at rest, or at `time` (s) of an animation.
    fn local_matrices(&self, animation: Option<(usize, f64)>) -> Vec<DMat4> {
        let mut moved: BTreeMap<(usize, String), Vec<f64>> = BTreeMap::new();
        if let Some((animation, time)) = animation {
            let animation = &self.json["animations"][animation];
            for channel in list(animation, "channels") {
                let path = channel["target"]["path"].as_str().unwrap().to_string();
                let Some(node) = channel["target"]["node"].as_u64() else { continue };
                if path != "weights" {
                    let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
                    moved.insert((node as usize, path.clone()), self.sample(sampler, &path, time));
                }
            }
        }
        list(&self.json, "nodes")
            .iter()
            .enumerate()
            .map(|(index, node)| {
                let animated = ["translation", "rotation", "scale"]
                    .iter()
                    .any(|path| moved.contains_key(&(index, path.to_string())));
                let matrix = node.get("matrix").map(numbers);
                if let (Some(m), false) = (&matrix, animated) {
                    return DMat4::from_cols_slice(m);
                }
                // An animated node with a matrix is against the specification; COLLADA2GLTF writes them with
                // channels for all three parts, so that nothing of the matrix is left.
                let rest = matrix.map(|m| DMat4::from_cols_slice(&m).to_scale_rotation_translation());
                let part = |path: &str, default: Vec<f64>| {
                    let given = node.get(path).map(numbers);
                    moved.get(&(index, path.to_string())).cloned().or(given).unwrap_or(default)
                };
                let (scale, rotation, translation) = rest.unwrap_or((DVec3::ONE, DQuat::IDENTITY, DVec3::ZERO));
                let translation = part("translation", translation.to_array().to_vec());
                let rotation = part("rotation", rotation.to_array().to_vec());
                let scale = part("scale", scale.to_array().to_vec());
                DMat4::from_translation(DVec3::from_slice(&translation))
                    * DMat4::from_quat(DQuat::from_slice(&rotation).normalize())
                    * DMat4::from_scale(DVec3::from_slice(&scale))
            })
            .collect()
    }

    fn sample(&self, sampler: &Value, path: &str, time: f64) -> Vec<f64> {
        let times: Vec<f64> = self.accessor(&sampler["input"]).into_iter().map(|time| time[0]).collect();
        let mut values = self.accessor(&sampler["output"]);
        let cubic = sampler["interpolation"] == "CUBICSPLINE";
        if path == "weights" {
            let together = values.len() / times.len() / if cubic { 3 } else { 1 };
            values = values.concat().chunks_exact(together).map(<[f64]>::to_vec).collect();
        }
        let value = |key: usize| values[if cubic { 3 * key + 1 } else { key }].clone();
        let last = times.len() - 1;
        if time <= times[0] {
            return value(0);
        }
        if time >= times[last] {
            return value(last);
        }
        let key = (0..last).find(|&key| times[key] <= time && time < times[key + 1]).unwrap();
        let duration = times[key + 1] - times[key];
        let t = (time - times[key]) / duration;
        let (a, mut b) = (value(key), value(key + 1));
        if sampler["interpolation"] == "STEP" {
            return a;
        }
        if cubic {
            let (out, into) = (&values[3 * key + 2], &values[3 * key + 3]);
            return (0..a.len())
                .map(|i| {
                    (2.0 * t.powi(3) - 3.0 * t * t + 1.0) * a[i]
                        + duration * (t.powi(3) - 2.0 * t * t + t) * out[i]
                        + (3.0 * t * t - 2.0 * t.powi(3)) * b[i]
                        + duration * (t.powi(3) - t * t) * into[i]
                })
                .collect();
        }
        let mix = |a: &[f64], b: &[f64], from: f64, to: f64| a.iter().zip(b).map(|(a, b)| a * from + b * to).collect();
        if path == "rotation" {
            let unit = |q: &[f64]| DQuat::from_slice(q).normalize().to_array().to_vec();
            let a = unit(&a);
            b = unit(&b);
            let mut cosine: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            if cosine < 0.0 {
                b.iter_mut().for_each(|part| *part = -*part);
                cosine = -cosine;
            }
            let angle = cosine.min(1.0).acos();
            if angle > 1e-6 {
                return mix(&a, &b, ((1.0 - t) * angle).sin() / angle.sin(), (t * angle).sin() / angle.sin());
            }
        }
        mix(&a, &b, 1.0 - t, t)
    }

    /// Each node's matrix to model space.
    pub fn global_matrices(&self, animation: Option<(usize, f64)>) -> Vec<DMat4> {
        let local = self.local_matrices(animation);
        let mut parent = vec![None; local.len()];
        for (index, node) in list(&self.json, "nodes").iter().enumerate() {
            for child in list(node, "children") {
                parent[child.as_u64().unwrap() as usize] = Some(index);
            }
        }
        (0..local.len())
            .map(|node| {
                let mut matrix = local[node];
                let mut up = parent[node];
                while let Some(ancestor) = up {
                    matrix = local[ancestor] * matrix;
                    up = parent[ancestor];
                }
                matrix
            })
            .collect()
    }

    fn visible(&self) -> BTreeSet<usize> {
        let scenes = list(&self.json, "scenes");
        let mut open: Vec<usize> = match self.json["scene"].as_u64() {
            Some(scene) => list(&scenes[scene as usize], "nodes"),
            None if scenes.is_empty() => return (0..list(&self.json, "nodes").len()).collect(),
            None => scenes.iter().flat_map(|scene| list(scene, "nodes")).collect(),
        }
        .iter()
        .map(|node| node.as_u64().unwrap() as usize)
        .collect();
        let mut visible = BTreeSet::new();
        while let Some(node) = open.pop() {
            visible.insert(node);
            open.extend(
                list(&self.json["nodes"][node], "children").iter().map(|child| child.as_u64().unwrap() as usize),
            );
        }
        visible
    }

    /// Whether a mesh to be seen hangs on a skin.
    pub fn has_skin(&self) -> bool {
        self.visible().iter().map(|&node| &self.json["nodes"][node]).any(|node| {
            let Some(mesh) = node["mesh"].as_u64().filter(|_| node.get("skin").is_some()) else { return false };
            let primitives = list(&self.json["meshes"][mesh as usize], "primitives");
            primitives.iter().any(|primitive| primitive["attributes"].get("JOINTS_0").is_some())
        })
    }

    /// Weights of the morph targets of a node's mesh, at rest or at `time` (s) of an animation.
    pub fn morph_weights(&self, node: usize, animation: Option<(usize, f64)>) -> Vec<f64> {
        if let Some((animation, time)) = animation {
            let animation = &self.json["animations"][animation];
            let own = list(animation, "channels").into_iter().find(|channel| {
                channel["target"]["path"] == "weights" && channel["target"]["node"].as_u64() == Some(node as u64)
            });
            if let Some(channel) = own {
                let sampler = &animation["samplers"][channel["sampler"].as_u64().unwrap() as usize];
                return self.sample(sampler, "weights", time);
            }
        }
        let node = &self.json["nodes"][node];
        let Some(mesh) = node["mesh"].as_u64() else { return Vec::new() };
        node.get("weights").or(self.json["meshes"][mesh as usize].get("weights")).map(numbers).unwrap_or_default()
    }

    /// All vertices that triangles use, by node, primitive and index.
    pub fn vertices(&self) -> Vec<Vertex> {
        self.vertices_with(|node| self.morph_weights(node, None))
    }

    /// The same, given the weights of a node's morph targets.
    pub fn vertices_with(&self, weights_of: impl Fn(usize) -> Vec<f64>) -> Vec<Vertex> {
        let mut vertices = Vec::new();
        for node_index in self.visible() {
            let node = &self.json["nodes"][node_index];
            let Some(mesh) = node["mesh"].as_u64() else { continue };
            let mesh = &self.json["meshes"][mesh as usize];
            for primitive in list(mesh, "primitives") {
                self.primitive(node_index, &primitive, &weights_of(node_index), &mut vertices);
            }
        }
        vertices
    }

    fn primitive(&self, node_index: usize, primitive: &Value, morph_weights: &[f64], vertices: &mut Vec<Vertex>) {
        let node = &self.json["nodes"][node_index];
        let attributes = &primitive["attributes"];
        if attributes.get("POSITION").is_none() {
            return;
        }
        let morphed = |name: &str| {
            let mut values = self.accessor(attributes.get(name)?);
            for (target, weight) in list(primitive, "targets").iter().zip(morph_weights) {
                if let Some(deltas) = target.get(name) {
                    for (value, delta) in values.iter_mut().zip(self.accessor(deltas)) {
                        value.iter_mut().zip(delta).for_each(|(part, delta)| *part += weight * delta);
                    }
                }
            }
            Some(values)
        };
        let positions = morphed("POSITION").unwrap();
        let (normals, tangents) = (morphed("NORMAL"), morphed("TANGENT"));
        let corners: Vec<usize> = match primitive.get("indices") {
            Some(indices) => self.accessor(indices).iter().map(|index| index[0] as usize).collect(),
            None => (0..positions.len()).collect(),
        };
        let triangles: Vec<Vec<usize>> = match primitive["mode"].as_u64().unwrap_or(4) {
            4 => corners.chunks_exact(3).map(<[usize]>::to_vec).collect(),
            5 => corners.windows(3).map(<[usize]>::to_vec).collect(),
            6 => corners.windows(2).skip(1).map(|pair| vec![corners[0], pair[0], pair[1]]).collect(),
            _ => Vec::new(),
        };
        let whole = |triangle: &&Vec<usize>| triangle.iter().collect::<BTreeSet<_>>().len() == 3;
        let used: BTreeSet<usize> = triangles.iter().filter(whole).flatten().copied().collect();
        let skin = node["skin"].as_u64().map(|skin| &self.json["skins"][skin as usize]);
        let skin = skin.filter(|_| attributes.get("JOINTS_0").is_some());
        let joints = skin.map(|skin| numbers(&skin["joints"]));
        let binds = skin.and_then(|skin| skin.get("inverseBindMatrices")).map(|binds| self.accessor(binds));
        let sets: Vec<_> = (0..8)
            .map_while(|set| {
                let joints = attributes.get(format!("JOINTS_{set}"))?;
                Some((self.accessor(joints), self.accessor(attributes.get(format!("WEIGHTS_{set}"))?)))
            })
            .collect();
        for vertex in used {
            let mut pulls = Vec::new();
            if let Some(joints) = &joints {
                for (slots, weights) in &sets {
                    for (slot, &weight) in
                        slots[vertex].iter().zip(&weights[vertex]).filter(|(_, weight)| **weight > 0.0)
                    {
                        let slot = *slot as usize;
                        let bind = binds.as_ref().map_or(DMat4::IDENTITY, |binds| DMat4::from_cols_slice(&binds[slot]));
                        pulls.push((joints[slot] as usize, bind, weight));
                    }
                }
            } else {
                pulls.push((node_index, DMat4::IDENTITY, 1.0));
            }
            let sum: f64 = pulls.iter().map(|pull| pull.2).sum();
            pulls.iter_mut().for_each(|pull| pull.2 /= sum);
            vertices.push(Vertex {
                position: DVec3::from_slice(&positions[vertex]),
                normal: normals.as_ref().map(|normals| DVec3::from_slice(&normals[vertex])),
                tangent: tangents.as_ref().map(|of| (DVec3::from_slice(&of[vertex]), of[vertex][3])),
                pulls,
            });
        }
    }
}

impl Vertex {
    /// The linear part of what skinning does.
    pub fn linear(&self, globals: &[DMat4]) -> DMat3 {
        let of = |(node, bind, weight): &(usize, DMat4, f64)| DMat3::from_mat4(globals[*node] * *bind) * *weight;
        self.pulls.iter().map(of).fold(DMat3::ZERO, |sum, matrix| sum + matrix)
    }

    /// Linear blend skinning.
    pub fn skinned(&self, globals: &[DMat4]) -> DVec3 {
        self.pulls
            .iter()
            .map(|(node, bind, weight)| {
                DAffine3::from_mat4(globals[*node] * *bind).transform_point3(self.position) * *weight
            })
            .sum()
    }
}

pub fn list(value: &Value, key: &str) -> Vec<Value> {
    value[key].as_array().cloned().unwrap_or_default()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
