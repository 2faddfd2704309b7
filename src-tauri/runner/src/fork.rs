//! **Pure.** Forks a run: copies a transcript up to a step, to continue differently from there. The
//! original is not changed.
use super::script::walk::{self, Group, Kind, Piece, parse_u64};
use super::script::{End, ForkedFrom, TranscriptWriter};
use std::collections::HashSet;
use touchstone_formats::transcript::Document;
use touchstone_formats::value::Value;

/// Reason a transcript cannot be forked at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// Only conversations can be copied in part.
    #[error("Only a conversation can be continued from a step; run this one again instead.")]
    NoConversation,
    /// The transcript has no such step.
    #[error("The transcript has no such step any more. Open it again.")]
    NoStep,
    /// No message is left to continue from.
    #[error("Nothing is said before this step. Write a message to begin with.")]
    Nothing,
}

/// Facts about the original run that the copy must not carry over.
const OWN: [&str; 14] = [
    "commit",
    "started",
    "finished",
    "seconds",
    "turns",
    "usage",
    "cost",
    "nudges",
    "answer_lenient",
    "journal",
    "method",
    "steps",
    "queries",
    "tree",
];

/// Copies a transcript up to a step. `step` is the index under which steps are displayed; `file` is
/// the path of the original.
///
/// With a message: it replaces the step if the step is a user message, otherwise it follows the
/// step. Without a message: the model is asked again at that step, and its former reply is left
/// out. Tool calls without a result in the turn that is cut are left out, because no model could
/// continue with them.
pub fn fork(
    original: &Document,
    file: &str,
    step: usize,
    message: Option<&str>,
) -> Result<TranscriptWriter, ForkError> {
    if original.get("conversation").is_none() {
        return Err(ForkError::NoConversation);
    }
    let items = original.items();
    let pieces = walk::pieces(items);
    let keep = count_kept_pieces(original, &pieces, step, message.is_some())?;
    let open = open_calls(pieces.get(..keep).unwrap_or_default());
    let mut document = original.clone();
    document.set(
        "conversation",
        Value::List(copy(items, &pieces, |at| at < keep && !open.contains(&at))),
    );
    document.remove("answer");
    document.remove("error");
    let mut script = TranscriptWriter::from(document);
    script.drop_error();
    for fact in OWN {
        script.forget(fact);
    }
    script.restart_user();
    match message {
        Some(message) => script.nudge(message),
        None => script = unanswered(script),
    }
    if !script.is_spoken() {
        return Err(ForkError::Nothing);
    }
    let before = TranscriptWriter::from(original.clone());
    let was_edited = before.facts().forked_from.is_some_and(|from| from.edited);
    let edited = was_edited || before.first_message() != script.first_message();
    let from = ForkedFrom { file: file.to_owned(), step: step as u64, edited };
    let mut facts = script.facts();
    facts.forked_from = Some(from);
    script.set_facts(&facts);
    Ok(without_later_thinking(script))
}

/// Returns the number of pieces to keep.
fn count_kept_pieces(
    original: &Document,
    pieces: &[Piece<'_>],
    step: usize,
    has_message: bool,
) -> Result<usize, ForkError> {
    let Some(piece) = pieces.get(step) else {
        // An error outside the conversation is displayed as its last step.
        let is_error = step == pieces.len()
            && original.get("error").is_some_and(|error| *error != Value::Null);
        return if is_error { Ok(step) } else { Err(ForkError::NoStep) };
    };
    Ok(match piece.kind {
        Kind::User if has_message => step,
        Kind::Assistant if !has_message => step,
        Kind::Error => step,
        _ => step + 1,
    })
}

/// Returns the positions of the last turn's tool calls that have no result.
fn open_calls(pieces: &[Piece<'_>]) -> HashSet<usize> {
    let (groups, _) = walk::group(pieces);
    let Some(Group::Assistant(last)) = groups.last() else { return HashSet::new() };
    let open = last.calls.iter().filter(|call| super::script::outcome(call.value).is_none());
    open.filter_map(|call| pieces.iter().position(|piece| piece == call)).collect()
}

/// Copies the items with the pieces to keep. Other keys of an item stay with its first kept piece.
fn copy(items: &[Value], pieces: &[Piece<'_>], stays: impl Fn(usize) -> bool) -> Vec<Value> {
    let mut left = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let of_item = || pieces.iter().enumerate().filter(|(_, piece)| piece.item == at);
        if of_item().all(|(n, _)| !stays(n)) {
            continue;
        }
        let gone: HashSet<&str> = of_item()
            .filter(|(n, _)| !stays(*n))
            .filter_map(|(_, piece)| walk::key_of(piece.kind))
            .collect();
        left.push(match item {
            Value::Map(entries) if !gone.is_empty() => {
                let stays = |key: &Value| key.text().is_none_or(|key| !gone.contains(key));
                Value::Map(entries.iter().filter(|(key, _)| stays(key)).cloned().collect())
            }
            other => other.clone(),
        });
    }
    left
}

/// Drops assistant messages at the end, so that the model is asked again.
fn unanswered(mut script: TranscriptWriter) -> TranscriptWriter {
    while script.end() == End::Assistant {
        let mut document = script.document().clone();
        let items = document.items().to_vec();
        let pieces = walk::pieces(&items);
        let Some(last) = pieces.iter().rposition(|piece| piece.kind == Kind::Assistant) else {
            break;
        };
        document.set("conversation", Value::List(copy(&items, &pieces, |at| at != last)));
        script = TranscriptWriter::from(document);
    }
    script
}

/// Drops the thinking blocks of turns that are left out.
fn without_later_thinking(mut script: TranscriptWriter) -> TranscriptWriter {
    let last = u64::from(script.next_turn()).saturating_sub(1);
    let mut document = script.document().clone();
    let Some(thinking) = document.get("run").and_then(|run| run.get("thinking")) else {
        return script;
    };
    let of_turn =
        |entry: &&Value| entry.get("turn").and_then(parse_u64).is_none_or(|turn| turn <= last);
    let left: Vec<Value> = thinking.items().iter().filter(of_turn).cloned().collect();
    if left.is_empty() {
        script.forget("thinking");
        return script;
    }
    document.set_run("thinking", Value::List(left));
    TranscriptWriter::from(document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::json;

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
        let script = fork(&original, "o.yaml", step, message)?;
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
        assert_eq!(fork(&reply, "r", 0, None).map(drop), Err(ForkError::NoConversation));
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
}
