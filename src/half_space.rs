//! Planes that flesh rests on.

use glam::DVec3;

/// Everything below a plane is solid: normal · x < offset is inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Unit normal of the plane, out of the solid.
    pub normal: DVec3,
    /// Signed distance of the plane from the world's origin along the normal (m).
    pub offset: f64,
    /// Coulomb's coefficient of friction (−).
    pub friction: f32,
}

impl HalfSpace {
    /// The floor: solid below y = `height` (m).
    pub fn ground(height: f64, friction: f32) -> Self {
        Self { normal: DVec3::Y, offset: height, friction }
    }

    /// Whether it is a plane: a unit normal, a finite offset, and friction between 0 and 1000.
    pub fn is_sound(&self) -> bool {
        let unit = (self.normal.length() - 1.0).abs() < 1.0e-3;
        unit && self.offset.is_finite() && (0.0..=1.0e3).contains(&self.friction)
    }

    /// Signed distance of a point from the plane (m), negative inside the solid.
    pub fn distance(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_signed() {
        let slope = HalfSpace { normal: DVec3::new(0.6, 0.8, 0.0), offset: 2.0, friction: 0.5 };
        assert!((slope.distance(DVec3::new(1.2, 1.6, 7.0))).abs() < 1e-12);
        assert!((slope.distance(DVec3::new(1.8, 2.4, 7.0)) - 1.0).abs() < 1e-12);
        assert!((HalfSpace::ground(1.0, 0.5).distance(DVec3::ZERO) + 1.0).abs() < 1e-12);
    }
}
