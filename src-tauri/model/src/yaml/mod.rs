//! **Pure.** Converts YAML to and from [`Value`]. Reads the YAML 1.2 core schema, and writes text
//! that YAML 1.1 parsers read alike.
mod emit;
mod events;
mod fast;
mod faults;
mod keys;
mod quoting;
pub mod tree;
pub mod unquoted;

pub use emit::{write, write_as_it_was};

use crate::error::{ReadError, text_of};
use crate::node::Node as _;
use crate::value::Value;
use tree::Tree;

/// Maximum nesting depth of lists and maps.
pub const DEPTH: usize = 64;
/// Maximum number of values in one file.
pub const NODES: usize = 1_000_000;
/// Maximum number of aliases in one file.
pub const ALIASES: usize = 1_000;
/// Maximum length of one scalar, in bytes.
pub const SCALAR: usize = 16 << 20;
/// Maximum amount of text that aliases may repeat, in bytes.
pub const REPEATED: usize = 64 << 20;

/// Parses one document.
pub fn read(text: &str) -> Result<Value, ReadError> {
    let text = text_of(text.as_bytes())?;
    Ok(parse_fast(text)?.root().to_value())
}

/// Parses one document without copying its text, with the fast parser if the text is in the subset
/// that programs write. The nodes have no spans.
pub fn parse_fast(text: &str) -> Result<Tree<'_>, ReadError> {
    fast::parse(text)?.map_or_else(|| parse(text), Ok)
}

/// Like [`read`], with the full parser only. For comparisons.
#[doc(hidden)]
pub fn read_fully(text: &str) -> Result<Value, ReadError> {
    Ok(parse(text_of(text.as_bytes())?)?.root().to_value())
}

/// Parses a document with the fast parser only. Returns `None` where it defers to the full parser.
#[doc(hidden)]
pub fn read_fast_only(text: &str) -> Option<Value> {
    Some(fast::parse(text).ok()??.root().to_value())
}

/// Parses one document without copying its text. The nodes have spans.
pub fn parse(text: &str) -> Result<Tree<'_>, ReadError> {
    events::parse(text)
}
