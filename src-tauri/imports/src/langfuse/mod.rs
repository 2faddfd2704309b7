//! **Pure.** Traces that Langfuse exports, with their observations and scores.
mod observation;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::pieces::{self, member};
use crate::run::{ImportedRun, ImportedVerdict, RunEnd};
use crate::source::Input;
use crate::text::is_blank;
use crate::traces::{self, add_agents, add_cost, add_fact, add_tokens, parse, seconds_between};
use observation::Observation;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::value::Value;

/// Trace exports of Langfuse.
#[derive(Debug, Clone, Copy)]
pub struct Langfuse;

impl Format for Langfuse {
    fn name(&self) -> &'static str {
        "langfuse"
    }

    fn title(&self) -> &'static str {
        "Langfuse"
    }

    fn files(&self) -> &'static str {
        "exported traces as *.json, *.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("langfuse.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head?;
        let marks =
            ["projectId", "timestamp", "environment", "sessionId", "userId", "release", "public"];
        let count_marks =
            |has: &dyn Fn(&str) -> bool| marks.iter().filter(|mark| has(mark)).count();
        let in_trace = |key: &str| head.has_inner("trace", key);
        let in_observations = |key: &str| head.has_inner("observations", key);
        let is_observation = in_observations("traceId") && in_observations("startTime");
        let holds_trace = (in_trace("id") && count_marks(&in_trace) >= 3)
            || (is_observation && head.has(&["trace"]))
            || (is_observation && head.keys.len() == 1);
        // The interface for programs gives the trace itself.
        let is_bare = head.has(&["id", "timestamp", "projectId"])
            && (head.has(&["htmlPath"]) || head.has(&["observations"]) || head.has(&["public"]))
            && !head.has(&["traceId"]);
        // Whether more traces follow on further lines is not known from the start of the file.
        (holds_trace || is_bare).then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Opened::read(input.read_all()?)?))
    }
}

struct Opened {
    text: String,
    traces: Vec<(String, Range<usize>)>,
    error: Option<ReadError>,
}

impl Opened {
    fn read(bytes: Vec<u8>) -> Result<Opened, ReadError> {
        let text = pieces::text(bytes)?;
        let mut found: Vec<&str> = Vec::new();
        let mut error = None;
        for document in pieces::documents(&text) {
            if document.starts_with('[') {
                let list = pieces::items(document);
                if !list.is_complete {
                    error = Some(pieces::cut_off());
                }
                found.extend(list.parts);
            } else {
                found.push(document);
            }
        }
        let mut traces = Vec::new();
        let mut known: HashMap<String, u32> = HashMap::new();
        for part in found {
            let members = pieces::members(part);
            if !members.is_complete {
                error = Some(pieces::cut_off());
                continue;
            }
            let Some(id) = trace_id(&members, traces.len()) else { continue };
            let times = known.entry(id.clone()).or_default();
            *times += 1;
            // An export may hold a trace twice; each keeps a name of its own.
            let name = if *times == 1 { id } else { format!("{id} ({times})") };
            traces.push((name, pieces::range_of_part(&text, part)));
        }
        match error {
            Some(error) if traces.is_empty() => Err(error),
            error => Ok(Opened { text, traces, error }),
        }
    }
}

/// Returns the id of a trace; `None` if the object is none.
fn trace_id(members: &pieces::Pieces<(&str, &str)>, number: usize) -> Option<String> {
    let inside = member(members, "trace").map(pieces::members);
    let id = if let Some(trace) = &inside {
        member(trace, "id")
    } else {
        member(members, "timestamp").or_else(|| member(members, "observations"))?;
        member(members, "id")
    };
    let id = id.and_then(|id| parse(id).ok());
    let id = id.and_then(|id| id.text().filter(|id| !is_blank(id)).map(str::to_owned));
    Some(id.unwrap_or_else(|| format!("trace {}", number + 1)))
}

impl ImportedFile for Opened {
    fn len(&self) -> usize {
        self.traces.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.traces.get(at).map(|(id, _)| id.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let range = self.traces.get(at).map(|(_, range)| range.clone()).unwrap_or_default();
        let value = parse(self.text.get(range).unwrap_or_default())?;
        let trace = value.get("trace").unwrap_or(&value);
        if trace.entries().is_empty() {
            let message = "The trace is empty.";
            return Err(ReadError::new(ReadErrorKind::NotTranscript, message));
        }
        Ok(read_trace(&value, trace))
    }

    fn file_error(&self) -> Option<ReadError> {
        self.error.clone()
    }
}

/// Reads a run. Observations beside the trace win over those in it, which lack input and output.
fn read_trace(value: &Value, trace: &Value) -> ImportedRun {
    let lists = [value.get("observations"), trace.get("observations")];
    let list = lists.into_iter().flatten().map(Value::items).find(|items| !items.is_empty());
    let observations = list.unwrap_or_default().iter();
    let mut observations: Vec<Observation> = observations.map(Observation::read).collect();
    observations.sort_by(|a, b| {
        let start = |one: &Observation| one.start.unwrap_or(f64::INFINITY);
        start(a).total_cmp(&start(b))
    });
    let above = ids_above_generations(&observations);
    let calls: Vec<&Observation> = observations
        .iter()
        .filter(|one| one.kind == "GENERATION" && !above.contains(one.id))
        .collect();
    let mut run = ImportedRun {
        system: text_at(trace, "name"),
        model: calls.iter().find_map(|call| call.model()).map(str::to_owned),
        started: text_at(trace, "timestamp"),
        verdicts: read_scores(value, trace),
        ..ImportedRun::default()
    };
    for call in &calls {
        add_tokens(&mut run.tokens, call.tokens());
        add_cost(&mut run.cost, call.cost());
    }
    let start = observations.iter().filter_map(|one| one.start).min_by(f64::total_cmp);
    let end = observations.iter().filter_map(|one| one.end).max_by(f64::total_cmp);
    run.seconds = seconds_between(start, end);
    let known: HashSet<&str> = observations.iter().map(|one| one.id).collect();
    let mut tops =
        observations.iter().filter(|one| one.parent.is_none_or(|parent| !known.contains(parent)));
    let failed = tops.find(|one| one.is_failed);
    let failed = failed.or_else(|| calls.last().copied().filter(|call| call.is_failed));
    if let Some(failed) = failed {
        run.end = RunEnd::Error;
        run.error = failed.message.filter(|message| !is_blank(message)).map(str::to_owned);
    }
    add_facts(&mut run, trace, &observations);
    let model_calls = calls.iter().map(|call| call.to_model_call()).collect();
    let tools = observations.iter().filter(|one| one.kind == "TOOL");
    let tools = tools.map(Observation::to_tool_span).collect();
    traces::assemble(&mut run, model_calls, tools);
    run
}

/// Returns the ids of all observations that have a generation below them.
fn ids_above_generations<'a>(observations: &[Observation<'a>]) -> HashSet<&'a str> {
    let parents: HashMap<&str, Option<&'a str>> =
        observations.iter().map(|one| (one.id, one.parent)).collect();
    let mut above = HashSet::new();
    for one in observations.iter().filter(|one| one.kind == "GENERATION") {
        let mut next = one.parent.filter(|parent| *parent != one.id);
        while let Some(parent) = next.filter(|parent| above.insert(*parent)) {
            next = parents.get(parent).copied().flatten();
        }
    }
    above
}

fn text_at(value: &Value, key: &str) -> Option<String> {
    value.text_at(key).filter(|text| !is_blank(text)).map(str::to_owned)
}

/// Reads the scores. Only a boolean one says whether the run passed.
fn read_scores(value: &Value, trace: &Value) -> Vec<ImportedVerdict> {
    let lists = [trace.get("scores"), value.get("scores")];
    let list = lists.into_iter().flatten().map(Value::items).find(|items| !items.is_empty());
    let scores = list.unwrap_or_default().iter().filter(|score| !score.entries().is_empty());
    let read = scores.map(|score| {
        let kind = score.text_at("dataType").unwrap_or_default();
        let (number, text) = (score.get_non_null("value"), score.get_non_null("stringValue"));
        let is_text = matches!(kind, "CATEGORICAL" | "TEXT");
        let value = if is_text { text.or(number) } else { number.or(text) };
        let passed = match number.filter(|_| kind == "BOOLEAN") {
            Some(Value::Bool(passed)) => Some(*passed),
            Some(number) if number.number() == Some(1.0) => Some(true),
            Some(number) if number.number() == Some(0.0) => Some(false),
            _ => None,
        };
        ImportedVerdict {
            name: score.text_at("name").unwrap_or("score").to_owned(),
            value: value.cloned().unwrap_or_default(),
            passed,
            reason: score.text_at("comment").map(str::to_owned),
            threshold: None,
        }
    });
    read.collect()
}

fn add_facts(run: &mut ImportedRun, trace: &Value, observations: &[Observation]) {
    for (fact, key) in [
        ("session", "sessionId"),
        ("user", "userId"),
        ("release", "release"),
        ("version", "version"),
        ("environment", "environment"),
        ("tags", "tags"),
    ] {
        let value = trace.get(key).filter(|value| value.text() != Some("default"));
        add_fact(run, fact, value);
    }
    let agents = observations.iter().filter(|one| one.kind == "AGENT");
    add_agents(run, agents.map(|one| one.name));
    if observations.is_empty() {
        run.notes.push("The file holds no observations of this trace.".to_owned());
    } else {
        let count = Value::Number(observations.len().to_string());
        add_fact(run, "observations", Some(&count));
    }
}

#[cfg(test)]
mod tests;
