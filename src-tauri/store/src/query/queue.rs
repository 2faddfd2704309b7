//! Review queues: the runs of a list in the order in which a person reviews them, and how far the
//! person is. A queue is derived from its filter, anew after each change of the index.
use super::{IndexError, Lists, ParsedFilter, Reader, RunSet};
use crate::reviews::StoredReview;
use std::sync::Arc;
use touchstone_api::{QueueOrder, QueueProgress, Sort};
use touchstone_formats::review::Verdict;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A run that a person has reviewed for its present answer, and the verdict.
type Reviewed = (i64, Option<Verdict>);

impl Lists {
    /// Returns the progress of a person within the runs that pass a filter.
    pub fn queue_progress(
        &self,
        index: &Reader<'_>,
        filter: &str,
        author: Option<&str>,
    ) -> Result<QueueProgress, IndexError> {
        let passing = self.set(index, &self.parsed(filter))?;
        let mut progress =
            QueueProgress { total: passing.len() as u64, ..QueueProgress::default() };
        for (_, verdict) in
            self.reviewed(index, author)?.iter().filter(|(run, _)| passing.contains(*run))
        {
            progress.reviewed += 1;
            match verdict {
                Some(Verdict::Right) => progress.right += 1,
                Some(Verdict::Partly) => progress.partly += 1,
                Some(Verdict::Wrong) => progress.wrong += 1,
                None => {}
            }
        }
        Ok(progress)
    }

    /// Returns the runs of a queue in order.
    pub(super) fn queue(
        &self,
        index: &Reader<'_>,
        (filter, sort): (&ParsedFilter, &Sort),
        order: QueueOrder,
        author: Option<&str>,
    ) -> Result<Arc<Vec<i64>>, IndexError> {
        let ids = self.ids(index, filter, sort)?;
        if order == QueueOrder::List {
            return Ok(ids);
        }
        let key = (filter.key(), self.remembered_sort(sort), order, author.map(str::to_owned));
        if let Some(queue) = self.remembered(index, |known| known.queues.get(&key)) {
            return Ok(queue);
        }
        let queue = match order {
            QueueOrder::Random { seed } => shuffled(index, &ids, seed)?,
            QueueOrder::List | QueueOrder::Unreviewed => {
                let mut reviewed = RunSet::default();
                for (run, _) in self.reviewed(index, author)?.iter() {
                    reviewed.insert(*run);
                }
                let (last, mut first): (Vec<i64>, Vec<i64>) =
                    ids.iter().partition(|id| reviewed.contains(**id));
                first.extend(last);
                first
            }
        };
        Ok(self.keep(index, queue, |known, queue| known.queues.put(key, queue)))
    }

    /// Returns the runs that a person has reviewed.
    fn reviewed(
        &self,
        index: &Reader<'_>,
        author: Option<&str>,
    ) -> Result<Arc<Vec<Reviewed>>, IndexError> {
        let key = author.map(str::to_owned);
        if let Some(reviewed) = self.remembered(index, |known| known.reviewed.get(&key)) {
            return Ok(reviewed);
        }
        let mut reviewed = Vec::new();
        each_reviewed(index, author, |run, verdict| reviewed.push((run, verdict)))?;
        Ok(self.keep(index, reviewed, |known, reviewed| known.reviewed.put(key, reviewed)))
    }
}

/// Returns runs in an order that depends on a seed and on their keys alone.
fn shuffled(index: &Reader<'_>, ids: &[i64], seed: u32) -> Result<Vec<i64>, IndexError> {
    // Answered by the index of the keys alone.
    let mut select = index.prepare_cached("SELECT id, key FROM runs")?;
    let mut rows = select.query([])?;
    let mut places: Vec<u64> = Vec::new();
    while let Some(row) = rows.next()? {
        let Ok(id) = usize::try_from(row.get::<_, i64>(0)?) else { continue };
        let key = row.get_ref(1)?.as_str().unwrap_or_default();
        if id >= places.len() {
            places.resize(id + 1, 0);
        }
        places[id] = xxh3_64_with_seed(key.as_bytes(), u64::from(seed));
    }
    let mut ids = ids.to_vec();
    ids.sort_by_key(|id| usize::try_from(*id).ok().and_then(|id| places.get(id)));
    Ok(ids)
}

/// Calls `each` with every run that a person has reviewed for its present answer. A review without
/// an author is of nobody known, so it counts for nobody with a name.
fn each_reviewed(
    index: &Reader<'_>,
    author: Option<&str>,
    mut each: impl FnMut(i64, Option<Verdict>),
) -> Result<(), IndexError> {
    const PEOPLE: &str = "SELECT r.id, v.people, v.same FROM reviews v JOIN runs r ON r.key = v.run \
                          WHERE v.people IS NOT NULL AND v.problem IS NULL";
    let mut select = index.prepare_cached(PEOPLE)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let people: String = row.get(1)?;
        let same: Option<String> = row.get(2)?;
        let all = StoredReview::all(&people, same.as_deref().unwrap_or_default());
        let own = all.iter().find(|one| one.author.as_deref() == author);
        if let Some(own) = own.filter(|own| own.holds && own.is_verdict()) {
            each(row.get(0)?, own.verdict());
        }
    }
    Ok(())
}
