//! The simulation's state as the renderer takes it.

use glam::DVec3;

use crate::camera::OrbitCamera;
use crate::draw::{Hull, Renderer, Target, ViewUniform};
use crate::shown::{BareFlesh, Rod, Shown};

/// Muscle.
const ROD_COLOUR: [f32; 3] = [0.72, 0.12, 0.08];
/// Glass.
const PILL_COLOUR: [f32; 3] = [0.20, 0.50, 0.80];
/// Flesh without a skin, in turn.
const BARE_COLOURS: [[f32; 3]; 6] = [
    [0.62, 0.20, 0.14],
    [0.66, 0.42, 0.12],
    [0.24, 0.42, 0.22],
    [0.14, 0.40, 0.46],
    [0.24, 0.26, 0.56],
    [0.52, 0.20, 0.42],
];
/// Flesh that sleeps goes halfway there.
const SLEEP_COLOUR: [f32; 3] = [0.34, 0.34, 0.36];
/// Between which forces a contact's line grows and changes its colour (N).
pub const FORCES: [f32; 2] = [0.1, 100.0];
/// A contact's line at the largest force, and its radius, over the distance to what the camera looks at.
const CONTACT_SIZE: [f32; 2] = [0.028, 0.0009];

/// What of a scene is drawn, from where.
pub struct Stage<'a> {
    /// The scene.
    pub shown: &'a Shown,
    /// From the step before (0) to the last one (1): where between the two its skin is shown.
    pub alpha: f32,
    /// Where it is seen from.
    pub camera: &'a OrbitCamera,
    /// A ball around it: centre (m) and radius (m).
    pub ball: (DVec3, f32),
    /// What is drawn over it.
    pub overlays: Overlays,
}

/// What is drawn over a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlays {
    /// The character's rods.
    pub rods: bool,
    /// Its bones' pills.
    pub pills: bool,
    /// Where flesh is pressed.
    pub contacts: bool,
}

impl Stage<'_> {
    /// Draws; what is not in the simulation's own buffers is uploaded.
    pub fn draw(
        &self,
        renderer: &mut Renderer,
        (device, queue): (&wgpu::Device, &wgpu::Queue),
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
    ) {
        let uniform = ViewUniform::new(self.camera, target.aspect(), self.ball);
        let origin = self.camera.target;
        if let Some(skin) = &renderer.skin {
            skin.place(queue, &self.shown.root, origin, self.alpha);
        }
        let Overlays { rods, pills, contacts } = self.overlays;
        let bare = self.shown.bare.iter().flat_map(|bare| hulls_of(&bare.rods, origin, bare_colour(bare), 1.0));
        renderer.bare.upload(device, queue, &bare.collect::<Vec<_>>());
        let rods = rods.then(|| hulls_of(&self.shown.rods, origin, ROD_COLOUR, 0.46));
        renderer.rods.upload(device, queue, &rods.into_iter().flatten().collect::<Vec<_>>());
        renderer.pills.upload(device, queue, &if pills { self.pills(origin) } else { Vec::new() });
        renderer.contacts.upload(device, queue, &if contacts { self.contacts(origin) } else { Vec::new() });
        renderer.draw(device, queue, encoder, target, &uniform);
    }

    fn pills(&self, origin: DVec3) -> Vec<Hull> {
        self.shown.pills.iter().map(|&(ends, radii)| hull(ends, radii, origin, PILL_COLOUR, 0.0)).collect()
    }

    /// A line along each contact's normal, from its point on.
    fn contacts(&self, origin: DVec3) -> Vec<Hull> {
        let [longest, radius] = CONTACT_SIZE.map(|size| size * self.camera.distance);
        let line = |pressed: &crate::shown::Pressed| {
            let share = force_share(pressed.force);
            let end = pressed.point + pressed.normal * f64::from(longest * (0.25 + 0.75 * share));
            hull([pressed.point, end], [1.8 * radius, radius], origin, force_colour(share), 1.0)
        };
        self.shown.contacts.iter().map(line).collect()
    }
}

/// Where a force (N) is between the two of [`FORCES`], by its logarithm, 0 to 1.
fn force_share(force: f32) -> f32 {
    let [low, high] = FORCES;
    ((force / low).log10() / (high / low).log10()).clamp(0.0, 1.0)
}

/// The linear colour of a force by its share of [`FORCES`]: blue, green, yellow, red.
pub fn force_colour(share: f32) -> [f32; 3] {
    const RAMP: [[f32; 3]; 4] = [[0.05, 0.25, 0.90], [0.05, 0.70, 0.25], [0.95, 0.75, 0.05], [0.90, 0.04, 0.02]];
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f32;
    let first = (at as usize).min(RAMP.len() - 2);
    mixed(RAMP[first], RAMP[first + 1], at - first as f32)
}

fn bare_colour(bare: &BareFlesh) -> [f32; 3] {
    let colour = BARE_COLOURS[bare.number % BARE_COLOURS.len()];
    if bare.asleep { mixed(colour, SLEEP_COLOUR, 0.5) } else { colour }
}

fn mixed(from: [f32; 3], to: [f32; 3], share: f32) -> [f32; 3] {
    [0, 1, 2].map(|k| from[k] + (to[k] - from[k]) * share)
}

fn hulls_of(rods: &[Rod], origin: DVec3, colour: [f32; 3], body: f32) -> impl Iterator<Item = Hull> {
    let segments = rods.iter().flat_map(|rod| rod.windows(2));
    segments.map(move |ends| hull([ends[0].0, ends[1].0], [ends[0].1, ends[1].1], origin, colour, body))
}

fn hull(ends: [DVec3; 2], radii: [f32; 2], origin: DVec3, colour: [f32; 3], body: f32) -> Hull {
    let [start, end] = ends.map(|end| (end - origin).as_vec3().to_array());
    Hull { start, start_radius: radii[0], end, end_radius: radii[1], colour, body }
}
