//! Runs as other people's evaluators take and give them: rows to be evaluated, and the file that `evaluate()` writes.
use super::App;
use super::reporting::{cut_for_preview, file_stem, known_scorer, noted};
use crate::error::{AppError, Code};
use crate::reading::Reading;
use crate::reading::given::Given;
use crate::reports::evaluation_file::{self, Asked, Columns, Line};
use crate::results::query::ScoredRun;
use crate::results::suites::Tasks;
use crate::rows::{Judged, Misread, Report, ReportRequest, RunState};
use std::collections::HashMap;
use touchstone_formats::kind::{FileKind, detect};
use touchstone_formats::run::Run;
use touchstone_formats::stabletoolbench::answers::raw;
use touchstone_formats::value::Value;
use touchstone_formats::{ReadError, azure, collection, json, transcript};

pub use touchstone_formats::azure::{Choice, Part};

/// How much of a file tells what it is.
const HEAD: usize = 16 << 10;
/// Runs that are held at the same time.
const AT_ONCE: usize = 200;
/// Runs that a preview reads.
const PREVIEWED: usize = 200;
/// Runs that are named among those that were left out.
const NAMED: usize = 20;

/// Rows for evaluators, as lines of JSON, and what a reader should know of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EvaluatorRows {
    /// A row each.
    pub lines: Vec<String>,
    /// As sentences.
    pub notes: Vec<String>,
}

/// The rows of a file: threads of messages of any shape, a transcript, a raw answer, or a file that holds many runs.
pub fn rows_of_file(file: &Given, choice: &Choice) -> Result<EvaluatorRows, AppError> {
    let refused = |why: &ReadError| {
        let line = why.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        let error = AppError::new(Code::BadRequest, format!("{} could not be converted: {why}{line}", file.name));
        why.advice.iter().fold(error, |error, advice| error.hint(advice.clone()))
    };
    let name = file.name.rsplit('/').next().unwrap_or(&file.name);
    let mut rows = EvaluatorRows::default();
    let threads = match detect(name, &file.bytes[..file.bytes.len().min(HEAD)]) {
        FileKind::Transcript => transcript::read(&file.bytes).map(|run| vec![azure::of_run(&run)]),
        FileKind::RawAnswer => raw::read(&file.bytes).map(|run| vec![azure::of_run(&run)]),
        FileKind::Collection => collection::Collection::open(name, &file.bytes).map(|many| {
            let read = |at: usize| match many.run(at) {
                Ok(run) => Some(azure::of_run(&run)),
                Err(why) => {
                    rows.notes.push(format!("{}#{} is left out: {why}", file.name, many.key(at)));
                    None
                }
            };
            (0..many.len()).filter_map(read).collect()
        }),
        _ => azure::read(&file.bytes),
    };
    for thread in threads.map_err(|why| refused(&why))? {
        let of_thread =
            thread.rows(choice).map_err(|why| AppError::new(Code::BadRequest, format!("{}: {why}", file.name)))?;
        rows.lines.extend(of_thread.into_iter().map(|row| json::write(&row.value(), false)));
    }
    Ok(rows)
}

impl App {
    /// The rows of the runs that pass a filter, each with which run it is and what was expected.
    pub fn rows_of_runs(&self, filter: &str, choice: &Choice) -> Result<(EvaluatorRows, Vec<Misread>), AppError> {
        let open = self.opened()?;
        let (runs, misread) = open.ask(|index| open.lists.scored(index, filter, None))?;
        let mut rows = EvaluatorRows::default();
        self.each_run(&runs, |run, asked, told| {
            match told.and_then(|told| Ok((thread(&told, asked).rows(choice)?, told))) {
                Ok((of_run, told)) => {
                    let one = |row| object(evaluation_file::columns(run, asked, &told, row));
                    rows.lines.extend(of_run.into_iter().map(|row| json::write(&one(row), false)));
                }
                Err(why) => rows.notes.push(left_out(run, &why)),
            }
        })?;
        some(&mut rows.notes);
        Ok((rows, misread))
    }

    /// Hands over runs that were made, a few at a time, each with what its suite says and what it did, or why that cannot be read.
    fn each_run(
        &self,
        runs: &[ScoredRun],
        mut each: impl FnMut(&ScoredRun, &Asked, Result<Run, String>),
    ) -> Result<(), AppError> {
        let open = self.opened()?;
        let tasks = open.flow.shelf.tasks();
        let made: Vec<&ScoredRun> = runs.iter().filter(|run| is_made(run)).collect();
        for some in made.chunks(AT_ONCE) {
            let ids: Vec<&str> = some.iter().map(|run| run.id.as_str()).collect();
            for (run, told) in some.iter().zip(Reading::all(&open.flow, &ids)) {
                each(run, &asked(&tasks, run), told.map_err(|why| why.to_string()));
            }
        }
        Ok(())
    }

    /// Writes runs with what scorers and judges said of them in the shape of `evaluate()`.
    pub(super) fn evaluation_file(&self, request: &ReportRequest, whole: bool) -> Result<Report, AppError> {
        let open = self.opened()?;
        let scorers = open.ask(|index| open.lists.scorers(index))?;
        let wanted = request.scorer.as_deref();
        known_scorer(wanted, &scorers)?;
        let names: Vec<Option<&str>> =
            if wanted.is_some() { vec![wanted] } else { scorers.iter().map(|name| Some(name.as_str())).collect() };
        let by = |name| open.ask(|index| open.lists.scored(index, &request.filter, name));
        let (mut runs, misread) = by(None)?;
        let scored = names.into_iter().map(by).collect::<Result<Vec<_>, _>>()?;
        // Each is a read of its own, and runs may come and go between two of them.
        let by_id = |(runs, _): (Vec<ScoredRun>, _)| runs.into_iter().map(|run| (run.id.clone(), run)).collect();
        let scored: Vec<HashMap<String, ScoredRun>> = scored.into_iter().map(by_id).collect();
        let (unreadable, broken) = self.unreadable(&request.filter)?.unzip();
        let all = runs.len();
        let shown = if whole { all } else { all.min(PREVIEWED) };
        runs.truncate(shown);
        let tasks = open.flow.shelf.tasks();
        let (mut lines, mut judged, mut unread) = (Vec::new(), Vec::new(), Vec::new());
        let marks = self.model_marks();
        self.each_run(&runs, |run, asked, told| match told.and_then(|told| inputs(run, asked, &told)) {
            Ok(inputs) => {
                let of = |all: &HashMap<String, ScoredRun>| {
                    let one = all.get(&run.id)?;
                    evaluation_file::scored(one, threshold(&tasks, one))
                };
                lines.push(Line { inputs, said: scored.iter().filter_map(of).collect() });
                judged.push(
                    self.judged_by(&run.id, &marks).map(|(judged, _)| without_replies(judged)).unwrap_or_default(),
                );
            }
            Err(why) => unread.push(left_out(run, &why)),
        })?;
        for (line, said) in lines.iter_mut().zip(evaluation_file::judged(&judged, wanted)) {
            line.said.extend(said);
        }
        let mut text = evaluation_file::write(&lines);
        let (bytes, cut) = cut_for_preview(&mut text, whole);
        some(&mut unread);
        let notes = noted(&misread).chain(about(&runs, all, &judged)).chain(broken).chain(unread).collect();
        Ok(Report {
            bytes,
            cut,
            text,
            file_name: format!("{}.json", file_stem(&open.folder.name).replace("-report", "-evaluation")),
            media_type: "application/json".to_owned(),
            baselines: Vec::new(),
            scorers,
            queries: false,
            runs: lines.len() as u64,
            notes,
            unreadable: unreadable.unwrap_or(0),
            misread,
        })
    }
}

/// Raw replies are long, and no file of results has them.
fn without_replies(mut judged: Vec<Judged>) -> Vec<Judged> {
    for round in judged.iter_mut().flat_map(|one| &mut one.rounds) {
        round.replies = Vec::new();
    }
    judged
}

/// There is something to be said of it: it ended, or waits.
fn is_made(run: &ScoredRun) -> bool {
    matches!(run.state, RunState::Answered | RunState::NoAnswer | RunState::Waiting | RunState::Error)
}

/// What the suite of a run says of it.
fn asked(tasks: &Tasks, run: &ScoredRun) -> Asked {
    let Some(task) = run.task.as_deref().and_then(|task| tasks.get(task)) else { return Asked::default() };
    let at = task.variation(run.variation, run.variation_name.as_deref());
    let given = run.variation_name.as_deref().is_some_and(|name| name.ends_with(" (oracle)"));
    let expected = at.and_then(|at| task.yardsticks.get(at)?.expected.as_deref().cloned());
    Asked { prompt: task.prompt(at, run.system.as_deref(), given), expected }
}

/// From which score on a scorer passes a run, where its suite says.
fn threshold(tasks: &Tasks, run: &ScoredRun) -> Option<f64> {
    let task = tasks.get(run.task.as_deref()?)?;
    let at = task.variation(run.variation, run.variation_name.as_deref())?;
    let panel = task.yardsticks.get(at)?.panel(run.variation.is_none());
    panel.scorers.iter().find(|scorer| Some(scorer.name()) == run.scorer.as_deref())?.threshold()
}

/// What was said and done; a file that does not say what was asked has it from its suite.
fn thread(run: &Run, asked: &Asked) -> azure::Thread {
    azure::of_run(run).asked(asked.prompt.as_deref())
}

fn inputs(run: &ScoredRun, asked: &Asked, told: &Run) -> Result<Columns, String> {
    let row = thread(told, asked).rows(&Choice::default())?.pop().unwrap_or_default();
    let mut inputs = evaluation_file::columns(run, asked, told, row);
    evaluation_file::plainly(&mut inputs);
    Ok(inputs)
}

fn object(columns: Columns) -> Value {
    Value::Map(columns.into_iter().map(|(name, value)| (Value::Text(name), value)).collect())
}

fn left_out(run: &ScoredRun, why: &str) -> String {
    format!("Left out, because it cannot be read: {}. {why}", run.path)
}

/// The first of many notes, and how many more there are.
fn some(notes: &mut Vec<String>) {
    let more = notes.len().saturating_sub(NAMED);
    notes.truncate(NAMED);
    notes.extend((more > 0).then(|| format!("And {more} more that cannot be read.")));
}

/// What a reader of the file should know.
fn about(runs: &[ScoredRun], all: usize, judged: &[Vec<Judged>]) -> Vec<String> {
    let mut notes = Vec::new();
    if runs.len() < all {
        notes.push(format!("The preview is of the first {} of {all} runs, and so are its metrics.", runs.len()));
    }
    let unmade = runs.iter().filter(|run| !is_made(run)).count();
    if unmade > 0 {
        notes.push(format!("What cannot be read, and files that are no runs, are in no row: {unmade}."));
    }
    let errors = runs.iter().filter(|run| run.state == RunState::Error).count();
    if errors > 0 {
        notes.push(format!(
            "Runs that ended in a system error have a row with `inputs.error` and without results: {errors}."
        ));
    }
    let stale = judged.iter().flatten().filter(|one| one.stale.is_some()).count();
    if stale > 0 {
        notes.push(format!("Judgements that do not hold any more are left out: {stale}."));
    }
    notes
}
