//! **Pure.** Spans of OTLP, and what their attributes say in either convention.
use super::attributes::Attributes;
use crate::run::TokenCounts;
use crate::text::is_blank;
use crate::traces::tool_name;
use touchstone_model::value::Value;

/// Kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Call of a model.
    Model,
    /// Call of a tool.
    Tool,
    /// Agent.
    Agent,
    /// Chain.
    Chain,
    /// Anything else.
    Other,
}

/// Span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) kind: Kind,
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) attributes: Attributes,
    pub(super) events: Vec<SpanEvent>,
    /// Name of the service.
    pub(super) service: Option<String>,
    /// Name and version of the instrumentation.
    pub(super) scope: Option<String>,
    /// True if attributes or events were dropped when recording.
    pub(super) has_dropped: bool,
    name: String,
    has_parent: bool,
    failed: bool,
    message: Option<String>,
}

/// Event of a span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpanEvent {
    pub(super) name: String,
    pub(super) attributes: Attributes,
}

impl Span {
    /// Reads a span.
    pub(super) fn read(span: &Value) -> Span {
        let attributes = Attributes::read(span.get("attributes"));
        let events = span.get("events").map(Value::items).unwrap_or_default().iter();
        let events = events.map(|event| SpanEvent {
            name: event.text_at("name").unwrap_or_default().to_owned(),
            attributes: Attributes::read(event.get("attributes")),
        });
        let parent = span.text_at("parentSpanId").unwrap_or_default();
        let status = span.get("status");
        let code = status.and_then(|status| status.get("code"));
        let is_positive =
            |key: &str| span.get(key).and_then(Value::number).is_some_and(|n| n > 0.0);
        Span {
            kind: read_kind(&attributes),
            start: span.get("startTimeUnixNano").and_then(nanos),
            end: span.get("endTimeUnixNano").and_then(nanos),
            events: events.collect(),
            service: None,
            scope: None,
            has_dropped: is_positive("droppedAttributesCount") || is_positive("droppedEventsCount"),
            name: span.text_at("name").unwrap_or_default().to_owned(),
            has_parent: !parent.trim_matches('0').is_empty(),
            failed: code.is_some_and(|code| {
                code.number() == Some(2.0) || code.text() == Some("STATUS_CODE_ERROR")
            }),
            message: status.and_then(|status| status.text_at("message")).map(str::to_owned),
            attributes,
        }
    }

    /// Returns true for a span without parent.
    pub(super) fn is_root(&self) -> bool {
        !self.has_parent
    }

    /// Returns true if the status is an error.
    pub(super) fn is_failed(&self) -> bool {
        self.failed
    }

    /// Returns the text of the error: message of the status, else of the exception, else its type.
    pub(super) fn error(&self) -> Option<&str> {
        let mut exceptions =
            self.events.iter().rev().filter_map(|event| event.attributes.text("exception.message"));
        self.message
            .as_deref()
            .filter(|message| !is_blank(message))
            .or_else(|| exceptions.next())
            .or_else(|| self.attributes.text("exception.message"))
            .or_else(|| self.attributes.text("error.type"))
    }

    /// Returns the name of the agent.
    pub(super) fn agent_name(&self) -> Option<&str> {
        ["gen_ai.agent.name", "agent.name"].iter().find_map(|key| self.attributes.text(key))
    }

    /// Returns the name of the service.
    pub(super) fn service_name(&self) -> Option<&str> {
        self.service.as_deref()
    }

    /// Returns the model.
    pub(super) fn model(&self) -> Option<&str> {
        let keys = ["gen_ai.request.model", "llm.model_name", "gen_ai.response.model"];
        keys.iter().find_map(|key| self.attributes.text(key))
    }

    /// Returns the tokens of a model call.
    pub(super) fn tokens(&self) -> Option<TokenCounts> {
        let count = |keys: &[&str]| self.attributes.first(keys).and_then(Value::whole_number);
        TokenCounts::new(
            count(&[
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.prompt_tokens",
                "llm.token_count.prompt",
            ]),
            count(&[
                "gen_ai.usage.output_tokens",
                "gen_ai.usage.completion_tokens",
                "llm.token_count.completion",
            ]),
            count(&[
                "gen_ai.usage.total_tokens",
                "llm.token_count.total",
                "llm.usage.total_tokens",
            ]),
        )
    }

    /// Returns the cost of a model call.
    pub(super) fn cost(&self) -> Option<f64> {
        self.attributes.first(&["llm.cost.total", "operation.cost"])?.number()
    }

    /// Returns the duration in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        nanos_between(self.start?, self.end?)
    }

    /// Returns the id of the tool call.
    pub(super) fn tool_id(&self) -> Option<&str> {
        let keys = ["gen_ai.tool.call.id", "tool_call.id", "tool.id"];
        keys.iter().find_map(|key| self.attributes.text(key))
    }

    /// Returns the name of the tool.
    pub(super) fn tool_name(&self) -> &str {
        let named = ["gen_ai.tool.name", "tool.name", "tool_call.function.name"]
            .iter()
            .find_map(|key| self.attributes.text(key));
        named.unwrap_or_else(|| tool_name(&self.name))
    }

    /// Returns the arguments of the tool call.
    pub(super) fn tool_arguments(&self) -> Option<&Value> {
        self.attributes.first(&[
            "gen_ai.tool.call.arguments",
            "tool_arguments",
            "tool_call.function.arguments",
            "input.value",
        ])
    }

    /// Returns the result of the tool call.
    pub(super) fn tool_result(&self) -> Option<&Value> {
        self.attributes.first(&["gen_ai.tool.call.result", "tool_response", "output.value"])
    }
}

fn read_kind(attributes: &Attributes) -> Kind {
    match attributes.text("gen_ai.operation.name") {
        Some("chat" | "text_completion" | "generate_content") => return Kind::Model,
        Some("execute_tool") => return Kind::Tool,
        Some("invoke_agent") => return Kind::Agent,
        Some("invoke_workflow") => return Kind::Chain,
        _ => {}
    }
    match attributes.text("openinference.span.kind") {
        Some("LLM") => Kind::Model,
        Some("TOOL") => Kind::Tool,
        Some("AGENT") => Kind::Agent,
        Some("CHAIN") => Kind::Chain,
        _ => Kind::Other,
    }
}

/// Reads nanoseconds since 1970: text or a number; 0 is none.
fn nanos(value: &Value) -> Option<u64> {
    let nanos = match value {
        Value::Text(text) => text.trim().parse().ok(),
        other => other.whole_number(),
    };
    nanos.filter(|nanos| *nanos > 0)
}

/// Returns the seconds between two times, unless they run backwards.
pub(super) fn nanos_between(start: u64, end: u64) -> Option<f64> {
    end.checked_sub(start).map(|nanos| std::time::Duration::from_nanos(nanos).as_secs_f64())
}

/// Formats nanoseconds since 1970 as `2026-11-23T19:23:52.953693619Z`.
pub(super) fn format_nanos(nanos: u64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March of the year 0, so that the leap day comes last; an era is the 400
    // years after which the calendar repeats.
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + next;
    let (hour, minute, second) = (clock / 3_600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest:09}Z")
}
