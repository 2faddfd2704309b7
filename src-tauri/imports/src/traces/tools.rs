//! **Pure.** Spans of tools, and the calls in messages that they belong to.
use crate::run::{Event, EventKind};
use crate::text::{arguments, canonical_json};
use std::collections::{HashMap, VecDeque};
use touchstone_model::value::Value;

/// Span of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolSpan {
    /// Id of the call.
    pub id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// Arguments.
    pub arguments: Value,
    /// Result; null if it was not recorded.
    pub result: Value,
    /// True if the call failed.
    pub failed: Option<bool>,
    /// Start, as the file writes it.
    pub time: Option<String>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// True if the end is not recorded.
    pub is_open: bool,
}

impl ToolSpan {
    fn into_result(self, id: Option<String>) -> Event {
        EventKind::Result { id, name: Some(self.name), value: self.result, failed: self.failed }
            .into()
    }
}

/// Returns the calls and results of tool spans, for traces without messages.
pub fn events_of_tool_spans(spans: Vec<ToolSpan>) -> Vec<Event> {
    let mut events = Vec::new();
    for mut span in spans {
        let kind = EventKind::Call {
            id: span.id.clone(),
            name: span.name.clone(),
            arguments: std::mem::take(&mut span.arguments),
            by_user: false,
        };
        let (time, seconds) = (span.time.clone(), span.seconds);
        events.push(Event { kind, time, seconds, ..Event::default() });
        if !span.is_open {
            let id = span.id.clone();
            events.push(span.into_result(id));
        }
    }
    events
}

/// Adds the results of tool spans to the calls that have none in the messages, and what they know
/// besides to the others. Returns the number of spans that belong to no call.
pub fn add_tool_spans(events: &mut Vec<Event>, spans: Vec<ToolSpan>) -> usize {
    let calls = find_calls(events);
    let results = pair_results(events, &calls);
    let owners = pair_spans(&calls, &spans);
    let mut pending: HashMap<usize, Event> = HashMap::new();
    let mut left = 0;
    for (span, owner) in spans.into_iter().zip(owners) {
        let Some(call) = owner.map(|number| &calls[number]) else {
            left += 1;
            continue;
        };
        let event = &mut events[call.event];
        event.time = event.time.take().or_else(|| span.time.clone());
        event.seconds = event.seconds.or(span.seconds);
        if let Some(result) = results.get(&call.event) {
            if let EventKind::Result { failed, .. } = &mut events[*result].kind {
                *failed = failed.or(span.failed.filter(|failed| *failed));
            }
        } else if !span.is_open {
            pending.insert(call.event, span.into_result(call.id.clone()));
        }
    }
    insert_after_calls(events, pending);
    left
}

/// Inserts results behind the row of calls that their call stands in.
fn insert_after_calls(events: &mut Vec<Event>, mut pending: HashMap<usize, Event>) {
    if pending.is_empty() {
        return;
    }
    let mut row = Vec::new();
    let mut merged = Vec::with_capacity(events.len() + pending.len());
    for (number, event) in std::mem::take(events).into_iter().enumerate() {
        if !matches!(event.kind, EventKind::Call { .. }) {
            merged.append(&mut row);
        }
        merged.push(event);
        row.extend(pending.remove(&number));
    }
    merged.append(&mut row);
    *events = merged;
}

struct Call {
    event: usize,
    id: Option<String>,
    name: String,
    arguments: String,
}

fn find_calls(events: &[Event]) -> Vec<Call> {
    let calls = events.iter().enumerate().filter_map(|(event, found)| match &found.kind {
        EventKind::Call { id, name, arguments: given, .. } => Some(Call {
            event,
            id: id.clone().filter(|id| !id.is_empty()),
            name: name.clone(),
            arguments: canonical_json(&arguments(Some(given))),
        }),
        _ => None,
    });
    calls.collect()
}

/// Calls that wait for their other half, by number. Each is taken once.
#[derive(Default)]
struct Waiting<'a> {
    by_id: HashMap<&'a str, VecDeque<usize>>,
    /// Calls by name; those without id apart, since they fit whatever the id of the other half is.
    by_name: HashMap<(&'a str, bool), VecDeque<usize>>,
    all: VecDeque<usize>,
    taken: Vec<bool>,
}

impl<'a> Waiting<'a> {
    fn add(&mut self, number: usize, call: &'a Call) {
        if let Some(id) = &call.id {
            self.by_id.entry(id).or_default().push_back(number);
        }
        self.by_name.entry((&call.name, call.id.is_some())).or_default().push_back(number);
        self.all.push_back(number);
        if self.taken.len() <= number {
            self.taken.resize(number + 1, false);
        }
    }

    fn take_by_id(&mut self, id: &str) -> Option<usize> {
        let number = next(self.by_id.get_mut(id)?, &self.taken)?;
        self.taken[number] = true;
        Some(number)
    }

    fn take_by_name(&mut self, name: &'a str, has_id: bool) -> Option<usize> {
        let mut find = |with_id: bool| {
            let queue = self.by_name.get_mut(&(name, with_id))?;
            next(queue, &self.taken)
        };
        let (without, with) = (find(false), if has_id { None } else { find(true) });
        let number = [without, with].into_iter().flatten().min()?;
        self.taken[number] = true;
        Some(number)
    }

    fn take_any(&mut self) -> Option<usize> {
        let number = next(&mut self.all, &self.taken)?;
        self.taken[number] = true;
        Some(number)
    }
}

/// Returns the first of a queue that is not taken, and drops those before it.
fn next(queue: &mut VecDeque<usize>, taken: &[bool]) -> Option<usize> {
    while queue.front().is_some_and(|number| taken[*number]) {
        queue.pop_front();
    }
    queue.front().copied()
}

/// Finds the result of each call among the messages: by id where both have one, else by name in
/// order, else in order. Returns the results by the place of their calls.
fn pair_results<'a>(events: &'a [Event], calls: &'a [Call]) -> HashMap<usize, usize> {
    let mut waiting = Waiting::default();
    let mut pairs = HashMap::new();
    let mut upcoming = calls.iter().enumerate().peekable();
    for (place, event) in events.iter().enumerate() {
        let EventKind::Result { id, name, .. } = &event.kind else { continue };
        while let Some((number, call)) = upcoming.next_if(|(_, call)| call.event < place) {
            waiting.add(number, call);
        }
        let id = id.as_deref().filter(|id| !id.is_empty());
        let name = name.as_deref().filter(|name| !name.is_empty());
        let found = id.and_then(|id| waiting.take_by_id(id)).or_else(|| match name {
            Some(name) => waiting.take_by_name(name, id.is_some()),
            None if id.is_none() => waiting.take_any(),
            None => None,
        });
        if let Some(number) = found {
            pairs.insert(calls[number].event, place);
        }
    }
    pairs
}

/// Finds the call of each span: by id where both have one, else by name and arguments, else by name
/// in order.
fn pair_spans<'a>(calls: &'a [Call], spans: &'a [ToolSpan]) -> Vec<Option<usize>> {
    let mut waiting = Waiting::default();
    for (number, call) in calls.iter().enumerate() {
        waiting.add(number, call);
    }
    let id_of = |span: &ToolSpan| span.id.clone().filter(|id| !id.is_empty());
    let mut owners: Vec<Option<usize>> =
        spans.iter().map(|span| waiting.take_by_id(&id_of(span)?)).collect();
    let given: Vec<String> =
        spans.iter().map(|span| canonical_json(&arguments(Some(&span.arguments)))).collect();
    let mut same: HashMap<(&str, &str), VecDeque<usize>> = HashMap::new();
    for (number, call) in calls.iter().enumerate() {
        same.entry((&call.name, &call.arguments)).or_default().push_back(number);
    }
    let open = spans.iter().zip(&given).zip(&mut owners).filter(|(_, owner)| owner.is_none());
    for ((span, given), owner) in open {
        let Some(queue) = same.get_mut(&(span.name.as_str(), given.as_str())) else { continue };
        *owner = next(queue, &waiting.taken)
            .filter(|number| calls[*number].id.is_none() || id_of(span).is_none());
        if let Some(number) = *owner {
            waiting.taken[number] = true;
        }
    }
    for (span, owner) in spans.iter().zip(&mut owners).filter(|(_, owner)| owner.is_none()) {
        *owner = waiting.take_by_name(&span.name, id_of(span).is_some());
    }
    owners
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn call(id: &str, name: &str, given: &str) -> Event {
        let id = Some(id.to_owned()).filter(|id| !id.is_empty());
        let arguments = Value::from(given);
        EventKind::Call { id, name: name.to_owned(), arguments, by_user: false }.into()
    }

    fn result(id: &str, name: &str, value: &str) -> Event {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        EventKind::Result { id: some(id), name: some(name), value: value.into(), failed: None }
            .into()
    }

    fn span(id: &str, name: &str, given: &str, value: &str) -> ToolSpan {
        let id = Some(id.to_owned()).filter(|id| !id.is_empty());
        let (arguments, result) = (Value::from(given), Value::from(value));
        ToolSpan { id, name: name.to_owned(), arguments, result, ..ToolSpan::default() }
    }

    /// Returns the events in short: calls by their arguments, results by their values.
    fn short(events: &[Event]) -> String {
        let texts = events.iter().map(|event| match &event.kind {
            EventKind::Call { arguments, .. } => arguments.text().unwrap_or_default().to_owned(),
            EventKind::Result { value, failed, .. } => {
                let mark = if *failed == Some(true) { "!" } else { "" };
                format!("={}{mark}", value.text().unwrap_or("-"))
            }
            _ => "…".to_owned(),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_tool_span_adds_its_result_to_the_call_that_has_none() {
        let table = [
            // By id, whatever the order.
            (
                vec![call("1", "f", "a"), call("2", "f", "b")],
                vec![span("2", "f", "", "B"), span("1", "f", "", "A")],
                "a b =A =B",
                0,
            ),
            // Different ids never match.
            (vec![call("1", "f", "a")], vec![span("2", "f", "a", "A")], "a", 1),
            // By name in order, where one of them has no id.
            (
                vec![call("1", "f", "a"), call("2", "g", "b"), call("3", "f", "c")],
                vec![span("", "f", "x", "A"), span("", "f", "y", "C"), span("", "g", "z", "B")],
                "a b c =A =B =C",
                0,
            ),
            // The span of a call that has a result is not given to another call.
            (
                vec![call("", "f", "a"), result("", "f", "A"), call("", "f", "b")],
                vec![span("", "f", "a", "no")],
                "a =A b",
                0,
            ),
            (
                vec![call("", "f", "a"), result("", "", "A"), call("", "f", "b")],
                vec![span("", "f", "b", "B")],
                "a =A b =B",
                0,
            ),
            // A result without name and id belongs to the first open call.
            (
                vec![call("1", "f", "a"), call("", "g", "b"), result("", "", "A")],
                vec![span("", "g", "b", "B"), span("1", "f", "a", "no")],
                "a b =B =A",
                0,
            ),
            (vec![call("", "f", "a")], vec![span("", "g", "a", "A")], "a", 1),
        ];
        for (mut events, spans, expected, left) in table {
            let before = short(&events);
            assert_eq!(add_tool_spans(&mut events, spans), left, "{before}");
            assert_eq!(short(&events), expected);
        }
    }

    #[test]
    fn a_failed_span_marks_the_result_and_an_open_one_adds_none() {
        let mut events = vec![call("1", "f", "a"), result("1", "", "A"), call("2", "f", "b")];
        let failed = ToolSpan { failed: Some(true), ..span("1", "f", "a", "") };
        let open = ToolSpan { is_open: true, ..span("2", "f", "b", "") };
        assert_eq!(add_tool_spans(&mut events, vec![failed.clone(), open.clone()]), 0);
        assert_eq!(short(&events), "a =A! b");
        assert_eq!(short(&events_of_tool_spans(vec![failed, open])), "a =! b");
    }

    proptest! {
        #[test]
        fn nothing_of_the_messages_is_lost_and_each_span_adds_one_result_at_most(
            calls in prop::collection::vec(("[12]?", "[fg]", "[ab]", any::<bool>()), 0..8),
            spans in prop::collection::vec(("[12]?", "[fgh]", "[ab]"), 0..8),
        ) {
            let mut events = Vec::new();
            for (id, name, given, answered) in &calls {
                events.push(call(id, name, given));
                if *answered {
                    events.push(result(id, name, "R"));
                }
            }
            let before = events.clone();
            let open = calls.iter().filter(|(.., answered)| !answered).count();
            let spans: Vec<_> = spans.iter().map(|(id, name, given)| span(id, name, given, "S")).collect();
            let left = add_tool_spans(&mut events, spans.clone());
            let added = events.len() - before.len();
            prop_assert!(added <= open && added + left <= spans.len());
            let kept: Vec<_> = events.iter()
                .filter(|event| !matches!(&event.kind, EventKind::Result { value, .. } if value.text() == Some("S")))
                .map(|event| &event.kind).collect();
            prop_assert_eq!(kept, before.iter().map(|event| &event.kind).collect::<Vec<_>>());
        }
    }
}
