//! Flesh: rods on bones. The immutable [`Flesh`] is shared by every instance; a [`FleshState`] is one of them.

mod attach;
mod balance;
mod bone_motion;
mod bone_pills;
mod build;
mod bundle;
mod check;
mod muscle_state;
mod overlaps;
mod rest_rows;
mod shape_matching;
mod spec;
mod state;
mod tree;

pub(crate) use bone_motion::BoneMotion;
pub use bone_pills::{BonePill, BonePillError};
pub use build::{Chain, Flesh};
pub use bundle::{Bundle, Disc, Fibre};
pub(crate) use bundle::{arc_lengths, frames_along};
pub(crate) use check::{MOST_FORCE, check as check_rod};
pub use muscle_state::MuscleState;
pub(crate) use rest_rows::{LIVELY, spacing};
pub use shape_matching::{MatchError, RestDisc, RestSection, Similarity, rotational_part};
pub use spec::{Attachment, BuildError, Carriers, Contraction, Hang, Holds, RodNode, RodSpec, SCALE_RANGE};
pub(crate) use state::FrameInputs;
pub use state::{FleshState, GroupState, NodeState, Reaction};
pub(crate) use tree::Branch;
