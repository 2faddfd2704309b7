//! Tests of `trend`: sets of runs in order, with the changes between them.
use crate::sandbox::{ANSWERED, Sandbox};
use std::time::{Duration, UNIX_EPOCH};

const TASK: &str = "tool_calling_prompt: List the tickets.\nvariations:\n  - expected_output: [{ ticket_id: 7 }]\n";
const WRONG: &str = "conversation:\n  - user_message: List them.\n  - assistant_message: Here.\nanswer:\n  - ticket_id: 8\n";
const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// Creates a folder with eight runs on each of three days, of which this many are right.
fn days(name: &str, right: [usize; 3]) -> Sandbox {
    let mut files: Vec<(String, &str)> =
        NAMES.iter().map(|task| (format!("tasks/{task}.yaml"), TASK)).collect();
    for (day, right) in (1..).zip(right) {
        files.extend(
            NAMES
                .iter()
                .enumerate()
                .map(|(at, task)| (run(task, day), if at < right { ANSWERED } else { WRONG })),
        );
    }
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let sandbox = Sandbox::with(name, &files);
    for day in 1..=3 {
        for task in NAMES {
            let file =
                std::fs::OpenOptions::new().append(true).open(sandbox.folder.join(run(task, day)));
            let noon = UNIX_EPOCH + Duration::from_hours(u64::from(day) * 24 - 12);
            file.unwrap().set_modified(noon).unwrap();
        }
    }
    sandbox
}

fn run(task: &str, day: u32) -> String {
    let repeat = if day == 1 { String::new() } else { format!("-run{day}") };
    format!("results/{task}-tool_calling-claude-variation0{repeat}.yaml")
}

#[test]
fn a_drop_is_named_in_its_set_and_noise_is_not_a_change() {
    let sandbox = days("trend-drop", [8, 7, 0]);
    let ran = sandbox.run(&["trend"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let row = |set: &str| {
        let row = ran.out.lines().find(|line| line.trim_start().starts_with(set));
        row.unwrap_or_else(|| panic!("{set}: {}", ran.out)).to_owned()
    };
    assert!(
        row("1970-01-01").contains("1.000") && row("1970-01-01").contains("8/8"),
        "{}",
        ran.out
    );
    assert!(row("1970-01-02").contains("no difference shown"), "{}", ran.out);
    assert!(row("1970-01-02").contains("fails: h #0"), "{}", ran.out);
    // Seven tasks are too few for one of five comparisons (p = 2 / 2^7), and eight are enough.
    assert!(row("1970-01-03").contains("no difference shown, −0.875"), "{}", ran.out);
    assert!(row("1970-01-03").contains("fails: a #0, b #0, c #0 and 4 more"), "{}", ran.out);
    assert!(ran.out.contains("Since the first set: worse, −1.000"), "{}", ran.out);
    assert!(ran.out.contains("Change point at 1970-01-03: worse, −0.938"), "{}", ran.out);
    let document = &sandbox.run(&["trend", "--json"]).json()[0];
    let points = document["groups"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), 3);
    assert_eq!(points[0]["change"], serde_json::Value::Null);
    assert_eq!(points[2]["change_point"]["shown"], "worse");
    assert_eq!(points[2]["change"]["failed"].as_array().unwrap().len(), 7);
}

#[test]
fn sets_can_be_commits_and_tags_and_those_without_are_counted() {
    let at =
        |commit: &str| ANSWERED.to_owned() + &format!("run: {{ commit: {commit}, tags: [a] }}\n");
    let sandbox = Sandbox::with(
        "trend-commits",
        &[
            ("tasks/a.yaml", TASK),
            (&run("a", 1), &at("f00d")),
            (&run("a", 2), &at("beef-dirty")),
            (&run("a", 3), ANSWERED),
        ],
    );
    let ran = sandbox.run(&["trend", "--by", "commit"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("\n  f00d ") && ran.out.contains("\n  beef-dirty "), "{}", ran.out);
    assert!(
        ran.out.contains("In no set, because their files name no commit: 1 run."),
        "{}",
        ran.out
    );
    let document = &sandbox.run(&["trend", "--by", "tag", "--json"]).json()[0];
    assert_eq!(document["sets"][0]["name"], "a");
    assert_eq!((&document["sets"][0]["runs"], &document["left_out"]), (&2.into(), &1.into()));
    let listed = sandbox.run(&["list", "--json", "--filter", "commit:beef*"]).json();
    assert_eq!(listed.len(), 1);
    let report = sandbox.run(&["report", "--format", "md", "--sets", "commit", "--out", "-"]);
    assert!(report.out.contains("one for each commit"), "{}", report.out);
}

#[test]
fn what_changed_between_two_sets_is_told_in_the_words_of_a_gate() {
    let sandbox = days("trend-changes", [8, 7, 0]);
    let ran = sandbox.run(&["trend", "--before", "1970-01-01", "--after", "1970-01-02"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.out.starts_with("1970-01-02 (8 runs), compared with 1970-01-01 (8 runs).\n"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("fails 1 task that passed: h #0."), "{}", ran.out);
    let document = &sandbox.run(&["trend", "--json", "--after", "1970-01-03"]).json()[0];
    let group = &document["groups"][0];
    assert_eq!(group["score"]["shown"], "unclear", "as in the trends");
    assert_eq!(group["tasks"].as_array().unwrap().len(), 7);
    let unknown = sandbox.run(&["trend", "--before", "1999-01-01"]);
    assert_eq!(unknown.status, 2, "{unknown:?}");
    assert!(unknown.err.contains("There is no set 1999-01-01."), "{}", unknown.err);
}

#[test]
fn runs_can_be_grouped_by_time_and_by_file_and_some_are_in_no_set() {
    let sandbox = days("trend-by", [8, 8, 8]);
    let sets = |by: &str| {
        let document = &sandbox.run(&["trend", "--json", "--by", by]).json()[0];
        document["sets"].as_array().unwrap().len()
    };
    assert_eq!(["day", "week", "month", "file"].map(sets), [3, 1, 1, 24]);
    let flat = Sandbox::usual("trend-flat");
    let ran = flat.run(&["trend", "--by", "folder"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("No run is in a set.") && ran.out.contains("4 runs"), "{ran:?}");
}
