//! Sinew gives game characters flesh.
#![deny(missing_docs)]

pub mod character;
mod pose;

pub use pose::Pose;
