// Stage solve_contacts: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
// allows; the twin of src/cpu/solve_contacts.rs, which says why.

@group(0) @binding(8) var<storage, read> plane_rows: array<f32>;

// β: contact stiffness over m/h² (1).
const PENALTY: f32 = 1000.0;

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
        let rest_radius = rest_at(rest_row, REST_RADIUS);
        let prev_radius = rest_radius * node_at(row, NODE_PREV_SCALE);
        let radius = rest_radius * node_at(row, NODE_SCALE);
        let stiffness = PENALTY * weight_of(rest_row, REST_MASS) * inv_h * inv_h;
        let inertia = rest_at(rest_row, REST_MASS) * inv_step * inv_step;
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
            let pressing = where_less(reach, 0.0, stiffness, 0.0);
            let kept = smaller(was + recovery, 0.0);

            // As if the node were part of it: what is carried turns with it.
            let slide = across(sweep(there, start), there.later.normal);
            let foreseen = across(node3(row, NODE_PREDICTED_MOVE), there.later.normal) - slide;
            let last = across(node3(row, NODE_OLDER_MOVE), there.later.normal) - slide;
            let at = contact_row_of(chain, index * params.plane_count + slot);
            let dual = contact_at(at, CONTACT_DUAL);
            let limit = there.friction * where_less(0.0, dual, smaller(dual, MOST_DUAL), 0.0);
            let friction = smaller(friction_stiffness(limit, inertia, foreseen, last), pressing);

            set_contact(at, CONTACT_SEGMENT, f32(index));
            set_contact(at, CONTACT_ALONG, 0.0);
            set_contact3(at, CONTACT_DIRECTION, there.later.normal);
            set_contact(at, CONTACT_SCALE_TERM, rest_radius);
            set_contact(at, CONTACT_GAP, gap - kept);
            set_contact(at, CONTACT_STIFFNESS, pressing);
            set_contact(at, CONTACT_FRICTION, friction);
            set_contact3(at, CONTACT_SLIDE, slide);
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

// Friction's stiffness k_t (N/m) in this substep: k_t = μλ/max(y, |last slide|).
fn friction_stiffness(limit: f32, inertia: f32, foreseen: vec3<f32>, last: vec3<f32>) -> f32 {
    let alone = sqrt(dot(foreseen, foreseen)) - limit / larger(inertia, 1.0e-30);
    let slide = larger(alone, sqrt(dot(last, last)));
    return limit / larger(slide, 1.0e-12);
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
