//! Tests of the statistics of runs.
use super::compute;
use touchstone_api::{FailureClass, Lineage, RunState, ScoreStanding, Stats};
use touchstone_store::query::ScoredRun;

fn run(task: &str, system: &str, state: RunState, score: Option<f64>) -> ScoredRun {
    ScoredRun {
        id: String::new(),
        path: format!("{task}/{system}.yaml"),
        task: Some(task.to_owned()),
        variation: Some(0),
        variation_name: Some("named".to_owned()),
        repeat: 1,
        system: Some(system.to_owned()),
        model: Some("o1".to_owned()),
        state,
        layout: "tool_calling".to_owned(),
        turns: 1,
        tool_calls: 0,
        nudges: 0,
        follow_ups: 0,
        lineage: None,
        fork: 0,
        forked_from: None,
        member: None,
        commit: None,
        tags: Vec::new(),
        tokens: Some(100),
        cost: None,
        seconds: None,
        started_ms: None,
        scoring: score.map(|_| ScoreStanding::Scored),
        scorer: Some("fields".to_owned()),
        score,
        passed: score.map(|score| score >= 1.0),
        score_reason: None,
        class: None,
        fingerprint: Some(1),
        verdict: None,
        review_score: None,
        review_note: None,
        reason: None,
    }
}

pub(super) fn answered(task: &str, system: &str, score: f64) -> ScoredRun {
    run(task, system, RunState::Answered, Some(score))
}

fn stats(runs: &[ScoredRun]) -> Stats {
    compute(runs, None).unwrap()
}

#[test]
fn runs_without_a_score_are_counted_by_their_outcome() {
    let mut scored_error = answered("e", "s", 1.0);
    scored_error.state = RunState::Error;
    let mut failed_scorer = run("f", "s", RunState::Answered, None);
    failed_scorer.scoring = Some(ScoreStanding::Failed);
    let runs = [
        answered("a", "s", 0.5),
        run("b", "s", RunState::NoAnswer, Some(0.0)),
        run("c", "s", RunState::Waiting, None),
        run("d", "s", RunState::Writing, None),
        run("d", "s", RunState::Damaged, None),
        scored_error,
        failed_scorer,
    ];
    let stats = stats(&runs);
    let ends = stats.ends;
    assert_eq!((ends.runs, ends.scored, ends.errors, ends.waiting), (7, 2, 1, 1));
    assert_eq!((ends.running, ends.damaged, ends.unscored), (1, 1, 1));
    assert!(
        (stats.groups[0].score.unwrap().value - 0.25).abs() < 1e-12,
        "no answer is a 0, an error is none"
    );
    assert_eq!((stats.tasks, stats.scorers), (6, vec!["fields".to_owned()]));
}

#[test]
fn forks_and_continued_runs_are_no_repeats_where_they_are_asked_for() {
    for lineage in [Lineage::Fork, Lineage::FollowUps] {
        let apart = ScoredRun { lineage: Some(lineage), ..answered("a", "s", 0.0) };
        let group =
            stats(&[answered("a", "s", 1.0), answered("a", "s", 1.0), apart]).groups.remove(0);
        assert_eq!((group.ends.runs, group.passes.map(|it| (it.passed, it.of))), (3, Some((2, 3))));
        assert_eq!(
            (group.flaky, group.tries.iter().map(|at| at.k).max()),
            (0, Some(2)),
            "{lineage:?}"
        );
        assert!(group.tries.iter().all(|at| at.pass_all_k >= 1.0), "{lineage:?}");
    }
}

#[test]
fn every_row_has_a_cell_for_every_group() {
    let stats =
        stats(&[answered("a", "s", 1.0), answered("b", "t", 0.5), answered("a", "t", 0.25)]);
    let cells: Vec<(Option<&str>, Vec<Option<f64>>)> = stats
        .rows
        .iter()
        .map(|row| {
            (
                row.key.task.as_deref(),
                row.cells.iter().map(|cell| cell.and_then(|cell| cell.score)).collect(),
            )
        })
        .collect();
    assert_eq!(
        cells,
        [(Some("a"), vec![Some(1.0), Some(0.25)]), (Some("b"), vec![None, Some(0.5)])]
    );
    assert_eq!(stats.rows[1].cells[0], None);
    assert_eq!(stats.rows[0].key.variation_name, None, "a number is name enough");
}

#[test]
fn failures_are_counted_by_class_most_often_first() {
    let with = |task: &str, class| ScoredRun { class, ..answered(task, "s", 0.0) };
    let stats = stats(&[
        with("a", Some(FailureClass::WrongAnswer)),
        with("b", Some(FailureClass::GaveUp)),
        with("c", Some(FailureClass::GaveUp)),
        with("d", None),
    ]);
    let classes: Vec<_> =
        stats.groups[0].classes.iter().map(|class| (class.class, class.runs)).collect();
    assert_eq!(classes, [(FailureClass::GaveUp, 2), (FailureClass::WrongAnswer, 1)]);
}

#[test]
fn the_baseline_is_named_as_it_is_shown_and_must_be_there() {
    let runs = [answered("a", "s", 1.0), answered("a", "t", 0.5), answered("b", "t", 0.5)];
    let stats = compute(&runs, Some("t/o1")).unwrap();
    assert_eq!(stats.baseline.as_deref(), Some("t/o1"));
    let comparison = &stats.comparisons[0];
    assert_eq!(
        (comparison.group.as_str(), comparison.baseline.as_str(), comparison.pairs),
        ("s/o1", "t/o1", 1)
    );
    assert_eq!(
        (comparison.unpaired[0].without.as_str(), comparison.unpaired[0].why),
        ("s/o1", "missing")
    );
    assert!((comparison.score.unwrap().difference - 0.5).abs() < 1e-12);
    let error = compute(&runs, Some("o1")).unwrap_err();
    assert!(error.message.contains("`o1`") && error.hint.unwrap().contains("s/o1, t/o1"));
    assert!(compute(&[], Some("o1")).unwrap_err().hint.unwrap().contains("No run"));
    assert_eq!(compute(&[], None).unwrap().baseline, None);
}

/// Unknown values are null, and there are no numbers that JSON cannot represent.
#[test]
fn what_is_not_known_is_null() {
    let json =
        serde_json::to_value(stats(&[answered("a", "s", 0.5), answered("a", "t", 0.25)])).unwrap();
    let group = &json["groups"][0];
    assert!(group["score"]["low"].is_null() && group["cost"]["mean"].is_null());
    assert!(json["comparisons"][0]["score"]["detectable"].is_null());
    assert_eq!(group["cost"]["unknown"], 1);
    assert_eq!(json["runs"], 2, "what became of runs stands beside the rest");
    assert_eq!(json["rows"][0]["task"], "a");
}
