//! Stage `update_velocities`: velocities from the substep's motion; its twin is `shaders/update_velocities.wgsl`.
//!
//! Places: the velocity that `predict` left, and (moved − predicted move)/h̃ of what the solve added. The same as
//! moved/h or (3·moved − last move)/2h in exact arithmetic; in f32 h·(1/h) is not 1, and so each substep would take
//! or give a few 10⁻⁸ of a free chain's momentum. Frames likewise, up to a quarter turn a substep, by the turn from the predicted one,
//! which the solve's torque is for: what passes left out of a chain's momentum, which [`settle`](super::settle) adds to both, thus stays.
//! What turns by more is told by how far it turned. Free chains keep their momentum and angular momentum, see `bodies.rs`.
//!
//! What others and a wall have crushed is let go within one substep, by as much as it is deep: of a chain that meets others no solve makes
//! a node faster by more than [`MOST_GAIN`]. Where it goes is as solved, so that nothing stays in a wall; only what it flies on with is less.

use super::bodies::{carried_over, keep_momenta, momenta_before};
use super::contact_rows::MOST_DUAL;
use super::group::{Group, second_order};
use super::lanes::{Lane, Lanes, apart, each};
use super::math::{LEAST_DIVISOR, MOST_TURN2, Quaternion, V3};
use super::solve_rods::ROUGH;
use crate::layout::{chain, contact, node};
use crate::step::StepParams;

/// By how much the solve of one substep makes a node faster at most (m/s), of what meets others, see the module.
pub const MOST_GAIN: f32 = 12.0;

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
    let [calm, meets] = each!(of in 0..2 => lanes.load(&group.chains[[chain::CALM, chain::MEETS][of]]));
    let keeps = group.rest.has_free_chain && !group.rest.is_in_tree();
    let before = if keeps { Some(apart!(lanes, momenta_before(lanes, group))) } else { None };
    for index in 0..group.rest.node_count {
        let row = group.row(index);
        let moved = V3::load(lanes, row, node::MOVED);
        let (scale, prev_scale) = (lanes.load(&row[node::SCALE]), lanes.load(&row[node::PREV_SCALE]));
        let scaled = scale - prev_scale;
        let from = Quaternion::load(lanes, row, node::PREV_FRAME);
        let frame = Quaternion::load(lanes, row, node::FRAME);
        let turned = from.turn_on(lanes, frame);
        let predicted = Quaternion::load(lanes, row, node::PREDICTED_FRAME);
        let solved_turn = predicted.turn_on(lanes, frame);
        let solved = moved - V3::load(lanes, row, node::PREDICTED_MOVE);
        let was = V3::load(lanes, row, node::VELOCITY);
        let velocity = was + solved * of_move;
        let most = was.length() + lanes.splat(MOST_GAIN);
        let speed2 = velocity.dot(velocity);
        let kept = (most * most).where_less(speed2, most / speed2.sqrt(), one);
        let velocity = velocity * half.where_less(meets, kept, one);
        let rate = scaled * of_move - lanes.load(&row[node::OLDER_SCALING]) * of_older;
        let told = turned * of_move - V3::load(lanes, row, node::OLDER_TURN) * of_older;
        let foreseen = V3::load(lanes, row, node::SPIN);
        let spin = carried_over(lanes, [&predicted, &frame], foreseen + solved_turn * of_move);
        // What swells has more inertia by the square.
        let grown = prev_scale / scale.max(lanes.splat(LEAST_DIVISOR));
        let spin = spin * (grown * grown);
        let fastest2 = foreseen.dot(foreseen).max(spin.dot(spin));
        let most2 = inv_h * inv_h * lanes.splat(MOST_TURN2);
        let spin = V3(each!(k in 0..3 => fastest2.where_less(most2, spin.0[k], told.0[k])));

        let row = group.row_mut(index);
        lanes.store(lanes.load(&row[node::SCALE_RATE]), &mut row[node::OLDER_SCALE_RATE]);
        moved.store(lanes, row, node::OLDER_MOVE);
        lanes.store(scaled, &mut row[node::OLDER_SCALING]);
        turned.store(lanes, row, node::OLDER_TURN);
        (velocity * calm).store(lanes, row, node::VELOCITY);
        lanes.store(rate * calm, &mut row[node::SCALE_RATE]);
        (spin * calm).store(lanes, row, node::SPIN);
    }
    if let Some(before) = &before {
        apart!(lanes, keep_momenta(lanes, params, group, before));
    }
    let history = (lanes.load(&group.chains[chain::HISTORY]) + one).min(one);
    let rough = lanes.load(&group.chains[chain::ROUGH]);
    let history = rough.where_less(half, history, lanes.splat(-ROUGH * params.inv_h));
    lanes.store(history, &mut group.chains[chain::HISTORY]);
    if params.bounces != 0 {
        count_bounces(lanes, group);
    }
}

/// What throws has pressed, too.
#[inline(always)]
fn count_bounces<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    for row in group.contacts.chunks_exact_mut(contact::ENTRIES) {
        let throws = lanes.load(&row[contact::BOUNCE]).max(lanes.splat(0.0));
        let both = (lanes.load(&row[contact::DUAL]) + throws).min(lanes.splat(MOST_DUAL));
        lanes.store(both, &mut row[contact::DUAL]);
    }
}
