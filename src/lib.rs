//! Sinew gives game characters flesh: volume-preserving rods that hang on bones, beside rapier, on the CPU or the GPU.
//!
//! In this order, it is meant to be
//! 1. right: a rod is as stiff as its material says, whatever the frame budget;
//! 2. unbreakable: nothing a file contains crashes it, nothing finite makes it NaN;
//! 3. repeatable: the same inputs give the same bits on the CPU, at any thread count;
//! 4. fast;
//! 5. easy: any skinned glTF gets flesh without authoring.
//!
//! SI units (m, kg, s, Pa, rad), right-handed, +Y up; quaternions are x, y, z, w; a frame's third axis is the rod's
//! tangent. [`Physics`] steps [`flesh::Flesh`] by handles and knows neither hecs nor rapier; the features `hecs`,
//! `rapier` and `gltf` put characters and a world around it. The order of a frame is in [`step`], the layout of every
//! number in [`layout`].
//!
//! ```
//! use glam::DVec3;
//! use sinew::{Physics, Pose, flesh::{Flesh, Holds, RodSpec}};
//!
//! // A rod 1 m long and 2 cm thick, clamped to bone 0 at its left end.
//! let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 20, 0.01).attach(0, 0, Holds::CLAMP);
//! let flesh = Flesh::build(&[rod], &[Pose::IDENTITY])?;
//! let mut physics = Physics::default();
//! let handle = physics.insert(flesh.into(), &[Pose::IDENTITY], Pose::IDENTITY)?;
//! for _ in 0..60 {
//!     physics.step_flesh(1.0 / 60.0)?;
//! }
//! assert!(physics.node(handle, 0, 20)?.place.y < -0.5, "it hangs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ways of stepping
//!
//! | a host with | steps by |
//! |---|---|
//! | an hecs world and rapier | `Physics::step` |
//! | an hecs world alone | `Physics::step_world` |
//! | a schedule of its own over an hecs world | the functions of `world`, in the order in which it says |
//! | handles, and any or no entities | [`Physics::step_flesh`] |
//! | a `wgpu` encoder of its own, beside any of the last two | `Physics::encode` in place of `step_flesh` |
//!
//! - Steps are as long as the host says; [`FixedStep`] cuts time into equal ones, which the second-order integrator needs:
//!   where `dt` or `substeps` change, a substep is an implicit Euler one ([`step::Integrator`]).
//! - Where there are components, they rule: `Activations`, `CharacterPose` and `RootTransform` overwrite what was set by
//!   handle, every step, except for what cannot be, which [`Health::fault`] names.
//! - Flesh falls by [`step::StepConfig::gravity`], rapier's bodies by `RigidWorld::gravity`.
//! - Flesh stays out of [`Physics::planes`], half-spaces that are the host's alone, and of rapier's; those that move carry it.
//! - [`Physics::contacts`] and [`Physics::flesh_contacts`] list what presses on flesh, [`Physics::quality`] says how deep it is, and
//!   how all flesh moves.
//! - [`Physics::set_collisions`] says what an instance touches, [`Physics::contact_events`] who began to touch whom in a step.
//! - [`Physics::queries`] takes a picture of the flesh for rays, casts, overlaps and what is nearest, see [`queries`].
//! - What a GPU has done is seen some steps later, and only what [`Physics::read_back`] and [`Physics::ask_for`] ask for:
//!   [`Physics::state_step`] says of which step, [`Physics::finish`] waits for all.
#![deny(missing_docs)]

// The very versions that this crate's own types are of, so that a game need not depend on them itself.
pub use glam;
#[cfg(feature = "gpu")]
pub use gpu::wgpu;
#[cfg(feature = "hecs")]
pub use hecs;
#[cfg(feature = "parallel")]
pub use rayon;
#[cfg(feature = "rapier")]
pub use rigid::rapier3d;

pub mod character;
#[cfg(feature = "hecs")]
pub mod components;

mod backend;
#[cfg(feature = "bake")]
pub mod bake;
mod collisions;
// For tests and benches: a host needs none of it.
#[doc(hidden)]
pub mod cpu;
mod error;
#[cfg(feature = "neural")]
mod files;
mod fixed_step;
pub mod flesh;
#[cfg(feature = "gpu")]
pub mod gpu;
mod half_space;
mod instances;
#[doc(hidden)]
pub mod layout;
mod material;
#[cfg(feature = "neural")]
pub mod neural;
mod physics;
#[cfg(feature = "picture")]
pub mod picture;
mod pose;
mod quality;
pub mod queries;
#[cfg(feature = "rapier")]
pub mod rigid;
pub mod scenes;
mod shape;
mod skin;
mod solid;
pub mod step;
mod timing;
#[cfg(feature = "train")]
pub mod train;
#[cfg(feature = "hecs")]
pub mod world;

pub use backend::{BackendReport, PipelineProgress, SegmentPair};
pub use character::{Character, Placement};
pub use collisions::{Coefficient, CollisionGroups, Collisions, CombineRule};
pub use cpu::LaneWidth;
pub use error::{StepError, UnknownMuscle};
pub use fixed_step::FixedStep;
pub use half_space::HalfSpace;
pub use instances::{Active, Fault, FleshHandle, Health, Jumped, LaidAnew, Motion, ReadBack, SkinMotion};
pub use material::{Material, Moduli, ModuliOverrides, Section};
pub use physics::{
    Backend, BackendError, Contact, ContactEvent, ContactPhase, ContactSide, ContactWith, FleshBudget, FleshContact,
    FleshSnapshot, Physics, Restored, RowSizes, SNAPSHOT_VERSION, Snapshot, SnapshotError, Touched,
};
pub use pose::Pose;
pub use quality::{Energy, Quality};
pub use shape::{Convex, Mesh, Shape, ShapeError, Surface};
pub use skin::{
    DualMatrix, MAX_SECTIONS, MOST_MORPH_WEIGHT, ModelPose, MorphRow, MorphTarget, PaletteMatrix, SectionMatrix,
    SectionWeight, Skin, SkinBlending, SkinInputs, SkinSection, SkinVertex, SkinnedVertices, palette_matrix,
};
pub use solid::Solid;
pub use timing::StageTimes;
