//! A scene to pixels: surfaces, floor and overlays per sample, then one mean per pixel.

use super::light::Lights;
use super::raster::{EMPTY, Layer};
use super::solids::Solids;
use super::{Camera, Ground, Image, Scene};
use glam::Vec3;

/// Samples along each side of a pixel.
const SAMPLES: usize = 2;
/// Top and bottom of what lies behind everything (linear).
const ABOVE: Vec3 = Vec3::new(0.56, 0.64, 0.74);
const HORIZON: Vec3 = Vec3::new(0.80, 0.83, 0.86);
/// The floor's two tiles (linear).
const TILES: [Vec3; 2] = [Vec3::new(0.52, 0.53, 0.55), Vec3::new(0.61, 0.62, 0.64)];

/// Draws a checked scene at a checked size.
pub fn render(scene: &Scene, width: u32, height: u32) -> Image {
    let (across, down) = (width as usize * SAMPLES, height as usize * SAMPLES);
    let camera = &scene.camera;
    let lights = Lights::cast(camera, scene.ground, &scene.meshes);

    let mut skin = Layer::new(across, down, 0.0);
    let mut colours = Vec::new();
    for mesh in &scene.meshes {
        for (i, t) in mesh.triangles.iter().enumerate() {
            let id = colours.len() as u32;
            let colour = if mesh.triangle_colours.len() == 1 { 0 } else { i };
            colours.push(sane(mesh.triangle_colours[colour]));
            let corner = t.map(|v| v as usize);
            skin.draw_world(camera, corner.map(|v| mesh.positions[v]), corner.map(|v| mesh.normals[v]), id);
        }
    }
    let pill_colours: Vec<[f32; 4]> = scene.pills.iter().map(|p| sane(p.colour)).collect();
    let rod_colours: Vec<[f32; 4]> = scene.rods.iter().map(|r| sane(r.colour)).collect();
    let pills = overlay(camera, &Solids::of_pills(&scene.pills), across, down);
    let rods = overlay(camera, &Solids::of_rods(&scene.rods), across, down);

    let encode = srgb_table();
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    for row in 0..height as usize {
        for column in 0..width as usize {
            let mut sum = Vec3::ZERO;
            // The floor's pattern is soft enough for one sample a pixel.
            let middle = camera
                .ray(2.0 * (column as f32 + 0.5) / width as f32 - 1.0, 1.0 - 2.0 * (row as f32 + 0.5) / height as f32);
            let mut behind = None;
            for sample in 0..SAMPLES * SAMPLES {
                let (x, y) = (column * SAMPLES + sample % SAMPLES, row * SAMPLES + sample / SAMPLES);
                let at = y * across + x;
                let (px, py) = ((x as f32 + 0.5) / across as f32, (y as f32 + 0.5) / down as f32);
                let ray = camera.ray(2.0 * px - 1.0, 1.0 - 2.0 * py);
                let floor_depth = floor_depth(scene, ray);
                let mut depth = floor_depth;
                let mut colour;
                if skin.id[at] != EMPTY && skin.depth[at] >= floor_depth {
                    depth = skin.depth[at];
                    let to_eye = -ray.normalize();
                    let n = skin.normal[at].try_normalize().unwrap_or(to_eye);
                    let [r, g, b, _] = colours[skin.id[at] as usize];
                    colour = lights.surface(camera.eye + ray / depth, n, to_eye, Vec3::new(r, g, b));
                } else {
                    let down = (row as f32 + 0.5) / height as f32;
                    colour = *behind.get_or_insert_with(|| backdrop(scene, &lights, middle, down));
                }
                for (layer, palette, glassy) in [(&pills, &pill_colours, true), (&rods, &rod_colours, false)] {
                    let Some(layer) = layer else { continue };
                    if layer.id[at] == EMPTY {
                        continue;
                    }
                    let to_eye = -ray.normalize();
                    let n = layer.normal[at].try_normalize().unwrap_or(to_eye);
                    let [r, g, b, opacity] = palette[layer.id[at] as usize];
                    let hidden = if layer.depth[at] >= depth {
                        1.0
                    } else if skin.id[at] == EMPTY || skin.depth[at] < floor_depth {
                        0.15
                    } else {
                        let below = (1.0 / layer.depth[at] - 1.0 / depth) / camera.distance();
                        0.5 + 0.45 / (1.0 + 12.0 * below)
                    };
                    let edge = 1.0 - n.dot(to_eye).max(0.0);
                    let body = if glassy { 0.34 + 0.66 * edge * edge } else { 1.0 };
                    let lit = lights.overlay(n, to_eye, Vec3::new(r, g, b));
                    colour += (lit - colour) * (opacity * hidden * body);
                }
                sum += shoulder(colour);
            }
            let mean = sum / (SAMPLES * SAMPLES) as f32;
            rgba.extend(mean.to_array().map(|c| encode[(c * (encode.len() - 1) as f32 + 0.5) as usize]));
            rgba.push(255);
        }
    }
    Image { width, height, rgba }
}

fn overlay(camera: &Camera, solids: &Solids, across: usize, down: usize) -> Option<Layer> {
    if solids.triangles.is_empty() {
        return None;
    }
    let mut layer = Layer::new(across, down, 0.0);
    for &(t, id) in &solids.triangles {
        let corner = t.map(|v| v as usize);
        let places = corner.map(|v| solids.positions[v]);
        // Hulls are closed, so their backs are never the nearest surface.
        if (places[1] - places[0]).cross(places[2] - places[0]).dot(places[0] - camera.eye) < 0.0 {
            layer.draw_world(camera, places, corner.map(|v| solids.normals[v]), id);
        }
    }
    Some(layer)
}

/// Inverse distance of the floor along a ray, 0 where it is not met.
fn floor_depth(scene: &Scene, ray: Vec3) -> f32 {
    let Some(ground) = scene.ground else { return 0.0 };
    let depth = ray.y / (ground.height - scene.camera.eye.y);
    if depth > 0.0 && depth * scene.camera.near() <= 1.0 { depth } else { 0.0 }
}

/// Colour of the floor or of what lies behind it. `down` is 0 at the top of the picture and 1 at its bottom.
fn backdrop(scene: &Scene, lights: &Lights, ray: Vec3, down: f32) -> Vec3 {
    let sky = ABOVE + (HORIZON - ABOVE) * (down * 1.4).min(1.0);
    let Some(Ground { tile, .. }) = scene.ground else { return sky };
    let camera = &scene.camera;
    let distance = 1.0 / floor_depth(scene, ray);
    if !distance.is_finite() {
        return sky;
    }
    let p = camera.eye + ray * distance;
    let range = camera.distance();
    let away = Vec3::new(p.x - camera.target.x, 0.0, p.z - camera.target.z).length() / range;
    let fade = ((away - 0.35) / 1.1).clamp(0.0, 1.0);
    let fade = fade * fade * (3.0 - 2.0 * fade);
    if fade >= 1.0 {
        return sky;
    }
    // A tile's edge is about as soft as a pixel is wide on the floor.
    let slant = ray.y.abs() / ray.length();
    let soft = (distance * 0.003 / slant.max(0.02) / tile.abs().max(1e-6)).clamp(1e-3, 0.5);
    let wave = |v: f32| {
        let v = v / tile.abs().max(1e-6) * 0.5;
        let saw = (v - v.floor() - 0.5).abs() * 4.0 - 1.0;
        (saw / soft).clamp(-1.0, 1.0)
    };
    let mix = wave(p.x) * wave(p.z) * 0.5 + 0.5;
    let colour = lights.floor(p, TILES[0] + (TILES[1] - TILES[0]) * mix);
    colour + (sky - colour) * fade
}

/// Colours between 0 and 1 whatever was passed.
fn sane(colour: [f32; 4]) -> [f32; 4] {
    colour.map(|c| if c.is_finite() { c.clamp(0.0, 1.0) } else { 0.5 })
}

/// Keeps bright values below 1 without a visible step.
fn shoulder(colour: Vec3) -> Vec3 {
    const KNEE: f32 = 0.7;
    let bend = |c: f32| {
        if c <= KNEE { c.max(0.0) } else { KNEE + (1.0 - KNEE) * (1.0 - 1.0 / (1.0 + (c - KNEE) / (1.0 - KNEE))) }
    };
    Vec3::new(bend(colour.x), bend(colour.y), bend(colour.z))
}

/// sRGB bytes of linear values i / 4095. The power 1/2.4 is written as the cube root of x·⁴√x, with Newton's
/// method for the root, because a library's `powf` differs between machines.
fn srgb_table() -> Vec<u8> {
    let encode = |i: u32| {
        let x = f64::from(i) / 4095.0;
        if x <= 0.003_130_8 {
            return (x * 12.92 * 255.0 + 0.5) as u8;
        }
        let cube = x * x.sqrt().sqrt();
        let mut root = 1.0;
        for _ in 0..40 {
            root = (2.0 * root + cube / (root * root)) / 3.0;
        }
        ((1.055 * root - 0.055) * 255.0 + 0.5) as u8
    };
    (0..4096).map(encode).collect()
}
