//! Radii whose rods have the mesh's volume.

use glam::DVec3;
use std::f64::consts::PI;

/// Weight of the sections' own areas beside the volumes between them.
const OWN_AREA: f64 = 0.1;
/// Gauss–Newton steps.
const STEPS: usize = 12;

/// Volume of a truncated cone (m³).
pub(super) fn truncated_cone(length: f64, start: f64, end: f64) -> f64 {
    PI / 3.0 * length * (start * start + start * end + end * end)
}

/// What a muscle's radii have to meet.
pub(super) struct Targets<'a> {
    /// Area of every section (m²).
    pub(super) areas: &'a [f64],
    /// Volume from every section to the next (m³).
    pub(super) volumes: &'a [f64],
    /// Volume of the whole muscle, ends included (m³).
    pub(super) total: f64,
}

/// One radius per section (m): least squares of the volumes between sections and the sections' areas, then scaled so
/// that all truncated cones together have the whole volume.
pub(super) fn fit(sections: &[Vec<DVec3>], targets: &Targets) -> Vec<f64> {
    let fibres = sections[0].len() as f64;
    let between = |pair: &[Vec<DVec3>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| a.distance(*b)).sum::<f64>();
    let lengths: Vec<f64> = sections.windows(2).map(between).collect();
    let own: Vec<f64> = targets.areas.iter().map(|area| (area / (PI * fibres)).sqrt()).collect();
    let mean_volume = targets.volumes.iter().sum::<f64>() / targets.volumes.len() as f64;
    let mean_radius = own.iter().sum::<f64>() / own.len() as f64;
    let mut radii = own.clone();
    for _ in 0..STEPS {
        // Tridiagonal normal equations.
        let mut diagonal = vec![OWN_AREA / (mean_radius * mean_radius); own.len()];
        let mut beside = vec![0.0; own.len()];
        let mut right: Vec<f64> = own.iter().zip(&radii).zip(&diagonal).map(|((own, r), d)| d * (own - r)).collect();
        for (index, (&length, &volume)) in lengths.iter().zip(targets.volumes).enumerate() {
            let (start, end) = (radii[index], radii[index + 1]);
            let error = (volume - truncated_cone(length, start, end)) / mean_volume;
            let slope = PI / 3.0 * length / mean_volume;
            let (to_start, to_end) = (slope * (2.0 * start + end), slope * (start + 2.0 * end));
            diagonal[index] += to_start * to_start;
            diagonal[index + 1] += to_end * to_end;
            beside[index] += to_start * to_end;
            right[index] += to_start * error;
            right[index + 1] += to_end * error;
        }
        for index in 1..own.len() {
            let factor = beside[index - 1] / diagonal[index - 1];
            diagonal[index] -= factor * beside[index - 1];
            right[index] -= factor * right[index - 1];
        }
        let mut after = 0.0;
        for index in (0..own.len()).rev() {
            after = (right[index] - beside[index] * after) / diagonal[index];
            radii[index] = (radii[index] + after).max(0.25 * own[index]);
        }
    }
    let cones = |(index, length): (usize, &f64)| truncated_cone(*length, radii[index], radii[index + 1]);
    let volume: f64 = lengths.iter().enumerate().map(cones).sum();
    let scale = (targets.total / volume).sqrt();
    radii.iter().map(|radius| scale * radius).collect()
}
