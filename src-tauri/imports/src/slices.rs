//! **Pure.** A file of many runs, split into the texts of its runs, each of which is parsed when it
//! is needed.
use crate::pieces;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of runs of a file.
const MOST_RUNS: usize = 2_000_000;

/// Text with the places of its runs.
#[derive(Debug)]
pub struct Slices {
    text: String,
    places: Vec<Range<usize>>,
    is_cut: bool,
    /// True if there were more runs than are read.
    has_more: bool,
}

impl Slices {
    /// Splits lines of JSON. A last line that is cut off is left out.
    pub fn lines(bytes: Vec<u8>) -> Result<Slices, ReadError> {
        let text = pieces::text(bytes)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut lines: Vec<&str> = lines.take(MOST_RUNS + 1).collect();
        let has_more = lines.len() > MOST_RUNS;
        let is_cut = !has_more && lines.last().is_some_and(|line| is_cut_line(line));
        if is_cut || has_more {
            lines.pop();
        }
        let places = lines.into_iter().map(|line| pieces::range_of_part(&text, line)).collect();
        Ok(Slices { text, places, is_cut, has_more })
    }

    /// Splits the list that stands under a path of keys. An item that is cut off is left out.
    pub fn list(bytes: Vec<u8>, path: &[&str]) -> Result<Slices, ReadError> {
        Slices::lists(bytes, &[path])
    }

    /// Splits several lists of a file, one after the other, like [`Slices::list`].
    pub fn lists(bytes: Vec<u8>, paths: &[&[&str]]) -> Result<Slices, ReadError> {
        let text = pieces::text(bytes)?;
        let is_cut = !pieces::is_whole(&text);
        let mut places = Vec::new();
        for path in paths {
            let mut inner = Some(text.as_str());
            for key in *path {
                inner = inner.and_then(|inner| pieces::member(&pieces::members(inner), key));
            }
            let mut items = inner.map_or(EMPTY, pieces::items).parts;
            if is_cut && items.last().is_some_and(|item| !pieces::is_whole(item)) {
                items.pop();
            }
            places.extend(items.into_iter().map(|item| pieces::range_of_part(&text, item)));
        }
        let has_more = places.len() > MOST_RUNS;
        places.truncate(MOST_RUNS);
        Ok(Slices { text, places, is_cut, has_more })
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns true if there is no run.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a run; empty if there is none with this number.
    pub fn get(&self, at: usize) -> &str {
        self.places.get(at).and_then(|place| self.text.get(place.clone())).unwrap_or_default()
    }

    /// Parses a run. The position of an error counts from the start of the file.
    pub fn parse(&self, at: usize) -> Result<Value, ReadError> {
        json::read_python(self.get(at)).map_err(|mut error| {
            let before = self.places.get(at).and_then(|place| self.text.get(..place.start));
            let lines = before.unwrap_or_default().matches('\n').count();
            error.line = error
                .line
                .map(|line| line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)));
            error
        })
    }

    /// Returns the error of a file that is cut off, or that has more runs than are read.
    pub fn error(&self) -> Option<ReadError> {
        if self.has_more {
            let message = format!("Only the first {MOST_RUNS} runs are read.");
            return Some(ReadError::new(ReadErrorKind::TooLarge, message));
        }
        self.is_cut.then(pieces::cut_off)
    }
}

/// Names of runs, each given once.
#[derive(Debug, Default)]
pub struct Names(HashMap<String, u32>);

impl Names {
    /// Returns the name, with a number behind it if it was given before.
    pub fn add(&mut self, name: String) -> String {
        let count = self.0.entry(name.clone()).or_default();
        *count = count.saturating_add(1);
        if *count > 1 { format!("{name} ({count})") } else { name }
    }
}

const EMPTY: pieces::Pieces<&str> = pieces::Pieces { parts: Vec::new(), is_complete: true };

/// Returns true if a line begins like an object or a list and ends within it.
fn is_cut_line(line: &str) -> bool {
    match line.as_bytes().first() {
        Some(b'{') => !pieces::members(line).is_complete,
        Some(b'[') => !pieces::items(line).is_complete,
        _ => false,
    }
}

/// Returns the value of a key, parsed, from the parts of an object. `None` if it is missing, null
/// or no JSON.
pub fn parse_member(parts: &pieces::Pieces<(&str, &str)>, key: &str) -> Option<Value> {
    let text = pieces::member(parts, key)?;
    json::read_python(text).ok().filter(|value| *value != Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_cut_off_are_left_out_and_others_keep_their_place() {
        let slices = Slices::lines(b"{\"a\":1}\r\n\n {\"b\" 2}\n{\"c\":".to_vec()).unwrap();
        assert_eq!((slices.len(), slices.get(0)), (2, "{\"a\":1}"));
        assert_eq!(slices.parse(1).unwrap_err().line, Some(3));
        assert!(slices.error().is_some() && slices.parse(7).is_err());
        let whole = Slices::lines(b"{\"a\":1}\nno".to_vec()).unwrap();
        assert!(whole.len() == 2 && whole.error().is_none());
    }

    #[test]
    fn of_very_many_runs_the_first_are_read() {
        for bytes in ["1\n".repeat(MOST_RUNS + 1), format!("[1{}]", ",1".repeat(MOST_RUNS))] {
            let is_list = bytes.starts_with('[');
            let split =
                if is_list { Slices::list(bytes.into(), &[]) } else { Slices::lines(bytes.into()) };
            let slices = split.unwrap();
            assert_eq!(slices.len(), MOST_RUNS);
            assert_eq!(slices.error().map(|error| error.kind), Some(ReadErrorKind::TooLarge));
        }
    }

    #[test]
    fn the_items_of_an_inner_list_are_found_in_a_text_that_is_cut_off() {
        let text = r#"{"x": [], "r": {"v": 1, "r": [{"a": 1}, {"b": 2}]}, "z": 1}"#;
        for end in 0..=text.len() {
            let slices = Slices::list(text.as_bytes()[..end].to_vec(), &["r", "r"]).unwrap();
            let expected = usize::from(end >= 38) + usize::from(end >= 48);
            assert_eq!((slices.len(), slices.error().is_none()), (expected, end == text.len()));
        }
    }
}
