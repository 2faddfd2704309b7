//! **Pure.** Query sets of `StableToolBench`: one file with many questions, each a task.
use super::{Prompts, Suite, Task, Variation};
use crate::error::{ReadError, ReadErrorKind};
use crate::stabletoolbench::query;
use std::sync::Arc;

/// True for the text of a file that may be a query set.
pub(super) fn looks_like_one(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('[').map(str::trim_start);
    inside.is_some_and(|inside| {
        inside.starts_with('{') && ["\"query\"", "\"api_list\""].iter().any(|key| inside.contains(key))
    })
}

/// Reads a query set; the id of a task is the file's and the query's. Without an id of its own, the place in the file is the query's.
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
        return Err(ReadError::new(ReadErrorKind::NotSuite, "Not a suite: no item of the list has a `query`."));
    }
    Ok(Suite { tasks, warnings: Vec::new() })
}
