//! The CPU path: complete, and the specification of the GPU's. One module a stage.

mod backend;
pub mod block_tridiagonal;
pub(crate) mod bodies;
pub(crate) mod bone_pills;
pub(crate) mod carry;
pub mod contact_rows;
pub mod contacts;
pub(crate) mod descent;
pub mod fascia;
pub mod fibres;
pub mod grid;
pub mod group;
pub mod holds;
mod host;
mod joints;
mod kin;
pub mod lanes;
mod lay;
pub mod left_out;
pub mod math;
pub mod meetings;
mod members;
pub mod node_terms;
mod packs;
pub mod pills;
pub mod potential;
mod reactions;
pub mod rod_energies;
pub mod skin_blocks;
pub mod skin_lanes;
pub(crate) mod solid_slots;
pub(crate) mod solids;
pub mod solved;
pub mod strains;
mod stumps;
pub(crate) mod threads;
mod tree_motion;
mod trees;

pub(crate) use backend::CpuBackend;

use fearless_simd::{Level, Simd, SimdBase};
use group::Group;
use lanes::{Half, LANES, Lanes, OneF32, Wide, apart, with_instructions};

use crate::backend::Frame;
use crate::instances::Instance;
use crate::step::{Stage, StepParams, stages};

/// Which lanes the CPU steps with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneWidth {
    /// A whole group's chains at once, with the best instructions the machine has.
    #[default]
    Eight,
    /// A whole group's chains, with the instructions that every machine of the target has.
    EightBaseline,
    /// One chain at a time: the specification.
    One,
}

impl LaneWidth {
    fn level(self) -> Level {
        if self == Self::EightBaseline { Level::baseline() } else { Level::new() }
    }

    /// Runs a stage of chains on all of a group; others are not its business. It is compiled here, and [`run_stage`] where it is
    /// used.
    pub fn run_stage(self, stage: Stage, params: &StepParams, group: &mut Group<f32>) {
        match self {
            Self::Eight | Self::EightBaseline => {
                with_instructions!(self.level(), simd => run_wide(simd, stage, params, group))
            }
            Self::One => (0..LANES).for_each(|lane| run_stage(OneF32(lane), stage, params, group)),
        }
    }
}

/// Eight chains at once, or twice four, as the registers have it. A stage is done for the whole group before the next one starts,
/// so that what it asks of the group has one answer whatever the width.
#[inline(always)]
fn run_wide<S: Simd>(simd: S, stage: Stage, params: &StepParams, group: &mut Group<f32>) {
    // Known to the compiler, which so leaves out the width that is not run.
    if const { S::f32s::LEN < LANES } {
        run_stage(Half(simd, 0), stage, params, group);
        run_stage(Half(simd, 4), stage, params, group);
    } else {
        run_stage(Wide(simd), stage, params, group);
    }
}

/// The stages' modules, and the functions that run those of a domain.
macro_rules! runners {
    ($($(#[doc = $doc:literal])+ $stage:ident $name:ident $domain:ident $row:tt)+) => {
        $(module!($domain $name);)+

        /// Runs a stage of chains on those that `lanes` stands for; others are not its business.
        #[inline(always)]
        pub fn run_stage<L: Lanes>(lanes: L, stage: Stage, params: &StepParams, group: &mut Group<L::Scalar>)
        where
            L::Scalar: PartialEq + Into<f64>,
        {
            match stage {
                $(Stage::$stage => chains!($domain $name, lanes, params, group),)+
            }
        }

        /// Runs a stage of the host, of instances, of sections or of morphed vertices on an instance; others are not its business.
        fn run_on_instance(stage: Stage, frame: &Frame<'_>, instance: &mut Instance) {
            match stage {
                $(Stage::$stage => instance!($domain $name, frame, instance),)+
            }
        }

        /// Runs a stage of networks on all characters of one; others are not its business.
        #[cfg(feature = "neural")]
        fn run_on_batch(
            stage: Stage,
            (width, threads): (LaneWidth, &threads::Threads),
            network: &crate::neural::CorrectiveNetwork,
            characters: &mut [&mut crate::neural::Correctives],
        ) {
            match stage {
                $(Stage::$stage => batch!($domain $name, width, threads, network, characters),)+
            }
        }

        /// Runs a stage of vertices on some of an instance's; others are not its business.
        fn run_on_vertices(stage: Stage, width: LaneWidth, vertices: &mut deform_skin::Vertices<'_>) {
            match stage {
                $(Stage::$stage => vertices!($domain $name, width, vertices),)+
            }
        }
    };
}
macro_rules! module {
    (Host $name:ident) => {};
    (Networks $name:ident) => {
        #[cfg(feature = "neural")]
        pub(crate) mod $name;
    };
    ($domain:ident $name:ident) => {
        pub mod $name;
    };
}
macro_rules! chains {
    (Chains $name:ident, $lanes:ident, $params:ident, $group:ident) => {
        apart!($lanes, $name::$name($lanes, $params, $group))
    };
    ($domain:ident $name:ident, $lanes:ident, $params:ident, $group:ident) => {{}};
}
macro_rules! instance {
    (Host $name:ident, $frame:ident, $instance:ident) => {
        host::$name($frame, $instance)
    };
    (Instances $name:ident, $frame:ident, $instance:ident) => {
        $instance.report = $name::$name(&$instance.state.nodes, $frame.step as u32)
    };
    (Sections $name:ident, $frame:ident, $instance:ident) => {
        $name::$name(
            &$instance.blocks.skin,
            &$instance.skin_inputs,
            &$instance.state.nodes,
            $instance.mix.rods,
            &mut $instance.section_matrices,
        )
    };
    (MorphedVertices $name:ident, $frame:ident, $instance:ident) => {
        $name::$name(&$instance.blocks.skin, &$instance.state.morphs, &mut $instance.morphed)
    };
    ($domain:ident $name:ident, $frame:ident, $instance:ident) => {{}};
}
#[cfg(feature = "neural")]
macro_rules! batch {
    (Networks $name:ident, $width:ident, $threads:ident, $network:ident, $characters:ident) => {
        $name::$name($width, $threads, $network, $characters)
    };
    ($domain:ident $name:ident, $width:ident, $threads:ident, $network:ident, $characters:ident) => {{}};
}
macro_rules! vertices {
    (Vertices $name:ident, $width:ident, $vertices:ident) => {
        $name::$name($width, $vertices)
    };
    ($domain:ident $name:ident, $width:ident, $vertices:ident) => {{}};
}
stages!(runners);
