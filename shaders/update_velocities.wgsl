// Stage update_velocities: velocities from the substep's motion; the twin of src/cpu/update_velocities.rs.

// How long (s) a chain goes without the second order of which a solve was led astray or went far.
const ROUGH: f32 = 0.3;

// By how much the solve of one substep makes a free node faster at most (m/s), of a chain that meets others and was led astray.
const MOST_GAIN: f32 = 12.0;

// First order: rate = change/h. Second order (BDF2): rate = (3·change − last change)/2h. Places and frames: the velocity and
// the spin that predict left, and (moved − predicted move)/h̃ of what the solve added; what turns by more than a quarter turn is
// told by how far it turned. Of a chain that meets others and was led astray no solve makes a free node faster by more
// than MOST_GAIN. Free chains keep their momentum and angular momentum.
@compute @workgroup_size(WORKGROUP_SIZE)
fn update_velocities(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let chain = chain_of(thread);
    if chain.node_count == 0u {
        return;
    }
    // None by its count, not by a branch, as in predict.
    var keeps = chain;
    let is_free = thread < params.lone_count * LANES && input_at(chain.input, INPUT_HANGS) < 0.5;
    keeps.node_count = select(0u, chain.node_count, is_free);
    let before = momenta_before(keeps);
    let half_history = second_order_of(chain) * 0.5;
    let of_move = params.inv_h * (1.0 + half_history);
    let of_older = params.inv_h * half_history;
    let calm = chain_at(chain.chain, CHAIN_CALM);
    let rough = chain_at(chain.chain, CHAIN_ROUGH);
    let astray = smaller(chain_at(chain.chain, CHAIN_MEETS), rough);
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let moved = node3(row, NODE_MOVED);
        let scaled = node_at(row, NODE_SCALE) - node_at(row, NODE_PREV_SCALE);
        let frame = node4(row, NODE_FRAME);
        let turn = turn_on(node4(row, NODE_PREV_FRAME), frame);
        let predicted = node4(row, NODE_PREDICTED_FRAME);
        let solved_turn = turn_on(predicted, frame);
        let solved = moved - node3(row, NODE_PREDICTED_MOVE);
        let was = node3(row, NODE_VELOCITY);
        let flag = smaller(astray, rest_at(rest_row_of(chain, index), REST_FREE_PLACE));
        let velocity = held_back(was, was + solved * of_move, flag);
        let rate = scaled * of_move - node_at(row, NODE_OLDER_SCALING) * of_older;
        let told = turn * of_move - node3(row, NODE_OLDER_TURN) * of_older;
        let foreseen = node3(row, NODE_SPIN);
        // What swells has more inertia by the square.
        let grown = node_at(row, NODE_PREV_SCALE) / larger(node_at(row, NODE_SCALE), LEAST_DIVISOR);
        let pushed = foreseen + solved_turn * of_move;
        let added = carried_over(predicted, frame, pushed) * (grown * grown);
        let fastest2 = larger(dot(foreseen, foreseen), dot(added, added));
        let spin = select(told, added, fastest2 < params.inv_h * params.inv_h * MOST_TURN2);

        set_node(row, NODE_OLDER_SCALE_RATE, node_at(row, NODE_SCALE_RATE));
        set_node3(row, NODE_OLDER_MOVE, moved);
        set_node(row, NODE_OLDER_SCALING, scaled);
        set_node3(row, NODE_OLDER_TURN, turn);
        set_node3(row, NODE_VELOCITY, velocity * calm);
        set_node(row, NODE_SCALE_RATE, rate * calm);
        set_node3(row, NODE_SPIN, spin * calm);
    }
    keep_momenta(keeps, before);
    let history = smaller(chain_at(chain.chain, CHAIN_HISTORY) + 1.0, 1.0);
    set_chain(chain.chain, CHAIN_HISTORY, where_less(rough, 0.5, history, -ROUGH * params.inv_h));
    if params.bounces != 0u {
        count_bounces(chain);
    }
}

// The velocity of what is flagged, no faster than before by more than MOST_GAIN.
fn held_back(was: vec3<f32>, velocity: vec3<f32>, flag: f32) -> vec3<f32> {
    let most = length(was) + MOST_GAIN;
    let kept = most / larger(length(velocity), most);
    return velocity * where_less(0.5, flag, kept, 1.0);
}

// What throws has pressed, too.
fn count_bounces(chain: Chain) {
    let count = row_count_of(chain);
    for (var slot = 0u; slot < count; slot++) {
        let at = row_of(chain, slot);
        let both = contact_at(at, CONTACT_DUAL) + larger(contact_at(at, CONTACT_BOUNCE), 0.0);
        set_contact(at, CONTACT_DUAL, smaller(both, MOST_DUAL));
    }
}
