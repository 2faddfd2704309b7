//! **Pure.** Lines of JSON that a program appends to while it runs, and what the formats made of
//! them have in common.
use crate::format::ImportedFile;
use crate::run::{EventKind, ImportedRun, TokenCounts};
use crate::source::{Source, check_size};
use crate::text::is_blank;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// File that holds one run, or none.
#[derive(Debug)]
pub struct Session {
    /// Name of the run in the file.
    pub member: Option<String>,
    /// The run.
    pub run: Option<ImportedRun>,
    /// Error of the file around its run.
    pub error: Option<ReadError>,
}

impl ImportedFile for Session {
    fn len(&self) -> usize {
        usize::from(self.run.is_some())
    }

    fn member(&self, _at: usize) -> Option<String> {
        self.member.clone()
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        self.run.as_ref().filter(|_| at == 0).cloned().ok_or_else(no_such_run)
    }

    fn take(&mut self, at: usize) -> Result<ImportedRun, ReadError> {
        self.run.take_if(|_| at == 0).ok_or_else(no_such_run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.error.clone()
    }
}

fn no_such_run() -> ReadError {
    let kind = touchstone_model::error::ReadErrorKind::NotTranscript;
    ReadError::new(kind, "The file has no run with this number.")
}

/// Returns the lines of a file that are not blank and are text, without a byte order mark.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| std::str::from_utf8(line).ok())
        .map(str::trim)
        .filter(|line| !line.is_empty())
}

/// Parses each line that is a JSON object. Others are counted: the second part of the result. A
/// last line that is cut off does not count, since the program may still be writing it.
pub fn objects(bytes: &[u8]) -> (impl Iterator<Item = Value>, usize) {
    let parse = |line| parse(line).filter(|value| matches!(value, Value::Map(_)));
    let starts_object = |line: &[u8]| line.trim_ascii_start().starts_with(b"{");
    let looks_whole = |line: &[u8]| starts_object(line) && line.trim_ascii_end().ends_with(b"}");
    // The first line may begin with a byte order mark.
    let is_whole = |at: usize, line| looks_whole(line) || (at == 0 && line.starts_with(b"\xef"));
    let all = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (mut odd, mut last) = (0, None);
    for (at, line) in all.enumerate() {
        let is_odd = !is_whole(at, line);
        odd += usize::from(is_odd);
        last = Some((is_odd, line));
    }
    let is_growing = |line: &[u8]| !bytes.ends_with(b"\n") && starts_object(line);
    if last.is_some_and(|(is_odd, line)| is_odd && is_growing(line)) {
        odd -= 1;
    }
    (lines(bytes).filter_map(parse), odd)
}

/// Number of bytes that are read at once.
const PIECE: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Passes each line of a file that is a JSON object to `take`, as [`objects`] does, and returns the
/// number of others. Of the file, only a piece and one line are in memory.
pub fn for_each_object(
    source: &dyn Source,
    mut take: impl FnMut(Value),
) -> Result<usize, ReadError> {
    check_size(source)?;
    let mut odd = 0;
    let mut add = |line: &[u8], is_ended: bool| {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let (is_object, is_whole) = (line.starts_with(b"{"), line.ends_with(b"}"));
        let is_growing = !is_ended && is_object && !is_whole;
        odd += usize::from(!(is_object && is_whole || is_growing));
        let value = std::str::from_utf8(line).ok().and_then(parse);
        if let Some(value) = value.filter(|value| matches!(value, Value::Map(_))) {
            take(value);
        }
    };
    let (mut offset, mut unfinished, mut piece) = (0, Vec::new(), vec![0; PIECE]);
    loop {
        let count = source.read_at(offset, &mut piece)?;
        let mut bytes = piece.get(..count).unwrap_or_default();
        if offset == 0 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        if count == 0 {
            break;
        }
        offset += count as u64;
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            bytes = &rest[1..];
            if unfinished.is_empty() {
                add(line, true);
            } else {
                unfinished.extend_from_slice(line);
                add(&unfinished, true);
                unfinished.clear();
            }
        }
        unfinished.extend_from_slice(bytes);
    }
    add(&unfinished, false);
    Ok(odd)
}

/// Parses a JSON text as other programs write it: with numbers that only Python knows, keys that
/// occur twice, or halves of surrogate pairs, which are replaced.
pub fn parse(text: &str) -> Option<Value> {
    let whole = |text: &str| json::read_python(text).ok().or_else(|| json::embedded(text));
    whole(text).or_else(|| whole(&mend_surrogates(text)?))
}

/// Replaces escapes of surrogates that have no other half. Returns `None` if there are none.
fn mend_surrogates(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(stop) = text.get(at..)?.find('\\') {
        at += stop;
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str(text.get(from..at)?);
                mended.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            // An escaped character of several bytes is no JSON.
            _ => at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8(),
        }
    }
    (from > 0).then(|| mended + &text[from..])
}

/// Returns true if a file name ends in this extension.
pub fn has_extension(name: &str, extension: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// Returns a text unless it is blank.
pub fn non_blank(text: Option<&str>) -> Option<String> {
    text.filter(|text| !is_blank(text)).map(str::to_owned)
}

/// Returns the seconds from one time to another; `None` if one of them is no time, or they are in
/// the wrong order.
pub fn seconds_between(first: &str, last: &str) -> Option<f64> {
    let seconds = timestamps::seconds(last)? - timestamps::seconds(first)?;
    is_figure(seconds).then_some(seconds)
}

/// Returns true for a number that can be a duration or a cost.
pub fn is_figure(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// Returns the number at a path, if it can be a duration or a cost.
pub fn figure(value: &Value, path: &[&str]) -> Option<f64> {
    value.at_path(path)?.number().filter(|number| is_figure(*number))
}

/// Adds to a sum that is unknown until something is added.
pub fn add(sum: &mut Option<u64>, number: Option<u64>) {
    if let Some(number) = number {
        *sum = Some(sum.unwrap_or_default().saturating_add(number));
    }
}

/// Adds a fact, if there is one.
pub fn push_fact(facts: &mut Vec<(String, Value)>, key: &str, value: Option<&Value>) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Text(text) => is_blank(text),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if let Some(value) = value.filter(|value| !is_empty(value)) {
        facts.push((key.to_owned(), value.clone()));
    }
}

/// Creates token counts from the numbers under two keys.
pub fn token_counts(usage: &Value, input: &str, output: &str, total: &str) -> Option<TokenCounts> {
    let count = |key: &str| usage.get(key).and_then(Value::whole_number);
    TokenCounts::new(count(input), count(output), count(total))
}

/// Fills the answer with the last text of the model, unless the format names another.
pub fn finish(mut run: ImportedRun) -> ImportedRun {
    run.answer = run.answer.filter(|answer| !is_blank(answer));
    if run.answer.is_none() {
        run.answer = run.last_text().map(str::to_owned);
    }
    run
}

/// Returns true if every call among the events has a result with its id.
pub fn all_answered<'a>(events: impl IntoIterator<Item = &'a EventKind>) -> bool {
    let (mut calls, mut results) = (Vec::new(), std::collections::HashSet::new());
    for event in events {
        match event {
            EventKind::Call { id, .. } => calls.push(id),
            EventKind::Result { id, .. } => {
                results.insert(id);
            }
            _ => {}
        }
    }
    calls.into_iter().all(|call| results.contains(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_objects_are_skipped_and_half_a_last_line_is_no_fault() {
        let read = |text: &str| {
            let (objects, odd) = objects(text.as_bytes());
            let whole = (objects.count(), odd);
            let mut count = 0;
            let odd = for_each_object(&text.as_bytes().to_vec(), |_| count += 1).unwrap();
            assert_eq!(whole, (count, odd), "piece by piece: {text}");
            whole
        };
        assert_eq!(read("\u{feff}{\"a\":1}\r\n\r\n42\n\"x\"\n[1]\n{\"b\":NaN}\n"), (2, 3));
        assert_eq!(read("{\"a\":1}\n{\"b\":2}"), (2, 0));
        assert_eq!(read("{\"a\":1}\n{\"b\":\"tex"), (1, 0));
        assert_eq!(read("{\"a\":1}\n{\"b\":\"tex\n{\"c\":1}\n"), (2, 1));
    }

    #[test]
    fn lines_are_whole_across_the_pieces_that_are_read() {
        let long = "x".repeat(2 * PIECE);
        let text = format!("{{\"a\":1}}\n{{\"a\":\"{long}\"}}\n{{\"a\":3}}");
        let mut lengths = Vec::new();
        let odd = for_each_object(&text.into_bytes(), |value| {
            lengths.push(value.text_at("a").map_or(0, str::len));
        });
        assert_eq!((odd, lengths), (Ok(0), vec![0, 2 * PIECE, 0]));
    }

    #[test]
    fn a_run_that_is_taken_is_not_copied() {
        let run = ImportedRun::default();
        let mut session = Session { member: None, run: Some(run), error: None };
        assert!(session.read(0).is_ok() && session.take(1).is_err());
        assert!(session.take(0).is_ok() && session.take(0).is_err());
    }

    #[test]
    fn half_a_surrogate_pair_and_keys_given_twice_are_read() {
        let text = |json: &str| parse(json).unwrap().text_at("a").unwrap().to_owned();
        assert_eq!(text(r#"{"a":"x\ud83dy\\ud83d\ud83d\ude00"}"#), "x\u{fffd}y\\ud83d\u{1f600}");
        assert_eq!(text(r#"{"a":"x","a":"y"}"#), "x");
        for odd in ["\\", "\\é", "{\"a\":\"\\ud8", "{\"\\ud800", "\\ud800\\"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn times_in_the_wrong_order_have_no_duration() {
        let between = |a, b| seconds_between(a, b);
        assert_eq!(between("2026-01-01T00:00:00Z", "2026-01-01T00:00:01.5Z"), Some(1.5));
        assert_eq!(between("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z"), None);
        assert_eq!(between("x", "2026-01-01T00:00:00Z"), None);
    }
}
