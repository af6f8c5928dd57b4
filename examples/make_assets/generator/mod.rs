//! Characters from distance fields: blended tapered capsules and ellipsoids, meshed, skinned, animated.
//!
//! Only the four operations and the square root are used, so the bytes do not depend on the machine; what passes
//! through an exponential is rounded.
//!
//! The arm's muscles are those of OpenSim's arm26, CC BY 3.0: see [`sinew::scenes::arm`].

mod arm;
mod field;
mod glb;
mod motion;
mod muscles;
mod nets;
mod octopus;

pub use arm::arm;
pub use octopus::octopus;

use field::Part;
use glam::{Quat, Vec3};
use sinew::character::MuscleSpec;

/// A joint of the bind pose; all joints' axes are the world's there.
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    /// Place in the world (m).
    pub place: Vec3,
}

/// A skinned mesh of one material.
#[derive(Default)]
pub struct Surface {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    pub joints: Vec<[u8; 4]>,
    pub weights: Vec<[f32; 4]>,
    pub material: usize,
}

pub struct Material {
    pub name: &'static str,
    /// Linear RGBA.
    pub base_colour: [f32; 4],
    pub roughness: f32,
}

/// What moves: keys of one joint at the animation's times.
pub enum Track {
    /// Turns relative to the bind pose.
    Rotation(usize, Vec<Quat>),
    /// Places relative to the parent (m).
    Translation(usize, Vec<Vec3>),
}

pub struct Model {
    pub name: &'static str,
    /// Whose work is in it.
    pub copyright: Option<&'static str>,
    pub animation: &'static str,
    pub joints: Vec<Joint>,
    /// Muscles along paths over the joints.
    pub muscles: Vec<MuscleSpec>,
    pub materials: Vec<Material>,
    pub surfaces: Vec<Surface>,
    /// Key times (s).
    pub times: Vec<f32>,
    pub tracks: Vec<Track>,
}

/// The stretch of flesh that follows one joint.
pub struct Bone {
    pub joint: usize,
    pub part: Part,
}

/// The four strongest weights at `p`: the inverse eighth power of the distance to each bone in units of its
/// radius, which blends over about one radius at each side of a joint.
fn weights(bones: &[Bone], p: Vec3) -> ([u8; 4], [f32; 4]) {
    let mut pulls: Vec<(f32, usize)> = bones
        .iter()
        .map(|bone| {
            let q = bone.part.radii_away(p).max(0.25);
            let q2 = q * q;
            (1.0 / (q2 * q2 * q2 * q2), bone.joint)
        })
        .collect();
    pulls.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best: Vec<(f32, usize)> = Vec::new();
    for (pull, joint) in pulls {
        if best.len() < 4 && best.iter().all(|b| b.1 != joint) {
            best.push((pull, joint));
        }
    }
    let all: f32 = best.iter().map(|b| b.0).sum();
    best.retain(|b| b.0 > 0.01 * all);
    let all: f32 = best.iter().map(|b| b.0).sum();
    let (mut joints, mut shares) = ([0; 4], [0.0; 4]);
    for (slot, (pull, joint)) in best.into_iter().enumerate() {
        joints[slot] = joint as u8;
        shares[slot] = pull / all;
    }
    (joints, shares)
}

impl Surface {
    /// The zero surface of `field` inside the box, with cells of side `cell` (m), skinned to `bones`.
    fn of(field: &dyn Fn(Vec3) -> f32, corners: [Vec3; 2], cell: f32, bones: &[Bone], material: usize) -> Self {
        let (positions, normals, triangles) = nets::mesh(field, corners, cell);
        let (joints, weights) = positions.iter().map(|&p| weights(bones, p)).unzip();
        Self { positions, normals, triangles, joints, weights, material }
    }

    /// Removes triangles whose corners all satisfy `hidden`, and corners that no triangle needs.
    fn without(mut self, hidden: impl Fn(Vec3) -> bool) -> Self {
        self.triangles.retain(|t| !t.iter().all(|&v| hidden(self.positions[v as usize])));
        let mut place = vec![u32::MAX; self.positions.len()];
        let mut kept = Self { material: self.material, ..Self::default() };
        for t in &self.triangles {
            kept.triangles.push(t.map(|v| {
                let old = v as usize;
                if place[old] == u32::MAX {
                    place[old] = kept.positions.len() as u32;
                    kept.positions.push(self.positions[old]);
                    kept.normals.push(self.normals[old]);
                    kept.joints.push(self.joints[old]);
                    kept.weights.push(self.weights[old]);
                }
                place[old]
            }));
        }
        kept
    }
}
