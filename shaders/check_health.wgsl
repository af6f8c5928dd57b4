// Stage check_health: a chain that is where flesh cannot be, for longer than it takes to come back by itself, is laid anew
// along its bones; the twin of src/cpu/check_health.rs, which says what each bound is.

const MOST_STRETCH: f32 = 4.0;
const MOST_OFF: f32 = 2.5;
const MOST_SWELLING: f32 = 8.0;
const LEAST_TURN_DOT2: f32 = 0.0625;
const LEAST_FILL: f32 = 0.02;
const TAUT: f32 = 2.0;
const LIMP: f32 = 16.0;
const FOLDED: f32 = 0.2;
const PATIENCE: f32 = 0.5;
const JERKED_HASTE: f32 = 0.125;
const SHAPE_HASTE: f32 = 0.25;
const FINITE: f32 = 1.0e30;

// A section of a path.
struct PathSection {
    place: vec3<f32>,
    frame: Quaternion,
    tangent: vec3<f32>,
    scale: f32,
}

// Where a node is.
fn section_of_node(chain: Chain, index: u32) -> PathSection {
    let row = node_row_of(chain, index);
    let frame = node4(row, NODE_FRAME);
    return PathSection(node3(row, NODE_PLACE), frame, axes_of(frame)[2], node_at(row, NODE_SCALE));
}

// Where its bones carry it at the frame's end.
fn section_carried(chain: Chain, index: u32) -> PathSection {
    let there = carried_in_input(chain, index, INPUT_BONE_TO);
    return PathSection(there.place, there.frame, axes_of(there.frame)[2], 1.0);
}

// What a path of sections is like at its worst.
struct Extent {
    stretch2: f32,
    turn_dot2: f32,
    fill: f32,
    spread: f32,
    most: f32,
    least: f32,
}

// With one more segment, of 1 over its rest length; of padding, 0.
fn extended(extent: Extent, inv_length: f32, a: PathSection, b: PathSection) -> Extent {
    let along = b.place - a.place;
    let spread = dot(along, along) * inv_length;
    let cosine = larger(dot(a.frame, b.frame), 0.0);
    let scale = (a.scale + b.scale) * 0.5;
    let fill = dot(a.tangent + b.tangent, along) * (0.5 * inv_length) * (scale * scale);
    let own = where_less(0.0, inv_length, b.scale, 1.0);
    return Extent(
        larger(extent.stretch2, spread * inv_length),
        smaller(extent.turn_dot2, where_less(0.0, inv_length, cosine * cosine, 1.0)),
        smaller(extent.fill, where_less(0.0, inv_length, fill, 1.0)),
        extent.spread + spread,
        larger(extent.most, own),
        smaller(extent.least, own),
    );
}

// One where the path's stretch is within its bound.
fn stretched_within(extent: Extent, stretch: f32) -> f32 {
    return where_less(extent.stretch2, stretch * stretch, 1.0, 0.0);
}

// One where its turns, by the square of a cosine, and volumes are within bounds.
fn shaped_within(extent: Extent, turn_dot2: f32) -> f32 {
    let fine = where_less(turn_dot2, extent.turn_dot2, 1.0, 0.0);
    return smaller(fine, where_less(LEAST_FILL, extent.fill, 1.0, 0.0));
}

// One where none of its sections is swollen too much.
fn swollen_within(extent: Extent) -> f32 {
    return where_less(extent.most, MOST_SWELLING, 1.0, 0.0);
}

// One where none of its sections is too thin, where so much stretch is.
fn thinned_within(extent: Extent, stretch: f32) -> f32 {
    let thinnest = 0.5 / sqrt(stretch);
    return where_less(thinnest, extent.least, 1.0, 0.0);
}

// Lays chains anew that are no longer where flesh can be.
@compute @workgroup_size(WORKGROUP_SIZE)
fn check_health(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let chain = lone_chain_of(thread_of(invocation));
    if chain.node_count > 0u && is_lost(chain) {
        lay_anew(chain);
    }
}

// As check_health, of chains that hang on each other: where one is lost all of its tree is laid anew, and joined.
@compute @workgroup_size(WORKGROUP_SIZE)
fn check_health_trees(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let chain = tree_chain_of(thread_of(invocation));
    let depth = depth_of(chain);
    if chain.node_count > 0u {
        tell(local, 0u, select(0.0, 1.0, is_lost(chain)));
    }
    workgroupBarrier();
    let lost = chain.node_count > 0u && most_of_tree(chain, local, 0u) > 0.5;
    if lost {
        lay_anew(chain);
    }
    for (var level_count = 0u; level_count < params.level_count; level_count++) {
        storageBarrier();
        workgroupBarrier();
        if lost && depth == level_count {
            join(chain);
        }
    }
}

// Moves a chain that was laid anew, as it is, to where it hangs, and gives it its stem's velocity.
fn join(chain: Chain) {
    if tree_at(chain, TREE_STEM) < 0.0 {
        return;
    }
    let joint = joint_now(chain);
    let stem = stem_of(chain);
    let velocity = node3(node_row_of(stem, stem_node_of(chain)), NODE_VELOCITY);
    let last = hung_row_of(chain);
    let old_place = node3(last, NODE_PREV_PLACE);
    let place = old_place + joint.moved;
    let turn = product(joint.frame, conjugate(node4(last, NODE_FRAME)));
    let count = u32(tree_at(chain, TREE_NODE)) + 1u;
    for (var index = 0u; index < count; index++) {
        let row = node_row_of(chain, index);
        let to = place + rotate(turn, node3(row, NODE_PLACE) - old_place);
        let frame = normalised(product(turn, node4(row, NODE_FRAME)));
        set_node3(row, NODE_PLACE, to);
        set_node3(row, NODE_PREV_PLACE, to);
        set_node4(row, NODE_FRAME, frame);
        set_node4(row, NODE_PREV_FRAME, frame);
        set_node4(row, NODE_PREDICTED_FRAME, frame);
        set_node3(row, NODE_VELOCITY, velocity);
        set_node3(row, NODE_OLDER_VELOCITY, velocity);
        set_node3(row, NODE_SPIN, vec3<f32>());
        set_node3(row, NODE_OLDER_SPIN, vec3<f32>());
    }
}

fn lay_anew(chain: Chain) {
    lay(chain, INPUT_BONE_TO);
    set_chain(chain.chain, CHAIN_RESETS, chain_at(chain.chain, CHAIN_RESETS) + 1.0);
}

// Counts for how long the chain has been out of bounds; whether it is for too long, or where nothing is.
fn is_lost(chain: Chain) -> bool {
    let flags = suspects(chain);
    var ill = flags.y;
    if flags.y > 0.5 {
        let haste = where_less(0.0, input_at(chain.input, INPUT_TELEPORT), JERKED_HASTE, 1.0);
        ill = smaller(flags.y, out_of_bounds(chain)) * haste;
    }
    let before = chain_at(chain.chain, CHAIN_UNWELL);
    let unwell = where_less(0.0, ill, before + params.frame * ill, larger(before - params.frame, 0.0));
    set_chain(chain.chain, CHAIN_UNWELL, unwell);
    return larger(flags.x, where_less(PATIENCE, unwell, 1.0, 0.0)) > 0.5;
}

// Whether the chain itself hangs on a bone: what hangs on a chain is where that is, and what is free anywhere.
fn hangs_on_bone(chain: Chain) -> bool {
    return input_at(chain.input, INPUT_HANGS) >= 1.0;
}

// What a segment is stretched to by twice what its own weight, or that of its tree, and what the game has on it stretch it by.
fn by_weight(chain: Chain) -> f32 {
    let load = 2.0 * input_at(chain.input, INPUT_LOAD);
    return 1.0 + (sqrt(4.0 * dot(params.gravity, params.gravity)) + load) * rest_at(chain.rest, REST_WEIGHT_STRETCH);
}

// One where the chain is a thread where it is stretched by so much.
fn limp(chain: Chain, strain: f32) -> f32 {
    let inv_length = rest_at(chain.rest, REST_INV_LENGTH);
    let bending =
        smaller(rest_at(chain.rest, REST_BEND_U), rest_at(chain.rest, REST_BEND_V)) * (inv_length * inv_length);
    return where_less(bending * LIMP, strain * rest_at(chain.rest, REST_AXIAL), 1.0, 0.0);
}

// One where a number of the chain is no longer one; one where it may be out of bounds.
fn suspects(chain: Chain) -> vec2<f32> {
    let first = section_of_node(chain, 0u);
    var extent = Extent(0.0, 1.0, 1.0, 0.0, first.scale, first.scale);
    var here = first;
    var size = size_of(chain, 0u, first);
    var unit = dot(first.frame, first.frame);
    for (var index = 1u; index < chain.node_count; index++) {
        let next = section_of_node(chain, index);
        extent = extended(extent, rest_at(rest_row_of(chain, index - 1u), REST_INV_LENGTH), here, next);
        // A sum, not the largest: that would pass over what is no number.
        size = size + size_of(chain, index, next);
        unit = smaller(unit, dot(next.frame, next.frame));
        here = next;
    }
    // A frame of no length is none.
    let broken = select(1.0, 0.0, is_number(size) && size < FINITE && is_number(unit) && 0.5 < unit);

    let whole = rest_at(chain.rest, REST_LENGTH);
    let off = first.place - section_carried(chain, 0u).place;
    let distance_off = select(0.0, sqrt(dot(off, off)), hangs_on_bone(chain));
    let heavy = by_weight(chain);
    let stretch = larger(MOST_STRETCH, heavy);
    let scaled = smaller(swollen_within(extent), thinned_within(extent, stretch));
    var fine = smaller(stretched_within(extent, stretch), scaled);
    fine = smaller(fine, shaped_within(extent, LEAST_TURN_DOT2));
    let reach = (larger(MOST_OFF, heavy) - 1.0) * whole;
    let length_most = sqrt(extent.spread * whole);
    fine = smaller(fine, where_less(distance_off + length_most, reach, 1.0, 0.0));
    // Padding has no length.
    return vec2<f32>(broken, larger(where_less(0.0, whole, 1.0 - fine, 0.0), broken));
}

// What is not finite, or as good as that, where any number of a node's section or of its motion is not.
fn size_of(chain: Chain, index: u32, section: PathSection) -> f32 {
    let row = node_row_of(chain, index);
    let velocity = node3(row, NODE_VELOCITY);
    let spin = node3(row, NODE_SPIN);
    let rate = node_at(row, NODE_SCALE_RATE);
    let pose = dot(section.place, section.place) + dot(section.frame, section.frame) + section.scale * section.scale;
    return pose + dot(velocity, velocity) + dot(spin, spin) + rate * rate;
}

// How fast time counts in which the chain is out of bounds: 0 where it is not.
fn out_of_bounds(chain: Chain) -> f32 {
    var here = section_of_node(chain, 0u);
    var carried_here = section_carried(chain, 0u);
    var extent = Extent(0.0, 1.0, 1.0, 0.0, here.scale, here.scale);
    var path = Extent(0.0, 1.0, 1.0, 0.0, 1.0, 1.0);
    var off = here.place - carried_here.place;
    var off2 = dot(off, off);
    for (var index = 1u; index < chain.node_count; index++) {
        let inv_length = rest_at(rest_row_of(chain, index - 1u), REST_INV_LENGTH);
        let next = section_of_node(chain, index);
        var carried_next = section_carried(chain, index);
        carried_next.frame = beside(carried_next.frame, carried_here.frame);
        extent = extended(extent, inv_length, here, next);
        path = extended(path, inv_length, carried_here, carried_next);
        off = next.place - carried_next.place;
        off2 = larger(off2, where_less(0.0, inv_length, dot(off, off), 0.0));
        here = next;
        carried_here = carried_next;
    }
    off2 = select(0.0, off2, hangs_on_bone(chain));

    let rest_length = rest_at(chain.rest, REST_LENGTH);
    let whole = larger(rest_length, sqrt(path.spread * rest_length));
    let heavy = by_weight(chain);
    let drawn = larger(sqrt(path.stretch2), 1.0);
    let stretch = larger(MOST_STRETCH * drawn, heavy);
    let pulled = larger(drawn, heavy);
    let taut = larger(where_less(TAUT, pulled, 1.0, 0.0), limp(chain, pulled - 1.0));
    let folded = where_less(path.fill, FOLDED, 1.0, 0.0);
    let turn_dot2 = smaller(LEAST_TURN_DOT2, path.turn_dot2 * 0.5);
    let reach = larger(MOST_OFF, heavy) * whole;
    var fine = smaller(stretched_within(extent, stretch), where_less(off2, reach * reach, 1.0, 0.0));
    let pressed = pressed_freely(chain);
    let scaled = smaller(swollen_within(extent), larger(thinned_within(extent, stretch), pressed));
    fine = smaller(fine, larger(scaled, folded));
    let shaped = larger(larger(larger(shaped_within(extent, turn_dot2), taut), folded), pressed);
    return larger(1.0 - fine, (1.0 - shaped) * SHAPE_HASTE);
}

// One where the chain itself hangs on no bones and something presses on it.
fn pressed_freely(chain: Chain) -> f32 {
    var force = chain_at(chain.chain, CHAIN_MEETS);
    let count = row_count_of(chain);
    for (var slot = 0u; slot < count; slot++) {
        force = larger(force, contact_at(row_of(chain, slot), CONTACT_DUAL));
    }
    return where_less(0.0, force, select(1.0, 0.0, hangs_on_bone(chain)), 0.0);
}
