//! Scene `pinch`: rods held at both ends, between two plates that come together.

use std::sync::Arc;

use glam::DVec3;

use super::{Key, Moved, Scene, SceneParameters};
use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::StepConfig;
use crate::{Material, Pose, Shape, Solid};

/// Which share of a rod's length is between the plates.
const PLATE: f64 = 0.4;

/// In what time the plates come together (s).
const TIME: f64 = 1.0;

/// Friction of the plates: flesh goes aside between them.
const FRICTION: f64 = 0.02;

pub(super) fn parameters(cantilevers: SceneParameters) -> SceneParameters {
    let material = Material { youngs_modulus: 3.0e3, poissons_ratio: 0.499, damping: 20.0, ..Material::default() };
    SceneParameters {
        rods: 1,
        segments: 20,
        length: 0.25,
        radius: 0.03,
        friction: FRICTION,
        material,
        config: StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() },
        ..cantilevers
    }
}

pub(super) fn scene(parameters: &SceneParameters) -> Result<Scene, BuildError> {
    let SceneParameters { rods: count, segments, length, radius, depth, material, config, .. } = *parameters;
    let spacing = 4.0 * radius;
    let rods: Vec<RodSpec> = (0..count)
        .map(|index| {
            let from = DVec3::Z * (spacing * index as f64);
            let mut rod = RodSpec::straight(format!("rod {index}"), from, from + DVec3::X * length, segments, radius);
            rod.material = material;
            rod.attach(0, 0, Holds::CLAMP).attach(segments, 0, Holds::CLAMP)
        })
        .collect();
    let half = DVec3::new(0.5 * PLATE * length, 2.0 * radius, spacing * (count as f64 + 1.0));
    let plate = |side: f64| {
        let (middle, shape) = (0.5 * spacing * (count as f64 - 1.0), Shape::Cuboid { half_extents: half.as_vec3() });
        let place = DVec3::new(0.5 * length, side * (radius + half.y), middle);
        let solid = Solid::new(Arc::new(shape), Pose::from_translation(place), parameters.friction as f32);
        // Between two held ends flesh gives way to plates as far as these go.
        let dents = solid.dents.max(depth as f32);
        Moved { solid: Solid { dents, ..solid }, way: DVec3::NEG_Y * (side * depth * radius), time: TIME }
    };
    let still = vec![Pose::IDENTITY];
    Ok(Scene {
        start: still.clone(),
        keys: vec![Key { bones: still, ..Key::default() }],
        solids: vec![plate(1.0), plate(-1.0)],
        ..Scene::of(Arc::new(Flesh::build(&rods, &[Pose::IDENTITY])?), config)
    })
}
