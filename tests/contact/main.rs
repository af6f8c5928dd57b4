//! Free rods on planes: rest, depth, Coulomb friction, corners.

mod bones;
#[path = "../common/mod.rs"]
mod common;
mod filters;
mod moving;
mod restitution;
mod slopes;
mod solids;

use std::sync::Arc;

use common::{FRAME, OneRod, material};
use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, NodeState, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{FleshHandle, HalfSpace, Physics, Pose};

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.03;
const SEGMENTS: usize = 10;
const LENGTH: f64 = 0.5;
/// 5 km from the world's origin.
const FAR: DVec3 = DVec3::new(4000.3, 20.0, -3000.7);

/// A free rod without damping, along its root's x axis, in front of planes.
struct Scene {
    physics: Physics,
    handle: FleshHandle,
}

impl Scene {
    fn new(root: Pose, planes: Vec<HalfSpace>) -> Self {
        Self::stepped(StepConfig::default(), root, planes)
    }

    fn stepped(config: StepConfig, root: Pose, planes: Vec<HalfSpace>) -> Self {
        Self::of(config, 0.0, root, planes)
    }

    /// A rod that is bowed to its root's z, lies on its side and so does not roll.
    fn bowed(config: StepConfig, root: Pose, planes: Vec<HalfSpace>) -> Self {
        Self::of(config, 0.1, root, planes)
    }

    fn of(config: StepConfig, bow: f64, root: Pose, planes: Vec<HalfSpace>) -> Self {
        let mut rod = RodSpec::straight("log", DVec3::ZERO, DVec3::X * LENGTH, SEGMENTS, RADIUS);
        for node in &mut rod.nodes {
            node.place.z = bow * (std::f64::consts::PI * node.place.x / LENGTH).sin();
        }
        rod.material = material(1.0e7, 0.3, 1000.0, 0.0);
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let mut physics = Physics::with_config(config);
        physics.planes = planes;
        let handle = physics.insert(flesh, &[], root).expect("finite");
        Self { physics, handle }
    }

    fn nodes(&self) -> Vec<NodeState> {
        (0..=SEGMENTS).map(|j| self.physics.node(self.handle, 0, j).expect("is there")).collect()
    }

    fn push(&mut self, velocity: DVec3) {
        let flesh = self.physics.flesh(self.handle).expect("is there").clone();
        for (j, mut node) in self.nodes().into_iter().enumerate() {
            node.velocity = velocity.as_vec3();
            self.physics.state_mut(self.handle).expect("is there").set_node(&flesh, 0, j, &node);
        }
    }

    fn step(&mut self) {
        self.physics.step_flesh(FRAME).expect("steps");
    }

    fn run(&mut self, seconds: f64) {
        (0..(seconds / FRAME).round() as usize).for_each(|_| self.step());
    }

    fn centre(&self) -> DVec3 {
        let weight = |j: usize| if j == 0 || j == SEGMENTS { 0.5 } else { 1.0 };
        let sum: DVec3 = self.nodes().iter().enumerate().map(|(j, node)| node.place * weight(j)).sum();
        sum / SEGMENTS as f64
    }

    /// Distance between the lowest sphere and a plane (m), negative inside.
    fn gap(&self, plane: usize) -> f64 {
        let plane = &self.physics.planes[plane];
        self.nodes().iter().map(|n| plane.distance(n.place) - f64::from(n.radius)).fold(f64::MAX, f64::min)
    }

    fn is_sound(&self) -> bool {
        self.physics.health(self.handle).expect("is there").resets == 0
            && self.physics.state(self.handle).expect("is there").is_finite()
    }
}

/// A plane through a point whose slope falls along +x by an angle (rad), and the directions up from it and down it.
fn slope(through: DVec3, angle: f64, friction: f32) -> (HalfSpace, DVec3) {
    let turn = DQuat::from_rotation_z(-angle);
    let normal = turn * DVec3::Y;
    (HalfSpace::new(normal, normal.dot(through), friction), turn * DVec3::X)
}

#[test]
fn a_rod_dropped_flat_comes_to_rest() {
    for at in [DVec3::ZERO, FAR] {
        for height in [0.1, 1.0] {
            let root = Pose::from_translation(at + DVec3::Y * (RADIUS + height));
            let mut scene = Scene::new(root, vec![HalfSpace::ground(at.y, 0.5)]);
            let (mut deepest, mut bounce, mut landed) = (0.0_f64, 0.0_f64, false);
            for _ in 0..180 {
                scene.step();
                let gap = scene.gap(0);
                deepest = deepest.max(-gap);
                landed |= gap < 1.0e-3;
                if landed {
                    bounce = bounce.max(scene.centre().y - at.y - RADIUS);
                }
            }
            let depth = -scene.gap(0);
            let speed = scene.nodes().iter().map(|n| n.velocity.length()).fold(0.0, f32::max);
            println!(
                "dropped flat from {height} m, {:.0} m away: {:.2e} m deep at most, {depth:.1e} m at rest, \
                 bounces by {bounce:.1e} m; {speed:.1e} m/s left",
                at.length(),
                deepest
            );
            assert!(scene.is_sound() && landed);
            assert!(depth <= 1.0e-3 && bounce <= 0.01 && speed <= 1.0e-2);
        }
    }
}

#[test]
fn an_upright_rod_does_not_sink() {
    for at in [DVec3::ZERO, FAR] {
        let upright = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let root = Pose::new(at + DVec3::Y * RADIUS, upright);
        let mut scene = Scene::new(root, vec![HalfSpace::ground(at.y, 0.5)]);
        let mut deepest = 0.0_f64;
        for _ in 0..60 {
            scene.step();
            deepest = deepest.max(-scene.gap(0));
        }
        let bottom = &scene.nodes()[0];
        let tilt = (scene.nodes()[SEGMENTS].place - bottom.place).normalize().dot(DVec3::Y).acos();
        println!("upright, {:.0} m away: sinks by {deepest:.2e} m (bar 1e-4), tilts by {tilt:.1e} rad", at.length());
        assert!(scene.is_sound() && deepest <= 1.0e-4 && tilt < 0.1);
    }
}

/// What lasts has what it presses a hundredth of its radius deep at most, however light that is.
#[test]
fn what_is_pressed_hard_lies_no_deeper() {
    for force in [10.0, 1.0e3, 1.0e4] {
        let root = Pose::from_translation(DVec3::Y * RADIUS);
        let mut scene = Scene::new(root, vec![HalfSpace::ground(0.0, 0.5)]);
        for frame in 0..90 {
            let down = DVec3::NEG_Y * force * (f64::from(frame) / 45.0).min(1.0);
            for j in 0..=SEGMENTS {
                scene.physics.add_force(scene.handle, 0, j, down).expect("is there");
            }
            scene.step();
        }
        let depth = -scene.gap(0) / scene.nodes().iter().map(|node| f64::from(node.radius)).fold(f64::MAX, f64::min);
        println!("{force} N on each node: {:.2} % of its radius deep (bar 1.1)", 100.0 * depth);
        assert!(scene.is_sound() && depth > 0.0 && depth <= 0.011);
    }
}

/// tan 26.6° is the coefficient, 0.5.
#[test]
fn friction_holds_a_rod_on_a_slope() {
    for at in [DVec3::ZERO, FAR] {
        for across in [false, true] {
            let angle = 0.4_f64;
            let (plane, down) = slope(at, angle, 0.5);
            let mut turn = DQuat::from_rotation_z(-angle);
            if across {
                turn *= DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2);
            }
            let config = StepConfig::default();
            let mut scene = Scene::bowed(config, Pose::new(at + plane.normal * RADIUS, turn), vec![plane]);
            scene.run(1.0);
            let start = scene.centre();
            scene.run(2.0);
            let creep = (scene.centre() - start).dot(down) / 2.0;
            println!(
                "slope of {angle} rad, friction 0.5, rod {}, {:.0} m away: creeps by {:.1e} m/s (bar 1e-5)",
                if across { "across" } else { "along" },
                at.length(),
                creep
            );
            assert!(scene.is_sound() && creep.abs() < 1.0e-5);
        }
    }
}

#[test]
fn a_rod_slides_down_a_steep_slope_as_coulomb_says() {
    for at in [DVec3::ZERO, FAR] {
        for (angle, friction) in [(0.7_f64, 0.5), (0.5, 0.3), (0.3, 0.0)] {
            let (plane, down) = slope(at, angle, friction);
            let turn = DQuat::from_rotation_z(-angle);
            let mut scene = Scene::new(Pose::new(at + plane.normal * RADIUS, turn), vec![plane]);
            scene.run(0.5);
            let speed = |scene: &Scene| {
                let nodes = scene.nodes();
                nodes.iter().map(|n| n.velocity.as_dvec3().dot(down)).sum::<f64>() / nodes.len() as f64
            };
            let start = speed(&scene);
            scene.run(1.0);
            let found = speed(&scene) - start;
            let exact = GRAVITY * (angle.sin() - f64::from(friction) * angle.cos());
            println!(
                "slope of {angle} rad, friction {friction}, {:.0} m away: {found:.4} m/s², Coulomb {exact:.4} (bar 5 %)",
                at.length()
            );
            assert!(scene.is_sound() && (found / exact - 1.0).abs() <= 0.05);
        }
    }
}

#[test]
fn a_sliding_rod_stops_where_coulomb_says() {
    let plain = StepConfig::default();
    let configs = [
        plain,
        StepConfig { substeps: 2, iterations: 2, ..plain },
        StepConfig { substeps: 8, ..plain },
        StepConfig { integrator: Integrator::SecondOrder, ..plain },
    ];
    let pushes = [DVec3::X, DVec3::new(0.6, 0.0, 0.8)].map(|direction| configs.map(|config| (direction, config)));
    for at in [DVec3::ZERO, FAR] {
        for (direction, config) in pushes.into_iter().flatten() {
            let (friction, speed) = (0.4_f32, 2.0);
            let root = Pose::from_translation(at + DVec3::Y * RADIUS);
            let mut scene = Scene::bowed(config, root, vec![HalfSpace::ground(at.y, friction)]);
            // Settled first, so that every node carries its weight when the push comes.
            scene.run(0.5);
            let start = scene.centre();
            scene.push(direction * speed);
            scene.run(2.0);
            let found = (scene.centre() - start).dot(direction);
            let exact = speed * speed / (2.0 * f64::from(friction) * GRAVITY);
            let left = scene.nodes().iter().map(|n| n.velocity.length()).fold(0.0, f32::max);
            println!(
                "{} × {} {:?}, pushed along {direction}, {:.0} m away: stops after {found:.4} m, Coulomb {exact:.4} \
                 (bar 2 %); {left:.1e} m/s left",
                config.substeps,
                config.iterations,
                config.integrator,
                at.length()
            );
            assert!(scene.is_sound() && (found / exact - 1.0).abs() <= 0.02 && left < 1.0e-4);
        }
    }
}

/// Thrown at the ground, flat, slanting and head on.
#[test]
fn ground_stops_what_is_fast() {
    for (speed, substeps) in [(10.0, 4), (30.0, 4), (30.0, 8)] {
        for tilt in [0.0, 0.4, std::f64::consts::FRAC_PI_2] {
            let config = StepConfig { substeps, ..StepConfig::default() };
            let root = Pose::new(DVec3::Y, DQuat::from_rotation_z(tilt));
            let mut scene = Scene::stepped(config, root, vec![HalfSpace::ground(0.0, 0.5)]);
            scene.push(DVec3::Y * -speed);
            let mut deepest = 0.0_f64;
            for _ in 0..60 {
                scene.step();
                deepest = deepest.max(-scene.gap(0));
            }
            println!(
                "ground at {speed} m/s, {substeps} substeps, tilted by {tilt:.2}: {:.2} radii deep at most (bar 1: its axis stays over it)",
                deepest / RADIUS
            );
            assert!(scene.is_sound() && deepest < RADIUS && scene.centre().y > 0.0);
        }
    }
}

/// A rod thrown into a groove of two walls at right angles, then one in an acute groove.
#[test]
fn a_corner_keeps_a_rod_outside_both_planes() {
    for at in [DVec3::ZERO, FAR] {
        for (left, right) in [(45.0_f64, 45.0_f64), (0.0, 90.0), (70.0, 70.0)] {
            let wall = |degrees: f64| {
                let normal = DQuat::from_rotation_x(degrees.to_radians()) * DVec3::Y;
                HalfSpace::new(normal, normal.dot(at), 0.5)
            };
            let planes = vec![wall(left), wall(-right)];
            let open = (planes[0].normal + planes[1].normal).normalize();
            let mut scene = Scene::new(Pose::from_translation(at + open * 0.3), planes);
            scene.push(open * -2.0);
            let mut deepest = 0.0_f64;
            for _ in 0..240 {
                scene.step();
                deepest = deepest.max(-scene.gap(0).min(scene.gap(1)));
            }
            let rest = -scene.gap(0).min(scene.gap(1));
            println!(
                "corner of {left}° and {right}°, {:.0} m away: {deepest:.2e} m deep at most, {rest:.2e} m at rest (bar 1e-3)",
                at.length()
            );
            assert!(scene.is_sound() && rest <= 1.0e-3);
            assert!(deepest <= 1.0e-3 || left + right > 90.0);
        }
    }
}

/// Pulled along the ground by its first node, a rod resists with μ times the weight that lies on the ground.
#[test]
fn a_dragged_rod_resists_as_coulomb_says() {
    for speed in [0.01, 0.1, 1.0] {
        let friction = 0.4_f32;
        let mut spec = RodSpec::straight("rope", DVec3::Y * RADIUS, DVec3::new(LENGTH, RADIUS, 0.0), SEGMENTS, RADIUS);
        spec.material = material(1.0e6, 0.3, 1000.0, 0.0);
        let mut rod = OneRod::new(&spec.attach(SEGMENTS, 0, Holds::PIN), &[Pose::IDENTITY], StepConfig::default());
        rod.physics.planes = vec![HalfSpace::ground(0.0, friction)];
        let (mut pull, mut counted) = (0.0, 0.0);
        for frame in 1..=240 {
            rod.set_bones(&[Pose::from_translation(DVec3::X * (speed * f64::from(frame) * FRAME))]);
            rod.run(FRAME, 1);
            if frame > 120 {
                let last = rod.segment_pulls()[SEGMENTS - 1].0.x;
                (pull, counted) = (pull + last, counted + 1.0);
            }
        }
        let section = std::f64::consts::PI * RADIUS * RADIUS;
        let dragged = 1000.0 * section * LENGTH * (1.0 - 0.5 / SEGMENTS as f64);
        let (found, exact) = (pull / counted, f64::from(friction) * dragged * GRAVITY);
        println!("dragged at {speed} m/s: pulls with {found:.4} N, Coulomb {exact:.4} (bar 5 %)");
        assert!(rod.is_sound() && (found / exact - 1.0).abs() <= 0.05);
    }
}

/// Lanes that have no chain have contact rows too: of numbers, and without a say. A rod at rest is calm in all of them.
#[test]
fn lanes_without_a_chain_touch_nothing() {
    let root = Pose::from_translation(DVec3::Y * RADIUS);
    let mut scene = Scene::new(root, vec![HalfSpace::ground(0.0, 0.5), HalfSpace::new(DVec3::X, -3.0, 0.5)]);
    scene.run(0.5);
    let state = scene.physics.state(scene.handle).expect("is there");
    assert!(state.contacts().flatten().flatten().all(|value| value.is_finite()));
    let (_, chains) = state.rows().next().expect("a group");
    assert!(chains.iter().flatten().all(|value| value.is_finite()));
    assert_eq!(chains[sinew::layout::chain::ROUGH], [0.0; 8]);
}
