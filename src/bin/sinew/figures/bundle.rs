//! Figure 9: a cross-section's discs, matched with and without a scale.

use glam::{DQuat, DVec3};
use plotters::prelude::SeriesLabelPosition;
use sinew::Pose;
use sinew::flesh::{RestDisc, RestSection, Similarity};

use super::plot::{Curve, Figure, Panel, Stroke};
use crate::Error;

const RADIUS: f64 = 0.005;

/// Seven discs on a hexagon of 1 cm.
fn hexagon() -> Vec<RestDisc> {
    let on_ring = |k: u32| {
        let angle = std::f64::consts::TAU * f64::from(k) / 6.0;
        DVec3::new(angle.cos(), angle.sin(), 0.0) * 0.01
    };
    let places = std::iter::once(DVec3::ZERO).chain((0..6).map(on_ring));
    places.map(|place| RestDisc { pose: Pose::from_translation(place), radius: RADIUS }).collect()
}

/// Circles in mm.
fn discs<'a>(
    discs: impl Iterator<Item = Similarity> + 'a,
    label: &'a str,
    colour: usize,
    stroke: Stroke,
) -> impl Iterator<Item = Curve> + 'a {
    discs.enumerate().map(move |(index, disc)| {
        let rim = (0..=48).map(move |k| {
            let angle = std::f64::consts::TAU * f64::from(k) / 48.0;
            let at = disc.transform_point(DVec3::new(angle.cos(), angle.sin(), 0.0) * RADIUS) * 1.0e3;
            (at.x, at.y)
        });
        Curve::new(if index == 0 { label } else { "" }, colour, rim).stroke(stroke)
    })
}

pub fn figure_9() -> Result<Figure, Error> {
    let section = RestSection::new(hexagon())?;
    let turn = DQuat::from_rotation_z(0.4);
    let swollen = Similarity { translation: DVec3::new(0.004, 0.002, 0.0), rotation: turn, scale: 1.45 };
    // Off by up to 2 mm, each its own way.
    let moved: Vec<Similarity> = section
        .carried(swollen)
        .enumerate()
        .map(|(k, disc)| {
            let angle = 2.4 * k as f64;
            let off = DVec3::new(angle.cos(), angle.sin(), 0.0) * 0.002;
            Similarity {
                translation: disc.translation + off,
                rotation: DQuat::from_rotation_z(0.15 * angle.sin()) * disc.rotation,
                scale: disc.scale * (1.0 + 0.1 * angle.cos()),
            }
        })
        .collect();
    let matched = section.matched(&moved, DQuat::IDENTITY)?;
    let centroid = matched.transform_point(section.centroid());
    let with_scale = |scale: f64| Similarity {
        translation: centroid - matched.rotation * section.centroid() * scale,
        rotation: matched.rotation,
        scale,
    };
    let off = |found: Similarity| {
        let square: f64 =
            section.carried(found).zip(&moved).map(|(a, b)| a.translation.distance_squared(b.translation)).sum();
        (square / moved.len() as f64).sqrt() * 1.0e3
    };
    let rigid = with_scale(1.0);
    let shown = |title: String, found: Similarity| Panel {
        title,
        x_label: "x (mm)".into(),
        y_label: "y (mm)".into(),
        equal: true,
        legend: Some(SeriesLabelPosition::UpperLeft),
        curves: discs(moved.iter().copied(), "moved", 5, Stroke::Dashed)
            .chain(discs(section.carried(found), "matched", 1, Stroke::Solid))
            .collect(),
        ..Panel::default()
    };
    let rest = section.carried(Similarity::IDENTITY);
    Ok(Figure {
        number: 9,
        title: "Scale-invariant shape matching of a cross-section's discs".into(),
        caption: format!(
            "Seven discs were turned by 0.4 rad, swollen 1.45 times and disturbed by 2 mm each. (33)-(36) find the scale {:.3}; \
             the matched centres are {:.2} mm (root mean square) from the moved ones, with the scale held at 1 {:.2} mm.",
            matched.scale,
            off(matched),
            off(rigid)
        ),
        panels: vec![
            Panel {
                title: "at rest".into(),
                x_label: "x (mm)".into(),
                y_label: "y (mm)".into(),
                equal: true,
                curves: discs(rest, "", 0, Stroke::Solid).collect(),
                ..Panel::default()
            },
            shown("traditional: scale held at 1".into(), rigid),
            shown("scale-invariant".into(), matched),
            Panel {
                title: "how far off with any other scale".into(),
                x_label: "scale (1)".into(),
                y_label: "distance of centres, rms (mm)".into(),
                legend: Some(SeriesLabelPosition::UpperRight),
                curves: vec![
                    Curve::new("", 0, (0..=60).map(|k| 0.8 + f64::from(k) / 60.0).map(|s| (s, off(with_scale(s))))),
                    Curve::new("(35)", 1, [(matched.scale, off(matched))]).stroke(Stroke::Dots),
                    Curve::new("scale held at 1", 5, [(1.0, off(rigid))]).stroke(Stroke::Dots),
                ],
                ..Panel::default()
            },
        ],
    })
}
