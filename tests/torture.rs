//! Characters driven as artists and games do: every excitation, size and time step, animations, shortening. The whole of
//! it, file by file through the tool, is the script `torture.py`; this is its short form through the library.

#![cfg(feature = "gltf")]

mod common;

use std::path::{Path, PathBuf};

use glam::{DVec3, Quat, Vec3};
use sinew::character::{Character, CharacterAsset, FleshOptions, ImportOptions, LocalTransform};
use sinew::step::StepConfig;
use sinew::{FleshHandle, HalfSpace, Physics, Pose};

/// What flesh may do at most: errors of the worst segment at any time.
const VOLUME_MAX: f64 = 0.25;
const STRETCH_MAX: f64 = 1.0;

struct Case {
    name: String,
    character: Character,
    scale: f32,
    dt: f64,
    frames: u32,
    /// Of the muscle named, or of all.
    excited: Option<(Option<String>, f32)>,
}

impl Case {
    fn new(name: impl Into<String>, character: &Character) -> Self {
        let character = character.clone();
        Self { name: name.into(), character, scale: 1.0, dt: 1.0 / 60.0, frames: 120, excited: None }
    }
}

/// The cases of the script, without the muscles that are excited alone.
fn cases(path: &Path) -> Vec<Case> {
    let character = Character::load(path).unwrap();
    let mut cases = vec![Case::new("as it is", &character)];
    for dt in [1.0 / 240.0, 1.0 / 30.0, 0.1] {
        let frames = ((2.0 / dt) as u32).max(20);
        cases.push(Case { dt, frames, ..Case::new(format!("dt {dt:.4}"), &character) });
    }
    for scale in [0.1, 8.0] {
        cases.push(Case { scale, ..Case::new(format!("{scale} times as large"), &character) });
    }
    for activation in [0.3, 1.0, 3.0, 10.0] {
        let name = format!("all at {activation}");
        cases.push(Case { frames: 150, excited: Some((None, activation)), ..Case::new(name, &character) });
    }
    for shortening in [0.25, 0.5] {
        for muscle in 0..character.asset().muscles.len() {
            let mut asset = CharacterAsset::load(path, &ImportOptions::default()).unwrap();
            asset.muscles[muscle].shortening = shortening;
            let name = asset.muscles[muscle].name.clone();
            let character = Character::from_asset(asset, &FleshOptions::default()).unwrap();
            let what = format!("{name} shortens by {shortening}");
            cases.push(Case { excited: Some((Some(name), 1.0)), ..Case::new(what, &character) });
        }
    }
    cases
}

/// A character alone, over a floor.
struct Alone<'a> {
    character: &'a Character,
    body: std::sync::Arc<sinew::character::Body>,
    physics: Physics,
    handle: FleshHandle,
}

impl<'a> Alone<'a> {
    fn new(character: &'a Character, scale: f32, pose: &[LocalTransform]) -> Self {
        let body = character.body_at(Vec3::splat(scale)).unwrap();
        let mut physics = Physics::with_config(StepConfig { threads: 1, ..StepConfig::default() });
        physics.planes = vec![HalfSpace::ground(0.0, 0.8)];
        let (bones, _) = body.posed(character.asset(), pose, &Pose::IDENTITY, &[]);
        let handle = physics.insert(body.flesh.clone(), &bones, Pose::IDENTITY).unwrap();
        Self { character, body, physics, handle }
    }

    fn step(&mut self, pose: &[LocalTransform], dt: f64) {
        let (bones, _) = self.body.posed(self.character.asset(), pose, &Pose::IDENTITY, &[]);
        self.physics.set_bones(self.handle, &bones, Pose::IDENTITY).unwrap();
        self.physics.step_flesh(dt).unwrap();
    }
}

/// Errors of volume and stretch of the worst segment at any time, and how often flesh was laid anew.
fn run(case: &Case) -> (f64, f64, u32) {
    let asset = case.character.asset();
    let longest = asset.animations.iter().max_by(|a, b| a.duration.total_cmp(&b.duration));
    let mut pose = asset.skeleton.rest_pose();
    let posed = |frame: u32, pose: &mut Vec<LocalTransform>| {
        if let Some(animation) = longest {
            animation.sample(animation.looped((f64::from(frame) * case.dt) as f32), pose);
        }
    };
    posed(1, &mut pose);
    let mut alone = Alone::new(&case.character, case.scale, &pose);
    if let Some((muscle, activation)) = &case.excited {
        for (chain, info) in alone.body.flesh.chains().iter().enumerate() {
            if muscle.as_ref().is_none_or(|name| *name == info.name) {
                alone.physics.set_activation(alone.handle, chain, *activation).unwrap();
            }
        }
    }
    let (mut volume, mut stretch) = (0.0_f64, 0.0_f64);
    for frame in 1..=case.frames {
        posed(frame, &mut pose);
        alone.step(&pose, case.dt);
        let quality = alone.physics.quality();
        volume = volume.max(quality.volume_error_max);
        stretch = stretch.max(quality.stretch_error_max);
    }
    (volume, stretch, alone.physics.health(alone.handle).unwrap().resets)
}

fn holds(path: &Path) -> Vec<String> {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut broken, mut worst) = (Vec::new(), (0.0_f64, 0.0_f64));
    let cases = cases(path);
    for case in &cases {
        let (volume, stretch, resets) = run(case);
        worst = (worst.0.max(volume), worst.1.max(stretch));
        if !(volume <= VOLUME_MAX && stretch <= STRETCH_MAX && resets == 0) {
            let figures = format!("volume {:.1} %, stretch {:.1} %, {resets} resets", 100.0 * volume, 100.0 * stretch);
            broken.push(format!("{file}, {}: {figures}", case.name));
        }
    }
    let (volume, stretch) = (100.0 * worst.0, 100.0 * worst.1);
    println!(
        "{file}: {} cases, {} break; worst volume {volume:.1} %, stretch {stretch:.1} %",
        cases.len(),
        broken.len()
    );
    broken
}

#[test]
fn flesh_of_our_own_characters_holds() {
    let broken: Vec<String> =
        ["assets/arm.glb", "assets/octopus.glb"].map(Path::new).into_iter().flat_map(holds).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn flesh_of_strangers_holds() {
    let Some(_) = common::data("") else { return };
    let files = [
        "gltf_khronos/Fox/glTF-Binary/Fox.glb",
        "gltf_humanoid/kaykit/Knight.glb",
        "gltf_humanoid/RobotExpressive/RobotExpressive.glb",
        "gltf_humanoid/godot_platformer_player.glb",
        "gltf_khronos/RiggedSimple/glTF-Binary/RiggedSimple.glb",
        "gltf_humanoid/vrm/debug_robot.vrm",
        "blender/a_50.glb",
        "blender/ends_50_SINEW_ENDS.glb",
        "blender/still_0.glb",
        "blender/v_m_on_mesh_data.glb",
        "blender/v_scale001.glb",
    ];
    let broken: Vec<String> = files
        .iter()
        .filter_map(|file| common::data("").map(|data| data.join(file)))
        .flat_map(|path: PathBuf| holds(&path))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// A forearm of 25 cm on an upper arm of 30 cm along x, with a muscle on the bending side of the elbow.
const ELBOW: DVec3 = DVec3::new(0.3, 1.4, 0.0);

#[test]
fn a_muscle_stays_in_its_bed_however_far_the_elbow_bends() {
    let Some(data) = common::data("blender") else { return };
    let character = Character::load(data.join("a_50.glb")).unwrap();
    let asset = character.asset();
    let joint = asset.skeleton.joints.iter().position(|joint| joint.name == "forearm").unwrap();
    let mut worst = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    for activation in [0.0, 0.1, 1.0_f32] {
        let mut pose = asset.skeleton.rest_pose();
        let rest = pose[joint].rotation;
        let mut alone = Alone::new(&character, 1.0, &pose);
        let muscles: Vec<usize> =
            ["Biceps", "Triceps"].map(|name| alone.body.flesh.chain_named(name).unwrap()).to_vec();
        for &chain in &muscles {
            alone.physics.set_activation(alone.handle, chain, activation).unwrap();
        }
        let mut angle = 0.0_f32;
        for stop in [0.0, 30.0, 60.0, 100.0, 140.0] {
            while angle < stop {
                angle += 1.0;
                pose[joint].rotation = rest * Quat::from_axis_angle(Vec3::X, angle.to_radians());
                alone.step(&pose, 1.0 / 60.0);
            }
            for _ in 0..180 {
                alone.step(&pose, 1.0 / 60.0);
            }
            for &chain in &muscles {
                let info = &alone.body.flesh.chains()[chain];
                let middle = info.node_count() / 2;
                let muscle = alone.physics.muscle(alone.handle, chain).unwrap();
                let node = alone.physics.node(alone.handle, chain, middle).unwrap();
                let radius = info.sections[middle].radius();
                let carried = |j: usize| {
                    let place = alone.physics.node(alone.handle, chain, j).unwrap().place;
                    place - alone.physics.swing(alone.handle, chain, j).unwrap()
                };
                let from_segment = |j: usize| {
                    let (a, b) = (carried(j), carried(j + 1));
                    let along = ((node.place - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
                    node.place.distance(a.lerp(b, along))
                };
                let off = (0..info.node_count() - 1).map(from_segment).fold(f64::MAX, f64::min) / radius;
                let thicker = f64::from(node.radius) / radius * muscle.stretch.sqrt();
                let peak = alone.character.authored_muscles()[usize::from(info.name == "Triceps")].peak_force;
                println!(
                    "{:8} at {stop:3}°, activation {activation}: middle {off:.2} radii off, volume {:+.2} %, {:.3} long, radius \
                     {thicker:.3} of what that asks for, tension {:.2} of {peak:.0} N, {:.1} cm from the elbow",
                    info.name,
                    100.0 * (muscle.volume_ratio - 1.0),
                    muscle.stretch,
                    muscle.tension,
                    100.0 * node.place.distance(ELBOW),
                );
                worst.0 = worst.0.max(off);
                worst.1 = worst.1.max((muscle.volume_ratio - 1.0).abs());
                if stop == 100.0 {
                    worst.2 = worst.2.max((thicker - 1.0).abs());
                }
                // Flesh that bones let in all at once is pressed until it has slid: by 1 % of the peak force at most (found:
                // 0.13 %).
                let bar = if activation > 0.0 { 0.0 } else { 0.01 };
                worst.3 = worst.3.max(-muscle.tension / peak - bar);
            }
        }
    }
    let (off, volume, thickness, pressed) = worst;
    println!(
        "at most {off:.2} radii off (bar 0.5), volume {:.2} % (2 %), radius {:.1} % (10 %)",
        100.0 * volume,
        100.0 * thickness
    );
    assert!(off <= 0.5 && volume <= 0.02 && thickness <= 0.1);
    assert!(pressed <= 0.0, "pressed by {pressed} of its peak force more than it may");
}
