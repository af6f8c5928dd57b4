// Where the poses that the host gives for a frame carry a chain, as carry.wgsl has it; the twin of src/cpu/carry.rs too.

// A bone's pose in the input row.
fn input_bone(chain: Chain, at: u32) -> Carried {
    return Carried(input3(chain.input, at), input4(chain.input, at + 3u));
}

// As carried_in_chain, of the poses stored in the input row.
fn carried_in_input(chain: Chain, index: u32, at: u32) -> Carried {
    let rest_row = rest_row_of(chain, index);
    let slot = rest_at(rest_row, REST_HOLD_SLOT);
    var bone = input_bone(chain, bone_of_slot(at, slot));
    bone.frame = input_bone(chain, bone_of_slot(at, rest_at(rest_row, REST_TURN_SLOT))).frame;
    if is_free(chain) {
        return on_bone(bone, rest_row, REST_HOLD_PLACE);
    }
    var next = input_bone(chain, bone_of_slot(at, slot + 1.0));
    next.frame = input_bone(chain, bone_of_slot(at, rest_at(rest_row, REST_NEXT_TURN_SLOT))).frame;
    return between_bones(rest_row, bone, next);
}

// Whether the chain hangs on no bone.
fn is_free(chain: Chain) -> bool {
    return input_at(chain.input, INPUT_HANGS) < 0.5;
}
