//! **Pure.** Results of `AgentV`: lines of JSON.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::messages::{read_call, read_message};
use crate::pieces;
use crate::run::{Event, EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::slices::{Names, Slices, parse_member};
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use std::collections::HashMap;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Results of `AgentV`.
#[derive(Debug, Clone, Copy)]
pub struct AgentV;

impl Format for AgentV {
    fn name(&self) -> &'static str {
        "agentv"
    }

    fn title(&self) -> &'static str {
        "AgentV"
    }

    fn files(&self) -> &'static str {
        "*.jsonl"
    }

    fn documentation(&self) -> &'static str {
        include_str!("agentv.md")
    }

    fn detect(&self, path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list)?;
        let is_lines = head.is_lines || is_jsonl(path);
        let is_named = head.has(&["test_id"]) || head.has(&["testId"]);
        let is_result = head.has(&["score"])
            && ["target", "suite", "timestamp"].iter().any(|key| head.has(&[key]));
        (is_lines && is_named && is_result).then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        Ok(Box::new(Results::new(Slices::lines(input.read_all()?)?)))
    }
}

fn is_jsonl(path: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    end.eq_ignore_ascii_case("jsonl")
}

/// Name and number of a line.
#[derive(Debug)]
struct Name {
    member: String,
    task: Option<String>,
    repeat: u32,
}

/// Lines of a file with their names.
struct Results {
    slices: Slices,
    names: Vec<Name>,
}

impl Results {
    fn new(slices: Slices) -> Self {
        let mut counts: HashMap<(Option<String>, Option<String>), u32> = HashMap::new();
        let mut seen = Names::default();
        let names = (0..slices.len())
            .map(|at| {
                let parts = pieces::members(slices.get(at));
                let text = |keys: [&str; 2]| {
                    let value = keys.iter().find_map(|key| parse_member(&parts, key))?;
                    text_or_json(&value).filter(|text| !text.is_empty())
                };
                let case = text(["test_id", "testId"]);
                let task = match (text(["suite"; 2]), case) {
                    (Some(suite), Some(case)) => Some(format!("{suite}/{case}")),
                    (suite, case) => case.or(suite),
                };
                let target = text(["target"; 2]);
                let count = counts.entry((task.clone(), target.clone())).or_default();
                *count = count.saturating_add(1);
                let sample = ["sample_index", "sampleIndex"];
                let sample = sample.iter().find_map(|key| parse_member(&parts, key));
                let sample = sample.and_then(|index| u32::try_from(index.whole_number()?).ok());
                let repeat = sample.and_then(|index| index.checked_add(1)).unwrap_or(*count);
                let parts: Vec<String> = task.iter().chain(&target).cloned().collect();
                let name = if parts.is_empty() { format!("line {at}") } else { parts.join(" ") };
                let member = seen.add(name);
                Name { member, task, repeat }
            })
            .collect();
        Results { slices, names }
    }
}

impl ImportedFile for Results {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.names.get(at).map(|name| name.member.clone())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let mut run = read_line(&self.slices.parse(at)?);
        if let Some(name) = self.names.get(at) {
            run.task.clone_from(&name.task);
            run.repeat = Repeat::Number(name.repeat);
        }
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

/// Returns the value of a key, or of its older form.
fn get<'a>(holder: &'a Value, key: &str) -> Option<&'a Value> {
    holder.get_non_null(key).or_else(|| {
        let mut words = key.split('_');
        let mut older = words.next().unwrap_or_default().to_owned();
        for word in words {
            let (first, rest) = word.split_at(word.len().min(1));
            older.push_str(&first.to_ascii_uppercase());
            older.push_str(rest);
        }
        holder.get_non_null(&older)
    })
}

fn read_line(line: &Value) -> ImportedRun {
    let missing = Value::Null;
    let trace = get(line, "trace").unwrap_or(&missing);
    let either = |key: &str| get(line, key).or_else(|| get(trace, key));
    let milliseconds = either("duration_ms").and_then(Value::number);
    let status = get(line, "execution_status").and_then(Value::text);
    let mut run = ImportedRun {
        model: get(line, "target").and_then(text_or_json),
        tokens: either("token_usage").and_then(read_tokens),
        cost: either("cost_usd").and_then(Value::number),
        seconds: milliseconds.map(|milliseconds| milliseconds / 1_000.0),
        started: get(line, "start_time").and_then(text_or_json),
        verdicts: read_verdicts(line, status),
        ..ImportedRun::default()
    };
    let error = get(line, "error");
    if status == Some("execution_error") || error.is_some() {
        run.end = RunEnd::Error;
        let detail = get(line, "execution_error").and_then(|error| error.get_non_null("message"));
        run.error = error.or(detail).and_then(text_or_json);
    }
    read_messages(get(line, "input"), false, &mut run);
    let output = get(line, "output");
    let answer = get(line, "answer");
    read_messages(output.or(answer), true, &mut run);
    let answer = answer.and_then(Value::text).filter(|text| !is_blank(text));
    run.answer = answer.or_else(|| run.last_text()).map(str::to_owned);
    for (name, key) in [
        ("written", "timestamp"),
        ("experiment", "experiment"),
        ("category", "category"),
        ("variant", "variant"),
        ("status", "execution_status"),
        ("failure stage", "failure_stage"),
        ("failure reason", "failure_reason_code"),
        ("attempts", "attempts"),
        ("attempts", "samples"),
        ("aggregation", "aggregation"),
        ("tags", "tags"),
        ("metadata", "metadata"),
    ] {
        run.facts.extend(get(line, key).map(|value| (name.to_owned(), value.clone())));
    }
    if run.events.is_empty() {
        let paths = ["transcript_path", "answer_path", "output_path"];
        let path = paths.iter().find_map(|key| get(line, key)?.text());
        run.notes.push(match path {
            Some(path) => format!("The line has no steps. They lie in {path}, which is not read."),
            None => "The line has neither the input nor the answer.".to_owned(),
        });
    }
    run
}

fn read_tokens(usage: &Value) -> Option<TokenCounts> {
    let count = |key: &str| get(usage, key).and_then(Value::whole_number);
    TokenCounts::new(count("input"), count("output"), count("total"))
}

fn read_verdicts(line: &Value, status: Option<&str>) -> Vec<ImportedVerdict> {
    let reason = |holder: &Value| {
        ["reason", "reasoning"].iter().find_map(|key| get(holder, key)).and_then(text_or_json)
    };
    let score = get(line, "score").map(|score| ImportedVerdict {
        name: "score".to_owned(),
        value: score.clone(),
        passed: match status {
            Some("ok") => Some(true),
            Some("quality_failure") => Some(false),
            _ => None,
        },
        reason: reason(line),
        threshold: None,
    });
    let scores = get(line, "scores").map(Value::items).unwrap_or_default();
    let scores = scores.iter().filter(|score| **score != Value::Null);
    let scores = scores.map(|score| ImportedVerdict {
        name: score.text_at("name").unwrap_or("score").to_owned(),
        value: score.get("score").cloned().unwrap_or_default(),
        passed: match score.text_at("verdict") {
            Some("pass") => Some(true),
            Some("fail") => Some(false),
            _ => None,
        },
        reason: reason(score),
        threshold: None,
    });
    score.into_iter().chain(scores).collect()
}

/// Reads the input or the output: text or messages.
fn read_messages(value: Option<&Value>, is_output: bool, run: &mut ImportedRun) {
    let Some(value) = value else { return };
    let messages = value.items();
    if !messages.is_empty() && messages.iter().all(|one| one.text_at("role").is_some()) {
        for message in messages {
            read_one(message, run);
        }
    } else if let Some(text) = text_or_json(value).filter(|text| !is_blank(text)) {
        run.push(if is_output { EventKind::Assistant(text) } else { EventKind::User(text) });
    }
}

fn read_one(message: &Value, run: &mut ImportedRun) {
    let Value::Map(entries) = message else { return };
    let mut plain = entries.clone();
    plain.retain(|(key, _)| !matches!(key.text(), Some("tool_calls" | "toolCalls")));
    let time = get(message, "start_time").and_then(text_or_json);
    let tokens = get(message, "token_usage").and_then(read_tokens).and_then(|count| count.total);
    for (at, kind) in read_message(&Value::Map(plain)).into_iter().enumerate() {
        let is_first = at == 0;
        run.events.push(Event {
            kind,
            time: time.clone(),
            seconds: get(message, "duration_ms").filter(|_| is_first).and_then(seconds),
            tokens: tokens.filter(|_| is_first),
            ..Event::default()
        });
    }
    for call in get(message, "tool_calls").map(Value::items).unwrap_or_default() {
        read_tool_call(call, run);
    }
}

fn seconds(milliseconds: &Value) -> Option<f64> {
    Some(milliseconds.number()? / 1_000.0)
}

fn read_tool_call(call: &Value, run: &mut ImportedRun) {
    let id = call.text_at("id").map(str::to_owned);
    let kind = match call.text_at("tool") {
        Some(name) => EventKind::Call {
            id: id.clone(),
            name: name.to_owned(),
            arguments: call.get("input").cloned().unwrap_or_default(),
            by_user: false,
        },
        None => match read_call(call) {
            Some(kind) => kind,
            None => return,
        },
    };
    let name = call.text_at("tool").map(str::to_owned);
    run.events.push(Event {
        kind,
        time: get(call, "start_time").and_then(text_or_json),
        seconds: get(call, "duration_ms").and_then(seconds),
        ..Event::default()
    });
    if let Some(value) = call.get_non_null("output").cloned() {
        let failed = call.text_at("status").map(|status| status == "error");
        run.push(EventKind::Result { id, name, value, failed });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::NoFolder;
    use proptest::prelude::*;
    use touchstone_model::json;

    fn read(text: &str) -> ImportedRun {
        read_line(&json::read(text).unwrap())
    }

    const LINES: &str = r#"{"test_id":"a","suite":"s","target":"m","score":1,"input":"q","answer":"x"}
{"testId":"a","target":"m","score":0.5,"sampleIndex":4}
{"test_id":"a","suite":"s","target":"m","score":0}"#;

    #[test]
    fn lines_are_named_by_task_and_target_and_numbered() {
        let file = Results::new(Slices::lines(LINES.as_bytes().to_vec()).unwrap());
        let names: Vec<_> = (0..3)
            .map(|at| {
                (
                    file.member(at).unwrap(),
                    file.read(at).unwrap().task.unwrap(),
                    file.read(at).unwrap().repeat,
                )
            })
            .collect();
        let expected = [("s/a m", "s/a", 1), ("a m", "a", 5), ("s/a m (2)", "s/a", 2)];
        let expected = expected.map(|(member, task, repeat)| {
            (member.to_owned(), task.to_owned(), Repeat::Number(repeat))
        });
        assert_eq!(names, expected);
    }

    #[test]
    fn the_status_decides_what_passed_and_what_is_an_error() {
        for (text, end, passed, error) in [
            (r#"{"score":1}"#, RunEnd::Complete, None, None),
            (r#"{"score":1,"execution_status":"ok"}"#, RunEnd::Complete, Some(true), None),
            (
                r#"{"score":0,"executionStatus":"quality_failure"}"#,
                RunEnd::Complete,
                Some(false),
                None,
            ),
            (
                r#"{"score":0,"execution_status":"execution_error","execution_error":{"message":"m"}}"#,
                RunEnd::Error,
                None,
                Some("m"),
            ),
            (r#"{"score":0,"error":"e"}"#, RunEnd::Error, None, Some("e")),
        ] {
            let run = read(text);
            let found = (run.end, run.verdicts[0].passed, run.error.as_deref());
            assert_eq!(found, (end, passed, error), "{text}");
        }
    }

    #[test]
    fn messages_hold_calls_with_their_results() {
        let run = read(
            r#"{"input":[{"role":"user","content":"q"}],"output":[{"role":"assistant","content":"a","duration_ms":1500,"token_usage":{"input":1,"output":2},
            "tool_calls":[{"tool":"f","input":{"k":1},"output":"r","duration_ms":20},{"tool":"g"}]},{"role":"assistant","content":" "}],
            "scores":[{"name":"n","score":0.2,"verdict":"fail","reasoning":"why"},{"name":"o","score":1,"verdict":"skip"}],
            "trace":{"token_usage":{"input":3,"output":4},"cost_usd":0.5,"duration_ms":250}}"#,
        );
        let [_, text, call, result, other] = &run.events[..] else { panic!("{:?}", run.events) };
        assert_eq!((text.seconds, text.tokens, call.seconds), (Some(1.5), Some(3), Some(0.02)));
        assert!(
            matches!(&result.kind, EventKind::Result { value, .. } if value.text() == Some("r"))
        );
        assert!(matches!(&other.kind, EventKind::Call { name, .. } if name == "g"));
        assert_eq!(
            (run.answer.as_deref(), run.seconds, run.cost),
            (Some("a"), Some(0.25), Some(0.5))
        );
        assert_eq!(run.tokens.unwrap().total, Some(7));
        let verdicts: Vec<_> =
            run.verdicts.iter().map(|one| (one.passed, one.reason.as_deref())).collect();
        assert_eq!(verdicts, [(Some(false), Some("why")), (None, None)]);
    }

    #[test]
    fn results_are_detected_and_eval_cases_are_not() {
        let detect =
            |path: &str, text: &str| AgentV.detect(path, &[], Head::read(text.as_bytes()).as_ref());
        assert_eq!(detect("a.jsonl", LINES), Some(Detected::Runs));
        for (path, text) in [
            ("a.jsonl", r#"{"test_id":"a","input":"q"}"#),
            ("a.json", r#"{"test_id":"a","score":1,"target":"m"}"#),
            ("a.jsonl", r#"{"test_id":"a","score":1}"#),
            ("a.jsonl", r#"[{"test_id":"a","score":1,"target":"m"}]"#),
        ] {
            assert_eq!(detect(path, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_change_of_a_file_brings_the_reader_to_a_stop(at in 0..LINES.len(), byte in any::<u8>()) {
            let mut bytes = LINES.as_bytes().to_vec();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let input = Input { path: "a.jsonl", source: bytes, folder: &NoFolder };
                let Ok(file) = AgentV.open(input) else { continue };
                for at in 0..file.len() {
                    let _ = (file.member(at), file.read(at));
                }
            }
        }
    }
}
