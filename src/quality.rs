//! How well the rods keep their volume and length, how they move, and how far the solve is from balance.

mod motion;

pub use motion::Energy;
pub(crate) use motion::Wide;

use glam::DVec3;

use crate::Pose;
use crate::cpu::contact_rows::{Again, ContactRow, Gone, System};
use crate::cpu::contacts::contact_rows;
use crate::cpu::fascia::add_tie;
use crate::cpu::holds::Placed;
use crate::cpu::lanes::{LANES, Lanes, OneF64};
use crate::cpu::rod_energies::{SegmentTerms, UNKNOWNS};
use crate::flesh::{Flesh, FleshState, GroupState, NodeState, spacing};
use crate::layout::{node, rest};

/// Errors over all segments and nodes of one or more instances.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(serde::Serialize))]
pub struct Quality {
    /// Mean of |volume/rest volume − 1| over segments.
    pub volume_error_mean: f64,
    /// Its maximum.
    pub volume_error_max: f64,
    /// Mean of |length/rest length − 1| over segments.
    pub stretch_error_mean: f64,
    /// Its maximum.
    pub stretch_error_max: f64,
    /// How deep the deepest contact is over the smaller radius there (1), of all that [`Physics::contacts`](crate::Physics::contacts)
    /// lists but those with the instance's own bones, and of [`Physics::flesh_contacts`](crate::Physics::flesh_contacts); of
    /// half-spaces and solids, over the flesh's radius. What bones have put into other flesh counts as deep as it is while it presses. On a
    /// GPU of half-spaces alone.
    pub penetration_max: f64,
    /// The mean of that over these contacts; 0 where there are none.
    pub penetration_mean: f64,
    /// Σmv of all flesh (kg·m/s).
    #[cfg_attr(feature = "cli", serde(serialize_with = "as_array"))]
    pub momentum: DVec3,
    /// Its angular momentum about the world's origin (kg·m²/s).
    #[cfg_attr(feature = "cli", serde(serialize_with = "as_array"))]
    pub angular_momentum: DVec3,
    /// Its energy (J).
    pub energy: Energy,
    /// How fast its fastest node is (m/s).
    pub speed_max: f64,
    /// Out-of-balance force on free nodes over the elastic, inertial and contact forces' magnitudes, root mean squares:
    /// 0 solved, 1 not at all. Contacts press as the last `solve_contacts` handed them over. In the second order with
    /// one substep, a chain's first step after a reset is not judged rightly: it was an implicit Euler one.
    pub residual: f64,
    #[cfg_attr(feature = "cli", serde(skip))]
    segments: usize,
    #[cfg_attr(feature = "cli", serde(skip))]
    unbalanced: f64,
    #[cfg_attr(feature = "cli", serde(skip))]
    forces: f64,
    #[cfg_attr(feature = "cli", serde(skip))]
    contacts: usize,
}

#[cfg(feature = "cli")]
fn as_array<S: serde::Serializer>(vector: &DVec3, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&vector.to_array(), to)
}

impl Quality {
    /// Adds how one instance keeps its volume and length, and its balance. `substep` is h, the last substep (s), and `step` its h̃:
    /// h itself, or ⅔h in the second order.
    pub(crate) fn add(&mut self, flesh: &Flesh, state: &FleshState, [substep, step]: [f64; 2]) {
        for (index, chain) in flesh.chains().iter().enumerate() {
            let nodes: Vec<_> = (0..chain.node_count()).map(|j| state.node(flesh, index, j)).collect();
            let poses: Vec<Pose> = nodes.iter().map(NodeState::pose).collect();
            for (j, (pair, rest)) in poses.windows(2).zip(chain.rest.windows(2)).enumerate() {
                let length = |[a, b]: [&Pose; 2]| a.translation.distance(b.translation);
                let ([a, b], rest) = ([&pair[0], &pair[1]], [&rest[0], &rest[1]]);
                // By the way that the solve has them turned against each other, which may be more than half a turn.
                let along = ((a.rotation + b.rotation).normalize() * DVec3::Z).dot(b.translation - a.translation);
                let scale = 0.5 * f64::from(nodes[j].scale + nodes[j + 1].scale);
                let volume = along / spacing(rest) * scale * scale;
                self.add_segment((volume - 1.0).abs(), (length([a, b]) / length(rest) - 1.0).abs());
            }
        }
        // Before the first substep nothing was solved.
        let solved = if step > 0.0 { flesh.chains().len() } else { 0 };
        for chain in 0..solved {
            self.add_residual(flesh, state, chain, [substep, step]);
        }
        let total = self.forces.sqrt();
        self.residual = if total > 0.0 { self.unbalanced.sqrt() / total } else { 0.0 };
    }

    /// Adds how deep a contact is over the smaller radius there; negative where it is not.
    pub(crate) fn add_contact(&mut self, depth: f64) {
        let depth = worse(0.0, depth);
        self.contacts += 1;
        self.penetration_mean += (depth - self.penetration_mean) / self.contacts as f64;
        self.penetration_max = worse(self.penetration_max, depth);
    }

    fn add_segment(&mut self, volume_error: f64, stretch_error: f64) {
        self.segments += 1;
        let share = 1.0 / self.segments as f64;
        self.volume_error_mean += (volume_error - self.volume_error_mean) * share;
        self.stretch_error_mean += (stretch_error - self.stretch_error_mean) * share;
        self.volume_error_max = worse(self.volume_error_max, volume_error);
        self.stretch_error_max = worse(self.stretch_error_max, stretch_error);
    }

    fn add_residual(&mut self, flesh: &Flesh, state: &FleshState, chain: usize, [substep, step]: [f64; 2]) {
        let info = &flesh.chains()[chain];
        let (rest, lanes) = (&flesh.groups[info.group], OneF64(info.lane));
        let GroupState { nodes, contacts, meets, .. } = &state.groups[info.group];
        let wide = |rows: &[[f32; LANES]]| -> Vec<[f64; LANES]> { rows.iter().map(|e| e.map(f64::from)).collect() };
        let count = info.node_count();
        let mut elastic = vec![[0.0; 3]; count];
        for j in 0..count - 1 {
            let terms = state.segment_terms(flesh, chain, j, [substep, step]);
            elastic[j].iter_mut().zip(terms.gradient_a).for_each(|(sum, force)| *sum += force);
            elastic[j + 1].iter_mut().zip(terms.gradient_b).for_each(|(sum, force)| *sum += force);
        }
        let mut touching = vec![[0.0; UNKNOWNS]; count + 1];
        let rows = [(wide(contacts), false), (wide(meets), true)];
        let rows =
            rows.iter().flat_map(|(rows, meets)| contact_rows(rows).map(|(segment, row)| (segment, row, *meets)));
        for (segment, row, meets) in rows.filter(|(segment, ..)| *segment < count) {
            let row = ContactRow::load(lanes, row, meets);
            let ends =
                [segment, (segment + 1).min(count - 1)].map(|j| wide(&nodes[j * node::ENTRIES..][..node::ENTRIES]));
            let gone = row.gone(&ends.map(|end| Gone::of_node(lanes, &end, &Placed::now(lanes, &end))));
            let block = [[0.0; UNKNOWNS]; UNKNOWNS];
            let mut system = System { block, rhs: touching[segment], terms: SegmentTerms::none(lanes) };
            row.add(lanes, &gone, Some(Again::of(lanes, 1.0)), &mut system);
            touching[segment] = system.rhs;
            touching[segment + 1].iter_mut().zip(system.terms.gradient_b).for_each(|(sum, gradient)| *sum -= gradient);
        }
        for ((j, elastic), contact) in elastic.into_iter().enumerate().zip(touching) {
            let (row, rest_row) = (wide(&nodes[j * node::ENTRIES..][..node::ENTRIES]), wide(rest.row(j)));
            if lanes.at(&rest_row, rest::FREE_PLACE) == 0.0 || lanes.at(&rest_row, rest::SLIDES) != 0.0 {
                continue;
            }
            let (mut block, mut tie) = ([[0.0; UNKNOWNS]; UNKNOWNS], [0.0; UNKNOWNS]);
            if rest.has_fascia {
                add_tie(lanes, &rest_row, &row, &mut block, &mut tie);
            }
            for (k, elastic) in elastic.into_iter().enumerate() {
                let lag = lanes.at(&row, node::MOVED + k) - lanes.at(&row, node::PREDICTED_MOVE + k);
                let inertial = lanes.at(&rest_row, rest::MASS) * lag / (step * step);
                let (contact, tie) = (-contact[k], -tie[k]);
                self.unbalanced += (elastic + inertial + contact + tie).powi(2);
                self.forces += (elastic.abs() + inertial.abs() + contact.abs() + tie.abs()).powi(2);
            }
        }
    }
}

/// The larger of two errors; what is not a number is worse than any.
fn worse(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
