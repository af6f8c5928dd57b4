//! What perceptrons are trained on: one of `burn`'s backends.

use std::path::Path;

use burn_ndarray::{NdArray, NdArrayDevice};
#[cfg(feature = "train-gpu")]
use burn_wgpu::{Wgpu, WgpuDevice};

use super::fit::{Fit, Fitted, TrainProgress, fit};
use super::{TrainError, TrainOptions};

/// What perceptrons are trained on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrainBackend {
    /// The CPU, on one thread: `burn`'s ndarray backend.
    #[default]
    Cpu,
    /// A GPU, in a build with feature `train-gpu`: `burn`'s wgpu backend. `WGPU_BACKEND` and `WGPU_ADAPTER_NAME` choose among several.
    Gpu,
}

/// A backend that is there.
pub(super) enum Device {
    Cpu,
    #[cfg(feature = "train-gpu")]
    Gpu(WgpuDevice),
}

impl Device {
    pub fn of(backend: TrainBackend) -> Result<Self, TrainError> {
        match backend {
            TrainBackend::Cpu => Ok(Self::Cpu),
            #[cfg(feature = "train-gpu")]
            TrainBackend::Gpu => super::gpu::device().map(Self::Gpu),
            #[cfg(not(feature = "train-gpu"))]
            TrainBackend::Gpu => Err(TrainError::GpuNotBuilt),
        }
    }

    /// [`fit()`] on it.
    pub fn fit(
        &self,
        what: Fit,
        options: &TrainOptions,
        checkpoint: (Option<&Path>, &str),
        progress: &mut dyn FnMut(TrainProgress) -> bool,
    ) -> Result<Fitted, TrainError> {
        match self {
            Self::Cpu => fit::<NdArray<f32>>(what, &NdArrayDevice::Cpu, options, checkpoint, progress),
            #[cfg(feature = "train-gpu")]
            Self::Gpu(device) => fit::<Wgpu>(what, device, options, checkpoint, progress),
        }
    }
}
