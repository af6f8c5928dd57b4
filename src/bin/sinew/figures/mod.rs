//! `sinew figures`: the paper's figures, redrawn from our own runs.

mod bundle;
pub mod canvas;
mod convergence;
mod figure_14;
pub mod plot;
mod rod;
mod viper_2019;
mod volume;

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use self::plot::Figure;
use crate::{Error, print};

#[derive(clap::Args)]
pub struct FiguresArgs {
    /// Where the PNG files go.
    dir: PathBuf,
    /// Draws only the figure of this number; may be given several times.
    #[arg(long = "figure", value_name = "N")]
    figures: Vec<u32>,
    /// Fewer segments, frames and iterations: a look in a moment.
    #[arg(long)]
    coarse: bool,
    /// Writes the numbers of the captions as JSON.
    #[arg(long, value_name = "R.json")]
    report: Option<PathBuf>,
}

/// How finely to run.
#[derive(Clone, Copy)]
pub struct Effort {
    coarse: bool,
}

impl Effort {
    fn of(self, full: usize, coarse: usize) -> usize {
        if self.coarse { coarse } else { full }
    }
}

type Draw = fn(Effort) -> Result<Figure, Error>;

const FIGURES: &[(u32, Draw)] = &[
    (5, volume::figure_5),
    (6, volume::figure_6),
    (9, |_| bundle::figure_9()),
    (10, |_| bundle::figure_10()),
    (13, volume::figure_13),
    (14, convergence::figure_14),
    (15, volume::figure_15),
];

pub fn figures(args: &FiguresArgs) -> Result<(), Error> {
    let known: Vec<String> = FIGURES.iter().map(|(number, _)| number.to_string()).collect();
    if let Some(number) = args.figures.iter().find(|&&number| FIGURES.iter().all(|(known, _)| *known != number)) {
        return Err(format!("--figure {number}: there is no such figure; there are: {}", known.join(", ")).into());
    }
    std::fs::create_dir_all(&args.dir).map_err(|error| format!("{}: {error}", args.dir.display()))?;
    let wanted: Vec<&(u32, Draw)> =
        FIGURES.iter().filter(|(number, _)| args.figures.is_empty() || args.figures.contains(number)).collect();
    let bar = ProgressBar::new(wanted.len() as u64)
        .with_style(ProgressStyle::with_template("figure {msg} {bar:30} {pos}/{len}")?);
    let mut numbers = Map::new();
    for (number, draw) in wanted {
        bar.set_message(number.to_string());
        bar.tick();
        let figure = draw(Effort { coarse: args.coarse })?;
        let path = args.dir.join(format!("figure_{number:02}.png"));
        figure.draw()?.write_png(&path)?;
        let told = format!("{}: Figure {number}. {}. {}\n", path.display(), figure.title, figure.caption);
        bar.suspend(|| print(&told))?;
        let own = figure.numbers.iter().map(|(name, value)| ((*name).to_string(), Value::from(*value)));
        numbers.insert(number.to_string(), Value::Object(own.collect()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = &args.report {
        let report = json!({ "version": env!("CARGO_PKG_VERSION"), "coarse": args.coarse, "figures": numbers });
        std::fs::write(path, format!("{report:#}\n")).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
