//! Text that tasks are written from: of a file, or at hand. Reads the file, and makes paragraphs of
//! rows.
use crate::error::AppError;
use crate::text_file::{self, unreadable};
use std::path::{Path, PathBuf};
use touchstone_imports::csv;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum size of a file to write tasks from.
const MOST_BYTES: u64 = 16 << 20;

/// Text to write tasks from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// File: prose, or rows as CSV or JSON Lines.
    File(PathBuf),
    /// Text that is at hand, with the name of the file that it is from; the name may be empty.
    Text {
        /// Name of the file.
        name: String,
        /// Its content.
        text: String,
    },
}

impl Default for Source {
    fn default() -> Self {
        Self::File(PathBuf::new())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl Source {
    /// Returns the name of the file; empty if the text is from no file.
    pub(super) fn file_name(&self) -> &Path {
        let path = match self {
            Self::File(path) => path.as_path(),
            Self::Text { name, .. } => Path::new(name),
        };
        path.file_name().map_or(Path::new(""), Path::new)
    }
}

/// Returns the text; rows of CSV and JSON Lines become paragraphs.
pub(super) fn text_of(from: &Source) -> Result<String, AppError> {
    let read;
    let text = match from {
        Source::File(path) => {
            read = text_file::read(path, MOST_BYTES)?;
            &read
        }
        Source::Text { text, .. } => text,
    };
    let text = text.trim_start_matches('\u{feff}');
    let path = from.file_name();
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    match extension.as_deref().and_then(|end| end.to_str()) {
        Some("csv") => Ok(rows_of_csv(text).join("\n\n")),
        Some("jsonl" | "ndjson") => {
            rows_of_json(text).map(|rows| rows.join("\n\n")).map_err(|why| unreadable(path, why))
        }
        _ => Ok(text.to_owned()),
    }
}

fn rows_of_csv(text: &str) -> Vec<String> {
    let (records, _) = csv::records(text);
    let mut records =
        records.into_iter().map(|place| csv::fields(text.get(place).unwrap_or_default()));
    let names = records.next().unwrap_or_default();
    let row = |fields: Vec<String>| {
        let line = |(name, value): (&String, String)| format!("{name}: {value}");
        names.iter().zip(fields).map(line).collect::<Vec<_>>().join("\n")
    };
    records.map(row).collect()
}

fn rows_of_json(text: &str) -> Result<Vec<String>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line): (usize, &str)| {
        let value = json::read(line)
            .map_err(|error| format!("line {} is not JSON: {}", number + 1, error.message))?;
        let word = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            other => json::write(other, false),
        };
        Ok(match &value {
            Value::Map(entries) => {
                let line =
                    |(name, value): &(Value, Value)| format!("{}: {}", word(name), word(value));
                entries.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            other => word(other),
        })
    };
    lines.map(row).collect()
}
