//! Contact events: who began to touch whom, who goes on, who parted, and with what impulse.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};
use sinew::{
    Active, Collisions, ContactEvent, ContactPhase, ContactWith, FleshHandle, HalfSpace, Pose, StepError, Touched,
};

use crate::common::FRAME;
use crate::pile::{Pile, RADIUS};

type Key = (FleshHandle, ContactWith);

fn of(pile: &Pile, log: usize, other: ContactWith) -> Option<ContactEvent> {
    pile.physics.contact_events().find(|event| (event.flesh, event.other) == (pile.logs[log], other)).copied()
}

/// What lies still presses with its weight: the impulse of a step is m·g·dt.
#[test]
fn at_rest_impulses_are_weights() {
    let mut pile = Pile::crossed();
    pile.physics.gather_events = true;
    pile.run(240);
    let step = pile.weight(9.81) * FRAME;
    let mut ground = 0.0;
    let mut worst = 0.0_f64;
    for log in 0..3 {
        let event = of(&pile, log, ContactWith::Plane(0)).unwrap();
        assert_eq!(event.phase, ContactPhase::GoesOn);
        ground += event.push.y;
        assert!((event.impulse / event.push.y - 1.0).abs() < 1.0e-3);
        // Each upper one lies on all lower ones.
        let upper = pile.logs[3 + log];
        let borne = pile.physics.contact_events().filter(|event| event.other == ContactWith::Flesh(upper));
        worst = worst.max((borne.map(|event| -event.push.y).sum::<f64>() / step - 1.0).abs());
    }
    let whole = (ground / (6.0 * step) - 1.0).abs();
    println!(
        "the ground's impulse is the weight's within {whole:.1e} (bar 1e-3), the upper logs' within {worst:.1e} (bar 1e-2)"
    );
    assert!(whole <= 1.0e-3 && worst <= 1.0e-2);
    assert_eq!(pile.physics.contact_events().len(), 3 + 9);
}

/// A log that is thrown at a wall begins to touch it once and parts once; all impulses between are what its momentum changed by, and
/// so of a log that is hit by another.
#[test]
fn impulses_are_changes_of_momentum() {
    let mut pile = Pile::new(&[Pose::IDENTITY, Pose::from_translation(DVec3::Y * 0.2)]);
    pile.physics.gather_events = true;
    pile.physics.config.gravity = DVec3::ZERO;
    pile.physics.config.substeps = 8;
    pile.push(1, DVec3::NEG_Y * 3.0, DVec3::ZERO);
    let mass = pile.weight(1.0);
    let (mut begun, mut ended, mut push, mut impulse, mut on) = (0, 0, DVec3::ZERO, 0.0, 0);
    for _ in 0..30 {
        pile.run(1);
        let Some(event) = of(&pile, 0, ContactWith::Flesh(pile.logs[1])) else { continue };
        begun += u32::from(event.phase == ContactPhase::Began);
        ended += u32::from(event.phase == ContactPhase::Ended);
        on += u32::from(event.phase == ContactPhase::GoesOn);
        (push, impulse) = (push + event.push, impulse + event.impulse);
    }
    let motion = pile.node(0, 5).velocity;
    let momentum = pile.motion().momentum;
    let gained =
        (0..=10).map(|j| pile.node(0, j).velocity.y as f64 * if j % 10 == 0 { 0.05 } else { 0.1 }).sum::<f64>();
    let off = (push.y / (mass * gained) - 1.0).abs();
    println!(
        "a log hit at 3 m/s has {:.3} m/s then, {motion}, all {momentum}: impulses tell {:.3} (off by {off:.1e}, bar 1e-2), {begun} began, {on} went on, {ended} ended",
        gained,
        push.y / mass
    );
    assert!((begun, ended) == (1, 1) && off <= 1.0e-2 && (impulse / -push.y - 1.0).abs() < 1.0e-2);

    let mut pile = Pile::new(&[Pose::from_translation(DVec3::Y * (3.0 * RADIUS))]);
    pile.physics.gather_events = true;
    pile.physics.config.gravity = DVec3::ZERO;
    pile.physics.planes = vec![HalfSpace::ground(0.0, 0.0).named(77)];
    pile.push(0, DVec3::NEG_Y * 3.0, DVec3::ZERO);
    let mut push = 0.0;
    for _ in 0..30 {
        pile.run(1);
        push += of(&pile, 0, ContactWith::Body(77)).map_or(0.0, |event| event.push.y);
    }
    let after = pile.motion().momentum.y;
    let off = (push / mass / (after + 3.0) - 1.0).abs();
    println!("thrown at a floor at 3 m/s it has {after:.3} m/s then: off by {off:.1e} (bar 1e-2)");
    assert!(off <= 1.0e-2);
}

/// Logs in a heap that come and go.
fn heap(substeps: u32) -> Pile {
    let poses: Vec<_> = (0..8)
        .map(|index| {
            let turn = DQuat::from_rotation_y(2.4 * f64::from(index)) * DQuat::from_rotation_z(0.3);
            Pose::new(DVec3::new(0.1 * f64::from(index % 2), 0.2 + 0.15 * f64::from(index), 0.0), turn)
        })
        .collect();
    let mut pile = Pile::new(&poses);
    pile.on_ground();
    pile.physics.gather_events = true;
    pile.physics.config.substeps = substeps;
    pile
}

/// Who touches whom by what is listed of the last substep.
fn listed(pile: &Pile) -> BTreeMap<Key, f64> {
    let mut listed = BTreeMap::new();
    // What is paused shows what pressed when it was stepped.
    let paused = |log: FleshHandle| pile.physics.active(log).unwrap() == Active::PAUSED;
    for contact in pile.physics.flesh_contacts() {
        let [a, b] = contact.sides.map(|side| side.flesh);
        if paused(a) || paused(b) {
            continue;
        }
        *listed.entry((a, ContactWith::Flesh(b))).or_insert(0.0) += f64::from(contact.force);
    }
    for &log in &pile.logs {
        if paused(log) {
            continue;
        }
        for contact in pile.physics.contacts(log).unwrap() {
            let Touched::Plane(plane) = contact.touched else { panic!("there are planes alone") };
            *listed.entry((log, ContactWith::Plane(plane))).or_insert(0.0) += f64::from(contact.force);
        }
    }
    listed
}

/// Ten seconds in which logs fall in a heap, some go, come, stand still, are put elsewhere and back: every contact that begins ends
/// once, goes on only between, and is what is listed frame by frame.
#[test]
fn every_contact_that_begins_ends_once() {
    for substeps in [1, 4] {
        let mut pile = heap(substeps);
        let mut open: BTreeMap<Key, usize> = BTreeMap::new();
        let (mut begun, mut ended, mut late, mut off) = (0, 0, 0, 0.0_f64);
        let mut saved = None;
        for frame in 0..600 {
            match frame {
                150 => pile.physics.set_active(pile.logs[2], Active::PAUSED).unwrap(),
                200 => pile.physics.set_active(pile.logs[2], Active::default()).unwrap(),
                220 => pile.physics.remove(pile.logs.remove(5)).unwrap(),
                240 => saved = Some(pile.physics.save()),
                260 => {
                    let root = Pose::from_translation(DVec3::Y * 1.0);
                    pile.physics.teleport(pile.logs[0], &[], root).unwrap();
                }
                320 => {
                    let restored = pile.physics.restore(saved.as_ref().unwrap()).unwrap();
                    assert!(restored.is_whole());
                }
                380 => pile.physics.set_collisions(pile.logs[3], Collisions::NOTHING).unwrap(),
                381 => pile.physics.set_collisions(pile.logs[3], Collisions::default()).unwrap(),
                400 => pile.add(DVec3::new(0.0, 1.0, 0.0), DQuat::IDENTITY, 1.0),
                430 => pile.physics.config.passes = 0,
                431 => pile.physics.config.passes = crate::pile::PASSES,
                _ => {}
            }
            pile.physics.step_flesh(FRAME).unwrap();
            let mut last = None;
            for event in pile.physics.contact_events() {
                let key = (event.flesh, event.other);
                assert!(last < Some(key), "frame {frame}: {key:?} is not in order");
                last = Some(key);
                let was = open.contains_key(&key);
                match event.phase {
                    ContactPhase::Began => assert!(open.insert(key, frame).is_none(), "{key:?} began twice"),
                    ContactPhase::GoesOn => assert!(was, "{key:?} goes on without having begun"),
                    ContactPhase::Ended => assert!(open.remove(&key).is_some(), "{key:?} ended twice"),
                }
                begun += usize::from(event.phase == ContactPhase::Began);
                late += usize::from(event.phase == ContactPhase::Began && frame > 540);
                ended += usize::from(event.phase == ContactPhase::Ended);
                assert_eq!(event.impulse > 0.0, event.phase != ContactPhase::Ended);
            }
            let told = pile.physics.contact_events().filter(|event| event.phase != ContactPhase::Ended);
            let told: BTreeMap<Key, f64> = told.map(|event| ((event.flesh, event.other), event.impulse)).collect();
            assert!(told.keys().eq(open.keys()), "frame {frame}: a contact is lost");
            let listed = listed(&pile);
            assert!(listed.keys().all(|key| told.contains_key(key)), "frame {frame}: {listed:?} of {told:?}");
            if substeps == 1 {
                assert!(listed.keys().eq(told.keys()), "frame {frame}");
                for (key, force) in &listed {
                    off = off.max((told[key] / (force * FRAME) - 1.0).abs());
                }
            }
        }
        println!(
            "{substeps} substeps: {begun} contacts began, {ended} ended, {} go on; {late} began in the last second; impulses off \
             by {off:.1e} of what is listed",
            open.len()
        );
        assert!(begun > 30 && begun == ended + open.len() && !open.is_empty() && off < 1.0e-5);
        // Switched off, all end; then there is nothing.
        pile.physics.gather_events = false;
        pile.run(1);
        assert!(pile.physics.contact_events().all(|event| event.phase == ContactPhase::Ended));
        assert_eq!(pile.physics.contact_events().len(), open.len());
        pile.run(1);
        assert_eq!(pile.physics.contact_events().len(), 0);
    }
}

/// The same on any number of threads; a step that is refused leaves what was told.
#[test]
fn events_are_the_same_on_all_threads() {
    let events = |threads: usize| {
        let mut pile = heap(4);
        pile.physics.config.threads = threads;
        pile.run(60);
        assert_eq!(pile.physics.step_flesh(0.0), Err(StepError::BadTimeStep(0.0)));
        pile.physics.contact_events().copied().collect::<Vec<_>>()
    };
    let one = events(1);
    assert!(!one.is_empty());
    assert_eq!(events(3), one);
}
