//! Fits a perceptron to coefficients.

use std::path::Path;

use burn_core::tensor::backend::{Backend, ExecutionError};

use super::analysis::Analysis;
use super::checkpoint::{Checkpoint, Stand};
use super::perceptron::Trainee;
use super::residuals::Residuals;
use super::{TrainError, TrainOptions};
use crate::bake::Random;
use crate::neural::{Layer, Which};

/// How far training is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainProgress {
    /// Which network.
    pub which: Which,
    /// Epochs done.
    pub epoch: u32,
    /// How many there are at most.
    pub epochs: u32,
    /// What share of the variance of its coefficients it leaves over in training.
    pub training: f32,
    /// The same of what is held out.
    pub held_out: f32,
}

/// What is fitted.
pub(super) struct Fit {
    which: Which,
    /// In training, and held out.
    rows: [Rows; 2],
    input_mean: Vec<f32>,
    input_scale: Vec<f32>,
    /// What coefficients are divided by: their standard deviation, all together.
    scale: f32,
    low: Vec<f32>,
    high: Vec<f32>,
}

/// Normalised inputs and coefficients, row by row.
struct Rows {
    inputs: Vec<f32>,
    targets: Vec<f32>,
    count: usize,
}

/// A fitted perceptron.
#[derive(Clone)]
pub(super) struct Fitted {
    pub input_mean: Vec<f32>,
    pub input_scale: Vec<f32>,
    pub layers: [Layer; 3],
    pub low: Vec<f32>,
    pub high: Vec<f32>,
    pub history: Vec<[f32; 2]>,
}

impl Fitted {
    /// The coefficients of inputs, within their ranges: as at run time.
    pub fn infer(&self, inputs: &[f32]) -> Vec<f32> {
        let normalised = inputs.iter().zip(&self.input_mean).zip(&self.input_scale);
        let mut values: Vec<f32> = normalised.map(|((input, mean), scale)| (input - mean) / scale).collect();
        for (index, layer) in self.layers.iter().enumerate() {
            let row = |(row, bias): (&[f32], &f32)| bias + row.iter().zip(&values).map(|(w, x)| w * x).sum::<f32>();
            let next: Vec<f32> = layer.weight.chunks_exact(values.len()).zip(&layer.bias).map(row).collect();
            values = if index < 2 { next.into_iter().map(|value| value.max(0.0)).collect() } else { next };
        }
        values.iter().zip(&self.low).zip(&self.high).map(|((value, low), high)| value.clamp(*low, *high)).collect()
    }
}

impl Fit {
    pub fn new<'a>(
        which: Which,
        analysis: &Analysis,
        inputs: &dyn Fn(usize) -> &'a [f32],
        residuals: &Residuals<'_>,
        samples: [Vec<usize>; 2],
    ) -> Self {
        let count = samples[0].len() as f64;
        let width = inputs(samples[0][0]).len();
        let (mut mean, mut square) = (vec![0.0_f64; width], vec![0.0_f64; width]);
        for &sample in &samples[0] {
            for (k, &input) in inputs(sample).iter().enumerate() {
                mean[k] += f64::from(input) / count;
                square[k] += f64::from(input).powi(2) / count;
            }
        }
        let deviation = |(square, mean): (&f64, &f64)| (square - mean * mean).max(0.0).sqrt();
        // What does not vary says nothing.
        let scale_of = |deviation: f64| if deviation > 1.0e-4 { deviation as f32 } else { 1.0 };
        let input_scale: Vec<f32> = square.iter().zip(&mean).map(deviation).map(scale_of).collect();
        let input_mean: Vec<f32> = mean.iter().map(|mean| *mean as f32).collect();
        let mut rows = samples.map(|samples| {
            let normalised = |sample: &usize| {
                let values = inputs(*sample).iter().zip(&input_mean).zip(&input_scale);
                values.map(|((input, mean), scale)| (input - mean) / scale).collect::<Vec<f32>>()
            };
            let mut residual = vec![0.0; residuals.length()];
            let coefficients = |sample: &usize| {
                residuals.write(*sample, &mut residual);
                analysis.project(&residual)
            };
            Rows {
                inputs: samples.iter().flat_map(normalised).collect(),
                targets: samples.iter().flat_map(coefficients).collect(),
                count: samples.len(),
            }
        });
        let training = &rows[0];
        let columns = analysis.count;
        let column = |k: usize| training.targets[k..].iter().step_by(columns).copied();
        let low = (0..columns).map(|k| column(k).fold(f32::MAX, f32::min)).collect();
        let high = (0..columns).map(|k| column(k).fold(f32::MIN, f32::max)).collect();
        let variance = |k: usize| {
            let mean = column(k).map(f64::from).sum::<f64>() / count;
            column(k).map(|value| (f64::from(value) - mean).powi(2)).sum::<f64>() / count
        };
        let scale = (0..columns).map(variance).sum::<f64>().sqrt().max(1.0e-12) as f32;
        rows.iter_mut().for_each(|rows| rows.targets.iter_mut().for_each(|target| *target /= scale));
        Self { which, rows, input_mean, input_scale, scale, low, high }
    }

    fn columns(&self) -> [usize; 2] {
        [self.input_mean.len(), self.low.len()]
    }

    /// Rows in the order of a batch.
    fn batch(&self, rows: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let of = |values: &[f32], columns: usize| {
            rows.iter().flat_map(|&row| values[row as usize * columns..][..columns].iter().copied()).collect()
        };
        let [inputs, outputs] = self.columns();
        (of(&self.rows[0].inputs, inputs), of(&self.rows[0].targets, outputs))
    }

    fn held_out_loss<B: Backend>(&self, trainee: &Trainee<B>) -> Result<f32, ExecutionError> {
        let rows = &self.rows[1];
        let given = trainee.infer(rows.inputs.clone(), self.columns()[0])?;
        let off = given.iter().zip(&rows.targets).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        Ok((off / rows.count.max(1) as f64) as f32)
    }

    fn fitted(self, layers: [Layer; 3], history: Vec<[f32; 2]>) -> Fitted {
        let mut layers = layers;
        let last = &mut layers[2];
        last.weight.iter_mut().chain(&mut last.bias).for_each(|value| *value *= self.scale);
        let Self { input_mean, input_scale, low, high, .. } = self;
        Fitted { input_mean, input_scale, layers, low, high, history }
    }
}

/// Trains until what is held out gets no better, and takes what was best there.
pub(super) fn fit<B: Backend>(
    fit: Fit,
    device: &B::Device,
    options: &TrainOptions,
    (folder, key): (Option<&Path>, &str),
    progress: &mut dyn FnMut(TrainProgress) -> bool,
) -> Result<Fitted, TrainError> {
    let [inputs, outputs] = fit.columns();
    let widths = [inputs, options.hidden[0], options.hidden[1], outputs];
    let new =
        || Trainee::<B>::new(widths, options.seed.wrapping_add(fit.which as u64), options.weight_decay as f32, device);
    let checkpoint = folder.map(|folder| Checkpoint::new(folder, fit.which, key));
    let (mut trainee, mut stand) =
        checkpoint.as_ref().and_then(|checkpoint| checkpoint.load(new())).unwrap_or_else(|| (new(), Stand::default()));
    while stand.epoch() < options.epochs && stand.epoch() - stand.best_epoch < options.patience {
        let epoch = stand.epoch();
        let mut order: Vec<u32> = (0..fit.rows[0].count as u32).collect();
        Random::new(options.seed.wrapping_mul(0x1_0001).wrapping_add(u64::from(epoch))).shuffle(&mut order);
        let way = f64::from(epoch) / f64::from(options.epochs);
        let rate = options.learning_rate * (0.505 + 0.495 * (std::f64::consts::PI * way).cos());
        let batches = || order.chunks(options.batch);
        let losses = trainee.steps(batches().map(|rows| fit.batch(rows)), [inputs, outputs], rate)?;
        let mut training = 0.0;
        for (rows, loss) in batches().zip(losses) {
            training += f64::from(loss) * rows.len() as f64 / order.len() as f64;
        }
        let held_out = fit.held_out_loss(&trainee)?;
        if !(training.is_finite() && held_out.is_finite()) {
            return Err(TrainError::Diverged { epoch });
        }
        stand.note([training as f32, held_out], || trainee.layers())?;
        if let Some(checkpoint) = &checkpoint
            && stand.epoch() % options.checkpoint_every == 0
        {
            checkpoint.save(&trainee, &stand)?;
        }
        let (which, epoch, epochs) = (fit.which, stand.epoch(), options.epochs);
        if !progress(TrainProgress { which, epoch, epochs, training: training as f32, held_out }) {
            return Err(TrainError::Stopped);
        }
    }
    if let Some(checkpoint) = &checkpoint {
        checkpoint.save(&trainee, &stand)?;
    }
    let Stand { best, history, .. } = stand;
    Ok(fit.fitted(best, history))
}
