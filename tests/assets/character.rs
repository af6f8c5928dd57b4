//! As little of glTF as the project's own characters need: one skin, linear keys.

use glam::{Mat4, Quat, Vec3};
use gltf::animation::util::ReadOutputs;
use std::path::Path;

enum Keys {
    Turns(Vec<Quat>),
    Places(Vec<Vec3>),
}

pub struct Character {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub colours: Vec<[f32; 4]>,
    pub weights: Vec<[f32; 4]>,
    joints: Vec<[u16; 4]>,
    /// Of each node.
    pub parents: Vec<Option<usize>>,
    rest: Vec<(Vec3, Quat)>,
    /// Node and inverse bind matrix of each joint of the skin.
    palette: Vec<(usize, Mat4)>,
    tracks: Vec<(usize, Vec<f32>, Keys)>,
}

impl Character {
    pub fn load(path: &Path) -> Self {
        let gltf = gltf::Gltf::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let blob = gltf.blob.clone().unwrap();
        let get = |_: gltf::Buffer| Some(&blob[..]);
        let mut all = Self {
            positions: Vec::new(),
            normals: Vec::new(),
            triangles: Vec::new(),
            colours: Vec::new(),
            weights: Vec::new(),
            joints: Vec::new(),
            parents: vec![None; gltf.nodes().len()],
            rest: Vec::new(),
            palette: Vec::new(),
            tracks: Vec::new(),
        };
        for primitive in gltf.meshes().flat_map(|mesh| mesh.primitives()) {
            let reader = primitive.reader(get);
            let base = all.positions.len() as u32;
            all.positions.extend(reader.read_positions().unwrap().map(Vec3::from));
            all.normals.extend(reader.read_normals().unwrap().map(Vec3::from));
            all.joints.extend(reader.read_joints(0).unwrap().into_u16());
            all.weights.extend(reader.read_weights(0).unwrap().into_f32());
            let corners: Vec<u32> = reader.read_indices().unwrap().into_u32().map(|i| i + base).collect();
            all.triangles.extend(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]));
            let colour = primitive.material().pbr_metallic_roughness().base_color_factor();
            all.colours.resize(all.triangles.len(), colour);
        }
        for node in gltf.nodes() {
            let (place, turn, _) = node.transform().decomposed();
            all.rest.push((Vec3::from(place), Quat::from_array(turn)));
            node.children().for_each(|child| all.parents[child.index()] = Some(node.index()));
        }
        let skin = gltf.skins().next().unwrap();
        let inverse = skin.reader(get).read_inverse_bind_matrices().unwrap();
        all.palette = skin.joints().map(|j| j.index()).zip(inverse.map(|m| Mat4::from_cols_array_2d(&m))).collect();
        for channel in gltf.animations().flat_map(|a| a.channels().collect::<Vec<_>>()) {
            let reader = channel.reader(get);
            let keys = match reader.read_outputs().unwrap() {
                ReadOutputs::Rotations(turns) => Keys::Turns(turns.into_f32().map(Quat::from_array).collect()),
                ReadOutputs::Translations(places) => Keys::Places(places.map(Vec3::from).collect()),
                _ => panic!("only turns and places are animated"),
            };
            all.tracks.push((channel.target().node().index(), reader.read_inputs().unwrap().collect(), keys));
        }
        all
    }

    pub fn duration(&self) -> f32 {
        self.tracks.iter().filter_map(|(_, times, _)| times.last().copied()).fold(0.0, f32::max)
    }

    /// World transform of each node: at rest, or at a time of the animation (s). Parents come first in the file.
    pub fn globals(&self, time: Option<f32>) -> Vec<Mat4> {
        let mut local = self.rest.clone();
        for (node, times, keys) in &self.tracks {
            let Some(time) = time else { break };
            let next = times.partition_point(|&t| t <= time).clamp(1, times.len() - 1);
            let share = ((time - times[next - 1]) / (times[next] - times[next - 1])).clamp(0.0, 1.0);
            match keys {
                Keys::Turns(turns) => local[*node].1 = turns[next - 1].slerp(turns[next], share),
                Keys::Places(places) => local[*node].0 = places[next - 1].lerp(places[next], share),
            }
        }
        let mut globals: Vec<Mat4> = Vec::new();
        for (i, (place, turn)) in local.iter().enumerate() {
            let own = Mat4::from_rotation_translation(*turn, *place);
            globals.push(self.parents[i].map_or(own, |p| globals[p] * own));
        }
        globals
    }

    /// Linear blend skinning: places and unit normals.
    pub fn skinned(&self, globals: &[Mat4]) -> (Vec<Vec3>, Vec<Vec3>) {
        let palette: Vec<Mat4> = self.palette.iter().map(|(node, inverse)| globals[*node] * *inverse).collect();
        let blended = |i: usize| {
            let pairs = self.joints[i].iter().zip(self.weights[i]);
            pairs.fold(Mat4::ZERO, |sum, (&joint, weight)| sum + palette[joint as usize] * weight)
        };
        (0..self.positions.len())
            .map(|i| {
                let m = blended(i);
                (m.transform_point3(self.positions[i]), m.transform_vector3(self.normals[i]).normalize_or_zero())
            })
            .unzip()
    }
}
