// Stage move_bones: where the bones and the nodes that they hold are at this substep's end; the twin of
// src/cpu/move_bones.rs.

// Interpolates the bones of every chain through the frame and sets the targets of the nodes that they hold or carry.
@compute @workgroup_size(WORKGROUP_SIZE)
fn move_bones(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = chain_of(thread_of(invocation));
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
        let from_entry = INPUT_BONE_FROM + offset;
        let to_entry = INPUT_BONE_TO + offset;
        let from_place = input3(chain.input, from_entry);
        // What carries a free chain is not what it hangs on.
        if is_free(chain) {
            continue;
        }
        let place = from_place + (input3(chain.input, to_entry) - from_place) * params.alpha;
        let frame = blend(input4(chain.input, from_entry + 3u), input4(chain.input, to_entry + 3u), params.alpha);
        set_chain3(chain.chain, CHAIN_BONE_NOW + offset, place);
        set_chain4(chain.chain, CHAIN_BONE_NOW + offset + 3u, frame);
    }
    for (var index = 0u; index < chain.node_count; index++) {
        if is_carried(rest_row_of(chain, index)) {
            set_target(chain, index);
        }
    }
}

// Where the bone that holds or carries the node wants it.
fn set_target(chain: Chain, index: u32) {
    let rest_row = rest_row_of(chain, index);
    let bone = bone_of_slot(CHAIN_BONE_NOW, rest_at(rest_row, REST_HOLD_SLOT));
    let bone_place = chain3(chain.chain, bone);
    let bone_frame = chain4(chain.chain, bone + 3u);
    let place = bone_place + rotate(bone_frame, rest3(rest_row, REST_HOLD_PLACE));
    var frame = normalised(product(bone_frame, rest4(rest_row, REST_HOLD_FRAME)));
    if index > 0u && index + 1u < chain.node_count {
        // Where the bone holds the frame, it guides along that.
        let turns = rest_at(rest_row, REST_SLIDES) * rest_at(rest_row, REST_FREE_FRAME);
        if turns > 0.5 {
            frame = along_path(chain, index, frame);
        }
    }
    let row = node_row_of(chain, index);
    set_node3(row, NODE_TARGET_PLACE, place);
    set_node4(row, NODE_TARGET_FRAME, frame);
}

// The frame of a node that slides, turned the shortest way so that its w halves the angle between the path's two
// segments: across that, tension is the same on both sides of a via point.
fn along_path(chain: Chain, index: u32, frame: Quaternion) -> Quaternion {
    let here = node3(node_row_of(chain, index), NODE_PLACE);
    let before = here - node3(node_row_of(chain, index - 1u), NODE_PLACE);
    let after = node3(node_row_of(chain, index + 1u), NODE_PLACE) - here;
    let path = direction(before) + direction(after);
    let w = axes_of(frame)[2];
    // Against w there is no shortest way.
    let cosine = larger(sqrt(dot(path, path)) + dot(w, path), 1.0e-3);
    return normalised(product(Quaternion(cross(w, path), cosine), frame));
}

// Carries every place over to the chain's new origin.
fn shift_origin(chain: Chain) {
    let shift = input3(chain.input, INPUT_ORIGIN_SHIFT);
    for (var pose = 0u; pose < 3u * MAX_BONES; pose++) {
        let at = CHAIN_BONE_OLDER + pose * POSE;
        set_chain3(chain.chain, at, chain3(chain.chain, at) - shift);
    }
    for (var index = 0u; index < chain.node_count; index++) {
        let row = node_row_of(chain, index);
        set_node3(row, NODE_PLACE, node3(row, NODE_PLACE) - shift);
        let along = dot(node3(row, NODE_CONTACT_NORMAL), shift);
        set_node(row, NODE_CONTACT_OFFSET, node_at(row, NODE_CONTACT_OFFSET) - along);
    }
}
