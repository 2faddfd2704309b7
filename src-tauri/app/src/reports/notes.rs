//! **Pure.** Notes for the reader of a report: the number of runs without a score and the reasons,
//! and reviews that contradict scores.
use std::collections::BTreeMap;
use touchstone_api::{RunState, ScoreStanding, Verdict};
use touchstone_store::query::ScoredRun;

/// Maximum number of reasons listed; the rest is summed up, because every unreadable file may have
/// a reason of its own.
const MOST: usize = 10;

/// Returns a sentence per reason for missing scores, the most frequent first. Runs that ended in an
/// error are counted elsewhere.
pub(super) fn unscored(runs: &[ScoredRun]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for why in runs.iter().filter_map(why) {
        *counts.entry(why).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    // A single further reason takes no more space than its summary.
    if counts.len() > MOST + 1 {
        let rest = counts.split_off(MOST);
        let runs = rest.iter().map(|(_, count)| count).sum();
        counts.push((format!("{} other reasons, each shown beside its run.", rest.len()), runs));
    }
    let told = |(why, count): (String, usize)| match count {
        1 => format!("1 run has no score: {why}"),
        count => format!("{count} runs have no score: {why}"),
    };
    counts.into_iter().map(told).collect()
}

/// Returns the reason why a run has no score; `None` if it has one or ended in an error.
pub(super) fn why(run: &ScoredRun) -> Option<String> {
    if run.counted().score().is_some() {
        return None;
    }
    let said = match (run.state, run.scoring) {
        (RunState::Error, _) => return None,
        (RunState::Damaged, _) => "the file cannot be read.",
        (RunState::Other, _) => "the file is not a transcript.",
        (RunState::Waiting, _) => "not ended yet.",
        (RunState::Writing, _) => "the file is being written.",
        // An expected output may be named but unreadable, or the suite may no longer have the
        // variation.
        (_, Some(ScoreStanding::NoExpected)) => {
            match run.score_reason.as_deref().filter(|why| !why.is_empty()) {
                Some(reason) => return Some(reason.to_owned()),
                None => "the task has no expected output.",
            }
        }
        (_, Some(ScoreStanding::Waiting)) => "it waits for a scorer that has not run yet.",
        (_, Some(ScoreStanding::Failed)) => "the scorer failed.",
        (_, Some(ScoreStanding::Scored)) => "the scorer gave no number.",
        (_, Some(_)) => "not ended yet.",
        (_, None) if run.task.is_none() => "the file name does not name a task.",
        // A known task may give a reason for having no scores.
        (_, None) => match run.score_reason.as_deref().filter(|_| run.scorer.is_none()) {
            Some(reason) => return Some(reason.to_owned()),
            None if run.fingerprint.is_some() => "this scorer does not apply to the task.",
            None => "there is no suite for the task, or it cannot be read.",
        },
    };
    Some(said.to_owned())
}

/// Returns true if the verdict of a person contradicts the outcome: one is right, the other is not.
pub(super) fn contradicts(verdict: Option<Verdict>, passed: Option<bool>) -> bool {
    verdict.zip(passed).is_some_and(|(verdict, passed)| (verdict == Verdict::Right) != passed)
}

/// Returns a sentence with the number of contradicting verdicts; `None` if there are none.
pub(super) fn contradicted(runs: &[ScoredRun]) -> Option<String> {
    let count = |passed| {
        let so =
            |run: &&ScoredRun| run.passed == Some(passed) && contradicts(run.verdict, run.passed);
        runs.iter().filter(so).count()
    };
    let (passed, failed) = (count(true), count(false));
    let told = |count: usize, one: &str, more: &str| match count {
        0 => None,
        1 => Some(one.to_owned()),
        _ => Some(format!("{count} {more}")),
    };
    let both: Vec<String> = [
        told(passed, "one run that passed is not right", "runs that passed are not right"),
        told(failed, "one run that did not pass is right", "runs that did not pass are right"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!both.is_empty()).then(|| {
        format!("Reviews differ from scores: {}. No number here counts reviews.", both.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_contradicts_a_score_when_only_one_of_them_is_content() {
        for (verdict, passed, expected) in [
            (Some(Verdict::Right), Some(true), false),
            (Some(Verdict::Right), Some(false), true),
            (Some(Verdict::Partly), Some(true), true),
            (Some(Verdict::Partly), Some(false), false),
            (Some(Verdict::Wrong), Some(true), true),
            (Some(Verdict::Wrong), Some(false), false),
            (None, Some(true), false),
            (Some(Verdict::Wrong), None, false),
        ] {
            assert_eq!(contradicts(verdict, passed), expected, "{verdict:?} {passed:?}");
        }
    }
}
