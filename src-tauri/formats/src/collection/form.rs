//! **Pure.** Detects the form of a file from its first bytes.
use super::split::{Cursor, Entries, Next, list, object};

/// Forms of files that hold many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Converted answers: `{"<id>": {query, available_tools, answer}}`.
    Converted,
    /// Verdicts: `{"<id>": {query, tool_names, answer_steps, final_step, is_solved}}`.
    PassRate,
    /// Verdicts as a tab-separated table.
    PassRateTable,
    /// Evaluations: `{metadata, summary, results: [...]}`.
    Results,
    /// Output of `evaluate()` of azure-ai-evaluation: `{rows: [{"inputs.…", "outputs.…"}], metrics,
    /// studio_url}`.
    Rows,
    /// Rows of azure-ai-evaluation, one per line.
    RowLines,
}

/// Maximum number of members that are inspected.
const LOOKED_AT: usize = 20;
/// Columns that identify a table of verdicts.
const COLUMNS: [&str; 3] = ["query", "query_id", "is_solved"];

/// Detects the form of a file from its first bytes; a few thousand are enough. Returns `None` for
/// other files.
pub fn form_of(head: &[u8]) -> Option<Form> {
    if columns(head).is_some_and(|names| COLUMNS.iter().all(|name| names.contains(name))) {
        return Some(Form::PassRateTable);
    }
    let is_column = |key: &str| key.starts_with("inputs.") || key.starts_with("outputs.");
    entries(head)?.find_map(|(key, inner)| match key {
        "metadata" if has(&inner, &["framework", "agent_name", "evaluator_model", "test_set"]) => {
            Some(Form::Results)
        }
        "results" if has(&inner, &["query_id"]) => Some(Form::Results),
        "rows" if inner.iter().any(|key| is_column(key)) => Some(Form::Rows),
        key if is_column(key) => Some(Form::RowLines),
        _ if !has(&inner, &["query"]) => None,
        _ if has(&inner, &["available_tools", "answer"]) => Some(Form::Converted),
        _ if has(&inner, &["tool_names", "answer_steps", "is_solved"]) => Some(Form::PassRate),
        _ => None,
    })
}

/// Explains that a file of this family holds no runs, if it is of a kind that is often stored next
/// to files with runs.
pub fn explain_no_runs(head: &[u8]) -> Option<&'static str> {
    let rounds = || entries(head)?.find(|(_, inner)| has(inner, &["round_0"]));
    let preferred = columns(head).is_some_and(|names| names.contains(&"preference_label"))
        || rounds().is_some();
    preferred.then_some(
        "A preference between two answers, not a run. Open the answers themselves to compare them.",
    )
}

fn has(inner: &[&str], names: &[&str]) -> bool {
    inner.iter().any(|key| names.contains(key))
}

/// Returns the names in the first line if it is the header of a tab-separated table.
fn columns(head: &[u8]) -> Option<Vec<&str>> {
    let first = head.split(|byte| *byte == b'\n').next()?;
    let text =
        std::str::from_utf8(first).ok()?.trim_start_matches('\u{feff}').trim_end_matches('\r');
    text.contains('\t').then(|| text.split('\t').collect())
}

/// Returns the top-level keys, each with the keys inside its value; for a list, those of its first
/// item.
fn entries(head: &[u8]) -> Option<impl Iterator<Item = (&str, Vec<&str>)>> {
    let named = |key: std::ops::Range<usize>| {
        let inside = head.get(key.start + 1..key.end.checked_sub(1)?)?;
        std::str::from_utf8(inside).ok()
    };
    let keys = move |entries: Entries<'_>| {
        let key = |next| match next {
            Next::Entry { key, .. } | Next::Broken { key, .. } => named(key),
        };
        entries.filter_map(key).take(LOOKED_AT).collect::<Vec<_>>()
    };
    let whole = |start| start..head.len();
    Some(object(Cursor::new(head))?.take(LOOKED_AT).filter_map(move |next| {
        let (key, start) = match next {
            Next::Entry { key, value } => (key, value.start),
            Next::Broken { key, from } => (key, from),
        };
        let at = Cursor::within(head, &whole(start));
        let first = list(at).and_then(|mut items| match items.next()? {
            Next::Entry { value, .. } => Some(value.start),
            Next::Broken { from, .. } => Some(from),
        });
        let inner = object(first.map_or(at, |start| Cursor::within(head, &whole(start))));
        Some((named(key)?, inner.map(keys).unwrap_or_default()))
    }))
}
