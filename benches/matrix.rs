//! Measures the overview: the first one of an index, and pages of a cached one.
use crate::corpus::Dice;
use crate::floor::cpu_s;
use crate::measures::{Home, LONG, ms, spread};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use touchstone_api::{Overview, OverviewRequest, OverviewView, RunState, ScoreStanding, Span};
use touchstone_app::App;
use touchstone_store::filter::Filter;
use touchstone_store::overview::Matrix;
use touchstone_store::query::ScoredRun;

/// Number of rows that the page requests at a time.
const PAGE: u32 = 60;

/// Runs the measurement on the corpus of the overview.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let app = home.open();
    app.folder().wait_ready(LONG).unwrap_or_else(|e| panic!("{e}"));
    for filter in ["", "system:tool_calling", "model:o1 task:group1/*", "state:answered"] {
        let (started, worked) = (Instant::now(), cpu_s());
        let first = overview(&app, filter, false, &[], 0);
        let (took, worked) = (started.elapsed(), cpu_s() - worked);
        println!(
            "overview: {filter:?}: {} runs ({} scored) in {} rows × {} columns: first {} (processor {worked:.2} s)",
            first.runs,
            first.scored,
            first.total_rows,
            first.columns.len(),
            ms(took)
        );
    }
    let mut dice = Dice::new(3);
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let offset = u32::try_from(dice.below(1_100)).unwrap_or(0);
            let started = Instant::now();
            overview(&app, "", false, &[], offset);
            started.elapsed()
        })
        .collect();
    println!("overview: {PAGE} rows anywhere: {}", spread(&mut times));
    let mut folds: Vec<Duration> = (0..100)
        .map(|n| {
            let started = Instant::now();
            overview(&app, "", true, &[format!("group{}/task{:03}", n / 20, n)], n);
            started.elapsed()
        })
        .collect();
    println!("overview: another fold: {}", spread(&mut folds));
    let json =
        serde_json::to_string(&overview(&app, "", false, &[], 600)).map_or(0, |text| text.len());
    println!("overview: {PAGE} rows are {} KB on their way to the page", json / 1000);
    counting();
}

/// Measures the aggregation without the index. Scores other than zero and one cost the most.
fn counting() {
    let mut dice = Dice::new(5);
    let runs: Vec<ScoredRun> = (0..96_000).map(|n| scored(n, &mut dice)).collect();
    let (started, worked) = (Instant::now(), cpu_s());
    let matrix = Matrix::from_runs(&runs, &Arc::default(), &Filter::default(), Vec::new());
    let (took, worked) = (started.elapsed(), cpu_s() - worked);
    println!(
        "overview: {} scored runs gathered in {} (processor {worked:.2} s)",
        runs.len(),
        ms(took)
    );
    let worked = cpu_s();
    let mut times: Vec<Duration> = (0..100)
        .map(|n| {
            let started = Instant::now();
            matrix.page(&request("", false, &[], n * 11), 1, Vec::new());
            started.elapsed()
        })
        .collect();
    let each = (cpu_s() - worked) * 1_000.0 / times.len() as f64;
    println!(
        "overview: {PAGE} rows with intervals: {} (processor {each:.1} ms each)",
        spread(&mut times)
    );
}

fn scored(n: usize, dice: &mut Dice) -> ScoredRun {
    let (repeat, column, variation, task) = (n % 8, n / 8 % 12, n / 96 % 5, n / 480);
    let score = f64::from(u32::try_from(dice.below(1_000)).unwrap_or(0)) / 1_000.0;
    let path = format!(
        "task{task}-{}-{}-variation{variation}-run{}.yaml",
        column / 4,
        column % 4,
        repeat + 1
    );
    ScoredRun {
        id: format!("{n:016x}"),
        path,
        member: None,
        task: Some(format!("task{task:03}")),
        variation: u32::try_from(variation).ok(),
        variation_name: None,
        repeat: u32::try_from(repeat).unwrap_or(0) + 1,
        system: Some(format!("system{}", column / 4)),
        model: Some(format!("model{}", column % 4)),
        state: RunState::Answered,
        reason: None,
        layout: "tool_calling".to_owned(),
        turns: 3,
        tool_calls: 2,
        nudges: 0,
        follow_ups: 0,
        lineage: None,
        fork: 0,
        forked_from: None,
        tokens: None,
        cost: None,
        seconds: None,
        started_ms: None,
        commit: None,
        tags: Vec::new(),
        scoring: Some(ScoreStanding::Scored),
        scorer: Some("fields".to_owned()),
        score: Some(score),
        passed: Some(score >= 0.5),
        score_reason: None,
        class: None,
        fingerprint: None,
        verdict: None,
        review_score: None,
        review_note: None,
    }
}

fn request(filter: &str, folded: bool, except: &[String], offset: u32) -> OverviewRequest {
    let span = Span { offset, limit: PAGE };
    OverviewRequest {
        filter: filter.to_owned(),
        scorer: None,
        folded,
        except: except.to_vec(),
        find: None,
        view: OverviewView::default(),
        span,
    }
}

fn overview(app: &App, filter: &str, folded: bool, except: &[String], offset: u32) -> Overview {
    app.stats().overview(&request(filter, folded, except, offset)).unwrap_or_else(|e| panic!("{e}"))
}
