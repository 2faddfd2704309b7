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
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::reports::gating::{BASELINE, GateRules};
use touchstone_app::reports::{ReportActions, gate_junit, gate_markdown};
use touchstone_app::runs::RunActions;

/// Arguments of `gate`.
#[derive(Debug, Args)]
pub(super) struct Gate {
    #[command(flatten)]
    place: FolderArgs,
    /// Baseline file [default: touchstone-baseline.json in the folder, as in the window; else in
    /// the working directory]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the present runs to the baseline file. It keeps its thresholds, its filter and its
    /// scorer
    #[arg(long)]
    update: bool,
    /// Select the runs of the baseline with a filter, as in the window: `model:o1`
    #[arg(long, requires = "update", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long, requires = "update")]
    scorer: Option<String>,
    /// Fail when the mean score of a system is below this
    #[arg(long, value_name = "SCORE", value_parser = share, conflicts_with = "update")]
    fail_under: Option<f64>,
    /// Fail when the mean score of a system drops by more than this, shown or not
    #[arg(long, value_name = "DROP", value_parser = share, conflicts_with = "update")]
    max_drop: Option<f64>,
    /// Allow each system this many tasks that fail and passed before
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "update")]
    new_failures: usize,
    /// Allow scores that are gone: no run, an error, or not ended
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
    let printed =
        [&asked.markdown, &asked.junit].into_iter().flatten().filter(|path| is_dash(path));
    if printed.count() + usize::from(asked.json) > 1 {
        return Err(AppError::new(Code::BadRequest, "Only one format can be printed.")
            .hint("Name files for the others.")
            .into());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.update {
        return update(&mut out, asked, here);
    }
    let app = folder::ready(asked.place.clone(), here)?;
    let baseline = &baseline_path(asked, &app)?;
    check_paths(asked, baseline)?;
    let (filter, scorer) = ReportActions::baseline_selection(baseline)?;
    let trouble = folder::suite_trouble(&app, &filter)?;
    folder::check_scorers(trouble.left_out.filter(|_| scorer.is_none()))?;
    let rules = GateRules {
        fail_under: asked.fail_under,
        max_drop: asked.max_drop,
        new_failures: asked.new_failures,
        allow_missing: asked.allow_missing,
        ..GateRules::default()
    };
    let gate = app.reports().gate(baseline, &rules)?;
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
            Some(path) => app.reports().keep_export(&text(&gate), path)?,
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

/// Returns the path of the baseline file: that of the folder, unless it is only in the working
/// directory.
fn baseline_path(asked: &Gate, app: &App) -> Result<PathBuf, AppError> {
    if let Some(named) = &asked.baseline {
        return Ok(named.clone());
    }
    let of_folder = app.reports().baseline_path()?;
    let here = PathBuf::from(BASELINE);
    let full = |path: &Path| {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()
    };
    let is_same = full(&of_folder) == full(&here);
    Ok(if is_same || (here.is_file() && !of_folder.is_file()) { here } else { of_folder })
}

/// Refuses files that would replace the baseline or each other.
fn check_paths(asked: &Gate, baseline: &Path) -> Result<(), AppError> {
    let full = |path: &Path| {
        std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_default()
    };
    let written = [&asked.markdown, &asked.junit].into_iter().flatten();
    let mut paths: Vec<PathBuf> =
        written.filter(|path| !is_dash(path)).map(|path| full(path)).collect();
    paths.push(full(baseline));
    let all = paths.len();
    paths.sort();
    paths.dedup();
    if paths.len() == all {
        return Ok(());
    }
    Err(AppError::new(Code::BadRequest, "Two of the files are the same.")
        .hint("Give --markdown, --junit and --baseline different names."))
}

fn update(out: &mut dyn Write, asked: &Gate, here: &Environment) -> Outcome {
    RunActions::check_filter(asked.filter.as_deref().unwrap_or_default())?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(asked.filter.as_deref().unwrap_or_default())?;
    let trouble = folder::suite_trouble(&app, asked.filter.as_deref().unwrap_or_default())?;
    folder::check_scorers(trouble.left_out.filter(|_| asked.scorer.is_none()))?;
    let baseline = &baseline_path(asked, &app)?;
    let update = app.reports().update_baseline(
        baseline,
        asked.filter.as_deref(),
        asked.scorer.as_deref(),
    )?;
    let path = baseline.display().to_string();
    if asked.json {
        let json = serde_json::json!({
            "baseline": path,
            "runs": update.runs,
            "scored": update.scored,
            "filter": update.filter,
        });
        writeln!(out, "{json}")?;
    } else {
        let filter = match update.filter.as_str() {
            "" => String::new(),
            filter => format!(" that match {filter}"),
        };
        writeln!(
            out,
            "Wrote {}{} to {}, {} with a score.",
            counted(update.runs, "run"),
            one_line(&filter),
            one_line(&path),
            update.scored
        )?;
    }
    out.flush()?;
    Ok(CommandStatus::Well)
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
        "{}, compared with {} of {}.",
        counted(gate.runs, "run"),
        gate.baseline_runs,
        one_line(&gate.baseline)
    )?;
    let of_groups = |violated: bool| {
        let groups = gate.groups.iter();
        groups.flat_map(move |group| if violated { &group.violations } else { &group.remarks })
    };
    let violations: Vec<&String> = gate.violations.iter().chain(of_groups(true)).collect();
    let remarks: Vec<&String> = of_groups(false).collect();
    for (title, sentences) in [("Violations", violations), ("Other changes", remarks)] {
        if !sentences.is_empty() {
            writeln!(out, "\n{}", paint.bold(title))?;
        }
        for sentence in sentences {
            writeln!(out, "  {}", one_line(sentence))?;
        }
    }
    writeln!(out, "\n{}", paint.bold(if gate.passed { "Passed." } else { "Failed." }))
}
