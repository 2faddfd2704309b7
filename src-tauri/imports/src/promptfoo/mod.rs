//! **Pure.** Result files of promptfoo: JSON of versions 2 and 3, JSONL, CSV, and its database.
mod database;
mod naming;
mod results;
mod table;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::sessions::has_extension;
use crate::source::{Folder, Input};
use crate::sqlite;
use touchstone_model::error::ReadError;

/// Result files of promptfoo.
#[derive(Debug, Clone, Copy)]
pub struct Promptfoo;

impl Format for Promptfoo {
    fn name(&self) -> &'static str {
        "promptfoo"
    }

    fn title(&self) -> &'static str {
        "promptfoo"
    }

    fn files(&self) -> &'static str {
        "*.json, *.jsonl, *.csv, promptfoo.db"
    }

    fn documentation(&self) -> &'static str {
        include_str!("promptfoo.md")
    }

    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        if is_database(path) {
            return start.starts_with(sqlite::MAGIC).then_some(Detected::Runs);
        }
        if PARTS.iter().any(|end| path.strip_suffix(end).is_some_and(is_database)) {
            return Some(Detected::NoRun("It is a part of promptfoo's database.".to_owned()));
        }
        let is_results = match head {
            Some(head) => is_summary(head) || (is_line(head) && !head.is_list),
            None => table::is_table(path, start),
        };
        is_results.then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        if is_database(input.path) {
            return Ok(Box::new(database::Stored::open(input)?));
        }
        let bytes = input.read_all()?;
        let mut start = [0; crate::format::HEAD_BYTES];
        let count = input.source.read_at(0, &mut start)?;
        Ok(match Head::read(&start[..count]) {
            Some(head) if is_summary(&head) => Box::new(results::Results::read_summary(bytes)?),
            Some(_) => Box::new(results::Results::read_lines(bytes)?),
            None => Box::new(table::Table::read(bytes)?),
        })
    }

    fn owner(&self, path: &str, _folder: &dyn Folder) -> Option<String> {
        // The third part holds no rows.
        let database = PARTS[..2].iter().find_map(|end| path.strip_suffix(end))?;
        is_database(database).then(|| database.to_owned())
    }
}

/// Endings of the files that SQLite keeps beside a database.
const PARTS: [&str; 3] = ["-wal", "-journal", "-shm"];

/// Returns true for the name of promptfoo's database, or of a copy: `promptfoo-old.db`.
fn is_database(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("promptfoo") && has_extension(name, "db")
}

/// Returns true for a JSON file with the results of an evaluation.
fn is_summary(head: &Head) -> bool {
    let follows = ["timestamp", "prompts", "results", "stats"];
    !head.is_list
        && head.has_inner("results", "version")
        && follows.iter().any(|key| head.has_inner("results", key))
}

/// Returns true for a line with one result. Lines that are longer than the head are known by what
/// stands first: as exported, or as written while the evaluation ran.
fn is_line(head: &Head) -> bool {
    let grading = head.has(&["cost", "gradingResult"])
        && (head.has_inner("gradingResult", "componentResults")
            || head.has_inner("gradingResult", "pass"));
    let running = head.has(&["provider", "prompt", "vars"])
        && head.has_inner("provider", "id")
        && head.has_inner("prompt", "raw")
        && (head.keys.len() < 4 || head.has(&["response"]) || head.has(&["failureReason"]));
    head.has(&["promptIdx", "testIdx", "testCase"]) || grading || running
}

#[cfg(test)]
mod tests;
