//! **Pure.** Query sets of `StableToolBench`: one file with many queries, each of which is a task.
use super::{Prompts, Suite, Task, Variation, Warning};
use crate::stabletoolbench::query;
use std::collections::HashSet;
use std::sync::Arc;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum number of warnings about duplicate queries.
const MOST_WARNINGS: usize = 20;

/// Returns true if the text of a file may be a query set.
pub(super) fn looks_like_one(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('[').map(str::trim_start);
    inside.is_some_and(|inside| {
        inside.starts_with('{')
            && ["\"query\"", "\"api_list\""].iter().any(|key| inside.contains(key))
    })
}

/// Parses a query set. The id of a task consists of the file's and the query's id. For a query
/// without an id, its position in the file is used.
pub(super) fn read(text: &str, file_id: &str) -> Result<Suite, ReadError> {
    let set = file_id.rsplit('/').next().unwrap_or(file_id);
    let tasks: Vec<Task> = query::briefs(text, set)?
        .into_iter()
        .map(|(text, brief)| Task {
            id: format!("{file_id}/{}", brief.id),
            prompts: Prompts { tool_calling: Some(text), ..Prompts::default() },
            expected_tool_calls: brief.gold_functions(),
            variations: vec![Variation::default()],
            repeat: 1,
            query: Some(Arc::new(brief)),
            ..Task::default()
        })
        .collect();
    if tasks.is_empty() {
        return Err(ReadError::new(
            ReadErrorKind::NotSuite,
            "Not a suite: no item of the list has a `query`.",
        ));
    }
    let mut seen = HashSet::new();
    let twice = tasks.iter().filter(|task| !seen.insert(task.id.as_str()));
    let warnings = twice.map(|task| {
        let id = task.query.as_ref().map_or("", |query| &query.id);
        let message = format!("The query {id} appears twice in this set; the last one counts.");
        Warning { line: None, column: None, excerpt: None, message }
    });
    let warnings = warnings.take(MOST_WARNINGS).collect();
    Ok(Suite { tasks, warnings })
}
