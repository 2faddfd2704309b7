//! **Pure.** Trajectories of mini-swe-agent.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_message;
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::sessions::{Session, add, figure, finish, non_blank, push_fact, token_counts};
use crate::source::Input;
use crate::{pieces, swe_bench};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct MiniSweAgent;

impl Format for MiniSweAgent {
    fn name(&self) -> &'static str {
        "mini_swe_agent"
    }

    fn title(&self) -> &'static str {
        "mini-swe-agent"
    }

    fn files(&self) -> &'static str {
        "*.traj.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("mini_swe_agent.md")
    }

    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        let is_named = path.ends_with(".traj.json");
        let is_ours = if head.is_list {
            is_named && head.has(&["role", "content"])
        } else {
            // The format may stand at the end.
            let names_format = head.value("trajectory_format");
            names_format.is_some_and(|format| format.starts_with("mini-swe-agent"))
                || (is_named && (head.has(&["messages"]) || head.has(&["info"])))
                || (head.has(&["info", "messages"])
                    && head.has_inner("info", "mini_version")
                    && !start.is_empty())
        };
        is_ours.then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let text = pieces::text(input.read_all()?)?;
        let value = json::read_python(&text)
            .map_err(|error| if pieces::is_whole(&text) { error } else { pieces::cut_off() })?;
        let stem = [".traj.json", ".json"].iter().find_map(|end| input.name().strip_suffix(end));
        let mut run = read_run(&value, stem.unwrap_or(input.name()));
        if let Some(task) = &run.task {
            run.verdicts.extend(swe_bench::find_verdict(&input, task));
        }
        Ok(Box::new(Session { member: None, run: Some(finish(run)), error: None }))
    }
}

fn read_run(value: &Value, stem: &str) -> ImportedRun {
    let info = value.get("info").unwrap_or(&Value::Null);
    let messages = match value {
        Value::List(messages) => messages.as_slice(),
        value => value.get("messages").map(Value::items).unwrap_or_default(),
    };
    let (end, error) = end(value, info, messages);
    let mut run = ImportedRun {
        task: non_blank(value.text_at("instance_id")).or_else(|| non_blank(Some(stem))),
        system: Some("mini-swe-agent".to_owned()),
        model: non_blank(info.at_path(&["config", "model", "model_name"]).and_then(Value::text)),
        end,
        error,
        answer: non_blank(info.text_at("submission")),
        cost: figure(info, &["model_stats", "instance_cost"]),
        ..ImportedRun::default()
    };
    read_messages(&mut run, messages);
    let facts: [(&str, &[&str]); 6] = [
        ("exit status", &["exit_status"]),
        ("version", &["mini_version"]),
        ("model calls", &["model_stats", "api_calls"]),
        ("agent", &["config", "agent_type"]),
        ("step limit", &["config", "agent", "step_limit"]),
        ("cost limit", &["config", "agent", "cost_limit"]),
    ];
    for (name, path) in facts {
        push_fact(&mut run.facts, name, info.at_path(path));
    }
    run
}

/// Reads the messages, with the time, the tokens and the call's duration where they have them.
fn read_messages(run: &mut ImportedRun, messages: &[Value]) {
    let (mut input, mut output, mut total) = (None, None, None);
    for message in messages.iter().filter(|message| message.text_at("role") != Some("exit")) {
        let usage = message.at_path(&["extra", "response", "usage"]);
        let usage = usage.and_then(|usage| {
            token_counts(usage, "prompt_tokens", "completion_tokens", "total_tokens")
        });
        if let Some(usage) = usage {
            add(&mut input, usage.input);
            add(&mut output, usage.output);
            add(&mut total, usage.total);
        }
        let model = message.at_path(&["extra", "response", "model"]).and_then(Value::text);
        let time = message.at_path(&["extra", "timestamp"]).and_then(crate::text::text_or_json);
        let code = message.at_path(&["extra", "returncode"]).and_then(Value::number);
        for (at, mut kind) in read_message(message).into_iter().enumerate() {
            if let EventKind::Result { failed, .. } = &mut kind {
                *failed = failed.or(code.map(|code| code != 0.0));
            }
            let tokens = usage.and_then(|usage| usage.total).filter(|_| at == 0);
            let time = time.clone();
            let mut event = Event { kind, time, tokens, ..Event::default() };
            event.set_model(model);
            run.events.push(event);
        }
    }
    run.tokens = TokenCounts::new(input, output, total);
}

/// Returns how the run ended. A bare list of messages, the form of version 1, is complete.
fn end(value: &Value, info: &Value, messages: &[Value]) -> (RunEnd, Option<String>) {
    if matches!(value, Value::List(_)) {
        return (RunEnd::Complete, None);
    }
    let Some(status) = non_blank(info.text_at("exit_status")) else {
        return (RunEnd::Unfinished, None);
    };
    match status.as_str() {
        "Submitted" => (RunEnd::Complete, None),
        "LimitsExceeded" | "TimeExceeded" => (RunEnd::Limit, None),
        _ => {
            let exit = messages.iter().rev().find(|one| one.text_at("role") == Some("exit"));
            let text = exit.and_then(|exit| non_blank(exit.text_at("content")));
            (RunEnd::Error, Some(text.unwrap_or(status)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::NoFolder;

    fn run(value: &str) -> ImportedRun {
        read_run(&json::read(value).unwrap(), "file")
    }

    #[test]
    fn a_trajectory_is_recognised_by_its_format_or_its_name() {
        let detect = |path: &str, text: &str| {
            MiniSweAgent
                .detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref())
                .is_some()
        };
        assert!(detect(
            "x.json",
            "{\"info\":{},\"messages\":[],\"trajectory_format\":\"mini-swe-agent-1.1\"}"
        ));
        assert!(detect("x.json", "{\"info\":{\"mini_version\":\"2\"},\"messages\":[{\"role\""));
        assert!(detect("x.traj.json", "[{\"role\":\"system\",\"content\":\"x\"}]"));
        assert!(detect("x.traj.json", "{\"info\":{}"));
        assert!(!detect("x.json", "[{\"role\":\"system\",\"content\":\"x\"}]"));
        assert!(!detect("x.json", "{\"info\":{},\"messages\":[]}"));
    }

    #[test]
    fn the_state_follows_from_the_exit_status() {
        let exit = r#"[{"role":"exit","content":"went wrong\nx"}]"#;
        for (info, messages, end, error) in [
            ("{}", "[]", RunEnd::Unfinished, None),
            (r#"{"exit_status":"Submitted"}"#, exit, RunEnd::Complete, None),
            (r#"{"exit_status":"LimitsExceeded"}"#, exit, RunEnd::Limit, None),
            (r#"{"exit_status":"TimeExceeded"}"#, exit, RunEnd::Limit, None),
            (r#"{"exit_status":"KeyError"}"#, exit, RunEnd::Error, Some("went wrong\nx")),
            (r#"{"exit_status":"KeyError"}"#, "[]", RunEnd::Error, Some("KeyError")),
        ] {
            let read = run(&format!("{{\"info\":{info},\"messages\":{messages}}}"));
            assert_eq!((read.end, read.error.as_deref()), (end, error), "{info}");
            assert!(read.events.is_empty(), "the message `exit` is no step");
        }
    }

    #[test]
    fn messages_are_read_with_their_calls_tokens_and_times() {
        let read = run(
            r#"{"instance_id":"i","info":{"submission":"patch","model_stats":{"instance_cost":0.25},"config":{"model":{"model_name":"m"}}},"messages":[
            {"role":"system","content":"s"},{"role":"user","content":"u"},
            {"role":"assistant","content":"a","tool_calls":[{"id":"1","function":{"name":"bash",
            "arguments":"{}"}}],"extra":{"timestamp":1.5,"response":{"usage":{"prompt_tokens":3,
            "completion_tokens":4,"total_tokens":7}}}},
            {"role":"tool","tool_call_id":"1","content":"out","extra":{"returncode":1}},
            {"role":"assistant","content":"b","extra":{"response":{"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}}}]}"#,
        );
        let kinds: Vec<&EventKind> = read.events.iter().map(|event| &event.kind).collect();
        assert!(matches!(
            kinds[..],
            [
                EventKind::System(_),
                EventKind::User(_),
                EventKind::Assistant(_),
                EventKind::Call { .. },
                EventKind::Result { failed: Some(true), .. },
                EventKind::Assistant(_)
            ]
        ));
        assert_eq!((read.events[2].tokens, read.events[2].time.as_deref()), (Some(7), Some("1.5")));
        let tokens = TokenCounts { input: Some(4), output: Some(5), total: Some(9) };
        assert_eq!((read.tokens, read.cost), (Some(tokens), Some(0.25)));
        assert_eq!((read.task.as_deref(), read.model.as_deref()), (Some("i"), Some("m")));
        assert_eq!(read.answer.as_deref(), Some("patch"));
    }

    #[test]
    fn a_bare_list_is_complete_and_its_observations_are_texts_of_the_user() {
        let read = run(
            r#"[{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"user","content":"out"}]"#,
        );
        assert_eq!(
            (read.end, read.events.len(), read.task.as_deref()),
            (RunEnd::Complete, 3, Some("file"))
        );
        assert_eq!(finish(read).answer.as_deref(), Some("a"));
    }

    #[test]
    fn a_file_that_is_cut_off_is_an_error() {
        let text = b"{\"info\":{},\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
        for end in 0..text.len() {
            let source = text[..end].to_vec();
            let input = Input { path: "x.traj.json", source: &source, folder: &NoFolder };
            assert!(MiniSweAgent.open(input).is_err(), "{end}");
        }
    }
}
