//! Muscles as authors describe them: plain data, what is wrong with it, and the JSON that says it.
//!
//! A game fills [`MuscleSpec`] by hand, or a file does: the same object stands in a glTF node's
//! `extras.sinew.muscle`, in its extension `SINEW_muscle`, or in `NAME.muscles.json` beside the file.

#[cfg(feature = "gltf")]
mod bone_object;
mod bone_spec;
mod carriers;
mod error;
mod faults;
mod joint_names;
#[cfg(feature = "gltf")]
mod json_fix;
#[cfg(feature = "gltf")]
pub(super) mod object;
mod rods;
#[cfg(feature = "gltf")]
pub(super) mod schema;
#[cfg(feature = "gltf")]
pub(super) mod sidecar;
mod spec;
#[cfg(feature = "gltf")]
mod unique_keys;
mod validate;

#[cfg(feature = "gltf")]
pub(super) use bone_object::BoneObject;
pub use bone_spec::BoneSpec;
pub(super) use bone_spec::check_bones;
pub use error::MuscleError;
pub use joint_names::JointNames;
#[cfg(feature = "gltf")]
pub(super) use joint_names::edits;
#[cfg(feature = "gltf")]
pub(super) use json_fix::json_fix;
pub use rods::CourseError;
#[cfg(feature = "viperize")]
pub use rods::muscle_surface;
pub(super) use rods::{MuscleCourse, free_surface, lay, lay_plain};
#[cfg(feature = "gltf")]
pub use sidecar::{Sidecar, SidecarError, SidecarSource, sidecar_path, write_sidecar};
pub use spec::{
    MAX_MUSCLE_JOINTS, MAX_PATH_POINTS, MaterialPreset, MeshEnds, MuscleEnd, MuscleMaterial, MuscleMesh, MuscleShape,
    MuscleSpec, PathPoint, Thickness,
};
pub(super) use validate::SIZES;
#[cfg(feature = "gltf")]
pub(super) use validate::check_sizes;
pub use validate::{MUSCLE_LIMITS, MuscleLimits, check_muscles};

/// Name of the vertex attribute that marks a muscle mesh's ends: negative sources, positive sinks.
pub const ENDS_ATTRIBUTE: &str = "_SINEW_ENDS";

/// Version of the JSON schema that is written, and the newest that is read.
pub const SCHEMA_VERSION: u64 = 1;

/// At most 80 characters of a text from a file.
pub(super) fn shorten(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(end, _)| &text[..end])
}
