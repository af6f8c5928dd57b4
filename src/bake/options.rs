//! How much is baked, and when flesh counts as at rest.

use serde::{Deserialize, Serialize};

use super::BakeFault;
use super::manifest::{MOST_SAMPLES, MOST_SHARD};

/// What is sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BakeOptions {
    /// How many samples.
    pub samples: u32,
    /// Of what is random.
    pub seed: u64,
    /// Samples a pose, at least 1: the first without activations, the others with one muscle and with several by turns. Without
    /// muscles it is 1.
    pub per_pose: u32,
    /// Samples a shard: what a killed run loses at most.
    pub shard_samples: u32,
    /// By which share of a joint's range a pose goes from an animation's frame, at most, to either side.
    pub around: f64,
    /// By which share of themselves ranges that animations reach are widened, half of it at either end.
    pub beyond: f64,
    /// The largest activation. The thesis has 3; beyond 1 muscles are stronger than they are.
    pub most_activation: f32,
    /// How a sample comes to rest.
    pub settle: SettleOptions,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            samples: 1000,
            seed: 0,
            per_pose: 2,
            shard_samples: 32,
            around: 0.1,
            beyond: 0.1,
            most_activation: 1.0,
            settle: SettleOptions::default(),
        }
    }
}

/// How a sample is stepped to rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettleOptions {
    /// Time step (s).
    pub dt: f64,
    /// Substeps of it.
    pub substeps: u32,
    /// Gravity along −y (m/s²). Fitted flesh rests in the bind pose under 9.81.
    pub gravity: f64,
    /// How long bones go from rest to the pose, and activations from 0 (s).
    pub move_time: f64,
    /// Flesh is at rest once no node has been faster than this times the skin's size (1/s) …
    pub still_speed: f64,
    /// … for so long (s).
    pub still_time: f64,
    /// After so long (s) it is not waited for any more.
    pub most_time: f64,
    /// A sample that is still so many times too fast then is not used.
    pub far: f64,
}

impl Default for SettleOptions {
    fn default() -> Self {
        Self {
            dt: 1.0 / 60.0,
            substeps: 4,
            gravity: 9.81,
            move_time: 0.5,
            still_speed: 3.0e-4,
            still_time: 0.2,
            most_time: 10.0,
            far: 100.0,
        }
    }
}

impl BakeOptions {
    /// Whether all are in range.
    pub(super) fn check(&self) -> Result<(), BakeFault> {
        let settle = &self.settle;
        let numbers = [
            ("samples", f64::from(self.samples), 1.0, f64::from(MOST_SAMPLES)),
            ("per_pose", f64::from(self.per_pose), 1.0, 1000.0),
            ("shard_samples", f64::from(self.shard_samples), 1.0, f64::from(MOST_SHARD)),
            ("around", self.around, 0.0, 1.0),
            ("beyond", self.beyond, 0.0, 1.0),
            ("most_activation", f64::from(self.most_activation), 0.0, 10.0),
            ("dt", settle.dt, 1.0e-4, 1.0 / 30.0),
            ("substeps", f64::from(settle.substeps), 1.0, 1000.0),
            ("gravity", settle.gravity, 0.0, 1000.0),
            ("move_time", settle.move_time, settle.dt, 60.0),
            ("still_speed", settle.still_speed, 1.0e-9, 1.0e3),
            ("still_time", settle.still_time, settle.dt, 60.0),
            ("most_time", settle.most_time, settle.dt, 3600.0),
            ("far", settle.far, 1.0, 1.0e9),
        ];
        match numbers.into_iter().find(|(_, value, low, high)| !(low..=high).contains(&value)) {
            Some((option, value, low, high)) => {
                Err(BakeFault::Option { option, given: value.to_string(), allowed: format!("{low} to {high}") })
            }
            None => Ok(()),
        }
    }
}
