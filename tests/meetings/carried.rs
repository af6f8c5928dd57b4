//! What bones carry into other flesh.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::cpu::LaneWidth;
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::step::StepConfig;
use sinew::{FleshHandle, Material, Motion, Physics, Pose};

use crate::common::FRAME;
use crate::pile::PASSES;

const RADIUS: f64 = 0.04;
const LENGTH: f64 = 0.4;
const SEGMENTS: usize = 8;

/// Flesh along x on a bone that holds it at so many ends; as soft as what is fitted.
fn flesh(ends: usize) -> Arc<Flesh> {
    let material = Material { youngs_modulus: 2.0e4, poissons_ratio: 0.45, damping: 2.0, ..Material::default() };
    let rod = RodSpec::straight("rod", DVec3::X * (-0.5 * LENGTH), DVec3::X * (0.5 * LENGTH), SEGMENTS, RADIUS);
    let rod = RodSpec { material, ..rod };
    let rod = [0, SEGMENTS].iter().take(ends).fold(rod, |rod, end| rod.attach(*end, 0, Holds::CLAMP));
    Arc::new(Flesh::build(&[rod], &[Pose::IDENTITY][..ends.min(1)]).unwrap())
}

fn physics(substeps: u32) -> Physics {
    let config =
        StepConfig { substeps, passes: PASSES, gravity: DVec3::ZERO, jump: f64::INFINITY, ..StepConfig::default() };
    Physics::with_config(config)
}

/// How high a rod's middle is (m), how long it is over its length, and how fast the fastest of its nodes is against bones that go at some
/// velocity (m/s).
fn figures(physics: &Physics, rod: FleshHandle, bones: DVec3) -> (f64, f64, f64) {
    let nodes: Vec<_> = (0..=SEGMENTS).map(|node| physics.node(rod, 0, node).unwrap()).collect();
    let long: f64 = nodes.windows(2).map(|ends| ends[0].place.distance(ends[1].place)).sum();
    let fastest = nodes.iter().map(|node| (node.velocity.as_dvec3() - bones).length()).fold(0.0, f64::max);
    (nodes[SEGMENTS / 2].place.y, long / LENGTH, fastest)
}

/// Crossed rods whose bones put them into each other by a share of the radius and stand still. Of up to half the radius both are pushed
/// out, each by half of it; of more, less; of more than one and a half radii nothing is: it is let in, and all of it lies still.
#[test]
fn what_bones_press_on_yields_and_what_they_put_into_it_lies_still() {
    let flesh = flesh(2);
    for (deep, yields) in
        [(0.2, 0.2), (0.45, 0.45), (0.75, 0.375), (1.0, 0.25), (1.25, 0.125), (1.5, 0.0), (1.9, 0.0), (2.0, 0.0)]
    {
        let mut physics = physics(4);
        let poses = [
            Pose::IDENTITY,
            Pose::new(DVec3::Y * ((2.0 - deep) * RADIUS), DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2)),
        ];
        let rods = poses.map(|pose| physics.insert(flesh.clone(), &[pose], Pose::IDENTITY).unwrap());
        let mut fastest = 0.0_f64;
        for frame in 0..360 {
            physics.step_flesh(FRAME).unwrap();
            if frame >= 300 {
                fastest = fastest.max(physics.quality().speed_max);
            }
        }
        let [lower, upper] = rods.map(|rod| figures(&physics, rod, DVec3::ZERO));
        let out = (upper.0 - lower.0) / RADIUS - (2.0 - deep);
        println!(
            "{deep} radii deep: pushed out by {out:.3} ({yields}) radii together, {:.3} times as long; {fastest:.1e} m/s in the last \
             second (bar 1e-3)",
            lower.1.max(upper.1)
        );
        assert!((out - yields).abs() < 0.05 && fastest < 1.0e-3, "{deep} radii deep");
    }
}

/// A rod of five times the length that is held at both ends hangs over another one, which bones hold beneath its middle without putting
/// either into the other, and is borne.
#[test]
fn what_bones_hold_bears_what_hangs_over_it() {
    let material = Material { youngs_modulus: 2.0e4, poissons_ratio: 0.45, damping: 2.0, ..Material::default() };
    let half = DVec3::Z * (2.5 * LENGTH);
    let long = RodSpec { material, ..RodSpec::straight("long", -half, half, 5 * SEGMENTS, RADIUS) };
    let long = long.attach(0, 0, Holds::CLAMP).attach(5 * SEGMENTS, 0, Holds::CLAMP);
    let long = Arc::new(Flesh::build(&[long], &[Pose::IDENTITY]).unwrap());
    for substeps in [2, 4] {
        let mut physics = physics(substeps);
        physics.config.gravity = DVec3::NEG_Y * 9.81;
        physics.insert(flesh(2), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let above = Pose::from_translation(DVec3::Y * (2.0 * RADIUS));
        physics.insert(long.clone(), &[above], Pose::IDENTITY).unwrap();
        (0..600).for_each(|_| physics.step_flesh(FRAME).unwrap());
        let (force, deep) = physics.flesh_contacts().fold((0.0, 0.0_f64), |(force, deep), contact| {
            (force + f64::from(contact.force), deep.max(contact.depth / contact.radius))
        });
        let weights = force / (9.81 * long.mass(0) / f64::from(5 * SEGMENTS as u32));
        println!("{substeps} substeps: {weights:.1} times a segment's weight (bar 5) {deep:.3} radii deep (bar 0.1)");
        assert!(weights > 5.0 && deep < 0.1);
    }
}

/// What hangs on one end may go where bones do not have it, and is pushed all the way out of what bones hold, however deep they put it.
#[test]
fn what_hangs_on_one_end_is_pushed_out() {
    for deep in [0.3, 0.75, 1.5] {
        let mut physics = physics(4);
        let high = (2.0 - deep) * RADIUS;
        let above = Pose::new(DVec3::Y * high, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2));
        let held = physics.insert(flesh(2), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        let hung = physics.insert(flesh(1), &[above], Pose::IDENTITY).unwrap();
        (0..600).for_each(|_| physics.step_flesh(FRAME).unwrap());
        let apart = figures(&physics, hung, DVec3::ZERO).0 - figures(&physics, held, DVec3::ZERO).0;
        println!("hung {deep} radii deep: {:.3} radii apart (bars 1.9 and 2.1)", apart / RADIUS);
        assert!((1.9..2.1).contains(&(apart / RADIUS)));
    }
}

/// Rods that bones carry through each other at a walk, and faster, crossed, slanted and along each other: they give way, let the other by,
/// and follow their bones again. None is caught and drawn along, to tear loose in the end.
#[test]
fn what_bones_carry_through_each_other_comes_by() {
    let flesh = flesh(2);
    for substeps in [2, 4] {
        let (mut long, mut fast, mut touching_ways, mut resets) = (0.0_f64, 0.0_f64, 0, 0);
        for (way, speed) in (0..24).flat_map(|way| [(way, 1.4), (way, 3.0)]) {
            let turn = DQuat::from_rotation_y(0.13 * f64::from(way)) * DQuat::from_rotation_z(0.4 * f64::from(way % 3));
            let beside = DVec3::new(0.03 * f64::from(way % 4), 0.0, 0.02 * f64::from(way % 5));
            let there = |high: f64| [Pose::IDENTITY, Pose::new(beside + DVec3::Y * high, turn)];
            let (mut physics, mut touched) = (physics(substeps), 0);
            let rods = there(0.5).map(|pose| physics.insert(flesh.clone(), &[pose], Pose::IDENTITY).unwrap());
            let motion = Motion { velocity: DVec3::NEG_Y * speed, spin: DVec3::ZERO, centre: DVec3::ZERO };
            physics.set_velocity(rods[1], motion).unwrap();
            for frame in 1..=(1.0 / speed / FRAME) as u32 {
                let poses = there(0.5 - speed * f64::from(frame) * FRAME);
                (0..2).for_each(|rod| physics.set_bones(rods[rod], &[poses[rod]], Pose::IDENTITY).unwrap());
                physics.step_flesh(FRAME).unwrap();
                touched += physics.flesh_contacts().count();
                for (rod, goes) in rods.iter().zip([0.0, speed]) {
                    let (_, longer, against_bones) = figures(&physics, *rod, DVec3::NEG_Y * goes);
                    (long, fast) = (long.max(longer), fast.max(against_bones / speed));
                }
            }
            touching_ways += usize::from(touched > 0);
            resets += rods.iter().map(|rod| physics.health(*rod).unwrap().resets).sum::<u32>();
        }
        println!(
            "48 ways by with {substeps} substeps: {long:.2} times as long at most (bar 1.4), {fast:.2} times as fast against their bones \
             as what goes by (bar 2), {resets} laid anew; {touching_ways} touched (bar 30)"
        );
        assert!(long < 1.4 && fast < 2.0 && resets == 0 && touching_ways >= 30);
    }
}

/// Rods that bones hold at both ends, at one, and not at all, carried through each other in frames of 144 and 30 a second in turn: the same
/// bits on whatever threads and lanes, whatever pair shares whose lanes.
#[test]
fn threads_and_widths_give_the_same_bits_of_what_bones_carry() {
    for iterations in [1, 2] {
        let hash = |width: LaneWidth, threads: usize| {
            let mut physics = physics(2);
            physics.lane_width = width;
            physics.config.threads = threads;
            physics.config.iterations = iterations;
            let there = |rod: usize, time: f64| {
                let turn = DQuat::from_rotation_y(0.7 * rod as f64);
                let away = if rod.is_multiple_of(2) { 0.0 } else { 0.3 - 1.5 * time };
                Pose::new(DVec3::new(0.02 * rod as f64, 0.03 * rod as f64 + away, 0.01), turn)
            };
            let rods: Vec<_> = (0..7)
                .map(|rod| {
                    let ends = [2, 2, 2, 2, 1, 2, 0][rod];
                    let (flesh, pose) = (flesh(ends), there(rod, 0.0));
                    if ends == 0 {
                        physics.insert(flesh, &[], pose).unwrap()
                    } else {
                        physics.insert(flesh, &[pose], Pose::IDENTITY).unwrap()
                    }
                })
                .collect();
            let (mut time, mut touched) = (0.0, 0);
            for frame in 0..48 {
                let dt = [1.0 / 144.0, 1.0 / 30.0][frame % 2];
                time += dt;
                for (rod, handle) in rods[..6].iter().enumerate() {
                    physics.set_bones(*handle, &[there(rod, time)], Pose::IDENTITY).unwrap();
                }
                physics.step_flesh(dt).unwrap();
                touched += physics.flesh_contacts().count();
            }
            assert!(touched > 100, "{touched} contacts");
            physics.state_hash()
        };
        let one = hash(LaneWidth::Eight, 1);
        assert_eq!(hash(LaneWidth::Eight, 3), one);
        assert_eq!(hash(LaneWidth::EightBaseline, 2), one);
        assert_eq!(hash(LaneWidth::One, 1), one);
    }
}
