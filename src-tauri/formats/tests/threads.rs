//! Compares converted agent threads with those of azure-ai-evaluation 1.10.0.
use std::path::Path;
use touchstone_formats::azure::{self, Choice, Part};
use touchstone_model::json;
use touchstone_model::value::Value;

#[test]
fn threads_of_agents_become_what_the_package_makes_of_them() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden/azure/converter.jsonl");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    println!("cases: {}", text.lines().count());
    for case in text.lines().map(|line| json::read(line).unwrap()) {
        let thread = case.get("input").unwrap();
        let input = json::write(thread, false);
        let run = case.get("run_id").and_then(Value::text).unwrap().to_owned();
        let without = case.get("exclude_tool_calls_previous_runs") == Some(&Value::Bool(true));
        let choice = Choice { part: Part::Run(run.clone()), without_earlier_tool_calls: without };
        let row = azure::read(input.as_bytes()).unwrap()[0].rows(&choice).unwrap().remove(0);
        let output = case.get("output").unwrap();
        if output.get("error").is_some() {
            // The package cannot convert a thread with tools. The response contains the messages of
            // that run, and every tool is kept.
            let of = |value: &Value, key: &str| {
                value.get(key).map(|list| list.items().to_vec()).unwrap_or_default()
            };
            let its = |message: &&Value| message.get("run_id").and_then(Value::text) == Some(&run);
            let said = of(thread, "messages").iter().filter(its).count();
            assert!(
                row.response.len() >= said
                    && row.response.iter().filter(its).count() == row.response.len()
            );
            assert!(
                row.tool_definitions.len() >= of(thread, "tools").len(),
                "{:?}",
                case.get("case")
            );
            continue;
        }
        assert_eq!(
            json::write(&row.value(), true),
            json::write(output, true),
            "{:?}",
            case.get("case")
        );
    }
}
