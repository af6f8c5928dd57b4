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

// Which share of the way to the deepest point of a segment that a bone presses the contact goes in a substep.
const FOLLOWS: f32 = 0.25;

// The most that a bone is taken to turn in a substep (rad).
const MOST_TURN: f32 = 1.0;

// By which share of a coordinate boxes are larger than they are: some roundings.
const ROUNDED: f32 = 1.0e-6;

// By the cosine between normals, how alike primitives face of which one goes on with the other's friction.
const ALIKE: f32 = 0.9;

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
    along: f32,
    stiffness: f32,
    limit: f32,
    dual: f32,
    tangent: vec3<f32>,
    direction: vec3<f32>,
    // How it throws the chain, or stops it: CONTACT_BOUNCE and on.
    bounce: vec4<f32>,
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
        contact_at(row, CONTACT_ALONG),
        contact_at(row, CONTACT_STIFFNESS),
        contact_at(row, CONTACT_LIMIT),
        contact_at(row, CONTACT_DUAL),
        contact3(row, CONTACT_TANGENT),
        contact3(row, CONTACT_DIRECTION),
        contact4(row, CONTACT_BOUNCE),
    );
}

// What a segment is tested against in a substep: a solid, or a pill of its own bones.
struct Target {
    // The first word of what is said of it.
    row: u32,
    // Which it is, as rows tell it: a solid's place, or −2 less a pill's.
    name: f32,
    friction: f32,
    restitution: f32,
    // How far away what is told may be (m).
    far: f32,
    // Whether it may touch at the segment's first node, and between both.
    at_node: bool,
    between_nodes: bool,
    // 1 where it is a bone of the chain's own, else 0.
    own: f32,
    // Where on the segment it pressed last between the nodes; below 0 where that has no say.
    pressed: f32,
    primitive: u32,
    // Of a mesh: whether it is only asked how near it is, and how near the nearest is and the one after (m), and which that is.
    asks: bool,
    nearest: vec2<f32>,
    nearest_primitive: u32,
}

// Finds what a segment touches of a solid.
fn touch_solid(
    chain: Chain,
    index: u32,
    origin: vec3<f32>,
    ends: Ends,
    reach: f32,
    solid: u32,
    group: Group,
    found: ptr<function, Touches>,
) {
    let row = solid_row_of(solid);
    let moving = moving_of(row);
    let pill = pill_of(moving, origin, ends);
    let far = reach + number_at(row + SOLID_BORDER) + number_at(row + SOLID_SWEEP);
    let friction = both_of(group.rubs, group.rubs_by, number_at(row + SOLID_FRICTION), solids[row + SOLID_RUBS_BY]);
    let bounces =
        both_of(group.bounces, group.bounces_by, number_at(row + SOLID_RESTITUTION), solids[row + SOLID_BOUNCES_BY]);
    let restitution = min(bounces, 1.0);
    var it = Target(
        row, f32(solid), friction, restitution, far, true, ends.goes_on, 0.0, -1.0, 0u, false, vec2<f32>(MOST_DUAL), 0u,
    );
    let is_mesh = solids[row + SOLID_FORM] == FORM_MESH;
    let shape = solids[row + SOLID_SHAPE];
    // Other forms are as the only leaf of a mesh's tree.
    let first = whole_spot(pill.first);
    let last = whole_spot(pill.last);
    let around = far + larger(ends.first_radius, ends.last_radius);
    let low = min(first, last) - around;
    let high = max(first, last) + around;
    let low_corner = low - abs(low) * ROUNDED;
    let high_corner = high + abs(high) * ROUNDED;
    var node_count = 1u;
    var rounds = 1u;
    if is_mesh {
        node_count = solids[shape + MESH_NODE_COUNT];
        // Of what it is behind, only the nearest is touched: first it is asked which that is.
        rounds = select(1u, 2u, is_one_sided(shape));
    }
    let extent = extent_of(ends);
    for (var round = 0u; round < rounds; round++) {
        it.asks = round + 1u < rounds;
        var node = 0u;
        while node < node_count {
            var item = 0u;
            var item_end = 1u;
            if is_mesh {
                let at = shape + MESH_ENTRIES + node * BOX_NODE_ENTRIES;
                let touched = touches_box(at, low_corner, high_corner);
                item = select(0u, solids[at + 7u], touched);
                item_end = select(0u, solids[at + 8u], touched);
                node += select(1u + solids[at + 6u], 1u, touched);
            } else {
                node++;
            }
            for (; item < item_end; item++) {
                var asked = true;
                if is_mesh {
                    let at = shape + solids[shape + MESH_ITEMS] + item * BOX_ITEM_ENTRIES;
                    it.primitive = solids[at + 6u];
                    asked = touches_box(at, low_corner, high_corner);
                }
                if asked && surface_of(row, it.primitive, spot_along(pill, 0.5)).distance - extent <= far {
                    touch_primitive(chain, index, origin, ends, &it, moving, pill, group, found);
                }
            }
        }
    }
}

fn pill_of(moving: Moving, origin: vec3<f32>, ends: Ends) -> SpotPill {
    return SpotPill(
        spot_of(moving, origin, ends.first),
        spot_of(moving, origin, ends.last),
        ends.first_radius,
        ends.last_radius,
    );
}

// How far a segment is from its middle to its surface at most (m).
fn extent_of(ends: Ends) -> f32 {
    return 0.5 * distance(ends.first, ends.last) + larger(ends.first_radius, ends.last_radius);
}

// Finds where a segment touches a primitive.
fn touch_primitive(
    chain: Chain,
    index: u32,
    origin: vec3<f32>,
    ends: Ends,
    it: ptr<function, Target>,
    moving: Moving,
    pill: SpotPill,
    group: Group,
    found: ptr<function, Touches>,
) {
    let row = (*it).row;
    let path = pill.last.near - pill.first.near;
    let flat = FLAT * length(path);
    let is_mesh = solids[row + SOLID_FORM] == FORM_MESH;
    var own: Facing;
    var there: Facing;
    var first = vec3<f32>();
    var last = vec3<f32>();
    var last_gap = 0.0;
    var along = -1.0;
    // Both ends, then between them, then where it is deepest: of one place in the code, which compilers write out.
    for (var k = 0u; k < BISECTIONS + 3u; k++) {
        var at = select(select(0.5 * (first.x + last.x), 1.0, k == 1u), 0.0, k == 0u);
        at = select(at, along, k == BISECTIONS + 2u);
        there = surface_of(row, (*it).primitive, spot_along(pill, at));
        if k == 0u {
            own = there;
        }
        if k == BISECTIONS + 2u || !(*it).between_nodes {
            break;
        }
        // Of a triangle on whichever side.
        let side = select(1.0, -1.0, is_mesh && there.distance < 0.0);
        let grows = dot(there.normal, path) * side - (pill.last_radius - pill.first_radius);
        let gap = vec3<f32>(at, there.distance * side - radius_along(pill, at), grows);
        if k == 0u || k > 1u && gap.z < 0.0 {
            first = gap;
        } else {
            last = gap;
        }
        last_gap = select(last_gap, last.y, k == 1u);
        if k == 1u && (first.z >= 0.0 - flat || last.z <= flat) {
            break;
        }
        if k == BISECTIONS + 1u {
            along = deepest_between(first, last, length(path));
            if is_mesh && is_behind(solids[row + SOLID_SHAPE], (*it).primitive, spot_along(pill, along)) {
                along = -1.0;
                break;
            }
            along = select(along, (*it).pressed + (along - (*it).pressed) * FOLLOWS, (*it).pressed >= 0.0);
        }
    }
    let gap = own.distance - ends.first_radius;
    var depths = vec2<f32>(MOST_DUAL);
    if (*it).at_node && own.own {
        depths.x = own.distance;
    }
    var share = 0.0;
    if along >= 0.0 {
        let radius = radius_along(pill, along);
        let deeper = smaller(gap, last_gap) - (there.distance - radius);
        share = smaller(deeper / (DEEPER * radius), 1.0);
        if there.own && deeper > 0.0 {
            depths.y = there.distance;
        }
    }
    if (*it).asks {
        let least = min(abs(depths.x), abs(depths.y));
        if least < (*it).nearest.x {
            (*it).nearest = vec2<f32>(least, (*it).nearest.x);
            (*it).nearest_primitive = (*it).primitive;
        } else {
            (*it).nearest.y = min(least, (*it).nearest.y);
        }
        return;
    }
    for (var k = 0u; k < 2u; k++) {
        let depth = select(depths.x, depths.y, k == 1u);
        let at = select(0.0, along, k == 1u);
        let near = depth - select(ends.first_radius, radius_along(pill, along), k == 1u);
        if depth < MOST_DUAL && near <= (*it).far && !is_far_side(it, depth) {
            let touch = place_for(near, found);
            if touch < TOUCHES {
                var facing = own;
                if k == 1u {
                    facing = there;
                }
                let placed = vec2<f32>(at, select(1.0, share, k == 1u));
                write_tangent(chain, index, touch, origin, ends, placed, *it, facing, moving, group);
            }
        }
    }
}

// Whether a primitive that something is behind is not the nearest: what is in front of a thin wall is behind its other side.
fn is_far_side(it: ptr<function, Target>, depth: f32) -> bool {
    if depth >= 0.0 || (*it).nearest.x == MOST_DUAL {
        return false;
    }
    if (*it).primitive == (*it).nearest_primitive {
        return (*it).nearest.y < abs(depth);
    }
    return (*it).nearest.x <= abs(depth);
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
    it: Target,
    there: Facing,
    moving: Moving,
    group: Group,
) {
    let place = ends.first + (ends.last - ends.first) * along.x;
    let beyond = there.distance - number_at(it.row + SOLID_BORDER);
    // The plane goes with the solid.
    let normal = rotate(moving.frame, there.normal);
    let point = place - normal * beyond;
    let arm = (origin - moving.anchor) + (point - moving.offset);
    let normal_to = rotate(moving.turn, normal);
    let goes = moving.by + turned_by(moving.turn, arm);
    var allowed = 0.0;
    if it.own > 0.0 {
        allowed = allowed_at(chain, index, along.x, it.row, group);
    }
    let tangent = tangent_row_of(chain, index, touch);
    set_contact(tangent, TANGENT_ALONG, along.x);
    set_contact(tangent, TANGENT_SHARE, along.y);
    set_contact(tangent, TANGENT_DENTS, number_at(it.row + SOLID_DENTS));
    set_contact(tangent, TANGENT_OWN, it.own);
    set_contact(tangent, TANGENT_ALLOWED, allowed);
    let plane = tangent + TANGENT_PLANE * LANES;
    set_contact3(plane, PLANE_NORMAL_FROM, normal);
    set_contact(plane, PLANE_OFFSET_FROM, dot(normal, point));
    set_contact3(plane, PLANE_NORMAL_TO, normal_to);
    set_contact(plane, PLANE_OFFSET_TO, dot(normal_to, point) + dot(normal_to, goes));
    set_contact(plane, PLANE_FRICTION, it.friction);
    set_contact(plane, PLANE_RESTITUTION, it.restitution);
    let from_axis = (origin - moving.anchor) - (moving.offset + moving.about);
    set_contact3(plane, PLANE_MOVE, moving.goes + cross(moving.turns, from_axis));
    set_contact3(plane, PLANE_TURN, moving.turns);
    let between_nodes = select(0.0, 1.0, along.x > 0.0);
    set_contact3(tangent, TOUCH_SOLID, vec3<f32>(it.name, f32(it.primitive), between_nodes));
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
    } else {
        set_contact(tangent, TANGENT_SHARE, 0.0);
        set_contact3(tangent, TOUCH_SOLID, vec3<f32>(-1.0));
        set_contact(row, CONTACT_FRICTION, 0.0);
    }
    set_contact(row, CONTACT_SEGMENT, f32(index));
    set_contact(row, CONTACT_STIFFNESS, memory.stiffness);
    set_contact(row, CONTACT_LIMIT, memory.limit);
    set_contact(row, CONTACT_DUAL, memory.dual);
    set_contact3(row, CONTACT_TANGENT, memory.tangent);
    set_contact4(row, CONTACT_BOUNCE, memory.bounce);
}

// What a segment leaves of a solid's primitives goes with what is remembered to the one that it comes to: over a mesh's edges
// friction goes on.
fn hand_over(chain: Chain, index: u32, count: u32, before: ptr<function, array<Memory, TOUCHES>>) {
    for (var k = 0u; k < TOUCHES; k++) {
        let left = (*before)[k];
        var to = TOUCHES;
        for (var touch = 0u; touch < count; touch++) {
            let tangent = tangent_row_of(chain, index, touch);
            let of_solid = contact3(tangent, TOUCH_SOLID);
            let alike = dot(left.direction, contact3(tangent + TANGENT_PLANE * LANES, PLANE_NORMAL_FROM)) > ALIKE;
            if all(of_solid == left.touched) {
                // It goes on by itself.
                to = TOUCHES + 1u;
            } else if to == TOUCHES && alike && of_solid.x == left.touched.x && of_solid.z == left.touched.z {
                to = touch;
            }
        }
        if to < TOUCHES && left.dual != 0.0 {
            let row = touch_row_of(chain, index, to);
            // How it bounces is of one: of what stops it already, or of what did.
            let stops = contact_at(row, CONTACT_DUAL) != 0.0;
            set_contact4(row, CONTACT_BOUNCE, select(left.bounce, contact4(row, CONTACT_BOUNCE), stops));
            // As firm as either was.
            set_contact(row, CONTACT_STIFFNESS, larger(contact_at(row, CONTACT_STIFFNESS), left.stiffness));
            set_contact(row, CONTACT_LIMIT, contact_at(row, CONTACT_LIMIT) + left.limit);
            set_contact(row, CONTACT_DUAL, contact_at(row, CONTACT_DUAL) + left.dual);
            set_contact3(row, CONTACT_TANGENT, contact3(row, CONTACT_TANGENT) + left.tangent);
        }
    }
}

// The coefficient of flesh, given as bits, that says how it rubs or bounces, if it does, and of what it touches.
fn both_of(own_bits: u32, own_rule: u32, coefficient: f32, rule: u32) -> f32 {
    if own_rule == NO_RULE {
        return coefficient;
    }
    return combined(bitcast<f32>(own_bits), coefficient, max(own_rule, rule));
}

// Finds what a segment touches of the pills of its instance's own bones.
fn touch_bone_pills(
    chain: Chain,
    index: u32,
    origin: vec3<f32>,
    ends: Ends,
    group: Group,
    lane: u32,
    before: ptr<function, array<Memory, TOUCHES>>,
    found: ptr<function, Touches>,
) {
    let next = min(index + 1u, chain.node_count - 1u);
    let at_node = stays_out(rest_row_of(chain, index));
    let both = at_node && ends.goes_on && stays_out(rest_row_of(chain, next));
    if !at_node {
        return;
    }
    let comes = larger(comes_by(chain, index), comes_by(chain, select(index, next, ends.goes_on)));
    let middle = (ends.first + ends.last) * 0.5;
    let extent = extent_of(ends);
    for (var own = 0u; own < group.pill_count; own++) {
        let row = group.pill_base + own * SOLID_ENTRIES;
        let moving = moving_of_pill(chain, group, own, lane);
        // Twice as far as both go towards each other: up to there the row presses.
        let lever = length((origin - moving.anchor) + (middle - moving.offset - moving.about));
        let by_pill = length(moving.goes) + length(moving.turns) * (lever + extent);
        let far = 2.0 * (comes + by_pill);
        let pill = pill_of(moving, origin, ends);
        let shape = solids[row + SOLID_SHAPE];
        let spot = spot_along(pill, 0.5);
        let middle_gap = from_segment(vector_at(shape), vector_at(shape + 3u), number_at(shape + 6u), spot).distance;
        if middle_gap - extent <= far {
            let name = -2.0 - f32(own);
            var pressed = -1.0;
            for (var k = 0u; k < TOUCHES; k++) {
                if all((*before)[k].touched == vec3<f32>(name, 0.0, 1.0)) && (*before)[k].dual > 0.0 {
                    pressed = (*before)[k].along;
                }
            }
            // What is as near as that is told, however far.
            let friction = number_at(row + SOLID_FRICTION);
            var it = Target(
                row, name, friction, 0.0, MOST_DUAL, at_node, both, 1.0, pressed, 0u, false, vec2<f32>(MOST_DUAL), 0u,
            );
            touch_primitive(chain, index, origin, ends, &it, moving, pill, group, found);
        }
    }
}

// Whether a node is one that bones neither hold nor guide, and that does not go with another chain's.
fn stays_out(rest_row: u32) -> bool {
    let moves = rest_at(rest_row, REST_FREE_PLACE) != 0.0 && rest_at(rest_row, REST_SLIDES) == 0.0;
    return moves && rest_at(rest_row, REST_HUNG) == 0.0;
}

// How far a node comes in the substep, and swells (m).
fn comes_by(chain: Chain, index: u32) -> f32 {
    let row = node_row_of(chain, index);
    let grows = abs(node_at(row, NODE_SCALE) - node_at(row, NODE_PREV_SCALE));
    return length(node3(row, NODE_MOVED)) + grows * rest_at(rest_row_of(chain, index), REST_RADIUS);
}

// How a pill goes in this substep: as the chain's own rows have its bone, or as the host says where the chain does not hang on it.
fn moving_of_pill(chain: Chain, group: Group, own: u32, lane: u32) -> Moving {
    let slot = solids[group.pill_rest_base + own * LANES + lane];
    if slot >= MAX_BONES {
        let motions = solids[group.pill_motion_base];
        return moving_at(group.pill_motion_base + 1u + (own * motions + min(substep_now(), motions - 1u)) * MOTION_ENTRIES);
    }
    let earlier = chain_bone(chain.chain, CHAIN_BONE_PREV + slot * POSE);
    let later = chain_bone(chain.chain, CHAIN_BONE_NOW + slot * POSE);
    let goes = later.place - earlier.place;
    var turn = normalised(product(later.frame, conjugate(earlier.frame)));
    turn = select(turn, turn * -1.0, turn.w < 0.0);
    // Of its angle, 2·atan2(|Im|, Re), the axis; as long as it is small by its first terms.
    let sine = length(turn.xyz);
    let angle = 2.0 * atan2(sine, turn.w);
    let per_sine = select(2.0, smaller(angle, MOST_TURN) / larger(sine, MIN_POSITIVE), sine > 1.0e-4);
    let origin = chain3(chain.chain, CHAIN_ORIGIN);
    return Moving(origin, earlier.place, earlier.frame, turn, goes, goes, turn.xyz * per_sine, goes * 0.5);
}

// How far a point on a segment may be from a pill (m): 0, or below where it is so at rest.
fn allowed_at(chain: Chain, index: u32, along: f32, row: u32, group: Group) -> f32 {
    let next = min(index + 1u, chain.node_count - 1u);
    let lane = chain.chain % LANES;
    let places = group.pill_rest_base + group.pill_count * LANES;
    let first = vector_at(places + (index * LANES + lane) * 3u);
    let last = vector_at(places + (next * LANES + lane) * 3u);
    let first_radius = rest_at(rest_row_of(chain, index), REST_RADIUS);
    let last_radius = rest_at(rest_row_of(chain, next), REST_RADIUS);
    let shape = solids[row + SOLID_SHAPE];
    let spot = Spot(vec3<f32>(), first + (last - first) * along);
    let at_rest = from_segment(vector_at(shape + 7u), vector_at(shape + 10u), number_at(shape + 6u), spot);
    return smaller(at_rest.distance - (first_radius + (last_radius - first_radius) * along), 0.0);
}
