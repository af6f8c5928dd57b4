//! Uploads that are recorded into an encoder, so that they happen where they stand among its commands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{GpuDevice, GpuError};

/// Smallest staging buffer (bytes).
const SMALLEST: u64 = 4096;

/// Mapped buffers on their way between the host and an encoder.
///
/// `Queue::write_buffer` writes before everything of the next submission, so two steps recorded before one
/// submission would both see the later values. A staging buffer per write keeps the order, and comes back by
/// itself once the encoder it went into has run, whoever submits it; if nobody does, it is freed.
#[derive(Debug, Default)]
pub struct Staging {
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    written: AtomicU64,
}

impl Staging {
    /// Records that `target` from byte `offset` on takes `bytes`; both are multiples of 4. Never waits.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::Refused`], or the device's earlier failure.
    pub fn write(
        &self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), GpuError> {
        let size = bytes.len() as u64;
        gpu.check()?;
        if size == 0 {
            return Ok(());
        }
        let buffer = self.take(gpu, size)?;
        let mut view = buffer.get_mapped_range_mut(..size).map_err(|e| GpuError::Refused { message: e.to_string() })?;
        view.copy_from_slice(bytes);
        drop(view);
        buffer.unmap();
        encoder.copy_buffer_to_buffer(&buffer, 0, target, offset, Some(size));
        self.written.fetch_add(size, Ordering::Relaxed);
        let free = self.free.clone();
        let returned = buffer.clone();
        encoder.map_buffer_on_submit(&buffer, wgpu::MapMode::Write, .., move |mapped| {
            if mapped.is_ok() {
                free.lock().unwrap_or_else(PoisonError::into_inner).push(returned);
            }
        });
        Ok(())
    }

    /// How many bytes were written.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// A mapped buffer of at least `size` bytes.
    fn take(&self, gpu: &GpuDevice, size: u64) -> Result<wgpu::Buffer, GpuError> {
        let size = size.next_power_of_two().max(SMALLEST);
        {
            let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(index) = free.iter().position(|buffer| buffer.size() == size) {
                return Ok(free.swap_remove(index));
            }
        }
        make_buffer(gpu, "staging", size, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC, true)
    }
}

/// A buffer of `size` bytes, or why there is none.
pub(super) fn make_buffer(
    gpu: &GpuDevice,
    label: &str,
    size: u64,
    usage: wgpu::BufferUsages,
    mapped_at_creation: bool,
) -> Result<wgpu::Buffer, GpuError> {
    gpu.check()?;
    let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation };
    gpu.scoped(|device| device.create_buffer(&descriptor)).map_err(|error| match error {
        wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory { what: format!("{label} ({size} bytes)") },
        other => GpuError::Refused { message: other.to_string() },
    })
}
