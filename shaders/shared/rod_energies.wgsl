// Energies of one segment: gradients and Gauss–Newton blocks; the twin of src/cpu/rod_energies.rs, which has the
// table of residuals and the derivatives.

const LEAST_SLOPE2: f32 = 0.01;

// A rest row, as the stage has read it.
alias RestRow = array<f32, REST_ENTRIES>;

// What the energies read of a node.
struct Section {
    place: vec3<f32>,
    scale: f32,
    frame: Quaternion,
}

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

// The segment's strain measures.
struct SegmentStrain {
    axes: mat3x3<f32>,
    // ∇c in the world.
    slope: vec3<f32>,
    // Γ in the axes of q_m.
    strain: vec3<f32>,
    // Ω in the axes of q_m (1/m).
    darboux: vec3<f32>,
    // t in the axes of q_m.
    half_turn: vec3<f32>,
    scale: f32,
    scale_difference: f32,
}

// Measures a segment; `inv_length` is one over its rest length.
fn measure(a: Section, b: Section, inv_length: f32) -> SegmentStrain {
    let near = b.frame * where_less(dot(a.frame, b.frame), 0.0, -1.0, 1.0);
    let relative = product(conjugate(a.frame), near);
    let half_turn = relative.xyz * (1.0 / (1.0 + relative.w));
    let axes = axes_of(normalised(a.frame + near));
    let slope = (b.place - a.place) * inv_length;
    let strain = vec3<f32>(dot(axes[0], slope), dot(axes[1], slope), dot(axes[2], slope));
    let darboux = half_turn * (4.0 * inv_length);
    return SegmentStrain(axes, slope, strain, darboux, half_turn, (a.scale + b.scale) * 0.5, b.scale - a.scale);
}

// Gradient and Gauss–Newton blocks of the segment's elastic energy and of its fibres; `slack` is the tension times
// length (J) that needs no string term.
fn segment_terms(
    a: Section,
    b: Section,
    row: ptr<function, RestRow>,
    excitation: Excitation,
    slack: f32,
    terms: ptr<function, SegmentTerms>,
) {
    let strain = measure(a, b, (*row)[REST_INV_LENGTH]);
    let fibres = contract(fibre_stretch(strain, row), row, excitation);
    elastic_terms(strain, row, fibres.shortening, slack, terms);
    add_fibres(strain, row, fibres, terms);
}

// As segment_terms, of the elastic energy alone, with Γ̄_w of (11) shorter by `shortening`.
fn elastic_terms(
    measured: SegmentStrain,
    row: ptr<function, RestRow>,
    shortening: f32,
    slack: f32,
    terms: ptr<function, SegmentTerms>,
) {
    let inv_length = (*row)[REST_INV_LENGTH];
    let axes = measured.axes;
    let slope = measured.slope;
    let darboux = measured.darboux;
    let half_turn = measured.half_turn;
    let s = measured.scale;
    let w = axes[2];
    let gu = measured.strain.x;
    let gv = measured.strain.y;
    let gw = measured.strain.z;
    let ou = darboux.x;
    let ov = darboux.y;
    let s2 = s * s;
    let s4 = s2 * s2;

    // (11) and (18): force and stiffness by Γ, both by Γ_w and s.
    let shear = (*row)[REST_SHEAR];
    let volume = larger((*row)[REST_VOLUME], 0.0);
    let likeness = larger(-(*row)[REST_VOLUME], 0.0);
    let rest_stretch = (*row)[REST_STRETCH];
    let volume_force = volume * (s2 * gw - rest_stretch);
    let likeness_force = likeness * (gw - s * rest_stretch);
    let likeness_by_scale = likeness * rest_stretch;
    let axial_stiffness = (*row)[REST_AXIAL] + volume * s4 + likeness;
    let rest_axial = (*row)[REST_STRAIN + 2u] - shortening;
    let tension = (*row)[REST_AXIAL] * (gw - rest_axial) + s2 * volume_force + likeness_force;
    let across_u = shear * (gu - (*row)[REST_STRAIN]);
    let across_v = shear * (gv - (*row)[REST_STRAIN + 1u]);
    let pull = axes * vec3<f32>(across_u, across_v, tension);
    let volume_by_scale = 2.0 * s * gw;
    let force_by_scale = w * (volume * s2 * volume_by_scale - likeness_by_scale);
    let slope2 = larger(dot(slope, slope), LEAST_SLOPE2);
    let propped = shear + larger(-tension, 0.0) * larger(gw, 0.0) / slope2;
    var stiffness = sym_transverse(propped, axial_stiffness - propped, w);

    // (14), (19), (20): moment and stiffness by Ω, both by Ω and s.
    let bend_u = (*row)[REST_BEND_U];
    let bend_v = (*row)[REST_BEND_V];
    let bend_uv = (*row)[REST_BEND_UV];
    let torsion = (*row)[REST_TORSION];
    let volume_bend_u = (*row)[REST_VOLUME_BEND_U];
    let volume_bend_v = (*row)[REST_VOLUME_BEND_V];
    let rest_darboux = vec3<f32>((*row)[REST_DARBOUX], (*row)[REST_DARBOUX + 1u], (*row)[REST_DARBOUX + 2u]);
    let kappa = darboux * s - rest_darboux;
    let moment = vec3<f32>(
        bend_u * kappa.x + bend_uv * kappa.y,
        bend_uv * kappa.x + bend_v * kappa.y,
        torsion * kappa.z,
    );
    let s3 = s2 * s;
    let volume_moment_u = volume_bend_u * (s3 * ou - rest_darboux.x);
    let volume_moment_v = volume_bend_v * (s3 * ov - rest_darboux.y);
    let scaled_moment =
        vec3<f32>(s * moment.x + s3 * volume_moment_u, s * moment.y + s3 * volume_moment_v, s * moment.z);
    let s6 = s3 * s3;
    let turning = sym_from_axes(
        axes,
        s2 * bend_u + s6 * volume_bend_u,
        s2 * bend_v + s6 * volume_bend_v,
        s2 * bend_uv,
        s2 * torsion,
    );
    let bent = vec3<f32>(bend_u * ou + bend_uv * ov, bend_uv * ou + bend_v * ov, torsion * darboux.z);
    let three_s5 = 3.0 * s4 * s;
    let turning_by_scale = vec3<f32>(
        s * bent.x + three_s5 * volume_bend_u * ou,
        s * bent.y + three_s5 * volume_bend_v * ov,
        s * bent.z,
    );

    // By s: (12), (14), (18), (19), (20); by Δ: (12), (13).
    let lateral = (*row)[REST_LATERAL];
    let difference = (*row)[REST_SCALE_DIFFERENCE];
    let three_s2 = 3.0 * s2;
    let scale_force = lateral * (s - (*row)[REST_SCALE])
        + volume_by_scale * volume_force
        - rest_stretch * likeness_force
        + dot(darboux, moment)
        + three_s2 * (ou * volume_moment_u + ov * volume_moment_v);
    let scale_stiffness = lateral
        + volume * volume_by_scale * volume_by_scale
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
    let difference_force = difference * measured.scale_difference;
    let scale_a = half_scale_force - difference_force;
    let scale_b = half_scale_force + difference_force;
    (*terms).gradient_a = Vec7(-force.x, -force.y, -force.z, scale_a, torque_a.x, torque_a.y, torque_a.z);
    (*terms).gradient_b = Vec7(force.x, force.y, force.z, scale_b, torque_b.x, torque_b.y, torque_b.z);

    // M_a and M_b: [∇c]×[t]× = t ∇cᵀ − (∇c·t)·1.
    let half_slope = slope * 0.5;
    let along = dot(slope, t) * 0.5;
    let crossed = Mat3(
        vec3<f32>(0.0, -half_slope.z, half_slope.y),
        vec3<f32>(half_slope.z, 0.0, -half_slope.x),
        vec3<f32>(-half_slope.y, half_slope.x, 0.0),
    );
    let second = Mat3(
        t.x * half_slope - vec3<f32>(along, 0.0, 0.0),
        t.y * half_slope - vec3<f32>(0.0, along, 0.0),
        t.z * half_slope - vec3<f32>(0.0, 0.0, along),
    );
    var m_a = Mat3(crossed[0] + second[0], crossed[1] + second[1], crossed[2] + second[2]);
    var m_b = Mat3(crossed[0] - second[0], crossed[1] - second[1], crossed[2] - second[2]);
    var n_a = sym_times(stiffness, m_a);
    var n_b = sym_times(stiffness, m_b);
    let turn_rate2 = turn_rate * turn_rate;
    let quarter_scale = scale_stiffness * 0.25;
    var scale_pull = force_by_scale * (0.5 * inv_length);
    let by_scale = cross(force_by_scale, slope) * 0.25;
    let by_scale_twisted = cross(t, by_scale);
    let scale_turn = (axes * turning_by_scale) * (0.5 * turn_rate);
    var scale_torque_a = by_scale - by_scale_twisted - scale_turn;
    var scale_torque_b = by_scale + by_scale_twisted + scale_turn;

    let taut = larger(larger(tension, 0.0) * larger(gw, 0.0) - slack, 0.0) * 0.25;
    let stretched = sym_transverse(taut, -taut, w);
    var with_itself = stretched + turning * turn_rate2;
    var with_other = stretched - turning * turn_rate2;
    let inv_length2 = inv_length * inv_length;
    for (var i = 0u; i < 3u; i++) {
        for (var j = 0u; j < 3u; j++) {
            let place = stiffness[j][i] * inv_length2;
            let pull_a = n_a[i][j] * inv_length;
            let pull_b = n_b[i][j] * inv_length;
            (*terms).block_ab[i][j] = -place;
            (*terms).block_ab[i][4u + j] = -pull_b;
            (*terms).block_ab[4u + j][i] = pull_a;
            (*terms).block_ab[4u + i][4u + j] = column_dot(&m_a, i, &n_b, j) + with_other[j][i];
            (*terms).block_aa[4u + j][i] = -pull_a;
            (*terms).block_bb[4u + j][i] = pull_b;
            if j <= i {
                (*terms).block_aa[i][j] = place;
                (*terms).block_bb[i][j] = place;
                (*terms).block_aa[4u + i][4u + j] = column_dot(&m_a, i, &n_a, j) + with_itself[j][i];
                (*terms).block_bb[4u + i][4u + j] = column_dot(&m_b, i, &n_b, j) + with_itself[j][i];
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
    (*terms).block_aa[3][3] = quarter_scale + difference;
    (*terms).block_bb[3][3] = quarter_scale + difference;
    (*terms).block_ab[3][3] = quarter_scale - difference;
}

fn sym_times(s: Sym3, m: Mat3) -> Mat3 {
    let a = s * vec3<f32>(m[0].x, m[1].x, m[2].x);
    let b = s * vec3<f32>(m[0].y, m[1].y, m[2].y);
    let c = s * vec3<f32>(m[0].z, m[1].z, m[2].z);
    return Mat3(vec3<f32>(a.x, b.x, c.x), vec3<f32>(a.y, b.y, c.y), vec3<f32>(a.z, b.z, c.z));
}

fn column_dot(a: ptr<function, Mat3>, i: u32, b: ptr<function, Mat3>, j: u32) -> f32 {
    return (*a)[0][i] * (*b)[0][j] + (*a)[1][i] * (*b)[1][j] + (*a)[2][i] * (*b)[2][j];
}
