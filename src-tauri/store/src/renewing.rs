//! The conductor's way of bringing rows up to date with suites that changed: a batch at a time,
//! between everything else, each committed and told of. What it did not finish is finished at the
//! next start, because only the end is noted.
use super::conduct::{Change, Conductor, Shared};
use super::enter::finish;
use super::index::{IndexError, Writer, meta};
use super::judgements;
use super::limits::Limits;
use super::load;
use super::reviews;
use super::roots::{FileId, Root, Roots};
use super::scoring::renew;
use super::scoring::write::{Kept, keep};
use rusqlite::Connection;
use std::sync::Arc;
use touchstone_api::ScoringProgress;

/// How far it has come.
#[derive(Debug)]
pub(crate) struct Renewing {
    /// What stands for the tasks that rows will agree with.
    tasks: i64,
    /// The last row that was looked at.
    after: i64,
    /// How many were looked at.
    done: u64,
}

impl Renewing {
    /// From the first row on.
    pub(crate) fn again(&mut self) {
        (self.after, self.done) = (0, 0);
    }
}

impl Conductor {
    /// Shows suites that changed to everyone; the rows follow.
    pub(crate) fn publish_tasks(&mut self) -> Result<(), IndexError> {
        let first = self.shelving.is_new();
        let Some(tasks) = self.shelving.publish() else { return Ok(()) };
        let (count, problems) = self.shelving.counts();
        self.shared.live.change(|standing| {
            standing.counts.tasks = count;
            standing.counts.suite_problems = problems;
        });
        self.tell_status();
        // Should the index fail now, `recover` has the rows looked at from the first one on.
        self.renewing = Some(Renewing { tasks, after: 0, done: 0 });
        let agree = meta(&self.writer.sql, "tasks")? == tasks;
        if !agree {
            // Until the last row was looked at, some agree with these suites and some with those
            // before.
            load::put_meta(&self.writer.sql, "tasks", load::UNDER_WAY)?;
        }
        self.renewing = (!agree).then_some(Renewing { tasks, after: 0, done: 0 });
        // Lists of tasks went stale, whether any run did or not; but for those that were empty and
        // stay so.
        if !first || count > 0 {
            let generation = load::generation(&self.writer.sql)?;
            (self.publish)(Change::Runs { generation, ids: Vec::new() });
        }
        Ok(())
    }

    /// Brings the next rows up to date.
    pub(crate) fn renew_rows(&mut self) -> Result<(), IndexError> {
        let Some(Renewing { tasks, after, done }) = self.renewing else { return Ok(()) };
        let (known, marks) = (self.shelving.tasks(), Arc::clone(&self.marks));
        let Shared { roots, limits, .. } = self.shared.clone();
        let batch = renew::batch(&self.writer, &known, after)?;
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
        self.renewing = (!end).then_some(Renewing { tasks, after: next, done });
        if turns {
            self.tally = load::tally(&self.writer.sql)?;
            let tally = self.tally;
            self.shared.live.change(|standing| tally.fill(&mut standing.counts));
        }
        self.tell_status();
        Ok(())
    }

    /// Keeps what programs of scorers said.
    pub(crate) fn keep_scores(&mut self, kept: &[Kept]) -> Result<(), IndexError> {
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

    /// Writes into rows that are there, commits, and tells of the runs that changed.
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

/// Brings what a person says of a run into agreement with an answer that became another one without
/// its files.
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
