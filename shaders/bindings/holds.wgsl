// What bones hold of a node: targets taken, and unknowns taken out of the system; the twin of src/cpu/holds.rs.

// Where a node is in a substep.
struct Placed {
    // Place minus place at the substep's start (m).
    moved: vec3<f32>,
    scale: f32,
    frame: Quaternion,
}

// Where it is now.
fn placed_now(row: u32) -> Placed {
    return Placed(node3(row, NODE_MOVED), node_at(row, NODE_SCALE), node4(row, NODE_FRAME));
}

// Where it was at the substep's start, but for what bones hold or guide, which is where they have it now.
fn placed_start(chain: Chain, index: u32) -> Placed {
    let row = node_row_of(chain, index);
    let start = Placed(vec3<f32>(), node_at(row, NODE_PREV_SCALE), node4(row, NODE_PREV_FRAME));
    return placed_held(start, chain, index, node3(row, NODE_PREV_PLACE));
}

// With what bones hold or guide where they have it, and what hangs where its stem has it; `start` is its place (m) at the
// substep's start.
fn placed_held(placed: Placed, chain: Chain, index: u32, start: vec3<f32>) -> Placed {
    var held = placed;
    let rest_row = rest_row_of(chain, index);
    let row = node_row_of(chain, index);
    if rest_at(rest_row, REST_SLIDES) > 0.5 {
        let off = start - node3(row, NODE_TARGET_PLACE) + held.moved;
        held.moved = held.moved - across(off, guide_axis(row));
    }
    if is_held(rest_row) {
        if rest_at(rest_row, REST_FREE_PLACE) < 0.5 {
            held.moved = node3(row, NODE_TARGET_PLACE) - start;
        }
        if rest_at(rest_row, REST_FREE_FRAME) < 0.5 {
            held.frame = node4(row, NODE_TARGET_FRAME);
        }
        held.scale = where_less(rest_at(rest_row, REST_FREE_SCALE), 0.5, 1.0, held.scale);
    }
    if IN_TREES && rest_at(rest_row, REST_HUNG) > 0.5 {
        let hung_place = node3(row, NODE_TARGET_PLACE);
        held.moved = hung_place - start;
        held.frame = node4(row, NODE_TARGET_FRAME);
    }
    return held;
}

// What the energies read of it.
fn placed_section(placed: Placed, row: u32) -> Section {
    return Section(node3(row, NODE_PREV_PLACE) + placed.moved, placed.scale, placed.frame);
}

// Puts the node there.
fn store_placed(placed: Placed, row: u32) {
    set_node3(row, NODE_MOVED, placed.moved);
    set_node3(row, NODE_PLACE, node3(row, NODE_PREV_PLACE) + placed.moved);
    set_node(row, NODE_SCALE, placed.scale);
    set_node4(row, NODE_FRAME, placed.frame);
}

// What of a vector is across a unit normal.
fn across(v: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    return v - normal * dot(normal, v);
}

fn free_unknowns(rest_row: u32) -> Vec7 {
    let place = rest_at(rest_row, REST_FREE_PLACE);
    let scale = rest_at(rest_row, REST_FREE_SCALE);
    let frame = rest_at(rest_row, REST_FREE_FRAME);
    return Vec7(place, place, place, scale, frame, frame, frame);
}

// Takes held unknowns out of the node's system: their change is zero.
fn hold(rest_row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>, coupling: ptr<function, Mat7>) {
    if !is_held(rest_row) {
        return;
    }
    var free = free_unknowns(rest_row);
    for (var i = 0u; i < UNKNOWNS; i++) {
        (*rhs)[i] = (*rhs)[i] * free[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = (*block)[i][k] * free[i] * free[k];
        }
        (*block)[i][i] = (*block)[i][i] + (1.0 - free[i]);
        for (var k = 0u; k < UNKNOWNS; k++) {
            (*coupling)[i][k] = (*coupling)[i][k] * free[i];
        }
    }
}

// Takes the next node's held unknowns out of the coupling.
fn hold_columns(next_rest_row: u32, coupling: ptr<function, Mat7>) {
    if !is_held(next_rest_row) {
        return;
    }
    var free = free_unknowns(next_rest_row);
    for (var i = 0u; i < UNKNOWNS; i++) {
        for (var k = 0u; k < UNKNOWNS; k++) {
            (*coupling)[i][k] = (*coupling)[i][k] * free[k];
        }
    }
}

// What is left of a vector where the node slides: its part along the guide w.
fn along_guide(v: vec3<f32>, w: vec3<f32>) -> vec3<f32> {
    return v - across(v, w);
}

// The guide of a node that slides: the path's direction through it, through the place that the bone gives it.
fn guide_axis(row: u32) -> vec3<f32> {
    return axes_of(node4(row, NODE_TARGET_FRAME))[2];
}

// Takes the place across its guide out of the system of a node that slides: P·block·P + σ(1 − P), with P = wwᵀ on the
// place.
fn guide(row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>, coupling: ptr<function, Mat7>) {
    var w = guide_axis(row);
    let stiff = (*block)[0][0] + (*block)[1][1] + (*block)[2][2];
    let pull = along_guide(vec3<f32>((*rhs)[0], (*rhs)[1], (*rhs)[2]), w);
    (*rhs)[0] = pull.x;
    (*rhs)[1] = pull.y;
    (*rhs)[2] = pull.z;
    for (var i = 3u; i < UNKNOWNS; i++) {
        let entries = along_guide(vec3<f32>((*block)[i][0], (*block)[i][1], (*block)[i][2]), w);
        (*block)[i][0] = entries.x;
        (*block)[i][1] = entries.y;
        (*block)[i][2] = entries.z;
    }
    let column_x = along_guide(vec3<f32>((*block)[0][0], (*block)[1][0], (*block)[2][0]), w);
    let column_y = along_guide(vec3<f32>((*block)[1][0], (*block)[1][1], (*block)[2][1]), w);
    let column_z = along_guide(vec3<f32>((*block)[2][0], (*block)[2][1], (*block)[2][2]), w);
    for (var i = 0u; i < 3u; i++) {
        var entries = along_guide(vec3<f32>(column_x[i], column_y[i], column_z[i]), w);
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = entries[k] - stiff * w[i] * w[k];
        }
        (*block)[i][i] = (*block)[i][i] + stiff;
    }
    for (var k = 0u; k < UNKNOWNS; k++) {
        let entries = along_guide(vec3<f32>((*coupling)[0][k], (*coupling)[1][k], (*coupling)[2][k]), w);
        (*coupling)[0][k] = entries.x;
        (*coupling)[1][k] = entries.y;
        (*coupling)[2][k] = entries.z;
    }
}

// Takes the next node's place across its guide out of the coupling.
fn guide_columns(next_row: u32, coupling: ptr<function, Mat7>) {
    let w = guide_axis(next_row);
    for (var i = 0u; i < UNKNOWNS; i++) {
        let entries = along_guide(vec3<f32>((*coupling)[i][0], (*coupling)[i][1], (*coupling)[i][2]), w);
        (*coupling)[i][0] = entries.x;
        (*coupling)[i][1] = entries.y;
        (*coupling)[i][2] = entries.z;
    }
}
