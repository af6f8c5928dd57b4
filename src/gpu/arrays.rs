//! The arrays there are, and the stages' kernels that bind them.

use super::{Access, ArrayId, ArraySpec, KernelSpec};
use crate::layout::{Group, SectionBlock, SkinBlock, SkinnedVertex, chain, input, node, rest, scratch};
use crate::skin::{ModelPose, SectionMatrix, SectionWeight, SkinSection, SkinVertex};
use crate::step::Stage;

/// [`Group`] table.
pub const GROUPS: ArrayId = ArrayId(0);
/// [`rest`] rows.
pub const REST_ROWS: ArrayId = ArrayId(1);
/// [`node`] rows.
pub const NODE_ROWS: ArrayId = ArrayId(2);
/// [`input`] rows.
pub const INPUT_ROWS: ArrayId = ArrayId(3);
/// [`chain`] rows.
pub const CHAIN_ROWS: ArrayId = ArrayId(4);
/// [`scratch`] rows.
pub const SCRATCH_ROWS: ArrayId = ArrayId(5);
/// [`SkinBlock`] table.
pub const SKIN_BLOCKS: ArrayId = ArrayId(6);
/// Skins' vertices at rest.
pub const SKIN_VERTICES: ArrayId = ArrayId(7);
/// Which sections skins' vertices follow.
pub const SECTION_WEIGHTS: ArrayId = ArrayId(8);
/// [`SectionBlock`] table.
pub const SECTION_BLOCKS: ArrayId = ArrayId(9);
/// Sections that skins follow, at rest.
pub const SKIN_SECTIONS: ArrayId = ArrayId(10);
/// Palette matrices.
pub const PALETTE: ArrayId = ArrayId(11);
/// Each instance's chains' origins, then its bones' motions and its root's, in model space.
pub const MODEL_POSES: ArrayId = ArrayId(12);
/// What the sections do beyond their bones.
pub const SECTION_MATRICES: ArrayId = ArrayId(13);
/// Deformed vertices.
pub const SKINNED: ArrayId = ArrayId(14);

/// Every array.
pub const ARRAYS: &[ArraySpec] = &[
    ArraySpec::table::<Group>("groups"),
    ArraySpec::of_lanes("rest_rows", rest::ENTRIES as u32),
    ArraySpec::of_lanes("node_rows", node::ENTRIES as u32),
    ArraySpec::of_lanes("input_rows", input::ENTRIES as u32),
    ArraySpec::of_lanes("chain_rows", chain::ENTRIES as u32),
    ArraySpec::of_lanes("scratch_rows", scratch::ENTRIES as u32),
    ArraySpec::table::<SkinBlock>("skin_blocks"),
    ArraySpec::table::<SkinVertex>("skin_vertices"),
    ArraySpec::table::<SectionWeight>("section_weights"),
    ArraySpec::table::<SectionBlock>("section_blocks"),
    ArraySpec::table::<SkinSection>("skin_sections"),
    ArraySpec::words("palette", 12),
    ArraySpec::table::<ModelPose>("model_poses"),
    ArraySpec::table::<SectionMatrix>("section_matrices"),
    ArraySpec::table::<SkinnedVertex>("skinned").drawable(),
];

const CHAIN_BINDINGS: &[(ArrayId, Access)] = &[
    (GROUPS, Access::Read),
    (REST_ROWS, Access::Read),
    (NODE_ROWS, Access::ReadWrite),
    (INPUT_ROWS, Access::Read),
    (CHAIN_ROWS, Access::ReadWrite),
    (SCRATCH_ROWS, Access::ReadWrite),
];

const SECTION_BINDINGS: &[(ArrayId, Access)] = &[
    (SECTION_BLOCKS, Access::Read),
    (SKIN_SECTIONS, Access::Read),
    (MODEL_POSES, Access::Read),
    (GROUPS, Access::Read),
    (NODE_ROWS, Access::Read),
    (SECTION_MATRICES, Access::ReadWrite),
];

const SKIN_BINDINGS: &[(ArrayId, Access)] = &[
    (SKIN_BLOCKS, Access::Read),
    (SKIN_VERTICES, Access::Read),
    (SECTION_WEIGHTS, Access::Read),
    (PALETTE, Access::Read),
    (SECTION_MATRICES, Access::Read),
    (SKINNED, Access::ReadWrite),
];

/// A stage whose thread is a chain, with the files of `shaders/bindings` that it takes beside `group.wgsl`, and whether its
/// loops of known count are written out: where chains' rows and energies are gone through.
macro_rules! chain_stage {
    ($stage:ident, $file:literal $(, $with:literal)*; unrolled: $unrolled:literal) => {
        (
            Stage::$stage,
            KernelSpec {
                stage: Stage::$stage.name(),
                source: concat!(
                    include_str!("../../shaders/bindings/group.wgsl"),
                    "\n",
                    $(include_str!(concat!("../../shaders/bindings/", $with, ".wgsl")), "\n",)*
                    include_str!(concat!("../../shaders/", $file, ".wgsl"))
                ),
                bindings: CHAIN_BINDINGS,
                unrolled: $unrolled,
            },
        )
    };
}

/// The kernel of every stage that has one.
pub const KERNELS: &[(Stage, KernelSpec)] = &[
    chain_stage!(MoveBones, "move_bones", "carry", "fascia"; unrolled: false),
    chain_stage!(Predict, "predict", "holds", "node_terms", "fascia", "potential"; unrolled: true),
    chain_stage!(SolveRods, "solve_rods", "holds", "node_terms", "fascia", "potential"; unrolled: true),
    chain_stage!(SolveContacts, "solve_contacts", "holds", "node_terms"; unrolled: false),
    chain_stage!(UpdateVelocities, "update_velocities"; unrolled: false),
    chain_stage!(CheckHealth, "check_health", "carry"; unrolled: false),
    (
        Stage::PoseSections,
        KernelSpec {
            stage: Stage::PoseSections.name(),
            source: include_str!("../../shaders/pose_sections.wgsl"),
            bindings: SECTION_BINDINGS,
            unrolled: false,
        },
    ),
    (
        Stage::DeformSkin,
        KernelSpec {
            stage: Stage::DeformSkin.name(),
            source: include_str!("../../shaders/deform_skin.wgsl"),
            bindings: SKIN_BINDINGS,
            unrolled: false,
        },
    ),
];
