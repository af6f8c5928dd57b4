//! What `sinew inspect` says of a corrective network.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use sinew::Character;
use sinew::neural::{CorrectiveNetwork, ErrorRow, NetworkPart, Which};

#[derive(Serialize)]
pub struct NetworkLine {
    file: String,
    joints: Vec<String>,
    muscles: Vec<String>,
    vertices: usize,
    topology: String,
    rest_shape: String,
    precision: &'static str,
    passive: Option<PartLine>,
    active: Option<PartLine>,
    /// Of the pairs of component and block of vertices, which share is stored
    density: f64,
    /// Bytes of the basis
    bytes: usize,
    /// m, no vertex is moved farther
    reach: f64,
    /// m, less is left out of the basis
    threshold: f32,
    /// m, a vertex lacks at most for it
    dropped: f32,
    errors: Vec<ErrorRow>,
    /// Whether it fits the character; null without one
    fits: Option<bool>,
    differences: Vec<String>,
}

#[derive(Serialize)]
struct PartLine {
    inputs: usize,
    hidden: [usize; 2],
    components: usize,
}

impl NetworkLine {
    /// Of a network in a file, on a character.
    pub fn of(file: &Path, network: &CorrectiveNetwork, character: Option<&Character>) -> Self {
        let part = |which| {
            let NetworkPart { inputs, hidden, components, .. } = network.part(which)?;
            Some(PartLine { inputs, hidden, components })
        };
        let bound = character.map(|character| network.bind(character));
        let [topology, rest_shape] = network.mesh().digits();
        let [threshold, dropped] = network.threshold();
        Self {
            file: file.display().to_string(),
            joints: network.joints().to_vec(),
            muscles: network.muscles().to_vec(),
            vertices: network.vertex_count(),
            topology,
            rest_shape,
            precision: network.precision().name(),
            passive: part(Which::Passive),
            active: part(Which::Active),
            density: network.density(),
            bytes: network.basis_bytes(),
            reach: network.reach(),
            threshold,
            dropped,
            errors: network.errors().to_vec(),
            fits: bound.as_ref().map(Result::is_ok),
            differences: bound
                .and_then(Result::err)
                .map_or_else(Vec::new, |mismatch| mismatch.differences.iter().map(ToString::to_string).collect()),
        }
    }
}

/// The same for people.
pub fn network_text(network: &NetworkLine) -> Result<String, std::fmt::Error> {
    let NetworkLine { file, joints, muscles, vertices, precision, density, bytes, reach, threshold, dropped, .. } =
        network;
    let mut text = String::new();
    writeln!(
        text,
        "network {file}: {} joints, {} muscles, {vertices} vertices, basis {precision}, {:.2} MB, {:.0} % of it dense",
        joints.len(),
        muscles.len(),
        *bytes as f64 * 1.0e-6,
        density * 100.0
    )?;
    for (name, part) in [("passive", &network.passive), ("active", &network.active)] {
        if let Some(PartLine { inputs, hidden: [first, second], components }) = part {
            writeln!(text, "  {name}: {inputs} inputs, {first} and {second} hidden units, {components} components")?;
        }
    }
    writeln!(text, "  every vertex stays within {:.1} mm of its rest place", reach * 1.0e3)?;
    if *threshold > 0.0 {
        let [threshold, dropped] = [threshold, dropped].map(|length| length * 1.0e3);
        writeln!(
            text,
            "  left out: what moves by less than {threshold:.4} mm; a vertex lacks at most {dropped:.4} mm for it"
        )?;
    }
    for row in &network.errors {
        let ErrorRow { part, poses, count, rms, max, skinning_rms, .. } = row;
        let [rms, max, skinning] = [rms, max, skinning_rms].map(|length| length * 1.0e3);
        writeln!(
            text,
            "  {part}, {count} {poses} poses: off by {rms:.3} mm RMS, {max:.3} mm at most; without it {skinning:.3} mm RMS"
        )?;
        if let Some(removed) = row.removed() {
            writeln!(
                text,
                "    over {} vertices that move beyond skinning: {:.1} % removed",
                row.moving,
                100.0 * removed
            )?;
        }
    }
    match network.fits {
        Some(true) => writeln!(text, "  it fits")?,
        Some(false) => writeln!(text, "  it does not fit:")?,
        None => {}
    }
    for difference in &network.differences {
        writeln!(text, "    {difference}")?;
    }
    Ok(text)
}
