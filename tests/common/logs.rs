//! Logs on the ground that fall asleep.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::sync::Arc;

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, NodeState, RodSpec};
use sinew::step::StepConfig;
use sinew::{FleshHandle, HalfSpace, Material, Physics, Pose};

use crate::common::FRAME;

pub const RADIUS: f64 = 0.05;

/// Logs on the ground.
pub struct Logs {
    pub physics: Physics,
}

impl Logs {
    /// None yet, in a scene that has nothing else.
    pub fn new(mut physics: Physics) -> Self {
        physics.config = StepConfig { passes: 6, sleep_after: 0.25, ..StepConfig::default() };
        physics.planes = vec![HalfSpace::ground(0.0, 0.6)];
        Self { physics }
    }

    pub fn add(&mut self, place: DVec3, turn: f64) -> FleshHandle {
        let half = DVec3::X * 0.25;
        let mut rod = RodSpec::straight("log", -half, half, 6, RADIUS);
        rod.material = Material { youngs_modulus: 1.0e6, damping: 4.0, ..Material::default() };
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let pose = Pose::new(place, DQuat::from_rotation_y(turn));
        self.physics.insert(flesh, &[], pose).expect("finite")
    }

    /// Two side by side and one across them, and one by itself.
    pub fn lie(&mut self) -> [FleshHandle; 4] {
        let a = self.add(DVec3::new(0.0, RADIUS, -0.15), 0.0);
        let b = self.add(DVec3::new(0.0, RADIUS, 0.15), 0.0);
        let across = self.add(DVec3::new(0.0, 3.0 * RADIUS, 0.0), std::f64::consts::FRAC_PI_2);
        let apart = self.add(DVec3::new(5.0, RADIUS, 0.0), 0.0);
        [a, b, across, apart]
    }

    /// Those, all asleep.
    pub fn asleep(physics: Physics) -> (Self, [FleshHandle; 4]) {
        let mut logs = Self::new(physics);
        let all = logs.lie();
        for _ in 0..20 {
            logs.run(0.25);
            if all.iter().all(|log| logs.sleeps(*log)) {
                break;
            }
        }
        assert_eq!(all.map(|handle| logs.sleeps(handle)), [true; 4]);
        (logs, all)
    }

    /// Frames at 240 Hz until these sleep; on a GPU as many as it takes to be told.
    pub fn frames_to_sleep(&mut self, all: &[FleshHandle]) -> usize {
        let sleeps = |logs: &mut Self| {
            logs.run_frames(1);
            all.iter().all(|log| logs.sleeps(*log))
        };
        (1..2400).find(|_| sleeps(self)).expect("they sleep")
    }

    /// One that is soft, stretched to six times its length far from all, and falls nowhere.
    pub fn stretched(physics: Physics) -> (Self, FleshHandle) {
        let mut logs = Self::new(physics);
        logs.physics.config = StepConfig { gravity: DVec3::ZERO, sleep_within: 0.5, ..logs.physics.config };
        logs.physics.planes.clear();
        let half = DVec3::X * 0.25;
        let mut rod = RodSpec::straight("soft", -half, half, 6, RADIUS);
        rod.material = Material { youngs_modulus: 1.0, damping: 4.0, ..Material::default() };
        let flesh = Arc::new(Flesh::build(&[rod], &[]).expect("in range"));
        let soft = logs.physics.insert(flesh.clone(), &[], Pose::IDENTITY).expect("finite");
        for index in 0..7 {
            let node = logs.physics.node(soft, 0, index).expect("is there");
            let there = NodeState { place: node.place * 6.0, ..node };
            logs.physics.state_mut(soft).expect("is there").set_node(&flesh, 0, index, &there);
        }
        (logs, soft)
    }

    pub fn run(&mut self, seconds: f64) {
        (0..(seconds / FRAME).round() as usize).for_each(|_| self.physics.step_flesh(FRAME).expect("steps"));
        self.physics.finish().expect("steps");
    }

    pub fn step(&mut self) {
        self.run(FRAME);
    }

    /// Takes away what one lies on, and says how high that is 2 s later at 240 Hz: in such a frame it falls by less than what is
    /// still may go.
    pub fn without(&mut self, support: [FleshHandle; 2], of: FleshHandle) -> f64 {
        support.into_iter().for_each(|log| self.physics.remove(log).expect("is there"));
        self.run_fast(2.0);
        self.height(of)
    }

    pub fn run_fast(&mut self, seconds: f64) {
        self.run_frames((seconds * 240.0) as usize);
    }

    /// So many frames at 240 Hz.
    pub fn run_frames(&mut self, frames: usize) {
        (0..frames).for_each(|_| self.physics.step_flesh(1.0 / 240.0).expect("steps"));
        self.physics.finish().expect("steps");
    }

    pub fn sleeps(&self, handle: FleshHandle) -> bool {
        self.physics.is_asleep(handle).expect("is there")
    }

    pub fn height(&self, handle: FleshHandle) -> f64 {
        self.physics.node(handle, 0, 3).expect("is there").place.y
    }
}
