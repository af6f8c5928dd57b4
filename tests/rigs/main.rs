//! Flesh of one figure under the rigs of different tools: limbs are found by what the skin follows.
#![cfg(feature = "gltf")]

#[allow(dead_code, reason = "each test binary uses a part")]
#[path = "../import_support/builder.rs"]
mod builder;
#[path = "../common/mod.rs"]
mod common;
mod figure;
mod rig;
mod tables;

use figure::{Places, places};
use glam::{DVec3, Quat, Vec3};
use rig::Rig;
use serde_json::json;
use sinew::character::{Body, FittedMuscle, FittedPart, FleshOptions, ImportOptions};
use sinew::flesh::Holds;
use sinew::{Character, Physics, Pose};

fn character(rig: &Rig) -> Character {
    let asset = figure::file(&rig.bones, &rig.tubes, rig.scale).import_sound();
    Character::from_asset(asset, &FleshOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", rig.title))
}

/// The muscle whose path goes from one place to another.
fn between(body: &Body, from: Vec3, to: Vec3) -> Vec<usize> {
    let near = |place: &DVec3, wanted: Vec3| place.distance(wanted.as_dvec3()) < 0.02;
    let goes = |muscle: &FittedMuscle| near(&muscle.path[0], from) && near(&muscle.path[muscle.path.len() - 1], to);
    (0..body.muscles.len()).filter(|&index| goes(&body.muscles[index])).collect()
}

fn skinned_joints(character: &Character) -> Vec<bool> {
    let asset = character.asset();
    let mut skinned = vec![false; asset.skeleton.joints.len()];
    for (entries, weights) in asset.mesh.influence_joints.iter().zip(&asset.mesh.influence_weights) {
        for (&entry, &weight) in entries.iter().zip(weights) {
            skinned[asset.palette[usize::from(entry)].joint as usize] |= weight > 0.0;
        }
    }
    skinned
}

/// The limbs of one side.
fn limbs(side: f32) -> [(&'static str, Vec3, Vec3); 5] {
    let Places { shoulder, elbow, wrist, hip, knee, ankle, ball, .. } = places(side);
    [
        ("upper arm", shoulder, elbow),
        ("forearm", elbow, wrist),
        ("thigh", hip, knee),
        ("shin", knee, ankle),
        ("foot", ankle, ball),
    ]
}

#[test]
fn every_rig_of_a_figure_has_the_flesh_of_the_plain_one() {
    let plain = character(&tables::plain());
    for rig in tables::all() {
        let subject = character(&rig);
        let (asset, body) = (subject.asset(), subject.body());
        let name = |joint: u32| asset.skeleton.joints[joint as usize].name.as_str();
        println!("{}: {} joints, {} muscles", rig.title, asset.skeleton.joints.len(), body.muscles.len());
        let skinned = skinned_joints(&subject);
        for (muscle, chain) in body.muscles.iter().zip(body.flesh.chains()) {
            println!("   {} on {:?}", chain.name, muscle.joints.iter().map(|&joint| name(joint)).collect::<Vec<_>>());
            // Controls hold no flesh; hips without skin hold the trunk's, and a limb pulls on what moves skin beyond it.
            let beyond = |joint: u32| {
                (0..skinned.len() as u32).any(|other| {
                    let up = |&joint: &u32| asset.skeleton.joints[joint as usize].parent;
                    skinned[other as usize] && std::iter::successors(Some(other), up).any(|above| above == joint)
                })
            };
            let holds = |&(_, joint, holds): &(usize, u32, Holds)| {
                skinned[joint as usize] || name(joint) == "hips" || holds.socket && beyond(joint)
            };
            assert!(muscle.holds.iter().all(holds), "{}", rig.title);
            // Nothing but a limb's end and what lies on it, at most.
            let length: f64 = muscle.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
            assert!(length < 0.6 && !chain.name.contains("weapon"), "{}: {}", rig.title, chain.name);
        }
        for side in [1.0, -1.0] {
            for (limb, from, to) in limbs(side) {
                let found = between(body, from, to);
                let [own] = found[..] else { panic!("{}: {} of {limb} at side {side}", rig.title, found.len()) };
                let [other] = between(plain.body(), from, to)[..] else { panic!("the plain rig's {limb}") };
                let volumes =
                    [(body, own), (plain.body(), other)].map(|(body, at)| body.flesh.chains()[at].rest_volume);
                let moved = [(body, own), (plain.body(), other)].map(|(body, at)| body.skin.vertices_on(at));
                println!(
                    "   {limb}: {:.0} ml, plain {:.0}; pulls on {} vertices, plain {}",
                    1e6 * volumes[0],
                    1e6 * volumes[1],
                    moved[0],
                    moved[1]
                );
                assert!((volumes[0] / volumes[1] - 1.0).abs() < 0.1, "{}: {limb}", rig.title);
                assert!((moved[0] as f64 / moved[1] as f64 - 1.0).abs() < 0.15, "{}: {limb}", rig.title);
            }
        }
        let trunk: Vec<&FittedMuscle> = body.muscles.iter().filter(|muscle| muscle.part == FittedPart::Trunk).collect();
        assert_eq!(trunk.len(), 1, "{}", rig.title);
        let [from, to] = [trunk[0].path[0], trunk[0].path[trunk[0].path.len() - 1]];
        println!("   trunk from {from:.2} to {to:.2}");
        let Places { hips, chest, neck, .. } = places(1.0);
        assert!(from.distance(hips.as_dvec3()) < 0.03, "{}", rig.title);
        assert!([chest, neck].iter().any(|place| to.distance(place.as_dvec3()) < 0.03), "{}", rig.title);
    }
}

#[test]
fn flesh_over_twist_joints_is_wrung_by_them() {
    for (rig, twist) in [
        (tables::unreal(), "lowerarm_twist_01_l"),
        (tables::rigify(), "DEF-forearm.L.001"),
        (tables::auto_rig(), "forearm_twist.l"),
        (tables::twists_alone(), "forearm.L_Twist02"),
    ] {
        let subject = character(&rig);
        let (asset, body) = (subject.asset(), subject.body());
        let Places { elbow, wrist, .. } = places(1.0);
        let [forearm] = between(body, elbow, wrist)[..] else { panic!("{}", rig.title) };
        let joint = asset.skeleton.joints.iter().position(|joint| joint.name == twist).expect("a twist joint");
        let mut pose = asset.skeleton.rest_pose();
        let mut physics = Physics::default();
        let (bones, _) = body.posed(asset, &pose, &Pose::IDENTITY, &[]);
        let handle = physics.insert(body.flesh.clone(), &bones, Pose::IDENTITY).expect("fits");
        // About the forearm, by degrees, so that nothing is torn.
        let turn = 1.0_f32;
        for frame in 1..=60 {
            pose[joint].rotation = Quat::from_rotation_x(turn * frame as f32 / 60.0);
            let (bones, _) = body.posed(asset, &pose, &Pose::IDENTITY, &[]);
            physics.set_bones(handle, &bones, Pose::IDENTITY).expect("fits");
            physics.step_flesh(1.0 / 60.0).expect("steps");
        }
        let chain = &body.flesh.chains()[forearm];
        let turned = |node: usize| -> f64 {
            let now = physics.node(handle, forearm, node).expect("is there").frame;
            let by = now.as_dquat() * chain.rest[node].rotation.inverse();
            2.0 * by.x.atan2(by.w)
        };
        let [first, last] = [turned(0), turned(chain.node_count() - 1)];
        println!(
            "{}: the forearm's flesh turns by {first:.2} at the elbow and {last:.2} at the wrist ({turn} asked for)",
            rig.title
        );
        assert!(first.abs() < 0.02 && (last - f64::from(turn)).abs() < 0.02, "{}", rig.title);
    }
}

/// The character with a muscle of a radius (m) on its left upper arm.
fn with_muscle(rig: &Rig, [upper, lower]: [&str; 2], radius: f64) -> Character {
    let mut builder = figure::file(&rig.bones, &rig.tubes, rig.scale);
    let point = |joint: &str| json!({ "joint": joint, "place": [0.05, 0.015, 0] });
    let muscle = json!({ "sinew.muscle": { "radius": radius, "path": [point(upper), point(lower)] } });
    let node = builder.push("nodes", json!({ "name": "biceps", "extras": muscle }));
    builder.json["scenes"][0]["nodes"].as_array_mut().expect("nodes").push(json!(node));
    Character::from_asset(builder.import_sound(), &FleshOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_authored_muscle_moves_the_skin_of_twist_joints_too() {
    let moved = |character: &Character| {
        let chain = character.body().flesh.chain_named("biceps").expect("it is there");
        character.body().skin.vertices_on(chain)
    };
    let plain = moved(&with_muscle(&tables::plain(), ["upper_arm.L", "forearm.L"], 0.02));
    let wrung = moved(&with_muscle(&tables::unreal(), ["upperarm_l", "lowerarm_l"], 0.02));
    let rigify = moved(&with_muscle(&tables::rigify_all(), ["DEF-upper_arm.L", "DEF-forearm.L"], 0.02));
    println!("a biceps moves {plain} vertices, {wrung} over twist joints, {rigify} over Rigify's");
    assert!(plain > 50 && wrung == plain && rigify == plain);
}

#[test]
fn a_muscle_thicker_than_its_limb_is_warned_of() {
    for (radius, odd) in [(0.02, false), (0.04, false), (0.06, true), (0.3, true)] {
        let subject = with_muscle(&tables::unreal(), ["upperarm_l", "lowerarm_l"], radius);
        let said: Vec<&str> = subject.warnings().iter().map(|warning| warning.0.as_str()).collect();
        println!("{radius} m: {said:?}");
        let of_limb =
            said.iter().any(|text| text.contains("muscle \"biceps\"") && text.contains("thicker than the limb"));
        assert_eq!(of_limb, odd, "{radius} m");
        assert_eq!(subject.authored_muscles().len(), 1);
    }
}

#[test]
fn skin_without_any_joint_in_common_hangs_as_the_skeleton_says() {
    // Each tube by itself: no skin touches another joint's.
    let mut rig = tables::plain();
    for tube in &mut rig.tubes {
        let last = tube.pulls[tube.pulls.len() / 2].0.clone();
        tube.pulls = vec![(last, 0.0)];
    }
    let subject = character(&rig);
    println!("{} muscles", subject.body().muscles.len());
    assert!(subject.body().height() > 1.5);
}

/// Blender's own export of all of Rigify's joints.
#[test]
fn rigify_as_blender_exports_it_has_a_trunk_in_its_trunk() {
    let Some(folder) = common::data("blender") else { return };
    let file = folder.join("h_rigify_alljoints.glb");
    let subject = Character::load_with(file, &ImportOptions::default(), &FleshOptions::default()).expect("loads");
    let (asset, body) = (subject.asset(), subject.body());
    let name = |joint: u32| asset.skeleton.joints[joint as usize].name.as_str();
    for (muscle, chain) in body.muscles.iter().zip(body.flesh.chains()) {
        let joints: Vec<&str> = muscle.joints.iter().map(|&joint| name(joint)).collect();
        println!("{} on {joints:?}: {:.2} l", chain.name, 1e3 * chain.rest_volume);
        assert!(joints.iter().all(|name| name.starts_with("DEF-")), "{joints:?}");
    }
    let named = |wanted: &str| body.flesh.chains().iter().filter(|chain| chain.name == wanted).count();
    for side in ["L", "R"] {
        for (from, to) in [("upper_arm", "forearm"), ("forearm", "hand"), ("thigh", "shin"), ("shin", "foot")] {
            assert_eq!(named(&format!("DEF-{from}.{side} to DEF-{to}.{side}")), 1, "{from}.{side}");
        }
    }
    // Breasts and pelvis are no limbs, nor do any begin there.
    assert_eq!(body.muscles.len(), 13);
    let trunk = body.muscles.iter().find(|muscle| muscle.part == FittedPart::Trunk).expect("a trunk");
    let joints: Vec<&str> = trunk.joints.iter().map(|&joint| name(joint)).collect();
    assert_eq!(joints, ["DEF-spine", "DEF-spine.001", "DEF-spine.002", "DEF-spine.003"]);
    let length: f64 = trunk.path.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
    let volume = body.flesh.chains()[body.muscles.iter().position(|muscle| muscle == trunk).unwrap()].rest_volume;
    println!("the trunk is {length:.2} m long, of {:.1} l, from {:.2}", 1e3 * volume, trunk.path[0]);
    assert!((0.4..0.8).contains(&length) && volume < 0.035 && trunk.path[0].y > 0.9);
}
