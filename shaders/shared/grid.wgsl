// Cells of the grid in which segments look for each other; the twin of src/cpu/grid.rs, whose cells lie sorted. Here they are in a
// table by a hash of where they are, and several may share a slot of it: who looks into one asks of each segment there whether it
// is of the cell. Pairs do not depend on that.

// How many levels there are, each with cells twice as large as the one before, and which has cells of a metre. Of the last there
// is one cell, which is everywhere.
const LEVELS: u32 = 64u;
const LEVEL_OF_METRES: u32 = 32u;

// The level whose cells a sphere's diameter fits in.
fn level_of(radius: f32) -> u32 {
    // And a little more: whether two spheres overlap is rounded.
    let bits = bitcast<u32>(2.000001 * radius);
    // The first power of two that is no less.
    let exponent = i32(bits >> 23u) - 127 + select(0, 1, (bits & 0x7fffffu) != 0u);
    return u32(clamp(exponent + i32(LEVEL_OF_METRES), 0, i32(LEVELS) - 1));
}

// The cell of a level that a place is in. The outermost reach on for ever.
fn cell_of(level: u32, place: vec3<f32>) -> vec3<i32> {
    if level + 1u >= LEVELS {
        return vec3<i32>();
    }
    // A power of two, by its bits: places are scaled exactly.
    let inv_size = bitcast<f32>((127u + LEVEL_OF_METRES - level) << 23u);
    let most = vec3<f32>(1.0e9);
    return vec3<i32>(clamp(floor(place * inv_size), -most, most));
}

// Its slot in a table of `count` slots, a power of two.
fn slot_of_cell(level: u32, cell: vec3<i32>, count: u32) -> u32 {
    let at = bitcast<vec3<u32>>(cell);
    var hash = (at.x * 73856093u) ^ (at.y * 19349663u) ^ (at.z * 83492791u) ^ (level * 2654435761u);
    hash = (hash ^ (hash >> 16u)) * 2146121005u;
    return (hash ^ (hash >> 15u)) & (count - 1u);
}
