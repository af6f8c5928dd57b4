//! Fascia: each section is tied softly to the path along which bones carry its muscle, and flesh that bones let in rests there;
//! its twin is `shaders/bindings/fascia.wgsl`.
//!
//! Muscle bears tension along its fibres and hardly any compression: let in, it shortens and thickens in its bed. So the
//! strains at which a segment bears no stress are those of the path on which its bones carry it (`refer`): bent as that
//! path, and as much shorter than at rest as the whole chain's path is, if it is; thicker by what keeps the volume. A path
//! that is longer than at rest stretches the muscle.
//!
//! The tie ½k₀|x − x̄|² + ½k|P(x − x̄)|², P across the muscle, bears the flesh's weight by k₀ and its tension where the path
//! is bent by k: in proportion to that tension, so that a muscle stays in its bed at any activation. Flesh that has grown to
//! its bones is tied to where these carry just this section. Muscle that slides holds on to the bed, not to a place in it: x̄
//! is the point of the path nearest to where the section was at the substep's start (`bed_of`). Else it would pull on the
//! bends of its bed instead of its insertion.
//!
//! The path is that of carried sections: straight round the inside of a bend (`carry`), and where bones fold it
//! all the same, between a section's neighbours (`unfold`).

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::group::{Group, goes_on};
use super::holds::across;
use super::lanes::{Entry, Lane, Lanes, each, unrolled};
use super::math::{Quaternion, V3};
use super::rod_energies::{Mat7, Vec7};
use super::strains::{Section, measure};
use crate::layout::{input, node, rest};

/// By how much more than its bones a muscle lets itself in: so that it hangs by a trace of tension, and is hardly ever pressed.
pub const TRACE: f32 = 0.02;

/// The least share of its length that a segment is let in to.
pub const LEAST_LENGTH: f32 = 0.1;

/// Muscle may slide along its bed by one in so many of its segments.
pub const SLIDE: usize = 3;

/// The cosine of the angle to which a muscle goes along its bed: one that lies across is pulled into it.
pub const ALONG: f32 = 0.5;

/// One over minus the cosine of the turn of a path at which a section goes all the way between its neighbours.
pub const FOLD: f32 = 2.0;

/// Farther (m²) than any node is from its bed.
pub const FARTHEST2: f32 = 1.0e30;

/// Sets the strains at which each segment bears no stress, and how firmly each node is tied.
#[inline(always)]
pub(super) fn refer<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let count = group.rest.node_count;
    if group.rest.has_beds {
        (1..count - 1).for_each(|index| unfold(lanes, group, index));
    }

    // What the path is longer than at rest by, and what of the chain can take it.
    let (mut path_length, mut whole, mut giving) = (zero, zero, zero);
    for index in 0..count - 1 {
        let rest_row = group.rest.row(index);
        let inv_length = lanes.at(rest_row, rest::INV_LENGTH);
        let length = zero.where_less(inv_length, one / inv_length, zero);
        let path = chord_of(lanes, group, index);
        path_length = path_length + zero.where_less(inv_length, path.dot(path).sqrt(), zero);
        whole = whole + length;
        giving = giving + length * lanes.at(rest_row, rest::LETS_IN);
    }
    let longer = (path_length - whole) / zero.where_less(giving, giving, one);
    let let_in = longer.min(zero) * lanes.splat(1.0 + TRACE);
    let taut = longer.max(zero);

    let activation = lanes.load(&group.inputs[input::ACTIVATION]);
    let mut here = carried(lanes, group, 0);
    for index in 0..count {
        let rest_row = group.rest.row(index);
        let tie = lanes.at(rest_row, rest::FASCIA_TAUT) * taut + lanes.at(rest_row, rest::FASCIA_ACTIVE) * activation;
        lanes.store(tie, &mut group.row_mut(index)[node::TIE]);
        if index + 1 == count {
            break;
        }
        let next = carried(lanes, group, index + 1);
        let next = Section { frame: next.frame.beside(lanes, here.frame), ..next };
        let path = measure(lanes, here, next, lanes.at(rest_row, rest::INV_LENGTH));
        let share = (one + let_in * lanes.at(rest_row, rest::LETS_IN)).max(lanes.splat(LEAST_LENGTH));
        let follows = lanes.at(rest_row, rest::FOLLOWS);

        let built = V3::load(lanes, rest_row, rest::BUILT_STRAIN);
        let slope = built.or(lanes, path.strain.direction(lanes), follows) * share;
        let strain = V3::load(lanes, rest_row, rest::STRAIN) + (slope - built);
        // As thick as keeps the volume.
        let least = lanes.splat(LEAST_LENGTH);
        let scale = (lanes.at(rest_row, rest::STRETCH).max(least) / slope.0[2].max(least)).sqrt();
        let built = V3::load(lanes, rest_row, rest::BUILT_DARBOUX);
        let bend = built.or(lanes, path.darboux, follows) * scale;
        let darboux = V3::load(lanes, rest_row, rest::DARBOUX) + (bend - built);

        let scale = lanes.at(rest_row, rest::SCALE) * scale;
        let row = group.row_mut(index);
        strain.store(lanes, row, node::REFERENCE_STRAIN);
        darboux.store(lanes, row, node::REFERENCE_DARBOUX);
        lanes.store(scale, &mut row[node::REFERENCE_SCALE]);
        here = next;
    }
    let slides = lanes.at(group.rest.row(0), rest::SLIDES_IN_BED);
    let mut at = zero;
    for index in 0..count {
        let mut lies = own_place(lanes, group, index);
        if group.rest.has_beds {
            let bed = bed_of(lanes, group, index, at);
            lies = Bed {
                place: lies.place.or(lanes, bed.place, slides),
                path: lies.path.or(lanes, bed.path, slides),
                ..bed
            };
        }
        let row = group.row_mut(index);
        lies.place.store(lanes, row, node::BED);
        lies.path.store(lanes, row, node::BED_PATH);
        at = lies.at;
    }
}

/// Where a section lies in its bed.
struct Bed<V> {
    place: V3<V>,
    /// The direction in which it may slide there.
    path: V3<V>,
    /// How many segments along the path that is.
    at: V,
}

/// Where bones carry a section, and the direction of the path there.
#[inline(always)]
fn own_place<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Bed<L::V> {
    let place = target_place(lanes, group, index);
    let mut path = V3([lanes.splat(0.0); 3]);
    if index > 0 {
        path = path + chord_of(lanes, group, index - 1).direction(lanes);
    }
    if index + 1 < group.rest.node_count {
        path = path + chord_of(lanes, group, index).direction(lanes) * goes_on(lanes, group.rest, index);
    }
    Bed { place, path: path.direction(lanes), at: lanes.splat(index as f32) }
}

/// Where bones that are bent far carry a node beyond the muscle's end, so that the path folds there, it goes between its
/// neighbours instead.
#[inline(always)]
fn unfold<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, index: usize) {
    let (zero, half, one) = (lanes.splat(0.0), lanes.splat(0.5), lanes.splat(1.0));
    let [before, here, after] = each!(k in 0..3 => target_place(lanes, group, index + k - 1));
    let cosine = (here - before).direction(lanes).dot((after - here).direction(lanes));
    let folded = (cosine * lanes.splat(-FOLD)).clamp(zero, one) * lanes.at(group.rest.row(index), rest::UNFOLDS);
    let place = here + ((before + after) * half - here) * folded;
    place.store(lanes, group.row_mut(index), node::TARGET_PLACE);
}

/// The point nearest to a node on the path along which bones carry its chain, as far from its own as that may slide, and not
/// before `least`, where the node before lies.
#[inline(always)]
fn bed_of<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, least: L::V) -> Bed<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let segments = group.rest.node_count - 1;
    let place = V3::load(lanes, group.row(index), node::PLACE);
    let slide = lanes.at(group.rest.row(0), rest::SLIDES_IN_BED);
    // As far as any lane's chain may.
    let farthest = segments.div_ceil(SLIDE);
    let first = index.saturating_sub(farthest).min(segments - 1);
    let mut here = chord_of(lanes, group, first).direction(lanes);
    let mut before = if first > 0 { chord_of(lanes, group, first - 1).direction(lanes) } else { here };
    let (mut nearest2, mut bed, mut path) = (lanes.splat(FARTHEST2), target_place(lanes, group, index), here);
    let own = lanes.splat(index as f32);
    let mut at = own.max(least);
    for k in first..(index + farthest).min(segments) {
        let mut after = here;
        if k + 1 < segments {
            let next = chord_of(lanes, group, k + 1).direction(lanes);
            after = here.or(lanes, next, goes_on(lanes, group.rest, k + 1));
        }
        let (origin, along) = (target_place(lanes, group, k), chord_of(lanes, group, k));
        let start = lanes.splat(k as f32);
        let length2 = along.dot(along).max(lanes.splat(f32::MIN_POSITIVE));
        let share = ((place - origin).dot(along) / length2).max(least - start).clamp(zero, one);
        let point = origin + along * share;
        let off = place - point;
        let off2 = off.dot(off);
        let may = goes_on(lanes, group.rest, k).min((start + one).where_less(least, zero, one));
        let may = may.min(start.where_less(own - slide, zero, one)).min(start.where_less(own + slide, one, zero));
        let nearer = may.min(off2.where_less(nearest2, one, zero));
        bed = bed.or(lanes, point, nearer);
        path = path.or(lanes, (before + here) * (one - share) + (here + after) * share, nearer);
        at = nearer.where_less(lanes.splat(0.5), at, start + share);
        nearest2 = nearer.where_less(lanes.splat(0.5), nearest2, off2);
        (before, here) = (here, after);
    }
    let path = path.direction(lanes);
    if index == 0 || index == segments {
        return Bed { place: bed, path, at };
    }
    // What presses on a muscle presses across the muscle, and leaves it its tension.
    let [behind, ahead] = each!(k in 0..2 => V3::load(lanes, group.row(index + 2 * k - 1), node::PLACE));
    let own = ((ahead - place).direction(lanes) + (place - behind).direction(lanes)).direction(lanes);
    let along = lanes.splat(ALONG).where_less(own.dot(path), goes_on(lanes, group.rest, index), zero);
    Bed { place: bed, path: path.or(lanes, own, along), at }
}

/// From where bones carry a node to where they carry the next (m).
#[inline(always)]
fn chord_of<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> V3<L::V> {
    target_place(lanes, group, index + 1) - target_place(lanes, group, index)
}

#[inline(always)]
fn target_place<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> V3<L::V> {
    V3::load(lanes, group.row(index), node::TARGET_PLACE)
}

/// Where its bones carry a section, its frame turned the shortest way so that its w halves the angle of the carried path; not
/// where a bone holds it, nor at an end.
#[inline(always)]
fn carried<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize) -> Section<L::V> {
    let place = target_place(lanes, group, index);
    let mut frame = Quaternion::load(lanes, group.row(index), node::TARGET_FRAME);
    if index > 0 && index + 1 < group.rest.node_count {
        let (before, after) = (target_place(lanes, group, index - 1), target_place(lanes, group, index + 1));
        let turned = frame.turned_along(lanes, (place - before).direction(lanes) + (after - place).direction(lanes));
        let turns = lanes.load(&group.rest.row(index)[rest::FREE_FRAME]).min(goes_on(lanes, group.rest, index));
        frame = frame.or(lanes, turned, turns);
    }
    Section { place, scale: lanes.splat(1.0), frame }
}

/// The tie's potential (J) of a node that has moved so far in the substep (m).
#[inline(always)]
pub(super) fn tie_potential<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    moved: V3<L::V>,
) -> L::V {
    let off = off_bed(lanes, row, moved);
    let off_path = across(off, V3::load(lanes, row, node::BED_PATH));
    let (soft, tie) = (lanes.at(rest_row, rest::FASCIA), lanes.load(&row[node::TIE]));
    lanes.splat(0.5) * (soft * off.dot(off) + tie * off_path.dot(off_path))
}

/// How far a node is from its bed (m), when it has moved so far in the substep (m).
#[inline(always)]
fn off_bed<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], moved: V3<L::V>) -> V3<L::V> {
    V3::load(lanes, row, node::PREV_PLACE) - V3::load(lanes, row, node::BED) + moved
}

/// The tie's part of the node's system.
#[inline(always)]
pub(crate) fn add_tie<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    block: &mut Mat7<L::V>,
    rhs: &mut Vec7<L::V>,
) {
    let (soft, tie) = (lanes.at(rest_row, rest::FASCIA), lanes.load(&row[node::TIE]));
    let w = V3::load(lanes, row, node::BED_PATH);
    let off = off_bed(lanes, row, V3::load(lanes, row, node::MOVED));
    let pull = off * soft + across(off, w) * tie;
    unrolled!(for i in 0..3 {
        rhs[i] = rhs[i] - pull.0[i];
        for k in 0..=i {
            block[i][k] = block[i][k] - tie * w.0[i] * w.0[k];
        }
        block[i][i] = block[i][i] + (soft + tie);
    });
}
