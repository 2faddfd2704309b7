//! **Pure.** Tracks texts that are unquoted in a file although the writer would quote them:
//! `2024-01-01`, `no`, `1_000`. Other parsers read them as dates, booleans and numbers, and a file
//! that is rewritten must mean the same to those parsers.
use super::events;
use super::quoting::needs_quotes;
use super::tree::Item;
use crate::node::{Node, Shape};
use crate::value::Value;

/// Returns the texts below a node that the writer would quote, in order, with true for those that
/// were unquoted.
pub fn of_item(item: Item<'_>) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    gather(item, &mut found);
    found
}

fn gather(item: Item<'_>, found: &mut Vec<(String, bool)>) {
    match item.shape() {
        Shape::Map => item.entries().for_each(|(key, value)| {
            gather(key, found);
            gather(value, found);
        }),
        Shape::List => item.items().for_each(|item| gather(item, found)),
        Shape::Scalar(_) => {
            if let Some(text) = item.text().filter(|text| needs_quotes(text)) {
                found.push((text.to_owned(), item.is_unquoted() && stands_plain(text)));
            }
        }
    }
}

/// Returns true if a text means itself when it is unquoted, both as a key and as a value. A text
/// that had quotes or a tag such as `!!int` may not.
fn stands_plain(text: &str) -> bool {
    let written = format!("{text}: {text}\n");
    let Ok(tree) = events::parse(&written) else { return false };
    let root = tree.root();
    let is_it = |item: Item<'_>| item.is_unquoted() && item.text() == Some(text);
    root.entries().count() == 1 && root.entries().all(|(key, value)| is_it(key) && is_it(value))
}

/// Collects the texts in a value that the writer would quote, in the same order.
pub fn of_value<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::Map(entries) => entries.iter().for_each(|(key, value)| {
            of_value(key, found);
            of_value(value, found);
        }),
        Value::List(items) => items.iter().for_each(|item| of_value(item, found)),
        Value::Text(text) if needs_quotes(text) => found.push(text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_stand_without_quotes_never_stood_without() {
        let read = |text: &str| of_item(events::parse(text).unwrap().root());
        for text in ["a: b", "a #b", "- a", "[a", "{a: b}", "*a", "!a", "&a b", "# a"] {
            for tag in ["int", "float", "bool", "null"] {
                let found = read(&format!("k: !!{tag} '{text}'"));
                assert_eq!(
                    found.iter().filter(|(_, unquoted)| *unquoted).count(),
                    0,
                    "!!{tag} {text}: {found:?}"
                );
            }
        }
        for text in ["2024-01-01", "no", "1_000"] {
            assert_eq!(read(&format!("k: {text}")), [(text.to_owned(), true)]);
            assert_eq!(read(&format!("k: '{text}'")), [(text.to_owned(), false)]);
        }
    }
}
