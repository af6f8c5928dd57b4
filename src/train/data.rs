//! What is learnt from, and what of it is held out.

use std::collections::BTreeSet;

use glam::{Mat3, Quat};

use super::{TrainError, TrainOptions};
use crate::bake::Random;
use crate::bake::{BakeError, BakeFault, DataSet, hash_bytes};
use crate::character::Character;
use crate::neural::MeshHash;

/// N samples for training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingData {
    /// J joints, by name.
    pub joints: Vec<String>,
    /// K muscles, by name.
    pub muscles: Vec<String>,
    /// Which mesh it is.
    pub mesh: MeshHash,
    /// V, how many vertices it has.
    pub vertex_count: usize,
    /// Which pose each sample has: those of one are trained with, or held out, together.
    pub poses: Vec<u32>,
    /// N × 9J, as [`crate::neural`] says.
    pub inputs: Vec<f32>,
    /// N × K.
    pub activations: Vec<f32>,
    /// N × 3V: δ in mesh space (m), x, y, z of each vertex.
    pub deltas: Vec<f32>,
    /// Parts of the skin for the table of errors, by name: their vertices.
    pub parts: Vec<(String, Vec<u32>)>,
}

impl TrainingData {
    /// Reads all used samples of a bake, all of which are in memory then, once: 12 bytes a vertex and sample.
    ///
    /// # Errors
    /// Where a shard cannot be read, or is smaller than what the manifest says is in it; [`BakeFault::NoMemory`].
    pub fn read(data: &DataSet) -> Result<Self, BakeError> {
        let manifest = data.manifest();
        let plan = &manifest.plan;
        let digits = |digits: &str| u64::from_str_radix(digits, 16).unwrap_or(0);
        let mut all = Self {
            joints: plan.joints.iter().map(|range| range.joint.clone()).collect(),
            muscles: plan.muscles.clone(),
            mesh: MeshHash { topology: digits(&plan.topology), rest_shape: digits(&plan.rest_shape) },
            vertex_count: plan.vertices as usize,
            ..Self::default()
        };
        let bytes = data.check_sizes()?;
        let reserved = all.deltas.try_reserve_exact((bytes / size_of::<f32>() as u64) as usize);
        reserved.map_err(|_| data.fault(BakeFault::NoMemory { bytes }))?;
        for shard in 0..manifest.shards.len() {
            let shard = data.shard(shard)?;
            let deltas: &[f32] = bytemuck::cast_slice(&shard.deltas);
            for sample in (0..shard.len()).filter(|&sample| shard.used[sample]) {
                let of = |values: &[f32], count: usize| values[sample * count..][..count].to_vec();
                all.poses.push(shard.poses[sample]);
                all.inputs.extend(of(&shard.inputs, all.input_count()));
                all.activations.extend(of(&shard.activations, all.muscles.len()));
                all.deltas.extend(&deltas[sample * 3 * all.vertex_count..][..3 * all.vertex_count]);
            }
        }
        Ok(all)
    }

    /// Names parts of the skin, by the joint that pulls most on each vertex of the character that was baked.
    pub fn name_parts(&mut self, character: &Character) {
        let asset = character.asset();
        let mut parts: Vec<(u32, Vec<u32>)> = Vec::new();
        for (vertex, (entries, weights)) in
            asset.mesh.influence_joints.iter().zip(&asset.mesh.influence_weights).take(self.vertex_count).enumerate()
        {
            let strongest = entries.iter().zip(weights).max_by(|a, b| a.1.total_cmp(b.1));
            let joint =
                strongest.and_then(|(&entry, _)| asset.palette.get(entry as usize)).map_or(0, |entry| entry.joint);
            match parts.iter_mut().find(|(other, _)| *other == joint) {
                Some((_, vertices)) => vertices.push(vertex as u32),
                None => parts.push((joint, vec![vertex as u32])),
            }
        }
        parts.sort_by_key(|(joint, _)| *joint);
        let name = |joint: u32| asset.skeleton.joints[joint as usize].name.clone();
        self.parts = parts.into_iter().map(|(joint, vertices)| (name(joint), vertices)).collect();
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.poses.is_empty()
    }

    /// 9J.
    pub(super) fn input_count(&self) -> usize {
        9 * self.joints.len()
    }

    pub(super) fn is_passive(&self, sample: usize) -> bool {
        self.activations[sample * self.muscles.len()..][..self.muscles.len()]
            .iter()
            .all(|activation| *activation == 0.0)
    }

    pub(super) fn rotations(&self, sample: usize) -> Vec<Quat> {
        let inputs = &self.inputs[sample * self.input_count()..][..self.input_count()];
        let rotation = |rows: &[f32]| Quat::from_mat3(&Mat3::from_cols_slice(rows).transpose()).normalize();
        inputs.chunks_exact(9).map(rotation).collect()
    }

    /// What checkpoints are of.
    pub(super) fn key(&self) -> String {
        let of = |values: &[f32]| hash_bytes(bytemuck::cast_slice(values));
        let poses = hash_bytes(bytemuck::cast_slice(&self.poses));
        format!("{} {} {} {poses}", of(&self.inputs), of(&self.activations), of(&self.deltas))
    }

    pub(super) fn check(&self) -> Result<(), TrainError> {
        for (what, found, each) in [
            ("inputs", self.inputs.len(), self.input_count()),
            ("activations", self.activations.len(), self.muscles.len()),
            ("deltas", self.deltas.len(), 3 * self.vertex_count),
        ] {
            let expected = each * self.len();
            if found != expected {
                return Err(TrainError::Length { what, found, expected });
            }
        }
        for (what, count) in [("joints", self.joints.len()), ("vertices", self.vertex_count)] {
            if count == 0 {
                return Err(TrainError::Nothing { what });
            }
        }
        let lists = [("inputs", &self.inputs), ("activations", &self.activations), ("deltas", &self.deltas)];
        for (what, list) in lists {
            if let Some(index) = list.iter().position(|value| !value.is_finite()) {
                return Err(TrainError::NotFinite { what, index });
            }
        }
        Ok(())
    }

    /// Mean displacement of some samples (m).
    pub(super) fn mean(&self, samples: &[usize]) -> Vec<f32> {
        let length = 3 * self.vertex_count;
        let mut sum = vec![0.0_f64; length];
        for &sample in samples {
            let delta = &self.deltas[sample * length..][..length];
            sum.iter_mut().zip(delta).for_each(|(sum, delta)| *sum += f64::from(*delta));
        }
        sum.into_iter().map(|sum| (sum / samples.len() as f64) as f32).collect()
    }
}

/// Which samples are trained with, and which are held out.
pub(super) struct Split {
    pub training: Vec<usize>,
    pub held_out: Vec<usize>,
}

impl Split {
    pub fn new(data: &TrainingData, options: &TrainOptions) -> Result<Self, TrainError> {
        const LEAST_POSES: usize = 10;
        let passive: Vec<usize> = (0..data.len()).filter(|&sample| data.is_passive(sample)).collect();
        let poses: BTreeSet<u32> = passive.iter().map(|&sample| data.poses[sample]).collect();
        if poses.len() < LEAST_POSES {
            return Err(TrainError::TooFew { passive: passive.len(), poses: poses.len() });
        }
        let mut poses: Vec<u32> = poses.into_iter().collect();
        Random::new(options.seed).shuffle(&mut poses);
        let count = ((poses.len() as f64 * options.held_out).round() as usize).clamp(1, poses.len() - 2);
        let out: BTreeSet<u32> = poses.into_iter().take(count).collect();
        let (held_out, training) = (0..data.len()).partition(|&sample| out.contains(&data.poses[sample]));
        Ok(Self { training, held_out })
    }
}
