//! One compute pipeline a pass of a stage.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::buffers::PARAMS_STRIDE;
use super::unroll::unrolled;
use super::{ArrayId, ArraySpec, Buffers, GpuDevice, GpuError};
use crate::step::{Domain, Size, StepParams};

/// What every kernel's source begins with: each file of `shaders/shared`, in the order of use.
pub const SHARED: &[&str] = &[
    include_str!("../../shaders/shared/layout.wgsl"),
    include_str!("../../shaders/shared/skin.wgsl"),
    include_str!("../../shaders/shared/math.wgsl"),
    include_str!("../../shaders/shared/coefficients.wgsl"),
    include_str!("../../shaders/shared/pills.wgsl"),
    include_str!("../../shaders/shared/grid.wgsl"),
    include_str!("../../shaders/shared/block_tridiagonal.wgsl"),
    include_str!("../../shaders/shared/strains.wgsl"),
    include_str!("../../shaders/shared/rod_energies.wgsl"),
    include_str!("../../shaders/shared/fibres.wgsl"),
];

/// What a kernel does with an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
}

/// A pass of a stage: its source, entry point and size.
///
/// Group 0, binding 0 is the [`StepParams`] uniform `params` of every kernel; the arrays follow at bindings 1, 2, …, at most 8
/// (WebGPU's default). Which these are, the source says: its variables have the arrays' names.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// The stage's name: also that of the profiler's scope and the file.
    pub stage: &'static str,
    /// The entry point, the stage's name where it has one pass.
    pub entry: &'static str,
    /// How many threads it has.
    pub size: Size,
    /// The stage's own WGSL, without [`SHARED`].
    pub source: &'static str,
    /// Whether loops of known count are written out.
    pub loops: Loops,
}

/// What becomes of a kernel's loops of known count before it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// They stay.
    AsWritten,
    /// They are written out: more to parse; lavapipe compiles `solve_rods` in a third of the time.
    WrittenOut,
}

impl KernelSpec {
    /// The whole WGSL as it is written: [`SHARED`], then the stage's own.
    pub fn written(&self) -> String {
        SHARED.iter().chain([&self.source]).copied().collect::<Vec<_>>().join("\n")
    }

    /// The whole WGSL as it is compiled, and as errors count its lines.
    pub fn wgsl(&self) -> String {
        self.compiled(&self.written())
    }

    /// What becomes of a source before it is compiled.
    fn compiled(&self, written: &str) -> String {
        match self.loops {
            Loops::AsWritten => written.to_owned(),
            Loops::WrittenOut => unrolled(written),
        }
    }

    /// The arrays at bindings 1, 2, …, as the source declares them.
    ///
    /// # Errors
    /// The line that binds what is no array, or elsewhere than at the next binding of group 0.
    pub fn bindings(&self, arrays: &[ArraySpec]) -> Result<Vec<(ArrayId, Access)>, String> {
        let mut bindings = Vec::new();
        for line in self.source.lines().filter(|line| line.starts_with("@group") && line.contains("var<storage")) {
            let next = format!("@group(0) @binding({}) var<storage, ", bindings.len() + 1);
            let bound = line.strip_prefix(&next).and_then(|rest| {
                let (access, variable) = rest.split_once("> ")?;
                let access = match access {
                    "read" => Access::Read,
                    "read_write" => Access::ReadWrite,
                    _ => return None,
                };
                let name = variable.split(':').next()?;
                Some((ArrayId(arrays.iter().position(|array| array.name == name)?), access))
            });
            bindings.push(bound.ok_or_else(|| format!("`{line}` is no array at `{next}`"))?);
        }
        Ok(bindings)
    }
}

/// How many workgroups a dispatch has.
#[derive(Clone, Copy, Debug)]
pub enum Workgroups<'a> {
    /// So many.
    Count(u32),
    /// As many as the first three words of a buffer say when it runs.
    Indirect(&'a wgpu::Buffer),
}

/// An array where a kernel binds it.
type Binding = (u32, ArrayId, Access);

/// A compiled kernel, and what it binds.
#[derive(Clone, Debug)]
struct Compiled {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// See [`Kernel::has_run`].
    has_run: Arc<AtomicBool>,
}

/// Where a pipeline is, or will be: who makes it holds the lock.
type Place = Arc<Mutex<Option<Compiled>>>;

/// The pipelines of a device: each is compiled once, whoever steps on it.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// By entry point and a hash of the source.
    places: Mutex<HashMap<(&'static str, u64), Place>>,
    /// How many there are.
    count: AtomicUsize,
}

impl Pipelines {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The pipeline of a source; waits for whoever is making it.
    fn of(
        &self,
        entry: &'static str,
        written: &str,
        make: impl FnOnce() -> Result<Compiled, wgpu::Error>,
    ) -> Result<Compiled, wgpu::Error> {
        let mut source = DefaultHasher::new();
        written.hash(&mut source);
        let key = (entry, source.finish());
        let place = self.places.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*place {
            return Ok(made.clone());
        }
        let made = place.insert(make()?).clone();
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(made)
    }
}

/// A compiled kernel, bound to the current buffers.
#[derive(Debug)]
pub struct Kernel {
    spec: KernelSpec,
    bindings: Vec<Binding>,
    compiled: Compiled,
    bound: wgpu::BindGroup,
    bound_generation: u64,
}

impl Kernel {
    /// Compiles a kernel, unless the device has it compiled, and binds it.
    ///
    /// # Errors
    /// [`GpuError::Kernel`] with the compiler's words.
    pub fn new(gpu: &GpuDevice, buffers: &Buffers, spec: &KernelSpec) -> Result<Self, GpuError> {
        Self::made(gpu, buffers, spec, &spec.written(), true)
    }

    /// As [`Kernel::new`], of another source than [`KernelSpec::written`], for itself alone.
    ///
    /// # Errors
    /// As for [`Kernel::new`].
    pub fn written_so(gpu: &GpuDevice, buffers: &Buffers, spec: &KernelSpec, written: &str) -> Result<Self, GpuError> {
        Self::made(gpu, buffers, spec, written, false)
    }

    /// Of a source, whose pipeline the device keeps or not.
    fn made(
        gpu: &GpuDevice,
        buffers: &Buffers,
        spec: &KernelSpec,
        written: &str,
        kept: bool,
    ) -> Result<Self, GpuError> {
        let bindings = bindings_of(spec, buffers.specs())?;
        let compiled = pipeline(gpu, (spec, &bindings), written, kept)?;
        let bound = bind(gpu, buffers, (spec, &bindings), &compiled.layout)?;
        Ok(Self { spec: *spec, bindings, compiled, bound, bound_generation: buffers.generation() })
    }

    /// Compiles a kernel's pipeline, which [`Kernel::new`] then finds on the device; what is wrong with it that tells.
    pub(super) fn prepare(gpu: &GpuDevice, arrays: &[ArraySpec], spec: &KernelSpec) {
        if let Ok(bindings) = bindings_of(spec, arrays) {
            pipeline(gpu, (spec, &bindings), &spec.written(), true).ok();
        }
    }

    /// Whether its pipeline has run, whoever's kernel it was: before, a driver may have to compile it once more.
    pub(super) fn has_run(&self) -> bool {
        self.compiled.has_run.load(Ordering::Relaxed)
    }

    /// Notes that it has.
    pub(super) fn note_run(&self) {
        self.compiled.has_run.store(true, Ordering::Relaxed);
    }

    /// What it was made from.
    pub fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    /// Binds the current buffers if any was replaced since. Call before recording a frame.
    ///
    /// # Errors
    /// [`GpuError::Kernel`].
    pub fn rebind(&mut self, gpu: &GpuDevice, buffers: &Buffers) -> Result<(), GpuError> {
        if self.bound_generation != buffers.generation() {
            self.bound = bind(gpu, buffers, (&self.spec, &self.bindings), &self.compiled.layout)?;
            self.bound_generation = buffers.generation();
        }
        Ok(())
    }

    /// Records one dispatch with the parameters of `slot`.
    pub(super) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, slot: u32, workgroups: Workgroups<'_>) {
        pass.set_pipeline(&self.compiled.pipeline);
        pass.set_bind_group(0, &self.bound, &[slot * PARAMS_STRIDE as u32]);
        match workgroups {
            Workgroups::Count(count) => {
                let columns = count.min(crate::layout::MAX_WORKGROUPS);
                pass.dispatch_workgroups(columns, count.div_ceil(columns.max(1)), 1);
            }
            Workgroups::Indirect(counts) => pass.dispatch_workgroups_indirect(counts, 0),
        }
    }
}

/// What a kernel binds where.
fn bindings_of(spec: &KernelSpec, arrays: &[ArraySpec]) -> Result<Vec<Binding>, GpuError> {
    // What a dispatch takes its size from, it may not bind.
    let is_size = |array: ArrayId| spec.size == Size::Indirect(arrays[array.0].name);
    let bound = spec.bindings(arrays).map_err(|message| GpuError::Kernel { stage: spec.stage, message })?;
    let bound = (1..).zip(bound).filter(|(_, (array, _))| !is_size(*array));
    Ok(bound.map(|(binding, (array, access))| (binding, array, access)).collect())
}

/// A kernel's pipeline, which the device keeps or not.
fn pipeline(
    gpu: &GpuDevice,
    (spec, bindings): (&KernelSpec, &[Binding]),
    written: &str,
    kept: bool,
) -> Result<Compiled, GpuError> {
    let make = || gpu.scoped(|device| compile(device, spec, spec.compiled(written), bindings));
    let made = if kept { gpu.pipelines().of(spec.entry, written, make) } else { make() };
    made.map_err(|error| GpuError::Kernel { stage: spec.stage, message: error.to_string() })
}

fn compile(device: &wgpu::Device, spec: &KernelSpec, wgsl: String, bindings: &[Binding]) -> Compiled {
    let label = Some(spec.entry);
    let module = device
        .create_shader_module(wgpu::ShaderModuleDescriptor { label, source: wgpu::ShaderSource::Wgsl(wgsl.into()) });
    let entry = |binding, ty, has_dynamic_offset, min_binding_size| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    };
    let params_size = std::num::NonZeroU64::new(size_of::<StepParams>() as u64);
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true, params_size)];
    entries.extend(bindings.iter().map(|(binding, _, access)| {
        entry(*binding, wgpu::BufferBindingType::Storage { read_only: *access == Access::Read }, false, None)
    }));
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let in_trees: &[(&str, f64)] = if spec.size == Size::Of(Domain::Trees) { &[("IN_TREES", 1.0)] } else { &[] };
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(spec.entry),
        compilation_options: wgpu::PipelineCompilationOptions { constants: in_trees, ..Default::default() },
        cache: None,
    });
    Compiled { pipeline, layout, has_run: Arc::default() }
}

fn bind(
    gpu: &GpuDevice,
    buffers: &Buffers,
    (spec, bindings): (&KernelSpec, &[Binding]),
    layout: &wgpu::BindGroupLayout,
) -> Result<wgpu::BindGroup, GpuError> {
    let params = (0, wgpu::BindingResource::Buffer(buffers.params_binding()));
    let arrays = bindings.iter().map(|(binding, array, _)| (*binding, buffers.array(*array).as_entire_binding()));
    let entries: Vec<_> = [params]
        .into_iter()
        .chain(arrays)
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let descriptor = wgpu::BindGroupDescriptor { label: Some(spec.entry), layout, entries: &entries };
    gpu.scoped(|device| device.create_bind_group(&descriptor))
        .map_err(|e| GpuError::Kernel { stage: spec.stage, message: e.to_string() })
}
