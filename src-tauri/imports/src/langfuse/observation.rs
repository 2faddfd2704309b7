//! **Pure.** Observations: spans, model calls and tools.
use crate::messages::result_value;
use crate::run::TokenCounts;
use crate::text::is_blank;
use crate::traces::{
    ModelCall, Side, ToolSpan, read_messages, seconds_between, tool_name, unwrap_json,
};
use touchstone_formats::timestamps;
use touchstone_model::value::Value;

/// Observation of a trace.
pub(super) struct Observation<'a> {
    value: &'a Value,
    pub(super) id: &'a str,
    pub(super) parent: Option<&'a str>,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    /// True if its level is an error.
    pub(super) is_failed: bool,
    /// Message of its status.
    pub(super) message: Option<&'a str>,
}

impl<'a> Observation<'a> {
    /// Reads an observation.
    pub(super) fn read(value: &'a Value) -> Observation<'a> {
        let time = |key| value.text_at(key).and_then(timestamps::seconds);
        let parent = value.text_at("parentObservationId").filter(|parent| !is_blank(parent));
        Observation {
            value,
            id: value.text_at("id").unwrap_or_default(),
            parent,
            kind: value.text_at("type").unwrap_or_default(),
            name: value.text_at("name").unwrap_or_default(),
            start: time("startTime"),
            end: time("endTime"),
            is_failed: value.text_at("level") == Some("ERROR"),
            message: value.text_at("statusMessage"),
        }
    }

    /// Returns the model.
    pub(super) fn model(&self) -> Option<&'a str> {
        self.value.text_at("model").filter(|model| !is_blank(model))
    }

    /// Returns the tokens: `usageDetails`, or what exports had before it.
    pub(super) fn tokens(&self) -> Option<TokenCounts> {
        let keys = ["usageDetails", "usage"];
        let usage = keys.iter().find_map(|key| self.value.get_non_null(key))?;
        let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(key)?.whole_number());
        TokenCounts::new(
            count(&["input", "promptTokens"]),
            count(&["output", "completionTokens"]),
            count(&["total", "totalTokens"]),
        )
    }

    /// Returns the cost.
    pub(super) fn cost(&self) -> Option<f64> {
        let keys = ["totalCost", "calculatedTotalCost"];
        let cost = keys.iter().find_map(|key| self.value.get_non_null(key))?;
        cost.number().or_else(|| cost.text()?.parse().ok())
    }

    /// Returns the value of a key, which is JSON in text.
    fn unwrapped(&self, key: &str) -> Value {
        let value = self.value.get(key).map(unwrap_json).unwrap_or_default();
        if value.text() == Some("null") { Value::Null } else { value }
    }

    fn time(&self) -> Option<String> {
        self.value.text_at("startTime").map(str::to_owned)
    }

    /// Returns a model call with its messages.
    pub(super) fn to_model_call(&self) -> ModelCall {
        let error = self.message.filter(|message| !is_blank(message));
        ModelCall {
            input: read_messages(&self.unwrapped("input"), Side::Input),
            output: read_messages(&self.unwrapped("output"), Side::Output),
            time: self.time(),
            seconds: seconds_between(self.start, self.end),
            tokens: self.tokens().and_then(|tokens| tokens.total),
            model: self.model().map(str::to_owned),
            error: self.is_failed.then(|| error.unwrap_or("The call failed.").to_owned()),
        }
    }

    /// Returns a tool span.
    pub(super) fn to_tool_span(&self) -> ToolSpan {
        let output = self.unwrapped("output");
        let content = output.get_non_null("content").filter(|_| is_tool_message(&output));
        let result = match (content, self.message) {
            (Some(content), _) => result_value(content),
            (None, Some(message)) if output == Value::Null => Value::from(message),
            _ => output.clone(),
        };
        ToolSpan {
            id: self.call_id(&output),
            name: tool_name(self.name).to_owned(),
            arguments: self.unwrapped("input"),
            result,
            failed: self.is_failed.then_some(true),
            time: self.time(),
            seconds: seconds_between(self.start, self.end),
            is_open: self.end.is_none(),
        }
    }

    /// Returns the id of the call, which some instrumentations leave in the metadata.
    fn call_id(&self, output: &Value) -> Option<String> {
        let metadata = self.unwrapped("metadata");
        let attributes = metadata.get("attributes").map(unwrap_json).unwrap_or_default();
        let keys = ["gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool_call_id"];
        let own = [&attributes, &metadata, output].into_iter();
        let mut found = own.flat_map(|holder| keys.iter().filter_map(|key| holder.text_at(key)));
        found.next().map(str::to_owned)
    }
}

/// Returns true for the message of a tool, and for an object that is nothing but content.
fn is_tool_message(output: &Value) -> bool {
    output.text_at("type") == Some("tool")
        || output.text_at("role") == Some("tool")
        || output.entries().len() == 1
}
