//! What the shaders know of camera and light.

use bytemuck::{Pod, Zeroable};
use glam::camera::rh::proj::directx::orthographic;
use glam::camera::rh::view::look_at_mat4;
use glam::{DVec3, Mat4, Vec3};

use crate::camera::OrbitCamera;

/// Side of a floor tile for a character of human size (m).
const TILE: f64 = 0.25;

/// The uniform `View` of scene.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub struct ViewUniform {
    view_projection: Mat4,
    light_projection: Mat4,
    eye: Vec3,
    size: f32,
    key: Vec3,
    distance: f32,
    forward: Vec3,
    floor: f32,
    across: Vec3,
    tile: f32,
    up: Vec3,
    pattern_x: f32,
    pattern_z: f32,
    padding: [f32; 3],
}

impl ViewUniform {
    /// A camera's view, with the key light around what fills a ball (m, in the world); the floor is at height 0.
    pub fn new(camera: &OrbitCamera, aspect: f32, (centre, radius): (DVec3, f32)) -> Self {
        let eye = camera.eye();
        let forward = -eye.normalize();
        let across = forward.cross(Vec3::Y).normalize_or(Vec3::X);
        let up = across.cross(forward);
        let view_projection = camera.view_projection(aspect);
        let half_height = OrbitCamera::half_height();

        // Over the camera's shoulder, from the left.
        let level = Vec3::new(forward.x, 0.0, forward.z).normalize_or(-Vec3::Z);
        let key = (Vec3::Y - level.cross(Vec3::Y) * 0.62 - level * 0.55).normalize();
        let centre = (centre - camera.target).as_vec3();
        let light = look_at_mat4(centre + key * (2.0 * radius), centre, key.any_orthonormal_vector());
        let box_of_light = orthographic(-radius, radius, -radius, radius, 0.0, 4.0 * radius);
        // Giants get larger tiles, insects smaller ones, by powers of ten so that they still measure.
        let tile = TILE * 10_f64.powf(f64::from(radius.max(1e-6)).log10().round());
        let pattern = |at: f64| at.rem_euclid(2.0 * tile) as f32;
        Self {
            view_projection,
            light_projection: box_of_light * light,
            eye,
            size: radius,
            key,
            distance: camera.distance,
            forward,
            floor: -camera.target.y as f32,
            across: across * half_height * aspect,
            tile: tile as f32,
            up: up * half_height,
            pattern_x: pattern(camera.target.x),
            pattern_z: pattern(camera.target.z),
            padding: [0.0; 3],
        }
    }
}
