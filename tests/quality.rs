//! What a report says of a step: balance of forces with contacts and in the second order, momentum and energy.

use std::sync::Arc;

use glam::DVec3;
use sinew::flesh::{Flesh, RodSpec};
use sinew::scenes::{Cantilevers, SceneParameters};
use sinew::step::{Integrator, StepConfig};
use sinew::{HalfSpace, Material, Motion, Physics, Pose};

const FRAME: f64 = 1.0 / 60.0;

/// A falling cantilever, each substep solved to convergence; soft, so that places in f32 have digits for its forces.
fn swinging(integrator: Integrator, substeps: u32) -> Physics {
    let mut scene = Cantilevers { rods: 1, length: 0.5, segments: 10, radius: 0.02, ..Cantilevers::default() };
    scene.material.youngs_modulus = 1.0e6;
    let flesh = scene.build().expect("builds");
    let mut physics = Physics::with_config(StepConfig { integrator, substeps, iterations: 8, ..StepConfig::default() });
    physics.insert(flesh, &[Pose::IDENTITY], Pose::IDENTITY).expect("fits");
    (0..10).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
    physics
}

#[test]
fn a_solved_step_is_in_balance_in_both_orders() {
    assert_eq!(Physics::default().quality().residual, 0.0);
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        for substeps in [1, 4] {
            let residual = swinging(integrator, substeps).quality().residual;
            println!("{integrator:?}, {substeps} substeps: residual {residual:.2e}");
            assert!(residual < 0.02, "{residual}");
        }
    }
}

#[test]
fn a_rod_at_rest_on_the_ground_is_in_balance() {
    let material = Material { youngs_modulus: 1.0e6, damping: 20.0, ..Material::default() };
    let spec = RodSpec {
        material,
        ..RodSpec::straight("rod", DVec3::new(0.0, 0.03, 0.0), DVec3::new(0.5, 0.03, 0.0), 10, 0.02)
    };
    let flesh = Arc::new(Flesh::build(&[spec], &[]).expect("builds"));
    let mut physics = Physics::with_config(StepConfig { iterations: 4, ..StepConfig::default() });
    physics.planes = vec![HalfSpace::ground(0.0, 0.5)];
    let rod = physics.insert(flesh.clone(), &[], Pose::IDENTITY).expect("fits");
    (0..240).for_each(|_| physics.step_flesh(FRAME).expect("steps"));
    let lying = physics.quality();
    println!("at rest on the ground: residual {:.2e}, {:.1e} m deep", lying.residual, lying.penetration_max);
    assert!(lying.residual < 0.02, "{lying:?}");

    // A node out of its place is seen.
    let mut node = physics.node(rod, 0, 5).expect("is there");
    node.place.x += 1.0e-4;
    physics.state_mut(rod).expect("is there").set_node(&flesh, 0, 5, &node);
    let moved = physics.quality().residual;
    println!("with a node 0.1 mm out of its place: {moved:.2}");
    assert!(moved > 0.2, "{moved}");
}

/// Of a stiff rod in free flight all is known.
#[test]
fn a_thrown_rod_has_the_momentum_and_energy_of_a_rigid_one() {
    let (length, radius, density) = (0.6, 0.03, 1000.0);
    let material =
        Material { youngs_modulus: 1.0e9, poissons_ratio: 0.3, density, damping: 0.0, ..Material::default() };
    let half = DVec3::X * (0.5 * length);
    let spec = RodSpec { material, ..RodSpec::straight("rod", -half, half, 24, radius) };
    let flesh = Arc::new(Flesh::build(&[spec], &[]).expect("builds"));
    let mut physics = Physics::with_config(StepConfig { gravity: DVec3::ZERO, ..StepConfig::default() });
    let centre = DVec3::new(2.0, -1.0, 3.0);
    let rod = physics.insert(flesh, &[], Pose::from_translation(centre)).expect("fits");
    let (velocity, spin) = (DVec3::new(3.0, -2.0, 1.0), DVec3::new(0.8, 0.5, -0.3));
    physics.set_velocity(rod, Motion { velocity, spin, centre }).expect("slow enough");
    physics.step_flesh(1.0e-4).expect("steps");
    let quality = physics.quality();
    let mass = density * std::f64::consts::PI * radius * radius * length;
    // Half the last segment's mass is at each end: a twelfth is a little more.
    let across = mass * (length * length / 12.0 * (1.0 + 2.0 / (24.0 * 24.0)) + radius * radius / 4.0);
    let inertia = DVec3::new(0.5 * mass * radius * radius, across, across);
    let momentum = velocity * mass;
    let angular = centre.cross(momentum) + inertia * spin;
    let kinetic = 0.5 * (mass * velocity.length_squared() + spin.dot(inertia * spin));
    let off = [
        quality.momentum.distance(momentum) / momentum.length(),
        quality.angular_momentum.distance(angular) / angular.length(),
        (quality.energy.kinetic / kinetic - 1.0).abs(),
    ];
    println!("momentum, angular momentum and kinetic energy are off by {off:.1?} (bar 1e-3); {quality:?}");
    assert!(off.iter().all(|off| *off <= 1.0e-3));
    assert!(quality.energy.potential == 0.0 && quality.energy.elastic < 1.0e-4 * kinetic);
    let tip = (velocity + spin.cross(half)).length().max((velocity - spin.cross(half)).length());
    assert!((quality.speed_max / tip - 1.0).abs() < 1.0e-3);

    physics.config.gravity = DVec3::Y * -10.0;
    let potential = physics.quality().energy.potential;
    assert!((potential / (mass * 10.0 * centre.y) - 1.0).abs() < 1.0e-3, "{potential}");
}

/// A band drawn out by a hundredth stores ½EAε²L.
#[test]
fn a_stretched_band_stores_its_energy() {
    let parameters = SceneParameters { stretch: 1.01, ..SceneParameters::of("band").expect("is there") };
    let scene = parameters.build("band").expect("in range");
    let mut physics = Physics::with_config(scene.config);
    let band = scene.insert(&mut physics).expect("fits");
    assert!(physics.quality().energy.elastic < 1.0e-6);
    for frame in 1..=300 {
        scene.drive(&mut physics, band, f64::from(frame) * FRAME).expect("fits");
        physics.step_flesh(FRAME).expect("steps");
    }
    let SceneParameters { radius, length, material, .. } = parameters;
    let exact = 0.5 * material.youngs_modulus * std::f64::consts::PI * radius * radius * 1.0e-4 * length;
    let found = physics.quality().energy.elastic;
    println!("a band drawn out by 1 %: {found:.4} J, ½EAε²L {exact:.4} (bar 3 %)");
    assert!((found / exact - 1.0).abs() < 0.03);
}

/// Tentacles buckle as they land: sections beside each other turn by more than half a turn, which turns no segment inside out.
#[test]
fn what_turns_far_is_not_taken_for_inside_out() {
    let parameters = SceneParameters { rods: 5, ..SceneParameters::of("octopuses").expect("is a scene") };
    let scene = parameters.build("octopuses").expect("builds");
    let mut physics = Physics::with_config(scene.config);
    scene.insert(&mut physics).expect("fits");
    let octopuses: Vec<_> = physics.instances().collect();
    let (mut worst, mut turned): (f64, f32) = (0.0, 0.0);
    for _ in 0..30 {
        physics.step_flesh(FRAME).expect("steps");
        worst = worst.max(physics.quality().volume_error_max);
        for (&octopus, chain) in octopuses.iter().flat_map(|octopus| (1..9).map(move |chain| (octopus, chain))) {
            let frames: Vec<_> =
                (0..5).map(|node| physics.node(octopus, chain, node).expect("is there").frame).collect();
            let turns = frames.windows(2).map(|pair| 2.0 * pair[0].dot(pair[1]).clamp(-1.0, 1.0).acos());
            turned = turns.fold(turned, f32::max);
        }
    }
    println!(
        "five octopuses land: volume off by {worst:.2} at most, sections {:.0}° against each other",
        turned.to_degrees()
    );
    assert!(turned > std::f32::consts::PI, "nothing turns as far as the measure has to bear: {turned}");
    assert!(worst < 0.8, "{worst}");
}
