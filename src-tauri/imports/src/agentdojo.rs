//! **Pure.** Logs of `AgentDojo`: one file for each task with each attack.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_thread;
use crate::pieces;
use crate::run::{ImportedRun, ImportedVerdict, RunEnd};
use crate::single::Single;
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Logs of `AgentDojo`.
#[derive(Debug, Clone, Copy)]
pub struct AgentDojo;

impl Format for AgentDojo {
    fn name(&self) -> &'static str {
        "agentdojo"
    }

    fn title(&self) -> &'static str {
        "AgentDojo"
    }

    fn files(&self) -> &'static str {
        "runs/**/*.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("agentdojo.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list && !head.is_lines)?;
        head.has(&["suite_name", "pipeline_name", "user_task_id"]).then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let text = pieces::text(input.read_all()?)?;
        Ok(Box::new(Single(read_log(&json::read_python(&text)?))))
    }
}

fn read_log(log: &Value) -> ImportedRun {
    let text = |key: &str| log.text_at(key).filter(|text| !text.is_empty());
    let task = ["suite_name", "user_task_id", "attack_type", "injection_task_id"];
    let task: Vec<&str> = task.iter().filter_map(|key| text(key)).collect();
    let messages: Vec<Value> =
        log.get("messages").map(Value::items).unwrap_or_default().iter().map(with_texts).collect();
    let mut run = ImportedRun {
        task: (!task.is_empty()).then(|| task.join("/")),
        system: text("pipeline_name").map(str::to_owned),
        error: log.get_non_null("error").and_then(text_or_json).filter(|text| !is_blank(text)),
        events: read_thread(&messages),
        verdicts: read_verdicts(log),
        seconds: log.get("duration").and_then(Value::number),
        ..ImportedRun::default()
    };
    run.answer = run.last_text().map(str::to_owned);
    if run.error.is_some() {
        run.end = RunEnd::Error;
    } else if run.verdicts.is_empty() {
        run.end = RunEnd::Unfinished;
        run.notes.push("The log has no result: the task was still running.".to_owned());
    }
    for (name, key) in [
        ("benchmark version", "benchmark_version"),
        ("AgentDojo version", "agentdojo_package_version"),
        ("evaluated", "evaluation_timestamp"),
    ] {
        run.facts.extend(log.get_non_null(key).map(|value| (name.to_owned(), value.clone())));
    }
    let injections = log.get("injections").map(Value::entries).unwrap_or_default();
    if !injections.is_empty() {
        let names = injections.iter().map(|(name, _)| name.clone()).collect();
        run.facts.push(("injections".to_owned(), Value::List(names)));
        run.notes.push(
            "`security` is true when the injected task was carried out: the attack worked."
                .to_owned(),
        );
    }
    run
}

fn read_verdicts(log: &Value) -> Vec<ImportedVerdict> {
    let verdict = |name: &str, passed: Option<bool>| {
        let value = log.get_non_null(name)?.clone();
        Some(ImportedVerdict { name: name.to_owned(), value, passed, ..ImportedVerdict::default() })
    };
    let utility = verdict("utility", log.get("utility").and_then(Value::bool));
    utility.into_iter().chain(verdict("security", None)).collect()
}

/// Returns a message whose blocks have their text under the key that other tools use.
fn with_texts(message: &Value) -> Value {
    let Value::Map(entries) = message else { return message.clone() };
    let entries = entries.iter().map(|(key, value)| {
        let value = match value {
            Value::List(blocks) if key.text() == Some("content") => {
                Value::List(blocks.iter().map(block_with_text).collect())
            }
            value => value.clone(),
        };
        (key.clone(), value)
    });
    Value::Map(entries.collect())
}

fn block_with_text(block: &Value) -> Value {
    match (block.text_at("type"), block.text_at("content")) {
        (Some("text"), Some(text)) => {
            Value::Map(vec![("type".into(), "text".into()), ("text".into(), text.into())])
        }
        _ => block.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::EventKind;
    use crate::source::NoFolder;
    use proptest::prelude::*;

    fn read(text: &str) -> ImportedRun {
        read_log(&json::read(text).unwrap())
    }

    const LOG: &str = r#"{"suite_name":"bank","pipeline_name":"p","user_task_id":"u1","injection_task_id":"i1","attack_type":"direct",
        "injections":{"a":"do it"},"messages":[
        {"role":"system","content":[{"type":"text","content":"s"}]},
        {"role":"user","content":[{"type":"text","content":"q"}]},
        {"role":"assistant","content":[{"type":"thinking","content":"hm","id":null},{"type":"redacted_thinking","content":"x"},{"type":"text","content":"a"}],
         "tool_calls":[{"function":"pay","args":{"to":"x"},"id":"c1","placeholder_args":null}]},
        {"role":"tool","content":[{"type":"text","content":""}],"tool_call_id":"c1","tool_call":{"function":"pay"},"error":"ValueError: no"},
        {"role":"assistant","content":"done","tool_calls":null}],
        "error":null,"duration":1.5,"utility":true,"security":true}"#;

    #[test]
    fn messages_are_read_from_blocks_and_from_texts() {
        let kinds: Vec<EventKind> = read(LOG).events.into_iter().map(|event| event.kind).collect();
        let [system, user, reasoning, text, call, result, last] = &kinds[..] else {
            panic!("{kinds:?}")
        };
        assert_eq!(system, &EventKind::System("s".to_owned()));
        assert_eq!(user, &EventKind::User("q".to_owned()));
        assert_eq!(reasoning, &EventKind::Reasoning("hm".to_owned()));
        assert_eq!(text, &EventKind::Assistant("a".to_owned()));
        assert!(matches!(call, EventKind::Call { name, .. } if name == "pay"));
        let EventKind::Result { value, failed, .. } = result else { panic!() };
        assert_eq!((value, failed), (&Value::from("ValueError: no"), &Some(true)));
        assert_eq!(last, &EventKind::Assistant("done".to_owned()));
    }

    #[test]
    fn security_is_no_verdict_and_the_task_has_the_parts_that_are_there() {
        let run = read(LOG);
        assert_eq!(run.task.as_deref(), Some("bank/u1/direct/i1"));
        let passed: Vec<_> = run.verdicts.iter().map(|one| one.passed).collect();
        assert_eq!((passed, run.seconds), (vec![Some(true), None], Some(1.5)));
        assert_eq!(run.answer.as_deref(), Some("done"));
        let plain = r#"{"suite_name":"bank","user_task_id":"u1","attack_type":null,"injection_task_id":null}"#;
        assert_eq!(read(plain).task.as_deref(), Some("bank/u1"));
    }

    #[test]
    fn the_end_follows_from_the_error_and_the_result() {
        for (text, end) in [
            (r#"{"error":"context length\nmore","utility":false}"#, RunEnd::Error),
            (r#"{"error":null,"utility":false}"#, RunEnd::Complete),
            (r#"{"error":null,"messages":[]}"#, RunEnd::Unfinished),
        ] {
            assert_eq!(read(text).end, end, "{text}");
        }
    }

    #[test]
    fn logs_are_detected_by_their_first_keys() {
        let detect =
            |text: &str| AgentDojo.detect("x.json", &[], Head::read(text.as_bytes()).as_ref());
        assert_eq!(detect(LOG), Some(Detected::Run));
        assert_eq!(detect(r#"{"suite_name":"a","pipeline_name":"b"}"#), None);
        assert_eq!(detect(r#"{"588":{"suite_name":1,"pipeline_name":2,"user_task_id":3}}"#), None);
    }

    proptest! {
        #[test]
        fn no_change_of_a_log_brings_the_reader_to_a_stop(at in 0..LOG.len(), byte in any::<u8>()) {
            let mut bytes = LOG.as_bytes().to_vec();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let _ = AgentDojo.open(Input { path: "a.json", source: bytes, folder: &NoFolder });
            }
        }
    }
}
