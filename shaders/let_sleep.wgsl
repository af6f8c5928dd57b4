// Stage let_sleep: which instances sleep in the frame, and are not stepped; the twin of src/cpu/let_sleep.rs, which says so at the
// frame before's end, of whole islands at once. Here each knows for how long those that it may touch have been still, as far as these
// knew a frame ago, so that what one of them does goes from one to the next, an instance a frame: none has been still for longer than
// these, also once they are gone.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read> rest_rows: array<f32>;
@group(0) @binding(3) var<storage, read_write> node_rows: array<f32>;
@group(0) @binding(4) var<storage, read_write> input_rows: array<f32>;
@group(0) @binding(5) var<storage, read_write> chain_rows: array<f32>;
@group(0) @binding(6) var<storage, read> pairs: array<vec4<u32>>;
// Where nodes were when they began to be still (m), 3 entries.
@group(0) @binding(7) var<storage, read_write> still_places: array<f32>;
// For each instance and either of two frames in turn, REST_WATCH_ENTRIES words; then what stirs.
@group(0) @binding(8) var<storage, read_write> rest_watches: array<atomic<u32>>;

// Over how many frames at least what sleeps has been still: the one to come is among them, and of two at least one was seen.
const LEAST_FRAMES: f32 = 1.5;

// Longer than anything is still (s).
const EVER: f32 = 1.0e30;

// By how much rounding may take a place in the world from where it is, over how far that is from the world's origin.
const PLACES_ROUND: f32 = 2.4e-7;

// Which of two frames in turn this one is.
fn this_frame() -> u32 {
    return params.recording & 1u;
}

// Which word of an instance's is in an entry of a frame.
fn watch_word(instance: u32, frame: u32, entry: u32) -> u32 {
    return (instance * 2u + frame) * REST_WATCH_ENTRIES + entry;
}

// Whether an instance was watched in the frame before.
fn was_watched(instance: u32) -> bool {
    let at = watch_word(instance, 1u - this_frame(), REST_WATCH_RECORDING);
    return atomicLoad(&rest_watches[at]) == params.recording - 1u;
}

// For how long it had been still in that frame (s), 0 where it was not.
fn still_before(instance: u32) -> f32 {
    let time = bitcast<f32>(atomicLoad(&rest_watches[watch_word(instance, 1u - this_frame(), REST_WATCH_STILL)]));
    return select(0.0, time, was_watched(instance));
}

// Whether it moved or was stirred in this one.
fn is_stirred(instance: u32) -> bool {
    return atomicLoad(&rest_watches[watch_word(instance, this_frame(), REST_WATCH_STIRRED)]) != 0u;
}

fn chain_word(index: u32, entry: u32, lane: u32) -> u32 {
    return word(index, CHAIN_ENTRIES, entry, lane);
}

// A chain as the stage sees it.
struct Watched {
    // Whether there is one, of an instance that is stepped or sleeps.
    is_there: bool,
    index: u32,
    lane: u32,
    group: Group,
}

// The thread's chain.
fn watched(thread: u32) -> Watched {
    let place = group_of(thread);
    if place >= params.group_count {
        return Watched();
    }
    let index = input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 0u)];
    if index < 0.0 {
        return Watched();
    }
    return Watched(true, u32(index), lane_of(thread), groups[u32(index)]);
}

fn place_at(row: u32) -> vec3<f32> {
    return vec3<f32>(node_rows[row], node_rows[row + LANES], node_rows[row + 2u * LANES]);
}

fn node_row(chain: Watched, node: u32) -> u32 {
    return word(chain.group.node_base + node, NODE_ENTRIES, NODE_PLACE, chain.lane);
}

fn still_row(chain: Watched, node: u32) -> u32 {
    return word(chain.group.node_base + node, 3u, 0u, chain.lane);
}

// Nobody has been stirred in the frame, or is beside anyone.
@compute @workgroup_size(WORKGROUP_SIZE)
fn begin_watch(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let instance = thread_of(invocation);
    if instance >= params.instance_count {
        return;
    }
    atomicStore(&rest_watches[watch_word(instance, this_frame(), REST_WATCH_BESIDE)], bitcast<u32>(EVER));
    atomicStore(&rest_watches[watch_word(instance, this_frame(), REST_WATCH_STIRRED)], 0u);
}

// Which instances went farther than what is still, or are given something else in the frame than in the one before.
@compute @workgroup_size(WORKGROUP_SIZE)
fn follow_rest(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = watched(thread_of(invocation));
    if !chain.is_there {
        return;
    }
    let stirred = input_rows[word(chain.index, INPUT_ENTRIES, INPUT_STIRRED, chain.lane)] > 0.5
        || chain.group.told_in == params.recording
        || !was_watched(chain.group.instance)
        || is_unwell(chain);
    if stirred || has_moved(chain) || is_near_to_change(chain) {
        atomicStore(&rest_watches[watch_word(chain.group.instance, this_frame(), REST_WATCH_STIRRED)], 1u);
    }
}

// Whether the chain is, or was a moment ago, where flesh cannot be: `check_health` may have to lay it anew.
fn is_unwell(chain: Watched) -> bool {
    return !(chain_rows[chain_word(chain.index, CHAIN_UNWELL, chain.lane)] <= 0.0);
}

// Whether a node of the chain is farther from where it was than its share of its radius.
fn has_moved(chain: Watched) -> bool {
    var moved = false;
    for (var node = 0u; node < chain.group.node_count; node++) {
        let still = still_row(chain, node);
        let was = vec3<f32>(still_places[still], still_places[still + LANES], still_places[still + 2u * LANES]);
        let gone = place_at(node_row(chain, node)) - was;
        // Padding has no radius.
        let radius = rest_rows[word(chain.group.rest_base + node, REST_ENTRIES, REST_RADIUS, chain.lane)];
        let most = params.sleep_within * radius;
        moved = moved || radius > 0.0 && !(dot(gone, gone) <= most * most);
    }
    return moved;
}

// Whether a segment of the chain is where something changes.
fn is_near_to_change(chain: Watched) -> bool {
    let at = chain_word(chain.index, CHAIN_ORIGIN, chain.lane);
    let origin = vec3<f32>(chain_rows[at], chain_rows[at + LANES], chain_rows[at + 2u * LANES]);
    var near = false;
    // Of the node before.
    var low = vec3<f32>();
    var high = vec3<f32>();
    // None by their count, not by a branch, as in predict.
    let node_count = select(0u, chain.group.node_count, params.stir_count > 0u);
    for (var node = 0u; node < node_count; node++) {
        let row = node_row(chain, node);
        let place = origin + place_at(row);
        let radius = rest_rows[word(chain.group.rest_base + node, REST_ENTRIES, REST_RADIUS, chain.lane)];
        let far = abs(place);
        let reach = radius * node_rows[row + NODE_SCALE * LANES] + PLACES_ROUND * larger(far.x, larger(far.y, far.z));
        let segment_low = min(place - reach, select(low, place - reach, node == 0u));
        let segment_high = max(place + reach, select(high, place + reach, node == 0u));
        low = place - reach;
        high = place + reach;
        for (var k = 0u; k < params.stir_count; k++) {
            let corners = params.instance_count * 2u * REST_WATCH_ENTRIES + k * STIR_ENTRIES;
            let outside = max(stir3(corners + STIR_LOW) - segment_high, segment_low - stir3(corners + STIR_HIGH));
            near = near || radius > 0.0 && larger(outside.x, larger(outside.y, outside.z)) <= 0.0;
        }
    }
    return near;
}

fn stir3(at: u32) -> vec3<f32> {
    return vec3<f32>(
        bitcast<f32>(atomicLoad(&rest_watches[at])),
        bitcast<f32>(atomicLoad(&rest_watches[at + 1u])),
        bitcast<f32>(atomicLoad(&rest_watches[at + 2u])),
    );
}

// Both instances of a pair learn for how long the other one knows all about it to have been still.
@compute @workgroup_size(WORKGROUP_SIZE)
fn spread_rest(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let pair = thread_of(invocation);
    if pair >= pairs[0].x || pairs[2u + pair * 2u].x == NO_PAIR {
        return;
    }
    let first = groups[pairs[2u + pair * 2u].x / LANES].instance;
    let second = groups[pairs[3u + pair * 2u].x / LANES].instance;
    if first != second {
        tell(first, select(still_before(second), 0.0, is_stirred(second)));
        tell(second, select(still_before(first), 0.0, is_stirred(first)));
    }
}

// Bits of times above 0 are in the order of these.
fn tell(instance: u32, time: f32) {
    atomicMin(&rest_watches[watch_word(instance, this_frame(), REST_WATCH_BESIDE)], bitcast<u32>(time));
}

// Those sleep that have been still for long enough, with all that they hang together with by touch.
@compute @workgroup_size(WORKGROUP_SIZE)
fn let_sleep(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let chain = watched(thread);
    // All threads of a group have read that it is at work before one says that it is not.
    storageBarrier();
    if !chain.is_there {
        return;
    }
    let instance = chain.group.instance;
    let frame = this_frame();
    let stirred = is_stirred(instance);
    let beside = bitcast<f32>(atomicLoad(&rest_watches[watch_word(instance, frame, REST_WATCH_BESIDE)]));
    var still = 0.0;
    if !stirred {
        still = smaller(smaller(still_before(instance), beside) + params.frame, EVER);
    }
    let sleeps = still >= larger(params.sleep_after, LEAST_FRAMES * params.frame);
    let at = chain_word(chain.index, CHAIN_SLEEPS, chain.lane);
    let slept = chain_rows[at] == SLEEPS_NOW && was_watched(instance);
    chain_rows[at] = select(select(0.0, SLEPT_BEFORE, slept), SLEEPS_NOW, sleeps);
    for (var node = 0u; node < chain.group.node_count; node++) {
        let row = node_row(chain, node);
        if stirred {
            let still_at = still_row(chain, node);
            for (var k = 0u; k < 3u; k++) {
                still_places[still_at + k * LANES] = node_rows[row + k * LANES];
            }
        }
        if sleeps && !slept {
            // All that goes on from frame to frame but where it is.
            for (var entry = NODE_VELOCITY; entry < NODE_PREV_PLACE; entry++) {
                node_rows[row + entry * LANES] = 0.0;
            }
        }
    }
    if chain.lane == 0u && sleeps {
        input_rows[word(group_of(thread), INPUT_ENTRIES, INPUT_WORKS, 0u)] = -1.0;
    }
    // One chain of the instance's, of its first group.
    if chain.lane == 0u && chain.group.node_base * LANES == chain.group.segment_base {
        atomicStore(&rest_watches[watch_word(instance, frame, REST_WATCH_STILL)], bitcast<u32>(still));
        atomicStore(&rest_watches[watch_word(instance, frame, REST_WATCH_RECORDING)], params.recording);
    }
}
