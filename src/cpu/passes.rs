//! The passes that bring chains together that meet, see [`meetings`](super::meetings): planes move to the middle of where both sides
//! are, and chains make up for it.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::{back_substitute, eliminate_rhs, solve_lower};
use super::contact_rows::{ContactRow, MOST_DUAL, couple};
use super::contacts::contact_row;
use super::fibres::Excitation;
use super::group::{Group, contracts, second_order};
use super::holds::{Placed, across, guide, hold};
use super::lanes::{Entry, Lane, Lanes, apart, unrolled};
use super::math::V3;
use super::meetings::{RUBS, Seen};
use super::rod_energies::{UNKNOWNS, Vec7};
use super::solve_rods::{keep, solve, step_by};
use crate::layout::{contact, meet, scratch, solved};
use crate::step::StepParams;

/// Moves the planes to the middle of where both sides now are.
#[inline(always)]
fn aim<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
    let first_slot = group.first_meeting();
    for slot in 0..group.meets.len() / meet::ENTRIES {
        let at = (first_slot + slot) * contact::ENTRIES;
        let Some((index, row)) = contact_row(group.contacts, first_slot + slot) else { continue };
        if row[contact::STIFFNESS].iter().all(|&value| value.into() == 0.0) {
            continue;
        }
        let meet_row = &group.meets[slot * meet::ENTRIES..][..meet::ENTRIES];
        let other = [0, 1].map(|next| Seen::of(lanes, group, meet_row, next));
        let its = Seen::between(&other[0], &other[1], lanes.load(&meet_row[meet::ALONG]));
        let row = ContactRow::load(lanes, row, true);
        let gone = row.gone(
            lanes,
            [group.row(index), group.row(index + 1)],
            [&Placed::now(lanes, group.row(index)), &Placed::now(lanes, group.row(index + 1))],
        );
        let direction = row.direction;
        let other_arm = lanes.load(&meet_row[meet::ARM]);
        let its_goes = direction.dot(its.moved) + lanes.load(&meet_row[meet::SCALE_TERM]) * its.scaling;
        let own_goes = direction.dot(gone.place) - row.scale_term * gone.scale;
        let closed = lanes.load(&meet_row[meet::GAP]) + own_goes - its_goes;
        let own_slid = row.swept(gone.place, gone.turn);
        let its_slid = across(its.moved, direction) - direction.cross(its.turn) * other_arm;
        let anchor = V3::load(lanes, meet_row, meet::ANCHOR);
        let row_anchor = own_slid - (own_slid - its_slid - anchor) * half;
        let pressed = zero.where_less(zero - closed, (zero - closed) * half * row.stiffness, zero);
        let limit = (lanes.splat(RUBS) * pressed).min(lanes.splat(MOST_DUAL));
        let row: &mut [Entry<L::Scalar>] = &mut group.contacts[at..][..contact::ENTRIES];
        lanes.store(closed * half - own_goes, &mut row[contact::GAP]);
        lanes.store(limit, &mut row[contact::LIMIT]);
        row_anchor.store(lanes, row, contact::ANCHOR);
    }
}

/// A pass: the first solves each chain that meets others once more, with the planes where both sides now are; later ones find the
/// steps that the planes' moves take, with its factors.
#[inline(always)]
pub fn pass<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>, first: bool)
where
    L::Scalar: Into<f64>,
{
    if group.meets.is_empty() {
        return;
    }
    aim(lanes, group);
    let meets = meeting(lanes, group);
    if !first {
        return settle(lanes, group, meets);
    }
    let inv_step =
        lanes.splat(params.inv_h) * (lanes.splat(1.0) + second_order(lanes, params, group) * lanes.splat(0.5));
    let excitation = if contracts(group) { Some(Excitation::of_chain(lanes, params, group)) } else { None };
    let again = Some((meets, lanes.splat(0.0)));
    keep(lanes, group);
    apart!(lanes, solve(lanes, inv_step * inv_step, group, excitation, again, params.asks_for_reactions()));
}

/// Flags chains that meet another.
#[inline(always)]
fn meeting<L: Lanes>(lanes: L, group: &Group<L::Scalar>) -> L::V {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let rows = group.contacts[group.first_meeting() * contact::ENTRIES..].chunks_exact(contact::ENTRIES);
    rows.fold(zero, |flag, row| zero.where_less(lanes.load(&row[contact::STIFFNESS]), one, flag))
}

/// Substitutes again: what the rows should press with, less what the system has, moves the chains.
#[inline(always)]
fn settle<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, meets: L::V)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let count = group.rest.node_count;
    let mut carry = [zero; UNKNOWNS];
    let mut rhs = [zero; UNKNOWNS];
    let slots = group.contacts.len() / contact::ENTRIES;
    let first_slot = group.first_meeting();
    let mut next = [0, first_slot];
    let end = [first_slot, slots];
    for index in 0..count {
        let mut own = [zero; UNKNOWNS];
        let mut beyond = [zero; UNKNOWNS];
        for list in 0..2 {
            while next[list] < end[list]
                && let Some((segment, _)) = contact_row(group.contacts, next[list])
                && segment == index
            {
                apart!(lanes, change(lanes, group, index, next[list], meets, [&mut own, &mut beyond]));
                next[list] += 1;
            }
        }
        // The right-hand side is the gradient's opposite.
        if index == 0 {
            rhs = own;
        } else {
            let scratch_row = group.scratch_row(index - 1);
            let mut coupling = [[zero; UNKNOWNS]; UNKNOWNS];
            let mut inv_pivot = [zero; UNKNOWNS];
            unrolled!(for i in 0..7 {
                inv_pivot[i] = lanes.at(scratch_row, scratch::INV_PIVOT + i);
                for k in 0..UNKNOWNS {
                    coupling[i][k] = lanes.at(scratch_row, scratch::COUPLING + i * UNKNOWNS + k);
                }
            });
            let mut gradient = [zero; UNKNOWNS];
            unrolled!(for i in 0..7 {
                gradient[i] = zero - (own[i] + carry[i]);
            });
            eliminate_rhs(&coupling, &inv_pivot, &gradient, &mut rhs);
        }
        carry = beyond;
        let (mut block, mut unused) = ([[zero; UNKNOWNS]; UNKNOWNS], [[zero; UNKNOWNS]; UNKNOWNS]);
        if group.rest.held[index] {
            hold(lanes, group.rest.row(index), &mut block, &mut rhs, &mut unused);
        }
        if group.rest.slides[index] {
            guide(lanes, group.rest.row(index), group.row(index), &mut block, &mut rhs, &mut unused);
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
    let mut delta = [zero; UNKNOWNS];
    let begin = [0, first_slot];
    for index in (0..count).rev() {
        let after = delta;
        delta = back_substitute(lanes, group.scratch_row(index), &delta);
        for list in 0..2 {
            while next[list] > begin[list]
                && let Some((segment, _)) = contact_row(group.contacts, next[list] - 1)
                && segment == index
            {
                next[list] -= 1;
                apart!(lanes, give_way(lanes, group, next[list], meets, [&delta, &after]));
            }
        }
        let row = group.row_mut(index);
        let now = Placed::now(lanes, row);
        let to = step_by(lanes, row, now, &delta);
        now.or(lanes, &to, meets).store(lanes, row);
    }
}

/// Adds to the right-hand sides of its two nodes by how much a row should press otherwise than the system has it; the system then
/// has it so.
#[inline(always)]
fn change<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    slot: usize,
    meets: L::V,
    [own, beyond]: [&mut Vec7<L::V>; 2],
) where
    L::Scalar: Into<f64>,
{
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let Some((_, stored)) = contact_row(group.contacts, slot) else { return };
    let solved_row = &group.solved[slot * solved::ENTRIES..][..solved::ENTRIES];
    if solved_row[solved::STIFFNESS].iter().all(|&value| value.into() == 0.0) {
        return;
    }
    let row = ContactRow::load(lanes, stored, slot >= group.first_meeting());
    let after = (index + 1).min(group.rest.node_count - 1);
    let nodes = [index, after].map(|index| Placed::now(lanes, group.row(index)));
    let gone = row.gone(lanes, [group.row(index), group.row(after)], [&nodes[0], &nodes[1]]);
    let (has, tangent) = (lanes.load(&solved_row[solved::FORCE]), V3::load(lanes, stored, contact::TANGENT));
    let pressed = zero.where_less(lanes.load(&solved_row[solved::STIFFNESS]), one, zero) * meets;
    let (force, pull) = if slot < group.first_meeting() {
        // What does not move only lets go.
        let size = tangent.dot(tangent).sqrt();
        (has.max(zero), tangent * (row.limit.min(size) / size.max(lanes.splat(f32::MIN_POSITIVE))))
    } else {
        let slid = row.slid(&gone);
        (zero - row.stiffness * row.distance(&gone).min(zero), slid * (zero - row.secant(lanes, slid)))
    };
    let (pushes, pulls) = ((force - has) * pressed, (pull - tangent) * pressed);
    let both = row.direction * pushes + across(pulls, row.direction);
    let couples = [0, 1].map(|end| couple(lanes, &row.lever(lanes, &gone.nodes[end]), pulls));
    let swells = zero - row.scale_term * pushes;
    for (rhs, couple, weight) in [(own, couples[0], one - row.along), (beyond, couples[1], row.along)] {
        let ([x, y, z], [a, b, c]) = (both.0, couple.0);
        for (sum, value) in rhs.iter_mut().zip([x, y, z, swells, a, b, c]) {
            *sum = *sum + value * weight;
        }
    }
    write(lanes, group, slot, pressed, force, pull);
}

/// What a row presses with once its nodes have stepped by `delta`.
#[inline(always)]
fn give_way<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, slot: usize, meets: L::V, [a, b]: [&Vec7<L::V>; 2])
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    let Some((_, stored)) = contact_row(group.contacts, slot) else { return };
    let solved_row = &group.solved[slot * solved::ENTRIES..][..solved::ENTRIES];
    if solved_row[solved::STIFFNESS].iter().all(|&value| value.into() == 0.0) {
        return;
    }
    let row = ContactRow::load(lanes, stored, slot >= group.first_meeting());
    let step = |k: usize| a[k] + (b[k] - a[k]) * row.along;
    let (moved, turned) = (V3([step(0), step(1), step(2)]), V3([step(4), step(5), step(6)]));
    let stiffness = lanes.load(&solved_row[solved::STIFFNESS]);
    let opens = row.direction.dot(moved) - row.scale_term * step(3);
    let goes = row.swept(moved, turned);
    let way = V3::load(lanes, solved_row, solved::WAY);
    let slips = way * (lanes.load(&solved_row[solved::SLIPPING]) * way.dot(goes));
    let less = goes * lanes.load(&solved_row[solved::FRICTION]) - slips;
    let force = lanes.load(&solved_row[solved::FORCE]) - stiffness * opens;
    let tangent = V3::load(lanes, stored, contact::TANGENT) - less;
    write(lanes, group, slot, zero.where_less(stiffness, meets, zero), force, tangent);
}

/// Writes with what a row presses in flagged lanes, as the system has it and as it is remembered.
#[inline(always)]
fn write<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, slot: usize, flag: L::V, force: L::V, tangent: V3<L::V>) {
    let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
    let keep = |value: L::V, entry: &mut Entry<L::Scalar>| {
        lanes.store(half.where_less(flag, value, lanes.load(entry)), entry);
    };
    keep(force, &mut group.solved[slot * solved::ENTRIES + solved::FORCE]);
    let stored = &mut group.contacts[slot * contact::ENTRIES..][..contact::ENTRIES];
    keep(zero.where_less(force, force.min(lanes.splat(MOST_DUAL)), zero), &mut stored[contact::DUAL]);
    for k in 0..3 {
        keep(tangent.0[k], &mut stored[contact::TANGENT + k]);
    }
}
