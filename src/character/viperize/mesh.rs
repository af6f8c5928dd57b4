//! The surface that comes in.

use super::ViperizeError;
use glam::DVec3;

/// A triangle mesh, closed or not: holes, triangles turned over or twice, inner walls and edges of any valence are
/// allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Where its vertices are (m).
    pub positions: Vec<DVec3>,
    /// Three vertices each; counter-clockwise seen from outside where the mesh is sound.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// # Errors
    /// [`ViperizeError::NoTriangles`], [`ViperizeError::TriangleIndex`], [`ViperizeError::NotFinite`].
    pub(super) fn validate(&self) -> Result<(), ViperizeError> {
        let far = |place: &DVec3| !place.is_finite() || place.abs().max_element() > 1e100;
        if let Some(vertex) = self.positions.iter().position(far) {
            return Err(ViperizeError::NotFinite { vertex });
        }
        let vertices = self.positions.len();
        for (triangle, corners) in self.triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&vertex| vertex as usize >= vertices) {
                return Err(ViperizeError::TriangleIndex { triangle, vertex, vertices });
            }
        }
        let area = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|vertex| self.positions[vertex as usize]);
            (b - a).cross(c - a).length_squared()
        };
        if self.triangles.iter().map(area).any(|area| area > 0.0) { Ok(()) } else { Err(ViperizeError::NoTriangles) }
    }
}
