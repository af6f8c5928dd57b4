//! What rods are made of.

/// A material in the terms people know; the moduli of the energies follow from it by [`Material::moduli`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus E (Pa), 10² to 10¹².
    pub youngs_modulus: f64,
    /// Poisson's ratio ν, −0.5 to 0.4999; towards ½ a rod keeps its volume.
    pub poissons_ratio: f64,
    /// Density (kg/m³), 1 to 2·10⁴.
    pub density: f64,
    /// Damping (1/s) of motion relative to the bones, or to a free rod's own rigid motion.
    pub damping: f64,
    /// Active stress at full activation (Pa); skeletal muscle has about 3·10⁵.
    pub peak_stress: f64,
    /// Single moduli that replace the derived ones.
    pub overrides: ModuliOverrides,
}

impl Default for Material {
    /// Soft tissue: 0.1 MPa, nearly incompressible.
    fn default() -> Self {
        Self {
            youngs_modulus: 1.0e5,
            poissons_ratio: 0.45,
            density: 1060.0,
            damping: 8.0,
            peak_stress: 3.0e5,
            overrides: ModuliOverrides::default(),
        }
    }
}

impl Material {
    /// The moduli of the energies (VIPER (11)–(20) with errata 2).
    pub fn moduli(&self) -> Moduli {
        let (e, nu) = (self.youngs_modulus, self.poissons_ratio);
        let mu = e / (2.0 * (1.0 + nu));
        let o = &self.overrides;
        Moduli {
            axial_modulus: o.axial_modulus.unwrap_or(2.0 * mu),
            shear_modulus: o.shear_modulus.unwrap_or(6.0 * (1.0 + nu) / (7.0 + 6.0 * nu) * mu),
            lateral_modulus: o.lateral_modulus.unwrap_or(4.0 * mu),
            volume_modulus: o.volume_modulus.unwrap_or(e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))),
            bending_modulus: o.bending_modulus.unwrap_or(e),
            torsion_modulus: o.torsion_modulus.unwrap_or(mu),
            volume_bending_modulus: o.volume_bending_modulus.unwrap_or(0.0),
            surface_bending: o.surface_bending.unwrap_or(0.0),
            smoothing: o.smoothing.unwrap_or(1.0),
        }
    }
}

/// The modulus of each energy term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moduli {
    /// Axial part of (11) (Pa): 2μ, so that with (12) and (18) a rod has EA and contracts by νε.
    pub axial_modulus: f64,
    /// Shear part of (11) (Pa): κμ, κ = 6(1+ν)/(7+6ν) for a disc.
    pub shear_modulus: f64,
    /// (12) (Pa): 4μ; half of it drives (13).
    pub lateral_modulus: f64,
    /// (18) (Pa): λ.
    pub volume_modulus: f64,
    /// Bending part of (14) (Pa): E.
    pub bending_modulus: f64,
    /// Torsion part of (14) (Pa): μ, on the section's torsion constant.
    pub torsion_modulus: f64,
    /// (19) and (20) (Pa): 0, because they lock bending (errata 12).
    pub volume_bending_modulus: f64,
    /// (15) (Pa·m²), on πr⁴/4 of the section: 0.
    pub surface_bending: f64,
    /// How strongly neighbouring scales are kept alike (errata 11): 1.
    pub smoothing: f64,
}

/// Moduli that replace the ones derived from the material; `None` derives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModuliOverrides {
    /// See [`Moduli::axial_modulus`].
    pub axial_modulus: Option<f64>,
    /// See [`Moduli::shear_modulus`].
    pub shear_modulus: Option<f64>,
    /// See [`Moduli::lateral_modulus`].
    pub lateral_modulus: Option<f64>,
    /// See [`Moduli::volume_modulus`].
    pub volume_modulus: Option<f64>,
    /// See [`Moduli::bending_modulus`].
    pub bending_modulus: Option<f64>,
    /// See [`Moduli::torsion_modulus`].
    pub torsion_modulus: Option<f64>,
    /// See [`Moduli::volume_bending_modulus`].
    pub volume_bending_modulus: Option<f64>,
    /// See [`Moduli::surface_bending`].
    pub surface_bending: Option<f64>,
    /// See [`Moduli::smoothing`].
    pub smoothing: Option<f64>,
}

/// A cross-section's properties about its centroid, in the axes u and v of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Area (m²).
    pub area: f64,
    /// ∬y² (m⁴): bending about u.
    pub second_moment_u: f64,
    /// ∬x² (m⁴): bending about v.
    pub second_moment_v: f64,
    /// −∬xy (m⁴).
    pub product_moment: f64,
    /// Torsion constant J (m⁴).
    pub torsion_constant: f64,
}

impl Section {
    /// A disc of a radius (m): πr², πr⁴/4, πr⁴/4, 0, πr⁴/2.
    pub fn disc(radius: f64) -> Self {
        let area = std::f64::consts::PI * radius * radius;
        let second_moment = area * radius * radius / 4.0;
        Self {
            area,
            second_moment_u: second_moment,
            second_moment_v: second_moment,
            product_moment: 0.0,
            torsion_constant: 2.0 * second_moment,
        }
    }

    /// Radius of the disc with the same area (m).
    pub fn radius(&self) -> f64 {
        (self.area / std::f64::consts::PI).sqrt()
    }
}
