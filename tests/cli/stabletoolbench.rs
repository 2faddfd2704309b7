//! Tests of the commands of `stabletoolbench`.
use crate::sandbox::Sandbox;
use serde_json::{Value, json};
use std::path::Path;

/// Returns lines of output of the original; empty if its files are not available.
fn golden(name: &str) -> Vec<Value> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/stabletoolbench").join(name);
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
    let ran = Sandbox::with("toolbench-keys", &[])
        .fed(&["stabletoolbench", "keys", "--json"], input.as_bytes());
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_eq!(
        ran.json(),
        [
            json!({"key": "{'b': 1, 'a': [True, None, 2.5]}"}),
            json!({"key": "bare"}),
            json!({"key": "{}"})
        ]
    );
}

#[test]
fn the_names_of_all_gold_apis_are_those_of_the_original() {
    let pairs: Vec<Value> = golden("gold_mapping.jsonl")
        .iter()
        .flat_map(|case| case["gold"].as_array().unwrap().clone())
        .collect();
    println!("cases: {}", pairs.len());
    if pairs.is_empty() {
        return;
    }
    let line = |pair: &Value| {
        format!("{}\n", json!({"tool_name": pair["tool_name"], "api_name": pair["api_name"]}))
    };
    let input: String = pairs.iter().map(line).collect();
    let ran =
        Sandbox::with("toolbench-golden", &[]).fed(&["stabletoolbench", "names"], input.as_bytes());
    assert_eq!(ran.status, 0, "{}", ran.err);
    for (answer, pair) in ran.json().iter().zip(&pairs) {
        assert_eq!(answer["function_name"], pair["function_name"], "{pair}");
    }
}

const RAW: &str =
    include_str!("../fixtures/stabletoolbench/answers/harbour-model/G1_harbour/101_CoT@2.json");
const DRAWN: &str =
    include_str!("../fixtures/stabletoolbench/answers/harbour-model/G1_harbour/102_CoT@2.json");

#[test]
fn convert_writes_the_answers_of_a_method_in_the_shape_of_the_original_and_says_what_a_rule_chose()
{
    let files = [
        ("101_CoT@2.json", RAW),
        ("102_CoT@2.json", DRAWN),
        ("101_DFS_woFilter_w2.json", RAW),
        ("9_CoT@2.json", "{"),
    ];
    let sandbox = Sandbox::with("toolbench-convert", &files);
    let folder = sandbox.folder.to_str().unwrap();
    let ran = sandbox.run(&["stabletoolbench", "convert", folder, "--method", "CoT@2"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(
        ran.err.contains("the last of 2 tries") && ran.err.contains("9_CoT@2.json"),
        "{}",
        ran.err
    );
    let file: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(file.as_object().unwrap().keys().collect::<Vec<_>>(), ["101", "102"]);
    let answer = &file["101"]["answer"];
    assert_eq!((&answer["method"], &answer["total_steps"]), (&json!("CoT@2"), &json!(7)));
    assert_eq!(answer["answer_details"][0]["next"][0]["role"], "user");
    assert_eq!(file["101"]["available_tools"].as_array().unwrap().len(), 4);
    let compat = sandbox.run(&[
        "stabletoolbench",
        "convert",
        &format!("{folder}/101_CoT@2.json"),
        "--method",
        "CoT@2",
        "--compat",
    ]);
    let file: Value = serde_json::from_str(&compat.out).unwrap();
    assert_eq!((compat.status, &file["101"]["answer"]["total_steps"]), (0, &json!(5)));
    let none = sandbox.run(&["stabletoolbench", "convert", folder, "--method", "CoT@9"]);
    assert_eq!((none.status, none.out.as_str()), (2, ""));
}

#[test]
fn convert_takes_transcripts_of_ours_and_one_answer_for_each_query() {
    let ours = "conversation:\n- user_message: How far?\n\
        - tool_call: { id: c, name: Finish, params: { return_type: give_answer, final_answer: 5 km \
        }, result: '' }\n";
    let files = [
        ("results/G1/7-tool_calling-o1-variation0.yaml", ours),
        ("results/G1/7-tool_calling-o1-variation0-run2.yaml", ours),
    ];
    let sandbox = Sandbox::with("toolbench-convert-ours", &files);
    let path =
        |name: &str| sandbox.folder.join("results/G1").join(name).to_str().unwrap().to_owned();
    let (one, two) =
        (path("7-tool_calling-o1-variation0.yaml"), path("7-tool_calling-o1-variation0-run2.yaml"));
    let ran = sandbox.run(&["stabletoolbench", "convert", &one, &two, "--method", "CoT@1"]);
    assert_eq!(ran.status, 1, "{}", ran.err);
    assert!(ran.err.contains("which another file already answers"), "{}", ran.err);
    let file: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        file["7"]["answer"]["final_answer"],
        "{\"return_type\":\"give_answer\",\"final_answer\":\"5 km\"}"
    );
    assert_eq!(file["7"]["query"], "How far?");
}

#[test]
fn convert_takes_the_answer_that_the_run_of_a_query_has() {
    let said = "- assistant_message: \"See:\\n```json\\n{\\\"a\\\": 1}\\n```\"\n- tool_call: { name: way, params: {}, result: '5' }\n";
    let finish = |params: &str| {
        format!("- tool_call: {{ name: Finish, params: {{ {params} }}, result: '' }}\n")
    };
    let gave = finish("return_type: give_answer, final_answer: 5 km");
    let of = |id: u32, end: &str| {
        (
            format!("results/G1/{id}-tool_calling-o1-variation0.yaml"),
            format!("conversation:\n- user_message: How far?\n{said}{end}"),
        )
    };
    let files = [
        of(7, "- assistant_message: 5 km\n"),
        of(8, &format!("{gave}- assistant_message: Thank you, goodbye.\n")),
        of(9, &format!("{}- assistant_message: 5 km\n", finish(""))),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let sandbox = Sandbox::with("toolbench-convert-words", &files);
    let mut asked = vec!["stabletoolbench", "convert", "--method", "CoT@1"];
    asked.extend(files.iter().map(|(name, _)| *name));
    let ran = sandbox.run(&asked);
    assert_eq!(ran.status, 0, "{}", ran.err);
    let file: Value = serde_json::from_str(&ran.out).unwrap();
    for id in ["7", "8", "9"] {
        let answer: Value =
            serde_json::from_str(file[id]["answer"]["final_answer"].as_str().unwrap()).unwrap();
        assert_eq!(
            answer,
            serde_json::json!({"return_type": "give_answer", "final_answer": "5 km"}),
            "{id}"
        );
    }
}

const SET: &str = r#"[{"api_list": [{"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Stars"},
  {"category_name": "Sky", "tool_name": "Sky_v2", "api_name": "Moons"}],
  "query": "Which?", "relevant APIs": [["Sky_v2", "Stars"], ["Sky_v2", "Moons"]], "query_id": 588},
  {"api_list": [], "query": "x", "relevant APIs": [["a", "b"]], "query_id": 7}]"#;
const CONVERTED: &str = r#"{"588": {"query": "Which?", "answer": {"method": "m", "final_answer": "Two stars.", "answer_details": [
  {"role": "tool", "message": {"name": "stars_for_sky_v2", "arguments": "{}", "response": ""}, "next": [
   {"role": "tool", "message": "{\"name\": \"Sky_v2_Moons\", \"arguments\": {}}", "next": [
    {"role": "tool", "message": {"name": "weather", "arguments": "{}", "response": ""}, "next": [
     {"role": "tool", "message": {"name": "Finish", "arguments": "{\"return_type\": \"give_answer\", \"final_answer\": \"Two stars.\"}",
      "response": ""}, "next": []}]}]}]}]}},
  "9": {"query": "?", "answer": {"final_answer": "", "answer_details": []}}}"#;

#[test]
fn score_says_which_apis_an_answer_called_and_which_query_nobody_knows() {
    let files = [("queries/test_instruction/G1_x.json", SET), ("converted.json", CONVERTED)];
    let sandbox = Sandbox::with("toolbench-score", &files);
    let ran = sandbox.run(&["stabletoolbench", "score", "converted.json", "--queries", "queries"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines,
        [
            "588  1.00  2 of 2 gold APIs called; no API of the query: weather; finished",
            "API call score 1.000: 1 answers to 1 queries, 1 finished, 0 without an answer; 1 queries of the sets have none here",
        ]
    );
    assert!(ran.err.contains("query 9 is not in any set"), "{}", ran.err);
    let ran = sandbox.run(&[
        "stabletoolbench",
        "score",
        "converted.json",
        "--queries",
        "queries",
        "--compat",
        "seed",
        "--json",
    ]);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&told["compat"], &told["answers"][0]["api_call_score"]),
        (&json!("seed"), &json!(0.0))
    );
    assert_eq!(
        told["answers"][0]["finish"],
        json!({"ours": true, "official": true, "document": true, "seed": false})
    );
    let ran = sandbox.run(&["stabletoolbench", "score", "converted.json", "--queries", "."]);
    assert_eq!((ran.status, ran.err.contains("no query set")), (2, true), "{}", ran.err);
}

#[test]
fn a_result_file_is_the_one_that_was_named_and_no_other() {
    let ran = "conversation:\n- user_message: Which?\n- tool_call: {name: stars_for_sky_v2, params: {}, result: ok}\n- assistant_message: Done.\n";
    let files = [
        ("tasks/G1_instruction.json", SET),
        ("results/G1_instruction/588-tool_calling-a-variation0.yaml", ran),
        ("results/G1_instruction/588-tool_calling-b-variation0.yaml", ran),
    ];
    let sandbox = Sandbox::with("toolbench-result-files", &files);
    let report = |more: &[&str]| {
        sandbox.run(&[&["report", ".", "--format", "stabletoolbench"], more].concat())
    };
    let printed = report(&["--out", "-"]);
    assert_eq!((printed.status, printed.out.as_str()), (2, ""), "{}", printed.err);
    assert!(
        printed.err.contains("2 files") && printed.err.contains("--baseline"),
        "{}",
        printed.err
    );
    let unknown = report(&["--out", "-", "--baseline", "tool_calling/z/G1_instruction"]);
    assert_eq!((unknown.status, unknown.out.as_str()), (2, ""), "{}", unknown.err);
    assert!(unknown.err.contains("tool_calling/b/G1_instruction"), "{}", unknown.err);
    let named = report(&["--out", "-", "--baseline", "tool_calling/b/G1_instruction"]);
    assert_eq!(named.status, 0, "{}", named.err);
    let file: Value = serde_json::from_str(&named.out).unwrap();
    assert_eq!(file["metadata"]["config"]["model"], "b");
    let both = report(&["--out", "made"]);
    assert_eq!((both.status, both.out.lines().count()), (0, 2), "{}", both.err);
    for model in ["a", "b"] {
        let said = format!(
            "tool_calling-{model}_1queries_G1_instruction.json: Without a SoPR score: 1 of 1."
        );
        assert!(both.err.contains(&said), "{}", both.err);
    }
}

#[test]
fn score_counts_answers_to_the_queries_that_the_ids_beside_the_sets_name_and_no_others() {
    let answers = r#"{"588": {"query": "Which?", "answer": {"final_answer": "x", "answer_details": []}},
        "7": {"query": "x", "answer": {"final_answer": "x", "answer_details": []}}}"#;
    let mut files = vec![("queries/test_instruction/G1_x.json", SET), ("converted.json", answers)];
    for (ids, answered, missing, left_out) in [
        (None, 2, 0, 0),
        (Some("{}"), 2, 0, 0),
        (Some(r#"{"588": 0}"#), 1, 0, 1),
        (Some("[588]"), 1, 0, 1),
        (Some(r#"["7"]"#), 1, 0, 1),
        (Some(r#"{"588": 0, "7": 0}"#), 2, 0, 0),
        (Some("[5]"), 0, 0, 2),
    ] {
        files.truncate(2);
        files.extend(ids.map(|ids| ("queries/test_query_ids/G1_x.json", ids)));
        let sandbox = Sandbox::with("toolbench-score-ids", &files);
        for queries in ["queries", "queries/test_instruction"] {
            let ran = sandbox.run(&[
                "stabletoolbench",
                "score",
                "converted.json",
                "--queries",
                queries,
                "--json",
            ]);
            assert_eq!(ran.status, 0, "{ids:?} {}", ran.err);
            let told: Value = serde_json::from_str(&ran.out).unwrap();
            let numbers = [&told["total_evaluations"], &told["queries_missing"], &told["left_out"]];
            assert_eq!(numbers, [&json!(answered), &json!(missing), &json!(left_out)], "{ids:?}");
        }
    }
    files.truncate(2);
    files.push(("queries/test_query_ids/G1_x.json", "[588"));
    let sandbox = Sandbox::with("toolbench-score-ids", &files);
    let ran = sandbox.run(&["stabletoolbench", "score", "converted.json", "--queries", "queries"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("test_query_ids"), "{}", ran.err);
}

#[test]
fn a_mean_of_nothing_but_zeros_has_no_sign() {
    let answers =
        r#"{"588": {"query": "Which?", "answer": {"final_answer": "", "answer_details": []}}}"#;
    let files = [("queries/G1_x.json", SET), ("converted.json", answers)];
    let sandbox = Sandbox::with("toolbench-score-zero", &files);
    let ran = sandbox.run(&["stabletoolbench", "score", "converted.json", "--queries", "queries"]);
    assert!(ran.out.contains("API call score 0.000") && !ran.out.contains("-0"), "{}", ran.out);
}

#[test]
fn a_report_of_result_files_alone_is_refused_and_leaves_no_file() {
    let ran = "conversation:\n- user_message: Which?\n- assistant_message: Two stars.\n";
    let made = |files: &[(&str, &str)]| {
        let sandbox = Sandbox::with("toolbench-imported", files);
        let ran = sandbox.run(&["report", ".", "--format", "stabletoolbench,csv", "--out", "made"]);
        let written: Vec<String> = std::fs::read_dir(sandbox.folder.join("made"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| {
                std::path::Path::new(name).extension().is_some_and(|extension| extension == "json")
            })
            .collect();
        let text = written
            .first()
            .map(|name| std::fs::read_to_string(sandbox.folder.join("made").join(name)).unwrap());
        (ran.status, ran.err, written.len(), text.unwrap_or_default())
    };
    let run = ("results/G1_x/588-tool_calling-a-variation0.yaml", ran);
    let (status, err, files, text) = made(&[("tasks/G1_x.json", SET), run]);
    assert_eq!((status, files), (0, 1), "{err}");
    let name = "results/tool_calling-a_1queries_G1_x.json";
    let (status, err, files, _) = made(&[("tasks/G1_x.json", SET), (name, &text)]);
    assert_eq!((status, files), (1, 0), "{err}");
    assert!(
        err.contains("No result file was written") && !err.contains("No run belongs to a query"),
        "{err}"
    );
    assert!(err.contains("All runs of queries are already in result files (1)"), "{err}");
    let (status, err, files, _) = made(&[("tasks/G1_x.json", SET), (name, &text), run]);
    assert_eq!((status, files), (0, 1), "{err}");
}

#[test]
fn convert_as_the_original_drops_texts_beside_calls_and_what_finish_returned() {
    let ours = "conversation:\n- user_message: How far?\n- assistant_message: I look.\n- tool_call: { name: way, params: {}, result: '5' }\n\
        - assistant_message: So.\n- tool_call: { name: Finish, params: { return_type: give_answer, final_answer: 5 km }, result: done }\n";
    let files = [("results/G1/7-tool_calling-o1-variation0.yaml", ours)];
    let sandbox = Sandbox::with("toolbench-convert-compat", &files);
    let told = |more: &[&str]| {
        let ran = sandbox.run(
            &[&["stabletoolbench", "convert", files[0].0, "--method", "CoT@1"], more].concat(),
        );
        assert_eq!(ran.status, 0, "{}", ran.err);
        let file: Value = serde_json::from_str(&ran.out).unwrap();
        let (mut node, mut told) = (file["7"]["answer"]["answer_details"][0].clone(), Vec::new());
        while !node.is_null() {
            let message = &node["message"];
            told.push(match node["role"].as_str().unwrap() {
                "tool" => format!(
                    "{}: {}",
                    message["name"].as_str().unwrap(),
                    message["response"].as_str().unwrap()
                ),
                _ => message.as_str().unwrap().to_owned(),
            });
            node = node["next"][0].clone();
        }
        told
    };
    assert_eq!(told(&[]), ["", "", "I look.", "way: 5", "So.", "Finish: done"]);
    assert_eq!(told(&["--compat"]), ["", "", "way: 5", "Finish: "]);
}
