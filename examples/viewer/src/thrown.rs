//! Flesh that is thrown from the camera.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{BuildError, Flesh, RodSpec};
use sinew::scenes::Logs;
use sinew::scenes::octopuses::Octopus;
use sinew::{FleshHandle, Material, Motion, Physics, Pose};

/// What can be thrown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Projectile {
    /// A rod as long as thick.
    Ball,
    /// A stiff rod, which flies broadside.
    Log,
    /// A head with eight tentacles, which trail.
    Octopus,
}

impl Projectile {
    /// All that there are.
    pub const ALL: [Self; 3] = [Self::Ball, Self::Log, Self::Octopus];

    /// What the panel calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ball => "ball",
            Self::Log => "log",
            Self::Octopus => "octopus",
        }
    }

    /// Of a size (m), in proportion to that of the crate's scenes: stiffer by it, so that it bends as much by its own weight.
    fn build(self, size: f64) -> Result<Arc<Flesh>, BuildError> {
        let stiffer =
            |material: Material, by: f64| Material { youngs_modulus: material.youngs_modulus * by, ..material };
        match self {
            Self::Ball => {
                let radius = 0.25 * size;
                let half = DVec3::X * (0.5 * radius);
                let mut rod = RodSpec::straight("ball", -half, half, 1, radius);
                rod.material = stiffer(Logs::default().material, size);
                Ok(Arc::new(Flesh::build(&[rod], &[])?))
            }
            Self::Log => {
                let Logs { segments, length, radius, material, .. } = Logs::default();
                let (half, by) = (DVec3::X * (0.5 * size), size / length);
                let mut rod = RodSpec::straight("log", -half, half, segments, radius * by);
                rod.material = stiffer(material, by);
                Ok(Arc::new(Flesh::build(&[rod], &[])?))
            }
            Self::Octopus => {
                let octopus = Octopus::default();
                let by = size / octopus.length;
                let (length, radius) = (size, octopus.radius * by);
                Octopus { length, radius, material: stiffer(octopus.material, by), ..octopus }.build()
            }
        }
    }

    /// How it is turned that flies forward.
    fn turned(self, forward: DVec3) -> DQuat {
        match self {
            Self::Ball | Self::Log => DQuat::from_rotation_arc(DVec3::X, forward.any_orthonormal_vector()),
            Self::Octopus => DQuat::from_rotation_arc(DVec3::Y, forward),
        }
    }
}

/// How things are thrown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throw {
    /// What.
    pub projectile: Projectile,
    /// How fast (m/s).
    pub speed: f64,
    /// How long a log or a tentacle is, twice a ball's thickness (m).
    pub size: f64,
    /// How many there are at most; the oldest gives way.
    pub most: usize,
}

impl Default for Throw {
    fn default() -> Self {
        Self { projectile: Projectile::Ball, speed: 8.0, size: 0.4, most: 20 }
    }
}

/// What was thrown and is still there, the oldest first, each with its number.
#[derive(Default)]
pub struct Thrown {
    flesh: VecDeque<(usize, FleshHandle)>,
    /// How many were thrown.
    count: usize,
    /// Those among them that no step has taken yet, the last ones.
    fresh: usize,
}

impl Thrown {
    /// Throws from an eye (m) forward, a unit vector.
    pub fn throw(
        &mut self,
        physics: &mut Physics,
        throw: &Throw,
        [eye, forward]: [DVec3; 2],
    ) -> Result<(), Box<dyn Error>> {
        if eye.y <= 0.0 {
            return Err("nothing can be thrown from under the floor: drag down until the camera is above it".into());
        }
        let Throw { projectile, speed, size, most } = *throw;
        let flesh = projectile.build(size)?;
        let (middle, reach) = extent(&flesh);
        let mut place = eye + forward * reach;
        place.y = place.y.max(1.01 * reach);
        let mut met = false;
        physics.queries().overlap_sphere(place, reach, |_| true, |_| met = true)?;
        if met {
            let what = projectile.name();
            return Err(format!("no room for the {what} before the camera: move it back (wheel), or wait").into());
        }
        while self.flesh.len() >= most.max(1) {
            let oldest = self.flesh.pop_front().map(|(_, handle)| physics.remove(handle));
            oldest.transpose()?;
        }
        let turn = projectile.turned(forward);
        let handle = physics.insert(flesh, &[], Pose::new(place - turn * middle, turn))?;
        physics.set_velocity(handle, Motion { velocity: forward * speed, centre: place, ..Motion::default() })?;
        self.flesh.push_back((self.count, handle));
        (self.count, self.fresh) = (self.count + 1, self.fresh + 1);
        Ok(())
    }

    /// Notes a step; where that was refused, what was thrown since the last one is taken back.
    pub fn stepped(&mut self, physics: &mut Physics, refused: bool) -> Result<(), Box<dyn Error>> {
        let fresh = std::mem::take(&mut self.fresh).min(self.flesh.len());
        if refused {
            for (_, handle) in self.flesh.split_off(self.flesh.len() - fresh) {
                physics.remove(handle)?;
            }
        }
        Ok(())
    }

    /// Removes all.
    pub fn clear(&mut self, physics: &mut Physics) -> Result<(), Box<dyn Error>> {
        for (_, handle) in self.flesh.drain(..) {
            physics.remove(handle)?;
        }
        Ok(())
    }

    /// The numbers and handles of all that are there.
    pub fn iter(&self) -> impl Iterator<Item = (usize, FleshHandle)> {
        self.flesh.iter().copied()
    }

    /// How many are there.
    pub fn len(&self) -> usize {
        self.flesh.len()
    }
}

/// The middle of the box around flesh at rest, and how far it reaches from there (m).
fn extent(flesh: &Flesh) -> (DVec3, f64) {
    let nodes = || {
        let chains = flesh.chains().iter();
        chains.flat_map(|chain| chain.rest.iter().zip(&chain.sections).map(|(at, of)| (at.translation, of.radius())))
    };
    let low = nodes().fold(DVec3::INFINITY, |low, (place, _)| low.min(place));
    let high = nodes().fold(DVec3::NEG_INFINITY, |high, (place, _)| high.max(place));
    let middle = (low + high) * 0.5;
    (middle, nodes().map(|(place, radius)| place.distance(middle) + radius).fold(0.0, f64::max))
}
