// What deform_skin reads and writes; src/skin.rs and src/layout.rs say what each field is.

struct SkinBlock {
    vertex_base: u32,
    vertex_count: u32,
    skinned_base: u32,
    binding_base: u32,
    group_base: u32,
    pose_base: u32,
    chain_count: u32,
    palette_base: u32,
}

struct SkinVertex {
    position: vec3<f32>,
    first_binding: u32,
    normal: vec3<f32>,
    binding_count: u32,
    joints: vec4<u32>,
    weights: array<f32, 8>,
}

struct RodBinding {
    weight: f32,
    blend: f32,
    group: u32,
    node: u32,
    offset_a: vec3<f32>,
    lane: u32,
    offset_b: vec3<f32>,
    chain: u32,
    bone_offset: vec3<f32>,
    bone: u32,
    normal_a: vec3<f32>,
    padding_a: u32,
    bone_normal: vec3<f32>,
    padding_b: u32,
}

struct ModelPose {
    rotation: vec4<f32>,
    translation: vec3<f32>,
    padding: u32,
}

struct SkinnedVertex {
    position: array<f32, 3>,
    normal: array<f32, 3>,
}
