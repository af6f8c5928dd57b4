//! Distance fields: negative inside, about metres.

use glam::{Mat3, Vec3};

#[derive(Clone, Copy)]
pub enum Part {
    /// A capsule whose radius goes evenly from one end to the other.
    Capsule { ends: [Vec3; 2], radii: [f32; 2] },
    /// An ellipsoid; `axes` turns its own axes into the world's.
    Ellipsoid { centre: Vec3, axes: Mat3, radii: Vec3 },
}

pub fn capsule(a: Vec3, b: Vec3, ra: f32, rb: f32) -> Part {
    Part::Capsule { ends: [a, b], radii: [ra, rb] }
}

pub fn ellipsoid(centre: Vec3, radii: Vec3) -> Part {
    Part::Ellipsoid { centre, axes: Mat3::IDENTITY, radii }
}

impl Part {
    pub fn distance(&self, p: Vec3) -> f32 {
        match *self {
            Self::Capsule { ends: [a, b], radii: [ra, rb] } => {
                let t = along(a, b, p);
                (p - (a + (b - a) * t)).length() - (ra + (rb - ra) * t)
            }
            Self::Ellipsoid { centre, axes, radii } => {
                // First-order distance: value over gradient length of |q/r|.
                let q = axes.transpose() * (p - centre);
                let (k, g) = ((q / radii).length(), (q / (radii * radii)).length());
                if g < 1e-9 { -radii.min_element() } else { k * (k - 1.0) / g }
            }
        }
    }

    /// Distance from the middle line in units of the radius there.
    pub fn radii_away(&self, p: Vec3) -> f32 {
        match *self {
            Self::Capsule { ends: [a, b], radii: [ra, rb] } => {
                let t = along(a, b, p);
                (p - (a + (b - a) * t)).length() / (ra + (rb - ra) * t)
            }
            Self::Ellipsoid { centre, axes, radii } => (axes.transpose() * (p - centre) / radii).length(),
        }
    }
}

fn along(a: Vec3, b: Vec3, p: Vec3) -> f32 {
    let d = b - a;
    ((p - a).dot(d) / d.length_squared().max(1e-12)).clamp(0.0, 1.0)
}

/// The union of two bodies, with the crease filled over about `k` (m).
pub fn blend(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * k * 0.25
}

/// What `a` and `b` share, with the edge rounded over about `k` (m).
pub fn cut(a: f32, b: f32, k: f32) -> f32 {
    -blend(-a, -b, k)
}

/// The blended union of parts.
pub fn union(parts: &[Part], k: f32, p: Vec3) -> f32 {
    parts.iter().fold(1e3, |d, part| blend(d, part.distance(p), k))
}

/// A chain of capsules through points with radii.
pub fn chain(points: &[(Vec3, f32)]) -> impl Iterator<Item = Part> {
    points.windows(2).map(|w| capsule(w[0].0, w[1].0, w[0].1, w[1].1))
}
