//! **Pure.** Verdicts of people, the automatic scorer, judges and imported evaluators about the
//! same runs, and the agreement of each pair of raters. The categories are defined in
//! `scoring::trust`.
use std::collections::BTreeMap;
use touchstone_api::{Agreement, Rater, Trust};
use touchstone_scoring::agreement::{Rating, VerdictCounts};

/// Maximum number of raters.
const MOST_RATERS: usize = 40;
/// Ids of the two raters that are not judges.
pub(super) const PEOPLE: &str = "people";
pub(super) const AUTOMATIC: &str = "score";
/// Prefix of the ids of imported evaluators. No judge has this name.
const STORED: &str = "stored";
/// Prefix of the ids of single persons.
const PERSON: &str = "person";

/// Judge with its rules and model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JudgeId {
    pub(super) judge: String,
    pub(super) rules: String,
    pub(super) model: String,
}

/// Rater, in table order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RaterId {
    /// The reviews that count in lists, by whomever.
    People,
    /// One of several reviewers, by name.
    Person(String),
    Automatic,
    Judge(JudgeId),
    /// Evaluator with imported verdicts, by name.
    Stored(String),
}

impl RaterId {
    fn name(&self) -> String {
        match self {
            RaterId::People => PEOPLE.to_owned(),
            RaterId::Person(author) => author.clone(),
            RaterId::Automatic => "automatic score".to_owned(),
            RaterId::Judge(JudgeId { judge, rules, model }) if rules == "official" => {
                format!("{judge} by {model}, official rules")
            }
            RaterId::Judge(JudgeId { judge, model, .. }) => format!("{judge} by {model}"),
            RaterId::Stored(evaluator) => format!("stored: {evaluator}"),
        }
    }

    fn id(&self) -> String {
        match self {
            RaterId::People => PEOPLE.to_owned(),
            RaterId::Person(author) => format!("{PERSON}:{author}"),
            RaterId::Automatic => AUTOMATIC.to_owned(),
            // The model comes last because its name may contain any characters.
            RaterId::Judge(JudgeId { judge, rules, model }) => format!("{judge}:{rules}:{model}"),
            RaterId::Stored(evaluator) => format!("{STORED}:{evaluator}"),
        }
    }
}

/// Rater with its counts.
#[derive(Debug)]
struct RaterCounts {
    who: RaterId,
    /// Number of levels of its scale; 0 for none.
    levels: usize,
    runs: u64,
    reviewed: u64,
    stale: u64,
    unread: u64,
}

/// State of a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    Counts(Rating, f64),
    Stale,
    Unread,
}

/// Counted verdict about one run.
#[derive(Debug, Clone, Copy)]
struct Fact {
    run: i64,
    seat: u16,
    says: Rating,
    score: f32,
}

/// All verdicts about the runs that pass a filter.
#[derive(Debug, Default)]
pub(super) struct RaterVerdicts {
    seats: Vec<RaterCounts>,
    /// Counted verdicts, ordered by run.
    facts: Vec<Fact>,
    notes: Vec<String>,
    /// Number of unreadable judgement files.
    pub(super) unreadable: u64,
}

impl RaterVerdicts {
    /// Returns the index of a judge, adding it if necessary. `None` when there are too many raters.
    /// Compares borrowed names first, to avoid a copy for each run.
    pub(super) fn seat_of_judge(
        &mut self,
        (judge, rules, model): (&str, &str, &str),
        levels: usize,
    ) -> Option<u16> {
        let same = |seat: &RaterCounts| matches!(&seat.who, RaterId::Judge(asked) if asked.judge == judge && asked.rules == rules && asked.model == model);
        if let Some(at) = self.seats.iter().position(same) {
            return u16::try_from(at).ok();
        }
        let judge =
            JudgeId { judge: judge.to_owned(), rules: rules.to_owned(), model: model.to_owned() };
        self.seat(RaterId::Judge(judge), levels)
    }

    /// Like [`Self::seat_of_judge`], for an evaluator with imported verdicts.
    pub(super) fn seat_of_stored(&mut self, evaluator: &str) -> Option<u16> {
        let same =
            |seat: &RaterCounts| matches!(&seat.who, RaterId::Stored(known) if known == evaluator);
        if let Some(at) = self.seats.iter().position(same) {
            return u16::try_from(at).ok();
        }
        self.seat(RaterId::Stored(evaluator.to_owned()), 0)
    }

    /// Returns the index of a rater, adding it if necessary. `None` when there are too many.
    pub(super) fn seat(&mut self, who: RaterId, levels: usize) -> Option<u16> {
        let at = self.seats.iter().position(|seat| seat.who == who).unwrap_or(self.seats.len());
        if at >= MOST_RATERS {
            self.note(format!(
                "There are more than {MOST_RATERS} judges; the last ones are left out."
            ));
            return None;
        }
        if at == self.seats.len() {
            self.seats.push(RaterCounts { who, levels, runs: 0, reviewed: 0, stale: 0, unread: 0 });
        }
        u16::try_from(at).ok()
    }

    /// Adds a verdict about a run.
    pub(super) fn add(&mut self, run: i64, seat: u16, verdict: Verdict) {
        let Some(counts) = self.seats.get_mut(usize::from(seat)) else { return };
        match verdict {
            Verdict::Stale => counts.stale += 1,
            Verdict::Unread => counts.unread += 1,
            Verdict::Counts(says, score) => {
                counts.runs += 1;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "levels of a scale are far apart"
                )]
                let score = score as f32;
                self.facts.push(Fact { run, seat, says, score });
            }
        }
    }

    /// Sets the number of runs with a verdict of this rater, for raters whose verdicts are only
    /// partly added.
    pub(super) fn says_of(&mut self, seat: u16, runs: u64) {
        if let Some(seat) = self.seats.get_mut(usize::from(seat)) {
            seat.runs = runs;
        }
    }

    /// Adds a note, once.
    pub(super) fn note(&mut self, why: String) {
        if !self.notes.contains(&why) {
            self.notes.push(why);
        }
    }

    /// Sorts raters and verdicts. No verdicts may be added afterwards.
    pub(super) fn finish(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.seats.len()).collect();
        order.sort_by(|a, b| self.seats[*a].who.cmp(&self.seats[*b].who));
        let mut place = vec![0; order.len()];
        for (at, old) in order.iter().enumerate() {
            place[*old] = u16::try_from(at).unwrap_or(u16::MAX);
        }
        for fact in &mut self.facts {
            fact.seat = place[usize::from(fact.seat)];
        }
        self.seats.sort_by(|a, b| a.who.cmp(&b.who));
        self.facts.sort_unstable_by_key(|fact| (fact.run, fact.seat));
        let people = self.seats.first().is_some_and(|seat| seat.who == RaterId::People);
        for facts in self.facts.chunk_by(|a, b| a.run == b.run) {
            if people && facts.first().is_some_and(|fact| fact.seat == 0) {
                for fact in facts {
                    self.seats[usize::from(fact.seat)].reviewed += 1;
                }
            }
        }
        self
    }

    /// Returns all raters and the agreement of each pair.
    pub(super) fn trust(&self) -> Trust {
        let mut pairs: BTreeMap<(u16, u16), VerdictCounts> = BTreeMap::new();
        for facts in self.facts.chunk_by(|a, b| a.run == b.run) {
            for (at, first) in facts.iter().enumerate() {
                for second in &facts[at + 1..] {
                    if self.is_part(first.seat, second.seat) {
                        continue;
                    }
                    let tally = pairs.entry((first.seat, second.seat));
                    tally
                        .or_insert_with(|| self.new_tally(first.seat, second.seat))
                        .add(says_and_score(first), says_and_score(second));
                }
            }
        }
        let people = self.seats.first().filter(|seat| seat.who == RaterId::People);
        Trust {
            raters: (0..self.seats.len()).map(|at| self.rater(at)).collect(),
            pairs: pairs
                .iter()
                .map(|((first, second), tally)| self.agreement(*first, *second, tally))
                .collect(),
            reviewed: people.map_or(0, |people| people.runs),
            notes: self.notes.clone(),
            unreadable: self.unreadable,
        }
    }

    /// Returns the index and identity of the rater with this id.
    pub(super) fn find(&self, id: &str) -> Option<(u16, &RaterId)> {
        let at = self.seats.iter().position(|seat| seat.who.id() == id)?;
        Some((u16::try_from(at).ok()?, &self.seats[at].who))
    }

    /// Returns the agreement of two raters without the list of disagreements, and the runs on which
    /// they disagree with both verdicts.
    pub(super) fn pair(&self, first: u16, second: u16) -> (Agreement, Vec<(i64, Rating, Rating)>) {
        let mut tally = self.new_tally(first, second);
        let mut apart = Vec::new();
        for facts in self.facts.chunk_by(|a, b| a.run == b.run) {
            let of = |seat: u16| facts.iter().find(|fact| fact.seat == seat);
            let (Some(one), Some(other)) = (of(first), of(second)) else { continue };
            tally.add(says_and_score(one), says_and_score(other));
            if one.says != other.says {
                apart.push((one.run, one.says, other.says));
            }
        }
        (self.agreement(first, second, &tally), apart)
    }

    /// Returns true for people and one of them: the verdicts are partly the same.
    fn is_part(&self, first: u16, second: u16) -> bool {
        let who = |seat: u16| self.seats.get(usize::from(seat)).map(|seat| &seat.who);
        matches!((who(first), who(second)), (Some(RaterId::People), Some(RaterId::Person(_))))
    }

    fn new_tally(&self, first: u16, second: u16) -> VerdictCounts {
        let scale = |seat: u16| match self.seats.get(usize::from(seat)) {
            Some(RaterCounts { who: RaterId::Judge(_), levels, .. }) => *levels,
            _ => 0,
        };
        VerdictCounts::new(if scale(first) == scale(second) { scale(first) } else { 0 })
    }

    fn rater(&self, at: usize) -> Rater {
        let RaterCounts { who, runs, reviewed, stale, unread, .. } = &self.seats[at];
        Rater {
            id: who.id(),
            name: who.name(),
            runs: *runs,
            reviewed: *reviewed,
            stale: *stale,
            unread: *unread,
        }
    }

    fn agreement(&self, first: u16, second: u16, tally: &VerdictCounts) -> Agreement {
        let agreed = tally.agreed();
        let interval = agreed.kappa.and_then(|kappa| kappa.interval);
        Agreement {
            first: self.rater(usize::from(first)),
            second: self.rater(usize::from(second)),
            n: agreed.n,
            same: agreed.same,
            kappa: agreed.kappa.map(|kappa| kappa.value),
            interval: interval.map(|interval| (interval.low, interval.high)),
            weighted: agreed.weighted.map(|kappa| kappa.value),
            words: agreed.words,
            few: agreed.few,
            said: agreed.said.iter().map(|says| says.word().to_owned()).collect(),
            table: agreed.table,
            disagreements: Vec::new(),
            disagreements_total: agreed.n - agreed.same,
        }
    }
}

fn says_and_score(fact: &Fact) -> (Rating, f64) {
    (fact.says, f64::from(fact.score))
}

/// Word for a verdict; the middle category depends on the rater.
pub(super) fn word(who: &RaterId, says: Rating) -> &'static str {
    match (who, says) {
        (RaterId::People | RaterId::Person(_) | RaterId::Automatic, Rating::Between) => {
            "partly right"
        }
        (_, Rating::Between) => "unsure",
        _ => says.word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rating::{Between, Right, Wrong};

    fn sample_verdicts() -> RaterVerdicts {
        let mut said = RaterVerdicts::default();
        let b = said.seat_of_judge(("sopr", "ours", "b"), 3).unwrap();
        let a = said.seat_of_judge(("sopr", "ours", "a"), 3).unwrap();
        let people = said.seat(RaterId::People, 0).unwrap();
        for (run, seat, verdict) in [
            (1, people, Verdict::Counts(Right, 1.0)),
            (1, a, Verdict::Counts(Right, 1.0)),
            (2, people, Verdict::Counts(Between, 0.5)),
            (2, a, Verdict::Counts(Wrong, 0.0)),
            (2, b, Verdict::Counts(Wrong, 0.0)),
            (3, b, Verdict::Stale),
            (3, a, Verdict::Unread),
            (4, a, Verdict::Counts(Right, 1.0)),
        ] {
            said.add(run, seat, verdict);
        }
        said.finish()
    }

    #[test]
    fn people_are_compared_with_each_other_and_not_with_all_of_them() {
        let mut said = RaterVerdicts::default();
        let people = said.seat(RaterId::People, 0).unwrap();
        let ann = said.seat(RaterId::Person("Ann".to_owned()), 0).unwrap();
        let zoe = said.seat(RaterId::Person("Zoë".to_owned()), 0).unwrap();
        let judge = said.seat_of_judge(("sopr", "ours", "a"), 3).unwrap();
        for seat in [people, ann, zoe, judge] {
            said.add(1, seat, Verdict::Counts(Right, 1.0));
        }
        let trust = said.finish().trust();
        let pairs: Vec<_> = trust
            .pairs
            .iter()
            .map(|pair| format!("{} × {}", pair.first.name, pair.second.id))
            .collect();
        assert_eq!(
            pairs,
            ["people × sopr:ours:a", "Ann × person:Zoë", "Ann × sopr:ours:a", "Zoë × sopr:ours:a"]
        );
    }

    #[test]
    fn people_come_first_and_what_does_not_count_is_said() {
        let trust = sample_verdicts().trust();
        let raters: Vec<_> = trust
            .raters
            .iter()
            .map(|rater| (rater.id.as_str(), rater.runs, rater.reviewed, rater.stale, rater.unread))
            .collect();
        assert_eq!(
            raters,
            [("people", 2, 2, 0, 0), ("sopr:ours:a", 3, 2, 0, 1), ("sopr:ours:b", 1, 1, 1, 0)]
        );
        assert_eq!(trust.reviewed, 2);
        let pairs: Vec<_> = trust
            .pairs
            .iter()
            .map(|pair| (pair.first.name.as_str(), pair.second.name.as_str(), pair.n, pair.same))
            .collect();
        assert_eq!(
            pairs,
            [
                ("people", "sopr by a", 2, 1),
                ("people", "sopr by b", 1, 0),
                ("sopr by a", "sopr by b", 1, 1)
            ]
        );
        assert_eq!((trust.pairs[0].words.as_str(), trust.pairs[0].few), ("too few to tell", true));
    }

    #[test]
    fn a_pair_alone_is_the_pair_among_all_and_names_the_runs_that_they_disagree_on() {
        let said = sample_verdicts();
        let (first, second) = (said.find("people").unwrap().0, said.find("sopr:ours:a").unwrap().0);
        let (pair, apart) = said.pair(first, second);
        assert_eq!(pair, said.trust().pairs[0]);
        assert_eq!(apart, [(2, Between, Wrong)]);
        let (turned, apart) = said.pair(second, first);
        assert_eq!((turned.first.id.as_str(), apart), ("sopr:ours:a", vec![(2, Wrong, Between)]));
        assert!(said.find("nobody").is_none());
        assert_eq!(word(&RaterId::People, Between), "partly right");
    }

    #[test]
    fn there_is_an_end_to_how_many_judges_are_told_apart() {
        let mut said = RaterVerdicts::default();
        let seats = (0..60)
            .filter_map(|at| said.seat_of_judge(("sopr", "ours", &format!("m{at}")), 3))
            .count();
        assert_eq!((seats, said.finish().trust().notes.len()), (MOST_RATERS, 1));
    }
}
