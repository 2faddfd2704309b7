//! Order of all runs, read from the SQL index of the column. Runs without a value come last in both
//! directions, and ties are ordered by path, then by id, in both directions, so descending order
//! reverses groups of equal values, not single rows.
use crate::index::{IndexError, Reader};
use rusqlite::types::{Value, ValueRef};
use touchstone_api::{Column, Sort};

/// Statement for a column: the id and the ordering value, answered by one covering index. Paths
/// may be equal, so ids come last.
pub(super) const fn statement(column: &Column) -> &'static str {
    match column {
        // Columns of one's own are ordered elsewhere.
        Column::Path | Column::Own(_) => "SELECT id, id FROM runs ORDER BY path, id",
        Column::Task => "SELECT id, task FROM runs ORDER BY task, path, id",
        Column::System => "SELECT id, system FROM runs ORDER BY system, path, id",
        Column::Model => "SELECT id, model FROM runs ORDER BY model, path, id",
        Column::Variation => "SELECT id, variation FROM runs ORDER BY variation, path, id",
        Column::Repeat => "SELECT id, repeat FROM runs ORDER BY repeat, path, id",
        Column::State => "SELECT id, state_order FROM runs ORDER BY state_order, path, id",
        Column::Turns => "SELECT id, turns FROM runs ORDER BY turns, path, id",
        Column::ToolCalls => "SELECT id, tool_calls FROM runs ORDER BY tool_calls, path, id",
        Column::Tokens => "SELECT id, tokens FROM runs ORDER BY tokens, path, id",
        Column::Cost => "SELECT id, cost FROM runs ORDER BY cost, path, id",
        Column::Seconds => "SELECT id, seconds FROM runs ORDER BY seconds, path, id",
        Column::Size => "SELECT id, size FROM runs ORDER BY size, path, id",
        Column::Modified => "SELECT id, modified_ms FROM runs ORDER BY modified_ms, path, id",
        Column::Score => "SELECT id, score FROM runs ORDER BY score, path, id",
        Column::Stored => "SELECT id, stored_share FROM runs ORDER BY stored_share, path, id",
    }
}

pub(super) fn order(index: &Reader<'_>, sort: &Sort) -> Result<Vec<i64>, IndexError> {
    let mut query = index.prepare_cached(statement(&sort.column))?;
    let mut rows = query.query([])?;
    let mut ids = Vec::new();
    if sort.column == Column::Path {
        // Reversed as a whole: there are no groups.
        while let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
        }
        if sort.descending {
            ids.reverse();
        }
        return Ok(ids);
    }
    let mut groups = Vec::new();
    let mut last = None;
    while let Some(row) = rows.next()? {
        let value = row.get_ref(1)?;
        if !last.as_ref().is_some_and(|last| ValueRef::from(last) == value) {
            groups.push((ids.len(), value == ValueRef::Null));
            last = Some(Value::try_from(value).map_err(|_| rusqlite::Error::InvalidQuery)?);
        }
        ids.push(row.get(0)?);
    }
    Ok(arrange(&ids, &groups, sort.descending))
}

/// Arranges groups of equal values. The input is ascending, with missing values first.
fn arrange(ids: &[i64], groups: &[(usize, bool)], descending: bool) -> Vec<i64> {
    let end = |at: usize| groups.get(at + 1).map_or(ids.len(), |(start, _)| *start);
    let mut ranges: Vec<_> =
        groups.iter().enumerate().map(|(at, (start, null))| (*null, *start..end(at))).collect();
    if descending {
        ranges.reverse();
    }
    ranges.sort_by_key(|(null, _)| *null);
    ranges.into_iter().flat_map(|(_, range)| &ids[range]).copied().collect()
}
