//! Characters: flesh where limbs are, exact rest, and flesh that swings when its bones stop.

#![cfg(feature = "gltf")]

use std::path::{Path, PathBuf};

use glam::{DVec3, Vec3};
use sinew::character::{FleshOptions, ImportOptions};
use sinew::step::StepConfig;
use sinew::{Character, FleshHandle, Physics, Pose, palette_matrix};

/// A file of the data folder, or `None` with a line that says so.
fn data(path: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(path);
    if file.exists() {
        return Some(file);
    }
    assert!(std::env::var_os("SINEW_REQUIRE_DATA").is_none(), "{} is demanded, but not there", file.display());
    println!("skipped: {path} is not there");
    None
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
        let mut physics = Physics::with_config(StepConfig { gravity, ..StepConfig::default() });
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

fn lbs(character: &Character) -> Vec<Vec3> {
    character.body().rigid_vertices(character.asset(), &character.asset().skeleton.rest_pose())
}

#[test]
fn a_still_character_without_gravity_has_its_rest_shape() {
    for name in ["arm.glb", "octopus.glb"] {
        let mut stage = Stage::new(asset(name), DVec3::ZERO);
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

/// The rods of those limbs.
fn limb_rods(character: &Character, joints: &[&str]) -> Vec<usize> {
    let name = |joint: u32| character.asset().skeleton.joints[joint as usize].name.as_str();
    let rod = |joint: &&str| character.body().limbs.iter().position(|limb| name(limb.joint) == *joint);
    joints.iter().map(|joint| rod(joint).unwrap_or_else(|| panic!("no flesh on {joint}"))).collect()
}

#[test]
fn every_arm_and_leg_has_flesh() {
    for (file, joints) in LIMBED {
        let Some(path) = data(file) else { continue };
        let character = Character::load(path).expect("loads");
        let rods = limb_rods(&character, joints);
        println!("{file}: flesh on all {} limbs, {} rods in all", rods.len(), character.body().limbs.len());
        assert_eq!(rods.len(), 8);
    }
}

#[test]
fn flesh_swings_when_its_bones_stop() {
    const SPEED: f64 = 2.0;
    let mut cases = vec![("arm.glb".to_string(), asset("arm.glb"), vec!["upper_arm", "forearm"])];
    for (file, joints) in LIMBED {
        let Some(path) = data(file) else { continue };
        cases.push((file.into(), Character::load(path).expect("loads"), joints.to_vec()));
    }
    for (name, character, joints) in cases {
        let rods = limb_rods(&character, &joints);
        let mut stage = Stage::new(character, DVec3::ZERO);
        let mut x = 0.0;
        for _ in 0..60 {
            x += SPEED / 60.0;
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
            "{name}: at 2 m/s {:.4} % of the radius from rest; stopping overshoots by {:.1} to {:.1} %; {:.4} % after 2 s",
            100.0 * moving,
            100.0 * least,
            100.0 * most,
            100.0 * left
        );
        assert!(least >= 0.02 && most <= 0.6 && left <= 0.005);
    }
}

#[test]
fn scale_and_mirroring_are_baked_in() {
    let character = asset("arm.glb");
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
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let flesh = FleshOptions { segments: 5, ..FleshOptions::default() };
    let half = ImportOptions { meters_per_unit: 0.5, ..ImportOptions::default() };
    let character = Character::load_with(&file, &half, &flesh).expect("loads");
    let plain = asset("arm.glb");
    assert!((character.body().height() / plain.body().height() - 0.5).abs() < 1.0e-4);
    assert!(character.body().flesh.chains().iter().all(|chain| chain.node_count() == 6));
    let none = FleshOptions { least_vertices: usize::MAX, ..FleshOptions::default() };
    let bare = Character::load_with(&file, &half, &none).expect("loads");
    assert_eq!(bare.body().limbs.len(), 0, "flesh can be switched off");
}
