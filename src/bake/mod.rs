//! Training data for corrective networks: poses and activations stepped to rest, and what their flesh does to skin pulled back to
//! mesh space (Chen 2024, section 6.3).
//!
//! What flows from where to where, a file each:
//!
//! | file | takes | gives |
//! |---|---|---|
//! | `ranges` | animations, a file of limits | a [`JointRange`] for each joint that is turned |
//! | `sequence` | a seed | points that leave no gaps, in any number of dimensions |
//! | [`Plan`] | a character, ranges, [`BakeOptions`] | the pose and activations of each sample, by its number alone |
//! | [`bake_sample`] | a plan, a number | bones go from rest to the pose, muscles to their activations, flesh comes to rest: a [`Sample`] |
//! | `unskin` | the skin as it stands | δ = LBS⁻¹(φ) − X, inverse linear blend skinning of each vertex (6.1) |
//! | [`Shard`] | samples that follow each other | a safetensors file, with a hash of all its bytes |
//! | [`bake()`] | a plan, a folder | the shards that it lacks, and the [`Manifest`] once none is lacking |
//! | [`DataSet`] | a folder | manifest and shards, checked, for whoever trains |
//!
//! A sample is stepped by itself, on one thread, from rest: it depends on the plan and its number alone, and so does a shard. What a
//! killed run has left is whole or is not there, and a run goes on with the shards that are not. Machines share the work by shards
//! ([`Part`]); the data are the same bytes, whoever baked them with the same build.
//!
//! # The files
//!
//! Shards are safetensors files, `shard-00000.safetensors` and so on, of M samples each, the last one of what is left. With J
//! joints, K muscles and V vertices:
//!
//! | tensor | shape | what |
//! |---|---|---|
//! | `inputs` | M × 9J, F32 | of each joint the rows of R̄ᵀR, as [`crate::neural`] says |
//! | `activations` | M × K, F32 | 1 for all of a muscle's peak stress |
//! | `deltas` | M × V × 3, F32 | δ in mesh space (m) |
//! | `pose` | M, U32 | samples of one pose have one number, by which data are split; pose 0 is rest, the first sample rest without activations |
//! | `used` | M, U8 | 1; 0 where the flesh broke or was far from rest: its deltas are 0 then, and not to be trained with |
//! | `settled` | M, U8 | 1 where it came to rest |
//! | `residual` | M, F32 | the fastest node's speed over the skin's size in the last [`SettleOptions::still_time`] (1/s) |
//! | `time` | M, F32 | after how long that was (s) |
//! | `resets` | M, U32 | how many chains were laid anew on the way ([`crate::Health::resets`]) |
//! | `singular` | M, U32 | how many vertices were pulled back through a matrix that is next to singular, by at most 10 times what they are off |
//!
//! The metadata's one entry, `sinew.bake`, is a JSON object: `hash`, `version`, `plan`, `shard`, `first`, `samples`. `hash` is FNV-1a
//! (64 bits) over all bytes of the file, with 0 in the place of the hash's own 16 digits; `plan` is the manifest's `plan_hash`.
//!
//! `manifest.json` has `version`, `plan` (what was baked: everything that the samples follow from), `plan_hash`, `shards`, `flawed`
//! (samples that did not come to rest, were laid anew or were not used, and why) and `hash`, that of all bytes before its key.

#[cfg(target_endian = "big")]
compile_error!("shards are written in the order of little-endian machines");

mod data;
mod error;
mod folder;
mod hash;
mod manifest;
mod options;
mod plan;
mod ranges;
mod sequence;
mod settle;
mod shard;
mod unskin;

pub use data::DataSet;
pub use error::{BakeError, BakeFault};
pub use folder::{BakeProgress, BakeSummary, Part, bake};
pub use hash::hash_bytes;
pub use manifest::{FlawedSample, Manifest, PlanHead, ShardEntry};
pub use options::{BakeOptions, SettleOptions};
pub use plan::{Plan, PlannedSample, Source};
pub use ranges::{Axis, JointRange, Limits, PoseSource, Turns};
#[cfg(feature = "train")]
pub(crate) use sequence::Random;
pub use settle::{Sample, bake_sample};
pub use shard::Shard;
pub use unskin::{LEAST_STRETCH, Unskinned, unskin};
