//! Cantilevers under their own weight against the exact elastica and the extensible, shearable rod.

mod common;
mod reference;

use common::FRAME;
use glam::DVec3;
use sinew::scenes::Cantilevers;
use sinew::step::StepConfig;
use sinew::{Physics, Pose};

const GRAVITY: f64 = 9.81;
/// Γ = ρAgL³/EI with its bar, in parts of L.
const BARS: [(f64, f64); 3] = [(1.0, 0.02e-2), (5.0, 0.05e-2), (20.0, 0.1e-2)];

fn scene(gamma: f64, segments: usize, radius: f64) -> Cantilevers {
    Cantilevers { rods: 1, segments, radius, ..Default::default() }.with_gamma(gamma, GRAVITY)
}

/// Frames at the end over which the tip is averaged: what f32 leaves of motion, up to 5e-4 of L where a thin rod is
/// stepped a whole frame at once, is no part of the rest shape.
const AVERAGED: usize = 300;

/// The tip at rest relative to the clamp, over L, after stepping for `seconds` from horizontal.
fn resting_tip(physics: &mut Physics, scene: &Cantilevers, at: DVec3, seconds: f64) -> [f64; 2] {
    let flesh = scene.build().unwrap();
    let handle = physics.insert(flesh, &[Pose::from_translation(at)], Pose::IDENTITY).unwrap();
    let frames = (seconds / FRAME).round() as usize;
    let mut tip = DVec3::ZERO;
    for frame in 0..frames {
        physics.step_flesh(FRAME).unwrap();
        if frame + AVERAGED >= frames {
            tip += (physics.node(handle, 0, scene.segments).unwrap().place - at) / AVERAGED as f64;
        }
    }
    assert_eq!(physics.health(handle).unwrap().resets, 0);
    assert!(tip.z.abs() <= 1.0e-5, "a planar load leaves the plane by {} m", tip.z);
    physics.remove(handle).unwrap();
    [tip.x / scene.length, tip.y / scene.length]
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Default substeps, 20 segments of 5 cm; the bar holds for every backend.
fn check_against_elastica(physics: &mut Physics, backend: &str, at: DVec3) {
    for (gamma, bar) in BARS {
        let scene = scene(gamma, 20, 0.01);
        let found = resting_tip(physics, &scene, at, 17.0);
        let error = distance(found, reference::elastica_tip(gamma));
        println!(
            "{backend}, at {at}: Γ = {gamma}: tip {:.4} % of L off the elastica (bar {} %)",
            100.0 * error,
            100.0 * bar
        );
        assert!(error <= bar, "Γ = {gamma}: {error}");
    }
}

#[test]
fn tip_is_on_the_elastica_at_the_origin() {
    check_against_elastica(&mut Physics::default(), "cpu", DVec3::ZERO);
}

#[test]
fn tip_is_on_the_elastica_5_km_away() {
    check_against_elastica(&mut Physics::default(), "cpu", DVec3::new(3000.0, -1000.0, 3870.0));
}

/// The tip's error against the extensible, shearable rod with 5, 10 and 20 segments, r = 1 cm.
fn errors_against_shearable_rod(gamma: f64, config: StepConfig) -> [f64; 3] {
    [5, 10, 20].map(|segments| {
        let scene = scene(gamma, segments, 0.01);
        let m = scene.material;
        let material = reference::Material {
            youngs_modulus: m.youngs_modulus,
            poissons_ratio: m.poissons_ratio,
            density: m.density,
        };
        let weight = material.weight_per_length(scene.radius, GRAVITY);
        let exact = reference::cantilever_tip(&material.stiffness(scene.radius), weight, scene.length);
        let found = resting_tip(&mut Physics::with_config(config), &scene, DVec3::ZERO, 30.0);
        distance(found, [exact.x / scene.length, exact.y / scene.length])
    })
}

#[test]
fn convergence_is_second_order() {
    for substeps in [4, 1] {
        for (gamma, _) in BARS {
            let config = StepConfig { substeps, iterations: 1, ..Default::default() };
            let errors = errors_against_shearable_rod(gamma, config);
            let orders = [(errors[0] / errors[1]).log2(), (errors[1] / errors[2]).log2()];
            println!(
                "Γ = {gamma}, {substeps} substeps × 1: errors {:.2e}, {:.2e}, {:.2e} of L with 5, 10, 20 segments \
                 (bar 1e-3 with 20): orders {:.2}, {:.2}",
                errors[0], errors[1], errors[2], orders[0], orders[1]
            );
            assert!(errors[2] <= 0.1e-2);
            for (order, finer) in orders.into_iter().zip([errors[1], errors[2]]) {
                // A whole frame in one substep has the noise of f32 at some 1e-5 of L; below, no order shows.
                let shows = substeps == 4 || finer > 5.0e-5;
                assert!(!shows || (1.7..2.6).contains(&order), "{orders:?}");
            }
        }
    }
}

#[test]
fn thin_rod_in_one_substep_and_one_iteration_is_on_the_elastica() {
    for (gamma, _) in BARS {
        let config = StepConfig { substeps: 1, iterations: 1, ..Default::default() };
        let found = resting_tip(&mut Physics::with_config(config), &scene(gamma, 20, 0.002), DVec3::ZERO, 30.0);
        let error = distance(found, reference::elastica_tip(gamma));
        println!("r/L = 0.002, 1 substep × 1, Γ = {gamma}: {:.4} % of L (bar 0.1 %)", 100.0 * error);
        assert!(error <= 0.1e-2);
    }
}
