//! **Pure.** Rollouts: the files that Codex appends to while it works.
use crate::messages::{read_content, result_media, result_value};
use crate::run::{Event, EventKind, ImportedRun, RunEnd, TokenCounts};
use crate::sessions::{is_figure, non_blank, push_fact, seconds_between, token_counts};
use crate::text::join;
use std::collections::HashMap;
use touchstone_model::value::Value;

/// Beginnings of messages that Codex puts in for the user.
const PUT_IN: [&str; 4] =
    ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>"];

/// Reads a rollout. Returns the id of its thread and the run; no run if it has no records.
pub(super) fn read(records: impl Iterator<Item = Value>) -> (Option<String>, Option<ImportedRun>) {
    let mut reader = Reader { run: super::new_run(), ..Reader::default() };
    for record in records {
        reader.record(&record);
    }
    let id = reader.id.clone();
    let run = reader.is_known.then(|| reader.into_run());
    (id, run)
}

/// End of a call, as an event beside the transcript tells it.
#[derive(Debug, Clone, Copy, Default)]
struct CallEnd {
    failed: Option<bool>,
    seconds: Option<f64>,
}

/// State of the last task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Task {
    /// No task was recorded.
    #[default]
    None,
    Started,
    Completed,
    Failed,
}

#[derive(Debug, Default)]
struct Reader {
    run: ImportedRun,
    id: Option<String>,
    /// True once a record was read.
    is_known: bool,
    meta_model: Option<String>,
    turn_model: Option<String>,
    /// Model of the turn that is being read.
    current_model: Option<String>,
    first_time: Option<String>,
    last_time: Option<String>,
    task: Task,
    ends_in_answer: bool,
    ends: HashMap<String, CallEnd>,
    /// Index of the first event that the current call of the model made.
    answer_start: Option<usize>,
}

impl Reader {
    fn record(&mut self, record: &Value) {
        let time = non_blank(record.text_at("timestamp"));
        let payload = record.get("payload").filter(|payload| matches!(payload, Value::Map(_)));
        let Some(payload) = payload else {
            self.bare_record(record, time);
            return;
        };
        self.time(time.clone());
        match record.text_at("type") {
            Some("session_meta") => self.meta(payload),
            Some("turn_context") => self.turn(payload),
            Some("response_item") => self.item(payload, time),
            Some("event_msg") => self.message(payload, time),
            Some("compacted") => {
                let text = payload.text_at("message").unwrap_or_default();
                let text = non_blank(Some(text)).unwrap_or_else(|| "Compacted".to_owned());
                self.push(EventKind::Compaction(text), time);
            }
            _ => return,
        }
        self.is_known = true;
    }

    /// Reads a line of the rollouts of 2025: the facts of the session, or an item.
    fn bare_record(&mut self, record: &Value, time: Option<String>) {
        if record.get("instructions").is_some() && record.get("type").is_none() {
            self.time(time);
            self.meta(record);
        } else if record.get("type").is_some() && record.get("timestamp").is_none() {
            self.item(record, None);
        } else {
            return;
        }
        self.is_known = true;
    }

    fn time(&mut self, time: Option<String>) {
        if self.first_time.is_none() {
            self.first_time.clone_from(&time);
        }
        self.last_time = time.or_else(|| self.last_time.take());
    }

    fn meta(&mut self, meta: &Value) {
        // A thread that goes on from another repeats the facts of that one.
        if self.id.is_some() {
            return;
        }
        self.id = non_blank(meta.text_at("id").or_else(|| meta.text_at("session_id")));
        self.meta_model = non_blank(meta.text_at("model"));
        let facts = [
            ("version", "cli_version"),
            ("folder", "cwd"),
            ("source", "source"),
            ("originator", "originator"),
            ("model provider", "model_provider"),
            ("parent thread", "parent_thread_id"),
            ("forked from", "forked_from_id"),
        ];
        for (name, key) in facts {
            push_fact(&mut self.run.facts, name, meta.get(key));
        }
        push_fact(&mut self.run.facts, "git branch", meta.at_path(&["git", "branch"]));
    }

    fn turn(&mut self, turn: &Value) {
        self.current_model = non_blank(turn.text_at("model")).or(self.current_model.take());
        if self.turn_model.is_some() {
            return;
        }
        self.turn_model = non_blank(turn.text_at("model"));
        let facts = [
            ("approval policy", "approval_policy"),
            ("sandbox", "sandbox_policy"),
            ("effort", "effort"),
        ];
        for (name, key) in facts {
            push_fact(&mut self.run.facts, name, turn.get(key));
        }
    }

    fn push(&mut self, kind: EventKind, time: Option<String>) {
        let mut event = Event { kind, time, ..Event::default() };
        event.set_model(self.current_model.as_deref());
        self.run.events.push(event);
    }

    /// Reads an item of the transcript.
    fn item(&mut self, item: &Value, time: Option<String>) {
        let kind = item.text_at("type").unwrap_or_default();
        let role = item.text_at("role").unwrap_or_default();
        self.ends_in_answer = kind == "message" && role == "assistant";
        let by_model = self.ends_in_answer || kind == "reasoning" || kind.ends_with("_call");
        if by_model && self.answer_start.is_none() {
            self.answer_start = Some(self.run.events.len());
        }
        let id = ["call_id", "id"].iter().find_map(|key| item.text_at(key)).map(str::to_owned);
        let call = |name: &str, key: &str| EventKind::Call {
            id: id.clone(),
            name: name.to_owned(),
            arguments: item.get(key).cloned().unwrap_or_default(),
            by_user: false,
        };
        let name = item.text_at("name").unwrap_or_default();
        match kind {
            "message" => {
                for kind in read_message(role, item) {
                    self.push(kind, time.clone());
                }
            }
            "reasoning" => {
                if let Some(text) = read_reasoning(item) {
                    self.push(EventKind::Reasoning(text), time);
                }
            }
            "function_call" => self.push(call(name, "arguments"), time),
            "custom_tool_call" => self.push(call(name, "input"), time),
            "local_shell_call" => self.push(call("local_shell", "action"), time),
            "web_search_call" => self.push(call("web_search", "action"), time),
            "compaction" | "context_compaction" => {
                self.push(EventKind::Compaction("Compacted".to_owned()), time);
            }
            kind if kind.ends_with("_output") => {
                for kind in read_output(item, id) {
                    self.push(kind, time.clone());
                }
            }
            kind if kind.ends_with("_call") => {
                self.push(EventKind::Note(format!("Call of a built-in tool: {kind}.")), time);
            }
            _ => {}
        }
    }

    /// Reads an event beside the transcript. Those that repeat it are left out.
    fn message(&mut self, event: &Value, time: Option<String>) {
        let kind = event.text_at("type").unwrap_or_default();
        match kind {
            "task_started" | "turn_started" => self.task = Task::Started,
            "task_complete" | "turn_complete" if self.task == Task::Started => {
                self.task = Task::Completed;
            }
            "error" => {
                let text = non_blank(event.text_at("message"));
                if self.task != Task::None {
                    self.task = Task::Failed;
                    self.run.error.clone_from(&text);
                }
                self.push(EventKind::Error(text.unwrap_or_else(|| "Error".to_owned())), time);
            }
            "turn_aborted" => {
                let reason = event.text_at("reason").unwrap_or("no reason given");
                self.push(EventKind::Note(format!("The turn was aborted: {reason}.")), time);
            }
            "thread_rolled_back" => {
                let turns = event.get("num_turns").and_then(Value::whole_number);
                let turns = turns.map_or_else(|| "some".to_owned(), |turns| turns.to_string());
                let text = format!("The user went back by {turns} turns.");
                self.push(EventKind::Note(text), time);
            }
            "token_count" => self.tokens(event),
            "item_completed" => self.call_end(event.get("item").unwrap_or(&Value::Null)),
            kind if kind.ends_with("_end") => self.call_end(event),
            _ => {}
        }
    }

    fn tokens(&mut self, event: &Value) {
        let usage = |key: &str| {
            let usage = event.at_path(&["info", key])?;
            token_counts(usage, "input_tokens", "output_tokens", "total_tokens")
        };
        if let Some(total) = usage("total_token_usage") {
            self.run.tokens = Some(total);
        }
        let last = usage("last_token_usage").and_then(|TokenCounts { total, .. }| total);
        let answer = self.answer_start.take().and_then(|at| self.run.events.get_mut(at));
        if let (Some(event), Some(_)) = (answer, last) {
            event.tokens = last;
        }
    }

    /// Takes how a call ended: whether it failed, and how long it took.
    fn call_end(&mut self, end: &Value) {
        let Some(id) = ["call_id", "id"].iter().find_map(|key| end.text_at(key)) else { return };
        let part = |key: &str| end.at_path(&["duration", key])?.number();
        let seconds = part("secs").map(|secs| secs + part("nanos").unwrap_or_default() / 1e9);
        let status = end.text_at("status").and_then(|status| match status {
            "failed" | "declined" => Some(true),
            "completed" => Some(false),
            _ => None,
        });
        let code = end.get("exit_code").and_then(Value::number).map(|code| code != 0.0);
        let success = end.get("success").and_then(Value::bool).map(|success| !success);
        let failed = success.or(status).or(code);
        let seconds = seconds.filter(|seconds| is_figure(*seconds));
        self.ends.insert(id.to_owned(), CallEnd { failed, seconds });
    }

    fn into_run(mut self) -> ImportedRun {
        for event in &mut self.run.events {
            match &mut event.kind {
                EventKind::Call { id: Some(id), .. } => {
                    event.seconds = self.ends.get(id).and_then(|end| end.seconds);
                }
                EventKind::Result { id: Some(id), failed, .. } => {
                    *failed = failed.or_else(|| self.ends.get(id)?.failed);
                }
                _ => {}
            }
        }
        let mut run = self.run;
        run.model = self.turn_model.or(self.meta_model);
        run.end = match self.task {
            Task::Completed => RunEnd::Complete,
            Task::Failed => RunEnd::Error,
            Task::None if self.ends_in_answer => RunEnd::Complete,
            Task::None | Task::Started => RunEnd::Unfinished,
        };
        if run.end != RunEnd::Error {
            run.error = None;
        }
        let times = self.first_time.as_deref().zip(self.last_time.as_deref());
        run.seconds = times.and_then(|(first, last)| seconds_between(first, last));
        run.started = self.first_time;
        run
    }
}

/// Reads a message. What Codex puts in for the user counts as instructions.
fn read_message(role: &str, item: &Value) -> Vec<EventKind> {
    let content = item.get("content").unwrap_or(&Value::Null);
    let events = read_content(role, content);
    let begins = |event: &EventKind| match event {
        EventKind::User(text) => PUT_IN.iter().any(|start| text.trim_start().starts_with(start)),
        _ => false,
    };
    let metadata =
        item.at_path(&["internal_chat_message_metadata_passthrough", "content_item_metadata"]);
    let metadata = metadata.map(Value::items).unwrap_or_default();
    let is_harness = |part: &Value| {
        part.at_path(&["provenance", "type"]).and_then(Value::text) == Some("harness")
    };
    let all_harness = !metadata.is_empty()
        && metadata.len() >= content.items().len()
        && metadata.iter().all(is_harness);
    if role == "user" && (all_harness || events.iter().any(begins)) {
        return read_content("system", content);
    }
    events
}

/// Returns the readable text of reasoning: its summary, and its content.
fn read_reasoning(item: &Value) -> Option<String> {
    let parts = ["summary", "content"].iter().filter_map(|key| item.get(key));
    let texts: Vec<&str> = parts
        .flat_map(Value::items)
        .filter_map(|part| part.text().or_else(|| part.text_at("text")))
        .collect();
    non_blank(Some(&join(texts)))
}

fn read_output(item: &Value, id: Option<String>) -> Vec<EventKind> {
    let key = ["output", "tools", "result"].into_iter().find(|key| item.get(key).is_some());
    let output = key.and_then(|key| item.get(key)).unwrap_or(&Value::Null);
    // Older versions have the text and the mark in an object.
    let failed = output.get("success").and_then(Value::bool).map(|success| !success);
    let content = output.get("content").filter(|_| output.get("success").is_some());
    let content = content.unwrap_or(output);
    let result = EventKind::Result { id, name: None, value: result_value(content), failed };
    std::iter::once(result).chain(result_media(content)).collect()
}
