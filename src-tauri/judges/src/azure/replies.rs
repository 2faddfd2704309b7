//! **Pure.** Parses the replies of the ten judges into a score and a reason.
use super::Quirks;
use super::judge::{Form, Judge};
use super::numbers::is_whole;
use super::python_number::{digit, float, written};
use crate::reply::{after_thinking, announces, is_fence, only_object};
use touchstone_formats::stabletoolbench::python_json;
use touchstone_metrics::text::python::is_space;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Parsed reply of a judge.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ParsedReply {
    pub(super) score: f64,
    pub(super) reason: Value,
    pub(super) details: Value,
}

/// Reason why a reply has no score.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Unread {
    /// The reply is empty.
    Empty,
    /// The reply is not JSON.
    NotJson,
    /// The reply is JSON, but not an object.
    NotObject,
    /// The value of the score is missing or invalid.
    Score { found: Option<Value>, reason: Value },
    /// The required reason is missing.
    NoReason,
    /// There is no valid score between the tags. The reason may be present.
    NoTag { reason: Value },
    /// There is no number, or more than one.
    NoDigit,
}

impl Unread {
    /// Returns the reason as the end of a sentence about the reply.
    pub(super) fn why(&self, form: Form) -> String {
        match (self, form) {
            (Unread::Empty, _) => "it is empty".to_owned(),
            (Unread::NotJson | Unread::NotObject, _) => "it is not a JSON object".to_owned(),
            (Unread::Score { found: None, .. }, Form::Object { score, .. }) => {
                format!("it has no `{score}`")
            }
            (Unread::Score { found: Some(found), .. }, Form::Object { score, .. }) => {
                let found: String = json::write_back(found).chars().take(80).collect();
                format!("its `{score}` is {found}, and not a number from 1 to 5")
            }
            (Unread::NoReason, Form::Object { reason, .. }) => format!("it has no `{reason}`"),
            (Unread::NoReason, _) => "there is no reason between `<S1>` and `</S1>`".to_owned(),
            (Unread::NoTag { .. }, _) => {
                "there is not one number from 1 to 5 between `<S2>` and `</S2>`".to_owned()
            }
            _ => "it is not one number from 1 to 5".to_owned(),
        }
    }
}

/// Parses a reply.
pub(super) fn read(judge: &Judge, reply: &str, quirks: &Quirks) -> Result<ParsedReply, Unread> {
    match judge.form {
        Form::Object { score, reason } => object(judge, reply, (score, reason), quirks),
        _ if reply.is_empty() => Err(Unread::Empty),
        Form::Tags if quirks.has("first_digit") => {
            let reason = first_reason(reply);
            match first_score(reply) {
                Some(score) => {
                    reasoned(ParsedReply { score, reason, details: Value::Null }, quirks)
                }
                None => Err(Unread::NoTag { reason }),
            }
        }
        Form::Tags => tags(after_thinking(reply)).and_then(|said| reasoned(said, quirks)),
        Form::Digit => {
            let score = if quirks.has("first_digit") {
                let found = reply.chars().find_map(digit).map(f64::from);
                found.filter(|score| quirks.has("unbounded_scores") || bounded(*score))
            } else {
                let rule = |score: &f64| bounded(*score) || quirks.has("unbounded_scores");
                only_number(after_thinking(reply)).filter(rule)
            };
            score
                .map(|score| ParsedReply { score, reason: Value::Null, details: Value::Null })
                .ok_or(Unread::NoDigit)
        }
    }
}

/// Fails when the score has no reason, unless the quirk `reasons_not_needed` is on.
fn reasoned(said: ParsedReply, quirks: &Quirks) -> Result<ParsedReply, Unread> {
    let is_blank = match &said.reason {
        Value::Null => true,
        Value::Text(text) => text.trim().is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    };
    if is_blank && !quirks.has("reasons_not_needed") { Err(Unread::NoReason) } else { Ok(said) }
}

fn bounded(score: f64) -> bool {
    (1.0..=5.0).contains(&score)
}

fn object(
    judge: &Judge,
    reply: &str,
    keys: (&str, &str),
    quirks: &Quirks,
) -> Result<ParsedReply, Unread> {
    let strict = quirks.has("strict_json");
    let value = if strict {
        python_json::read(reply).ok().map(|value| value.value())
    } else {
        only_object(reply)
    };
    let value = value.ok_or(Unread::NotJson)?;
    let Value::Map(entries) = &value else { return Err(Unread::NotObject) };
    let of = |key: &str| {
        let alike = |known: &Value| {
            known.text().is_some_and(|known| !strict && known.eq_ignore_ascii_case(key))
        };
        let exact = entries.iter().find(|(known, _)| known.text() == Some(key));
        exact
            .or_else(|| entries.iter().rfind(|(known, _)| alike(known)))
            .map(|(_, value)| value.clone())
    };
    let found = of(keys.0);
    let said = of(keys.1);
    let reason = said.unwrap_or_else(|| "".into());
    let score =
        found.as_ref().and_then(|value| number(value, quirks)).filter(|score| !score.is_nan());
    let anything = !judge.way.bounded && quirks.has("unbounded_scores");
    match score.filter(|score| anything || bounded(*score)) {
        Some(score) => {
            let details = of("details").unwrap_or_else(|| Value::Map(Vec::new()));
            reasoned(ParsedReply { score, reason, details }, quirks)
        }
        None => Err(Unread::Score { found, reason }),
    }
}

/// Converts a value like Python's `float()`.
pub(super) fn number(value: &Value, quirks: &Quirks) -> Option<f64> {
    match value {
        // An integer has no negative zero, and is invalid when it exceeds the range of floats; a
        // fraction becomes infinite then.
        Value::Number(number) if is_whole(number) => {
            written(number).filter(|float| float.is_finite()).map(|float| float + 0.0)
        }
        Value::Number(number) => written(number),
        Value::Text(text) => float(text),
        Value::Bool(yes) if quirks.has("booleans_as_scores") => Some(f64::from(u8::from(*yes))),
        _ => None,
    }
}

/// Returns the first reason between tags, with the package's matching rules.
fn first_reason(reply: &str) -> Value {
    let found = reply.split_once("<S1>").and_then(|(_, rest)| rest.split_once("</S1>"));
    found.map_or("", |(reason, _)| reason.trim_matches(is_space)).into()
}

/// Returns the first score between tags, with the package's matching rules: the first digit after a
/// tag, if it is from 1 to 5 and an end tag follows.
fn first_score(reply: &str) -> Option<f64> {
    let (last_end, mut from) = (reply.rfind("</S2>")?, 0);
    while let Some(at) = reply.get(from..)?.find("<S2>") {
        let behind = from + at + "<S2>".len();
        let (at, c) = reply.get(behind..)?.char_indices().find(|(_, c)| digit(*c).is_some())?;
        let score = c.to_digit(10).filter(|score| (1..=5).contains(score));
        if let Some(score) = score.filter(|_| last_end > behind + at) {
            return Some(f64::from(score));
        }
        // Start tags before that digit lead to the same digit.
        from = behind + at + c.len_utf8();
    }
    None
}

/// Parses the score and the reason between tags. The reply must consist of thoughts, a reason and
/// one score, and nothing else. Tags quoted within thoughts or reasons are ignored, and unclosed
/// tags are not accepted.
fn tags(reply: &str) -> Result<ParsedReply, Unread> {
    let (reason, score) = between(reply, str::rfind);
    // When the first and the last end tags lead to different scores, one of them is quoted, and it
    // is unknown which.
    let other = between(reply, str::find).1.map(|(score, _)| score);
    let scored =
        score.filter(|(_, rest)| rest.trim_matches(is_fence).is_empty()).map(|(score, _)| score);
    let same = |score: &f64| other.is_none_or(|other| other.total_cmp(score).is_eq());
    match scored.filter(|score| bounded(*score) && same(score)) {
        Some(score) => Ok(ParsedReply { score, reason: reason.into(), details: Value::Null }),
        None => Err(Unread::NoTag { reason: reason.into() }),
    }
}

/// Returns the reason, and the score with the text after it. `end` locates the end tags of thoughts
/// and reason.
fn between(
    reply: &str,
    end: fn(&str, &'static str) -> Option<usize>,
) -> (&str, Option<(f64, &str)>) {
    let small = reply.to_ascii_lowercase();
    let begin = ["<s0>", "<s1>", "<s2>"]
        .iter()
        .filter_map(|tag| small.find(tag))
        .min()
        .unwrap_or(small.len());
    // Returns the range inside the next tag, and the position after it. An unclosed tag is an
    // error.
    let piece = |from: usize, begin: &'static str, last: &'static str| {
        let rest = small.get(from..)?;
        let from = from + rest.len() - rest.trim_start_matches(is_fence).len();
        match small.get(from..)?.strip_prefix(begin) {
            Some(inside) => {
                end(inside, last).map(|at| (Some((from + 4, from + 4 + at)), from + 4 + at + 5))
            }
            None => Some((None, from)),
        }
    };
    let Some((_, from)) = piece(begin, "<s0>", "</s0>").filter(|_| announces(&small[..begin]))
    else {
        return ("", None);
    };
    let Some((said, from)) = piece(from, "<s1>", "</s1>") else { return ("", None) };
    let reason = said.and_then(|(from, to)| reply.get(from..to)).unwrap_or_default().trim();
    (
        reason,
        scored(&small[from..]).map(|(score, rest)| (score, &reply[reply.len() - rest.len()..])),
    )
}

/// Parses the score at the start of a text and returns the rest. The score may be repeated if it is
/// equal.
fn scored(body: &str) -> Option<(f64, &str)> {
    let (one, mut rest) =
        body.trim_start_matches(is_fence).strip_prefix("<s2>")?.split_once("</s2>")?;
    let score = only_number(one)?;
    while let Some(again) = rest.trim_start_matches(is_fence).strip_prefix("<s2>") {
        let (one, after) = again.split_once("</s2>")?;
        only_number(one).filter(|again| again.total_cmp(&score).is_eq())?;
        rest = after;
    }
    Some((score, rest))
}

/// Longer texts are not just a number.
const LONGEST_NUMBER: usize = 100;

/// Returns the number that makes up the whole text, apart from markup, `score:`, `stars`, and `/5`
/// or `out of 5`.
fn only_number(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.chars().nth(LONGEST_NUMBER).is_some() {
        return None;
    }
    let digits = |c: char| digit(c).map_or(c, |digit| char::from(b'0' + digit));
    let plain: String = text.chars().map(digits).collect::<String>().to_ascii_lowercase();
    let bare = |text: &str| -> String {
        let text =
            text.trim_start_matches(|c: char| c.is_whitespace() || "*_`\"'#([:=".contains(c));
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
