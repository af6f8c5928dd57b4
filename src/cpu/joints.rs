//! Where chains hang on chains ([`trees`](super::trees)), reckoned in f64: its twins are `joint_by` and `joint_now` in
//! `shaders/bindings/trees.wgsl`.

use glam::{DQuat, DVec3};

use super::group::Group;
use super::holds::Placed;
use super::lanes::{Entry, OneF32};
use crate::flesh::Branch;
use crate::layout::{chain, node};

/// A section that bears branches.
pub(super) struct Bearing {
    /// Of its chain (m).
    origin: DVec3,
    /// At the substep's start, from that (m).
    prev_place: DVec3,
    /// Since then (m).
    moved: DVec3,
    rotation: DQuat,
    scale: f64,
}

/// Where a stem has a branch.
pub(super) struct Joint {
    /// The branch's last node from its chain's origin (m).
    pub place: DVec3,
    pub frame: DQuat,
    /// From the stem's node to it (m).
    pub arm: DVec3,
    /// How it goes where the stem's scale grows (m).
    pub outward: DVec3,
}

impl Bearing {
    /// The section on which a branch hangs, given how it is placed.
    pub fn of(groups: &[Group<'_, f32>], branch: &Branch, placed: &Placed<f32>) -> Self {
        let [group, lane] = branch.stem;
        let group = &groups[group];
        Self {
            origin: vector(group.chains, chain::ORIGIN, lane),
            prev_place: vector(group.row(branch.stem_node), node::PREV_PLACE, lane),
            moved: DVec3::from_array(placed.moved.0.map(f64::from)),
            rotation: DQuat::from_array(placed.frame.0.map(f64::from)).normalize(),
            scale: f64::from(placed.scale),
        }
    }

    /// The section on which a branch hangs, where it is now.
    pub fn now(groups: &[Group<'_, f32>], branch: &Branch) -> Self {
        let [group, lane] = branch.stem;
        Self::of(groups, branch, &Placed::now(OneF32(lane), groups[group].row(branch.stem_node)))
    }

    /// Where it has a branch.
    pub fn joint(&self, groups: &[Group<'_, f32>], branch: &Branch) -> Joint {
        let [group, lane] = branch.chain;
        let from = self.origin - vector(groups[group].chains, chain::ORIGIN, lane);
        let DVec3 { x: u, y: v, z: w } = branch.rest.translation;
        let outward = self.rotation * DVec3::new(u, v, 0.0);
        let arm = outward * self.scale + self.rotation * DVec3::new(0.0, 0.0, w);
        let place = from + self.prev_place + self.moved + arm;
        Joint { place, frame: self.rotation * branch.rest.rotation, arm, outward }
    }
}

/// Three entries of a lane.
pub(super) fn vector(row: &[Entry<f32>], at: usize, lane: usize) -> DVec3 {
    DVec3::from_array([0, 1, 2].map(|k| f64::from(row[at + k][lane])))
}
