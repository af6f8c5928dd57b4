//! What a character is: its asset, how it is read from glTF, how its pose moves and where its flesh goes.

mod animation;
mod asset;
mod authored;
mod body;
mod bones;
mod first_flesh;
mod fit;
#[cfg(feature = "gltf")]
mod import;
mod muscles;
mod scaling;
mod skin_binding;
mod skin_tree;
pub mod skin_weights;
mod spawnable;
#[cfg(feature = "viperize")]
pub mod viperize;
mod welding;

pub use asset::*;
pub use authored::{AuthoredEnd, AuthoredMuscle};
pub use body::{Body, Pill, rigid_part};
pub use first_flesh::{FleshOptions, Limb};
pub use fit::{FittedMuscle, FittedPart};
#[cfg(feature = "gltf")]
pub use import::{ImportError, ImportOptions};
#[cfg(feature = "viperize")]
pub use muscles::muscle_surface;
pub use muscles::{
    BoneSpec, CourseError, ENDS_ATTRIBUTE, JointNames, MAX_MUSCLE_JOINTS, MAX_PATH_POINTS, MUSCLE_LIMITS,
    MaterialPreset, MeshEnds, MuscleEnd, MuscleError, MuscleLimits, MuscleMaterial, MuscleMesh, MuscleShape,
    MuscleSpec, PathPoint, SCHEMA_VERSION, Thickness, check_muscles,
};
#[cfg(feature = "gltf")]
pub use muscles::{Sidecar, SidecarError, SidecarSource, sidecar_path, write_sidecar};
pub use spawnable::{Character, CharacterError, Placement};
