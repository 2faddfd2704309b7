//! **Pure.** Traces of `OpenTelemetry` in OTLP's JSON, with the attributes of the `GenAI`
//! conventions or of `OpenInference`.
mod attributes;
mod content;
mod index;
mod span;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::{ImportedRun, RunEnd};
use crate::source::Input;
use crate::traces::{self, ModelCall, ToolSpan, add_agents, add_cost, add_fact, add_tokens};
use index::Index;
use span::{Kind, Span};
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// OTLP as JSON.
#[derive(Debug, Clone, Copy)]
pub struct Otel;

impl Format for Otel {
    fn name(&self) -> &'static str {
        "otel"
    }

    fn title(&self) -> &'static str {
        "OpenTelemetry"
    }

    fn files(&self) -> &'static str {
        "OTLP traces as *.json, *.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("otel.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        if head.has(&["resourceSpans"]) {
            return Some(Detected::Runs);
        }
        let other = ["resourceLogs", "resourceMetrics"].iter().find(|key| head.has(&[key]))?;
        let kind = if *other == "resourceLogs" { "logs" } else { "metrics" };
        // A collector may write all signals to one file, line by line.
        Some(if head.is_lines {
            Detected::Runs
        } else {
            Detected::NoRun(format!("OpenTelemetry: {kind}, no traces."))
        })
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Opened { index: Index::read(input.read_all()?)? }))
    }
}

struct Opened {
    index: Index,
}

impl ImportedFile for Opened {
    fn len(&self) -> usize {
        self.index.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.index.id(at)
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        Ok(read_trace(self.index.spans(at)?))
    }

    fn file_error(&self) -> Option<ReadError> {
        self.index.error.clone()
    }
}

/// Reads a run from the spans of a trace.
fn read_trace(mut spans: Vec<Span>) -> ImportedRun {
    // The sort is stable: spans of one start stay in the order of the file.
    spans.sort_by_key(|span| span.start.unwrap_or(u64::MAX));
    let mut run = ImportedRun::default();
    let calls: Vec<&Span> = spans.iter().filter(|span| span.kind == Kind::Model).collect();
    run.system = spans
        .iter()
        .find_map(Span::agent_name)
        .or_else(|| spans.iter().find_map(Span::service_name))
        .map(str::to_owned);
    let mut models = calls.iter().copied().chain(&spans);
    run.model = models.find_map(Span::model).map(str::to_owned);
    for call in &calls {
        add_tokens(&mut run.tokens, call.tokens());
        add_cost(&mut run.cost, call.cost());
    }
    let first = spans.iter().filter_map(|span| span.start).min();
    let last = spans.iter().filter_map(|span| span.end).max();
    run.started = first.map(span::format_nanos);
    run.seconds = first.zip(last).and_then(|(first, last)| span::nanos_between(first, last));
    read_end(&mut run, &spans, calls.last().copied());
    add_facts(&mut run, &spans, &calls);
    let model_calls = calls.iter().map(|span| read_call(span)).collect();
    let tools = spans.iter().filter(|span| span.kind == Kind::Tool).map(read_tool).collect();
    traces::assemble(&mut run, model_calls, tools);
    run
}

/// Sets the end of a run: the error of a span at the top, of an agent or chain, or of the last model
/// call; without a span at the top the run has not ended.
fn read_end(run: &mut ImportedRun, spans: &[Span], last: Option<&Span>) {
    let counts = |span: &&Span| span.is_root() || matches!(span.kind, Kind::Agent | Kind::Chain);
    let failed = spans.iter().filter(counts).chain(last).find(|span| span.is_failed());
    if let Some(span) = failed {
        run.end = RunEnd::Error;
        run.error = span.error().map(str::to_owned);
    } else if !spans.iter().any(Span::is_root) {
        run.end = RunEnd::Unfinished;
        run.notes.push("The span at the top of the trace is not in the file.".to_owned());
    }
}

fn read_call(span: &Span) -> ModelCall {
    let tokens = span.tokens();
    ModelCall {
        input: content::input(span),
        output: content::output(span),
        time: span.start.map(span::format_nanos),
        seconds: span.seconds(),
        tokens: tokens.and_then(|tokens| tokens.total),
        model: span.model().map(str::to_owned),
        error: span.is_failed().then(|| span.error().unwrap_or("The call failed.").to_owned()),
    }
}

fn read_tool(span: &Span) -> ToolSpan {
    let error = span.is_failed().then(|| span.error().map(Value::from)).flatten();
    ToolSpan {
        id: span.tool_id().map(str::to_owned),
        name: span.tool_name().to_owned(),
        arguments: span.tool_arguments().cloned().unwrap_or_default(),
        result: span.tool_result().cloned().or(error).unwrap_or_default(),
        failed: span.is_failed().then_some(true),
        time: span.start.map(span::format_nanos),
        seconds: span.seconds(),
        is_open: span.end.is_none(),
    }
}

fn add_facts(run: &mut ImportedRun, spans: &[Span], calls: &[&Span]) {
    add_agents(run, spans.iter().filter_map(Span::agent_name));
    let any = |keys: &[&str]| spans.iter().find_map(|span| span.attributes.first(keys));
    add_fact(run, "service", spans.iter().find_map(Span::service_name).map(Value::from).as_ref());
    add_fact(run, "conversation", any(&["gen_ai.conversation.id", "session.id"]));
    add_fact(run, "user", any(&["user.id", "enduser.id"]));
    let provider = ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"];
    add_fact(run, "provider", any(&provider));
    let scope = calls.iter().copied().chain(spans).find_map(|span| span.scope.as_deref());
    add_fact(run, "instrumentation", scope.map(Value::from).as_ref());
    let mut models = std::collections::BTreeSet::new();
    models.extend(calls.iter().filter_map(|span| span.model()));
    if models.len() > 1 {
        let list = models.into_iter().map(Value::from).collect();
        add_fact(run, "models", Some(&Value::List(list)));
    }
    let limit = any(&["gen_ai.request.max_tokens"]);
    add_fact(run, "max_tokens", limit);
    add_fact(run, "temperature", any(&["gen_ai.request.temperature"]));
    add_fact(run, "spans", Some(&Value::Number(spans.len().to_string())));
    let dropped = spans.iter().any(|span| span.has_dropped);
    if dropped {
        run.notes.push("Attributes or events of some spans were dropped when recording.".into());
    }
}

#[cfg(test)]
mod tests;
