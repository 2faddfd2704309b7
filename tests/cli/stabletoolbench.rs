//! `stabletoolbench names` and `keys`: a line for a line.
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::path::Path;

/// Lines of what the original gives; none where its files are not.
fn golden(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/stabletoolbench").join(name);
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn names_gives_the_function_of_each_api_and_says_which_line_has_none() {
    let input = b"{\"tool_name\":\"TheClique\",\"api_name\":\"Transfermarkt details\"}\n{\"tool_name\":1}\n\
        {\"tool_name\":\"3D tools\",\"api_name\":\"id\"}";
    let ran = Sandbox::with("toolbench-names", &[]).fed(&["stabletoolbench", "names"], input);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(
        ran.json(),
        [
            json!({"function_name": "transfermarkt_details_for_theclique"}),
            json!({"function_name": "is_id_for_get_3d_tools"})
        ]
    );
    assert!(ran.err.contains("Line 2 ") && ran.err.contains("`tool_name`"), "{}", ran.err);
}

#[test]
fn keys_gives_the_text_that_names_an_input_in_a_cache() {
    let input = "{\"b\": 1, \"a\": [true, null, 2.50]}\n\"bare\"\n{}\n";
    let ran = Sandbox::with("toolbench-keys", &[]).fed(&["stabletoolbench", "keys", "--json"], input.as_bytes());
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_eq!(
        ran.json(),
        [json!({"key": "{'b': 1, 'a': [True, None, 2.5]}"}), json!({"key": "bare"}), json!({"key": "{}"})]
    );
}

#[test]
fn the_names_of_all_gold_apis_are_those_of_the_original() {
    let pairs: Vec<Value> =
        golden("gold_mapping.jsonl").iter().flat_map(|case| case["gold"].as_array().unwrap().clone()).collect();
    println!("cases: {}", pairs.len());
    if pairs.is_empty() {
        return;
    }
    let line = |pair: &Value| format!("{}\n", json!({"tool_name": pair["tool_name"], "api_name": pair["api_name"]}));
    let input: String = pairs.iter().map(line).collect();
    let ran = Sandbox::with("toolbench-golden", &[]).fed(&["stabletoolbench", "names"], input.as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.err);
    for (answer, pair) in ran.json().iter().zip(&pairs) {
        assert_eq!(answer["function_name"], pair["function_name"], "{pair}");
    }
}
