//! Writes runs in formats of other tools.
use super::App;
use super::evaluation_file::{suite_data_for, with_offered_tools};
use crate::error::{AppError, Code};
use crate::reading::Reading;
use fs_err as fs;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use touchstone_api::{ExportFormat, ExportRequest, ExportedFile, RunRow, RunState, ScoreStanding};
use touchstone_clock as clock;
use touchstone_formats::redact::Redactions;
use touchstone_formats::value::Value;
use touchstone_imports::export::{
    self, About, ExportRun, Tally, Target, atif, inspect, openai, tool_definitions,
};
use touchstone_imports::{
    Event, EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts,
};
use touchstone_store::query;
use touchstone_store::roots::Root;

/// Formats of sessions of coding agents, which are redacted unless it is asked otherwise: they hold
/// what was on the screen of a person.
const SESSIONS: [&str; 3] = ["claude_code", "codex", "gemini_cli"];
/// Number of runs that are in memory at a time.
const AT_ONCE: usize = 50;
/// Maximum number of omitted runs that are named.
const NAMED: usize = 20;

/// How runs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportOptions {
    /// Format.
    pub format: ExportFormat,
    /// True to redact what looks like a secret. If none is given, runs are redacted if at least one
    /// is a session of a coding agent.
    pub redact: Option<bool>,
    /// True to write each chat as one line.
    pub lines: bool,
}

/// Outcome of writing runs, apart from the documents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exported {
    /// Number of runs that were written.
    pub runs: u64,
    /// Number of runs that could not be read.
    pub left_out: u64,
    /// Notes for the reader, as sentences.
    pub notes: Vec<String>,
}

/// Returns true if the row belongs to a session of a coding agent.
pub(super) fn is_session(format: Option<&str>) -> bool {
    format.is_some_and(|format| SESSIONS.contains(&format))
}

impl App {
    /// Writes one run.
    pub fn export_run(&self, request: &ExportRequest) -> Result<ExportedFile, AppError> {
        let ids = [request.id.clone()];
        let mut files = Vec::new();
        let options =
            ExportOptions { format: request.format, redact: request.redact, lines: false };
        let done = self.export_runs(&ids, options, &mut |file| {
            files.push(file);
            Ok(())
        })?;
        if let Some(file) = files.pop() {
            return Ok(ExportedFile { notes: done.notes, ..file });
        }
        let why = done.notes.into_iter().next();
        let why = why.unwrap_or_else(|| "The run could not be read.".to_owned());
        Err(AppError::new(Code::Failed, why))
    }

    /// Writes runs and passes each file to `take`: one for each run, or for logs of Inspect one for
    /// the runs of a task with a system and a model. Runs that cannot be read are left out with a note.
    pub fn export_runs(
        &self,
        ids: &[String],
        options: ExportOptions,
        take: &mut dyn FnMut(ExportedFile) -> Result<(), AppError>,
    ) -> Result<Exported, AppError> {
        let rows = self.rows_by_id(ids)?;
        let has_session = || rows.iter().any(|row| is_session(row.format.as_deref()));
        let is_redacted = options.redact.unwrap_or_else(has_session);
        let about = About {
            version: format!("Touchstone {}", env!("CARGO_PKG_VERSION")),
            created: clock::format_utc(clock::now_ms()),
        };
        let target = match options.format {
            ExportFormat::Atif => Target::Atif,
            ExportFormat::OpenAi => Target::OpenAi,
            ExportFormat::InspectJson => Target::Inspect,
        };
        let mut writer = Writer {
            target,
            about,
            counts: is_redacted.then(Redactions::default),
            tally: Tally::default(),
            lines: options.lines,
            done: Exported::default(),
        };
        for group in groups(&rows, target) {
            let chunk = if target == Target::Inspect { group.len() } else { AT_ONCE };
            for some in group.chunks(chunk.max(1)) {
                let runs = self.read_for_export(some)?;
                writer.write(some, runs, take)?;
            }
        }
        Ok(writer.end())
    }

    /// Returns the rows of runs, in the order of their ids.
    fn rows_by_id(&self, ids: &[String]) -> Result<Vec<RunRow>, AppError> {
        let open = self.require_folder()?;
        let rows = open.ask(|index| {
            let found = ids.iter().map(|id| query::row_by_key(index, id));
            found.collect::<Result<Vec<_>, _>>()
        })?;
        let gone = || AppError::new(Code::NotFound, "This run no longer exists.");
        rows.into_iter().map(|row| row.ok_or_else(gone)).collect()
    }

    /// Reads runs in the order of their rows.
    fn read_for_export(
        &self,
        rows: &[&RunRow],
    ) -> Result<Vec<Result<ExportRun, String>>, AppError> {
        let open = self.require_folder()?;
        let gone = || Err("The file was moved or deleted.".to_owned());
        let mut runs: Vec<Result<ExportRun, String>> = rows.iter().map(|_| gone()).collect();
        let places = |imported: bool| -> (Vec<usize>, Vec<&str>) {
            let of_kind = |(_, row): &(usize, &&RunRow)| row.format.is_some() == imported;
            let found = rows.iter().enumerate().filter(of_kind);
            found.map(|(at, row)| (at, row.id.as_str())).unzip()
        };
        let (at, ids) = places(true);
        let _ = Reading::for_each_imported(&open.flow, &ids, |one, run| {
            let run = run.map_err(|why| why.to_string());
            runs[at[one]] = run.map(|run| imported(rows[at[one]], run));
            ControlFlow::Continue(())
        });
        let tasks = open.flow.shelf.tasks();
        let (at, ids) = places(false);
        let _ = Reading::for_each_run(&open.flow, &ids, |one, run| {
            let row = rows[at[one]];
            let (task, system) = (row.task.as_deref(), row.system.as_deref());
            runs[at[one]] = run.map_err(|why| why.to_string()).map(|run| {
                let run = with_offered_tools(&tasks, task, system, run.run);
                let variation = (row.variation, row.variation_name.as_deref());
                let asked = suite_data_for(&tasks, task, variation, system);
                let mut own = own(row, export::from_run(&run));
                own.tools = tool_definitions(&run);
                own.run.expected = asked.expected;
                if let Some(prompt) = asked.prompt.filter(|_| lacks_prompt(&own.run)) {
                    own.run.events.insert(0, Event::from(EventKind::User(prompt)));
                    own.run.notes.push("The prompt was taken from the suite.".to_owned());
                }
                own
            });
            ControlFlow::Continue(())
        });
        for (row, run) in rows.iter().zip(&mut runs) {
            if let (None, Ok(run)) = (&row.format, run) {
                run.run.verdicts.extend(self.scores_for_export(&row.id)?);
            }
        }
        Ok(runs)
    }

    /// Returns the scores of a run as verdicts; none where there is no score.
    fn scores_for_export(&self, id: &str) -> Result<Vec<ImportedVerdict>, AppError> {
        let scores = self.run_scores(id)?.scores.into_iter();
        let finished = scores.filter(|one| one.standing == ScoreStanding::Scored);
        Ok(finished
            .filter_map(|one| {
                Some(ImportedVerdict {
                    name: one.scorer,
                    value: Value::Number(one.score?.to_string()),
                    passed: one.passed,
                    reason: Some(one.reason).filter(|reason| !reason.is_empty()),
                    threshold: None,
                })
            })
            .collect())
    }

    /// Saves written runs atomically, replacing an existing file. Fails in the output directory,
    /// where they would be read as further runs.
    pub fn keep_export(&self, text: &str, path: &Path) -> Result<(), AppError> {
        let open = self.require_folder()?;
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().unwrap_or_default();
        let here = fs::canonicalize(folder)
            .ok()
            .and_then(|folder| open.flow.roots.locate(&folder.join(name)));
        if here.is_some_and(|file| file.root == Root::Output) {
            let message = format!(
                "{} is in the output directory, where it would be read as another run.",
                path.display()
            );
            return Err(AppError::new(Code::BadRequest, message).hint(format!(
                "Choose a directory outside of {}.",
                open.flow.roots.output_dir.display()
            )));
        }
        super::keep_file(text, path)
    }
}

/// Puts the rows together that become one document of Inspect; all of them otherwise.
fn groups(rows: &[RunRow], target: Target) -> Vec<Vec<&RunRow>> {
    if target != Target::Inspect {
        return vec![rows.iter().collect()];
    }
    let mut places: BTreeMap<(String, Option<&str>, Option<&str>), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<&RunRow>> = Vec::new();
    for row in rows {
        let task = export::split_task(row.task.as_deref().unwrap_or_default()).0.to_owned();
        let key = (task, row.system.as_deref(), row.model.as_deref());
        let at = *places.entry(key).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Vec::new());
        }
        groups[at].push(row);
    }
    groups
}

/// Returns the run of another tool's file. Its coordinates are those of the list, which number the
/// repeats over all files.
fn imported(row: &RunRow, mut run: ImportedRun) -> ExportRun {
    run.repeat = Repeat::Number(row.repeat);
    ExportRun {
        name: row.path.clone(),
        variation: None,
        repeat: row.repeat,
        run,
        tools: Vec::new(),
    }
}

/// Returns a run of this program or of a benchmark, with what the index knows.
fn own(row: &RunRow, mut run: ImportedRun) -> ExportRun {
    (run.task, run.system, run.model) = (row.task.clone(), row.system.clone(), row.model.clone());
    run.repeat = Repeat::Number(row.repeat);
    run.end = match row.state {
        RunState::Error => RunEnd::Error,
        RunState::Waiting | RunState::Writing => RunEnd::Unfinished,
        RunState::Answered | RunState::NoAnswer | RunState::Damaged | RunState::Other => {
            RunEnd::Complete
        }
    };
    run.error = row.reason.clone().filter(|_| run.end == RunEnd::Error);
    run.tokens = TokenCounts::new(None, None, row.tokens);
    (run.cost, run.seconds) = (row.cost, row.seconds);
    run.started = row.started_ms.map(clock::format_utc).filter(|text| !text.is_empty());
    let variation = row.variation.map(|number| format!("variation {number}"));
    ExportRun {
        name: row.path.clone(),
        variation: row.variation_name.clone().or(variation),
        repeat: row.repeat,
        run,
        tools: Vec::new(),
    }
}

fn lacks_prompt(run: &ImportedRun) -> bool {
    !run.events.iter().any(|event| matches!(event.kind, EventKind::User(_)))
}

struct Writer {
    target: Target,
    about: About,
    /// Places that were redacted, if texts are redacted.
    counts: Option<Redactions>,
    tally: Tally,
    /// True to write each chat as one line.
    lines: bool,
    done: Exported,
}

impl Writer {
    /// Writes runs that were read: one file for each, or for Inspect one for all.
    fn write(
        &mut self,
        rows: &[&RunRow],
        runs: Vec<Result<ExportRun, String>>,
        take: &mut dyn FnMut(ExportedFile) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut read = Vec::new();
        for (row, run) in rows.iter().zip(runs) {
            match run {
                Ok(mut run) => {
                    if let Some(counts) = &mut self.counts {
                        counts.add(run.redact());
                    }
                    self.tally.add(&run.run.events);
                    self.done.runs += 1;
                    read.push(run);
                }
                Err(why) => {
                    self.done.left_out += 1;
                    let path = &row.path;
                    let note = format!("Left out, because it cannot be read: {path}. {why}");
                    self.done.notes.push(note);
                }
            }
        }
        if self.target == Target::Inspect {
            if read.is_empty() {
                return Ok(());
            }
            let name = inspect::file_name(&read, &self.about);
            return take(file(inspect::write(&read, &self.about), name, "application/json"));
        }
        for one in &read {
            let stem = export::file_stem(&one.name);
            take(match self.target {
                Target::OpenAi if self.lines => {
                    file(openai::write(one, true), format!("{stem}.jsonl"), "application/jsonl")
                }
                Target::OpenAi => {
                    let name = format!("{stem}.messages.json");
                    file(openai::write(one, false), name, "application/json")
                }
                _ => {
                    let name = format!("{stem}.trajectory.json");
                    file(atif::write(one), name, "application/json")
                }
            })?;
        }
        Ok(())
    }

    fn end(mut self) -> Exported {
        let notes = &mut self.done.notes;
        let more = notes.len().saturating_sub(NAMED);
        notes.truncate(NAMED);
        notes.extend((more > 0).then(|| format!("And {more} more that cannot be read.")));
        notes.extend(self.tally.describe(self.target));
        notes.extend(self.counts.map(|counts| counts.describe()));
        self.done
    }
}

fn file(text: String, file_name: String, media_type: &str) -> ExportedFile {
    ExportedFile { text, file_name, media_type: media_type.to_owned(), notes: Vec::new() }
}
