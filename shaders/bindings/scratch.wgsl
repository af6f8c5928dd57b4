// Room for a solve, see src/cpu/group.rs.

@group(0) @binding(7) var<storage, read_write> scratch_rows: array<f32>;
