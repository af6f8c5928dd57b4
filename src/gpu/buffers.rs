//! The one owner of all GPU memory.

use super::staging::make_buffer;
use super::{GpuDevice, GpuError, Staging};
use crate::layout::{LANES, WgslStruct};
use crate::step::StepParams;

/// Bytes from one slot of the parameter uniform to the next: WebGPU's largest demand on dynamic offsets.
pub const PARAMS_STRIDE: u64 = 256;

/// An array's place in the table that [`Buffers::new`] was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArrayId(pub usize);

/// What an array holds. The table of these is the only list of the arrays there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraySpec {
    /// Its name: that of the variable in every shader that binds it.
    pub name: &'static str,
    /// Bytes of one row; a multiple of 4.
    pub row_bytes: u64,
    /// Whether the host may draw from it as a vertex or index buffer.
    pub drawable: bool,
    /// Whether passes take their size from it, see [`Size::Indirect`](crate::step::Size::Indirect).
    pub indirect: bool,
}

impl ArraySpec {
    /// Rows of `entries` words for each of [`LANES`] chains.
    pub const fn of_lanes(name: &'static str, entries: u32) -> Self {
        Self { name, row_bytes: entries as u64 * LANES as u64 * 4, drawable: false, indirect: false }
    }

    /// A row per item: one `T`.
    pub const fn table<T: WgslStruct>(name: &'static str) -> Self {
        Self { name, row_bytes: size_of::<T>() as u64, drawable: false, indirect: false }
    }

    /// A row per item: `words` 4-byte words.
    pub const fn words(name: &'static str, words: u32) -> Self {
        Self { name, row_bytes: words as u64 * 4, drawable: false, indirect: false }
    }

    /// The same, drawable as a vertex or index buffer.
    pub const fn drawable(self) -> Self {
        Self { drawable: true, ..self }
    }

    /// The same, for passes to take their size from.
    pub const fn indirect(self) -> Self {
        Self { indirect: true, ..self }
    }
}

/// All arrays of one simulation on the GPU.
///
/// Capacity is in rows. It starts at one row an array, since nothing empty can be bound, grows by half or to what
/// is asked for, whichever is more, and never shrinks. Growing keeps what was there and zeroes the rest, and changes
/// [`Self::generation`], after which bind groups are made anew. Asking for more than one binding may hold is
/// [`GpuError::ArrayTooLarge`] and changes nothing.
#[derive(Debug)]
pub struct Buffers {
    specs: &'static [ArraySpec],
    arrays: Vec<wgpu::Buffer>,
    params: wgpu::Buffer,
    staging: Staging,
    generation: u64,
    recording: u64,
    /// What was replaced since, in which recording.
    replaced: Vec<(u64, ArrayId, wgpu::Buffer)>,
}

impl Buffers {
    /// One row for each array of `specs`, zeroed.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::Refused`].
    pub fn new(gpu: &GpuDevice, specs: &'static [ArraySpec]) -> Result<Self, GpuError> {
        let arrays = specs.iter().map(|spec| make_array(gpu, spec, spec.row_bytes)).collect::<Result<_, _>>()?;
        Ok(Self {
            specs,
            arrays,
            params: make_params(gpu, 1)?,
            staging: Staging::default(),
            generation: 0,
            recording: 0,
            replaced: Vec::new(),
        })
    }

    /// The array of a name.
    pub fn named(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.specs.iter().position(|spec| spec.name == name).map(|index| &self.arrays[index])
    }

    /// The table of arrays.
    pub fn specs(&self) -> &'static [ArraySpec] {
        self.specs
    }

    /// An array's buffer, valid until the array grows.
    pub fn array(&self, id: ArrayId) -> &wgpu::Buffer {
        &self.arrays[id.0]
    }

    /// Rows that an array holds.
    pub fn capacity(&self, id: ArrayId) -> u64 {
        self.arrays[id.0].size() / self.specs[id.0].row_bytes
    }

    /// Counts how often any buffer was replaced.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// GPU memory held (bytes), staging left out.
    pub fn total_bytes(&self) -> u64 {
        let replaced = self.replaced.iter().map(|(.., buffer)| buffer);
        self.arrays.iter().chain([&self.params]).chain(replaced).map(wgpu::Buffer::size).sum()
    }

    /// Makes room for `rows` rows, keeping what is there; the copy is recorded into `encoder`.
    ///
    /// # Errors
    /// [`GpuError::ArrayTooLarge`], [`GpuError::OutOfMemory`], [`GpuError::Refused`].
    pub fn reserve(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        id: ArrayId,
        rows: u64,
    ) -> Result<(), GpuError> {
        let spec = &self.specs[id.0];
        let held = self.arrays[id.0].size();
        let needed = rows.saturating_mul(spec.row_bytes);
        if needed <= held {
            return Ok(());
        }
        let limit = self.most(gpu, id) * spec.row_bytes;
        if needed > limit {
            return Err(GpuError::ArrayTooLarge { array: spec.name, bytes: needed, limit });
        }
        let half_more = (self.capacity(id) + self.capacity(id) / 2) * spec.row_bytes;
        let grown = make_array(gpu, spec, needed.max(half_more).min(limit))?;
        encoder.copy_buffer_to_buffer(&self.arrays[id.0], 0, &grown, 0, Some(held));
        let outgrown = std::mem::replace(&mut self.arrays[id.0], grown);
        self.replaced.push((self.recording, id, outgrown));
        self.generation += 1;
        Ok(())
    }

    /// How many rows an array may have.
    pub fn most(&self, gpu: &GpuDevice, id: ArrayId) -> u64 {
        gpu.most_bytes() / self.specs[id.0].row_bytes
    }

    /// Records that the first `rows` rows are zeros, as far as there are any.
    pub fn clear(&self, encoder: &mut wgpu::CommandEncoder, id: ArrayId, rows: u64) {
        let bytes = (rows * self.specs[id.0].row_bytes).min(self.arrays[id.0].size());
        encoder.clear_buffer(&self.arrays[id.0], 0, Some(bytes));
    }

    /// Records that an entry of a row of lanes is zero in all of them.
    pub fn clear_entry(&self, encoder: &mut wgpu::CommandEncoder, id: ArrayId, row: u64, entry: usize) {
        let lanes = u64::from(LANES) * 4;
        let at = row * self.specs[id.0].row_bytes + entry as u64 * lanes;
        encoder.clear_buffer(&self.arrays[id.0], at, Some(lanes));
    }

    /// Begins a recording, counted from 1. What was replaced up to one that has `arrived` is let go.
    pub fn begin(&mut self, recording: u64, arrived: u64) {
        self.recording = recording;
        self.replaced.retain(|(since, ..)| *since > arrived);
    }

    /// An array's buffer, before it those that it was replaced from in recordings that may not have run.
    pub fn versions(&self, id: ArrayId) -> impl Iterator<Item = &wgpu::Buffer> {
        self.replaced.iter().filter(move |(_, of, _)| *of == id).map(|(.., buffer)| buffer).chain([self.array(id)])
    }

    /// Undoes what was replaced in recordings after one, none of which will run.
    pub fn take_back(&mut self, recording: u64) {
        while let Some((_, id, buffer)) = self.replaced.pop_if(|(since, ..)| *since > recording) {
            self.arrays[id.0] = buffer;
            self.generation += 1;
        }
    }

    /// How many bytes were uploaded since the arrays were made.
    pub fn uploaded(&self) -> u64 {
        self.staging.written()
    }

    /// Records that rows from `first_row` on take `rows`, whose bytes are whole rows, and makes room for them.
    ///
    /// # Errors
    /// As [`Self::reserve`].
    pub fn upload<T: bytemuck::Pod>(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        id: ArrayId,
        first_row: u64,
        rows: &[T],
    ) -> Result<(), GpuError> {
        let bytes: &[u8] = bytemuck::cast_slice(rows);
        let row_bytes = self.specs[id.0].row_bytes;
        debug_assert_eq!(bytes.len() as u64 % row_bytes, 0, "part of a row of {}", self.specs[id.0].name);
        self.reserve(gpu, encoder, id, first_row + (bytes.len() as u64).div_ceil(row_bytes))?;
        self.staging.write(gpu, encoder, &self.arrays[id.0], first_row * row_bytes, bytes)
    }

    /// Records this frame's parameters: slot i of the uniform is `params[i]`, one for every substep and iteration.
    ///
    /// # Errors
    /// [`GpuError::OutOfMemory`], [`GpuError::Refused`].
    pub fn upload_params(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        params: &[StepParams],
    ) -> Result<(), GpuError> {
        if params.len() as u64 * PARAMS_STRIDE > self.params.size() {
            self.params = make_params(gpu, params.len() as u64)?;
            self.generation += 1;
        }
        let mut bytes = vec![0; params.len() * PARAMS_STRIDE as usize];
        for (slot, params) in bytes.chunks_exact_mut(PARAMS_STRIDE as usize).zip(params) {
            slot[..size_of::<StepParams>()].copy_from_slice(bytemuck::bytes_of(params));
        }
        self.staging.write(gpu, encoder, &self.params, 0, &bytes)
    }

    /// The parameter uniform as a binding of one slot; the slot is chosen by dynamic offset.
    pub(super) fn params_binding(&self) -> wgpu::BufferBinding<'_> {
        let size = std::num::NonZeroU64::new(size_of::<StepParams>() as u64);
        wgpu::BufferBinding { buffer: &self.params, offset: 0, size }
    }
}

fn make_array(gpu: &GpuDevice, spec: &ArraySpec, size: u64) -> Result<wgpu::Buffer, GpuError> {
    let mut usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    if spec.drawable {
        usage |= wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::INDEX;
    }
    if spec.indirect {
        usage |= wgpu::BufferUsages::INDIRECT;
    }
    make_buffer(gpu, spec.name, size, usage, false)
}

fn make_params(gpu: &GpuDevice, slots: u64) -> Result<wgpu::Buffer, GpuError> {
    let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
    make_buffer(gpu, "params", slots * PARAMS_STRIDE, usage, false)
}
