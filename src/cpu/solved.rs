//! What a solve leaves: factors and steps in scratch rows, and what its matrix has of contact rows, for passes that go on from it.
//! Its twin is `shaders/bindings/solved.wgsl`.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::contact_rows::{Again, ContactRow, Gone, MOST_DUAL};
use super::group::Group;
use super::holds::Placed;
use super::lanes::{Entry, Lane, Lanes, unrolled};
use super::math::V3;
use super::predict::SCALE_LIMIT;
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};
use crate::layout::{contact, node, scratch, solved};

/// The least and the largest scale.
pub const LEAST_SCALE: f32 = 0.05;
/// See [`LEAST_SCALE`].
pub const MOST_SCALE: f32 = 20.0;

/// Where a step takes a node, its scale held within a factor of its value at the substep's start and of its rest value.
#[inline(always)]
pub(super) fn step_by<L: Lanes>(
    lanes: L,
    row: &[Entry<L::Scalar>],
    from: Placed<L::V>,
    delta: &Vec7<L::V>,
) -> Placed<L::V> {
    let [x, y, z, scaling, a, b, c] = *delta;
    let prev_scale = lanes.load(&row[node::PREV_SCALE]);
    let (least, most) = (prev_scale * lanes.splat(1.0 / SCALE_LIMIT), prev_scale * lanes.splat(SCALE_LIMIT));
    let scale = (from.scale + scaling).clamp(least, most).clamp(lanes.splat(LEAST_SCALE), lanes.splat(MOST_SCALE));
    Placed { moved: from.moved + V3([x, y, z]), scale, frame: from.frame.turned(lanes, V3([a, b, c])) }
}

/// Keeps what [`back_substitute`] needs in the node's scratch row.
#[inline(always)]
pub fn store_factor<L: Lanes>(
    lanes: L,
    scratch_row: &mut [Entry<L::Scalar>],
    lower: &Mat7<L::V>,
    inv_pivot: &Vec7<L::V>,
    coupling: &Mat7<L::V>,
    rhs: &Vec7<L::V>,
) {
    unrolled!(for i in 0..7 {
        for k in 0..i {
            lanes.store(lower[i][k], &mut scratch_row[scratch::lower(i, k)]);
        }
        lanes.store(inv_pivot[i], &mut scratch_row[scratch::INV_PIVOT + i]);
        lanes.store(rhs[i], &mut scratch_row[scratch::RHS + i]);
        for k in 0..UNKNOWNS {
            lanes.store(coupling[i][k], &mut scratch_row[scratch::COUPLING + i * UNKNOWNS + k]);
        }
    });
}

/// What a node's row keeps: the factor's lower triangle and one over its pivots, the coupling, the right-hand side.
pub type Factor<'a, V> = (&'a Mat7<V>, &'a Vec7<V>, &'a Mat7<V>, &'a Vec7<V>);

/// As [`store_factor`], of flagged chains alone: the others keep theirs, for passes that substitute again.
#[inline(always)]
pub fn store_factor_of<L: Lanes>(lanes: L, scratch_row: &mut [Entry<L::Scalar>], factor: Factor<'_, L::V>, flag: L::V) {
    let mut kept = [lanes.splat(0.0); scratch::STEP];
    for (kept, entry) in kept.iter_mut().zip(scratch_row.iter()) {
        *kept = lanes.load(entry);
    }
    let (lower, inv_pivot, coupling, rhs) = factor;
    store_factor(lanes, scratch_row, lower, inv_pivot, coupling, rhs);
    for (kept, entry) in kept.iter().zip(scratch_row.iter_mut()) {
        lanes.store(flag.where_less(lanes.splat(0.5), *kept, lanes.load(entry)), entry);
    }
}

/// δ_j = L⁻ᵀ d⁻¹(y − X δ_{j+1}).
#[inline(always)]
pub fn back_substitute<L: Lanes>(lanes: L, scratch_row: &[Entry<L::Scalar>], next: &Vec7<L::V>) -> Vec7<L::V> {
    let mut delta = *next;
    unrolled!(for i in 0..7 {
        let mut value = lanes.at(scratch_row, scratch::RHS + i);
        for k in 0..UNKNOWNS {
            value = value - lanes.at(scratch_row, scratch::COUPLING + i * UNKNOWNS + k) * next[k];
        }
        delta[i] = value * lanes.at(scratch_row, scratch::INV_PIVOT + i);
    });
    unrolled!(for up in 0..7 {
        let i = UNKNOWNS - 1 - up;
        for k in i + 1..UNKNOWNS {
            delta[i] = delta[i] - lanes.at(scratch_row, scratch::lower(k, i)) * delta[k];
        }
    });
    delta
}

/// With what a row presses: force, friction's pull and rolling friction's couple.
pub(super) type Presses<V> = (V, V3<V>, V3<V>);

/// With what a row presses as the system has it, along its direction (N), also below 0, and by rolling friction (N·m).
type Pressing<V> = (V, V3<V>);

impl<V: Lane> ContactRow<V> {
    /// Keeps what of it the matrix has of chains that are solved, and with what it presses before the step of the first solve.
    #[inline(always)]
    pub(super) fn keep<L: Lanes<V = V>>(
        &self,
        lanes: L,
        gone: &Gone<V>,
        again: Option<Again<V>>,
        stored: &mut [Entry<L::Scalar>],
    ) {
        let flag = again.map_or(lanes.splat(1.0), |again| again.solved);
        let [stiffness, _] = self.in_matrix(lanes, gone, again.is_none());
        let friction = self.coulomb(lanes, self.slid(gone), again);
        let [x, y, z] = friction.way.0;
        let rolling = self.rolling_in_matrix(self.rolling_secant(lanes, self.rolled(gone)));
        let values = [stiffness, friction.stiffness, friction.slipping, x, y, z, rolling];
        for (at, value) in IN_MATRIX.into_iter().zip(values) {
            lanes.store(flag.where_less(lanes.splat(0.5), lanes.load(&stored[at]), value), &mut stored[at]);
        }
        if again.is_none() {
            keep_pressing(lanes, stored, self.pressing(lanes, gone, true));
        }
    }

    /// With what it presses where the chain has gone so far, as the `first` solve has it or a later one.
    #[inline(always)]
    pub(super) fn pressing<L: Lanes<V = V>>(&self, lanes: L, gone: &Gone<V>, first: bool) -> Pressing<V> {
        let zero = lanes.splat(0.0);
        let [stiffness, distance] = self.in_matrix(lanes, gone, first);
        let by = self.rolled(gone);
        (zero - stiffness * distance, by * (zero - self.rolling_secant(lanes, by)))
    }

    /// What becomes of that once the nodes around have stepped by `delta`.
    #[inline(always)]
    pub(super) fn pressing_on<L: Lanes<V = V>>(
        &self,
        lanes: L,
        stored: &[Entry<L::Scalar>],
        (force, couple): Pressing<V>,
        [a, b]: [&Vec7<V>; 2],
    ) -> Pressing<V> {
        let step = |k: usize| a[k] + (b[k] - a[k]) * self.along;
        let goes = self.direction.dot(V3([step(0), step(1), step(2)])) - self.scale_term * step(3);
        let turns = V3([step(4), step(5), step(6)]) * lanes.load(&stored[solved::ROLLING]);
        (force - lanes.load(&stored[solved::STIFFNESS]) * goes, couple - turns)
    }
}

/// Where a solved row has what of its contact row the matrix has.
const IN_MATRIX: [usize; 7] = [
    solved::STIFFNESS,
    solved::FRICTION,
    solved::SLIPPING,
    solved::WAY,
    solved::WAY + 1,
    solved::WAY + 2,
    solved::ROLLING,
];

/// Reads with what a row presses.
#[inline(always)]
pub(super) fn pressing<L: Lanes>(lanes: L, stored: &[Entry<L::Scalar>]) -> Pressing<L::V> {
    (lanes.load(&stored[solved::FORCE]), V3::load(lanes, stored, solved::COUPLE))
}

/// Writes it.
#[inline(always)]
pub(super) fn keep_pressing<L: Lanes>(lanes: L, stored: &mut [Entry<L::Scalar>], (force, couple): Pressing<L::V>) {
    lanes.store(force, &mut stored[solved::FORCE]);
    couple.store(lanes, stored, solved::COUPLE);
}

/// The step that a further solve found for a node, in its scratch row.
#[inline(always)]
pub(super) fn step_of<L: Lanes>(lanes: L, scratch_row: &[Entry<L::Scalar>]) -> Vec7<L::V> {
    let mut step = [lanes.splat(0.0); UNKNOWNS];
    unrolled!(for k in 0..7 {
        step[k] = lanes.load(&scratch_row[scratch::STEP + k]);
    });
    step
}

/// With what a row presses as the system has it.
#[inline(always)]
pub(super) fn has<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    at: std::ops::Range<usize>,
    (kind, slot): (usize, usize),
) -> Presses<L::V> {
    let (solved, stored) = (&group.solved[at], &group.touching()[kind][slot * contact::ENTRIES..]);
    let couple = V3::load(lanes, solved, solved::COUPLE);
    (lanes.load(&solved[solved::FORCE]), V3::load(lanes, stored, contact::TANGENT), couple)
}

/// Flagged chains sit passes out: they began again and made no whole step since, so that with what rows press they are not in balance, or
/// took nothing of their last step. Passes would move them by what is left, with what is elastic of them left out; rows that have no
/// stiffness there ask for nothing.
/// Its twin is in `shaders/solve_rods.wgsl`.
#[inline(always)]
pub(super) fn sit_out<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, flag: L::V) {
    for row in group.solved.chunks_exact_mut(solved::ENTRIES) {
        let stiffness = lanes.load(&row[solved::STIFFNESS]);
        lanes.store(flag.where_less(lanes.splat(0.5), stiffness, lanes.splat(0.0)), &mut row[solved::STIFFNESS]);
    }
}

/// Writes with what a row presses; what is told of that to what comes after, where there are flags, of flagged chains alone: of the
/// others it is how the solve left it.
#[inline(always)]
pub(super) fn write<L: Lanes>(
    lanes: L,
    group: &mut Group<L::Scalar>,
    at: std::ops::Range<usize>,
    (kind, slot): (usize, usize),
    (force, pull, couple): &Presses<L::V>,
    flags: Option<L::V>,
) {
    let solved_row = &mut group.solved[at];
    lanes.store(*force, &mut solved_row[solved::FORCE]);
    couple.store(lanes, solved_row, solved::COUPLE);
    let row = group.contact_mut(kind, slot);
    let mut dual = force.max(lanes.splat(0.0)).min(lanes.splat(MOST_DUAL));
    if let Some(flag) = flags {
        dual = lanes.splat(0.5).where_less(flag, dual, lanes.load(&row[contact::DUAL]));
    }
    lanes.store(dual, &mut row[contact::DUAL]);
    pull.store(lanes, row, contact::TANGENT);
}
