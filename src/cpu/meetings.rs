//! Chains that meet: contact rows of segments that touch other chains' segments, and the passes that bring both sides together.
//!
//! Each side has rows of its own and sees the other by what that shows ([`shown`]): where it was at the substep's start, and how
//! far it has gone since. A side's row presses against the plane halfway between both: for gaps C that both close, ½k·C² is at
//! most the sum of both sides' halves, ½·2k·(C/2 + what the side goes)², so that the potential of all chains falls although all
//! go at once. First `solve_rods` solves with the other side going on as in the last substep; then, pass by pass, all show how
//! far they went, the planes move to the middle of where both now are, and the steps that this takes are found with the factors
//! of the first pass.
//!
//! Friction is in proportion: half of how far the surfaces slide against each other, twice the stiffness, Coulomb's limit.

use super::contact_rows::{ContactRow, MOST_DUAL};
use super::contacts::contact_row;
use super::group::{Group, goes_on, unpadded};
use super::holds::across;
use super::lanes::{Entry, Lane, Lanes};
use super::math::{Quaternion, V3};
use super::pills::{Pill, points};
use crate::layout::{chain, contact, meet, node, rest, shown};
use crate::step::StepParams;

/// γ: stiffness of chains against each other over m/h² (1), with one over m the sum of both sides' w²/m.
pub const MEETING: f32 = 10.0;

/// Within which slope of the gap at a node contacts go over from one segment to the next.
pub const HANDS_OVER: f32 = 0.05;

/// What is farther than this is not shown to others (in whatever unit it has).
const FARTHEST: f32 = 1.0e9;

/// How fast chains that are found in each other are pushed out (m/s).
pub const APART: f32 = 1.0;

/// Coulomb's coefficient between chains.
pub const RUBS: f32 = 0.5;

/// Depths over the radius beyond which pairs get stiffer, and below which they get softer again.
pub const DEEP: [f32; 2] = [0.04, 0.02];

/// The most that ρ is.
pub const MOST_RATIO: f32 = 300.0;

/// Writes what the nodes of a group's chains show others: before the first solve of a substep, or after.
pub fn show(group: &Group<f32>, solved: bool, out: &mut [Entry<f32>]) {
    for index in 0..group.rest.node_count {
        let (row, rest_row) = (group.row(index), group.rest.row(index));
        let out = &mut out[index * shown::ENTRIES..][..shown::ENTRIES];
        out[shown::ORIGIN..][..3].copy_from_slice(&group.chains[chain::ORIGIN..][..3]);
        out[shown::PLACE..][..3].copy_from_slice(&row[node::PREV_PLACE..][..3]);
        out[shown::RADIUS] = rest_row[rest::RADIUS];
        out[shown::SCALE] = row[node::PREV_SCALE];
        for lane in 0..row[0].len() {
            let mass = rest_row[rest::MASS][lane];
            out[shown::INV_MASS][lane] =
                if rest_row[rest::FREE_PLACE][lane] > 0.5 && mass > 0.0 { 1.0 / mass } else { 0.0 };
            let of = |at: usize| -> [f32; 3] { std::array::from_fn(|k| row[at + k][lane]) };
            let quaternion = |at: usize| Quaternion::<f32>(std::array::from_fn(|k| row[at + k][lane]));
            let (moved, scaling, turn) = if solved {
                let turn = quaternion(node::FRAME).product(quaternion(node::PREV_FRAME).conjugate());
                let double = if turn.0[3] < 0.0 { -2.0 } else { 2.0 };
                let scaling = row[node::SCALE][lane] - row[node::PREV_SCALE][lane];
                (of(node::MOVED), scaling, turn.imaginary().0.map(|x| x * double))
            } else {
                (of(node::OLDER_MOVE), row[node::OLDER_SCALING][lane], of(node::OLDER_TURN))
            };
            for k in 0..3 {
                out[shown::MOVED + k][lane] = moved[k];
                out[shown::TURN + k][lane] = turn[k];
            }
            out[shown::SCALING][lane] = scaling;
            out[shown::GOES_ON][lane] = if rest_row[rest::INV_LENGTH][lane] > 0.0 { 1.0 } else { 0.0 };
            out[shown::COMES_FROM][lane] = if index > 0 { 1.0 } else { 0.0 };
        }
    }
}

/// A node as it shows itself, or as its own chain has it.
#[derive(Clone, Copy)]
pub(super) struct Seen<V> {
    origin: V3<V>,
    place: V3<V>,
    radius: V,
    scale: V,
    inv_mass: V,
    pub(super) moved: V3<V>,
    pub(super) scaling: V,
    pub(super) turn: V3<V>,
    goes_on: V,
    comes_from: V,
}

impl<V: Lane> Seen<V> {
    /// A node of what is shown, lane by lane, so many after the first of the segment that is met.
    #[inline(always)]
    pub(super) fn of<L: Lanes<V = V>>(
        lanes: L,
        group: &Group<L::Scalar>,
        meet_row: &[Entry<L::Scalar>],
        after: isize,
    ) -> Self
    where
        L::Scalar: Into<f64>,
    {
        let at = |entry: usize| {
            let values: Entry<L::Scalar> = std::array::from_fn(|lane| {
                let first = meet_row[meet::OTHER][lane].into().max(0.0) as isize;
                let at = (first + after).clamp(0, (group.shown.len() / shown::ENTRIES) as isize - 1) as usize;
                let other = meet_row[meet::LANE][lane].into() as usize;
                group.shown[at * shown::ENTRIES + entry][other]
            });
            // What is no number says nothing.
            let (value, zero) = (lanes.load(&values), lanes.splat(0.0));
            value.max(zero - value).where_less(lanes.splat(FARTHEST), value, zero)
        };
        let vector = |entry: usize| V3([at(entry), at(entry + 1), at(entry + 2)]);
        Self {
            origin: vector(shown::ORIGIN),
            place: vector(shown::PLACE),
            radius: at(shown::RADIUS),
            scale: at(shown::SCALE),
            inv_mass: at(shown::INV_MASS),
            moved: vector(shown::MOVED),
            scaling: at(shown::SCALING),
            turn: vector(shown::TURN),
            goes_on: at(shown::GOES_ON),
            comes_from: at(shown::COMES_FROM),
        }
    }

    /// It going on for so many times as long.
    #[inline(always)]
    fn going(self, times: V) -> Self {
        Self { moved: self.moved * times, scaling: self.scaling * times, turn: self.turn * times, ..self }
    }

    /// What of it is at a point between two.
    #[inline(always)]
    pub(super) fn between(a: &Self, b: &Self, along: V) -> Self {
        let mix = |a: V3<V>, b: V3<V>| a + (b - a) * along;
        let one = |a: V, b: V| a + (b - a) * along;
        Self {
            origin: a.origin,
            place: mix(a.place, b.place),
            radius: one(a.radius, b.radius),
            scale: one(a.scale, b.scale),
            inv_mass: one(a.inv_mass, b.inv_mass),
            moved: mix(a.moved, b.moved),
            scaling: one(a.scaling, b.scaling),
            turn: mix(a.turn, b.turn),
            goes_on: a.goes_on,
            comes_from: a.comes_from,
        }
    }
}

/// Which node of what is shown is the own chain's first; its lanes are the group's.
#[inline(always)]
fn own<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Seen<L::V> {
    let (row, rest_row) = (group.row(index), group.rest.row(index));
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let mass = unpadded(lanes, group, index, rest::MASS);
    let free = lanes.load(&rest_row[rest::FREE_PLACE]);
    let inv_mass = zero.where_less(mass * free, one / mass.max(lanes.splat(f32::MIN_POSITIVE)), zero);
    Seen {
        origin: V3::load(lanes, group.chains, chain::ORIGIN),
        place: V3::load(lanes, row, node::PREV_PLACE),
        radius: lanes.load(&rest_row[rest::RADIUS]),
        scale: lanes.load(&row[node::PREV_SCALE]),
        inv_mass,
        moved: V3::load(lanes, row, node::OLDER_MOVE),
        scaling: lanes.load(&row[node::OLDER_SCALING]),
        turn: V3::load(lanes, row, node::OLDER_TURN),
        goes_on: goes_on(lanes, group.rest, index),
        comes_from: if index > 0 { one } else { zero },
    }
}

/// The node before an own segment's first; where there is none, that.
#[inline(always)]
fn own_before<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Seen<L::V> {
    own(lanes, group, index.saturating_sub(1))
}

/// Which share of a contact is a segment's own where it is one of a chain, so that neighbours that touch at the node between them
/// have one contact together: by how the gap changes along the segment before the node, as it is there. `direction` is that in
/// which it is pressed, `apart` how far the centres are from each other.
#[inline(always)]
fn belongs<L: Lanes>(
    lanes: L,
    [before, first, second]: [&Seen<L::V>; 3],
    along: L::V,
    direction: V3<L::V>,
    apart: L::V,
) -> L::V {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let least = lanes.splat(1.0e-9);
    let slope = |from: &Seen<L::V>, to: &Seen<L::V>| {
        let path = to.place - from.place;
        let grows = to.radius * to.scale - from.radius * from.scale;
        (direction.dot(path) - grows) / path.dot(path).sqrt().max(least)
    };
    let path = second.place - first.place;
    // The direction turns as the nearest point goes along.
    let turns = path.dot(path).sqrt() / apart.max(least);
    let keeps = |slope: L::V| (half + slope * lanes.splat(0.5 / HANDS_OVER)).clamp(zero, one);
    let ends = keeps(slope(first, second) + (one - along) * turns);
    let begins = one - keeps(slope(before, first) - along * turns);
    half.where_less(second.goes_on, ends, one) * half.where_less(first.comes_from, begins, one)
}

/// A direction in which a segment is pressed at a node where the chain goes on, without what of it goes along the segment: the chain
/// has no end there.
#[inline(always)]
fn square<L: Lanes>(lanes: L, [first, second]: [&Seen<L::V>; 2], along: L::V, direction: V3<L::V>) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let path = second.place - first.place;
    let grows = second.radius * second.scale - first.radius * first.scale;
    let inv_length2 = one / path.dot(path).max(lanes.splat(f32::MIN_POSITIVE));
    let off = path * ((direction.dot(path) - grows) * inv_length2);
    let joined = along.where_less(one, zero, second.goes_on) + zero.where_less(along, zero, first.comes_from);
    (direction - off * joined).direction(lanes)
}

/// Writes the contact rows of meetings for the substep's first solve: where the segments touch, how stiff that is, and the plane
/// halfway between where both would go on to.
#[inline(always)]
pub fn find_meetings<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let (zero, one, half, two) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5), lanes.splat(2.0));
    let least = lanes.splat(f32::MIN_POSITIVE);
    let inv_h = lanes.splat(params.inv_h);
    let recovery = lanes.splat(APART * params.h);
    let older = lanes.splat(params.h_over_last_h);
    let first_slot = group.first_meeting();
    for slot in 0..group.meets.len() / meet::ENTRIES {
        let meet_row = &group.meets[slot * meet::ENTRIES..][..meet::ENTRIES];
        let index = contact_row(group.contacts, first_slot + slot).map_or(0, |(index, _)| index);
        let there = (lanes.splat(-0.5)).where_less(lanes.load(&meet_row[meet::OTHER]), one, zero);
        let own = [index, index + 1].map(|index| own(lanes, group, index));
        let other = [0, 1].map(|next| Seen::of(lanes, group, meet_row, next));
        let first = half.where_less(lanes.load(&meet_row[meet::FIRST]), one, zero);
        let (tangent, normal) = remembered(lanes, group, slot, [&own, &other]);
        // Both sides reckon from the first one's origin, so that they find the same to the bit.
        let apart = other[0].origin - own[0].origin;
        let (shift_own, shift_other) = (apart * (first - one), apart * first);
        let pill = |ends: &[Seen<L::V>; 2], shift: V3<L::V>| Pill {
            ends: [ends[0].place + shift, ends[1].place + shift],
            radii: [ends[0].radius * ends[0].scale, ends[1].radius * ends[1].scale],
        };
        let [own, other] = [own, other].map(|ends| ends.map(|end| end.going(older)));
        let (here, beyond) = (pill(&own, shift_own), pill(&other, shift_other));
        let pick = |flag: L::V, a: L::V, b: L::V| half.where_less(flag, a, b);
        let choose = |a: &Pill<L::V>, b: &Pill<L::V>| Pill {
            ends: [0, 1].map(|end| V3([0, 1, 2].map(|k| pick(first, a.ends[end].0[k], b.ends[end].0[k])))),
            radii: [0, 1].map(|end| pick(first, a.radii[end], b.radii[end])),
        };
        let both = points(lanes, &choose(&here, &beyond), &choose(&beyond, &here));
        let second = lanes.load(&meet_row[meet::POINT]);
        let of = |get: fn(&super::pills::Point<L::V>) -> L::V| pick(second, get(&both[1]), get(&both[0]));
        let along = [of(|p| p.nearest.along[0]), of(|p| p.nearest.along[1])];
        let (along, along_other) = (pick(first, along[0], along[1]), pick(first, along[1], along[0]));
        let direction =
            V3([of(|p| p.nearest.direction.0[0]), of(|p| p.nearest.direction.0[1]), of(|p| p.nearest.direction.0[2])])
                * (first * two - one);
        let (gap, share, flat) = (of(|p| p.nearest.gap), of(|p| p.share), of(|p| p.flat));
        let before = own_before(lanes, group, index);
        let its_before = Seen::of(lanes, group, meet_row, -1);
        let centres = gap + here.radius(along) + beyond.radius(along_other);
        let kept_here = belongs(lanes, [&before, &own[0], &own[1]], along, direction, centres);
        let kept_there =
            belongs(lanes, [&its_before, &other[0], &other[1]], along_other, V3([zero; 3]) - direction, centres);
        let there = there * (flat + (one - flat) * kept_here * kept_there);
        // As the first side has it, then as the second: both sides reckon alike.
        let sign = first * two - one;
        let mut normal_of_first = direction * sign;
        let sides = [(&own, along, first), (&other, along_other, one - first)];
        for turn in [one, zero] {
            for (ends, along, side) in sides {
                let mine = half.where_less(side, turn, one - turn);
                let outward = half.where_less(side, one, zero - one);
                let bent = square(lanes, [&ends[0], &ends[1]], along, normal_of_first * outward) * outward;
                normal_of_first = V3([0, 1, 2].map(|k| pick(mine, bent.0[k], normal_of_first.0[k])));
            }
        }
        let direction = normal_of_first * sign;

        let (mine, its) = (Seen::between(&own[0], &own[1], along), Seen::between(&other[0], &other[1], along_other));
        let (own_arm, other_arm) = (here.radius(along), beyond.radius(along_other));
        let weight =
            |ends: &[Seen<L::V>; 2], along: L::V| ends[0].inv_mass + (ends[1].inv_mass - ends[0].inv_mass) * along;
        let inv_mass = weight(&own, along) + weight(&other, along_other);
        let mass = zero.where_less(inv_mass, one / inv_mass.max(least), zero);

        let radius = own_arm.min(other_arm);
        let ratio = lanes.load(&meet_row[meet::RATIO]);
        let deeper = (radius * lanes.splat(-DEEP[0])).where_less(gap, one, lanes.splat(1.01));
        let less = (radius * lanes.splat(-DEEP[1])).where_less(gap, lanes.splat(0.99), one);
        let ratio = (ratio * deeper * less).clamp(one, lanes.splat(MOST_RATIO));
        let friction = lanes.splat(MEETING) * mass * inv_h * inv_h * share * there;
        let stiffness = friction * ratio;

        // What may touch in this substep.
        let relative = mine.moved - its.moved;
        let reach = relative.dot(relative).sqrt() * two + radius * lanes.splat(0.1);
        let pressing = gap.where_less(reach, stiffness + stiffness, zero);
        let kept = gap.max(zero - recovery);
        let going = direction.dot(relative) - (mine.radius * mine.scaling + its.radius * its.scaling);
        let closed = kept + going;
        let own_goes = direction.dot(mine.moved) - mine.radius * mine.scaling;

        let at = (first_slot + slot) * contact::ENTRIES;
        let tangent = across(tangent, direction);
        let pulled = tangent.dot(tangent).sqrt();
        let limit = (lanes.splat(RUBS) * normal).min(lanes.splat(MOST_DUAL));
        let reach_on = zero.where_less(friction, limit.min(pulled) / pulled.max(least) / friction.max(least), zero);
        let anchor = tangent * reach_on;
        let swept = |seen: &Seen<L::V>, arm: L::V| across(seen.moved, direction) + direction.cross(seen.turn) * arm;
        let own_slid = swept(&mine, own_arm);
        let its_slid = across(its.moved, direction) - direction.cross(its.turn) * other_arm;
        let slid = own_slid - its_slid;
        let row_anchor = own_slid - (slid - anchor) * half;

        let row: &mut [Entry<L::Scalar>] = &mut group.contacts[at..][..contact::ENTRIES];
        lanes.store(along, &mut row[contact::ALONG]);
        direction.store(lanes, row, contact::DIRECTION);
        lanes.store(mine.radius, &mut row[contact::SCALE_TERM]);
        lanes.store(own_arm, &mut row[contact::ARM]);
        lanes.store(closed * half - own_goes, &mut row[contact::GAP]);
        lanes.store(pressing, &mut row[contact::STIFFNESS]);
        lanes.store(zero.where_less(pressing, friction + friction, zero), &mut row[contact::FRICTION]);
        lanes.store(limit, &mut row[contact::LIMIT]);
        lanes.store(zero.where_less(limit, one, zero), &mut row[contact::STICKS]);
        row_anchor.store(lanes, row, contact::ANCHOR);
        let row: &mut [Entry<L::Scalar>] = &mut group.meets[slot * meet::ENTRIES..][..meet::ENTRIES];
        lanes.store(along_other, &mut row[meet::ALONG]);
        lanes.store(its.radius, &mut row[meet::SCALE_TERM]);
        lanes.store(other_arm, &mut row[meet::ARM]);
        lanes.store(kept, &mut row[meet::GAP]);
        anchor.store(lanes, row, meet::ANCHOR);
        lanes.store(ratio, &mut row[meet::RATIO]);
    }
}

/// With what force a pair's friction pulled the own side in the last substep (N), and with what both pressed: from what both sides
/// see, so that neither pulls otherwise than the other for good.
#[inline(always)]
fn remembered<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    slot: usize,
    [own, other]: [&[Seen<L::V>; 2]; 2],
) -> (V3<L::V>, L::V)
where
    L::Scalar: Into<f64>,
{
    let (zero, half, least) = (lanes.splat(0.0), lanes.splat(0.5), lanes.splat(f32::MIN_POSITIVE));
    let meet_row = &group.meets[slot * meet::ENTRIES..][..meet::ENTRIES];
    let Some((_, row)) = contact_row(group.contacts, group.first_meeting() + slot) else {
        return (V3([zero; 3]), zero);
    };
    let row = ContactRow::load(lanes, row, true);
    let mine = Seen::between(&own[0], &own[1], row.along);
    let its = Seen::between(&other[0], &other[1], lanes.load(&meet_row[meet::ALONG]));
    let going = row.direction.dot(mine.moved - its.moved)
        - (row.scale_term * mine.scaling + lanes.load(&meet_row[meet::SCALE_TERM]) * its.scaling);
    let closed = lanes.load(&meet_row[meet::GAP]) + going;
    let normal = row.stiffness * half * (zero - closed).max(zero);
    let own_slid = row.swept(mine.moved, mine.turn);
    let its_slid = across(its.moved, row.direction) - row.direction.cross(its.turn) * lanes.load(&meet_row[meet::ARM]);
    let pull = (V3::load(lanes, meet_row, meet::ANCHOR) - (own_slid - its_slid)) * (row.friction * half);
    let (size, limit) = (pull.dot(pull).sqrt(), lanes.splat(RUBS) * normal);
    let kept = limit.min(size) / size.max(least);
    // What is no number is forgotten.
    let known = |value: L::V| value.max(zero - value).where_less(lanes.splat(MOST_DUAL), value, zero);
    (V3(pull.0.map(|value| known(value * kept))), known(normal))
}
