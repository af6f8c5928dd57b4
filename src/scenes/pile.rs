//! Scene `pile`: logs, sticks, ropes and octopuses of several sizes, dropped in a heap over an arm that flexes.

use std::sync::Arc;

use glam::{DQuat, DVec3};

use super::octopuses::Octopus;
use super::{Prop, Scene, SceneError, SceneParameters, arm};
use crate::flesh::{BuildError, Flesh, RodNode, RodSpec};
use crate::{Material, Pose};

/// How many things lie side by side along each axis of a layer.
const SIDE: usize = 3;

/// Which of a layer's places is the middle.
const MIDDLE: usize = SIDE * SIDE / 2;

/// How far over the ground the lowest layer's cells begin, over their size.
const ABOVE: f64 = 0.1;

pub(super) fn parameters(logs: SceneParameters) -> SceneParameters {
    SceneParameters { rods: 40, ..logs }
}

/// One rod.
fn rod(
    name: &str,
    material: Material,
    length: f64,
    radii: [f64; 2],
    segments: usize,
) -> Result<Arc<Flesh>, BuildError> {
    let half = DVec3::X * (0.5 * length);
    let mut rod = RodSpec::straight(name, -half, half, segments, radii[0]);
    for (j, node) in rod.nodes.iter_mut().enumerate() {
        let along = j as f64 / segments as f64;
        *node = RodNode::disc(node.place, radii[0] + (radii[1] - radii[0]) * along);
    }
    rod.material = material;
    Ok(Arc::new(Flesh::build(&[rod], &[])?))
}

/// What there is in a pile, each in proportion to a log.
fn kinds(parameters: &SceneParameters) -> Result<Vec<Arc<Flesh>>, BuildError> {
    let SceneParameters { segments, length, radius, material, .. } = *parameters;
    let softer = |by: f64| Material { youngs_modulus: material.youngs_modulus * by, ..material };
    let octopus = |size: f64| {
        let material = Material { poissons_ratio: 0.45, ..softer(0.01) };
        Octopus { length: size * length, radius: size * radius, material, ..Octopus::default() }.build()
    };
    let half = segments.div_ceil(2);
    Ok(vec![
        rod("log", material, length, [radius; 2], segments)?,
        octopus(0.7)?,
        rod("stick", material, 0.7 * length, [0.25 * radius; 2], half)?,
        rod("worm", softer(0.01), 0.6 * length, [1.3 * radius, 0.8 * radius], half)?,
        octopus(0.35)?,
        rod("rope", softer(0.1), 1.4 * length, [0.4 * radius; 2], 2 * segments)?,
        rod("pebble", material, 0.12 * length, [0.5 * radius, 0.3 * radius], 1)?,
    ])
}

/// The middle of the box around flesh at rest, and how far it reaches from there (m).
fn extent(flesh: &Flesh) -> (DVec3, f64) {
    let nodes = || {
        flesh.chains().iter().flat_map(|chain| {
            chain.rest.iter().zip(&chain.sections).map(|(pose, section)| (pose.translation, section.radius()))
        })
    };
    let low = nodes().fold(DVec3::INFINITY, |low, (place, _)| low.min(place));
    let high = nodes().fold(DVec3::NEG_INFINITY, |high, (place, _)| high.max(place));
    let middle = (low + high) * 0.5;
    (middle, nodes().map(|(place, radius)| place.distance(middle) + radius).fold(0.0, f64::max))
}

pub(super) fn scene(parameters: &SceneParameters) -> Result<Scene, SceneError> {
    let kinds = kinds(parameters)?;
    let arm = arm::scene(&SceneParameters { config: parameters.config, ..SceneParameters::of("arm")? })?;
    let arms = extent(&arm.flesh);
    let extents: Vec<(DVec3, f64)> = kinds.iter().map(|flesh| extent(flesh)).collect();
    // However it is turned, each stays in its cell.
    let cell = 2.01 * extents.iter().fold(arms.1, |most, (_, reach)| most.max(*reach));
    let place = |index: usize| {
        let (layer, at) = (index / (SIDE * SIDE), index % (SIDE * SIDE));
        let [x, z] = [at % SIDE, at / SIDE].map(|at| at as f64 - 0.5 * (SIDE - 1) as f64);
        DVec3::new(x, layer as f64 + 0.5 + ABOVE, z) * cell
    };
    let lift = Pose::from_translation(place(MIDDLE) - arms.0);
    let lifted = |bones: &[Pose]| bones.iter().map(|bone| lift * *bone).collect::<Vec<_>>();
    let keys = arm.keys.into_iter().map(|key| super::Key { bones: lifted(&key.bones), ..key }).collect();
    let prop = |index: usize| {
        let kind = index % kinds.len();
        let (middle, _) = extents[kind];
        // Turns that never come again.
        let turn = DQuat::from_rotation_y(2.4 * index as f64) * DQuat::from_rotation_x(0.3 * (index % 11) as f64);
        let at = if index < MIDDLE { index } else { index + 1 };
        Prop { flesh: Arc::clone(&kinds[kind]), bones: Vec::new(), root: Pose::new(place(at) - turn * middle, turn) }
    };
    Ok(Scene {
        roots: vec![lift],
        start: lifted(&arm.start),
        keys,
        props: (0..parameters.rods.saturating_sub(1)).map(prop).collect(),
        planes: vec![parameters.ground()],
        ..Scene::of(arm.flesh, parameters.config)
    })
}
