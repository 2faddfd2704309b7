//! **Pure.** What one evaluator will take on one row: found out by asking it with the replies that are kept, and then with replies that
//! every judge can read, and that none can.
use crate::judging::owed::{Takes, tokens};
use touchstone_scoring::azure::{Evaluation, Next};
use touchstone_scoring::judges::Question;

/// Something that every judge can read, whatever it looks for: JSON with tags and a digit in it.
const READABLE: &str = r#"{"score":3,"explanation":"<S0>3</S0><S1>3</S1><S2>3</S2>","result":0.5,"label":false,"reasoning":"3","tool_calls_success_level":3}"#;
/// More questions are a mistake of an evaluator.
const MOST: u64 = 200;

/// What is left to ask, and how many replies are kept.
pub(crate) fn takes(mut evaluation: Evaluation<'_>, kept: impl Fn(&Question) -> Option<String>) -> (Takes, u64) {
    let mut found = 0;
    while let Next::Ask(question) = evaluation.next()
        && found < MOST
        && let Some(reply) = kept(&question)
    {
        evaluation.take(&reply);
        found += 1;
    }
    let (first, second) = (with(evaluation.clone(), READABLE), with(evaluation, ""));
    let ends = |a: u64, b: u64| (a.min(b), a.max(b));
    let (calls, sent) = (ends(first.0, second.0), ends(first.1, second.1));
    // A reply to each question may turn out to be unreadable.
    let calls = (calls.0, calls.1.max(2 * first.0));
    let received = tokens::REPLY;
    let sent = (sent.0, sent.1.max(2 * first.1));
    (Takes { calls, sent, received: (calls.0 * received, calls.1 * received) }, found)
}

/// Questions and tokens when each is answered so.
fn with(mut evaluation: Evaluation<'_>, reply: &str) -> (u64, u64) {
    let (mut asked, mut sent) = (0, 0);
    while let Next::Ask(question) = evaluation.next()
        && asked < MOST
    {
        let unread = question.unread.as_ref().map_or(0, |(reply, again)| tokens::of(reply) + tokens::of(again));
        sent += tokens::of(&question.instructions) + tokens::of(&question.text) + unread;
        asked += 1;
        evaluation.take(reply);
    }
    (asked, sent)
}
