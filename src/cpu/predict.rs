//! Stage `predict`: where inertia and gravity alone would bring every node, (21)–(23), and the first iterate;
//! its twin is `shaders/predict.wgsl`.
//!
//! Damping acts on the carried velocity relative to the motion of the bones that the chain hangs on, blended along
//! the chain, or relative to a free chain's own rigid motion, which is that of all that it hangs on and that hang on it. The same
//! blended bone motion moves the first iterate (VIPER 8.2), and nothing else: by its change since the last substep, so that a bone
//! that jumps takes the iterate along while a bone that keeps its speed leaves the inertial prediction alone. It also falls no
//! farther than the chain fell in the last substep, in first order and where no half-space or solid is near, and always where it
//! meets others.
//!
//! Forces that the game has on nodes accelerate them as gravity does; impulses and velocities that it gives change what is
//! carried, in the frame's first substep.
//!
//! Second order (BDF2): with x_{n−1} known, the step minimises ½M/h̃²|x − x̃|² + W(x) with h̃ = ⅔h and
//! x̃ = x_n + (x_n − x_{n−1})/3 + h̃(4v_n − v_{n−1})/3: the same system with another prediction.

use super::bodies::{Body, RigidMotion, carried_over, rigid_motion};
use super::carry::bone_of_slot;
use super::fibres::{Excitation, fibre_stretch};
use super::group::{Group, bones_move, contracts, is_kicked, known, second_order};
use super::holds::Placed;
use super::lanes::{Lane, Lanes, apart, each};
use super::math::{Quaternion, V3};
use super::potential::stored_at_start;
use super::strains::{Section, measure, most_stiffness};
use crate::layout::{chain, force, input, node, rest};
use crate::step::StepParams;

/// The largest factor by which a scale may change in one substep, either way.
pub const SCALE_LIMIT: f32 = 1.3;

/// Predicts every node and sets the first iterate.
#[inline(always)]
pub fn predict<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: PartialEq + Into<f64>,
{
    let contracting = contracts(group);
    if contracting {
        measure_fibres(lanes, group);
    }
    // What hangs on chains is kicked before it is known how all of a tree moves.
    if params.first_substep != 0 && is_kicked(group.inputs) && !group.rest.is_in_tree() {
        apart!(lanes, kick(lanes, group));
    }
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let zero3 = V3([zero; 3]);
    let h = lanes.splat(params.h);
    let inv_h = lanes.splat(params.inv_h);
    let second_order = second_order(lanes, params, group);
    let carried = second_order * lanes.splat(1.0 / 3.0);
    let step = h * (one - carried);
    let [x, y, z] = params.gravity;
    let gravity = V3([lanes.splat(x), lanes.splat(y), lanes.splat(z)]);
    let gravity = gravity + V3::load(lanes, group.inputs, input::ACCELERATION);
    let pushed = !group.forces.is_empty();
    let moving = bones_move(group.chains);
    let free = match group.rest.has_free_chain {
        true if group.rest.is_in_tree() => Some(RigidMotion::load(lanes, group.scratch)),
        true => Some(rigid_motion(lanes, &Body::of(lanes, group))),
        false => None,
    };
    let hangs = lanes.load(&group.inputs[input::HANGS]);
    let meets = lanes.load(&group.chains[chain::MEETS]);
    let held_back = if group.contacts.is_empty() { meets.max(one - second_order) } else { meets };

    for index in 0..group.rest.node_count {
        let rest_row = group.rest.row(index);
        let row = group.row(index);
        let place = V3::load(lanes, row, node::PLACE);
        let scale = lanes.load(&row[node::SCALE]);
        let frame = Quaternion::load(lanes, row, node::FRAME);

        let (mut reference, mut reference_spin) = (zero3, zero3);
        let (mut jump, mut jump_turn) = (zero3, zero3);
        if moving {
            let blend = lanes.load(&rest_row[rest::BONE_BLEND]);
            let arms = each!(k in 0..2 => V3::load(lanes, rest_row, [rest::HOLD_PLACE, rest::NEXT_PLACE][k]));
            let arm2 = arms[0].dot(arms[0]).max(arms[1].dot(arms[1]));
            let reach = arm2.sqrt() + lanes.at(group.rest.row(0), rest::LENGTH);
            let now = bone_motion(lanes, group, [chain::BONE_PREV, chain::BONE_NOW], blend, place, reach);
            let older = bone_motion(lanes, group, [chain::BONE_OLDER, chain::BONE_PREV], blend, place, reach);
            let ratio = lanes.splat(params.h_over_last_h);
            (reference, reference_spin) = (now.0 * inv_h, now.1 * inv_h);
            (jump, jump_turn) = (now.0 - older.0 * ratio, now.1 - older.1 * ratio);
        }
        if let Some(motion) = &free {
            let (velocity, spin) = motion.at(place);
            let half = lanes.splat(0.5);
            for k in 0..3 {
                reference.0[k] = hangs.where_less(half, velocity.0[k], reference.0[k]);
                reference_spin.0[k] = hangs.where_less(half, spin.0[k], reference_spin.0[k]);
            }
        }

        let keep = one / (one + step * lanes.load(&rest_row[rest::DAMPING]));
        let [velocity, older_velocity] =
            each!(k in 0..2 => V3::load(lanes, row, [node::VELOCITY, node::OLDER_VELOCITY][k]));
        let velocity = velocity + (velocity - older_velocity) * carried;
        let velocity = reference + (velocity - reference) * keep;
        let [spin, mut older_spin] = each!(k in 0..2 => V3::load(lanes, row, [node::SPIN, node::OLDER_SPIN][k]));
        if lanes.any(second_order) {
            let older_frame = frame.turned(lanes, -V3::load(lanes, row, node::OLDER_TURN));
            older_spin = carried_over(lanes, [&older_frame, &frame], older_spin);
        }
        let spin = spin + (spin - older_spin) * carried;
        let spin = reference_spin + (spin - reference_spin) * keep;
        let rate = lanes.load(&row[node::SCALE_RATE]);
        let rate = (rate + (rate - lanes.load(&row[node::OLDER_SCALE_RATE])) * carried) * keep;

        let fall = if pushed { gravity + force_on(lanes, group, index, force::ACCELERATION) } else { gravity };
        let predicted_move = V3::load(lanes, row, node::OLDER_MOVE) * carried + velocity * step + fall * (step * step);
        let [last_velocity, last_spin] = each!(k in 0..2 => V3::load(lanes, row, [node::VELOCITY, node::SPIN][k]));
        let (least, most) = (scale * lanes.splat(1.0 / SCALE_LIMIT), scale * lanes.splat(SCALE_LIMIT));
        let predicted_scale =
            (scale + lanes.load(&row[node::OLDER_SCALING]) * carried + rate * step).clamp(least, most);
        let turn = V3::load(lanes, row, node::OLDER_TURN) * carried + spin * step;
        // By an angle so large: `turned` takes twice the tangent of its half, 2 tan(φ/2) = φ(1 + φ²/12 + …).
        let predicted_frame = frame.turned(lanes, turn * (one + turn.dot(turn) * lanes.splat(1.0 / 12.0)));
        let spin = carried_over(lanes, [&frame, &predicted_frame], spin);

        let turned = if moving { predicted_frame.turned(lanes, jump_turn) } else { predicted_frame };
        // What hangs, or lies on others, will not fall: of the fall it begins with as much as it fell in the last substep. A solve
        // from where gravity alone would bring it is wrong by the square of that way. It begins no higher than it is for that:
        // what was thrown up would begin off the ground that it lies on, and be let through.
        let gained = (last_velocity - V3::load(lanes, row, node::OLDER_VELOCITY)) * inv_h;
        let inv_fall2 = one / fall.dot(fall).max(lanes.splat(f32::MIN_POSITIVE));
        let fallen = gained.dot(fall) * inv_fall2;
        let held = step * step * (one - fallen.clamp(zero, one)) * held_back;
        let first_move = predicted_move + jump;
        let first_move = first_move - fall * held.min((first_move.dot(fall) * inv_fall2).max(zero));
        let iterate = Placed { moved: first_move, scale: predicted_scale, frame: turned };
        if group.rest.held[index] {
            // All of a substep has what is held by one of its two quaternions, which energies tell apart: by that which it turns to
            // the shorter way, as all turns are taken. What was predicted of an end that snapped round says nothing of its sign.
            let free_frame = lanes.load(&rest_row[rest::FREE_FRAME]);
            let row = group.row_mut(index);
            let target = Quaternion::load(lanes, row, node::TARGET_FRAME);
            target.beside(lanes, frame).or(lanes, target, free_frame).store(lanes, row, node::TARGET_FRAME);
        }
        let iterate = iterate.held(lanes, group, index, place);

        let row = group.row_mut(index);
        last_velocity.store(lanes, row, node::OLDER_VELOCITY);
        (velocity + fall * step).store(lanes, row, node::VELOCITY);
        last_spin.store(lanes, row, node::OLDER_SPIN);
        spin.store(lanes, row, node::SPIN);
        place.store(lanes, row, node::PREV_PLACE);
        lanes.store(scale, &mut row[node::PREV_SCALE]);
        frame.store(lanes, row, node::PREV_FRAME);
        predicted_move.store(lanes, row, node::PREDICTED_MOVE);
        lanes.store(predicted_scale, &mut row[node::PREDICTED_SCALE]);
        predicted_frame.store(lanes, row, node::PREDICTED_FRAME);
        iterate.store(lanes, row);
    }

    // Where nothing that stores energy has changed since the last solve ended, that much is stored.
    let inv_step = inv_h * (one + second_order * lanes.splat(0.5));
    let stiff = most_stiffness(lanes, group.rest.row(0), inv_step * inv_step, lanes.epsilon()).is_some();
    let stored = if moving || contracting || stiff || !known(group) {
        let excitation = if contracting { Some(Excitation::of_chain(lanes, params, group)) } else { None };
        apart!(lanes, stored_at_start(lanes, group, inv_step * inv_step, excitation))
    } else {
        lanes.load(&group.chains[chain::POTENTIAL])
    };
    lanes.store(stored, &mut group.chains[chain::START_POTENTIAL]);
    lanes.store(lanes.load(&group.inputs[input::ACTIVATION]), &mut group.chains[chain::ACTIVATION]);
    lanes.store(zero, &mut group.chains[chain::ROUGH]);
    lanes.store(one, &mut group.chains[chain::CALM]);
}

/// What the game adds to the velocities of chains, or puts in their place; what bones hold goes with these. The second-order step
/// does without what was before.
#[inline(always)]
pub(super) fn kick<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    let (zero, half) = (lanes.splat(0.0), lanes.splat(0.5));
    let flag = lanes.load(&group.inputs[input::KICKED]);
    let kept = lanes.load(&group.inputs[input::KEPT]);
    let [at_origin, kick_spin] =
        each!(k in 0..2 => V3::load(lanes, group.inputs, [input::KICK_VELOCITY, input::KICK_SPIN][k]));
    for index in 0..group.rest.node_count {
        let free = lanes.load(&group.rest.row(index)[rest::FREE_PLACE]);
        let row = group.row(index);
        let (velocity, spin) = (V3::load(lanes, row, node::VELOCITY), V3::load(lanes, row, node::SPIN));
        let rate = lanes.load(&row[node::SCALE_RATE]);
        let motion = at_origin + kick_spin.cross(V3::load(lanes, row, node::PLACE));
        let mut kicked = velocity.or(lanes, velocity * kept + motion, free);
        if !group.forces.is_empty() {
            kicked = kicked + force_on(lanes, group, index, force::VELOCITY);
        }
        let row = group.row_mut(index);
        velocity.or(lanes, kicked, flag).store(lanes, row, node::VELOCITY);
        spin.or(lanes, spin.or(lanes, spin * kept + kick_spin, free), flag).store(lanes, row, node::SPIN);
        lanes.store(flag.where_less(half, rate, rate * kept), &mut row[node::SCALE_RATE]);
    }
    let history = lanes.load(&group.chains[chain::HISTORY]);
    lanes.store(flag.where_less(half, history, history.min(zero)), &mut group.chains[chain::HISTORY]);
}

/// Three entries of a node's force row.
#[inline(always)]
fn force_on<L: Lanes>(lanes: L, group: &Group<L::Scalar>, index: usize, entry: usize) -> V3<L::V> {
    V3::load(lanes, &group.forces[index * force::ENTRIES..][..force::ENTRIES], entry)
}

/// Fibre stretch of every segment, before anything moves, and the mean of those that contract, by what they contract with.
#[inline(always)]
fn measure_fibres<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>) {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let (mut sum, mut whole) = (zero, zero);
    let mut here = Section::load(lanes, group.row(0));
    for index in 0..group.rest.node_count - 1 {
        let rest_row = group.rest.row(index);
        let next = Section::load(lanes, group.row(index + 1));
        let strain = measure(lanes, here, next, lanes.load(&rest_row[rest::INV_LENGTH]));
        let stretch = fibre_stretch(lanes, &strain, rest_row);
        let weight = lanes.at(rest_row, rest::ACTIVE);
        sum = sum + weight * stretch;
        whole = whole + weight;
        lanes.store(stretch, &mut group.row_mut(index)[node::PREV_FIBRE_STRETCH]);
        here = next;
    }
    let mean = zero.where_less(whole, sum / whole, one);
    lanes.store(mean, &mut group.chains[chain::MEAN_STRETCH]);
}

/// How far the bones that carry a node, moving from one stored pose to another, carry a point (m) and turn it (rad); a point
/// that is farther from a bone than `reach` (m), as one as far as that. What is flung out would else be dragged round the
/// faster the farther out it is.
#[inline(always)]
fn bone_motion<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    poses: [usize; 2],
    blend: L::V,
    point: V3<L::V>,
    reach: L::V,
) -> (V3<L::V>, V3<L::V>) {
    let one = lanes.splat(1.0);
    let mut slot = lanes.splat(0.0);
    for next in 1..group.rest.bone_count.saturating_sub(1) {
        slot = blend.where_less(lanes.splat(next as f32), slot, lanes.splat(next as f32));
    }
    let blend = blend - slot;
    let first = motion_of_bone(lanes, group, poses, slot, point, reach);
    let second = motion_of_bone(lanes, group, poses, slot + one, point, reach);
    (first.0 + (second.0 - first.0) * blend, first.1 + (second.1 - first.1) * blend)
}

/// As [`bone_motion`], for one bone.
#[inline(always)]
fn motion_of_bone<L: Lanes>(
    lanes: L,
    group: &Group<L::Scalar>,
    [from, to]: [usize; 2],
    slot: L::V,
    point: V3<L::V>,
    reach: L::V,
) -> (V3<L::V>, V3<L::V>) {
    let two = lanes.splat(2.0);
    let (from, to) = (&group.chains[from..], &group.chains[to..]);
    let (from, to) = (bone_of_slot(lanes, group.rest, from, slot), bone_of_slot(lanes, group.rest, to, slot));
    let origin = V3([from[0], from[1], from[2]]);
    let from_frame = Quaternion([from[3], from[4], from[5], from[6]]);
    let to_frame = Quaternion([to[3], to[4], to[5], to[6]]);
    let turn = to_frame.product(from_frame.conjugate());
    let axis = turn.imaginary();
    let arm = point - origin;
    let reach2 = reach * reach;
    let arm = arm * (reach2 / arm.dot(arm).max(reach2).max(lanes.splat(f32::MIN_POSITIVE))).sqrt();
    let swept = axis.cross(arm);
    let displacement = V3([to[0], to[1], to[2]]) - origin + (swept * turn.0[3] + axis.cross(swept)) * two;
    (displacement, from_frame.turn_to(lanes, to_frame))
}
