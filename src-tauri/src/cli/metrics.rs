//! `metrics`: reads pairs of texts from standard input, and prints every text metric of each pair,
//! one output line per input line.
use super::{Outcome, lines};
use clap::Args;
use touchstone_app::scoring::metrics::{Nltk, measure_line};

/// Arguments of `metrics`.
#[derive(Debug, Args)]
pub(super) struct Metrics {
    /// Tokenize English texts like this version of NLTK: 3.10.4 or 3.9.1
    #[arg(long, value_name = "VERSION", default_value = "3.10.4", value_parser = version)]
    nltk: Nltk,
    /// Print JSON Lines, which is the only format
    #[arg(long, hide = true)]
    json: bool,
}

fn version(name: &str) -> Result<Nltk, String> {
    Nltk::from_name(name).ok_or_else(|| "it is 3.10.4 or 3.9.1".to_owned())
}

pub(super) fn run(asked: &Metrics) -> Outcome {
    lines::answer(|line| measure_line(line, asked.nltk))
}
