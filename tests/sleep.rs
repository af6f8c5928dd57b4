//! What stands still sleeps and costs nothing; what moves it, or what it lies in, wakes it, and all that lie with it.

#[path = "common/mod.rs"]
mod common;
#[path = "common/logs.rs"]
mod logs;

use std::sync::Arc;

use common::FRAME;
use glam::DVec3;
use logs::{Logs, RADIUS};
use sinew::flesh::{Flesh, NodeState, RodSpec};
use sinew::scenes::SceneParameters;
use sinew::step::StepConfig;
use sinew::{
    Active, Coefficient, CollisionGroups, Collisions, CombineRule, ContactPhase, FleshHandle, HalfSpace, Material,
    Motion, Physics, Pose, Shape, SkinMotion, Solid, StepError,
};

#[test]
fn an_octopus_that_was_dropped_falls_asleep() {
    let mut logs = Logs::new(Physics::default());
    let parameters = SceneParameters { rods: 1, ..SceneParameters::of("octopuses").expect("is there") };
    let handle = parameters.build("octopuses").expect("in range").insert(&mut logs.physics).expect("finite");
    logs.run(6.0);
    assert!(logs.sleeps(handle));
}

/// Octopuses that were dropped so many frames ago, with the scene's settings or others.
fn heap(count: usize, frames: usize, settings: impl Fn(StepConfig) -> StepConfig) -> Physics {
    let parameters = SceneParameters { rods: count, ..SceneParameters::of("octopuses").expect("is there") };
    let scene = parameters.build("octopuses").expect("in range");
    let mut physics = Physics::with_config(settings(scene.config));
    scene.insert(&mut physics).expect("finite");
    (0..frames).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
    physics
}

fn resets(physics: &Physics) -> u32 {
    physics.instances().map(|handle| physics.health(handle).expect("is there").resets).sum()
}

#[test]
fn a_heap_comes_to_rest_and_sleeps() {
    let physics = heap(25, 900, |config| config);
    let asleep = physics.instances().filter(|&handle| physics.is_asleep(handle).expect("is there")).count();
    let quality = physics.quality();
    println!("25 octopuses after 15 s: {asleep} asleep, {:.2} % deep at most", 100.0 * quality.penetration_max);
    assert_eq!((asleep, resets(&physics)), (25, 0));
    assert!(quality.penetration_max <= 0.05 && quality.speed_max == 0.0, "{quality:?}");
}

/// At any frame rate, and far from the world's origin.
#[test]
fn heaps_sleep_at_any_frame_rate_and_anywhere() {
    for (rate, away) in [(30.0, 0.0), (75.0, 0.0), (144.0, 0.0), (240.0, 0.0), (60.0, 5.0e3), (60.0, 1.0e5)] {
        let mut physics = heap(8, 0, |config| StepConfig { sleep_after: 0.5, ..config });
        for handle in physics.instances().collect::<Vec<_>>() {
            let flesh = physics.flesh(handle).expect("is there").clone();
            let place = physics.node(handle, 0, 0).expect("is there").place - flesh.chains()[0].rest[0].translation;
            let there = Pose::from_translation(place + DVec3::new(away, 0.0, -away));
            physics.teleport(handle, &[], there).expect("finite");
        }
        let all_sleep =
            |physics: &Physics| physics.instances().all(|handle| physics.is_asleep(handle).expect("is there"));
        let mut seconds = 0.0;
        while !all_sleep(&physics) && seconds < 20.0 {
            physics.step_flesh(1.0 / rate).expect("steps");
            seconds += 1.0 / rate;
        }
        let depth = physics.quality().penetration_max;
        println!("8 octopuses at {rate} Hz, {away} m away: asleep after {seconds:.1} s, {:.1} % deep", 100.0 * depth);
        assert!(all_sleep(&physics) && depth <= 0.05 && resets(&physics) == 0, "{rate} Hz, {away} m: {depth}");
    }
}

/// However flesh rubs on flesh. Where tentacles stick, one octopus may stand up on them and sway for minutes: nothing slips, and its own
/// damping leaves alone how it moves as a whole. Such a sway dies away.
#[test]
fn heaps_sleep_or_die_away_at_any_friction() {
    for value in [0.0, 2.0, 1000.0] {
        let mut physics = heap(8, 0, |config| config);
        let friction = Some(Coefficient::new(value, CombineRule::Max));
        for handle in physics.instances().collect::<Vec<_>>() {
            physics.set_collisions(handle, Collisions { friction, ..Collisions::default() }).expect("sound");
        }
        let mut kinetic = Vec::new();
        while kinetic.len() < 1800 && kinetic.last() != Some(&0.0) {
            physics.step_flesh(FRAME).expect("steps");
            kinetic.push(physics.quality().energy.kinetic);
        }
        // A sway takes some 65 frames.
        let swing = |until: usize| kinetic[until - 130..until].iter().fold(0.0_f64, |most, energy| most.max(*energy));
        let sways = (kinetic.len() == 1800).then(|| [swing(900), swing(1800)]);
        let (quality, seconds) = (physics.quality(), kinetic.len() as f64 * FRAME);
        let depth = 100.0 * quality.penetration_max;
        println!("8 octopuses that rub by {value}: {depth:.2} % deep after {seconds:.1} s, swaying by {sways:.5?} J");
        assert!(sways.is_none_or(|[before, now]| now < 0.9 * before && now < 5.0e-3), "{value}: {quality:?}");
        assert!(quality.penetration_max <= 0.05 && resets(&physics) == 0, "{value}: {quality:?}");
    }
}

/// A half-space that comes to be far above them wakes what lies in it then.
#[test]
fn what_a_half_space_covers_wakes() {
    let (mut logs, [a, ..]) = Logs::asleep(Physics::default());
    logs.physics.planes.push(HalfSpace::ground(2.0, 0.5));
    logs.step();
    assert!(!logs.sleeps(a));
    logs.run(3.0);
    assert!(logs.height(a) > 1.9, "{}", logs.height(a));
}

/// A half-space that begins to turn about what lies above it wakes that whose ends it would reach.
#[test]
fn what_the_turn_of_a_half_space_reaches_wakes() {
    let mut logs = Logs::new(Physics::default());
    let block = Arc::new(Shape::Cuboid { half_extents: glam::Vec3::new(0.2, 0.02, 0.2) });
    logs.physics.solids = vec![Solid::new(block, Pose::from_translation(DVec3::NEG_Y * 0.02), 0.6)];
    logs.physics.planes = vec![HalfSpace::ground(-0.05, 0.6)];
    let log = logs.add(DVec3::Y * RADIUS, 0.0);
    logs.run(2.0);
    assert!(logs.sleeps(log));
    let centre = logs.physics.node(log, 0, 3).expect("is there").place;
    logs.physics.planes[0].centre = centre;
    logs.step();
    logs.run(2.0);
    assert!(logs.sleeps(log) && logs.height(log) > 0.04);
    logs.physics.planes[0].spin = DVec3::Z * 8.0;
    logs.step();
    assert!(!logs.sleeps(log));
}

/// What lies on a paused one, which bears nothing and stirs nobody, sleeps once it lies elsewhere.
#[test]
fn what_touched_what_is_paused_sleeps() {
    let (mut logs, [a, b, across, _]) = Logs::asleep(Physics::default());
    logs.physics.wake(across).expect("is there");
    logs.step();
    logs.physics.set_active(across, Active::PAUSED).expect("is there");
    logs.run(3.0);
    assert!(logs.sleeps(a) && logs.sleeps(b) && logs.height(across) > 2.5 * RADIUS);
    logs.physics.set_active(across, Active::default()).expect("is there");
    logs.physics.set_active(a, Active::PAUSED).expect("is there");
    logs.run(4.0);
    assert!(logs.sleeps(b) && logs.sleeps(across), "{} {}", logs.sleeps(b), logs.sleeps(across));
}

/// Flesh that a network takes over for bears nobody from then on.
#[test]
fn what_lay_on_what_a_network_takes_over_for_falls() {
    let (mut logs, [a, b, across, _]) = Logs::asleep(Physics::default());
    for log in [a, b] {
        logs.physics.set_skin_motion(log, SkinMotion::Network, 2.0).expect("in range");
    }
    logs.run(1.5);
    assert!(logs.sleeps(across) && logs.height(across) > 2.5 * RADIUS);
    logs.run_fast(2.0);
    assert!(logs.height(across) < 1.1 * RADIUS, "{}", logs.height(across));
}

/// Also where in each frame it goes as far as its origin does.
#[test]
fn what_flies_does_not_sleep() {
    let rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * 0.05, 6, 0.005);
    let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
    let config = StepConfig { gravity: DVec3::ZERO, sleep_after: 0.1, ..StepConfig::default() };
    let mut physics = Physics::with_config(config);
    let handle = physics.insert(flesh, &[], Pose::IDENTITY).expect("finite");
    let velocity = DVec3::Z * 15.0;
    physics.set_velocity(handle, Motion { velocity, ..Motion::default() }).expect("finite");
    for _ in 0..120 {
        physics.step_flesh(FRAME).expect("steps");
        assert!(!physics.is_asleep(handle).expect("is there"));
    }
    let place = physics.node(handle, 0, 0).expect("is there").place;
    assert!((place.z - 30.0).abs() < 0.01, "{place}");
}

/// What lies awake does not go back and forth from substep to substep: ends that others press to the ground stay on it, and the
/// points at which arms touch that lie nearly along each other do not run along them. What goes back and forth is elsewhere at a
/// frame's end than its velocities at both ends say; what still swings is not. By 1 mm/s a tip goes 8 µm to and fro.
#[test]
fn what_lies_awake_does_not_shake() {
    let mut physics = heap(50, 600, |config| StepConfig { sleep_after: f64::INFINITY, ..config });
    let nodes = |physics: &Physics| -> Vec<NodeState> {
        let of = |handle| {
            let chains = physics.flesh(handle).expect("is there").chains().iter().map(|chain| chain.node_count());
            let each = chains.enumerate().flat_map(move |(chain, count)| (0..count).map(move |index| (chain, index)));
            each.map(move |(chain, index)| physics.node(handle, chain, index).expect("is there"))
        };
        physics.instances().flat_map(of).collect()
    };
    let (mut before, mut fastest, mut shakes) = (nodes(&physics), 0.0_f64, 0.0_f64);
    for _ in 0..120 {
        physics.step_flesh(FRAME).expect("steps");
        let now = nodes(&physics);
        for (from, to) in before.iter().zip(&now) {
            let said = 0.5 * (from.velocity + to.velocity).as_dvec3();
            shakes = shakes.max(said.distance((to.place - from.place) / FRAME));
        }
        (before, fastest) = (now, fastest.max(physics.quality().speed_max));
    }
    println!(
        "50 octopuses 10 to 12 s after they were dropped: up to {fastest:.1e} m/s, {shakes:.1e} of it to and fro (bar 1e-3)"
    );
    assert!(resets(&physics) == 0 && fastest <= 5.0e-3 && shakes <= 1.0e-3, "{fastest} {shakes}");
}

/// A tentacle that lies folded under a head is not where flesh cannot be: laid anew, it would throw what lies on it.
#[test]
fn what_is_folded_by_what_lies_on_it_is_left_alone() {
    let physics = heap(45, 250, |config| config);
    assert_eq!(resets(&physics), 0);
}

/// Passes bring chains together, however many there are: each goes on by what its matrix makes of the steps before.
#[test]
fn many_passes_hold() {
    let physics = heap(8, 250, |config| StepConfig { passes: 40, ..config });
    let depth = physics.quality().penetration_max;
    println!("8 octopuses with 40 passes: {:.2} % deep at most", 100.0 * depth);
    assert!(resets(&physics) == 0 && depth <= 0.05, "{depth}");
}

#[test]
fn what_sleeps_keeps_its_bits_its_contacts_and_their_events() {
    let (mut logs, [a, _, across, _]) = Logs::asleep(Physics::default());
    logs.physics.gather_events = true;
    let contacts = |logs: &Logs| {
        let flesh = logs.physics.flesh_contacts().count();
        (flesh, logs.physics.contacts(a).expect("is there").count())
    };
    let before = (logs.physics.state_hash(), contacts(&logs));
    assert!(before.1.0 > 0 && before.1.1 > 0, "{before:?}");
    let velocity = logs.physics.node(across, 0, 3).expect("is there").velocity;
    assert_eq!(velocity, glam::Vec3::ZERO);
    logs.run(1.0);
    assert_eq!((logs.physics.state_hash(), contacts(&logs)), before);

    // Awake with events, asleep again: what began then goes on, and ends once what it lies on is gone.
    logs.physics.wake(across).expect("is there");
    logs.step();
    let began = logs.physics.contact_events().filter(|event| event.phase == ContactPhase::Began).count();
    logs.run(3.0);
    assert!(logs.sleeps(across));
    let phases: Vec<_> = logs.physics.contact_events().map(|event| (event.phase, event.impulse > 0.0)).collect();
    assert!(began >= 4 && phases.len() == began, "{began} began: {phases:?}");
    assert!(phases.iter().all(|phase| *phase == (ContactPhase::GoesOn, true)), "{phases:?}");
    logs.physics.remove(a).expect("is there");
    logs.step();
    assert!(logs.physics.contact_events().any(|event| event.phase == ContactPhase::Ended));
}

/// Has the game do something to logs that sleep, given those of the heap and the one apart.
type Stir = fn(&mut Physics, [FleshHandle; 4]);

#[test]
fn what_moves_one_wakes_its_island_and_no_other() {
    let stirs: [(&str, Stir); 9] = [
        ("an impulse", |physics, [a, ..]| physics.apply_impulse(a, 0, 3, DVec3::Y * 0.5).expect("is there")),
        ("a velocity", |physics, [a, ..]| {
            physics.add_velocity(a, Motion { velocity: DVec3::Y, ..Motion::default() }).expect("is there");
        }),
        ("wind", |physics, [a, ..]| physics.set_acceleration(a, DVec3::X * 3.0).expect("is there")),
        ("a teleport", |physics, [a, ..]| {
            physics.teleport(a, &[], Pose::from_translation(DVec3::new(-3.0, 1.0, 0.0))).expect("is there");
        }),
        ("a pause", |physics, [a, ..]| physics.set_active(a, Active::PAUSED).expect("is there")),
        ("removal", |physics, [a, ..]| physics.remove(a).expect("is there")),
        ("its state", |physics, [a, ..]| {
            let _ = physics.state_mut(a).expect("is there");
        }),
        ("what it touches", |physics, [a, ..]| {
            let groups = CollisionGroups::NONE;
            physics.set_collisions(a, Collisions { groups, ..Collisions::default() }).expect("sound");
        }),
        ("a solid that comes to be there", |physics, _| {
            let ball = Arc::new(Shape::Ball { radius: 0.1 });
            physics.solids.push(Solid::new(ball, Pose::from_translation(DVec3::new(0.0, 0.2, 0.15)), 0.5));
        }),
    ];
    for (what, stir) in stirs {
        let (mut logs, all @ [_, b, across, apart]) = Logs::asleep(Physics::default());
        stir(&mut logs.physics, all);
        logs.step();
        assert_eq!([b, across, apart].map(|handle| logs.sleeps(handle)), [false, false, true], "{what}");
    }
}

#[test]
fn what_all_lie_in_wakes_all() {
    let stirs: [(&str, Stir); 4] = [
        ("gravity", |physics, _| physics.config.gravity = DVec3::X),
        ("no passes", |physics, _| physics.config.passes = 0),
        ("the ground", |physics, _| physics.planes[0].offset = -0.01),
        ("a lift", |physics, _| physics.planes[0] = physics.planes[0].moving(DVec3::Y)),
    ];
    for (what, stir) in stirs {
        let (mut logs, all) = Logs::asleep(Physics::default());
        stir(&mut logs.physics, all);
        logs.step();
        assert_eq!(all.map(|handle| logs.sleeps(handle)), [false; 4], "{what}");
    }
    // What changes elsewhere wakes nobody.
    let (mut logs, all) = Logs::asleep(Physics::default());
    logs.physics.planes.push(HalfSpace::new(DVec3::X, -50.0, 0.5));
    let ball = Arc::new(Shape::Ball { radius: 0.1 });
    logs.physics.solids.push(Solid::new(ball, Pose::from_translation(DVec3::new(20.0, 0.2, 0.0)), 0.5));
    logs.step();
    assert_eq!(all.map(|handle| logs.sleeps(handle)), [true; 4]);
}

/// What would have woken it has flesh that is about to sleep begin anew to be still, and all that lies on it: none of it falls asleep
/// in the air.
#[test]
fn what_is_about_to_sleep_does_not_where_something_changes() {
    /// Logs on a half-space or on a block, two across two and one on these.
    fn lie(on_block: bool) -> (Logs, [FleshHandle; 5]) {
        let mut logs = Logs::new(Physics::default());
        logs.physics.config.sleep_within = 0.1;
        if on_block {
            let block = Arc::new(Shape::Cuboid { half_extents: glam::Vec3::new(2.0, 0.5, 2.0) });
            logs.physics.solids = vec![Solid::new(block, Pose::from_translation(DVec3::NEG_Y * 0.5), 0.6)];
            logs.physics.planes.clear();
        }
        let [along, across] = [0.0, std::f64::consts::FRAC_PI_2];
        let all = [(0.0, 1.0, -0.15, along), (0.0, 1.0, 0.15, along), (-0.15, 3.0, 0.0, across)];
        let all = [all[0], all[1], all[2], (0.15, 3.0, 0.0, across), (0.0, 5.0, 0.0, along)];
        let all = all.map(|(x, y, z, turn)| logs.add(DVec3::new(x, y * RADIUS, z), turn));
        (logs, all)
    }
    let frames = [false, true].map(|on_block| {
        let (mut logs, all) = lie(on_block);
        logs.frames_to_sleep(&all)
    });
    let take: fn(&mut Physics, &[FleshHandle]) = |physics, logs| {
        for log in logs {
            physics.remove(*log).expect("is there");
        }
    };
    let let_through: fn(&mut Physics, &[FleshHandle]) = |physics, logs| {
        for log in logs {
            let collisions = Collisions { groups: CollisionGroups::NONE, ..Collisions::default() };
            physics.set_collisions(*log, collisions).expect("sound");
        }
    };
    // What is done, on what they lie, and how far the highest one falls at least (m).
    type Change = (&'static str, bool, f64, fn(&mut Physics, &[FleshHandle]));
    let changes: [Change; 9] = [
        ("no half-space", false, 0.2, |physics, _| physics.planes.clear()),
        ("a lower one", false, 0.2, |physics, _| physics.planes[0].offset = -1.0),
        ("one that goes down", false, 0.2, |physics, _| {
            physics.planes = vec![HalfSpace::ground(-1.0, 0.5).moving(DVec3::NEG_Y)];
        }),
        ("no solid", true, 0.2, |physics, _| physics.solids.clear()),
        ("a lower one", true, 0.2, |physics, _| physics.solids[0].pose.translation.y -= 1.0),
        ("no gravity but upwards", false, -0.2, |physics, _| physics.config.gravity = DVec3::Y * 9.81),
        ("nothing below", false, 0.08, take),
        ("what is below bears nothing", false, 0.08, let_through),
        ("what is below stops to be stepped", false, 0.08, |physics, logs| {
            for log in logs {
                physics.set_active(*log, Active::PAUSED).expect("is there");
            }
        }),
    ];
    let fall = |(what, on_block, least, change): &Change| {
        let (mut logs, all @ [.., over]) = lie(*on_block);
        logs.run_frames(frames[usize::from(*on_block)] - 1);
        assert!(!all.iter().any(|log| logs.sleeps(*log)));
        let before = logs.height(over);
        change(&mut logs.physics, &all[..2]);
        logs.run_frames(72);
        let fell = before - logs.height(over);
        println!("{what}: the highest log falls by {fell:.3} m in 0.3 s");
        fell * least.signum() > least.abs()
    };
    let hang: Vec<_> = changes.iter().filter(|change| !fall(change)).map(|(what, ..)| what).collect();
    assert!(hang.is_empty(), "{hang:?}");
}

/// What is where flesh cannot be is laid anew, however little it moves there.
#[test]
fn what_is_unwell_does_not_sleep() {
    let (mut logs, soft) = Logs::stretched(Physics::default());
    logs.run(2.0);
    assert!(logs.sleeps(soft) && resets(&logs.physics) == 1);
}

#[test]
fn what_falls_on_them_wakes_them_and_lies_on_them() {
    let (mut logs, [a, b, across, apart]) = Logs::asleep(Physics::default());
    let falls = logs.add(DVec3::new(0.0, 1.0, 0.0), 0.0);
    let mut woken = None;
    for frame in 0..60 {
        logs.step();
        if woken.is_none() && !logs.sleeps(across) {
            woken = Some((frame, logs.height(falls)));
        }
    }
    let (frame, height) = woken.expect("it comes down");
    println!("woken in frame {frame} by what is {height:.3} m high then");
    assert!(height > 4.5 * RADIUS, "woken before it presses");
    assert!(!logs.sleeps(a) && !logs.sleeps(b) && logs.sleeps(apart));
    logs.run(8.0);
    assert!([a, b, across, falls, apart].iter().all(|&handle| logs.sleeps(handle)));
    let lowest = [a, b, across, falls].map(|handle| logs.height(handle)).into_iter().fold(f64::MAX, f64::min);
    assert!(lowest > 0.9 * RADIUS, "{lowest}");
}

/// One that loses what it lies on falls, although all was asleep.
#[test]
fn what_lay_on_what_is_gone_falls() {
    let (mut logs, [a, b, across, _]) = Logs::asleep(Physics::default());
    let before = logs.height(across);
    logs.physics.remove(a).expect("is there");
    logs.physics.remove(b).expect("is there");
    logs.run(2.0);
    let after = logs.height(across);
    assert!(before > 2.5 * RADIUS && after < 1.1 * RADIUS, "{before} {after}");
}

#[test]
fn what_lay_on_what_is_gone_falls_at_any_frame_rate() {
    let (mut logs, [a, b, across, _]) = Logs::asleep(Physics::default());
    logs.physics.config.sleep_within = 0.1;
    let after = logs.without([a, b], across);
    assert!(after < 1.1 * RADIUS, "{after}");
}

/// Nor does what is awake bear it by its name: what lies still on what stirs falls where that is taken away.
#[test]
fn what_lay_still_on_what_stirred_falls_at_any_frame_rate() {
    let (mut logs, [a, b, across, _]) = Logs::asleep(Physics::default());
    logs.physics.config.sleep_within = 0.1;
    for _ in 0..120 {
        for log in [a, b] {
            logs.physics.wake(log).expect("is there");
        }
        logs.physics.step_flesh(1.0 / 240.0).expect("steps");
    }
    let after = logs.without([a, b], across);
    assert!(after < 1.1 * RADIUS, "{after}");
}

/// What was saved asleep wakes where what it lay on is gone or the ground is another one, and sleeps on where it is put back.
#[test]
fn restored_sleepers_wake_where_what_they_lay_on_is_gone() {
    let (mut logs, [a, b, across, apart]) = Logs::asleep(Physics::default());
    let saved = logs.physics.save();
    logs.physics.planes = vec![HalfSpace::ground(-1.0, 0.6)];
    logs.run(0.1);
    logs.physics.restore(&saved).expect("its own");
    logs.run(2.0);
    assert!([a, across, apart].iter().all(|log| logs.height(*log) < -0.8));

    logs.physics.planes = vec![HalfSpace::ground(0.0, 0.6)];
    logs.physics.restore(&saved).expect("its own");
    logs.run(0.1);
    assert!(logs.sleeps(across) && logs.sleeps(apart));

    logs.physics.remove(a).expect("is there");
    logs.physics.remove(b).expect("is there");
    logs.physics.restore(&saved).expect("its own");
    logs.run_fast(2.0);
    assert!(logs.height(across) < 1.1 * RADIUS && logs.sleeps(apart));
}

/// Restored sleepers, and what sleeps where these are put, part where they are in each other.
#[test]
fn restored_sleepers_and_what_sleeps_where_they_are_put_part() {
    let (mut logs, [.., apart]) = Logs::asleep(Physics::default());
    let saved = logs.physics.save();
    logs.physics.teleport(apart, &[], Pose::from_translation(DVec3::new(10.0, RADIUS, 0.0))).expect("finite");
    let newer = logs.add(DVec3::new(5.0, RADIUS, 0.04), 0.0);
    let far = logs.add(DVec3::new(-5.0, RADIUS, 0.0), 0.0);
    logs.run(2.0);
    assert!([newer, far, apart].iter().all(|log| logs.sleeps(*log)));
    logs.physics.restore(&saved).expect("its own");
    logs.step();
    assert_eq!([newer, far, apart].map(|log| logs.sleeps(log)), [false, true, false]);
    logs.run(2.0);
    let place = |log: FleshHandle| logs.physics.node(log, 0, 3).expect("is there").place;
    let between = place(newer).distance(place(apart));
    assert!(between > 1.9 * RADIUS, "{between}");
}

/// What was saved asleep wakes where it touches something else than it did.
#[test]
fn restored_sleepers_that_touch_something_else_wake() {
    let (mut logs, [a, b, across, apart]) = Logs::asleep(Physics::default());
    let saved = logs.physics.save();
    for log in [a, b] {
        let collisions = Collisions { groups: CollisionGroups::NONE, ..Collisions::default() };
        logs.physics.set_collisions(log, collisions).expect("sound");
    }
    logs.physics.restore(&saved).expect("its own");
    logs.run(1.0);
    assert!(logs.height(across) < 1.1 * RADIUS && logs.sleeps(apart), "{}", logs.height(across));
}

/// What was saved when it was about to sleep does not in the air.
#[test]
fn what_is_restored_about_to_sleep_falls_where_its_ground_is_gone() {
    let lie = || {
        let mut logs = Logs::new(Physics::default());
        logs.physics.config.sleep_within = 0.1;
        let log = logs.add(DVec3::Y * RADIUS, 0.0);
        (logs, log)
    };
    let frames = {
        let (mut logs, log) = lie();
        logs.frames_to_sleep(&[log])
    };
    let (mut logs, log) = lie();
    logs.run_frames(frames - 1);
    let saved = logs.physics.save();
    logs.physics.planes.clear();
    logs.physics.restore(&saved).expect("its own");
    logs.run_fast(0.5);
    assert!(logs.height(log) < -0.5, "{}", logs.height(log));
}

#[test]
fn restored_sleepers_go_on_bit_for_bit_at_any_thread_count() {
    let run = |threads: usize| {
        let (mut logs, [_, _, across, _]) = Logs::asleep(Physics::default());
        logs.physics.config.threads = threads;
        let saved = logs.physics.save();
        let mut hashes = Vec::new();
        for _ in 0..2 {
            logs.physics.restore(&saved).expect("its own");
            assert!(logs.sleeps(across));
            logs.run(0.2);
            logs.physics.apply_impulse(across, 0, 3, DVec3::Y).expect("is there");
            logs.run(0.5);
            hashes.push(logs.physics.state_hash());
        }
        assert_eq!(hashes[0], hashes[1]);
        hashes[0]
    };
    assert_eq!(run(1), run(2));
}

/// A soft cantilever that creeps to rest is not stopped on its way.
#[test]
fn what_creeps_does_not_sleep() {
    let run = |sleep_after: f64| {
        let bones = [Pose::IDENTITY];
        let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * 0.5, 10, 0.02);
        rod.material = Material { youngs_modulus: 3.0e5, damping: 60.0, ..Material::default() };
        let rod = rod.attach(0, 0, sinew::flesh::Holds::CLAMP);
        let flesh = Arc::new(Flesh::build(&[rod], &bones).expect("in range"));
        let mut physics = Physics::with_config(StepConfig { sleep_after, ..StepConfig::default() });
        let handle = physics.insert(flesh, &bones, Pose::IDENTITY).expect("finite");
        (0..1800).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
        (physics.node(handle, 0, 10).expect("is there").place.y, physics.is_asleep(handle).expect("is there"))
    };
    let ((rests, asleep), (awake, _)) = (run(0.5), run(f64::INFINITY));
    println!("a cantilever of 0.5 m sags by {:.4} m asleep, {:.4} m awake", -rests, -awake);
    assert!(asleep && (rests - awake).abs() < 1.0e-3, "{rests} {awake}");
}

#[test]
fn times_and_shares_out_of_range_are_refused() {
    for (name, after, within) in [
        ("sleep_after", 0.0, 0.01),
        ("sleep_after", f64::NAN, 0.01),
        ("sleep_within", 1.0, -0.1),
        ("sleep_within", 1.0, 1.5),
    ] {
        let config = StepConfig { sleep_after: after, sleep_within: within, ..StepConfig::default() };
        let refused = Physics::with_config(config).step_flesh(FRAME);
        assert!(matches!(refused, Err(StepError::BadSleep { name: told, .. }) if told == name), "{refused:?}");
    }
}
