//! **Pure.** Converts what changed between two sets of runs to the types of the API, with links to
//! the runs that show each change. `scoring` decides what is a change, as for a gate.
use super::filled::tendency_name;
use touchstone_api::{
    ChangedMeasure, ChangedTask, ChangesGroup, ChangesSide, GateChange, SetChanges, TaskOutcome,
};
use touchstone_scoring::aggregate::{
    ChangeKind, Changes, Effect, GateRules, Row, RowKey, UnpairedReason,
};
use touchstone_store::filter::typed;
use touchstone_store::overview::column_filter;
use touchstone_store::query::CountedRuns;
use touchstone_store::suites::Tasks;

/// One side of a comparison.
pub(crate) struct Side<'r> {
    pub(crate) about: ChangesSide,
    /// Its runs; `None` if they are not in the folder.
    pub(crate) runs: Option<SideRuns<'r>>,
}

/// Runs in the order in which they were compared.
#[derive(Clone, Copy)]
pub(crate) struct SideRuns<'r> {
    pub(crate) all: &'r CountedRuns,
    /// Which of all; `None` for all of them.
    pub(crate) places: Option<&'r [u32]>,
}

impl SideRuns<'_> {
    /// Returns the id of a run, and whether it passed.
    fn get(self, at: usize) -> Option<(String, Option<bool>)> {
        let at = match self.places {
            None => u32::try_from(at).ok()?,
            Some(places) => *places.get(at)?,
        };
        Some((self.all.id(at)?, self.all.counted(at)?.passed()))
    }
}

/// Returns what changed. Indexes of runs in `changes` count the later runs first.
pub(crate) fn set_changes(
    changes: &[Changes<'_>],
    tasks: &Tasks,
    rules: &GateRules,
    before: Side<'_>,
    after: Side<'_>,
) -> SetChanges {
    let group = |one: &Changes<'_>| ChangesGroup {
        name: one.column.label(),
        filter: column_filter(one.column.system, one.column.model),
        worse: one.violations(rules),
        remarks: one.remarks(rules),
        pairs: one.pairing.pairs.len() as u64,
        score: one.pairing.score.as_ref().map(measure),
        cost: one.pairing.cost.as_ref().map(measure),
        seconds: one.pairing.seconds.as_ref().map(measure),
        tasks: one
            .rows
            .iter()
            .map(|row| changed(one, row.key, row.kind, tasks, (&before, &after)))
            .collect(),
    };
    let groups = changes.iter().map(group).collect();
    SetChanges { groups, before: before.about, after: after.about }
}

fn measure(effect: &Effect) -> ChangedMeasure {
    ChangedMeasure {
        before: effect.baseline,
        after: effect.value,
        difference: effect.difference,
        low: effect.interval.map(|interval| interval.low),
        high: effect.interval.map(|interval| interval.high),
        p: effect.p.map(|p| p.p),
        shown: tendency_name(effect.tendency()),
        pairs: effect.pairs,
        worse: effect.count.losses,
        better: effect.count.wins,
    }
}

fn changed(
    one: &Changes<'_>,
    key: RowKey<'_>,
    kind: ChangeKind,
    tasks: &Tasks,
    (before, after): (&Side<'_>, &Side<'_>),
) -> ChangedTask {
    let [then, now] =
        [&one.before, &one.now].map(|group| group.rows.iter().find(|row| row.key == key));
    // What passed before a failure, and what failed after it, shows it best.
    let passes = match kind {
        ChangeKind::Failed | ChangeKind::Flaky | ChangeKind::Lost(_) | ChangeKind::Fewer(_) => true,
        ChangeKind::Fixed | ChangeKind::Added | ChangeKind::NotComparable => false,
    };
    let first = after.about.runs;
    let run = |side: &Side<'_>, row: Option<&Row<'_>>, from: u64, passed: bool| {
        let runs = side.runs?;
        let from = usize::try_from(from).ok()?;
        let all = row?.runs.iter().filter_map(|at| runs.get(at.checked_sub(from)?));
        let all: Vec<(String, Option<bool>)> = all.collect();
        let shows = all.iter().find(|(_, found)| *found == Some(passed)).or(all.last());
        shows.map(|(id, _)| id.clone())
    };
    let compare = run(before, then, first, passes).zip(run(after, now, 0, !passes));
    ChangedTask {
        name: key.label(),
        change: gate_change(kind),
        before: then.map(outcome),
        after: now.map(outcome),
        filter: row_filter(key, tasks),
        compare: compare.map(|(then, now)| [then, now]),
    }
}

fn outcome(row: &Row<'_>) -> TaskOutcome {
    TaskOutcome {
        runs: row.runs.len() as u64,
        score: row.score,
        passed: row.passed,
        decided: row.decided,
    }
}

/// Returns the filter of the runs of a task in a variation, by all names that runs use.
fn row_filter(key: RowKey<'_>, tasks: &Tasks) -> String {
    let Some(name) = key.task else { return "-task:*".to_owned() };
    let known = tasks.get(name);
    let names = known.map_or(vec![name.to_owned()], |task| tasks.names_of(&task.suite));
    let task = names.iter().map(|name| typed(name)).collect::<Vec<_>>().join(",");
    let variation = match (key.variation, key.name) {
        (Some(number), _) => {
            let index = usize::try_from(number).ok();
            let name = known.zip(index).and_then(|(task, at)| task.variation_name(at));
            let name = name.map_or(String::new(), |name| format!(",{}", typed(&name)));
            format!("variation:{number}{name}")
        }
        (None, Some(name)) => format!("variation:{}", typed(name)),
        (None, None) => "-variation:*".to_owned(),
    };
    format!("task:{task} {variation}")
}

/// Returns the kind of change for the API.
pub(crate) fn gate_change(kind: ChangeKind) -> GateChange {
    match kind {
        ChangeKind::Failed => GateChange::Failed,
        ChangeKind::Fixed => GateChange::Fixed,
        ChangeKind::Flaky => GateChange::Flaky,
        ChangeKind::Added => GateChange::Added,
        ChangeKind::NotComparable => GateChange::NotComparable,
        ChangeKind::Lost(why) | ChangeKind::Fewer(why) => match why {
            UnpairedReason::Errors => GateChange::Errors,
            UnpairedReason::NotEnded => GateChange::NotEnded,
            UnpairedReason::Missing => GateChange::Missing,
            UnpairedReason::Unscored => GateChange::Unscored,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::answered;
    use super::*;
    use touchstone_scoring::aggregate::changes;
    use touchstone_store::query::{PlaceOf, ScoredRun};

    fn runs(score: f64, ids: &[&str]) -> Vec<ScoredRun> {
        let tasks = ["a", "b"];
        let run = |(at, id): (usize, &&str)| {
            let mut run = answered(tasks[at % 2], "s", score);
            run.id = format!("{id:0>16}");
            ScoredRun { cost: Some(score + 1.0), ..run }
        };
        ids.iter().enumerate().map(run).collect()
    }

    fn compared(before: &[ScoredRun], after: &[ScoredRun]) -> SetChanges {
        let [then, now] =
            [before, after].map(|runs| CountedRuns::from_scored(runs, PlaceOf::Folder));
        let side = |name: &str, runs: &CountedRuns| ChangesSide {
            name: name.into(),
            filter: None,
            runs: runs.len() as u64,
            in_both: 0,
        };
        let all = |runs| Some(SideRuns { all: runs, places: None });
        let (old, new) = (then.all(), now.all());
        set_changes(
            &changes(&old, &new),
            &Tasks::default(),
            &GateRules::default(),
            Side { about: side("one", &then), runs: all(&then) },
            Side { about: side("two", &now), runs: all(&now) },
        )
    }

    #[test]
    fn a_change_names_the_runs_that_show_it() {
        let mut after = runs(0.0, &["c", "d", "e"]);
        after[0].passed = Some(true);
        after[0].score = Some(1.0);
        let changes = compared(&runs(1.0, &["a", "b"]), &after);
        let tasks = &changes.groups[0].tasks;
        assert_eq!(
            tasks.iter().map(|task| (task.name.as_str(), task.change)).collect::<Vec<_>>(),
            [("a #0", GateChange::Flaky), ("b #0", GateChange::Failed)]
        );
        let shows = |at: usize| tasks[at].compare.clone().unwrap();
        let ids = [shows(0), shows(1)].concat();
        let ids: Vec<&str> = ids.iter().map(|id| id.trim_start_matches('0')).collect();
        assert_eq!(ids, ["a", "e", "b", "d"]);
        assert_eq!(tasks[1].filter, "task:b variation:0");
    }

    #[test]
    fn amounts_have_their_difference_and_the_tasks_that_need_more() {
        let changes = compared(&runs(0.0, &["a", "b"]), &runs(1.0, &["c", "d"]));
        let cost = changes.groups[0].cost.unwrap();
        assert_eq!((cost.before, cost.after, cost.worse, cost.shown), (1.0, 2.0, 2, "unclear"));
        let fixed: Vec<GateChange> = changes.groups[0].tasks.iter().map(|it| it.change).collect();
        assert_eq!(fixed, [GateChange::Fixed, GateChange::Fixed]);
    }

    #[test]
    fn runs_that_are_not_in_the_folder_are_compared_with_no_run() {
        let after = runs(0.0, &["c", "d"]);
        let [old, new] = [&runs(1.0, &["a", "b"]), &after]
            .map(|runs| CountedRuns::from_scored(runs, PlaceOf::Folder));
        let side = |runs| ChangesSide { name: String::new(), filter: None, runs, in_both: 0 };
        let changes = set_changes(
            &changes(&old.all(), &new.all()),
            &Tasks::default(),
            &GateRules::default(),
            Side { about: side(2), runs: None },
            Side { about: side(2), runs: Some(SideRuns { all: &new, places: None }) },
        );
        assert!(changes.groups[0].tasks.iter().all(|task| task.compare.is_none()));
        assert_eq!(changes.groups[0].tasks.len(), 2);
    }
}
