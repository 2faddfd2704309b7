//! **Pure.** Removes secrets from the contents of a transcript, text by text, which keeps the
//! structure of the file intact.
use crate::conversation::Call;
use crate::http::redact::{MARK, Redactor};
use crate::provider::{Reply, StopReason};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Removes known secrets from output of models and tools. Text that merely looks like a secret
/// stays: it is part of a result.
pub(super) fn value(redactor: &Redactor, value: Value) -> Value {
    redactor.known_value(value)
}

/// Returns true if something was removed from a value; the original text is then lost.
pub(super) fn is_marked(value: &Value) -> bool {
    json::write(value, false).contains(MARK)
}

/// Removes secrets, and text that looks like one, from the error of a run. The model's own words
/// under `text` lose only known secrets.
pub(super) fn error(redactor: &Redactor, error: Value) -> Value {
    match error {
        Value::Text(text) => Value::Text(redactor.clean(&text).into_owned()),
        Value::List(items) => {
            Value::List(items.into_iter().map(|item| self::error(redactor, item)).collect())
        }
        Value::Map(entries) => {
            let clean = |(key, item): (Value, Value)| {
                let said = key.text() == Some("text");
                let item = if said { value(redactor, item) } else { self::error(redactor, item) };
                (self::error(redactor, key), item)
            };
            Value::Map(entries.into_iter().map(clean).collect())
        }
        other => other,
    }
}

/// Removes secrets from a reply. Signed blocks stay unchanged unless they hold or held a secret;
/// then they are invalid and are dropped, also when the reply comes from the journal, where they
/// are already redacted.
pub(super) fn reply(redactor: &Redactor, reply: Reply) -> Reply {
    let is_whole = |block: &Value| value(redactor, block.clone()) == *block && !is_marked(block);
    let kept = reply.kept.into_iter().filter(is_whole).collect();
    let calls = reply.calls.into_iter().map(|call| Call {
        id: text_of(redactor, call.id),
        name: text_of(redactor, call.name),
        params: value(redactor, call.params),
        outcome: call.outcome,
    });
    let text = |text: String| text_of(redactor, text);
    let stop = match reply.stop {
        StopReason::Refused(words) => StopReason::Refused(words.map(text)),
        StopReason::Other(reason) => StopReason::Other(text(reason)),
        stop => stop,
    };
    let (said, model_id) = (reply.text.map(text), reply.model_id.map(text));
    Reply { text: said, kept, calls: calls.collect(), stop, model_id, ..reply }
}

fn text_of(redactor: &Redactor, text: String) -> String {
    match redactor.redact_known(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(clean) => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_wherever_it_stands() {
        let redactor = Redactor::new(["correct-horse-battery"]);
        let secret = || Value::from("a correct-horse-battery b");
        let nested = Value::List(vec![
            secret(),
            Value::Map(vec![(secret(), secret())]),
            Value::Number("1".to_owned()),
        ]);
        let clean = value(&redactor, nested);
        assert!(!format!("{clean:?}").contains("horse"));
        assert_eq!(clean.items()[2], Value::Number("1".to_owned()));
    }

    #[test]
    fn what_only_looks_like_a_secret_stays_in_what_is_said_and_goes_from_an_error() {
        let redactor = Redactor::new([]);
        let url = "postgres://me:hunter2@h/d";
        let map = |key: &str| Value::Map(vec![(key.into(), url.into())]);
        assert_eq!(value(&redactor, map("message")), map("message"));
        assert_eq!(error(&redactor, map("text")), map("text"));
        assert!(!format!("{:?}", error(&redactor, map("message"))).contains("hunter2"));
    }

    #[test]
    fn a_signed_block_is_kept_whole_or_not_at_all() {
        let redactor = Redactor::new(["correct-horse-battery"]);
        let kept = vec![
            Value::from("fine"),
            Value::from("correct-horse-battery"),
            Value::from("was a [redacted]"),
        ];
        let clean = reply(&redactor, Reply { kept, ..Reply::default() });
        assert_eq!(clean.kept, [Value::from("fine")]);
    }
}
