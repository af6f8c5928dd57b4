//! Stage `solve_contacts`: which planes the nodes' spheres touch, how hard, and how much friction that allows; its
//! twin is `shaders/solve_contacts.wgsl`.
//!
//! What it finds goes to the next `solve_rods` as quadratic terms. Penalties are stiff against the node's own
//! inertia, k = β·m/h²: a node carrying the weight of n nodes sinks by n·g·h²/β. Of Coulomb's friction only the
//! normal force λ is lagged: it is the one with which the last solve pressed, and the next may hold with μλ.
//!
//! What these terms store where the chain stood at the substep's start goes to START_POTENTIAL, with which the next
//! solve of the same substep compares. Padding touches nothing.

use super::group::{Group, has_planes, second_order, unpadded};
use super::holds::Placed;
use super::lanes::{Entry, Lane, Lanes};
use super::math::V3;
use super::node_terms::contact_potential;
use crate::layout::{chain, input, node, rest};
use crate::step::StepParams;

/// β: contact stiffness over m/h² (1). Lower sinks deeper; higher costs f32 digits.
pub const CONTACT_STIFFNESS: f32 = 1000.0;

/// How fast a node that is found inside a plane is pushed out (m/s).
pub const RECOVERY_SPEED: f32 = 1.0;

/// Finds each node's deepest plane and hands its terms to the next solve.
#[inline(always)]
pub fn solve_contacts<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let zero = lanes.splat(0.0);
    if !has_planes(group.inputs) {
        for index in 0..group.rest.node_count {
            let row = group.row_mut(index);
            lanes.store(zero, &mut row[node::CONTACT_STIFFNESS]);
            lanes.store(zero, &mut row[node::FRICTION_LIMIT]);
        }
        return;
    }
    let inv_h = lanes.splat(params.inv_h);
    let recovery = lanes.splat(RECOVERY_SPEED * params.h);
    let inv_step = inv_h * (lanes.splat(1.0) + second_order(lanes, params, group) * lanes.splat(0.5));
    let inv_step2 = inv_step * inv_step;
    let mut stored = lanes.load(&group.chains[chain::START_POTENTIAL]);
    for index in 0..group.rest.node_count {
        let rest_row = group.rest.row(index);
        let row = group.row(index);
        let start = Placed::start(lanes, group, index);
        let before = contact_potential(lanes, inv_step2, rest_row, row, &start);
        let depth = zero - contact_gap(lanes, rest_row, row, &Placed::now(lanes, row));
        let pressed = lanes.load(&row[node::CONTACT_STIFFNESS]) * depth.max(zero);
        let place = V3::load(lanes, row, node::PLACE);
        let moved = V3::load(lanes, row, node::MOVED);
        let radius = lanes.load(&rest_row[rest::RADIUS]) * lanes.load(&row[node::SCALE]);
        let stiffness = lanes.splat(CONTACT_STIFFNESS) * unpadded(lanes, group, index, rest::MASS) * inv_h * inv_h;

        let far = lanes.splat(1.0e30);
        let (mut gap, mut normal, mut offset, mut friction) = (far, V3([zero; 3]), zero, zero);
        for plane in 0..input::MAX_PLANES {
            let at = input::PLANES + plane * input::PLANE;
            let plane_normal = V3::load(lanes, group.inputs, at);
            let plane_offset = lanes.load(&group.inputs[at + 3]);
            let plane_gap = plane_normal.dot(place) - plane_offset - radius;
            let plane_gap = zero.where_less(plane_normal.dot(plane_normal), plane_gap, far);
            for k in 0..3 {
                normal.0[k] = plane_gap.where_less(gap, plane_normal.0[k], normal.0[k]);
            }
            offset = plane_gap.where_less(gap, plane_offset, offset);
            friction = plane_gap.where_less(gap, lanes.load(&group.inputs[at + 4]), friction);
            gap = plane_gap.min(gap);
        }

        // Flesh between two held ends goes where its bones carry it, into the plane too.
        let carried =
            normal.dot(V3::load(lanes, row, node::TARGET_PLACE)) - offset - lanes.load(&rest_row[rest::RADIUS]);
        let allowed = carried.min(zero) * lanes.load(&rest_row[rest::CARRIED]);
        let gap = gap - allowed;

        // A node that reaches the plane within the next substep is told now.
        let approach = normal.dot(moved);
        let reach = gap.min(gap + approach + approach);
        let active = reach.where_less(zero, stiffness, zero);
        let depth = (gap + recovery).min(zero);
        let row = group.row_mut(index);
        normal.store(lanes, row, node::CONTACT_NORMAL);
        lanes.store(offset + allowed + depth, &mut row[node::CONTACT_OFFSET]);
        lanes.store(active, &mut row[node::CONTACT_STIFFNESS]);
        lanes.store(friction * pressed, &mut row[node::FRICTION_LIMIT]);
        stored = stored + (contact_potential(lanes, inv_step2, rest_row, group.row(index), &start) - before);
    }
    lanes.store(stored, &mut group.chains[chain::START_POTENTIAL]);
}

/// Distance of a node's sphere from the plane that `solve_contacts` handed over, negative inside.
///
/// At rest it is some 10⁻⁷ m, less than a place has digits for. So the substep's motion is added to the distance at the
/// substep's start: rounded, but the same for the solve and for the force that is read from its result.
#[inline(always)]
pub fn contact_gap<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    row: &[Entry<L::Scalar>],
    at: &Placed<L::V>,
) -> L::V {
    let normal = V3::load(lanes, row, node::CONTACT_NORMAL);
    let radius = lanes.load(&rest_row[rest::RADIUS]);
    let prev_scale = lanes.load(&row[node::PREV_SCALE]);
    let start = normal.dot(V3::load(lanes, row, node::PREV_PLACE))
        - lanes.load(&row[node::CONTACT_OFFSET])
        - radius * prev_scale;
    start + (normal.dot(at.moved) - radius * (at.scale - prev_scale))
}
