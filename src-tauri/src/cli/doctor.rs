//! `doctor`: what is installed and works, and how to mend what does not.
use super::{
    Ended, Outcome,
    terminal::{Paint, one_line},
};
use crate::{Surroundings, surroundings};
use clap::Args;
use std::io::{self, Write as _};

/// What `doctor` takes.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Doctor, here: &Surroundings) -> Outcome {
    let checks = surroundings::with_ours(here.engine().doctor(true));
    let mut out = io::stdout().lock();
    let paint = Paint(here.colour);
    if asked.json {
        writeln!(out, "{}", serde_json::json!({ "checks": checks }))?;
    } else {
        for check in &checks {
            let mark = if check.ok { paint.green("ok  ") } else { paint.red("FAIL") };
            writeln!(out, "{mark}  {}: {}", paint.bold(&one_line(&check.name)), one_line(&check.detail))?;
            if let Some(fix) = &check.fix {
                writeln!(out, "      {}", one_line(fix))?;
            }
        }
    }
    Ok(if checks.iter().all(|check| check.ok) { Ended::Well } else { Ended::WithFailures })
}
