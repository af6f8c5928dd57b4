//! The GPU as a backend: instances in the arrays, steps into an encoder, results back into the instances.

use std::collections::VecDeque;
use std::ops::Range;

use super::arrays::{ARRAYS, CHAIN_ROWS, CONTACT_ROWS, KERNELS, NODE_ROWS, REACTION_ROWS, SECTION_MATRICES, SKINNED};
use super::readback::{BufferPart, read_now};
use super::residents::{Front, Residents, Upload};
use super::rows::Rows;
use super::{ArrayId, Buffers, GpuDevice, GpuError, Kernel, Readback, Recorder, StageTimer, Workgroups};
use crate::StepError;
use crate::backend::{BackendReport, FleshBackend, Frame, PipelineProgress, Progress};
use crate::instances::{Instance, Instances, Slot};
use crate::layout::{LANES, SkinnedVertex, contact, node, workgroups};
use crate::step::{Domain, Scheduled, Size, Stage, StepParams, stages};
use crate::timing::{StageClock, StageTimes, stage_scope};

/// How many steps' results may be under way.
const DEPTH: usize = 4;

/// How many steps [`GpuBackend::submit`] lets the host run ahead of the GPU, below [`DEPTH`], so that each arrives.
const AHEAD: usize = 3;

/// Arrays of which results are read back, one after the other.
const READ: [ArrayId; 6] = [NODE_ROWS, CHAIN_ROWS, CONTACT_ROWS, REACTION_ROWS, SKINNED, SECTION_MATRICES];

/// How many rows of each of [`READ`] a read-back holds.
#[derive(Clone, Copy)]
struct Extent([u64; READ.len()]);

impl Extent {
    /// All that can be read back.
    fn all(residents: &Residents) -> Self {
        let Residents { nodes, groups, contacts, reactions, skinned, matrices, .. } = residents;
        Self([nodes, groups, contacts, reactions, skinned, matrices].map(Rows::end))
    }

    /// It without an array.
    fn without(mut self, array: ArrayId) -> Self {
        (0..READ.len()).filter(|&at| READ[at] == array).for_each(|at| self.0[at] = 0);
        self
    }

    /// The parts of the arrays that it is.
    fn parts(self, buffers: &Buffers) -> Vec<BufferPart<'_>> {
        let counts = READ.into_iter().zip(self.0).filter(|(_, rows)| *rows > 0);
        counts.map(|(id, rows)| (buffers.array(id), 0, rows * ARRAYS[id.0].row_bytes)).collect()
    }

    /// The bytes of some rows of an array; `None` where it was not read.
    fn rows_of<'a>(self, bytes: &'a [u8], array: ArrayId, rows: &Range<u64>) -> Option<&'a [u8]> {
        let at = READ.iter().position(|read| *read == array).filter(|&at| self.0[at] > 0)?;
        let row_bytes = |id: ArrayId| ARRAYS[id.0].row_bytes;
        let before: u64 = (0..at).map(|before| self.0[before] * row_bytes(READ[before])).sum();
        let [first, last] = [rows.start, rows.end].map(|row| (before + row * row_bytes(array)) as usize);
        bytes.get(first..last)
    }
}

/// What the host must remember of a step until its results arrive.
struct UnderWay {
    /// Counts recordings, also over a [`Physics::restore`](crate::Physics::restore), which turns steps back.
    tag: u64,
    step: u64,
    extent: Extent,
    fronts: Vec<Front>,
}

/// Flesh on a GPU.
pub(crate) struct GpuBackend {
    gpu: GpuDevice,
    buffers: Buffers,
    kernels: Vec<(Stage, Kernel)>,
    residents: Residents,
    results: Readback,
    under_way: VecDeque<UnderWay>,
    submitted: VecDeque<wgpu::SubmissionIndex>,
    timer: Option<StageTimer>,
    /// How many steps were recorded.
    recorded: u64,
    /// The recording and the step that the instances show.
    mirrored: (u64, u64),
}

impl GpuBackend {
    /// Compiles the kernels; no instance is there yet.
    pub fn new(gpu: GpuDevice, progress: Progress<'_>) -> Result<Self, GpuError> {
        let mut buffers = Buffers::new(&gpu, ARRAYS)?;
        let specs: Vec<_> = KERNELS.iter().flat_map(|(stage, specs)| specs.iter().map(|spec| (*stage, spec))).collect();
        let total = specs.len();
        let mut kernels = Vec::with_capacity(total);
        for (ready, (stage, spec)) in specs.into_iter().enumerate() {
            progress(PipelineProgress { compiling: Some(spec.entry), ready, total });
            let kernel = Kernel::new(&gpu, &buffers, spec)?;
            run_empty(&gpu, &mut buffers, &kernel)?;
            kernels.push((stage, kernel));
        }
        progress(PipelineProgress { compiling: None, ready: total, total });
        let timer = StageTimer::new(&gpu)?;
        let (residents, under_way, submitted) = Default::default();
        let results = Readback::new("results", DEPTH);
        Ok(Self {
            gpu,
            buffers,
            kernels,
            residents,
            results,
            under_way,
            submitted,
            timer,
            recorded: 0,
            mirrored: (0, 0),
        })
    }

    /// The device.
    pub fn device(&self) -> &GpuDevice {
        &self.gpu
    }

    /// Records a frame; the times of its stages on the host, and of an earlier frame's on the device (ms). After an error
    /// every instance starts again from what the host last saw of it.
    pub fn record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        instances: &mut Instances,
        frame: &Frame<'_>,
    ) -> Result<StageTimes, GpuError> {
        let recorded = self.try_record(encoder, instances.slots(), frame);
        if recorded.is_err() {
            self.residents = Residents::default();
        }
        recorded
    }

    fn try_record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        slots: &mut [Slot],
        frame: &Frame<'_>,
    ) -> Result<StageTimes, GpuError> {
        self.recorded += 1;
        let clock = StageClock::new(frame.timed);
        for part in frame.schedule.chunk_by(|a, b| !is_of_host(a.stage) && !is_of_host(b.stage)) {
            let (stage, start) = (part[0].stage, clock.start());
            if is_of_host(stage) {
                stage_scope!(stage);
                self.run_on_host(stage, encoder, slots, frame)?;
                clock.stop(stage, start);
            } else {
                self.dispatch(encoder, part, frame.timed)?;
            }
        }
        let mut times = if frame.timed { self.stage_times()? } else { StageTimes::default() };
        let on_host = clock.take();
        for stage in Stage::ALL.into_iter().filter(|stage| is_of_host(*stage)) {
            times.set(stage, on_host.get(stage));
        }
        Ok(times)
    }

    /// Uploads what is new, and what the host says of this frame.
    fn gather_inputs(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        slots: &mut [Slot],
        frame: &Frame<'_>,
    ) -> Result<(), GpuError> {
        let Self { gpu, buffers, kernels, residents, .. } = self;
        let mut upload = Upload { gpu, buffers, encoder };
        residents.follow(&mut upload, slots, frame.host.planes.len(), self.recorded)?;
        residents.gather_inputs(&mut upload, slots, &frame.host)?;
        let mut params = frame.params.to_vec();
        for params in &mut params {
            params.group_count = residents.groups.end() as u32;
            params.skin_block_count = residents.skin_block_count();
            params.section_block_count = residents.section_block_count();
            params.plane_count = frame.host.planes.len() as u32;
        }
        buffers.upload_params(gpu, encoder, &params)?;
        for (_, kernel) in kernels.iter_mut() {
            kernel.rebind(gpu, buffers)?;
        }
        Ok(())
    }

    /// Records the passes of these stages.
    fn dispatch(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        stages: &[Scheduled],
        timed: bool,
    ) -> Result<(), GpuError> {
        let Self { gpu, buffers, kernels, residents, timer, .. } = self;
        let mut recorder = Recorder::new(encoder, timer.as_mut().filter(|_| timed));
        for scheduled in stages {
            let domain = match scheduled.stage.domain() {
                Domain::Host => 0,
                Domain::Chains => workgroups(residents.groups.end() as u32),
                Domain::Sections => residents.section_block_count(),
                Domain::Vertices => residents.skin_block_count(),
            };
            if domain == 0 {
                continue;
            }
            for (_, kernel) in kernels.iter().filter(|(stage, _)| *stage == scheduled.stage) {
                let count = match kernel.spec().size {
                    Size::Domain => Workgroups::Count(domain),
                    Size::Once => Workgroups::Count(1),
                    Size::Indirect(name) => Workgroups::Indirect(buffers.named(name).ok_or_else(|| {
                        let message = format!("its size is that of `{name}`, which is no array");
                        GpuError::Kernel { stage: kernel.spec().stage, message }
                    })?),
                };
                recorder.dispatch(kernel, scheduled.slot, count);
            }
        }
        recorder.finish(gpu, self.recorded)
    }

    /// Has this frame's results sent back, and takes in those of earlier ones that have arrived.
    fn scatter_outputs(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        slots: &mut [Slot],
        frame: &Frame<'_>,
    ) -> Result<(), GpuError> {
        self.poll(slots)?;
        let Self { gpu, buffers, residents, results, .. } = self;
        let mut extent = Extent::all(residents).without(SECTION_MATRICES);
        if !frame.mirror_vertices {
            extent = extent.without(SKINNED);
        }
        if results.enqueue(gpu, encoder, self.recorded, &extent.parts(buffers))? {
            let fronts = residents.fronts();
            self.under_way.push_back(UnderWay { tag: self.recorded, step: frame.step, extent, fronts });
            if self.under_way.len() > 2 * DEPTH {
                self.under_way.pop_front();
            }
        }
        Ok(())
    }

    /// Waits for what was submitted, and has the next step send everything from the newest results there are; returns
    /// their step.
    pub fn start_again(&mut self, instances: &mut Instances) -> Result<u64, GpuError> {
        self.gpu.wait()?;
        self.poll(instances.slots())?;
        self.residents = Residents::default();
        self.under_way.clear();
        self.submitted.clear();
        self.mirrored.0 = self.recorded;
        Ok(self.mirrored.1)
    }

    /// Submits a frame, and waits where the host would run more than [`AHEAD`] steps ahead of the GPU.
    fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.submitted.push_back(self.gpu.queue().submit([encoder.finish()]));
        while self.submitted.len() > AHEAD {
            if let Some(oldest) = self.submitted.pop_front() {
                self.gpu.wait_for(oldest)?;
            }
        }
        Ok(())
    }

    /// Takes in what has arrived, without waiting.
    fn poll(&mut self, slots: &mut [Slot]) -> Result<(), GpuError> {
        let polled = self.results.poll(&self.gpu);
        let Self { results, residents, under_way, mirrored, .. } = self;
        if let Some((tag, bytes)) = results.latest()
            && tag > mirrored.0
            && let Some(index) = under_way.iter().rposition(|under_way| under_way.tag == tag)
        {
            let arrived = &under_way[index];
            for front in &arrived.fronts {
                mirror(residents, slots, front, arrived, bytes);
            }
            *mirrored = (tag, arrived.step);
            under_way.drain(..=index);
        }
        polled
    }

    /// The newest stage times that have arrived (ms).
    fn stage_times(&mut self) -> Result<StageTimes, GpuError> {
        let mut times = StageTimes::default();
        let Some(timer) = &mut self.timer else { return Ok(times) };
        timer.poll(&self.gpu)?;
        for (name, time) in timer.latest().iter().flat_map(|timings| &timings.stages) {
            if let Some(stage) = Stage::ALL.into_iter().find(|stage| stage.name() == *name) {
                times.set(stage, time.as_secs_f64() * 1.0e3);
            }
        }
        Ok(times)
    }

    /// Puts a stage's kernels in the place of its own, or its own back; the source is given as it is written.
    pub fn replace_kernels(&mut self, stage: Stage, written: Option<&str>) -> Result<(), GpuError> {
        let Self { gpu, buffers, kernels, .. } = self;
        for (_, kernel) in kernels.iter_mut().filter(|(of, _)| *of == stage) {
            let written = written.map_or_else(|| kernel.spec().written(), str::to_owned);
            *kernel = Kernel::written_so(gpu, buffers, kernel.spec(), written)?;
        }
        Ok(())
    }

    /// Where a slot's deformed vertices lie: the buffer, the first byte and how many vertices.
    pub fn vertices(&self, slot: usize, generation: u32) -> Option<(&wgpu::Buffer, u64, u32)> {
        let resident = self.residents.slots.get(slot)?.as_ref().filter(|r| r.generation == generation)?;
        let rows = &resident.skinned;
        let first = rows.start * ARRAYS[SKINNED.0].row_bytes;
        Some((self.buffers.array(SKINNED), first, (rows.end - rows.start) as u32))
    }
}

/// Runs a stage of the host; others are not its business.
macro_rules! run_on_host {
    ($($(#[doc = $doc:literal])+ $stage:ident $name:ident $domain:ident $row:tt)+) => {
        impl GpuBackend {
            fn run_on_host(
                &mut self,
                stage: Stage,
                encoder: &mut wgpu::CommandEncoder,
                slots: &mut [Slot],
                frame: &Frame<'_>,
            ) -> Result<(), GpuError> {
                match stage {
                    $(Stage::$stage => host!($domain $name, self, encoder, slots, frame),)+
                }
            }
        }
    };
}
macro_rules! host {
    (Host $name:ident, $backend:ident, $encoder:ident, $slots:ident, $frame:ident) => {
        $backend.$name($encoder, $slots, $frame)
    };
    ($domain:ident $name:ident, $backend:ident, $encoder:ident, $slots:ident, $frame:ident) => {
        Ok(())
    };
}
stages!(run_on_host);

impl FleshBackend for GpuBackend {
    fn ready(&self) -> Result<(), StepError> {
        Ok(self.gpu.check()?)
    }

    fn report(&self) -> BackendReport {
        BackendReport { backend: "gpu", adapter: Some(self.gpu.report().to_string()) }
    }

    /// As [`GpuBackend::record`], with an encoder of our own.
    fn step(&mut self, instances: &mut Instances, frame: &Frame<'_>) -> Result<StageTimes, StepError> {
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        let times = self.record(&mut encoder, instances, frame)?;
        self.submit(encoder)?;
        Ok(times)
    }

    fn finish(&mut self, instances: &mut Instances, step: u64) -> Result<(), StepError> {
        let extent = Extent::all(&self.residents);
        let bytes = read_now(&self.gpu, &extent.parts(&self.buffers))?;
        self.poll(instances.slots())?;
        let now = UnderWay { tag: self.recorded, step, extent, fronts: self.residents.fronts() };
        for front in &now.fronts {
            mirror(&self.residents, instances.slots(), front, &now, &bytes);
        }
        self.under_way.clear();
        self.submitted.clear();
        self.mirrored = (self.recorded, step);
        Ok(())
    }

    fn shown_step(&self, _: u64) -> u64 {
        self.mirrored.1
    }

    fn put_at(&mut self, step: u64) {
        self.mirrored = (self.recorded, step);
    }
}

/// Whether a stage is the host's.
fn is_of_host(stage: Stage) -> bool {
    stage.domain() == Domain::Host
}

/// Runs a kernel over nothing and waits for it: some drivers compile a pipeline when it first runs.
fn run_empty(gpu: &GpuDevice, buffers: &mut Buffers, kernel: &Kernel) -> Result<(), GpuError> {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    buffers.upload_params(gpu, &mut encoder, &[StepParams::default()])?;
    let mut recorder = Recorder::new(&mut encoder, None);
    recorder.dispatch(kernel, 0, Workgroups::Count(1));
    recorder.finish(gpu, 0)?;
    gpu.wait_for_compiler(gpu.queue().submit([encoder.finish()]))
}

/// Shows an instance as it was after a step, unless the host has changed it since.
fn mirror(residents: &Residents, slots: &mut [Slot], front: &Front, arrived: &UnderWay, bytes: &[u8]) {
    let resident = residents.slots.get(front.slot).and_then(Option::as_ref);
    let (Some(resident), Some(slot)) = (resident, slots.get_mut(front.slot)) else { return };
    let known = resident.generation == front.generation && slot.generation == front.generation;
    let Some(instance) = slot.instance.as_mut().filter(|instance| known && !instance.changed) else { return };
    if arrived.tag < resident.since {
        return;
    }
    let rows = |array, rows| arrived.extent.rows_of(bytes, array, rows).unwrap_or_default();
    let mut nodes = rows(NODE_ROWS, &resident.nodes);
    let mut chains = rows(CHAIN_ROWS, &resident.groups);
    let mut contacts = rows(CONTACT_ROWS, &front.contacts);
    let mut reactions = rows(REACTION_ROWS, &resident.reactions);
    let planes = (front.contacts.end - front.contacts.start) / (resident.nodes.end - resident.nodes.start).max(1);
    for group in &mut instance.state.nodes.groups {
        let slots = group.nodes.len() / node::ENTRIES * planes as usize;
        group.contacts.resize(slots * contact::ENTRIES, [0.0; LANES as usize]);
        take_rows(&mut group.nodes, &mut nodes);
        take_rows(&mut group.chains, &mut chains);
        take_rows(&mut group.contacts, &mut contacts);
        take_rows(&mut group.reactions, &mut reactions);
    }
    instance.state.nodes.take_origins();
    instance.state.nodes.motion.clone_from(&front.motion);
    instance.state.activations.clone_from(&front.activations);
    if let Some(mut matrices) = arrived.extent.rows_of(bytes, SECTION_MATRICES, &resident.matrices) {
        let count = (resident.matrices.end - resident.matrices.start) as usize;
        instance.section_matrices.resize(count, bytemuck::Zeroable::zeroed());
        take_rows(&mut instance.section_matrices, &mut matrices);
    }
    if let Some(skinned) = arrived.extent.rows_of(bytes, SKINNED, &resident.skinned) {
        mirror_vertices(instance, skinned, arrived.step);
    }
    instance.state.health.follow(&instance.flesh, &instance.state.nodes);
}

/// Fills rows from the first bytes there are, and goes on behind them.
fn take_rows<T: bytemuck::Pod>(rows: &mut [T], bytes: &mut &[u8]) {
    let target: &mut [u8] = bytemuck::cast_slice_mut(rows);
    let (own, rest) = bytes.split_at(target.len());
    target.copy_from_slice(own);
    *bytes = rest;
}

fn mirror_vertices(instance: &mut Instance, bytes: &[u8], step: u64) {
    let vertices = &mut instance.vertices;
    vertices.positions.clear();
    vertices.normals.clear();
    for vertex in bytes.chunks_exact(size_of::<SkinnedVertex>()) {
        let vertex: SkinnedVertex = bytemuck::pod_read_unaligned(vertex);
        vertices.positions.push(vertex.position.into());
        vertices.normals.push(vertex.normal.into());
    }
    vertices.step = step;
}
