//! Characters: flesh where limbs are, exact rest, and flesh that swings when its bones stop.

#![cfg(feature = "gltf")]

mod common;

use std::path::{Path, PathBuf};

use glam::{Affine3A, DVec3, Vec3};
use sinew::character::{FleshOptions, ImportOptions};
use sinew::step::StepConfig;
use sinew::{Character, FleshHandle, Physics, Pose, palette_matrix};

/// A file of the data folder, or `None` with a line that says so.
fn data(path: &str) -> Option<PathBuf> {
    let (folder, file) = path.rsplit_once('/')?;
    common::data(folder).map(|folder| folder.join(file))
}

/// Scenes to step: on the CPU, and on the GPU where there is an adapter.
fn backends() -> Vec<Physics> {
    #[cfg_attr(not(feature = "gpu"), allow(unused_mut, reason = "the CPU is alone then"))]
    let mut backends = vec![Physics::default()];
    #[cfg(feature = "gpu")]
    backends.extend(common::gpu_physics());
    backends
}

fn asset(name: &str) -> Character {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
    Character::load(file).expect("the project's own asset loads")
}

fn root_at(x: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, 0.0, 0.0))
}

struct Stage {
    character: Character,
    physics: Physics,
    flesh: FleshHandle,
}

impl Stage {
    fn new(character: Character, gravity: DVec3) -> Self {
        Self::on(Physics::default(), character, gravity)
    }

    fn on(mut physics: Physics, character: Character, gravity: DVec3) -> Self {
        physics.config = StepConfig { gravity, ..StepConfig::default() };
        let body = character.body().clone();
        let pose = character.asset().skeleton.rest_pose();
        let (bones, palette) = body.posed(character.asset(), &pose, &Pose::IDENTITY, &[]);
        let flesh =
            physics.insert_with_skin(body.flesh.clone(), body.skin.clone(), &bones, Pose::IDENTITY).expect("fits");
        physics.set_palette(flesh, palette.iter().map(palette_matrix)).expect("fits");
        Self { character, physics, flesh }
    }

    /// Steps with the root at x.
    fn step(&mut self, x: f64) {
        let pose = self.character.asset().skeleton.rest_pose();
        let (bones, _) = self.character.body().posed(self.character.asset(), &pose, &root_at(x), &[]);
        self.physics.set_bones(self.flesh, &bones, root_at(x)).expect("fits");
        self.physics.step_flesh(1.0 / 60.0).expect("steps");
        self.physics.finish().expect("steps");
    }

    /// The largest distance of a rod's nodes from where they rest, over the rod's radius there.
    fn deviation(&self, rod: usize, x: f64) -> f64 {
        let chain = &self.character.body().flesh.chains()[rod];
        (0..chain.node_count())
            .map(|j| {
                let node = self.physics.node(self.flesh, rod, j).expect("is there");
                let rest = chain.rest[j].translation + DVec3::X * x;
                node.place.distance(rest) / chain.sections[j].radius()
            })
            .fold(0.0, f64::max)
    }
}

/// The character with flesh that rests without gravity.
fn weightless(character: &Character) -> Character {
    let options = FleshOptions { balance: false, ..*character.flesh_options() };
    character.with_flesh(&options).expect("fits")
}

fn lbs(character: &Character) -> Vec<Vec3> {
    character.body().rigid_vertices(character.asset(), &character.asset().skeleton.rest_pose())
}

#[test]
fn a_still_character_without_gravity_has_its_rest_shape() {
    for name in ["arm.glb", "octopus.glb"] {
        let mut stage = Stage::new(weightless(&asset(name)), DVec3::ZERO);
        (0..60).for_each(|_| stage.step(0.0));
        let vertices = stage.physics.vertices(stage.flesh).expect("is there");
        let error =
            vertices.positions.iter().zip(lbs(&stage.character)).map(|(a, b)| a.distance(b)).fold(0.0, f32::max);
        let size = stage.character.body().height();
        println!("{name}: skin at rest is {:.2e} of its size from the imported mesh", error / size);
        assert!(error <= 1.0e-6 * size);
    }
}

/// Files and the limbs that must have flesh, by the names of their joints.
const LIMBED: [(&str, &[&str]); 3] = [
    (
        "gltf_khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        &[
            "Skeleton_arm_joint_L__4_",
            "Skeleton_arm_joint_L__3_",
            "Skeleton_arm_joint_R",
            "Skeleton_arm_joint_R__2_",
            "leg_joint_L_1",
            "leg_joint_L_2",
            "leg_joint_R_1",
            "leg_joint_R_2",
        ],
    ),
    (
        "gltf_humanoid/kaykit/Knight.glb",
        &[
            "upperarm.l",
            "lowerarm.l",
            "upperarm.r",
            "lowerarm.r",
            "upperleg.l",
            "lowerleg.l",
            "upperleg.r",
            "lowerleg.r",
        ],
    ),
    (
        "gltf_humanoid/RobotExpressive/RobotExpressive.glb",
        &[
            "UpperArm.L",
            "LowerArm.L",
            "UpperArm.R",
            "LowerArm.R",
            "UpperLeg.L",
            "LowerLeg.L",
            "UpperLeg.R",
            "LowerLeg.R",
        ],
    ),
];

/// The rods fitted to those limbs.
fn limb_rods(character: &Character, joints: &[&str]) -> Vec<usize> {
    let body = character.body();
    let name = |joint: u32| character.asset().skeleton.joints[joint as usize].name.as_str();
    let rod = |joint: &&str| body.muscles.iter().position(|muscle| name(muscle.joints[0]) == *joint);
    joints.iter().map(|joint| rod(joint).unwrap_or_else(|| panic!("no flesh on {joint}"))).collect()
}

#[test]
fn every_arm_and_leg_has_flesh() {
    for (file, joints) in LIMBED {
        let Some(path) = data(file) else { continue };
        let character = Character::load(path).expect("loads");
        let rods = limb_rods(&character, joints);
        println!("{file}: flesh on all {} limbs, {} rods in all", rods.len(), character.body().muscles.len());
        assert_eq!(rods.len(), 8);
    }
}

#[test]
fn flesh_swings_when_its_bones_stop() {
    let mut cases = vec![("arm.glb".to_string(), asset("arm.glb"), vec!["forearm"])];
    for (file, joints) in LIMBED {
        let Some(path) = data(file) else { continue };
        cases.push((file.into(), Character::load(path).expect("loads"), joints.to_vec()));
    }
    for (name, character, joints) in cases {
        for physics in backends() {
            swing(&name, Stage::on(physics, character.clone(), DVec3::NEG_Y * 9.81), &joints);
        }
    }
}

fn swing(name: &str, mut stage: Stage, joints: &[&str]) {
    // Those of more than 2.75 m, whose flesh is as much stiffer, move as much faster.
    let speed = 2.0 * (f64::from(stage.character.body().height()) / 2.75).max(1.0);
    let rods = limb_rods(&stage.character, joints);
    let mut x = 0.0;
    for _ in 0..60 {
        x += speed / 60.0;
        stage.step(x);
    }
    let moving = rods.iter().map(|&rod| stage.deviation(rod, x)).fold(0.0, f64::max);
    let mut most = vec![0.0_f64; rods.len()];
    for _ in 0..120 {
        stage.step(x);
        for (most, &rod) in most.iter_mut().zip(&rods) {
            *most = most.max(stage.deviation(rod, x));
        }
    }
    let left = rods.iter().map(|&rod| stage.deviation(rod, x)).fold(0.0, f64::max);
    let (least, most) = most.iter().fold((f64::MAX, 0.0_f64), |(a, b), &m| (a.min(m), b.max(m)));
    println!(
        "{name}, {}: at {speed:.1} m/s {:.4} % of the radius from rest; stopping overshoots by {:.1} to {:.1} %; {:.4} % after 2 s",
        stage.physics.backend_report().backend,
        100.0 * moving,
        100.0 * least,
        100.0 * most,
        100.0 * left
    );
    assert!(least >= 0.02 && most <= 0.6 && left <= 0.005);
}

#[test]
fn scale_and_mirroring_are_baked_in() {
    let character = weightless(&asset("arm.glb"));
    let [plain, twice, mirrored] =
        [Vec3::ONE, Vec3::splat(2.0), Vec3::new(-1.0, 1.0, 1.0)].map(|scale| character.body_at(scale).expect("builds"));
    for (rod, chain) in plain.flesh.chains().iter().enumerate() {
        let length = |body: &sinew::character::Body| {
            let rest = &body.flesh.chains()[rod].rest;
            rest[0].translation.distance(rest[rest.len() - 1].translation)
        };
        assert!((length(&twice) / length(&plain) - 2.0).abs() < 1.0e-5, "{}", chain.name);
        assert!((length(&mirrored) / length(&plain) - 1.0).abs() < 1.0e-5, "{}", chain.name);
        let (a, b) = (chain.rest[3].translation, mirrored.flesh.chains()[rod].rest[3].translation);
        assert!(a.distance(b * DVec3::new(-1.0, 1.0, 1.0)) < 1.0e-5, "{}", chain.name);
    }
    assert_eq!(plain.triangles[0], [mirrored.triangles[0][0], mirrored.triangles[0][2], mirrored.triangles[0][1]]);
    // A mirrored skin is the mirror image, normals and all.
    let mut stage = Stage::new(character.clone(), DVec3::ZERO);
    stage.step(0.0);
    let mut physics = Physics::with_config(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() });
    let pose = character.asset().skeleton.rest_pose();
    let (bones, palette) = mirrored.posed(character.asset(), &pose, &Pose::IDENTITY, &[]);
    let flesh =
        physics.insert_with_skin(mirrored.flesh.clone(), mirrored.skin.clone(), &bones, Pose::IDENTITY).expect("fits");
    physics.set_palette(flesh, palette.iter().map(palette_matrix)).expect("fits");
    physics.step_flesh(1.0 / 60.0).expect("steps");
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    let (image, skin) =
        (physics.vertices(flesh).expect("is there"), stage.physics.vertices(stage.flesh).expect("is there"));
    for (a, b) in image.positions.iter().zip(&skin.positions).chain(image.normals.iter().zip(&skin.normals)) {
        assert!((*a * flip).distance(*b) < 1.0e-5, "{a} is no mirror image of {b}");
    }
}

#[test]
fn options_are_obeyed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/octopus.glb");
    let flesh = FleshOptions { segments: 5, ..FleshOptions::default() };
    let half = ImportOptions { meters_per_unit: 0.5, ..ImportOptions::default() };
    let character = Character::load_with(&file, &half, &flesh).expect("loads");
    let plain = asset("octopus.glb");
    assert!((character.body().height() / plain.body().height() - 0.5).abs() < 1.0e-4);
    assert!(character.body().flesh.chains().iter().all(|chain| chain.node_count() == 6));
    let none = FleshOptions { least_vertices: usize::MAX, ..FleshOptions::default() };
    let bare = Character::load_with(&file, &half, &none).expect("loads");
    assert_eq!(bare.body().limbs.len(), 0, "flesh can be switched off");
}

/// Every file with an animation or a skin that characters are made of, all in one scene.
#[test]
fn three_hundred_frames_of_the_first_animation_stay_finite() {
    const FILES: [&str; 7] = [
        "gltf_khronos/CesiumMan/glTF-Binary/CesiumMan.glb",
        "gltf_khronos/Fox/glTF-Binary/Fox.glb",
        "gltf_khronos/RiggedSimple/glTF-Binary/RiggedSimple.glb",
        "gltf_humanoid/RobotExpressive/RobotExpressive.glb",
        "gltf_humanoid/kaykit/Knight.glb",
        "gltf_humanoid/godot_platformer_player.glb",
        "gltf_khronos/SimpleSkin/glTF-Embedded/SimpleSkin.gltf",
    ];
    let mut files: Vec<PathBuf> = FILES.iter().filter_map(|file| data(file)).collect();
    for folder in ["gltf_edge/vrm_addon", "gltf_humanoid/vrm", "gltf_generator/Positive/Animation_Skin"] {
        let entries = common::data(folder).into_iter().flat_map(|folder| std::fs::read_dir(folder).expect("readable"));
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        found.retain(|path| path.extension().is_some_and(|end| end == "gltf" || end == "vrm"));
        found.sort();
        files.extend(found);
    }
    let mut characters = vec![asset("arm.glb"), asset("octopus.glb")];
    for file in &files {
        let character = Character::load(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let unskinned = character.warnings().iter().any(|warning| warning.0.contains("skinned"));
        let skinned = character.asset().palette.iter().any(|entry| entry.inverse_bind != Affine3A::IDENTITY);
        assert!(skinned || unskinned, "{}: neither skin nor a warning", file.display());
        characters.push(character);
    }
    for mut physics in backends() {
        let mut flesh = Vec::new();
        for character in &characters {
            let pose = character.asset().skeleton.rest_pose();
            let body = character.body();
            let (bones, _) = body.posed(character.asset(), &pose, &Pose::IDENTITY, &[]);
            let handle = physics.insert_with_skin(body.flesh.clone(), body.skin.clone(), &bones, Pose::IDENTITY);
            flesh.push((character, handle.expect("fits"), pose));
        }
        for frame in 1..=300_u16 {
            for (character, handle, pose) in &mut flesh {
                if let Some(animation) = character.asset().animations.first() {
                    animation.sample(animation.looped(f32::from(frame) / 60.0), pose);
                }
                let (bones, palette) = character.body().posed(character.asset(), pose, &Pose::IDENTITY, &[]);
                physics.set_bones(*handle, &bones, Pose::IDENTITY).expect("fits");
                physics.set_palette(*handle, palette.iter().map(palette_matrix)).expect("fits");
            }
            physics.step_flesh(1.0 / 60.0).expect("steps");
        }
        physics.finish().expect("steps");
        for (character, handle, _) in &flesh {
            let skin = physics.vertices(*handle).expect("is there");
            let name = &character.asset().name;
            assert_eq!(physics.health(*handle).expect("is there").resets, 0, "{name}");
            assert!(skin.positions.iter().chain(&skin.normals).all(|v| v.is_finite()), "{name}");
        }
        let rods: usize = characters.iter().map(|character| character.body().flesh.chains().len()).sum();
        println!(
            "{}: {} characters with {rods} rods, 300 frames, no reset",
            physics.backend_report().backend,
            flesh.len()
        );
    }
}
