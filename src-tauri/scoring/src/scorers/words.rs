//! **Pure.** Building blocks for the sentences in scores.
use super::Scored;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum length of a value in a sentence, in characters.
const LONGEST: usize = 40;
/// Maximum number of values named in a sentence.
const MOST: usize = 3;

impl Scored {
    /// Creates a score with its reason.
    pub(super) fn new(score: f64, passed: bool, reason: impl Into<String>) -> Self {
        Self { score: Some(score), passed: Some(passed), reason: reason.into(), detail: Vec::new() }
    }

    /// Creates a score of 0 for a run that has nothing to score.
    pub(super) fn nothing(reason: impl Into<String>) -> Self {
        Self::new(0.0, false, reason)
    }

    /// Adds a figure.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.detail.push((name.to_owned(), value.into()));
        self
    }
}

/// Describes a value with its type: `a list of 3`, `the number 5`, `the text “a”`.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::Text(text) => format!("the text “{}”", cut(text)),
        Value::List(items) if items.is_empty() => "an empty list".to_owned(),
        Value::List(items) => format!("a list of {}", items.len()),
        Value::Map(_) => "an object".to_owned(),
    }
}

/// Returns the name of a type; values of one type can be compared part by part.
pub(super) fn kind_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "yes or no",
        Value::Number(_) => "number",
        Value::Text(_) => "text",
        Value::List(_) => "list",
        Value::Map(_) => "object",
    }
}

/// Describes an unexpected type of answer, and hints at a list inside it.
pub(super) fn instead(expected: &str, answer: &Value) -> String {
    let came = format!("{expected} was expected, and {} came", kind(answer));
    let lists = answer.entries().iter().filter(|(_, value)| matches!(value, Value::List(_)));
    let lists: Vec<&str> = lists.filter_map(|(key, _)| key.text()).collect();
    match lists[..] {
        [inside] if expected == "a list" => format!("{came}; its `{}` is a list", cut(inside)),
        _ => came,
    }
}

/// Formats a value for a sentence.
pub(super) fn format_value(value: &Value) -> String {
    match value {
        Value::Text(text) => cut(text),
        value => cut(&json::write(value, false)),
    }
}

/// Formats the first few values: `143, 287, 286 and 4 more`.
pub(super) fn few<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut values = values.into_iter();
    let first: Vec<String> = values.by_ref().take(MOST).map(format_value).collect();
    match values.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Formats a count with its noun: `1 item`, `3 items`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(number)) }
}

/// Formats a number with thousands separators: `12,000`.
pub(super) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// Formats a part of a whole: `all 10`, `8 of 10`, `none of 10`.
pub(super) fn share(part: usize, whole: usize, noun: &str) -> String {
    match (part, whole) {
        (1, 1) => format!("the only {noun}"),
        (2, 2) => format!("both {noun}s"),
        (part, whole) if part == whole => format!("all {} {noun}s", thousands(whole)),
        (0, 1) => format!("not the only {noun}"),
        (0, whole) => format!("none of {} {noun}s", thousands(whole)),
        (part, whole) => format!("{} of {} {noun}s", thousands(part), thousands(whole)),
    }
}

/// Formats a number with at most this many decimals.
pub(super) fn decimals(number: f64, most: usize) -> String {
    let text = format!("{number:.most$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Formats a ratio for the details of a score.
pub(super) fn ratio(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { decimals(float(part) / float(whole), 4) }
}

/// Converts a count to a float; exact for any count of things in memory.
#[expect(clippy::cast_precision_loss, reason = "below 2^52 it is exact")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}

/// Truncates a text to a single, short line.
pub(super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
