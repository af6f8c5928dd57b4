//! Where a chain's bones carry it: each node rigidly with one bone, or between two of them; its twin is
//! `shaders/bindings/carry.wgsl`, in `lay.wgsl` of the poses that the host gives.
//!
//! Between two bones a node goes where both would have it, each by a share. Round the outside of a bend that is right: it
//! keeps its distance from the joint. Round the inside it would be drawn into the joint, and past the muscle's end where that
//! is near: there a muscle goes straight from the last section that the one bone carries alone to the first that the next one
//! does (`chord`).

#![allow(clippy::needless_range_loop, reason = "entries are indexed as in the layout")]

use super::group::GroupRest;
use super::lanes::{Entry, Lane, Lanes, apart, each};
use super::math::{Quaternion, V3};
use crate::layout::{POSE, rest};

/// Where bones carry a node: the poses that `bones` begins with, by slot.
#[inline(always)]
pub(super) fn carried<L: Lanes>(
    lanes: L,
    rest: &GroupRest<L::Scalar>,
    bones: &[Entry<L::Scalar>],
    index: usize,
) -> (V3<L::V>, Quaternion<L::V>) {
    apart!(lanes, by_bones(lanes, rest, bones, index))
}

#[inline(always)]
fn by_bones<L: Lanes>(
    lanes: L,
    rest: &GroupRest<L::Scalar>,
    bones: &[Entry<L::Scalar>],
    index: usize,
) -> (V3<L::V>, Quaternion<L::V>) {
    let rest_row = rest.row(index);
    let (slot, turn_slot) = (lanes.load(&rest_row[rest::HOLD_SLOT]), lanes.load(&rest_row[rest::TURN_SLOT]));
    let (mut place, mut frame) = on_bone(lanes, rest, bones, [slot, turn_slot], &rest_row[rest::HOLD_PLACE..]);
    if rest.bone_count > 1 {
        let along = (lanes.load(&rest_row[rest::BONE_BLEND]) - slot).max(lanes.splat(0.0));
        let next_slot = slot + lanes.splat(1.0);
        let next_turn_slot = lanes.load(&rest_row[rest::NEXT_TURN_SLOT]);
        let next = on_bone(lanes, rest, bones, [next_slot, next_turn_slot], &rest_row[rest::NEXT_PLACE..]);
        place = place + (next.0 - place) * along;
        frame = frame.blend(lanes, next.1, along);
        if rest.has_chords {
            place = chord(lanes, rest, bones, rest_row, place);
        }
    }
    (place, frame)
}

/// By how much farther from the joint, over its distance squared, a node goes all the way straight.
pub const OFF_JOINT: f32 = 0.25;

/// The place of a node that two bones carry, straight between what each carries alone as far as that is farther from the joint
/// than `place`.
#[inline(always)]
fn chord<L: Lanes>(
    lanes: L,
    rest: &GroupRest<L::Scalar>,
    bones: &[Entry<L::Scalar>],
    rest_row: &[Entry<L::Scalar>],
    place: V3<L::V>,
) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let slot = lanes.load(&rest_row[rest::HOLD_SLOT]);
    let ends = [bone_of_slot(lanes, rest, bones, slot), bone_of_slot(lanes, rest, bones, slot + one)];
    let origins = each!(end in 0..2 => V3([ends[end][0], ends[end][1], ends[end][2]]));
    let [from, to] = each!(end in 0..2 => {
        let frame = Quaternion([ends[end][3], ends[end][4], ends[end][5], ends[end][6]]);
        let local = [rest::CHORD_PLACE, rest::CHORD_NEXT][end];
        origins[end] + frame.rotate(lanes, V3::load(lanes, rest_row, local))
    });
    let share = lanes.load(&rest_row[rest::CHORD_SHARE]);
    let straight = from + (to - from) * share;
    let joint = origins[0].or(lanes, origins[1], lanes.load(&rest_row[rest::CHORD_JOINT]));
    let (far, near) = (straight - joint, place - joint);
    let near2 = near.dot(near);
    let farther = (far.dot(far) - near2) / (near2 * lanes.splat(OFF_JOINT)).max(lanes.splat(f32::MIN_POSITIVE));
    let off = zero.where_less(share, farther.clamp(zero, one), zero);
    place + (straight - place) * off
}

/// The pose that bones give a node: from the first one's origin, in the second one's frame, that which `local` begins with.
#[inline(always)]
fn on_bone<L: Lanes>(
    lanes: L,
    rest: &GroupRest<L::Scalar>,
    bones: &[Entry<L::Scalar>],
    [slot, turn_slot]: [L::V; 2],
    local: &[Entry<L::Scalar>],
) -> (V3<L::V>, Quaternion<L::V>) {
    let (bone, turn) = (bone_of_slot(lanes, rest, bones, slot), bone_of_slot(lanes, rest, bones, turn_slot));
    let frame = Quaternion([turn[3], turn[4], turn[5], turn[6]]);
    let place = V3([bone[0], bone[1], bone[2]]) + frame.rotate(lanes, V3::load(lanes, local, 0));
    (place, frame.product(Quaternion::load(lanes, local, 3)).normalised(lanes))
}

/// One of the poses that `bones` begins with, by each chain's own slot.
#[inline(always)]
pub(super) fn bone_of_slot<L: Lanes>(
    lanes: L,
    rest: &GroupRest<L::Scalar>,
    bones: &[Entry<L::Scalar>],
    slot: L::V,
) -> [L::V; POSE] {
    let last = rest.bone_count - 1;
    let mut pose = [lanes.splat(0.0); POSE];
    for entry in 0..POSE {
        pose[entry] = lanes.load(&bones[last * POSE + entry]);
        for below in (0..last).rev() {
            let this = lanes.load(&bones[below * POSE + entry]);
            pose[entry] = slot.where_less(lanes.splat(below as f32 + 0.5), this, pose[entry]);
        }
    }
    pose
}
