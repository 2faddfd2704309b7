//! **Pure.** Texts with places for columns of the row, as graders have them: `{{item.response}}`.
//! What is put in is never read again.
use super::numbers::is_missing;
use super::{Failure, Inputs};
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// A text with places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Words(String),
    /// The way into the row.
    Item(String),
    /// What the service would fill with an answer that it sampled: empty, because none is.
    Sample,
}

impl Pattern {
    /// Reads it. The error is a sentence.
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

    /// Columns that it needs.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            // The way into a value begins with its column.
            Piece::Item(way) => way.split('.').next(),
            Piece::Words(_) | Piece::Sample => None,
        })
    }

    /// With the values of a row. Texts are put in as they are, all else as JSON.
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

    /// With a name in each place, `<item.response>`, and what stands for the names of a row put to
    /// `pieces`: for models, which are not to take what a row holds for a part of their task.
    pub(super) fn apart(
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

/// A column by its whole name, else the way into nested objects.
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
