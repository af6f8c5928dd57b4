// Fascia: each section is tied softly to the path along which bones carry its muscle, and flesh that bones let in rests there;
// the twin of src/cpu/fascia.rs.

// By how much more than its bones a muscle lets itself in.
const TRACE: f32 = 0.02;

// The least share of its length that a segment is let in to.
const LEAST_LENGTH: f32 = 0.1;

// The cosine of the angle to which a muscle goes along its bed: one that lies across is pulled into it.
const ALONG: f32 = 0.5;

// One over minus the cosine of the turn of a path at which a section goes all the way between its neighbours.
const FOLD: f32 = 2.0;

// Farther (m²) than any node is from its bed.
const FARTHEST2: f32 = 1.0e30;

// Sets the strains at which each segment bears no stress, and how firmly each node is tied.
fn refer(chain: Chain) {
    let count = chain.node_count;
    for (var index = 1u; index + 1u < count; index++) {
        unfold(chain, index);
    }

    // What the path is longer than at rest by, and what of the chain can take it.
    var path_length = 0.0;
    var whole = 0.0;
    var giving = 0.0;
    for (var index = 0u; index + 1u < count; index++) {
        let rest_row = rest_row_of(chain, index);
        let inv_length = rest_at(rest_row, REST_INV_LENGTH);
        let length = where_less(0.0, inv_length, 1.0 / inv_length, 0.0);
        let path = chord_of(chain, index);
        path_length = path_length + where_less(0.0, inv_length, sqrt(dot(path, path)), 0.0);
        whole = whole + length;
        giving = giving + length * rest_at(rest_row, REST_LETS_IN);
    }
    let longer = (path_length - whole) / where_less(0.0, giving, giving, 1.0);
    let let_in = smaller(longer, 0.0) * (1.0 + TRACE);
    let taut = larger(longer, 0.0);

    let activation = input_at(chain.input, INPUT_ACTIVATION);
    var here = carried_section(chain, 0u);
    for (var index = 0u; index < count; index++) {
        let rest_row = rest_row_of(chain, index);
        let tie = rest_at(rest_row, REST_FASCIA_TAUT) * taut + rest_at(rest_row, REST_FASCIA_ACTIVE) * activation;
        let row = node_row_of(chain, index);
        set_node(row, NODE_TIE, tie);
        if index + 1u == count {
            break;
        }
        var next = carried_section(chain, index + 1u);
        next.frame = beside(next.frame, here.frame);
        let path = measure(here, next, rest_at(rest_row, REST_INV_LENGTH));
        let share = larger(1.0 + let_in * rest_at(rest_row, REST_LETS_IN), LEAST_LENGTH);
        let follows = rest_at(rest_row, REST_FOLLOWS) > 0.5;

        let built_strain = rest3(rest_row, REST_BUILT_STRAIN);
        let slope = select(built_strain, direction(path.strain), follows) * share;
        let strain = rest3(rest_row, REST_STRAIN) + (slope - built_strain);
        // As thick as keeps the volume.
        let thicker = sqrt(larger(rest_at(rest_row, REST_STRETCH), LEAST_LENGTH) / larger(slope.z, LEAST_LENGTH));
        let built_darboux = rest3(rest_row, REST_BUILT_DARBOUX);
        let bend = select(built_darboux, path.darboux, follows) * thicker;
        let darboux = rest3(rest_row, REST_DARBOUX) + (bend - built_darboux);

        set_node3(row, NODE_REFERENCE_STRAIN, strain);
        set_node3(row, NODE_REFERENCE_DARBOUX, darboux);
        set_node(row, NODE_REFERENCE_SCALE, rest_at(rest_row, REST_SCALE) * thicker);
        here = next;
    }
    let slides = rest_at(rest_row_of(chain, 0u), REST_SLIDES_IN_BED) > 0.5;
    var at = 0.0;
    for (var index = 0u; index < count; index++) {
        var lies = own_place(chain, index);
        if slides {
            lies = bed_of(chain, index, at);
        }
        let row = node_row_of(chain, index);
        set_node3(row, NODE_BED, lies.place);
        set_node3(row, NODE_BED_PATH, lies.path);
        at = lies.at;
    }
}

// Where a section lies in its bed.
struct Bed {
    place: vec3<f32>,
    // The direction in which it may slide there.
    path: vec3<f32>,
    // How many segments along the path that is.
    at: f32,
}

// Where bones carry a section, and the direction of the path there.
fn own_place(chain: Chain, index: u32) -> Bed {
    let place = target_place(chain, index);
    var path = vec3<f32>();
    if index > 0u {
        path = path + direction(chord_of(chain, index - 1u));
    }
    if index + 1u < chain.node_count && goes_on(chain, index) {
        path = path + direction(chord_of(chain, index));
    }
    return Bed(place, direction(path), f32(index));
}

// Where bones that are bent far carry a node beyond the muscle's end, so that the path folds there, it goes between its
// neighbours instead.
fn unfold(chain: Chain, index: u32) {
    let before = target_place(chain, index - 1u);
    let here = target_place(chain, index);
    let after = target_place(chain, index + 1u);
    let cosine = dot(direction(here - before), direction(after - here));
    if rest_at(rest_row_of(chain, index), REST_UNFOLDS) > 0.5 {
        let folded = between(cosine * -FOLD, 0.0, 1.0);
        set_node3(node_row_of(chain, index), NODE_TARGET_PLACE, here + ((before + after) * 0.5 - here) * folded);
    }
}

// The point nearest to a node on the path along which bones carry its chain, as far from its own as that may slide, and not
// before `least`, where the node before lies.
fn bed_of(chain: Chain, index: u32, least: f32) -> Bed {
    let segments = chain.node_count - 1u;
    let place = node3(node_row_of(chain, index), NODE_PLACE);
    let slide = u32(rest_at(rest_row_of(chain, 0u), REST_SLIDES_IN_BED));
    let first = min(max(index, slide) - slide, segments - 1u);
    var here = direction(chord_of(chain, first));
    var before = here;
    if first > 0u {
        before = direction(chord_of(chain, first - 1u));
    }
    var nearest2 = FARTHEST2;
    var bed = target_place(chain, index);
    var path = here;
    var at = larger(f32(index), least);
    for (var k = first; k < min(index + slide, segments); k++) {
        var after = here;
        if k + 1u < segments && goes_on(chain, k + 1u) {
            after = direction(chord_of(chain, k + 1u));
        }
        let origin = target_place(chain, k);
        let along = chord_of(chain, k);
        let start = f32(k);
        let length2 = larger(dot(along, along), MIN_POSITIVE);
        let share = between(larger(dot(place - origin, along) / length2, least - start), 0.0, 1.0);
        let point = origin + along * share;
        let off = place - point;
        let off2 = dot(off, off);
        if goes_on(chain, k) && least <= start + 1.0 && off2 < nearest2 {
            bed = point;
            path = (before + here) * (1.0 - share) + (here + after) * share;
            at = start + share;
            nearest2 = off2;
        }
        before = here;
        here = after;
    }
    path = direction(path);
    if index > 0u && index < segments && goes_on(chain, index) {
        // What presses on a muscle presses across the muscle, and leaves it its tension.
        let ahead = node3(node_row_of(chain, index + 1u), NODE_PLACE);
        let behind = node3(node_row_of(chain, index - 1u), NODE_PLACE);
        let own = direction(direction(ahead - place) + direction(place - behind));
        path = select(path, own, ALONG < dot(own, path));
    }
    return Bed(bed, path, at);
}

// From where bones carry a node to where they carry the next (m).
fn chord_of(chain: Chain, index: u32) -> vec3<f32> {
    return target_place(chain, index + 1u) - target_place(chain, index);
}

fn target_place(chain: Chain, index: u32) -> vec3<f32> {
    return node3(node_row_of(chain, index), NODE_TARGET_PLACE);
}

// Where its bones carry a section, its frame turned the shortest way so that its w halves the angle of the carried path; not
// where a bone holds it, nor at an end.
fn carried_section(chain: Chain, index: u32) -> Section {
    let place = target_place(chain, index);
    var frame = node4(node_row_of(chain, index), NODE_TARGET_FRAME);
    let turns = rest_at(rest_row_of(chain, index), REST_FREE_FRAME) > 0.5 && goes_on(chain, index);
    if index > 0u && index + 1u < chain.node_count && turns {
        let before = target_place(chain, index - 1u);
        let after = target_place(chain, index + 1u);
        frame = turned_along(frame, direction(place - before) + direction(after - place));
    }
    return Section(place, 1.0, frame);
}

// The tie's potential (J) of a node that has moved so far in the substep (m).
fn tie_potential(rest_row: u32, row: u32, moved: vec3<f32>) -> f32 {
    let off = off_bed(row, moved);
    let path = node3(row, NODE_BED_PATH);
    let off_path = off - path * dot(path, off);
    let soft = rest_at(rest_row, REST_FASCIA);
    let tie = node_at(row, NODE_TIE);
    return 0.5 * (soft * dot(off, off) + tie * dot(off_path, off_path));
}

// How far a node is from its bed (m), when it has moved so far in the substep (m).
fn off_bed(row: u32, moved: vec3<f32>) -> vec3<f32> {
    return node3(row, NODE_PREV_PLACE) - node3(row, NODE_BED) + moved;
}

// The tie's part of the node's system.
fn add_tie(rest_row: u32, row: u32, block: ptr<function, Mat7>, rhs: ptr<function, Vec7>) {
    let soft = rest_at(rest_row, REST_FASCIA);
    let tie = node_at(row, NODE_TIE);
    var w = node3(row, NODE_BED_PATH);
    let off = off_bed(row, node3(row, NODE_MOVED));
    var pull = off * soft + (off - w * dot(w, off)) * tie;
    for (var i = 0u; i < 3u; i++) {
        (*rhs)[i] = (*rhs)[i] - pull[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = (*block)[i][k] - tie * w[i] * w[k];
        }
        (*block)[i][i] = (*block)[i][i] + (soft + tie);
    }
}
