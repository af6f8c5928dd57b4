//! Stage `update_velocities`: velocities from the substep's motion; its twin is `shaders/update_velocities.wgsl`.
//!
//! Places: the velocity that `predict` left, and (moved − predicted move)/h̃ of what the solve added. The same as
//! moved/h or (3·moved − last move)/2h in exact arithmetic; in f32 h·(1/h) is not 1, and so each substep would take
//! or give a few 10⁻⁸ of a free chain's momentum.

use super::group::{Group, second_order, unpadded};
use super::lanes::{Lane, Lanes, each};
use super::math::{Quaternion, V3};
use super::solve_rods::ROUGH;
use crate::layout::{chain, contact, node, rest};
use crate::step::StepParams;

/// First order: rate = change/h. Second order (BDF2): rate = (3·change − last change)/2h.
#[inline(always)]
pub fn update_velocities<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let (one, half) = (lanes.splat(1.0), lanes.splat(0.5));
    let inv_h = lanes.splat(params.inv_h);
    let half_history = second_order(lanes, params, group) * half;
    let of_move = inv_h * (one + half_history);
    let of_older = inv_h * half_history;
    let calm = lanes.load(&group.chains[chain::CALM]);
    for index in 0..group.rest.node_count {
        let row = group.row_mut(index);
        let moved = V3::load(lanes, row, node::MOVED);
        let scaled = lanes.load(&row[node::SCALE]) - lanes.load(&row[node::PREV_SCALE]);
        let turned =
            Quaternion::load(lanes, row, node::PREV_FRAME).turn_on(lanes, Quaternion::load(lanes, row, node::FRAME));
        let solved = moved - V3::load(lanes, row, node::PREDICTED_MOVE);
        let velocity = V3::load(lanes, row, node::VELOCITY) + solved * of_move;
        let rate = scaled * of_move - lanes.load(&row[node::OLDER_SCALING]) * of_older;
        let spin = turned * of_move - V3::load(lanes, row, node::OLDER_TURN) * of_older;

        lanes.store(lanes.load(&row[node::SCALE_RATE]), &mut row[node::OLDER_SCALE_RATE]);
        V3::load(lanes, row, node::SPIN).store(lanes, row, node::OLDER_SPIN);
        moved.store(lanes, row, node::OLDER_MOVE);
        lanes.store(scaled, &mut row[node::OLDER_SCALING]);
        turned.store(lanes, row, node::OLDER_TURN);
        (velocity * calm).store(lanes, row, node::VELOCITY);
        lanes.store(rate * calm, &mut row[node::SCALE_RATE]);
        (spin * calm).store(lanes, row, node::SPIN);
    }
    let history = (lanes.load(&group.chains[chain::HISTORY]) + one).min(one);
    let mut rough = lanes.load(&group.chains[chain::ROUGH]);
    if params.bounces != 0 {
        rough = rough.max(bounce(lanes, group));
    }
    let history = rough.where_less(half, history, lanes.splat(-ROUGH * params.inv_h));
    lanes.store(history, &mut group.chains[chain::HISTORY]);
}

/// What half-spaces and solids pressed leaves them as fast as it is to bounce; 1 where anything did, else 0. Row by row, by an impulse
/// on the nodes of the row's segment.
#[inline(always)]
fn bounce<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) -> L::V
where
    L::Scalar: Into<f64>,
{
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let mut bounced = zero;
    for slot in 0..group.contacts.len() / contact::ENTRIES {
        let row = &group.contacts[slot * contact::ENTRIES..][..contact::ENTRIES];
        let presses = lanes.load(&row[contact::DUAL]).min(lanes.load(&row[contact::STIFFNESS]));
        let wanted = zero.where_less(presses, lanes.load(&row[contact::BOUNCE]), zero);
        let bounces = zero.where_less(wanted * wanted, one, zero);
        if !lanes.any(bounces) {
            continue;
        }
        let direction = V3::load(lanes, row, contact::DIRECTION);
        let along = lanes.load(&row[contact::ALONG]);
        let first: usize = row[contact::SEGMENT][0].into() as usize;
        let nodes = [first, (first + 1).min(group.rest.node_count - 1)];
        let shares = [one - along, along];
        let mobilities = each!(k in 0..2 => {
            let mass = unpadded(lanes, group, nodes[k], rest::MASS).max(lanes.splat(f32::MIN_POSITIVE));
            shares[k] * lanes.load(&group.rest.row(nodes[k])[rest::FREE_PLACE]) / mass
        });
        let velocities = each!(k in 0..2 => V3::load(lanes, group.row(nodes[k]), node::VELOCITY));
        let leaves = direction.dot(velocities[0] * shares[0] + velocities[1] * shares[1]);
        let missing = (wanted - leaves).max(zero) * bounces;
        let mobility = mobilities[0] * shares[0] + mobilities[1] * shares[1];
        let impulse = zero.where_less(mobility, missing / mobility.max(lanes.splat(f32::MIN_POSITIVE)), zero);
        bounced = zero.where_less(impulse, one, bounced);
        for (node, mobility) in nodes.into_iter().zip(mobilities) {
            let given = direction * (impulse * mobility);
            let row = group.row_mut(node);
            (V3::load(lanes, row, node::VELOCITY) + given).store(lanes, row, node::VELOCITY);
        }
    }
    bounced
}
