//! **Pure.** Test runs of `DeepEval`.
use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::pieces;
use crate::run::{Event, EventKind, ImportedRun, ImportedVerdict, Repeat, RunEnd, TokenCounts};
use crate::slices::{Slices, parse_member};
use crate::source::Input;
use crate::text::{is_blank, text_or_json};
use std::collections::HashMap;
use touchstone_formats::timestamps;
use touchstone_model::error::ReadError;
use touchstone_model::value::Value;

/// Test runs of `DeepEval`.
#[derive(Debug, Clone, Copy)]
pub struct DeepEval;

impl Format for DeepEval {
    fn name(&self) -> &'static str {
        "deepeval"
    }

    fn title(&self) -> &'static str {
        "DeepEval"
    }

    fn files(&self) -> &'static str {
        "test_run_*.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("deepeval.md")
    }

    fn detect(&self, _path: &str, _start: &[u8], head: Option<&Head>) -> Option<Detected> {
        let head = head.filter(|head| !head.is_list && !head.is_lines)?;
        let case = ["name", "input"].iter().all(|key| head.has_inner("testCases", key));
        let is_run = head.has(&["testCases"])
            && (head.has(&["conversationalTestCases"]) || head.has(&["metricsScores"]) || case);
        is_run.then_some(Detected::Runs)
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let paths: [&[&str]; 2] = [&["testCases"], &["conversationalTestCases"]];
        Ok(Box::new(TestRun::new(Slices::lists(input.read_all()?, &paths)?)))
    }
}

/// Test run, with the name and the number of each test case.
struct TestRun {
    slices: Slices,
    names: Vec<(Option<String>, u32)>,
    facts: Vec<(String, Value)>,
}

impl TestRun {
    fn new(slices: Slices) -> Self {
        let mut counts: HashMap<Option<String>, u32> = HashMap::new();
        let names = (0..slices.len())
            .map(|at| {
                let name = parse_member(&pieces::members(slices.get(at)), "name");
                let name = name.as_ref().and_then(text_or_json);
                let count = counts.entry(name.clone()).or_default();
                *count += 1;
                (name, *count)
            })
            .collect();
        let file = pieces::members(slices.text());
        let facts = [
            ("test file", "testFile"),
            ("identifier", "identifier"),
            ("dataset", "datasetAlias"),
            ("hyperparameters", "hyperparameters"),
        ];
        let facts = facts
            .into_iter()
            .filter_map(|(name, key)| Some((name.to_owned(), parse_member(&file, key)?)))
            .collect();
        TestRun { slices, names, facts }
    }
}

impl ImportedFile for TestRun {
    fn len(&self) -> usize {
        self.slices.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        let (name, count) = self.names.get(at)?;
        let name = name.as_deref().unwrap_or("test case");
        Some(if *count > 1 { format!("{name} ({count})") } else { name.to_owned() })
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let mut run = read_case(&self.slices.parse(at)?);
        if let Some((name, count)) = self.names.get(at) {
            run.task.clone_from(name);
            run.repeat = Repeat::Number(*count);
        }
        run.facts.extend(self.facts.iter().cloned());
        Ok(run)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.slices.error()
    }
}

fn read_case(case: &Value) -> ImportedRun {
    let mut run = ImportedRun::default();
    let expected = ["expectedOutput", "expectedOutcome"];
    run.expected = expected
        .iter()
        .find_map(|key| case.get(key).and_then(text_or_json).filter(|text| !is_blank(text)))
        .map(Value::Text);
    run.verdicts = read_verdicts(case);
    let trace = case.get_non_null("trace");
    if let Some(turns) = case.get_non_null("turns") {
        for turn in turns.items() {
            read_turn(turn, &mut run);
        }
    } else {
        push_text(EventKind::User, case.get("input"), &mut run);
        let called = case.get("toolsCalled").map(Value::items).unwrap_or_default();
        for call in called {
            read_call(call, &mut run);
        }
        if called.is_empty()
            && let Some(trace) = trace
        {
            for span in tool_spans(trace) {
                read_tool_span(span, &mut run);
            }
        }
        push_text(EventKind::Assistant, case.get("actualOutput"), &mut run);
    }
    run.answer = run.last_text().map(str::to_owned);
    run.seconds = case.get("completionTime").and_then(Value::number);
    if let Some(trace) = trace {
        read_trace(trace, &mut run);
    }
    for (name, key) in [
        ("success", "success"),
        ("token cost", "tokenCost"),
        ("tags", "tags"),
        ("comments", "comments"),
        ("scenario", "scenario"),
        ("user", "userDescription"),
        ("expected tools", "expectedTools"),
        ("context", "context"),
        ("retrieval context", "retrievalContext"),
        ("metadata", "metadata"),
    ] {
        run.facts.extend(case.get_non_null(key).map(|value| (name.to_owned(), value.clone())));
    }
    run
}

fn push_text(kind: fn(String) -> EventKind, value: Option<&Value>, run: &mut ImportedRun) {
    if let Some(text) = value.and_then(text_or_json).filter(|text| !is_blank(text)) {
        run.push(kind(text));
    }
}

fn read_turn(turn: &Value, run: &mut ImportedRun) {
    let is_model = turn.text_at("role") == Some("assistant");
    let calls = turn.get("toolsCalled").map(Value::items).unwrap_or_default();
    for call in calls {
        read_call(call, run);
    }
    let kind = if is_model { EventKind::Assistant } else { EventKind::User };
    push_text(kind, turn.get("content"), run);
}

fn read_call(call: &Value, run: &mut ImportedRun) {
    let name = call.text_at("name").unwrap_or_default().to_owned();
    let arguments = ["inputParameters", "input_parameters", "input"];
    let arguments = arguments.iter().find_map(|key| call.get_non_null(key)).cloned();
    run.push(EventKind::Call {
        id: None,
        name: name.clone(),
        arguments: arguments.unwrap_or_default(),
        by_user: false,
    });
    if let Some(output) = call.get_non_null("output") {
        let value = output.clone();
        run.push(EventKind::Result { id: None, name: Some(name), value, failed: None });
    }
}

fn spans<'a>(trace: &'a Value, kind: &str) -> &'a [Value] {
    trace.get(kind).map(Value::items).unwrap_or_default()
}

fn time(value: &Value, key: &str) -> Option<f64> {
    timestamps::seconds(value.text_at(key)?)
}

fn duration(value: &Value) -> Option<f64> {
    Some(time(value, "endTime")? - time(value, "startTime")?).filter(|seconds| *seconds >= 0.0)
}

fn by_start(mut spans: Vec<&Value>) -> Vec<&Value> {
    let start = |span: &Value| time(span, "startTime").unwrap_or(f64::INFINITY);
    spans.sort_by(|a, b| start(a).total_cmp(&start(b)));
    spans
}

fn tool_spans(trace: &Value) -> Vec<&Value> {
    by_start(spans(trace, "toolSpans").iter().collect())
}

fn read_tool_span(span: &Value, run: &mut ImportedRun) {
    let id = span.text_at("uuid").map(str::to_owned);
    let name = span.text_at("name").unwrap_or_default().to_owned();
    let event = |kind, seconds| Event {
        kind,
        time: span.text_at("startTime").map(str::to_owned),
        seconds,
        ..Event::default()
    };
    let arguments = span.get("input").cloned().unwrap_or_default();
    let call = EventKind::Call { id: id.clone(), name: name.clone(), arguments, by_user: false };
    run.events.push(event(call, duration(span)));
    let failed = span.text_at("status").map(|status| status == "ERRORED");
    let output = span.get_non_null("output").or_else(|| span.get_non_null("error"));
    if let Some(value) = output.cloned() {
        let result = EventKind::Result { id, name: Some(name), value, failed };
        run.events.push(Event {
            time: span.text_at("endTime").map(str::to_owned),
            ..event(result, None)
        });
    }
}

fn read_trace(trace: &Value, run: &mut ImportedRun) {
    let agents = spans(trace, "agentSpans");
    let root = agents.iter().find(|span| span.get_non_null("parentUuid").is_none());
    run.system = root.and_then(|span| span.text_at("name")).map(str::to_owned);
    let models = spans(trace, "llmSpans");
    run.model = models.iter().find_map(|span| span.text_at("model")).map(str::to_owned);
    run.tokens = TokenCounts::new(
        sum_tokens(models, "inputTokenCount"),
        sum_tokens(models, "outputTokenCount"),
        None,
    );
    run.seconds = duration(trace).or(run.seconds);
    run.started = trace.text_at("startTime").map(str::to_owned);
    let kinds = ["baseSpans", "agentSpans", "llmSpans", "retrieverSpans", "toolSpans"];
    let all: Vec<&Value> = kinds.iter().flat_map(|kind| spans(trace, kind)).collect();
    let others = all.len() - spans(trace, "toolSpans").len();
    if trace.text_at("status") == Some("ERRORED") {
        run.end = RunEnd::Error;
        let errors = by_start(all).into_iter().filter_map(|span| span.get_non_null("error"));
        run.error = errors.filter_map(text_or_json).find(|text| !is_blank(text));
    }
    if others > 0 {
        run.notes.push(format!(
            "The trace has {others} more spans of agents, models and retrievers, which are not shown."
        ));
    }
    for (name, key) in [("trace", "uuid"), ("thread", "threadId"), ("environment", "environment")] {
        run.facts.extend(trace.get_non_null(key).map(|value| (name.to_owned(), value.clone())));
    }
}

fn sum_tokens(spans: &[Value], key: &str) -> Option<u64> {
    let counts = spans.iter().filter_map(|span| span.get(key).and_then(Value::whole_number));
    counts.fold(None, |sum, count| Some(sum.unwrap_or(0_u64).saturating_add(count)))
}

fn read_verdicts(case: &Value) -> Vec<ImportedVerdict> {
    let metrics = case.get("metricsData").map(Value::items).unwrap_or_default();
    metrics
        .iter()
        .filter(|metric| **metric != Value::Null)
        .map(|metric| {
            let error = metric.get_non_null("error").and_then(text_or_json);
            let passed = metric.get("success").and_then(Value::bool);
            ImportedVerdict {
                name: metric.text_at("name").unwrap_or_default().to_owned(),
                value: metric.get("score").cloned().unwrap_or_default(),
                // A metric that could not be computed is no wrong answer.
                passed: passed.filter(|_| error.is_none()),
                reason: metric.get_non_null("reason").and_then(text_or_json).or(error),
                threshold: metric.get_non_null("threshold").cloned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::NoFolder;
    use proptest::prelude::*;

    const RUN: &str = r#"{"testFile":"t.py","testCases":[
        {"name":"a","input":"q","actualOutput":"x","expectedOutput":"y","toolsCalled":[{"name":"f","inputParameters":{"k":1},"output":[1]}],
         "metricsData":[{"name":"m","threshold":0.5,"success":true,"score":0.9,"reason":"r"},
         {"name":"n","success":false,"score":null,"error":"judge failed"}],
         "completionTime":2.5},
        {"name":"a","input":"q","actualOutput":null,"toolsCalled":[],"trace":{"uuid":"u",
        "status":"ERRORED","startTime":"2026-01-01T00:00:00Z",
        "endTime":"2026-01-01T00:00:03Z",
         "agentSpans":[{"name":"inner","parentUuid":"p"},{"name":"outer"}],
         "llmSpans":[{"model":"big","inputTokenCount":10.0,"outputTokenCount":2,
         "error":"late","startTime":"2026-01-01T00:00:02Z"},{"model":"small",
         "inputTokenCount":5,"outputTokenCount":1}],
         "toolSpans":[{"name":"g","startTime":"2026-01-01T00:00:01Z",
         "endTime":"2026-01-01T00:00:02Z","input":{"z":1},"output":null,"error":"first",
         "status":"ERRORED"}]}}],
        "conversationalTestCases":[{"name":"talk","scenario":"s","expectedOutcome":"o",
        "turns":[{"role":"user","content":"hi"},{"role":"assistant","content":"ho",
        "toolsCalled":[{"name":"h"}]}]}]}"#;

    fn open(text: &str) -> TestRun {
        let paths: [&[&str]; 2] = [&["testCases"], &["conversationalTestCases"]];
        TestRun::new(Slices::lists(text.as_bytes().to_vec(), &paths).unwrap())
    }

    #[test]
    fn cases_of_one_name_are_repeats() {
        let file = open(RUN);
        let members: Vec<_> = (0..file.len()).filter_map(|at| file.member(at)).collect();
        assert_eq!(members, ["a", "a (2)", "talk"]);
        let run = file.read(1).unwrap();
        assert_eq!((run.task.as_deref(), run.repeat), (Some("a"), Repeat::Number(2)));
    }

    #[test]
    fn a_case_without_a_trace_has_its_calls_and_no_system() {
        let run = open(RUN).read(0).unwrap();
        let kinds: Vec<EventKind> = run.events.iter().map(|event| event.kind.clone()).collect();
        let [user, call, result, answer] = &kinds[..] else { panic!("{kinds:?}") };
        assert_eq!(user, &EventKind::User("q".to_owned()));
        assert!(matches!(call, EventKind::Call { arguments, .. } if arguments.get("k").is_some()));
        assert!(matches!(result, EventKind::Result { value, .. } if value.items().len() == 1));
        assert_eq!(answer, &EventKind::Assistant("x".to_owned()));
        assert_eq!((run.system, run.model, run.tokens), (None, None, None));
        assert_eq!((run.expected, run.seconds), (Some(Value::from("y")), Some(2.5)));
    }

    #[test]
    fn a_metric_that_failed_itself_is_no_verdict() {
        let verdicts = open(RUN).read(0).unwrap().verdicts;
        assert_eq!((verdicts[0].passed, verdicts[1].passed), (Some(true), None));
        assert_eq!(verdicts[1].reason.as_deref(), Some("judge failed"));
        assert!(verdicts[0].threshold.is_some());
    }

    #[test]
    fn a_trace_gives_system_model_tokens_times_and_the_first_error() {
        let run = open(RUN).read(1).unwrap();
        assert_eq!((run.system.as_deref(), run.model.as_deref()), (Some("outer"), Some("big")));
        let tokens = run.tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.total), (Some(15), Some(3), Some(18)));
        assert_eq!((run.end, run.error.as_deref()), (RunEnd::Error, Some("first")));
        assert_eq!((run.seconds, run.answer), (Some(3.0), None));
        let [_, call, result] = &run.events[..] else { panic!() };
        assert_eq!(call.seconds, Some(1.0));
        assert!(matches!(&result.kind, EventKind::Result { failed: Some(true), .. }));
    }

    #[test]
    fn a_conversation_has_its_turns() {
        let run = open(RUN).read(2).unwrap();
        assert_eq!((run.events.len(), run.answer.as_deref()), (3, Some("ho")));
        assert_eq!(run.expected, Some(Value::from("o")));
    }

    #[test]
    fn test_runs_are_detected_by_their_lists() {
        let detect =
            |text: &str| DeepEval.detect("x.json", &[], Head::read(text.as_bytes()).as_ref());
        for text in [
            RUN,
            r#"{"testCases":[],"metricsScores":[]}"#,
            r#"{"testCases":[{"name":"a","input":"cut"#,
        ] {
            assert_eq!(detect(text), Some(Detected::Runs), "{text:.40}");
        }
        for text in [
            r#"{"testCases":[{"name":"a"}]}"#,
            r#"{"testRunLink":"x"}"#,
            r#"[{"testCases":[],"metricsScores":[]}]"#,
        ] {
            assert_eq!(detect(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_change_of_a_file_brings_the_reader_to_a_stop(at in 0..RUN.len(), byte in any::<u8>()) {
            let mut bytes = RUN.as_bytes().to_vec();
            bytes[at] = byte;
            for bytes in [&bytes, &bytes[..at].to_vec()] {
                let input = Input { path: "a.json", source: bytes, folder: &NoFolder };
                let Ok(file) = DeepEval.open(input) else { continue };
                for at in 0..file.len() {
                    let _ = (file.member(at), file.read(at));
                }
            }
        }
    }
}
