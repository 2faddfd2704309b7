//! **Pure.** Conversations of several turns: splits a conversation into the inputs of each turn,
//! and combines the results of the turns.
use super::inputs::{format_value, truthy};
use super::numbers::{is_missing, number};
use super::python_number::written;
use super::{Failure, Inputs, Limit, Outcome, Quirks, normal};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Returns the inputs of each turn for an evaluator that takes the inputs `takes`. Fails when the
/// conversation has no message list, has pictures, or has no user message that an assistant
/// answers.
pub(super) fn turns(
    takes: &[&str],
    conversation: &Value,
    quirks: &Quirks,
) -> Result<Vec<Inputs>, Failure> {
    let fault = |message: &str| Failure { by_input: true, message: message.to_owned() };
    // Text-only tables (CSV) hold a conversation as JSON text.
    let read =
        conversation.text().filter(|_| !quirks.has("contents_unread")).and_then(json::embedded);
    let conversation = read.as_ref().unwrap_or(conversation);
    let messages = match conversation.get("messages") {
        Some(Value::List(messages)) => messages.as_slice(),
        Some(nothing @ (Value::Text(_) | Value::Map(_)))
            if !truthy(nothing) && quirks.has("empty_conversations") =>
        {
            &[]
        }
        _ => return Err(fault("The conversation has no list named `messages`.")),
    };
    let pictures = pictures(messages, quirks).map_err(fault)?;
    if quirks.has("turns_zipped") && messages.iter().any(|message| message.get("role").is_none()) {
        return Err(fault("A message of the conversation has no role."));
    }
    if pictures {
        return reject_pictures(messages, quirks);
    }
    let pairs = if quirks.has("turns_zipped") {
        pair_by_index(messages)
    } else {
        pair_turns(messages, quirks)
    };
    if pairs.is_empty() && !quirks.has("empty_conversations") {
        return Err(fault(
            "The conversation has no message of a person that an assistant answers.",
        ));
    }
    let inputs = |(person, agent): &Pair<'_>| {
        let known = [
            ("query", content(person, quirks)),
            ("response", content(agent, quirks)),
            ("ground_truth", ground_truth(agent, quirks)),
            ("context", context(takes, conversation, person, agent, quirks)),
            // The package's prompts render unknown tool definitions as `[]`, and only in
            // conversations.
            ("tool_definitions", quirks.has("python_repr").then(|| "[]".into())),
        ];
        let wanted = known.into_iter().filter(|(name, _)| takes.contains(name));
        Inputs(wanted.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    };
    Ok(pairs.iter().map(inputs).collect())
}

/// Joins the contents of one side's messages with line breaks. Returns `None` when no message has
/// content, for example when they only call tools.
fn content(side: &[&Value], quirks: &Quirks) -> Option<Value> {
    if let ([one], true) = (side, quirks.has("turns_zipped")) {
        let raw = one.get("content").cloned().unwrap_or_else(|| "".into());
        return Some(if quirks.has("contents_unread") { raw } else { normal::text_of(&raw) });
    }
    let raw = side.iter().filter_map(|message| message.get("content"));
    let read = raw
        .map(|raw| if quirks.has("contents_unread") { raw.clone() } else { normal::text_of(raw) });
    let said: Vec<Value> = read.filter(is_said).collect();
    match said.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => {
            let texts: Vec<String> =
                several.iter().map(|one| format_value(Some(one), quirks)).collect();
            Some(Value::Text(texts.join("\n")))
        }
    }
}

/// Returns whether a value is present and is not a blank text.
fn is_said(value: &Value) -> bool {
    !is_missing(Some(value)) && value.text().is_none_or(|text| !text.trim().is_empty())
}

/// Returns the last ground truth that is present.
fn ground_truth(agent: &[&Value], quirks: &Quirks) -> Option<Value> {
    let all = || agent.iter().rev().filter_map(|message| message.get("ground_truth"));
    let known = all().find(|value| is_said(value)).cloned();
    known.or_else(|| {
        quirks.has("turns_filled_up").then(|| all().next().cloned().unwrap_or_else(|| "".into()))
    })
}

/// Returns whether any message has a picture. Returns an error where the package would fail on the
/// content.
fn pictures(messages: &[Value], quirks: &Quirks) -> Result<bool, &'static str> {
    let strict = quirks.has("contents_unread");
    for part in messages.iter().filter_map(|message| message.get("content")).flat_map(Value::items)
    {
        let image = part
            .get("image_url")
            .filter(|_| part.get("type").and_then(Value::text) == Some("image_url"));
        let shown = match image {
            _ if strict && !matches!(part, Value::Map(_)) => {
                return Err("A part of a content is not an object.");
            }
            Some(image) if !strict => *image != Value::Null && *image != Value::Map(Vec::new()),
            Some(Value::Map(_)) => image.and_then(|image| image.get("url")).is_some(),
            Some(Value::Text(text)) => text.contains("url"),
            Some(Value::List(items)) => items.contains(&"url".into()),
            Some(_) => return Err("A picture in a content has no address."),
            None => false,
        };
        if shown {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rejects conversations with pictures. With quirks, the error depends on the roles of the
/// messages, like in the package.
fn reject_pictures(messages: &[Value], quirks: &Quirks) -> Result<Vec<Inputs>, Failure> {
    let spoken = |who: &str| messages.iter().filter(|message| has_role(message, who)).count();
    let (by_input, message) = match (spoken("user"), spoken("assistant")) {
        _ if !quirks.has("turns_zipped") => (true, "Only text conversation inputs are supported."),
        (0, 0) if quirks.has("empty_conversations") => return Ok(Vec::new()),
        (persons, agents) if persons != agents => {
            (false, "Mismatched number of user and assistant messages.")
        }
        (_, 0 | 1) => (true, "Only text conversation inputs are supported."),
        _ => (false, "Conversation can have only one assistant message."),
    };
    Err(Failure { by_input, message: message.to_owned() })
}

type Pair<'a> = (Vec<&'a Value>, Vec<&'a Value>);

fn has_role(message: &Value, who: &str) -> bool {
    message.get("role").and_then(Value::text) == Some(who)
}

/// Pairs the nth user message with the nth assistant message regardless of their order, like the
/// package.
fn pair_by_index(messages: &[Value]) -> Vec<Pair<'_>> {
    let of = |who: &'static str| messages.iter().filter(move |message| has_role(message, who));
    of("user").zip(of("assistant")).map(|(person, agent)| (vec![person], vec![agent])).collect()
}

/// Pairs the user messages before an answer with the messages of that answer. Answers without
/// content are dropped.
fn pair_turns<'a>(messages: &'a [Value], quirks: &Quirks) -> Vec<Pair<'a>> {
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for message in messages {
        match pairs.last_mut() {
            _ if !has_role(message, "user") && !has_role(message, "assistant") => {}
            Some((person, agent)) if has_role(message, "user") && agent.is_empty() => {
                person.push(message);
            }
            _ if has_role(message, "user") => pairs.push((vec![message], Vec::new())),
            Some((_, agent)) => agent.push(message),
            // An assistant message before the first user message, such as a greeting, answers
            // nothing.
            None => {}
        }
    }
    pairs.retain(|(_, agent)| content(agent, quirks).is_some());
    pairs
}

/// Returns the context of a turn: of the whole conversation, of the query and of the response.
fn context(
    takes: &[&str],
    conversation: &Value,
    person: &[&Value],
    agent: &[&Value],
    quirks: &Quirks,
) -> Option<Value> {
    let of = |side: &[&Value], input| {
        let there =
            side.iter().filter_map(|message| message.get("context")).filter(|value| truthy(value));
        let mut known: Vec<Value> = there.filter(|_| takes.contains(&input)).cloned().collect();
        known.dedup();
        if known.len() > 1 { Some(Value::List(known)) } else { known.pop() }
    };
    let all = [
        ("global_context", conversation.get("context").filter(|value| truthy(value)).cloned()),
        ("query_context", of(person, "query")),
        ("response_context", of(agent, "response")),
    ];
    let known: Vec<(Value, Value)> =
        all.into_iter().filter_map(|(name, value)| Some((name.into(), value?))).collect();
    let there = !known.is_empty() || quirks.has("turns_filled_up");
    there.then(|| Value::Text(format_value(Some(&Value::Map(known)), quirks)))
}

/// Score key, key of its result, and the threshold it is compared with.
pub(super) type ScoreThreshold<'a> = (&'a str, &'a str, &'a Limit);

/// Combines the results of several turns: means of numbers, pass or fail of the scores in `held`,
/// and all values in `evaluation_per_turn`.
pub(super) fn combine_turns(
    turns: Vec<Outcome>,
    held: &[ScoreThreshold<'_>],
    quirks: &Quirks,
) -> Outcome {
    if turns.len() < 2 {
        return turns.into_iter().next().unwrap_or_default();
    }
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in turns.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let values = |name: &str| -> Vec<&Value> {
        turns
            .iter()
            .filter_map(|turn| turn.iter().find(|(known, _)| known == name))
            .map(|(_, value)| value)
            .collect()
    };
    let mut out: Outcome = Vec::new();
    for name in &names {
        let values = values(name);
        let Some(mean) = mean(&values) else { continue };
        let threshold = name.ends_with("_threshold") && !quirks.has("turns_without_result");
        let value = if threshold { values[0].clone() } else { number(mean) };
        out.push(((*name).to_owned(), value));
        let held =
            held.iter().find(|(score, ..)| score == name && !quirks.has("turns_without_result"));
        if let Some((_, key, limit)) = held {
            out.extend(result(mean, limit).map(|word| ((*key).to_owned(), word.into())));
        }
    }
    let lists = names
        .iter()
        .map(|name| ((*name).into(), Value::List(values(name).into_iter().cloned().collect())));
    out.push(("evaluation_per_turn".to_owned(), Value::Map(lists.collect())));
    out
}

/// Returns `pass` or `fail` for a score; `None` when the score is NaN.
pub(super) fn result(score: f64, limit: &Limit) -> Option<&'static str> {
    (!score.is_nan()).then_some(if score >= limit.value { "pass" } else { "fail" })
}

/// Returns the mean; `None` when there are no values or any of them is not a number.
fn mean(values: &[&Value]) -> Option<f64> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| as_number(value)).collect();
    let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
    #[expect(clippy::cast_precision_loss, reason = "turns of a conversation")]
    let count = numbers.len() as f64;
    Some(numbers.iter().sum::<f64>() / count)
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(yes) => Some(f64::from(u8::from(*yes))),
        Value::Number(number) => written(number),
        _ => None,
    }
}
