//! Stepping on a GPU through wgpu: the device, all memory on it, one kernel a stage.
//!
//! Everything a step does is recorded into a [`wgpu::CommandEncoder`], the host's or our own: uploads
//! ([`Buffers`]), dispatches ([`Recorder`] over [`Kernel`]s), results on their way back ([`Readback`],
//! [`StageTimer`]). Recording never waits for the GPU, and whoever submits the encoder need call nothing after it.

mod arrays;
mod backend;
mod buffers;
mod chain_pool;
mod declared;
mod delta_pool;
mod device;
mod error;
mod kernels;
mod meeting_pool;
#[cfg(feature = "neural")]
mod network_pool;
mod pill_rows;
mod readback;
mod recorder;
mod residents;
mod results;
mod rows;
mod skin_pool;
mod sleep_pool;
pub(crate) mod solid_pool;
mod staging;
mod stepping;
mod tally_pool;
mod timing;
mod touches;
mod unroll;

pub use device::{AdapterReport, GpuDevice};
pub use error::GpuError;
pub use meeting_pool::PairReport;
pub use stepping::{Transfers, VertexSlice};
pub use tally_pool::TallyReport;

// What kernels stand on, for tests.
#[doc(hidden)]
pub use {
    arrays::{ARRAYS, KERNELS},
    buffers::{ArrayId, ArraySpec, Buffers, PARAMS_STRIDE},
    declared::{CONSTANTS, FLOAT_CONSTANTS, STRUCTS},
    kernels::{Access, Kernel, KernelSpec, Loops, SHARED, Workgroups},
    readback::{BufferPart, Readback, read_now},
    recorder::Recorder,
    staging::Staging,
    timing::{MAX_TIMED_DISPATCHES, StageTimer, StepTimings},
};

pub(crate) use backend::GpuBackend;
/// The very wgpu that this crate was built with, for hosts that own the device.
pub use wgpu;
#[cfg(feature = "neural")]
pub(crate) use {delta_pool::check_deltas, network_pool::check_networks};
