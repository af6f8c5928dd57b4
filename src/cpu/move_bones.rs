//! Stage `move_bones`: where the bones and the nodes that they hold are at this substep's end; its twin is
//! `shaders/move_bones.wgsl`.

#![allow(clippy::needless_range_loop, reason = "entries are indexed as in the layout")]

use super::carry::carried;
use super::fascia::refer;
use super::group::{Group, goes_on, has_teleports};
use super::lanes::{Entry, Lane, Lanes, apart};
use super::lay::teleport;
use super::math::{Quaternion, V3};
use crate::layout::{MAX_BONES, POSE, chain, input, node, rest};
use crate::step::StepParams;

/// Interpolates the bones of every chain through the frame and sets the targets of the nodes that they hold; of those that they
/// carry, where fascia asks for them.
#[inline(always)]
pub fn move_bones<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    if params.first_substep != 0 {
        shift_origin(lanes, group);
        if has_teleports(group.inputs) {
            apart!(lanes, teleport(lanes, params, group));
        }
    }
    let alpha = lanes.splat(params.alpha);
    let (inputs, chains) = (group.inputs, &mut *group.chains);
    for slot in 0..MAX_BONES {
        let offset = slot * POSE;
        for entry in 0..POSE {
            let prev = lanes.load(&chains[chain::BONE_PREV + offset + entry]);
            lanes.store(prev, &mut chains[chain::BONE_OLDER + offset + entry]);
            let now = lanes.load(&chains[chain::BONE_NOW + offset + entry]);
            lanes.store(now, &mut chains[chain::BONE_PREV + offset + entry]);
        }
        let from = pose_at(lanes, inputs, input::BONE_FROM + offset);
        let to = pose_at(lanes, inputs, input::BONE_TO + offset);
        let (mut place, mut frame) = if slot == 0 {
            between(lanes, from, to, alpha)
        } else {
            // Against the bone before, about which it may turn: what is linked stays linked on the way.
            let before = offset - POSE;
            let from = against(lanes, pose_at(lanes, inputs, input::BONE_FROM + before), from);
            let to = against(lanes, pose_at(lanes, inputs, input::BONE_TO + before), to);
            let (place, frame) = between(lanes, from, to, alpha);
            let now = pose_at(lanes, chains, chain::BONE_NOW + before);
            (now.0 + now.1.rotate(lanes, place), now.1.product(frame).normalised(lanes))
        };
        if group.rest.has_free_chain {
            // What carries a free chain is not what it hangs on.
            let hangs = lanes.load(&inputs[input::HANGS]);
            place = V3::load(lanes, chains, chain::BONE_NOW + offset).or(lanes, place, hangs);
            frame = Quaternion::load(lanes, chains, chain::BONE_NOW + offset + 3).or(lanes, frame, hangs);
        }
        place.store(lanes, chains, chain::BONE_NOW + offset);
        frame.store(lanes, chains, chain::BONE_NOW + offset + 3);
    }
    for index in 0..group.rest.node_count {
        if group.rest.held[index] || group.rest.has_fascia && group.rest.carried[index] {
            set_target(lanes, group, index);
        }
    }
    if group.rest.has_fascia {
        apart!(lanes, refer(lanes, group));
    }
}

/// A pose of a row.
#[inline(always)]
fn pose_at<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], at: usize) -> (V3<L::V>, Quaternion<L::V>) {
    (V3::load(lanes, row, at), Quaternion::load(lanes, row, at + 3))
}

/// A pose in another one's frame.
#[inline(always)]
fn against<L: Lanes>(
    lanes: L,
    frame: (V3<L::V>, Quaternion<L::V>),
    pose: (V3<L::V>, Quaternion<L::V>),
) -> (V3<L::V>, Quaternion<L::V>) {
    let back = frame.1.conjugate();
    (back.rotate(lanes, pose.0 - frame.0), back.product(pose.1))
}

/// From one pose (α = 0) to another (α = 1).
#[inline(always)]
fn between<L: Lanes>(
    lanes: L,
    from: (V3<L::V>, Quaternion<L::V>),
    to: (V3<L::V>, Quaternion<L::V>),
    alpha: L::V,
) -> (V3<L::V>, Quaternion<L::V>) {
    (from.0 + (to.0 - from.0) * alpha, from.1.blend(lanes, to.1, alpha))
}

/// Where the bone that holds the node, or those that carry it, want it.
#[inline(always)]
fn set_target<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, index: usize) {
    let rest_row = group.rest.row(index);
    let (place, mut frame) = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index);
    if group.rest.turns[index] {
        let place_of = |node: usize| V3::load(lanes, group.row(node), node::PLACE);
        let here = place_of(index);
        let mut path = V3([lanes.splat(0.0); 3]);
        if index > 0 {
            path = path + (here - place_of(index - 1)).direction(lanes);
        }
        if index + 1 < group.rest.node_count {
            path = path + (place_of(index + 1) - here).direction(lanes) * goes_on(lanes, group.rest, index);
        }
        // Across the path that halves the angle of its two segments, tension is the same on both sides of a via point.
        frame = frame.or(lanes, frame.turned_along(lanes, path), lanes.load(&rest_row[rest::TURNS]));
    }
    let row = group.row_mut(index);
    place.store(lanes, row, node::TARGET_PLACE);
    frame.store(lanes, row, node::TARGET_FRAME);
}

/// Carries every place over to the chain's new origin; of what is elsewhere at once `teleport` does it.
#[inline(always)]
fn shift_origin<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    let origin = V3::load(lanes, group.inputs, input::ORIGIN);
    let shift = origin - V3::load(lanes, group.chains, chain::ORIGIN);
    origin.store(lanes, group.chains, chain::ORIGIN);
    let teleports = lanes.load(&group.inputs[input::TELEPORT]);
    let stays = lanes.splat(0.5).where_less(teleports, lanes.splat(0.0), lanes.splat(1.0));
    let shift = V3([lanes.splat(0.0); 3]).or(lanes, shift, stays);
    for pose in [chain::BONE_OLDER, chain::BONE_PREV, chain::BONE_NOW] {
        for slot in 0..MAX_BONES {
            move_by(lanes, group.chains, pose + slot * POSE, shift);
        }
    }
    for index in 0..group.rest.node_count {
        let row = group.row_mut(index);
        move_by(lanes, row, node::PLACE, shift);
    }
}

#[inline(always)]
fn move_by<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], at: usize, shift: V3<L::V>) {
    (V3::load(lanes, row, at) - shift).store(lanes, row, at);
}
