//! Tests of forks: table of steps, edits of each kind, and models.
use super::*;
use proptest::prelude::*;
use touchstone_api::{EditableField, EditableStep};
use touchstone_model::json;

const ORIGINAL: &str = r"conversation:
  - system_message: s
  - user_message: a
  - assistant_message: b
  - tool_call: {id: x, name: t, result: 1, turn: 1}
  - tool_call: {id: y, name: t, turn: 1}
  - {user_message: c, by: me}
  - {assistant_message: d, note: n, tool_call: {id: z, name: t, result: 2}}
  - error: e
answer: 5
error: beside
remark: stays
run: {model: o1, started: 1, finished: 2, seconds: 1, cost: 3, thinking: [{turn: 1, blocks: [q]}, {turn: 2, blocks: [r]}]}
";

fn read(text: &str) -> Document {
    Document::read(text.as_bytes()).unwrap()
}

fn forked(step: usize, message: Option<&str>) -> Result<(String, TranscriptWriter), ForkError> {
    let original = read(ORIGINAL);
    let script = fork(&original, "o.yaml", step, message.into())?;
    assert_eq!(TranscriptWriter::from(read(&script.write())), script);
    let items = json::write(&Value::List(script.document().items().to_vec()), false);
    Ok((items.replace(['"', ' '], ""), script))
}

#[test]
fn a_copy_goes_up_to_the_step_and_a_message_takes_the_place_of_a_message() {
    let item = |letter: char| match letter {
        's' => "{system_message:s}",
        'a' => "{user_message:a}",
        'b' => "{assistant_message:b}",
        'x' => "{tool_call:{id:x,name:t,result:1,turn:1}}",
        'y' => "{tool_call:{id:y,name:t,turn:1}}",
        'c' => "{user_message:c,by:me}",
        'd' => "{assistant_message:d,note:n}",
        'z' => "{assistant_message:d,note:n,tool_call:{id:z,name:t,result:2}}",
        _ => "{user_message:m}",
    };
    for (step, message, items) in [
        (0, Some("m"), "sm"),
        (1, Some("m"), "sm"),
        (1, None, "sa"),
        (2, Some("m"), "sabm"),
        (2, None, "sa"),
        (3, Some("m"), "sabxm"),
        (3, None, "sabx"),
        (4, Some("m"), "sabxm"),
        (4, None, "sabx"),
        (5, Some("m"), "sabxm"),
        (5, None, "sabxyc"),
        (6, Some("m"), "sabxycdm"),
        (6, None, "sabxyc"),
        (7, Some("m"), "sabxyczm"),
        (7, None, "sabxycz"),
        (8, None, "sabxycz"),
        (9, Some("m"), "sabxyczm"),
    ] {
        let (found, script) = forked(step, message).unwrap();
        let items: Vec<&str> = items.chars().map(item).collect();
        assert_eq!(found, format!("[{}]", items.join(",")), "{step} {message:?}");
        assert!(matches!(script.end(), End::User | End::CallsDone), "{step} {message:?}");
        assert_eq!(script.facts().forked_from.unwrap().edited, step < 2 && message.is_some());
    }
    assert_eq!(forked(0, None).map(drop), Err(ForkError::Nothing));
    assert_eq!(forked(10, Some("m")).map(drop), Err(ForkError::NoStep));
    let reply = Document::read(b"output: {}\nanswer: 1\n").unwrap();
    assert_eq!(fork(&reply, "r", 0, None.into()).map(drop), Err(ForkError::NoConversation));
}

#[test]
fn steps_are_those_that_are_shown() {
    let steps = Document::read(ORIGINAL.as_bytes()).unwrap().run().unwrap().steps;
    assert_eq!(steps.len(), 10);
}

#[test]
fn a_copy_says_where_it_is_from_and_nothing_of_how_the_original_went() {
    insta::assert_snapshot!(forked(2, Some("m")).unwrap().1.write(), @r"
        conversation:
          - system_message: s
          - user_message: a
          - assistant_message: b
          - user_message: m
        remark: stays
        run:
          model: o1
          thinking:
            - turn: 1
              blocks:
                - q
          forked_from:
            file: o.yaml
            step: 2
        ");
}

/// Two turns with thinking: one call alone, then a message with two calls at once, of which one was
/// not made; and an answer.
const LOOP: &str = r"conversation:
- user_message: How many?
- tool_call: {id: x, name: sql, params: {query: SELECT 1}, result: {rows: [{n: 1.0}]}, seconds: 2, turn: 1}
- assistant_message: I look twice.
  tokens: 9
- tool_call: {id: y, name: sql, params: {query: a, limit: 3}, error: no such column, turn: 2}
- tool_call: {id: z, name: sql, params: {query: b}, turn: 2}
- assistant_message: Seven.
- user_message: Sure?
- assistant_message: Yes.
answer: 7
run:
  model: o1
  model_id: o1-2024
  started: 1
  thinking:
  - {turn: 1, blocks: [p]}
  - {turn: 2, blocks: [q]}
  - {turn: 3, blocks: [r]}
";

fn edit(part: StepPart, text: &str) -> StepEdit {
    StepEdit { part, text: text.to_owned() }
}

/// Returns the items after the first, one a line, and the script.
fn edited(
    step: usize,
    part: StepPart,
    text: &str,
) -> Result<(String, TranscriptWriter), ForkError> {
    let edit = edit(part, text);
    let change = Change { edit: Some(&edit), ..Change::default() };
    let script = fork(&read(LOOP), "o.yaml", step, change)?;
    assert_eq!(TranscriptWriter::from(read(&script.write())), script);
    let items = script.document().items().iter().skip(1);
    let items: Vec<String> = items.map(|item| json::write(item, false).replace('"', "")).collect();
    Ok((items.join("\n"), script))
}

fn thinking(script: &TranscriptWriter) -> Vec<String> {
    let run = script.document().get("run").unwrap();
    let blocks = run.get("thinking").map(Value::items).unwrap_or_default();
    blocks.iter().map(|entry| json::write(entry.get("blocks").unwrap(), false)).collect()
}

#[test]
fn an_edited_call_is_made_again_and_the_calls_beside_it_stay() {
    use StepPart::Arguments;
    let (items, script) = edited(1, Arguments, r#"{"query": "SELECT 2", "of": 1.50}"#).unwrap();
    assert_eq!(items, "{tool_call:{id:x,name:sql,params:{query:SELECT 2,of:1.50},turn:1}}");
    assert_eq!((script.end(), thinking(&script)), (End::OpenCalls, vec![]));
    let (items, script) = edited(3, Arguments, r#"{"query": "c"}"#).unwrap();
    insta::assert_snapshot!(items, @r"
    {tool_call:{id:x,name:sql,params:{query:SELECT 1},result:{rows:[{n:1.0}]},seconds:2,turn:1}}
    {assistant_message:I look twice.,tokens:9}
    {tool_call:{id:y,name:sql,params:{query:c},turn:2}}
    {tool_call:{id:z,name:sql,params:{query:b},turn:2}}
    ");
    assert_eq!(thinking(&script), [r#"["p"]"#], "the model did not think of these arguments");
    assert_eq!(script.open_calls().len(), 2, "both are made");
}

#[test]
fn a_text_is_the_only_argument_and_anything_else_has_to_be_an_object() {
    use StepPart::Arguments;
    let (items, _) = edited(1, Arguments, "SELECT 2\n").unwrap();
    assert!(items.contains("params:{query:SELECT 2\\n}"), "{items}");
    let refused =
        |step, text: &str| edited(step, Arguments, text).map(drop).unwrap_err().to_string();
    let deep = format!("{}1{}", r#"{"a":"#.repeat(120), "}".repeat(120));
    let said = [
        refused(1, r#"{"query": "#),
        refused(3, "SELECT 2"),
        refused(3, "[1]"),
        refused(3, " "),
        refused(3, r#"{"a": 1, "a": 2}"#),
        refused(1, "SELECT '[redacted]'"),
        edited(3, Arguments, &deep).map(drop).unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: The JSON text ends in the middle. (line 1, column 11)
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: This is not a JSON value. (line 1, column 1)
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: this is another JSON value.
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: they are empty. Write {} for none.
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: The key `a` appears twice in the same object. (line 1, column 10)
    The arguments have `[redacted]` in place of a secret, which is kept nowhere, and the call is made again. Write something else there.
    The arguments have to be a JSON object like {"sql": "SELECT 1"}: Lists and objects are nested deeper than 64 levels. (line 1, column 321)
    "#);
}

#[test]
fn an_edited_outcome_takes_the_place_of_the_old_one_and_keeps_the_thinking_before_it() {
    use StepPart::{Error, Result};
    for (step, part, text, call) in [
        (1, Result, r#"{"rows": []}"#, "params:{query:SELECT 1},result:{rows:[]},turn:1"),
        (1, Result, "{\"rows\": ", "params:{query:SELECT 1},result:{\\rows\\: ,turn:1"),
        (1, Result, "", "params:{query:SELECT 1},result:,turn:1"),
        (1, Error, "timeout", "params:{query:SELECT 1},error:timeout,turn:1"),
        (3, Result, "5", "params:{query:a,limit:3},result:5,turn:2"),
        (4, Error, "no", "params:{query:b},error:no,turn:2"),
    ] {
        let (items, script) = edited(step, part, text).unwrap();
        assert!(items.contains(call), "{step} {part:?} {text}: {items}");
        assert!(!items.contains("Seven"), "what follows is left out");
        let turn = if step == 1 { 1 } else { 2 };
        assert_eq!(thinking(&script).len(), turn, "{step} {part:?}");
        assert_eq!(script.end() == End::OpenCalls, step == 3, "{step} {part:?}: z is made");
    }
}

#[test]
fn an_edited_message_keeps_the_calls_of_its_turn() {
    use StepPart::Message;
    let (items, script) = edited(2, Message, "I look once.").unwrap();
    assert!(items.contains("{assistant_message:I look once.}\n{tool_call:{id:y"), "{items}");
    assert!(items.ends_with("turn:2}}"), "{items}");
    assert_eq!(thinking(&script), [r#"["p"]"#]);
    let (items, script) = edited(5, Message, "Eight.").unwrap();
    assert!(items.ends_with("{assistant_message:Eight.}"), "{items}");
    assert_eq!((script.end(), thinking(&script).len()), (End::Assistant, 2));
    let (items, script) = edited(6, Message, "Really?").unwrap();
    assert!(items.ends_with("{assistant_message:Seven.}\n{user_message:Really?}"), "{items}");
    assert_eq!((script.end(), thinking(&script).len()), (End::User, 3));
    // A message can follow an edit.
    let edit = edit(Message, "Eight.");
    let change = Change { edit: Some(&edit), message: Some("Are you sure?"), models: None };
    let script = fork(&read(LOOP), "o.yaml", 5, change).unwrap();
    let items = script.document().items();
    assert_eq!(items[6].text_at("user_message"), Some("Are you sure?"));
    assert_eq!((items.len(), script.end()), (7, End::User));
}

#[test]
fn a_copy_records_which_part_was_edited_and_which_model_went_before() {
    let edit = edit(StepPart::Result, "[]");
    let change = |models| Change { edit: Some(&edit), message: None, models };
    let run = |models| {
        let script = fork(&read(LOOP), "o.yaml", 1, change(models)).unwrap();
        json::write(script.document().get("run").unwrap(), false).replace('"', "")
    };
    assert_eq!(
        run(Some(("o1", "o1"))),
        "{model:o1,model_id:o1-2024,thinking:[{turn:1,blocks:[p]}],forked_from:{file:o.yaml,step:1,part:result}}"
    );
    assert_eq!(
        run(Some(("o1", "claude"))),
        "{model:claude,forked_from:{file:o.yaml,step:1,part:result,model:o1,steps:2}}"
    );
    // A fork of that fork still says who made the first steps, of those that it has.
    let first = fork(&read(LOOP), "o.yaml", 4, change(Some(("o1", "claude")))).unwrap();
    for (step, steps) in [(4, 5), (1, 2)] {
        let second = fork(first.document(), "f.yaml", step, change(Some(("claude", "claude"))));
        let from = second.unwrap().facts().forked_from.unwrap();
        assert_eq!((from.model, from.step), (Some(("o1".to_owned(), steps)), step as u64));
    }
    let message = |step, message| {
        let script = fork(&read(LOOP), "o.yaml", step, Some(message).into()).unwrap();
        let from = script.facts().forked_from.unwrap();
        (from.part, from.edited)
    };
    assert_eq!(message(0, "How few?"), (Some(StepPart::Message), true));
    assert_eq!(message(6, "Really?"), (Some(StepPart::Message), false));
    assert_eq!(message(5, "Really?"), (None, false), "it follows the step");
}

#[test]
fn what_cannot_be_edited_is_refused_in_words() {
    use StepPart::{Arguments, Message, Result};
    let original = read(&ORIGINAL.replace("run: {", "run: {method: DFS_woFilter_w2, "));
    let talk = read(ORIGINAL);
    let refused = |document: &Document, step, part| {
        let edit = edit(part, " ");
        let change = Change { edit: Some(&edit), ..Change::default() };
        fork(document, "o.yaml", step, change).map(drop).unwrap_err().to_string()
    };
    let reply = read("output: {}\nanswer: 1\n");
    let said = [
        refused(&talk, 0, Message),
        refused(&talk, 1, Result),
        refused(&talk, 3, Message),
        refused(&talk, 8, Message),
        refused(&talk, 2, Message),
        refused(&talk, 99, Message),
        refused(&original, 3, Arguments),
        refused(&reply, 0, Message),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    Only messages and tool calls can be edited. Choose another step.
    This step is a message, of which only the text can be edited (`message`).
    This step is a tool call, of which the `arguments`, the `result` or the `error` can be edited.
    Only messages and tool calls can be edited. Choose another step.
    The message is empty. Write what is said at this step.
    The transcript has no such step any more. Open it again.
    This run searched for an answer in several tries, and a try cannot be edited. Fork it with a message that follows the step.
    Only a conversation can be continued from a step; run this one again instead.
    ");
    // The first message of a search can be another one, as before.
    assert!(editable(&original, 1).unwrap().why_not.is_none());
    assert!(editable(&original, 3).unwrap().why_not.unwrap().contains("several tries"));
    assert_eq!(editable(&talk, 9).unwrap(), EditableStep::default(), "the error beside it");
    assert_eq!(editable(&talk, 10), Err(ForkError::NoStep));
    assert_eq!(editable(&reply, 0), Err(ForkError::NoConversation));
}

#[test]
fn a_step_is_offered_as_it_can_be_edited() {
    let original = read(LOOP);
    let of = |step| {
        let step = editable(&original, step).unwrap();
        let fields = step.fields.iter().map(|field| {
            let EditableField { part, text, argument } = field;
            format!("{part:?} {argument:?} {text:?}")
        });
        (fields.collect::<Vec<_>>().join("; "), step.needs_message)
    };
    assert_eq!(of(0), (r#"Message None "How many?""#.to_owned(), false));
    assert_eq!(
        of(1).0,
        r#"Arguments Some("query") "SELECT 1"; Result None "{\n  \"rows\": [\n    {\n      \"n\": 1.0\n    }\n  ]\n}"; Error None """#
    );
    assert_eq!(
        of(3).0,
        r#"Arguments None "{\n  \"query\": \"a\",\n  \"limit\": 3\n}"; Error None "no such column"; Result None """#
    );
    assert_eq!((of(2).1, of(5).1), (false, true), "an answer has nothing after it");
    let long = "x".repeat(LONGEST_EDIT + 1);
    let long = read(&LOOP.replace("Seven.", &long));
    let long = editable(&long, 5).unwrap();
    assert!(
        long.fields.is_empty() && long.why_not.unwrap().contains("message is longer than 1 MB")
    );
}

proptest! {
    /// Whatever is edited: what stands before the step stays, one part of the step is the new text,
    /// and nothing of a later turn is left.
    #[test]
    fn an_edit_changes_one_step_alone(step in 0..9_usize, part in 0..4_usize, text in "[a-z]{5,9}") {
        let part = StepPart::ALL[part];
        let text = if part == StepPart::Arguments { format!("{{\"q\":\"{text}\"}}") } else { text };
        let (original, edit) = (read(LOOP), edit(part, &text));
        let change = Change { edit: Some(&edit), ..Change::default() };
        let offered = editable(&original, step);
        match fork(&original, "o.yaml", step, change) {
            Ok(script) => {
                let fields = offered.unwrap().fields;
                prop_assert!(fields.iter().any(|field| field.part == part));
                let (before, items) = (original.items(), script.document().items());
                prop_assert_eq!(&items[..step], &before[..step]);
                prop_assert!(items.len() <= before.len());
                let (written, inner) = (json::write(&items[step], false), text.trim_matches(['{', '}']));
                prop_assert!(written.contains(inner), "{written}");
                let again = editable(script.document(), step).unwrap();
                let field = again.fields.into_iter().find(|field| field.part == part).unwrap();
                prop_assert!(field.text.contains(text.split('"').rev().nth(1).unwrap_or(&text)));
            }
            Err(ForkError::NoPart(_)) => {
                let fields = offered.unwrap().fields;
                prop_assert!(fields.iter().all(|field| field.part != part));
            }
            Err(ForkError::NoStep) => prop_assert_eq!(offered, Err(ForkError::NoStep)),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}
