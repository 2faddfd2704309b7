//! Tests of raw answers with synthetic files: counts, attempts, conversion, and errors of malformed
//! files.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use touchstone_formats::stabletoolbench::ResultFile;
use touchstone_formats::stabletoolbench::answers::convert::{self, Defects};
use touchstone_formats::stabletoolbench::answers::{converted, details, raw};
use touchstone_formats::stabletoolbench::results::{Evaluation, Metadata, Summary};
use touchstone_formats::transcript;
use touchstone_model::json;
use touchstone_model::run::{Run, StepKind, TreeKind};
use touchstone_model::value::Value;

const ALL: [&str; 5] = [
    "101_CoT@2.json",
    "101_DFS_woFilter_w2.json",
    "102_CoT@2.json",
    "102_DFS_woFilter_w2.json",
    "103_DFS_woFilter_w2.json",
];

fn bytes(name: &str) -> Vec<u8> {
    let folder = "../../tests/fixtures/stabletoolbench/answers/harbour-model/G1_harbour";
    fs_err::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name)).unwrap()
}

fn read(name: &str) -> Run {
    raw::read(&bytes(name)).unwrap()
}

fn format_steps(run: &Run) -> String {
    let mut out = String::new();
    for (at, step) in run.steps.iter().enumerate() {
        let mut line = format!("{at} turn {} {:?}", step.turn, step.kind);
        line += &step.title.as_ref().map(|title| format!(" {title}")).unwrap_or_default();
        line += if step.nudge { " nudge" } else { "" };
        line += &step.failed.map(|failed| format!(" failed={failed}")).unwrap_or_default();
        let labels: Vec<&str> = step.parts.iter().map(|part| &*part.label).collect();
        let _ = writeln!(out, "{line} [{}]", labels.join(", "));
    }
    out
}

fn format_tree(run: &Run) -> String {
    let tree = run.tree.as_ref().unwrap();
    let mut out = String::new();
    let mut depths: Vec<usize> = Vec::new();
    for node in &tree.nodes {
        let depth = node.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let mut line = format!("{}{:?}", "  ".repeat(depth), node.kind);
        let name: String = node.text.chars().take(24).collect();
        line += if name.is_empty() { "" } else { " " };
        line += &name;
        line += &node.step.map(|step| format!(" = {step}")).unwrap_or_default();
        line += if node.pruned { ", pruned" } else { "" };
        line += if node.finished { ", finished" } else { "" };
        line += &node.trouble.as_ref().map(|trouble| format!(", {trouble}")).unwrap_or_default();
        let _ = writeln!(out, "{line}");
    }
    out
}

fn reason(run: &Run) -> Option<String> {
    transcript::outline_of(run).reason
}

#[test]
fn outlines_agree_with_what_is_read() {
    for name in ALL {
        assert_eq!(
            raw::outline(&bytes(name)).unwrap(),
            transcript::outline_of(&read(name)),
            "{name}"
        );
    }
}

#[test]
fn the_way_of_a_tree_that_counts_is_told_and_everything_tried_is_kept() {
    let run = read("101_DFS_woFilter_w2.json");
    same_lines(
        &format_steps(&run),
        "0 turn 1 System [message]
1 turn 1 User [message]
2 turn 2 User nudge [message]
3 turn 3 Assistant [message]
4 turn 3 ToolCall ferries_between_for_harbour_times failed=false [from, to, day, result]
5 turn 4 ToolCall forecast_for_coast_weather failed=false [place, day, result]
6 turn 5 Assistant [message]
7 turn 5 ToolCall Finish failed=false [return_type, final_answer, result]
",
    );
    same_lines(
        &format_tree(&run),
        "Root
  Thought I should find the ferrie
    Call ferries_between_for_harb, Replied with an error message
      Call ferries_between_for_harb, Took too long
        Finish Finish, pruned, Gave up
      Thought The day was missing. Let
        Call tides_for_harbour_times
          Call ferry_prices, Unknown function
            Thought There is no such functio
              Finish Finish, pruned, Gave up
          Thought High water is at 18:05, 
            Call forecast_for_coast_weath, Rate limit
              Thought No forecast either., pruned
  Thought Start again with the day = 3
    Call ferries_between_for_harb = 4
      Call forecast_for_coast_weath = 5
        Thought Both are known now. = 6
          Finish Finish = 7, finished
",
    );
    assert_eq!(run.tree.as_ref().unwrap().chosen_by, None);
    assert!(run.answer.unwrap().value.text().unwrap().starts_with("The last ferry"));
}

#[test]
fn tries_are_branches_and_the_last_counts() {
    let run = read("101_CoT@2.json");
    same_lines(
        &format_tree(&run),
        "Root
  Root Try 1
    Thought Tides say when ferries c
      Call tides_for_harbour_times, Not authorized
        Finish Finish, pruned, Gave up
  Root Try 2
    Thought Start again with the day = 2
      Call ferries_between_for_harb = 3
        Call forecast_for_coast_weath = 4
          Thought Both are known now. = 5
            Finish Finish = 6, finished
",
    );
    assert_eq!(run.tree.as_ref().unwrap().chosen_by, None);
    let lost = read("102_CoT@2.json");
    assert_eq!(lost.tree.as_ref().unwrap().chosen_by.as_deref(), Some("the last of 2 tries"));
    assert_eq!(
        (lost.answer.is_none(), reason(&lost).as_deref()),
        (true, Some("Ended without a call of Finish."))
    );
    assert_eq!(
        transcript::outline_of(&lost).calls.last().unwrap(),
        &("tides_for_harbour_times".to_owned(), true)
    );
    assert!(lost.notes[0].contains("the last of 2 tries"));
}

#[test]
fn a_rule_chooses_the_final_path_when_the_file_names_none() {
    let lost = read("102_DFS_woFilter_w2.json");
    assert_eq!(
        lost.tree.as_ref().unwrap().chosen_by.as_deref(),
        Some("the first of the longest of 2 paths")
    );
    let kinds: Vec<StepKind> = lost.steps.iter().map(|step| step.kind).collect();
    assert_eq!(
        kinds,
        [StepKind::User, StepKind::ToolCall, StepKind::Assistant, StepKind::ToolCall]
    );
    // The conversation identifies which of the abandoned branches is in the file.
    let up = read("103_DFS_woFilter_w2.json");
    assert_eq!(up.tree.as_ref().unwrap().chosen_by, None);
    assert_eq!(reason(&up).as_deref(), Some("Gave up without an answer."));
    assert!(up.steps.iter().any(|step| step.kind == StepKind::Assistant));
}

#[test]
fn a_single_chain_has_no_tree() {
    let bytes = br#"{"win": false, "try_count": 1, "trys": [{"chain": [
        {"node_type": "Action", "description": "f"}, {"node_type": "Action Input", "description": "{}", "observation": "r", "observation_code": 0}
        ], "win": false}], "answer_generation": {"valid_data": false, "final_answer": "", "query": "q"}}"#;
    let run = raw::read(bytes).unwrap();
    assert!(run.tree.is_none() && run.notes.is_empty());
    assert_eq!(run.steps.len(), 2);
}

#[test]
fn texts_beside_calls_are_kept_in_conversions_unless_the_faults_are_wanted() {
    let roles = |faults| {
        let entry = convert::raw(&bytes("101_DFS_woFilter_w2.json"), "DFS_woFilter_w2", faults)
            .unwrap()
            .entry;
        let answer = entry.get("answer").unwrap().clone();
        let roles: Vec<String> = details::nodes(answer.get("answer_details").unwrap())
            .iter()
            .map(|node| node.role.to_owned())
            .collect();
        assert_eq!(answer.get("total_steps"), Some(&Value::Number(roles.len().to_string())));
        roles.join(" ")
    };
    assert_eq!(roles(Defects::Mended), "system user assistant tool tool assistant tool");
    assert_eq!(roles(Defects::Kept), "system user tool tool tool");
}

#[test]
fn calls_beside_finish_are_kept_with_their_replies_unless_the_faults_are_wanted_and_a_null_call_is_none()
 {
    let message = r#"{"role": "assistant", "content": null, "function_call": null, "tool_calls": [
        {"id": "1", "function": {"name": "f", "arguments": "{}"}},
        {"id": "2", "function": {"name": "Finish", "arguments": "{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}"}}]}"#;
    let file = format!(
        r#"{{"win": true, "try_count": 1, "trys": [{{"chain": [
        {{"node_type": "Action", "description": "f"}}, {{"node_type": "Action Input", "description": "{{}}", "observation": "r1", "observation_code": 0}}
        ]}}], "answer_generation": {{"valid_data": true, "final_answer": "x", "train_messages": [[{{"role": "system"}}, {{"role": "user"}}, {message}]]}}}}"#
    );
    let calls = |faults| {
        let entry = convert::raw(file.as_bytes(), "CoT@1", faults).unwrap().entry;
        let calls = details::calls(entry.get("answer").unwrap().get("answer_details").unwrap());
        calls.into_iter().map(|(call, _)| (call.name, call.response.unwrap())).collect::<Vec<_>>()
    };
    let finish = ("Finish".to_owned(), String::new());
    assert_eq!(calls(Defects::Mended), [("f".to_owned(), "r1".to_owned()), finish.clone()]);
    assert_eq!(calls(Defects::Kept), [finish]);
}

#[test]
fn a_raw_answer_and_what_it_is_converted_to_are_the_same_run() {
    for name in ALL {
        let run = read(name);
        let entry = convert::raw(&bytes(name), "M", Defects::Mended).unwrap().entry;
        for entry in [entry, convert::of_run(&run, "M", None, convert::Defects::Mended).unwrap()] {
            let again = converted::run(convert::id(name), &entry);
            let (a, b) = (transcript::outline_of(&run), transcript::outline_of(&again));
            assert_eq!(
                (a.standing, a.reason, a.answer, a.tools),
                (b.standing, b.reason, b.answer, b.tools),
                "{name}"
            );
            let names = |calls: Vec<(String, bool)>| {
                calls.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
            };
            assert_eq!(names(a.calls), names(b.calls), "{name}");
        }
    }
}

#[test]
fn transcripts_of_our_own_are_converted_so_that_others_can_score_them() {
    let run = transcript::read(
        br#"conversation:
- user_message: How far is B?
- assistant_message: Let me look.
- tool_call: { id: c1, name: way_for_map, params: { to: B, n: 2 }, result: '{"error": "", "response": 5}' }
- assistant_message: |
    ```json
    {"km": 5}
    ```
answer: { km: 5 }
"#,
    )
    .unwrap();
    let entry = convert::of_run(&run, "CoT@1", None, convert::Defects::Mended).unwrap();
    assert_eq!(entry.get("query").and_then(Value::text), Some("How far is B?"));
    let answer = entry.get("answer").unwrap();
    assert_eq!(
        answer.get("final_answer").and_then(Value::text),
        Some(r#"{"return_type":"give_answer","final_answer":"{\"km\":5}"}"#)
    );
    let calls = details::calls(answer.get("answer_details").unwrap());
    let (call, _) = &calls[0];
    assert_eq!(
        (&*call.name, &*call.arguments, call.response.as_deref()),
        ("way_for_map", r#"{"to":"B","n":2}"#, Some(r#"{"error": "", "response": 5}"#))
    );
    assert_eq!(answer.get("total_steps"), Some(&Value::Number("5".to_owned())));
}

#[test]
fn a_call_through_the_tool_that_calls_others_is_converted_as_one_of_the_function_that_is_meant() {
    let run = transcript::read(
        br#"conversation:
- user_message: How far is B?
- tool_call: { id: c1, name: search_apis, params: { query: ways }, result: way_for_map }
- tool_call: { id: c2, name: call_api, params: { name: way_for_map, arguments: { to: B } }, result: 5 km }
- tool_call: { id: c3, name: call_api, params: { name: way_for_map, arguments: '{"to": "C"}' }, result: 6 km }
- tool_call: { id: c4, name: call_api, params: { to: B }, result: which? }
"#,
    )
    .unwrap();
    let entry = convert::of_run(&run, "M", None, convert::Defects::Mended).unwrap();
    let calls = details::calls(entry.get("answer").unwrap().get("answer_details").unwrap());
    let told: Vec<(&str, &str)> =
        calls.iter().map(|(call, _)| (&*call.name, &*call.arguments)).collect();
    assert_eq!(
        told,
        [
            ("search_apis", r#"{"query":"ways"}"#),
            ("way_for_map", r#"{"to":"B"}"#),
            ("way_for_map", r#"{"to": "C"}"#),
            ("call_api", r#"{"to":"B"}"#)
        ]
    );
}

#[test]
fn outlines_say_what_finish_handed_over_which_apis_are_named_and_that_nothing_is_told() {
    let own = |params: &str| {
        let call =
            format!("- tool_call: {{ id: c, name: Finish, params: {params}, result: '' }}\n");
        let text = format!("conversation:\n- user_message: How far?\n{call}answer: x\n");
        transcript::outline(text.as_bytes()).unwrap().told.gave_up
    };
    let texts = [
        "{ return_type: give_answer }",
        "{ return_type: give_up_and_restart }",
        "{ final_answer: x }",
    ];
    assert_eq!(texts.map(own), [Some(false), Some(true), None]);
    let converted = |text: &str| converted::outline("1", &json::read(text).unwrap()).told;
    let named =
        converted(r#"{"answer": {"final_answer": "x", "called_apis": [["Sky", "Stars"]]}}"#);
    assert_eq!(
        (named.apis.map(|apis| apis[0].api.clone()).as_deref(), named.untold),
        (Some("Stars"), false)
    );
    assert!(converted(r#"{"answer": {"final_answer": "x"}}"#).untold);
    let asked = r#"{"answer": {"answer_details": [{"role": "user", "message": "", "next": []}]}}"#;
    assert!(!converted(asked).untold, "that nothing was called is told");
}

#[test]
fn what_was_done_in_a_hundred_steps_is_read_back_from_the_result_file_that_was_written() {
    let step = "- tool_call: { id: c, name: way_for_map, params: { to: B }, result: 5 km }\n";
    let text = format!("conversation:\n- user_message: How far is B?\n{}", step.repeat(100));
    let entry = convert::of_run(
        &transcript::read(text.as_bytes()).unwrap(),
        "M",
        None,
        convert::Defects::Mended,
    )
    .unwrap();
    let details = entry.get("answer").unwrap().get("answer_details").unwrap().clone();
    let one =
        Evaluation { query_id: "1".to_owned(), answer_details: details, ..Evaluation::default() };
    let file =
        ResultFile::new(&Metadata::default(), &Summary::default(), std::slice::from_ref(&one));
    assert_eq!(ResultFile::read(file.write().as_bytes()).unwrap().evaluations().next(), Some(one));
}

#[test]
fn cut_files_are_errors_and_outline_and_whole_report_the_same() {
    for name in ALL {
        let whole = bytes(name);
        for cut in (0..whole.len() - 2).step_by(97) {
            let error = raw::outline(&whole[..cut]).unwrap_err();
            assert_eq!(raw::read(&whole[..cut]).unwrap_err(), error);
            assert_eq!(convert::raw(&whole[..cut], "M", Defects::Mended).unwrap_err(), error);
        }
    }
    for odd in [
        "",
        "[]",
        "1",
        "{}",
        "{\"win\": true}",
        "{\"trys\": 1, \"tree\": []}",
        "{\"answer_generation\": 7}",
        "{\"tree\": {\"tree\": null}}",
    ] {
        assert_eq!(
            raw::outline(odd.as_bytes()).map_err(|_| ()),
            raw::read(odd.as_bytes()).map(|run| transcript::outline_of(&run)).map_err(|_| ())
        );
    }
}

#[test]
fn deep_and_huge_answers_are_read_or_refused_soon() {
    let start = Instant::now();
    let tree = |depth: usize| {
        let mut text =
            String::from("{\"win\": false, \"tree\": {\"size\": 1, \"tree\": {\"children\": [");
        text +=
            &"{\"node_type\": \"Thought\", \"description\": \"t\", \"children\": [".repeat(depth);
        text += &"]}".repeat(depth);
        text + "]}}, \"answer_generation\": {\"valid_data\": false}}"
    };
    assert!(raw::read(tree(10_000).as_bytes()).is_err());
    let deep = raw::read(tree(480).as_bytes()).unwrap();
    assert_eq!(deep.steps.len(), 480);
    let again = convert::raw(tree(480).as_bytes(), "M", Defects::Mended).unwrap().entry;
    assert_eq!(json::read_deep(&json::write(&again, true)).unwrap(), again);
    let mut wide = String::from("{\"win\": false, \"trys\": [{\"chain\": [");
    for at in 0..20_000 {
        let comma = if at > 0 { "," } else { "" };
        let _ = write!(wide, "{comma}{{\"node_type\": \"Thought\", \"description\": \"t{at}\"}}");
    }
    wide += "]}, {\"chain\": []}], \"answer_generation\": {}}";
    let run = raw::read(wide.as_bytes()).unwrap();
    let thoughts =
        run.tree.unwrap().nodes.iter().filter(|node| node.kind == TreeKind::Thought).count();
    assert_eq!(thoughts, 20_000);
    let long = wide.replace(", {\"chain\": []}", "");
    assert!(
        convert::raw(long.as_bytes(), "M", Defects::Mended)
            .unwrap_err()
            .message
            .contains("20002 steps")
    );
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// Compares texts line by line.
fn same_lines(text: &str, expected: &str) {
    assert_eq!(text.lines().collect::<Vec<_>>(), expected.lines().collect::<Vec<_>>(), "\n{text}");
}
