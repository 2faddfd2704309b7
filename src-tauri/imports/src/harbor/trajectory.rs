//! **Pure.** Trajectories in the format ATIF, versions 1.0 to 1.8.
use crate::export::atif::{CALL, EVENT, MEDIA, USER_CALLS, WRAPPED};
use crate::export::own_summary;
use crate::messages::{read_content, result_media, result_value};
use crate::pieces;
use crate::run::{Event, EventKind, ImportedRun, Media, RunEnd, TokenCounts};
use crate::sessions::{figure, non_blank, parse, push_fact, seconds_between, token_counts};
use crate::source::{Folder, Input, read_all, resolve};
use crate::text::is_blank;
use std::collections::{HashMap, HashSet};
use touchstone_model::value::Value;

/// Maximum number of bytes that are read from other files.
const MOST_BYTES: u64 = 128 << 20;

/// Maximum nesting of sub-agents.
const MOST_LEVELS: usize = 6;

/// Maximum number of files that are followed from one to the next.
const MOST_FILES: usize = 200;

/// Trajectory, as far as it goes.
#[derive(Debug)]
pub(super) struct Trajectory {
    /// Everything but the steps.
    root: Value,
    steps: Vec<Value>,
    /// False if the file is cut off.
    pub(super) is_complete: bool,
}

/// Reader of the files that a trajectory refers to, each once.
pub(super) struct Loader<'a> {
    folder: &'a dyn Folder,
    parent: String,
    bytes_left: u64,
    opened: HashSet<String>,
    levels: usize,
    /// Times of the first and the last step that have one, without those of sub-agents.
    times: Option<(String, String)>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(input: &Input<'a>) -> Loader<'a> {
        Loader {
            folder: input.folder,
            parent: input.parent().to_owned(),
            bytes_left: MOST_BYTES,
            opened: HashSet::from([input.path.to_owned()]),
            levels: 0,
            times: None,
        }
    }

    fn time(&mut self, step: &Value) {
        if let Some(time) = non_blank(step.text_at("timestamp")).filter(|_| self.levels == 0) {
            let first = self.times.take().map_or_else(|| time.clone(), |(first, _)| first);
            self.times = Some((first, time));
        }
    }

    /// Reads files beside a trajectory in another folder.
    pub(super) fn set_parent(&mut self, parent: String) {
        self.parent = parent;
    }

    /// Opens a trajectory beside, once.
    pub(super) fn open(&mut self, relative: &str) -> Option<Trajectory> {
        let path = resolve(&self.parent, relative)?;
        if self.opened.len() >= MOST_FILES || !self.opened.insert(path.clone()) {
            return None;
        }
        let source = self.folder.open(&path)?;
        let size = source.size();
        self.bytes_left = self.bytes_left.checked_sub(size)?;
        Trajectory::read(&pieces::text(read_all(&*source).ok()?).ok()?)
    }
}

impl Trajectory {
    /// Reads a trajectory; of one that is cut off, the steps that are complete. Returns `None` if
    /// the text is no object.
    pub(super) fn read(text: &str) -> Option<Trajectory> {
        let members = pieces::members(text.trim());
        if members.parts.is_empty() {
            return None;
        }
        let (mut root, mut steps) = (Vec::new(), Vec::new());
        let mut is_complete = members.is_complete;
        for (key, part) in members.parts {
            if key == "steps" {
                let items = pieces::items(part);
                steps = items.parts.into_iter().filter_map(parse).collect();
                is_complete &= items.is_complete;
            } else if let Some(value) = parse(part) {
                root.push((Value::from(key), value));
            }
        }
        Some(Trajectory { root: Value::Map(root), steps, is_complete })
    }

    fn from_value(value: &Value) -> Trajectory {
        let steps = value.get("steps").map(Value::items).unwrap_or_default().to_vec();
        let keys = value.entries().iter().filter(|(key, _)| key.text() != Some("steps"));
        Trajectory { root: Value::Map(keys.cloned().collect()), steps, is_complete: true }
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        non_blank(self.root.at_path(path)?.text())
    }

    pub(super) fn session_id(&self) -> Option<String> {
        self.text(&["session_id"])
    }

    pub(super) fn agent_name(&self) -> Option<String> {
        self.text(&["agent", "name"])
    }

    pub(super) fn has_copied_context(&self) -> bool {
        self.steps.iter().any(is_copied)
    }

    /// Returns true if the trajectory names another file as its continuation or as a sub-agent.
    pub(super) fn refers_to(&self, name: &str) -> bool {
        let is_it =
            |path: Option<&str>| path.and_then(|path| path.rsplit('/').next()) == Some(name);
        is_it(self.root.text_at("continued_trajectory_ref"))
            || self
                .steps
                .iter()
                .flat_map(results)
                .flat_map(references)
                .any(|reference| is_it(reference.text_at("trajectory_path")))
    }

    /// Returns the counts of the whole, which some versions give.
    pub(super) fn tokens(&self) -> Option<TokenCounts> {
        let metrics = self.root.get("final_metrics")?;
        token_counts(metrics, "total_prompt_tokens", "total_completion_tokens", "total_tokens")
    }

    pub(super) fn cost(&self) -> Option<f64> {
        figure(&self.root, &["final_metrics", "total_cost_usd"])
    }

    /// Adds what the trajectory says about the agent.
    pub(super) fn push_facts(&self, run: &mut ImportedRun) {
        let facts: [(&str, &[&str]); 4] = [
            ("trajectory version", &["schema_version"]),
            ("agent version", &["agent", "version"]),
            ("agent settings", &["agent", "extra"]),
            ("notes", &["notes"]),
        ];
        for (name, path) in facts {
            if !run.facts.iter().any(|(known, _)| known == name) {
                push_fact(&mut run.facts, name, self.root.at_path(path));
            }
        }
    }

    /// Returns what this program wrote about the run beside its steps.
    pub(super) fn own_summary(&self) -> Option<Value> {
        own_summary(self.root.get("extra")?).cloned()
    }

    /// Builds the run of a trajectory that stands alone.
    pub(super) fn into_run(self, loader: &mut Loader<'_>) -> ImportedRun {
        let mut run = ImportedRun {
            system: self.agent_name(),
            model: self.text(&["agent", "model_name"]),
            end: RunEnd::Complete,
            tokens: self.tokens(),
            cost: self.cost(),
            ..ImportedRun::default()
        };
        self.push_facts(&mut run);
        run.events = self.into_events(loader, &mut run.notes);
        if let Some((first, last)) = loader.times.take() {
            run.seconds = seconds_between(&first, &last);
            run.started = Some(first);
        }
        run
    }

    /// Returns all events: of this trajectory, then of those that continue it.
    pub(super) fn into_events(
        self,
        loader: &mut Loader<'_>,
        notes: &mut Vec<String>,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let mut next = Some(self);
        let mut is_first = true;
        while let Some(trajectory) = next.take() {
            next = trajectory.root.text_at("continued_trajectory_ref").and_then(|path| {
                let continued = loader.open(path);
                if continued.is_none() {
                    notes.push(format!("The trajectory goes on in {path}, which cannot be read."));
                }
                continued
            });
            if next.as_ref().is_some_and(|next| next.tokens().is_some()) && is_first {
                let text = "The trajectory goes on in other files; their totals are left out.";
                notes.push(text.to_owned());
            }
            trajectory.push_events(&mut events, !is_first, loader);
            is_first = false;
        }
        events
    }

    fn push_events(self, events: &mut Vec<Event>, without_copies: bool, loader: &mut Loader<'_>) {
        let inside = self.root.get("subagent_trajectories").map(Value::items).unwrap_or_default();
        let mut agents = SubAgents::new(inside);
        // The model of the main agent is that of the run, which its trial may name otherwise.
        let own = self.text(&["agent", "model_name"]).filter(|_| loader.levels > 0);
        for step in &self.steps {
            if !(without_copies && is_copied(step)) {
                loader.time(step);
                let start = events.len();
                push_step(events, step, &mut agents, loader);
                let model = step.text_at("model_name").or(own.as_deref());
                for event in &mut events[start..] {
                    event.set_model(model);
                }
            }
        }
        for at in 0..inside.len() {
            if let Some(agent) = agents.take(at) {
                events.extend(nested(agent, None, loader));
            }
        }
    }
}

/// Keys of the ids that a reference may name, the most exact first.
const IDS: [&str; 2] = ["trajectory_id", "session_id"];

/// Trajectories of sub-agents inside another one.
struct SubAgents<'a> {
    inside: &'a [Value],
    taken: Vec<bool>,
    by_id: HashMap<&'a str, usize>,
}

impl<'a> SubAgents<'a> {
    fn new(inside: &'a [Value]) -> SubAgents<'a> {
        let mut by_id = HashMap::new();
        for (at, agent) in inside.iter().enumerate() {
            for id in IDS.iter().filter_map(|key| agent.text_at(key)) {
                by_id.entry(id).or_insert(at);
            }
        }
        SubAgents { inside, taken: vec![false; inside.len()], by_id }
    }

    fn take(&mut self, at: usize) -> Option<Trajectory> {
        let is_taken = self.taken.get_mut(at)?;
        (!std::mem::replace(is_taken, true)).then(|| Trajectory::from_value(&self.inside[at]))
    }

    /// Finds the trajectory that a reference names: inside, else in a file beside.
    fn find(&mut self, reference: &Value, loader: &mut Loader<'_>) -> Option<Trajectory> {
        let ids = IDS.iter().filter_map(|key| reference.text_at(key));
        let found: Vec<usize> = ids.filter_map(|id| self.by_id.get(id)).copied().collect();
        if let Some(agent) = found.into_iter().find_map(|at| self.take(at)) {
            return Some(agent);
        }
        loader.open(reference.text_at("trajectory_path")?)
    }
}

/// Builds the event of a sub-agent.
fn nested(agent: Trajectory, call: Option<String>, loader: &mut Loader<'_>) -> Option<Event> {
    if loader.levels >= MOST_LEVELS {
        return None;
    }
    loader.levels += 1;
    let name = agent.agent_name().unwrap_or_else(|| "sub-agent".to_owned());
    let is_branch = agent.text(&["extra", EVENT]).as_deref() == Some("abandoned");
    let events = agent.into_events(loader, &mut Vec::new());
    loader.levels -= 1;
    Some(if is_branch {
        EventKind::Abandoned(events).into()
    } else {
        EventKind::SubAgent { name, call, events }.into()
    })
}

fn is_copied(step: &Value) -> bool {
    step.get("is_copied_context").and_then(Value::bool) == Some(true)
}

fn results(step: &Value) -> &[Value] {
    step.at_path(&["observation", "results"]).map(Value::items).unwrap_or_default()
}

/// Returns the references to sub-agents in a result: a list, or one.
fn references(result: &Value) -> &[Value] {
    match result.get("subagent_trajectory_ref") {
        Some(Value::List(references)) => references,
        Some(reference @ Value::Map(_)) => std::slice::from_ref(reference),
        _ => &[],
    }
}

/// Adds the events of a step: reasoning, text, calls with their sub-agents, results.
fn push_step(
    events: &mut Vec<Event>,
    step: &Value,
    agents: &mut SubAgents<'_>,
    loader: &mut Loader<'_>,
) {
    let start = events.len();
    if let Some(text) = non_blank(step.text_at("reasoning_content")) {
        events.push(EventKind::Reasoning(text).into());
    }
    let is_compaction = step
        .at_path(&["extra", "context_management", "type"])
        .is_some_and(|kind| kind.text() == Some("compaction"));
    let role = match step.text_at("source").unwrap_or_default() {
        "agent" => "assistant",
        "user" => "user",
        _ => "system",
    };
    let own = step.at_path(&["extra", EVENT]).and_then(Value::text).unwrap_or_default();
    let message = read_content(role, step.get("message").unwrap_or(&Value::Null));
    events.extend(message.into_iter().filter_map(|kind| match (kind, own) {
        (EventKind::System(text), _) if is_compaction => Some(EventKind::Compaction(text).into()),
        // The error at the end stands among the data of the run.
        (EventKind::System(_), "end") => None,
        (EventKind::System(text), "note") => Some(EventKind::Note(text).into()),
        (EventKind::System(text), "error") => Some(EventKind::Error(text).into()),
        (EventKind::User(text), "simulated_user") => Some(EventKind::SimulatedUser(text).into()),
        (kind, _) => Some(Event::from(kind)),
    }));
    let media = step.at_path(&["extra", MEDIA]).map(Value::items).unwrap_or_default();
    events.extend(
        media
            .iter()
            .filter_map(|media| Some(EventKind::Media(Media::described(media.text()?)).into())),
    );
    let results = results(step);
    let mut started: HashMap<&str, Vec<&Value>> = HashMap::new();
    for result in results.iter().filter(|result| !references(result).is_empty()) {
        started
            .entry(result.text_at("source_call_id").unwrap_or_default())
            .or_default()
            .push(result);
    }
    let calls = step.get("tool_calls").map(Value::items).unwrap_or_default();
    let by_user = step.at_path(&["extra", USER_CALLS]).map(Value::items).unwrap_or_default();
    for (call, by_user) in
        calls.iter().map(|call| (call, false)).chain(by_user.iter().map(|call| (call, true)))
    {
        let id = call.text_at("tool_call_id").map(str::to_owned);
        events.push(read_call(call, by_user));
        let Some(id) = id else { continue };
        for result in started.remove(id.as_str()).unwrap_or_default() {
            push_agents(events, result, Some(&id), agents, loader);
        }
    }
    for result in results {
        for result in
            started.remove(result.text_at("source_call_id").unwrap_or_default()).unwrap_or_default()
        {
            push_agents(events, result, None, agents, loader);
        }
        if let Some(content) = result.get_non_null("content") {
            let own = || result.at_path(&["extra", CALL]).and_then(Value::text);
            events.push(
                EventKind::Result {
                    id: result.text_at("source_call_id").or_else(own).map(str::to_owned),
                    name: None,
                    value: result_value(content),
                    failed: result.at_path(&["extra", "is_error"]).and_then(Value::bool),
                }
                .into(),
            );
            events.extend(result_media(content).map(Event::from));
        }
    }
    let time = non_blank(step.text_at("timestamp"));
    let metrics = step.get("metrics").unwrap_or(&Value::Null);
    let tokens = token_counts(metrics, "prompt_tokens", "completion_tokens", "total_tokens");
    let total = metrics.at_path(&["extra", "total_tokens"]).and_then(Value::whole_number);
    for event in &mut events[start..] {
        event.time.clone_from(&time);
    }
    if let Some(event) = events.get_mut(start) {
        event.tokens = tokens.and_then(|tokens| tokens.total).or(total);
    }
}

fn read_call(call: &Value, by_user: bool) -> Event {
    let mut arguments = call.get("arguments").cloned().unwrap_or_default();
    let wrapped = call.at_path(&["extra", WRAPPED]).and_then(Value::text);
    if let Some(inside) = wrapped.and_then(|key| arguments.get(key)).cloned() {
        arguments = inside;
    }
    EventKind::Call {
        id: call.text_at("tool_call_id").map(str::to_owned),
        name: call.text_at("function_name").unwrap_or_default().to_owned(),
        arguments,
        by_user,
    }
    .into()
}

/// Adds the sub-agents that a result refers to.
fn push_agents(
    events: &mut Vec<Event>,
    result: &Value,
    call: Option<&str>,
    agents: &mut SubAgents<'_>,
    loader: &mut Loader<'_>,
) {
    for reference in references(result) {
        let agent = agents.find(reference, loader);
        let event = agent.and_then(|agent| nested(agent, call.map(str::to_owned), loader));
        events.push(event.unwrap_or_else(|| {
            let texts = ["trajectory_path", "session_id", "trajectory_id"];
            let name = texts.iter().find_map(|key| reference.text_at(key));
            let about = reference.at_path(&["extra", "summary"]).and_then(Value::text);
            let about = about.filter(|text| !is_blank(text)).map(|text| format!(" ({text})"));
            let name = name.unwrap_or("without a name");
            let text = format!("The sub-agent {name} cannot be read.{}", about.unwrap_or_default());
            EventKind::Note(text).into()
        }));
    }
}
