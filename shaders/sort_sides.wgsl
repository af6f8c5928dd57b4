// Stage sort_sides: which sides of pairs each segment's are; the twin of src/cpu/sort_sides.rs.

@group(0) @binding(8) var<storage, read> segment_pairs: array<u32>;

// Writes of each node which of all sides the first is of the segment that it begins, and how many these are.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sort_sides(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    let lane = chain.nodes % LANES;
    let first = chain.nodes / (NODE_ENTRIES * LANES) * LANES + lane * chain.node_count;
    for (var index = 0u; index < chain.node_count; index++) {
        let row = ((first + index) * 2u + (params.recording & 1u)) * PARTNERS_ENTRIES;
        let scratch_row = scratch_row_of(chain, index);
        scratch_rows[scratch_row + SCRATCH_SIDES * LANES] = f32(segment_pairs[row + PARTNERS_FIRST]);
        scratch_rows[scratch_row + (SCRATCH_SIDES + 1u) * LANES] = f32(segment_pairs[row + PARTNERS_LISTED]);
    }
}
