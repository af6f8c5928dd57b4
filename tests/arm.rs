//! Scene `arm` against what arm26 publishes and what follows from it.

mod common;
mod reference;

use common::FRAME;
use glam::DVec3;
use reference::StretchModuli;
use sinew::layout::rest;
use sinew::scenes::arm::{
    Bone, ELBOW, ELBOW_AXIS, ELBOW_RANGE, MUSCLES, Muscle, PASSIVE_STRAIN, REST_FLEXION, SHOULDER, bones,
};
use sinew::scenes::{Scene, SceneParameters};
use sinew::{FleshHandle, Physics, Pose};

/// Frames of the whole scene: 10 s.
const FRAMES: u32 = 600;

fn scene(substeps: u32) -> Scene {
    let mut parameters = SceneParameters::of("arm").unwrap();
    parameters.config.substeps = substeps;
    parameters.build("arm").unwrap()
}

/// A place (m) of arm26 in the torso's frame at a flexion (rad), by Rodrigues' formula.
fn place((bone, p): (Bone, DVec3), flexion: f64) -> DVec3 {
    match bone {
        Bone::Torso => p,
        Bone::Humerus => SHOULDER + p,
        Bone::Forearm => {
            let axis = ELBOW_AXIS.normalize();
            let turned =
                p * flexion.cos() + axis.cross(p) * flexion.sin() + axis * (axis.dot(p) * (1.0 - flexion.cos()));
            SHOULDER + ELBOW + turned
        }
    }
}

fn path_length(muscle: &Muscle, flexion: f64) -> f64 {
    muscle.points.windows(2).map(|pair| place(pair[0], flexion).distance(place(pair[1], flexion))).sum()
}

/// What is between the first `<tag>` or `<tag ` and `</tag>` in a text, and what comes after.
fn element<'a>(text: &'a str, tag: &str) -> Option<(&'a str, &'a str)> {
    let start = text.find(&format!("<{tag}>"))? + tag.len() + 2;
    let end = start + text[start..].find(&format!("</{tag}>"))?;
    Some((&text[start..end], &text[end..]))
}

fn numbers(text: &str, tag: &str) -> Vec<f64> {
    let (inner, _) = element(text, tag).unwrap_or_else(|| panic!("arm26.osim has no <{tag}> there"));
    inner.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

#[test]
fn the_table_is_arm26_s() {
    const NAMES: [&str; 6] = ["BIClong", "BICshort", "BRA", "TRIlong", "TRIlat", "TRImed"];
    let Some(folder) = common::data("anatomy/osim") else { return };
    let model = std::fs::read_to_string(folder.join("arm26.osim")).expect("readable");
    let after = |text: &str| {
        let start = model.find(text).unwrap_or_else(|| panic!("arm26.osim has no {text}"));
        &model[start..]
    };
    let mut off = 0.0_f64;
    let mut compare = |found: &[f64], published: &[f64]| {
        assert_eq!(found.len(), published.len());
        off = found.iter().zip(published).map(|(a, b)| (a - b).abs()).fold(off, f64::max);
    };
    for (muscle, name) in MUSCLES.iter().zip(NAMES) {
        let text = after(&format!("<Thelen2003Muscle name=\"{name}\">"));
        let text = &text[..text.find("</Thelen2003Muscle>").expect("it ends")];
        let mut points = Vec::new();
        let mut left = text;
        while let Some(start) = left.find("<PathPoint name=") {
            let (frame, next) = element(&left[start..], "socket_parent_frame").expect("a point has a frame");
            let bone = match frame {
                "/bodyset/base" => Bone::Torso,
                "/bodyset/r_humerus" => Bone::Humerus,
                "/bodyset/r_ulna_radius_hand" => Bone::Forearm,
                other => panic!("no bone for {other}"),
            };
            points.push((bone, DVec3::from_slice(&numbers(next, "location"))));
            left = next;
        }
        assert_eq!(points.len(), muscle.points.len(), "{name}");
        for (found, published) in muscle.points.iter().zip(&points) {
            assert_eq!(found.0, published.0, "{name}");
            compare(&found.1.to_array(), &published.1.to_array());
        }
        compare(&[muscle.peak_force], &numbers(text, "max_isometric_force"));
        compare(&[muscle.optimal_fibre_length], &numbers(text, "optimal_fiber_length"));
        compare(&[muscle.tendon_slack_length], &numbers(text, "tendon_slack_length"));
        compare(&[PASSIVE_STRAIN], &numbers(text, "FmaxMuscleStrain"));
    }
    let elbow = after("<CustomJoint name=\"r_elbow\">");
    let parent = &elbow[elbow.find("<PhysicalOffsetFrame name=\"r_humerus_offset\">").expect("its frame")..];
    compare(&ELBOW.to_array(), &numbers(parent, "translation"));
    compare(&ELBOW_AXIS.to_array(), &numbers(elbow, "axis"));
    compare(&[0.0, ELBOW_RANGE], &numbers(elbow, "range"));
    let shoulder = after("<CustomJoint name=\"r_shoulder\">");
    compare(&SHOULDER.to_array(), &numbers(shoulder, "translation"));
    println!("the table differs from arm26.osim by {off:.1e} at most (bar 1e-8)");
    assert!(off <= 1.0e-8);
}

#[test]
fn muscles_rest_on_the_published_points_and_have_moment_arms_of_the_right_sign() {
    let scene = scene(4);
    for (muscle, chain) in MUSCLES.iter().zip(scene.flesh.chains()) {
        let length: f64 = chain.rest.windows(2).map(|pair| pair[0].translation.distance(pair[1].translation)).sum();
        let published = path_length(muscle, REST_FLEXION);
        let lengths: Vec<f64> =
            (0..=8).map(|i| path_length(muscle, (20.0 + 13.75 * f64::from(i)).to_radians())).collect();
        let step = 1.0e-5;
        let right = std::f64::consts::FRAC_PI_2;
        let moment_arm = (path_length(muscle, right - step) - path_length(muscle, right + step)) / (2.0 * step);
        println!(
            "{}: {:.3} mm at rest, {:.1e} m off the points (bar 1e-6); moment arm at 90°: {:.1} mm of flexion",
            chain.name,
            1e3 * length,
            (length - published).abs(),
            1e3 * moment_arm
        );
        assert_eq!(chain.name, muscle.name);
        assert!(
            (length - published).abs() <= 1.0e-6 && (muscle.path_length(REST_FLEXION) - published).abs() <= 1.0e-12
        );
        let flexes = !muscle.name.starts_with("triceps");
        assert_eq!(muscle.is_flexor(), flexes);
        assert_eq!(moment_arm > 0.0, flexes);
        assert!(lengths.windows(2).all(|pair| (pair[1] < pair[0]) == flexes), "{lengths:?}");
    }
}

/// The scene at a flexion (rad), every muscle fully excited, after everything has come to rest.
fn held(flexion: f64, substeps: u32) -> (Scene, Physics, FleshHandle) {
    let scene = scene(substeps);
    let mut physics = Physics::with_config(scene.config);
    let handle = scene.insert(&mut physics).unwrap();
    let frames = |seconds: f64| (seconds / FRAME).round() as u32;
    let (moving, all) = (frames(1.0), frames(3.0));
    for frame in 1..=all {
        let share = (f64::from(frame) / f64::from(moving)).min(1.0);
        let poses = bones(REST_FLEXION + (flexion - REST_FLEXION) * share * share * (3.0 - 2.0 * share));
        physics.set_bones(handle, &poses, Pose::IDENTITY).unwrap();
        for chain in 0..MUSCLES.len() {
            physics.set_activation(handle, chain, if frame > moving { 1.0 } else { 0.05 }).unwrap();
        }
        physics.step_flesh(FRAME).unwrap();
    }
    (scene, physics, handle)
}

/// A segment of a belly.
struct BellySegment {
    stretch: f64,
    /// Cross-section at rest (m²).
    area: f64,
    /// What of the fibres' tension goes along the muscle: in a belly that swells they run askew.
    along: f64,
}

fn belly(scene: &Scene, physics: &Physics, handle: FleshHandle, chain: usize) -> Vec<BellySegment> {
    let info = &scene.flesh.chains()[chain];
    let place = |j: usize| physics.node(handle, chain, j).unwrap().place;
    let segment = |j: usize| {
        let rest_length = info.rest[j].translation.distance(info.rest[j + 1].translation);
        let (mut tension, mut along) = (0.0, 0.0);
        for fibre in &info.fibres {
            let area = 0.5 * (fibre[j].area() + fibre[j + 1].area());
            let path = DVec3::Z + (fibre[j + 1].offset - fibre[j].offset) / rest_length;
            tension += area * path.length();
            along += area * path.normalize().z;
        }
        BellySegment {
            stretch: place(j).distance(place(j + 1)) / rest_length,
            area: 0.5 * (info.sections[j].area + info.sections[j + 1].area),
            along: along / tension,
        }
    };
    let row = |j: usize| &scene.flesh.groups()[info.group].row(j)[rest::ACTIVE];
    (0..info.node_count() - 1).filter(|&j| row(j)[info.lane] > 0.0).map(segment).collect()
}

/// Tension (N) of a fully active muscle with this belly: f_a and f_p of peak force, and what the material bears.
fn expected_tension(muscle: &Muscle, belly: &[BellySegment]) -> f64 {
    let optimal = muscle.optimal_fibre_length / (path_length(muscle, REST_FLEXION) - muscle.tendon_slack_length);
    let passive = 1.0 / ((1.6 * optimal - 1.0).exp() - 1.0);
    let material = SceneParameters::of("arm").unwrap().material;
    let moduli = StretchModuli::of(&reference::Material {
        youngs_modulus: material.youngs_modulus,
        poissons_ratio: material.poissons_ratio,
        density: material.density,
    });
    let of = |&BellySegment { stretch, area, along }: &BellySegment| {
        let x = stretch / optimal;
        let active = x * (2.0 - x);
        let stretched = passive * ((stretch - 1.0).max(0.0).exp() - 1.0);
        muscle.peak_force * along * (active + stretched) + area * moduli.stress_at(stretch).unwrap_or(0.0)
    };
    belly.iter().map(of).sum::<f64>() / belly.len() as f64
}

#[test]
fn isometric_tension_on_the_insertion_follows_force_and_length() {
    const BAR: f64 = 0.02;
    let mut failed = Vec::new();
    for substeps in [4, 32] {
        for degrees in [0.0_f64, 30.0, 60.0, 90.0, 120.0] {
            let (scene, physics, handle) = held(degrees.to_radians(), substeps);
            let resets = physics.health(handle).unwrap().resets;
            for (chain, muscle) in MUSCLES.iter().enumerate() {
                let belly = belly(&scene, &physics, handle, chain);
                let stretch = belly.iter().map(|segment| segment.stretch).sum::<f64>() / belly.len() as f64;
                let state = physics.muscle(handle, chain).unwrap();
                let (found, expected) = (state.insertion_force.length(), expected_tension(muscle, &belly));
                let error = found / expected - 1.0;
                // The path may take short cuts beside a via point.
                let path = state.length / path_length(muscle, degrees.to_radians()) - 1.0;
                println!(
                    "{substeps} substeps, {degrees}°, {}: belly {stretch:.3} of rest, {found:.4e} N of {expected:.4e} N, \
                     {:+.2} % (bar {:.0} %); path {:+.2} % (bar 1 %); {resets} resets",
                    muscle.name,
                    100.0 * error,
                    100.0 * BAR,
                    100.0 * path
                );
                if !(error.abs() <= BAR && path.abs() <= 0.01 && resets == 0) {
                    failed.push(format!("{substeps} substeps, {degrees}°, {}", muscle.name));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Steps the whole scene, and how often it was reset: what is not finite is. `each` sees every frame's end.
fn whole_scene(mut physics: Physics, substeps: u32, mut each: impl FnMut(&Scene, &Physics, FleshHandle, u32)) -> u32 {
    let scene = scene(substeps);
    physics.config = scene.config;
    let handle = scene.insert(&mut physics).unwrap();
    for frame in 1..=FRAMES {
        scene.drive(&mut physics, handle, f64::from(frame) * FRAME).unwrap();
        physics.step_flesh(FRAME).unwrap();
        physics.finish().unwrap();
        each(&scene, &physics, handle, frame);
    }
    physics.health(handle).unwrap().resets
}

#[cfg(feature = "gpu")]
fn places(scene: &Scene, physics: &Physics, handle: FleshHandle) -> Vec<DVec3> {
    let chains = scene.flesh.chains().iter().enumerate();
    chains
        .flat_map(|(c, chain)| (0..chain.node_count()).map(move |j| (c, j)))
        .map(|(c, j)| physics.node(handle, c, j).unwrap().place)
        .collect()
}

#[test]
fn every_muscle_keeps_its_volume_through_the_whole_scene() {
    let mut failed = false;
    for substeps in [4, 32] {
        let mut worst = [(0.0_f64, 0); MUSCLES.len()];
        let resets = whole_scene(Physics::default(), substeps, |_, physics, handle, frame| {
            for (chain, worst) in worst.iter_mut().enumerate() {
                let error = (physics.muscle(handle, chain).unwrap().volume_ratio - 1.0).abs();
                if error > worst.0 {
                    *worst = (error, frame);
                }
            }
        });
        for (muscle, (error, frame)) in MUSCLES.iter().zip(worst) {
            let time = f64::from(frame) * FRAME;
            println!(
                "{substeps} substeps, {}: volume off by {:.3} % at most (bar 1 %), at {time:.2} s",
                muscle.name,
                100.0 * error
            );
            failed |= error > 0.01;
        }
        println!("{substeps} substeps: {resets} resets");
        failed |= resets > 0;
    }
    assert!(!failed, "a muscle lost its volume, or was reset");
}

#[cfg(feature = "gpu")]
#[test]
fn cpu_and_gpu_have_the_whole_scene_alike() {
    let mut failed = false;
    for substeps in [4, 32] {
        let Some(gpu) = common::gpu_physics() else { return };
        let mut on_cpu = Vec::new();
        whole_scene(Physics::default(), substeps, |scene, physics, handle, _| {
            on_cpu.push(places(scene, physics, handle));
        });
        let (mut worst, mut at) = (0.0_f64, 0);
        let resets = whole_scene(gpu, substeps, |scene, physics, handle, frame| {
            let places = places(scene, physics, handle);
            let off = places.iter().zip(&on_cpu[frame as usize - 1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            if off > worst {
                (worst, at) = (off, frame);
            }
        });
        let time = f64::from(at) * FRAME;
        println!(
            "{substeps} substeps: CPU and GPU differ by {worst:.1e} m at most (bar 1e-3), at {time:.2} s; {resets} resets"
        );
        failed |= worst > 1.0e-3 || resets > 0;
    }
    assert!(!failed, "the backends differ");
}
