//! **Pure.** One part of a launch that is split over several machines, as its log tells of it: a
//! first line that says which part it is, and sums of the events so far between the events. The end
//! of a log is therefore enough to know where the part stands.
use super::event::{Ending, RunEvent, RunEventKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Maximum characters of a reason that is kept.
const LONGEST: usize = 500;

/// First line of the log of a part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartHeader {
    /// Time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Id of the launch, which all its parts share.
    pub launch: String,
    /// Number of the part, from 1.
    pub part: u32,
    /// Number of parts.
    pub parts: u32,
    /// What the launch runs, in a few words.
    pub what: String,
    /// Number of runs of the whole launch.
    pub total: u64,
    /// Number of runs that this part makes.
    pub owed: u64,
    /// Number of runs of this part that were complete before.
    pub complete: u64,
    /// Number of runs of this part that cannot be made.
    pub left_out: u64,
    /// Spend limit of the whole launch, in dollars.
    pub max_cost: Option<f64>,
    /// Machine that it runs on.
    pub host: String,
    /// Job of the scheduler, if one started it.
    pub job: Option<PartJob>,
    /// Reason that it made no runs, as a sentence.
    pub why: Option<String>,
}

/// Job of a scheduler.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PartJob {
    /// Name of the scheduler: `slurm`.
    pub scheduler: String,
    /// Id of the job that all tasks share.
    pub id: String,
    /// Number of the task in the job.
    pub task: u32,
}

/// Line of a log that is no event of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PartLine {
    /// The first line.
    Part(PartHeader),
    /// Sum of all events before.
    Sum(PartSum),
}

/// Sum of the events of a part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartSum {
    /// Time of the last event, in milliseconds since 1970.
    pub at_ms: i64,
    /// Runs in progress.
    pub running: BTreeSet<String>,
    /// Number of runs that ended with or without an answer.
    pub done: u64,
    /// Number of runs that ended in an error.
    pub failed: u64,
    /// Number of runs that were stopped.
    pub stopped: u64,
    /// Number of runs that another process had.
    pub elsewhere: u64,
    /// Tokens; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Dollars, of replies with a known price.
    pub cost: f64,
    /// Number of replies whose cost is not known.
    pub unpriced: u64,
    /// Reason that no further runs start.
    pub stopping: Option<String>,
    /// Why the first run failed.
    pub first_error: Option<String>,
    /// True once the part is over.
    pub finished: bool,
}

impl PartSum {
    /// Adds an event.
    pub fn apply(&mut self, event: &RunEvent) {
        self.at_ms = event.at_ms;
        match (&event.what, &event.run) {
            (RunEventKind::Finished, _) => self.finished = true,
            (RunEventKind::Stopping { why }, _) => self.stopping = Some(short(why)),
            (RunEventKind::Started { .. }, Some(run)) => {
                self.running.insert(run.clone());
            }
            (RunEventKind::Ended { how, why }, Some(run)) => {
                self.running.remove(run);
                match how {
                    Ending::Answered | Ending::NoAnswer => self.done = self.done.saturating_add(1),
                    Ending::Stopped => self.stopped = self.stopped.saturating_add(1),
                    Ending::Elsewhere => self.elsewhere = self.elsewhere.saturating_add(1),
                    Ending::Error => {
                        self.failed = self.failed.saturating_add(1);
                        self.first_error = self.first_error.take().or(why.as_deref().map(short));
                    }
                }
            }
            (what, _) => {
                if let Some((usage, cost)) = what.spent() {
                    let counts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
                    let tokens = counts.into_iter().flatten().chain(self.tokens);
                    self.tokens = tokens.reduce(u64::saturating_add);
                    self.cost += cost.unwrap_or(0.0);
                    self.unpriced = self.unpriced.saturating_add(u64::from(cost.is_none()));
                }
            }
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Reads the first line of a log; `None` if it is not that of a part.
pub fn read_header(line: &[u8]) -> Option<PartHeader> {
    match serde_json::from_slice(line) {
        Ok(PartLine::Part(header)) => Some(header),
        _ => None,
    }
}

/// Sums the end of a log. Returns `None` if it holds no sum, unless it is the whole log. A line that
/// is not read, such as one that is being written, counts for nothing.
pub fn read_sum(end: &[u8], is_whole: bool) -> Option<PartSum> {
    let lines: Vec<&[u8]> = end.split(|byte| *byte == b'\n').collect();
    let sum_at = |line: &&[u8]| match serde_json::from_slice(line) {
        Ok(PartLine::Sum(sum)) => Some(sum),
        _ => None,
    };
    let is_sum = |line: &&[u8]| line.starts_with(SUM);
    let last = lines.iter().rposition(|line| is_sum(line) && sum_at(line).is_some());
    let mut sum = match last {
        Some(at) => lines.get(at).and_then(sum_at)?,
        None if is_whole => PartSum::default(),
        None => return None,
    };
    let after = lines.iter().skip(last.map_or(0, |at| at + 1));
    for event in after.filter_map(|line| serde_json::from_slice(line).ok()) {
        sum.apply(&event);
    }
    Some(sum)
}

/// Beginning of the line of a sum.
const SUM: &[u8] = br#"{"event":"sum""#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Usage;

    fn event(run: &str, what: RunEventKind) -> RunEvent {
        let run = (!run.is_empty()).then(|| run.to_owned());
        RunEvent { at_ms: 7, run, what }
    }

    fn events() -> Vec<RunEvent> {
        let reply = |cost| RunEventKind::Replied {
            turn: 1,
            usage: Usage { input: Some(2), output: Some(3), ..Usage::default() },
            cost,
            ms: 1,
            journaled: false,
        };
        let ended =
            |how, why: Option<&str>| RunEventKind::Ended { how, why: why.map(str::to_owned) };
        vec![
            event("", RunEventKind::Began { runs: 3 }),
            event("a", RunEventKind::Started { resumed: false }),
            event("b", RunEventKind::Started { resumed: true }),
            event("a", reply(Some(0.5))),
            event("b", reply(None)),
            event("a", ended(Ending::Answered, None)),
            event("b", ended(Ending::Error, Some("no key"))),
            event("c", RunEventKind::Started { resumed: false }),
        ]
    }

    fn line(value: &impl Serialize) -> Vec<u8> {
        [serde_json::to_vec(value).unwrap(), b"\n".to_vec()].concat()
    }

    #[test]
    fn a_sum_and_what_follows_it_are_as_good_as_the_whole_log() {
        let events = events();
        let mut all = PartSum::default();
        for event in &events {
            all.apply(event);
        }
        assert_eq!((all.done, all.failed, all.tokens, all.unpriced), (1, 1, Some(10), 1));
        assert_eq!((all.running.len(), all.first_error.as_deref()), (1, Some("no key")));
        let whole: Vec<u8> = events.iter().flat_map(line).collect();
        assert_eq!(read_sum(&whole, true), Some(all.clone()));
        assert_eq!(read_sum(&whole, false), None);
        for at in 0..=events.len() {
            let mut sum = PartSum::default();
            for event in &events[..at] {
                sum.apply(event);
            }
            let mut end = b"half a line of before\n".to_vec();
            end.extend(line(&PartLine::Sum(sum)));
            end.extend(events[at..].iter().flat_map(line));
            end.extend(b"{\"event\":\"ended\",\"how\":");
            assert_eq!(read_sum(&end, false), Some(all.clone()), "{at}");
        }
    }

    #[test]
    fn only_the_log_of_a_part_has_a_header() {
        let header = PartHeader { launch: "l".to_owned(), part: 2, parts: 3, ..Default::default() };
        assert_eq!(read_header(&line(&PartLine::Part(header.clone()))), Some(header));
        assert_eq!(read_header(&line(&events()[0])), None);
        assert_eq!(read_header(b""), None);
    }
}
