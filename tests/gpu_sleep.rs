//! What stands still sleeps on a GPU too, which decides so by itself; what moves it wakes it.
#![cfg(feature = "gpu")]

mod common;
#[path = "common/logs.rs"]
mod logs;

use std::sync::Arc;

use common::FRAME;
use common::mutation::changed;
use glam::{DVec3, Vec3};
use logs::{Logs, RADIUS};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::layout::{LANES, chain};
use sinew::scenes::SceneParameters;
use sinew::step::{Stage, StepConfig};
use sinew::{Active, FleshHandle, HalfSpace, Material, Motion, Physics, Pose, ReadBack, Shape, Solid};

fn gpu() -> Option<Physics> {
    common::gpu_physics().map(|mut physics| {
        physics.read_back = ReadBack::NOTHING;
        physics
    })
}

fn places(logs: &Logs, all: &[FleshHandle]) -> Vec<DVec3> {
    let nodes = |log: &FleshHandle| {
        let log = *log;
        (0..7).map(move |node| logs.physics.node(log, 0, node).expect("is there").place)
    };
    all.iter().flat_map(nodes).collect()
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Asleep at the same places as on the CPU; nothing of it moves by a bit while it sleeps, and hardly when it is woken for nothing.
#[test]
fn what_sleeps_stays_where_it_is() {
    let Some(physics) = gpu() else { return };
    let (cpu, of_cpu) = Logs::asleep(Physics::default());
    let (mut logs, all) = Logs::asleep(physics);
    let before = places(&logs, &all);
    let off = farthest(&places(&cpu, &of_cpu), &before);
    println!("asleep {off:.1e} m from where the CPU has them (bar 2e-5)");
    assert!(off <= 2.0e-5);
    assert_eq!(logs.physics.node(all[2], 0, 3).expect("is there").velocity, glam::Vec3::ZERO);
    logs.run(0.5);
    assert_eq!(before, places(&logs, &all));

    all.iter().for_each(|log| logs.physics.wake(*log).expect("is there"));
    logs.run(FRAME);
    assert_eq!(all.map(|log| logs.sleeps(log)), [false; 4]);
    logs.run(0.2);
    let moved = farthest(&before, &places(&logs, &all));
    println!("woken, they move by {moved:.1e} m (bar 1e-5)");
    assert!(moved <= 1.0e-5, "what pressed is forgotten");
    logs.run(0.5);
    assert_eq!(all.map(|log| logs.sleeps(log)), [true; 4]);
}

/// Has the game do something to logs that sleep.
type Stir = fn(&mut Physics, [FleshHandle; 4]);

/// What moves one wakes its island, one a frame, and no other, where it is known what there is around.
#[test]
fn what_moves_one_wakes_its_island() {
    let Some(physics) = gpu() else { return };
    let device = physics.gpu().expect("steps").clone();
    let another = || Physics::with_gpu(device.clone()).expect("compiled");
    let ball = |x: f64| {
        let ball = Arc::new(Shape::Ball { radius: 0.1 });
        Solid::new(ball, Pose::from_translation(DVec3::new(x, 0.21, 0.15)), 0.5)
    };
    let stirs: [(&str, Stir, [bool; 4]); 7] = [
        ("nothing", |_, _| (), [true; 4]),
        (
            "an impulse",
            |physics, [a, ..]| physics.apply_impulse(a, 0, 3, DVec3::Y * 0.5).expect("is there"),
            [false, false, false, true],
        ),
        (
            "a velocity",
            |physics, [a, ..]| {
                physics.add_velocity(a, Motion { velocity: DVec3::Y, ..Motion::default() }).expect("is there");
            },
            [false, false, false, true],
        ),
        (
            "wind",
            |physics, [a, ..]| physics.set_acceleration(a, DVec3::X * 3.0).expect("is there"),
            [false, false, false, true],
        ),
        ("gravity", |physics, _| physics.config.gravity = DVec3::X, [false; 4]),
        ("a lift", |physics, _| physics.planes[0] = physics.planes[0].moving(DVec3::Y), [false; 4]),
        ("what may never sleep", |physics, _| physics.config.sleep_after = f64::INFINITY, [false; 4]),
    ];
    for (what, stir, expected) in stirs {
        let (mut logs, all) = Logs::asleep(another());
        stir(&mut logs.physics, all);
        logs.run(4.0 * FRAME);
        assert_eq!(all.map(|handle| logs.sleeps(handle)), expected, "{what}");
    }

    // A solid wakes whom it comes near to, also where it does not touch it, and one that is gone too.
    let (mut logs, all) = Logs::asleep(another());
    logs.physics.solids = vec![ball(20.0)];
    logs.run(4.0 * FRAME);
    assert_eq!(all.map(|handle| logs.sleeps(handle)), [true; 4], "a ball far away");
    logs.physics.solids = vec![ball(0.2)];
    logs.run(4.0 * FRAME);
    assert_eq!(all.map(|handle| logs.sleeps(handle)), [false, false, false, true], "a ball above one");
    logs.run(4.0);
    assert_eq!(all.map(|handle| logs.sleeps(handle)), [true; 4], "below a ball that stays");
    logs.physics.solids.clear();
    logs.run(4.0 * FRAME);
    assert_eq!(all.map(|handle| logs.sleeps(handle)), [false, false, false, true], "no ball");
}

/// What comes down on sleepers is borne by all of them as on the CPU, and all fall asleep again; twice the same bits. On a GPU what it
/// hits wakes the others a frame later each, which give way so much later; where all are awake when it comes they go as on the CPU.
#[test]
fn what_falls_on_them_wakes_them_and_lies_on_them() {
    let Some(physics) = gpu() else { return };
    let device = physics.gpu().expect("steps").clone();
    let fall = |physics: Physics, awake: bool| {
        let (mut logs, all) = Logs::asleep(physics);
        let falls = logs.add(DVec3::new(0.0, 1.0, 0.0), 0.0);
        logs.run(0.35);
        all[..3].iter().filter(|_| awake).for_each(|log| logs.physics.wake(*log).expect("is there"));
        logs.run(0.15);
        let woken = all.map(|log| logs.sleeps(log));
        logs.run(6.0);
        let all: Vec<FleshHandle> = all.into_iter().chain([falls]).collect();
        assert!(all.iter().all(|log| logs.sleeps(*log)));
        (woken, places(&logs, &all), logs.physics.state_hash())
    };
    let on_gpu = || Physics::with_gpu(device.clone()).expect("compiled");
    let once = fall(physics, false);
    for (awake, bar) in [(true, 5.0e-3), (false, 0.5 * RADIUS)] {
        let (woken, of_cpu, _) = fall(Physics::default(), awake);
        let of_gpu = if awake { fall(on_gpu(), awake) } else { once.clone() };
        let off = farthest(&of_cpu, &of_gpu.1);
        println!("what fell on logs, awake {awake}, is {off:.1e} m from where the CPU has it (bar {bar:.1e})");
        assert!([woken, of_gpu.0] == [[false, false, false, true]; 2] && off <= bar);
    }
    let again = fall(on_gpu(), false);
    assert_eq!((once.0, once.2), (again.0, again.2));
}

/// What lay on what is gone falls, and where what bears it is another ground.
#[test]
fn what_lay_on_what_is_gone_falls() {
    let Some(physics) = gpu() else { return };
    let (mut logs, [a, b, across, apart]) = Logs::asleep(physics);
    let after = logs.without([a, b], across);
    assert!(after < 1.1 * RADIUS, "{after}");
    logs.run(1.0);
    assert!(logs.sleeps(across) && logs.sleeps(apart));
    logs.physics.planes = vec![HalfSpace::ground(-1.0, 0.6)];
    logs.run(2.0);
    assert!(logs.height(across) < -0.8 && logs.height(apart) < -0.8);
}

/// What lies between its nodes on solids alone falls where these are gone.
#[test]
fn long_segments_are_near_to_what_changes() {
    let Some(physics) = gpu() else { return };
    let mut logs = Logs::new(physics);
    let half = DVec3::X * 0.5;
    let mut rod = RodSpec::straight("plank", -half, half, 2, 0.02);
    rod.material = Material { youngs_modulus: 1.0e7, damping: 4.0, ..Material::default() };
    let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
    let plank = logs.physics.insert(flesh, &[], Pose::from_translation(DVec3::Y * 0.12)).expect("finite");
    let cube = Arc::new(Shape::Cuboid { half_extents: Vec3::splat(0.05) });
    let at = |x: f64| Solid::new(cube.clone(), Pose::from_translation(DVec3::new(x, 0.05, 0.0)), 0.5);
    logs.physics.solids = vec![at(-0.25), at(0.25)];
    logs.run(3.0);
    let height = |logs: &Logs| logs.physics.node(plank, 0, 0).expect("is there").place.y;
    assert!(logs.sleeps(plank) && height(&logs) > 0.08, "{}", height(&logs));
    logs.physics.solids.clear();
    logs.run(1.0);
    assert!(height(&logs) < 0.03, "{}", height(&logs));
}

/// What would have woken it has flesh that is about to sleep begin anew to be still: it does not fall asleep in the air.
#[test]
fn what_is_about_to_sleep_does_not_where_something_changes() {
    let Some(physics) = gpu() else { return };
    let device = physics.gpu().expect("steps").clone();
    let lie = || {
        let mut logs = Logs::new(Physics::with_gpu(device.clone()).expect("compiled"));
        logs.physics.read_back = ReadBack::NOTHING;
        logs.physics.config.sleep_within = 0.1;
        let block = Arc::new(Shape::Cuboid { half_extents: Vec3::new(20.0, 0.5, 20.0) });
        logs.physics.solids = vec![Solid::new(block, Pose::from_translation(DVec3::NEG_Y * 0.5), 0.6)];
        logs.physics.planes.clear();
        let all = logs.lie();
        (logs, all)
    };
    let frames = {
        let (mut logs, all) = lie();
        logs.frames_to_sleep(&all)
    };
    type Change = (&'static str, fn(&mut Physics));
    let changes: [Change; 3] = [
        ("no solid", |physics| physics.solids.clear()),
        ("a lower one", |physics| physics.solids[0].pose.translation.y -= 1.0),
        ("gravity upwards", |physics| physics.config.gravity = DVec3::Y * 9.81),
    ];
    let goes = |(what, change): &Change| {
        let (mut logs, all) = lie();
        logs.run_frames(frames - 1);
        assert!(!all.iter().any(|log| logs.sleeps(*log)));
        let before = all.map(|log| logs.height(log));
        change(&mut logs.physics);
        logs.run_frames(72);
        let least = (0..4).map(|k| (before[k] - logs.height(all[k])).abs()).fold(f64::MAX, f64::min);
        println!("{what}: logs go by {least:.3} m at least in 0.3 s");
        least > 0.2
    };
    let hang: Vec<_> = changes.iter().filter(|change| !goes(change)).map(|(what, ..)| what).collect();
    assert!(hang.is_empty(), "{hang:?}");
}

/// What slept on flesh that its bones take from under it in a frame falls.
#[test]
fn what_slept_on_what_is_snatched_away_falls() {
    let Some(physics) = gpu() else { return };
    for physics in [Physics::default(), physics] {
        let mut logs = Logs::new(physics);
        logs.physics.planes.clear();
        logs.physics.config = StepConfig { jump: f64::INFINITY, sleep_within: 0.1, ..logs.physics.config };
        let rod = |z: f64| {
            let start = DVec3::new(-0.2, 0.0, z);
            let mut rod = RodSpec::straight("beam", start, start + DVec3::X * 0.4, 4, RADIUS);
            rod.material = Material { youngs_modulus: 1.0e8, damping: 1.0, ..Material::default() };
            rod.attach(0, 0, Holds::CLAMP)
        };
        let bones = [Pose::IDENTITY];
        let flesh = Arc::new(Flesh::build(&[rod(-0.15), rod(0.15)], &bones).expect("in range"));
        let beams = logs.physics.insert(flesh, &bones, Pose::IDENTITY).expect("finite");
        let across = logs.add(DVec3::Y * 2.0 * RADIUS, std::f64::consts::FRAC_PI_2);
        logs.frames_to_sleep(&[beams, across]);
        let before = logs.height(across);
        let below = Pose::from_translation(DVec3::NEG_Y * 5.0);
        logs.physics.set_bones(beams, &[below], Pose::IDENTITY).expect("is there");
        logs.run_frames(72);
        let fell = before - logs.height(across);
        println!("what lay on beams falls by {fell:.3} m in 0.3 s");
        assert!(fell > 0.2);
    }
}

/// What is where flesh cannot be is laid anew, however little it moves there.
#[test]
fn what_is_unwell_does_not_sleep() {
    let Some(physics) = gpu() else { return };
    let (mut logs, soft) = Logs::stretched(physics);
    logs.run(2.0);
    assert!(logs.sleeps(soft) && logs.physics.health(soft).expect("is there").resets == 1);
}

/// What is paused does not sleep, nor what goes on where nothing may sleep any more: it bears others.
#[test]
fn what_was_paused_asleep_is_awake() {
    let Some(physics) = gpu() else { return };
    let (mut logs, all @ [a, b, across, apart]) = Logs::asleep(physics);
    for log in [a, b, across] {
        logs.physics.set_active(log, Active::PAUSED).expect("is there");
    }
    logs.step();
    assert_eq!(all.map(|log| logs.sleeps(log)), [false; 4]);
    logs.run(0.5);
    assert_eq!(all.map(|log| logs.sleeps(log)), [false, false, false, true]);
    logs.physics.config.sleep_after = f64::INFINITY;
    logs.run(0.1);
    for log in [a, b, across] {
        logs.physics.set_active(log, Active::default()).expect("is there");
    }
    logs.run(0.5);
    assert_eq!(all.map(|log| logs.sleeps(log)), [false; 4]);
    assert!(logs.height(across) > 2.5 * RADIUS && logs.height(apart) > 0.9 * RADIUS, "{}", logs.height(across));
    // Nor does any row say that it does, or did a frame ago.
    for log in all {
        logs.physics.ask_for(log, ReadBack { state: true, ..ReadBack::NOTHING }).expect("is there");
    }
    logs.step();
    let says = |log: &FleshHandle| {
        let (_, chains) = logs.physics.state(*log).expect("is there").rows().next().expect("has a group");
        chains[chain::SLEEPS] != [0.0; LANES as usize]
    };
    assert_eq!(all.map(|log| says(&log)), [false; 4]);
}

/// What was saved asleep is awake where nothing may sleep: it does not let others through.
#[test]
fn what_was_saved_asleep_touches_where_nothing_sleeps() {
    let Some(physics) = gpu() else { return };
    let (mut logs, [a, b, across, _]) = Logs::asleep(physics);
    let saved = logs.physics.save();
    logs.physics.config.sleep_after = f64::INFINITY;
    logs.run(0.1);
    logs.physics.restore(&saved).expect("fits");
    logs.run(1.0);
    assert!(![a, b, across].into_iter().any(|log| logs.sleeps(log)));
    assert!(logs.height(across) > 2.5 * RADIUS, "{}", logs.height(across));
}

/// Chains that hang on chains sleep too.
#[test]
fn octopuses_that_were_dropped_fall_asleep() {
    let Some(physics) = gpu() else { return };
    let mut logs = Logs::new(physics);
    let parameters = SceneParameters { rods: 2, ..SceneParameters::of("octopuses").expect("is there") };
    let scene = parameters.build("octopuses").expect("in range");
    scene.insert(&mut logs.physics).expect("finite");
    let asleep = |logs: &Logs| logs.physics.instances().filter(|handle| logs.sleeps(*handle)).count();
    // How long they creep hangs on roundings.
    let mut seconds = 0;
    while asleep(&logs) < 2 && seconds < 15 {
        logs.run(1.0);
        seconds += 1;
    }
    let asleep = asleep(&logs);
    let quality = logs.physics.quality();
    println!(
        "2 octopuses on a GPU after {seconds} s: {asleep} asleep, {:.2} % deep at most",
        100.0 * quality.penetration_max
    );
    assert!(asleep == 2 && quality.penetration_max <= 0.05 && quality.speed_max == 0.0, "{quality:?}");
}

/// A muscle that stands sleeps until its excitation or its bones move it.
#[test]
fn muscles_sleep() {
    let Some(physics) = gpu() else { return };
    let mut logs = Logs::new(physics);
    logs.physics.planes.clear();
    logs.physics.config.gravity = DVec3::ZERO;
    let muscle = common::slow_muscle(&mut logs.physics);
    logs.run(1.0);
    assert!(logs.sleeps(muscle));
    logs.physics.set_activation(muscle, 0, 0.1).expect("is there");
    logs.run(4.0 * FRAME);
    assert!(!logs.sleeps(muscle));
    logs.run(3.0);
    assert!(logs.sleeps(muscle), "with what excites it");
    let bone = Pose::from_translation(DVec3::new(0.01, 0.0, 0.0));
    logs.physics.set_bones(muscle, &[bone], Pose::IDENTITY).expect("is there");
    logs.run(4.0 * FRAME);
    assert!(!logs.sleeps(muscle));
}

/// A stage, a line of its source with `⟨what⟩` marked, and what becomes of that.
const MUTANTS: &[(Stage, &str, &str)] = &[
    (Stage::LetSleep, "moved = moved || radius > 0.0 && !(dot(gone, gone) ⟨<=⟩ most * most);", ">"),
    (Stage::LetSleep, "smaller(still_before(instance), beside) ⟨+⟩ params.frame", "*"),
    (Stage::LetSleep, "⟨smaller⟩(still_before(instance), beside)", "larger"),
    (Stage::LetSleep, "tell(second, select(still_before(⟨first⟩)", "second"),
    (Stage::LetSleep, "tell(first, select(still_before(⟨second⟩)", "first"),
    (Stage::LetSleep, "node_rows[row + entry * LANES] = ⟨0.0⟩;", "1.0"),
    (Stage::LetSleep, "select(select(0.0, ⟨SLEPT_BEFORE⟩, slept), SLEEPS_NOW, sleeps)", "0.0"),
    (Stage::LetSleep, "let outside = max(stir3(corners + STIR_LOW) ⟨-⟩ segment_high", "+"),
    (Stage::LetSleep, "INPUT_WORKS, 0u)] = ⟨-1.0⟩;", "1.0"),
    (Stage::ReportHealth, "params.passes > 0u ⟨&&⟩ slept;", "||"),
];

/// Whether logs on a block sleep, wake and sleep as they should, and stay where they are.
fn sleeps_soundly(mut logs: Logs) -> bool {
    let block = Arc::new(Shape::Cuboid { half_extents: glam::Vec3::new(20.0, 0.5, 20.0) });
    let ground = Solid::new(block, Pose::from_translation(DVec3::NEG_Y * 0.5), 0.6);
    logs.physics.planes.clear();
    logs.physics.solids = vec![ground.clone()];
    let all = logs.lie();
    logs.run(1.5);
    let before = places(&logs, &all);
    if all.map(|log| logs.sleeps(log)) != [true; 4] {
        return false;
    }
    logs.physics.wake(all[0]).expect("is there");
    logs.run(3.0 * FRAME);
    if all.map(|log| logs.sleeps(log)) != [false, false, false, true] {
        return false;
    }
    logs.run(0.5);
    let moved = farthest(&before, &places(&logs, &all));
    if all.map(|log| logs.sleeps(log)) != [true; 4] || moved > 1.0e-5 {
        return false;
    }
    let ball = Arc::new(Shape::Ball { radius: 0.1 });
    let near = [(-10.0, true), (5.0, false)].into_iter().all(|(x, apart_sleeps)| {
        let ball = Solid::new(ball.clone(), Pose::from_translation(DVec3::new(x, 0.21, 0.0)), 0.5);
        logs.physics.solids = vec![ground.clone(), ball];
        logs.run(3.0 * FRAME);
        all.map(|log| logs.sleeps(log)) == [true, true, true, apart_sleeps]
    });
    // One beside the second wakes last, of that.
    logs.physics.solids = vec![ground];
    let beside = logs.add(DVec3::new(0.0, RADIUS, 0.15 + 2.0 * RADIUS), 0.0);
    logs.run(3.0);
    let slept = logs.sleeps(all[0]) && logs.sleeps(beside);
    logs.physics.wake(all[0]).expect("is there");
    logs.run(3.0 * FRAME);
    near && slept && !logs.sleeps(beside)
}

#[test]
fn changed_sleep_is_seen() {
    let Some(physics) = gpu() else { return };
    let device = physics.gpu().expect("steps").clone();
    assert!(sleeps_soundly(Logs::new(physics)));
    let unseen = MUTANTS.iter().filter(|(stage, line, to)| {
        let mut physics = Physics::with_gpu(device.clone()).expect("compiled");
        physics.replace_kernels(*stage, Some(&changed(*stage, line, to))).expect("compiles");
        sleeps_soundly(Logs::new(physics))
    });
    assert_eq!(unseen.collect::<Vec<_>>(), [] as [&(Stage, &str, &str); 0]);
}
