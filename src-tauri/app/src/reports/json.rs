//! **Pure.** A report as JSON: the whole model as one document, or one document for each run.
use super::page::Page;
use crate::visible::steers;
use std::fmt::Write as _;

/// Names the shape, so that a program can tell when it changes.
const SHAPE: u32 = 1;

/// The whole report.
pub(super) fn whole(page: &Page) -> Result<String, serde_json::Error> {
    let mut value = serde_json::to_value(page)?;
    if let Some(object) = value.as_object_mut() {
        object.insert("touchstone_report".to_owned(), SHAPE.into());
    }
    let mut text = serde_json::to_string_pretty(&value)?;
    text.push('\n');
    Ok(shown(text))
}

/// One line for each run.
pub(super) fn lines(page: &Page) -> Result<String, serde_json::Error> {
    let mut out = String::new();
    for run in &page.runs {
        out.push_str(&serde_json::to_string(run)?);
        out.push('\n');
    }
    Ok(shown(out))
}

/// The same document with what cannot be seen written as escapes, which programs read as what it
/// is.
fn shown(json: String) -> String {
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

/// What JSON lets stand as it is although nobody sees it. All of it is within strings.
fn hides(c: char) -> bool {
    !c.is_ascii() && steers(c)
}
