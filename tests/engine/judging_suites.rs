//! Tests of judges configured by suites, and of reporting their verdicts: thresholds, rates, and
//! missing verdicts.
use super::bench::{Bench, wait_until};
use super::judging::{judge, request};
use super::running::stage::says;
use super::scripted::Scripted;
use touchstone_api::{
    Column, JudgeChoice, JudgeRequest, ListRequest, OverviewRequest, OverviewView, ReportFormat,
    ReportRequest, ScoreStanding, Sort, Span,
};

const SOLVED: &str = r#"{"reason": "All there.", "verdict": "solved"}"#;
const UNSURE: &str = r#"{"reason": "Who knows.", "verdict": "unsure"}"#;

/// A folder with three tasks and their scorers, one run each, and a second model to judge by.
fn bench(server: &Scripted, scorers: [&str; 3]) -> Bench {
    let url = server.url("/v1");
    let model =
        |name: &str| format!("  {name}: {{ provider: openai, base_url: '{url}', model: any }}\n");
    let models = [model("local"), model("other")].concat();
    let mut bench = Bench::new().file(
        "touchstone.yaml",
        format!("input_dir: tasks\noutput_dir: results\nmodels:\n{models}"),
    );
    for (task, scorers) in ["a", "b", "c"].into_iter().zip(scorers) {
        bench = bench
            .file(
                &format!("tasks/{task}.yaml"),
                format!("tool_calling_prompt: How many in {task}?\nscorers: {scorers}\n"),
            )
            .answered(&format!("results/{task}-tool_calling-o1-variation0.yaml"), "There are 3.");
    }
    bench.open()
}

fn open_request() -> JudgeRequest {
    JudgeRequest { model: String::new(), rounds: None, ..request(1) }
}

#[test]
fn model_and_rounds_of_the_suites_are_taken_where_nobody_says_others() {
    let server = Scripted::always(says(SOLVED));
    let bench =
        bench(&server, ["[judge:sopr: { model: other, rounds: 2 }]", "[judge:sopr]", "[exact]"]);
    let plan = bench.app().judging().plan_judging(&open_request()).unwrap();
    assert_eq!((plan.model.as_str(), plan.rounds, plan.runs, plan.calls_least), ("other", 2, 3, 6));
    let named = bench.app().judging().plan_judging(&request(1)).unwrap();
    assert_eq!((named.model.as_str(), named.rounds), ("local", 1));
    // The rounds configured for another model do not apply to this one.
    let local =
        bench.app().judging().plan_judging(&JudgeRequest { rounds: None, ..request(1) }).unwrap();
    assert_eq!((local.model.as_str(), local.rounds), ("local", 3));
    let sopr = bench
        .app()
        .judging()
        .judge_options(true)
        .unwrap()
        .judges
        .into_iter()
        .find(|one| one.name == "sopr")
        .unwrap();
    assert_eq!(
        (sopr.suite_model.as_deref(), sopr.suite_rounds, sopr.official),
        (Some("other"), Some(2), true)
    );
    let view = judge(bench.app(), &open_request());
    assert_eq!((view.model.as_str(), view.done, view.calls), ("other", 3, 6), "{view:?}");
}

#[test]
fn where_suites_differ_or_say_nothing_nobody_guesses() {
    let server = Scripted::always(says(SOLVED));
    let bench = bench(
        &server,
        [
            "[judge:sopr: { model: other, rounds: 2 }]",
            "[judge:sopr: { model: local, rounds: 3 }]",
            "[exact]",
        ],
    );
    let refused = |request: JudgeRequest| {
        bench.app().judging().plan_judging(&request).unwrap_err().to_string()
    };
    let why = refused(open_request());
    assert!(why.contains("name different models for `judge:sopr`: other, local."), "{why}");
    let why = refused(JudgeRequest { filter: "task:c".into(), ..open_request() });
    assert!(why.contains("No suite of these runs names a model"), "{why}");
    let one = bench
        .app()
        .judging()
        .plan_judging(&JudgeRequest { filter: "task:b".into(), ..open_request() })
        .unwrap();
    assert_eq!((one.model.as_str(), one.rounds), ("local", 3));
    let options = bench.app().judging().judge_options(true).unwrap();
    assert!(options.judges.iter().all(|one| one.suite_model.is_none()));
    let known = |judge: &JudgeChoice| options.groups.iter().any(|group| group.name == judge.group);
    assert!(options.judges.iter().all(known), "{:?}", options.groups);
    assert!(options.judges.is_sorted_by_key(|judge| {
        options.groups.iter().position(|group| group.name == judge.group)
    }));
    let fac = options.judges.iter().find(|one| one.name == "fac").unwrap();
    assert!(!fac.official && !fac.safety && fac.scale.contains("solved"), "{fac:?}");
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn rounds_that_suites_want_differently_have_to_be_said() {
    let server = Scripted::always(says(SOLVED));
    let bench =
        bench(&server, ["[judge:sopr: { rounds: 2 }]", "[judge:sopr: { rounds: 5 }]", "[exact]"]);
    let why = bench
        .app()
        .judging()
        .plan_judging(&JudgeRequest { rounds: None, ..request(1) })
        .unwrap_err()
        .to_string();
    assert!(why.contains("set different rounds for `judge:sopr`: 2 and 5"), "{why}");
    assert_eq!(bench.app().judging().plan_judging(&request(4)).unwrap().rounds, 4);
}

#[test]
fn the_threshold_of_the_suite_decides_and_is_told_as_its_own() {
    let server = Scripted::start(|seen| says(if seen.number % 3 == 0 { SOLVED } else { UNSURE }));
    let bench = bench(&server, ["[judge:sopr: { threshold: 0.8 }]", "[judge:sopr]", "[exact]"]);
    // One round is solved, the other unsure in both requests: three quarters.
    let view = judge(bench.app(), &JudgeRequest { filter: "task:a".into(), ..request(2) });
    let rates = view.rates.unwrap();
    let passed = rates.passed.unwrap();
    assert_eq!((rates.mean, passed.passed, passed.runs, rates.own), (0.75, 0, 1, None));
    assert!(passed.interval.is_some_and(|(low, high)| low.abs() < 1e-9 && high > 0.5));
    let row = |task: &str| bench.row(&format!("{task}-tool_calling-o1-variation0.yaml")).unwrap();
    let judged = bench.app().scoring().run_scores(&row("a").id).unwrap().judged.remove(0);
    assert_eq!(
        (judged.passed, judged.threshold.as_deref(), judged.of_suite),
        (Some(false), Some("from 0.8"), true)
    );
    assert_eq!(
        judged.rounds.iter().map(|round| round.told.as_str()).collect::<Vec<_>>(),
        ["solved", "unsure"]
    );
    judge(bench.app(), &JudgeRequest { filter: "task:b".into(), ..request(2) });
    let judged = bench.app().scoring().run_scores(&row("b").id).unwrap().judged.remove(0);
    assert_eq!((judged.passed, judged.threshold, judged.of_suite), (Some(true), None, false));
    // A person with an equal verdict agrees with the judge.
    for (task, says) in [("a", "wrong"), ("b", "right")] {
        bench.put(
            &format!("results/.touchstone/reviews/{task}-tool_calling-o1-variation0.yaml"),
            format!("verdict: {says}\n"),
        );
    }
    let pair = wait_until("people and the judge said something of both", || {
        bench
            .app()
            .reviews()
            .agreement("people", "sopr:ours:local", "")
            .ok()
            .filter(|pair| pair.n == 2)
    });
    assert_eq!((pair.same, pair.table), (2, vec![vec![1, 0], vec![0, 1]]));
    // A changed threshold in the suite changes the verdict without a request.
    bench.put(
        "tasks/a.yaml",
        "tool_calling_prompt: How many in a?\nscorers: [judge:sopr: { threshold: 0.7 }]\n",
    );
    wait_until("the judge finds it right now", || {
        bench
            .app()
            .reviews()
            .agreement("people", "sopr:ours:local", "")
            .ok()
            .filter(|pair| pair.n == 2 && pair.same == 1)
    });
}

#[test]
fn of_two_scorers_of_a_judge_the_one_of_the_model_that_judges_has_the_threshold() {
    let server = Scripted::start(|seen| says(if seen.number == 0 { SOLVED } else { UNSURE }));
    let two = "[judge:sopr: { model: other, threshold: 0.9 }, judge:sopr: { model: local, threshold: 0.6 }]";
    let bench = bench(&server, [two, "[exact]", "[exact]"]);
    let view = judge(bench.app(), &JudgeRequest { filter: "task:a".into(), ..request(2) });
    let rates = view.rates.unwrap();
    let passed = rates.passed.unwrap();
    assert_eq!(
        (rates.mean, passed.passed, passed.runs),
        (0.75, 1, 1),
        "the summary says what the verdict says"
    );
    let row = bench.row("a-tool_calling-o1-variation0.yaml").unwrap();
    let judged = bench.app().scoring().run_scores(&row.id).unwrap().judged.remove(0);
    assert_eq!((judged.passed, judged.threshold.as_deref()), (Some(true), Some("from 0.6")));
}

#[test]
fn what_waits_for_a_judge_is_nowhere_taken_for_nothing_right() {
    let server = Scripted::always(says(SOLVED));
    let bench = bench(&server, ["[judge:sopr]", "[judge:sopr]", "[judge:sopr]"]);
    judge(bench.app(), &JudgeRequest { filter: "task:a".into(), ..request(1) });
    wait_until("its verdict is the score", || {
        (bench.row("a-tool_calling-o1-variation0.yaml")?.score == Some(1.0)).then_some(())
    });
    let list = |filter: &str| {
        let sort = Sort { column: Column::Path, descending: false };
        let request =
            ListRequest { filter: filter.to_owned(), sort, span: Span { offset: 0, limit: 9 } };
        bench
            .app()
            .runs()
            .list_runs(request)
            .unwrap()
            .rows
            .into_iter()
            .map(|row| row.path)
            .collect::<Vec<_>>()
    };
    assert_eq!((list("score:<0.5").len(), list("score:>0.5").len()), (0, 1));
    let waiting = bench.row("b-tool_calling-o1-variation0.yaml").unwrap();
    assert_eq!((waiting.score, waiting.scoring), (None, Some(ScoreStanding::Waiting)));
    assert_eq!(waiting.score_reason.as_deref(), Some("`judge:sopr` has not run yet."));
    let request = OverviewRequest {
        filter: String::new(),
        scorer: Some("judge:sopr".into()),
        folded: false,
        except: Vec::new(),
        find: None,
        view: OverviewView::default(),
        span: Span { offset: 0, limit: 100 },
    };
    let overview = bench.app().stats().overview(&request).unwrap();
    assert_eq!(overview.scored, 1);
    let cells = overview.rows.iter().filter_map(|row| row.cells.first()?.as_ref());
    let (scored, unscored) = cells.fold((0, 0), |(scored, unscored), cell| {
        assert!(cell.scored > 0 || cell.score.is_none(), "{cell:?}");
        (scored + cell.scored, unscored + cell.unscored)
    });
    assert_eq!(unscored, 2 * scored, "two of three wait, however cells are folded");
    let report = |format| {
        let request = ReportRequest {
            scorer: Some("judge:sopr".into()),
            ..ReportRequest::for_format(format)
        };
        bench.app().reports().make_report(&request, true).unwrap().text
    };
    let lines = report(ReportFormat::Jsonl);
    assert!(lines.contains("solved: All there."), "{lines}");
    assert!(lines.contains("has not run yet") && !lines.contains("\"score\":0"), "{lines}");
    assert!(report(ReportFormat::Markdown).contains("solved: All there."));
}

const TONE: &str = "label_model: { name: tone, input: 'Is this polite? {{item.response}}', labels: [polite, rude], passing_labels: [polite], model: other }";
const DEPTH: &str =
    "score_model: { name: depth, input: 'How deep is this? {{item.response}}', range: [1, 5] }";

fn judge_request(judge: &str) -> JudgeRequest {
    JudgeRequest { judge: judge.into(), rounds: None, ..request(1) }
}

#[test]
fn what_a_suite_asks_in_words_of_its_own_is_a_judge_of_its_runs() {
    let server = Scripted::start(|seen| {
        let asked = seen.json()["messages"][1]["content"].as_str().unwrap_or_default().to_owned();
        let label = r#"{"reason": "Kind.", "label": "polite"}"#;
        let score = r#"{"steps": [{"description": "a", "conclusion": "Shallow."}], "result": 2}"#;
        says(if asked.contains("Is this polite?") { label } else { score })
    });
    let both = format!("[{TONE}, {DEPTH}]");
    let bench = bench(&server, [both.as_str(), &both, "[exact]"]);
    assert_eq!(bench.problems(), []);
    let options = bench.app().judging().judge_options(true).unwrap();
    let tone = options.judges.iter().find(|one| one.name == "tone").unwrap();
    assert_eq!(
        (tone.suite_model.as_deref(), tone.rounds, tone.scale.as_str()),
        (Some("other"), 1, "one of its labels")
    );
    let plan = bench
        .app()
        .judging()
        .plan_judging(&JudgeRequest { model: String::new(), ..judge_request("tone") })
        .unwrap();
    assert_eq!(
        (plan.model.as_str(), plan.runs, plan.calls_most, plan.skipped_total),
        ("other", 2, 2, 1)
    );
    assert_eq!(plan.skipped[0].why, "Its suite has no scorer `judge:tone`.");
    let view = judge(bench.app(), &JudgeRequest { model: String::new(), ..judge_request("tone") });
    assert_eq!((view.done, view.skipped, view.calls, view.unread), (2, 1, 2, 0), "{view:?}");
    assert!(
        server.seen()[0].json()["messages"][1]["content"]
            .as_str()
            .unwrap()
            .contains("\n| There are 3.\n")
    );
    judge(bench.app(), &judge_request("depth"));
    let row = || bench.row("a-tool_calling-o1-variation0.yaml").unwrap();
    let score = |name: &str, standing: ScoreStanding| {
        wait_until(&format!("{name} is {standing:?}"), || {
            let scores = bench.app().scoring().run_scores(&row().id).ok()?.scores;
            scores.into_iter().find(|score| score.scorer == name && score.standing == standing)
        })
    };
    let tone = score("judge:tone", ScoreStanding::Scored);
    assert_eq!(
        (tone.score, tone.passed, tone.reason.as_str()),
        (Some(1.0), Some(true), "polite: Kind.")
    );
    let depth = score("judge:depth", ScoreStanding::Scored);
    assert_eq!(
        (depth.score, depth.passed, depth.reason.as_str()),
        (Some(0.25), Some(false), "2: Shallow.")
    );
    let judged = bench.app().scoring().run_scores(&row().id).unwrap().judged;
    let told: Vec<_> =
        judged.iter().map(|one| (one.judge.as_str(), one.stale.as_deref(), one.passed)).collect();
    assert_eq!(told, [("depth", None, Some(false)), ("tone", None, Some(true))]);
    assert_eq!((judge(bench.app(), &judge_request("depth")).calls, server.seen().len()), (0, 4));
    // The agreement of people and the suite's judge is computed like any other.
    let raters = bench.app().reviews().trust("").unwrap().raters;
    let seats: Vec<_> = raters
        .iter()
        .filter(|one| one.name.contains(" by "))
        .map(|one| (one.name.as_str(), one.runs, one.stale))
        .collect();
    assert_eq!(seats, [("depth by local", 2, 0), ("tone by other", 2, 0)], "{raters:?}");
    // The passing labels are part of the request, and the judge of the other suite is unaffected.
    let other = both.replace("passing_labels: [polite]", "passing_labels: [rude]");
    bench.put("tasks/a.yaml", format!("tool_calling_prompt: How many in a?\nscorers: {other}\n"));
    let why = score("judge:tone", ScoreStanding::Waiting).reason;
    assert!(why.contains("The run or its task has changed since."), "{why}");
    let plan = bench
        .app()
        .judging()
        .plan_judging(&JudgeRequest { model: "other".into(), ..judge_request("tone") })
        .unwrap();
    assert_eq!((plan.runs, plan.complete), (1, 1));
    let unknown = bench.app().judging().plan_judging(&judge_request("tune")).unwrap_err();
    assert!(unknown.to_string().contains("There is no judge named `tune`."), "{unknown}");
}
