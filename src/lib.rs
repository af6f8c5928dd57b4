//! Sinew gives game characters flesh.
#![deny(missing_docs)]

pub mod character;
#[cfg(feature = "picture")]
pub mod picture;
mod pose;

pub use pose::Pose;
