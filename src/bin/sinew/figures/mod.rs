//! `sinew figures`: the paper's figures, redrawn from our own runs, and what else is best seen.

mod bundle;
pub mod canvas;
mod convergence;
mod figure_14;
mod growth;
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
    /// Draws only the paper's figure of this number, or the one of this name; may be given several times.
    #[arg(long = "figure", value_name = "N")]
    figures: Vec<String>,
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

const FIGURES: &[(&str, Draw)] = &[
    ("5", volume::figure_5),
    ("6", volume::figure_6),
    ("9", |_| bundle::figure_9()),
    ("10", |_| bundle::figure_10()),
    ("13", volume::figure_13),
    ("14", convergence::figure_14),
    ("15", volume::figure_15),
    ("growth", growth::growth),
];

pub fn figures(args: &FiguresArgs) -> Result<(), Error> {
    let known: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
    if let Some(name) = args.figures.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("--figure {name}: there is no such figure; there are: {}", known.join(", ")).into());
    }
    std::fs::create_dir_all(&args.dir).map_err(|error| format!("{}: {error}", args.dir.display()))?;
    let is_wanted = |name: &str| args.figures.is_empty() || args.figures.iter().any(|wanted| wanted == name);
    let wanted: Vec<&(&str, Draw)> = FIGURES.iter().filter(|(name, _)| is_wanted(name)).collect();
    let bar = ProgressBar::new(wanted.len() as u64)
        .with_style(ProgressStyle::with_template("figure {msg} {bar:30} {pos}/{len}")?);
    let mut numbers = Map::new();
    for (name, draw) in wanted {
        bar.set_message(*name);
        bar.tick();
        let figure = draw(Effort { coarse: args.coarse })?;
        let path = args.dir.join(format!("figure_{name:0>2}.png"));
        figure.draw()?.write_png(&path)?;
        let told = format!("{}: {}. {}\n", path.display(), figure.heading(), figure.caption);
        bar.suspend(|| print(&told))?;
        let own = figure.numbers.iter().map(|(name, value)| ((*name).to_string(), Value::from(*value)));
        numbers.insert((*name).to_string(), Value::Object(own.collect()));
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(path) = &args.report {
        let report = json!({ "version": env!("CARGO_PKG_VERSION"), "coarse": args.coarse, "figures": numbers });
        std::fs::write(path, format!("{report:#}\n")).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
