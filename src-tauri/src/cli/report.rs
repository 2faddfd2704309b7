//! `report`: writes reports on the runs of a folder.
use super::trend::By;
use super::{
    CommandStatus, FolderArgs, Outcome,
    export::Redaction,
    failures::Progress,
    folder,
    terminal::{complain, one_line},
};
use crate::Environment;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::{
    collections::HashSet,
    io::{self, Write as _},
    path::PathBuf,
};
use touchstone_api::{self as rows, FailuresRequest, ReportFormat, ReportRequest};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::runs::RunActions;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    place: FolderArgs,
    /// Formats to write, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "html", value_name = "FORMAT")]
    format: Vec<Format>,
    /// Write to this directory; `-` prints a single format
    #[arg(long, default_value = ".", value_name = "DIR")]
    out: PathBuf,
    /// Select runs with a filter, as in the window: `system:promptql model:o1`
    #[arg(long, default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    filter: String,
    /// Use the scores of this scorer [default: the first scorer of each task]
    #[arg(long)]
    scorer: Option<String>,
    /// Compare the others with this system and model [default: the first]; for result files of
    /// StableToolBench, write this SYSTEM/MODEL/SET
    #[arg(long, value_name = "SYSTEM/MODEL")]
    baseline: Option<String>,
    /// Title of the report [default: the name of the folder]
    #[arg(long, default_value = "", hide_default_value = true)]
    title: String,
    /// Include published results where runs belong to query sets
    #[arg(long)]
    published: bool,
    /// Group runs into sets for the trend [default: day]
    #[arg(long, value_name = "WHAT")]
    sets: Option<By>,
    /// Leave out the line for every run
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    redaction: Redaction,
    /// Print the list of written files as one JSON document
    #[arg(long)]
    json: bool,
}

/// Formats by the words that are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Html,
    Md,
    Csv,
    Json,
    Jsonl,
    Junit,
    Stabletoolbench,
    Azure,
    Parquet,
}

impl From<Format> for ReportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Html => Self::Html,
            Format::Md => Self::Markdown,
            Format::Csv => Self::Csv,
            Format::Json => Self::Json,
            Format::Jsonl => Self::Jsonl,
            Format::Junit => Self::Junit,
            Format::Stabletoolbench => Self::StableToolBench,
            Format::Azure => Self::Azure,
            Format::Parquet => Self::Parquet,
        }
    }
}

pub(super) fn run(asked: &Report, here: &Environment) -> Outcome {
    let printed = asked.out.as_os_str() == "-";
    if printed && (asked.format.len() > 1 || asked.json) {
        return Err(AppError::new(Code::BadRequest, "Only one format can be printed.")
            .hint("Name a directory with --out to write several.")
            .into());
    }
    RunActions::check_filter(&asked.filter)?;
    let app = folder::ready(asked.place.clone(), here)?;
    app.runs().check_filter_of_folder(&asked.filter)?;
    if !printed {
        fs_make(&asked.out)?;
    }
    read_failures(&app, asked)?;
    let left_out =
        app.folder().suite_trouble(&asked.filter)?.left_out.filter(|_| asked.scorer.is_none());
    let mut written = Vec::new();
    let (mut whole, mut told) = (true, HashSet::new());
    for format in &asked.format {
        let lists = matches!(format, Format::Csv | Format::Jsonl | Format::Junit | Format::Parquet);
        let request = ReportRequest {
            format: (*format).into(),
            filter: asked.filter.clone(),
            scorer: asked.scorer.clone(),
            baseline: asked.baseline.clone(),
            title: asked.title.clone(),
            runs: lists || !asked.short,
            published: asked.published,
            sets: asked.sets.map(Into::into),
            theme: None,
            redact: asked.redaction.choice(),
            include_sensitive: asked.redaction.includes_sensitive(),
        };
        let reports = match made(&app, &request, printed) {
            // The other formats are still written.
            Err(error) if *format == Format::Stabletoolbench && error.code == Code::Failed => {
                complain(&error);
                whole = false;
                continue;
            }
            made => made?,
        };
        for report in &reports {
            whole &= report.unreadable == 0;
            say(report, reports.len() > 1, &mut told);
        }
        if printed {
            io::stdout().lock().write_all(&app.reports().report_bytes(&reports[0])?)?;
            continue;
        }
        for report in reports {
            let path = asked.out.join(&report.file_name);
            app.reports().keep_report(&report, &path)?;
            written.push(path.to_string_lossy().into_owned());
        }
    }
    let mut out = io::stdout().lock();
    if asked.json {
        writeln!(out, "{}", json!({ "written": written }))?;
    } else {
        for path in &written {
            writeln!(out, "{}", one_line(path))?;
        }
    }
    folder::check_scorers(left_out)?;
    Ok(if whole { CommandStatus::Well } else { CommandStatus::WithFailures })
}

/// Reads the transcripts of failed runs for the formats that say why runs fail.
fn read_failures(app: &App, asked: &Report) -> Result<(), AppError> {
    if !asked.format.iter().any(|one| matches!(one, Format::Html | Format::Md | Format::Json)) {
        return Ok(());
    }
    let failures = FailuresRequest { filter: asked.filter.clone(), scorer: asked.scorer.clone() };
    let progress = Progress::new();
    let tell = |read, total| progress.tell(read, total);
    app.failures().whole_map(&failures, asked.redaction.includes_sensitive(), &tell)?;
    progress.clear();
    Ok(())
}

/// Makes the reports of one format: a single one, or for StableToolBench a result file for each
/// system, model and test set, unless one is chosen by the baseline.
fn made(app: &App, request: &ReportRequest, printed: bool) -> Result<Vec<rows::Report>, AppError> {
    let first = app.reports().make_report(request, true)?;
    if request.format != ReportFormat::StableToolBench || request.baseline.is_some() {
        return Ok(vec![first]);
    }
    if printed && first.baselines.len() > 1 {
        return Err(one_of(&first.baselines));
    }
    let others: Vec<String> = first.baselines.iter().skip(1).cloned().collect();
    let mut reports = vec![first];
    for name in others {
        reports.push(
            app.reports()
                .make_report(&ReportRequest { baseline: Some(name), ..request.clone() }, true)?,
        );
    }
    Ok(reports)
}

/// Prints the notes of a report, each only once. If there are several reports, each note names its
/// file.
fn say(report: &rows::Report, several: bool, told: &mut HashSet<String>) {
    let of = if several { format!("{}: ", report.file_name) } else { String::new() };
    for note in report.notes.iter().map(|note| format!("{of}{note}")) {
        if told.insert(note.clone()) {
            let _ = writeln!(io::stderr(), "{}", one_line(&note));
        }
    }
}

/// Returns the error for several files where only one can be printed.
fn one_of(names: &[String]) -> AppError {
    let why = format!("The runs make {} files, and only one can be printed.", names.len());
    let first = names.first().map_or("", String::as_str);
    AppError::new(Code::BadRequest, why).hint(format!(
        "Name one with --baseline, such as {first}, or a directory with --out to write all of them."
    ))
}

fn fs_make(dir: &std::path::Path) -> Result<(), AppError> {
    std::fs::create_dir_all(dir).map_err(|why| {
        AppError::new(
            Code::Failed,
            format!("The directory {} could not be created: {why}.", dir.display()),
        )
        .hint("Name another one with --out.")
    })
}
