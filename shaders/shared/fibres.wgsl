// Fibres of one segment: how far they are stretched, how they pull, and what that adds to the segment's terms; the twin
// of src/cpu/fibres.rs.

// How far below λ = 1 fibres already have the stiffness of just above it.
const TOE: f32 = 0.05;

// The stretch over the optimal one below which thick filaments meet the Z-discs and push against them.
const SHORT: f32 = 0.45;

// How much they push for each optimal length that fibres are shorter, over peak tension.
const PUSH: f32 = 5.775;
// The share of its peak force that a muscle is taken to bear at rest, by whatever stretches it.
const RESTING: f32 = 0.1;

// What makes a segment's fibres contract in this substep.
struct Excitation {
    activation: f32,
    // Mean fibre stretch of what contracts in the chain, at the substep's start.
    mean_stretch: f32,
    // Fibre stretch λ_n of the segment at the substep's start.
    prev_stretch: f32,
    inv_step: f32,
}

// Length of the segment's reference over that at rest: 1 − SHORTENING at full activation, and no less beyond.
fn shortening(excitation: Excitation, row: ptr<function, RestRow>) -> f32 {
    return 1.0 - smaller(excitation.activation, 1.0) * (*row)[REST_SHORTENING];
}

// f_l = x(2 − x), x the mean stretch over the optimal one, and by how much it rises with it.
fn by_length(excitation: Excitation, row: ptr<function, RestRow>) -> vec2<f32> {
    let inv_optimal = (*row)[REST_INV_OPTIMAL];
    let x = between(excitation.mean_stretch * inv_optimal, 0.0, 2.0);
    let share = where_less(0.0, inv_optimal, x * (2.0 - x), 1.0);
    return vec2<f32>(share, larger((1.0 - x) * 2.0 * inv_optimal, 0.0));
}

// How a segment's fibres pull.
struct Contraction {
    // Tension times rest length, the potential's derivative by λ (J).
    pull: f32,
    // Its derivative by λ (J).
    stiffness: f32,
    // Tension times rest length to expect from what is in series (J), at least 0.
    in_series: f32,
}

// Mean stretch λ of the segment's fibres, weighted by their areas: 1 at rest.
fn fibre_stretch(strain: SegmentStrain, row: ptr<function, RestRow>) -> f32 {
    let by_darboux =
        vec3<f32>((*row)[REST_FIBRE_DARBOUX], (*row)[REST_FIBRE_DARBOUX + 1u], (*row)[REST_FIBRE_DARBOUX + 2u]);
    return (*row)[REST_FIBRE_STRAIN] * sqrt(dot(strain.slope, strain.slope))
        + dot(by_darboux, strain.darboux) * strain.scale
        + (*row)[REST_FIBRE_SCALE] * strain.scale
        + (*row)[REST_FIBRE_DIFFERENCE] * strain.scale_difference;
}

// How fibres of stretch λ pull: f_l by by_length, f_v by force_velocity, and f_p.
fn contract(stretch: f32, row: ptr<function, RestRow>, excitation: Excitation) -> Contraction {
    let length = by_length(excitation, row);
    let rise = length.y;
    let lengthened = stretch - excitation.prev_stretch;
    let inv_rate = (*row)[REST_INV_MAX_VELOCITY] * excitation.inv_step;
    let rate = force_velocity(lengthened * inv_rate);

    let y = larger(stretch - 1.0, 0.0);
    let near = smaller(y, 1.0);
    let passive = exponential(near);
    let passive_tension = passive.x + passive.y * (y - near);
    let passive_slope = where_less(1.0 - TOE, stretch, passive.y, 0.0);

    let peak = (*row)[REST_ACTIVE];
    let activation = excitation.activation;
    let elastic = (*row)[REST_FIBRE_STIFFNESS];
    let passive_share = (*row)[REST_PASSIVE];
    let inv_optimal = (*row)[REST_INV_OPTIMAL];
    let pushed = pushed_by(stretch, inv_optimal);
    let push_slope = where_less(0.0, pushed, PUSH * inv_optimal, 0.0);
    let active_tension = activation
        * (length.x * rate.x + rise * (stretch - excitation.mean_stretch) - PUSH * pushed);
    let slope = activation * (length.x * rate.y * inv_rate + rise + push_slope) + passive_share * passive_slope;
    return Contraction(
        peak * (active_tension + passive_share * passive_tension) + elastic * (stretch - 1.0),
        peak * slope + elastic,
        larger((activation + RESTING) * (*row)[REST_SERIES], 0.0),
    );
}

// How much shorter than SHORT fibres are, over the optimal stretch; nothing without one.
fn pushed_by(stretch: f32, inv_optimal: f32) -> f32 {
    return where_less(0.0, inv_optimal, larger(SHORT - stretch * inv_optimal, 0.0), 0.0);
}

// Hill's f_v and its derivative, by the rate v of λ over the fastest shortening: (1 + v)/(1 − 4v) while fibres shorten, 0
// where they do so faster, 1 + 5v/(1 + 10v) while they lengthen.
fn force_velocity(v: f32) -> vec2<f32> {
    let slow = larger(v, -1.0);
    let side = 1.0 / where_less(v, 0.0, 1.0 - slow * 4.0, 1.0 + slow * 10.0);
    let force = where_less(v, 0.0, (1.0 + slow) * side, 1.0 + slow * 5.0 * side);
    return vec2<f32>(force, where_less(-1.0, v, 5.0 * side * side, 0.0));
}

// e^y − 1 for y from 0 to 1, to fifth order, and the derivative of that.
fn exponential(y: f32) -> vec2<f32> {
    let series = 1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0))));
    return vec2<f32>(y * series, 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0)))));
}

// Places of Gauss's rule at three points between 0 and 1.
const GAUSS_EARLY: f32 = 0.11270166;
const GAUSS_MIDDLE: f32 = 0.5;
const GAUSS_LATE: f32 = 0.88729835;

// The integral of contract's pull over λ (J), of its active part from λ_n on; that of f_v by Gauss's rule.
fn fibre_potential(stretch: f32, row: ptr<function, RestRow>, excitation: Excitation) -> f32 {
    let length = by_length(excitation, row);
    let rise = length.y;
    let lengthened = stretch - excitation.prev_stretch;
    let v = lengthened * ((*row)[REST_INV_MAX_VELOCITY] * excitation.inv_step);
    let early = force_velocity(v * GAUSS_EARLY).x;
    let middle = force_velocity(v * GAUSS_MIDDLE).x;
    let late = force_velocity(v * GAUSS_LATE).x;
    let by_rate = (early + late) * (5.0 / 18.0) + middle * (8.0 / 18.0);
    let beyond_mean = stretch - excitation.mean_stretch;
    let inv_optimal = (*row)[REST_INV_OPTIMAL];
    let pushed = pushed_by(stretch, inv_optimal);
    let optimal = 1.0 / where_less(0.0, inv_optimal, inv_optimal, 1.0);
    let active_part = length.x * by_rate * lengthened
        + 0.5 * (rise * beyond_mean * beyond_mean + PUSH * optimal * pushed * pushed);

    let y = larger(stretch - 1.0, 0.0);
    let near = smaller(y, 1.0);
    let beyond = y - near;
    let fifth = (1.0 / 24.0) * 0.2 + near * (1.0 / 720.0);
    let integral = 0.5 + near * (1.0 / 6.0 + near * (1.0 / 24.0 + near * fifth));
    let passive = exponential(near);
    let passive_part = near * near * integral + beyond * (passive.x + 0.5 * passive.y * beyond);
    let strain = stretch - 1.0;
    return (*row)[REST_ACTIVE] * (excitation.activation * active_part + (*row)[REST_PASSIVE] * passive_part)
        + 0.5 * (*row)[REST_FIBRE_STIFFNESS] * strain * strain;
}

// Adds the fibres' gradient pull·j and their blocks stiffness·jjᵀ, with j the derivative of λ by the unknowns, and the
// string's stiffness across the path on the places.
fn add_fibres(
    strain: SegmentStrain,
    row: ptr<function, RestRow>,
    fibres: Contraction,
    terms: ptr<function, SegmentTerms>,
) {
    let inv_length = (*row)[REST_INV_LENGTH];

    // By |Γ|: along the path, with no couple on the sections.
    let by_slope = (*row)[REST_FIBRE_STRAIN];
    let inv_slope = 1.0 / larger(sqrt(dot(strain.slope, strain.slope)), 1.0e-6);
    let path = strain.slope * inv_slope;
    let place = path * (by_slope * inv_length);

    // By sΩ, s and Δ.
    let by_darboux =
        vec3<f32>((*row)[REST_FIBRE_DARBOUX], (*row)[REST_FIBRE_DARBOUX + 1u], (*row)[REST_FIBRE_DARBOUX + 2u]);
    let turn_rate = (1.0 + dot(strain.half_turn, strain.half_turn)) * inv_length;
    let turn = (strain.axes * by_darboux) * (strain.scale * turn_rate);
    let swelling = ((*row)[REST_FIBRE_SCALE] + dot(by_darboux, strain.darboux)) * 0.5;
    let tapering = (*row)[REST_FIBRE_DIFFERENCE];
    var by_a = Vec7(-place.x, -place.y, -place.z, swelling - tapering, -turn.x, -turn.y, -turn.z);
    var by_b = Vec7(place.x, place.y, place.z, swelling + tapering, turn.x, turn.y, turn.z);

    for (var i = 0u; i < UNKNOWNS; i++) {
        (*terms).gradient_a[i] = (*terms).gradient_a[i] + fibres.pull * by_a[i];
        (*terms).gradient_b[i] = (*terms).gradient_b[i] + fibres.pull * by_b[i];
        let stiff_a = fibres.stiffness * by_a[i];
        let stiff_b = fibres.stiffness * by_b[i];
        for (var j = 0u; j < UNKNOWNS; j++) {
            let both = stiff_b * by_b[j];
            // But for the scales, what is by b is against what is by a.
            let of_scale = i == 3u || j == 3u;
            let across = select(-both, stiff_a * by_b[j], of_scale);
            let own = select(both, stiff_a * by_a[j], of_scale);
            (*terms).block_ab[i][j] = (*terms).block_ab[i][j] + across;
            if j <= i {
                (*terms).block_aa[i][j] = (*terms).block_aa[i][j] + own;
                (*terms).block_bb[i][j] = (*terms).block_bb[i][j] + both;
            }
        }
    }

    let taut = larger(fibres.pull * by_slope, fibres.in_series) * inv_slope * inv_length * inv_length;
    let string = sym_transverse(taut, -taut, path);
    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j < 3u; j++) {
            (*terms).block_ab[i][j] = (*terms).block_ab[i][j] - string[j][i];
            if j <= i {
                (*terms).block_aa[i][j] = (*terms).block_aa[i][j] + string[j][i];
                (*terms).block_bb[i][j] = (*terms).block_bb[i][j] + string[j][i];
            }
        }
    }
}
