//! Tests of a model whose definition in the workspace file has changed: verdicts under its name are
//! shown, and count nowhere until they are renewed.
use super::bench::{Bench, wait_until};
use super::judging::{judge, request, workspace};
use super::running::stage::says;
use super::scripted::Scripted;
use touchstone_api::{ReportFormat, ReportRequest, ScoreStanding};

const RUN: &str = "results/count-tool_calling-o1-variation0.yaml";
const NAME: &str = "count-tool_calling-o1-variation0.yaml";
const TASK: &str = "tool_calling_prompt: How many plans are there?\nvariations:\n- expected_output: [{ n: 3 }]\nscorers: [judge:sopr, fields]\n";
const OTHER: &str = ", temperature: 0.5";

fn bench(server: &Scripted) -> Bench {
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(server, ""))
        .file("tasks/count.yaml", TASK)
        .answered(RUN, "There are 3.")
        .open();
    judge(bench.app(), &request(1));
    bench
}

/// Number of the judge's verdicts that count and that are stale, and the standing of its scorer.
fn verdict_counts(bench: &Bench) -> ((u64, u64), Option<ScoreStanding>) {
    let trust = bench.app().reviews().trust("").unwrap();
    let judge = trust.raters.iter().find(|rater| rater.id == "sopr:ours:local");
    (judge.map_or((0, 0), |rater| (rater.runs, rater.stale)), bench.row(NAME).unwrap().scoring)
}

fn wait(bench: &Bench, wanted: ((u64, u64), ScoreStanding)) {
    wait_until(&format!("it is {wanted:?}"), || {
        (verdict_counts(bench) == (wanted.0, Some(wanted.1))).then_some(())
    });
}

const COUNTS: ((u64, u64), ScoreStanding) = ((1, 0), ScoreStanding::Scored);
const STALE: ((u64, u64), ScoreStanding) = ((0, 1), ScoreStanding::Waiting);

#[test]
fn verdicts_of_a_former_definition_count_nowhere_until_the_run_is_judged_again() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let bench = bench(&server);
    wait(&bench, COUNTS);
    bench.write("touchstone.yaml", workspace(&server, OTHER));
    wait(&bench, STALE);
    let id = bench.row(NAME).unwrap().id;
    let scores = bench.app().scoring().run_scores(&id).unwrap();
    let why = "The model `local` or its sampling has changed";
    assert!(scores.scores[0].reason.contains(why), "{:?}", scores.scores[0]);
    assert!(
        scores.judged[0].stale.as_ref().is_some_and(|stale| stale.starts_with(why)),
        "{:?}",
        scores.judged
    );
    let report = ReportRequest {
        scorer: Some("judge:sopr".to_owned()),
        ..ReportRequest::for_format(ReportFormat::Json)
    };
    let page: serde_json::Value =
        serde_json::from_str(&bench.app().reports().make_report(&report, true).unwrap().text)
            .unwrap();
    assert_eq!(page["head"]["scored"], 0);
    // The verdict is valid again as soon as the definition of the model is restored.
    bench.write("touchstone.yaml", workspace(&server, ""));
    wait(&bench, COUNTS);
    bench.write("touchstone.yaml", workspace(&server, OTHER));
    wait(&bench, STALE);
    let before = server.seen().len();
    judge(bench.app(), &request(1));
    wait(&bench, COUNTS);
    assert_eq!(server.seen().len(), before + 1, "it was asked again");
}

#[test]
fn a_model_that_was_redefined_while_the_folder_was_closed_is_another_one_when_it_is_opened() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let bench = bench(&server);
    wait(&bench, COUNTS);
    let bench = bench.close();
    bench.put("touchstone.yaml", workspace(&server, OTHER));
    let bench = bench.reopen();
    // No wait here: the first query after opening must be correct.
    assert_eq!(verdict_counts(&bench), (STALE.0, Some(STALE.1)));
    // An unreadable file does not change the models.
    bench.write("touchstone.yaml", "models: [\n");
    assert_eq!(verdict_counts(&bench), (STALE.0, Some(STALE.1)));
    bench.write("touchstone.yaml", workspace(&server, ""));
    wait(&bench, COUNTS);
}
