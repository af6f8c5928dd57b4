//! Where a picture is seen from.

use glam::Vec3;

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least coordinates (m).
    pub min: Vec3,
    /// Greatest coordinates (m).
    pub max: Vec3,
}

impl Bounds {
    /// The smallest box around the points that are finite; a point at the origin when there is none.
    pub fn of(points: &[Vec3]) -> Self {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let finite = points.iter().filter(|p| p.is_finite());
        let (min, max) = finite.fold(start, |(min, max), &p| (min.min(p), max.max(p)));
        if min.x <= max.x { Self { min, max } } else { Self { min: Vec3::ZERO, max: Vec3::ZERO } }
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The box with each face moved outwards by `margin` (m).
    pub fn grown(self, margin: f32) -> Self {
        Self { min: self.min - margin, max: self.max + margin }
    }
}

/// A perspective camera. Its key light hangs beside it, so a picture is well lit from any side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Its place (m).
    pub eye: Vec3,
    /// Unit vector to the right of the picture.
    pub right: Vec3,
    /// Unit vector to the top of the picture.
    pub up: Vec3,
    /// Unit vector into the picture.
    pub forward: Vec3,
    /// Tangents of half the horizontal and half the vertical field of view.
    pub half_view: [f32; 2],
    /// The middle of what is looked at (m); the floor fades around it.
    pub target: Vec3,
}

/// Tangent of half the vertical field of view: 30 degrees from edge to edge, which flatters limbs.
const TAN_HALF_VIEW: f32 = 0.268;
/// Share of the picture that the framed box may fill.
const FILL: f32 = 0.9;

impl Camera {
    /// The camera that looks from `direction` (from the box to the camera, any length) and sees the whole of
    /// `bounds`. `aspect` is the picture's width over its height.
    ///
    /// A box, direction or aspect that is not finite is replaced by a 1 m box, the front and 1.
    pub fn framing(bounds: Bounds, direction: Vec3, aspect: f32) -> Self {
        let finite = bounds.min.is_finite() && bounds.max.is_finite() && (bounds.max - bounds.min).is_finite();
        let bounds = if finite { bounds } else { Bounds { min: Vec3::ZERO, max: Vec3::ONE } };
        let aspect = if aspect.is_finite() && aspect > 1e-3 { aspect } else { 1.0 };
        let forward = -direction.try_normalize().unwrap_or(Vec3::Z);
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        let half_view = [TAN_HALF_VIEW * aspect, TAN_HALF_VIEW];

        let target = bounds.min * 0.5 + bounds.max * 0.5;
        let half = (bounds.max * 0.5 - bounds.min * 0.5).max(Vec3::splat(1e-3));
        let mut distance = 0.0f32;
        for corner in 0..8 {
            let sign = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
            let p = half * Vec3::new(sign(1), sign(2), sign(4));
            let needed = (p.dot(right).abs() / half_view[0]).max(p.dot(up).abs() / half_view[1]) / FILL;
            distance = distance.max(needed - p.dot(forward));
        }
        Self { eye: target - forward * distance, right, up, forward, half_view, target }
    }

    /// Distance from the camera to what it looks at (m).
    pub fn distance(&self) -> f32 {
        (self.target - self.eye).length()
    }

    /// Places nearer than this are not seen (m).
    pub(super) fn near(&self) -> f32 {
        (self.distance() * 1e-3).max(1e-6)
    }

    /// Coordinates of `p` along right, up and forward (m).
    pub(super) fn view(&self, p: Vec3) -> Vec3 {
        let d = p - self.eye;
        Vec3::new(d.dot(self.right), d.dot(self.up), d.dot(self.forward))
    }

    /// The ray through (x, y) of the picture, each from -1 to 1, with length 1 along `forward`.
    pub(super) fn ray(&self, x: f32, y: f32) -> Vec3 {
        self.forward + self.right * (x * self.half_view[0]) + self.up * (y * self.half_view[1])
    }
}
