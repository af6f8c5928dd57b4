//! What a scene is set up by.

use std::sync::Arc;

use glam::DVec3;

use super::{Cantilevers, Key, Logs, Scene, SlopeSurface, arm, octopuses, pile, pinch, slope};
use crate::character::CharacterError;
use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::{Integrator, MOST_PASSES, StepConfig};
use crate::{HalfSpace, Material, Pose};

/// Parameters that any scene may take, by the names of the config and material fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneParameters {
    /// How many rods, octopuses, or things in a pile.
    pub rods: usize,
    /// Segments of a rod.
    pub segments: usize,
    /// A rod's whole length (m).
    pub length: f64,
    /// A rod's radius (m).
    pub radius: f64,
    /// How far a band is stretched, over its length.
    pub stretch: f64,
    /// Layers of logs.
    pub layers: usize,
    /// Whether muscles touch bones; of scene `arm`.
    pub bones: bool,
    /// By how much the ground falls (degrees); of scenes `slope` and `rolling`.
    pub angle: f64,
    /// Coulomb's coefficient of friction of the ground, or of what is the ground's (1).
    pub friction: f64,
    /// What the ground of scenes `slope` and `rolling` is.
    pub surface: SlopeSurface,
    /// How fast a log starts down the slope (m/s); of scene `rolling`.
    pub speed: f64,
    /// How fast it spins the way in which it would roll down (rad/s); of scene `rolling`.
    pub spin: f64,
    /// Which share of a rod's thickness plates press away; of scene `pinch`.
    pub depth: f64,
    /// What the rods are made of.
    pub material: Material,
    /// How the scene is stepped.
    pub config: StepConfig,
}

/// Why a scene could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// No scene of that name.
    #[error("there is no scene `{name}`; there are: {}", SCENES.join(", "))]
    NoSuchScene {
        /// The name given.
        name: String,
    },
    /// No parameter of that name.
    #[error("scenes take no `{key}`; they take: {}", PARAMETERS.join(", "))]
    NoSuchParameter {
        /// The name given.
        key: String,
    },
    /// A value that the parameter cannot have.
    #[error("`{key}` cannot be `{value}`; it takes {expected}")]
    BadValue {
        /// The parameter.
        key: String,
        /// The value given.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// The rods cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The muscles cannot be built.
    #[error(transparent)]
    Character(#[from] CharacterError),
}

/// The scenes' names.
pub const SCENES: &[&str] = &["cantilevers", "band", "arm", "logs", "octopuses", "slope", "rolling", "pinch", "pile"];

/// The parameters' names.
pub const PARAMETERS: &[&str] = &[
    "rods",
    "count",
    "segments",
    "length",
    "radius",
    "stretch",
    "layers",
    "bones",
    "angle",
    "friction",
    "surface",
    "speed",
    "spin",
    "depth",
    "gravity",
    "substeps",
    "iterations",
    "passes",
    "integrator",
    "sleep_after",
    "sleep_within",
    "youngs_modulus",
    "poissons_ratio",
    "density",
    "damping",
    "peak_stress",
];

/// The most rods, octopuses or things of a scene.
const MOST_RODS: usize = 1_000_000;

/// What a parameter that is bounded takes, and from where to where; others are seen to where the flesh is built.
const RANGES: [(&str, std::ops::RangeInclusive<f64>, &str); 9] = [
    ("sleep_within", 0.0..=1.0, "a share of the radius, 0 to 1"),
    ("length", 1.0e-4..=1.0e4, "m, 0.0001 to 10000"),
    ("radius", 1.0e-4..=1.0e4, "m, 0.0001 to 10000"),
    ("stretch", 0.0..=1000.0, "times the length, 0 to 1000"),
    ("angle", 0.0..=89.0, "degrees, 0 to 89"),
    ("friction", 0.0..=1000.0, "a coefficient, 0 to 1000"),
    ("speed", -1000.0..=1000.0, "m/s, -1000 to 1000"),
    ("spin", -1000.0..=1000.0, "rad/s, -1000 to 1000"),
    ("depth", 0.0..=0.5, "a share of the thickness, 0 to 0.5"),
];

impl SceneParameters {
    /// A scene's own parameters.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`].
    pub fn of(name: &str) -> Result<Self, SceneError> {
        let Cantilevers { rods, segments, length, radius, material } = Cantilevers::default();
        let config = StepConfig::default();
        let cantilevers = Self {
            rods,
            segments,
            length,
            radius,
            stretch: 1.0,
            layers: Logs::default().layers,
            bones: false,
            angle: 0.0,
            friction: 0.5,
            surface: SlopeSurface::Plane,
            speed: 0.0,
            spin: 0.0,
            depth: 0.5,
            material,
            config,
        };
        match name {
            "cantilevers" => Ok(cantilevers),
            "band" => Ok(Self {
                rods: 1,
                radius: 0.05,
                stretch: 2.0,
                material: Material {
                    youngs_modulus: 1.0e6,
                    poissons_ratio: 0.499,
                    damping: 5.0,
                    ..Material::default()
                },
                config: StepConfig { gravity: DVec3::ZERO, ..config },
                ..cantilevers
            }),
            "logs" => Ok(Self::of_logs(cantilevers)),
            "arm" => Ok(arm::parameters(cantilevers)),
            "octopuses" => Ok(octopuses::parameters(cantilevers)),
            "slope" => Ok(slope::parameters(cantilevers)),
            "rolling" => Ok(slope::rolling_parameters(cantilevers)),
            "pinch" => Ok(pinch::parameters(cantilevers)),
            "pile" => Ok(pile::parameters(Self::of_logs(cantilevers))),
            _ => Err(SceneError::NoSuchScene { name: name.into() }),
        }
    }

    fn of_logs(cantilevers: Self) -> Self {
        let Logs { layers, segments, length, radius, material } = Logs::default();
        let config = StepConfig { passes: 6, ..cantilevers.config };
        Self { rods: 3 * layers, layers, segments, length, radius, material, config, ..cantilevers }
    }

    /// Sets a parameter by its name.
    ///
    /// # Errors
    /// [`SceneError::NoSuchParameter`] or [`SceneError::BadValue`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SceneError> {
        let bad = |expected| SceneError::BadValue { key: key.into(), value: value.into(), expected };
        let number = || value.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| bad("a number"));
        let most = |most: usize| {
            let expected = if most == MOST_RODS { "a count, 1 to 1000000" } else { "a count, 1 to 1000" };
            value.parse::<usize>().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| bad(expected))
        };
        match key {
            "rods" | "count" => self.rods = most(MOST_RODS)?,
            "segments" => self.segments = most(1000)?,
            "gravity" => self.config.gravity = DVec3::new(0.0, -number()?, 0.0),
            "substeps" => self.config.substeps = most(1000)? as u32,
            "layers" => self.layers = most(1000)?,
            "bones" => {
                self.bones = match value {
                    "0" | "false" => false,
                    "1" | "true" => true,
                    _ => return Err(bad("true or false")),
                }
            }
            "surface" => self.surface = SlopeSurface::named(value).ok_or_else(|| bad(SlopeSurface::NAMES))?,
            "passes" => {
                let passes = value.parse().ok().filter(|passes| *passes <= MOST_PASSES);
                self.config.passes = passes.ok_or_else(|| bad("a count of 0 to 64"))?;
            }
            "sleep_after" => {
                // Infinity lets none sleep.
                let seconds = value.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
                self.config.sleep_after = seconds.ok_or_else(|| bad("seconds above 0, or inf"))?;
            }
            "iterations" => self.config.iterations = most(1000)? as u32,
            "integrator" => {
                self.config.integrator = match value {
                    "implicit_euler" => Integrator::ImplicitEuler,
                    "second_order" => Integrator::SecondOrder,
                    _ => return Err(bad("implicit_euler or second_order")),
                }
            }
            "youngs_modulus" => self.material.youngs_modulus = number()?,
            "poissons_ratio" => self.material.poissons_ratio = number()?,
            "density" => self.material.density = number()?,
            "damping" => self.material.damping = number()?,
            "peak_stress" => self.material.peak_stress = number()?,
            _ => {
                let (_, range, expected) = RANGES
                    .iter()
                    .find(|(name, ..)| *name == key)
                    .ok_or_else(|| SceneError::NoSuchParameter { key: key.into() })?;
                let number = number().ok().filter(|x| range.contains(x)).ok_or_else(|| bad(expected))?;
                if let Some(slot) = self.bounded(key) {
                    *slot = number;
                }
            }
        }
        Ok(())
    }

    fn bounded(&mut self, key: &str) -> Option<&mut f64> {
        match key {
            "sleep_within" => Some(&mut self.config.sleep_within),
            "length" => Some(&mut self.length),
            "radius" => Some(&mut self.radius),
            "stretch" => Some(&mut self.stretch),
            "angle" => Some(&mut self.angle),
            "friction" => Some(&mut self.friction),
            "speed" => Some(&mut self.speed),
            "spin" => Some(&mut self.spin),
            "depth" => Some(&mut self.depth),
            _ => None,
        }
    }

    /// Whether all that is bounded is so, however it was set.
    fn check(mut self) -> Result<(), SceneError> {
        for (key, range, expected) in RANGES {
            if let Some(value) = self.bounded(key).filter(|value| !range.contains(value)) {
                return Err(SceneError::BadValue { key: key.into(), value: value.to_string(), expected });
            }
        }
        Ok(())
    }

    /// Sets up a scene with these parameters.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`], [`SceneError::BadValue`], [`SceneError::Build`] or [`SceneError::Character`].
    pub fn build(&self, name: &str) -> Result<Scene, SceneError> {
        self.check()?;
        let Self { rods, segments, length, radius, material, config, .. } = *self;
        match name {
            "cantilevers" => {
                let flesh = Cantilevers { rods, segments, length, radius, material }.build()?;
                let still = vec![Pose::IDENTITY];
                let keys = vec![Key { bones: still.clone(), ..Key::default() }];
                Ok(Scene { start: still, keys, ..Scene::of(flesh, config) })
            }
            "band" => Ok(self.band()?),
            "logs" => {
                let flesh = Logs { layers: self.layers, segments, length, radius, material }.build()?;
                Ok(Scene { planes: vec![self.ground()], ..Scene::of(flesh, config) })
            }
            "arm" => arm::scene(self),
            "octopuses" => Ok(octopuses::scene(self)?),
            "slope" => slope::scene(self),
            "rolling" => slope::rolling(self),
            "pinch" => Ok(pinch::scene(self)?),
            "pile" => pile::scene(self),
            _ => Err(SceneError::NoSuchScene { name: name.into() }),
        }
    }

    /// The floor at y = 0.
    pub(super) fn ground(&self) -> HalfSpace {
        HalfSpace::ground(0.0, self.friction as f32)
    }

    fn band(&self) -> Result<Scene, BuildError> {
        let Self { rods, segments, length, radius, stretch, material, config, .. } = *self;
        let far = |x: f64| Pose::from_translation(DVec3::X * x);
        let start = vec![Pose::IDENTITY, far(length)];
        let bands: Vec<RodSpec> = (0..rods)
            .map(|i| {
                let from = DVec3::Z * (4.0 * radius * i as f64);
                let mut rod = RodSpec::straight(format!("band {i}"), from, from + DVec3::X * length, segments, radius);
                rod.material = material;
                rod.attach(0, 0, Holds::CLAMP).attach(segments, 1, Holds::CLAMP)
            })
            .collect();
        let flesh = Arc::new(Flesh::build(&bands, &start)?);
        let keys = vec![Key { bones: vec![Pose::IDENTITY, far(stretch * length)], ..Key::default() }];
        Ok(Scene { start, keys, ..Scene::of(flesh, config) })
    }
}
