//! Compares names and keys of `StableToolBench` with those of the original system. Its files are
//! not part of the repository; without them the tests do nothing.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::collections::HashSet;
use std::path::Path;

use touchstone_formats::stabletoolbench::{
    Api, Pool, Query, filter, functions, names, python, read_api_name,
};
use touchstone_formats::suite;
use touchstone_model::json;
use touchstone_model::run::ApiName;
use touchstone_model::value::Value;

fn lines(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench")
        .join(name);
    let Ok(text) = fs_err::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return Vec::new();
    };
    text.lines().map(|line| json::read(line).unwrap()).collect()
}

#[test]
fn names_are_those_of_the_original() {
    let mut cases = 0;
    for case in lines("standardize_pairs.jsonl") {
        let text = |key: &str| case.get(key).and_then(Value::text).unwrap_or_default();
        let input = text("input");
        if let Some(category) = case.get("standardize_category").and_then(Value::text) {
            assert_eq!(names::category(input), category, "{input}");
        } else {
            assert_eq!(names::standardize(input), text("standardize"), "{input}");
            assert_eq!(names::api_name(input), text("change_name_standardize"), "{input}");
        }
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn keys_are_the_texts_that_python_writes() {
    let mut cases = 0;
    for case in lines("python_str_keys.jsonl") {
        let text = |key: &str| case.get(key).and_then(Value::text);
        let (Some(input), Some(key)) = (text("tool_input_json"), text("python_key")) else {
            continue;
        };
        // Texts that only Python's JSON reader accepts are tested elsewhere.
        let Ok(value) = json::read(input) else { continue };
        assert_eq!(python::text(&value), key, "{input}");
        cases += 1;
    }
    println!("cases: {cases}");
}

/// Returns the rows of all query files, with the names of their sets.
fn queries() -> Vec<(String, Query)> {
    let sets = [
        "G1_instruction",
        "G1_category",
        "G1_tool",
        "G2_instruction",
        "G2_category",
        "G3_instruction",
    ];
    let mut all = Vec::new();
    for set in sets {
        let Some(text) = read_golden(&format!("solvable_queries/test_instruction/{set}.json"))
        else {
            continue;
        };
        for task in suite::read(&text, set).unwrap().tasks {
            all.push((set.to_owned(), Query::of_task(&task).unwrap()));
        }
    }
    all
}

fn text(value: &Value, key: &str) -> String {
    match value.get(key) {
        Some(Value::Text(word) | Value::Number(word)) => word.clone(),
        _ => String::new(),
    }
}

fn read_golden(name: &str) -> Option<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench")
        .join(name);
    fs_err::read_to_string(file).ok()
}

/// Returns the tools of a folder in the original's layout.
fn tools() -> Pool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/golden/stabletoolbench/toolenv/tools");
    let mut pool = Pool::default();
    let Ok(categories) = fs_err::read_dir(root) else { return pool };
    for category in categories {
        let category = category.unwrap();
        for file in fs_err::read_dir(category.path()).unwrap() {
            let path = file.unwrap().path();
            let text = fs_err::read_to_string(&path).unwrap();
            let dirs = [category.file_name().into_string().unwrap()];
            pool.add_file(&[&dirs[0]], path.file_stem().unwrap().to_str().unwrap(), &text).unwrap();
        }
    }
    pool
}

#[test]
fn functions_are_those_of_the_original() {
    let (queries, tools) = (queries(), tools());
    let golden = lines("function_defs.jsonl");
    println!("cases: {} of {}", golden.len(), queries.len());
    for case in &golden {
        let (set, id) = (text(case, "test_set"), text(case, "query_id"));
        let (_, query) =
            queries.iter().find(|(known, query)| *known == set && query.id == id).unwrap();
        let mut ours = functions::of_query(query, &tools, true);
        let names = case.get("function_names").unwrap().items();
        assert_eq!(
            ours.iter().map(|one| Value::from(one.name.as_str())).collect::<Vec<_>>(),
            names,
            "{set} {id}"
        );
        assert_eq!(ours.pop().map(|finish| finish.name).as_deref(), Some("Finish"));
        for (ours, theirs) in ours.iter().zip(case.get("functions").unwrap().items()) {
            assert_eq!(
                json::write(&ours.to_value(), true),
                json::write(theirs, true),
                "{set} {id}"
            );
        }
        // For a tool in several categories, the original uses the description that it happened to
        // list last.
        let list = text(case, "tool_list_text");
        if !["demo_project", "currency_converter_v2"]
            .iter()
            .any(|name| list.contains(&format!(".{name}:")))
        {
            assert_eq!(functions::tool_list(query, &tools), list, "{set} {id}");
        }
    }
}

#[test]
fn a_pool_made_of_the_queries_is_the_folder_of_tools() {
    let queries = queries();
    if queries.is_empty() {
        return;
    }
    let (pool, tools) = (Pool::of_queries(queries.iter().map(|(_, query)| query)), tools());
    assert!(pool.api_count() > 0);
    assert_eq!((pool.tools().len(), pool.api_count()), (tools.tools().len(), tools.api_count()));
    for (_, query) in &queries {
        for entry in &query.apis {
            for pool in [&pool, &tools] {
                let (tool, api) =
                    pool.find(Some(&entry.category), &entry.tool, &entry.name).unwrap();
                assert_eq!((&tool.category, &api.name), (&entry.category, &entry.name));
            }
        }
    }
}

#[test]
fn names_that_several_apis_share_are_those_of_the_original() {
    let queries = queries();
    let (mut cases, mut ambiguous) = (0, 0);
    for case in lines("gold_mapping.jsonl") {
        let (set, id) = (text(&case, "test_set"), text(&case, "query_id"));
        let (_, query) =
            queries.iter().find(|(known, query)| *known == set && query.id == id).unwrap();
        let apis: Vec<ApiName> = query.apis.iter().map(Api::pair).collect();
        let shared = functions::shared(&apis);
        let duplicates = case.get("duplicate_function_names").unwrap().items();
        assert_eq!(shared.len(), duplicates.len(), "{set} {id}");
        for gold in case.get("gold").unwrap().items() {
            let pair = read_api_name(gold).unwrap();
            let name = names::function_name(&pair.tool, &pair.api);
            assert_eq!(name, text(gold, "function_name"));
            let sharing = shared.iter().find(|(known, _)| *known == name);
            assert_eq!(
                Some(&Value::Bool(sharing.is_some())),
                gold.get("ambiguous"),
                "{set} {id} {name}"
            );
            let candidates: Vec<ApiName> =
                gold.get("candidates").unwrap().items().iter().filter_map(read_api_name).collect();
            let ours = sharing.map_or_else(|| vec![&pair], |(_, pairs)| pairs.clone());
            assert_eq!(ours, candidates.iter().collect::<Vec<_>>(), "{set} {id} {name}");
            ambiguous += usize::from(sharing.is_some());
            cases += 1;
        }
    }
    println!("cases: {cases}");
    assert!(cases == 0 || ambiguous > 0);
}

#[test]
fn query_files_hold_what_is_known_of_them() {
    let Some(table) = read_golden("data_table.json") else { return };
    let mut cases = 0;
    for row in json::read(&table).unwrap().items() {
        let set = text(row, "test_set");
        let Some(file) = read_golden(&format!("solvable_queries/test_instruction/{set}.json"))
        else {
            continue;
        };
        let tasks = suite::read(&file, &set).unwrap().tasks;
        let queries: Vec<Query> = tasks.iter().map(|task| Query::of_task(task).unwrap()).collect();
        let entries = || queries.iter().flat_map(|query| &query.apis);
        let number = |key: &str| text(row, key).parse::<usize>().unwrap();
        assert_eq!(queries.len(), number("queries"), "{set}");
        assert_eq!(entries().count(), number("api_entries"), "{set}");
        let distinct =
            |part: fn(&Api) -> [&str; 3]| entries().map(part).collect::<HashSet<_>>().len();
        assert_eq!(
            distinct(|api| [&api.category, &api.tool, &api.name]),
            number("distinct_apis"),
            "{set}"
        );
        assert_eq!(
            distinct(|api| [&api.category, &api.tool, ""]),
            number("distinct_tools"),
            "{set}"
        );
        assert_eq!(distinct(|api| [&api.category, "", ""]), number("categories"), "{set}");
        assert_eq!(
            queries.iter().map(|query| query.gold.len()).sum::<usize>(),
            number("gold_pairs"),
            "{set}"
        );
        assert_eq!(
            entries().filter(|api| api.template.is_none()).count(),
            number("template_response_missing"),
            "{set}"
        );
        assert_eq!(
            entries().filter(|api| api.description.trim().is_empty()).count(),
            number("empty_api_description"),
            "{set}"
        );
        for (task, query) in tasks.iter().zip(&queries) {
            let brief = task.query.as_ref().unwrap();
            let offered: Vec<ApiName> = brief.apis.iter().map(|api| api.pair.clone()).collect();
            assert_eq!(
                offered,
                query.apis.iter().map(Api::pair).collect::<Vec<_>>(),
                "{}",
                task.id
            );
            let gold: Vec<String> =
                query.gold.iter().map(|pair| names::function_name(&pair.tool, &pair.api)).collect();
            assert!(task.expected_tool_calls.iter().all(|name| gold.contains(name)), "{}", task.id);
        }
        let ids = filter::Ids::read(
            &read_golden(&format!("solvable_queries/test_query_ids/{set}.json")).unwrap(),
        )
        .unwrap();
        assert!(queries.iter().all(|query| ids.admit(&query.id)));
        assert_eq!(ids.unknown(queries.iter().map(|query| query.id.as_str())), 0, "{set}");
        cases += queries.len();
    }
    println!("cases: {cases}");
}

#[test]
fn tools_of_a_query_are_those_that_the_original_lists() {
    let queries = queries();
    let mut cases = 0;
    for case in lines("seed_available_tools.jsonl") {
        let (set, id) = (text(&case, "test_set"), text(&case, "query_id"));
        let (_, query) =
            queries.iter().find(|(known, query)| *known == set && query.id == id).unwrap();
        assert_eq!(&query.available_tools(), case.get("available_tools").unwrap(), "{set} {id}");
        cases += 1;
    }
    println!("cases: {cases}");
}

#[test]
fn query_rows_may_lack_most_fields() {
    for name in [
        "G1_query",
        "G2_query",
        "G3_query",
        "inference_query_demo",
        "inference_query_demo_open_domain",
    ] {
        let Some(file) = read_golden(&format!("toolbench_data/instruction/{name}.json")) else {
            continue;
        };
        let tasks = suite::read(&file, name).unwrap().tasks;
        println!("cases: {} of {name}", tasks.len());
        assert_eq!(tasks.len(), json::read(&file).unwrap().items().len(), "{name}");
        assert!(tasks.iter().all(|task| Query::of_task(task).is_some()), "{name}");
    }
    let tasks = suite::read(
        concat!(
            r#"[{"query": "a"}, {"query": 3}, {"query": "b", "query_id": "007", "#,
            r#""api_list": [{"tool_name": "T", "name": "x"}]}]"#,
        ),
        "f/s",
    )
    .unwrap()
    .tasks;
    assert_eq!(tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["f/s/0", "f/s/007"]);
    assert_eq!(tasks[1].expected_tool_calls, ["x_for_t"]);
    assert!(Query::of_task(&tasks[0]).unwrap().apis.is_empty());
}

#[test]
fn queries_of_our_own_are_read_as_they_were_written() {
    let file = include_str!(
        "../../../tests/fixtures/stabletoolbench/queries/test_instruction/G1_instruction.json"
    );
    let tasks = suite::read(file, "queries/test_instruction/G1_instruction").unwrap().tasks;
    assert_eq!(
        tasks.iter().map(|task| task.id.rsplit('/').next().unwrap()).collect::<Vec<_>>(),
        ["101", "102", "103"]
    );
    let library = tasks[1].query.as_ref().unwrap();
    assert_eq!(
        (library.set.as_str(), library.categories(), library.shared().len()),
        ("G1_instruction", vec!["Education"], 1)
    );
    assert_eq!(
        Value::List(tasks.iter().map(|task| task.query.as_ref().unwrap().row()).collect()),
        json::read(file).unwrap()
    );
    let functions =
        functions::of_query(&Query::of_task(&tasks[0]).unwrap(), &Pool::default(), false);
    let named: Vec<&str> = functions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(
        named,
        [
            "gauges_near_for_river_gauge",
            "level_of_gauge_for_river_gauge",
            "get_3_day_outlook_for_river_gauge",
            "Finish"
        ]
    );
}
