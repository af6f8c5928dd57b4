// The bytes that the CPU and the GPU share, and the way from a thread to its chain.

const LANES: u32 = 8u;
const WORKGROUP_SIZE: u32 = 64u;
const MAX_WORKGROUPS: u32 = 65535u;

// LANES chains that are stored side by side; shorter chains are padded to node_count.
struct Group {
    node_base: u32,
    node_count: u32,
    chain_count: u32,
}

// What changes from substep to substep, the same for every chain.
struct StepParams {
    gravity: vec3<f32>,
    substep_seconds: f32,
    frame_fraction: f32,
    substep: u32,
    iteration: u32,
    group_count: u32,
}

// Word index of one entry of one lane in an array whose node rows have `entries` entries.
fn word(row: u32, entries: u32, entry: u32, lane: u32) -> u32 {
    return (row * entries + entry) * LANES + lane;
}

// The thread's number, from global_invocation_id: a dispatch has rows of at most MAX_WORKGROUPS workgroups.
fn thread_of(invocation: vec3<u32>) -> u32 {
    return invocation.y * (MAX_WORKGROUPS * WORKGROUP_SIZE) + invocation.x;
}

// One thread is one chain: neighbouring threads are neighbouring lanes.
fn group_of(thread: u32) -> u32 {
    return thread / LANES;
}

fn lane_of(thread: u32) -> u32 {
    return thread % LANES;
}
