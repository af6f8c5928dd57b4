//! Characters and rapier's bodies: joints that follow bodies, bones that push them.

use glam::{DQuat, DVec3, Vec3};
use sinew::components::{BoneBodies, BoundJoints, CharacterInstance, RootTransform};
use sinew::rigid::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyHandle};
use sinew::rigid::{BoneCapsule, RigidError, RigidWorld};
use sinew::{HalfSpace, Pose};

use crate::{FRAME, Scene, at, character};

fn turned_by(a: DQuat, b: DQuat) -> f64 {
    2.0 * a.dot(b).abs().min(1.0).acos()
}

/// A dynamic body at a pose, with a small ball's mass, that touches nothing.
fn dynamic_body(scene: &mut Scene, pose: &Pose) -> RigidBodyHandle {
    let position = scene.rigid.to_rapier(pose).unwrap();
    let body = scene.rigid.bodies.insert(RigidBodyBuilder::dynamic().pose(position));
    scene.rigid.colliders.insert_with_parent(ColliderBuilder::ball(0.02).sensor(true), body, &mut scene.rigid.bodies);
    body
}

#[test]
fn a_bound_joint_follows_its_body_and_flesh_goes_along() {
    for home in [at(0.0, 2.0, 0.0), Pose::new(DVec3::new(3.0, 4.0, -1.0), DQuat::from_rotation_y(0.8))] {
        let mut scene = Scene::default();
        let entity = scene.spawn(&character("arm.glb"), home);
        let flesh = scene.flesh(entity);
        let (chain, hand) = scene.chain_and_bone(entity, "hand to fingers");
        let (joint, start) = {
            let instance = scene.world.get::<&CharacterInstance>(entity).unwrap();
            (instance.body.bones[hand], scene.physics.bones(flesh).unwrap()[hand])
        };
        let body = dynamic_body(&mut scene, &start);
        scene.rigid.bodies[body].set_angvel(Vec3::new(0.5, 1.0, -0.7), true);
        scene.world.insert_one(entity, BoundJoints(vec![(joint, body)])).unwrap();

        let (mut off, mut turned, mut swing) = (0.0_f64, 0.0_f64, 0.0_f64);
        for _ in 0..45 {
            scene.step();
            let pose = scene.rigid.body_pose(body).unwrap();
            let bone = scene.physics.bones(flesh).unwrap()[hand];
            off = off.max(bone.translation.distance(pose.translation));
            turned = turned.max(turned_by(bone.rotation, pose.rotation));
            swing = swing.max(scene.chain_swing(entity, chain));
        }
        let end = scene.physics.bones(flesh).unwrap()[hand];
        let fallen = start.translation.y - end.translation.y;
        let node = scene.physics.node(flesh, chain, 4).unwrap();
        println!(
            "the hand's body falls {fallen:.3} m: bone within {off:.1e} m and {turned:.1e} rad of it, flesh within \
             {swing:.1e} m of its bone at {:.2} m/s",
            node.velocity.y
        );
        assert!((fallen - 0.5 * 9.81 * 0.75_f64.powi(2)).abs() < 0.1, "the body does not fall freely");
        assert!(off <= 1.0e-5 && turned <= 1.0e-5);
        assert!(swing < 0.05 && node.velocity.y < -5.0, "the flesh stays behind");
        assert_eq!(scene.health(entity).resets, 0);
        // The forearm stays where the pose has it.
        let (_, forearm) = scene.chain_and_bone(entity, "forearm to hand");
        let instance = scene.world.get::<&CharacterInstance>(entity).unwrap();
        let rest = instance.body.flesh.bones()[forearm];
        assert!(scene.physics.bones(flesh).unwrap()[forearm].translation.distance((home * rest).translation) < 1.0e-5);
    }
}

/// A bone's own capsule must not push the body that the joint hangs on, nor stay where the pose would have it.
#[test]
fn a_bound_joints_own_bone_body_is_out_of_the_way() {
    let mut scene = Scene::weightless();
    let entity = scene.spawn(&character("arm.glb"), Pose::IDENTITY);
    let flesh = scene.flesh(entity);
    let (_, forearm) = scene.chain_and_bone(entity, "forearm to hand");
    let joint = scene.world.get::<&CharacterInstance>(entity).unwrap().body.bones[forearm];
    let start = scene.physics.bones(flesh).unwrap()[forearm];
    let body = dynamic_body(&mut scene, &start);
    let bone = scene.world.get::<&BoneBodies>(entity).unwrap().0[forearm];
    scene.world.insert_one(entity, BoundJoints(vec![(joint, body)])).unwrap();
    (0..30).for_each(|_| scene.step());
    assert!(!scene.rigid.bodies[bone].is_enabled(), "the bone's body still collides");

    // Unbound, it is back on the pose.
    scene.world.remove_one::<BoundJoints>(entity).unwrap();
    scene.step();
    assert!(scene.rigid.bodies[bone].is_enabled());
    let back = scene.rigid.body_pose(bone).unwrap().translation.distance(start.translation);
    println!("unbound, the bone's body is {back:.1e} m from the pose");
    assert!(back <= 1.0e-5);
}

#[test]
fn bones_follow_the_pose_and_push_a_ball() {
    let mut scene = Scene::weightless();
    let home = Pose::IDENTITY;
    let entity = scene.spawn(&character("arm.glb"), home);
    let flesh = scene.flesh(entity);
    let (chain, _) = scene.chain_and_bone(entity, "forearm to hand");
    let middle = scene.physics.node(flesh, chain, 4).unwrap();
    let place = middle.place + DVec3::X * (f64::from(middle.radius) + 0.25);
    let position = scene.rigid.to_rapier(&Pose::from_translation(place)).unwrap();
    let ball = scene.rigid.bodies.insert(RigidBodyBuilder::dynamic().pose(position));
    scene.rigid.colliders.insert_with_parent(ColliderBuilder::ball(0.05), ball, &mut scene.rigid.bodies);

    let mut off = 0.0_f64;
    for frame in 1..=60 {
        let moved = DVec3::X * f64::from(frame) * FRAME;
        scene.world.query_one_mut::<&mut RootTransform>(entity).unwrap().0 = Pose::from_translation(moved);
        scene.animate(entity, 0.2 * f64::from(frame) * FRAME);
        scene.step();
        let bodies = scene.world.get::<&BoneBodies>(entity).unwrap();
        for (&body, bone) in bodies.0.iter().zip(scene.physics.bones(flesh).unwrap()) {
            off = off.max(scene.rigid.body_pose(body).unwrap().translation.distance(bone.translation));
        }
    }
    let pushed = scene.rigid.body_pose(ball).unwrap().translation - place;
    println!("bodies within {off:.1e} m of their bones; the ball was pushed by {pushed} m");
    assert!(off <= 1.0e-5 && pushed.x > 0.3, "the arm went through the ball");
}

#[test]
fn flesh_rests_on_rapiers_ground_as_on_the_games_planes() {
    let fallen = |put: fn(&mut Scene)| {
        let mut scene = Scene::default();
        put(&mut scene);
        scene.spawn(&character("octopus.glb"), Pose::IDENTITY);
        (0..60).for_each(|_| scene.step());
        scene.physics.state_hash()
    };
    let by_rapier = fallen(|scene| _ = scene.rigid.spawn_ground(0.2, 0.25).unwrap());
    let by_game = fallen(|scene| scene.physics.planes.push(HalfSpace::ground(f64::from(0.2_f32), 0.25)));
    assert!(by_rapier == by_game && by_game != fallen(|_| ()));
}

#[test]
fn bones_push_at_any_size_that_rapier_holds() {
    for size in [1.0e-6_f32, 1.0e-3, 1.0, 1.0e3, 1.0e6] {
        let mut rigid = RigidWorld { gravity: Vec3::ZERO, ..RigidWorld::default() };
        rigid.integration_parameters.length_unit = size;
        let capsule = BoneCapsule { start: Vec3::Y * -size, end: Vec3::Y * size, radius: 0.1 * size };
        let bone = rigid.spawn_bone(&Pose::IDENTITY, Some(capsule)).expect("is a solid");
        let ball = rigid.bodies.insert(RigidBodyBuilder::dynamic().translation(Vec3::X * (0.3 * size)));
        rigid.colliders.insert_with_parent(ColliderBuilder::ball(0.1 * size), ball, &mut rigid.bodies);
        for step in 1..=60 {
            let to = Pose::from_translation(DVec3::X * (f64::from(size) * f64::from(step) / 60.0));
            rigid.set_bone_target(bone, &to).expect("is there");
            rigid.step(FRAME as f32).expect("steps");
        }
        let pushed = rigid.body_pose(ball).expect("is there").translation.x / f64::from(size);
        println!("size {size:e} m: the bone goes 1, the ball is at {pushed:.3}");
        assert!((pushed - 1.2).abs() < 0.01);
    }
    let mut rigid = RigidWorld::default();
    for radius in [0.0, 1.0e-8, 1.0e8, f32::NAN] {
        let capsule = BoneCapsule { start: Vec3::ZERO, end: Vec3::Y, radius };
        let error = rigid.spawn_bone(&Pose::IDENTITY, Some(capsule)).expect_err("is none");
        assert!(matches!(error, RigidError::BadCapsule(_)) && error.to_string().contains("1e-7"), "{error}");
    }
    assert!(rigid.bodies.is_empty());
}
