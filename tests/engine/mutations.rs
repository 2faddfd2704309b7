//! Tests that a recognised file never vanishes: damaged in any way, it is a run, a row with the
//! reason, or a problem.
use crate::bench::{Bench, answered, beside_the_project};
use fs_err as fs;
use std::path::{Path, PathBuf};
use touchstone_api::{Problem, Review, RunState, Span, TaskRequest, Verdict};

/// Number of mutants of each file.
const EACH: u64 = 24;

/// Pseudorandom generator with a fixed sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (most.max(1) as u64)).unwrap()
    }

    /// Returns the bytes with one to three mutations.
    fn break_up(&mut self, bytes: &[u8]) -> Vec<u8> {
        const SIGNS: &[u8] = b"{}[]\",:-\\'x0 \n\t\xff\0#&*!|>%@`";
        let mut broken = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(broken.len());
            let sign = SIGNS[self.below(SIGNS.len())];
            match self.below(7) {
                0 => broken.truncate(at),
                1 if !broken.is_empty() => broken[at] = sign,
                2 => broken.insert(at, sign),
                3 if !broken.is_empty() => drop(broken.remove(at)),
                4 => {
                    // Remove a piece.
                    let end = (at + 1 + self.below(40)).min(broken.len());
                    broken.drain(at.min(end)..end);
                }
                5 => {
                    // Replace a bracket by another.
                    let brackets: Vec<usize> =
                        (0..broken.len()).filter(|at| b"{}[]".contains(&broken[*at])).collect();
                    if let Some(at) = brackets.get(self.below(brackets.len())) {
                        broken[*at] = b"{}[]"[self.below(4)];
                    }
                }
                _ => {
                    // Make a value unreadable.
                    let colons: Vec<usize> =
                        (0..broken.len()).filter(|at| broken[*at] == b':').collect();
                    if let Some(at) = colons.get(self.below(colons.len())) {
                        broken.splice(at + 1..=*at, *b" oops");
                    }
                }
            }
        }
        broken
    }
}

/// Returns every file below a folder of the fixtures.
fn files(below: &str) -> Vec<PathBuf> {
    let (mut dirs, mut files) =
        (vec![beside_the_project(&format!("tests/fixtures/{below}"))], Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// Returns all problems, across pages.
fn all_problems(bench: &Bench) -> Vec<Problem> {
    let mut all = Vec::new();
    loop {
        let offset = u32::try_from(all.len()).unwrap();
        let page = bench.app().folder().problems(Span { offset, limit: 200 }).unwrap().problems;
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

fn put(bench: &Bench, path: &str, bytes: &[u8]) {
    bench.write(path, bytes);
    bench.age(path);
}

#[test]
fn a_result_file_of_any_form_that_is_broken_anyhow_leaves_a_row_with_a_reason() {
    let bench = Bench::new();
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let forms = [
        "benchmark/results",
        "stabletoolbench/answers",
        "stabletoolbench/results",
        "azure",
        "evaluate",
        "transcripts",
    ];
    let all: Vec<PathBuf> = forms.iter().flat_map(|below| files(below)).collect();
    let mut mutants = Vec::new();
    for file in &all {
        let bytes = fs::read(file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy();
        for turn in 0..EACH {
            let dir = format!("m{}", mutants.len());
            // The unmodified file comes first.
            let broken = if turn == 0 { bytes.clone() } else { chance.break_up(&bytes) };
            put(&bench, &format!("results/{dir}/{name}"), &broken);
            mutants.push((dir, name.to_string(), broken));
        }
    }
    let known = [
        (
            "no results",
            r#"{"metadata": {"agent_name": "x", "test_set": "G2_category"}, "results": oops}"#,
        ),
        ("no list", r#"{"metadata": {"agent_name": "x", "test_set": "G2_category"}}"#),
        ("empty", r#"{"metadata": {"agent_name": "x", "test_set": "G2_category"}, "results": []}"#),
    ];
    for (what, text) in known {
        let dir = format!("m{}", mutants.len());
        put(&bench, &format!("results/{dir}/file.json"), text.as_bytes());
        mutants.push((dir, what.to_owned(), text.into()));
    }
    let bench = bench.open();
    let (rows, problems) = (bench.rows(), all_problems(&bench));
    for (dir, name, broken) in &mutants {
        let mine: Vec<_> =
            rows.iter().filter(|row| row.path.starts_with(&format!("{dir}/"))).collect();
        let told = problems.iter().any(|problem| problem.file.contains(&format!("/{dir}/")));
        let text = String::from_utf8_lossy(broken);
        assert!(!mine.is_empty() || told, "{name} vanished: {text}");
        for row in mine {
            let reason = row.reason.as_deref().unwrap_or_default();
            assert!(!reason.contains("crashed the reader"), "{name} crashed its reader: {text}");
            if matches!(row.state, RunState::Damaged | RunState::Other) {
                assert!(!reason.is_empty(), "{name} is {:?} and says not why: {text}", row.state);
            }
        }
    }
}

#[test]
fn results_beside_metadata_that_cannot_be_read_are_shown_and_the_damage_is_a_row() {
    let text = r#"{"metadata": {"agent_name": oops, "test_set": "G2_category"}, "results": [{"query_id": "7", "answer_status": "Solved"}]}"#;
    let cut = r#"{"metadata": {"agent_name": "x", "test_set": "G2_category"}, "results": [{"query_id": "7", "answer_status": "Solved"}]"#;
    let bench = Bench::new().file("results/a.json", text).file("results/b.json", cut).open();
    let rows = bench.rows();
    for file in ["a.json", "b.json"] {
        assert!(rows.iter().any(|row| row.path == format!("{file}#7")), "{rows:?}");
        let damaged = rows.iter().find(|row| row.path == file).unwrap();
        assert_eq!(damaged.state, RunState::Damaged);
        assert!(damaged.reason.as_ref().is_some_and(|why| !why.is_empty()), "{damaged:?}");
    }
    // A repaired file leaves no problem behind.
    bench.put("results/a.json", text.replace("oops", "\"x\""));
    crate::bench::wait_until("the damage is gone", || bench.row("a.json").is_none().then_some(()));
    assert!(bench.row("a.json#7").is_some());
}

#[test]
fn a_suite_that_is_broken_anyhow_is_a_task_or_a_problem() {
    let bench = Bench::new();
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let is_suite =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let all: Vec<PathBuf> = ["suites", "benchmark/queries"]
        .iter()
        .flat_map(|below| files(below))
        .filter(is_suite)
        .collect();
    let mut mutants = Vec::new();
    for file in &all {
        let bytes = fs::read(file).unwrap();
        for _ in 0..EACH {
            let (dir, broken) = (format!("m{}", mutants.len()), chance.break_up(&bytes));
            put(&bench, &format!("tasks/{dir}/suite.yaml"), &broken);
            mutants.push((dir, broken));
        }
    }
    let bench = bench.open();
    let request = |offset| TaskRequest {
        words: String::new(),
        set: None,
        category: None,
        span: Span { offset, limit: 200 },
    };
    let pages =
        (0..20).map(|page| bench.app().suites().list_tasks(request(page * 200)).unwrap().rows);
    let tasks: Vec<_> = pages.flatten().collect();
    let problems = all_problems(&bench);
    for (dir, broken) in &mutants {
        let is_task = tasks.iter().any(|task| task.id.starts_with(&format!("{dir}/")));
        let told = problems.iter().any(|problem| problem.file.contains(&format!("/{dir}/")));
        assert!(is_task || told, "vanished: {}", String::from_utf8_lossy(broken));
    }
}

#[test]
fn a_review_that_is_broken_anyhow_counts_or_is_a_problem() {
    let bench = Bench::new().answered("results/a.yaml", "Fine").open();
    let id = bench.row("a.yaml").unwrap().id;
    let said = Review {
        verdict: Some(Verdict::Partly),
        score: Some(0.5),
        note: "Nearly: \"12\" is missing.".to_owned(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    };
    bench.app().reviews().review_run(&id, Some(&said)).unwrap();
    let text = fs::read(bench.path("results/.touchstone/reviews/a.yaml")).unwrap();
    let bench = bench.close();
    let mut chance = Chance(0x1234_5678_9abc_def1);
    let names: Vec<String> = (0..80).map(|n| format!("r{n}.yaml")).collect();
    for name in &names {
        put(&bench, &format!("results/{name}"), answered("Fine").as_bytes());
        put(&bench, &format!("results/.touchstone/reviews/{name}"), &chance.break_up(&text));
    }
    let bench = bench.open();
    let (rows, problems) = (bench.rows(), all_problems(&bench));
    for name in &names {
        let row = rows.iter().find(|row| row.path == *name).unwrap();
        let told = problems.iter().any(|problem| {
            Path::new(&problem.file).file_name().is_some_and(|file| file == name.as_str())
        });
        let text = fs::read(bench.path(&format!("results/.touchstone/reviews/{name}"))).unwrap();
        // A broken name makes it the review of another person.
        let reviews = bench.app().reviews().reviews_of(&row.id, None).unwrap();
        assert!(
            reviews.own.is_some() || !reviews.others.is_empty() || told,
            "{name} vanished: {}",
            String::from_utf8_lossy(&text)
        );
    }
}
