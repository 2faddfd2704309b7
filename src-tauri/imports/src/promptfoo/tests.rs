//! Tests of the reader of promptfoo's results.
use super::results::read_result;
use super::*;
use crate::run::{EventKind, ImportedRun, Repeat, RunEnd};
use crate::source::NoFolder;
use crate::text::canonical_json;
use proptest::prelude::*;
use touchstone_model::json;

fn open<'a>(path: &'a str, bytes: &'a Vec<u8>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
    Promptfoo.open(Input { path, source: bytes, folder: &NoFolder })
}

fn detect(path: &str, text: &str) -> Option<Detected> {
    Promptfoo.detect(path, text.as_bytes(), Head::read(text.as_bytes()).as_ref())
}

/// Wraps results in a file of version 3.
fn summary(results: &[String]) -> Vec<u8> {
    format!(
        r#"{{"evalId":"e1","results":{{"version":3,"timestamp":"2026-01-01T00:00:00Z","prompts":[],"results":[{}]}},"metadata":{{"promptfooVersion":"0.1"}}}}"#,
        results.join(",")
    )
    .into_bytes()
}

fn result(test: u32, prompt: u32, case: &str, rest: &str) -> String {
    format!(r#"{{"id":"r{test}-{prompt}","testIdx":{test},"promptIdx":{prompt},"#)
        + &format!(r#""promptId":"p{prompt}","prompt":{{"raw":"ask","label":"plain"}},"#)
        + &format!(
            r#""provider":{{"id":"custom:x","label":"x"}},"testCase":{case},"failureReason":0,"#
        )
        + &format!(r#""success":true,"score":1,"gradingResult":{{"pass":true}}{rest}}}"#)
}

fn names(bytes: &Vec<u8>) -> Vec<(String, String, u32)> {
    let file = open("a.json", bytes).unwrap();
    let name = |at| {
        let run = file.read(at).unwrap();
        let Repeat::Number(repeat) = run.repeat else { panic!() };
        (file.member(at).unwrap(), run.task.unwrap(), repeat)
    };
    (0..file.len()).map(name).collect()
}

#[test]
fn repeats_are_numbered_by_test_and_tasks_of_one_name_get_their_variables() {
    let bytes = summary(&[
        result(3, 0, r#"{"description":"a","vars":{"q":"1"}}"#, ""),
        result(0, 0, r#"{"description":"a","vars":{"q":"1"}}"#, ""),
        result(0, 1, r#"{"description":"a","vars":{"q":"1"}}"#, ""),
        result(1, 0, r#"{"description":"a","vars":{"q":"2","b":null}}"#, ""),
        result(2, 0, r#"{"vars":{"q":"only"}}"#, ""),
        result(4, 0, r#"{"vars":{"q":"x","a":[1.50]}}"#, ""),
        result(5, 0, r#"{"vars":{"q":"s","sessionId":"1"}}"#, r#","metadata":{"sessionId":"1"}"#),
        result(6, 0, r#"{"vars":{"q":"s","sessionId":"own"}}"#, r#","metadata":{"sessionId":"1"}"#),
        result(7, 0, r#"{"description":""}"#, ""),
    ]);
    let expected = [
        ("test 3 prompt 0", r#"a ({"q":"1"})"#, 2),
        ("test 0 prompt 0", r#"a ({"q":"1"})"#, 1),
        ("test 0 prompt 1", r#"a ({"q":"1"})"#, 1),
        ("test 1 prompt 0", r#"a ({"b":null,"q":"2"})"#, 1),
        ("test 2 prompt 0", "only", 1),
        ("test 4 prompt 0", r#"{"a":[1.50],"q":"x"}"#, 1),
        ("test 5 prompt 0", "s", 1),
        ("test 6 prompt 0", r#"{"q":"s","sessionId":"own"}"#, 1),
        ("test 7 prompt 0", "{}", 1),
    ];
    let expected = expected.map(|(member, task, at)| (member.to_owned(), task.to_owned(), at));
    assert_eq!(names(&bytes), expected);
}

#[test]
fn results_of_version_2_have_numbers_and_repeats_in_order_of_the_file() {
    let line = |display: &str| {
        format!(
            r#"{{"provider":{{"id":"p"}},"prompt":{{"raw":"q","display":"{display}"}},"vars":{{"a":"b"}},"success":true,"score":1,"gradingResult":null}}"#
        )
    };
    let text = format!(
        r#"{{"results":{{"version":2,"results":[{},{},{}],"table":{{}}}}}}"#,
        line("x"),
        line("y"),
        line("x")
    );
    let expected = [("result 0", 1), ("result 1", 1), ("result 2", 2)];
    let expected = expected.map(|(name, at)| (name.to_owned(), "b".to_owned(), at));
    assert_eq!(names(&text.clone().into_bytes()), expected);
    assert_eq!(detect("a.json", &text), Some(Detected::Runs));
}

fn read(text: &str) -> ImportedRun {
    read_result(&json::read_python(text).unwrap())
}

#[test]
fn an_output_is_text_or_calls_or_json() {
    let calls = r#"[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]"#;
    for (output, answer, count) in [
        (r#""hi""#, Some("hi"), 0),
        (r#"" \n""#, None, 0),
        ("null", None, 0),
        ("false", Some("false"), 0),
        (r#"{"b":1.0,"a":"é"}"#, Some(r#"{"a":"é","b":1.0}"#), 0),
        ("[]", Some("[]"), 0),
        (r#"[{"function":{"name":"f"}},1]"#, Some(r#"[{"function":{"name":"f"}},1]"#), 0),
        (calls, None, 1),
    ] {
        let run = read(&format!(r#"{{"response":{{"output":{output}}}}}"#));
        let is_call = |event: &&crate::Event| matches!(event.kind, EventKind::Call { .. });
        assert_eq!(run.answer.as_deref(), answer, "{output}");
        assert_eq!(run.events.iter().filter(is_call).count(), count, "{output}");
        assert_eq!(run.events.len(), count + usize::from(answer.is_some()), "{output}");
    }
}

#[test]
fn a_prompt_is_messages_only_if_each_has_a_role() {
    let messages =
        r#"[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":\"u\"}]"#;
    let [system, user] = &read(&format!(r#"{{"prompt":{{"raw":"{messages}"}}}}"#)).events[..]
    else {
        panic!()
    };
    assert_eq!(system.kind, EventKind::System("s".to_owned()));
    assert_eq!(user.kind, EventKind::User("u".to_owned()));
    for raw in ["[]", r#"[{\"a\":1}]"#, "[1, 2]", "plain"] {
        let events = read(&format!(r#"{{"prompt":{{"raw":"{raw}"}}}}"#)).events;
        assert!(matches!(&events[..], [event] if matches!(event.kind, EventKind::User(_))));
    }
}

#[test]
fn only_failure_reason_2_is_an_error_and_errors_have_no_verdicts() {
    for (text, end, error, verdicts) in [
        (r#"{"failureReason":1,"error":"no 42","success":false}"#, RunEnd::Complete, None, 1),
        (r#"{"failureReason":2,"error":"500","response":null}"#, RunEnd::Error, Some("500"), 0),
        (r#"{"failureReason":2,"response":{"error":"x"}}"#, RunEnd::Error, Some("x"), 0),
        (r#"{"response":{"error":"429"},"error":"429"}"#, RunEnd::Error, Some("429"), 0),
        (r#"{"error":"thrown"}"#, RunEnd::Error, Some("thrown"), 0),
        (
            r#"{"response":{"output":"a"},"error":"why","gradingResult":{}}"#,
            RunEnd::Complete,
            None,
            1,
        ),
    ] {
        let run = read(text);
        let found = (run.end, run.error.as_deref(), run.verdicts.len());
        assert_eq!(found, (end, error, verdicts), "{text}");
    }
}

#[test]
fn verdicts_are_the_whole_then_each_assertion_with_sets_and_their_parts() {
    let run = read(
        r#"{"failureReason":1,"success":false,"score":0.50,"gradingResult":{"reason":"why","componentResults":[
        {"pass":true,"score":1,"reason":"r","assertion":{"type":"contains","metric":"m","threshold":0.2}},
        {"pass":false,"score":0,"assertion":{"type":"cost"}},
        {"pass":true,"score":0.5,"componentResults":[{"pass":true}],"metadata":{"assertionSet":{"threshold":0.5,"metric":"s"}}},
        null]}}"#,
    );
    let found: Vec<_> = run
        .verdicts
        .iter()
        .map(|one| (one.name.as_str(), canonical_json(&one.value), one.passed))
        .collect();
    let expected = [
        ("success", "0.50", Some(false)),
        ("m", "1", Some(true)),
        ("cost", "0", Some(false)),
        ("assert-set", "0.5", Some(true)),
    ];
    assert_eq!(found, expected.map(|(name, value, passed)| (name, value.to_owned(), passed)));
    assert_eq!(run.verdicts[0].reason.as_deref(), Some("why"));
    let threshold = |at: usize| run.verdicts[at].threshold.as_ref().map(canonical_json);
    assert_eq!((threshold(1).as_deref(), threshold(3).as_deref()), (Some("0.2"), Some("0.5")));
}

#[test]
fn the_expected_answer_is_the_first_equals_as_rendered() {
    let case = r#""testCase":{"assert":[{"type":"contains","value":"c"},{"type":"equals","value":"{{x}}"}]}"#;
    let graded = |metadata: &str| {
        format!(
            r#""gradingResult":{{"componentResults":[{{"assertion":{{"type":"equals","value":"{{{{x}}}}"}}{metadata}}}]}}"#
        )
    };
    for (text, expected) in [
        (format!("{{{case}}}"), "{{x}}"),
        (format!("{{{case},{}}}", graded("")), "{{x}}"),
        (format!("{{{case},{}}}", graded(r#","metadata":{"renderedAssertionValue":"4"}"#)), "4"),
        (format!("{{{}}}", graded("")), "{{x}}"),
        (
            r#"{"testCase":{"assert":[{"type":"equals","value":{"b":1,"a":2}}]}}"#.to_owned(),
            r#"{"a":2,"b":1}"#,
        ),
    ] {
        assert_eq!(read(&text).expected, Some(expected.into()), "{text}");
    }
    assert_eq!(read(r#"{"testCase":{"assert":[{"type":"is-json"}]}}"#).expected, None);
}

const TABLE: &str = "Description,q,r,[m] plain,Status,Score,Named Scores,Metric: len,Grader Reason,Comment,\"[n] a, b\",Status,Score,Grader Reason,Comment\r\n\
    d,1,,\"x, \"\"y\"\"\",PASS,0.50,{},0.5,ok,good, z,FAIL,0.00,why,\r\n\
    d,1,,x,PASS,1.00,,,,,,,,,\r\n\
    ,1,2,,ERROR,0.00,,,,,z,ERROR,0.00,,\r\n";

#[test]
fn a_table_has_a_run_for_each_filled_group_of_a_row() {
    let bytes = TABLE.as_bytes().to_vec();
    let file = open("a.csv", &bytes).unwrap();
    let members: Vec<_> = (0..file.len()).filter_map(|at| file.member(at)).collect();
    let expected =
        ["row 0 output 0", "row 0 output 1", "row 1 output 0", "row 2 output 0", "row 2 output 1"];
    assert_eq!(members, expected);
    let run = file.read(0).unwrap();
    assert_eq!((run.task.as_deref(), run.system.as_deref()), (Some("d"), Some("plain")));
    assert_eq!((run.model.as_deref(), run.answer.as_deref()), (Some("m"), Some("x, \"y\"")));
    let verdict = |at: usize| (run.verdicts[at].name.as_str(), run.verdicts[at].passed);
    assert_eq!((verdict(0), verdict(1)), (("success", Some(true)), ("len", None)));
    assert_eq!(run.verdicts[0].reason.as_deref(), Some("ok"));
    let other = file.read(1).unwrap();
    assert_eq!((other.system.as_deref(), other.verdicts[0].passed), (Some("a, b"), Some(false)));
    assert_eq!(file.read(2).unwrap().repeat, Repeat::Number(2));
    let error = file.read(3).unwrap();
    assert_eq!(error.task.as_deref(), Some(r#"{"q":"1","r":"2"}"#));
    assert_eq!((error.end, error.answer, error.verdicts.len()), (RunEnd::Error, None, 0));
}

#[test]
fn files_are_detected_by_their_keys_and_columns() {
    let line = result(0, 0, "{}", "");
    let long =
        format!(r#"{{"cost":1,"gradingResult":{{"pass":true,"reason":"{}"#, "x".repeat(20_000));
    let running = format!(
        r#"{{"provider":{{"id":"a"}},"prompt":{{"raw":"b"}},"vars":{{"c":"{}"#,
        "x".repeat(20_000)
    );
    for (path, text) in
        [("a.jsonl", &*line), ("a.jsonl", &long), ("a.jsonl", &running), ("a.CSV", TABLE)]
    {
        let cut = &text[..text.len().min(16_384)];
        assert_eq!(detect(path, cut), Some(Detected::Runs), "{cut:.80}");
    }
    for (path, text) in [
        ("a.csv", "query,Status,Score,Reason\n"),
        ("a.csv", "query,response\n"),
        ("a.txt", TABLE),
        ("a.json", r#"{"588":{"query":{"results":{"version":3}}}}"#),
        ("a.json", r#"{"results":[{"version":3}],"status":1}"#),
        ("a.json", &format!("[{line}]")),
        ("a.jsonl", r#"{"inputs.query":"a","gradingResult":1}"#),
        ("a.jsonl", r#"{"provider":{"id":"a"},"prompt":{"raw":"b"},"vars":{},"else":1}"#),
        ("other.db", "SQLite format 3\0"),
    ] {
        assert_eq!(detect(path, text), None, "{text:.80}");
    }
    for path in ["x/promptfoo.db", "promptfoo-old.db"] {
        assert_eq!(detect(path, "SQLite format 3\0"), Some(Detected::Runs));
        assert_eq!(detect(path, "{}"), None);
        for end in ["-wal", "-journal", "-shm"] {
            let part = detect(&format!("{path}{end}"), "");
            assert!(matches!(part, Some(Detected::NoRun(_))), "{end}");
        }
    }
    let owner = |path: &str| Promptfoo.owner(path, &NoFolder);
    assert_eq!(owner("x/promptfoo.db-wal").as_deref(), Some("x/promptfoo.db"));
    assert_eq!((owner("promptfoo.db-shm"), owner("other.db-wal")), (None, None));
}

#[test]
fn a_line_that_is_no_json_fails_alone_and_a_cut_one_fails_the_file() {
    let line = result(0, 0, "{}", "");
    let text = format!("{line}\n{{\"testIdx\" 1}}\n{line}\n{}", &line[..50]);
    let bytes = text.into_bytes();
    let file = open("a.jsonl", &bytes).unwrap();
    assert_eq!((file.len(), file.file_error().is_some()), (3, true));
    assert!(file.read(0).is_ok() && file.read(1).unwrap_err().line == Some(2));
    assert_eq!(file.member(2).as_deref(), Some("test 0 prompt 0 (2)"));
}

#[test]
fn the_json_file_outranks_lines_with_the_same_id() {
    let line = result(0, 0, "{}", "");
    let (json, lines) = (summary(std::slice::from_ref(&line)), line.into_bytes());
    let identity = |path, bytes| open(path, bytes).unwrap().read(0).unwrap().identity.unwrap();
    let (json, lines) = (identity("a.json", &json), identity("a.jsonl", &lines));
    assert!(json.key == lines.key && json.rank > lines.rank);
}

proptest! {
    #[test]
    fn no_change_of_a_file_brings_a_reader_to_a_stop(cut in 0_usize..2_000, byte in any::<u8>(), which in 0..3) {
        let mut bytes = match which {
            0 => summary(&[result(0, 0, r#"{"vars":{"a":"b"}}"#, ""), result(1, 0, "{}", r#","response":{"output":[{"function":{"name":"f"}}]}"#)]),
            1 => format!("{}\n{}", result(0, 0, "{}", ""), result(0, 0, "{}", "")).into_bytes(),
            _ => TABLE.as_bytes().to_vec(),
        };
        let path = if which == 2 { "a.csv" } else { "a.json" };
        let at = cut % bytes.len();
        for change in 0..2 {
            if change == 0 { bytes[at] = byte } else { bytes.truncate(at) }
            if let Ok(file) = open(path, &bytes) {
                for at in 0..file.len() {
                    let _ = (file.read(at), file.member(at));
                }
            }
        }
    }
}
