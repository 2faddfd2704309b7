//! `gate`: compares runs with a baseline file that is kept beside the code, and fails when they are
//! worse.
use super::amounts::counted;
use super::{
    CommandStatus, FolderArgs, Outcome, folder,
    terminal::{Paint, one_line},
};
use crate::Environment;
use clap::Args;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use touchstone_api as rows;
use touchstone_app::app::App;
use touchstone_app::app::gating::GateOptions;
use touchstone_app::error::{AppError, Code};
use touchstone_app::{gate_junit, gate_markdown};

/// Arguments of `gate`.
#[derive(Debug, Args)]
pub(super) struct Gate {
    #[command(flatten)]
    place: FolderArgs,
    /// Baseline file
    #[arg(long, value_name = "FILE", default_value = "touchstone-baseline.json")]
    baseline: PathBuf,
    /// Write the runs of now to the baseline file; its thresholds are kept
    #[arg(long)]
    update: bool,
    /// Select the runs of the baseline with a filter, as in the window: `model:o1`
    #[arg(
        long,
        default_value = "",
        hide_default_value = true,
        requires = "update",
        allow_hyphen_values = true
    )]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long, requires = "update")]
    scorer: Option<String>,
    /// Fail when the mean score of a system is below this
    #[arg(long, value_name = "SCORE", value_parser = share, conflicts_with = "update")]
    fail_under: Option<f64>,
    /// Allow each system this many tasks that fail and passed before
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "update")]
    new_failures: usize,
    /// Allow tasks without a score that had one: no run, an error, or not ended
    #[arg(long, conflicts_with = "update")]
    allow_missing: bool,
    /// Write a summary as Markdown; `-` prints it
    #[arg(long, value_name = "FILE", conflicts_with = "update")]
    markdown: Option<PathBuf>,
    /// Write the result as JUnit XML; `-` prints it
    #[arg(long, value_name = "FILE", conflicts_with = "update")]
    junit: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(asked: &Gate, here: &Environment) -> Outcome {
    App::check_filter(&asked.filter)?;
    let printed =
        [&asked.markdown, &asked.junit].into_iter().flatten().filter(|path| is_dash(path));
    if printed.count() + usize::from(asked.json) > 1 {
        return Err(AppError::new(Code::BadRequest, "Only one format can be printed.")
            .hint("Name files for the others.")
            .into());
    }
    let app = folder::ready(asked.place.clone(), here)?;
    let trouble = folder::suite_trouble(&app, &asked.filter)?;
    folder::check_scorers(trouble.left_out.filter(|_| asked.scorer.is_none()))?;
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.update {
        let runs = app.update_baseline(&asked.baseline, &asked.filter, asked.scorer.as_deref())?;
        let path = asked.baseline.display().to_string();
        if asked.json {
            writeln!(out, "{}", serde_json::json!({ "baseline": path, "runs": runs }))?;
        } else {
            writeln!(out, "Wrote {} to {}.", counted(runs as u64, "run"), one_line(&path))?;
        }
        out.flush()?;
        return Ok(CommandStatus::Well);
    }
    let options = GateOptions {
        fail_under: asked.fail_under,
        new_failures: asked.new_failures,
        allow_missing: asked.allow_missing,
    };
    let gate = app.gate(&asked.baseline, options)?;
    let mut has_printed = asked.json;
    for (path, text) in
        [(&asked.markdown, gate_markdown as fn(&rows::Gate) -> String), (&asked.junit, gate_junit)]
    {
        match path {
            None => {}
            Some(path) if is_dash(path) => {
                out.write_all(text(&gate).as_bytes())?;
                has_printed = true;
            }
            Some(path) => app.keep_export(&text(&gate), path)?,
        }
    }
    if asked.json {
        serde_json::to_writer(&mut out, &gate).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if !has_printed {
        write(&mut out, &gate, Paint(here.colour))?;
    }
    out.flush()?;
    Ok(if gate.passed { CommandStatus::Well } else { CommandStatus::WithFailures })
}

fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn share(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "write a number from 0 to 1".to_owned())
}

fn write(out: &mut dyn Write, gate: &rows::Gate, paint: Paint) -> io::Result<()> {
    writeln!(
        out,
        "{}, compared with {} of the baseline.",
        counted(gate.runs, "run"),
        gate.baseline_runs
    )?;
    let sections = [("Violations", true), ("Also", false)];
    for (title, violated) in sections {
        let mut sentences = gate
            .groups
            .iter()
            .flat_map(|group| if violated { &group.violations } else { &group.remarks })
            .peekable();
        if sentences.peek().is_some() {
            writeln!(out, "\n{}", paint.bold(title))?;
        }
        for sentence in sentences {
            writeln!(out, "  {}", one_line(sentence))?;
        }
    }
    writeln!(out, "\n{}", paint.bold(if gate.passed { "Passed." } else { "Failed." }))
}
