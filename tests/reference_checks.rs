//! The reference answers checked against energies, balances and limits that they were not derived from.

mod reference;

use reference::*;

const TISSUE: Material = Material { youngs_modulus: 2.0e5, poissons_ratio: 0.3, density: 1060.0 };

fn inextensible() -> Stiffness {
    Stiffness { axial: f64::INFINITY, shear: f64::INFINITY, bending: 1.0, torsion: 1.0 }
}

/// A short, thick rod: its tip sinks measurably through stretch and shear.
fn thick() -> Stiffness {
    Stiffness { axial: 80.0, shear: 30.0, bending: 1.0, torsion: 1.0 }
}

/// Tip of a cantilever (L = 1) whose angles minimise the potential energy, for `n` straight elements.
///
/// With strain eliminated, the energy of an angle field is
/// ∫ ½EIθ′² − n·w − (n·w)²/2EA − (n·v)²/2GA, n = (0, −q(1 − s)): Newton's method on node angles, midpoint rule.
/// Second order in 1/n, so two sizes are extrapolated.
fn minimised_tip(stiffness: &Stiffness, weight: f64) -> [f64; 2] {
    let tip = |n: usize| {
        let h = 1.0 / n as f64;
        let mut angle = vec![0.0_f64; n + 1];
        for _ in 0..100 {
            let (mut gradient, mut diagonal, mut upper) =
                (vec![0.0_f64; n + 1], vec![0.0_f64; n + 1], vec![0.0_f64; n + 1]);
            for i in 0..n {
                let force = weight * (1.0 - (i as f64 + 0.5) * h);
                let (sin, cos) = (0.5 * (angle[i] + angle[i + 1])).sin_cos();
                // Potential f·sin θ − f²sin²θ/2EA − f²cos²θ/2GA of the middle angle θ.
                let difference = force * force * (1.0 / stiffness.shear - 1.0 / stiffness.axial);
                let first = h * (force * cos + difference * sin * cos);
                let second = h * (-force * sin + difference * (cos * cos - sin * sin));
                let bend = stiffness.bending / h;
                let moment = bend * (angle[i + 1] - angle[i]);
                gradient[i] += 0.5 * first - moment;
                gradient[i + 1] += 0.5 * first + moment;
                diagonal[i] += 0.25 * second + bend;
                diagonal[i + 1] += 0.25 * second + bend;
                upper[i] += 0.25 * second - bend;
            }
            // Thomas' algorithm over the free nodes 1..=n.
            let mut step = gradient.clone();
            for i in 2..=n {
                let ratio = upper[i - 1] / diagonal[i - 1];
                diagonal[i] -= ratio * upper[i - 1];
                step[i] -= ratio * step[i - 1];
            }
            step[n] /= diagonal[n];
            for i in (1..n).rev() {
                step[i] = (step[i] - upper[i] * step[i + 1]) / diagonal[i];
            }
            let largest = step[1..].iter().fold(0.0_f64, |m, d| m.max(d.abs()));
            let scale = (0.5 / largest).min(1.0);
            for i in 1..=n {
                angle[i] -= scale * step[i];
            }
            if largest < 1e-13 {
                break;
            }
        }
        let mut place = [0.0; 2];
        for i in 0..n {
            let force = weight * (1.0 - (i as f64 + 0.5) * h);
            let (sin, cos) = (0.5 * (angle[i] + angle[i + 1])).sin_cos();
            let (stretch, shear) = (1.0 - force * sin / stiffness.axial, -force * cos / stiffness.shear);
            place[0] += h * (stretch * cos - shear * sin);
            place[1] += h * (stretch * sin + shear * cos);
        }
        place
    };
    let (coarse, middle, fine) = (tip(250), tip(500), tip(1000));
    std::array::from_fn(|k| {
        let (low, high) = ((4.0 * middle[k] - coarse[k]) / 3.0, (4.0 * fine[k] - middle[k]) / 3.0);
        (16.0 * high - low) / 15.0
    })
}

#[test]
fn elastica_is_the_energy_minimum() {
    for weight_number in [0.1, 1.0, 5.0, 20.0, 60.0] {
        let (shot, minimised) = (elastica_tip(weight_number), minimised_tip(&inextensible(), weight_number));
        let error = (shot[0] - minimised[0]).hypot(shot[1] - minimised[1]);
        println!(
            "Γ = {weight_number}: tip ({:.10}, {:.10}), minimised energy differs by {error:.1e}",
            shot[0], shot[1]
        );
        assert!(error < 1e-10, "Γ = {weight_number}: {shot:?} against {minimised:?}");
    }
}

#[test]
fn thick_cantilever_is_the_energy_minimum() {
    for weight in [0.1, 1.0, 5.0, 12.0] {
        let (shot, minimised) = (cantilever_tip(&thick(), weight, 1.0), minimised_tip(&thick(), weight));
        let error = (shot.x - minimised[0]).hypot(shot.y - minimised[1]);
        println!("q = {weight}: tip ({:.10}, {:.10}), minimised energy differs by {error:.1e}", shot.x, shot.y);
        assert!(error < 1e-10, "q = {weight}: {shot:?} against {minimised:?}");
    }
}

/// The clamp's moment carries the whole weight at its centre: EIθ′(0) = −q∫x ds, whatever the material.
#[test]
fn clamp_moment_balances_the_weight() {
    let segments = 1920;
    let h = 1.0 / segments as f64;
    for (stiffness, weight) in [(inextensible(), 5.0), (inextensible(), 100.0), (thick(), 10.0)] {
        let points = cantilever(&stiffness, weight, 1.0, segments);
        assert!(points[0].angle.abs() < 1e-12 && points[0].x == 0.0 && points[0].y == 0.0);
        // Simpson's rule, and a one-sided difference of fourth order.
        let arm: f64 = points
            .iter()
            .enumerate()
            .map(|(i, p)| p.x * h / 3.0 * if i == 0 || i == segments { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 })
            .sum();
        let angle = |i: usize| points[i].angle;
        let curvature =
            (-25.0 * angle(0) + 48.0 * angle(1) - 36.0 * angle(2) + 16.0 * angle(3) - 3.0 * angle(4)) / (12.0 * h);
        let error = (stiffness.bending * curvature / (-weight * arm) - 1.0).abs();
        println!("q = {weight}: the clamp's moment differs from the weight's by {error:.1e}");
        assert!(error < 1e-7);
    }
}

#[test]
fn light_cantilever_sags_linearly() {
    let (radius, length) = (0.05, 0.4);
    let stiffness = TISSUE.stiffness(radius);
    let weight = TISSUE.weight_per_length(radius, 1e-4);
    let tip = cantilever_tip(&stiffness, weight, length);
    let linear = linear_sag(&stiffness, weight, length);
    assert!((-tip.y / linear - 1.0).abs() < 1e-6, "{} against {linear}", -tip.y);
    let bending_only = Stiffness { axial: f64::INFINITY, shear: f64::INFINITY, ..stiffness };
    let shear_part = linear - linear_sag(&bending_only, weight, length);
    assert!(shear_part > 0.02 * linear, "shear takes no visible part: the check says nothing");
}

#[test]
fn slender_rods_approach_the_elastica() {
    for number in [1.0, 5.0, 20.0] {
        let exact = elastica_tip(number);
        let errors = [0.02, 0.01, 0.005, 0.002].map(|radius| {
            let youngs_modulus = youngs_modulus_for(number, TISSUE.density, radius, 1.0, 9.81);
            let material = Material { youngs_modulus, ..TISSUE };
            assert!((weight_number(&material, radius, 1.0, 9.81) / number - 1.0).abs() < 1e-12);
            let tip = cantilever_tip(&material.stiffness(radius), material.weight_per_length(radius, 9.81), 1.0);
            let error = (tip.x - exact[0]).hypot(tip.y - exact[1]);
            println!("Γ = {number}, r/L = {radius}: {:.5} % of L from the elastica", 100.0 * error);
            error
        });
        let order = (errors[0] / errors[3]).log10();
        assert!((order - 2.0).abs() < 0.02, "Γ = {number}: order {order} in r/L instead of 2");
    }
}

#[test]
fn points_along_the_rod_do_not_depend_on_their_number() {
    let (few, many) = (cantilever(&thick(), 4.0, 2.0, 5), cantilever(&thick(), 4.0, 2.0, 40));
    for (i, point) in few.iter().enumerate() {
        assert_eq!(*point, many[8 * i]);
    }
}

#[test]
fn scale_minimises_the_energy() {
    for nu in [-0.5, -0.2, 0.0, 0.3, 0.45, 0.49, 0.499, 0.4999] {
        let moduli = StretchModuli::of(&Material { poissons_ratio: nu, ..TISSUE });
        for stretch in [0.5, 0.8, 1.0, 1.2, 1.5, 2.0] {
            let Some(scale) = moduli.scale_at(stretch) else {
                assert!(nu < 0.0, "no minimum at ν = {nu}, λ = {stretch}");
                continue;
            };
            let d = 1e-5;
            let energy = |delta: f64| moduli.energy(stretch, scale + delta);
            let slope = (energy(d) - energy(-d)) / (2.0 * d);
            let bend = (energy(d) - 2.0 * energy(0.0) + energy(-d)) / (d * d);
            assert!(bend > 0.0, "ν = {nu}, λ = {stretch}: s = {scale} is no minimum");
            assert!((slope / bend).abs() < 1e-8, "ν = {nu}, λ = {stretch}: s = {scale} is off by {}", slope / bend);
            // A scan finds no lower place between a tenth and thrice the size.
            if nu >= 0.0 {
                let least = (1..300).map(|i| moduli.energy(stretch, 0.01 * f64::from(i))).fold(f64::MAX, f64::min);
                assert!(energy(0.0) <= least);
            }
        }
    }
}

/// The total derivative of the minimal energy, by differences, against the envelope theorem's formula.
#[test]
fn stress_is_the_energy_derivative() {
    for nu in [0.0, 0.3, 0.49, 0.499] {
        let moduli = StretchModuli::of(&Material { poissons_ratio: nu, ..TISSUE });
        for stretch in [0.5, 0.9, 1.1, 2.0] {
            let d = 1e-5;
            let energy = |delta: f64| {
                let at = stretch + delta;
                moduli.energy(at, moduli.scale_at(at).expect("ν ≥ 0 always has a minimum"))
            };
            let difference = (energy(d) - energy(-d)) / (2.0 * d);
            let stress = moduli.stress_at(stretch).expect("ν ≥ 0 always has a minimum");
            assert!((stress / difference - 1.0).abs() < 1e-7, "ν = {nu}, λ = {stretch}: {stress} against {difference}");
        }
    }
}

/// Errata 2: to first order the moduli give E and ν back.
#[test]
fn small_strain_is_hooke() {
    for nu in [-0.4, 0.0, 0.3, 0.45, 0.499] {
        let material = Material { poissons_ratio: nu, ..TISSUE };
        let moduli = StretchModuli::of(&material);
        let strain = 1e-7;
        let scale = moduli.scale_at(1.0 + strain).expect("a minimum near rest");
        let stress = moduli.stress_at(1.0 + strain).expect("a minimum near rest");
        assert!(((scale - 1.0) / strain + nu).abs() < 1e-4, "ν = {nu} comes out as {}", (1.0 - scale) / strain);
        assert!((stress / (material.youngs_modulus * strain) - 1.0).abs() < 1e-4, "ν = {nu}");
    }
}

#[test]
fn incompressible_limit_keeps_the_volume() {
    let moduli = StretchModuli::of(&Material { poissons_ratio: 0.499_999, ..TISSUE });
    for stretch in [0.5, 1.5, 2.0_f64] {
        let scale = moduli.scale_at(stretch).expect("ν ≥ 0 always has a minimum");
        assert!((scale * scale * stretch - 1.0).abs() < 1e-5);
    }
}

/// Rayleigh's quotient with the clamped-free shape function by quadrature, and the number every table prints.
#[test]
fn cantilever_frequency_is_the_rayleigh_quotient() {
    let omega = cantilever_frequency(1.0, 1.0, 1.0);
    assert!((omega - 3.516_015).abs() < 1e-6);
    let beta = omega.sqrt();
    let ratio = (beta.cosh() + beta.cos()) / (beta.sinh() + beta.sin());
    let (mut bending, mut mass) = (0.0, 0.0);
    for i in 0..2000 {
        let z = beta * (f64::from(i) + 0.5) / 2000.0;
        let shape = z.cosh() - z.cos() - ratio * (z.sinh() - z.sin());
        let curvature = beta * beta * (z.cosh() + z.cos() - ratio * (z.sinh() + z.sin()));
        bending += curvature * curvature;
        mass += shape * shape;
    }
    assert!(((bending / mass).sqrt() / omega - 1.0).abs() < 1e-6);
    assert!((cantilever_frequency(4.0, 0.25, 2.0) / omega - 1.0).abs() < 1e-14, "√(EI/m)/L² = 1 again");
}

/// Rayleigh's quotient of the three-dimensional displacement (x, y)·cos(qz), integrated over the disc and a wave
/// with the strain energy μ·ε:ε of a material with ν = 0.
#[test]
fn scale_wave_is_the_rayleigh_quotient() {
    let (mu, density, radius) = (TISSUE.youngs_modulus / 2.0, TISSUE.density, 0.02);
    for qr in [0.0, 1.0, 2.0, 4.0] {
        let q = qr / radius;
        let (mut stiffness, mut mass) = (0.0, 0.0);
        for ring in 0..400 {
            let rho = radius * (f64::from(ring) + 0.5) / 400.0;
            for phase in 0..8 {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(phase) / 8.0 + 0.1).sin_cos();
                let (ring_strain, slope) = (if qr == 0.0 { 1.0 } else { cos }, q * sin);
                // ε_xx = ε_yy = cos(qz); ε_xz, ε_yz = −½(x, y)q·sin(qz), each twice in ε:ε.
                let strain_square = 2.0 * ring_strain * ring_strain + 2.0 * (0.5 * rho * slope).powi(2);
                stiffness += rho * mu * strain_square;
                mass += rho * 0.5 * density * (rho * ring_strain).powi(2);
            }
        }
        let (quotient, formula) = ((stiffness / mass).sqrt(), scale_wave_frequency(mu, density, radius, q));
        assert!((quotient / formula - 1.0).abs() < 1e-4, "qr = {qr}: {quotient} against {formula}");
    }
}

/// Torque from the shear stress μρφ/L over the disc.
#[test]
fn twist_torque_is_the_disc_integral() {
    let (radius, length, angle) = (0.01, 0.5, 0.3);
    let rings = 2000;
    let torque: f64 = (0..rings)
        .map(|i| {
            let width = radius / f64::from(rings);
            let rho = width * (f64::from(i) + 0.5);
            TISSUE.mu() * rho * angle / length * rho * std::f64::consts::TAU * rho * width
        })
        .sum();
    let formula = twist_torque(TISSUE.stiffness(radius).torsion, angle, length);
    assert!((torque / formula - 1.0).abs() < 1e-5);
}
