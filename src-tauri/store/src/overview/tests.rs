//! Tests of the matrix.
use super::Matrix;
use crate::filter::Filter;
use crate::query::ScoredRun;
use crate::roots::{FileId, Root};
use crate::suites::{Task, Tasks};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::Arc;
use touchstone_api::{
    Lineage, Overview, OverviewCell, OverviewKind, OverviewRequest, OverviewRow, OverviewView,
    RunState, ScoreStanding, Span,
};
use touchstone_formats::suite;
use touchstone_metrics::stats::Interval;
use touchstone_scoring::aggregate::{Aggregate, Consumption};

/// Parses a run from `task/variation system model repeat: outcome`. A variation that is not a
/// number is a name. The outcome is a score, with `+` or `-` if it passed or failed a threshold, or
/// a state.
fn run(text: &str) -> ScoredRun {
    let (place, end) = text.split_once(": ").unwrap();
    let words: Vec<&str> = place.split(' ').collect();
    let some = |word: &str| (word != "?").then(|| word.to_owned());
    let (task, variation) = words[0].split_once('/').unwrap();
    let number = variation.parse().ok();
    let score = end.trim_end_matches(['+', '-']).parse().ok();
    let state = match end {
        "error" => RunState::Error,
        "waiting" => RunState::Waiting,
        "writing" => RunState::Writing,
        "damaged" => RunState::Damaged,
        "other" => RunState::Other,
        _ => RunState::Answered,
    };
    let scoring = match end {
        _ if score.is_some() => Some(ScoreStanding::Scored),
        "unasked" => Some(ScoreStanding::Waiting),
        "unexpected" => Some(ScoreStanding::NoExpected),
        "failed" => Some(ScoreStanding::Failed),
        _ => None,
    };
    ScoredRun {
        id: text.to_owned(),
        path: text.to_owned(),
        task: some(task),
        variation: number,
        variation_name: number.is_none().then(|| some(variation)).flatten(),
        repeat: words[3].parse().unwrap(),
        system: some(words[1]),
        model: some(words[2]),
        state,
        reason: None,
        layout: "tool_calling".to_owned(),
        turns: 1,
        tool_calls: 0,
        nudges: 0,
        follow_ups: 0,
        lineage: None,
        fork: 0,
        forked_from: None,
        member: None,
        commit: None,
        tags: Vec::new(),
        tokens: None,
        cost: None,
        seconds: None,
        started_ms: None,
        scoring,
        scorer: None,
        score,
        passed: if end.ends_with('+') { Some(true) } else { end.ends_with('-').then_some(false) },
        score_reason: None,
        class: None,
        fingerprint: None,
        verdict: None,
        review_score: None,
        review_note: None,
    }
}

/// Creates suites from (id, variation names, repeats), with a prompt for tool calling only.
fn suites(texts: &[(&str, &[&str], u32)]) -> Arc<Tasks> {
    let task = |(id, variations, repeat): &(&str, &[&str], u32)| {
        let variation = |name: &&str| suite::Variation {
            name: (!name.is_empty()).then(|| (*name).to_owned()),
            ..suite::Variation::default()
        };
        let suite = suite::Task {
            id: (*id).to_owned(),
            prompts: suite::Prompts {
                tool_calling: Some("do".to_owned()),
                ..suite::Prompts::default()
            },
            variations: variations.iter().map(variation).collect(),
            repeat: *repeat,
            ..suite::Task::default()
        };
        Arc::new(Task {
            suite: Arc::new(suite),
            file: FileId::new(Root::Input, id.as_bytes()),
            yardsticks: Vec::new(),
            tools: Vec::new(),
        })
    };
    Arc::new(Tasks::from_tasks(texts.iter().map(task)))
}

fn matrix(runs: &[&str], suites: &Arc<Tasks>, filter: &str) -> Matrix {
    let runs: Vec<ScoredRun> = runs.iter().map(|text| run(text)).collect();
    Matrix::from_runs(&runs, suites, &Filter::parse(filter).0, Vec::new())
}

fn request(folded: bool, except: &[&str], offset: u32, limit: u32) -> OverviewRequest {
    OverviewRequest {
        filter: String::new(),
        scorer: None,
        folded,
        except: except.iter().map(|task| (*task).to_owned()).collect(),
        find: None,
        view: OverviewView { missing: true, ..OverviewView::default() },
        span: Span { offset, limit },
    }
}

fn page(runs: &[&str], suites: &Arc<Tasks>) -> Overview {
    matrix(runs, suites, "").page(&request(false, &[], 0, 500), 1, Vec::new())
}

fn format_cell(cell: &OverviewCell) -> String {
    let mut text = cell.score.map(|score| format!("{score:.2}")).unwrap_or_default();
    if let (Some(low), Some(high)) = (cell.low, cell.high) {
        let _ = write!(text, " {low:.2}–{high:.2}");
    }
    if let Some(passed) = cell.passed {
        let _ = write!(text, " {passed}/{}", cell.scored);
    }
    let counts = [
        (cell.runs, "runs"),
        (cell.flaky, "flaky"),
        (cell.waiting, "waiting"),
        (cell.running, "running"),
        (cell.errors, "errors"),
        (cell.damaged, "damaged"),
        (cell.unscored, "unscored"),
        (cell.missing, "missing"),
        (cell.reviewed, "reviewed"),
    ];
    for (count, word) in counts.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, " {count} {word}");
    }
    text.trim().to_owned()
}

fn name(row: &OverviewRow) -> String {
    let label = row.label.as_deref().unwrap_or_default();
    match row.kind {
        OverviewKind::Task => {
            format!("{}{}", if row.folded { "▸ " } else { "" }, row.task.as_deref().unwrap())
        }
        OverviewKind::Variation => {
            format!("  {}{label}", row.variation.map(|n| format!("{n} ")).unwrap_or_default())
        }
        OverviewKind::Tag => format!("#{label} ({} tasks)", row.variations),
        OverviewKind::Missing => format!("{} {label}", if row.folded { "▸" } else { "▾" }),
        OverviewKind::Loose => format!("({} without a task)", row.runs),
    }
}

fn drawn(overview: &Overview) -> String {
    let mut text = String::new();
    for column in &overview.columns {
        let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "?".to_owned());
        let _ = writeln!(
            text,
            "{} {}: {}",
            known(&column.system),
            known(&column.model),
            format_cell(&column.cell)
        );
    }
    for row in &overview.rows {
        let cells: Vec<String> = row
            .cells
            .iter()
            .map(|cell| cell.as_ref().map_or_else(|| "·".to_owned(), format_cell))
            .collect();
        let _ = writeln!(text, "{} | {}", name(row), cells.join(" | "));
    }
    text
}

const T: &str = "tool_calling";

#[test]
fn a_cell_counts_scores_states_and_what_is_missing_and_mixes_none_of_them() {
    let suites = suites(&[("a", &["x", "y"], 3), ("b", &[""], 1)]);
    let runs = [
        "a/0 tool_calling m 1: 1+",
        "a/0 tool_calling m 2: 0-",
        "a/0 tool_calling m 3: error",
        "a/1 tool_calling m 1: waiting",
        "a/1 tool_calling m 2: damaged",
        "a/1 tool_calling n 1: writing",
        "b/0 tool_calling n 1: unexpected",
    ];
    insta::assert_snapshot!(drawn(&page(&runs, &suites)), @r"
    tool_calling m: 0.50 0.09–0.91 1/2 5 runs 1 flaky 1 waiting 1 errors 1 damaged 2 missing
    tool_calling n: 2 runs 1 running 1 unscored 5 missing
    a | 0.50 0.09–0.91 1/2 5 runs 1 flaky 1 waiting 1 errors 1 damaged 1 missing | 1 runs 1 running 5 missing
      0 x | 0.50 0.09–0.91 1/2 3 runs 1 flaky 1 errors | 3 missing
      1 y | 2 runs 1 waiting 1 damaged 1 missing | 1 runs 1 running 2 missing
    b | 1 missing | 1 runs 1 unscored
    ");
}

#[test]
fn tasks_and_variations_without_runs_are_one_row_until_they_are_asked_for() {
    let suites = suites(&[("a", &["x", "y"], 2), ("b", &[""], 1), ("c", &["x", "y"], 1)]);
    let matrix = matrix(&["b/0 tool_calling m 1: 1+", "c/1 tool_calling m 1: 0-"], &suites, "");
    let drawn_with = |view| {
        let request = OverviewRequest { view, ..request(false, &[], 0, 99) };
        drawn(&matrix.page(&request, 1, Vec::new()))
    };
    insta::assert_snapshot!(drawn_with(OverviewView::default()), @r"
    tool_calling m: 0.50 0.09–0.91 1/2 2 runs 5 missing
    b | 1.00 1/1 1 runs
    c | 0.00 0/1 1 runs 1 missing
      1 y | 0.00 0/1 1 runs
    ▸ 1 task and 1 variation without runs | 5 missing
    ");
    insta::assert_snapshot!(
        drawn_with(OverviewView { missing: true, ..OverviewView::default() }),
        @r"
    tool_calling m: 0.50 0.09–0.91 1/2 2 runs 5 missing
    b | 1.00 1/1 1 runs
    c | 0.00 0/1 1 runs 1 missing
      0 x | 1 missing
      1 y | 0.00 0/1 1 runs
    ▾ 1 task and 1 variation without runs | 5 missing
    a | 4 missing
      0 x | 2 missing
      1 y | 2 missing
    "
    );
}

#[test]
fn columns_are_grouped_by_model_and_rows_by_the_first_tag() {
    let known = suites(&[("a", &[""], 1), ("b", &[""], 1), ("c", &[""], 1)]);
    let tagged = |(task, tags): (&Arc<Task>, &[&str])| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        Arc::new(Task {
            suite: Arc::new(suite::Task { tags, ..(*task.suite).clone() }),
            file: FileId::new(Root::Input, task.suite.id.as_bytes()),
            yardsticks: Vec::new(),
            tools: Vec::new(),
        })
    };
    let tags = [&["sql"][..], &["mail", "sql"], &[]];
    let suites = Arc::new(Tasks::from_tasks(known.all().zip(tags).map(tagged)));
    let runs = ["a/0 s n 1: 1", "a/0 t m 1: 1", "b/0 s m 1: 0", "b/0 t n 1: 1", "c/0 s m 1: 1"];
    let view = OverviewView { by_model: true, by_tag: true, missing: false };
    let page = matrix(&runs, &suites, "").page(
        &OverviewRequest { view, ..request(true, &[], 0, 99) },
        1,
        Vec::new(),
    );
    insta::assert_snapshot!(drawn(&page), @r"
    s m: 0.50 0.09–0.91 2 runs 1 missing
    t m: 1.00 1 runs 2 missing
    s n: 1.00 1 runs 2 missing
    t n: 1.00 1 runs 2 missing
    #mail (1 tasks) | 0.00 1 runs | 1 missing | 1 missing | 1.00 1 runs
    b | 0.00 1 runs | 1 missing | 1 missing | 1.00 1 runs
    #sql (1 tasks) | 1 missing | 1.00 1 runs | 1.00 1 runs | 1 missing
    a | 1 missing | 1.00 1 runs | 1.00 1 runs | 1 missing
    # (1 tasks) | 1.00 1 runs | 1 missing | 1 missing | 1 missing
    c | 1.00 1 runs | 1 missing | 1 missing | 1 missing
    ");
    assert!(page.tags);
    assert_eq!(page.rows[2].filter, "task:a");
}

#[test]
fn what_suites_do_not_know_stands_beside_what_they_do_and_is_not_dropped() {
    let suites = suites(&[("a", &["x"], 1)]);
    let runs = [
        "z/3 tool_calling m 1: 0.5",
        "a/7 tool_calling m 1: 1",
        "a/x tool_calling m 1: 0.25",
        "a/x_oracle tool_calling m 1: 1",
        "?/? ? ? 1: unexpected",
        "?/? ? m 1: error",
        "?/? tool_calling m 1: error",
        "notes/0 tool_calling m 1: other",
    ];
    insta::assert_snapshot!(drawn(&page(&runs, &suites)), @r"
    tool_calling m: 0.69 0.00–1.00 4 runs
    a | 0.75 0.00–1.00 3 runs
      0 x | 0.25 1 runs
      7  | 1.00 1 runs
      x_oracle | 1.00 1 runs
    z | 0.50 1 runs
    (3 without a task) | 1 runs 1 errors
    ");
}

#[test]
fn a_run_that_says_the_name_of_a_variation_stands_with_those_that_say_its_number() {
    let suites = suites(&[("folder/task", &["x", "y"], 2)]);
    let runs = ["folder/y tool_calling m 1: 1", "folder/task/1 tool_calling m 2: 0"];
    let runs = runs.map(run_of_folder);
    let overview = Matrix::from_runs(&runs, &suites, &Filter::default(), Vec::new()).page(
        &request(false, &[], 0, 9),
        1,
        Vec::new(),
    );
    insta::assert_snapshot!(drawn(&overview), @r"
    tool_calling m: 0.50 0.09–0.91 2 runs 1 flaky 2 missing
    folder/task | 0.50 0.09–0.91 2 runs 1 flaky 2 missing
      0 x | 2 missing
      1 y | 0.50 0.09–0.91 2 runs 1 flaky
    ▾ 1 variation without runs | 2 missing
    ");
    let filters: Vec<&str> = overview.rows[..3].iter().map(|row| row.filter.as_str()).collect();
    insta::assert_snapshot!(filters.join("\n"), @r"
    task:folder,folder/task
    task:folder,folder/task variation:0
    task:folder,folder/task variation:1,y
    ");
}

/// Parses a run whose task contains a slash.
fn run_of_folder(text: &str) -> ScoredRun {
    let (place, rest) = text.split_once(' ').unwrap();
    let (task, variation) = place.rsplit_once('/').unwrap();
    ScoredRun { task: Some(task.to_owned()), ..run(&format!("t/{variation} {rest}")) }
}

#[test]
fn nothing_is_missing_where_the_suite_has_nothing_to_ask_or_the_run_does_not_say_who_made_it() {
    let suites = suites(&[("a", &["x"], 1), ("b", &["x"], 1)]);
    let runs = ["a/0 promptql m 1: 1", "a/0 ? m 1: 1", "a/0 tool_calling ? 1: 1"];
    let overview = page(&runs, &suites);
    assert_eq!(overview.missing, Some(0));
    assert_eq!(overview.tasks, 1);
    assert_eq!(page(&["a/0 tool_calling m 1: 1"], &suites).missing, Some(1));
}

#[test]
fn a_fork_with_another_model_expects_no_runs_of_that_model_and_leads_nowhere() {
    let suites = suites(&[("a", &["x"], 1), ("b", &["x"], 1)]);
    let run = |text| run(text);
    let mut runs = [run("a/0 tool_calling m 1: 1"), run("a/0 tool_calling n 1: 1")];
    (runs[1].lineage, runs[1].fork) = (Some(Lineage::Fork), 1);
    let matrix = Matrix::from_runs(&runs, &suites, &Filter::default(), Vec::new());
    let overview = matrix.page(&request(false, &[], 0, 500), 1, Vec::new());
    assert_eq!((overview.missing, overview.columns.len()), (Some(1), 2));
    let leaders = matrix.leaders(&|_| super::Spent::default());
    let models: Vec<_> = leaders.all.iter().map(|it| it.model.as_deref()).collect();
    assert_eq!(models, [Some("m")]);
}

#[test]
fn more_repeats_than_expected_make_up_for_none_that_is_missing() {
    let suites = suites(&[("a", &["x"], 3)]);
    let runs = ["a/0 tool_calling m 2: 1", "a/0 tool_calling m 5: 1", "a/0 tool_calling m 9: 1"];
    let overview = page(&runs, &suites);
    assert_eq!(overview.missing, Some(2));
    assert_eq!(overview.rows[0].cells[0].as_ref().unwrap().runs, 3);
}

#[test]
fn what_is_expected_follows_a_filter_that_asks_where_and_is_unknown_for_any_other() {
    let suites = suites(&[("a", &["x", "y"], 2), ("b", &["x"], 1)]);
    let runs = ["a/0 tool_calling m 1: 1"];
    for (filter, missing) in [
        ("", Some(4)),
        ("task:a", Some(3)),
        ("task:a variation:y", Some(2)),
        ("-task:a", Some(1)),
        ("repeat:2", Some(2)),
        ("model:n", Some(0)),
        ("state:answered", None),
        ("some words", None),
    ] {
        let overview =
            matrix(&runs, &suites, filter).page(&request(false, &[], 0, 500), 1, Vec::new());
        assert_eq!(overview.missing, missing, "{filter}");
    }
}

#[test]
fn the_run_to_open_is_the_worst_by_score_and_what_has_none_comes_after() {
    let worst = |runs: &[&str]| {
        let cell = page(runs, &Arc::default()).rows[0].cells[0].clone().unwrap();
        cell.run.unwrap().rsplit_once(": ").unwrap().1.to_owned()
    };
    let at = |end: &str| format!("a/0 {T} m 1: {end}");
    let order = ["0-", "0.4", "0.9-", "1+", "error", "damaged", "waiting", "unexpected"];
    for (n, first) in order.iter().enumerate() {
        let runs: Vec<String> = order[n..].iter().rev().map(|end| at(end)).collect();
        assert_eq!(worst(&runs.iter().map(String::as_str).collect::<Vec<_>>()), *first);
    }
}

#[test]
fn repeats_that_disagree_are_flaky_and_variations_that_do_are_not() {
    let flaky = |runs: &[&str]| page(runs, &Arc::default()).rows[0].cells[0].clone().unwrap().flaky;
    assert_eq!(flaky(&["a/0 s m 1: 1+", "a/0 s m 2: 0-"]), 1);
    assert_eq!(flaky(&["a/0 s m 1: 1+", "a/1 s m 1: 0-"]), 0);
    assert_eq!(flaky(&["a/0 s m 1: 1+", "a/0 s m 2: error"]), 0);
    assert_eq!(
        flaky(&["a/0 s m 1: 1", "a/0 s m 2: 0"]),
        1,
        "nobody decided what is good enough, and scores differ"
    );
    assert_eq!(flaky(&["a/0 s m 1: 1+", "a/0 s m 2: 0-", "a/1 s m 1: 1+", "a/1 s m 2: 0-"]), 2);
}

#[test]
fn an_interval_is_wilsons_for_noughts_and_ones_and_students_for_few_others_and_none_for_one_run() {
    let cell =
        |runs: &[&str]| format_cell(page(runs, &Arc::default()).rows[0].cells[0].as_ref().unwrap());
    assert_eq!(cell(&["a/0 s m 1: 1"]), "1.00 1 runs");
    assert_eq!(
        cell(&["a/0 s m 1: 1", "a/0 s m 2: 1", "a/0 s m 3: 0"]),
        "0.67 0.21–0.94 3 runs 1 flaky"
    );
    assert_eq!(
        cell(&["a/0 s m 1: 0.5", "a/0 s m 2: 0.5"]),
        "0.50 2 runs",
        "nothing says how much others would differ"
    );
    assert_eq!(cell(&["a/0 s m 1: 0.4", "a/0 s m 2: 0.6"]), "0.50 0.00–1.00 2 runs 1 flaky");
}

#[test]
fn a_column_sums_up_its_tasks_and_leaves_out_runs_without_one() {
    let runs = ["a/0 s m 1: 0.5", "b/0 s m 1: 1", "?/? s m 1: 0"];
    let overview = page(&runs, &Arc::default());
    assert_eq!(format_cell(&overview.columns[0].cell), "0.75 0.00–1.00 2 runs");
    assert_eq!((overview.runs, overview.scored, overview.tasks, overview.total_rows), (3, 3, 2, 3));
}

#[test]
fn folded_tasks_have_one_row_and_those_with_one_variation_never_more() {
    let runs = ["a/0 s m 1: 1", "a/1 s m 1: 1", "b/0 s m 1: 1", "c/0 s m 1: 1", "c/1 s m 1: 1"];
    let matrix = matrix(&runs, &Arc::default(), "");
    let names = |folded, except: &[&str], offset, limit| {
        let page = matrix.page(&request(folded, except, offset, limit), 1, Vec::new());
        format!("{}: {}", page.total_rows, page.rows.iter().map(name).collect::<Vec<_>>().join(","))
    };
    assert_eq!(names(false, &[], 0, 99), "7: a,  0 ,  1 ,b,c,  0 ,  1 ");
    assert_eq!(names(true, &[], 0, 99), "3: ▸ a,b,▸ c");
    assert_eq!(names(true, &["c", "b"], 0, 99), "5: ▸ a,b,c,  0 ,  1 ");
    assert_eq!(names(false, &["a"], 0, 99), "5: ▸ a,b,c,  0 ,  1 ");
    assert_eq!(names(false, &[], 2, 2), "7:   1 ,b");
    assert_eq!(names(false, &[], 90, 5), "7: ");
}

#[test]
fn the_row_of_a_task_is_found_under_any_folds() {
    let runs = ["a/0 s m 1: 1", "a/1 s m 1: 1", "b/0 s m 1: 1", "c/0 s m 1: 1", "c/1 s m 1: 1"];
    let matrix = matrix(&runs, &Arc::default(), "");
    let found = |task: &str, folded| {
        let request = OverviewRequest { find: Some(task.to_owned()), ..request(folded, &[], 0, 1) };
        matrix.page(&request, 1, Vec::new()).found
    };
    assert_eq!(
        [found("a", false), found("b", false), found("c", false)],
        [Some(0), Some(3), Some(4)]
    );
    assert_eq!([found("c", true), found("never there", true)], [Some(2), None]);
}

#[test]
fn columns_with_the_fewest_runs_are_left_out_when_there_are_too_many() {
    let mut runs: Vec<String> = (0..70).map(|n| format!("a/0 s m{n:02} 1: 1")).collect();
    runs.push("a/0 s m69 2: 1".to_owned());
    let overview = page(&runs.iter().map(String::as_str).collect::<Vec<_>>(), &Arc::default());
    assert_eq!((overview.columns.len(), overview.columns_left_out), (60, 10));
    assert_eq!(overview.columns.last().unwrap().model.as_deref(), Some("m69"));
    assert_eq!(overview.runs, 71);
}

#[test]
fn the_filters_of_a_row_and_a_column_take_in_just_their_runs() {
    let runs = ["a b/0 s m 1: 1", "a b/1 s m 1: 1", "?/? ? ? 1: 1"];
    let runs: Vec<ScoredRun> = runs.map(|text| run(&text.replace("a b", "a_b"))).into();
    let runs: Vec<ScoredRun> = runs
        .into_iter()
        .map(|run| ScoredRun { task: run.task.map(|task| task.replace('_', " ")), ..run })
        .collect();
    let overview = Matrix::from_runs(&runs, &Arc::default(), &Filter::default(), Vec::new()).page(
        &request(false, &[], 0, 9),
        1,
        Vec::new(),
    );
    let rows: Vec<&str> = overview.rows.iter().map(|row| row.filter.as_str()).collect();
    assert_eq!(
        rows,
        [r#"task:"a b""#, r#"task:"a b" variation:0"#, r#"task:"a b" variation:1"#, "-task:*"]
    );
    let columns: Vec<&str> = overview.columns.iter().map(|column| column.filter.as_str()).collect();
    assert_eq!(columns, ["system:s model:m"]);
    for filter in rows.iter().chain(&columns) {
        assert_eq!(Filter::parse(filter).1, []);
    }
}

/// Returns true if two estimates are equal, apart from the order of sums.
fn is_near(one: Option<(f64, Option<Interval>)>, other: Option<(f64, Option<Interval>)>) -> bool {
    let numbers = |it: Option<(f64, Option<Interval>)>| {
        it.map(|(value, interval)| (value, interval.map(|it| [it.low, it.high])))
    };
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    match (numbers(one), numbers(other)) {
        (Some((one, Some([a, b]))), Some((other, Some([c, d])))) => {
            near(one, other) && near(a, c) && near(b, d)
        }
        (Some((one, None)), Some((other, None))) => near(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

proptest! {
    /// A column agrees with the statistics and reports of the same runs.
    #[test]
    fn a_column_is_counted_as_for_a_report(
        runs in prop::collection::vec("[abc]/[012x] s [mn] [123]: (1|0|0\\.5|0\\.25|1\\+|0-|error|waiting|unasked)", 0..40),
    ) {
        let texts: Vec<&str> = runs.iter().map(String::as_str).collect();
        let overview = page(&texts, &Arc::default());
        let runs: Vec<ScoredRun> = texts.iter().map(|text| run(text)).collect();
        let counted: Vec<_> = runs.iter().map(ScoredRun::counted).collect();
        let standing = Aggregate::new(&counted, None);
        prop_assert_eq!(standing.groups.len(), overview.columns.len());
        for (group, column) in standing.groups.iter().zip(&overview.columns) {
            let (theirs, ours) = (&group.summary.cell, &column.cell);
            let interval = theirs.score.and_then(|score| score.interval);
            prop_assert_eq!(theirs.score.map(|score| score.value), ours.score);
            prop_assert_eq!(interval.map(|interval| interval.low), ours.low);
            prop_assert_eq!(interval.map(|interval| interval.high), ours.high);
            prop_assert_eq!(theirs.passes.map(|passes| passes.passed), ours.passed.map(u64::from));
            prop_assert_eq!(theirs.flaky, u64::from(ours.flaky));
            prop_assert_eq!(theirs.scored, u64::from(ours.scored));
        }
    }

    /// The leaders agree with the statistics and reports of the same runs, and so do the sentences.
    #[test]
    fn leaders_are_counted_as_for_a_report(
        runs in prop::collection::vec(
            ("[abc?]/[012x] [s?] [mn] [123]: (1|0|0\\.5|0\\.25|1\\+|0-|error|waiting|unasked)",
             prop::option::of(0_u32..5), prop::option::of(0_u64..5)), 0..40),
    ) {
        let runs: Vec<ScoredRun> = runs
            .iter()
            .map(|(text, cost, tokens)| ScoredRun {
                cost: cost.map(f64::from),
                tokens: *tokens,
                variation_name: None,
                ..run(text)
            })
            .collect();
        let matrix = Matrix::from_runs(&runs, &Arc::default(), &Filter::default(), Vec::new());
        let counted: Vec<_> = runs.iter().map(ScoredRun::counted).collect();
        let standing = Aggregate::new(&counted, None);
        let leaders = matrix.leaders(&|at| {
            let run = &runs[at as usize];
            super::Spent { tokens: run.tokens, cost: run.cost, seconds: run.seconds }
        });
        prop_assert_eq!(standing.groups.len(), leaders.all.len());
        prop_assert_eq!(standing.ranking().sentences, matrix.page(&request(true, &[], 0, 1), 1, Vec::new()).headline);
        for group in &standing.groups {
            let (system, model) = (group.column.system, group.column.model);
            let leader = leaders.all.iter().find(|it| it.system.as_deref() == system && it.model.as_deref() == model);
            let (theirs, ours) = (&group.summary, &leader.unwrap().summary);
            prop_assert!(is_near(
                theirs.cell.score.map(|it| (it.value, it.interval)),
                ours.cell.score.map(|it| (it.value, it.interval)),
            ));
            prop_assert!(is_near(
                theirs.cell.passes.map(|it| (it.share(), Some(it.interval))),
                ours.cell.passes.map(|it| (it.share(), Some(it.interval))),
            ));
            prop_assert_eq!(theirs.cell.flaky, ours.cell.flaky);
            prop_assert_eq!(theirs.histogram, ours.histogram);
            for (theirs, ours) in [(theirs.cost, ours.cost), (theirs.tokens, ours.tokens)] {
                prop_assert_eq!(theirs.amounts.known, ours.amounts.known);
                prop_assert_eq!(theirs.amounts.unknown, ours.amounts.unknown);
                let of = |it: Consumption| it.mean().map(|mean| (mean, it.interval));
                prop_assert!(is_near(of(theirs), of(ours)));
            }
        }
    }

    /// Every run is counted in exactly one cell, and rows and columns have equal totals.
    #[test]
    fn every_run_is_counted_once(
        runs in prop::collection::vec(
            "[ab?]/[012x] [st?] [mn?] [123]: (1|0|0\\.5|1\\+|0-|error|waiting|writing|damaged|unasked|unexpected|failed)", 0..60),
        folded in any::<bool>(),
        expected in 1_u32..4,
    ) {
        let suites = suites(&[("a", &["x", "y"], expected), ("c", &[""], 1)]);
        let texts: Vec<&str> = runs.iter().map(String::as_str).collect();
        let overview = matrix(&texts, &suites, "").page(&request(folded, &[], 0, 500), 1, Vec::new());
        let of = |kind: OverviewKind, count: fn(&OverviewCell) -> u32| -> u32 {
            overview.rows.iter().filter(|row| row.kind == kind).flat_map(|row| row.cells.iter().flatten()).map(count).sum()
        };
        let all = |cell: &OverviewCell| cell.runs;
        let loose: u64 = overview.rows.iter().filter(|row| row.kind == OverviewKind::Loose).map(|row| row.runs).sum();
        prop_assert_eq!(u64::from(of(OverviewKind::Task, all)) + loose, runs.len() as u64);
        let Overview { scored, errors, waiting, running, damaged, no_expected, unasked, unscored, .. } = overview;
        let ended = |word: &str| texts.iter().filter(|text| text.ends_with(&format!(": {word}"))).count() as u64;
        prop_assert_eq!((errors, waiting, running), (ended("error"), ended("waiting"), ended("writing")));
        prop_assert_eq!((damaged, unasked, no_expected), (ended("damaged"), ended("unasked"), ended("unexpected")));
        prop_assert_eq!(unscored, ended("failed"));
        prop_assert_eq!(scored + errors + waiting + running + damaged + no_expected + unasked + unscored, runs.len() as u64);
        let columns: u32 = overview.columns.iter().map(|column| column.cell.runs).sum();
        prop_assert_eq!(columns, of(OverviewKind::Task, all));
        let missing: u32 = overview.columns.iter().map(|column| column.cell.missing).sum();
        prop_assert_eq!(u64::from(missing), overview.missing.unwrap());
        prop_assert_eq!(missing, of(OverviewKind::Task, |cell| cell.missing));
        for cell in overview.rows.iter().flat_map(|row| row.cells.iter().flatten()) {
            let states = cell.scored + cell.waiting + cell.running + cell.errors + cell.damaged + cell.unscored;
            prop_assert_eq!(states, cell.runs);
            prop_assert_eq!(cell.run.is_some(), cell.runs > 0);
            if let (Some(low), Some(score), Some(high)) = (cell.low, cell.score, cell.high) {
                prop_assert!(0.0 <= low && low <= score + 1e-9 && score <= high + 1e-9 && high <= 1.0);
            }
        }
    }
}

#[test]
fn a_fork_that_is_asked_for_makes_no_cell_flaky() {
    let mut runs: Vec<ScoredRun> =
        ["a/0 s m 1: 1+", "a/0 s m 2: 1+", "a/0 s m 1: 0-"].map(run).into();
    let flaky = |runs: &[ScoredRun], filter: &str| {
        let matrix = Matrix::from_runs(runs, &suites(&[]), &Filter::parse(filter).0, Vec::new());
        let page = matrix.page(&request(true, &[], 0, 500), 1, Vec::new());
        let cell = page.rows[0].cells[0].clone().unwrap();
        (cell.runs, cell.flaky, page.columns[0].cell.flaky)
    };
    assert_eq!(flaky(&runs, "forked:yes,no"), (3, 1, 1));
    (runs[2].lineage, runs[2].fork) = (Some(Lineage::Fork), 1);
    assert_eq!(flaky(&runs, "forked:yes,no"), (3, 0, 0));
    assert_eq!(flaky(&runs, ""), (2, 0, 0));
}
