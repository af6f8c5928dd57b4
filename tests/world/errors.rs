//! Bad requests: typed errors, and nothing moved or left behind.

use glam::{DQuat, DVec3, Vec3};
use sinew::character::CharacterError;
use sinew::components::{Activations, BoneBodies, CharacterInstance, RootTransform};
use sinew::rigid::RigidError;
use sinew::world::{WorldError, activate, teleport};
use sinew::{Placement, Pose, StepError};

use crate::{FRAME, Scene, at, character};

#[test]
fn a_refused_spawn_leaves_nothing_behind() {
    for character in [character("arm.glb"), character("octopus.glb")] {
        let good = Pose::IDENTITY;
        let placements = [
            ("NaN place", Placement::from(Pose::from_translation(DVec3::NAN))),
            ("infinite place", Pose::from_translation(DVec3::INFINITY).into()),
            ("NaN rotation", Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0)).into()),
            ("no rotation", Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)).into()),
            ("beyond f32", Pose::from_translation(DVec3::splat(1.0e60)).into()),
            ("no scale", Placement { pose: good, scale: Vec3::ZERO }),
            ("flat", Placement { pose: good, scale: Vec3::new(1.0, 0.0, 1.0) }),
            ("NaN scale", Placement { pose: good, scale: Vec3::NAN }),
            ("infinite scale", Placement { pose: good, scale: Vec3::INFINITY }),
        ];
        let mut scene = Scene::default();
        let other = scene.spawn(&character, at(3.0, 0.0, 0.0));
        scene.step();
        let (hash, bodies, colliders) =
            (scene.physics.state_hash(), scene.rigid.bodies.len(), scene.rigid.colliders.len());
        for (what, placement) in placements {
            let spawned = character.spawn(&mut scene.world, &mut scene.rigid, &mut scene.physics, placement);
            let error = spawned.expect_err(what);
            println!("{what}: {error}");
            let expected = match &error {
                WorldError::Character(CharacterError::Flesh { .. }) => placement.scale != Vec3::ONE,
                WorldError::Step(StepError::RootNotFinite | StepError::BoneNotFinite(_))
                | WorldError::Rigid(RigidError::PoseNotFinite(_)) => placement.scale == Vec3::ONE,
                _ => false,
            };
            assert!(expected, "{what}: {error:?}");
            assert_eq!(scene.world.iter().count(), 1, "{what}");
            assert_eq!((scene.rigid.bodies.len(), scene.rigid.colliders.len()), (bodies, colliders), "{what}");
            assert_eq!(scene.physics.state_hash(), hash, "{what}");
        }
        scene.step();
        assert_eq!(scene.health(other).resets, 0);
        // The slot that refused spawns went through is free.
        scene.spawn(&character, good);
        assert_eq!(scene.world.iter().count(), 2);
    }
}

#[test]
fn a_bad_step_moves_nothing() {
    let mut scene = Scene::default();
    scene.rigid.spawn_ground(0.1, 0.5).unwrap();
    let entity = scene.spawn(&character("octopus.glb"), Pose::IDENTITY);
    let ball = scene.rigid.bodies.insert(
        sinew::rigid::rapier3d::prelude::RigidBodyBuilder::dynamic().additional_mass(1.0).translation(Vec3::Y * 5.0),
    );
    for frame in 0..10 {
        scene.animate(entity, f64::from(frame) * FRAME);
        scene.step();
    }
    let unmoved = |scene: &Scene| {
        let bodies: Vec<_> = scene.rigid.bodies.iter().map(|(handle, _)| scene.rigid.body_pose(handle)).collect();
        (scene.physics.state_hash(), scene.physics.step_count(), scene.skin(entity), bodies)
    };
    scene.animate(entity, 1.0);
    let before = unmoved(&scene);
    for dt in [0.0, -0.0, -FRAME, f64::NAN, f64::INFINITY] {
        let world = scene.physics.step(&mut scene.world, &mut scene.rigid, dt);
        let flesh = scene.physics.step_flesh(dt);
        println!("dt {dt}: {}", world.as_ref().unwrap_err());
        assert!(matches!(world, Err(WorldError::Step(StepError::BadTimeStep(_)))));
        assert!(matches!(flesh, Err(StepError::BadTimeStep(_))));
        assert!(unmoved(&scene) == before, "a step of {dt} s moved something");
    }
    let good = scene.physics.config;
    for (substeps, iterations, name) in [(0, 1, "substeps"), (4, 0, "iterations")] {
        scene.physics.config.substeps = substeps;
        scene.physics.config.iterations = iterations;
        let error = scene.physics.step(&mut scene.world, &mut scene.rigid, FRAME);
        assert!(matches!(error, Err(WorldError::Step(StepError::ZeroCount(field))) if field == name));
        assert!(unmoved(&scene) == before, "no {name}, yet something moved");
    }
    scene.physics.config.substeps = 65_537;
    scene.physics.config.iterations = 65_537;
    let error = scene.physics.step(&mut scene.world, &mut scene.rigid, FRAME);
    println!("{}", error.as_ref().unwrap_err());
    assert!(matches!(error, Err(WorldError::Step(StepError::ManySolves { .. }))));
    assert!(unmoved(&scene) == before, "too many solves, yet something moved");
    scene.physics.config = good;
    scene.step();
    assert!(unmoved(&scene) != before);
    assert!(scene.rigid.body_pose(ball).unwrap().translation.y < 5.0);
}

#[test]
fn bad_bones_and_roots_are_named() {
    let mut scene = Scene::default();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    let flesh = scene.flesh(entity);
    let bones = scene.physics.bones(flesh).unwrap().to_vec();
    let before = (scene.physics.save(), scene.world.get::<&BoneBodies>(entity).unwrap().0.clone());
    let fewer = scene.physics.set_bones(flesh, &bones[1..], Pose::IDENTITY);
    assert_eq!(fewer, Err(StepError::BoneCount { given: bones.len() - 1, expected: bones.len() }));
    let mut bad = bones.clone();
    bad[1].translation.z = f64::NAN;
    assert_eq!(scene.physics.set_bones(flesh, &bad, Pose::IDENTITY), Err(StepError::BoneNotFinite(1)));
    let nowhere = Pose::from_translation(DVec3::INFINITY);
    assert_eq!(scene.physics.set_bones(flesh, &bones, nowhere), Err(StepError::RootNotFinite));
    assert_eq!(scene.physics.teleport(flesh, &bones, nowhere), Err(StepError::RootNotFinite));
    for beyond in [nowhere, Pose::from_translation(DVec3::splat(1.0e60))] {
        let error = teleport(&mut scene.world, &mut scene.physics, &mut scene.rigid, entity, beyond).unwrap_err();
        println!("teleport: {error}");
        assert!(matches!(error, WorldError::Step(StepError::RootNotFinite) | WorldError::Rigid(_)));
    }
    let chains = scene.physics.flesh(flesh).unwrap().chains().len();
    let missing = scene.physics.set_activation(flesh, chains, 1.0);
    assert_eq!(missing, Err(StepError::NoSuchChain { chain: chains, count: chains }));
    for activation in [f32::NAN, -0.1, 11.0] {
        assert!(matches!(scene.physics.set_activation(flesh, 0, activation), Err(StepError::BadActivation(_))));
    }
    assert!(scene.physics.save() == before.0, "refused, yet something changed");
    for (&body, bone) in before.1.iter().zip(&bones) {
        assert!(scene.rigid.body_pose(body).unwrap().translation.distance(bone.translation) < 1.0e-6);
    }
    assert_eq!(scene.world.get::<&RootTransform>(entity).unwrap().0, Pose::IDENTITY);
    let stranger = scene.world.spawn((1_u32,));
    let error = teleport(&mut scene.world, &mut scene.physics, &mut scene.rigid, stranger, Pose::IDENTITY);
    assert!(matches!(error, Err(WorldError::NotACharacter(entity)) if entity == stranger));
}

#[test]
fn muscles_are_excited_by_name() {
    let mut scene = Scene::default();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    let flesh = scene.flesh(entity);
    let excited = |scene: &Scene| scene.world.get::<&Activations>(entity).unwrap().0.clone();
    activate(&mut scene.world, entity, "triceps_long", 0.8).unwrap();
    let index = scene.world.get::<&CharacterInstance>(entity).unwrap().muscle("triceps_long").unwrap();
    let mut expected = vec![0.0; scene.physics.flesh(flesh).unwrap().chains().len()];
    expected[index] = 0.8;
    assert_eq!(excited(&scene), expected);
    scene.step();
    let tension = |scene: &Scene, chain: usize| scene.physics.muscle(flesh, chain).unwrap().activation;
    assert!(tension(&scene, index) > 0.3 && tension(&scene, index - 1) == 0.0, "excited, it is not active");

    let error = activate(&mut scene.world, entity, "triceps", 0.8).unwrap_err();
    println!("{error}");
    let WorldError::Step(StepError::UnknownMuscle(unknown)) = &error else { panic!("{error:?}") };
    assert!(unknown.muscle == "triceps" && unknown.known.contains(&"triceps_long".to_string()));
    assert!(["`triceps`", "triceps_long", "biceps_short"].iter().all(|name| error.to_string().contains(name)));
    for bad in [-0.1, 10.5, f32::NAN] {
        let error = activate(&mut scene.world, entity, "triceps_long", bad);
        assert!(matches!(error, Err(WorldError::Step(StepError::BadActivation(_)))));
    }
    assert_eq!(excited(&scene), expected, "refused, yet something changed");
    let stranger = scene.world.spawn((1_u32,));
    let error = activate(&mut scene.world, stranger, "triceps_long", 0.5);
    assert!(matches!(error, Err(WorldError::NotACharacter(entity)) if entity == stranger));

    // Without hecs.
    scene.physics.set_activation_named(flesh, "biceps_long", 1.0).unwrap();
    let error = scene.physics.set_activation_named(flesh, "bicep", 1.0).unwrap_err();
    assert!(matches!(error, StepError::UnknownMuscle(_)));
    // A game that brought a shorter list.
    scene.world.get::<&mut Activations>(entity).unwrap().0.clear();
    activate(&mut scene.world, entity, "triceps_long", 0.25).unwrap();
    assert_eq!(excited(&scene)[index], 0.25);
    scene.step();
}
