// Stage solve_contacts: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
// allows; the twin of src/cpu/solve_contacts.rs, which says why.

@group(0) @binding(8) var<storage, read> plane_rows: array<f32>;

// β: contact stiffness over m/h² (1).
const PENALTY: f32 = 1000.0;

// The most that contact stiffness over mass is (1/s²).
const STIFFEST: f32 = 1.0e7;

// How deep over its radius a node may come by itself at the speed that it has: a fast one meets more than STIFFEST.
const STOPS: f32 = 0.05;

// Which share of Coulomb's limit is below it.
const STICKING: f32 = 0.999;

// How fast a node that is found inside a half-space is pushed out (m/s).
const RECOVERY_SPEED: f32 = 1.0;

// Writes each node's row of each half-space.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_contacts(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    if params.plane_count == 0u || chain.node_count == 0u {
        return;
    }
    let inv_h = params.inv_h;
    let recovery = RECOVERY_SPEED * params.h;
    let inv_step = inv_h * (1.0 + second_order_of(chain) * 0.5);
    for (var index = 0u; index < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let row = node_row_of(chain, index);
        let start = node3(row, NODE_PREV_PLACE);
        let moved = node3(row, NODE_MOVED);
        let prev_frame = node4(row, NODE_PREV_FRAME);
        let axis = axes_of(prev_frame)[2];
        let predicted = node3(row, NODE_PREDICTED_MOVE);
        let turned = turn_on(prev_frame, node4(row, NODE_PREDICTED_FRAME));
        let rest_radius = rest_at(rest_row, REST_RADIUS);
        let prev_radius = rest_radius * node_at(row, NODE_PREV_SCALE);
        let radius = rest_radius * node_at(row, NODE_SCALE);
        let weight = weight_of(rest_row, REST_MASS);
        // What bones hold, and flesh between two held ends, goes where they carry it, into the half-space too.
        let held = 1.0 - rest_at(rest_row, REST_FREE_PLACE);
        let obeys = larger(held, rest_at(rest_row, REST_CARRIED));
        // What swells is pushed out, but where it is held.
        let obeyed_radius = rest_radius + (prev_radius - rest_radius) * held;
        var carried_place = start;
        if obeys > 0.5 {
            carried_place = carried_in_chain(chain, index, CHAIN_BONE_NOW).place;
        }
        for (var slot = 0u; slot < params.plane_count; slot++) {
            let there = surface_in_substep(plane_row_of(chain, slot));
            let allowed = smaller(distance_from(there.later, carried_place) - obeyed_radius, 0.0) * obeys;
            let was = distance_from(there.earlier, start) - prev_radius - allowed;
            let gap = distance_from(there.later, start) - prev_radius - allowed;
            let now = gap + (dot(there.later.normal, moved) - (radius - prev_radius));

            // A node that may reach it in this substep is told now.
            let approach = now - was;
            let reach = smaller(smaller(was, now), now + approach);
            let goes = was - gap - dot(there.later.normal, predicted);
            let rate = larger(goes, 0.0) * inv_h / larger(prev_radius * STOPS, MIN_POSITIVE);
            let stiffness = smaller(PENALTY * inv_h * inv_h, larger(STIFFEST, rate * rate)) * weight;
            let pressing = where_less(reach, 0.0, stiffness, 0.0);
            let kept = smaller(was + recovery, 0.0);

            // As if the node were part of it: what is carried turns with it.
            let normal = there.later.normal;
            let slide = across(sweep(there, start - normal * prev_radius), normal);
            let foreseen = across(predicted, normal) + cross(normal, turned) * prev_radius - slide;
            let at = contact_row_of(chain, index * params.plane_count + slot);
            let tangent = across(contact3(at, CONTACT_TANGENT), normal);
            let pulled = sqrt(dot(tangent, tangent));
            let stuck = where_less(pulled, contact_at(at, CONTACT_LIMIT) * STICKING, 1.0, 0.0);
            let dual = contact_at(at, CONTACT_DUAL);
            let limit = smaller(there.friction * where_less(0.0, dual, dual, 0.0), MOST_DUAL);
            let inertia = inertia_of(rest_row, axis, normal, foreseen, prev_radius);
            let stops = where_less(sqrt(dot(foreseen, foreseen)) * inertia * inv_step * inv_step, limit, 1.0, 0.0);
            let goes_on = smaller(limit, pulled) / larger(pulled, MIN_POSITIVE) / larger(stiffness, MIN_POSITIVE);
            var anchor = slide + tangent * goes_on;
            var sticks = where_less(0.0, limit, larger(stuck, stops), 0.0);
            if params.iteration > 0u {
                anchor = contact3(at, CONTACT_ANCHOR);
                sticks = 0.0;
            }

            set_contact(at, CONTACT_SEGMENT, f32(index));
            set_contact(at, CONTACT_ALONG, 0.0);
            set_contact3(at, CONTACT_DIRECTION, there.later.normal);
            set_contact(at, CONTACT_SCALE_TERM, rest_radius);
            set_contact(at, CONTACT_GAP, gap - kept);
            set_contact(at, CONTACT_STIFFNESS, pressing);
            set_contact(at, CONTACT_ARM, prev_radius);
            set_contact(at, CONTACT_FRICTION, pressing);
            set_contact(at, CONTACT_LIMIT, limit);
            set_contact(at, CONTACT_STICKS, sticks);
            set_contact3(at, CONTACT_ANCHOR, anchor);
        }
    }
}

// A half-space's plane as the chain sees it.
struct Plane {
    normal: vec3<f32>,
    offset: f32,
}

fn distance_from(plane: Plane, point: vec3<f32>) -> f32 {
    return dot(plane.normal, point) - plane.offset;
}

// A half-space in a substep.
struct Surface {
    // At the substep's start.
    earlier: Plane,
    // At its end.
    later: Plane,
    friction: f32,
    // How far it goes in the substep at the chain's origin (m).
    goes: vec3<f32>,
    // By how much it turns (rad).
    turns: vec3<f32>,
}

fn surface_in_substep(row: u32) -> Surface {
    let share = params.h / params.frame;
    return Surface(
        plane_on_the_way(row, params.alpha - share),
        plane_on_the_way(row, params.alpha),
        plane_at(row, PLANE_FRICTION),
        plane3(row, PLANE_MOVE) * share,
        plane3(row, PLANE_TURN) * share,
    );
}

// Where a half-space is on its way through the frame.
fn plane_on_the_way(row: u32, alpha: f32) -> Plane {
    let before = plane3(row, PLANE_NORMAL_FROM);
    let offset = plane_at(row, PLANE_OFFSET_FROM);
    let normal = before + (plane3(row, PLANE_NORMAL_TO) - before) * alpha;
    // A lane without a chain has none.
    let inv_length = 1.0 / sqrt(larger(dot(normal, normal), MIN_POSITIVE));
    return Plane(normal * inv_length, (offset + (plane_at(row, PLANE_OFFSET_TO) - offset) * alpha) * inv_length);
}

// How far its surface goes in the substep at a point (m), along the arc's chord to the second order.
fn sweep(surface: Surface, point: vec3<f32>) -> vec3<f32> {
    let straight = surface.goes + cross(surface.turns, point);
    return straight + cross(surface.turns, straight) * 0.5;
}

// What a node's surface weighs (kg) against a force across a normal, along a way: it turns about the rod's axis too.
fn inertia_of(rest_row: u32, axis: vec3<f32>, normal: vec3<f32>, way: vec3<f32>, arm: f32) -> f32 {
    let about_axis = arm * dot(cross(normal, direction(way)), axis);
    let mass = larger(rest_at(rest_row, REST_MASS), MIN_POSITIVE);
    let turns = rest_at(rest_row, REST_FREE_FRAME) / larger(rest_at(rest_row, REST_INERTIA_W), MIN_POSITIVE);
    return mass / (1.0 + about_axis * about_axis * turns * mass);
}

// First word of a half-space's row.
fn plane_row_of(chain: Chain, slot: u32) -> u32 {
    return chain.planes + slot * (PLANE_ENTRIES * LANES);
}

fn plane_at(row: u32, entry: u32) -> f32 {
    return plane_rows[row + entry * LANES];
}

fn plane3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(plane_at(row, entry), plane_at(row, entry + 1u), plane_at(row, entry + 2u));
}
