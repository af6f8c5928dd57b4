// What pose_sections and deform_skin read and write; src/skin.rs and src/layout.rs say what each field is.

struct SkinBlock {
    vertex_base: u32,
    vertex_count: u32,
    skinned_base: u32,
    weight_base: u32,
    matrix_base: u32,
    palette_base: u32,
    dual: u32,
    morph_base: u32,
    network_base: u32,
    linear_base: u32,
}

const NO_DELTAS: u32 = 0xffffffffu;

struct MorphBlock {
    vertex_count: u32,
    start_base: u32,
    pull_base: u32,
    weight_base: u32,
    delta_base: u32,
}

struct MorphPull {
    morph: u32,
    place: array<f32, 3>,
    normal: array<f32, 3>,
    tangent: array<f32, 3>,
}

const NETWORK_GROUP: u32 = 4u;
const MOST_OUTPUT: f32 = 3.0e38;
const BLOCK_NUMBERS: u32 = 64u;

struct NetworkLayers {
    inputs: u32,
    first_hidden: u32,
    second_hidden: u32,
    components: u32,
    words: u32,
}

struct NetworkPlace {
    layers: array<NetworkLayers, 2>,
    mean_base: u32,
    mean_count: u32,
    first_base: u32,
    row_base: u32,
    basis_base: u32,
    per_word: u32,
}

struct NetworkRun {
    network: u32,
    input_base: u32,
    unit_base: u32,
    coefficient_base: u32,
    delta_base: u32,
    weight: f32,
    passive_count: f32,
    active_count: f32,
}

struct NetworkGroup {
    run_base: u32,
    run_count: u32,
    block_base: u32,
}

struct SectionBlock {
    section_base: u32,
    section_count: u32,
    matrix_base: u32,
    group_base: u32,
    pose_base: u32,
    chain_count: u32,
}

struct SkinVertex {
    position: vec3<f32>,
    first_section: u32,
    normal: vec3<f32>,
    section_count: u32,
    rest_position: vec3<f32>,
    padding_a: u32,
    rest_normal: vec3<f32>,
    padding_b: u32,
    joints: vec4<u32>,
    weights: array<f32, 8>,
    tangent: vec4<f32>,
    rest_tangent: vec3<f32>,
    padding_c: u32,
}

struct SectionWeight {
    section: u32,
    weight: f32,
}

struct SkinSection {
    place: vec3<f32>,
    group: u32,
    frame: vec4<f32>,
    node: u32,
    lane: u32,
    chain: u32,
    bone_blend: f32,
    bones: vec2<u32>,
    reach: f32,
    padding: u32,
}

struct SectionMatrix {
    place: array<vec4<f32>, 3>,
    normal: array<vec4<f32>, 3>,
}

struct ModelPose {
    rotation: vec4<f32>,
    translation: vec3<f32>,
    padding: u32,
}

struct SkinnedVertex {
    position: array<f32, 3>,
    normal: array<f32, 3>,
    tangent: array<f32, 4>,
}
