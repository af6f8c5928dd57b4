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
        let corner = |i: i32| {
            let sign = |bit: i32| if i & bit == 0 { 0.0 } else { 1.0 };
            bounds.min + (bounds.max - bounds.min) * Vec3::new(sign(1), sign(2), sign(4))
        };
        Self::fit(&std::array::from_fn::<_, 8, _>(|i| corner(i as i32)), direction, aspect)
    }

    /// The camera that looks from `direction` and sees all `points`: closer than [`Camera::framing`] of their
    /// bounds. Points that are not finite do not count.
    pub fn framing_points(points: &[Vec3], direction: Vec3, aspect: f32) -> Self {
        let finite: Vec<Vec3> = points.iter().copied().filter(|p| p.is_finite() && p.length().is_finite()).collect();
        if finite.is_empty() {
            Self::framing(Bounds::of(&[]), direction, aspect)
        } else {
            Self::fit(&finite, direction, aspect)
        }
    }

    /// A point (x, y, z) along right, up and forward is seen from an eye at (a, b, c) when |x - a| < t (z - c), t
    /// the tangent of half the view: x - t z < a - t c and -x - t z < t c - a for all points. The greatest left
    /// sides, taken as equal, give the eye that has the points in the middle; likewise for y and b.
    fn fit(points: &[Vec3], direction: Vec3, aspect: f32) -> Self {
        let aspect = if aspect.is_finite() && aspect > 1e-3 { aspect } else { 1.0 };
        let forward = -direction.try_normalize().unwrap_or(Vec3::Z);
        let right = forward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
        let up = right.cross(forward);
        let half_view = [TAN_HALF_VIEW * aspect, TAN_HALF_VIEW];

        let bounds = Bounds::of(points);
        let target = bounds.min * 0.5 + bounds.max * 0.5;
        let fit = |axis: Vec3, tangent: f32| {
            let greatest = |sign: f32| {
                let side = |p: &Vec3| sign * (*p - target).dot(axis) - tangent * (*p - target).dot(forward);
                points.iter().map(side).fold(f32::NEG_INFINITY, f32::max)
            };
            let (a, b) = (greatest(1.0), greatest(-1.0));
            ((a - b) * 0.5, -(a + b) * 0.5 / tangent)
        };
        let (across, back) = fit(right, half_view[0] * FILL);
        let (along, back_too) = fit(up, half_view[1] * FILL);
        let nearest = points.iter().map(|p| (*p - target).dot(forward)).fold(f32::INFINITY, f32::min);
        let back = back.min(back_too).min(nearest - (bounds.max - bounds.min).length() * 0.05 - 1e-3);
        let eye = target + right * across + up * along + forward * back;
        Self { eye, right, up, forward, half_view, target }
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
