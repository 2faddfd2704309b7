//! **Pure.** Errors of evaluators, stored as separate entries next to the rows of a results file.
use super::split::{self, Cursor, Next};
use super::value;
use std::collections::HashMap;
use std::ops::Range;
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// Key of the list of errors.
pub(super) const KEY: &str = "errors";
/// Maximum number of entries that are read.
const MOST: usize = 1_000_000;

/// Names of evaluators with their error messages, by row number.
#[derive(Debug, Default)]
pub(super) struct Errors(HashMap<usize, Vec<(String, String)>>);

impl Errors {
    /// Reads the list one entry at a time. Entries of another form are skipped.
    pub(super) fn read(bytes: &[u8], span: &Range<usize>) -> Self {
        let mut rows: HashMap<usize, Vec<(String, String)>> = HashMap::new();
        for next in split::list(Cursor::within(bytes, span)).into_iter().flatten().take(MOST) {
            let Next::Entry { value: span, .. } = next else { break };
            if let Some((row, evaluator, why)) = value(&bytes[span]).ok().as_ref().and_then(entry) {
                rows.entry(row).or_default().push((evaluator, why));
            }
        }
        Self(rows)
    }

    /// Returns the errors of the row at an index, from 0.
    pub(super) fn for_row(&self, at: usize) -> &[(String, String)] {
        at.checked_add(1).and_then(|row| self.0.get(&row)).map_or(&[], Vec::as_slice)
    }
}

fn entry(value: &Value) -> Option<(usize, String, String)> {
    let text = |key: &str| {
        value.get(key)?.text().filter(|text| !text.trim().is_empty()).map(str::to_owned)
    };
    Some((value.get("row")?.word()?.parse().ok()?, text("evaluator")?, text("why")?))
}
