//! Measures the conversion of query sets to tasks, against parsing the same texts with `serde_json`
//! in the same invocation; then the use of these tasks: pools of tools, function definitions,
//! lookups. Uses six generated sets of realistic size, or the JSON files of the directory in
//! `TOUCHSTONE_QUERIES`. Prints a table; never fails.
use fs_err as fs;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};
use touchstone_formats::stabletoolbench::{Pool, Query, functions};
use touchstone_formats::suite::{self, Task};

const ROUNDS: usize = 21;
/// Number of queries of each set.
const SETS: [usize; 6] = [163, 153, 158, 106, 124, 61];
/// APIs per query; `TEMPLATE` is the number of characters of a reply template.
const APIS: usize = 5;
const TEMPLATE: usize = 800;

fn main() {
    let sets = sets();
    let bytes: usize = sets.iter().map(String::len).sum();
    let before = resident_kb();
    let tasks = read(&sets);
    let held = resident_kb().saturating_sub(before);
    println!("{} queries in {} files, {:.1} MB", tasks.len(), sets.len(), mb(bytes));
    println!("memory of the tasks: {:.1} MB, the texts of the files included", mb(held * 1024));
    show("serde_json, checked and thrown away", || {
        for text in &sets {
            drop(black_box(serde_json::from_str::<serde::de::IgnoredAny>(text)));
        }
    });
    show("serde_json, into values", || {
        for text in &sets {
            drop(black_box(serde_json::from_str::<serde_json::Value>(text)));
        }
    });
    show("into tasks", || drop(black_box(read(&sets))));
    show("each query whole, once", || drop(black_box(queries(&tasks))));
    let queries = queries(&tasks);
    show("the pool of all queries", || drop(black_box(Pool::of_queries(&queries))));
    let pool = Pool::of_queries(&queries);
    println!("{} tools, {} APIs", pool.tools().len(), pool.api_count());
    show("functions of all queries", || {
        for query in &queries {
            drop(black_box(functions::of_query(query, &pool, false)));
        }
    });
    let lookups: usize = queries.iter().map(|query| query.apis.len()).sum();
    show(&format!("{lookups} lookups"), || {
        for api in queries.iter().flat_map(|query| &query.apis) {
            black_box(pool.find(Some(&api.category), &api.tool, &api.name));
        }
    });
}

fn read(sets: &[String]) -> Vec<Task> {
    let set =
        |text: &String| suite::read(text, "set").map_or_else(|_| Vec::new(), |suite| suite.tasks);
    sets.iter().flat_map(set).collect()
}

fn queries(tasks: &[Task]) -> Vec<Query> {
    tasks.iter().filter_map(Query::of_task).collect()
}

fn sets() -> Vec<String> {
    let Ok(dir) = std::env::var("TOUCHSTONE_QUERIES") else {
        return SETS.iter().map(|count| generated(*count)).collect();
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.filter_map(|path| fs::read_to_string(path).ok()).collect()
}

/// Generates a set shaped like the real ones, which consist mostly of reply templates.
fn generated(count: usize) -> String {
    let mut text = String::from("[");
    for id in 0..count {
        text.push_str(if id > 0 { ",\n    {" } else { "\n    {" });
        text.push_str("\n        \"api_list\": [");
        for at in 0..APIS {
            let tool = (id * 7 + at) % 300;
            let template =
                "\\u00e9 a reply, with words in it and \\\"quotes\\\" ".repeat(TEMPLATE / 48);
            let _ = write!(
                text,
                "{}\n            {{\"category_name\": \"Category_{}\", \"tool_name\": \"Tool \
                 number {tool}\", \"api_name\": \"API {at} of {id}\", \"api_description\": \"Says \
                 what there is to be said of {id}.\", \"required_parameters\": [{{\"name\": \
                 \"city\", \"type\": \"STRING\", \"description\": \"A city\", \"default\": \
                 \"Bern\"}}], \"optional_parameters\": [{{\"name\": \"days\", \"type\": \
                 \"NUMBER\", \"description\": \"How many\", \"default\": {at}}}], \"method\": \
                 \"GET\", \"template_response\": {{\"status\": \"str\", \"items\": [{{\"text\": \
                 \"{template}\", \"count\": 3}}]}}}}",
                if at > 0 { "," } else { "" },
                tool % 40,
            );
        }
        let _ = write!(
            text,
            "\n        ],\n        \"query\": \"I am planning a trip of {id} days and would like \
             to know what there is on the way.\",\
             \n        \"relevant APIs\": [[\"Tool number {}\", \"API 0 of {id}\"]],\
             \n        \"query_id\": {id}\n    }}",
            id * 7 % 300
        );
    }
    text + "\n]"
}

fn show(name: &str, act: impl Fn()) {
    let mut took: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            act();
            began.elapsed()
        })
        .collect();
    took.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
    println!("  {name}: {:.2} ms median, {:.2} ms best", ms(took[ROUNDS / 2]), ms(took[0]));
}

#[expect(clippy::cast_precision_loss, reason = "sizes here are far below where a float is coarse")]
fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// Current resident memory of this process, in KiB.
fn resident_kb() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
}
