//! What stands still sleeps, costs nothing, and wakes when it should.

#[path = "common/mod.rs"]
mod common;

use std::sync::Arc;

use common::FRAME;
use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, RodSpec};
use sinew::scenes::SceneParameters;
use sinew::step::StepConfig;
use sinew::{Active, FleshHandle, HalfSpace, Material, Physics, Pose, Shape, Solid};

const RADIUS: f64 = 0.05;

struct Scene {
    physics: Physics,
}

impl Scene {
    fn new() -> Self {
        let config = StepConfig { passes: 6, sleep_after: 0.25, ..StepConfig::default() };
        let mut physics = Physics::with_config(config);
        physics.planes = vec![HalfSpace::ground(0.0, 0.6)];
        Self { physics }
    }

    fn log(&mut self, place: DVec3, turn: f64) -> FleshHandle {
        let half = DVec3::X * 0.25;
        let mut rod = RodSpec::straight("log", -half, half, 6, RADIUS);
        rod.material = Material { youngs_modulus: 1.0e6, damping: 4.0, ..Material::default() };
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let pose = Pose::new(place, DQuat::from_rotation_y(turn));
        self.physics.insert(flesh, &[], pose).expect("finite")
    }

    fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds / FRAME).round() as usize {
            self.physics.step_flesh(FRAME).expect("steps");
        }
    }

    fn asleep(&self, handle: FleshHandle) -> bool {
        self.physics.is_asleep(handle).expect("is there")
    }
}

#[test]
fn an_octopus_that_was_dropped_falls_asleep() {
    let mut scene = Scene::new();
    let parameters = SceneParameters { rods: 1, ..SceneParameters::of("octopuses").expect("is there") };
    let handle = parameters.build("octopuses").expect("in range").insert(&mut scene.physics).expect("finite");
    scene.run(6.0);
    assert!(scene.asleep(handle));
}
