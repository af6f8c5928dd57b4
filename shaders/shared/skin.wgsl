// What pose_sections and deform_skin read and write; src/skin.rs and src/layout.rs say what each field is.

struct SkinBlock {
    vertex_base: u32,
    vertex_count: u32,
    skinned_base: u32,
    weight_base: u32,
    matrix_base: u32,
    palette_base: u32,
    dual: u32,
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
