//! **Pure.** Converts a value to a part on the page: text, table or tree, cut to what fits.
use super::PartId;
use super::pieces::{Budget, text_of};
use super::table::Table;
use touchstone_api::{Body, Language, Part};
use touchstone_model::json;
use touchstone_model::run as told;
use touchstone_model::value::Value;

/// Maximum bytes of a text shown before the page requests more.
const MAX_TEXT: usize = 8 << 10;
/// Maximum bytes of a value sent as a tree; a longer value is cut and shown as text.
const MAX_VALUE: usize = 64 << 10;
/// Maximum bytes of a label. Labels are parameter names, which models write.
const MAX_LABEL: usize = 100;
/// Estimated JSON overhead of a part, in bytes.
const PART_FRAME: usize = 160;

/// Builds a part with the beginning of its body that fits the budget.
pub(super) fn part(
    id: PartId,
    label: &str,
    language: Language,
    value: &Value,
    budget: &mut Budget,
) -> Part {
    budget.spend(PART_FRAME);
    let label = budget.name(label, MAX_LABEL);
    let (body, bytes) = match value {
        Value::Text(text) => {
            let shown = budget.fit(text, MAX_TEXT);
            (
                Body::Text { language, text: shown.to_owned(), whole: shown.len() == text.len() },
                text.len(),
            )
        }
        // The size is computed directly: the text of a table is long and not needed here.
        value => {
            if let Some(table) = Table::from_value(value).and_then(|table| table.body(budget)) {
                (table, json::length(value, true))
            } else {
                let text = text_of(value);
                let shown = budget.fit(&text, MAX_VALUE);
                (
                    Body::Value { text: shown.to_owned(), whole: shown.len() == text.len() },
                    text.len(),
                )
            }
        }
    };
    Part { id: id.to_string(), label, bytes: bytes as u64, body }
}

/// Converts the language of the parsed run to that of the page.
pub(super) fn language(language: told::Language) -> Language {
    match language {
        told::Language::Plain => Language::Plain,
        told::Language::Markdown => Language::Markdown,
        told::Language::Sql => Language::Sql,
        told::Language::Python => Language::Python,
        told::Language::Json => Language::Json,
        told::Language::Yaml => Language::Yaml,
        told::Language::Media => Language::Media,
    }
}
