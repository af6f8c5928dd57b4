//! Samples that follow each other, in one safetensors file.

use bytemuck::Pod;
use glam::Vec3;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors, serialize};
use serde::{Deserialize, Serialize};

use super::error::BakeFault;
use super::hash::Fnv;
use super::manifest::{FlawedSample, PlanHead, ShardEntry, VERSION, shard_file};
use super::settle::Sample;

/// The metadata's one entry: of several the order would not be the same every time.
const METADATA: &str = "sinew.bake";

/// How the metadata's text begins, as the header has it, with the hash's digits behind it.
const HASH_MARK: &[u8] = br#"{\"hash\":\""#;

const NO_HASH: &str = "0000000000000000";

/// Bytes of a file beside its tensors' at most.
pub(super) const MOST_HEADER: u64 = 1 << 16;

#[derive(Serialize, Deserialize)]
struct Metadata {
    hash: String,
    version: u64,
    plan: String,
    shard: u32,
    first: u32,
    samples: u32,
}

/// Samples that follow each other; [`crate::bake`] says what each list is. All are of M samples, one after another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shard {
    /// The number of the first one.
    pub first: u32,
    /// Which pose each has.
    pub poses: Vec<u32>,
    /// M × 9J.
    pub inputs: Vec<f32>,
    /// M × K.
    pub activations: Vec<f32>,
    /// M × V (m).
    pub deltas: Vec<Vec3>,
    /// Whether each may be trained with.
    pub used: Vec<bool>,
    /// Whether each came to rest.
    pub settled: Vec<bool>,
    /// How fast each was in the end (1/s).
    pub residual: Vec<f32>,
    /// After how long (s).
    pub time: Vec<f32>,
    /// How many chains of each were laid anew.
    pub resets: Vec<u32>,
    /// How many vertices of each were pulled back through a matrix next to singular.
    pub singular: Vec<u32>,
}

impl Shard {
    /// Bytes of a sample beside inputs, activations and deltas.
    pub(super) const FIXED_BYTES: u64 = 22;

    /// Of samples from a number on.
    pub(super) fn new(first: u32, samples: &[Sample]) -> Self {
        let mut shard = Self { first, ..Self::default() };
        for sample in samples {
            shard.poses.push(sample.pose);
            shard.inputs.extend(&sample.inputs);
            shard.activations.extend(&sample.activations);
            shard.deltas.extend(&sample.deltas);
            shard.used.push(sample.used);
            shard.settled.push(sample.settled);
            shard.residual.push(sample.residual);
            shard.time.push(sample.time);
            shard.resets.push(sample.resets);
            shard.singular.push(sample.singular);
        }
        shard
    }

    /// How many samples it has.
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }

    /// The bytes of its file, and its hash: the same for the same shard of a plan.
    pub(super) fn to_bytes(&self, plan: &str, shard: u32) -> (Vec<u8>, String) {
        let count = self.len();
        let metadata = Metadata {
            hash: NO_HASH.into(),
            version: VERSION,
            plan: plan.into(),
            shard,
            first: self.first,
            samples: count as u32,
        };
        let flags = |flags: &[bool]| flags.iter().map(|&flag| u8::from(flag)).collect::<Vec<u8>>();
        let (used, settled) = (flags(&self.used), flags(&self.settled));
        let per = |length: usize| length.checked_div(count).unwrap_or(0);
        let tensors: [(&str, Dtype, Vec<usize>, &[u8]); 10] = [
            ("inputs", Dtype::F32, vec![count, per(self.inputs.len())], bytemuck::cast_slice(&self.inputs)),
            (
                "activations",
                Dtype::F32,
                vec![count, per(self.activations.len())],
                bytemuck::cast_slice(&self.activations),
            ),
            ("deltas", Dtype::F32, vec![count, per(self.deltas.len()), 3], bytemuck::cast_slice(&self.deltas)),
            ("pose", Dtype::U32, vec![count], bytemuck::cast_slice(&self.poses)),
            ("used", Dtype::U8, vec![count], &used),
            ("settled", Dtype::U8, vec![count], &settled),
            ("residual", Dtype::F32, vec![count], bytemuck::cast_slice(&self.residual)),
            ("time", Dtype::F32, vec![count], bytemuck::cast_slice(&self.time)),
            ("resets", Dtype::U32, vec![count], bytemuck::cast_slice(&self.resets)),
            ("singular", Dtype::U32, vec![count], bytemuck::cast_slice(&self.singular)),
        ];
        let views = tensors.into_iter().map(|(name, dtype, shape, bytes)| {
            (name, TensorView::new(dtype, shape, bytes).expect("shapes are those of the bytes"))
        });
        let text = serde_json::to_string(&metadata).expect("text and numbers are JSON");
        let metadata = [(METADATA.to_string(), text)].into_iter().collect();
        let mut bytes = serialize(views, Some(metadata)).expect("shapes are those of the bytes");
        let digits = digits_of(&bytes).expect("the metadata has a hash");
        let hash = Fnv::new().add(&bytes).digits();
        bytes[digits].copy_from_slice(hash.as_bytes());
        (bytes, hash)
    }

    /// Reads a shard of a plan, whole and unchanged, and its hash.
    ///
    /// # Errors
    /// [`BakeFault::Damaged`], [`BakeFault::Version`], [`BakeFault::OtherBake`] or [`BakeFault::BadNumber`].
    pub(super) fn from_bytes(bytes: &[u8], plan: (&PlanHead, &str), shard: u32) -> Result<(Self, String), BakeFault> {
        let damaged = |what: String| BakeFault::Damaged(what);
        let (head, plan_hash) = plan;
        let broken = |error: safetensors::SafeTensorError| damaged(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
        let text = header.metadata().as_ref().and_then(|entries| entries.get(METADATA));
        let text = text.ok_or_else(|| damaged(format!("its metadata lacks {METADATA}: it is no shard")))?;
        // Other versions may have other entries.
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| damaged(error.to_string()))?;
        let version = value["version"].as_u64().unwrap_or(0);
        let found = value["hash"].as_str().unwrap_or_default();
        let digits = digits_of(bytes).filter(|digits| bytes.get(digits.clone()) == Some(found.as_bytes()));
        let digits = digits.ok_or_else(|| damaged("it says no hash".into()))?;
        let hash = Fnv::new().add(&bytes[..digits.start]).add(NO_HASH.as_bytes()).add(&bytes[digits.end..]).digits();
        if hash != found {
            return Err(damaged(format!("its hash is {hash}, not {found}")));
        }
        if version != VERSION {
            return Err(BakeFault::Version { found: version, newest: VERSION });
        }
        let metadata: Metadata = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        if metadata.plan != plan_hash {
            return Err(BakeFault::OtherBake(format!("its plan is {}, not {plan_hash}", metadata.plan)));
        }
        let range = head.samples_of(shard);
        if (metadata.shard, metadata.first, metadata.samples) != (shard, range.start, range.len() as u32) {
            return Err(damaged(format!("it is shard {}, from sample {} on", metadata.shard, metadata.first)));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(broken)?;
        let shard = Self::read(&tensors, head, &range)?;
        shard.check()?;
        Ok((shard, hash))
    }

    fn read(tensors: &SafeTensors<'_>, head: &PlanHead, range: &std::ops::Range<u32>) -> Result<Self, BakeFault> {
        let count = range.len();
        let bytes = |name: &str, dtype: Dtype, shape: &[usize]| {
            let tensor = tensors.tensor(name).map_err(|error| BakeFault::Damaged(error.to_string()))?;
            if tensor.dtype() == dtype && tensor.shape() == shape {
                Ok(tensor.data())
            } else {
                let (dtype, shape) = (tensor.dtype(), tensor.shape());
                Err(BakeFault::Damaged(format!("tensor {name} is {dtype} of {shape:?}, not as its plan has it")))
            }
        };
        let floats = |name: &str, shape: &[usize]| Ok::<_, BakeFault>(words(bytes(name, Dtype::F32, shape)?));
        let indices = |name: &str| Ok::<_, BakeFault>(words(bytes(name, Dtype::U32, &[count])?));
        let flags = |name: &str| {
            let flags: &[u8] = bytes(name, Dtype::U8, &[count])?;
            Ok::<_, BakeFault>(flags.iter().map(|&flag| flag != 0).collect())
        };
        Ok(Self {
            first: range.start,
            poses: indices("pose")?,
            inputs: floats("inputs", &[count, 9 * head.joints.len()])?,
            activations: floats("activations", &[count, head.muscles.len()])?,
            deltas: words(bytes("deltas", Dtype::F32, &[count, head.vertices as usize, 3])?),
            used: flags("used")?,
            settled: flags("settled")?,
            residual: floats("residual", &[count])?,
            time: floats("time", &[count])?,
            resets: indices("resets")?,
            singular: indices("singular")?,
        })
    }

    fn check(&self) -> Result<(), BakeFault> {
        let deltas: &[f32] = bytemuck::cast_slice(&self.deltas);
        for (tensor, values, allowed) in [
            ("inputs", &self.inputs[..], "finite"),
            ("activations", &self.activations, "finite"),
            ("deltas", deltas, "finite"),
            ("residual", &self.residual, "finite"),
            ("time", &self.time, "finite"),
        ] {
            if let Some(index) = values.iter().position(|value| !value.is_finite()) {
                return Err(BakeFault::BadNumber { tensor, index, value: values[index].into(), allowed });
            }
        }
        Ok(())
    }

    /// What the manifest says of it.
    pub(super) fn entry(&self, shard: u32, hash: String) -> ShardEntry {
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count() as u32;
        ShardEntry {
            file: shard_file(shard),
            hash,
            samples: self.len() as u32,
            used: count(&self.used),
            settled: count(&self.settled),
            singular: self.singular.iter().copied().map(u64::from).sum(),
        }
    }

    /// Samples with something amiss.
    pub(super) fn flawed(&self) -> impl Iterator<Item = FlawedSample> {
        (0..self.len()).filter_map(|k| {
            let why = match (self.resets[k], self.settled[k], self.used[k]) {
                (1.., _, _) => format!("{} chains were laid anew", self.resets[k]),
                (0, false, true) => "it did not come to rest in time".to_string(),
                (0, false, false) => "it was far from rest in the end".to_string(),
                (0, true, false) => "its skin was not finite".to_string(),
                (0, true, true) => return None,
            };
            Some(FlawedSample { sample: self.first + k as u32, used: self.used[k], residual: self.residual[k], why })
        })
    }
}

/// Where in a file the hash's digits are.
fn digits_of(bytes: &[u8]) -> Option<std::ops::Range<usize>> {
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let header = bytes.get(8..usize::try_from(length.checked_add(8)?).ok()?)?;
    let at = header.windows(HASH_MARK.len()).position(|window| window == HASH_MARK)? + 8 + HASH_MARK.len();
    Some(at..at + NO_HASH.len())
}

/// Numbers in the order of the machine, as files have it, wherever they begin.
fn words<T: Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}
