//! **Pure.** YAML to and from [`Value`]: the 1.2 core schema when reading, and text that 1.1
//! readers agree on when writing.
mod emit;
mod events;
mod fast;
mod faults;
mod keys;
mod quoting;
pub(crate) mod scalars;
pub(crate) mod tree;
pub(crate) mod unquoted;

pub use emit::write;
pub(crate) use emit::write_as_it_was;

use crate::error::{ReadError, text_of};
use crate::node::Node as _;
use crate::value::Value;
use tree::Tree;

/// Nested lists and maps we follow.
pub const DEPTH: usize = 64;
/// Values in one file.
pub const NODES: usize = 1_000_000;
/// Aliases in one file.
pub const ALIASES: usize = 1_000;
/// Bytes of one scalar.
pub const SCALAR: usize = 16 << 20;
/// Bytes that aliases may repeat.
pub const REPEATED: usize = 64 << 20;

/// Reads one document.
pub fn read(text: &str) -> Result<Value, ReadError> {
    let text = text_of(text.as_bytes())?;
    Ok(parse_fast(text)?.root().to_value())
}

/// Reads one document without owning its text: the fast way when the text is written as programs
/// write it. Nodes have no places.
pub(crate) fn parse_fast(text: &str) -> Result<Tree<'_>, ReadError> {
    fast::parse(text)?.map_or_else(|| parse(text), Ok)
}

/// The same by the full parser alone, to compare with.
#[doc(hidden)]
pub fn read_fully(text: &str) -> Result<Value, ReadError> {
    Ok(parse(text_of(text.as_bytes())?)?.root().to_value())
}

/// What the fast way reads; none where it leaves the text to the full parser.
#[doc(hidden)]
pub fn read_fast_only(text: &str) -> Option<Value> {
    Some(fast::parse(text).ok()??.root().to_value())
}

/// Reads one document without owning its text. Nodes know their places.
pub(crate) fn parse(text: &str) -> Result<Tree<'_>, ReadError> {
    events::parse(text)
}
