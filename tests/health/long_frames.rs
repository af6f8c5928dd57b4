//! Frames longer than flesh can follow are split, and what is beyond that is left out.

use glam::DVec3;
use sinew::Pose;
use sinew::step::{Integrator, LONGEST_FRAME, MOST_SPLIT, StepConfig};

use crate::{FRAME, Stepped, limb, limb_at, swinging};

#[test]
fn a_frame_is_split_so_that_a_substep_stays_as_short() {
    for (substeps, dt, expected, simulated) in [
        (4, FRAME, 4, FRAME),
        (4, 1.0 / 30.0, 4, 1.0 / 30.0),
        (1, 1.0 / 60.0, 1, 1.0 / 60.0),
        (4, 1.0 / 29.0, 5, 1.0 / 29.0),
        (4, 0.1, 12, 0.1),
        (1, 0.1, 3, 0.1),
        (4, 0.2, 24, 0.2),
        (4, 8.0 / 30.0, 32, 8.0 / 30.0),
        (4, 1.0, 32, 8.0 / 30.0),
        (1, 10.0, 8, 8.0 / 30.0),
    ] {
        let config = StepConfig { substeps, ..StepConfig::default() };
        let (rods, bones) = limb();
        let mut limb = Stepped::new(&rods, &bones, config);
        limb.step(&bones, Pose::IDENTITY, dt);
        let report = limb.physics.last_frame();
        println!("{substeps} substeps, {dt:.4} s: {report:?}");
        assert_eq!(report, config.split(dt));
        assert_eq!((report.substeps, report.asked), (expected, dt));
        assert!((report.simulated - simulated).abs() < 1.0e-12);
        let longest = LONGEST_FRAME / f64::from(substeps) * (1.0 + 1.0e-8);
        assert!(report.simulated / f64::from(report.substeps) <= longest && report.substeps <= MOST_SPLIT * substeps);
    }
}

/// The largest distance of a node of one limb from the other's, over its chain's length.
fn apart(a: &Stepped, b: &Stepped) -> f64 {
    let lengths = a.flesh.chains().iter().map(|chain| chain.rest_length);
    let chains = a.all_nodes().into_iter().zip(b.all_nodes()).zip(lengths);
    chains
        .flat_map(|((a, b), length)| a.into_iter().zip(b).map(move |(a, b)| a.place.distance(b.place) / length))
        .fold(0.0, f64::max)
}

#[test]
fn a_long_frame_is_as_many_short_ones() {
    let (rods, bones) = limb();
    for dt in [0.05, 0.1, 0.2] {
        let mut long = Stepped::new(&rods, &bones, StepConfig::default());
        let mut short = Stepped::new(&rods, &bones, StepConfig { substeps: 1, ..StepConfig::default() });
        let (frames, per) = ((3.0 / dt) as u32, (dt * 120.0_f64).round() as u32);
        let angle = |time: f64| 0.5 + 0.2 * (2.0 * time).sin();
        for limb in [&mut long, &mut short] {
            let start = limb_at(Pose::IDENTITY, angle(0.0));
            limb.physics.teleport(limb.handle, &start, Pose::IDENTITY).unwrap();
        }
        let mut worst = 0.0_f64;
        for frame in 1..=frames {
            let (from, to) = (f64::from(frame - 1) * dt, f64::from(frame) * dt);
            long.step(&limb_at(Pose::IDENTITY, angle(to)), Pose::IDENTITY, dt);
            for k in 1..=per {
                let share = f64::from(k) / f64::from(per);
                let turn = angle(from) + (angle(to) - angle(from)) * share;
                short.step(&limb_at(Pose::IDENTITY, turn), Pose::IDENTITY, dt / f64::from(per));
            }
            worst = worst.max(apart(&long, &short));
        }
        println!(
            "frames of {dt} s against frames of 1/120 s of one substep: {:.4} % of the length apart at most (bar 0.1 %)",
            100.0 * worst
        );
        assert!(worst < 1.0e-3 && long.resets() == 0);
    }
}

#[test]
fn frames_of_up_to_10_s_leave_flesh_on_its_bones() {
    let (rods, bones) = limb();
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        for dt in [0.1, 1.0, 3.0, 10.0] {
            let mut limb = Stepped::new(&rods, &bones, StepConfig { integrator, ..StepConfig::default() });
            let mut worst = [0.0_f64; 2];
            // A runner that swings his limb, for a second in short frames, then in long ones.
            let root = |time: f64| Pose::from_translation(DVec3::Z * (7.0 * time));
            limb.physics.teleport(limb.handle, &limb_at(root(-1.0), swinging(-1.0)), root(-1.0)).unwrap();
            for frame in -60..0 {
                let time = f64::from(frame + 1) * FRAME;
                limb.step(&limb_at(root(time), swinging(time)), root(time), FRAME);
            }
            for frame in 1..=6 {
                let time = f64::from(frame) * dt;
                limb.step(&limb_at(root(time), swinging(time)), root(time), dt);
                for chain in 0..4 {
                    worst = [worst[0].max(limb.off(chain)), worst[1].max(limb.stretch(chain))];
                }
            }
            let (resting, root) = (swinging(6.0 * dt), root(6.0 * dt));
            let mut rest = Stepped::new(&rods, &bones, StepConfig::default());
            rest.physics.teleport(rest.handle, &limb_at(root, resting), root).unwrap();
            for _ in 0..180 {
                limb.step(&limb_at(root, resting), root, FRAME);
                rest.step(&limb_at(root, resting), root, FRAME);
            }
            let health = limb.physics.health(limb.handle).unwrap();
            println!(
                "{integrator:?}, six frames of {dt} s: {:.2} lengths off, stretched {:.2} times at most (bar 1, 2); 3 s later {:.3} % \
                 of the length from rest (bar 1 %); {} resets, {} teleports",
                worst[0],
                worst[1],
                100.0 * apart(&limb, &rest),
                health.resets,
                health.teleports
            );
            assert!(worst[0] < 1.0 && worst[1] < 2.0 && health.resets == 0 && health.teleports == 0);
            assert!(apart(&limb, &rest) < 0.01);
        }
    }
}

#[test]
fn long_frames_have_the_same_bits_at_every_lane_width() {
    use sinew::LaneWidth;
    let (rods, bones) = limb();
    let hash = |width| {
        let mut limb = Stepped::new(&rods, &bones, StepConfig::default());
        limb.physics.lane_width = width;
        for (frame, dt) in [0.02, 0.1, 1.0, 0.05, 10.0, 0.01].into_iter().cycle().take(30).enumerate() {
            let root = Pose::from_translation(DVec3::X * [0.0, 0.1, 50.0][frame % 3]);
            limb.step(&limb_at(root, swinging(frame as f64 * 0.3)), root, dt);
        }
        limb.physics.state_hash()
    };
    let hashes = [LaneWidth::Eight, LaneWidth::EightBaseline, LaneWidth::One].map(hash);
    println!("jumps and long frames: {hashes:016x?}");
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
}
