//! Follows systems over sets of runs: days, weeks, months, folders or files.
use super::super::App;
use super::filled::{ends, estimate, passes};
use super::known_scorer;
use crate::error::AppError;
use std::collections::BTreeMap;
use touchstone_api::{SetsBy, TrendChange, TrendGroup, TrendPoint, TrendRequest, TrendSet, Trends};
use touchstone_clock as clock;
use touchstone_scoring::aggregate::{self, ChangeKind, Changes, Counted, RowKey};
use touchstone_scoring::stats::Tendency;
use touchstone_store::query::ScoredRun;

impl App {
    /// Returns the trend of each system with each model over sets of runs.
    pub fn trends(&self, request: &TrendRequest) -> Result<Trends, AppError> {
        Self::check_filter(&request.filter)?;
        let open = self.require_folder()?;
        let scorer = request.scorer.as_deref();
        let scorers = open.ask(|index| open.lists.scorers(index))?;
        known_scorer(scorer, &scorers)?;
        let (runs, _) = open.ask(|index| open.lists.scored(index, &request.filter, scorer))?;
        Ok(compute(&runs, request.by))
    }
}

fn compute(runs: &[ScoredRun], by: SetsBy) -> Trends {
    let mut by_name: BTreeMap<String, Vec<&ScoredRun>> = BTreeMap::new();
    let mut left_out = 0;
    for run in runs {
        match set_of(run, by) {
            Some(name) => by_name.entry(name).or_default().push(run),
            None => left_out += 1,
        }
    }
    let mut sets: Vec<(Option<i64>, String, Vec<&ScoredRun>)> = by_name
        .into_iter()
        .map(|(name, runs)| (runs.iter().filter_map(|run| run.started_ms).min(), name, runs))
        .collect();
    sets.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let counted: Vec<Vec<Counted<'_>>> =
        sets.iter().map(|(.., runs)| runs.iter().map(|run| run.counted()).collect()).collect();
    Trends {
        groups: aggregate::trends(&counted).iter().map(group).collect(),
        sets: sets
            .iter()
            .map(|(from, name, runs)| TrendSet {
                name: name.clone(),
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "milliseconds since 1970 are exact"
                )]
                from: from.map(|ms| ms as f64 / 1000.0),
                runs: runs.len() as u64,
            })
            .collect(),
        left_out,
    }
}

/// Returns the name of the set of a run; `None` if it is in none.
fn set_of(run: &ScoredRun, by: SetsBy) -> Option<String> {
    let day = |length| {
        let day = clock::format_utc_seconds(run.started_ms?);
        day.get(..length).map(str::to_owned)
    };
    match by {
        SetsBy::Day => day(10),
        SetsBy::Month => day(7),
        SetsBy::Week => run.started_ms.map(clock::format_utc_monday),
        SetsBy::Folder => run.path.split_once('/').map(|(folder, _)| folder.to_owned()),
        SetsBy::File => Some(run.path.split('#').next().unwrap_or_default().to_owned()),
    }
}

fn group(trend: &aggregate::Trend<'_>) -> TrendGroup {
    let point = |point: &aggregate::TrendPoint<'_>| {
        let cell = &point.group.summary.cell;
        TrendPoint {
            set: point.set as u64,
            ends: ends(cell),
            score: cell.score.map(estimate),
            passes: cell.passes.map(passes),
            cost: point.group.summary.cost.amounts.of_known.map(|known| known.mean),
            seconds: point.group.summary.seconds.amounts.of_known.map(|known| known.mean),
            change: point.change.as_ref().map(change),
        }
    };
    TrendGroup {
        name: trend.column.label(),
        points: trend.points.iter().map(point).collect(),
        overall: trend.overall.as_ref().map(change),
    }
}

fn change(changes: &Changes<'_>) -> TrendChange {
    let effect = changes.pairing.score.as_ref();
    let interval = effect.and_then(|effect| effect.interval);
    let named = |kind| changes.rows_of(kind).iter().map(RowKey::label).collect();
    TrendChange {
        difference: effect.map(|effect| effect.difference),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        p: effect.and_then(|effect| effect.p).map(|p| p.p),
        shown: match changes.tendency() {
            Tendency::Better => "better",
            Tendency::Worse => "worse",
            Tendency::Unclear => "unclear",
        },
        failed: named(ChangeKind::Failed),
        fixed: named(ChangeKind::Fixed),
        flaky: named(ChangeKind::Flaky),
        pairs: changes.pairing.pairs.len() as u64,
    }
}
