//! **Pure.** Errors of reading a file: position, excerpt of the line, and advice on the fix.

/// Error of a file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// Kind of error.
    pub kind: ReadErrorKind,
    /// Message, one sentence.
    pub message: String,
    /// Line number, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Text of the line, cut when it is long.
    pub excerpt: Option<String>,
    /// Advice on the change that fixes the file.
    pub advice: Option<String>,
}

/// Kinds of [`ReadError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReadErrorKind {
    /// Violates the syntax of its format.
    Syntax,
    /// A key occurs twice in one map.
    Duplicate,
    /// Nested more deeply than the readers allow.
    TooDeep,
    /// Larger than the limit of a reader.
    TooLarge,
    /// Ends too early: the file is empty, half written or cut off.
    Truncated,
    /// Bytes that are not valid UTF-8.
    NotUtf8,
    /// Well-formed, but not a transcript.
    NotTranscript,
    /// Well-formed, but not a suite.
    NotSuite,
    /// Well-formed, but a key has an invalid value.
    BadValue,
}

/// Maximum length of an excerpt, in characters.
const EXCERPT: usize = 200;

impl ReadError {
    /// Returns an error about the file as a whole, without a position.
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

    /// Returns an error at a byte offset of the text, with line, column and excerpt.
    pub fn at_offset(
        kind: ReadErrorKind,
        text: &str,
        offset: usize,
        message: impl Into<String>,
    ) -> Self {
        let place = Position::from_offset(text, offset);
        let excerpt = Some(excerpt(place.content));
        ReadError {
            line: Some(place.line),
            column: Some(place.column),
            excerpt,
            ..Self::new(kind, message)
        }
    }

    /// Adds advice to the error.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// Position of a byte in a text, as line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position<'a> {
    /// Line number, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text of the line, without its line end.
    pub content: &'a str,
}

impl<'a> Position<'a> {
    /// Returns the position of a byte offset. An offset past the end counts as the end, and one
    /// inside a character as the start of that character.
    pub fn from_offset(text: &'a str, offset: usize) -> Self {
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
        Position { line: count(line), column: count(column), content }
    }
}

/// Converts a count to `u32`, saturating at the maximum.
pub fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Returns the line, cut after [`EXCERPT`] characters.
pub fn excerpt(line: &str) -> String {
    match line.char_indices().nth(EXCERPT) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Returns the text of a file, without a byte order mark. Fails if the bytes are not UTF-8 or
/// contain a NUL character.
pub fn text_of(bytes: &[u8]) -> Result<&str, ReadError> {
    if is_utf16(bytes) {
        let message = "The file is UTF-16, not UTF-8.";
        let error = ReadError { line: Some(1), ..ReadError::new(ReadErrorKind::NotUtf8, message) };
        return Err(error.advise("Save the file as UTF-8."));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return Err(not_utf8(bytes, error)),
    };
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(ReadError::at_offset(
            ReadErrorKind::Syntax,
            text,
            at,
            "The text holds a NUL character (byte 0).",
        )
        .advise("Remove the character, or write it as \\0 inside double quotes."));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns true for the marks of UTF-16, and for text in which every second byte is 0.
fn is_utf16(bytes: &[u8]) -> bool {
    let is_zero = |at: usize| bytes.get(at) == Some(&0);
    let has = |zeros: [usize; 2], others: [usize; 2]| {
        zeros.into_iter().all(is_zero)
            && others.into_iter().all(|at| bytes.get(at).is_some_and(|byte| *byte != 0))
    };
    matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
        || has([1, 3], [0, 2])
        || has([0, 2], [1, 3])
}

fn not_utf8(bytes: &[u8], error: std::str::Utf8Error) -> ReadError {
    let at = error.valid_up_to();
    let (valid, rest) = bytes.split_at(at);
    let text = std::str::from_utf8(valid).unwrap_or_default();
    // An incomplete character at the end means that the file is still being written.
    let kind =
        if error.error_len().is_none() { ReadErrorKind::Truncated } else { ReadErrorKind::NotUtf8 };
    let shown = rest.first().copied().unwrap_or_default();
    ReadError::at_offset(kind, text, at, format!("The byte 0x{shown:02X} is not UTF-8 text."))
        .advise("Save the file as UTF-8.")
}
