//! What can go wrong on a GPU.

/// What can go wrong on a GPU, with what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter of this machine can run the kernels.
    #[error(
        "no GPU adapter with WebGPU's default limits was found ({found}); install a Vulkan, Metal or DirectX 12 \
         driver (on Debian without a GPU: mesa-vulkan-drivers), or use Backend::Cpu"
    )]
    NoAdapter {
        /// The adapters that were seen, with what each lacks.
        found: String,
    },
    /// The adapter refused a device.
    #[error("adapter {adapter} refused a device: {message}; update its driver, or use Backend::Cpu")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        message: String,
    },
    /// The host's device was made with a limit below what the kernels need.
    #[error(
        "the host's device has {limit} = {have}, the kernels need {need}; create it with at least \
         wgpu::Limits::default()"
    )]
    LimitTooLow {
        /// The limit's field in `wgpu::Limits`.
        limit: &'static str,
        /// What the device has.
        have: u64,
        /// What the kernels need.
        need: u64,
    },
    /// The device was lost: the driver crashed, was updated, or the GPU was taken away.
    #[error(
        "the GPU device was lost: {reason}; make a new one, or continue with Backend::Cpu, from the last state that \
         was read back"
    )]
    Lost {
        /// The driver's words.
        reason: String,
    },
    /// The GPU has no memory left.
    #[error("the GPU ran out of memory for {what}; simulate fewer characters, or use Backend::Cpu")]
    OutOfMemory {
        /// What was being made.
        what: String,
    },
    /// An array would outgrow what the device allows in one binding.
    #[error(
        "array {array} needs {bytes} bytes and the device allows {limit} in one binding; simulate fewer characters \
         in one Physics, or create the device with a larger max_storage_buffer_binding_size and max_buffer_size"
    )]
    ArrayTooLarge {
        /// The array's name.
        array: &'static str,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// Networks of all instances would outgrow what the device allows in one binding.
    #[error(
        "the networks in use need {bytes} bytes and the device allows {limit} in one binding; store bases in 8 bits (sinew train \
         --precision i8), with fewer components or a larger threshold, create the device with a larger \
         max_storage_buffer_binding_size and max_buffer_size, or use Backend::Cpu"
    )]
    NetworksTooLarge {
        /// Bytes of all networks in use, each once.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A kernel does not compile on this device, or does not fit its bindings.
    #[error("kernel {stage} was refused: {message}; report the adapter and this text, and use Backend::Cpu")]
    Kernel {
        /// The stage's name.
        stage: &'static str,
        /// The compiler's words.
        message: String,
    },
    /// wgpu refused an operation, which means a bug in this crate or in the host's use of its device.
    #[error("wgpu refused an operation: {message}; report this text")]
    Refused {
        /// wgpu's words.
        message: String,
    },
    /// A blocking read-back did not finish in time.
    #[error("the GPU did not answer within {seconds} s; shorten the step, or raise the driver's time-out")]
    Timeout {
        /// How long was waited (s).
        seconds: u64,
    },
}
