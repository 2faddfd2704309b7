//! Tests of scores of `StableToolBench` queries: from the calls and the finish, without an expected
//! output.
use crate::bench::{Bench, beside_the_project, wait_until};
use crate::judging;
use crate::running::stage::says;
use crate::scripted::Scripted;
use fs_err as fs;
use touchstone_api::{
    FailureClass, PublishedRequest, Report, ReportFormat, ReportRequest, RunState, ScoreStanding,
};
use touchstone_app::scoring::answers::score_answers;
use touchstone_formats::stabletoolbench::ResultFile;

/// A query with two gold APIs.
pub(crate) const QUERY: &str = r#"[{"query_id": 588, "query": "Which stars and moons are there?", "api_list": [
 {"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Stars", "api_description": "All of them",
  "required_parameters": [], "optional_parameters": [], "method": "GET"},
 {"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Moons", "api_description": "All of them",
  "required_parameters": [], "optional_parameters": [], "method": "GET"}],
 "relevant APIs": [["Sky_v2", "Stars"], ["Sky_v2", "Moons"]]}]"#;
pub(crate) const QUERY_FILE: &str = "tasks/G1_instruction.json";

pub(crate) fn run(model: &str) -> String {
    format!("results/G1_instruction/588-tool_calling-{model}-variation0.yaml")
}

/// A transcript that calls functions with parameters, and has a text as its answer.
pub(crate) fn transcript(calls: &[(&str, &str)], answer: Option<&str>) -> String {
    let call = |(name, params): &(&str, &str)| {
        format!("- tool_call: {{name: {name}, params: {{{params}}}, result: ok}}\n")
    };
    let calls: String = calls.iter().map(call).collect();
    let answer = answer.map(|answer| format!("answer: {answer}\n")).unwrap_or_default();
    format!("conversation:\n- user_message: Which?\n{calls}- assistant_message: Done.\n{answer}")
}

#[test]
fn a_query_is_scored_by_what_was_called_without_an_expected_output_and_without_an_answer() {
    let both =
        [("stars_for_sky_v2", ""), ("Sky_v2_Moons", ""), ("Finish", "return_type: give_answer")];
    let found = [("call_api", "name: stars_for_sky_v2, arguments: {}"), ("weather", "")];
    let bench = Bench::new()
        .file(QUERY_FILE, QUERY)
        .file(
            &run("a"),
            transcript(
                &both,
                Some("Two stars and one moon are there to be seen, and that is all of it."),
            ),
        )
        .file(&run("b"), transcript(&found, None))
        .open();
    let told = |model: &str| {
        let row = bench.row(run(model).trim_start_matches("results/")).unwrap();
        let said = bench.app().scoring().run_scores(&row.id).unwrap();
        assert_eq!((said.scores.len(), said.notes.as_slice()), (5, &[][..]), "{said:?}");
        let (scores, judges) = said.scores.split_at(3);
        assert!(
            judges.iter().all(|judge| judge.standing == ScoreStanding::Waiting),
            "whatever is not judged waits"
        );
        assert!(scores.iter().all(|score| score.standing == ScoreStanding::Scored), "{scores:?}");
        let line = |score: &touchstone_api::RunScore| {
            let verdict = if score.passed == Some(true) { "passed" } else { "failed" };
            format!(
                "{} v{} {:.2} {verdict}: {}",
                score.scorer,
                score.version,
                score.score.unwrap(),
                score.reason
            )
        };
        (row.class, scores.iter().map(line).collect::<Vec<_>>().join("\n"))
    };
    let (class, said) = told("a");
    assert_eq!(class, None);
    insta::assert_snapshot!(said, @r"
    api_calls v2 1.00 passed: both gold APIs called
    finish v1 1.00 passed: `Finish` was called with an answer
    seed_heuristic v1 1.00 passed: not a judgement: “Two stars and one moon are there to be s…”, finished, API call score 1
    ");
    let (class, said) = told("b");
    assert_eq!(class, Some(FailureClass::MissingToolCall));
    insta::assert_snapshot!(said, @r"
    api_calls v2 0.50 failed: 1 of 2 gold APIs called, never called: `Moons`, no API of the query: `weather`
    finish v1 0.00 failed: `Finish` was never called
    seed_heuristic v1 0.00 failed: not a judgement: “Done.”, not finished, API call score 0.5
    ");
}

#[test]
fn the_workspace_file_names_the_scorers_of_queries_and_what_is_wrong_with_them_is_said_once() {
    let called = [("stars_for_sky_v2", ""), ("Finish", "return_type: give_answer")];
    let workspace = |scorers: &str| {
        format!("input_dir: tasks\noutput_dir: results\nqueries: {{ scorers: {scorers} }}\n")
    };
    let bench = Bench::new()
        .file(
            "touchstone.yaml",
            workspace("[finish: official, api_calls: seed, judge:sopr, exakt]"),
        )
        .file(QUERY_FILE, QUERY)
        .file("tasks/G2_category.json", QUERY.replace("588", "589"))
        .file(&run("a"), transcript(&called, Some("Two stars.")))
        .open();
    let said = |bench: &Bench| {
        let row = bench.row(run("a").trim_start_matches("results/")).unwrap();
        let scores = bench.app().scoring().run_scores(&row.id).unwrap().scores;
        scores
            .iter()
            .map(|score| format!("{} {:?}", score.scorer, score.score))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(
        said(&bench),
        "finish: official Some(1.0), api_calls: seed Some(0.0), judge:sopr None"
    );
    let summary =
        bench.app().reports().published(&PublishedRequest::default()).unwrap().summaries.remove(0);
    assert_eq!((summary.total_evaluations, summary.finished.is_some()), (1, true), "{summary:?}");
    let problems = bench.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].file, "touchstone.yaml");
    assert!(problems[0].message.contains("`exakt` is not a scorer"), "{problems:?}");
    // An empty list selects the default scorers again, while the folder is open.
    bench.write("touchstone.yaml", workspace("[]"));
    wait_until("they are the usual ones", || {
        said(&bench).starts_with("api_calls Some(0.5), finish Some(1.0)").then_some(())
    });
    assert!(bench.app().folder().suite_trouble("").unwrap().left_out.is_none());
    // A correction while the folder is closed counts from the first query.
    let bench = bench.close();
    fs::write(bench.path("touchstone.yaml"), workspace("[finish]")).unwrap();
    let bench = bench.open();
    wait_until("there is one scorer", || (said(&bench) == "finish Some(1.0)").then_some(()));
}

fn two_systems() -> Bench {
    let both = [
        ("stars_for_sky_v2", ""),
        ("moons_for_sky_v2", "phase: full"),
        ("Finish", "return_type: give_answer"),
    ];
    Bench::new()
        .file(QUERY_FILE, QUERY)
        .file(
            &run("a"),
            transcript(
                &both,
                Some("Two stars and one moon are there to be seen, and that is all of it."),
            ),
        )
        .file(&run("a").replace(".yaml", "-run2.yaml"), transcript(&both[..1], None))
        .file(&run("b"), transcript(&both[..1], Some("Stars.")))
        .file(&run("c"), "conversation:\n- user_message: Which?\n- error: the provider said no\n")
        .open()
}

#[test]
fn what_runs_come_to_stands_beside_what_was_published_and_nothing_stands_in_for_a_judge() {
    let bench = two_systems();
    let told = bench.app().reports().published(&PublishedRequest::default()).unwrap();
    assert!(told.here && told.own.is_empty() && told.notes.len() == 1, "{:?}", told.notes);
    assert_eq!((told.rows.len(), told.sets.len()), (60, 6));
    let names: Vec<&str> = told.summaries.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["tool_calling/a", "tool_calling/b", "tool_calling/c"]);
    let [a, _, c] = &told.summaries[..] else { panic!("three systems") };
    assert_eq!((a.total_queries, a.total_evaluations, a.answered), (1, 2, 2));
    let finished = a.finished.unwrap();
    assert_eq!((finished.count, finished.of, a.solved, a.average_sopr_score), (1, 2, None, None));
    let calls = a.average_api_call_score.unwrap();
    assert!((calls.value - 0.75).abs() < 1e-12 && calls.n == 2, "{calls:?}");
    assert_eq!(
        (c.total_evaluations, c.left_out, c.average_api_call_score),
        (0, 1, None),
        "an error is no wrong answer"
    );
    let filtered = bench
        .app()
        .reports()
        .published(&PublishedRequest { filter: "model:b passed:perhaps".to_owned() })
        .unwrap();
    assert_eq!(
        (filtered.summaries.len(), filtered.misread.len()),
        (0, 1),
        "an invalid filter counts nothing"
    );
    let other =
        Bench::new().answered("results/plans-tool_calling-o1-variation0.yaml", "Three").open();
    let told = other.app().reports().published(&PublishedRequest::default()).unwrap();
    assert!(
        !told.here && told.rows.is_empty() && told.summaries.is_empty() && told.notes.is_empty()
    );
}

fn result_file(bench: &Bench, scorer: Option<&str>, name: Option<&str>) -> (Report, ResultFile) {
    let request = ReportRequest {
        scorer: scorer.map(str::to_owned),
        baseline: name.map(str::to_owned),
        ..ReportRequest::for_format(ReportFormat::StableToolBench)
    };
    let report = bench.app().reports().make_report(&request, true).unwrap();
    let file = ResultFile::read(report.text.as_bytes()).unwrap();
    assert_eq!(file.write(), report.text, "what was written is read back as it is");
    (report, file)
}

#[test]
fn a_result_file_has_the_runs_of_one_system_and_leaves_out_what_nobody_said() {
    let bench = two_systems();
    let (report, file) = result_file(&bench, None, None);
    assert_eq!(report.file_name, "tool_calling-a_1queries_G1_instruction.json");
    assert_eq!(
        report.baselines,
        ["tool_calling/a/G1_instruction", "tool_calling/b/G1_instruction"]
    );
    assert_eq!((report.runs, report.notes.len()), (2, 3), "{:?}", report.notes);
    let (metadata, summary) = (file.metadata(), file.summary());
    assert_eq!(metadata.framework.as_deref(), Some("tool_calling-a"));
    assert_eq!(metadata.timestamp.unwrap().len(), "2024-01-15 10:30:45".len());
    assert_eq!(
        (summary.total_queries, summary.total_evaluations, summary.finish_count),
        (Some(1), Some(2), Some(1))
    );
    assert_eq!(
        (summary.finish_percentage, summary.average_api_call_score),
        (Some(50.0), Some(0.75))
    );
    assert_eq!((summary.solved_count, summary.average_sopr_score), (None, None));
    assert!(!report.text.contains("sopr_score\": 0"), "{}", report.text);
    let evaluations: Vec<_> = file.evaluations().collect();
    let one = &evaluations[0];
    assert_eq!(
        (one.query_id.as_str(), one.query_text.as_str()),
        ("588", "Which stars and moons are there?")
    );
    assert_eq!(
        (one.gold.len(), one.api_call_score, one.has_finish, one.sopr_score),
        (2, Some(1.0), Some(true), None)
    );
    assert!(one.final_answer.as_ref().unwrap().starts_with("Two stars"));
    assert_eq!(
        evaluations[1].final_answer.as_deref(),
        Some("Done."),
        "what a run of a query ends with is its answer"
    );
    let scored = {
        fs::create_dir_all(bench.path("queries")).unwrap();
        let set = format!(
            r#"[{{"api_list": {API_LIST}, "query": "Which?", "relevant APIs": [["Sky_v2", "Stars"], ["Sky_v2", "Moons"]], "query_id": 588}}]"#
        );
        fs::write(bench.path("queries/G1_instruction.json"), set).unwrap();
        fs::write(bench.path("made.json"), &report.text).unwrap();
        score_answers(&[bench.path("made.json")], &bench.path("queries"), false).unwrap()
    };
    let again: Vec<_> =
        scored.answers.iter().map(|one| (one.api_call_score, one.finish.ours)).collect();
    assert_eq!(
        again,
        [(Some(1.0), true), (Some(0.5), false)],
        "the file says all that the scores are made of"
    );
}

const API_LIST: &str = concat!(
    r#"[{"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Stars"}, "#,
    r#"{"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Moons"}]"#,
);

#[test]
fn a_result_file_has_what_stands_in_for_a_judge_when_it_is_asked_for_and_says_so() {
    let bench = two_systems();
    let (report, file) =
        result_file(&bench, Some("seed_heuristic"), Some("tool_calling/b/G1_instruction"));
    assert_eq!(report.scorers, ["judge:sopr", "seed_heuristic"]);
    let one = file.evaluations().next().unwrap();
    assert_eq!((one.sopr_score, one.answer_status.as_deref()), (Some(0.0), Some("Unsolved")));
    assert_eq!(one.evaluation_method.as_deref(), Some("heuristic"));
    assert!(one.reason.unwrap().starts_with("not a judgement"));
    let summary = file.summary();
    assert_eq!(
        (one.evaluation_time, summary.total_evaluation_time, summary.average_evaluation_time),
        (Some(0.0), Some(0.0), Some(0.0)),
        "nobody was waited for"
    );
    assert_eq!(
        (file.summary().solved_count, file.summary().solved_percentage),
        (Some(0), Some(0.0))
    );
    let (report, file) = result_file(&bench, Some("api_calls"), None);
    let one = file.evaluations().next().unwrap();
    assert_eq!(
        (one.evaluation_time, file.summary().total_evaluation_time),
        (None, None),
        "nothing was evaluated"
    );
    assert!(
        report.notes.iter().any(|note| note.contains("`api_calls` does not decide")),
        "{:?}",
        report.notes
    );
}

#[test]
fn a_run_that_is_gone_leaves_the_others_in_the_result_file() {
    let bench = two_systems();
    bench.remove(&run("a"));
    let (report, file) = result_file(&bench, None, Some("tool_calling/a/G1_instruction"));
    assert_eq!(
        (report.runs, file.evaluations().count(), file.summary().total_evaluations),
        (1, 1, Some(1))
    );
    assert_eq!(file.evaluations().next().unwrap().api_call_score, Some(0.5));
}

#[test]
fn runs_of_one_file_each_keep_what_they_did() {
    let answer = |id: u32, call: &str| {
        format!(
            r#""{id}": {{"query": "Which?", "available_tools": [], "answer": {{"method": "m", "final_answer": "Stars {id}.", "answer_details": [
            {{"role": "tool", "message": {{"name": "{call}", "arguments": "{{}}", "response": ""}}, "next": []}}]}}}}"#
        )
    };
    let more = QUERY.replace("\"query_id\": 588", "\"query_id\": 589");
    let queries = format!("{},{}", QUERY.trim_end_matches(']'), more.trim_start_matches('['));
    let answers =
        format!("{{{},{}}}", answer(588, "stars_for_sky_v2"), answer(589, "moons_for_sky_v2"));
    let bench = Bench::new()
        .file(QUERY_FILE, queries)
        .file("results/m/G1_instruction.json", answers)
        .open();
    let (report, file) = result_file(&bench, None, None);
    assert_eq!(report.runs, 2, "{:?}", report.notes);
    let told: Vec<_> =
        file.evaluations().map(|one| (one.query_id, one.final_answer.unwrap())).collect();
    assert_eq!(
        told,
        [("588", "Stars 588."), ("589", "Stars 589.")]
            .map(|(id, text)| (id.to_owned(), text.to_owned()))
    );
    assert!(
        report.text.contains("stars_for_sky_v2") && report.text.contains("moons_for_sky_v2"),
        "{}",
        report.text
    );
}

#[test]
fn answers_of_the_original_are_scored_from_their_own_files() {
    let root = beside_the_project("../shared/golden/stabletoolbench");
    let Ok(text) = fs::read_to_string(root.join("api_scores.jsonl")) else {
        return eprintln!("skipped: there is no {}", root.display());
    };
    let mut cases = 0;
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let (source, id) = (case["source"].as_str().unwrap(), case["query_id"].to_string());
        let converted = root
            .join("data_example/model_predictions_converted")
            .join(source)
            .join("G1_instruction.json");
        let raw = root.join("data_example/answer").join(source).join("G1_instruction");
        let Ok(raw) = fs::read_dir(raw) else { continue };
        let raw = raw.map(|file| file.unwrap().path());
        let raw = raw.filter(|file| {
            file.file_name().unwrap().to_string_lossy().starts_with(&format!("{id}_"))
        });
        for file in raw.chain([converted]) {
            let scored = score_answers(&[file], &root.join("solvable_queries"), false).unwrap();
            let one = scored.answers.iter().find(|one| one.query_id == id).unwrap();
            assert_eq!(one.api_call_score, case["api_call_score"].as_f64(), "{source} {id}");
            let called = case["called_names"].as_array().unwrap();
            assert_eq!(
                one.finish.document,
                called.iter().any(|name| name == "Finish"),
                "{source} {id}"
            );
            cases += 1;
        }
        let seed = score_answers(
            &[root
                .join("data_example/model_predictions_converted")
                .join(source)
                .join("G1_instruction.json")],
            &root.join("solvable_queries"),
            true,
        )
        .unwrap();
        let one = seed.answers.iter().find(|one| one.query_id == id).unwrap();
        assert_eq!(one.api_call_score, case["seed_literal_score"].as_f64());
    }
    println!("cases: {cases}");
}

#[test]
fn a_report_sums_runs_of_queries_up_and_has_what_others_published_when_it_is_asked_for() {
    let bench = two_systems();
    let report = |format, published| {
        let request = ReportRequest { runs: false, published, ..ReportRequest::for_format(format) };
        bench.app().reports().make_report(&request, true).unwrap()
    };
    let plain = report(ReportFormat::Markdown, false);
    assert!(plain.queries && plain.text.contains("## Query sets"), "{}", plain.text);
    assert!(
        plain.text.contains("No judge decided whether answers solve their queries"),
        "{}",
        plain.text
    );
    assert!(!plain.text.contains("ToolLLaMA"));
    for format in [ReportFormat::Markdown, ReportFormat::Html, ReportFormat::Json] {
        let whole = report(format, true).text;
        assert!(
            whole.contains("ToolLLaMA v2 CoT") && whole.contains("27.42") && whole.contains("25.9"),
            "{format:?}"
        );
    }
}

#[test]
fn what_judges_said_of_a_query_stands_in_the_figures_and_in_the_result_file() {
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let both = [
        ("stars_for_sky_v2", ""),
        ("moons_for_sky_v2", ""),
        ("Finish", "return_type: give_answer"),
    ];
    let bench = Bench::new()
        .file("touchstone.yaml", judging::workspace(&server, ""))
        .file(QUERY_FILE, QUERY)
        .file(&run("a"), transcript(&both, Some("Two stars and one moon are there.")))
        .file(
            &run("a").replace(".yaml", "-run2.yaml"),
            transcript(&both[..1], None).replace("Done.", "''"),
        )
        .open();
    let view = judging::judge(bench.app(), &judging::request(1));
    assert_eq!((view.done, view.failed), (2, 0), "{view:?}");
    let own = wait_until("both runs are judged", || {
        let told = bench.app().reports().published(&PublishedRequest::default()).unwrap();
        told.own.into_iter().find(|row| row.metric == "SoPR" && row.all.n == 2)
    });
    assert_eq!(own.scorer, "judge:sopr");
    let (_, file) = result_file(&bench, None, None);
    let scores: Vec<_> =
        file.evaluations().map(|one| (one.sopr_score, one.answer_status)).collect();
    assert_eq!(scores[0], (Some(1.0), Some("Solved".to_owned())));
    assert_eq!(scores[1].0, Some(0.0), "a run without an answer was judged, too");
    let times: Vec<_> = file.evaluations().map(|one| one.evaluation_time).collect();
    let (total, mean) = (
        file.summary().total_evaluation_time.unwrap(),
        file.summary().average_evaluation_time.unwrap(),
    );
    assert!(times.iter().all(|time| time.is_some_and(|time| time >= 0.0)), "{times:?}");
    assert!(
        (total - times.iter().flatten().sum::<f64>()).abs() < 1e-9
            && (mean - total / 2.0).abs() < 1e-9
    );
    assert_eq!(file.metadata().setting("evaluator_model"), Some(&"local".into()));
    assert_eq!(file.summary().average_sopr_score, Some(0.5));
    let first = bench.row(run("a").trim_start_matches("results/")).unwrap();
    assert_eq!(first.scorer.as_deref(), Some("api_calls"), "what needs no judge comes first");
}

#[test]
fn a_result_file_beside_the_runs_it_is_of_counts_none_of_them_twice() {
    let text = result_file(&two_systems(), None, None).0.text;
    let both = [
        ("stars_for_sky_v2", ""),
        ("moons_for_sky_v2", ""),
        ("Finish", "return_type: give_answer"),
    ];
    let bench = Bench::new()
        .file(QUERY_FILE, QUERY)
        .file(&run("a"), transcript(&both, Some("Two stars.")))
        .file("results/tool_calling-a_1queries_G1_instruction.json", text)
        .open();
    let told = bench.app().reports().published(&PublishedRequest::default()).unwrap();
    let counted: Vec<_> =
        told.summaries.iter().map(|one| (one.name.as_str(), one.total_evaluations)).collect();
    assert_eq!(counted, [("tool_calling/a", 1)]);
}

#[test]
fn a_run_of_a_query_without_a_method_that_ends_in_words_has_these_for_its_answer_everywhere() {
    const WORDS: &str =
        "There are two stars and one moon, and these are all that can be seen tonight.";
    let ends = |words: &str, run: &str| {
        format!(
            "conversation:\n- user_message: Which?\n- tool_call: {{name: stars_for_sky_v2, params: {{}}, result: ok}}\n- assistant_message: {words}\n{run}"
        )
    };
    let server = Scripted::always(says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let bench = Bench::new()
        .file("touchstone.yaml", judging::workspace(&server, ""))
        .file(QUERY_FILE, QUERY)
        .file(&run("a"), ends(WORDS, ""))
        .file(&run("b"), ends(WORDS, "run: {method: CoT@1, finished: '2025-01-01T00:00:00Z'}\n"))
        .file(&run("c"), ends("''", ""))
        .open();
    let row = |model: &str| bench.row(run(model).trim_start_matches("results/")).unwrap();
    for (model, answered) in [("a", true), ("b", false), ("c", false)] {
        assert_eq!(row(model).state == RunState::Answered, answered, "{model}: {:?}", row(model));
        let said = bench.app().scoring().run_scores(&row(model).id).unwrap();
        let heuristic = said.scores.iter().find(|score| score.scorer == "seed_heuristic").unwrap();
        assert_eq!(
            heuristic.reason.contains("there is no answer"),
            !answered,
            "{model}: {}",
            heuristic.reason
        );
        let name = format!("tool_calling/{model}/G1_instruction");
        let file = result_file(&bench, None, Some(&name)).1;
        let written = file.evaluations().next().unwrap().final_answer;
        assert_eq!(written.as_deref(), Some(if answered { WORDS } else { "" }), "{model}");
    }
    let view = judging::judge(bench.app(), &judging::request(1));
    assert_eq!((view.done, view.failed), (3, 0), "{view:?}");
    let asked = server.seen();
    assert_eq!(asked.len(), 1, "only the run with an answer is put to a model");
    let shown = asked[0].json().to_string();
    assert_eq!(shown.matches(WORDS).count(), 1, "the judge is shown the answer once: {shown}");
}

#[test]
fn the_answer_of_a_query_is_what_finish_was_given_else_the_whole_last_message_and_never_a_fence() {
    const WORDS: &str =
        "There are two stars and one moon, and these are all that can be seen tonight.";
    const FENCE: &str =
        "- assistant_message: \"First:\\n```json\\n{\\\"city\\\": \\\"x\\\"}\\n```\"\n";
    let run_of = |steps: &str| format!("conversation:\n- user_message: Which?\n{FENCE}{steps}");
    let call = "- tool_call: {name: stars_for_sky_v2, params: {}, result: ok}\n";
    let finish =
        |params: &str| format!("- tool_call: {{name: Finish, params: {{{params}}}, result: ok}}\n");
    let says = |words: &str| format!("- assistant_message: {words}\n");
    let gave = finish(&format!("return_type: give_answer, final_answer: '{WORDS}'"));
    let cases = [
        ("fence", format!("{call}{}", says(WORDS)), Some(WORDS)),
        ("handed", format!("{gave}{}", says("Thank you, goodbye.")), Some(WORDS)),
        (
            "gave_up",
            format!("{}{}", finish("return_type: give_up_and_restart"), says("Sorry.")),
            None,
        ),
        ("neither", format!("{}{}", finish(""), says(WORDS)), Some(WORDS)),
    ];
    let server = Scripted::always(self::says(r#"{"reason": "All there.", "verdict": "solved"}"#));
    let bench = cases
        .iter()
        .fold(
            Bench::new().file("touchstone.yaml", judging::workspace(&server, "")),
            |bench, (model, steps, _)| bench.file(&run(model), run_of(steps)),
        )
        .open();
    // Without the query set these are not known to be runs of a query, so the fenced block counts.
    let row = |model: &str| bench.row(run(model).trim_start_matches("results/")).unwrap();
    let opened = |model: &str| {
        let view = bench.app().runs().open_run(&row(model).id).unwrap();
        view.answer.map(|answer| (answer.source, serde_json::to_string(&answer.part).unwrap()))
    };
    for (model, ..) in &cases {
        assert_eq!(row(model).state, RunState::Answered, "{model}");
        assert!(opened(model).unwrap().1.contains("city"), "{model}");
    }
    bench.write(QUERY_FILE, QUERY);
    let of_query = |is: bool| {
        wait_until("the query set counts", || {
            ((row("gave_up").state == RunState::Answered) != is).then_some(())
        });
    };
    of_query(true);
    for (model, _, answer) in &cases {
        assert_eq!(row(model).state == RunState::Answered, answer.is_some(), "{model}");
        let shown = opened(model);
        assert_eq!(
            shown.as_ref().map(|(_, part)| part.contains(WORDS)),
            answer.map(|_| true),
            "{model} {shown:?}"
        );
        let name = format!("tool_calling/{model}/G1_instruction");
        let written =
            result_file(&bench, None, Some(&name)).1.evaluations().next().unwrap().final_answer;
        assert_eq!(written.as_deref(), Some(answer.unwrap_or_default()), "{model}");
        let said = bench.app().scoring().run_scores(&row(model).id).unwrap();
        let heuristic = said.scores.iter().find(|score| score.scorer == "seed_heuristic").unwrap();
        assert_eq!(
            heuristic.reason.contains("There are two stars"),
            answer.is_some(),
            "{model}: {}",
            heuristic.reason
        );
    }
    let view = judging::judge(bench.app(), &judging::request(1));
    assert_eq!((view.done, view.failed), (4, 0), "{view:?}");
    let asked = server.seen();
    assert_eq!(asked.len(), 3, "all but the one that gave up are put to a model");
    for shown in asked.iter().map(|asked| asked.json().to_string()) {
        let answer =
            shown.split("<answer>").nth(1).and_then(|rest| rest.split("</answer>").next()).unwrap();
        assert!(
            answer.contains(WORDS) && !answer.contains("city") && !answer.contains("goodbye"),
            "{answer}"
        );
    }
    bench.remove(QUERY_FILE);
    of_query(false);
    assert!(cases.iter().all(|(model, ..)| opened(model).unwrap().1.contains("city")), "as before");
}
