// What the stages of a substep bind, and how a thread reads and writes the rows of its chain in its group; the twin of
// src/cpu/group.rs. What that knows of a group beforehand is asked here of the thread's own chain.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read> rest_rows: array<f32>;
@group(0) @binding(3) var<storage, read_write> node_rows: array<f32>;
@group(0) @binding(4) var<storage, read> input_rows: array<f32>;
@group(0) @binding(5) var<storage, read_write> chain_rows: array<f32>;
@group(0) @binding(6) var<storage, read_write> contact_rows: array<f32>;

// The largest force (N) that a row remembers.
const MOST_DUAL: f32 = 1.0e30;

// Whether a pass is of chains that hang on others or bear them.
override IN_TREES: bool = false;

// Where a chain's rows begin: its first word in each array.
struct Chain {
    node_count: u32,
    rest: u32,
    nodes: u32,
    input: u32,
    chain: u32,
    scratch: u32,
    planes: u32,
    contacts: u32,
    // How many rows of half-spaces a node has, and how many of solids: 0 where none is near to the chain.
    plane_count: u32,
    touch_count: u32,
    // The first word of what solids are to it: a row that says how many, then each node's.
    touches: u32,
    // Whether there is any of that.
    may_touch: bool,
    reactions: u32,
    // 0 where the pass is of others than those that hang on each other.
    tree: u32,
}

// The thread's chain; one of no nodes where there is none, or it is not stepped.
fn chain_of(thread: u32) -> Chain {
    return chain_at_work(thread, params.group_count);
}

// As chain_of, of those that neither hang on others nor bear them.
fn lone_chain_of(thread: u32) -> Chain {
    return chain_at_work(thread, params.lone_count);
}

// As chain_of, of the others.
fn tree_chain_of(thread: u32) -> Chain {
    return in_tree(chain_at_work(params.lone_count * LANES + thread, params.group_count));
}

// As chain_of, where as many groups are at work.
fn chain_at_work(thread: u32, count: u32) -> Chain {
    let place = group_of(thread);
    if place >= count {
        return Chain();
    }
    let index = input_rows[word(place, INPUT_ENTRIES, INPUT_WORKS, 0u)];
    if index < 0.0 {
        return Chain();
    }
    return chain_in_lane(u32(index), lane_of(thread));
}

// A chain by its group and its lane there.
fn chain_in_lane(index: u32, lane: u32) -> Chain {
    let group = groups[index];
    let touches = word(group.touch_base, CONTACT_ENTRIES, 0u, lane);
    var touch_count = 0u;
    if group.touch_count > 0u && contact_rows[touches] > 0.0 {
        touch_count = group.touch_count;
    }
    return Chain(
        group.node_count,
        word(group.rest_base, REST_ENTRIES, 0u, lane),
        word(group.node_base, NODE_ENTRIES, 0u, lane),
        word(index, INPUT_ENTRIES, 0u, lane),
        word(index, CHAIN_ENTRIES, 0u, lane),
        word(group.scratch_base, SCRATCH_ENTRIES, 0u, lane),
        word(index * params.plane_count, PLANE_ENTRIES, 0u, lane),
        word(group.contact_base, CONTACT_ENTRIES, 0u, lane),
        params.plane_count,
        touch_count,
        touches,
        group.touch_count > 0u,
        word(group.reaction_base, REACTION_ENTRIES, 0u, lane),
        0u,
    );
}

// The same with its tree row.
fn in_tree(chain: Chain) -> Chain {
    var own = chain;
    own.tree = rest_row_of(chain, chain.node_count);
    return own;
}

// First words of a node's rows and of a contact's.
fn rest_row_of(chain: Chain, index: u32) -> u32 {
    return chain.rest + index * (REST_ENTRIES * LANES);
}

fn node_row_of(chain: Chain, index: u32) -> u32 {
    return chain.nodes + index * (NODE_ENTRIES * LANES);
}

fn scratch_row_of(chain: Chain, index: u32) -> u32 {
    return chain.scratch + index * (SCRATCH_ENTRIES * LANES);
}

fn contact_row_of(chain: Chain, slot: u32) -> u32 {
    return chain.contacts + slot * (CONTACT_ENTRIES * LANES);
}

// First word of a node's row of a solid, and of the tangent row that goes with it.
fn touch_row_of(chain: Chain, index: u32, touch: u32) -> u32 {
    return chain.touches + (1u + index * (2u * TOUCHES) + touch) * (CONTACT_ENTRIES * LANES);
}

fn tangent_row_of(chain: Chain, index: u32, touch: u32) -> u32 {
    return touch_row_of(chain, index, TOUCHES + touch);
}

// Whether anything is near that any chain of the group may touch.
fn is_touched(chain: Chain) -> bool {
    var touched = chain.plane_count > 0u;
    let lane_count = select(0u, LANES, chain.may_touch);
    for (var lane = 0u; lane < lane_count; lane++) {
        let near = chain.touches - chain.touches % LANES + lane + TOUCHES_NEAR * LANES;
        touched = touched || contact_rows[near] > 0.0;
    }
    return touched;
}

// How many rows a node has of half-spaces and solids, and the first word of one of them.
fn rows_at_node(chain: Chain) -> u32 {
    return chain.plane_count + chain.touch_count;
}

fn row_at_node(chain: Chain, index: u32, k: u32) -> u32 {
    if k < chain.plane_count {
        return contact_row_of(chain, index * chain.plane_count + k);
    }
    return touch_row_of(chain, index, k - chain.plane_count);
}

// How many there are of all nodes, and the first word of one.
fn row_count_of(chain: Chain) -> u32 {
    return chain.node_count * rows_at_node(chain);
}

fn row_of(chain: Chain, slot: u32) -> u32 {
    let rows = rows_at_node(chain);
    return row_at_node(chain, slot / rows, slot % rows);
}

fn input_at(row: u32, entry: u32) -> f32 {
    return input_rows[row + entry * LANES];
}

fn input3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(input_at(row, entry), input_at(row, entry + 1u), input_at(row, entry + 2u));
}

fn input4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(input3(row, entry), input_at(row, entry + 3u));
}

fn set_node(row: u32, entry: u32, value: f32) {
    node_rows[row + entry * LANES] = value;
}

fn set_node3(row: u32, entry: u32, value: vec3<f32>) {
    set_node(row, entry, value.x);
    set_node(row, entry + 1u, value.y);
    set_node(row, entry + 2u, value.z);
}

fn set_node4(row: u32, entry: u32, value: vec4<f32>) {
    set_node3(row, entry, value.xyz);
    set_node(row, entry + 3u, value.w);
}

fn set_chain(row: u32, entry: u32, value: f32) {
    chain_rows[row + entry * LANES] = value;
}

fn set_chain3(row: u32, entry: u32, value: vec3<f32>) {
    set_chain(row, entry, value.x);
    set_chain(row, entry + 1u, value.y);
    set_chain(row, entry + 2u, value.z);
}

fn set_chain4(row: u32, entry: u32, value: vec4<f32>) {
    set_chain3(row, entry, value.xyz);
    set_chain(row, entry + 3u, value.w);
}

fn contact_at(row: u32, entry: u32) -> f32 {
    return contact_rows[row + entry * LANES];
}

fn contact3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(contact_at(row, entry), contact_at(row, entry + 1u), contact_at(row, entry + 2u));
}

fn set_contact(row: u32, entry: u32, value: f32) {
    contact_rows[row + entry * LANES] = value;
}

fn set_contact3(row: u32, entry: u32, value: vec3<f32>) {
    set_contact(row, entry, value.x);
    set_contact(row, entry + 1u, value.y);
    set_contact(row, entry + 2u, value.z);
}

fn contact4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(contact3(row, entry), contact_at(row, entry + 3u));
}

fn set_contact4(row: u32, entry: u32, value: vec4<f32>) {
    set_contact3(row, entry, value.xyz);
    set_contact(row, entry + 3u, value.w);
}

// Forgets what touched the chain.
fn forget_contacts(chain: Chain) {
    let count = row_count_of(chain);
    for (var slot = 0u; slot < count; slot++) {
        let row = row_of(chain, slot);
        set_contact(row, CONTACT_STIFFNESS, 0.0);
        set_contact(row, CONTACT_FRICTION, 0.0);
        set_contact(row, CONTACT_DUAL, 0.0);
        set_contact4(row, CONTACT_BOUNCE, vec4<f32>());
        set_contact3(row, CONTACT_TANGENT, vec3<f32>());
    }
}

// How a chain falls that nothing holds (m/s²).
fn falls_of(chain: Chain) -> vec3<f32> {
    return params.gravity + input3(chain.input, INPUT_ACCELERATION);
}

fn load_section(row: u32) -> Section {
    return Section(node3(row, NODE_PLACE), node_at(row, NODE_SCALE), node4(row, NODE_FRAME));
}

fn load_rest_row(row: u32) -> RestRow {
    var values: RestRow;
    for (var entry = 0u; entry < REST_ENTRIES; entry++) {
        values[entry] = rest_at(row, entry);
    }
    return values;
}

// Whether a bone holds anything of the node.
fn is_held(rest_row: u32) -> bool {
    let free = smaller(rest_at(rest_row, REST_FREE_PLACE), rest_at(rest_row, REST_FREE_FRAME));
    return smaller(free, rest_at(rest_row, REST_FREE_SCALE)) < 0.5;
}

// Whether a segment follows the node: padding is no path.
fn goes_on(chain: Chain, index: u32) -> bool {
    return rest_at(rest_row_of(chain, index), REST_INV_LENGTH) > 0.0;
}

// Whether fascia ties the chain.
fn is_tied(chain: Chain) -> bool {
    return rest_at(rest_row_of(chain, 0u), REST_TIED) > 0.5;
}

// The share of a segment's stiffness by strain that is counted in the step.
fn counted(rest_row: u32, inv_step2: f32) -> f32 {
    let share = most_stiffness(inv_step2) * rest_at(rest_row, REST_STRAIN_TIME2);
    return smaller(larger(share, rest_at(rest_row, REST_LEAST_COUNTED)), 1.0);
}

// Whether some of the chain is stiffer than the step resolves.
fn is_stiff(chain: Chain, inv_step2: f32) -> bool {
    return rest_at(rest_row_of(chain, 0u), REST_FASTEST2) > most_stiffness(inv_step2);
}

// The strains at which a segment bears no stress: as built, or as fascia has it.
fn reference_of(chain: Chain, segment: u32, tied: bool, inv_step2: f32) -> Reference {
    let rest_row = rest_row_of(chain, segment);
    let counted = counted(rest_row, inv_step2);
    if tied {
        let row = node_row_of(chain, segment);
        return Reference(
            node3(row, NODE_REFERENCE_STRAIN),
            node3(row, NODE_REFERENCE_DARBOUX),
            node_at(row, NODE_REFERENCE_SCALE),
            1.0,
            counted,
        );
    }
    let strain = rest3(rest_row, REST_STRAIN);
    return Reference(strain, rest3(rest_row, REST_DARBOUX), rest_at(rest_row, REST_SCALE), 1.0, counted);
}

// Whether the chain's fibres have a say: activated, or by a stiffness, passive tension, or tension expected in series.
fn contracts(chain: Chain) -> bool {
    if input_at(chain.input, INPUT_ACTIVATION) != 0.0 {
        return true;
    }
    for (var index = 0u; index + 1u < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let stiff = larger(rest_at(rest_row, REST_FIBRE_STIFFNESS), rest_at(rest_row, REST_SERIES));
        if larger(stiff, rest_at(rest_row, REST_PASSIVE)) > 0.0 {
            return true;
        }
    }
    return false;
}

// Whether a bone of the chain moves in this substep or moved in the last one.
fn bones_move(chain: Chain) -> bool {
    for (var entry = 0u; entry < MAX_BONES * POSE; entry++) {
        let prev = chain_at(chain.chain, CHAIN_BONE_PREV + entry);
        if prev != chain_at(chain.chain, CHAIN_BONE_NOW + entry)
            || prev != chain_at(chain.chain, CHAIN_BONE_OLDER + entry) {
            return true;
        }
    }
    return false;
}

// Whether it is known what the chain stored where the last solve ended.
fn known(chain: Chain) -> bool {
    return chain_at(chain.chain, CHAIN_HISTORY) == 1.0 && chain_at(chain.chain, CHAIN_POTENTIAL) >= 0.0;
}

// 1 where the second-order step is taken, else 0.
fn second_order_of(chain: Chain) -> f32 {
    return where_less(chain_at(chain.chain, CHAIN_HISTORY), 1.0, 0.0, params.second_order);
}

fn excitation_of(chain: Chain) -> Excitation {
    return Excitation(
        input_at(chain.input, INPUT_ACTIVATION),
        chain_at(chain.chain, CHAIN_MEAN_STRETCH),
        1.0,
        params.inv_h,
    );
}

// Padding has no radius and so no say.
fn weight_of(rest_row: u32, entry: u32) -> f32 {
    return where_less(0.0, rest_at(rest_row, REST_RADIUS), rest_at(rest_row, entry), 0.0);
}
