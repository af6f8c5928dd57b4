//! Overlays as triangles: the hull of two spheres, and chains of it.

use super::{OverlayPill, OverlayRod};
use glam::Vec3;

/// Corners around a hull.
const SIDES: usize = 16;
/// Rings from a hull's pole to the rim of each of its caps.
const RINGS: usize = 5;
/// Cosines and sines of k turns / 16, k = 0…3; the rest of the circle follows by symmetry.
const QUARTER: [(f32, f32); 4] =
    [(1.0, 0.0), (0.923_879_5, 0.382_683_43), (0.707_106_77, 0.707_106_77), (0.382_683_43, 0.923_879_5)];

fn around(k: usize) -> (f32, f32) {
    let (c, s) = QUARTER[k % 4];
    match (k / 4) % 4 {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    }
}

/// Triangles of many hulls, with the index of the overlay each belongs to.
#[derive(Default)]
pub struct Solids {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub triangles: Vec<([u32; 3], u32)>,
}

impl Solids {
    pub fn of_rods(rods: &[OverlayRod]) -> Self {
        let mut solids = Self::default();
        for (id, rod) in (0u32..).zip(rods) {
            if let ([p], [r]) = (rod.points, rod.radii) {
                solids.push([*p, *p], [*r, *r], id);
            }
            for (p, r) in rod.points.windows(2).zip(rod.radii.windows(2)) {
                solids.push([p[0], p[1]], [r[0], r[1]], id);
            }
        }
        solids
    }

    pub fn of_pills(pills: &[OverlayPill]) -> Self {
        let mut solids = Self::default();
        for (id, pill) in (0u32..).zip(pills) {
            solids.push(pill.ends, pill.radii, id);
        }
        solids
    }

    /// Adds the hull of two spheres; nothing when a number is not finite or both radii are 0 or less.
    fn push(&mut self, ends: [Vec3; 2], radii: [f32; 2], id: u32) {
        let radii = radii.map(|r| r.max(0.0));
        let finite = ends.iter().all(|p| p.is_finite()) && radii.iter().all(|r| r.is_finite());
        if !finite || radii[0].max(radii[1]) <= 0.0 {
            return;
        }
        let axis = ends[1] - ends[0];
        let length = axis.length();
        let along = if length > 1e-12 && length.is_finite() { axis / length } else { Vec3::Y };
        // Where one sphere swallows the other the hull is that sphere.
        let tilt = (radii[0] - radii[1]) / length.max(1e-12);
        let (ends, radii, tilt) = match tilt {
            t if t >= 1.0 => ([ends[0]; 2], [radii[0]; 2], 0.0),
            t if t <= -1.0 => ([ends[1]; 2], [radii[1]; 2], 0.0),
            t => (ends, radii, t),
        };
        let (u, v) = along.any_orthonormal_pair();
        // Both caps meet the cone where the normal makes the same angle with the axis: its cosine is `tilt`.
        let rim = Vec3::new((1.0 - tilt * tilt).max(0.0).sqrt(), tilt, 0.0);
        let first = self.positions.len() as u32;
        for ring in 0..2 * RINGS {
            let (end, pole, t) = if ring < RINGS {
                (0, -1.0, ring as f32 / (RINGS - 1) as f32)
            } else {
                (1, 1.0, (2 * RINGS - 1 - ring) as f32 / (RINGS - 1) as f32)
            };
            let profile = (Vec3::new(0.0, pole, 0.0) * (1.0 - t) + rim * t).try_normalize().unwrap_or(rim);
            for k in 0..SIDES {
                let (c, s) = around(k);
                let normal = (u * c + v * s) * profile.x + along * profile.y;
                self.positions.push(ends[end] + normal * radii[end]);
                self.normals.push(normal);
            }
        }
        let (sides, rings) = (SIDES as u32, 2 * RINGS as u32);
        for ring in 0..rings - 1 {
            for k in 0..sides {
                let [a, b] = [k, (k + 1) % sides].map(|k| first + ring * sides + k);
                self.triangles.push(([a, b, b + sides], id));
                self.triangles.push(([a, b + sides, a + sides], id));
            }
        }
    }
}
