//! Where a chain's bones carry it: each node rigidly with one bone, or between two of them. There a chain goes whose bones
//! are elsewhere at once, and there it is laid anew; the twin of `shaders/bindings/carry.wgsl`.
//!
//! Between two bones a node goes where both would have it, each by a share. Round the outside of a bend that is right: it
//! keeps its distance from the joint. Round the inside it would be drawn into the joint, and past the muscle's end where that
//! is near: there a muscle goes straight from the last section that the one bone carries alone to the first that the next one
//! does (`chord`).
//!
//! A chain whose bones are elsewhere at the frame's start than where they ended the last one keeps its shape and its motion
//! against them: with C the carried pose of a node, C′ where the bones are now, the node goes from x to C′C⁻¹x, and its
//! velocities turn with it. Where bones are elsewhere against each other that would tear it, and it is laid anew.

#![allow(clippy::needless_range_loop, reason = "entries are indexed as in the layout")]

use super::check_health::WITHIN_REACH;
use super::group::{Group, GroupRest, unpadded};
use super::lanes::{Entry, Lane, Lanes, apart};
use super::math::{Quaternion, V3};
use super::predict::rigid_motion;
use crate::layout::{MAX_BONES, POSE, chain, input, node, rest};
use crate::step::StepParams;

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
    let first = bone_of_slot(lanes, rest, bones, slot);
    let second = bone_of_slot(lanes, rest, bones, slot + one);
    let origin = |bone: &[L::V; POSE]| V3([bone[0], bone[1], bone[2]]);
    let on = |bone: &[L::V; POSE], local: usize| {
        let frame = Quaternion([bone[3], bone[4], bone[5], bone[6]]);
        origin(bone) + frame.rotate(lanes, V3::load(lanes, rest_row, local))
    };
    let (from, to) = (on(&first, rest::CHORD_PLACE), on(&second, rest::CHORD_NEXT));
    let share = lanes.load(&rest_row[rest::CHORD_SHARE]);
    let straight = from + (to - from) * share;
    let joint = origin(&first).or(lanes, origin(&second), lanes.load(&rest_row[rest::CHORD_JOINT]));
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

/// Brings the chains whose bones are elsewhere at the frame's start there.
#[inline(always)]
pub(super) fn teleport<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let teleports = lanes.load(&group.inputs[input::TELEPORT]);
    let goes = half.where_less(teleports, one, zero);
    let mut turn_before = None;
    for index in 0..group.rest.node_count {
        let (old_place, old_frame) = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index);
        let (new_place, new_frame) = carried(lanes, group.rest, &group.inputs[input::BONE_FROM..], index);
        let turn = new_frame.product(old_frame.conjugate());
        let turn = turn_before.map_or(turn, |before| turn.beside(lanes, before));
        turn_before = Some(turn);
        let row = group.row_mut(index);
        let place = V3::load(lanes, row, node::PLACE);
        let there = new_place + turn.rotate(lanes, place - old_place);
        place.or(lanes, there, goes).store(lanes, row, node::PLACE);
        let frame = Quaternion::load(lanes, row, node::FRAME);
        frame.or(lanes, turn.product(frame).normalised(lanes), goes).store(lanes, row, node::FRAME);
        for entry in [node::VELOCITY, node::SPIN] {
            let motion = V3::load(lanes, row, entry);
            motion.or(lanes, turn.rotate(lanes, motion), goes).store(lanes, row, entry);
        }
        for entry in [node::CONTACT_STIFFNESS, node::FRICTION_LIMIT] {
            lanes.store(goes.where_less(half, lanes.at(row, entry), zero), &mut row[entry]);
        }
    }
    let torn = lanes.splat(1.5).where_less(teleports, one, zero);
    if lanes.any(torn) {
        apart!(lanes, lay(lanes, params, group, input::BONE_FROM, torn));
    }
    for entry in 0..MAX_BONES * POSE {
        let from = lanes.at(group.inputs, input::BONE_FROM + entry);
        for pose in [chain::BONE_OLDER, chain::BONE_PREV, chain::BONE_NOW] {
            let kept = lanes.at(group.chains, pose + entry);
            lanes.store(goes.where_less(half, kept, from), &mut group.chains[pose + entry]);
        }
    }
    let history = lanes.load(&group.chains[chain::HISTORY]);
    lanes.store(goes.where_less(half, history, zero), &mut group.chains[chain::HISTORY]);
}

/// Lays the flagged chains anew where their bones carry them at the frame's start or end, whichever is stored `at`, with
/// the bones' mean motion in the frame as their velocity and no stretch.
///
/// A free chain goes where its mass is, as fast as that, turned as its first node; where these are no longer anywhere, where
/// the root carries it.
#[inline(always)]
pub(super) fn lay<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>, at: usize, flag: L::V) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let inv_frame = lanes.splat(1.0 / params.frame);
    let adrift = if group.rest.has_free_chain { Some(apart!(lanes, adrift(lanes, group, at))) } else { None };
    let mut frame_before = None;
    for index in 0..group.rest.node_count {
        let (mut place, mut frame) = carried(lanes, group.rest, &group.inputs[at..], index);
        let from = carried(lanes, group.rest, &group.inputs[input::BONE_FROM..], index);
        let to = carried(lanes, group.rest, &group.inputs[input::BONE_TO..], index);
        let mut velocity = (to.0 - from.0) * inv_frame;
        let mut spin = from.1.turn_on(lanes, to.1) * inv_frame;
        if let Some(adrift) = &adrift {
            let there = adrift.centre + adrift.turn.rotate(lanes, place - adrift.carried_centre);
            place = place.or(lanes, there, adrift.flag);
            frame = frame.or(lanes, adrift.turn.product(frame).normalised(lanes), adrift.flag);
            velocity = velocity.or(lanes, adrift.velocity, adrift.free);
            spin = spin.or(lanes, V3([zero; 3]), adrift.free);
        }
        let frame = frame_before.map_or(frame, |before| frame.beside(lanes, before));
        frame_before = Some(frame);
        let row = group.row_mut(index);
        for entry in [node::PLACE, node::PREV_PLACE] {
            V3::load(lanes, row, entry).or(lanes, place, flag).store(lanes, row, entry);
        }
        for entry in [node::FRAME, node::PREV_FRAME, node::PREDICTED_FRAME] {
            Quaternion::load(lanes, row, entry).or(lanes, frame, flag).store(lanes, row, entry);
        }
        for entry in [node::VELOCITY, node::OLDER_VELOCITY] {
            V3::load(lanes, row, entry).or(lanes, velocity, flag).store(lanes, row, entry);
        }
        for entry in [node::SPIN, node::OLDER_SPIN] {
            V3::load(lanes, row, entry).or(lanes, spin, flag).store(lanes, row, entry);
        }
        for entry in [node::MOVED, node::PREDICTED_MOVE, node::OLDER_MOVE, node::OLDER_TURN] {
            V3::load(lanes, row, entry).or(lanes, V3([zero; 3]), flag).store(lanes, row, entry);
        }
        for entry in [node::SCALE, node::PREV_SCALE, node::PREDICTED_SCALE, node::PREV_FIBRE_STRETCH] {
            set(lanes, row, entry, one, flag);
        }
        for entry in [
            node::SCALE_RATE,
            node::OLDER_SCALE_RATE,
            node::OLDER_SCALING,
            node::CONTACT_OFFSET,
            node::CONTACT_STIFFNESS,
            node::FRICTION_LIMIT,
        ] {
            set(lanes, row, entry, zero, flag);
        }
        V3::load(lanes, row, node::CONTACT_NORMAL).or(lanes, V3([zero; 3]), flag).store(
            lanes,
            row,
            node::CONTACT_NORMAL,
        );
    }
    // What was known of the chain is no longer so.
    for (entry, value) in [
        (chain::HISTORY, zero),
        (chain::MEAN_STRETCH, one),
        (chain::START_POTENTIAL, zero),
        (chain::POTENTIAL, -one),
        (chain::ROUGH, zero),
        (chain::CALM, one),
        (chain::UNWELL, zero),
    ] {
        set(lanes, group.chains, entry, value, flag);
    }
}

/// Writes an entry where a flag is set.
#[inline(always)]
fn set<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], entry: usize, value: L::V, flag: L::V) {
    let kept = lanes.load(&row[entry]);
    lanes.store(flag.where_less(lanes.splat(0.5), kept, value), &mut row[entry]);
}

/// Where a free chain is laid anew.
struct Adrift<V> {
    /// 1 where the chain is free and its place is known.
    flag: V,
    /// 1 where the chain is free.
    free: V,
    centre: V3<V>,
    /// 0 where it is not known.
    velocity: V3<V>,
    /// Where the root carries the centre (m).
    carried_centre: V3<V>,
    /// From how the root carries it.
    turn: Quaternion<V>,
}

#[inline(always)]
fn adrift<L: Lanes>(lanes: L, group: &Group<L::Scalar>, at: usize) -> Adrift<L::V> {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let motion = rigid_motion(lanes, group);
    let (mut mass, mut moment) = (zero, V3([zero; 3]));
    for index in 0..group.rest.node_count {
        let m = unpadded(lanes, group, index, rest::MASS);
        mass = mass + m;
        moment = moment + carried(lanes, group.rest, &group.inputs[at..], index).0 * m;
    }
    let carried_centre = moment * (one / zero.where_less(mass, mass, one));
    let carried_frame = carried(lanes, group.rest, &group.inputs[at..], 0).1;
    let turn = Quaternion::load(lanes, group.row(0), node::FRAME).product(carried_frame.conjugate());
    let far = lanes.splat(WITHIN_REACH * WITHIN_REACH);
    let known = motion.centre.dot(motion.centre).where_less(far, one, zero);
    let known = known.min(motion.velocity.dot(motion.velocity).where_less(far, one, zero));
    let known = known.min(turn.dot(turn).where_less(lanes.splat(4.0), one, zero));
    let known = known.min(lanes.splat(0.25).where_less(turn.dot(turn), one, zero));
    let turn = turn.normalised(lanes);
    let hangs = lanes.load(&group.inputs[input::HANGS]);
    let free = hangs.where_less(half, one, zero);
    let still = V3([zero; 3]);
    Adrift {
        flag: known.min(free),
        free,
        centre: motion.centre,
        velocity: still.or(lanes, motion.velocity, known),
        carried_centre,
        turn,
    }
}
