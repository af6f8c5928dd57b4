//! Chains that meet chains, on the CPU; what a GPU does over many frames is in `gpu_meetings`.

mod carried;
#[path = "../common/mod.rs"]
mod common;
mod events;
mod filters;
mod frame_times;
mod impacts;
mod pile;
#[cfg(feature = "rapier")]
mod squeezed;
mod stacks;
mod turned;

use std::sync::Arc;

use common::FRAME;
use glam::DVec3;
use pile::{LENGTH, PASSES, Pile, RADIUS, SEGMENTS};
use sinew::cpu::LaneWidth;
use sinew::cpu::lanes::OneF64;
use sinew::cpu::math::V3;
use sinew::cpu::pills::{Pill, nearest};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::StepConfig;
use sinew::{HalfSpace, Physics, Pose, StepError};

const GRAVITY: f64 = 9.81;

#[test]
fn logs_lie_on_logs() {
    let mut pile = Pile::crossed();
    pile.run(240);
    let weight = pile.weight(GRAVITY);
    let (mut ground, mut worst, mut deepest) = (0.0, 0.0_f64, 0.0_f64);
    for log in 0..3 {
        ground += pile.borne(log)[0];
        let upper = pile.borne(3 + log)[1];
        worst = worst.max((upper / weight - 1.0).abs());
        deepest = deepest.max(3.0 * RADIUS - pile.centre(3 + log).y);
    }
    let whole = (ground / (6.0 * weight) - 1.0).abs();
    println!(
        "three logs on three: the ground bears the weight of all within {whole:.1e} (bar 1e-3), the lower ones that of the \
         upper ones within {worst:.1e} (bar 1e-2); sunk by {:.2} % of the radius (bar 5 %), {:.1e} m/s left (bar 1e-4)",
        100.0 * deepest / RADIUS,
        pile.speed()
    );
    assert!(whole <= 1.0e-3 && worst <= 1.0e-2);
    assert!(deepest <= 0.05 * RADIUS && pile.speed() <= 1.0e-4);
}

/// What presses is listed with its force and depth, and what quality says is the worst of that.
#[test]
fn what_presses_is_listed() {
    let mut pile = Pile::crossed();
    assert_eq!(pile.physics.flesh_contacts().count(), 0);
    pile.run(240);
    let (weight, mut borne, mut worst) = (pile.weight(GRAVITY), [0.0; 6], 0.0_f64);
    let contacts: Vec<_> = pile.physics.flesh_contacts().collect();
    for contact in &contacts {
        let logs = contact.sides.map(|side| pile.logs.iter().position(|log| *log == side.flesh).unwrap());
        let pull = contact.normal * f64::from(contact.force) + contact.friction;
        borne[logs[0]] += pull.y;
        borne[logs[1]] -= pull.y;
        worst = worst.max(contact.depth);
        assert!((contact.normal.length() - 1.0).abs() < 1.0e-9 && (contact.radius / RADIUS - 1.0).abs() < 0.05);
        assert!((contact.point.y - 2.0 * RADIUS).abs() < 0.05 * RADIUS);
        for (side, log) in contact.sides.iter().zip(logs) {
            let ends = [side.segment, side.segment + 1].map(|j| pile.node(log, j).place);
            let away = ends[0].lerp(ends[1], side.along).distance(contact.point);
            assert!(side.chain == 0 && (away / RADIUS - 1.0).abs() < 0.05);
        }
    }
    let quality = pile.physics.quality();
    let ground = pile.logs.iter().flat_map(|log| pile.physics.contacts(*log).unwrap());
    let on_ground = ground.map(|contact| -contact.point.y / RADIUS).fold(0.0, f64::max);
    let deepest = pile.deepest();
    let off = (3..6).map(|log| (borne[log] / weight - 1.0).abs()).fold(0.0, f64::max);
    println!(
        "{} contacts bear each upper log within {off:.1e} (bar 1e-2); the deepest is {worst:.2e} m, of all pairs {deepest:.2e} m, the \
         ground's {on_ground:.1e} radii; quality says {:.4} of the radius, {:.4} in the mean",
        contacts.len(),
        quality.penetration_max,
        quality.penetration_mean
    );
    assert!(contacts.len() >= 9 && off <= 1.0e-2);
    assert!((worst - deepest).abs() <= 1.0e-4 * RADIUS);
    assert!((quality.penetration_max - (worst / RADIUS).max(on_ground)).abs() <= 1.0e-3);
    assert!(quality.penetration_mean > 0.0 && quality.penetration_mean <= quality.penetration_max);
    // What is gone presses nothing.
    let upper = pile.logs.remove(3);
    pile.physics.remove(upper).unwrap();
    assert!(pile.physics.flesh_contacts().all(|contact| contact.sides.iter().all(|side| side.flesh != upper)));
}

#[test]
fn threads_and_widths_give_the_same_bits() {
    // With two solves a substep the second one finds close what the first one drove together.
    for iterations in [1, 2] {
        let hash = |width: LaneWidth, threads: usize| {
            let mut pile = Pile::crossed();
            pile.physics.lane_width = width;
            pile.physics.config.threads = threads;
            pile.physics.config.iterations = iterations;
            pile.push(4, DVec3::new(-3.0, 0.5, 0.7), DVec3::new(3.0, -9.0, 4.0));
            pile.run(40);
            pile.physics.state_hash()
        };
        let one = hash(LaneWidth::Eight, 1);
        assert_eq!(hash(LaneWidth::Eight, 3), one);
        assert_eq!(hash(LaneWidth::EightBaseline, 2), one);
        assert_eq!(hash(LaneWidth::One, 1), one);
    }
}

/// What is far away, be it the first of all, takes nothing from how exactly the others are known to meet.
#[test]
fn what_is_far_away_is_no_matter_to_the_others() {
    let heights = |far: &[DVec3]| {
        let poses: Vec<_> = far.iter().map(|place| Pose::from_translation(*place)).collect();
        let mut pile = Pile::new(&poses);
        let logs = Pile::crossed();
        for log in 0..6 {
            let nodes = [0, SEGMENTS].map(|j| logs.node(log, j));
            let centre = logs.centre(log);
            let turn = glam::DQuat::from_rotation_arc(DVec3::X, (nodes[1].place - nodes[0].place).normalize());
            pile.add(centre, turn, 1.0);
        }
        pile.on_ground();
        pile.run(120);
        assert_eq!(pile.logs.iter().map(|log| pile.physics.health(*log).unwrap().resets).sum::<u32>(), 0);
        (far.len()..far.len() + 6).map(|log| pile.centre(log)).collect::<Vec<_>>()
    };
    let alone = heights(&[]);
    // There f32 has eighths of a metre, by which logs that lie on logs are farther apart than they may go in a frame.
    let away = DVec3::Y * 1.5e6;
    for far in [vec![away], (0..8).map(|log| away + DVec3::X * f64::from(log)).collect()] {
        let off = heights(&far).iter().zip(&alone).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        println!("{} logs {:.0e} m away: the others are off by {off:.1e} m", far.len(), far[0].length());
        assert!(alone[3].y > 2.9 * RADIUS && off <= 1.0e-3 * RADIUS, "{off}");
    }
}

/// Who meets nobody is stepped as if nobody could be met; rods of one character that overlap at rest leave each other alone.
#[test]
fn what_does_not_touch_is_left_alone() {
    let fall = |passes: u32| {
        let far = [0.0, 2.0, 4.0].map(|x| Pose::from_translation(DVec3::new(x, 1.0, 0.0)));
        let mut pile = Pile::new(&far);
        pile.physics.config.passes = passes;
        pile.run(20);
        pile.physics.state_hash()
    };
    assert_eq!(fall(PASSES), fall(0));
    // Logs that met go through each other once they no longer do.
    let mut pile = Pile::crossed();
    pile.run(30);
    pile.physics.config.passes = 0;
    pile.run(60);
    assert!(pile.centre(3).y < 1.2 * RADIUS);

    let rod = |name: &str, z: f64| {
        let from = DVec3::new(0.0, 0.0, z);
        RodSpec::straight(name, from, from + DVec3::X * LENGTH, SEGMENTS, RADIUS)
    };
    let flesh = Arc::new(Flesh::build(&[rod("one", 0.0), rod("other", RADIUS)], &[]).unwrap());
    let mut physics = Physics::with_config(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() });
    physics.config.passes = PASSES;
    let handle = physics.insert(flesh, &[], Pose::IDENTITY).unwrap();
    (0..30).for_each(|_| physics.step_flesh(FRAME).unwrap());
    let node = |chain| physics.node(handle, chain, 5).unwrap();
    let (speed, off) = (node(0).velocity.length(), (node(1).place.z - RADIUS).abs());
    println!("two rods that overlap at rest: {speed:.1e} m/s, {off:.1e} m off");
    assert!(speed <= 1.0e-5 && off <= 1.0e-6);
}

/// Two rods of a character have an end in common, where their segments leave each other alone; those next to them do not leave
/// their contacts to them.
#[test]
fn what_lies_in_another_at_rest_lies_on_it_elsewhere() {
    const COUNT: usize = 4;
    const SEGMENT: f64 = 0.15;
    let rod = |name: &str, way: DVec3| {
        let mut rod = RodSpec::straight(name, way * COUNT as f64, DVec3::ZERO, COUNT, RADIUS);
        rod.material.damping = 4.0;
        rod
    };
    let pair = |angle: f64| {
        let lower = rod("lower", DVec3::X * SEGMENT);
        // The node before the common one is as high above the lower one as just does not touch it.
        let (across, apart) = (SEGMENT * angle.sin(), 2.02 * RADIUS);
        let height = (apart * apart - across * across).sqrt();
        let upper = rod("upper", DVec3::new(SEGMENT * angle.cos(), height, across));
        Arc::new(Flesh::build(&[lower, upper], &[]).unwrap())
    };
    for (backend, mut physics) in common::backends() {
        physics.config = StepConfig { passes: PASSES, ..StepConfig::default() };
        physics.planes = vec![HalfSpace::ground(0.0, 0.6)];
        let insert = |index: u32| {
            let pose = Pose::from_translation(DVec3::new(0.0, RADIUS, 2.0 * f64::from(index)));
            physics.insert(pair(0.24 + 0.02 * f64::from(index)), &[], pose).unwrap()
        };
        let handles: Vec<_> = (0..8).map(insert).collect();
        let gaps = |physics: &Physics| -> Vec<f64> {
            let pill = |handle, chain: usize, segment: usize| {
                let ends = [segment, segment + 1].map(|node| physics.node(handle, chain, node).unwrap());
                Pill { ends: ends.map(|end| V3(end.place.to_array())), radii: ends.map(|end| f64::from(end.radius)) }
            };
            let gap =
                |handle, of: usize| nearest(OneF64(0), &pill(handle, 0, of / COUNT), &pill(handle, 1, of % COUNT)).gap;
            handles.iter().flat_map(|&handle| (0..COUNT * COUNT).map(move |of| gap(handle, of))).collect()
        };
        let at_rest = gaps(&physics);
        let (mut deepest, mut touched) = (0.0_f64, 0);
        for _ in 0..20 {
            (0..3).for_each(|_| physics.step_flesh(FRAME).unwrap());
            physics.finish().unwrap();
            let others = gaps(&physics).into_iter().zip(&at_rest).filter(|(_, at_rest)| **at_rest >= 0.0);
            deepest = others.map(|(gap, _)| -gap / RADIUS).fold(deepest, f64::max);
            touched += physics.flesh_contacts().count();
        }
        println!(
            "{backend}: rods that lie in each other at one end touch {touched} times elsewhere, {:.2} % of the radius deep at most \
             (bar 5 %)",
            100.0 * deepest
        );
        assert!(touched > 0 && deepest <= 0.05);
    }
}

/// What touches is remembered: a pile that is put back goes on as it did.
#[test]
fn restored_piles_go_on_to_the_bit() {
    let mut pile = Pile::crossed();
    pile.push(4, DVec3::new(0.4, 0.0, 0.1), DVec3::ZERO);
    pile.run(20);
    let saved = pile.physics.save();
    pile.run(20);
    let went_on = pile.physics.state_hash();
    pile.run(7);
    assert!(pile.physics.restore(&saved).unwrap().is_whole());
    pile.run(20);
    assert_eq!(pile.physics.state_hash(), went_on);
}

#[test]
fn too_many_passes_are_refused() {
    let mut pile = Pile::crossed();
    pile.physics.config.passes = 65;
    assert_eq!(pile.physics.step_flesh(FRAME), Err(StepError::ManyPasses { given: 65, most: 64 }));
}

/// What is removed, paused, thrown or no number does no harm to what it touched.
#[test]
fn piles_outlive_what_happens_in_them() {
    let mut pile = Pile::crossed();
    pile.run(10);
    pile.physics.remove(pile.logs.remove(1)).unwrap();
    pile.run(5);
    pile.physics.set_active(pile.logs[0], sinew::Active::PAUSED).unwrap();
    pile.run(5);
    pile.physics.set_active(pile.logs[0], sinew::Active::default()).unwrap();
    pile.push(3, DVec3::Y * 300.0, DVec3::X * 50.0);
    pile.push(2, DVec3::splat(f64::NAN), DVec3::ZERO);
    (0..60).for_each(|_| pile.physics.step_flesh(FRAME).unwrap());
    for &log in &pile.logs {
        assert!(pile.physics.state(log).unwrap().is_finite());
    }
    pile.physics.config.substeps = 1;
    pile.physics.config.iterations = 3;
    (0..30).for_each(|_| pile.physics.step_flesh(0.1).unwrap());
    assert!(pile.logs.iter().all(|log| pile.physics.state(*log).unwrap().is_finite()));
}
