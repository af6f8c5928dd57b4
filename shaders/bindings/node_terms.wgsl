// What acts on a node besides its segments and what touches it: inertia (73) and surface bending (15), each as a potential
// and as its part of the node's system; the twin of src/cpu/node_terms.rs.

// Inertia (73) of a node, over h̃².
//
// The turn from the prediction enters as e = 2·Im(q q̂⁻¹), whose derivative by a world turn is Re·1 − [Im]×.
fn add_inertia(inv_step2: f32, rest_row: u32, row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>) {
    let mass = rest_at(rest_row, REST_MASS) * inv_step2;
    var lag = node3(row, NODE_PREDICTED_MOVE) - node3(row, NODE_MOVED);
    let swelling = rest_at(rest_row, REST_INERTIA_W) * inv_step2;
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let turning = prev_scale * prev_scale * inv_step2;

    let predicted = node4(row, NODE_PREDICTED_FRAME);
    var inertia = sym_from_axes(
        axes_of(predicted),
        rest_at(rest_row, REST_INERTIA_U) * turning,
        rest_at(rest_row, REST_INERTIA_V) * turning,
        rest_at(rest_row, REST_INERTIA_UV) * turning,
        rest_at(rest_row, REST_INERTIA_W) * turning,
    );
    let turn = product(node4(row, NODE_FRAME), conjugate(predicted));
    let e = turn.xyz;
    let w = turn.w;
    // J = w·1 − [e]×; torque = 2 Jᵀ·inertia·e, block = Jᵀ·inertia·J, where the node is as predicted.
    let pull = (inertia * e) * 2.0;
    var torque = pull * w + cross(e, pull);
    for (var i = 0u; i < 3u; i++) {
        (*block)[i][i] = (*block)[i][i] + mass;
        (*rhs)[i] = (*rhs)[i] + mass * lag[i];
        (*rhs)[4u + i] = (*rhs)[4u + i] - torque[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[4u + i][4u + k] = (*block)[4u + i][4u + k] + inertia[k][i];
        }
    }
    (*block)[3][3] = (*block)[3][3] + swelling;
    let scale_lag = node_at(row, NODE_PREDICTED_SCALE) - node_at(row, NODE_SCALE);
    (*rhs)[3] = (*rhs)[3] + swelling * scale_lag;
}

// With x where the node is now and x_n where it was at the substep's start, over h̃² (J):
// [½‖x − x̂‖² − ½‖x_n − x̂‖², ½‖x − x_n‖² − ½‖x_n − x̂‖², ½‖x − x_n‖²]. Padding has none.
fn inertia_potential(inv_step2: f32, rest_row: u32, row: u32, start: Placed, now: Placed) -> vec3<f32> {
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let by_step2 = where_less(0.0, rest_at(rest_row, REST_RADIUS), inv_step2, 0.0);
    let mass = rest_at(rest_row, REST_MASS);
    let swelling = rest_at(rest_row, REST_INERTIA_W);
    let turning = prev_scale * prev_scale * 2.0;

    // With d = x − x_n and e = x − x̂: |e|² − |e − d|² = 2d·e − |d|², and so on.
    let step = now.moved - start.moved;
    let lag = now.moved - node3(row, NODE_PREDICTED_MOVE);
    let scaled = now.scale - start.scale;
    let scale_lag = now.scale - node_at(row, NODE_PREDICTED_SCALE);
    let both = mass * dot(step, lag) + swelling * scaled * scale_lag;
    let steps = 0.5 * (mass * dot(step, step) + swelling * scaled * scaled);
    let lags = 0.5 * (mass * dot(lag, lag) + swelling * scale_lag * scale_lag);
    let predicted = node4(row, NODE_PREDICTED_FRAME);
    let turned = turning * turn_inertia(rest_row, start.frame, now.frame);
    let turn_lag = turning * turn_inertia(rest_row, predicted, now.frame);
    let foreseen = turning * turn_inertia(rest_row, predicted, start.frame);
    return vec3<f32>(both - steps + (turn_lag - foreseen), both - lags + (turned - foreseen), steps + turned) * by_step2;
}

// eᵀIe with e half the sine's vector of the turn between two frames, in the first one's axes.
fn turn_inertia(rest_row: u32, earlier: Quaternion, later: Quaternion) -> f32 {
    let e = product(conjugate(earlier), later).xyz;
    return rest_at(rest_row, REST_INERTIA_U) * e.x * e.x
        + rest_at(rest_row, REST_INERTIA_V) * e.y * e.y
        + rest_at(rest_row, REST_INERTIA_UV) * 2.0 * e.x * e.y
        + rest_at(rest_row, REST_INERTIA_W) * e.z * e.z;
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

// (15) at a node: coefficient, inverse lengths before and after, residual; nothing at the ends.
fn centre(chain: Chain, j: u32) -> SurfaceBend {
    if j < 1u || j + 1u >= chain.node_count {
        return SurfaceBend();
    }
    let scales = vec3<f32>(
        node_at(node_row_of(chain, j - 1u), NODE_SCALE),
        node_at(node_row_of(chain, j), NODE_SCALE),
        node_at(node_row_of(chain, j + 1u), NODE_SCALE),
    );
    return surface_bend(chain, j, scales);
}

struct SurfaceBend {
    c: f32,
    before: f32,
    after: f32,
    residual: f32,
}

// (15) at an inner node, of the scales before, at and after it.
fn surface_bend(chain: Chain, j: u32, scales: vec3<f32>) -> SurfaceBend {
    let c = rest_at(rest_row_of(chain, j), REST_SURFACE_BENDING);
    if c == 0.0 {
        return SurfaceBend();
    }
    let before = rest_at(rest_row_of(chain, j - 1u), REST_INV_LENGTH);
    let after = rest_at(rest_row_of(chain, j), REST_INV_LENGTH);
    return SurfaceBend(c, before, after, (scales.z - scales.y) * after - (scales.y - scales.x) * before);
}

// (15) at an inner node, of the scales before, at and after it (J).
fn surface_potential(chain: Chain, j: u32, scales: vec3<f32>) -> f32 {
    let bend = surface_bend(chain, j, scales);
    return 0.5 * bend.c * bend.residual * bend.residual;
}
