//! What bones hold of a node: targets taken, and unknowns taken out of the system; its twin is
//! `shaders/bindings/holds.wgsl`.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes};
use super::math::{Quaternion, V3};
use super::rod_energies::{Mat7, UNKNOWNS, Vec7};
use super::strains::Section;
use crate::layout::{node, rest, scratch};

/// When in a substep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At its start, as [`Placed::start`] has it.
    Start,
    /// Now.
    Now,
}

/// Where a node is in a substep.
#[derive(Clone, Copy)]
pub struct Placed<V> {
    /// Place minus place at the substep's start (m).
    pub moved: V3<V>,
    /// Scale.
    pub scale: V,
    /// Frame.
    pub frame: Quaternion<V>,
}

impl<V: Lane> Placed<V> {
    /// Where it is now.
    #[inline(always)]
    pub fn now<L: Lanes<V = V>>(lanes: L, row: &[Entry<L::Scalar>]) -> Self {
        Self {
            moved: V3::load(lanes, row, node::MOVED),
            scale: lanes.load(&row[node::SCALE]),
            frame: Quaternion::load(lanes, row, node::FRAME),
        }
    }

    /// Where it was as a further step began.
    #[inline(always)]
    pub fn base<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Self {
        let row = group.kept_row(index);
        Self {
            moved: V3::load(lanes, row, scratch::BASE),
            scale: lanes.load(&row[scratch::BASE + 3]),
            frame: Quaternion::load(lanes, row, scratch::BASE + 4),
        }
    }

    /// Where it is or was.
    #[inline(always)]
    pub fn at<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize, when: When) -> Self {
        match when {
            When::Now => Self::now(lanes, group.row(index)),
            When::Start => Self::start(lanes, group, index),
        }
    }

    /// Where it was at the substep's start, but for what bones hold or guide, which is where they have it now.
    #[inline(always)]
    pub fn start<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Self {
        let row = group.row(index);
        let start = Self {
            moved: V3([lanes.splat(0.0); 3]),
            scale: lanes.load(&row[node::PREV_SCALE]),
            frame: Quaternion::load(lanes, row, node::PREV_FRAME),
        };
        start.held(lanes, group, index, V3::load(lanes, row, node::PREV_PLACE))
    }

    /// With what bones hold or guide where they have it, and what hangs where its stem has it; `start` is its place (m) at the
    /// substep's start.
    #[inline(always)]
    pub fn held<L: Lanes<V = V>>(mut self, lanes: L, group: &Group<L::Scalar>, index: usize, start: V3<V>) -> Self {
        let (half, one) = (lanes.splat(0.5), lanes.splat(1.0));
        let (rest_row, row) = (group.rest.row(index), group.row(index));
        if group.rest.slides[index] {
            let off = start - V3::load(lanes, row, node::TARGET_PLACE) + self.moved;
            let slides = lanes.load(&rest_row[rest::SLIDES]);
            self.moved = self.moved - across(off, guide_axis(lanes, row)) * slides;
        }
        if group.rest.held[index] {
            let held_move = V3::load(lanes, row, node::TARGET_PLACE) - start;
            let held_frame = Quaternion::load(lanes, row, node::TARGET_FRAME);
            let free_place = lanes.load(&rest_row[rest::FREE_PLACE]);
            let free_frame = lanes.load(&rest_row[rest::FREE_FRAME]);
            for k in 0..3 {
                self.moved.0[k] = free_place.where_less(half, held_move.0[k], self.moved.0[k]);
            }
            self.frame = held_frame.or(lanes, self.frame, free_frame);
            self.scale = lanes.load(&rest_row[rest::FREE_SCALE]).where_less(half, one, self.scale);
        }
        if group.rest.hung[index] {
            let hung = lanes.load(&rest_row[rest::HUNG]);
            let hung_move = V3::load(lanes, row, node::TARGET_PLACE) - start;
            let hung_frame = Quaternion::load(lanes, row, node::TARGET_FRAME);
            self.moved = self.moved.or(lanes, hung_move, hung);
            self.frame = self.frame.or(lanes, hung_frame, hung);
        }
        self
    }

    /// What the energies read of it.
    #[inline(always)]
    pub fn section<L: Lanes<V = V>>(&self, lanes: L, row: &[Entry<L::Scalar>]) -> Section<V> {
        let place = V3::load(lanes, row, node::PREV_PLACE) + self.moved;
        Section { place, scale: self.scale, frame: self.frame }
    }

    /// Puts the node there.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(&self, lanes: L, row: &mut [Entry<L::Scalar>]) {
        self.moved.store(lanes, row, node::MOVED);
        (V3::load(lanes, row, node::PREV_PLACE) + self.moved).store(lanes, row, node::PLACE);
        lanes.store(self.scale, &mut row[node::SCALE]);
        self.frame.store(lanes, row, node::FRAME);
    }

    /// Puts the flagged chains' node there; of the others it stays to the bit, which what hangs would not by its move alone.
    #[inline(always)]
    pub fn store_of<L: Lanes<V = V>>(&self, lanes: L, row: &mut [Entry<L::Scalar>], flag: V) {
        let to = Self::now(lanes, row).or(lanes, self, flag);
        let place = V3::load(lanes, row, node::PLACE);
        let moved = V3::load(lanes, row, node::PREV_PLACE) + to.moved;
        to.store(lanes, row);
        place.or(lanes, moved, flag).store(lanes, row, node::PLACE);
    }

    /// Itself where `flag` is below ½, else `other`.
    #[inline(always)]
    pub fn or<L: Lanes<V = V>>(mut self, lanes: L, other: &Self, flag: V) -> Self {
        let half = lanes.splat(0.5);
        for k in 0..3 {
            self.moved.0[k] = flag.where_less(half, self.moved.0[k], other.moved.0[k]);
        }
        self.frame = self.frame.or(lanes, other.frame, flag);
        self.scale = flag.where_less(half, self.scale, other.scale);
        self
    }
}

/// What of a vector is across a unit normal.
#[inline(always)]
pub(super) fn across<V: Lane>(v: V3<V>, normal: V3<V>) -> V3<V> {
    v - normal * normal.dot(v)
}

#[inline(always)]
fn free_unknowns<L: Lanes>(lanes: L, rest_row: &[Entry<L::Scalar>]) -> Vec7<L::V> {
    let place = lanes.load(&rest_row[rest::FREE_PLACE]);
    let scale = lanes.load(&rest_row[rest::FREE_SCALE]);
    let frame = lanes.load(&rest_row[rest::FREE_FRAME]);
    [place, place, place, scale, frame, frame, frame]
}

/// Takes held unknowns out of the node's system: their change is zero.
#[inline(always)]
pub(super) fn hold<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let one = lanes.splat(1.0);
    let free = free_unknowns(lanes, rest_row);
    hold_rhs(lanes, rest_row, rhs);
    for i in 0..UNKNOWNS {
        for k in 0..=i {
            block[i][k] = block[i][k] * free[i] * free[k];
        }
        block[i][i] = block[i][i] + (one - free[i]);
        for k in 0..UNKNOWNS {
            coupling[i][k] = coupling[i][k] * free[i];
        }
    }
}

/// As [`hold`], of a right-hand side alone.
#[inline(always)]
pub(super) fn hold_rhs<L: Lanes>(lanes: L, rest_row: &[Entry<L::Scalar>], rhs: &mut Vec7<L::V>) {
    let free = free_unknowns(lanes, rest_row);
    for i in 0..UNKNOWNS {
        rhs[i] = rhs[i] * free[i];
    }
}

/// Takes the next node's held unknowns out of the coupling.
#[inline(always)]
pub(super) fn hold_columns<L: Lanes>(lanes: L, next_rest_row: &[Entry<L::Scalar>], coupling: &mut Mat7<L::V>) {
    let free = free_unknowns(lanes, next_rest_row);
    for row in coupling {
        for k in 0..UNKNOWNS {
            row[k] = row[k] * free[k];
        }
    }
}

/// What is left of a vector's first three entries where the node slides: their part along the guide w, or all of it
/// where it does not.
#[inline(always)]
fn along_guide<V: Lane>(v: [V; 3], w: V3<V>, slides: V) -> [V; 3] {
    let v = V3(v);
    (v - across(v, w) * slides).0
}

/// The guide of a node that slides: the path's direction through it, through the place that the bone gives it.
#[inline(always)]
fn guide_axis<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>]) -> V3<L::V> {
    Quaternion::load(lanes, row, node::TARGET_FRAME).axes(lanes)[2]
}

/// Takes the place across its guide out of the system of a node that slides: P·block·P + σ(1 − P), with P = wwᵀ on the place.
/// With σ as stiff as the block, what rounding leaves across the guide moves nothing.
#[inline(always)]
pub(super) fn guide<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
    coupling: &mut Mat7<L::V>,
) {
    let w = guide_axis(lanes, row);
    let slides = lanes.load(&rest_row[rest::SLIDES]);
    let stiff = slides * (block[0][0] + block[1][1] + block[2][2]);
    guide_rhs(lanes, rest_row, row, rhs);
    for i in 3..UNKNOWNS {
        let [x, y, z] = along_guide([block[i][0], block[i][1], block[i][2]], w, slides);
        (block[i][0], block[i][1], block[i][2]) = (x, y, z);
    }
    let mut columns = [
        [block[0][0], block[1][0], block[2][0]],
        [block[1][0], block[1][1], block[2][1]],
        [block[2][0], block[2][1], block[2][2]],
    ];
    for column in &mut columns {
        *column = along_guide(*column, w, slides);
    }
    for i in 0..3 {
        let row = along_guide([columns[0][i], columns[1][i], columns[2][i]], w, slides);
        for k in 0..=i {
            block[i][k] = row[k] - stiff * w.0[i] * w.0[k];
        }
        block[i][i] = block[i][i] + stiff;
    }
    for k in 0..UNKNOWNS {
        let [x, y, z] = along_guide([coupling[0][k], coupling[1][k], coupling[2][k]], w, slides);
        (coupling[0][k], coupling[1][k], coupling[2][k]) = (x, y, z);
    }
}

/// As [`guide`], of a right-hand side alone.
#[inline(always)]
pub(super) fn guide_rhs<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    rhs: &mut Vec7<L::V>,
) {
    let slides = lanes.load(&rest_row[rest::SLIDES]);
    let [x, y, z] = along_guide([rhs[0], rhs[1], rhs[2]], guide_axis(lanes, row), slides);
    (rhs[0], rhs[1], rhs[2]) = (x, y, z);
}

/// Takes the next node's place across its guide out of the coupling.
#[inline(always)]
pub(super) fn guide_columns<L: Lanes>(
    lanes: L,
    next_rest_row: &[Entry<L::Scalar>],
    next_row: &[Entry<L::Scalar>],
    coupling: &mut Mat7<L::V>,
) {
    let w = guide_axis(lanes, next_row);
    let slides = lanes.load(&next_rest_row[rest::SLIDES]);
    for row in coupling {
        let [x, y, z] = along_guide([row[0], row[1], row[2]], w, slides);
        (row[0], row[1], row[2]) = (x, y, z);
    }
}
