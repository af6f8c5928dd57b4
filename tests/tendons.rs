//! Tendons in series with muscle at the default substeps: made taut at once, over a via point, let in.

mod common;

use common::{FRAME, OneRod};
use glam::DVec3;
use sinew::flesh::{Contraction, Holds, RodNode, RodSpec};
use sinew::step::StepConfig;
use sinew::{Material, Pose};

/// Peak force of the muscle (N) and what it stresses (Pa).
const FORCE: f64 = 800.0;
const STRESS: f64 = 1.0e6;
/// Length (m), and which part of it is belly; the rest is tendon.
const LENGTH: f64 = 0.2;
const BELLY: f64 = 0.5;

/// A muscle along x, its tendon as strong as its belly and stretched by 4 % at peak force, held at its ends by bones 0
/// and 1; `bend` lifts its middle (m), where bone 0 guides it.
fn muscle(bend: f64) -> RodSpec {
    let count = 11;
    let middle = (count - 1) / 2;
    let belly_radius = (FORCE / STRESS / std::f64::consts::PI).sqrt();
    let place = |j: usize| {
        let along = j as f64 / (count - 1) as f64;
        DVec3::new(along * LENGTH, bend * (1.0 - 2.0 * (along - 0.5).abs()), 0.0)
    };
    let radius = |j: usize| if j as f64 / (count - 1) as f64 <= BELLY { belly_radius } else { 0.5 * belly_radius };
    let nodes: Vec<RodNode> = (0..count).map(|j| RodNode::disc(place(j), radius(j))).collect();
    let belly = Material { poissons_ratio: 0.499, ..Material::muscle() };
    let contracts = |j: usize| (j as f64 + 0.5) / ((count - 1) as f64) < BELLY;
    let area = nodes[count - 1].section.area;
    let tendon = Material { fibre_modulus: FORCE / area / 0.04, ..belly };
    let mut rod = RodSpec {
        name: "muscle".into(),
        material: belly,
        segment_materials: (0..count - 1).map(|j| if contracts(j) { belly } else { tendon }).collect(),
        contraction: Contraction {
            contractile: (0..count - 1).map(|j| f64::from(u8::from(contracts(j)))).collect(),
            peak_force: Some(FORCE),
            optimal_stretch: Some(1.0),
            passive: 1.2,
            ..Contraction::default()
        },
        nodes,
        ..RodSpec::default()
    };
    if bend > 0.0 {
        rod = rod.attach(middle, 0, Holds::GUIDE);
    }
    rod.attach(0, 0, Holds::CLAMP).attach(count - 1, 1, Holds::PIN)
}

fn ends(length: f64) -> [Pose; 2] {
    [Pose::IDENTITY, Pose::from_translation(DVec3::X * length)]
}

/// Every volume over 240 frames after `excite`, as the largest deviation from rest.
fn largest_volume_error(rod: &mut OneRod) -> f64 {
    let mut worst = 0.0_f64;
    for _ in 0..240 {
        rod.run(FRAME, 1);
        let state = rod.physics.muscle(rod.handle, 0).unwrap();
        worst = worst.max((state.volume_ratio - 1.0).abs());
    }
    worst
}

/// A hanging tendon has no tension, and so no stiffness across, until the very solve in which the belly pulls it taut.
#[test]
fn a_tendon_made_taut_at_once_stays_where_it_is() {
    for bend in [0.0, 0.02] {
        for activation in [0.1_f32, 0.5, 1.0] {
            let mut rod = OneRod::new(&muscle(bend), &ends(LENGTH), StepConfig::default());
            rod.run(FRAME, 60);
            rod.physics.set_activation(rod.handle, 0, activation).unwrap();
            let volume_error = largest_volume_error(&mut rod);
            let state = rod.physics.muscle(rod.handle, 0).unwrap();
            let of_force = state.tension / (f64::from(activation) * FORCE);
            println!(
                "bent by {bend} m, activation {activation}: length {:.4} of rest, tension {of_force:.3} of a·F, \
                 volume within {:.2} % (bar 2 %)",
                state.stretch,
                100.0 * volume_error
            );
            assert!(rod.is_sound());
            // What the tendon gives, 4 % of its half at peak force, the belly takes.
            assert!((state.stretch - 1.0).abs() < 0.01);
            assert!((of_force - 1.0).abs() < 0.05, "by the force–length law near its top");
            assert!(volume_error < 0.02);
        }
    }
}

/// Shorter than at rest, sections are pressed together: turned, they shorten the segment further.
#[test]
fn a_muscle_let_in_does_not_shake() {
    let settled = |substeps: u32| {
        let mut rod = OneRod::new(&muscle(0.0), &ends(LENGTH), StepConfig { substeps, ..StepConfig::default() });
        rod.physics.set_activation(rod.handle, 0, 0.1).unwrap();
        for frame in 1..=60 {
            rod.set_bones(&ends(LENGTH * (1.0 - 0.22 * f64::from(frame) / 60.0)));
            rod.run(FRAME, 1);
        }
        let volume_error = largest_volume_error(&mut rod);
        (rod.physics.muscle(rod.handle, 0).unwrap(), volume_error, rod.is_sound())
    };
    let ((coarse, volume_error, sound), (fine, ..)) = (settled(4), settled(32));
    println!(
        "let in by 22 %: tension {:.2} N with 4 substeps, {:.2} N with 32 (bar 1 %), volume within {:.2} % (bar 1 %)",
        coarse.tension,
        fine.tension,
        100.0 * volume_error
    );
    assert!(sound && volume_error < 0.01);
    assert!((coarse.tension - fine.tension).abs() < 0.01 * fine.tension);
}
