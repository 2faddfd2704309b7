//! Tests of replays, for recordings of every shape.
use super::*;
use crate::conversation::{AssistantMessage as Spoken, Outcome};
use proptest::prelude::*;
use touchstone_formats::system::System;

fn document(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn recording(text: &str) -> Recording {
    Recording::read(&document(text)).unwrap()
}

/// Returns the conversation after these replies, with every tool call answered.
fn turns(replies: &[Reply]) -> Vec<Turn> {
    let mut turns = vec![Turn::User("go".to_owned())];
    turns.extend(replies.iter().map(|reply| {
        let mut calls = reply.calls.clone();
        for call in &mut calls {
            call.outcome = Some(Outcome::Result(Value::from("fresh")));
        }
        Turn::Assistant(Spoken { text: reply.text.clone(), kept: Vec::new(), calls })
    }));
    turns
}

/// Plays a recording to its end, one reply per line.
fn played(text: &str) -> String {
    let recording = recording(text);
    let mut replies: Vec<Reply> = Vec::new();
    for _ in 0..recording.len() {
        replies.push(recording.reply(&turns(&replies)));
    }
    let line = |reply: &Reply| {
        let calls = reply.calls.iter().map(|call| {
            format!(
                " {}:{}{}",
                call.id,
                call.name,
                touchstone_model::json::write(&call.params, false)
            )
        });
        format!(
            "{}{} {:?}",
            reply.text.as_deref().unwrap_or("-"),
            calls.collect::<String>(),
            reply.stop
        )
    };
    replies.iter().map(line).collect::<Vec<_>>().join("\n")
}

const PARALLEL: &str = "
conversation:
- user_message: go
- assistant_message: both at once
- tool_call: {id: a, name: x, params: {sql: select 1.50}, result: [], turn: 1}
- tool_call: {id: b, name: y, params: '{broken', error: no such table, turn: 1}
- tool_call: {id: c, name: x, params: {}, result: 2, turn: 2}
- error: overloaded
- user_message: actually use the y tool to get the answer
- tool_call: {name: y, turn: 3}
- note: not ours
- assistant_message: done
run: {model: claude, model_id: claude-3-7, usage: {input_tokens: 5}}
";

#[test]
fn replies_come_turn_by_turn_with_what_was_called_as_it_was_recorded() {
    insta::assert_snapshot!(played(PARALLEL), @r#"
    both at once a:x{"sql":"select 1.50"} b:y"{broken" Calls
    - c:x{} Calls
    - call_4:y{} Calls
    done Done
    "#);
    assert_eq!(recording(PARALLEL).reply(&[]).model_id.as_deref(), Some("replay of claude-3-7"));
}

#[test]
fn without_turns_a_call_belongs_to_the_message_before_it() {
    insta::assert_snapshot!(played("
conversation:
- user_message: go
- assistant_message: first
- tool_call: {id: a, name: x, params: {}, result: 1}
- tool_call: {id: a, name: y, params: {}, result: 1}
- assistant_message: null
- assistant_message: second
"), @"
    first a:x{} call_2:y{} Calls
    second Done
    ");
}

#[test]
fn a_conversation_that_is_longer_than_the_recording_is_told_so() {
    let recording = recording(PARALLEL);
    let mut replies: Vec<Reply> = Vec::new();
    for _ in 0..recording.len() + 2 {
        replies.push(recording.reply(&turns(&replies)));
    }
    let said: Vec<_> = replies[recording.len()..]
        .iter()
        .map(|reply| (reply.text.as_deref(), reply.calls.len()))
        .collect();
    assert_eq!(said, [(Some(ENDS), 0), (Some(ENDS), 0)]);
    assert_eq!(replies.last().unwrap().stop, StopReason::Done);
}

#[test]
fn an_id_that_the_conversation_has_already_is_not_used_again() {
    let recording = recording(PARALLEL);
    let other = vec![Turn::Assistant(Spoken {
        calls: ["c", "c_2"]
            .map(|id| Call {
                id: id.to_owned(),
                name: "z".to_owned(),
                params: Value::Null,
                outcome: None,
            })
            .to_vec(),
        ..Spoken::default()
    })];
    assert_eq!(recording.reply(&other).calls[0].id, "c_3");
}

#[test]
fn tokens_are_known_where_the_recording_says_them() {
    let unknown = Usage::default();
    assert_eq!(
        recording(PARALLEL).reply(&[]).usage,
        unknown,
        "of four replies nobody knows which used them"
    );
    let one = "conversation:\n- assistant_message: hello\nrun: {usage: {input_tokens: 5, output_tokens: 7}}\n";
    assert_eq!(
        recording(one).reply(&[]).usage,
        Usage { input: Some(5), output: Some(7), ..unknown }
    );
    let each = "conversation:\n- assistant_message: hello\n  usage: {input: 1, cache_read: 2}\n- tool_call: {name: x, usage: {output: 3}}\n";
    assert_eq!(recording(each).reply(&[]).usage, Usage { output: Some(3), ..unknown });
}

#[test]
fn a_reply_that_is_a_whole_has_its_output_or_its_error() {
    let whole = recording("output: {assistant_actions: []}\nanswer: [1]\n");
    assert!(whole.output().is_some() && whole.error().is_none() && whole.is_empty());
    let failed = recording("output: null\nerror: {status: 500}\n");
    assert!(failed.output().is_none() && failed.error().is_some());
    assert_eq!(
        Recording::read(&document("answer: 5\n")).unwrap_err(),
        "The recording holds neither a conversation nor an output."
    );
}

#[test]
fn a_repeat_without_a_recording_of_its_own_plays_the_first() {
    let coordinates = |repeat| Coordinates {
        task: "a/b".to_owned(),
        system: System::ToolCalling,
        model: "replay".to_owned(),
        variation: 2,
        repeat,
        fork: 0,
    };
    assert_eq!(
        recording_paths(&coordinates(1), "claude"),
        ["a/b-tool_calling-claude-variation2.yaml"]
    );
    assert_eq!(
        recording_paths(&coordinates(3), "claude"),
        ["a/b-tool_calling-claude-variation2-run3.yaml", "a/b-tool_calling-claude-variation2.yaml"]
    );
}

/// A generated reply: text, calls with outcomes, and whether the run continues after it.
type MadeUp = (Option<String>, Vec<(String, Outcome)>, bool);

fn conversations() -> impl Strategy<Value = Vec<MadeUp>> {
    let outcome = prop_oneof![
        "[a-z]{0,4}".prop_map(|s| Outcome::Result(Value::Text(s))),
        "[a-z]{1,4}".prop_map(|s| Outcome::Error(Value::Text(s)))
    ];
    let reply = (
        prop::option::of("[a-zé\n ]{0,5}[a-z]"),
        prop::collection::vec(("[a-z]{1,3}", outcome), 0..4),
        any::<bool>(),
    );
    prop::collection::vec(
        reply.prop_filter("it says something", |(text, calls, _)| {
            text.is_some() || !calls.is_empty()
        }),
        0..8,
    )
}

/// Writes one reply with the outcomes of its calls, like a run does.
fn record(
    document: &mut Document,
    turn: usize,
    reply: &Reply,
    outcomes: &[(String, Outcome)],
    turns: bool,
) {
    if let Some(text) = &reply.text {
        document.push("assistant_message", Value::Text(text.clone()));
    }
    for (call, (_, outcome)) in reply.calls.iter().zip(outcomes) {
        let (key, value) = match outcome {
            Outcome::Result(value) => ("result", value),
            Outcome::Error(value) => ("error", value),
        };
        let mut entries: Vec<(Value, Value)> = vec![
            ("id".into(), Value::Text(call.id.clone())),
            ("name".into(), Value::Text(call.name.clone())),
            ("params".into(), call.params.clone()),
            (key.into(), value.clone()),
        ];
        if turns {
            entries.push(("turn".into(), Value::Number(turn.to_string())));
        }
        document.push("tool_call", Value::Map(entries));
    }
}

proptest! {
    #[test]
    fn a_replay_with_the_same_tools_is_the_same_conversation(
        said in conversations(), with_turns in any::<bool>(), errors in any::<bool>()
    ) {
        // Without `turn:`, consecutive replies that only call tools cannot be told apart.
        let said: Vec<_> = said.into_iter().map(|(text, calls, nudged)| {
            (if with_turns { text } else { text.or(Some("and".to_owned())) }, calls, nudged)
        }).collect();
        let params = Value::Map(vec![("n".into(), Value::Number("1.50".to_owned()))]);
        let mut recorded = Document::conversation();
        recorded.push("user_message", "go".into());
        for (at, (text, calls, nudged)) in said.iter().enumerate() {
            let call = |(place, (name, _)): (usize, &(String, Outcome))| Call {
                id: format!("c{at}_{place}"), name: name.clone(), params: params.clone(), outcome: None,
            };
            let calls_made = calls.iter().enumerate().map(call).collect();
            let reply = Reply { text: text.clone(), calls: calls_made, ..Reply::default() };
            record(&mut recorded, at + 1, &reply, calls, with_turns);
            if *nudged {
                recorded.push("user_message", "go on".into());
            }
        }
        let original = recorded.clone();
        if errors {
            recorded.push("error", "overloaded".into());
        }

        let recording = Recording::read(&Document::read(recorded.write().as_bytes()).unwrap()).unwrap();
        prop_assert_eq!(recording.len(), said.len());
        let mut replayed = Document::conversation();
        replayed.push("user_message", "go".into());
        let mut talk = vec![Turn::User("go".to_owned())];
        for (at, (_, outcomes, nudged)) in said.iter().enumerate() {
            let reply = recording.reply(&talk);
            prop_assert_eq!(&reply.stop, if outcomes.is_empty() { &StopReason::Done } else { &StopReason::Calls });
            record(&mut replayed, at + 1, &reply, outcomes, with_turns);
            talk.push(Turn::Assistant(Spoken { text: reply.text, kept: reply.kept, calls: reply.calls }));
            if *nudged {
                replayed.push("user_message", "go on".into());
                talk.push(Turn::User("go on".to_owned()));
            }
        }
        prop_assert_eq!(replayed, original);
        prop_assert_eq!(recording.reply(&talk).text, Some(ENDS.to_owned()));
    }
}
