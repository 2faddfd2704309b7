//! Findings of runs that were read, by the content of their files. Causes and templates that many
//! runs share are kept once, and quotations of the first runs of a cause only, so that a hundred
//! thousand findings stay small.
use super::selection::Selection;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_scoring::failures::{Cause, DecisiveStep, Finding};

/// Number of runs from which those that are no longer asked for are forgotten.
const MOST: usize = 50_000;
/// Maximum number of runs of a cause whose quotations are kept.
pub(super) const MOST_QUOTES: u32 = 500;
/// Maximum size of all quotations in bytes.
const MOST_QUOTED: usize = 32 << 20;

/// What was found in a failed run.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    /// Findings; empty if the run could not be read.
    pub(super) findings: Vec<Finding>,
    /// Earliest decisive step.
    pub(super) decisive: Option<DecisiveStep>,
}

/// Cause with its template.
type Kind = (Arc<Cause>, Arc<[String]>);

fn kind(finding: &Finding) -> Kind {
    (Arc::clone(&finding.cause), Arc::clone(&finding.template))
}

/// Known analyses.
#[derive(Default)]
pub(super) struct KnownFailures {
    known: Mutex<Analyses>,
    /// Number of changes.
    version: AtomicU64,
}

#[derive(Default)]
struct Analyses {
    /// By the id of the run, each with the stamp of what it depends on.
    runs: HashMap<String, (u64, Arc<Analysis>)>,
    /// Causes with their templates, and the number of quotations of each.
    kinds: HashMap<Kind, u32>,
    /// Size of all quotations.
    quoted: usize,
}

impl KnownFailures {
    /// Returns a number that changes whenever more or less is known.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns the indexes of the failed runs that are not known.
    pub(super) fn missing(&self, selection: &Selection) -> Vec<usize> {
        let known = self.lock();
        let is_known =
            |id: &str, stamp: u64| known.runs.get(id).is_some_and(|(of, _)| *of == stamp);
        let failed = selection.failed.iter().enumerate();
        failed
            .filter(|(_, failed)| !is_known(&failed.run.id, failed.stamp))
            .map(|(at, _)| at)
            .collect()
    }

    /// Returns the analyses of the failed runs, `None` for those that are not known.
    pub(super) fn all(&self, selection: &Selection) -> Vec<Option<Arc<Analysis>>> {
        let known = self.lock();
        let analysis = |id: &str, stamp: u64| {
            known.runs.get(id).filter(|(of, _)| *of == stamp).map(|(_, one)| Arc::clone(one))
        };
        selection.failed.iter().map(|failed| analysis(&failed.run.id, failed.stamp)).collect()
    }

    /// Forgets runs that are not asked for, if there are many.
    pub(super) fn forget_others(&self, selection: &Selection) {
        let mut known = self.lock();
        if known.runs.len() >= MOST {
            let wanted: HashSet<&str> =
                selection.failed.iter().map(|failed| failed.run.id.as_str()).collect();
            known.retain(|id| wanted.contains(id));
            self.version.fetch_add(1, Ordering::Release);
        }
    }

    /// Returns true if a failed run is known.
    pub(super) fn has(&self, selection: &Selection, at: usize) -> bool {
        let Some(failed) = selection.failed.get(at) else { return true };
        self.lock().runs.get(&failed.run.id).is_some_and(|(of, _)| *of == failed.stamp)
    }

    /// Keeps an analysis.
    pub(super) fn put(&self, selection: &Selection, at: usize, analysis: Analysis) {
        let Some(failed) = selection.failed.get(at) else { return };
        self.lock().put(&failed.run.id, failed.stamp, analysis);
        self.version.fetch_add(1, Ordering::Release);
    }

    fn lock(&self) -> MutexGuard<'_, Analyses> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Analyses {
    fn put(&mut self, id: &str, stamp: u64, mut analysis: Analysis) {
        if let Some((_, old)) = self.runs.remove(id) {
            self.forget_quotes(&old);
        }
        for finding in &mut analysis.findings {
            self.share(finding);
        }
        analysis.findings.shrink_to_fit();
        self.runs.insert(id.to_owned(), (stamp, Arc::new(analysis)));
    }

    /// Makes a finding use the known cause and template, and drops its quotation if there are
    /// enough.
    fn share(&mut self, finding: &mut Finding) {
        let own = kind(finding);
        if let Some(((cause, template), _)) = self.kinds.get_key_value(&own) {
            (finding.cause, finding.template) = (Arc::clone(cause), Arc::clone(template));
        }
        let quotes = self.kinds.entry(own).or_default();
        if finding.quote.is_empty() {
            return;
        }
        if *quotes >= MOST_QUOTES || self.quoted >= MOST_QUOTED {
            finding.quote = String::new();
        } else {
            finding.quote.shrink_to_fit();
            *quotes += 1;
            self.quoted += finding.quote.len();
        }
    }

    fn forget_quotes(&mut self, analysis: &Analysis) {
        for finding in analysis.findings.iter().filter(|finding| !finding.quote.is_empty()) {
            if let Some(quotes) = self.kinds.get_mut(&kind(finding)) {
                *quotes = quotes.saturating_sub(1);
            }
            self.quoted = self.quoted.saturating_sub(finding.quote.len());
        }
    }

    fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        let (kept, dropped): (HashMap<_, _>, HashMap<_, _>) =
            std::mem::take(&mut self.runs).into_iter().partition(|(id, _)| is_wanted(id));
        for (_, analysis) in dropped.values() {
            self.forget_quotes(analysis);
        }
        drop(dropped);
        self.runs = kept;
        self.kinds.retain(|(cause, _), _| Arc::strong_count(cause) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_scoring::failures::Mode;

    fn analysis(subject: &str, quote: &str) -> Analysis {
        let finding = Finding {
            cause: Arc::new(Cause::new(Mode::ToolFailed, subject, "")),
            template: vec!["not".to_owned(), "found".to_owned()].into(),
            step: None,
            quote: quote.to_owned(),
            times: 0,
        };
        Analysis { findings: vec![finding], decisive: None }
    }

    #[test]
    fn runs_share_their_causes_and_quotations_of_one_cause_are_bounded() {
        let mut known = Analyses::default();
        for at in 0..2 * MOST_QUOTES {
            known.put(&format!("run{at}"), 1, analysis("sql", "order 7 not found"));
        }
        known.put("other", 1, analysis("csv", "no row"));
        assert_eq!(known.kinds.len(), 2);
        let quoted = known.runs.values().filter(|(_, one)| !one.findings[0].quote.is_empty());
        assert_eq!(quoted.count(), MOST_QUOTES as usize + 1, "a rare cause keeps its quotation");
        assert_eq!(known.quoted, 17 * MOST_QUOTES as usize + 6);
    }

    #[test]
    fn what_is_forgotten_makes_room_for_other_quotations() {
        let mut known = Analyses::default();
        known.put("one", 1, analysis("sql", "first"));
        known.put("one", 2, analysis("sql", "second"));
        known.put("two", 1, analysis("csv", "third"));
        assert_eq!(known.quoted, 11);
        known.retain(|id| id == "two");
        assert_eq!((known.quoted, known.kinds.len()), (5, 1));
        assert!(known.kinds.values().all(|quotes| *quotes == 1));
    }
}
