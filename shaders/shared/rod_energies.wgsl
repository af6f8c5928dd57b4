// Energies of one segment, their gradients and Gauss–Newton blocks; the twin of src/cpu/rod_energies.rs, which has the
// table of residuals and the derivatives.

// The least |Γ|² with which a pressed segment's stiffness against shear is taken.
const LEAST_SLOPE2: f32 = 0.01;

// Below which share of its rest value a volume is defended more strongly, and how much: see volume_residual.
const THIN: f32 = 0.5;
const STEEPER: f32 = 4.0;

// What a segment adds to the system of its two nodes.
struct SegmentTerms {
    // Gradient by the unknowns of a.
    gradient_a: Vec7,
    // Gradient by the unknowns of b.
    gradient_b: Vec7,
    // Block of a with itself, lower triangle.
    block_aa: Mat7,
    // Block of a (rows) with b (columns).
    block_ab: Mat7,
    // Block of b with itself, lower triangle.
    block_bb: Mat7,
}

// What (18) measures of J = s²Γ_w, and its derivative by J: J − Λ̄, and faster below THIN·Λ̄.
fn volume_residual(ratio: f32, rest_stretch: f32) -> vec2<f32> {
    let thin = larger(rest_stretch * THIN - ratio, 0.0);
    let steeper = thin * STEEPER;
    return vec2<f32>(ratio - rest_stretch - steeper * thin, 1.0 + steeper + steeper);
}

// What (12) measures of s, and its derivative by s: s − s̄, and where activation has left β of the reference,
// √β(s − s̄)(1 + ½(1 − β)(s̄/s − 1)).
fn lateral_residual(s: f32, reference: Reference) -> vec2<f32> {
    let off = s - reference.scale;
    let size = sqrt(reference.length_left);
    let share = (1.0 - reference.length_left) * 0.5;
    let ratio = reference.scale / s;
    return vec2<f32>(size * off * (1.0 + share * (ratio - 1.0)), size * (1.0 + share * (ratio * ratio - 1.0)));
}

// The residuals of a segment in the order of the table, beside their coefficients: axial, two shears, lateral, scale
// difference, three of (14) (with BEND_UV left to elastic_energy), volume, (19), (20), likeness.
fn residuals(strain: SegmentStrain, row: ptr<function, RestRow>, reference: Reference) -> array<vec2<f32>, 12> {
    let gamma = strain.strain;
    let omega = strain.darboux;
    let s = strain.scale;
    let s2 = s * s;
    let s3 = s2 * s;
    let stretch = (*row)[REST_STRETCH];
    let swelling = volume_residual(s2 * gamma.z, stretch).x;
    let stiffness = stiffness_of(row, reference);
    return array<vec2<f32>, 12>(
        vec2<f32>(gamma.z - reference.strain.z, stiffness.axial),
        vec2<f32>(gamma.x - reference.strain.x, stiffness.shear),
        vec2<f32>(gamma.y - reference.strain.y, stiffness.shear),
        vec2<f32>(lateral_residual(s, reference).x, stiffness.lateral),
        vec2<f32>(strain.scale_difference, stiffness.difference),
        vec2<f32>(s * omega.x - reference.darboux.x, (*row)[REST_BEND_U]),
        vec2<f32>(s * omega.y - reference.darboux.y, (*row)[REST_BEND_V]),
        vec2<f32>(s * omega.z - reference.darboux.z, (*row)[REST_TORSION]),
        vec2<f32>(swelling, larger(stiffness.volume, 0.0)),
        vec2<f32>(s3 * omega.x - reference.darboux.x, (*row)[REST_VOLUME_BEND_U]),
        vec2<f32>(s3 * omega.y - reference.darboux.y, (*row)[REST_VOLUME_BEND_V]),
        vec2<f32>(gamma.z - s * stretch, larger(-stiffness.volume, 0.0)),
    );
}

// The stiffnesses (J) of a segment by its strains, as far as they are counted.
struct Stiffness {
    axial: f32,
    shear: f32,
    lateral: f32,
    difference: f32,
    volume: f32,
}

fn stiffness_of(row: ptr<function, RestRow>, reference: Reference) -> Stiffness {
    let counted = reference.counted;
    return Stiffness(
        (*row)[REST_AXIAL] * counted,
        shear_stiffness(row, reference) * counted,
        (*row)[REST_LATERAL] * counted,
        (*row)[REST_SCALE_DIFFERENCE] * counted,
        (*row)[REST_VOLUME] * counted,
    );
}

// The stiffness (J) of (11) by Γ_u and Γ_v. Where activation has left β of the reference, what it took pulls along the path, as
// fibres do: AXIAL·(1 − β)·|Γ| in place of Γ_w, to second order.
fn shear_stiffness(row: ptr<function, RestRow>, reference: Reference) -> f32 {
    return (*row)[REST_SHEAR] + (*row)[REST_AXIAL] * (1.0 - reference.length_left);
}

// A segment's potential (J), apart for what rounding does to its parts.
struct Stored {
    // By how far it is stretched, sheared and swollen, and by its fibres.
    strain: f32,
    // By how far it is bent and twisted.
    turn: f32,
}

// All of it (J).
fn whole(stored: Stored) -> f32 {
    return stored.strain + stored.turn;
}

// The sum of two.
fn together(a: Stored, b: Stored) -> Stored {
    return Stored(a.strain + b.strain, a.turn + b.turn);
}

// The segment's elastic energy.
fn elastic_energy(strain: SegmentStrain, row: ptr<function, RestRow>, reference: Reference) -> Stored {
    var residuals = residuals(strain, row, reference);
    var twice = 0.0;
    var turn = (*row)[REST_BEND_UV] * residuals[5].x * residuals[6].x;
    for (var k = 0u; k < 12u; k++) {
        let residual = residuals[k].x;
        let coefficient = residuals[k].y;
        if (k >= 5u && k <= 7u) || k == 9u || k == 10u {
            turn = turn + 0.5 * coefficient * residual * residual;
        } else {
            twice = twice + coefficient * residual * residual;
        }
    }
    return Stored(0.5 * twice, turn);
}

// The potential of a segment: its elastic energy, and that of its fibres, if anything makes them pull.
fn segment_potential(
    a: Section,
    b: Section,
    row: ptr<function, RestRow>,
    reference: Reference,
    contracting: bool,
    excitation: Excitation,
) -> Stored {
    let strain = measure(a, b, (*row)[REST_INV_LENGTH]);
    if !contracting {
        return elastic_energy(strain, row, reference);
    }
    var stored = elastic_energy(strain, row, shortened(reference, shortening(excitation, row)));
    stored.strain = stored.strain + fibre_potential(fibre_stretch(strain, row), row, excitation);
    return stored;
}

// Gradient and Gauss–Newton blocks of the segment's elastic energy and of its fibres, if anything makes them pull.
fn segment_terms(
    a: Section,
    b: Section,
    row: ptr<function, RestRow>,
    reference: Reference,
    contracting: bool,
    excitation: Excitation,
    string_share: f32,
    terms: ptr<function, SegmentTerms>,
) {
    let strain = measure(a, b, (*row)[REST_INV_LENGTH]);
    var unstressed = reference;
    if contracting {
        unstressed = shortened(reference, shortening(excitation, row));
    }
    elastic_terms(strain, row, unstressed, string_share, terms);
    if contracting {
        let fibres = contract(fibre_stretch(strain, row), row, excitation);
        add_fibres(strain, row, fibres, terms);
    }
}

// As segment_terms, of the elastic energy alone.
fn elastic_terms(
    measured: SegmentStrain,
    row: ptr<function, RestRow>,
    reference: Reference,
    string_share: f32,
    terms: ptr<function, SegmentTerms>,
) {
    let inv_length = (*row)[REST_INV_LENGTH];
    let axes = measured.axes;
    var slope = measured.slope;
    let darboux = measured.darboux;
    let half_turn = measured.half_turn;
    let s = measured.scale;
    var w = axes[2];
    let gu = measured.strain.x;
    let gv = measured.strain.y;
    let gw = measured.strain.z;
    let ou = darboux.x;
    let ov = darboux.y;
    let s2 = s * s;

    // (11) and (18): force and stiffness by Γ, both by Γ_w and s.
    let stiffness = stiffness_of(row, reference);
    let shear = stiffness.shear;
    let volume = larger(stiffness.volume, 0.0);
    let likeness = larger(-stiffness.volume, 0.0);
    let rest_stretch = (*row)[REST_STRETCH];
    let swelling = volume_residual(s2 * gw, rest_stretch);
    let swelling_rate = swelling.y;
    let volume_force = volume * swelling_rate * swelling.x;
    let volume_stiffness = volume * swelling_rate * swelling_rate;
    let likeness_force = likeness * (gw - s * rest_stretch);
    let likeness_by_scale = likeness * rest_stretch;
    let axial_stiffness = stiffness.axial + volume_stiffness * (s2 * s2) + likeness;
    let tension = stiffness.axial * (gw - reference.strain.z) + s2 * volume_force + likeness_force;
    let across_u = shear * (gu - reference.strain.x);
    let across_v = shear * (gv - reference.strain.y);
    let pull = axes * vec3<f32>(across_u, across_v, tension);
    let volume_by_scale = 2.0 * s * gw;
    let force_by_scale = w * (volume_stiffness * s2 * volume_by_scale - likeness_by_scale);
    let slope2 = dot(slope, slope);
    let by_slope = larger(gw, 0.0) / larger(slope2, LEAST_SLOPE2);
    let pressure = larger(-tension, 0.0) * by_slope;
    let string = string_share * larger(tension, 0.0) * by_slope;
    let propped = shear + pressure;
    let along = axial_stiffness - propped;

    // (14), (19), (20): moment and stiffness by Ω, both by Ω and s.
    let bend_u = (*row)[REST_BEND_U];
    let bend_v = (*row)[REST_BEND_V];
    let bend_uv = (*row)[REST_BEND_UV];
    let torsion = (*row)[REST_TORSION];
    let volume_bend_u = (*row)[REST_VOLUME_BEND_U];
    let volume_bend_v = (*row)[REST_VOLUME_BEND_V];
    let kappa = darboux * s - reference.darboux;
    let moment = vec3<f32>(
        bend_u * kappa.x + bend_uv * kappa.y,
        bend_uv * kappa.x + bend_v * kappa.y,
        torsion * kappa.z,
    );
    let s3 = s2 * s;
    let volume_moment_u = volume_bend_u * (s3 * ou - reference.darboux.x);
    let volume_moment_v = volume_bend_v * (s3 * ov - reference.darboux.y);
    let scaled_moment =
        vec3<f32>(s * moment.x + s3 * volume_moment_u, s * moment.y + s3 * volume_moment_v, s * moment.z);
    let s6 = s3 * s3;
    let bent = vec3<f32>(bend_u * ou + bend_uv * ov, bend_uv * ou + bend_v * ov, torsion * darboux.z);
    let three_s5 = 3.0 * s3 * s2;
    let turning_by_scale = vec3<f32>(
        s * bent.x + three_s5 * volume_bend_u * ou,
        s * bent.y + three_s5 * volume_bend_v * ov,
        s * bent.z,
    );

    // By s: (12), (14), (18), (19), (20); by Δ: (12), (13).
    let three_s2 = 3.0 * s2;
    let broadening = lateral_residual(s, reference);
    let lateral_force = stiffness.lateral * broadening.y;
    let scale_force = lateral_force * broadening.x + volume_by_scale * volume_force
        - rest_stretch * likeness_force
        + dot(darboux, moment)
        + three_s2 * (ou * volume_moment_u + ov * volume_moment_v);
    let scale_stiffness = lateral_force * broadening.y
        + volume_stiffness * volume_by_scale * volume_by_scale
        + likeness_by_scale * rest_stretch
        + dot(darboux, bent)
        + three_s2 * three_s2 * (volume_bend_u * ou * ou + volume_bend_v * ov * ov);

    // From strains to the two nodes' unknowns.
    let t = axes * half_turn;
    let turn_rate = (1.0 + dot(half_turn, half_turn)) * inv_length;
    let couple = cross(pull, slope) * 0.5;
    let twisted = cross(t, couple);
    let moment_world = (axes * scaled_moment) * turn_rate;
    let force = pull * inv_length;
    let torque_a = couple - twisted - moment_world;
    let torque_b = couple + twisted + moment_world;
    let half_scale_force = 0.5 * scale_force;
    let difference_force = stiffness.difference * measured.scale_difference;
    let scale_a = half_scale_force - difference_force;
    let scale_b = half_scale_force + difference_force;
    (*terms).gradient_a = Vec7(-force.x, -force.y, -force.z, scale_a, torque_a.x, torque_a.y, torque_a.z);
    (*terms).gradient_b = Vec7(force.x, force.y, force.z, scale_b, torque_b.x, torque_b.y, torque_b.z);

    // K = propped·1 + along·wwᵀ; p = Gᵀw. By the places K/l², with the mean turn KG/l.
    let inv_length2 = inv_length * inv_length;
    var places = sym_transverse((propped + string) * inv_length2, (along - string) * inv_length2, w);
    var p = cross(w, slope);
    let g = slope * (propped * inv_length);
    let lever = p * (along * inv_length);
    let with_mean = Mat3(
        (vec3<f32>(0.0, -g.z, g.y) + w.x * lever) * 0.5,
        (vec3<f32>(g.z, 0.0, -g.x) + w.y * lever) * 0.5,
        (vec3<f32>(-g.y, g.x, 0.0) + w.z * lever) * 0.5,
    );
    let with_turn = times_cross(with_mean, t);
    var pull_a = Mat3(with_mean[0] + with_turn[0], with_mean[1] + with_turn[1], with_mean[2] + with_turn[2]);
    var pull_b = Mat3(with_mean[0] - with_turn[0], with_mean[1] - with_turn[1], with_mean[2] - with_turn[2]);

    // GᵀKG/4 by the mean turn, its product with [t]× by mean and difference, the bending's by the difference.
    var tilt = slope * (propped * 0.25);
    var mean_lever = p * (along * 0.25);
    let isotropic = dot(slope, tilt);
    var mean: Mat3;
    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j <= i; j++) {
            mean[i][j] = p[i] * mean_lever[j] - slope[i] * tilt[j];
            mean[j][i] = mean[i][j];
        }
        mean[i][i] = mean[i][i] + isotropic;
    }
    var mixed = times_cross(mean, t);
    let turn_rate2 = turn_rate * turn_rate;
    let turning = sym_from_axes(
        axes,
        (s2 * bend_u + s6 * volume_bend_u) * turn_rate2,
        (s2 * bend_v + s6 * volume_bend_v) * turn_rate2,
        s2 * bend_uv * turn_rate2,
        s2 * torsion * turn_rate2,
    );
    // By columns, as matrices of WGSL are.
    var apart = mat3x3<f32>(
        cross(vec3<f32>(mixed[0].x, mixed[1].x, mixed[2].x), t) + turning[0],
        cross(vec3<f32>(mixed[0].y, mixed[1].y, mixed[2].y), t) + turning[1],
        cross(vec3<f32>(mixed[0].z, mixed[1].z, mixed[2].z), t) + turning[2],
    );

    var scale_pull = force_by_scale * (0.5 * inv_length);
    let by_scale = cross(force_by_scale, slope) * 0.25;
    let by_scale_twisted = cross(t, by_scale);
    let scale_turn = (axes * turning_by_scale) * (0.5 * turn_rate);
    var scale_torque_a = by_scale - by_scale_twisted - scale_turn;
    var scale_torque_b = by_scale + by_scale_twisted + scale_turn;
    let quarter_scale = scale_stiffness * 0.25;

    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j < 3u; j++) {
            (*terms).block_ab[i][j] = -places[j][i];
            (*terms).block_ab[i][4u + j] = -pull_b[i][j];
            (*terms).block_ab[4u + j][i] = pull_a[i][j];
            (*terms).block_aa[4u + j][i] = -pull_a[i][j];
            (*terms).block_bb[4u + j][i] = pull_b[i][j];
            // By α and β: the mean's, what mixes it with the difference, and the difference's.
            (*terms).block_ab[4u + i][4u + j] = mean[i][j] - apart[j][i] + (mixed[j][i] - mixed[i][j]);
            if j <= i {
                let both = mean[i][j] + apart[j][i];
                let mix = mixed[i][j] + mixed[j][i];
                (*terms).block_aa[i][j] = places[j][i];
                (*terms).block_bb[i][j] = places[j][i];
                (*terms).block_aa[4u + i][4u + j] = both + mix;
                (*terms).block_bb[4u + i][4u + j] = both - mix;
            }
        }
        (*terms).block_aa[3][i] = -scale_pull[i];
        (*terms).block_bb[3][i] = scale_pull[i];
        (*terms).block_ab[i][3] = -scale_pull[i];
        (*terms).block_ab[3][i] = scale_pull[i];
        (*terms).block_aa[4u + i][3] = scale_torque_a[i];
        (*terms).block_bb[4u + i][3] = scale_torque_b[i];
        (*terms).block_ab[4u + i][3] = scale_torque_a[i];
        (*terms).block_ab[3][4u + i] = scale_torque_b[i];
    }
    (*terms).block_aa[3][3] = quarter_scale + stiffness.difference;
    (*terms).block_bb[3][3] = quarter_scale + stiffness.difference;
    (*terms).block_ab[3][3] = quarter_scale - stiffness.difference;
}

// `m [t]×`: row by row, the row × t.
fn times_cross(m: Mat3, t: vec3<f32>) -> Mat3 {
    return Mat3(cross(m[0], t), cross(m[1], t), cross(m[2], t));
}
