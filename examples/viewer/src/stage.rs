//! The simulation's state as the renderer takes it.

use glam::DVec3;

use crate::camera::OrbitCamera;
use crate::draw::{Hull, ViewUniform};
use crate::graphics::Graphics;
use crate::shown::Shown;

/// Muscle.
const ROD_COLOUR: [f32; 3] = [0.72, 0.12, 0.08];
/// Glass.
const PILL_COLOUR: [f32; 3] = [0.20, 0.50, 0.80];

/// What of a character is drawn, from where.
pub struct Stage<'a> {
    /// The character.
    pub shown: &'a Shown,
    /// From the step before (0) to the last one (1): where between the two its skin is shown.
    pub alpha: f32,
    /// Where it is seen from.
    pub camera: &'a OrbitCamera,
    /// A ball around it: centre (m) and radius (m).
    pub ball: (DVec3, f32),
    /// Whether rods and pills are drawn.
    pub overlays: [bool; 2],
    /// How much of the window the panel hides (pixels).
    pub panel: f32,
}

impl Stage<'_> {
    /// Draws; overlays are uploaded.
    pub fn draw(&self, graphics: &mut Graphics, encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
        let target = graphics.target(view, self.panel);
        let uniform = ViewUniform::new(self.camera, target.aspect(), self.ball);
        let Graphics { renderer, device, queue, .. } = graphics;
        let origin = self.camera.target;
        if let Some(skin) = &renderer.skin {
            skin.place(queue, &self.shown.root, origin, self.alpha);
        }
        let [rods, pills] = self.overlays;
        renderer.rods.upload(device, queue, &if rods { self.rods(origin) } else { Vec::new() });
        renderer.pills.upload(device, queue, &if pills { self.pills(origin) } else { Vec::new() });
        renderer.draw(device, queue, encoder, &target, &uniform);
    }

    fn rods(&self, origin: DVec3) -> Vec<Hull> {
        let segments = self.shown.rods.iter().flat_map(|rod| rod.windows(2));
        segments.map(|ends| hull([ends[0].0, ends[1].0], [ends[0].1, ends[1].1], origin, ROD_COLOUR, 1.0)).collect()
    }

    fn pills(&self, origin: DVec3) -> Vec<Hull> {
        self.shown.pills.iter().map(|&(ends, radii)| hull(ends, radii, origin, PILL_COLOUR, 0.0)).collect()
    }
}

fn hull(ends: [DVec3; 2], radii: [f32; 2], origin: DVec3, colour: [f32; 3], body: f32) -> Hull {
    let [start, end] = ends.map(|end| (end - origin).as_vec3().to_array());
    Hull { start, start_radius: radii[0], end, end_radius: radii[1], colour, body }
}
