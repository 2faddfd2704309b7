//! **Pure.** Messages of a simulated user in a transcript, and what the file records of the user
//! under `run.user`: its model, its usage apart from that of the system, and its verdict.
use super::facts::USAGE;
use super::walk::{self, Kind, parse_u64};
use super::{TranscriptWriter, fit, message_text};
use crate::provider::Usage;
use crate::scalar_text::word;
use crate::user::{Message, Verdict};
use std::borrow::Cow;
use touchstone_formats::transcript::{SIMULATED_MARK, TAKEN_BACK, is_automatic, is_simulated_item};
use touchstone_model::value::Value;

/// Facts about the simulated user. A fact that is not known is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserFacts {
    /// Name of the model in this workspace.
    pub model: Option<String>,
    /// Id of the model, as the provider names it.
    pub model_id: Option<String>,
    /// Hash of the user that the model plays.
    pub brief: Option<String>,
    /// Word for how the user attacks; none for one that only wants something.
    pub attack: Option<String>,
    /// Number of requests.
    pub requests: u64,
    /// Tokens of all requests.
    pub usage: Option<Usage>,
    /// Dollars of all requests.
    pub cost: Option<f64>,
    /// Word of the outcome; none while the conversation goes on.
    pub outcome: Option<String>,
    /// Reason of the outcome.
    pub reason: Option<String>,
    /// Last words, which were not sent to the system.
    pub closing: Option<String>,
}

/// Returns true for a message of the simulated user that it took back.
pub(super) fn is_taken_back(item: &Value) -> bool {
    is_simulated_item(item) && item.get(TAKEN_BACK) == Some(&Value::Bool(true))
}

impl UserFacts {
    /// Adds the usage and cost of a request. Once a request was counted, a missing cost means an
    /// unknown cost.
    pub fn spend(&mut self, usage: &Usage, cost: Option<f64>) {
        let used = self.usage.map_or(*usage, |before| before.plus(usage));
        self.usage = (used != Usage::default()).then_some(used);
        self.cost = match (self.cost, cost) {
            (Some(sum), Some(cost)) => Some(sum + cost),
            (None, Some(cost)) if self.requests == 0 => Some(cost),
            _ => None,
        };
        self.requests += 1;
    }

    /// Records the verdict of the user.
    pub fn end(&mut self, verdict: Verdict) {
        self.outcome = Some(verdict.outcome.as_str().to_owned());
        (self.reason, self.closing) = (verdict.reason, verdict.closing);
    }

    fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(word);
        let tokens = |key: &str| value.get("usage")?.get(key).and_then(parse_u64);
        let [input, output, cache_read, cache_write, reasoning] = USAGE.map(tokens);
        let usage = Usage { input, output, cache_read, cache_write, reasoning };
        Self {
            model: text("model"),
            model_id: text("model_id"),
            brief: text("brief"),
            attack: text("attack"),
            requests: value.get("requests").and_then(parse_u64).unwrap_or(0),
            usage: (usage != Usage::default()).then_some(usage),
            cost: text("cost").and_then(|cost| cost.parse().ok()),
            outcome: text("outcome"),
            reason: text("reason"),
            closing: text("closing"),
        }
    }

    fn to_value(&self) -> Value {
        let number = |number: u64| Value::Number(number.to_string());
        let text = |text: &Option<String>| text.as_deref().map(|text| Value::Text(fit::text(text)));
        let usage = self.usage.map(|usage| {
            let parts =
                [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning];
            let known = USAGE
                .iter()
                .zip(parts)
                .filter_map(|(key, part)| Some(((*key).into(), number(part?))));
            Value::Map(known.collect())
        });
        // Prices are accurate to a millionth of a dollar.
        let cost = self.cost.filter(|cost| cost.is_finite());
        let cost = cost.map(|cost| Value::Number(format!("{}", (cost * 1e6).round() / 1e6)));
        let entries = [
            ("model", text(&self.model)),
            ("model_id", text(&self.model_id)),
            ("brief", text(&self.brief)),
            ("attack", text(&self.attack)),
            ("requests", Some(number(self.requests))),
            ("usage", usage),
            ("cost", cost),
            ("outcome", text(&self.outcome)),
            ("reason", text(&self.reason)),
            ("closing", text(&self.closing)),
        ];
        let known = entries.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Value::Map(known.collect())
    }
}

impl TranscriptWriter {
    /// Returns what the file records of the simulated user.
    pub fn user(&self) -> UserFacts {
        self.run("user").map(UserFacts::from_value).unwrap_or_default()
    }

    /// Records facts about the simulated user.
    pub fn set_user(&mut self, user: &UserFacts) {
        self.document.set_run("user", user.to_value());
    }

    /// Forgets the verdict and the usage of the simulated user, which a fork does not share.
    pub fn restart_user(&mut self) {
        if self.run("user").is_some() {
            let UserFacts { model, model_id, brief, attack, .. } = self.user();
            self.set_user(&UserFacts { model, model_id, brief, attack, ..UserFacts::default() });
        }
    }

    /// Appends a message of the simulated user, with the tokens of the requests that it took.
    pub fn say(&mut self, text: &str, tokens: Option<u64>) {
        let index = self.document.items().len();
        self.document.push("user_message", Value::Text(fit::text(text)));
        if let Some(Value::Map(entries)) = self.document.item_mut(index) {
            entries.push((SIMULATED_MARK.into(), Value::Bool(true)));
            if let Some(tokens) = tokens {
                entries.push(("tokens".into(), Value::Number(tokens.to_string())));
            }
        }
    }

    /// Returns the number of messages that the simulated user sent, and of those that it took back.
    pub fn simulated_messages(&self) -> (usize, usize) {
        let items = self.document.items().iter().filter(|item| is_simulated_item(item));
        let taken_back = items.clone().filter(|item| is_taken_back(item)).count();
        (items.count(), taken_back)
    }

    /// Takes back the last message of the simulated user: the system no longer sees it, nor what it
    /// replied.
    pub fn take_back(&mut self) {
        let last = self.document.items().iter().rposition(is_simulated_item);
        if let Some(Value::Map(entries)) = last.and_then(|at| self.document.item_mut(at)) {
            entries.push((TAKEN_BACK.into(), Value::Bool(true)));
        }
    }

    /// Returns the messages of the conversation, as its user hears them.
    pub fn messages(&self) -> Vec<Message<'_>> {
        let items = self.document.items();
        let mut messages = Vec::new();
        for piece in walk::pieces(items) {
            let text = match piece.value {
                Value::Text(text) => Cow::Borrowed(text.as_str()),
                other => Cow::Owned(message_text(other)),
            };
            messages.extend(match piece.kind {
                Kind::Assistant => Some(Message::System(text)),
                Kind::User if items.get(piece.item).is_some_and(is_taken_back) => {
                    Some(Message::TakenBack(text))
                }
                Kind::User if items.get(piece.item).is_some_and(is_simulated_item) => {
                    Some(Message::User(text))
                }
                Kind::User if is_automatic(&text) => Some(Message::Nudge),
                Kind::User => Some(Message::User(text)),
                _ => None,
            });
        }
        messages
    }
}
