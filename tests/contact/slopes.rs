//! Coulomb's friction on slopes: where rods begin to slip and logs to roll, and how fast.

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::step::StepConfig;
use sinew::{Physics, Pose};

use super::common::{FRAME, material};
use super::{GRAVITY, LENGTH, RADIUS, Scene, slope};

impl Scene {
    /// A rod of so many segments on a plane, along the slope or across it.
    fn on_slope(substeps: u32, segments: usize, angle: f64, friction: f32, across: bool) -> (Self, DVec3) {
        let (plane, down) = slope(DVec3::ZERO, angle, friction);
        let mut turn = DQuat::from_rotation_z(-angle);
        if across {
            turn *= DQuat::from_rotation_y(FRAC_PI_2);
        }
        let mut rod = RodSpec::straight("log", DVec3::ZERO, DVec3::X * LENGTH, segments, RADIUS);
        rod.material = material(1.0e7, 0.3, 1000.0, 0.0);
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let mut physics = Physics::with_config(StepConfig { substeps, ..StepConfig::default() });
        let root = Pose::new(plane.normal * RADIUS, turn);
        physics.planes = vec![plane];
        let handle = physics.insert(flesh, &[], root).expect("finite");
        (Self { physics, handle }, down)
    }

    /// Mean velocity of the first and the last node (m/s).
    fn velocity(&self) -> DVec3 {
        let last = self.physics.flesh(self.handle).expect("is there").chains()[0].rest.len() - 1;
        let of = |j| self.physics.node(self.handle, 0, j).expect("is there").velocity.as_dvec3();
        (of(0) + of(last)) / 2.0
    }
}

/// A degree below the angle of friction a rod stays where it is, a degree above it slides as Coulomb says.
#[test]
fn rods_slip_within_a_degree_of_the_angle_of_friction() {
    let mut bad = false;
    for substeps in [1, 2, 4, 8, 16, 32] {
        for (segments, friction) in [(5, 0.5_f32), (10, 0.1), (10, 0.5), (10, 1.0), (40, 0.5)] {
            let limit = f64::from(friction).atan();
            let speed_at = |angle: f64| {
                let (mut scene, down) = Scene::on_slope(substeps, segments, angle, friction, false);
                scene.run(0.5);
                let before = scene.velocity().dot(down);
                scene.run(0.5);
                assert!(scene.is_sound());
                (before, scene.velocity().dot(down))
            };
            let degree = 1.0_f64.to_radians();
            let (below, above) = (speed_at(limit - degree), speed_at(limit + degree));
            let steeper: f64 = limit + degree;
            let exact = GRAVITY * (steeper.sin() - f64::from(friction) * steeper.cos()) * 0.5;
            let gained = above.1 - above.0;
            println!(
                "{substeps} substeps, {segments} segments, friction {friction}: {:.1e} m/s a degree below, \
                 gains {gained:.4} m/s in half a second a degree above, Coulomb {exact:.4}",
                below.1
            );
            bad |= below.1.abs() > 1.0e-3;
            bad |= (gained / exact - 1.0).abs() > 0.02;
        }
    }
    assert!(!bad);
}

/// A log across the slope rolls: g·sin θ/(1 + κ), κ = ½.
#[test]
fn a_log_rolls_down() {
    for substeps in [1, 4, 16] {
        for degrees in [5.0_f64, 13.0] {
            let angle = degrees.to_radians();
            let (mut scene, down) = Scene::on_slope(substeps, 10, angle, 0.5, true);
            scene.run(0.25);
            let start = scene.velocity().dot(down);
            scene.run(0.5);
            let found = (scene.velocity().dot(down) - start) / 0.5;
            let exact = GRAVITY * angle.sin() / 1.5;
            println!("{substeps} substeps, {degrees}°: rolls at {found:.4} m/s², exact {exact:.4} (bar 2 %)");
            assert!(scene.is_sound() && (found / exact - 1.0).abs() <= 0.02);
        }
    }
}

/// Pushed without spin it slides until friction has it rolling, with 2/3 of its speed; spun it takes off, with 1/3 of its
/// surface's. Until then it gains or loses μg.
#[test]
fn sliding_and_spinning_logs_end_up_rolling() {
    let friction = 0.3_f64;
    for (speed, spin) in [(2.0, 0.0), (0.0, 50.0)] {
        let (mut scene, _) = Scene::on_slope(4, 10, 0.0, friction as f32, true);
        scene.run(0.25);
        let flesh = scene.physics.flesh(scene.handle).expect("is there").clone();
        for j in 0..=10 {
            let mut node = scene.physics.node(scene.handle, 0, j).expect("is there");
            node.velocity = (DVec3::X * speed).as_vec3();
            node.spin = (DVec3::NEG_Z * spin).as_vec3();
            scene.physics.state_mut(scene.handle).expect("is there").set_node(&flesh, 0, j, &node);
        }
        // The surface's speed over the ground falls at μg(1 + 1/κ).
        let slip: f64 = speed - spin * RADIUS;
        let (until, way) = (slip.abs() / (3.0 * friction * GRAVITY), slip.signum());
        let half = (0.5 * until / FRAME).round();
        scene.run(half * FRAME);
        let (sliding, exact_sliding) = (scene.velocity().x, speed - way * friction * GRAVITY * half * FRAME);
        scene.run(until * 0.5 + 0.5);
        let (rolling, exact_rolling) = (scene.velocity().x, speed - slip / 3.0);
        println!(
            "at {speed} m/s, {spin} rad/s: {sliding:.4} m/s after {:.3} s, Coulomb {exact_sliding:.4}; then rolls at \
             {rolling:.4} m/s, exact {exact_rolling:.4} (bar 2 %)",
            half * FRAME
        );
        assert!(scene.is_sound());
        assert!((sliding - exact_sliding).abs() <= 0.02 * slip.abs().max(speed));
        assert!((rolling / exact_rolling - 1.0).abs() <= 0.02);
    }
}
