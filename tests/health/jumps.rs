//! Jumps of the root and of bones are taken as teleports.

use glam::{DQuat, DVec3};
use sinew::step::StepConfig;
use sinew::{Jumped, Pose};

use crate::{FRAME, Stepped, limb, limb_at, swinging};

/// The largest distance of a node from where it is in the undisturbed twin, brought along by a motion, over its chain's
/// length.
fn apart(of: &Stepped, twin: &Stepped, by: Pose) -> f64 {
    let mut worst = 0.0_f64;
    for (chain, info) in of.flesh.chains().iter().enumerate() {
        for (a, b) in of.nodes(chain).iter().zip(twin.nodes(chain)) {
            let off = a.place.distance(by.transform_point(b.place)) / info.rest_length;
            worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
        }
    }
    worst
}

#[test]
fn a_root_that_jumps_any_distance_leaves_its_flesh_as_it_would_be_within_3_s() {
    let (rods, bones) = limb();
    let mut failed = Vec::new();
    for distance in [0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 1.0e5] {
        for animated in [false, true] {
            let (mut limb, mut twin) = (
                Stepped::new(&rods, &bones, StepConfig::default()),
                Stepped::new(&rods, &bones, StepConfig::default()),
            );
            let to = Pose::from_translation(DVec3::new(0.6, 0.5, -0.62449979984).normalize() * distance);
            for frame in 0..300 {
                let angle = if animated { swinging(f64::from(frame) * FRAME) } else { 0.3 };
                let root = if frame < 120 { Pose::IDENTITY } else { to };
                limb.step(&limb_at(root, angle), root, FRAME);
                twin.step(&limb_at(Pose::IDENTITY, angle), Pose::IDENTITY, FRAME);
            }
            let (off, health) = (apart(&limb, &twin, to), limb.physics.health(limb.handle).unwrap());
            println!(
                "root jumps {distance:>8} m, animated {animated}: 3 s later {:.4} % of the length off (bar 1 %); {} teleports, {} resets",
                100.0 * off,
                health.teleports,
                health.resets
            );
            let named = health.jumped == [Jumped { bone: None, times: 1 }];
            let expected = distance > StepConfig::default().jump * limb_size();
            if off > 0.01 || !limb.is_finite() || named != expected || health.resets > 0 {
                failed.push((distance, animated, off, health.clone()));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// The diagonal of the box around the limb's rods (m).
fn limb_size() -> f64 {
    let places: Vec<DVec3> = limb().0.iter().flat_map(|rod| rod.nodes.iter().map(|node| node.place)).collect();
    let high = places.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    (high - places.iter().copied().fold(DVec3::INFINITY, DVec3::min)).length()
}

#[test]
fn a_runner_that_is_set_back_keeps_its_shape_and_speed() {
    let (rods, bones) = limb();
    let (mut limb, mut twin) =
        (Stepped::new(&rods, &bones, StepConfig::default()), Stepped::new(&rods, &bones, StepConfig::default()));
    let back = Pose::new(DVec3::new(-100.0, 3.0, 7.0), DQuat::from_rotation_y(1.2));
    for frame in 0..100 {
        let (time, running) =
            (f64::from(frame) * FRAME, Pose::from_translation(DVec3::Z * (8.0 * f64::from(frame) * FRAME)));
        // The runner goes on in the direction that the jump turns it to.
        let root = if frame < 80 { running } else { back * running };
        limb.step(&limb_at(root, swinging(time)), root, FRAME);
        twin.step(&limb_at(running, swinging(time)), running, FRAME);
        if frame == 80 {
            let off = apart(&limb, &twin, back);
            println!(
                "in the frame of the jump: {:.4} % of the length from the twin that did not jump (bar 3 %)",
                100.0 * off
            );
            assert!(off < 0.03);
        }
    }
    let health = limb.physics.health(limb.handle).unwrap();
    println!("20 frames later: {:.4} %; {health:?}", 100.0 * apart(&limb, &twin, back));
    assert_eq!(health.jumped, [Jumped { bone: None, times: 1 }]);
    assert!(apart(&limb, &twin, back) < 0.01);
}

#[test]
fn a_joint_that_is_far_away_for_one_frame_leaves_nothing_behind() {
    let (rods, bones) = limb();
    for away in [3.0, 1.0e3, 1.0e8] {
        let (mut limb, mut twin) =
            (Stepped::new(&rods, &bones, StepConfig::default()), Stepped::new(&rods, &bones, StepConfig::default()));
        for frame in 0..240 {
            let mut bones = limb_at(Pose::IDENTITY, swinging(f64::from(frame) * FRAME));
            twin.step(&bones, Pose::IDENTITY, FRAME);
            if frame == 60 {
                bones[1].translation += DVec3::new(0.0, 0.6, 0.8) * away;
            }
            limb.step(&bones, Pose::IDENTITY, FRAME);
            assert!(limb.is_finite(), "frame {frame}");
            if frame == 62 {
                println!(
                    "joint at {away:.0e} m for a frame: a frame after that {:.3} lengths off",
                    apart(&limb, &twin, Pose::IDENTITY)
                );
            }
        }
        let (off, health) = (apart(&limb, &twin, Pose::IDENTITY), limb.physics.health(limb.handle).unwrap());
        println!("  3 s later {:.4} % of the length off (bar 1 %); {health:?}", 100.0 * off);
        assert!(off < 0.01);
        assert_eq!((health.teleports, health.jumped.as_slice()), (2, [Jumped { bone: Some(1), times: 2 }].as_slice()));
        assert_eq!(health.resets, 0);
    }
}

#[test]
fn without_end_nothing_is_a_jump_and_a_length_of_none_is_refused() {
    let (rods, bones) = limb();
    let config = StepConfig { jump: f64::INFINITY, ..StepConfig::default() };
    let mut limb = Stepped::new(&rods, &bones, config);
    for frame in 0..240 {
        let root = if frame < 60 { Pose::IDENTITY } else { Pose::from_translation(DVec3::X * 20.0) };
        limb.step(&limb_at(root, 0.3), root, FRAME);
    }
    let health = limb.physics.health(limb.handle).unwrap();
    println!("20 m in a frame, taken as motion, 3 s later: {health:?}");
    assert_eq!(health.teleports, 0);
    for jump in [0.0, -1.0, f64::NAN] {
        limb.physics.config.jump = jump;
        let error = limb.physics.step_flesh(FRAME).unwrap_err();
        println!("{error}");
        assert!(error.to_string().contains("config.jump"));
    }
}
