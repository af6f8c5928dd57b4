//! Scene `octopuses`: soft bodies of a head and eight tentacles each, dropped in a heap.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::{Scene, SceneParameters};
use crate::flesh::{BuildError, Flesh, RodNode, RodSpec};
use crate::step::StepConfig;
use crate::{Material, Pose};

/// Parameters of an octopus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Octopus {
    /// Segments of a tentacle.
    pub segments: usize,
    /// A tentacle's length (m); the head is 0.6 of it high.
    pub length: f64,
    /// A tentacle's radius where it hangs on the head (m); the head's is four times that at most.
    pub radius: f64,
    /// What it is made of.
    pub material: Material,
}

impl Default for Octopus {
    fn default() -> Self {
        let material = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.45, damping: 3.0, ..Material::default() };
        Self { segments: 4, length: 0.5, radius: 0.03, material }
    }
}

/// Radii of the head's nodes from the mouth up, over a tentacle's.
const HEAD: [f64; 6] = [2.2, 3.2, 3.8, 4.0, 3.4, 2.0];

/// How many layers a heap has, over how many octopuses lie side by side along each axis of a layer.
const HEIGHT: f64 = 0.8;

impl Octopus {
    /// The head as rod 0, from the mouth at the origin up along y, and eight tentacles that hang on its first node, slanting down.
    ///
    /// # Errors
    /// A [`BuildError`] where a parameter is out of range.
    pub fn build(&self) -> Result<Arc<Flesh>, BuildError> {
        let Self { segments, length, radius, material } = *self;
        let top = 0.6 * length;
        let mut head = RodSpec::straight("head", DVec3::ZERO, DVec3::Y * top, HEAD.len() - 1, radius);
        for (node, share) in head.nodes.iter_mut().zip(HEAD) {
            *node = RodNode::disc(node.place, share * radius);
        }
        let tentacle = |index: usize| {
            let out = DQuat::from_rotation_y(std::f64::consts::TAU * index as f64 / 8.0) * DVec3::X;
            let root = out * (1.6 * radius);
            let tip = root + DQuat::from_axis_angle(out.cross(DVec3::NEG_Y).normalize(), 0.9) * out * length;
            let mut rod = RodSpec::straight(format!("tentacle {index}"), tip, root, segments, radius);
            for (j, node) in rod.nodes.iter_mut().enumerate() {
                *node = RodNode::disc(node.place, radius * (0.4 + 0.6 * j as f64 / segments as f64));
            }
            rod.hang(0, 0)
        };
        let rods: Vec<RodSpec> = std::iter::once(head).chain((0..8).map(tentacle)).collect();
        let rods: Vec<RodSpec> = rods.into_iter().map(|rod| RodSpec { material, ..rod }).collect();
        Ok(Arc::new(Flesh::build(&rods, &[])?))
    }

    /// Where so many are dropped from: in layers above the ground at y = 0, turned anyhow, and none touches another. Heaps of more
    /// than some hundred grow as wide as high.
    pub fn drop_poses(&self, count: usize) -> Vec<Pose> {
        let side = ((count as f64 / HEIGHT).cbrt().round() as usize).max(5);
        let pose = |index: usize| {
            let (layer, place) = (index / (side * side), index % (side * side));
            let [x, z] =
                [place % side, place / side].map(|at| (at as f64 - 0.5 * (side - 1) as f64) * 1.5 * self.length);
            // A turn that never comes again.
            let turn = DQuat::from_rotation_y(2.4 * index as f64) * DQuat::from_rotation_x(0.3 * (index % 7) as f64);
            // From the middle of the body, about which it is turned.
            let middle = DVec3::Y * (0.1 * self.length);
            let place = DVec3::new(x, self.length * (1.2 + 1.9 * layer as f64), z);
            Pose::new(place - turn * middle, turn)
        };
        (0..count).map(pose).collect()
    }
}

pub(super) fn parameters(cantilevers: SceneParameters) -> SceneParameters {
    let Octopus { segments, length, radius, material } = Octopus::default();
    let config = StepConfig { substeps: 2, passes: 6, sleep_after: 0.5, ..StepConfig::default() };
    SceneParameters { rods: 100, segments, length, radius, material, config, ..cantilevers }
}

pub(super) fn scene(parameters: &SceneParameters) -> Result<Scene, BuildError> {
    let SceneParameters { rods: count, segments, length, radius, material, config, .. } = *parameters;
    let octopus = Octopus { segments, length, radius, material };
    Ok(Scene {
        roots: octopus.drop_poses(count),
        planes: vec![parameters.ground()],
        ..Scene::of(octopus.build()?, config)
    })
}
