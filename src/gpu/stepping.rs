//! [`Physics`] on a GPU.

use super::{GpuDevice, PairReport, TallyReport};
use crate::physics::ActiveBackend;
use crate::step::{Stage, StepConfig};
use crate::{BackendError, FleshHandle, Physics, PipelineProgress, StepError};

/// Deformed vertices in GPU memory, to draw from without a copy: 40 bytes each, place (m) then unit normal, three
/// f32 each, in model space, then the unit tangent and its bitangent's side, four f32, zeros where the mesh has none.
#[derive(Clone, Copy, Debug)]
pub struct VertexSlice<'a> {
    /// The buffer, with vertex, index and storage usage; valid until the next step.
    pub buffer: &'a wgpu::Buffer,
    /// Where the first vertex begins (bytes).
    pub offset: u64,
    /// How many vertices.
    pub count: u32,
}

/// What goes over the bus in a step (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfers {
    /// To the GPU: what the host says of the frame, and the rows of instances that came, went or were changed.
    pub uploaded: u64,
    /// From the GPU; 0 where so many results are under way that this step's were left out.
    pub read_back: u64,
}

impl Physics {
    /// An empty scene on a device that the host owns.
    ///
    /// All pipelines are compiled here, so that no step does: drivers that put it off until a kernel first runs are given
    /// one empty run of each, which is submitted to `queue` and waited for. The host tells of a loss that it hears of
    /// with [`Physics::report_device_lost`].
    ///
    /// # Errors
    /// [`BackendError::Gpu`]: `LimitTooLow` names a limit below `wgpu::Limits::default()`; `Kernel`,
    /// `OutOfMemory` or `Refused` where the kernels or their buffers cannot be made.
    pub fn with_device(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, BackendError> {
        Self::with_device_with_progress(device, queue, |_| ())
    }

    /// As [`Physics::with_device`], with progress as of [`Physics::new_with_progress`].
    ///
    /// # Errors
    /// As for [`Physics::with_device`].
    pub fn with_device_with_progress(
        device: wgpu::Device,
        queue: wgpu::Queue,
        progress: impl FnMut(PipelineProgress),
    ) -> Result<Self, BackendError> {
        let mut physics = Self::with_config(StepConfig::default());
        physics.switch_to_device_with_progress(device, queue, progress)?;
        Ok(physics)
    }

    /// An empty scene on a device that others may step on too, as `physics.gpu()` of another one: what is compiled for the
    /// first, the next ones find.
    ///
    /// # Errors
    /// As for [`Physics::with_device`].
    pub fn with_gpu(device: GpuDevice) -> Result<Self, BackendError> {
        let mut physics = Self::with_config(StepConfig::default());
        physics.go_on_with(ActiveBackend::on_gpu(device, &mut |_| ())?);
        Ok(physics)
    }

    /// As [`Physics::switch_backend`], to a device that the host owns.
    ///
    /// # Errors
    /// As for [`Physics::with_device`]; the backend then stays.
    pub fn switch_to_device(&mut self, device: wgpu::Device, queue: wgpu::Queue) -> Result<(), BackendError> {
        self.switch_to_device_with_progress(device, queue, |_| ())
    }

    /// As [`Physics::switch_to_device`], with progress as of [`Physics::new_with_progress`].
    ///
    /// # Errors
    /// As for [`Physics::with_device`]; the backend then stays.
    pub fn switch_to_device_with_progress(
        &mut self,
        device: wgpu::Device,
        queue: wgpu::Queue,
        mut progress: impl FnMut(PipelineProgress),
    ) -> Result<(), BackendError> {
        let next = ActiveBackend::on_gpu(GpuDevice::with_device(device, queue)?, &mut progress)?;
        #[cfg(feature = "neural")]
        self.check_room(&next, None)?;
        self.go_on_with(next);
        Ok(())
    }

    /// Notes that the host's device was lost; every step then fails until [`Physics::switch_backend`].
    pub fn report_device_lost(&self, reason: &str) {
        if let ActiveBackend::Gpu(gpu) = &self.backend {
            gpu.device().report_lost(reason);
        }
    }

    /// Records a step of `dt` (s) into the host's encoder, which the host then submits; never waits.
    ///
    /// Results arrive some steps later, whenever [`Physics::step_flesh`], `encode` or [`Physics::finish`] is called.
    /// After an encoder that is thrown away, call [`Physics::encoder_dropped`] before the next step.
    ///
    /// # Errors
    /// [`StepError::NotOnGpu`] on the CPU; else as for [`Physics::step_flesh`].
    pub fn encode(&mut self, dt: f64, encoder: &mut wgpu::CommandEncoder) -> Result<(), StepError> {
        self.check_step(dt)?;
        let plan = self.plan(dt);
        let changes = self.rouse(&plan);
        let (backend, instances, frame) = self.begin(&plan, &changes);
        let ActiveBackend::Gpu(gpu) = backend else { return Err(StepError::NotOnGpu) };
        let recorded = gpu.record(encoder, instances, &frame).map_err(StepError::from);
        self.stage_times = self.or_start_again(recorded)?;
        self.let_sleep(&plan);
        self.stepped(&plan);
        Ok(())
    }

    /// Notes that an encoder that [`Physics::encode`] recorded into was dropped and not submitted. Waits for what was
    /// submitted; the next step goes on from there, or from what the host has set since, and [`Physics::step_count`],
    /// activations with it, goes back to that step. Other encoders that are not submitted must be dropped too.
    /// Forces, impulses and velocities that the step had are to be given again.
    /// Does nothing on the CPU.
    ///
    /// # Errors
    /// `StepError::Gpu` where the device failed.
    pub fn encoder_dropped(&mut self) -> Result<(), StepError> {
        self.start_again()
    }

    /// How many bytes the last step uploaded, and how many it has sent back ([`Physics::read_back`]); 0 on the CPU.
    pub fn transfers(&self) -> Transfers {
        let ActiveBackend::Gpu(gpu) = &self.backend else { return Transfers::default() };
        let [uploaded, read_back] = gpu.transfers();
        Transfers { uploaded, read_back }
    }

    /// How many pairs of segments the newest frame that has come back found that may touch each other, and how many contact rows
    /// those that touch had, where [`StepConfig::passes`] says that chains do; `None` on the CPU, which has room for all.
    pub fn pair_report(&self) -> Option<PairReport> {
        let ActiveBackend::Gpu(gpu) = &self.backend else { return None };
        gpu.pair_report()
    }

    /// How many tallies of who presses whom the newest frame made that has come back and had any ([`Physics::gather_events`]); `None`
    /// before one has, and on the CPU, which has room for all.
    pub fn tally_report(&self) -> Option<TallyReport> {
        let ActiveBackend::Gpu(gpu) = &self.backend else { return None };
        gpu.tally_report()
    }

    /// An instance's deformed vertices in GPU memory as the steps submitted leave them; `None` on the CPU and before
    /// the first step.
    ///
    /// # Errors
    /// [`StepError::NoSuchFlesh`].
    pub fn vertex_slice(&self, handle: FleshHandle) -> Result<Option<VertexSlice<'_>>, StepError> {
        self.get(handle)?;
        let ActiveBackend::Gpu(gpu) = &self.backend else { return Ok(None) };
        let (slot, generation) = handle.parts();
        Ok(gpu.vertices(slot, generation).map(|(buffer, offset, count)| VertexSlice { buffer, offset, count }))
    }

    /// Replaces a stage's kernels by what another source makes of them, or puts its own back: for tests that see that a change
    /// is noticed. Those that had nothing to do in the newest frame stay.
    ///
    /// # Errors
    /// [`StepError::NotOnGpu`] on the CPU; `StepError::Gpu` where it does not compile.
    #[doc(hidden)]
    pub fn replace_kernels(&mut self, stage: Stage, written: Option<&str>) -> Result<(), StepError> {
        let ActiveBackend::Gpu(gpu) = &mut self.backend else { return Err(StepError::NotOnGpu) };
        Ok(gpu.replace_kernels(stage, written)?)
    }

    /// The device in use, or `None` on the CPU.
    pub fn gpu(&self) -> Option<&GpuDevice> {
        match &self.backend {
            ActiveBackend::Gpu(gpu) => Some(gpu.device()),
            ActiveBackend::Cpu(_) => None,
        }
    }
}
