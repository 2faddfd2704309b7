//! **Pure.** Files that hold many runs: where each begins, which run it is, and what it says. A
//! file is cut first and read member by member, so that memory holds one at a time, and one that
//! cannot be read leaves the others alone. Read, never written.
mod entries;
mod errors;
mod evaluation;
mod form;
mod pass_rate;
mod place;
mod replies;
mod rows;
mod split;
mod verdicts;

pub use entries::MOST_BESIDE;
pub use form::{Form, form_of, why_no_runs};
pub use place::{MOST_KEY, Place, named_run, run_name};
pub use replies::Heard;
pub use rows::beside_what_was_said;

use crate::error::{ReadError, ReadErrorKind, text_of};
use crate::json;
use crate::node::Node;
use crate::run::{Outline, Run};
use crate::stabletoolbench::answers::converted;
use crate::value::Value;
use entries::Entry;
use errors::Errors;
use place::Whereabouts;
use std::ops::Range;

/// How much of a file tells its form.
const HEAD: usize = 16 << 10;
/// Members after this are not read.
pub const MOST_MEMBERS: usize = 100_000;
/// What a file says of all its members may be this long.
pub const MOST_METADATA: usize = 1 << 20;

/// One run of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// What it is called in its file: never empty, unique there, and no longer than [`MOST_KEY`]
    /// bytes.
    pub key: String,
    /// Which run it is.
    pub place: Place,
    /// What it says, or why that cannot be read.
    pub outline: Result<Outline, ReadError>,
}

/// A file that was cut into its members.
#[derive(Debug)]
pub struct Collection<'a> {
    bytes: &'a [u8],
    form: Form,
    place: Whereabouts,
    entries: Vec<Entry>,
    /// Names of columns of a table.
    columns: Vec<String>,
    /// What the file says of all its members.
    metadata: Value,
    /// How many keys beside the members are in none of it.
    unread: usize,
    /// Why evaluators have no result for some of them.
    errors: Errors,
    /// What of the file around its members cannot be read.
    wrong: Option<ReadError>,
}

impl<'a> Collection<'a> {
    /// Cuts a file; `path` is where it lies below the folder of results.
    pub fn open(path: &str, bytes: &'a [u8]) -> Result<Self, ReadError> {
        let Some(form) = form_of(&bytes[..bytes.len().min(HEAD)]) else {
            return Err(ReadError::new(
                ReadErrorKind::NotTranscript,
                "The file holds no runs in a form that is known.",
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
        let place = Whereabouts::of(form, path, &metadata);
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

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What a member is called; empty when there is no such member.
    pub fn key(&self, at: usize) -> &str {
        self.entries.get(at).map_or("", |entry| entry.key.as_str())
    }

    /// The text of a member as it stands in the file; empty when there is no such member.
    pub fn bytes_of(&self, at: usize) -> &'a [u8] {
        self.entries
            .get(at)
            .and_then(|entry| self.bytes.get(entry.span.clone()))
            .unwrap_or_default()
    }

    /// What the file says of all its members: of evaluations of rows, everything beside them by its
    /// key.
    pub fn says(&self) -> &Value {
        &self.metadata
    }

    /// How many keys of what the file says of all its members were not read: they are more than
    /// [`MOST_BESIDE`], what they hold is too long, or no value.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// Why the file around its members cannot be read: it is cut, its list of runs is none, or what
    /// it says of all of them is broken. Members may be missing then, or what is known of them.
    pub fn wrong(&self) -> Option<&ReadError> {
        self.wrong.as_ref()
    }

    /// Why evaluators have no result for a member, where the file says so beside it: names of
    /// evaluators, each with a sentence.
    pub fn errors_of(&self, at: usize) -> &[(String, String)] {
        self.errors.of(at)
    }

    /// A member, by its place in the file.
    pub fn member(&self, at: usize) -> Option<Member> {
        let entry = self.entries.get(at)?;
        let read = self.read_entry(at, entry);
        let place = self.place.of_entry(entry, read.as_ref().ok());
        Some(Member { key: entry.key.clone(), place, outline: read.map(|read| read.run.outline()) })
    }

    /// Where a member stands in the file.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }

    /// Everything a member says.
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
                    Ok(rows::read(id, value, &self.metadata, self.errors.of(at)))
                }
                _ => Ok(converted(id, &value)),
            }),
        };
        read.map_err(|error| placed(error, entry))
    }
}

/// Lines of an error are counted from the beginning of the file.
fn placed(error: ReadError, entry: &Entry) -> ReadError {
    let line = error.line.unwrap_or(1).saturating_add(entry.lines);
    // The first line of a member does not begin where the line of the file does.
    let column = error.column.filter(|_| error.line.is_some_and(|line| line > 1));
    ReadError { line: Some(line), column, ..error }
}

/// A member that was read: its run, and who made it where it says so itself.
#[derive(Debug, Default)]
struct Read {
    run: Run,
    /// Its task; none where that follows from its id.
    task: Option<String>,
    system: Option<String>,
    model: Option<String>,
    variation: Option<u32>,
    repeat: Option<u32>,
}

/// All members of a file, in its order.
pub fn members(path: &str, bytes: &[u8]) -> Result<Vec<Member>, ReadError> {
    let file = Collection::open(path, bytes)?;
    Ok((0..file.len()).filter_map(|at| file.member(at)).collect())
}

/// Everything that one member of a file says.
pub fn read(path: &str, bytes: &[u8], key: &str) -> Result<Run, ReadError> {
    let file = Collection::open(path, bytes)?;
    // What is not there is past the end.
    file.run(file.find(key).unwrap_or(usize::MAX))
}

/// What a file says of all its members.
struct Beside {
    value: Value,
    /// How many keys of it were not read.
    unread: usize,
    /// Why the first of those that are no value is none.
    wrong: Option<ReadError>,
}

/// Reads what stands beside the members: of evaluations of rows under all keys, else under one. Of
/// a key that stands there twice, the last counts.
fn metadata(form: Form, bytes: &[u8], beside: Vec<(String, Range<usize>)>) -> Beside {
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
                let message =
                    format!("What stands under `{key}` could not be read: {}", error.message);
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
    Beside { value, unread, wrong }
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
    let message = format!("What stands under `{key}` is no object, so it is no run.");
    ReadError::new(ReadErrorKind::NotTranscript, message)
}

#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod tests;
