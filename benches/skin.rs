//! Skin of 10 000 vertices, each with four joints and eight cross-sections: what posing sections and deforming vertices
//! cost on one core.
//!
//! A harness of its own, as in `cantilevers`: the figures are the least and the median over frames.
//!
//! ```text
//! cargo bench --no-default-features --bench skin -- [--frames N]
//! ```

use std::sync::Arc;

use glam::DVec3;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::step::{Stage, StepConfig};
use sinew::{Physics, Pose, SectionWeight, Skin, SkinSection, SkinVertex};

const VERTICES: u32 = 10_000;
const JOINTS: u32 = 60;
/// What deforming may take on one core at the instructions that every x86-64 machine has (ms).
const BAR: f64 = 0.5;

/// 20 rods of 8 sections, as long as a limb, side by side, each clamped to the one bone at both ends.
fn rods() -> Vec<RodSpec> {
    let rod = |index: u32| {
        let from = DVec3::new(0.0, 0.0, 0.1 * f64::from(index));
        RodSpec::straight(format!("rod {index}"), from, from + DVec3::X * 0.4, 7, 0.03)
            .attach(0, 0, Holds::CLAMP)
            .attach(7, 0, Holds::CLAMP)
    };
    (0..20).map(rod).collect()
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

/// Times of each frame (ms): posing sections, deforming vertices.
fn measure(with_sections: bool, frames: usize) -> Vec<[f64; 2]> {
    let flesh = Arc::new(Flesh::build(&rods(), &[Pose::IDENTITY]).expect("the rods are sound"));
    let skin = Arc::new(skin(&flesh, with_sections));
    let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
    physics.measure_stages = true;
    let handle = physics
        .insert_with_skin(flesh, skin, &[Pose::IDENTITY], Pose::IDENTITY)
        .expect("the skin names what is there");
    let times = (0..frames)
        .map(|_| {
            physics.step_flesh(1.0 / 60.0).expect("steps");
            let times = physics.stage_times();
            [times.get(Stage::PoseSections), times.get(Stage::DeformSkin)]
        })
        .collect();
    let vertices = physics.vertices(handle).expect("is there");
    assert!(vertices.positions.iter().chain(&vertices.normals).all(|v| v.is_finite()));
    times
}

fn main() {
    let mut frames = 400;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Said by `cargo bench`.
            "--bench" => (),
            "--frames" => match arguments.next().and_then(|n| n.parse().ok()) {
                Some(n) if n > 0 => frames = n,
                _ => return eprintln!("--frames needs a number above 0"),
            },
            other => return eprintln!("{other}: only --frames N"),
        }
    }
    println!("{VERTICES} vertices, 4 joints each, one core; ms, least and median of {frames} frames");
    for (name, with_sections) in [("8 sections each", true), ("no sections", false)] {
        let times = measure(with_sections, frames);
        let figures = [0, 1].map(|stage| {
            let mut sorted: Vec<f64> = times.iter().map(|times| times[stage]).collect();
            sorted.sort_by(f64::total_cmp);
            (sorted[0], sorted[sorted.len() / 2])
        });
        let [(pose, pose_median), (deform, deform_median)] = figures;
        println!(
            "{name:<16} pose_sections {pose:.3} {pose_median:.3}   deform_skin {deform:.3} {deform_median:.3}   (bar {BAR})"
        );
    }
}
