// Stage tally: who presses whom in a substep, and with what impulse, where contact events are asked for; the twin of src/cpu/tally.rs.
//
// A thread is a chain, and adds to what it has of each instance, half-space and solid that presses it: few of these, in a list of its
// own among all tallies. Where a list lies hangs on which thread took a row first, and the host sorts them by whose they are; what is
// in it, and in which order that was added up, is the same in every run.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read> input_rows: array<f32>;
@group(0) @binding(3) var<storage, read> chain_rows: array<f32>;
@group(0) @binding(4) var<storage, read> contact_rows: array<f32>;
@group(0) @binding(5) var<storage, read> segment_pairs: array<u32>;
@group(0) @binding(6) var<storage, read> pairs: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read> meet_rows: array<f32>;
// A row of TALLIES words; for each chain which is its newest tally; all tallies, of TALLY_ENTRIES words.
@group(0) @binding(8) var<storage, read_write> tallies: array<atomic<u32>>;

// A chain, and with what something presses it, as far as that is not among its tallies yet.
struct Pressed {
    chain: u32,
    instance: u32,
    // See TALLY_OTHER; NO_PAIR of nothing.
    other: u32,
    impulse: f32,
    push: vec3<f32>,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn tally(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let place = group_of(thread_of(invocation));
    let lane = lane_of(thread_of(invocation));
    if place >= params.group_count {
        return;
    }
    // Of a group that sleeps the first lane alone says that it does not work.
    let named = input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 1u)];
    if named < 0.0 {
        return;
    }
    let works = input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 0u)] >= 0.0;
    let index = u32(named);
    let group = groups[index];
    var pressed = Pressed(index * LANES + lane, group.instance, NO_PAIR, 0.0, vec3<f32>());
    // None by their counts, not by a branch, as in predict.
    let plane_count = select(0u, params.plane_count, works);
    for (var plane = 0u; plane < plane_count; plane++) {
        for (var node = 0u; node < group.node_count; node++) {
            add_contact(&pressed, group.contact_base + node * plane_count + plane, lane, TALLY_PLANE + plane);
        }
    }
    var touch_count = select(0u, group.touch_count, works);
    if touch_count > 0u && !(contact_rows[word(group.touch_base, CONTACT_ENTRIES, 0u, lane)] > 0.0) {
        touch_count = 0u;
    }
    for (var slot = 0u; slot < group.node_count * touch_count; slot++) {
        let row = group.touch_base + 1u + slot / TOUCHES * (2u * TOUCHES) + slot % TOUCHES;
        let name = contact_rows[word(row + TOUCHES, CONTACT_ENTRIES, TOUCH_SOLID, lane)];
        // Those of solids are there for as many as there may be, and of bones nobody is told.
        let is_there = contact_rows[word(row, CONTACT_ENTRIES, CONTACT_STIFFNESS, lane)] > 0.0;
        if is_there && name >= 0.0 {
            add_contact(&pressed, row, lane, TALLY_SOLID + u32(name));
        }
    }
    add_meetings(&pressed, group, lane, works);
    note(pressed);
}

// Adds what a contact row presses.
fn add_contact(pressed: ptr<function, Pressed>, row: u32, lane: u32, other: u32) {
    let at = word(row, CONTACT_ENTRIES, 0u, lane);
    let direction = at + CONTACT_DIRECTION * LANES;
    let tangent = at + CONTACT_TANGENT * LANES;
    add(
        pressed,
        other,
        contact_rows[at + CONTACT_DUAL * LANES],
        vec3<f32>(contact_rows[direction], contact_rows[direction + LANES], contact_rows[direction + 2u * LANES]),
        vec3<f32>(contact_rows[tangent], contact_rows[tangent + LANES], contact_rows[tangent + 2u * LANES]),
    );
}

// Adds what other instances press in pairs in which the chain comes first: its segments', one after the other.
fn add_meetings(pressed: ptr<function, Pressed>, group: Group, lane: u32, works: bool) {
    let frame = params.recording & 1u;
    let first = ((group.node_base * LANES + lane * group.node_count) * 2u + frame) * PARTNERS_ENTRIES;
    let last = first + (group.node_count - 1u) * (2u * PARTNERS_ENTRIES);
    let end = segment_pairs[last + PARTNERS_FIRST_PAIR] + segment_pairs[last + PARTNERS_UPPER];
    let pair_end = select(0u, min(end, pairs[0].x), params.passes > 0u);
    for (var pair = segment_pairs[first + PARTNERS_FIRST_PAIR]; pair < pair_end; pair++) {
        let other = pairs[3u + pair * 2u].x;
        if pairs[2u + pair * 2u].x == NO_PAIR || !works && sleeps(other) {
            continue;
        }
        let instance = groups[other / LANES].instance;
        if instance == group.instance {
            continue;
        }
        for (var point = 0u; point < 2u; point++) {
            let row = meet_word(pair, point);
            let memory = memory_word(pair, frame, point);
            // Without room for its contact rows it presses nothing, whatever it remembers.
            if meet_at(row, MEET_STIFFNESS) == 0.0 {
                continue;
            }
            add(pressed, instance, meet_at(memory, MEET_FORCE), meet3(row, MEET_DIRECTION), meet3(memory, MEET_PULL));
        }
    }
}

fn sleeps(chain: u32) -> bool {
    return chain_rows[word(chain / LANES, CHAIN_ENTRIES, CHAIN_SLEEPS, chain % LANES)] == SLEEPS_NOW;
}

fn meet_at(row: u32, entry: u32) -> f32 {
    return meet_rows[row + entry * LANES];
}

fn meet3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(meet_at(row, entry), meet_at(row, entry + 1u), meet_at(row, entry + 2u));
}

// Adds what a force along a direction, and a pull across it, come to in the substep, if it presses.
fn add(pressed: ptr<function, Pressed>, other: u32, force: f32, direction: vec3<f32>, pull: vec3<f32>) {
    if !(force > 0.0) || !is_number(force) {
        return;
    }
    if other != (*pressed).other {
        note(*pressed);
        (*pressed).other = other;
        (*pressed).impulse = 0.0;
        (*pressed).push = vec3<f32>();
    }
    let impulse = force * params.h;
    let all = direction * impulse + pull * params.h;
    (*pressed).impulse += impulse;
    (*pressed).push += select(vec3<f32>(), all, vec3<bool>(is_number(all.x), is_number(all.y), is_number(all.z)));
}

// Adds it to the chain's tally of the same, or makes one.
fn note(pressed: Pressed) {
    if pressed.other == NO_PAIR {
        return;
    }
    let newest = TALLY_ENTRIES + pressed.chain;
    let before = atomicLoad(&tallies[newest]);
    var next = before;
    while next != 0u {
        let at = word_of(next);
        if atomicLoad(&tallies[at + TALLY_OTHER]) == pressed.other {
            add_to(at + TALLY_IMPULSE, pressed.impulse);
            add_to(at + TALLY_PUSH, pressed.push.x);
            add_to(at + TALLY_PUSH + 1u, pressed.push.y);
            add_to(at + TALLY_PUSH + 2u, pressed.push.z);
            return;
        }
        next = atomicLoad(&tallies[at + TALLY_NEXT]);
    }
    let own = atomicAdd(&tallies[TALLIES_FOUND], 1u);
    if own >= atomicLoad(&tallies[TALLIES_ROOM]) {
        return;
    }
    let at = word_of(own + 1u);
    atomicStore(&tallies[at + TALLY_NEXT], before);
    atomicStore(&tallies[at + TALLY_INSTANCE], pressed.instance);
    atomicStore(&tallies[at + TALLY_CHAIN], pressed.chain);
    atomicStore(&tallies[at + TALLY_OTHER], pressed.other);
    atomicStore(&tallies[at + TALLY_IMPULSE], bitcast<u32>(pressed.impulse));
    atomicStore(&tallies[at + TALLY_PUSH], bitcast<u32>(pressed.push.x));
    atomicStore(&tallies[at + TALLY_PUSH + 1u], bitcast<u32>(pressed.push.y));
    atomicStore(&tallies[at + TALLY_PUSH + 2u], bitcast<u32>(pressed.push.z));
    atomicStore(&tallies[newest], own + 1u);
}

// The first word of a tally, counted from 1.
fn word_of(tally: u32) -> u32 {
    return (atomicLoad(&tallies[TALLIES_FIRST]) + tally - 1u) * TALLY_ENTRIES;
}

// No other thread adds to it.
fn add_to(at: u32, value: f32) {
    atomicStore(&tallies[at], bitcast<u32>(bitcast<f32>(atomicLoad(&tallies[at])) + value));
}
