//! Deforming skin on the CPU: ns a vertex of stage `deform_skin`, places and normals.
//!
//! Skin is that of a body of limbs, each around a chain of joints and cross-sections: a vertex follows the four joints and the
//! eight cross-sections nearest to it, as fitted skin does. `scattered` is the worst that a file can hold: no vertex follows
//! what its neighbour does; it has no bars. Beside it: the same vertex by vertex, as a loop over vertices does it, and only
//! reading and writing as many bytes.
//!
//! ```text
//! cargo bench --no-default-features --features parallel --bench skin -- [VERTICES]… [--frames N] [--check]
//! ```
//!
//! Of each figure the median of N frames (default 200) is printed; bars are for it, two cores have one for 300 000 vertices. With
//! `--check` a missed bar ends it with 1.

mod arguments;
mod bars;
#[path = "baselines/vertex_by_vertex.rs"]
mod vertex_by_vertex;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bars::Bars;
use glam::{Affine3A, DVec3, Quat, Vec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::{Stage, StepConfig};
use sinew::{
    Active, LaneWidth, PaletteMatrix, Physics, Pose, SectionMatrix, SectionWeight, Skin, SkinSection, SkinVertex,
    SkinnedVertices, palette_matrix,
};

const LIMBS: u32 = 16;
const JOINTS_A_LIMB: u32 = 4;
const SECTIONS_A_LIMB: u32 = 16;
const FRAME: f64 = 1.0 / 60.0;
/// ns a vertex on one core: must, and aim.
const BARS: [(usize, f64, f64); 2] = [(0, 6.0, 4.0), (8, 15.0, 10.0)];
/// How many times as much it may be with tangents.
const TANGENTS: f64 = 1.2;
/// How many times as fast two cores are, of as many vertices.
const TWO_CORES: (usize, f64) = (300_000, 1.8);

fn flesh() -> Flesh {
    let limb = |limb: u32| {
        let from = DVec3::new(0.0, f64::from(limb), 0.0);
        RodSpec::straight("limb", from, from + DVec3::X, SECTIONS_A_LIMB as usize - 1, 0.1)
    };
    Flesh::build(&(0..LIMBS).map(limb).collect::<Vec<_>>(), &[]).expect("rods are sound")
}

/// The nearest of some that are evenly spaced along a limb (0 to 1), with weights that fade with the distance.
fn nearest<const N: usize>(along: f32, count: u32) -> [(u32, f32); N] {
    let at = along * (count - 1) as f32;
    let first = (at - 0.5 * (N - 1) as f32).ceil().clamp(0.0, (count - N as u32) as f32) as u32;
    let mut of = [(0, 0.0); N];
    for (k, entry) in of.iter_mut().enumerate() {
        let index = first + k as u32;
        *entry = (index, 1.0 / (0.2 + (at - index as f32).powi(2)));
    }
    let sum: f32 = of.iter().map(|entry| entry.1).sum();
    of.map(|(index, weight)| (index, weight / sum))
}

fn scatter(seed: u32) -> u32 {
    let mut x = seed.wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^ x >> 13
}

/// Rings of vertices around limbs.
fn skin(flesh: &Flesh, count: usize, sections: usize, scattered: bool, tangents: bool) -> Skin {
    let (joints, all) = (LIMBS * JOINTS_A_LIMB, LIMBS * SECTIONS_A_LIMB);
    let mut skin = Skin { sections: SkinSection::all(flesh), palette_len: joints as usize, ..Skin::default() };
    assert_eq!(skin.sections.len(), all as usize);
    let a_limb = count.div_ceil(LIMBS as usize);
    let around = (a_limb as f32).sqrt().max(8.0);
    for index in 0..count {
        let (limb, own) = ((index / a_limb) as u32, index % a_limb);
        let along = own as f32 / a_limb as f32;
        let angle = std::f32::consts::TAU * own as f32 / around;
        let normal = [0.0, angle.sin(), angle.cos()];
        let position = [along, limb as f32 + 0.1 * normal[1], 0.1 * normal[2]];
        let pulls: [(u32, f32); 4] = nearest(along, JOINTS_A_LIMB);
        let pulls = pulls.map(|(joint, weight)| {
            let own = limb * JOINTS_A_LIMB + joint;
            (if scattered { scatter(own + 977 * index as u32) % joints } else { own }, weight)
        });
        skin.vertices.push(SkinVertex {
            position,
            first_section: skin.weights.len() as u32,
            normal,
            section_count: sections as u32,
            rest_position: position,
            rest_normal: normal,
            tangent: if tangents { [1.0, 0.0, 0.0, 1.0] } else { [0.0; 4] },
            rest_tangent: if tangents { [1.0, 0.0, 0.0] } else { [0.0; 3] },
            joints: [pulls[0].0 | pulls[1].0 << 16, pulls[2].0 | pulls[3].0 << 16, 0, 0],
            weights: [pulls[0].1, pulls[1].1, pulls[2].1, pulls[3].1, 0.0, 0.0, 0.0, 0.0],
            ..SkinVertex::default()
        });
        if sections > 0 {
            let pairs: [(u32, f32); 8] = nearest(along, SECTIONS_A_LIMB);
            skin.weights.extend(pairs.map(|(section, weight)| {
                let own = limb * SECTIONS_A_LIMB + section;
                let section = if scattered { scatter(own + 131 * index as u32) % all } else { own };
                SectionWeight { section, weight }
            }));
        }
    }
    skin
}

/// Joints that swing, a little scaled, each frame otherwise.
fn palette(count: usize, frame: usize) -> Vec<PaletteMatrix> {
    let matrix = |joint: usize| {
        let phase = joint as f32 + 0.1 * frame as f32;
        let turn = Quat::from_rotation_z(0.2 * phase.sin()) * Quat::from_rotation_x(0.3 * phase.cos());
        let scale = Vec3::new(1.0, 1.1, 0.95);
        palette_matrix(&Affine3A::from_scale_rotation_translation(scale, turn, Vec3::new(0.01 * phase.sin(), 0.0, 0.0)))
    };
    (0..count).map(matrix).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// ns a vertex of the stage, as a game steps it.
fn stage(flesh: &Arc<Flesh>, skin: &Arc<Skin>, width: LaneWidth, threads: usize, frames: usize) -> f64 {
    let mut physics = Physics::with_config(StepConfig { threads, ..StepConfig::default() });
    (physics.measure_stages, physics.lane_width) = (true, width);
    let handle = physics.insert_with_skin(flesh.clone(), skin.clone(), &[], Pose::IDENTITY).expect("is sound");
    physics.set_active(handle, Active { flesh: false, skin: true }).expect("is there");
    let times = (0..frames).map(|frame| {
        physics.set_palette(handle, palette(skin.palette_len, frame).into_iter()).expect("as many");
        physics.step_flesh(FRAME).expect("steps");
        1.0e6 * physics.stage_times().get(Stage::DeformSkin) / skin.vertices.len() as f64
    });
    let time = median(times.collect());
    let vertices = physics.vertices(handle).expect("is there");
    assert!(vertices.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1.0e-5));
    time
}

/// ns a vertex of the same vertex by vertex, on one core.
fn baseline(skin: &Skin, frames: usize) -> f64 {
    let mut out = SkinnedVertices::default();
    let sections = vec![SectionMatrix::default(); skin.sections.len()];
    let times = (0..frames).map(|frame| {
        let palette = palette(skin.palette_len, frame);
        let start = Instant::now();
        vertex_by_vertex::deform(skin, &palette, &sections, &mut out);
        1.0e9 * start.elapsed().as_secs_f64() / skin.vertices.len() as f64
    });
    median(times.collect())
}

/// ns a vertex for reading places, normals, and four weights and indices, and writing places and normals.
fn bytes_alone(count: usize, frames: usize) -> f64 {
    let (from, mut to) = (vec![1.0_f32; 11 * count], vec![0.0_f32; 6 * count]);
    let times = (0..frames).map(|_| {
        let start = Instant::now();
        for (to, from) in to.chunks_exact_mut(48).zip(from.chunks_exact(88)) {
            for (k, to) in to.iter_mut().enumerate() {
                *to = from[k] + from[(k + 40) % 88];
            }
        }
        black_box(&mut to);
        1.0e9 * start.elapsed().as_secs_f64() / count as f64
    });
    median(times.collect())
}

fn main() {
    let (frames, counts) = arguments::count_and_counts("--frames", 200, "vertices", &[10_000, 300_000]);
    let flesh = Arc::new(flesh());
    let mut bars = Bars::default();
    println!("ns a vertex, places and normals, median of {frames} frames");
    println!(
        "vertices joints sections              one core  tangents     SSE2  two cores (times)  vertex by vertex  bytes"
    );
    for &count in &counts {
        let bytes = bytes_alone(count, frames);
        for (sections, must, aim) in BARS {
            for scattered in [false, true] {
                let skin = Arc::new(skin(&flesh, count, sections, scattered, false));
                let with_tangents = Arc::new(self::skin(&flesh, count, sections, scattered, true));
                let of = |skin, width, threads| stage(&flesh, skin, width, threads, frames);
                let one = of(&skin, LaneWidth::Eight, 1);
                let tangents = of(&with_tangents, LaneWidth::Eight, 1);
                let [baseline_lanes, two] = [of(&skin, LaneWidth::EightBaseline, 1), of(&skin, LaneWidth::Eight, 2)];
                let before = baseline(&skin, frames);
                let kind = if scattered { "scattered" } else { "" };
                println!(
                    "{count:>8} {:>6} {sections:>8} {kind:<12}{one:>8.2} {tangents:>9.2} {baseline_lanes:>9.2} {two:>10.2} ({:>5.2}) \
                     {before:>17.2} {bytes:>6.2}   bar {must}, aim {aim}",
                    4,
                    one / two
                );
                if scattered {
                    continue;
                }
                bars.at_most(format!("{count} vertices, {sections} sections (ns)"), one, must);
                bars.at_most(format!("{count} vertices, {sections} sections, tangents (ns)"), tangents, TANGENTS * one);
                if count == TWO_CORES.0 {
                    bars.at_least(format!("{count} vertices, {sections} sections: two cores"), one / two, TWO_CORES.1);
                }
            }
        }
    }
    bars.end();
}
