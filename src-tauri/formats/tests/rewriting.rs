//! Rewriting a transcript keeps unknown content in place.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use touchstone_formats::transcript::{self, Document};
use touchstone_model::run::RecordedState;
use touchstone_model::value::Value;
use touchstone_model::yaml;

const FILE: &str = "\
remark: first
conversation:
  - user_message: a
  - reviewer_note: {by: someone, 12: [x]}
  - tool_call: {id: call_1, name: q, params: {sql: x}, strange: 5}
  - error: {status: 529}
run: {model: o1, forked_from: {file: b, step: 3}}
later: {z: 1, a: 2}
";

fn document() -> Document {
    Document::read(FILE.as_bytes()).unwrap()
}

fn keys(text: &str) -> Vec<String> {
    yaml::read(text)
        .unwrap()
        .entries()
        .iter()
        .filter_map(|(key, _)| key.text().map(str::to_owned))
        .collect()
}

#[test]
fn rewriting_keeps_untouched_parts_in_place() {
    assert_eq!(yaml::read(&document().write()), yaml::read(FILE));
}

#[test]
fn resuming_drops_the_error_and_appends() {
    let mut document = document();
    assert_eq!(
        document.pop().unwrap().get("error").unwrap().get("status"),
        Some(&Value::Number("529".into()))
    );
    document.push("assistant_message", "line one\nline two\n".into());
    document.set_answer(Some(Value::List(vec![])));
    document.set_run("model", "o3-mini".into());
    document.set_run("turns", Value::Number("1".into()));
    let written = document.write();
    assert_eq!(keys(&written), ["remark", "conversation", "answer", "run", "later"]);
    assert!(
        written.contains("  - assistant_message: |\n      line one\n      line two\n"),
        "{written}"
    );
    assert!(written.contains("forked_from"), "{written}");
    assert_eq!(transcript::outline(written.as_bytes()).unwrap().standing, RecordedState::Answered);
    let again = Document::read(written.as_bytes()).unwrap();
    assert_eq!(again, document);
    assert_eq!(again.items()[1], document.items()[1]);
}

#[test]
fn no_answer_is_no_key() {
    let mut document = document();
    document.set_answer(Some("x".into()));
    document.set_answer(None);
    assert_eq!(document, self::document());
}

#[test]
fn a_new_transcript_is_what_it_says() {
    let mut document = Document::conversation();
    assert_eq!(document.write(), "conversation: []\n");
    document.push("user_message", "a".into());
    document.keep(1);
    assert_eq!(document.write(), "conversation:\n  - user_message: a\n");
    let mut reply = Document::reply();
    reply.set("output", Value::Map(vec![("thread_id".into(), "t".into())]));
    reply.set_answer(Some(Value::Null));
    reply.set("error", "timed out".into());
    reply.remove("error");
    assert_eq!(reply.write(), "output:\n  thread_id: t\nanswer: null\n");
    assert_eq!(reply.run().unwrap().answer.unwrap().value, Value::Null);
}

#[test]
fn files_that_are_not_transcripts_are_not_rewritten() {
    assert!(Document::read(b"a: 1\n").is_err());
    assert!(Document::read(b"conversation: [").is_err());
}

#[test]
fn what_a_conversation_holds_has_the_turns_that_its_readers_see() {
    for text in [
        "conversation:\n- user_message: a\n- assistant_message: b\n- tool_call: {name: x, turn: 1}\n- tool_call: {name: y, turn: 2}\n",
        "conversation:\n- tool_call: {name: x}\n- error: e\n- tool_call: {name: y}\n- note: n\n- system_message: s\nerror: late\n",
        "conversation:\n- {assistant_message: b, tool_call: {name: x}, usage: 1}\n- {user_message: null, error: e}\n- plain\n",
        "conversation: null\n",
        "output: {assistant_actions: []}\n",
    ] {
        let document = Document::read(text.as_bytes()).unwrap();
        let said: Vec<_> =
            document.conversation_entries().iter().map(|said| (said.kind, said.turn)).collect();
        let run = document.run().unwrap();
        let steps: Vec<_> = run.steps.iter().map(|step| (step.kind, step.turn)).collect();
        assert_eq!(said, steps[..said.len()], "{text}");
        assert!(
            steps.len() - said.len() <= 1,
            "only an error of the whole file is no item: {text}"
        );
    }
}
