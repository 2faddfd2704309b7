//! **Pure.** Formats values as Python does: the keys of API reply caches are such texts.
use std::fmt::Write as _;
use std::sync::LazyLock;
use touchstone_model::value::Value;

/// Ranges of characters that are escaped.
static ESCAPED: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some((u32::from_str_radix(first, 16).ok()?, u32::from_str_radix(last, 16).ok()?))
    };
    include_str!("../../data/nonprintable.txt").split_whitespace().filter_map(range).collect()
});

/// Formats a value like `str()`: a text is not quoted.
pub fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => repr(other),
    }
}

/// Formats a value like `repr()`.
pub fn repr(value: &Value) -> String {
    let mut out = String::new();
    put(&mut out, value);
    out
}

fn put(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&self::number(number)),
        Value::Text(text) => put_text(out, text),
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                put(out, item);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (at, (key, value)) in entries.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                put(out, key);
                out.push_str(": ");
                put(out, value);
            }
            out.push('}');
        }
    }
}

fn put_text(out: &mut String, text: &str) {
    put_codes(out, text.chars().map(u32::from));
}

/// Writes a quoted text from its code points, because Python's texts may contain halves of
/// surrogate pairs.
pub(super) fn put_codes(out: &mut String, codes: impl Iterator<Item = u32> + Clone) {
    let holds = |quote: char| codes.clone().any(|code| code == u32::from(quote));
    let quote = if holds('\'') && !holds('"') { '"' } else { '\'' };
    out.push(quote);
    for code in codes {
        match char::from_u32(code) {
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if c == quote => {
                out.push('\\');
                out.push(c);
            }
            Some(c) if is_printable(c) => out.push(c),
            _ => {
                let _ = match code {
                    0..0x100 => write!(out, "\\x{code:02x}"),
                    0x100..0x1_0000 => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
}

fn is_printable(c: char) -> bool {
    if (' '..='~').contains(&c) {
        return true;
    }
    let code = u32::from(c);
    let after = ESCAPED.partition_point(|(first, _)| *first <= code);
    after == 0 || ESCAPED[after - 1].1 < code
}

/// Formats a number of a JSON text: integers with all digits, others as the shortest text that
/// parses to the same number.
pub(super) fn number(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        let sign = if text.starts_with('-') { "-" } else { "" };
        let digits = text.trim_start_matches('-').trim_start_matches('0');
        return if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") };
    }
    match text.to_ascii_lowercase().trim_start_matches('.') {
        "nan" => return "nan".to_owned(),
        "inf" | "infinity" | "+.inf" => return "inf".to_owned(),
        "-inf" | "-infinity" | "-.inf" => return "-inf".to_owned(),
        _ => {}
    }
    text.parse().map_or_else(|_| text.to_owned(), float)
}

/// Formats a float like `repr()`.
pub fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let shortest = format!("{number:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else { return shortest };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::json;

    #[test]
    fn values_are_written_as_python_writes_them() {
        for (json, python) in [
            (r#"{"b": 1, "a": [true, null, 1.50]}"#, "{'b': 1, 'a': [True, None, 1.5]}"),
            (r#""bare""#, "bare"),
            (
                r#"["it's", "say \"x\"", "both ' and \""]"#,
                r#"["it's", 'say "x"', 'both \' and "']"#,
            ),
            (r#"["\u00a0\u200d\t\\ é 名 😀"]"#, r"['\xa0\u200d\t\\ é 名 😀']"),
            (
                "[1e16, 1.5e-7, 100000.0, 1e400, -0, 0.0001, 0.00001, 123456789012345678901234567890]",
                "[1e+16, 1.5e-07, 100000.0, inf, 0, 0.0001, 1e-05, 123456789012345678901234567890]",
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(text(&json::read(json).unwrap()), python);
        }
    }
}
