//! How long each stage takes on the GPU.

use std::collections::VecDeque;
use std::time::Duration;

use super::staging::make_buffer;
use super::{GpuDevice, GpuError, Readback};

/// Dispatches of one step that can be timed; those beyond run untimed. Two queries each, WebGPU's 4096 in all.
pub const MAX_TIMED_DISPATCHES: u32 = wgpu::QUERY_SET_MAX_QUERIES / 2;

/// How many steps' timings may be under way.
const DEPTH: usize = 4;

/// The time each stage took on the GPU in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepTimings {
    /// The step.
    pub step: u64,
    /// Each stage with the sum over its dispatches, in the order of first use.
    pub stages: Vec<(&'static str, Duration)>,
}

/// Timestamps around every dispatch, read back without waiting.
#[derive(Debug)]
pub struct StageTimer {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    readback: Readback,
    nanoseconds: f64,
    recorded: Vec<&'static str>,
    under_way: VecDeque<(u64, Vec<&'static str>)>,
    latest: Option<StepTimings>,
}

impl StageTimer {
    /// A timer, or `None` where the device has no timestamps.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::Refused`].
    pub fn new(gpu: &GpuDevice) -> Result<Option<Self>, GpuError> {
        if !gpu.has_timestamps() {
            return Ok(None);
        }
        let descriptor = wgpu::QuerySetDescriptor {
            label: Some("timing"),
            ty: wgpu::QueryType::Timestamp,
            count: MAX_TIMED_DISPATCHES * 2,
        };
        let queries = gpu
            .scoped(|device| device.create_query_set(&descriptor))
            .map_err(|e| GpuError::Refused { message: e.to_string() })?;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let bytes = u64::from(descriptor.count) * u64::from(wgpu::QUERY_SIZE);
        Ok(Some(Self {
            queries,
            resolved: make_buffer(gpu, "timing", bytes, usage, false)?,
            readback: Readback::new("timing", DEPTH),
            nanoseconds: f64::from(gpu.queue().get_timestamp_period()),
            recorded: Vec::new(),
            under_way: VecDeque::new(),
            latest: None,
        }))
    }

    /// Where the next dispatch's timestamps go, if there is room.
    pub(super) fn stamp(&mut self, stage: &'static str) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let index = self.recorded.len() as u32;
        if index == MAX_TIMED_DISPATCHES {
            return None;
        }
        self.recorded.push(stage);
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(2 * index),
            end_of_pass_write_index: Some(2 * index + 1),
        })
    }

    /// Records that this step's timestamps come back.
    pub(super) fn finish(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        step: u64,
    ) -> Result<(), GpuError> {
        let recorded = std::mem::take(&mut self.recorded);
        let count = 2 * recorded.len() as u32;
        if count == 0 {
            return Ok(());
        }
        encoder.resolve_query_set(&self.queries, 0..count, &self.resolved, 0);
        let bytes = u64::from(count) * u64::from(wgpu::QUERY_SIZE);
        if self.readback.enqueue(gpu, encoder, step, &[(&self.resolved, 0, bytes)])? {
            self.under_way.push_back((step, recorded));
            if self.under_way.len() > 2 * DEPTH {
                self.under_way.pop_front();
            }
        }
        Ok(())
    }

    /// Takes in what has arrived, without waiting.
    ///
    /// # Errors
    /// The device's failure.
    pub fn poll(&mut self, gpu: &GpuDevice) -> Result<(), GpuError> {
        self.readback.poll(gpu)?;
        let Some((step, bytes)) = self.readback.latest() else { return Ok(()) };
        if let Some(index) = self.under_way.iter().rposition(|(recorded_step, _)| *recorded_step == step) {
            let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(bytes);
            let timings = sum(step, &self.under_way[index].1, &stamps, self.nanoseconds);
            self.under_way.drain(..=index);
            self.latest = Some(timings);
        }
        Ok(())
    }

    /// The newest timings that have arrived.
    pub fn latest(&self) -> Option<&StepTimings> {
        self.latest.as_ref()
    }
}

/// Sums (begin, end) pairs of ticks by stage. Some drivers reset their clock in between: such a pair counts nothing.
fn sum(step: u64, recorded: &[&'static str], stamps: &[u64], nanoseconds: f64) -> StepTimings {
    let mut stages: Vec<(&'static str, Duration)> = Vec::new();
    for (stage, pair) in recorded.iter().zip(stamps.chunks_exact(2)) {
        let time = Duration::from_nanos((pair[1].saturating_sub(pair[0]) as f64 * nanoseconds) as u64);
        match stages.iter_mut().find(|(name, _)| name == stage) {
            Some((_, total)) => *total += time,
            None => stages.push((stage, time)),
        }
    }
    StepTimings { step, stages }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_summed_by_stage_in_the_order_of_first_use() {
        let timings = sum(7, &["predict", "solve_rods", "predict"], &[10, 20, 20, 50, 60, 55], 2.0);
        let expected = vec![("predict", Duration::from_nanos(20)), ("solve_rods", Duration::from_nanos(60))];
        assert_eq!(timings, StepTimings { step: 7, stages: expected });
    }
}
