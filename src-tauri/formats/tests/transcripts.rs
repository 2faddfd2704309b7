//! Tests of transcripts: steps, turns, status, and agreement between the outline and the whole.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read fails the test")]
use touchstone_formats::transcript;
use touchstone_model::error::ReadErrorKind;
use touchstone_model::run::{Language, Layout, RecordedState, StepKind};
use touchstone_model::value::Value;

const NUDGED: &str = r#"conversation:
  - user_message: |
      which tickets are open?
      ```json
      [{"ticket_id": 1}]
      ```
  - assistant_message: I look.
  - tool_call:
      id: call_1
      name: query_support_tickets
      params: {sql: "SELECT id FROM ticket WHERE status = 'open'"}
      result: '[{"id": 7, "title": "no login"}]'
      turn: 1
  - tool_call:
      id: call_2
      name: query_support_tickets
      params:
        sql: select broken
      error: no such column
      turn: 1
  - assistant_message: done
  - user_message: actually use the query_control_plane_data tool to get the answer
  - assistant_message: |
      ```json
      [{"ticket_id": 7,}]
      ```
run:
  system: tool_calling
  model: o3-mini
  started: 2025-02-21T00:12:07Z
  finished: 2025-02-21T00:12:17.5Z
  cost: 0.25
  usage: {input_tokens: 100, output_tokens: 23}
"#;

#[test]
fn a_program_that_does_not_end_with_status_0_failed() {
    let failed = |result: &str| {
        let text = format!(
            "conversation:\n- user_message: a\n- tool_call: {{id: c, name: run_python, params: {{}}, result: {result}}}\n"
        );
        let run = transcript::read(text.as_bytes()).unwrap();
        let outline = transcript::outline_of(&run);
        assert_eq!(outline.calls[0].1, run.steps[1].failed == Some(true));
        assert_eq!(outline.failed_calls, u32::from(outline.calls[0].1));
        run.steps[1].failed
    };
    assert_eq!(failed("{stdout: '', exit_code: 0}"), Some(false));
    assert_eq!(failed("{stderr: NameError, exit_code: 1}"), Some(true));
    assert_eq!(failed("{timed_out: true, exit_code: null}"), Some(true));
    assert_eq!(failed("{exit_code: unknown}"), Some(false));
    assert_eq!(failed("{rows: 1}"), Some(false));
    assert_eq!(failed("'exit_code: 1'"), Some(false));
}

#[test]
fn a_conversation_becomes_steps_with_turns() {
    let run = transcript::read(NUDGED.as_bytes()).unwrap();
    let steps: Vec<(StepKind, u32, Option<bool>)> =
        run.steps.iter().map(|step| (step.kind, step.turn, step.failed)).collect();
    assert_eq!(
        steps,
        [
            (StepKind::User, 1, None),
            (StepKind::Assistant, 2, None),
            (StepKind::ToolCall, 2, Some(false)),
            (StepKind::ToolCall, 2, Some(true)),
            (StepKind::Assistant, 3, None),
            (StepKind::User, 4, None),
            (StepKind::Assistant, 5, None),
        ]
    );
    let answer = run.answer.as_ref().unwrap();
    assert!(answer.lenient);
    assert_eq!(answer.source, "last ```json fence");
}

#[test]
fn an_outline_counts_what_lists_show() {
    let outline = transcript::outline(NUDGED.as_bytes()).unwrap();
    assert_eq!(outline, transcript::outline_of(&transcript::read(NUDGED.as_bytes()).unwrap()));
    assert_eq!(outline.layout, Layout::ToolCalling);
    assert_eq!(outline.standing, RecordedState::Answered);
    assert_eq!(
        (outline.turns, outline.tool_calls, outline.failed_calls, outline.nudges),
        (3, 2, 1, 1)
    );
    assert_eq!(outline.tools, ["query_support_tickets"]);
    assert_eq!(
        (outline.tokens, outline.cost, outline.seconds),
        (Some(123), Some(0.25), Some(10.5))
    );
    assert_eq!(
        (outline.system.as_deref(), outline.model.as_deref()),
        (Some("tool_calling"), Some("o3-mini"))
    );
    assert_eq!(outline.items.len(), 8);
    let call = &outline.text[outline.items[2].start as usize..outline.items[3].start as usize];
    assert_eq!(
        call,
        "query_support_tickets\nSELECT id FROM ticket WHERE status = 'open'\n[{\"id\": 7, \"title\": \"no login\"}]\n"
    );
}

#[test]
fn a_run_stands_as_its_end_says() {
    for (text, standing, reason) in [
        (
            "conversation:\n- user_message: a\n",
            RecordedState::Waiting,
            Some("Ends with an unanswered message."),
        ),
        (
            "conversation:\n- tool_call: {name: t}\n",
            RecordedState::Waiting,
            Some("Ends with a call of t without a result."),
        ),
        (
            "conversation:\n- tool_call: {name: t, result: 1}\nanswer: 1\n",
            RecordedState::Waiting,
            Some("Ends with the result of t."),
        ),
        ("conversation:\n- assistant_message: a\n", RecordedState::NoAnswer, None),
        ("conversation:\n- assistant_message: a\nanswer: []\n", RecordedState::Answered, None),
        (
            "conversation:\n- assistant_message: a\n- error: {status: 500, body: no}\n",
            RecordedState::Error,
            Some("no (status 500)"),
        ),
        (
            "conversation:\n- error: {status: 503, body: '{\"error\": {\"message\": \"overloaded\"}}'}\n",
            RecordedState::Error,
            Some("overloaded (status 503)"),
        ),
        (
            "conversation:\n- error: |\n    Traceback (most recent call last):\n      File\n    ValueError: bad\n",
            RecordedState::Error,
            Some("ValueError: bad"),
        ),
        ("conversation:\n- error:\n", RecordedState::Error, None),
        ("conversation:\n- error: x\n- assistant_message: a\n", RecordedState::NoAnswer, None),
        ("error: x\nnote: y\nrun: {model: a}\n", RecordedState::Error, Some("x")),
        ("conversation: []\n", RecordedState::NoAnswer, Some("The conversation is empty.")),
        (
            "conversation:\n- assistant_message: |\n    ```json\n    [1, 2\n    ```\n",
            RecordedState::NoAnswer,
            Some(
                "The last ```json fence is not valid JSON (line 1): The JSON text ends in the middle.",
            ),
        ),
        ("output: {assistant_actions: []}\nanswer: []\n", RecordedState::Answered, None),
        ("output: {assistant_actions: []}\n", RecordedState::NoAnswer, None),
        (
            "output: null\nerror: |\n  timed out\n  after 5 s\n",
            RecordedState::Error,
            Some("timed out"),
        ),
    ] {
        let outline = transcript::outline(text.as_bytes()).unwrap();
        assert_eq!((outline.standing, outline.reason.as_deref()), (standing, reason), "{text}");
    }
}

#[test]
fn a_kind_that_is_null_beside_another_says_nothing() {
    let items = "- {user_message: a, assistant_message: null, error: null}\n- {user_message: ~, assistant_message: b}\n";
    assert_eq!(turns(items), [(StepKind::User, 1), (StepKind::Assistant, 2)]);
}

#[test]
fn a_transcript_may_be_written_in_json() {
    let text = "{\"conversation\": [{\"user_message\": \"a \\ud83d\\ude00\\/\"},\n\t{\"assistant_message\": \"b\"}], \"answer\": [1]}";
    let run = transcript::read(text.as_bytes()).unwrap();
    assert_eq!(run.steps[0].parts[0].value, "a 😀/".into());
    assert_eq!(transcript::outline_of(&run).standing, RecordedState::Answered);
}

#[test]
fn kinds_of_unknown_items_are_named_once() {
    let run = transcript::read(format!("conversation:\n{}", "- note: x\n".repeat(20)).as_bytes())
        .unwrap();
    assert_eq!(run.notes[0].matches("`note`").count(), 1, "{}", run.notes[0]);
}

#[test]
fn usage_of_each_model_and_times_in_other_spellings_are_read() {
    let usage = |usage: &str| {
        transcript::outline(format!("conversation: []\nrun: {{{usage}}}\n").as_bytes()).unwrap()
    };
    assert_eq!(
        usage("usage: {o1: {input_tokens: 5, output_tokens: 1}, o2: {prompt_tokens: 6, completion_tokens: 0}}").tokens,
        Some(12)
    );
    assert_eq!(usage("usage: {input: 5, output: 6}").tokens, Some(11));
    let cached =
        "usage: {input_tokens: 5, output_tokens: 6, cache_read_tokens: 7, cache_write_tokens: 8}";
    assert_eq!(usage(cached).tokens, Some(26));
    assert_eq!(usage("started: 1740096727, finished: 1740096737.5").seconds, Some(10.5));
    assert_eq!(
        usage("started: 2025-02-21T00:12Z, finished: 2025-02-21 00:13:00 UTC").seconds,
        Some(60.0)
    );
    // The active time excludes pauses between the dates.
    assert_eq!(
        usage("started: 1740096727, seconds: 4.5, finished: 1740096737.5").seconds,
        Some(4.5)
    );
    assert_eq!(usage("started: 1740096727, seconds: 4.5").seconds, Some(4.5));
    assert_eq!(
        usage("started: 1740096727, seconds: soon, finished: 1740096737.5").seconds,
        Some(10.5)
    );
}

#[test]
fn what_is_not_known_of_a_usage_or_an_amount_is_no_zero() {
    let run = |facts: &str| {
        transcript::outline(format!("conversation: []\nrun: {{{facts}}}\n").as_bytes()).unwrap()
    };
    for half in [
        "{input_tokens: 5}",
        "{output_tokens: 5}",
        "{input_tokens: 5, output_tokens: null}",
        "{prompt_tokens: many, completion_tokens: 5}",
        "{cache_read_tokens: 7, output_tokens: 5}",
        "{input_tokens: 5, output_tokens: 6, cache_read_tokens: -1}",
        "{total_tokens: unknown, input_tokens: 5, output_tokens: 6}",
        "{o1: {input_tokens: 5, output_tokens: 1}, o2: {prompt_tokens: 6}}",
        "[{input_tokens: 5, output_tokens: 1}, null]",
        "[]",
        "{}",
    ] {
        assert_eq!(run(&format!("usage: {half}")).tokens, None, "{half}");
    }
    let not_cached =
        "usage: {input_tokens: 5, output_tokens: 6, cache_creation_input_tokens: null}";
    assert_eq!(run(not_cached).tokens, Some(11), "what was not cached is nothing");
    assert_eq!(run("usage: {total_tokens: 9, input_tokens: 5}").tokens, Some(9));
    for odd in ["-1", "-0.5", ".nan", ".inf", "much"] {
        let outline = run(&format!("cost: {odd}, seconds: {odd}"));
        assert_eq!((outline.cost, outline.seconds), (None, None), "{odd}");
    }
    assert_eq!(run("cost: 0, seconds: 0").cost, Some(0.0), "nothing is an amount");
}

#[test]
fn a_reply_that_is_a_list_is_its_interactions() {
    let run = transcript::read(
        b"output:\n- user_message: {text: a}\n- assistant_actions: [{message: b}]\n",
    )
    .unwrap();
    assert_eq!(
        run.steps.iter().map(|step| step.kind).collect::<Vec<_>>(),
        [StepKind::User, StepKind::Assistant]
    );
}

#[test]
fn what_is_no_transcript_says_what_it_is() {
    for (text, kind, words) in [
        ("", ReadErrorKind::Truncated, "empty"),
        ("- a\n", ReadErrorKind::NotTranscript, "a list"),
        ("a: 1\nb: 2\n", ReadErrorKind::NotTranscript, "`a`, `b`"),
        ("conversation: 5\n", ReadErrorKind::NotTranscript, "not a list"),
        ("conversation:\n  - user_message: \"cut", ReadErrorKind::Truncated, "ends in the middle"),
        ("a: 1\na: 2\n", ReadErrorKind::Duplicate, "line 1"),
    ] {
        let error = transcript::read(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind, kind, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
        assert_eq!(transcript::outline(text.as_bytes()).unwrap_err(), error);
    }
}

/// Returns the kind and turn of each step of a conversation.
fn turns(items: &str) -> Vec<(StepKind, u32)> {
    let run = transcript::read(format!("conversation:\n{items}").as_bytes()).unwrap();
    run.steps.iter().map(|step| (step.kind, step.turn)).collect()
}

#[test]
fn calls_belong_to_the_turn_they_name_or_to_the_message_they_follow() {
    use StepKind::{Assistant, ToolCall, User};
    let call = |turn: &str| format!("- tool_call: {{name: t, result: 1{turn}}}\n");
    let (first, second, third, bare) =
        (call(", turn: 1"), call(", turn: 2"), call(", turn: 3"), call(""));
    let (user, assistant) = ("- user_message: a\n", "- assistant_message: b\n");
    for (items, expected) in [
        (
            format!("{user}{assistant}{bare}{bare}"),
            vec![(User, 1), (Assistant, 2), (ToolCall, 2), (ToolCall, 2)],
        ),
        (format!("{user}{bare}{bare}"), vec![(User, 1), (ToolCall, 2), (ToolCall, 2)]),
        (
            format!("{user}{first}{first}{second}"),
            vec![(User, 1), (ToolCall, 2), (ToolCall, 2), (ToolCall, 3)],
        ),
        (
            format!("{user}{assistant}{first}{second}{assistant}{third}"),
            vec![
                (User, 1),
                (Assistant, 2),
                (ToolCall, 2),
                (ToolCall, 3),
                (Assistant, 4),
                (ToolCall, 4),
            ],
        ),
        (format!("{assistant}{second}"), vec![(Assistant, 1), (ToolCall, 2)]),
        (format!("{bare}{user}{bare}"), vec![(ToolCall, 1), (User, 2), (ToolCall, 3)]),
        (
            format!("{}{assistant}", call(", turn: 18446744073709551615")),
            vec![(ToolCall, 1), (Assistant, 2)],
        ),
    ] {
        assert_eq!(turns(&items), expected, "{items}");
    }
}

#[test]
fn nothing_in_an_item_is_lost() {
    let text = "conversation:\n- assistant_message: a\n  thinking: hm\n  seconds: 1.5\
        \n  tokens: 12\n- note: {x: 1}\n  by: me\n- plain\n- tool_call: t\nextra: {k: v}\n\
        run: {model: m, color: red}\n";
    let run = transcript::read(text.as_bytes()).unwrap();
    assert_eq!(transcript::outline_of(&run), transcript::outline(text.as_bytes()).unwrap());
    let labels: Vec<Vec<&str>> = run
        .steps
        .iter()
        .map(|step| step.parts.iter().map(|part| part.label.as_str()).collect())
        .collect();
    assert_eq!(
        labels,
        [vec!["message", "thinking"], vec!["note", "by"], vec!["item"], vec!["call"]]
    );
    assert_eq!((run.steps[0].seconds, run.steps[0].tokens), (Some(1.5), Some(12)));
    assert_eq!(run.steps[1].title.as_deref(), Some("note"));
    let facts: Vec<&str> = run.facts.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(facts, ["extra", "run.model", "run.color"]);
    assert!(run.notes[0].contains("`note`"), "{:?}", run.notes);
}

#[test]
fn parts_know_what_they_are_written_in() {
    let text = "conversation:\n- user_message: a\n- tool_call:\n    name: t\
        \n    params: {sql: x, query: \"select 1 from b\", pythonCode: y, filter: '{\"a\": 1}', \
        word: select}\n    result: '[{\"a\": 1.50}]'\n";
    let run = transcript::read(text.as_bytes()).unwrap();
    assert_eq!(run.steps[0].parts[0].language, Language::Markdown);
    let languages: Vec<(&str, Language)> =
        run.steps[1].parts.iter().map(|part| (part.label.as_str(), part.language)).collect();
    assert_eq!(
        languages,
        [
            ("sql", Language::Sql),
            ("query", Language::Sql),
            ("pythonCode", Language::Python),
            ("filter", Language::Json),
            ("word", Language::Plain),
            ("result", Language::Json),
        ]
    );
    let result = &run.steps[1].parts[5];
    assert_eq!(result.raw.as_deref(), Some("[{\"a\": 1.50}]"));
    assert_eq!(result.value.items()[0].get("a"), Some(&Value::Number("1.50".into())));
}

#[test]
fn nested_values_are_searched_with_their_keys() {
    let text = "conversation:\n- tool_call:\n    name: t\n    params: {limit: 5}\n    result:\
        \n    - {id: 007, tags: [a, b], none: null, open: yes}\n    - {}\n\
        answer: {x: [1, {y: true}]}\n";
    let outline = transcript::outline(text.as_bytes()).unwrap();
    assert_eq!(outline.text, "t\n5\nid: 007\ntags: a\nb\nnone: null\nopen: yes\nx: 1\ny: true\n");
    assert_eq!(outline.items.iter().map(|item| item.step).collect::<Vec<_>>(), [Some(0), None]);
}

#[test]
fn a_promptql_reply_becomes_messages_programs_and_artifacts() {
    let text = include_str!("../../../tests/fixtures/transcripts/promptql.yaml");
    let run = transcript::read(text.as_bytes()).unwrap();
    let steps: Vec<_> = run
        .steps
        .iter()
        .map(|step| (step.kind, step.turn, step.title.as_deref(), step.failed))
        .collect();
    assert_eq!(
        steps,
        [
            (StepKind::Assistant, 1, None, None),
            (StepKind::Program, 1, None, None),
            (StepKind::Assistant, 2, None, None),
            (StepKind::Program, 2, None, Some(false)),
            (StepKind::Program, 3, None, Some(true)),
            (StepKind::Artifact, 3, Some("oldest_parcels"), None),
        ]
    );
    assert_eq!(
        (transcript::outline_of(&run).standing, transcript::outline_of(&run).turns),
        (RecordedState::Answered, 3)
    );
    assert_eq!(run.facts[0].0, "output.thread_id");
}

#[test]
fn an_outline_keeps_what_scorers_need_answer_calls_and_the_last_message() {
    let text = "conversation:\n- user_message: hi\n- assistant_message: I look.\n- tool_call: { id: a, name: find, result: [] }\n\
                - tool_call: { id: b, name: sort, error: no }\n- tool_call: { id: c, result: 1 }\n- assistant_message: |\n    Done,\n    at last.\n\
                - user_message: thanks\n- assistant_message: null\nanswer:\n- id: 007\n  score: 84.10\n  big: 123456789012345678901234567890\n";
    let outline = transcript::outline(text.as_bytes()).unwrap();
    let kept = outline.answer.as_ref().unwrap();
    assert_eq!(
        kept.json.as_deref(),
        Some(r#"[{"id":7,"score":84.10,"big":123456789012345678901234567890}]"#),
        "numbers are as they were written, but for zeros that JSON does not allow"
    );
    assert!(!kept.lenient);
    let calls: Vec<_> =
        outline.calls.iter().map(|(name, failed)| (name.as_str(), *failed)).collect();
    assert_eq!(calls, [("find", false), ("sort", true), ("", false)]);
    assert_eq!(outline.last_message(), "Done,\nat last.");
}

#[test]
fn an_answer_is_kept_as_it_was_whatever_its_numbers_are() {
    let kept = |text: &str| transcript::outline(text.as_bytes()).unwrap().answer.unwrap();
    let numbers = kept("output: {}\nanswer: [.nan, .inf, -.INF, 0x1F, 0o17, '.nan', '0x1F']\n")
        .value()
        .unwrap();
    let number = |text: &str| Value::Number(text.to_owned());
    let texts = [Value::from(".nan"), Value::from("0x1F")];
    let expected = [".nan", ".inf", "-.inf", "31", "15"].map(number).into_iter().chain(texts);
    assert_eq!(numbers, Value::List(expected.collect()));
    let fenced = "conversation:\n- user_message: hi\n- assistant_message: |\n    ```json\n    [NaN, -Infinity]\n    ```\n";
    let (fenced, plain) = (kept(fenced), kept("output: {}\nanswer: [.nan, -.inf]\n"));
    assert_eq!((fenced.value(), fenced.lenient, plain.lenient), (plain.value(), true, false));
    for text in ["[.nan, 'a NaN', {Infinity: -.inf}]", "[1, 2.50, x]"] {
        let run = transcript::read(format!("output: {{}}\nanswer: {text}\n").as_bytes()).unwrap();
        let named = touchstone_model::json::write(&run.answer.as_ref().unwrap().value, false);
        assert_eq!(
            transcript::outline_of(&run).answer.unwrap().canonical_json().as_deref(),
            Some(named.as_str()),
            "one name for it"
        );
    }
}

#[test]
fn an_answer_that_is_not_strict_json_or_too_long_to_be_kept_is_told_apart() {
    let fenced = "conversation:\n- user_message: hi\n- assistant_message: |\n    ```json\n    {'a': 1,}\n    ```\n";
    let kept = transcript::outline(fenced.as_bytes()).unwrap().answer.unwrap();
    assert_eq!((kept.json.as_deref(), kept.lenient), (Some(r#"{"a":1}"#), true));
    let long =
        format!("output: {{}}\nanswer: {}\n", "x".repeat(touchstone_model::run::LONGEST_ANSWER));
    let outline = transcript::outline(long.as_bytes()).unwrap();
    assert_eq!(outline.answer.map(|kept| kept.json), Some(None));
    assert_eq!((outline.said, outline.calls.len()), (None, 0));
}

#[test]
fn a_note_says_that_the_answer_is_from_before_the_last_message_of_the_user() {
    let text = |replies: &[&str]| {
        let fence = "- assistant_message: \"```json\\n[1]\\n```\"\n";
        let mut text = "conversation:\n- user_message: q\n".to_owned();
        for reply in replies {
            text += match *reply {
                "answer" => fence,
                "user" => "- user_message: And now?\n",
                _ => "- assistant_message: I stop here.\n",
            };
        }
        text + "answer: [1]\n"
    };
    for (replies, is_noted) in [
        (&["answer"][..], false),
        (&["answer", "user", "other"], true),
        (&["answer", "user", "answer"], false),
        (&["answer", "user", "answer", "other"], false),
        (&["other", "user", "other"], false),
    ] {
        let run = transcript::read(text(replies).as_bytes()).unwrap();
        let noted = run.notes.iter().any(|note| note.contains("before the last message"));
        assert_eq!((noted, run.answer.is_some()), (is_noted, true), "{replies:?}");
    }
}

#[test]
fn a_call_that_names_the_function_it_stands_for_is_a_call_of_that_function() {
    let text = "conversation:\n- user_message: hi\n- tool_call: {name: call_api, params: {arguments: {name: x}, name: stars_for_sky}, result: ok}\n\
                - tool_call: {name: other, params: {name: y}, error: no}\n- tool_call: {name: call_api, params: {}, result: ok}\n";
    let outline = transcript::outline(text.as_bytes()).unwrap();
    let calls: Vec<(&str, bool)> =
        outline.calls.iter().map(|(name, failed)| (name.as_str(), *failed)).collect();
    assert_eq!(calls, [("stars_for_sky", false), ("other", true), ("call_api", false)]);
    assert_eq!(outline.tools, ["call_api", "stars_for_sky", "other"]);
}
