//! Spawning, despawning, teleports and resets.

use std::sync::Arc;

use glam::{DQuat, DVec3, Vec3};
use sinew::character::FleshOptions;
use sinew::components::{BoneBodies, CharacterInstance};
use sinew::rigid::RigidError;
use sinew::world::{WorldError, despawn, teleport};
use sinew::{Placement, Pose, StepError};

use crate::{Scene, at, character};

#[test]
fn characters_come_and_go_without_touching_the_others() {
    let (arm, octopus) = (character("arm.glb"), character("octopus.glb"));
    let homes = [at(0.0, 0.0, 0.0), at(1.0, 0.0, 0.0), at(-1.0, 0.0, 0.5)];
    // What the others do with nobody coming and going.
    let alone = {
        let mut scene = Scene::default();
        let others = [scene.spawn(&arm, homes[0]), scene.spawn(&octopus, homes[2])];
        for frame in 0..90 {
            for entity in others {
                scene.animate(entity, f64::from(frame) / 60.0);
            }
            scene.step();
        }
        others.map(|entity| (scene.nodes(entity), scene.skin(entity)))
    };

    let mut scene = Scene::default();
    let first = scene.spawn(&arm, homes[0]);
    let guest = scene.spawn(&octopus, homes[1]);
    let last = scene.spawn(&octopus, homes[2]);
    let stale = scene.flesh(guest);
    let bodies = scene.world.get::<&BoneBodies>(guest).unwrap().0.clone();
    let all_bodies = scene.rigid.bodies.len();
    let mut second = None;
    for frame in 0..90 {
        if frame == 30 {
            scene.despawn(guest);
            assert_eq!(scene.rigid.bodies.len(), all_bodies - bodies.len(), "bodies are left behind");
            assert!(bodies.iter().all(|&body| scene.rigid.body_pose(body) == Err(RigidError::NoSuchBody(body))));
            assert_eq!(scene.rigid.colliders.iter().filter(|(_, c)| c.parent().is_none()).count(), 0);
        }
        if frame == 60 {
            second = Some(scene.spawn(&arm, homes[1]));
        }
        for entity in [first, last] {
            scene.animate(entity, f64::from(frame) / 60.0);
        }
        scene.step();
    }

    let second = scene.flesh(second.unwrap());
    assert_ne!(second, stale);
    assert_eq!(format!("{second:?}"), format!("{stale:?}").replace("generation: 0", "generation: 1"), "another slot");
    let physics = &mut scene.physics;
    assert_eq!(physics.state(stale).err(), Some(StepError::NoSuchFlesh));
    assert_eq!(physics.state_mut(stale).err(), Some(StepError::NoSuchFlesh));
    assert_eq!(physics.vertices(stale).err(), Some(StepError::NoSuchFlesh));
    assert_eq!(physics.health(stale).err(), Some(StepError::NoSuchFlesh));
    assert_eq!(physics.set_bones(stale, &[], Pose::IDENTITY), Err(StepError::NoSuchFlesh));
    assert_eq!(physics.set_activation(stale, 0, 1.0), Err(StepError::NoSuchFlesh));
    assert_eq!(physics.reset(stale), Err(StepError::NoSuchFlesh));
    assert_eq!(physics.remove(stale), Err(StepError::NoSuchFlesh));
    let gone = despawn(&mut scene.world, &mut scene.physics, &mut scene.rigid, guest);
    assert!(matches!(gone, Err(WorldError::NotACharacter(entity)) if entity == guest));

    for (entity, (nodes, skin)) in [first, last].into_iter().zip(alone) {
        assert_eq!(scene.nodes(entity), nodes, "a guest changed the flesh of another");
        assert_eq!(scene.skin(entity), skin, "a guest changed the skin of another");
    }
    println!("a guest came, went and came again: {} nodes of the others have the same bits", scene.nodes(first).len());
}

#[test]
fn despawning_outlives_bodies_that_the_game_removed() {
    let mut scene = Scene::default();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    let flesh = scene.flesh(entity);
    let gone = scene.world.get::<&BoneBodies>(entity).unwrap().0[0];
    scene.rigid.remove_body(gone).unwrap();
    let error = despawn(&mut scene.world, &mut scene.physics, &mut scene.rigid, entity);
    assert!(matches!(error, Err(WorldError::Rigid(RigidError::NoSuchBody(body))) if body == gone));
    assert_eq!(scene.rigid.bodies.len(), 0, "the other bodies are left behind");
    assert!(!scene.world.contains(entity) && scene.physics.state(flesh).is_err(), "the flesh is left behind");
}

#[test]
fn teleported_flesh_is_at_rest() {
    for character in [character("arm.glb"), character("octopus.glb")] {
        for (away, bar) in [(DVec3::new(60.0, 0.0, 80.0), 1.0e-6), (DVec3::new(3000.0, 0.0, -4000.0), 1.0e-6)] {
            let mut scene = Scene::weightless();
            scene.rigid.origin = away;
            let entity = scene.spawn(&character, Pose::IDENTITY);
            for frame in 0..40 {
                let time = f64::from(frame) / 60.0;
                scene.animate(entity, time);
                scene.sway(entity, Pose::IDENTITY, time);
                scene.step();
            }
            let before = scene.fitted_motion(entity);
            let root = Pose::new(away, DQuat::from_rotation_y(1.0));
            teleport(&mut scene.world, &mut scene.physics, &mut scene.rigid, entity, root).unwrap();
            let there = scene.fitted_motion(entity);
            let mut after = (0.0_f64, 0.0_f32);
            for _ in 0..60 {
                scene.step();
                let now = scene.fitted_motion(entity);
                after = (after.0.max(now.0), after.1.max(now.1));
            }
            let bodies = scene.world.get::<&BoneBodies>(entity).unwrap();
            let bones = scene.physics.bones(scene.flesh(entity)).unwrap();
            let body = bodies.0.iter().zip(bones).fold(0.0_f64, |worst, (&body, bone)| {
                worst.max(scene.rigid.body_pose(body).unwrap().translation.distance(bone.translation))
            });
            println!(
                "{}, {:.0} m: swung by {:.1e} m at {:.2} m/s before; at most {:.1e} m at {:.1e} m/s in the second after; \
                 bodies {body:.1e} m from their bones",
                character.asset().name,
                away.length(),
                before.0,
                before.1,
                after.0,
                after.1
            );
            assert!(before.0 > 2.0e-5 && before.1 > 0.1, "it did not move before, so this shows nothing");
            assert!(there.0 <= bar && there.1 == 0.0);
            assert!(after.0 <= bar && after.1 <= 1.0e-3 && body <= 1.0e-6);
            assert_eq!(scene.health(entity).resets, 0);
        }
    }
}

#[test]
fn reset_puts_flesh_to_rest_where_it_is() {
    let mut scene = Scene::weightless();
    let entity = scene.spawn(&character("octopus.glb"), Pose::IDENTITY);
    for frame in 0..40 {
        let time = f64::from(frame) / 60.0;
        scene.animate(entity, time);
        scene.sway(entity, Pose::IDENTITY, time);
        scene.step();
    }
    let (swing, speed) = (scene.swing(entity), scene.speed(entity));
    scene.physics.reset(scene.flesh(entity)).unwrap();
    let (rest, still) = (scene.swing(entity), scene.speed(entity));
    println!("reset: from {swing:.1e} m and {speed:.2} m/s to {rest:.1e} m and {still} m/s");
    assert!(swing > 2.0e-5 && speed > 0.1 && rest <= 1.0e-6 && still == 0.0);
    assert_eq!(scene.health(entity).resets, 0, "only bad states count");
}

#[test]
fn skin_is_there_from_the_spawn_on() {
    let (place, turn) = (DVec3::new(2.0, 0.5, -1.0), DQuat::from_rotation_y(0.7));
    for (name, scale) in [("arm.glb", Vec3::ONE), ("octopus.glb", Vec3::new(-1.5, 1.5, 1.5))] {
        let character = character(name);
        let mut scene = Scene::default();
        let placement = Placement { pose: Pose::new(place, turn), scale };
        let entity =
            character.spawn(&mut scene.world, &mut scene.rigid, &mut scene.physics, placement).expect("spawns");
        let body = character.body_at(scale).expect("builds");
        let expected = body.rigid_vertices(character.asset(), &character.asset().skeleton.rest_pose());
        let skin = scene.skin(entity);
        let error = skin.positions.iter().zip(&expected).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        println!("{name}: {} vertices at spawn, {error:.1e} m from the rigid skin", skin.positions.len());
        assert_eq!((skin.positions.len(), skin.normals.len()), (expected.len(), expected.len()));
        assert!(error <= 2.0e-6 * body.height());
        assert!(skin.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1.0e-5));
        assert_eq!(&skin, scene.physics.vertices(scene.flesh(entity)).expect("is there"));
        scene.step();
        assert_ne!(skin, scene.skin(entity), "steps take over");
    }
}

#[test]
fn bodies_of_one_scale_are_shared_while_they_live() {
    let character = character("arm.glb");
    let clone = character.clone();
    let large = character.body_at(Vec3::splat(2.0)).expect("builds");
    assert!(Arc::ptr_eq(&large, &clone.body_at(Vec3::splat(2.0)).expect("builds")), "clones share");
    assert!(!Arc::ptr_eq(&large, &character.body_at(Vec3::splat(3.0)).expect("builds")));
    assert!(Arc::ptr_eq(character.body(), &clone.body_at(Vec3::ONE).expect("builds")));
    assert!(clone.body_at(Vec3::ZERO).is_err());

    let mut scene = Scene::default();
    let placement = Placement { pose: Pose::IDENTITY, scale: Vec3::splat(2.0) };
    for character in [&character, &clone] {
        character.spawn(&mut scene.world, &mut scene.rigid, &mut scene.physics, placement).expect("spawns");
    }
    let spawned = scene.world.query_mut::<&CharacterInstance>().into_iter();
    assert_eq!(spawned.filter(|instance| Arc::ptr_eq(&instance.body, &large)).count(), 2);

    let other = FleshOptions { segments: 5, ..*character.flesh_options() };
    let fitted = character.with_flesh(&other).expect("builds").body_at(Vec3::splat(2.0)).expect("builds");
    assert!(!Arc::ptr_eq(&large, &fitted), "other flesh is another body");

    let weak = Arc::downgrade(&large);
    drop((large, scene));
    assert!(weak.upgrade().is_none(), "the character does not keep what nothing uses");
    assert_eq!(character.body_at(Vec3::splat(2.0)).expect("builds").scale, Vec3::splat(2.0));
}
