// What is left of a chain that hangs on another once all of it is eliminated but what it shares with that, and what the node that
// bears it is given of it; the twin of src/cpu/stumps.rs.

// First word of the scratch row that keeps it.
fn stump_row_of(chain: Chain) -> u32 {
    return scratch_row_of(chain, u32(tree_at(chain, TREE_STUMP)));
}

// The first that hangs on the chain, as add_borne names it.
fn first_branch_of(chain: Chain) -> f32 {
    if !IN_TREES {
        return -1.0;
    }
    return tree_at(chain, TREE_FIRST);
}

// Adds to a node's rows what the chains have left in them that hang on it, from the first one named on; which is the next, that
// hangs elsewhere.
fn add_borne(chain: Chain, index: u32, first: f32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>) -> f32 {
    var name = first;
    while name >= 0.0 {
        let branch = chain_named(chain, name);
        if stem_node_of(branch) != index {
            break;
        }
        let row = stump_row_of(branch);
        for (var i = 0u; i < UNKNOWNS; i++) {
            (*rhs)[i] = (*rhs)[i] + scratch_at(row, STUMP_BORNE + BORNE_RHS + i);
            for (var k = 0u; k <= i; k++) {
                (*block)[i][k] = (*block)[i][k] + scratch_at(row, STUMP_BORNE + BORNE_BLOCK + i * (i + 1u) / 2u + k);
            }
        }
        name = tree_at(branch, TREE_NEXT);
    }
    return name;
}

// As add_borne, of the right-hand side alone.
fn add_borne_rhs(chain: Chain, index: u32, first: f32, rhs: ptr<function, Vec7>) -> f32 {
    var name = first;
    while name >= 0.0 {
        let branch = chain_named(chain, name);
        if stem_node_of(branch) != index {
            break;
        }
        let row = stump_row_of(branch);
        for (var i = 0u; i < UNKNOWNS; i++) {
            (*rhs)[i] = (*rhs)[i] + scratch_at(row, STUMP_BORNE + BORNE_RHS + i);
        }
        name = tree_at(branch, TREE_NEXT);
    }
    return name;
}

// Keeps what is left of a chain whose last node this is and hangs, once its scale is eliminated, and takes the unknowns that it
// shares with the stem, 0 to 2 and 4 to 6, out of its system.
fn keep_stump(chain: Chain, rest_row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>) {
    let row = stump_row_of(chain);
    let pivot = (*block)[3][3];
    let inv_pivot = where_less(0.0, pivot, 1.0 / pivot, 0.0) * rest_at(rest_row, REST_FREE_SCALE);
    var coupling: array<f32, 6>;
    for (var i = 0u; i < 3u; i++) {
        coupling[i] = (*block)[3][i];
        coupling[3u + i] = (*block)[4u + i][3];
    }
    for (var i = 0u; i < 6u; i++) {
        let eliminated = coupling[i] * inv_pivot;
        set_scratch(row, STUMP_COUPLING + i, eliminated);
        for (var k = 0u; k <= i; k++) {
            let own = (*block)[i + i / 3u][k + k / 3u];
            set_scratch(row, STUMP_BLOCK + i * (i + 1u) / 2u + k, own - eliminated * coupling[k]);
        }
    }
    keep_stump_rhs(chain, rhs);
    let scaling = (*block)[3][3];
    for (var i = 0u; i < UNKNOWNS; i++) {
        for (var k = 0u; k < i; k++) {
            (*block)[i][k] = 0.0;
        }
        (*block)[i][i] = 1.0;
    }
    (*block)[3][3] = scaling;
}

// As keep_stump, of the right-hand side alone.
fn keep_stump_rhs(chain: Chain, rhs: ptr<function, Vec7>) {
    let row = stump_row_of(chain);
    for (var i = 0u; i < 6u; i++) {
        let left = (*rhs)[i + i / 3u] - scratch_at(row, STUMP_COUPLING + i) * (*rhs)[3];
        set_scratch(row, STUMP_RHS + i, left);
        (*rhs)[i + i / 3u] = 0.0;
    }
}

// How a step of the node that a chain hangs on moves and turns its last node: T.
struct Turning {
    arm: vec3<f32>,
    outward: vec3<f32>,
}

fn load_turning(row: u32) -> Turning {
    return Turning(scratch3(row, STUMP_ARM), scratch3(row, STUMP_OUTWARD));
}

// Keeps it, where the stem is now.
fn keep_turning(chain: Chain) {
    let joint = joint_now(chain);
    let row = stump_row_of(chain);
    set_scratch3(row, STUMP_ARM, joint.arm);
    set_scratch3(row, STUMP_OUTWARD, joint.outward);
}

// Tᵀr: what a force and a couple on the last node are to the stem's.
fn transposed(turning: Turning, force: vec3<f32>, couple: vec3<f32>) -> Vec7 {
    let turns = couple + cross(turning.arm, force);
    return Vec7(force.x, force.y, force.z, dot(turning.outward, force), turns.x, turns.y, turns.z);
}

// Finds what the node that the chain hangs on is given of it: Tᵀr.
fn give_rhs_to_stem(chain: Chain) {
    let row = stump_row_of(chain);
    var given = transposed(load_turning(row), scratch3(row, STUMP_RHS), scratch3(row, STUMP_RHS + 3u));
    for (var i = 0u; i < UNKNOWNS; i++) {
        set_scratch(row, STUMP_BORNE + BORNE_RHS + i, given[i]);
    }
}

// Finds what the node that the chain hangs on is given of it: Tᵀr and TᵀST.
fn give_to_stem(chain: Chain) {
    give_rhs_to_stem(chain);
    let row = stump_row_of(chain);
    let turning = load_turning(row);
    var own: array<array<f32, 6>, 6>;
    for (var i = 0u; i < 6u; i++) {
        for (var k = 0u; k <= i; k++) {
            own[i][k] = scratch_at(row, STUMP_BLOCK + i * (i + 1u) / 2u + k);
            own[k][i] = own[i][k];
        }
    }
    // ST by columns.
    let x = turning.arm.x;
    let y = turning.arm.y;
    let z = turning.arm.z;
    var columns = array<array<f32, 6>, UNKNOWNS>(own[0], own[1], own[2], own[0], own[3], own[4], own[5]);
    for (var i = 0u; i < 6u; i++) {
        let a = own[0][i];
        let b = own[1][i];
        let c = own[2][i];
        columns[3][i] = a * turning.outward.x + b * turning.outward.y + c * turning.outward.z;
        columns[4][i] = columns[4][i] + (c * y - b * z);
        columns[5][i] = columns[5][i] + (a * z - c * x);
        columns[6][i] = columns[6][i] + (b * x - a * y);
    }
    for (var k = 0u; k < UNKNOWNS; k++) {
        let force = vec3<f32>(columns[k][0], columns[k][1], columns[k][2]);
        var column = transposed(turning, force, vec3<f32>(columns[k][3], columns[k][4], columns[k][5]));
        for (var i = k; i < UNKNOWNS; i++) {
            set_scratch(row, STUMP_BORNE + BORNE_BLOCK + i * (i + 1u) / 2u + k, column[i]);
        }
    }
}

// Completes the step of a last node that hangs, found from its own scale's row: with what the stem's step gives it, less the share of
// its last step that it goes on by itself.
fn go_with_stem(chain: Chain, scratch_row: u32, delta: ptr<function, Vec7>, goes_on: f32) {
    let row = stump_row_of(chain);
    let turning = load_turning(row);
    let stem_row = scratch_row_of(stem_of(chain), stem_node_of(chain));
    let turn = scratch3(stem_row, SCRATCH_STEP + 4u);
    let scaling = turning.outward * scratch_at(stem_row, SCRATCH_STEP + 3u);
    var moved = scratch3(stem_row, SCRATCH_STEP) + scaling + cross(turn, turning.arm);
    var given = array<f32, 6>(moved.x, moved.y, moved.z, turn.x, turn.y, turn.z);
    for (var i = 0u; i < 6u; i++) {
        if goes_on > 0.0 {
            given[i] = given[i] - scratch_at(scratch_row, SCRATCH_STEP + i + i / 3u) * goes_on;
        }
        (*delta)[3] = (*delta)[3] - scratch_at(row, STUMP_COUPLING + i) * given[i];
        (*delta)[i + i / 3u] = given[i];
    }
}
