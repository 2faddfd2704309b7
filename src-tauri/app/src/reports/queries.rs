//! **Pure.** Results of query sets: sums up runs with the functions of `scoring`, and sets them
//! beside published results.
use std::collections::BTreeMap;
use touchstone_api::{
    OwnFigure, OwnRow, PublishedFigure, PublishedRow, QueryMean, QuerySet, QueryShare,
    QuerySummary, RunState, ScoreStanding,
};
use touchstone_judges::stabletoolbench::{
    self as counted, Evaluation, Figure, SETS, Summary, Visibility,
};
use touchstone_metrics::stats::{Estimate, Passes};
use touchstone_store::query::ScoredRun;

/// A run of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryRun {
    /// The run, with its API call score.
    pub(crate) run: ScoredRun,
    /// Test set; empty if the query is in none.
    pub(crate) set: String,
    /// Id of the query.
    pub(crate) query: String,
    /// Result of the `finish` scorer; `None` without one.
    pub(crate) finished: Option<bool>,
    /// `SoPR` score with its reason.
    pub(crate) sopr: Option<QueryScore>,
    /// FAC score.
    pub(crate) fac: Option<QueryScore>,
}

/// A score of a scorer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryScore {
    pub(crate) scorer: String,
    pub(crate) score: f64,
    pub(crate) reason: String,
    /// Model that judged; `None` for scorers without a model.
    pub(crate) model: Option<String>,
    /// Duration of asking a judge: 0 for a scorer without one, `None` if not recorded.
    pub(crate) seconds: Option<f64>,
}

impl QueryRun {
    /// Returns true for a run that ended, other than in a system error.
    pub(crate) fn is_evaluation(&self) -> bool {
        matches!(self.run.state, RunState::Answered | RunState::NoAnswer)
    }

    /// Returns `system/model`.
    pub(crate) fn name(&self) -> String {
        let of = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
        format!("{}/{}", of(&self.run.system), of(&self.run.model))
    }

    fn evaluation(&self, score: Option<f64>) -> Evaluation<'_> {
        Evaluation {
            query: &self.query,
            sopr: score,
            api_calls: requested_score(&self.run).map(|given| given.score),
            finished: self.finished,
            answered: self.run.state == RunState::Answered,
            seconds: self.run.seconds,
        }
    }
}

/// Returns the score of the requested scorer.
pub(crate) fn requested_score(run: &ScoredRun) -> Option<QueryScore> {
    let score = run.score.filter(|_| run.scoring == Some(ScoreStanding::Scored))?;
    let (scorer, reason) = (run.scorer.clone()?, run.score_reason.clone().unwrap_or_default());
    Some(QueryScore { scorer, score, reason, model: None, seconds: None })
}

/// Splits a task name into the test set and the id of the query.
pub(crate) fn set_and_id(task: &str) -> (&str, &str) {
    let (place, id) = task.rsplit_once('/').unwrap_or(("", task));
    (place.rsplit('/').next().unwrap_or_default(), id)
}

/// Sums up runs.
pub(crate) fn counted(runs: &[&QueryRun]) -> Summary {
    let evaluations: Vec<Evaluation<'_>> = runs
        .iter()
        .filter(|run| run.is_evaluation())
        .map(|run| run.evaluation(run.sopr.as_ref().map(|given| given.score)))
        .collect();
    Summary::from_evaluations(&evaluations)
}

/// Groups runs by system and model.
pub(crate) fn by_name(runs: &[QueryRun]) -> BTreeMap<String, Vec<&QueryRun>> {
    let mut groups: BTreeMap<String, Vec<&QueryRun>> = BTreeMap::new();
    for run in runs {
        groups.entry(run.name()).or_default().push(run);
    }
    groups
}

/// Returns the summary of each system with each model.
pub(crate) fn summaries(runs: &[QueryRun]) -> Vec<QuerySummary> {
    by_name(runs).into_iter().map(|(name, runs)| summary(name, &runs)).collect()
}

fn summary(name: String, runs: &[&QueryRun]) -> QuerySummary {
    let of = counted(runs);
    let left_out = runs.iter().filter(|run| !run.is_evaluation()).count() as u64;
    let with_api_calls = runs
        .iter()
        .filter(|run| run.is_evaluation() && requested_score(&run.run).is_some())
        .count() as u64;
    let judged_answers =
        runs.iter().filter(|run| run.run.state == RunState::Answered && run.sopr.is_some()).count()
            as u64;
    QuerySummary {
        name,
        total_queries: of.queries,
        total_evaluations: of.evaluations,
        left_out,
        answered: of.answered,
        judged_by: runs.iter().find_map(|run| Some(run.sopr.as_ref()?.scorer.clone())),
        solved: of.solved.map(share),
        unsure: of.unsure.map(share),
        unsolved: of.unsolved.map(share),
        finished: of.finished.map(share),
        average_sopr_score: of.sopr.map(|it| mean(it, of.judged)),
        average_sopr_of_answered: of.sopr_of_answered.map(|it| mean(it, judged_answers)),
        average_api_call_score: of.api_calls.map(|it| mean(it, with_api_calls)),
        seconds: of.seconds,
        timed: of.timed,
    }
}

fn share(passes: Passes) -> QueryShare {
    QueryShare {
        count: passes.passed,
        of: passes.of,
        percentage: passes.share() * 100.0,
        low: passes.interval.low * 100.0,
        high: passes.interval.high * 100.0,
    }
}

fn mean(estimate: Estimate, n: u64) -> QueryMean {
    let ends = estimate.interval.map(|it| (it.low.max(0.0), it.high.min(1.0)));
    QueryMean { value: estimate.value, low: ends.map(|it| it.0), high: ends.map(|it| it.1), n }
}

/// Returns the test sets.
pub(crate) fn sets() -> Vec<QuerySet> {
    SETS.iter()
        .map(|(name, queries)| QuerySet { name: (*name).to_owned(), queries: *queries })
        .collect()
}

/// Returns the results of the local runs that are comparable with published ones.
pub(crate) fn own_results(runs: &[QueryRun]) -> Vec<OwnRow> {
    let mut rows = Vec::new();
    for (name, runs) in by_name(runs) {
        for (metric, of) in [("SoPR", sopr as fn(&QueryRun) -> Option<&QueryScore>), ("FAC", fac)] {
            rows.extend(own_row(&name, metric, &runs, of));
        }
    }
    rows
}

fn sopr(run: &QueryRun) -> Option<&QueryScore> {
    run.sopr.as_ref()
}

fn fac(run: &QueryRun) -> Option<&QueryScore> {
    run.fac.as_ref()
}

fn own_row(
    name: &str,
    metric: &str,
    runs: &[&QueryRun],
    of: fn(&QueryRun) -> Option<&QueryScore>,
) -> Option<OwnRow> {
    let scorer = runs.iter().find_map(|run| Some(of(run)?.scorer.clone()))?;
    let figure = |runs: &[&QueryRun]| {
        let ended: Vec<&&QueryRun> = runs.iter().filter(|run| run.is_evaluation()).collect();
        let evaluations: Vec<Evaluation<'_>> =
            ended.iter().map(|run| run.evaluation(of(run).map(|given| given.score))).collect();
        let summary = Summary::from_evaluations(&evaluations);
        let mean = mean(summary.sopr?, summary.judged);
        let percent = |share: f64| share * 100.0;
        let (low, high) = (mean.low.map(percent), mean.high.map(percent));
        Some(OwnFigure {
            value: percent(mean.value),
            low,
            high,
            n: mean.n,
            of: summary.evaluations,
        })
    };
    let of_set = |(set, _): &(&str, u64)| {
        let runs: Vec<&QueryRun> = runs.iter().filter(|run| run.set == *set).copied().collect();
        figure(&runs)
    };
    let sets: Vec<Option<OwnFigure>> = SETS.iter().map(of_set).collect();
    let values: Option<Vec<f64>> =
        sets.iter().map(|figure| figure.map(|figure| figure.value)).collect();
    Some(OwnRow {
        name: name.to_owned(),
        metric: metric.to_owned(),
        scorer,
        mean: values.map(|values| values.iter().sum::<f64>() / 6.0),
        all: figure(runs)?,
        sets,
    })
}

/// Returns the published results.
pub(crate) fn published() -> Vec<PublishedRow> {
    let figure = |figure: Figure| PublishedFigure {
        value: figure.value,
        deviation: figure.deviation,
        bold: figure.bold,
    };
    let row = |row: &counted::Published| PublishedRow {
        source: format!("{}, line {}", row.file, row.line),
        standing: match row.standing {
            Visibility::Current => "current",
            Visibility::Hidden => "hidden",
            Visibility::Legacy => "legacy",
        }
        .to_owned(),
        section: row.section.to_owned(),
        metric: row.metric.name().to_owned(),
        judge: row.judge.map(str::to_owned),
        against: row.against.map(str::to_owned),
        system: row.system.to_owned(),
        sets: row.sets.into_iter().map(figure).collect(),
        average: figure(row.average),
        mean: row.mean(),
        weighted: row.weighted(),
        average_is_mean: row.average_is_mean(),
    };
    counted::published().iter().map(row).collect()
}
