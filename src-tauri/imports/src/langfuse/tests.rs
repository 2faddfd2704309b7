//! Tests of the reader with small traces.
use super::*;
use crate::run::{EventKind, TokenCounts};
use crate::source::NoFolder;
use touchstone_model::json;

fn observation(id: &str, kind: &str, parent: &str, second: u32, more: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"id":"{id}","traceId":"t1","projectId":"p","startTime":"2026-01-02T03:04:{second:02}.000Z","endTime":"2026-01-02T03:04:{:02}.500Z",
            "parentObservationId":{parent},"type":"{kind}","name":"{id}"{more}}}"#,
        second + 1
    )
    .replace('\n', " ")
}

fn sides(input: &str, output: &str) -> String {
    let text = |text: &str| json::write(&Value::from(text), false);
    format!(r#","input":{},"output":{}"#, text(input), text(output))
}

const TRACE: &str = r#""id":"t1","projectId":"p","name":"clerk","timestamp":"2026-01-02T03:04:00.100Z","environment":"default","tags":[],
            "sessionId":"s1""#;

fn export(observations: &[String], more: &str) -> String {
    format!(
        r#"{{"trace":{{{TRACE}{more},"observations":[{{"id":"x","type":"GENERATION"}}]}},"observations":[{}]}}"#,
        observations.join(",")
    )
    .replace('\n', " ")
}

fn read_file(text: &str) -> Vec<(String, ImportedRun)> {
    let bytes = text.as_bytes().to_vec();
    let input = Input { path: "a.json", source: &bytes, folder: &NoFolder };
    let file = Langfuse.open(input).unwrap();
    (0..file.len()).map(|at| (file.member(at).unwrap(), file.read(at).unwrap())).collect()
}

fn read(observations: &[String], more: &str) -> ImportedRun {
    let text = export(observations, more);
    let head = Head::read(text.as_bytes());
    assert_eq!(Langfuse.detect("a.json", b"", head.as_ref()), Some(Detected::Runs));
    read_file(&text).remove(0).1
}

fn texts(run: &ImportedRun) -> Vec<&str> {
    let texts = run.events.iter().filter_map(|event| match &event.kind {
        EventKind::User(text) | EventKind::Assistant(text) => Some(text.as_str()),
        EventKind::Call { name, .. } => Some(name.as_str()),
        EventKind::Result { value, .. } => value.text(),
        _ => None,
    });
    texts.collect()
}

#[test]
fn model_calls_are_generations_without_a_generation_below() {
    let run = read(
        &[
            observation("top", "SPAN", "", 1, ""),
            observation(
                "out",
                "GENERATION",
                "top",
                2,
                &(sides("q", "no")
                    + r#","model":"m0","usageDetails":{"input":100,"output":100},"totalCost":9"#),
            ),
            observation("mid", "SPAN", "out", 3, ""),
            observation(
                "in",
                "GENERATION",
                "mid",
                4,
                &(sides("q", "yes")
                    + r#","model":"m1","usageDetails":{"input":10,"output":2,"total":15},"totalCost":0.5"#),
            ),
            observation(
                "next",
                "GENERATION",
                "top",
                6,
                &(sides(
                    r#"[{"role":"user","content":"q"},{"role":"assistant","content":"yes"},{"role":"user","content":"and?"}]"#,
                    "no more",
                ) + r#","model":"m2","usageDetails":{"input":20,"output":4},"totalCost":0.25"#),
            ),
        ],
        "",
    );
    assert_eq!(texts(&run), ["q", "yes", "and?", "no more"]);
    let tokens = TokenCounts { input: Some(30), output: Some(6), total: Some(39) };
    assert_eq!((run.tokens, run.cost), (Some(tokens), Some(0.75)));
    assert_eq!((run.system.as_deref(), run.model.as_deref()), (Some("clerk"), Some("m1")));
    assert_eq!(run.started.as_deref(), Some("2026-01-02T03:04:00.100Z"));
    assert_eq!((run.seconds, run.end), (Some(6.5), RunEnd::Complete));
    assert_eq!(run.answer.as_deref(), Some("no more"));
    assert!(run.facts.contains(&("session".to_owned(), Value::from("s1"))));
}

#[test]
fn observations_beside_the_trace_win_and_those_inside_stand_in() {
    let inside = observation("in", "GENERATION", "", 4, &sides("q", "inside"));
    let beside = observation("in", "GENERATION", "", 4, &sides("q", "beside"));
    let trace = format!("{{{TRACE},\"public\":false,\"observations\":[{inside}],\"scores\":[]}}")
        .replace('\n', " ");
    let both = format!("{{\"trace\":{trace},\"observations\":[{beside}]}}");
    let empty = format!("{{\"trace\":{trace},\"observations\":[]}}");
    for (text, expected) in [(&both, "beside"), (&empty, "inside"), (&trace, "inside")] {
        assert_eq!(texts(&read_file(text)[0].1), ["q", expected]);
        assert!(Langfuse.detect("a", b"", Head::read(text.as_bytes()).as_ref()).is_some());
    }
    // Lists and lines hold several; a trace that occurs twice keeps a name of its own.
    for text in [format!("[{both},{trace}]"), format!("{both}\n{trace}\n")] {
        let names: Vec<String> = read_file(&text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["t1", "t1 (2)"]);
        let head = Head::read(text.as_bytes());
        assert_eq!(Langfuse.detect("a", b"", head.as_ref()), Some(Detected::Runs));
    }
}

#[test]
fn tools_give_results_to_calls_that_have_none() {
    let calls = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{"a":1}},{"type":"tool_use","id":"c2",
            "name":"f","input":{"a":2}}]}"#;
    let run = read(
        &[
            observation("g", "GENERATION", "", 1, &sides("q", calls)),
            observation("f", "TOOL", "", 3, &sides(r#"{"a":2}"#, "two")),
            observation(
                "execute_tool f",
                "TOOL",
                "",
                4,
                &sides(r#"{"a":1}"#, r#"{"content":[{"type":"text","text":"one"}]}"#),
            ),
            observation("h", "GENERATION", "", 5, &sides(r#"{"content":"role"}"#, "done")),
        ],
        "",
    );
    assert_eq!(texts(&run), ["q", "f", "f", "one", "two", "done"]);
}

#[test]
fn an_error_counts_at_the_top_and_in_the_last_call() {
    let failed = r#","level":"ERROR","statusMessage":"boom""#;
    let table = [
        (vec![("a", "SPAN", "", failed)], true),
        (vec![("a", "SPAN", "elsewhere", failed)], true),
        (vec![("a", "SPAN", "", ""), ("b", "TOOL", "a", failed)], false),
        (
            vec![
                ("a", "SPAN", "", ""),
                ("b", "GENERATION", "a", failed),
                ("c", "GENERATION", "a", ""),
            ],
            false,
        ),
        (
            vec![
                ("a", "SPAN", "", ""),
                ("b", "GENERATION", "a", ""),
                ("c", "GENERATION", "a", failed),
            ],
            true,
        ),
    ];
    for (observations, is_error) in table {
        let list: Vec<String> = (1..)
            .zip(&observations)
            .map(|(second, (id, kind, parent, more))| observation(id, kind, parent, second, more))
            .collect();
        let run = read(&list, "");
        assert_eq!(run.end == RunEnd::Error, is_error, "{observations:?}");
        assert_eq!(run.error.as_deref(), is_error.then_some("boom"));
    }
}

#[test]
fn only_a_boolean_score_says_whether_the_run_passed() {
    let scores = r#","scores":[{"name":"n","value":1,"dataType":"NUMERIC","comment":" why"},{"name":"b","value":1,"stringValue":"True",
            "dataType":"BOOLEAN"},
        {"name":"b2","value":0,"dataType":"BOOLEAN"},{"name":"c","value":0,"stringValue":"good","dataType":"CATEGORICAL"},{"value":0.5}]"#;
    let run = read(&[observation("g", "GENERATION", "", 1, "")], scores);
    let found: Vec<_> = run
        .verdicts
        .iter()
        .map(|verdict| (verdict.name.as_str(), json::write(&verdict.value, false), verdict.passed))
        .collect();
    let value = str::to_owned;
    assert_eq!(
        found,
        [
            ("n", value("1"), None),
            ("b", value("1"), Some(true)),
            ("b2", value("0"), Some(false)),
            ("c", value("\"good\""), None),
            ("score", value("0.5"), None)
        ]
    );
    assert_eq!(run.verdicts[0].reason.as_deref(), Some(" why"));
}

#[test]
fn a_cut_file_keeps_its_complete_traces() {
    let one = export(&[observation("g", "GENERATION", "", 1, "")], "");
    let open = |text: String| {
        let bytes = text.into_bytes();
        let file = Langfuse.open(Input { path: "a", source: &bytes, folder: &NoFolder });
        file.map(|file| (file.len(), file.file_error().is_some()))
    };
    assert_eq!(open(format!("{one}\n{}", &one[..40])).ok(), Some((1, true)));
    assert_eq!(open(format!("[{one},{}", &one[..40])).ok(), Some((1, true)));
    assert!(open(one[..40].to_owned()).is_err());
}

#[test]
fn files_of_other_tools_are_not_detected() {
    for text in [
        r#"{"test_id":"a","trace":{"id":1,"tools":[]}}"#,
        r#"{"id":"a","timestamp":"t","messages":[]}"#,
        r#"{"observations":[{"step":1}],"trace":{}}"#,
        r#"{"id":"o","traceId":"t","projectId":"p","timestamp":"x","public":true}"#,
    ] {
        assert_eq!(Langfuse.detect("a", b"", Head::read(text.as_bytes()).as_ref()), None, "{text}");
    }
}
