// What touches a chain, as the solve sees it: a list of rows that says nothing of what they come from; the twin of
// src/cpu/contact_rows.rs.

// From which share on of what it was in the way of a contact counts as pulled open.
const PULLED: f32 = 1.0e-5;

// How far over its radius what stays may be pulled open and be held nonetheless.
const GENTLY: f32 = 3.0e-5;

// How deep over its radius what a solve had out of the way may come into it.
const LET_THROUGH: f32 = 1.0e-3;

// By which share of Coulomb's limit a solve may be off in friction.
const AMISS: f32 = 0.1;

// A contact row.
struct ContactRow {
    segment: u32,
    along: f32,
    direction: vec3<f32>,
    scale_term: f32,
    arm: f32,
    gap: f32,
    stiffness: f32,
    friction: f32,
    limit: f32,
    sticks: f32,
    anchor: vec3<f32>,
    rolling: f32,
    rolling_limit: f32,
    turn: vec3<f32>,
    // 1 where the first solve has it in its matrix wherever the chain begins, −1 where it has it out of it.
    stays: f32,
    // Whether it is of a meeting with another chain.
    meets: bool,
}

// Friction as a solve takes it, given how far the surface has gone from its anchor: a stiffness (N/m) in all directions across
// the row's own, less that along the pull where it slips, for there the pull stays Coulomb's limit.
struct Friction {
    // Its pull over how far that is (N/m).
    pull: f32,
    stiffness: f32,
    slipping: f32,
    way: vec3<f32>,
}

// How far a chain has gone since the substep's start, at a node or where a row acts: its place (m), its scale, its turn
// θ = 2·Im q, with q the turn's quaternion (rad).
struct Gone {
    place: vec3<f32>,
    scale: f32,
    turn: vec3<f32>,
}

// With what a row presses after a solve: its force (N), the friction that goes with it (N), and how it was taken amiss:
// 1 in friction, 2 as a contact.
struct Pressed {
    force: f32,
    tangent: vec3<f32>,
    amiss: f32,
}

// How friction changes as the surface goes on (N).
fn along_friction(friction: Friction, goes: vec3<f32>) -> vec3<f32> {
    return goes * friction.stiffness - friction.way * (friction.slipping * dot(friction.way, goes));
}

// How it changes as a node turns, by rows.
fn through(friction: Friction, row: ContactRow) -> array<vec3<f32>, 3> {
    let lever = lever_of(row);
    let along = couple_of(row, friction.way * friction.slipping);
    return array<vec3<f32>, 3>(
        lever[0] * friction.stiffness - along * friction.way.x,
        lever[1] * friction.stiffness - along * friction.way.y,
        lever[2] * friction.stiffness - along * friction.way.z,
    );
}

fn load_contact_row(rows: Rows) -> ContactRow {
    let row = rows.at;
    return ContactRow(
        u32(contact_at(row, CONTACT_SEGMENT)),
        contact_at(row, CONTACT_ALONG),
        contact3(row, CONTACT_DIRECTION),
        contact_at(row, CONTACT_SCALE_TERM),
        contact_at(row, CONTACT_ARM),
        contact_at(row, CONTACT_GAP),
        contact_at(row, CONTACT_STIFFNESS),
        contact_at(row, CONTACT_FRICTION),
        contact_at(row, CONTACT_LIMIT),
        contact_at(row, CONTACT_STICKS),
        contact3(row, CONTACT_ANCHOR),
        contact_at(row, CONTACT_ROLLING),
        contact_at(row, CONTACT_ROLLING_LIMIT),
        contact3(row, CONTACT_TURN),
        contact_at(row, CONTACT_STAYS),
        rows.meets,
    );
}

// How far the chain has gone there, its nodes being where they are now, or at the substep's start with what bones hold where
// they hold it.
fn gone_at(chain: Chain, row: ContactRow, at_start: bool) -> Gone {
    // After the last node there is none, and the row has no weight for it.
    let next = min(row.segment + 1u, chain.node_count - 1u);
    if at_start {
        return gone_between(chain, row, placed_start(chain, row.segment), placed_start(chain, next));
    }
    return gone_between(chain, row, placed_now(node_row_of(chain, row.segment)), placed_now(node_row_of(chain, next)));
}

// As gone_at, where the nodes around it are `here` and `after`.
fn gone_between(chain: Chain, row: ContactRow, here: Placed, after: Placed) -> Gone {
    let next = min(row.segment + 1u, chain.node_count - 1u);
    let first = gone_of_node(node_row_of(chain, row.segment), here);
    let second = gone_of_node(node_row_of(chain, next), after);
    return Gone(
        first.place + (second.place - first.place) * row.along,
        first.scale + (second.scale - first.scale) * row.along,
        first.turn + (second.turn - first.turn) * row.along,
    );
}

fn gone_of_node(row: u32, placed: Placed) -> Gone {
    let turn = product(placed.frame, conjugate(node4(row, NODE_PREV_FRAME)));
    // By the shorter way.
    let double = where_less(turn.w, 0.0, -2.0, 2.0);
    return Gone(placed.moved, placed.scale - node_at(row, NODE_PREV_SCALE), turn.xyz * double);
}

// The distance (m), negative inside.
fn distance_of(row: ContactRow, gone: Gone) -> f32 {
    return row.gap + (dot(row.direction, gone.place) - row.scale_term * gone.scale);
}

// How far the surface has gone from where friction does not pull (m). What of that is along the direction is left out once more: what
// goes far with a surface that moves slides there by less than the way that is left is rounded by.
fn slid_of(row: ContactRow, gone: Gone) -> vec3<f32> {
    return across(swept(row, gone.place, gone.turn) - row.anchor, row.direction);
}

// How far the surface goes across the direction where the chain goes and turns by so much.
fn swept(row: ContactRow, place: vec3<f32>, turn: vec3<f32>) -> vec3<f32> {
    return across(place, row.direction) + cross(row.direction, turn) * row.arm;
}

// How far the surface goes by a node's turn φ, by rows: r[d]×.
fn lever_of(row: ContactRow) -> array<vec3<f32>, 3> {
    let arm = row.direction * row.arm;
    return array<vec3<f32>, 3>(
        vec3<f32>(0.0, 0.0 - arm.z, arm.y),
        vec3<f32>(arm.z, 0.0, 0.0 - arm.x),
        vec3<f32>(0.0 - arm.y, arm.x, 0.0),
    );
}

// Friction's pull over how far the surface has gone from its anchor (N/m): k_t, or as much less as keeps Coulomb's limit.
fn secant_of(row: ContactRow, slid: vec3<f32>) -> f32 {
    let far = larger(sqrt(dot(slid, slid)), MIN_POSITIVE);
    return smaller(row.friction, row.limit / far);
}

// Whether a chain is solved again, and how.
struct Again {
    solved: bool,
    // By which share of its diagonal its system is stiffened.
    stiffened: f32,
    // Whether a step of it has led up Π.
    overshot: bool,
}

// Friction as the first solve takes it, or one `again`: by Newton's step, in which what slips has no stiffness along its way; of what has
// overshot, by all that its pull is over how far it slid. Of meetings the other side is still to go: what slips is held back by the whole
// stiffness, which passes make up for.
fn coulomb(row: ContactRow, slid: vec3<f32>, again: Again) -> Friction {
    let secant = secant_of(row, slid);
    let way = direction(slid);
    if row.meets {
        return Friction(secant, row.friction, 0.0, way);
    }
    if !again.solved && row.sticks > 0.5 {
        return Friction(row.friction, row.friction, 0.0, way);
    }
    let slips = where_less(secant, row.friction, secant, 0.0);
    return Friction(secant, secant, select(slips, 0.0, again.solved && again.overshot), way);
}

// The stiffness that the matrix of the `first` solve has of it, or of a later one, where the chain has gone so far, and the distance
// (m) by which it presses then.
fn in_matrix(row: ContactRow, gone: Gone, first: bool) -> vec2<f32> {
    let distance = distance_of(row, gone);
    let within = smaller(distance, 0.0);
    if row.meets && first {
        return vec2<f32>(row.stiffness, within);
    }
    let stays = select(0.0, row.stays, first);
    let held = where_less(distance, 0.0, 1.0, 0.0) + stays;
    return vec2<f32>(where_less(0.5, held, row.stiffness, 0.0), where_less(0.5, stays, distance, within));
}

// Rolling friction's stiffness that the matrix has of it, given what its couple is over how far it has turned (N·m).
fn rolling_in_matrix(row: ContactRow, secant: f32) -> f32 {
    return select(secant, row.rolling, row.meets);
}

// How far it has turned otherwise than what touches it (rad).
fn rolled(row: ContactRow, gone: Gone) -> vec3<f32> {
    return gone.turn - row.turn;
}

// Rolling friction's couple over that (N·m): κ, or as much less as keeps its limit.
fn rolling_secant(row: ContactRow, by: vec3<f32>) -> f32 {
    let far = larger(sqrt(dot(by, by)), MIN_POSITIVE);
    return smaller(row.rolling, row.rolling_limit / far);
}

// ½k·min(g, 0)², and friction's ½k_t|u − anchor|² up to where it slips, from there limit·(|u − anchor| − limit/2k_t) (J);
// rolling friction likewise.
fn contact_potential(row: ContactRow, gone: Gone) -> f32 {
    let depth = smaller(distance_of(row, gone), 0.0);
    let slid = slid_of(row, gone);
    let far = sqrt(dot(slid, slid));
    let pull = secant_of(row, slid) * far;
    // With |u| the way, limit·(|u| − limit/2k_t) is pull·(2|u| − pull/k_t)/2; up to the limit that is pull·|u|/2.
    let spring = pull / larger(row.friction, MIN_POSITIVE);
    let by = rolled(row, gone);
    let turned = sqrt(dot(by, by));
    let couple = rolling_secant(row, by) * turned;
    let spring_turn = couple / larger(row.rolling, MIN_POSITIVE);
    let by_turning = couple * (turned * 2.0 - spring_turn);
    return 0.5 * (row.stiffness * depth * depth + pull * (far * 2.0 - spring) + by_turning);
}

// How deep a row is in the way (m), negative where it is off it, 0 where it is not stiff.
fn in_the_way(row: ContactRow, gone: Gone) -> f32 {
    return where_less(0.0, row.stiffness, 0.0 - distance_of(row, gone), 0.0);
}

// With what it presses once the nodes around it have stepped by `here` and `next` in the first solve or one `again`;
// `was_in_the_way` is how deep it was in the way before, and `slid` how far the surface had gone from its anchor.
fn pressed_by(
    row: ContactRow,
    was_in_the_way: f32,
    slid: vec3<f32>,
    here: ptr<function, Vec7>,
    next: ptr<function, Vec7>,
    again: Again,
) -> Pressed {
    var step: Vec7;
    for (var k = 0u; k < UNKNOWNS; k++) {
        step[k] = (*here)[k] + ((*next)[k] - (*here)[k]) * row.along;
    }
    let moved = vec3<f32>(step[0], step[1], step[2]);
    let turned = vec3<f32>(step[4], step[5], step[6]);
    let left = was_in_the_way - (dot(row.direction, moved) - row.scale_term * step[3]);
    // What is no number does not press.
    var pressed: Pressed;
    let stays = select(row.stays, 0.0, again.solved);
    if where_less(0.0, was_in_the_way, 1.0, 0.0) + stays > 0.5 {
        pressed.force = where_less(0.0, left, smaller(row.stiffness * left, MOST_DUAL), 0.0);
        let pulled = abs(was_in_the_way) * PULLED + stays * row.arm * GENTLY;
        pressed.amiss = where_less(left, 0.0 - pulled, 2.0, 0.0);
    } else if row.stiffness > 0.0 {
        pressed.amiss = where_less(row.arm * LET_THROUGH, left, 2.0, 0.0);
    }

    let goes = swept(row, moved, turned);
    let friction = coulomb(row, slid, again);
    let taken = slid * friction.pull + along_friction(friction, goes);
    let pull = (slid + goes) * secant_of(row, slid + goes);
    let off = taken - pull;
    pressed.amiss = larger(where_less(row.limit * AMISS, sqrt(dot(off, off)), 1.0, 0.0), pressed.amiss);
    if row.meets {
        pressed.amiss = 0.0;
    }
    if dot(taken, taken) < MOST_DUAL {
        pressed.tangent = vec3<f32>() - taken;
    }
    return pressed;
}

// Adds its terms to the system of the node that begins its segment, and to those of the segment.
//
// With w the row's weight for a node, its unknowns have the block w²JᵀJ and the gradient wJᵀf: of place and scale by what
// presses, (d, −σ), and of place and turn by friction, (1 − ddᵀ, lever).
fn add_contact(
    row: ContactRow,
    gone: Gone,
    again: Again,
    block: ptr<function, Mat7>,
    rhs: ptr<function, Vec7>,
    terms: ptr<function, SegmentTerms>,
) {
    var d = row.direction;
    let sigma = row.scale_term;
    let slid = slid_of(row, gone);
    let friction = coulomb(row, slid, again);
    let in_it = in_matrix(row, gone, !again.solved);
    let stiffness = in_it.x;
    let push = stiffness * in_it.y;
    var pull = slid * friction.pull;
    var way = friction.way * friction.slipping;
    var both: array<array<f32, 4>, 4>;
    var gradient: array<f32, 4>;
    var unit = friction.way;
    for (var i = 0u; i < 3u; i++) {
        for (var k = 0u; k < 3u; k++) {
            both[i][k] = (stiffness - friction.stiffness) * d[i] * d[k] - way[i] * unit[k];
        }
        both[i][i] = both[i][i] + friction.stiffness;
        both[3][i] = -(stiffness * sigma * d[i]);
        both[i][3] = both[3][i];
        gradient[i] = push * d[i] + pull[i];
    }
    both[3][3] = stiffness * sigma * sigma;
    gradient[3] = -(push * sigma);

    let first = 1.0 - row.along;
    let second = row.along;
    let own = first * first;
    let by = rolled(row, gone);
    let secant = rolling_secant(row, by);
    let rolls = rolling_in_matrix(row, secant);
    let couple = couple_of(row, pull) + by * secant;
    var pulled = through(friction, row);
    var turning = turning_of(lever_of(row), pulled);
    for (var i = 0u; i < 3u; i++) {
        turning[i][i] = turning[i][i] + rolls;
    }
    for (var i = 0u; i < 4u; i++) {
        (*rhs)[i] = (*rhs)[i] - first * gradient[i];
        for (var k = 0u; k <= i; k++) {
            (*block)[i][k] = (*block)[i][k] + own * both[i][k];
        }
    }
    for (var i = 0u; i < 3u; i++) {
        (*rhs)[4u + i] = (*rhs)[4u + i] - first * couple[i];
        for (var k = 0u; k < 3u; k++) {
            (*block)[4u + i][k] = (*block)[4u + i][k] + own * pulled[k][i];
        }
        for (var k = 0u; k <= i; k++) {
            (*block)[4u + i][4u + k] = (*block)[4u + i][4u + k] + own * turning[i][k];
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
        for (var i = 0u; i < 3u; i++) {
            (*terms).gradient_b[4u + i] = (*terms).gradient_b[4u + i] + second * couple[i];
            for (var k = 0u; k < 3u; k++) {
                (*terms).block_ab[4u + i][k] = (*terms).block_ab[4u + i][k] + mixed * pulled[k][i];
                (*terms).block_ab[k][4u + i] = (*terms).block_ab[k][4u + i] + mixed * pulled[k][i];
                (*terms).block_ab[4u + i][4u + k] = (*terms).block_ab[4u + i][4u + k] + mixed * turning[i][k];
                (*terms).block_bb[4u + i][k] = (*terms).block_bb[4u + i][k] + next * pulled[k][i];
            }
            for (var k = 0u; k <= i; k++) {
                (*terms).block_bb[4u + i][4u + k] = (*terms).block_bb[4u + i][4u + k] + next * turning[i][k];
            }
        }
    }
}

// The couple of a pull on the surface.
fn couple_of(row: ContactRow, pull: vec3<f32>) -> vec3<f32> {
    return cross(pull, row.direction) * row.arm;
}

// How the couple by a lever changes by a turn, given how the pull does: MᵀP.
fn turning_of(lever: array<vec3<f32>, 3>, pulled: array<vec3<f32>, 3>) -> array<vec3<f32>, 3> {
    return array<vec3<f32>, 3>(
        pulled[0] * lever[0].x + pulled[1] * lever[1].x + pulled[2] * lever[2].x,
        pulled[0] * lever[0].y + pulled[1] * lever[1].y + pulled[2] * lever[2].y,
        pulled[0] * lever[0].z + pulled[1] * lever[1].z + pulled[2] * lever[2].z,
    );
}

// What all rows store (J), the nodes being where they are now, or at the substep's start.
fn stored_by_contacts(chain: Chain, at_start: bool) -> f32 {
    var stored = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            let row = load_contact_row(rows);
            stored = stored + contact_potential(row, gone_at(chain, row, at_start));
        }
    }
    return stored;
}

// The stiffness of all rows together (N/m).
fn stiffness_of_contacts(chain: Chain) -> f32 {
    var sum = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        var rows = rows_at(chain, index);
        while go_to_next(chain, &rows) {
            sum = sum + contact_at(rows.at, CONTACT_STIFFNESS);
        }
    }
    return sum;
}

// The rows that press on the segment that a node begins, gone through one after the other: those of half-spaces and solids, then
// those of meetings, two for each side.
struct Rows {
    // The node.
    index: u32,
    // Which of those of half-spaces and solids is next.
    next: u32,
    // One past the last of those of meetings, of all rows of sides.
    end: u32,
    // Which word of bits has the next of them, and which of these are left.
    word: u32,
    left: u32,
    // First word of the row that it has gone to, and whether that is of a meeting.
    at: u32,
    meets: bool,
}

fn rows_at(chain: Chain, index: u32) -> Rows {
    var rows = meets_at(chain, index);
    rows.next = 0u;
    return rows;
}

// Those of meetings alone.
fn meets_at(chain: Chain, index: u32) -> Rows {
    let own = rows_at_node(chain);
    if params.passes == 0u {
        return Rows(index, own, 0u, 0u, 0u, 0u, false);
    }
    let row = scratch_row_of(chain, index) + SCRATCH_SIDES * LANES;
    let first = 2u * u32(scratch_rows[row]);
    let count = 2u * u32(scratch_rows[row + LANES]);
    let word = first / (2u * LANES);
    let before = first % (2u * LANES);
    let left = select(0u, (pressing_in(word) >> before) << before, count > 0u);
    return Rows(index, own, first + count, word, left, 0u, false);
}

// Which rows of eight sides press, as bits.
fn pressing_in(word: u32) -> u32 {
    let at = pressing_word(word * LANES, params.pair_capacity, params.solved_base);
    return bitcast<u32>(scratch_rows[at]) & ((1u << (2u * LANES)) - 1u);
}

// Goes to the next row, or the first; whether there is one.
fn go_to_next(chain: Chain, rows: ptr<function, Rows>) -> bool {
    while (*rows).next < rows_at_node(chain) {
        (*rows).at = row_at_node(chain, (*rows).index, (*rows).next);
        (*rows).next++;
        if contact_at((*rows).at, CONTACT_STIFFNESS) > 0.0 {
            return true;
        }
    }
    (*rows).meets = true;
    while reaches_next(rows) {
        let row_of_sides = (*rows).word * (2u * LANES) + firstTrailingBit((*rows).left);
        (*rows).left &= (*rows).left - 1u;
        let contact = contact_of_row_word(row_of_sides, params.solved_base);
        (*rows).at = meet_contact_word(params.meet_base, u32(scratch_rows[contact]));
        if contact_at((*rows).at, CONTACT_STIFFNESS) > 0.0 {
            return true;
        }
    }
    return false;
}

// Goes on to a word with a bit left; whether that is of a row of a meeting that is still to come.
fn reaches_next(rows: ptr<function, Rows>) -> bool {
    while (*rows).left == 0u {
        (*rows).word++;
        if (*rows).word * (2u * LANES) >= (*rows).end {
            return false;
        }
        (*rows).left = pressing_in((*rows).word);
    }
    return (*rows).word * (2u * LANES) + firstTrailingBit((*rows).left) < (*rows).end;
}

// The stiffness of all rows of meetings together (N/m): 0 where the chain meets no other.
fn stiffness_of_meetings(chain: Chain) -> f32 {
    var sum = 0.0;
    for (var index = 0u; index < chain.node_count; index++) {
        var meets = meets_at(chain, index);
        while go_to_next(chain, &meets) {
            sum = sum + contact_at(meets.at, CONTACT_STIFFNESS);
        }
    }
    return sum;
}
