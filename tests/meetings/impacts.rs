//! What hits what: momentum and energy of collisions, and fast ones.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};
use sinew::Motion;
use sinew::cpu::meetings::ROLLS;
use sinew::step::StepConfig;

use crate::common::{Random, material};
use crate::pile::{Pile, RADIUS};

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

/// Pairs of logs that fly at each other anyhow, spinning, without gravity.
#[test]
fn two_hundred_collisions_keep_momentum() {
    // Implicit Euler takes (ωh)² of what spins in each substep, and more of what hits and spins faster.
    for (youngs_modulus, bars) in [(1.0e7, [1.0e-4, 0.25]), (1.0e5, [1.0e-4, 0.25])] {
        let (mut linear, mut angular, mut hits, mut means) = (0.0_f64, 0.0_f64, 0, [0.0; 2]);
        for seed in 0..100_u64 {
            let mut state = seed * 7919 + 17;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
            };
            let mut vector = |size: f64| DVec3::new(random(), random(), random()) * size;
            let turns = [vector(6.0), vector(6.0)].map(DQuat::from_scaled_axis);
            let mut pile = Pile::of(material(youngs_modulus, 0.3, 1000.0, 0.0), &[]);
            pile.add(DVec3::ZERO, turns[0], 1.0);
            pile.add(DVec3::Y * 0.3 + vector(0.1), turns[1], 1.0);
            pile.physics.config.gravity = DVec3::ZERO;
            pile.push(0, DVec3::Y * 1.0 + vector(0.5), vector(2.0));
            pile.push(1, DVec3::Y * -1.0 + vector(0.5), vector(2.0));
            let before = pile.motion();
            pile.run(40);
            let after = pile.motion();
            hits += usize::from(after.energy < 0.98 * before.energy);
            let off = [
                (after.momentum - before.momentum).length() / before.size,
                (after.angular - before.angular).length() / before.angular_size,
            ];
            (linear, angular) = (linear.max(off[0]), angular.max(off[1]));
            (0..2).for_each(|k| means[k] += off[k]);
        }
        println!(
            "100 pairs of logs, {hits} of which hit, E = {youngs_modulus:.0e}: momentum off by {linear:.1e} of Σm|v|, \
             angular by {angular:.1e} of Σ|L| (bars {bars:?}); in the mean by {:.1e}, {:.1e}",
            means[0] / 100.0,
            means[1] / 100.0
        );
        assert!(hits >= 60 && linear <= bars[0] && angular <= bars[1] && means[1] <= 100.0 * 0.05);
    }
}

/// Friction takes energy, of soft logs too, however little it holds: what slips does not stick and let go.
#[test]
fn rubbing_makes_no_energy_of_soft_logs() {
    for substeps in [4, 16] {
        for friction in [0.05, 0.2, 0.5] {
            let (mut most, mut hits) = (0.0_f64, 0);
            for seed in 0..40_u64 {
                let mut random = Random(seed * 7919 + 17);
                let turns = [(); 2].map(|()| DQuat::from_scaled_axis(random.vector(-3.0, 3.0)));
                let mut pile = Pile::of(material(1.0e5, 0.3, 1000.0, 0.0), &[]);
                pile.add(DVec3::ZERO, turns[0], 1.0);
                pile.add(DVec3::Y * 0.3 + random.vector(-0.05, 0.05), turns[1], 1.0);
                pile.physics.config = StepConfig { gravity: DVec3::ZERO, substeps, ..pile.physics.config };
                pile.rub(friction);
                pile.push(0, DVec3::Y + random.vector(-0.25, 0.25), random.vector(-1.0, 1.0));
                pile.push(1, DVec3::NEG_Y + random.vector(-0.25, 0.25), random.vector(-1.0, 1.0));
                // What begins in the other is pushed out, and gains by that.
                if pile.deepest() > 0.0 {
                    continue;
                }
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
        "a log that lost {:.3} m/s by friction spins at {spin:.2} rad/s, derived {derived:.2} (bar 20 % off)",
        -pushed
    );
    assert!(pushed < -0.1 && (spin / derived - 1.0).abs() <= 0.2);
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

#[test]
fn zz_table() {
    use sinew::step::Integrator;
    let env = |name: &str, other: f64| std::env::var(name).map_or(other, |v| v.parse().unwrap());
    for youngs_modulus in [1.0e7, 1.0e5] {
        let (mut linear, mut angular, mut means) = (0.0_f64, 0.0_f64, [0.0; 2]);
        let mut all = Vec::new();
        for seed in 0..100_u64 {
            let mut state = seed * 7919 + 17;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
            };
            let mut vector = |size: f64| DVec3::new(random(), random(), random()) * size;
            let turns = [vector(6.0), vector(6.0)].map(DQuat::from_scaled_axis);
            let mut pile = Pile::of(material(youngs_modulus, 0.3, 1000.0, 0.0), &[]);
            pile.add(DVec3::ZERO, turns[0], 1.0);
            pile.add(DVec3::Y * 0.3 + vector(0.1), turns[1], 1.0);
            pile.rub(env("RUB", 0.5) as f32);
            pile.physics.config.gravity = DVec3::ZERO;
            pile.physics.config.substeps = env("SUB", 4.0) as u32;
            pile.physics.config.iterations = env("ITER", 1.0) as u32;
            pile.physics.config.passes = env("PASSES", 6.0) as u32;
            if env("SECOND", 0.0) > 0.0 { pile.physics.config.integrator = Integrator::SecondOrder; }
            pile.push(0, DVec3::Y * 1.0 + vector(0.5), vector(env("SPIN", 2.0)));
            pile.push(1, DVec3::Y * -1.0 + vector(0.5), vector(env("SPIN", 2.0)));
            let before = pile.motion();
            pile.run(40);
            let after = pile.motion();
            let off = [
                (after.momentum - before.momentum).length() / before.size,
                (after.angular - before.angular).length() / before.angular_size,
            ];
            all.push(off[1]);
            (linear, angular) = (linear.max(off[0]), angular.max(off[1]));
            (0..2).for_each(|k| means[k] += off[k]);
        }
        all.sort_by(f64::total_cmp);
        println!("E {youngs_modulus:.0e}: linear {linear:.1e} mean {:.1e}; angular worst {:.1} % mean {:.2} % median {:.2} %", means[0] / 100.0, 100.0 * angular, means[1], 100.0 * all[50]);
    }
}

#[test]
fn zz_one() {
    let env = |name: &str, other: f64| std::env::var(name).map_or(other, |v| v.parse().unwrap());
    for seed in 0..8_u64 {
        let mut state = seed * 7919 + 17;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5
        };
        let mut vector = |size: f64| DVec3::new(random(), random(), random()) * size;
        let turns = [vector(6.0), vector(6.0)].map(DQuat::from_scaled_axis);
        let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
        pile.add(DVec3::ZERO, turns[0], 1.0);
        pile.add(DVec3::Y * 0.3 + vector(0.1), turns[1], 1.0);
        pile.rub(env("RUB", 0.5) as f32);
        pile.physics.config.gravity = DVec3::ZERO;
        pile.physics.config.substeps = 1; pile.physics.config.passes = env("PASSES", 6.0) as u32; pile.physics.config.iterations = env("ITER", 1.0) as u32;
        let split = env("SPLIT", 16.0);
        pile.push(0, DVec3::Y * 1.0 + vector(0.5), vector(env("SPIN", 0.0)));
        pile.push(1, DVec3::Y * -1.0 + vector(0.5), vector(env("SPIN", 0.0)));
        let mass = std::f64::consts::PI * RADIUS * RADIUS * crate::pile::LENGTH * 1000.0;
        let of = |pile: &Pile, log: usize| { // momentum and angular of one log, over mass
            let polar = 0.5 * RADIUS * RADIUS;
            let (mut momentum, mut orbital, mut spun) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            for j in 0..=crate::pile::SEGMENTS {
                let node = pile.node(log, j);
                let share = if j == 0 || j == crate::pile::SEGMENTS { 0.5 } else { 1.0 } / crate::pile::SEGMENTS as f64;
                let (velocity, spin) = (node.velocity.as_dvec3(), node.spin.as_dvec3());
                let axis = node.frame.as_dquat() * DVec3::Z;
                momentum += velocity * share; orbital += node.place.cross(velocity) * share;
                spun += (spin + axis * axis.dot(spin)) * (0.5 * polar) * share;
            }
            (momentum, orbital, spun)
        };
        let start = [of(&pile, 0), of(&pile, 1)];
        let dt = 1.0 / 60.0 / split;
        let (mut impulse, mut normal, mut rubbed) = (DVec3::ZERO, [DVec3::ZERO; 2], [DVec3::ZERO; 2]);
        let mut deepest: f64 = 0.0;
        for _ in 0..(split * 40.0) as usize {
            pile.physics.step_flesh(dt).unwrap();
            for c in pile.physics.flesh_contacts() {
                if c.force == 0.0 { continue; }
                let flip = if c.sides[0].flesh == pile.logs[0] { 1.0 } else { -1.0 };
                let (n, f) = (c.normal * c.force as f64 * dt / mass * flip, c.friction * dt / mass * flip);
                impulse += n + f; deepest = deepest.max(c.depth / RADIUS);
                for log in 0..2 { normal[log] += c.point.cross(n) * [1.0, -1.0][log]; rubbed[log] += c.point.cross(f) * [1.0, -1.0][log]; }
            }
        }
        let end = [of(&pile, 0), of(&pile, 1)];
        let size = start[0].1.length() + start[1].1.length();
        println!("seed {seed} impulse {:.3} deepest {deepest:.2} size {size:.3e}", impulse.length());
        let whole = (end[0].1 + end[1].1 + end[0].2 + end[1].2) - (start[0].1 + start[1].1 + start[0].2 + start[1].2);
        println!("   whole off {:.2} %: {:.5}", 100.0 * whole.length() / size, whole / size);
        for log in 0..2 {
            let d = (end[log].1 - start[log].1) + (end[log].2 - start[log].2);
            let off = d - normal[log] - rubbed[log];
            println!("   log {log}: dp {:.4} (impulse {:.4}) dL {:.5} (spins {:.5}) by contacts {:.5} + {:.5}; off {:.5} = {:.2} % of size", end[log].0 - start[log].0, impulse * [1.0, -1.0][log], d / size, (end[log].2 - start[log].2) / size, normal[log] / size, rubbed[log] / size, off / size, 100.0 * off.length() / size);
        }
    }
}

#[test]
fn zz_two() {
    for split in [4, 16, 64] {
        for rub in [0.1, 0.5] {
            let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
            pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
            pile.add(DVec3::Y * 0.075, DQuat::from_rotation_y(FRAC_PI_2), 1.0);
            pile.physics.config.gravity = DVec3::ZERO;
            pile.rub(rub);
            pile.physics.config.substeps = split;
            pile.push(1, DVec3::new(0.5, -0.5, 0.0), DVec3::ZERO);
            let before = pile.motion();
            for k in 0..12 { pile.run(1); println!("   {k}: L off {:.6} spin {:.3} twist of sections {:?}", pile.motion().angular - before.angular, pile.motion_of(1).1, (0..=10).map(|j| (pile.node(1, j).spin.z * 10.0).round() / 10.0).collect::<Vec<_>>()); }
            let after = pile.motion();
            let d = after.angular - before.angular;
            let of: Vec<_> = (0..2).map(|log| pile.motion_of(log)).collect();
            let orbital = |log: usize| (0..=10).map(|j| { let n = pile.node(log, j); let share = if j == 0 || j == 10 { 0.05 } else { 0.1 }; n.place.cross(n.velocity.as_dvec3()) * share }).sum::<DVec3>();
            println!("split {split} rub {rub}: L off {:.5} ({:.2} % of size) before {:.5}; log 0 v {:.4} spin {:.3} orbital {:.5}, log 1 v {:.4} spin {:.3} orbital {:.5} L spin {:.6}", d, 100.0 * d.length() / before.angular_size, before.angular, of[0].0, of[0].1, orbital(0), of[1].0, of[1].1, orbital(1), of[1].1.z * 0.5 * RADIUS * RADIUS);
        }
    }
}

#[test]
fn zz_three() {
    for (split, rub) in [(16, 0.1), (16, 0.5)] {
        let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 0.0), &[]);
        pile.add(DVec3::ZERO, DQuat::IDENTITY, 1.0);
        pile.add(DVec3::Y * 0.075, DQuat::from_rotation_y(FRAC_PI_2), 1.0);
        pile.physics.config.gravity = DVec3::ZERO;
        pile.rub(rub);
        pile.physics.config.substeps = 1;
        pile.push(1, DVec3::new(0.5, -0.5, 0.0), DVec3::ZERO);
        let before = pile.motion();
        let mut last = 0.0;
        for k in 0..80 {
            pile.physics.step_flesh(1.0 / 60.0 / f64::from(split)).unwrap();
            let off = pile.motion().angular.z - before.angular.z;
            let c: Vec<_> = pile.physics.flesh_contacts().filter(|c| c.force != 0.0).map(|c| format!("F {:.2} f {:.2} depth {:.2}% n {:.3} along {:.2} {:.2}", c.force, c.friction, 100.0 * c.depth / RADIUS, c.normal, c.sides[0].along, c.sides[1].along)).collect();
            if !c.is_empty() || (off - last).abs() > 1e-7 {
                println!("{k} rub {rub}: dL {:.2e} spin0 {:.3} spin1 {:.3} vx {:.4} {:.4} {:?}", off - last, pile.motion_of(0).1.z, pile.motion_of(1).1.z, pile.motion_of(0).0.x, pile.motion_of(1).0.x, c);
            }
            last = off;
        }
    }
}
