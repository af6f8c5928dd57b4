@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read_write> trial_nodes: array<f32>;

// Every node takes half of itself and all of its predecessor, along the chain.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_relax(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    if group_of(thread) >= params.group_count {
        return;
    }
    let group = groups[group_of(thread)];
    let lane = lane_of(thread);
    var before = params.alpha;
    for (var node = 0u; node < group.node_count; node++) {
        let at = word(group.node_base + node, 2u, 0u, lane);
        before = 0.5 * trial_nodes[at] + before;
        trial_nodes[at] = before;
    }
}
