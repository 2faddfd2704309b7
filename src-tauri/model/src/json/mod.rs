//! **Pure.** Converts JSON to and from [`Value`]. Numbers keep their text and duplicate keys are
//! errors. There is also a lenient parser for the JSON that models write.
mod open;
mod read;
pub mod skim;
mod write;

pub use read::Reader;
pub use write::write_within;
pub use write::{length, write, write_back};

use crate::error::{ReadError, text_of};
use crate::value::Value;

/// Maximum nesting depth of lists and objects.
pub const DEPTH: usize = 64;

/// Maximum nesting depth in files that hold a run as a chain of nested objects: the deepest nesting
/// that Python writes.
pub const DEEP: usize = 1_000;

/// Deviations from the JSON standard that a parse accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// None. Duplicate keys are errors.
    Strict,
    /// Duplicate keys, of which all are kept: tool results are displayed, not validated.
    Embedded,
    /// Like [`Mode::Embedded`], plus `NaN` and `Infinity`: for text written by [`write_back`].
    Back,
    /// Trailing commas, comments, single quotes, `NaN`, Python's constants and duplicate keys, of
    /// which the last wins: for JSON written by models.
    Lenient,
    /// Like [`Mode::Lenient`], but without comments, whose content would be dropped unseen.
    Reply,
    /// Like [`Mode::Reply`], but duplicate keys are errors: the content of files is not guessed.
    File,
}

impl Mode {
    fn is_lenient(self) -> bool {
        matches!(self, Mode::Lenient | Mode::Reply | Mode::File)
    }

    /// Returns true if the numbers that only Python writes are accepted.
    fn knows_all_numbers(self) -> bool {
        self.is_lenient() || self == Mode::Back
    }
}

/// Parses a JSON text.
pub fn read(text: &str) -> Result<Value, ReadError> {
    read_as(text_of(text.as_bytes())?, Mode::Strict)
}

/// Parses a JSON text that may be nested up to [`DEEP`] levels.
pub fn read_deep(text: &str) -> Result<Value, ReadError> {
    Reader::new(text_of(text.as_bytes())?, Mode::Strict).down_to(DEEP).document()
}

/// Like [`read_deep`], and also accepts text that only Python writes: `NaN`, `Infinity`. If strict
/// parsing fails, falls back to `Mode::File`, and reports the strict error if that fails as well.
pub fn read_python(text: &str) -> Result<Value, ReadError> {
    let read = |mode| Reader::new(text_of(text.as_bytes())?, mode).down_to(DEEP).document();
    read(Mode::Strict).or_else(|error| read(Mode::File).map_err(|_| error))
}

/// Parses text written by [`write_back`]. Keys that differ in YAML may have the same text in JSON,
/// so duplicate keys are accepted.
pub fn read_back(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Back)
}

/// Parses JSON as models write it: with trailing commas, comments, single quotes, `NaN` and
/// duplicate keys.
pub fn read_leniently(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Lenient)
}

/// Parses the JSON of a model's reply: leniently, but without comments. Of duplicate keys the last
/// wins.
pub fn read_reply(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Reply)
}

/// Returns the list or object in a text that holds nothing else.
pub fn embedded(text: &str) -> Option<Value> {
    let inside = text.trim();
    let looks = (inside.starts_with('[') && inside.ends_with(']'))
        || (inside.starts_with('{') && inside.ends_with('}'));
    if looks { read_as(inside, Mode::Embedded).ok() } else { None }
}

/// Parses a JSON text with some deviations from the standard.
pub fn read_as(text: &str, mode: Mode) -> Result<Value, ReadError> {
    Reader::new(text, mode).document()
}
