//! A world stepped on a GPU, whose states come back some steps later.

use glam::DVec3;

use sinew::components::{CharacterInstance, MuscleStates};
use sinew::world::{ContactBody, contact_events};
use sinew::{Active, ContactPhase, Physics, ReadBack};

use crate::{Pose, Scene, at, character, common};

#[test]
fn a_world_on_a_gpu_moves_as_on_the_cpu() {
    let Some(gpu) = common::gpu_physics() else { return };
    let arm = character("arm.glb");
    let places = |physics| {
        let mut scene = Scene { physics, ..Scene::default() };
        scene.physics.read_back = ReadBack::ALL;
        let entity = scene.spawn(&arm, Pose::IDENTITY);
        let mut swing = 0.0_f64;
        for frame in 1..=30 {
            let time = f64::from(frame) / 60.0;
            scene.animate(entity, time);
            scene.sway(entity, Pose::IDENTITY, time);
            scene.step();
            swing = swing.max(scene.swing(entity));
        }
        scene.physics.finish().expect("nothing failed");
        (scene.nodes(entity).iter().map(|node| node.place).collect::<Vec<DVec3>>(), swing)
    };
    let ((on_cpu, cpu_swing), (on_gpu, gpu_swing)) = (places(sinew::Physics::default()), places(gpu));
    let apart = on_cpu.iter().zip(&on_gpu).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    println!(
        "arm over 30 frames: {apart:.1e} m apart (bar 1e-3), swung by {cpu_swing:.3} m on the CPU and {gpu_swing:.3} m on the GPU"
    );
    assert!(apart <= 1.0e-3 && cpu_swing > 1.0e-3 && gpu_swing > 1.0e-3);
}

/// A game that gives an entity [`MuscleStates`] gets them some frames later, of no other entity, and no longer than it asks.
#[test]
fn muscle_states_come_back_while_an_entity_has_them() {
    let Some(mut physics) = common::gpu_physics() else { return };
    physics.read_back = ReadBack::NOTHING;
    let mut scene = Scene { physics, ..Scene::default() };
    let arm = character("arm.glb");
    let [asking, other] = [0.0, 3.0].map(|x| scene.spawn(&arm, at(x, 0.0, 0.0)));
    for entity in [asking, other] {
        sinew::world::activate(&mut scene.world, entity, "biceps_long", 1.0).expect("is there");
    }
    scene.world.insert_one(asking, MuscleStates::default()).expect("is there");
    let frames = |scene: &mut Scene, count: usize| {
        for _ in 0..count {
            scene.step();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        scene.physics.transfers().read_back
    };
    let asked = frames(&mut scene, 20);
    let biceps = scene.world.get::<&CharacterInstance>(asking).expect("is there").muscle("biceps_long").expect("is");
    let state = scene.world.get::<&MuscleStates>(asking).expect("is there").0[biceps];
    assert!(state.tension > 10.0 && state.activation > 0.9, "{state:?}");
    assert_eq!(scene.physics.state_step(scene.flesh(other)), Ok(0));
    scene.world.remove_one::<MuscleStates>(asking).expect("is there");
    let unasked = frames(&mut scene, 3);
    println!("{:.0} N; {asked} bytes a frame while asked for, {unasked} after", state.tension);
    assert!(asked > 1000 && unasked <= 2 * 64);
}

/// A character that is paused can be teleported, pushed, posed, taken to another backend and despawned.
#[test]
fn a_paused_character_is_one_all_the_same() {
    let Some(gpu) = common::gpu_physics() else { return };
    for physics in [Physics::default(), gpu] {
        let mut scene = Scene { physics, ..Scene::default() };
        let arm = character("arm.glb");
        let [hero, other] = [0.0, 3.0].map(|x| scene.spawn(&arm, at(x, 0.0, 0.0)));
        (0..5).for_each(|_| scene.step());
        for active in [Active::PAUSED, Active { flesh: false, skin: true }, Active { flesh: true, skin: false }] {
            scene.physics.set_active(scene.flesh(hero), active).expect("is there");
            scene.physics.add_force(scene.flesh(hero), 0, 3, DVec3::Y).expect("is there");
            (0..3).for_each(|_| scene.step());
            let there = at(40.0, 2.0, 0.0);
            sinew::world::teleport(&mut scene.world, &mut scene.physics, &mut scene.rigid, hero, there).expect("goes");
            for frame in 0..3 {
                scene.animate(hero, 0.1 * f64::from(frame));
                scene.step();
            }
            scene.physics.set_active(scene.flesh(hero), Active::default()).expect("is there");
            for frame in 3..20 {
                scene.animate(hero, 0.1 * f64::from(frame));
                scene.step();
            }
            scene.physics.finish().expect("nothing failed");
            let swing = scene.swing(hero);
            assert!(scene.nodes(hero)[0].place.x > 30.0 && swing < 0.3, "{active:?}: {swing} m");
            let home = at(0.0, 0.0, 0.0);
            sinew::world::teleport(&mut scene.world, &mut scene.physics, &mut scene.rigid, hero, home).expect("goes");
        }
        scene.physics.set_active(scene.flesh(hero), Active::PAUSED).expect("is there");
        scene.step();
        scene.physics.switch_backend(sinew::Backend::Cpu).expect("is there");
        scene.step();
        scene.despawn(hero);
        scene.step();
        assert_eq!(scene.health(other).resets, 0);
        assert_eq!(scene.physics.instances().count(), 1);
    }
}

/// Entities that touch and part on a GPU do so as on the CPU, some frames later; who is despawned is named in the contact's end.
#[test]
fn entities_touch_and_part_on_a_gpu() {
    let Some(mut physics) = common::gpu_physics() else { return };
    physics.config.passes = 6;
    physics.gather_events = true;
    let arm = character("arm.glb");
    let mut scene = Scene { physics, ..Scene::default() };
    let one = scene.spawn(&arm, at(0.0, 0.0, 0.0));
    let other = scene.spawn(&arm, at(0.03, 0.0, 0.0));
    let sides = [one, other].map(ContactBody::Entity);
    let mut phases = Vec::new();
    for frame in 0..24 {
        if frame == 12 {
            scene.world.despawn(other).expect("is there");
        }
        scene.step();
        std::thread::sleep(std::time::Duration::from_millis(20));
        for event in contact_events(&scene.physics) {
            assert_eq!(event.sides, sides);
            assert_eq!(event.impulse > 0.0, event.phase != ContactPhase::Ended);
            phases.push(event.phase);
        }
    }
    println!("{phases:?}");
    let went_on = phases.iter().filter(|phase| **phase == ContactPhase::GoesOn).count();
    assert!(went_on > 0 && phases.len() == went_on + 2);
    assert_eq!((phases[0], phases[phases.len() - 1]), (ContactPhase::Began, ContactPhase::Ended));
}
