//! **Pure.** Counts what a format has no message for, and says where it stands.
use super::Target;
use crate::run::{Event, EventKind};

/// Numbers of events that are no messages of the main conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventCounts {
    sub_agents: u64,
    branches: u64,
    user_calls: u64,
    media: u64,
    remarks: u64,
}

impl EventCounts {
    /// Counts the events of a run, without those inside of sub-agents and branches.
    pub fn add(&mut self, events: &[Event]) {
        for event in events {
            match &event.kind {
                EventKind::SubAgent { .. } => self.sub_agents += 1,
                EventKind::Abandoned(_) => self.branches += 1,
                EventKind::Call { by_user: true, .. } => self.user_calls += 1,
                EventKind::Media(_) => self.media += 1,
                EventKind::Compaction(_) | EventKind::Error(_) | EventKind::Note(_) => {
                    self.remarks += 1;
                }
                _ => {}
            }
        }
    }

    /// Returns sentences on where the format has what it has no message for.
    pub fn describe(&self, target: Target) -> Vec<String> {
        let (place, kinds) = match target {
            Target::OpenAi => ("in `metadata.beside`", self.kinds(true)),
            Target::Inspect => ("in the metadata of the samples", self.kinds(true)),
            Target::Atif => ("in `extra` or as trajectories inside", self.kinds(false)),
        };
        let mut sentences = Vec::new();
        if !kinds.is_empty() {
            sentences.push(format!("Not among the messages, but {place}: {}.", kinds.join(", ")));
        }
        if self.media > 0 {
            sentences.push(
                "Images and other media are described; their data is not written.".to_owned(),
            );
        }
        sentences
    }

    fn kinds(&self, with_all: bool) -> Vec<String> {
        let counted = |count: u64, one: &str, many: &str| {
            (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
        };
        let remarks = counted(self.remarks, "remark or error", "remarks and errors");
        [
            counted(self.sub_agents, "sub-agent", "sub-agents"),
            counted(self.branches, "abandoned branch", "abandoned branches"),
            counted(self.user_calls, "call of the simulated user", "calls of the simulated user"),
            remarks.filter(|_| with_all),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_counted_with_its_place() {
        let mut tally = EventCounts::default();
        assert_eq!(tally.describe(Target::OpenAi), Vec::<String>::new());
        let agent = EventKind::SubAgent { name: "a".to_owned(), call: None, events: Vec::new() };
        let events = [agent, EventKind::Abandoned(Vec::new()), EventKind::Note("n".to_owned())];
        tally.add(&events.map(Event::from));
        assert_eq!(
            tally.describe(Target::OpenAi),
            [
                "Not among the messages, but in `metadata.beside`: 1 sub-agent, 1 abandoned branch, 1 remark or error."
            ]
        );
        assert_eq!(
            tally.describe(Target::Atif),
            [
                "Not among the messages, but in `extra` or as trajectories inside: 1 sub-agent, 1 abandoned branch."
            ]
        );
    }
}
