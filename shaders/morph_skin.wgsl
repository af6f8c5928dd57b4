// Stage morph_skin: what morph targets add to vertices before these are skinned; the twin of src/cpu/morph_skin.rs. One thread is
// one vertex.

@group(0) @binding(0) var<uniform> params: StepParams;
@group(0) @binding(1) var<storage, read> morph_blocks: array<MorphBlock>;
@group(0) @binding(2) var<storage, read> morph_starts: array<u32>;
@group(0) @binding(3) var<storage, read> morph_pulls: array<MorphPull>;
@group(0) @binding(4) var<storage, read> morph_weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> skin_deltas: array<f32>;

// Sums the targets of a vertex, each as often as its weight is from the one that it is given with.
@compute @workgroup_size(WORKGROUP_SIZE)
fn morph_skin(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let thread = thread_of(invocation);
    let workgroup = thread / WORKGROUP_SIZE;
    if workgroup >= params.morph_block_count {
        return;
    }
    let block = morph_blocks[workgroup];
    let local = thread % WORKGROUP_SIZE;
    if local >= block.vertex_count {
        return;
    }
    let start = block.start_base + local;
    var place = vec3<f32>();
    var normal = vec3<f32>();
    var tangent = vec3<f32>();
    for (var index = morph_starts[start]; index < morph_starts[start + 1u]; index++) {
        let pull = morph_pulls[block.pull_base + index];
        let by = morph_weights[block.weight_base + pull.morph];
        place = place + vec3<f32>(pull.place[0], pull.place[1], pull.place[2]) * by;
        normal = normal + vec3<f32>(pull.normal[0], pull.normal[1], pull.normal[2]) * by;
        tangent = tangent + vec3<f32>(pull.tangent[0], pull.tangent[1], pull.tangent[2]) * by;
    }
    let first = block.delta_base + 9u * local;
    for (var k = 0u; k < 3u; k++) {
        skin_deltas[first + k] = place[k];
        skin_deltas[first + 3u + k] = normal[k];
        skin_deltas[first + 6u + k] = tangent[k];
    }
}
