//! Closed-form and boundary-value answers in f64 that the simulation is measured against.
//!
//! Shared by the test binaries as `mod reference;` and itself checked by `tests/reference_checks.rs`, mostly
//! against energies minimised by other means. SI units; x runs along the undeformed rod, gravity pulls along −y.
#![allow(dead_code)] // every test binary uses its own part

use std::f64::consts::PI;

/// What a round, homogeneous, isotropic rod is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus E (Pa).
    pub youngs_modulus: f64,
    /// Poisson's ratio ν, above −1 and below ½.
    pub poissons_ratio: f64,
    /// Mass per volume ρ (kg/m³).
    pub density: f64,
}

impl Material {
    /// Lamé's μ = E / 2(1 + ν), the shear modulus G (Pa).
    pub fn mu(&self) -> f64 {
        self.youngs_modulus / (2.0 * (1.0 + self.poissons_ratio))
    }

    /// Lamé's λ = Eν / ((1 + ν)(1 − 2ν)) (Pa).
    pub fn lambda(&self) -> f64 {
        let nu = self.poissons_ratio;
        self.youngs_modulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    }

    /// Shear coefficient of a disc, κ = 6(1 + ν) / (7 + 6ν): the part of GA that Timoshenko's rod has.
    pub fn shear_coefficient(&self) -> f64 {
        let nu = self.poissons_ratio;
        6.0 * (1.0 + nu) / (7.0 + 6.0 * nu)
    }

    /// Stiffnesses of a round rod of this radius (m), to first order: EA, κGA, EI, GJ.
    pub fn stiffness(&self, radius: f64) -> Stiffness {
        Stiffness {
            axial: self.youngs_modulus * disc_area(radius),
            shear: self.shear_coefficient() * self.mu() * disc_area(radius),
            bending: self.youngs_modulus * disc_second_moment(radius),
            torsion: self.mu() * 2.0 * disc_second_moment(radius),
        }
    }

    /// Weight per rest length ρAg (N/m) of a round rod of this radius (m) under `gravity` (m/s²).
    pub fn weight_per_length(&self, radius: f64, gravity: f64) -> f64 {
        self.density * disc_area(radius) * gravity
    }
}

/// Area of a disc, πr² (m²).
pub fn disc_area(radius: f64) -> f64 {
    PI * radius * radius
}

/// ∬x²dA over a disc, πr⁴/4 (m⁴); the torsion constant J is twice that.
pub fn disc_second_moment(radius: f64) -> f64 {
    PI * radius.powi(4) / 4.0
}

/// Γ = ρAgL³ / EI: how much a round cantilever's own weight bends it.
pub fn weight_number(material: &Material, radius: f64, length: f64, gravity: f64) -> f64 {
    material.weight_per_length(radius, gravity) * length.powi(3) / material.stiffness(radius).bending
}

/// The Young's modulus (Pa) that gives a round cantilever the weight number Γ: E = 4ρgL³ / Γr².
pub fn youngs_modulus_for(weight_number: f64, density: f64, radius: f64, length: f64, gravity: f64) -> f64 {
    4.0 * density * gravity * length.powi(3) / (weight_number * radius * radius)
}

/// Stiffnesses of a cross-section. An infinite axial or shear stiffness forbids that strain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stiffness {
    /// Against stretch: EA, or 2μA where the scale is held (N).
    pub axial: f64,
    /// Against shear: κGA (N).
    pub shear: f64,
    /// Against bending: EI (N·m²).
    pub bending: f64,
    /// Against twist: GJ (N·m²).
    pub torsion: f64,
}

/// A point of a deformed planar rod.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RodPoint {
    /// Along the undeformed rod (m).
    pub x: f64,
    /// Up (m).
    pub y: f64,
    /// Angle of the cross-section's normal to the x axis (rad), negative when it points down.
    pub angle: f64,
}

/// Tip (x, y) / L of a clamped, horizontal, inextensible and unshearable cantilever under its own weight, for
/// Γ = ρAgL³/EI between 0 and about 1000: the exact planar elastica, EIθ″ = ρAg(L − s) cos θ, θ(0) = θ′(L) = 0.
///
/// Solved by [`cantilever`], to about 1e-12.
pub fn elastica_tip(weight_number: f64) -> [f64; 2] {
    let stiffness = Stiffness { axial: f64::INFINITY, shear: f64::INFINITY, bending: 1.0, torsion: f64::INFINITY };
    let tip = cantilever_tip(&stiffness, weight_number, 1.0);
    [tip.x, tip.y]
}

/// The tip of [`cantilever`].
pub fn cantilever_tip(stiffness: &Stiffness, weight: f64, length: f64) -> RodPoint {
    cantilever(stiffness, weight, length, 1)[1]
}

/// Steps of the Runge–Kutta integration along the whole rod; its error falls with the fourth power.
const INTEGRATION_STEPS: usize = 3840;

/// Exact equilibrium of a clamped, horizontal, extensible and shearable cantilever (Timoshenko–Reissner) under a
/// dead load of `weight` per rest length (N/m), as `segments + 1` points at equal distances of the rest arc, clamp
/// first. `segments` divides 3840, as 5, 8, 10, 20, 40 do.
///
/// Reissner's geometrically exact rod in the plane. With w = (cos θ, sin θ) normal to the cross-section and
/// v = (−sin θ, cos θ) in it, the material strains are Rᵀc′ − e = (ε, γ) with c′ = (1 + ε)w + γv, and
/// N = EA·ε, Q = GA·γ, M = EI·θ′. The force that the part beyond s exerts is n(s) = (0, −q(L − s)), so
/// ε = −q(L − s) sin θ / EA, γ = −q(L − s) cos θ / GA, and the balance of moments M′ + c′ × n = 0 reads
///
///   EI·θ″ = q(L − s) [(1 + ε) cos θ − γ sin θ],   θ(0) = 0,   θ′(L) = 0.
///
/// Solved by shooting from the free end, t = 1 − s/L, with φ = θ + π/2 (the angle from hanging straight):
///
///   φ̈ = Γ t sin φ [1 + qLt cos φ (1/EA − 1/GA)],   φ̇(0) = 0,   φ(1) = π/2.
///
/// Without strain the linearisation v̈ = Γ t cos φ · v keeps v > 0 while φ ≤ π/2: φ(1) grows with φ(0), so the root
/// is unique in (0, π/2) and bisection in ln φ(0), with which φ(1) grows almost linearly when Γ is large, finds it.
/// The bracket needs qL small against GA; that is asserted.
pub fn cantilever(stiffness: &Stiffness, weight: f64, length: f64, segments: usize) -> Vec<RodPoint> {
    assert!(INTEGRATION_STEPS.is_multiple_of(segments), "{segments} segments do not divide {INTEGRATION_STEPS}");
    let total = weight * length;
    assert!(total < 0.5 * stiffness.shear && total < 0.5 * stiffness.axial, "the weight exceeds half a stiffness");
    let ode = CantileverOde {
        weight_number: total * length * length / stiffness.bending,
        stretch: total / stiffness.axial,
        shear: total / stiffness.shear,
    };
    let (mut low, mut high) = (1e-280_f64.ln(), (0.5 * PI).ln());
    for _ in 0..70 {
        let middle = 0.5 * (low + high);
        if ode.integrate(middle.exp(), |_, _| ()).angle > 0.5 * PI {
            high = middle;
        } else {
            low = middle;
        }
    }
    let every = INTEGRATION_STEPS / segments;
    let mut from_tip = Vec::with_capacity(segments + 1);
    ode.integrate((0.5 * (low + high)).exp(), |step, state| {
        if step % every == 0 {
            from_tip.push(*state);
        }
    });
    let clamp = from_tip[segments];
    from_tip
        .iter()
        .rev()
        .map(|state| RodPoint {
            x: (clamp.x - state.x) * length,
            y: (clamp.y - state.y) * length,
            angle: state.angle - 0.5 * PI,
        })
        .collect()
}

/// The dimensionless equation of [`cantilever`], run from the free end.
struct CantileverOde {
    /// Γ.
    weight_number: f64,
    /// qL / EA.
    stretch: f64,
    /// qL / GA.
    shear: f64,
}

/// φ, φ̇ and the vector from the point to the tip, with L = 1.
#[derive(Clone, Copy, Default)]
struct OdeState {
    angle: f64,
    rate: f64,
    x: f64,
    y: f64,
}

impl CantileverOde {
    fn derivative(&self, t: f64, state: &OdeState) -> OdeState {
        let (sin, cos) = state.angle.sin_cos();
        // θ = φ − π/2: cos θ = sin φ, sin θ = −cos φ.
        let epsilon = self.stretch * t * cos;
        let gamma = -self.shear * t * sin;
        let slope_x = (1.0 + epsilon) * sin + gamma * cos;
        let slope_y = -(1.0 + epsilon) * cos + gamma * sin;
        OdeState { angle: state.rate, rate: self.weight_number * t * slope_x, x: slope_x, y: slope_y }
    }

    /// Classical Runge–Kutta from the tip to the clamp; `visit` sees every step's state.
    fn integrate(&self, tip_angle: f64, mut visit: impl FnMut(usize, &OdeState)) -> OdeState {
        let h = 1.0 / INTEGRATION_STEPS as f64;
        let mut state = OdeState { angle: tip_angle, ..Default::default() };
        visit(0, &state);
        for step in 0..INTEGRATION_STEPS {
            let t = step as f64 * h;
            let k1 = self.derivative(t, &state);
            let k2 = self.derivative(t + 0.5 * h, &state.advanced(&k1, 0.5 * h));
            let k3 = self.derivative(t + 0.5 * h, &state.advanced(&k2, 0.5 * h));
            let k4 = self.derivative(t + h, &state.advanced(&k3, h));
            for (k, weight) in [(k1, 1.0), (k2, 2.0), (k3, 2.0), (k4, 1.0)] {
                state = state.advanced(&k, weight * h / 6.0);
            }
            visit(step + 1, &state);
        }
        state
    }
}

impl OdeState {
    fn advanced(&self, slope: &Self, h: f64) -> Self {
        Self {
            angle: self.angle + h * slope.angle,
            rate: self.rate + h * slope.rate,
            x: self.x + h * slope.x,
            y: self.y + h * slope.y,
        }
    }
}

/// The moduli of VIPER's energy for a straight rod that is stretched and scaled, (11), (12), (18) (Pa).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StretchModuli {
    /// k_z, of ½A·k_z(λ − 1)².
    pub axial: f64,
    /// k_x + k_y, of ½A(k_x + k_y)(s − 1)².
    pub lateral: f64,
    /// k_v, of ½A·k_v(s²λ − 1)².
    pub volume: f64,
}

impl StretchModuli {
    /// What a real material has (errata 2): k_z = 2μ, k_x + k_y = 4μ, k_v = λ.
    pub fn of(material: &Material) -> Self {
        Self { axial: 2.0 * material.mu(), lateral: 4.0 * material.mu(), volume: material.lambda() }
    }

    /// Energy per rest length and area (Pa) at axial stretch λ and scale s:
    /// ½[k_z(λ − 1)² + k_xy(s − 1)² + k_v(s²λ − 1)²].
    pub fn energy(&self, stretch: f64, scale: f64) -> f64 {
        0.5 * (self.axial * (stretch - 1.0).powi(2)
            + self.lateral * (scale - 1.0).powi(2)
            + self.volume * (scale * scale * stretch - 1.0).powi(2))
    }

    /// The scale that minimises [`Self::energy`] at axial stretch λ > 0; `None` where a negative k_v (ν < 0) leaves
    /// no minimum.
    ///
    /// ∂/∂s = k_xy(s − 1) + 2k_v λ s(s²λ − 1) = a·s³ + b·s − k_xy with a = 2k_v λ², b = k_xy − 2k_v λ. For k_v ≥ 0
    /// this is negative at 0 and convex, so it has one positive root; it lies between 1 and λ^−½, because both terms
    /// have one sign outside, and Newton's method started at the upper of the two falls onto it without crossing.
    /// For k_v < 0 it is concave, and the first of its two roots, to which Newton's method climbs from 0, is the
    /// minimum.
    pub fn scale_at(&self, stretch: f64) -> Option<f64> {
        let a = 2.0 * self.volume * stretch * stretch;
        let b = self.lateral - 2.0 * self.volume * stretch;
        let mut scale: f64 = if self.volume >= 0.0 { stretch.powf(-0.5).max(1.0) } else { 0.0 };
        for _ in 0..200 {
            let slope = 3.0 * a * scale * scale + b;
            if slope <= 0.0 {
                return None;
            }
            let next = scale - (a * scale.powi(3) + b * scale - self.lateral) / slope;
            if (next - scale).abs() <= 1e-15 * next.abs() {
                return Some(next);
            }
            scale = next;
        }
        // The last bits may flicker; a root that is not there does not settle at all.
        let residual = a * scale.powi(3) + b * scale - self.lateral;
        (residual.abs() <= 1e-12 * self.lateral.max(a.abs())).then_some(scale)
    }

    /// Axial force per rest area (Pa), the derivative of the minimal energy by λ. By the envelope theorem only the
    /// explicit λ counts: k_z(λ − 1) + k_v s²(s²λ − 1).
    pub fn stress_at(&self, stretch: f64) -> Option<f64> {
        let square = self.scale_at(stretch)?.powi(2);
        Some(self.axial * (stretch - 1.0) + self.volume * square * (square * stretch - 1.0))
    }
}

/// First angular frequency (rad/s) of an Euler–Bernoulli cantilever, β²√(EI / ρAL⁴), where β = 1.8751… is the first
/// root of cos β cosh β = −1 (β² = 3.516).
pub fn cantilever_frequency(bending: f64, mass_per_length: f64, length: f64) -> f64 {
    let mut beta: f64 = 1.875;
    for _ in 0..20 {
        let value = beta.cos() * beta.cosh() + 1.0;
        let slope = beta.cos() * beta.sinh() - beta.sin() * beta.cosh();
        beta -= value / slope;
    }
    beta * beta * (bending / mass_per_length).sqrt() / (length * length)
}

/// Angular frequency (rad/s) of a wave of the scale, s − 1 ∝ cos(qz − ωt), along a round rod at rest length with
/// ν = 0 and no smoothing (errata 10): ω² = (μ/ρ)(8/r² + q²).
///
/// Per length, with displacement (x, y)(s − 1): kinetic ½ρ(πr⁴/2)ṡ², lateral (12) ½·4μ·πr²(s − 1)², shear (13)
/// ½·2μ·(πr⁴/4)s′².
pub fn scale_wave_frequency(shear_modulus: f64, density: f64, radius: f64, wave_number: f64) -> f64 {
    (shear_modulus / density * (8.0 / (radius * radius) + wave_number * wave_number)).sqrt()
}

/// Torque (N·m) at the ends of a straight rod twisted by `angle` (rad) over its length (m): GJφ/L.
pub fn twist_torque(torsion: f64, angle: f64, length: f64) -> f64 {
    torsion * angle / length
}

/// How far (m) the tip of a barely bent cantilever sags under its weight q (N/m): qL⁴/8EI from bending and qL²/2GA
/// from shear, by integrating M = −q(L − s)²/2 and Q = −q(L − s) along the rod.
pub fn linear_sag(stiffness: &Stiffness, weight: f64, length: f64) -> f64 {
    weight * length.powi(4) / (8.0 * stiffness.bending) + weight * length.powi(2) / (2.0 * stiffness.shear)
}
