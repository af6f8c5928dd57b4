// Stage report_health: how often chains of each instance were laid anew, and whether it sleeps; the twin of
// src/cpu/report_health.rs. One thread is one instance.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> instances: array<InstanceGroups>;
@group(0) @binding(2) var<storage, read> chain_rows: array<f32>;
@group(0) @binding(3) var<storage, read_write> reports: array<HealthReport>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn report_health(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let index = thread_of(invocation);
    if index >= params.instance_count {
        return;
    }
    let instance = instances[index];
    var resets = 0.0;
    for (var group = 0u; group < instance.group_count; group++) {
        for (var lane = 0u; lane < LANES; lane++) {
            resets = resets + chain_rows[word(instance.group_base + group, CHAIN_ENTRIES, CHAIN_RESETS, lane)];
        }
    }
    let slept = chain_rows[word(instance.group_base, CHAIN_ENTRIES, CHAIN_SLEEPS, 0u)] == SLEEPS_NOW;
    let asleep = instance.group_count > 0u && params.passes > 0u && slept;
    reports[index] = HealthReport(u32(resets), params.recording, select(0u, 1u, asleep));
}
