//! Tests of evaluations that cannot succeed and are refused before row 1: programs and targets that
//! cannot start, rows of another shape, unused mappings, spend limits without a price. Also of rows
//! made from the runs of a folder.
use super::bench::{Bench, answered};
use super::evaluating::{ROWS, cosine, ended, evaluate, offered, refused, request, scored};
use super::judging::workspace;
use super::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{EvaluateRequest, EvaluatorRequest, LaunchState, RunState};
use touchstone_app::evaluating::FileRequest;

fn python(source: &str) -> EvaluatorRequest {
    let options = serde_json::json!({ "source": source }).to_string();
    EvaluatorRequest {
        kind: "python".into(),
        name: "mine".into(),
        options,
        ..EvaluatorRequest::default()
    }
}

fn bench() -> Bench {
    Bench::new().file("touchstone.yaml", "input_dir: tasks\n").file("tasks/rows.jsonl", ROWS).open()
}

#[test]
fn a_program_that_cannot_be_read_ends_it_before_row_1_and_one_that_fails_on_rows_does_not() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let bench = bench();
    let of =
        |source: &str| EvaluateRequest { evaluators: vec![python(source)], ..request(&bench, &[]) };
    for (source, why) in [
        ("def grade(sample, item:\n", "mine failed in line 1: SyntaxError"),
        ("def rate(sample, item):\n    return 1\n", "mine has no function grade(sample, item)."),
        ("x = 1 / 0\n", "mine failed in line 1: ZeroDivisionError"),
    ] {
        let view = evaluate(&bench, &of(source));
        let told = view.why.unwrap_or_default();
        assert!(told.starts_with(why) && told.contains("Fix the program"), "{told}");
        assert_eq!((view.state, view.done, view.failed), (LaunchState::Stopped, 0, 0));
        assert!(!bench.path("results/evaluations").exists(), "nothing is written");
    }
    let view = evaluate(
        &bench,
        &of("def grade(sample, item):\n    return 0.5 if item['query'] == 'When?' else 1 / 0\n"),
    );
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 1, 2), "{view:?}");
}

#[test]
fn a_program_that_never_comes_to_its_functions_is_stopped_at_once_and_nobody_was_paid() {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        return eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
    }
    let server = Scripted::always(scored(3));
    let bench = super::evaluating::bench(&server);
    let mut asked = request(&bench, &["relevance"]);
    asked.evaluators.push(python("import time\nwhile True:\n    time.sleep(1)\n"));
    let id = bench.app().evaluations().start_evaluating(&asked).unwrap().evaluation;
    assert_eq!(bench.app().evaluations().view(&id).unwrap().state, LaunchState::Running);
    bench.app().evaluations().stop_evaluating(&id, false).unwrap();
    let view = ended(bench.app(), &id);
    assert_eq!(view.why.as_deref(), Some("It was stopped while reading mine, before row 1."));
    assert_eq!((view.state, view.file, server.seen().len()), (LaunchState::Stopped, None, 0));
    assert_eq!(
        bench.app().evaluations().unfinished_evaluations().unwrap(),
        [],
        "what never began is not gone on with"
    );
}

#[test]
fn a_target_that_cannot_be_started_is_refused_and_the_plan_says_so() {
    let bench = bench();
    let out = bench.path("out.json");
    let asked = FileRequest {
        data: bench.path("tasks/rows.jsonl"),
        out: Some(out.clone()),
        target: vec![bench.path("no/such").display().to_string()],
        request: request(&bench, &["f1_score"]),
        ..FileRequest::default()
    };
    let why = bench.app().evaluations().start_evaluating_file(&asked).unwrap_err();
    assert!(why.message.ends_with("cannot be started: there is no such file."), "{}", why.message);
    let plan = bench.app().evaluations().plan_evaluating_file(&asked).unwrap();
    assert_eq!((plan.why_not.unwrap().message, plan.target, out.exists()), (why.message, 3, false));
}

#[test]
fn what_failed_is_told_in_the_order_of_the_rows() {
    let rows: Vec<String> =
        (0..60).map(|at| format!("{{\"response\": [{at}], \"ground_truth\": \"{at}\"}}")).collect();
    let bench = bench();
    bench.write("tasks/rows.jsonl", rows.join("\n"));
    let view = evaluate(&bench, &request(&bench, &["bleu_score", "f1_score"]));
    let told: Vec<(u64, &str)> =
        view.troubles.iter().map(|one| (one.row, one.evaluator.as_str())).collect();
    let expected: Vec<(u64, &str)> =
        (1..=25).flat_map(|row| [(row, "bleu_score"), (row, "f1_score")]).collect();
    assert_eq!((view.failed, told), (120, expected));
    let outside = FileRequest {
        data: bench.path("tasks/rows.jsonl"),
        out: Some(bench.path("out.json")),
        request: request(&bench, &["f1_score"]),
        ..FileRequest::default()
    };
    let id = bench.app().evaluations().start_evaluating_file(&outside).unwrap().evaluation;
    let view = ended(bench.app(), &id);
    assert!(view.file.is_some() && view.filter.is_none(), "{view:?}");
    assert!(
        view.failed > 0 && view.troubles.iter().all(|trouble| trouble.run.is_none()),
        "no run is led to: {view:?}"
    );
}

#[test]
fn rows_are_made_of_runs_and_the_plan_says_which_column_is_a_text() {
    const TASK: &str = "tool_calling_prompt: How many plans are there?\nvariations:\n- expected_output: Three plans.\n";
    const CALLED: &str = "conversation:\n- user_message: How many plans?\n\
        - assistant_message: Let me look.\n\
        - tool_call: { id: c1, name: count, params: { of: plans }, result: [{ n: 3 }] }\n\
        - assistant_message: Three plans.\nanswer: Three plans.\n";
    let bench = Bench::new()
        .file("tasks/count.yaml", TASK)
        .file("results/count-tool_calling-o1-variation0.yaml", CALLED)
        .file("results/count-tool_calling-claude-variation0.yaml", answered("Three"))
        .open();
    let app = bench.app();
    let one = app.evaluations().make_rows("model:o1", false).unwrap();
    assert_eq!(
        (one.rows, one.file.path.as_str(), one.notes.len()),
        (1, "results/evaluations/runs.jsonl", 0)
    );
    // Equal rows are written to one file; others go to another one, and no file is overwritten.
    assert_eq!(app.evaluations().make_rows("model:o1", false).unwrap().file, one.file);
    let all = app.evaluations().make_rows("", false).unwrap();
    assert_eq!((all.rows, all.file.path.as_str()), (2, "results/evaluations/runs-2.jsonl"));
    assert_eq!(fs::read_to_string(bench.path(&one.file.path)).unwrap().lines().count(), 1);
    assert_eq!(offered(&bench, "runs.jsonl").id, one.file.id);
    assert!(
        app.evaluations()
            .make_rows("model:none", false)
            .unwrap_err()
            .message
            .starts_with("None of these runs makes a row")
    );
    assert!(
        app.evaluations()
            .make_rows("modle:o1", false)
            .unwrap_err()
            .message
            .starts_with("modle:o1: ")
    );
    let runs = bench.states().into_iter().filter(|(_, state)| *state != RunState::Other);
    assert_eq!(runs.count(), 2, "rows for evaluators are not runs: {:?}", bench.rows());

    let columns = app.evaluations().look_at_data(&one.file.id).unwrap().columns;
    assert!(columns.windows(2).any(|two| two == ["response", "response_text"]), "{columns:?}");
    let of = |mapping: &[(&str, &str)]| {
        let pair = |(input, from): &(&str, &str)| ((*input).to_owned(), (*from).to_owned());
        let mapping = mapping.iter().map(pair).collect();
        let evaluator =
            EvaluatorRequest { kind: "f1_score".into(), mapping, ..EvaluatorRequest::default() };
        EvaluateRequest {
            data: one.file.id.clone(),
            evaluators: vec![evaluator],
            ..EvaluateRequest::default()
        }
    };
    // Evaluators of text take the text of the answer without being told, and say so.
    let plan = app.evaluations().plan_evaluating(&of(&[])).unwrap();
    assert_eq!((plan.lacks, plan.why_not), (Vec::new(), None));
    let [note] = plan.notes.try_into().unwrap();
    assert!(
        note.starts_with("f1_score: `response` comes from the column `response_text` where"),
        "{note}"
    );
    let view = ended(app, &app.evaluations().start_evaluating(&of(&[])).unwrap().evaluation);
    assert_eq!((view.done, view.failed, view.notes), (1, 0, vec![note]));
    let own = of(&[("response", "${data.response}")]);
    let plan = app.evaluations().plan_evaluating(&own).unwrap();
    let expected = "f1_score: 1 of 1 rows has no result: `response` is not text.";
    assert_eq!((plan.notes.len(), plan.lacks), (0, vec![expected.to_owned()]));
    let own = EvaluateRequest { out: "own".to_owned(), ..own };
    let view = ended(app, &app.evaluations().start_evaluating(&own).unwrap().evaluation);
    assert_eq!((view.done, view.failed), (0, 1));
    assert_eq!(view.main_reason.as_deref(), Some("`response` is not text."));
    let stray = refused(&bench, &of(&[("respons", "${data.response_text}")]));
    assert!(stray.message.contains("`f1_score` takes no such input"), "{}", stray.message);
}

#[test]
fn a_budget_of_the_workspace_file_that_binds_nothing_is_told_also_where_only_vectors_are_paid_for()
{
    let server = Scripted::always(scored(3));
    let url = server.url("/v1");
    let embed = format!("  embed: {{ base_url: '{url}', model: small, embeddings: true }}\n");
    let workspace =
        workspace(&server, "").replace("concurrency: 2", "concurrency: 2, max_cost: 5") + &embed;
    let bench =
        Bench::new().file("touchstone.yaml", workspace).file("tasks/rows.jsonl", ROWS).open();
    let plan = |kinds: &[&str], more: Vec<EvaluatorRequest>| {
        let mut asked = request(&bench, kinds);
        asked.evaluators.extend(more);
        bench.app().evaluations().plan_evaluating(&asked).unwrap().unbound
    };
    let why = "`embed` has no known price, so the budget of $5 has no effect there.";
    assert_eq!(plan(&[], vec![cosine()]).as_deref(), Some(why));
    assert_eq!((plan(&["relevance"], Vec::new()), plan(&["f1_score"], Vec::new())), (None, None));
}

#[test]
fn a_row_without_what_is_mapped_has_no_result_and_where_the_package_is_followed_no_row_has_any() {
    let rows = "{\"reply\": {\"text\": \"a\"}, \"ground_truth\": \"a\"}\n{\"reply\": {}, \"ground_truth\": \"a\"}\n";
    let bench = Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\n")
        .file("tasks/rows.jsonl", rows)
        .open();
    let mapping = |input: &str, from: &str| (input.to_owned(), format!("${{data.{from}}}"));
    let one = EvaluatorRequest {
        kind: "f1_score".into(),
        mapping: vec![mapping("response", "reply.text"), mapping("ground_truth", "ground_truth")],
        ..EvaluatorRequest::default()
    };
    for (switches, done, failed) in [(vec![], 1, 1), (vec!["mapped_in_all_rows".to_owned()], 0, 2)]
    {
        let out = format!("of-{done}.json");
        let asked = EvaluateRequest {
            evaluators: vec![one.clone()],
            switches,
            out,
            ..request(&bench, &[])
        };
        let view = evaluate(&bench, &asked);
        assert_eq!((view.done, view.failed), (done, failed), "{view:?}");
    }
}
