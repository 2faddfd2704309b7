//! Tests of `gate`: a baseline is written, and later runs are compared with it.
use crate::sandbox::{ANSWERED, Ran, Sandbox};
use std::fs;

const TASK: &str = "tool_calling_prompt: List the tickets.\nvariations:\n  - expected_output: [{ ticket_id: 7 }]\n";
const WRONG: &str = "conversation:\n  - user_message: List them.\n  - assistant_message: Here.\nanswer:\n  - ticket_id: 8\n";
const FAILED: &str =
    "conversation:\n  - user_message: List them.\n  - error: the provider answered with 529\n";
/// Output when seven of eight tasks fail.
const WORSE: &str = "\
8 runs, compared with 8 of touchstone-baseline.json.

Violations
  tool_calling/claude is worse than before: 0.125, was 1.000 (difference −0.875, 95 % interval −1.000 to −0.500) on 8 tasks.
  tool_calling/claude fails 7 tasks that passed: a #0, b #0, c #0, d #0, e #0 and 2 more. One repeat each: chance may explain it.

Failed.
";
/// Summary when one of eight tasks fails.
const MARKDOWN: &str = "\
## Touchstone: ❌ gate failed

8 runs, compared with 8 of the baseline.

- tool\\_calling/claude fails 1 task that passed: a \\#0. One repeat each: chance may explain it.

| system | score | was | difference | 95 % interval | errors |
|---|--:|--:|--:|--:|--:|
| tool\\_calling/claude | 0.875 | 1.000 | −0.125 | −0.500 to 0.000 | 0 |

<details><summary>1 changed</summary>

| system | task | change |
|---|---|---|
| tool\\_calling/claude | a \\#0 | fails, passed before |

</details>

### Other changes

- tool\\_calling/claude shows no clear difference (p = 1.000): 0.875, was 1.000 (difference −0.125, 95 % interval −0.500 to 0.000) on 8 tasks.
";
/// Result as JUnit when one of eight tasks fails.
const JUNIT: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"gate\">
  <testsuite name=\"tool_calling/claude\" tests=\"9\" failures=\"2\" errors=\"0\">
    <testcase classname=\"tool_calling/claude\" name=\"requirements\"><failure message=\"\
tool_calling/claude fails 1 task that passed: a #0. One repeat each: chance may explain it.\"/></testcase>
    <testcase classname=\"tool_calling/claude\" name=\"a #0\"><failure message=\"fails, passed before\"/></testcase>
    <testcase classname=\"tool_calling/claude\" name=\"b #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"c #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"d #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"e #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"f #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"g #0\"/>
    <testcase classname=\"tool_calling/claude\" name=\"h #0\"/>
  </testsuite>
</testsuites>
";

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn run(task: &str) -> String {
    format!("results/{task}-tool_calling-claude-variation0.yaml")
}

/// A folder with eight tasks, and one right run of each; and its baseline.
fn baseline(name: &str) -> Sandbox {
    let files: Vec<(String, &str)> = NAMES
        .iter()
        .flat_map(|task| [(format!("tasks/{task}.yaml"), TASK), (run(task), ANSWERED)])
        .collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let sandbox = Sandbox::with(name, &files);
    let ran = sandbox.run(&["gate", "--update"]);
    assert_eq!(
        (ran.status, ran.out.as_str()),
        (0, "Wrote 8 runs to touchstone-baseline.json, 8 with a score.\n")
    );
    sandbox
}

fn replace(sandbox: &Sandbox, task: &str, text: &str) {
    fs::write(sandbox.folder.join(run(task)), text).unwrap();
}

#[test]
fn the_same_runs_pass_and_worse_ones_fail_with_their_tasks() {
    let sandbox = baseline("gate-worse");
    let ran = sandbox.run(&["gate"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.ends_with("\nPassed.\n"), "{ran:?}");
    for task in &NAMES[..7] {
        replace(&sandbox, task, WRONG);
    }
    let ran = sandbox.run(&["gate"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(ran.out, WORSE);
    let document = &sandbox.run(&["gate", "--json"]).json()[0];
    assert_eq!(document["passed"], false);
    let group = &document["groups"][0];
    assert_eq!(group["name"], "tool_calling/claude");
    let tasks = group["tasks"].as_array().unwrap();
    let failed = tasks.iter().filter(|task| task["changes"][0] == "failed").count();
    assert_eq!((tasks.len(), failed), (8, 7));
    assert!(group["high"].as_f64().unwrap() < 0.0, "{group}");
}

#[test]
fn an_error_is_a_missing_score_and_each_option_allows_what_it_names() {
    let sandbox = baseline("gate-options");
    replace(&sandbox, "a", FAILED);
    replace(&sandbox, "b", WRONG);
    let status = |options: &[&str]| sandbox.run(&[&["gate"], options].concat()).status;
    let ran = sandbox.run(&["gate"]);
    assert!(
        ran.out.contains("no score for 1 task that had one (1 ended in errors): a #0."),
        "{ran:?}"
    );
    assert!(ran.out.contains("fails 1 task that passed: b #0."), "{ran:?}");
    assert_eq!(status(&["--allow-missing"]), 1);
    assert_eq!(status(&["--new-failures", "1"]), 1);
    assert_eq!(status(&["--allow-missing", "--new-failures", "1"]), 0);
    assert_eq!(status(&["--allow-missing", "--new-failures", "1", "--fail-under", "0.9"]), 1);
    assert_eq!(status(&["--fail-under", "2"]), 2);
}

#[test]
fn thresholds_in_the_file_hold_and_are_kept_by_an_update() {
    let sandbox = baseline("gate-thresholds");
    let path = sandbox.folder.join("touchstone-baseline.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"thresholds\": {}", "\"thresholds\": {\"a\":0.5}")).unwrap();
    replace(&sandbox, "a", WRONG);
    let ran = sandbox.run(&["gate", "--new-failures", "1"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("scores 0.000 on a, below its threshold of 0.500."), "{ran:?}");
    assert_eq!(sandbox.run(&["gate", "--update"]).status, 0);
    assert!(fs::read_to_string(&path).unwrap().contains("\"thresholds\": {\"a\":0.5}"));
    assert_eq!(sandbox.run(&["gate"]).status, 1, "an update lowers no threshold");
}

#[test]
fn the_summaries_are_written_for_pull_requests_and_build_servers() {
    let sandbox = baseline("gate-summaries");
    replace(&sandbox, "a", WRONG);
    let ran = sandbox.run(&["gate", "--markdown", "-", "--junit", "gate.xml"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(ran.out, MARKDOWN);
    assert_eq!(fs::read_to_string(sandbox.folder.join("gate.xml")).unwrap(), JUNIT);
}

#[test]
fn a_missing_or_broken_baseline_is_an_error_with_the_next_step() {
    let sandbox = baseline("gate-broken");
    for (text, wanted) in [(None, "There is no baseline at"), (Some("{"), "cannot be read")] {
        let path = sandbox.folder.join("other.json");
        if let Some(text) = text {
            fs::write(&path, text).unwrap();
        }
        let ran = sandbox.run(&["gate", "--baseline", "other.json"]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(wanted) && ran.err.contains("--update"), "{ran:?}");
    }
    let ran = sandbox.run(&["gate", "--update", "--baseline", "results/base.json"]);
    assert_eq!(ran.status, 2, "a baseline among the runs would be read as one: {ran:?}");
}

#[test]
fn an_update_keeps_the_filter_and_refuses_runs_without_a_score() {
    let sandbox = baseline("gate-filter");
    let ran = sandbox.run(&["gate", "--update", "--filter", "task:a,b"]);
    let wrote = "Wrote 2 runs that match task:a,b to touchstone-baseline.json, 2 with a score.\n";
    assert_eq!(ran.out, wrote, "{ran:?}");
    assert_eq!(sandbox.run(&["gate", "--update"]).out, wrote, "the filter is that of the file");
    replace(&sandbox, "c", WRONG);
    assert_eq!(sandbox.run(&["gate"]).status, 0, "other tasks are not compared");
    replace(&sandbox, "a", FAILED);
    replace(&sandbox, "b", FAILED);
    let options = ["gate", "--allow-missing", "--fail-under", "0.5"];
    let ran = sandbox.run(&options);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("Nothing was compared"), "{ran:?}");
    let ran = sandbox.run(&["gate", "--update"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("touchstone score"), "{ran:?}");
}

#[test]
fn an_allowed_change_is_no_failure_in_any_form() {
    let sandbox = baseline("gate-allowed");
    replace(&sandbox, "a", FAILED);
    replace(&sandbox, "b", WRONG);
    let options = ["--allow-missing", "--new-failures", "1"];
    let run = |more: &[&str]| sandbox.run(&[&["gate"], &options[..], more].concat());
    let ran = run(&["--junit", "-"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("tests=\"9\" failures=\"0\" errors=\"0\""), "{ran:?}");
    let out = run(&[]).out;
    assert!(out.contains("fails 1 task that passed, which is allowed: b #0."), "{out}");
    assert!(out.contains("which is allowed (1 ended in errors): a #0."), "{out}");
}

#[test]
fn no_written_file_takes_the_place_of_the_baseline_or_another() {
    let sandbox = baseline("gate-paths");
    for options in [
        ["--markdown", "touchstone-baseline.json", "--junit", "a.xml"],
        ["--markdown", "a", "--junit", "./a"],
    ] {
        let ran = sandbox.run(&[&["gate"], &options[..]].concat());
        assert_eq!(ran.status, 2, "{ran:?}");
    }
    assert_eq!(sandbox.run(&["gate"]).status, 0, "the baseline is as it was");
}

#[test]
fn the_baseline_is_that_of_the_folder_and_else_that_of_the_working_directory() {
    let sandbox = baseline("gate-elsewhere");
    let folder = sandbox.folder.display().to_string();
    let from_root = || {
        let mut command = sandbox.command(&["gate", &folder]);
        Ran::from(command.current_dir(sandbox.root()).output().unwrap())
    };
    let of_folder = sandbox.folder.join("touchstone-baseline.json");
    let ran = from_root();
    assert!(ran.status == 0 && ran.out.contains(&of_folder.display().to_string()), "{ran:?}");
    fs::rename(&of_folder, sandbox.root().join("touchstone-baseline.json")).unwrap();
    let ran = from_root();
    assert!(ran.out.starts_with("8 runs, compared with 8 of touchstone-baseline.json"), "{ran:?}");
}
