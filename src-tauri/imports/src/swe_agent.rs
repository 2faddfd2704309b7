//! **Pure.** Trajectories of SWE-agent.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::{read_call, read_content, read_reasoning, result_media, result_value};
use crate::run::{EventKind, ImportedRun, RunEnd};
use crate::sessions::{Session, figure, finish, has_extension, non_blank, push_fact, token_counts};
use crate::source::Input;
use crate::text::is_blank;
use crate::{pieces, swe_bench};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct SweAgent;

impl Format for SweAgent {
    fn name(&self) -> &'static str {
        "swe_agent"
    }

    fn title(&self) -> &'static str {
        "SWE-agent"
    }

    fn files(&self) -> &'static str {
        "*.traj"
    }

    fn documentation(&self) -> &'static str {
        include_str!("swe_agent.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let Some(head) = head else {
            // Opening it says what is wrong with it.
            return has_extension(path, "traj").then_some(Detected::Run);
        };
        if head.is_list {
            return None;
        }
        if head.has(&["model_name_or_path", "instance_id", "model_patch"]) {
            let reason = "It holds patches for the SWE-bench harness, and no transcript.";
            return Some(Detected::NoRun(reason.to_owned()));
        }
        if swe_bench::is_report(head) {
            let reason = "It is a report of the SWE-bench harness, which is shown with the runs.";
            return Some(Detected::NoRun(reason.to_owned()));
        }
        let is_ours = ["history", "trajectory"].iter().any(|key| head.has(&[key]));
        (has_extension(path, "traj") && is_ours).then_some(Detected::Run)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let text = pieces::text(input.read_all()?)?;
        let value = json::read_python(&text)
            .map_err(|error| if pieces::is_whole(&text) { error } else { pieces::cut_off() })?;
        let stem = input.name().strip_suffix(".traj").unwrap_or(input.name());
        let mut run = read_run(&value, stem);
        if let Some(task) = &run.task {
            run.verdicts.extend(swe_bench::find_verdict(&input, task));
        }
        Ok(Box::new(Session { member: None, run: Some(finish(run)), error: None }))
    }
}

fn read_run(value: &Value, stem: &str) -> ImportedRun {
    let config = replay_config(value);
    let info = value.get("info").unwrap_or(&Value::Null);
    let id = config.at_path(&["problem_statement", "id"]).and_then(Value::text);
    let status = non_blank(info.text_at("exit_status"));
    let (end, error) = match status.as_deref() {
        None => (RunEnd::Unfinished, None),
        Some("submitted") => (RunEnd::Complete, None),
        Some(status) if is_limit(status) => (RunEnd::Limit, None),
        Some(status) => (RunEnd::Error, Some(status.to_owned())),
    };
    let totals = info.get("model_stats").unwrap_or(&Value::Null);
    let mut run = ImportedRun {
        task: non_blank(id).or_else(|| non_blank(Some(stem))),
        system: Some("swe-agent".to_owned()),
        model: non_blank(config.at_path(&["agent", "model", "name"]).and_then(Value::text)),
        end,
        error,
        answer: non_blank(info.text_at("submission")),
        tokens: token_counts(totals, "tokens_sent", "tokens_received", "total_tokens"),
        cost: figure(totals, &["instance_cost"]),
        ..ImportedRun::default()
    };
    let history = value.get("history").map(Value::items).unwrap_or_default();
    read_history(&mut run, history);
    for (name, holder, key) in [
        ("exit status", info, "exit_status"),
        ("model calls", totals, "api_calls"),
        ("version", info, "swe_agent_version"),
        ("commit", info, "swe_agent_hash"),
        ("environment", value, "environment"),
    ] {
        push_fact(&mut run.facts, name, holder.get(key));
    }
    if history.is_empty() {
        run.notes.push("The file has no history.".to_owned());
    }
    run
}

/// Returns the settings; some versions write them as JSON in a text.
fn replay_config(value: &Value) -> Value {
    match value.get("replay_config") {
        Some(Value::Text(text)) => json::embedded(text).unwrap_or_default(),
        Some(config) => config.clone(),
        None => Value::Null,
    }
}

fn is_limit(status: &str) -> bool {
    ["exit_cost", "exit_context", "exit_total_execution_time"]
        .iter()
        .any(|limit| status.contains(limit))
}

/// Reads the history without system messages and demonstrations.
fn read_history(run: &mut ImportedRun, history: &[Value]) {
    // True right after a message whose action stands in its text.
    let mut after_action = false;
    let mut demonstrations = 0;
    for message in history {
        let role = message.text_at("role").unwrap_or_default();
        let content = message.get("content").unwrap_or(&Value::Null);
        if message.get("is_demo").and_then(Value::bool) == Some(true) {
            demonstrations += 1;
            continue;
        }
        match role {
            "assistant" => after_action = read_answer(run, message, content),
            "tool" => {
                push_result(run, message, content);
                after_action = false;
            }
            "user" if after_action => {
                push_result(run, message, content);
                after_action = false;
            }
            role => {
                let role = if role == "system" { role } else { "user" };
                for kind in read_content(role, content) {
                    run.push(kind);
                }
                after_action = false;
            }
        }
    }
    if demonstrations > 0 {
        let are = if demonstrations == 1 { "demonstration is" } else { "demonstrations are" };
        run.notes.push(format!("{demonstrations} {are} left out."));
    }
}

/// Reads an answer of the model. Returns true if its action stands in its text.
fn read_answer(run: &mut ImportedRun, message: &Value, content: &Value) -> bool {
    let thinking = message.get("thinking_blocks").map(Value::items).unwrap_or_default();
    for text in thinking.iter().filter_map(read_reasoning) {
        run.push(EventKind::Reasoning(text));
    }
    let thought =
        message.get("thought").filter(|thought| thought.text().is_some_and(|t| !t.is_empty()));
    for kind in read_content("assistant", thought.unwrap_or(content)) {
        run.push(kind);
    }
    let calls = message.get("tool_calls").map(Value::items).unwrap_or_default();
    if !calls.is_empty() {
        calls.iter().filter_map(read_call).for_each(|call| run.push(call));
        return false;
    }
    let Some(action) = message.text_at("action").filter(|action| !is_blank(action)) else {
        return false;
    };
    run.push(EventKind::Call {
        id: None,
        name: "action".to_owned(),
        arguments: Value::from(action),
        by_user: false,
    });
    true
}

fn push_result(run: &mut ImportedRun, message: &Value, content: &Value) {
    let ids = message.get("tool_call_ids").map(Value::items).unwrap_or_default();
    let id = ids.first().and_then(Value::text).or_else(|| message.text_at("tool_call_id"));
    let (id, value) = (id.map(str::to_owned), result_value(content));
    run.push(EventKind::Result { id, name: None, value, failed: None });
    result_media(content).for_each(|media| run.push(media));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Event, TokenCounts};
    use crate::source::{Folder, NoFolder, Source};

    fn run(value: &str) -> ImportedRun {
        read_run(&json::read(value).unwrap(), "file")
    }

    fn outline(events: &[Event]) -> String {
        let one = |event: &Event| match &event.kind {
            EventKind::System(text) => format!("system {text}"),
            EventKind::User(text) => format!("user {text}"),
            EventKind::Assistant(text) => format!("model {text}"),
            EventKind::Reasoning(text) => format!("thinks {text}"),
            EventKind::Call { name, arguments, .. } => {
                format!("{name} {}", crate::text::canonical_json(arguments))
            }
            EventKind::Result { id, value, .. } => format!(
                "result {} of {}",
                crate::text::text_or_json(value).unwrap_or_default(),
                id.as_deref().unwrap_or("-")
            ),
            other => format!("{other:?}"),
        };
        events.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_trajectory_is_recognised_by_its_name_and_its_keys() {
        let detect = |path: &str, text: &str| {
            SweAgent.detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref())
        };
        assert_eq!(detect("a/x.traj", "{\"history\":[]}"), Some(Detected::Run));
        assert_eq!(detect("x.json", "{\"history\":[]}"), None);
        assert_eq!(detect("x.traj", "\u{1}\u{2}"), Some(Detected::Run));
        assert_eq!(detect("x.traj", "{\"info\":{\"history\":1}}"), None);
        let patches = "{\"model_name_or_path\":\"m\",\"instance_id\":\"i\",\"model_patch\":\"p\"}";
        let report = "{\"total_instances\":1,\"resolved_instances\":1}";
        for text in [patches, report] {
            assert!(matches!(detect("x.json", text), Some(Detected::NoRun(_))), "{text}");
        }
    }

    #[test]
    fn an_action_in_the_text_is_a_call_whose_result_is_the_next_message_of_the_user() {
        let read = run(r#"{"history":[
            {"role":"system","content":"s"},
            {"role":"user","content":"demo","is_demo":true},
            {"role":"user","content":"task"},
            {"role":"assistant","content":"t\n<c>","thought":"t","action":"ls","thinking_blocks":[{"type":"thinking","thinking":"hm"}]},
            {"role":"user","content":[{"type":"text","text":"out"}]},
            {"role":"user","content":"next"},
            {"role":"assistant","content":"whole","thought":"","action":"\n"},
            {"role":"user","content":"said"},
            {"role":"assistant","content":"c","action":"x","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","content":"r","tool_call_ids":["1"]},
            {"role":"user","content":"end"}]}"#);
        let expected = "system s, user task, thinks hm, model t, action \"ls\", result out of \
            -, user next, model whole, user said, model c, f \"{}\", result r of 1, user end";
        assert_eq!(outline(&read.events), expected);
        assert_eq!(read.notes, ["1 demonstration is left out."]);
    }

    #[test]
    fn the_state_follows_from_the_exit_status() {
        for (status, end, error) in [
            ("null", RunEnd::Unfinished, None),
            ("\"submitted\"", RunEnd::Complete, None),
            ("\"submitted (exit_cost)\"", RunEnd::Limit, None),
            ("\"exit_context\"", RunEnd::Limit, None),
            ("\"submitted (exit_total_execution_time)\"", RunEnd::Limit, None),
            ("\"exit_format\"", RunEnd::Error, Some("exit_format")),
            ("\"submitted (exit_error)\"", RunEnd::Error, Some("submitted (exit_error)")),
        ] {
            let read = run(&format!("{{\"history\":[],\"info\":{{\"exit_status\":{status}}}}}"));
            assert_eq!((read.end, read.error.as_deref()), (end, error), "{status}");
        }
    }

    #[test]
    fn coordinates_and_totals_stand_in_the_settings_and_the_info() {
        let config = r#"{"problem_statement":{"id":"i"},"agent":{"model":{"name":"m"}}}"#;
        let text = json::write(&Value::from(config), false);
        for config in [config, text.as_str()] {
            let stats = r#"{"tokens_sent":3,"tokens_received":4,"instance_cost":0.5}"#;
            let info = format!(r#"{{"submission":"patch","model_stats":{stats}}}"#);
            let read = run(&format!(r#"{{"history":[],"replay_config":{config},"info":{info}}}"#));
            let tokens = TokenCounts { input: Some(3), output: Some(4), total: Some(7) };
            assert_eq!((read.task.as_deref(), read.model.as_deref()), (Some("i"), Some("m")));
            assert_eq!((read.tokens, read.cost), (Some(tokens), Some(0.5)));
            assert_eq!(read.answer.as_deref(), Some("patch"));
        }
        let bare =
            run(r#"{"history":[{"role":"assistant","content":"a"}],"info":{"submission":" "}}"#);
        assert_eq!((bare.task.as_deref(), bare.answer), (Some("file"), None));
    }

    struct Report;

    impl Folder for Report {
        fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
            let text = br#"{"resolved_ids":["i"],"submitted_ids":["i","j"]}"#;
            (path == "out/model.run.json").then(|| Box::new(text.to_vec()) as Box<dyn Source>)
        }

        fn list(&self, folder: &str) -> Vec<String> {
            let names: &[&str] = if folder == "out" { &["i/", "model.run.json"] } else { &[] };
            names.iter().map(|name| (*name).to_owned()).collect()
        }
    }

    #[test]
    fn a_report_of_the_harness_above_is_the_verdict() {
        let source = b"{\"history\":[]}".to_vec();
        let open = |path: &'static str, folder: &dyn Folder| {
            SweAgent
                .open(Input { path, source: &source, folder })
                .unwrap()
                .read(0)
                .unwrap()
                .verdicts
        };
        let passed = |path| open(path, &Report).first().and_then(|one| one.passed);
        assert_eq!((passed("out/i/i.traj"), passed("out/j/j.traj")), (Some(true), Some(false)));
        assert_eq!((passed("out/k/k.traj"), open("out/i/i.traj", &NoFolder).len()), (None, 0));
    }

    #[test]
    fn a_file_that_is_cut_off_is_an_error() {
        let text = b"{\"history\":[{\"role\":\"user\",\"content\":\"x\"}]}";
        for end in 0..text.len() {
            let source = text[..end].to_vec();
            let input = Input { path: "x.traj", source: &source, folder: &NoFolder };
            assert!(SweAgent.open(input).is_err(), "{end}");
        }
    }
}
