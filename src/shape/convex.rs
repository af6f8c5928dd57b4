//! Convex polyhedra.

use glam::{DVec3, Vec3};

use super::ShapeError;
use super::mesh::{Feature, check, nearest};

/// A convex polyhedron: closed triangles that face outward.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Unit normals out of the triangles, and how far along them the polyhedron reaches (m): a sliver's normal is rounded.
    planes: Vec<(DVec3, f64)>,
}

/// How far a point may be outside a face, over the polyhedron's size.
const OUTSIDE: f64 = 1.0e-3;

impl Convex {
    /// Of points (m) and the triangles that they make, counter-clockwise from outside.
    ///
    /// # Errors
    /// [`ShapeError`] where numbers are not finite, indices name nothing, no triangle has an area, or a point is outside one.
    pub fn new(points: &[Vec3], triangles: Vec<[u32; 3]>) -> Result<Self, ShapeError> {
        check(points, &triangles)?;
        let corners = |triangle: &[u32; 3]| triangle.map(|point| points[point as usize].as_dvec3());
        let whole = |triangle: &[u32; 3]| {
            let [a, b, c] = corners(triangle);
            (b - a).cross(c - a).length_squared() > 0.0
        };
        let triangles: Vec<_> = triangles.into_iter().filter(whole).collect();
        if triangles.is_empty() {
            return Err(ShapeError::Empty);
        }
        let planes = triangles.iter().map(|triangle| {
            let [a, b, c] = corners(triangle);
            let normal = (b - a).cross(c - a).normalize();
            (normal, points.iter().map(|point| normal.dot(point.as_dvec3())).fold(f64::MIN, f64::max))
        });
        let convex = Self { planes: planes.collect(), points: points.to_vec(), triangles };
        let [low, high] = convex.bounds();
        let most = OUTSIDE * f64::from((high - low).length());
        for (triangle, (of, (normal, reach))) in convex.triangles.iter().zip(&convex.planes).enumerate() {
            if reach - normal.dot(corners(of)[0]) > most {
                let along = |point: &Vec3| normal.dot(point.as_dvec3());
                let farthest = (0..points.len()).max_by(|&a, &b| along(&points[a]).total_cmp(&along(&points[b])));
                return Err(ShapeError::NotConvex { point: farthest.unwrap_or_default(), triangle });
            }
        }
        Ok(convex)
    }

    pub(super) fn bounds(&self) -> [Vec3; 2] {
        let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        self.points.iter().fold(none, |[low, high], point| [low.min(*point), high.max(*point)])
    }

    /// As a GPU has it.
    #[cfg(feature = "gpu")]
    pub(crate) fn words(&self) -> Vec<u32> {
        let numbers = self.triangles.iter().zip(&self.planes).flat_map(|(triangle, (normal, reach))| {
            let corners = triangle.iter().flat_map(|point| self.points[*point as usize].to_array());
            normal.as_vec3().to_array().into_iter().chain([*reach as f32]).chain(corners).collect::<Vec<_>>()
        });
        [self.triangles.len() as u32].into_iter().chain(numbers.map(f32::to_bits)).collect()
    }

    /// Inside, from the nearest of the planes; outside, from the nearest of the triangles.
    pub(super) fn surface(&self, point: DVec3) -> (f64, DVec3) {
        let of_planes = self.planes.iter().map(|(normal, reach)| (normal.dot(point) - reach, *normal));
        let inside = of_planes.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0.0, DVec3::Y));
        if inside.0 <= 0.0 {
            return inside;
        }
        let mut best = (f64::INFINITY, inside.1);
        for (triangle, (normal, _)) in self.triangles.iter().zip(&self.planes) {
            let corners = triangle.map(|point| self.points[point as usize].as_dvec3());
            let (place, feature) = nearest(corners, point);
            let from = point - place;
            let length = from.length();
            if length < best.0 {
                let on_face = feature == Feature::Face || length == 0.0;
                best = (length, if on_face { *normal } else { from / length });
            }
        }
        best
    }
}
