@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read_write> trial_nodes: array<f32>;
@group(0) @binding(2) var<storage, read_write> trial_sizes: array<u32>;

// Says how many workgroups the next pass has.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_size(@builtin(global_invocation_id) invocation: vec3<u32>) {
    if thread_of(invocation) == 0u {
        trial_sizes[0] = params.iteration;
        trial_sizes[1] = 1u;
        trial_sizes[2] = 1u;
    }
}

// Counts on every thread's word how often there was such a thread.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_mark(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    trial_nodes[thread] += 1.0;
}
