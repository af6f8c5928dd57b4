//! Half-spaces that move: lifts, a floor that rises, a turntable, and a box that is shaken.

use glam::{DQuat, DVec3};
use sinew::step::StepConfig;
use sinew::{HalfSpace, Pose};

use super::common::FRAME;
use super::{FAR, RADIUS, Scene};

/// How deep a node may be where a half-space comes at it with a speed (m): what it is pushed with, v/h, over its stiffness
/// β/h², and as much by its neighbours; and the millimetre that rest may have.
fn most_depth(speed: f64) -> f64 {
    1.0e-3 + 2.0 * speed * (FRAME / 4.0) / 1000.0
}

impl Scene {
    /// Steps a frame, at the end of which the half-spaces are `there`; how deep any node is then (m).
    fn step_with(&mut self, there: Vec<HalfSpace>) -> f64 {
        self.physics.planes = there;
        self.step();
        assert!(self.is_sound());
        (0..self.physics.planes.len()).map(|plane| -self.gap(plane)).fold(0.0, f64::max)
    }
}

#[test]
fn a_lift_carries_a_rod() {
    for at in [DVec3::ZERO, FAR] {
        for speed in [3.0, -3.0] {
            let mut scene =
                Scene::new(Pose::from_translation(at + DVec3::Y * RADIUS), vec![HalfSpace::ground(at.y, 0.5)]);
            scene.run(0.5);
            let (start, mut deepest, mut halfway) = (scene.centre(), 0.0_f64, DVec3::ZERO);
            for frame in 1..=60 {
                let height = at.y + speed * FRAME * f64::from(frame);
                let floor = HalfSpace::ground(height, 0.5).moving(DVec3::Y * speed);
                deepest = deepest.max(scene.step_with(vec![floor]));
                if frame == 45 {
                    halfway = scene.centre();
                }
            }
            let (whole, late) = (scene.centre() - start, (scene.centre() - halfway).y / (15.0 * FRAME));
            println!(
                "a lift at {speed} m/s, {:.0} m away: the rod went {:.4} m in 1 s, at last at {late:.4} m/s (bar 1 %); \
                 {deepest:.1e} m deep at most (bar {:.1e})",
                at.length(),
                whole.y,
                most_depth(3.0)
            );
            assert!((whole.y / speed - 1.0).abs() < 0.01 && (late / speed - 1.0).abs() < 0.01);
            assert!(deepest < most_depth(3.0) && whole.x.hypot(whole.z) < 1.0e-3);
        }
    }
}

/// Flat, tilted and upright, hanging in the air when the floor comes.
#[test]
fn a_rising_floor_swallows_nothing() {
    for tilt in [0.0, 0.6, std::f64::consts::FRAC_PI_2] {
        let speed = 5.0;
        let root = Pose::new(DVec3::Y * 0.5, DQuat::from_rotation_z(tilt));
        let mut scene = Scene::new(root, vec![]);
        let mut deepest = 0.0_f64;
        for frame in 1..=90 {
            let floor = HalfSpace::ground(speed * FRAME * f64::from(frame), 0.5).moving(DVec3::Y * speed);
            deepest = deepest.max(scene.step_with(vec![floor]));
        }
        let gap = scene.gap(0);
        println!(
            "a floor rising at {speed} m/s under a rod tilted by {tilt:.2} rad: {deepest:.1e} m deep at most (bar {:.1e}), \
             {gap:.1e} m above it at last",
            most_depth(speed)
        );
        assert!(deepest < most_depth(speed) && gap < 0.3);
    }
}

/// A floor that nobody says moves, put 5 cm up at once: it pushes out what it then holds, at 1 m/s.
#[test]
fn what_a_floor_is_put_over_comes_out_of_it() {
    let mut scene = Scene::new(Pose::from_translation(DVec3::Y * RADIUS), vec![HalfSpace::ground(0.0, 0.5)]);
    scene.run(0.5);
    let up = 0.05;
    let mut fastest = 0.0_f32;
    for _ in 0..12 {
        scene.step_with(vec![HalfSpace::ground(up, 0.5)]);
        fastest = scene.nodes().iter().map(|node| node.velocity.length()).fold(fastest, f32::max);
    }
    println!("a floor put 5 cm up: the rod is {:.1e} m deep 0.2 s later, {fastest:.2} m/s at most", -scene.gap(0));
    assert!(scene.gap(0) > -1.0e-3 && fastest < 1.5);
}

/// A rod beside the axis of a turntable goes round with it: in a second and a half as far as the table, at the same distance
/// from its axis.
#[test]
fn a_turntable_turns_a_rod() {
    let (spin, friction, aside) = (2.0, 0.8, 0.3);
    for at in [DVec3::ZERO, FAR] {
        let table = |at: DVec3| HalfSpace::ground(at.y, friction).turning(DVec3::Y * spin, at);
        let root = Pose::from_translation(at + DVec3::new(-0.25, RADIUS, aside));
        let mut scene = Scene::bowed(StepConfig::default(), root, vec![HalfSpace::ground(at.y, friction)]);
        scene.run(0.3);
        // Until it turns with the table.
        for _ in 0..60 {
            scene.step_with(vec![table(at)]);
        }
        let out = |scene: &Scene| {
            let from = scene.centre() - at;
            (from.x.hypot(from.z), from.x.atan2(from.z))
        };
        let (start, mut before, mut turned, mut deepest) = (out(&scene), out(&scene).1, 0.0, 0.0_f64);
        for _ in 0..90 {
            deepest = deepest.max(scene.step_with(vec![table(at)]));
            let now = out(&scene).1;
            turned += (now - before + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
            before = now;
        }
        let (end, exact) = (out(&scene), spin * 90.0 * FRAME);
        println!(
            "a turntable at {spin} rad/s, {:.0} m away: the rod turned by {turned:.4} rad of {exact:.4} (bar 0.1 %), from \
             {:.4} to {:.4} m off the axis (bar 0.1 %); {deepest:.1e} m deep at most",
            at.length(),
            start.0,
            end.0
        );
        assert!((turned / exact - 1.0).abs() < 1.0e-3 && (end.0 / start.0 - 1.0).abs() < 1.0e-3);
        assert!(deepest < 1.0e-3);
    }
}

/// A floor that tilts about an axis far from the rod, which rides on it and does not slide.
#[test]
fn a_tilting_floor_carries_a_rod() {
    let (spin, friction) = (DVec3::Z * 0.5, 1.0);
    let root = Pose::from_translation(DVec3::Y * RADIUS);
    let mut scene = Scene::bowed(StepConfig::default(), root, vec![HalfSpace::ground(0.0, friction)]);
    scene.run(0.5);
    let hinge = DVec3::X * -1.0;
    let (start, mut deepest, mut turn) = (scene.centre(), 0.0_f64, DQuat::IDENTITY);
    for frame in 1..=60 {
        turn = DQuat::from_scaled_axis(spin * (FRAME * f64::from(frame)));
        let normal = turn * DVec3::Y;
        let floor = HalfSpace::new(normal, normal.dot(hinge), friction).turning(spin, hinge);
        deepest = deepest.max(scene.step_with(vec![floor]));
    }
    let there = hinge + turn * (start - hinge);
    let (off, went) = (scene.centre().distance(there), there.distance(start));
    println!(
        "a floor tilting at 0.5 rad/s: the rod is {off:.1e} m from where it carries it, {went:.3} m on (bar 0.1 %); {deepest:.1e} m deep"
    );
    assert!(off < 1.0e-3 * went && deepest < most_depth(1.0));
}

/// Six half-spaces: a rod thrown about in a box, then shaken in it; corners have three of them.
#[test]
fn a_box_keeps_a_rod() {
    let half = DVec3::new(0.4, 0.3, 0.35);
    let walls = |centre: DVec3, velocity: DVec3| -> Vec<HalfSpace> {
        let sides = DVec3::AXES.into_iter().zip(half.to_array());
        sides
            .flat_map(|(axis, half)| [(axis, half), (-axis, half)])
            .map(|(normal, half)| HalfSpace::new(normal, normal.dot(centre) - half, 0.4).moving(velocity))
            .collect()
    };
    for (at, shaken) in [(DVec3::ZERO, 0.0), (FAR, 0.0), (DVec3::ZERO, 2.0)] {
        let mut scene = Scene::new(Pose::from_translation(at - DVec3::X * 0.25), walls(at, DVec3::ZERO));
        scene.push(DVec3::new(5.0, -3.0, 4.0));
        let (mut deepest, mut sum) = (0.0_f64, DVec3::ZERO);
        for frame in 1..=240 {
            let t = f64::from(frame) * FRAME;
            let velocity = DVec3::new((9.0 * t).sin(), (7.0 * t).cos(), (5.0 * t).sin()) * shaken;
            sum += velocity * FRAME;
            deepest = deepest.max(scene.step_with(walls(at + sum, velocity)));
        }
        let rest = (0..6).map(|wall| -scene.gap(wall)).fold(0.0, f64::max);
        // A node that its rod pulls into a wall within a substep is told so in the next.
        let bar = if shaken > 0.0 { 0.2 * RADIUS } else { most_depth(5.0) };
        println!(
            "a box{}, {:.0} m away: {deepest:.1e} m deep at most (bar {bar:.1e}), {rest:.1e} m at last",
            if shaken > 0.0 { " that is shaken" } else { "" },
            at.length()
        );
        assert!(deepest < bar && (shaken > 0.0 || rest < 1.0e-3));
    }
}

/// A platform that drives round a curve, as every vehicle does: it moves and turns at once, and what rides on it stays where it
/// is on it.
#[test]
fn a_platform_in_a_curve_carries_a_rod() {
    let (speed, spin, friction) = (2.0, 2.0, 0.9);
    let radius = speed / spin;
    let root = Pose::from_translation(DVec3::Y * RADIUS);
    let mut scene = Scene::bowed(StepConfig::default(), root, vec![HalfSpace::ground(0.0, friction)]);
    scene.run(0.3);
    let start = scene.centre();
    // Beside the platform's middle, which starts at the origin along x; the curve's centre is at −z · radius.
    scene.push(DVec3::X * speed);
    let mut slip = 0.0_f64;
    let mut riding = None;
    let middle_at = |angle: f64| DVec3::new(angle.sin(), 0.0, angle.cos() - 1.0) * radius;
    for frame in 1..=90 {
        let angle = spin * FRAME * f64::from(frame);
        let middle = middle_at(angle);
        let velocity = (middle - middle_at(angle - spin * FRAME)) / FRAME;
        let platform = HalfSpace::ground(0.0, friction).moving(velocity).turning(DVec3::Y * spin, middle);
        scene.step_with(vec![platform]);
        let on_it = DQuat::from_rotation_y(-angle) * (scene.centre() - middle);
        // Until it turns with the platform.
        if frame >= 30 {
            let first = *riding.get_or_insert(on_it);
            slip = slip.max(on_it.distance(first));
        }
    }
    let went = speed * 60.0 * FRAME;
    println!("a platform in a curve: the rod slips by {slip:.4} m on {went:.1} m (bar 0.1 %); it was put {start:.3} m");
    assert!(slip < 1.0e-3 * went);
}

/// A frame of a second is simulated in part: the lift goes its way in that part no faster than it says.
#[test]
fn a_long_frame_throws_nothing_off_a_lift() {
    let mut scene = Scene::new(Pose::from_translation(DVec3::Y * RADIUS), vec![HalfSpace::ground(0.0, 0.5)]);
    scene.run(0.5);
    let speed = 3.0;
    scene.physics.planes = vec![HalfSpace::ground(speed, 0.5).moving(DVec3::Y * speed)];
    scene.physics.step_flesh(1.0).unwrap();
    let fastest = scene.nodes().iter().map(|node| node.velocity.length()).fold(0.0, f32::max);
    println!("a lift at {speed} m/s in a frame of 1 s: {fastest:.2} m/s");
    assert!(scene.is_sound() && fastest < 1.5 * speed as f32);
}

/// Half-spaces at the ends of what they may be freeze nothing: flesh falls past those that it does not touch.
#[test]
fn extreme_half_spaces_leave_flesh_finite() {
    let far = DVec3::new(1.0e12, 0.0, 0.0);
    let extreme = [
        HalfSpace::ground(-1.0e12, 1.0e3),
        HalfSpace::ground(-50.0, 1.0).turning(DVec3::Y * 1.0e4, far),
        HalfSpace::ground(-60.0, 1.0).moving(DVec3::Y * -1.0e4).turning(DVec3::X * 1.0e4, DVec3::ZERO),
    ];
    let mut scene = Scene::new(Pose::IDENTITY, extreme.to_vec());
    scene.run(0.5);
    let fallen = -scene.centre().y;
    println!("past extreme half-spaces: fell {fallen:.3} m in 0.5 s");
    assert!(scene.is_sound() && (fallen / (0.5 * 9.81 * 0.25) - 1.0).abs() < 0.05);
    for bad in [HalfSpace::ground(1.0e13, 0.5), HalfSpace::ground(0.0, 0.5).turning(DVec3::Y, far * 10.0)] {
        scene.physics.planes = vec![bad];
        assert!(scene.physics.step_flesh(FRAME).is_err());
    }
}
