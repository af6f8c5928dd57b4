// Stage settle: a pass of chains that meet others, and after the last one the momentum that passes left out (left_out.wgsl); the twin
// of src/cpu/settle.rs, which says why. Each chain is settled that meets another and is pressed otherwise than it has it, or tree of any such.

// Which share of the last pass's step a pass goes on by.
const GOES_ON: f32 = 0.4;
// What is as good as found: a share of what a node weighs where a row is. Chains of which no row is off by more sit a pass out.
const AS_GOOD: f32 = 2.0e-3;
// See find_meetings and solve_contacts.
const MEETING: f32 = 10.0;
const PENALTY: f32 = 1000.0;

@compute @workgroup_size(WORKGROUP_SIZE)
fn settle(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = lone_chain_of(thread_of(invocation));
    let meets = chain.node_count > 0u && chain_at(chain.chain, CHAIN_MEETS) > 0.5;
    if params.settling < params.passes {
        if meets {
            if is_unsettled(chain) {
                settle_forth(chain);
                settle_back(chain, share_gone_on());
            } else {
                stand_still(chain);
            }
        }
    } else if params.iteration + 1u == params.iterations {
        // None by its count, not by a branch, as in predict.
        var own = chain;
        own.node_count = select(0u, chain.node_count, meets);
        restore(own);
    }
}

// As settle, of chains that hang on each other: all of a tree of which any meets another.
@compute @workgroup_size(WORKGROUP_SIZE)
fn settle_trees(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let chain = tree_chain_of(thread_of(invocation));
    let depth = depth_of(chain);
    let meets = chain.node_count > 0u && chain_at(chain.chain, CHAIN_MEETS) > 0.5;
    if params.settling < params.passes {
        if meets {
            tell(local, 0u, select(0.0, 1.0, is_unsettled(chain)));
        }
        workgroupBarrier();
        let settles = meets && most_of_tree(chain, local, 0u) > 0.5;
        if meets && !settles {
            stand_still(chain);
        }
        // None by their count, not by a branch, as in predict.
        for (var level_count = params.level_count; level_count > 0u; level_count--) {
            let works = settles && depth + 1u == level_count;
            var own = chain;
            own.node_count = select(0u, chain.node_count, works);
            settle_forth(own);
            if works && depth > 0u {
                give_rhs_to_stem(chain);
            }
            storageBarrier();
            workgroupBarrier();
        }
        for (var level_count = 0u; level_count < params.level_count; level_count++) {
            let works = settles && depth == level_count;
            var own = chain;
            own.node_count = select(0u, chain.node_count, works);
            settle_back(own, share_gone_on());
            if works {
                place_by_stem(chain);
            }
            storageBarrier();
            workgroupBarrier();
        }
    } else if params.iteration + 1u == params.iterations {
        var own = chain;
        own.node_count = select(0u, chain.node_count, meets);
        tell_balance(local, balance_of(own, root_origin(own) - chain3(own.chain, CHAIN_ORIGIN)));
        workgroupBarrier();
        let balance = balance_of_tree(own, local);
        workgroupBarrier();
        tell_body(local, body_of(own));
        workgroupBarrier();
        add_motion(own, from_own_origin(own, gain_of_tree(balance, body_of_tree(own, local))), 0.0);
    }
}

// Which share of the last pass's step this one goes on by.
fn share_gone_on() -> f32 {
    return select(0.0, GOES_ON, params.settling > 0u && params.settling + 1u < params.passes);
}

// The first half: by how much rows press otherwise, eliminated in the order of the nodes.
fn settle_forth(chain: Chain) {
    var carry: Vec7;
    var rhs: Vec7;
    var branch = first_branch_of(chain);
    for (var index = 0u; index < chain.node_count; index++) {
        var own = carry;
        var beyond = Vec7();
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            change(rows, &own, &beyond);
        }
        carry = beyond;
        // The right-hand side is the gradient's opposite.
        if index == 0u {
            rhs = own;
        } else {
            let before = scratch_row_of(chain, index - 1u);
            var coupling: Mat7;
            var inv_pivot: Vec7;
            var gradient: Vec7;
            for (var i = 0u; i < UNKNOWNS; i++) {
                inv_pivot[i] = scratch_at(before, SCRATCH_INV_PIVOT + i);
                gradient[i] = 0.0 - own[i];
                for (var k = 0u; k < UNKNOWNS; k++) {
                    coupling[i][k] = scratch_at(before, SCRATCH_COUPLING + i * UNKNOWNS + k);
                }
            }
            eliminate_rhs(&coupling, &inv_pivot, &gradient, &rhs);
        }
        if IN_TREES {
            branch = add_borne_rhs(chain, index, branch, &rhs);
        }
        let rest_row = rest_row_of(chain, index);
        if is_held(rest_row) {
            var free = free_unknowns(rest_row);
            for (var i = 0u; i < UNKNOWNS; i++) {
                rhs[i] = rhs[i] * free[i];
            }
        }
        if rest_at(rest_row, REST_SLIDES) > 0.5 {
            let pull = along_guide(vec3<f32>(rhs[0], rhs[1], rhs[2]), guide_axis(node_row_of(chain, index)));
            rhs[0] = pull.x;
            rhs[1] = pull.y;
            rhs[2] = pull.z;
        }
        if IN_TREES && rest_at(rest_row, REST_HUNG) > 0.5 {
            keep_stump_rhs(chain, &rhs);
        }
        let scratch_row = scratch_row_of(chain, index);
        var lower: Mat7;
        for (var i = 1u; i < UNKNOWNS; i++) {
            for (var k = 0u; k < i; k++) {
                lower[i][k] = scratch_at(scratch_row, SCRATCH_LOWER + i * (i - 1u) / 2u + k);
            }
        }
        solve_lower(&lower, &rhs);
        for (var i = 0u; i < UNKNOWNS; i++) {
            set_scratch(scratch_row, SCRATCH_RHS + i, rhs[i]);
        }
    }
}

// The second half: solves from the last node on, and steps; goes on by a share of the last pass's step.
fn settle_back(chain: Chain, goes_on: f32) {
    var delta: Vec7;
    for (var left_count = chain.node_count; left_count > 0u; left_count--) {
        let index = left_count - 1u;
        let scratch_row = scratch_row_of(chain, index);
        var next = delta;
        back_substitute(scratch_row, &delta);
        if IN_TREES && rest_at(rest_row_of(chain, index), REST_HUNG) > 0.5 {
            go_with_stem(chain, scratch_row, &delta, goes_on);
        }
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            give_way(rows, &delta, &next, goes_on);
        }
        var step = delta;
        for (var k = 0u; k < UNKNOWNS; k++) {
            if goes_on > 0.0 {
                step[k] = step[k] + scratch_at(scratch_row, SCRATCH_STEP + k) * goes_on;
            }
            set_scratch(scratch_row, SCRATCH_STEP + k, step[k]);
        }
        let row = node_row_of(chain, index);
        store_placed(step_by(row, placed_now(row), &step), row);
    }
}

// A row whose force is to change: with what it presses as the system has it, and with how much more it should press.
struct Change {
    row: ContactRow,
    has: Presses,
    more: Presses,
}

// By how much a row should press otherwise.
fn change_of(rows: Rows) -> Change {
    let row = load_contact_row(rows);
    let solved = solved_row_of(rows.at);
    let has = has_of(rows.at, solved);
    var wanted = load_presses(solved, SOLVED_ENTRIES);
    if !rows.meets {
        // What does not move only lets go: beyond what the matrix has, it would throw what it holds.
        let size = sqrt(dot(has.pull, has.pull));
        let kept = smaller(row.limit, size) / larger(size, MIN_POSITIVE);
        wanted = Presses(larger(has.force, 0.0), has.pull * kept, has.couple);
    }
    var more = Presses(0.0, vec3<f32>(), vec3<f32>());
    // What chains have that sit out may be no number.
    if scratch_at(solved, SOLVED_STIFFNESS) > 0.0 {
        more = Presses(wanted.force - has.force, wanted.pull - has.pull, wanted.couple - has.couple);
    }
    return Change(row, has, more);
}

// Whether any row of a chain should press otherwise than the system has it, by more than is as good as found (AS_GOOD).
fn is_unsettled(chain: Chain) -> bool {
    // Friction is as stiff as γ·2m/h² where chains meet, less where it slips or steps are short, and as PENALTY·m/h² elsewhere.
    let fall = length(falls_of(chain)) * (params.h * params.h * AS_GOOD);
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            let change = change_of(rows);
            let row = change.row;
            let more = change.more;
            let least = row.friction * (fall * select(1.0 / PENALTY, 0.5 / MEETING, rows.meets)) * row.arm;
            let off = (more.force * more.force + dot(more.pull, more.pull)) * (row.arm * row.arm) + dot(more.couple, more.couple);
            if least * least < off {
                return true;
            }
        }
    }
    return false;
}

// A chain that sits a pass out has no step that the next would go on by.
fn stand_still(chain: Chain) {
    let none = Presses(0.0, vec3<f32>(), vec3<f32>());
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            store_presses(solved_row_of(rows.at), SOLVED_CHANGE, none);
        }
        let scratch_row = scratch_row_of(chain, index);
        for (var k = 0u; k < UNKNOWNS; k++) {
            set_scratch(scratch_row, SCRATCH_STEP + k, 0.0);
        }
    }
}

// Adds to the right-hand sides of its two nodes by how much a row should press otherwise than the system has it; the system then
// has it so.
fn change(rows: Rows, own: ptr<function, Vec7>, beyond: ptr<function, Vec7>) {
    let change = change_of(rows);
    let row = change.row;
    let has = change.has;
    let more = change.more;
    let solved = solved_row_of(rows.at);
    let both = row.direction * more.force + across(more.pull, row.direction);
    let couple = couple_of(row, more.pull) + more.couple;
    let swells = 0.0 - row.scale_term * more.force;
    add_push(own, both, swells, couple, 1.0 - row.along);
    add_push(beyond, both, swells, couple, row.along);
    store_presses(solved, SOLVED_BEFORE, has);
    write_presses(rows.at, solved, Presses(has.force + more.force, has.pull + more.pull, has.couple + more.couple));
}

fn add_push(sum: ptr<function, Vec7>, both: vec3<f32>, swells: f32, couple: vec3<f32>, weight: f32) {
    let values = Vec7(both.x, both.y, both.z, swells, couple.x, couple.y, couple.z);
    (*sum)[0] = (*sum)[0] + values[0] * weight;
    (*sum)[1] = (*sum)[1] + values[1] * weight;
    (*sum)[2] = (*sum)[2] + values[2] * weight;
    (*sum)[3] = (*sum)[3] + values[3] * weight;
    (*sum)[4] = (*sum)[4] + values[4] * weight;
    (*sum)[5] = (*sum)[5] + values[5] * weight;
    (*sum)[6] = (*sum)[6] + values[6] * weight;
}

// What a row presses with once its nodes have stepped by `here` and `next`, and gone on by a share of the last pass's step.
fn give_way(rows: Rows, here: ptr<function, Vec7>, next: ptr<function, Vec7>, goes_on: f32) {
    let at = rows.at;
    let row = load_contact_row(rows);
    let solved = solved_row_of(at);
    var step = step_at(row, here, next);
    let moved = vec3<f32>(step[0], step[1], step[2]);
    let turned = vec3<f32>(step[4], step[5], step[6]);
    let opens = dot(row.direction, moved) - row.scale_term * step[3];
    let goes = swept(row, moved, turned);
    let way = scratch3(solved, SOLVED_WAY);
    let slips = way * (scratch_at(solved, SOLVED_SLIPPING) * dot(way, goes));
    let less = goes * scratch_at(solved, SOLVED_FRICTION) - slips;
    let force = scratch_at(solved, SOLVED_FORCE) - scratch_at(solved, SOLVED_STIFFNESS) * opens;
    let tangent = contact3(at, CONTACT_TANGENT) - less;
    let rolls = scratch3(solved, SOLVED_COUPLE) - turned * scratch_at(solved, SOLVED_ROLLING);

    let before = load_presses(solved, SOLVED_BEFORE);
    var changed = Presses(force - before.force, tangent - before.pull, rolls - before.couple);
    if goes_on > 0.0 {
        let last = load_presses(solved, SOLVED_CHANGE);
        changed.force = changed.force + last.force * goes_on;
        changed.pull = changed.pull + last.pull * goes_on;
        changed.couple = changed.couple + last.couple * goes_on;
    }
    store_presses(solved, SOLVED_CHANGE, changed);
    let now = Presses(before.force + changed.force, before.pull + changed.pull, before.couple + changed.couple);
    write_presses(at, solved, now);
}

fn load_presses(row: u32, at: u32) -> Presses {
    return Presses(scratch_at(row, at), scratch3(row, at + 1u), scratch3(row, at + 4u));
}

fn store_presses(row: u32, at: u32, presses: Presses) {
    set_scratch(row, at, presses.force);
    set_scratch3(row, at + 1u, presses.pull);
    set_scratch3(row, at + 4u, presses.couple);
}
