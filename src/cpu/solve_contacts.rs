//! Stage `solve_contacts`: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
//! allows; its twin is `shaders/solve_contacts.wgsl`.
//!
//! What it finds are contact rows ([`contact`]) for the next solve: one for each node and half-space, in this order. Penalties
//! are stiff against the node's own inertia, k = β·m/h²: a node carrying the weight of n nodes sinks by n·g·h²/β.
//!
//! Friction is Coulomb's as elastic and perfectly plastic contact has it: a spring of the same stiffness up to the limit μλ, the
//! limit from there. Only the normal force λ is lagged: it is the one with which the last solve pressed. The spring's anchor is
//! where it goes on pulling as it did in the last substep, so that what sticks does not creep. The solve takes each row either
//! as sticking, by the spring, or as slipping, by the limit, which has no stiffness along the pull: the exact Newton step on
//! either side. On which side it begins is foreseen here: on the spring's where it stuck, and where the limit is enough to stop
//! the node alone; where that proves wrong, the chain is solved again.
//!
//! A half-space moves through the frame as a rigid body does. How deep a node is inside is measured against where the
//! half-space was at the substep's start, and it is pushed out of that at [`RECOVERY_SPEED`]; of what the half-space itself
//! goes in the substep it is pushed out at once. Padding touches nothing.

use super::carry::carried;
use super::contact_rows::MOST_DUAL;
use super::group::{Group, second_order, unpadded};
use super::holds::across;
use super::lanes::{Entry, Lane, Lanes};
use super::math::{Quaternion, V3};
use crate::layout::{chain, contact, node, plane, rest};
use crate::step::StepParams;

/// β: contact stiffness over m/h² (1). Lower sinks deeper; higher costs f32 digits.
pub const PENALTY: f32 = 1000.0;

/// The most that contact stiffness over mass is (1/s²), however short the substep: what lies under its own weight is
/// g/[`STIFFEST`] deep, a few units in the last place of a place within a metre.
pub const STIFFEST: f32 = 1.0e7;

/// Which share of Coulomb's limit is below it.
pub const STICKING: f32 = 0.999;

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
        let prev_frame = Quaternion::load(lanes, row, node::PREV_FRAME);
        let axis = prev_frame.axes(lanes)[2];
        let predicted = V3::load(lanes, row, node::PREDICTED_MOVE);
        let turned = prev_frame.turn_on(lanes, Quaternion::load(lanes, row, node::PREDICTED_FRAME));
        let rest_radius = lanes.load(&rest_row[rest::RADIUS]);
        let prev_radius = rest_radius * lanes.load(&row[node::PREV_SCALE]);
        let radius = rest_radius * lanes.load(&row[node::SCALE]);
        let mass = unpadded(lanes, group, index, rest::MASS);
        let stiffness = (lanes.splat(PENALTY) * inv_h * inv_h).min(lanes.splat(STIFFEST)) * mass;
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
            let normal = there.later.normal;
            let slide = across(there.sweep(lanes, start - normal * prev_radius), normal);
            let foreseen = across(predicted, normal) + normal.cross(turned) * prev_radius - slide;
            let at = (index * planes + slot) * contact::ENTRIES;
            let before = &group.contacts[at..][..contact::ENTRIES];
            let tangent = across(V3::load(lanes, before, contact::TANGENT), there.later.normal);
            let pulled = tangent.dot(tangent).sqrt();
            let stuck = pulled.where_less(lanes.load(&before[contact::LIMIT]) * lanes.splat(STICKING), one, zero);
            let dual = lanes.load(&before[contact::DUAL]);
            let limit = (there.friction * zero.where_less(dual, dual, zero)).min(lanes.splat(MOST_DUAL));
            let inertia = inertia_of(lanes, rest_row, axis, normal, foreseen, prev_radius);
            let stops = (foreseen.dot(foreseen).sqrt() * inertia * inv_step * inv_step).where_less(limit, one, zero);
            let least = lanes.splat(f32::MIN_POSITIVE);
            let goes_on = limit.min(pulled) / pulled.max(least) / stiffness.max(least);
            let (anchor, sticks) = if params.iteration == 0 {
                (slide + tangent * goes_on, zero.where_less(limit, stuck.max(stops), zero))
            } else {
                (V3::load(lanes, before, contact::ANCHOR), zero)
            };

            let row: &mut [Entry<L::Scalar>] = &mut group.contacts[at..][..contact::ENTRIES];
            lanes.store(lanes.splat(index as f32), &mut row[contact::SEGMENT]);
            lanes.store(zero, &mut row[contact::ALONG]);
            there.later.normal.store(lanes, row, contact::DIRECTION);
            lanes.store(rest_radius, &mut row[contact::SCALE_TERM]);
            lanes.store(gap - kept, &mut row[contact::GAP]);
            lanes.store(pressing, &mut row[contact::STIFFNESS]);
            lanes.store(prev_radius, &mut row[contact::ARM]);
            lanes.store(pressing, &mut row[contact::FRICTION]);
            lanes.store(limit, &mut row[contact::LIMIT]);
            lanes.store(sticks, &mut row[contact::STICKS]);
            anchor.store(lanes, row, contact::ANCHOR);
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

/// What a node's surface weighs (kg) against a force across a normal, along a way: it turns about the rod's axis too.
#[inline(always)]
fn inertia_of<L: Lanes>(
    lanes: L,
    rest_row: &[Entry<L::Scalar>],
    axis: V3<L::V>,
    normal: V3<L::V>,
    way: V3<L::V>,
    arm: L::V,
) -> L::V {
    let least = lanes.splat(f32::MIN_POSITIVE);
    let about_axis = arm * normal.cross(way.direction(lanes)).dot(axis);
    let mass = lanes.load(&rest_row[rest::MASS]).max(least);
    let turns = lanes.load(&rest_row[rest::FREE_FRAME]) / lanes.load(&rest_row[rest::INERTIA_W]).max(least);
    mass / (lanes.splat(1.0) + about_axis * about_axis * turns * mass)
}
