//! **Pure.** Query sets of `StableToolBench`: one file with many questions. Which calls are right is decided by whoever knows the
//! names of its tools; here `api_list` and `relevant APIs` are kept as they are.
use super::{Prompts, Suite, Task, Variation};
use crate::error::{ReadError, ReadErrorKind};
use crate::json;
use crate::node::Node;
use crate::value::Value;

/// True for the text of a file that may be a query set.
pub(super) fn looks_like_one(text: &str) -> bool {
    text.trim_start().starts_with('[') && ["\"query\"", "\"api_list\""].iter().any(|key| text.contains(key))
}

/// Reads a query set; the id of a task is the file's and the query's.
pub(super) fn read(text: &str, file_id: &str) -> Result<Suite, ReadError> {
    let rows = json::read(text)?;
    let tasks: Vec<Task> = rows.items().iter().enumerate().filter_map(|(at, row)| task(file_id, at, row)).collect();
    if tasks.is_empty() {
        return Err(ReadError::new(ReadErrorKind::NotSuite, "Not a suite: no item of the list has a `query`."));
    }
    Ok(Suite { tasks, warnings: Vec::new() })
}

/// Without `query_id` the place in the file is the id.
fn task(file_id: &str, at: usize, row: &Value) -> Option<Task> {
    let query = row.get("query")?.text()?.to_owned();
    let id = row.get("query_id").and_then(Node::word).map_or_else(|| at.to_string(), str::to_owned);
    let others = row.entries().iter().filter_map(|(key, value)| Some((key.text()?, value)));
    let extra = others.filter(|(key, _)| !matches!(*key, "query" | "query_id"));
    Some(Task {
        id: format!("{file_id}/{id}"),
        prompts: Prompts { tool_calling: Some(query), ..Prompts::default() },
        variations: vec![Variation::default()],
        repeat: 1,
        extra: extra.map(|(key, value)| (key.to_owned(), value.clone())).collect(),
        ..Task::default()
    })
}
