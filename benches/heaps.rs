//! Octopuses dropped in a heap, beside the same as rapier bodies: what a frame takes while they fall, land, lie awake and sleep, how
//! deep they lie in each other, and how that grows with their number.
//!
//! A rapier octopus is a body of five capsules and eight tentacles of four bodies each, on spherical joints; rapier has its default
//! settings and one thread. Sinew's octopuses are those of the scene `octopuses`.
//!
//! ```text
//! cargo bench --no-default-features --features rapier,parallel --bench heaps -- [COUNT]… [--seconds N] [--check]
//! ```
//!
//! COUNT is a number of octopuses (default 100); all are dropped, then awake for N seconds (default 15), then allowed to sleep for 11. Of
//! more than one count the exponent of growth is printed. Bars are those of 100. With `--check` a missed bar ends it with 1.
//!
//! ```text
//! cargo bench --no-default-features --features rapier,parallel,gpu --bench heaps -- --gpu [COUNT]… [--seconds N]
//! ```
//!
//! drops them on a GPU: whole frames as a host waits for them, of which some in between have their stages timed instead.

#[cfg(feature = "gpu")]
mod adapter;
mod arguments;
mod bars;

use std::ops::Range;
use std::time::Instant;

use bars::Bars;
use glam::DVec3;
use rapier3d::prelude::*;
use sinew::scenes::SceneParameters;
use sinew::step::StepConfig;
use sinew::{FleshHandle, Material, Physics};

/// A frame of the game (s).
const FRAME: f64 = 1.0 / 60.0;
/// Frames from the drop on that count as the fall.
const FALL: usize = 10;
/// Frames over which the worst second, and what lies, is measured.
const SECOND: usize = 60;
/// Frames in which it is to fall asleep once it is allowed to.
const FALLS_ASLEEP: usize = 10 * SECOND;
/// How many octopuses the bars are for.
const BARRED: usize = 100;

/// What frames take (ms) in each part of a heap's life.
struct Times {
    fall: f64,
    worst_second: f64,
    lying: f64,
}

impl Times {
    /// Of every frame from the drop on.
    fn of(frames: &[f64]) -> Self {
        Self {
            fall: mean(&frames[1..FALL]),
            worst_second: mean(&frames[worst_second(frames)]),
            lying: mean(&frames[frames.len() - 2 * SECOND..]),
        }
    }
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// The second of such frames that takes longest.
fn worst_second(frames: &[f64]) -> Range<usize> {
    let takes = |&first: &usize| mean(&frames[first..first + SECOND]);
    let first = (0..=frames.len() - SECOND).max_by(|a, b| takes(a).total_cmp(&takes(b))).expect("there is a second");
    first..first + SECOND
}

/// How long it takes (ms).
fn time(run: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    run();
    begin.elapsed().as_secs_f64() * 1e3
}

/// What became of a heap.
struct Heap {
    times: Times,
    /// A frame of what sleeps (ms); NaN where not all do.
    asleep: f64,
    /// The deepest, over the smaller radius.
    depth: f64,
    /// Fastest node or body when it lay awake (m/s).
    speed: f64,
    /// In the mean; NaN of bodies, which have none.
    volume_error: f64,
    /// How many sleep in the end.
    sleeping: usize,
    /// Contacts in a frame of the worst second; NaN of bodies, of which they are not counted.
    contacts: f64,
}

/// A heap of Sinew's, on so many threads; 0 for all cores.
fn sinew_heap(count: usize, threads: usize, frames: usize) -> Heap {
    let (mut physics, octopuses) = dropped(Physics::with_config(StepConfig::default()), count);
    physics.config.threads = threads;
    let sleep_after = std::mem::replace(&mut physics.config.sleep_after, f64::INFINITY);
    let step = |physics: &mut Physics| time(|| physics.step_flesh(FRAME).expect("steps"));
    let times: Vec<f64> = (0..frames).map(|_| step(&mut physics)).collect();
    let quality = physics.quality();
    let resets: u32 = octopuses.iter().map(|&handle| physics.health(handle).expect("is there").resets).sum();
    assert_eq!(resets, 0, "octopuses were laid anew");
    physics.config.sleep_after = sleep_after;
    let mut after = (0..FALLS_ASLEEP + SECOND).map(|_| step(&mut physics)).collect::<Vec<_>>();
    let sleeping = octopuses.iter().filter(|&&handle| physics.is_asleep(handle).expect("is there")).count();
    let asleep = after.split_off(FALLS_ASLEEP).iter().sum::<f64>() / SECOND as f64;
    Heap {
        times: Times::of(&times),
        asleep: if sleeping == count { asleep } else { f64::NAN },
        depth: quality.penetration_max,
        speed: quality.speed_max,
        volume_error: quality.volume_error_mean,
        sleeping,
        contacts: contacts(count, threads, worst_second(&times)),
    }
}

/// Contacts in a frame of some, of the same heap once more: looking at them would leave other things in the caches.
fn contacts(count: usize, threads: usize, frames: Range<usize>) -> f64 {
    let (mut physics, octopuses) = dropped(Physics::with_config(StepConfig::default()), count);
    (physics.config.threads, physics.config.sleep_after) = (threads, f64::INFINITY);
    let mut touching = |frame: usize| {
        physics.step_flesh(FRAME).expect("steps");
        if !frames.contains(&frame) {
            return 0;
        }
        let ground = octopuses.iter().map(|&handle| physics.contacts(handle).expect("is there").count());
        ground.sum::<usize>() + physics.flesh_contacts().count()
    };
    (0..frames.end).map(&mut touching).sum::<usize>() as f64 / frames.len() as f64
}

/// Octopuses as they are dropped.
fn dropped(mut physics: Physics, count: usize) -> (Physics, Vec<FleshHandle>) {
    let parameters = SceneParameters { rods: count, ..SceneParameters::of("octopuses").expect("is there") };
    let scene = parameters.build("octopuses").expect("in range");
    physics.config = scene.config;
    scene.insert(&mut physics).expect("finite");
    let octopuses = physics.instances().collect();
    (physics, octopuses)
}

/// The same as rapier bodies, on one thread.
fn rapier_heap(count: usize, frames: usize) -> Heap {
    let (physics, octopuses) = dropped(Physics::with_config(StepConfig::default()), count);
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = FRAME as f32;
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(100.0, 1.0, 100.0).translation(-Vector::Y));
    octopuses.iter().for_each(|&octopus| add_rapier_octopus(&mut world, &physics, octopus));
    let times: Vec<f64> = (0..frames).map(|_| time(|| world.step())).collect();
    let mut depth = 0.0_f64;
    for pair in world.contact_pairs() {
        let smaller = [pair.collider1, pair.collider2]
            .iter()
            .filter_map(|&side| world.colliders[side].shape().as_capsule())
            .fold(f32::MAX, |smaller, capsule| smaller.min(capsule.radius));
        let deepest = pair.manifolds().iter().flat_map(|manifold| &manifold.points).map(|point| -point.dist / smaller);
        depth = depth.max(f64::from(deepest.fold(0.0, f32::max)));
    }
    let bodies = || world.bodies.iter().filter(|(_, body)| body.is_dynamic());
    Heap {
        times: Times::of(&times),
        asleep: f64::NAN,
        depth,
        speed: f64::from(bodies().map(|(_, body)| body.linvel().length()).fold(0.0, f32::max)),
        volume_error: f64::NAN,
        sleeping: bodies().filter(|(_, body)| body.is_sleeping()).count() * count / bodies().count(),
        contacts: f64::NAN,
    }
}

fn add_rapier_octopus(world: &mut PhysicsWorld, physics: &Physics, octopus: FleshHandle) {
    let vector = |at: DVec3| Vector::new(at.x as f32, at.y as f32, at.z as f32);
    let flesh = physics.flesh(octopus).expect("is there");
    let node = |chain: usize, index: usize| {
        let node = physics.node(octopus, chain, index).expect("is there");
        (vector(node.place), node.radius)
    };
    let capsule = |chain: usize, segment: usize, centre: Vector| {
        let ((from, a), (to, b)) = (node(chain, segment), node(chain, segment + 1));
        let density = Material::default().density as f32;
        ColliderBuilder::capsule_from_endpoints(from - centre, to - centre, 0.5 * (a + b))
            .density(density)
            .friction(0.5)
    };
    let body = |at: Vector| RigidBodyBuilder::dynamic().translation(at);
    let joint = |at: Vector, sides: [Vector; 2]| {
        let [a, b] = sides.map(|side| at - side);
        SphericalJointBuilder::new().local_anchor1(a).local_anchor2(b).contacts_enabled(false)
    };
    let middle = node(0, 0).0;
    let head = world.insert_body(body(middle));
    for segment in 0..flesh.chains()[0].node_count() - 1 {
        world.insert_collider(capsule(0, segment, middle), Some(head));
    }
    for chain in 1..flesh.chains().len() {
        let count = flesh.chains()[chain].node_count();
        // From the head out.
        let mut before = (head, middle);
        for segment in (0..count - 1).rev() {
            let (from, to) = (node(chain, segment).0, node(chain, segment + 1).0);
            let centre = (from + to) * 0.5;
            let (part, _) = world.insert(body(centre), capsule(chain, segment, centre));
            world.insert_impulse_joint(before.0, part, joint(to, [before.1, centre]));
            before = (part, centre);
        }
    }
}

fn print(name: &str, count: usize, heap: &Heap) {
    let Heap { times, asleep, depth, speed, volume_error, sleeping, .. } = heap;
    println!(
        "{count:>6} | {name:<18} | {:>7.2} | {:>7.2} | {:>7.2} | {asleep:>7.3} | {:>8.2} | {:>8.3} | {speed:>9.1e} | {sleeping:>6}",
        times.fall,
        times.worst_second,
        times.lying,
        100.0 * depth,
        100.0 * volume_error,
    );
}

fn main() {
    let (seconds, mut others) = arguments::count_and_others("--seconds", 15);
    let on_gpu = others.iter().position(|other| other == "--gpu").map(|at| others.remove(at)).is_some();
    let counts = arguments::counts(&others, "--seconds", "octopuses", &[BARRED]);
    let frames = (seconds * SECOND).max(3 * SECOND);
    if on_gpu {
        gpu_heaps(&counts, frames);
    } else {
        cpu_heaps(&counts, frames);
    }
}

#[cfg(not(feature = "gpu"))]
fn gpu_heaps(_counts: &[usize], _frames: usize) {
    eprintln!("--gpu needs a build with feature gpu");
    std::process::exit(2);
}

/// What a heap takes on a GPU.
#[cfg(feature = "gpu")]
struct GpuHeap {
    times: Times,
    /// Of the host alone, in the mean of all frames (ms).
    host: f64,
    /// Of each stage in the worst second, by timestamps (ms).
    stages: Vec<(&'static str, f64)>,
    quality: sinew::Quality,
    /// How many were laid anew.
    resets: u32,
}

/// A heap on a GPU. Of eight frames the last three have their stages timed, which keeps dispatches apart; in the other times each
/// of these counts as the one before.
#[cfg(feature = "gpu")]
fn gpu_heap(
    device: &sinew::gpu::GpuDevice,
    count: usize,
    frames: usize,
) -> Result<GpuHeap, Box<dyn std::error::Error>> {
    use sinew::ReadBack;
    use sinew::step::Stage;
    const TIMED: usize = 8;
    let (mut physics, octopuses) = dropped(Physics::with_gpu(device.clone())?, count);
    physics.config.sleep_after = f64::INFINITY;
    physics.read_back = ReadBack::NOTHING;
    let (mut whole, mut host, mut stages) = (Vec::new(), 0.0, Vec::new());
    for frame in 0..frames {
        physics.measure_stages = frame % TIMED >= TIMED - 3;
        let begin = Instant::now();
        physics.step_flesh(FRAME)?;
        host += begin.elapsed().as_secs_f64() * 1e3 / frames as f64;
        device.wait()?;
        let taken = begin.elapsed().as_secs_f64() * 1e3;
        // They come back two steps later.
        if frame % TIMED == TIMED - 1 {
            stages.push(physics.stage_times());
        }
        whole.push(if physics.measure_stages { whole[frame - 1] } else { taken });
    }
    physics.finish()?;
    let times = Times::of(&whole);
    let Range { start, end } = worst_second(&whole);
    let within = start / TIMED..stages.len().min(end / TIMED);
    let of =
        |stage: Stage| stages[within.clone()].iter().map(|times| times.get(stage)).sum::<f64>() / within.len() as f64;
    let stages =
        Stage::ALL.into_iter().map(|stage| (stage.name(), of(stage))).filter(|&(_, time)| time > 0.0).collect();
    let resets = octopuses.iter().map(|&handle| physics.health(handle).expect("is there").resets).sum();
    Ok(GpuHeap { times, host, stages, quality: physics.quality(), resets })
}

#[cfg(feature = "gpu")]
fn gpu_heaps(counts: &[usize], frames: usize) {
    let device = adapter::open();
    println!(
        "ms a frame, waited for, while they fall, in the worst second, lying awake in the last two seconds; the host's part of all;"
    );
    println!("the deepest and the mean error of volume (%), the fastest in the end (m/s), how many were laid anew");
    println!("  count |    fall |   worst |   awake |    host |    depth |   volume |     speed | anew");
    for &count in counts {
        let heap = match gpu_heap(&device, count, frames) {
            Ok(heap) => heap,
            Err(error) => {
                println!("{count:>7} | {error}");
                continue;
            }
        };
        let GpuHeap { times, host, stages, quality, resets } = heap;
        println!(
            "{count:>7} | {:>7.2} | {:>7.2} | {:>7.2} | {host:>7.2} | {:>8.2} | {:>8.3} | {:>9.1e} | {resets}",
            times.fall,
            times.worst_second,
            times.lying,
            100.0 * quality.penetration_max,
            100.0 * quality.volume_error_mean,
            quality.speed_max,
        );
        let sum: f64 = stages.iter().map(|(_, time)| time).sum();
        let each: Vec<String> = stages.iter().map(|(name, time)| format!("{name} {time:.3}")).collect();
        println!("        | stages of the worst second, dispatches apart: {sum:.2} ms: {}", each.join(", "));
    }
}

fn cpu_heaps(counts: &[usize], frames: usize) {
    println!(
        "ms a frame while they fall, in the worst second, lying awake in the last two seconds, asleep; the deepest and the"
    );
    println!("mean error of volume (%), the fastest lying awake (m/s), how many sleep in the end");
    println!(
        " count | who                |    fall |   worst |   awake |  asleep |    depth |   volume |     speed | asleep"
    );
    let mut bars = Bars::default();
    let mut grows = Vec::new();
    for &count in counts {
        let heap = sinew_heap(count, 0, frames);
        print("sinew, all cores", count, &heap);
        let of_each = heap.contacts / count as f64;
        println!(
            "       | {of_each:.1} contacts an octopus in the worst second, a frame takes {:.2} µs for each",
            1.0e3 * heap.times.worst_second / heap.contacts
        );
        grows.push([count as f64, heap.times.worst_second, heap.contacts]);
        if count != BARRED {
            continue;
        }
        let alone = sinew_heap(count, 1, frames);
        print("sinew, one thread", count, &alone);
        let rapier = rapier_heap(count, frames);
        print("rapier, one thread", count, &rapier);
        bars.at_most("a frame of their fall (ms)", heap.times.fall, 3.0);
        bars.at_most("a frame of the worst second (ms)", heap.times.worst_second, 7.0);
        bars.at_most("a frame lying awake (ms)", heap.times.lying, 7.0);
        bars.at_most("a frame asleep (ms)", heap.asleep, 0.2);
        bars.at_most("depth over the smaller radius", heap.depth, 0.05);
        bars.at_most("mean error of volume", heap.volume_error, 0.005);
        bars.at_most("speed lying awake (m/s)", heap.speed, 5.0e-3);
        let ratios = [alone.times.fall / rapier.times.fall, alone.times.worst_second / rapier.times.worst_second];
        println!(
            "over rapier's time: {:.2} in the fall, {:.2} in the worst second (bar 0.15); {:.3} of its depth (bar 0.05)",
            ratios[0],
            ratios[1],
            alone.depth / rapier.depth
        );
        bars.at_most("the worst second over rapier's", ratios[1], 0.15);
        bars.at_most("depth over rapier's", alone.depth / rapier.depth, 0.05);
    }
    if let [[first, least, few], .., [last, most, many]] = grows[..] {
        let power = |grows: f64| grows.ln() / (last / first).ln();
        let (exponent, contacts) = (power(most / least), power(many / few));
        println!(
            "the worst second grows with the power {exponent:.2} of their number (bar 1.1), their contacts with {contacts:.2}"
        );
        bars.at_most("exponent of growth", exponent, 1.1);
    }
    bars.end();
}
