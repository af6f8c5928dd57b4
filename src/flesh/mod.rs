//! Flesh: rods on bones. The immutable [`Flesh`] is shared by every instance; a [`FleshState`] is one of them.

mod build;
mod bundle;
mod shape_matching;
mod spec;
mod state;

pub use build::{Chain, Flesh};
pub use bundle::{Bundle, Disc};
pub use shape_matching::{MatchError, RestDisc, RestSection, Similarity, rotational_part};
pub use spec::{Attachment, BuildError, Holds, RodNode, RodSpec, SCALE_RANGE};
pub use state::{FleshState, GroupState, NodeState};
