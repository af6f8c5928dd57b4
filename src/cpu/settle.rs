//! A pass of chains that meet others: what contacts press with otherwise than the last solve's system has it moves the chains, by
//! substituting with its factors again.
//!
//! With M the factored matrix, in which a row that presses has its stiffness, A the matrix without rows, and G what rows press
//! with, so that all that was stepped, Δ, satisfies AΔ = r + JᵀG: a pass finds Mδ = Jᵀ(f − G) for the force f with which pairs
//! press where both sides are ([`press`](super::meetings::press)), steps by δ, and G becomes f − kJδ.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::{back_substitute, eliminate_rhs, solve_lower};
use super::contact_rows::{ContactRow, MOST_DUAL, couple};
use super::contacts::{Cursors, is_idle};
use super::group::Group;
use super::holds::{Placed, across, guide, hold};
use super::lanes::{Entry, Lane, Lanes, apart, unrolled};
use super::math::V3;
use super::rod_energies::{UNKNOWNS, Vec7};
use super::solve_rods::step_by;
use crate::layout::{contact, scratch, solved};

/// Entries of what pairs press a side with, of each meet row: force; pull and couple, 3 entries each.
pub const WANTED: usize = 7;

/// Steps the chains by what their rows should press with; those of meetings with what is `wanted`.
#[inline(always)]
pub fn settle<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, wanted: &[Entry<L::Scalar>])
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
                apart!(lanes, change(lanes, group, index, (kind, slot), wanted, &mut sums));
            }
        }
        let [own, beyond] = sums;
        carry = beyond;
        // The right-hand side is the gradient's opposite.
        if index == 0 {
            rhs = own;
        } else {
            let scratch_row = group.scratch_row(index - 1);
            let mut coupling = [[zero; UNKNOWNS]; UNKNOWNS];
            let mut inv_pivot = [zero; UNKNOWNS];
            let mut gradient = [zero; UNKNOWNS];
            unrolled!(for i in 0..7 {
                inv_pivot[i] = lanes.at(scratch_row, scratch::INV_PIVOT + i);
                gradient[i] = zero - own[i];
                for k in 0..UNKNOWNS {
                    coupling[i][k] = lanes.at(scratch_row, scratch::COUPLING + i * UNKNOWNS + k);
                }
            });
            eliminate_rhs(&coupling, &inv_pivot, &gradient, &mut rhs);
        }
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
    for index in (0..count).rev() {
        let after = delta;
        delta = back_substitute(lanes, group.scratch_row(index), &delta);
        for kind in 0..2 {
            while let Some(slot) = cursors.back(group, kind, index) {
                apart!(lanes, give_way(lanes, group, (kind, slot), [&delta, &after]));
            }
        }
        let row = group.row_mut(index);
        let now = Placed::now(lanes, row);
        step_by(lanes, row, now, &delta).store(lanes, row);
    }
}

/// Adds to the right-hand sides of its two nodes by how much a row should press otherwise than the system has it; the system then
/// has it so.
#[inline(always)]
fn change<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    (kind, slot): (usize, usize),
    wanted: &[Entry<L::Scalar>],
    sums: &mut [Vec7<L::V>; 2],
) where
    L::Scalar: Into<f64>,
{
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let stored = &group.touching()[kind][slot * contact::ENTRIES..][..contact::ENTRIES];
    let Some(at) = group.solved_at(kind, slot).filter(|_| !is_idle(stored)) else { return };
    let row = ContactRow::load(lanes, stored, kind == 1);
    let after = (index + 1).min(group.rest.node_count - 1);
    let nodes = [index, after].map(|index| Placed::now(lanes, group.row(index)));
    let gone = row.gone(lanes, [group.row(index), group.row(after)], [&nodes[0], &nodes[1]]);
    let solved_row = &group.solved[at.clone()];
    let pressing = zero.where_less(lanes.load(&solved_row[solved::STIFFNESS]), one, zero);
    let (has, tangent) = (lanes.load(&solved_row[solved::FORCE]), V3::load(lanes, stored, contact::TANGENT));
    let turns = V3::load(lanes, solved_row, solved::COUPLE);
    let (force, pull, rolls) = if kind == 1 {
        let wanted = &wanted[slot * WANTED..][..WANTED];
        (lanes.load(&wanted[0]), V3::load(lanes, wanted, 1), V3::load(lanes, wanted, 4))
    } else {
        // What does not move only lets go: beyond what the matrix has, it would throw what it holds.
        let size = tangent.dot(tangent).sqrt();
        (has.max(zero), tangent * (row.limit.min(size) / size.max(lanes.splat(f32::MIN_POSITIVE))), turns)
    };
    let (force, pull) = (has + (force - has) * pressing, tangent + (pull - tangent) * pressing);
    let rolls = turns + (rolls - turns) * pressing;
    let (pushes, pulls) = (force - has, pull - tangent);
    let both = row.direction * pushes + across(pulls, row.direction);
    let couples = [0, 1].map(|end| couple(lanes, &row.lever(lanes, &gone.nodes[end]), pulls) + (rolls - turns));
    let swells = zero - row.scale_term * pushes;
    for ((sum, couple), weight) in sums.iter_mut().zip(couples).zip([one - row.along, row.along]) {
        let ([x, y, z], [a, b, c]) = (both.0, couple.0);
        for (sum, value) in sum.iter_mut().zip([x, y, z, swells, a, b, c]) {
            *sum = *sum + value * weight;
        }
    }
    lanes.store(force, &mut group.solved[at.clone()][solved::FORCE]);
    rolls.store(lanes, &mut group.solved[at], solved::COUPLE);
    note(lanes, group.contact_mut(kind, slot), force, pull);
}

/// What a row presses with once its nodes have stepped by `delta`.
#[inline(always)]
fn give_way<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, (kind, slot): (usize, usize), [a, b]: [&Vec7<L::V>; 2])
where
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
    lanes.store(force, &mut group.solved[at.clone()][solved::FORCE]);
    rolls.store(lanes, &mut group.solved[at], solved::COUPLE);
    note(lanes, group.contact_mut(kind, slot), force, tangent);
}

/// Writes with what a row presses.
#[inline(always)]
fn note<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], force: L::V, tangent: V3<L::V>) {
    let dual = force.max(lanes.splat(0.0)).min(lanes.splat(MOST_DUAL));
    lanes.store(dual, &mut row[contact::DUAL]);
    tangent.store(lanes, row, contact::TANGENT);
}
