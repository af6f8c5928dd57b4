//! What of a rod's spec can be built.

use std::fmt::Display;

use super::attach::bones_along;
use super::spec::{BuildError, Carriers, RodSpec};
use crate::Material;
use crate::layout::MAX_BONES;

/// The most nodes of a rod.
pub const MAX_NODES: usize = 1024;
/// The shortest segment (m).
const LEAST_LENGTH: f64 = 1.0e-6;
/// The largest peak force (N).
pub const MOST_FORCE: f64 = 1.0e12;

/// Whether a rod is one that can be built.
///
/// # Errors
/// What is wrong first.
pub fn check(rod: &RodSpec, bone_count: usize) -> Result<(), BuildError> {
    let name = || rod.name.clone();
    let count = rod.nodes.len();
    if count < 2 {
        return Err(BuildError::TooFewNodes { rod: name(), count });
    }
    if count > MAX_NODES {
        return Err(BuildError::TooManyNodes { rod: name(), count, most: MAX_NODES });
    }
    check_material(rod, "material", &rod.material)?;
    for (field, count) in [
        ("segment_materials", rod.segment_materials.len()),
        ("contraction.contractile", rod.contraction.contractile.len()),
        ("contraction.shortens", rod.contraction.shortens.len()),
    ] {
        if !(count == 0 || count + 1 == rod.nodes.len()) {
            return Err(BuildError::SegmentCount { rod: name(), field, count, expected: rod.nodes.len() - 1 });
        }
    }
    for (segment, material) in rod.segment_materials.iter().enumerate() {
        check_material(rod, format_args!("segment_materials[{segment}]"), material)?;
    }
    for (j, node) in rod.nodes.iter().enumerate() {
        for value in node.place.to_array() {
            range(rod, format_args!("nodes[{j}].place"), value, -1.0e9, 1.0e9, "finite, within 10⁹ m")?;
        }
        let s = &node.section;
        let radius = s.radius();
        range(rod, format_args!("nodes[{j}].section.area"), s.area, 1.0e-12, 1.0e6, "between 10⁻¹² and 10⁶ m²")?;
        for (field, value) in [
            ("second_moment_u", s.second_moment_u),
            ("second_moment_v", s.second_moment_v),
            ("torsion_constant", s.torsion_constant),
        ] {
            // A section slimmer than this has no say in f32 beside its own area.
            let (low, high) = (1.0e-6 * s.area * radius * radius, 1.0e6 * s.area * radius * radius);
            range(rod, format_args!("nodes[{j}].section.{field}"), value, low, high, "within 10⁻⁶ to 10⁶ of area²/π")?;
        }
        let most = (s.second_moment_u * s.second_moment_v).sqrt() * 0.999;
        range(
            rod,
            format_args!("nodes[{j}].section.product_moment"),
            s.product_moment,
            -most,
            most,
            "smaller than the root of the two second moments' product",
        )?;
    }
    for (node, pair) in rod.nodes.windows(2).enumerate() {
        let length = pair[0].place.distance(pair[1].place);
        if length < LEAST_LENGTH {
            return Err(BuildError::ShortSegment { rod: name(), node, length, least: LEAST_LENGTH });
        }
    }
    for (j, triple) in rod.nodes.windows(3).enumerate() {
        let before = (triple[1].place - triple[0].place).normalize();
        let after = (triple[2].place - triple[1].place).normalize();
        if before.dot(after) < -0.87 {
            return Err(BuildError::Folded { rod: name(), node: j + 1 });
        }
    }
    for (attachment, held) in rod.attachments.iter().enumerate() {
        for (field, index, count) in [("node", held.node, count), ("bone", held.bone, bone_count)] {
            if index >= count {
                return Err(BuildError::NoSuch { rod: name(), attachment, field, index, count });
            }
        }
    }
    for (second, held) in rod.attachments.iter().enumerate() {
        if let Some(first) = rod.attachments[..second].iter().position(|other| other.node == held.node) {
            return Err(BuildError::HeldTwice { rod: name(), first, second, node: held.node });
        }
    }
    check_carriers(rod, bone_count)?;
    check_fibres(rod)
}

/// Whether a number is in a range, ends included; `expected` says the range.
fn range(
    rod: &RodSpec,
    field: impl Display,
    value: f64,
    low: f64,
    high: f64,
    expected: &'static str,
) -> Result<(), BuildError> {
    if value.is_finite() && value >= low && value <= high {
        Ok(())
    } else {
        Err(BuildError::OutOfRange { rod: rod.name.clone(), field: field.to_string(), value, expected })
    }
}

fn check_material(rod: &RodSpec, field: impl Display, m: &Material) -> Result<(), BuildError> {
    range(rod, format_args!("{field}.youngs_modulus"), m.youngs_modulus, 1.0, 1.0e13, "between 1 and 10¹³ Pa")?;
    range(rod, format_args!("{field}.poissons_ratio"), m.poissons_ratio, -0.5, 0.4999, "between -0.5 and 0.4999")?;
    range(rod, format_args!("{field}.density"), m.density, 1.0e-2, 1.0e6, "between 10⁻² and 10⁶ kg/m³")?;
    range(rod, format_args!("{field}.damping"), m.damping, 0.0, 1.0e6, "between 0 and 10⁶ 1/s")?;
    range(rod, format_args!("{field}.peak_stress"), m.peak_stress, 0.0, 1.0e13, "between 0 and 10¹³ Pa")?;
    range(rod, format_args!("{field}.fibre_modulus"), m.fibre_modulus, 0.0, 1.0e13, "between 0 and 10¹³ Pa")?;
    let moduli = m.moduli();
    for (modulus, value) in [
        ("axial_modulus", moduli.axial_modulus),
        ("shear_modulus", moduli.shear_modulus),
        ("lateral_modulus", moduli.lateral_modulus),
        ("bending_modulus", moduli.bending_modulus),
        ("torsion_modulus", moduli.torsion_modulus),
        ("volume_bending_modulus", moduli.volume_bending_modulus),
        ("surface_bending", moduli.surface_bending),
        ("smoothing", moduli.smoothing),
    ] {
        range(rod, format_args!("{field}.overrides.{modulus}"), value, 0.0, 1.0e17, "between 0 and 10¹⁷")?;
    }
    range(
        rod,
        format_args!("{field}.overrides.volume_modulus"),
        moduli.volume_modulus,
        -(moduli.axial_modulus / 3.0).min(moduli.lateral_modulus / 6.0),
        1.0e17,
        "above minus a third of the axial and a sixth of the lateral modulus, and below 10¹⁷",
    )
}

fn check_carriers(rod: &RodSpec, bone_count: usize) -> Result<(), BuildError> {
    let name = || rod.name.clone();
    let Carriers { bones, nodes } = &rod.carriers;
    let named = !bones.is_empty();
    if named == nodes.is_empty() || named && nodes.len() != rod.nodes.len() {
        let expected = if named { rod.nodes.len() } else { 0 };
        return Err(BuildError::NodeCount { rod: name(), field: "carriers.nodes", count: nodes.len(), expected });
    }
    for (carrier, &bone) in bones.iter().enumerate() {
        if bone >= bone_count {
            return Err(BuildError::NoSuch {
                rod: name(),
                attachment: carrier,
                field: "bone",
                index: bone,
                count: bone_count,
            });
        }
    }
    let (along, slots) = bones_along(rod);
    if along.len() > MAX_BONES {
        return Err(BuildError::TooManyBones { rod: name(), count: along.len() });
    }
    if let Some((held, _)) = slots.iter().find(|(held, slot)| along.get(*slot) != Some(&held.bone)) {
        let attachment = rod.attachments.iter().position(|of| of == held).unwrap_or(0);
        return Err(BuildError::CarrierOrder { rod: name(), attachment, node: held.node });
    }
    let last = along.len().saturating_sub(1) as f64;
    for (node, &carrier) in nodes.iter().enumerate() {
        range(
            rod,
            format_args!("carriers.nodes[{node}]"),
            carrier,
            0.0,
            last,
            "between the first and the last of carriers.bones",
        )?;
    }
    Ok(())
}

fn check_fibres(rod: &RodSpec) -> Result<(), BuildError> {
    let expected = rod.nodes.len();
    for (k, fibre) in rod.fibres.iter().enumerate() {
        if fibre.len() != expected {
            return Err(BuildError::Ragged { rod: rod.name.clone(), fibre: k, count: fibre.len(), expected });
        }
        for (j, disc) in fibre.iter().enumerate() {
            range(rod, format_args!("fibres[{k}][{j}].radius"), disc.radius, 1.0e-7, 1.0e3, "between 10⁻⁷ and 10³ m")?;
            let away = disc.offset.length();
            range(rod, format_args!("fibres[{k}][{j}].offset"), away, 0.0, 1.0e3, "finite, within 10³ m of its node")?;
        }
    }
    range(rod, "fascia", rod.fascia, 0.0, 1.0e6, "between 0 and 10⁶ m/s²")?;
    let c = &rod.contraction;
    for (field, shares) in [("contractile", &c.contractile), ("shortens", &c.shortens)] {
        for (j, &share) in shares.iter().enumerate() {
            range(rod, format_args!("contraction.{field}[{j}]"), share, 0.0, 1.0, "between 0 and 1")?;
        }
    }
    range(rod, "contraction.peak_force", c.peak_force.unwrap_or(0.0), 0.0, MOST_FORCE, "between 0 and 10¹² N")?;
    let optimal = c.optimal_stretch.unwrap_or(1.0);
    range(rod, "contraction.optimal_stretch", optimal, 0.1, 10.0, "between 0.1 and 10")?;
    range(rod, "contraction.passive", c.passive, 0.0, 100.0, "between 0 and 100")?;
    let velocity = c.max_velocity.unwrap_or(1.0);
    range(rod, "contraction.max_velocity", velocity, 1.0e-3, 1.0e3, "between 10⁻³ and 10³ rest lengths/s")?;
    range(rod, "contraction.shortening", c.shortening, 0.0, 0.9, "between 0 and 0.9")?;
    range(rod, "contraction.activation_time", c.activation_time, 0.0, 100.0, "between 0 and 100 s")?;
    range(rod, "contraction.deactivation_time", c.deactivation_time, 0.0, 100.0, "between 0 and 100 s")?;
    range(rod, "rest_gravity", rod.rest_gravity.length(), 0.0, 1.0e4, "finite, below 10⁴ m/s²")
}
