// Where a chain's bones carry it; the twin of src/cpu/carry.rs.

// A place (m) and a frame.
struct Carried {
    place: vec3<f32>,
    frame: Quaternion,
}

// A bone's pose in a chain row.
fn chain_bone(chain_row: u32, at: u32) -> Carried {
    return Carried(chain3(chain_row, at), chain4(chain_row, at + 3u));
}

// The pose that a bone gives a node: from its origin, in its frame, that which the rest row has from `at` on.
fn on_bone(bone: Carried, rest_row: u32, at: u32) -> Carried {
    let place = bone.place + rotate(bone.frame, rest3(rest_row, at));
    return Carried(place, normalised(product(bone.frame, rest4(rest_row, at + 3u))));
}

// By how much farther from the joint, over its distance squared, a node goes all the way straight.
const OFF_JOINT: f32 = 0.25;

// Between what one bone and the next make of a node.
fn between_bones(rest_row: u32, bone: Carried, next: Carried) -> Carried {
    let first = on_bone(bone, rest_row, REST_HOLD_PLACE);
    let second = on_bone(next, rest_row, REST_NEXT_PLACE);
    let along = larger(rest_at(rest_row, REST_BONE_BLEND) - rest_at(rest_row, REST_HOLD_SLOT), 0.0);
    let place = first.place + (second.place - first.place) * along;
    return Carried(chord(rest_row, bone, next, place), blend(first.frame, second.frame, along));
}

// The place of a node that two bones carry, straight between what each carries alone as far as that is farther from the joint
// than `place`.
fn chord(rest_row: u32, bone: Carried, next: Carried, place: vec3<f32>) -> vec3<f32> {
    let share = rest_at(rest_row, REST_CHORD_SHARE);
    if share <= 0.0 {
        return place;
    }
    let from_place = bone.place + rotate(bone.frame, rest3(rest_row, REST_CHORD_PLACE));
    let to_place = next.place + rotate(next.frame, rest3(rest_row, REST_CHORD_NEXT));
    let straight = from_place + (to_place - from_place) * share;
    let joint = select(bone.place, next.place, rest_at(rest_row, REST_CHORD_JOINT) > 0.5);
    let far = straight - joint;
    let near = place - joint;
    let near2 = dot(near, near);
    let farther = (dot(far, far) - near2) / larger(near2 * OFF_JOINT, MIN_POSITIVE);
    return place + (straight - place) * between(farther, 0.0, 1.0);
}

// Where bones carry a node: the poses stored in the chain row from `at` on.
fn carried_in_chain(rest_row: u32, chain_row: u32, at: u32) -> Carried {
    let slot = rest_at(rest_row, REST_HOLD_SLOT);
    var bone = chain_bone(chain_row, bone_of_slot(at, slot));
    bone.frame = chain_bone(chain_row, bone_of_slot(at, rest_at(rest_row, REST_TURN_SLOT))).frame;
    var next = chain_bone(chain_row, bone_of_slot(at, slot + 1.0));
    next.frame = chain_bone(chain_row, bone_of_slot(at, rest_at(rest_row, REST_NEXT_TURN_SLOT))).frame;
    return between_bones(rest_row, bone, next);
}
