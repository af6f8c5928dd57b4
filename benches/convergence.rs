//! Figure 14's start: this crate's block-tridiagonal solve against VIPER's own update (28), wall time to 1 % of the
//! initial residual, one core, in the same run. Both minimise the same energy of eight bands in the eight lanes of one
//! group with the same instructions.
//!
//! A harness of its own, like that of `cantilevers`: contenders take turns within one run.
//!
//! ```text
//! cargo bench --no-default-features --bench convergence -- [--rounds N] [--check]
//! ```
//!
//! With `--check` a missed bar ends it with 1.

mod arguments;
mod bars;

#[path = "../src/bin/sinew/figures/figure_14.rs"]
mod figure_14;
#[path = "../src/bin/sinew/figures/viper_2019.rs"]
mod viper_2019;

use std::time::{Duration, Instant};

use bars::Bars;
use figure_14::{Figure14, Solver, fastest_viper};
use viper_2019::Sweep;

/// How many times as long the paper's update has to take at least.
const BAR: f64 = 10.0;
/// A window is as many repetitions as take about this long, so that the clock's grain does not show.
const WINDOW: Duration = Duration::from_millis(40);

/// A solver that goes to 1 % again and again.
struct Contender {
    name: String,
    solver: Solver,
    iterations: usize,
    repetitions: usize,
    windows: Vec<f64>,
}

impl Contender {
    fn new(figure: &mut Figure14, name: String, solver: Solver, iterations: usize) -> Self {
        let mut contender = Self { name, solver, iterations, repetitions: 1, windows: Vec::new() };
        let once = (0..3).map(|_| contender.window(figure)).fold(f64::INFINITY, f64::min);
        contender.repetitions = (WINDOW.as_secs_f64() * 1e6 / once.max(0.1)).ceil() as usize;
        contender.windows.clear();
        contender
    }

    /// Time from the start to 1 %, restart included (µs).
    fn window(&mut self, figure: &mut Figure14) -> f64 {
        let begin = Instant::now();
        for _ in 0..self.repetitions {
            figure.restart();
            figure.iterate(self.solver, self.iterations);
        }
        let time = begin.elapsed().as_secs_f64() * 1e6 / self.repetitions as f64;
        self.windows.push(time);
        time
    }
}

fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn compare(segments: usize, poissons_ratio: f64, rounds: usize, bars: &mut Bars) -> Result<(), String> {
    let mut figure = Figure14::new(segments, poissons_ratio).map_err(|error| error.to_string())?;
    let own = figure.iterations_to(Solver::BlockTridiagonal, 0.01, 50).ok_or("the solve does not get to 1 %")?;
    let mut contenders = vec![Contender::new(&mut figure, "this solver".into(), Solver::BlockTridiagonal, own)];
    for (name, sweep) in [("(28), Jacobi", Sweep::Jacobi), ("(28), Gauss-Seidel", Sweep::GaussSeidel)] {
        let (solver, iterations) = fastest_viper(&mut figure, sweep).ok_or(format!("{name} does not get to 1 %"))?;
        let Solver::Viper2019 { beta, .. } = solver else { continue };
        contenders.push(Contender::new(&mut figure, format!("{name}, β = {beta}"), solver, iterations));
    }
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let who = (turn + round) % contenders.len();
            contenders[who].window(&mut figure);
        }
    }
    let own = contenders[0].windows.clone();
    for (index, contender) in contenders.iter().enumerate() {
        figure.restart();
        figure.iterate(contender.solver, contender.iterations);
        let least = contender.windows.iter().copied().fold(f64::INFINITY, f64::min);
        let middle = median(contender.windows.iter().copied());
        let ratio = median(contender.windows.iter().zip(&own).map(|(time, own)| time / own));
        if index > 0 {
            let what = format!("{}, {segments} segments, ν = {poissons_ratio}, over this solver", contender.name);
            bars.at_least(what, ratio, BAR);
        }
        println!(
            "{segments:>8} | {poissons_ratio:>5} | {:<29} | {:>10} | {least:>8.1} | {middle:>9.1} | {:>12.1} | {ratio:>7.1}",
            contender.name,
            contender.iterations,
            least * 1e3 / (contender.iterations * segments * 8) as f64
        );
    }
    Ok(())
}

fn main() {
    let rounds = arguments::count("--rounds", 15);
    println!(
        "eight bands, ends at once twice as far apart, to 1 % of the initial residual; {rounds} rounds; bar: {BAR} × solve"
    );
    let mut bars = Bars::default();
    println!(
        "segments |     ν | solver                        | iterations |   min µs | median µs | ns/(seg·it.) | × solve"
    );
    for (segments, poissons_ratio) in [(10, 0.499), (20, 0.45), (20, 0.499), (40, 0.499)] {
        if let Err(error) = compare(segments, poissons_ratio, rounds, &mut bars) {
            eprintln!("{segments} segments, ν = {poissons_ratio}: {error}");
            std::process::exit(1);
        }
    }
    bars.end();
}
