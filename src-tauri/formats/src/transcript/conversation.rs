//! **Pure.** Tool-calling transcripts: a `conversation:` list of items. Owns the conversion of
//! items into steps and turns.
use super::sink::{Head, Role, Sink};
use touchstone_model::answer;
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::StepKind;
use touchstone_model::scalar::Scalar;
use touchstone_model::value::Value;

/// Walks over a whole file.
pub(crate) fn walk_file<'t, N: Node<'t>>(root: N, sink: &mut impl Sink<'t>) {
    let items = root.get("conversation");
    let mut walker = walk_items(items.into_iter().flat_map(N::items), sink);
    if let Some(error) = root.get_non_null("error") {
        walker.error(error);
    }
    facts(root, &["conversation", "answer", "error"], sink);
    match root.get("answer") {
        Some(value) => sink.answer(value, "answer"),
        None => find_answer(items, root, sink),
    }
}

/// Walks over the items of a conversation.
pub(crate) fn walk_items<'t, 's, N: Node<'t>, S: Sink<'t>>(
    items: impl Iterator<Item = N>,
    sink: &'s mut S,
) -> Walker<'s, S> {
    let mut walker =
        Walker { sink, turn: 0, assistants: 0, call_turn: None, open: false, users: 0 };
    items.for_each(|item| walker.item(item));
    walker
}

/// Searches the messages for the answer of a file without `answer:`, because other programs do not
/// always copy it out. Only a conversation that ended with a message of the model is searched; one
/// that waits or ended in an error has no answer yet.
fn find_answer<'t, N: Node<'t>>(items: Option<N>, root: N, sink: &mut impl Sink<'t>) {
    if root.get_non_null("error").is_some() {
        return;
    }
    let known = |item: N| known_keys(item).last();
    let last = items.into_iter().flat_map(N::items).filter_map(known).last();
    if last.is_none_or(|(kind, _)| kind != StepKind::Assistant) {
        return;
    }
    let keys = items.into_iter().flat_map(N::items).flat_map(known_keys);
    let messages =
        keys.filter(|(kind, _)| *kind == StepKind::Assistant).filter_map(|(_, value)| value.text());
    let messages: Vec<&str> = messages.collect();
    sink.answer_missing();
    match answer::extract(&messages, None) {
        Some(found) => sink.answer_found(found),
        None => sink.no_answer_found(answer::explain_unparsable(&messages)),
    }
}

/// Reports all keys of a file that did not become steps; the entries of `run:` are reported one by
/// one.
pub(crate) fn facts<'t, N: Node<'t>>(root: N, except: &[&str], sink: &mut impl Sink<'t>) {
    for (key, value) in root.entries() {
        let Some(word) = key.word() else { continue };
        if word == "run" && value.shape() == Shape::Map {
            for (key, value) in value.entries() {
                if let Some(word) = key.word() {
                    sink.fact(&format!("run.{word}"), value);
                }
            }
        } else if !except.contains(&word) {
            sink.fact(word, value);
        }
    }
}

/// Returns the entries of an item that determine its kind. Some programs write all of these keys
/// and set only one, so nulls are ignored next to a key that is set.
pub(crate) fn known_keys<'t, N: Node<'t>>(item: N) -> impl Iterator<Item = (StepKind, N)> {
    let all = move || item.entries().filter_map(|(key, value)| Some((kind(key.text()?)?, value)));
    let set = all().any(|(_, value)| !value.is_null());
    all().filter(move |(_, value)| !set || !value.is_null())
}

fn kind(key: &str) -> Option<StepKind> {
    Some(match key {
        "user_message" => StepKind::User,
        "assistant_message" => StepKind::Assistant,
        "system_message" => StepKind::System,
        "tool_call" => StepKind::ToolCall,
        "error" => StepKind::Error,
        _ => return None,
    })
}

pub(crate) struct Walker<'s, S> {
    sink: &'s mut S,
    turn: u32,
    /// Number of assistant turns.
    assistants: u64,
    /// Value of `turn:` in the tool calls of the current assistant turn.
    call_turn: Option<u64>,
    /// True while tool calls belong to the current assistant turn.
    open: bool,
    users: u32,
}

impl<'t, S: Sink<'t>> Walker<'_, S> {
    fn item<N: Node<'t>>(&mut self, item: N) {
        let mut steps = 0;
        for (kind, value) in known_keys(item) {
            steps += 1;
            match kind {
                StepKind::User => self.user(item, value),
                StepKind::Assistant => self.assistant(item, value),
                StepKind::ToolCall => self.tool_call(value),
                StepKind::Error => self.error(value),
                _ => self.message(Head { kind, turn: self.turn.max(1), ..Head::default() }, value),
            }
        }
        if steps == 0 {
            self.unknown(item);
            return;
        }
        for (key, value) in item.entries() {
            let Some(word) = key.word() else { continue };
            let is_mark =
                matches!(word, "seconds" | "tokens") || (word == MARK && is_simulated(item));
            if kind(word).is_none() && !is_mark {
                self.sink.part(word, Role::Other, value);
            }
        }
    }

    fn user<N: Node<'t>>(&mut self, item: N, value: N) {
        self.turn += 1;
        self.users += 1;
        self.open = false;
        let simulated = is_simulated(item);
        let head = Head {
            nudge: self.users > 1 && !simulated,
            title: simulated.then_some(SIMULATED),
            ..self.head(StepKind::User, item)
        };
        self.message(head, value);
    }

    fn assistant<N: Node<'t>>(&mut self, item: N, value: N) {
        self.begin_turn();
        self.message(self.head(StepKind::Assistant, item), value);
    }

    fn begin_turn(&mut self) {
        self.turn += 1;
        self.assistants = self.assistants.saturating_add(1);
        self.call_turn = None;
        self.open = true;
    }

    /// Assigns a tool call to a turn. `turn:` counts assistant turns from 1. A call with a later
    /// turn than the current one begins a turn without a message; calls with equal turns stay
    /// together. Without `turn:` a call belongs to the message before it.
    fn join_turn(&mut self, turn: Option<u64>) {
        let later = match (turn, self.call_turn) {
            (Some(turn), None) => turn > self.assistants,
            (Some(turn), Some(other)) => turn != other,
            (None, _) => false,
        };
        if !self.open || later {
            self.begin_turn();
        }
        if let Some(turn) = turn {
            self.call_turn = Some(turn);
            self.assistants = self.assistants.max(turn);
        }
    }

    fn tool_call<N: Node<'t>>(&mut self, call: N) {
        self.join_turn(call.get("turn").and_then(parse_u64));
        let error = call.get_non_null("error");
        let failed =
            if error.is_some() { Some(true) } else { call.get("result").map(is_failed_program) };
        let word = |key| call.get(key).and_then(N::word);
        let head = Head {
            title: word("name"),
            call_id: word("id"),
            failed,
            ..self.head(StepKind::ToolCall, call)
        };
        self.sink.step(head);
        if call.shape() != Shape::Map {
            self.sink.part("call", Role::Other, call);
            return;
        }
        for (key, value) in call.entries() {
            match key.word().unwrap_or_default() {
                "id" | "name" | "turn" | "seconds" | "tokens" => {}
                "params" if value.shape() == Shape::Map => self.params(value),
                "params" => self.sink.part("params", Role::Param, value),
                "result" => self.sink.part("result", Role::Result, value),
                "error" if error.is_none() => {}
                word => self.sink.part(word, Role::Other, value),
            }
        }
    }

    fn params<N: Node<'t>>(&mut self, params: N) {
        for (key, value) in params.entries() {
            self.sink.part(key.word().unwrap_or("?"), Role::Param, value);
        }
    }

    fn error<N: Node<'t>>(&mut self, error: N) {
        self.open = false;
        self.sink.step(Head { kind: StepKind::Error, turn: self.turn.max(1), ..Head::default() });
        if !error.is_null() {
            self.sink.part("error", Role::Other, error);
        }
    }

    fn unknown<N: Node<'t>>(&mut self, item: N) {
        let title = item.entries().next().and_then(|(key, _)| key.word());
        self.sink.step(Head {
            kind: StepKind::Unknown,
            turn: self.turn.max(1),
            title,
            ..Head::default()
        });
        if item.shape() == Shape::Map {
            for (key, value) in item.entries() {
                self.sink.part(key.word().unwrap_or("?"), Role::Other, value);
            }
        } else {
            self.sink.part("item", Role::Other, item);
        }
    }

    fn message<N: Node<'t>>(&mut self, head: Head<'t>, value: N) {
        self.sink.step(head);
        if !value.is_null() {
            self.sink.part("message", Role::Message, value);
        }
    }

    fn head<N: Node<'t>>(&self, kind: StepKind, item: N) -> Head<'t> {
        let seconds = item.get("seconds").and_then(N::number);
        let tokens = item.get("tokens").and_then(parse_u64);
        Head { kind, turn: self.turn, seconds, tokens, ..Head::default() }
    }
}

/// Key of a message that a model wrote in the role of the user; its value is true.
pub const MARK: &str = "simulated";
/// Title of the step of such a message.
const SIMULATED: &str = "simulated";

/// Returns true for an item with a message that a model wrote in the role of the user.
pub fn is_simulated_item(item: &Value) -> bool {
    is_simulated(item)
}

/// Returns true for a message that a model wrote in the role of the user.
pub(crate) fn is_simulated<'t, N: Node<'t>>(item: N) -> bool {
    item.get(MARK).is_some_and(|mark| matches!(mark.shape(), Shape::Scalar(Scalar::Bool(true))))
        && item.get_non_null("user_message").is_some()
}

/// Parses a number without sign and fraction.
pub(crate) fn parse_u64<'t, N: Node<'t>>(value: N) -> Option<u64> {
    value.word().and_then(|word| word.parse().ok())
}

/// Returns true for the result of a program that did not end well: its `exit_code` is not 0, or it
/// has none because it was ended.
fn is_failed_program<'t, N: Node<'t>>(result: N) -> bool {
    let code = result.get("exit_code");
    code.is_some_and(|code| code.is_null() || code.number().is_some_and(|code| code != 0.0))
}
