//! What a muscle does: its length, tension and volume, read from its state in f64.

use glam::DVec3;

use super::{Flesh, FleshState};
use crate::cpu::fibres::Excitation;
use crate::cpu::lanes::{LANES, Lanes, OneF64};
use crate::cpu::rod_energies::{SegmentTerms, segment_terms};
use crate::cpu::strains::{Reference, Section, measure, most_stiffness};
use crate::layout::{chain, node, rest};

/// What a muscle does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MuscleState {
    /// Length through its cross-sections' centres (m).
    pub length: f64,
    /// Length over rest length (1).
    pub stretch: f64,
    /// Volume (m³).
    pub volume: f64,
    /// Volume over rest volume (1).
    pub volume_ratio: f64,
    /// Activation in the last substep: 0 at rest, 1 at peak tension.
    pub activation: f64,
    /// Mean tension along it, passive and active (N); negative where it pushes.
    pub tension: f64,
    /// Force on what holds its first node (N), in the world; see [`Reaction`](super::Reaction).
    pub origin_force: DVec3,
    /// Couple on it about the node (N·m), in the world.
    pub origin_couple: DVec3,
    /// As [`MuscleState::origin_force`], of its last node.
    pub insertion_force: DVec3,
    /// As [`MuscleState::origin_couple`], of its last node.
    pub insertion_couple: DVec3,
}

impl FleshState {
    /// Gradient and blocks of a segment's energy in f64, for forces and balances; `substep` is h, the last one (s), and `step`
    /// its h̃.
    pub(crate) fn segment_terms(
        &self,
        flesh: &Flesh,
        chain: usize,
        segment: usize,
        [substep, step]: [f64; 2],
    ) -> SegmentTerms<f64> {
        let info = &flesh.chains()[chain];
        let (state, lanes) = (&self.groups[info.group], OneF64(info.lane));
        let wide =
            |row: &[[f32; LANES]]| -> Vec<[f64; LANES]> { row.iter().map(|entry| entry.map(f64::from)).collect() };
        let row = |j: usize| wide(&state.nodes[j * node::ENTRIES..][..node::ENTRIES]);
        let (a, b) = (row(segment), row(segment + 1));
        let excitation = Excitation {
            activation: f64::from(state.chains[chain::ACTIVATION][info.lane]),
            mean_stretch: f64::from(state.chains[chain::MEAN_STRETCH][info.lane]),
            prev_stretch: lanes.at(&a, node::PREV_FIBRE_STRETCH),
            inv_step: if substep > 0.0 { 1.0 / substep } else { 0.0 },
        };
        let [first, rest_row] = [0, segment].map(|segment| wide(flesh.groups()[info.group].row(segment)));
        // As the solve in f32 counts it.
        let unit = lanes.splat(f32::EPSILON);
        let most = if step > 0.0 { most_stiffness(lanes, &first, 1.0 / (step * step), unit) } else { None };
        let followed = flesh.groups()[info.group].has_fascia;
        let reference = if followed { Reference::followed(lanes, &a) } else { Reference::built(lanes, &rest_row) };
        segment_terms(
            lanes,
            [Section::load(lanes, &a), Section::load(lanes, &b)],
            &rest_row,
            reference.counted(lanes, &rest_row, most),
            Some(&excitation),
            lanes.splat(0.0),
        )
    }

    /// What a chain does as a muscle; `steps` are those of [`Self::segment_terms`].
    pub(crate) fn muscle(&self, flesh: &Flesh, chain: usize, steps: [f64; 2]) -> MuscleState {
        let info = &flesh.chains()[chain];
        let lanes = OneF64(info.lane);
        let nodes = &self.groups[info.group].nodes;
        let section = |j: usize| {
            let row: Vec<[f64; LANES]> =
                nodes[j * node::ENTRIES..][node::STATE].iter().map(|entry| entry.map(f64::from)).collect();
            Section::load(lanes, &row)
        };
        let last = info.node_count() - 2;
        let (origin, insertion) = (self.reaction(flesh, chain, 0), self.reaction(flesh, chain, last + 1));
        let mut state = MuscleState {
            origin_force: origin.force,
            origin_couple: origin.couple,
            insertion_force: insertion.force,
            insertion_couple: insertion.couple,
            activation: f64::from(self.groups[info.group].chains[chain::ACTIVATION][info.lane]),
            ..MuscleState::default()
        };
        let mut rest_length = 0.0;
        for segment in 0..=last {
            let inv_length = f64::from(flesh.groups()[info.group].row(segment)[rest::INV_LENGTH][info.lane]);
            let strain = measure(lanes, section(segment), section(segment + 1), inv_length);
            let slope = DVec3::from_array(strain.slope.0);
            let area = 0.5 * (info.sections[segment].area + info.sections[segment + 1].area);
            let length = slope.length() / inv_length;
            state.length += length;
            rest_length += 1.0 / inv_length;
            state.volume += area * strain.scale * strain.scale * strain.strain.0[2] / inv_length;
            let terms = self.segment_terms(flesh, chain, segment, steps);
            let pull = |gradient: [f64; 7]| DVec3::new(gradient[0], gradient[1], gradient[2]);
            let force = pull(terms.gradient_b);
            state.tension += force.dot(slope.normalize_or_zero()) / (last + 1) as f64;
        }
        state.stretch = state.length / rest_length;
        state.volume_ratio = state.volume / info.rest_volume;
        state
    }
}
