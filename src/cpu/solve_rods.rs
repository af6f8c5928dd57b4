//! Stage `solve_rods`: implicit Euler for every chain, (77)–(78), by Gauss–Newton steps that each are one factor and solve
//! of a block-tridiagonal system; its twin is `shaders/solve_rods.wgsl`.
//!
//! One step from the prediction is all that a calm chain takes, and there it is right to second order. Where bones jerk or
//! motion is wild the prediction is anywhere, and a step from there may be a step up, or far from where it ends. So what it
//! reached is compared with the substep's start by [`potential`](super::potential): it is kept if the chain's energy has not
//! grown, which holds for every exact step of a convex potential, if it changed no segment by more than [`TRUSTED`], and if
//! no contact was taken amiss: held back though it has opened, or to stick though it slips.
//! If Π has grown, the chain starts again from where it stood at the substep's start, with what bones hold where they hold it
//! now; else it goes on from where it is. Steps are then shortened until Π falls, and further ones are taken where it fell by
//! much less than foretold or the step went far, at most [`StepConfig::retries`](crate::step::StepConfig) in all, or
//! some more (`FURTHER`) of what meets others and is pressed by more than moves it. Thus Π never ends above Π(x_n), but for
//! rounding. What slips has no stiffness along its way in Newton's step, which so goes through where friction would stop it; once a step
//! has led up, the chain takes friction by its secant until the stage ends: what that stores is nowhere less than what friction does.
//! If in the end there is still more energy than at the start, as a potential that is not convex may give, velocities
//! are lessened until there is not; a free chain flies on.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::{eliminate, eliminate_rhs, factor, solve_lower, solve_lower_columns};
use super::contact_rows::{Again, System};
use super::contacts::{Cursors, add_contacts, amiss_again, pass_idle, press};
use super::descent::descend;
use super::fascia::add_tie;
use super::fibres::Excitation;
use super::group::Group;
use super::holds::{Placed, guide, guide_columns, hold, hold_columns};
use super::lanes::{Lane, Lanes, apart, unrolled};
use super::math::V3;
use super::node_terms::{add_inertia, add_surface_bending};
use super::reactions::{self, Beyond, react};
use super::rod_energies::{SegmentTerms, UNKNOWNS, segment_terms};
use super::solved::{back_substitute, step_by, store_factor, store_factor_of};
use super::strains::{Reference, Section, most_stiffness};
use super::stumps::{add_borne, go_with_stem, keep_stump};
use crate::layout::{node, reaction, rest, scratch};
use crate::step::StepParams;

/// The least pivot, over the diagonal entry that it is what is left of. In exact arithmetic no pivot is below the
/// inertia; where a rod is stiffer than its inertia by more than f32 has digits, one can be all rounding. In f64 by as
/// much less as its digits are finer.
pub const LEAST_PIVOT: f32 = 1.0e-6;

/// The strain, and the turn (rad) of neighbours against each other, that one linear solve can be trusted to change by.
pub const TRUSTED: f32 = 0.15;
/// How long (s) a chain goes without the second order of which a solve was led astray or went far.
pub const ROUGH: f32 = 0.3;

/// Steps every chain of the group to where Π is least, or as near as its budget allows.
#[inline(always)]
pub fn solve_rods<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    descend(lanes, params, group);
}

/// One Gauss–Newton step of every chain; by how much it makes Π fall where Π is what the step takes it for (J), a flag where it
/// goes so far that it cannot be that ([`TRUSTED`]), and how it took contacts amiss. Where it is `again` that
/// chains are solved, only flagged ones are, by a system stiffened by a share of its diagonal, and the step is kept for
/// further shares of it ([`descent`](super::descent)). Where it `reacts`, reaction rows are written.
#[inline(always)]
pub(crate) fn solve<L: Lanes>(
    lanes: L,
    inv_step2: L::V,
    group: &mut Group<L::Scalar>,
    excitation: Option<Excitation<L::V>>,
    again: Option<Again<L::V>>,
    reacts: bool,
) -> (L::V, L::V, L::V)
where
    L::Scalar: Into<f64>,
{
    forth(lanes, inv_step2, group, excitation, again, reacts);
    back(lanes, group, again, reacts)
}

/// The first half of [`solve`]: sets the system up and eliminates its nodes in order.
#[inline(always)]
pub(super) fn forth<L: Lanes>(
    lanes: L,
    inv_step2: L::V,
    group: &mut Group<L::Scalar>,
    mut excitation: Option<Excitation<L::V>>,
    again: Option<Again<L::V>>,
    reacts: bool,
) where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let solved = again.map(|again| again.solved);
    let count = group.rest.node_count;
    let touching = group.is_touched();
    // Passes go on from the factors, and what hangs on each other is not all of one group.
    let kept_on = !group.solved.is_empty() || group.rest.is_in_tree();
    let string_share = if again.is_some() { lanes.splat(1.0) } else { zero };
    let least_pivot = lanes.splat(LEAST_PIVOT / f32::EPSILON) * lanes.epsilon();
    let most = most_stiffness(lanes, group.rest.row(0), inv_step2, lanes.epsilon());

    let mut block = [[zero; UNKNOWNS]; UNKNOWNS];
    let mut rhs = [zero; UNKNOWNS];
    // What the nodes before took off the block's diagonal.
    let mut eliminated = [zero; UNKNOWNS];
    // After the last node there is no segment, and no step for what is left of the one before to couple to.
    let mut terms = SegmentTerms::none(lanes);
    let mut here = Section::load(lanes, group.row(0));
    let mut cursors = Cursors::of(group);
    let mut beyond = Beyond::none(lanes);
    for index in 0..count {
        let rest_row = group.rest.row(index);
        add_inertia(lanes, inv_step2, rest_row, group.row(index), &mut block, &mut rhs);
        if let Some(bears) = group.rest.bears[index] {
            let (mut own, mut right) = (block, rhs);
            apart!(lanes, add_borne(lanes, group.borne_row(bears), &mut own, &mut right));
            (block, rhs) = (own, right);
        }
        if index + 1 < count {
            let next = Section::load(lanes, group.row(index + 1));
            if let Some(excitation) = &mut excitation {
                excitation.prev_stretch = lanes.load(&group.row(index)[node::PREV_FIBRE_STRETCH]);
            }
            let reference = Reference::of(lanes, group, index, most);
            terms = segment_terms(lanes, [here, next], rest_row, reference, excitation.as_ref(), string_share);
            unrolled!(for i in 0..7 {
                rhs[i] = rhs[i] - terms.gradient_a[i];
                for k in 0..=i {
                    block[i][k] = block[i][k] + terms.block_aa[i][k];
                }
            });
            here = next;
        }
        // Here and below, functions apart are given copies: what they are given may not be in registers.
        if touching && pass_idle(group, index, &mut cursors) {
            let mut system = System { block, rhs, terms };
            apart!(lanes, add_contacts(lanes, group, index, &mut cursors, again, &mut system));
            (block, rhs, terms) = (system.block, system.rhs, system.terms);
        }
        let coupling = &mut terms.block_ab;
        if group.rest.has_surface_bending {
            add_surface_bending(lanes, group, index, &mut block, &mut rhs, coupling);
        }
        if group.rest.has_fascia {
            add_tie(lanes, rest_row, group.row(index), &mut block, &mut rhs);
        }
        if let Some(reaction) = group.rest.reactions[index].filter(|_| reacts) {
            let (own, right, next) = (block, rhs, *coupling);
            apart!(lanes, beyond.keep(lanes, group.held_row(reaction), &own, &right, &next));
        }
        if group.rest.held[index] {
            hold(lanes, rest_row, &mut block, &mut rhs, coupling);
        }
        if group.rest.slides[index] {
            guide(lanes, rest_row, group.row(index), &mut block, &mut rhs, coupling);
        }
        if group.rest.hung[index] {
            let (mut own, mut right) = (block, rhs);
            apart!(lanes, keep_stump(lanes, rest_row, group.stump_row(), &mut own, &mut right, solved));
            (block, rhs) = (own, right);
        }
        let next_reacts = reacts && index + 1 < count && group.rest.reactions[index + 1].is_some();
        let whole = if next_reacts { Some(*coupling) } else { None };
        if index + 1 < count && group.rest.held[index + 1] {
            hold_columns(lanes, group.rest.row(index + 1), coupling);
        }
        if index + 1 < count && group.rest.slides[index + 1] {
            guide_columns(lanes, group.rest.row(index + 1), group.row(index + 1), coupling);
        }

        if let Some(Again { stiffened, .. }) = again {
            unrolled!(for i in 0..7 {
                block[i][i] = block[i][i] + (block[i][i] + eliminated[i]) * stiffened;
            });
        }
        let mut least = [zero; UNKNOWNS];
        unrolled!(for i in 0..7 {
            least[i] = (block[i][i] + eliminated[i]) * least_pivot;
        });
        let inv_pivot = factor(lanes, &mut block, &least);
        solve_lower(&block, &mut rhs);
        solve_lower_columns(&block, coupling);
        match solved.filter(|_| kept_on) {
            None => store_factor(lanes, group.scratch_row(index), &block, &inv_pivot, coupling, &rhs),
            Some(flag) => {
                let (own, pivots, next, right) = (block, inv_pivot, *coupling, rhs);
                let factor = (&own, &pivots, &next, &right);
                apart!(lanes, store_factor_of(lanes, group.scratch_row(index), factor, flag));
            }
        }
        if index + 1 < count {
            let all = whole.map(|whole| {
                let (own, pivots, right, next) = (block, inv_pivot, rhs, (terms.block_bb, terms.gradient_b));
                apart!(lanes, Beyond::eliminated(lanes, &own, &pivots, &right, whole, (&next.0, &next.1)))
            });
            eliminated = eliminate(lanes, coupling, &inv_pivot, &terms.block_bb, &mut block);
            eliminate_rhs(coupling, &inv_pivot, &terms.gradient_b, &mut rhs);
            if let Some(all) = all {
                beyond = all.less(&block, &rhs);
            }
        }
    }
}

/// The second half of [`solve`]: solves from the last node on, and steps.
#[inline(always)]
pub(super) fn back<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    again: Option<Again<L::V>>,
    reacts: bool,
) -> (L::V, L::V, L::V)
where
    L::Scalar: Into<f64>,
{
    apart!(lanes, substitute(lanes, group, again, reacts))
}

/// See [`back`].
#[inline(always)]
fn substitute<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    again: Option<Again<L::V>>,
    reacts: bool,
) -> (L::V, L::V, L::V)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let solved = again.map(|again| again.solved);
    let count = group.rest.node_count;
    let touching = group.is_touched();
    let mut cursors = Cursors::after(group);
    let (mut fall, mut farthest2, mut amiss) = (zero, zero, zero);
    let mut delta = [zero; UNKNOWNS];
    for index in (0..count).rev() {
        let next = delta;
        delta = back_substitute(lanes, group.scratch_row(index), &delta);
        if group.rest.hung[index] {
            let own = delta;
            delta = apart!(lanes, go_with_stem(lanes, group, index, &own, None));
        }
        if let Some(slot) = group.rest.reactions[index].filter(|_| reacts) {
            let (rest_row, here, after) = (group.rest.row(index), delta, next);
            let reacting = apart!(lanes, react(lanes, rest_row, group.held_row(slot), &here, &after));
            let row = &mut group.reactions[slot * reaction::ENTRIES..][..reaction::ENTRIES];
            reactions::store(lanes, row, reacting, solved.unwrap_or(lanes.splat(1.0)));
        }
        if touching && again.is_none() {
            let (here, after) = (delta, next);
            let taken_amiss = apart!(lanes, press(lanes, group, index, &mut cursors, [&here, &after]));
            amiss = amiss.max(taken_amiss);
        }
        let inv_length = lanes.at(group.rest.row(index), rest::INV_LENGTH);
        let apart = |k: usize| V3([next[k] - delta[k], next[k + 1] - delta[k + 1], next[k + 2] - delta[k + 2]]);
        let (strained, turned) = (apart(0) * inv_length, apart(4));
        // Of padding and after the last node there is no segment.
        let turned2 = zero.where_less(inv_length, turned.dot(turned), zero);
        farthest2 = farthest2.max(strained.dot(strained)).max(turned2);
        if again.is_some() {
            let row = group.scratch_row(index);
            unrolled!(for k in 0..7 {
                let (along, inv_pivot) = (lanes.at(row, scratch::RHS + k), lanes.at(row, scratch::INV_PIVOT + k));
                fall = fall + along * along * inv_pivot;
            });
        }
        if again.is_some() || group.rest.bears[index].is_some() {
            let row = group.scratch_row(index);
            unrolled!(for k in 0..7 {
                lanes.store(delta[k], &mut row[scratch::STEP + k]);
            });
        }
        let row = group.row_mut(index);
        let now = Placed::now(lanes, row);
        let to = step_by(lanes, row, now, &delta);
        match again {
            Some(Again { solved, .. }) => to.store_of(lanes, row, solved),
            None => to.store(lanes, row),
        }
    }
    if let Some(again) = again.filter(|_| touching) {
        amiss = apart!(lanes, amiss_again(lanes, group, again));
    }
    let far = lanes.splat(TRUSTED * TRUSTED).where_less(farthest2, lanes.splat(1.0), zero);
    (fall * lanes.splat(0.5), far, amiss)
}
