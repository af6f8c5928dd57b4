//! What stepping takes of the host's memory. Mesa's software driver was seen to compile kernels again in each frame, of which it gives
//! nothing back: some 180 MB a second.
#![cfg(all(feature = "gpu", target_os = "linux"))]

mod common;

use sinew::scenes::SceneParameters;

/// Frames until all that a scene asks for is there, and after that.
const BEGINS: usize = 20;
const FRAMES: usize = 60;
/// By how much memory may grow after the beginning (MB).
const MOST_GROWN: f64 = 100.0;

/// What the process has in memory (MB).
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("is there");
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).expect("is a number") / 1024.0
}

/// Trees and lone chains that land on each other: kernels of both kinds, and of what may fall asleep, run in every frame.
#[test]
fn memory_does_not_grow_frame_by_frame() {
    let Some(mut physics) = common::gpu_physics() else { return };
    physics.config = SceneParameters::of("octopuses").unwrap().build("octopuses").unwrap().config;
    for (name, count) in [("octopuses", 2), ("logs", 2)] {
        let parameters = SceneParameters { rods: count, layers: 2, ..SceneParameters::of(name).unwrap() };
        let scene = parameters.build(name).unwrap();
        scene.insert(&mut physics).unwrap();
    }
    physics.config.sleep_after = 0.3;
    let mut step = |frames: usize| {
        (0..frames).for_each(|_| physics.step_flesh(common::FRAME).unwrap());
        physics.finish().unwrap();
    };
    step(BEGINS);
    let before = resident();
    step(FRAMES);
    let grown = resident() - before;
    assert!(physics.pair_report().is_some_and(|report| report.rows > 0), "nothing touches");
    println!("{before:.0} MB after {BEGINS} frames; {grown:.1} more after {FRAMES} others (bar {MOST_GROWN})");
    assert!(grown <= MOST_GROWN);
}
