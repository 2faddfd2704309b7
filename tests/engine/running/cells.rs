//! Tests of launches of overview cells: a cell stands for its existing and missing runs, and for no
//! others.
use super::run;
use super::stage::{ANSWER, says, workspace};
use crate::scripted::Scripted;
use touchstone_api::{Act, LaunchCell, LaunchRequest};

const TASK: &str = "tool_calling_prompt: How many {what}?\nrepeat: 2\nvariations:\n  - what: stones\n  - what: trees\n";
const BEGUN: &str = "conversation:\n- user_message: How many stones?\n";
const DONE: &str = "conversation:\n- user_message: How many trees?\n- assistant_message: 3\n\
    answer: 3\nrun: {finished: '2025-01-01T10:00:05Z', started: '2025-01-01T10:00:00Z'}\n";

fn cell(task: &str, variation: Option<u32>, system: &str, model: &str) -> LaunchCell {
    LaunchCell { task: task.into(), variation, system: system.into(), model: model.into() }
}

fn request(cells: Vec<LaunchCell>) -> LaunchRequest {
    LaunchRequest { cells, ..LaunchRequest::default() }
}

#[test]
fn a_cell_means_the_runs_it_has_where_they_are_and_those_it_lacks_and_each_but_once() {
    let server = Scripted::always(says(ANSWER));
    let strange = "results/count.yaml-tool_calling-scripted-variation0.yaml";
    let bench = super::folder_of(&workspace(&server, "", ""), TASK)
        .file(strange, BEGUN)
        .file("results/count-tool_calling-scripted-variation1.yaml", DONE)
        .file("results/count-tool_calling-o1-variation0.yaml", BEGUN)
        .open();
    let plan = |cells| {
        let plan = bench.app().launches().plan_launch(&request(cells)).unwrap();
        let rows = plan.owed.iter().chain(&plan.skipped);
        rows.map(|row| format!("{:?} {}", row.act, row.path)).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(plan(vec![cell("count", Some(0), "tool_calling", "scripted")]), @r"
    Continue count.yaml-tool_calling-scripted-variation0.yaml
    Start count-tool_calling-scripted-variation0-run2.yaml
    ");
    let whole = || {
        vec![
            cell("count", Some(1), "tool_calling", "scripted"),
            cell("count", None, "tool_calling", "scripted"),
        ]
    };
    insta::assert_snapshot!(plan(whole()), @r"
    Continue count.yaml-tool_calling-scripted-variation0.yaml
    Start count-tool_calling-scripted-variation0-run2.yaml
    Start count-tool_calling-scripted-variation1-run2.yaml
    Nothing count-tool_calling-scripted-variation1.yaml
    ");
    assert_eq!(run(&bench, &request(whole())).done, 3);
    let after = bench.app().launches().plan_launch(&request(whole())).unwrap();
    assert_eq!((after.owed_total, after.skipped_total), (0, 4));
    assert!(after.skipped.iter().all(|row| row.act == Act::Nothing));
    let anew = LaunchRequest { start_over: true, ..request(whole()) };
    assert_eq!(bench.app().launches().plan_launch(&anew).unwrap().owed_total, 4);
}

#[test]
fn a_cell_that_cannot_be_run_is_refused_with_the_reason_and_the_others_are_planned() {
    let server = Scripted::always(says(ANSWER));
    let bench = super::folder_of(&workspace(&server, "", ""), TASK).open();
    let cells = vec![
        cell("gone", None, "tool_calling", "scripted"),
        cell("count", Some(0), "tool_calling", "nobody"),
        cell("count", Some(0), "promptql", "scripted"),
        cell("count", Some(9), "tool_calling", "scripted"),
        cell("count", Some(0), "magic", "scripted"),
        cell("count", Some(1), "tool_calling", "scripted"),
    ];
    let plan = bench.app().launches().plan_launch(&request(cells)).unwrap();
    assert_eq!(plan.owed_total, 2);
    let mut why: Vec<&str> = plan.skipped.iter().map(|run| run.why.as_str()).collect();
    why.dedup();
    insta::assert_snapshot!(why.join("\n"), @r"
    The task has no prompt for promptql.
    The task has no variation 9; it has 2, counted from 0.
    There is no system `magic`; there are promptql, tool_calling, tool_calling_python.
    Its task `gone` is not in the input directory.
    Its model `nobody` is unknown. Add it under `models:` in touchstone.yaml.
    ");
}
