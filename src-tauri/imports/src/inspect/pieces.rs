//! **Pure.** The parts of a sample, unparsed: from one text, or from the chunks of a sample that is
//! spread over many members.
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json::{self, skim};
use touchstone_model::value::Value;

/// Maximum size of the texts that attachments put in for references, for each run.
const MOST_ATTACHED: usize = 256 << 20;

/// Maximum number of messages that ranges may name, for each run.
const MOST_REFERENCES: usize = 2_000_000;

/// Maximum number of events that are read of a run.
const MOST_EVENTS: usize = 1_000_000;

/// Texts of a sample.
#[derive(Debug, Default)]
pub(super) struct SampleText {
    /// The sample, with all its parts unless it has chunks.
    pub(super) whole: String,
    /// Parts that are members of their own.
    pub(super) chunks: Option<Chunks>,
}

/// Sequences of a sample that is spread over many members, each as lists in order.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    pub(super) messages: Vec<String>,
    pub(super) attachments: Vec<String>,
    pub(super) events: Vec<String>,
    pub(super) metadata: Option<String>,
}

/// Parts of a sample.
pub(super) struct Pieces<'a> {
    members: Vec<(&'a str, &'a str)>,
    /// Messages of the conversation.
    pub(super) messages: Vec<&'a str>,
    /// Messages that events refer to by number.
    pub(super) pool: Vec<&'a str>,
    /// Events.
    pub(super) events: Vec<&'a str>,
    /// True if there were more events.
    pub(super) has_more_events: bool,
    attachments: HashMap<String, &'a str>,
    attached: Cell<usize>,
    missing: Cell<bool>,
}

impl<'a> Pieces<'a> {
    /// Splits a sample. Fails if it is no complete object, or a part is no list.
    pub(super) fn split(text: &'a SampleText) -> Result<Self, ReadError> {
        let whole = text.whole.strip_prefix('\u{feff}').unwrap_or(&text.whole);
        let mut members = skim::members(whole).ok_or_else(|| no_object(whole))?;
        if let Some(key) = find_duplicate(&members) {
            let message = format!("The key `{key}` stands twice in the sample.");
            return Err(ReadError::new(ReadErrorKind::Duplicate, message));
        }
        let mut pieces = Pieces {
            messages: list(&members, "messages")?,
            pool: Vec::new(),
            events: list(&members, "events")?,
            has_more_events: false,
            attachments: HashMap::new(),
            attached: Cell::new(0),
            missing: Cell::new(false),
            members: Vec::new(),
        };
        if let Some(transcript) = raw(&members, "transcript").and_then(skim::members) {
            // Logs until 2024 had events and attachments in an object of their own.
            pieces.events.extend(list(&transcript, "events")?);
            pieces.attach(raw(&transcript, "content"));
        }
        pieces.attach(raw(&members, "attachments"));
        if let Some(data) = raw(&members, "events_data").and_then(skim::members) {
            pieces.pool = list(&data, "messages")?;
        }
        if let Some(chunks) = &text.chunks {
            pieces.pool = concat(&chunks.messages)?;
            pieces.events = concat(&chunks.events)?;
            let attached = concat(&chunks.attachments)?;
            let numbered = attached.into_iter().enumerate();
            pieces.attachments = numbered.map(|(at, text)| (at.to_string(), text)).collect();
            let references = raw(&members, "message_refs").map(json::read_python).transpose()?;
            pieces.messages = select(&pieces.pool, &references.unwrap_or_default())?;
            if let Some(metadata) = &chunks.metadata {
                members.push(("metadata", metadata));
            }
        }
        pieces.has_more_events = pieces.events.len() > MOST_EVENTS;
        pieces.events.truncate(MOST_EVENTS);
        pieces.members = members;
        Ok(pieces)
    }

    fn attach(&mut self, text: Option<&'a str>) {
        let members = text.and_then(skim::members).unwrap_or_default();
        self.attachments.extend(members.into_iter().map(|(key, text)| (key.to_owned(), text)));
    }

    /// Returns the text of a value as it stands in the sample.
    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        raw(&self.members, key)
    }

    /// Parses a value of the sample; null if it is not there.
    pub(super) fn value(&self, key: &str) -> Result<Value, ReadError> {
        self.raw(key).map_or(Ok(Value::Null), |text| self.parse(key, text))
    }

    /// Parses a value, and replaces references in it by what they refer to.
    pub(super) fn parse(&self, name: &str, text: &str) -> Result<Value, ReadError> {
        let mut value = json::read_python(text).map_err(|error| {
            let message = format!("The sample's `{name}` cannot be read: {}", error.message);
            ReadError::new(error.kind, message)
        })?;
        if !self.attachments.is_empty() && (text.contains("attachment:") || text.contains("tc:")) {
            self.resolve(&mut value);
        }
        Ok(value)
    }

    /// Returns true if a reference was left as it is because nothing is there to replace it.
    pub(super) fn is_missing_attachments(&self) -> bool {
        self.missing.get()
    }

    fn resolve(&self, value: &mut Value) {
        match value {
            Value::Text(text) => {
                let key = text.strip_prefix("attachment://").or_else(|| text.strip_prefix("tc://"));
                let Some(key) = key else { return };
                match self.attachment(key) {
                    Some(attached) => *text = attached,
                    None => self.missing.set(true),
                }
            }
            Value::List(items) => items.iter_mut().for_each(|item| self.resolve(item)),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| self.resolve(value)),
            _ => {}
        }
    }

    fn attachment(&self, key: &str) -> Option<String> {
        let text = self.attachments.get(key)?;
        let total = self.attached.get().saturating_add(text.len());
        if total > MOST_ATTACHED {
            return None;
        }
        self.attached.set(total);
        json::read_python(text).ok()?.text().map(str::to_owned)
    }
}

fn no_object(text: &str) -> ReadError {
    let problem = json::read_python(text).err();
    problem.unwrap_or_else(|| ReadError::new(ReadErrorKind::BadValue, "The sample is no object."))
}

fn find_duplicate<'a>(members: &[(&'a str, &str)]) -> Option<&'a str> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| *key).collect();
    keys.sort_unstable();
    keys.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Returns the text of a member.
pub(super) fn raw<'a>(members: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    members.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

/// Returns the items of a member; none if it is missing or null.
fn list<'a>(members: &[(&str, &'a str)], key: &str) -> Result<Vec<&'a str>, ReadError> {
    match raw(members, key) {
        None | Some("null") => Ok(Vec::new()),
        Some(text) => skim::items(text).ok_or_else(|| {
            let message = format!("The sample's `{key}` is no list, or a very long one.");
            ReadError::new(ReadErrorKind::BadValue, message)
        }),
    }
}

fn concat(lists: &[String]) -> Result<Vec<&str>, ReadError> {
    let mut all = Vec::new();
    for text in lists {
        let message = "A part of the sample is no list.";
        let items = skim::items(text);
        all.extend(items.ok_or_else(|| ReadError::new(ReadErrorKind::BadValue, message))?);
    }
    Ok(all)
}

/// Returns the ranges of a list of pairs `[start, end)`, cut to a length.
pub(super) fn ranges(references: &Value, length: usize) -> impl Iterator<Item = Range<usize>> {
    references.items().iter().filter_map(move |pair| {
        let [start, end] = pair.items() else { return None };
        let number = |value: &Value| usize::try_from(value.whole_number()?).ok();
        Some(number(start)?.min(length)..number(end)?.min(length))
    })
}

fn select<'a>(pool: &[&'a str], references: &Value) -> Result<Vec<&'a str>, ReadError> {
    let mut selected = Vec::new();
    for range in ranges(references, pool.len()) {
        selected.extend(pool.get(range).unwrap_or_default());
        if selected.len() > MOST_REFERENCES {
            let message = format!("The sample names more than {MOST_REFERENCES} messages.");
            return Err(ReadError::new(ReadErrorKind::TooLarge, message));
        }
    }
    Ok(selected)
}
