//! **Pure.** Plain chats: messages with a role, as in the APIs of `OpenAI` and Anthropic, in
//! an object, in a list, or one chat a line.
use crate::export::{apply_summary, is_own, read_beside, restore_marks};
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::read_message;
use crate::pieces;
use crate::run::{Event, EventKind, ImportedRun, Repeat, RunEnd, TokenCounts};
use crate::sessions::{Session, all_answered, finish, has_extension, non_blank, push_fact};
use crate::slices::{Names, Slices, parse_member};
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use crate::traces;
use std::collections::{BTreeSet, HashSet};
use touchstone_formats::file_kind::{self, FileKind};
use touchstone_formats::timestamps;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::value::Value;

/// Chats as messages with roles.
#[derive(Debug, Clone, Copy)]
pub struct Chats;

/// Extensions of files that may be chats.
const EXTENSIONS: [&str; 3] = ["json", "jsonl", "ndjson"];
/// Roles of the first message, by which a chat is recognised.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];
/// Roles of the model.
const MODEL_ROLES: [&str; 3] = ["assistant", "ai", "model"];
/// What a message holds beside its role.
const CONTENTS: [&str; 3] = ["content", "tool_calls", "function_call"];
/// Keys of other files, which may have messages as well: data of evaluators, logs of requests.
const OTHERS: [&str; 3] = ["query", "response", "conversation"];
/// Keys of the task, preferred keys first.
const TASK: [&str; 4] = ["task", "task_id", "name", "id"];
/// Keys of the time at which a chat or a message was made.
const TIME: [&str; 4] = ["created", "created_at", "createdAt", "timestamp"];
/// Maximum length of the name of a system, which tells it from a prompt.
const LONGEST_NAME: usize = 64;
/// Maximum number of roles that a note names.
const NAMED: usize = 5;

impl Format for Chats {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn title(&self) -> &'static str {
        "Chat messages"
    }

    fn files(&self) -> &'static str {
        "chats of OpenAI and Anthropic as *.json, *.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("chats.md")
    }

    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_column = |key: &String| key.starts_with("inputs.") || key.starts_with("outputs.");
        let is_other = OTHERS.iter().any(|key| head.has(&[key])) || head.keys.iter().any(is_column);
        if is_other || !EXTENSIONS.iter().any(|end| has_extension(name, end)) {
            return None;
        }
        // The last character may be cut off.
        let text = String::from_utf8_lossy(start);
        let text = text.trim_start_matches('\u{feff}').trim();
        let form = Form::of(text)?;
        // Our own files keep their kinds.
        matches!(file_kind::detect(name, start), FileKind::Other(_)).then_some(())?;
        let is_one = matches!(form, Form::One) && !head.is_lines && has_extension(name, "json");
        Some(if is_one { Detected::Run } else { Detected::Runs })
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let text = pieces::text(input.read_all()?)?;
        let trimmed = text.trim();
        let first = trimmed.lines().next().unwrap_or_default();
        let is_lined = first.len() < trimmed.len() || !has_extension(input.name(), "json");
        let slices = if is_lined && pieces::is_whole(first) {
            Slices::lines(text.into_bytes())?
        } else if matches!(Form::of(trimmed), Some(Form::List)) {
            Slices::list(text.into_bytes(), &[])?
        } else {
            let value = traces::parse(trimmed).map_err(|error| {
                if pieces::is_whole(trimmed) { error } else { pieces::cut_off() }
            })?;
            let run = Some(read_chat(&value, input.parent())?);
            return Ok(Box::new(Session { member: None, run, error: None }));
        };
        Ok(Box::new(Many::new(slices, input.parent())?))
    }
}

/// Form of a file whose start is that of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An object with messages, or a list of messages.
    One,
    /// List of such objects.
    List,
}

impl Form {
    /// Detects the form by the first message; `None` if the start is not that of a chat.
    fn of(start: &str) -> Option<Form> {
        if is_chat(start) {
            return Some(Form::One);
        }
        is_chat(pieces::items(start).parts.first()?).then_some(Form::List)
    }
}

/// Returns true for the start of an object with messages, or of a list of messages.
fn is_chat(start: &str) -> bool {
    let list = if start.starts_with('{') {
        pieces::member(&pieces::members(start), "messages").unwrap_or_default()
    } else {
        start
    };
    pieces::items(list).parts.first().is_some_and(|first| is_message(first))
}

/// Returns true for a message with a known role and a content. It may be cut off.
fn is_message(start: &str) -> bool {
    let members = pieces::members(start);
    let role = pieces::member(&members, "role").and_then(|role| {
        role.strip_prefix('"')?.strip_suffix('"').filter(|role| ROLES.contains(role))
    });
    role.is_some() && CONTENTS.iter().any(|key| pieces::member(&members, key).is_some())
}

/// File of many chats.
struct Many {
    slices: Slices,
    members: Vec<String>,
    /// Folder of the file.
    folder: String,
}

impl Many {
    /// Names each chat by its id, else by its place. Fails if a damaged file holds no whole chat.
    fn new(slices: Slices, folder: &str) -> Result<Self, ReadError> {
        if slices.is_empty() {
            return Err(slices.error().unwrap_or_else(|| no_chat("The file holds no chat.")));
        }
        let mut names = Names::default();
        let members = (0..slices.len()).map(|at| {
            let id = parse_member(&pieces::members(slices.get(at)), "id");
            names.add(id.and_then(|id| word(&id)).unwrap_or_else(|| format!("chat {}", at + 1)))
        });
        let members = members.collect();
        Ok(Many { slices, members, folder: folder.to_owned() })
    }
}

impl ImportedFile for Many {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.members.get(at).cloned()
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let text = self.slices.get(at);
        // Keys that stand twice are read as well, but without the place of an error.
        let value = self.slices.parse(at).or_else(|error| traces::parse(text).map_err(|_| error));
        read_chat(&value?, &self.folder)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

fn no_chat(why: &str) -> ReadError {
    let advice = "A chat is a list of messages with `role` and `content`, or an object with such a \
                  list as `messages`.";
    ReadError::new(ReadErrorKind::BadValue, why).advise(advice)
}

/// Returns a text or a number as a word, unless it is blank.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::Text(_) | Value::Number(_) => text_or_json(value).filter(|word| !is_blank(word)),
        _ => None,
    }
}

/// Reads a chat of a file in a folder.
fn read_chat(chat: &Value, folder: &str) -> Result<ImportedRun, ReadError> {
    let messages = match chat {
        Value::List(messages) => messages,
        chat => match chat.get_non_null("messages") {
            Some(Value::List(messages)) => messages,
            Some(_) => return Err(no_chat("Its `messages` are no list.")),
            None => return Err(no_chat("It has no `messages`.")),
        },
    };
    if messages.iter().all(|message| message.text_at("role").is_none()) {
        let why =
            if messages.is_empty() { "It holds no message." } else { "No message has a role." };
        return Err(no_chat(why));
    }
    let mut run = ImportedRun { end: end(messages), ..ImportedRun::default() };
    let has_prompt =
        messages.iter().any(|one| matches!(one.text_at("role"), Some("system" | "developer")));
    read_names(&mut run, chat, has_prompt);
    // This program writes its runs as chats, too.
    let own = chat.get("metadata").filter(|metadata| is_own(metadata));
    let beside = own.and_then(|own| own.get("beside")).unwrap_or(&Value::Null);
    read_messages(&mut run, messages, beside);
    let mut run = finish(run);
    // Chats of one task are repeats of each other.
    if run.task.is_some() {
        let start = run.started.as_deref().and_then(timestamps::seconds);
        run.repeat = Repeat::Ordered { group: folder.to_owned(), start };
    }
    if let Some(own) = own {
        run.facts.retain(|(key, _)| key != "metadata");
        // A run without an answer says so, whatever its last message is.
        run.answer = None;
        apply_summary(own, &mut run);
    }
    Ok(run)
}

/// Takes the names, the tokens, the time and the prompt beside the messages; what is left becomes
/// facts. The prompt stays there if a message is one.
fn read_names(run: &mut ImportedRun, chat: &Value, has_prompt: bool) {
    let first = |keys: &[&'static str], read: &dyn Fn(&Value) -> Option<String>| {
        keys.iter().find_map(|key| Some((*key, read(chat.get(key)?)?)))
    };
    let time = |value: &Value| word(value).filter(|time| timestamps::seconds(time).is_some());
    let task = first(&TASK, &word);
    let agent = first(&["agent", "agent_name"], &agent_name);
    let system = agent.or_else(|| first(&["system"], &system_name));
    let model = first(&["model"], &|value| non_blank(value.text()));
    let started = first(&TIME, &time);
    let prompt = first(&["system", "instructions"], &prompt_text).filter(|_| !has_prompt);
    run.tokens = chat.get("usage").and_then(read_usage);
    let mut taken = vec!["messages"];
    let names = [&task, &system, &model, &started, &prompt];
    taken.extend(names.into_iter().flatten().map(|(key, _)| *key));
    taken.extend(run.tokens.map(|_| "usage"));
    for (key, value) in chat.entries() {
        let key = key.text().unwrap_or_default();
        if !taken.contains(&key) && !key.is_empty() {
            push_fact(&mut run.facts, key, Some(value));
        }
    }
    let text = |found: Option<(&str, String)>| found.map(|(_, text)| text);
    (run.task, run.system) = (text(task), text(system));
    (run.model, run.started) = (text(model), text(started));
    run.events.extend(text(prompt).map(EventKind::System).map(Event::from));
}

/// Returns the name of an agent: a text on one line, or the name in an object.
fn agent_name(agent: &Value) -> Option<String> {
    let name = agent.text().or_else(|| agent.text_at("name"));
    non_blank(name).filter(|name| !name.contains('\n'))
}

/// Returns the name of a system. A text with white space is the prompt, which Anthropic has under
/// this key.
fn system_name(system: &Value) -> Option<String> {
    let name = non_blank(system.text())?;
    let is_name = name.len() <= LONGEST_NAME && !name.contains(char::is_whitespace);
    is_name.then_some(name)
}

/// Returns the text of a prompt, which may be a list of parts; `None` for a name and other values.
fn prompt_text(value: &Value) -> Option<String> {
    let is_text = matches!(value, Value::Text(_) | Value::List(_)) && system_name(value).is_none();
    let mut events = crate::messages::read_content("system", value).into_iter();
    events.find_map(|event| match event {
        EventKind::System(text) if is_text => Some(text),
        _ => None,
    })
}

fn read_usage(usage: &Value) -> Option<TokenCounts> {
    let count = |keys: &[&str]| keys.iter().find_map(|key| usage.get(key)?.whole_number());
    TokenCounts::new(
        count(&["prompt_tokens", "input_tokens"]),
        count(&["completion_tokens", "output_tokens"]),
        count(&["total_tokens"]),
    )
}

/// Reads the messages with what this program wrote beside them. One without a role is shown as a
/// remark.
fn read_messages(run: &mut ImportedRun, messages: &[Value], beside: &Value) {
    let (mut without_role, mut other_roles) = (0, BTreeSet::new());
    let failed = beside.items().iter().filter(|one| one.text_at("kind") == Some("failed"));
    let failed: HashSet<&str> = failed.filter_map(|one| one.text_at("call")).collect();
    let mut beside = read_beside(beside).into_iter().peekable();
    for (at, message) in messages.iter().enumerate() {
        while let Some(one) = beside.next_if(|one| one.after <= at) {
            run.events.extend(one.events);
        }
        let Some(role) = message.text_at("role") else {
            without_role += 1;
            run.push(EventKind::Note(text_or_json(message).unwrap_or_default()));
            continue;
        };
        if !ROLES.contains(&role) && !MODEL_ROLES.contains(&role) && role != "human" {
            other_roles.insert(role);
        }
        let time = TIME.iter().find_map(|key| word(message.get(key)?));
        let model = message.text_at("model");
        run.model = run.model.take().or_else(|| non_blank(model));
        let mut kinds = read_message(message);
        restore_marks(message, &mut kinds);
        for mut kind in kinds {
            if let EventKind::Result { id: Some(id), failed: mark, .. } = &mut kind
                && failed.contains(id.as_str())
            {
                *mark = Some(true);
            }
            let mut event = Event { kind, time: time.clone(), ..Event::default() };
            event.set_model(model);
            run.events.push(event);
        }
    }
    run.events.extend(beside.flat_map(|one| one.events));
    if without_role > 0 {
        let (noun, shown) = match without_role {
            1 => ("message has", "it is shown as a remark"),
            _ => ("messages have", "they are shown as remarks"),
        };
        run.notes.push(format!("{without_role} {noun} no role; {shown}."));
    }
    if !other_roles.is_empty() {
        let named = other_roles.iter().take(NAMED).map(|role| format!("`{}`", short(role)));
        let named = named.collect::<Vec<_>>().join(", ");
        run.notes.push(format!("Messages with other roles are shown as those of a user: {named}."));
    }
}

fn short(role: &str) -> String {
    role.chars().take(LONGEST_NAME).collect()
}

/// Returns how a chat ended: it is complete if the model had the last word, and no call waits for
/// its result.
fn end(messages: &[Value]) -> RunEnd {
    let last = messages.iter().rev().find(|message| message.text_at("role").is_some());
    let is_model = last.and_then(|last| last.text_at("role"));
    let is_answered = last.is_some_and(|last| all_answered(&read_message(last)));
    match is_model {
        Some(role) if MODEL_ROLES.contains(&role) && is_answered => RunEnd::Complete,
        _ => RunEnd::Unfinished,
    }
}

#[cfg(test)]
mod tests;
