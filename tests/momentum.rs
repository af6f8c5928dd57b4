//! What moves on its own: momentum, spin, and flesh in uniform motion.

mod common;

use common::{FRAME, OneRod, Random, material, weightless};
use glam::{DQuat, DVec3};
use sinew::flesh::{Holds, NodeState, RodSpec};
use sinew::layout::rest;
use sinew::step::{Integrator, StepConfig};
use sinew::{HalfSpace, Motion, Pose};

/// A free rod of 1 m along x about the origin.
fn free_rod(damping: f64) -> RodSpec {
    let mut rod = RodSpec::straight("free", DVec3::X * -0.5, DVec3::X * 0.5, 20, 0.02);
    rod.material = material(1.0e7, 0.45, 1000.0, damping);
    rod
}

fn masses(rod: &OneRod) -> Vec<f64> {
    let flesh = rod.physics.flesh(rod.handle).unwrap();
    (0..rod.node_count()).map(|j| f64::from(flesh.groups()[0].row(j)[rest::MASS][0])).collect()
}

fn momentum(rod: &OneRod) -> DVec3 {
    rod.nodes().iter().zip(masses(rod)).map(|(n, m)| n.velocity.as_dvec3() * m).sum()
}

fn centre(rod: &OneRod) -> DVec3 {
    let masses = masses(rod);
    rod.nodes().iter().zip(&masses).map(|(n, m)| n.place * *m).sum::<DVec3>() / masses.iter().sum::<f64>()
}

/// About the centre of mass, with the sections' own.
fn angular_momentum(rod: &OneRod) -> DVec3 {
    let (nodes, masses, centre) = (rod.nodes(), masses(rod), centre(rod));
    let flesh = rod.physics.flesh(rod.handle).unwrap();
    let total: f64 = masses.iter().sum();
    let velocity = nodes.iter().zip(&masses).map(|(n, m)| n.velocity.as_dvec3() * *m).sum::<DVec3>() / total;
    let own = |j: usize, node: &NodeState| {
        let [u, v, w] =
            [rest::INERTIA_U, rest::INERTIA_V, rest::INERTIA_W].map(|at| f64::from(flesh.groups()[0].row(j)[at][0]));
        let frame = node.frame.as_dquat();
        let scale = f64::from(node.scale);
        frame * ((frame.inverse() * node.spin.as_dvec3()) * DVec3::new(u, v, w)) * (scale * scale)
    };
    let of_node = |(j, (n, m)): (usize, (&NodeState, &f64))| {
        (n.place - centre).cross(n.velocity.as_dvec3() - velocity) * *m + own(j, n)
    };
    nodes.iter().zip(&masses).enumerate().map(of_node).sum()
}

/// Kinetic and elastic (J).
fn energy(rod: &OneRod) -> f64 {
    let energy = rod.physics.quality().energy;
    energy.kinetic + energy.elastic
}

fn with_motion(rod: &mut OneRod, mut motion: impl FnMut(&NodeState) -> (DVec3, DVec3)) {
    for j in 0..rod.node_count() {
        let mut node = rod.node(j);
        let (velocity, spin) = motion(&node);
        node.velocity = velocity.as_vec3();
        node.spin = spin.as_vec3();
        rod.set_node(j, &node);
    }
}

#[test]
fn free_flight_keeps_linear_momentum() {
    for integrator in [Integrator::ImplicitEuler, Integrator::SecondOrder] {
        for gravity in [DVec3::ZERO, DVec3::new(0.0, -9.81, 0.0)] {
            let config = StepConfig { integrator, gravity, ..Default::default() };
            let mut rod = OneRod::new(&free_rod(0.0), &[], config);
            let mut random = Random(7);
            for j in 0..rod.node_count() {
                let mut node = rod.node(j);
                let velocity = DVec3::new(3.0, 2.0, -1.0) + DVec3::Z.cross(node.place) * 4.0;
                node.velocity = (velocity + random.vector(-0.5, 0.5)).as_vec3();
                rod.set_node(j, &node);
            }
            let mass: f64 = masses(&rod).iter().sum();
            let start = momentum(&rod);
            rod.run(FRAME, 600);
            let exact = start + gravity * (mass * 600.0 * FRAME);
            let drift = momentum(&rod).distance(exact) / exact.length();
            println!(
                "{integrator:?}, gravity {}: linear momentum drifts by {drift:.1e} in 600 steps (bar 1e-4)",
                gravity.y
            );
            assert!(rod.is_sound() && drift <= 1.0e-4);
        }
    }
}

/// A rod that is crumpled, or of which each node is thrown anywhere.
fn wild(spec: &RodSpec, config: StepConfig, seed: u64, crumpled: bool, speed: f64, drift: DVec3) -> OneRod {
    let mut random = Random(seed);
    let mut rod = OneRod::new(spec, &[], config);
    for j in 0..rod.node_count() {
        let mut node = rod.node(j);
        if crumpled {
            node.place = random.vector(0.0, 1.0);
            node.frame = random.rotation().as_quat();
        }
        node.velocity = (drift + random.vector(-speed, speed)).as_vec3();
        rod.set_node(j, &node);
    }
    rod
}

/// Such a rod flies on as it did, however its steps are shortened, which cost it little of its way; thrown at 20 m/s it also goes
/// on turning. It never has more energy within than it began with; nor than a frame before, but for what calm substeps of wild
/// motion are given back of spin.
#[test]
fn what_is_led_astray_flies_on() {
    use Integrator::{ImplicitEuler, SecondOrder};
    for (integrator, crumpled, youngs_modulus, speed, drift, [turn_bar, frame_bar]) in [
        (ImplicitEuler, true, 1.0e7, 0.0, 5.0, [f64::INFINITY, 1.001]),
        (ImplicitEuler, true, 1.0e4, 0.0, 50.0, [f64::INFINITY, 1.001]),
        (ImplicitEuler, false, 1.0e7, 20.0, 5.0, [0.1, 1.001]),
        (ImplicitEuler, false, 1.0e7, 20.0, 100.0, [0.1, 1.002]),
        (ImplicitEuler, false, 1.0e7, 100.0, 5.0, [0.6, 1.1]),
        (ImplicitEuler, false, 1.0e7, 300.0, 5.0, [0.9, 1.2]),
        (SecondOrder, true, 1.0e7, 0.0, 5.0, [f64::INFINITY, 1.001]),
        (SecondOrder, false, 1.0e7, 100.0, 5.0, [0.6, 1.1]),
    ] {
        let mut spec = free_rod(1.0);
        spec.material.youngs_modulus = youngs_modulus;
        let config = StepConfig { integrator, ..weightless(4) };
        let (mut off, mut behind, mut turned, mut grown, mut grown_in_frame) =
            (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for seed in 0..40 {
            let mut rod = wild(&spec, config, seed, crumpled, speed, DVec3::X * drift);
            let mass: f64 = masses(&rod).iter().sum();
            let (start, from) = (momentum(&rod), centre(&rod));
            let within = |rod: &OneRod| energy(rod) - 0.5 * start.length_squared() / mass;
            let (had, turns) = (within(&rod), angular_momentum(&rod));
            let mut last = had;
            for _ in 0..60 {
                rod.run(FRAME, 1);
                off = off.max(momentum(&rod).distance(start) / start.length());
                let has = within(&rod);
                (grown, grown_in_frame, last) = (grown.max(has / had), grown_in_frame.max(has / last), has);
                if !crumpled {
                    turned = turned.max(angular_momentum(&rod).distance(turns) / turns.length());
                }
            }
            let way = start * (60.0 * FRAME / mass);
            behind = behind.max(centre(&rod).distance(from + way) / way.length());
            assert!(rod.is_sound());
        }
        println!(
            "{integrator:?}, crumpled: {crumpled}, E = {youngs_modulus:.0e}, nodes thrown at {speed} m/s, all at {drift} m/s: momentum off by \
             {off:.1e}, {behind:.3} of the way behind after a second (bars 1e-4, 0.05), angular momentum by {turned:.3} (bar {turn_bar}), energy within \
             ×{grown:.3} (bar 1), in a frame ×{grown_in_frame:.4} (bar {frame_bar})"
        );
        assert!(off <= 1.0e-4 && behind <= 0.05 && turned <= turn_bar && grown <= 1.0 && grown_in_frame <= frame_bar);
    }
}

/// It does not fly on through the ground: what unfolds faster than anything foresaw may be as deep as a substep or two take it, and
/// comes out.
#[test]
fn what_is_led_astray_flies_through_nothing() {
    for (speed, retries, bar) in
        [(5.0, 1, 0.0), (5.0, 3, 0.0), (50.0, 1, 1.5 * 50.0 * FRAME / 4.0), (50.0, 3, 1.5 * 50.0 * FRAME / 4.0)]
    {
        let (mut deepest, mut left) = (0.0_f64, 0.0_f64);
        for seed in 0..40 {
            let config = StepConfig { retries, ..weightless(4) };
            let mut rod = wild(&free_rod(1.0), config, seed, true, 0.0, DVec3::Y * -speed);
            rod.physics.planes = vec![HalfSpace::ground(-0.5, 0.5)];
            let under = |rod: &OneRod| rod.nodes().iter().fold(0.0_f64, |most, node| most.max(-0.5 - node.place.y));
            for _ in 0..60 {
                rod.run(FRAME, 1);
                deepest = deepest.max(under(&rod));
            }
            left = left.max(under(&rod));
        }
        println!(
            "crumpled, at {speed} m/s on the ground, {retries} retries: axes {deepest:.3} m under it at the most (bar {bar:.3}), {left:.3} \
             after a second (bar 0)"
        );
        assert!(deepest <= bar && left == 0.0);
    }
}

/// With central forces, implicit Euler has x' × v' = x × v − h²(a' × v), a' = −ω²x': L' = L(1 − (ωh)²). That is given back but for
/// (s²/(λ² + s²))³ of it, s = 0.025, since a rod's inertia across its axis is half of its trace, λ = ½, and for rounding; wherever the rod
/// goes, and about its axis, too.
#[test]
fn first_order_keeps_spin() {
    let (kept_out, seconds) = ((0.025_f64.powi(2) / (0.25 + 0.025_f64.powi(2))).powi(3), 10.0);
    for (omega, about, substeps) in
        [(1.0, 0.0, 4), (5.0, 0.0, 4), (20.0, 0.0, 4), (5.0, 0.0, 1), (20.0, 0.0, 16), (20.0, 30.0, 4)]
    {
        let mut rod = OneRod::new(&free_rod(0.0), &[], weightless(substeps));
        let drift = DVec3::new(3.0, -8.0, 1.0);
        let spin = DVec3::new(about, 0.0, omega);
        with_motion(&mut rod, |node| (drift + spin.cross(node.place), spin));
        let (start, energy) = (angular_momentum(&rod), energy(&rod));
        rod.run(FRAME, (seconds / FRAME).round() as usize);
        let off = (angular_momentum(&rod) - start).length() / start.length();
        let h = FRAME / f64::from(substeps);
        let after = |spin: f64, _| spin * (1.0 - (omega * spin * h).powi(2));
        let all = 1.0 - (0..(seconds / h).round() as usize).fold(1.0_f64, after);
        let bar = 5.0e-4 + 1.3 * kept_out * (omega * h).powi(2) * seconds / h;
        let grown = self::energy(&rod) / energy;
        println!(
            "{omega} rad/s, {about} about its axis, {substeps} substeps: {off:.2e} of the angular momentum off in {seconds} s \
             (bar {bar:.1e}; {all:.2e} were none given back); energy ×{grown:.5} (bar 1.0001)"
        );
        assert!(rod.is_sound() && off <= bar && grown <= 1.0001);
    }
}

/// What is given back is so of rods of any size, and of none it is no number.
#[test]
fn spin_is_kept_at_every_size() {
    for size in [1.0e-3, 1.0, 1.0e3, 1.0e4] {
        let mut spec = RodSpec::straight("free", DVec3::X * (-0.5 * size), DVec3::X * (0.5 * size), 20, 0.02 * size);
        // What spins stretches as little, or by a third.
        let youngs_modulus = (1.0e7 * size * size).min(1.0e13);
        spec.material = material(youngs_modulus, 0.45, 1000.0, 0.0);
        let mut rod = OneRod::new(&spec, &[], weightless(4));
        with_motion(&mut rod, |node| (DVec3::Z.cross(node.place) * 5.0, DVec3::Z * 5.0));
        let start = angular_momentum(&rod).z;
        rod.run(FRAME, 60);
        let off = (angular_momentum(&rod).z / start - 1.0).abs();
        println!(
            "{size} m: {off:.2e} of the angular momentum off in 1 s at 5 rad/s (bar 1e-4; 9.4e-2 were none given back)"
        );
        assert!(rod.is_sound() && off <= 1.0e-4);
    }
}

/// Rods thrown into any motion, wild ones too, in frames of any length, and pushed along on the way: what is given back makes neither
/// energy nor momentum. A velocity is along the way of a substep, φ/2 = ωh/2 off what is across the arm: where h changes, that much of
/// it is along the rod, which swings by an energy of up to φ²/4.
#[test]
fn what_is_given_back_makes_nothing() {
    let mut random = Random(11);
    let mut worst = [0.0_f64; 2];
    for substeps in [1, 2, 4, 16] {
        for youngs_modulus in [1.0e4, 1.0e5, 1.0e7] {
            let mut spec = free_rod(0.0);
            spec.material.youngs_modulus = youngs_modulus;
            let mut rod = OneRod::new(&spec, &[], weightless(substeps));
            // So fast that what spins stretches by half, ρω²L²/8E, and no faster: else it is laid anew.
            let fastest = (4.0 * youngs_modulus / 1000.0_f64).sqrt().min(60.0) / 3.0_f64.sqrt();
            let (drift, spin) =
                (random.vector(-10.0, 10.0), random.vector(-1.0, 1.0) * random.log_uniform(0.3 * fastest, fastest));
            let wild = random.log_uniform(1.0e-3, 3.0);
            with_motion(&mut rod, |node| (drift + spin.cross(node.place) + random.vector(-wild, wild), spin));
            let of_drift = |rod: &OneRod| 0.5 * momentum(rod).length_squared() / masses(rod).iter().sum::<f64>();
            let (start, had) = (angular_momentum(&rod).length(), energy(&rod) - of_drift(&rod));
            for second in 1..=10 {
                for frame in 0..60 {
                    if frame % 7 == 0 {
                        let push =
                            Motion { velocity: random.vector(-1.0, 1.0), spin: DVec3::ZERO, centre: DVec3::ZERO };
                        rod.physics.add_velocity(rod.handle, push).expect("is there");
                    }
                    rod.run(FRAME * random.uniform(0.3, 2.0), 1);
                }
                let swings = (spin.length() * 2.0 * FRAME / f64::from(substeps)).powi(2) / 4.0;
                let energy = (energy(&rod) - of_drift(&rod)) / had - swings.min(0.01);
                let grown = [angular_momentum(&rod).length() / start, energy];
                worst = std::array::from_fn(|k| f64::max(worst[k], grown[k]));
                assert!(
                    rod.is_sound() && grown.iter().all(|grown| grown.is_finite()),
                    "{substeps}, {youngs_modulus}: {second} s"
                );
            }
        }
    }
    println!(
        "angular momentum ×{:.5}, energy but for swings ×{:.5} of the start's at the most (bar 1.001 each)",
        worst[0], worst[1]
    );
    assert!(worst[0].max(worst[1]) <= 1.001);
}

/// A rod that whirls in a bow as a rigid body, at its first bending frequency: what implicit Euler takes of that does not come back as
/// more than the whirl had, by sections that spin about their axes, of next to no inertia.
#[test]
fn a_bow_that_whirls_makes_no_energy() {
    // Of a beam that is free at both ends (Euler–Bernoulli): cosh λ · cos λ = 1, ω = λ²√(EI/ρA)/L², and that root is 1 here.
    let (lambda, ratio): (f64, f64) = (4.730_041, 0.982_502);
    let shape = |x: f64| {
        let at = lambda * (x + 0.5);
        at.cosh() + at.cos() - ratio * (at.sinh() + at.sin())
    };
    for (tip, substeps, damping) in [(0.1, 4, 0.0), (0.1, 16, 0.0), (0.05, 4, 0.0), (0.1, 4, 1.0)] {
        let mut rod = OneRod::new(&free_rod(damping), &[], weightless(substeps));
        let omega = DVec3::X * lambda * lambda;
        let mut along = -0.5;
        for j in 0..rod.node_count() {
            let mut node = rod.node(j);
            let x = j as f64 / 20.0 - 0.5;
            let slope = tip / shape(0.5) * (shape(x + 1.0e-5) - shape(x - 1.0e-5)) / 2.0e-5;
            node.place = DVec3::new(along, tip * shape(x) / shape(0.5), 0.0);
            node.frame = (DQuat::from_rotation_z(slope.atan()) * node.frame.as_dquat()).as_quat();
            along += 0.05 / (1.0 + slope * slope).sqrt();
            rod.set_node(j, &node);
        }
        with_motion(&mut rod, |node| (omega.cross(node.place), omega));
        // What in the start is not of a rod that whirls is gone by then.
        rod.run(FRAME, 6);
        let (start, energy) = (angular_momentum(&rod), energy(&rod));
        let mut most = [0.0_f64; 2];
        for _ in 0..300 {
            rod.run(FRAME, 1);
            most[0] = most[0].max(angular_momentum(&rod).length() / start.length());
            most[1] = most[1].max(self::energy(&rod) / energy);
        }
        let left = [angular_momentum(&rod).length() / start.length(), self::energy(&rod) / energy];
        println!(
            "a bow of {tip} L that whirls, {substeps} substeps, damping {damping} 1/s: angular momentum and energy over the start's {most:.4?} at \
             the most (bar 1.01 each), {left:.4?} after 5 s"
        );
        assert!(rod.is_sound() && most[0].max(most[1]) <= 1.01);
    }
}

#[test]
fn second_order_keeps_spin() {
    let omega = 1.0;
    let config = StepConfig { integrator: Integrator::SecondOrder, ..weightless(4) };
    let mut rod = OneRod::new(&free_rod(0.0), &[], config);
    with_motion(&mut rod, |node| (DVec3::Z.cross(node.place) * omega, DVec3::Z * omega));
    let start = angular_momentum(&rod).z;
    let mut worst = 0.0_f64;
    for _ in 0..10 {
        rod.run(FRAME, 60);
        worst = worst.max((angular_momentum(&rod).z / start - 1.0).abs());
    }
    println!("second order: angular momentum within {:.4} % over 10 s (bar 0.5 %)", 100.0 * worst);
    assert!(rod.is_sound() && worst <= 0.5e-2);
}

/// Soft rods under gravity, hanging on one bone and between two.
fn hanging_rods() -> Vec<(RodSpec, Vec<Pose>)> {
    let soft = material(3.0e6, 0.45, 1000.0, 4.0);
    let mut one = RodSpec::straight("one bone", DVec3::ZERO, DVec3::X * 0.6, 12, 0.03);
    one.material = soft;
    let mut two = RodSpec::straight("two bones", DVec3::ZERO, DVec3::X * 0.6, 12, 0.02);
    two.material = material(3.0e5, 0.45, 1000.0, 4.0);
    vec![
        (one.attach(0, 0, Holds::CLAMP), vec![Pose::IDENTITY]),
        (two.attach(0, 0, Holds::CLAMP).attach(12, 1, Holds::CLAMP), vec![Pose::IDENTITY; 2]),
    ]
}

#[test]
fn uniform_motion_keeps_the_shape_at_rest() {
    let velocity = DVec3::new(8.0, 0.0, 6.0);
    for (spec, bones) in hanging_rods() {
        for substeps in [1, 4] {
            let config = StepConfig { substeps, ..Default::default() };
            let mut still = OneRod::new(&spec, &bones, config);
            let mut runner = OneRod::new(&spec, &bones, config);
            still.run(FRAME, 900);
            for frame in 1..=900 {
                let moved: Vec<Pose> = bones
                    .iter()
                    .map(|b| Pose::new(b.translation + velocity * (f64::from(frame) * FRAME), b.rotation))
                    .collect();
                runner.set_bones(&moved);
                runner.run(FRAME, 1);
            }
            let away = velocity * (900.0 * FRAME);
            let shape = still.nodes().iter().zip(runner.nodes()).fold(0.0_f64, |worst, (a, b)| {
                let scale = f64::from((a.scale - b.scale).abs());
                worst.max((a.place + away).distance(b.place) / 0.6).max(scale)
            });
            println!("{}, 10 m/s, {substeps} substeps: {shape:.1e} of L off the shape at rest (bar 1e-4)", spec.name);
            assert!(still.is_sound() && runner.is_sound() && shape <= 1.0e-4);
        }
    }
}

/// Damping acts on a free rod's motion within itself: it keeps its speed and its spin.
#[test]
fn damping_leaves_a_free_rods_rigid_motion() {
    let velocity = DVec3::new(8.0, 0.0, 6.0);
    let mut rod = OneRod::new(&free_rod(20.0), &[], weightless(4));
    with_motion(&mut rod, |node| (velocity + DVec3::Z.cross(node.place), DVec3::Z));
    let start = momentum(&rod);
    let spin = angular_momentum(&rod).z;
    rod.run(FRAME, 300);
    let drift = momentum(&rod).distance(start) / start.length();
    let kept = angular_momentum(&rod).z / spin;
    println!("free rod, damping 20 1/s, 5 s at 10 m/s: momentum drifts by {drift:.1e} (bar 1e-4), spin ×{kept:.4}");
    assert!(drift <= 1.0e-4);
    // Damping at 20 1/s would leave nothing. It takes 8 % a substep of what SLENDER counts as motion within, 4·SLENDER² of the spin: 0.9 %.
    assert!((0.99..=1.0).contains(&kept));
}

/// A rod that slides through two rings, and along nothing else, slows down by its damping alone: v = v₀e^{−ct}. Implicit
/// Euler has (1 + ch)⁻¹ a substep in place of e^{−ch}, off by (ch)²/2; the second order is off by (ch)³ times a number near
/// one.
#[test]
fn velocities_decay_by_the_damping() {
    const DAMPING: f64 = 2.0;
    for (integrator, order) in [(Integrator::ImplicitEuler, 1), (Integrator::SecondOrder, 2)] {
        let off = [4, 8].map(|substeps| {
            let rod = RodSpec::straight("slides", DVec3::ZERO, DVec3::X, 4, 0.02);
            let rod = RodSpec { material: material(1.0e7, 0.3, 1000.0, DAMPING), ..rod };
            let rod = rod.attach(0, 0, Holds::GUIDE).attach(4, 0, Holds::GUIDE);
            let config = StepConfig { integrator, ..weightless(substeps) };
            let mut rod = OneRod::new(&rod, &[Pose::IDENTITY], config);
            for (j, node) in rod.nodes().into_iter().enumerate() {
                rod.set_node(j, &NodeState { velocity: glam::Vec3::X, ..node });
            }
            let speed = |rod: &OneRod| momentum(rod).x / masses(rod).iter().sum::<f64>();
            rod.run(FRAME, 60);
            speed(&rod) * DAMPING.exp() - 1.0
        });
        let halved = off[0] / off[1];
        println!(
            "{integrator:?}: off by {:.4} % after 1 s, by {halved:.2} times as much as at twice the substeps",
            100.0 * off[0]
        );
        assert!(off[0].abs() <= [0.01, 2.0e-4][order - 1]);
        assert!(order == 2 || (halved - 2.0).abs() < 0.1, "first order");
    }
}
