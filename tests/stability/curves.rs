//! Tension and volume of a segment that is pulled ever longer or pressed ever shorter, its scale free.

use glam::DVec3;
use sinew::cpu::fibres::Excitation;
use sinew::cpu::lanes::{Entry, OneF64};
use sinew::cpu::math::{Quaternion, V3};
use sinew::cpu::rod_energies::segment_terms;
use sinew::cpu::strains::{Reference, Section};
use sinew::flesh::{Flesh, RodSpec};
use sinew::layout::rest;

use crate::common::material;
use crate::plot;

const LANES: OneF64 = OneF64(0);
/// Stretches from 0.1 to 5, even in the logarithm.
const POINTS: usize = 400;

fn stretch(index: usize) -> f64 {
    0.1 * 50.0_f64.powf(index as f64 / (POINTS - 1) as f64)
}

struct Curve {
    /// Over EA.
    tension: Vec<f64>,
    /// Over the volume at rest.
    volume: Vec<f64>,
}

/// The curve of a segment of 10 cm, whose scale follows from the stretch nearest 1 outwards; `mean` is the muscle's.
fn curve(row: &[Entry<f64>], activation: f64, mean: f64) -> Curve {
    let length = 1.0 / row[rest::INV_LENGTH][0];
    let flesh_frame = glam::DQuat::from_rotation_arc(DVec3::Z, DVec3::X).to_array();
    let terms = |stretch: f64, scale: f64| {
        let section = |x: f64| Section { place: V3([x, 0.0, 0.0]), scale, frame: Quaternion(flesh_frame) };
        let excitation = Excitation { activation, mean_stretch: mean, prev_stretch: mean, inv_step: 240.0 };
        let terms = segment_terms(
            LANES,
            [section(0.0), section(stretch * length)],
            row,
            Reference::built(LANES, row),
            Some(&excitation),
            0.0,
        );
        (terms.gradient_b[0], terms.gradient_a[3] + terms.gradient_b[3])
    };
    let mut curve = Curve { tension: vec![0.0; POINTS], volume: vec![0.0; POINTS] };
    let middle = (0..POINTS).min_by(|&a, &b| stretch(a).ln().abs().total_cmp(&stretch(b).ln().abs())).unwrap_or(0);
    let sides: [Vec<usize>; 2] = [(0..=middle).rev().collect(), (middle..POINTS).collect()];
    for side in sides {
        let mut scale = 1.0;
        for index in side {
            let at = stretch(index);
            for _ in 0..200 {
                let step = 1.0e-6 * scale;
                let (force, slope) =
                    (terms(at, scale).1, (terms(at, scale + step).1 - terms(at, scale - step).1) / (2.0 * step));
                let by = (-force / slope.abs()).clamp(-0.05 * scale, 0.05 * scale);
                scale += by;
                if by.abs() < 1.0e-13 * scale {
                    break;
                }
            }
            curve.tension[index] = terms(at, scale).0;
            curve.volume[index] = scale * scale * at;
        }
    }
    curve
}

/// The largest fall of a curve from any point to a later one, within some stretches.
fn fall(values: &[f64], within: std::ops::RangeInclusive<f64>) -> f64 {
    let (mut most, mut fall) = (f64::MIN, 0.0_f64);
    for (_, &value) in values.iter().enumerate().filter(|&(index, _)| within.contains(&stretch(index))) {
        if value.is_nan() {
            return f64::INFINITY;
        }
        most = most.max(value);
        fall = fall.max(most - value);
    }
    fall
}

fn row(nu: f64, shortening: f64, optimal: Option<f64>) -> (Vec<Entry<f64>>, f64) {
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X * 0.1, 1, 0.01);
    rod.material = material(1.0e5, nu, 1000.0, 1.0);
    rod.material.peak_stress = 3.0e4;
    rod.contraction.shortening = shortening;
    rod.contraction.optimal_stretch = optimal;
    let flesh = Flesh::build(&[rod], &[]).expect("in range");
    (flesh.groups()[0].to_f64().row(0).to_vec(), 1.0e5 * std::f64::consts::PI * 1.0e-4)
}

/// Tension rises everywhere. Volume does, but for unshortened rods beyond a stretch of 4, where it falls by next to nothing:
/// with s ≈ Γ^-½ the lateral energy (12) leaves J − 1 = 2μ/λ·(√Γ − 1)/Γ, which is greatest at Γ = 4 and at 5 less by
/// 0.0028·2μ/λ, of which ν = 0.45 has most that shows, 3.4e-4.
#[test]
fn tension_rises_and_volume_does_not_fall_with_stretch() {
    let (mut by_tension, mut near, mut far) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut tensions, mut volumes) = (Vec::new(), Vec::new());
    for nu in [-0.5, -0.3, 0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.47, 0.49, 0.499, 0.4999] {
        let unshortened = [(0.0, 0.0), (1.0, 0.0), (10.0, 0.0)].into_iter();
        let by_tenths = (1..=9).flat_map(|tenths| [0.5, 1.0, 10.0].map(|a| (a, 0.1 * f64::from(tenths))));
        for (activation, shortening) in unshortened.chain(by_tenths) {
            for optimal in [None, Some(1.0)] {
                for mean in [0.5, 1.0, 1.8] {
                    if optimal.is_none() && mean != 1.0 {
                        continue;
                    }
                    let (row, stiffness) = row(nu, shortening, optimal);
                    let curve = curve(&row, activation, mean);
                    let tension = fall(&curve.tension, 0.1..=5.0) / stiffness;
                    let volume = [fall(&curve.volume, 0.1..=4.0), fall(&curve.volume, 0.1..=5.0)];
                    by_tension = by_tension.max(tension);
                    near = near.max(volume[usize::from(shortening > 0.0)]);
                    far = far.max(volume[1]);
                    if optimal.is_none() && (activation, shortening) == (0.0, 0.0) {
                        tensions.push((format!("ν = {nu}"), curve.tension.iter().map(|t| t / stiffness).collect()));
                        volumes.push((format!("ν = {nu}"), curve.volume));
                    }
                }
            }
        }
    }
    plot::lines(
        "tension_by_stretch",
        "tension over EA, stretch 0.1 to 5",
        "even in the stretch's logarithm",
        &tensions,
    );
    plot::lines(
        "volume_by_stretch",
        "volume over that at rest, stretch 0.1 to 5",
        "even in the stretch's logarithm",
        &volumes,
    );
    println!(
        "falls: tension {by_tension:.1e} EA (bar 1e-9), volume {near:.1e} (bar 1e-6), of unshortened rods from stretch 4 to 5 \
         {far:.1e} (bar 2e-3)"
    );
    assert!(by_tension <= 1.0e-9 && near <= 1.0e-6 && far <= 2.0e-3);
}
