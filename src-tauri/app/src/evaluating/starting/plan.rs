//! Estimates an evaluation before anything is sent: remaining requests, stored replies and cost.
use super::models::ModelSetup;
use super::{FileRequest, ResolvedRequest, bad, disk, free, of_file, usable};
use crate::error::AppError;
use crate::evaluating::EvaluationActions;
use crate::evaluating::data_files::table;
use crate::evaluating::evaluations::Models;
use crate::evaluating::job::estimate::{estimate_remaining, key, key_of_texts, requests, vectors};
use crate::evaluating::job::evaluation_spec::{Configured, EvaluationSpec, mark};
use crate::evaluating::job::row_inputs::{self, OccurrenceCounter, RowInputs, TargetOutput};
use crate::judging::job::pending::CallEstimate;
use crate::judging::judge_jobs::{asked_model, turns};
use std::sync::Arc;
use touchstone_api::{Blocker, EvaluateAgain, EvaluatePlan, EvaluateRequest};
use touchstone_judges::azure::{Evaluation, Next, Table};
use touchstone_runner::evaluations::OutputFile;
use touchstone_runner::journal::JournalSnapshot;
use touchstone_runner::{execute, target};

impl EvaluationActions<'_> {
    /// Returns the plan of a request from the page. Nothing is sent.
    pub fn plan_evaluating(self, request: &EvaluateRequest) -> Result<EvaluatePlan, AppError> {
        self.plan_of(&self.of_page(request)?, request)
    }

    /// Returns the plan of a request from the command line.
    pub fn plan_evaluating_file(self, asked: &FileRequest) -> Result<EvaluatePlan, AppError> {
        self.plan_of(&of_file(asked)?, &asked.request)
    }

    fn plan_of(
        self,
        asked: &ResolvedRequest,
        request: &EvaluateRequest,
    ) -> Result<EvaluatePlan, AppError> {
        let wish = EvaluationSpec::read(request, &asked.usual).map_err(bad)?;
        let table = table(&asked.found, &wish.quirks)?;
        let ModelSetup { models, unbound, .. } = self.models(&wish, request)?;
        let is_kept =
            (wish.is_paid() || !asked.target.is_empty()) && asked.again != EvaluateAgain::All;
        let kept = asked
            .place
            .as_ref()
            .filter(|_| is_kept)
            .map(OutputFile::journal_snapshot)
            .transpose()
            .map_err(disk)?;
        let said = (!asked.target.is_empty())
            .then(|| answered(&wish, &table, &asked.target, kept.as_ref()));
        let target = said.iter().flatten().filter(|said| said.is_err()).count() as u64;
        let sheet = RowInputs::new(&wish, &table, said).with_occurrences(&wish);
        let RemainingRequests { asks, embeds, known, unread } =
            owed(&wish, &sheet, &models, kept.as_ref(), asked.again);
        let has_answered = !asked.target.is_empty() && target < table.rows.len() as u64;
        let strays = wish.check_unused_mappings(|| known > 0 || has_answered).map_err(bad)?;
        let lacks = if target == 0 {
            sheet.missing_inputs(&wish)
        } else {
            sheet.unknown_references(&wish, true)
        };
        let (each, more) = requests_per_row(&wish, target);
        let (sum, known_first) = (asks.and(embeds), target == 0 || more == (0, 0));
        let cost = cost(&models, asks, embeds).filter(|_| known_first);
        Ok(EvaluatePlan {
            rows: table.rows.len() as u64,
            calls_least: sum.calls.0 + more.0,
            calls_most: sum.calls.1 + more.1,
            kept: known,
            unread,
            target,
            each,
            tokens_least: known_first.then_some(sum.sent.0 + sum.received.0),
            tokens_most: known_first.then_some(sum.sent.1 + sum.received.1),
            cost_least: cost.map(|(least, _)| least),
            cost_most: cost.map(|(_, most)| most),
            out: asked.shown.clone().unwrap_or_default(),
            exists: asked
                .place
                .as_ref()
                .map(OutputFile::exists)
                .transpose()
                .map_err(disk)?
                .unwrap_or(false),
            notes: sheet.notes.clone(),
            lacks: strays.into_iter().chain(lacks).collect(),
            unbound,
            why_not: self.refusal(asked, &wish, &table, &models),
        })
    }

    /// Returns the reason why the evaluation would not start. A results file that would be replaced
    /// is reported separately.
    fn refusal(
        self,
        asked: &ResolvedRequest,
        wish: &EvaluationSpec,
        table: &Arc<Table>,
        models: &Models,
    ) -> Option<Blocker> {
        let checked = usable(asked, table, wish)
            .and_then(|()| startable(asked, wish, table))
            .and_then(|()| self.keyed(models));
        checked
            .and_then(|()| free(asked, true))
            .err()
            .map(|AppError { message, hint, .. }| Blocker { message, fix: hint })
    }
}

/// Unused mappings are errors, unless there are paid replies that were made with them; then they
/// are returned as notes.
pub(super) fn unused_mappings(
    asked: &ResolvedRequest,
    wish: &EvaluationSpec,
    table: &Arc<Table>,
    models: &Models,
) -> Result<Vec<String>, AppError> {
    if !wish.has_unused_mappings() {
        return Ok(Vec::new());
    }
    let kept = asked.place.as_ref().filter(|_| asked.again != EvaluateAgain::All);
    let kept = kept.map(OutputFile::journal_snapshot).transpose().map_err(disk)?;
    let is_begun = || {
        let said =
            (!asked.target.is_empty()).then(|| answered(wish, table, &asked.target, kept.as_ref()));
        let has_answered = said.iter().flatten().any(Result::is_ok);
        let sheet = RowInputs::new(wish, table, said).with_occurrences(wish);
        has_answered || owed(wish, &sheet, models, kept.as_ref(), asked.again).known > 0
    };
    wish.check_unused_mappings(is_begun).map_err(bad)
}

/// Fails if the target cannot be started, unless its outputs are all stored.
pub(super) fn startable(
    asked: &ResolvedRequest,
    wish: &EvaluationSpec,
    table: &Table,
) -> Result<(), AppError> {
    if asked.target.is_empty() {
        return Ok(());
    }
    let Err(why) = target::check(&asked.target) else { return Ok(()) };
    let kept = asked.place.as_ref().filter(|_| asked.again != EvaluateAgain::All);
    let kept = kept.map(OutputFile::journal_snapshot).transpose().map_err(disk)?;
    if answered(wish, table, &asked.target, kept.as_ref()).iter().all(Result::is_ok) {
        return Ok(());
    }
    Err(bad(why).hint("Pass --target a command that runs on this machine."))
}

/// Returns the stored target output of each row; an error for rows that are not stored.
fn answered(
    wish: &EvaluationSpec,
    table: &Table,
    target: &[String],
    kept: Option<&JournalSnapshot>,
) -> Vec<TargetOutput> {
    let mut again = OccurrenceCounter::default();
    let mut of = |row: usize| {
        let asked = row_inputs::target_input(table, row);
        let call = row_inputs::call(target, &asked, again.nth(&asked));
        kept.and_then(|kept| {
            row_inputs::recorded_columns(wish, kept.find_outcome(row_inputs::TURN, &call)?)
        })
    };
    (0..table.rows.len())
        .map(|row| of(row).ok_or_else(|| "The target has not run yet.".to_owned()))
        .collect()
}

/// Remaining and stored requests.
#[derive(Default)]
struct RemainingRequests {
    /// Remaining requests to the judge model.
    asks: CallEstimate,
    /// Remaining requests to the embedding model.
    embeds: CallEstimate,
    /// Number of stored replies.
    known: u64,
    /// Number of rounds with stored replies that could not be parsed.
    unread: u64,
}

fn owed(
    wish: &EvaluationSpec,
    sheet: &RowInputs,
    models: &Models,
    kept: Option<&JournalSnapshot>,
    again: EvaluateAgain,
) -> RemainingRequests {
    let mut owed = RemainingRequests::default();
    for (at, one) in wish.evaluators.iter().enumerate().filter(|(_, one)| one.is_paid()) {
        for row in 0..sheet.table.rows.len() {
            let Ok(inputs) = sheet.inputs(wish, at, row) else { continue };
            for round in 0..wish.rounds_of(at) {
                let evaluation = Evaluation::new(&one.evaluator, &inputs, &wish.quirks);
                let mark = |key: u128| mark(sheet.nth(at, row, key), &one.evaluator.name, round);
                if let Next::Embed(texts) = evaluation.next() {
                    let found = kept.zip(models.embedder.as_ref()).is_some_and(|(kept, model)| {
                        execute::has_embeddings(kept, model, &mark(key_of_texts(&texts)), &texts)
                    });
                    owed.known += u64::from(found);
                    owed.embeds =
                        if found { owed.embeds } else { owed.embeds.and(vectors(&texts)) };
                    continue;
                }
                let left =
                    estimate_remaining(evaluation, again == EvaluateAgain::Unread, |question| {
                        let (kept, model) = kept.zip(models.judge.as_ref())?;
                        execute::journaled_reply(
                            kept,
                            &asked_model(model, question),
                            &mark(key(question)),
                            &question.instructions,
                            &turns(question),
                        )
                    });
                owed.asks = owed.asks.and(left.takes);
                owed.known += left.kept;
                owed.unread += u64::from(left.unread);
            }
        }
    }
    owed
}

/// Estimates requests for rows whose inputs only the target provides: one sentence per evaluator,
/// and the minimum and maximum total.
fn requests_per_row(wish: &EvaluationSpec, rows: u64) -> (Vec<String>, (u64, u64)) {
    let (mut each, mut sum) = (Vec::new(), (0, 0));
    let paid = |one: &(usize, &Configured)| rows > 0 && one.1.is_paid();
    for (at, one) in wish.evaluators.iter().enumerate().filter(paid) {
        let (least, most) = requests(&one.evaluator, &wish.quirks);
        let rounds = wish.rounds_of(at);
        let many = if least == most { most.to_string() } else { format!("{least} to {most}") };
        let noun = if most == 1 { "request" } else { "requests" };
        let times =
            if rounds == 1 { String::new() } else { format!(", in each of {rounds} rounds") };
        each.push(format!("{}: {many} {noun} for each row{times}.", one.evaluator.name));
        let all = rows * u64::from(rounds);
        sum = (sum.0 + all * least, sum.1 + all * most);
    }
    (each, sum)
}

/// Returns the minimum and maximum cost in dollars; `None` if the price of a used model is unknown.
fn cost(models: &Models, asks: CallEstimate, embeds: CallEstimate) -> Option<(f64, f64)> {
    let mut sum = None;
    for (model, takes) in [(&models.judge, asks), (&models.embedder, embeds)] {
        let Some(model) = model else { continue };
        let (least, most) = sum.unwrap_or_default();
        let price = model.price?;
        let cost = takes.cost(price.input, price.output);
        sum = Some((least + cost.0, most + cost.1));
    }
    sum
}
