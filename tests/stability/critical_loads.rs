//! Loads at which rods leave an equilibrium, of inextensible and unshearable rods (Kirchhoff), in f64.
//!
//! Lengths are over the rod's length L; moments are over one of its bending stiffnesses and L.

use std::f64::consts::{FRAC_PI_2, TAU};

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
/// middle, coefficients may be taken real for 1, ix, e^{iax}, e^{ibx}, and w = w′ = 0 at x = ½ comes to c(a)p(b) = c(b)p(a)
/// with p(x) = sin(x/2)/x and c(x) = (p(x) − ½cos(x/2))/x; without tension b = 0, c(b) = 0: tan(a/2) = a/2.
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

/// A rod clamped at one end, in balance under its own weight in a vertical plane, in which it may be curved at rest.
///
/// θ is the angle of its tangent from straight down and κ = θ′. Where B is the bending stiffness in the plane, f = Γ(1 − s)
/// what hangs below and M = B(κ − κ̄), the balance is M′ = f sin θ, M(1) = 0.
///
/// Across the plane let the frame turn by a about the normal in the plane and by c about the tangent. With A the bending
/// stiffness across and C the torsional one, the moments m = A(a′ + κc) and n = C(c′ − κa) have the linear balance
///
///   m′ = (M/C − κ)n + f(a cos θ + c sin θ),   n′ = (κ − M/A)m,   a(0) = c(0) = m(1) = n(1) = 0,
///
/// Euler's equations of the second variation. The planar balance is at a threshold where it has a solution. It is shot from
/// the free end: two solutions, with (a, c) = (1, 0) and (0, 1) there, and the determinant of their (a, c) at the clamp.
#[derive(Clone, Copy)]
pub struct HeavyRod {
    /// θ(0) (rad): 0 hangs, π/2 lies.
    pub clamp_angle: f64,
    /// κ̄L (rad).
    pub rest_turn: f64,
    /// B over the unit of Γ.
    pub in_plane: f64,
    /// A over the unit of Γ.
    pub across: f64,
    /// C over the unit of Γ.
    pub torsion: f64,
}

/// Runge–Kutta steps along the rod.
const STEPS: usize = 480;

/// θ, κ, x, y, and (a, c, m, n) twice.
type Shot = [f64; 12];

impl HeavyRod {
    /// A strap that lies on edge: lateral buckling. Γ = qL³/EI of the weaker bending stiffness; `ratio` is the stronger one
    /// over the weaker one, `torsion` GJ over the weaker one.
    pub fn strap(ratio: f64, torsion: f64) -> Self {
        Self { clamp_angle: FRAC_PI_2, rest_turn: 0.0, in_plane: ratio, across: 1.0, torsion }
    }

    /// A round rod, curved at rest by `rest_turn` (rad), that hangs from a clamp straight down: the bend–twist test of
    /// Romero et al. 2021, the suspended curl of Miller et al. 2014. Γ = qL³/EI; `torsion` is GJ/EI.
    pub fn curl(rest_turn: f64, torsion: f64) -> Self {
        Self { clamp_angle: 0.0, rest_turn, in_plane: 1.0, across: 1.0, torsion }
    }

    fn slope(&self, weight: f64, s: f64, y: &Shot) -> Shot {
        let (sin, cos) = y[0].sin_cos();
        let (kappa, hanging) = (y[1], weight * (1.0 - s));
        let moment = self.in_plane * (kappa - self.rest_turn);
        let mut slope = [kappa, hanging * sin / self.in_plane, sin, -cos, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        for at in [4, 8] {
            let (a, c, m, n) = (y[at], y[at + 1], y[at + 2], y[at + 3]);
            slope[at] = m / self.across - kappa * c;
            slope[at + 1] = n / self.torsion + kappa * a;
            slope[at + 2] = (moment / self.torsion - kappa) * n + hanging * (a * cos + c * sin);
            slope[at + 3] = (kappa - moment / self.across) * m;
        }
        slope
    }

    /// From the free end to the clamp.
    fn shoot(&self, weight: f64, tip_angle: f64) -> Vec<Shot> {
        let h = -1.0 / STEPS as f64;
        let mut y: Shot = [tip_angle, self.rest_turn, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        let mut shots = vec![y];
        for step in 0..STEPS {
            let s = 1.0 + step as f64 * h;
            let add = |slope: &Shot, by: f64| -> Shot { std::array::from_fn(|k| y[k] + by * slope[k]) };
            let k1 = self.slope(weight, s, &y);
            let k2 = self.slope(weight, s + 0.5 * h, &add(&k1, 0.5 * h));
            let k3 = self.slope(weight, s + 0.5 * h, &add(&k2, 0.5 * h));
            let k4 = self.slope(weight, s + h, &add(&k3, h));
            y = std::array::from_fn(|k| y[k] + h / 6.0 * (k1[k] + 2.0 * (k2[k] + k3[k]) + k4[k]));
            shots.push(y);
        }
        shots
    }

    /// The balance under Γ that goes on from one whose tip has an angle near `tip_angle`, which becomes its own; from the
    /// free end to the clamp.
    fn balance(&self, weight: f64, tip_angle: &mut f64) -> Vec<Shot> {
        for _ in 0..50 {
            let miss = |angle: f64| self.shoot(weight, angle)[STEPS][0] - self.clamp_angle;
            let (at, step) = (miss(*tip_angle), 1.0e-6);
            let by = 2.0 * step * at / (miss(*tip_angle + step) - miss(*tip_angle - step));
            *tip_angle -= by;
            if by.abs() < 1.0e-11 {
                return self.shoot(weight, *tip_angle);
            }
        }
        panic!("no balance at Γ = {weight}");
    }

    /// All thresholds up to some Γ, in a rod that is loaded from nothing.
    pub fn thresholds(&self, most: f64) -> Vec<f64> {
        let mut tip_angle = self.clamp_angle + self.rest_turn;
        let determinant = |weight: f64| {
            let clamp = self.balance(weight, &mut tip_angle)[STEPS];
            clamp[4] * clamp[9] - clamp[5] * clamp[8]
        };
        sign_changes(determinant, 0.0, most, 100)
    }

    /// (x, y) and θ of `segments + 1` points under Γ, from the clamp at the origin; y is up.
    pub fn shape(&self, weight: f64, segments: usize) -> Vec<[f64; 3]> {
        assert!(STEPS.is_multiple_of(segments), "{segments} segments do not divide {STEPS}");
        let mut tip_angle = self.clamp_angle + self.rest_turn;
        let mut shots = Vec::new();
        for step in 1..=20 {
            shots = self.balance(weight * f64::from(step) / 20.0, &mut tip_angle);
        }
        let clamp = shots[STEPS];
        let point = |shot: &Shot| [shot[2] - clamp[2], shot[3] - clamp[3], shot[0]];
        shots.iter().rev().step_by(STEPS / segments).map(point).collect()
    }
}

#[test]
fn critical_loads_are_those_of_the_books() {
    let greenhill = [0.0, 20.0, 100.0].map(greenhill_moment);
    let prandtl = HeavyRod::strap(1.0e6, 1.0).thresholds(20.0);
    let curl = HeavyRod::curl(6.0, 1.0 / 1.3).thresholds(60.0);
    println!("Greenhill at TL²/EI = 0, 20, 100: {greenhill:.4?} (8.9868 without tension)");
    println!("lateral buckling {prandtl:.4?} (12.85), curl of 6 rad at ν = 0.3 {curl:.4?} (25.15 the upper)");
    assert!((greenhill[0] - 8.9868).abs() < 1.0e-4);
    assert!(prandtl.len() == 1 && (prandtl[0] - 12.85).abs() < 5.0e-3);
    assert!(curl.len() == 2 && (curl[0] - 13.93).abs() < 5.0e-3 && (curl[1] - 25.15).abs() < 5.0e-3);
}
