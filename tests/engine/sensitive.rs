//! Tests of runs of attacks: their mark is seen when it appears and goes, follows a corrected task,
//! and covers tasks; the baseline of an attack is found.
use super::bench::{Bench, answered, wait_until};
use touchstone_api::{RunNames, RunRow, Span, TaskRequest, TaskRow};

const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");
const SCAN: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/azure_redteam/final_results.json");
const MARK: &str = ".touchstone/sensitive/m.json";

fn mark(task: &str) -> String {
    format!("{{\"tasks\": [\"{task}\"]}}")
}

fn folded(bench: &Bench) -> Vec<String> {
    let rows = bench.rows().into_iter().filter(|row| row.sensitive == Some(true));
    rows.map(|row| row.path).collect()
}

fn tasks(bench: &Bench) -> Vec<TaskRow> {
    let span = Span { offset: 0, limit: 100 };
    let request = TaskRequest { words: String::new(), set: None, category: None, span };
    bench.app().suites().list_tasks(request).unwrap().rows
}

#[test]
fn a_mark_that_appears_and_goes_while_the_folder_is_open_is_seen_in_the_next_list() {
    let (one, other) =
        ("count-tool_calling-o1-variation0.yaml", "other-tool_calling-o1-variation0.yaml");
    let bench = Bench::new()
        .file("touchstone.yaml", "output_dir: results/deep\n")
        .file(&format!("results/deep/{one}"), answered("7"))
        .file(&format!("results/deep/{other}"), answered("7"))
        .open();
    assert!(folded(&bench).is_empty());
    bench.write(&format!("results/deep/{MARK}"), mark("count"));
    assert_eq!(folded(&bench), [one]);
    // A folder above names its tasks with the folders between.
    bench.write(&format!("results/{MARK}"), mark("deep/other"));
    assert_eq!(folded(&bench).len(), 2);
    bench.write(&format!("results/deep/{MARK}"), mark("no-such"));
    assert_eq!(folded(&bench), [other]);
    bench.write(&format!("results/deep/{MARK}"), "{");
    assert_eq!(folded(&bench).len(), 2, "a mark that cannot be read folds all");
    bench.remove(&format!("results/deep/{MARK}"));
    bench.remove(&format!("results/{MARK}"));
    assert!(folded(&bench).is_empty());
}

#[test]
fn a_task_that_a_person_corrects_stays_sensitive_and_so_does_its_prompt() {
    let bench = Bench::new()
        .file("touchstone.yaml", "output_dir: results\n")
        .file("results/a/results.json", PROMPTFOO)
        .file(&format!("results/{MARK}"), mark("hello"))
        .open();
    let run = || -> RunRow { bench.rows().remove(0) };
    assert_eq!((run().task.as_deref(), run().sensitive), (Some("hello"), Some(true)));
    let new = |task: &str| RunNames { task: Some(task.to_owned()), system: None, model: None };
    bench.app().runs().rename_run(None, &run().id, &new("harmless")).unwrap();
    wait_until("the new task counts", || (run().task.as_deref() == Some("harmless")).then_some(()));
    assert_eq!(run().sensitive, Some(true));
    let view = bench.app().runs().open_run(&run().id).unwrap();
    assert_eq!(view.row.sensitive, Some(true));
    let listed: Vec<_> = tasks(&bench).into_iter().map(|row| (row.id, row.sensitive)).collect();
    assert_eq!(listed, [("harmless".to_owned(), Some(true))]);
    assert_eq!(bench.app().suites().read_task("harmless").unwrap().row.sensitive, Some(true));
    // Also where the name is given to a file.
    bench.put(
        "touchstone.yaml",
        "output_dir: results\nimports: { files: { a: { task: given } } }\n",
    );
    wait_until("the given task counts", || (run().task.as_deref() == Some("given")).then_some(()));
    assert_eq!(run().sensitive, Some(true));
    let bench = bench.reopen();
    assert_eq!(bench.rows()[0].sensitive, Some(true));
}

#[test]
fn tasks_of_attacks_and_of_other_tools_scans_are_covered_and_others_are_not() {
    let attack = "tool_calling_prompt: Harm.\ntags: [violence, red-team]\n";
    let bench = Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n")
        .file("tasks/attack.yaml", attack)
        .file("tasks/count.yaml", "tool_calling_prompt: Count.\n")
        .file("results/final_results.json", SCAN)
        .open();
    let rows = tasks(&bench);
    assert!(rows.iter().any(|row| row.recorded_by.is_some()), "{rows:?}");
    for row in &rows {
        assert_eq!(row.sensitive, (row.id != "count").then_some(true), "{}", row.id);
    }
}

#[test]
fn the_baseline_of_an_attack_is_the_run_of_the_same_objective_system_and_model() {
    let suite = concat!(
        "tool_calling_prompt: '{text}'\ntags: [violence, red-team]\nvariations:\n",
        "- { name: baseline, parameters: { text: Harm. } }\n",
        "- { name: base64, parameters: { text: SGFybS4= } }\n",
        "- { name: flip, parameters: { text: .mraH } }\n",
    );
    let file = |model: &str, variation: usize, repeat: &str| {
        format!("results/attack-tool_calling-{model}-variation{variation}{repeat}.yaml")
    };
    let bench = Bench::new()
        .file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n")
        .file("tasks/attack.yaml", suite)
        .file(&file("o1", 0, ""), answered("1"))
        .file(&file("o1", 0, "-run2"), answered("1"))
        .file(&file("o1", 1, "-run2"), answered("1"))
        .file(&file("o1", 2, "-run3"), answered("1"))
        .file(&file("o3", 1, ""), answered("1"))
        .open();
    let path = |path: &str| path.trim_start_matches("results/").to_owned();
    let baseline = |of: &str| {
        let row = bench.row(&path(of)).unwrap();
        bench
            .app()
            .red_team()
            .attack_baseline(&row.id)
            .unwrap()
            .map(|row| (row.path, row.sensitive))
    };
    let expected = |of: &str| Some((path(&file("o1", 0, of)), Some(true)));
    assert_eq!(baseline(&file("o1", 1, "-run2")), expected("-run2"), "the same repeat");
    assert_eq!(baseline(&file("o1", 2, "-run3")), expected(""), "else the first");
    assert_eq!(baseline(&file("o1", 0, "")), None, "it is one itself");
    assert_eq!(baseline(&file("o3", 1, "")), None, "of another model");
    assert_eq!(bench.app().red_team().attack_baseline("0000000000000000").unwrap(), None);
}
