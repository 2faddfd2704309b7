//! **Pure.** Error messages for invalid YAML, with advice on the fix.
use granit_parser::{ErrorKind, ScanError};

use super::tree::Tree;
use super::{DEPTH, SCALAR};
use crate::error::{Position, ReadError, ReadErrorKind};

/// Converts an error of the parser.
pub(crate) fn scan(text: &str, error: &ScanError) -> ReadError {
    let offset = error.marker().byte_offset().unwrap_or(text.len());
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(text, offset);
    }
    let misplaced = [
        ErrorKind::MappingValueNotAllowed,
        ErrorKind::SimpleKeyExpected,
        ErrorKind::InvalidSimpleKey,
    ];
    if let Some(fault) =
        misplaced.contains(error.kind()).then(|| deeper_key(text, offset)).flatten()
    {
        return fault;
    }
    let kind = if is_cut_off(text, offset, error.kind()) {
        ReadErrorKind::Truncated
    } else {
        ReadErrorKind::Syntax
    };
    let message = match kind {
        ReadErrorKind::Truncated => format!("The file ends in the middle: {}.", error.info()),
        _ => in_words(error.kind()).map_or_else(|| sentence(&error.info()), str::to_owned),
    };
    let fault = ReadError::at_offset(kind, text, offset, message);
    match advice(error.kind()) {
        Some(words) => fault.advise(words),
        None => fault,
    }
}

/// Error for an empty text.
pub(crate) fn empty(text: &str) -> ReadError {
    let message = if text.trim().is_empty() {
        "The file is empty."
    } else {
        "The file holds nothing but comments."
    };
    ReadError::new(ReadErrorKind::Truncated, message)
}

/// Error for lists and maps that are nested too deeply.
pub(crate) fn too_deep(text: &str, offset: usize) -> ReadError {
    let message = format!("Lists and maps are nested deeper than {DEPTH} levels.");
    ReadError::at_offset(ReadErrorKind::TooDeep, text, offset, message)
}

/// Error for a scalar that exceeds the maximum length.
pub(crate) fn too_long(text: &str, offset: usize) -> ReadError {
    let message = format!("A text of more than {SCALAR} bytes; longer ones are not read.");
    ReadError::at_offset(ReadErrorKind::TooLarge, text, offset, message)
}

/// Error for a duplicate key.
pub(crate) fn duplicate(text: &str, tree: &Tree<'_>, first: usize, second: usize) -> ReadError {
    let offset = |node: usize| tree.spans.get(node).map_or(0, |(from, _)| *from as usize);
    let key = tree.scalar(second).map_or("", crate::scalar::Scalar::words);
    let line = Position::from_offset(text, offset(first)).line;
    let message =
        format!("The key `{key}` appears twice in the same map; the first is on line {line}.");
    ReadError::at_offset(ReadErrorKind::Duplicate, text, offset(second), message)
        .advise("Remove or rename one of the two.")
}

/// Detects the most frequent mistake in suites: keys that are indented deeper than the first key of
/// their list item.
fn deeper_key(text: &str, offset: usize) -> Option<ReadError> {
    let place = Position::from_offset(text, offset);
    let indent = indent_of(place.content);
    let key = key_of(place.content.get(indent..)?)?;
    let start = offset.min(text.len()) - place.content.len().min(offset_in_line(text, offset));
    let before = text.get(..start)?.trim_end_matches(['\n', '\r']);
    let above = before.lines().next_back()?;
    let item = above.trim_start_matches([' ', '-']);
    let column = above.len() - item.len();
    let first = key_of(item)?;
    let has_value = !item.get(first.len() + 1..)?.trim().is_empty();
    if indent <= column || !has_value {
        return None;
    }
    let message = format!(
        "`{key}` is indented deeper than `{first}` on the line above, which already has a value."
    );
    let spaces = if column == 1 { "1 space".to_owned() } else { format!("{column} spaces") };
    Some(ReadError::at_offset(ReadErrorKind::Syntax, text, start + indent, message).advise(format!(
        "Put `{key}` under `{first}`: begin the line with {spaces} instead of {indent}, and the lines of its neighbours too."
    )))
}

fn offset_in_line(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    offset - text[..offset].rfind('\n').map_or(0, |at| at + 1)
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the key at the start of a line.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let fits = !key.is_empty() && !key.contains([' ', '"', '\'', '{', '[', '#']);
    (fits && (rest.is_empty() || rest.starts_with([' ', '\r']))).then_some(key)
}

fn is_cut_off(text: &str, offset: usize, kind: &ErrorKind) -> bool {
    let at_end = offset >= text.trim_end().len();
    matches!(
        kind,
        ErrorKind::UnexpectedEof
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnexpectedEofBlockSequence
            | ErrorKind::UnexpectedEofBlockMapping
            | ErrorKind::UnclosedQuotedScalar
            | ErrorKind::UnclosedFlowCollection { .. }
    ) || at_end
}

fn advice(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart => "Indent with spaces; YAML takes no tabs there.",
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::SimpleKeyExpected => {
            "Check the indentation of this line and the one above, or put quotes around a text that holds a colon."
        }
        ErrorKind::UnknownAnchor => {
            "Define the anchor with & before it is used, or put quotes around a text that begins with *."
        }
        ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            "Escape the quotes inside the text (\\\" in double quotes, '' in single quotes), or use a block: `|`."
        }
        ErrorKind::UnclosedQuotedScalar => "Close the quotes.",
        ErrorKind::UnknownQuotedScalarEscape => "Write \\\\ for a backslash, or use single quotes.",
        ErrorKind::UnclosedFlowCollection { .. } => "Close the bracket.",
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            "Give all keys of one map the same indentation."
        }
        _ => return None,
    })
}

/// Returns a clearer message for the most frequent errors.
fn in_words(kind: &ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar
        | ErrorKind::TabAtBlockScalarStart => "A tab where YAML takes only spaces.",
        ErrorKind::MappingValueNotAllowed => "A colon where no key can stand.",
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            "A key without its colon, or a line that belongs to nothing."
        }
        ErrorKind::ExpectedBlockMappingKey => {
            "A line that is neither a key nor part of the value before it."
        }
        ErrorKind::ExpectedBlockSequenceEntry => "A line among list items that is no item.",
        ErrorKind::UnknownAnchor => "An alias (`*name`) of a value that was never named with `&`.",
        ErrorKind::InvalidIndentation | ErrorKind::InvalidBlockScalarIndent => {
            "The indentation matches nothing above."
        }
        ErrorKind::UnknownQuotedScalarEscape => "An escape that YAML does not know.",
        ErrorKind::InvalidTrailingDoubleQuotedScalar
        | ErrorKind::InvalidTrailingSingleQuotedScalar => "More text after the closing quotes.",
        ErrorKind::UnpairedLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::InvalidLowSurrogateHexEscape => {
            "Half of a surrogate pair, which is no character."
        }
        _ => return None,
    })
}

/// Formats the parser's message as a sentence.
fn sentence(words: &str) -> String {
    let words = words.lines().next().unwrap_or_default();
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
