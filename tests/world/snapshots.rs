//! Saved states: of all flesh while others come and go, of one character alone, and written.

use glam::{DVec3, Vec3};
use hecs::Entity;
use sinew::components::{BoneBodies, RootTransform};
use sinew::step::{Integrator, StepConfig};
#[cfg(feature = "serde")]
use sinew::world::CharacterSnapshot;
use sinew::world::{WorldError, restore, save};
use sinew::{FleshHandle, Physics, Placement, Pose, SnapshotError};
#[cfg(feature = "serde")]
use sinew::{RowSizes, SNAPSHOT_VERSION, Snapshot};

#[cfg(feature = "serde")]
use crate::common::Random;
use crate::{FRAME, Scene, at, character};

/// Steps with everyone's first animation and a swaying root, each at its home.
fn run(scene: &mut Scene, entities: &[(Entity, Pose)], frames: std::ops::Range<u32>) {
    for frame in frames {
        let time = f64::from(frame) * FRAME;
        for &(entity, home) in entities {
            scene.animate(entity, time);
            scene.sway(entity, home, time);
        }
        scene.step();
    }
}

fn homes() -> [Pose; 3] {
    [at(0.0, 0.0, 0.0), at(2.0, 0.0, 0.0), at(-2.0, 0.0, 0.5)]
}

#[test]
fn a_snapshot_outlives_others_that_come_and_go() {
    let (arm, octopus) = (character("arm.glb"), character("octopus.glb"));
    let homes = homes();
    let mut scene = Scene::default();
    let stays = scene.spawn(&arm, homes[0]);
    let goes = scene.spawn(&octopus, homes[1]);
    run(&mut scene, &[(stays, homes[0]), (goes, homes[1])], 0..20);
    let saved = scene.physics.save();
    let [kept, lost] = [stays, goes].map(|entity| scene.flesh(entity));
    run(&mut scene, &[(stays, homes[0]), (goes, homes[1])], 20..30);
    let straight = (scene.nodes(stays), scene.skin(stays));

    // One in the slot of the one that goes, one beside it.
    scene.despawn(goes);
    let [second, third] = [homes[1], homes[2]].map(|home| scene.spawn(&octopus, home));
    run(&mut scene, &[(stays, homes[0]), (second, homes[1]), (third, homes[2])], 30..37);
    let newer = [second, third].map(|entity| (scene.flesh(entity), scene.nodes(entity)));
    let outcome = scene.physics.restore(&saved).expect("restores");
    println!("{outcome:?}");
    assert_eq!((&outcome.restored[..], &outcome.gone[..]), (&[kept][..], &[lost][..]));
    assert_eq!(outcome.newer, newer.iter().map(|(handle, _)| *handle).collect::<Vec<_>>());
    assert!(outcome.other_flesh.is_empty() && !outcome.is_whole());
    for (entity, (_, nodes)) in [second, third].into_iter().zip(&newer) {
        assert!(scene.nodes(entity) == *nodes, "it was not saved, yet it changed");
    }
    run(&mut scene, &[(stays, homes[0])], 20..30);
    assert!((scene.nodes(stays), scene.skin(stays)) == straight, "it does not go on as it did");

    // In another scene, handles name other flesh.
    let mut other = Scene::default();
    other.spawn(&octopus, homes[0]);
    let before = other.physics.state_hash();
    let outcome = other.physics.restore(&saved).expect("restores nothing");
    assert_eq!((outcome.restored.len(), outcome.other_flesh, outcome.gone), (0, vec![kept], vec![lost]));
    assert_eq!(other.physics.state_hash(), before);
}

#[test]
fn one_character_is_saved_and_restored_alone() {
    let (arm, octopus) = (character("arm.glb"), character("octopus.glb"));
    let homes = homes();
    let mut scene = Scene::default();
    let (hero, other) = (scene.spawn(&arm, homes[0]), scene.spawn(&octopus, homes[1]));
    sinew::world::activate(&mut scene.world, hero, "biceps_long", 0.4).expect("is there");
    run(&mut scene, &[(hero, homes[0]), (other, homes[1])], 0..20);
    let saved = save(&scene.world, &scene.physics, hero).expect("is there");
    let alone = |scene: &mut Scene, hero: Entity| {
        run(scene, &[(hero, homes[0])], 20..30);
        (scene.nodes(hero), scene.skin(hero).positions)
    };
    let straight = alone(&mut scene, hero);
    let others = scene.nodes(other);

    // Ten frames later, here.
    restore(&mut scene.world, &mut scene.physics, &mut scene.rigid, hero, &saved).expect("restores");
    assert!(scene.nodes(other) == others, "another one changed");
    assert_eq!(save(&scene.world, &scene.physics, hero).expect("is there"), saved);
    let bones = scene.physics.bones(scene.flesh(hero)).expect("is there").to_vec();
    let bodies = scene.world.get::<&BoneBodies>(hero).expect("is there").0.clone();
    for (body, bone) in bodies.iter().zip(&bones) {
        assert!(scene.rigid.body_pose(*body).expect("is there").translation.distance(bone.translation) < 1.0e-5);
    }
    assert!(alone(&mut scene, hero) == straight, "it does not go on as it did");

    // In another world, in another slot.
    let mut elsewhere = Scene::default();
    elsewhere.spawn(&octopus, homes[2]);
    let twin = elsewhere.spawn(&arm, homes[1]);
    restore(&mut elsewhere.world, &mut elsewhere.physics, &mut elsewhere.rigid, twin, &saved).expect("restores");
    assert!(alone(&mut elsewhere, twin) == straight, "another world's does not go on as it did");

    // Only what is the same takes it.
    let placement = Placement { pose: homes[1], scale: Vec3::splat(1.1) };
    let large =
        arm.spawn(&mut elsewhere.world, &mut elsewhere.rigid, &mut elsewhere.physics, placement).expect("spawns");
    let fewer = arm.with_flesh(&sinew::character::FleshOptions { trunk: false, segments: 5, ..*arm.flesh_options() });
    let fewer = elsewhere.spawn(&fewer.expect("fits"), homes[0]);
    let tentacled = elsewhere.spawn(&octopus, homes[0]);
    let hash = elsewhere.physics.state_hash();
    for entity in [large, fewer, tentacled] {
        let error = restore(&mut elsewhere.world, &mut elsewhere.physics, &mut elsewhere.rigid, entity, &saved);
        let error = error.expect_err("is other flesh");
        println!("{error}");
        assert!(matches!(error, WorldError::Snapshot(SnapshotError::OtherFlesh { .. })));
        assert_ne!(elsewhere.world.get::<&RootTransform>(entity).expect("is there").0, saved.root.0);
    }
    let mut damaged = saved.clone();
    damaged.root.0.translation = DVec3::NAN;
    let error = restore(&mut elsewhere.world, &mut elsewhere.physics, &mut elsewhere.rigid, twin, &damaged);
    assert!(matches!(error, Err(WorldError::Snapshot(SnapshotError::NotSound("joints")))));
    assert_eq!(elsewhere.physics.state_hash(), hash, "refused, yet something changed");
}

#[test]
fn a_state_of_other_substeps_begins_without_history() {
    let config = StepConfig { integrator: Integrator::SecondOrder, ..StepConfig::default() };
    let mut scene = Scene { physics: Physics::with_config(config), ..Scene::default() };
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    run(&mut scene, &[(entity, Pose::IDENTITY)], 0..10);
    let flesh = scene.flesh(entity);
    let saved = scene.physics.save_flesh(flesh).expect("is there");
    let has_history = |physics: &Physics, flesh: FleshHandle| {
        physics
            .state(flesh)
            .expect("is there")
            .rows()
            .any(|(_, chains)| chains[chain_history()].iter().any(|&h| h != 0.0))
    };
    assert!(has_history(&scene.physics, flesh));
    scene.physics.restore_flesh(flesh, &saved).expect("restores");
    assert!(has_history(&scene.physics, flesh), "the last substep is as long as the saved one");
    scene.physics.step_flesh(0.011).expect("steps");
    scene.physics.restore_flesh(flesh, &saved).expect("restores");
    assert!(!has_history(&scene.physics, flesh), "the last substep was of another length");

    // One that is newer than a whole snapshot, of other substeps.
    let whole = scene.physics.save();
    let newer = scene.spawn(&character("octopus.glb"), at(3.0, 0.0, 0.0));
    run(&mut scene, &[(newer, at(3.0, 0.0, 0.0))], 0..3);
    let newer = scene.flesh(newer);
    assert!(has_history(&scene.physics, newer));
    assert_eq!(scene.physics.restore(&whole).expect("restores").newer, [newer]);
    assert!(!has_history(&scene.physics, newer));
}

fn chain_history() -> usize {
    sinew::layout::chain::HISTORY
}

#[cfg(feature = "serde")]
mod written {
    use super::*;

    /// A scene after a while, its snapshot, and how it goes on.
    fn saved_scene() -> (Scene, [(Entity, Pose); 2], Snapshot, u64) {
        let homes = homes();
        let mut scene = Scene::default();
        let entities = [("arm.glb", homes[0]), ("octopus.glb", homes[1])];
        let entities = entities.map(|(name, home)| (scene.spawn(&character(name), home), home));
        run(&mut scene, &entities, 0..15);
        let saved = scene.physics.save();
        run(&mut scene, &entities, 15..25);
        let after = scene.physics.state_hash();
        (scene, entities, saved, after)
    }

    #[test]
    fn what_is_read_goes_on_bit_for_bit() {
        let (mut scene, entities, saved, after) = saved_scene();
        let bytes = postcard::to_stdvec(&saved).expect("is written");
        let read: Snapshot = postcard::from_bytes(&bytes).expect("is read");
        assert!(read == saved);
        let text = serde_json::to_string(&saved).expect("is written");
        println!("{} bytes, as JSON {}", bytes.len(), text.len());
        assert!(scene.physics.restore(&read).expect("restores").is_whole());
        run(&mut scene, &entities, 15..25);
        assert_eq!(scene.physics.state_hash(), after);

        // JSON keeps f32 to the bit, and so the rows.
        let read: Snapshot = serde_json::from_str(&text).expect("is read");
        scene.physics.restore(&saved).expect("restores");
        let hash = scene.physics.state_hash();
        run(&mut scene, &entities, 15..25);
        assert!(scene.physics.restore(&read).expect("restores").is_whole());
        assert_eq!(scene.physics.state_hash(), hash);
        // Also by way of a value, which sorts its keys.
        let value: serde_json::Value = serde_json::from_str(&text).expect("is JSON");
        let read: Snapshot = serde_json::from_value(value).expect("is read");
        assert!(scene.physics.restore(&read).expect("restores").is_whole());

        let (hero, home) = entities[0];
        let one = save(&scene.world, &scene.physics, hero).expect("is there");
        let bytes = postcard::to_stdvec(&one).expect("is written");
        let read: CharacterSnapshot = postcard::from_bytes(&bytes).expect("is read");
        assert!(read == one);
        let mut other = Scene::default();
        let twin = other.spawn(&character("arm.glb"), home);
        restore(&mut other.world, &mut other.physics, &mut other.rigid, twin, &read).expect("restores");
        for (scene, entity) in [(&mut scene, hero), (&mut other, twin)] {
            run(scene, &[(entity, home)], 15..25);
        }
        assert!(scene.nodes(hero) == other.nodes(twin), "another session does not go on as this one");
    }

    #[test]
    fn another_format_is_named_whatever_it_holds() {
        let (mut scene, _, saved, _) = saved_scene();
        let hash = scene.physics.state_hash();
        let mut value = serde_json::to_value(&saved).expect("is written");
        let read = |value: &serde_json::Value| serde_json::from_value::<Snapshot>(value.clone());
        assert_eq!(value["format"], SNAPSHOT_VERSION);
        value["rows"]["node"] = (RowSizes::CURRENT.node + 1).into();
        let error = scene.physics.restore(&read(&value).expect("is read")).expect_err("has other rows");
        println!("{error}");
        let found = RowSizes { node: RowSizes::CURRENT.node + 1, ..RowSizes::CURRENT };
        assert_eq!(error, SnapshotError::Rows { found });
        for future in [serde_json::json!({ "chains": 7 }), serde_json::json!([1, "x"]), serde_json::Value::Null] {
            let later = serde_json::json!({ "format": SNAPSHOT_VERSION + 1, "rows": {}, "state": future, "more": 1 });
            let error = scene.physics.restore(&read(&later).expect("is read")).expect_err("is later");
            println!("{error}");
            assert_eq!(error, SnapshotError::Version { found: SNAPSHOT_VERSION + 1 });
        }
        for broken in [serde_json::json!({}), serde_json::json!({ "format": SNAPSHOT_VERSION }), 3.into()] {
            println!("{}", read(&broken).expect_err("is no snapshot"));
        }

        let mut bytes = postcard::to_stdvec(&saved).expect("is written");
        assert_eq!(u32::from(bytes[0]), SNAPSHOT_VERSION);
        bytes[0] += 1;
        let read: Snapshot = postcard::from_bytes(&bytes).expect("is read");
        assert_eq!(scene.physics.restore(&read), Err(SnapshotError::Version { found: SNAPSHOT_VERSION + 1 }));
        assert_eq!(scene.physics.state_hash(), hash, "refused, yet something changed");
    }

    #[test]
    fn damage_is_an_error_or_flesh_that_comes_to_rest() {
        let (mut scene, entities, saved, _) = saved_scene();
        let value = serde_json::to_value(&saved).expect("is written");
        let with = |path: &[&str], to: serde_json::Value| {
            let mut value = value.clone();
            let state = &mut value["state"]["instances"][0][1]["state"];
            *path.iter().fold(state, |at, key| match key.parse::<usize>() {
                Ok(index) => &mut at[index],
                Err(_) => &mut at[*key],
            }) = to;
            serde_json::from_value::<Snapshot>(value).expect("is read")
        };
        let origin = sinew::layout::chain::ORIGIN.to_string();
        let cases = [
            (with(&["activations", "0"], 1.0e9.into()), "activations"),
            (with(&["excitations", "1"], (-1.0).into()), "activations"),
            (with(&["bones", "0", "rotation", "3"], 9.0.into()), "bones"),
            (with(&["root", "translation", "0"], 1.0e30.into()), "bones"),
            (with(&["nodes", "groups", "0", "chains", &origin, "0"], 1.0e30.into()), "chain rows"),
        ];
        for (snapshot, what) in cases {
            assert_eq!(scene.physics.restore(&snapshot), Err(SnapshotError::NotSound(what)));
        }
        let flesh = scene.flesh(entities[0].0);
        for list in ["bones", "palette", "activations", "excitations"] {
            let outcome = scene.physics.restore(&with(&[list], serde_json::json!([]))).expect("restores the other one");
            assert_eq!((outcome.other_flesh, outcome.restored.len()), (vec![flesh], 1), "{list}");
        }

        // Any byte may be another one.
        let bytes = postcard::to_stdvec(&saved).expect("is written");
        let mut random = Random(3);
        let mut counts = [0; 3];
        for _ in 0..300 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.bits() % 4 {
                let at = (random.bits() % damaged.len() as u64) as usize;
                damaged[at] = random.bits() as u8;
            }
            damaged.truncate(damaged.len() - (random.bits() % 2 * (random.bits() % 1000)) as usize);
            let Ok(read) = postcard::from_bytes::<Snapshot>(&damaged) else {
                counts[0] += 1;
                continue;
            };
            match scene.physics.restore(&read) {
                Err(_) => counts[1] += 1,
                Ok(_) => {
                    counts[2] += 1;
                    scene.step();
                    scene.step();
                }
            }
            for (entity, _) in entities {
                assert!(scene.physics.state(scene.flesh(entity)).expect("is there").is_finite());
            }
        }
        println!("damaged: {} not read, {} not restored, {} stepped", counts[0], counts[1], counts[2]);
        assert!(counts[2] > 50 && counts[0] > 10);
        scene.physics.restore(&saved).expect("restores");
    }
}
