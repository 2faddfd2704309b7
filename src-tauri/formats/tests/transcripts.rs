//! What a transcript says: steps, turns, how it stands, and that the outline agrees with the whole.
use touchstone_formats::run::{Layout, Standing, StepKind};
use touchstone_formats::{ReadErrorKind, transcript};

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
    assert_eq!(outline, transcript::read(NUDGED.as_bytes()).unwrap().outline());
    assert_eq!(outline.layout, Layout::ToolCalling);
    assert_eq!(outline.standing, Standing::Answered);
    assert_eq!((outline.turns, outline.tool_calls, outline.failed_calls, outline.nudges), (3, 2, 1, 1));
    assert_eq!(outline.tools, ["query_support_tickets"]);
    assert_eq!((outline.tokens, outline.cost, outline.seconds), (Some(123), Some(0.25), Some(10.5)));
    assert_eq!((outline.system.as_deref(), outline.model.as_deref()), (Some("tool_calling"), Some("o3-mini")));
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
        ("conversation:\n- user_message: a\n", Standing::Waiting, Some("Ends in a message that nobody answered.")),
        ("conversation:\n- tool_call: {name: t}\n", Standing::Waiting, Some("Ends in a call of t without a result.")),
        (
            "conversation:\n- tool_call: {name: t, result: 1}\nanswer: 1\n",
            Standing::Waiting,
            Some("Ends in the result of t."),
        ),
        ("conversation:\n- assistant_message: a\n", Standing::NoAnswer, None),
        ("conversation:\n- assistant_message: a\nanswer: []\n", Standing::Answered, None),
        (
            "conversation:\n- assistant_message: a\n- error: {status: 500, body: no}\n",
            Standing::Error,
            Some("status: 500"),
        ),
        ("conversation: []\n", Standing::NoAnswer, Some("The conversation is empty.")),
        ("output: {assistant_actions: []}\nanswer: []\n", Standing::Answered, None),
        ("output: {assistant_actions: []}\n", Standing::NoAnswer, None),
        ("output: null\nerror: |\n  timed out\n  after 5 s\n", Standing::Error, Some("timed out")),
    ] {
        let outline = transcript::outline(text.as_bytes()).unwrap();
        assert_eq!((outline.standing, outline.reason.as_deref()), (standing, reason), "{text}");
    }
}

#[test]
fn what_is_no_transcript_says_what_it_is() {
    for (text, kind, words) in [
        ("", ReadErrorKind::Truncated, "empty"),
        ("- a\n", ReadErrorKind::NotTranscript, "a list"),
        ("a: 1\nb: 2\n", ReadErrorKind::NotTranscript, "`a`, `b`"),
        ("conversation: 5\n", ReadErrorKind::NotTranscript, "no list"),
        ("conversation:\n  - user_message: \"cut", ReadErrorKind::Truncated, "ends in the middle"),
        ("a: 1\na: 2\n", ReadErrorKind::Duplicate, "line 1"),
    ] {
        let error = transcript::read(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind, kind, "{text}: {error}");
        assert!(error.message.contains(words), "{text}: {error}");
        assert_eq!(transcript::outline(text.as_bytes()).unwrap_err(), error);
    }
}
