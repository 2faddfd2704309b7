//! **Pure.** Arranges the events of a run as messages: what the model wrote at one time with its
//! calls, and each result with its call.
use super::MOST_LEVELS;
use crate::run::{Event, EventKind};
use std::collections::{HashMap, HashSet};
use touchstone_model::value::Value;

/// Items of a conversation, in order.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) items: Vec<Item>,
}

impl Thread {
    /// Returns true for a call without a result.
    fn waits(&self, (item, call): CallPosition) -> bool {
        match self.items.get(item).map(|item| &item.kind) {
            Some(ItemKind::Turn(turn)) => {
                turn.calls.get(call).is_some_and(|call| call.replies.is_empty())
            }
            _ => false,
        }
    }
}

/// One item of a conversation.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) time: Option<String>,
    /// Descriptions of parts that are no text.
    pub(super) media: Vec<String>,
}

#[derive(Debug)]
pub(super) enum ItemKind {
    System(String),
    User {
        text: String,
        is_simulated: bool,
    },
    Turn(Turn),
    /// Result that belongs to no call.
    Reply(Reply),
    SubAgent(Agent),
    Abandoned(Thread),
    Compaction(String),
    Error(String),
    Note(String),
}

/// What the model wrote at one time.
#[derive(Debug, Default)]
pub(super) struct Turn {
    pub(super) reasoning: Vec<String>,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    /// Tokens of the model call.
    pub(super) tokens: Option<u64>,
    /// True if these are calls of the simulated user, and not of the model.
    pub(super) by_user: bool,
}

#[derive(Debug)]
pub(super) struct Call {
    /// Id, unique in its thread. Generated if the file has none.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) replies: Vec<Reply>,
    pub(super) agents: Vec<Agent>,
}

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) value: Value,
    pub(super) failed: Option<bool>,
}

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) thread: Thread,
}

/// Arranges the events of a run.
pub(super) fn arrange(events: &[Event]) -> Thread {
    arrange_level(events, MOST_LEVELS)
}

fn arrange_level(events: &[Event], levels: usize) -> Thread {
    let given = events.iter().filter_map(|event| match &event.kind {
        EventKind::Call { id, .. } => id.clone(),
        _ => None,
    });
    let mut builder = Builder {
        thread: Thread::default(),
        taken: given.collect(),
        used: HashSet::new(),
        open: HashMap::new(),
        waiting: Vec::new(),
        levels,
        goes_on: false,
        after_result: false,
    };
    for event in events {
        builder.event(event);
    }
    builder.thread.items.iter_mut().for_each(describe_media_alone);
    builder.thread
}

/// Makes the descriptions of media the text of a message that has no other: a message is never
/// empty in other tools.
fn describe_media_alone(item: &mut Item) {
    let (ItemKind::User { text, .. } | ItemKind::Turn(Turn { text: Some(text), .. })) =
        &mut item.kind
    else {
        return;
    };
    if text.is_empty() {
        let media = item.media.drain(..).map(|media| format!("[{media}]"));
        *text = media.collect::<Vec<_>>().join("\n");
    }
}

/// Position of a call: index of its item, and its index there.
type CallPosition = (usize, usize);

/// Calls of one key, in order.
#[derive(Default)]
struct Open {
    places: Vec<CallPosition>,
    /// Number of calls at the start that are known to have a result.
    answered: usize,
}

struct Builder {
    thread: Thread,
    /// Ids that occur in the run.
    taken: HashSet<String>,
    /// Ids that have a call already.
    used: HashSet<String>,
    /// Calls by id, and those without one by name.
    open: HashMap<String, Open>,
    /// Calls in order, up to the last one that is not known to have a result.
    waiting: Vec<CallPosition>,
    levels: usize,
    /// True while the last item may take more of the same turn.
    goes_on: bool,
    /// True after a result, until anything but media follows.
    after_result: bool,
}

impl Builder {
    fn push(&mut self, kind: ItemKind, time: Option<&String>) {
        self.goes_on = matches!(kind, ItemKind::Turn(_));
        self.thread.items.push(Item { kind, time: time.cloned(), media: Vec::new() });
    }

    /// Returns the turn that goes on if `fits`, else a new one.
    fn turn(&mut self, event: &Event, fits: impl Fn(&Turn) -> bool) -> Option<&mut Turn> {
        let last = self.thread.items.last().map(|item| &item.kind);
        let is_open = matches!(last, Some(ItemKind::Turn(turn)) if self.goes_on && fits(turn));
        if !is_open {
            self.push(ItemKind::Turn(Turn::default()), event.time.as_ref());
        }
        let Some(Item { kind: ItemKind::Turn(turn), .. }) = self.thread.items.last_mut() else {
            return None;
        };
        if let Some(tokens) = event.tokens {
            turn.tokens = Some(turn.tokens.unwrap_or(0).saturating_add(tokens));
        }
        Some(turn)
    }

    fn event(&mut self, event: &Event) {
        let time = event.time.as_ref();
        self.after_result &= matches!(event.kind, EventKind::Media(_));
        match &event.kind {
            EventKind::System(text) => self.push(ItemKind::System(text.clone()), time),
            EventKind::User(text) => {
                self.push(ItemKind::User { text: text.clone(), is_simulated: false }, time);
            }
            EventKind::SimulatedUser(text) => {
                self.push(ItemKind::User { text: text.clone(), is_simulated: true }, time);
            }
            EventKind::Reasoning(text) => {
                let fits = |turn: &Turn| turn.text.is_none() && turn.calls.is_empty();
                if let Some(turn) = self.turn(event, fits) {
                    turn.reasoning.push(text.clone());
                }
            }
            EventKind::Assistant(text) => {
                let fits = |turn: &Turn| turn.text.is_none() && turn.calls.is_empty();
                if let Some(turn) = self.turn(event, fits) {
                    turn.text = Some(text.clone());
                }
            }
            // The text of a result describes what it holds.
            EventKind::Media(_) if self.after_result => {}
            EventKind::Media(media) => match self.thread.items.last_mut() {
                Some(item) if can_hold_media(&item.kind) => item.media.push(media.text.clone()),
                _ => self.push(ItemKind::Note(media.text.clone()), time),
            },
            EventKind::Call { .. } => self.call(event),
            EventKind::Result { .. } => {
                self.result(event);
                self.after_result = true;
            }
            EventKind::SubAgent { name, call, events } => {
                let Some(levels) = self.levels.checked_sub(1) else {
                    return self.push(ItemKind::Note(too_deep(name)), time);
                };
                let agent = Agent { name: name.clone(), thread: arrange_level(events, levels) };
                let goes_on = self.goes_on;
                let place = call.as_ref().and_then(|id| self.call_of(id));
                match place.and_then(|place| self.call_at_mut(place)) {
                    Some(call) => call.agents.push(agent),
                    None => return self.push(ItemKind::SubAgent(agent), time),
                }
                self.goes_on = goes_on;
            }
            EventKind::Abandoned(events) => match self.levels.checked_sub(1) {
                Some(levels) => {
                    self.push(ItemKind::Abandoned(arrange_level(events, levels)), time);
                }
                None => self.push(ItemKind::Note(too_deep("abandoned branch")), time),
            },
            EventKind::Compaction(text) => self.push(ItemKind::Compaction(text.clone()), time),
            EventKind::Error(text) => self.push(ItemKind::Error(text.clone()), time),
            EventKind::Note(text) => self.push(ItemKind::Note(text.clone()), time),
        }
    }

    fn call(&mut self, event: &Event) {
        let EventKind::Call { id, name, arguments, by_user } = &event.kind else { return };
        let own = self.id(id.as_deref());
        let call = Call {
            id: own,
            name: name.clone(),
            arguments: arguments.clone(),
            replies: Vec::new(),
            agents: Vec::new(),
        };
        let is_same = |turn: &Turn| turn.by_user == *by_user || turn.calls.is_empty();
        let fits = |turn: &Turn| {
            is_same(turn) && !(*by_user && (turn.text.is_some() || !turn.reasoning.is_empty()))
        };
        let Some(turn) = self.turn(event, fits) else { return };
        turn.by_user = *by_user;
        turn.calls.push(call);
        let place = (self.thread.items.len() - 1, self.last_call());
        let key = id.as_ref().unwrap_or(name);
        self.open.entry(key.clone()).or_default().places.push(place);
        self.waiting.push(place);
    }

    fn last_call(&self) -> usize {
        match self.thread.items.last().map(|item| &item.kind) {
            Some(ItemKind::Turn(turn)) => turn.calls.len().saturating_sub(1),
            _ => 0,
        }
    }

    /// Returns the call with an id, or without id and with that name: the first without a result,
    /// else the last.
    fn call_of(&mut self, key: &str) -> Option<CallPosition> {
        let Open { places, answered } = self.open.get_mut(key)?;
        while places.get(*answered).is_some_and(|place| !self.thread.waits(*place)) {
            *answered += 1;
        }
        places.get(*answered).or(places.last()).copied()
    }

    fn call_at_mut(&mut self, (item, call): CallPosition) -> Option<&mut Call> {
        match &mut self.thread.items.get_mut(item)?.kind {
            ItemKind::Turn(turn) => turn.calls.get_mut(call),
            _ => None,
        }
    }

    fn result(&mut self, event: &Event) {
        let EventKind::Result { id, name, value, failed } = &event.kind else { return };
        let reply =
            || Reply { id: id.clone(), name: name.clone(), value: value.clone(), failed: *failed };
        let keys = [id.as_deref(), name.as_deref()];
        for key in keys.into_iter().flatten() {
            if let Some(place) = self.call_of(key) {
                return self.reply(place, reply());
            }
        }
        // A result without id and name belongs to the last call that waits for one.
        let is_nameless = id.is_none() && name.is_none();
        let last = if is_nameless { self.last_waiting() } else { None };
        match last {
            Some(place) => self.reply(place, reply()),
            None => self.push(ItemKind::Reply(reply()), event.time.as_ref()),
        }
    }

    fn reply(&mut self, place: CallPosition, reply: Reply) {
        // Calls behind the result of a turn are of the next one.
        self.goes_on &= place.0 + 1 < self.thread.items.len();
        if let Some(call) = self.call_at_mut(place) {
            call.replies.push(reply);
        }
    }

    fn last_waiting(&mut self) -> Option<CallPosition> {
        while self.waiting.pop_if(|place| !self.thread.waits(*place)).is_some() {}
        self.waiting.last().copied()
    }

    /// Returns a unique id for a call: its own if it is the first with that id.
    fn id(&mut self, own: Option<&str>) -> String {
        let own = own.filter(|own| !own.is_empty());
        if let Some(own) = own.filter(|own| self.used.insert((*own).to_owned())) {
            return own.to_owned();
        }
        let base = own.unwrap_or("call");
        let mut number = self.used.len() + 1;
        loop {
            let id = format!("{base}_{number}");
            if !self.taken.contains(&id) && self.used.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }
}

fn can_hold_media(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::System(_) | ItemKind::User { .. } | ItemKind::Turn(_))
}

fn too_deep(name: &str) -> String {
    format!("{name} is nested more than {MOST_LEVELS} levels deep and is left out.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Media;

    #[test]
    fn an_image_alone_becomes_a_text_that_describes_it() {
        let image = || Event::from(EventKind::Media(Media::described("image/png, 3 B")));
        let user = |text: &str| Event::from(EventKind::User(text.to_owned()));
        for (text, expected, beside) in
            [("", "[image/png, 3 B]\n[image/png, 3 B]", 0), ("q", "q", 2)]
        {
            let thread = arrange(&[user(text), image(), image()]);
            let [Item { kind: ItemKind::User { text, .. }, media, .. }] = &thread.items[..] else {
                panic!("{thread:?}")
            };
            assert_eq!((text.as_str(), media.len()), (expected, beside));
        }
    }

    fn call(id: Option<&str>, name: &str) -> Event {
        EventKind::Call {
            id: id.map(str::to_owned),
            name: name.to_owned(),
            arguments: Value::Null,
            by_user: false,
        }
        .into()
    }

    fn result(key: Option<&str>, value: usize) -> Event {
        let (name, value) = (key.map(str::to_owned), Value::Text(value.to_string()));
        EventKind::Result { id: None, name, value, failed: None }.into()
    }

    /// Returns for each turn the calls with their results.
    fn turns(events: &[Event]) -> Vec<Vec<String>> {
        let of_call = |call: &Call| {
            let replies = call.replies.iter().filter_map(|reply| reply.value.text());
            format!("{} {}", call.name, replies.collect::<Vec<_>>().join("+"))
        };
        let of_item = |item: &Item| match &item.kind {
            ItemKind::Turn(turn) => turn.calls.iter().map(of_call).collect(),
            ItemKind::Reply(reply) => vec![format!("alone {:?}", reply.value.text())],
            _ => Vec::new(),
        };
        arrange(events).items.iter().map(of_item).collect()
    }

    #[test]
    fn a_result_is_of_the_first_call_that_waits_or_of_the_last() {
        for (events, expected) in [
            (
                vec![
                    call(None, "f"),
                    call(None, "f"),
                    result(Some("f"), 1),
                    result(Some("f"), 2),
                    result(Some("f"), 3),
                    call(None, "f"),
                    result(Some("f"), 4),
                ],
                vec![vec!["f 1", "f 2+3"], vec!["f 4"]],
            ),
            (
                vec![
                    call(None, "f"),
                    call(None, "g"),
                    result(None, 1),
                    result(None, 2),
                    result(None, 3),
                ],
                vec![vec!["f 2", "g 1"], vec!["alone Some(\"3\")"]],
            ),
            (
                // A result of an earlier turn does not end the last one.
                vec![
                    call(Some("a"), "f"),
                    EventKind::User("go on".to_owned()).into(),
                    call(None, "g"),
                    result(Some("a"), 1),
                    call(None, "h"),
                    result(Some("h"), 2),
                    call(None, "g"),
                ],
                vec![vec!["f 1"], vec![], vec!["g ", "h 2"], vec!["g "]],
            ),
        ] {
            assert_eq!(turns(&events), expected);
        }
    }

    #[test]
    fn the_time_of_many_calls_without_ids_grows_with_their_number() {
        // A search among all calls for each result takes minutes.
        const COUNT: usize = 60_000;
        for key in [Some("f"), None] {
            let calls = (0..COUNT).map(|_| call(None, "f"));
            let events: Vec<Event> = calls.chain((0..=COUNT).map(|at| result(key, at))).collect();
            let turns = turns(&events);
            assert_eq!(turns[0].len(), COUNT);
            let last =
                if key.is_some() { format!("f {}+{COUNT}", COUNT - 1) } else { "f 0".to_owned() };
            assert_eq!(turns[0].last(), Some(&last));
        }
    }
}
