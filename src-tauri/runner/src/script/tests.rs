//! A transcript has the same content before and after it is written, wherever writing was
//! interrupted.
use super::*;
use crate::provider::StopReason;
use proptest::prelude::*;
use touchstone_model::run::StepKind;

fn make_reply(text: &str, calls: &[&str]) -> Reply {
    let call = |id: &&str| Call {
        id: (*id).into(),
        name: format!("tool_{id}"),
        params: Value::Map(vec![]),
        outcome: None,
    };
    let text = (!text.is_empty()).then(|| text.to_owned());
    Reply {
        text,
        calls: calls.iter().map(call).collect(),
        stop: StopReason::Done,
        ..Reply::default()
    }
}

fn read(text: &str) -> TranscriptWriter {
    TranscriptWriter::from(Document::read(text.as_bytes()).unwrap())
}

fn again(script: &TranscriptWriter) -> TranscriptWriter {
    read(&script.write())
}

/// Returns a run with two turns of calls and an answer.
fn whole_run() -> TranscriptWriter {
    let mut script = TranscriptWriter::new("which tickets are open?\n");
    assert_eq!((script.end(), script.next_turn()), (End::User, 1));
    let reply = Reply {
        kept: vec![Value::Map(vec![("k".into(), "x".into())])],
        ..make_reply("I look.", &["a", "b"])
    };
    assert_eq!(script.push_reply(&reply), 1);
    assert_eq!(script.end(), End::OpenCalls);
    let open = script.open_calls();
    script.close_call(open[1].index, &Outcome::Error("no such column".into()), Some(0.25));
    assert_eq!((script.open_calls().len(), script.end()), (1, End::OpenCalls));
    script.close_call(open[0].index, &Outcome::Result(Value::Null), Some(1.5));
    assert_eq!(script.end(), End::CallsDone);
    script.push_reply(&make_reply("", &["c"]));
    script.close_call(script.open_calls()[0].index, &Outcome::Result("x".into()), Some(0.0));
    script.push_reply(&make_reply("```json\n[1,]\n```", &[]));
    script.set_facts(&Facts {
        system: Some("tool_calling".into()),
        cost: Some(0.1 + 0.2),
        ..Facts::default()
    });
    script.finish(None);
    script
}

/// Removes the end of the run, like resuming does.
fn go_on(script: &mut TranscriptWriter) {
    script.drop_error();
    script.forget("finished");
}

#[test]
fn a_run_is_written_turn_by_turn() {
    let script = whole_run();
    insta::assert_snapshot!(script.write(), @r"
    conversation:
      - user_message: |
          which tickets are open?
      - assistant_message: I look.
      - tool_call:
          id: a
          name: tool_a
          params: {}
          result: null
          seconds: 1.5
          turn: 1
      - tool_call:
          id: b
          name: tool_b
          params: {}
          error: no such column
          seconds: 0.25
          turn: 1
      - tool_call:
          id: c
          name: tool_c
          params: {}
          result: x
          seconds: 0
          turn: 2
      - assistant_message: |-
          ```json
          [1,]
          ```
    answer:
      - 1
    run:
      thinking:
        - turn: 1
          blocks:
            - k: x
      system: tool_calling
      cost: 0.3
      answer_lenient: true
    ");
    assert_eq!(again(&script), script);
    let Turn::Assistant(first) = &script.turns()[1] else { panic!("no assistant turn") };
    assert_eq!((first.kept.len(), first.calls.len()), (1, 2));
    assert_eq!(script.called(), ["tool_a", "tool_b", "tool_c"]);
}

#[test]
fn a_file_ends_in_what_it_says_last() {
    let error = |text: &str| End::Error { error: text.into() };
    for (items, end) in [
        ("[]", End::AbsentFirstMessage),
        ("null", End::AbsentFirstMessage),
        ("[{note: x}, {system_message: y}]", End::AbsentFirstMessage),
        ("[{user_message: a}, {note: x}]", End::User),
        ("[{user_message: a}, {assistant_message: b}]", End::Assistant),
        ("[{user_message: a}, {assistant_message: b}, {user_message: c}]", End::User),
        ("[{tool_call: {name: t}}]", End::OpenCalls),
        ("[{tool_call: {name: t, error: null}}]", End::OpenCalls),
        ("[{tool_call: t}]", End::OpenCalls),
        ("[{tool_call: {name: t, result: null}}]", End::CallsDone),
        ("[{tool_call: {name: t, result: 1, error: x}}]", End::CallsDone),
        ("[{tool_call: {name: t}}, {tool_call: {name: t, result: 1}}]", End::OpenCalls),
        (
            "[{tool_call: {name: t, turn: 1}}, {tool_call: {name: t, result: 1, turn: 2}}]",
            End::CallsDone,
        ),
        ("[{user_message: a}, {error: x}]", error("x")),
        ("[{user_message: a}, {error: x}, {note: y}]", error("x")),
        ("[{user_message: a, assistant_message: null, error: null}]", End::User),
        ("[{user_message: a, error: x}]", error("x")),
        ("[{user_message: a}, {error: x}, {user_message: b}]", End::User),
        ("[{user_message: a}]\nerror: y", error("y")),
        ("[{user_message: a}]\nerror: null", End::User),
    ] {
        assert_eq!(read(&format!("conversation: {items}\n")).end(), end, "{items}");
    }
}

#[test]
fn going_on_takes_the_error_away_and_nothing_else() {
    for (before, after) in [
        ("conversation: [{user_message: a}, {error: x}]\n", "conversation: [{user_message: a}]\n"),
        (
            "conversation: [{user_message: a}, {error: x, seconds: 1}, {error: y}]\n",
            "conversation: [{user_message: a}]\n",
        ),
        (
            "conversation: [{user_message: a}, {error: x, by: me}, {n: 1}]\n",
            "conversation: [{user_message: a}, {by: me}, {n: 1}]\n",
        ),
        (
            "conversation: [{user_message: a, error: x}]\nerror: z\n",
            "conversation: [{user_message: a}]\n",
        ),
        (
            "conversation: [{user_message: a, assistant_message: null}]\n",
            "conversation: [{user_message: a, assistant_message: null}]\n",
        ),
        (
            "conversation: [{error: x}, {user_message: a}]\n",
            "conversation: [{error: x}, {user_message: a}]\n",
        ),
        (
            "conversation: [{user_message: a}, {error: x, tool_call: null}]\nrun: {finished: 1, z: 2}\n",
            "conversation: [{user_message: a}]\nrun: {z: 2}\n",
        ),
    ] {
        let mut script = read(before);
        go_on(&mut script);
        assert_eq!(script, read(after), "{before}");
    }
}

#[test]
fn calls_have_ids_of_their_own_and_keep_them_when_the_run_goes_on() {
    let mut script = read(
        "conversation: [{tool_call: {name: a, result: 1}}, {tool_call: {id: x, name: b, result: 1}}, {tool_call: {id: x, name: c, result: 1}}]\n",
    );
    let ids = |script: &TranscriptWriter| -> Vec<String> {
        let turns = script.turns();
        let calls = turns.iter().filter_map(|turn| {
            if let Turn::Assistant(said) = turn { Some(&said.calls) } else { None }
        });
        calls.flatten().map(|call| call.id.clone()).collect()
    };
    let before = ids(&script);
    assert_eq!(before, ["call_0", "x", "x_2"]);
    script.push_reply(&make_reply("", &["call_0", "x_2"]));
    assert_eq!(ids(&script)[..3], before);
    assert_eq!(ids(&script).into_iter().collect::<HashSet<_>>().len(), 5);
}

#[test]
fn what_is_too_deep_or_odd_for_a_file_is_written_as_its_json() {
    let deep = (0..60).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    let twice = Value::Map(vec![("a".into(), Value::Null), ("a".into(), Value::Null)]);
    let many = Value::List(vec![Value::Null; 30_000]);
    for odd in [deep, twice, many] {
        let mut script = TranscriptWriter::new("a");
        let mut reply = make_reply("", &["c"]);
        reply.kept = vec![odd.clone()];
        reply.calls[0].params = odd.clone();
        script.push_reply(&reply);
        script.close_call(1, &Outcome::Result(odd.clone()), Some(0.0));
        script.fail(&odd);
        assert_eq!(again(&script), script);
        let Turn::Assistant(said) = &script.turns()[1] else { panic!("no assistant turn") };
        assert_eq!(
            said.calls[0].outcome,
            Some(Outcome::Result(Value::Text(json::write(&odd, false))))
        );
    }
    let mut script = TranscriptWriter::new("a");
    script.push_reply(&make_reply(&"é".repeat(9 << 20), &[]));
    assert_eq!(again(&script), script);
}

#[test]
fn an_answer_is_there_when_the_conversation_has_come_to_its_end_with_one() {
    let finished = |text: &str, tag| {
        let mut script = read(text);
        script.finish(tag);
        (script.document().get("answer").cloned(), script.run("answer_lenient").is_some())
    };
    let says =
        |text: &str| format!("conversation:\n- user_message: a\n- assistant_message: {text}\n");
    assert_eq!(
        finished(&says("\"```json\\n[1]\\n```\""), None),
        (Some(Value::List(vec![Value::Number("1".into())])), false)
    );
    assert!(finished(&says("\"```json\\n[1,]\\n```\""), None).1);
    assert_eq!(finished(&says("<r>x</r>"), Some("r")), (Some("x".into()), false));
    assert_eq!(
        finished(&format!("{}answer: old\nrun: {{answer_lenient: true}}\n", says("none")), None),
        (None, false)
    );
    assert_eq!(
        finished(
            &format!("{}- user_message: more\nanswer: old\n", says("\"```json\\n1\\n```\"")),
            None
        ),
        (None, false)
    );
}

#[derive(Debug, Clone)]
enum Act {
    Say(String, usize, bool),
    Close(usize, bool, String),
    Nudge(String),
    Fail,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let text = prop_oneof![
        "[a-z \\n:#'\"|>-]{0,12}",
        "\\PC{0,6}",
        Just("no".to_owned()),
        Just("1e3\n".to_owned())
    ];
    let act = prop_oneof![
        4 => (text.clone(), 0..4usize, any::<bool>()).prop_map(|(text, calls, kept)| Act::Say(text, calls, kept)),
        6 => (0..4usize, any::<bool>(), text.clone()).prop_map(|(which, failed, text)| Act::Close(which, failed, text)),
        1 => text.prop_map(Act::Nudge),
        1 => Just(Act::Fail),
    ];
    prop::collection::vec(act, 0..14)
}

/// Applies an action to the script, and to the turns expected from it.
fn act(script: &mut TranscriptWriter, turns: &mut Vec<Turn>, act: &Act) {
    match act {
        Act::Say(text, calls, kept) => {
            let ids: Vec<String> =
                (0..*calls).map(|n| format!("{}_{n}", script.next_turn())).collect();
            let mut reply = make_reply(text, &ids.iter().map(String::as_str).collect::<Vec<_>>());
            if *kept {
                reply.kept = vec![Value::Text(text.clone())];
            }
            script.push_reply(&reply);
            let said = AssistantMessage { text: reply.text, kept: reply.kept, calls: reply.calls };
            if said != AssistantMessage::default() {
                turns.push(Turn::Assistant(said));
            }
        }
        Act::Close(which, failed, text) => {
            let Some(open) = script.open_calls().into_iter().nth(*which) else { return };
            let outcome = if *failed {
                Outcome::Error(text.as_str().into())
            } else {
                Outcome::Result(text.as_str().into())
            };
            script.close_call(open.index, &outcome, Some(0.5));
            for turn in turns.iter_mut() {
                if let Turn::Assistant(said) = turn
                    && let Some(call) = said.calls.iter_mut().find(|call| call.id == open.call.id)
                {
                    call.outcome = Some(outcome.clone());
                }
            }
        }
        Act::Nudge(text) => {
            script.nudge(text);
            turns.push(Turn::User(text.clone()));
        }
        Act::Fail => script.fail(&"down".into()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_said_is_read_back_and_a_crash_after_any_step_changes_nothing(acts in acts()) {
        let (mut straight, mut turns) = (TranscriptWriter::new("first"), vec![Turn::User("first".into())]);
        // The second script is written and parsed again after every step, as if killed.
        let (mut killed, mut same) = (straight.clone(), turns.clone());
        for next in &acts {
            go_on(&mut straight);
            act(&mut straight, &mut turns, next);
            go_on(&mut killed);
            act(&mut killed, &mut same, next);
            killed = again(&killed);
            prop_assert_eq!(killed.turns(), turns.clone());
            prop_assert_eq!(killed.end(), straight.end());
            prop_assert_eq!(killed.open_calls(), straight.open_calls());
        }
        prop_assert_eq!(killed.write(), straight.write());
    }

    #[test]
    fn what_we_do_not_know_survives_in_place_and_changes_nothing(
        acts in acts(),
        places in prop::collection::vec((0..20usize, 0..3usize), 1..4),
    ) {
        let (mut plain, mut turns) = (TranscriptWriter::new("first"), vec![Turn::User("first".into())]);
        let half = acts.len() / 2;
        acts[..half].iter().for_each(|next| act(&mut plain, &mut turns, next));
        let mut items = plain.document.items().to_vec();
        for (n, (at, kind)) in places.iter().enumerate() {
            let note = Value::Map(vec![(format!("note{n}").as_str().into(), Value::Number("1".into()))]);
            let note = match kind { 0 => note, 1 => Value::Text(format!("note{n}")), _ => Value::List(vec![note]) };
            items.insert((*at).min(items.len()), note);
        }
        let mut odd = plain.clone();
        odd.document.set("conversation", Value::List(items));
        odd.document.set("remark", "note".into());
        odd.document.set_run("color", "note".into());
        let notes = |script: &TranscriptWriter| -> Vec<Value> {
            let note = |item: &&Value| json::write(item, false).contains("note");
            script.document.items().iter().filter(note).cloned().collect()
        };
        let before = notes(&odd);
        prop_assert_eq!(before.len(), places.len());
        let mut other = turns.clone();
        for next in &acts[half..] {
            go_on(&mut plain);
            go_on(&mut odd);
            act(&mut plain, &mut turns, next);
            act(&mut odd, &mut other, next);
        }
        prop_assert_eq!(odd.turns(), plain.turns());
        prop_assert_eq!(notes(&again(&odd)), before);
        prop_assert_eq!(odd.document.get("remark"), Some(&"note".into()));
        prop_assert_eq!(odd.run("color"), Some(&"note".into()));
    }

    #[test]
    fn turns_are_the_ones_that_are_shown(items in prop::collection::vec(prop::sample::select(ITEMS.to_vec()), 0..10)) {
        let text = format!("conversation: [{}]\n", items.join(", "));
        let script = read(&text);
        let steps = script.document.run().unwrap().steps;
        let pieces = walk::pieces(script.document.items());
        prop_assert_eq!(pieces.len(), steps.len());
        let mut turns = std::collections::HashMap::new();
        let (groups, _) = walk::group(&pieces);
        for (turn, group) in groups.iter().enumerate() {
            let inside = match group {
                Group::User(piece) => vec![*piece],
                Group::Assistant(spoken) => spoken.message.into_iter().chain(spoken.calls.iter().copied()).collect(),
            };
            turns.extend(inside.into_iter().map(|piece| ((piece.item, format!("{:?}", piece.kind)), turn + 1)));
        }
        for (piece, step) in pieces.iter().zip(&steps) {
            let kind = match piece.kind {
                Kind::User => StepKind::User,
                Kind::Assistant => StepKind::Assistant,
                Kind::System => StepKind::System,
                Kind::Call => StepKind::ToolCall,
                Kind::Error => StepKind::Error,
                Kind::Unknown => StepKind::Unknown,
            };
            prop_assert_eq!(kind, step.kind);
            if let Some(turn) = turns.get(&(piece.item, format!("{:?}", piece.kind))) {
                prop_assert_eq!(*turn, step.turn as usize, "{}", text);
            }
        }
    }
}

const ITEMS: [&str; 16] = [
    "{user_message: a}",
    "{assistant_message: b}",
    "{system_message: s}",
    "{error: e}",
    "{note: n}",
    "plain",
    "{tool_call: {name: t}}",
    "{tool_call: {name: t, turn: 1}}",
    "{tool_call: {name: t, turn: 2, result: 1}}",
    "{tool_call: {name: t, turn: 3, error: 1}}",
    "{tool_call: {name: t, turn: 9}}",
    "{tool_call: t}",
    "{user_message: a, assistant_message: null, error: null}",
    "{user_message: a, assistant_message: b, tool_call: {name: t}}",
    "{user_message: null}",
    "{assistant_message: b, error: e}",
];

#[test]
fn a_nudge_after_a_message_that_is_taken_back_goes_with_it() {
    let mut script = TranscriptWriter::without_messages();
    script.say("One?", None);
    script.push_reply(&make_reply("First.", &[]));
    let before = script.turns();
    script.say("Two?", None);
    script.push_reply(&make_reply("I will not.", &[]));
    script.nudge("actually use the count tool to get the answer");
    script.push_reply(&make_reply("Still not.", &[]));
    script.take_back();
    assert_eq!(script.turns(), before);
    assert_eq!(again(&script).turns(), before);
    script.say("actually use the count tool to get the answer", None);
    assert_eq!(script.turns().len(), before.len() + 1, "a message of the user is no nudge");
}
