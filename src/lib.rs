//! Sinew gives game characters flesh.
#![deny(missing_docs)]

pub mod character;
mod half_space;
mod pose;
#[cfg(feature = "rapier")]
pub mod rigid;

pub use half_space::HalfSpace;
pub use pose::Pose;
