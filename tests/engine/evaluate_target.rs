//! A command that answers rows before evaluators see them: how often it is asked, what is kept of it, and what it cannot spoil.
use super::bench::Bench;
use super::canary;
use super::evaluating::{ROWS, ended, scored};
use super::judging::workspace;
use super::scripted::Scripted;
use fs_err as fs;
use serde_json::Value;
use touchstone_engine::app::{App, FileRequest, typed_evaluators};
use touchstone_engine::rows::{EvaluateRequest, EvaluationView, LaunchState};

/// A request with a shell program as the target, which notes each time that it is asked.
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
        request: EvaluateRequest { evaluators, model: "local".to_owned(), replace: true, ..EvaluateRequest::default() },
        ..FileRequest::default()
    }
}

fn evaluate(app: &App, request: &FileRequest) -> (EvaluationView, Value) {
    let id = app.start_evaluating_file(request).unwrap().evaluation;
    let view = ended(app, &id);
    let written = app.evaluation_results(&id).unwrap().unwrap_or_else(|| "null".to_owned());
    (view, serde_json::from_str(&written).unwrap())
}

fn asked(bench: &Bench) -> usize {
    fs::read_to_string(bench.path("asked")).map_or(0, |text| text.lines().count())
}

#[test]
fn a_target_is_asked_about_each_row_and_anew_once_there_are_results() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    let program = "case \"$row\" in *Where*) echo lost >&2; exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    let request = request(&bench, program, &["f1_score"], &[]);
    for times in [3, 6] {
        let (view, written) = evaluate(&app, &request);
        assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 2, 1), "{view:?}");
        assert!(view.troubles[0].why.contains("It said: lost"), "{view:?}");
        let row = &written["rows"][0];
        assert_eq!((&row["outputs.response"], &row["outputs.f1_score.f1_score"]), (&"At seven.".into(), &1.0.into()));
        assert_eq!(asked(&bench), times);
        assert_eq!(app.evaluation_asked(&view.id).unwrap(), 3);
    }
}

#[test]
fn without_results_only_what_was_no_answer_is_asked_again_unless_all_of_it_shall_be() {
    let bench = Bench::new().file("rows.jsonl", ROWS);
    let app = bench.another_app();
    // The mapping leads nowhere, so there are no results.
    let program = "case \"$row\" in *Where*) echo '[1]';; *) echo '{\"reply\": \"At seven.\"}';; esac";
    let request = request(&bench, program, &["f1_score"], &["response=${target.response}"]);
    for (again, times) in [(false, 3), (false, 4), (true, 7), (false, 8)] {
        let (view, _) = evaluate(&app, &FileRequest { again, ..request.clone() });
        assert_eq!((view.state, view.file.as_deref(), asked(&bench)), (LaunchState::Stopped, None, times), "{view:?}");
    }
}

#[test]
fn what_is_asked_again_is_asked_of_the_model_too() {
    let server = Scripted::always(scored(4));
    let bench = Bench::new().file("touchstone.yaml", workspace(&server, "")).file("rows.jsonl", ROWS).open();
    let request = request(&bench, "echo '{\"response\": \"At seven.\"}'", &["relevance"], &[]);
    for (again, bought) in [(false, 3), (false, 3), (true, 6), (false, 6)] {
        let request = FileRequest { again, ..request.clone() };
        let (view, _) = evaluate(bench.app(), &request);
        assert_eq!((view.state, server.seen().len()), (LaunchState::Done, bought), "{view:?}");
    }
    let untold = FileRequest { target: Vec::new(), ..request };
    assert_eq!(evaluate(bench.app(), &untold).0.calls, 2, "of one row the target said what is in it");
    assert_eq!(bench.app().plan_evaluating_file(&untold).unwrap().kept, 3);
    assert_eq!(bench.app().plan_evaluating_file(&FileRequest { again: true, ..untold }).unwrap().kept, 0);
}

#[test]
fn a_mapping_that_leads_nowhere_is_told_before_anybody_is_paid() {
    let server = Scripted::always(scored(4));
    let bench = Bench::new().file("touchstone.yaml", workspace(&server, "")).file("rows.jsonl", ROWS).open();
    let program = "echo '{\"reply\": \"At seven.\"}'";
    let wrong = request(&bench, program, &["relevance"], &["query=${data.nowhere}", "response=${target.reply}"]);
    let error = bench.app().start_evaluating_file(&wrong).unwrap_err();
    assert!(error.message.contains("`${data.nowhere}`, which is no column"), "{error}");
    assert_eq!(bench.app().plan_evaluating_file(&wrong).unwrap().lacks.len(), 1);
    assert_eq!(asked(&bench), 0);
    let wrong = request(&bench, program, &["relevance"], &["response=${target.answer}"]);
    let (view, _) = evaluate(bench.app(), &wrong);
    assert_eq!(view.state, LaunchState::Stopped, "{view:?}");
    let why = view.why.unwrap();
    assert!(why.contains("`${target.answer}`") && why.contains("The target gives reply."), "{why}");
    assert_eq!((asked(&bench), server.seen().len()), (3, 0));
    let right = request(&bench, program, &["relevance"], &["response=${target.reply}"]);
    let (view, _) = evaluate(bench.app(), &right);
    assert_eq!((view.done, asked(&bench), server.seen().len()), (3, 3, 3), "{view:?}");
}

#[test]
fn keys_that_a_target_says_are_written_nowhere() {
    const KEY: &str = "canary-key-with-letters.20251121";
    let server = Scripted::always(scored(4));
    let workspace = workspace(&server, ", api_key_env: CANARY_KEY");
    let bench = Bench::new().file("touchstone.yaml", workspace).file("rows.jsonl", ROWS).key("CANARY_KEY", KEY).open();
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
    let program = "head -c 17000000 /dev/zero | tr '\\0' x >&2\necho >&2\ncase \"$row\" in *Where*) echo lost >&2; exit 3;; esac\necho '{\"response\": \"At seven.\"}'";
    let (view, _) = evaluate(&app, &request(&bench, program, &["f1_score"], &[]));
    assert_eq!((view.done, view.failed), (2, 1), "{view:?}");
    assert!(view.troubles[0].why.ends_with("It said: lost"), "{view:?}");
}
