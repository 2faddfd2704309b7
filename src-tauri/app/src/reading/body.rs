//! **Pure.** A value as a part on the page: text, table or tree, and never more of it than fits.
use super::PartId;
use super::pieces::{Budget, text_of};
use super::table::Table;
use touchstone_api::{Body, Language, Part};
use touchstone_formats::json;
use touchstone_formats::run as told;
use touchstone_formats::value::Value;

/// What is shown of a text before somebody asks for more.
const MAX_TEXT: usize = 8 << 10;
/// A tree is shown up to this size; a longer value begins as text.
const MAX_VALUE: usize = 64 << 10;
/// Labels are names of parameters, which models write.
const MAX_LABEL: usize = 100;
/// What stands around a part in JSON.
const PART_FRAME: usize = 160;

/// A part with as much of its body as fits.
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
        // The text of a table is long, and nobody sees it here.
        value => {
            if let Some(table) = Table::of(value).and_then(|table| table.body(budget)) {
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

/// The same name for the same language.
pub(super) fn language(language: told::Language) -> Language {
    match language {
        told::Language::Plain => Language::Plain,
        told::Language::Markdown => Language::Markdown,
        told::Language::Sql => Language::Sql,
        told::Language::Python => Language::Python,
        told::Language::Json => Language::Json,
        told::Language::Yaml => Language::Yaml,
    }
}
