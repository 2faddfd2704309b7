//! **Pure.** Formats a [`Value`] as JSON. Numbers that JSON does not have, such as `.inf`, `.nan`
//! and `0x1F`, are written as text.
use crate::node::{Node, Shape};
use crate::scalar::{Scalar, is_number};
use crate::value::Value;

/// Formats a value as JSON; pretty means two spaces of indentation. Numbers are kept as written
/// where JSON allows it: `+1`, `007`, `.5` and `1.` lose or gain a character and `0o17`, `0x1F`,
/// `.inf`, `.nan` become text. Keys that are not text are written as their text form.
pub fn write(value: &Value, pretty: bool) -> String {
    let mut out = String::new();
    put(&mut out, value, pretty.then_some(0));
    out
}

/// Returns the number of bytes [`write()`] would produce, without writing them.
pub fn length(value: &Value, pretty: bool) -> usize {
    let mut out = Length(0);
    put(&mut out, value, pretty.then_some(0));
    out.0
}

/// Formats a value as JSON that [`super::read_back`] parses to an equal value. Numbers outside the
/// standard are written as Python does, `NaN` and `-Infinity`; `0x1F` is written in decimal.
pub fn write_back(value: &Value) -> String {
    write_within(value, usize::MAX).unwrap_or_default()
}

/// Like [`write_back`], for a value that may borrow from its file. Returns `None` if the text would
/// be longer than `most` bytes.
pub fn write_within<'t, N: Node<'t>>(value: N, most: usize) -> Option<String> {
    let mut out = Within { text: String::new(), most };
    put(&mut out, value, None);
    (out.most > 0).then_some(out.text)
}

/// Destination of the formatted text.
trait Out {
    fn add(&mut self, text: &str);

    /// Formats a non-standard number such that it can be read back. `None` writes it as text.
    fn odd(&self, _: &str) -> Option<String> {
        None
    }
}

impl Out for String {
    fn add(&mut self, text: &str) {
        self.push_str(text);
    }
}

struct Length(usize);

impl Out for Length {
    fn add(&mut self, text: &str) {
        self.0 += text.len();
    }
}

/// Text with a maximum length. When the text would get longer, it is cleared and `most` becomes 0,
/// after which nothing is added any more.
struct Within {
    text: String,
    most: usize,
}

impl Out for Within {
    fn add(&mut self, text: &str) {
        if self.text.len() + text.len() <= self.most {
            self.text.push_str(text);
        } else {
            *self = Within { text: String::new(), most: 0 };
        }
    }

    fn odd(&self, text: &str) -> Option<String> {
        let whole = |digits, radix| {
            u128::from_str_radix(digits, radix).ok().map(|number| number.to_string())
        };
        match text {
            ".nan" | ".NaN" | ".NAN" => Some("NaN".to_owned()),
            "-.inf" | "-.Inf" | "-.INF" => Some("-Infinity".to_owned()),
            ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some("Infinity".to_owned()),
            _ if text.starts_with("0x") => whole(&text[2..], 16),
            _ if text.starts_with("0o") => whole(&text[2..], 8),
            _ => None,
        }
    }
}

fn put<'t, O: Out, N: Node<'t>>(out: &mut O, value: N, indent: Option<usize>) {
    match value.shape() {
        Shape::Scalar(Scalar::Number(text)) if is_plain(text) => out.add(text),
        Shape::Scalar(Scalar::Number(text)) => match number(text).or_else(|| out.odd(text)) {
            Some(number) => out.add(&number),
            None => quote(out, text),
        },
        Shape::Scalar(Scalar::Text(text)) => quote(out, text),
        Shape::Scalar(scalar) => out.add(scalar.words()),
        Shape::List => put_all(out, ("[", "]"), value.items(), indent, put),
        Shape::Map => {
            put_all(out, ("{", "}"), value.entries(), indent, |out, (key, value), inner| {
                put_key(out, key);
                out.add(if inner.is_some() { ": " } else { ":" });
                put(out, value, inner);
            });
        }
    }
}

fn put_all<O: Out, T>(
    out: &mut O,
    (open, close): (&str, &str),
    all: impl Iterator<Item = T>,
    indent: Option<usize>,
    each: impl Fn(&mut O, T, Option<usize>),
) {
    let inner = indent.map(|indent| indent + 2);
    out.add(open);
    let mut empty = true;
    for one in all {
        if !std::mem::take(&mut empty) {
            out.add(",");
        }
        line(out, inner);
        each(out, one, inner);
    }
    if !empty {
        line(out, indent);
    }
    out.add(close);
}

fn line(out: &mut impl Out, indent: Option<usize>) {
    const SPACES: &str = "                                ";
    if let Some(mut indent) = indent {
        out.add("\n");
        while indent > 0 {
            let some = indent.min(SPACES.len());
            out.add(&SPACES[..some]);
            indent -= some;
        }
    }
}

fn put_key<'t, N: Node<'t>>(out: &mut impl Out, key: N) {
    match key.shape() {
        Shape::Scalar(scalar) => quote(out, scalar.words()),
        Shape::List | Shape::Map => {
            let mut text = String::new();
            put(&mut text, key, None);
            quote(out, &text);
        }
    }
}

fn quote(out: &mut impl Out, text: &str) {
    out.add("\"");
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        // Only single-byte characters are escaped, so both cuts are at character boundaries.
        out.add(&text[from..at]);
        from = at + 1;
        match byte {
            b'"' => out.add("\\\""),
            b'\\' => out.add("\\\\"),
            b'\n' => out.add("\\n"),
            b'\r' => out.add("\\r"),
            b'\t' => out.add("\\t"),
            byte => out.add(&format!("\\u{byte:04x}")),
        }
    }
    out.add(&text[from..]);
    out.add("\"");
}

/// Returns true for an integer in JSON notation, the most frequent case.
fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let leads = digits.first().is_some_and(|first| *first != b'0' || digits.len() == 1);
    leads && digits.iter().all(u8::is_ascii_digit)
}

/// Converts a number to JSON notation. Returns `None` if it has none.
fn number(text: &str) -> Option<String> {
    if !is_number(text)
        || text.starts_with("0o")
        || text.starts_with("0x")
        || text.ends_with(['f', 'F', 'n', 'N'])
    {
        return None;
    }
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.find(['e', 'E']).map_or((text, ""), |at| text.split_at(at));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction {
        None => format!("{sign}{whole}{exponent}"),
        Some("") => format!("{sign}{whole}.0{exponent}"),
        Some(fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = Value> {
        let number = prop_oneof![
            "-?[0-9]{1,6}",
            "[+-]?[0-9]{0,3}\\.[0-9]{1,3}(e[0-9])?",
            Just("0x1F".to_owned()),
            Just(".inf".to_owned()),
            Just("-.inf".to_owned()),
            Just(".nan".to_owned())
        ];
        let one = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            number.prop_map(Value::Number),
            "\\PC{0,12}|[\\x00-\\x2f\\\\]{0,12}".prop_map(Value::Text),
        ];
        one.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
                prop::collection::vec(("[a-c\\n\"]{0,3}".prop_map(Value::Text), inner), 0..5)
                    .prop_map(Value::Map),
            ]
        })
    }

    #[test]
    fn non_standard_numbers_read_back_as_numbers() {
        for (text, written, back) in [
            (".nan", "NaN", ".nan"),
            (".NaN", "NaN", ".nan"),
            (".inf", "Infinity", ".inf"),
            ("+.Inf", "Infinity", ".inf"),
            ("-.INF", "-Infinity", "-.inf"),
            ("0x1F", "31", "31"),
            ("0o17", "15", "15"),
            (
                "0xffffffffffffffffffffffffffffffff",
                "340282366920938463463374607431768211455",
                "340282366920938463463374607431768211455",
            ),
            ("+1", "1", "1"),
            ("-.5", "-0.5", "-0.5"),
        ] {
            let value = Value::List(vec![Value::Number(text.to_owned())]);
            assert_eq!(write_back(&value), format!("[{written}]"), "{text}");
            let read = crate::json::read_back(&write_back(&value)).unwrap();
            assert_eq!(read, Value::List(vec![Value::Number(back.to_owned())]), "{text}");
        }
        for text in [".nan", "NaN", "Infinity", "0x1F", "12"] {
            let text = Value::from(text);
            assert_eq!(
                crate::json::read_back(&write_back(&text)).unwrap(),
                text,
                "a text stays one"
            );
        }
        assert!(
            crate::json::read("[NaN]").is_err() && crate::json::embedded("[-Infinity]").is_none()
        );
    }

    /// Normalizes the notation of all numbers in a value.
    fn normal(value: Value) -> Value {
        match value {
            Value::Number(text) => Value::Number(match (number(&text), text.as_str()) {
                (Some(number), _) => number,
                (None, "0x1F") => "31".to_owned(),
                (None, _) => text,
            }),
            Value::List(items) => Value::List(items.into_iter().map(normal).collect()),
            Value::Map(entries) => {
                Value::Map(entries.into_iter().map(|(key, value)| (key, normal(value))).collect())
            }
            other => other,
        }
    }

    proptest! {
        #[test]
        fn values_written_for_reading_back_are_unchanged(value in value()) {
            prop_assert_eq!(crate::json::read_back(&write_back(&value)).unwrap(), normal(value));
        }

        #[test]
        fn the_length_is_that_of_what_is_written_and_texts_are_as_others_write_them(value in value(), pretty in any::<bool>()) {
            prop_assert_eq!(length(&value, pretty), write(&value, pretty).len());
            if let Value::Text(text) = &value {
                prop_assert_eq!(serde_json::from_str::<String>(&write(&value, false)).unwrap(), text.clone());
            }
        }

        #[test]
        fn a_number_that_counts_as_plain_would_be_written_the_same(text in "-?[0-9]{0,5}") {
            if is_plain(&text) {
                prop_assert_eq!(number(&text), Some(text));
            }
        }
    }
}
