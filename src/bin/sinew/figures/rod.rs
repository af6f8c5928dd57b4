//! One rod in a scene of its own.

use std::sync::Arc;

use glam::DVec3;
use sinew::flesh::{Flesh, NodeState, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{FleshHandle, Physics, Pose};

use super::plot::Curve;
use crate::Error;

/// A rod along x between two bones.
pub struct Rod {
    physics: Physics,
    handle: FleshHandle,
    flesh: Arc<Flesh>,
    /// Rest places along x (m).
    pub rest: Vec<f64>,
}

/// The bones at both ends of a rod of this length (m).
pub fn bones(length: f64) -> [Pose; 2] {
    [Pose::IDENTITY, Pose::from_translation(DVec3::X * length)]
}

/// Steps without gravity, on one thread.
pub fn weightless(substeps: u32, integrator: Integrator) -> StepConfig {
    StepConfig { substeps, integrator, gravity: DVec3::ZERO, threads: 1, ..StepConfig::default() }
}

impl Rod {
    pub fn new(spec: &RodSpec, bones: &[Pose], config: StepConfig) -> Result<Self, Error> {
        let flesh = Arc::new(Flesh::build(std::slice::from_ref(spec), bones)?);
        let mut physics = Physics::with_config(config);
        let handle = physics.insert(flesh.clone(), bones, Pose::IDENTITY)?;
        let rest = spec.nodes.iter().map(|node| node.place.x).collect();
        Ok(Self { physics, handle, flesh, rest })
    }

    pub fn set_bones(&mut self, bones: &[Pose]) -> Result<(), Error> {
        Ok(self.physics.set_bones(self.handle, bones, Pose::IDENTITY)?)
    }

    pub fn activate(&mut self, activation: f32) -> Result<(), Error> {
        Ok(self.physics.set_activation(self.handle, 0, activation)?)
    }

    pub fn set_node(&mut self, index: usize, to: &NodeState) -> Result<(), Error> {
        self.physics.state_mut(self.handle)?.set_node(&self.flesh, 0, index, to);
        Ok(())
    }

    pub fn step(&mut self, dt: f64, times: usize) -> Result<(), Error> {
        for _ in 0..times {
            self.physics.step_flesh(dt)?;
        }
        Ok(())
    }

    pub fn nodes(&self) -> Result<Vec<NodeState>, Error> {
        let node = |index: usize| self.physics.node(self.handle, 0, index);
        Ok((0..self.rest.len()).map(node).collect::<Result<_, _>>()?)
    }

    /// Stretch of every segment, and its scale.
    pub fn stretches(&self) -> Result<Vec<(f64, f64)>, Error> {
        let nodes = self.nodes()?;
        let pairs = nodes.windows(2).zip(self.rest.windows(2));
        Ok(pairs
            .map(|(pair, rest)| {
                let scale = 0.5 * f64::from(pair[0].scale + pair[1].scale);
                (pair[0].place.distance(pair[1].place) / (rest[1] - rest[0]), scale)
            })
            .collect())
    }
}

/// A rod seen from the side, its discs too.
pub fn silhouette(nodes: &[NodeState], label: &str, colour: usize) -> Vec<Curve> {
    let side = |node: &NodeState, sign: f64| (node.place.x, node.place.y + sign * f64::from(node.radius));
    let upper = nodes.iter().map(|node| side(node, 1.0));
    let lower = nodes.iter().rev().map(|node| side(node, -1.0));
    let mut curves = vec![Curve::new(label, colour, upper.chain(lower).chain(nodes.first().map(|n| side(n, 1.0))))];
    curves.extend(nodes.iter().map(|node| Curve::new("", colour, [side(node, 1.0), side(node, -1.0)])));
    curves
}
