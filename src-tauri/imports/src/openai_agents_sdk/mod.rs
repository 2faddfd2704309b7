//! **Pure.** Traces of the `OpenAI` Agents SDK: what its processors hand to exporters.
mod index;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::{ImportedRun, RunEnd, TokenCounts};
use crate::source::Input;
use crate::text::is_blank;
use crate::traces::{
    self, ModelCall, Side, ToolSpan, add_agents, add_fact, add_tokens, read_messages,
    seconds_between, unwrap_json,
};
use index::Index;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Traces of the `OpenAI` Agents SDK.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiAgentsSdk;

impl Format for OpenAiAgentsSdk {
    fn name(&self) -> &'static str {
        "openai_agents_sdk"
    }

    fn title(&self) -> &'static str {
        "OpenAI Agents SDK"
    }

    fn files(&self) -> &'static str {
        "traces as *.json, *.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("openai_agents_sdk.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        let in_data = |key: &str| head.has_inner("data", key);
        let is_batch = in_data("object")
            && in_data("id")
            && (in_data("workflow_name") || (in_data("trace_id") && in_data("span_data")));
        let object = head.value("object");
        let is_item = (object == Some("trace") && head.has(&["id", "workflow_name"]))
            || (object == Some("trace.span") && head.has(&["id", "trace_id"]));
        (is_batch || is_item).then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Index::read(input.read_all()?)?))
    }
}

impl ImportedFile for Index {
    fn len(&self) -> usize {
        self.traces.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.traces.get(at).map(|trace| trace.id.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let (trace, spans) = self.items(at)?;
        Ok(read_trace(&trace, &spans))
    }

    fn file_error(&self) -> Option<ReadError> {
        self.error.clone()
    }
}

/// Span of a trace.
struct Span<'a> {
    value: &'a Value,
    data: &'a Value,
    kind: &'a str,
    start: Option<f64>,
    end: Option<f64>,
}

impl<'a> Span<'a> {
    fn read(value: &'a Value) -> Span<'a> {
        let time = |key| value.text_at(key).and_then(timestamps::seconds);
        let data = value.get("span_data").unwrap_or(&Value::Null);
        let kind = data.text_at("type").unwrap_or_default();
        Span { value, data, kind, start: time("started_at"), end: time("ended_at") }
    }

    fn is_root(&self) -> bool {
        self.value.text_at("parent_id").is_none_or(is_blank)
    }

    fn is_call(&self) -> bool {
        matches!(self.kind, "generation" | "response")
    }

    /// Returns the text of the error, if there is one.
    fn error(&self) -> Option<String> {
        let error = self.value.get_non_null("error")?;
        let text = error.text_at("message").or_else(|| error.text()).filter(|text| !is_blank(text));
        Some(text.map_or_else(|| crate::text::canonical_json(error), str::to_owned))
    }

    fn model(&self) -> Option<&'a str> {
        let model = self
            .data
            .text_at("model")
            .or_else(|| self.data.at_path(&["response", "model"])?.text());
        model.filter(|model| !is_blank(model))
    }

    fn tokens(&self) -> Option<TokenCounts> {
        let nested = || self.data.at_path(&["response", "usage"]);
        let usage = self.data.get_non_null("usage").or_else(nested)?;
        let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(key)?.whole_number());
        TokenCounts::new(
            count(&["input_tokens", "prompt_tokens"]),
            count(&["output_tokens", "completion_tokens"]),
            count(&["total_tokens"]),
        )
    }

    fn name(&self) -> &'a str {
        self.data.text_at("name").unwrap_or_default()
    }

    fn time(&self) -> Option<String> {
        self.value.text_at("started_at").map(str::to_owned)
    }

    /// Returns a model call. Those of the Responses interface have messages only in exports that
    /// kept the response itself.
    fn to_model_call(&self) -> ModelCall {
        let response = self.data.get("response").unwrap_or(&Value::Null);
        let read = |value: Option<&Value>, side| {
            read_messages(&value.map(unwrap_json).unwrap_or_default(), side)
        };
        let mut input = read(self.data.get_non_null("input"), Side::Input);
        if let Some(text) = response.text_at("instructions").filter(|text| !is_blank(text)) {
            input.insert(0, traces::Message::from_text(traces::Role::System, text));
        }
        let output = self.data.get_non_null("output").or_else(|| response.get_non_null("output"));
        ModelCall {
            input,
            output: read(output, Side::Output),
            time: self.time(),
            seconds: seconds_between(self.start, self.end),
            tokens: self.tokens().and_then(|tokens| tokens.total),
            model: self.model().map(str::to_owned),
            error: self.error(),
        }
    }

    fn to_tool_span(&self) -> ToolSpan {
        let error = self.value.get_non_null("error");
        let reason =
            error.and_then(|error| error.at_path(&["data", "error"]).or(error.get("message")));
        let output = self.data.get_non_null("output").or(reason);
        ToolSpan {
            id: self.data.text_at("call_id").map(str::to_owned),
            name: self.name().to_owned(),
            arguments: self.data.get("input").cloned().unwrap_or_default(),
            result: output.cloned().unwrap_or_default(),
            failed: error.map(|_| true),
            time: self.time(),
            seconds: seconds_between(self.start, self.end),
            is_open: self.value.text_at("ended_at").is_none(),
        }
    }
}

/// Reads a run from the spans of a trace. `trace` is null if the file does not have it.
fn read_trace(trace: &Value, spans: &[Value]) -> ImportedRun {
    let mut spans: Vec<Span> = spans.iter().map(Span::read).collect();
    spans.sort_by(|a, b| {
        let start = |span: &Span| span.start.unwrap_or(f64::INFINITY);
        start(a).total_cmp(&start(b))
    });
    let calls: Vec<&Span> = spans.iter().filter(|span| span.is_call()).collect();
    let mut agents = spans.iter().filter(|span| span.kind == "agent");
    let system = agents.find_map(|span| span.data.text_at("name"));
    let mut run = ImportedRun {
        system: system.filter(|name| !is_blank(name)).map(str::to_owned),
        model: calls.iter().find_map(|call| call.model()).map(str::to_owned),
        started: spans.iter().find(|span| span.start.is_some()).and_then(Span::time),
        ..ImportedRun::default()
    };
    for call in &calls {
        add_tokens(&mut run.tokens, call.tokens());
    }
    let first = spans.iter().filter_map(|span| span.start).min_by(f64::total_cmp);
    let last = spans.iter().filter_map(|span| span.end).max_by(f64::total_cmp);
    run.seconds = seconds_between(first, last);
    let counted = spans.iter().filter(|span| span.is_root() || span.kind == "agent");
    let error = counted.chain(calls.last().copied()).find_map(Span::error);
    if error.is_some() {
        run.end = RunEnd::Error;
        run.error = error;
    } else if !spans.iter().any(Span::is_root) {
        run.end = RunEnd::Unfinished;
        run.notes.push("The span at the top of the trace is not in the file.".to_owned());
    }
    add_facts(&mut run, trace, &spans);
    let model_calls = calls.iter().map(|call| call.to_model_call()).collect();
    let tools = spans.iter().filter(|span| span.kind == "function");
    let tools = tools.map(Span::to_tool_span).collect();
    traces::assemble(&mut run, model_calls, tools);
    run
}

fn add_facts(run: &mut ImportedRun, trace: &Value, spans: &[Span]) {
    add_fact(run, "workflow", trace.get("workflow_name"));
    add_fact(run, "group", trace.get("group_id"));
    add_fact(run, "metadata", trace.get("metadata"));
    add_agents(run, spans.iter().filter(|span| span.kind == "agent").map(Span::name));
    let handoffs = spans.iter().filter(|span| span.kind == "handoff").filter_map(|span| {
        let (from, to) = (span.data.text_at("from_agent")?, span.data.text_at("to_agent")?);
        Some(Value::Text(format!("{from} → {to}")))
    });
    add_fact(run, "handoffs", Some(&Value::List(handoffs.collect())));
    let guardrails = spans.iter().filter(|span| {
        span.kind == "guardrail" && span.data.get("triggered").and_then(Value::bool) == Some(true)
    });
    let guardrails = guardrails.map(|span| Value::from(span.name())).collect();
    add_fact(run, "triggered_guardrails", Some(&Value::List(guardrails)));
    let settings = spans.iter().find_map(|span| span.data.get_non_null("model_config"));
    for key in ["temperature", "max_tokens"] {
        add_fact(run, key, settings.and_then(|settings| settings.get(key)));
    }
    add_fact(run, "spans", Some(&Value::Number(spans.len().to_string())));
}

#[cfg(test)]
mod tests;
