//! **Pure.** Joins the messages of model calls, of which each repeats what came before, into one
//! conversation.
use super::is_content;
use super::message::Message;
use crate::run::{Event, EventKind};
use std::collections::{HashMap, HashSet};

/// Call of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelCall {
    /// Messages that were sent.
    pub input: Vec<Message>,
    /// Messages that the model wrote.
    pub output: Vec<Message>,
    /// Start, as the file writes it.
    pub time: Option<String>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Tokens, sent and written.
    pub tokens: Option<u64>,
    /// Model.
    pub model: Option<String>,
    /// Error, if the call failed.
    pub error: Option<String>,
}

impl ModelCall {
    /// Returns true if there is any message besides instructions.
    pub(super) fn has_content(&self) -> bool {
        let mut messages = self.input.iter().chain(&self.output);
        messages.any(|message| message.events.iter().any(is_content))
    }
}

/// Joins calls in the order of their starts. A call continues the thread with the longest common
/// beginning if its input begins with that whole thread, else it begins a new one; a call without
/// input continues the thread used last. Of each call, the input beyond the common beginning and
/// the output are shown.
///
/// All beginnings of all threads form a tree, in which the longest common beginning is the way
/// down that an input takes. Continuing a thread and beginning one both add what is new below.
pub fn join(calls: Vec<ModelCall>) -> Vec<Event> {
    let mut tree = Tree::default();
    let mut last = 0;
    let mut instructions: HashSet<String> = HashSet::new();
    let mut events = Vec::new();
    for call in calls {
        let mut show = |events: &mut Vec<Event>, message: Message, only_new: bool| {
            for kind in message.events {
                let shown = match &kind {
                    EventKind::System(text) => instructions.insert(text.clone()),
                    _ => !only_new,
                };
                if shown {
                    events.push(Event::from(kind));
                }
            }
        };
        let keys: Vec<Option<u128>> = call.input.iter().map(Message::key).collect();
        let (mut at, mut common) = (if call.input.is_empty() { last } else { 0 }, 0);
        for (number, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let Some(below) = tree.child(at, *key) else { break };
            (at, common) = (below, number + 1);
        }
        for (number, message) in call.input.into_iter().enumerate() {
            if number >= common
                && let Some(key) = keys[number]
            {
                at = tree.child_or_new(at, key);
            }
            show(&mut events, message, number < common);
        }
        let first = events.len();
        for message in call.output {
            if let Some(key) = message.key() {
                at = tree.child_or_new(at, key);
            }
            show(&mut events, message, false);
        }
        for event in &mut events[first..] {
            event.set_model(call.model.as_deref());
        }
        if let Some(error) = call.error {
            events.push(EventKind::Error(error).into());
        }
        if let Some(event) = events.get_mut(first) {
            (event.time, event.seconds, event.tokens) = (call.time, call.seconds, call.tokens);
        }
        last = at;
    }
    events
}

/// Tree of the beginnings of threads. Node 0 is the empty beginning.
#[derive(Default)]
struct Tree {
    below: HashMap<(usize, u128), usize>,
}

impl Tree {
    fn child(&self, node: usize, key: u128) -> Option<usize> {
        self.below.get(&(node, key)).copied()
    }

    fn child_or_new(&mut self, node: usize, key: u128) -> usize {
        let next = self.below.len() + 1;
        *self.below.entry((node, key)).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::Role;
    use proptest::prelude::*;
    use touchstone_model::value::Value;

    /// Creates a message from a letter for its role and its text: `uhello`.
    fn message(text: &str) -> Message {
        let role = match text.as_bytes().first() {
            Some(b's') => Role::System,
            Some(b'u') => Role::User,
            Some(b't') => Role::Tool,
            _ => Role::Assistant,
        };
        if let Some(thought) = text.strip_prefix('r') {
            let events = vec![EventKind::Reasoning(thought.to_owned())];
            return Message { role, events };
        }
        if let Some(name) = text.strip_prefix('c') {
            let events = vec![EventKind::Call {
                id: None,
                name: name.to_owned(),
                arguments: Value::Null,
                by_user: false,
            }];
            return Message { role, events };
        }
        Message::from_text(role, text)
    }

    fn messages(list: &str) -> Vec<Message> {
        list.split_whitespace().map(message).collect()
    }

    fn describe_calls(calls: &[(&str, &str)]) -> String {
        let calls = calls.iter().map(|(input, output)| ModelCall {
            input: messages(input),
            output: messages(output),
            ..ModelCall::default()
        });
        short(&join(calls.collect()))
    }

    fn short(events: &[Event]) -> String {
        let texts = events.iter().map(|event| match &event.kind {
            EventKind::System(text) | EventKind::User(text) | EventKind::Assistant(text) => {
                text.clone()
            }
            EventKind::Reasoning(text) => format!("r{text}"),
            EventKind::Call { name, .. } => format!("c{name}"),
            EventKind::Result { value, .. } => value.text().unwrap_or_default().to_owned(),
            other => format!("{other:?}"),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_call_shows_what_is_new_to_the_longest_thread() {
        let table: [(&[(&str, &str)], &str); 9] = [
            (&[("u1", "a1"), ("u1 a1 u2", "a2")], "u1 a1 u2 a2"),
            // Two threads grow side by side.
            (
                &[("u1", "a1"), ("u9", "a9"), ("u1 a1 u2", "a2"), ("u9 a9 u3", "a3")],
                "u1 a1 u9 a9 u2 a2 u3 a3",
            ),
            // A call that leaves its thread early shows what follows the common beginning.
            (&[("u1", "a1"), ("u1 a1 u2", "a2"), ("u1 u7", "a7")], "u1 a1 u2 a2 u7 a7"),
            // Repeated in another order: new.
            (&[("u1 u2", "a1"), ("u2 u1", "a2")], "u1 u2 a1 u2 u1 a2"),
            // Without input, the thread used last goes on.
            (&[("u1", "a1"), ("", "a2"), ("u1 a1 a2 u3", "a4")], "u1 a1 a2 u3 a4"),
            (&[("", "a1"), ("a1 u2", "a2")], "a1 u2 a2"),
            // Instructions and reasoning do not matter.
            (
                &[("s1 u1", "rx a1"), ("u1 a1 u2", "a2"), ("s2 u1 ry a1 u2 a2 u3", "a3")],
                "s1 u1 rx a1 u2 a2 s2 u3 a3",
            ),
            // Equal calls twice: only the output is shown again.
            (&[("u1", "a1"), ("u1", "a1")], "u1 a1 a1"),
            // Calls and results are compared.
            (&[("u1", "cf"), ("u1 cf t1", "cg"), ("u1 cf t2", "a2")], "u1 cf t1 cg t2 a2"),
        ];
        for (calls, expected) in table {
            assert_eq!(describe_calls(calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn a_failed_call_shows_its_error_and_the_first_event_of_an_output_its_figures() {
        let good = ModelCall {
            input: messages("u1"),
            output: messages("a1 cf"),
            tokens: Some(7),
            seconds: Some(0.5),
            model: Some("m".to_owned()),
            ..ModelCall::default()
        };
        let bad = ModelCall { error: Some("no".to_owned()), ..ModelCall::default() };
        let events = join(vec![good, bad]);
        assert_eq!(events[1].tokens, Some(7));
        assert_eq!((events[0].tokens, events[2].seconds), (None, None));
        assert_eq!(events[3].kind, EventKind::Error("no".to_owned()));
        let models: Vec<_> = events.iter().map(|event| event.model.as_deref()).collect();
        assert_eq!(models, [None, Some("m"), Some("m"), None]);
    }

    #[test]
    fn many_threads_are_joined_in_time() {
        let start = std::time::Instant::now();
        let calls = (0..40_000).map(|number| ModelCall {
            input: vec![message("u0"), message(&format!("u{number}"))],
            output: vec![message("a")],
            ..ModelCall::default()
        });
        assert_eq!(join(calls.collect()).len(), 1 + 40_000 * 2);
        assert!(start.elapsed().as_secs() < 10);
    }

    /// Joins as the rule is written, with threads as lists.
    fn join_by_lists(calls: &[(Vec<String>, Vec<String>)]) -> String {
        let mut threads: Vec<Vec<String>> = Vec::new();
        let mut last = None;
        let mut shown = Vec::new();
        for (input, output) in calls {
            if input.is_empty() {
                let thread = last.unwrap_or_else(|| {
                    threads.push(Vec::new());
                    threads.len() - 1
                });
                threads[thread].extend(output.iter().cloned());
                shown.extend(output.iter().cloned());
                last = Some(thread);
                continue;
            }
            let common =
                |thread: &Vec<String>| thread.iter().zip(input).take_while(|(a, b)| a == b).count();
            let best = (0..threads.len()).max_by_key(|at| (common(&threads[*at]), *at));
            let length = best.map_or(0, |at| common(&threads[at]));
            let whole = best.filter(|at| threads[*at].len() == length);
            let thread = whole.unwrap_or_else(|| {
                threads.push(Vec::new());
                threads.len() - 1
            });
            threads[thread] = input.iter().chain(output).cloned().collect();
            shown.extend(input[length..].iter().chain(output).cloned());
            last = Some(thread);
        }
        shown.join(" ")
    }

    proptest! {
        #[test]
        fn the_tree_shows_what_lists_of_threads_would(
            calls in prop::collection::vec(
                (prop::collection::vec("[ua][12]", 0..5), prop::collection::vec("a[12]", 0..3)), 0..9),
        ) {
            let joined = calls.iter().map(|(input, output)| ModelCall {
                input: input.iter().map(|text| message(text)).collect(),
                output: output.iter().map(|text| message(text)).collect(),
                ..ModelCall::default()
            });
            prop_assert_eq!(short(&join(joined.collect())), join_by_lists(&calls));
        }

        #[test]
        fn a_conversation_that_grows_is_shown_once(texts in prop::collection::vec("[ua][1-9]", 1..12)) {
            let calls = (1..=texts.len()).step_by(2).map(|end| ModelCall {
                input: texts[..end].iter().map(|text| message(text)).collect(),
                output: texts.get(end).iter().map(|text| message(text)).collect(),
                ..ModelCall::default()
            });
            prop_assert_eq!(short(&join(calls.collect())), texts.join(" "));
        }
    }
}
