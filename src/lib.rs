//! Sinew gives game characters flesh.
#![deny(missing_docs)]

pub mod character;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod layout;
mod pose;

pub use pose::Pose;
