//! **Pure.** Runs from traces: the spans of model calls and tools become one conversation. Shared
//! by the formats that record traces and not conversations.
mod join;
mod message;
mod parts;
mod shapes;
mod tools;

pub use join::{ModelCall, join};
pub use message::{Message, Role, read_message};
pub use shapes::{Side, read_messages, unwrap_json};
pub use tools::{ToolSpan, add_tool_spans, events_of_tool_spans};

use crate::run::{Event, EventKind, ImportedRun, TokenCounts};
use crate::text::is_blank;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Parses a part of a file. Keys may stand twice; the first counts then.
pub fn parse(text: &str) -> Result<Value, ReadError> {
    json::read_python(text).or_else(|error| json::embedded(text).ok_or(error))
}

/// Returns the name of a tool from the name of its span, which may say that it runs.
pub fn tool_name(span: &str) -> &str {
    let prefixes = ["execute_tool ", "running tool: "];
    prefixes.iter().find_map(|prefix| span.strip_prefix(prefix)).unwrap_or(span)
}

/// Fills in the events and the answer of a run. Calls and tool spans are in the order of their
/// starts.
pub fn assemble(run: &mut ImportedRun, calls: Vec<ModelCall>, tools: Vec<ToolSpan>) {
    let has_calls = !calls.is_empty();
    let has_content = calls.iter().any(ModelCall::has_content);
    run.events = join(calls);
    if has_content {
        let left = add_tool_spans(&mut run.events, tools);
        if left > 0 {
            let (noun, verb) =
                if left == 1 { ("span belongs", "is") } else { ("spans belong", "are") };
            run.notes.push(format!(
                "{left} tool {noun} to no call in the messages and {verb} not shown."
            ));
        }
    } else if has_calls {
        run.notes.push(
            "The trace holds no messages, only model calls and tools. Record their content to see \
             the conversation."
                .to_owned(),
        );
        run.events.extend(events_of_tool_spans(tools));
        sort_by_time(&mut run.events);
    } else {
        run.notes.push("The trace holds no model call.".to_owned());
        run.events.extend(events_of_tool_spans(tools));
    }
    run.answer = run.last_text().map(str::to_owned);
}

/// Sorts events by their starts. One without a time stays behind the one before it.
fn sort_by_time(events: &mut Vec<Event>) {
    let mut last = f64::NEG_INFINITY;
    let mut timed: Vec<(f64, Event)> = std::mem::take(events)
        .into_iter()
        .map(|event| {
            last = event.time.as_deref().and_then(timestamps::seconds).unwrap_or(last);
            (last, event)
        })
        .collect();
    timed.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    events.extend(timed.into_iter().map(|(_, event)| event));
}

/// Adds counts to a sum. What neither has stays unknown.
pub fn add_tokens(sum: &mut Option<TokenCounts>, counts: Option<TokenCounts>) {
    let Some(counts) = counts else { return };
    let sum = sum.get_or_insert_default();
    let add = |a: &mut Option<u64>, b: Option<u64>| {
        if let Some(b) = b {
            *a = Some(a.unwrap_or_default().saturating_add(b));
        }
    };
    add(&mut sum.input, counts.input);
    add(&mut sum.output, counts.output);
    add(&mut sum.total, counts.total);
}

/// Adds a cost to a sum, unless it is negative or no number.
pub fn add_cost(sum: &mut Option<f64>, cost: Option<f64>) {
    let cost = cost.filter(|cost| cost.is_finite() && *cost >= 0.0);
    if let Some(cost) = cost {
        let added = sum.unwrap_or_default() + cost;
        if added.is_finite() {
            *sum = Some(added);
        }
    }
}

/// Returns the seconds between two times, to the microsecond, unless they run backwards.
pub fn seconds_between(start: Option<f64>, end: Option<f64>) -> Option<f64> {
    let seconds = Some(end? - start?).filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
    seconds.map(|seconds| (seconds * 1e6).round() / 1e6)
}

/// Adds a fact, unless its value is null, blank or empty.
pub fn add_fact(run: &mut ImportedRun, key: &str, value: Option<&Value>) {
    let Some(value) = value else { return };
    let empty = match value {
        Value::Null => true,
        Value::Text(text) => is_blank(text),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if !empty && !run.facts.iter().any(|(known, _)| known == key) {
        run.facts.push((key.to_owned(), value.clone()));
    }
}

/// Adds the names of the agents of a trace, if there is more than one.
pub fn add_agents<'a>(run: &mut ImportedRun, names: impl IntoIterator<Item = &'a str>) {
    let mut agents: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !is_blank(name) && seen.insert(name) {
            agents.push(name);
        }
    }
    if agents.len() > 1 {
        let list = agents.into_iter().map(Value::from).collect();
        add_fact(run, "agents", Some(&Value::List(list)));
    }
}

/// Returns true for what counts as content of messages. Instructions alone do not.
fn is_content(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::System(_) | EventKind::Error(_) | EventKind::Note(_))
}
