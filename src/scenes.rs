//! The canonical scenes: tests, benches, examples and the tool all use these.

pub mod arm;
pub mod octopuses;
mod parameters;
mod pile;
mod pinch;
mod slope;

pub use parameters::{PARAMETERS, SCENES, SceneError, SceneParameters};
pub use slope::SlopeSurface;

use std::sync::Arc;

use glam::DVec3;

use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::step::StepConfig;
use crate::{Collisions, FleshHandle, HalfSpace, Material, Motion, Physics, Pose, Solid, StepError};

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

/// A scene as the tool runs it: flesh on bones that go from key to key, and what is around it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The flesh.
    pub flesh: Arc<Flesh>,
    /// Where each instance of it starts.
    pub roots: Vec<Pose>,
    /// The motion with which each instance starts; none where they are at rest.
    pub motions: Vec<Motion>,
    /// Where the bones start.
    pub start: Vec<Pose>,
    /// What happens from the first frame on, in order of time.
    pub keys: Vec<Key>,
    /// Other flesh.
    pub props: Vec<Prop>,
    /// What all flesh touches, and how it rubs.
    pub collisions: Collisions,
    /// Half-spaces that the flesh stays out of.
    pub planes: Vec<HalfSpace>,
    /// Solids that the flesh stays out of, and how they go.
    pub solids: Vec<Moved>,
    /// How it is stepped.
    pub config: StepConfig,
}

/// Flesh whose bones, if it has any, stay where they are.
#[derive(Clone, Debug)]
pub struct Prop {
    /// The flesh.
    pub flesh: Arc<Flesh>,
    /// Where its bones are.
    pub bones: Vec<Pose>,
    /// Where its root is.
    pub root: Pose,
}

/// A solid that goes straight on for a while, and stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Where it starts.
    pub solid: Solid,
    /// How far it goes (m).
    pub way: DVec3,
    /// For how long it goes (s).
    pub time: f64,
}

impl Moved {
    /// A solid that stays where it is.
    pub fn still(solid: Solid) -> Self {
        Self { solid, way: DVec3::ZERO, time: 1.0 }
    }

    /// It at the end of a step from a time to another (s).
    fn at(&self, [from, to]: [f64; 2]) -> Solid {
        let gone = |time: f64| self.way * (time / self.time).clamp(0.0, 1.0);
        let (start, end) = (gone(from), gone(to));
        let pose = Pose { translation: self.solid.pose.translation + end, ..self.solid.pose };
        let velocity = if to > from { (end - start) / (to - from) } else { DVec3::ZERO };
        Solid { pose, centre: self.solid.centre + end, velocity, ..self.solid.clone() }
    }
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
    /// Free flesh at rest, with nothing around it.
    fn of(flesh: Arc<Flesh>, config: StepConfig) -> Self {
        Self {
            flesh,
            roots: vec![Pose::IDENTITY],
            motions: Vec::new(),
            start: Vec::new(),
            keys: vec![Key::default()],
            props: Vec::new(),
            collisions: Collisions::default(),
            planes: Vec::new(),
            solids: Vec::new(),
            config,
        }
    }

    /// Adds all instances of the flesh to a simulation, on their bones where they start, the other flesh, the half-spaces and the
    /// solids; the first of the instances.
    ///
    /// # Errors
    /// As for [`Physics::insert`], [`Physics::set_velocity`] and [`Physics::set_collisions`].
    pub fn insert(&self, physics: &mut Physics) -> Result<FleshHandle, StepError> {
        physics.planes.extend_from_slice(&self.planes);
        physics.solids.extend(self.solids.iter().map(|moved| moved.at([0.0; 2])));
        let first = physics.insert(self.flesh.clone(), &self.start, self.root())?;
        let mut handles = vec![first];
        for root in self.roots.iter().skip(1) {
            handles.push(physics.insert(self.flesh.clone(), &self.start, *root)?);
        }
        for (handle, motion) in handles.iter().zip(&self.motions) {
            physics.set_velocity(*handle, *motion)?;
        }
        for Prop { flesh, bones, root } in &self.props {
            handles.push(physics.insert(flesh.clone(), bones, *root)?);
        }
        for handle in handles {
            physics.set_collisions(handle, self.collisions)?;
        }
        Ok(first)
    }

    /// Says where the scene's solids, the last ones that there are, come to be in the next step, which goes from a time to another
    /// (s).
    pub fn move_solids(&self, physics: &mut Physics, from: f64, to: f64) {
        let others = physics.solids.len().saturating_sub(self.solids.len());
        physics.solids.truncate(others);
        physics.solids.extend(self.solids.iter().map(|moved| moved.at([from, to])));
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
