//! The canonical scenes: tests, benches, examples and the tool all use these.

use std::sync::Arc;

use glam::DVec3;

use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::{Integrator, StepConfig};
use crate::{Material, Pose};

/// Parameters of the scene of cantilevers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cantilevers {
    /// How many rods.
    pub rods: usize,
    /// Segments of a rod.
    pub segments: usize,
    /// A rod's length (m).
    pub length: f64,
    /// A rod's radius (m).
    pub radius: f64,
    /// What the rods are made of.
    pub material: Material,
}

impl Default for Cantilevers {
    fn default() -> Self {
        let material = Material {
            youngs_modulus: 4.16e8,
            poissons_ratio: 0.3,
            density: 1060.0,
            damping: 3.0,
            ..Default::default()
        };
        Self { rods: 50, segments: 20, length: 1.0, radius: 0.01, material }
    }
}

impl Cantilevers {
    /// The Young's modulus (Pa) at which Γ = ρAgL³/EI is as given.
    pub fn with_gamma(mut self, gamma: f64, gravity: f64) -> Self {
        let r2 = self.radius * self.radius;
        self.material.youngs_modulus = 4.0 * self.material.density * gravity * self.length.powi(3) / (gamma * r2);
        self
    }

    /// Rods along +x, side by side along z, clamped at x = 0 to bone 0, which rests at the origin.
    ///
    /// # Errors
    /// A [`BuildError`] where a parameter is out of range.
    pub fn build(&self) -> Result<Arc<Flesh>, BuildError> {
        let spacing = 4.0 * self.radius;
        let rods: Vec<RodSpec> = (0..self.rods)
            .map(|i| {
                let from = DVec3::new(0.0, 0.0, spacing * i as f64);
                let to = from + DVec3::X * self.length;
                let mut rod = RodSpec::straight(format!("cantilever {i}"), from, to, self.segments, self.radius);
                rod.material = self.material;
                rod.attach(0, 0, Holds::CLAMP)
            })
            .collect();
        Ok(Arc::new(Flesh::build(&rods, &[Pose::IDENTITY])?))
    }
}

/// A scene as the tool runs it: flesh on bones that go from one set of poses to another in the first frame.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The flesh.
    pub flesh: Arc<Flesh>,
    /// Where the bones start.
    pub start: Vec<Pose>,
    /// Where the bones are from the first frame's end on.
    pub bones: Vec<Pose>,
    /// How it is stepped.
    pub config: StepConfig,
}

/// Parameters that any scene may take, by the names of the config and material fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneParameters {
    /// How many rods.
    pub rods: usize,
    /// Segments of a rod.
    pub segments: usize,
    /// A rod's whole length (m).
    pub length: f64,
    /// A rod's radius (m).
    pub radius: f64,
    /// How far a band is stretched, over its length.
    pub stretch: f64,
    /// What the rods are made of.
    pub material: Material,
    /// How the scene is stepped.
    pub config: StepConfig,
}

/// Why a scene could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
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
}

/// The scenes' names.
pub const SCENES: &[&str] = &["cantilevers", "band"];

/// The parameters' names.
pub const PARAMETERS: &[&str] = &[
    "rods",
    "count",
    "segments",
    "length",
    "radius",
    "stretch",
    "gravity",
    "substeps",
    "iterations",
    "integrator",
    "youngs_modulus",
    "poissons_ratio",
    "density",
    "damping",
    "peak_stress",
];

impl SceneParameters {
    /// A scene's own parameters.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`].
    pub fn of(name: &str) -> Result<Self, SceneError> {
        let Cantilevers { rods, segments, length, radius, material } = Cantilevers::default();
        let config = StepConfig::default();
        let cantilevers = Self { rods, segments, length, radius, stretch: 1.0, material, config };
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
            _ => Err(SceneError::NoSuchScene { name: name.into() }),
        }
    }

    /// Sets a parameter by its name.
    ///
    /// # Errors
    /// [`SceneError::NoSuchParameter`] or [`SceneError::BadValue`].
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SceneError> {
        let bad = |expected| SceneError::BadValue { key: key.into(), value: value.into(), expected };
        let number = || value.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| bad("a number"));
        let most = |most: usize| {
            value.parse::<usize>().ok().filter(|n| (1..=most).contains(n)).ok_or_else(|| bad("a count, at least 1"))
        };
        match key {
            "rods" | "count" => self.rods = most(1_000_000)?,
            "segments" => self.segments = most(1000)?,
            "length" => self.length = number()?,
            "radius" => self.radius = number()?,
            "stretch" => self.stretch = number()?,
            "gravity" => self.config.gravity = DVec3::new(0.0, -number()?, 0.0),
            "substeps" => self.config.substeps = most(1000)? as u32,
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
            _ => return Err(SceneError::NoSuchParameter { key: key.into() }),
        }
        Ok(())
    }

    /// Sets up a scene with these parameters.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`] or [`SceneError::Build`].
    pub fn build(&self, name: &str) -> Result<Scene, SceneError> {
        let Self { rods, segments, length, radius, stretch, material, config } = *self;
        match name {
            "cantilevers" => {
                let flesh = Cantilevers { rods, segments, length, radius, material }.build()?;
                Ok(Scene { flesh, start: vec![Pose::IDENTITY], bones: vec![Pose::IDENTITY], config })
            }
            "band" => {
                let far = |x: f64| Pose::from_translation(DVec3::X * x);
                let start = vec![Pose::IDENTITY, far(length)];
                let bands: Vec<RodSpec> = (0..rods)
                    .map(|i| {
                        let from = DVec3::Z * (4.0 * radius * i as f64);
                        let mut rod =
                            RodSpec::straight(format!("band {i}"), from, from + DVec3::X * length, segments, radius);
                        rod.material = material;
                        rod.attach(0, 0, Holds::CLAMP).attach(segments, 1, Holds::CLAMP)
                    })
                    .collect();
                let flesh = Arc::new(Flesh::build(&bands, &start)?);
                Ok(Scene { flesh, start, bones: vec![Pose::IDENTITY, far(stretch * length)], config })
            }
            _ => Err(SceneError::NoSuchScene { name: name.into() }),
        }
    }
}
