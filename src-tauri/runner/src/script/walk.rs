//! **Pure.** Groups the items of a conversation into steps and turns, by the rules that the
//! transcript reader uses for display.
use crate::scalar_text::word;
use touchstone_model::value::Value;

/// One part of an item; an item may have several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Piece<'d> {
    /// Index of the item.
    pub(crate) item: usize,
    pub(crate) kind: Kind,
    pub(crate) value: &'d Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Assistant,
    System,
    Call,
    Error,
    Unknown,
}

/// Kinds by key.
pub(crate) const KINDS: [(&str, Kind); 5] = [
    ("user_message", Kind::User),
    ("assistant_message", Kind::Assistant),
    ("system_message", Kind::System),
    ("tool_call", Kind::Call),
    ("error", Kind::Error),
];

/// Returns the key of a kind.
pub(crate) fn key_of(kind: Kind) -> Option<&'static str> {
    KINDS.iter().find(|(_, known)| *known == kind).map(|(key, _)| *key)
}

fn kind(key: &Value) -> Option<Kind> {
    KINDS.iter().find(|(known, _)| key.text() == Some(known)).map(|(_, kind)| *kind)
}

/// Returns the pieces of all items, in order. The n-th piece is the n-th step of the run in the
/// display.
pub(crate) fn pieces(items: &[Value]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for (item, value) in items.iter().enumerate() {
        let known = || value.entries().iter().filter_map(|(key, value)| Some((kind(key)?, value)));
        // A null beside another kind is ignored.
        let set = known().any(|(_, value)| *value != Value::Null);
        let before = pieces.len();
        pieces.extend(
            known()
                .filter(|(_, value)| !set || **value != Value::Null)
                .map(|(kind, value)| Piece { item, kind, value }),
        );
        if pieces.len() == before {
            pieces.push(Piece { item, kind: Kind::Unknown, value });
        }
    }
    pieces
}

/// A turn with its pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Group<'d> {
    User(Piece<'d>),
    Assistant(AssistantTurn<'d>),
}

/// An assistant turn: a message, calls, or both.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct AssistantTurn<'d> {
    /// Number of the assistant turn, in the numbering of `turn:`.
    pub(crate) number: u64,
    pub(crate) message: Option<Piece<'d>>,
    pub(crate) calls: Vec<Piece<'d>>,
}

/// Returns the turns of a conversation, and the number of its last assistant turn.
pub(crate) fn group<'d>(pieces: &[Piece<'d>]) -> (Vec<Group<'d>>, u64) {
    let mut walk = Walk { groups: Vec::new(), assistants: 0, call_turn: None, open: false };
    for piece in pieces {
        match piece.kind {
            Kind::User => {
                walk.open = false;
                walk.groups.push(Group::User(*piece));
            }
            Kind::Assistant => walk.begin(Some(*piece)),
            Kind::Call => walk.call(*piece),
            Kind::Error => walk.open = false,
            Kind::System | Kind::Unknown => {}
        }
    }
    (walk.groups, walk.assistants)
}

struct Walk<'d> {
    groups: Vec<Group<'d>>,
    assistants: u64,
    call_turn: Option<u64>,
    open: bool,
}

impl<'d> Walk<'d> {
    fn begin(&mut self, message: Option<Piece<'d>>) {
        self.assistants = self.assistants.saturating_add(1);
        self.call_turn = None;
        self.open = true;
        self.groups.push(Group::Assistant(AssistantTurn {
            number: self.assistants,
            message,
            calls: Vec::new(),
        }));
    }

    /// Adds a call. A call with a later `turn:` than the current one begins a turn without a
    /// message.
    fn call(&mut self, call: Piece<'d>) {
        let turn = call.value.get("turn").and_then(parse_u64);
        let later = match (turn, self.call_turn) {
            (Some(turn), None) => turn > self.assistants,
            (Some(turn), Some(other)) => turn != other,
            (None, _) => false,
        };
        if !self.open || later {
            self.begin(None);
        }
        if turn.is_some() {
            self.call_turn = turn;
            self.assistants = self.assistants.max(turn.unwrap_or(0));
        }
        if let Some(Group::Assistant(spoken)) = self.groups.last_mut() {
            spoken.number = self.assistants;
            spoken.calls.push(call);
        }
    }
}

/// Parses a number without sign and fraction.
pub(crate) fn parse_u64(value: &Value) -> Option<u64> {
    word(value)?.parse().ok()
}
