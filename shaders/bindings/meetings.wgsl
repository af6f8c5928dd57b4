// What stages of pairs bind, and how a thread reads the nodes of either side; the twin of what src/cpu/meetings.rs has shown.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read> rest_rows: array<f32>;
@group(0) @binding(3) var<storage, read> node_rows: array<f32>;
@group(0) @binding(4) var<storage, read> chain_rows: array<f32>;
@group(0) @binding(5) var<storage, read_write> meet_rows: array<f32>;
@group(0) @binding(6) var<storage, read> pairs: array<vec4<u32>>;

// What is farther than this is not known to others (in whatever unit it has).
const FARTHEST: f32 = 1.0e9;

// Coulomb's coefficient of flesh on flesh that does not say how it rubs, and its rule.
const RUBS: f32 = 0.5;
const RUBS_BY: u32 = 0u;

// Rolling friction's limit over the force with which chains press and the radius.
const ROLLS: f32 = 0.2;

// Its stiffness over friction's and the radius squared.
const ROLLING: f32 = 10.0;

// How deep over the smaller radius bones have flesh in other flesh that bones carry where it yields most, and from which depth on all of
// it is let in.
const YIELDS: f32 = 0.5;
const LET_IN: f32 = 1.5;

// The cosine between the direction in which one presses the other and that in which bones have it from the other from which on it is let
// by, though their axes cross; from 0 on it is in part.
const PAST: f32 = -0.25;

// A side of a pair: a segment.
struct Side {
    // First words of its first node's rows, and of its chain's.
    rest: u32,
    node: u32,
    chain: u32,
    // The node with which it begins.
    index: u32,
    // Which of all sides.
    place: u32,
    // See SeenSide.
    joined: vec2<f32>,
}

// Whether there is such a pair, of which not both sides sleep.
fn is_pair(pair: u32) -> bool {
    if pair >= pairs[0].x || pairs[2u + pair * 2u].x == NO_PAIR {
        return false;
    }
    return !(sleeps(pairs[2u + pair * 2u].x) && sleeps(pairs[3u + pair * 2u].x));
}

fn sleeps(chain: u32) -> bool {
    return chain_rows[word(chain / LANES, CHAIN_ENTRIES, CHAIN_SLEEPS, chain % LANES)] == SLEEPS_NOW;
}

fn side_of(pair: u32, side: u32) -> Side {
    let named = pairs[2u + pair * 2u + side];
    let group = groups[named.x / LANES];
    let lane = named.x % LANES;
    return Side(
        word(group.rest_base + named.y, REST_ENTRIES, 0u, lane),
        word(group.node_base + named.y, NODE_ENTRIES, 0u, lane),
        word(named.x / LANES, CHAIN_ENTRIES, 0u, lane),
        named.y,
        named.z,
        vec2<f32>(f32(named.w & 1u), f32(named.w >> 1u)),
    );
}

// Coulomb's coefficient between both sides.
fn rubs_of(pair: u32) -> f32 {
    let first = rubbing_of(groups[pairs[2u + pair * 2u].x / LANES]);
    let second = rubbing_of(groups[pairs[3u + pair * 2u].x / LANES]);
    return combined(bitcast<f32>(first.x), bitcast<f32>(second.x), max(first.y, second.y));
}

// How many times as heavy as the second side's chain, or the tree that this is of, the first one's is.
fn heavier_of(pair: u32) -> f32 {
    return body_mass_of(pairs[2u + pair * 2u].x) / body_mass_of(pairs[3u + pair * 2u].x);
}

fn body_mass_of(chain: u32) -> f32 {
    return rest_rows[word(groups[chain / LANES].rest_base, REST_ENTRIES, REST_BODY_MASS, chain % LANES)];
}

// How a group's flesh rubs on flesh: the bits of its coefficient, and its rule.
fn rubbing_of(group: Group) -> vec2<u32> {
    return select(vec2<u32>(group.rubs, group.rubs_by), vec2<u32>(bitcast<u32>(RUBS), RUBS_BY), group.rubs_by == NO_RULE);
}

// How flesh is let into other flesh where bones carry both.
struct LetIn {
    // How deep they have them in each other, over half as deep as where it yields most, up to 1; 0 where they do not carry both.
    put: f32,
    // What is let in of that depth (m).
    in_depth: f32,
    // From the second one to the first one where they have them; 0 where they do not carry both.
    direction: vec3<f32>,
}

// Of two segments where bones carry them, as thick as at rest: what swells presses.
fn let_in_of(first: Pill, second: Pill) -> LetIn {
    let nearest = nearest_of(first, second);
    let radius = smaller(pill_radius(first, nearest.along.x), pill_radius(second, nearest.along.y));
    let depth = larger(0.0 - nearest.gap, 0.0);
    let less = (radius * LET_IN - depth) * (YIELDS / (LET_IN - YIELDS));
    let put = smaller(depth / larger(radius * (0.5 * YIELDS), MIN_POSITIVE), 1.0);
    return LetIn(put, depth - smaller(depth, larger(less, 0.0)), nearest.direction);
}

// How far (m) it is let in where they press in some direction, given both their radii together: where bones have them past each other, as
// far as they can be in each other, and by as much again, so that nothing stops it on its way.
fn let_in_at(let_in: LetIn, direction: vec3<f32>, radii: f32) -> f32 {
    let past = dot(direction, let_in.direction) * (1.0 / PAST);
    return let_in.in_depth + between(past, 0.0, 2.0) * radii;
}

// How far a node, or a point between two, goes (m), swells and turns (rad).
struct Going {
    moved: vec3<f32>,
    scaling: f32,
    turn: vec3<f32>,
}

// How far a node has moved since the substep's start (m), swollen and turned (rad).
fn gone(row: u32) -> Going {
    let turn = product(node4(row, NODE_FRAME), conjugate(node4(row, NODE_PREV_FRAME)));
    let double = where_less(turn.w, 0.0, -2.0, 2.0);
    return known_going(Going(
        node3(row, NODE_MOVED),
        node_at(row, NODE_SCALE) - node_at(row, NODE_PREV_SCALE),
        turn.xyz * double,
    ));
}

// What is no number, or beyond all measure, says nothing.
fn known(value: f32) -> f32 {
    return where_less(larger(value, 0.0 - value), FARTHEST, value, 0.0);
}

fn known3(value: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(known(value.x), known(value.y), known(value.z));
}

fn known_going(going: Going) -> Going {
    return Going(known3(going.moved), known(going.scaling), known3(going.turn));
}

fn going_between(a: Going, b: Going, along: f32) -> Going {
    return Going(
        a.moved + (b.moved - a.moved) * along,
        a.scaling + (b.scaling - a.scaling) * along,
        a.turn + (b.turn - a.turn) * along,
    );
}

// How far the surface goes across `direction`, in which its side is pressed, at so long an arm.
fn swept_by(going: Going, direction: vec3<f32>, arm: f32) -> vec3<f32> {
    return across(going.moved, direction) + cross(direction, going.turn) * arm;
}

// What of a vector is across a unit normal.
fn across(v: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    return v - normal * dot(normal, v);
}

// First word of what a point of a pair remembers in this frame.
fn memory_row_of(pair: u32, point: u32) -> u32 {
    return memory_word(pair, params.recording & 1u, point);
}

fn meet_at(row: u32, entry: u32) -> f32 {
    return meet_rows[row + entry * LANES];
}

fn meet3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(meet_at(row, entry), meet_at(row, entry + 1u), meet_at(row, entry + 2u));
}

fn set_meet(row: u32, entry: u32, value: f32) {
    meet_rows[row + entry * LANES] = value;
}

fn set_meet3(row: u32, entry: u32, value: vec3<f32>) {
    set_meet(row, entry, value.x);
    set_meet(row, entry + 1u, value.y);
    set_meet(row, entry + 2u, value.z);
}
