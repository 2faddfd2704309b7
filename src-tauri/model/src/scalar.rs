//! **Pure.** Types of unquoted YAML scalars by the 1.2 core schema. Dates and `12:30` stay text.
use crate::value::Value;

/// A borrowed scalar. Numbers keep their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scalar<'a> {
    /// Null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as written.
    Number(&'a str),
    /// Text.
    Text(&'a str),
}

impl<'a> Scalar<'a> {
    /// Determines the type of an unquoted scalar.
    pub fn plain(text: &'a str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
            "true" | "True" | "TRUE" => Scalar::Bool(true),
            "false" | "False" | "FALSE" => Scalar::Bool(false),
            _ if is_number(text) => Scalar::Number(text),
            _ => Scalar::Text(text),
        }
    }

    /// Returns the scalar as text.
    pub fn words(self) -> &'a str {
        match self {
            Scalar::Null => "null",
            Scalar::Bool(true) => "true",
            Scalar::Bool(false) => "false",
            Scalar::Number(text) | Scalar::Text(text) => text,
        }
    }

    /// Converts the scalar to an owned value.
    pub fn to_value(self) -> Value {
        match self {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Number(text) => Value::Number(text.to_owned()),
            Scalar::Text(text) => Value::Text(text.to_owned()),
        }
    }
}

/// Returns true for a number of the core schema: `-1`, `0o17`, `0x1F`, `1.5e3`, `.inf`.
pub fn is_number(text: &str) -> bool {
    let first = text.as_bytes().first().copied().unwrap_or_default();
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return false;
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
        || is_decimal(unsigned.as_bytes())
}

/// Returns true for `12`, `12.`, `.5`, `1.5e-3`.
fn is_decimal(text: &[u8]) -> bool {
    let whole = digits(text);
    let mut at = whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = digits(&text[at + 1..]);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return false;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        let exponent = digits(&text[at.min(text.len())..]);
        if exponent == 0 {
            return false;
        }
        at += exponent;
    }
    at == text.len()
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unquoted_scalar_is_what_the_core_schema_says() {
        for text in [
            "0", "-1", "+12", "007", "0o17", "0x1F", "1.", ".5", "1e3", "-1.5E+3", ".inf", "-.INF",
            ".nan",
        ] {
            assert_eq!(Scalar::plain(text), Scalar::Number(text), "{text}");
        }
        for text in [
            "no",
            "on",
            "y",
            "1_000",
            "12:30",
            "2024-01-01",
            "0o18",
            "0x",
            "+",
            "-",
            ".",
            "e3",
            "1e",
            "=",
            "<<",
        ] {
            assert_eq!(Scalar::plain(text), Scalar::Text(text), "{text}");
        }
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(Scalar::plain(text), Scalar::Null, "{text}");
        }
        assert_eq!(Scalar::plain("True"), Scalar::Bool(true));
        assert_eq!(Scalar::plain("tRue"), Scalar::Text("tRue"));
    }
}
