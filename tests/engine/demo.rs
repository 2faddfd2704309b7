//! Tests of the sample data: it opens as a copy, the installed folder is never written to, and no
//! data of the user is lost.
use crate::bench::{Bench, DEADLINE, answered, beside_the_project, rows};
use fs_err as fs;
use fs_err::os::unix::fs::symlink;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use touchstone_api::{
    FailuresRequest, LeaderboardRequest, OverviewRequest, OverviewView, ReportFormat,
    ReportRequest, RowGroup, Span, StatsRequest,
};
use touchstone_app::App;
use touchstone_app::error::Code;

/// A bench whose folder holds a small sample.
fn sample() -> Bench {
    Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n")
        .file("tasks/t.yaml", "tool_calling_prompt: hello\n")
        .file("data/a.db", [0_u8, 1, 2])
        .answered("results/one.yaml", "One")
        .file("make.py", "print()")
}

fn open(bench: &Bench) -> App {
    let app = bench.app_with(Some(bench.path("")));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    app
}

/// Returns every file with its time and content.
fn files(folder: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(
                self::files(&path).into_iter().map(|(below, file)| (path.join(below), file)),
            );
        } else {
            files.insert(
                path.clone(),
                (fs::metadata(&path).unwrap().modified().unwrap(), fs::read(&path).unwrap()),
            );
        }
    }
    files
        .into_iter()
        .map(|(path, file)| (path.strip_prefix(folder).unwrap_or(&path).to_owned(), file))
        .collect()
}

fn says(bench: &Bench, path: &str) -> String {
    fs::read_to_string(bench.state().join("demo").join(path))
        .unwrap_or_else(|_| "nothing".to_owned())
}

#[test]
fn the_sample_opens_as_a_copy_with_the_same_times_and_the_installed_one_stays_as_it_is() {
    let bench = sample();
    let before = files(&bench.path(""));
    let app = open(&bench);
    let folder = app.folder().status().folder.unwrap();
    assert_eq!(Path::new(&folder.path), bench.state().join("demo").canonicalize().unwrap());
    assert!(folder.demo, "the copy is the demo");
    assert!(
        app.folder().folders(false, true).recent.is_empty(),
        "it is not among the recent folders"
    );
    assert_eq!(rows(&app).len(), 1);
    fs::write(bench.state().join("demo/results/mine.yaml"), answered("Mine")).unwrap();
    assert_eq!(files(&bench.path("")), before);
    let mut copied = files(&bench.state().join("demo"));
    copied.remove(Path::new("results/mine.yaml")).unwrap();
    let mut expected = before;
    expected.remove(Path::new("make.py")).unwrap();
    assert_eq!(copied, expected);
}

#[test]
fn a_copy_without_results_of_its_own_becomes_like_a_sample_that_has_changed() {
    let bench = sample();
    open(&bench);
    bench.write("tasks/t.yaml", "tool_calling_prompt: changed\n");
    bench.write("results/two.yaml", "two");
    bench.remove("results/one.yaml");
    open(&bench);
    assert_eq!(says(&bench, "tasks/t.yaml"), "tool_calling_prompt: changed\n");
    assert_eq!(
        (says(&bench, "results/one.yaml").as_str(), says(&bench, "results/two.yaml").as_str()),
        ("nothing", "two")
    );
}

#[test]
fn a_copy_with_results_of_its_own_keeps_everything_and_gets_only_what_is_missing() {
    let bench = sample();
    open(&bench);
    fs::write(bench.state().join("demo/results/mine.yaml"), "mine").unwrap();
    for round in ["changed", "again"] {
        bench.write("tasks/t.yaml", format!("tool_calling_prompt: {round}\n"));
        bench.write("results/two.yaml", "two");
        if round == "again" {
            bench.remove("results/one.yaml");
        }
        open(&bench);
        assert_eq!(says(&bench, "tasks/t.yaml"), "tool_calling_prompt: hello\n");
        assert_eq!(
            (says(&bench, "results/mine.yaml").as_str(), says(&bench, "results/two.yaml").as_str()),
            ("mine", "two")
        );
        assert!(says(&bench, "results/one.yaml").contains("One"));
    }
    // Without own results, the copy follows the sample again.
    fs::remove_file(bench.state().join("demo/results/mine.yaml")).unwrap();
    bench.write("tasks/t.yaml", "tool_calling_prompt: at last\n");
    open(&bench);
    assert_eq!(says(&bench, "tasks/t.yaml"), "tool_calling_prompt: at last\n");
    assert_eq!(says(&bench, "results/one.yaml"), "nothing");
}

#[test]
fn a_copy_that_was_not_finished_is_finished_and_what_was_changed_in_it_stays() {
    let bench = sample();
    let copy = bench.state().join("demo");
    // Simulates a kill after one file was copied and half of another was written.
    fs::create_dir_all(copy.join("results")).unwrap();
    fs::write(bench.state().join("demo.part"), "half of a fi").unwrap();
    fs::write(copy.join("touchstone.yaml"), "output_dir: results\n").unwrap();
    open(&bench);
    assert_eq!(says(&bench, "touchstone.yaml"), "output_dir: results\n");
    assert_eq!(fs::read(copy.join("data/a.db")).unwrap(), [0, 1, 2]);
    assert!(says(&bench, "results/one.yaml").contains("One"));
}

#[test]
fn no_link_of_the_sample_is_followed() {
    let bench = sample();
    let secret = bench.state().with_file_name("secret");
    fs::create_dir_all(&secret).unwrap();
    fs::write(secret.join("key.yaml"), "secret").unwrap();
    symlink(secret.join("key.yaml"), bench.path("results/key.yaml")).unwrap();
    symlink(&secret, bench.path("results/folder")).unwrap();
    open(&bench);
    let copied: Vec<_> = files(&bench.state().join("demo")).into_keys().collect();
    assert!(copied.iter().all(|path| !path.to_string_lossy().contains("key")), "{copied:?}");
    assert_eq!(copied.len(), 4);
}

#[test]
fn what_a_link_in_the_copy_leads_to_is_not_written_to() {
    let bench = sample();
    let elsewhere = bench.state().with_file_name("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("one.yaml"), "precious").unwrap();
    fs::create_dir_all(bench.state().join("demo/data")).unwrap();
    symlink(&elsewhere, bench.state().join("demo/results")).unwrap();
    symlink(elsewhere.join("one.yaml"), bench.state().join("demo/data/a.db")).unwrap();
    open(&bench);
    assert_eq!(fs::read_to_string(elsewhere.join("one.yaml")).unwrap(), "precious");
    assert!(fs::symlink_metadata(bench.state().join("demo/data/a.db")).unwrap().is_symlink());
    assert_eq!(says(&bench, "tasks/t.yaml"), "tool_calling_prompt: hello\n");
}

#[test]
fn opened_again_the_copy_is_the_same_files_so_that_nothing_is_read_twice() {
    let bench = sample();
    open(&bench);
    let before = files(&bench.state().join("demo"));
    let inode = |path: &str| {
        std::os::unix::fs::MetadataExt::ino(
            &fs::metadata(bench.state().join("demo").join(path)).unwrap(),
        )
    };
    let first = inode("results/one.yaml");
    open(&bench);
    assert_eq!((files(&bench.state().join("demo")), inode("results/one.yaml")), (before, first));
}

#[test]
fn a_sample_that_is_not_there_and_a_state_folder_that_cannot_be_written_to_are_said() {
    let bench = Bench::new();
    let none = bench.app_with(Some(bench.path("nowhere"))).folder().open_demo().unwrap_err();
    assert_eq!(none.code, Code::NotFound);
    fs::write(bench.state(), "a file where the folder should be").unwrap();
    let full = bench.app_with(Some(bench.path(""))).folder().open_demo().unwrap_err();
    assert!(
        full.message.starts_with("The sample data could not be copied: ") && full.hint.is_some(),
        "{full}"
    );
}

#[test]
fn the_sample_that_comes_with_the_program_opens_whole() {
    let bench = Bench::new();
    let app = bench.app_with(Some(beside_the_project("demo")));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let counts = app.folder().status().counts;
    assert_eq!((counts.runs, counts.tasks, counts.damaged, counts.other_files), (70, 6, 0, 0));
    assert_eq!(counts.suite_problems, 0);
}

#[test]
fn a_judge_of_the_sample_agrees_with_its_reviewer_to_some_degree_and_no_verdict_is_outdated() {
    let bench = Bench::new();
    let app = bench.app_with(Some(beside_the_project("demo")));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let trust = app.reviews().trust("").unwrap();
    let judge = trust.raters.iter().find(|rater| rater.name.contains("invented-judge")).unwrap();
    // An outdated verdict means that demo/make/judged.tsv has to be made again.
    assert_eq!((judge.stale, judge.unread, trust.unreadable), (0, 0, 0), "{judge:?}");
    assert!(judge.reviewed >= 20, "{judge:?}");
    let pair = trust.pairs.iter().find(|pair| pair.first.id == "people" && pair.second == *judge);
    let kappa = pair.unwrap().kappa.unwrap();
    assert!((0.2..0.95).contains(&kappa), "{pair:?}");
}

#[test]
fn what_the_reviewer_of_the_sample_says_of_a_missing_call_is_what_the_transcript_shows() {
    let bench = Bench::new();
    let app = bench.app_with(Some(beside_the_project("demo")));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let request = FailuresRequest::default();
    let (map, _) = app.failures().whole_map(&request, false, &|_, _| ()).unwrap();
    let missing = map.clusters.iter().filter(|cluster| cluster.mode == "never_called");
    let examples: Vec<_> = missing
        .flat_map(|cluster| {
            cluster.examples.iter().map(|example| (cluster.subject.as_str(), example))
        })
        .collect();
    assert!(!examples.is_empty(), "{:?}", map.clusters);
    for (tool, example) in examples {
        let note = &example.review.as_ref().unwrap().note;
        assert!(
            tool == "query_support_tickets" && note.contains("never looked at the tickets"),
            "{note}"
        );
    }
}

/// Returns the headline of the page: its answer, which system to choose, and how the answer is known.
fn headline_of_page(app: &App, filter: &str, scorer: Option<&str>) -> Vec<String> {
    let (filter, scorer) = (filter.to_owned(), scorer.map(str::to_owned));
    let overview = OverviewRequest {
        filter: filter.clone(),
        scorer: scorer.clone(),
        folded: true,
        except: Vec::new(),
        find: None,
        view: OverviewView::default(),
        span: Span { offset: 0, limit: 1 },
    };
    let mut headline = app.stats().overview(&overview).unwrap().headline;
    let board = app.stats().leaderboard(&LeaderboardRequest { filter, scorer }).unwrap();
    assert!(board.rows.is_sorted_by_key(|row| row.group));
    assert!(board.rows.iter().all(|row| row.group != RowGroup::Uncompared));
    let after_answer = headline.len().min(1);
    headline.splice(after_answer..after_answer, board.choice);
    headline
}

#[test]
fn page_report_and_statistics_say_the_same_of_the_same_runs() {
    let bench = Bench::new();
    let app = bench.app_with(Some(beside_the_project("demo")));
    app.folder().open_demo().unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    let mut answers = Vec::new();
    for (name, scorer) in [("", None), ("-system:promptql", None), ("", Some("fields"))] {
        let said = headline_of_page(&app, name, scorer);
        let (filter, scorer) = (name.to_owned(), scorer.map(str::to_owned));
        let request =
            StatsRequest { filter: filter.clone(), scorer: scorer.clone(), baseline: None };
        assert_eq!(app.stats().systems(&request).unwrap().headline, said, "{name} {scorer:?}");
        for format in [ReportFormat::Json, ReportFormat::Markdown, ReportFormat::Html] {
            let request = ReportRequest {
                filter: filter.clone(),
                scorer: scorer.clone(),
                ..ReportRequest::for_format(format)
            };
            let text = app.reports().make_report(&request, true).unwrap().text;
            if format == ReportFormat::Json {
                let report: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(report["headline"], serde_json::json!(said));
            } else {
                let text = text.replace('\\', "");
                assert!(said.iter().all(|sentence| text.contains(sentence)), "{said:?}\n{text}");
            }
        }
        answers.extend(said.into_iter().take(2));
    }
    assert!(answers[0].contains(" runs)") && answers[1].starts_with("Of those "), "{answers:?}");
}
