// Stage solve_rods: implicit Euler for every chain, (77)–(78), by Gauss–Newton steps that each are one factor and solve
// of a block-tridiagonal system; the twin of src/cpu/solve_rods.rs, which says when a step is kept.

@group(0) @binding(8) var<storage, read_write> reaction_rows: array<f32>;

// The least pivot, over the diagonal entry that it is what is left of.
const LEAST_PIVOT: f32 = 1.0e-6;

// The strain, and the turn (rad) of neighbours against each other, that one linear solve can be trusted to change by.
const TRUSTED: f32 = 0.15;

// Whether any chain of the workgroup takes another step.
var<workgroup> going: atomic<u32>;
var<workgroup> any_goes: u32;

// Steps every chain to where Π is least, or as near as its budget allows.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_rods(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = lone_chain_of(thread_of(invocation));
    if chain.node_count == 0u {
        return;
    }
    let contracting = contracts(chain);
    let excitation = excitation_of(chain);
    let inv_step2 = inv_step2_of(chain);
    var descent = descent_of(chain);
    var reached: Reached;
    while descent.stepping {
        let again = again_of(descent);
        if descent.shortenings == 0u {
            if descent.solves > 0u {
                keep(chain);
            }
            solve_forth(chain, inv_step2, contracting, excitation, again);
            let step = solve_back(chain, again);
            descent.fall = step.fall;
            descent.far = step.far;
            descent.amiss = step.amiss;
            descent.share = 1.0;
        } else {
            go_on(chain, descent.share);
        }
        reached = reached_by(chain, inv_step2, contracting, excitation);
        judge(&descent, reached);
        if descent.starts_again {
            start_again(chain);
        }
        if descent.keeps {
            press_on(chain, again, share_pressed(descent));
        }
    }
    end(chain, descent, reached, contracting, inv_step2);
}

// As solve_rods, of chains that hang on each other, which go down Π together.
@compute @workgroup_size(WORKGROUP_SIZE)
fn solve_trees(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let chain = tree_chain_of(thread_of(invocation));
    let depth = depth_of(chain);
    var contracting = false;
    var excitation: Excitation;
    var inv_step2 = 1.0;
    var descent: Descent;
    var step: Step;
    var reached: Reached;
    if chain.node_count > 0u {
        contracting = contracts(chain);
        excitation = excitation_of(chain);
        inv_step2 = inv_step2_of(chain);
        descent = descent_of(chain);
        tell(local, 0u, descent.at_start);
        tell(local, 1u, descent.meets);
    }
    workgroupBarrier();
    if chain.node_count > 0u {
        descent.at_start = sum_of_tree(chain, local, 0u);
        descent.lowest = descent.at_start;
        descent.meets = most_of_tree(chain, local, 1u);
    }
    loop {
        let again = again_of(descent);
        let solves = descent.stepping && descent.shortenings == 0u;
        if solves && descent.solves > 0u {
            keep(chain);
        }
        for (var level_count = params.level_count; level_count > 0u; level_count--) {
            if solves && depth + 1u == level_count {
                solve_forth(chain, inv_step2, contracting, excitation, again);
                if depth > 0u {
                    keep_turning(chain);
                    give_to_stem(chain);
                }
            }
            storageBarrier();
            workgroupBarrier();
        }
        for (var level_count = 0u; level_count < params.level_count; level_count++) {
            if descent.stepping && depth == level_count {
                if solves {
                    step = solve_back(chain, again);
                    descent.share = 1.0;
                } else {
                    go_on(chain, descent.share);
                }
                place_by_stem(chain);
            }
            storageBarrier();
            workgroupBarrier();
        }
        if descent.stepping {
            let own = reached_by(chain, inv_step2, contracting, excitation);
            tell(local, 0u, step.fall);
            tell(local, 1u, step.far);
            tell(local, 2u, step.amiss);
            tell(local, 3u, own.level);
            tell(local, 4u, own.stored);
            tell(local, 5u, own.gained);
            tell(local, 6u, own.motion);
            tell(local, 7u, own.unsure);
        }
        workgroupBarrier();
        if descent.stepping {
            descent.fall = sum_of_tree(chain, local, 0u);
            descent.far = most_of_tree(chain, local, 1u);
            descent.amiss = most_of_tree(chain, local, 2u);
            reached.level = sum_of_tree(chain, local, 3u);
            reached.stored = sum_of_tree(chain, local, 4u);
            reached.gained = sum_of_tree(chain, local, 5u);
            reached.motion = sum_of_tree(chain, local, 6u);
            reached.unsure = sum_of_tree(chain, local, 7u);
            judge(&descent, reached);
            if descent.starts_again {
                start_again(chain);
            }
            if descent.keeps {
                press_on(chain, again, share_pressed(descent));
            }
            if descent.stepping {
                atomicOr(&going, 1u);
            }
        }
        storageBarrier();
        workgroupBarrier();
        if local == 0u {
            any_goes = atomicExchange(&going, 0u);
        }
        if workgroupUniformLoad(&any_goes) == 0u {
            break;
        }
    }
    if chain.node_count > 0u {
        end(chain, descent, reached, contracting, inv_step2);
    }
}

// What a step promises: by how much Π falls where Π is what the step takes it for (J), and 1 where it goes so far that it
// cannot be that.
struct Step {
    fall: f32,
    far: f32,
    // 1 where it took friction amiss, 2 where contacts.
    amiss: f32,
}

// The first half of a Gauss–Newton step: sets the system up and eliminates its nodes in order. Where a chain is solved `again`, it
// is by a system stiffened by a share of its diagonal, and the step is kept for go_on.
fn solve_forth(
    chain: Chain,
    inv_step2: f32,
    contracting: bool,
    excitation: Excitation,
    again: Again,
) {
    let count = chain.node_count;
    let tied = is_tied(chain);
    let string_share = select(0.0, 1.0, again.solved);
    var excited = excitation;

    var block: Mat7;
    var rhs: Vec7;
    // What the nodes before took off the block's diagonal.
    var eliminated: Vec7;
    // After the last node there is no segment, and no step for what is left of the one before to couple to.
    var terms: SegmentTerms;
    var here = load_section(node_row_of(chain, 0u));
    var branch = first_branch_of(chain);
    // What the nodes before add to the rows of a held node beyond what they add to the system, from which it is taken out; see
    // src/cpu/reactions.rs.
    var beyond_block: Mat7;
    var beyond_rhs: Vec7;
    for (var index = 0u; index < count; index++) {
        let rest_at_node = rest_row_of(chain, index);
        let row = node_row_of(chain, index);
        add_inertia(inv_step2, rest_at_node, row, &block, &rhs);
        if IN_TREES {
            branch = add_borne(chain, index, branch, &block, &rhs);
        }
        if index + 1u < count {
            let next = load_section(node_row_of(chain, index + 1u));
            excited.prev_stretch = node_at(row, NODE_PREV_FIBRE_STRETCH);
            var rest_row = load_rest_row(rest_at_node);
            let reference = reference_of(chain, index, tied, inv_step2);
            segment_terms(here, next, &rest_row, reference, contracting, excited, string_share, &terms);
            for (var i = 0u; i < UNKNOWNS; i++) {
                rhs[i] = rhs[i] - terms.gradient_a[i];
                for (var k = 0u; k <= i; k++) {
                    block[i][k] = block[i][k] + terms.block_aa[i][k];
                }
            }
            here = next;
        }
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            take_up(chain, rows, again, &block, &rhs, &terms);
        }
        var coupling = terms.block_ab;
        add_surface_bending(chain, index, &block, &rhs, &coupling);
        if tied {
            add_tie(rest_at_node, row, &block, &rhs);
        }
        if reacts(rest_at_node) {
            keep_held(held_row_of(chain, rest_at_node), &beyond_block, &beyond_rhs, &block, &rhs, &coupling);
        }
        hold(rest_at_node, &block, &rhs, &coupling);
        if rest_at(rest_at_node, REST_SLIDES) > 0.5 {
            guide(row, &block, &rhs, &coupling);
        }
        if IN_TREES && rest_at(rest_at_node, REST_HUNG) > 0.5 {
            keep_stump(chain, rest_at_node, &block, &rhs);
        }
        var whole = coupling;
        if index + 1u < count {
            hold_columns(rest_row_of(chain, index + 1u), &coupling);
            if rest_at(rest_row_of(chain, index + 1u), REST_SLIDES) > 0.5 {
                guide_columns(node_row_of(chain, index + 1u), &coupling);
            }
        }

        if again.solved {
            for (var i = 0u; i < UNKNOWNS; i++) {
                block[i][i] = block[i][i] + (block[i][i] + eliminated[i]) * again.stiffened;
            }
        }
        var least: Vec7;
        for (var i = 0u; i < UNKNOWNS; i++) {
            least[i] = (block[i][i] + eliminated[i]) * LEAST_PIVOT;
        }
        var inv_pivot = factor(&block, &least);
        solve_lower(&block, &rhs);
        solve_lower_columns(&block, &coupling);
        store_factor(scratch_row_of(chain, index), &block, &inv_pivot, &coupling, &rhs);
        if index + 1u < count {
            var next_block = terms.block_bb;
            var next_gradient = terms.gradient_b;
            let next_reacts = reacts(rest_row_of(chain, index + 1u));
            if next_reacts {
                // All that the next node's rows are.
                solve_lower_columns(&block, &whole);
                beyond_rhs = rhs;
                eliminate(&whole, &inv_pivot, &next_block, &beyond_block);
                eliminate_rhs(&whole, &inv_pivot, &next_gradient, &beyond_rhs);
            }
            eliminated = eliminate(&coupling, &inv_pivot, &next_block, &block);
            eliminate_rhs(&coupling, &inv_pivot, &next_gradient, &rhs);
            if next_reacts {
                // What of it is not in the system's.
                for (var i = 0u; i < UNKNOWNS; i++) {
                    beyond_rhs[i] = beyond_rhs[i] - rhs[i];
                    for (var k = 0u; k <= i; k++) {
                        beyond_block[i][k] = beyond_block[i][k] - block[i][k];
                    }
                }
            }
        }
    }
}

// The second half: solves from the last node on, and steps.
fn solve_back(chain: Chain, again: Again) -> Step {
    var fall = 0.0;
    var farthest2 = 0.0;
    var amiss = 0.0;
    var delta: Vec7;
    for (var left_count = chain.node_count; left_count > 0u; left_count--) {
        let index = left_count - 1u;
        let scratch_row = scratch_row_of(chain, index);
        var next = delta;
        back_substitute(scratch_row, &delta);
        if IN_TREES && rest_at(rest_row_of(chain, index), REST_HUNG) > 0.5 {
            go_with_stem(chain, scratch_row, &delta, 0.0);
        }
        if reacts(rest_row_of(chain, index)) {
            react(chain, rest_row_of(chain, index), &delta, &next);
        }
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            if !again.solved {
                amiss = larger(amiss, note_pressed(rows, &delta, &next, again));
            }
        }
        let inv_length = rest_at(rest_row_of(chain, index), REST_INV_LENGTH);
        let strained = vec3<f32>(next[0] - delta[0], next[1] - delta[1], next[2] - delta[2]) * inv_length;
        let turned = vec3<f32>(next[4] - delta[4], next[5] - delta[5], next[6] - delta[6]);
        // Of padding and after the last node there is no segment.
        let turned2 = where_less(0.0, inv_length, dot(turned, turned), 0.0);
        farthest2 = larger(larger(farthest2, dot(strained, strained)), turned2);
        if again.solved {
            for (var k = 0u; k < UNKNOWNS; k++) {
                let along = scratch_at(scratch_row, SCRATCH_RHS + k);
                fall = fall + along * along * scratch_at(scratch_row, SCRATCH_INV_PIVOT + k);
            }
        }
        if again.solved || IN_TREES {
            for (var k = 0u; k < UNKNOWNS; k++) {
                set_scratch(scratch_row, SCRATCH_STEP + k, delta[k]);
            }
        }
        let row = node_row_of(chain, index);
        store_placed(step_by(row, placed_now(row), &delta), row);
    }
    if again.solved {
        amiss = amiss_again(chain, again);
    }
    return Step(fall * 0.5, where_less(TRUSTED * TRUSTED, farthest2, 1.0, 0.0), amiss);
}

// Adds a row's terms to the system; in the first solve it notes how deep it is in the way and how far it has slid.
fn take_up(
    chain: Chain,
    rows: Rows,
    again: Again,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    terms: ptr<function, SegmentTerms>,
) {
    let at = rows.at;
    let touches = load_contact_row(rows);
    let gone = gone_at(chain, touches, false);
    add_contact(touches, gone, again, block, rhs, terms);
    if !again.solved {
        set_contact(at, CONTACT_DUAL, in_the_way(touches, gone));
        set_contact3(at, CONTACT_TANGENT, slid_of(touches, gone));
    }
    if params.passes > 0u {
        keep_solved(touches, gone, solved_row_of(at), again);
    }
}

// Leaves in a row with what force it presses once its nodes have stepped by `here` and `next` in the first solve; how it was taken amiss.
fn note_pressed(rows: Rows, here: ptr<function, Vec7>, next: ptr<function, Vec7>, again: Again) -> f32 {
    let at = rows.at;
    let touches = load_contact_row(rows);
    let pressed = pressed_by(touches, contact_at(at, CONTACT_DUAL), contact3(at, CONTACT_TANGENT), here, next, again);
    set_contact(at, CONTACT_DUAL, pressed.force);
    set_contact3(at, CONTACT_TANGENT, pressed.tangent);
    if params.passes > 0u {
        let solved = solved_row_of(at);
        keep_pressing(solved, pressing_on(touches, solved, pressing_of(solved), here, next));
    }
    return pressed.amiss;
}

// A row's nodes where a further step began, and the step that the solve found for them.
struct FurtherStep {
    touches: ContactRow,
    gone: Gone,
    here: Vec7,
    next: Vec7,
}

fn further_step_of(chain: Chain, rows: Rows) -> FurtherStep {
    let touches = load_contact_row(rows);
    let here = scratch_row_of(chain, touches.segment);
    let next = scratch_row_of(chain, min(touches.segment + 1u, chain.node_count - 1u));
    let gone = gone_between(chain, touches, placed_base(here), placed_base(next));
    return FurtherStep(touches, gone, step_of(here), step_of(next));
}

// With what it presses once they have made all of it.
fn pressed_after(step: FurtherStep, again: Again) -> Pressed {
    var here = step.here;
    var next = step.next;
    return pressed_by(step.touches, in_the_way(step.touches, step.gone), slid_of(step.touches, step.gone), &here, &next, again);
}

// How the chain's rows are taken amiss by the step that a further solve found.
fn amiss_again(chain: Chain, again: Again) -> f32 {
    var amiss = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            amiss = larger(amiss, pressed_after(further_step_of(chain, rows), again).amiss);
        }
    }
    return amiss;
}

// Rows come to press by a share with what they would after all of a further step, and by the rest with what they did before.
fn press_on(chain: Chain, again: Again, share: f32) {
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            let at = rows.at;
            let step = further_step_of(chain, rows);
            let pressed = pressed_after(step, again);
            set_contact(at, CONTACT_DUAL, part_way(contact_at(at, CONTACT_DUAL), pressed.force, share));
            set_contact3(at, CONTACT_TANGENT, part_way3(contact3(at, CONTACT_TANGENT), pressed.tangent, share));
            if params.passes > 0u {
                let solved = solved_row_of(at);
                let before = pressing_of(solved);
                var here = step.here;
                var next = step.next;
                let from_here = pressing_at(step.touches, step.gone, false);
                let after = pressing_on(step.touches, solved, from_here, &here, &next);
                let couple = part_way3(before.couple, after.couple, share);
                keep_pressing(solved, Pressing(part_way(before.force, after.force, share), couple));
            }
        }
    }
}

// A share of the way from a value to another one; of no share the first one, whatever the other is.
fn part_way(start: f32, to: f32, share: f32) -> f32 {
    return where_less(share, 1.0, where_less(0.0, share, start + (to - start) * share, start), to);
}

fn part_way3(start: vec3<f32>, to: vec3<f32>, share: f32) -> vec3<f32> {
    return vec3<f32>(part_way(start.x, to.x, share), part_way(start.y, to.y, share), part_way(start.z, to.z, share));
}

// The chain sits passes out: it began again and made no whole step since, so that with what rows press it is not in balance, or took
// nothing of its last step. Passes would move it by what is left, with what is elastic of it left out; rows that have no stiffness there
// ask for nothing. The twin of sit_out in src/cpu/solved.rs.
fn sit_out(chain: Chain) {
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            set_scratch(solved_row_of(rows.at), SOLVED_STIFFNESS, 0.0);
        }
    }
}

// Whether reactions are asked for: what is read of them is the frame's last substep's.
fn asks_for_reactions() -> bool {
    return params.alpha == 1.0;
}

// Whether bones hold the node's place or frame, or guide it, in a lane of the group, and reactions are asked for.
fn reacts(rest_row: u32) -> bool {
    return asks_for_reactions() && rest_at(rest_row, REST_REACTION) >= 0.0;
}

// The scratch row of a node of which there is a reaction.
fn held_row_of(chain: Chain, rest_row: u32) -> u32 {
    return scratch_row_of(chain, chain.node_count + u32(rest_at(rest_row, REST_REACTION)));
}

// Keeps a node's rows for react.
fn keep_held(
    row: u32,
    beyond_block: ptr<function, Mat7>,
    beyond_rhs: ptr<function, Vec7>,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    coupling: ptr<function, Mat7>,
) {
    for (var i = 0u; i < UNKNOWNS; i++) {
        set_scratch(row, HELD_RHS + i, (*rhs)[i] + (*beyond_rhs)[i]);
        for (var k = 0u; k <= i; k++) {
            set_scratch(row, HELD_BLOCK + i * (i + 1u) / 2u + k, (*block)[i][k] + (*beyond_block)[i][k]);
        }
        for (var k = 0u; k < UNKNOWNS; k++) {
            set_scratch(row, HELD_COUPLING + i * UNKNOWNS + k, (*coupling)[i][k]);
        }
    }
}

// The force and the couple that a node puts on what holds it, where it and the next one step by `delta` and `next`; 0 in what
// is not held.
fn react(chain: Chain, rest_row: u32, delta: ptr<function, Vec7>, next: ptr<function, Vec7>) {
    let kept = held_row_of(chain, rest_row);
    var left: Vec7;
    for (var i = 0u; i < UNKNOWNS; i++) {
        left[i] = scratch_at(kept, HELD_RHS + i);
        for (var k = 0u; k < UNKNOWNS; k++) {
            let row = max(i, k);
            let own = scratch_at(kept, HELD_BLOCK + row * (row + 1u) / 2u + min(i, k));
            let coupling = scratch_at(kept, HELD_COUPLING + i * UNKNOWNS + k);
            left[i] = left[i] - own * (*delta)[k] - coupling * (*next)[k];
        }
        // A chain that is none any more bears on nothing.
        left[i] = where_less(abs(left[i]), MOST_DUAL, left[i], 0.0);
    }
    let place = larger(1.0 - rest_at(rest_row, REST_FREE_PLACE), rest_at(rest_row, REST_SLIDES));
    let frame = 1.0 - rest_at(rest_row, REST_FREE_FRAME);
    let row = chain.reactions + u32(rest_at(rest_row, REST_REACTION)) * (REACTION_ENTRIES * LANES);
    for (var k = 0u; k < 3u; k++) {
        reaction_rows[row + (REACTION_FORCE + k) * LANES] = left[k] * place;
        reaction_rows[row + (REACTION_COUPLE + k) * LANES] = left[4u + k] * frame;
    }
}
