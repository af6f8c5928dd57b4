//! What was baked, in JSON.

use serde::{Deserialize, Serialize};

use super::error::BakeFault;
use super::hash::{Fnv, hash_bytes};
use super::shard::Shard;
use super::{BakeOptions, JointRange};

/// Version of manifests and shards that is written, and the newest that is read.
pub(super) const VERSION: u64 = 1;

/// The manifest's name.
pub(super) const MANIFEST: &str = "manifest.json";

/// Samples of a bake.
pub(super) const MOST_SAMPLES: u32 = 1 << 20;

/// Samples of a shard.
pub(super) const MOST_SHARD: u32 = 4096;

/// Joints, and muscles.
const MOST_INPUTS: u64 = 4096;

/// Vertices of a mesh.
const MOST_VERTICES: u64 = 1 << 24;

/// Bytes of a shard.
pub(super) const MOST_BYTES: u64 = 4 << 30;

/// Bytes of a manifest.
pub(super) const MOST_MANIFEST: u64 = 256 << 20;

/// What is baked: everything that the samples follow from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanHead {
    /// The version of sinew.
    pub sinew: String,
    /// The character's name.
    pub character: String,
    /// Of the file's bytes, 16 hexadecimal digits.
    pub file_hash: String,
    /// Of the skeleton, flesh and skin that were made of it, sidecars and options included.
    pub character_hash: String,
    /// [`MeshHash::topology`](crate::neural::MeshHash::topology) of the mesh.
    pub topology: String,
    /// [`MeshHash::rest_shape`](crate::neural::MeshHash::rest_shape) of the mesh.
    pub rest_shape: String,
    /// V, how many the mesh has.
    pub vertices: u64,
    /// The longest side of the box around the skin at rest (m).
    pub size: f64,
    /// The joints that are turned, in the order of the inputs, and how far.
    pub joints: Vec<JointRange>,
    /// The muscles that are activated, in order.
    pub muscles: Vec<String>,
    /// How many animations poses are taken from.
    pub animations: u32,
    /// What is sampled.
    pub options: BakeOptions,
}

impl PlanHead {
    /// How many shards there are.
    pub fn shard_count(&self) -> u32 {
        self.options.samples.div_ceil(self.options.shard_samples)
    }

    /// A shard's first sample and the one past its last.
    pub(super) fn samples_of(&self, shard: u32) -> std::ops::Range<u32> {
        let first = shard * self.options.shard_samples;
        first..(first + self.options.shard_samples).min(self.options.samples)
    }

    /// Of all of it.
    pub(super) fn hash(&self) -> String {
        hash_bytes(serde_json::to_string(self).expect("text and numbers are JSON").as_bytes())
    }

    /// Bytes that a full shard's tensors take; everything that could be too large is not.
    pub(super) fn shard_bytes(&self) -> Result<u64, BakeFault> {
        let (joints, muscles) = (self.joints.len() as u64, self.muscles.len() as u64);
        for (what, given, most) in [
            ("samples", u64::from(self.options.samples), u64::from(MOST_SAMPLES)),
            ("samples a shard", u64::from(self.options.shard_samples), u64::from(MOST_SHARD)),
            ("joints", joints, MOST_INPUTS),
            ("muscles", muscles, MOST_INPUTS),
            ("vertices", self.vertices, MOST_VERTICES),
        ] {
            if given > most {
                return Err(BakeFault::TooLarge { what, given, most });
            }
        }
        let of_one = 4 * (9 * joints + muscles) + 12 * self.vertices + Shard::FIXED_BYTES;
        Ok(of_one * u64::from(self.options.shard_samples.min(self.options.samples)))
    }

    /// How another one differs, in words; none where it does not.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        let words = |value: &dyn std::fmt::Debug| format!("{value:?}");
        let parts = |head: &Self| {
            let BakeOptions { samples, seed, per_pose, shard_samples, most_activation, .. } = head.options;
            [
                ("sinew", words(&head.sinew)),
                ("character", words(&head.character)),
                ("file_hash", words(&head.file_hash)),
                ("topology", words(&head.topology)),
                ("rest_shape", words(&head.rest_shape)),
                ("character_hash", words(&head.character_hash)),
                ("samples", words(&samples)),
                ("seed", words(&seed)),
                ("per_pose", words(&per_pose)),
                ("shard_samples", words(&shard_samples)),
                ("most_activation", words(&most_activation)),
                ("joints", words(&head.joints.iter().map(|range| &range.joint).collect::<Vec<_>>())),
                ("muscles", words(&head.muscles)),
                ("options", words(&head.options)),
                ("ranges", words(&head.joints)),
                ("all", words(head)),
            ]
        };
        let pairs = parts(self).into_iter().zip(parts(other));
        let differs = pairs.into_iter().find(|(own, theirs)| own != theirs);
        differs.map(|((name, own), (_, theirs))| format!("its {name} is {own}, not {theirs}"))
    }
}

/// A shard, by its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardEntry {
    /// Its file in the folder.
    pub file: String,
    /// Its hash, as its own metadata says it.
    pub hash: String,
    /// How many samples it has.
    pub samples: u32,
    /// How many of them are used.
    pub used: u32,
    /// How many came to rest.
    pub settled: u32,
    /// Vertices that were pulled back through a matrix next to singular, all samples together.
    pub singular: u64,
}

/// A sample with something amiss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlawedSample {
    /// Its number.
    pub sample: u32,
    /// Whether it is used all the same.
    pub used: bool,
    /// [`Sample::residual`](super::Sample::residual) (1/s).
    pub residual: f32,
    /// What is amiss.
    pub why: String,
}

/// What a folder of shards has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub version: u64,
    /// What was baked.
    pub plan: PlanHead,
    /// Of the plan.
    pub plan_hash: String,
    /// All shards, in order.
    pub shards: Vec<ShardEntry>,
    /// Samples with something amiss, in order.
    pub flawed: Vec<FlawedSample>,
}

/// The last key, whose value is the hash of all bytes before it.
const HASH_KEY: &str = ",\n  \"hash\": \"";

impl Manifest {
    /// The bytes of its file, the same for the same data.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("text and numbers are JSON");
        let body = text.strip_suffix("\n}").expect("an object ends so");
        let hash = Fnv::new().add(body.as_bytes()).digits();
        format!("{body}{HASH_KEY}{hash}\"\n}}\n")
    }

    /// Reads a manifest, whole and unchanged.
    ///
    /// # Errors
    /// [`BakeFault::Version`], [`BakeFault::Damaged`] or [`BakeFault::TooLarge`].
    pub fn from_text(text: &str) -> Result<Self, BakeFault> {
        // Another version may have other entries.
        #[derive(Deserialize)]
        struct Versioned {
            version: u64,
        }
        let damaged = |what: String| BakeFault::Damaged(what);
        let Versioned { version } = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        if version != VERSION {
            return Err(BakeFault::Version { found: version, newest: VERSION });
        }
        let (body, rest) =
            text.rsplit_once(HASH_KEY).ok_or_else(|| damaged("it has no hash in its last line".into()))?;
        let hash = Fnv::new().add(body.as_bytes()).digits();
        if rest != format!("{hash}\"\n}}\n") {
            return Err(damaged(format!("its hash is not {hash}")));
        }
        let manifest: Self = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), BakeFault> {
        let damaged = |what: String| Err(BakeFault::Damaged(what));
        let bytes = self.plan.shard_bytes()?;
        if bytes > MOST_BYTES {
            return Err(BakeFault::TooLarge { what: "a shard's bytes", given: bytes, most: MOST_BYTES });
        }
        if self.plan.options.check().is_err() || self.plan.vertices == 0 || !self.plan.size.is_finite() {
            return damaged("its plan is none that is baked".into());
        }
        if self.shards.len() != self.plan.shard_count() as usize {
            return damaged(format!("it has {} shards of {}", self.shards.len(), self.plan.shard_count()));
        }
        for (index, entry) in (0..).zip(&self.shards) {
            let count = self.plan.samples_of(index).len() as u32;
            if entry.file != shard_file(index) || entry.samples != count || entry.used > count || entry.settled > count
            {
                return damaged(format!("shard {index} is not as its plan has it"));
            }
        }
        Ok(())
    }
}

/// A shard's file in its folder.
pub(super) fn shard_file(shard: u32) -> String {
    format!("shard-{shard:05}.safetensors")
}
