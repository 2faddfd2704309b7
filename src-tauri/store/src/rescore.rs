//! Rescoring of rows after suites changed: in batches between other work, each committed and
//! published. If interrupted, it starts over at the next start, because only its completion is
//! recorded.
use super::index::{IndexError, Writer, meta};
use super::index_writer::finish;
use super::indexer::{Change, Indexer, Shared};
use super::judgements;
use super::limits::Limits;
use super::load;
use super::reviews;
use super::roots::{FileId, Root, Roots};
use super::scoring::rescore;
use super::scoring::write::{ProgramResult, keep};
use rusqlite::Connection;
use std::sync::Arc;
use touchstone_api::ScoringProgress;

/// Progress of rescoring.
#[derive(Debug)]
pub(crate) struct RescoreProgress {
    /// Hash of the tasks that the rows are updated to.
    tasks: i64,
    /// Last processed row.
    after: i64,
    /// Number of processed rows.
    done: u64,
}

impl RescoreProgress {
    /// Restarts at the first row.
    pub(crate) fn again(&mut self) {
        (self.after, self.done) = (0, 0);
    }
}

impl Indexer {
    /// Publishes changed suites. The rows are rescored afterwards.
    pub(crate) fn publish_tasks(&mut self) -> Result<(), IndexError> {
        let first = self.shelving.is_new();
        let Some(tasks) = self.shelving.publish() else { return Ok(()) };
        let (count, problems) = self.shelving.counts();
        self.shared.live.change(|standing| {
            standing.counts.tasks = count;
            standing.counts.suite_problems = problems;
        });
        self.tell_status();
        // If the index fails now, `recover` restarts at the first row.
        self.renewing = Some(RescoreProgress { tasks, after: 0, done: 0 });
        let agree = meta(&self.writer.sql, "tasks")? == tasks;
        if !agree {
            // Until the last row is processed, some rows match the new suites and some the old
            // ones.
            load::put_meta(&self.writer.sql, "tasks", load::UNDER_WAY)?;
        }
        self.renewing = (!agree).then_some(RescoreProgress { tasks, after: 0, done: 0 });
        // Lists of tasks are stale even if no run changed, except lists that were empty and stay
        // empty.
        if !first || count > 0 {
            let generation = load::generation(&self.writer.sql)?;
            (self.publish)(Change::Runs { generation, ids: Vec::new() });
        }
        Ok(())
    }

    /// Rescores the next batch of rows.
    pub(crate) fn renew_rows(&mut self) -> Result<(), IndexError> {
        let Some(RescoreProgress { tasks, after, done }) = self.renewing else { return Ok(()) };
        let (known, marks) = (self.shelving.tasks(), Arc::clone(&self.marks));
        let Shared { roots, limits, .. } = self.shared.clone();
        let batch = rescore::batch(&self.writer, &known, after)?;
        let (end, next, done) = (batch.end, batch.after, done + batch.seen);
        self.shared.live.change(|standing| {
            let total = standing.counts.runs.max(done);
            standing.scoring = (!end).then_some(ScoringProgress { done, total });
        });
        let turns = batch.turns();
        if end || !batch.is_empty() {
            self.change(|writer| {
                let changed = batch.write(writer)?;
                for key in &changed {
                    if turns {
                        hold_review(&writer.sql, &roots, &limits, key)?;
                    }
                    judgements::hold(&writer.sql, (&roots, &limits), (&known, &marks), key)?;
                }
                if end {
                    load::put_meta(&writer.sql, "tasks", tasks)?;
                }
                Ok(changed)
            })?;
        }
        self.renewing = (!end).then_some(RescoreProgress { tasks, after: next, done });
        if turns {
            self.tally = load::count_states(&self.writer.sql)?;
            let tally = self.tally;
            self.shared.live.change(|standing| tally.fill(&mut standing.counts));
        }
        self.tell_status();
        Ok(())
    }

    /// Stores the results of scorer programs.
    pub(crate) fn keep_scores(&mut self, kept: &[ProgramResult]) -> Result<(), IndexError> {
        if kept.is_empty() {
            return Ok(());
        }
        self.change(|writer| {
            let mut changed = Vec::new();
            for one in kept {
                changed.extend(keep(&writer.sql, one)?);
            }
            changed.sort_unstable();
            changed.dedup();
            Ok(changed)
        })
    }

    /// Updates existing rows in a transaction and publishes the changed runs.
    fn change(
        &mut self,
        write: impl FnOnce(&Writer) -> Result<Vec<String>, IndexError>,
    ) -> Result<(), IndexError> {
        self.writer.sql.execute_batch("BEGIN IMMEDIATE")?;
        let written = write(&self.writer).and_then(|changed| {
            let generation = finish(&mut self.writer, !changed.is_empty())?;
            Ok((generation, changed))
        });
        match written {
            Ok((generation, changed)) => self.tell(generation, changed, 0),
            Err(error) => {
                self.writer.sql.execute_batch("ROLLBACK")?;
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Updates a run from its review, after its answer changed without a change of its files.
fn hold_review(
    sql: &Connection,
    roots: &Roots,
    limits: &Limits,
    key: &str,
) -> Result<(), IndexError> {
    let mut select = sql.prepare_cached("SELECT path FROM reviews WHERE run = ?")?;
    let paths =
        select.query_map([key], |row| row.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    let files = paths.into_iter().map(|path| FileId::new(Root::Output, path));
    files
        .filter(|file| !reviews::is_judged(file))
        .try_for_each(|file| reviews::show(sql, (roots, limits), &file, key))
}
