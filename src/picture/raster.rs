//! Triangles to samples: exact coverage on a sub-pixel grid, depth, perspective-correct normals.

use super::camera::Camera;
use glam::Vec3;

/// Sub-sample steps of the coverage grid.
const GRID: f32 = 256.0;
/// Corners further out than this many samples are pulled in, so that the integer products cannot overflow.
const FAR_OUT: f32 = 4.0e6;
/// No triangle here.
pub const EMPTY: u32 = u32::MAX;

/// One corner of a triangle to draw.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    /// Along the layer's rows (samples).
    pub x: f32,
    /// Down the layer (samples).
    pub y: f32,
    /// Greater wins; linear in the layer's plane.
    pub depth: f32,
    /// Any vector; it is interpolated times `depth`.
    pub normal: Vec3,
}

/// What is seen through each sample.
#[derive(Clone, Debug)]
pub struct Layer {
    pub width: usize,
    pub height: usize,
    /// Depth of the nearest surface, greater is nearer: 1 / distance for cameras.
    pub depth: Vec<f32>,
    /// Identity of the surface, or [`EMPTY`].
    pub id: Vec<u32>,
    /// Its normal, of any length.
    pub normal: Vec<Vec3>,
}

impl Layer {
    /// An empty layer; `nothing` is the depth that any surface beats.
    pub fn new(width: usize, height: usize, nothing: f32) -> Self {
        let samples = width * height;
        let (depth, id, normal) = (vec![nothing; samples], vec![EMPTY; samples], vec![Vec3::ZERO; samples]);
        Self { width, height, depth, id, normal }
    }

    /// Draws a triangle of either orientation.
    pub fn draw(&mut self, corners: [Corner; 3], id: u32) {
        if !corners.iter().all(|c| c.x.is_finite() && c.y.is_finite() && c.depth.is_finite()) {
            return;
        }
        let snap = |v: f32| (v.clamp(-FAR_OUT, FAR_OUT) * GRID).round() as i64;
        let [a, mut b, mut c] = corners;
        let place = |k: &Corner| (snap(k.x), snap(k.y));
        let pa = place(&a);
        let (mut pb, mut pc) = (place(&b), place(&c));
        let mut area = cross(pa, pb, pc);
        if area == 0 {
            return;
        }
        if area < 0 {
            std::mem::swap(&mut b, &mut c);
            std::mem::swap(&mut pb, &mut pc);
            area = -area;
        }
        let grid = GRID as i64;
        let span = |values: [i64; 3], limit: usize| {
            let [least, greatest] = [values.iter().min(), values.iter().max()].map(|v| *v.unwrap_or(&0));
            let first = (least - grid / 2).div_euclid(grid).max(0);
            (first, greatest.div_euclid(grid).min(limit as i64 - 1))
        };
        let (x0, x1) = span([pa.0, pb.0, pc.0], self.width);
        let (y0, y1) = span([pa.1, pb.1, pc.1], self.height);
        let inv_area = 1.0 / area as f32;
        for y in y0..=y1 {
            for x in x0..=x1 {
                let p = (x * grid + grid / 2, y * grid + grid / 2);
                let (wa, wb, wc) = (cross(pb, pc, p), cross(pc, pa, p), cross(pa, pb, p));
                if wa < 0 || wb < 0 || wc < 0 {
                    continue;
                }
                let [wa, wb, wc] = [wa, wb, wc].map(|w| w as f32 * inv_area);
                let depth = a.depth * wa + b.depth * wb + c.depth * wc;
                let at = y as usize * self.width + x as usize;
                if depth > self.depth[at] {
                    self.depth[at] = depth;
                    self.id[at] = id;
                    self.normal[at] = a.normal * (wa * a.depth) + b.normal * (wb * b.depth) + c.normal * (wc * c.depth);
                }
            }
        }
    }

    /// Draws a triangle of the world as `camera` sees it. Normals turn towards the camera where the triangle's
    /// back is seen, and are the triangle's own where they are zero or not finite.
    pub fn draw_world(&mut self, camera: &Camera, places: [Vec3; 3], normals: [Vec3; 3], id: u32) {
        if !places.iter().all(|p| p.is_finite()) {
            return;
        }
        let face = (places[1] - places[0]).cross(places[2] - places[0]);
        let side = if face.dot(places[0] - camera.eye) > 0.0 { -1.0 } else { 1.0 };
        let usable = |n: Vec3| n.is_finite() && n.length_squared() > 1e-12;
        let face = face.try_normalize().unwrap_or(Vec3::Y);
        let seen: [(Vec3, Vec3); 3] = std::array::from_fn(|i| {
            (camera.view(places[i]), side * if usable(normals[i]) { normals[i] } else { face })
        });

        let near = camera.near();
        let mut clipped = [seen[0]; 4];
        let mut count = 0;
        for i in 0..3 {
            let ((p, n), (q, m)) = (seen[i], seen[(i + 1) % 3]);
            if p.z >= near {
                clipped[count] = (p, n);
                count += 1;
            }
            if (p.z >= near) != (q.z >= near) {
                let t = (near - p.z) / (q.z - p.z);
                let mut cut = p + (q - p) * t;
                cut.z = near;
                clipped[count] = (cut, n + (m - n) * t);
                count += 1;
            }
        }
        let (half_width, half_height) = (self.width as f32 * 0.5, self.height as f32 * 0.5);
        let corner = |(p, normal): (Vec3, Vec3)| {
            let depth = 1.0 / p.z;
            let x = (p.x * depth / camera.half_view[0] + 1.0) * half_width;
            let y = (1.0 - p.y * depth / camera.half_view[1]) * half_height;
            Corner { x, y, depth, normal }
        };
        for i in 2..count {
            self.draw([corner(clipped[0]), corner(clipped[i - 1]), corner(clipped[i])], id);
        }
    }
}

/// Twice the area of a triangle, positive when it turns clockwise on the picture (y points down).
fn cross(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i64 {
    (b.0 - a.0) * (c.1 - a.1) - (b.1 - a.1) * (c.0 - a.0)
}
