// Stage move_bones: where the bones and the nodes that they hold are at this substep's end; the twin of
// src/cpu/move_bones.rs.

// Interpolates the bones of every chain through the frame and sets the targets of the nodes that they hold; of those that they
// carry, where fascia asks for them.
@compute @workgroup_size(WORKGROUP_SIZE)
fn move_bones(@builtin(global_invocation_id) invocation: vec3<u32>) {
    // Flesh that only goes with its bones is brought there once a frame.
    let count = params.group_count + params.carried_count * params.first_substep;
    let chain = chain_at_work(thread_of(invocation), count);
    if chain.node_count == 0u {
        return;
    }
    if params.first_substep != 0u {
        shift_origin(chain);
        teleport(chain);
    }
    for (var slot = 0u; slot < MAX_BONES; slot++) {
        let offset = slot * POSE;
        for (var entry = 0u; entry < POSE; entry++) {
            let prev = chain_at(chain.chain, CHAIN_BONE_PREV + offset + entry);
            set_chain(chain.chain, CHAIN_BONE_OLDER + offset + entry, prev);
            let now = chain_at(chain.chain, CHAIN_BONE_NOW + offset + entry);
            set_chain(chain.chain, CHAIN_BONE_PREV + offset + entry, now);
        }
        // What carries a free chain is not what it hangs on.
        if is_free(chain) {
            continue;
        }
        let bone_from = input_bone(chain, INPUT_BONE_FROM + offset);
        let bone_to = input_bone(chain, INPUT_BONE_TO + offset);
        var bone = between_poses(bone_from, bone_to, params.alpha);
        if slot > 0u {
            // Against the bone before, about which it may turn: what is linked stays linked on the way.
            let before = offset - POSE;
            let against_from = against(input_bone(chain, INPUT_BONE_FROM + before), bone_from);
            let against_to = against(input_bone(chain, INPUT_BONE_TO + before), bone_to);
            let linked = between_poses(against_from, against_to, params.alpha);
            let now = chain_bone(chain.chain, CHAIN_BONE_NOW + before);
            bone.place = now.place + rotate(now.frame, linked.place);
            bone.frame = normalised(product(now.frame, linked.frame));
        }
        set_chain3(chain.chain, CHAIN_BONE_NOW + offset, bone.place);
        set_chain4(chain.chain, CHAIN_BONE_NOW + offset + 3u, bone.frame);
    }
    let tied = is_tied(chain);
    for (var index = 0u; index < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let asked = is_held(rest_row) || rest_at(rest_row, REST_SLIDES) > 0.5;
        if tied || asked {
            set_target(chain, index);
        }
    }
    if tied {
        refer(chain);
    }
}

// A pose in another one's frame.
fn against(frame: Carried, pose: Carried) -> Carried {
    let back = conjugate(frame.frame);
    return Carried(rotate(back, pose.place - frame.place), product(back, pose.frame));
}

// From one pose (α = 0) to another (α = 1).
fn between_poses(first: Carried, second: Carried, alpha: f32) -> Carried {
    return Carried(first.place + (second.place - first.place) * alpha, blend(first.frame, second.frame, alpha));
}

// Where the bone that holds the node, or those that carry it, want it.
fn set_target(chain: Chain, index: u32) {
    let rest_row = rest_row_of(chain, index);
    var there = carried_in_chain(rest_row, chain.chain, CHAIN_BONE_NOW);
    if rest_at(rest_row, REST_TURNS) > 0.5 {
        let here = node3(node_row_of(chain, index), NODE_PLACE);
        var path = vec3<f32>();
        if index > 0u {
            path = path + direction(here - node3(node_row_of(chain, index - 1u), NODE_PLACE));
        }
        if index + 1u < chain.node_count && goes_on(chain, index) {
            path = path + direction(node3(node_row_of(chain, index + 1u), NODE_PLACE) - here);
        }
        // Across the path that halves the angle of its two segments, tension is the same on both sides of a via point.
        there.frame = turned_along(there.frame, path);
    }
    let row = node_row_of(chain, index);
    set_node3(row, NODE_TARGET_PLACE, there.place);
    set_node4(row, NODE_TARGET_FRAME, there.frame);
}

// Carries every place over to the chain's new origin; of what is elsewhere at once `teleport` does it.
fn shift_origin(chain: Chain) {
    let origin = input3(chain.input, INPUT_ORIGIN);
    var shift = origin - chain3(chain.chain, CHAIN_ORIGIN);
    set_chain3(chain.chain, CHAIN_ORIGIN, origin);
    if input_at(chain.input, INPUT_TELEPORT) > 0.5 {
        shift = vec3<f32>();
    }
    for (var pose = 0u; pose < 3u * MAX_BONES; pose++) {
        let at = CHAIN_BONE_OLDER + pose * POSE;
        set_chain3(chain.chain, at, chain3(chain.chain, at) - shift);
    }
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        set_node3(row, NODE_PLACE, node3(row, NODE_PLACE) - shift);
    }
}
