//! One compute pipeline a stage.

use super::buffers::PARAMS_STRIDE;
use super::unroll::unrolled;
use super::{ArrayId, Buffers, GpuDevice, GpuError};
use crate::step::StepParams;

/// What every kernel's source begins with: each file of `shaders/shared`, in the order of use.
pub const SHARED: &[&str] = &[
    include_str!("../../shaders/shared/layout.wgsl"),
    include_str!("../../shaders/shared/skin.wgsl"),
    include_str!("../../shaders/shared/math.wgsl"),
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

/// A stage's kernel: its source and the arrays it binds.
///
/// Group 0, binding 0 is the [`StepParams`] uniform `params` of every kernel; the arrays follow at bindings 1, 2, …
/// in the order given, at most 8 (WebGPU's default). The entry point is named after the stage.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// The stage's name: also that of the entry point, the pipeline, the profiler's scope and the file.
    pub stage: &'static str,
    /// The stage's own WGSL, without [`SHARED`].
    pub source: &'static str,
    /// The arrays at bindings 1, 2, …
    pub bindings: &'static [(ArrayId, Access)],
    /// Whether loops of known count are written out: more to parse; lavapipe compiles `solve_rods` in a third of the time.
    pub unrolled: bool,
}

impl KernelSpec {
    /// The whole WGSL as it is compiled, and as errors count its lines: [`SHARED`], then the stage's own.
    pub fn wgsl(&self) -> String {
        let source = SHARED.iter().chain([&self.source]).copied().collect::<Vec<_>>().join("\n");
        if self.unrolled { unrolled(&source) } else { source }
    }
}

/// A compiled kernel, bound to the current buffers.
#[derive(Debug)]
pub struct Kernel {
    spec: KernelSpec,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bound: wgpu::BindGroup,
    bound_generation: u64,
}

impl Kernel {
    /// Compiles a kernel and binds it.
    ///
    /// # Errors
    /// [`GpuError::Kernel`] with the compiler's words.
    pub fn new(gpu: &GpuDevice, buffers: &Buffers, spec: &KernelSpec) -> Result<Self, GpuError> {
        let (pipeline, layout) = gpu
            .scoped(|device| compile(device, spec))
            .map_err(|e| GpuError::Kernel { stage: spec.stage, message: e.to_string() })?;
        gpu.count_pipeline();
        let bound = bind(gpu, buffers, spec, &layout)?;
        Ok(Self { spec: *spec, pipeline, layout, bound, bound_generation: buffers.generation() })
    }

    /// The stage's name.
    pub fn stage(&self) -> &'static str {
        self.spec.stage
    }

    /// Binds the current buffers if any was replaced since. Call before recording a frame.
    ///
    /// # Errors
    /// [`GpuError::Kernel`].
    pub fn rebind(&mut self, gpu: &GpuDevice, buffers: &Buffers) -> Result<(), GpuError> {
        if self.bound_generation != buffers.generation() {
            self.bound = bind(gpu, buffers, &self.spec, &self.layout)?;
            self.bound_generation = buffers.generation();
        }
        Ok(())
    }

    /// Records one dispatch with the parameters of `slot`.
    pub(super) fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, slot: u32, workgroups: u32) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bound, &[slot * PARAMS_STRIDE as u32]);
        let columns = workgroups.min(crate::layout::MAX_WORKGROUPS);
        pass.dispatch_workgroups(columns, workgroups.div_ceil(columns.max(1)), 1);
    }
}

fn compile(device: &wgpu::Device, spec: &KernelSpec) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
    let label = Some(spec.stage);
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label,
        source: wgpu::ShaderSource::Wgsl(spec.wgsl().into()),
    });
    let entry = |binding, ty, has_dynamic_offset, min_binding_size| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    };
    let params_size = std::num::NonZeroU64::new(size_of::<StepParams>() as u64);
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true, params_size)];
    entries.extend((1..).zip(spec.bindings).map(|(binding, (_, access))| {
        entry(binding, wgpu::BufferBindingType::Storage { read_only: *access == Access::Read }, false, None)
    }));
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&pipeline_layout),
        module: &module,
        entry_point: Some(spec.stage),
        compilation_options: Default::default(),
        cache: None,
    });
    (pipeline, layout)
}

fn bind(
    gpu: &GpuDevice,
    buffers: &Buffers,
    spec: &KernelSpec,
    layout: &wgpu::BindGroupLayout,
) -> Result<wgpu::BindGroup, GpuError> {
    let params = wgpu::BindingResource::Buffer(buffers.params_binding());
    let arrays = spec.bindings.iter().map(|(array, _)| buffers.array(*array).as_entire_binding());
    let entries: Vec<_> = (0..)
        .zip([params].into_iter().chain(arrays))
        .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
        .collect();
    let descriptor = wgpu::BindGroupDescriptor { label: Some(spec.stage), layout, entries: &entries };
    gpu.scoped(|device| device.create_bind_group(&descriptor))
        .map_err(|e| GpuError::Kernel { stage: spec.stage, message: e.to_string() })
}
