// Room for a solve, apart from what other stages bind of a group; the twin of Group::scratch in src/cpu/group.rs.

@group(0) @binding(7) var<storage, read_write> scratch_rows: array<f32>;
