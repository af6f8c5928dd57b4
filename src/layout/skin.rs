//! Blocks of an instance's skin, what moves its vertices, and what becomes of them.

use bytemuck::{Pod, Zeroable};

/// Up to [`WORKGROUP_SIZE`](super::WORKGROUP_SIZE) vertices of one instance's skin, and where its rows lie: the work of one
/// workgroup.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct SkinBlock {
    /// The first vertex among skin vertices, which instances of the same skin share.
    pub vertex_base: u32,
    /// How many vertices.
    pub vertex_count: u32,
    /// Where the first one goes among skinned vertices.
    pub skinned_base: u32,
    /// The skin's first row among section weights.
    pub weight_base: u32,
    /// The instance's first section matrix; [`NO_DELTAS`] where its skin does not go with sections.
    pub matrix_base: u32,
    /// The instance's first matrix of the palette, of three rows; of dual quaternions, of which a joint has four, the first row is there.
    pub palette_base: u32,
    /// Whether dual quaternions are blended.
    pub dual: u32,
    /// What morph targets add to its vertices, the first word among skin deltas: of each place, normal and tangent; or
    /// [`NO_DELTAS`].
    pub morph_base: u32,
    /// What networks add to its vertices' places, as `morph_base`.
    pub network_base: u32,
    /// The first word among skin deltas of M̄, nine of each vertex, where either of these is there.
    pub linear_base: u32,
}

/// Up to [`WORKGROUP_SIZE`](super::WORKGROUP_SIZE) cross-sections that one instance's skin follows, and where its rows lie: the work
/// of one workgroup.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct SectionBlock {
    /// The first section among skin sections, which instances of the same skin share.
    pub section_base: u32,
    /// How many sections.
    pub section_count: u32,
    /// Where the first one goes among section matrices.
    pub matrix_base: u32,
    /// The instance's first row of the group table.
    pub group_base: u32,
    /// The instance's first row among model poses: its chains', its bones', the root's.
    pub pose_base: u32,
    /// How many of these are chains'.
    pub chain_count: u32,
}

/// A deformed vertex as kernels write it and hosts draw it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct SkinnedVertex {
    /// Place in model space (m).
    pub position: [f32; 3],
    /// Unit normal.
    pub normal: [f32; 3],
    /// Unit tangent, and the side that the bitangent is on, 1 or −1; zeros where the mesh has none.
    pub tangent: [f32; 4],
}

/// Stands for the place of what there is none of.
pub const NO_DELTAS: u32 = u32::MAX;

/// Up to [`WORKGROUP_SIZE`](super::WORKGROUP_SIZE) vertices of one instance's skin that morph targets move in a frame: the work of
/// one workgroup.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct MorphBlock {
    /// How many vertices.
    pub vertex_count: u32,
    /// Where among morph starts the first vertex' is; the next one's is where its pulls end.
    pub start_base: u32,
    /// The skin's first row among morph pulls.
    pub pull_base: u32,
    /// The instance's first morph weight.
    pub weight_base: u32,
    /// The first word among skin deltas.
    pub delta_base: u32,
}

/// What a morph target adds to a vertex, those of a vertex together.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct MorphPull {
    /// The target.
    pub morph: u32,
    /// To its place (m).
    pub place: [f32; 3],
    /// To its unit normal.
    pub normal: [f32; 3],
    /// To its unit tangent.
    pub tangent: [f32; 3],
}
