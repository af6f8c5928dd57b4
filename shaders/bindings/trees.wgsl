// Chains that hang on chains, as one of them sees the others; the twin of src/cpu/trees.rs, which says how they are stepped. All of a
// tree have threads in one workgroup, one beside the other, and wait for each other level by level.

// What chains tell the others of their trees: so many numbers of each at most.
var<workgroup> told: array<array<f32, WORKGROUP_SIZE>, 28>;

fn tree_at(chain: Chain, entry: u32) -> f32 {
    return rest_rows[chain.tree + entry * LANES];
}

fn tree3(chain: Chain, entry: u32) -> vec3<f32> {
    return vec3<f32>(tree_at(chain, entry), tree_at(chain, entry + 1u), tree_at(chain, entry + 2u));
}

// The number of a chain among all lanes of all groups.
fn number_of(chain: Chain) -> u32 {
    // The chain's first input word is its lane's.
    return chain.input / (INPUT_ENTRIES * LANES) * LANES + chain.input % LANES;
}

// Another chain of the same flesh, by its number there.
fn chain_named(chain: Chain, name: f32) -> Chain {
    let number = number_of(chain) - u32(tree_at(chain, TREE_CHAIN)) + u32(name);
    return in_tree(chain_in_lane(number / LANES, number % LANES));
}

// How many stems are below the chain; where there is none, more than any has.
fn depth_of(chain: Chain) -> u32 {
    if chain.node_count == 0u {
        return WORKGROUP_SIZE;
    }
    return u32(tree_at(chain, TREE_LEVEL));
}

// Tells the others a number.
fn tell(local: u32, entry: u32, value: f32) {
    told[entry][local] = value;
}

fn tell3(local: u32, entry: u32, value: vec3<f32>) {
    tell(local, entry, value.x);
    tell(local, entry + 1u, value.y);
    tell(local, entry + 2u, value.z);
}

// How many chains its tree has; none where there is no chain.
fn member_count(chain: Chain) -> u32 {
    return select(u32(tree_at(chain, TREE_COUNT)), 0u, chain.node_count == 0u);
}

// The k-th of them, given the one before.
fn member_of_tree(chain: Chain, k: u32, before: Chain) -> Chain {
    if k == 0u {
        return root_of(chain);
    }
    return chain_named(before, tree_at(before, TREE_FOLLOWING));
}

fn root_of(chain: Chain) -> Chain {
    return chain_named(chain, tree_at(chain, TREE_ROOT));
}

// Where among the threads of the workgroup another chain's is, given its own one's.
fn local_of(chain: Chain, local: u32, other: Chain) -> u32 {
    return local + number_of(other) - number_of(chain);
}

// The sum of what the chains of a tree have told: the same bits for all of them.
fn sum_of_tree(chain: Chain, local: u32, entry: u32) -> f32 {
    var sum = 0.0;
    var member = chain;
    let count = member_count(chain);
    for (var k = 0u; k < count; k++) {
        member = member_of_tree(chain, k, member);
        sum = sum + told[entry][local_of(chain, local, member)];
    }
    return sum;
}

// The largest that any has told, or 0.
fn most_of_tree(chain: Chain, local: u32, entry: u32) -> f32 {
    var most = 0.0;
    var member = chain;
    let count = member_count(chain);
    for (var k = 0u; k < count; k++) {
        member = member_of_tree(chain, k, member);
        most = larger(most, told[entry][local_of(chain, local, member)]);
    }
    return most;
}

// Where a stem has a chain that hangs on it.
struct Joint {
    // How far the chain's last node has moved since the substep's start (m).
    moved: vec3<f32>,
    frame: Quaternion,
    // From the stem's node to it (m).
    arm: vec3<f32>,
    // How it goes where the stem's scale grows (m).
    outward: vec3<f32>,
}

fn stem_of(chain: Chain) -> Chain {
    return chain_named(chain, tree_at(chain, TREE_STEM));
}

fn stem_node_of(chain: Chain) -> u32 {
    return u32(tree_at(chain, TREE_STEM_NODE));
}

// First word of the node row of its last node.
fn hung_row_of(chain: Chain) -> u32 {
    return node_row_of(chain, u32(tree_at(chain, TREE_NODE)));
}

// Where the stem, whose node is so placed, has the chain.
fn joint_by(chain: Chain, stem: Chain, placed: Placed) -> Joint {
    let rotation = normalised(placed.frame);
    let place = tree3(chain, TREE_PLACE);
    let frame = Quaternion(tree3(chain, TREE_FRAME), tree_at(chain, TREE_FRAME + 3u));
    let outward = rotate(rotation, vec3<f32>(place.xy, 0.0));
    let arm = outward * placed.scale + rotate(rotation, vec3<f32>(0.0, 0.0, place.z));
    // Differences first, which are exact: what is left of them and the arm is then rounded as that is.
    let stem_start = node3(node_row_of(stem, stem_node_of(chain)), NODE_PREV_PLACE);
    let apart = stem_start - node3(hung_row_of(chain), NODE_PREV_PLACE);
    let shift = chain3(stem.chain, CHAIN_ORIGIN) - chain3(chain.chain, CHAIN_ORIGIN);
    return Joint(placed.moved + ((apart + shift) + arm), product(rotation, frame), arm, outward);
}

// Where the stem has the chain now.
fn joint_now(chain: Chain) -> Joint {
    let stem = stem_of(chain);
    return joint_by(chain, stem, placed_now(node_row_of(stem, stem_node_of(chain))));
}

// Puts the chain's last node, if it hangs, where its stem has it now.
fn place_by_stem(chain: Chain) {
    if tree_at(chain, TREE_STEM) < 0.0 {
        return;
    }
    let joint = joint_now(chain);
    let row = hung_row_of(chain);
    set_node3(row, NODE_MOVED, joint.moved);
    set_node3(row, NODE_PLACE, node3(row, NODE_PREV_PLACE) + joint.moved);
    set_node4(row, NODE_FRAME, beside(joint.frame, node4(row, NODE_FRAME)));
}
