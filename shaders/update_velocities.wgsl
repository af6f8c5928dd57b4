// Stage update_velocities: velocities from the substep's motion; the twin of src/cpu/update_velocities.rs.

// How long (s) a chain goes without the second order of which a solve was led astray or went far.
const ROUGH: f32 = 0.3;

// First order: rate = change/h. Second order (BDF2): rate = (3·change − last change)/2h. Places: the velocity that
// predict left, and (moved − predicted move)/h̃ of what the solve added.
@compute @workgroup_size(WORKGROUP_SIZE)
fn update_velocities(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    if chain.node_count == 0u {
        return;
    }
    let half_history = second_order_of(chain) * 0.5;
    let of_move = params.inv_h * (1.0 + half_history);
    let of_older = params.inv_h * half_history;
    let calm = chain_at(chain.chain, CHAIN_CALM);
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        let moved = node3(row, NODE_MOVED);
        let scaled = node_at(row, NODE_SCALE) - node_at(row, NODE_PREV_SCALE);
        let turn = turn_on(node4(row, NODE_PREV_FRAME), node4(row, NODE_FRAME));
        let solved = moved - node3(row, NODE_PREDICTED_MOVE);
        let velocity = node3(row, NODE_VELOCITY) + solved * of_move;
        let rate = scaled * of_move - node_at(row, NODE_OLDER_SCALING) * of_older;
        let spin = turn * of_move - node3(row, NODE_OLDER_TURN) * of_older;

        set_node(row, NODE_OLDER_SCALE_RATE, node_at(row, NODE_SCALE_RATE));
        set_node3(row, NODE_OLDER_SPIN, node3(row, NODE_SPIN));
        set_node3(row, NODE_OLDER_MOVE, moved);
        set_node(row, NODE_OLDER_SCALING, scaled);
        set_node3(row, NODE_OLDER_TURN, turn);
        set_node3(row, NODE_VELOCITY, velocity * calm);
        set_node(row, NODE_SCALE_RATE, rate * calm);
        set_node3(row, NODE_SPIN, spin * calm);
    }
    let history = smaller(chain_at(chain.chain, CHAIN_HISTORY) + 1.0, 1.0);
    var rough = chain_at(chain.chain, CHAIN_ROUGH);
    if params.bounces != 0u {
        rough = larger(rough, bounce(chain));
    }
    set_chain(chain.chain, CHAIN_HISTORY, where_less(rough, 0.5, history, -ROUGH * params.inv_h));
}

// What half-spaces and solids pressed leaves them as fast as it is to bounce; 1 where anything did, else 0. Row by row, by an impulse
// on the nodes of the row's segment.
fn bounce(chain: Chain) -> f32 {
    var bounced = 0.0;
    let rows = rows_at_node(chain);
    for (var index = 0u; index < chain.node_count; index++) {
        for (var k = 0u; k < rows; k++) {
            let at = row_at_node(chain, index, k);
            let presses = smaller(contact_at(at, CONTACT_DUAL), contact_at(at, CONTACT_STIFFNESS));
            let wanted = where_less(0.0, presses, contact_at(at, CONTACT_BOUNCE), 0.0);
            if !is_told(chain, at, k) || wanted == 0.0 {
                continue;
            }
            let direction = contact3(at, CONTACT_DIRECTION);
            let along = contact_at(at, CONTACT_ALONG);
            let next = min(index + 1u, chain.node_count - 1u);
            let rows = vec2<u32>(node_row_of(chain, index), node_row_of(chain, next));
            let shares = vec2<f32>(1.0 - along, along);
            let mobilities =
                shares * vec2<f32>(mobility(rest_row_of(chain, index)), mobility(rest_row_of(chain, next)));
            let velocity = node3(rows.x, NODE_VELOCITY) * shares.x + node3(rows.y, NODE_VELOCITY) * shares.y;
            let missing = larger(wanted - dot(direction, velocity), 0.0);
            let mobile = mobilities.x * shares.x + mobilities.y * shares.y;
            let impulse = where_less(0.0, mobile, missing / larger(mobile, MIN_POSITIVE), 0.0);
            bounced = where_less(0.0, impulse, 1.0, bounced);
            set_node3(rows.x, NODE_VELOCITY, node3(rows.x, NODE_VELOCITY) + direction * (impulse * mobilities.x));
            set_node3(rows.y, NODE_VELOCITY, node3(rows.y, NODE_VELOCITY) + direction * (impulse * mobilities.y));
        }
    }
    return bounced;
}

// One over what a node weighs (1/kg); 0 where bones hold it.
fn mobility(rest_row: u32) -> f32 {
    return rest_at(rest_row, REST_FREE_PLACE) / larger(weight_of(rest_row, REST_MASS), MIN_POSITIVE);
}
