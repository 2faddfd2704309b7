//! **Pure.** JSON to and from [`Value`]: numbers keep their text, the same key twice is an error,
//! and a lenient reading for what models write.
mod open;
mod read;
pub mod skim;
mod write;

pub(crate) use read::Reader;
pub(crate) use write::write_within;
pub use write::{length, write, write_back};

use crate::error::{ReadError, text_of};
use crate::value::Value;

/// Lists and objects inside each other that are followed.
pub const DEPTH: usize = 64;

/// The same in files that hold a run as a chain of objects inside each other: as deep as Python
/// writes any.
pub const DEEP: usize = 1_000;

/// What is accepted beyond the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Nothing, and the same key twice is an error.
    Strict,
    /// The same key twice: what a tool returned is shown, not judged.
    Embedded,
    /// The same with `NaN` and `Infinity`: what was written to be read back.
    Back,
    /// Trailing commas, comments, single quotes, `NaN`, Python's constants, and of the same key
    /// twice the last: what models write.
    Lenient,
    /// Like [`Mode::Lenient`], without comments: what they hide would be read by nobody.
    Reply,
    /// Like [`Mode::Reply`], and the same key twice is an error: what stands in files is not
    /// guessed.
    File,
}

impl Mode {
    fn is_lenient(self) -> bool {
        matches!(self, Mode::Lenient | Mode::Reply | Mode::File)
    }

    /// Also those that only Python writes.
    fn knows_all_numbers(self) -> bool {
        self.is_lenient() || self == Mode::Back
    }
}

/// Reads a JSON text.
pub fn read(text: &str) -> Result<Value, ReadError> {
    read_as(text_of(text.as_bytes())?, Mode::Strict)
}

/// Reads a JSON text that may be nested up to [`DEEP`] levels.
pub fn read_deep(text: &str) -> Result<Value, ReadError> {
    Reader::new(text_of(text.as_bytes())?, Mode::Strict).down_to(DEEP).document()
}

/// The same with what only Python writes: `NaN`, `Infinity`.
pub fn read_python(text: &str) -> Result<Value, ReadError> {
    let read = |mode| Reader::new(text_of(text.as_bytes())?, mode).down_to(DEEP).document();
    read(Mode::Strict).or_else(|error| read(Mode::File).map_err(|_| error))
}

/// Reads what [`write_back`] wrote. Keys that YAML tells apart may be written alike in JSON, so the
/// same key twice is no fault here.
pub fn read_back(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Back)
}

/// Reads what models write for JSON: trailing commas, comments, single quotes, `NaN`, the same key
/// twice.
pub fn read_leniently(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Lenient)
}

/// Reads what models reply: leniently, and without comments. Of the same key twice the last counts.
pub fn read_reply(text: &str) -> Result<Value, ReadError> {
    read_as(text, Mode::Reply)
}

/// The list or object that a text holds, when it holds nothing else.
pub fn embedded(text: &str) -> Option<Value> {
    let inside = text.trim();
    let looks = (inside.starts_with('[') && inside.ends_with(']'))
        || (inside.starts_with('{') && inside.ends_with('}'));
    if looks { read_as(inside, Mode::Embedded).ok() } else { None }
}

pub(crate) fn read_as(text: &str, mode: Mode) -> Result<Value, ReadError> {
    Reader::new(text, mode).document()
}
