//! What hits what: momentum and energy of collisions, and fast ones.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::cpu::meetings::ROLLS;
use sinew::scenes::octopuses::Octopus;
use sinew::step::{Integrator, StepConfig};
use sinew::{Coefficient, Collisions, CombineRule, Motion, Physics, Pose};

use crate::common::{FRAME, Random, material};
use crate::pile::{PASSES, Pile, RADIUS, SEGMENTS};

#[test]
fn collisions_keep_momentum_and_make_no_energy() {
    for (name, turn, aside, iterations) in [
        ("crossed", FRAC_PI_2, 0.0, 1),
        ("crossed beside nodes", FRAC_PI_2, 0.023, 1),
        ("skew", 0.6, 0.01, 1),
        ("skew, two solves a substep", 0.6, 0.01, 2),
        ("nearly along each other", 0.05, 0.01, 1),
        ("along each other", 0.0, 0.01, 1),
    ] {
        let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
        pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
        pile.add(DVec3::new(aside, 0.07, aside), DQuat::from_rotation_y(turn), 1.0);
        pile.physics.config.gravity = DVec3::ZERO;
        pile.physics.config.iterations = iterations;
        pile.push(0, DVec3::Y * 0.5, DVec3::ZERO);
        pile.push(1, DVec3::Y * -0.5, DVec3::ZERO);
        let start = pile.motion().energy;
        let mut most = 0.0_f64;
        for _ in 0..60 {
            pile.run(1);
            most = most.max(pile.motion().energy);
        }
        let (momentum, left) = (pile.motion().momentum.length(), pile.motion().energy);
        let apart = pile.centre(1).y - pile.centre(0).y;
        println!(
            "{name}: momentum {momentum:.1e} of what both had (bar 1e-3), energy {left:.4} of {start:.4}, {most:.4} at most; \
             {apart:.3} m apart"
        );
        assert!(momentum <= 1.0e-3 && most <= start * 1.0001 && apart > 1.8 * RADIUS);
    }
}

/// Two logs that fly at each other anyhow, spinning, without gravity; none where one begins in the other: it is pushed out, gains by
/// that, and rubs where no surface is.
fn colliding(seed: u64, youngs_modulus: f64, config: StepConfig) -> Option<Pile> {
    let mut random = Random(seed * 7919 + 17);
    let turns = [(); 2].map(|()| DQuat::from_scaled_axis(random.vector(-3.0, 3.0)));
    let mut pile = Pile::of(material(youngs_modulus, 0.3, 1000.0, 0.0), &[]);
    pile.add(DVec3::ZERO, turns[0], 1.0);
    pile.add(DVec3::Y * 0.3 + random.vector(-0.05, 0.05), turns[1], 1.0);
    pile.physics.config = StepConfig { gravity: DVec3::ZERO, passes: PASSES, ..config };
    pile.push(0, DVec3::Y + random.vector(-0.25, 0.25), random.vector(-1.0, 1.0));
    pile.push(1, DVec3::NEG_Y + random.vector(-0.25, 0.25), random.vector(-1.0, 1.0));
    (pile.deepest() == 0.0).then_some(pile)
}

/// Linear momentum to rounding, angular momentum to a hundredth where logs are so soft that they whirl in bows of a radius. The
/// second-order step keeps both worse.
#[test]
fn collisions_of_many_pairs_keep_momentum() {
    use Integrator::{ImplicitEuler, SecondOrder};
    for (integrator, youngs_modulus, substeps, bars) in [
        (ImplicitEuler, 1.0e7, 4, [1.0e-5, 0.003, 0.0005]),
        (ImplicitEuler, 1.0e7, 16, [1.0e-5, 0.003, 0.0005]),
        (ImplicitEuler, 1.0e5, 4, [1.0e-5, 0.01, 0.001]),
        (ImplicitEuler, 1.0e5, 16, [1.0e-5, 0.01, 0.001]),
        (SecondOrder, 1.0e7, 4, [0.07, 0.6, 0.06]),
    ] {
        let (mut linear, mut angular, mut hits, mut mean, mut count) = (0.0_f64, 0.0_f64, 0, 0.0, 0);
        let config = StepConfig { substeps, integrator, ..StepConfig::default() };
        for mut pile in (0..245).filter_map(|seed| colliding(seed, youngs_modulus, config)) {
            let before = pile.motion();
            pile.run(40);
            let after = pile.motion();
            hits += usize::from(after.energy < 0.98 * before.energy);
            linear = linear.max((after.momentum - before.momentum).length() / before.size);
            let off = (after.angular - before.angular).length() / before.angular_size;
            (angular, mean, count) = (angular.max(off), mean + off, count + 1);
        }
        let mean = mean / f64::from(count);
        println!(
            "{count} pairs of logs, {hits} of which hit, E = {youngs_modulus:.0e}, {substeps} substeps, {integrator:?}: momentum off by \
             {linear:.1e} of Σm|v|, angular by {angular:.1e} of Σ|L|, in the mean by {mean:.1e} (bars {bars:?})"
        );
        assert!(hits >= 200 && linear <= bars[0] && angular <= bars[1] && mean <= bars[2]);
    }
}

/// What hangs together has momentum together: octopuses that hit each other in flight keep it, and most of their angular momentum, of which
/// implicit Euler takes some of tentacles that whirl, in flight, too: up to 2.5 % here.
#[test]
fn octopuses_that_hit_in_flight_keep_momentum() {
    const REACH: f64 = 0.5;
    let flesh = Octopus::default().build().unwrap();
    for (speed, substeps) in [(3.0, 2), (10.0, 2), (10.0, 4)] {
        let (mut linear, mut angular, mut hits) = (0.0_f64, 0.0_f64, 0);
        for case in (0..12).map(f64::from) {
            let config = StepConfig { substeps, passes: PASSES, gravity: DVec3::ZERO, ..StepConfig::default() };
            let mut physics = Physics::with_config(config);
            let centre = DVec3::new(0.03 * case, 1.5, 0.02 * case);
            let turn = DQuat::from_rotation_y(0.7 * case) * DQuat::from_rotation_z(0.4 * case);
            physics.insert(Arc::clone(&flesh), &[], Pose::IDENTITY).unwrap();
            let flung = physics.insert(Arc::clone(&flesh), &[], Pose::new(centre, turn)).unwrap();
            let motion = Motion { velocity: DVec3::Y * -speed, spin: DVec3::ZERO, centre };
            physics.set_velocity(flung, motion).unwrap();
            physics.step_flesh(1.0e-4).unwrap();
            let before = physics.quality();
            (0..60).for_each(|_| physics.step_flesh(FRAME).unwrap());
            let after = physics.quality();
            let size = before.momentum.length();
            // What flies on alone keeps its kinetic energy.
            hits += usize::from(after.energy.kinetic < 0.9 * before.energy.kinetic);
            linear = linear.max((after.momentum - before.momentum).length() / size);
            angular = angular.max((after.angular_momentum - before.angular_momentum).length() / (size * REACH));
        }
        println!(
            "12 pairs of octopuses, of which {hits} hit at {speed} m/s, {substeps} substeps: momentum off by {linear:.1e} of Σm|v| (bar 1e-5), \
             angular by {angular:.1e} of that at half a metre (bar 0.03)"
        );
        assert!(hits >= 9 && linear <= 1.0e-5 && angular <= 0.03);
    }
}

/// Friction takes energy, of soft logs too, however little it holds: what slips does not stick and let go.
#[test]
fn rubbing_makes_no_energy_of_soft_logs() {
    for substeps in [4, 16] {
        for friction in [0.05, 0.2, 0.5] {
            let (mut most, mut hits) = (0.0_f64, 0);
            let config = StepConfig { substeps, ..StepConfig::default() };
            for mut pile in (0..40).filter_map(|seed| colliding(seed, 1.0e5, config)) {
                pile.rub(friction);
                let start = pile.motion().energy;
                for _ in 0..40 {
                    pile.run(1);
                    most = most.max(pile.motion().energy / start);
                }
                hits += usize::from(pile.motion().energy < 0.98 * start);
            }
            println!(
                "E = 1e5, µ = {friction}, {substeps} substeps: {most:.4} of the energy that logs came with at most (bar 1.02), {hits} hit"
            );
            assert!(most <= 1.02 && hits >= 20);
        }
    }
}

/// A log that is rubbed about its own axis spins as the friction has it: that takes from the other's motion what it gives.
#[test]
fn what_is_rubbed_spins() {
    let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
    pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
    pile.add(DVec3::Y * 0.075, DQuat::from_rotation_y(FRAC_PI_2), 1.0);
    pile.physics.config.gravity = DVec3::ZERO;
    pile.push(1, DVec3::new(0.5, -0.5, 0.0), DVec3::ZERO);
    pile.run(8);
    // Pushed along the first one's axis by friction, across its own, a radius from it: ½mr²ω = rp, less of rolling friction's couple.
    let ((velocity, spin), rolls) = (pile.motion_of(1), f64::from(ROLLS));
    let (pushed, spin) = (velocity.x - 0.5, spin.z);
    let derived = 2.0 / RADIUS * (pushed + rolls * (velocity.y + 0.5));
    println!(
        "a log that lost {:.3} m/s by friction spins at {spin:.2} rad/s, derived {derived:.2} (bar 3 % off)",
        -pushed
    );
    assert!(pushed < -0.1 && (spin / derived - 1.0).abs() <= 0.03);
}

/// What is struck without friction, off its centre and along what it spins about, does not come to spin about its own axis.
#[test]
fn what_is_struck_without_friction_does_not_roll() {
    let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
    pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
    pile.add(DVec3::new(0.12, 0.075, 0.0), DQuat::from_rotation_y(FRAC_PI_2), 1.0);
    pile.physics.config.gravity = DVec3::ZERO;
    let slippery = Collisions { friction: Some(Coefficient::new(0.0, CombineRule::Min)), ..Collisions::default() };
    for log in 0..2 {
        pile.physics.set_collisions(pile.logs[log], slippery).unwrap();
    }
    pile.push(0, DVec3::ZERO, DVec3::Y * 2.0);
    pile.push(1, DVec3::new(0.0, -1.0, 0.0), DVec3::ZERO);
    pile.run(12);
    let (velocity, spin) = pile.motion_of(0);
    let about = (pile.node(0, SEGMENTS).place - pile.node(0, 0).place).normalize().dot(spin);
    println!("struck to {:.2} m/s, it spins by {spin:.3} rad/s: about its axis by {about:.4} (bar 0.1)", velocity.y);
    assert!(velocity.y < -0.3 && spin.y > 1.0 && about.abs() <= 0.1);
}

/// What spins about its axis keeps its momentum as that turns aside: a log tumbles as a top does.
#[test]
fn what_spins_and_tumbles_keeps_its_momentum() {
    use Integrator::{ImplicitEuler, SecondOrder};
    for (integrator, substeps, bar) in
        [(ImplicitEuler, 4, 1.0e-3), (ImplicitEuler, 16, 5.0e-4), (SecondOrder, 4, 1.0e-3), (SecondOrder, 16, 3.0e-4)]
    {
        let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
        pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
        pile.physics.config = StepConfig { gravity: DVec3::ZERO, substeps, integrator, ..pile.physics.config };
        pile.push(0, DVec3::ZERO, DVec3::new(50.0, 0.0, 3.0));
        let before = pile.motion();
        let mut worst = 0.0_f64;
        for _ in 0..60 {
            pile.run(1);
            worst = worst.max((pile.motion().angular - before.angular).length() / before.angular_size);
        }
        println!(
            "50 rad/s about its axis, 3 across, {substeps} substeps, {integrator:?}: {worst:.1e} of its angular momentum off in 1 s (bar \
             {bar})"
        );
        assert!(worst <= bar);
    }
}

#[test]
fn nothing_goes_through_at_10_and_30_metres_a_second() {
    for speed in [10.0, 30.0] {
        for (turn, aside) in [(FRAC_PI_2, 0.0), (FRAC_PI_2, 0.03), (0.3, 0.02), (0.0, 0.0)] {
            let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 1.0), &[]);
            pile.add(DVec3::Y * RADIUS, DQuat::IDENTITY, 1.0);
            pile.add(DVec3::new(aside, 0.3, 0.0), DQuat::from_rotation_y(turn), 1.0);
            pile.on_ground();
            // Four radii a substep are too far: substeps are the game's to choose.
            pile.physics.config.substeps = if speed > 20.0 { 8 } else { 4 };
            // From the game, in the very frame in which it hits.
            let motion = Motion { velocity: DVec3::Y * -speed, spin: DVec3::ZERO, centre: DVec3::ZERO };
            pile.physics.set_velocity(pile.logs[1], motion).unwrap();
            let mut under = f64::MAX;
            for _ in 0..20 {
                pile.run(1);
                let beside = (pile.centre(1) - pile.centre(0)).with_y(0.0).length() > 2.0 * RADIUS;
                under = under.min(if beside { under } else { pile.centre(1).y - pile.centre(0).y });
            }
            println!(
                "a log hits another at {speed} m/s, turned by {turn:.2}, {aside} m aside: its axis {:.2} radii above the other's \
                 at the least (bar 0)",
                under / RADIUS
            );
            assert!(under > 0.0);
        }
    }
}
