//! Figure 14: energies and residual over iterations, from a start far from the minimum.

use std::time::Instant;

use plotters::prelude::SeriesLabelPosition;

use super::Effort;
use super::figure_14::{Figure14, Progress, Solver, fastest_viper};
use super::plot::{Curve, Figure, Panel, Stroke};
use super::viper_2019::Sweep;
use crate::Error;

/// A solver's way to the minimum.
struct Way {
    name: &'static str,
    /// Iterations, time (µs) and where it stands.
    stands: Vec<Stand>,
    to_one_percent: usize,
    /// Time to 1 % (µs).
    time: f64,
}

/// The least of several runs' times (µs).
fn time(start: &mut Figure14, solver: Solver, iterations: usize) -> f64 {
    let once = |start: &mut Figure14| {
        start.restart();
        let begin = Instant::now();
        start.iterate(solver, iterations);
        begin.elapsed().as_secs_f64() * 1.0e6
    };
    (0..9).map(|_| once(start)).fold(f64::INFINITY, f64::min)
}

fn way(start: &mut Figure14, name: &'static str, solver: Solver, to_one_percent: usize, most: usize) -> Way {
    let time = time(start, solver, to_one_percent);
    start.restart();
    let mut stands = vec![(0, 0.0, start.progress())];
    let mut done = 0;
    while done < most {
        let next = (done + 1).max(done * 9 / 8).min(most);
        start.iterate(solver, next - done);
        done = next;
        stands.push((done, time * done as f64 / to_one_percent as f64, start.progress()));
    }
    Way { name, stands, to_one_percent, time }
}

/// After how many iterations and how long (s) it stood how.
type Stand = (usize, f64, Progress);

pub fn figure_14(effort: Effort) -> Result<Figure, Error> {
    let mut start = Figure14::new(20, 0.499)?;
    let unreached = "the minimisation does not get to 1 % of the initial residual";
    let own = start.iterations_to(Solver::BlockTridiagonal, 0.01, 50).ok_or(unreached)?;
    let most = effort.of(5000, 600);
    let mut ways = vec![way(&mut start, "this solver", Solver::BlockTridiagonal, own, 12)];
    for (name, sweep) in [("(28), Jacobi", Sweep::Jacobi), ("(28), Gauss-Seidel", Sweep::GaussSeidel)] {
        let (solver, iterations) = fastest_viper(&mut start, sweep).ok_or(unreached)?;
        ways.push(way(&mut start, name, solver, iterations, most));
    }
    let initial = ways[0].stands[0].2.residual;
    let panel = |title: &str, x_label: &str, y_label: &str, point: &dyn Fn(&Stand) -> (f64, f64)| {
        let curve = |(k, way): (usize, &Way)| {
            let points = way.stands.iter().map(point).filter(|p| p.0 > 0.0 && p.1 > 0.0);
            Curve::new(way.name, [1, 0, 2][k % 3], points).stroke(if k == 0 { Stroke::Solid } else { Stroke::Dashed })
        };
        Panel {
            title: title.into(),
            x_label: x_label.into(),
            y_label: y_label.into(),
            log: true,
            legend: Some(SeriesLabelPosition::UpperRight),
            curves: ways.iter().enumerate().map(curve).collect(),
            ..Panel::default()
        }
    };
    let last = |way: usize| ways[way].stands.last().map_or(f64::NAN, |stand| stand.2.residual / initial);
    let least = 1.0e-7;
    Ok(Figure {
        number: 14,
        title: "Convergence from a band at rest whose ends are at once twice as far apart".into(),
        caption: format!(
            "20 segments, ν = 0.499, one step of 1/60 s, eight bands side by side in f32. To 1 % of the initial residual: \
             {} block-tridiagonal solves, {:.0} µs; {} updates (28) in Jacobi's order with the best β, {:.0} µs, {:.0} times as \
             long; {} in Gauss and Seidel's order, {:.0} µs, {:.0} times.",
            ways[0].to_one_percent,
            ways[0].time,
            ways[1].to_one_percent,
            ways[1].time,
            ways[1].time / ways[0].time,
            ways[2].to_one_percent,
            ways[2].time,
            ways[2].time / ways[0].time
        ),
        numbers: vec![
            ("solves", ways[0].to_one_percent as f64),
            ("solve_time", 1.0e-6 * ways[0].time),
            ("jacobi_updates", ways[1].to_one_percent as f64),
            ("jacobi_ratio", ways[1].time / ways[0].time),
            ("gauss_seidel_updates", ways[2].to_one_percent as f64),
            ("gauss_seidel_ratio", ways[2].time / ways[0].time),
            ("last_residual", last(0)),
            ("jacobi_last_residual", last(1)),
            ("gauss_seidel_last_residual", last(2)),
        ],
        panels: vec![
            panel("strain energy", "iterations", "energy (J)", &|s| (s.0 as f64, s.2.strain)),
            panel("volume energy", "iterations", "energy (J)", &|s| (s.0 as f64, s.2.volume)),
            panel("residual", "iterations", "over the initial one (1)", &|s| {
                (s.0 as f64, (s.2.residual / initial).max(least))
            }),
            panel("residual over time", "time on one core (µs)", "over the initial one (1)", &|s| {
                (s.1, (s.2.residual / initial).max(least))
            }),
        ],
    })
}
