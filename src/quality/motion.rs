//! Momentum and energy of flesh, in f64.

use std::sync::Arc;

use glam::DVec3;

use super::{Quality, worse};
use crate::cpu::fibres::Excitation;
use crate::cpu::group::{Group, GroupRest};
use crate::cpu::lanes::{Entry, LANES, OneF64};
use crate::cpu::potential::standing;
use crate::flesh::{Flesh, FleshState, GroupState};
use crate::layout::{chain, node, rest};

/// Energy of flesh (J).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize))]
pub struct Energy {
    /// Of its motion: of nodes, of their spin, and of sections that swell.
    pub kinetic: f64,
    /// Of its height under [`StepConfig::gravity`](crate::step::StepConfig::gravity), 0 at the world's origin.
    pub potential: f64,
    /// What its segments store, with their fibres as they are excited, and fascia and surface bending; contacts are not in it.
    pub elastic: f64,
}

/// One over the square of a step (1/s²) in which no stiffness is too much for f64.
const INV_STEP2: f64 = 1.0e12;

/// Flesh in f64, which instances share.
pub(crate) struct Wide {
    flesh: Arc<Flesh>,
    groups: Vec<GroupRest<f64>>,
}

impl Wide {
    /// That of some flesh, or the last one's where it is the same.
    pub fn of(flesh: &Arc<Flesh>, last: Option<Self>) -> Self {
        let groups = || flesh.groups().iter().map(GroupRest::to_f64).collect();
        last.filter(|last| Arc::ptr_eq(&last.flesh, flesh))
            .unwrap_or_else(|| Self { flesh: Arc::clone(flesh), groups: groups() })
    }
}

impl Quality {
    /// Adds momentum and energy of one instance under gravity (m/s²); `substep` is the last one (s), 0 before the first.
    pub(crate) fn add_motion(&mut self, wide: &Wide, state: &FleshState, gravity: DVec3, substep: f64) {
        let Wide { flesh, groups } = wide;
        for (index, chain) in flesh.chains().iter().enumerate() {
            let (rest, lane) = (&groups[chain.group], chain.lane);
            let rates = &state.groups[chain.group].nodes;
            for j in 0..chain.node_count() {
                let [mass, about_u, about_v, about_uv, about_w] =
                    [rest::MASS, rest::INERTIA_U, rest::INERTIA_V, rest::INERTIA_UV, rest::INERTIA_W]
                        .map(|entry| rest.row(j)[entry][lane]);
                let now = state.node(flesh, index, j);
                let (velocity, spin) = (now.velocity.as_dvec3(), now.spin.as_dvec3());
                let (frame, scale) = (now.frame.as_dquat(), f64::from(now.scale));
                let local = frame.conjugate() * spin;
                let turning = DVec3::new(
                    about_u * local.x + about_uv * local.y,
                    about_uv * local.x + about_v * local.y,
                    about_w * local.z,
                ) * (scale * scale);
                let swelling = f64::from(rates[j * node::ENTRIES + node::SCALE_RATE][lane]);
                self.momentum += velocity * mass;
                self.angular_momentum += now.place.cross(velocity) * mass + frame * turning;
                self.energy.kinetic +=
                    0.5 * (mass * velocity.length_squared() + local.dot(turning) + about_w * swelling * swelling);
                self.energy.potential -= mass * gravity.dot(now.place);
                self.speed_max = worse(self.speed_max, velocity.length());
            }
        }
        for (index, (rest, state)) in groups.iter().zip(&state.groups).enumerate() {
            let lanes = flesh.chains().iter().filter(|chain| chain.group == index).map(|chain| chain.lane);
            self.energy.elastic += stored(rest, state, lanes, substep);
        }
    }
}

/// What chains store of elastic energy (J).
fn stored(
    rest: &GroupRest<f64>,
    GroupState { nodes, inputs, chains, .. }: &GroupState,
    lanes: impl Iterator<Item = usize>,
    substep: f64,
) -> f64 {
    let [mut nodes, inputs, mut chains] =
        [nodes, inputs, chains].map(|rows| rows.iter().map(|entry| entry.map(f64::from)).collect::<Vec<Entry<f64>>>());
    // Where they are, also what was put there since the last step.
    for row in nodes.chunks_exact_mut(node::ENTRIES) {
        row.copy_within(node::PLACE..node::PLACE + 3, node::PREV_PLACE);
        row[node::MOVED..node::MOVED + 3].fill([0.0; LANES]);
    }
    let group = Group {
        rest,
        nodes: &mut nodes,
        inputs: &inputs,
        forces: &[],
        planes: &[],
        tangents: &[],
        chains: &mut chains,
        contacts: &mut [],
        meets: &mut [],
        solved: &mut [],
        reactions: &mut [],
        scratch: &mut [],
    };
    let inv_step = if substep > 0.0 { 1.0 / substep } else { 0.0 };
    let of_lane = |lane: usize| {
        let [activation, mean_stretch] =
            [chain::ACTIVATION, chain::MEAN_STRETCH].map(|entry| group.chains[entry][lane]);
        let excitation = Excitation { activation, mean_stretch, prev_stretch: 1.0, inv_step };
        standing(OneF64(lane), &group, INV_STEP2, Some(excitation)).stored.whole()
    };
    lanes.map(of_lane).sum()
}
