//! **Pure.** Estimates the requests of one evaluator for one row by simulating it: first with the
//! recorded replies, then with a reply that nearly every judge can parse.
use crate::judging::job::pending::{CallEstimate, tokens};
use touchstone_judges::Question;
use touchstone_judges::azure::{Evaluation, Evaluator, Inputs, Next, Quirks};
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_runner::execute::JournaledReply;
use xxhash_rust::xxh3::Xxh3;

/// A reply that judges can parse, whatever they look for: JSON with the keys of all judges.
const READABLE: &str = concat!(
    r#"{"score": 3, "explanation": "3", "chain_of_thought": "3", "result": 0.5, "reason": "3", "reasoning": "3", "severity": 3, "#,
    r#""tool_calls_success_level": 3, "details": {}, "protected_material": false, "found": [], "emotional_state": false, "#,
    r#""protected_class": false, "groundedness": false, "manipulated_content": false, "intrusion": false, "information_gathering": false}"#
);
/// A reply for judges that expect tags.
const TAGGED: &str = "<S0>3</S0><S1>3</S1><S2>3</S2>";
/// A row with all inputs that evaluators with a model need.
const EXAMPLE: &str = concat!(
    r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g", "#,
    r#""tool_definitions": [{"name": "f", "parameters": {}}], "#,
    r#""tool_calls": [{"type": "tool_call", "tool_call_id": "1", "name": "f", "#,
    r#""arguments": {}}]}"#,
);
/// Maximum number of questions; more are a bug in an evaluator.
const MOST: usize = 200;

/// Returns a reply to a question that can be parsed.
fn readable(question: &Question) -> &'static str {
    if question.instructions.contains("<S2>") { TAGGED } else { READABLE }
}

/// Returns a key that identifies a question. A question that is sent again after an unreadable
/// reply has the same key.
pub(crate) fn key(question: &Question) -> u128 {
    hash(&[&question.instructions, &question.text])
}

/// Returns a key that identifies two texts to be embedded.
pub(crate) fn key_of_texts([first, second]: &[String; 2]) -> u128 {
    hash(&[first, second])
}

fn hash(texts: &[&str; 2]) -> u128 {
    let mut hasher = Xxh3::new();
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.digest128()
}

/// Returns the keys of the questions of one row, without duplicates, assuming that every reply can
/// be parsed.
pub(crate) fn keys(mut evaluation: Evaluation<'_>) -> Vec<u128> {
    let mut keys = Vec::new();
    while keys.len() < MOST {
        match evaluation.next() {
            Next::Ask(question) => {
                keys.push(key(&question));
                evaluation.add_reply(readable(&question));
            }
            Next::Embed(texts) => return vec![key_of_texts(&texts)],
            Next::Run(_) | Next::Done(_) => break,
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Remaining requests and reusable replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemainingCalls {
    pub(crate) takes: CallEstimate,
    /// Number of recorded replies that are reused.
    pub(crate) kept: u64,
    /// True if the recorded replies cannot be parsed.
    pub(crate) unread: bool,
}

/// Returns the remaining requests. With `once_more`, unreadable replies are requested again.
pub(crate) fn estimate_remaining(
    mut evaluation: Evaluation<'_>,
    once_more: bool,
    kept: impl Fn(&Question) -> Option<JournaledReply>,
) -> RemainingCalls {
    let begun = evaluation.clone();
    let (mut replies, mut last, mut useless) = (Vec::new(), 0, 0);
    while let Next::Ask(question) = evaluation.next()
        && replies.len() < MOST
        && let Some(reply) = kept(&question)
    {
        last = if question.unread.is_none() { 1 } else { last + 1 };
        let JournaledReply::Text(reply) = reply else {
            useless = 1;
            break;
        };
        evaluation.add_reply(&reply);
        replies.push(reply);
    }
    let is_unread =
        !replies.is_empty() && matches!(evaluation.next(), Next::Done(Err(why)) if !why.by_input);
    let unread = is_unread || useless > 0;
    if unread && once_more {
        replies.truncate(replies.len() + useless - last);
        evaluation = begun;
        for reply in &replies {
            evaluation.add_reply(reply);
        }
        useless = 0;
    }
    // An unusable reply ends the round, whatever questions would follow.
    let takes = if useless > 0 { CallEstimate::default() } else { fresh(evaluation) };
    RemainingCalls { takes, kept: (replies.len() + useless) as u64, unread }
}

/// Estimates the requests from this state on.
fn fresh(mut evaluation: Evaluation<'_>) -> CallEstimate {
    let (mut asked, mut fresh, mut sent) = (0, 0, 0);
    while let Next::Ask(question) = evaluation.next()
        && asked < MOST
    {
        // A question repeated because of an unreadable reply would not be repeated with another
        // reply. If the estimate starts at such a question, it is still needed.
        if question.unread.is_none() || asked == 0 {
            fresh += 1;
            sent += tokens::estimate(&question.instructions) + tokens::estimate(&question.text);
        }
        asked += 1;
        evaluation.add_reply(readable(&question));
    }
    // Each reply may turn out to be unreadable and is then requested once more.
    let most = 2;
    let received = fresh * tokens::REPLY;
    CallEstimate {
        calls: (fresh, most * fresh),
        sent: (sent, most * sent),
        received: (received, most * received),
    }
}

/// Returns minimum and maximum number of requests for a row and a round if the contents of the row
/// are not known yet.
pub(crate) fn requests(evaluator: &Evaluator, quirks: &Quirks) -> (u64, u64) {
    if evaluator.embeds() {
        return (1, 1);
    }
    let row = json::read(EXAMPLE).unwrap_or(Value::Null);
    let named = |(name, value): &(Value, Value)| Some((name.text()?.to_owned(), value.clone()));
    let inputs = evaluator.filtered(&Inputs(row.entries().iter().filter_map(named).collect()));
    let (least, most) = fresh(Evaluation::new(evaluator, &inputs, quirks)).calls;
    // Custom prompts have inputs with arbitrary names and send one request.
    if least == 0 { (1, 2) } else { (least, most) }
}

/// Estimates the embedding of two texts: one request, whose response is not counted in tokens.
pub(crate) fn vectors(texts: &[String; 2]) -> CallEstimate {
    let sent = texts.iter().map(|text| tokens::estimate(text)).sum();
    CallEstimate { calls: (1, 1), sent: (sent, sent), received: (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUT: &str = "(cut)";

    fn left(kind: &str, once_more: bool, kept: &[&str]) -> RemainingCalls {
        let evaluator = Evaluator::read(kind, &Value::Map(Vec::new())).unwrap();
        let Ok(Value::Map(row)) = json::read(EXAMPLE) else { panic!("the row is not an object") };
        let named = |(name, value): (Value, Value)| (name.text().unwrap().to_owned(), value);
        let inputs = evaluator.filtered(&Inputs(row.into_iter().map(named).collect()));
        let quirks = Quirks::default();
        let found = std::cell::Cell::new(0);
        let left =
            estimate_remaining(Evaluation::new(&evaluator, &inputs, &quirks), once_more, |_| {
                let said = |reply: &&str| {
                    if *reply == CUT {
                        JournaledReply::Useless
                    } else {
                        JournaledReply::Text((*reply).to_owned())
                    }
                };
                kept.get(found.replace(found.get() + 1)).map(said)
            });
        assert!(left.takes.calls.0 == 0 || left.takes.sent.0 > 0);
        left
    }

    #[test]
    fn every_question_is_asked_once_at_least_and_twice_at_most() {
        for (kind, least) in [
            ("relevance", 1),
            ("similarity", 1),
            ("tool_call_accuracy", 1),
            ("qa", 5),
            ("violence", 1),
            ("content_safety", 4),
            ("code_vulnerability", 1),
            ("f1_score", 0),
        ] {
            assert_eq!(left(kind, false, &[]).takes.calls, (least, 2 * least), "{kind}");
            let evaluator = Evaluator::read(kind, &Value::Map(Vec::new())).unwrap();
            let told = requests(&evaluator, &Quirks::default());
            assert!(least == 0 || told == (least, 2 * least), "{kind}: {told:?}");
        }
    }

    #[test]
    fn stored_replies_are_not_requested_and_unreadable_ones_only_on_request() {
        let told = |kind: &str, once_more: bool, kept: &[&str]| {
            let RemainingCalls { takes, kept, unread } = left(kind, once_more, kept);
            (takes.calls, kept, unread)
        };
        assert_eq!(told("relevance", false, &[READABLE]), ((0, 0), 1, false));
        // Recorded but not readable: requested once more.
        assert_eq!(told("relevance", false, &["hm"]), ((1, 2), 1, false));
        assert_eq!(told("relevance", false, &["hm", "hm"]), ((0, 0), 2, true));
        assert_eq!(told("relevance", true, &["hm", "hm"]), ((1, 2), 0, true));
        assert_eq!(told("relevance", true, &[READABLE]), ((0, 0), 1, false));
        // Of several questions, those with readable replies are not paid for again.
        assert_eq!(
            told("content_safety", true, &[READABLE, READABLE, "hm", "hm"]),
            ((2, 4), 2, true)
        );
        // A reply that was cut ends its round, too.
        assert_eq!(told("content_safety", false, &[READABLE, CUT]), ((0, 0), 2, true));
        assert_eq!(told("content_safety", true, &[READABLE, CUT]), ((3, 6), 1, true));
        assert_eq!(told("relevance", true, &["hm", CUT]), ((1, 2), 0, true));
    }

    #[test]
    fn questions_have_keys_of_their_own_and_the_same_ones_one() {
        let quirks = Quirks::default();
        let evaluator = Evaluator::read("content_safety", &Value::Map(Vec::new())).unwrap();
        let of = |response: &str| {
            let inputs = Inputs(vec![("response".to_owned(), response.into())]);
            keys(Evaluation::new(&evaluator, &inputs, &quirks))
        };
        assert_eq!((of("a").len(), of("a")), (4, of("a")));
        assert!(of("a").iter().all(|key| !of("b").contains(key)));
    }
}
