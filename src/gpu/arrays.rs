//! The arrays there are, and the stages' kernels that bind them.

use super::{ArrayId, ArraySpec, KernelSpec, Loops};
use crate::layout::{
    Group, HealthReport, InstanceGroups, MorphBlock, MorphPull, NetworkGroup, NetworkPlace, NetworkRun, SectionBlock,
    Segment, SkinBlock, SkinnedVertex, chain, contact, force, input, meet, node, partners, plane, reaction, rest,
    scratch, tally,
};
use crate::skin::{ModelPose, SectionMatrix, SectionWeight, SkinSection, SkinVertex};
use crate::step::{Domain, Size, Stage, stages};

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
/// [`scratch`] rows; behind those of nodes, which contact rows of meetings press, and what the last solve's matrix has of contact
/// rows.
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
/// [`plane`] rows.
pub const PLANE_ROWS: ArrayId = ArrayId(15);
/// [`contact`] rows.
pub const CONTACT_ROWS: ArrayId = ArrayId(16);
/// [`reaction`] rows.
pub const REACTION_ROWS: ArrayId = ArrayId(17);

/// [`InstanceGroups`] table.
pub const INSTANCES: ArrayId = ArrayId(18);
/// What each instance says of itself after a frame.
pub const REPORTS: ArrayId = ArrayId(19);

/// [`force`] rows of the groups of which nodes are pushed in this frame.
pub const FORCE_ROWS: ArrayId = ArrayId(20);

/// Which skin blocks are at work in the frame.
pub const WORKING_SKIN_BLOCKS: ArrayId = ArrayId(21);
/// Which section blocks are at work in the frame, and which share of what these do skin goes along with.
pub const WORKING_SECTION_BLOCKS: ArrayId = ArrayId(22);

/// [`Segment`] table, one for each node and lane of all groups.
pub const SEGMENTS: ArrayId = ArrayId(23);
/// The grid's cells, and what is in them.
pub const CELLS: ArrayId = ArrayId(24);
/// [`partners`] words of each segment, for either of two frames in turn.
pub const SEGMENT_PAIRS: ArrayId = ArrayId(25);
/// Whom segments may touch, for either of two frames in turn.
pub const PARTNERS: ArrayId = ArrayId(26);
/// How many pairs of segments there are, and which.
pub const PAIRS: ArrayId = ArrayId(27);
/// [`meet`] entries of eight pairs, two points each, and what these remember, for either of two frames in turn.
pub const MEET_ROWS: ArrayId = ArrayId(28);
/// Which segments of fleshes overlap at rest.
pub const REST_OVERLAPS: ArrayId = ArrayId(29);
/// How many workgroups a pass over all pairs has; how many pairs were found, in which recording, and for how many there was room.
pub const PAIR_SIZES: ArrayId = ArrayId(30);

/// [`MorphBlock`] table of the frame.
pub const MORPH_BLOCKS: ArrayId = ArrayId(31);
/// Where each vertex' morph pulls begin, and where the last one's end, of skins that have any.
pub const MORPH_STARTS: ArrayId = ArrayId(32);
/// What morph targets add to vertices.
pub const MORPH_PULLS: ArrayId = ArrayId(33);
/// How far morph weights are from those that skins are given with.
pub const MORPH_WEIGHTS: ArrayId = ArrayId(34);
/// What moves vertices before they are skinned, by instances; and M̄, by skins.
pub const SKIN_DELTAS: ArrayId = ArrayId(35);

/// What is said of solids: of each, how each goes in the frame, and their shapes.
pub const SOLIDS: ArrayId = ArrayId(36);

/// Where nodes were when they began to be still.
pub const STILL_PLACES: ArrayId = ArrayId(37);
/// [`rest_watch`](crate::layout::rest_watch) words of each instance, for either of two frames in turn; then the frame's
/// [`stir`](crate::layout::stir)s.
pub const REST_WATCHES: ArrayId = ArrayId(38);

/// [`tallies`](crate::layout::tallies), each chain's newest tally, and all [`tally`] words.
pub const TALLIES: ArrayId = ArrayId(39);

/// [`NetworkPlace`] table.
#[cfg(feature = "neural")]
pub const NETWORKS: ArrayId = ArrayId(40);
/// Networks' layers, mean displacements, and rows of their bases.
#[cfg(feature = "neural")]
pub const NETWORK_WORDS: ArrayId = ArrayId(41);
/// Networks' bases, packed.
#[cfg(feature = "neural")]
pub const NETWORK_BASES: ArrayId = ArrayId(42);
/// What networks read in the frame.
#[cfg(feature = "neural")]
pub const NETWORK_INPUTS: ArrayId = ArrayId(43);
/// Units and coefficients of the frame.
#[cfg(feature = "neural")]
pub const NETWORK_UNITS: ArrayId = ArrayId(44);
/// [`NetworkRun`] table of the frame, those of a network together.
#[cfg(feature = "neural")]
pub const NETWORK_RUNS: ArrayId = ArrayId(45);
/// [`NetworkGroup`] table of the frame.
#[cfg(feature = "neural")]
pub const NETWORK_GROUPS: ArrayId = ArrayId(46);

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
    ArraySpec::of_lanes("plane_rows", plane::ENTRIES as u32),
    ArraySpec::of_lanes("contact_rows", contact::ENTRIES as u32),
    ArraySpec::of_lanes("reaction_rows", reaction::ENTRIES as u32),
    ArraySpec::table::<InstanceGroups>("instances"),
    ArraySpec::table::<HealthReport>("reports"),
    ArraySpec::of_lanes("force_rows", force::ENTRIES as u32),
    ArraySpec::words("working_skin_blocks", 1),
    ArraySpec::words("working_section_blocks", 2),
    ArraySpec::table::<Segment>("segments"),
    ArraySpec::words("cells", 1),
    ArraySpec::words("segment_pairs", 2 * partners::ENTRIES as u32),
    ArraySpec::words("partners", 2),
    ArraySpec::words("pairs", 8),
    ArraySpec::of_lanes("meet_rows", meet::OF_PAIRS as u32),
    ArraySpec::words("rest_overlaps", 2),
    ArraySpec::words("pair_sizes", 6).indirect(),
    ArraySpec::table::<MorphBlock>("morph_blocks"),
    ArraySpec::words("morph_starts", 1),
    ArraySpec::table::<MorphPull>("morph_pulls"),
    ArraySpec::words("morph_weights", 1),
    ArraySpec::words("skin_deltas", 1),
    ArraySpec::words("solids", 1),
    ArraySpec::of_lanes("still_places", 3),
    ArraySpec::words("rest_watches", 1),
    ArraySpec::words("tallies", tally::ENTRIES as u32),
    ArraySpec::table::<NetworkPlace>("networks"),
    ArraySpec::words("network_words", 1),
    ArraySpec::words("network_bases", 1),
    ArraySpec::words("network_inputs", 1),
    ArraySpec::words("network_units", 1),
    ArraySpec::table::<NetworkRun>("network_runs"),
    ArraySpec::table::<NetworkGroup>("network_groups"),
];

/// The kernels of a stage, one a pass.
macro_rules! kernels {
    ($($(#[doc = $doc:literal])+ $stage:ident $name:ident $domain:ident $row:tt)+) => {
        /// The kernels of every stage, in the order of their passes; none of the host's.
        pub const KERNELS: &[(Stage, &[KernelSpec])] = &[$((Stage::$stage, passes!($stage $name $row))),+];
    };
}
macro_rules! passes {
    ($stage:ident $name:ident {}) => {
        &[]
    };
    ($stage:ident $name:ident { looks: $looks:ident, wgsl: [$($file:ident)*], loops: $loops:ident }) => {
        passes!($stage $name { looks: $looks, wgsl: [$($file)*], loops: $loops, passes: [$name Size::Domain] })
    };
    ($stage:ident $name:ident {
        looks: $looks:ident, wgsl: [$($file:ident)*], loops: $loops:ident, passes: [$($entry:ident $size:expr),+]
    }) => {{
        const SOURCE: &str = concat!(
            $(include_str!(concat!("../../shaders/bindings/", stringify!($file), ".wgsl")), "\n",)*
            include_str!(concat!("../../shaders/", stringify!($name), ".wgsl"))
        );
        &[$(KernelSpec {
            stage: Stage::$stage.name(),
            entry: stringify!($entry),
            size: $size,
            source: SOURCE,
            loops: Loops::$loops,
        }),+]
    }};
}
stages!(kernels);
