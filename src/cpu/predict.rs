//! Stage `predict`: where inertia and gravity alone would bring every node, (21)–(23), and the first iterate;
//! its twin is `shaders/predict.wgsl`.
//!
//! Damping acts on the carried velocity relative to the motion of the bones that the chain hangs on, blended along
//! the chain, or relative to a free chain's own rigid motion, which is that of all that it hangs on and that hang on it. The same blended bone motion moves the first iterate
//! (VIPER 8.2), and nothing else: by its change since the last substep, so that a bone that jumps takes the iterate
//! along while a bone that keeps its speed leaves the inertial prediction alone. It also falls no farther than the chain fell in
//! the last substep, in first order and where no half-space or solid is near, and always where it meets others.
//!
//! Forces that the game has on nodes accelerate them as gravity does; impulses and velocities that it gives change what is
//! carried, in the frame's first substep.
//!
//! Second order (BDF2): with x_{n−1} known, the step minimises ½M/h̃²|x − x̃|² + W(x) with h̃ = ⅔h and
//! x̃ = x_n + (x_n − x_{n−1})/3 + h̃(4v_n − v_{n−1})/3: the same system with another prediction.

#![allow(clippy::needless_range_loop, reason = "rows and columns are indexed as in the equations")]

use super::carry::bone_of_slot;
use super::fibres::{Excitation, fibre_stretch};
use super::group::{Group, bones_move, contracts, is_kicked, known, second_order, unpadded};
use super::holds::Placed;
use super::lanes::{Entry, Lane, Lanes, apart, each, unrolled};
use super::math::{LEAST_DIVISOR, Mat3, Quaternion, V3};
use super::potential::stored_at_start;
use super::strains::{Section, measure, most_stiffness};
use crate::layout::{chain, force, input, node, rest, rigid};
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
    // Before the game takes of what there was, or adds to it.
    if group.rest.has_free_chain && !group.rest.is_in_tree() {
        apart!(lanes, regain(lanes, params, group));
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
        let velocity = extrapolated(lanes, row, [node::VELOCITY, node::OLDER_VELOCITY], carried);
        let velocity = reference + (velocity - reference) * keep;
        let spin = extrapolated(lanes, row, [node::SPIN, node::OLDER_SPIN], carried);
        let spin = without_torque(lanes, frame, spin, step);
        let spin = reference_spin + (spin - reference_spin) * keep;
        let rate = lanes.load(&row[node::SCALE_RATE]);
        let rate = (rate + (rate - lanes.load(&row[node::OLDER_SCALE_RATE])) * carried) * keep;

        let fall = if pushed { gravity + force_on(lanes, group, index, force::ACCELERATION) } else { gravity };
        let predicted_move = V3::load(lanes, row, node::OLDER_MOVE) * carried + velocity * step + fall * (step * step);
        let [last_velocity, last_spin] = each!(k in 0..2 => V3::load(lanes, row, [node::VELOCITY, node::SPIN][k]));
        let (least, most) = (scale * lanes.splat(1.0 / SCALE_LIMIT), scale * lanes.splat(SCALE_LIMIT));
        let predicted_scale =
            (scale + lanes.load(&row[node::OLDER_SCALING]) * carried + rate * step).clamp(least, most);
        let predicted_frame = frame.turned(lanes, V3::load(lanes, row, node::OLDER_TURN) * carried + spin * step);

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

/// A velocity carried on: by itself, or in the second order from the one before.
#[inline(always)]
fn extrapolated<L: Lanes>(lanes: L, row: &[Entry<L::Scalar>], [now, older]: [usize; 2], carried: L::V) -> V3<L::V> {
    let now = V3::load(lanes, row, now);
    now + (now - V3::load(lanes, row, older)) * carried
}

/// A section's spin after so long (s) without torque, Iω̇ = Iω × ω (Euler), by the midpoint's rule: where its axis turns aside, what
/// spins about that would make momentum. A flat body has as much inertia about its normal as about both axes across it together, so that
/// what spins across the axis turns about it as fast as that spins, whatever the section's shape. What spins across both axes of one
/// that is not round also makes it spin about the axis: that is left out. The axis is that at the substep's start: of first order.
#[inline(always)]
fn without_torque<L: Lanes>(lanes: L, frame: Quaternion<L::V>, spin: V3<L::V>, step: L::V) -> V3<L::V> {
    let [.., axis] = frame.axes(lanes);
    let about = axis.dot(spin);
    let half = about * step * lanes.splat(0.5);
    let turning = axis.cross(spin) - (spin - axis * about) * half;
    spin + turning * ((half + half) / (lanes.splat(1.0) + half * half))
}

/// A chain's motion as if it were rigid.
pub(super) struct RigidMotion<V> {
    /// Its centre of mass (m).
    pub centre: V3<V>,
    /// The centre's velocity (m/s).
    pub velocity: V3<V>,
    pub spin: V3<V>,
}

impl<V: Lane> RigidMotion<V> {
    /// That of each chain's tree, as it is kept.
    #[inline(always)]
    fn load<L: Lanes<V = V>>(lanes: L, rows: &[Entry<L::Scalar>]) -> Self {
        let [centre, velocity, spin] =
            each!(of in 0..3 => V3::load(lanes, rows, [rigid::CENTRE, rigid::VELOCITY, rigid::SPIN][of]));
        Self { centre, velocity, spin }
    }

    #[inline(always)]
    fn at(&self, place: V3<V>) -> (V3<V>, V3<V>) {
        (self.velocity + self.spin.cross(place - self.centre), self.spin)
    }

    /// Adds it to the chains' velocities, and such a share of its spin to their sections'.
    #[inline(always)]
    pub fn add_to<L: Lanes<V = V>>(&self, lanes: L, group: &mut Group<L::Scalar>, of_sections: V) {
        let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
        for index in 0..group.rest.node_count {
            // Padding goes its own way.
            let there = zero.where_less(lanes.at(group.rest.row(index), rest::RADIUS), one, zero);
            let row = group.row_mut(index);
            let (velocity, spin) = self.at(V3::load(lanes, row, node::PLACE));
            let to = V3::load(lanes, row, node::VELOCITY) + velocity * there;
            to.store(lanes, row, node::VELOCITY);
            let to = V3::load(lanes, row, node::SPIN) + spin * (there * of_sections);
            to.store(lanes, row, node::SPIN);
        }
    }
}

/// Spin about an axis of less than about this part of the inertia's trace counts as motion within the chain.
pub const SLENDER: f32 = 0.005;

/// Centre of mass, its velocity, and the spin that has the chain's angular momentum: Ω = I⁻¹L, but for what is
/// nearly an axis of no inertia. A slender chain has next to none about its length, where errors of angular momentum
/// that are nothing elsewhere make it whirl in a bow at its first bending frequency, a rigid motion that would last.
/// So Ω = (I² + (SLENDER·tr I)²)⁻¹ I L.
#[inline(always)]
pub(super) fn rigid_motion<L: Lanes>(lanes: L, body: &Body<L::V>) -> RigidMotion<L::V> {
    let spin = spin_of(lanes, body.inertia, body.angular, lanes.splat(SLENDER));
    RigidMotion { centre: body.centre, velocity: body.velocity, spin }
}

/// How much a substep gives back of what the last one took of a chain's angular momentum, over what it has: at most so much. Crumpled
/// chains that unfold get some by errors of the first moments, and would tumble on at 100 rad/s.
pub const MOST_GIVEN_BACK: f32 = 0.01;
/// As [`SLENDER`], of what is given back: that of a bow that whirls would else last.
pub const SLENDER_GIVEN_BACK: f32 = 0.1;

/// Gives free chains back, as rigid bodies, the angular momentum that the last substep took of them ([`taken`]).
#[inline(always)]
fn regain<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>) {
    let zero = lanes.splat(0.0);
    let body = Body::of(lanes, group);
    let free = lanes.load(&group.inputs[input::HANGS]).where_less(lanes.splat(0.5), lanes.splat(1.0), zero);
    let lost = taken(lanes, params, group, &body) * free;
    // Over the inertia, so that lengths of chains of any size are numbers.
    let trace = body.inertia[0][0] + body.inertia[1][1] + body.inertia[2][2];
    let per_inertia = lanes.splat(1.0) / zero.where_less(trace, trace, lanes.splat(1.0));
    let had = (body.angular * per_inertia).length();
    let most = (had * lanes.splat(MOST_GIVEN_BACK)).max(lanes.splat(LEAST_DIVISOR));
    let given = lost * (most / (lost * per_inertia).length().max(most));
    let spin = spin_of(lanes, body.inertia, given, lanes.splat(SLENDER_GIVEN_BACK));
    RigidMotion { centre: body.centre, velocity: V3([zero; 3]), spin }.add_to(lanes, group, lanes.splat(1.0));
}

/// What implicit Euler took of a chain's angular momentum in the last substep (kg·m²/s), as far as that is known.
///
/// With places and velocities about the centre of mass, x₁ = x₀ + Δ and v₁ = Δ/h. Forces that keep angular momentum do at x₁, where they
/// are taken: Σx₁ × m(v₁ − v₀) = 0. So Σx₁ × mv₁ is Σx₀ × mv₀ + ΣΔ × mv₀: of what spins as a rigid body, (ωh)² less. What damping took
/// of v₀ within the chain is left out, and what sections spin.
#[inline(always)]
fn taken<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>, body: &Body<L::V>) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let [mut gained, mut went, mut had] = [V3([zero; 3]); 3];
    // As seen by who goes along, so that little cancels.
    let along = body.velocity * lanes.splat(params.h);
    for index in 0..group.rest.node_count {
        let row = group.row(index);
        let m = unpadded(lanes, group, index, rest::MASS);
        let moved = V3::load(lanes, row, node::OLDER_MOVE) - along;
        let momentum = (V3::load(lanes, row, node::OLDER_VELOCITY) - body.velocity) * m;
        gained = gained + moved.cross(momentum);
        went = went + moved * m;
        had = had + momentum;
    }
    // Where the game has put it, there is no last substep.
    let history = lanes.load(&group.chains[chain::HISTORY]);
    let is_known = (history * history).where_less(lanes.splat(0.25), zero, first_order(lanes, params, group));
    (went.cross(had) * (one / zero.where_less(body.mass, body.mass, one)) - gained) * is_known
}

/// 1 where all substeps are of implicit Euler and this one, or in `predict` the last, was not led astray, else 0.
#[inline(always)]
pub(super) fn first_order<L: Lanes>(lanes: L, params: &StepParams, group: &Group<L::Scalar>) -> L::V {
    let one = lanes.splat(1.0);
    (one - lanes.load(&group.chains[chain::ROUGH])) * lanes.splat((-params.second_order).max(0.0))
}

/// Adds to the velocities of each chain what a rigid motion of its tree is, which `rows` keep.
#[inline(always)]
pub(super) fn add_motion<L: Lanes>(lanes: L, group: &mut Group<L::Scalar>, rows: &[Entry<L::Scalar>]) {
    RigidMotion::load(lanes, rows).add_to(lanes, group, lanes.splat(0.0));
}

/// A chain as a body: how much of it there is, and how it moves.
pub(super) struct Body<V> {
    /// Mass (kg).
    mass: V,
    /// Centre of mass from the chain's origin (m).
    centre: V3<V>,
    /// Its velocity (m/s).
    velocity: V3<V>,
    /// Angular momentum about the centre (kg·m²/s).
    angular: V3<V>,
    /// Inertia about the centre (kg·m²): the lower triangle.
    inertia: Mat3<V>,
}

/// How many entries [`Body::store`] writes.
pub(super) const BODY_ENTRIES: usize = 16;

impl<V: Lane> Body<V> {
    /// That of each chain.
    #[inline(always)]
    pub fn of<L: Lanes<V = V>>(lanes: L, group: &Group<L::Scalar>) -> Self {
        let zero = lanes.splat(0.0);
        let zero3 = V3([zero; 3]);
        let (mut mass, mut moment, mut momentum) = (zero, zero3, zero3);
        for index in 0..group.rest.node_count {
            let m = unpadded(lanes, group, index, rest::MASS);
            mass = mass + m;
            moment = moment + V3::load(lanes, group.row(index), node::PLACE) * m;
            momentum = momentum + V3::load(lanes, group.row(index), node::VELOCITY) * m;
        }
        let inv_mass = lanes.splat(1.0) / zero.where_less(mass, mass, lanes.splat(1.0));
        let (centre, velocity) = (moment * inv_mass, momentum * inv_mass);
        let mut angular = zero3;
        for index in 0..group.rest.node_count {
            let row = group.row(index);
            let m = unpadded(lanes, group, index, rest::MASS);
            let polar = unpadded(lanes, group, index, rest::INERTIA_W);
            let arm = V3::load(lanes, row, node::PLACE) - centre;
            angular = angular
                + arm.cross(V3::load(lanes, row, node::VELOCITY) - velocity) * m
                + V3::load(lanes, row, node::SPIN) * polar;
        }
        Self { mass, centre, velocity, angular, inertia: inertia_about(lanes, group, centre) }
    }

    /// Writes its fields in order, of the inertia xx, xy, yy, xz, yz, zz.
    #[inline(always)]
    pub fn store<L: Lanes<V = V>>(&self, lanes: L, entries: &mut [Entry<L::Scalar>]) {
        lanes.store(self.mass, &mut entries[0]);
        self.centre.store(lanes, entries, 1);
        self.velocity.store(lanes, entries, 4);
        self.angular.store(lanes, entries, 7);
        let mut at = 10;
        for i in 0..3 {
            for k in 0..=i {
                lanes.store(self.inertia[i][k], &mut entries[at]);
                at += 1;
            }
        }
    }
}

/// A chain's inertia about a point (kg·m²): the lower triangle.
#[inline(always)]
pub(super) fn inertia_about<L: Lanes>(lanes: L, group: &Group<L::Scalar>, centre: V3<L::V>) -> Mat3<L::V> {
    let mut inertia = [[lanes.splat(0.0); 3]; 3];
    for index in 0..group.rest.node_count {
        let m = unpadded(lanes, group, index, rest::MASS);
        let polar = unpadded(lanes, group, index, rest::INERTIA_W);
        let arm = V3::load(lanes, group.row(index), node::PLACE) - centre;
        let square = arm.dot(arm);
        for i in 0..3 {
            for k in 0..=i {
                inertia[i][k] = inertia[i][k] - m * arm.0[i] * arm.0[k];
            }
            inertia[i][i] = inertia[i][i] + m * square + polar;
        }
    }
    inertia
}

/// The spin that has an angular momentum, Ω = (I² + (slender·tr I)²)⁻¹ I L, see [`rigid_motion`]; no inertia gives no spin.
#[inline(always)]
pub(super) fn spin_of<L: Lanes>(lanes: L, mut inertia: Mat3<L::V>, angular: V3<L::V>, slender: L::V) -> V3<L::V> {
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let trace = inertia[0][0] + inertia[1][1] + inertia[2][2];
    let inv_trace = one / zero.where_less(trace, trace, one);
    unrolled!(for i in 0..3 {
        for k in 0..=i {
            inertia[i][k] = inertia[i][k] * inv_trace;
            inertia[k][i] = inertia[i][k];
        }
    });
    let angular = angular * inv_trace;
    let [a, b, c] = inertia;
    let (a, b, c) = (V3(a), V3(b), V3(c));
    let rhs = V3([a.dot(angular), b.dot(angular), c.dot(angular)]);
    let least = slender * slender;

    // LDLᵀ; every pivot is at least slender² but for rounding.
    let d0 = one / (a.dot(a) + least);
    let (l10, l20) = (b.dot(a) * d0, c.dot(a) * d0);
    let d1 = one / (b.dot(b) + least - l10 * b.dot(a)).max(least);
    let m21 = c.dot(b) - l20 * b.dot(a);
    let l21 = m21 * d1;
    let d2 = one / (c.dot(c) + least - l20 * c.dot(a) - l21 * m21).max(least);
    let [x, y, z] = rhs.0;
    let y = y - l10 * x;
    let z = z - l20 * x - l21 * y;
    let z = z * d2;
    let y = y * d1 - l21 * z;
    let x = x * d0 - l10 * y - l20 * z;
    V3([x, y, z])
}
