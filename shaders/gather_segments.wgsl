// Stage gather_segments: the segments of all chains that are stepped, with how far they may go in the frame, each counted in its cell
// of the grid; the twin of src/cpu/gather_segments.rs, which sees them from the velocity that most have, and
// reckons from amid all of them; here from the first chain's origin.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read> rest_rows: array<f32>;
@group(0) @binding(3) var<storage, read> node_rows: array<f32>;
@group(0) @binding(4) var<storage, read> input_rows: array<f32>;
@group(0) @binding(5) var<storage, read> chain_rows: array<f32>;
@group(0) @binding(6) var<storage, read> force_rows: array<f32>;
@group(0) @binding(7) var<storage, read_write> segments: array<Segment>;
@group(0) @binding(8) var<storage, read_write> cells: array<atomic<u32>>;

// By how much rounding may take places of all segments, from one origin, from each other, over how far they are from that.
const PLACES_ROUND: f32 = 2.4e-7;

// No segment is anywhere, and no cell has one.
@compute @workgroup_size(WORKGROUP_SIZE)
fn clear_segments(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    if thread >= params.segment_count {
        return;
    }
    segments[thread].reach = -1.0;
    for (var at = thread; at < CELLS_HEADER + params.cell_count; at += params.segment_count) {
        atomicStore(&cells[at], 0u);
    }
}

// What the host gives a chain in the frame to come.
struct Given {
    // First words of its input row and of the group's force rows.
    input: u32,
    forces: u32,
    pushed: bool,
    kicked: bool,
    // How far the chain's origin goes (m), of which the host knows already, and its rows not yet.
    shift: vec3<f32>,
    // How far its bones go (m), and what hangs on them with them.
    carried: f32,
}

// Writes a chain's segments, and counts each in its cell.
@compute @workgroup_size(WORKGROUP_SIZE)
fn gather_segments(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let place = group_of(thread);
    if place >= params.group_count {
        return;
    }
    if input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 0u)] < 0.0 {
        return;
    }
    let lane = lane_of(thread);
    let index = group_at(place);
    let group = groups[index];
    let rest = word(group.rest_base, REST_ENTRIES, 0u, lane);
    let nodes = word(group.node_base, NODE_ENTRIES, 0u, lane);
    let first_origin = chain3(word(group_at(0u), CHAIN_ENTRIES, CHAIN_ORIGIN, 0u));
    let origin = chain3(word(index, CHAIN_ENTRIES, CHAIN_ORIGIN, lane));
    let shift = origin - first_origin;
    let given = given_to(word(index, INPUT_ENTRIES, 0u, lane), lane, origin, rest_rows[rest + REST_LENGTH * LANES]);
    let gravity = sqrt(dot(params.gravity, params.gravity));
    let frame = params.frame;
    for (var node = 0u; node + 1u < group.node_count; node++) {
        let rest_row = rest + node * (REST_ENTRIES * LANES);
        if rest_rows[rest_row + REST_INV_LENGTH * LANES] <= 0.0 {
            break;
        }
        let row = nodes + node * (NODE_ENTRIES * LANES);
        let next_rest_row = rest_row + REST_ENTRIES * LANES;
        let next_row = row + NODE_ENTRIES * LANES;
        var segment: Segment;
        segment.first = shift + node3(row + NODE_PLACE * LANES);
        segment.last = shift + node3(next_row + NODE_PLACE * LANES);
        segment.first_radius = rest_rows[rest_row + REST_RADIUS * LANES] * node_rows[row + NODE_SCALE * LANES];
        segment.last_radius = rest_rows[next_rest_row + REST_RADIUS * LANES] * node_rows[next_row + NODE_SCALE * LANES];
        segment.first_velocity = velocity_given(given, row, node);
        segment.last_velocity = velocity_given(given, next_row, node + 1u);
        let speed = larger(size(segment.first_velocity), size(segment.last_velocity));
        let accelerated = gravity + acceleration_given(given, node);
        let thick = larger(segment.first_radius, segment.last_radius);
        let far = max(abs(segment.first), abs(segment.last));
        let rounds = PLACES_ROUND * larger(far.x, larger(far.y, far.z));
        segment.slack = 0.5 * accelerated * frame * frame + 0.05 * thick + given.carried + rounds;
        let margin = speed * frame + segment.slack;
        let along = segment.last - segment.first;
        segment.centre = segment.first + along * 0.5;
        segment.reach = 0.5 * size(along) + thick + margin;
        segment.chain = index * LANES + lane;
        segment.node = node;
        segment.base = group.segment_base;
        segment.overlap_base = group.overlap_base;
        segment.overlap_count = group.overlap_count;
        segment.flags = group.own | select(0u, FORGETS, group.told_in == params.recording);
        segment.memberships = group.memberships;
        segment.touches = group.touches;
        let centre = segment.centre;
        let is_sound = is_number(centre.x) && is_number(centre.y) && is_number(centre.z) && is_number(segment.reach)
            && segment.reach >= 0.0;
        if !is_sound {
            continue;
        }
        segment.level = level_of(segment.reach);
        segments[group.node_base * LANES + lane * group.node_count + node] = segment;
        atomicOr(&cells[segment.level / 32u], 1u << (segment.level % 32u));
        let cell = cell_of(segment.level, centre);
        atomicAdd(&cells[CELLS_HEADER + slot_of_cell(segment.level, cell, params.cell_count)], 1u);
    }
}

// The group in a place among those that are stepped.
fn group_at(place: u32) -> u32 {
    return u32(input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 0u)]);
}

fn given_to(row: u32, lane: u32, origin: vec3<f32>, reach: f32) -> Given {
    let bones = select(0u, MAX_BONES, input_rows[row + INPUT_HANGS * LANES] > 0.5);
    var carried = 0.0;
    for (var bone = 0u; bone < bones; bone++) {
        let goes_from = row + (INPUT_BONE_FROM + bone * POSE) * LANES;
        let goes_to = row + (INPUT_BONE_TO + bone * POSE) * LANES;
        let goes = size(input3(goes_to) - input3(goes_from));
        var turns2 = 0.0;
        for (var entry = 3u; entry < POSE; entry++) {
            let apart = input_rows[goes_to + entry * LANES] - input_rows[goes_from + entry * LANES];
            turns2 = turns2 + apart * apart;
        }
        // |q − q'| is 2·sin(φ/4), at least 0.45 φ; what hangs on a bone is taken to be within two lengths of it.
        carried = larger(carried, goes + sqrt(turns2) * 2.3 * 2.0 * reach);
    }
    let forces = input_rows[row + INPUT_FORCES * LANES];
    let pushed = forces >= 0.0;
    return Given(
        row,
        word(u32(larger(forces, 0.0)), FORCE_ENTRIES, 0u, lane),
        pushed,
        input_rows[row + INPUT_KICKED * LANES] > 0.5,
        input3(row + INPUT_ORIGIN * LANES) - origin,
        carried,
    );
}

// A node's velocity with what it is kicked with (m/s).
fn velocity_given(given: Given, row: u32, node: u32) -> vec3<f32> {
    let velocity = node3(row + NODE_VELOCITY * LANES);
    if !given.kicked {
        return velocity;
    }
    let spin = cross(given3(given, INPUT_KICK_SPIN), node3(row + NODE_PLACE * LANES) - given.shift);
    let kick = given3(given, INPUT_KICK_VELOCITY) + spin;
    return velocity * input_rows[given.input + INPUT_KEPT * LANES] + kick + force_given(given, node, FORCE_VELOCITY);
}

// By how much a segment's ends are accelerated beside gravity at most (m/s²).
fn acceleration_given(given: Given, node: u32) -> f32 {
    let first = size(force_given(given, node, FORCE_ACCELERATION));
    let second = size(force_given(given, node + 1u, FORCE_ACCELERATION));
    return size(given3(given, INPUT_ACCELERATION)) + larger(first, second);
}

// Three entries of a node's force row, nothing where its group is not pushed.
fn force_given(given: Given, node: u32, entry: u32) -> vec3<f32> {
    if !given.pushed {
        return vec3<f32>();
    }
    return force3(given.forces + (node * FORCE_ENTRIES + entry) * LANES);
}

fn given3(given: Given, entry: u32) -> vec3<f32> {
    return input3(given.input + entry * LANES);
}

fn size(v: vec3<f32>) -> f32 {
    return sqrt(dot(v, v));
}

// Three entries from a word on.
fn chain3(at: u32) -> vec3<f32> {
    return vec3<f32>(chain_rows[at], chain_rows[at + LANES], chain_rows[at + 2u * LANES]);
}

fn node3(at: u32) -> vec3<f32> {
    return vec3<f32>(node_rows[at], node_rows[at + LANES], node_rows[at + 2u * LANES]);
}

fn input3(at: u32) -> vec3<f32> {
    return vec3<f32>(input_rows[at], input_rows[at + LANES], input_rows[at + 2u * LANES]);
}

fn force3(at: u32) -> vec3<f32> {
    return vec3<f32>(force_rows[at], force_rows[at + LANES], force_rows[at + 2u * LANES]);
}
