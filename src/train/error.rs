//! Why nothing can be trained.

use burn_core::tensor::backend::ExecutionError;

use crate::neural::NetworkError;

/// Why nothing can be trained.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// An option out of range.
    #[error("{option} is {given}; it must be {low} to {high}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What it is.
        given: f64,
        /// The least that it may be.
        low: f64,
        /// The most.
        high: f64,
    },
    /// Not enough to train and to hold out.
    #[error("{passive} used samples without activations, of {poses} poses: bake more (--samples), at least 10 poses")]
    TooFew {
        /// Used samples without activations.
        passive: usize,
        /// Poses that these are of.
        poses: usize,
    },
    /// Lists that are not as long as they say together.
    #[error("{what} has {found} numbers, not {expected}: give so many for each sample")]
    Length {
        /// The list.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many it must have.
        expected: usize,
    },
    /// A mesh without vertices, or no joints.
    #[error("there are no {what}: give at least one")]
    Nothing {
        /// Of what there are none.
        what: &'static str,
    },
    /// What is no number.
    #[error("{what}[{index}] is not finite: leave that sample out")]
    NotFinite {
        /// The list.
        what: &'static str,
        /// Where in it.
        index: usize,
    },
    /// Training on a GPU, by a build that cannot.
    #[error(
        "this build trains on the CPU alone: build it with --features train-gpu, or leave the backend at cpu (--backend cpu)"
    )]
    GpuNotBuilt,
    /// No adapter of this machine can train.
    #[error(
        "no GPU adapter was found to train on ({found}); install a Vulkan, Metal or DirectX 12 driver (on Debian without a GPU: \
         mesa-vulkan-drivers), see what WGPU_BACKEND and WGPU_ADAPTER_NAME ask for, or train on the CPU (--backend cpu)"
    )]
    NoAdapter {
        /// The adapters that were seen.
        found: String,
    },
    /// The adapter refused a device.
    #[error("adapter {adapter} refused a device: {message}; update its driver, or train on the CPU (--backend cpu)")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        message: String,
    },
    /// The backend failed in training: a device that was lost, or has no memory left.
    #[error(
        "training failed: {message}; run it again to go on from its checkpoint, on the CPU if need be (--backend cpu)"
    )]
    Backend {
        /// The backend's words.
        message: String,
    },
    /// A network that is not one.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// Checkpoints could not be written.
    #[error("{name}: {error}; check the path, its rights and the room on the disk")]
    Io {
        /// The file.
        name: String,
        /// What went wrong.
        error: std::io::Error,
    },
    /// Training diverged.
    #[error("training diverged in epoch {epoch}; lower the learning rate (--learning-rate)")]
    Diverged {
        /// Where.
        epoch: u32,
    },
    /// Whoever was told of the progress stopped it.
    #[error("it was stopped; run it again to go on from its checkpoint")]
    Stopped,
}

impl From<ExecutionError> for TrainError {
    fn from(error: ExecutionError) -> Self {
        Self::Backend { message: error.to_string() }
    }
}
