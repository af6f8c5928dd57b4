// Stage solve_contacts: which half-spaces the nodes' spheres touch in this substep, how hard, and how much friction that
// allows; the twin of src/cpu/solve_contacts.rs, which says why and has solids too.

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
    for (var index = 0u; index < chain.node_count; index++) {
        let node = point_of_node(chain, index);
        for (var slot = 0u; slot < params.plane_count; slot++) {
            let there = surface_in_substep(plane_row_of(chain, slot));
            write_row(chain, index * params.plane_count + slot, index, node, there);
        }
    }
}

// A point of a chain's axis in a substep: a node.
struct Point {
    // Its place at the substep's start (m).
    start: vec3<f32>,
    // How far it has gone since (m).
    moved: vec3<f32>,
    // How far it would go (m).
    predicted: vec3<f32>,
    // How far it would turn (rad).
    turned: vec3<f32>,
    // The rod's direction at the start.
    axis: vec3<f32>,
    rest_radius: f32,
    prev_radius: f32,
    radius: f32,
    // The radius of which it obeys its bones (m).
    obeyed_radius: f32,
    // Which share of it bones hold or carry wherever they go.
    obeys: f32,
    // Where they carry it (m).
    carried: vec3<f32>,
    mass: f32,
    // One over its inertia about the axis (1/(kg·m²)), 0 where it does not turn.
    inv_inertia: f32,
    // The mass that its stiffness goes by (kg); 0 where nothing is there to touch.
    weight: f32,
}

fn point_of_node(chain: Chain, index: u32) -> Point {
    let rest_row = rest_row_of(chain, index);
    let row = node_row_of(chain, index);
    let start = node3(row, NODE_PREV_PLACE);
    let prev_frame = node4(row, NODE_PREV_FRAME);
    let rest_radius = rest_at(rest_row, REST_RADIUS);
    let prev_radius = rest_radius * node_at(row, NODE_PREV_SCALE);
    // What bones hold, and flesh between two held ends, goes where they carry it, into the solid too.
    let held = 1.0 - rest_at(rest_row, REST_FREE_PLACE);
    let obeys = larger(held, rest_at(rest_row, REST_CARRIED));
    var carried_place = start;
    if obeys > 0.5 {
        carried_place = carried_in_chain(chain, index, CHAIN_BONE_NOW).place;
    }
    return Point(
        start,
        node3(row, NODE_MOVED),
        node3(row, NODE_PREDICTED_MOVE),
        turn_on(prev_frame, node4(row, NODE_PREDICTED_FRAME)),
        axes_of(prev_frame)[2],
        rest_radius,
        prev_radius,
        rest_radius * node_at(row, NODE_SCALE),
        // What swells is pushed out, but where it is held.
        rest_radius + (prev_radius - rest_radius) * held,
        obeys,
        carried_place,
        larger(rest_at(rest_row, REST_MASS), MIN_POSITIVE),
        rest_at(rest_row, REST_FREE_FRAME) / larger(rest_at(rest_row, REST_INERTIA_W), MIN_POSITIVE),
        weight_of(rest_row, REST_MASS),
    );
}

// Its stiffness (N/m) against what it goes towards by so much in the substep (m).
fn contact_stiffness(point: Point, goes: f32) -> f32 {
    let inv_h = params.inv_h;
    let speed = larger(goes, 0.0) * inv_h;
    let rate = speed / larger(point.prev_radius * STOPS, MIN_POSITIVE);
    let most = larger(STIFFEST, rate * rate);
    return smaller(PENALTY * inv_h * inv_h, most) * point.weight;
}

// What its surface weighs (kg) against a force across a normal, along a way: it turns about the rod's axis too.
fn inertia_of(point: Point, normal: vec3<f32>, way: vec3<f32>) -> f32 {
    let about_axis = point.prev_radius * dot(cross(normal, direction(way)), point.axis);
    return point.mass / (1.0 + about_axis * about_axis * point.inv_inertia * point.mass);
}

// Writes the row in a slot of what a point on a segment touches.
fn write_row(chain: Chain, slot: u32, segment: u32, point: Point, there: Surface) {
    let recovery = RECOVERY_SPEED * params.h;
    let inv_step = params.inv_h * (1.0 + second_order_of(chain) * 0.5);
    let start = point.start;
    let prev_radius = point.prev_radius;
    let normal = there.later.normal;
    let allowed = smaller(distance_from(there.later, point.carried) - point.obeyed_radius, 0.0) * point.obeys;
    let was = distance_from(there.earlier, start) - prev_radius - allowed;
    let gap = distance_from(there.later, start) - prev_radius - allowed;
    let now = gap + (dot(normal, point.moved) - (point.radius - prev_radius));

    // What may reach it in this substep is told now.
    let approach = now - was;
    let reach = smaller(smaller(smaller(was, now), now + approach), gap + dot(normal, point.predicted));
    let stiffness = contact_stiffness(point, was - gap - dot(normal, point.predicted));
    let pressing = where_less(reach, 0.0, stiffness, 0.0);
    let kept = smaller(was + recovery, 0.0);

    // As if the point were part of it: what is carried turns with it.
    let slide = across(sweep(there, start - normal * prev_radius), normal);
    let foreseen = across(point.predicted, normal) + cross(normal, point.turned) * prev_radius - slide;
    let at = contact_row_of(chain, slot);
    let tangent = across(contact3(at, CONTACT_TANGENT), normal);
    let pulled = sqrt(dot(tangent, tangent));
    let stuck = where_less(pulled, contact_at(at, CONTACT_LIMIT) * STICKING, 1.0, 0.0);
    let dual = contact_at(at, CONTACT_DUAL);
    let limit = smaller(there.friction * where_less(0.0, dual, dual, 0.0), MOST_DUAL);
    let inertia = inertia_of(point, normal, foreseen);
    let stops = where_less(sqrt(dot(foreseen, foreseen)) * inertia * inv_step * inv_step, limit, 1.0, 0.0);
    let holds = smaller(limit, pulled) / larger(pulled, MIN_POSITIVE) / larger(stiffness, MIN_POSITIVE);
    let goes_on = where_less(0.0, stiffness, holds, 0.0);
    var anchor = slide + tangent * goes_on;
    var sticks = where_less(0.0, limit, larger(stuck, stops), 0.0);
    if params.iteration > 0u {
        anchor = contact3(at, CONTACT_ANCHOR);
        sticks = 0.0;
    }

    set_contact(at, CONTACT_SEGMENT, f32(segment));
    set_contact(at, CONTACT_ALONG, 0.0);
    set_contact3(at, CONTACT_DIRECTION, normal);
    set_contact(at, CONTACT_SCALE_TERM, point.rest_radius);
    set_contact(at, CONTACT_GAP, gap - kept);
    set_contact(at, CONTACT_STIFFNESS, pressing);
    set_contact(at, CONTACT_ARM, prev_radius);
    set_contact(at, CONTACT_FRICTION, pressing);
    set_contact(at, CONTACT_LIMIT, limit);
    set_contact(at, CONTACT_STICKS, sticks);
    set_contact3(at, CONTACT_ANCHOR, anchor);
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
