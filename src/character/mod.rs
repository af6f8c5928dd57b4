//! What a character is: its asset, how it is read from glTF, how its pose moves and where its flesh goes.

mod animation;
mod asset;
mod body;
mod first_flesh;
#[cfg(feature = "gltf")]
mod import;
pub mod skin_weights;
mod spawnable;
mod welding;

pub use asset::*;
pub use body::{Body, Pill, rigid_part};
pub use first_flesh::{FleshOptions, Limb};
#[cfg(feature = "gltf")]
pub use import::{ImportError, ImportOptions};
pub use spawnable::{Character, CharacterError, Placement};
