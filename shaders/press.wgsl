// Stage press: with what force pairs of segments press, and friction pulls, where both sides have gone to; the twin of
// src/cpu/press.rs.

@group(0) @binding(7) var<storage, read_write> scratch_rows: array<f32>;

// The largest force (N) that a row remembers.
const MOST_DUAL: f32 = 1.0e30;

@compute @workgroup_size(WORKGROUP_SIZE)
fn press(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let pair = thread_of(invocation);
    if pair >= pairs[0].x {
        return;
    }
    // First what most of them end with.
    if meet_at(meet_word(pair, 0u), MEET_STIFFNESS) == 0.0 && meet_at(meet_word(pair, 1u), MEET_STIFFNESS) == 0.0 {
        return;
    }
    if !is_pair(pair) {
        return;
    }
    let a = side_of(pair, 0u);
    let b = side_of(pair, 1u);
    let next = NODE_ENTRIES * LANES;
    let first_a = gone(a.node);
    let second_a = gone(a.node + next);
    let first_b = gone(b.node);
    let second_b = gone(b.node + next);
    for (var point = 0u; point < 2u; point++) {
        let row = meet_word(pair, point);
        let direction = meet3(row, MEET_DIRECTION);
        let going_a = going_between(first_a, second_a, meet_at(row, MEET_ALONG));
        let going_b = going_between(first_b, second_b, meet_at(row, MEET_ALONG + 1u));
        let swelling =
            meet_at(row, MEET_SCALE_TERM) * going_a.scaling + meet_at(row, MEET_SCALE_TERM + 1u) * going_b.scaling;
        let closed = meet_at(row, MEET_GAP) + dot(direction, going_a.moved - going_b.moved) - swelling;
        let force = smaller(meet_at(row, MEET_STIFFNESS) * larger(0.0 - closed, 0.0), MOST_DUAL);
        let swept_a = swept_by(going_a, direction, meet_at(row, MEET_ARM));
        let swept_b = swept_by(going_b, -direction, meet_at(row, MEET_ARM + 1u));
        let pulling = (meet3(row, MEET_ANCHOR) - (swept_a - swept_b)) * meet_at(row, MEET_FRICTION);
        let pull = limited(pulling, meet_at(row, MEET_RUBS) * force);
        let radius = smaller(meet_at(row, MEET_ARM), meet_at(row, MEET_ARM + 1u));
        let rolling = meet_at(row, MEET_FRICTION) * radius * radius * ROLLING;
        let turning = (meet3(row, MEET_TURN_ANCHOR) - (going_a.turn - going_b.turn)) * rolling;
        let couple = limited(turning, ROLLS * force * radius);
        let memory = memory_row_of(pair, point);
        set_meet(memory, MEET_FORCE, force);
        set_meet3(memory, MEET_PULL, pull);
        set_meet3(memory, MEET_COUPLE, couple);
        if meet_at(row, MEET_STIFFNESS) != 0.0 {
            want(a.place * 2u + point, force, pull, couple);
            want(b.place * 2u + point, force, -pull, -couple);
        }
    }
}

// As much of a vector as does not exceed a limit.
fn limited(v: vec3<f32>, limit: f32) -> vec3<f32> {
    let size = sqrt(dot(v, v));
    return v * (smaller(limit, size) / larger(size, MIN_POSITIVE));
}

// Writes with what the contact row of a row of a side should press.
fn want(row: u32, force: f32, pull: vec3<f32>, couple: vec3<f32>) {
    let contact_row = u32(scratch_rows[contact_of_row_word(row, params.solved_base)]);
    let at = solved_word(params.meet_base * LANES + contact_row, params.solved_base) + SOLVED_ENTRIES * LANES;
    scratch_rows[at] = force;
    for (var k = 0u; k < 3u; k++) {
        scratch_rows[at + (1u + k) * LANES] = pull[k];
        scratch_rows[at + (4u + k) * LANES] = couple[k];
    }
}
