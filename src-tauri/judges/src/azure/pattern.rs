//! **Pure.** Templates of graders with placeholders for columns of the row: `{{item.response}}`.
//! Inserted values are never parsed for placeholders.
use super::numbers::is_missing;
use super::{Failure, Inputs};
use touchstone_model::json;
use touchstone_model::value::Value;

/// A parsed template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Words(String),
    /// Path into the row.
    Item(String),
    /// Placeholder for a sampled model output in the service. Always empty, because nothing is
    /// sampled here.
    Sample,
}

impl Pattern {
    /// Parses a template. The error is a sentence.
    pub fn read(text: &str) -> Result<Self, String> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some(at) = rest.find("{{") {
            let Some(length) = rest[at..].find("}}") else { break };
            let name = rest[at + 2..at + length].trim();
            let piece = match name.split_once('.') {
                Some(("item", column)) if !column.is_empty() => Piece::Item(column.to_owned()),
                Some(("sample", _)) => Piece::Sample,
                _ => {
                    return Err(format!(
                        "`{{{{{name}}}}}` names nothing; columns are written as `{{{{item.column}}}}`."
                    ));
                }
            };
            pieces.extend([Piece::Words(rest[..at].to_owned()), piece]);
            rest = &rest[at + length + 2..];
        }
        pieces.push(Piece::Words(rest.to_owned()));
        pieces.retain(|piece| *piece != Piece::Words(String::new()));
        Ok(Self(pieces))
    }

    /// Returns the referenced columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            // A path into a value begins with its column.
            Piece::Item(way) => way.split('.').next(),
            Piece::Words(_) | Piece::Sample => None,
        })
    }

    /// Fills the template with the values of a row. Texts are inserted unchanged, other values as
    /// JSON. Fails when the row lacks a value.
    pub fn fill(&self, inputs: &Inputs) -> Result<String, Failure> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => out.push_str(words),
                Piece::Sample => {}
                Piece::Item(way) => match found(inputs, way) {
                    None | Some(Value::Null) => {
                        let message = format!("The row has no `{way}`.");
                        return Err(Failure { by_input: true, message });
                    }
                    Some(Value::Text(text)) => out.push_str(text),
                    Some(value) => out.push_str(&json::write(value, false)),
                },
            }
        }
        Ok(out)
    }

    /// Fills the template with tags such as `<item.response>` and appends the values to `pieces`.
    /// For prompts: the model must not mistake row content for a part of its task.
    pub(super) fn fill_with_tags(
        &self,
        inputs: &Inputs,
        pieces: &mut Vec<(String, String)>,
    ) -> Result<String, Failure> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => out.push_str(words),
                Piece::Sample => {}
                Piece::Item(way) => {
                    let name = format!("item.{way}");
                    out.extend(["<", &name, ">"]);
                    if pieces.iter().all(|(known, _)| *known != name) {
                        pieces.push((name, Self(vec![piece.clone()]).fill(inputs)?));
                    }
                }
            }
        }
        Ok(out)
    }
}

/// Finds a column by its full name, or else follows the path into nested objects.
fn found<'a>(inputs: &'a Inputs, way: &str) -> Option<&'a Value> {
    inputs.get(way).or_else(|| {
        let mut steps = way.split('.');
        let column = inputs.get(steps.next()?)?;
        steps
            .try_fold(column, |value, step| value.get(step))
            .filter(|value| !is_missing(Some(*value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pattern: &str) -> Result<String, String> {
        let nested = json::read(r#"{"c": [1.50, null]}"#).map_err(|why| why.to_string())?;
        let inputs = [
            ("a", Value::from("{{item.b}}")),
            ("b", nested),
            ("n", Value::Null),
            ("d.e", Value::from("dotted")),
        ];
        let inputs = Inputs(inputs.map(|(name, value)| (name.to_owned(), value)).to_vec());
        Pattern::read(pattern)?.fill(&inputs).map_err(|failure| failure.message)
    }

    #[test]
    fn columns_are_put_in_once_and_what_they_hold_is_never_a_place() {
        assert_eq!(
            filled("<{{item.a}}|{{ item.b.c }}|{{item.d.e}}|{{sample.output_text}}>").unwrap(),
            "<{{item.b}}|[1.50,null]|dotted|>"
        );
        assert_eq!(filled("no place }} {{").unwrap(), "no place }} {{");
        assert_eq!(filled("{{item.n}}").unwrap_err(), "The row has no `n`.");
        assert_eq!(filled("{{item.x}}").unwrap_err(), "The row has no `x`.");
        assert_eq!(
            filled("{{response}}").unwrap_err(),
            "`{{response}}` names nothing; columns are written as `{{item.column}}`."
        );
        let pattern = Pattern::read("{{item.a}} {{item.b.c}}").unwrap();
        assert_eq!(pattern.columns().collect::<Vec<_>>(), ["a", "b"]);
    }
}
