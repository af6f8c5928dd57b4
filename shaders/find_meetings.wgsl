// Stage find_meetings: where pairs of segments touch in the substep to come, how stiff that is, and what each side's chain is told of
// it; the twin of src/cpu/find_meetings.rs, which says why. Those that touch alone have contact rows.

@group(0) @binding(7) var<storage, read_write> contact_rows: array<f32>;
@group(0) @binding(8) var<storage, read_write> scratch_rows: array<atomic<u32>>;

// γ: stiffness of chains against each other over m/h² (1), with one over m the sum of both sides' w²/m.
const MEETING: f32 = 10.0;

// Within which slope of the gap at a node contacts go over from one segment to the next.
const HANDS_OVER: f32 = 0.05;

// How fast chains that are found in each other are pushed out (m/s); less by what is stiffer than γ·m/h².
const APART: f32 = 1.0;

// The same of what bones put into each other, of which ρ is no more than 1 either.
const CARRIED_APART: f32 = 0.1;

// Depths over the radius beyond which pairs get stiffer, and below which they get softer again.
const DEEP: f32 = 0.04;
const SHALLOW: f32 = 0.02;

// How fast pairs get stiffer, and softer again what is apart (1/s).
const STIFFENS: f32 = 2.4;
// How fast what touches gets softer again (1/s): as fast as it gets stiffer, what sways would be given energy.
const SOFTENS: f32 = 0.72;

// Depths over the radius at which pairs would come to lie in a substep, of each of which a fast pair is once as stiff again.
const PAIR_STOPS: f32 = 0.25;

// How stiff friction that slips is at the least, over what holds.
const GIVES_WAY: f32 = 0.1;

// As which share of the other node a point of a segment moves at the least one of whose nodes bones hold.
const MOVES: f32 = 0.1;

// The most that ρ, a pair's stiffness over γ·m/h², is.
const MOST_RATIO: f32 = 300.0;

// As stiff as in a substep of this length (s) what lies a little deep is in the end in shorter ones.
const STEADY: f32 = 0.004;

// No pair is stiffer at first than in a substep of this length (s).
const SHORTEST: f32 = 0.001;

// A node as the other side knows it.
struct Seen {
    place: vec3<f32>,
    radius: f32,
    scale: f32,
    inv_mass: f32,
    going: Going,
}

// Finds where the segments of a pair touch in the substep to come, how stiff that is, and the plane halfway between where both would
// go on to.
@compute @workgroup_size(WORKGROUP_SIZE)
fn find_meetings(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let pair = thread_of(invocation);
    if !is_pair(pair) {
        return;
    }
    let first_side = side_of(pair, 0u);
    let second_side = side_of(pair, 1u);
    let a = seen_side(first_side);
    let b = seen_side(second_side);
    // Both are reckoned from the first one's origin.
    let shift = origin_of(second_side) - origin_of(first_side);
    let first_pill = pill_seen(a, vec3<f32>());
    let second_pill = pill_seen(b, shift);
    let touch = points_of(first_pill, second_pill);
    let rubs = rubs_of(pair);
    let heavier = heavier_of(pair);
    var let_in: LetIn;
    if obeys(first_side) && obeys(second_side) {
        let_in = let_in_of(pill_carried(first_side, a, vec3<f32>()), pill_carried(second_side, b, shift));
    }
    var met: array<Met, 2>;
    var pressing = 0u;
    for (var point = 0u; point < 2u; point++) {
        met[point] = meet(pair, point, rubs, heavier, let_in, touch[point], a, b, first_pill, second_pill);
        pressing |= select(1u << point, 0u, meet_at(meet_word(pair, point), MEET_STIFFNESS) == 0.0);
    }
    // Two contact rows for each point that presses, if there is room for all.
    var next = atomicAdd(&scratch_rows[pressing_count_word(params.solved_base)], 2u * countOneBits(pressing));
    if next + 2u * countOneBits(pressing) > params.pair_capacity {
        set_meet(meet_word(pair, 0u), MEET_STIFFNESS, 0.0);
        set_meet(meet_word(pair, 1u), MEET_STIFFNESS, 0.0);
        pressing = 0u;
    }
    for (var point = 0u; point < 2u; point++) {
        if ((pressing >> point) & 1u) == 0u {
            continue;
        }
        write_row(pair, point, met[point], first_side, 0u, 1.0, next);
        write_row(pair, point, met[point], second_side, 1u, -1.0, next + 1u);
        next += 2u;
    }
    note_pressing(first_side, pressing);
    note_pressing(second_side, pressing);
}

// Begins to count rows that press, and keeps how many did where that was most in the frame.
@compute @workgroup_size(WORKGROUP_SIZE)
fn begin_meetings(@builtin(local_invocation_index) local: u32) {
    if local > 0u || params.solved_base < PRESSING_WORDS {
        return;
    }
    let count = atomicExchange(&scratch_rows[pressing_count_word(params.solved_base)], 0u);
    let most = most_pressing_word(params.solved_base);
    if params.first_substep == 1u && params.iteration == 0u {
        atomicStore(&scratch_rows[most], 0u);
    } else {
        atomicMax(&scratch_rows[most], count);
    }
}

// Notes which of a side's two rows press.
fn note_pressing(side: Side, pressing: u32) {
    let at = pressing_word(side.place, params.pair_capacity, params.solved_base);
    let shift = 2u * (side.place % LANES);
    atomicOr(&scratch_rows[at], PRESSING | (pressing << shift));
    // What else was there goes too: the word is a number, whatever lay in its place.
    let rows = (1u << (2u * LANES)) - 1u;
    atomicAnd(&scratch_rows[at], (PRESSING | rows) & ~((3u ^ pressing) << shift));
}

// The node before a segment and its own two.
struct SeenSide {
    before: Seen,
    first: Seen,
    second: Seen,
    // Whether its chain goes on past either with a segment that may touch the other side too: what leaves the other alone takes no
    // contact over, and the chain ends there as far as the pair knows.
    joined: vec2<f32>,
}

fn seen_side(side: Side) -> SeenSide {
    let first = seen(side.rest, side.node);
    let second = seen(side.rest + REST_ENTRIES * LANES, side.node + NODE_ENTRIES * LANES);
    if side.joined.x == 0.0 {
        return SeenSide(first, first, second, side.joined);
    }
    let before = seen(side.rest - REST_ENTRIES * LANES, side.node - NODE_ENTRIES * LANES);
    return SeenSide(before, first, second, side.joined);
}

fn seen(rest_row: u32, row: u32) -> Seen {
    // Padding has no radius and so no say.
    let radius = rest_at(rest_row, REST_RADIUS);
    let mass = where_less(0.0, radius, rest_at(rest_row, REST_MASS), 0.0);
    let free = rest_at(rest_row, REST_FREE_PLACE);
    return Seen(
        known3(node3(row, NODE_PREV_PLACE)),
        known(radius),
        known(node_at(row, NODE_PREV_SCALE)),
        known(where_less(0.0, mass * free, 1.0 / larger(mass, MIN_POSITIVE), 0.0)),
        going_of(rest_row, row),
    );
}

// How far a node goes: before the substep's first solve, as far as it would at the speed that it has.
fn going_of(rest_row: u32, row: u32) -> Going {
    var going = gone(row);
    if params.iteration == 0u {
        if rest_at(rest_row, REST_FREE_PLACE) > 0.5 {
            going.moved = known3(node3(row, NODE_OLDER_VELOCITY) * params.h);
            going.scaling = known(node_at(row, NODE_SCALE_RATE) * params.h);
        }
        if rest_at(rest_row, REST_FREE_FRAME) > 0.5 {
            going.turn = known3(node3(row, NODE_OLDER_SPIN) * params.h);
        }
    }
    return going;
}

fn origin_of(side: Side) -> vec3<f32> {
    return chain3(side.chain, CHAIN_ORIGIN);
}

fn pill_seen(side: SeenSide, shift: vec3<f32>) -> Pill {
    let radii = vec2<f32>(side.first.radius * side.first.scale, side.second.radius * side.second.scale);
    return Pill(side.first.place + shift, side.second.place + shift, radii);
}

// Whether bones hold or carry both ends of a segment.
fn obeys(side: Side) -> bool {
    return obeys_at(side.rest) && obeys_at(side.rest + REST_ENTRIES * LANES);
}

fn obeys_at(rest_row: u32) -> bool {
    return rest_at(rest_row, REST_FREE_PLACE) < 0.5 || rest_at(rest_row, REST_CARRIED) > 0.5;
}

// A segment where its bones carry it.
fn pill_carried(side: Side, at: SeenSide, shift: vec3<f32>) -> Pill {
    let first = carried_in_chain(side.rest, side.chain, CHAIN_BONE_NOW).place;
    let last = carried_in_chain(side.rest + REST_ENTRIES * LANES, side.chain, CHAIN_BONE_NOW).place;
    return Pill(known3(first) + shift, known3(last) + shift, vec2<f32>(at.first.radius, at.second.radius));
}

// How the gap changes along the path from one node to another.
fn slope_of(earlier: Seen, later: Seen, direction: vec3<f32>) -> f32 {
    let path = later.place - earlier.place;
    let grows = later.radius * later.scale - earlier.radius * earlier.scale;
    return (dot(direction, path) - grows) / larger(sqrt(dot(path, path)), 1.0e-9);
}

fn keeps(slope: f32) -> f32 {
    return between(0.5 + slope * (0.5 / HANDS_OVER), 0.0, 1.0);
}

// Which share of a contact is a segment's own where it is one of a chain, so that neighbours that touch at the node between them
// have one contact together.
fn belongs(side: SeenSide, along: f32, direction: vec3<f32>, centres_apart: f32) -> f32 {
    let path = side.second.place - side.first.place;
    // The direction turns as the nearest point goes along.
    let turns = sqrt(dot(path, path)) / larger(centres_apart, 1.0e-9);
    let own_slope = slope_of(side.first, side.second, direction);
    let ends = keeps(own_slope + (1.0 - along) * turns);
    // Where the chain bends towards the other, the one before has given it up; where it bends around it, both have their own.
    let before = keeps(slope_of(side.before, side.first, direction) - along * turns);
    let begins = 1.0 - smaller(before, keeps(own_slope - along * turns));
    return where_less(0.5, side.joined.y, ends, 1.0) * where_less(0.5, side.joined.x, begins, 1.0);
}

// A direction in which a segment is pressed, without what of it goes along the segment towards a node where the chain goes on: the
// chain has no end there. Of a last segment, the less the farther it is from there: whether a contact is at a node or beside it
// may be a matter of rounding.
fn square(side: SeenSide, along: f32, pressed: vec3<f32>) -> vec3<f32> {
    let path = side.second.place - side.first.place;
    let grows = side.second.radius * side.second.scale - side.first.radius * side.first.scale;
    let inv_length2 = 1.0 / larger(dot(path, path), MIN_POSITIVE);
    let off = path * ((dot(pressed, path) - grows) * inv_length2);
    let at_joint = side.joined.x + (side.joined.y - side.joined.x) * along;
    return direction(pressed - off * at_joint);
}

fn mix_masses(side: SeenSide, along: f32) -> f32 {
    let mixed = side.first.inv_mass + (side.second.inv_mass - side.first.inv_mass) * along;
    let of_free = larger(side.first.inv_mass, side.second.inv_mass) * MOVES;
    return larger(mixed, where_less(0.0, smaller(side.first.inv_mass, side.second.inv_mass), 0.0, of_free));
}

fn mix_radii(side: SeenSide, along: f32) -> f32 {
    return side.first.radius + (side.second.radius - side.first.radius) * along;
}

// CONTACT_MIDDLE (m), CONTACT_GAP (m), CONTACT_ANCHOR (m) and CONTACT_TURN (rad) of a point, of either side.
struct Met {
    middles: array<vec3<f32>, 2>,
    gaps: vec2<f32>,
    anchors: array<vec3<f32>, 2>,
    turns: array<vec3<f32>, 2>,
}

// How many times as heavy as the other the side of a pair is that is heavier by its body, and where they touch: by the lesser of both.
fn how_unequal(heavier: f32, inv_masses: vec2<f32>) -> f32 {
    let there = inv_masses.y / larger(inv_masses.x, MIN_POSITIVE);
    let unequal = larger(smaller(heavier, there), 1.0 / larger(larger(heavier, there), MIN_POSITIVE));
    return where_less(0.0, smaller(inv_masses.x, inv_masses.y), unequal, 0.0);
}

// How stiff a pair that shows itself in so long a substep is at first over γ·m/h².
fn newly_stiff(h: f32) -> f32 {
    let of_shortest = h * (1.0 / SHORTEST);
    return smaller(of_shortest * of_shortest, 1.0);
}

// To how little of γ·m/h² a pair that lies a little deep comes down in so long a substep.
fn least_stiff(h: f32) -> f32 {
    let of_steady = h * (1.0 / STEADY);
    return smaller(of_steady * of_steady, 1.0);
}

// How stiff a pair is over γ·m/h², given how stiff it was over γ·m (1/s²), 0 where it is new, and by what it gets stiffer or softer in the
// substep; see src/cpu/find_meetings.rs.
fn ratio_of(over_mass: f32, changes: f32) -> f32 {
    let least = least_stiff(params.h);
    let before = over_mass * (params.h * params.h);
    let now = where_less(0.0, over_mass, before, newly_stiff(params.h));
    if params.iteration > 0u {
        return now;
    }
    let comes_back = smaller(now * (1.0 + STIFFENS * params.h), least);
    return where_less(now, least, comes_back, between(now * changes, least, MOST_RATIO));
}

// What is remembered of that: how stiff it is over γ·m (1/s²), of what presses nothing and has come down to the least, nothing.
fn over_mass_of(ratio: f32, pressing: f32) -> f32 {
    let remembered = ratio * (params.inv_h * params.inv_h);
    return where_less(0.0, pressing, remembered, where_less(least_stiff(params.h), ratio, remembered, 0.0));
}

// Writes what is known of a point at which a pair touches.
fn meet(
    pair: u32,
    which: u32,
    rubs: f32,
    heavier: f32,
    let_in: LetIn,
    point: PillPoint,
    a: SeenSide,
    b: SeenSide,
    first_pill: Pill,
    second_pill: Pill,
) -> Met {
    let row = meet_word(pair, which);
    let memory = memory_row_of(pair, which);
    let inv_h = params.inv_h;
    let freely = (1.0 - let_in.put) * (1.0 - let_in.put);
    let most = 1.0 + (MOST_RATIO - 1.0) * (freely * freely);
    let recovery = (APART + (CARRIED_APART - APART) * let_in.put) * params.h;
    // Later ones of the substep go on from the same anchors.
    let first_solve = params.iteration == 0u;
    let along = point.nearest.along;
    let normal = point.nearest.direction;
    let arms = vec2<f32>(pill_radius(first_pill, along.x), pill_radius(second_pill, along.y));
    let gap = point.nearest.gap + let_in_at(let_in, normal, arms.x + arms.y);
    let centres = point.nearest.gap + arms.x + arms.y;
    let kept_by = belongs(a, along.x, normal, centres) * belongs(b, along.y, -normal, centres);
    let own = point.flat + (1.0 - point.flat) * kept_by;
    let squared = square(a, along.x, normal);
    let direction = -square(b, along.y, -squared);

    let going_a = going_between(a.first.going, a.second.going, along.x);
    let going_b = going_between(b.first.going, b.second.going, along.y);
    let radii = vec2<f32>(mix_radii(a, along.x), mix_radii(b, along.y));
    let inv_masses = vec2<f32>(mix_masses(a, along.x), mix_masses(b, along.y));
    let inv_mass = inv_masses.x + inv_masses.y;
    let mass = where_less(0.0, inv_mass, 1.0 / larger(inv_mass, MIN_POSITIVE), 0.0);

    let radius = smaller(arms.x, arms.y);
    let deep = where_less(radius * -DEEP, gap, 1.0, 1.0 + STIFFENS * params.h);
    let softer = where_less(0.0, gap, 1.0 - STIFFENS * params.h, 1.0 - SOFTENS * params.h);
    let shallow = where_less(radius * -SHALLOW, gap, softer, 1.0);
    let ratio = ratio_of(meet_at(memory, MEET_OVER_MASS), deep * shallow);
    let as_before = smaller(ratio, 1.0);
    let rubbing = MEETING * mass * inv_h * inv_h * as_before * point.share * own;

    let along_normal_a = dot(direction, going_a.moved) - radii.x * going_a.scaling;
    let along_normal_b = -dot(direction, going_b.moved) - radii.y * going_b.scaling;

    // What comes in fast is stopped before it is through, and what is heavy borne by what is light.
    let recovers = recovery * larger(1.0, 1.0 / (as_before * MEETING));
    let comes = 0.0 - (larger(gap, 0.0 - recovers) + along_normal_a + along_normal_b);
    let fast = comes / larger(radius * PAIR_STOPS, MIN_POSITIVE);
    let unequal = how_unequal(heavier, inv_masses) * (1.0 / MEETING);
    let firmer = between(larger(larger(smaller(ratio, most), fast), unequal), 1.0, MOST_RATIO);
    let stiffness = rubbing * firmer;

    // As deep as it takes to be pushed out that fast by what is less stiff; less fast by what is stiffer.
    let kept = larger(gap, 0.0 - recovers / sqrt(sqrt(firmer)));
    let closed = kept + along_normal_a + along_normal_b;

    // What touches in this substep: what comes together, and what pressed.
    let pull = across(meet3(memory, MEET_PULL), direction);
    let force = meet_at(memory, MEET_FORCE);
    let pressing = where_less(0.0, force, stiffness, where_less(closed, 0.0, stiffness, 0.0));
    let swept_a = swept_by(going_a, direction, arms.x);
    let swept_b = swept_by(going_b, -direction, arms.y);
    let limit = rubs * force;
    let pulled = sqrt(dot(pull, pull));
    let held = smaller(limit, pulled) / larger(pulled, LEAST_DIVISOR);
    // As stiff as γ·limit over how far it slides, by the force that pressed or that stops what comes in: less than all where it
    // slides farther than limit·h²/m, which the limit stops in a substep. Rolling friction goes along.
    let slides = swept_a - swept_b - pull * (held / larger(rubbing, LEAST_DIVISOR));
    let hits = rubbing * (1.0 / MEETING) * larger(0.0 - closed, 0.0);
    let stops = rubs * larger(force, hits) * MEETING;
    let gives_way = stops / larger(sqrt(dot(slides, slides)), LEAST_DIVISOR);
    let slipping = smaller(rubbing, larger(gives_way, rubbing * GIVES_WAY));
    let held_before = select(meet_at(row, MEET_FRICTION), 0.0, first_solve);
    let holding = where_less(0.0, held_before, smaller(rubbing, held_before), slipping);
    let friction = where_less(0.0, smaller(pressing, rubs), holding, 0.0);
    let reach_on = where_less(0.0, friction, held / larger(friction, LEAST_DIVISOR), 0.0);
    let anchor = select(meet3(row, MEET_ANCHOR), pull * reach_on, first_solve);
    let off = (swept_a - swept_b - anchor) * 0.5;

    set_meet(row, MEET_ALONG, along.x);
    set_meet(row, MEET_ALONG + 1u, along.y);
    set_meet(row, MEET_SCALE_TERM, radii.x);
    set_meet(row, MEET_SCALE_TERM + 1u, radii.y);
    set_meet(row, MEET_ARM, arms.x);
    set_meet(row, MEET_ARM + 1u, arms.y);
    set_meet3(row, MEET_DIRECTION, direction);
    set_meet(row, MEET_GAP, kept);
    set_meet(row, MEET_STIFFNESS, pressing);
    set_meet(row, MEET_FRICTION, friction);
    set_meet3(row, MEET_ANCHOR, anchor);
    set_meet(row, MEET_RUBS, rubs);
    let rolling = friction * (radius * radius) * ROLLING;
    let couple = meet3(memory, MEET_COUPLE);
    let turned_back = couple * where_less(0.0, rolling, 1.0 / larger(rolling, MIN_POSITIVE), 0.0);
    let turn = select(meet3(row, MEET_TURN_ANCHOR), turned_back, first_solve);
    set_meet3(row, MEET_TURN_ANCHOR, turn);
    set_meet(memory, MEET_OVER_MASS, over_mass_of(ratio, pressing));
    // What can touch nothing forgets.
    let remembered = where_less(0.0, pressing, 1.0, 0.0);
    set_meet(memory, MEET_FORCE, force * remembered);
    set_meet3(memory, MEET_PULL, pull * remembered);
    set_meet3(memory, MEET_COUPLE, couple * remembered);
    let both = going_a.turn + going_b.turn;
    return Met(
        array<vec3<f32>, 2>(
            normal * -(arms.x + point.nearest.gap * 0.5),
            normal * (arms.y + point.nearest.gap * 0.5),
        ),
        vec2<f32>(closed * 0.5 - along_normal_a, closed * 0.5 - along_normal_b),
        array<vec3<f32>, 2>(swept_a - off, swept_b + off),
        array<vec3<f32>, 2>((both + turn) * 0.5, (both - turn) * 0.5),
    );
}

// Writes a side's contact row of a point, which is the `contact_row`-th; the twin of Side::write_row.
fn write_row(pair: u32, point: u32, met: Met, own: Side, side: u32, sign: f32, contact_row: u32) {
    let row = meet_word(pair, point);
    let force = meet_at(memory_row_of(pair, point), MEET_FORCE);
    let of_side = contact_of_row_word(own.place * 2u + point, params.solved_base);
    atomicStore(&scratch_rows[of_side], bitcast<u32>(f32(contact_row)));
    let at = meet_contact_word(params.meet_base, contact_row);
    set_contact(at, CONTACT_STIFFNESS, 2.0 * meet_at(row, MEET_STIFFNESS));
    set_contact(at, CONTACT_SEGMENT, f32(own.index));
    set_contact(at, CONTACT_ALONG, meet_at(row, MEET_ALONG + side));
    set_contact3(at, CONTACT_DIRECTION, meet3(row, MEET_DIRECTION) * sign);
    set_contact3(at, CONTACT_ANCHOR, met.anchors[side]);
    set_contact(at, CONTACT_SCALE_TERM, meet_at(row, MEET_SCALE_TERM + side));
    set_contact(at, CONTACT_ARM, meet_at(row, MEET_ARM + side));
    set_contact(at, CONTACT_GAP, met.gaps[side]);
    set_contact3(at, CONTACT_MIDDLE, met.middles[side]);
    set_contact(at, CONTACT_FRICTION, 2.0 * meet_at(row, MEET_FRICTION));
    let limit = meet_at(row, MEET_RUBS) * force;
    set_contact(at, CONTACT_LIMIT, limit);
    set_contact(at, CONTACT_STICKS, where_less(0.0, limit, 1.0, 0.0));
    set_contact(at, CONTACT_STAYS, 0.0);
    let radius = smaller(meet_at(row, MEET_ARM), meet_at(row, MEET_ARM + 1u));
    set_contact(at, CONTACT_ROLLING, 2.0 * ROLLING * meet_at(row, MEET_FRICTION) * radius * radius);
    set_contact(at, CONTACT_ROLLING_LIMIT, ROLLS * force * radius);
    set_contact3(at, CONTACT_TURN, met.turns[side]);
}

fn set_contact(row: u32, entry: u32, value: f32) {
    contact_rows[row + entry * LANES] = value;
}

fn set_contact3(row: u32, entry: u32, value: vec3<f32>) {
    set_contact(row, entry, value.x);
    set_contact(row, entry + 1u, value.y);
    set_contact(row, entry + 2u, value.z);
}
