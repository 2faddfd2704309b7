//! Tests of the reader with small chats.
use super::*;
use crate::registry;
use crate::source::NoFolder;
use std::fmt::Write as _;

/// Run with its name in the file.
type Named = (Option<String>, Result<ImportedRun, ReadError>);

fn format_of(path: &str, text: &str) -> Option<&'static str> {
    registry::detect(path, text.as_bytes()).map(|(format, _)| format.name())
}

fn open(path: &str, text: &str) -> Result<Vec<Named>, ReadError> {
    let bytes = text.as_bytes().to_vec();
    let file = registry::open(&Chats, Input { path, source: &bytes, folder: &NoFolder })?;
    Ok((0..file.len()).map(|at| (file.member(at), file.read(at))).collect())
}

fn read(text: &str) -> ImportedRun {
    let (member, run) = open("a.json", text).unwrap().swap_remove(0);
    assert_eq!(member, None);
    run.unwrap()
}

/// Returns the events of a run in short.
fn short(run: &ImportedRun) -> String {
    let mut text = String::new();
    for event in &run.events {
        let _ = match &event.kind {
            EventKind::System(said) => write!(text, "[s:{said}]"),
            EventKind::User(said) => write!(text, "[u:{said}]"),
            EventKind::Assistant(said) => write!(text, "[a:{said}]"),
            EventKind::Reasoning(said) => write!(text, "[r:{said}]"),
            EventKind::Call { name, .. } => write!(text, "[c:{name}]"),
            EventKind::Result { value, failed, .. } => write!(text, "[={value:?} {failed:?}]"),
            EventKind::Note(said) => write!(text, "[n:{said}]"),
            other => write!(text, "[{other:?}]"),
        };
    }
    text
}

const CHAT: &str =
    r#"{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}"#;

#[test]
fn chats_are_recognised_in_objects_lists_and_lines() {
    let list = r#"[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]"#;
    for (path, text) in [
        ("a.json", CHAT.to_owned()),
        ("a.JSON", format!("\u{feff}\n {list}")),
        ("a.json", format!("[{CHAT},\n{CHAT}]")),
        ("a.jsonl", format!("{CHAT}\n{CHAT}\n")),
        ("a.ndjson", format!("{list}\n")),
        ("a.json", CHAT.replace('{', "{\n ")),
        ("a.jsonl", r#"{"id":1,"model":"m","tools":[{"a":1}],"metadata":{},"messages":[{"content":"x","role":"system"}]}"#.to_owned()),
        ("a.json", r#"[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f"}}]}]"#.to_owned()),
        // The start of a long text is enough.
        ("a.json", format!(r#"[{{"role":"user","content":"{}"}}]"#, "x".repeat(1 << 20))),
    ] {
        assert_eq!(format_of(path, &text), Some("messages"), "{path}: {text:.90}");
    }
}

#[test]
fn what_may_be_something_else_is_no_chat() {
    for (path, text) in [
        ("a.txt", CHAT),
        ("a.yaml", CHAT),
        ("a.json", r#"{"messages":[]}"#),
        ("a.json", r#"{"messages":{"role":"user","content":"q"}}"#),
        ("a.json", r#"{"messages":[{"role":"button","content":"q"}]}"#),
        ("a.json", r#"{"messages":[{"role":"user"}]}"#),
        ("a.json", r#"{"messages":[{"content":"q"}]}"#),
        ("a.json", r#"[{"role":"user","name":"Ada"}]"#),
        ("a.json", r#"{"query":"q","response":"a"}"#),
        ("a.json", r#"{"conversation":{"messages":[{"role":"user","content":"q"}]}}"#),
        ("a.jsonl", r#"{"messages":[{"role":"user","content":"q"}],"response":"a"}"#),
        ("a.jsonl", r#"{"inputs.messages":[],"messages":[{"role":"user","content":"q"}]}"#),
        ("a.json", r#"{"custom_id":"1","body":{"messages":[{"role":"user","content":"q"}]}}"#),
    ] {
        assert_eq!(format_of(path, text), None, "{path}: {text}");
    }
    // Other tools' files keep their formats.
    let other = CHAT.replacen('{', "{\"info\":{\"mini_version\":\"2\"},", 1);
    assert_eq!(format_of("a.json", &other), Some("mini_swe_agent"));
}

#[test]
fn names_tokens_and_times_stand_beside_the_messages_and_the_rest_are_facts() {
    let run = read(include_str!("../../tests/fixtures/messages/chat.json"));
    assert_eq!(
        (run.task.as_deref(), run.system.as_deref(), run.model.as_deref()),
        (Some("tickets-1"), Some("support"), Some("gpt-5-mini"))
    );
    assert_eq!(
        short(&run),
        "[s:Answer with one number.][u:How many tickets are open?][c:sql][=Text(\"42\") None][a:42]"
    );
    assert_eq!((run.answer.as_deref(), run.end), (Some("42"), RunEnd::Complete));
    assert_eq!(run.started.as_deref(), Some("1767225600"));
    let start = Some(1_767_225_600.0);
    assert_eq!(run.repeat, Repeat::Ordered { group: String::new(), start });
    assert_eq!(run.tokens, TokenCounts::new(Some(120), Some(3), Some(123)));
    let facts: Vec<&str> = run.facts.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!((facts, run.verdicts.len()), (vec!["tools", "metadata"], 0));
}

#[test]
fn a_list_of_messages_has_no_names_and_its_tools_may_fail() {
    let run = read(include_str!("../../tests/fixtures/messages/list.json"));
    assert_eq!((run.task.as_ref(), run.system.as_ref(), run.model.as_ref()), (None, None, None));
    let expected = "[u:What is the capital of Peru?][r:An easy one.][c:look_up]\
                    [=Text(\"no such table\") Some(true)][a:Lima.]";
    assert_eq!((short(&run).as_str(), run.answer.as_deref()), (expected, Some("Lima.")));
}

#[test]
fn each_line_is_a_chat_or_says_why_it_is_none() {
    let text = include_str!("../../tests/fixtures/messages/lines.jsonl");
    let runs = open("a.jsonl", text).unwrap();
    let names: Vec<_> = runs.iter().map(|(name, _)| name.as_deref().unwrap()).collect();
    assert_eq!(names, ["sum", "chat 2", "chat 3", "chat 4", "chat 5"]);
    let run = |at: usize| runs[at].1.as_ref().unwrap();
    assert_eq!((run(0).task.as_deref(), run(0).facts.len()), (Some("sum"), 1));
    // A prompt is no name of a system.
    assert_eq!(short(run(1)), "[s:Be brief.\nBe kind.][u:Hello][a:I can't say that.]");
    assert_eq!((run(1).system.as_ref(), run(1).facts.len()), (None, 0));
    assert_eq!(short(run(2)), r#"[n:{"content":"lost"}][u:Why?][u:7]"#);
    assert_eq!(
        run(2).notes,
        [
            "1 message has no role; it is shown as a remark.",
            "Messages with other roles are shown as those of a user: `critic`."
        ]
    );
    assert_eq!((run(3).end, run(3).answer.as_ref()), (RunEnd::Unfinished, None));
    let error = runs[4].1.as_ref().unwrap_err();
    assert_eq!(error.message, "It holds no message.");
    assert!(error.advice.as_ref().is_some_and(|advice| advice.contains("`role`")));
}

#[test]
fn a_call_without_its_result_is_no_end_and_a_name_is_no_prompt() {
    let open = r#"{"system":"tool_calling","messages":[{"role":"assistant","content":"Let me see.",
        "tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]}"#;
    let run = read(open);
    assert_eq!((run.end, run.system.as_deref()), (RunEnd::Unfinished, Some("tool_calling")));
    assert_eq!(short(&run), "[a:Let me see.][c:f]");
    // A prompt among the messages leaves the other one among the facts.
    let both = CHAT
        .replace("\"q\"}", "\"q\"},{\"role\":\"system\",\"content\":\"One.\"}")
        .replacen('{', "{\"system\":\"You are two.\",", 1);
    let run = read(&both);
    assert_eq!((short(&run).as_str(), run.facts.len()), ("[u:q][s:One.][a:a]", 1));
}

#[test]
fn broken_files_say_what_is_wrong() {
    let whole = include_str!("../../tests/fixtures/messages/chat.json");
    let error = open("a.json", &whole[..600]).unwrap_err();
    assert_eq!(error.message, "The file is cut off. Runs may be missing.");
    for (text, message) in [
        (r#"{"messages":7}"#, "Its `messages` are no list."),
        (r#"{"a":7}"#, "It has no `messages`."),
        (r#"[{"content":"q"}]"#, "No message has a role."),
        ("[]", "It holds no message."),
        ("7", "It has no `messages`."),
    ] {
        assert_eq!(open("a.json", text).unwrap_err().message, message, "{text}");
    }
    let bytes = format!("{CHAT}\n{{\"messages\":[{{\"role\":\"us").into_bytes();
    let file = Chats.open(Input { path: "a.jsonl", source: &bytes, folder: &NoFolder }).unwrap();
    assert_eq!((file.len(), file.file_error()), (1, Some(pieces::cut_off())));
}

#[test]
fn a_hundred_thousand_lines_are_split_and_read_one_by_one() {
    let text = format!("{CHAT}\n").repeat(100_000);
    let bytes = text.into_bytes();
    let file = Chats.open(Input { path: "a.jsonl", source: &bytes, folder: &NoFolder }).unwrap();
    assert_eq!((file.len(), file.member(99_999).as_deref()), (100_000, Some("chat 100000")));
    assert_eq!(file.read(99_999).unwrap().answer.as_deref(), Some("a"));
}

#[test]
fn equal_ids_are_told_apart() {
    let line = CHAT.replacen('{', "{\"id\":7,", 1);
    let runs = open("a.jsonl", &format!("{line}\n{line}\n")).unwrap();
    let names: Vec<_> = runs.iter().map(|(name, _)| name.as_deref().unwrap()).collect();
    assert_eq!(names, ["7", "7 (2)"]);
}
