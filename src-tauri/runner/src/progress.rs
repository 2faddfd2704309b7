//! **Pure.** Progress of a launch, as a fold over its events. The same events always give the same
//! state: for the window, the command line and a log that is read again.
use super::event::{Ending, RunEvent, RunEventKind};
use std::collections::HashMap;

/// Limits on notes: their number, and the characters of each. Nobody reads an endless list.
const MOST_NOTES: usize = 20;
const LONGEST_NOTE: usize = 500;

/// Progress of a launch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Progress {
    /// Start time, in milliseconds since 1970.
    pub began_ms: i64,
    /// End time.
    pub ended_ms: Option<i64>,
    /// Reason no further runs are started, if the launch is being stopped.
    pub stopping: Option<String>,
    /// Tokens to date; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Dollars to date, of replies with a known price.
    pub cost: f64,
    /// Number of replies and failed attempts whose cost is not known.
    pub unpriced: u64,
    /// Notes for the user without duplicates: the first and the latest.
    pub notes: Vec<String>,
    /// Number of notes that were dropped between these.
    pub more_notes: u64,
    runs: Vec<RunProgress>,
    places: HashMap<String, usize>,
    /// Number of runs that have ended.
    ended: usize,
}

/// Progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunProgress {
    /// Output file, relative to the output directory.
    pub path: String,
    /// Stage of the run.
    pub stage: Stage,
    /// Current assistant turn; 0 before the first.
    pub turn: u32,
    /// Current activity, or the reason for the end.
    pub doing: Option<String>,
    /// Tokens to date; none while no reply has reported any.
    pub tokens: Option<u64>,
    /// Dollars to date; none once a cost is not known.
    pub cost: Option<f64>,
    /// Start time.
    pub began_ms: Option<i64>,
    /// End time.
    pub ended_ms: Option<i64>,
}

/// Stage of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Not started yet.
    Waiting,
    /// In progress.
    Running,
    /// Ended.
    Ended(Ending),
}

impl Progress {
    /// Returns the progress of a launch of these runs that has not started.
    pub fn for_paths(paths: impl IntoIterator<Item = String>) -> Self {
        let mut progress = Self::default();
        for path in paths {
            progress.run(&path);
        }
        progress
    }

    /// Returns the runs, in the order of the plan.
    pub fn runs(&self) -> &[RunProgress] {
        &self.runs
    }

    /// Returns the number of runs whose stage satisfies the predicate.
    pub fn count(&self, passes: impl Fn(Stage) -> bool) -> u64 {
        self.runs.iter().filter(|run| passes(run.stage)).count() as u64
    }

    /// Returns the number of runs that have not ended.
    pub fn unended(&self) -> u64 {
        (self.runs.len() - self.ended) as u64
    }

    /// Applies an event.
    pub fn apply(&mut self, event: &RunEvent) {
        match (&event.what, &event.run) {
            (RunEventKind::Began { .. }, _) => self.began_ms = event.at_ms,
            (RunEventKind::Finished, _) => self.ended_ms = Some(event.at_ms),
            (RunEventKind::Stopping { why }, _) => self.stopping = Some(why.clone()),
            (RunEventKind::Noted { note }, _) => self.note(note),
            (what, Some(path)) if !matches!(what, RunEventKind::Simulated { .. }) => {
                let run = self.run(path);
                let was_over = run.is_over();
                run.apply(what, event.at_ms);
                let is_over = run.is_over();
                self.ended = self.ended + usize::from(is_over) - usize::from(was_over);
            }
            _ => {}
        }
        if let Some((usage, cost)) = event.what.spent() {
            self.tokens = sum(self.tokens, tokens(usage));
            self.cost += cost.unwrap_or(0.0);
            self.unpriced += u64::from(cost.is_none());
        }
    }

    fn note(&mut self, note: &str) {
        let short =
            note.char_indices().nth(LONGEST_NOTE).map(|(at, _)| format!("{}…", &note[..at]));
        let note = short.unwrap_or_else(|| note.to_owned());
        if self.notes.contains(&note) {
            return;
        }
        if self.notes.len() == MOST_NOTES {
            self.notes.remove(MOST_NOTES / 2);
            self.more_notes += 1;
        }
        self.notes.push(note);
    }

    fn run(&mut self, path: &str) -> &mut RunProgress {
        let at = *self.places.entry(path.to_owned()).or_insert(self.runs.len());
        if at == self.runs.len() {
            self.runs.push(RunProgress::new(path));
        }
        &mut self.runs[at]
    }
}

fn sum(total: Option<u64>, more: Option<u64>) -> Option<u64> {
    total.map_or(more, |total| Some(total.saturating_add(more.unwrap_or(0))))
}

/// Sums the tokens of a reply; `None` if the provider does not report them.
fn tokens(usage: &super::provider::Usage) -> Option<u64> {
    let parts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

impl RunProgress {
    fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            stage: Stage::Waiting,
            turn: 0,
            doing: None,
            tokens: None,
            cost: Some(0.0),
            began_ms: None,
            ended_ms: None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    fn apply(&mut self, what: &RunEventKind, at_ms: i64) {
        match what {
            RunEventKind::Started { resumed } => {
                *self =
                    Self { stage: Stage::Running, began_ms: Some(at_ms), ..Self::new(&self.path) };
                self.doing = resumed.then(|| "resumed".to_owned());
            }
            RunEventKind::Asking { turn } => {
                self.turn = *turn;
                self.doing = Some("waiting for the model".to_owned());
            }
            RunEventKind::Replied { turn, usage, cost, journaled, .. } => {
                self.turn = *turn;
                self.doing = None;
                if !journaled {
                    self.tokens = sum(self.tokens, tokens(usage));
                    self.cost = self.cost.zip(*cost).map(|(sum, cost)| sum + cost);
                }
            }
            RunEventKind::AskingUser { .. } => {
                self.doing = Some("waiting for the simulated user".to_owned());
            }
            RunEventKind::UserReplied { usage, cost, journaled, .. } => {
                self.doing = None;
                if !journaled {
                    self.tokens = sum(self.tokens, tokens(usage));
                    self.cost = self.cost.zip(*cost).map(|(sum, cost)| sum + cost);
                }
            }
            RunEventKind::Lost { usage, cost, .. } => {
                self.tokens = sum(self.tokens, tokens(usage));
                self.cost = self.cost.zip(*cost).map(|(sum, cost)| sum + cost);
            }
            RunEventKind::Retrying { wait_ms, why, .. } => {
                #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
                let seconds = *wait_ms as f64 / 1000.0;
                self.doing = Some(format!("waits {seconds:.1} s: {why}"));
            }
            RunEventKind::Calling { tool } => self.doing = Some(tool.clone()),
            RunEventKind::Called { .. } => self.doing = None,
            RunEventKind::Nudged { count } => self.doing = Some(format!("nudged ({count})")),
            RunEventKind::Ended { how, why } => {
                self.stage = Stage::Ended(*how);
                self.ended_ms = Some(at_ms);
                self.doing.clone_from(why);
            }
            RunEventKind::Began { .. }
            | RunEventKind::Simulated { .. }
            | RunEventKind::Noted { .. }
            | RunEventKind::Stopping { .. }
            | RunEventKind::Finished => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress_with_notes(notes: impl IntoIterator<Item = String>) -> Progress {
        let mut progress = Progress::default();
        for note in notes {
            progress.apply(&RunEvent { at_ms: 0, run: None, what: RunEventKind::Noted { note } });
        }
        progress
    }

    #[test]
    fn keeps_the_first_and_latest_notes_and_counts_the_others() {
        let few = progress_with_notes(["a".to_owned(), "b".to_owned(), "a".to_owned()]);
        assert_eq!((few.notes.join(" "), few.more_notes), ("a b".to_owned(), 0));
        let many = progress_with_notes((0..30).map(|note| note.to_string()));
        assert_eq!(
            (many.notes.join(" "), many.more_notes),
            ("0 1 2 3 4 5 6 7 8 9 20 21 22 23 24 25 26 27 28 29".to_owned(), 10)
        );
        let long = progress_with_notes(["ä".repeat(1_000)]);
        assert_eq!(long.notes[0].chars().count(), LONGEST_NOTE + 1);
    }
}
