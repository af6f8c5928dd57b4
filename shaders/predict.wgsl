// Stage predict: where inertia and gravity alone would bring every node, (21)–(23), and the first iterate; the twin
// of src/cpu/predict.rs, which says why.

@group(0) @binding(8) var<storage, read> force_rows: array<f32>;

// Predicts every node and sets the first iterate.
@compute @workgroup_size(WORKGROUP_SIZE)
fn predict(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = lone_chain_of(thread_of(invocation));
    if chain.node_count == 0u {
        return;
    }
    let contracting = begin_prediction(chain);
    var motion = RigidMotion();
    if moves_freely(chain) {
        motion = rigid_motion(body_of(chain));
    }
    predict_chain(chain, contracting, motion);
}

// As predict, of chains that hang on each other, each after what it hangs on; free trees move as one body.
@compute @workgroup_size(WORKGROUP_SIZE)
fn predict_trees(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let chain = tree_chain_of(thread_of(invocation));
    let depth = depth_of(chain);
    var contracting = false;
    var motion = RigidMotion();
    if chain.node_count > 0u {
        contracting = begin_prediction(chain);
        if moves_freely(chain) {
            tell_body(local, body_of(chain));
        }
    }
    workgroupBarrier();
    if chain.node_count > 0u && moves_freely(chain) {
        motion = from_own_origin(chain, rigid_motion(body_of_tree(chain, local)));
    }
    for (var level_count = 0u; level_count < params.level_count; level_count++) {
        if depth == level_count {
            set_target_by_stem(chain);
            predict_chain(chain, contracting, motion);
            place_by_stem(chain);
        }
        storageBarrier();
        workgroupBarrier();
    }
}

// Whether neither the chain nor what it hangs on hangs on a bone.
fn moves_freely(chain: Chain) -> bool {
    return input_at(chain.input, INPUT_HANGS) < 0.5;
}

// What comes before the prediction; whether fibres have a say.
fn begin_prediction(chain: Chain) -> bool {
    let contracting = contracts(chain);
    if contracting {
        measure_fibres(chain);
    }
    let kicked = f32(params.first_substep) * input_at(chain.input, INPUT_KICKED) > 0.5;
    // None by its count, not by a branch: some drivers go round a loop in a branch that no chain takes to their limit.
    kick(chain, select(0u, chain.node_count, kicked));
    return contracting;
}

// Where its stem has the last node of a chain that hangs, at the substep's start.
fn set_target_by_stem(chain: Chain) {
    if tree_at(chain, TREE_STEM) < 0.0 {
        return;
    }
    // The chain has not begun the substep: it starts where it is.
    let row = hung_row_of(chain);
    let start = node3(row, NODE_PLACE);
    set_node3(row, NODE_PREV_PLACE, start);
    let stem = stem_of(chain);
    let joint = joint_by(chain, stem, placed_start(stem, stem_node_of(chain)));
    set_node3(row, NODE_TARGET_PLACE, start + joint.moved);
    set_node4(row, NODE_TARGET_FRAME, beside(joint.frame, node4(row, NODE_FRAME)));
}

// Predicts a chain's nodes; `motion` is how it moves as a body, where it is free, from its own origin.
fn predict_chain(chain: Chain, contracting: bool, motion: RigidMotion) {
    let h = params.h;
    let inv_h = params.inv_h;
    let second_order = second_order_of(chain);
    let carried = second_order * (1.0 / 3.0);
    let step = h * (1.0 - carried);
    let gravity = falls_of(chain);
    let moving = bones_move(chain);
    let is_free = moves_freely(chain);

    let meets = chain_at(chain.chain, CHAIN_MEETS);
    let held_back = select(meets, larger(meets, 1.0 - second_order), !is_touched(chain));
    for (var index = 0u; index < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let row = node_row_of(chain, index);
        let place = node3(row, NODE_PLACE);
        let scale = node_at(row, NODE_SCALE);
        let frame = node4(row, NODE_FRAME);

        var reference = vec3<f32>();
        var reference_spin = vec3<f32>();
        var jump = vec3<f32>();
        var jump_turn = vec3<f32>();
        if moving {
            let along = rest_at(rest_row, REST_BONE_BLEND);
            let hold = rest3(rest_row, REST_HOLD_PLACE);
            let next = rest3(rest_row, REST_NEXT_PLACE);
            let reach = sqrt(larger(dot(hold, hold), dot(next, next))) + rest_at(chain.rest, REST_LENGTH);
            let now = bone_motion(chain, CHAIN_BONE_PREV, CHAIN_BONE_NOW, along, place, reach);
            let older = bone_motion(chain, CHAIN_BONE_OLDER, CHAIN_BONE_PREV, along, place, reach);
            let ratio = params.h_over_last_h;
            reference = now.displacement * inv_h;
            reference_spin = now.turn * inv_h;
            jump = now.displacement - older.displacement * ratio;
            jump_turn = now.turn - older.turn * ratio;
        }
        if is_free {
            reference = motion.velocity + cross(motion.spin, place - motion.centre);
            reference_spin = motion.spin;
        }

        let keep = 1.0 / (1.0 + step * rest_at(rest_row, REST_DAMPING));
        var velocity = node3(row, NODE_VELOCITY);
        velocity = velocity + (velocity - node3(row, NODE_OLDER_VELOCITY)) * carried;
        velocity = reference + (velocity - reference) * keep;
        var spin = node3(row, NODE_SPIN);
        let older_frame = turned(frame, -node3(row, NODE_OLDER_TURN));
        let older_spin = carried_over(older_frame, frame, node3(row, NODE_OLDER_SPIN));
        spin = spin + (spin - older_spin) * carried;
        spin = reference_spin + (spin - reference_spin) * keep;
        var rate = node_at(row, NODE_SCALE_RATE);
        rate = (rate + (rate - node_at(row, NODE_OLDER_SCALE_RATE)) * carried) * keep;

        let last_velocity = node3(row, NODE_VELOCITY);
        let last_spin = node3(row, NODE_SPIN);
        var fall = gravity;
        if is_pushed(chain) {
            fall = gravity + force_on(chain, index, FORCE_ACCELERATION);
        }
        let predicted_move = node3(row, NODE_OLDER_MOVE) * carried + velocity * step + fall * (step * step);
        let predicted_scale = between(
            scale + node_at(row, NODE_OLDER_SCALING) * carried + rate * step,
            scale * (1.0 / SCALE_LIMIT),
            scale * SCALE_LIMIT,
        );
        let turn = node3(row, NODE_OLDER_TURN) * carried + spin * step;
        // By an angle so large: turned takes twice the tangent of its half, 2 tan(φ/2) = φ(1 + φ²/12 + …).
        let predicted_frame = turned(frame, turn * (1.0 + dot(turn, turn) * (1.0 / 12.0)));

        var iterate_frame = predicted_frame;
        if moving {
            iterate_frame = turned(predicted_frame, jump_turn);
        }
        // What hangs, or lies on others, will not fall: of the fall it begins with as much as it fell in the last substep. A solve
        // from where gravity alone would bring it is wrong by the square of that way. It begins no higher than it is for that:
        // what was thrown up would begin off the ground that it lies on, and be let through.
        let gained = (last_velocity - node3(row, NODE_OLDER_VELOCITY)) * inv_h;
        let inv_fall2 = 1.0 / larger(dot(fall, fall), MIN_POSITIVE);
        let fallen = dot(gained, fall) * inv_fall2;
        let held = step * step * (1.0 - between(fallen, 0.0, 1.0)) * held_back;
        var first_move = predicted_move + jump;
        first_move = first_move - fall * smaller(held, larger(dot(first_move, fall) * inv_fall2, 0.0));
        if rest_at(rest_row, REST_FREE_FRAME) < 0.5 {
            // All of a substep has what is held by one of its two quaternions, which energies tell apart: by that which it turns to
            // the shorter way, as all turns are taken. What was predicted of an end that snapped round says nothing of its sign.
            set_node4(row, NODE_TARGET_FRAME, beside(node4(row, NODE_TARGET_FRAME), frame));
        }
        let iterate = placed_held(Placed(first_move, predicted_scale, iterate_frame), chain, index, place);

        set_node3(row, NODE_OLDER_VELOCITY, last_velocity);
        set_node3(row, NODE_VELOCITY, velocity + fall * step);
        set_node3(row, NODE_OLDER_SPIN, last_spin);
        set_node3(row, NODE_SPIN, carried_over(frame, predicted_frame, spin));
        set_node3(row, NODE_PREV_PLACE, place);
        set_node(row, NODE_PREV_SCALE, scale);
        set_node4(row, NODE_PREV_FRAME, frame);
        set_node3(row, NODE_PREDICTED_MOVE, predicted_move);
        set_node(row, NODE_PREDICTED_SCALE, predicted_scale);
        set_node4(row, NODE_PREDICTED_FRAME, predicted_frame);
        store_placed(iterate, row);
    }

    // Where nothing that stores energy has changed since the last solve ended, that much is stored.
    var stored = chain_at(chain.chain, CHAIN_POTENTIAL);
    let inv_step = inv_h * (1.0 + second_order * 0.5);
    let stiff = is_stiff(chain, inv_step * inv_step);
    if moving || contracting || stiff || !known(chain) {
        stored = stored_at_start(chain, inv_step * inv_step, contracting, excitation_of(chain));
    }
    set_chain(chain.chain, CHAIN_START_POTENTIAL, stored);
    set_chain(chain.chain, CHAIN_ACTIVATION, input_at(chain.input, INPUT_ACTIVATION));
    set_chain(chain.chain, CHAIN_ROUGH, 0.0);
    set_chain(chain.chain, CHAIN_CALM, 1.0);
}

// What the game adds to the velocities of the chain, or puts in their place; what bones hold goes with these. The second-order
// step does without what was before. `count` is the chain's nodes, or none.
fn kick(chain: Chain, count: u32) {
    let kept = input_at(chain.input, INPUT_KEPT);
    let at_origin = input3(chain.input, INPUT_KICK_VELOCITY);
    let kick_spin = input3(chain.input, INPUT_KICK_SPIN);
    for (var index = 0u; index < count; index++) {
        let row = node_row_of(chain, index);
        var kicked = node3(row, NODE_VELOCITY);
        if rest_at(rest_row_of(chain, index), REST_FREE_PLACE) > 0.5 {
            kicked = kicked * kept + (at_origin + cross(kick_spin, node3(row, NODE_PLACE)));
            set_node3(row, NODE_SPIN, node3(row, NODE_SPIN) * kept + kick_spin);
        }
        if is_pushed(chain) {
            kicked = kicked + force_on(chain, index, FORCE_VELOCITY);
        }
        set_node3(row, NODE_VELOCITY, kicked);
        set_node(row, NODE_SCALE_RATE, node_at(row, NODE_SCALE_RATE) * kept);
    }
    if count > 0u {
        set_chain(chain.chain, CHAIN_HISTORY, smaller(chain_at(chain.chain, CHAIN_HISTORY), 0.0));
    }
}

// Whether the game has forces or impulses on nodes of the chain's group.
fn is_pushed(chain: Chain) -> bool {
    return input_at(chain.input, INPUT_FORCES) >= 0.0;
}

// Three entries of a node's force row.
fn force_on(chain: Chain, index: u32, entry: u32) -> vec3<f32> {
    // The chain's first input word is its lane's.
    let at = word(u32(input_at(chain.input, INPUT_FORCES)) + index, FORCE_ENTRIES, entry, chain.input % LANES);
    return vec3<f32>(force_rows[at], force_rows[at + LANES], force_rows[at + 2u * LANES]);
}

// Fibre stretch of every segment, before anything moves, and the mean of those that contract, by what they contract with.
fn measure_fibres(chain: Chain) {
    var sum = 0.0;
    var whole_weight = 0.0;
    var here = load_section(node_row_of(chain, 0u));
    for (var index = 0u; index + 1u < chain.node_count; index++) {
        var rest_row = load_rest_row(rest_row_of(chain, index));
        let next = load_section(node_row_of(chain, index + 1u));
        let stretch = fibre_stretch(measure(here, next, rest_row[REST_INV_LENGTH]), &rest_row);
        let weight = rest_row[REST_ACTIVE];
        sum = sum + weight * stretch;
        whole_weight = whole_weight + weight;
        set_node(node_row_of(chain, index), NODE_PREV_FIBRE_STRETCH, stretch);
        here = next;
    }
    set_chain(chain.chain, CHAIN_MEAN_STRETCH, where_less(0.0, whole_weight, sum / whole_weight, 1.0));
}

struct BoneMotion {
    displacement: vec3<f32>,
    turn: vec3<f32>,
}

// How far the bones that carry a node, moving from one stored pose to another, carry a point (m) and turn it (rad); a point
// that is farther from a bone than `reach` (m), as one as far as that.
fn bone_motion(chain: Chain, earlier: u32, later: u32, along: f32, point: vec3<f32>, reach: f32) -> BoneMotion {
    let slot = between(floor(along), 0.0, f32(MAX_BONES) - 2.0);
    let fraction = along - slot;
    let first = motion_of_slot(chain, earlier, later, slot, point, reach);
    let second = motion_of_slot(chain, earlier, later, slot + 1.0, point, reach);
    return BoneMotion(
        first.displacement + (second.displacement - first.displacement) * fraction,
        first.turn + (second.turn - first.turn) * fraction,
    );
}

fn motion_of_slot(chain: Chain, earlier: u32, later: u32, slot: f32, point: vec3<f32>, reach: f32) -> BoneMotion {
    let bone_before = bone_of_slot(earlier, slot);
    let bone_after = bone_of_slot(later, slot);
    let origin = chain3(chain.chain, bone_before);
    let from_frame = chain4(chain.chain, bone_before + 3u);
    let to_frame = chain4(chain.chain, bone_after + 3u);
    let turn = product(to_frame, conjugate(from_frame));
    let axis = turn.xyz;
    let arm = point - origin;
    let reach2 = reach * reach;
    let swept = cross(axis, arm * sqrt(reach2 / larger(larger(dot(arm, arm), reach2), MIN_POSITIVE)));
    let displacement = chain3(chain.chain, bone_after) - origin + (swept * turn.w + cross(axis, swept)) * 2.0;
    return BoneMotion(displacement, turn_to(from_frame, to_frame));
}
