//! Convex polyhedra.

use glam::{DVec3, Vec3};

use super::ShapeError;
use super::mesh::{Feature, check, nearest};

/// A convex polyhedron: closed triangles that face outward.
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    points: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    /// Unit normals out of the triangles.
    normals: Vec<DVec3>,
}

/// How far a point may be outside a face, over the polyhedron's size: hulls that were made by taking faces together are off by as
/// much as these.
const OUTSIDE: f64 = 1.0e-2;

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
        let normals = triangles.iter().map(|triangle| {
            let [a, b, c] = corners(triangle);
            (b - a).cross(c - a).normalize()
        });
        let convex = Self { normals: normals.collect(), points: points.to_vec(), triangles };
        let [low, high] = convex.bounds();
        let most = OUTSIDE * f64::from((high - low).length());
        for (triangle, (corners, normal)) in convex.triangles.iter().zip(&convex.normals).enumerate() {
            let through = points[corners[0] as usize].as_dvec3();
            let outside = |point: &Vec3| normal.dot(point.as_dvec3() - through) > most;
            if let Some(point) = points.iter().position(outside) {
                return Err(ShapeError::NotConvex { point, triangle });
            }
        }
        Ok(convex)
    }

    pub(super) fn bounds(&self) -> [Vec3; 2] {
        let none = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        self.points.iter().fold(none, |[low, high], point| [low.min(*point), high.max(*point)])
    }

    /// Inside, from the nearest of the planes; outside, from the nearest of the triangles.
    pub(super) fn surface(&self, point: DVec3) -> (f64, DVec3) {
        let corners = |triangle: &[u32; 3]| triangle.map(|point| self.points[point as usize].as_dvec3());
        let planes = self.triangles.iter().zip(&self.normals);
        let of_planes = planes.map(|(triangle, normal)| (normal.dot(point - corners(triangle)[0]), *normal));
        let inside = of_planes.reduce(|a, b| if b.0 > a.0 { b } else { a }).unwrap_or((0.0, DVec3::Y));
        if inside.0 <= 0.0 {
            return inside;
        }
        let mut best = (f64::INFINITY, inside.1);
        for (triangle, normal) in self.triangles.iter().zip(&self.normals) {
            let (place, feature) = nearest(corners(triangle), point);
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
