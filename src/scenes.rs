//! The canonical scenes: tests, benches, examples and the tool all use these.

pub mod arm;
pub mod octopuses;

use std::sync::Arc;

use glam::DVec3;

use crate::character::CharacterError;
use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::{Integrator, MOST_PASSES, StepConfig};
use crate::{FleshHandle, HalfSpace, Material, Physics, Pose, StepError};

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

/// Parameters of the scene of logs: layers of three on the ground, each across the one below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logs {
    /// How many layers.
    pub layers: usize,
    /// Segments of a log.
    pub segments: usize,
    /// A log's length (m).
    pub length: f64,
    /// A log's radius (m).
    pub radius: f64,
    /// What the logs are made of.
    pub material: Material,
}

impl Default for Logs {
    fn default() -> Self {
        let material = Material { youngs_modulus: 1.0e7, damping: 3.0, ..Material::default() };
        Self { layers: 10, segments: 10, length: 0.42, radius: 0.03, material }
    }
}

impl Logs {
    /// How far the outer logs of a layer are from its middle, over the length. What stands over, a span's 0.408, bends a log
    /// that lies on three as much outwards as its own weight between them bends it inwards: none lies on a slope.
    pub const SPACING: f64 = 0.3572;

    /// Rods along x and z by turns, the lowest touching the ground at y = 0.
    ///
    /// # Errors
    /// A [`BuildError`] where a parameter is out of range.
    pub fn build(&self) -> Result<Arc<Flesh>, BuildError> {
        let rods: Vec<RodSpec> = (0..3 * self.layers)
            .map(|index| {
                let (layer, aside) = (index / 3, ((index % 3) as f64 - 1.0) * Self::SPACING * self.length);
                let (along, across) = if layer % 2 == 0 { (DVec3::X, DVec3::Z) } else { (DVec3::Z, DVec3::X) };
                let middle = DVec3::Y * (self.radius * (1.0 + 2.0 * layer as f64)) + across * aside;
                let half = along * (0.5 * self.length);
                let (from, to) = (middle - half, middle + half);
                let mut rod = RodSpec::straight(format!("log {index}"), from, to, self.segments, self.radius);
                rod.material = self.material;
                rod
            })
            .collect();
        Ok(Arc::new(Flesh::build(&rods, &[])?))
    }
}

/// A scene as the tool runs it: flesh on bones that go from key to key.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The flesh.
    pub flesh: Arc<Flesh>,
    /// Where each instance of it starts.
    pub roots: Vec<Pose>,
    /// Where the bones start.
    pub start: Vec<Pose>,
    /// What happens from the first frame on, in order of time.
    pub keys: Vec<Key>,
    /// Half-spaces that the flesh stays out of.
    pub planes: Vec<HalfSpace>,
    /// How it is stepped.
    pub config: StepConfig,
}

/// Where bones are and how excited chains are at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Key {
    /// When (s).
    pub time: f64,
    /// A pose for each bone.
    pub bones: Vec<Pose>,
    /// An excitation for each chain; none leaves them as they are.
    pub activations: Vec<f32>,
}

impl Key {
    /// The key at a time between this one and the next: bones start and stop without a jump of velocity, s²(3 − 2s).
    fn eased(&self, next: &Self, time: f64) -> Self {
        let share = ((time - self.time) / (next.time - self.time)).clamp(0.0, 1.0);
        let share = share * share * (3.0 - 2.0 * share);
        let pose = |(a, b): (&Pose, &Pose)| {
            Pose::new(a.translation.lerp(b.translation, share), a.rotation.slerp(b.rotation, share))
        };
        let excitation = |(a, b): (&f32, &f32)| a + (b - a) * share as f32;
        Self {
            time,
            bones: self.bones.iter().zip(&next.bones).map(pose).collect(),
            activations: self.activations.iter().zip(&next.activations).map(excitation).collect(),
        }
    }
}

impl Scene {
    /// Adds all instances of the flesh to a simulation, at rest on their bones where they start, and the half-spaces; the first of
    /// them.
    ///
    /// # Errors
    /// As for [`Physics::insert`].
    pub fn insert(&self, physics: &mut Physics) -> Result<FleshHandle, StepError> {
        physics.planes.extend_from_slice(&self.planes);
        let first = physics.insert(self.flesh.clone(), &self.start, self.root())?;
        for root in self.roots.iter().skip(1) {
            physics.insert(self.flesh.clone(), &self.start, *root)?;
        }
        Ok(first)
    }

    fn root(&self) -> Pose {
        self.roots.first().copied().unwrap_or_default()
    }

    /// What happens at a time (s): the first key's before it, the last one's after it.
    pub fn at(&self, time: f64) -> Key {
        let next = self.keys.partition_point(|key| key.time <= time);
        match (next.checked_sub(1).and_then(|last| self.keys.get(last)), self.keys.get(next)) {
            (Some(last), Some(next)) => last.eased(next, time),
            (key, next) => key.or(next).cloned().unwrap_or_default(),
        }
    }

    /// Says where an instance's bones are and how excited its chains are at the end of the next step, which ends at `time` (s).
    ///
    /// # Errors
    /// As for [`Physics::set_bones`] and [`Physics::set_activation`].
    pub fn drive(&self, physics: &mut Physics, handle: FleshHandle, time: f64) -> Result<(), StepError> {
        let key = self.at(time);
        for (chain, &activation) in key.activations.iter().enumerate() {
            physics.set_activation(handle, chain, activation)?;
        }
        physics.set_bones(handle, &key.bones, self.root())
    }
}

/// Parameters that any scene may take, by the names of the config and material fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneParameters {
    /// How many rods, or octopuses.
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
pub const SCENES: &[&str] = &["cantilevers", "band", "arm", "logs", "octopuses"];

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
    "gravity",
    "substeps",
    "iterations",
    "passes",
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
        let layers = Logs::default().layers;
        let cantilevers = Self { rods, segments, length, radius, stretch: 1.0, layers, bones: false, material, config };
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
            "logs" => {
                let Logs { segments, length, radius, material, .. } = Logs::default();
                let config = StepConfig { passes: 6, ..config };
                Ok(Self { rods: 3 * layers, segments, length, radius, material, config, ..cantilevers })
            }
            "arm" => Ok(arm::parameters()),
            "octopuses" => Ok(octopuses::parameters(cantilevers)),
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
            "layers" => self.layers = most(1000)?,
            "bones" => {
                self.bones = match value {
                    "0" | "false" => false,
                    "1" | "true" => true,
                    _ => return Err(bad("true or false")),
                }
            }
            "passes" => {
                let passes = value.parse().ok().filter(|passes| *passes <= MOST_PASSES);
                self.config.passes = passes.ok_or_else(|| bad("a count of 0 to 64"))?;
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
            _ => return Err(SceneError::NoSuchParameter { key: key.into() }),
        }
        Ok(())
    }

    /// Sets up a scene with these parameters.
    ///
    /// # Errors
    /// [`SceneError::NoSuchScene`], [`SceneError::Build`] or [`SceneError::Character`].
    pub fn build(&self, name: &str) -> Result<Scene, SceneError> {
        let Self { rods, segments, length, radius, stretch, material, config, .. } = *self;
        match name {
            "cantilevers" => {
                let flesh = Cantilevers { rods, segments, length, radius, material }.build()?;
                let still = vec![Pose::IDENTITY];
                let keys = vec![Key { bones: still.clone(), ..Key::default() }];
                Ok(Scene { flesh, roots: vec![Pose::IDENTITY], start: still, keys, planes: Vec::new(), config })
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
                let bones = vec![Pose::IDENTITY, far(stretch * length)];
                let keys = vec![Key { bones, ..Key::default() }];
                Ok(Scene { flesh, roots: vec![Pose::IDENTITY], start, keys, planes: Vec::new(), config })
            }
            "logs" => {
                let flesh = Logs { layers: self.layers, segments, length, radius, material }.build()?;
                let planes = vec![HalfSpace::ground(0.0, 0.5)];
                Ok(Scene {
                    flesh,
                    roots: vec![Pose::IDENTITY],
                    start: Vec::new(),
                    keys: vec![Key::default()],
                    planes,
                    config,
                })
            }
            "arm" => arm::scene(self),
            "octopuses" => Ok(octopuses::scene(self)?),
            _ => Err(SceneError::NoSuchScene { name: name.into() }),
        }
    }
}
