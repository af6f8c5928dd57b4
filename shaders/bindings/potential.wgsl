// The incremental potential of a chain; the twin of src/cpu/potential.rs, which says what it is good for.

// By how many roundings a pivot of the solve is worth less than inertia where the chain is too stiff for its step.
const PIVOT_ROUNDINGS: f32 = 10.0;

// The most that a strain may be off by rounding.
const MOST_ROUNDING: f32 = 1.0e-3;

// Which share of what rounded strains could do to what is stored, did they all go the same way, they are taken to do.
const ALIGNED: f32 = 0.0625;

// How a chain stands against the substep's start.
struct Standing {
    // Ψ(x).
    stored: Stored,
    // ½‖x − x̂‖²_M/h̃² − ½‖x_n − x̂‖²_M/h̃² (J).
    past: f32,
    // ½‖x − x_n‖²_M/h̃² − ½‖x_n − x̂‖²_M/h̃² (J): what the chain's motion has gained.
    gained: f32,
    // ½‖x − x_n‖²_M/h̃² (J).
    motion: f32,
}

// Π(x) − ½‖x_n − x̂‖²_M/h̃² (J): what is Ψ at the substep's start.
fn level(standing: Standing) -> f32 {
    return whole(standing.stored) + standing.past;
}

// Ψ (J) at the substep's start but for contacts, with what bones hold where they hold it now.
fn stored_at_start(chain: Chain, inv_step2: f32, contracting: bool, excitation: Excitation) -> f32 {
    var stored = Stored();
    var before = placed_start(chain, 0u);
    var here = before;
    for (var index = 0u; index < chain.node_count; index++) {
        var next = here;
        if index + 1u < chain.node_count {
            next = placed_start(chain, index + 1u);
        }
        let by_node = stored_by_node(chain, index, before, here, next);
        stored.strain = stored.strain + by_node;
        if index + 1u < chain.node_count {
            stored = together(stored, stored_by_segment(chain, inv_step2, index, here, next, contracting, excitation));
        }
        before = here;
        here = next;
    }
    return whole(stored);
}

// How the chain stands now.
fn standing(chain: Chain, inv_step2: f32, contracting: bool, excitation: Excitation) -> Standing {
    var sum = Standing();
    var before = placed_now(node_row_of(chain, 0u));
    var here = before;
    for (var index = 0u; index < chain.node_count; index++) {
        var next = here;
        if index + 1u < chain.node_count {
            next = placed_now(node_row_of(chain, index + 1u));
        }
        let start = placed_start(chain, index);
        let inertia = inertia_potential(inv_step2, rest_row_of(chain, index), node_row_of(chain, index), start, here);
        sum.past = sum.past + inertia.x;
        sum.gained = sum.gained + inertia.y;
        sum.motion = sum.motion + inertia.z;
        let by_node = stored_by_node(chain, index, before, here, next);
        sum.stored.strain = sum.stored.strain + by_node;
        if index + 1u < chain.node_count {
            sum.stored = together(sum.stored, stored_by_segment(chain, inv_step2, index, here, next, contracting, excitation));
        }
        before = here;
        here = next;
    }
    sum.stored.strain = sum.stored.strain + stored_by_contacts(chain, false);
    return sum;
}

// What surface bending (15) and fascia store at a node (J), given where it and its neighbours are.
fn stored_by_node(chain: Chain, index: u32, before: Placed, here: Placed, next: Placed) -> f32 {
    var stored = 0.0;
    if index > 0u && index + 1u < chain.node_count {
        stored = surface_potential(chain, index, vec3<f32>(before.scale, here.scale, next.scale));
    }
    if is_tied(chain) {
        stored = stored + tie_potential(rest_row_of(chain, index), node_row_of(chain, index), here.moved);
    }
    return stored;
}

// What the segment after a node stores, given where its ends are.
fn stored_by_segment(
    chain: Chain,
    inv_step2: f32,
    index: u32,
    a: Placed,
    b: Placed,
    contracting: bool,
    excitation: Excitation,
) -> Stored {
    let row = node_row_of(chain, index);
    let next = node_row_of(chain, index + 1u);
    var rest_row = load_rest_row(rest_row_of(chain, index));
    var excited = excitation;
    excited.prev_stretch = node_at(row, NODE_PREV_FIBRE_STRETCH);
    let reference = reference_of(chain, index, is_tied(chain), inv_step2);
    return segment_potential(placed_section(a, row), placed_section(b, next), &rest_row, reference, contracting, excited);
}

// By how much Π may seem to grow (J) because states and strains are rounded.
fn rounding(chain: Chain, inv_step2: f32, standing: Standing) -> f32 {
    let first = rest_row_of(chain, 0u);
    let unsolved = 1.0 + rest_at(first, REST_FASTEST2) * EPSILON * PIVOT_ROUNDINGS / inv_step2;
    let off = smaller(EPSILON * unsolved, MOST_ROUNDING);
    let pressing = stiffness_of_contacts(chain);
    let strain = (rest_at(first, REST_STRAIN_ROUNDING) + node_rounding(chain, pressing)) * off * off;
    let turn = rest_at(first, REST_TURN_ROUNDING) * off * off;
    let of_strain = abs(standing.stored.strain);
    let of_turn = abs(standing.stored.turn);
    // Root by root: the product of what a step gone astray stores with anything may be more than f32 holds.
    let first_order = sqrt(strain) * sqrt(of_strain) + sqrt(turn) * sqrt(of_turn);
    let all = of_strain + of_turn + standing.motion + abs(standing.past);
    // Friction on half-spaces has no potential that is its own: what it seems to store gets the whole. Whether the chain
    // meets others is of the last substep.
    let aligned = select(ALIGNED, 1.0, pressing > 0.0 && chain_at(chain.chain, CHAIN_MEETS) < 0.5);
    return (aligned * first_order + EPSILON * all) * 2.0 + strain + turn + MIN_POSITIVE;
}

// As REST_STRAIN_ROUNDING, of contacts, as stiff together as `pressing` (N/m), and fascia.
fn node_rounding(chain: Chain, pressing: f32) -> f32 {
    var stiffness = pressing;
    if is_tied(chain) {
        for (var index = 0u; index < chain.node_count; index++) {
            let tie = node_at(node_row_of(chain, index), NODE_TIE);
            stiffness = stiffness + (rest_at(rest_row_of(chain, index), REST_FASCIA) + tie);
        }
    }
    let whole = rest_at(rest_row_of(chain, 0u), REST_LENGTH);
    return 0.5 * stiffness * whole * whole;
}
