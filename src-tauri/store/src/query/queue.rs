//! Review queues: the runs of a list in the order in which a person reviews them, and how far the
//! person is. A queue is derived from its filter each time; no copy of it is kept.
use super::{IndexError, Lists, ParsedFilter, Reader, RunSet};
use crate::reviews::StoredReview;
use std::collections::HashMap;
use touchstone_api::{QueueOrder, QueueProgress, Sort};
use touchstone_formats::review::Verdict;
use xxhash_rust::xxh3::xxh3_64_with_seed;

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
            QueueProgress { total: passing.iter().count() as u64, ..QueueProgress::default() };
        each_reviewed(index, author, |run, verdict| {
            if passing.contains(run) {
                progress.reviewed += 1;
                match verdict {
                    Some(Verdict::Right) => progress.right += 1,
                    Some(Verdict::Partly) => progress.partly += 1,
                    Some(Verdict::Wrong) => progress.wrong += 1,
                    None => {}
                }
            }
        })?;
        Ok(progress)
    }

    /// Returns the runs of a queue in order.
    pub(super) fn queue(
        &self,
        index: &Reader<'_>,
        (filter, sort): (&ParsedFilter, Sort),
        order: QueueOrder,
        author: Option<&str>,
    ) -> Result<Vec<i64>, IndexError> {
        let ids = self.ids(index, filter, sort)?;
        match order {
            QueueOrder::List => Ok(ids.to_vec()),
            QueueOrder::Unreviewed => {
                let mut reviewed = RunSet::default();
                each_reviewed(index, author, |run, _| reviewed.insert(run))?;
                let (last, mut first): (Vec<i64>, Vec<i64>) =
                    ids.iter().partition(|id| reviewed.contains(**id));
                first.extend(last);
                Ok(first)
            }
            QueueOrder::Random { seed } => {
                let mut select = index.prepare_cached("SELECT id, key FROM runs")?;
                let mut rows = select.query([])?;
                let mut places = HashMap::new();
                while let Some(row) = rows.next()? {
                    let key = row.get_ref(1)?.as_str().unwrap_or_default();
                    let place = xxh3_64_with_seed(key.as_bytes(), u64::from(seed));
                    places.insert(row.get::<_, i64>(0)?, place);
                }
                let mut ids = ids.to_vec();
                ids.sort_by_key(|id| places.get(id));
                Ok(ids)
            }
        }
    }
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
