// What brings a chain where its bones are at once, how it is laid anew, and where the poses that the host gives carry it; the twin of
// src/cpu/lay.rs, and of src/cpu/carry.rs for input rows.

@group(0) @binding(8) var<storage, read_write> reaction_rows: array<f32>;

const WITHIN_REACH: f32 = 1.0e6;

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

// Brings a chain whose bones are elsewhere at the frame's start there.
fn teleport(chain: Chain) {
    let teleports = input_at(chain.input, INPUT_TELEPORT);
    if teleports < 0.5 {
        return;
    }
    let inv_frame = 1.0 / params.frame;
    var turn_before = Quaternion();
    for (var index = 0u; index < chain.node_count; index++) {
        let old = carried_in_chain(rest_row_of(chain, index), chain.chain, CHAIN_BONE_NOW);
        let new_pose = carried_in_input(chain, index, INPUT_BONE_FROM);
        let turn = beside(product(new_pose.frame, conjugate(old.frame)), turn_before);
        turn_before = turn;
        let row = node_row_of(chain, index);
        set_node3(row, NODE_PLACE, new_pose.place + rotate(turn, node3(row, NODE_PLACE) - old.place));
        set_node4(row, NODE_FRAME, normalised(product(turn, node4(row, NODE_FRAME))));
        if teleports < 1.0 {
            // It stayed behind while its bones moved on, and moves as they do.
            let bone_to = carried_in_input(chain, index, INPUT_BONE_TO);
            set_node3(row, NODE_VELOCITY, (bone_to.place - new_pose.place) * inv_frame);
            set_node3(row, NODE_SPIN, turn_on(new_pose.frame, bone_to.frame) * inv_frame);
        } else {
            set_node3(row, NODE_VELOCITY, rotate(turn, node3(row, NODE_VELOCITY)));
            set_node3(row, NODE_SPIN, rotate(turn, node3(row, NODE_SPIN)));
        }
    }
    forget_contacts(chain);
    if teleports > 1.5 {
        lay(chain, INPUT_BONE_FROM);
    }
    for (var entry = 0u; entry < MAX_BONES * POSE; entry++) {
        let pose = input_at(chain.input, INPUT_BONE_FROM + entry);
        set_chain(chain.chain, CHAIN_BONE_OLDER + entry, pose);
        set_chain(chain.chain, CHAIN_BONE_PREV + entry, pose);
        set_chain(chain.chain, CHAIN_BONE_NOW + entry, pose);
    }
    set_chain(chain.chain, CHAIN_HISTORY, 0.0);
}

// Lays the chain anew where its bones carry it at the frame's start or end, whichever the input row has from `at` on, with
// the bones' mean motion in the frame as its velocity and no stretch. A free chain goes where its mass is, as fast as that,
// turned as its first node; where these are no longer anywhere, where the root carries it.
fn lay(chain: Chain, at: u32) {
    let inv_frame = 1.0 / params.frame;
    let free = is_free(chain);
    var adrift = Adrift();
    if free {
        adrift = adrift_of(chain, at);
    }
    var frame_before = Quaternion();
    for (var index = 0u; index < chain.node_count; index++) {
        var there = carried_in_input(chain, index, at);
        let bone_from = carried_in_input(chain, index, INPUT_BONE_FROM);
        let bone_to = carried_in_input(chain, index, INPUT_BONE_TO);
        var velocity = (bone_to.place - bone_from.place) * inv_frame;
        var spin = turn_on(bone_from.frame, bone_to.frame) * inv_frame;
        if free {
            velocity = adrift.velocity;
            spin = vec3<f32>();
            if adrift.is_known {
                there.place = adrift.centre + rotate(adrift.turn, there.place - adrift.carried_centre);
                there.frame = normalised(product(adrift.turn, there.frame));
            }
        }
        there.frame = beside(there.frame, frame_before);
        frame_before = there.frame;
        let row = node_row_of(chain, index);
        set_node3(row, NODE_PLACE, there.place);
        set_node3(row, NODE_PREV_PLACE, there.place);
        set_node4(row, NODE_FRAME, there.frame);
        set_node4(row, NODE_PREV_FRAME, there.frame);
        set_node4(row, NODE_PREDICTED_FRAME, there.frame);
        set_node3(row, NODE_VELOCITY, velocity);
        set_node3(row, NODE_OLDER_VELOCITY, velocity);
        set_node3(row, NODE_SPIN, spin);
        set_node3(row, NODE_OLDER_SPIN, spin);
        set_node3(row, NODE_MOVED, vec3<f32>());
        set_node3(row, NODE_PREDICTED_MOVE, vec3<f32>());
        set_node3(row, NODE_OLDER_MOVE, vec3<f32>());
        set_node3(row, NODE_OLDER_TURN, vec3<f32>());
        set_node(row, NODE_SCALE, 1.0);
        set_node(row, NODE_PREV_SCALE, 1.0);
        set_node(row, NODE_PREDICTED_SCALE, 1.0);
        set_node(row, NODE_PREV_FIBRE_STRETCH, 1.0);
        set_node(row, NODE_SCALE_RATE, 0.0);
        set_node(row, NODE_OLDER_SCALE_RATE, 0.0);
        set_node(row, NODE_OLDER_SCALING, 0.0);
    }
    forget_contacts(chain);
    for (var index = 0u; index < chain.node_count; index++) {
        let reaction = rest_at(rest_row_of(chain, index), REST_REACTION);
        for (var entry = 0u; entry < REACTION_ENTRIES && reaction >= 0.0; entry++) {
            reaction_rows[chain.reactions + (u32(reaction) * REACTION_ENTRIES + entry) * LANES] = 0.0;
        }
    }
    // What was known of the chain is no longer so.
    set_chain(chain.chain, CHAIN_HISTORY, 0.0);
    set_chain(chain.chain, CHAIN_MEAN_STRETCH, 1.0);
    set_chain(chain.chain, CHAIN_START_POTENTIAL, 0.0);
    set_chain(chain.chain, CHAIN_POTENTIAL, -1.0);
    set_chain(chain.chain, CHAIN_ROUGH, 0.0);
    set_chain(chain.chain, CHAIN_CALM, 1.0);
    set_chain(chain.chain, CHAIN_UNWELL, 0.0);
}

// Where a free chain is laid anew.
struct Adrift {
    is_known: bool,
    centre: vec3<f32>,
    // 0 where it is not known.
    velocity: vec3<f32>,
    // Where the root carries the centre (m).
    carried_centre: vec3<f32>,
    // From how the root carries it.
    turn: Quaternion,
}

fn adrift_of(chain: Chain, at: u32) -> Adrift {
    var mass = 0.0;
    var moment = vec3<f32>();
    var momentum = vec3<f32>();
    var carried_moment = vec3<f32>();
    for (var index = 0u; index < chain.node_count; index++) {
        let rest_row = rest_row_of(chain, index);
        let row = node_row_of(chain, index);
        let m = weight_of(rest_row, REST_MASS);
        mass = mass + m;
        moment = moment + node3(row, NODE_PLACE) * m;
        momentum = momentum + node3(row, NODE_VELOCITY) * m;
        carried_moment = carried_moment + carried_in_input(chain, index, at).place * m;
    }
    let inv_mass = 1.0 / where_less(0.0, mass, mass, 1.0);
    let centre = moment * inv_mass;
    let velocity = momentum * inv_mass;
    let carried_frame = carried_in_input(chain, 0u, at).frame;
    let turn = product(node4(node_row_of(chain, 0u), NODE_FRAME), conjugate(carried_frame));
    let far = WITHIN_REACH * WITHIN_REACH;
    let turned = dot(turn, turn);
    let is_known = dot(centre, centre) < far && dot(velocity, velocity) < far && turned < 4.0 && 0.25 < turned;
    return Adrift(is_known, centre, select(vec3<f32>(), velocity, is_known), carried_moment * inv_mass, normalised(turn));
}
