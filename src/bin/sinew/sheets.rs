//! What is around the flesh of a scene, as triangles to draw.

use glam::{DVec3, Vec3};
use sinew::picture::MeshView;
use sinew::{HalfSpace, Pose, Shape, Solid};

const COLOUR: [f32; 4] = [0.45, 0.47, 0.5, 1.0];

/// How far a sheet reaches beyond what is seen over it, over the size of that.
const MARGIN: f64 = 0.1;

/// Triangles, flat each.
#[derive(Default)]
pub struct Sheet {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
}

impl Sheet {
    /// The part of a plane under what is seen.
    pub fn of_plane(plane: &HalfSpace, seen: &[Vec3]) -> Self {
        let normal = plane.normal.normalize_or(DVec3::Y);
        let along = normal.any_orthonormal_vector();
        let centre = normal * plane.offset;
        Self::under(
            &Pose::new(centre, glam::DQuat::from_mat3(&glam::DMat3::from_cols(along.cross(normal), normal, -along))),
            seen,
        )
    }

    /// A box all round; of a large one or another form, what is under what is seen of the plane through its top.
    pub fn of_solid(solid: &Solid, seen: &[Vec3]) -> Self {
        let half = match *solid.shape {
            Shape::Cuboid { half_extents } => half_extents.as_dvec3(),
            _ => DVec3::ZERO,
        };
        let extent = seen.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max)
            - seen.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        if half == DVec3::ZERO || half.max_element() > 4.0 * f64::from(extent.max_element()) {
            return Self::under(&(solid.pose * Pose::from_translation(DVec3::Y * half.y)), seen);
        }
        let mut sheet = Self::default();
        for (axis, sign) in (0..3).flat_map(|axis| [(axis, 1.0), (axis, -1.0)]) {
            let [normal, u, v] = [axis, (axis + 1) % 3, (axis + 2) % 3].map(|k| DVec3::AXES[k] * half[k]);
            let corners =
                [[-1.0, -1.0], [sign, -sign], [1.0, 1.0], [-sign, sign]].map(|[a, b]| normal * sign + u * a + v * b);
            sheet.push(&solid.pose, corners, DVec3::AXES[axis] * sign);
        }
        sheet
    }

    /// A rectangle in the xz plane of a pose under what is seen.
    fn under(pose: &Pose, seen: &[Vec3]) -> Self {
        let local = |point: &Vec3| pose.inverse().transform_point(point.as_dvec3());
        let low = seen.iter().map(local).fold(DVec3::INFINITY, DVec3::min);
        let high = seen.iter().map(local).fold(DVec3::NEG_INFINITY, DVec3::max);
        let middle = (low + high) * 0.5;
        let half = (high - low) * 0.5 + (high - low).max_element() * MARGIN;
        let corner = |x: f64, z: f64| DVec3::new(middle.x + x * half.x, 0.0, middle.z + z * half.z);
        let mut sheet = Self::default();
        sheet.push(pose, [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)], DVec3::Y);
        sheet
    }

    fn push(&mut self, pose: &Pose, corners: [DVec3; 4], normal: DVec3) {
        let first = self.positions.len() as u32;
        self.positions.extend(corners.map(|corner| pose.transform_point(corner).as_vec3()));
        self.normals.extend([(pose.rotation * normal).as_vec3(); 4]);
        self.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|triangle| triangle.map(|corner| first + corner)));
    }

    /// Its corners (m).
    pub fn corners(&self) -> &[Vec3] {
        &self.positions
    }

    /// It as a picture takes it.
    pub fn view(&self) -> MeshView<'_> {
        MeshView {
            positions: &self.positions,
            normals: &self.normals,
            triangles: &self.triangles,
            triangle_colours: &[COLOUR],
        }
    }
}
