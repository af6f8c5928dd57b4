@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> groups: array<Group>;
@group(0) @binding(2) var<storage, read_write> trial_nodes: array<f32>;

// Entry 1 tells substeps and iterations apart: it sums h, which the test sets to 10 substep + iteration, and the place.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_count(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    if group_of(thread) >= params.group_count {
        return;
    }
    let group = groups[group_of(thread)];
    let lane = lane_of(thread);
    for (var node = 0u; node < group.node_count; node++) {
        let row = group.node_base + node;
        let place = trial_nodes[word(row, 2u, 0u, lane)];
        trial_nodes[word(row, 2u, 1u, lane)] += params.h + place;
    }
}
