//! Rods of any making thrown about beyond all that flesh can follow.

use glam::{DQuat, DVec3};
use sinew::flesh::{Contraction, Holds, RodNode, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{Material, Pose};

use crate::{FRAME, Stepped};

/// xorshift64.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        self.within(low.ln(), high.ln()).exp()
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0))
    }
}

/// A rod with every parameter drawn at random, on one bone or two that no other rod hangs on.
fn random_rod(random: &mut Random, index: usize, bones: &mut Vec<Pose>) -> (RodSpec, f64) {
    let length = random.log(0.02, 3.0);
    let radius = length * random.log(0.002, 0.3);
    let segments = 2 + (random.unit() * 22.0) as usize;
    let density = random.log(10.0, 1.0e4);
    // Not so soft that it hangs by four times its length.
    let youngs_modulus = random.log(1.0e2, 1.0e12).max(4.0 * density * 9.81 * length);
    let poissons_ratio = if random.unit() < 0.2 { random.within(-0.5, 0.0) } else { random.within(0.0, 0.4999) };
    let node = |j: usize| RodNode::disc(DVec3::X * (length * j as f64 / segments as f64), radius);
    let rod = RodSpec {
        name: format!("rod {index}"),
        nodes: (0..=segments).map(node).collect(),
        material: Material {
            youngs_modulus,
            poissons_ratio,
            density,
            damping: random.log(0.1, 100.0),
            peak_stress: youngs_modulus * random.log(0.01, 5.0),
            ..Material::default()
        },
        contraction: Contraction {
            optimal_stretch: (random.unit() < 0.3).then_some(1.0),
            shortening: if random.unit() < 0.2 { random.within(0.0, 0.9) } else { 0.0 },
            max_velocity: (random.unit() < 0.2).then_some(10.0),
            ..Contraction::default()
        },
        ..RodSpec::default()
    };
    let mut rod = rod.attach(0, bones.len(), Holds::CLAMP);
    bones.push(Pose::IDENTITY);
    if index % 2 == 1 {
        let holds = if random.unit() < 0.5 { Holds::CLAMP } else { Holds::PIN };
        rod = rod.attach(segments, bones.len(), holds);
        bones.push(Pose::from_translation(DVec3::X * length));
    }
    (rod, length)
}

/// Each bone jumps within ±`by` lengths and turns to anywhere in every frame of a second; a second later.
fn thrown_about(integrator: Integrator, by: f64, jump: f64) {
    let mut random = Random(88_172_645_463_325_252);
    let (mut rods, mut lengths, mut bones) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..400 {
        let (rod, length) = random_rod(&mut random, index, &mut bones);
        lengths.extend(rod.attachments.iter().map(|_| length));
        rods.push(rod);
    }
    let mut all = Stepped::new(&rods, &bones, StepConfig { integrator, jump, ..StepConfig::default() });
    let start = std::time::Instant::now();
    for frame in 0..120 {
        let thrown = |(bone, length): (&Pose, &f64)| {
            let off = random.vector() * (by * *length);
            let turn = DQuat::from_scaled_axis(random.vector() * std::f64::consts::PI);
            Pose::new(bone.translation + off, turn * bone.rotation)
        };
        let to: Vec<Pose> = if frame < 60 { bones.iter().zip(&lengths).map(thrown).collect() } else { bones.clone() };
        for chain in 0..rods.len() {
            let excited = if frame < 60 && random.unit() < 0.3 { random.within(0.0, 10.0) } else { 0.0 };
            all.physics.set_activation(all.handle, chain, excited as f32).unwrap();
        }
        all.step(&to, Pose::IDENTITY, FRAME);
    }
    let (mut stretch, mut off, mut bad) = (0.0_f64, 0.0_f64, 0);
    for (chain, rod) in rods.iter().enumerate() {
        let here = (all.stretch(chain), all.off(chain));
        (stretch, off) = (stretch.max(here.0), off.max(here.1));
        if !(here.0 <= 5.0 && here.1 <= 3.0) {
            bad += 1;
            println!("{}: stretched {:.2}, {:.2} lengths off", rod.name, here.0, here.1);
        }
    }
    let health = all.physics.health(all.handle).unwrap();
    println!(
        "400 rods thrown about by ±{by} lengths ({integrator:?}, jumps from {jump} lengths), one second after the bones rest: \
         stretched {stretch:.2} times at most (bar 5), {off:.2} lengths off (bar 3), {bad} beyond; {} chains laid anew {} times, \
         {} frames with jumps; {:.1?}",
        health.laid_anew.len(),
        health.resets,
        health.teleports,
        start.elapsed()
    );
    assert!(bad == 0 && all.is_finite());
}

#[test]
fn rods_thrown_about_are_back_on_their_bones_a_second_later() {
    thrown_about(Integrator::ImplicitEuler, 2.0, 2.0);
    thrown_about(Integrator::SecondOrder, 2.0, 2.0);
}

#[test]
fn rods_thrown_about_are_back_where_nothing_is_taken_as_a_jump() {
    thrown_about(Integrator::ImplicitEuler, 2.0, f64::INFINITY);
    thrown_about(Integrator::SecondOrder, 2.0, f64::INFINITY);
}
