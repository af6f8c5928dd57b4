//! The device: found by rank, or the host's own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::GpuError;
use super::kernels::Pipelines;

/// How long (s) to wait for work, and for the driver's compiler.
const SECONDS: u64 = 30;
const COMPILE_SECONDS: u64 = 600;

/// What an adapter is, for reports and for the choice between it and the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterReport {
    /// The adapter's name, as its driver gives it.
    pub name: String,
    /// The graphics interface: `vulkan`, `metal`, `dx12`, `gl`.
    pub backend: String,
    /// The driver's name and version.
    pub driver: String,
    /// Whether it computes on the CPU (lavapipe, WARP): right, but slower than the CPU path.
    pub software: bool,
}

impl std::fmt::Display for AdapterReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.software { ", software" } else { "" };
        write!(f, "{} ({}{kind})", self.name, self.backend)
    }
}

impl From<&wgpu::AdapterInfo> for AdapterReport {
    fn from(info: &wgpu::AdapterInfo) -> Self {
        Self {
            name: info.name.clone(),
            backend: info.backend.to_str().to_owned(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
            software: info.device_type == wgpu::DeviceType::Cpu,
        }
    }
}

/// A device with its queue, and what became of it.
///
/// Clones share the device and the pipelines made on it: see [`Physics::with_gpu`](crate::Physics::with_gpu). A lost device
/// stays lost: make another one and upload the last state read back.
#[derive(Clone, Debug)]
pub struct GpuDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    report: AdapterReport,
    timestamps: bool,
    failure: Arc<Mutex<Option<GpuError>>>,
    pipelines: Arc<Pipelines>,
    waits: Arc<AtomicUsize>,
}

impl GpuDevice {
    /// Bytes of the largest array that there may be.
    pub(crate) fn most_bytes(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// Opens the best adapter of the machine: discrete before integrated before virtual before software.
    ///
    /// Asks for WebGPU's default limits, larger buffers where the adapter has them, and timestamps where there are
    /// any. The environment variables `WGPU_BACKEND` (`vulkan`, `metal`, `dx12`) and `WGPU_ADAPTER_NAME` (a part of
    /// the name, any case) narrow the choice. Waits for the driver; nothing after this does.
    ///
    /// # Errors
    /// [`GpuError::NoAdapter`] without a fitting adapter, [`GpuError::NoDevice`] if the driver refuses.
    pub fn new() -> Result<Self, GpuError> {
        let adapter = best_adapter()?;
        let report = AdapterReport::from(&adapter.get_info());
        let available = adapter.limits();
        let required_limits = wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
        };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|e| GpuError::NoDevice { adapter: report.to_string(), message: e.to_string() })?;

        let failure = Arc::new(Mutex::new(None));
        let lost = failure.clone();
        device.set_device_lost_callback(move |reason, message| {
            remember(&lost, GpuError::Lost { reason: format!("{reason:?} {message}").trim().to_owned() });
        });
        let refused = failure.clone();
        device.on_uncaptured_error(Arc::new(move |error| remember(&refused, uncaptured(error))));
        let (pipelines, waits) = Default::default();
        Ok(Self { timestamps: timestamps(&device), device, queue, report, failure, pipelines, waits })
    }

    /// Takes a device that the host owns.
    ///
    /// The host keeps its own handlers of errors and of loss and tells of the latter with [`Self::report_lost`].
    ///
    /// # Errors
    /// [`GpuError::LimitTooLow`] names the limit that is below [`wgpu::Limits::default`].
    pub fn with_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        if let Some((limit, need, have)) = lacking(&device.limits()).into_iter().next() {
            return Err(GpuError::LimitTooLow { limit, have, need });
        }
        let report = AdapterReport::from(&device.adapter_info());
        let (failure, pipelines, waits) = Default::default();
        Ok(Self { timestamps: timestamps(&device), device, queue, report, failure, pipelines, waits })
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Its queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// What the adapter is.
    pub fn report(&self) -> &AdapterReport {
        &self.report
    }

    /// Whether the adapter computes on the CPU, so that the CPU path is the better choice.
    pub fn is_software(&self) -> bool {
        self.report.software
    }

    /// Whether stages can be timed.
    pub fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// How many pipelines were made on it, by it and its clones: none in a step.
    pub fn pipelines_created(&self) -> usize {
        self.pipelines.count()
    }

    pub(super) fn pipelines(&self) -> &Pipelines {
        &self.pipelines
    }

    /// Notes that the device was lost, for hosts that own it and hear of it first.
    pub fn report_lost(&self, reason: &str) {
        remember(&self.failure, GpuError::Lost { reason: reason.to_owned() });
    }

    /// Lets finished work call back, without waiting, and says whether the device still works.
    ///
    /// # Errors
    /// The first failure there was: [`GpuError::Lost`], [`GpuError::OutOfMemory`] or [`GpuError::Refused`].
    pub fn poll(&self) -> Result<(), GpuError> {
        let polled = self.device.poll(wgpu::PollType::Poll);
        self.check()?;
        polled.map(|_| ()).map_err(|e| GpuError::Refused { message: e.to_string() })
    }

    /// Whether the device still works, as far as is known.
    ///
    /// # Errors
    /// As [`Self::poll`].
    pub fn check(&self) -> Result<(), GpuError> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    /// Waits until everything submitted has run: for tests and snapshots, never in a frame.
    ///
    /// # Errors
    /// As [`Self::poll`], and [`GpuError::Timeout`] after 30 s.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.wait_until(None, SECONDS)
    }

    /// Waits until a submission has run.
    ///
    /// # Errors
    /// As [`Self::wait`].
    pub fn wait_for(&self, submission: wgpu::SubmissionIndex) -> Result<(), GpuError> {
        self.wait_until(Some(submission), SECONDS)
    }

    /// Waits for a kernel's first run, within which a driver may compile it.
    pub(super) fn wait_for_compiler(&self, submission: wgpu::SubmissionIndex) -> Result<(), GpuError> {
        self.wait_until(Some(submission), COMPILE_SECONDS)
    }

    /// How often it was waited for, for tests that see that no frame does.
    #[doc(hidden)]
    pub fn waits(&self) -> usize {
        self.waits.load(Ordering::Relaxed)
    }

    fn wait_until(&self, submission_index: Option<wgpu::SubmissionIndex>, seconds: u64) -> Result<(), GpuError> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let timeout = Some(std::time::Duration::from_secs(seconds));
        let waited = self.device.poll(wgpu::PollType::Wait { submission_index, timeout });
        self.check()?;
        match waited {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(GpuError::Timeout { seconds }),
            Err(error) => Err(GpuError::Refused { message: error.to_string() }),
        }
    }

    /// Runs `make` and turns what wgpu refuses in it into an error. Waits for nothing on native backends.
    pub(crate) fn scoped<T>(&self, make: impl FnOnce(&wgpu::Device) -> T) -> Result<T, wgpu::Error> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let made = make(&self.device);
        let errors = [internal.pop(), validation.pop()].map(pollster::block_on);
        let memory = pollster::block_on(memory.pop());
        match errors.into_iter().flatten().next().or(memory) {
            Some(error) => Err(error),
            None => Ok(made),
        }
    }
}

/// Keeps the first failure: the ones after it are its consequences.
fn remember(failure: &Mutex<Option<GpuError>>, error: GpuError) {
    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

fn uncaptured(error: wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory { what: "an allocation of the driver".to_owned() },
        other => GpuError::Refused { message: other.to_string() },
    }
}

fn timestamps(device: &wgpu::Device) -> bool {
    device.features().contains(wgpu::Features::TIMESTAMP_QUERY)
}

/// Limits below WebGPU's defaults: (name, need, have). Textures and samplers are none of the kernels' business.
fn lacking(limits: &wgpu::Limits) -> Vec<(&'static str, u64, u64)> {
    let mut lacking = Vec::new();
    wgpu::Limits::default().check_limits_with_fail_fn(limits, false, |name, need, have| {
        if !["texture", "sampler", "vertex", "color", "inter_stage"].iter().any(|other| name.contains(other)) {
            lacking.push((name, need, have));
        }
    });
    lacking
}

fn rank(kind: wgpu::DeviceType) -> u32 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

fn best_adapter() -> Result<wgpu::Adapter, GpuError> {
    let native = wgpu::Backends::VULKAN | wgpu::Backends::METAL | wgpu::Backends::DX12;
    let backends = wgpu::Backends::from_env().unwrap_or(native);
    let name = std::env::var("WGPU_ADAPTER_NAME").unwrap_or_default().to_lowercase();
    // What debuggers want in kernels is a line of WGSL beside each instruction, and each is found by counting from the first.
    let debuggable = wgpu::InstanceFlags::DEBUG;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends,
        flags: wgpu::InstanceFlags::default().difference(debuggable).with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });

    let mut adapters = pollster::block_on(instance.enumerate_adapters(backends));
    adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
    let mut found = Vec::new();
    for adapter in adapters {
        let info = adapter.get_info();
        let lacking = lacking(&adapter.limits());
        let compute = adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS);
        match lacking.first() {
            _ if !info.name.to_lowercase().contains(&name) => found.push(format!("{}: not asked for", info.name)),
            _ if !compute => found.push(format!("{}: no compute shaders", info.name)),
            Some((limit, need, have)) => found.push(format!("{}: {limit} is {have}, not {need}", info.name)),
            None => return Ok(adapter),
        }
    }
    let found = if found.is_empty() { "none at all".to_owned() } else { found.join("; ") };
    Err(GpuError::NoAdapter { found })
}
