//! Tests of the reader of Gemini CLI's sessions.
use super::*;
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::testing::Files;

fn open_at(path: &str, files: &[(&str, String)]) -> ImportedRun {
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let files = Files::new(&files);
    let source = files.bytes(path);
    GeminiCli.open(Input { path, source: &source, folder: &files }).unwrap().read(0).unwrap()
}

const META: &str = r#"{"sessionId":"0123456789","projectHash":"p","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z"}"#;

fn open(records: &[&str]) -> ImportedRun {
    let text = format!("{META}\n{}", records.join("\n"));
    open_at("session-a-01234567.jsonl", &[("session-a-01234567.jsonl", text)])
}

fn user(id: &str, text: &str) -> String {
    format!(r#"{{"id":"{id}","type":"user","content":[{{"text":"{text}"}}]}}"#)
}

fn model(id: &str, text: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","type":"gemini","model":"m","content":"{text}"{more}}}"#)
}

fn outline(events: &[Event]) -> String {
    let one = |event: &Event| match &event.kind {
        EventKind::User(text) => format!("user {text}"),
        EventKind::Assistant(text) => format!("model {text}"),
        EventKind::Reasoning(text) => format!("thinks {text}"),
        EventKind::Call { name, .. } => format!("call {name}"),
        EventKind::Result { value, failed, .. } => {
            let mark = if *failed == Some(true) { "failed" } else { "result" };
            format!("{mark} {}", crate::text::text_or_json(value).unwrap_or_default())
        }
        EventKind::SubAgent { name, events, .. } => format!("{name} [{}]", outline(events)),
        EventKind::Abandoned(events) => format!("left [{}]", outline(events)),
        EventKind::Media(media) => format!("media {}", media.text),
        EventKind::Error(text) => format!("error {text}"),
        EventKind::Note(text) => format!("note {text}"),
        other => format!("{other:?}"),
    };
    events.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_session_is_recognised_by_its_metadata() {
    let detect = |text: &str| GeminiCli.detect("x", b"", Head::read(text.as_bytes()).as_ref());
    assert!(detect(META).is_some());
    assert!(detect(r#"{"sessionId":"s","parentUuid":null}"#).is_none());
    assert!(detect(r#"[{"sessionId":"s","projectHash":"p"}]"#).is_none());
}

#[test]
fn a_message_is_its_last_record() {
    let call = r#","toolCalls":[{"id":"1","name":"ls","args":{},"status":"executing"}]"#;
    let done = concat!(
        r#","thoughts":[{"subject":"S","description":"D"}],"tokens":{"input":3,"output":4,"#,
        r#""cached":1,"total":9},"toolCalls":[{"id":"1","name":"ls","args":{},"status":"error","#,
        r#""result":[{"functionResponse":{"id":"1","name":"ls","response":{"error":"no"}}}]}]"#,
    );
    let run =
        open(&[&user("a", "x"), &model("b", "y", call), &model("b", "y", done), "{\"id\":\"c\""]);
    assert_eq!(outline(&run.events), "user x, thinks S\nD, model y, call ls, failed no");
    let tokens = TokenCounts { input: Some(3), output: Some(4), total: Some(9) };
    assert_eq!((run.tokens, run.end), (Some(tokens), RunEnd::Complete));
    assert_eq!((run.model.as_deref(), run.answer.as_deref()), (Some("m"), Some("y")));
}

#[test]
fn parts_of_messages_are_told_apart() {
    let parts = concat!(
        r#"{"id":"b","type":"gemini","content":[{"text":"t","thought":true},"a",{"text":"b"},"#,
        r#"{"functionCall":{"id":"1","name":"f","args":{}}},"#,
        r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#,
    );
    let result = r#"{"id":"c","type":"user","content":{"functionResponse":{"id":"1","name":"f","response":{"output":"o"}}}}"#;
    let run = open(&[parts, result, r#"{"id":"d","type":"info","content":"i"}"#]);
    let expected = "thinks t, model a\nb, media image/png, 1 kB, call f, result o, note i";
    assert_eq!(outline(&run.events), expected);
}

#[test]
fn messages_that_were_left_are_folded() {
    let (a, b, c, d) = (user("a", "1"), model("b", "2", ""), user("c", "3"), model("d", "4", ""));
    let to = |id: &str| format!("{{\"$rewindTo\":\"{id}\"}}");
    let set = format!("{{\"$set\":{{\"summary\":\"title\",\"messages\":[{a},{d}]}}}}");
    let table: [(&[&str], &str); 4] = [
        (&[&a, &b, &c, &to("c"), &d], "user 1, model 2, left [user 3], model 4"),
        (&[&a, &b, &c, &to("b"), &to("a"), &d], "left [user 1, model 2, user 3], model 4"),
        (&[&a, &b, &to("unknown"), &a], "left [user 1, model 2], user 1"),
        (&[&a, &b, &set], "user 1, left [model 2], model 4"),
    ];
    for (records, expected) in table {
        assert_eq!(outline(&open(records).events), expected);
    }
}

#[test]
fn the_state_follows_from_the_last_message() {
    let call = r#","toolCalls":[{"id":"1","name":"ls","status":"scheduled"}]"#;
    let error = r#"{"id":"e","type":"error","content":"no quota"}"#;
    let info = r#"{"id":"i","type":"info","content":"i"}"#;
    let (user, answer, calling) = (user("a", "x"), model("b", "y", ""), model("c", "", call));
    let table: [(&[&str], RunEnd, Option<&str>); 5] = [
        (&[], RunEnd::Unfinished, None),
        (&[&user], RunEnd::Unfinished, None),
        (&[&user, &answer, info], RunEnd::Complete, None),
        (&[&user, &calling], RunEnd::Unfinished, None),
        (&[&user, error], RunEnd::Error, Some("no quota")),
    ];
    for (records, end, error) in table {
        let run = open(records);
        assert_eq!((run.end, run.error.as_deref()), (end, error), "{records:?}");
    }
}

#[test]
fn an_older_session_is_one_document() {
    let text = format!(
        "{{\n \"sessionId\": \"s\", \"projectHash\": \"p\", \
         \"startTime\": \"2026-01-01T00:00:00Z\", \"lastUpdated\": \"2026-01-01T00:00:05Z\",\n \"messages\": [{}, {}]}}",
        user("a", "x"),
        model("b", "y", "")
    );
    let run = open_at("s.json", &[("s.json", text.clone())]);
    assert_eq!((outline(&run.events).as_str(), run.seconds), ("user x, model y", Some(5.0)));
    let source = text.as_bytes()[..90].to_vec();
    let folder = Files::new(&[]);
    assert!(GeminiCli.open(Input { path: "s.json", source: &source, folder: &folder }).is_err());
}

#[test]
fn a_sub_agent_follows_its_call_and_belongs_to_its_session() {
    let call = r#","toolCalls":[{"id":"1","name":"investigate","status":"success","result":[{"text":"r"}],"agentId":"k1"}]"#;
    let main = format!("{META}\n{}\n{}\n", user("a", "x"), model("b", "y", call));
    let sub = format!(
        "{{\"sessionId\":\"k1\",\"projectHash\":\"p\",\"kind\":\"subagent\"}}\n{}\n{}\n",
        user("a", "go"),
        model("b", "", &call.replace("k1\"", "../k1\""))
    );
    let files = [("chats/session-2026-01234567.jsonl", main), ("chats/0123456789/k1.jsonl", sub)];
    let run = open_at("chats/session-2026-01234567.jsonl", &files);
    let expected = "user x, model y, call investigate, investigate [user go, call investigate, result r], result r";
    assert_eq!(outline(&run.events), expected);
    let inner = open_at("chats/0123456789/k1.jsonl", &files);
    let key = "gemini_cli/chats/session-2026-01234567.jsonl".to_owned();
    assert_eq!(inner.identity, Some(Identity { key: key.clone(), rank: 0.0 }));
    assert_eq!(run.identity, Some(Identity { key, rank: 1.0 }));
}

#[test]
fn each_message_names_its_model() {
    let other = model("c", "2", "").replace("\"model\":\"m\"", "\"model\":\"n\"");
    let run = open(&[&user("a", "q"), &model("b", "1", ""), &other]);
    let models: Vec<_> = run.events.iter().map(|event| event.model.as_deref()).collect();
    assert_eq!(models, [None, Some("m"), Some("n")]);
}
