// What a solve leaves: factors and steps in scratch rows, and what its matrix has of contact rows; the twin of
// src/cpu/solved.rs.

// The least and the largest scale.
const LEAST_SCALE: f32 = 0.05;
const MOST_SCALE: f32 = 20.0;

// Where a step takes a node, its scale held within a factor of its value at the substep's start and of its rest value.
fn step_by(row: u32, from_here: Placed, delta: ptr<function, Vec7>) -> Placed {
    let prev_scale = node_at(row, NODE_PREV_SCALE);
    let scaled = from_here.scale + (*delta)[3];
    let limited = between(scaled, prev_scale * (1.0 / SCALE_LIMIT), prev_scale * SCALE_LIMIT);
    return Placed(
        from_here.moved + vec3<f32>((*delta)[0], (*delta)[1], (*delta)[2]),
        between(limited, LEAST_SCALE, MOST_SCALE),
        turned(from_here.frame, vec3<f32>((*delta)[4], (*delta)[5], (*delta)[6])),
    );
}

fn scratch_at(row: u32, entry: u32) -> f32 {
    return scratch_rows[row + entry * LANES];
}

fn scratch3(row: u32, entry: u32) -> vec3<f32> {
    return vec3<f32>(scratch_at(row, entry), scratch_at(row, entry + 1u), scratch_at(row, entry + 2u));
}

fn scratch4(row: u32, entry: u32) -> vec4<f32> {
    return vec4<f32>(scratch3(row, entry), scratch_at(row, entry + 3u));
}

fn set_scratch(row: u32, entry: u32, value: f32) {
    scratch_rows[row + entry * LANES] = value;
}

fn set_scratch3(row: u32, entry: u32, value: vec3<f32>) {
    set_scratch(row, entry, value.x);
    set_scratch(row, entry + 1u, value.y);
    set_scratch(row, entry + 2u, value.z);
}

fn set_scratch4(row: u32, entry: u32, value: vec4<f32>) {
    set_scratch3(row, entry, value.xyz);
    set_scratch(row, entry + 3u, value.w);
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
    for (var done = 0u; done < UNKNOWNS; done++) {
        let i = UNKNOWNS - 1u - done;
        for (var after = 0u; after < done; after++) {
            let k = UNKNOWNS - done + after;
            let lower = scratch_at(scratch_row, SCRATCH_LOWER + k * (k - 1u) / 2u + i);
            (*delta)[i] = (*delta)[i] - lower * (*delta)[k];
        }
    }
}

// With what a row presses: force (N), friction's pull (N) and rolling friction's couple (N·m).
struct Presses {
    force: f32,
    pull: vec3<f32>,
    couple: vec3<f32>,
}

// First word of what the matrix has of a contact row, given that row's.
fn solved_row_of(contact_row: u32) -> u32 {
    let place = contact_row / (CONTACT_ENTRIES * LANES) * LANES + contact_row % LANES;
    return solved_word(place, params.solved_base);
}

// As Presses, of what the matrix has of it: without friction's pull.
struct Pressing {
    force: f32,
    couple: vec3<f32>,
}

// Keeps what of a row the matrix has, and with what it presses before the step of the first solve.
fn keep_solved(row: ContactRow, gone: Gone, solved: u32, again: Again) {
    let friction = coulomb(row, slid_of(row, gone), again);
    set_scratch(solved, SOLVED_STIFFNESS, in_matrix(row, gone, !again.solved).x);
    set_scratch(solved, SOLVED_FRICTION, friction.stiffness);
    set_scratch(solved, SOLVED_SLIPPING, friction.slipping);
    set_scratch3(solved, SOLVED_WAY, friction.way);
    set_scratch(solved, SOLVED_ROLLING, rolling_in_matrix(row, rolling_secant(row, rolled(row, gone))));
    if !again.solved {
        keep_pressing(solved, pressing_at(row, gone, true));
    }
}

// With what it presses where the chain has gone so far, as the `first` solve has it or a later one.
fn pressing_at(row: ContactRow, gone: Gone, first: bool) -> Pressing {
    let in_it = in_matrix(row, gone, first);
    let by = rolled(row, gone);
    return Pressing(0.0 - in_it.x * in_it.y, by * (0.0 - rolling_secant(row, by)));
}

// What becomes of that once the nodes around have stepped by `here` and `next`.
fn pressing_on(
    row: ContactRow,
    solved: u32,
    before: Pressing,
    here: ptr<function, Vec7>,
    next: ptr<function, Vec7>,
) -> Pressing {
    var step = step_at(row, here, next);
    let goes = dot(row.direction, vec3<f32>(step[0], step[1], step[2])) - row.scale_term * step[3];
    let turns = vec3<f32>(step[4], step[5], step[6]) * scratch_at(solved, SOLVED_ROLLING);
    return Pressing(before.force - scratch_at(solved, SOLVED_STIFFNESS) * goes, before.couple - turns);
}

fn pressing_of(solved: u32) -> Pressing {
    return Pressing(scratch_at(solved, SOLVED_FORCE), scratch3(solved, SOLVED_COUPLE));
}

fn keep_pressing(solved: u32, pressing: Pressing) {
    set_scratch(solved, SOLVED_FORCE, pressing.force);
    set_scratch3(solved, SOLVED_COUPLE, pressing.couple);
}

// Where a node was as a further step began.
fn placed_base(scratch_row: u32) -> Placed {
    return Placed(
        scratch3(scratch_row, SCRATCH_BASE),
        scratch_at(scratch_row, SCRATCH_BASE + 3u),
        scratch4(scratch_row, SCRATCH_BASE + 4u),
    );
}

// The step that a further solve found for it.
fn step_of(scratch_row: u32) -> Vec7 {
    var step: Vec7;
    for (var k = 0u; k < UNKNOWNS; k++) {
        step[k] = scratch_at(scratch_row, SCRATCH_STEP + k);
    }
    return step;
}

// The step where a row acts.
fn step_at(row: ContactRow, here: ptr<function, Vec7>, next: ptr<function, Vec7>) -> Vec7 {
    var step: Vec7;
    for (var k = 0u; k < UNKNOWNS; k++) {
        step[k] = (*here)[k] + ((*next)[k] - (*here)[k]) * row.along;
    }
    return step;
}

// With what a row presses as the system has it.
fn has_of(contact_row: u32, solved: u32) -> Presses {
    return Presses(
        scratch_at(solved, SOLVED_FORCE),
        contact3(contact_row, CONTACT_TANGENT),
        scratch3(solved, SOLVED_COUPLE),
    );
}

// Writes with what a row presses.
fn write_presses(contact_row: u32, solved: u32, presses: Presses) {
    set_scratch(solved, SOLVED_FORCE, presses.force);
    set_scratch3(solved, SOLVED_COUPLE, presses.couple);
    set_contact(contact_row, CONTACT_DUAL, smaller(larger(presses.force, 0.0), MOST_DUAL));
    set_contact3(contact_row, CONTACT_TANGENT, presses.pull);
}
