// What a segment's strains are, and what they are compared with; the twin of src/cpu/strains.rs, which defines them.

// The least 1 + Re p, of a segment that is all but a whole turn round.
const LEAST_COSINE: f32 = 1.0e-3;

// Of how many units in the last place of a segment's stiffness by strain its inertia over h̃² is made up at least: what is
// stiffer for its step is counted as stiff as that.
const RESOLVED: f32 = 16.0;

// A rest row, as the stage has read it.
alias RestRow = array<f32, REST_ENTRIES>;

// What the energies read of a node.
struct Section {
    place: vec3<f32>,
    scale: f32,
    frame: Quaternion,
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
    let relative = product(conjugate(a.frame), b.frame);
    let half_turn = relative.xyz * (1.0 / larger(1.0 + relative.w, LEAST_COSINE));
    let axes = axes_of(normalised(a.frame + b.frame));
    let slope = (b.place - a.place) * inv_length;
    let strain = vec3<f32>(dot(axes[0], slope), dot(axes[1], slope), dot(axes[2], slope));
    let darboux = half_turn * (4.0 * inv_length);
    return SegmentStrain(axes, slope, strain, darboux, half_turn, (a.scale + b.scale) * 0.5, b.scale - a.scale);
}

// What a segment's strains are where it bears no stress.
struct Reference {
    // Γ̄.
    strain: vec3<f32>,
    // Ω̄ (1/m).
    darboux: vec3<f32>,
    // s̄.
    scale: f32,
    // The length that a muscle's activation leaves of it.
    length_left: f32,
    // The share of its stiffness by strain that is counted.
    counted: f32,
}

// Shorter along w by a factor, and as much thicker as keeps the volume.
fn shortened(reference: Reference, by: f32) -> Reference {
    let strain = vec3<f32>(reference.strain.xy, reference.strain.z * by);
    return Reference(strain, reference.darboux, reference.scale * (1.0 / sqrt(by)), by, reference.counted);
}

// The most stiffness by strain over inertia (1/s²) that a step resolves.
fn most_stiffness(inv_step2: f32) -> f32 {
    return inv_step2 / (RESOLVED * EPSILON);
}
