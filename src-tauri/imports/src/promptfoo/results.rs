//! **Pure.** Results as JSON: a file of version 2 or 3, or lines.
use super::naming::{Name, Test, name_tests};
use crate::format::ImportedFile;
use crate::messages::{read_call, read_thread};
use crate::pieces;
use crate::run::{
    Event, EventKind, Identity, ImportedRun, ImportedVerdict, Media, MediaContent, Repeat, RunEnd,
    TokenCounts,
};
use crate::slices::{Names, Slices, parse_member};
use crate::text::{is_blank, text_or_json};
use touchstone_model::error::ReadError;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Rank of results in the database, which outranks files that were exported from it.
pub(super) const DATABASE_RANK: f64 = 2.0;

/// Results of a file.
#[derive(Debug)]
pub(super) struct Results {
    slices: Slices,
    names: Vec<Name>,
    members: Vec<String>,
    facts: Vec<(String, Value)>,
    rank: f64,
}

impl Results {
    /// Reads a JSON file of version 2 or 3.
    pub(super) fn read_summary(bytes: Vec<u8>) -> Result<Self, ReadError> {
        let slices = Slices::list(bytes, &["results", "results"])?;
        let facts = evaluation_facts(slices.text());
        Ok(Results::new(slices, facts, 1.0))
    }

    /// Reads what the database holds of an evaluation in its older layout.
    pub(super) fn read_stored(
        bytes: Vec<u8>,
        facts: Vec<(String, Value)>,
    ) -> Result<Self, ReadError> {
        Ok(Results::new(Slices::list(bytes, &["results"])?, facts, DATABASE_RANK))
    }

    /// Reads lines.
    pub(super) fn read_lines(bytes: Vec<u8>) -> Result<Self, ReadError> {
        Ok(Results::new(Slices::lines(bytes)?, Vec::new(), 0.0))
    }

    fn new(slices: Slices, facts: Vec<(String, Value)>, rank: f64) -> Self {
        let mut seen = Names::default();
        let (mut tests, mut members) = (Vec::new(), Vec::new());
        for at in 0..slices.len() {
            let (test, place) = read_test(slices.get(at), at);
            let name = match place {
                Some((test, prompt)) => format!("test {test} prompt {prompt}"),
                None => format!("result {at}"),
            };
            members.push(seen.add(name));
            tests.push(test);
        }
        Results { names: name_tests(&tests), slices, members, facts, rank }
    }
}

/// Reads the part of a result that names it, and the numbers of its test and its prompt.
pub(super) fn read_test(text: &str, at: usize) -> (Test, Option<(u64, u64)>) {
    let parts = pieces::members(text);
    let number = |key| parse_member(&parts, key)?.whole_number();
    let place = number("testIdx").zip(number("promptIdx"));
    let case = pieces::member(&parts, "testCase").map(pieces::members);
    let description = case.as_ref().and_then(|case| parse_member(case, "description"));
    let variables = match &case {
        Some(case) => parse_member(case, "vars"),
        None => parse_member(&parts, "vars"),
    };
    let metadata = pieces::member(&parts, "metadata").map(pieces::members);
    let session = metadata.and_then(|metadata| parse_member(&metadata, "sessionId"));
    let prompt = parse_member(&parts, "prompt").unwrap_or_default();
    let prompt_id = parse_member(&parts, "promptId").and_then(|id| id.text().map(str::to_owned));
    let provider = parse_member(&parts, "provider").unwrap_or_default();
    let read = Test {
        description: description.as_ref().and_then(text_or_json).filter(|text| !text.is_empty()),
        variables: without_session(variables.unwrap_or_default(), session.as_ref()),
        prompt: prompt_id.or_else(|| prompt_name(&prompt)).unwrap_or_default(),
        provider: crate::text::canonical_json(&provider),
        // Results without these numbers come behind the others.
        order: place.unwrap_or((u64::MAX, at as u64)),
    };
    (read, place)
}

/// Returns the variables without the session that the tool added while it ran.
fn without_session(variables: Value, session: Option<&Value>) -> Value {
    let Value::Map(mut entries) = variables else { return Value::Map(Vec::new()) };
    if let Some(session) = session {
        entries.retain(|(key, value)| key.text() != Some("sessionId") || value != session);
    }
    Value::Map(entries)
}

fn prompt_name(prompt: &Value) -> Option<String> {
    first_text(prompt, &["label", "display", "raw"]).or_else(|| prompt.text().map(str::to_owned))
}

fn first_text(value: &Value, keys: &[&str]) -> Option<String> {
    let texts = keys.iter().filter_map(|key| value.text_at(key));
    texts.into_iter().find(|text| !text.is_empty()).map(str::to_owned)
}

/// Reads what the file says about the whole evaluation.
fn evaluation_facts(text: &str) -> Vec<(String, Value)> {
    let file = pieces::members(text);
    let inner =
        |key: &str, of: &str| parse_member(&pieces::members(pieces::member(&file, of)?), key);
    let facts = [
        ("promptfoo version", inner("promptfooVersion", "metadata")),
        ("evaluation", parse_member(&file, "evalId")),
        ("evaluation description", inner("description", "config")),
        ("evaluation started", inner("timestamp", "results")),
        ("results version", inner("version", "results")),
    ];
    facts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

impl ImportedFile for Results {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.members.get(at).cloned()
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let result = self.slices.parse(at)?;
        let name = self.names.get(at).cloned().unwrap_or_default();
        Ok(read_named(&result, name, self.rank, &self.facts))
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

/// Reads a result with its name and the facts of its evaluation.
pub(super) fn read_named(
    result: &Value,
    name: Name,
    rank: f64,
    facts: &[(String, Value)],
) -> ImportedRun {
    let mut run = read_result(result);
    run.task = Some(name.task);
    run.repeat = Repeat::Number(name.repeat);
    let key = result.text_at("id").map(|id| format!("promptfoo {id}"));
    run.identity = key.map(|key| Identity { key, rank });
    run.facts.extend(facts.iter().cloned());
    run
}

/// Reads a result without what depends on the other results of its file.
pub(super) fn read_result(result: &Value) -> ImportedRun {
    let missing = Value::Null;
    let part = |key: &str| result.get(key).unwrap_or(&missing);
    let (provider, response) = (part("provider"), part("response"));
    let provider_name = || provider.text().map(str::to_owned);
    let mut run = ImportedRun {
        model: first_text(provider, &["label", "id"]).or_else(provider_name),
        system: prompt_name(part("prompt")),
        cost: response.get("cost").and_then(Value::number),
        seconds: part("latencyMs").number().map(|milliseconds| milliseconds / 1_000.0),
        tokens: read_tokens(response),
        ..ImportedRun::default()
    };
    read_prompt(part("prompt"), &mut run);
    read_output(response, &mut run);
    if is_error(result) {
        run.end = RunEnd::Error;
        let errors = [result.get_non_null("error"), response.get_non_null("error")];
        run.error = errors.into_iter().flatten().find_map(text_or_json);
    } else {
        run.verdicts = read_verdicts(result);
    }
    run.expected = find_expected(result);
    read_facts(result, &mut run);
    run
}

/// Returns true if the model could not be asked or its answer could not be graded. A failed
/// assertion is no error, though the tool writes its reason under `error` as well.
fn is_error(result: &Value) -> bool {
    if let Some(reason) = result.get_non_null("failureReason") {
        return reason.number() == Some(2.0);
    }
    let failed = |holder: &Value| holder.get_non_null("error").is_some();
    let is_graded = result.get_non_null("gradingResult").is_some();
    let response = result.get_non_null("response");
    response.map_or_else(|| failed(result) && !is_graded, failed)
}

fn read_tokens(response: &Value) -> Option<TokenCounts> {
    let usage = response.get("tokenUsage")?;
    let count = |key: &str| usage.get(key).and_then(Value::whole_number);
    TokenCounts::new(count("prompt"), count("completion"), count("total"))
}

fn read_prompt(prompt: &Value, run: &mut ImportedRun) {
    let Some(raw) = prompt.get("raw").and_then(text_or_json) else { return };
    let list = json::embedded(&raw).filter(|list| {
        let mut messages = list.items().iter();
        !list.items().is_empty() && messages.all(|message| message.text_at("role").is_some())
    });
    match list {
        Some(list) => run.events.extend(read_thread(list.items())),
        None if is_blank(&raw) => {}
        None => run.push(EventKind::User(raw)),
    }
}

fn read_output(response: &Value, run: &mut ImportedRun) {
    let output = response.get("output").unwrap_or(&Value::Null);
    let calls: Vec<EventKind> = output
        .items()
        .iter()
        .filter(|item| item.at_path(&["function", "name"]).and_then(Value::text).is_some())
        .filter_map(read_call)
        .collect();
    if !calls.is_empty() && calls.len() == output.items().len() {
        run.events.extend(calls.iter().cloned().map(Event::from));
    } else if let Some(text) = text_or_json(output).filter(|text| !is_blank(text)) {
        run.answer = Some(text.clone());
        run.push(EventKind::Assistant(text));
    }
    let mut is_silent = calls.is_empty() && run.answer.is_none();
    for kind in ["images", "audio", "video"] {
        let media = response.get_non_null(kind);
        let one = media.filter(|media| !matches!(media, Value::List(_)));
        for item in media.map(Value::items).unwrap_or_default().iter().chain(one) {
            // Images alone are a message of their own.
            if std::mem::take(&mut is_silent) {
                run.push(EventKind::Assistant(String::new()));
            }
            let format = ["mimeType", "format"].iter().find_map(|key| item.text_at(key));
            let text = format.map_or_else(|| kind.to_owned(), |format| format!("{kind}, {format}"));
            let content = item.text_at("data").and_then(MediaContent::from_text);
            run.push(EventKind::Media(Media { text, content }));
        }
    }
}

fn components(result: &Value) -> &[Value] {
    result.at_path(&["gradingResult", "componentResults"]).map(Value::items).unwrap_or_default()
}

fn read_verdicts(result: &Value) -> Vec<ImportedVerdict> {
    let reason = |holder: Option<&Value>| holder?.get_non_null("reason").and_then(text_or_json);
    let first = ImportedVerdict {
        name: "success".to_owned(),
        value: result.get("score").cloned().unwrap_or_default(),
        passed: result.get("success").and_then(Value::bool),
        reason: reason(result.get("gradingResult")),
        threshold: result.at_path(&["testCase", "threshold"]).and_then(non_null),
    };
    let others = components(result).iter().filter(|part| **part != Value::Null).map(|part| {
        let assertion = part.get_non_null("assertion");
        let set = part.at_path(&["metadata", "assertionSet"]);
        let is_set = set.is_some() || part.get_non_null("componentResults").is_some();
        let name = assertion.and_then(|assertion| first_text(assertion, &["metric", "type"]));
        let other = if is_set { "assert-set" } else { "assertion" };
        ImportedVerdict {
            name: name.unwrap_or_else(|| other.to_owned()),
            value: part.get("score").cloned().unwrap_or_default(),
            passed: part.get("pass").and_then(Value::bool),
            reason: reason(Some(part)),
            threshold: assertion
                .or(set)
                .and_then(|holder| holder.get("threshold"))
                .and_then(non_null),
        }
    });
    std::iter::once(first).chain(others).collect()
}

fn non_null(value: &Value) -> Option<Value> {
    (*value != Value::Null).then(|| value.clone())
}

/// Returns the value of the first assertion `equals`: as it was rendered, if the file says so.
fn find_expected(result: &Value) -> Option<Value> {
    let is_equals = |assertion: &&Value| assertion.text_at("type") == Some("equals");
    let listed = result.at_path(&["testCase", "assert"]).map(Value::items).unwrap_or_default();
    let listed = listed.iter().find(is_equals).and_then(|assertion| assertion.get("value"));
    let graded = components(result).iter().filter(|part| {
        let assertion = part.get("assertion").filter(is_equals);
        assertion.is_some_and(|assertion| listed.is_none() || assertion.get("value") == listed)
    });
    let graded = graded.into_iter().next();
    let rendered = graded.and_then(|part| part.at_path(&["metadata", "renderedAssertionValue"]));
    let written = || graded.and_then(|part| part.at_path(&["assertion", "value"]));
    let value = rendered.and_then(non_null).or_else(|| listed.or_else(written).cloned())?;
    text_or_json(&value).map(Value::Text)
}

fn read_facts(result: &Value, run: &mut ImportedRun) {
    let mut fact = |name: &str, value: Option<&Value>| {
        if let Some(value) = value.filter(|value| !is_empty(value)) {
            run.facts.push((name.to_owned(), value.clone()));
        }
    };
    let provider =
        result.at_path(&["provider", "id"]).filter(|id| id.text() != run.model.as_deref());
    fact("provider", provider);
    fact("named scores", result.get("namedScores"));
    fact("comment", result.at_path(&["gradingResult", "comment"]));
    fact("finish reason", result.at_path(&["response", "finishReason"]));
    if let Some(Value::Map(entries)) = result.get("metadata") {
        let mut entries = entries.clone();
        entries.retain(|(key, _)| key.text() != Some("_promptfooFileMetadata"));
        fact("metadata", Some(&Value::Map(entries)));
    }
    if result.at_path(&["response", "cached"]).and_then(Value::bool) == Some(true) {
        run.notes.push("The answer comes from promptfoo's cache, not from the model.".to_owned());
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(entries) => entries.is_empty(),
        _ => false,
    }
}
