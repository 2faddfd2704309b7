//! Judge options of suites: model, rounds, and pass threshold. If suites differ, nothing is
//! guessed.
use touchstone_api::RunRow;
use touchstone_judges::{JudgeRef, Rules};
use touchstone_scoring::scorers::Scorer;
use touchstone_store::suites::Tasks;

/// Judge options of one scorer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct JudgeOptionsInSuite {
    /// The model, by its name in the workspace.
    pub(super) model: Option<String>,
    /// Number of rounds.
    pub(super) rounds: Option<u32>,
    /// Pass threshold from 0 to 1.
    pub(super) least: Option<f64>,
}

/// Returns the scorers of a run.
pub(super) fn scorers<'t>(tasks: &'t Tasks, row: &RunRow) -> &'t [Scorer] {
    let found = row.task.as_deref().and_then(|name| {
        let task = tasks.get(name)?;
        task.yardsticks.get(task.variation(row.variation, row.variation_name.as_deref())?)
    });
    found.map_or(&[], |yardstick| &yardstick.panel(false).scorers)
}

/// Returns the options of every scorer that uses this judge with these rules.
pub(super) fn options_for<'t>(
    scorers: &'t [Scorer],
    judge: &'t str,
    rules: Rules,
) -> impl Iterator<Item = JudgeOptionsInSuite> + 't {
    let of_it = move |scorer: &Scorer| {
        let (known, model, by) = scorer.judge()?;
        let says = JudgeOptionsInSuite {
            model: model.map(str::to_owned),
            rounds: scorer.rounds(),
            least: scorer.threshold(),
        };
        (known.name == judge && by == rules).then_some(says)
    };
    scorers.iter().filter_map(of_it)
}

/// Returns the distinct options for a judge in the suites of all tasks.
pub(super) fn distinct_options(tasks: &Tasks, judge: &str) -> Vec<JudgeOptionsInSuite> {
    let mut all: Vec<JudgeOptionsInSuite> = Vec::new();
    for yardstick in tasks.all().flat_map(|task| &task.yardsticks) {
        for says in options_for(&yardstick.panel(false).scorers, judge, Rules::Ours) {
            if !all.contains(&says) {
                all.push(says);
            }
        }
    }
    all
}

/// Returns the judges defined by suites, the first of each name.
pub(super) fn all_own(tasks: &Tasks) -> Vec<JudgeRef> {
    let mut all: Vec<JudgeRef> = Vec::new();
    let scorers =
        tasks.all().flat_map(|task| &task.yardsticks).flat_map(|one| &one.panel(false).scorers);
    for (judge, ..) in scorers.filter_map(Scorer::judge) {
        if matches!(judge, JudgeRef::Own(_)) && all.iter().all(|known| known.name != judge.name) {
            all.push(judge);
        }
    }
    all
}

/// Returns the value on which all set options agree; the distinct values if they differ.
pub(super) fn agreed<T: PartialEq>(
    said: impl Iterator<Item = Option<T>>,
) -> Result<Option<T>, Vec<T>> {
    let mut all: Vec<T> = Vec::new();
    for one in said.flatten() {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.len() > 1 { Err(all) } else { Ok(all.pop()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_values_do_not_conflict_with_set_ones() {
        assert_eq!(agreed([None, Some(3), Some(3)].into_iter()), Ok(Some(3)));
        assert_eq!(agreed([None::<u32>].into_iter()), Ok(None));
        assert_eq!(agreed([Some(1), None, Some(3)].into_iter()), Err(vec![1, 3]));
    }
}
