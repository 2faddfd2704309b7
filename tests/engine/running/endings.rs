//! Tests of every way in which a run can end, and of the resulting file.
use super::stage::{
    ANSWER, PLAIN, QUERY, RUN, calls, chat, fact, folder_with, plain, says, transcript_lines,
    workspace,
};
use super::{document, folder, request, run};
use crate::conversation::{Conversation, Wire};
use crate::scripted::{Reply, Scripted};
use serde_json::{Value, json};
use touchstone_api::{LaunchRunState, LaunchState};

fn finished(mut completion: Value, finish: &str) -> Value {
    completion["choices"][0]["finish_reason"] = json!(finish);
    completion
}

fn refused(words: &str) -> Value {
    let mut completion = chat(None, &[]);
    completion["choices"][0]["message"]["refusal"] = json!(words);
    completion
}

#[test]
fn a_run_ends_as_its_last_reply_says() {
    use LaunchRunState::{Answered, Error, NoAnswer};
    let cut = "The reply was cut at the token limit, so it is not an answer. Raise `max_tokens` of the model, then continue.";
    let strange = "The reply ended for an unknown reason: `weather`.";
    let table: [(Value, LaunchRunState, Option<&str>, Value); 8] = [
        (chat(Some(ANSWER), &[]), Answered, None, json!({ "assistant_message": ANSWER })),
        (chat(Some("7"), &[]), NoAnswer, None, json!({ "assistant_message": "7" })),
        (chat(None, &[]), NoAnswer, None, json!({ "assistant_message": "" })),
        (refused("I will not."), NoAnswer, None, json!({ "assistant_message": "I will not." })),
        (
            finished(chat(None, &[]), "content_filter"),
            Error,
            Some("The model refused to continue."),
            json!({ "error": { "message": "The model refused to continue." } }),
        ),
        (
            finished(chat(Some(ANSWER), &[]), "length"),
            Error,
            Some(cut),
            json!({ "error": { "message": cut, "text": ANSWER } }),
        ),
        (
            finished(chat(None, &[("c", "query_things", "{\"sq")]), "length"),
            Error,
            Some(cut),
            json!({ "error": { "message": cut } }),
        ),
        (
            finished(chat(None, &[]), "weather"),
            Error,
            Some(strange),
            json!({ "error": { "message": strange } }),
        ),
    ];
    let replies: Vec<Reply> = table.iter().map(|(reply, ..)| Reply::json(reply)).collect();
    let server = Scripted::start(move |seen| {
        let prompt =
            seen.json()["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
        let case =
            prompt.trim_matches('"').strip_prefix("case ").unwrap().parse::<usize>().unwrap();
        replies[case].clone()
    });
    let variations =
        (0..table.len()).map(|case| format!("  - n: {case}\n")).collect::<Vec<_>>().concat();
    let task = format!("tool_calling_prompt: case {{n}}\nvariations:\n{variations}");
    let bench = folder_with(&workspace(&server, "", ""), &task);
    let view = run(&bench, &request());
    assert_eq!((view.state, view.total), (LaunchState::Done, table.len() as u64));
    for (case, (_, state, doing, item)) in table.iter().enumerate() {
        let path = format!("count-tool_calling-scripted-variation{case}.yaml");
        let row = view.runs.iter().find(|run| run.path == path).unwrap();
        assert_eq!((row.state, row.doing.as_deref()), (*state, *doing), "{case}");
        let path = format!("results/{path}");
        let lines = transcript_lines(&bench, &path);
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.len(), 2, "{case}: {lines:?}");
        assert_eq!(serde_json::from_str::<Value>(lines[1]).unwrap(), *item, "{case}");
        assert_eq!(document(&bench, &path).get("answer").is_some(), *state == Answered, "{case}");
        assert!(
            fact(&bench, &path, "finished").is_some() && fact(&bench, &path, "started").is_some()
        );
        assert_eq!(fact(&bench, &path, "turns").as_deref(), Some("1"), "{case}");
    }
    // Runs that ended in an error are owed, the others are not.
    let plan = bench.app().launches().plan_launch(&request()).unwrap();
    assert_eq!((plan.owed_total, plan.skipped_total), (4, 4));
}

#[test]
fn what_goes_wrong_in_a_tool_is_told_to_the_model_and_the_run_goes_on() {
    let server = Scripted::start(|seen| match super::stage::count(seen, "tool") {
        0 => calls(&[
            ("a", "query_things", "{\"sql\": "),
            ("b", "query_nothing", QUERY),
            ("c", "query_things", r#"{"sql": "SELECT nope FROM nowhere"}"#),
            ("d", "query_things", QUERY),
        ]),
        4 => says(ANSWER),
        other => panic!("{other} outcomes"),
    });
    let bench = plain(&server);
    let view = run(&bench, &request());
    assert_eq!((view.done, view.failed), (1, 0), "{:?}", view.runs);
    insta::assert_snapshot!(transcript_lines(&bench, RUN), @"
    {\"user_message\":\"How many?\"}
    {\"tool_call\":{\"id\":\"a\",\"name\":\"query_things\",\"params\":\"{\\\"sql\\\": \
        \",\"error\":\"The arguments are not a JSON object, so `query_things` was not called. What \
        came: {\\\"sql\\\": \",\"turn\":1}}
    {\"tool_call\":{\"id\":\"b\",\"name\":\"query_nothing\",\"params\":{\"sql\":\"SELECT \
        sum(number) AS n FROM things\"},\"error\":\"There is no tool named `query_nothing`. There \
        are: query_things.\",\"turn\":1}}
    {\"tool_call\":{\"id\":\"c\",\"name\":\"query_things\",\"params\":{\"sql\":\"SELECT nope FROM nowhere\"},\"error\":\"no such table: nowhere\",\"turn\":1}}
    {\"tool_call\":{\"id\":\"d\",\"name\":\"query_things\",\"params\":{\"sql\":\"SELECT sum(number) AS n FROM things\"},\"result\":[{\"n\":7}],\"turn\":1}}
    {\"assistant_message\":\"Here.\\n\\n```json\\n[{\\\"n\\\": 7}]\\n```\"}
    ");
    let second = server.seen()[1].json();
    let told: Vec<&str> = second["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|m| m["role"] == "tool")
        .map(|m| m["content"].as_str().unwrap())
        .collect();
    assert!(
        told[0].contains("not a JSON object")
            && told[1].contains("query_things")
            && told[2].contains("nowhere"),
        "{told:?}"
    );
    assert_eq!(told[3], r#"[{"n":7}]"#);
}

#[test]
fn what_was_thought_is_sent_back_word_for_word_also_when_the_run_goes_on() {
    let thought = json!({ "type": "thinking", "thinking": "hm\n", "signature": "c2ln/+=" });
    let hidden = json!({ "type": "redacted_thinking", "data": "ZGF0YQ==" });
    let (sent, also) = (thought.clone(), hidden.clone());
    let server = Scripted::start(move |seen| {
        match seen.number {
        0 => Reply::json(&json!({
            "id": "m", "type": "message", "role": "assistant", "model": "any", "stop_reason": "tool_use",
            "content": [sent, also, { "type": "tool_use", "id": "t1", "name": "query_things", "input": { "sql": "SELECT 1 AS n" } }],
            "usage": { "input_tokens": 1, "output_tokens": 1 },
        })),
        1 => Reply::json(&json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "no" } }))
            .status(400),
        _ => Conversation::new(Wire::Messages, 0).reply(seen),
    }
    });
    let bench = folder(&server, Wire::Messages);
    let only = touchstone_api::LaunchRequest { variations: vec![0], ..request() };
    assert_eq!(run(&bench, &only).failed, 1);
    let bench = bench.reopen();
    assert_eq!(run(&bench, &only).done, 1);
    let seen = server.seen();
    for request in [&seen[1], &seen[2]] {
        let content = &request.json()["messages"][1]["content"];
        assert_eq!((&content[0], &content[1]), (&thought, &hidden), "{content}");
        assert_eq!(content[2]["type"], "tool_use");
    }
    assert_eq!(seen[1].json()["messages"], seen[2].json()["messages"], "the same is asked again");
    assert_eq!(seen[1].json()["system"], seen[2].json()["system"], "and the time stands still");
}

#[test]
fn a_run_that_never_ends_is_ended_after_the_turns_it_may_have_and_goes_on_with_more() {
    let server = Scripted::start(|seen| {
        let turn = super::stage::count(seen, "tool");
        if turn == 4 {
            says(ANSWER)
        } else {
            calls(&[(&format!("c{turn}"), "query_things", QUERY)])
        }
    });
    let bench = folder_with(&workspace(&server, "", "run: { max_turns: 2 }\n"), PLAIN);
    let view = run(&bench, &request());
    assert_eq!((view.failed, server.delivered()), (1, 2));
    assert!(view.runs[0].doing.as_ref().unwrap().contains("`max_turns`"), "{:?}", view.runs);
    bench.write("tasks/count.yaml", format!("{PLAIN}max_turns: 5\n"));
    let bench = bench.reopen();
    assert_eq!((run(&bench, &request()).done, server.delivered()), (1, 5));
    assert_eq!(document(&bench, RUN).items().len(), 6);
    assert_eq!(fact(&bench, RUN, "turns").as_deref(), Some("5"));
}

#[test]
fn a_reply_that_comes_as_a_stream_makes_the_same_transcript() {
    for (wire, provider) in [(Wire::Chat, "openai"), (Wire::Messages, "anthropic")] {
        let said: Vec<String> = ["false", "true"]
            .map(|stream| {
                let conversation = Conversation::new(wire, 2);
                let server = Scripted::start(move |seen| conversation.reply(seen));
                let file = format!(
                    "input_dir: tasks\noutput_dir: results\nmodels:\n  scripted: {{ provider: {provider}, base_url: '{}', stream: {stream} }}\n{}",
                    server.url("/v1"),
                    super::THINGS
                );
                let bench = folder_with(&file, PLAIN);
                assert_eq!(run(&bench, &request()).done, 1);
                let streamed = server.seen().iter().all(|seen| seen.json()["stream"] == true);
                assert_eq!(streamed, stream == "true");
                transcript_lines(&bench, RUN)
            })
            .into();
        assert_eq!(said[0], said[1]);
    }
}

#[test]
fn what_replies_used_is_added_up_and_a_price_that_is_not_known_is_no_price_of_nothing() {
    let server = Scripted::start(super::stage::calls_then_answers);
    let bench = plain(&server);
    let view = run(&bench, &request());
    assert_eq!((view.tokens, view.unpriced), (Some(220), 0));
    assert!((view.cost - 0.00024).abs() < 1e-9, "{}", view.cost);
    assert_eq!(fact(&bench, RUN, "cost").as_deref(), Some("0.00024"));
    assert_eq!(
        fact(&bench, RUN, "usage").as_deref(),
        Some(r#"{"input_tokens":200,"output_tokens":20}"#)
    );
    assert_eq!(fact(&bench, RUN, "model_id").as_deref(), Some(r#""any-1""#));
    let unpriced = workspace(&server, "", "").replace(", price: { input: 1.0, output: 2.0 }", "");
    let bench = folder_with(&unpriced, PLAIN);
    let view = run(&bench, &request());
    assert_eq!((view.tokens, view.unpriced), (Some(220), 2));
    assert!(view.cost.abs() < 1e-12 && view.runs[0].cost.is_none());
    assert_eq!(fact(&bench, RUN, "cost"), None);
    // Once a part is unknown, the sum stays unknown, even if a price exists when the run resumes.
    bench.write("touchstone.yaml", workspace(&server, "", ""));
    let id = bench.wait_state(super::stage::NAME, touchstone_api::RunState::Answered).id;
    let launched = bench.app().launches().nudge_run(&id, "again", true).unwrap();
    assert_eq!(super::ended(&bench, &launched.launch).unpriced, 0);
    assert_eq!(fact(&bench, RUN, "cost"), None);
}
