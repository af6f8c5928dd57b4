//! Loads at which rods leave an equilibrium, of inextensible and unshearable rods (Kirchhoff), in f64.
//!
//! Lengths are over the rod's length L; moments are over one of its bending stiffnesses and L.

use std::f64::consts::TAU;

/// Twist (rad) at which a rod, straight at rest, bent to a ring and closed, leaves its plane: 2π√3·EI/GJ (Michell 1889,
/// Zajac 1962), by GJ/EI.
///
/// Mode n of a ring under the twisting moment M has ML/EI = 2π√(n² − 1), and n = 1 is a rigid turn. A clamp at the seam
/// changes nothing: it takes away rigid motions only, and with one of them any mode leaves the seam where it is.
pub fn ring_twist(torsion: f64) -> f64 {
    TAU * 3.0_f64.sqrt() / torsion
}

/// ML/EI at which a straight rod under twisting moment M and tension TL²/EI, clamped at both ends, leaves its line
/// (Greenhill 1883).
///
/// w = y + iz, the offset, has EIw⁗ − iMw‴ − Tw″ = 0, solved by 1, x, e^{iax} and e^{ibx} with a + b = M, ab = T. About the
/// middle, coefficients may be taken real for 1, ix, e^{iax}, e^{ibx}, and w = w′ = 0 at x = ½ comes to c(a)p(b) = c(b)p(a) with
/// p(x) = sin(x/2)/x and c(x) = (p(x) − ½cos(x/2))/x; without tension b = 0, c(b) = 0: tan(a/2) = a/2.
pub fn greenhill_moment(tension: f64) -> f64 {
    let p = |x: f64| if x == 0.0 { 0.5 } else { (0.5 * x).sin() / x };
    let c = |x: f64| if x == 0.0 { 0.0 } else { (p(x) - 0.5 * (0.5 * x).cos()) / x };
    let misfit = |moment: f64| {
        let (mean, half) = (0.5 * moment, (0.25 * moment * moment - tension).sqrt());
        let (a, b) = (mean + half, mean - half);
        c(a) * p(b) - c(b) * p(a)
    };
    // Where a = b it vanishes without a mode.
    let start = 2.0 * tension.sqrt() + 0.01;
    sign_changes(misfit, start, start + 20.0, 400)[0]
}

/// Where a function that goes on steadily changes its sign, by `steps` over a range.
fn sign_changes(mut f: impl FnMut(f64) -> f64, from: f64, to: f64, steps: usize) -> Vec<f64> {
    let mut last = (from, f(from));
    let mut found = Vec::new();
    for step in 1..=steps {
        let at = from + (to - from) * step as f64 / steps as f64;
        let value = f(at);
        if last.1 * value < 0.0 {
            let (mut low, mut high) = (last.0, at);
            while high - low > 1.0e-12 * to {
                let middle = 0.5 * (low + high);
                if f(middle) * last.1 > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            found.push(0.5 * (low + high));
        }
        last = (at, value);
    }
    found
}

#[test]
fn critical_loads_are_those_of_the_books() {
    let greenhill = [0.0, 20.0, 100.0].map(greenhill_moment);
    println!("Greenhill at TL²/EI = 0, 20, 100: {greenhill:.4?} (8.9868 without tension)");
    assert!((greenhill[0] - 8.9868).abs() < 1.0e-4);
}
