//! Stage `update_velocities`: velocities from the substep's motion; its twin is `shaders/update_velocities.wgsl`.
//!
//! Places: the velocity that `predict` left, and (moved − predicted move)/h̃ of what the solve added. The same as
//! moved/h or (3·moved − last move)/2h in exact arithmetic; in f32 h·(1/h) is not 1, and so each substep would take
//! or give a few 10⁻⁸ of a free chain's momentum. Frames likewise, up to a quarter turn a substep, by the turn from the predicted one,
//! which the solve's torque is for: what passes left out of momentum, which [`left_out`](super::left_out) adds to both, thus stays.
//! What turns by more is told by how far it turned. Free chains keep their momentum and angular momentum, see `bodies.rs`.
//!
//! A chain that meets others and was led astray, or went far, may be crushed between these and a wall. Such a chain is let go within one
//! substep, by as much as it is deep: of it no solve makes a free node faster by more than [`MOST_GAIN`], whatever it turns by. Where it
//! goes is as solved, so that nothing stays in a wall; only what it flies on with is less.

use super::bodies::{carried_over, keep_momenta, momenta_before};
use super::contact_rows::MOST_DUAL;
use super::group::{Group, second_order};
use super::lanes::{Lane, Lanes, apart, each};
use super::math::{LEAST_DIVISOR, MOST_TURN2, Quaternion, V3};
use super::solve_rods::ROUGH;
use crate::layout::{chain, contact, node, rest};
use crate::step::StepParams;

/// By how much the solve of one substep makes a free node faster at most (m/s, in the world), of a chain that meets others and was led
/// astray, see the module. With less, what is crushed flies less far, and what hits others at 60 m/s loses more of its momentum: by
/// this, logs lose 0.4 to 2.7 % in the mean, where they lost 0.3 to 1.3.
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
    let [calm, rough, meets] =
        each!(of in 0..3 => lanes.load(&group.chains[[chain::CALM, chain::ROUGH, chain::MEETS][of]]));
    let astray = meets.min(rough);
    let bursts = lanes.any(astray);
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
        let velocity = if bursts {
            let flag = astray.min(lanes.load(&group.rest.row(index)[rest::FREE_PLACE]));
            held_back(lanes, was, velocity, flag)
        } else {
            velocity
        };
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
    let history = rough.where_less(half, history, lanes.splat(-ROUGH * params.inv_h));
    lanes.store(history, &mut group.chains[chain::HISTORY]);
    if params.bounces != 0 {
        count_bounces(lanes, group);
    }
}

/// The velocity of what is flagged, no faster than before by more than [`MOST_GAIN`].
#[inline(always)]
fn held_back<L: Lanes>(lanes: L, was: V3<L::V>, velocity: V3<L::V>, flag: L::V) -> V3<L::V> {
    let most = was.length() + lanes.splat(MOST_GAIN);
    let kept = most / velocity.length().max(most);
    velocity * lanes.splat(0.5).where_less(flag, kept, lanes.splat(1.0))
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
