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
    /// No score between its tags; the reason may be there.
    NoTag { reason: Value },
    /// No digit, or more numbers than one.
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
    let reason = of(keys.1).unwrap_or_else(|| "".into());
    let score = found.as_ref().and_then(|value| number(value, quirks)).filter(|score| !score.is_nan());
    let anything = !judge.way.bounded && quirks.has("unbounded_scores");
    match score.filter(|score| anything || bounded(*score)) {
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
    reply.match_indices("<S2>").find_map(|(at, tag)| {
        let rest = reply.get(at + tag.len()..)?;
        let (at, c) = rest.char_indices().find(|(_, c)| digit(*c).is_some())?;
        let score = c.to_digit(10).filter(|score| (1..=5).contains(score))?;
        rest.get(at + 1..)?.contains("</S2>").then(|| f64::from(score))
    })
}

/// The score and the reason between tags, our way: one score, and it is the whole number that stands there.
fn tags(reply: &str) -> Result<Said, Unread> {
    let small = reply.to_ascii_lowercase();
    let between = |tag: &str| -> Vec<&str> {
        let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
        let piece = |(at, _): (usize, &str)| {
            let from = at + start.len();
            let length = small.get(from..)?.find(&end)?;
            reply.get(from..from + length)
        };
        small.match_indices(&start).filter_map(piece).collect()
    };
    let reason = between("s1").first().map_or("", |reason| reason.trim()).into();
    let mut scores = between("s2");
    scores.dedup();
    let score = match scores.as_slice() {
        [one] => only_number(one).filter(|score| bounded(*score)),
        _ => None,
    };
    match score {
        Some(score) => Ok(Said { score, reason, details: Value::Null }),
        None => Err(Unread::NoTag { reason }),
    }
}

/// The only number of a text; `3/5` and `3 out of 5` are 3.
fn only_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let text = ["/5", "/ 5", "out of 5"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let plain: String = text.chars().map(|c| digit(c).map_or(c, |digit| char::from(b'0' + digit))).collect();
    let part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let mut numbers = plain
        .split(|c| !part(c))
        .map(|piece| piece.trim_end_matches(['.', '-']))
        .filter(|piece| piece.contains(|c: char| c.is_ascii_digit()));
    let one = numbers.next()?.parse().ok()?;
    numbers.next().is_none().then_some(one)
}
