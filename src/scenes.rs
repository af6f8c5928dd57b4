//! The canonical scenes: tests, benches, examples and the tool all use these.

use std::sync::Arc;

use glam::DVec3;

use crate::flesh::{BuildError, Flesh, Holds, RodSpec};
use crate::{Material, Pose};

/// Parameters of [`cantilevers`].
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
