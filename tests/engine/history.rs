//! Tests of History: sets of runs with their filters, what changed between two sets, and the
//! baseline file of the folder.
use super::bench::{Bench, wait_until};
use fs_err as fs;
use std::time::{Duration, UNIX_EPOCH};
use touchstone_api::{
    ChangesRequest, GateChange, ListRequest, ReportFormat, ReportRequest, SetsBy, Sort, Span,
    TrendMeasure, TrendRequest,
};
use touchstone_app::reports::gating::GateRules;

const DAYS: [&str; 2] = ["1970-01-01", "1970-01-02"];
/// Filter of the first day.
const FIRST: &str = "started:1970-01-01";
const TASKS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn transcript(answer: u32) -> String {
    format!("conversation:\n- user_message: Count.\n- assistant_message: Here.\nanswer: {answer}\n")
}

fn path(day: u32, task: &str) -> String {
    let repeat = if day == 1 { String::new() } else { format!("-run{day}") };
    format!("{task}-tool_calling-o1-variation0{repeat}.yaml")
}

/// Eight tasks on two days: all runs of the first are right, and those of the second from the third
/// task on. One of the second day ended in an error.
fn bench() -> Bench {
    let mut bench = Bench::new().file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n");
    for (at, task) in TASKS.iter().enumerate() {
        let after = match at {
            0 => transcript(8),
            1 => "conversation:\n- user_message: Count.\n- error: too many requests\n".to_owned(),
            _ => transcript(7),
        };
        let suite = "tool_calling_prompt: Count.\nexpected_output: 7\n";
        bench = bench.file(&format!("tasks/{task}.yaml"), suite);
        for (day, text) in [(1, transcript(7)), (2, after)] {
            let file = format!("results/{}", path(day, task));
            bench = bench.file(&file, text);
            let noon = UNIX_EPOCH + Duration::from_hours(u64::from(day) * 24 - 12);
            let file = fs::OpenOptions::new().append(true).open(bench.path(&file)).unwrap();
            file.into_file().set_modified(noon).unwrap();
        }
    }
    let bench = bench.open();
    let scored = || bench.rows().iter().filter(|row| row.score.is_some()).count();
    wait_until("the runs are scored", || (scored() == 15).then_some(()));
    bench
}

fn request(by: SetsBy, filter: &str) -> TrendRequest {
    TrendRequest { filter: filter.to_owned(), scorer: None, by }
}

/// Returns the paths of the runs that pass a filter.
fn paths(bench: &Bench, filter: &str) -> Vec<String> {
    let request = ListRequest {
        filter: filter.to_owned(),
        sort: Sort { column: touchstone_api::Column::Path, descending: false },
        span: Span { offset: 0, limit: 100 },
    };
    let page = bench.app().runs().list_runs(request).unwrap();
    page.rows.into_iter().map(|row| row.path).collect()
}

#[test]
fn the_filter_of_a_set_and_of_a_system_choose_just_their_runs() {
    let bench = bench();
    let history = bench.app().stats().history(&request(SetsBy::Day, "")).unwrap();
    let trends = &history.trends;
    let names: Vec<&str> = trends.sets.iter().map(|set| set.name.as_str()).collect();
    assert_eq!(names, DAYS);
    let group = &trends.groups[0];
    for (set, day) in trends.sets.iter().zip([1, 2]) {
        let listed = paths(&bench, &format!("{} {}", group.filter, set.filter));
        assert_eq!(listed, TASKS.map(|task| path(day, task)), "{}", set.filter);
    }
    for by in [SetsBy::Week, SetsBy::Month, SetsBy::File] {
        let sets = bench.app().stats().history(&request(by, "")).unwrap().trends.sets;
        let runs = sets.iter().map(|set| paths(&bench, &set.filter).len() as u64);
        assert_eq!(runs.collect::<Vec<_>>(), sets.iter().map(|set| set.runs).collect::<Vec<_>>());
    }
    let plots: Vec<TrendMeasure> = history.plots.iter().map(|plot| plot.measure).collect();
    assert_eq!(plots, [TrendMeasure::Score, TrendMeasure::Passes]);
    assert_eq!(trends, &bench.app().stats().trends(&request(SetsBy::Day, "")).unwrap());
}

#[test]
fn commits_and_tags_are_sets_filters_and_completions() {
    let run = |commit: &str, tags: &str| {
        format!("{}run: {{ commit: {commit}, tags: {tags} }}\n", transcript(7))
    };
    let whole = "0123456789abcdef0123456789abcdef01234567";
    let bench = Bench::new()
        .file("tasks/a.yaml", "tags: [smoke]\ntool_calling_prompt: Count.\nexpected_output: 7\n")
        .file("tasks/b.yaml", "tool_calling_prompt: Count.\nexpected_output: 7\n")
        .file(&format!("results/{}", path(1, "a")), run(whole, "[nightly, smoke]"))
        .file(&format!("results/{}", path(2, "a")), run("'4f1c2d9a7b30-dirty'", "[]"))
        .file(&format!("results/{}", path(1, "b")), transcript(7))
        .open();
    wait_until("the runs are listed", || (bench.rows().len() == 3).then_some(()));
    let sets = |by| {
        let trends = bench.app().stats().trends(&request(by, "")).unwrap();
        let sets: Vec<_> = trends
            .sets
            .iter()
            .map(|set| (set.name.clone(), set.filter.clone(), set.runs))
            .collect();
        for (_, filter, runs) in &sets {
            assert_eq!(paths(&bench, filter).len() as u64, *runs, "{filter}");
        }
        let mut names: Vec<String> = sets.into_iter().map(|(name, ..)| name).collect();
        names.sort();
        (names, trends.left_out)
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(sets(SetsBy::Commit), (words(&["0123456789ab", "4f1c2d9a7b30-dirty"]), 1));
    assert_eq!(sets(SetsBy::Tag), (words(&["nightly", "smoke"]), 1));
    // A run with both tags is on neither side, and no change is told between sets that may share runs.
    let trends = bench.app().stats().trends(&request(SetsBy::Tag, "")).unwrap();
    assert_eq!((trends.looked_at, trends.groups[0].points.len()), (0, 2));
    let is_compared =
        |group: &touchstone_api::TrendGroup| group.points.iter().any(|it| it.change.is_some());
    assert!(!trends.groups.iter().any(is_compared), "{trends:?}");
    let changes = bench.app().stats().set_changes(&ChangesRequest {
        trend: request(SetsBy::Tag, ""),
        before: Some("nightly".to_owned()),
        after: Some("smoke".to_owned()),
    });
    let changes = changes.unwrap().unwrap();
    let sides = [&changes.before, &changes.after].map(|side| (side.runs, side.in_both));
    assert_eq!(sides, [(0, 1), (1, 1)]);
    assert_eq!(paths(&bench, "commit:*-dirty"), [path(2, "a")]);
    assert_eq!(paths(&bench, "-tag:smoke"), [path(1, "b")]);
    let facets = bench.app().runs().facets().unwrap();
    let values = |key: &str| {
        let facet = facets.keys.iter().find(|facet| facet.key == key).unwrap();
        facet.values.iter().map(|one| (one.value.clone(), one.count)).collect::<Vec<_>>()
    };
    let value = |value: &str, count| (value.to_owned(), Some(count));
    assert_eq!(values("tag"), [value("smoke", 2), value("nightly", 1)]);
    assert_eq!(values("commit"), [value("0123456789ab", 1), value("4f1c2d9a7b30-dirty", 1)]);
    // The tags of a suite are those of its runs at once.
    bench.write("tasks/b.yaml", "tags: [new]\ntool_calling_prompt: Count.\nexpected_output: 7\n");
    wait_until("the suite is read", || (paths(&bench, "tag:new") == [path(1, "b")]).then_some(()));
}

#[test]
fn a_report_has_the_trend_of_several_sets() {
    let bench = bench();
    let report = |format, by, filter: &str| {
        let filter = filter.to_owned();
        let request = ReportRequest { sets: by, filter, ..ReportRequest::for_format(format) };
        bench.app().reports().make_report(&request, true).unwrap().text
    };
    let markdown = report(ReportFormat::Markdown, None, "");
    assert!(markdown.contains("\n## Trend\n\n2 sets of runs, one for each day,"), "{markdown}");
    let row = markdown.lines().find(|line| line.starts_with("| 1970-01-02 |")).unwrap();
    assert!(row.starts_with("| 1970-01-02 | 8 | 7 | 1 | 0.86 ("), "{row}");
    assert!(row.contains("no difference shown, −0.14") && row.contains("fails: a"), "{row}");
    let html = report(ReportFormat::Html, None, "");
    assert!(html.contains("<h2>Trend</h2>") && html.contains("Mean score over sets of runs"));
    let json: serde_json::Value =
        serde_json::from_str(&report(ReportFormat::Json, Some(SetsBy::File), "")).unwrap();
    assert_eq!(
        (&json["trend"]["by"], json["trend"]["sets"].as_array().unwrap().len()),
        (&"file".into(), 16)
    );
    for one in [
        report(ReportFormat::Markdown, None, FIRST),
        report(ReportFormat::Markdown, Some(SetsBy::Commit), ""),
    ] {
        assert!(!one.contains("## Trend"), "{one}");
    }
}

#[test]
fn an_invalid_filter_has_no_runs_and_its_reason() {
    let bench = bench();
    let history = bench.app().stats().history(&request(SetsBy::Day, "modle:o1")).unwrap();
    assert_eq!((history.trends.sets.len(), history.misread.len()), (0, 1));
    assert!(bench.app().stats().trends(&request(SetsBy::Day, "modle:o1")).is_err());
}

#[test]
fn what_changed_is_told_by_task_with_the_runs_that_show_it() {
    let bench = bench();
    let asked = |before: Option<&str>, after: Option<&str>| ChangesRequest {
        trend: request(SetsBy::Day, ""),
        before: before.map(str::to_owned),
        after: after.map(str::to_owned),
    };
    let changes = bench.app().stats().set_changes(&asked(None, None)).unwrap().unwrap();
    assert_eq!((changes.before.name.as_str(), changes.after.name.as_str()), (DAYS[0], DAYS[1]));
    let tasks = &changes.groups[0].tasks;
    assert_eq!(
        tasks.iter().map(|task| (task.name.as_str(), task.change)).collect::<Vec<_>>(),
        [("a #0", GateChange::Failed), ("b #0", GateChange::Errors)]
    );
    let id = |day| bench.row(&path(day, "a")).unwrap().id;
    assert_eq!(tasks[0].compare, Some([id(1), id(2)]));
    let listed = paths(&bench, &format!("{} {}", changes.groups[0].filter, tasks[0].filter));
    assert_eq!(listed.len(), 2, "{listed:?}");
    let back =
        bench.app().stats().set_changes(&asked(Some(DAYS[1]), Some(DAYS[0]))).unwrap().unwrap();
    assert_eq!(back.groups[0].tasks[0].change, GateChange::Fixed);
    assert_eq!(bench.app().stats().set_changes(&asked(None, Some(DAYS[0]))).unwrap(), None);
    assert!(
        bench
            .app()
            .stats()
            .set_changes(&asked(Some("1970-01-03"), None))
            .unwrap_err()
            .hint
            .is_some()
    );
}

#[test]
fn a_baseline_is_that_of_the_gate_and_is_never_replaced_unasked() {
    let bench = bench();
    let app = bench.app();
    let none = app.reports().baseline().unwrap();
    assert_eq!((none.exists, none.gate.is_some()), (false, false));
    let saved = app.reports().save_baseline(Some(FIRST), None, false).unwrap();
    assert_eq!((saved.runs, saved.scored, saved.filter.as_str()), (8, 8, FIRST));
    let path = bench.path("touchstone-baseline.json");
    assert_eq!(saved.path, path.display().to_string());
    let written = fs::read_to_string(&path).unwrap();
    assert!(app.reports().save_baseline(None, None, false).unwrap_err().hint.is_some());
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    let view = app.reports().baseline().unwrap();
    let gate = view.gate.unwrap();
    assert_eq!(gate, app.reports().gate(&path, &GateRules::default()).unwrap());
    assert!(gate.passed && view.markdown.contains("gate passed"), "{}", view.markdown);
    let changes = view.changes.unwrap();
    assert_eq!((changes.before.runs, changes.groups[0].tasks.len()), (8, 0));
    // The filter of the file stays unless another one is given.
    assert_eq!(app.reports().save_baseline(None, None, true).unwrap().filter, FIRST);
    assert_eq!(
        app.reports().save_baseline(Some("started:1970-01-02"), None, true).unwrap().scored,
        7
    );
    fs::write(&path, "{").unwrap();
    assert!(
        app.reports().baseline().unwrap().trouble.unwrap().contains("The baseline cannot be read")
    );
}

/// Returns the record of a run on a day of March 2025.
fn ran_on(day: u32) -> String {
    let at = |minute: u32| format!("'2025-03-0{day}T12:0{minute}:00.000Z'");
    format!("run: {{started: {}, finished: {}}}\n", at(0), at(1))
}

#[test]
fn a_transcript_is_in_the_set_of_the_day_that_it_names_whatever_the_time_of_its_file() {
    let text = transcript(7) + &ran_on(1);
    let bench = Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n")
        .file("tasks/a.yaml", "tool_calling_prompt: Count.\nexpected_output: 7\n")
        .file(&format!("results/{}", path(1, "a")), text)
        .open();
    wait_until("the run is listed", || bench.row(&path(1, "a")).map(drop));
    let sets = bench.app().stats().history(&request(SetsBy::Day, "")).unwrap().trends.sets;
    assert_eq!(sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>(), ["2025-03-01"]);
    assert_eq!(paths(&bench, "started:2025-03-01"), [path(1, "a")]);
}

#[test]
fn what_changed_is_told_as_strictly_as_in_the_trends_above_it() {
    let mut bench = Bench::new().file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n");
    for (at, task) in TASKS.iter().enumerate() {
        let suite = "tool_calling_prompt: Count.\nexpected_output: 7\n";
        bench = bench.file(&format!("tasks/{task}.yaml"), suite);
        for day in 1..=3_u32 {
            // Six of eight fail on the last day: p = 2 / 2^6 = 0.031.
            let answer = if day == 3 && at < 6 { 8 } else { 7 };
            let text = transcript(answer) + &ran_on(day);
            bench = bench.file(&format!("results/{}", path(day, task)), text);
        }
    }
    let bench = bench.open();
    let scored = || bench.rows().iter().filter(|row| row.score.is_some()).count();
    wait_until("the runs are scored", || (scored() == 24).then_some(()));
    let trend = request(SetsBy::Day, "");
    let trends = bench.app().stats().trends(&trend).unwrap();
    let step = trends.groups[0].points[2].change.as_ref().unwrap();
    let asked = ChangesRequest { trend, before: None, after: None };
    let group = bench.app().stats().set_changes(&asked).unwrap().unwrap().groups.remove(0);
    assert_eq!((step.shown, group.score.unwrap().shown), ("unclear", "unclear"));
    assert!(!group.worse.iter().any(|sentence| sentence.contains("worse")), "{:?}", group.worse);
}
