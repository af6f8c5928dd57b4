// Stage find_pairs: which segments may touch those of other chains in the frame, and what pairs of them remember of the last one;
// the twin of src/cpu/find_pairs.rs. Threads that count and fill do so in any order; what they leave is sorted by segments, and so
// the same whatever the order was.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
// CELLS_HEADER words; for each cell of the table first how many segments it has, then where its last one is; the segments by cells;
// what workgroups have counted, two words each.
@group(0) @binding(2) var<storage, read_write> cells: array<atomic<u32>>;
// For each segment and either of two frames in turn, PARTNERS_ENTRIES words.
@group(0) @binding(3) var<storage, read_write> segment_pairs: array<atomic<u32>>;
// Whom segments may touch, in the order of both, for either of two frames in turn.
@group(0) @binding(4) var<storage, read_write> partners: array<u32>;
// How many pairs there are; then two of these for each: chain, node, place among partners of either side, and past which ends of its
// segment its chain goes on with one that may touch the other side too: 1 for the first end, 2 for the last.
@group(0) @binding(5) var<storage, read_write> pairs: array<vec4<u32>>;
// Pairs of segments of one instance that leave each other alone, in order, as places from its first segment on.
@group(0) @binding(6) var<storage, read> rest_overlaps: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> meet_rows: array<f32>;
// How many workgroups a pass over all pairs has, how many pairs were found, in which recording, and
// for how many there was room.
@group(0) @binding(8) var<storage, read_write> pair_sizes: array<u32>;

// What each thread of a workgroup has counted.
var<workgroup> counted: array<vec2<u32>, WORKGROUP_SIZE>;

// What threads before one have counted, and all of the workgroup.
struct Sum {
    before: vec2<u32>,
    all: vec2<u32>,
}

fn sum_up(local: u32, own: vec2<u32>) -> Sum {
    counted[local] = own;
    workgroupBarrier();
    var sum: Sum;
    for (var k = 0u; k < WORKGROUP_SIZE; k++) {
        sum.before += select(vec2<u32>(), counted[k], k < local);
        sum.all += counted[k];
    }
    workgroupBarrier();
    return sum;
}

// Where segments by cells begin among words of cells, and what workgroups have counted.
fn items_base() -> u32 {
    return CELLS_HEADER + params.cell_count;
}

fn sums_base() -> u32 {
    return items_base() + params.segment_count;
}

fn workgroup_count() -> u32 {
    return (params.segment_count + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
}

fn sum_of(workgroup: u32) -> vec2<u32> {
    let at = sums_base() + workgroup * 2u;
    return vec2<u32>(atomicLoad(&cells[at]), atomicLoad(&cells[at + 1u]));
}

fn set_sum(workgroup: u32, sum: vec2<u32>) {
    let at = sums_base() + workgroup * 2u;
    atomicStore(&cells[at], sum.x);
    atomicStore(&cells[at + 1u], sum.y);
}

// How many segments are in one of a thread's cells.
fn count_of_cell(thread: u32, k: u32) -> u32 {
    let cell = thread * CELLS_A_SEGMENT + k;
    if cell >= params.cell_count {
        return 0u;
    }
    return atomicLoad(&cells[CELLS_HEADER + cell]);
}

fn count_of_cells(thread: u32) -> u32 {
    var count = 0u;
    for (var k = 0u; k < CELLS_A_SEGMENT; k++) {
        count += count_of_cell(thread, k);
    }
    return count;
}

// How many segments are in a workgroup's cells.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sum_cells(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let thread = thread_of(invocation);
    let sum = sum_up(local, vec2<u32>(count_of_cells(thread), 0u));
    if local == 0u && thread < params.segment_count {
        set_sum(thread / WORKGROUP_SIZE, sum.all);
    }
}

// How many are in those before.
@compute @workgroup_size(WORKGROUP_SIZE)
fn add_up_cells(@builtin(local_invocation_index) local: u32) {
    add_up(local);
}

// Puts what workgroups before have counted in the place of what each has; all together.
fn add_up(local: u32) -> vec2<u32> {
    let each = (workgroup_count() + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
    let first = local * each;
    let end = min(first + each, workgroup_count());
    var own = vec2<u32>();
    for (var k = first; k < end; k++) {
        own += sum_of(k);
    }
    let sum = sum_up(local, own);
    var before = sum.before;
    for (var k = first; k < end; k++) {
        let here = sum_of(k);
        set_sum(k, before);
        before += here;
    }
    return sum.all;
}

// Where each cell's first segment goes.
@compute @workgroup_size(WORKGROUP_SIZE)
fn spread_cells(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let thread = thread_of(invocation);
    let sum = sum_up(local, vec2<u32>(count_of_cells(thread), 0u));
    if thread / WORKGROUP_SIZE >= workgroup_count() {
        return;
    }
    var before = sum_of(thread / WORKGROUP_SIZE).x + sum.before.x;
    for (var k = 0u; k < CELLS_A_SEGMENT; k++) {
        let here = count_of_cell(thread, k);
        let cell = thread * CELLS_A_SEGMENT + k;
        if cell < params.cell_count {
            atomicStore(&cells[CELLS_HEADER + cell], before);
        }
        before += here;
    }
}

// Puts segments in their cells; none has a partner yet.
@compute @workgroup_size(WORKGROUP_SIZE)
fn place_segments(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let own = thread_of(invocation);
    if own >= params.segment_count {
        return;
    }
    for (var at = 0u; at < PARTNERS_ENTRIES; at++) {
        atomicStore(&segment_pairs[row_of(own, this_frame()) + at], 0u);
    }
    if segments[own].reach < 0.0 {
        return;
    }
    let level = segments[own].level;
    let slot = slot_of_cell(level, cell_of(level, segments[own].centre), params.cell_count);
    let at = atomicAdd(&cells[CELLS_HEADER + slot], 1u);
    atomicStore(&cells[items_base() + at], own);
}

// Which of two frames in turn this one is.
fn this_frame() -> u32 {
    return params.recording & 1u;
}

// The first word of a segment's pairs.
fn row_of(segment: u32, frame: u32) -> u32 {
    return (segment * 2u + frame) * PARTNERS_ENTRIES;
}

// A word of its pairs.
fn pairs_at(segment: u32, frame: u32, word: u32) -> u32 {
    return atomicLoad(&segment_pairs[row_of(segment, frame) + word]);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn count_partners(@builtin(global_invocation_id) invocation: vec3<u32>) {
    look(thread_of(invocation), false);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn list_partners(@builtin(global_invocation_id) invocation: vec3<u32>) {
    look(thread_of(invocation), true);
}

// Looks in one of the cells around a segment for whom it may touch among those of its level and of coarser ones, and counts or lists
// each for both. Neighbouring threads are of segments of one cell, for most: they look at the same others.
fn look(thread: u32, lists: bool) {
    if params.segment_count == 0u {
        return;
    }
    let k = thread / params.segment_count;
    let item = thread % params.segment_count;
    if k >= CELLS_AROUND || item >= atomicLoad(&cells[items_base() - 1u]) {
        return;
    }
    let own = atomicLoad(&cells[items_base() + item]);
    let segment = segments[own];
    for (var level = segment.level; level < LEVELS; level++) {
        let there = atomicLoad(&cells[level / 32u]) >> (level % 32u);
        if (there & 1u) == 0u {
            continue;
        }
        let middle = cell_of(level, segment.centre);
        let beside = vec3<i32>(vec3<u32>(k % 3u, k / 3u % 3u, k / 9u)) - 1;
        let cell = middle + beside;
        let slot = slot_of_cell(level, cell, params.cell_count);
        let end = atomicLoad(&cells[CELLS_HEADER + slot]);
        var at = 0u;
        if slot > 0u {
            at = atomicLoad(&cells[CELLS_HEADER + slot - 1u]);
        }
        for (; at < end; at++) {
            let other = atomicLoad(&cells[items_base() + at]);
            // Of the same level each pair is met twice.
            if level == segment.level && other <= own {
                continue;
            }
            if segments[other].level != level || any(cell_of(level, segments[other].centre) != cell) {
                continue;
            }
            let first = min(own, other);
            let second = max(own, other);
            if !may_touch(first, second) {
                continue;
            }
            if lists {
                list(first, second);
            } else {
                atomicAdd(&segment_pairs[row_of(first, this_frame()) + PARTNERS_COUNT], 1u);
                atomicAdd(&segment_pairs[row_of(second, this_frame()) + PARTNERS_COUNT], 1u);
                atomicAdd(&segment_pairs[row_of(first, this_frame()) + PARTNERS_UPPER], 1u);
            }
        }
    }
}

// Whether two segments want to touch each other, and may come to in the frame.
fn may_touch(first: u32, second: u32) -> bool {
    let a = segments[first];
    let b = segments[second];
    if !overlap(a, b) || !want_to_touch(a, b) {
        return false;
    }
    let fastest2 = larger(
        larger(
            apart2(a.first_velocity, b.first_velocity),
            apart2(a.first_velocity, b.last_velocity),
        ),
        larger(
            apart2(a.last_velocity, b.first_velocity),
            apart2(a.last_velocity, b.last_velocity),
        ),
    );
    let reach = sqrt(fastest2) * params.frame + a.slack + b.slack;
    let nearest = nearest_of(pill_of(a), pill_of(b));
    if !(nearest.gap <= reach) {
        return false;
    }
    return a.base != b.base || !overlap_at_rest(a, first - a.base, second - a.base);
}

// Whether their instances want them to touch each other.
fn want_to_touch(a: Segment, b: Segment) -> bool {
    if a.chain == b.chain {
        return (a.flags & WITHIN_CHAINS) != 0u;
    }
    if a.base == b.base {
        return (a.flags & OWN_CHAINS) != 0u;
    }
    return (a.memberships & b.touches) != 0u && (b.memberships & a.touches) != 0u;
}

fn apart2(a: vec3<f32>, b: vec3<f32>) -> f32 {
    return dot(a - b, a - b);
}

fn pill_of(segment: Segment) -> Pill {
    return Pill(segment.first, segment.last, vec2<f32>(segment.first_radius, segment.last_radius));
}

fn overlap(a: Segment, b: Segment) -> bool {
    let reach = a.reach + b.reach;
    return apart2(a.centre, b.centre) <= reach * reach;
}

// Whether two segments of one instance leave each other alone.
fn overlap_at_rest(segment: Segment, first: u32, second: u32) -> bool {
    var low = segment.overlap_base;
    var high = segment.overlap_base + segment.overlap_count;
    let end = high;
    while low < high {
        let middle = (low + high) / 2u;
        let there = rest_overlaps[middle];
        if there.x < first || (there.x == first && there.y < second) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low < end && all(rest_overlaps[min(low, end - 1u)] == vec2<u32>(first, second));
}

// How many partners and pairs the segments of a workgroup have.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sum_pairs(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let own = thread_of(invocation);
    let sum = sum_up(local, counts_of(own));
    if local == 0u && own < params.segment_count {
        set_sum(own / WORKGROUP_SIZE, sum.all);
    }
}

// How many partners a segment has, and how many of them come after it.
fn counts_of(own: u32) -> vec2<u32> {
    if own >= params.segment_count {
        return vec2<u32>();
    }
    return vec2<u32>(pairs_at(own, this_frame(), PARTNERS_COUNT), pairs_at(own, this_frame(), PARTNERS_UPPER));
}

// How many those before have, and how many pairs there are.
@compute @workgroup_size(WORKGROUP_SIZE)
fn add_up_pairs(@builtin(local_invocation_index) local: u32) {
    let found = add_up(local).y;
    if local == 0u {
        let count = min(found, params.pair_capacity);
        let workgroups = (count + WORKGROUP_SIZE - 1u) / WORKGROUP_SIZE;
        pair_sizes[0] = min(workgroups, MAX_WORKGROUPS);
        pair_sizes[1] = (workgroups + MAX_WORKGROUPS - 1u) / MAX_WORKGROUPS;
        pair_sizes[2] = 1u;
        pair_sizes[3] = found;
        pair_sizes[4] = params.recording;
        pair_sizes[5] = params.pair_capacity;
        pairs[0] = vec4<u32>(count, 0u, 0u, 0u);
    }
}

// Where each segment's partners and pairs begin.
@compute @workgroup_size(WORKGROUP_SIZE)
fn spread_pairs(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let own = thread_of(invocation);
    let sum = sum_up(local, counts_of(own));
    if own >= params.segment_count {
        return;
    }
    let first = sum_of(own / WORKGROUP_SIZE) + sum.before;
    let row = row_of(own, this_frame());
    atomicStore(&segment_pairs[row + PARTNERS_FIRST], first.x);
    atomicStore(&segment_pairs[row + PARTNERS_FIRST_PAIR], first.y);
}

// Lists a pair for both of its segments, if there is room for all of either's.
fn list(first: u32, second: u32) {
    let frame = this_frame();
    let end = pairs_at(first, frame, PARTNERS_FIRST_PAIR) + pairs_at(first, frame, PARTNERS_UPPER);
    if end > params.pair_capacity || !has_room(first) || !has_room(second) {
        return;
    }
    list_one(first, second);
    list_one(second, first);
}

// Whether there is room for all partners of a segment: of a pair each has one.
fn has_room(segment: u32) -> bool {
    let frame = this_frame();
    return pairs_at(segment, frame, PARTNERS_FIRST) + pairs_at(segment, frame, PARTNERS_COUNT) <= 2u * params.pair_capacity;
}

fn list_one(segment: u32, partner: u32) {
    let row = row_of(segment, this_frame());
    let at = atomicLoad(&segment_pairs[row + PARTNERS_FIRST]) + atomicAdd(&segment_pairs[row + PARTNERS_LISTED], 1u);
    partners[at * 2u + this_frame()] = partner;
}

// Sorts each segment's partners.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_partners(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let own = thread_of(invocation);
    if own >= params.segment_count {
        return;
    }
    let frame = this_frame();
    let first = pairs_at(own, frame, PARTNERS_FIRST);
    let end = first + pairs_at(own, frame, PARTNERS_LISTED);
    for (var at = first + 1u; at < end; at++) {
        let partner = partners[at * 2u + frame];
        var to = at;
        while to > first {
            let before = partners[(to - 1u) * 2u + frame];
            if before < partner {
                break;
            }
            partners[to * 2u + frame] = before;
            to--;
        }
        partners[to * 2u + frame] = partner;
    }
}

// How many of a segment's partners come before one.
fn rank_of(segment: u32, frame: u32, partner: u32) -> u32 {
    let first = pairs_at(segment, frame, PARTNERS_FIRST);
    var low = first;
    var high = first + pairs_at(segment, frame, PARTNERS_LISTED);
    while low < high {
        let middle = (low + high) / 2u;
        if partners[middle * 2u + frame] < partner {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low - first;
}

// Writes the pairs in which a segment comes first, with what they remember of the frame before.
@compute @workgroup_size(WORKGROUP_SIZE)
fn link_pairs(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let own = thread_of(invocation);
    if own >= params.segment_count {
        return;
    }
    let frame = this_frame();
    let first = pairs_at(own, frame, PARTNERS_FIRST);
    let lower = rank_of(own, frame, own);
    let upper = pairs_at(own, frame, PARTNERS_LISTED) - lower;
    let first_pair = pairs_at(own, frame, PARTNERS_FIRST_PAIR);
    for (var k = 0u; k < pairs_at(own, frame, PARTNERS_UPPER); k++) {
        let pair = first_pair + k;
        if pair >= params.pair_capacity {
            break;
        }
        if k >= upper {
            // There was no room for it.
            pairs[2u + pair * 2u] = vec4<u32>(NO_PAIR);
            continue;
        }
        let at = first + lower + k;
        let partner = partners[at * 2u + frame];
        let other_at = pairs_at(partner, frame, PARTNERS_FIRST) + rank_of(partner, frame, own);
        pairs[2u + pair * 2u] = vec4<u32>(segments[own].chain, segments[own].node, at, joints_of(own, partner));
        pairs[3u + pair * 2u] =
            vec4<u32>(segments[partner].chain, segments[partner].node, other_at, joints_of(partner, own));
        remember(pair, own, partner);
    }
}

// Past which ends of a segment its chain goes on with one that may touch another's too.
fn joints_of(segment: u32, other: u32) -> u32 {
    let first = select(0u, 1u, segment > 0u && goes_on_with(segment, segment - 1u, other));
    let last = select(0u, 2u, segment + 1u < params.segment_count && goes_on_with(segment, segment + 1u, other));
    return first + last;
}

fn goes_on_with(segment: u32, next: u32, other: u32) -> bool {
    let own = segments[next];
    if !(own.reach >= 0.0) || own.chain != segments[segment].chain {
        return false;
    }
    let a = min(next, other);
    let b = max(next, other);
    return own.base != segments[other].base || !overlap_at_rest(own, a - own.base, b - own.base);
}

// Whether a point of a pair remembers other than nothing.
fn remembers(memory: u32) -> bool {
    return larger(meet_rows[memory + MEET_FORCE * LANES], meet_rows[memory + MEET_OVER_MASS * LANES]) > 0.0;
}

// Puts what a pair remembers of the frame before where this frame's is.
fn remember(pair: u32, own: u32, partner: u32) {
    let last_frame = 1u - this_frame();
    var was = NO_PAIR;
    let forgets = ((segments[own].flags | segments[partner].flags) & FORGETS) != 0u;
    if params.remembers == 2u || (params.remembers == 1u && !forgets) {
        let rank = rank_of(own, last_frame, partner);
        let at = pairs_at(own, last_frame, PARTNERS_FIRST) + rank;
        if rank < pairs_at(own, last_frame, PARTNERS_LISTED) && partners[at * 2u + last_frame] == partner {
            was = pairs_at(own, last_frame, PARTNERS_FIRST_PAIR) + rank - rank_of(own, last_frame, own);
            was = select(NO_PAIR, was, remembers(memory_word(was, last_frame, 0u)) || remembers(memory_word(was, last_frame, 1u)));
        }
    }
    for (var point = 0u; point < 2u; point++) {
        for (var entry = MEET_FORCE; entry < MEET_ENTRIES; entry++) {
            var remembered = 0.0;
            if was != NO_PAIR {
                remembered = meet_rows[memory_word(was, last_frame, point) + entry * LANES];
            }
            meet_rows[memory_word(pair, this_frame(), point) + entry * LANES] = remembered;
        }
    }
}
