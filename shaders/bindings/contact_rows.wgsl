// What touches a chain, as the solve sees it: a list of rows that says nothing of what they come from; the twin of
// src/cpu/contact_rows.rs.

// From which share on of what it was in the way of a contact counts as pulled open.
const PULLED: f32 = 1.0e-5;

// The largest force (N) that a row remembers.
const MOST_DUAL: f32 = 1.0e30;

// A contact row.
struct ContactRow {
    segment: u32,
    along: f32,
    direction: vec3<f32>,
    scale_term: f32,
    gap: f32,
    stiffness: f32,
    friction: f32,
    slide: vec3<f32>,
}

// How far a chain has gone since the substep's start where a row acts: its centre line (m), its scale.
struct Gone {
    place: vec3<f32>,
    scale: f32,
}

fn load_contact_row(row: u32) -> ContactRow {
    return ContactRow(
        u32(contact_at(row, CONTACT_SEGMENT)),
        contact_at(row, CONTACT_ALONG),
        contact3(row, CONTACT_DIRECTION),
        contact_at(row, CONTACT_SCALE_TERM),
        contact_at(row, CONTACT_GAP),
        contact_at(row, CONTACT_STIFFNESS),
        contact_at(row, CONTACT_FRICTION),
        contact3(row, CONTACT_SLIDE),
    );
}

// How far the chain has gone there, its nodes being where they are now, or at the substep's start with what bones hold where
// they hold it.
fn gone_at(chain: Chain, row: ContactRow, at_start: bool) -> Gone {
    // After the last node there is none, and the row has no weight for it.
    let next = min(row.segment + 1u, chain.node_count - 1u);
    let first = gone_of_node(chain, row.segment, at_start);
    let second = gone_of_node(chain, next, at_start);
    return Gone(
        first.place + (second.place - first.place) * row.along,
        first.scale + (second.scale - first.scale) * row.along,
    );
}

fn gone_of_node(chain: Chain, index: u32, at_start: bool) -> Gone {
    let row = node_row_of(chain, index);
    var placed = placed_now(row);
    if at_start {
        placed = placed_start(chain, index);
    }
    return Gone(placed.moved, placed.scale - node_at(row, NODE_PREV_SCALE));
}

// The distance (m), negative inside.
fn distance_of(row: ContactRow, gone: Gone) -> f32 {
    return row.gap + (dot(row.direction, gone.place) - row.scale_term * gone.scale);
}

// How far the chain has slid on what it touches (m).
fn slid_of(row: ContactRow, gone: Gone) -> vec3<f32> {
    return across(gone.place, row.direction) - row.slide;
}

// ½k·min(g, 0)², and friction's ½k_t|slid|² (J).
fn contact_potential(row: ContactRow, gone: Gone) -> f32 {
    let depth = smaller(distance_of(row, gone), 0.0);
    let slid = slid_of(row, gone);
    return 0.5 * (row.stiffness * depth * depth + row.friction * dot(slid, slid));
}

// How deep a row is in the way (m), 0 where it is not, or is not stiff.
fn in_the_way(row: ContactRow, gone: Gone) -> f32 {
    return where_less(0.0, row.stiffness, larger(0.0 - distance_of(row, gone), 0.0), 0.0);
}

// With what force it presses (N) once the nodes around it have stepped by `here` and `next`, and a flag where it is pulled
// open; `was_in_the_way` is how deep it was in the way before.
fn pressed_by(row: ContactRow, was_in_the_way: f32, here: ptr<function, Vec7>, next: ptr<function, Vec7>) -> vec2<f32> {
    if !(was_in_the_way > 0.0) {
        return vec2<f32>();
    }
    var step: array<f32, 4>;
    for (var k = 0u; k < 4u; k++) {
        step[k] = (*here)[k] + ((*next)[k] - (*here)[k]) * row.along;
    }
    let left = was_in_the_way - (dot(row.direction, vec3<f32>(step[0], step[1], step[2])) - row.scale_term * step[3]);
    // What is no number does not press.
    let force = where_less(0.0, left, smaller(row.stiffness * left, MOST_DUAL), 0.0);
    return vec2<f32>(force, where_less(left, 0.0 - was_in_the_way * PULLED, 1.0, 0.0));
}

// Adds its terms to the system of the node that begins its segment, and to those of the segment.
//
// With w the row's weight for a node, the node's unknowns (place, scale) have the block w²B and the gradient w·∇.
fn add_contact(
    row: ContactRow,
    gone: Gone,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    terms: ptr<function, SegmentTerms>,
) {
    var d = row.direction;
    let friction = row.friction;
    let sigma = row.scale_term;
    let distance = distance_of(row, gone);
    let stiffness = where_less(distance, 0.0, row.stiffness, 0.0);
    let push = stiffness * distance;
    var slid = slid_of(row, gone);
    var both: array<array<f32, 4>, 4>;
    var gradient: array<f32, 4>;
    for (var i = 0u; i < 3u; i++) {
        for (var k = 0u; k < 3u; k++) {
            both[i][k] = (stiffness - friction) * d[i] * d[k];
        }
        both[i][i] = both[i][i] + friction;
        both[3][i] = -(stiffness * sigma * d[i]);
        both[i][3] = both[3][i];
        gradient[i] = push * d[i] + friction * slid[i];
    }
    both[3][3] = stiffness * sigma * sigma;
    gradient[3] = -(push * sigma);

    let first = 1.0 - row.along;
    let second = row.along;
    let own = first * first;
    for (var i = 0u; i < 4u; i++) {
        (*rhs)[i] = (*rhs)[i] - first * gradient[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = (*block)[i][k] + own * both[i][k];
        }
    }
    if second > 0.0 {
        let mixed = first * second;
        let next = second * second;
        for (var i = 0u; i < 4u; i++) {
            (*terms).gradient_b[i] = (*terms).gradient_b[i] + second * gradient[i];
            for (var k = 0u; k < 4u; k++) {
                (*terms).block_ab[i][k] = (*terms).block_ab[i][k] + mixed * both[i][k];
            }
            for (var k = 0u; k <= i; k++) {
                (*terms).block_bb[i][k] = (*terms).block_bb[i][k] + next * both[i][k];
            }
        }
    }
}

// What all rows store (J), the nodes being where they are now, or at the substep's start.
fn stored_by_contacts(chain: Chain, at_start: bool) -> f32 {
    var stored = 0.0;
    for (var slot = 0u; slot < chain.contact_count; slot++) {
        let row = load_contact_row(contact_row_of(chain, slot));
        stored = stored + contact_potential(row, gone_at(chain, row, at_start));
    }
    return stored;
}

// The stiffness of all rows together (N/m).
fn stiffness_of_contacts(chain: Chain) -> f32 {
    var sum = 0.0;
    for (var slot = 0u; slot < chain.contact_count; slot++) {
        sum = sum + contact_at(contact_row_of(chain, slot), CONTACT_STIFFNESS);
    }
    return sum;
}
