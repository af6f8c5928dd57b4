@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> trial_pairs: array<f32>;
@group(0) @binding(2) var<storage, read_write> trial_nearest: array<f32>;

fn trial_pill(at: u32) -> Pill {
    return Pill(
        vec3<f32>(trial_pairs[at], trial_pairs[at + 1u], trial_pairs[at + 2u]),
        vec3<f32>(trial_pairs[at + 3u], trial_pairs[at + 4u], trial_pairs[at + 5u]),
        vec2<f32>(trial_pairs[at + 6u], trial_pairs[at + 7u]),
    );
}

fn write_nearest(at: u32, nearest: Nearest) {
    trial_nearest[at] = nearest.along.x;
    trial_nearest[at + 1u] = nearest.along.y;
    trial_nearest[at + 2u] = nearest.direction.x;
    trial_nearest[at + 3u] = nearest.direction.y;
    trial_nearest[at + 4u] = nearest.direction.z;
    trial_nearest[at + 5u] = nearest.gap;
}

// Where each pair is nearest, and the two points at which it touches with their shares.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_pills(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    if thread >= params.group_count {
        return;
    }
    let a = trial_pill(thread * 16u);
    let b = trial_pill(thread * 16u + 8u);
    let at = thread * (20u);
    write_nearest(at, nearest_of(a, b));
    let points = points_of(a, b);
    write_nearest(at + 6u, points[0].nearest);
    write_nearest(at + 12u, points[1].nearest);
    trial_nearest[at + 18u] = points[0].share;
    trial_nearest[at + 19u] = points[1].share;
}
