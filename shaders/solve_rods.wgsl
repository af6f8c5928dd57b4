// Stage solve_rods: one Gauss–Newton step of implicit Euler for every chain, (77)–(78), as one factor and solve of its
// block-tridiagonal system; the twin of src/cpu/solve_rods.rs.

// The least pivot, over the diagonal entry that it is what is left of.
const LEAST_PIVOT: f32 = 1.0e-6;

// How many times its own length one solve may move a chain's node.
const REACH: f32 = 16.0;

// The least and the largest scale.
const LEAST_SCALE: f32 = 0.05;
const MOST_SCALE: f32 = 20.0;

// Solves every chain and moves its nodes.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_rods(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
    let count = chain.node_count;
    if count == 0u {
        return;
    }
    let touching = has_planes(chain);
    let inv_step = params.inv_h * (1.0 + second_order_of(chain) * 0.5);
    let inv_step2 = inv_step * inv_step;
    var excitation = Excitation(input_at(chain.input, INPUT_ACTIVATION), 0.0, params.inv_h);

    var block: Mat7;
    var rhs: Vec7;
    // What the nodes before took off the block's diagonal.
    var eliminated: Vec7;
    var length = 0.0;
    var here = load_section(node_row_of(chain, 0u));
    for (var index = 0u; index < count; index++) {
        var rest_row = load_rest_row(rest_row_of(chain, index));
        let row = node_row_of(chain, index);
        var terms = SegmentTerms();

        add_inertia(inv_step2, &rest_row, row, &block, &rhs);
        if index + 1u < count {
            let next = load_section(node_row_of(chain, index + 1u));
            let slack = rest_row[REST_STRING_INERTIA] * inv_step2;
            excitation.prev_stretch = node_at(row, NODE_PREV_FIBRE_STRETCH);
            segment_terms(here, next, &rest_row, excitation, slack, &terms);
            let inv_length = rest_row[REST_INV_LENGTH];
            length = length + where_less(0.0, inv_length, 1.0 / inv_length, 0.0);
            for (var i = 0u; i < UNKNOWNS; i++) {
                rhs[i] = rhs[i] - terms.gradient_a[i];
                for (var k = 0u; k <= i; k++) {
                    block[i][k] = block[i][k] + terms.block_aa[i][k];
                }
            }
            here = next;
        }
        var next_block = terms.block_bb;
        var coupling = terms.block_ab;
        var next_rhs: Vec7;
        for (var i = 0u; i < UNKNOWNS; i++) {
            next_rhs[i] = -terms.gradient_b[i];
        }
        add_surface_bending(chain, index, &block, &rhs, &coupling);
        if touching {
            add_contact(inv_step2, &rest_row, row, &block, &rhs);
        }
        hold(&rest_row, &block, &rhs, &coupling);
        if rest_row[REST_SLIDES] > 0.5 {
            guide(row, &block, &rhs, &coupling);
        }
        if index + 1u < count {
            hold_columns(rest_row_of(chain, index + 1u), &coupling);
            if rest_at(rest_row_of(chain, index + 1u), REST_SLIDES) > 0.5 {
                guide_columns(node_row_of(chain, index + 1u), &coupling);
            }
        }

        var least: Vec7;
        for (var i = 0u; i < UNKNOWNS; i++) {
            least[i] = (block[i][i] + eliminated[i]) * LEAST_PIVOT;
            eliminated[i] = next_block[i][i];
        }
        var inv_pivot = factor(&block, &least);
        solve_lower(&block, &rhs);
        solve_lower_columns(&block, &coupling);
        if index + 1u < count {
            eliminate(&coupling, &inv_pivot, &rhs, &next_block, &next_rhs);
        }
        for (var i = 0u; i < UNKNOWNS; i++) {
            eliminated[i] = eliminated[i] - next_block[i][i];
        }
        store_factor(scratch_row_of(chain, index), &block, &inv_pivot, &coupling, &rhs);
        block = next_block;
        rhs = next_rhs;
    }

    let inv_reach = 1.0 / larger(length * REACH, 1.0e-6);
    var delta: Vec7;
    for (var left = count; left > 0u; left--) {
        let index = left - 1u;
        back_substitute(scratch_row_of(chain, index), &delta);
        move_node(node_row_of(chain, index), &delta, inv_reach);
    }
}

// Inertia (73) of a node, over h̃².
//
// The turn from the prediction enters as e = 2·Im(q q̂⁻¹), whose derivative by a world turn is Re·1 − [Im]×.
fn add_inertia(
    inv_step2: f32,
    rest_row: ptr<function, RestRow>,
    row: u32,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
) {
    let mass = (*rest_row)[REST_MASS] * inv_step2;
    var lag = node3(row, NODE_PREDICTED_MOVE) - node3(row, NODE_MOVED);
    let swelling = (*rest_row)[REST_INERTIA_W] * inv_step2;
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let turning = prev_scale * prev_scale * inv_step2;

    let predicted = node4(row, NODE_PREDICTED_FRAME);
    let inertia = sym_from_axes(
        axes_of(predicted),
        (*rest_row)[REST_INERTIA_U] * turning,
        (*rest_row)[REST_INERTIA_V] * turning,
        (*rest_row)[REST_INERTIA_UV] * turning,
        (*rest_row)[REST_INERTIA_W] * turning,
    );
    let turn = product(node4(row, NODE_FRAME), conjugate(predicted));
    let e = turn.xyz;
    let w = turn.w;
    // J = w·1 − [e]×; torque = 2 Jᵀ·inertia·e, block = Jᵀ·inertia·J.
    let pull = (inertia * e) * 2.0;
    var torque = pull * w + cross(e, pull);
    var columns = Mat3(vec3<f32>(w, -e.z, e.y), vec3<f32>(e.z, w, -e.x), vec3<f32>(-e.y, e.x, w));

    for (var i = 0u; i < 3u; i++) {
        (*block)[i][i] = (*block)[i][i] + mass;
        (*rhs)[i] = (*rhs)[i] + mass * lag[i];
        (*rhs)[4u + i] = (*rhs)[4u + i] - torque[i];
        let turned_column = inertia * columns[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[4u + i][4u + k] = (*block)[4u + i][4u + k] + dot(turned_column, columns[k]);
        }
    }
    (*block)[3][3] = (*block)[3][3] + swelling;
    let scale_lag = node_at(row, NODE_PREDICTED_SCALE) - node_at(row, NODE_SCALE);
    (*rhs)[3] = (*rhs)[3] + swelling * scale_lag;
}

// Coefficient of (15), inverse lengths before and after, and residual, at an inner node.
struct Centre {
    c: f32,
    before: f32,
    after: f32,
    residual: f32,
}

fn centre(chain: Chain, j: u32) -> Centre {
    if j < 1u || j + 1u >= chain.node_count {
        return Centre();
    }
    let c = rest_at(rest_row_of(chain, j), REST_SURFACE_BENDING);
    if c == 0.0 {
        return Centre();
    }
    let before = rest_at(rest_row_of(chain, j - 1u), REST_INV_LENGTH);
    let after = rest_at(rest_row_of(chain, j), REST_INV_LENGTH);
    let scale_before = node_at(node_row_of(chain, j - 1u), NODE_SCALE);
    let scale = node_at(node_row_of(chain, j), NODE_SCALE);
    let scale_after = node_at(node_row_of(chain, j + 1u), NODE_SCALE);
    return Centre(c, before, after, (scale_after - scale) * after - (scale - scale_before) * before);
}

// Surface bending (15): C·(s′₊ − s′₋)² at every inner node. It couples s_{j−1} and s_{j+1}: the gradient has it
// whole; in the matrix that far entry is replaced by its bound 2|xy| ≤ x² + y² on the diagonal, without which the
// rest would not be positive.
fn add_surface_bending(
    chain: Chain,
    index: u32,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    coupling: ptr<function, Mat7>,
) {
    let here = centre(chain, index);
    let both = here.before + here.after;
    (*rhs)[3] = (*rhs)[3] + here.c * both * here.residual;
    (*block)[3][3] = (*block)[3][3] + here.c * both * both;
    (*coupling)[3][3] = (*coupling)[3][3] - here.c * both * here.after;
    if index >= 1u {
        let last = centre(chain, index - 1u);
        (*rhs)[3] = (*rhs)[3] - last.c * last.after * last.residual;
        (*block)[3][3] = (*block)[3][3] + last.c * last.after * (last.after + last.before);
    }
    let next = centre(chain, index + 1u);
    (*rhs)[3] = (*rhs)[3] - next.c * next.before * next.residual;
    (*block)[3][3] = (*block)[3][3] + next.c * next.before * (next.before + next.after);
    (*coupling)[3][3] = (*coupling)[3][3] - next.c * next.before * (next.before + next.after);
}

// What of a vector is across a unit normal.
fn across(v: vec3<f32>, normal: vec3<f32>) -> vec3<f32> {
    return v - normal * dot(normal, v);
}

// The contact that solve_contacts handed over: ½k·min(n·c − offset − s·r, 0)² and friction ½k_t|moved_t|².
fn add_contact(inv_step2: f32, rest_row: ptr<function, RestRow>, row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>) {
    var normal = node3(row, NODE_CONTACT_NORMAL);
    let radius = (*rest_row)[REST_RADIUS];
    let moved = node3(row, NODE_MOVED);
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let start = dot(normal, node3(row, NODE_PREV_PLACE)) - node_at(row, NODE_CONTACT_OFFSET) - radius * prev_scale;
    let gap = start + (dot(normal, moved) - radius * (node_at(row, NODE_SCALE) - prev_scale));
    let sticking = node_at(row, NODE_CONTACT_STIFFNESS);
    let stiffness = where_less(gap, 0.0, sticking, 0.0);
    var slid = across(moved, normal);
    let predicted = across(node3(row, NODE_PREDICTED_MOVE), normal);
    let last = across(node3(row, NODE_OLDER_MOVE), normal);
    let limit = node_at(row, NODE_FRICTION_LIMIT);
    let inertia = larger((*rest_row)[REST_MASS] * inv_step2, 1.0e-30);
    let slide = larger(sqrt(dot(predicted, predicted)) - limit / inertia, sqrt(dot(last, last)));
    let friction = smaller(limit / larger(slide, 1.0e-12), sticking);
    let push = stiffness * gap;
    for (var i = 0u; i < 3u; i++) {
        (*rhs)[i] = (*rhs)[i] - push * normal[i] - friction * slid[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = (*block)[i][k] + (stiffness - friction) * normal[i] * normal[k];
        }
        (*block)[i][i] = (*block)[i][i] + friction;
        (*block)[3][i] = (*block)[3][i] - stiffness * radius * normal[i];
    }
    (*rhs)[3] = (*rhs)[3] + push * radius;
    (*block)[3][3] = (*block)[3][3] + stiffness * radius * radius;
}

fn free_unknowns(place: f32, scale: f32, frame: f32) -> Vec7 {
    return Vec7(place, place, place, scale, frame, frame, frame);
}

// Takes held unknowns out of the node's system: their change is zero.
fn hold(
    rest_row: ptr<function, RestRow>,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    coupling: ptr<function, Mat7>,
) {
    let place = (*rest_row)[REST_FREE_PLACE];
    let frame = (*rest_row)[REST_FREE_FRAME];
    let scale = (*rest_row)[REST_FREE_SCALE];
    if smaller(smaller(place, frame), scale) >= 0.5 {
        return;
    }
    var free = free_unknowns(place, scale, frame);
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
    var free = free_unknowns(
        rest_at(next_rest_row, REST_FREE_PLACE),
        rest_at(next_rest_row, REST_FREE_SCALE),
        rest_at(next_rest_row, REST_FREE_FRAME),
    );
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

// Takes the place across its guide out of the system of a node that slides: P·block·P + (1 − P), with P = wwᵀ on the
// place.
fn guide(row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>, coupling: ptr<function, Mat7>) {
    var w = guide_axis(row);
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
            (*block)[i][k] = entries[k] - w[i] * w[k];
        }
        (*block)[i][i] = (*block)[i][i] + 1.0;
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

fn scratch_at(row: u32, entry: u32) -> f32 {
    return scratch_rows[row + entry * LANES];
}

fn set_scratch(row: u32, entry: u32, value: f32) {
    scratch_rows[row + entry * LANES] = value;
}

// Keeps what back_substitute needs in the node's scratch row.
fn store_factor(
    scratch_row: u32,
    lower: ptr<function, Mat7>,
    inv_pivot: ptr<function, Vec7>,
    coupling: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
) {
    var at = SCRATCH_LOWER;
    for (var i = 1u; i < UNKNOWNS; i++) {
        for (var k = 0u; k < i; k++) {
            set_scratch(scratch_row, at, (*lower)[i][k]);
            at++;
        }
    }
    for (var i = 0u; i < UNKNOWNS; i++) {
        set_scratch(scratch_row, SCRATCH_INV_PIVOT + i, (*inv_pivot)[i]);
        set_scratch(scratch_row, SCRATCH_RHS + i, (*rhs)[i]);
        for (var k = 0u; k < UNKNOWNS; k++) {
            set_scratch(scratch_row, SCRATCH_COUPLING + i * UNKNOWNS + k, (*coupling)[i][k]);
        }
    }
}

// δ_j = L⁻ᵀ d⁻¹(y − X δ_{j+1}): from the next node's `delta` to this one's.
fn back_substitute(scratch_row: u32, delta: ptr<function, Vec7>) {
    var next = *delta;
    for (var i = 0u; i < UNKNOWNS; i++) {
        var value = scratch_at(scratch_row, SCRATCH_RHS + i);
        for (var k = 0u; k < UNKNOWNS; k++) {
            value = value - scratch_at(scratch_row, SCRATCH_COUPLING + i * UNKNOWNS + k) * next[k];
        }
        (*delta)[i] = value * scratch_at(scratch_row, SCRATCH_INV_PIVOT + i);
    }
    for (var left = UNKNOWNS; left > 0u; left--) {
        let i = left - 1u;
        for (var k = i + 1u; k < UNKNOWNS; k++) {
            let lower = scratch_at(scratch_row, SCRATCH_LOWER + k * (k - 1u) / 2u + i);
            (*delta)[i] = (*delta)[i] - lower * (*delta)[k];
        }
    }
}

// Applies a step to a node, held within bounds that a step worth taking is far from: a turn of one radian, a move of
// REACH chain lengths, and a scale within a factor of its value at the substep's start and of its rest value.
fn move_node(row: u32, delta: ptr<function, Vec7>, inv_reach: f32) {
    var step = vec3<f32>((*delta)[0], (*delta)[1], (*delta)[2]);
    var turn = vec3<f32>((*delta)[4], (*delta)[5], (*delta)[6]);
    let over = step * inv_reach;
    step = step * (1.0 / sqrt(1.0 + dot(over, over)));
    turn = turn * (1.0 / sqrt(1.0 + dot(turn, turn)));
    let moved = node3(row, NODE_MOVED) + step;
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let limited =
        between(node_at(row, NODE_SCALE) + (*delta)[3], prev_scale * (1.0 / SCALE_LIMIT), prev_scale * SCALE_LIMIT);
    let scale = between(limited, LEAST_SCALE, MOST_SCALE);
    let frame = turned(node4(row, NODE_FRAME), turn);
    set_node3(row, NODE_MOVED, moved);
    set_node3(row, NODE_PLACE, node3(row, NODE_PREV_PLACE) + moved);
    set_node(row, NODE_SCALE, scale);
    set_node4(row, NODE_FRAME, frame);
}
