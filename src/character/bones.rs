//! Bones: the lines from joints to the joints beyond them.

use glam::{Affine3A, DVec3};

use super::CharacterAsset;

/// For each joint, the joints at the far ends of its bones.
#[derive(Clone, Debug, PartialEq)]
pub struct Bones {
    ends: Vec<Vec<u32>>,
}

impl Bones {
    /// The bones of a character. Objects that hang on bones, muscles say, end none.
    pub fn new(asset: &CharacterAsset) -> Self {
        let joints = &asset.skeleton.joints;
        let mut moving = vec![false; joints.len()];
        for entry in asset.palette.iter().filter(|entry| entry.inverse_bind != Affine3A::IDENTITY) {
            moving[entry.joint as usize] = true;
        }
        // Without a skin, nodes are bones.
        if !moving.contains(&true) {
            moving.fill(true);
        }
        let mut ends = vec![Vec::new(); joints.len()];
        // Joints come after their parents.
        for (joint, parent) in joints.iter().enumerate().rev().filter_map(|(at, joint)| Some((at, joint.parent?))) {
            if moving[joint] {
                moving[parent as usize] = true;
                ends[parent as usize].push(joint as u32);
            }
        }
        Self { ends }
    }

    /// The joints at both ends of all bones.
    pub fn joints(&self) -> impl Iterator<Item = usize> {
        let of = |(joint, ends): (usize, &Vec<u32>)| {
            let from = (!ends.is_empty()).then_some(joint);
            from.into_iter().chain(ends.iter().map(|&end| end as usize).collect::<Vec<_>>())
        };
        self.ends.iter().enumerate().flat_map(of)
    }

    /// How far a place is from a joint's bones (m), all in model space; from the joint, where it has none.
    pub fn distance(&self, joints: &[Affine3A], joint: u32, place: DVec3) -> f64 {
        let at = |joint: u32| joints[joint as usize].translation.as_dvec3();
        let from = at(joint);
        let to_bone = |&end: &u32| {
            let line = at(end) - from;
            let along = ((place - from).dot(line) / line.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            place.distance(from + line * along)
        };
        self.ends[joint as usize].iter().map(to_bone).fold(place.distance(from), f64::min)
    }
}
