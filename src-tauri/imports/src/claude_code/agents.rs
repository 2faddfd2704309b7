//! **Pure.** Sub-agents of a session: their records in its file, and their own files.
use super::AGENT;
use super::branches::abandoned;
use super::record::{Kind, Record, Usage};
use crate::run::{Event, EventKind};
use crate::sessions::objects;
use crate::source::{Folder, Input, read_all};
use std::collections::{HashMap, HashSet, VecDeque};
use touchstone_model::value::Value;

/// Maximum number of bytes that are read from the files of sub-agents.
const MOST_BYTES: u64 = 128 << 20;

/// Maximum nesting of sub-agents.
const MOST_LEVELS: usize = 6;

/// Name of sub-agents that have none.
const UNNAMED: &str = "sub-agent";

/// Sub-agent that has not been placed yet.
#[derive(Debug, Default)]
struct Agent {
    name: Option<String>,
    prompt: Option<String>,
    events: Vec<Event>,
}

/// Sub-agents of a session, by id or by the call that started them.
pub(super) struct Agents<'a> {
    folder: &'a dyn Folder,
    /// Folders that may hold files of sub-agents.
    folders: Vec<String>,
    bytes_left: u64,
    opened: HashSet<String>,
    levels: usize,
    /// Ids of sub-agents by the call that started them.
    pub(super) started: HashMap<String, String>,
    /// Sub-agents in the file, until a call takes them.
    inside: Vec<Option<Agent>>,
    by_key: HashMap<String, usize>,
    by_prompt: HashMap<String, VecDeque<usize>>,
    /// True if a file of a sub-agent was left out because of its size.
    pub(super) is_too_large: bool,
}

impl<'a> Agents<'a> {
    /// Finds sub-agents of a session file.
    pub(super) fn new(input: &Input<'a>) -> Agents<'a> {
        let stem = input.path.rsplit_once('.').map_or(input.path, |(stem, _)| stem);
        let own = format!("{stem}/subagents");
        Agents {
            folder: input.folder,
            folders: vec![own, input.parent().to_owned()],
            bytes_left: MOST_BYTES,
            opened: HashSet::from([input.path.to_owned()]),
            levels: 0,
            started: HashMap::new(),
            inside: Vec::new(),
            by_key: HashMap::new(),
            by_prompt: HashMap::new(),
            is_too_large: false,
        }
    }

    /// Collects the sub-agents whose records stand between those of the session.
    pub(super) fn collect(&mut self, records: &mut [Record]) {
        for record in records.iter_mut() {
            if let Some((call, agent)) = record.started_agent.take() {
                self.started.entry(call).or_insert(agent);
            }
            if !record.is_sidechain {
                continue;
            }
            let keys = [&record.side_key, &record.parent].into_iter().flatten();
            let at = keys.filter_map(|key| self.by_key.get(key)).copied().next();
            let at = at.unwrap_or_else(|| {
                let name = record.side_key.clone();
                self.inside.push(Some(Agent { name, ..Agent::default() }));
                self.inside.len() - 1
            });
            for key in [&record.uuid, &record.side_key].into_iter().flatten() {
                self.by_key.insert(key.clone(), at);
            }
            if let Some(Some(agent)) = self.inside.get_mut(at) {
                if agent.prompt.is_none()
                    && let Some(prompt) = record.prompt()
                {
                    agent.prompt = Some(prompt.to_owned());
                    self.by_prompt.entry(prompt.to_owned()).or_default().push_back(at);
                }
                agent.events.append(&mut record.events);
            }
        }
    }

    /// Returns the sub-agent that a call started, as an event.
    pub(super) fn take(&mut self, call: &str, arguments: &Value) -> Option<EventKind> {
        let id = self.started.get(call).cloned();
        let keys = [id.as_deref(), Some(call)].into_iter().flatten();
        let named = keys.filter_map(|key| self.by_key.get(key)).copied().next();
        let named = named.and_then(|at| self.inside.get_mut(at)?.take());
        let agent = named.or_else(|| self.open(id.as_deref()?));
        let agent = agent.or_else(|| {
            let same = self.by_prompt.get_mut(arguments.text_at("prompt")?)?;
            std::iter::from_fn(|| same.pop_front()).find_map(|at| self.inside.get_mut(at)?.take())
        })?;
        let name = arguments.text_at("subagent_type").map(str::to_owned).or(agent.name);
        let name = name.or(id).unwrap_or_else(|| UNNAMED.to_owned());
        Some(EventKind::SubAgent { name, call: Some(call.to_owned()), events: agent.events })
    }

    /// Returns the sub-agents that no call has taken: those in the file, then those in the folder
    /// of the session.
    pub(super) fn rest(&mut self) -> Vec<EventKind> {
        let mut rest: Vec<Agent> = std::mem::take(&mut self.inside).into_iter().flatten().collect();
        for name in self.folders.first().map(|own| self.folder.list(own)).unwrap_or_default() {
            let id = name.strip_prefix(AGENT).and_then(|name| name.strip_suffix(".jsonl"));
            rest.extend(id.and_then(|id| self.open(id)));
        }
        let event = |agent: Agent| EventKind::SubAgent {
            name: agent.name.unwrap_or_else(|| UNNAMED.to_owned()),
            call: None,
            events: agent.events,
        };
        rest.into_iter().filter(|agent| !agent.events.is_empty()).map(event).collect()
    }

    /// Reads the file of a sub-agent, once.
    fn open(&mut self, id: &str) -> Option<Agent> {
        if id.is_empty() || id.contains(['/', '\\']) || self.levels >= MOST_LEVELS {
            return None;
        }
        for folder in self.folders.clone() {
            let path = format!("{folder}/agent-{id}.jsonl");
            let path = path.trim_start_matches('/').to_owned();
            if self.opened.contains(&path) {
                continue;
            }
            let Some(source) = self.folder.open(&path) else { continue };
            let size = source.size();
            if size > self.bytes_left {
                self.is_too_large = true;
                return None;
            }
            let Ok(bytes) = read_all(&*source) else { continue };
            self.opened.insert(path.clone());
            self.bytes_left -= size;
            let mut records: Vec<Record> =
                objects(&bytes).0.map(|value| Record::read(&value)).collect();
            let started = |record: &mut Record| record.started_agent.take();
            let started: Vec<_> = records.iter_mut().filter_map(started).collect();
            self.started.extend(started);
            let prompt = records.iter().find_map(Record::prompt).map(str::to_owned);
            for record in &mut records {
                record.is_sidechain = false;
            }
            self.levels += 1;
            let events = events(records, self);
            self.levels -= 1;
            let name = self.name(&path).or_else(|| Some(id.to_owned()));
            return Some(Agent { name, prompt, events });
        }
        None
    }

    /// Returns the type of a sub-agent, from the file beside its transcript.
    fn name(&self, path: &str) -> Option<String> {
        let path = format!("{}.meta.json", path.strip_suffix(".jsonl")?);
        let source = self.folder.open(&path).filter(|source| source.size() < 1 << 20)?;
        let text = String::from_utf8(read_all(&*source).ok()?).ok()?;
        let value = crate::sessions::parse(&text)?;
        crate::sessions::non_blank(value.text_at("agentType"))
    }
}

/// Puts the records of a session in order: branches that were abandoned folded, sub-agents behind
/// the calls that started them.
pub(super) fn events(records: Vec<Record>, agents: &mut Agents<'_>) -> Vec<Event> {
    let left = abandoned(&records);
    let mut events = Vec::new();
    let mut branch = Vec::new();
    let mut after_boundary = false;
    for (record, is_left) in records.into_iter().zip(left) {
        if !is_left && !branch.is_empty() && !record.events.is_empty() {
            events.push(EventKind::Abandoned(std::mem::take(&mut branch)).into());
        }
        let target = if is_left { &mut branch } else { &mut events };
        if record.kind == Kind::Summary && !after_boundary {
            let text = "The message that follows is the summary of what was before.";
            target.push(EventKind::Compaction(text.to_owned()).into());
        }
        if record.kind == Kind::Boundary || record.is_message() {
            after_boundary = record.kind == Kind::Boundary;
        }
        let mut tokens = record.usage.map(Usage::total);
        for mut event in record.events {
            let agent = match &event.kind {
                EventKind::Call { id: Some(id), arguments, .. } => agents.take(id, arguments),
                _ => None,
            };
            if record.kind == Kind::Assistant {
                event.tokens = tokens.take();
            }
            target.push(event);
            target.extend(agent.map(Event::from));
        }
    }
    if !branch.is_empty() {
        events.push(EventKind::Abandoned(branch).into());
    }
    events
}
