//! What a corrective network takes: the thesis' meshes of 289 000 and 182 000 vertices (23 joints → 20 components, 46 muscles → 92),
//! dense and with bases that are local, and 1000 characters of 5000 vertices that share a network.
//!
//! ```text
//! cargo bench --no-default-features --features neural,parallel --bench networks -- [--frames N] [--check]
//! cargo bench --no-default-features --features neural,parallel,gpu --bench networks -- --gpu [--frames N] [--check]
//! ```
//!
//! The second one is the same on the machine's GPU, in whole steps that deform skin too; bars are for real GPUs alone.
//! Times are medians over N frames (default 30). A local basis has passive components that move two fifths of the mesh and active
//! ones that move a twelfth, each in one piece. With `--check` a missed bar ends it with 1.

#[cfg(feature = "gpu")]
mod adapter;
mod arguments;
mod bars;

use std::hint::black_box;
use std::time::Instant;

use bars::Bars;
use glam::{Quat, Vec3};
use sinew::LaneWidth;
use sinew::neural::{
    CorrectiveNetwork, Correctives, Inference, Layer, MeshHash, NetworkSpec, PartSpec, Precision, Which,
};

/// Of the thesis (table 6.2, section 6.3).
const JOINTS: usize = 23;
const MUSCLES: usize = 46;
const COMPONENTS: [usize; 2] = [20, 92];
/// Units of each hidden layer; the thesis does not say.
const HIDDEN: usize = 128;
/// Which share of the mesh a component of a local basis moves.
const LOCAL: [f64; 2] = [0.4, 1.0 / 12.0];
/// Of the crowd.
const CROWD: usize = 1000;
const CROWD_VERTICES: usize = 5000;

/// The same numbers every time, from -1 to 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1_u64 << 23) as f32 - 1.0
    }

    fn many(&mut self, count: usize, size: f32) -> Vec<f32> {
        (0..count).map(|_| self.next() * size).collect()
    }
}

fn part(numbers: &mut Numbers, which: Which, vertices: usize, share: f64) -> PartSpec {
    let (inputs, components) = match which {
        Which::Passive => (9 * JOINTS, COMPONENTS[0]),
        Which::Active => (MUSCLES, COMPONENTS[1]),
    };
    let mut layer = |inputs: usize, outputs: usize| Layer {
        weight: numbers.many(inputs * outputs, (3.0 / inputs as f32).sqrt()),
        bias: numbers.many(outputs, 0.1),
    };
    let layers = [layer(inputs, HIDDEN), layer(HIDDEN, HIDDEN), layer(HIDDEN, components)];
    let mut basis = vec![0.0; components * vertices * 3];
    for (index, component) in basis.chunks_mut(3 * vertices).enumerate() {
        let count = (share * vertices as f64) as usize;
        let first = (vertices - count) * index / components;
        component[3 * first..3 * (first + count)].fill_with(|| 0.01 * numbers.next());
    }
    PartSpec {
        input_mean: numbers.many(inputs, 0.1),
        input_scale: vec![0.5; inputs],
        layers,
        low: vec![-2.0; components],
        high: vec![2.0; components],
        basis,
    }
}

fn network(vertices: usize, precision: Precision, local: bool) -> CorrectiveNetwork {
    let mut numbers = Numbers(vertices as u64);
    let [passive, active] = if local { LOCAL } else { [1.0; 2] };
    let spec = NetworkSpec {
        joints: (0..JOINTS).map(|joint| format!("joint {joint}")).collect(),
        muscles: (0..MUSCLES).map(|muscle| format!("muscle {muscle}")).collect(),
        vertex_count: vertices,
        mesh: MeshHash::default(),
        mean: numbers.many(3 * vertices, 0.001),
        passive: Some(part(&mut numbers, Which::Passive, vertices, passive)),
        active: Some(part(&mut numbers, Which::Active, vertices, active)),
        errors: Vec::new(),
    };
    CorrectiveNetwork::new(&spec, precision, 0.0).expect("is as it should be")
}

fn pose(network: &CorrectiveNetwork, character: &mut Correctives, numbers: &mut Numbers) {
    let mut turn = || Quat::from_scaled_axis(Vec3::new(numbers.next(), numbers.next(), numbers.next()));
    let rotations: Vec<Quat> = (0..JOINTS).map(|_| turn()).collect();
    let activations: Vec<f32> = (0..MUSCLES).map(|_| numbers.next().abs()).collect();
    character.set_inputs(network, &rotations, &activations);
}

/// The median time of a frame (ms) of so many characters, before each of which `between` is run.
fn time(network: &CorrectiveNetwork, count: usize, inference: &Inference, frames: usize, between: &dyn Fn()) -> f64 {
    let mut numbers = Numbers(7);
    let mut characters: Vec<_> = (0..count).map(|_| Correctives::new(network)).collect();
    characters.iter_mut().for_each(|character| pose(network, character, &mut numbers));
    let mut batch: Vec<_> = characters.iter_mut().collect();
    inference.infer(network, &mut batch);
    let mut times: Vec<f64> = (0..frames)
        .map(|_| {
            between();
            let begin = Instant::now();
            inference.infer(network, &mut batch);
            begin.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let moved = characters.iter().flat_map(|character| character.deltas());
    assert!(
        moved.clone().all(|delta| delta.is_finite()) && moved.max_by(|a, b| a.x.total_cmp(&b.x)) != Some(&Vec3::ZERO)
    );
    times[frames / 2]
}

fn main() {
    let (frames, others) = arguments::count_and_others("--frames", 30);
    match others.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => on_cpu(frames),
        ["--gpu"] => on_gpu(frames),
        _ => {
            eprintln!("{}: only --frames N, --gpu and --check are known", others.join(" "));
            std::process::exit(2);
        }
    }
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(_frames: usize) {
    eprintln!("--gpu needs a build with feature gpu");
    std::process::exit(2);
}

/// Medians of what a step takes (ms): of `infer_correctives` and of `deform_skin` on the device, and of all until it has been waited
/// for.
#[cfg(feature = "gpu")]
fn gpu_times(
    device: &sinew::gpu::GpuDevice,
    network: &std::sync::Arc<CorrectiveNetwork>,
    count: usize,
    frames: usize,
) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    use glam::DVec3;
    use sinew::flesh::{Flesh, RodSpec};
    use sinew::neural::Binding;
    use sinew::step::Stage;
    use sinew::{Active, Physics, Pose, ReadBack, Skin, SkinVertex};
    const SETTLING: usize = 5;
    let mut physics = Physics::with_gpu(device.clone())?;
    (physics.read_back, physics.measure_stages) = (ReadBack::NOTHING, true);
    let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, 4, 0.05);
    let flesh = std::sync::Arc::new(Flesh::build(&[rod], &[]).expect("is a rod"));
    let weights = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let vertex = SkinVertex { normal: [0.0, 0.0, 1.0], weights, ..SkinVertex::default() };
    let vertices = vec![vertex; network.vertex_count()];
    let skin = std::sync::Arc::new(Skin { vertices, palette_len: 1, ..Skin::default() });
    let mut numbers = Numbers(7);
    let mut handles = Vec::new();
    for _ in 0..count {
        let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &[], Pose::IDENTITY)?;
        physics.set_active(handle, Active { skin: true, flesh: false })?;
        physics.set_activation(handle, 0, numbers.next().abs())?;
        let binding = Binding { joints: (0..JOINTS as u32).collect(), muscles: vec![0; MUSCLES] };
        physics.set_network(handle, network.clone(), binding)?;
        handles.push(handle);
    }
    let mut times = [const { Vec::new() }; 3];
    for frame in 0..frames + SETTLING {
        for &handle in &handles {
            let turns = [(); JOINTS].map(|()| Quat::from_scaled_axis(Vec3::splat(numbers.next())));
            physics.set_joint_rotations(handle, &turns)?;
        }
        let begin = Instant::now();
        physics.step_flesh(1.0 / 60.0)?;
        physics.finish()?;
        let whole = begin.elapsed().as_secs_f64() * 1e3;
        if frame >= SETTLING {
            let stages = physics.stage_times();
            let found = [stages.get(Stage::InferCorrectives), stages.get(Stage::DeformSkin), whole];
            times.iter_mut().zip(found).for_each(|(times, found)| times.push(found));
        }
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[frames / 2]
    }))
}

#[cfg(feature = "gpu")]
fn on_gpu(frames: usize) {
    let device = adapter::open();
    let mut bars = Bars::default();
    println!("ms a frame; by timestamps, and a whole step with all that the host does, waited for");
    println!(" characters | vertices | basis     | infer_correctives | deform_skin |   step | bar");
    // A software adapter has no room for all of the crowd's vertices.
    let limits = device.device().limits();
    let limit = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) as usize;
    let crowd = CROWD.min(limit / (CROWD_VERTICES * size_of::<sinew::layout::SkinnedVertex>()));
    for (count, vertices, bar) in [(1, 289_000, 0.15), (crowd, CROWD_VERTICES, 3.0)] {
        for (precision, local) in [(Precision::F16, false), (Precision::I8, false), (Precision::I8, true)] {
            let network = std::sync::Arc::new(network(vertices, precision, local));
            let name = format!("{} {}", precision.name(), if local { "local" } else { "dense" });
            let [infer, deform, step] = match gpu_times(&device, &network, count, frames) {
                Ok(times) => times,
                Err(error) => {
                    println!(" {count:>10} | {vertices:>8} | {name:<9} | {error}");
                    continue;
                }
            };
            println!(" {count:>10} | {vertices:>8} | {name:<9} | {infer:>17.3} | {deform:>11.3} | {step:>6.2} | {bar}");
            if !device.is_software() && device.has_timestamps() {
                bars.at_most(format!("{count} of {vertices} vertices, {name} (ms)"), infer, bar);
            }
        }
    }
    bars.end();
}

fn on_cpu(frames: usize) {
    let (mut all, one) = (Inference::new(0), Inference::new(1));
    let mut bars = Bars::default();
    println!(
        "best instructions: {}; all cores: {}",
        instructions(),
        std::thread::available_parallelism().map_or(1, usize::from)
    );
    println!("ms a frame");
    println!(" vertices | basis          |    MB | all cores | one thread | all cores, baseline | bar");
    for (vertices, scale) in [(289_000, 1.0), (182_000, 182.0 / 289.0)] {
        for (precision, local, bar) in [
            (Precision::F32, false, None),
            (Precision::F16, false, Some(40.0)),
            (Precision::I8, false, None),
            (Precision::F16, true, None),
            (Precision::I8, true, Some(8.0)),
        ] {
            let network = network(vertices, precision, local);
            let found = time(&network, 1, &all, frames, &|| ());
            let alone = time(&network, 1, &one, frames, &|| ());
            all.lane_width = LaneWidth::EightBaseline;
            let baseline = time(&network, 1, &all, frames, &|| ());
            all.lane_width = LaneWidth::Eight;
            let name = format!("{} {}", precision.name(), if local { "local" } else { "dense" });
            let bar = bar.map(|bar| bar * scale);
            println!(
                "{vertices:>9} | {name:<14} | {:>5.0} | {found:>9.2} | {alone:>10.2} | {baseline:>19.2} | {}",
                network.basis_bytes() as f64 / 1e6,
                bar.map_or_else(String::new, |bar| format!("{bar:.0}"))
            );
            if let Some(bar) = bar {
                bars.at_most(format!("{vertices} vertices, {name} (ms)"), found, bar);
            }
        }
    }
    println!();
    println!(
        "µs a character of {CROWD_VERTICES} vertices, all cores; alone as a frame finds it, caches full of other things, and frame on frame"
    );
    println!(
        " basis          | alone, found | alone, again | of {CROWD} | over found (bar 0.3) | over again (bar 0.3)"
    );
    let other: Vec<u8> = vec![1; 256 << 20];
    let fill = || {
        black_box(other.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>());
    };
    for (precision, local) in [(Precision::F16, false), (Precision::I8, false), (Precision::I8, true)] {
        let network = network(CROWD_VERTICES, precision, local);
        let found = 1e3 * time(&network, 1, &all, 3 * frames, &fill);
        let again = 1e3 * time(&network, 1, &all, 20 * frames, &|| ());
        let shared = 1e3 * time(&network, CROWD, &all, frames, &|| ()) / CROWD as f64;
        let name = format!("{} {}", precision.name(), if local { "local" } else { "dense" });
        let (over_found, over_again) = (shared / found, shared / again);
        println!(
            " {name:<14} | {found:>12.1} | {again:>12.1} | {shared:>7.1} | {over_found:>20.2} | {over_again:>20.2}"
        );
        bars.at_most(
            format!("a character of {CROWD}, {name}, over one alone, caches full of other things"),
            over_found,
            0.3,
        );
        bars.at_most(format!("a character of {CROWD}, {name}, over one alone, frame on frame"), over_again, 0.3);
    }
    bars.end();
}

/// What the kernels run with here.
fn instructions() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            "AVX-512"
        } else if is_x86_feature_detected!("avx2") {
            "AVX2"
        } else {
            "SSE2"
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::env::consts::ARCH
}
