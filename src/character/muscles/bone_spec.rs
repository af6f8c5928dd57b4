//! Bones as authors describe them: pills on joints, which the character's muscles stay out of.

use glam::DVec3;

use super::{MuscleError, MuscleLimits};
use crate::character::Skeleton;
use crate::flesh::BonePill;

/// A pill of bone on a joint: all that is within a radius of a line. The character's muscles stay out of it and wrap over it; what
/// of them is in it at rest may be so always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneSpec {
    /// Index of the joint into [`Skeleton::joints`](crate::character::Skeleton).
    pub joint: u32,
    /// Where the line begins (m) along the joint's axes at rest, from the joint; the joint's scale does not apply.
    pub from: DVec3,
    /// Where it ends (m), as `from`.
    pub to: DVec3,
    /// Radius (m).
    pub radius: f64,
    /// Coulomb's coefficient of friction (1), 0 to 10.
    pub friction: f64,
}

impl Default for BoneSpec {
    /// A ball of 1 cm at the first joint, without friction: muscles slide on bones.
    fn default() -> Self {
        Self { joint: 0, from: DVec3::ZERO, to: DVec3::ZERO, radius: 0.01, friction: 0.0 }
    }
}

impl BoneSpec {
    /// The bone on a character `size` times as large.
    pub fn scaled(self, size: f64) -> Self {
        Self { from: self.from * size, to: self.to * size, radius: self.radius * size, ..self }
    }

    /// It as a pill of one of the flesh's bones, which is the joint's at scale 1.
    pub(in crate::character) fn pill(&self, bone: usize) -> BonePill {
        let ends = [self.from, self.to].map(|end| end.as_vec3());
        BonePill { bone, ends, radius: self.radius as f32, friction: self.friction as f32 }
    }

    fn check(&self, bone: usize, skeleton: &Skeleton, sizes: f64) -> Result<(), MuscleError> {
        let fail = |key: &str, problem| Err(MuscleError::Bone { bone, key: key.into(), problem });
        let joints = skeleton.joints.len();
        if self.joint as usize >= joints {
            return fail("joint", format!("there is no joint {}; the skeleton has {joints}", self.joint));
        }
        let limit = |key: &str, of: &str, value: f64| match MuscleLimits::of(of).map(|known| known.for_sizes(sizes)) {
            Some(known) if !(known.low..=known.high).contains(&value) => {
                fail(key, format!("is {value}; it needs {}", known.words()))
            }
            _ => Ok(()),
        };
        for (key, place) in [("from", self.from), ("to", self.to)] {
            (0..3).try_for_each(|axis| limit(&format!("{key}[{axis}]"), "place", place[axis]))?;
        }
        limit("radius", "radius", self.radius)?;
        limit("friction", "friction", self.friction)
    }
}

/// Checks every bone on the skeleton that its joint is of; lengths may be `sizes` times larger or smaller than
/// [`MUSCLE_LIMITS`](super::MUSCLE_LIMITS) have them.
///
/// # Errors
/// [`MuscleError::Bone`], with the bone and the key at fault.
pub(in crate::character) fn check_bones(
    bones: &[BoneSpec],
    skeleton: &Skeleton,
    sizes: f64,
) -> Result<(), MuscleError> {
    bones.iter().enumerate().try_for_each(|(index, bone)| bone.check(index, skeleton, sizes))
}
