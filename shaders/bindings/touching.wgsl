// Along which planes segments touch solids, and what their rows remember of these; the twin of src/cpu/solids.rs and
// src/cpu/solid_slots.rs.
//
// There a segment's solids are found once a frame, and all have rows. Here they are found for each substep, and the nearest TOUCHES
// of what is there to touch have: as many rows for every node, where any solid is near to the chain, with a tangent row for each. What
// pressed in the last substep is known again by which primitive of which solid it is.

// The most solids near to a chain that are kept for its segments; of more, each segment asks all.
const NEAR_CHAIN: u32 = 16u;

// How much farther than its chain's speed takes it a segment may come, over its radius.
const SLACK: f32 = 0.5;

// How far a segment is foreseen to come in a frame at most (m).
const MOST_REACH: f32 = 10.0;

// The most that a coefficient of friction is.
const MOST_FRICTION: f32 = 1.0e3;

// A segment at a substep's start, against its chain's origin (m); of a chain's last node, twice that.
struct Ends {
    first: vec3<f32>,
    last: vec3<f32>,
    first_radius: f32,
    last_radius: f32,
    goes_on: bool,
}

// What a segment touches of a solid: the planes are written as they are found.
struct Touches {
    count: u32,
    // How far each is (m).
    gaps: array<f32, TOUCHES>,
}

// What rows of a segment remember: of which solid, which primitive, and whether between the nodes; −1 of none.
struct Memory {
    touched: vec3<f32>,
    limit: f32,
    dual: f32,
    tangent: vec3<f32>,
    direction: vec3<f32>,
}

// A recording as it is told: two that follow each other are known as such.
fn recording_told(recording: u32) -> f32 {
    return f32(recording & 0xffffu);
}

// Whether both sides want to touch.
fn is_met(row: u32, group: Group) -> bool {
    let wants = solids[row + SOLID_MEMBERSHIPS] & group.touched_solids;
    return wants != 0u && (group.to_solids & solids[row + SOLID_FILTER]) != 0u;
}

// Whether a solid may come within a distance of a place against a chain's origin (m).
fn is_near(row: u32, moving: Moving, origin: vec3<f32>, middle: vec3<f32>, around: f32) -> bool {
    let centre = rotate(moving.frame, vector_at(row + SOLID_CENTRE));
    let apart = (moving.anchor - origin) + (moving.offset + centre - middle);
    let far = around + number_at(row + SOLID_EXTENT) + number_at(row + SOLID_SWEEP);
    return dot(apart, apart) <= far * far;
}

fn ends_of(chain: Chain, index: u32) -> Ends {
    let goes_on = goes_on(chain, index);
    let rows = array<u32, 2>(node_row_of(chain, index), node_row_of(chain, select(index, index + 1u, goes_on)));
    let next_rest_row = rest_row_of(chain, select(index, index + 1u, goes_on));
    return Ends(
        node3(rows[0], NODE_PREV_PLACE),
        node3(rows[1], NODE_PREV_PLACE),
        rest_at(rest_row_of(chain, index), REST_RADIUS) * node_at(rows[0], NODE_PREV_SCALE),
        rest_at(next_rest_row, REST_RADIUS) * node_at(rows[1], NODE_PREV_SCALE),
        goes_on,
    );
}

fn memory_of(row: u32, tangent: u32) -> Memory {
    return Memory(
        contact3(tangent, TOUCH_SOLID),
        contact_at(row, CONTACT_LIMIT),
        contact_at(row, CONTACT_DUAL),
        contact3(row, CONTACT_TANGENT),
        contact3(row, CONTACT_DIRECTION),
    );
}

// Finds what a segment touches of a solid.
fn touch_solid(
    chain: Chain,
    index: u32,
    origin: vec3<f32>,
    ends: Ends,
    reach: f32,
    solid: u32,
    found: ptr<function, Touches>,
) {
    let row = solid_row_of(solid);
    let moving = moving_of(row);
    let pill = SpotPill(
        spot_of(moving, origin, ends.first),
        spot_of(moving, origin, ends.last),
        ends.first_radius,
        ends.last_radius,
    );
    let border = number_at(row + SOLID_BORDER);
    let far = reach + border + number_at(row + SOLID_SWEEP);
    let extent = 0.5 * distance(ends.first, ends.last) + larger(ends.first_radius, ends.last_radius);
    if surface_of(row, 0u, spot_along(pill, 0.5)).distance - extent > far {
        return;
    }
    touch_primitive(chain, index, origin, ends, far, vec2<u32>(solid, 0u), moving, pill, found);
}

// Finds where a segment touches a primitive of a solid.
fn touch_primitive(
    chain: Chain,
    index: u32,
    origin: vec3<f32>,
    ends: Ends,
    far: f32,
    of_solid: vec2<u32>,
    moving: Moving,
    pill: SpotPill,
    found: ptr<function, Touches>,
) {
    let row = solid_row_of(of_solid.x);
    let own = surface_of(row, of_solid.y, pill.first);
    let gap = own.distance - ends.first_radius;
    if own.own && gap <= far {
        let touch = place_for(gap, found);
        if touch < TOUCHES {
            write_tangent(chain, index, touch, origin, ends, vec2<f32>(0.0, 1.0), of_solid, moving, pill);
        }
    }
    if !ends.goes_on {
        return;
    }
    let along = deepest_along(row, of_solid.y, pill);
    if along < 0.0 {
        return;
    }
    let there = surface_of(row, of_solid.y, spot_along(pill, along));
    let radius = radius_along(pill, along);
    let depth = there.distance - radius;
    let last = surface_of(row, of_solid.y, pill.last).distance - ends.last_radius;
    let deeper = smaller(gap, last) - depth;
    if there.own && deeper > 0.0 && depth <= far {
        let touch = place_for(depth, found);
        if touch < TOUCHES {
            let share = smaller(deeper / (DEEPER * radius), 1.0);
            write_tangent(chain, index, touch, origin, ends, vec2<f32>(along, share), of_solid, moving, pill);
        }
    }
}

// Where what is so far (m) is kept of what a segment touches: in the place of the farthest where all are taken.
fn place_for(gap: f32, found: ptr<function, Touches>) -> u32 {
    if (*found).count < TOUCHES {
        let place = (*found).count;
        (*found).gaps[place] = gap;
        (*found).count = place + 1u;
        return place;
    }
    var farthest = 0u;
    for (var touch = 1u; touch < TOUCHES; touch++) {
        farthest = select(farthest, touch, (*found).gaps[touch] > (*found).gaps[farthest]);
    }
    if gap >= (*found).gaps[farthest] {
        return TOUCHES;
    }
    (*found).gaps[farthest] = gap;
    return farthest;
}

// Writes the plane that is tangent to a solid at a point of a segment: where on it, and with which share of its stiffness.
fn write_tangent(
    chain: Chain,
    index: u32,
    touch: u32,
    origin: vec3<f32>,
    ends: Ends,
    along: vec2<f32>,
    of_solid: vec2<u32>,
    moving: Moving,
    pill: SpotPill,
) {
    let row = solid_row_of(of_solid.x);
    let there = surface_of(row, of_solid.y, spot_along(pill, along.x));
    let place = ends.first + (ends.last - ends.first) * along.x;
    let beyond = there.distance - number_at(row + SOLID_BORDER);
    // The plane goes with the solid.
    let normal = rotate(moving.frame, there.normal);
    let point = place - normal * beyond;
    let arm = (origin - moving.anchor) + (point - moving.offset);
    let normal_to = rotate(moving.turn, normal);
    let goes = moving.by + turned_by(moving.turn, arm);
    let tangent = tangent_row_of(chain, index, touch);
    set_contact(tangent, TANGENT_ALONG, along.x);
    set_contact(tangent, TANGENT_SHARE, along.y);
    set_contact(tangent, TANGENT_DENTS, number_at(row + SOLID_DENTS));
    set_contact(tangent, TANGENT_OWN, 0.0);
    set_contact(tangent, TANGENT_ALLOWED, 0.0);
    let plane = tangent + TANGENT_PLANE * LANES;
    set_contact3(plane, PLANE_NORMAL_FROM, normal);
    set_contact(plane, PLANE_OFFSET_FROM, dot(normal, point));
    set_contact3(plane, PLANE_NORMAL_TO, normal_to);
    set_contact(plane, PLANE_OFFSET_TO, dot(normal_to, point) + dot(normal_to, goes));
    let from_axis = (origin - moving.anchor) - (moving.offset + moving.about);
    set_contact3(plane, PLANE_MOVE, moving.goes + cross(moving.turns, from_axis));
    set_contact3(plane, PLANE_TURN, moving.turns);
    let between_nodes = select(0.0, 1.0, along.x > 0.0);
    set_contact3(tangent, TOUCH_SOLID, vec3<f32>(f32(of_solid.x), f32(of_solid.y), between_nodes));
}

// How far a turn takes the end of an arm (m).
fn turned_by(turn: Quaternion, arm: vec3<f32>) -> vec3<f32> {
    let across_it = cross(turn.xyz, arm);
    return (across_it * turn.w + cross(turn.xyz, across_it)) * 2.0;
}

// Gives a row what it remembers; one that is of nothing is forgotten.
fn remember(
    chain: Chain,
    index: u32,
    touch: u32,
    is_there: bool,
    before: ptr<function, array<Memory, TOUCHES>>,
    group: Group,
) {
    let row = touch_row_of(chain, index, touch);
    let tangent = tangent_row_of(chain, index, touch);
    var memory = Memory();
    if is_there {
        let of_solid = contact3(tangent, TOUCH_SOLID);
        for (var k = 0u; k < TOUCHES; k++) {
            if all((*before)[k].touched == of_solid) {
                memory = (*before)[k];
            }
        }
        let plane = tangent + TANGENT_PLANE * LANES;
        let solid = solid_row_of(u32(of_solid.x));
        let friction = rubs_on(group, number_at(solid + SOLID_FRICTION), solids[solid + SOLID_RULE]);
        set_contact(plane, PLANE_FRICTION, friction);
    } else {
        set_contact(tangent, TANGENT_SHARE, 0.0);
        set_contact3(tangent, TOUCH_SOLID, vec3<f32>(-1.0));
        set_contact(row, CONTACT_STIFFNESS, 0.0);
        set_contact(row, CONTACT_FRICTION, 0.0);
    }
    set_contact(row, CONTACT_SEGMENT, f32(index));
    set_contact(row, CONTACT_LIMIT, memory.limit);
    set_contact(row, CONTACT_DUAL, memory.dual);
    set_contact3(row, CONTACT_TANGENT, memory.tangent);
}

// The coefficient of flesh that says how it rubs, if it does, and of what it touches.
fn rubs_on(group: Group, coefficient: f32, rule: u32) -> f32 {
    if group.rule == NO_RULE {
        return coefficient;
    }
    let own = bitcast<f32>(group.rubs);
    var both = 0.5 * (own + coefficient);
    switch max(group.rule, rule) {
        case 1u: {
            both = min(own, coefficient);
        }
        case 2u: {
            both = own * coefficient;
        }
        case 3u: {
            both = max(own, coefficient);
        }
        case 4u: {
            both = clamp(own + coefficient, 0.0, 1.0);
        }
        case 5u: {
            both = sqrt(own * coefficient);
        }
        default: {
        }
    }
    return min(both, MOST_FRICTION);
}
