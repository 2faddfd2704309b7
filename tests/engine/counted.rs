//! Which runs statistics count: replays and rows of evaluations are no runs of the benchmark.
use crate::bench::{Bench, answered, beside_the_project, wait_until};
use fs_err as fs;
use touchstone_api::{
    FailuresRequest, LeaderboardRequest, LeftOut, OverviewRequest, OverviewView, ReportFormat,
    ReportRequest, SetsBy, Span, StatsRequest, TaskRequest, TrendRequest,
};

const TASK: &str = "tool_calling_prompt: How many?\nscorers: [exact]\n\
    variations:\n- expected_output: [{ n: 3 }]\n";

fn bench() -> Bench {
    let path = |model: &str| format!("results/plans-tool_calling-{model}-variation0.yaml");
    let evaluated =
        fs::read_to_string(beside_the_project("tests/fixtures/evaluate/results.json")).unwrap();
    let wrong = answered("Four.").replace("n: 3", "n: 4");
    let bench = Bench::new()
        .file("tasks/plans.yaml", TASK)
        .file(&path("claude"), answered("Three."))
        .file(&path("o1"), &wrong)
        .file(&path("replay"), &wrong)
        .file("results/evaluations/help.json", evaluated)
        .open();
    wait_until("all are read", || (bench.rows().len() > 6).then_some(()));
    bench
}

fn left_out(replays: u64, evaluations: u64) -> LeftOut {
    LeftOut { forks_left_out: 0, replays_left_out: replays, evaluations_left_out: evaluations }
}

#[test]
fn replays_and_rows_of_evaluations_are_in_no_number_unless_the_filter_names_them() {
    let bench = bench();
    let rows = bench.rows().len() as u64 - 3;
    let stats = |filter: &str| {
        let request = StatsRequest { filter: filter.to_owned(), ..StatsRequest::default() };
        let stats = bench.app().stats().systems(&request).unwrap();
        let names: Vec<String> = stats.groups.into_iter().map(|group| group.name).collect();
        (names.join(" "), stats.left_out_runs)
    };
    let systems = "tool_calling/claude tool_calling/o1".to_owned();
    assert_eq!(stats(""), (systems, left_out(1, rows)));
    assert_eq!(stats("model:replay"), ("tool_calling/replay".to_owned(), left_out(0, 0)));
    assert_eq!(stats("model:replay,o1").0, "tool_calling/o1 tool_calling/replay");
    assert_eq!(stats("-model:replay").1, left_out(0, rows));
    assert_eq!(stats("format:evaluated"), ("help".to_owned(), left_out(0, 0)));
    assert_eq!(stats("file:evaluations/help.json").0, "help");

    let overview = |filter: &str| {
        let request = OverviewRequest {
            filter: filter.to_owned(),
            scorer: None,
            folded: true,
            except: Vec::new(),
            find: None,
            view: OverviewView::default(),
            span: Span { offset: 0, limit: 100 },
        };
        bench.app().stats().overview(&request).unwrap()
    };
    let all = overview("");
    assert_eq!((all.columns.len(), all.tasks, all.runs), (2, 1, 2));
    assert_eq!((all.replays_left_out, all.evaluations_left_out), (1, rows));
    assert!(!all.headline.join(" ").contains("replay"), "{:?}", all.headline);
    let replays = overview("model:replay");
    assert_eq!((replays.columns.len(), replays.runs, replays.replays_left_out), (1, 1, 0));
    assert_eq!(overview("format:evaluated").runs, rows);

    let request = LeaderboardRequest::default();
    assert_eq!(bench.app().stats().leaderboard(&request).unwrap().rows.len(), 2);

    let failures = FailuresRequest::default();
    let failures = bench.app().failures().map(&failures).unwrap();
    assert_eq!(failures.left_out_runs, left_out(1, rows));
    assert_eq!(failures.groups.iter().map(|group| group.runs).sum::<u64>(), 2);

    let trend = TrendRequest { filter: String::new(), scorer: None, by: SetsBy::Day };
    let trends = bench.app().stats().trends(&trend).unwrap();
    assert_eq!((trends.groups.len(), trends.left_out_runs), (2, left_out(1, rows)));

    let report = ReportRequest::for_format(ReportFormat::Json);
    let report = bench.app().reports().make_report(&report, true).unwrap();
    assert_eq!(report.runs, 2);
    for note in ["1 replay is left out", "rows of evaluations are left out"] {
        assert!(report.notes.iter().any(|one| one.contains(note)), "{:?}", report.notes);
    }
}

#[test]
fn a_filter_that_is_half_typed_still_has_a_report() {
    let filter = "state:eror".to_owned();
    let request = ReportRequest { filter, ..ReportRequest::for_format(ReportFormat::Markdown) };
    let report = bench().app().reports().make_report(&request, true).unwrap();
    assert_eq!(report.misread.len(), 1);
}

#[test]
fn rows_of_evaluations_are_no_tasks() {
    let bench = bench();
    let span = Span { offset: 0, limit: 100 };
    let request = TaskRequest { words: String::new(), set: None, category: None, span };
    let tasks = bench.app().suites().list_tasks(request).unwrap();
    let names: Vec<&str> = tasks.rows.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(names, ["plans"]);
}
