//! Tests of evaluation targets, which are commands that answer rows before evaluators see them: the
//! number of calls, the stored answers, and the isolation of failures.
use super::bench::{Bench, wait_until};
use super::canary;
use super::evaluating::{ROWS, ended, scored};
use super::judging::workspace;
use super::running::stage::refuses;
use super::scripted::{Scripted, Seen};
use fs_err as fs;
use serde_json::Value;
use touchstone_api::{EvaluateAgain, EvaluateRequest, EvaluationView, LaunchState};
use touchstone_app::App;
use touchstone_app::evaluating::{FileRequest, typed_evaluators};

/// Builds a request with a shell script as the target, which records each call.
fn request(bench: &Bench, program: &str, kinds: &[&str], mappings: &[&str]) -> FileRequest {
    bench.write("answer.sh", format!("read row\necho x >> asked\n{program}\n"));
    let script = format!("cd '{}' && . ./answer.sh", bench.path("").display());
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (evaluators, usual) = typed_evaluators(None, &texts(kinds), &texts(mappings)).unwrap();
    FileRequest {
        data: bench.path("rows.jsonl"),
        out: Some(bench.path("out.json")),
        target: texts(&["sh", "-c", &script]),
        usual,
        request: EvaluateRequest {
            evaluators,
            model: "local".to_owned(),
            replace: true,
            ..EvaluateRequest::default()
        },
        ..FileRequest::default()
    }
}

fn evaluate(app: &App, request: &FileRequest) -> (EvaluationView, Value) {
    let id = app.evaluations().start_evaluating_file(request).unwrap().evaluation;
    let view = ended(app, &id);
    let written =
        app.evaluations().evaluation_results(&id).unwrap().unwrap_or_else(|| "null".to_owned());
    (view, serde_json::from_str(&written).unwrap())
}

fn all(again: bool) -> EvaluateAgain {
    if again { EvaluateAgain::All } else { EvaluateAgain::Nothing }
}

fn target_calls(bench: &Bench) -> usize {
    fs::read_to_string(bench.path("asked")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_target_is_asked_once_more_about_rows_that_have_no_result_and_about_all_of_them_once_all_have_one()
 {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    let broken = "case \"$row\" in *Where*) echo lost >&2; exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    let kept = |id: &str| app.evaluations().evaluation_asked(id).unwrap();
    for (times, before) in [(3, 0), (4, 2)] {
        let (view, written) = evaluate(&app, &request(&bench, broken, &["f1_score"], &[]));
        assert_eq!(
            (view.state, view.done, view.failed, view.missing),
            (LaunchState::Done, 2, 1, 1),
            "{view:?}"
        );
        assert!(view.troubles[0].why.contains("It said: lost"), "{view:?}");
        let row = &written["rows"][0];
        assert_eq!(
            (&row["outputs.response"], &row["outputs.f1_score.f1_score"]),
            (&"At seven.".into(), &1.0.into())
        );
        assert_eq!((target_calls(&bench), kept(&view.id)), (times, (3, before)));
    }
    let mended = request(&bench, "echo '{\"response\": \"At eight.\"}'", &["f1_score"], &[]);
    for (times, before) in [(5, 2), (8, 0)] {
        let (view, _) = evaluate(&app, &mended);
        assert_eq!(
            (view.done, view.missing, target_calls(&bench), kept(&view.id)),
            (3, 0, times, (3, before)),
            "{view:?}"
        );
    }
}

#[test]
fn what_a_target_said_is_not_lost_for_a_mapping_that_nobody_reads() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    let broken = "case \"$row\" in *Where*) exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    evaluate(&app, &request(&bench, broken, &["f1_score"], &[]));
    let stray = request(&bench, broken, &["f1_score"], &["respons=${target.response}"]);
    let (view, _) = evaluate(&app, &stray);
    assert_eq!((view.notes.len(), view.done, target_calls(&bench)), (1, 2, 4), "{view:?}");
    assert_eq!(app.evaluations().plan_evaluating_file(&stray).unwrap().lacks, view.notes);
    let elsewhere = FileRequest { out: Some(bench.path("other.json")), ..stray };
    let refused = app.evaluations().start_evaluating_file(&elsewhere).unwrap_err();
    assert!(
        refused.message.starts_with("`respons` is mapped") && target_calls(&bench) == 4,
        "{}",
        refused.message
    );
}

#[test]
fn a_row_that_the_provider_refused_is_judged_once_more_with_what_the_target_said_before() {
    let server = Scripted::start(|seen: &Seen| {
        let is_refused = seen.number < 3 && String::from_utf8_lossy(&seen.body).contains("Where?");
        if is_refused { refuses(400, "invalid", "not this one") } else { scored(4) }
    });
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("rows.jsonl", ROWS)
        .open();
    // The target gives another answer each time.
    let program = "echo \"{\\\"response\\\": \\\"$(wc -l < asked)\\\"}\"";
    let request = request(&bench, program, &["relevance"], &[]);
    let hint = || {
        let refused = FileRequest {
            request: EvaluateRequest { replace: false, ..request.request.clone() },
            ..request.clone()
        };
        bench.app().evaluations().start_evaluating_file(&refused).unwrap_err().hint.unwrap()
    };
    let (view, before) = evaluate(bench.app(), &request);
    assert_eq!(
        (view.done, view.missing, target_calls(&bench), server.seen().len()),
        (2, 1, 3, 3),
        "{view:?}"
    );
    assert!(hint().ends_with("paid replies are reused."), "{}", hint());
    let plan = bench.app().evaluations().plan_evaluating_file(&request).unwrap();
    assert_eq!((plan.target, plan.calls_least, plan.calls_most, plan.kept), (0, 1, 2, 2));
    let (view, written) = evaluate(bench.app(), &request);
    assert_eq!(
        (view.done, view.calls, target_calls(&bench), server.seen().len()),
        (3, 1, 3, 4),
        "{view:?}"
    );
    assert_eq!(written["rows"][0], before["rows"][0]);
    assert!(hint().contains("the target runs again for every row"), "{}", hint());
    evaluate(bench.app(), &request);
    assert_eq!((target_calls(&bench), server.seen().len()), (6, 7));
}

#[test]
fn a_plan_says_what_rows_take_that_the_target_has_yet_to_answer() {
    let server = Scripted::always(scored(4));
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("rows.jsonl", ROWS)
        .open();
    bench.write("rows.jsonl", ROWS.replace("response", "was"));
    let program = "case \"$row\" in *Where*) exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    let kinds = ["relevance", "content_safety", "f1_score"];
    let mut request = request(&bench, program, &kinds, &["response=${target.response}"]);
    request.request.rounds = Some(2);
    let plan =
        |request: &FileRequest| bench.app().evaluations().plan_evaluating_file(request).unwrap();
    let first = plan(&request);
    assert_eq!(
        (first.rows, first.target, first.calls_least, first.calls_most),
        (3, 3, 3 * 2 * 5, 3 * 2 * 10)
    );
    assert_eq!(
        first.each,
        [
            "relevance: 1 to 2 requests for each row, in each of 2 rounds.",
            "content_safety: 4 to 8 requests for each row, in each of 2 rounds."
        ]
    );
    assert_eq!((first.tokens_least, first.tokens_most, first.cost_most), (None, None, None));
    assert!(
        first.lacks.is_empty() && server.seen().is_empty() && target_calls(&bench) == 0,
        "{first:?}"
    );
    // Text metrics cost nothing.
    let texts = plan(&FileRequest {
        request: EvaluateRequest {
            evaluators: request.request.evaluators[2..].to_vec(),
            ..request.request.clone()
        },
        ..request.clone()
    });
    assert_eq!(
        (texts.target, texts.calls_most, texts.tokens_most, texts.each.len()),
        (3, 0, Some(0), 0)
    );
    let (view, _) = evaluate(bench.app(), &request);
    assert!(view.missing > 0 && view.file.is_some(), "{view:?}");
    let then = plan(&request);
    assert_eq!((then.target, then.tokens_most, then.each.len()), (1, None, 2));
}

#[test]
fn without_results_only_what_was_no_answer_is_asked_again_unless_all_of_it_shall_be() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    // The mapping refers to nothing, so there are no results.
    let program =
        "case \"$row\" in *Where*) echo '[1]';; *) echo '{\"reply\": \"At seven.\"}';; esac";
    let request = request(&bench, program, &["f1_score"], &["response=${target.response}"]);
    for (again, times) in [(false, 3), (false, 4), (true, 7), (false, 8)] {
        let anew = EvaluateRequest { again: all(again), ..request.request.clone() };
        let (view, _) = evaluate(&app, &FileRequest { request: anew, ..request.clone() });
        assert_eq!(
            (view.state, view.file.as_deref(), target_calls(&bench)),
            (LaunchState::Stopped, None, times),
            "{view:?}"
        );
    }
}

#[test]
fn what_is_asked_again_is_asked_of_the_model_too() {
    let server = Scripted::always(scored(4));
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("rows.jsonl", ROWS)
        .open();
    let request = request(&bench, "echo '{\"response\": \"At seven.\"}'", &["relevance"], &[]);
    for (again, bought) in [(false, 3), (false, 3), (true, 6), (false, 6)] {
        let anew = EvaluateRequest { again: all(again), ..request.request.clone() };
        let request = FileRequest { request: anew, ..request.clone() };
        let (view, _) = evaluate(bench.app(), &request);
        assert_eq!((view.state, server.seen().len()), (LaunchState::Done, bought), "{view:?}");
    }
    let untold = FileRequest { target: Vec::new(), ..request };
    assert_eq!(
        evaluate(bench.app(), &untold).0.calls,
        2,
        "of one row the target said what is in it"
    );
    assert_eq!(bench.app().evaluations().plan_evaluating_file(&untold).unwrap().kept, 3);
    let anew = EvaluateRequest { again: all(true), ..untold.request.clone() };
    assert_eq!(
        bench
            .app()
            .evaluations()
            .plan_evaluating_file(&FileRequest { request: anew, ..untold })
            .unwrap()
            .kept,
        0
    );
}

#[test]
fn a_mapping_that_leads_nowhere_is_told_before_anybody_is_paid() {
    let server = Scripted::always(scored(4));
    let bench = Bench::new()
        .file("touchstone.yaml", workspace(&server, ""))
        .file("rows.jsonl", ROWS)
        .open();
    let program = "echo '{\"reply\": \"At seven.\"}'";
    let wrong = request(
        &bench,
        program,
        &["relevance"],
        &["query=${data.nowhere}", "response=${target.reply}"],
    );
    let error = bench.app().evaluations().start_evaluating_file(&wrong).unwrap_err();
    assert!(error.message.contains("`${data.nowhere}`, which is not a column"), "{error}");
    assert_eq!(bench.app().evaluations().plan_evaluating_file(&wrong).unwrap().lacks.len(), 1);
    assert_eq!(target_calls(&bench), 0);
    let wrong = request(&bench, program, &["relevance"], &["response=${target.answer}"]);
    let (view, _) = evaluate(bench.app(), &wrong);
    assert_eq!(view.state, LaunchState::Stopped, "{view:?}");
    let why = view.why.unwrap();
    assert!(
        why.contains("`${target.answer}`") && why.contains("The target returns reply."),
        "{why}"
    );
    assert_eq!((target_calls(&bench), server.seen().len()), (3, 0));
    let right = request(&bench, program, &["relevance"], &["response=${target.reply}"]);
    let (view, _) = evaluate(bench.app(), &right);
    assert_eq!((view.done, target_calls(&bench), server.seen().len()), (3, 3, 3), "{view:?}");
}

#[test]
fn keys_that_a_target_says_are_written_nowhere() {
    const KEY: &str = "canary-key-with-letters.20251121";
    let server = Scripted::always(scored(4));
    let workspace = workspace(&server, ", api_key_env: CANARY_KEY");
    let bench = Bench::new()
        .file("touchstone.yaml", workspace)
        .file("rows.jsonl", ROWS)
        .key("CANARY_KEY", KEY)
        .open();
    bench.write("../said", KEY);
    let said = bench.path("../said");
    let program = format!(
        "case \"$row\" in *Where*) cat '{said}' >&2; exit 3;; esac\nprintf '{{\"response\": \"It is %s.\"}}' \"$(cat '{said}')\"",
        said = said.display()
    );
    let (view, written) = evaluate(bench.app(), &request(&bench, &program, &["relevance"], &[]));
    assert_eq!((view.done, view.failed), (2, 1), "{view:?}");
    assert_eq!(written["rows"][0]["outputs.response"], "It is [redacted].");
    assert!(!view.troubles[0].why.contains(KEY), "{view:?}");
    let found = canary::search(&bench.path(""), KEY);
    assert!(found.is_empty(), "{found:?}");
    assert!(server.seen().iter().all(|seen| canary::spot(&seen.body, KEY).is_none()));
}

#[test]
fn a_target_that_grumbles_at_length_still_answers() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    let program = "head -c 17000000 /dev/zero | tr '\\0' x >&2\necho >&2\n\
        case \"$row\" in *Where*) echo lost >&2; exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    let (view, _) = evaluate(&app, &request(&bench, program, &["f1_score"], &[]));
    assert_eq!((view.done, view.failed), (2, 1), "{view:?}");
    assert!(view.troubles[0].why.ends_with("It said: lost"), "{view:?}");
}

#[test]
fn without_a_folder_keys_that_everybody_knows_by_name_are_written_nowhere_either() {
    const KEY: &str = "canary-key-with-letters.20251122";
    const LOOKS: &str = "sk-looks4like3a2key1and0is9none";
    let bench = Bench::new().file("rows.jsonl", ROWS).key("OPENAI_API_KEY", KEY);
    let app = bench.another_app();
    bench.write("../said", format!("{KEY} or {LOOKS}"));
    let program = format!(
        "printf '{{\"response\": \"It is %s.\"}}' \"$(cat '{}')\"",
        bench.path("../said").display()
    );
    let (view, written) = evaluate(&app, &request(&bench, &program, &["f1_score"], &[]));
    assert_eq!(view.done, 3, "{view:?}");
    assert_eq!(written["rows"][0]["outputs.response"], "It is [redacted] or [redacted].");
    for secret in [KEY, LOOKS] {
        assert_eq!(canary::search(&bench.path(""), secret), []);
    }
}

#[test]
fn what_a_target_leaves_behind_with_its_output_open_is_not_waited_for_and_is_ended() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    let program = "sleep 600 &\necho $! >> left\necho '{\"response\": \"At seven.\"}'";
    let (view, written) = evaluate(&app, &request(&bench, program, &["f1_score"], &[]));
    assert_eq!((view.done, view.failed), (3, 0), "{view:?}");
    assert_eq!(written["rows"][0]["outputs.response"], "At seven.");
    let left = fs::read_to_string(bench.path("left")).unwrap();
    assert_eq!(left.lines().count(), 3);
    for process in left.lines() {
        wait_until("what was left is ended", || is_gone(process).then_some(()));
    }
}

/// Returns true if no process of that number is running any more.
fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}
