//! **Pure.** Why a file could not be read: where, what is there, and what to change.

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// What kind.
    pub kind: ReadErrorKind,
    /// One sentence.
    pub message: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The line itself, cut when it is long.
    pub excerpt: Option<String>,
    /// What to change.
    pub advice: Option<String>,
}

/// Kinds of [`ReadError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadErrorKind {
    /// It is not what its format says.
    Syntax,
    /// The same key twice in one map.
    Duplicate,
    /// Nested deeper than we follow.
    TooDeep,
    /// More than we are ready to hold.
    TooLarge,
    /// It ends in the middle: empty, half written or cut off.
    Truncated,
    /// Bytes that are no text.
    NotUtf8,
    /// Well-formed, but no transcript.
    NotTranscript,
    /// Well-formed, but no suite.
    NotSuite,
    /// Well-formed, but a key has a value that makes no sense.
    BadValue,
}

/// The longest excerpt, in characters.
const EXCERPT: usize = 200;

impl ReadError {
    /// An error about a file as a whole.
    pub fn new(kind: ReadErrorKind, message: impl Into<String>) -> Self {
        ReadError {
            kind,
            message: message.into(),
            line: None,
            column: None,
            excerpt: None,
            advice: None,
        }
    }

    /// An error at a byte of the text.
    pub fn at(kind: ReadErrorKind, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let place = Place::of(text, offset);
        let excerpt = Some(excerpt(place.content));
        ReadError {
            line: Some(place.line),
            column: Some(place.column),
            excerpt,
            ..Self::new(kind, message)
        }
    }

    /// The same with an advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// Where a byte is, as a person counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The line without its end.
    pub content: &'a str,
}

impl<'a> Place<'a> {
    /// The place of a byte; past the end it is the end.
    pub(crate) fn of(text: &'a str, offset: usize) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |at| offset + at);
        let line = memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1;
        let column = text[start..offset].chars().count() + 1;
        let content = text[start..end].trim_end_matches('\r');
        Place { line: count(line), column: count(column), content }
    }
}

/// A count that fits what is shown.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A line, cut when it is long.
pub(crate) fn excerpt(line: &str) -> String {
    match line.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// The text of a file: UTF-8, without a byte order mark, without NUL.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, ReadError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_utf8(bytes, error)),
    };
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(ReadError::at(
            ReadErrorKind::Syntax,
            text,
            at,
            "The text holds a NUL character (byte 0).",
        )
        .advise("Remove the character, or write it as \\0 inside double quotes."));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn not_utf8(bytes: &[u8], error: std::str::Utf8Error) -> ReadError {
    let at = error.valid_up_to();
    let (valid, rest) = bytes.split_at(at);
    let text = std::str::from_utf8(valid).unwrap_or_default();
    // A character that has begun and lacks its end was not written yet.
    let kind =
        if error.error_len().is_none() { ReadErrorKind::Truncated } else { ReadErrorKind::NotUtf8 };
    let shown = rest.first().copied().unwrap_or_default();
    ReadError::at(kind, text, at, format!("The byte 0x{shown:02X} is no UTF-8 text."))
        .advise("Save the file as UTF-8.")
}
