//! Tests of query sets: the queries that are tasks, and the assignment of results of other programs
//! to them.
use crate::bench::{Bench, answered, wait_until};
use fs_err as fs;
use std::path::Path;
use touchstone_api::Span;
use touchstone_app::suites::virtual_apis::VirtualApiOptions;

const G1: &str =
    include_str!("../fixtures/stabletoolbench/queries/test_instruction/G1_instruction.json");
const G1_IDS: &str =
    include_str!("../fixtures/stabletoolbench/queries/test_query_ids/G1_instruction.json");
const G2: &str =
    include_str!("../fixtures/stabletoolbench/queries/test_instruction/G2_category.json");
const G2_IDS: &str =
    include_str!("../fixtures/stabletoolbench/queries/test_query_ids/G2_category.json");
const G3: &str =
    include_str!("../fixtures/stabletoolbench/queries/test_instruction/G3_instruction.json");
const TOOL: &str = include_str!("../fixtures/stabletoolbench/tools/Weather/river_gauge.json");

fn ids(bench: &Bench) -> Vec<String> {
    bench
        .app()
        .launches()
        .launch_options(true)
        .unwrap()
        .tasks
        .into_iter()
        .map(|task| task.id)
        .collect()
}

fn sets(bench: Bench, dir: &str) -> Bench {
    bench
        .file(&format!("{dir}test_instruction/G1_instruction.json"), G1)
        .file(&format!("{dir}test_instruction/G2_category.json"), G2)
        .file(&format!("{dir}test_instruction/G3_instruction.json"), G3)
        .file(&format!("{dir}test_query_ids/G1_instruction.json"), G1_IDS)
        .file(&format!("{dir}test_query_ids/G2_category.json"), G2_IDS)
}

const MEANT: [&str; 5] = [
    "G1_instruction/101",
    "G1_instruction/102",
    "G2_category/201",
    "G2_category/202",
    "G3_instruction/301",
];

#[test]
fn the_queries_that_are_meant_are_tasks_and_nothing_beside_them_is_wrong() {
    let bench = sets(Bench::new(), "tasks/")
        .file("tasks/toolenv/tools/Weather/river_gauge.json", TOOL)
        .file("tasks/notes.json", "[1, 2]")
        .open();
    assert_eq!(ids(&bench), MEANT.map(|id| format!("test_instruction/{id}")));
    assert_eq!((bench.status().counts.tasks, bench.status().counts.suite_problems), (5, 0));
    assert_eq!(bench.app().folder().problems(Span { offset: 0, limit: 9 }).unwrap().total, 0);
}

#[test]
fn a_folder_that_holds_only_sets_and_their_ids_is_opened_as_it_is() {
    let bench = sets(Bench::new(), "alone/").open_at("folder/alone");
    assert_eq!(ids(&bench), MEANT.map(|id| format!("test_instruction/{id}")));
    assert_eq!(bench.app().folder().problems(Span { offset: 0, limit: 9 }).unwrap().total, 0);
    assert!(bench.rows().is_empty());
}

#[test]
fn ids_that_come_change_or_cannot_be_read_are_followed() {
    let bench = Bench::new().file("tasks/test_instruction/G1_instruction.json", G1).open();
    assert_eq!(ids(&bench).len(), 3);
    let tasks = |wanted: usize| {
        wait_until(&format!("{wanted} tasks"), || (ids(&bench).len() == wanted).then_some(()));
    };
    bench.put("tasks/test_query_ids/G1_instruction.json", "[103]");
    tasks(1);
    assert!(ids(&bench)[0].ends_with("/103"));
    bench.put("tasks/test_query_ids/G1_instruction.json", "[]");
    tasks(3);
    bench.put("tasks/test_query_ids/G1_instruction.json", r#"{"101": 0, "102": 0, "7": 0}"#);
    tasks(2);
    let problem = wait_until("the id of no query is told", || {
        bench.app().folder().problems(Span { offset: 0, limit: 9 }).unwrap().problems.pop()
    });
    assert!(problem.file.ends_with("test_query_ids/G1_instruction.json"), "{problem:?}");
    assert!(problem.message.starts_with("1 of these ids"), "{problem:?}");
    bench.put("tasks/test_query_ids/G1_instruction.json", "[103");
    tasks(3);
    bench.remove("tasks/test_query_ids/G1_instruction.json");
    wait_until("nothing is wrong", || {
        (bench.app().folder().problems(Span { offset: 0, limit: 9 }).unwrap().total == 0)
            .then_some(())
    });
}

#[test]
fn a_result_that_names_its_query_by_set_or_id_alone_bears_the_id_of_its_task() {
    let run = answered("Three gauges");
    let bench = sets(Bench::new(), "tasks/")
        .file("results/101-tool_calling-claude-variation0.yaml", &run)
        .file("results/old/G2_category/201-tool_calling-claude-variation0.yaml", &run)
        .file(
            "results/test_instruction/G3_instruction/301-tool_calling-claude-variation0.yaml",
            &run,
        )
        .file("results/999-tool_calling-claude-variation0.yaml", &run)
        .open();
    let task = |path: &str| bench.row(path).unwrap().task.unwrap();
    assert_eq!(
        task("101-tool_calling-claude-variation0.yaml"),
        "test_instruction/G1_instruction/101"
    );
    assert_eq!(
        task("old/G2_category/201-tool_calling-claude-variation0.yaml"),
        "test_instruction/G2_category/201"
    );
    assert_eq!(task("999-tool_calling-claude-variation0.yaml"), "999");
    let row = bench.row("101-tool_calling-claude-variation0.yaml").unwrap();
    assert_eq!(
        row.missing_calls,
        ["gauges_near_for_river_gauge", "level_of_gauge_for_river_gauge"]
    );
    let bench = bench.reopen();
    assert_eq!(
        bench.row("101-tool_calling-claude-variation0.yaml").unwrap().task.unwrap(),
        "test_instruction/G1_instruction/101"
    );
}

#[test]
fn a_query_that_a_sample_repeats_is_found_and_one_that_asks_something_else_is_not() {
    let run = "results/G1_instruction/101-tool_calling-claude-variation0.yaml";
    let task = |sample: &str| {
        let bench = Bench::new()
            .file("tasks/whole/test_instruction/G1_instruction.json", G1)
            .file("tasks/sample/test_instruction/G1_instruction.json", sample)
            .file(run, answered("Fine."))
            .open();
        bench.rows().remove(0).task.unwrap()
    };
    assert!(task(G1).ends_with("/test_instruction/G1_instruction/101"));
    let another =
        r#"[{"query_id": 101, "query": "Something else", "api_list": [], "relevant APIs": []}]"#;
    assert_eq!(task(another), "G1_instruction/101", "nobody can say which of the two is meant");
}

#[test]
fn a_result_that_was_there_before_its_query_finds_it() {
    let bench =
        Bench::new().answered("results/301-tool_calling-claude-variation0.yaml", "Rain").open();
    assert_eq!(
        bench.row("301-tool_calling-claude-variation0.yaml").unwrap().task.as_deref(),
        Some("301")
    );
    bench.put("tasks/test_instruction/G3_instruction.json", G3);
    wait_until("the run bears the id of its task", || {
        let task = bench.row("301-tool_calling-claude-variation0.yaml")?.task?;
        (task == "test_instruction/G3_instruction/301").then_some(())
    });
}

#[test]
fn all_queries_of_the_benchmark_are_tasks() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench/solvable_queries");
    if !golden.is_dir() {
        return;
    }
    let mut bench = Bench::new();
    for dir in ["test_instruction", "test_query_ids"] {
        for file in fs::read_dir(golden.join(dir)).unwrap() {
            let file = file.unwrap();
            let to = format!("tasks/{dir}/{}", file.file_name().into_string().unwrap());
            bench = bench.file(&to, fs::read(file.path()).unwrap());
        }
    }
    let bench = bench.open();
    println!("cases: {}", bench.status().counts.tasks);
    assert_eq!((bench.status().counts.tasks, bench.status().counts.suite_problems), (765, 0));
    assert_eq!(ids(&bench).len(), 765);
}

#[test]
fn a_task_is_read_whole_by_any_of_its_names() {
    let suite = "name: Churn\ntool_calling_prompt: Who left in {month}?\ntags: [hard]\nscorers: [exact]\n\
                 variations:\n- month: May\n  expected_output: [Ann]\n";
    let bench = sets(Bench::new(), "tasks/").file("tasks/plans/churn.yaml", suite).open();
    let read = |id: &str| bench.app().suites().read_task(id).unwrap();
    let task = read("G1_instruction/102");
    assert_eq!(task.row.id, "test_instruction/G1_instruction/102");
    assert!(
        task.row.ambiguous && task.file.ends_with("tasks/test_instruction/G1_instruction.json")
    );
    let query = task.query.unwrap();
    assert_eq!(query.gold[0].same_name, ["Yesterday most lent books"]);
    assert_eq!(
        (query.gold.len(), query.tools.len(), query.tools[0].apis.len(), query.function_count),
        (2, 1, 3, 3)
    );
    assert!(query.tools[0].apis[2].gold && !query.tools[0].apis[0].gold);
    let city = read("201").query.unwrap();
    let town = &city.tools[0].apis[0].parameters[0];
    assert_eq!(
        (town.name.as_str(), town.required, town.default.as_deref()),
        ("town", true, Some("Biel"))
    );
    assert!(city.tools[0].apis[0].template.as_ref().unwrap().text.starts_with("{\"homes\""));
    let churn = read("plans/churn");
    assert_eq!(churn.prompts[0].text.text, "Who left in {month}?");
    assert_eq!((churn.variations[0].label.as_str(), churn.query), ("month: May", None));
    assert!(
        churn.variations[0].expected.as_ref().unwrap().text.contains("Ann")
            && churn.scorers.is_some()
    );
    let gone = bench.app().suites().read_task("test_instruction/G1_instruction/103").unwrap_err();
    assert_eq!(gone.code, touchstone_app::error::Code::NotFound);
}

#[test]
fn virtual_apis_without_a_folder_of_tools_are_known_from_the_queries() {
    let told = |bench: &Bench| {
        let wish = VirtualApiOptions {
            folder: bench.path("."),
            no_cache: true,
            ..VirtualApiOptions::default()
        };
        bench.app().suites().open_virtual(&wish).unwrap().settings_summary().last().unwrap().clone()
    };
    let known = told(&sets(Bench::new(), "tasks/").file("results/a.yaml", answered("3")).open());
    assert!(
        known.ends_with("are known, from the queries of the folder.") && !known.starts_with("0 "),
        "{known}"
    );
    let none = told(&Bench::new().file("tasks/a.yaml", "tool_calling_prompt: Hm?\n").open());
    assert_eq!(none, "0 tools with 0 APIs are known.");
}
