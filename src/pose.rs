//! Rigid poses in the world.

use glam::{DQuat, DVec3};

/// A rigid pose: where a bone or a character's root is.
///
/// The translation is kept in f64 so that a character 5 km from the origin is as exact as one at it;
/// node state is kept relative to origins near the character and never sees these numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pose {
    /// Place in the world (m).
    pub translation: DVec3,
    /// Orientation in the world, a unit quaternion (x, y, z, w).
    pub rotation: DQuat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// At the origin, unrotated.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// A pose from place (m) and orientation.
    pub fn new(translation: DVec3, rotation: DQuat) -> Self {
        Self { translation, rotation }
    }

    /// A pose that only moves (m).
    pub fn from_translation(translation: DVec3) -> Self {
        Self { translation, rotation: DQuat::IDENTITY }
    }

    /// Carries a point (m) from this pose's frame to the world.
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.translation + self.rotation * point
    }

    /// The pose that undoes this one.
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self { translation: rotation * -self.translation, rotation }
    }

    /// Whether it can be stepped with: within 10⁹ m of the origin, the rotation a unit quaternion to 10⁻³.
    pub fn is_sound(&self) -> bool {
        self.translation.abs().max_element() <= 1.0e9 && (self.rotation.length() - 1.0).abs() < 1.0e-3
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite()
    }
}

impl std::ops::Mul for Pose {
    type Output = Self;

    /// Applies `other` first, then `self`.
    fn mul(self, other: Self) -> Self {
        Self {
            translation: self.transform_point(other.translation),
            rotation: (self.rotation * other.rotation).normalize(),
        }
    }
}
