@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read_write> trial_frames: array<f32>;

// Turns each frame over and over.
@compute @workgroup_size(WORKGROUP_SIZE)
fn trial_frames_turn(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let at = thread_of(invocation) * 4u;
    var frame = Quaternion(0.1, 0.2, 0.3, 0.9);
    for (var k = 0u; k < params.iteration; k++) {
        let by = vec3<f32>(f32((at * 7u + k * 13u) % 101u), f32((at * 3u + k * 29u) % 97u), f32(k % 5u));
        frame = turned(frame, by * 0.004 - vec3<f32>(0.2));
    }
    trial_frames[at] = frame.x;
    trial_frames[at + 1u] = frame.y;
    trial_frames[at + 2u] = frame.z;
    trial_frames[at + 3u] = frame.w;
}
