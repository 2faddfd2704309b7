//! **Pure.** What the runs of one cell come to. Scores and errors are never mixed, and what is not known is counted as such.
use super::doubt::{Few, interval};
use crate::results::query::ScoredRun;
use crate::rows::{OverviewCell, RunState, ScoreStanding};
use touchstone_scoring::stats::is_flaky;

/// The runs of one variation in one column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    pub(super) scores: Vec<f64>,
    /// Of the repeats that are there, those that the suite may expect.
    pub(super) repeats: Vec<u32>,
    pub(super) worst: Option<Worst>,
}

/// Numbers that add up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) runs: u32,
    pub(super) passed: u32,
    pub(super) judged: u32,
    pub(super) flaky: u32,
    pub(super) waiting: u32,
    pub(super) running: u32,
    pub(super) errors: u32,
    pub(super) damaged: u32,
    pub(super) unscored: u32,
    pub(super) missing: u32,
    pub(super) reviewed: u32,
}

/// A run that is worth opening, the worst first: wrong answers by their score, errors, right ones, and what cannot be judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worst {
    class: u8,
    /// Bits of a score, which are in the order of scores as long as none is negative.
    score: u64,
    id: String,
}

/// The score of a run, when it has one that can be counted.
pub(super) fn score_of(run: &ScoredRun) -> Option<f64> {
    let scored = run.scoring == Some(ScoreStanding::Scored);
    run.score.filter(|score| scored && score.is_finite()).map(|score| score.clamp(0.0, 1.0))
}

impl Tally {
    pub(super) fn add(&mut self, run: &ScoredRun) {
        let counts = &mut self.counts;
        counts.runs += 1;
        counts.reviewed += u32::from(run.verdict.is_some() || run.review_score.is_some());
        let score = score_of(run);
        if let Some(score) = score {
            self.scores.push(score);
            counts.judged += u32::from(run.passed.is_some());
            counts.passed += u32::from(run.passed == Some(true));
        } else {
            let count = match run.state {
                RunState::Error => &mut counts.errors,
                RunState::Damaged => &mut counts.damaged,
                RunState::Waiting => &mut counts.waiting,
                RunState::Writing => &mut counts.running,
                RunState::Answered | RunState::NoAnswer | RunState::Other => &mut counts.unscored,
            };
            *count += 1;
        }
        self.repeats.push(run.repeat);
        let class = class(run, score);
        let score = score.map_or(0, f64::to_bits);
        if self.worst.as_ref().is_none_or(|worst| (class, score) < (worst.class, worst.score)) {
            self.worst = Some(Worst { class, score, id: run.id.clone() });
        }
    }

    /// To be asked once everything is in.
    pub(super) fn close(&mut self) {
        self.counts.flaky = u32::from(is_flaky(self.counts.passed.into(), self.counts.judged.into()));
    }

    /// The cell of one variation: its repeats are independent of each other.
    pub(super) fn cell(&self) -> OverviewCell {
        let each = || self.scores.iter().copied().enumerate();
        cell(self.counts, self.worst.as_ref(), &self.scores, || interval(each(), Few::Cell))
    }
}

fn class(run: &ScoredRun, score: Option<f64>) -> u8 {
    match (score, run.state) {
        (Some(score), _) => {
            let right = run.passed.unwrap_or(score >= 1.0);
            if right { 2 } else { 0 }
        }
        (None, RunState::Error) => 1,
        (None, RunState::Answered | RunState::NoAnswer | RunState::Other) => 3,
        (None, RunState::Waiting) => 4,
        (None, RunState::Writing) => 5,
        (None, RunState::Damaged) => 6,
    }
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.passed += other.passed;
        self.judged += other.judged;
        self.flaky += other.flaky;
        self.waiting += other.waiting;
        self.running += other.running;
        self.errors += other.errors;
        self.damaged += other.damaged;
        self.unscored += other.unscored;
        self.missing += other.missing;
        self.reviewed += other.reviewed;
    }
}

/// The cell of several tallies, each with the number of what its runs have in common: runs of one number are alike.
pub(super) fn sum<'a>(tallies: impl Iterator<Item = (usize, &'a Tally)>, few: Few) -> OverviewCell {
    let mut counts = Counts::default();
    let mut worst: Option<&Worst> = None;
    let (mut groups, mut scores) = (Vec::new(), Vec::new());
    for (group, tally) in tallies {
        counts.add(&tally.counts);
        worst = match (worst, tally.worst.as_ref()) {
            (Some(a), Some(b)) if (a.class, a.score) <= (b.class, b.score) => Some(a),
            (a, b) => b.or(a),
        };
        groups.extend(tally.scores.iter().map(|_| group));
        scores.extend_from_slice(&tally.scores);
    }
    let each = || groups.iter().copied().zip(scores.iter().copied());
    cell(counts, worst, &scores, || interval(each(), few))
}

fn cell(
    counts: Counts,
    worst: Option<&Worst>,
    scores: &[f64],
    interval: impl Fn() -> Option<touchstone_scoring::stats::Interval>,
) -> OverviewCell {
    let around = interval();
    OverviewCell {
        runs: counts.runs,
        scored: u32::try_from(scores.len()).unwrap_or(u32::MAX),
        passed: (counts.judged > 0).then_some(counts.passed),
        score: touchstone_scoring::stats::mean(scores),
        low: around.map(|around| around.low),
        high: around.map(|around| around.high),
        flaky: counts.flaky,
        waiting: counts.waiting,
        running: counts.running,
        errors: counts.errors,
        damaged: counts.damaged,
        unscored: counts.unscored,
        missing: counts.missing,
        reviewed: counts.reviewed,
        run: worst.map(|worst| worst.id.clone()),
    }
}
