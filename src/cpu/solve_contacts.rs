//! Stage `solve_contacts`: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
//! allows; its twin is `shaders/solve_contacts.wgsl`.
//!
//! What it finds are contact rows ([`contact`]) for the next solve: one for each node and half-space, in this order. Penalties
//! are stiff against the node's own inertia, k = β·m/h²: a node carrying the weight of n nodes sinks by n·g·h²/β. Of
//! Coulomb's friction only the normal force λ is lagged: it is the one with which the last solve pressed, and the next may
//! hold with μλ.
//!
//! A half-space moves through the frame as a rigid body does. How deep a node is inside is measured against where the
//! half-space was at the substep's start, and it is pushed out of that at [`RECOVERY_SPEED`]; of what the half-space itself
//! goes in the substep it is pushed out at once. Padding touches nothing.

use super::carry::carried;
use super::contact_rows::MOST_DUAL;
use super::group::{Group, second_order, unpadded};
use super::holds::across;
use super::lanes::{Entry, Lane, Lanes};
use super::math::V3;
use crate::layout::{chain, contact, node, plane, rest};
use crate::step::StepParams;

/// β: contact stiffness over m/h² (1). Lower sinks deeper; higher costs f32 digits.
pub const PENALTY: f32 = 1000.0;

/// How fast a node that is found inside a half-space is pushed out (m/s).
pub const RECOVERY_SPEED: f32 = 1.0;

/// Writes each node's row of each half-space.
#[inline(always)]
pub fn solve_contacts<L: Lanes>(lanes: L, params: &StepParams, group: &mut Group<L::Scalar>)
where
    L::Scalar: Into<f64>,
{
    let planes = group.planes.len() / plane::ENTRIES;
    if planes == 0 {
        return;
    }
    let (zero, one) = (lanes.splat(0.0), lanes.splat(1.0));
    let inv_h = lanes.splat(params.inv_h);
    let recovery = lanes.splat(RECOVERY_SPEED * params.h);
    let inv_step = inv_h * (one + second_order(lanes, params, group) * lanes.splat(0.5));
    for index in 0..group.rest.node_count {
        let rest_row = group.rest.row(index);
        let row = group.row(index);
        let start = V3::load(lanes, row, node::PREV_PLACE);
        let moved = V3::load(lanes, row, node::MOVED);
        let moves = [node::PREDICTED_MOVE, node::OLDER_MOVE].map(|at| V3::load(lanes, row, at));
        let rest_radius = lanes.load(&rest_row[rest::RADIUS]);
        let prev_radius = rest_radius * lanes.load(&row[node::PREV_SCALE]);
        let radius = rest_radius * lanes.load(&row[node::SCALE]);
        let stiffness = lanes.splat(PENALTY) * unpadded(lanes, group, index, rest::MASS) * inv_h * inv_h;
        let inertia = lanes.at(rest_row, rest::MASS) * inv_step * inv_step;
        // What bones hold, and flesh between two held ends, goes where they carry it, into the half-space too.
        let held = one - lanes.load(&rest_row[rest::FREE_PLACE]);
        let obeys = held.max(lanes.load(&rest_row[rest::CARRIED]));
        // What swells is pushed out, but where it is held.
        let obeyed_radius = rest_radius + (prev_radius - rest_radius) * held;
        let mut carried_place = start;
        if group.rest.carried[index] {
            carried_place = carried(lanes, group.rest, &group.chains[chain::BONE_NOW..], index).0;
        }
        for slot in 0..planes {
            let there = Surface::in_substep(lanes, params, &group.planes[slot * plane::ENTRIES..]);
            let allowed = (there.later.distance(carried_place) - obeyed_radius).min(zero) * obeys;
            let was = there.earlier.distance(start) - prev_radius - allowed;
            let gap = there.later.distance(start) - prev_radius - allowed;
            let now = gap + (there.later.normal.dot(moved) - (radius - prev_radius));

            // A node that may reach it in this substep is told now.
            let approach = now - was;
            let reach = was.min(now).min(now + approach);
            let pressing = reach.where_less(zero, stiffness, zero);
            let kept = (was + recovery).min(zero);

            // As if the node were part of it: what is carried turns with it.
            let slide = across(there.sweep(lanes, start), there.later.normal);
            let [foreseen, last] = moves.map(|moves| across(moves, there.later.normal) - slide);
            let at = (index * planes + slot) * contact::ENTRIES;
            let dual = lanes.load(&group.contacts[at + contact::DUAL]);
            let limit = there.friction * zero.where_less(dual, dual.min(lanes.splat(MOST_DUAL)), zero);
            let friction = friction_stiffness(lanes, limit, inertia, foreseen, last).min(pressing);

            let row: &mut [Entry<L::Scalar>] = &mut group.contacts[at..][..contact::ENTRIES];
            lanes.store(lanes.splat(index as f32), &mut row[contact::SEGMENT]);
            lanes.store(zero, &mut row[contact::ALONG]);
            there.later.normal.store(lanes, row, contact::DIRECTION);
            lanes.store(rest_radius, &mut row[contact::SCALE_TERM]);
            lanes.store(gap - kept, &mut row[contact::GAP]);
            lanes.store(pressing, &mut row[contact::STIFFNESS]);
            lanes.store(friction, &mut row[contact::FRICTION]);
            slide.store(lanes, row, contact::SLIDE);
        }
    }
}

/// A half-space's plane as the chain sees it.
struct Plane<V> {
    normal: V3<V>,
    offset: V,
}

impl<V: Lane> Plane<V> {
    #[inline(always)]
    fn distance(&self, point: V3<V>) -> V {
        self.normal.dot(point) - self.offset
    }
}

/// A half-space in a substep.
struct Surface<V> {
    /// At the substep's start.
    earlier: Plane<V>,
    /// At its end.
    later: Plane<V>,
    friction: V,
    /// How far it goes in the substep at the chain's origin (m).
    goes: V3<V>,
    /// By how much it turns (rad).
    turns: V3<V>,
}

impl<V: Lane> Surface<V> {
    #[inline(always)]
    fn in_substep<L: Lanes<V = V>>(lanes: L, params: &StepParams, row: &[Entry<L::Scalar>]) -> Self {
        let (from, to) = (V3::load(lanes, row, plane::NORMAL_FROM), V3::load(lanes, row, plane::NORMAL_TO));
        let (offset_from, offset_to) = (lanes.load(&row[plane::OFFSET_FROM]), lanes.load(&row[plane::OFFSET_TO]));
        let at = |alpha: f32| {
            let alpha = lanes.splat(alpha);
            let normal = from + (to - from) * alpha;
            // A lane without a chain has none.
            let inv_length = lanes.splat(1.0) / normal.dot(normal).max(lanes.splat(f32::MIN_POSITIVE)).sqrt();
            Plane {
                normal: normal * inv_length,
                offset: (offset_from + (offset_to - offset_from) * alpha) * inv_length,
            }
        };
        let share = lanes.splat(params.substep_share());
        Self {
            earlier: at(params.alpha - params.substep_share()),
            later: at(params.alpha),
            friction: lanes.load(&row[plane::FRICTION]),
            goes: V3::load(lanes, row, plane::MOVE) * share,
            turns: V3::load(lanes, row, plane::TURN) * share,
        }
    }

    /// How far its surface goes in the substep at a point (m), along the arc's chord to the second order.
    #[inline(always)]
    fn sweep<L: Lanes<V = V>>(&self, lanes: L, point: V3<V>) -> V3<V> {
        let straight = self.goes + self.turns.cross(point);
        straight + self.turns.cross(straight) * lanes.splat(0.5)
    }
}

/// Friction's stiffness k_t (N/m) in this substep.
///
/// Friction may hold with at most μλ = k_t|slid|, and how far the node will slide is not known yet. Alone, inertia would
/// carry it by y = |predicted slide| − μλh̃²/m; pulled by its rod, it goes on like in the last substep. The larger of the two,
/// so that friction never exceeds Coulomb's but for a rod that changes its pull: k_t = μλ/max(y, |last slide|). A rod that
/// slides freely to its stop gets one substep further than it should.
#[inline(always)]
fn friction_stiffness<L: Lanes>(lanes: L, limit: L::V, inertia: L::V, foreseen: V3<L::V>, last: V3<L::V>) -> L::V {
    let alone = foreseen.dot(foreseen).sqrt() - limit / inertia.max(lanes.splat(1.0e-30));
    let slide = alone.max(last.dot(last).sqrt());
    limit / slide.max(lanes.splat(1.0e-12))
}
