//! Tests of the inputs of the judge of tool calls.
use super::{block, evaluator, parse_inputs, run_evaluation, value};
use crate::azure::{Quirks, SkipReason, calls_of, reformat, tool_inputs};
use touchstone_model::json;
use touchstone_model::value::Value;

const CALL: &str =
    r#"{"type": "tool_call", "tool_call_id": "k", "name": "bus", "arguments": {"to": "Ulm"}}"#;
const UNTYPED: &str = r#"{"name": "bus", "arguments": {"to": "Ulm"}}"#;
const NESTED: &str = r#"{"type": "tool_call", "tool_call": {"id": "k", "type": "function", "function": {"name": "bus", "arguments": "{\"to\": \"Ulm\"}"}}}"#;
const OPENAI: &str = r#"{"id": "k", "type": "function", "function": {"name": "bus", "arguments": "{\"to\": \"Ulm\"}"}}"#;
const BUS: &str = r#"{"name": "bus", "type": "function", "description": "Buses."}"#;
const NESTED_BUS: &str =
    r#"{"type": "function", "function": {"name": "bus", "description": "Buses."}}"#;

const NONE: &str = "No tool calls found in response or provided tool_calls.";
const UNDEFINED: &str = "Tool definitions must be provided.";
const UNKNOWN: &str = "Tool definitions for all tool calls must be provided.";

const FAILS: &str = "fails: A definition of a tool is not an object.";

/// Returns the names of the calls and of the definitions, or the reason why there is nothing to
/// judge.
fn prepared(inputs: &str, quirks: &Quirks) -> String {
    let names = |values: &[Value]| {
        values
            .iter()
            .map(|value| value.get("name").and_then(Value::text).unwrap_or("?").to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    match tool_inputs(&parse_inputs(inputs), quirks) {
        Ok((calls, tools)) => format!("{} / {}", names(&calls), names(&tools)),
        Err(SkipReason::NotApplicable(why)) => why.to_owned(),
        Err(SkipReason::Fails(why)) => format!("fails: {why}"),
    }
}

#[test]
fn calls_need_definitions_of_their_names() {
    for (calls, tools, theirs, ours) in [
        (format!("[{CALL}]"), format!("[{BUS}]"), "bus / bus", "bus / bus"),
        (format!("[{CALL}, {CALL}]"), format!("[{BUS}]"), "bus bus / bus", "bus bus / bus"),
        (CALL.to_owned(), BUS.to_owned(), "bus / bus", "bus / bus"),
        (format!("[{CALL}]"), r#"[{"name": "bus"}]"#.to_owned(), "bus / bus", "bus / bus"),
        (
            format!("[{CALL}]"),
            r#"[{"name": "bus", "type": "file_search"}]"#.to_owned(),
            UNKNOWN,
            UNKNOWN,
        ),
        (format!("[{CALL}]"), r#"[{"name": "train"}]"#.to_owned(), UNKNOWN, UNKNOWN),
        (format!("[{CALL}]"), "[]".to_owned(), UNDEFINED, UNDEFINED),
        (format!("[{CALL}]"), "null".to_owned(), UNDEFINED, UNDEFINED),
        ("[]".to_owned(), format!("[{BUS}]"), NONE, NONE),
        ("null".to_owned(), "null".to_owned(), NONE, NONE),
        (format!("[{UNTYPED}]"), format!("[{BUS}]"), UNKNOWN, "bus / bus"),
        (format!("[{NESTED}]"), format!("[{BUS}]"), UNKNOWN, "bus / bus"),
        (format!("[{OPENAI}]"), format!("[{NESTED_BUS}]"), UNKNOWN, "bus / bus"),
        (format!("[{CALL}]"), format!("[{NESTED_BUS}]"), UNKNOWN, "bus / bus"),
        // Tables hold calls and definitions as JSON text.
        (
            json::write(&format!("[{CALL}]").as_str().into(), false),
            json::write(&format!("[{BUS}]").as_str().into(), false),
            UNKNOWN,
            "bus / bus",
        ),
        // When both names are nested, the package sees none and treats the two as equal.
        (format!("[{NESTED}]"), format!("[{NESTED_BUS}]"), "? / ?", "bus / bus"),
        (
            r#"[{"type": "tool_call"}]"#.to_owned(),
            r#"[{"description": "any"}]"#.to_owned(),
            "? / ?",
            UNKNOWN,
        ),
        // The package looks for the name of a call in each definition.
        (
            format!("[{CALL}]"),
            json::write(&format!("[{BUS}]").as_str().into(), false),
            FAILS,
            "bus / bus",
        ),
        (format!("[{CALL}]"), r#""bus(to)""#.to_owned(), FAILS, UNDEFINED),
        (format!("[{CALL}]"), format!(r#"[{BUS}, "train"]"#), FAILS, "bus / bus"),
        (format!("[{CALL}]"), "7".to_owned(), FAILS, UNKNOWN),
        (r#"["bus"]"#.to_owned(), r#"["bus"]"#.to_owned(), UNKNOWN, UNKNOWN),
    ] {
        let inputs =
            format!(r#"{{"query": "q", "tool_calls": {calls}, "tool_definitions": {tools}}}"#);
        assert_eq!(prepared(&inputs, &Quirks::all()), theirs, "{inputs}");
        assert_eq!(prepared(&inputs, &Quirks::default()), ours, "{inputs}");
    }
}

#[test]
fn calls_of_an_answer_take_the_place_of_others_and_bring_what_they_returned() {
    let response = format!(
        r#"[{{"role": "assistant", "content": [{{"type": "text", "text": "I look."}}, {CALL}]}},
            {{"role": "tool", "tool_call_id": "k", "content": [{{"type": "tool_result", "tool_result": [8]}}]}},
            {{"role": "assistant", "content": "8"}}]"#
    );
    let calls = |response: &str, quirks: &Quirks| {
        json::write(&Value::List(calls_of(&value(response), quirks).unwrap()), false)
    };
    let wanted = r#"[{"type":"tool_call","tool_call_id":"k","name":"bus","arguments":{"to":"Ulm"},"tool_result":[8]}]"#;
    assert_eq!(
        (calls(&response, &Quirks::all()), calls(&response, &Quirks::default())),
        (wanted.to_owned(), wanted.to_owned())
    );
    let openai = format!(
        r#"[{{"role": "assistant", "content": null, "tool_calls": [{OPENAI}]}}, {{"role": "tool", "tool_call_id": "k", "content": "8"}}]"#
    );
    assert_eq!(calls(&openai, &Quirks::all()), "[]");
    assert_eq!(calls(&openai, &Quirks::default()), wanted.replace("[8]", "\"8\""));
    let inputs = |response: &str| {
        format!(
            r#"{{"response": {response}, "tool_calls": [{{"type": "tool_call", "name": "other"}}], "tool_definitions": [{BUS}, {{"name": "other"}}]}}"#
        )
    };
    assert_eq!(prepared(&inputs(&response), &Quirks::all()), "bus / bus");
    assert_eq!(prepared(&inputs(r#""8 o'clock""#), &Quirks::all()), "other / other");
    assert_eq!(prepared(&inputs("[]"), &Quirks::all()), "other / other");
}

#[test]
fn messages_that_the_package_fails_over_are_passed_over() {
    const CAME: &str = r#"{"type": "tool_result", "tool_result": 8}"#;
    const BARE: &str = r#"{"type": "tool_result"}"#;
    let result = |id: &str, part: &str| {
        format!(r#"{{"role": "tool", "tool_call_id": {id}, "content": [{part}]}}"#)
    };
    let calls = |id: &str| {
        let call = CALL.replace(r#""k""#, id);
        format!(r#"{{"role": "assistant", "content": [{call}]}}"#)
    };
    for (messages, theirs) in [
        ([calls("\"k\""), result("\"k\"", CAME)], "8"),
        ([calls("\"k\""), "\"Hm\"".to_owned()], "A message of the response is not an object."),
        (
            [calls("\"k\""), result("\"k\"", BARE)],
            "A part with the result of a call has no `tool_result`.",
        ),
        ([calls("\"k\""), result("\"l\"", BARE)], "none"),
        (
            [calls("[1]"), result("\"k\"", CAME)],
            "The id of a call in the response is a list or an object.",
        ),
        (
            [calls("\"k\""), result("[1]", CAME)],
            "The id of a call in the response is a list or an object.",
        ),
        ([calls("\"k\""), result("[]", CAME)], "none"),
        ([calls("\"\""), result("\"\"", CAME)], "none"),
        // Python treats these numbers as one key, and every text as another.
        ([calls("1"), result("1.0", CAME)], "8"),
        ([calls("true"), result("1", CAME)], "8"),
        ([calls("1"), result("\"1\"", CAME)], "none"),
        ([calls("12345678901234567890"), result("12345678901234567891", CAME)], "none"),
    ] {
        let response = value(&format!("[{}]", messages.join(", ")));
        let came = |quirks: &Quirks| {
            let calls = calls_of(&response, quirks)?;
            Ok(calls[0]
                .get("tool_result")
                .map_or_else(|| "none".to_owned(), |came| json::write(came, false)))
        };
        assert_eq!(came(&Quirks::all()).unwrap_or_else(str::to_owned), theirs, "{messages:?}");
        assert!(came(&Quirks::default()).is_ok(), "{messages:?}");
    }
    let row = parse_inputs(&format!(
        r#"{{"query": "q", "response": ["Hm"], "tool_calls": [{CALL}], "tool_definitions": [{BUS}]}}"#
    ));
    let judge = evaluator("tool_call_accuracy", "{}");
    assert_eq!(
        run_evaluation(&judge, &row, &[], &Quirks::all()).1,
        "input: A message of the response is not an object."
    );
}

#[test]
fn what_cannot_be_judged_is_not_asked_about_and_passes_only_the_way_of_the_package() {
    let judge = evaluator("tool_call_accuracy", "{}");
    let result =
        |quirks: &Quirks| run_evaluation(&judge, &parse_inputs(r#"{"query": "q"}"#), &[], quirks);
    let wanted = |word: &str| {
        format!(
            concat!(
                r#"{{"tool_call_accuracy":"not applicable","tool_call_accuracy_result":"{word}","#,
                r#""tool_call_accuracy_threshold":3,"tool_call_accuracy_reason":"{none}","details":{{}}}}"#,
            ),
            word = word,
            none = NONE,
        )
    };
    assert_eq!(result(&Quirks::all()), (Vec::new(), wanted("pass")));
    assert_eq!(result(&Quirks::default()), (Vec::new(), wanted("not applicable")));
}

#[test]
fn the_judge_is_shown_each_tool_once_and_none_the_way_of_the_package() {
    let inputs = parse_inputs(&format!(
        r#"{{"query": "When?", "tool_calls": [{CALL}, {CALL}], "tool_definitions": [{BUS}]}}"#
    ));
    let judge = evaluator("tool_call_accuracy", "{}");
    let reply = r#"{"chain_of_thought": "r", "tool_calls_success_level": 5}"#;
    let (ours, _) = run_evaluation(&judge, &inputs, &[reply], &Quirks::default());
    assert_eq!(
        block(&ours[0], "tool_definitions").unwrap(),
        r#"[{"name":"bus","type":"function","description":"Buses."}]"#
    );
    let (theirs, _) = run_evaluation(&judge, &inputs, &[reply], &Quirks::all());
    assert_eq!(block(&theirs[0], "tool_definitions").unwrap(), "");
    assert!(
        block(&theirs[0], "tool_calls")
            .unwrap()
            .starts_with("[{'type': 'tool_call', 'tool_call_id': 'k'")
    );
    // A missing query is not replaced by an invented one.
    let inputs =
        parse_inputs(&format!(r#"{{"tool_calls": [{CALL}], "tool_definitions": [{BUS}]}}"#));
    assert_eq!(
        block(&run_evaluation(&judge, &inputs, &[reply], &Quirks::default()).0[0], "query")
            .unwrap(),
        "(none was given)"
    );
    assert_eq!(
        block(&run_evaluation(&judge, &inputs, &[reply], &Quirks::all()).0[0], "query").unwrap(),
        "None"
    );
}

#[test]
fn very_many_calls_and_definitions_of_one_name_are_each_taken_once() {
    let call = value(CALL);
    let tools: Vec<Value> =
        (0..5_000).map(|n| value(&format!(r#"{{"name": "bus", "description": "{n}"}}"#))).collect();
    let inputs = crate::azure::Inputs(vec![
        ("tool_calls".to_owned(), Value::List(vec![call; 5_000])),
        ("tool_definitions".to_owned(), Value::List(tools)),
    ]);
    let (calls, definitions) = tool_inputs(&inputs, &Quirks::default()).unwrap();
    assert_eq!((calls.len(), definitions.len()), (5_000, 5_000));
}

#[test]
fn calls_in_a_text_with_messages_are_found() {
    let messages = format!(r#"[{{"role": "assistant", "content": [{CALL}]}}]"#);
    let text = Value::Text(messages);
    let count = |quirks: &Quirks| calls_of(&text, quirks).unwrap().len();
    assert_eq!((count(&Quirks::default()), count(&Quirks::all())), (1, 0));
}

/// Builds messages: `a1 b1` calls a and b with the id 1, and `1=x` is a result for that id.
fn messages(told: &[&str]) -> Value {
    let message = |told: &&str| {
        if let Some((id, result)) = told.split_once('=') {
            return value(&format!(
                r#"{{"role": "tool", "tool_call_id": "{id}", "content": [{{"type": "tool_result", "tool_result": "{result}"}}]}}"#
            ));
        }
        let call = |word: &str| {
            let (name, id) = word.split_at(1);
            format!(
                r#"{{"type": "tool_call", "tool_call_id": "{id}", "name": "{name}", "arguments": {{}}}}"#
            )
        };
        let calls: Vec<String> = told.split(' ').map(call).collect();
        value(&format!(r#"{{"role": "assistant", "content": [{}]}}"#, calls.join(", ")))
    };
    Value::List(told.iter().map(message).collect())
}

#[test]
fn a_result_is_that_of_the_call_before_it_also_where_ids_begin_anew() {
    for (told, ours, theirs) in [
        (&["a1", "1=x", "b1", "1=y"][..], "a=x b=y", "a=y b=y"),
        (&["a1", "1=x", "b1"], "a=x b", "a=x b=x"),
        (&["a1", "b1", "1=y"], "a b=y", "a=y b=y"),
        (&["a1", "b1", "1=y", "1=x"], "a=x b=y", "a=x b=x"),
        (&["a1 b1", "1=x", "1=y"], "a=x b=y", "a=y b=y"),
        (&["a1 b2", "2=y", "1=x"], "a=x b=y", "a=x b=y"),
        (&["a1", "1=x", "1=y"], "a=y", "a=y"),
        (&["1=x", "a1"], "a=x", "a=x"),
        (&["1=x", "1=y", "a1"], "a=y", "a=y"),
        (&["1=x", "1=y", "a1", "b1"], "a=x b=y", "a=y b=y"),
        (&["1=x", "a1", "1=y"], "a=y", "a=y"),
        (&["a1", "2=x"], "a", "a"),
    ] {
        let response = messages(told);
        let seen = |quirks: &Quirks| {
            let of = |call: &Value| {
                let text = |key: &str| call.get(key).and_then(Value::text);
                let result = text("tool_result").map(|result| format!("={result}"));
                text("name").unwrap().to_owned() + &result.unwrap_or_default()
            };
            let calls =
                calls_of(&response, quirks).unwrap().iter().map(of).collect::<Vec<_>>().join(" ");
            let lines = reformat::agent_response(&response, true, quirks).unwrap();
            let lines = lines
                .replace("[TOOL_CALL] ", " ")
                .replace("()", "")
                .replace("\n[TOOL_RESULT] ", "=");
            assert_eq!(lines.replace('\n', "").trim(), calls, "{told:?}");
            calls
        };
        assert_eq!(
            (seen(&Quirks::default()).as_str(), seen(&Quirks::all()).as_str()),
            (ours, theirs),
            "{told:?}"
        );
    }
}

#[test]
fn very_many_calls_of_one_id_take_no_longer_than_others() {
    let calls = vec!["a1"; 20_000].join(" ");
    let told: Vec<&str> = std::iter::once(calls.as_str()).chain(vec!["1=x"; 20_000]).collect();
    let found = calls_of(&messages(&told), &Quirks::default()).unwrap();
    assert!(found.len() == 20_000 && found.iter().all(|call| call.get("tool_result").is_some()));
}
