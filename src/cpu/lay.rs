//! What brings a chain where its bones are at once, and how it is laid anew along them; its twin is `shaders/bindings/lay.wgsl`.
//!
//! A chain whose bones are elsewhere at the frame's start than where they ended the last one keeps its shape and its motion
//! against them: with C the carried pose of a node, C′ where the bones are now, the node goes from x to C′C⁻¹x, and its
//! velocities turn with it; where it stayed behind while its bones moved on, it moves as they do. Where bones are elsewhere
//! against each other that would tear it, and it is laid anew.

use super::bodies::{Body, rigid_motion};
use super::carry::carried;
use super::check_health::WITHIN_REACH;
use super::group::{Group, forget_contacts, unpadded};
use super::lanes::{Entry, Lane, Lanes, apart};
use super::math::{Quaternion, V3};
use crate::layout::{MAX_BONES, POSE, chain, input, node, rest};
use crate::step::StepParams;

/// Brings the chains whose bones are elsewhere at the frame's start there.
#[inline(always)]
pub(super) fn teleport<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    let (zero, one, half) = (lanes.splat(0.0), lanes.splat(1.0), lanes.splat(0.5));
    let teleports = lanes.load(&group.inputs[input::TELEPORT]);
    let goes = half.where_less(teleports, one, zero);
    let joins = teleports.where_less(one, goes, zero);
    let inv_frame = lanes.splat(1.0 / params.frame);
    let mut turn_before = None;
    for index in 0..group.rest.node_count {
        let (old_place, old_frame) = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index);
        let (new_place, new_frame) = carried(lanes, group.rest, &group.inputs[input::BONE_FROM..], index);
        let turn = new_frame.product(old_frame.conjugate());
        let turn = match turn_before {
            Some(before) => turn.beside(lanes, before),
            None => turn,
        };
        turn_before = Some(turn);
        let row = group.row_mut(index);
        let place = V3::load(lanes, row, node::PLACE);
        let there = new_place + turn.rotate(lanes, place - old_place);
        place.or(lanes, there, goes).store(lanes, row, node::PLACE);
        let frame = Quaternion::load(lanes, row, node::FRAME);
        frame.or(lanes, turn.product(frame).normalised(lanes), goes).store(lanes, row, node::FRAME);
        let (place, frame) = carried(lanes, group.rest, &group.inputs[input::BONE_TO..], index);
        let of_bones = [(place - new_place) * inv_frame, new_frame.turn_on(lanes, frame) * inv_frame];
        let row = group.row_mut(index);
        for (entry, of_bones) in [node::VELOCITY, node::SPIN].into_iter().zip(of_bones) {
            let motion = V3::load(lanes, row, entry);
            let turned = turn.rotate(lanes, motion).or(lanes, of_bones, joins);
            motion.or(lanes, turned, goes).store(lanes, row, entry);
        }
    }
    forget_contacts(lanes, group, goes);
    let torn = lanes.splat(1.5).where_less(teleports, one, zero);
    if lanes.any(torn) {
        lay(lanes, params, group, input::BONE_FROM, torn);
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
    apart!(lanes, lay_flagged(lanes, params, group, at, flag));
}

/// See [`lay`].
#[inline(always)]
fn lay_flagged<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>, at: usize, flag: L::V) {
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
        let frame = match frame_before {
            Some(before) => frame.beside(lanes, before),
            None => frame,
        };
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
        for entry in [node::SCALE_RATE, node::OLDER_SCALE_RATE, node::OLDER_SCALING] {
            set(lanes, row, entry, zero, flag);
        }
    }
    forget_contacts(lanes, group, flag);
    for entry in group.reactions.iter_mut() {
        lanes.store(flag.where_less(lanes.splat(0.5), lanes.load(entry), zero), entry);
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
    let motion = rigid_motion(lanes, &Body::of(lanes, group));
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
