// Stage solve_contacts: which half-spaces and solids the chains touch in this substep, how hard, and how much friction that
// allows; the twin of src/cpu/solve_contacts.rs, which says why.
//
// Before a substep's first solve its first pass, `touch_solids`, finds for each segment along which planes it touches solids.

@group(0) @binding(8) var<storage, read> plane_rows: array<f32>;

// β: contact stiffness over m/h² (1).
const PENALTY: f32 = 1000.0;

// The most that contact stiffness over mass is (1/s²).
const STIFFEST: f32 = 1.0e7;

// How deep over its radius a node may come by itself at the speed that it has: a fast one meets more than STIFFEST.
const STOPS: f32 = 0.05;

// How stiff a surface is at least, over the force with which it pressed last over the radius, and how many times as stiff as by the
// chain's mass that is at most.
const FIRM: f32 = 100.0;
const FIRMEST: f32 = 1.0e4;

// How deep over its radius what a force presses on it counts as lying there, beside what accelerates it by up to so much (m/s²). What
// is deeper is squeezed between what moves: it meets nothing stiffer.
const SQUEEZED: f32 = 0.1;
const MOST_LOAD: f32 = 2.0e4;

// Which share of Coulomb's limit is below it.
const STICKING: f32 = 0.999;

// How many times as much as it takes to stop a node alone the limit is at the least where what slipped among others, which push it
// on, is foreseen to stick.
const AMPLE: f32 = 8.0;

// How fast a node that is found inside a half-space is pushed out (m/s).
const RECOVERY_SPEED: f32 = 1.0;

// How fast (m/s) what bounces is to come at least, beside twice as fast as it falls in a substep.
const LEAST_BOUNCE: f32 = 0.01;

// At which share of that, or of how fast it came, it is stopped.
const STILL_COMES: f32 = 0.1;

// How long (s) it may take to stop what is to bounce, beside two substeps.
const LONGEST_STOP: f32 = 0.0125;

// Finds along which planes the segments of every chain touch solids in a substep.
@compute @workgroup_size(WORKGROUP_SIZE)
fn touch_solids(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let chain = chain_of(thread);
    if chain.node_count == 0u {
        return;
    }
    let group = groups[u32(input_rows[word(group_of(thread), INPUT_ENTRIES, INPUT_WORKS, 0u)])];
    if group.touch_count == 0u {
        return;
    }
    // Of a frame that was not the last one nothing is remembered, but by what has slept since.
    let told = contact_at(chain.touches, TOUCHES_RECORDING);
    let is_recent = told == recording_told(params.recording) || told == recording_told(params.recording - 1u);
    let slept = chain_at(chain.chain, CHAIN_SLEEPS) >= SLEPT_BEFORE;
    let remembers = chain.touch_count > 0u && (is_recent || slept);
    let origin = chain3(chain.chain, CHAIN_ORIGIN);

    // All that the chain may come to touch, as fast as any of it: what is stopped at one end whips at the other.
    var low = vec3<f32>(MOST_DUAL);
    var high = vec3<f32>(-MOST_DUAL);
    var thick = 0.0;
    var coming = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let radius = rest_at(rest_row_of(chain, index), REST_RADIUS) * node_at(row, NODE_PREV_SCALE);
        if radius > 0.0 {
            let place = node3(row, NODE_PREV_PLACE);
            low = min(low, place);
            high = max(high, place);
            thick = larger(radius, thick);
            coming = larger(length(node3(row, NODE_MOVED)), coming);
            coming = larger(length(node3(row, NODE_PREDICTED_MOVE)), coming);
        }
    }
    let reach = smaller(coming * params.frame * params.inv_h + SLACK * thick, MOST_REACH);
    let middle = (low + high) * 0.5;
    let around = distance(low, high) * 0.5 + thick + reach;
    var near_solids: array<u32, NEAR_CHAIN>;
    var near_count = 0u;
    if group.touched_solids != 0u && is_number(dot(middle, middle)) && is_number(around) {
        for (var solid = 0u; solid < params.solid_count; solid++) {
            let row = solid_row_of(solid);
            if is_met(row, group) && is_near(row, moving_of(row), origin, middle, around) {
                if near_count < NEAR_CHAIN {
                    near_solids[near_count] = solid;
                }
                near_count++;
            }
        }
    }
    let asked_count = select(near_count, params.solid_count, near_count > NEAR_CHAIN);
    var all_count = 0u;
    for (var index = 0u; index < select(0u, chain.node_count, asked_count + group.pill_count > 0u); index++) {
        var before: array<Memory, TOUCHES>;
        for (var touch = 0u; touch < TOUCHES; touch++) {
            before[touch].touched = vec3<f32>(-1.0);
            if remembers {
                before[touch] = memory_of(touch_row_of(chain, index, touch), tangent_row_of(chain, index, touch));
            }
        }
        let ends = ends_of(chain, index);
        var found: Touches;
        if ends.first_radius > 0.0 {
            touch_bone_pills(chain, index, origin, ends, group, lane_of(thread), &before, &found);
            for (var k = 0u; k < asked_count; k++) {
                var solid = k;
                if near_count <= NEAR_CHAIN {
                    solid = near_solids[k];
                }
                if near_count <= NEAR_CHAIN || is_met(solid_row_of(solid), group) {
                    touch_solid(chain, index, origin, ends, reach, solid, group, &found);
                }
            }
        }
        for (var touch = 0u; touch < TOUCHES; touch++) {
            remember(chain, index, touch, touch < found.count, &before);
        }
        hand_over(chain, index, found.count, &before);
        all_count += found.count;
    }
    set_contact(chain.touches, 0u, f32(all_count));
    set_contact(chain.touches, TOUCHES_RECORDING, recording_told(params.recording));
    set_contact(chain.touches, TOUCHES_NEAR, f32(all_count));
}

// Writes each node's row of each half-space, and the rows of what solids' tangent planes touch.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_contacts(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    for (var index = 0u; index < chain.node_count; index++) {
        let node = point_of_node(chain, index);
        // Of one place in the code, which compilers write out.
        for (var k = 0u; k < rows_at_node(chain); k++) {
            let is_solid = k >= chain.plane_count;
            let at = row_at_node(chain, index, k);
            var point = node;
            var there: Surface;
            if is_solid {
                let tangent = tangent_row_of(chain, index, k - chain.plane_count);
                let share = contact_at(tangent, TANGENT_SHARE);
                if !(share > 0.0) {
                    continue;
                }
                let along = contact_at(tangent, TANGENT_ALONG);
                if along > 0.0 {
                    point = point_between(node, point_of_node(chain, min(index + 1u, chain.node_count - 1u)), along);
                }
                point.weight = point.weight * share;
                there = surface_of_tangent(tangent);
            } else {
                there = surface_in_substep(plane_row_of(chain, k));
            }
            write_row(chain, at, index, point, there);
            forget_idle(at);
        }
    }
}

// What does not press remembers nothing: the solve passes over it.
fn forget_idle(at: u32) {
    if contact_at(at, CONTACT_STIFFNESS) == 0.0 {
        set_contact(at, CONTACT_DUAL, 0.0);
        set_contact3(at, CONTACT_TANGENT, vec3<f32>());
    }
}

// A point of a chain's axis in a substep: a node, or between two.
struct Point {
    // Where on its segment.
    along: f32,
    // Its place at the substep's start (m).
    start: vec3<f32>,
    // How far it has gone since (m).
    moved: vec3<f32>,
    // How far it would go (m).
    predicted: vec3<f32>,
    // Its velocity at the start (m/s).
    velocity: vec3<f32>,
    // How far it would turn (rad).
    turned: vec3<f32>,
    // The rod's direction at the start.
    axis: vec3<f32>,
    rest_radius: f32,
    prev_radius: f32,
    radius: f32,
    // The radius of which it obeys its bones (m).
    obeyed_radius: f32,
    // How much of that may be dented (m): all of it where it is not held.
    yields: f32,
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
        carried_place = carried_in_chain(rest_row, chain.chain, CHAIN_BONE_NOW).place;
    }
    return Point(
        0.0,
        start,
        node3(row, NODE_MOVED),
        node3(row, NODE_PREDICTED_MOVE),
        node3(row, NODE_OLDER_VELOCITY),
        turn_on(prev_frame, node4(row, NODE_PREDICTED_FRAME)),
        axes_of(prev_frame)[2],
        rest_radius,
        prev_radius,
        rest_radius * node_at(row, NODE_SCALE),
        // What swells is pushed out, but where it is held.
        rest_radius + (prev_radius - rest_radius) * held,
        rest_radius * (1.0 - held),
        obeys,
        carried_place,
        larger(rest_at(rest_row, REST_MASS), MIN_POSITIVE),
        rest_at(rest_row, REST_FREE_FRAME) / larger(rest_at(rest_row, REST_INERTIA_W), MIN_POSITIVE),
        weight_of(rest_row, REST_MASS),
    );
}

// Between two nodes: what it weighs is what a force there moves.
fn point_between(a: Point, b: Point, along: f32) -> Point {
    return Point(
        along,
        a.start + (b.start - a.start) * along,
        a.moved + (b.moved - a.moved) * along,
        a.predicted + (b.predicted - a.predicted) * along,
        a.velocity + (b.velocity - a.velocity) * along,
        a.turned + (b.turned - a.turned) * along,
        a.axis,
        a.rest_radius + (b.rest_radius - a.rest_radius) * along,
        a.prev_radius + (b.prev_radius - a.prev_radius) * along,
        a.radius + (b.radius - a.radius) * along,
        a.obeyed_radius + (b.obeyed_radius - a.obeyed_radius) * along,
        a.yields + (b.yields - a.yields) * along,
        a.obeys + (b.obeys - a.obeys) * along,
        a.carried + (b.carried - a.carried) * along,
        mass_together(a.mass, b.mass, along),
        a.inv_inertia + (b.inv_inertia - a.inv_inertia) * along,
        mass_together(a.weight, b.weight, along),
    );
}

fn mass_together(a: f32, b: f32, along: f32) -> f32 {
    let first = (1.0 - along) * (1.0 - along);
    let second = along * along;
    return 1.0 / larger(first / larger(a, MIN_POSITIVE) + second / larger(b, MIN_POSITIVE), MIN_POSITIVE);
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

// Writes a row, of which this is the first word, of what a point on a segment touches.
fn write_row(chain: Chain, at: u32, segment: u32, point: Point, there: Surface) {
    let inv_step = params.inv_h * (1.0 + second_order_of(chain) * 0.5);
    let start = point.start;
    let prev_radius = point.prev_radius;
    let normal = there.later.normal;
    let obeyed_radius = point.obeyed_radius - point.yields * there.dents;
    let carried = smaller(distance_from(there.later, point.carried) - obeyed_radius, 0.0) * point.obeys;
    let other = 1.0 - there.own;
    let allowed = carried * other + there.allowed;
    let was = distance_from(there.earlier, start) - prev_radius - allowed;
    let gap = distance_from(there.later, start) - prev_radius - allowed;
    let now = gap + (dot(normal, point.moved) - (point.radius - prev_radius));

    // What may reach it in this substep is told now.
    let approach = now - was;
    let reach = smaller(smaller(smaller(was, now), now + approach), gap + dot(normal, point.predicted));

    // As if the point were part of it: what is carried turns with it.
    let slide = across(sweep(there, start - normal * prev_radius), normal);
    let foreseen = across(point.predicted, normal) + cross(normal, point.turned) * prev_radius - slide;
    let dual = contact_at(at, CONTACT_DUAL);
    let before = contact4(at, CONTACT_BOUNCE);
    // Chosen, not branched on: lavapipe would compile a kernel anew for each value of what of `params` it branches on.
    let is_first = params.iteration == 0u;
    // What threw in the last substep is over.
    let lasting = dual - select(0.0, larger(before.x, 0.0), is_first);
    let by_mass = contact_stiffness(point, was - gap - dot(normal, point.predicted));
    let last = contact_at(at, CONTACT_STIFFNESS);
    let firm = lasting * FIRM / larger(prev_radius, MIN_POSITIVE);
    let lies = larger(last * prev_radius * SQUEEZED, point.weight * MOST_LOAD);
    // Later solves of the substep have at least the same, where it pressed.
    let by_force = select(last, where_less(lasting, lies, firm, last), is_first);
    let stiffness = larger(by_mass, smaller(by_force, by_mass * FIRMEST));
    // As fast as the surface goes against how fast it comes itself.
    let comes = (was - gap) * params.inv_h - dot(normal, point.velocity);
    // In a short substep too it bears what it bore: but for what it took to stop it. Later solves go on from there.
    let slowed = larger(before.w - comes, 0.0);
    let bore = larger(lasting - slowed * (point.weight * (params.h_over_last_h * params.inv_h)), 0.0);
    let borne = smaller(bore / larger(stiffness, MIN_POSITIVE), prev_radius * (1.0 / FIRM));
    let kept = smaller(was + larger(borne, RECOVERY_SPEED * params.h), 0.0);
    let begins = select(where_less(0.0, last, contact_at(at, CONTACT_GAP), gap - kept), gap - kept, is_first);
    let fall = falls_of(chain);
    let least = larger(length(fall) * (2.0 * params.h), LEAST_BOUNCE);
    let stopped = stop_or_throw(before, dual, there.restitution, vec4<f32>(comes, least, was, 0.0 - dot(normal, fall)));
    let bounces = select(before, stopped, is_first);
    let bounce = larger(bounces.x, 0.0);
    let pressing = where_less(smaller(reach, 0.0 - bounce), 0.0, stiffness, 0.0);
    let tangent = across(contact3(at, CONTACT_TANGENT), normal);
    let pulled = sqrt(dot(tangent, tangent));
    let stuck = where_less(pulled, contact_at(at, CONTACT_LIMIT) * STICKING, 1.0, 0.0);
    let limit = smaller(there.friction * (where_less(0.0, lasting, lasting, 0.0) + bounce), MOST_DUAL);
    let inertia = inertia_of(point, normal, foreseen);
    let takes = sqrt(dot(foreseen, foreseen)) * inertia * inv_step * inv_step;
    let holds = smaller(limit, pulled) / larger(pulled, LEAST_DIVISOR) / larger(stiffness, LEAST_DIVISOR);
    let goes_on = where_less(0.0, stiffness, holds, 0.0);
    let anchor = select(contact3(at, CONTACT_ANCHOR), slide + tangent * goes_on, is_first);
    let meets = chain_at(chain.chain, CHAIN_MEETS);
    let sticks = select(0.0, foreseen_to_stick(stuck, takes, limit, meets), is_first);

    set_contact(at, CONTACT_SEGMENT, f32(segment));
    set_contact(at, CONTACT_ALONG, point.along);
    set_contact3(at, CONTACT_DIRECTION, normal);
    set_contact(at, CONTACT_SCALE_TERM, point.rest_radius * other);
    set_contact(at, CONTACT_GAP, begins);
    set_contact(at, CONTACT_STIFFNESS, pressing);
    set_contact(at, CONTACT_ARM, prev_radius);
    set_contact(at, CONTACT_FRICTION, pressing);
    set_contact(at, CONTACT_LIMIT, limit);
    set_contact(at, CONTACT_STICKS, sticks);
    let stays = where_less(0.0, smaller(lasting, pressing), meets, 0.0);
    set_contact(at, CONTACT_STAYS, where_less(0.0, bounce, -1.0, stays));
    set_contact3(at, CONTACT_ANCHOR, anchor);
    set_contact4(at, CONTACT_BOUNCE, bounces);
    let throws = select(0.0, bounce, is_first);
    if throws > 0.0 {
        throw_nodes(chain, segment, normal * throws, point.along, 1.0 / inv_step);
    }
}

// Flags what is foreseen to stick, given whether it stuck, how much it takes to stop the node alone (N) and Coulomb's limit (N), and
// whether its chain meets others.
fn foreseen_to_stick(stuck: f32, takes: f32, limit: f32, meets: f32) -> f32 {
    let stops = where_less(takes, limit, 1.0, 0.0);
    let amply = where_less(takes * AMPLE, limit, 1.0, 0.0);
    let foreseen = where_less(0.5, meets, smaller(stops, larger(stuck, amply)), larger(stops, stuck));
    return where_less(0.0, limit, foreseen, 0.0);
}

// How heavy what comes at a row is, as that stops it, and once it has, with what force it throws it: what is at CONTACT_BOUNCE and on,
// given what is there, with what force it pressed, and how fast the chain comes, is to come at least (m/s), is away (m), and falls (m/s²).
fn stop_or_throw(before: vec4<f32>, dual: f32, restitution: f32, given: vec4<f32>) -> vec4<f32> {
    let comes = given.x;
    let least = given.y;
    let away = given.z;
    let falls = given.w;
    let last_h = params.h / params.h_over_last_h;
    let impulse = dual * last_h;
    // For how long it has been stopped: what did not press, not at all.
    let stopped = larger(where_less(0.0, impulse, 0.0 - before.x, 0.0), 0.0);
    let slowed = before.w - comes + falls * last_h;
    let weighs = where_less(0.0, slowed, impulse / larger(slowed, MIN_POSITIVE), 0.0);
    let weighed = before.y;
    let least_mass = where_less(0.0, smaller(weighed, weighs), smaller(weighed, weighs), larger(weighed, weighs));
    let mass = where_less(0.0, stopped, smaller(least_mass, MOST_DUAL), 0.0);
    // It falls on until it is there.
    let after = between(away / larger(comes, MIN_POSITIVE), 0.0, params.h);
    let came = where_less(0.0, stopped, before.z, comes + falls * after);

    let enough = where_less(0.0, stopped, larger(least, came) * STILL_COMES, least);
    let in_time = where_less(stopped, larger(LONGEST_STOP, 1.5 * params.h), 1.0, 0.0);
    let comes_on = where_less(enough, comes, restitution, 0.0);
    let leaves = where_less(0.0, comes_on, 0.0, larger(restitution * came + comes, 0.0));
    let bounces = where_less(0.0, restitution, 1.0, 0.0);
    let throws = smaller(mass * leaves * bounces * params.inv_h, MOST_DUAL);
    let bounce = where_less(0.5, where_less(0.0, comes_on, in_time, 0.0), 0.0 - (stopped + params.h), throws);
    return vec4<f32>(bounce, mass * bounces, came * bounces, comes);
}

// Adds to what a segment's nodes are predicted to go what a force on a point of it (N) makes of it in a step of so long (s).
fn throw_nodes(chain: Chain, segment: u32, force: vec3<f32>, along: f32, step: f32) {
    for (var end = 0u; end < 2u; end++) {
        let index = min(segment + end, chain.node_count - 1u);
        let rest_row = rest_row_of(chain, index);
        let share = select(1.0 - along, along, end == 1u) * rest_at(rest_row, REST_FREE_PLACE);
        let gained = force * (share * step / larger(weight_of(rest_row, REST_MASS), MIN_POSITIVE));
        let row = node_row_of(chain, index);
        set_node3(row, NODE_VELOCITY, node3(row, NODE_VELOCITY) + gained);
        set_node3(row, NODE_PREDICTED_MOVE, node3(row, NODE_PREDICTED_MOVE) + gained * step);
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

// A half-space, or a solid by its tangent plane, in a substep.
struct Surface {
    // At the substep's start.
    earlier: Plane,
    // At its end.
    later: Plane,
    friction: f32,
    restitution: f32,
    // By which share of its radius it dents flesh that its bones carry into it.
    dents: f32,
    // How far what touches may be from it beside that (m), at most 0.
    allowed: f32,
    // 1 where it is a bone of the chain's own, else 0.
    own: f32,
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
        plane_at(row, PLANE_RESTITUTION),
        0.0,
        0.0,
        0.0,
        plane3(row, PLANE_MOVE) * share,
        plane3(row, PLANE_TURN) * share,
    );
}

// Of a tangent row, which is of the substep alone.
fn surface_of_tangent(row: u32) -> Surface {
    let plane = row + TANGENT_PLANE * LANES;
    return Surface(
        unit_plane(contact3(plane, PLANE_NORMAL_FROM), contact_at(plane, PLANE_OFFSET_FROM)),
        unit_plane(contact3(plane, PLANE_NORMAL_TO), contact_at(plane, PLANE_OFFSET_TO)),
        contact_at(plane, PLANE_FRICTION),
        contact_at(plane, PLANE_RESTITUTION),
        contact_at(row, TANGENT_DENTS),
        contact_at(row, TANGENT_ALLOWED),
        contact_at(row, TANGENT_OWN),
        contact3(plane, PLANE_MOVE),
        contact3(plane, PLANE_TURN),
    );
}

// Where a half-space is on its way through the frame.
fn plane_on_the_way(row: u32, alpha: f32) -> Plane {
    let before = plane3(row, PLANE_NORMAL_FROM);
    let offset = plane_at(row, PLANE_OFFSET_FROM);
    let normal = before + (plane3(row, PLANE_NORMAL_TO) - before) * alpha;
    return unit_plane(normal, offset + (plane_at(row, PLANE_OFFSET_TO) - offset) * alpha);
}

fn unit_plane(normal: vec3<f32>, offset: f32) -> Plane {
    // A lane without a chain has none.
    let inv_length = 1.0 / sqrt(larger(dot(normal, normal), MIN_POSITIVE));
    return Plane(normal * inv_length, offset * inv_length);
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
