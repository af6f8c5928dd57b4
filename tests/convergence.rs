//! Figure 14's start: this crate's solve against VIPER's own update (28), same energy, same machine, same run.

#[path = "../src/bin/sinew/figures/figure_14.rs"]
mod figure_14;
#[path = "../src/bin/sinew/figures/viper_2019.rs"]
mod viper_2019;

use std::time::Instant;

use figure_14::{Figure14, Solver, fastest_viper};
use viper_2019::Sweep;

/// The paper's update takes ∇W for constant while multipliers grow, (82), and so ends a little beside the minimum.
#[test]
fn both_solvers_end_at_the_same_minimum() {
    for nu in [0.3, 0.45, 0.499] {
        let mut figure = Figure14::new(20, nu).unwrap();
        figure.iterate(Solver::BlockTridiagonal, 20);
        let (own, scales) = (figure.progress(), figure.scales());
        figure.restart();
        let start = figure.progress().residual;
        figure.iterate(Solver::Viper2019 { beta: 0.4, sweep: Sweep::Jacobi }, 20_000);
        let paper = figure.progress();
        let apart = figure.scales().iter().zip(&scales).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let energy = (paper.total / own.total - 1.0).abs();
        println!(
            "ν = {nu}: least energy {:.1} J and {:.1} J ({energy:.1e} apart, bar 1e-3), scales {apart:.1e} apart \
             (bar 1e-2), residuals {:.1e} and {:.1e} of the start's (bar 1e-3)",
            own.total,
            paper.total,
            own.residual / start,
            paper.residual / start
        );
        assert!(energy <= 1.0e-3 && apart <= 1.0e-2 && own.residual.max(paper.residual) <= 1.0e-3 * start);
    }
}

#[test]
fn solve_takes_a_tenth_of_the_papers_time_at_most() {
    let mut figure = Figure14::new(20, 0.499).unwrap();
    let own = figure.iterations_to(Solver::BlockTridiagonal, 0.01, 50).unwrap();
    let (paper, iterations) = fastest_viper(&mut figure, Sweep::Jacobi).unwrap();
    let mut time = |solver: Solver, iterations: usize, repetitions: usize| {
        let begin = Instant::now();
        for _ in 0..repetitions {
            figure.restart();
            figure.iterate(solver, iterations);
        }
        begin.elapsed().as_secs_f64() * 1.0e6 / repetitions as f64
    };
    let mut ratios = Vec::new();
    for _ in 0..15 {
        let (solve, update) = (time(Solver::BlockTridiagonal, own, 100), time(paper, iterations, 4));
        ratios.push((update / solve, solve, update));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (ratio, solve, update) = ratios[ratios.len() / 2];
    println!(
        "to 1 % of the initial residual, eight bands of 20 segments: {own} solves in {solve:.0} µs, {iterations} updates \
         (28) with {paper:?} in {update:.0} µs: {ratio:.0} times as long (bar 10)"
    );
    assert!(ratio >= 10.0);
}
