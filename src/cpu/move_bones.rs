//! Stage `move_bones`: where the bones and the nodes that they hold are at this substep's end; its twin is
//! `shaders/move_bones.wgsl`.

use super::group::Group;
use super::lanes::{Entry, Lane, Lanes};
use super::math::{Quaternion, V3};
use crate::layout::{POSE, chain, input, node, rest};
use crate::step::StepParams;

/// Interpolates both bones of every chain through the frame and sets the targets of the nodes that they hold or carry.
#[inline(always)]
pub fn move_bones<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    if params.first_substep != 0 {
        shift_origin(lanes, group);
    }
    let alpha = lanes.splat(params.alpha);
    let (inputs, chains) = (group.inputs, &mut *group.chains);
    for slot in 0..2 {
        let offset = slot * POSE;
        for entry in 0..POSE {
            let prev = lanes.load(&chains[chain::BONE_PREV + offset + entry]);
            lanes.store(prev, &mut chains[chain::BONE_OLDER + offset + entry]);
            let now = lanes.load(&chains[chain::BONE_NOW + offset + entry]);
            lanes.store(now, &mut chains[chain::BONE_PREV + offset + entry]);
        }
        let (from, to) = (input::BONE_FROM + offset, input::BONE_TO + offset);
        let place = V3::load(lanes, inputs, from);
        let place = place + (V3::load(lanes, inputs, to) - place) * alpha;
        let frame =
            Quaternion::load(lanes, inputs, from + 3).blend(lanes, Quaternion::load(lanes, inputs, to + 3), alpha);
        place.store(lanes, chains, chain::BONE_NOW + offset);
        frame.store(lanes, chains, chain::BONE_NOW + offset + 3);
    }
    for index in 0..group.rest.node_count {
        if group.rest.carried[index] {
            set_target(lanes, group, index);
        }
    }
}

/// Where the bone that holds or carries the node wants it.
#[inline(always)]
fn set_target<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, index: usize) {
    let rest_row = group.rest.row(index);
    let half = lanes.splat(0.5);
    let slot = lanes.load(&rest_row[rest::HOLD_SLOT]);
    let first = chain::BONE_NOW;
    let second = chain::BONE_NOW + POSE;
    let chains = &*group.chains;
    let pick =
        |entry: usize| slot.where_less(half, lanes.load(&chains[first + entry]), lanes.load(&chains[second + entry]));
    let bone_place = V3([pick(0), pick(1), pick(2)]);
    let bone_frame = Quaternion([pick(3), pick(4), pick(5), pick(6)]);
    let place = bone_place + bone_frame.rotate(lanes, V3::load(lanes, rest_row, rest::HOLD_PLACE));
    let frame = bone_frame.product(Quaternion::load(lanes, rest_row, rest::HOLD_FRAME)).normalised(lanes);
    let row = group.row_mut(index);
    place.store(lanes, row, node::TARGET_PLACE);
    frame.store(lanes, row, node::TARGET_FRAME);
}

/// Carries every place over to the chain's new origin.
#[inline(always)]
fn shift_origin<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    let shift = V3::load(lanes, group.inputs, input::ORIGIN_SHIFT);
    for pose in [chain::BONE_OLDER, chain::BONE_PREV, chain::BONE_NOW] {
        for slot in 0..2 {
            move_by(lanes, group.chains, pose + slot * POSE, shift);
        }
    }
    for index in 0..group.rest.node_count {
        let row = group.row_mut(index);
        move_by(lanes, row, node::PLACE, shift);
        let along = V3::load(lanes, row, node::CONTACT_NORMAL).dot(shift);
        lanes.store(lanes.at(row, node::CONTACT_OFFSET) - along, &mut row[node::CONTACT_OFFSET]);
    }
}

#[inline(always)]
fn move_by<L: Lanes>(lanes: L, row: &mut [Entry<L::Scalar>], at: usize, shift: V3<L::V>) {
    (V3::load(lanes, row, at) - shift).store(lanes, row, at);
}
