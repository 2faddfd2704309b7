//! Queries for statistics. Counts nothing itself: that is `scoring::aggregate`.
mod choice;
mod filled;
pub(crate) mod leaderboard;
mod overview;
pub(crate) mod plots;
mod run_sets;
pub(crate) mod set_changes;
#[cfg(test)]
mod tests;
pub(crate) mod trends;

use crate::error::{AppError, Code};
use crate::{App, OpenFolder};
use touchstone_api::{Stats, StatsRequest};
use touchstone_scoring::aggregate::{Aggregate, Column, Counted};
use touchstone_store::query::{ScoredRun, shown_scorer};

/// The actions on statistics of runs.
#[derive(Clone, Copy)]
pub struct StatsActions<'a> {
    pub(crate) app: &'a App,
}

impl StatsActions<'_> {
    /// Returns the evaluators of the files that can be chosen as a scorer, as `verdict:NAME`.
    pub fn evaluators(self) -> Result<Vec<String>, AppError> {
        let mut scorers = known_scorers(&*self.app.require_folder()?, None)?;
        scorers.retain(|name| shown_scorer(name) != name);
        Ok(scorers)
    }

    /// Returns the statistics of runs: each system with each model, and comparisons with a
    /// baseline.
    pub fn systems(self, request: &StatsRequest) -> Result<Stats, AppError> {
        let open = self.app.require_folder()?;
        let scorer = request.scorer.as_deref();
        known_scorers(&open, scorer)?;
        let ((runs, misread), generation) = open.ask(|index| {
            Ok((open.lists.scored(index, &request.filter, scorer)?, index.generation()))
        })?;
        let left_out_runs = open.ask(|index| open.lists.left_out(index, &request.filter))?;
        Ok(Stats {
            generation,
            left_out_runs,
            misread,
            ..compute(&runs, request.baseline.as_deref())?
        })
    }
}

/// Returns the statistics of these runs. A baseline that is not among them is an error, because a
/// comparison with another one would mislead.
fn compute(runs: &[ScoredRun], baseline: Option<&str>) -> Result<Stats, AppError> {
    let counted: Vec<Counted<'_>> = runs.iter().map(ScoredRun::counted).collect();
    let baseline = baseline.map(|name| named(&counted, name)).transpose()?;
    let standing = Aggregate::new(&counted, baseline);
    Ok(filled::stats(&standing, runs))
}

fn named<'a>(runs: &[Counted<'a>], name: &str) -> Result<Column<'a>, AppError> {
    let columns = Aggregate::columns(runs);
    known_baseline(columns.iter().map(Column::label), name)?;
    let found = columns.iter().find(|column| column.label() == name).copied();
    found.ok_or_else(|| {
        AppError::new(Code::BadRequest, format!("No run among these is of `{name}`."))
    })
}

/// Returns the scorers of the folder and the evaluators of its files. Fails if the wanted one has no
/// scores here: numbers without any score behind them would mislead.
pub(super) fn known_scorers(
    open: &OpenFolder,
    wanted: Option<&str>,
) -> Result<Vec<String>, AppError> {
    among(open.ask(|index| open.lists.scorers_and_evaluators(index))?, wanted)
}

/// Returns the scorers of the folder, for files that have the verdicts of evaluators beside scores.
/// Fails if the wanted one has no scores here.
pub(super) fn scorers_with_scores(
    open: &OpenFolder,
    wanted: Option<&str>,
) -> Result<Vec<String>, AppError> {
    among(open.ask(|index| open.lists.scorers(index))?, wanted)
}

fn among(known: Vec<String>, wanted: Option<&str>) -> Result<Vec<String>, AppError> {
    let Some(name) = wanted.filter(|name| !known.iter().any(|known| known == name)) else {
        return Ok(known);
    };
    let hint = if known.is_empty() {
        "No run here has a score.".to_owned()
    } else {
        format!("Choose one of: {}.", known.join(", "))
    };
    Err(AppError::new(Code::BadRequest, format!("No run here is scored by `{name}`.")).hint(hint))
}

/// Fails if the baseline is not among the known ones.
pub(super) fn known_baseline(
    known: impl Iterator<Item = String>,
    name: &str,
) -> Result<(), AppError> {
    let known: Vec<String> = known.collect();
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let hint = if known.is_empty() {
        "No run passes the filter.".to_owned()
    } else {
        format!("There are {}.", known.join(", "))
    };
    let message = format!("No run among these is of `{name}`, so nothing can be compared with it.");
    Err(AppError::new(Code::BadRequest, message).hint(hint))
}
