//! **Pure.** What one evaluator will take on one row: found out by asking it with the replies that are kept, and then with a reply that
//! nearly every judge can read.
use crate::judging::owed::{Takes, tokens};
use touchstone_scoring::azure::{Evaluation, Next};
use touchstone_scoring::judges::Question;

/// Something that judges can read, whatever they look for: JSON with all their keys.
const READABLE: &str = concat!(
    r#"{"score": 3, "explanation": "3", "chain_of_thought": "3", "result": 0.5, "reason": "3", "reasoning": "3", "severity": 3, "#,
    r#""tool_calls_success_level": 3, "details": {}, "protected_material": false, "found": [], "emotional_state": false, "#,
    r#""protected_class": false, "groundedness": false, "manipulated_content": false, "intrusion": false, "information_gathering": false}"#
);
/// The same for judges that reply in tags.
const TAGGED: &str = "<S0>3</S0><S1>3</S1><S2>3</S2>";
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
    let (mut asked, mut fresh, mut sent) = (0, 0, 0);
    while let Next::Ask(question) = evaluation.next()
        && asked < MOST
    {
        // One that is asked again because nothing could be read would not be with another reply; one that goes on from there is owed.
        if question.unread.is_none() || asked == 0 {
            fresh += 1;
            sent += tokens::of(&question.instructions) + tokens::of(&question.text);
        }
        asked += 1;
        evaluation.take(if question.instructions.contains("<S2>") { TAGGED } else { READABLE });
    }
    // Each reply may turn out to be unreadable, and is asked for once more then.
    let most = 2;
    let received = fresh * tokens::REPLY;
    (Takes { calls: (fresh, most * fresh), sent: (sent, most * sent), received: (received, most * received) }, found)
}

/// What the vectors of two texts take: one request, and nothing that comes back is counted.
pub(crate) fn vectors(texts: &[String; 2]) -> Takes {
    let sent = texts.iter().map(|text| tokens::of(text)).sum();
    Takes { calls: (1, 1), sent: (sent, sent), received: (0, 0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::json;
    use touchstone_formats::value::Value;
    use touchstone_scoring::azure::{Evaluator, Inputs, Quirks};

    const ROW: &str = r#"{"query": "q", "response": "r", "context": "c", "ground_truth": "g", "tool_definitions": [{"name": "f", "parameters": {}}], "tool_calls": [{"type": "tool_call", "tool_call_id": "1", "name": "f", "arguments": {}}]}"#;

    fn calls(kind: &str, kept: Option<&str>) -> ((u64, u64), u64) {
        let evaluator = Evaluator::read(kind, &Value::Map(Vec::new())).unwrap();
        let Ok(Value::Map(row)) = json::read(ROW) else { panic!("the row is no object") };
        let named = |(name, value): (Value, Value)| (name.text().unwrap().to_owned(), value);
        let inputs = evaluator.filtered(&Inputs(row.into_iter().map(named).collect()));
        let quirks = Quirks::default();
        let evaluation = Evaluation::new(&evaluator, &inputs, &quirks);
        let (takes, found) =
            takes(evaluation, |question| kept.filter(|_| question.unread.is_none()).map(str::to_owned));
        assert!(takes.calls.0 == 0 || takes.sent.0 > 0);
        (takes.calls, found)
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
            assert_eq!(calls(kind, None), ((least, 2 * least), 0), "{kind}");
        }
    }

    #[test]
    fn what_is_kept_is_not_owed() {
        assert_eq!(calls("relevance", Some(READABLE)), ((0, 0), 1));
        // Kept, but not readable: it is asked for once more.
        assert_eq!(calls("relevance", Some("hm")), ((1, 2), 1));
    }
}
