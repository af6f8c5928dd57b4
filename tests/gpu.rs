//! What kernels stand on: recording, parameters, memory, read-back, timings, loss. Two trial kernels run a frame of
//! substeps and iterations whose every operation is exact, so that their twin here must have the same bits.
#![cfg(feature = "gpu")]

mod common;

use common::layout::check_kernel;
use sinew::gpu::{
    ArrayId, ArraySpec, Buffers, GpuDevice, GpuError, Kernel, KernelSpec, Loops, Readback, Recorder, StageTimer,
    Workgroups, read_now,
};
use sinew::layout::{Group, LANES, MAX_WORKGROUPS, WORKGROUP_SIZE, word, workgroups};
use sinew::step::{Size, StepParams};

const GROUPS: ArrayId = ArrayId(0);
const NODES: ArrayId = ArrayId(1);
const ENTRIES: u32 = 2;
const SIZES: ArrayId = ArrayId(2);
const ARRAYS: &[ArraySpec] = &[
    ArraySpec::table::<Group>("groups"),
    ArraySpec::of_lanes("trial_nodes", ENTRIES),
    ArraySpec::words("trial_sizes", 3).indirect(),
];
const RELAX: KernelSpec = KernelSpec {
    stage: "trial_relax",
    entry: "trial_relax",
    size: Size::Domain,
    source: include_str!("shaders/trial_relax.wgsl"),
    loops: Loops::AsWritten,
};
const COUNT: KernelSpec = KernelSpec {
    stage: "trial_count",
    entry: "trial_count",
    source: include_str!("shaders/trial_count.wgsl"),
    ..RELAX
};

const SUBSTEPS: u32 = 4;
const ITERATIONS: u32 = 2;

/// Groups of 2 to 9 nodes with whole numbers on the nodes.
#[derive(Clone)]
struct Trial {
    groups: Vec<Group>,
    nodes: Vec<f32>,
}

impl Trial {
    fn new(group_count: u32) -> Self {
        let mut groups = Vec::new();
        let mut node_base = 0;
        for index in 0..group_count {
            let node_count = 2 + index % 8;
            groups.push(Group { node_base, rest_base: 0, node_count, ..Group::default() });
            node_base += node_count;
        }
        let words = node_base * ENTRIES * LANES;
        Self { groups, nodes: (0..words).map(|i| (i % 13) as f32).collect() }
    }

    fn params(&self) -> Vec<StepParams> {
        let slots = (0..SUBSTEPS).flat_map(|substep| (0..ITERATIONS).map(move |iteration| (substep, iteration)));
        slots
            .map(|(substep, iteration)| StepParams {
                alpha: (substep + 1) as f32 / SUBSTEPS as f32,
                h: (10 * substep + iteration) as f32,
                group_count: self.groups.len() as u32,
                ..StepParams::default()
            })
            .collect()
    }

    /// A frame by the twin.
    fn step(&mut self, params: &[StepParams]) {
        for params in params {
            for group in &self.groups {
                for lane in 0..LANES {
                    let mut before = params.alpha;
                    for node in 0..group.node_count {
                        let row = group.node_base + node;
                        let at = word(row, ENTRIES, 0, lane);
                        before += 0.5 * self.nodes[at];
                        self.nodes[at] = before;
                        self.nodes[word(row, ENTRIES, 1, lane)] += params.h + before;
                    }
                }
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.nodes)
    }
}

/// A trial on the GPU.
struct OnGpu {
    buffers: Buffers,
    kernels: [Kernel; 2],
    rows: u64,
}

impl OnGpu {
    fn new(gpu: &GpuDevice, trial: &Trial) -> Self {
        let mut buffers = Buffers::new(gpu, ARRAYS).unwrap();
        let kernels = [RELAX, COUNT].map(|spec| Kernel::new(gpu, &buffers, &spec).unwrap());
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        buffers.upload(gpu, &mut encoder, GROUPS, 0, &trial.groups).unwrap();
        buffers.upload(gpu, &mut encoder, NODES, 0, &trial.nodes).unwrap();
        gpu.queue().submit([encoder.finish()]);
        let rows = u64::from(trial.groups.iter().map(|group| group.node_count).sum::<u32>());
        Self { buffers, kernels, rows }
    }

    fn encode(
        &mut self,
        gpu: &GpuDevice,
        encoder: &mut wgpu::CommandEncoder,
        params: &[StepParams],
        timer: Option<&mut StageTimer>,
        step: u64,
    ) {
        self.buffers.upload_params(gpu, encoder, params).unwrap();
        for kernel in &mut self.kernels {
            kernel.rebind(gpu, &self.buffers).unwrap();
        }
        let mut recorder = Recorder::new(encoder, timer);
        for (slot, params) in (0..).zip(params) {
            for kernel in &self.kernels {
                recorder.dispatch(kernel, slot, Workgroups::Count(workgroups(params.group_count)));
            }
        }
        recorder.finish(gpu, step).unwrap();
    }

    fn nodes(&self) -> (&wgpu::Buffer, u64, u64) {
        (self.buffers.array(NODES), 0, self.rows * ARRAYS[NODES.0].row_bytes)
    }
}

fn encoder(gpu: &GpuDevice) -> wgpu::CommandEncoder {
    gpu.device().create_command_encoder(&Default::default())
}

#[test]
fn trial_kernels_match_their_bindings() {
    assert_eq!(check_kernel(&RELAX, ARRAYS), [""; 0]);
    assert_eq!(check_kernel(&COUNT, ARRAYS), [""; 0]);
    let strange: String = RELAX.source.replace("trial_nodes", "trial_notes");
    let late: String = RELAX.source.replace("@binding(2)", "@binding(3)");
    for (source, what) in [(strange, "name"), (late, "binding")] {
        assert_eq!(check_kernel(&KernelSpec { source: source.leak(), ..RELAX }, ARRAYS).len(), 1, "{what}");
    }
    let narrow = [ArraySpec::words("groups", 2), ARRAYS[1]];
    assert_eq!(check_kernel(&RELAX, &narrow).len(), 1, "stride");
    assert_eq!(check_kernel(&KernelSpec { entry: "other", ..RELAX }, ARRAYS).len(), 1, "entry point");
}

/// A stage of two passes, the second as large as the first one says, on the GPU alone.
#[test]
fn a_pass_is_as_large_as_an_earlier_one_says() {
    let Some(gpu) = common::gpu() else { return };
    let size = KernelSpec {
        stage: "trial_passes",
        entry: "trial_size",
        size: Size::Once,
        source: include_str!("shaders/trial_passes.wgsl"),
        loops: Loops::AsWritten,
    };
    let mark = KernelSpec { entry: "trial_mark", size: Size::Indirect("trial_sizes"), ..size };
    for spec in [size, mark] {
        assert_eq!(check_kernel(&spec, ARRAYS), [""; 0]);
    }
    let mut buffers = Buffers::new(&gpu, ARRAYS).unwrap();
    let mut encoder = encoder(&gpu);
    let rows = 4 * u64::from(WORKGROUP_SIZE);
    buffers.reserve(&gpu, &mut encoder, NODES, rows).unwrap();
    let params = [3, 1].map(|iteration| StepParams { iteration, ..StepParams::default() });
    buffers.upload_params(&gpu, &mut encoder, &params).unwrap();
    let passes = [size, mark].map(|spec| Kernel::new(&gpu, &buffers, &spec).unwrap());
    let mut recorder = Recorder::new(&mut encoder, None);
    for slot in 0..2 {
        recorder.dispatch(&passes[0], slot, Workgroups::Count(1));
        recorder.dispatch(&passes[1], slot, Workgroups::Indirect(buffers.named("trial_sizes").unwrap()));
    }
    recorder.finish(&gpu, 1).unwrap();
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, u32>(&read(&gpu, &buffers, SIZES, 12)), [1, 1, 1]);
    let marks: Vec<f32> = bytemuck::pod_collect_to_vec(&read(&gpu, &buffers, NODES, rows * 4));
    let group = WORKGROUP_SIZE as usize;
    let told: Vec<f32> = marks.chunks(group).map(|marks| marks.iter().sum::<f32>() / group as f32).collect();
    assert_eq!(told, [2.0, 1.0, 1.0, 0.0], "three workgroups, then one");
}

/// As `a_frame_stays_of_length_one` of the CPU's math has it, and without its second step it is not.
#[test]
fn a_frame_stays_of_length_one_on_a_gpu() {
    const FRAMES: &[ArraySpec] = &[ArraySpec::words("trial_frames", 4)];
    let Some(gpu) = common::gpu() else { return };
    let turn = KernelSpec {
        stage: "trial_frames",
        entry: "trial_frames_turn",
        source: include_str!("shaders/trial_frames.wgsl"),
        ..RELAX
    };
    let (step, without) = ("return near + near * (0.5 - 0.5 * dot(near, near));", "return near;");
    let written = turn.written();
    assert_eq!(written.matches(step).count(), 1, "{step}");
    let count = 64 * WORKGROUP_SIZE;
    let off = |written: &str| {
        let mut buffers = Buffers::new(&gpu, FRAMES).unwrap();
        let mut encoder = encoder(&gpu);
        buffers.reserve(&gpu, &mut encoder, ArrayId(0), count.into()).unwrap();
        let params = StepParams { iteration: 8, ..StepParams::default() };
        buffers.upload_params(&gpu, &mut encoder, &[params]).unwrap();
        let kernel = Kernel::written_so(&gpu, &buffers, &turn, written).unwrap();
        let mut recorder = Recorder::new(&mut encoder, None);
        recorder.dispatch(&kernel, 0, Workgroups::Count(count / WORKGROUP_SIZE));
        recorder.finish(&gpu, 1).unwrap();
        gpu.queue().submit([encoder.finish()]);
        let frames: Vec<f32> = bytemuck::pod_collect_to_vec(&read(&gpu, &buffers, ArrayId(0), u64::from(count) * 16));
        let length = |frame: &[f32]| frame.iter().map(|&entry| f64::from(entry).powi(2)).sum::<f64>().sqrt();
        let squares: f64 = frames.chunks(4).map(|frame| (length(frame) - 1.0).powi(2)).sum();
        (squares / f64::from(count)).sqrt()
    };
    let (off, off_without) = (off(&written), off(&written.replace(step, without)));
    println!("{off:.1e} off 1 (root mean square), {off_without:.1e} with root and quotient alone");
    assert!(off < 3.0e-8, "{off}");
    assert!(off_without > 3.0e-8, "{off_without}: the test sees nothing");
}

fn read(gpu: &GpuDevice, buffers: &Buffers, array: ArrayId, bytes: u64) -> Vec<u8> {
    read_now(gpu, &[(buffers.array(array), 0, bytes)]).unwrap()
}

#[test]
fn a_recorded_frame_has_the_bits_of_its_twin() {
    let Some(gpu) = common::gpu() else { return };
    println!("adapter: {}", gpu.report());
    let start = Trial::new(700);
    let params = start.params();
    let mut twin = start.clone();
    twin.step(&params);
    for timed in [false, true] {
        let mut timer = if timed { StageTimer::new(&gpu).unwrap() } else { None };
        let mut on_gpu = OnGpu::new(&gpu, &start);
        let mut encoder = encoder(&gpu);
        on_gpu.encode(&gpu, &mut encoder, &params, timer.as_mut(), 1);
        gpu.queue().submit([encoder.finish()]);
        assert!(read_now(&gpu, &[on_gpu.nodes()]).unwrap() == twin.bytes(), "timed: {timed}");
    }
    let mut perturbed = start.clone();
    perturbed.nodes[0] += 1.0;
    perturbed.step(&params);
    assert!(perturbed.bytes() != twin.bytes(), "the comparison sees one changed word");
    gpu.check().unwrap();
}

#[test]
fn a_dispatch_of_more_than_one_row_reaches_every_chain() {
    let Some(gpu) = common::gpu() else { return };
    let group_count = MAX_WORKGROUPS * WORKGROUP_SIZE / LANES + 9;
    let groups = (0..group_count)
        .map(|node_base| Group { node_base, rest_base: 0, node_count: 1, ..Group::default() })
        .collect();
    let nodes = (0..group_count * ENTRIES * LANES).map(|i| (i % 13) as f32).collect();
    let mut twin = Trial { groups, nodes };
    let params = &twin.params()[..1];
    assert!(workgroups(group_count) > MAX_WORKGROUPS);
    let mut on_gpu = OnGpu::new(&gpu, &twin);
    let mut encoder = encoder(&gpu);
    on_gpu.encode(&gpu, &mut encoder, params, None, 1);
    gpu.queue().submit([encoder.finish()]);
    twin.step(params);
    assert!(read_now(&gpu, &[on_gpu.nodes()]).unwrap() == twin.bytes());
}

#[test]
fn two_steps_before_one_submission_keep_their_own_parameters() {
    let Some(gpu) = common::gpu() else { return };
    let mut twin = Trial::new(3);
    let mut on_gpu = OnGpu::new(&gpu, &twin);
    let first = twin.params();
    let second: Vec<_> = first.iter().rev().copied().collect();
    let mut encoder = encoder(&gpu);
    for (step, params) in [(1, &first), (2, &second)] {
        on_gpu.encode(&gpu, &mut encoder, params, None, step);
        twin.step(params);
    }
    gpu.queue().submit([encoder.finish()]);
    assert!(read_now(&gpu, &[on_gpu.nodes()]).unwrap() == twin.bytes());
}

#[test]
fn arrays_grow_keep_their_rows_and_refuse_what_no_binding_holds() {
    let Some(gpu) = common::gpu() else { return };
    let mut buffers = Buffers::new(&gpu, ARRAYS).unwrap();
    assert_eq!(buffers.capacity(GROUPS), 1);
    let group = |n| Group { node_base: n, rest_base: 8, node_count: n + 1, ..Group::default() };
    let groups: Vec<_> = (0..10).map(group).collect();
    let mut encoder = encoder(&gpu);
    buffers.upload(&gpu, &mut encoder, GROUPS, 0, &groups[..4]).unwrap();
    assert_eq!((buffers.capacity(GROUPS), buffers.generation()), (4, 1));
    buffers.upload(&gpu, &mut encoder, GROUPS, 4, &groups[4..5]).unwrap();
    assert_eq!((buffers.capacity(GROUPS), buffers.generation()), (6, 2));
    buffers.upload(&gpu, &mut encoder, GROUPS, 5, &groups[5..]).unwrap();
    gpu.queue().submit([encoder.finish()]);
    let bytes = read_now(&gpu, &[(buffers.array(GROUPS), 0, 10 * size_of::<Group>() as u64)]).unwrap();
    assert_eq!(bytemuck::pod_collect_to_vec::<u8, Group>(&bytes), groups);

    let (held, generation) = (buffers.total_bytes(), buffers.generation());
    let mut encoder = self::encoder(&gpu);
    let refused = buffers.reserve(&gpu, &mut encoder, NODES, u64::MAX / 4);
    assert!(matches!(refused, Err(GpuError::ArrayTooLarge { array: "trial_nodes", .. })), "{refused:?}");
    assert_eq!((buffers.total_bytes(), buffers.generation()), (held, generation));
}

#[test]
fn results_arrive_tagged_and_a_host_that_runs_ahead_is_not_held() {
    let Some(gpu) = common::gpu() else { return };
    let mut twin = Trial::new(5);
    let params = twin.params();
    let mut on_gpu = OnGpu::new(&gpu, &twin);
    let mut readback = Readback::new("nodes", 2);
    assert_eq!(readback.latest(), None);

    let mut encoders = Vec::new();
    for step in 1..=3 {
        let mut encoder = encoder(&gpu);
        on_gpu.encode(&gpu, &mut encoder, &params, None, step);
        let room = readback.enqueue(&gpu, &mut encoder, step, &[on_gpu.nodes()]).unwrap();
        assert_eq!(room, step <= 2, "two copies are under way at most");
        encoders.push(encoder);
    }
    drop(encoders);
    for step in 4..=5 {
        let mut encoder = encoder(&gpu);
        on_gpu.encode(&gpu, &mut encoder, &params, None, step);
        let room = readback.enqueue(&gpu, &mut encoder, step, &[on_gpu.nodes()]).unwrap();
        assert!(room, "encoders that were thrown away give their place back");
        gpu.queue().submit([encoder.finish()]);
        twin.step(&params);
    }
    gpu.wait().unwrap();
    readback.poll(&gpu).unwrap();
    let (step, bytes) = readback.latest().unwrap();
    assert_eq!(step, 5);
    assert!(bytes == twin.bytes());
}

#[test]
fn timings_arrive_by_stage_and_step() {
    let Some(gpu) = common::gpu() else { return };
    let Some(mut timer) = StageTimer::new(&gpu).unwrap() else {
        println!("skipped: {} has no timestamps", gpu.report());
        return;
    };
    let trial = Trial::new(2500);
    let params = trial.params();
    let mut on_gpu = OnGpu::new(&gpu, &trial);
    for step in 1..=3 {
        let mut encoder = encoder(&gpu);
        on_gpu.encode(&gpu, &mut encoder, &params, Some(&mut timer), step);
        gpu.queue().submit([encoder.finish()]);
        gpu.wait().unwrap();
        timer.poll(&gpu).unwrap();
        let timings = timer.latest().unwrap();
        println!("step {}: {:?}", timings.step, timings.stages);
        assert_eq!(timings.step, step);
        assert_eq!(timings.stages.iter().map(|stage| stage.0).collect::<Vec<_>>(), ["trial_relax", "trial_count"]);
        assert!(timings.stages.iter().all(|stage| !stage.1.is_zero()));
    }
}

#[test]
fn a_lost_device_is_an_error_and_the_last_state_survives() {
    let Some(gpu) = common::gpu() else { return };
    let mut twin = Trial::new(2);
    let params = twin.params();
    let mut on_gpu = OnGpu::new(&gpu, &twin);
    let mut readback = Readback::new("nodes", 2);
    let mut encoder = encoder(&gpu);
    on_gpu.encode(&gpu, &mut encoder, &params, None, 1);
    readback.enqueue(&gpu, &mut encoder, 1, &[on_gpu.nodes()]).unwrap();
    gpu.queue().submit([encoder.finish()]);
    gpu.wait().unwrap();
    readback.poll(&gpu).unwrap();

    gpu.device().destroy();
    let error = readback.poll(&gpu).unwrap_err();
    println!("{error}");
    assert!(matches!(error, GpuError::Lost { .. }), "{error:?}");
    assert_eq!(gpu.check(), Err(error.clone()));
    assert_eq!(read_now(&gpu, &[on_gpu.nodes()]), Err(error.clone()));
    let mut encoder = self::encoder(&gpu);
    assert_eq!(on_gpu.buffers.upload(&gpu, &mut encoder, NODES, 0, &twin.nodes), Err(error.clone()));
    assert_eq!(on_gpu.buffers.reserve(&gpu, &mut encoder, NODES, 1000), Err(error));
    twin.step(&params);
    let (step, bytes) = readback.latest().unwrap();
    assert!(step == 1 && bytes == twin.bytes());

    let Some(again) = common::gpu() else { return };
    let mut trial = twin.clone();
    trial.nodes = bytemuck::pod_collect_to_vec(bytes);
    let mut on_gpu = OnGpu::new(&again, &trial);
    let mut encoder = self::encoder(&again);
    on_gpu.encode(&again, &mut encoder, &params, None, 2);
    again.queue().submit([encoder.finish()]);
    twin.step(&params);
    assert!(read_now(&again, &[on_gpu.nodes()]).unwrap() == twin.bytes(), "the next device continues");
}

#[test]
fn a_host_owned_device_is_taken_if_its_limits_suffice() {
    let Some(own) = common::gpu() else { return };
    let host = GpuDevice::with_device(own.device().clone(), own.queue().clone()).unwrap();
    assert_eq!(host.report(), own.report());
    let mut twin = Trial::new(4);
    let params = twin.params();
    let mut on_gpu = OnGpu::new(&host, &twin);
    let mut encoder = encoder(&host);
    on_gpu.encode(&host, &mut encoder, &params, None, 1);
    own.queue().submit([encoder.finish()]);
    twin.step(&params);
    assert!(read_now(&host, &[on_gpu.nodes()]).unwrap() == twin.bytes());
    host.report_lost("the host says so");
    assert_eq!(host.poll(), Err(GpuError::Lost { reason: "the host says so".to_owned() }));

    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let required_limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..Default::default() };
    let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let error = GpuDevice::with_device(device, queue).unwrap_err();
    let limit = "max_storage_buffers_per_shader_stage";
    assert_eq!(error, GpuError::LimitTooLow { limit, have: 4, need: 8 });
}

#[test]
fn a_kernel_that_does_not_compile_is_an_error_with_its_name() {
    let Some(gpu) = common::gpu() else { return };
    let buffers = Buffers::new(&gpu, ARRAYS).unwrap();
    let misspelt = KernelSpec { stage: "misspelt", entry: "misspelt", source: "fn misspelt() { nothing }", ..RELAX };
    let open =
        KernelSpec { source: "fn misspelt() { for (var i = 0u; i < 2u; i++) {", loops: Loops::WrittenOut, ..misspelt };
    let unbound = KernelSpec { source: RELAX.source.replace("trial_nodes", "trial_notes").leak(), ..RELAX };
    for spec in [misspelt, open, unbound] {
        let error = Kernel::new(&gpu, &buffers, &spec).unwrap_err();
        assert!(matches!(&error, GpuError::Kernel { stage, .. } if *stage == spec.stage), "{error:?}");
    }
    gpu.check().unwrap();
}
