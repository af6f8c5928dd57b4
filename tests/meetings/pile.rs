//! Logs that touch logs.

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::cpu::lanes::OneF64;
use sinew::cpu::math::V3;
use sinew::cpu::pills::{Pill, nearest};
use sinew::flesh::{Flesh, NodeState, RodSpec};
use sinew::layout::contact;
use sinew::step::StepConfig;
use sinew::{Coefficient, Collisions, CombineRule, FleshHandle, HalfSpace, Material, Physics, Pose};

use crate::common::{FRAME, material};

pub const RADIUS: f64 = 0.03;
pub const SEGMENTS: usize = 10;
pub const LENGTH: f64 = 0.5;
pub const PASSES: u32 = 6;

/// Logs, each an instance, along their x axes.
pub struct Pile {
    pub physics: Physics,
    pub logs: Vec<FleshHandle>,
    material: Material,
}

/// What a pile's motion comes to, over a log's mass.
pub struct PileMotion {
    /// Σmv and Σ|mv| of logs (m/s).
    pub momentum: DVec3,
    pub size: f64,
    /// ΣL and Σ|L| of logs about the origin (m²/s).
    pub angular: DVec3,
    pub angular_size: f64,
    /// Kinetic energy (m²/s²).
    pub energy: f64,
}

impl Pile {
    pub fn of(material: Material, poses: &[Pose]) -> Self {
        let mut physics = Physics::with_config(StepConfig::default());
        physics.config.passes = PASSES;
        let mut pile = Self { physics, logs: Vec::new(), material };
        for pose in poses {
            pile.add(pose.translation, pose.rotation, 1.0);
        }
        pile
    }

    pub fn new(poses: &[Pose]) -> Self {
        Self::of(material(1.0e7, 0.3, 1000.0, 3.0), poses)
    }

    /// Adds a log of so many times the density.
    pub fn add(&mut self, place: DVec3, turn: DQuat, density: f64) {
        let half = DVec3::X * (LENGTH / 2.0);
        let mut rod = RodSpec::straight("log", -half, half, SEGMENTS, RADIUS);
        rod.material = Material { density: self.material.density * density, ..self.material };
        let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
        self.logs.push(self.physics.insert(flesh, &[], Pose::new(place, turn)).unwrap());
    }

    /// Has logs rub on each other by such a coefficient.
    pub fn rub(&mut self, friction: f32) {
        for &log in &self.logs {
            let friction = Some(Coefficient::new(friction, CombineRule::Average));
            let own = Collisions { friction, ..self.physics.collisions(log).unwrap() };
            self.physics.set_collisions(log, own).unwrap();
        }
    }

    pub fn on_ground(&mut self) {
        self.physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
    }

    /// Three logs on the ground, and three across them.
    pub fn crossed() -> Self {
        let poses: Vec<_> = (0..6)
            .map(|index| {
                let aside = (f64::from(index % 3) - 1.0) * 0.15;
                match index / 3 {
                    0 => Pose::from_translation(DVec3::new(0.0, RADIUS, aside)),
                    _ => Pose::new(DVec3::new(aside, 3.0 * RADIUS, 0.0), DQuat::from_rotation_y(FRAC_PI_2)),
                }
            })
            .collect();
        let mut pile = Self::new(&poses);
        pile.on_ground();
        pile
    }

    pub fn run(&mut self, frames: usize) {
        (0..frames).for_each(|_| self.physics.step_flesh(FRAME).unwrap());
        assert!(self.logs.iter().all(|log| self.physics.health(*log).unwrap().resets == 0));
    }

    /// Gives a log a velocity (m/s) and a spin about its middle (rad/s).
    pub fn push(&mut self, log: usize, velocity: DVec3, spin: DVec3) {
        let flesh = self.physics.flesh(self.logs[log]).unwrap().clone();
        let centre = self.centre(log);
        for j in 0..=SEGMENTS {
            let mut node = self.node(log, j);
            node.velocity = (velocity + spin.cross(node.place - centre)).as_vec3();
            node.spin = spin.as_vec3();
            self.physics.state_mut(self.logs[log]).unwrap().set_node(&flesh, 0, j, &node);
        }
    }

    pub fn node(&self, log: usize, j: usize) -> NodeState {
        self.physics.node(self.logs[log], 0, j).unwrap()
    }

    fn nodes(&self) -> impl Iterator<Item = (usize, NodeState)> {
        (0..self.logs.len()).flat_map(move |log| (0..=SEGMENTS).map(move |j| (j, self.node(log, j))))
    }

    pub fn speed(&self) -> f64 {
        self.nodes().map(|(_, node)| f64::from(node.velocity.length())).fold(0.0, f64::max)
    }

    pub fn centre(&self, log: usize) -> DVec3 {
        (0..=SEGMENTS).map(|j| self.node(log, j).place * share(j)).sum()
    }

    /// A log's velocity (m/s), and the spin of its sections (rad/s), in the mean.
    pub fn motion_of(&self, log: usize) -> (DVec3, DVec3) {
        (0..=SEGMENTS).fold((DVec3::ZERO, DVec3::ZERO), |(velocity, spin), j| {
            let node = self.node(log, j);
            (velocity + node.velocity.as_dvec3() * share(j), spin + node.spin.as_dvec3() * share(j))
        })
    }

    pub fn motion(&self) -> PileMotion {
        let polar = 0.5 * RADIUS * RADIUS;
        let mut whole =
            PileMotion { momentum: DVec3::ZERO, size: 0.0, angular: DVec3::ZERO, angular_size: 0.0, energy: 0.0 };
        for log in 0..self.logs.len() {
            let (mut momentum, mut angular) = (DVec3::ZERO, DVec3::ZERO);
            for j in 0..=SEGMENTS {
                let node = self.node(log, j);
                let (velocity, spin) = (node.velocity.as_dvec3(), node.spin.as_dvec3());
                // As a node has it: as much about its axis as the scale has, half of that across.
                let axis = node.frame.as_dquat() * DVec3::Z;
                let about = (spin + axis * axis.dot(spin)) * (0.5 * polar * f64::from(node.scale).powi(2));
                momentum += velocity * share(j);
                angular += (node.place.cross(velocity) + about) * share(j);
                whole.energy += 0.5 * share(j) * (velocity.length_squared() + spin.dot(about));
            }
            whole.momentum += momentum;
            whole.size += momentum.length();
            whole.angular += angular;
            whole.angular_size += angular.length();
        }
        whole
    }

    /// Kinetic energy and weight above the ground, over a log's mass (m²/s²).
    pub fn energy(&self) -> f64 {
        let height = self.nodes().map(|(j, node)| share(j) * node.place.y).sum::<f64>();
        self.motion().energy + 9.81 * height
    }

    /// How deep a log is in another at the most (m).
    pub fn deepest(&self) -> f64 {
        deepest(&self.physics, &self.logs)
    }

    /// A log's weight (N).
    pub fn weight(&self, gravity: f64) -> f64 {
        self.material.density * PI * RADIUS * RADIUS * LENGTH * gravity
    }

    /// With what force the rows of a log hold it up (N): those of the ground, and those of other logs.
    pub fn borne(&self, log: usize) -> [f64; 2] {
        let state = self.physics.state(self.logs[log]).unwrap();
        let (ground, others) = (state.contacts().next().unwrap(), state.meets().next().unwrap());
        let of = |row: &[[f32; 8]]| {
            f64::from(row[contact::DUAL][0] * row[contact::DIRECTION + 1][0] + row[contact::TANGENT + 1][0])
        };
        [ground, others].map(|rows| rows.chunks_exact(contact::ENTRIES).map(of).sum())
    }
}

/// How deep a chain is in another one at the most (m), by all pairs of their segments.
pub fn deepest(physics: &Physics, handles: &[FleshHandle]) -> f64 {
    let mut chains: Vec<Vec<NodeState>> = Vec::new();
    for &handle in handles {
        for (index, chain) in physics.flesh(handle).unwrap().chains().iter().enumerate() {
            chains.push((0..chain.node_count()).map(|j| physics.node(handle, index, j).unwrap()).collect());
        }
    }
    let pill = |ends: &[NodeState]| Pill {
        ends: [&ends[0], &ends[1]].map(|node| V3(node.place.to_array())),
        radii: [&ends[0], &ends[1]].map(|node| f64::from(node.radius)),
    };
    let mut depth = 0.0_f64;
    for (index, chain) in chains.iter().enumerate() {
        for other in &chains[index + 1..] {
            for (a, b) in chain.windows(2).flat_map(|a| other.windows(2).map(move |b| (a, b))) {
                depth = depth.max(-nearest(OneF64(0), &pill(a), &pill(b)).gap);
            }
        }
    }
    depth
}

/// Which share of a log's mass a node has.
fn share(node: usize) -> f64 {
    if node == 0 || node == SEGMENTS { 0.5 / SEGMENTS as f64 } else { 1.0 / SEGMENTS as f64 }
}
