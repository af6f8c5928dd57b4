//! Where light falls: the key light's shadows and the dark under what touches the floor.

use super::raster::{Corner, Layer};
use super::{Camera, Ground, MeshView};
use glam::Vec3;

/// Texels along a side of the shadow map.
const SHADOW_SIDE: usize = 768;
/// Texels along a side of the contact map.
const CONTACT_SIDE: usize = 160;
/// Offsets of the samples that soften a shadow's edge (radii of the softness).
const TAPS: [(f32, f32); 9] = [
    (0.0, 0.0),
    (0.9, 0.2),
    (-0.6, 0.7),
    (-0.5, -0.8),
    (0.45, -0.35),
    (0.25, 0.85),
    (-0.9, -0.15),
    (-0.2, 0.3),
    (0.55, -0.8),
];

/// Brightness of the sky above a surface that faces up.
const SKY: Vec3 = Vec3::new(0.50, 0.56, 0.66);
/// Light that the floor throws back at a surface that faces down.
const BOUNCE: Vec3 = Vec3::new(0.27, 0.24, 0.22);
/// The key light.
const KEY: Vec3 = Vec3::new(0.86, 0.80, 0.70);
/// The light from behind that lines the edges.
const RIM: Vec3 = Vec3::new(0.36, 0.42, 0.50);

/// The lights, and what keeps them from places.
pub struct Lights {
    /// Unit vector towards the key light.
    key: Vec3,
    /// Along rows and columns of the shadow map (unit vectors).
    axes: [Vec3; 2],
    /// Shadow map coordinates of its first corner (m) and texels per metre.
    shadow_corner: [f32; 2],
    shadow_scale: f32,
    /// Distance towards the light of the surface nearest to it, `NEG_INFINITY` for none (m).
    shadow: Vec<f32>,
    /// World x and z of the contact map's first corner (m) and texels per metre.
    contact_corner: [f32; 2],
    contact_scale: f32,
    /// How much of the sky's light is kept from the floor, 0 to 1.
    contact: Vec<f32>,
    /// Size of what casts shadows (m).
    size: f32,
}

impl Lights {
    /// Casts the meshes' shadows.
    pub fn cast(camera: &Camera, ground: Option<Ground>, meshes: &[MeshView]) -> Self {
        let level = Vec3::new(camera.forward.x, 0.0, camera.forward.z).try_normalize().unwrap_or(-Vec3::Z);
        let side = level.cross(Vec3::Y);
        let key = (Vec3::Y * 1.0 - side * 0.62 - level * 0.55).normalize();
        let (u, v) = key.any_orthonormal_pair();

        // Something far away must not make the maps coarse: only what is near the camera's target is fitted.
        let reach = camera.distance() * 2.0;
        let near = |p: &&Vec3| p.is_finite() && (**p - camera.target).abs().max_element() <= reach;
        let mut shadow_box = Square::default();
        let mut contact_box = Square::default();
        for p in meshes.iter().flat_map(|mesh| mesh.positions.iter()).filter(near) {
            shadow_box.add(p.dot(u), p.dot(v));
            contact_box.add(p.x, p.z);
        }
        let (shadow_corner, shadow_scale, size) = shadow_box.grid(SHADOW_SIDE, 0.02);
        let (contact_corner, contact_scale, _) = contact_box.grid(CONTACT_SIDE, 0.15);
        let mut lights = Self {
            key,
            axes: [u, v],
            shadow_corner,
            shadow_scale,
            shadow: Vec::new(),
            contact_corner,
            contact_scale,
            contact: vec![0.0; CONTACT_SIDE * CONTACT_SIDE],
            size,
        };
        lights.cast_shadow(meshes);
        if let Some(ground) = ground {
            lights.cast_contact(ground, meshes);
        }
        lights
    }

    fn cast_shadow(&mut self, meshes: &[MeshView]) {
        let mut map = Layer::new(SHADOW_SIDE, SHADOW_SIDE, f32::NEG_INFINITY);
        let corner = |p: Vec3| {
            let [x, y] = self.shadow_texel(p);
            Corner { x, y, depth: p.dot(self.key), normal: Vec3::ZERO }
        };
        for mesh in meshes {
            for t in mesh.triangles {
                map.draw(t.map(|i| corner(mesh.positions[i as usize])), 0);
            }
        }
        self.shadow = map.depth;
    }

    fn cast_contact(&mut self, ground: Ground, meshes: &[MeshView]) {
        let side = CONTACT_SIDE;
        let mut map = Layer::new(side, side, 0.0);
        let reach = 0.16 * self.size;
        for mesh in meshes {
            for t in mesh.triangles {
                let corner = |i: u32| {
                    let p = mesh.positions[i as usize];
                    let [x, y] = self.contact_texel(p);
                    let depth = 1.0 - (p.y - ground.height).max(0.0) / reach;
                    Corner { x, y, depth, normal: Vec3::ZERO }
                };
                map.draw(t.map(corner), 0);
            }
        }
        self.contact = map.depth.iter().map(|d| d * d).collect();
        for _ in 0..3 {
            for line in 0..side {
                blur(&mut self.contact, line * side, 1, side);
                blur(&mut self.contact, line, side, side);
            }
        }
    }

    fn shadow_texel(&self, p: Vec3) -> [f32; 2] {
        std::array::from_fn(|i| (p.dot(self.axes[i]) - self.shadow_corner[i]) * self.shadow_scale)
    }

    fn contact_texel(&self, p: Vec3) -> [f32; 2] {
        [(p.x - self.contact_corner[0]) * self.contact_scale, (p.z - self.contact_corner[1]) * self.contact_scale]
    }

    /// Share of the key light that reaches `p`, softened over `softness` (shares of the scene's size).
    fn key_share(&self, p: Vec3, bias: f32, softness: f32) -> f32 {
        let [x, y] = self.shadow_texel(p);
        let radius = softness * SHADOW_SIDE as f32;
        let inside = |v: f32| v > -radius && v < SHADOW_SIDE as f32 + radius;
        if !inside(x) || !inside(y) {
            return 1.0;
        }
        let depth = p.dot(self.key) + bias;
        let lit = |&&(dx, dy): &&(f32, f32)| {
            let (x, y) = (x + dx * radius, y + dy * radius);
            let beyond = x < 0.0 || y < 0.0 || x >= SHADOW_SIDE as f32 || y >= SHADOW_SIDE as f32;
            beyond || self.shadow[y as usize * SHADOW_SIDE + x as usize] <= depth
        };
        TAPS.iter().filter(lit).count() as f32 / TAPS.len() as f32
    }

    /// Linear colour of a lit surface; `n` and `to_eye` are unit vectors.
    pub fn surface(&self, p: Vec3, n: Vec3, to_eye: Vec3, colour: Vec3) -> Vec3 {
        let facing = n.dot(self.key);
        // Light wraps a little past the terminator, as it does on skin.
        let wrapped = ((facing + 0.15) / 1.15).max(0.0);
        let share =
            if wrapped > 0.0 { self.key_share(p + n * (0.006 * self.size), 0.004 * self.size, 0.005) } else { 0.0 };
        let up = n.y * 0.5 + 0.5;
        let edge = 1.0 - n.dot(to_eye).max(0.0);
        let half = (self.key + to_eye).try_normalize().unwrap_or(n);
        let gloss = power16(n.dot(half).max(0.0));
        let diffuse = BOUNCE + (SKY - BOUNCE) * up + KEY * (wrapped * share);
        colour * diffuse + KEY * (0.10 * gloss * share) + RIM * (edge * edge * edge * up * 0.5)
    }

    /// Linear colour of the floor.
    pub fn floor(&self, p: Vec3, colour: Vec3) -> Vec3 {
        let share = self.key_share(p, 0.002 * self.size, 0.012);
        let [x, y] = self.contact_texel(p);
        let open = 1.0 - 0.8 * bilinear(&self.contact, CONTACT_SIDE, x, y);
        colour * (SKY * open + KEY * (0.45 + 0.55 * open) * (self.key.y * share))
    }

    /// Linear colour of an overlay, lit without shadows so that it reads through the skin.
    pub fn overlay(&self, n: Vec3, to_eye: Vec3, colour: Vec3) -> Vec3 {
        let half = (self.key + to_eye).try_normalize().unwrap_or(n);
        let gloss = power16(n.dot(half).max(0.0));
        colour * (0.35 + 0.6 * (n.dot(self.key) * 0.5 + 0.5)) + Vec3::splat(0.16 * gloss)
    }
}

fn power16(x: f32) -> f32 {
    let x2 = x * x;
    let x4 = x2 * x2;
    let x8 = x4 * x4;
    x8 * x8
}

/// The square of a plane that things fill.
struct Square {
    min: [f32; 2],
    max: [f32; 2],
}

impl Default for Square {
    fn default() -> Self {
        Self { min: [f32::INFINITY; 2], max: [f32::NEG_INFINITY; 2] }
    }
}

impl Square {
    fn add(&mut self, x: f32, y: f32) {
        self.min = [self.min[0].min(x), self.min[1].min(y)];
        self.max = [self.max[0].max(x), self.max[1].max(y)];
    }

    /// First corner, texels per metre and side (m) of a map that covers the square and `margin` (sides) around it.
    fn grid(&self, texels: usize, margin: f32) -> ([f32; 2], f32, f32) {
        let size = (self.max[0] - self.min[0]).max(self.max[1] - self.min[1]);
        if !size.is_finite() || size <= 0.0 {
            return ([0.0; 2], texels as f32, 1.0);
        }
        let side = size * (1.0 + 2.0 * margin);
        let corner = std::array::from_fn(|i| (self.min[i] + self.max[i] - side) * 0.5);
        (corner, texels as f32 / side, size)
    }
}

/// Mean of seven neighbours along a line of `values`; beyond the line everything is 0.
fn blur(values: &mut [f32], start: usize, stride: usize, count: usize) {
    const REACH: usize = 3;
    let line: Vec<f32> = (0..count).map(|i| values[start + i * stride]).collect();
    for i in 0..count {
        let window = &line[i.saturating_sub(REACH)..(i + REACH + 1).min(count)];
        values[start + i * stride] = window.iter().sum::<f32>() / (2 * REACH + 1) as f32;
    }
}

fn bilinear(values: &[f32], side: usize, x: f32, y: f32) -> f32 {
    let limit = (side - 1) as f32;
    let (x, y) = (x - 0.5, y - 0.5);
    if !(x >= 0.0 && y >= 0.0 && x < limit && y < limit) {
        return 0.0;
    }
    let (i, j) = (x as usize, y as usize);
    let (fx, fy) = (x - i as f32, y - j as f32);
    let row = |j: usize| values[j * side + i] * (1.0 - fx) + values[j * side + i + 1] * fx;
    row(j) * (1.0 - fy) + row(j + 1) * fy
}
