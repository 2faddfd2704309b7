//! **Pure.** JSON text of a [`Value`]. What JSON cannot say is said as text: `.inf`, `.nan`, `0x1F`.
use std::fmt::Write as _;

use crate::value::Value;
use crate::yaml::scalars::is_number;

/// JSON text; pretty means two spaces of indentation. Numbers are as written where JSON allows it: `+1`, `007`, `.5` and `1.`
/// lose or gain a character and `0o17`, `0x1F`, `.inf`, `.nan` become text. Keys that are not text become their words.
pub fn write(value: &Value, pretty: bool) -> String {
    let mut out = String::new();
    put(&mut out, value, pretty.then_some(0));
    out
}

fn put(out: &mut String, value: &Value, indent: Option<usize>) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(text) => match number(text) {
            Some(number) => out.push_str(&number),
            None => quote(out, text),
        },
        Value::Text(text) => quote(out, text),
        Value::List(items) => put_all(out, ('[', ']'), items, indent, put),
        Value::Map(entries) => put_all(out, ('{', '}'), entries, indent, |out, (key, value), inner| {
            put_key(out, key);
            out.push_str(if inner.is_some() { ": " } else { ":" });
            put(out, value, inner);
        }),
    }
}

fn put_all<T>(
    out: &mut String,
    (open, close): (char, char),
    all: &[T],
    indent: Option<usize>,
    each: impl Fn(&mut String, &T, Option<usize>),
) {
    let inner = indent.map(|indent| indent + 2);
    out.push(open);
    for (at, one) in all.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        line(out, inner);
        each(out, one, inner);
    }
    if !all.is_empty() {
        line(out, indent);
    }
    out.push(close);
}

fn line(out: &mut String, indent: Option<usize>) {
    if let Some(indent) = indent {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

fn put_key(out: &mut String, key: &Value) {
    match key {
        Value::Text(text) | Value::Number(text) => quote(out, text),
        Value::Null => out.push_str("\"null\""),
        Value::Bool(bool) => quote(out, if *bool { "true" } else { "false" }),
        Value::List(_) | Value::Map(_) => quote(out, &write(key, false)),
    }
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if (letter as u32) < 0x20 => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

/// The JSON form of a number; none when there is none.
fn number(text: &str) -> Option<String> {
    if !is_number(text) || text.starts_with("0o") || text.starts_with("0x") || text.ends_with(['f', 'F', 'n', 'N']) {
        return None;
    }
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = text.find(['e', 'E']).map_or((text, ""), |at| text.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction {
        None => format!("{sign}{whole}{exponent}"),
        Some("") => format!("{sign}{whole}.0{exponent}"),
        Some(fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
    })
}
