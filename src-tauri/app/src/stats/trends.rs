//! Follows systems over sets of runs (by time, folder, file, commit or tag), and compares two sets.
use super::filled::{ends, estimate, passes, tendency_name};
use super::leaderboard::figure;
use super::plots::{Line, lines};
use super::run_sets::{BySet, RunSet, Sets, place_of};
use super::set_changes::{Side, SideRuns, set_changes};
use super::{StatsActions, known_scorers};
use crate::error::{AppError, Code};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use touchstone_api::{
    ChangesRequest, ChangesSide, Figure, FilterError, History, LeftOut, SetChanges, SetsBy,
    TrendChange, TrendGroup, TrendMeasure, TrendPlot, TrendPoint, TrendRequest, TrendSet, Trends,
};
use touchstone_scoring::aggregate::{self, ChangeKind, Column, GateRules, RowKey, Shift};
use touchstone_store::overview::column_filter;
use touchstone_store::query::{CountedRuns, PlaceOf, ScoredRun};

/// Runs that pass a filter.
pub(crate) struct RunsToCount {
    pub(crate) runs: Arc<CountedRuns>,
    misread: Vec<FilterError>,
    /// Generation of the index.
    generation: u64,
}

impl StatsActions<'_> {
    /// Returns the trend of each system with each model over sets of runs.
    pub fn trends(self, request: &TrendRequest) -> Result<Trends, AppError> {
        self.app.runs().check_filter_of_folder(&request.filter)?;
        Ok(self.history(request)?.trends)
    }

    /// Like [`Self::trends`], with plots, and without any run for an invalid filter.
    pub fn history(self, request: &TrendRequest) -> Result<History, AppError> {
        let open = self.app.require_folder()?;
        let TrendRequest { filter, scorer, by } = request;
        let RunsToCount { runs, misread, generation } =
            self.runs_to_count(filter, scorer.as_deref(), place_of(*by))?;
        open.flow.live.stir();
        let trends = compute(&Sets::new(&runs, *by));
        let trends = Trends { left_out_runs: runs.left_out(), ..trends };
        Ok(History { generation, plots: plots(&trends), trends, misread })
    }

    /// Returns the runs that History, its changes and the baseline count.
    pub(crate) fn runs_to_count(
        self,
        filter: &str,
        scorer: Option<&str>,
        place: PlaceOf,
    ) -> Result<RunsToCount, AppError> {
        let open = self.app.require_folder()?;
        if scorer.is_some() {
            known_scorers(&open, scorer)?;
        }
        open.ask(|index| {
            let (runs, misread) = open.lists.counted_runs(index, filter, scorer, place)?;
            Ok(RunsToCount { runs, misread, generation: index.generation() })
        })
    }

    /// Returns what changed between two sets; `None` if there is none before. Differences are shown
    /// as in the trends of the same request.
    pub fn set_changes(self, request: &ChangesRequest) -> Result<Option<SetChanges>, AppError> {
        let open = self.app.require_folder()?;
        let TrendRequest { filter, scorer, by } = &request.trend;
        let RunsToCount { runs, .. } =
            self.runs_to_count(filter, scorer.as_deref(), place_of(*by))?;
        let sets = Sets::new(&runs, *by);
        let place = |name: &str| {
            sets.all.iter().position(|set| set.name == name).ok_or_else(|| {
                AppError::new(Code::NotFound, format!("There is no set {name}."))
                    .hint("Choose one of the sets that `touchstone trend` lists.")
            })
        };
        let after = request.after.as_deref().map(place).transpose()?;
        let before = request.before.as_deref().map(place).transpose()?;
        let Some(after) = after.or(sets.all.len().checked_sub(1)) else { return Ok(None) };
        let Some(before) = before.or(after.checked_sub(1)) else { return Ok(None) };
        let [Some(before), Some(after)] = [before, after].map(|at| sets.all.get(at)) else {
            return Ok(None);
        };
        let [own_before, own_after] =
            [(before, after), (after, before)].map(|(set, other)| without(&set.runs, &other.runs));
        let side = |set: &RunSet, runs: &[u32]| ChangesSide {
            name: set.name.clone(),
            filter: Some(set.filter.clone()),
            runs: runs.len() as u64,
            in_both: (set.runs.len() - runs.len()) as u64,
        };
        // Of sets that are in no order, only these two are compared.
        let looked_at = sets.looked_at(sets.columns().values().map(BTreeMap::len)).max(1);
        let [counted, earlier] = [&own_after, &own_before].map(|runs| sets.counted(runs));
        let tasks = open.flow.shelf.tasks();
        let shown = |set| SideRuns { all: &runs, places: Some(set) };
        Ok(Some(set_changes(
            &aggregate::changes_among(&earlier, &counted, looked_at),
            &tasks,
            &GateRules::default(),
            Side { about: side(before, &own_before), runs: Some(shown(&own_before)) },
            Side { about: side(after, &own_after), runs: Some(shown(&own_after)) },
        )))
    }
}

/// Returns the runs that are not among others. Both are in ascending order.
fn without(runs: &[u32], others: &[u32]) -> Vec<u32> {
    runs.iter().filter(|run| others.binary_search(run).is_err()).copied().collect()
}

/// Returns the trends of runs with the plot of their scores; `None` where there are not two sets.
pub(crate) fn trends_of(
    runs: &[ScoredRun],
    by: SetsBy,
    left_out_runs: LeftOut,
) -> Option<(Trends, Option<TrendPlot>)> {
    let runs = CountedRuns::from_scored(runs, place_of(by));
    let sets = Sets::new(&runs, by);
    if sets.all.len() < 2 {
        return None;
    }
    let trends = Trends { left_out_runs, ..compute(&sets) };
    let plot = plots(&trends).into_iter().find(|plot| plot.measure == TrendMeasure::Score);
    Some((trends, plot))
}

fn compute(sets: &Sets<'_>) -> Trends {
    let columns: Vec<(Column<'_>, BySet)> = sets.columns().into_iter().collect();
    let looked_at = sets.looked_at(columns.iter().map(|(_, by_set)| by_set.len()));
    Trends {
        looked_at,
        groups: groups(sets, &columns, looked_at),
        sets: sets
            .all
            .iter()
            .map(|set| TrendSet {
                name: set.name.clone(),
                filter: set.filter.clone(),
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "milliseconds since 1970 are exact"
                )]
                from: set.from.map(|ms| ms as f64 / 1000.0),
                runs: set.runs.len() as u64,
            })
            .collect(),
        sets_left_out: sets.earlier as u64,
        left_out: sets.left_out,
        left_out_runs: LeftOut::default(),
    }
}

/// Returns the trends of all systems, computed one by one on two threads, so that only the runs of
/// two are held for counting.
fn groups(sets: &Sets<'_>, columns: &[(Column<'_>, BySet)], looked_at: u64) -> Vec<TrendGroup> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut groups = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((column, by_set)) = columns.get(at) else { return groups };
            let own = by_set.iter().map(|(set, runs)| (*set, sets.counted(runs))).collect();
            let trend = if sets.disjoint {
                aggregate::Trend::new(*column, own, looked_at)
            } else {
                aggregate::Trend::points_only(*column, &own)
            };
            groups.push((at, group(&trend)));
        }
    };
    let mut groups = std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mut groups = work();
        match other.join() {
            Ok(others) => groups.extend(others),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        groups
    });
    groups.sort_by_key(|(at, _)| *at);
    groups.into_iter().map(|(_, group)| group).collect()
}

fn group(trend: &aggregate::Trend<'_>) -> TrendGroup {
    let point = |point: &aggregate::TrendPoint<'_>| {
        let cell = &point.group.summary.cell;
        TrendPoint {
            set: point.set as u64,
            ends: ends(cell),
            score: cell.score.map(estimate),
            passes: cell.passes.map(passes),
            cost: figure(&point.group.summary.cost),
            seconds: figure(&point.group.summary.seconds),
            change: point.change.as_ref().map(change),
            change_point: point.change_point.as_ref().map(change),
            new_series: point.new_series.map(|rows| rows as u64),
        }
    };
    TrendGroup {
        name: trend.column.label(),
        filter: column_filter(trend.column.system, trend.column.model),
        points: trend.points.iter().map(point).collect(),
        overall: trend.overall.as_ref().map(change),
    }
}

fn change(shift: &Shift<'_>) -> TrendChange {
    let changes = &shift.changes;
    let effect = changes.pairing.score.as_ref();
    let interval = effect.and_then(|effect| effect.interval);
    let named = |kind| changes.rows_of(kind).iter().map(RowKey::label).collect();
    TrendChange {
        difference: effect.map(|effect| effect.difference),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        p: effect.and_then(|effect| effect.p).map(|p| p.p),
        shown: tendency_name(shift.shown),
        failed: named(ChangeKind::Failed),
        fixed: named(ChangeKind::Fixed),
        flaky: named(ChangeKind::Flaky),
        pairs: changes.pairing.pairs.len() as u64,
        not_comparable: changes.count(ChangeKind::NotComparable) as u64,
    }
}

fn plots(trends: &Trends) -> Vec<TrendPlot> {
    use TrendMeasure::{Cost, Passes, Score, Seconds};
    let names: Vec<&str> = trends.sets.iter().map(|set| set.name.as_str()).collect();
    let groups = || trends.groups.iter().enumerate();
    let plot = |measure| {
        lines(measure, &names, groups().map(|(at, group)| line(at, group, measure)).collect())
    };
    [Score, Passes, Cost, Seconds].into_iter().filter_map(plot).collect()
}

fn line(at: usize, group: &TrendGroup, measure: TrendMeasure) -> Line<'_> {
    let point = |(at, point): (usize, &TrendPoint)| {
        Some((at, usize::try_from(point.set).ok()?, value(point, measure)?))
    };
    Line {
        group: at,
        name: &group.name,
        runs: group.points.iter().map(|point| point.ends.runs).sum(),
        points: group.points.iter().enumerate().filter_map(point).collect(),
    }
}

fn value(point: &TrendPoint, measure: TrendMeasure) -> Option<Figure> {
    let ends = &point.ends;
    match measure {
        TrendMeasure::Score => point.score.map(|score| Figure {
            value: score.value,
            low: score.low,
            high: score.high,
            known: ends.scored,
            unknown: ends.runs - ends.scored,
        }),
        TrendMeasure::Passes => point.passes.map(|passes| Figure {
            value: passes.rate,
            low: Some(passes.low),
            high: Some(passes.high),
            known: passes.of,
            unknown: ends.runs.saturating_sub(passes.of),
        }),
        TrendMeasure::Cost => point.cost,
        TrendMeasure::Seconds => point.seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::answered;
    use super::*;
    use crate::runs::RunActions;

    /// Time of noon on a day of March 2026.
    fn noon(day: i64) -> i64 {
        1_772_323_200_000 + (day - 1) * 86_400_000 + 43_200_000
    }

    fn on(day: i64, path: &str) -> ScoredRun {
        let mut run = answered("a", "s", 1.0);
        path.clone_into(&mut run.path);
        run.member = path.rsplit_once(".json#").map(|(_, member)| member.to_owned());
        ScoredRun { started_ms: Some(noon(day)), ..run }
    }

    fn computed(runs: &[ScoredRun], by: SetsBy) -> Trends {
        compute(&Sets::new(&CountedRuns::from_scored(runs, place_of(by)), by))
    }

    fn named(runs: &[ScoredRun], by: SetsBy) -> Vec<(String, String)> {
        computed(runs, by).sets.into_iter().map(|set| (set.name, set.filter)).collect()
    }

    #[test]
    fn each_set_has_a_filter_for_its_runs() {
        let runs = [on(9, "a b/x.yaml"), on(1, "c/y.json#1"), on(2, "c/y.json#2")];
        for (by, sets) in [
            (
                SetsBy::Day,
                &[
                    ("2026-03-01", "started:2026-03-01"),
                    ("2026-03-02", "started:2026-03-02"),
                    ("2026-03-09", "started:2026-03-09"),
                ][..],
            ),
            (
                SetsBy::Week,
                &[
                    ("2026-02-23", "started:>=2026-02-23 started:<2026-03-02"),
                    ("2026-03-02", "started:>=2026-03-02 started:<2026-03-09"),
                    ("2026-03-09", "started:>=2026-03-09 started:<2026-03-16"),
                ],
            ),
            (SetsBy::Month, &[("2026-03", "started:2026-03")]),
            (SetsBy::Folder, &[("c", "file:c/*"), ("a b", "file:\"a b\"/*")]),
            (SetsBy::File, &[("c/y.json", "file:c/y.json"), ("a b/x.yaml", "file:\"a b/x.yaml\"")]),
        ] {
            let sets: Vec<(String, String)> =
                sets.iter().map(|(name, set)| ((*name).to_owned(), (*set).to_owned())).collect();
            assert_eq!(named(&runs, by), sets, "{by:?}");
            for (_, filter) in sets {
                assert!(RunActions::check_filter(&filter).is_ok(), "{filter}");
            }
        }
    }

    #[test]
    fn names_with_a_number_sign_or_a_slash_in_the_member_are_those_of_files() {
        let runs = [on(1, "v#1/a.json#1"), on(2, "v#2/a.json#1"), on(3, "top.json#grp/0")];
        let names = |by| named(&runs, by).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(SetsBy::File), ["v#1/a.json", "v#2/a.json", "top.json"]);
        assert_eq!(names(SetsBy::Folder), ["v#1", "v#2"]);
    }

    #[test]
    fn commits_and_tags_make_sets_in_the_order_of_their_first_run() {
        let run = |day, commit: Option<&str>, tags: &[&str]| ScoredRun {
            commit: commit.map(str::to_owned),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..on(day, "x.yaml")
        };
        let runs = [
            run(1, Some("f00"), &["smoke", "a tag"]),
            run(2, Some("abc-dirty"), &["smoke"]),
            run(3, Some("f00"), &[]),
            run(4, None, &[]),
        ];
        let pairs = |all: &[(&str, &str)]| {
            all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(
            named(&runs, SetsBy::Commit),
            pairs(&[("f00", "commit:f00"), ("abc-dirty", "commit:abc-dirty")])
        );
        assert_eq!(
            named(&runs, SetsBy::Tag),
            pairs(&[("a tag", "tag:\"a tag\""), ("smoke", "tag:smoke")])
        );
        let left_out = |by| {
            let runs = CountedRuns::from_scored(&runs, place_of(by));
            Sets::new(&runs, by).left_out
        };
        assert_eq!([left_out(SetsBy::Commit), left_out(SetsBy::Tag)], [1, 2]);
    }

    #[test]
    fn sets_that_share_runs_are_not_compared_and_a_report_says_what_it_left_out() {
        let run = |day, tags: &[&str]| ScoredRun {
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..on(day, "x.yaml")
        };
        let runs = [run(1, &["a", "b"]), run(2, &["b"]), run(3, &["c"])];
        let left_out = LeftOut { forks_left_out: 2, ..LeftOut::default() };
        let (trends, plot) = trends_of(&runs, SetsBy::Tag, left_out).unwrap();
        assert_eq!((trends.looked_at, trends.left_out_runs), (0, left_out));
        let group = &trends.groups[0];
        assert_eq!((group.points.len(), plot.is_some()), (3, true));
        let is_told = |point: &TrendPoint| point.change.is_some() || point.change_point.is_some();
        assert!(group.overall.is_none() && !group.points.iter().any(is_told));
        let (trends, _) = trends_of(&runs, SetsBy::Day, left_out).unwrap();
        assert!(trends.looked_at > 0 && trends.groups[0].overall.is_some());
        assert_eq!(without(&[1, 4, 7, 9], &[0, 4, 9]), [1, 7]);
    }

    #[test]
    fn the_latest_sets_are_kept_and_the_others_counted() {
        let runs: Vec<ScoredRun> = (1..=70).map(|day| on(day, "x.yaml")).collect();
        let trends = computed(&runs, SetsBy::Day);
        assert_eq!((trends.sets.len(), trends.sets_left_out), (60, 10));
        assert_eq!(trends.looked_at, 59 + 1 + 59);
        let folders = computed(&runs, SetsBy::Folder);
        assert_eq!((folders.sets.len(), folders.left_out), (0, 70));
    }

    #[test]
    fn there_is_a_plot_for_each_measure_that_is_known() {
        let mut dear = on(2, "x.yaml");
        dear.cost = Some(0.5);
        let trends = computed(&[on(1, "x.yaml"), dear], SetsBy::Day);
        let plots = plots(&trends);
        let drawn = |plot: &TrendPlot| (plot.measure, plot.lines[0].dots.len());
        assert_eq!(
            plots.iter().map(drawn).collect::<Vec<_>>(),
            [(TrendMeasure::Score, 2), (TrendMeasure::Passes, 2), (TrendMeasure::Cost, 1)]
        );
    }
}
