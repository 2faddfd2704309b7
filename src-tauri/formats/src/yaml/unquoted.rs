//! **Pure.** Texts that stand without quotes in a file and that we would quote: `2024-01-01`, `no`, `1_000`. Other readers take them
//! for dates, switches and numbers, and a file that is written again has to say the same to them.
use super::quoting::needs_quotes;
use super::tree::Item;
use crate::node::{Node, Shape};
use crate::value::Value;

/// Such texts below a node, in order, and whether each stood without quotes.
pub(crate) fn of_item(item: Item<'_>) -> Vec<(String, bool)> {
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
                found.push((text.to_owned(), item.is_unquoted()));
            }
        }
    }
}

/// Such texts in a value, in the same order.
pub(crate) fn of_value<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
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
