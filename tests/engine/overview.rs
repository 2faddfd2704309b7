//! Tests of the overview on a real folder: it agrees with the list, the scores and the suites, and
//! follows changes of files.
use crate::bench::{Bench, answered, wait_until};
use touchstone_api::{
    Column, FailureClass, LeaderboardRequest, LeaderboardRow, ListRequest, Overview, OverviewCell,
    OverviewKind, OverviewRequest, OverviewRow, OverviewView, ReportFormat, ReportRequest, Sort,
    Span, Stats, StatsRequest,
};

const SUITE: &str = "tool_calling_prompt: How many?\nrepeat: 2\nscorers: [fields, exact]\n\
    variations:\n- name: few\n  parameters: { n: 1 }\n  expected_output: [{ n: 3, m: 1 }]\n\
    - name: many\n  parameters: { n: 2 }\n  expected_output: [{ n: 3, m: 1 }]\n";

fn answers(json: &str) -> String {
    answered("Done.").replace("answer:\n- n: 3\n", &format!("answer: {json}\n"))
}

fn bench() -> Bench {
    let path = |rest: &str| format!("results/plans-tool_calling-{rest}.yaml");
    Bench::new()
        .file("tasks/plans.yaml", SUITE)
        .file("tasks/other.yaml", "tool_calling_prompt: What?\n")
        .file(&path("claude-variation0"), answers("[{ n: 3, m: 1 }]"))
        .file(&path("claude-variation0-run2"), answers("[{ n: 3, m: 2 }]"))
        .file(
            &path("claude-variation1"),
            "conversation:\n- user_message: How many?\n- error: no credit\n",
        )
        .file(&path("o1-variation0"), answers("[{ n: 4, m: 2 }]"))
        .file("results/notes.yaml", answers("1"))
        .open()
}

fn request(filter: &str, scorer: Option<&str>) -> OverviewRequest {
    OverviewRequest {
        filter: filter.to_owned(),
        scorer: scorer.map(str::to_owned),
        folded: false,
        except: Vec::new(),
        find: None,
        view: OverviewView { missing: true, ..OverviewView::default() },
        span: Span { offset: 0, limit: 100 },
    }
}

fn overview(bench: &Bench, filter: &str, scorer: Option<&str>) -> Overview {
    bench.app().stats().overview(&request(filter, scorer)).unwrap()
}

fn cell<'a>(overview: &'a Overview, label: &str, column: usize) -> &'a OverviewCell {
    let row = overview.rows.iter().find(|row| row.label.as_deref() == Some(label)).unwrap();
    row.cells[column].as_ref().unwrap()
}

#[test]
fn cells_hold_the_scores_of_the_first_scorer_or_of_the_one_that_is_asked_for() {
    let bench = bench();
    let first = overview(&bench, "", None);
    assert_eq!(first.scorers.len(), 2, "{:?}", first.scorers);
    let few = cell(&first, "few", 0);
    assert_eq!((few.runs, few.scored, few.passed, few.flaky, few.missing), (2, 2, Some(1), 1, 0));
    assert_eq!(few.score, Some(0.75));
    let exact = overview(&bench, "", Some("exact"));
    assert_eq!(cell(&exact, "few", 0).score, Some(0.5));
    let many = cell(&exact, "many", 0);
    assert_eq!((many.scored, many.errors, many.missing), (0, 1, 1));
    let nobody = overview(&bench, "", Some("nobody knows it"));
    assert_eq!((nobody.scored, nobody.errors, cell(&nobody, "few", 0).unscored), (0, 1, 2));
}

#[test]
fn the_leaderboard_has_the_numbers_of_the_statistics() {
    let bench = bench();
    let request = LeaderboardRequest::default();
    let board = bench.app().stats().leaderboard(&request).unwrap();
    let stats = bench.app().stats().systems(&StatsRequest::default()).unwrap();
    assert_eq!(board.rows.len(), stats.groups.len());
    assert_eq!(board.front_by, stats.front_by);
    for group in &stats.groups {
        let is_same =
            |row: &&LeaderboardRow| (&row.system, &row.model) == (&group.system, &group.model);
        let row = board.rows.iter().find(is_same).unwrap();
        assert_eq!((row.runs, row.errors), (group.ends.runs, group.ends.errors), "{row:?}");
        assert_eq!(row.standing, group.standing, "{row:?}");
        assert_eq!(row.on_front, group.on_front, "{row:?}");
        assert_eq!(row.score.map(|it| it.value), group.score.map(|it| it.value), "{row:?}");
        assert_eq!(row.cost.map(|it| it.value), group.cost.mean, "{row:?}");
        assert_eq!(row.seconds.map(|it| it.value), group.seconds.mean, "{row:?}");
    }
    let means = board.rows.iter().map(|row| row.score.map_or(-1.0, |score| score.value));
    assert!(means.is_sorted_by(|one, other| one >= other), "{board:?}");
    let none = LeaderboardRequest { filter: "system:nobody".to_owned(), ..request };
    assert_eq!(bench.app().stats().leaderboard(&none).unwrap().rows, []);
}

#[test]
fn the_run_of_a_cell_is_the_first_of_its_list_by_score_and_the_list_has_just_its_runs() {
    let bench = bench();
    let all = overview(&bench, "", None);
    let is_task =
        |row: &&OverviewRow| matches!(row.kind, OverviewKind::Task | OverviewKind::Variation);
    let tasks = || all.rows.iter().filter(is_task);
    let mut looked = 0;
    for (row, at, cell) in tasks().flat_map(|row| cells(row).map(move |(at, cell)| (row, at, cell)))
    {
        let filter = format!("{} {}", row.filter, all.columns[at].filter);
        let sort = Sort { column: Column::Score, descending: false };
        let page = bench
            .app()
            .runs()
            .list_runs(ListRequest { filter, sort, span: Span { offset: 0, limit: 9 } })
            .unwrap();
        assert_eq!(page.total, u64::from(cell.runs), "{row:?}");
        assert_eq!(page.rows.first().map(|row| row.id.clone()), cell.run, "{row:?}");
        looked += 1;
    }
    assert_eq!(looked, 8);
    let loose = all.rows.last().unwrap();
    let request = ListRequest {
        filter: loose.filter.clone(),
        sort: Sort { column: Column::Path, descending: false },
        span: Span { offset: 0, limit: 9 },
    };
    assert_eq!(
        (loose.kind, loose.runs, bench.app().runs().list_runs(request).unwrap().total),
        (OverviewKind::Loose, 1, 1)
    );
}

fn cells(row: &OverviewRow) -> impl Iterator<Item = (usize, &OverviewCell)> {
    row.cells.iter().enumerate().filter_map(|(at, cell)| Some((at, cell.as_ref()?)))
}

#[test]
fn the_overview_follows_runs_and_suites() {
    let bench = bench();
    let before = overview(&bench, "", None);
    assert_eq!((before.runs, before.missing), (5, Some(6)));
    bench.put("results/other-tool_calling-o1-variation0.yaml", answers("1"));
    let after = wait_until("the new run is counted", || {
        Some(overview(&bench, "", None)).filter(|all| all.runs == 6)
    });
    assert_eq!(after.missing, Some(5));
    assert!(after.generation > before.generation);
    bench.put("tasks/plans.yaml", SUITE.replace("repeat: 2", "repeat: 3"));
    wait_until("more is expected", || {
        Some(overview(&bench, "", None)).filter(|all| all.missing == Some(9))
    });
    assert_eq!(overview(&bench, "state:error", None).missing, None);
    assert_eq!(overview(&bench, "model:o1", None).columns.len(), 1);
}

fn stats(bench: &Bench, scorer: Option<&str>) -> Stats {
    let scorer = scorer.map(str::to_owned);
    bench
        .app()
        .stats()
        .systems(&StatsRequest { filter: String::new(), scorer, baseline: None })
        .unwrap()
}

#[test]
fn what_went_wrong_is_said_of_the_scorer_that_is_counted() {
    let suite = "tool_calling_prompt: How many?\nexpected_tool_calls: [count]\n\
        scorers: [fields: { threshold: 0.5 }, exact, tool_calls]\nvariations:\n- parameters: {}\
        \n  expected_output: [{ n: 3, m: 1 }, { n: 4, m: 1 }]\n";
    let bench = Bench::new()
        .file("tasks/plans.yaml", suite)
        .file(
            "results/plans-tool_calling-claude-variation0.yaml",
            answers("[{ n: 3, m: 1 }, { n: 4, m: 2 }]"),
        )
        .file(
            "results/plans-tool_calling-claude-variation0-run2.yaml",
            "conversation:\n- user_message: How many?\n- error: no credit\n",
        )
        .open();
    let classes = |scorer: Option<&str>| {
        let stats = stats(&bench, scorer);
        let told: Vec<_> =
            stats.groups[0].classes.iter().map(|one| (one.class, one.runs)).collect();
        told
    };
    let error = (FailureClass::SystemError, 1);
    assert_eq!(classes(None), [error]);
    assert_eq!(classes(Some("fields")), [error]);
    assert_eq!(classes(Some("exact")), [(FailureClass::WrongAnswer, 1), error]);
    assert_eq!(classes(Some("tool_calls")), [(FailureClass::MissingToolCall, 1), error]);
    let request = ReportRequest {
        scorer: Some("exact".to_owned()),
        ..ReportRequest::for_format(ReportFormat::Json)
    };
    assert!(
        bench.app().reports().make_report(&request, true).unwrap().text.contains("wrong_answer")
    );
}

#[test]
fn statistics_count_the_runs_of_one_variation_together_however_files_name_it() {
    let suite = "tool_calling_prompt: How many?\nvariations:\n- name: last_10\n  parameters: {}\n  expected_output: [{ n: 3 }]\n";
    let dir = "results/plans/o1/promptql/retrieval";
    let mut bench = Bench::new()
        .file("tasks/plans/task.yaml", suite)
        .file("results/plans/task-promptql-o1-variation0.yaml", answers("[{ n: 4 }]"));
    for run in 1..=2 {
        bench = bench
            .file(
                &format!("{dir}/last_10_run_{run}.history"),
                r#"[{"role": "user", "content": "How many?"}]"#,
            )
            .file(&format!("{dir}/last_10_run_{run}.result"), r#"[{"n": 3}]"#);
    }
    let bench = bench.open();
    let matrix = overview(&bench, "", None);
    let cells: Vec<(u32, u32)> = matrix
        .rows
        .iter()
        .filter(|row| row.kind == OverviewKind::Task)
        .flat_map(|row| cells(row).map(|(_, cell)| (cell.runs, cell.flaky)))
        .collect();
    assert_eq!(cells, [(3, 1)]);
    let stats = stats(&bench, None);
    assert_eq!((stats.tasks, stats.rows.len()), (1, 1), "{:?}", stats.rows);
    let cell = stats.rows[0].cells[0].as_ref().unwrap();
    assert_eq!((cell.runs, cell.flaky), (3, true));
    let key = &stats.rows[0].key;
    assert_eq!((key.task.as_deref(), key.variation), (Some("plans/task"), Some(0)));
}
