//! The bars of a bench's table: what its figures have to reach.

use std::fmt::Display;

/// Which bars were missed.
#[derive(Default)]
pub struct Bars {
    missed: Vec<String>,
}

#[allow(dead_code, reason = "no bench has bars of both kinds")]
impl Bars {
    /// A figure that may be as large as its bar.
    pub fn at_most(&mut self, what: impl Display, figure: f64, bar: f64) {
        // A NaN misses.
        if figure.is_nan() || figure > bar {
            self.missed.push(format!("{what}: {figure:.3} is above {bar}"));
        }
    }

    /// A figure that may be as small as its bar.
    pub fn at_least(&mut self, what: impl Display, figure: f64, bar: f64) {
        if figure.is_nan() || figure < bar {
            self.missed.push(format!("{what}: {figure:.3} is below {bar}"));
        }
    }

    /// What was missed, a line each.
    pub fn missed(&self) -> &[String] {
        &self.missed
    }

    /// Says what was missed; with `--check` on the command line that ends the bench with 1.
    pub fn end(self) {
        self.missed.iter().for_each(|line| eprintln!("bar missed: {line}"));
        if !self.missed.is_empty() && std::env::args().any(|argument| argument == "--check") {
            std::process::exit(1);
        }
    }
}
