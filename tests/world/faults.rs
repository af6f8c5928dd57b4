//! One character that cannot be what the game says keeps what it had and says so; the others step. What lost its entity is
//! removed, systems can be called one by one.

use glam::{DQuat, DVec3, Vec3};
use sinew::character::LocalTransform;
use sinew::components::{Activations, BoneBodies, BoundJoints, CharacterInstance, CharacterPose, RootTransform};
use sinew::rigid::rapier3d::prelude::RigidBodyBuilder;
use sinew::world::{WorldError, vertices};
use sinew::{Fault, Health, Pose, StepError};

use crate::{FRAME, Scene, at, character};

/// Two characters, one of which is spoilt for a second and then mended; both sway. Returns what the first said.
fn spoilt(spoil: impl Fn(&mut Scene, hecs::Entity), mend: impl Fn(&mut Scene, hecs::Entity)) -> Health {
    let arm = character("arm.glb");
    let (mut scene, mut alone) = (Scene::default(), Scene::default());
    let (bad, good) = (scene.spawn(&arm, Pose::IDENTITY), scene.spawn(&arm, at(2.0, 0.0, 0.0)));
    let other = alone.spawn(&arm, at(2.0, 0.0, 0.0));
    let mut told = Health::default();
    for frame in 0..120 {
        let time = f64::from(frame) * FRAME;
        scene.sway(bad, Pose::IDENTITY, time);
        scene.sway(good, at(2.0, 0.0, 0.0), time);
        alone.sway(other, at(2.0, 0.0, 0.0), time);
        match frame {
            30..90 => spoil(&mut scene, bad),
            90 => mend(&mut scene, bad),
            _ => {}
        }
        scene.step();
        alone.step();
        assert!(scene.physics.state(scene.flesh(bad)).unwrap().is_finite());
        assert!(scene.skin(bad).positions.iter().all(|place| place.is_finite()));
        let health = scene.health(bad);
        assert_eq!(health.fault.is_some(), (30..90).contains(&frame), "frame {frame}: {health:?}");
        if frame == 89 {
            told = health;
            assert!(scene.speed(bad) < 0.5, "it stays where it was");
        }
    }
    assert_eq!(scene.health(good), Health::default());
    assert_eq!(scene.nodes(good), alone.nodes(other), "the other one does not notice");
    let health = scene.health(bad);
    assert_eq!((health.fault, health.refused, health.resets), (None, 60, 0));
    println!("{:?}: {}", told.fault, told.fault.expect("was refused"));
    told
}

#[test]
fn a_character_that_cannot_be_so_keeps_what_it_had() {
    let root =
        |root: Pose| move |scene: &mut Scene, entity| scene.world.insert_one(entity, RootTransform(root)).unwrap();
    let nothing = |_: &mut Scene, _| ();
    for bad in [
        Pose::from_translation(DVec3::NAN),
        Pose::from_translation(DVec3::splat(1.0e60)),
        Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, 0.0, 0.0, 2.0)),
        Pose::new(DVec3::ZERO, DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0)),
    ] {
        assert_eq!(spoilt(root(bad), nothing).fault, Some(Fault::Root));
    }
    let joint = |scene: &mut Scene, entity| {
        let pose = scene.world.query_one_mut::<&mut CharacterPose>(entity).unwrap();
        pose.0[1].translation.x = f32::NAN;
    };
    let rest = |scene: &mut Scene, entity| {
        let (instance, pose) = scene.world.query_one_mut::<(&CharacterInstance, &mut CharacterPose)>(entity).unwrap();
        pose.0 = instance.character.asset().skeleton.rest_pose();
    };
    assert_eq!(spoilt(joint, rest).fault, Some(Fault::Joint(1)));
    for given in [0, 1] {
        let few = move |scene: &mut Scene, entity| {
            scene.world.query_one_mut::<&mut CharacterPose>(entity).unwrap().0.truncate(given);
        };
        assert!(matches!(spoilt(few, rest).fault, Some(Fault::Joints { given: told, .. }) if told == given));
    }
    let huge = |scene: &mut Scene, entity| {
        let pose = scene.world.query_one_mut::<&mut CharacterPose>(entity).unwrap();
        pose.0[0] = LocalTransform { translation: Vec3::splat(3.0e38), ..pose.0[0] };
    };
    assert!(matches!(spoilt(huge, rest).fault, Some(Fault::Bone(_) | Fault::Joint(_))));
    let bound = |scene: &mut Scene, entity| {
        let gone = scene.rigid.bodies.insert(RigidBodyBuilder::dynamic());
        scene.rigid.remove_body(gone).unwrap();
        scene.world.insert_one(entity, BoundJoints(vec![(1, gone)])).unwrap();
    };
    let unbound = |scene: &mut Scene, entity| _ = scene.world.remove_one::<BoundJoints>(entity).unwrap();
    assert_eq!(spoilt(bound, unbound).fault, Some(Fault::Body));
}

#[test]
fn excitations_out_of_range_are_not_taken() {
    let mut scene = Scene::default();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    let count = scene.physics.flesh(scene.flesh(entity)).unwrap().chains().len();
    let activation = |scene: &Scene| scene.physics.muscle(scene.flesh(entity), 0).unwrap().activation;
    scene.world.insert_one(entity, Activations(vec![0.5; count])).unwrap();
    for _ in 0..60 {
        scene.step();
    }
    for bad in [vec![f32::NAN; count], vec![-1.0; 1], vec![11.0; count], vec![0.1; count + 1]] {
        scene.world.insert_one(entity, Activations(bad)).unwrap();
        scene.step();
        assert!(matches!(scene.health(entity).fault, Some(Fault::Excitation(_))));
        assert!((activation(&scene) - 0.5).abs() < 1.0e-3, "the last good ones hold");
    }
    scene.world.insert_one(entity, Activations(vec![0.1])).unwrap();
    (0..60).for_each(|_| scene.step());
    assert_eq!(scene.health(entity).fault, None);
    assert!((activation(&scene) - 0.1).abs() < 0.02);
}

#[test]
fn the_bodies_that_are_left_go_on() {
    let mut scene = Scene::weightless();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    scene.step();
    let bodies = scene.world.get::<&BoneBodies>(entity).unwrap().0.clone();
    scene.rigid.remove_body(bodies[0]).unwrap();
    scene.world.insert_one(entity, RootTransform(at(0.1, 0.0, 0.0))).unwrap();
    let before = scene.rigid.body_pose(bodies[1]).unwrap();
    scene.step();
    assert_eq!(scene.health(entity).fault, Some(Fault::Body));
    let moved = scene.rigid.body_pose(bodies[1]).unwrap().translation - before.translation;
    assert!(moved.distance(DVec3::X * 0.1) < 1.0e-5, "{moved}");
}

#[test]
fn what_lost_its_entity_is_removed() {
    let mut scene = Scene::default();
    let arm = character("arm.glb");
    let stays = scene.spawn(&arm, at(3.0, 0.0, 0.0));
    scene.step();
    let before = (scene.rigid.bodies.len(), scene.rigid.colliders.len(), scene.physics.instances().count());
    type Lose = fn(&mut Scene, hecs::Entity);
    let ways: [Lose; 3] = [
        |scene, entity| scene.world.despawn(entity).unwrap(),
        |scene, entity| drop(scene.world.remove_one::<CharacterInstance>(entity).unwrap()),
        |scene, entity| scene.despawn(entity),
    ];
    for lose in ways {
        let entity = scene.spawn(&arm, Pose::IDENTITY);
        scene.step();
        let flesh = scene.flesh(entity);
        lose(&mut scene, entity);
        scene.step();
        let now = (scene.rigid.bodies.len(), scene.rigid.colliders.len(), scene.physics.instances().count());
        assert_eq!(now, before);
        assert_eq!(scene.physics.node(flesh, 0, 0), Err(StepError::NoSuchFlesh));
    }
    // The other way round: flesh is gone, and the entity there.
    let entity = scene.spawn(&arm, Pose::IDENTITY);
    scene.physics.remove(scene.flesh(entity)).unwrap();
    scene.step();
    assert_eq!(scene.health(entity).fault, Some(Fault::Flesh));
    assert_eq!(scene.health(stays).fault, None);
    assert!(matches!(vertices(&scene.world, &scene.physics, entity), Err(WorldError::Step(StepError::NoSuchFlesh))));
    scene.despawn(entity);
    // A character may change its entity; what is inserted by handle is nobody's.
    let parts = scene.world.remove::<(CharacterInstance, CharacterPose, RootTransform, BoneBodies)>(stays).unwrap();
    scene.world.despawn(stays).unwrap();
    let moved = scene.world.spawn(parts);
    let flesh = scene.physics.flesh(scene.flesh(moved)).unwrap().clone();
    let bones = flesh.bones().to_vec();
    let by_hand = scene.physics.insert(flesh, &bones, Pose::IDENTITY).unwrap();
    scene.step();
    assert_eq!((scene.rigid.bodies.len(), scene.rigid.colliders.len()), (before.0, before.1));
    // All at once, and others in their place, whose entities are numbered as those before.
    scene.world.clear();
    scene.spawn(&arm, Pose::IDENTITY);
    scene.step();
    assert_eq!((scene.rigid.bodies.len(), scene.rigid.colliders.len()), (before.0, before.1));
    assert_eq!(scene.physics.instances().count(), 2);
    assert!(scene.physics.flesh(by_hand).is_ok());
}

#[test]
fn a_fault_is_forgotten_without_activations_too() {
    let mut scene = Scene::default();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    scene.world.remove_one::<Activations>(entity).unwrap();
    scene.world.insert_one(entity, RootTransform(Pose::from_translation(DVec3::NAN))).unwrap();
    scene.step();
    assert_eq!(scene.health(entity).fault, Some(Fault::Root));
    scene.world.insert_one(entity, RootTransform(Pose::IDENTITY)).unwrap();
    scene.step();
    assert_eq!((scene.health(entity).fault, scene.health(entity).refused), (None, 1));
}

#[test]
fn ground_of_any_friction_holds_flesh() {
    let fallen = |friction: Option<f32>| {
        let mut scene = Scene::default();
        friction.map(|friction| scene.rigid.spawn_ground(0.2, friction).unwrap());
        scene.spawn(&character("octopus.glb"), Pose::IDENTITY);
        (0..60).for_each(|_| scene.step());
        scene.physics.state_hash()
    };
    assert_eq!(fallen(Some(5.0e3)), fallen(Some(1.0e3)));
    assert_ne!(fallen(Some(5.0e3)), fallen(None));
}

#[test]
fn systems_one_by_one_are_a_step() {
    let octopus = character("octopus.glb");
    let [mut whole, mut parts] = [(); 2].map(|()| {
        let mut scene = Scene::default();
        scene.rigid.spawn_ground(-0.2, 0.5).unwrap();
        scene.spawn(&octopus, Pose::IDENTITY);
        scene
    });
    for _ in 0..30 {
        whole.step();
        let Scene { world, rigid, physics } = &mut parts;
        sinew::world::remove_orphans(world, physics, rigid);
        sinew::world::excite(world, physics);
        sinew::world::drive_bodies(world, physics, rigid);
        rigid.step(FRAME as f32).unwrap();
        sinew::world::gather_inputs(world, physics, rigid);
        physics.step_flesh(FRAME).unwrap();
        sinew::world::scatter_outputs(world, physics);
    }
    assert_eq!(whole.physics.state_hash(), parts.physics.state_hash());
}

/// A host's own encoder, with characters in a world.
#[cfg(feature = "gpu")]
#[test]
fn characters_step_in_the_hosts_encoder() {
    let Some(gpu) = crate::common::gpu() else { return };
    let [mut own, mut theirs] = [(); 2].map(|()| {
        let physics = sinew::Physics::with_device(gpu.device().clone(), gpu.queue().clone()).unwrap();
        let mut scene = Scene { physics, ..Scene::default() };
        scene.spawn(&character("arm.glb"), Pose::IDENTITY);
        scene
    });
    for _ in 0..4 {
        own.step();
        let Scene { world, rigid, physics } = &mut theirs;
        sinew::world::excite(world, physics);
        sinew::world::drive_bodies(world, physics, rigid);
        rigid.step(FRAME as f32).unwrap();
        sinew::world::gather_inputs(world, physics, rigid);
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        physics.encode(FRAME, &mut encoder).unwrap();
        gpu.queue().submit([encoder.finish()]);
        sinew::world::scatter_outputs(world, physics);
    }
    for scene in [&mut own, &mut theirs] {
        scene.physics.finish().unwrap();
    }
    assert_eq!(own.physics.state_hash(), theirs.physics.state_hash());
}

/// Flesh touches the game's own planes too, and these stay the game's.
#[test]
fn planes_are_the_games_alone() {
    let fallen = |planes: &[sinew::HalfSpace]| {
        let mut scene = Scene::default();
        scene.spawn(&character("octopus.glb"), Pose::IDENTITY);
        scene.rigid.spawn_ground(-5.0, 0.5).unwrap();
        scene.physics.planes = planes.to_vec();
        (0..60).for_each(|_| scene.step());
        assert_eq!(scene.physics.planes, planes);
        scene.physics.state_hash()
    };
    assert_ne!(fallen(&[]), fallen(&[sinew::HalfSpace::ground(0.2, 0.5)]));
}
