//! **Pure.** Formats a report as JSON: the whole model as one document, or one document per run.
use super::page::Page;
use crate::escape::steers;
use std::fmt::Write as _;

/// Version of the schema, so that programs can detect changes.
const SHAPE: u32 = 1;

/// Formats the whole report.
pub(super) fn write_document(page: &Page) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(page)?;
    if let Some(object) = value.as_object_mut() {
        object.insert("touchstone_report".to_owned(), SHAPE.into());
    }
    let mut text = serde_json::to_string_pretty(&value)?;
    text.push('\n');
    Ok(escape_invisible(text))
}

/// Formats one line per run.
pub(super) fn lines(page: &Page) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    for run in &page.runs {
        out.push_str(&serde_json::to_string(run)?);
        out.push('\n');
    }
    Ok(escape_invisible(out))
}

/// Writes invisible characters as JSON escapes; the parsed document is identical.
fn escape_invisible(json: String) -> String {
    if !json.contains(hides) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 64);
    let mut units = [0; 2];
    for c in json.chars() {
        if hides(c) {
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns true for invisible characters that JSON does not escape. They only occur inside strings.
fn hides(c: char) -> bool {
    !c.is_ascii() && steers(c)
}
