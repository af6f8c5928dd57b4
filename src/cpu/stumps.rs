//! What is left of a chain that hangs on another once all of it is eliminated but what it shares with that, and what the node
//! that bears it is given of it; see [`trees`](super::trees). Its twin is `shaders/bindings/stumps.wgsl`.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::V3;
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};
use crate::layout::{borne, rest, scratch, stump};

/// Unknowns that a branch's last node shares with its stem: place and frame.
const SHARED: usize = 6;

/// Which of a node's unknowns these are.
const OF_NODE: [usize; SHARED] = [0, 1, 2, 4, 5, 6];

/// Which unknown the scale is.
const SCALE: usize = 3;

/// Where row i, column k ≤ i of a lower triangle is.
const fn lower(i: usize, k: usize) -> usize {
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
/// diagonal σ and the coupling d of both. Where there are flags of who is `solved`, of these alone.
#[inline(always)]
pub(super) fn keep_stump<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &mut [Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    solved: Option<L::V>,
) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let hung = lanes.load(&rest_row[rest::HUNG]);
    let free = one - hung;
    let flag = match solved {
        Some(solved) => hung.min(solved),
        None => hung,
    };
    let pivot = block[SCALE][SCALE];
    let inv_pivot = zero.where_less(pivot, one / pivot, zero) * lanes.load(&rest_row[rest::FREE_SCALE]);
    let mut coupling = [zero; SHARED];
    for i in 0..SHARED {
        let at = OF_NODE[i];
        coupling[i] = if at < SCALE { block[SCALE][at] } else { block[at][SCALE] };
        let eliminated = coupling[i] * inv_pivot;
        keep(lanes, &mut row[stump::COUPLING + i], eliminated, flag);
        for k in 0..=i {
            let own = block[OF_NODE[i]][OF_NODE[k]];
            keep(lanes, &mut row[stump::BLOCK + lower(i, k)], own - eliminated * coupling[k], flag);
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
    let one = lanes.splat(1.0);
    let hung = lanes.load(&rest_row[rest::HUNG]);
    for i in 0..SHARED {
        let at = OF_NODE[i];
        let left = rhs[at] - lanes.at(row, stump::COUPLING + i) * rhs[SCALE];
        keep(lanes, &mut row[stump::RHS + i], left, hung);
        rhs[at] = rhs[at] * (one - hung);
    }
}

/// Writes an entry of flagged lanes.
#[inline(always)]
fn keep<L: Lanes>(lanes: L, entry: &mut Entry<L::Scalar>, value: L::V, flag: L::V) {
    let kept = lanes.load(entry);
    lanes.store(flag.where_less(lanes.splat(0.5), kept, value), entry);
}

/// How a step of the node that a chain hangs on moves and turns its last node: T of [`trees`](super::trees).
struct Turning<V> {
    arm: V3<V>,
    outward: V3<V>,
}

impl<V: Lane> Turning<V> {
    #[inline(always)]
    fn load<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self {
        Self { arm: V3::load(lanes, row, stump::ARM), outward: V3::load(lanes, row, stump::OUTWARD) }
    }

    /// Tδ: how far it moves and turns.
    #[inline(always)]
    fn of(&self, [x, y, z, scaling, a, b, c]: Vec7<V>) -> [V; SHARED] {
        let turn = V3([a, b, c]);
        let V3([x, y, z]) = V3([x, y, z]) + self.outward * scaling + turn.cross(self.arm);
        [x, y, z, a, b, c]
    }

    /// Tᵀr: what a force and a couple on it are to the stem's node.
    #[inline(always)]
    fn transposed(&self, [x, y, z, a, b, c]: [V; SHARED]) -> Vec7<V> {
        let force = V3([x, y, z]);
        let V3([a, b, c]) = V3([a, b, c]) + self.arm.cross(force);
        [x, y, z, self.outward.dot(force), a, b, c]
    }
}

/// Finds what the nodes that its chains hang on are given of these: Tᵀr and, of the `whole` system, TᵀST.
#[inline(always)]
pub(super) fn give_to_stem<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, whole: bool) {
    let row = group.stump_row();
    let turning = Turning::load(lanes, row);
    let mut left = [lanes.splat(0.0); SHARED];
    for i in 0..SHARED {
        left[i] = lanes.at(row, stump::RHS + i);
    }
    let right = turning.transposed(left);
    for i in 0..UNKNOWNS {
        lanes.store(right[i], &mut row[stump::BORNE + borne::RHS + i]);
    }
    if !whole {
        return;
    }
    let mut own = [[lanes.splat(0.0); SHARED]; SHARED];
    for i in 0..SHARED {
        for k in 0..=i {
            own[i][k] = lanes.at(row, stump::BLOCK + lower(i, k));
            own[k][i] = own[i][k];
        }
    }
    // ST by columns.
    let ([x, y, z], [u, v, w]) = (turning.arm.0, turning.outward.0);
    let mut columns = [own[0], own[1], own[2], own[0], own[3], own[4], own[5]];
    for i in 0..SHARED {
        let [a, b, c] = [own[0][i], own[1][i], own[2][i]];
        columns[3][i] = a * u + b * v + c * w;
        columns[4][i] = columns[4][i] + (c * y - b * z);
        columns[5][i] = columns[5][i] + (a * z - c * x);
        columns[6][i] = columns[6][i] + (b * x - a * y);
    }
    for k in 0..UNKNOWNS {
        let column = turning.transposed(columns[k]);
        for i in k..UNKNOWNS {
            lanes.store(column[i], &mut row[stump::BORNE + borne::BLOCK + lower(i, k)]);
        }
    }
}

/// The step of a node that has been found from its own scale's row: of those that hang, with what their stem gives them, less the
/// share of the last step that they go on by themselves.
#[inline(always)]
pub(super) fn go_with_stem<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    index: usize,
    delta: &Vec7<L::V>,
    goes_on: Option<f32>,
) -> Vec7<L::V> {
    let half = lanes.splat(0.5);
    let hung = lanes.load(&group.rest.row(index)[rest::HUNG]);
    let row = group.stump_row();
    let mut step = *delta;
    for i in 0..UNKNOWNS {
        step[i] = lanes.at(row, stump::STEP + i);
    }
    let mut given = Turning::load(lanes, row).of(step);
    if let Some(share) = goes_on {
        let own = &group.scratch_row(index)[scratch::STEP..];
        for i in 0..SHARED {
            given[i] = given[i] - lanes.at(own, OF_NODE[i]) * lanes.splat(share);
        }
    }
    let row = group.stump_row();
    let mut gone = *delta;
    for i in 0..SHARED {
        let at = OF_NODE[i];
        let scaling = gone[SCALE] - lanes.at(row, stump::COUPLING + i) * given[i];
        gone[SCALE] = hung.where_less(half, gone[SCALE], scaling);
        gone[at] = hung.where_less(half, delta[at], given[i]);
    }
    gone
}
