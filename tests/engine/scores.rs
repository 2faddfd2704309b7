//! Tests of scores in the index: they appear automatically, follow every file they depend on, and
//! no transcript is read twice for them.
use crate::bench::{Bench, answered, wait_until};
use fs_err as fs;
use touchstone_api::{
    Column, FailureClass, ListRequest, ProblemKind, Review, RunRow, RunScores, RunState,
    ScoreStanding, Sort, Span, Verdict,
};

const RUN: &str = "results/plans-tool_calling-claude-variation0.yaml";
const PATH: &str = "plans-tool_calling-claude-variation0.yaml";

fn suite(expected: &str) -> String {
    format!(
        "tool_calling_prompt: How many plans?\nvariations:\n- parameters: {{}}\n  expected_output: {expected}\n"
    )
}

/// A transcript with another answer.
fn answers(json: &str) -> String {
    answered("Done.").replace("answer:\n- n: 3\n", &format!("answer: {json}\n"))
}

fn scores(bench: &Bench, path: &str) -> RunScores {
    bench.app().scoring().run_scores(&bench.row(path).unwrap().id).unwrap()
}

fn wait_row(bench: &Bench, path: &str, what: &str, wish: impl Fn(&RunRow) -> bool) -> RunRow {
    wait_until(what, || bench.row(path).filter(&wish))
}

fn listed(bench: &Bench, filter: &str, descending: bool) -> Vec<String> {
    let request = ListRequest {
        filter: filter.to_owned(),
        sort: Sort { column: Column::Score, descending },
        span: Span { offset: 0, limit: 100 },
    };
    bench.app().runs().list_runs(request).unwrap().rows.into_iter().map(|row| row.path).collect()
}

#[test]
fn a_run_has_its_score_as_soon_as_it_is_in_the_list_and_another_when_its_answer_changes() {
    let bench =
        Bench::new().file("tasks/plans.yaml", suite("[{ n: 3 }]")).answered(RUN, "Three").open();
    let row = bench.row(PATH).unwrap();
    assert_eq!((row.scoring, row.scorer.as_deref()), (Some(ScoreStanding::Scored), Some("fields")));
    assert_eq!((row.score, row.passed, row.class), (Some(1.0), Some(true), None), "{row:?}");
    bench.put(RUN, answers("[{ n: 4 }]"));
    let row = wait_row(&bench, PATH, "the new answer is scored", |row| row.passed == Some(false));
    assert_eq!((row.score, row.class), (Some(0.0), Some(FailureClass::WrongAnswer)));
    assert!(row.score_reason.is_some_and(|reason| !reason.is_empty()));
}

#[test]
fn an_answer_is_scored_as_it_is_whatever_its_numbers_are() {
    let odd = "[{ n: 1, a: .nan, b: -.inf, c: 0x1F }]";
    let text = "[{ n: 1, a: '.nan', b: '-.inf', c: '0x1F' }]";
    for scorers in ["", "scorers: [exact]\n"] {
        let suite = suite(odd).replace("variations", &format!("{scorers}variations"));
        let bench = Bench::new().file("tasks/plans.yaml", suite).file(RUN, answers(odd)).open();
        let row = bench.row(PATH).unwrap();
        assert_eq!((row.score, row.passed), (Some(1.0), Some(true)), "{row:?}");
        bench.put(RUN, answers(text));
        wait_row(&bench, PATH, "a text is not a number", |row| row.passed == Some(false));
    }
}

#[test]
fn a_run_is_scored_again_when_its_suite_changes_and_its_transcript_is_not_read_for_that() {
    let bench =
        Bench::new().file("tasks/plans.yaml", suite("[{ n: 4 }]")).answered(RUN, "Three").open();
    assert_eq!(bench.row(PATH).unwrap().passed, Some(false));
    // Other bytes with an equal modification time: a reader of the file would now find another
    // answer.
    let (path, before) =
        (bench.path(RUN), fs::metadata(bench.path(RUN)).unwrap().modified().unwrap());
    fs::write(&path, answered("Three").replace("- n: 3\n", "- n: 9\n")).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    bench.put("tasks/plans.yaml", suite("[{ n: 3 }]"));
    wait_row(&bench, PATH, "the answer that was read is right now", |row| row.passed == Some(true));
    bench.remove("tasks/plans.yaml");
    let row =
        wait_row(&bench, PATH, "there is no score without a suite", |row| row.scoring.is_none());
    assert_eq!((row.score, row.scorer, row.score_reason), (None, None, None));
    assert_eq!(
        scores(&bench, PATH).notes,
        ["There is no suite for the task plans, so this run is not scored."]
    );
}

#[test]
fn an_answer_in_a_tag_that_the_suite_names_is_found_follows_the_suite_and_is_the_same_everywhere() {
    let tagged = |tag: &str| {
        suite("[{ n: 3 }]").replace("variations", &format!("result_tag_name: {tag}\nvariations"))
    };
    let says = "conversation:\n- user_message: a\n- assistant_message: '<rows>[{\"n\": 3}]</rows> or <other>[{\"n\": 4}]</other>'\n";
    let bench = Bench::new().file("tasks/plans.yaml", tagged("rows")).file(RUN, says).open();
    let shown = |bench: &Bench| {
        let app = bench.app();
        let id = bench.row(PATH).unwrap().id;
        let view = app.runs().open_run(&id).unwrap();
        (view.answer.map(|answer| answer.source), view.answer_mark, view.version)
    };
    let row = bench.row(PATH).unwrap();
    assert_eq!((row.state, row.passed, row.score), (RunState::Answered, Some(true), Some(1.0)));
    let (source, mark, version) = shown(&bench);
    assert_eq!(source.as_deref(), Some("<rows>"));
    let said = Review {
        verdict: Some(Verdict::Right),
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: Some(mark.clone()),
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    };
    bench.app().reviews().review_run(&row.id, Some(&said)).unwrap();
    wait_row(&bench, PATH, "what a person says counts", |row| row.verdict == Some(Verdict::Right));

    bench.put("tasks/plans.yaml", tagged("other"));
    let row = wait_row(&bench, PATH, "it is another answer", |row| row.passed == Some(false));
    assert_eq!((row.state, row.score, row.verdict), (RunState::Answered, Some(0.0), None));
    let other = shown(&bench);
    assert_eq!(other.0.as_deref(), Some("<other>"));
    assert!(other.1 != mark && other.2 != version);

    bench.put("tasks/plans.yaml", tagged("none"));
    let row = wait_row(&bench, PATH, "there is no answer", |row| row.state == RunState::NoAnswer);
    assert_eq!(
        (row.class, row.reason, shown(&bench).0),
        (Some(FailureClass::NoAnswer), None, None)
    );
    assert_eq!(listed(&bench, "state:no_answer", false), [PATH]);
    bench.remove("tasks/plans.yaml");
    wait_row(&bench, PATH, "no suite", |row| row.scoring.is_none());
    bench.put("tasks/plans.yaml", tagged("rows"));
    wait_row(&bench, PATH, "it is right again", |row| row.passed == Some(true));
    assert_eq!(shown(&bench), (source, mark, version));
    assert_eq!(bench.row(PATH).unwrap().verdict, Some(Verdict::Right), "it is of this answer");
    bench.remove(RUN);
    wait_until("no run is counted", || {
        (bench.rows().is_empty() && bench.status().counts.runs == 0).then_some(())
    });
}

#[test]
fn a_run_is_scored_again_when_the_file_with_its_gold_answer_comes_changes_or_goes() {
    let suite = suite("").replace("expected_output: ", "ground_truth_path: gold/plans.json");
    let bench = Bench::new().file("tasks/plans.yaml", suite).answered(RUN, "Three").open();
    let row = bench.row(PATH).unwrap();
    assert_eq!(row.scoring, Some(ScoreStanding::NoExpected));
    insta::assert_snapshot!(row.score_reason.unwrap_or_default(), @"The expected output in gold/plans.json could not be read: the file is not there any more.");
    let problem = bench.problems().remove(0);
    assert_eq!(
        (problem.kind, problem.file.as_str()),
        (ProblemKind::SuiteWarning, "tasks/plans.yaml")
    );
    bench.write("tasks/gold/plans.json", r#"[{"n": 3}]"#);
    wait_row(&bench, PATH, "it is right", |row| row.passed == Some(true));
    assert!(bench.problems().is_empty());
    bench.put("tasks/gold/plans.json", r#"[{"n": 5}]"#);
    wait_row(&bench, PATH, "it is wrong", |row| row.passed == Some(false));
    bench.remove("tasks/gold/plans.json");
    wait_row(&bench, PATH, "nothing is expected", |row| {
        row.scoring == Some(ScoreStanding::NoExpected)
    });
}

#[test]
fn what_changed_while_the_program_was_closed_is_scored_when_it_is_open_again() {
    let by_file = suite("").replace("expected_output: ", "ground_truth_path: gold.txt");
    let bench = Bench::new()
        .file("tasks/plans.yaml", suite("[{ n: 3 }]"))
        .file("tasks/other.yaml", by_file)
        .file("tasks/gold.txt", "3\n")
        .answered(RUN, "Three")
        .file("results/other-tool_calling-o1-variation0.yaml", answers("3"))
        .open();
    let passed = |bench: &Bench| bench.rows().iter().map(|row| row.passed).collect::<Vec<_>>();
    assert_eq!(passed(&bench), [Some(true), Some(true)]);
    let generation = bench.status().generation;
    let bench = bench.reopen();
    assert_eq!(bench.status().generation, generation, "nothing changed");
    let bench = bench.close().file("tasks/gold.txt", "4\n").open();
    assert_eq!(passed(&bench), [Some(false), Some(true)]);
    let bench = bench.close().file("tasks/plans.yaml", suite("[{ n: 4 }]")).open();
    assert_eq!(passed(&bench), [Some(false), Some(false)]);
}

#[test]
fn a_suite_that_was_changed_and_changed_back_while_rows_followed_leaves_no_score_of_the_other() {
    const RUNS: usize = 1_500;
    let mut bench = Bench::new().file("tasks/plans.yaml", suite("[{ n: 3 }]"));
    for run in 2..RUNS + 2 {
        bench = bench.answered(
            &format!("results/plans-tool_calling-claude-variation0-run{run}.yaml"),
            "Three",
        );
    }
    let bench = bench.open();
    let count = |bench: &Bench, filter: &str| {
        let sort = Sort { column: Column::Score, descending: false };
        let request =
            ListRequest { filter: filter.to_owned(), sort, span: Span { offset: 0, limit: 1 } };
        bench.app().runs().list_runs(request).unwrap().total
    };
    wait_until("all are right", || (count(&bench, "passed:yes") == RUNS as u64).then_some(()));
    bench.put("tasks/plans.yaml", suite("[{ n: 4 }]"));
    wait_until("some are wrong now", || (count(&bench, "passed:no") > 0).then_some(()));
    let bench = bench.close().file("tasks/plans.yaml", suite("[{ n: 3 }]")).open();
    wait_until("all are right again", || {
        (count(&bench, "passed:yes") == RUNS as u64).then_some(())
    });
}

#[test]
fn how_a_run_ended_decides_whether_it_is_scored() {
    let run = |n: u32| format!("plans-tool_calling-claude-variation{n}.yaml");
    let said = |what: &str| format!("conversation:\n- user_message: How many?\n{what}");
    let variations = "- expected_output: [{ n: 3 }]\n".repeat(5) + "- name: nothing expected\n";
    let bench = Bench::new()
        .file(
            "tasks/plans.yaml",
            format!("tool_calling_prompt: How many?\nvariations:\n{variations}"),
        )
        .file(&format!("results/{}", run(0)), said("- assistant_message: I do not know.\n"))
        .file(&format!("results/{}", run(1)), said("- error: the provider said no\n"))
        .file(&format!("results/{}", run(2)), said("- error: the request timed out\n"))
        .file(&format!("results/{}", run(3)), said(""))
        .file(&format!("results/{}", run(4)), crate::bench::broken())
        .answered(&format!("results/{}", run(5)), "Three")
        .answered(&format!("results/{}", run(6)), "Three")
        .answered("results/loose.yaml", "Three")
        .open();
    let told = |path: &str| {
        let row = bench.row(path).unwrap();
        let reason = row.score_reason.unwrap_or_default();
        format!("{:?} {:?} {:?} {:?}: {reason}", row.state, row.scoring, row.score, row.class)
    };
    let all: Vec<String> = (0..7).map(|n| told(&run(n))).chain([told("loose.yaml")]).collect();
    insta::assert_snapshot!(all.join("\n"), @r"
    NoAnswer Some(Scored) Some(0.0) Some(NoAnswer): no answer
    Error Some(Error) None Some(SystemError): The run ended in a system error: the provider said no
    Error Some(Error) None Some(Timeout): The run ended in a system error: the request timed out
    Waiting Some(NotEnded) None None: The run has not ended.
    Damaged Some(NotEnded) None None: The file cannot be read.
    Answered Some(NoExpected) None None: There is no expected output.
    Answered Some(NoExpected) None None: The suite has no variation like this one any more.
    Answered None None None: 
    ");
    let loose = scores(&bench, "loose.yaml").notes;
    assert_eq!(loose, ["The file name does not name a task, so this run is not scored."]);
}

#[test]
fn every_scorer_of_the_suite_speaks_in_its_order_and_lists_show_the_first() {
    let text = suite("[{ n: 3 }]").replace(
        "variations",
        "scorers: [exact, fields, tool_calls]\nexpected_tool_calls: [query_plans, query_more]\nvariations",
    );
    let bench = Bench::new().file("tasks/plans.yaml", &text).answered(RUN, "Three").open();
    let told = |bench: &Bench| {
        scores(bench, PATH).scores.into_iter().map(|one| one.scorer).collect::<Vec<_>>()
    };
    assert_eq!(told(&bench), ["exact", "fields", "tool_calls"]);
    assert_eq!(bench.row(PATH).unwrap().scorer.as_deref(), Some("exact"));
    let calls = &scores(&bench, PATH).scores[2];
    assert_eq!((calls.standing, calls.score), (ScoreStanding::Scored, Some(0.5)), "{calls:?}");
    bench.put("tasks/plans.yaml", text.replace("[exact, fields, tool_calls]", "[fields, exact]"));
    wait_row(&bench, PATH, "another scorer comes first", |row| {
        row.scorer.as_deref() == Some("fields")
    });
    assert_eq!(told(&bench), ["fields", "exact"]);
}

#[test]
fn a_scorer_that_is_not_known_is_an_error_with_its_line() {
    let text = suite("[{ n: 3 }]").replace("variations", "scorers:\n- exact\n- feilds\nvariations");
    let bench = Bench::new().file("tasks/plans.yaml", text).answered(RUN, "Three").open();
    let problem = bench.problems().remove(0);
    assert_eq!(
        (problem.kind, problem.line, problem.excerpt.as_deref()),
        (ProblemKind::SuiteError, Some(4), Some("- feilds"))
    );
    assert!(problem.message.contains("`fields`"), "{}", problem.message);
    assert_eq!(bench.row(PATH).unwrap().scorer.as_deref(), Some("exact"));
}

#[test]
fn runs_of_a_benchmark_folder_are_scored_by_the_name_of_their_variation_as_the_published_benchmark_does()
 {
    let dir = "results/plans/claude/promptql/retrieval";
    let bench = Bench::new()
        .file(
            "tasks/plans/plans.yaml",
            "promptql_prompt: Which?\nvariations:\n- name: first\n  ground_truth_path: gold.json\n- name: second\n  expected_output: 4\n",
        )
        .file("tasks/plans/gold.json", "[1, 2, 3]")
        .file(&format!("{dir}/first_run_1.result"), "[1, 2, 3]")
        .file(&format!("{dir}/first_run_1.history"), "[]")
        .file(&format!("{dir}/second_run_1.result"), "4")
        .file(&format!("{dir}/second_run_1.history"), "[]")
        .open();
    let row =
        |name: &str| bench.row(&format!("plans/claude/promptql/retrieval/{name}_run_1")).unwrap();
    assert_eq!(
        (row("first").scorer.as_deref(), row("first").score),
        (Some("kendall_tau"), Some(1.0)),
        "{:?}",
        row("first")
    );
    assert_eq!(
        (row("second").scorer.as_deref(), row("second").score),
        (Some("numeric"), Some(1.0))
    );
    let all = scores(&bench, "plans/claude/promptql/retrieval/first_run_1").scores;
    assert_eq!(
        all.iter().map(|one| one.scorer.as_str()).collect::<Vec<_>>(),
        ["kendall_tau", "fields"]
    );
}

#[test]
fn the_answer_beside_loose_prompts_is_what_their_runs_are_scored_by() {
    let bench = Bench::new()
        .file("tasks/plans/promptql_prompt.txt", "How many?")
        .file(
            "tasks/plans/correct_answer.json",
            r#"{"identifier": "plans", "artifact_type": "table", "data": [{"n": 3}]}"#,
        )
        .answered("results/plans-promptql-claude-variation0.yaml", "Three")
        .open();
    let path = "plans-promptql-claude-variation0.yaml";
    assert_eq!(bench.row(path).unwrap().passed, Some(true), "{:?}", bench.row(path));
    bench.put("tasks/plans/correct_answer.json", r#"[{"n": 4}]"#);
    wait_row(&bench, path, "it is wrong", |row| row.passed == Some(false));
}

#[test]
fn runs_are_ordered_and_asked_for_by_their_scores() {
    let run = |n: u32| format!("results/plans-tool_calling-claude-variation{n}.yaml");
    let variations = "- expected_output: [{ n: 3 }, { n: 4 }]\n".repeat(3);
    let bench = Bench::new()
        .file(
            "tasks/plans.yaml",
            format!("tool_calling_prompt: How many?\nvariations:\n{variations}"),
        )
        .file(&run(0), answers("[{ n: 3 }]"))
        .file(&run(1), answers("[{ n: 3 }, { n: 4 }]"))
        .file(&run(2), "conversation:\n- user_message: x\n- assistant_message: no\n")
        .answered("results/loose.yaml", "x")
        .open();
    let numbers = |paths: Vec<String>| -> String {
        paths.iter().map(|path| path.chars().find(char::is_ascii_digit).unwrap_or('-')).collect()
    };
    assert_eq!(numbers(listed(&bench, "", false)), "201-");
    assert_eq!(numbers(listed(&bench, "", true)), "102-");
    for (filter, expected) in [
        ("score:<1", "20"),
        ("score:0", "2"),
        ("passed:yes", "1"),
        ("passed:no", "20"),
        ("-passed:no", "1-"),
        ("class:wrong_answer", "0"),
        ("class:no_answer", "2"),
        ("scorer:fields", "201"),
        ("scoring:scored", "201"),
        ("review:yes", ""),
        ("review:no", "201-"),
    ] {
        assert_eq!(numbers(listed(&bench, filter, false)), expected, "{filter}");
    }
}

#[test]
fn many_runs_follow_a_change_of_their_suite() {
    let bench = (0..300).fold(Bench::new(), |bench, n| {
        bench.answered(
            &format!("results/plans-tool_calling-claude-variation0-run{}.yaml", n + 2),
            "Three",
        )
    });
    let bench = bench.file("tasks/plans.yaml", suite("[{ n: 3 }]")).open();
    assert!(bench.rows().iter().all(|row| row.passed == Some(true)));
    bench.put("tasks/plans.yaml", suite("[{ n: 4 }]"));
    wait_until("all are wrong", || {
        bench.rows().iter().all(|row| row.passed == Some(false)).then_some(())
    });
    assert!(bench.rows().iter().all(|row| row.state == RunState::Answered));
}
