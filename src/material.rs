//! What rods are made of.

/// A material in the terms people know; the moduli of the energies follow from it by [`Material::moduli`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Young's modulus E (Pa), 1 to 10¹³.
    pub youngs_modulus: f64,
    /// Poisson's ratio ν, −0.5 to 0.4999; towards ½ a rod keeps its volume.
    pub poissons_ratio: f64,
    /// Density (kg/m³), 10⁻² to 10⁶.
    pub density: f64,
    /// Damping (1/s) of motion relative to the bones, or to a free rod's own rigid motion, 0 to 10⁶.
    pub damping: f64,
    /// Young's modulus (Pa) along the fibres that it has besides the isotropic rest, 0 to 10¹³: they resist by the path
    /// through the sections, whatever their tilt.
    pub fibre_modulus: f64,
    /// Active stress at full activation (Pa), 0 to 10¹³; skeletal muscle has about 3·10⁵.
    pub peak_stress: f64,
    /// Single moduli that replace the derived ones, 0 to 10¹⁷; of the volume, from minus a third of the axial and a sixth of the
    /// lateral one on.
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
            fibre_modulus: 0.0,
            peak_stress: 3.0e5,
            overrides: ModuliOverrides::default(),
        }
    }
}

impl Material {
    /// Skeletal muscle at rest.
    ///
    /// E 60 kPa: passive, at small strain, by shear-wave elastography and tension tests 10–60 kPa across the fibres and
    /// up to some 100 along them (Gennisson et al. 2010; Morrow et al. 2010; Van Loocke et al. 2006). Density 1060
    /// kg/m³ (Mendez and Keys 1960: 1.060 g/cm³). Nearly incompressible. Peak stress 0.3 MPa: specific tension of
    /// 0.25–0.35 MPa (Zajac 1989; Maganaris et al. 2001).
    pub fn muscle() -> Self {
        Self {
            youngs_modulus: 6.0e4,
            poissons_ratio: 0.49,
            density: 1060.0,
            damping: 8.0,
            fibre_modulus: 0.0,
            peak_stress: 3.0e5,
            overrides: ModuliOverrides::default(),
        }
    }

    /// Fat, which does not contract.
    ///
    /// E 3 kPa: adipose tissue at small strain has 1–5 kPa (Samani et al. 2007: 3.25 kPa; Comley and Fleck 2012: about
    /// 1 kPa). Density 920 kg/m³ (Fidanza et al. 1953: 0.90–0.92 g/cm³). Damping is chosen for looks: fat shakes for
    /// longer than muscle.
    pub fn fat() -> Self {
        Self { youngs_modulus: 3.0e3, density: 920.0, damping: 4.0, peak_stress: 0.0, ..Self::muscle() }
    }

    /// Tendon, which does not contract.
    ///
    /// E 1.2 GPa: 0.5–1.8 GPa (Maganaris and Paul 1999: 1.2 GPa of human tendon in vivo; Bennett et al. 1986: 1.5 GPa
    /// of mammals). Density 1120 kg/m³ (Ker 1981). Poisson's ratio 0.4 keeps
    /// its volume without stiffening the solve.
    pub fn tendon() -> Self {
        Self {
            youngs_modulus: 1.2e9,
            poissons_ratio: 0.4,
            density: 1120.0,
            damping: 8.0,
            fibre_modulus: 0.0,
            peak_stress: 0.0,
            ..Self::muscle()
        }
    }

    /// A material by the name of its preset: `muscle`, `fat` or `tendon`.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "muscle" => Some(Self::muscle()),
            "fat" => Some(Self::fat()),
            "tendon" => Some(Self::tendon()),
            _ => None,
        }
    }

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

    /// Second moment (m⁴) about the axis about which it bends most easily.
    pub fn weaker_moment(&self) -> f64 {
        let half = 0.5 * (self.second_moment_u - self.second_moment_v);
        0.5 * (self.second_moment_u + self.second_moment_v) - half.hypot(self.product_moment)
    }

    /// Radius of the disc with the same area (m).
    pub fn radius(&self) -> f64 {
        (self.area / std::f64::consts::PI).sqrt()
    }
}
