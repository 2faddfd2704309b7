//! **Pure.** Determines the fields that are compared as numbers and therefore identify no row.
use super::key::is_id;
use crate::diff::Measured;
use touchstone_model::value::Value;

/// Maximum number of fields considered per row; fields beyond it are not considered for keys
/// either.
const MOST: usize = 64;

/// Returns the compared fields. For [`Measured::Numbers`] that is the last field that has a number
/// in any row, unless it is an id.
pub(super) fn names<'a>(rows: &'a [Value], measured: &'a Measured) -> Vec<&'a str> {
    match measured {
        Measured::Nothing => Vec::new(),
        Measured::Fields(fields) => fields.iter().map(String::as_str).collect(),
        Measured::Numbers => last_number(rows).into_iter().collect(),
    }
}

fn last_number(rows: &[Value]) -> Option<&str> {
    let mut fields: Vec<(&str, bool)> = Vec::new();
    for row in rows {
        for (at, (key, value)) in row.entries().iter().take(MOST).enumerate() {
            let Some(name) = key.text() else { continue };
            // Fields are nearly always at the same position.
            let there = if fields.get(at).is_some_and(|(other, _)| *other == name) {
                Some(at)
            } else {
                fields.iter().position(|(other, _)| *other == name)
            };
            let is_number = matches!(value, Value::Number(_));
            match there {
                Some(at) => fields[at].1 |= is_number,
                None if fields.len() < MOST => fields.push((name, is_number)),
                None => {}
            }
        }
    }
    fields
        .into_iter()
        .rev()
        .find(|(name, is_number)| *is_number && !is_id(name))
        .map(|(name, _)| name)
}
