//! A stiff rod that swings on a pin.

use glam::DVec3;
use sinew::Pose;
use sinew::cpu::lanes::{LANES, Lanes, OneF32, OneF64};
use sinew::flesh::{Flesh, Holds, RodNode, RodSpec};
use sinew::layout::{chain, node};
use sinew::step::{Integrator, Stage, StepConfig};

use crate::common::{FRAME, material};
use crate::stages::Staged;

const SEGMENTS: usize = 10;

/// The pendulum of 1 m and 1 cm radius, let go at 60°.
fn pendulum(youngs_modulus: f64) -> Flesh {
    let down = 60.0_f64.to_radians();
    let along = DVec3::new(down.sin(), -down.cos(), 0.0);
    let node = |j: usize| RodNode::disc(along * (j as f64 / SEGMENTS as f64), 0.01);
    let rod = RodSpec {
        material: material(youngs_modulus, 0.3, 1000.0, 0.0),
        nodes: (0..=SEGMENTS).map(node).collect(),
        ..RodSpec::default()
    };
    Flesh::build(&[rod.attach(0, 0, Holds::PIN)], &[Pose::IDENTITY]).expect("in range")
}

/// The first full swing (s), from the first time through the vertical to the third.
fn period<T, L>(mut staged: Staged<T>, lanes: impl Fn(usize) -> L, config: &StepConfig, contract: bool) -> f64
where
    T: Copy + From<f32> + Into<f64> + PartialEq,
    L: Lanes<Scalar = T>,
{
    let (mut last, mut crossings) = (60.0_f64.to_radians(), Vec::new());
    for frame in 0..300 {
        staged.frame(&lanes, config, FRAME, |stage, _, group| {
            if stage == Stage::Predict && !contract {
                group.chains[chain::START_POTENTIAL] = [T::from(f32::MAX); LANES];
            }
        });
        let [tip, root] = [SEGMENTS, 0].map(|j| DVec3::from_array(staged.read(j, node::PLACE, 0)));
        let angle = (tip.x - root.x).atan2(root.y - tip.y);
        if last * angle <= 0.0 {
            crossings.push(f64::from(frame) + last / (last - angle));
        }
        last = angle;
        if crossings.len() == 3 {
            return (crossings[2] - crossings[0]) * FRAME;
        }
    }
    f64::NAN
}

/// Euler's own damping apart: against the period that the integrator itself has, every step solved to the end in f64.
///
/// At 10¹² Pa and 1/60 s a segment's inertia over h̃², ρl²/(Eh̃²), is a third of a unit in the last place of its stiffness in
/// f32, which counts that as soft as leaves 16 units.
#[test]
fn a_stiff_pendulum_swings_as_it_should() {
    let mut worst = 0.0_f64;
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        for substeps in [1, 4, 16] {
            let mut line = String::new();
            for exponent in 7..=12 {
                let youngs_modulus = 10.0_f64.powi(exponent);
                let flesh = pendulum(youngs_modulus);
                let config = StepConfig { substeps, integrator, ..StepConfig::default() };
                let found = Staged::new(&flesh, &[Pose::IDENTITY], flesh.groups()[0].clone());
                let found = period(found, OneF32, &config, true);
                let exact = Staged::new(&flesh, &[Pose::IDENTITY], flesh.groups()[0].to_f64());
                let exact = period(exact, OneF64, &StepConfig { iterations: 6, ..config }, false);
                let error = found / exact - 1.0;
                line += &format!(" {:+.2} %", 100.0 * error);
                worst = if error.is_nan() { f64::NAN } else { worst.max(error.abs()) };
            }
            println!("{integrator:?} {substeps} × 1, E = 1e7 to 1e12:{line}");
        }
    }
    println!("period within {:.2} % (bar 1 %)", 100.0 * worst);
    assert!(worst <= 0.01);
}

/// Counted softer, it still hangs as long as it was built.
#[test]
fn a_rod_stiffer_than_its_step_resolves_hardly_stretches() {
    let along = DVec3::NEG_Y;
    let node = |j: usize| RodNode::disc(along * (j as f64 / SEGMENTS as f64), 0.01);
    let rod = RodSpec {
        material: material(1.0e12, 0.3, 1000.0, 1.0),
        nodes: (0..=SEGMENTS).map(node).collect(),
        ..RodSpec::default()
    };
    let flesh = Flesh::build(&[rod.attach(0, 0, Holds::PIN)], &[Pose::IDENTITY]).expect("in range");
    let config = StepConfig { substeps: 1, ..StepConfig::default() };
    let mut staged = Staged::new(&flesh, &[Pose::IDENTITY], flesh.groups()[0].clone());
    for _ in 0..120 {
        staged.frame(OneF32, &config, FRAME, |_, _, _| ());
    }
    let [tip, root] = [SEGMENTS, 0].map(|j| DVec3::from_array(staged.read(j, node::PLACE, 0)));
    let stretched = tip.distance(root) - 1.0;
    println!("1 m of 10¹² Pa hangs {stretched:.1e} m longer at 1 × 1 (bar 2e-6)");
    assert!(stretched.abs() <= 2.0e-6);
}
