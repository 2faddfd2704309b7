//! **Pure.** Raw replies next to a results file, as JSON lines: the row, evaluator and round, and
//! the replies.
use touchstone_model::json;
use touchstone_model::node::Node;
use touchstone_model::value::Value;

/// Replies in one round of an evaluator on a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvaluatorReplies {
    /// Row number, from 1.
    pub row: usize,
    /// Checksum of the row's text in the results file, so that no other row is mistaken for it;
    /// `None` if unknown.
    pub of: Option<u64>,
    /// Name of the evaluator.
    pub evaluator: String,
    /// Round number, from 1.
    pub round: usize,
    /// Raw replies, cut when very long.
    pub replies: Vec<String>,
    /// Error, if there is no result.
    pub error: Option<String>,
}

impl EvaluatorReplies {
    /// Formats the entry as a line with its line end.
    pub fn line(&self) -> String {
        let number = |value: usize| Value::Number(value.to_string());
        let mut entries = vec![("row", number(self.row))];
        entries.extend(self.of.map(|of| ("of", Value::Text(format!("{of:016x}")))));
        entries.push(("evaluator", Value::from(self.evaluator.as_str())));
        entries.push(("round", number(self.round)));
        entries.push((
            "replies",
            Value::List(self.replies.iter().map(|reply| Value::from(reply.as_str())).collect()),
        ));
        entries.extend(self.error.as_deref().map(|error| ("error", Value::from(error))));
        let entries = entries.into_iter().map(|(key, value)| (Value::from(key), value)).collect();
        json::write(&Value::Map(entries), false) + "\n"
    }

    /// Parses a line. Returns `None` for a line of another form.
    pub fn read(line: &[u8]) -> Option<Self> {
        let value = json::read(std::str::from_utf8(line).ok()?.trim()).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::text).map(str::to_owned);
        let number =
            |key: &str| value.get(key).and_then(Node::word).and_then(|word| word.parse().ok());
        Some(Self {
            row: number("row")?,
            of: text("of").and_then(|of| u64::from_str_radix(&of, 16).ok()),
            evaluator: text("evaluator")?,
            round: number("round")?,
            replies: value
                .get("replies")?
                .items()
                .iter()
                .filter_map(Value::text)
                .map(str::to_owned)
                .collect(),
            error: text("error"),
        })
    }

    /// Returns the row number of a line without parsing the rest of it.
    pub fn row_of(line: &[u8]) -> Option<usize> {
        let digits = line.strip_prefix(br#"{"row":"#)?.trim_ascii_start();
        let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
        std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn foreign_lines_are_ignored() {
        for line in [
            "",
            "{}",
            "[1]",
            r#"{"row": "x"}"#,
            r#"{"row":-1,"evaluator":"a","round":1,"replies":[]}"#,
            "\u{0}",
        ] {
            assert_eq!(
                (
                    EvaluatorReplies::read(line.as_bytes()),
                    EvaluatorReplies::row_of(line.as_bytes())
                ),
                (None, None),
                "{line}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_it_was_written(
            row in 1..9999_usize,
            of: Option<u64>,
            evaluator in ".*",
            round in 1..9_usize,
            replies: Vec<String>,
            error: Option<String>
            ) {
            let heard = EvaluatorReplies { row, of, evaluator, round, replies, error };
            let line = heard.line();
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(EvaluatorReplies::row_of(line.as_bytes()), Some(row));
            prop_assert_eq!(EvaluatorReplies::read(line.as_bytes()), Some(heard));
        }
    }
}
