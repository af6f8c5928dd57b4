//! Trains corrective networks from baked data ([`crate::bake`]), after the thesis' section 6.3 (Chen 2024).
//!
//! What flows from where to where, a file each:
//!
//! | file | takes | gives |
//! |---|---|---|
//! | `data` | a [`DataSet`](crate::bake::DataSet) | [`TrainingData`]: all used samples; a split of them by pose |
//! | `residuals` | samples, what is explained already | what is left of a sample's displacement |
//! | `analysis` | residuals | the principal components, by a randomised singular value decomposition |
//! | `perceptron` | | two hidden layers with ReLU, on a backend of `burn` |
//! | `backend` | [`TrainBackend`] | a device of the CPU's backend, or of the GPU's (`gpu`) |
//! | `fit` | inputs, coefficients | the perceptron that was best on what was held out; checkpoints on the way |
//! | [`train()`] | data, [`TrainOptions`] | a [`CorrectiveNetwork`] with what it leaves over |
//!
//! The passive network learns from samples without activations: δ less its mean, analysed, is what its coefficients are for. What it
//! leaves over of all samples is what the active one learns, so that it adds what muscles do and not what poses do; without
//! activations that is nothing, which it sees too. Components are orthonormal, so that the loss, a mean square over coefficients, is
//! the one over vertices (6.3). Batch norm, which the thesis has, is left out: inputs are normalised, and where it was
//! tried, folded into the layers, held-out errors were no smaller (three seeds at the best of eight settings: of the arm's
//! 300 samples 0.134 mm with it and 0.116 mm without, of 1500 samples 0.065 and 0.055 mm).
//!
//! Held out is a share of the poses, with all their samples. The same data, options and build give the same network on one machine
//! and backend, whether it was killed and gone on with or not. Backends round differently; each goes on from what the other has left.

mod analysis;
mod backend;
mod checkpoint;
mod data;
mod error;
mod evaluate;
mod fit;
#[cfg(feature = "train-gpu")]
mod gpu;
mod options;
mod perceptron;
mod residuals;

pub use backend::TrainBackend;
pub use data::TrainingData;
pub use error::TrainError;
pub use fit::TrainProgress;
pub use options::TrainOptions;

use std::path::Path;

use crate::neural::{CorrectiveNetwork, NetworkSpec, PartSpec, SkinErrors, Which};

use analysis::{Analysis, analyse};
use backend::Device;
use checkpoint::Checkpoint;
use data::Split;
use fit::{Fit, Fitted};
use residuals::Residuals;

/// A network, and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// With what it leaves over, by part of the skin ([`CorrectiveNetwork::errors`]).
    pub network: CorrectiveNetwork,
    /// For each epoch, what the passive network left over of the variance of its coefficients: in training, and held out.
    pub passive: Vec<[f32; 2]>,
    /// The same of the active one; none where no muscle was ever active.
    pub active: Vec<[f32; 2]>,
    /// What share of the variance components left over: of the passive analysis, and of the active one.
    pub unexplained: [f64; 2],
    /// What each vertex lacks in what was held out, in mesh space.
    pub held_out: SkinErrors,
}

/// Trains both networks. With a folder of `checkpoints`, what a killed run has left there is gone on with; `progress` is told of each
/// epoch, and stops the training where it returns false.
///
/// # Errors
/// [`TrainError`]: options out of range, too few samples, a backend that is not there or fails, a checkpoint that cannot be written,
/// or [`TrainError::Stopped`].
pub fn train(
    data: &TrainingData,
    options: &TrainOptions,
    checkpoints: Option<&Path>,
    progress: &mut dyn FnMut(TrainProgress) -> bool,
) -> Result<Trained, TrainError> {
    options.check()?;
    let device = Device::of(options.backend)?;
    data.check()?;
    let split = Split::new(data, options)?;
    checkpoints.filter(|folder| folder.is_dir()).map_or(Ok(()), Checkpoint::remove_parts)?;
    // What one backend has left, another goes on with.
    let any_backend = TrainOptions { backend: TrainBackend::Cpu, ..options.clone() };
    let key = |which: Which| format!("{} {} {any_backend:?}", data.key(), which.name());
    let length = 3 * data.vertex_count;

    let passive_samples =
        |from: &[usize]| -> Vec<usize> { from.iter().copied().filter(|&sample| data.is_passive(sample)).collect() };
    let passive_training = passive_samples(&split.training);
    let mean = data.mean(&passive_training);
    let residuals = Residuals::new(data, &mean);
    let write = |sample: usize, to: &mut [f32]| residuals.write(sample, to);
    let analysis = analyse(&write, length, &passive_training, options.components[0], options);
    let of_joints = |sample: usize| &data.inputs[sample * data.input_count()..][..data.input_count()];
    let samples = [passive_training, passive_samples(&split.held_out)];
    let passive = device.fit(
        Fit::new(Which::Passive, &analysis, &of_joints, &residuals, samples),
        options,
        (checkpoints, &key(Which::Passive)),
        progress,
    )?;
    let mut unexplained = [analysis.unexplained, 0.0];
    let mut spec = NetworkSpec {
        joints: data.joints.clone(),
        vertex_count: data.vertex_count,
        mesh: data.mesh,
        mean: mean.clone(),
        passive: Some(part(&analysis, passive.clone())),
        ..NetworkSpec::default()
    };

    let active_training: Vec<usize> =
        split.training.iter().copied().filter(|&sample| !data.is_passive(sample)).collect();
    let mut history = Vec::new();
    if !active_training.is_empty() {
        let explained: Vec<f32> = (0..data.len()).flat_map(|sample| passive.infer(of_joints(sample))).collect();
        let residuals = Residuals::new(data, &mean).explained_by(&analysis, &explained);
        let write = |sample: usize, to: &mut [f32]| residuals.write(sample, to);
        let analysis = analyse(&write, length, &active_training, options.components[1], options);
        let of_muscles = |sample: usize| &data.activations[sample * data.muscles.len()..][..data.muscles.len()];
        let samples = [split.training.clone(), split.held_out.clone()];
        let active = device.fit(
            Fit::new(Which::Active, &analysis, &of_muscles, &residuals, samples),
            options,
            (checkpoints, &key(Which::Active)),
            progress,
        )?;
        history.clone_from(&active.history);
        unexplained[1] = analysis.unexplained;
        spec.muscles.clone_from(&data.muscles);
        spec.active = Some(part(&analysis, active));
    }
    let network =
        |spec: &NetworkSpec| Ok::<_, TrainError>(CorrectiveNetwork::new(spec, options.precision, options.threshold)?);
    let (errors, held_out) = evaluate::errors(data, &split, &network(&spec)?);
    spec.errors = errors;
    Ok(Trained { network: network(&spec)?, passive: passive.history, active: history, unexplained, held_out })
}

fn part(analysis: &Analysis, fitted: Fitted) -> PartSpec {
    let Fitted { input_mean, input_scale, layers, low, high, .. } = fitted;
    PartSpec { input_mean, input_scale, layers, low, high, basis: analysis.components.clone() }
}
