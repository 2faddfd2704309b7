//! **Pure.** Words of the sentences that scorers say.
use super::Scored;
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// Longest value in a sentence, in characters.
const LONGEST: usize = 40;
/// Most values that a sentence names.
const MOST: usize = 3;

impl Scored {
    /// A score with its reason.
    pub(super) fn new(score: f64, passed: bool, reason: impl Into<String>) -> Self {
        Self { score: Some(score), passed: Some(passed), reason: reason.into(), detail: Vec::new() }
    }

    /// The score of a run that has none of what is scored.
    pub(super) fn nothing(reason: impl Into<String>) -> Self {
        Self::new(0.0, false, reason)
    }

    /// A number behind it.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.detail.push((name.to_owned(), value.into()));
        self
    }
}

/// What kind of value it is: `a list of 3`, `the number 5`, `a text`.
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

/// The kinds that can be compared part by part.
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

/// Says that something else came, and where what was asked for may be.
pub(super) fn instead(expected: &str, answer: &Value) -> String {
    let came = format!("{expected} was expected, and {} came", kind(answer));
    let lists = answer.entries().iter().filter(|(_, value)| matches!(value, Value::List(_)));
    let lists: Vec<&str> = lists.filter_map(|(key, _)| key.text()).collect();
    match lists[..] {
        [inside] if expected == "a list" => format!("{came}; its `{}` is a list", cut(inside)),
        _ => came,
    }
}

/// A value in a sentence.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => cut(text),
        value => cut(&json::write(value, false)),
    }
}

/// A few of many: `143, 287, 286 and 4 more`.
pub(super) fn few<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    let mut values = values.into_iter();
    let first: Vec<String> = values.by_ref().take(MOST).map(shown).collect();
    match values.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A count with its noun: `1 item`, `3 items`.
pub(super) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(number)) }
}

/// `12,000`
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

/// How many of how many: `all 10`, `8 of 10`, `none of 10`.
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

/// A number with so many decimals at most.
pub(super) fn decimals(number: f64, most: usize) -> String {
    let text = format!("{number:.most$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A share as it is shown among details.
pub(super) fn ratio(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { decimals(float(part) / float(whole), 4) }
}

/// A count as a float; counts of what is in memory are far from where that loses anything.
#[expect(clippy::cast_precision_loss, reason = "below 2^52 it is exact")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}

/// One line, not too long.
pub(super) fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
