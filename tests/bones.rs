//! Bones of characters: the arm's muscles over the humerus, and bones that an author writes.

mod common;

use common::FRAME;
use glam::{DVec3, Vec3};
use sinew::character::{
    BoneSpec, CharacterError, FleshOptions, ImportError, ImportOptions, MuscleError, Sidecar, SidecarSource,
};
use sinew::flesh::Flesh;
use sinew::layout::rest;
use sinew::scenes::arm::{MUSCLES, REST_FLEXION, bones};
use sinew::scenes::{Scene, SceneParameters};
use sinew::{Character, Collisions, FleshHandle, Physics, Pose, Touched};

fn arm(with_bones: bool, substeps: u32) -> (Scene, Physics, FleshHandle) {
    let mut parameters = SceneParameters::of("arm").expect("is there");
    parameters.set("bones", if with_bones { "true" } else { "false" }).expect("is one of its values");
    parameters.config.substeps = substeps;
    let scene = parameters.build("arm").expect("in range");
    let mut physics = Physics::with_config(scene.config);
    let handle = scene.insert(&mut physics).expect("finite");
    (scene, physics, handle)
}

/// How much deeper than at rest a chain is in a flesh's bones, over its radius there, between nodes that nothing holds; and where.
fn deepest(flesh: &Flesh, pills: &Flesh, physics: &Physics, handle: FleshHandle, chain: usize) -> (f64, f64) {
    let info = &flesh.chains()[chain];
    let is_free = |j: usize| {
        let row = flesh.groups()[info.group].row(j);
        row[rest::FREE_PLACE][info.lane] != 0.0 && row[rest::SLIDES][info.lane] == 0.0
    };
    let poses = physics.bones(handle).expect("is there");
    let nodes: Vec<_> = (0..info.node_count()).map(|j| physics.node(handle, chain, j).expect("is there")).collect();
    let mut worst = (f64::MIN, 0.0);
    for pill in pills.bone_pills() {
        let [a, b] = pill.ends.map(|end| end.as_dvec3());
        let distance = |bone: &Pose, place: DVec3| {
            let place = bone.inverse().transform_point(place);
            let share = ((place - a).dot(b - a) / (b - a).length_squared().max(1.0e-12)).clamp(0.0, 1.0);
            place.distance(a.lerp(b, share)) - f64::from(pill.radius)
        };
        for j in 0..info.node_count() - 1 {
            let last = if is_free(j) && is_free(j + 1) { 16 } else { 0 };
            for k in (0..=last).filter(|_| is_free(j)) {
                let t = f64::from(k) / 16.0;
                let mix = |from: f64, to: f64| from + (to - from) * t;
                let rest_radius = mix(info.sections[j].radius(), info.sections[j + 1].radius());
                let at_rest = info.rest[j].translation.lerp(info.rest[j + 1].translation, t);
                let allowed = (distance(&flesh.bones()[pill.bone], at_rest) - rest_radius).min(0.0);
                let radius = mix(nodes[j].radius.into(), nodes[j + 1].radius.into());
                let gap = distance(&poses[pill.bone], nodes[j].place.lerp(nodes[j + 1].place, t)) - radius;
                let depth = (allowed - gap) / radius;
                if depth > worst.0 {
                    worst = (depth, j as f64 + t);
                }
            }
        }
    }
    worst
}

/// Bent from rest to straight, and on to 140°, lightly and fully excited, no muscle comes deeper into the humerus than it was at rest.
#[test]
fn the_arm_s_muscles_stay_out_of_the_humerus() {
    let mut failed = Vec::new();
    let (with_bones, ..) = arm(true, 4);
    for (substeps, bony) in [(4, false), (4, true), (8, true)] {
        for excitation in [0.05_f32, 1.0] {
            let (scene, mut physics, handle) = arm(bony, substeps);
            for chain in 0..MUSCLES.len() {
                physics.set_activation(handle, chain, excitation).expect("within 0 to 1");
            }
            let mut before = REST_FLEXION;
            for degrees in [0.0_f64, 45.0, 90.0, 140.0] {
                let to = degrees.to_radians();
                let mut on_the_way = [f64::MIN; MUSCLES.len()];
                for frame in 1..=120 {
                    let share = (f64::from(frame) / 60.0).min(1.0);
                    let poses = bones(before + (to - before) * share * share * (3.0 - 2.0 * share));
                    physics.set_bones(handle, &poses, Pose::IDENTITY).expect("finite");
                    physics.step_flesh(FRAME).expect("steps");
                    for (chain, most) in on_the_way.iter_mut().enumerate() {
                        *most = most.max(deepest(&scene.flesh, &with_bones.flesh, &physics, handle, chain).0);
                    }
                }
                before = to;
                for (chain, muscle) in MUSCLES.iter().enumerate() {
                    let (depth, at) = deepest(&scene.flesh, &with_bones.flesh, &physics, handle, chain);
                    println!(
                        "{} bones, {substeps} substeps, excited by {excitation}, {degrees}°, {}: {:.2} % of its radius deep at {at:.1} (bar \
                         5 %), {:.2} % on the way (bar 10 %)",
                        if bony { "with" } else { "without" },
                        muscle.name,
                        100.0 * depth,
                        100.0 * on_the_way[chain]
                    );
                    // On the way it may come deeper for some frames, where it is pulled onto the bone all at once.
                    if bony && (depth > 0.05 || on_the_way[chain] > 0.1) {
                        failed.push(format!(
                            "{substeps} substeps, {excitation}, {degrees}°, {}: {depth:.3}",
                            muscle.name
                        ));
                    }
                }
            }
            let resets = physics.health(handle).expect("is there").resets;
            println!("{resets} resets");
            assert_eq!(resets, 0);
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The arm jumps, jerks, snaps round, and all its muscles pull at once: nothing is laid anew, and in the end it is as it was.
#[test]
fn a_jerked_arm_stays_whole() {
    let mut resets = Vec::new();
    for (substeps, bony) in [(4, false), (4, true), (8, true)] {
        let (scene, mut physics, handle) = arm(bony, substeps);
        let mut run = |root: Pose, flexion: f64, excitation: f32, frames: u32| {
            for chain in 0..MUSCLES.len() {
                physics.set_activation(handle, chain, excitation).expect("within 0 to 1");
            }
            for _ in 0..frames {
                let poses = bones(flexion).map(|pose| root * pose);
                physics.set_bones(handle, &poses, root).expect("finite");
                physics.step_flesh(FRAME).expect("steps");
                assert!(physics.state(handle).expect("is there").is_finite());
            }
            let place = |chain: usize, j: usize| physics.node(handle, chain, j).expect("is there").place;
            let all = scene.flesh.chains().iter().enumerate();
            let places = all.flat_map(|(chain, info)| (0..info.node_count()).map(move |j| place(chain, j)));
            (places.collect::<Vec<_>>(), physics.health(handle).expect("is there").resets)
        };
        let at = |x: f64| Pose::from_translation(DVec3::X * x);
        let (start, _) = run(at(0.0), REST_FLEXION, 0.05, 120);
        for (root, flexion, excitation) in [
            (at(50.0), 1.2, 0.05),
            (at(53.0), 1.2, 0.05),
            (at(50.0), 1.2, 1.0),
            (at(0.0), 2.4, 1.0),
            (at(0.0), 0.0, 0.05),
            (at(0.0), 2.4, 0.05),
            (at(0.0), 1.2, 1.0),
        ] {
            run(root, flexion, excitation, 15);
        }
        let (end, laid) = run(at(0.0), REST_FLEXION, 0.05, 240);
        let off = start.iter().zip(&end).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        println!(
            "{} bones, {substeps} substeps: {laid} resets, then {off:.1e} m off (bar 1e-3)",
            if bony { "with" } else { "without" }
        );
        resets.push((laid, off));
    }
    assert!(resets.iter().all(|(laid, off)| *laid == 0 && *off <= 1.0e-3), "{resets:?}");
}

fn arm_glb(sidecar: &str) -> Result<Character, CharacterError> {
    let sidecar = Sidecar::from_slice("arm.muscles.json", sidecar.as_bytes()).expect("is a sidecar");
    let import = ImportOptions { sidecar: SidecarSource::Given(sidecar), ..ImportOptions::default() };
    Character::load_with(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb"), &import, &FleshOptions::default())
}

/// Bones of a sidecar are on the character's flesh, as large as it is spawned.
#[test]
fn bones_of_a_sidecar_are_the_flesh_s() {
    let bony = r#"{ "version": 1, "muscles": {}, "bones": [
        { "joint": "upper_arm", "from": [0, 0.02, 0], "to": [0, 0.28, 0], "radius": 0.011, "friction": 0.1, "radios": 1 },
        { "joint": "forearm", "from": [0, 0.01, 0.002], "radius": 0.016 }
    ] }"#;
    let character = arm_glb(bony).expect("is sound");
    let told: Vec<_> = character.warnings().iter().filter(|warning| warning.0.contains("bones[0]")).collect();
    println!("{told:?}");
    assert!(told.len() == 1 && told[0].0.contains("radios") && told[0].0.contains("radius"));
    let (asset, flesh) = (character.asset(), &character.body().flesh);
    assert_eq!(asset.bones[1].to, asset.bones[1].from);
    let pills = flesh.bone_pills();
    let joint = |pill: usize| asset.skeleton.joints[character.body().bones[pills[pill].bone] as usize].name.as_str();
    assert_eq!((pills.len(), joint(0), joint(1)), (2, "upper_arm", "forearm"));
    assert_eq!((pills[0].ends[1], pills[0].radius, pills[0].friction), (Vec3::new(0.0, 0.28, 0.0), 0.011, 0.1));
    for scale in [Vec3::splat(2.5), Vec3::splat(0.3)] {
        let body = character.body_at(scale).expect("in range");
        for (own, large) in pills.iter().zip(body.flesh.bone_pills()) {
            let off = (large.ends[1] - own.ends[1] * scale.x).length() + (large.radius - own.radius * scale.x).abs();
            assert!(off <= 1.0e-6 * scale.x && large.bone == own.bone && large.friction == own.friction, "{large:?}");
        }
    }
    let plain = FleshOptions { bones: false, ..*character.flesh_options() };
    assert!(character.with_flesh(&plain).expect("is sound").body().flesh.bone_pills().is_empty());
    assert!(arm_glb(r#"{ "version": 1, "muscles": {} }"#).expect("is sound").body().flesh.bone_pills().is_empty());
}

/// What is wrong with a bone is said with the file, the bone, the key and the fix.
#[test]
fn bad_bones_are_named() {
    for (bone, key, part) in [
        (r#"{ "joint": "uper_arm", "from": [0, 0, 0], "radius": 0.01 }"#, "joint", "did you mean \"upper_arm\""),
        (r#"{ "joint": "upper_arm", "from": [0, 0, 0], "radius": -0.01 }"#, "radius", "a number from"),
        (r#"{ "joint": "upper_arm", "from": [0, 1e9, 0], "radius": 0.01 }"#, "from[1]", "a number from"),
        (
            r#"{ "joint": "upper_arm", "from": [0, 0, 0], "radius": 0.01, "friction": 99 }"#,
            "friction",
            "a number from 0 to 10",
        ),
        (r#"{ "joint": "upper_arm", "from": [0, 0, 0], "radius": "thick" }"#, "radius", "it needs"),
        (r#"{ "joint": "upper_arm", "radius": 0.01 }"#, ".", "missing field `from`"),
    ] {
        let text = format!(r#"{{ "version": 1, "muscles": {{}}, "bones": [{bone}] }}"#);
        let error = arm_glb(&text).expect_err("is not sound");
        println!("{error}");
        let CharacterError::Import(ImportError::Muscle { file, source }) = error else { panic!("{error:?}") };
        assert_eq!(file, "arm.muscles.json");
        assert!(
            matches!(&*source, MuscleError::Bone { bone: 0, key: at, problem } if at == key && problem.contains(part))
        );
    }
    for bones in ["{}", "[1]"] {
        let text = format!(r#"{{ "version": 1, "muscles": {{}}, "bones": {bones} }}"#);
        let error = Sidecar::from_slice("x", text.as_bytes()).expect_err("is not sound");
        println!("{error}");
        assert!(matches!(error, MuscleError::Bone { .. }));
    }
}

/// A sidecar's text has its bones again, and those that are put in.
#[test]
fn a_sidecar_keeps_its_bones() {
    let character = arm_glb(r#"{ "version": 1, "muscles": {} }"#).expect("is sound");
    let names = sinew::character::JointNames::new(&character.asset().skeleton);
    let joint = names.find("forearm", "", "joint").expect("is there");
    let bone = BoneSpec { joint, from: DVec3::Y * 0.1, to: DVec3::Y * 0.2, radius: 0.007, friction: 0.25 };
    let mut sidecar = Sidecar::default();
    sidecar.insert_bone(&bone, &names).expect("has a name of its own");
    let read = arm_glb(&sidecar.to_json()).expect("is sound");
    assert_eq!(read.asset().bones, [bone]);
}

/// Bones that are switched off are as if there were none, to the bit; switched on, they press.
#[test]
fn bones_can_be_switched_off() {
    let flexed = |with_bones: bool, bone_pills: bool| {
        let (_, mut physics, handle) = arm(with_bones, 4);
        physics.set_collisions(handle, Collisions { bone_pills, ..Collisions::default() }).expect("is there");
        let mut pressed = 0;
        for frame in 1..=30 {
            physics.set_bones(handle, &bones(0.08 * f64::from(frame)), Pose::IDENTITY).expect("finite");
            physics.step_flesh(FRAME).expect("steps");
            let contacts = physics.contacts(handle).expect("is there");
            pressed += contacts.filter(|contact| matches!(contact.touched, Touched::BonePill(_))).count();
        }
        (pressed, physics.state_hash())
    };
    let (without, off, on) = (flexed(false, true), flexed(true, false), flexed(true, true));
    println!("bones press {} times", on.0);
    assert_eq!(off, without);
    assert!(on.0 > 30 && off.0 == 0 && on.1 != off.1);
}

/// A GPU has them press as the CPU does, and switched off they are as if there were none.
#[cfg(feature = "gpu")]
#[test]
fn bones_press_alike_on_a_gpu() {
    let (scene, ..) = arm(true, 4);
    let flexed = |mut physics: sinew::Physics, bone_pills: bool| {
        let handle = scene.insert(&mut physics).expect("finite");
        physics.set_collisions(handle, Collisions { bone_pills, ..Collisions::default() }).expect("is there");
        for frame in 1..=20 {
            physics.set_bones(handle, &bones(0.08 * f64::from(frame)), Pose::IDENTITY).expect("finite");
            physics.step_flesh(FRAME).expect("steps");
        }
        physics.finish().expect("is there");
        let chains = scene.flesh.chains().iter().enumerate();
        let nodes = chains.flat_map(|(chain, info)| (0..info.node_count()).map(move |node| (chain, node)));
        nodes.map(|(chain, node)| physics.node(handle, chain, node).expect("is there").place).collect::<Vec<_>>()
    };
    let apart = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let (Some(gpu), Some(other)) = (common::gpu_physics(), common::gpu_physics()) else { return };
    let on_cpu = flexed(sinew::Physics::default(), true);
    let (on_gpu, off) = (flexed(gpu, true), flexed(other, false));
    let (alike, without) = (apart(&on_cpu, &on_gpu), apart(&on_cpu, &off));
    println!("{alike:.1e} m apart, {without:.1e} m from where they are without bones");
    assert!(alike < 1.0e-4 && without > 1.0e-3);
}
