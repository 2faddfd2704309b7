//! Threads of every form, and the selection of their responses.
use super::*;
use proptest::prelude::*;
use touchstone_model::json;
use touchstone_model::run::{self, Run, Step, StepKind};

const AGENT: &str = r#"{"messages": [
    {"role": "system", "content": "You tell tides."},
    {"role": "user", "content": [{"type": "text", "text": "High tide?"}], "createdAt": "2025-06-01T08:00:00Z"},
    {"role": "assistant", "run_id": "a", "createdAt": "2025-06-01T08:00:02Z",
      "content": [{"type": "tool_call", "tool_call_id": "t1", "name": "tide", "arguments": "{\"port\": \"Ost\"}"}]},
    {"role": "assistant", "run_id": "a", "createdAt": "2025-06-01T08:00:03Z", "content": [{"type": "text", "text": "At nine."}]},
    {"role": "tool", "run_id": "a", "tool_call_id": "t1", "createdAt": "2025-06-01T08:00:03Z", "content": [{"type": "tool_result", "tool_result": "09:00"}]},
    {"role": "user", "content": [{"type": "text", "text": "Low?"}], "createdAt": "2025-06-01T08:01:00Z"},
    {"role": "assistant", "run_id": "b", "createdAt": "2025-06-01T08:01:02Z", "content": [{"type": "text", "text": "At three."}]},
    {"role": "user", "content": "Thanks", "createdAt": "2025-06-01T08:02:00Z"}],
  "tools": [{"type": "function", "name": "tide", "description": "Tides of a port",
    "parameters": {"type": "object", "required": ["port"], "properties": {"port": {"type": "string"}}}},
    {"type": "file_search"}]}"#;

const CHAT: &str = r#"{"messages": [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": "High tide?"},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "tide", "arguments": "{\"port\": \"Ost\"}"}}]},
    {"role": "tool", "tool_call_id": "t1", "content": "{\"at\": \"09:00\"}"},
    {"role": "assistant", "content": "At nine."},
    {"role": "user", "content": "Low?"},
    {"role": "assistant", "content": "At three."},
    {"role": "user", "content": "Thanks"}],
  "tools": [{"type": "function", "function": {"name": "tide", "description": "Tides",
    "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}}}]}"#;

const KERNEL: &str = r#"{"messages": [
    {"role": "user", "items": [{"content_type": "text", "text": "High tide?"}]},
    {"role": "assistant", "items": [{"content_type": "function_call", "id": "t1",
      "plugin_name": "Sea", "function_name": "tide", "arguments": "{\"port\": \"Ost\"}"}]},
    {"role": "tool", "items": [{"content_type": "function_result", "id": "t1", "result": "09:00"}]},
    {"role": "assistant", "items": [{"content_type": "text", "text": "At nine."}]}]}"#;

fn rows(text: &str, choice: &Choice) -> Vec<Row> {
    read(text.as_bytes()).unwrap().iter().flat_map(|thread| thread.rows(choice).unwrap()).collect()
}

/// Formats a row as roles with their contents.
fn describe_row(row: &Row) -> String {
    let one = |message: &Value| {
        let content = message.get("content").unwrap();
        let piece = |item: &Value| match message::kind(item) {
            "tool_call" => format!(
                "{}{}",
                item.get("name").unwrap().text().unwrap(),
                json::write(item.get("arguments").unwrap(), false)
            ),
            "tool_result" => json::write(item.get("tool_result").unwrap(), false),
            _ => item.get("text").and_then(Value::text).unwrap_or("?").to_owned(),
        };
        let text = content.text().map_or_else(
            || content.items().iter().map(piece).collect::<Vec<_>>().join("+"),
            str::to_owned,
        );
        format!("{}:{text}", message.get("role").unwrap().text().unwrap())
    };
    let side = |messages: &[Value]| messages.iter().map(one).collect::<Vec<_>>().join(" | ");
    format!("{} => {}", side(&row.query), side(&row.response))
}

fn part(part: Part) -> Choice {
    Choice { part, ..Choice::default() }
}

#[test]
fn a_run_of_an_agents_thread_is_its_response_and_the_rest_before_it_the_query() {
    let first = &rows(AGENT, &part(Part::Run("a".to_owned())))[0];
    assert_eq!(
        describe_row(first),
        r#"system:You tell tides. | user:High tide? => assistant:tide{"port":"Ost"} | tool:"09:00" | assistant:At nine."#
    );
    let last = Choice { part: Part::Last, without_earlier_tool_calls: true };
    assert_eq!(
        describe_row(&rows(AGENT, &last)[0]),
        "system:You tell tides. | user:High tide? | assistant:At nine. | user:Low? => assistant:At three."
    );
    assert_eq!(rows(AGENT, &part(Part::All)).len(), 2);
    let unknown = &rows(AGENT, &part(Part::Run("zz".to_owned())))[0];
    assert_eq!((unknown.query.len(), unknown.response.len()), (8, 0));
}

#[test]
fn tools_are_listed_without_what_they_must_be_given_and_built_in_ones_have_a_place() {
    let tools = &rows(AGENT, &Choice::default())[0].tool_definitions;
    assert_eq!(
        json::write(&tools[0], false),
        r#"{"name":"tide","type":"function","description":"Tides of a port","parameters":{"type":"object","properties":{"port":{"type":"string"}}}}"#
    );
    assert_eq!((tools.len(), tools[1].get("name").and_then(Value::text)), (2, Some("file_search")));
    assert_eq!(
        rows(CHAT, &Choice::default())[0].tool_definitions[0].get("name").and_then(Value::text),
        Some("tide")
    );
}

#[test]
fn a_chat_is_cut_into_turns_where_the_person_speaks() {
    let all: Vec<String> = rows(CHAT, &part(Part::All)).iter().map(describe_row).collect();
    assert_eq!(
        all,
        [
            r#"system:Be brief. | user:High tide? => assistant:tide{"port":"Ost"} | tool:{"at":"09:00"} | assistant:At nine."#,
            concat!(
                r#"system:Be brief. | user:High tide? | assistant:tide{"port":"Ost"} | "#,
                r#"tool:{"at":"09:00"} | assistant:At nine. | user:Low? => assistant:At three."#,
            ),
        ]
    );
    assert_eq!(rows(CHAT, &part(Part::Turn(2))), rows(CHAT, &Choice::default()));
    let none = read(CHAT.as_bytes()).unwrap()[0].rows(&part(Part::Turn(3))).unwrap_err();
    assert!(none.contains("2 turns"), "{none}");
}

#[test]
fn threads_of_semantic_kernel_name_functions_with_their_plugin() {
    let row = &rows(KERNEL, &Choice::default())[0];
    assert_eq!(
        describe_row(row),
        r#"user:High tide? => assistant:Sea-tide{"port":"Ost"} | tool:"09:00" | assistant:At nine."#
    );
    assert_eq!(row.response[1].get("tool_call_id").and_then(Value::text), Some("t1"));
    let dotnet = r#"[{"Role": {"Label": "user"}, "Items": [{"$type": "TextContent", "Text": "Hi"}]},
        {"Role": {"Label": "Assistant"}, "Items": [{"$type": "FunctionCallContent", "Id": "1", "FunctionName": "f", "Arguments": {"a": 1}}]},
        {"Role": {"Label": "tool"}, "Items": [{"$type": "FunctionResultContent", "CallId": "1", "Result": 5}]}]"#;
    assert_eq!(
        describe_row(&rows(dotnet, &Choice::default())[0]),
        r#"user:Hi => assistant:f{"a":1} | tool:5"#
    );
}

#[test]
fn a_file_may_hold_one_thread_a_line_and_what_is_none_says_so() {
    let line = |text: &str| json::write(&json::read(text).unwrap(), false);
    let many = format!("{}\n\n{}\n", line(CHAT), line(KERNEL));
    assert_eq!(rows(&many, &Choice::default()).len(), 2);
    let broken = format!("{}\n{{\"a\": 1}}\n", line(CHAT));
    assert_eq!(read(broken.as_bytes()).unwrap_err().line, Some(2));
    for odd in
        ["", "{}", "[]", "[1]", "{\"messages\": 1}", "{\"messages\": [{\"content\": 1}]}", "x"]
    {
        assert!(read(odd.as_bytes()).is_err(), "{odd}");
    }
}

#[test]
fn a_run_of_ours_becomes_a_thread_with_its_calls_beside_what_was_said() {
    let label = |label: &str, value: &str| run::Part {
        label: label.to_owned(),
        value: Value::from(value),
        ..run::Part::default()
    };
    let step = |turn, kind, title: Option<&str>, parts| Step {
        turn,
        kind,
        title: title.map(str::to_owned),
        failed: (kind == StepKind::ToolCall).then_some(false),
        parts,
        ..Step::default()
    };
    let run = Run {
        steps: vec![
            step(1, StepKind::User, None, vec![label("message", "High tide?")]),
            step(2, StepKind::Assistant, None, vec![label("message", "Let me look.")]),
            step(
                2,
                StepKind::ToolCall,
                Some("tide"),
                vec![label("port", "Ost"), label("result", "[1]")],
            ),
            step(
                2,
                StepKind::ToolCall,
                Some("tide"),
                vec![label("port", "West"), label("error", "gone")],
            ),
            step(3, StepKind::Error, None, vec![label("error", "down")]),
            step(3, StepKind::Program, None, vec![label("code", "1+1"), label("output", "2")]),
            step(4, StepKind::Artifact, Some("tides"), vec![label("result", "at nine")]),
        ],
        ..Run::default()
    };
    assert_eq!(
        describe_row(&of_run(&run).rows(&Choice::default()).unwrap()[0]),
        "user:High tide? => assistant:Let me look.+tide{\"port\":\"Ost\"}+tide{\"port\":\"West\"} | tool:[1] | tool:\"gone\" | \
         assistant:program{\"code\":\"1+1\"} | tool:\"2\" | assistant:tides:\nat nine"
    );
}

proptest! {
    #[test]
    fn no_file_brings_it_to_a_stop_and_every_row_is_made_of_what_is_there(
        roles in prop::collection::vec(prop::sample::select(vec!["user", "assistant", "tool", "system", "odd"]), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let messages: Vec<String> = roles.iter().map(|role| format!("{{\"role\": \"{role}\", \"content\": \"x\"}}")).collect();
        let text = format!("[{}]", messages.join(","));
        let thread = &read(text.as_bytes()).unwrap()[0];
        for row in thread.rows(&part(Part::All)).unwrap() {
            prop_assert!(row.query.len() + row.response.len() <= roles.len());
        }
        let _ = read(&text.as_bytes()[..cut.index(text.len())]);
    }
}

#[test]
fn parameters_that_are_called_like_results_are_given_and_no_results() {
    let part = |label: &str, value: &str| run::Part {
        label: label.to_owned(),
        value: value.into(),
        ..run::Part::default()
    };
    let step = |kind, parts| Step {
        kind,
        turn: 1,
        title: Some("f".to_owned()),
        failed: Some(false),
        parts,
        ..Step::default()
    };
    let messages = |step: Step| {
        let messages = of_run(&Run { steps: vec![step], ..Run::default() }).messages;
        messages
            .iter()
            .map(|message| json::write(&Value::List(message.content.clone()), false))
            .collect::<Vec<_>>()
    };
    let called = step(
        StepKind::ToolCall,
        vec![part("output", "a"), part("error", "b"), part("result", "c"), part("result", "d")],
    );
    assert_eq!(
        messages(called),
        [
            r#"[{"type":"tool_call","tool_call_id":"call_1","name":"f","arguments":{"output":"a","error":"b","result":"c"}}]"#,
            r#"[{"type":"tool_result","tool_result":"d"}]"#
        ]
    );
    // A call without a result.
    let silent = Step {
        failed: None,
        ..step(StepKind::ToolCall, vec![part("error", "b"), part("result", "c")])
    };
    assert_eq!(
        messages(silent),
        [
            r#"[{"type":"tool_call","tool_call_id":"call_1","name":"f","arguments":{"error":"b","result":"c"}}]"#
        ]
    );
    let ran = step(StepKind::Program, vec![part("code", "a"), part("output", "b")]);
    assert_eq!(
        messages(ran),
        [
            r#"[{"type":"tool_call","tool_call_id":"call_1","name":"f","arguments":{"code":"a"}}]"#,
            r#"[{"type":"tool_result","tool_result":"b"}]"#
        ]
    );
}

#[test]
fn every_call_of_a_run_has_an_id_of_its_own_and_its_result_that_of_its_call() {
    let step = |id: Option<&str>| Step {
        kind: StepKind::ToolCall,
        title: Some("f".to_owned()),
        call_id: id.map(str::to_owned),
        failed: Some(false),
        parts: vec![run::Part { label: "result".to_owned(), ..run::Part::default() }],
        ..Step::default()
    };
    let ids = [None, Some("call_2"), Some("1"), Some("1"), None, Some(""), Some("1_2"), Some("1")];
    let steps: Vec<Step> =
        ids.iter().zip(1..).map(|(id, turn)| Step { turn, ..step(*id) }).collect();
    let messages = of_run(&Run { steps, ..Run::default() }).messages;
    let called = messages
        .iter()
        .flat_map(|message| &message.content)
        .filter(|item| message::kind(item) == "tool_call");
    let called: Vec<&str> =
        called.map(|call| call.get("tool_call_id").unwrap().text().unwrap()).collect();
    assert_eq!(called, ["call_1", "call_2", "1", "1_3", "call_3", "call_4", "1_2", "1_4"]);
    let answered: Vec<&str> =
        messages.iter().filter_map(|message| message.call.as_deref()).collect();
    assert_eq!(called, answered);
}

#[test]
fn results_stand_with_their_calls_where_ids_begin_anew_or_are_all_the_same() {
    let call = |name: &str| {
        format!(r#"{{"id": "1", "function": {{"name": "{name}", "arguments": "{{}}"}}}}"#)
    };
    let says = |calls: &[String]| {
        format!(r#"{{"role": "assistant", "content": null, "tool_calls": [{}]}}"#, calls.join(", "))
    };
    let came =
        |result: &str| format!(r#"{{"role": "tool", "tool_call_id": "1", "content": "{result}"}}"#);
    let text = [
        says(&[call("a")]),
        came("of a"),
        says(&[call("b"), call("c")]),
        came("of b"),
        came("of c"),
        says(&[call("d")]),
        says(&[call("e")]),
        came("of e"),
    ];
    let mut telling = StepBuilder::default();
    assert!(telling.messages(&json::read(&format!("[{}]", text.join(", "))).unwrap()));
    let told: Vec<String> = telling
        .into_steps()
        .iter()
        .map(|step| {
            let result = step.parts.last().and_then(|part| part.value.text()).unwrap_or("-");
            format!("{} {result}", step.title.as_deref().unwrap_or("?"))
        })
        .collect();
    assert_eq!(told, ["a of a", "b of b", "c of c", "d -", "e of e"]);
}

#[test]
fn a_result_that_stands_before_its_call_is_put_to_it_and_of_several_the_last() {
    let one = |word: &str| match word.split_once('=') {
        Some((id, result)) => {
            format!(r#"{{"role": "tool", "tool_call_id": "{id}", "content": "{result}"}}"#)
        }
        None => format!(
            r#"{{"role": "assistant", "content": null, "tool_calls": [{{"id": "{}", "function": {{"name": "{}", "arguments": "{{}}"}}}}]}}"#,
            &word[1..],
            &word[..1]
        ),
    };
    for (told, wanted) in [
        ("1=x a1", "a x"),
        ("1=x 1=y a1", "? x, a y"),
        ("1=x 1=y a1 b1", "a x, b y"),
        ("1=x a1 1=y", "? x, a y"),
        ("1=x a1 b1 1=y", "a x, b y"),
        ("1=x a2", "? x, a -"),
        ("1=x 2=y b2 a1", "b y, a x"),
    ] {
        let messages: Vec<String> = told.split(' ').map(one).collect();
        let mut telling = StepBuilder::default();
        assert!(telling.messages(&json::read(&format!("[{}]", messages.join(", "))).unwrap()));
        let steps = telling.into_steps();
        let shown = steps.iter().map(|step| {
            let result = step.parts.last().and_then(|part| part.value.text()).unwrap_or("-");
            format!("{} {result}", step.title.as_deref().unwrap_or("?"))
        });
        assert_eq!(shown.collect::<Vec<_>>().join(", "), wanted, "{told}");
    }
}

#[test]
fn the_text_of_a_response_is_the_last_that_the_agent_said() {
    let rows = |text: &str| read(text.as_bytes()).unwrap()[0].rows(&Choice::default()).unwrap();
    let said = r#"[{"role": "user", "content": "Which?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "seven"},
        {"role": "assistant", "content": [{"type": "text", "text": "Number"}, {"type": "text", "text": "seven."}]}]"#;
    assert_eq!(rows(said)[0].response_text().as_deref(), Some("Number\nseven."));
    assert_eq!(rows(r#"[{"role": "user", "content": "Which?"}]"#)[0].response_text(), None);
}

#[test]
fn messages_after_a_run_are_not_part_of_its_query_even_in_the_same_second() {
    let said = |role: &str, run: &str, text: &str| {
        format!(
            r#"{{"role": "{role}", {run}"content": [{{"type": "text", "text": "{text}"}}], "createdAt": "2025-06-01T08:00:00Z"}}"#
        )
    };
    let messages = [
        said("user", "", "High tide?"),
        said("assistant", r#""run_id": "a", "#, "At nine."),
        said("user", "", "Low?"),
    ];
    let thread = format!(r#"{{"messages": [{}]}}"#, messages.join(", "));
    let choice = Choice { part: Part::Run("a".to_owned()), ..Choice::default() };
    assert_eq!(describe_row(&rows(&thread, &choice)[0]), "user:High tide? => assistant:At nine.");
}
