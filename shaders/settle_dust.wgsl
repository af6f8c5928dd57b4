// Stage settle_dust: a stage that shows what adding one touches; the twin of src/cpu/settle_dust.rs.

// Takes a millionth of their velocity away from all nodes.
@compute @workgroup_size(WORKGROUP_SIZE)
fn settle_dust(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        for (var entry = NODE_VELOCITY; entry < NODE_VELOCITY + 3u; entry++) {
            let at = row + entry * LANES;
            node_rows[at] = max(node_rows[at] * (1.0 - 1.0e-6), -1.0e30);
        }
    }
}
