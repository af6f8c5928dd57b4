//! Bending and torsion: stiffness, first frequency, and waves of the scale.

mod common;
mod reference;

use common::{FRAME, OneRod, material, weightless};
use glam::{DQuat, DVec3};
use sinew::flesh::{Holds, NodeState, RodSpec};
use sinew::scenes::Cantilevers;
use sinew::step::{Integrator, StepConfig};
use sinew::{Material, ModuliOverrides, Physics, Pose};

fn reference_material(m: &Material) -> reference::Material {
    reference::Material { youngs_modulus: m.youngs_modulus, poissons_ratio: m.poissons_ratio, density: m.density }
}

/// A straight rod of 1 m along x, clamped at x = 0.
fn clamped(material: Material, segments: usize, radius: f64) -> RodSpec {
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, segments, radius);
    rod.material = material;
    rod.attach(0, 0, Holds::CLAMP)
}

/// The bending stiffness is the one with which the exact rod sags as far.
#[test]
fn bending_stiffness_is_youngs_modulus_times_second_moment() {
    let (gravity, radius) = (9.81, 0.02);
    for nu in [0.0, 0.3, 0.49, 0.499] {
        let mut scene = Cantilevers { rods: 1, segments: 40, radius, ..Default::default() }.with_gamma(0.2, gravity);
        scene.material.poissons_ratio = nu;
        let mut physics = Physics::default();
        let handle = physics.insert(scene.build().unwrap(), &[Pose::IDENTITY], Pose::IDENTITY).unwrap();
        for _ in 0..600 {
            physics.step_flesh(FRAME).unwrap();
        }
        let tip = physics.node(handle, 0, scene.segments).unwrap().place;
        let m = reference_material(&scene.material);
        let expected = m.stiffness(radius);
        let sag = |bending: f64| {
            reference::cantilever_tip(
                &reference::Stiffness { bending, ..expected },
                m.weight_per_length(radius, gravity),
                scene.length,
            )
            .y
        };
        let (mut soft, mut stiff) = (0.5 * expected.bending, 2.0 * expected.bending);
        for _ in 0..40 {
            let middle = 0.5 * (soft + stiff);
            if sag(middle) < tip.y {
                soft = middle;
            } else {
                stiff = middle;
            }
        }
        let error = soft / expected.bending - 1.0;
        let least = (0..=scene.segments).map(|j| physics.node(handle, 0, j).unwrap().scale).fold(f32::MAX, f32::min);
        println!("ν = {nu}: bends as EI {:+.4} % (bar 1 %); least scale {least:.5}", 100.0 * error);
        assert!(error.abs() <= 1.0e-2);
    }
}

#[test]
fn twisted_rod_has_torque_of_shear_modulus_times_torsion_constant() {
    let (radius, angle, segments) = (0.05, 1.0, 20);
    for nu in [0.0, 0.3, 0.45, 0.499] {
        let m = material(1.0e6, nu, 1000.0, 10.0);
        let rod = clamped(m, segments, radius).attach(segments, 1, Holds::CLAMP);
        let mut rod = OneRod::new(&rod, &[Pose::IDENTITY; 2], weightless(4));
        for frame in 1..=60 {
            let turn = DQuat::from_rotation_x(angle * f64::from(frame) / 60.0);
            rod.set_bones(&[Pose::IDENTITY, Pose::new(DVec3::ZERO, turn)]);
            rod.run(FRAME, 1);
        }
        rod.run(FRAME, 300);
        let (_, torque) = rod.segment_pulls()[segments - 1];
        let expected = reference::twist_torque(reference_material(&m).stiffness(radius).torsion, angle, 1.0);
        let error = torque.x / expected - 1.0;
        println!("ν = {nu}: end torque {:.6} N·m, off GJφ/L by {:.4} % (bar 1 %)", torque.x, 100.0 * error);
        assert!(rod.is_sound() && error.abs() <= 1.0e-2);
    }
}

#[test]
fn first_bending_frequency() {
    let (dt, radius, segments) = (1.0 / 960.0, 0.01, 20);
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        let m = material(1.0e7, 0.3, 1000.0, 0.0);
        let exact = reference_material(&m);
        let bending = exact.stiffness(radius).bending;
        let omega = reference::cantilever_frequency(bending, m.density * reference::disc_area(radius), 1.0);
        let config = StepConfig { integrator, ..weightless(4) };
        let mut rod = OneRod::new(&clamped(m, segments, radius), &[Pose::IDENTITY], config);
        // A small tip load's shape is near the first mode.
        for j in 0..=segments {
            let x = j as f64 / segments as f64;
            let mut node = rod.node(j);
            node.velocity.y = (0.1 * x * x * (3.0 - x)) as f32;
            rod.set_node(j, &node);
        }
        let mut crossings = Vec::new();
        let mut last = 0.0;
        let mut frame = 0;
        while crossings.len() < 6 {
            rod.run(dt, 1);
            frame += 1;
            let now = rod.node(segments).place.y;
            if frame > 1 && (last < 0.0) != (now < 0.0) {
                crossings.push(dt * (f64::from(frame) - now / (now - last)));
            }
            last = now;
            assert!(f64::from(frame) * dt < 100.0 / omega, "no oscillation");
        }
        let found = std::f64::consts::PI * 5.0 / (crossings[5] - crossings[0]);
        let error = found / omega - 1.0;
        println!("{integrator:?}: first bending {found:.4} rad/s, {:+.3} % off {omega:.4} (bar 2 %)", 100.0 * error);
        assert!(error.abs() <= 0.02);
    }
}

/// ω(q) of errata 10, ω² = (μ/ρ)(8/r² + q²), on standing waves cos qz of a free rod.
#[test]
fn scale_waves_disperse_as_derived() {
    let (radius, segments) = (0.1, 400);
    let length = radius / 8.0 * segments as f64;
    let overrides = ModuliOverrides { smoothing: Some(0.0), ..Default::default() };
    let m = Material { overrides, ..material(1.0e5, 0.0, 1000.0, 0.0) };
    let mu = reference_material(&m).mu();
    for qr in [1.0, 2.0, 4.0] {
        // A whole number of half waves fits the rod.
        let half_waves = (qr / radius * length / std::f64::consts::PI).round();
        let q = half_waves * std::f64::consts::PI / length;
        let omega = reference::scale_wave_frequency(mu, m.density, radius, q);
        let mut spec = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * length, segments, radius);
        spec.material = m;
        let config = StepConfig { integrator: Integrator::SecondOrder, ..weightless(4) };
        let mut rod = OneRod::new(&spec, &[], config);
        let shape: Vec<f64> = (0..=segments).map(|j| (q * length * j as f64 / segments as f64).cos()).collect();
        for (j, amplitude) in shape.iter().enumerate() {
            let mut node = rod.node(j);
            node.scale = (1.0 + 0.01 * amplitude) as f32;
            rod.set_node(j, &node);
        }
        let dt = 4.0 * 0.02 / omega;
        let mut crossings = Vec::new();
        let mut last = 1.0;
        let mut frame = 0;
        while crossings.len() < 5 {
            rod.run(dt, 1);
            frame += 1;
            assert!(f64::from(frame) * dt * omega < 50.0, "no oscillation");
            let now: f64 = rod.nodes().iter().zip(&shape).map(|(n, a)| (f64::from(n.scale) - 1.0) * a).sum();
            if (last < 0.0) != (now < 0.0) {
                crossings.push(dt * (f64::from(frame) - now / (now - last)));
            }
            last = now;
        }
        let found = std::f64::consts::PI * 4.0 / (crossings[4] - crossings[0]);
        let error = found / omega - 1.0;
        println!(
            "qr = {:.3}, r/l = 8: ω = {found:.2} rad/s, {:+.3} % off {omega:.2} (bar 5 %)",
            q * radius,
            100.0 * error
        );
        assert!(rod.is_sound() && error.abs() <= 0.05);
    }
}

/// A rod that a host winds up by turns, node by node in either order, is wound and not turned back somewhere by a whole turn;
/// what is written back as it was stays to the bit.
#[test]
fn frames_written_by_a_host_follow_the_rod() {
    let turned = |j: usize| DQuat::from_rotation_x(2.0 * j as f64).as_quat();
    for backwards in [false, true] {
        let spec = clamped(material(1.0e7, 0.3, 1000.0, 1.0), 10, 0.02);
        let mut rod = OneRod::new(&spec, &[Pose::IDENTITY], weightless(4));
        let rest = rod.nodes();
        for k in 0..rest.len() {
            let j = if backwards { rest.len() - 1 - k } else { k };
            rod.set_node(j, &NodeState { frame: turned(j) * rest[j].frame, ..rest[j] });
        }
        let wound = rod.nodes();
        let least = wound.windows(2).map(|pair| pair[0].frame.dot(pair[1].frame)).fold(f32::MAX, f32::min);
        println!("backwards {backwards}: cosine of half the turn between neighbours {least:.4} (cos 1 rad = 0.5403)");
        assert!((least - 1.0_f32.cos()).abs() < 1.0e-5);
        (0..wound.len()).for_each(|j| rod.set_node(j, &wound[j]));
        assert_eq!(rod.nodes(), wound);
    }
}
