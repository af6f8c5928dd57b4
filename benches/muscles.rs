//! A character's muscles on one core: 20 muscles of 8 fibres and 8 cross-sections, active, on bones that move, with skin
//! of 10 000 vertices of four joints and eight cross-sections each.
//!
//! Besides what viperizing a scanned biceps takes, where the scan lies beside the repository.
//!
//! A harness of its own, as in `cantilevers`: the figures are the least and the median over frames. With `--check` a
//! missed bar ends it with 1.
//!
//! ```text
//! cargo bench --no-default-features --features viperize --bench muscles -- [--frames N] [--check]
//! ```

mod arguments;
mod bars;

use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use std::time::Instant;

use bars::Bars;
use glam::{DQuat, DVec3};
use sinew::flesh::{Bundle, Contraction, Disc, Flesh, Holds, RodSpec};
use sinew::step::{Stage, StepConfig};
use sinew::{Physics, Pose, SectionWeight, Skin, SkinSection, SkinVertex};

const MUSCLES: usize = 20;
const FIBRES: usize = 8;
const SECTIONS: usize = 8;
const VERTICES: u32 = 10_000;
const JOINTS: u32 = 60;
/// A frame of the game (s).
const FRAME: f64 = 1.0 / 60.0;
/// What a frame, its solve and its skin may take on one core (ms).
const BARS: [f64; 3] = [0.8, 0.25, 0.5];

/// Spindles as long as a limb, side by side, each from one bone to another.
fn muscles() -> Vec<RodSpec> {
    let muscle = |index: usize| {
        let fibre = |k: usize| {
            let around = k as f64 * TAU / (FIBRES - 1) as f64;
            let disc = |j: usize| {
                let along = j as f64 / (SECTIONS - 1) as f64;
                let belly = 0.4 + 0.6 * (PI * along).sin();
                let out = if k == 0 { 0.0 } else { 0.02 * belly };
                let place = DVec3::new(0.4 * along, out * around.cos(), 0.1 * index as f64 + out * around.sin());
                Disc { place, radius: 0.01 * belly }
            };
            (0..SECTIONS).map(disc).collect()
        };
        let bundle = Bundle { fibres: (0..FIBRES).map(fibre).collect() };
        let mut rod = RodSpec::from_bundle(format!("muscle {index}"), &bundle).expect("fibres of one length");
        rod.contraction =
            Contraction { optimal_stretch: Some(1.0), max_velocity: Some(10.0), ..Contraction::default() };
        rod.attach(0, 0, Holds::CLAMP).attach(SECTIONS - 1, 1, Holds::CLAMP)
    };
    (0..MUSCLES).map(muscle).collect()
}

/// The second bone swings about the first's end.
fn bones(time: f64) -> [Pose; 2] {
    [Pose::IDENTITY, Pose::new(DVec3::ZERO, DQuat::from_rotation_z(0.2 * (4.0 * time).sin()))]
}

/// Vertices in the order of the rods they lie around, as a mesh has them, that follow joints and sections nearby.
fn skin(flesh: &Flesh, with_sections: bool) -> Skin {
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: JOINTS as usize, ..Skin::default() };
    let sections = skin.sections.len() as u32;
    for index in 0..VERTICES {
        let joint = index * (JOINTS - 4) / VERTICES;
        let first = index * (sections - 8) / VERTICES;
        let angle = index as f32;
        let position = [0.4 * (angle * 0.37).fract(), 0.03 * angle.sin(), 0.03 * angle.cos()];
        let normal = [0.0, angle.sin(), angle.cos()];
        skin.vertices.push(SkinVertex {
            position,
            first_section: skin.weights.len() as u32,
            normal,
            section_count: if with_sections { 8 } else { 0 },
            rest_position: position,
            rest_normal: normal,
            joints: [joint | (joint + 1) << 16, (joint + 2) | (joint + 3) << 16, 0, 0],
            weights: [0.4, 0.3, 0.2, 0.1, 0.0, 0.0, 0.0, 0.0],
            ..SkinVertex::default()
        });
        if with_sections {
            skin.weights.extend((0..8).map(|k| SectionWeight { section: first + k, weight: 0.125 }));
        }
    }
    skin
}

/// Times of each frame (ms): all of it, solving, and the skin (posing sections and deforming vertices).
fn measure(with_sections: bool, frames: usize) -> Vec<[f64; 3]> {
    let flesh = Arc::new(Flesh::build(&muscles(), &bones(0.0)).expect("the muscles are sound"));
    let skin = Arc::new(skin(&flesh, with_sections));
    let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
    physics.measure_stages = true;
    let handle =
        physics.insert_with_skin(flesh, skin, &bones(0.0), Pose::IDENTITY).expect("the skin names what is there");
    for muscle in 0..MUSCLES {
        physics.set_activation(handle, muscle, 0.5).expect("is there");
    }
    let times = (1..=frames)
        .map(|frame| {
            physics.set_bones(handle, &bones(FRAME * frame as f64), Pose::IDENTITY).expect("two bones");
            let start = Instant::now();
            physics.step_flesh(FRAME).expect("steps");
            let whole = 1.0e3 * start.elapsed().as_secs_f64();
            let times = physics.stage_times();
            [whole, times.get(Stage::SolveRods), times.get(Stage::PoseSections) + times.get(Stage::DeformSkin)]
        })
        .collect();
    assert_eq!(physics.health(handle).expect("is there").resets, 0);
    let vertices = physics.vertices(handle).expect("is there");
    assert!(vertices.positions.iter().chain(&vertices.normals).all(|v| v.is_finite()));
    times
}

/// What viperizing may take (s), at 8 fibres and 8 sections.
const VIPERIZE_BAR: f64 = 3.0;

/// Time (s) to viperize a mesh of a biceps, 3840 triangles; `None` where it is not there.
#[cfg(feature = "viperize")]
fn viperize_scan() -> Option<f64> {
    use sinew::character::viperize::{Ends, ViperizeOptions, read_stl, viperize};
    let path = "../shared/data/anatomy/muscle_mesh/opendihu/biceps_full.stl";
    let bytes = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()?;
    let mesh = read_stl(&bytes, 0.001).expect("it is STL");
    let start = Instant::now();
    viperize(&mesh, &Ends::Auto, &ViperizeOptions::default(), &mut |_| ()).expect("it is a muscle");
    Some(start.elapsed().as_secs_f64())
}

#[cfg(not(feature = "viperize"))]
fn viperize_scan() -> Option<f64> {
    None
}

fn main() {
    let frames = arguments::count("--frames", 400);
    println!(
        "{MUSCLES} muscles of {FIBRES} fibres and {SECTIONS} sections, {VERTICES} vertices of 4 joints, one core;"
    );
    println!("ms a frame, least and median of {frames} frames");
    let mut bars = Bars::default();
    for (name, with_sections) in [("8 sections each", true), ("no sections", false)] {
        let times = measure(with_sections, frames);
        print!("{name:<16}");
        for (what, part) in ["frame", "solve", "skin"].into_iter().zip(0..) {
            let mut sorted: Vec<f64> = times.iter().map(|times| times[part]).collect();
            sorted.sort_by(f64::total_cmp);
            let middle = sorted[sorted.len() / 2];
            print!("   {what} {:.3} {middle:.3} (bar {})", sorted[0], BARS[part]);
            bars.at_most(format!("{name}: {what} (ms)"), middle, BARS[part]);
        }
        println!();
    }
    match viperize_scan() {
        Some(time) => {
            println!("viperize a scan    {time:.2} s (bar {VIPERIZE_BAR})");
            bars.at_most("viperize a scan (s)", time, VIPERIZE_BAR);
        }
        None => println!("viperize a scan    skipped: no scan in ../shared/data, or no feature viperize"),
    }
    bars.end();
}
