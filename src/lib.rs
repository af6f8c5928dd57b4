//! Sinew gives game characters flesh.
#![deny(missing_docs)]

pub mod character;
#[cfg(feature = "hecs")]
pub mod components;
#[allow(missing_docs)]
pub mod cpu;
mod fixed_step;
pub mod flesh;
#[cfg(feature = "gpu")]
pub mod gpu;
mod half_space;
pub mod layout;
mod material;
mod physics;
#[cfg(feature = "picture")]
pub mod picture;
mod pose;
mod quality;
#[cfg(feature = "rapier")]
pub mod rigid;
pub mod scenes;
mod skin;
pub mod step;
mod timing;
#[cfg(feature = "hecs")]
pub mod world;

pub use character::{Character, Placement};
pub use fixed_step::FixedStep;
pub use half_space::HalfSpace;
pub use material::{Material, Moduli, ModuliOverrides, Section};
pub use physics::{Backend, BackendError, BackendReport, FleshHandle, Health, Physics, Snapshot, StepError};
pub use pose::Pose;
pub use quality::Quality;
pub use skin::{ModelPose, PaletteMatrix, RodBinding, Skin, SkinInputs, SkinVertex, SkinnedVertices, palette_matrix};
pub use timing::StageTimes;
