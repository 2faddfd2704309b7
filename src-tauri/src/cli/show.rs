//! `show`: prints one transcript in readable form, with the verdicts of judges.
use super::amounts::counted;
use super::sensitive::{SensitiveArgs, tell_left_out};
use super::{
    CommandError, CommandStatus, DirArgs, Outcome, folder, full_run, judged, list,
    terminal::{Columns, Head, Paint, complain, lines, one_line},
};
use crate::Environment;
use clap::Args;
use serde::Serialize;
use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use touchstone_api::{
    Body, Column, Judged, Lineage, LineageLink, Part, RunLineage, RunState, RunView, Sort, Step,
    StepKind,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};
use touchstone_app::number_format::fixed;
use touchstone_app::sensitive::leave_out_judged;

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// Transcript to print; FILE#NAME for one of many in a file
    file: PathBuf,
    #[command(flatten)]
    dirs: DirArgs,
    #[command(flatten)]
    sensitive: SensitiveArgs,
    /// Also print the raw replies of judges
    #[arg(long)]
    replies: bool,
    /// Print the transcript as one JSON document, the same for every layout; `judged` holds
    /// judgements with their replies
    #[arg(long)]
    json: bool,
}

/// JSON document of a transcript.
#[derive(Serialize)]
struct ShowDocument<'a> {
    #[serde(flatten)]
    view: &'a RunView,
    judged: &'a [Judged],
}

pub(super) fn run(asked: &Show, here: &Environment) -> Outcome {
    let file = &asked.file;
    let unreadable = |why: String| {
        AppError::new(Code::NotFound, format!("{} could not be shown: {why}.", file.display()))
    };
    let (full, member) = folder::located(file).map_err(|why| unreadable(why.to_string()))?;
    let Some((folder, name)) = folder::within(&full, member.as_deref(), &asked.dirs) else {
        let why = asked.dirs.output_dir.as_ref().filter(|_| full.is_file());
        let why = why.map(|dir| format!("it is not in {}", dir.display()));
        return Err(unreadable(why.unwrap_or_else(|| "it is not a file".to_owned())).into());
    };
    let app = folder::read(&folder, here)?;
    let Some(id) = find(&app, &name)? else { return Err(unreadable(why_not(&app, &name)?).into()) };
    let mut view = full_run::run(&app, &id)?;
    let (mut said, unread) =
        judged::find((&app, &id), (&full, member.as_deref()), &asked.dirs, here)?;
    let left_out = !asked.sensitive.include_sensitive
        && app.sensitive().quote_care()?.leave_out_view(&mut view);
    if left_out {
        leave_out_judged(&mut said);
    }
    let mut out = BufWriter::new(io::stdout().lock());
    if asked.json {
        serde_json::to_writer(&mut out, &ShowDocument { view: &view, judged: &said })
            .map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&mut out, &view, Paint(here.colour))?;
        judged::print(&mut out, &said, asked.replies, Paint(here.colour))?;
    }
    out.flush()?;
    tell_left_out(left_out.into());
    let Some(unread) = unread else { return Ok(CommandStatus::Well) };
    complain(&AppError::new(Code::Failed, unread));
    Ok(CommandStatus::WithFailures)
}

/// Describes the reason why a file is not a run: it holds several runs, or is not a transcript.
pub(super) fn why_not(app: &App, name: &str) -> Result<String, CommandError> {
    let (start, mut first, mut count) = (format!("{name}#"), None, 0_u64);
    let sort = Sort { column: Column::Path, descending: false };
    folder::each_run(app, "", &sort, u64::MAX, |row| {
        if row.path.starts_with(&start) {
            count += 1;
            first.get_or_insert(row.path);
        }
        Ok::<(), CommandError>(())
    })?;
    Ok(first.map_or_else(
        || "it is not a transcript".to_owned(),
        |first| format!("it holds {count} runs; name one of them, such as {}", one_line(&first)),
    ))
}

/// Finds the run of a file. A run of several files is found by any of them, since its path is their
/// common stem.
pub(super) fn find(app: &App, name: &str) -> Result<Option<String>, CommandError> {
    let stem = Path::new(name).file_stem().and_then(|stem| stem.to_str());
    let mut found = None;
    let sort = Sort { column: Column::Path, descending: false };
    folder::each_run(app, "", &sort, u64::MAX, |row| {
        if row.path == name || (found.is_none() && Some(row.path.as_str()) == stem) {
            found = Some(row.id);
        }
        Ok::<(), CommandError>(())
    })?;
    Ok(found)
}

fn print(out: &mut dyn Write, view: &RunView, paint: Paint) -> io::Result<()> {
    let row = &view.row;
    writeln!(out, "{}", paint.bold(&one_line(&row.path)))?;
    let state = list::coloured(paint, list::word(row.state));
    writeln!(
        out,
        "{}, {state}, {} turns, {} tool calls",
        one_line(&view.layout),
        row.turns,
        row.tool_calls
    )?;
    if let Some(prompt) = &row.prompt {
        writeln!(out, "Prompt: {}", one_line(prompt))?;
    }
    for line in lineage(view) {
        writeln!(out, "{}", one_line(&line))?;
    }
    for note in row.reason.iter().chain(&view.notes) {
        writeln!(out, "{}", paint.yellow(&one_line(note)))?;
    }
    if row.state == RunState::NoAnswer && view.task.is_none() && ends_in_words(view) {
        writeln!(out, "{}", paint.yellow(IN_WORDS))?;
    }
    for step in &view.steps {
        writeln!(out, "\n{}", heading(step, paint))?;
        for part in &step.parts {
            body(out, part, step.parts.len() > 1, paint)?;
        }
    }
    if let Some(answer) = &view.answer {
        let lenient = if answer.lenient { ", not strict JSON" } else { "" };
        writeln!(
            out,
            "\n{} {}",
            paint.bold("Answer"),
            paint.dim(&format!("({}{lenient})", one_line(&answer.source)))
        )?;
        body(out, &answer.part, false, paint)?;
    }
    for fact in &view.facts {
        writeln!(out, "\n{}", paint.bold(&one_line(&fact.key)))?;
        body(out, &fact.part, false, paint)?;
    }
    Ok(())
}

/// Printed for a run that may have an answer which only its task can identify.
const IN_WORDS: &str = "It ends with text. Its task decides whether that is the answer: pass both directories with -i and -o.";

fn ends_in_words(view: &RunView) -> bool {
    view.steps.last().is_some_and(|step| step.kind == StepKind::Assistant)
}

/// Describes the origin and the forks of a run, one line each.
fn lineage(view: &RunView) -> Vec<String> {
    let RunLineage { origin, edited, forks, fork_count, .. } = &view.lineage;
    let edited = edited.map(|part| format!(", {} edited", part.word())).unwrap_or_default();
    let mut lines = Vec::new();
    match origin {
        Some(LineageLink { path, step: Some(step), .. }) => {
            lines.push(format!("Fork of {path} from step {}{edited}", step + 1));
        }
        Some(LineageLink { path, step: None, .. }) => lines.push(format!("Fork of {path}")),
        None if view.row.lineage == Some(Lineage::Fork) => lines.push("Fork".to_owned()),
        None => {}
    }
    if view.row.lineage == Some(Lineage::FollowUps) {
        lines
            .push(format!("Received {}", counted(view.row.follow_ups.into(), "follow-up message")));
    }
    if *fork_count > 0 {
        let mut paths: Vec<&str> = forks.iter().map(|fork| fork.path.as_str()).collect();
        paths.extend((*fork_count > forks.len() as u64).then_some("…"));
        lines.push(format!("{}: {}", counted(*fork_count, "fork"), paths.join(", ")));
    }
    lines
}

fn heading(step: &Step, paint: Paint) -> String {
    let kind = match step.kind {
        StepKind::User if step.nudge => "Nudge",
        StepKind::User => "User",
        StepKind::Assistant => "Assistant",
        StepKind::System => "System",
        StepKind::ToolCall => "Tool call",
        StepKind::Program => "Program",
        StepKind::Artifact => "Artifact",
        StepKind::Error => "Error",
        StepKind::SubAgent => "Sub-agent",
        StepKind::Abandoned => "Abandoned branch",
        StepKind::Compaction => "Compaction",
        StepKind::Note => "Note",
        StepKind::Unknown => "Unknown",
    };
    let title =
        step.title.as_deref().map(|title| format!(" {}", one_line(title))).unwrap_or_default();
    let outcome = match step.failed {
        Some(true) => paint.red("  failed"),
        _ => String::new(),
    };
    let took = step.seconds.map(|seconds| format!("  {} s", fixed(seconds, 1))).unwrap_or_default();
    let number = paint.dim(&format!("{:>3}  turn {}", step.index + 1, step.turn));
    format!("{number}  {}{outcome}{}", paint.bold(&format!("{kind}{title}")), paint.dim(&took))
}

fn body(out: &mut dyn Write, part: &Part, labelled: bool, paint: Paint) -> io::Result<()> {
    if labelled {
        writeln!(out, "     {}", paint.dim(&one_line(&part.label)))?;
    }
    match &part.body {
        Body::Text { text, .. } | Body::Value { text, .. } => {
            for line in lines(text).lines() {
                writeln!(out, "{}", format!("     {line}").trim_end())?;
            }
            Ok(())
        }
        Body::Table { columns, rows, .. } => {
            let heads = columns.iter().map(|column| Head {
                title: one_line(&column.name).into_owned().into(),
                right: column.numeric,
            });
            let mut table = Columns::new(heads.collect());
            for row in rows {
                table.row(row.iter().map(|cell| one_line(&cell.text).into_owned()).collect());
            }
            table.write(out, "     ", paint, &|_, text| text.to_owned())
        }
    }
}
