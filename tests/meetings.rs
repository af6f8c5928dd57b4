//! Chains that meet chains, on the CPU.

mod common;

use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use common::{FRAME, material};
use glam::{DQuat, DVec3};
use sinew::cpu::LaneWidth;
use sinew::flesh::{Flesh, RodSpec};
use sinew::layout::contact;
use sinew::step::StepConfig;
use sinew::{FleshHandle, HalfSpace, Physics, Pose};

const RADIUS: f64 = 0.03;
const SEGMENTS: usize = 10;
const LENGTH: f64 = 0.5;
const GRAVITY: f64 = 9.81;
const PASSES: u32 = 6;

/// Logs along their x axes.
struct Pile {
    physics: Physics,
    logs: Vec<FleshHandle>,
}

impl Pile {
    fn new(damping: f64, poses: &[Pose]) -> Self {
        let half = DVec3::X * (LENGTH / 2.0);
        let mut rod = RodSpec::straight("log", -half, half, SEGMENTS, RADIUS);
        rod.material = material(1.0e7, 0.3, 1000.0, damping);
        let flesh = Arc::new(Flesh::build(&[rod], &[]).unwrap());
        let mut physics = Physics::with_config(StepConfig::default());
        physics.passes = PASSES;
        let logs = poses.iter().map(|pose| physics.insert(flesh.clone(), &[], *pose).unwrap()).collect();
        Self { physics, logs }
    }

    /// Three logs on the ground, and three across them.
    fn crossed() -> Self {
        let poses: Vec<_> = (0..6)
            .map(|index| {
                let aside = (f64::from(index % 3) - 1.0) * 0.15;
                match index / 3 {
                    0 => Pose::from_translation(DVec3::new(0.0, RADIUS, aside)),
                    _ => Pose::new(DVec3::new(aside, 3.0 * RADIUS, 0.0), DQuat::from_rotation_y(FRAC_PI_2)),
                }
            })
            .collect();
        let mut pile = Self::new(3.0, &poses);
        pile.physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
        pile
    }

    fn run(&mut self, frames: usize) {
        (0..frames).for_each(|_| self.physics.step_flesh(FRAME).unwrap());
        assert!(self.logs.iter().all(|log| self.physics.health(*log).unwrap().resets == 0));
    }

    fn push(&mut self, log: usize, velocity: DVec3) {
        let flesh = self.physics.flesh(self.logs[log]).unwrap().clone();
        for j in 0..=SEGMENTS {
            let mut node = self.physics.node(self.logs[log], 0, j).unwrap();
            node.velocity = velocity.as_vec3();
            self.physics.state_mut(self.logs[log]).unwrap().set_node(&flesh, 0, j, &node);
        }
    }

    fn speed(&self) -> f64 {
        let of = |log: &FleshHandle, j| f64::from(self.physics.node(*log, 0, j).unwrap().velocity.length());
        self.logs.iter().flat_map(|log| (0..=SEGMENTS).map(move |j| of(log, j))).fold(0.0, f64::max)
    }

    fn centre(&self, log: usize) -> DVec3 {
        let place = |j| self.physics.node(self.logs[log], 0, j).unwrap().place;
        (0..=SEGMENTS).map(|j| place(j) * share(j)).sum()
    }

    /// Momentum (m/s) and kinetic energy (m²/s²) over a log's mass.
    fn motion(&self) -> (DVec3, f64) {
        let of = |log: &FleshHandle, j| {
            let velocity = self.physics.node(*log, 0, j).unwrap().velocity.as_dvec3() * share(j).sqrt();
            (velocity * share(j).sqrt(), 0.5 * velocity.length_squared())
        };
        let nodes = self.logs.iter().flat_map(|log| (0..=SEGMENTS).map(move |j| of(log, j)));
        nodes.fold((DVec3::ZERO, 0.0), |(sum, energy), (p, e)| (sum + p, energy + e))
    }

    /// With what force the rows of a log hold it up (N): those of the ground, and those of other logs.
    fn borne(&self, log: usize) -> [f64; 2] {
        let state = self.physics.state(self.logs[log]).unwrap();
        let (ground, others) = (state.contacts().next().unwrap(), state.meets().next().unwrap());
        let of = |row: &[[f32; 8]]| {
            f64::from(row[contact::DUAL][0] * row[contact::DIRECTION + 1][0] + row[contact::TANGENT + 1][0])
        };
        [ground, others].map(|rows| rows.chunks_exact(contact::ENTRIES).map(of).sum())
    }
}

/// Which share of a log's mass a node has.
fn share(node: usize) -> f64 {
    if node == 0 || node == SEGMENTS { 0.5 / SEGMENTS as f64 } else { 1.0 / SEGMENTS as f64 }
}

#[test]
fn logs_lie_on_logs() {
    let mut pile = Pile::crossed();
    pile.run(240);
    let weight = 1000.0 * std::f64::consts::PI * RADIUS * RADIUS * LENGTH * GRAVITY;
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

#[test]
fn collisions_keep_momentum_and_make_no_energy() {
    for (name, turn, aside) in [
        ("crossed", FRAC_PI_2, 0.0),
        ("crossed beside nodes", FRAC_PI_2, 0.023),
        ("skew", 0.6, 0.01),
        ("nearly along each other", 0.05, 0.01),
        ("along each other", 0.0, 0.01),
    ] {
        let upper = Pose::new(DVec3::new(aside, 0.07, aside), DQuat::from_rotation_y(turn));
        let mut pile = Pile::new(0.0, &[Pose::IDENTITY, upper]);
        pile.physics.config.gravity = DVec3::ZERO;
        pile.push(0, DVec3::Y * 0.5);
        pile.push(1, DVec3::Y * -0.5);
        let (_, start) = pile.motion();
        let mut most = 0.0_f64;
        for _ in 0..60 {
            pile.run(1);
            most = most.max(pile.motion().1);
        }
        let (momentum, left) = pile.motion();
        let apart = pile.centre(1).y - pile.centre(0).y;
        println!(
            "{name}: momentum {:.1e} of what both had (bar 1e-2), energy {left:.4} of {start:.4}, {most:.4} at most; {apart:.3} m apart",
            momentum.length()
        );
        assert!(momentum.length() <= 1.0e-2 && most <= start * 1.0001 && apart > 1.8 * RADIUS);
    }
}

#[test]
fn threads_and_widths_give_the_same_bits() {
    let hash = |width: LaneWidth, threads: usize| {
        let mut pile = Pile::crossed();
        pile.physics.lane_width = width;
        pile.physics.config.threads = threads;
        pile.run(40);
        pile.physics.state_hash()
    };
    let one = hash(LaneWidth::Eight, 1);
    assert_eq!(hash(LaneWidth::Eight, 3), one);
    assert_eq!(hash(LaneWidth::EightBaseline, 2), one);
    assert_eq!(hash(LaneWidth::One, 1), one);
}

/// Who meets nobody is stepped as if nobody could be met; rods of one character that overlap at rest leave each other alone.
#[test]
fn what_does_not_touch_is_left_alone() {
    let fall = |passes: u32| {
        let far = [0.0, 2.0, 4.0].map(|x| Pose::from_translation(DVec3::new(x, 1.0, 0.0)));
        let mut pile = Pile::new(1.0, &far);
        pile.physics.passes = passes;
        pile.run(20);
        pile.physics.state_hash()
    };
    assert_eq!(fall(PASSES), fall(0));
    // Logs that met go through each other once they no longer do.
    let mut pile = Pile::crossed();
    pile.run(30);
    pile.physics.passes = 0;
    pile.run(60);
    assert!(pile.centre(3).y < 1.2 * RADIUS);

    let rod = |name: &str, z: f64| {
        let from = DVec3::new(0.0, 0.0, z);
        RodSpec::straight(name, from, from + DVec3::X * LENGTH, SEGMENTS, RADIUS)
    };
    let flesh = Arc::new(Flesh::build(&[rod("one", 0.0), rod("other", RADIUS)], &[]).unwrap());
    let mut physics = Physics::with_config(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() });
    physics.passes = PASSES;
    let handle = physics.insert(flesh, &[], Pose::IDENTITY).unwrap();
    (0..30).for_each(|_| physics.step_flesh(FRAME).unwrap());
    let node = |chain| physics.node(handle, chain, 5).unwrap();
    let (speed, off) = (node(0).velocity.length(), (node(1).place.z - RADIUS).abs());
    println!("two rods that overlap at rest: {speed:.1e} m/s, {off:.1e} m off");
    assert!(speed <= 1.0e-5 && off <= 1.0e-6);
}
