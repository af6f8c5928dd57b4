//! Chains that meet: where segments of different chains touch, how hard they press, and what each side's chain is told of it.
//!
//! Data flow of a substep: every chain that may meet another shows where it is and how it goes ([`show`]). For every pair of segments
//! that `find_pairs` found for the frame, [`find_meetings`](super::find_meetings) finds the points at which they touch and how stiff
//! that is, once for both sides ([`meet`]); [`Side::write_row`] makes a contact row of it for either. `solve_rods` solves each chain
//! with the other side going on as it did. Then, pass by pass, chains show how far they went, [`press`](super::press) finds with
//! what force each pair presses where both now are, the same for both sides, and [`settle`](super::settle) finds the steps that
//! this takes, with the factors of the solve.
//!
//! A side's row presses against the plane halfway between both: for gaps C that both close, ½k·C² is at most the sum of both
//! sides' halves, ½·2k·(C/2 + what the side goes)², so that the potential of all chains falls although all go at once. Friction
//! is in proportion: half of how far the surfaces slide against each other, twice the stiffness, Coulomb's limit.

use super::carry::carried;
use super::group::{Group, unpadded};
use super::holds::{Placed, across};
use super::lanes::{Entry, LANES, Lane, Lanes, each};
use super::math::{Quaternion, V3};
use super::pills::{Nearest, Pill, nearest};
use crate::instances::REMEMBERED;
use crate::layout::{chain, contact, meet, node, rest, shown};
use crate::step::StepParams;

/// What is farther than this is not shown to others (in whatever unit it has).
pub(crate) const FARTHEST: f32 = 1.0e9;

/// Rolling friction's limit over the force with which chains press and the radius.
pub const ROLLS: f32 = 0.2;

/// Its stiffness over friction's and the radius squared.
pub const ROLLING: f32 = 10.0;

/// How deep over the smaller radius bones have flesh in other flesh that bones carry where it yields most. Of a depth D as they have
/// it flesh yields, and is pushed out by, so much: min(D, (`LET_IN`·r − D)·`YIELDS`/(`LET_IN` − `YIELDS`)), and no less than nothing; the
/// rest is let in. Two characters that stand in each other would else have flesh pushed off their bones that can go nowhere: to one side
/// of the other's axis, and to the other.
pub const YIELDS: f32 = 0.5;

/// From which depth on all of it is let in, see [`YIELDS`].
pub const LET_IN: f32 = 1.5;

/// The cosine between the direction in which one presses the other and that in which bones have it from the other from which on it is let
/// by, though their axes cross; from 0 on it is in part. Flesh that is behind what its bones have passed would else be held back, drawn
/// along with the other, and tear loose in the end.
pub const PAST: f32 = -0.25;

/// Eight pairs of segments, each with the two points at which they may touch.
#[derive(Clone, Debug, PartialEq)]
pub struct PairBlock {
    /// For each side, which row of what all show is the first of its first node.
    pub first: [[u32; LANES]; 2],
    /// 1 in lanes that have a pair, else 0.
    pub there: Entry<f32>,
    /// For each side and end of its segment, 1 where its chain goes on there with one that may touch the other side too, else 0: what
    /// leaves the other alone takes no contact over, and the chain ends there as far as the pair knows.
    pub joined: [[Entry<f32>; 2]; 2],
    /// How many times as heavy as the second side's chain, or the tree that this is of, the first one's is.
    pub heavier: Entry<f32>,
    /// 1 where bones hold or carry both segments, else 0.
    pub obeys: Entry<f32>,
    /// The stiffness of both points together (N/m): 0 where nothing can touch in the substep.
    pub stiffness: Entry<f32>,
    /// See [`meet`]; the entries up to [`meet::TURN_ANCHOR`].
    pub points: [[Entry<f32>; meet::TURN_ANCHOR]; 2],
    /// [`meet::TURN_ANCHOR`] of both points.
    pub turn_anchors: [[Entry<f32>; 3]; 2],
    /// [`contact::GAP`](crate::layout::contact::GAP), [`ANCHOR`](crate::layout::contact::ANCHOR) and
    /// [`TURN`](crate::layout::contact::TURN) of the contact rows of both sides of both points: side by side for each pair.
    pub of_sides: [[[[f32; 8]; LANES]; 2]; 2],
    /// Their [`MIDDLE`](crate::layout::contact::MIDDLE), of both sides of each pair side by side, four words each.
    pub middles: [[[f32; 8]; LANES]; 2],
    /// What both points of each pair remember, in the order of [`meet::MEMORY`]: side by side, for whoever is pressed by it.
    pub memory: [[[f32; REMEMBERED]; LANES]; 2],
    /// [`meet::OVER_MASS`] of both points.
    pub over_masses: [Entry<f32>; 2],
}

impl PairBlock {
    /// No pair.
    pub const NONE: Self = Self {
        first: [[0; LANES]; 2],
        there: [0.0; LANES],
        joined: [[[0.0; LANES]; 2]; 2],
        heavier: [1.0; LANES],
        obeys: [0.0; LANES],
        stiffness: [0.0; LANES],
        points: [[[0.0; LANES]; meet::TURN_ANCHOR]; 2],
        turn_anchors: [[[0.0; LANES]; 3]; 2],
        of_sides: [[[[0.0; 8]; LANES]; 2]; 2],
        middles: [[[0.0; 8]; LANES]; 2],
        memory: [[[0.0; REMEMBERED]; LANES]; 2],
        over_masses: [[0.0; LANES]; 2],
    };
}

/// The rows of [`PairBlock::memory`], each of its own lane.
pub(super) const OWN_ROWS: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Writes what the nodes of a group's chains show others at a substep's start: where they are, and how they would go on.
///
/// What a node shows lies side by side, in three rows for each chain: those of its first eight entries for all chains, then those of
/// the next, and of the last ([`shown`]). Who meets it gathers these from there, and what has gone on in the substep is in the second row
/// alone.
#[inline(always)]
pub fn show<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>, out: &mut [Entry<L::Scalar>]) {
    let (one, h) = (lanes.splat(1.0), lanes.splat(params.h));
    for index in 0..group.rest.node_count {
        let (row, rest_row) = (group.row(index), group.rest.row(index));
        let out = &mut out[index * shown::ENTRIES..][..shown::ENTRIES];
        let [x, y, z] = V3::load(lanes, group.chains, chain::ORIGIN).0;
        let [u, v, w] = known3(lanes, V3::load(lanes, row, node::PREV_PLACE)).0;
        let radius = known(lanes, lanes.load(&rest_row[rest::RADIUS]));
        let scale = known(lanes, lanes.load(&row[node::PREV_SCALE]));
        lanes.scatter([x, y, z, u, v, w, radius, scale], &mut out[..shown::INV_MASS]);
        let free = lanes.load(&rest_row[rest::FREE_PLACE]);
        let (moved, scaling, turn) = gone(lanes, group, index);
        let going = V3::load(lanes, row, node::OLDER_VELOCITY) * h;
        let moved = going.or(lanes, moved, one - free);
        let grows = lanes.load(&row[node::SCALE_RATE]) * h;
        let scaling = lanes.splat(0.5).where_less(free, grows, scaling);
        let free_frame = lanes.load(&rest_row[rest::FREE_FRAME]);
        let turning = V3::load(lanes, row, node::OLDER_SPIN) * h;
        let turn = turning.or(lanes, turn, one - free_frame);
        show_going(lanes, (group, index), (moved, scaling, turn), out);
        if group.rest.carried[index] {
            let place = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index).0;
            let [x, y, z] = known3(lanes, place).0;
            let zero = lanes.splat(0.0);
            lanes.scatter([x, y, z, zero, zero, zero, zero, zero], &mut out[shown::CARRIED..]);
        }
    }
}

/// Writes how far the nodes of a group's chains have gone.
#[inline(always)]
pub fn show_gone<L: Lanes>(lanes: L, group: &Group<L::Scalar>, out: &mut [Entry<L::Scalar>]) {
    for index in 0..group.rest.node_count {
        let out = &mut out[index * shown::ENTRIES..][..shown::ENTRIES];
        show_going(lanes, (group, index), gone(lanes, group, index), out);
    }
}

/// Writes a node's second rows.
#[inline(always)]
fn show_going<L: Lanes>(
    lanes: L,
    (group, index): (&Group<L::Scalar>, usize),
    (moved, scaling, turn): (V3<L::V>, L::V, V3<L::V>),
    out: &mut [Entry<L::Scalar>],
) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let mass = unpadded(lanes, group, index, rest::MASS);
    let free = lanes.load(&group.rest.row(index)[rest::FREE_PLACE]);
    let inv_mass = zero.where_less(mass * free, one / mass.max(lanes.splat(f32::MIN_POSITIVE)), zero);
    let ([x, y, z], [u, v, w]) = (known3(lanes, moved).0, known3(lanes, turn).0);
    let values = [known(lanes, inv_mass), x, y, z, known(lanes, scaling), u, v, w];
    lanes.scatter(values, &mut out[shown::INV_MASS..shown::CARRIED]);
}

/// A number that is shown: what is none, or beyond all measure, says nothing.
#[inline(always)]
fn known<L: Lanes>(lanes: L, value: L::V) -> L::V {
    let zero = lanes.splat(0.0);
    value.max(zero - value).where_less(lanes.splat(FARTHEST), value, zero)
}

#[inline(always)]
fn known3<L: Lanes>(lanes: L, value: V3<L::V>) -> V3<L::V> {
    V3(each!(k in 0..3 => known(lanes, value.0[k])))
}

/// How far a node has moved since the substep's start (m), swollen and turned (rad).
#[inline(always)]
fn gone<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> (V3<L::V>, L::V, V3<L::V>) {
    let row = group.row(index);
    let now = Placed::now(lanes, row);
    let turn = now.frame.product(Quaternion::load(lanes, row, node::PREV_FRAME).conjugate());
    let two = lanes.splat(2.0);
    let double = turn.0[3].where_less(lanes.splat(0.0), -two, two);
    (now.moved, now.scale - lanes.load(&row[node::PREV_SCALE]), turn.imaginary() * double)
}

/// What the nodes of one side of eight pairs show, so many nodes after the segments' first.
#[derive(Clone, Copy)]
pub(super) struct ShownNodes<'a> {
    pub shown: &'a [Entry<f32>],
    /// See [`PairBlock::first`].
    pub first: &'a [u32; LANES],
    pub after: i32,
}

impl ShownNodes<'_> {
    /// The first eight entries: [`shown::ORIGIN`] to [`shown::SCALE`].
    #[inline(always)]
    pub fn stance<L: Lanes<Scalar = f32>>(self, lanes: L) -> [L::V; LANES] {
        self.entries(lanes, 0)
    }

    /// The next: [`shown::INV_MASS`] to [`shown::TURN`].
    #[inline(always)]
    pub fn going<L: Lanes<Scalar = f32>>(self, lanes: L) -> [L::V; LANES] {
        self.entries(lanes, shown::INV_MASS as i32)
    }

    /// The last: [`shown::CARRIED`].
    #[inline(always)]
    pub fn carried<L: Lanes<Scalar = f32>>(self, lanes: L) -> V3<L::V> {
        let [x, y, z, ..] = self.entries(lanes, shown::CARRIED as i32);
        V3([x, y, z])
    }

    #[inline(always)]
    fn entries<L: Lanes<Scalar = f32>>(self, lanes: L, first: i32) -> [L::V; LANES] {
        let mut rows = *self.first;
        for row in &mut rows {
            // Before the first node of all is itself: what is asked of there counts only where there is one.
            *row = (*row as i32 + self.after * shown::ENTRIES as i32 + first).max(0) as u32;
        }
        lanes.gather(self.shown, &rows)
    }
}

/// Between two numbers.
#[inline(always)]
pub(super) fn mix<V: Lane>(a: V, b: V, along: V) -> V {
    a + (b - a) * along
}

/// How flesh is let into other flesh where bones carry both.
#[derive(Clone, Copy)]
pub(super) struct LetIn<V> {
    /// How deep they have them in each other, over half as deep as where it yields most, up to 1; 0 where they do not carry both.
    pub put: V,
    /// What is let in of that depth (m).
    in_depth: V,
    /// From the second one to the first one where they have them; 0 where they do not carry both.
    direction: V3<V>,
}

impl<V: Lane> LetIn<V> {
    /// Nothing.
    #[inline(always)]
    pub fn none<L: Lanes<V = V>>(lanes: L) -> Self {
        let zero = lanes.splat(0.0);
        Self { put: zero, in_depth: zero, direction: V3([zero; 3]) }
    }

    /// Of two segments where bones carry them, as thick as at rest: what swells presses. In lanes in which bones do so.
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(lanes: L, carried: &[Pill<V>; 2], obeys: V) -> Self {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        let Nearest { along, direction, gap } = nearest(lanes, &carried[0], &carried[1]);
        let radius = carried[0].radius(along[0]).min(carried[1].radius(along[1]));
        let depth = (zero - gap).max(zero);
        let less = (radius * lanes.splat(LET_IN) - depth) * lanes.splat(YIELDS / (LET_IN - YIELDS));
        let put = (depth / (radius * lanes.splat(0.5 * YIELDS)).max(lanes.splat(f32::MIN_POSITIVE))).min(one);
        Self {
            put: zero.where_less(obeys, put, zero),
            in_depth: zero.where_less(obeys, depth - depth.min(less.max(zero)), zero),
            direction: V3([zero; 3]).or(lanes, direction, obeys),
        }
    }

    /// How far (m) it is let in where they press in some direction, given both their radii together: where bones have them past each
    /// other, as far as they can be in each other, and by as much again, so that nothing stops it on its way.
    #[inline(always)]
    pub fn at<L: Lanes<V = V>>(&self, lanes: L, direction: V3<V>, radii: V) -> V {
        let past = direction.dot(self.direction) * lanes.splat(1.0 / PAST);
        self.in_depth + past.clamp(lanes.splat(0.0), lanes.splat(2.0)) * radii
    }
}

/// How far a node, or a point between two, goes (m), swells and turns (rad).
#[derive(Clone, Copy)]
pub(super) struct Going<V> {
    pub moved: V3<V>,
    pub scaling: V,
    pub turn: V3<V>,
}

impl<V: Lane> Going<V> {
    /// Of what [`ShownNodes::going`] has.
    #[inline(always)]
    pub fn of([_, x, y, z, scaling, u, v, w]: [V; LANES]) -> Self {
        Self { moved: V3([x, y, z]), scaling, turn: V3([u, v, w]) }
    }

    #[inline(always)]
    pub fn between([a, b]: [&Self; 2], along: V) -> Self {
        Self {
            moved: a.moved + (b.moved - a.moved) * along,
            scaling: mix(a.scaling, b.scaling, along),
            turn: a.turn + (b.turn - a.turn) * along,
        }
    }

    /// How far the surface goes across `direction`, in which its side is pressed, at so long an arm.
    #[inline(always)]
    pub fn swept(&self, direction: V3<V>, arm: V) -> V3<V> {
        across(self.moved, direction) + direction.cross(self.turn) * arm
    }
}

/// Which side of which point of a pair's a chain's segment is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The node with which the segment begins.
    pub segment: u32,
    /// Which pair of all blocks'.
    pub pair: u32,
    /// Which side of it, 0 or 1.
    pub side: u32,
}

impl Side {
    /// The block of its pair, and the pair's lane there.
    #[inline(always)]
    pub fn of<'a>(&self, blocks: &'a [PairBlock]) -> (&'a PairBlock, usize) {
        (&blocks[self.pair as usize / LANES], self.pair as usize % LANES)
    }

    /// Writes a lane of its contact row.
    #[inline(always)]
    pub fn write_row(&self, blocks: &[PairBlock], point: usize, row: &mut [Entry<f32>], to: usize) {
        let (block, lane) = self.of(blocks);
        let (from, side) = (&block.points[point], self.side as usize);
        let [gap, x, y, z, u, v, w, _] = block.of_sides[point][side][lane];
        let middle = &block.middles[point][lane][4 * side..][..3];
        let (anchor, turn, force) = ([x, y, z], [u, v, w], block.memory[point][lane][0]);
        let sign = if side == 0 { 1.0 } else { -1.0 };
        row[contact::ALONG][to] = from[meet::ALONG + side][lane];
        for k in 0..3 {
            row[contact::DIRECTION + k][to] = sign * from[meet::DIRECTION + k][lane];
            row[contact::ANCHOR + k][to] = anchor[k];
            row[contact::MIDDLE + k][to] = middle[k];
        }
        row[contact::SCALE_TERM][to] = from[meet::SCALE_TERM + side][lane];
        row[contact::ARM][to] = from[meet::ARM + side][lane];
        row[contact::GAP][to] = gap;
        row[contact::STIFFNESS][to] = 2.0 * from[meet::STIFFNESS][lane];
        row[contact::FRICTION][to] = 2.0 * from[meet::FRICTION][lane];
        let limit = from[meet::RUBS][lane] * force;
        row[contact::LIMIT][to] = limit;
        row[contact::STICKS][to] = if limit > 0.0 { 1.0 } else { 0.0 };
        let radius = from[meet::ARM][lane].min(from[meet::ARM + 1][lane]);
        row[contact::ROLLING][to] = 2.0 * ROLLING * from[meet::FRICTION][lane] * radius * radius;
        row[contact::ROLLING_LIMIT][to] = ROLLS * force * radius;
        for k in 0..3 {
            row[contact::TURN + k][to] = turn[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::lanes::OneF32;

    /// Two pills along x whose axes are so far apart along y, the second one above the first.
    fn pills(apart: f32, radii: [f32; 2]) -> [Pill<f32>; 2] {
        [0, 1].map(|side| Pill { ends: [0.0, 1.0].map(|x| V3([x, [0.0, apart][side], 0.0])), radii: [radii[side]; 2] })
    }

    /// Half a radius deep they are pushed out of each other; of what is deeper less is, by the smaller radius; from one and a half on
    /// nothing. What bones do not carry is let in nowhere, whatever is there.
    #[test]
    fn what_bones_put_deeper_than_flesh_yields_is_let_in() {
        let lanes = OneF32(0);
        for radii in [[0.1_f32, 0.1], [0.1, 0.4], [0.3, 0.1]] {
            for (deep, pushed) in [(-1.0, 0.0), (0.0, 0.0), (0.3, 0.3), (0.5, 0.5), (1.0, 0.25), (1.5, 0.0), (1.9, 0.0)]
            {
                let let_in = LetIn::of(lanes, &pills(radii[0] + radii[1] - 0.1 * deep, radii), 1.0);
                let found = (deep.max(0.0) * 0.1 - let_in.in_depth) / 0.1;
                assert!((found - pushed).abs() < 1.0e-4, "{radii:?}, {deep} deep: {found} of {pushed}");
                assert!((let_in.put - (4.0 * deep).clamp(0.0, 1.0)).abs() < 1.0e-4);
                assert!(let_in.direction.dot(V3([0.0, -1.0, 0.0])) > 0.999);
            }
        }
        let none = LetIn::of(lanes, &pills(f32::NAN, [0.1; 2]), 0.0);
        assert_eq!((none.put, none.in_depth, none.at(lanes, V3([0.0, 1.0, 0.0]), 0.2)), (0.0, 0.0, 0.0));
    }

    /// Flesh that is pressed in the direction in which its bones are is let in no farther; behind what these have passed nothing presses
    /// it, though axes cross there, nor stops it on its way.
    #[test]
    fn what_bones_have_past_the_other_is_let_by() {
        let lanes = OneF32(0);
        let let_in = LetIn::of(lanes, &pills(0.3, [0.1; 2]), 1.0);
        let gap_of_crossing = |degrees: f32| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            -0.2 + let_in.at(lanes, V3([0.0, -cosine, sine]), 0.2)
        };
        for degrees in [0.0, 60.0, 89.9] {
            assert_eq!(gap_of_crossing(degrees), -0.2);
        }
        assert!(gap_of_crossing(97.0) < -0.05 && gap_of_crossing(104.0) < 0.0 && gap_of_crossing(105.0) > 0.0);
        for degrees in [120.1, 150.0, 180.0] {
            assert!((gap_of_crossing(degrees) - 0.2).abs() < 1.0e-6);
        }
    }
}
