//! Results on their way back, without the frame waiting for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::staging::make_buffer;
use super::{GpuDevice, GpuError};

/// A part of a buffer: (buffer, first byte, bytes), the last two multiples of 4.
pub type BufferPart<'a> = (&'a wgpu::Buffer, u64, u64);

/// Copies of buffers that arrive on the host some steps later, tagged with the step they belong to.
///
/// Up to a number of copies are under way at a time; when the host runs further ahead of the GPU than that, a step's
/// copy is left out rather than waited for. The last bytes that arrived stay here, also when the device is lost.
#[derive(Debug)]
pub struct Readback {
    label: &'static str,
    depth: usize,
    arrived: Arc<Mutex<VecDeque<Arrival>>>,
    under_way: Arc<AtomicUsize>,
    free: Vec<wgpu::Buffer>,
    latest: Option<(u64, Vec<u8>)>,
    /// Whether those before it are kept until they are taken, and these.
    keeps_older: bool,
    older: Vec<(u64, Vec<u8>)>,
}

/// A mapped copy.
#[derive(Debug)]
struct Arrival {
    step: u64,
    bytes: u64,
    buffer: wgpu::Buffer,
}

/// Counts a copy that is under way, until it has arrived or its encoder was thrown away.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Readback {
    /// Room for `depth` copies under way; 3 suits a host that runs at most two frames ahead.
    pub fn new(label: &'static str, depth: usize) -> Self {
        let (arrived, under_way) = Default::default();
        let (free, older) = Default::default();
        Self { label, depth, arrived, under_way, free, latest: None, keeps_older: false, older }
    }

    /// Records a copy of `parts`, one after the other, as the result of `step`. Never waits.
    ///
    /// Returns whether there was room; without, this step's result will not arrive.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::Refused`], or the device's earlier failure.
    pub fn enqueue(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        step: u64,
        parts: &[BufferPart<'_>],
    ) -> Result<bool, GpuError> {
        gpu.check()?;
        self.collect()?;
        let bytes = parts.iter().map(|part| part.2).sum::<u64>();
        if bytes == 0 || self.under_way.load(Ordering::Relaxed) >= self.depth {
            return Ok(false);
        }
        self.free.retain(|buffer| buffer.size() >= bytes);
        let buffer = match self.free.pop() {
            Some(buffer) => buffer,
            None => make_copy(gpu, self.label, bytes)?,
        };
        record(encoder, &buffer, parts);
        let (arrived, under_way) = (self.arrived.clone(), UnderWay::new(&self.under_way));
        let arrival = Arrival { step, bytes, buffer: buffer.clone() };
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, ..bytes, move |mapped| {
            if mapped.is_ok() {
                arrived.lock().unwrap_or_else(PoisonError::into_inner).push_back(arrival);
            }
            drop(under_way);
        });
        Ok(true)
    }

    /// Takes in what has arrived, without waiting.
    ///
    /// # Errors
    /// The device's failure; [`Self::latest`] then still holds the last good bytes.
    pub fn poll(&mut self, gpu: &GpuDevice) -> Result<(), GpuError> {
        let polled = gpu.poll();
        let collected = self.collect();
        polled.and(collected)
    }

    /// The newest result that has arrived: its step and its bytes.
    pub fn latest(&self) -> Option<(u64, &[u8])> {
        self.latest.as_ref().map(|(step, bytes)| (*step, bytes.as_slice()))
    }

    /// Has what arrives before the newest result kept from here on, or not.
    pub fn keep_older(&mut self, keeps_older: bool) {
        self.keeps_older = keeps_older;
    }

    /// What was kept, from the oldest on.
    pub fn take_older(&mut self) -> Vec<(u64, Vec<u8>)> {
        std::mem::take(&mut self.older)
    }

    fn collect(&mut self) -> Result<(), GpuError> {
        let mut arrived = std::mem::take(&mut *self.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        let wanted = if self.keeps_older { arrived.len() } else { 1 };
        for arrival in arrived.iter().skip(arrived.len().saturating_sub(wanted)) {
            let view = arrival
                .buffer
                .get_mapped_range(..arrival.bytes)
                .map_err(|e| GpuError::Refused { message: e.to_string() })?;
            if self.keeps_older {
                self.older.extend(self.latest.take());
            }
            let (step, bytes) = self.latest.get_or_insert_default();
            *step = arrival.step;
            bytes.clear();
            bytes.extend_from_slice(&view);
        }
        for arrival in arrived.drain(..) {
            arrival.buffer.unmap();
            self.free.push(arrival.buffer);
        }
        Ok(())
    }
}

/// Copies `parts` to the host and waits for them: for tests and snapshots, never in a frame.
///
/// # Errors
/// As [`GpuDevice::wait`].
pub fn read_now(gpu: &GpuDevice, parts: &[BufferPart<'_>]) -> Result<Vec<u8>, GpuError> {
    let bytes = parts.iter().map(|part| part.2).sum::<u64>();
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let buffer = make_copy(gpu, "read_now", bytes)?;
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    record(&mut encoder, &buffer, parts);
    encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Read, .., |_| {});
    gpu.queue().submit([encoder.finish()]);
    gpu.wait()?;
    let view = buffer.get_mapped_range(..).map_err(|e| GpuError::Refused { message: e.to_string() })?;
    Ok(view.to_vec())
}

fn make_copy(gpu: &GpuDevice, label: &str, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
    make_buffer(gpu, label, bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST, false)
}

fn record(encoder: &mut wgpu::CommandEncoder, target: &wgpu::Buffer, parts: &[BufferPart<'_>]) {
    let mut to = 0;
    for (source, from, bytes) in parts {
        encoder.copy_buffer_to_buffer(source, *from, target, to, Some(*bytes));
        to += bytes;
    }
}
