//! Game-like rods whose bones jump about for two seconds and then stand still.

use glam::{DQuat, DVec3};
use sinew::flesh::{Flesh, Holds, RodSpec};
use sinew::step::{Integrator, StepConfig};
use sinew::{Material, Physics, Pose};
use std::sync::Arc;

use crate::common::{FRAME, Random};

/// How many rods still move after each of some times (s), and the resets: at more than 0.05 lengths a second, and at more
/// than a swing has left of its speed in the first second, e^{−ct/2} of it where velocities decay by c; beside them how many
/// there are with those that swing on.
fn still_moving(integrator: Integrator, count: usize, times: &[usize]) -> (Vec<[usize; 2]>, u32) {
    let mut random = Random(5);
    let (mut rods, mut bones, mut made) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..count {
        let length = random.log_uniform(0.1, 1.0);
        let radius = length * random.log_uniform(0.005, 0.2);
        let segments = 6 + (random.bits() % 15) as usize;
        let mut rod = RodSpec::straight(format!("rod {index}"), DVec3::ZERO, DVec3::X * length, segments, radius);
        rod.material = Material {
            youngs_modulus: random.log_uniform(1.0e3, 1.0e9),
            poissons_ratio: random.uniform(0.0, 0.49),
            density: 1000.0,
            damping: random.log_uniform(0.3, 10.0),
            ..Material::default()
        };
        rod = rod.attach(0, bones.len(), Holds::CLAMP);
        bones.push((Pose::IDENTITY, length));
        if index % 2 == 1 {
            rod = rod.attach(segments, bones.len(), Holds::CLAMP);
            bones.push((Pose::from_translation(DVec3::X * length), length));
        }
        made.push((length, segments, rod.material.damping));
        rods.push(rod);
    }
    let home: Vec<Pose> = bones.iter().map(|(pose, _)| *pose).collect();
    let mut physics = Physics::with_config(StepConfig { integrator, ..StepConfig::default() });
    let flesh = Arc::new(Flesh::build(&rods, &home).expect("all in range"));
    let handle = physics.insert(flesh, &home, Pose::IDENTITY).expect("as many bones as built with");
    for _ in 0..120 {
        let jerk = |(pose, length): &(Pose, f64)| {
            let turn = DQuat::from_scaled_axis(random.vector(-1.0, 1.0) * 26.0_f64.to_radians());
            Pose::new(pose.translation + random.vector(-0.15, 0.15) * *length, turn)
        };
        let to: Vec<Pose> = bones.iter().map(jerk).collect();
        physics.set_bones(handle, &to, Pose::IDENTITY).unwrap();
        physics.step_flesh(FRAME).unwrap();
    }
    physics.set_bones(handle, &home, Pose::IDENTITY).unwrap();
    let speed = |physics: &Physics, chain: usize, segments: usize| {
        let speed = |node: usize| f64::from(physics.node(handle, chain, node).unwrap().velocity.length());
        (0..=segments).map(speed).fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
    };
    let (mut now, mut moving, mut at_first) = (0, Vec::new(), vec![0.0_f64; made.len()]);
    for &time in times {
        for frame in now..60 * time {
            physics.step_flesh(FRAME).unwrap();
            if frame < 60 {
                let fastest =
                    made.iter().enumerate().map(|(chain, &(_, segments, _))| speed(&physics, chain, segments));
                at_first.iter_mut().zip(fastest).for_each(|(most, now)| *most = most.max(now));
            }
        }
        now = 60 * time;
        let moves = |&(chain, (length, segments, damping)): &(usize, &(f64, usize, f64))| {
            let fastest = speed(&physics, chain, *segments);
            // What is faster at first than 0.15 lengths and 26° about each axis a frame has no excuse in it.
            let jerk = 60.0 * 3.0_f64.sqrt() * (0.15 + 26.0_f64.to_radians()) * length;
            let left = at_first[chain].min(jerk) * (-0.5 * damping * time as f64).exp();
            let moves = fastest.is_nan() || fastest > 0.05 * length;
            [moves && (fastest.is_nan() || fastest > left), moves]
        };
        let moves: Vec<[bool; 2]> = made.iter().enumerate().map(|rod| moves(&rod)).collect();
        moving.push([0, 1].map(|k| moves.iter().filter(|moves| moves[k]).count()));
    }
    (moving, physics.health(handle).unwrap().resets)
}

fn come_to_rest(integrator: Integrator) {
    let (moving, resets) = still_moving(integrator, 400, &[20, 60]);
    println!(
        "{integrator:?}: of 400 jerked rods {} and {} move after 20 and 60 s (bars 5, 0), {} and {} with those whose damping \
         leaves them so much; {resets} resets (bar 0)",
        moving[0][0], moving[1][0], moving[0][1], moving[1][1]
    );
    assert!(moving[0][0] <= 5 && moving[1][1] == 0 && resets == 0);
}

#[test]
fn jerked_rods_come_to_rest() {
    come_to_rest(Integrator::ImplicitEuler);
}

#[test]
fn jerked_rods_come_to_rest_in_second_order() {
    come_to_rest(Integrator::SecondOrder);
}
