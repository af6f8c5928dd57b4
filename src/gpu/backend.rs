//! The GPU as a backend: instances in the arrays, steps into an encoder, results back into the instances.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::arrays::{ARRAYS, KERNELS, SKINNED};
use super::meeting_pool::PairReport;
use super::residents::{Residents, Upload};
use super::results::{DEPTH, Results};
use super::{Buffers, GpuDevice, GpuError, Kernel, Recorder, StageTimer, TallyReport, Workgroups, touches};
use crate::StepError;
use crate::backend::{BackendReport, FleshBackend, Frame, PipelineProgress, Progress, SegmentPair};
use crate::cpu::threads::Threads;
use crate::instances::{Instances, ReadBack, Slot};
use crate::layout::{WORKGROUP_SIZE, workgroups};
use crate::step::{Domain, Scheduled, Size, Stage, StepParams, stages};
use crate::timing::{StageClock, StageTimes};

/// How many steps [`GpuBackend::submit`] lets the host run ahead of the GPU, below [`DEPTH`], so that each arrives.
const AHEAD: usize = DEPTH - 1;

/// How many steps ago a state may have arrived that flesh goes on from where a device is lost.
const RECENT: u64 = 2 * DEPTH as u64;

/// Our own submissions that the GPU is not done with.
#[derive(Default)]
struct Submitted {
    under_way: VecDeque<wgpu::SubmissionIndex>,
    /// How many it is done with since that was last asked.
    done: Arc<AtomicUsize>,
}

/// Flesh on a GPU.
pub(crate) struct GpuBackend {
    gpu: GpuDevice,
    buffers: Buffers,
    kernels: Vec<(Stage, Kernel)>,
    residents: Residents,
    results: Results,
    submitted: Submitted,
    timer: Option<StageTimer>,
    threads: Threads,
    /// How many steps were recorded.
    recorded: u64,
    /// How many bytes the last one uploaded.
    uploaded: u64,
}

impl GpuBackend {
    /// Compiles the kernels; no instance is there yet.
    pub fn new(gpu: GpuDevice, progress: Progress<'_>) -> Result<Self, GpuError> {
        let mut buffers = Buffers::new(&gpu, ARRAYS)?;
        let is_built = |stage: &Stage| cfg!(feature = "neural") || stage.domain() != Domain::Networks;
        let kernels = KERNELS.iter().filter(|(stage, _)| is_built(stage));
        let specs: Vec<_> = kernels.flat_map(|(stage, specs)| specs.iter().map(|spec| (*stage, spec))).collect();
        let total = specs.len();
        let mut kernels = Vec::with_capacity(total);
        // Drivers take seconds for the largest: while they are taken in order here, others are compiled from the last one on.
        let left = Mutex::new(specs.iter().rev());
        let compile = || {
            let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((_, spec)) = next() {
                Kernel::prepare(&gpu, ARRAYS, spec);
            }
        };
        let others = std::thread::available_parallelism().map_or(1, usize::from) - 1;
        std::thread::scope(|scope| {
            for _ in 0..others.min(total) {
                // Without threads to be had, this one goes on alone.
                if std::thread::Builder::new().spawn_scoped(scope, compile).is_err() {
                    break;
                }
            }
            let made = specs.iter().enumerate().try_for_each(|(ready, (stage, spec))| {
                progress(PipelineProgress { compiling: Some(spec.entry), ready, total });
                let kernel = Kernel::new(&gpu, &buffers, spec)?;
                if !kernel.has_run() {
                    run_empty(&gpu, &mut buffers, &kernel)?;
                    kernel.note_run();
                }
                kernels.push((*stage, kernel));
                Ok(())
            });
            left.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
            made
        })?;
        progress(PipelineProgress { compiling: None, ready: total, total });
        let timer = StageTimer::new(&gpu)?;
        let (residents, submitted) = Default::default();
        let results = Results::new();
        let threads = Threads::new(1);
        Ok(Self { gpu, buffers, kernels, residents, results, submitted, timer, threads, recorded: 0, uploaded: 0 })
    }

    /// The device.
    pub fn device(&self) -> &GpuDevice {
        &self.gpu
    }

    /// Records a frame; the times of its stages on the host, and of an earlier frame's on the device (ms). After an error,
    /// [`FleshBackend::start_again`] comes before the next one.
    pub fn record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        instances: &mut Instances,
        frame: &Frame<'_>,
    ) -> Result<StageTimes, GpuError> {
        let before = self.buffers.uploaded();
        let recorded = self.try_record(encoder, instances.slots(), frame);
        self.uploaded = self.buffers.uploaded() - before;
        recorded
    }

    fn try_record(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        slots: &mut [Slot],
        frame: &Frame<'_>,
    ) -> Result<StageTimes, GpuError> {
        self.recorded += 1;
        self.buffers.begin(self.recorded, self.results.arrived());
        let clock = StageClock::new(frame.timed);
        for part in frame.schedule.chunk_by(|a, b| !is_of_host(a.stage) && !is_of_host(b.stage)) {
            let stage = part[0].stage;
            if is_of_host(stage) {
                clock.timed(stage, || self.run_on_host(stage, encoder, slots, frame))?;
            } else {
                self.dispatch(encoder, part, frame)?;
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
        let Self { gpu, buffers, kernels, residents, results, recorded, threads, .. } = self;
        let threads = threads.for_so_many(frame, slots.len());
        let mut upload = Upload { gpu, buffers, encoder };
        let solid = !frame.solids.is_empty();
        let substeps: Vec<&StepParams> =
            frame.params.iter().filter(|params| params.iteration == 0 && params.settling == 0).collect();
        residents.follow(&mut upload, slots, (frame.host.planes.len(), solid, substeps.len()), *recorded)?;
        residents.solids.follow(&mut upload, frame.solids, &substeps)?;
        residents.gather_inputs(&mut upload, slots, (&frame.host, &substeps), frame.changes, &threads)?;
        let mut params = frame.params.to_vec();
        let may_sleep = frame.passes > 0 && params.iter().any(|params| params.sleep_after.is_finite());
        residents.follow_sleep(&mut upload, slots, may_sleep);
        if frame.passes > 0 {
            residents.make_room_for_meetings(&mut upload, slots, results.pairs(), *recorded)?;
            residents.meetings.tell(&mut params, &residents.chains, *recorded);
            let rows = [residents.chains.node_rows(), residents.slots.len() as u64];
            residents.sleep.make_room(&mut upload, rows, frame.changes)?;
        }
        if let Some(named) = &frame.events {
            let rows = [residents.chains.group_rows(), residents.chain_count()];
            residents.tallies.begin(&mut upload, named, (rows, results.tallies(), *recorded))?;
        }
        for params in &mut params {
            params.group_count = residents.chains.stepped() as u32;
            params.lone_count = residents.chains.lone.len() as u32;
            params.level_count = residents.chains.level_count;
            params.carried_count = residents.chains.carried.len() as u32;
            params.skin_block_count = residents.skins.working_skin_blocks.len() as u32;
            params.section_block_count = residents.skins.working_section_blocks.len() as u32;
            params.morph_block_count = residents.skins.deltas.morph_blocks.len() as u32;
            #[cfg(feature = "neural")]
            {
                [params.network_count, params.network_group_count] = residents.networks.counts();
                params.network_block_count = residents.networks.block_count;
            }
            params.instance_count = residents.slots.len() as u32;
            params.recording = *recorded as u32;
            params.plane_count = frame.host.planes.len() as u32;
            residents.solids.tell(params);
            residents.sleep.tell(params);
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
        frame: &Frame<'_>,
    ) -> Result<(), GpuError> {
        let Self { gpu, buffers, kernels, residents, timer, .. } = self;
        let mut recorder = Recorder::new(encoder, timer.as_mut().filter(|_| frame.timed));
        let count_of = |domain: Domain| match domain {
            Domain::Host => 0,
            Domain::Chains => workgroups((residents.chains.stepped() + residents.chains.carried.len()) as u32),
            Domain::LoneChains => workgroups(residents.chains.lone.len() as u32),
            Domain::Trees => workgroups(residents.chains.trees.len() as u32),
            Domain::TouchingChains if !residents.any_touching() => 0,
            Domain::TouchingChains => workgroups(residents.chains.stepped() as u32),
            Domain::Instances => (residents.slots.len() as u32).div_ceil(WORKGROUP_SIZE),
            Domain::Sections => residents.skins.working_section_blocks.len() as u32,
            Domain::MorphedVertices => residents.skins.deltas.morph_blocks.len() as u32,
            #[cfg(feature = "neural")]
            Domain::Networks => 2 * residents.networks.counts()[0],
            #[cfg(feature = "neural")]
            Domain::NetworkVertices => residents.networks.block_count,
            #[cfg(not(feature = "neural"))]
            Domain::Networks | Domain::NetworkVertices => 0,
            Domain::Vertices => residents.skins.working_skin_blocks.len() as u32,
            Domain::MeetingChains | Domain::TalliedChains => workgroups(residents.chains.stepped() as u32),
            // How many pairs there are the GPU alone knows.
            Domain::Segments | Domain::Pairs => residents.meetings.workgroups(),
            Domain::CellsAround => residents.meetings.workgroups_around(),
        };
        for scheduled in stages {
            let domain = count_of(scheduled.stage.domain());
            if domain == 0 || scheduled.stage == Stage::LetSleep && !residents.sleep.works() {
                continue;
            }
            for (_, kernel) in kernels.iter().filter(|(stage, _)| *stage == scheduled.stage) {
                let count = match kernel.spec().size {
                    // What solids touch is found before a substep's first solve.
                    Size::Of(Domain::TouchingChains) if frame.params[scheduled.slot as usize].iteration > 0 => continue,
                    Size::Domain => Workgroups::Count(domain),
                    Size::Of(other) => Workgroups::Count(count_of(other)),
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
        let Self { gpu, buffers, residents, results, recorded, .. } = self;
        results.poll(gpu, residents, slots)?;
        let told = |slot: usize| {
            let instance = slots.get(slot).and_then(|slot| slot.instance.as_ref());
            instance.map_or((ReadBack::NOTHING, false), |instance| {
                (instance.sent_back(frame.read_back), instance.steps().flesh)
            })
        };
        results.send((gpu, encoder), buffers, residents, (*recorded, frame.step, frame.passes > 0), told)
    }

    /// Submits a frame, and waits where the host would run more than [`AHEAD`] steps ahead of the GPU.
    fn submit(&mut self, encoder: wgpu::CommandEncoder) -> Result<(), GpuError> {
        let Self { gpu, submitted, .. } = self;
        let index = gpu.queue().submit([encoder.finish()]);
        let done = submitted.done.clone();
        gpu.queue().on_submitted_work_done(move || {
            done.fetch_add(1, Ordering::Relaxed);
        });
        submitted.under_way.push_back(index);
        gpu.poll()?;
        let done = submitted.done.swap(0, Ordering::Relaxed).min(submitted.under_way.len());
        submitted.under_way.drain(..done);
        let ahead = submitted.under_way.len().saturating_sub(AHEAD);
        match ahead.checked_sub(1).and_then(|newest| submitted.under_way.get(newest)) {
            Some(newest) => gpu.wait_for(newest.clone()),
            None => Ok(()),
        }
    }

    /// How many pairs of segments the newest frame found of which that is known.
    pub fn pair_report(&self) -> Option<PairReport> {
        self.results.pairs()
    }

    /// How many tallies the newest frame made of which that is known.
    pub fn tally_report(&self) -> Option<TallyReport> {
        self.results.tallies()
    }

    /// How many bytes the last frame uploaded, and how many it has sent back.
    pub fn transfers(&self) -> [u64; 2] {
        [self.uploaded, self.results.bytes]
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

    /// Puts a stage's kernels in the place of its own, or its own back; the source is given as it is written. Those that had
    /// nothing to do in the newest frame stay.
    pub fn replace_kernels(&mut self, stage: Stage, written: Option<&str>) -> Result<(), GpuError> {
        let Self { gpu, buffers, kernels, residents, .. } = self;
        let works = |kernel: &Kernel| match kernel.spec().size {
            Size::Of(Domain::LoneChains) => !residents.chains.lone.is_empty(),
            Size::Of(Domain::Trees) => !residents.chains.trees.is_empty(),
            Size::Of(Domain::TouchingChains) => residents.any_touching(),
            _ => true,
        };
        for (_, kernel) in kernels.iter_mut().filter(|(of, kernel)| *of == stage && works(kernel)) {
            *kernel = match written {
                Some(written) => Kernel::written_so(gpu, buffers, kernel.spec(), written)?,
                None => Kernel::new(gpu, buffers, kernel.spec())?,
            };
        }
        Ok(())
    }

    /// Where a slot's deformed vertices lie: the buffer, the first byte and how many vertices.
    pub fn vertices(&self, slot: usize, generation: u32) -> Option<(&wgpu::Buffer, u64, u32)> {
        let resident = self.residents.slots.get(slot)?.as_ref().filter(|r| r.generation == generation)?;
        let rows = &resident.skin.skinned;
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
        let Self { gpu, buffers, residents, results, submitted, recorded, .. } = self;
        let mut shown = results.show_now(gpu, buffers, (residents, instances.slots()), (*recorded, step));
        if shown.is_ok() && residents.meetings.found_in(*recorded) {
            shown = touches::take(gpu, buffers, (residents, instances.slots()), *recorded);
        }
        *submitted = Submitted::default();
        Ok(shown?)
    }

    fn start_again(&mut self, instances: &mut Instances) -> Result<Option<u64>, StepError> {
        let Self { gpu, buffers, residents, results, submitted, recorded, .. } = self;
        let step = results.show_submitted(gpu, buffers, (residents, instances.slots()))?;
        results.put_at(*recorded, step);
        *residents = Residents::default();
        *submitted = Submitted::default();
        Ok(Some(step))
    }

    fn give_up(&mut self, instances: &mut Instances) {
        let newest = self.results.newest_step();
        let residents = std::mem::take(&mut self.residents);
        for (slot, resident) in instances.slots().iter_mut().zip(&residents.slots) {
            let (Some(instance), Some(resident)) = (&mut slot.instance, resident) else { continue };
            if slot.generation != resident.generation || instance.changed && !instance.placed {
                continue;
            }
            instance.state.activations.clone_from(&resident.chains.activations);
            // What arrived a moment ago is better than none.
            if !instance.changed && instance.step + RECENT < newest {
                instance.reset();
            }
        }
    }

    fn put_at(&mut self, step: u64) {
        self.results.put_at(self.recorded, step);
    }

    fn take_tallied(&mut self, _: u64) -> Option<u64> {
        self.results.take_tallied()
    }

    fn pairs(&mut self) -> Result<Vec<SegmentPair>, StepError> {
        let pairs = touches::pairs_now(&self.gpu, &self.buffers, &self.residents)?;
        Ok(pairs.into_iter().map(|(_, pair)| pair).collect())
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
