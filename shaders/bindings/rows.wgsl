// Entries of rows of rest, nodes and chains, from a row's first word on; the twin of what src/cpu/lanes.rs loads.

fn rest_at(row: u32, entry: u32) -> f32 {
    return rest_rows[row + entry * LANES];
}

fn rest3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(rest_at(row, entry), rest_at(row, entry + 1u), rest_at(row, entry + 2u));
}

fn rest4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(rest3(row, entry), rest_at(row, entry + 3u));
}

fn node_at(row: u32, entry: u32) -> f32 {
    return node_rows[row + entry * LANES];
}

fn node3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(node_at(row, entry), node_at(row, entry + 1u), node_at(row, entry + 2u));
}

fn node4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(node3(row, entry), node_at(row, entry + 3u));
}

fn chain_at(row: u32, entry: u32) -> f32 {
    return chain_rows[row + entry * LANES];
}

fn chain3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(chain_at(row, entry), chain_at(row, entry + 1u), chain_at(row, entry + 2u));
}

fn chain4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(chain3(row, entry), chain_at(row, entry + 3u));
}
