//! **Pure.** The events of a sample: times of calls, runs of sub-agents, compactions, and the
//! conversation itself where the sample has no messages.
use super::message::Message;
use super::pieces::{Pieces, ranges, raw};
use crate::run::{Event, EventKind};
use crate::text::is_blank;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use touchstone_formats::timestamps;
use touchstone_model::json::{self, skim};
use touchstone_model::value::Value;

/// Maximum number of spans that are followed upwards.
const MOST_SPANS: usize = 100;

/// Maximum depth of sub-agents of sub-agents.
const MOST_AGENTS: usize = 20;

/// Maximum number of references to messages that are followed.
const MOST_REFERENCES: usize = 20_000_000;

/// Events of a sample.
#[derive(Default)]
pub(super) struct Timeline<'a> {
    records: Vec<Record<'a>>,
    spans: HashMap<String, Span>,
    agents: Vec<Agent>,
    /// Indices of agents, by the span in which they ran.
    agent_spans: HashMap<String, usize>,
    owners: HashMap<String, Owner>,
    /// By id of the call.
    calls: HashMap<String, Timing>,
    /// By id of the message that a model wrote.
    outputs: HashMap<String, Timing>,
    has_more: bool,
}

/// An event, with the run it belongs to.
struct Record<'a> {
    kind: Kind<'a>,
    span: Option<String>,
    owner: Owner,
}

enum Kind<'a> {
    Model {
        input: Option<&'a str>,
        references: Option<&'a str>,
        output: Option<&'a str>,
        id: Option<String>,
        error: Option<String>,
    },
    Tool {
        call: String,
        message: Option<String>,
        function: String,
        result: Option<&'a str>,
        error: Option<&'a str>,
    },
    Compaction(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Sample,
    Scorer,
    Agent(usize),
}

struct Span {
    parent: Option<String>,
    kind: String,
    name: String,
    /// Call of a tool that ran in the span.
    call: Option<String>,
}

struct Agent {
    name: String,
    call: String,
}

#[derive(Default)]
struct Timing {
    start: Option<String>,
    end: Option<String>,
    seconds: Option<f64>,
    tokens: Option<u64>,
    model: Option<String>,
}

/// Members of an event.
struct Fields<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Fields<'a> {
    fn raw(&self, key: &str) -> Option<&'a str> {
        raw(&self.0, key).filter(|text| *text != "null")
    }

    fn value(&self, key: &str) -> Option<Value> {
        json::read_python(self.raw(key)?).ok()
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn timing(&self) -> Timing {
        let (start, end) = (self.text("timestamp"), self.text("completed"));
        let between = || {
            let (start, end) = (start.as_deref()?, end.as_deref()?);
            Some(timestamps::seconds(end)? - timestamps::seconds(start)?)
        };
        let seconds = between().filter(|seconds| *seconds >= 0.0);
        let working = || self.value("working_time")?.number();
        Timing { seconds: seconds.or_else(working), start, end, tokens: None, model: None }
    }
}

/// Returns the text of a value deep in an object, where a number is an index.
fn dig<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(text, |text, key| match key.parse::<usize>() {
        Ok(index) => skim::items(text)?.get(index).copied(),
        Err(_) => raw(&skim::members(text)?, key),
    })
}

fn text_of(text: &str) -> Option<String> {
    json::read(text).ok()?.text().map(str::to_owned)
}

impl<'a> Timeline<'a> {
    /// Reads the events. Those that cannot be read are left out.
    pub(super) fn read(pieces: &Pieces<'a>) -> Self {
        let mut timeline = Timeline { has_more: pieces.has_more_events, ..Timeline::default() };
        let mut reading = Reading::default();
        for text in &pieces.events {
            let Some(fields) = skim::members(text).map(Fields) else { continue };
            let kind = fields.raw("event").unwrap_or_default();
            match kind.trim_matches('"') {
                "model" => timeline.read_model(&fields, &reading),
                "tool" => timeline.read_tool(&fields, &reading),
                "span_begin" => timeline.read_span(&fields, &mut reading),
                "step" => reading.step(&fields),
                "compaction" => {
                    let kind = Kind::Compaction(describe_compaction(&fields));
                    timeline.record(kind, &fields, &reading);
                }
                _ => {}
            }
        }
        timeline.find_agents();
        timeline.find_owners();
        timeline
    }

    fn record(&mut self, kind: Kind<'a>, fields: &Fields, reading: &Reading) {
        let owner = if reading.scorers > 0 { Owner::Scorer } else { Owner::Sample };
        self.records.push(Record { kind, span: fields.text("span_id"), owner });
    }

    fn read_model(&mut self, fields: &Fields<'a>, reading: &Reading) {
        let output = fields.raw("output");
        let message = output.and_then(|text| dig(text, &["choices", "0", "message"]));
        let id = message.and_then(|text| text_of(dig(text, &["id"])?));
        if let Some(id) = &id {
            let total = output.and_then(|text| dig(text, &["usage", "total_tokens"]));
            let tokens = total.and_then(|text| json::read(text).ok()?.whole_number());
            let model = output.and_then(|text| text_of(dig(text, &["model"])?));
            let model = model.or_else(|| fields.text("model"));
            self.outputs.insert(id.clone(), Timing { tokens, model, ..fields.timing() });
        }
        let kind = Kind::Model {
            input: fields.raw("input"),
            references: fields.raw("input_refs"),
            output: message,
            id,
            error: fields.text("error"),
        };
        self.record(kind, fields, reading);
    }

    fn read_tool(&mut self, fields: &Fields<'a>, reading: &Reading) {
        let Some(call) = fields.text("id") else { return };
        self.calls.insert(call.clone(), fields.timing());
        let function = fields.text("function").unwrap_or_default();
        if let Some(span) = fields.text("agent_span_id") {
            let name = fields.text("agent").unwrap_or_else(|| function.clone());
            self.add_agent(span, Agent { name, call: call.clone() });
        }
        let span = reading.tool_span.as_deref().and_then(|span| self.spans.get_mut(span));
        if let Some(span) = span.filter(|span| span.name == function) {
            span.call.get_or_insert_with(|| call.clone());
        }
        let kind = Kind::Tool {
            call,
            message: fields.text("message_id"),
            function,
            result: fields.raw("result"),
            error: fields.raw("error"),
        };
        self.record(kind, fields, reading);
    }

    fn read_span(&mut self, fields: &Fields, reading: &mut Reading) {
        let Some(id) = fields.text("id") else { return };
        let span = Span {
            parent: fields.text("parent_id").filter(|parent| *parent != id),
            kind: fields.text("type").unwrap_or_default(),
            name: fields.text("name").unwrap_or_default(),
            call: None,
        };
        if span.kind == "tool" {
            reading.tool_span = Some(id.clone());
        }
        self.spans.insert(id, span);
    }

    fn add_agent(&mut self, span: String, agent: Agent) {
        if let Entry::Vacant(place) = self.agent_spans.entry(span) {
            place.insert(self.agents.len());
            self.agents.push(agent);
        }
    }

    /// Finds agents that ran in the span of a call. Until 2025 the call itself did not name them.
    fn find_agents(&mut self) {
        let agents = self.spans.iter().filter(|(_, span)| span.kind == "agent");
        let started = agents.filter_map(|(id, span)| {
            let call = self.spans.get(span.parent.as_ref()?)?.call.clone()?;
            Some((id.clone(), Agent { name: span.name.clone(), call }))
        });
        for (span, agent) in started.collect::<Vec<_>>() {
            if !self.agent_spans.contains_key(&span) {
                self.add_agent(span, agent);
            }
        }
        for (span, agent) in &self.agent_spans {
            if let Some(span) = self.spans.get(span).filter(|span| !span.name.is_empty()) {
                self.agents[*agent].name.clone_from(&span.name);
            }
        }
    }

    fn find_owners(&mut self) {
        for at in 0..self.records.len() {
            let record = &self.records[at];
            let Some(span) = record.span.clone().filter(|_| record.owner == Owner::Sample) else {
                continue;
            };
            let owner = match self.owners.get(&span) {
                Some(owner) => *owner,
                None => self.owner_of(&span),
            };
            self.owners.insert(span, owner);
            self.records[at].owner = owner;
        }
    }

    fn owner_of(&self, span: &str) -> Owner {
        let mut next = Some(span);
        for _ in 0..MOST_SPANS {
            let Some(id) = next else { break };
            if let Some(agent) = self.agent_spans.get(id) {
                return Owner::Agent(*agent);
            }
            let Some(span) = self.spans.get(id) else { break };
            if matches!(span.kind.as_str(), "scorer" | "scorers") {
                return Owner::Scorer;
            }
            next = span.parent.as_deref();
        }
        Owner::Sample
    }

    /// Returns the events of the run: the messages of the sample, with what the events add.
    pub(super) fn arrange(
        &self,
        pieces: &Pieces,
        messages: Vec<Message>,
        notes: &mut Vec<String>,
    ) -> Vec<Event> {
        if self.has_more {
            notes.push(
                "The log has more than 1,000,000 events, of which the first were read.".to_owned(),
            );
        }
        let ids: HashMap<String, usize> = messages
            .iter()
            .enumerate()
            .filter_map(|(at, message)| Some((message.id.clone()?, at)))
            .collect();
        let mut agents = self.agent_records(&ids);
        let mut events = Vec::new();
        if messages.is_empty() {
            let records = self.records_of(Owner::Sample);
            let thread = Thread::build(pieces, &records);
            if !thread.is_empty() {
                let note = "The sample has no messages; they were taken from its events.";
                notes.push(note.to_owned());
            }
            events.extend(thread.into_iter().flat_map(|message| self.timed(message)));
        } else {
            let mut marks = self.marks(pieces, &messages, &ids, notes).into_iter().peekable();
            for (at, message) in messages.into_iter().enumerate() {
                while let Some((_, mark)) = marks.next_if(|(place, _)| *place <= at) {
                    events.extend(mark);
                }
                events.extend(self.timed(message));
            }
            events.extend(marks.flat_map(|(_, mark)| mark));
        }
        self.attach(pieces, events, &mut agents, MOST_AGENTS)
    }

    fn records_of(&self, owner: Owner) -> Vec<&Record<'a>> {
        self.records.iter().filter(|record| record.owner == owner).collect()
    }

    /// Returns the agents that ran apart from the messages, by the call that started them.
    fn agent_records(
        &self,
        ids: &HashMap<String, usize>,
    ) -> HashMap<&str, Vec<(&Agent, Vec<&Record<'a>>)>> {
        let mut records: Vec<Vec<&Record>> = self.agents.iter().map(|_| Vec::new()).collect();
        for record in &self.records {
            if let Owner::Agent(agent) = record.owner {
                records[agent].push(record);
            }
        }
        let mut agents: HashMap<&str, Vec<_>> = HashMap::new();
        for (agent, records) in self.agents.iter().zip(records) {
            let mut outputs = records.iter().filter_map(|record| record.output_id()).peekable();
            if outputs.peek().is_some() && !outputs.any(|id| ids.contains_key(id)) {
                agents.entry(&agent.call).or_default().push((agent, records));
            }
        }
        agents
    }

    /// Adds the runs of sub-agents behind the calls that started them.
    fn attach(
        &self,
        pieces: &Pieces,
        events: Vec<Event>,
        agents: &mut HashMap<&str, Vec<(&Agent, Vec<&Record<'a>>)>>,
        depth: usize,
    ) -> Vec<Event> {
        if agents.is_empty() || depth == 0 {
            return events;
        }
        let mut all = Vec::with_capacity(events.len());
        for event in events {
            let call = match &event.kind {
                EventKind::Call { id: Some(id), .. } => Some(id.clone()),
                _ => None,
            };
            all.push(event);
            let started = call.as_deref().and_then(|call| agents.remove(call));
            for (agent, records) in started.unwrap_or_default() {
                let thread = Thread::build(pieces, &records);
                let inner = thread.into_iter().flat_map(|message| self.timed(message)).collect();
                all.push(Event::from(EventKind::SubAgent {
                    name: agent.name.clone(),
                    call: Some(agent.call.clone()),
                    events: self.attach(pieces, inner, agents, depth - 1),
                }));
            }
        }
        all
    }

    /// Returns the compactions, each with the place in the messages where it happened, and with the
    /// messages before it if the sample does not have them any more.
    fn marks(
        &self,
        pieces: &Pieces,
        messages: &[Message],
        ids: &HashMap<String, usize>,
        notes: &mut Vec<String>,
    ) -> Vec<(usize, Vec<Event>)> {
        let mut marks: Vec<(Option<usize>, Vec<Event>)> = Vec::new();
        let (mut last, mut segment, mut apart) = (None, Vec::new(), 0_usize);
        for record in self.records.iter().filter(|record| record.owner == Owner::Sample) {
            let Kind::Compaction(text) = &record.kind else {
                segment.push(record);
                let Some(id) = record.message_id() else { continue };
                let Some(place) = ids.get(id).copied() else {
                    apart += usize::from(record.output_id().is_some());
                    continue;
                };
                last = last.max(Some(place + 1));
                if marks.last().is_some_and(|(place, _)| place.is_none()) {
                    let place = before_summary(messages, place);
                    let unplaced = marks.iter_mut().rev().take_while(|(known, _)| known.is_none());
                    unplaced.for_each(|mark| mark.0 = Some(place));
                }
                continue;
            };
            let mut mark = Vec::new();
            let outputs: Vec<&str> = segment.iter().filter_map(|one| one.output_id()).collect();
            if !outputs.is_empty() && !outputs.iter().any(|id| ids.contains_key(*id)) {
                apart = apart.saturating_sub(outputs.len());
                let thread = Thread::build(pieces, &segment).into_iter();
                let gone =
                    thread.filter(|one| !one.id.as_ref().is_some_and(|id| ids.contains_key(id)));
                let events = gone.flat_map(|message| self.timed(message)).collect();
                mark.push(Event::from(EventKind::Abandoned(events)));
            }
            mark.push(Event::from(EventKind::Compaction(text.clone())));
            marks.push((last, mark));
            segment.clear();
        }
        if marks.iter().any(|(_, mark)| mark.len() > 1) {
            let note = "The messages before a compaction are not in the sample any more; they were taken from its events.";
            notes.push(note.to_owned());
        }
        if apart > 0 {
            notes.push(format!(
                "{apart} of the model’s answers are recorded outside of the conversation and are not shown."
            ));
        }
        marks.into_iter().map(|(place, mark)| (place.unwrap_or(0), mark)).collect()
    }

    /// Returns the events of a message with their times.
    fn timed(&self, message: Message) -> Vec<Event> {
        let output = message.id.as_ref().and_then(|id| self.outputs.get(id));
        let mut events = message.events;
        if let Some(timing) = output {
            for event in &mut events {
                event.time.clone_from(&timing.start);
                if event.model.is_none() {
                    event.set_model(timing.model.as_deref());
                }
            }
            if let Some(first) = events.first_mut() {
                first.tokens = timing.tokens;
                first.seconds = timing.seconds;
            }
        }
        for event in &mut events {
            match &event.kind {
                EventKind::Call { id: Some(id), .. } => {
                    let Some(timing) = self.calls.get(id) else { continue };
                    event.time.clone_from(&timing.start);
                    event.seconds = timing.seconds;
                }
                EventKind::Result { id: Some(id), .. } => {
                    let Some(timing) = self.calls.get(id) else { continue };
                    event.time = timing.end.clone().or_else(|| event.time.take());
                }
                _ => {}
            }
        }
        events
    }
}

impl Record<'_> {
    /// Returns the id of the message that a model wrote.
    fn output_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Model { id, .. } => id.as_deref(),
            _ => None,
        }
    }

    /// Returns the id of the message that came of it.
    fn message_id(&self) -> Option<&str> {
        match &self.kind {
            Kind::Model { id, .. } => id.as_deref(),
            Kind::Tool { message, .. } => message.as_deref(),
            Kind::Compaction(_) => None,
        }
    }
}

/// State while the events are read.
#[derive(Default)]
struct Reading {
    /// Span of the tool that began last.
    tool_span: Option<String>,
    /// Number of open steps that are scorers.
    scorers: usize,
}

impl Reading {
    /// Follows a step, which logs had before there were spans.
    fn step(&mut self, fields: &Fields) {
        if fields.raw("type") == Some("\"scorer\"") {
            match fields.raw("action") {
                Some("\"begin\"") => self.scorers += 1,
                _ => self.scorers = self.scorers.saturating_sub(1),
            }
        }
    }
}

fn before_summary(messages: &[Message], place: usize) -> usize {
    let before = messages.get(..place).unwrap_or_default().iter().rev();
    place - before.take_while(|message| message.is_summary).count()
}

fn describe_compaction(fields: &Fields) -> String {
    let kind = fields.text("type").unwrap_or_else(|| "compaction".to_owned());
    let tokens = |key| fields.value(key).and_then(|value| value.whole_number());
    match (tokens("tokens_before"), tokens("tokens_after")) {
        (Some(before), Some(after)) => format!("{kind}, from {before} to {after} tokens"),
        (Some(before), None) => format!("{kind}, from {before} tokens"),
        _ => kind,
    }
}

/// Conversation that is put together from the inputs and outputs of model calls.
#[derive(Default)]
struct Thread {
    messages: Vec<Message>,
    ids: HashSet<String>,
    /// Numbers of messages in the pool that have been looked at.
    pooled: HashSet<usize>,
    /// Calls that have a result.
    results: HashSet<String>,
    /// Role and content of the messages without id, in order.
    nameless: Vec<(String, String)>,
    references: usize,
}

impl Thread {
    fn build(pieces: &Pieces, records: &[&Record]) -> Vec<Message> {
        let mut thread = Thread::default();
        for record in records {
            match &record.kind {
                Kind::Model { input, references, output, error, .. } => {
                    if let Some(references) = references {
                        thread.add_pooled(pieces, references);
                    }
                    let input = input.and_then(skim::items).unwrap_or_default();
                    thread.add_input(pieces, &input);
                    if let Some(output) = output {
                        thread.add_output(pieces, output);
                    }
                    if let Some(error) = error.as_ref().filter(|error| !is_blank(error)) {
                        thread.push(EventKind::Error(error.clone()));
                    }
                }
                Kind::Tool { call, message, function, result, error } => {
                    let parse = |text: Option<&str>| {
                        text.and_then(|text| pieces.parse("events", text).ok()).unwrap_or_default()
                    };
                    let text = |text: &str| Value::from(text);
                    let result = Value::Map(vec![
                        (text("role"), text("tool")),
                        (text("id"), message.as_deref().map_or(Value::Null, Value::from)),
                        (text("tool_call_id"), text(call)),
                        (text("function"), text(function)),
                        (text("content"), parse(*result)),
                        (text("error"), parse(*error)),
                    ]);
                    thread.add(Message::from_value(result));
                }
                Kind::Compaction(text) => thread.push(EventKind::Compaction(text.clone())),
            }
        }
        thread.messages
    }

    fn push(&mut self, kind: EventKind) {
        let events = vec![Event::from(kind)];
        self.messages.push(Message { id: None, is_summary: false, events });
    }

    fn add_pooled(&mut self, pieces: &Pieces, references: &str) {
        let Ok(references) = json::read(references) else { return };
        for range in ranges(&references, pieces.pool.len()) {
            for at in range {
                self.references += 1;
                if self.references > MOST_REFERENCES {
                    return;
                }
                if self.pooled.insert(at) {
                    self.add_text(pieces, pieces.pool[at]);
                }
            }
        }
    }

    /// Adds the messages of an input that are new. Those without id are new behind the place where
    /// the input departs from the conversation so far.
    fn add_input(&mut self, pieces: &Pieces, input: &[&str]) {
        let (mut place, mut departed) = (0, false);
        for text in input {
            let Some(fields) = skim::members(text).map(Fields) else { continue };
            if let Some(id) = fields.text("id") {
                if !self.ids.contains(&id) {
                    self.add_text(pieces, text);
                }
                continue;
            }
            let key = nameless(&fields);
            departed |= self.nameless.get(place) != Some(&key);
            place += 1;
            if departed {
                self.nameless.push(key);
                self.add_text(pieces, text);
            }
        }
    }

    fn add_output(&mut self, pieces: &Pieces, text: &str) {
        let Some(fields) = skim::members(text).map(Fields) else { return };
        if fields.raw("id").is_none() {
            self.nameless.push(nameless(&fields));
        }
        self.add_text(pieces, text);
    }

    fn add_text(&mut self, pieces: &Pieces, text: &str) {
        if let Ok(message) = Message::read(pieces, text) {
            self.add(message);
        }
    }

    fn add(&mut self, mut message: Message) {
        if message.id.as_ref().is_some_and(|id| !self.ids.insert(id.clone())) {
            return;
        }
        message.events.retain(|event| match &event.kind {
            EventKind::Result { id: Some(id), .. } => self.results.insert(id.clone()),
            _ => true,
        });
        self.messages.push(message);
    }
}

fn nameless(fields: &Fields) -> (String, String) {
    let text = |key| fields.raw(key).unwrap_or_default().to_owned();
    (text("role"), text("content"))
}
