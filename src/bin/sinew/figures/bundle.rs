//! Figures 9 and 10: cross-sections whose discs move together, with and without a scale.

use glam::{DQuat, DVec3};
use plotters::prelude::SeriesLabelPosition;
use sinew::flesh::{Contraction, Holds, NodeState, RestDisc, RestSection, RodSpec, Similarity};
use sinew::step::Integrator;
use sinew::{Material, Pose};

use super::plot::{Curve, Figure, Panel, Stroke};
use super::rod::{Rod, bones, silhouette, weightless};
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
    let turned = matched.rotation.to_scaled_axis().z;
    let scales = || (0..=60).map(|k| 0.8 + f64::from(k) / 60.0);
    let shown = |title: String, found: Similarity| Panel {
        title,
        x_label: "x (mm)".into(),
        y_label: "y (mm)".into(),
        equal: true,
        room: 0.2,
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
            "Seven discs were turned by 0.4 rad, swollen 1.45 times and disturbed by 2 mm each. (33)-(36) find {turned:.3} rad and \
             the scale {:.3}; the matched centres are {:.2} mm (root mean square) from the moved ones, with the scale held at 1 {:.2} mm.",
            matched.scale,
            off(matched),
            off(rigid)
        ),
        numbers: vec![
            ("turn", turned),
            ("scale", matched.scale),
            ("distance", 1.0e-3 * off(matched)),
            ("distance_with_scale_held", 1.0e-3 * off(rigid)),
            (
                "least_distance_with_other_scales",
                1.0e-3 * scales().map(|scale| off(with_scale(scale))).fold(f64::MAX, f64::min),
            ),
        ],
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
                    Curve::new("", 0, scales().map(|scale| (scale, off(with_scale(scale))))),
                    Curve::new("(35)", 1, [(matched.scale, off(matched))]).stroke(Stroke::Dots),
                    Curve::new("scale held at 1", 5, [(1.0, off(rigid))]).stroke(Stroke::Dots),
                ],
                ..Panel::default()
            },
        ],
    })
}

/// The muscle's radius (m).
const BELLY: f64 = 0.12;

/// Fibres that lie in the plane of the picture, and the outline.
fn muscle(nodes: &[NodeState], colour: usize) -> Vec<Curve> {
    let mut curves = silhouette(nodes, "", colour);
    for offset in [-0.6, -0.3, 0.0, 0.3, 0.6] {
        let at = |node: &NodeState| (node.place.x, node.place.y + offset * f64::from(node.radius));
        curves.push(Curve::new("", 5, nodes.iter().map(at)).stroke(Stroke::Dashed));
    }
    curves
}

/// An isometric contraction of the middle half, with the scale held and free.
pub fn figure_10() -> Result<Figure, Error> {
    const SEGMENTS: usize = 16;
    let material = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.49, peak_stress: 3.0e4, ..Material::default() };
    let contract = |rigid: bool, activation: f32| -> Result<Rod, Error> {
        let contractile = (0..SEGMENTS).map(|j| if (4..12).contains(&j) { 1.0 } else { 0.0 }).collect();
        let spec = RodSpec {
            material,
            rigid,
            contraction: Contraction { contractile, ..Contraction::default() },
            ..RodSpec::straight("muscle", DVec3::ZERO, DVec3::X, SEGMENTS, BELLY)
        };
        let spec = spec.attach(0, 0, Holds::CLAMP).attach(SEGMENTS, 1, Holds::CLAMP);
        let mut rod = Rod::new(&spec, &bones(1.0), weightless(4, Integrator::ImplicitEuler))?;
        rod.activate(activation)?;
        rod.step(1.0 / 60.0, 300)?;
        Ok(rod)
    };
    let (rest, rigid, free) = (contract(false, 0.0)?, contract(true, 1.0)?, contract(false, 1.0)?);
    let shown = |title: &str, rod: &Rod, colour: usize| -> Result<Panel, Error> {
        Ok(Panel {
            title: title.into(),
            x_label: "along the muscle (m)".into(),
            y_label: "across (m)".into(),
            equal: true,
            curves: muscle(&rod.nodes()?, colour),
            ..Panel::default()
        })
    };
    let volumes = |rod: &Rod, label: &str, colour: usize| -> Result<(Curve, f64), Error> {
        let off: Vec<f64> =
            rod.stretches()?.iter().map(|(stretch, scale)| 100.0 * (stretch * scale * scale - 1.0)).collect();
        let worst = off.iter().fold(0.0, |worst: f64, x| worst.max(x.abs()));
        let points = off.into_iter().enumerate().map(|(j, x)| ((j as f64 + 0.5) / SEGMENTS as f64, x));
        Ok((Curve::new(label, colour, points), worst))
    };
    let (rigid_volume, rigid_worst) = volumes(&rigid, "scale held at 1", 5)?;
    let (free_volume, free_worst) = volumes(&free, "scale free", 1)?;
    let belly = free.stretches()?[SEGMENTS / 2];
    let end = free.stretches()?[1];
    let held_belly = rigid.stretches()?[SEGMENTS / 2].0;
    let held = rigid.stretches()?.iter().map(|(_, scale)| (scale - 1.0).abs()).fold(0.0, f64::max);
    Ok(Figure {
        number: 10,
        title: "Isometric contraction of a muscle's middle half".into(),
        caption: format!(
            "Ends held, the middle half active with a stress of 0.3 E, ν = 0.49, {SEGMENTS} segments. With the scale free the \
             belly is {:.3} times as long and {:.3} times as thick (an independent minimisation: 0.856 and 1.079), the ends \
             {:.3} and {:.3} (1.148 and 0.935), and no section's volume is off by more than {free_worst:.2} %; with the scale held, \
             {rigid_worst:.1} %, because the belly then stays {held_belly:.3} times as long.",
            belly.0, belly.1, end.0, end.1
        ),
        numbers: vec![
            ("belly_stretch", belly.0),
            ("belly_scale", belly.1),
            ("end_stretch", end.0),
            ("end_scale", end.1),
            ("volume_error_scale_free", 0.01 * free_worst),
            ("volume_error_scale_held", 0.01 * rigid_worst),
            ("scale_error_scale_held", held),
            ("belly_stretch_scale_held", held_belly),
        ],
        panels: vec![
            shown("at rest", &rest, 0)?,
            shown("active, traditional: scale held at 1", &rigid, 5)?,
            shown("active, scale-invariant", &free, 1)?,
            Panel {
                title: "volume along the muscle".into(),
                x_label: "rest place along the muscle (m)".into(),
                y_label: "over its rest value, less 1 (%)".into(),
                room: 0.25,
                legend: Some(SeriesLabelPosition::UpperRight),
                curves: vec![rigid_volume.stroke(Stroke::Dashed), free_volume],
                ..Panel::default()
            },
        ],
    })
}
