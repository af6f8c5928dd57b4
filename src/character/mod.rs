//! What a character is: its asset, how it is read from glTF, how its pose moves and where its flesh goes.

mod animation;
mod asset;
#[cfg(feature = "gltf")]
mod import;

pub use asset::*;
#[cfg(feature = "gltf")]
pub use import::{ImportError, ImportOptions};
