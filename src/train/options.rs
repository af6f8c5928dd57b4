//! How networks are trained.

use super::{TrainBackend, TrainError};
use crate::neural::{MOST_REACH, Precision};

/// How networks are trained.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainOptions {
    /// What perceptrons are trained on.
    pub backend: TrainBackend,
    /// Of what is random.
    pub seed: u64,
    /// Which share of the poses is held out, above 0 and below 1.
    pub held_out: f64,
    /// Principal components of the passive and the active analysis, at most; the thesis has 20 and 92.
    pub components: [usize; 2],
    /// Which share of the variance components may leave over: fewer are taken where they do.
    pub unexplained: f64,
    /// Units of both hidden layers.
    pub hidden: [usize; 2],
    /// Epochs, at most.
    pub epochs: u32,
    /// Epochs without a better one after which it is enough.
    pub patience: u32,
    /// Samples a batch.
    pub batch: usize,
    /// AdamW's rate in the first epoch; it falls to a hundredth of that along a cosine.
    pub learning_rate: f64,
    /// By which share of itself, times the rate, a weight falls in each step.
    pub weight_decay: f64,
    /// Epochs from checkpoint to checkpoint.
    pub checkpoint_every: u32,
    /// What the basis is stored in.
    pub precision: Precision,
    /// Blocks of vertices that a component moves by no more than this (m) are not stored.
    pub threshold: f32,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            backend: TrainBackend::Cpu,
            seed: 0,
            held_out: 0.2,
            components: [32, 64],
            unexplained: 1.0e-5,
            hidden: [128, 128],
            epochs: 1000,
            patience: 400,
            batch: 16,
            learning_rate: 2.0e-3,
            weight_decay: 0.1,
            checkpoint_every: 25,
            precision: Precision::F16,
            threshold: 1.0e-6,
        }
    }
}

impl TrainOptions {
    pub(super) fn check(&self) -> Result<(), TrainError> {
        let numbers = [
            ("held_out", self.held_out, 1.0e-3, 0.9),
            ("components", self.components[0] as f64, 1.0, 4096.0),
            ("components", self.components[1] as f64, 1.0, 4096.0),
            ("unexplained", self.unexplained, 0.0, 1.0),
            ("hidden", self.hidden[0] as f64, 1.0, 4096.0),
            ("hidden", self.hidden[1] as f64, 1.0, 4096.0),
            ("epochs", f64::from(self.epochs), 1.0, 1.0e6),
            ("patience", f64::from(self.patience), 1.0, 1.0e6),
            ("batch", self.batch as f64, 1.0, 1.0e6),
            ("learning_rate", self.learning_rate, 1.0e-9, 10.0),
            ("weight_decay", self.weight_decay, 0.0, 100.0),
            ("checkpoint_every", f64::from(self.checkpoint_every), 1.0, 1.0e6),
            ("threshold", f64::from(self.threshold), 0.0, MOST_REACH),
        ];
        match numbers.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
            Some((option, given, low, high)) => Err(TrainError::Option { option, given, low, high }),
            None => Ok(()),
        }
    }
}
