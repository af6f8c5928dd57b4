//! What a node that bones hold or guide does to them, read from the solve's own linear system; its twin is in
//! `shaders/solve_rods.wgsl`.
//!
//! With r the right-hand side, D the node's block and B its coupling to the next node, all before what is held was taken out
//! and with the nodes before eliminated, the residual of its rows is r − Dδ − Bδ₊: 0 where the node is free, and else the
//! force and the couple that it puts on what holds it. Segments that f32 has too few digits for only push both their nodes by
//! the same error, of which the solve leaves nothing in the sum: all reactions together are weight, contacts and inertia to
//! rounding, however stiff the rod is.
//!
//! Where a solve was led astray and its step shortened or its system stiffened, they are those of the whole step of that.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::block_tridiagonal::{eliminate, eliminate_rhs, solve_lower_columns};
use super::contact_rows::MOST_DUAL;
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::V3;
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};
use crate::layout::{held, reaction, rest};

/// What the nodes before add to the rows of a held node beyond what they add to the system, from which it is taken out.
pub(super) struct Beyond<V> {
    block: Mat7<V>,
    rhs: Vec7<V>,
}

impl<V: Lane> Beyond<V> {
    /// Nothing.
    #[inline(always)]
    pub fn none<L: Lanes<V = V>>(lanes: L) -> Self {
        let zero = lanes.splat(0.0);
        Self { block: [[zero; UNKNOWNS]; UNKNOWNS], rhs: [zero; UNKNOWNS] }
    }

    /// All that the next node's rows are once a node of factor L, right-hand side L⁻¹r and coupling B, with all its columns,
    /// is eliminated; without it they are a block and, negative, a gradient.
    #[inline(always)]
    pub fn eliminated<L: Lanes<V = V>>(
        lanes: L,
        lower: &Mat7<V>,
        inv_pivot: &Vec7<V>,
        rhs: &Vec7<V>,
        mut coupling: Mat7<V>,
        (next_block, next_gradient): (&Mat7<V>, &Vec7<V>),
    ) -> Self {
        solve_lower_columns(lower, &mut coupling);
        let mut all = Self { block: *lower, rhs: *rhs };
        eliminate(lanes, &coupling, inv_pivot, next_block, &mut all.block);
        eliminate_rhs(&coupling, inv_pivot, next_gradient, &mut all.rhs);
        all
    }

    /// What of it is not in the system's.
    #[inline(always)]
    pub fn less(mut self, block: &Mat7<V>, rhs: &Vec7<V>) -> Self {
        unrolled!(for i in 0..7 {
            self.rhs[i] = self.rhs[i] - rhs[i];
            for k in 0..=i {
                self.block[i][k] = self.block[i][k] - block[i][k];
            }
        });
        self
    }

    /// Keeps a node's rows for [`react`].
    #[inline(always)]
    pub fn keep<L: Lanes<V = V>>(
        &self,
        lanes: L,
        row: &mut [Entry<L::Scalar>],
        block: &Mat7<V>,
        rhs: &Vec7<V>,
        coupling: &Mat7<V>,
    ) {
        unrolled!(for i in 0..7 {
            lanes.store(rhs[i] + self.rhs[i], &mut row[held::RHS + i]);
            for k in 0..=i {
                lanes.store(block[i][k] + self.block[i][k], &mut row[of_block(i, k)]);
            }
            for k in 0..UNKNOWNS {
                lanes.store(coupling[i][k], &mut row[held::COUPLING + i * UNKNOWNS + k]);
            }
        });
    }
}

/// Entry of row i, column k ≤ i of a held node's block.
const fn of_block(i: usize, k: usize) -> usize {
    held::BLOCK + i * (i + 1) / 2 + k
}

/// The force and the couple that a node puts on what holds it, where its rows were kept and it and the next one step by
/// `delta` and `next`; 0 in what is not held.
#[inline(always)]
pub(super) fn react<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    kept: &[Entry<L::Scalar>],
    delta: &Vec7<L::V>,
    next: &Vec7<L::V>,
) -> [V3<L::V>; 2] {
    let mut left = *delta;
    unrolled!(for i in 0..7 {
        left[i] = lanes.at(kept, held::RHS + i);
        for k in 0..UNKNOWNS {
            let own = lanes.at(kept, if k <= i { of_block(i, k) } else { of_block(k, i) });
            let coupling = lanes.at(kept, held::COUPLING + i * UNKNOWNS + k);
            left[i] = left[i] - own * delta[k] - coupling * next[k];
        }
    });
    let one = lanes.splat(1.0);
    let place = (one - lanes.at(rest_row, rest::FREE_PLACE)).max(lanes.at(rest_row, rest::SLIDES));
    let frame = one - lanes.at(rest_row, rest::FREE_FRAME);
    // A chain that is none any more bears on nothing.
    unrolled!(for i in 0..7 {
        left[i] = left[i].max(-left[i]).where_less(lanes.splat(MOST_DUAL), left[i], lanes.splat(0.0));
    });
    [V3([left[0], left[1], left[2]]) * place, V3([left[4], left[5], left[6]]) * frame]
}

/// Writes a reaction row where a flag is set.
#[inline(always)]
pub(super) fn store<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], [force, couple]: [V3<L::V>; 2], flag: L::V) {
    for (entry, new) in [(reaction::FORCE, force), (reaction::COUPLE, couple)] {
        V3::load(lanes, row, entry).or(lanes, new, flag).store(lanes, row, entry);
    }
}
