//! **Pure.** Files that hold many runs: splits them into members, identifies and parses each. A
//! file is split first and parsed member by member, so memory holds one member at a time and a
//! broken member does not affect the others. These files are read, never written.
mod entries;
mod errors;
mod evaluation;
mod form;
mod identity;
mod pass_rate;
mod replies;
mod rows;
mod split;
mod verdicts;

pub use entries::MOST_BESIDE;
pub use entries::MOST_KEY;
pub use form::{Form, explain_no_runs, form_of};
pub use identity::{RunIdentity, parse_run_name, run_name};
pub use replies::EvaluatorReplies;
pub use rows::other_inputs;

use crate::stabletoolbench::answers::converted;
use crate::transcript::outline_of;
use entries::Entry;
use errors::Errors;
use identity::FileIdentity;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind, text_of};
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::run::{Outline, Run};
use touchstone_model::value::Value;

/// Number of bytes at the start of a file that are used to detect its form.
const HEAD: usize = 16 << 10;
/// Maximum number of members that are read.
pub const MOST_MEMBERS: usize = 100_000;
/// Maximum size of a file's metadata, in bytes.
pub const MOST_METADATA: usize = 1 << 20;

/// One run of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Key in its file: never empty, unique there, and at most [`MOST_KEY`] bytes long.
    pub key: String,
    /// Identity of the run.
    pub place: RunIdentity,
    /// Outline of the run, or the error of parsing it.
    pub outline: Result<Outline, ReadError>,
}

/// A file that was split into its members.
#[derive(Debug)]
pub struct Collection<'a> {
    bytes: &'a [u8],
    form: Form,
    place: FileIdentity,
    entries: Vec<Entry>,
    /// Column names of a table.
    columns: Vec<String>,
    /// Metadata of the file, common to all members.
    metadata: Value,
    /// Number of keys next to the members that were not read.
    unread: usize,
    /// Errors of evaluators, by row.
    errors: Errors,
    /// Error in the file around its members.
    wrong: Option<ReadError>,
}

impl<'a> Collection<'a> {
    /// Splits a file; `path` is its path below the results folder. Fails if the file has no known
    /// form.
    pub fn open(path: &str, bytes: &'a [u8]) -> Result<Self, ReadError> {
        let Some(form) = form_of(&bytes[..bytes.len().min(HEAD)]) else {
            return Err(ReadError::new(
                ReadErrorKind::NotTranscript,
                "The file holds no runs in a known format.",
            ));
        };
        let found = entries::find(form, bytes);
        let errors = found.beside.iter().find(|(key, _)| form == Form::Rows && key == errors::KEY);
        let errors = errors.map(|(_, span)| Errors::read(bytes, span)).unwrap_or_default();
        let said = metadata(form, bytes, found.beside);
        let outside = |(kind, message, at): (ReadErrorKind, String, usize)| {
            let before = bytes.get(..at).unwrap_or_default();
            let lines =
                u32::try_from(memchr::memchr_iter(b'\n', before).count()).unwrap_or(u32::MAX);
            ReadError { line: Some(lines.saturating_add(1)), ..ReadError::new(kind, message) }
        };
        let wrong = found.wrong.map(outside).or(said.wrong);
        let (metadata, unread) = (said.value, said.unread);
        let place = FileIdentity::from_file(form, path, &metadata);
        Ok(Self {
            bytes,
            form,
            place,
            entries: found.entries,
            columns: found.columns,
            metadata,
            unread: unread + found.more,
            errors,
            wrong,
        })
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no members.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the key of a member; empty if there is no such member.
    pub fn key(&self, at: usize) -> &str {
        self.entries.get(at).map_or("", |entry| entry.key.as_str())
    }

    /// Returns the text of a member as it is in the file; empty if there is no such member.
    pub fn bytes_of(&self, at: usize) -> &'a [u8] {
        self.entries
            .get(at)
            .and_then(|entry| self.bytes.get(entry.span.clone()))
            .unwrap_or_default()
    }

    /// Returns the metadata common to all members. For evaluations of rows, this is everything next
    /// to the rows, by key.
    pub fn shared_metadata(&self) -> &Value {
        &self.metadata
    }

    /// Returns the number of metadata keys that were not read: they exceed [`MOST_BESIDE`], their
    /// values are too long, or they cannot be parsed.
    pub fn unread_key_count(&self) -> usize {
        self.unread
    }

    /// Returns the error in the file around its members: the file is cut off, its list of runs is
    /// not a list, or its metadata is broken. Members or metadata may then be missing.
    pub fn file_error(&self) -> Option<&ReadError> {
        self.wrong.as_ref()
    }

    /// Returns the errors of evaluators for a member: names of evaluators, each with a message.
    pub fn errors_of(&self, at: usize) -> &[(String, String)] {
        self.errors.for_row(at)
    }

    /// Returns a member by its index in the file.
    pub fn member(&self, at: usize) -> Option<Member> {
        let entry = self.entries.get(at)?;
        let read = self.read_entry(at, entry);
        let place = self.place.of_entry(entry, read.as_ref().ok());
        Some(Member {
            key: entry.key.clone(),
            place,
            outline: read.map(|read| outline_of(&read.run)),
        })
    }

    /// Returns the index of a member by its key.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }

    /// Parses a member completely. Fails if there is no such member or it is broken.
    pub fn run(&self, at: usize) -> Result<Run, ReadError> {
        let gone =
            || ReadError::new(ReadErrorKind::BadValue, "The file does not hold this run any more.");
        Ok(self.read_entry(at, self.entries.get(at).ok_or_else(gone)?)?.run)
    }

    fn read_entry(&self, at: usize, entry: &Entry) -> Result<Read, ReadError> {
        if let Some((kind, message)) = &entry.wrong {
            return Err(placed(ReadError::new(*kind, message.as_str()), entry));
        }
        let id = entry.id.as_deref().unwrap_or_default();
        let bytes = self.bytes.get(entry.span.clone()).unwrap_or_default();
        let read = match self.form {
            Form::PassRateTable => text_of(bytes).map(|row| {
                let cells = split::cells(row, self.columns.len());
                pass_rate::of_row(id, &self.columns, cells)
            }),
            form => value(bytes).and_then(|value| match form {
                _ if !matches!(value, Value::Map(_)) => Err(no_object(&entry.key)),
                Form::Results => Ok(evaluation::read(&value, &self.metadata)),
                Form::PassRate => Ok(pass_rate::of_entry(id, &value)),
                Form::Rows | Form::RowLines => {
                    Ok(rows::read(id, value, &self.metadata, self.errors.for_row(at)))
                }
                _ => Ok(converted(id, &value)),
            }),
        };
        read.map_err(|error| placed(error, entry))
    }
}

/// Converts the line of an error to a line of the file.
fn placed(error: ReadError, entry: &Entry) -> ReadError {
    let line = error.line.unwrap_or(1).saturating_add(entry.lines);
    // The column is unknown in the first line of a member, which may start in the middle of a line.
    let column = error.column.filter(|_| error.line.is_some_and(|line| line > 1));
    ReadError { line: Some(line), column, ..error }
}

/// A parsed member: its run, and its system and model where the member states them.
#[derive(Debug, Default)]
struct Read {
    run: Run,
    /// Task; `None` if it follows from the id.
    task: Option<String>,
    system: Option<String>,
    model: Option<String>,
    variation: Option<u32>,
    repeat: Option<u32>,
}

/// Returns all members of a file in order.
pub fn members(path: &str, bytes: &[u8]) -> Result<Vec<Member>, ReadError> {
    let file = Collection::open(path, bytes)?;
    Ok((0..file.len()).filter_map(|at| file.member(at)).collect())
}

/// Parses one member of a file. Fails if there is no member with this key.
pub fn read(path: &str, bytes: &[u8], key: &str) -> Result<Run, ReadError> {
    let file = Collection::open(path, bytes)?;
    // For an unknown key, an index past the end gives the error.
    file.run(file.find(key).unwrap_or(usize::MAX))
}

/// Metadata of a file.
struct FileMetadata {
    value: Value,
    /// Number of keys that were not read.
    unread: usize,
    /// Error of the first value that cannot be parsed.
    wrong: Option<ReadError>,
}

/// Parses the metadata next to the members: all keys for evaluations of rows, else a single key. Of
/// duplicate keys the last wins.
fn metadata(form: Form, bytes: &[u8], beside: Vec<(String, Range<usize>)>) -> FileMetadata {
    let (mut entries, mut room, mut unread): (Vec<(Value, Value)>, usize, usize) =
        (Vec::new(), MOST_METADATA, 0);
    let mut wrong = None;
    for (key, span) in beside.into_iter().filter(|(key, _)| key != errors::KEY) {
        let Some(left) = room.checked_sub(span.len()) else {
            unread += 1;
            continue;
        };
        match value(&bytes[span.clone()]) {
            Ok(value) => {
                room = left;
                entries.retain(|(known, _)| known.text() != Some(&key));
                entries.push((Value::Text(key), value));
            }
            Err(error) => {
                unread += 1;
                let before = memchr::memchr_iter(b'\n', &bytes[..span.start]).count();
                let lines = u32::try_from(before).unwrap_or(u32::MAX);
                let message = format!("`{key}` could not be read: {}", error.message);
                let line = error.line.unwrap_or(1).saturating_add(lines);
                wrong.get_or_insert(ReadError { line: Some(line), column: None, message, ..error });
            }
        }
    }
    let value = match form {
        Form::Rows => Value::Map(entries),
        _ => entries
            .into_iter()
            .find(|(key, _)| key.text() == Some("metadata"))
            .map(|(_, value)| value)
            .unwrap_or_default(),
    };
    FileMetadata { value, unread, wrong }
}

fn value(bytes: &[u8]) -> Result<Value, ReadError> {
    json::read_python(text_of(bytes)?)
}

fn converted(id: &str, entry: &Value) -> Read {
    let run = converted::run(id, entry);
    let method =
        entry.get("answer").and_then(|answer| answer.get("method")).or_else(|| entry.get("method"));
    Read { system: method.and_then(Node::word).map(str::to_owned), run, ..Read::default() }
}

fn no_object(key: &str) -> ReadError {
    let message = format!("`{key}` is not an object, so it is not a run.");
    ReadError::new(ReadErrorKind::NotTranscript, message)
}

#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod tests;
