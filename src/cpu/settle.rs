//! A pass of chains that meet others: what contacts press with otherwise than the last solve's system has it moves the chains, by
//! substituting with its factors again.
//!
//! With M the factored matrix, in which a row that presses has its stiffness, A the matrix without rows, and G what rows press
//! with, so that all that was stepped, Δ, satisfies AΔ = r + JᵀG: a pass finds Mδ = Jᵀ(f − G) for the force f with which pairs
//! press where both sides are ([`press`](super::press::press)), steps by δ, and G becomes f − kJδ. All but the last go on by a
//! share of the last one's step too, and G with them: both sides going together is what passes alone are slow to find.
//!
//! Where a share s of a step is taken, it holds for (1 − s)·G before + s·G after all of it (`press_on`). Only of chains that began the
//! substep again and made no whole step since does it hold for no G that is known: they sit passes out (`sit_out`), as do those
//! that took nothing of their last step, and others press against where they are.
//!
//! What passes left out of momentum is given after the last one: [`left_out`](super::left_out).

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::solve_lower;
use super::contact_rows::ContactRow;
use super::contacts::{Cursors, is_idle};
use super::find_meetings::MEETING;
use super::group::{Group, falls};
use super::holds::{Placed, across, guide_rhs, hold_rhs};
use super::lanes::{Entry, Lane, Lanes, apart, unrolled};
use super::math::V3;
use super::rod_energies::{UNKNOWNS, Vec7};
use super::solve_contacts::PENALTY;
use super::solved::{Presses, back_substitute, has, step_by, write};
use super::stumps::{go_with_stem, keep_stump_rhs};
use crate::layout::{borne, chain, contact, scratch, solved};
use crate::step::StepParams;

/// Entries of what pairs press a side with, of each meet row: force; pull and couple, 3 entries each.
pub const WANTED: usize = 7;

/// Which share of the last pass's step a pass goes on by.
pub const GOES_ON: f32 = 0.4;

/// What is as good as found: a share of what a node weighs where a row is. Chains of which no row is off by more sit a pass out.
pub const AS_GOOD: f32 = 2.0e-3;

/// Steps the chains by what their rows should press with; those of meetings with what is `wanted`. Goes on by a share of the
/// last pass's step. Where there are `flags` of who settles, the others stand still.
#[inline(always)]
pub fn settle<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    wanted: &[Entry<L::Scalar>],
    goes_on: Option<f32>,
    flags: Option<L::V>,
) where
    L::Scalar: Into<f64>,
{
    settle_forth(lanes, group, wanted, flags);
    settle_back(lanes, group, goes_on, flags);
}

/// The first half of [`settle`]: by how much rows press otherwise, eliminated in the order of the nodes.
#[inline(always)]
pub(super) fn settle_forth<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    wanted: &[Entry<L::Scalar>],
    flags: Option<L::V>,
) where
    L::Scalar: Into<f64>,
{
    apart!(lanes, eliminate_changes(lanes, group, wanted, flags));
}

/// See [`settle_forth`].
#[inline(always)]
fn eliminate_changes<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, wanted: &[Entry<L::Scalar>], flags: Option<L::V>)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let count = group.rest.node_count;
    let mut carry = [zero; UNKNOWNS];
    let mut rhs = [zero; UNKNOWNS];
    let mut cursors = Cursors::of(group);
    for index in 0..count {
        let mut sums = [carry, [zero; UNKNOWNS]];
        for kind in 0..2 {
            while let Some(slot) = cursors.forth(group, kind, index) {
                apart!(lanes, change(lanes, group, (kind, slot), (wanted, flags), &mut sums));
            }
        }
        let [own, beyond] = sums;
        carry = beyond;
        // The right-hand side is the gradient's opposite.
        if index == 0 {
            rhs = own;
        } else {
            let scratch_row = group.scratch_row(index - 1);
            let mut scaled = rhs;
            unrolled!(for k in 0..7 {
                scaled[k] = rhs[k] * lanes.at(scratch_row, scratch::INV_PIVOT + k);
            });
            unrolled!(for i in 0..7 {
                rhs[i] = own[i];
                for k in 0..UNKNOWNS {
                    rhs[i] = rhs[i] - lanes.at(scratch_row, scratch::COUPLING + k * UNKNOWNS + i) * scaled[k];
                }
            });
        }
        if let Some(bears) = group.rest.bears[index] {
            let borne = group.borne_row(bears);
            for (i, rhs) in rhs.iter_mut().enumerate() {
                *rhs = *rhs + lanes.load(&borne[borne::RHS + i]);
            }
        }
        if group.rest.held[index] {
            hold_rhs(lanes, group.rest.row(index), &mut rhs);
        }
        if group.rest.slides[index] {
            guide_rhs(lanes, group.rest.row(index), group.row(index), &mut rhs);
        }
        if group.rest.hung[index] {
            keep_stump_rhs(lanes, group.rest.row(index), group.stump_row(), &mut rhs);
        }
        let scratch_row = group.scratch_row(index);
        let mut lower = [[zero; UNKNOWNS]; UNKNOWNS];
        unrolled!(for i in 0..7 {
            for k in 0..i {
                lower[i][k] = lanes.at(scratch_row, scratch::lower(i, k));
            }
        });
        solve_lower(&lower, &mut rhs);
        unrolled!(for i in 0..7 {
            lanes.store(rhs[i], &mut scratch_row[scratch::RHS + i]);
        });
    }
}

/// The second half of [`settle`]: solves from the last node on, and steps.
#[inline(always)]
pub(super) fn settle_back<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, goes_on: Option<f32>, flags: Option<L::V>)
where
    L::Scalar: Into<f64>,
{
    apart!(lanes, substitute_changes(lanes, group, goes_on, flags));
}

/// See [`settle_back`].
#[inline(always)]
fn substitute_changes<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, goes_on: Option<f32>, flags: Option<L::V>)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let count = group.rest.node_count;
    let mut cursors = Cursors::after(group);
    let mut delta = [zero; UNKNOWNS];
    for index in (0..count).rev() {
        let after = delta;
        delta = back_substitute(lanes, group.scratch_row(index), &delta);
        if group.rest.hung[index] {
            let own = delta;
            delta = apart!(lanes, go_with_stem(lanes, group, index, &own, goes_on));
        }
        for kind in 0..2 {
            while let Some(slot) = cursors.back(group, kind, index) {
                apart!(lanes, give_way(lanes, group, (kind, slot), [&delta, &after], (goes_on, flags)));
            }
        }
        let mut step = delta;
        let scratch_row = group.scratch_row(index);
        unrolled!(for k in 0..7 {
            if let Some(share) = goes_on {
                step[k] = step[k] + lanes.at(scratch_row, scratch::STEP + k) * lanes.splat(share);
            }
            step[k] = flagged(lanes, flags, step[k], zero);
            lanes.store(step[k], &mut scratch_row[scratch::STEP + k]);
        });
        let row = group.row_mut(index);
        let now = Placed::now(lanes, row);
        let to = step_by(lanes, row, now, &step);
        match flags {
            Some(flag) => to.store_of(lanes, row, flag),
            None => to.store(lanes, row),
        }
    }
}

/// Chains that sit a pass out have no step that the next would go on by.
#[inline(always)]
pub(super) fn stand_still<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let none = nothing(lanes);
    for row in group.solved.chunks_exact_mut(solved::ENTRIES) {
        store(lanes, row, solved::CHANGE, &none);
    }
    for index in 0..group.rest.node_count {
        for entry in &mut group.scratch_row(index)[scratch::STEP..][..UNKNOWNS] {
            lanes.store(none.0, entry);
        }
    }
}

/// What does not press.
#[inline(always)]
fn nothing<L: Lanes>(lanes: L) -> Presses<L::V> {
    (lanes.splat(0.0), V3([lanes.splat(0.0); 3]), V3([lanes.splat(0.0); 3]))
}

/// A value of flagged lanes, or of all where there are no flags; of the others, another one.
#[inline(always)]
fn flagged<L: Lanes>(lanes: L, flags: Option<L::V>, value: L::V, other: L::V) -> L::V {
    match flags {
        Some(flag) => lanes.splat(0.5).where_less(flag, value, other),
        None => value,
    }
}

/// As [`flagged`], of with what a row presses.
#[inline(always)]
fn flagged_presses<L: Lanes>(lanes: L, flags: Option<L::V>, of: Presses<L::V>, other: &Presses<L::V>) -> Presses<L::V> {
    match flags {
        Some(flag) => {
            (flagged(lanes, flags, of.0, other.0), other.1.or(lanes, of.1, flag), other.2.or(lanes, of.2, flag))
        }
        None => of,
    }
}

/// A row whose force is to change.
struct Change<V> {
    row: ContactRow<V>,
    /// Where among [`Group::solved`] its entries are.
    at: std::ops::Range<usize>,
    /// With what it presses as the system has it.
    has: Presses<V>,
    /// With how much more it should press.
    more: Presses<V>,
}

/// By how much a row should press otherwise; `None` of one that is idle.
#[inline(always)]
fn change_of<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    (kind, slot): (usize, usize),
    wanted: &[Entry<L::Scalar>],
) -> Option<Change<L::V>>
where
    L::Scalar: Into<f64>,
{
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let stored = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
    let at = group.solved_at(kind, slot).filter(|_| !is_idle(stored))?;
    let row = ContactRow::load(lanes, stored, kind == 1);
    let pressing = zero.where_less(lanes.load(&group.solved[at.clone()][solved::STIFFNESS]), one, zero);
    // What chains have that sit out may be no number.
    let has @ (force, tangent, turns) = has(lanes, group, at.clone(), (kind, slot));
    let wanted = if kind == 1 {
        let wanted = &wanted[slot * WANTED..][..WANTED];
        (lanes.load(&wanted[0]), V3::load(lanes, wanted, 1), V3::load(lanes, wanted, 4))
    } else {
        // What does not move only lets go: beyond what the matrix has, it would throw what it holds.
        let size = tangent.dot(tangent).sqrt();
        (force.max(zero), tangent * (row.limit.min(size) / size.max(lanes.splat(f32::MIN_POSITIVE))), turns)
    };
    let more = (wanted.0 - force, wanted.1 - tangent, wanted.2 - turns);
    let more = flagged_presses(lanes, Some(pressing), more, &nothing(lanes));
    Some(Change { row, at, has, more })
}

/// Flags chains that meet others and of which a row should press otherwise than the system has it, by more than is as good as found
/// ([`AS_GOOD`]); where all are `of_one` that is settled as one, no more of them than say so.
#[inline(always)]
pub fn unsettled<L: Lanes>(
    lanes: L,
    params: &StepParams,
    group: &Group<L::Scalar>,
    wanted: &[Entry<L::Scalar>],
    of_one: bool,
) -> L::V
where
    L::Scalar: Into<f64>,
{
    let meets = lanes.load(&group.chains[chain::MEETS]);
    let mut flag = lanes.splat(0.0);
    // Friction is as stiff as γ·2m/h² where chains meet, less where it slips or steps are short, and as PENALTY·m/h² elsewhere.
    let fall = falls(lanes, params, group).length() * lanes.splat(params.h * params.h * AS_GOOD);
    let least = [fall * lanes.splat(1.0 / PENALTY), fall * lanes.splat(0.5 / MEETING)];
    for kind in 0..2 {
        for slot in 0..group.touching()[kind].len() / contact::ENTRIES {
            let Some(change) = change_of(lanes, group, (kind, slot), wanted) else { continue };
            let Change { row, more: (force, pull, couple), .. } = change;
            let least = row.friction * least[kind] * row.arm;
            let off = (force * force + pull.dot(pull)) * (row.arm * row.arm) + couple.dot(couple);
            flag = (least * least).where_less(off, meets, flag);
            if of_one && lanes.any(flag) {
                return flag;
            }
        }
    }
    flag
}

/// Adds to the right-hand sides of its two nodes by how much a row should press otherwise than the system has it; the system then
/// has it so.
#[inline(always)]
fn change<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    (kind, slot): (usize, usize),
    (wanted, flags): (&[Entry<L::Scalar>], Option<L::V>),
    sums: &mut [Vec7<L::V>; 2],
) where
    L::Scalar: Into<f64>,
{
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let Some(Change { row, at, has, more }) = change_of(lanes, group, (kind, slot), wanted) else { return };
    let (force, pull, rolls) = flagged_presses(lanes, flags, more, &nothing(lanes));
    let both = row.direction * force + across(pull, row.direction);
    let couple = row.couple(pull) + rolls;
    let swells = zero - row.scale_term * force;
    for (sum, weight) in sums.iter_mut().zip([one - row.along, row.along]) {
        let ([x, y, z], [a, b, c]) = (both.0, couple.0);
        for (sum, value) in sum.iter_mut().zip([x, y, z, swells, a, b, c]) {
            *sum = *sum + value * weight;
        }
    }
    store(lanes, &mut group.solved[at.clone()], solved::BEFORE, &has);
    write(lanes, group, at, (kind, slot), &(has.0 + force, has.1 + pull, has.2 + rolls), flags);
}

/// What a row presses with once its nodes have stepped by `delta`, and gone on by a share of the last pass's step.
#[inline(always)]
fn give_way<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    (kind, slot): (usize, usize),
    [a, b]: [&Vec7<L::V>; 2],
    (goes_on, flags): (Option<f32>, Option<L::V>),
) where
    L::Scalar: Into<f64>,
{
    let stored = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
    let Some(at) = group.solved_at(kind, slot).filter(|_| !is_idle(stored)) else { return };
    let row = ContactRow::load(lanes, stored, kind == 1);
    let step = |k: usize| a[k] + (b[k] - a[k]) * row.along;
    let (moved, turned) = (V3([step(0), step(1), step(2)]), V3([step(4), step(5), step(6)]));
    let solved_row = &group.solved[at.clone()];
    let opens = row.direction.dot(moved) - row.scale_term * step(3);
    let goes = row.swept(moved, turned);
    let way = V3::load(lanes, solved_row, solved::WAY);
    let slips = way * (lanes.load(&solved_row[solved::SLIPPING]) * way.dot(goes));
    let less = goes * lanes.load(&solved_row[solved::FRICTION]) - slips;
    let force = lanes.load(&solved_row[solved::FORCE]) - lanes.load(&solved_row[solved::STIFFNESS]) * opens;
    let tangent = V3::load(lanes, stored, contact::TANGENT) - less;
    let rolls = V3::load(lanes, solved_row, solved::COUPLE) - turned * lanes.load(&solved_row[solved::ROLLING]);

    let before = load(lanes, solved_row, solved::BEFORE);
    let share = lanes.splat(goes_on.unwrap_or(0.0));
    let last = load(lanes, solved_row, solved::CHANGE);
    let mut change = (force - before.0, tangent - before.1, rolls - before.2);
    if goes_on.is_some() {
        change = (change.0 + last.0 * share, change.1 + last.1 * share, change.2 + last.2 * share);
    }
    let change = flagged_presses(lanes, flags, change, &nothing(lanes));
    store(lanes, &mut group.solved[at.clone()], solved::CHANGE, &change);
    let now = (before.0 + change.0, before.1 + change.1, before.2 + change.2);
    write(lanes, group, at, (kind, slot), &now, flags);
}

/// With what a row presses, from where that is kept.
#[inline(always)]
pub(super) fn load<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], at: usize) -> Presses<L::V> {
    (lanes.load(&row[at]), V3::load(lanes, row, at + 1), V3::load(lanes, row, at + 4))
}

#[inline(always)]
fn store<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], at: usize, (force, pull, couple): &Presses<L::V>) {
    lanes.store(*force, &mut row[at]);
    pull.store(lanes, row, at + 1);
    couple.store(lanes, row, at + 4);
}
