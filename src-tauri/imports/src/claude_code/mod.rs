//! **Pure.** Sessions of Claude Code.
mod agents;
mod branches;
mod record;
mod session;
#[cfg(test)]
mod tests;

use crate::format::{Detected, Format, HEAD_BYTES, ImportedFile};
use crate::head::Head;
use crate::run::Identity;
use crate::sessions::{Session, for_each_object, has_extension, lines, parse};
use crate::source::{Folder, Input, Source, resolve};
use agents::Agents;
use record::Record;
use session::Facts;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::value::Value;

/// Maximum number of files that are searched for the session of a sub-agent.
const MOST_SEARCHED: usize = 200;

/// Start of the names of files of sub-agents.
const AGENT: &str = "agent-";

/// Records that only a program uses, at the start of a session file.
const OWN_TYPES: [&str; 12] = [
    "user",
    "assistant",
    "system",
    "attachment",
    "progress",
    "queue-operation",
    "permission-mode",
    "custom-title",
    "ai-title",
    "agent-name",
    "last-prompt",
    "mode",
];

/// The format.
#[derive(Debug, Clone, Copy)]
pub struct ClaudeCode;

impl Format for ClaudeCode {
    fn name(&self) -> &'static str {
        "claude_code"
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn files(&self) -> &'static str {
        "<session>.jsonl, agent-*.jsonl, output of stream-json, exports of the web"
    }

    fn documentation(&self) -> &'static str {
        include_str!("claude_code.md")
    }

    fn detect(&self, _path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        if head.has(&["loglines"]) && head.has_inner("loglines", "type") && !head.is_list {
            return Some(Detected::Run);
        }
        if head.is_list {
            return is_stream_record(head).then_some(Detected::Run);
        }
        let mut is_ours = false;
        for line in start.split(|byte| *byte == b'\n') {
            let Some(head) = Head::read(line) else { continue };
            if is_session_record(&head) || is_stream_record(&head) {
                return Some(Detected::Run);
            }
            is_ours |= is_side_record(&head);
            if !is_ours {
                return None;
            }
        }
        // Titles of sessions in other files may stand in a file of their own.
        let reason = "It holds titles or snapshots of sessions, and no session.";
        (is_ours && start.len() < HEAD_BYTES)
            .then(|| Detected::NoRun(reason.to_owned()))
            .or_else(|| is_ours.then_some(Detected::Run))
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let (mut records, mut facts) = (Vec::new(), Facts::default());
        let mut take = |value: &Value| {
            facts.add(value);
            records.push(Record::read(value));
        };
        let mut start = vec![0; HEAD_BYTES];
        let count = input.source.read_at(0, &mut start)?;
        start.truncate(count);
        let is_lines =
            Head::read(&start).is_some_and(|head| !head.is_list && !head.has(&["loglines"]));
        let mut odd = 0;
        if is_lines {
            odd = for_each_object(input.source, |value| take(&value))?;
        } else {
            let text = crate::pieces::text(input.read_all()?)?;
            let list = whole_list(&text).ok_or_else(|| {
                ReadError::new(ReadErrorKind::Truncated, "The export is cut off or no JSON.")
            })?;
            list.iter().for_each(take);
        }
        let messages = || records.iter().filter(|record| record.is_message());
        let is_sidechain = messages().count() > 0 && messages().all(|record| record.is_sidechain);
        if is_sidechain {
            for record in &mut records {
                record.is_sidechain = false;
            }
        }
        let member = facts.session.clone();
        let mut run = session::read(records, &facts, &mut Agents::new(&input));
        if let Some(run) = &mut run {
            if odd > 0 {
                let lines = if odd == 1 { "line is" } else { "lines are" };
                run.notes.push(format!("{odd} {lines} no JSON object, and left out."));
            }
            run.identity = identity(&input, member.as_deref(), is_sidechain);
        }
        Ok(Box::new(Session { member, run, error: None }))
    }

    fn owner(&self, path: &str, folder: &dyn Folder) -> Option<String> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        if !name.starts_with(AGENT) {
            return None;
        }
        let parent = path.strip_suffix(name).unwrap_or_default();
        if let Some(session) = parent.strip_suffix("/subagents/") {
            return (!session.is_empty()).then(|| format!("{session}.jsonl"));
        }
        // Beside the session, only the records of a sub-agent name it.
        let stem = name.strip_suffix(".meta.json").or_else(|| name.strip_suffix(".jsonl"))?;
        let path = &format!("{parent}{stem}.jsonl");
        let source = &*folder.open(path)?;
        session_file(&Input { path, source, folder }, &read_side_session(source)?)
    }

    fn part_paths(&self, path: &str) -> Vec<String> {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        let Some(session) = path.strip_suffix(".jsonl").filter(|_| !name.starts_with(AGENT)) else {
            return Vec::new();
        };
        let parent = path.strip_suffix(name).unwrap_or_default();
        vec![format!("{parent}{AGENT}"), format!("{session}/subagents/{AGENT}")]
    }
}

/// Reads the id of the session from the start of the file of a sub-agent.
fn read_side_session(source: &dyn Source) -> Option<String> {
    let mut start = vec![0; HEAD_BYTES];
    let count = source.read_at(0, &mut start).ok()?;
    let mut heads = start.get(..count)?.split(|byte| *byte == b'\n').filter_map(Head::read);
    let head = heads.find(|head| head.has(&["sessionId", "isSidechain"]))?;
    let is_side = head.value("isSidechain") == Some("true");
    head.value("sessionId").filter(|_| is_side).map(str::to_owned)
}

/// Returns the records of an export, or of a stream that is a list.
fn whole_list(text: &str) -> Option<Vec<Value>> {
    match parse(text)? {
        Value::List(items) => Some(items),
        other => Some(other.get("loglines")?.items().to_vec()),
    }
}

/// Returns true for a record of a session.
fn is_session_record(head: &Head) -> bool {
    let is_known = head.value("type").is_none_or(|kind| OWN_TYPES.contains(&kind));
    let in_chain = ["parentUuid", "isSidechain", "uuid"].iter().any(|key| head.has(&[key]));
    head.has(&["sessionId"])
        && is_known
        && (in_chain || head.value("type") == Some("queue-operation"))
}

/// Returns true for a record that stands before the messages of a session, without its id.
fn is_side_record(head: &Head) -> bool {
    let keys: &[&str] = match head.value("type") {
        Some("summary") => &["summary", "leafUuid"],
        Some("file-history-snapshot") => &["messageId", "snapshot"],
        Some(kind) if OWN_TYPES.contains(&kind) => &["sessionId"],
        _ => return false,
    };
    head.has(keys)
}

/// Returns true for a record of the output of `-p --output-format stream-json`.
fn is_stream_record(head: &Head) -> bool {
    head.has(&["session_id"])
        && match head.value("type") {
            Some("system") => {
                head.has(&["subtype"]) && head.has(&["uuid"])
                    || head.value("subtype") == Some("init")
            }
            Some("assistant" | "user") => head.has(&["message"]),
            Some("result") => head.has(&["subtype", "is_error"]),
            _ => false,
        }
}

/// Returns the identity of a run: a file of a sub-agent stands for the session that started it, if
/// that lies beside.
fn identity(input: &Input<'_>, session: Option<&str>, is_sidechain: bool) -> Option<Identity> {
    let key = |path: &str| format!("claude_code/{path}");
    if !is_sidechain {
        return Some(Identity { key: key(input.path), rank: 1.0 });
    }
    let path = session_file(input, session?)?;
    Some(Identity { key: key(&path), rank: 0.0 })
}

/// Finds the file of the session that a sub-agent belongs to: by its name, else by what the files
/// in the same folder hold.
fn session_file(input: &Input<'_>, session: &str) -> Option<String> {
    let is_session = |path: &str| {
        let Some(source) = input.folder.open(path) else { return false };
        let mut start = vec![0; HEAD_BYTES];
        let Ok(count) = source.read_at(0, &mut start) else { return false };
        start.truncate(count);
        let messages =
            |value: &Value| value.get("message").is_some() && value.text_at("sessionId").is_some();
        let first = lines(&start).filter_map(parse).find(messages);
        first.is_some_and(|first| {
            first.text_at("sessionId") == Some(session)
                && first.get("isSidechain").and_then(Value::bool) != Some(true)
        })
    };
    let by_name = if session.contains(['/', '\\']) {
        [None, None]
    } else {
        let name = format!("{session}.jsonl");
        [resolve(input.parent(), &name), resolve(input.parent(), &format!("../../{name}"))]
    };
    if let Some(path) = by_name.into_iter().flatten().find(|path| input.folder.open(path).is_some())
    {
        return Some(path);
    }
    let files = input.folder.list(input.parent());
    let beside = files.iter().filter(|name| has_extension(name, "jsonl") && *name != input.name());
    beside
        .take(MOST_SEARCHED)
        .filter_map(|name| resolve(input.parent(), name))
        .find(|path| is_session(path))
}
