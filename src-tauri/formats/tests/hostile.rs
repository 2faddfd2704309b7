//! Malformed, huge and hostile files lead to a precise error in bounded time, and never to a crash.
#![expect(clippy::unwrap_used, reason = "an error that is missing fails the test")]
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::edits::Edits;
use touchstone_formats::benchmark::{self, Parts, python};
use touchstone_formats::stabletoolbench::{Api, Pool, Query, functions};
use touchstone_formats::{file_kind, names, suite, template, transcript, workspace};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::run::RecordedState;
use touchstone_model::value::Value;
use touchstone_model::{answer, json, yaml};

/// Time limit with a large margin, also for debug builds on a busy machine.
const SOON: Duration = Duration::from_mins(1);

fn fault(bytes: &[u8]) -> ReadError {
    let start = Instant::now();
    let error = transcript::outline(bytes).unwrap_err();
    assert_eq!(
        transcript::read(bytes).unwrap_err(),
        error,
        "outline and whole report different errors"
    );
    assert!(start.elapsed() < SOON, "{error} took {:?}", start.elapsed());
    error
}

#[test]
fn bombs_and_deep_files_are_refused_soon() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let _ = writeln!(
            bomb,
            "a{level}: &a{level} [{}]",
            vec![format!("*a{}", level - 1); 9].join(", ")
        );
    }
    let deep_map = (0..5_000).fold(String::new(), |text, level| text + &" ".repeat(level) + "a:\n");
    let big_anchor =
        format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(200_000), vec!["*a"; 900].join(","));
    let many_aliases = format!("a: &a x\nb: [{}]\n", vec!["*a"; yaml::ALIASES + 1].join(","));
    for (name, text, kind) in [
        ("bomb", bomb, ReadErrorKind::TooLarge),
        ("brackets", "[".repeat(1_000_000), ReadErrorKind::TooDeep),
        ("braces", "{a: ".repeat(100_000), ReadErrorKind::TooDeep),
        ("dashes", "- ".repeat(100_000), ReadErrorKind::TooDeep),
        ("questions", "? ".repeat(100_000), ReadErrorKind::TooDeep),
        ("deep map", deep_map, ReadErrorKind::TooDeep),
        ("big anchor", big_anchor, ReadErrorKind::TooLarge),
        ("many aliases", many_aliases, ReadErrorKind::TooLarge),
    ] {
        let error = fault(text.as_bytes());
        assert_eq!(error.kind, kind, "{name}: {error}");
        assert!(error.line.is_some(), "{name}: {error}");
    }
}

#[test]
fn limits_hold_at_the_last_value_that_fits_and_at_the_next() {
    let nested = |depth: usize| format!("{}x{}", "[".repeat(depth), "]".repeat(depth));
    let lines = |depth: usize| {
        (0..depth).fold(String::new(), |text, level| text + &" ".repeat(level) + "a:\n")
    };
    for (depth, fits) in [(yaml::DEPTH - 1, true), (yaml::DEPTH, true), (yaml::DEPTH + 1, false)] {
        assert_eq!(yaml::read(&nested(depth)).is_ok(), fits, "{depth} brackets");
        assert_eq!(yaml::read(&lines(depth)).is_ok(), fits, "{depth} maps");
        assert_eq!(
            json::read(&nested(depth).replace('x', "1")).is_ok(),
            fits,
            "{depth} brackets in JSON"
        );
    }
    // 1,004 values, a thousand more per alias, and one for each further item.
    let repeated = |nodes: usize| {
        let (aliases, rest) = ((nodes - 1_004) / 1_000, (nodes - 1_004) % 1_000);
        format!(
            "a: &a [{}]\nb: [{}{}]\n",
            "1,".repeat(999),
            "*a,".repeat(aliases),
            "1,".repeat(rest)
        )
    };
    let list = |nodes: usize| format!("a:\n{}", "- 1\n".repeat(nodes - 3));
    for (nodes, fits) in [(yaml::NODES, true), (yaml::NODES + 1, false)] {
        assert_eq!(yaml::read_fully(&repeated(nodes)).is_ok(), fits, "{nodes} values");
        assert_eq!(
            yaml::read_fast_only(&list(nodes)).is_some(),
            fits,
            "{nodes} values, the fast way"
        );
    }
    for (bytes, fits) in [(yaml::SCALAR, true), (yaml::SCALAR + 1, false)] {
        let text = format!("a: |\n  {}\n", "x".repeat(bytes - 1));
        assert_eq!(yaml::read_fully(&text).is_ok(), fits, "{bytes} bytes");
        assert_eq!(yaml::read_fast_only(&text).is_some(), fits, "{bytes} bytes, the fast way");
    }
}

#[test]
fn a_text_that_is_too_long_is_refused_before_all_of_it_is_read_and_by_both_readers_alike() {
    let long = "word ".repeat(yaml::SCALAR / 5 + 1);
    let line = format!("    {}\n", "word ".repeat(1_000).trim_end());
    let lines = line.repeat(yaml::SCALAR / 4_000);
    let folded = lines.trim_start().trim_end();
    for (style, value) in [
        ("plain", format!("{long}x\n]")),
        ("plain, on many lines", format!("{folded}\n]")),
        ("quoted, with an escape", format!("\"\\t{long}\"\n]")),
        ("literal, on many lines", format!("|-\n{lines}]")),
        ("without a line end", format!("{long}x")),
    ] {
        // A parser that continued would find the malformed end.
        let text = format!("conversation:\n- user_message: {value}");
        let error = transcript::outline(text.as_bytes()).unwrap_err();
        assert_eq!(
            (error.kind, error.line.is_some()),
            (ReadErrorKind::TooLarge, true),
            "{style}: {error}"
        );
        assert_eq!(yaml::read_fully(&text).unwrap_err(), error, "{style}");
    }
}

#[test]
fn long_lines_and_many_messages_are_read() {
    let line = format!("conversation:\n- user_message: {}\n", "word ".repeat(2_000_000));
    let many = format!(
        "conversation:\n{}",
        "- user_message: a\n- assistant_message: |\n    b\n".repeat(50_000)
    );
    for (text, steps) in [(line, 1), (many, 100_000)] {
        let start = Instant::now();
        assert_eq!(transcript::outline(text.as_bytes()).unwrap().items.len(), steps);
        assert_eq!(transcript::read(text.as_bytes()).unwrap().steps.len(), steps);
        assert!(start.elapsed() < SOON);
    }
}

#[test]
fn many_of_anything_take_time_in_proportion() {
    let many = |count: usize, text: &str| {
        (0..count).fold(String::new(), |all, n| all + &text.replace('N', &n.to_string()))
    };
    let prompt = format!(
        "llm_prompt: |\n  {}{}{{{}}}\nvariations:\n- b: 1\n",
        many(30_000, "{wN} "),
        "{ ".repeat(100_000),
        "a".repeat(300_000)
    );
    let merged = format!(
        "conversation: []\na: &a {{{}}}\nb: {{<<: *a, {}}}\n",
        many(20_000, "kN: 1,"),
        many(20_000, "jN: 1,")
    );
    let anchors = format!(
        "conversation: []\na: [{}]\nb: [{}]\n",
        many(100_000, "&aN x,"),
        "*a0,".repeat(yaml::ALIASES)
    );
    let tools = format!("conversation:\n{}", many(20_000, "- tool_call: {name: tool_N}\n"));
    let call = r#"{"role": "assistant", "tool_calls": [{"id": "N", "function": {"name": "t"}}]},"#;
    let calls = format!(
        "[{}{}null]",
        many(10_000, call),
        many(10_000, r#"{"role": "tool", "tool_call_id": "xN", "content": "r"},"#)
    );
    let start = Instant::now();
    assert_eq!(suite::read(&prompt, "t").unwrap().warnings.len(), 100);
    for text in [merged, anchors, tools] {
        transcript::outline(text.as_bytes()).unwrap();
    }
    let _ = answer::extract(&["```json\n".repeat(50_000).as_str()], Some("a"));
    let parts = Parts { history: Some(calls.as_bytes()), ..Parts::default() };
    assert_eq!(benchmark::read(&parts).unwrap().steps.len(), 20_001);
    assert!(start.elapsed() < SOON, "took {:?}", start.elapsed());
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (bytes, kind, line, words) in [
        (
            &b"conversation: []\nanswer: 1\nanswer: 2\n"[..],
            ReadErrorKind::Duplicate,
            Some(3),
            "`answer` appears twice",
        ),
        (b"conversation: &a\n- *a\n", ReadErrorKind::Syntax, Some(2), "inside the value"),
        (b"conversation: *b\n", ReadErrorKind::Syntax, Some(1), "never named"),
        (b"conversation:\n\t- user_message: a\n", ReadErrorKind::Syntax, Some(2), "tab"),
        (b"conversation:\n- user_message: a\0b\n", ReadErrorKind::Syntax, Some(2), "NUL"),
        (b"conversation:\n- user_message: a\xFFb\n", ReadErrorKind::NotUtf8, Some(2), "0xFF"),
        (b"conversation:\n- user_message: caf\xC3", ReadErrorKind::Truncated, Some(2), "0xC3"),
        (
            b"conversation:\n- user_message: \"\\uD83D\"\n",
            ReadErrorKind::Syntax,
            Some(2),
            "urrogate",
        ),
        (
            b"conversation:\n- user_message: \"a\n",
            ReadErrorKind::Truncated,
            None,
            "ends in the middle",
        ),
        (
            b"conversation: []\n---\nconversation: []\n",
            ReadErrorKind::Syntax,
            Some(2),
            "second document",
        ),
        (b"conversation:\n- user_message: a: b\n", ReadErrorKind::Syntax, Some(2), "A colon"),
        (b"", ReadErrorKind::Truncated, None, "empty"),
        (b"# only a comment\n", ReadErrorKind::Truncated, None, "comments"),
    ] {
        let error = fault(bytes);
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(error.kind, kind, "{shown}: {error:?}");
        assert!(line.is_none() || error.line == line, "{shown}: {error:?}");
        assert!(error.message.contains(words), "{shown}: {error:?}");
    }
}

#[test]
fn byte_order_marks_and_line_ends_of_windows_change_nothing() {
    let text = "conversation:\n- user_message: |\n    a\n    b\n- assistant_message: \"c\n    d\"\nanswer: [1]\n";
    let expected = transcript::outline(text.as_bytes()).unwrap();
    for other in [
        format!("\u{feff}{text}"),
        text.replace('\n', "\r\n"),
        format!("\u{feff}{}", text.replace('\n', "\r\n")),
    ] {
        assert_eq!(transcript::outline(other.as_bytes()).unwrap(), expected);
    }
    let colours = "conversation:\n- assistant_message: \"\\e[31mred\\e[0m\"\n";
    assert!(transcript::outline(colours.as_bytes()).unwrap().text.contains("\u{1b}[31m"));
}

#[test]
fn answers_that_old_readers_would_change_stay_as_they_are() {
    let words = ["no", "1_000", "12:30:45", "2024-01-01", "0o17", "1e3", "~", "=", "<<", "y"];
    let mut document = transcript::Document::conversation();
    document.push("assistant_message", "done".into());
    document.set_answer(Some(Value::List(words.iter().map(|word| Value::from(*word)).collect())));
    let written = document.write();
    let run = transcript::read(written.as_bytes()).unwrap();
    assert_eq!(
        run.answer.unwrap().value.items().iter().filter_map(Value::text).collect::<Vec<_>>(),
        words,
        "{written}"
    );
    let unquoted = transcript::read(b"conversation: []\nanswer: [no, 1_000, 12:30:45]\n")
        .unwrap()
        .answer
        .unwrap();
    assert!(unquoted.value.items().iter().all(|item| item.text().is_some()));
}

#[test]
fn a_file_cut_off_anywhere_is_never_answered_by_accident() {
    let text = include_str!("../../../tests/fixtures/transcripts/pyyaml-block.yaml");
    let end = text.find("\nanswer:").unwrap();
    for cut in (1..end).filter(|cut| text.is_char_boundary(*cut)) {
        if let Ok(outline) = transcript::outline(&text.as_bytes()[..cut]) {
            let fenced = outline.standing == RecordedState::Answered
                && text[..cut].contains("```json\n    [{\"parcel_id\": 41, \"days");
            assert!(fenced || outline.standing != RecordedState::Answered, "{}", &text[..cut]);
        }
    }
}

/// Runs every parser on the text; none of them may panic.
fn read_everything(text: &str) {
    let bytes = text.as_bytes();
    let _ = transcript::Document::read(bytes).map(|document| document.write());
    let _ = suite::read(text, "task");
    let _ =
        suite::from_folder("task", &[("promptql_prompt.txt", text), ("correct_answer.json", text)]);
    let _ = workspace::read(text);
    let _ = json::read(text).map(|value| json::write(&value, true));
    let _ = json::read_leniently(text);
    let _ = python::read(text);
    let _ = answer::extract(&[text, text], Some("a"));
    let _ = template::render(text, &["a", "b"], &[("a".to_owned(), text.into())]);
    let _ = names::read(text, &["o1"]);
    let _ = file_kind::detect("a.yaml", bytes);
    let _ = benchmark::coordinates(text, text);
    let parts = Parts {
        result: Some(bytes),
        history: Some(bytes),
        api: Some(bytes),
        time: Some(bytes),
        err: Some(bytes),
    };
    let _ = benchmark::read(&parts);
}

const JSONS: [&str; 4] = [
    concat!(
        r#"[{"role": "user", "content": "a"}, {"role": "assistant", "#,
        r#""content": ["TextBlock(citations=None, text='b', type='text')", "#,
        r#""ToolUseBlock(id='1', input={'sql': \"x\"}, name='q', type='tool_use')"]}, "#,
        r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "#,
        r#""content": "[1]"}]}]"#,
    ),
    concat!(
        r#"[{"user_message": {"text": "a"}, "assistant_actions": [{"message": "b", "#,
        r#""plan": null, "code": "c", "code_output": "d", "code_error": null}], "#,
        r#""modified_artifacts": [{"identifier": "e", "data": [{"f": 1.50}]}]}]"#,
    ),
    "{\"a\": [1, -2.5e+3, \"\\u00e9\\ud83d\\ude00\\n\", true, null, {}], 'b': NaN, // c\n}",
    "Here:\n```json\n[{\"a\": 1,}]\n```\n<a>5</a> {a} {{b}} 1 day, 0:01:33.5 x-promptql-o1-variation1-run2.yaml",
];

#[test]
fn edited_files_of_any_kind_never_panic() {
    let rounds = std::env::var("TOUCHSTONE_EDITS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(1_500);
    let mut edits = Edits::new(0x00FA_CADE);
    for round in 0..rounds {
        let text = if round % 4 == 0 {
            edits.next_text()
        } else {
            edits.edited(JSONS[round % JSONS.len()])
        };
        read_everything(&text);
        let mut bytes = text.into_bytes();
        let at = edits.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte = u8::try_from(edits.below(256)).unwrap_or_default();
        }
        assert_eq!(
            transcript::outline(&bytes),
            transcript::read(&bytes).map(|run| transcript::outline_of(&run))
        );
    }
    println!("cases: {rounds}");
}

#[test]
fn json_as_deep_as_python_writes_it_is_read_on_a_small_stack_and_deeper_is_an_error() {
    let nested =
        |levels: usize| format!("{}1{}", "{\"next\":[".repeat(levels), "]}".repeat(levels));
    let read = touchstone_model::json::read_deep;
    let value = read(&nested(touchstone_model::json::DEEP / 2)).unwrap();
    assert_eq!(value.clone(), value);
    assert!(read(&nested(touchstone_model::json::DEEP / 2 + 1)).is_err());
    assert!(read(&nested(5_000)).is_err());
}

#[test]
fn a_query_with_very_many_apis_is_read_in_the_time_of_its_length() {
    let count = 40_000;
    let api = |at: usize| {
        format!(r#"{{"category_name": "C{at}", "tool_name": "T", "api_name": "a{at}"}}"#)
    };
    let gold = |at: usize| format!(r#"["T", "a{at}"]"#);
    // Lists each item twice.
    let all = |of: &dyn Fn(usize) -> String| {
        (0..2 * count).map(|at| of(at % count)).collect::<Vec<_>>().join(",")
    };
    let text = format!(
        r#"[{{"query": "q", "api_list": [{}], "relevant APIs": [{}]}}]"#,
        all(&api),
        all(&gold)
    );
    let start = Instant::now();
    let tasks = suite::read(&text, "x").unwrap().tasks;
    assert_eq!(tasks[0].expected_tool_calls.len(), count);
    assert_eq!(tasks[0].expected_tool_calls[1], "a1_for_t");
    let query = Query::of_task(&tasks[0]).unwrap();
    assert_eq!(tasks[0].query.as_ref().unwrap().shared(), []);
    let (pool, tools) = (Pool::of_queries([&query]), query.available_tools());
    assert_eq!((query.apis.len(), pool.tools().len(), pool.api_count()), (2 * count, count, count));
    assert_eq!(
        (tools.items().len(), tools.items()[0].get("apis").unwrap().items().len()),
        (count, 2)
    );
    let one: Query = Query {
        apis: query.apis.into_iter().map(|api| Api { category: "C".into(), ..api }).collect(),
        ..query
    };
    let pool = Pool::of_queries([&one]);
    assert_eq!((pool.tools().len(), pool.api_count()), (1, count));
    assert_eq!(functions::of_query(&one, &pool, false).len(), count + 1);
    assert!(start.elapsed() < SOON, "took {:?}", start.elapsed());
}
