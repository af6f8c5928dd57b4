//! Figures 5, 6, 13 and 15: one rod that is stretched, squeezed, struck.

use glam::DVec3;
use plotters::prelude::SeriesLabelPosition;
use sinew::Material;
use sinew::flesh::{Holds, RodSpec};
use sinew::scenes::SceneParameters;
use sinew::step::Integrator;

use super::Effort;
use super::plot::{Curve, Figure, Panel, Stroke};
use super::rod::{Rod, bones, silhouette, weightless};
use crate::Error;

const FRAME: f64 = 1.0 / 60.0;

/// A rod of 1 m whose ends are held in place, frame and, if asked, thickness.
fn held(segments: usize, radius: f64, material: Material, scale: bool) -> RodSpec {
    let holds = Holds { scale, ..Holds::CLAMP };
    let mut rod = RodSpec::straight("rod", DVec3::ZERO, DVec3::X, segments, radius)
        .attach(0, 0, holds)
        .attach(segments, 1, holds);
    rod.material = material;
    rod
}

/// A rod at rest after its ends were moved.
fn settled(material: Material, stretch: f64) -> Result<Rod, Error> {
    let mut rod = Rod::new(&held(16, 0.25, material, true), &bones(1.0), weightless(4, Integrator::ImplicitEuler))?;
    rod.set_bones(&bones(stretch))?;
    rod.step(FRAME, 240)?;
    Ok(rod)
}

/// Static: a rod that knows no volume, and one that keeps it.
pub fn figure_5(effort: Effort) -> Result<Figure, Error> {
    let keeping = Material { youngs_modulus: 1.0e5, poissons_ratio: 0.499, ..Material::default() };
    let standard = Material { poissons_ratio: 0.0, ..keeping };
    let mut standard_scale = 0.0_f64;
    let mut shapes = |title: &str, stretch: f64| -> Result<Panel, Error> {
        let plain = settled(standard, stretch)?;
        standard_scale = plain.stretches()?.iter().map(|s| (s.1 - 1.0).abs()).fold(standard_scale, f64::max);
        let mut curves = silhouette(&plain.nodes()?, "standard Cosserat rod", 5);
        curves.extend(silhouette(&settled(keeping, stretch)?.nodes()?, "volume-preserving rod", 1));
        Ok(Panel {
            title: title.into(),
            x_label: "along the rod (m)".into(),
            y_label: "across (m)".into(),
            equal: true,
            room: 0.4,
            legend: Some(SeriesLabelPosition::UpperMiddle),
            curves,
            ..Panel::default()
        })
    };
    let shapes = [shapes("stretched to 1.6", 1.6)?, shapes("compressed to 0.7", 0.7)?];
    let steps = effort.of(15, 4);
    let [mut found, mut off] = [Vec::new(), Vec::new()];
    let mut worst = 0.0_f64;
    for k in 0..=steps {
        let segments = settled(keeping, 0.7 + 1.3 * k as f64 / steps as f64)?.stretches()?;
        let (stretch, scale) = segments[segments.len() / 2];
        worst = worst.max((stretch * scale * scale - 1.0).abs());
        found.push((stretch, scale));
        off.push((stretch, 100.0 * (stretch * scale * scale - 1.0)));
    }
    let [least, most] = [found.first(), found.last()].map(|end| end.map_or(0.0, |p| p.0));
    let scale_error = found.iter().map(|p| (p.1 * p.0.sqrt() - 1.0).abs()).fold(0.0, f64::max);
    let [stretched, compressed] = shapes;
    let exact = (0..=100).map(|k| 0.65 + 1.45 * f64::from(k) / 100.0).map(|stretch| (stretch, stretch.powf(-0.5)));
    Ok(Figure {
        number: 5,
        title: "Static behaviour: a rod thins when stretched and bulges when compressed".into(),
        caption: format!(
            "A rod of 1 m, r = 25 cm, ends held in place and thickness, 16 segments, E = 100 kPa, ν = 0.499 (the standard rod: ν = 0), at rest \
             after 4 s. In the middle of the rod the volume is within {:.2} % of its rest value from stretch {least:.2} to {most:.2}, \
             and the scale within {:.2} % of stretch^(-1/2); the standard rod's scale stays within {:.4} % of 1.",
            100.0 * worst,
            100.0 * scale_error,
            100.0 * standard_scale
        ),
        numbers: vec![
            ("volume_error", worst),
            ("scale_error", scale_error),
            ("least_stretch", least),
            ("most_stretch", most),
            ("scale_error_of_standard_rod", standard_scale),
        ],
        panels: vec![
            stretched,
            compressed,
            Panel {
                title: "scale of the middle".into(),
                x_label: "stretch of the middle (1)".into(),
                y_label: "scale (1)".into(),
                legend: Some(SeriesLabelPosition::UpperRight),
                curves: vec![
                    Curve::new("constant volume, stretch^(-1/2)", 5, exact).stroke(Stroke::Dashed),
                    Curve::new("measured", 1, found).stroke(Stroke::Dots),
                ],
                ..Panel::default()
            },
            Panel {
                title: "volume of the middle".into(),
                x_label: "stretch of the middle (1)".into(),
                y_label: "over its rest value, less 1 (%)".into(),
                curves: vec![Curve::new("", 1, off)],
                ..Panel::default()
            },
        ],
    })
}

/// Dynamic: a bulge that runs along a rod whose length does not change.
pub fn figure_6(effort: Effort) -> Result<Figure, Error> {
    let segments = effort.of(100, 50);
    let (radius, width, squeeze) = (0.02, 0.08, 0.04);
    let material =
        Material { youngs_modulus: 1.0e5, poissons_ratio: 0.49, density: 1000.0, damping: 0.0, ..Material::default() };
    let mut rod =
        Rod::new(&held(segments, radius, material, false), &bones(1.0), weightless(1, Integrator::SecondOrder))?;
    // Squeezed about the middle, every other part stretched so that the ends stay; the volume is kept throughout.
    let squeezed = |x: f64| -squeeze * (-((x - 0.5) / width).powi(2)).exp();
    let mean = (0..1000).map(|k| squeezed((f64::from(k) + 0.5) / 1000.0)).sum::<f64>() / 1000.0;
    let moved = |x: f64| {
        let steps = (x * 2000.0).round() as u32;
        (0..steps).map(|k| squeezed((f64::from(k) + 0.5) / 2000.0) - mean).sum::<f64>() / 2000.0
    };
    for (index, mut node) in rod.nodes()?.into_iter().enumerate() {
        let x = rod.rest[index];
        node.place.x = x + moved(x);
        node.scale = (1.0 + squeezed(x) - mean).powf(-0.5) as f32;
        rod.set_node(index, &node)?;
    }
    let dt = 2.5e-4;
    let mut curves = Vec::new();
    let mut crest = Vec::new();
    for step in 0..=140_u32 {
        let nodes = rod.nodes()?;
        if step % 28 == 0 {
            let points = rod.rest.iter().zip(&nodes).map(|(&x, node)| (x, f64::from(node.scale)));
            curves.push(Curve::new(format!("{:.0} ms", f64::from(step) * dt * 1e3), step as usize / 28, points));
        }
        // The crest that runs to the right, between nodes by a parabola.
        if (56..=120).contains(&step) {
            let half = segments / 2;
            let scale = |k: usize| f64::from(nodes[k].scale);
            let top = (half + 1..segments).max_by(|&a, &b| scale(a).total_cmp(&scale(b))).unwrap_or(half + 1);
            let (before, at, after) = (scale(top - 1), scale(top), scale((top + 1).min(segments)));
            let bend = before - 2.0 * at + after;
            let shift = if bend < 0.0 { 0.5 * (before - after) / bend } else { 0.0 };
            crest.push((f64::from(step) * dt, (top as f64 + shift) / segments as f64));
        }
        rod.step(dt, 1)?;
    }
    let speed = slope(&crest);
    let bar = (material.youngs_modulus / material.density).sqrt();
    Ok(Figure {
        number: 6,
        title: "Dynamic behaviour: a volume wave in a rod of constant length".into(),
        caption: format!(
            "A rod of 1 m with held ends is let go squeezed by {:.0} % about its middle, {segments} segments, r = 2 cm, \
             E = 100 kPa, ν = 0.49, second order, dt = 0.25 ms. The bulge parts and runs at {speed:.2} m/s; long waves in an \
             elastic bar run at sqrt(E/ρ) = {bar:.2} m/s.",
            100.0 * squeeze
        ),
        numbers: vec![("speed", speed), ("bar_speed", bar)],
        panels: vec![
            Panel {
                title: "scale along the rod".into(),
                x_label: "rest place along the rod (m)".into(),
                y_label: "scale (1)".into(),
                legend: Some(SeriesLabelPosition::UpperRight),
                curves,
                ..Panel::default()
            },
            Panel {
                title: "where the right crest is".into(),
                x_label: "time (s)".into(),
                y_label: "rest place along the rod (m)".into(),
                legend: Some(SeriesLabelPosition::UpperLeft),
                curves: vec![
                    Curve::new("from the middle at sqrt(E/ρ)", 5, [0.0, 0.035].map(|time| (time, 0.5 + bar * time)))
                        .stroke(Stroke::Dashed),
                    Curve::new("measured", 1, crest.into_iter().step_by(4)).stroke(Stroke::Dots),
                ],
                ..Panel::default()
            },
        ],
    })
}

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len().max(1) as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let (over, under) = points
        .iter()
        .fold((0.0, 0.0), |(over, under), p| (over + (p.0 - x) * (p.1 - y), under + (p.0 - x) * (p.0 - x)));
    over / under
}

/// Volume and length of a band that is stretched to twice its length and back.
pub fn figure_13(effort: Effort) -> Result<Figure, Error> {
    let parameters = SceneParameters::of("band")?;
    let (length, radius) = (parameters.length, parameters.radius);
    let config = sinew::step::StepConfig { threads: 1, ..parameters.config };
    let mut rod = Rod::new(&held(parameters.segments, radius, parameters.material, false), &bones(length), config)?;
    let frames = effort.of(240, 60);
    let mut lengths = Vec::new();
    let [mut mean, mut most] = [Vec::new(), Vec::new()];
    for frame in 0..=frames {
        let time = 4.0 * frame as f64 / frames as f64;
        let pulled = (1.0 - (std::f64::consts::TAU * time / 4.0).cos()) * 0.5;
        rod.set_bones(&bones(length * (1.0 + pulled)))?;
        rod.step(4.0 / frames as f64, 1)?;
        let segments = rod.stretches()?;
        let error = |(stretch, scale): &(f64, f64)| 100.0 * (stretch * scale * scale - 1.0).abs();
        let count = segments.len() as f64;
        lengths.push((time, 100.0 * segments.iter().map(|s| (s.0 - 1.0).abs()).sum::<f64>() / count));
        mean.push((time, segments.iter().map(error).sum::<f64>() / count));
        most.push((time, segments.iter().map(error).fold(0.0, f64::max)));
    }
    let peak = |curve: &[(f64, f64)]| curve.iter().map(|p| p.1).fold(0.0, f64::max);
    Ok(Figure {
        number: 13,
        title: "Length and volume of a band stretched to twice its length and back".into(),
        caption: format!(
            "Scene `band` (20 segments, ν = 0.499), default steps. At most {:.0} % longer, its volume is off by at most \
             {:.2} % in the mean over segments and {:.2} % in any segment; ν = 0.499 itself asks for {:.2} % at twice the length.",
            peak(&lengths),
            peak(&mean),
            peak(&most),
            100.0 * volume_at_twice(&parameters.material)
        ),
        numbers: vec![
            ("elongation", 0.01 * peak(&lengths)),
            ("volume_error_mean", 0.01 * peak(&mean)),
            ("volume_error_max", 0.01 * peak(&most)),
            ("volume_error_of_material", volume_at_twice(&parameters.material)),
            ("elongation_at_the_end", 0.01 * lengths.last().map_or(0.0, |p| p.1)),
        ],
        panels: vec![
            Panel {
                title: "length".into(),
                x_label: "time (s)".into(),
                y_label: "mean error of length (%)".into(),
                curves: vec![Curve::new("", 0, lengths)],
                ..Panel::default()
            },
            Panel {
                title: "volume".into(),
                x_label: "time (s)".into(),
                y_label: "error of volume (%)".into(),
                legend: Some(SeriesLabelPosition::LowerMiddle),
                curves: vec![
                    Curve::new("largest", 1, most),
                    Curve::new("mean over segments", 0, mean).stroke(Stroke::Dashed),
                ],
                ..Panel::default()
            },
        ],
    })
}

/// How far from its rest volume a uniform rod is at rest at twice its length: 4μ(s − 1) + λ·2sΓ(s²Γ − 1) = 0, Γ = 2.
fn volume_at_twice(material: &Material) -> f64 {
    let moduli = material.moduli();
    let force = |s: f64| moduli.lateral_modulus * (s - 1.0) + moduli.volume_modulus * 4.0 * s * (2.0 * s * s - 1.0);
    let (mut low, mut high) = (0.5, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if force(middle) > 0.0 { high = middle } else { low = middle }
    }
    (2.0 * low * low - 1.0).abs()
}

/// The scale as an unknown with inertia, against a scale computed from the length after every step.
pub fn figure_15(effort: Effort) -> Result<Figure, Error> {
    let keeping =
        Material { youngs_modulus: 1.0e5, poissons_ratio: 0.49, density: 1000.0, damping: 0.5, ..Material::default() };
    // Without lateral contraction the rod is stretched with the same EA and its scale stays out of it.
    let standard = Material { poissons_ratio: 0.0, ..keeping };
    let segments = effort.of(40, 20);
    let dt = 1.0e-3;
    let watch = |material: Material, after: bool| -> Result<Vec<(f64, f64)>, Error> {
        let spec = held(segments, 0.1, material, false);
        let mut rod = Rod::new(&spec, &bones(1.0), weightless(1, Integrator::SecondOrder))?;
        // A pinch: the middle is held thin, then let go.
        for (index, mut node) in rod.nodes()?.into_iter().enumerate() {
            let thin = 1.0 - 0.35 * (-((rod.rest[index] - 0.5) / 0.12).powi(2)).exp();
            node.scale = if after { 1.0 } else { thin as f32 };
            rod.set_node(index, &node)?;
        }
        let mut scales = Vec::new();
        for step in 0..400 {
            let middle = rod.stretches()?[segments / 2];
            let scale = if after { middle.0.powf(-0.5) } else { middle.1 };
            scales.push((step as f64 * dt, scale));
            rod.step(dt, 1)?;
        }
        Ok(scales)
    };
    let (own, bergou) = (watch(keeping, false)?, watch(standard, true)?);
    let pulled = |material: Material, after: bool| -> Result<Vec<(f64, f64)>, Error> {
        let spec = held(segments, 0.1, material, false);
        let mut rod = Rod::new(&spec, &bones(1.0), weightless(1, Integrator::SecondOrder))?;
        let mut scales = Vec::new();
        for step in 0..400_u32 {
            let pulled = 0.5 - 0.5 * (std::f64::consts::PI * (f64::from(step) / 50.0).min(1.0)).cos();
            rod.set_bones(&bones(1.0 + 0.3 * pulled))?;
            let middle = rod.stretches()?[segments / 2];
            scales.push((f64::from(step) * dt, if after { middle.0.powf(-0.5) } else { middle.1 }));
            rod.step(dt, 1)?;
        }
        Ok(scales)
    };
    let (own_pulled, bergou_pulled) = (pulled(keeping, false)?, pulled(standard, true)?);
    let swing = |curve: &[(f64, f64)]| {
        let late = || curve.iter().filter(|p| p.0 > 0.02).map(|p| p.1);
        late().fold(f64::MIN, f64::max) - late().fold(f64::MAX, f64::min)
    };
    // The stretch that goes with the scale, over the last period of the longest wave, 2L / sqrt(E/ρ) = 0.2 s.
    let mean_stretch = |curve: &[(f64, f64)]| {
        let late: Vec<f64> = curve.iter().filter(|p| p.0 >= 0.2).map(|p| p.1.powi(-2)).collect();
        late.iter().sum::<f64>() / late.len() as f64
    };
    let panel = |title: &str, own: Vec<(f64, f64)>, bergou: Vec<(f64, f64)>| Panel {
        title: title.into(),
        x_label: "time (s)".into(),
        y_label: "scale of the middle (1)".into(),
        room: -0.3,
        legend: Some(SeriesLabelPosition::LowerRight),
        curves: vec![
            Curve::new("scale is an unknown", 1, own),
            Curve::new("computed after the step", 5, bergou).stroke(Stroke::Dashed),
        ],
        ..Panel::default()
    };
    Ok(Figure {
        number: 15,
        title: "Scale with dynamics of its own, against scale computed from the length".into(),
        caption: format!(
            "A rod of 1 m with held ends, r = 10 cm, {segments} segments, E = 100 kPa, ν = 0.49, second order, dt = 1 ms. Pinched \
             to 0.65 in the middle and let go, the scale swings through {:.3} after the first 20 ms where it is an unknown, \
             and through {:.3} where it follows from the length (as in Bergou et al. 2010), which a pinch leaves alone. \
             Pulled to 1.3 times its length in 50 ms: {:.3} and {:.3}.",
            swing(&own),
            swing(&bergou),
            swing(&own_pulled),
            swing(&bergou_pulled)
        ),
        numbers: vec![
            ("swing_pinched", swing(&own)),
            ("swing_pinched_computed", swing(&bergou)),
            ("swing_pulled", swing(&own_pulled)),
            ("swing_pulled_computed", swing(&bergou_pulled)),
            ("mean_stretch_pulled", mean_stretch(&own_pulled)),
            ("mean_stretch_pulled_computed", mean_stretch(&bergou_pulled)),
        ],
        panels: vec![
            panel("pinched in the middle and let go", own, bergou),
            panel("ends pulled to 1.3 in 50 ms", own_pulled, bergou_pulled),
        ],
    })
}
