//! Heaps in frames of changing length.

use glam::{DQuat, DVec3};
use sinew::scenes::octopuses::Octopus;
use sinew::step::StepConfig;
use sinew::{HalfSpace, Motion, Physics};

use crate::common::{FRAME, material};
use crate::pile::{PASSES, Pile, RADIUS, SEGMENTS};

/// What lies goes on lying so: its fastest node (m/s), and how deep it lies over the radius.
const BARS: [f64; 2] = [0.05, 0.05];

/// Octopuses that have lain in a heap for a while.
fn heap(sleep_after: f64) -> Physics {
    let octopus = Octopus::default();
    let flesh = octopus.build().unwrap();
    let mut physics = Physics::with_config(StepConfig { passes: PASSES, sleep_after, ..StepConfig::default() });
    physics.planes = vec![HalfSpace::ground(0.0, 0.8)];
    for pose in octopus.drop_poses(10) {
        physics.insert(flesh.clone(), &[], pose).unwrap();
    }
    worst_in(&mut physics, &[FRAME; 840]);
    physics
}

/// The fastest node (m/s) of some frames, and how deep anything is over the radius.
fn worst_in(physics: &mut Physics, frames: &[f64]) -> [f64; 2] {
    let worse = |[fastest, deepest]: [f64; 2], frame: &f64| {
        physics.step_flesh(*frame).unwrap();
        let quality = physics.quality();
        [fastest.max(quality.speed_max), deepest.max(quality.penetration_max)]
    };
    frames.iter().fold([0.0; 2], worse)
}

fn assert_lies(name: &str, [fastest, deepest]: [f64; 2]) {
    println!("{name}: {fastest:.1e} m/s at most, {deepest:.3} radii deep (bars {BARS:?})");
    assert!(fastest < BARS[0] && deepest < BARS[1], "{name}");
}

/// What lies in a heap goes on lying there in slow motion and after it, at another frame rate, and after a frame that is next to nothing:
/// how stiff pairs are is no matter of the step's length. By γ·m/h² it was shaken at a metre a second, and thrown at a hundred.
#[test]
fn heaps_lie_still_at_whatever_frame_time() {
    let mut physics = heap(f64::INFINITY);
    let in_turn = |frames: [f64; 2]| frames.repeat(100);
    let once = |frame: f64| [&[frame][..], &[FRAME; 60]].concat();
    for (name, frames) in [
        ("as it was", vec![FRAME; 60]),
        ("slow motion", vec![FRAME / 20.0; 200]),
        ("out of slow motion", vec![FRAME; 60]),
        ("slow motion for long", vec![1.0 / 2000.0; 5000]),
        ("out of that", vec![FRAME; 60]),
        ("thirty a second", vec![2.0 * FRAME; 60]),
        ("144 and 30 a second in turn", in_turn([1.0 / 144.0, 1.0 / 30.0])),
        ("one of 1 ms", once(1.0e-3)),
        ("one of 0.1 ms", once(1.0e-4)),
        ("every other of 1 ms", in_turn([1.0e-3, FRAME])),
    ] {
        assert_lies(name, worst_in(&mut physics, &frames));
        worst_in(&mut physics, &[FRAME; 60]);
    }
    let [fastest, _] = worst_in(&mut physics, &in_turn([1.0e-6, FRAME]));
    println!("every other of a microsecond: {fastest:.1} m/s at most (bar 5)");
    assert!(fastest < 5.0);
}

/// What fell asleep at one frame rate wakes at another, and lies on.
#[test]
fn heaps_wake_at_another_frame_time() {
    for [asleep, awake] in [[FRAME, 1.0 / 2000.0], [1.0 / 240.0, 1.0 / 30.0]] {
        let mut physics = heap(0.5);
        let all: Vec<_> = physics.instances().collect();
        let sleeps = |physics: &Physics| all.iter().all(|octopus| physics.is_asleep(*octopus).unwrap());
        (0..2000).for_each(|_| {
            if !sleeps(&physics) {
                physics.step_flesh(asleep).unwrap()
            }
        });
        assert!(sleeps(&physics));
        physics.step_flesh(awake).unwrap();
        all.iter().for_each(|octopus| physics.wake(*octopus).unwrap());
        let frames = vec![awake; 60];
        assert_lies(&format!("asleep at {asleep:.1e} s, awake at {awake:.1e} s"), worst_in(&mut physics, &frames));
    }
}

/// What lies under five hundred times its weight bears it in a frame that is next to nothing as well: what it may be deep in the ground is no
/// matter of the step's length. By what it may be pushed out in the step alone it was let down at 0.12 m/s in three frames of 1 ms.
#[test]
fn what_bears_much_bears_it_in_a_short_frame() {
    let mut pile = Pile::of(material(1.0e6, 0.3, 1.0, 3.0), &[]);
    for light in [-0.1, 0.1] {
        pile.add(DVec3::new(0.0, RADIUS, light), DQuat::IDENTITY, 1.0);
    }
    pile.add(DVec3::Y * (3.0 * RADIUS), DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2), 1000.0);
    pile.on_ground();
    pile.run(240);
    for frame in [1.0e-3, 1.0e-4, 1.0e-5] {
        let [fastest, _] = worst_in(&mut pile.physics, &[frame; 3]);
        println!("three frames of {frame:.0e} s: {fastest:.1e} m/s at most (bar 0.02)");
        assert!(fastest < 0.02);
        pile.run(30);
    }
}

/// What comes down in short frames is stopped, and what that took is no load that the ground goes on bearing: it is not thrown back.
#[test]
fn what_comes_down_in_short_frames_is_not_thrown_back() {
    for (frame, speed) in [(1.0e-3, 10.0), (4.0e-4, 5.0), (4.0e-4, 10.0), (1.0e-4, 10.0)] {
        let mut pile = Pile::of(material(1.0e7, 0.3, 1000.0, 3.0), &[]);
        pile.add(DVec3::Y * (RADIUS + 0.01), DQuat::IDENTITY, 1.0);
        pile.on_ground();
        let motion = Motion { velocity: DVec3::NEG_Y * speed, spin: DVec3::ZERO, centre: DVec3::ZERO };
        pile.physics.set_velocity(pile.logs[0], motion).unwrap();
        let middle = |physics: &Physics| f64::from(physics.node(pile.logs[0], 0, SEGMENTS / 2).unwrap().velocity.y);
        let (mut deepest, mut leaves) = (0.0_f64, 0.0_f64);
        for _ in 0..(0.02 / frame) as u32 {
            pile.physics.step_flesh(frame).unwrap();
            deepest = deepest.max(pile.physics.quality().penetration_max);
            leaves = leaves.max(middle(&pile.physics));
        }
        println!(
            "at {speed} m/s in frames of {frame:.0e} s: {:.0} % of the radius deep, leaves at {leaves:.2} m/s (bar {})",
            100.0 * deepest,
            0.25 * speed
        );
        assert!(leaves < 0.25 * speed);
    }
}
