//! A camera that circles what it looks at.

use glam::camera::rh::proj::directx::perspective;
use glam::camera::rh::view::look_at_mat4;
use glam::{DVec3, Mat4, Vec3};

/// Vertical field of view (rad).
const FIELD_OF_VIEW: f32 = 0.65;

/// Where the scene is seen from. Everything is drawn relative to the target, so that a character 5 km from the
/// world's origin looks as it does at it.
#[derive(Clone, Copy, Debug)]
pub struct OrbitCamera {
    /// What it looks at, in the world (m).
    pub target: DVec3,
    /// Angle about +Y, 0 looks along -Z (rad).
    pub yaw: f32,
    /// Angle above the horizon (rad).
    pub pitch: f32,
    /// From the target (m).
    pub distance: f32,
}

impl OrbitCamera {
    /// Looks slightly down at a ball around `centre` (m), all of which is in the picture.
    pub fn framing(centre: DVec3, radius: f32) -> Self {
        let distance = radius.max(1e-3) / (0.5 * FIELD_OF_VIEW).sin();
        Self { target: centre, yaw: 0.5, pitch: 0.22, distance }
    }

    /// From the target to the eye (m).
    pub fn eye(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch) * self.distance
    }

    /// Where the eye is in the world (m), and the unit vector along which it looks.
    pub fn ray(&self) -> [DVec3; 2] {
        let eye = self.eye().as_dvec3();
        [self.target + eye, -eye.normalize()]
    }

    /// Half of the picture's height over the distance to it.
    pub fn half_height() -> f32 {
        (0.5 * FIELD_OF_VIEW).tan()
    }

    /// From places relative to the target to clip space.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let near = 0.02 * self.distance;
        let projection = perspective(FIELD_OF_VIEW, aspect, near, 1e4 * near);
        projection * look_at_mat4(self.eye(), Vec3::ZERO, Vec3::Y)
    }

    /// Turns by a drag over the window (shares of its height).
    pub fn orbit(&mut self, right: f32, down: f32) {
        self.yaw -= 4.0 * right;
        self.pitch = (self.pitch + 4.0 * down).clamp(-1.5, 1.5);
    }

    /// Moves the target along with a drag over the window (shares of its height).
    pub fn pan(&mut self, right: f32, down: f32) {
        self.target -= self.drag(right, down).as_dvec3();
    }

    /// The motion (m) at the target's depth that a drag over the window stands for (shares of its height).
    pub fn drag(&self, right: f32, down: f32) -> Vec3 {
        let forward = -self.eye().normalize();
        let across = forward.cross(Vec3::Y).normalize_or(Vec3::X);
        let up = across.cross(forward);
        let height = 2.0 * self.distance * Self::half_height();
        (across * right - up * down) * height
    }

    /// Comes closer by lines of a mouse wheel.
    pub fn zoom(&mut self, lines: f32) {
        self.distance = (self.distance * (-0.1 * lines).exp()).clamp(1e-3, 1e4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_framed_ball_fills_the_picture() {
        let camera = OrbitCamera::framing(DVec3::new(5000.0, 1.0, 0.0), 0.8);
        let clip = camera.view_projection(1.0) * Vec3::ZERO.extend(1.0);
        assert!(clip.truncate().truncate().length() < 1e-4 * clip.w);
        let up = camera.drag(0.0, -1.0).normalize();
        let top = camera.view_projection(1.0).project_point3(up * 0.8);
        assert!((0.9..=1.0).contains(&top.y), "the ball's top is at {top}");
    }

    #[test]
    fn dragging_follows_the_pointer() {
        let camera = OrbitCamera::framing(DVec3::ZERO, 1.0);
        let moved = camera.view_projection(1.5).project_point3(camera.drag(0.1, 0.2));
        assert!((moved.x * 1.5 - 0.2).abs() < 1e-3 && (moved.y + 0.4).abs() < 1e-3, "{moved}");
    }
}
