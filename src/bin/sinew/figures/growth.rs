//! What a frame takes of a heap of ever more octopuses.

use std::time::Instant;

use plotters::prelude::SeriesLabelPosition;
use sinew::scenes::SceneParameters;
use sinew::{Backend, Physics};

use super::Effort;
use super::plot::{Curve, Figure, Panel, Stroke};
use crate::Error;

/// A frame of the game (s).
const FRAME: f64 = 1.0 / 60.0;
/// Frames that are timed together.
const WINDOW: usize = 15;

/// What a frame takes (ms) of a heap, while it falls and at worst.
struct Times {
    count: f64,
    fall: f64,
    worst: f64,
}

impl Times {
    /// Of octopuses that are dropped, over so many windows.
    fn of(mut physics: Physics, count: usize, windows: usize) -> Result<Self, Error> {
        let parameters = SceneParameters { rods: count, ..SceneParameters::of("octopuses")? };
        let scene = parameters.build("octopuses")?;
        physics.config = scene.config;
        scene.insert(&mut physics)?;
        // What is done once.
        physics.step_flesh(FRAME)?;
        physics.finish()?;
        let mut times = Vec::new();
        for _ in 0..windows {
            let begin = Instant::now();
            for _ in 0..WINDOW {
                physics.step_flesh(FRAME)?;
            }
            physics.finish()?;
            times.push(begin.elapsed().as_secs_f64() * 1.0e3 / WINDOW as f64);
        }
        Ok(Self { count: count as f64, fall: times[0], worst: times.into_iter().fold(0.0, f64::max) })
    }
}

/// The power of their number with which a time grows from the fewest to the most.
fn exponent(times: &[Times], of: fn(&Times) -> f64) -> f64 {
    let (first, last) = (&times[0], &times[times.len() - 1]);
    (of(last) / of(first)).ln() / (last.count / first.count).ln()
}

/// By how many octopuses there are, on the CPU and on a GPU if there is one.
pub fn growth(effort: Effort) -> Result<Figure, Error> {
    let counts: &[usize] = if effort.coarse { &[4, 8, 16] } else { &[100, 300, 1000, 3000] };
    let windows = effort.of(8, 2);
    let (mut curves, mut numbers, mut told) = (Vec::new(), Vec::new(), Vec::new());
    for (k, (backend, names)) in [
        (Backend::Cpu, ["exponent_falling", "exponent_at_worst"]),
        (Backend::Auto, ["exponent_falling_on_gpu", "exponent_at_worst_on_gpu"]),
    ]
    .into_iter()
    .enumerate()
    {
        let report = Physics::new(backend)?.backend_report();
        // `Auto` is the CPU where there is no GPU.
        if k == 1 && report.backend == "cpu" {
            continue;
        }
        let on = report.adapter.unwrap_or_else(|| "CPU".into());
        let times = counts
            .iter()
            .map(|&count| Times::of(Physics::new(backend)?, count, windows))
            .collect::<Result<Vec<_>, _>>()?;
        let least = &times[0];
        let points = |of: fn(&Times) -> f64| times.iter().map(move |times| (times.count, of(times)));
        curves.push(Curve::new(format!("{on}: at worst"), k, points(|times| times.worst)));
        curves.push(Curve::new(format!("{on}: falling"), k, points(|times| times.fall)).stroke(Stroke::Dashed));
        let straight = times.iter().map(|times| (times.count, least.worst * times.count / least.count));
        curves.push(Curve::new("", 5, straight).stroke(Stroke::Dots));
        let exponents = [exponent(&times, |times| times.fall), exponent(&times, |times| times.worst)];
        numbers.extend(names.into_iter().zip(exponents));
        told.push(format!(
            "{on}: with the power {:.2} of their number at worst, {:.2} while they fall; {:.2} and {:.2} ms for {} of them",
            exponents[1], exponents[0], least.worst, least.fall, least.count
        ));
    }
    Ok(Figure {
        number: 0,
        title: "What a frame takes of ever more octopuses".into(),
        caption: format!(
            "Dropped in a heap, {:.0} s, {WINDOW} frames timed together, all cores. {}. Dots: in proportion to their number.",
            (windows * WINDOW) as f64 * FRAME,
            told.join(". ")
        ),
        numbers,
        panels: vec![Panel {
            title: "a frame".into(),
            x_label: "octopuses".into(),
            y_label: "time (ms)".into(),
            log: true,
            legend: Some(SeriesLabelPosition::UpperLeft),
            curves,
            ..Panel::default()
        }],
    })
}
