//! Skin that passes from rods to networks and back: without a jump, and by whom it is near.

use glam::{Affine3A, DQuat, DVec3, Quat, Vec3};
use sinew::{FleshBudget, FleshHandle, Physics, Pose, SkinMotion, StepError};

use crate::common::backends;
use crate::{DT, insert_sagging};

fn farthest(a: &[Vec3], b: &[Vec3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn rods_and_networks_take_turns_without_a_jump() {
    for (backend, mut physics) in backends() {
        physics.read_back.vertices = true;
        let [handle, twin] = [0.0, 3.0].map(|at| insert_sagging(&mut physics, at));
        physics.set_skin_motion(twin, SkinMotion::Rods, 0.0).unwrap();
        let step = |physics: &mut Physics| {
            physics.step_flesh(DT).unwrap();
            physics.finish().unwrap();
            physics.vertices(handle).unwrap().positions.clone()
        };
        (0..120).for_each(|_| drop(step(&mut physics)));
        let both = step(&mut physics);
        let (mut last, mut largest) = (both.clone(), 0.0_f32);
        let mut pass = |physics: &mut Physics, motion: SkinMotion| {
            physics.set_skin_motion(handle, motion, 0.5).unwrap();
            let begun = last.clone();
            largest = 0.0;
            for _ in 0..32 {
                let now = step(physics);
                largest = largest.max(farthest(&last, &now));
                last = now;
            }
            (farthest(&begun, &last), largest, last.clone())
        };
        for motion in [SkinMotion::Network, SkinMotion::Rods, SkinMotion::None, SkinMotion::Both] {
            let (way, jump, now) = pass(&mut physics, motion);
            println!("to {motion:?} on the {backend}: {way:.4} m, {jump:.5} m a frame at most");
            assert!(way > 0.005 && jump < 1.1 * way / 30.0, "to {motion:?} on the {backend}");
            let (found, shares) = physics.skin_motion(handle).unwrap();
            assert_eq!(found, motion);
            match motion {
                SkinMotion::Network => assert_eq!(shares, [0.0, 1.0]),
                SkinMotion::Rods => {
                    assert_eq!(shares, [1.0, 0.0]);
                    let alike = farthest(&now, &physics.vertices(twin).unwrap().positions);
                    assert!(alike < 1.0e-4, "{alike} m from a twin that never changed");
                }
                SkinMotion::None => assert_eq!(shares, [0.0; 2]),
                SkinMotion::Both => assert!(farthest(&now, &both) < 1.0e-4),
            }
            if shares[0] == 0.0 {
                // What moves no skin is not stepped.
                let before = physics.state(handle).unwrap().clone();
                physics.step_flesh(DT).unwrap();
                physics.finish().unwrap();
                let rows = |state: &sinew::flesh::FleshState| {
                    state.rows().map(|(nodes, _)| nodes.to_vec()).collect::<Vec<_>>()
                };
                assert_eq!(rows(&before), rows(physics.state(handle).unwrap()), "{motion:?} on the {backend}");
            }
        }
    }
    let mut physics = Physics::default();
    let handle = insert_sagging(&mut physics, 0.0);
    assert_eq!(physics.set_skin_motion(handle, SkinMotion::None, -1.0), Err(StepError::BadBlend(-1.0)));
}

/// Turns a sagging rod's bone about the middle of what it holds, so that its skin moves by some mm a frame.
fn nod(physics: &mut Physics, handle: FleshHandle, at: f64, seconds: f64) {
    let turn = 0.1 * (3.0 * seconds).sin();
    let (middle, rotation) = (DVec3::X * 0.5, DQuat::from_rotation_z(turn));
    let motion = Pose { translation: middle - rotation * middle, rotation };
    let place = Pose::from_translation(DVec3::Z * at);
    physics.set_bones(handle, &[place * motion], place).unwrap();
    let matrix = Affine3A::from_rotation_translation(rotation.as_quat(), motion.translation.as_vec3());
    physics.set_palette(handle, (0..2).map(|_| sinew::palette_matrix(&matrix))).unwrap();
    physics.set_joint_rotations(handle, &[Quat::from_rotation_x(0.3 + turn as f32); 4]).unwrap();
}

/// The crowd: the ten nearest have rods, ninety networks, all move, and the camera goes by. Two more only ever have the one or
/// the other: what skin moves beyond these is what switching adds.
#[test]
fn a_crowd_passes_from_rods_to_networks_and_back_without_a_jump() {
    const APART: f64 = 2.0;
    let mut physics = Physics::default();
    let place = |k: usize| APART * k as f64;
    let handles: Vec<FleshHandle> = (0..102).map(|k| insert_sagging(&mut physics, place(k))).collect();
    let (crowd, steady) = handles.split_at(100);
    for (&handle, motion) in steady.iter().zip([SkinMotion::Rods, SkinMotion::Network]) {
        physics.set_skin_motion(handle, motion, 0.0).unwrap();
    }
    let budget = |seconds: f64| FleshBudget { distance: 10.5, count: 10, seconds, ..FleshBudget::default() };
    let mut step = |frame: u32, camera: f64, seconds: f64| {
        let distances: Vec<_> = (0..).zip(crowd).map(|(k, handle)| (*handle, (place(k) - camera).abs())).collect();
        // All settle first: what moves then is what changes.
        if frame >= 120 {
            physics.keep_to_budget(&budget(seconds), &distances).unwrap();
        }
        let time = DT * f64::from(frame);
        (0..).zip(&handles).for_each(|(k, handle)| nod(&mut physics, *handle, place(k), time));
        physics.step_flesh(DT).unwrap();
        let skins: Vec<_> = handles.iter().map(|handle| physics.vertices(*handle).unwrap().positions.clone()).collect();
        let motions: Vec<_> = crowd.iter().map(|handle| physics.skin_motion(*handle).unwrap()).collect();
        (skins, motions)
    };
    let (mut last, mut motions) = (0..180).map(|frame| step(frame, 20.0, 0.0)).last().unwrap();
    let (mut largest, mut own, mut most_at_work, mut switches) = (0.0_f32, 0.0_f32, 0, 0);
    for frame in 180..480 {
        let (now, moving) = step(frame, 20.0 + 0.2 * f64::from(frame - 180), 1.5);
        let ways = |k: usize| now[k].iter().zip(&last[k]).map(|(now, last)| now.distance(*last));
        let steady: Vec<f32> = ways(100).zip(ways(101)).map(|(rods, network)| rods.max(network)).collect();
        for k in 0..100 {
            largest = ways(k).zip(&steady).map(|(way, own)| way - own).fold(largest, f32::max);
        }
        own = steady.iter().copied().fold(own, f32::max);
        most_at_work = most_at_work.max(moving.iter().filter(|(_, shares)| shares[0] > 0.0).count());
        switches += moving.iter().zip(&motions).filter(|(now, last)| now.0 != last.0).count();
        (last, motions) = (now, moving);
    }
    println!(
        "largest way in a frame: {:.3} % of size, and {:.4} % beyond it at {switches} switches; at most {most_at_work} of 100 stepped",
        100.0 * own,
        100.0 * largest
    );
    assert!(largest <= 1.0e-3 && most_at_work < 20, "{largest} m of 1 m; {most_at_work} stepped");
    assert!(own > 1.0e-3 && switches >= 40, "{own} m, {switches} switches: nothing happens");
}

/// Of an hecs world's characters the near one keeps its rods; who is gone is nobody's trouble.
#[cfg(all(feature = "gltf", feature = "hecs"))]
#[test]
fn characters_near_the_viewer_have_their_rods() {
    use sinew::components::CharacterInstance;
    use sinew::world;
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/arm.glb");
    let arm = sinew::Character::load(path).unwrap();
    let (mut world, mut physics) = (hecs::World::new(), Physics::default());
    let mut spawn = |x: f64| {
        let place = Pose::from_translation(DVec3::X * x);
        let entity = arm.spawn_without_bodies(&mut world, &mut physics, place).unwrap();
        world.get::<&CharacterInstance>(entity).unwrap().flesh
    };
    let handles = [0.0, 30.0, 60.0].map(&mut spawn);
    physics.remove(handles[2]).unwrap();
    let motions = |physics: &Physics| [0, 1].map(|character| physics.skin_motion(handles[character]).unwrap().0);
    let budget = FleshBudget::default();
    world::keep_to_budget(&mut world, &mut physics, &budget, DVec3::ZERO).unwrap();
    assert_eq!(motions(&physics), [SkinMotion::Rods, SkinMotion::Network]);
    let none = FleshBudget { count: 0, seconds: -1.0, ..budget };
    let error = world::keep_to_budget(&mut world, &mut physics, &none, DVec3::ZERO).unwrap_err();
    assert!(matches!(error, world::WorldError::Step(StepError::BadBlend(_))), "{error}");
    assert_eq!(motions(&physics), [SkinMotion::Rods, SkinMotion::Network]);
    world::keep_to_budget(&mut world, &mut physics, &budget, DVec3::X * 45.0).unwrap();
    assert_eq!(motions(&physics), [SkinMotion::Network, SkinMotion::Rods]);
}
