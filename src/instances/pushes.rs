//! What a game does to an instance's flesh beside moving its bones.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::cpu::lanes::{Entry, LANES};
use crate::flesh::Flesh;
use crate::layout::{force, rest};
use crate::step::MOST_GRAVITY;

/// A rigid motion: a velocity, and a spin about a point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Velocity of the centre (m/s).
    pub velocity: DVec3,
    /// Angular velocity (rad/s).
    pub spin: DVec3,
    /// What it turns about, in the world (m).
    pub centre: DVec3,
}

impl Motion {
    /// Velocity of what is at a place (m/s).
    pub fn at(&self, place: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(place - self.centre)
    }
}

/// By how much flesh is accelerated at most beside gravity, whatever force is on a node and however light it is (m/s²).
pub(crate) const MOST_ACCELERATION: f64 = MOST_GRAVITY;

/// How fast flesh is made at most, by a velocity that it is given or an impulse on a node (m/s), and how fast it spins (rad/s).
pub(crate) const MOST_VELOCITY: f64 = 1.0e4;

/// What one node is given.
#[derive(Clone, Copy)]
struct Push {
    chain: usize,
    node: usize,
    /// Through the step (N).
    force: DVec3,
    /// At its start (N·s).
    impulse: DVec3,
}

/// What an instance is given in its next step.
pub(crate) struct Pushes {
    nodes: Vec<Push>,
    /// Which share of their velocities nodes keep: 1 or 0.
    pub kept: f32,
    /// What is added to them.
    motions: Vec<Motion>,
}

impl Default for Pushes {
    fn default() -> Self {
        Self { nodes: Vec::new(), kept: 1.0, motions: Vec::new() }
    }
}

impl Pushes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.motions.is_empty() && self.kept == 1.0
    }

    /// Pushes a node.
    pub fn push(&mut self, chain: usize, node: usize, [force, impulse]: [DVec3; 2]) {
        self.nodes.push(Push { chain, node, force, impulse });
    }

    /// Adds to all velocities.
    pub fn add(&mut self, motion: Motion) {
        self.motions.push(motion);
    }

    /// Puts a motion in the place of all velocities, and of impulses that were given before.
    pub fn replace(&mut self, motion: Motion) {
        self.kept = 0.0;
        self.motions = vec![motion];
        self.nodes.iter_mut().for_each(|push| push.impulse = DVec3::ZERO);
    }

    /// Forgets all of it, once the step is done.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.motions.clear();
        self.kept = 1.0;
    }

    /// Whether a chain's velocities are changed at the step's start.
    pub fn kicks(&self, chain: usize) -> bool {
        let struck = |push: &Push| push.chain == chain && push.impulse != DVec3::ZERO;
        self.kept != 1.0 || !self.motions.is_empty() || self.nodes.iter().any(struck)
    }

    /// What is added to velocities at a place (m/s), and to spins (rad/s).
    pub fn motion_at(&self, place: DVec3) -> [DVec3; 2] {
        let both = |sum: [DVec3; 2], motion: &Motion| [sum[0] + motion.at(place), sum[1] + motion.spin];
        self.motions.iter().fold([DVec3::ZERO; 2], both)
    }

    /// All forces on a chain over its mass (m/s²).
    pub fn load(&self, flesh: &Flesh, chain: usize) -> f64 {
        let on_chain = self.nodes.iter().filter(|push| push.chain == chain);
        let sum: f64 = on_chain.map(|push| push.force.length()).sum();
        if sum == 0.0 { 0.0 } else { (sum / flesh.mass(chain)).min(MOST_ACCELERATION) }
    }

    /// Force rows of each group, none of one of which no node is pushed.
    pub fn rows(&self, flesh: &Flesh) -> Vec<Vec<Entry<f32>>> {
        let mut rows = vec![Vec::new(); if self.nodes.is_empty() { 0 } else { flesh.groups.len() }];
        let mut sums: BTreeMap<(usize, usize), [DVec3; 2]> = BTreeMap::new();
        for &Push { chain, node, force, impulse } in &self.nodes {
            let [forces, impulses] = sums.entry((chain, node)).or_default();
            (*forces, *impulses) = (*forces + force, *impulses + impulse);
        }
        for ((chain, node), [force, impulse]) in sums {
            let info = &flesh.chains()[chain];
            let rest = &flesh.groups[info.group];
            let group: &mut Vec<Entry<f32>> = &mut rows[info.group];
            group.resize(rest.node_count * force::ENTRIES, [0.0; LANES]);
            let row = &mut group[node * force::ENTRIES..][..force::ENTRIES];
            let inv_mass = 1.0 / f64::from(rest.row(node)[rest::MASS][info.lane]);
            let given = [
                (force::ACCELERATION, force * inv_mass, MOST_ACCELERATION),
                (force::VELOCITY, impulse * inv_mass, MOST_VELOCITY),
            ];
            for (at, given, most) in given {
                for (k, value) in given.clamp_length_max(most).to_array().into_iter().enumerate() {
                    row[at + k][info.lane] = value as f32;
                }
            }
        }
        rows
    }
}
