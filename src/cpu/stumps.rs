//! What is left of a chain that hangs on another once all of it is eliminated but what it shares with that, and what the node
//! that bears it is given of it; see [`trees`](super::trees). Twins are yet to be written.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};
use crate::layout::{borne, rest, stump};

/// Unknowns that a branch's last node shares with its stem: place and frame.
pub(super) const SHARED: usize = 6;

/// Which of a node's unknowns these are.
pub(super) const OF_NODE: [usize; SHARED] = [0, 1, 2, 4, 5, 6];

/// Which unknown the scale is.
const SCALE: usize = 3;

/// Where row i, column k ≤ i of a lower triangle is.
pub(super) const fn lower(i: usize, k: usize) -> usize {
    i * (i + 1) / 2 + k
}

/// Adds to a node's rows what the branches that it bears have left in them.
#[inline(always)]
pub(super) fn add_borne<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], block: &mut Mat7<L::V>, rhs: &mut Vec7<L::V>) {
    unrolled!(for i in 0..7 {
        rhs[i] = rhs[i] + lanes.at(row, borne::RHS + i);
        for k in 0..=i {
            block[i][k] = block[i][k] + lanes.at(row, borne::BLOCK + lower(i, k));
        }
    });
}

/// Keeps what is left of chains whose last node this is and hangs, once its scale is eliminated, and takes the unknowns that it
/// shares with the stem out of its system: S = D − dσ⁻¹dᵀ and r − dσ⁻¹r_s, of the block's part D of place and frame, the scale's
/// diagonal σ and the coupling d of both.
#[inline(always)]
pub(super) fn keep_stump<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &mut [Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let hung = lanes.load(&rest_row[rest::HUNG]);
    let free = one - hung;
    let keep = |entry: &mut Entry<L::Scalar>, value: L::V| {
        let kept = lanes.load(entry);
        lanes.store(hung.where_less(lanes.splat(0.5), kept, value), entry);
    };
    let pivot = block[SCALE][SCALE];
    let inv_pivot = zero.where_less(pivot, one / pivot, zero) * lanes.load(&rest_row[rest::FREE_SCALE]);
    let coupling = OF_NODE.map(|at| if at < SCALE { block[SCALE][at] } else { block[at][SCALE] });
    for i in 0..SHARED {
        let eliminated = coupling[i] * inv_pivot;
        keep(&mut row[stump::COUPLING + i], eliminated);
        for k in 0..=i {
            let own = block[OF_NODE[i]][OF_NODE[k]];
            keep(&mut row[stump::BLOCK + lower(i, k)], own - eliminated * coupling[k]);
        }
    }
    keep_stump_rhs(lanes, rest_row, row, rhs);
    for i in OF_NODE {
        for k in 0..UNKNOWNS {
            if k <= i {
                block[i][k] = block[i][k] * free;
            } else {
                block[k][i] = block[k][i] * free;
            }
        }
        block[i][i] = block[i][i] + hung;
    }
}

/// As [`keep_stump`], of the right-hand side alone.
#[inline(always)]
pub(super) fn keep_stump_rhs<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &mut [Entry<L::Scalar>],
    rhs: &mut Vec7<L::V>,
) {
    let (one, half) = (lanes.splat(1.0), lanes.splat(0.5));
    let hung = lanes.load(&rest_row[rest::HUNG]);
    for (i, at) in OF_NODE.into_iter().enumerate() {
        let left = rhs[at] - lanes.load(&row[stump::COUPLING + i]) * rhs[SCALE];
        let entry = &mut row[stump::RHS + i];
        let kept = lanes.load(entry);
        lanes.store(hung.where_less(half, kept, left), entry);
        rhs[at] = rhs[at] * (one - hung);
    }
}

/// The step of a node that has been found from its own scale's row: of those that hang, with what their stem gives them.
#[inline(always)]
pub(super) fn go_with_stem<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    delta: &Vec7<L::V>,
) -> Vec7<L::V> {
    let half = lanes.splat(0.5);
    let hung = lanes.load(&group.rest.row(index)[rest::HUNG]);
    let row = group.stump_row();
    let mut gone = *delta;
    for (i, at) in OF_NODE.into_iter().enumerate() {
        let given = lanes.load(&row[stump::GIVEN + i]);
        let scaling = gone[SCALE] - lanes.load(&row[stump::COUPLING + i]) * given;
        gone[SCALE] = hung.where_less(half, gone[SCALE], scaling);
        gone[at] = hung.where_less(half, delta[at], given);
    }
    gone
}
