//! Threads of agents beside what azure-ai-evaluation 1.10.0 makes of them.
use std::path::Path;
use touchstone_formats::azure::{self, Choice, Part};
use touchstone_formats::json;
use touchstone_formats::value::Value;

#[test]
fn threads_of_agents_become_what_the_package_makes_of_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure/converter.jsonl");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    println!("cases: {}", text.lines().count());
    for case in text.lines().map(|line| json::read(line).unwrap()) {
        let input = json::write(case.get("input").unwrap(), false);
        let run = case.get("run_id").and_then(Value::text).unwrap().to_owned();
        let without = case.get("exclude_tool_calls_previous_runs") == Some(&Value::Bool(true));
        let choice = Choice { part: Part::Run(run), without_earlier_tool_calls: without };
        let row = azure::read(input.as_bytes()).unwrap()[0].rows(&choice).unwrap().remove(0);
        let output = case.get("output").unwrap();
        if output.get("error").is_some() {
            // The package cannot convert a thread with tools.
            assert_eq!((row.response.len(), row.tool_definitions.len()), (3, 1));
            continue;
        }
        assert_eq!(json::write(&row.value(), true), json::write(output, true), "{:?}", case.get("case"));
    }
}
