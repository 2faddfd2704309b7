//! Tests of runs judged by evaluators of azure-ai-evaluation: the inputs of each, the scores from
//! its verdicts, and runs without the inputs that it needs.
use super::bench::{Bench, wait_until};
use super::judging::{judge, request, workspace};
use super::running::stage::says;
use super::scripted::Scripted;
use touchstone_api::{JudgeRequest, RunScore, ScoreStanding};

const RUN: &str = "results/count-tool_calling-o1-variation0.yaml";
const NAME: &str = "count-tool_calling-o1-variation0.yaml";
const TASK: &str = "tool_calling_prompt: How many plans are there?\nvariations:\n\
    - expected_output: [{ n: 3 }]\nscorers: [judge:relevance: { threshold: 4 }, judge:similarity]\n";
const CALLING: &str = "conversation:\n- user_message: How many plans are there?\n\
    - tool_call: { id: c, name: count, params: { of: plans }, result: 3 }\n\
    - assistant_message: There are 3.\n";
const FOUR: &str = r#"{"explanation": "It answers directly.", "score": 4}"#;

fn bench(server: &Scripted) -> Bench {
    Bench::new()
        .file("touchstone.yaml", workspace(server, ""))
        .file("tasks/count.yaml", TASK)
        .file(RUN, CALLING)
        .open()
}

fn by(judge: &str) -> JudgeRequest {
    JudgeRequest { judge: judge.into(), ..request(1) }
}

fn scored(bench: &Bench, name: &str, standing: ScoreStanding) -> RunScore {
    wait_until(&format!("{name} is {standing:?}"), || {
        let scores = bench.app().scoring().run_scores(&bench.row(NAME)?.id).ok()?.scores;
        scores.into_iter().find(|score| score.scorer == name && score.standing == standing)
    })
}

#[test]
fn a_number_of_five_becomes_a_score_that_the_threshold_of_the_suite_is_held_against() {
    let server = Scripted::sequence([says(FOUR), says("It is the same: 3"), says("3")]);
    let bench = bench(&server);
    let plan = bench.app().judging().plan_judging(&by("relevance")).unwrap();
    assert_eq!((plan.runs, plan.calls_least, plan.calls_most, plan.skipped_total), (1, 1, 1, 0));
    let view = judge(bench.app(), &by("relevance"));
    assert_eq!((view.done, view.calls, view.unread), (1, 1, 0), "{view:?}");
    let asked = server.seen()[0].json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains("| User turn 1:\n|   How many plans are there?"), "{asked}");
    assert!(asked.contains("\n| There are 3.\n") && !asked.contains("| [TOOL_CALL]"), "{asked}");
    let score = scored(&bench, "judge:relevance", ScoreStanding::Scored);
    assert_eq!(
        (score.score, score.passed, score.reason.as_str()),
        (Some(0.75), Some(true), "4 of 5: It answers directly.")
    );
    let judged =
        bench.app().scoring().run_scores(&bench.row(NAME).unwrap().id).unwrap().judged.remove(0);
    assert_eq!(
        (judged.stale, judged.passed, judged.rounds[0].verdict.as_deref()),
        (None, Some(true), Some("4"))
    );
    // Nothing is requested twice, and a verdict of another judge on the run is separate.
    assert_eq!(judge(bench.app(), &by("relevance")).calls, 0);
    judge(bench.app(), &by("similarity"));
    let score = scored(&bench, "judge:similarity", ScoreStanding::Scored);
    assert_eq!((score.score, score.passed), (Some(0.5), Some(true)));
    let asked =
        server.seen().last().unwrap().json()["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(asked.contains(r#"| [{"n":3}]"#), "{asked}");
}

#[test]
fn a_verdict_holds_as_long_as_what_its_judge_was_shown_is_the_same() {
    let server = Scripted::always(says(FOUR));
    let bench = bench(&server);
    judge(bench.app(), &by("relevance"));
    scored(&bench, "judge:relevance", ScoreStanding::Scored);
    // The relevance judge does not see tool results.
    bench.put(RUN, CALLING.replace("result: 3", "result: [3, 3]"));
    wait_until("the other result is there", || {
        bench.hits("3, 3").first().cloned().or_else(|| bench.row(NAME).map(|row| row.path))
    });
    scored(&bench, "judge:relevance", ScoreStanding::Scored);
    assert_eq!(judge(bench.app(), &by("relevance")).calls, 0);
    bench.put(RUN, CALLING.replace("There are 3.", "There are 4."));
    assert!(
        scored(&bench, "judge:relevance", ScoreStanding::Waiting)
            .reason
            .contains("The run or its task has changed")
    );
    assert_eq!(judge(bench.app(), &by("relevance")).calls, 1);
}

#[test]
fn what_a_run_lacks_for_a_judge_is_told_and_nothing_is_sent() {
    let server = Scripted::always(says(FOUR));
    let bench = bench(&server);
    bench.put(RUN, "conversation:\n- user_message: How many plans are there?\n- assistant_message: There are 3.\n");
    wait_until("the run has no calls", || bench.row(NAME).filter(|row| row.tool_calls == 0));
    for (name, wanted) in [
        ("tool_call_accuracy", "No tool was called."),
        ("groundedness", "No tool returned anything, so `groundedness` has nothing to judge."),
    ] {
        let plan = bench.app().judging().plan_judging(&by(name)).unwrap();
        assert_eq!((plan.runs, plan.skipped_total), (0, 1), "{name}");
        assert_eq!(plan.skipped[0].why, wanted);
        let view = judge(bench.app(), &by(name));
        assert_eq!((view.done, view.skipped, view.failed), (0, 1, 0), "{view:?}");
        assert_eq!(view.troubles[0].why, wanted);
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_score_that_waits_for_a_judge_says_why_it_cannot_be_judged_and_goes_on_waiting() {
    let suite = "tool_calling_prompt: How many plans are there?\nscorers: [judge:tool_call_accuracy, judge:relevance]\n";
    let run = CALLING
        .replace("- tool_call: { id: c, name: count, params: { of: plans }, result: 3 }\n", "");
    let server = Scripted::always(says(FOUR));
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("tasks/count.yaml", suite)
        .file(RUN, run)
        .open();
    let scores = bench.app().scoring().run_scores(&bench.row(NAME).unwrap().id).unwrap().scores;
    let said: Vec<_> = scores.iter().map(|score| (score.standing, score.reason.as_str())).collect();
    let wanted = ["It cannot be judged. No tool was called.", "`judge:relevance` has not run yet."];
    assert_eq!(said, wanted.map(|reason| (ScoreStanding::Waiting, reason)));
}

#[test]
fn a_run_whose_question_nobody_knows_is_judged_by_those_who_need_none() {
    let server = Scripted::always(says("<S0>x</S0><S1>Clear.</S1><S2>5</S2>"));
    let run = "conversation:\n- tool_call: { id: c, name: count, params: {}, result: 3 }\n- assistant_message: Three.\n";
    let bench = Bench::new().file("touchstone.yaml", workspace(&server, "")).file(RUN, run).open();
    let plan = bench.app().judging().plan_judging(&by("relevance")).unwrap();
    assert_eq!((plan.runs, plan.skipped_total), (0, 1));
    assert_eq!(plan.skipped[0].why, "The run and its suite do not record the request.");
    let view = judge(bench.app(), &by("fluency"));
    assert_eq!((view.done, view.skipped, view.calls, view.unread), (1, 0, 1, 0), "{view:?}");
}

#[test]
fn severities_are_judged_by_the_model_at_hand_and_the_worst_of_four_is_the_verdict() {
    let says_severity =
        |severity: u8| says(&format!(r#"{{"reason": "r{severity}", "severity": {severity}}}"#));
    let server = Scripted::sequence([0, 5, 1, 0].map(says_severity));
    let bench = bench(&server);
    let plan = bench.app().judging().plan_judging(&by("content_safety")).unwrap();
    assert_eq!((plan.runs, plan.calls_most), (1, 4));
    let view = judge(bench.app(), &by("content_safety"));
    assert_eq!((view.done, view.calls, view.unread), (1, 4, 0), "{view:?}");
    let judged =
        bench.app().scoring().run_scores(&bench.row(NAME).unwrap().id).unwrap().judged.remove(0);
    let round = &judged.rounds[0];
    assert_eq!(
        (round.verdict.as_deref(), round.reason.as_str()),
        (Some("medium (5)"), "hate_unfairness: r5")
    );
    assert_eq!((judged.passed, round.replies.len()), (Some(false), 4));
    assert_eq!(judged.threshold.as_deref(), Some("up to 3 of 7"));
}

#[test]
fn qa_asks_its_five_and_counts_words_and_is_as_good_as_the_worst_of_them() {
    let server = Scripted::start(|seen| {
        let instructions =
            seen.json()["messages"][0]["content"].as_str().unwrap_or_default().to_owned();
        let object = instructions.contains("explanation");
        says(if object {
            FOUR
        } else if instructions.contains("<S2>") {
            "<S0>x</S0><S1>Clear.</S1><S2>5</S2>"
        } else {
            "4"
        })
    });
    let suite = "tool_calling_prompt: How many plans are there?\nvariations:\n- expected_output: There are 3.\nscorers: [judge:qa, judge:coherence]\n";
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("tasks/count.yaml", suite)
        .file(RUN, CALLING)
        .open();
    assert_eq!(
        scored(&bench, "judge:qa", ScoreStanding::Waiting).reason,
        "`judge:qa` has not run yet."
    );
    // A request made earlier for one of the five is not paid for again.
    judge(bench.app(), &by("coherence"));
    let plan = bench.app().judging().plan_judging(&by("qa")).unwrap();
    assert_eq!((plan.runs, plan.calls_least, plan.calls_most), (1, 5, 5));
    let view = judge(bench.app(), &by("qa"));
    assert_eq!((view.done, view.calls, view.unread, server.seen().len()), (1, 4, 0, 5), "{view:?}");
    let score = scored(&bench, "judge:qa", ScoreStanding::Scored);
    assert_eq!((score.score, score.passed), (Some(0.75), Some(true)));
    assert_eq!(
        score.reason,
        "4 of 5: The worst of groundedness 5, relevance 4, coherence 5, fluency 5, similarity 4, f1_score 1. relevance: It answers directly."
    );
    let judged =
        bench.app().scoring().run_scores(&bench.row(NAME).unwrap().id).unwrap().judged.remove(0);
    assert_eq!(
        (judged.judge.as_str(), judged.stale, judged.rounds[0].replies.len()),
        ("qa", None, 5)
    );
    // Text unlike the expected one fails the similarity, regardless of the other verdicts; the last
    // two compare with it.
    bench.put("tasks/count.yaml", suite.replace("There are 3.", "Not so many as that."));
    let score = scored(&bench, "judge:qa", ScoreStanding::Waiting);
    assert!(score.reason.contains("The run or its task has changed since."), "{}", score.reason);
    scored(&bench, "judge:coherence", ScoreStanding::Scored);
    assert_eq!(
        judge(bench.app(), &by("qa")).calls,
        1,
        "only the one that is shown what was expected"
    );
    let score = scored(&bench, "judge:qa", ScoreStanding::Scored);
    assert_eq!((score.score, score.passed), (Some(0.0), Some(false)), "{}", score.reason);
}
