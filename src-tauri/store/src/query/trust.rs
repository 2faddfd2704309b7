//! Loads the verdicts of all raters from the index and caches their agreement.
use super::{IndexError, Lists, Reader, RunSet};
use crate::imported_verdicts;
use crate::judgements::{self, StoredJudgement};
use crate::reviews::{StoredReview, beginning, is_judged};
use crate::roots::{FileId, Root};
use crate::trust::{RaterId, RaterVerdicts, Verdict, word};
use rusqlite::{Row, params};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_api::{Agreement, Disagreement, Trust};
use touchstone_formats::review::Verdict as Word;
use touchstone_scoring::agreement::Rating;

/// Maximum number of listed disagreements of a pair.
const SHOWN: usize = 300;

/// Collected verdicts and the agreement computed from them.
pub(super) struct CachedTrust {
    said: RaterVerdicts,
    trust: Trust,
}

impl Lists {
    /// Returns the raters of the runs that pass a filter and the agreement of each pair.
    pub fn trust(&self, index: &Reader<'_>, filter: &str) -> Result<Trust, IndexError> {
        Ok(self.cached_trust(index, filter)?.trust.clone())
    }

    /// Returns the agreement of two raters and the runs on which they disagree. `None` when one of
    /// them has no verdicts.
    pub fn agreement(
        &self,
        index: &Reader<'_>,
        (first, second): (&str, &str),
        filter: &str,
    ) -> Result<Option<Agreement>, IndexError> {
        let known = self.cached_trust(index, filter)?;
        let (Some(first), Some(second)) = (known.said.find(first), known.said.find(second)) else {
            return Ok(None);
        };
        let (mut pair, apart) = known.said.pair(first.0, second.0);
        let mut named = Vec::with_capacity(apart.len());
        let mut select = index.prepare_cached("SELECT path FROM runs WHERE id = ?")?;
        for (run, one, other) in apart {
            named.push((select.query_row([run], |row| row.get::<_, String>(0))?, run, one, other));
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, run, one, other) in named.into_iter().take(SHOWN) {
            pair.disagreements.push(disagreement(index, run, (first.1, one), (second.1, other))?);
        }
        Ok(Some(pair))
    }

    /// Returns the number of unreadable judgement files of the runs that pass a filter, with a
    /// message.
    pub fn unreadable(
        &self,
        index: &Reader<'_>,
        filter: &str,
    ) -> Result<Option<(u64, String)>, IndexError> {
        let passing = self.set(index, &self.parsed(filter))?;
        unreadable(index, &passing)
    }

    fn cached_trust(
        &self,
        index: &Reader<'_>,
        filter: &str,
    ) -> Result<Arc<CachedTrust>, IndexError> {
        let forks = self.forks_left_out(index, filter)?;
        let asked = self.prepared(self.parse(filter).0.without_forks());
        let key = asked.key();
        if let Some(known) = self.remembered(index, |known| known.trusts.get(&key)) {
            return Ok(known);
        }
        let passing = self.set(index, &asked)?;
        let mut said = gather(index, &passing)?;
        if let Some(note) = touchstone_api::describe_excluded_forks(forks) {
            said.note(note);
        }
        let trust = said.trust();
        Ok(self.keep(index, CachedTrust { said, trust }, |known, new| known.trusts.put(key, new)))
    }
}

/// Collects all verdicts in one pass. Runs without verdicts are only counted.
fn gather(index: &Reader<'_>, passing: &RunSet) -> Result<RaterVerdicts, IndexError> {
    const SAID: &str = "SELECT r.id, r.verdict, r.review_score, v.people, v.judged, v.same, v.least \
                        FROM reviews v JOIN runs r ON r.key = v.run WHERE v.problem IS NULL";
    let mut said = RaterVerdicts::default();
    let mut query = index.prepare_cached(SAID)?;
    let mut rows = query.query([])?;
    let mut runs = RunSet::default();
    let mut signed: BTreeMap<String, Vec<(i64, Verdict)>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let run: i64 = row.get(0)?;
        if passing.contains(run) {
            runs.insert(run);
            if let Some(judged) = row.get_ref(4)?.as_str_or_null().ok().flatten() {
                by_judges(&mut said, run, judged, (text(row, 5)?, text(row, 6)?));
                continue;
            }
            let mut reviews = StoredReview::all(text(row, 3)?, text(row, 5)?);
            reviews.retain(StoredReview::is_verdict);
            if !reviews.is_empty() {
                by_people(&mut said, run, row)?;
            }
            for one in reviews {
                let verdict = verdict_of(&one);
                if let Some(author) = one.author {
                    signed.entry(author).or_default().push((run, verdict));
                }
            }
        }
    }
    // One person alone is what `people` says already.
    if signed.len() > 1 {
        for (author, verdicts) in signed {
            if let Some(seat) = said.seat(RaterId::Person(author), 0) {
                for (run, verdict) in verdicts {
                    said.add(run, seat, verdict);
                }
            }
        }
    }
    let stored = stored(index, passing, &mut runs)?;
    automatic(index, &mut said, (passing, &runs))?;
    // Raters of this workspace come before imported ones.
    for (evaluator, run, verdict) in stored {
        if let Some(seat) = said.seat_of_stored(&evaluator) {
            said.add(run, seat, verdict);
        }
    }
    if let Some((files, note)) = unreadable(index, passing)? {
        said.unreadable = files;
        said.note(note);
    }
    Ok(said.finish())
}

/// Returns the imported verdicts of these runs. Passing is decided as in their files.
fn stored(
    index: &Reader<'_>,
    passing: &RunSet,
    runs: &mut RunSet,
) -> Result<Vec<(Rc<str>, i64, Verdict)>, IndexError> {
    let mut names: HashMap<String, Rc<str>> = HashMap::new();
    let mut all: Vec<(Rc<str>, i64, Verdict)> = Vec::new();
    imported_verdicts::for_each_verdict(index, |run, evaluator, passed| {
        if !passing.contains(run) {
            return;
        }
        runs.insert(run);
        let name = match names.get(evaluator) {
            Some(name) => Rc::clone(name),
            None => {
                Rc::clone(names.entry(evaluator.to_owned()).or_insert_with(|| evaluator.into()))
            }
        };
        let counts = |passed| {
            if passed {
                Verdict::Counts(Rating::Right, 1.0)
            } else {
                Verdict::Counts(Rating::Wrong, 0.0)
            }
        };
        let verdict = passed.map_or(Verdict::Unread, counts);
        // A verdict next to an error still counts, and each run counts once per evaluator.
        let of_run = all.iter_mut().rev().take_while(|(_, its, _)| *its == run);
        match of_run.into_iter().find(|(known, ..)| *known == name) {
            Some((.., known)) if !outweighs(*known, verdict) => *known = verdict,
            Some(_) => {}
            None => all.push((name, run, verdict)),
        }
    })?;
    Ok(all)
}

/// Returns the number of unreadable judgement files of these runs, with a message.
fn unreadable(index: &Reader<'_>, passing: &RunSet) -> Result<Option<(u64, String)>, IndexError> {
    const BROKEN: &str = "SELECT r.id, v.path FROM reviews v JOIN runs r ON r.key = v.run \
                          WHERE v.problem IS NOT NULL ORDER BY v.path";
    let mut query = index.prepare_cached(BROKEN)?;
    let mut rows = query.query([])?;
    let mut files = Vec::new();
    while let Some(row) = rows.next()? {
        let file = FileId::new(Root::Output, row.get::<_, Vec<u8>>(1)?);
        if passing.contains(row.get(0)?) && is_judged(&file) {
            files.push(file.to_display());
        }
    }
    let told = match files.as_slice() {
        [] => return Ok(None),
        [file] => format!(
            "1 file of judgements cannot be read and is not counted: {file}. Fix it, or move it away."
        ),
        [first, ..] => format!(
            "{} files of judgements cannot be read and are not counted; the first is {first}. Fix them, or move them away.",
            files.len()
        ),
    };
    Ok(Some((files.len() as u64, told)))
}

fn text<'a>(row: &'a Row<'_>, at: usize) -> rusqlite::Result<&'a str> {
    Ok(row.get_ref(at)?.as_str_or_null().ok().flatten().unwrap_or_default())
}

/// Adds a review. A valid one is in the row of the run; otherwise the review was of another answer
/// and counts as stale.
fn by_people(said: &mut RaterVerdicts, run: i64, row: &Row<'_>) -> rusqlite::Result<()> {
    let verdict = verdict_of_words(Word::from_word(text(row, 1)?), row.get(2)?);
    if let Some(seat) = said.seat(RaterId::People, 0) {
        said.add(run, seat, verdict);
    }
    Ok(())
}

/// Returns the verdict of one review.
fn verdict_of(review: &StoredReview) -> Verdict {
    if review.holds { verdict_of_words(review.verdict(), review.score) } else { Verdict::Stale }
}

fn verdict_of_words(word: Option<Word>, score: Option<f64>) -> Verdict {
    let says = match word {
        Some(Word::Right) => Some(Rating::Right),
        Some(Word::Partly) => Some(Rating::Between),
        Some(Word::Wrong) => Some(Rating::Wrong),
        None => score.map(Rating::of_score),
    };
    says.map_or(Verdict::Stale, |says| Verdict::Counts(says, score.unwrap_or_default()))
}

/// Adds judgements. If a judge gave several, the last valid and readable one counts.
fn by_judges(said: &mut RaterVerdicts, run: i64, judged: &str, (same, least): (&str, &str)) {
    let mut verdicts: Vec<(u16, Verdict)> = Vec::new();
    for one in StoredJudgement::all(judged, same, least) {
        let judge = touchstone_judges::named(&one.judge);
        if judge.is_some_and(|judge| judge.pairs) {
            said.note(format!(
                "`{}` compares two runs, so it has no agreement with others.",
                one.judge
            ));
            continue;
        }
        let levels = judge.map_or(0, touchstone_judges::Judge::levels);
        let Some(seat) = said.seat_of_judge((&one.judge, &one.rules, &one.model), levels) else {
            continue;
        };
        let verdict = if one.holds(judge) {
            let says = |mean| Rating::of_judge(judge, mean, one.least);
            one.mean().map_or(Verdict::Unread, |mean| Verdict::Counts(says(mean), mean))
        } else {
            Verdict::Stale
        };
        match verdicts.iter_mut().find(|(known, _)| *known == seat) {
            Some((_, known)) if !outweighs(*known, verdict) => *known = verdict,
            Some(_) => {}
            None => verdicts.push((seat, verdict)),
        }
    }
    for (seat, verdict) in verdicts {
        said.add(run, seat, verdict);
    }
}

/// Returns true when the earlier verdict takes precedence. An unreadable verdict does not replace a
/// counted one, and a stale verdict replaces none.
fn outweighs(earlier: Verdict, later: Verdict) -> bool {
    match later {
        Verdict::Counts(..) => false,
        Verdict::Unread => matches!(earlier, Verdict::Counts(..)),
        Verdict::Stale => true,
    }
}

/// Adds the verdicts of the first scorer, unless it is a judge. Only runs with other verdicts are
/// added; the total number of scored runs is recorded.
fn automatic(
    index: &Reader<'_>,
    said: &mut RaterVerdicts,
    (passing, runs): (&RunSet, &RunSet),
) -> Result<(), IndexError> {
    const SCORED: &str = "SELECT id, passed, score FROM runs WHERE scoring = 'scored' AND passed IS NOT NULL \
                          AND scorer NOT LIKE 'judge:%'";
    let mut query = index.prepare_cached(SCORED)?;
    let mut rows = query.query([])?;
    let mut scored = 0;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let run: i64 = row.get(0)?;
        scored += u64::from(passing.contains(run));
        if runs.contains(run) {
            let score = row.get::<_, Option<f64>>(2)?.unwrap_or_default();
            found.push((run, Verdict::Counts(Rating::of_scorer(score, row.get(1)?), score)));
        }
    }
    if let Some(seat) = (scored > 0).then(|| said.seat(RaterId::Automatic, 0)).flatten() {
        for (run, verdict) in found {
            said.add(run, seat, verdict);
        }
        said.says_of(seat, scored);
    }
    Ok(())
}

/// Builds the entry for a run on which two raters disagree, with both reasons.
fn disagreement(
    index: &Reader<'_>,
    run: i64,
    first: (&RaterId, Rating),
    second: (&RaterId, Rating),
) -> Result<Disagreement, IndexError> {
    let mut select =
        index.prepare_cached("SELECT key, path, task, score_reason FROM runs WHERE id = ?")?;
    let (key, path, task, scored): (String, String, Option<String>, Option<String>) =
        select.query_row([run], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let why = |who: &RaterId| -> Result<Option<String>, IndexError> {
        match who {
            RaterId::Automatic => return Ok(scored.as_deref().map(beginning)),
            RaterId::Stored(evaluator) => return imported_verdicts::reason(index, run, evaluator),
            RaterId::People | RaterId::Person(_) | RaterId::Judge(_) => {}
        }
        let statement = "SELECT note, judged, same, people FROM reviews WHERE run = ? AND problem IS NULL ORDER BY path";
        let mut select = index.prepare_cached(statement)?;
        let mut rows = select.query(params![key])?;
        while let Some(row) = rows.next()? {
            let said = match who {
                RaterId::Judge(asked) => {
                    let asked = (asked.judge.as_str(), asked.rules.as_str(), asked.model.as_str());
                    judgements::reason(text(row, 1)?, asked, text(row, 2)?)
                        .as_deref()
                        .map(beginning)
                }
                RaterId::Person(author) => StoredReview::all(text(row, 3)?, text(row, 2)?)
                    .into_iter()
                    .find(|one| one.author.as_ref() == Some(author))
                    .map(|one| one.note)
                    .filter(|note| !note.is_empty()),
                _ => row.get(0)?,
            };
            if said.is_some() {
                return Ok(said);
            }
        }
        Ok(None)
    };
    Ok(Disagreement {
        first_why: why(first.0)?,
        second_why: why(second.0)?,
        run: key.clone(),
        path,
        task,
        first: word(first.0, first.1).to_owned(),
        second: word(second.0, second.1).to_owned(),
    })
}
