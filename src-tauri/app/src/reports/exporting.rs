//! Writes runs in formats of other tools.
use super::ReportActions;
use super::redaction::is_session;
use super::rows_of_runs::{suite_data_for, with_offered_tools};
use crate::error::{AppError, Code};
use crate::runs::reading::Reading;
use crate::saving::keep_file;
use crate::sensitive::scan_care::{self, is_sensitive};
use document::Spool;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use touchstone_api::{
    ExportFormat, ExportRequest, ExportedFile, RunLabel, RunRow, RunState, ScoreStanding,
};
use touchstone_clock as clock;
use touchstone_formats::redact::DocumentRedactor;
use touchstone_imports::export::{self, About, EventCounts, ExportRun, Target, tool_definitions};
use touchstone_imports::{
    Event, EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts,
};
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_store::query;
use touchstone_store::suites::Tasks;
use writer::Writer;

mod document;
mod writer;

pub use document::ExportedDocument;

/// Maximum number of omitted runs that are named.
const NAMED: usize = 20;

/// Number of runs whose labels are asked for at once.
const LABEL_PAGE: usize = 500;

/// A run to write, or why it cannot be read.
pub(super) type ReadRun = Result<ExportRun, String>;

/// How runs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportOptions {
    /// Format.
    pub format: ExportFormat,
    /// True to redact what looks like a secret. If none is given, runs are redacted if at least one
    /// is a session of a coding agent.
    pub redact: Option<bool>,
    /// True to write the texts of sensitive runs.
    pub include_sensitive: bool,
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

impl ReportActions<'_> {
    /// Writes one run.
    pub fn export_run(self, request: &ExportRequest) -> Result<ExportedFile, AppError> {
        let ids = [request.id.clone()];
        let mut files = Vec::new();
        let options = ExportOptions {
            format: request.format,
            redact: request.redact,
            include_sensitive: request.include_sensitive,
            lines: false,
        };
        let done = self.export_runs::<AppError>(&ids, options, &mut |file| {
            files.push(file);
            Ok(())
        })?;
        if let Some(file) = files.pop() {
            return file.into_file(done.notes);
        }
        let why = done.notes.into_iter().next();
        let why = why.unwrap_or_else(|| "The run could not be read.".to_owned());
        Err(AppError::new(Code::Failed, why))
    }

    /// Writes runs and passes each document to `take`: one for each run, or for logs of Inspect one
    /// for the runs of a task with a system and a model, behind the last run. Runs that cannot be
    /// read are left out with a note. A file is opened once for all of its runs. To redact them, all
    /// are read twice: a later one may give a name of a user away.
    pub fn export_runs<E: From<AppError>>(
        self,
        ids: &[String],
        options: ExportOptions,
        take: &mut dyn FnMut(ExportedDocument) -> Result<(), E>,
    ) -> Result<Exported, E> {
        let rows = self.rows_by_id(ids)?;
        let is_redacted = options.redact.unwrap_or_else(|| has_session(&rows));
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
            redactor: is_redacted.then(DocumentRedactor::default),
            tally: EventCounts::default(),
            lines: options.lines,
            samples: Spool::new(&self.app.inner.config.cache_dir),
            logs: BTreeMap::new(),
            done: Exported::default(),
        };
        if let Some(redactor) = &mut writer.redactor {
            self.for_each_export(&rows, &mut |_, run| {
                if let Ok(run) = run {
                    run.learn_users(redactor);
                }
                Ok::<_, E>(())
            })?;
        }
        let sensitive = if options.include_sensitive {
            Arc::default()
        } else {
            self.app.sensitive().sensitive_kinds()?
        };
        let mut left_out = 0_u64;
        let (mut labels, care) = (self.labels_for_export(ids)?, self.app.sensitive().quote_care()?);
        self.for_each_export(&rows, &mut |at, mut run| {
            if let Ok(run) = &mut run
                && is_sensitive(&sensitive, &rows[at])
            {
                leave_out_texts(&mut run.run);
                labels.get_mut(&rows[at].id).map(|labels| care.leave_out_labels(labels));
                left_out += 1;
            }
            if let (Ok(run), Some(labels)) = (&mut run, labels.get(&rows[at].id)) {
                run.run.facts.push(("labels".to_owned(), labels_as_fact(labels)));
            }
            match writer.write((at, &rows[at]), run)? {
                Some(file) => take(file),
                None => Ok(()),
            }
        })?;
        writer.done.notes.extend(describe_left_out(left_out));
        let (mut logs, done) = writer.end();
        logs.try_for_each(take)?;
        Ok(done)
    }

    /// Returns the labels of those among these runs that have any, by the id of the run.
    fn labels_for_export(
        self,
        ids: &[String],
    ) -> Result<BTreeMap<String, Vec<RunLabel>>, AppError> {
        let open = self.app.require_folder()?;
        let mut labels = BTreeMap::new();
        for page in ids.chunks(LABEL_PAGE) {
            labels.extend(open.ask(|index| open.lists.labels_of(index, page))?);
        }
        Ok(labels)
    }

    /// Returns true if a run is a session of a coding agent, so that runs are redacted unless it is
    /// asked otherwise.
    pub fn has_session(self, ids: &[String]) -> Result<bool, AppError> {
        Ok(has_session(&self.rows_by_id(ids)?))
    }

    /// Returns the rows of runs, in the order of their ids.
    pub(crate) fn rows_by_id(self, ids: &[String]) -> Result<Vec<RunRow>, AppError> {
        let open = self.app.require_folder()?;
        let rows = open.ask(|index| {
            let found = ids.iter().map(|id| query::row_by_key(index, id));
            found.collect::<Result<Vec<_>, _>>()
        })?;
        let gone = || AppError::new(Code::NotFound, "This run no longer exists.");
        rows.into_iter().map(|row| row.ok_or_else(gone)).collect()
    }

    /// Reads runs one after another, and passes each one with its position to `take`: first those of
    /// this program and of benchmarks, then those of other tools, file by file. Stops at the first
    /// error of `take`.
    pub(crate) fn for_each_export<E: From<AppError>>(
        self,
        rows: &[RunRow],
        take: &mut dyn FnMut(usize, ReadRun) -> Result<(), E>,
    ) -> Result<(), E> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let (foreign, own): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|at| rows[*at].format.is_some());
        let ids = |some: &[usize]| some.iter().map(|at| rows[*at].id.as_str()).collect::<Vec<_>>();
        let mut stopped = Ok(());
        let mut go_on = |result: Result<(), E>| match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                stopped = Err(error);
                ControlFlow::Break(())
            }
        };
        let read = Reading::for_each_run(&open.flow, &ids(&own), |place, run| {
            let row = &rows[own[place]];
            let run =
                run.map_err(|why| why.to_string()).map(|run| with_suite(&tasks, row, run.run));
            let run = self.with_scores(row, run).map_err(E::from);
            go_on(run.and_then(|run| take(own[place], run)))
        });
        if read.is_continue() {
            let _ = Reading::for_each_imported(&open.flow, &ids(&foreign), |place, run| {
                let row = &rows[foreign[place]];
                let run = run.map(|run| imported(row, run)).map_err(|why| why.to_string());
                go_on(take(foreign[place], run))
            });
        }
        stopped
    }

    /// Adds the scores of a run to it, if it could be read.
    fn with_scores(self, row: &RunRow, mut run: ReadRun) -> Result<ReadRun, AppError> {
        if let Ok(run) = &mut run {
            run.run.verdicts.extend(self.scores_for_export(&row.id)?);
        }
        Ok(run)
    }

    /// Returns the scores of a run as verdicts; none where there is no score.
    fn scores_for_export(self, id: &str) -> Result<Vec<ImportedVerdict>, AppError> {
        let scores = self.app.scoring().run_scores(id)?.scores.into_iter();
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
    pub fn keep_export(self, text: &str, path: &Path) -> Result<(), AppError> {
        self.app.folder().refuse_among_results(path)?;
        keep_file(text, path)
    }
}

/// Returns labels as a map: the value of each, several as a list, or `true` for one without values.
fn labels_as_fact(labels: &[RunLabel]) -> Value {
    let mut by_name: Vec<(&str, Vec<Value>)> = Vec::new();
    for label in labels {
        let value = label.value.as_deref().map_or(Value::Bool(true), Value::from);
        match by_name.last_mut().filter(|(name, _)| *name == label.name) {
            Some((_, values)) => values.push(value),
            None => by_name.push((&label.name, vec![value])),
        }
    }
    let one = |mut values: Vec<Value>| {
        if values.len() == 1 { values.remove(0) } else { Value::List(values) }
    };
    Value::Map(by_name.into_iter().map(|(name, values)| (name.into(), one(values))).collect())
}

/// Returns a note on sensitive runs without their texts; `None` if there are none.
fn describe_left_out(runs: u64) -> Option<String> {
    let of = match runs {
        0 => return None,
        1 => "1 sensitive run".to_owned(),
        runs => format!("{runs} sensitive runs"),
    };
    Some(format!("Texts of {of} were left out; they can be included."))
}

/// Replaces everything that was said in a sensitive run.
fn leave_out_texts(run: &mut ImportedRun) {
    let mark = || scan_care::LEFT_OUT.to_owned();
    // Sub-agents may be nested deeper than the stack would bear.
    let mut levels = vec![run.events.as_mut_slice()];
    while let Some(events) = levels.pop() {
        for event in events {
            levels.extend(leave_out_event(event));
        }
    }
    run.answer = run.answer.as_ref().map(|_| mark());
    run.expected = run.expected.as_ref().map(|_| Value::Text(mark()));
    run.error = run.error.as_ref().map(|_| mark());
    run.facts.clear();
    for verdict in &mut run.verdicts {
        verdict.reason = verdict.reason.as_ref().map(|_| mark());
    }
}

/// Replaces what an event says. Returns the events inside, which are left as they are.
fn leave_out_event(event: &mut Event) -> Option<&mut [Event]> {
    let mark = || scan_care::LEFT_OUT.to_owned();
    if matches!(event.kind, EventKind::Media(_)) {
        event.kind = EventKind::Note(String::new());
    }
    match &mut event.kind {
        EventKind::System(text)
        | EventKind::User(text)
        | EventKind::SimulatedUser(text)
        | EventKind::Assistant(text)
        | EventKind::Reasoning(text)
        | EventKind::Compaction(text)
        | EventKind::Error(text)
        | EventKind::Note(text) => *text = mark(),
        EventKind::Call { arguments, .. } => *arguments = Value::Text(mark()),
        EventKind::Result { value, .. } => *value = Value::Text(mark()),
        EventKind::Media(_) => {}
        EventKind::SubAgent { events, .. } | EventKind::Abandoned(events) => {
            return Some(events);
        }
    }
    None
}

fn has_session(rows: &[RunRow]) -> bool {
    rows.iter().any(|row| is_session(row.format.as_deref()))
}

/// Returns the run of another tool's file with the names and the repeat of the list, which knows
/// the corrections of `touchstone.yaml` and counts the repeats over all files.
fn imported(row: &RunRow, mut run: ImportedRun) -> ExportRun {
    run.task = listed(run.task, row.task.as_deref());
    run.system = listed(run.system, row.system.as_deref());
    run.model = listed(run.model, row.model.as_deref());
    run.repeat = Repeat::Number(row.repeat);
    ExportRun {
        name: row.path.clone(),
        variation: None,
        repeat: row.repeat,
        run,
        tools: Vec::new(),
    }
}

/// Returns the name of the list, or the one in the file where the list only shows the start of it.
fn listed(own: Option<String>, listed: Option<&str>) -> Option<String> {
    let start = listed.and_then(|name| name.strip_suffix('…'));
    own.filter(|own| start.is_some_and(|start| own.starts_with(start)))
        .or_else(|| listed.map(str::to_owned))
}

/// Returns a run of this program or of a benchmark, with what its suite knows.
fn with_suite(tasks: &Tasks, row: &RunRow, run: Run) -> ExportRun {
    let (task, system) = (row.task.as_deref(), row.system.as_deref());
    let run = with_offered_tools(tasks, task, system, run);
    let variation = (row.variation, row.variation_name.as_deref());
    let asked = suite_data_for(tasks, task, variation, system);
    let mut own = from_own_row(row, export::from_run(&run));
    own.tools = tool_definitions(&run);
    own.run.expected = asked.expected;
    if let Some(prompt) = asked.prompt.filter(|_| lacks_prompt(&own.run)) {
        own.run.events.insert(0, Event::from(EventKind::User(prompt)));
        own.run.notes.push("The prompt was taken from the suite.".to_owned());
    }
    own
}

/// Returns a run of this program or of a benchmark, with what the index knows.
fn from_own_row(row: &RunRow, mut run: ImportedRun) -> ExportRun {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sub_agents_said_is_left_out_too() {
        fn event(kind: EventKind) -> Event {
            kind.into()
        }
        let said = || event(EventKind::Assistant("secret".to_owned()));
        let sub_agent =
            |events| event(EventKind::SubAgent { name: "helper".to_owned(), call: None, events });
        let inner = sub_agent(vec![said(), event(EventKind::Abandoned(vec![said()]))]);
        let mut run =
            ImportedRun { events: vec![said(), sub_agent(vec![inner])], ..ImportedRun::default() };
        leave_out_texts(&mut run);
        let text = format!("{:?}", run.events);
        assert!(
            !text.contains("secret") && text.matches(scan_care::LEFT_OUT).count() == 3,
            "{text}"
        );
    }
}
