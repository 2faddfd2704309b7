//! Converts runs for the evaluators of other programs: rows to evaluate, and the file format of
//! `evaluate()`.
use super::ReportActions;
use super::evaluation_file::{self, Columns, SuiteData};
use super::evaluation_sheet::EvaluationBuilder;
use super::redaction::{folder_name, is_session};
use super::reporting::{cut_for_preview, file_stem, noted, redact_report};
use crate::error::{AppError, Code};
use crate::runs::reading::input_file::InputFile;
use crate::runs::reading::{ParsedRun, Reading};
use std::ops::ControlFlow;
use touchstone_api::{FilterError, Judged, Report, ReportRequest, RunState};
use touchstone_formats::file_kind::{FileKind, detect};
use touchstone_formats::stabletoolbench::answers::raw;
use touchstone_formats::{azure, collection, tool_offers, transcript};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::run::Run;
use touchstone_model::value::Value;
use touchstone_store::query::ScoredRun;
use touchstone_store::suites::Tasks;

pub use touchstone_formats::azure::{Choice, Part};

/// Model that repeats recorded replies.
const REPLAY: &str = "replay";

/// Bytes of a file that are read to detect its kind.
const HEAD: usize = 16 << 10;
/// Number of runs in a preview.
const PREVIEWED: usize = 200;
/// Maximum number of omitted runs listed by name.
const NAMED: usize = 20;

/// Rows for evaluators as JSON lines, with notes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvaluatorRows {
    /// One line per row.
    pub lines: Vec<String>,
    /// Notes for the reader, as sentences.
    pub notes: Vec<String>,
    /// Note on sensitive runs that were left out; `None` if there are none.
    pub sensitive: Option<String>,
}

/// Converts a file to rows: message threads of any format, a transcript, a raw answer, or a file
/// that holds many runs.
pub fn rows_of_file(file: &InputFile, choice: &Choice) -> Result<EvaluatorRows, AppError> {
    let refused = |why: &ReadError| {
        let line = why.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let error = AppError::new(
            Code::BadRequest,
            format!("{} could not be converted: {why}{line}", file.name),
        );
        why.advice.iter().fold(error, |error, advice| error.hint(advice.clone()))
    };
    let name = file.name.rsplit('/').next().unwrap_or(&file.name);
    let mut rows = EvaluatorRows::default();
    let of_run = |run: Run| (azure::of_run(&run), run.row);
    let threads = match detect(name, &file.bytes[..file.bytes.len().min(HEAD)]) {
        FileKind::Transcript => transcript::read(&file.bytes).map(|run| vec![of_run(run)]),
        FileKind::RawAnswer => raw::read(&file.bytes).map(|run| vec![of_run(run)]),
        FileKind::Collection => collection::Collection::open(name, &file.bytes).map(|many| {
            let read = |at: usize| match many.run(at) {
                Ok(run) => Some(of_run(run)),
                Err(why) => {
                    rows.notes.push(format!("{}#{} is left out: {why}", file.name, many.key(at)));
                    None
                }
            };
            (0..many.len()).filter_map(read).collect()
        }),
        _ => azure::read(&file.bytes)
            .map(|threads| threads.into_iter().map(|thread| (thread, Value::Null)).collect()),
    };
    for (thread, own) in threads.map_err(|why| refused(&why))? {
        let of_thread = thread
            .rows(choice)
            .map_err(|why| AppError::new(Code::BadRequest, format!("{}: {why}", file.name)))?;
        let line = |row: azure::Row| {
            let text = row.response_text();
            line(evaluation_file::with_own(with_text(row.columns(), text), &own))
        };
        rows.lines.extend(of_thread.into_iter().map(line));
    }
    Ok(rows)
}

impl ReportActions<'_> {
    /// Returns the rows of the runs that match a filter, each with the identity of its run and the
    /// expected output. Sensitive runs are left out unless they are to be included.
    pub fn rows_of_runs(
        self,
        filter: &str,
        choice: &Choice,
        include_sensitive: bool,
    ) -> Result<(EvaluatorRows, Vec<FilterError>), AppError> {
        self.rows_up_to(filter, choice, include_sensitive, usize::MAX)
    }

    /// Like [`Self::rows_of_runs`], but fails as soon as the lines exceed `most` bytes in total.
    pub(crate) fn rows_up_to(
        self,
        filter: &str,
        choice: &Choice,
        include_sensitive: bool,
        most: usize,
    ) -> Result<(EvaluatorRows, Vec<FilterError>), AppError> {
        let open = self.app.require_folder()?;
        let (mut runs, misread) = open.ask(|index| open.lists.rated(index, filter, None))?;
        let sensitive = self.app.sensitive().leave_out_sensitive(include_sensitive, &mut runs)?;
        let mut rows = EvaluatorRows { sensitive, ..EvaluatorRows::default() };
        let mut bytes = 0;
        let read = self.each_run(&runs, |run, asked, told| {
            match told.and_then(|told| Ok((thread(&told.run, asked).rows(choice)?, told.run))) {
                Ok((of_run, told)) => {
                    let line = |row: azure::Row| {
                        let said = row.response_text();
                        // Only the last turn has the answer of the run.
                        let answer =
                            told.answer.as_ref().filter(|_| choice.part == azure::Part::Last);
                        let answer = answer.map(|answer| as_text(&answer.value));
                        let all = evaluation_file::columns(run, asked, &told, row);
                        let all = with_text(all, answer.or(said));
                        let all = evaluation_file::with_own(all, &told.row);
                        line(with_truth_text(all))
                    };
                    let lines = of_run.into_iter().map(line);
                    rows.lines.extend(lines.inspect(|line| bytes += line.len() + 1));
                }
                Err(why) => rows.notes.push(left_out(run, &why)),
            }
            if bytes > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if read.is_break() {
            let message = format!(
                "The rows of these runs are larger than the {} MB that are read.",
                most >> 20
            );
            return Err(
                AppError::new(Code::BadRequest, message).hint("Choose fewer runs by the filter.")
            );
        }
        limit_notes(&mut rows.notes);
        Ok((rows, misread))
    }

    /// Calls `each` for every run that ended or waits, with the data of its suite and the parsed
    /// run or an error.
    fn each_run(
        self,
        runs: &[ScoredRun],
        mut each: impl FnMut(&ScoredRun, &SuiteData, Result<ParsedRun, String>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, AppError> {
        let open = self.app.require_folder()?;
        let tasks = open.flow.shelf.tasks();
        let made: Vec<&ScoredRun> = runs.iter().filter(|run| is_made(run)).collect();
        let ids: Vec<&str> = made.iter().map(|run| run.id.as_str()).collect();
        Ok(Reading::for_each_run(&open.flow, &ids, |at, told| {
            let told =
                told.map(|told| ParsedRun { run: with_tools(&tasks, made[at], told.run), ..told });
            each(made[at], &suite_data(&tasks, made[at]), told.map_err(|why| why.to_string()))
        }))
    }

    /// Writes runs with the results of scorers and judges in the format of `evaluate()`.
    pub(super) fn evaluation_file(
        self,
        request: &ReportRequest,
        whole: bool,
    ) -> Result<Report, AppError> {
        let open = self.app.require_folder()?;
        let wanted = request.scorer.as_deref();
        let scorers = crate::stats::scorers_with_scores(&open, wanted)?;
        let (mut runs, misread) =
            open.ask(|index| open.lists.rated(index, &request.filter, None))?;
        let (unreadable, broken) = self.unreadable(&request.filter)?.unzip();
        let sensitive =
            self.app.sensitive().leave_out_sensitive(request.include_sensitive, &mut runs)?;
        let all = runs.len();
        runs.truncate(if whole { all } else { PREVIEWED });
        let mut rows = self.rows(&runs)?;
        for name in scorers.iter().filter(|name| wanted.is_none_or(|wanted| wanted == *name)) {
            // These are separate queries; runs may be added or removed between them.
            let (scored, _) =
                open.ask(|index| open.lists.rated(index, &request.filter, Some(name)))?;
            let tasks = open.flow.shelf.tasks();
            for run in &scored {
                let said = evaluation_file::scored(run, threshold(&tasks, run));
                said.map_or(Ok(()), |said| rows.sheet.add_result(&run.id, said))
                    .map_err(too_much)?;
            }
        }
        let judged = self.judged_of(&rows.taken);
        for (id, said) in rows.taken.iter().zip(evaluation_file::judged(&judged, wanted)) {
            said.into_iter()
                .try_for_each(|said| rows.sheet.add_result(id, said))
                .map_err(too_much)?;
        }
        let made = rows.sheet.made().map_err(too_much)?;
        let mut text = made.text;
        let has_session = || runs.iter().any(|run| is_session(Some(&run.layout)));
        let is_redacted = request.redact.unwrap_or_else(has_session);
        let counts = redact_report(&mut text, is_redacted);
        let folder = &open.folder;
        let folder = if is_redacted { folder_name(&folder.path) } else { folder.name.clone() };
        let (bytes, cut) = cut_for_preview(&mut text, whole);
        limit_notes(&mut rows.unread);
        // In a preview, file-level data is only missing because rows are.
        let lost = made.notes.into_iter().filter(|_| whole || runs.len() == all);
        let notes = noted(&misread).chain(about(&runs, all, rows.failed, &judged)).chain(lost);
        let notes = notes.chain(broken).chain(rows.unread).chain(sensitive);
        let notes = notes.chain(counts.map(|counts| counts.describe())).collect();
        Ok(Report {
            bytes,
            cut,
            base64: false,
            text,
            file_name: format!("{}.json", file_stem(&folder).replace("-report", "-evaluation")),
            media_type: "application/json".to_owned(),
            baselines: Vec::new(),
            scorers,
            queries: false,
            runs: made.rows as u64,
            notes,
            redacted: counts.map(|counts| counts.total()),
            unreadable: unreadable.unwrap_or(0),
            causes_unread: 0,
            misread,
        })
    }

    /// Converts runs to rows: rows of evaluations unchanged, other runs to the inputs of
    /// evaluators.
    fn rows(self, runs: &[ScoredRun]) -> Result<Rows, AppError> {
        let sheet = EvaluationBuilder::new(runs.iter().map(|run| run.path.as_str()));
        let mut rows = Rows { sheet, taken: Vec::new(), failed: 0, unread: Vec::new() };
        let mut fits = Ok(());
        let _ = self.each_run(runs, |run, asked, told| {
            let inputs = told.and_then(|told| match told.run.row {
                Value::Null => Ok((Some(inputs(run, asked, &told.run)?), told)),
                _ => Ok((None, told)),
            });
            match inputs {
                Err(why) => rows.unread.push(left_out(run, &why)),
                Ok((inputs, told)) => {
                    rows.taken.push(run.id.clone());
                    rows.failed += usize::from(inputs.is_some() && run.state == RunState::Error);
                    fits = match inputs {
                        Some(inputs) => rows.sheet.take(&run.id, inputs),
                        None => rows.sheet.take_stored(&run.id, &run.path, told),
                    };
                }
            }
            if fits.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        fits.map_err(too_much).map(|()| rows)
    }

    /// Returns the judgements of runs, in their order.
    fn judged_of(self, ids: &[String]) -> Vec<Vec<Judged>> {
        let marks = self.app.judging().model_marks();
        let of = |id: &String| {
            self.app
                .judging()
                .judged_by(id, &marks)
                .map(|(judged, _)| without_replies(judged))
                .unwrap_or_default()
        };
        ids.iter().map(of).collect()
    }
}

/// Rows of runs, and the reasons for omitted runs.
struct Rows {
    sheet: EvaluationBuilder,
    /// Ids of the runs with a row, in order.
    taken: Vec<String>,
    /// Number of runs of this program that ended in a system error.
    failed: usize,
    /// Reasons for omitted runs, as sentences.
    unread: Vec<String>,
}

fn too_much(why: String) -> AppError {
    AppError::new(Code::BadRequest, why).hint("Choose fewer runs with a filter.")
}

/// Removes raw replies, which are long and not part of results files.
fn without_replies(mut judged: Vec<Judged>) -> Vec<Judged> {
    for round in judged.iter_mut().flat_map(|one| &mut one.rounds) {
        round.replies = Vec::new();
    }
    judged
}

/// Returns true for runs that ended or wait.
fn is_made(run: &ScoredRun) -> bool {
    matches!(
        run.state,
        RunState::Answered | RunState::NoAnswer | RunState::Waiting | RunState::Error
    )
}

fn suite_data(tasks: &Tasks, run: &ScoredRun) -> SuiteData {
    let variation = (run.variation, run.variation_name.as_deref());
    suite_data_for(tasks, run.task.as_deref(), variation, run.system.as_deref())
}

/// Returns the prompt and expected output of a run from its suite. A variation is a number or a
/// name.
pub(super) fn suite_data_for(
    tasks: &Tasks,
    task: Option<&str>,
    (variation, name): (Option<u32>, Option<&str>),
    system: Option<&str>,
) -> SuiteData {
    let Some(task) = task.and_then(|task| tasks.get(task)) else {
        return SuiteData::default();
    };
    let at = task.variation(variation, name);
    let given = name.is_some_and(|name| name.ends_with(" (oracle)"));
    let expected = at.and_then(|at| task.yardsticks.get(at)?.expected.as_deref().cloned());
    SuiteData { prompt: task.prompt(at, system, given), expected }
}

fn with_tools(tasks: &Tasks, run: &ScoredRun, told: Run) -> Run {
    with_offered_tools(tasks, run.task.as_deref(), run.system.as_deref(), told)
}

/// Adds the tools offered to a run if the transcript does not list them.
pub(super) fn with_offered_tools(
    tasks: &Tasks,
    task: Option<&str>,
    system: Option<&str>,
    mut told: Run,
) -> Run {
    if let Some(task) = task.and_then(|task| tasks.get(task)) {
        let offers = tool_offers::of_run(&task.tools, told.layout, system);
        tool_offers::add_to_run(&mut told, &offers);
    }
    told
}

/// Returns the pass threshold of the scorer of a run, if its suite sets one.
fn threshold(tasks: &Tasks, run: &ScoredRun) -> Option<f64> {
    let task = tasks.get(run.task.as_deref()?)?;
    let at = task.variation(run.variation, run.variation_name.as_deref())?;
    let panel = task.yardsticks.get(at)?.panel(run.variation.is_none());
    panel.scorers.iter().find(|scorer| Some(scorer.name()) == run.scorer.as_deref())?.threshold()
}

/// Returns the conversation of a run; a missing prompt is taken from the suite.
fn thread(run: &Run, asked: &SuiteData) -> azure::Thread {
    azure::of_run(run).with_prompt(asked.prompt.as_deref())
}

fn inputs(run: &ScoredRun, asked: &SuiteData, told: &Run) -> Result<Columns, String> {
    let row = thread(told, asked).rows(&Choice::default())?.pop().unwrap_or_default();
    let mut inputs = evaluation_file::columns(run, asked, told, row);
    evaluation_file::plainly(&mut inputs);
    Ok(inputs)
}

fn line(columns: Columns) -> String {
    json::write(
        &Value::Map(columns.into_iter().map(|(name, value)| (Value::Text(name), value)).collect()),
        false,
    )
}

/// Inserts a text column for evaluators that take text, after the messages that others take.
fn with_text(mut columns: Columns, text: Option<String>) -> Columns {
    let at = columns.iter().position(|(name, _)| name == "response");
    if let (Some(at), Some(text)) = (at, text) {
        columns.insert(at + 1, ("response_text".to_owned(), Value::Text(text)));
    }
    columns
}

/// Inserts the text of an expected output that is not text.
fn with_truth_text(mut columns: Columns) -> Columns {
    let at = columns.iter().position(|(name, _)| name == "ground_truth");
    let truth = at.and_then(|at| Some((at, &columns.get(at)?.1)));
    if let Some((at, truth)) =
        truth.filter(|(_, truth)| truth.text().is_none() && **truth != Value::Null)
    {
        let text = Value::Text(as_text(truth));
        if columns.iter().all(|(name, _)| name != "ground_truth_text") {
            columns.insert(at + 1, ("ground_truth_text".to_owned(), text));
        }
    }
    columns
}

/// Returns a text as it is, and another value as JSON.
fn as_text(value: &Value) -> String {
    value.text().map_or_else(|| json::write(value, false), str::to_owned)
}

fn left_out(run: &ScoredRun, why: &str) -> String {
    format!("Left out, because it cannot be read: {}. {why}", run.path)
}

/// Keeps the first notes and adds the number of further ones.
fn limit_notes(notes: &mut Vec<String>) {
    let more = notes.len().saturating_sub(NAMED);
    notes.truncate(NAMED);
    notes.extend((more > 0).then(|| format!("And {more} more that cannot be read.")));
}

/// Returns notes on the file for the reader.
fn about(runs: &[ScoredRun], all: usize, errors: usize, judged: &[Vec<Judged>]) -> Vec<String> {
    let mut notes = Vec::new();
    if runs.len() < all {
        notes.push(format!(
            "The preview and its metrics cover the first {} of {all} runs.",
            runs.len()
        ));
    }
    let unmade = runs.iter().filter(|run| !is_made(run)).count();
    if unmade > 0 {
        notes.push(format!("Unreadable files and files that are not runs have no row: {unmade}."));
    }
    if errors > 0 {
        notes.push(format!(
            "Runs that ended in a system error have a row with `inputs.error` and without results: {errors}."
        ));
    }
    let replays = runs.iter().filter(|run| run.model.as_deref() == Some(REPLAY)).count();
    if replays > 0 {
        notes.push(format!(
            "Replays are among these rows, unlike in the other reports: {replays}. \
             `-model:replay` leaves them out."
        ));
    }
    let stale = judged.iter().flatten().filter(|one| one.stale.is_some()).count();
    if stale > 0 {
        notes.push(format!("Stale judgements are left out: {stale}."));
    }
    notes
}
