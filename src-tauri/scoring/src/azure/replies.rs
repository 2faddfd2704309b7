//! **Pure.** Replies of the ten judges: the score and the reason, or why there is none.
use super::Quirks;
use super::judge::{Form, Judge};
use super::python_number::{digit, float, written};
use crate::judges::reply::{after_thinking, only_object};
use crate::text::python::is_space;
use touchstone_formats::json;
use touchstone_formats::stabletoolbench::python_json;
use touchstone_formats::value::Value;

/// What a judge said.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) score: f64,
    pub(super) reason: Value,
    pub(super) details: Value,
}

/// Why a reply has no score.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Unread {
    /// There is nothing in it.
    Empty,
    /// It should have been JSON.
    NotJson,
    /// It is JSON, but no object.
    NotObject,
    /// This stands where the score should be, or nothing.
    Score { found: Option<Value>, reason: Value },
    /// The score has no reason beside it, though one was asked for.
    NoReason,
    /// No score between its tags; the reason may be there.
    NoTag { reason: Value },
    /// No number, or more than one.
    NoDigit,
}

impl Unread {
    /// As the end of a sentence about the reply.
    pub(super) fn why(&self, form: Form) -> String {
        match (self, form) {
            (Unread::Empty, _) => "it is empty".to_owned(),
            (Unread::NotJson | Unread::NotObject, _) => "it is no JSON object".to_owned(),
            (Unread::Score { found: None, .. }, Form::Object { score, .. }) => format!("it has no `{score}`"),
            (Unread::Score { found: Some(found), .. }, Form::Object { score, .. }) => {
                let found: String = json::write(found, false).chars().take(80).collect();
                format!("its `{score}` is {found}, and not a number from 1 to 5")
            }
            (Unread::NoReason, Form::Object { reason, .. }) => format!("it has no `{reason}`"),
            (Unread::NoTag { .. }, _) => "there is not one number from 1 to 5 between `<S2>` and `</S2>`".to_owned(),
            _ => "it is not one number from 1 to 5".to_owned(),
        }
    }
}

/// Reads a reply.
pub(super) fn read(judge: &Judge, reply: &str, quirks: &Quirks) -> Result<Said, Unread> {
    match judge.form {
        Form::Object { score, reason } => object(judge, reply, (score, reason), quirks),
        _ if reply.is_empty() => Err(Unread::Empty),
        Form::Tags if quirks.has("first_digit") => {
            let reason = first_reason(reply);
            match first_score(reply) {
                Some(score) => Ok(Said { score, reason, details: Value::Null }),
                None => Err(Unread::NoTag { reason }),
            }
        }
        Form::Tags => tags(after_thinking(reply)),
        Form::Digit => {
            let score = if quirks.has("first_digit") {
                let found = reply.chars().find_map(digit).map(f64::from);
                found.filter(|score| quirks.has("unbounded_scores") || bounded(*score))
            } else {
                let rule = |score: &f64| bounded(*score) || quirks.has("unbounded_scores");
                only_number(after_thinking(reply)).filter(rule)
            };
            score.map(|score| Said { score, reason: Value::Null, details: Value::Null }).ok_or(Unread::NoDigit)
        }
    }
}

fn bounded(score: f64) -> bool {
    (1.0..=5.0).contains(&score)
}

fn object(judge: &Judge, reply: &str, keys: (&str, &str), quirks: &Quirks) -> Result<Said, Unread> {
    let strict = quirks.has("strict_json");
    let value = if strict { python_json::read(reply).ok().map(|value| value.value()) } else { only_object(reply) };
    let value = value.ok_or(Unread::NotJson)?;
    let Value::Map(entries) = &value else { return Err(Unread::NotObject) };
    let of = |key: &str| {
        let same = |known: &Value| match known.text() {
            Some(known) if strict => known == key,
            Some(known) => known.eq_ignore_ascii_case(key),
            None => false,
        };
        entries.iter().find(|(known, _)| same(known)).map(|(_, value)| value.clone())
    };
    let found = of(keys.0);
    let said = of(keys.1);
    let has_reason = said.is_some() || strict;
    let reason = said.unwrap_or_else(|| "".into());
    let score = found.as_ref().and_then(|value| number(value, quirks)).filter(|score| !score.is_nan());
    let anything = !judge.way.bounded && quirks.has("unbounded_scores");
    match score.filter(|score| anything || bounded(*score)) {
        Some(_) if !has_reason => Err(Unread::NoReason),
        Some(score) => {
            let details = of("details").unwrap_or_else(|| Value::Map(Vec::new()));
            Ok(Said { score, reason, details })
        }
        None => Err(Unread::Score { found, reason }),
    }
}

/// `float()` of a value.
pub(super) fn number(value: &Value, quirks: &Quirks) -> Option<f64> {
    match value {
        Value::Number(number) => written(number),
        Value::Text(text) => float(text),
        Value::Bool(yes) if quirks.has("booleans_as_scores") => Some(f64::from(u8::from(*yes))),
        _ => None,
    }
}

/// The first reason between tags, as the package finds it.
fn first_reason(reply: &str) -> Value {
    let found = reply.split_once("<S1>").and_then(|(_, rest)| rest.split_once("</S1>"));
    found.map_or("", |(reason, _)| reason.trim_matches(is_space)).into()
}

/// The first score between tags, as the package finds it: the first digit behind a tag, if it is one from 1 to 5 and an end follows.
fn first_score(reply: &str) -> Option<f64> {
    let (last_end, mut from) = (reply.rfind("</S2>")?, 0);
    while let Some(at) = reply.get(from..)?.find("<S2>") {
        let behind = from + at + "<S2>".len();
        let (at, c) = reply.get(behind..)?.char_indices().find(|(_, c)| digit(*c).is_some())?;
        let score = c.to_digit(10).filter(|score| (1..=5).contains(score));
        if let Some(score) = score.filter(|_| last_end > behind + at) {
            return Some(f64::from(score));
        }
        // Tags before that digit lead to it too.
        from = behind + at + c.len_utf8();
    }
    None
}

/// The score and the reason between tags, our way: what follows the reason is one score, the whole number that stands there. Tags
/// that are quoted in thoughts and reasons are none, and what has no end is not read.
fn tags(reply: &str) -> Result<Said, Unread> {
    let small = reply.to_ascii_lowercase();
    let last_end = |from: usize, tag: &str| small.get(from..)?.rfind(tag).map(|at| from + at);
    let thought = last_end(0, "</s0>").map(|at| at + 5);
    let cut_off = thought.is_none() && small.contains("<s0>");
    let from = thought.unwrap_or(0);
    let explained = last_end(from, "</s1>");
    let cut_off = cut_off || (explained.is_none() && small.get(from..).is_some_and(|rest| rest.contains("<s1>")));
    let start = small.get(from..).and_then(|rest| rest.find("<s1>")).map(|at| from + at).or_else(|| small.find("<s1>"));
    let reason = start.zip(explained).and_then(|(start, end)| reply.get(start + 4..end)).unwrap_or_default();
    let reason: Value = reason.trim().into();
    let body = explained.map_or(from, |at| at + 5);
    let scored = small.get(body..).filter(|_| !cut_off).and_then(only_score);
    match scored.filter(|score| bounded(*score)) {
        Some(score) => Ok(Said { score, reason, details: Value::Null }),
        None => Err(Unread::NoTag { reason }),
    }
}

/// The score of what begins with it; it may stand there twice, as the same.
fn only_score(body: &str) -> Option<f64> {
    let mut rest = body.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '`'));
    let mut found = None;
    if !rest.starts_with("<s2>") {
        return None;
    }
    while let Some((_, behind)) = rest.split_once("<s2>") {
        let (one, after) = behind.split_once("</s2>")?;
        let score = only_number(one)?;
        if found.replace(score).is_some_and(|before| before.to_bits() != score.to_bits()) {
            return None;
        }
        rest = after;
    }
    found
}

/// The number that is all of a text, but for markup, `score:`, `stars` and `/5` or `out of 5`.
fn only_number(text: &str) -> Option<f64> {
    let digits = |c: char| digit(c).map_or(c, |digit| char::from(b'0' + digit));
    let plain: String = text.trim().chars().take(100).map(digits).collect::<String>().to_ascii_lowercase();
    let bare = |text: &str| -> String {
        let text = text.trim_start_matches(|c: char| c.is_whitespace() || "*_`\"'#([:=".contains(c));
        text.trim_end_matches(|c: char| c.is_whitespace() || "*_`\"')].".contains(c)).to_owned()
    };
    let mut text = bare(&plain);
    for word in ["score", "stars", "rating"] {
        text = bare(text.strip_prefix(word).unwrap_or(&text));
    }
    for end in ["stars", "star", "/5", "/ 5", "out of 5"] {
        text = bare(text.strip_suffix(end).unwrap_or(&text));
    }
    let figures = text.strip_prefix('-').unwrap_or(&text);
    let number = figures.starts_with(|c: char| c.is_ascii_digit())
        && !figures.contains(|c: char| !c.is_ascii_digit() && c != '.');
    number.then(|| text.parse().ok()).flatten()
}
