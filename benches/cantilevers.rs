//! Clamped rods that fall under gravity: Sinew against rapier's soft ropes, one core, in the same run.
//!
//! A harness of its own instead of criterion: on a shared machine only contenders that take turns within one run can
//! be compared, and criterion measures one after the other. Every round gives each contender one window of frames;
//! a contender's figures are its smallest and its median window, its ratios medians over the rounds.
//!
//! ```text
//! cargo bench --no-default-features --features rapier --bench cantilevers -- [COUNT]… [--rounds N] [--check]
//! ```
//!
//! COUNT is a number of rods of 20 segments (default 50 200 1000: 1, 4 and 20 thousand segments). With `--check` a
//! missed bar ends it with 1.

mod arguments;
mod bars;

use bars::Bars;
use rapier3d::prelude::{PhysicsWorld, SoftBodyBuilder, SoftBodyHandle, Vector};
use sinew::LaneWidth;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::scenes::Cantilevers;
use sinew::step::{Stage, StepConfig, Walk};
use sinew::{Physics, Pose};
use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A frame of the game (s).
const FRAME: f32 = 1.0 / 60.0;
/// Frames before the first window: the rods have left the horizontal and caches are warm.
const WARM_UP_FRAMES: usize = 30;
/// A window is as many frames as take about this long, so that the clock's grain does not show.
const WINDOW: Duration = Duration::from_millis(60);

/// The scene both sides build: `count` rods along +X, side by side along Z, clamped (or pinned) at x = 0.
#[derive(Clone, Copy)]
struct Scene {
    count: usize,
    segments: usize,
    /// Rest length of a segment (m).
    segment_length: f32,
    /// Radius of the rods (m).
    radius: f32,
    /// Mass per volume (kg/m³).
    density: f32,
    /// Downwards acceleration (m/s²).
    gravity: f32,
}

impl Scene {
    fn new(count: usize) -> Self {
        Self { count, segments: 20, segment_length: 0.05, radius: 0.01, density: 1060.0, gravity: 9.81 }
    }

    /// So far apart that no bounding boxes meet: at 0.1 m rapier doubles its substeps wherever ropes swing past.
    fn root(&self, rod: usize) -> [f32; 3] {
        [0.0, 0.0, 0.5 * rod as f32]
    }
}

/// One side of the comparison.
struct Contender {
    name: &'static str,
    /// What its frame may take over that of rapier's default; infinite for rapier.
    bar: f64,
    /// Advances the scene by one frame.
    step: Box<dyn FnMut()>,
    /// Lowest node relative to the clamps (m), to see that something moved; NaN if anything is not finite.
    lowest: Box<dyn Fn() -> f32>,
}

/// Sinew on one thread: rods as stiff as Γ = 1 asks, damped, with volume and thickness.
fn sinew_cantilevers(scene: Scene, name: &'static str, bar: f64, substeps: u32, lane_width: LaneWidth) -> Contender {
    let rods = Cantilevers {
        rods: scene.count,
        segments: scene.segments,
        length: f64::from(scene.segment_length) * scene.segments as f64,
        radius: f64::from(scene.radius),
        ..Cantilevers::default()
    };
    let gravity = glam::DVec3::NEG_Y * f64::from(scene.gravity);
    let mut physics = Physics::with_config(StepConfig { substeps, gravity, threads: 1, ..StepConfig::default() });
    physics.lane_width = lane_width;
    let flesh = physics
        .insert(rods.build().expect("the scene is sound"), &[Pose::IDENTITY], Pose::IDENTITY)
        .expect("the scene is sound");
    let physics = Rc::new(RefCell::new(physics));
    let stepped = physics.clone();
    Contender {
        name,
        bar,
        step: Box::new(move || stepped.borrow_mut().step_flesh(f64::from(FRAME)).expect("steps")),
        lowest: Box::new(move || {
            let physics = physics.borrow();
            let lowest = |rod: usize| physics.node(flesh, rod, scene.segments).map_or(f32::NAN, |n| n.place.y as f32);
            // Not f32::min, which drops a NaN.
            (0..scene.count)
                .map(lowest)
                .fold(0.0, |low: f32, y| if low.is_nan() || !y.is_finite() { f32::NAN } else { low.min(y) })
        }),
    }
}

/// Whether ropes carry the polyline collider that rapier gives them by default.
#[derive(Clone, Copy, PartialEq)]
enum RopeCollider {
    Default,
    None,
}

/// Rapier's soft ropes with its default material and iterations (4 solver iterations, 1 + 3 internal ones), never
/// asleep: particles joined by springs between neighbours and second neighbours, without torsion or a bending modulus.
/// Without the collider they cost less, and neither side looks for contacts.
fn rapier_ropes(scene: Scene, collider: RopeCollider) -> Contender {
    let (world, ropes) = rope_world(scene, collider);
    let world = Rc::new(RefCell::new(world));
    let stepped = world.clone();
    Contender {
        name: if collider == RopeCollider::None { "rapier, no collider" } else { "rapier, default" },
        bar: f64::INFINITY,
        step: Box::new(move || stepped.borrow_mut().step()),
        lowest: Box::new(move || {
            let world = world.borrow();
            let places = ropes.iter().flat_map(|&rope| world.soft_bodies[rope].particle_positions());
            // Not f32::min, which drops a NaN.
            places.fold(0.0, |low: f32, p| if low.is_nan() || !p.is_finite() { f32::NAN } else { low.min(p.y) })
        }),
    }
}

fn rope_world(scene: Scene, collider: RopeCollider) -> (PhysicsWorld, Vec<SoftBodyHandle>) {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::new(0.0, -scene.gravity, 0.0);
    world.integration_parameters.dt = FRAME;
    let segment_mass = scene.density * std::f32::consts::PI * scene.radius * scene.radius * scene.segment_length;
    let mut masses = vec![segment_mass; scene.segments + 1];
    masses[0] *= 0.5;
    masses[scene.segments] *= 0.5;
    let ropes = (0..scene.count)
        .map(|rod| {
            let root = Vector::from(scene.root(rod));
            let tip = root + Vector::X * (scene.segment_length * scene.segments as f32);
            let rope = SoftBodyBuilder::rope(root, tip, scene.segments + 1)
                .masses(masses.clone())
                .particle_radius(scene.radius)
                .pinned_particles([0])
                .can_sleep(false);
            let rope = if collider == RopeCollider::None { rope.no_surface_collider() } else { rope };
            world.insert_soft_body(rope)
        })
        .collect();
    (world, ropes)
}

/// A contender with its windows' times per frame (ms).
struct Run {
    contender: Contender,
    frames_a_window: usize,
    windows: Vec<f64>,
}

impl Run {
    /// Warms up and finds how many frames fill a window.
    fn new(mut contender: Contender) -> Self {
        (0..WARM_UP_FRAMES).for_each(|_| (contender.step)());
        let begin = Instant::now();
        (0..4).for_each(|_| (contender.step)());
        let frame = begin.elapsed() / 4;
        let frames_a_window = (WINDOW.as_secs_f64() / frame.as_secs_f64().max(1e-7)).ceil().min(10_000.0) as usize;
        Self { contender, frames_a_window, windows: Vec::new() }
    }

    fn window(&mut self) {
        let begin = Instant::now();
        (0..self.frames_a_window).for_each(|_| (self.contender.step)());
        self.windows.push(begin.elapsed().as_secs_f64() * 1e3 / self.frames_a_window as f64);
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// What one solve costs a segment (ns), the clock's reading included: the least over windows.
fn solve_cost(lane_width: LaneWidth, rounds: usize) -> f64 {
    let rods = Cantilevers { rods: 400, ..Cantilevers::default() };
    let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
    physics.lane_width = lane_width;
    physics.measure_stages = true;
    physics
        .insert(rods.build().expect("the scene is sound"), &[Pose::IDENTITY], Pose::IDENTITY)
        .expect("the scene is sound");
    let solves = (rods.rods * rods.segments) as f64 * f64::from(physics.config.substeps);
    (0..4 * rounds)
        .map(|_| {
            physics.step_flesh(f64::from(FRAME)).expect("steps");
            physics.stage_times().get(Stage::SolveRods) * 1e6 / solves
        })
        .fold(f64::INFINITY, f64::min)
}

/// How a bone is off its place in a frame: by up to 0.15 m and 26° about each axis, another way every frame.
fn jerk(place: glam::DVec3, number: usize) -> Pose {
    // Steps of the golden ratio and its like, which fill the cube evenly.
    let part = |by: f64| 2.0 * (number as f64 * by).fract() - 1.0;
    let vector = |by: [f64; 3]| glam::DVec3::from_array(by.map(part));
    let turn = vector([0.618_034, 0.754_878, 0.569_840]) * 26_f64.to_radians();
    Pose::new(place + vector([0.819_173, 0.671_044, 0.549_700]) * 0.15, glam::DQuat::from_scaled_axis(turn))
}

/// What rods of 1 m, each clamped to a bone of its own, cost a segment and frame (ns): calm, and with the bones jerked every
/// frame; medians over frames.
fn cost_of_jerks(rounds: usize) -> [f64; 2] {
    const RODS: usize = 400;
    let Cantilevers { segments, radius, material, .. } = Cantilevers::default();
    let places: Vec<glam::DVec3> = (0..RODS).map(|rod| glam::DVec3::Z * (0.04 * rod as f64)).collect();
    let home: Vec<Pose> = places.iter().map(|&place| Pose::from_translation(place)).collect();
    let rod = |(bone, &place): (usize, &glam::DVec3)| {
        let mut rod = RodSpec::straight(format!("rod {bone}"), place, place + glam::DVec3::X, segments, radius);
        rod.material = material;
        rod.attach(0, bone, Holds::CLAMP)
    };
    let rods: Vec<RodSpec> = places.iter().enumerate().map(rod).collect();
    [false, true].map(|jerked| {
        let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
        let built = Arc::new(Flesh::build(&rods, &home).expect("the scene is sound"));
        let flesh = physics.insert(built, &home, Pose::IDENTITY).expect("the scene is sound");
        let mut frame = |number: usize| {
            if jerked {
                let to = |(rod, &place): (usize, &glam::DVec3)| jerk(place, number * RODS + rod);
                let to: Vec<Pose> = places.iter().enumerate().map(to).collect();
                physics.set_bones(flesh, &to, Pose::IDENTITY).expect("is there");
            }
            let begin = Instant::now();
            physics.step_flesh(f64::from(FRAME)).expect("steps");
            begin.elapsed().as_secs_f64() * 1e9 / (RODS * segments) as f64
        };
        (0..WARM_UP_FRAMES).for_each(|number| _ = frame(number));
        median((0..4 * rounds).map(|number| frame(WARM_UP_FRAMES + number)))
    })
}

/// What a frame of so many rods takes (ms) on so many threads: stages of chains run together, and one by one with all threads
/// waiting for each; the least over rounds that take turns.
fn cost_of_barriers(count: usize, threads: usize, rounds: usize) -> [f64; 2] {
    let rods = Cantilevers { rods: count, ..Cantilevers::default() };
    let flesh = rods.build().expect("the scene is sound");
    let mut sides = [true, false].map(|fused| {
        let mut physics = Physics::with_config(StepConfig { threads, ..StepConfig::default() });
        physics.insert(flesh.clone(), &[Pose::IDENTITY], Pose::IDENTITY).expect("the scene is sound");
        (physics, Walk { fused, ..Walk::default() }, f64::INFINITY)
    });
    let frames = (40_000 / count).clamp(10, 400);
    for round in 0..=rounds {
        for (physics, walk, least) in &mut sides {
            let begin = Instant::now();
            (0..frames).for_each(|_| physics.step_flesh_by(f64::from(FRAME), walk).expect("steps"));
            let each = begin.elapsed().as_secs_f64() * 1e3 / frames as f64;
            *least = if round == 0 { *least } else { least.min(each) };
        }
    }
    assert_eq!(sides[0].0.state_hash(), sides[1].0.state_hash(), "barriers change no bit");
    sides.map(|(.., least)| least)
}

/// What Sinew's frames may take over those of rapier's default: with AVX2 by default and with one substep, without AVX2
/// by default.
const BARS: [f64; 3] = [0.6, 0.25, 0.9];

/// Whether this machine has AVX2, which the best lanes then use.
fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Runs one scene and returns its lines of the table.
fn compare(scene: Scene, rounds: usize, bars: &mut Bars) -> String {
    let rapier = [RopeCollider::Default, RopeCollider::None].map(|collider| rapier_ropes(scene, collider));
    let [fast, once, slow] = BARS;
    let sinew = [
        sinew_cantilevers(scene, "sinew", if has_avx2() { fast } else { slow }, 4, LaneWidth::Eight),
        sinew_cantilevers(scene, "sinew, SSE2", slow, 4, LaneWidth::EightBaseline),
        sinew_cantilevers(scene, "sinew, 1 substep", if has_avx2() { once } else { slow }, 1, LaneWidth::Eight),
    ];
    let mut runs: Vec<Run> = rapier.into_iter().chain(sinew).map(Run::new).collect();
    for round in 0..rounds {
        // Everyone takes every place in the order, so that no one always follows the same neighbour's heat.
        for turn in 0..runs.len() {
            let run = (turn + round) % runs.len();
            runs[run].window();
        }
    }
    let segments = scene.count * scene.segments;
    let mut lines = String::new();
    for run in &runs {
        let lowest = (run.contender.lowest)();
        assert!(lowest < -0.05, "{}: the lowest node is at {lowest} m, nothing fell", run.contender.name);
        let least = run.windows.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = median(run.windows.iter().copied());
        let ratio = |to: usize| median(run.windows.iter().zip(&runs[to].windows).map(|(own, other)| own / other));
        let (to_default, to_bare) = (ratio(0), ratio(1));
        let Contender { name, bar, .. } = run.contender;
        let allowed = if bar.is_finite() { bar.to_string() } else { String::new() };
        bars.at_most(format!("{name}, {segments} segments, over rapier's default"), to_default, bar);
        let nanoseconds = least * 1e6 / segments as f64;
        writeln!(
            lines,
            "{segments:>8} | {name:<19} | {least:>8.3} | {middle:>9.3} | {nanoseconds:>10.0} | {to_default:>9.3} | {allowed:>4} | {to_bare:>10.3} | {lowest:>8.3}"
        )
        .expect("writing to a String");
    }
    lines
}

fn main() {
    let (rounds, counts) = arguments::count_and_counts("--rounds", 15, "rods", &[50, 200, 1000]);
    let avx2 = if cfg!(target_feature = "avx2") { "with" } else { "without" };
    println!("built {avx2} AVX2 throughout; {rounds} rounds of windows of {} ms", WINDOW.as_millis());
    println!(
        "segments | contender           |   min ms | median ms | ns/segment | / default |  bar | / no coll. | lowest m"
    );
    let mut bars = Bars::default();
    for &count in &counts {
        print!("{}", compare(Scene::new(count), rounds, &mut bars));
    }
    println!("\nsolve_rods alone, least of {rounds} windows:");
    for (name, lane_width) in
        [("best instructions", LaneWidth::Eight), ("baseline", LaneWidth::EightBaseline), ("one lane", LaneWidth::One)]
    {
        println!("{name:<18} {:6.1} ns a segment and solve", solve_cost(lane_width, rounds));
    }
    let [calm, jerked] = cost_of_jerks(rounds);
    println!(
        "\nstepping alone: {calm:.1} ns a segment and frame; {jerked:.1}, {:.2} times as much, where bones jump by up to 0.15 \
         lengths and 26° about each axis every frame",
        jerked / calm
    );
    println!("\nms a frame, stages of chains together and one by one, each after all of the one before:");
    for (count, threads) in [(50, 1), (50, 2), (1000, 1), (1000, 2)] {
        let [together, apart] = cost_of_barriers(count, threads, rounds);
        let ratio = apart / together;
        println!("{count:>5} rods, {threads} threads   {together:.3}   {apart:.3}, {ratio:.2} times as much");
    }
    bars.end();
}
