//! Tests of paid replies: spend limits, replies without a verdict, and verdicts of a redefined
//! model.
use super::bench::{Bench, wait_until};
use super::judging::{judge, request, workspace};
use super::running::stage::says;
use super::scripted::{Reply, Scripted};
use fs_err as fs;
use serde_json::json;
use touchstone_api::{
    EvaluateRequest, EvaluatorRequest, JudgeRequest, Judged, LaunchRequest, LaunchState,
    ReportFormat, ReportRequest,
};
use touchstone_formats::judgement::JudgementFile;

const NAME: &str = "count-tool_calling-o1-variation0.yaml";
const RUN: &str = "results/count-tool_calling-o1-variation0.yaml";
const FILE: &str = "results/.touchstone/judgements/count-tool_calling-o1-variation0.yaml.yaml";
const TASK: &str = "tool_calling_prompt: How many plans are there?\nscorers: [judge:sopr]\n";
const SOLVED: &str = r#"{"reason": "All there.", "verdict": "solved"}"#;
const UNSOLVED: &str = r#"{"reason": "Wrong.", "verdict": "unsolved"}"#;

/// A folder with one answered run of a task whose scorer is a judge.
fn bench(workspace: String) -> Bench {
    Bench::new()
        .file("touchstone.yaml", workspace)
        .file("tasks/count.yaml", TASK)
        .file("rows.jsonl", "{\"query\": \"When?\", \"response\": \"At seven.\"}\n")
        .answered(RUN, "There are 3.")
        .open()
}

/// A workspace with one model that has no price.
fn unpriced(server: &Scripted, more: &str) -> String {
    let url = server.url("/v1");
    format!(
        "input_dir: tasks\noutput_dir: results\n{more}models:\n  local: {{ provider: openai, base_url: '{url}', model: any }}\n"
    )
}

/// A reply with this finish reason.
fn ended(text: &str, finish: &str) -> Reply {
    Reply::json(&json!({
        "id": "c", "object": "chat.completion", "model": "any-1",
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": finish }],
        "usage": { "prompt_tokens": 1_000_000, "completion_tokens": 500_000 },
    }))
}

fn judged(bench: &Bench) -> Vec<Judged> {
    bench.app().scoring().run_scores(&bench.row(NAME).unwrap().id).unwrap().judged
}

fn stored_judgements(bench: &Bench) -> JudgementFile {
    JudgementFile::read(&fs::read(bench.path(FILE)).unwrap()).unwrap()
}

#[test]
fn a_kept_reply_that_cannot_be_read_is_not_bought_again_once_the_budget_is_spent() {
    let shapeless = json!({ "model": "any-1", "choices": [], "usage": { "prompt_tokens": 1_000_000, "completion_tokens": 0 } });
    let server = Scripted::always(Reply::json(&shapeless));
    let bench = bench(workspace(&server, ""));
    assert_eq!(judge(bench.app(), &request(1)).failed, 1);
    let bought = server.seen().len();
    let view = judge(bench.app(), &JudgeRequest { max_cost: Some(0.0), ..request(1) });
    assert_eq!(
        (view.state, view.calls, server.seen().len()),
        (LaunchState::Stopped, 0, bought),
        "{view:?}"
    );
    assert!(view.why.unwrap().contains("The budget of $0 is spent."));
}

#[test]
fn a_budget_is_refused_where_no_price_is_known_and_told_where_only_the_file_has_one() {
    let server = Scripted::always(says(SOLVED));
    let bench = bench(unpriced(&server, ""));
    let typed = Some(0.001);
    let judging = JudgeRequest { max_cost: typed, ..request(1) };
    let launch = LaunchRequest {
        systems: vec!["tool_calling".into()],
        models: vec!["local".into()],
        max_cost: typed,
        ..LaunchRequest::default()
    };
    let rows = bench.app().evaluations().evaluate_options(true).unwrap().files.remove(0);
    let evaluators =
        vec![EvaluatorRequest { kind: "relevance".into(), ..EvaluatorRequest::default() }];
    let (model, out) = ("local".to_owned(), "out".to_owned());
    let evaluation = EvaluateRequest {
        data: rows.id,
        evaluators,
        model,
        out,
        max_cost: typed,
        ..EvaluateRequest::default()
    };
    let app = bench.app();
    for refused in [
        app.judging().start_judging(&judging).map(|_| ()).unwrap_err(),
        app.launches().start_launch(&launch).map(|_| ()).unwrap_err(),
        app.evaluations().start_evaluating(&evaluation).map(|_| ()).unwrap_err(),
    ] {
        let why = refused.to_string();
        assert!(
            why.contains("`local` has no known price, so the budget of $0.001 has no effect"),
            "{why}"
        );
        assert!(
            refused
                .hint
                .is_some_and(|hint| hint.contains("`price`") && hint.contains("--max-cost")),
            "{why}"
        );
    }
    let told =
        |plan: Option<String>| plan.is_some_and(|why| why.contains("`local` has no known price"));
    assert!(
        told(app.judging().plan_judging(&judging).unwrap().unbound)
            && told(app.launches().plan_launch(&launch).unwrap().unbound)
    );
    // Without a spend limit the plan has no sum either, and gives the reason.
    let plan =
        app.launches().plan_launch(&LaunchRequest { max_cost: None, ..launch.clone() }).unwrap();
    assert!(plan.estimate.cost.is_none() && told(plan.unpriced), "{:?}", plan.estimate);
    assert_eq!(app.judging().plan_judging(&request(1)).unwrap().unbound, None);
    assert_eq!(server.seen().len(), 0);
    // A limit from the workspace file is only reported and does not block, also for a page that
    // sends the value of the file.
    bench.write("touchstone.yaml", unpriced(&server, "run: { max_cost: 2.5 }\n"));
    for max_cost in [None, Some(2.5)] {
        let judging = JudgeRequest { max_cost, again: true, ..request(1) };
        assert!(told(app.judging().plan_judging(&judging).unwrap().unbound));
        let view = judge(app, &judging);
        assert_eq!((view.done, view.max_cost, view.unpriced), (1, Some(2.5), true), "{view:?}");
    }
    assert!(told(
        app.launches().plan_launch(&LaunchRequest { max_cost: None, ..launch }).unwrap().unbound
    ));
    bench.write("touchstone.yaml", workspace(&server, ""));
    assert_eq!(app.judging().plan_judging(&judging).unwrap().unbound, None);
}

#[test]
fn a_reply_that_was_cut_is_no_verdict_and_is_bought_again_only_with_more_room() {
    let server = Scripted::sequence([ended(SOLVED, "length"), says(SOLVED)]);
    let bench = bench(workspace(&server, ", max_tokens: 16"));
    let view = judge(bench.app(), &request(1));
    assert_eq!((view.done, view.failed, view.calls, server.seen().len()), (0, 1, 0, 1), "{view:?}");
    let why = "The reply was cut at 16 tokens: raise `max_tokens` of the model `local` in touchstone.yaml.";
    assert_eq!(view.troubles[0].why, why);
    assert!(
        (view.cost - 2.0).abs() < 1e-9 && view.tokens == 1_500_000,
        "what was paid for it is told: {view:?}"
    );
    assert!(!bench.path(FILE).exists(), "what was cut is not a verdict");
    let again = judge(bench.app(), &request(1));
    assert_eq!((again.failed, again.cost, server.seen().len()), (1, 0.0, 1), "{again:?}");
    bench.write("touchstone.yaml", workspace(&server, ", max_tokens: 4000"));
    let view = judge(bench.app(), &request(1));
    assert_eq!((view.done, view.failed, server.seen().len()), (1, 0, 2), "{view:?}");
}

#[test]
fn what_ended_in_a_way_that_nobody_knows_is_no_verdict_and_is_asked_for_again() {
    let server = Scripted::sequence([ended(SOLVED, "odd"), says(SOLVED)]);
    let bench = bench(workspace(&server, ""));
    let view = judge(bench.app(), &request(1));
    assert_eq!((view.done, view.failed), (0, 1), "{view:?}");
    assert!(view.troubles[0].why.contains("ended the reply with `odd`"), "{view:?}");
    assert!((view.cost - 2.0).abs() < 1e-9, "{view:?}");
    assert_eq!((judge(bench.app(), &request(1)).done, server.seen().len()), (1, 2));
}

#[test]
fn the_words_of_a_refusal_are_no_verdict_though_they_look_like_one() {
    let server = Scripted::always(ended(SOLVED, "content_filter"));
    let bench = bench(workspace(&server, ""));
    let view = judge(bench.app(), &request(1));
    assert_eq!((view.done, view.unread, view.calls, server.seen().len()), (1, 1, 1, 1), "{view:?}");
    let round = stored_judgements(&bench).judgements()[0].rounds[0].clone();
    assert_eq!((round.verdict, round.score, round.replies), (None, None, vec![SOLVED.to_owned()]));
    assert_eq!(round.reason, "The judge refused, so there is no verdict.");
}

#[test]
fn what_another_model_said_under_the_same_name_is_stale_and_counts_for_no_round_of_this_one() {
    let server = Scripted::sequence([says(SOLVED), says(UNSOLVED)]);
    let bench = bench(workspace(&server, ""));
    let first = || {
        server
            .seen()
            .iter()
            .map(|seen| seen.json()["model"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    judge(bench.app(), &request(1));
    // A larger reply limit is not another model.
    bench.write("touchstone.yaml", workspace(&server, ", max_tokens: 4000"));
    assert_eq!(judge(bench.app(), &request(1)).calls, 0);
    assert_eq!(judged(&bench)[0].stale, None);
    let other = workspace(&server, "").replace("model: any", "model: other");
    bench.write("touchstone.yaml", &other);
    let said = judged(&bench);
    assert!(
        said[0]
            .stale
            .as_ref()
            .is_some_and(|why| why.contains("The model `local` or its sampling has changed")),
        "{said:?}"
    );
    assert_eq!(bench.app().judging().plan_judging(&request(1)).unwrap().calls_least, 1);
    let view = judge(bench.app(), &request(2));
    assert_eq!(
        (view.calls, first()),
        (2, vec!["any".to_owned(), "other".to_owned(), "other".to_owned()])
    );
    assert!(view.rates.unwrap().mean.abs() < 1e-9, "what the former model said is in no mean");
    let said = judged(&bench);
    assert_eq!((said.len(), said[0].stale.is_none(), said[1].stale.is_some()), (2, true, true));
    // After other sampling settings, the original model still has its verdict.
    bench.write("touchstone.yaml", other.replace("model: other", "model: other, temperature: 0.5"));
    assert_eq!(bench.app().judging().plan_judging(&request(1)).unwrap().calls_least, 1);
    bench.write("touchstone.yaml", workspace(&server, ""));
    assert_eq!(bench.app().judging().plan_judging(&request(1)).unwrap().complete, 1);
}

#[test]
fn a_file_that_does_not_say_whom_its_model_was_is_believed() {
    let server = Scripted::always(says(SOLVED));
    let bench = bench(workspace(&server, ""));
    judge(bench.app(), &request(1));
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    let old: String =
        text.split_inclusive('\n').filter(|line| !line.contains("model_mark")).collect();
    assert_ne!(old, text);
    bench.put(FILE, old);
    bench.write("touchstone.yaml", workspace(&server, "").replace("model: any", "model: other"));
    assert_eq!((judge(bench.app(), &request(1)).calls, judged(&bench)[0].stale.clone()), (0, None));
}

#[test]
fn a_later_judgement_that_cannot_be_read_takes_away_no_verdict_that_holds() {
    let server = Scripted::sequence([says(SOLVED), says("hm"), says("hm")]);
    let bench = bench(workspace(&server, ""));
    judge(bench.app(), &request(1));
    let again = judge(bench.app(), &JudgeRequest { again: true, ..request(1) });
    assert_eq!((again.unread, server.seen().len()), (1, 3), "{again:?}");
    let trust = wait_until("both are known", || {
        let trust = bench.app().reviews().trust("").unwrap();
        (judged(&bench).len() == 2 && !trust.raters.is_empty()).then_some(trust)
    });
    wait_until("the verdict is the score", || {
        (bench.row(NAME).unwrap().score == Some(1.0)).then_some(())
    });
    assert_eq!((trust.raters[0].runs, trust.raters[0].unread), (1, 0), "{trust:?}");
    let view = judge(bench.app(), &request(1));
    assert_eq!((view.calls, view.unread, view.rates.map(|rates| rates.mean)), (0, 0, Some(1.0)));
}

#[test]
fn what_judges_said_and_cannot_be_read_is_told_by_trust_and_by_every_report() {
    let server = Scripted::always(says(SOLVED));
    let bench = bench(workspace(&server, ""));
    assert_eq!(bench.app().reviews().trust("").unwrap().unreadable, 0);
    bench.put(FILE, "judgements: odd\n");
    let told = |notes: &[String]| {
        notes.iter().any(|note| {
            note.starts_with("1 file of judgements cannot be read") && note.contains(NAME)
        })
    };
    let trust = wait_until("it is told", || {
        Some(bench.app().reviews().trust("").unwrap()).filter(|trust| trust.unreadable == 1)
    });
    assert!(told(&trust.notes), "{trust:?}");
    assert_eq!(bench.app().reviews().trust("model:claude").unwrap().unreadable, 0);
    for format in [ReportFormat::Azure, ReportFormat::Markdown] {
        let request = ReportRequest::for_format(format);
        let report = bench.app().reports().make_report(&request, true).unwrap();
        assert!(report.unreadable == 1 && told(&report.notes), "{report:?}");
    }
}
