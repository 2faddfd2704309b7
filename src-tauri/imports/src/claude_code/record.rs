//! **Pure.** One record of a session: a line of the file.
use crate::messages::read_content;
use crate::run::{Event, EventKind};
use crate::sessions::{is_figure, non_blank};
use crate::text::is_blank;
use touchstone_model::value::Value;

/// Kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Message of the user, or results of calls.
    User,
    /// Message that the tool put in for the user.
    Meta,
    /// Message of the user that is the summary of a compaction.
    Summary,
    /// Message of the model.
    Assistant,
    /// Place of a compaction.
    Boundary,
    /// Anything else that may be part of the chain of messages.
    Other,
}

/// Tokens of one answer of the model.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cached: Option<u64>,
}

impl Usage {
    /// Reads the counts. Returns `None` if there are none.
    pub(super) fn read(usage: &Value) -> Option<Usage> {
        let count = |key: &str| usage.get(key).and_then(Value::whole_number);
        let cached = [count("cache_creation_input_tokens"), count("cache_read_input_tokens")];
        let cached = cached.into_iter().flatten().reduce(u64::saturating_add);
        let usage = Usage { input: count("input_tokens"), output: count("output_tokens"), cached };
        [usage.input, usage.output, usage.cached].iter().any(Option::is_some).then_some(usage)
    }

    /// Returns the sum of all counts.
    pub(super) fn total(self) -> u64 {
        let counts = [self.input, self.output, self.cached];
        counts.into_iter().flatten().fold(0, u64::saturating_add)
    }
}

/// Record, with its messages as events.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) uuid: Option<String>,
    /// Record that this one follows. Behind a compaction, the last one before it.
    pub(super) parent: Option<String>,
    pub(super) is_sidechain: bool,
    /// Message that says that the interface of the model failed.
    pub(super) is_api_error: bool,
    pub(super) time: Option<String>,
    pub(super) message_id: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) cost: Option<f64>,
    /// Sub-agent that the record belongs to: its id, or the id of the call that started it.
    pub(super) side_key: Option<String>,
    /// Sub-agent that a call started, which the record tells: ids of the call and of the agent.
    pub(super) started_agent: Option<(String, String)>,
    pub(super) events: Vec<Event>,
}

impl Record {
    /// Reads a record. Records without messages have no events, and may still be part of the chain.
    pub(super) fn read(value: &Value) -> Record {
        let is_true = |key: &str| value.get(key).and_then(Value::bool) == Some(true);
        let text = |key: &str| non_blank(value.text_at(key));
        let message = value.get("message").filter(|message| matches!(message, Value::Map(_)));
        let kind = match (value.text_at("type"), message) {
            (Some("user"), Some(_)) if is_true("isMeta") => Kind::Meta,
            (Some("user"), Some(_)) if is_true("isCompactSummary") => Kind::Summary,
            (Some("user"), Some(_)) => Kind::User,
            (Some("assistant"), Some(_)) => Kind::Assistant,
            _ if value.text_at("subtype") == Some("compact_boundary") => Kind::Boundary,
            _ => Kind::Other,
        };
        let message = message.unwrap_or(&Value::Null);
        let call_of_stream = text("parent_tool_use_id");
        let mut record = Record {
            kind,
            uuid: text("uuid"),
            parent: text("parentUuid").or_else(|| text("logicalParentUuid")),
            is_sidechain: is_true("isSidechain") || call_of_stream.is_some(),
            is_api_error: is_true("isApiErrorMessage"),
            time: text("timestamp"),
            message_id: non_blank(message.text_at("id")),
            model: non_blank(message.text_at("model")).filter(|model| model != "<synthetic>"),
            usage: message.get("usage").and_then(Usage::read),
            cost: value.get("costUSD").and_then(Value::number).filter(|cost| is_figure(*cost)),
            side_key: call_of_stream.or_else(|| text("agentId")),
            started_agent: started_agent(value, message),
            events: Vec::new(),
        };
        record.events = record.read_events(value, message);
        record
    }

    fn read_events(&self, value: &Value, message: &Value) -> Vec<Event> {
        let role = match self.kind {
            Kind::Meta => "system",
            Kind::User | Kind::Summary => "user",
            Kind::Assistant => "assistant",
            Kind::Boundary | Kind::Other => {
                let event = read_notice(value);
                return event.map(|kind| self.event(kind)).into_iter().collect();
            }
        };
        let mut kinds = read_content(role, message.get("content").unwrap_or(&Value::Null));
        if self.kind == Kind::Meta {
            // Left out by the rule of the format, except as what the model was told.
            kinds.retain(|kind| matches!(kind, EventKind::System(_) | EventKind::Media(_)));
        }
        let details = value.get("toolUseResult").or_else(|| value.get("tool_use_result"));
        let milliseconds = details.and_then(|details| {
            ["durationMs", "totalDurationMs"].iter().find_map(|key| details.get(key)?.number())
        });
        let seconds = milliseconds.filter(|number| is_figure(*number)).map(|ms| ms / 1_000.0);
        let tokens = details.and_then(|details| details.get("totalTokens")?.whole_number());
        let mut events: Vec<Event> = kinds.into_iter().map(|kind| self.event(kind)).collect();
        let is_media = |event: &Event| matches!(event.kind, EventKind::Media(_));
        if let [first, rest @ ..] = &mut events[..]
            && matches!(first.kind, EventKind::Result { .. })
            && rest.iter().all(is_media)
        {
            (first.seconds, first.tokens) = (seconds, tokens);
        }
        events
    }

    fn event(&self, kind: EventKind) -> Event {
        let mut event = Event { kind, time: self.time.clone(), ..Event::default() };
        event.set_model(self.model.as_deref());
        event
    }

    /// Returns true if the record is a message of the transcript.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Summary | Kind::Assistant)
    }

    /// Returns true if the record is what a user typed, and not the result of a call.
    pub(super) fn is_prompt(&self) -> bool {
        let is_result = |event: &Event| matches!(event.kind, EventKind::Result { .. });
        matches!(self.kind, Kind::User | Kind::Summary | Kind::Meta)
            && !self.events.iter().any(is_result)
    }

    /// Returns the first text of the user.
    pub(super) fn prompt(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match &event.kind {
            EventKind::User(text) if !is_blank(text) => Some(text.as_str()),
            _ => None,
        })
    }
}

/// Returns the ids of a call and of the sub-agent that it started, from the result of the call or
/// from a record of progress.
fn started_agent(value: &Value, message: &Value) -> Option<(String, String)> {
    let details = value.get("toolUseResult").or_else(|| value.get("tool_use_result"));
    if let Some(agent) = details.and_then(|details| details.text_at("agentId")) {
        let parts = message.get("content").map(Value::items).unwrap_or_default();
        let call = parts.iter().find_map(|part| part.text_at("tool_use_id"))?;
        return Some((call.to_owned(), agent.to_owned()));
    }
    let agent = value.at_path(&["data", "agentId"])?.text()?;
    let call = value.text_at("parentToolUseID").or_else(|| value.text_at("toolUseID"))?;
    Some((call.to_owned(), agent.to_owned()))
}

/// Reads what a record that is no message has to tell: a compaction, an error on the way, what the
/// user typed while the model was busy.
fn read_notice(value: &Value) -> Option<EventKind> {
    let content = value.text_at("content").filter(|content| !is_blank(content));
    match (value.text_at("type")?, value.text_at("subtype")) {
        ("system", Some("compact_boundary")) => {
            let metadata = value.get("compactMetadata").or_else(|| value.get("compact_metadata"));
            let detail = |keys: [&str; 2]| {
                let found = keys.iter().find_map(|key| metadata?.get_non_null(key));
                found.and_then(crate::text::text_or_json)
            };
            let mut text = content.unwrap_or("Conversation compacted").to_owned();
            let trigger = detail(["trigger", "trigger"]);
            let tokens = detail(["preTokens", "pre_tokens"]).map(|n| format!("{n} tokens before"));
            let details: Vec<String> = [trigger, tokens].into_iter().flatten().collect();
            if !details.is_empty() {
                text = format!("{text} ({})", details.join(", "));
            }
            Some(EventKind::Compaction(text))
        }
        ("system", Some("api_error")) => {
            let paths: [&[&str]; 3] =
                [&["error", "error", "error", "message"], &["error", "message"], &["error"]];
            let text = paths.iter().find_map(|path| value.at_path(path)?.text()).or(content);
            Some(EventKind::Error(text.unwrap_or("The call of the model failed.").to_owned()))
        }
        ("system", Some("local_command" | "informational")) => {
            content.map(|content| EventKind::Note(content.to_owned()))
        }
        ("attachment", _) => {
            let attachment = value.get("attachment")?;
            (attachment.text_at("type") == Some("queued_command")).then_some(())?;
            let text = attachment.text_at("prompt")?;
            Some(EventKind::Note(format!("Typed while the model was busy: {text}")))
        }
        _ => None,
    }
}
