//! A frame's dispatches, recorded one after the other.

use super::{GpuDevice, GpuError, Kernel, KernelSpec, StageTimer, Workgroups};

/// Records the dispatches of one step into an encoder, the host's or our own.
///
/// Without a timer they share one compute pass; with one, each has a pass of its own, which is what WebGPU can time.
#[derive(Debug)]
pub struct Recorder<'a> {
    encoder: &'a mut wgpu::CommandEncoder,
    timer: Option<&'a mut StageTimer>,
    pass: Option<wgpu::ComputePass<'static>>,
}

impl<'a> Recorder<'a> {
    /// Begins a step; a `timer` times every dispatch.
    pub fn new(encoder: &'a mut wgpu::CommandEncoder, timer: Option<&'a mut StageTimer>) -> Self {
        Self { encoder, timer, pass: None }
    }

    /// Records one dispatch with the parameters of `slot` of [`Buffers::upload_params`](super::Buffers::upload_params). It sees
    /// what the dispatches before it wrote.
    pub fn dispatch(&mut self, kernel: &Kernel, slot: u32, workgroups: Workgroups<'_>) {
        if matches!(workgroups, Workgroups::Count(0)) {
            return;
        }
        let KernelSpec { stage, entry, .. } = *kernel.spec();
        match &mut self.timer {
            Some(timer) => {
                let timestamp_writes = timer.stamp(stage);
                let descriptor = wgpu::ComputePassDescriptor { label: Some(entry), timestamp_writes };
                kernel.dispatch(&mut self.encoder.begin_compute_pass(&descriptor), slot, workgroups);
            }
            None => {
                let pass = self.pass.get_or_insert_with(|| {
                    let descriptor = wgpu::ComputePassDescriptor { label: Some("sinew"), timestamp_writes: None };
                    self.encoder.begin_compute_pass(&descriptor).forget_lifetime()
                });
                pass.push_debug_group(entry);
                kernel.dispatch(pass, slot, workgroups);
                pass.pop_debug_group();
            }
        }
    }

    /// Ends the step: its timings, if any, will arrive tagged with `step`.
    ///
    /// # Errors
    /// As [`Readback::enqueue`](super::Readback::enqueue).
    pub fn finish(self, gpu: &GpuDevice, step: u64) -> Result<(), GpuError> {
        let Self { encoder, timer, pass } = self;
        drop(pass);
        match timer {
            Some(timer) => timer.finish(gpu, encoder, step),
            None => Ok(()),
        }
    }
}
