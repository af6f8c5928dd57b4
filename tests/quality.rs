//! What a report says of a step: balance of forces with contacts and in the second order.

use std::sync::Arc;

use glam::DVec3;
use sinew::flesh::{Flesh, RodSpec};
use sinew::scenes::Cantilevers;
use sinew::step::{Integrator, StepConfig};
use sinew::{HalfSpace, Material, Physics, Pose};

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
