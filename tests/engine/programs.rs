//! Tests of scorers that are programs: they run only on request, in the sandbox, once for each
//! input. With `TOUCHSTONE_WITHOUT_SANDBOX=1`, for systems on which bubblewrap cannot work, these
//! tests print that they are skipped.
use crate::bench::{Bench, answered, wait_until};
use touchstone_api::{FailureClass, RunRow, RunScore, ScoreStanding};
use touchstone_app::error::AppError;
use touchstone_app::scoring::FileScores;

const RUN: &str = "results/plans-tool_calling-claude-variation0.yaml";
const STRICT: &str = "strict-tool_calling-claude-variation0.yaml";
const PATH: &str = "plans-tool_calling-claude-variation0.yaml";

/// Scorer that returns the share of the expected numbers that are present.
const SHARE: &str = "import json\n\ndef evaluate_score(ground_truth: str, test_result: str) -> float:\n    \
    wanted, found = json.loads(ground_truth), json.loads(test_result)\n    print('wanted', ground_truth, 'found', test_result)\n    \
    return len([n for n in wanted if n in found]) / len(wanted)\n";

fn suite(scorers: &str, expected: &str) -> String {
    format!(
        "tool_calling_prompt: How many plans?\nscorers: [{scorers}]\nvariations:\n- parameters: {{}}\n  expected_output: {expected}\n"
    )
}

/// A transcript with this answer.
fn answers(yaml: &str) -> String {
    answered("Done.").replace("answer:\n- n: 3\n", &format!("answer: {yaml}\n"))
}

/// Creates a bench with a scorer; `None` without a sandbox.
fn bench(module: &str, expected: &str, answer: &str) -> Option<Bench> {
    if std::env::var_os("TOUCHSTONE_WITHOUT_SANDBOX").is_some() {
        eprintln!("not run: TOUCHSTONE_WITHOUT_SANDBOX is set");
        return None;
    }
    let bench = Bench::new()
        .file("tasks/plans.yaml", suite("python: scorer.py", expected))
        .file("tasks/scorer.py", module)
        .file(RUN, answers(answer));
    Some(bench.open())
}

fn scores(bench: &Bench, path: &str) -> Vec<RunScore> {
    bench.app().scoring().run_scores(&bench.row(path).unwrap().id).unwrap().scores
}

fn wait_row(bench: &Bench, what: &str, wish: impl Fn(&RunRow) -> bool) -> RunRow {
    wait_until(what, || bench.row(PATH).filter(&wish))
}

fn waits(row: &RunRow) -> bool {
    row.scoring == Some(ScoreStanding::Waiting)
}

#[test]
fn a_program_runs_when_it_is_asked_for_and_its_score_is_kept_until_a_part_of_the_question_changes()
{
    let Some(bench) = bench(SHARE, "[1, 2, 3, 4]", "[1, 2, 3]") else { return };
    let row = bench.row(PATH).unwrap();
    assert!(waits(&row), "{row:?}");
    assert_eq!((row.score, row.scorer.as_deref()), (None, Some("python: scorer.py")));
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    let row = bench.row(PATH).unwrap();
    assert_eq!(
        (row.scoring, row.score, row.passed),
        (Some(ScoreStanding::Scored), Some(0.75), Some(false))
    );
    assert_eq!(
        (row.score_reason.as_deref(), row.class),
        (Some("the program returned 0.75"), Some(FailureClass::WrongAnswer))
    );
    let detail = &scores(&bench, PATH)[0].detail[0];
    assert_eq!(
        (detail.name.as_str(), detail.value.as_str()),
        ("printed", "wanted [1,2,3,4] found [1,2,3]")
    );
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 0, "nothing waits any more");
    let bench = bench.reopen();
    assert_eq!(bench.row(PATH).unwrap().score, Some(0.75));

    bench.put(RUN, answers("[4, 3, 2, 1]"));
    wait_row(&bench, "the new answer waits", waits);
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    let row = bench.row(PATH).unwrap();
    assert_eq!((row.score, row.passed, row.class), (Some(1.0), Some(true), None));

    bench.put("tasks/scorer.py", SHARE.replace("/ len(wanted)", "/ 10"));
    wait_row(&bench, "the new program is waited for", waits);
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    assert_eq!(bench.row(PATH).unwrap().score, Some(0.4));

    bench.put("tasks/scorer.py", SHARE);
    wait_row(&bench, "what the program said before is known", |row| row.score == Some(1.0));
    bench.put(
        "tasks/plans.yaml",
        suite("python: {path: scorer.py, threshold: 0.5}", "[1, 2, 3, 4, 5, 6]"),
    );
    wait_row(&bench, "the new expected output waits", waits);
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    assert_eq!(bench.row(PATH).unwrap().passed, Some(true));
}

#[test]
fn programs_run_for_the_runs_that_count_and_for_a_fork_when_it_is_asked_for() {
    let Some(bench) = bench(SHARE, "[1, 2, 3, 4]", "[1, 2, 3]") else { return };
    let fork = "plans-tool_calling-claude-variation0-fork2.yaml";
    let text = answers("[1, 2]") + &format!("run: {{ forked_from: {PATH}, forked_step: 1 }}\n");
    bench.put(&format!("results/{fork}"), text);
    let waiting = || bench.row(fork).filter(waits);
    wait_until("the fork waits, too", waiting);
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    wait_row(&bench, "the run has a score", |row| row.score == Some(0.75));
    assert!(waiting().is_some(), "nobody asked for the fork");
    assert_eq!(
        bench.app().scoring().run_scorers(&format!("path:{fork} forked:yes,no")).unwrap(),
        1
    );
    assert_eq!(bench.row(fork).unwrap().score, Some(0.5));
}

#[test]
fn what_a_program_said_is_judged_by_the_threshold_that_each_suite_has_now() {
    let Some(bench) = bench(SHARE, "[1, 2, 3, 4]", "[1, 2, 3]") else { return };
    let with = |threshold: f64| {
        suite(&format!("python: {{path: scorer.py, threshold: {threshold}}}"), "[1, 2, 3, 4]")
    };
    bench.put("tasks/plans.yaml", with(0.5));
    bench.write("tasks/strict.yaml", with(0.9));
    bench.write(&format!("results/{STRICT}"), answers("[1, 2, 3]"));
    wait_until("the second waits", || bench.row(STRICT).filter(waits));
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1, "it is one question");
    wait_row(&bench, "the first threshold counts", |row| row.passed == Some(true));
    let passes =
        |path: &str| bench.row(path).map(|row| (row.score, row.passed, row.class)).unwrap();
    assert_eq!(passes(PATH), (Some(0.75), Some(true), None));
    assert_eq!(passes(STRICT), (Some(0.75), Some(false), Some(FailureClass::WrongAnswer)));
    assert_eq!(
        (scores(&bench, PATH)[0].passed, scores(&bench, STRICT)[0].passed),
        (Some(true), Some(false))
    );

    bench.put("tasks/plans.yaml", with(0.8));
    let row = wait_row(&bench, "the new threshold counts", |row| row.passed == Some(false));
    assert_eq!((row.score, row.class), (Some(0.75), Some(FailureClass::WrongAnswer)));
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 0, "nothing is asked again");
}

#[test]
fn a_program_that_is_asked_for_by_name_says_what_it_said_before_with_the_threshold_that_is_asked_for()
 {
    let Some(bench) = bench(SHARE, "[1, 2, 3, 4]", "[1, 2, 3]") else { return };
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    let asked = |scorer: &str| {
        let mut found = Vec::new();
        let each = |file: FileScores| {
            found.push((
                file.scores[0].standing,
                file.scores[0].score,
                file.scores[0].passed,
                file.class,
            ));
            Ok::<_, AppError>(())
        };
        bench.app().scoring().each_scores("", &[scorer.to_owned()], each).unwrap();
        found
    };
    let wrong = Some(FailureClass::WrongAnswer);
    assert_eq!(
        asked("python: scorer.py"),
        [(ScoreStanding::Scored, Some(0.75), Some(false), wrong)]
    );
    let kinder = "python: {path: scorer.py, threshold: 0.5}";
    assert_eq!(asked(kinder), [(ScoreStanding::Scored, Some(0.75), Some(true), None)]);
}

#[test]
fn runs_with_the_same_answer_are_one_question_and_a_filter_decides_which_are_asked() {
    let Some(bench) = bench(SHARE, "[1, 2]", "[1]") else { return };
    let other = |model: &str| format!("plans-tool_calling-{model}-variation0.yaml");
    for (model, answer) in [("o1", "[1]"), ("o3-mini", "[2, 1]")] {
        bench.write(&format!("results/{}", other(model)), answers(answer));
        wait_until("it is listed", || bench.row(&other(model)).filter(waits));
    }
    assert_eq!(bench.app().scoring().run_scorers("model:o3-mini").unwrap(), 1);
    assert_eq!(bench.row(&other("o3-mini")).unwrap().score, Some(1.0));
    assert!(waits(&bench.row(PATH).unwrap()));
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    for path in [PATH, &other("o1")] {
        assert_eq!(bench.row(path).unwrap().score, Some(0.5), "{path}");
    }
}

#[test]
fn texts_are_handed_over_as_they_are_and_nothing_else_of_this_machine_is_seen() {
    let module = "import os\ndef evaluate_score(ground_truth, test_result):\n    print(repr(ground_truth), repr(test_result))\n    \
        print(__file__, sorted(os.listdir('.')), os.environ.get('HOME'))\n    \
        return float(ground_truth == 'Grüße,\\n\"Paris\"' and test_result == 'Paris \\\\n')\n";
    let Some(bench) = bench(module, r#""Grüße,\n\"Paris\"""#, r#""Paris \\n""#) else { return };
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1);
    let score = &scores(&bench, PATH)[0];
    assert_eq!((score.score, score.standing), (Some(1.0), ScoreStanding::Scored), "{score:?}");
    assert_eq!(score.detail[0].value, "scorer.py ['program.py'] /work");
}

#[test]
fn a_program_that_gives_no_score_says_why_and_is_asked_again_when_somebody_wants_it() {
    let function =
        |body: &str| format!("def evaluate_score(ground_truth, test_result):\n    {body}\n");
    let Some(bench) = bench(&function("return 2"), "[1]", "[1]") else { return };
    for (module, reason) in [
        (function("return 2"), "scorer.py returned 2.0, and a score is a number from 0 to 1."),
        (
            function("return float('nan')"),
            "scorer.py returned nan, and a score is a number from 0 to 1.",
        ),
        (
            function("return ground_truth == test_result"),
            "scorer.py returned True (bool), and a score is a number from 0 to 1.",
        ),
        (
            function("return '0.5'"),
            "scorer.py returned '0.5' (str), and a score is a number from 0 to 1.",
        ),
        (
            function("pass"),
            "scorer.py returned None (NoneType), and a score is a number from 0 to 1.",
        ),
        (
            function("raise ValueError('no\\nlist')"),
            "scorer.py failed in line 2: ValueError: no list.",
        ),
        (
            function("return 1 +"),
            "scorer.py failed in line 2: SyntaxError: invalid syntax (scorer.py, line 2).",
        ),
        (function("import os; os._exit(0)"), "scorer.py ended before it returned a score."),
        (
            function("import os; os.write(1, b'{\"score\": \"1\"}'); os._exit(0)"),
            "scorer.py ended before it returned a score.",
        ),
        (function("raise SystemExit(0)"), "scorer.py failed in line 2: SystemExit: 0."),
        (
            "import no_such_module\n".to_owned(),
            "scorer.py failed in line 1: ModuleNotFoundError: No module named 'no_such_module'. A \
             scorer is one file, and imports what the Python of this system has.",
        ),
        (
            "def score(a, b): return 1\n".to_owned(),
            "scorer.py has no function evaluate_score(ground_truth, test_result).",
        ),
        (function("return bytearray(1 << 40)"), "scorer.py failed in line 2: MemoryError."),
        (
            function("import os, signal; os.kill(os.getpid(), signal.SIGABRT)"),
            "scorer.py was ended by SIGABRT.",
        ),
    ] {
        bench.put("tasks/scorer.py", &module);
        wait_until("the module is read", || {
            (bench.app().scoring().run_scorers("").unwrap() == 1).then_some(())
        });
        let row = wait_row(&bench, reason, |row| row.score_reason.as_deref() == Some(reason));
        assert_eq!(
            (row.scoring, row.score, row.passed, row.class),
            (Some(ScoreStanding::Failed), None, None, None)
        );
    }
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 1, "it is asked again");
    let printing = "import os\ndef evaluate_score(a, b):\n    print('x' * 3_000_000)\n    os.system('echo loud')\n    return 1\n";
    bench.put("tasks/scorer.py", printing);
    wait_until("what it prints is not a score", || {
        bench.app().scoring().run_scorers("").unwrap();
        bench.row(PATH).filter(|row| row.score == Some(1.0))
    });
}

#[test]
fn a_program_lies_below_the_tasks_and_is_no_link() {
    let bench = Bench::new()
        .file("outside.py", SHARE)
        .file(
            "tasks/plans.yaml",
            suite("python: ../outside.py, python: link.py, python: gone.py", "[1]"),
        )
        .file(RUN, answers("[1]"));
    std::os::unix::fs::symlink(bench.path("outside.py"), bench.path("tasks/link.py")).unwrap();
    let bench = bench.open();
    let all = scores(&bench, PATH);
    assert_eq!(all.len(), 3);
    for score in &all {
        assert_eq!(score.standing, ScoreStanding::Failed, "{score:?}");
        assert!(score.reason.contains("could not be read"), "{score:?}");
    }
    assert_eq!(bench.app().scoring().run_scorers("").unwrap(), 0);
}
