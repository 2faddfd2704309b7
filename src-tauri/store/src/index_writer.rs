//! The indexer's writing: parses units, writes them in transactions, and publishes the changes
//! after the commit.
use super::index::{IndexError, Writer, put_sums};
use super::indexer::{Change, Indexer, Shared};
use super::ingest::{ParseContext, look_at};
use super::limits::Limits;
use super::parse_unit::{Outcome, ParsedUnit};
use super::reconcile::{KnownFiles, Mark, Step, Unit, members};
use super::record::{self, ClaimWriter, Placed, Written};
use super::roots::{FileId, Root, Roots};
use super::scan::Found;
use super::scan::{PROMPT_NAMES, is_prompt_like, is_prompt_name, is_query_name};
use super::state_counts::StateCounts;
use super::suites::SuiteLoader;
use super::unit_id::UnitId;
use super::{background_tasks, judgements, layouts, load, open, repeats, reviews};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::{Duration, Instant};
use touchstone_api::Phase;
use touchstone_clock as clock;

/// Maximum number of live units per batch. Small, so that the next change does not wait.
const LIVE: usize = 200;
const REST: usize = 800;
/// A commit is due after this many rows or this much time.
const COMMIT_UNITS: usize = 500;
const COMMIT_AFTER: Duration = Duration::from_millis(150);
/// Of more runs that changed it is only told that many did.
const MOST_TOLD: usize = 5_000;
/// Time after which the first rows of an empty list are committed.
const FIRST_COMMIT_AFTER: Duration = Duration::from_millis(20);

struct Entered {
    unit: UnitId,
    marks: Vec<(FileId, Mark)>,
    again_ns: Option<i64>,
}

/// Written rows that are not committed yet.
#[derive(Default)]
pub(crate) struct OpenTransaction {
    written: Vec<Written>,
    units: Vec<Entered>,
    /// Ids of the original runs whose forks were written.
    origins: Vec<String>,
    since: Option<Instant>,
    /// True for claims of segments, whose files are still to be read.
    are_claims: bool,
    /// True for an index that had no rows before them.
    pub(crate) is_fresh: bool,
}

impl OpenTransaction {
    pub(crate) fn for_claims(is_fresh: bool) -> Self {
        Self { are_claims: true, is_fresh, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.written.len()
    }

    /// Returns true if it has been open for longer than this.
    pub(crate) fn is_older_than(&self, time: Duration) -> bool {
        self.since.is_some_and(|since| since.elapsed() > time)
    }
}

impl Indexer {
    /// Does one batch of the waiting work.
    pub(crate) fn work(&mut self) {
        // Suites are published before the first runs. Later they are published after the last
        // waiting run, because rescoring all rows takes time.
        let tasks_now = self.shelving.is_new() || self.backlog.is_empty();
        let published = if tasks_now { self.publish_tasks() } else { Ok(()) };
        let done = published.and_then(|()| {
            if self.renewing.is_some() && !self.backlog.has_live() {
                return self.renew_rows();
            }
            let units = self.next_units((LIVE, REST));
            match (units.is_empty(), self.reviews.is_settled()) {
                (false, _) => self.enter(units),
                // Reviews are checked against rows, so the rows are written first.
                (true, false) => self.review(),
                (true, true) => self.chore(),
            }
        });
        let settled =
            self.shelving.is_settled() && self.renewing.is_none() && self.reviews.is_settled();
        if let Err(error) = done {
            self.recover(&error);
        } else if self.backlog.is_empty() && settled {
            self.settle_phase();
        }
    }

    /// Parses units and writes their rows.
    fn enter(&mut self, units: Vec<Unit>) -> Result<(), IndexError> {
        let Shared { roots, limits, inbox, index, .. } = self.shared.clone();
        let tasks = self.shelving.tasks();
        let renames = self.renames.clone().unwrap_or_default();
        let eyes = ParseContext {
            roots: &roots,
            limits: &limits,
            inbox: &inbox,
            index: &index,
            tasks: &tasks,
            renames: &renames,
        };
        let mut open = OpenTransaction::default();
        let mut result = look_at(&eyes, units, |looked, placed| {
            self.put(looked, placed, &mut open)?;
            let after = if self.tally == StateCounts::default() {
                FIRST_COMMIT_AFTER
            } else {
                COMMIT_AFTER
            };
            if open.is_older_than(after) || open.written.len() >= COMMIT_UNITS {
                self.commit(&mut open)
            } else {
                Ok(())
            }
        });
        if result.is_ok() {
            result = self.commit(&mut open);
        }
        if result.is_err() && !self.writer.sql.is_autocommit() {
            self.writer.sql.execute_batch("ROLLBACK")?;
        }
        self.chores.wake();
        result
    }

    /// Returns true while the index has no rows and no reviews.
    pub(crate) fn is_empty(&self) -> bool {
        let has_files = self.known.keys().any(|file| file.root == Root::Output);
        self.writer.fresh && self.tally == StateCounts::default() && !has_files
    }

    fn ensure_begun(&self, open: &mut OpenTransaction) -> Result<(), IndexError> {
        if open.since.is_none() {
            self.writer.sql.execute_batch("BEGIN IMMEDIATE")?;
            open.since = Some(Instant::now());
        }
        Ok(())
    }

    /// Adds runs that segments claim to an index that was empty.
    pub(crate) fn add_claims(
        &mut self,
        claims: &mut [(ParsedUnit, Vec<Placed>)],
        open: &mut OpenTransaction,
    ) -> Result<(), IndexError> {
        self.ensure_begun(open)?;
        let mut adding = ClaimWriter::new(&mut self.writer)?;
        for (parsed, placed) in claims {
            open.written.extend(adding.add(parsed, placed)?);
        }
        Ok(())
    }

    pub(crate) fn put(
        &mut self,
        looked: ParsedUnit,
        placed: Vec<Placed>,
        open: &mut OpenTransaction,
    ) -> Result<(), IndexError> {
        self.ensure_begun(open)?;
        match &looked.outcome {
            Outcome::Suite(text) => self.shelving.put(&self.shared.roots, &looked.unit.file, text),
            _ => self.shelving.remove(&looked.unit.file),
        }
        open.written.extend(record::put(&mut self.writer, &looked, placed)?);
        let Shared { roots, limits, .. } = &self.shared;
        for row in looked.rows() {
            let member = row.member.as_ref().map(|member| member.key.as_str());
            reviews::hold(&self.writer.sql, roots, limits, &looked.unit, member)?;
            let now = (self.shelving.tasks(), &self.marks);
            judgements::hold(
                &self.writer.sql,
                (roots, limits),
                (&now.0, now.1),
                &looked.unit.key_of(member),
            )?;
            // The original of a fork lists its forks, so it changed too.
            let origin = row.outline.as_ref().and_then(|outline| outline.forked_from.as_ref());
            open.origins.extend(
                origin.map(|origin| {
                    super::run_id(&FileId::new(Root::Output, origin.file.as_bytes()))
                }),
            );
        }
        if looked.is_last() && !open.are_claims {
            open.units.push(Entered {
                unit: looked.unit,
                marks: looked.marks,
                again_ns: looked.again_ns,
            });
        }
        Ok(())
    }

    /// Commits, and only then updates the memory and publishes the changes.
    pub(crate) fn commit(&mut self, open: &mut OpenTransaction) -> Result<(), IndexError> {
        if open.since.is_none() {
            return Ok(());
        }
        let touched = std::mem::take(&mut self.writer.touched);
        let settled = repeats::settle(&self.writer.sql, touched, repeats::MOST)?;
        let kept = OpenTransaction {
            are_claims: open.are_claims,
            is_fresh: open.is_fresh,
            ..OpenTransaction::default()
        };
        let OpenTransaction { written, units, origins, .. } = std::mem::replace(open, kept);
        let visible = written.iter().filter(|w| w.visible).map(|w| w.key.clone());
        let visible: Vec<String> = visible.chain(origins).chain(settled).collect();
        let generation = finish(&mut self.writer, !visible.is_empty())?;
        for write in &written {
            write.before.into_iter().for_each(|row| self.tally.add(row, -1));
            write.after.into_iter().for_each(|row| self.tally.add(row, 1));
        }
        let wrong = written.iter().filter_map(|w| Some((w.key.clone(), w.wrong_claim.clone()?)));
        self.note_wrong_claims(wrong.collect());
        let count = units.len() as u64;
        for Entered { unit, marks, again_ns } in units {
            if let Some(at) = again_ns {
                let wait = u64::try_from(at.saturating_sub(clock::now_ns())).unwrap_or(0);
                let files = marks.iter().map(|(file, _)| file.clone());
                self.again
                    .entry(Instant::now() + Duration::from_nanos(wait))
                    .or_default()
                    .extend(files);
            }
            remember(&mut self.known, &unit, marks);
        }
        self.tell(generation, visible, count);
        Ok(())
    }

    /// Keeps which claims of segments the files did not agree with.
    fn note_wrong_claims(&self, wrong: Vec<(String, String)>) {
        for (key, what) in wrong {
            tracing::warn!(key, what, "a segment claims otherwise than the files");
            let path = load::path_of(&self.writer.sql, &key).unwrap_or(key);
            self.shared.live.change(|standing| standing.segments.note_wrong(path, what));
        }
    }

    pub(crate) fn tell(&mut self, generation: u64, ids: Vec<String>, count: u64) {
        let (tally, waiting) = (self.tally, self.backlog.len() as u64);
        self.shared.live.change(|standing| {
            standing.generation = generation;
            tally.fill(&mut standing.counts);
            standing.search = tally.search();
            if let Phase::Indexing { done, total } = &mut standing.phase {
                *done += count;
                *total = (*total).max(*done + waiting);
            }
        });
        if !ids.is_empty() {
            let ids = if ids.len() > MOST_TOLD { Vec::new() } else { ids };
            (self.publish)(Change::Runs { generation, ids });
        }
        self.tell_status();
    }

    /// Ends the initial load when no work is left.
    fn settle_phase(&mut self) {
        if self.unlisted || !matches!(self.shared.live.now().phase, Phase::Indexing { .. }) {
            return;
        }
        let (opened, tally) = (self.opened, self.tally);
        let files = self.known.len() as u64;
        self.shared.live.change(|standing| {
            standing.phase = Phase::Ready;
            tally.fill(&mut standing.counts);
            standing.search = tally.search();
            standing.took.index.get_or_insert_with(|| opened.elapsed());
            standing.took.files = files;
            if tally.is_searchable() {
                standing.took.search.get_or_insert_with(|| opened.elapsed());
            }
        });
        self.tell_status();
    }

    /// Handles the steps that concern suites at once (there are few) and returns the others.
    pub(crate) fn shelve(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let rest = steps.into_iter().filter_map(|step| match step {
            Step::Read(unit) if unit.id.file.root == Root::Input => {
                self.read_suite(&unit);
                None
            }
            Step::Forget(id) if id.file.root == Root::Input => {
                self.known.remove(&id.file);
                self.forget_suite(&id.file);
                None
            }
            other => Some(other),
        });
        let rest = rest.collect();
        self.read_left_out();
        rest
    }

    /// Schedules suites that were left out for lack of space to be read again, if there is space
    /// now.
    fn read_left_out(&mut self) {
        let files = self.shelving.take_left_out();
        if files.is_empty() {
            return;
        }
        for file in &files {
            self.known.remove(file);
        }
        self.again.entry(Instant::now()).or_default().extend(files);
    }

    fn read_suite(&mut self, unit: &Unit) {
        let Shared { roots, limits, .. } = &self.shared;
        let file = &unit.id.file;
        if is_prompt_like(file) {
            let reason = "It looks like the prompt of a task and is not read: a folder of loose prompts has `promptql_prompt.txt` or \
                          `other_models_prompt.txt`. Rename it, or write a YAML suite with the prompt.";
            return self.pass_over(unit, Some(reason.to_owned()));
        }
        if is_query_name(file) && !layouts::is_query_set(roots, file) {
            let reason = layouts::task_key(roots, file).map(|key| {
                format!(
                    "It looks like a task (it has the key `{key}`) and is not read: a task is a YAML file, and a JSON file holds a \
                     list of queries. Write it as a YAML suite."
                )
            });
            return self.pass_over(unit, reason);
        }
        let odd: Option<&Found> = unit.files.values().find(|found| found.odd.is_some());
        let mark = match (odd, open::read(roots, file, limits.suite_bytes)) {
            (Some(found), _) => {
                self.shelving.refuse(roots, file, found.odd.as_deref().unwrap_or_default());
                Mark { stamp: found.stamp, settled: true, odd: true }
            }
            (None, Ok((text, stamp))) => {
                if is_prompt_name(file) {
                    read_prompts(roots, limits, file, &mut self.shelving);
                } else {
                    self.shelving.put(roots, file, &text);
                }
                Mark {
                    stamp,
                    settled: super::parse_unit::is_settled(stamp, clock::now_ns()),
                    odd: false,
                }
            }
            (None, Err(open::Refused::Gone)) => {
                self.known.remove(file);
                return self.forget_suite(&unit.id.file);
            }
            (None, Err(refused)) => {
                self.shelving.refuse(roots, file, &format!("It could not be read: {refused}."));
                let stamp = unit.files.get(file).map(|found| found.stamp).unwrap_or_default();
                Mark { stamp, settled: true, odd: false }
            }
        };
        self.known.insert(file.clone(), mark);
    }

    /// Records a file that is not a suite, so that it is not read again. `reason` is set when it
    /// looks like a suite.
    fn pass_over(&mut self, unit: &Unit, reason: Option<String>) {
        match reason {
            None => self.shelving.remove(&unit.id.file),
            Some(reason) => {
                self.shelving.pass_over(&self.shared.roots, &unit.id.file, false, reason);
            }
        }
        for (file, found) in unit.files.iter() {
            let settled = super::parse_unit::is_settled(found.stamp, clock::now_ns());
            self.known.insert(file.clone(), Mark { stamp: found.stamp, settled, odd: false });
        }
    }

    fn forget_suite(&mut self, file: &FileId) {
        if is_prompt_name(file) {
            read_prompts(&self.shared.roots, &self.shared.limits, file, &mut self.shelving);
        } else {
            self.shelving.remove(file);
        }
    }

    fn chore(&mut self) -> Result<(), IndexError> {
        let inbox = &self.shared.inbox;
        let Some(done) = self.chores.step(&mut self.writer, &|| inbox.is_pressing())? else {
            return Ok(());
        };
        if let background_tasks::Done::Words { finished, all } = done {
            self.tally.finish(finished);
            let (tally, opened) = (self.tally, self.opened);
            self.shared.live.change(|standing| {
                standing.search = tally.search();
                if all {
                    standing.took.search.get_or_insert_with(|| opened.elapsed());
                }
            });
            self.tell_status();
        }
        Ok(())
    }
}

/// Ends the transaction: flushes the text first, then commits the rows that refer to it. Returns
/// the generation.
pub(crate) fn finish(writer: &mut Writer, visible: bool) -> Result<u64, IndexError> {
    writer.blob.flush()?;
    load::put_meta(&writer.sql, "blob_len", writer.blob.len().cast_signed())?;
    put_sums(&writer.sql, &writer.blob)?;
    writer
        .sql
        .prepare_cached("UPDATE meta SET value = value + ? WHERE key = 'generation'")?
        .execute([i64::from(visible)])?;
    let generation = load::generation(&writer.sql)?;
    writer.sql.execute_batch("COMMIT")?;
    writer.blob.mark_saved();
    Ok(generation)
}

/// Reads the folder of loose prompts that a file belongs to.
fn read_prompts(roots: &Roots, limits: &Limits, file: &FileId, shelving: &mut SuiteLoader) {
    let folder = FileId::new(file.root, file.parent());
    let read = PROMPT_NAMES.iter().filter_map(|name| {
        let (bytes, _) =
            open::read(roots, &folder.join(OsStr::new(name)), limits.suite_bytes).ok()?;
        Some((*name, String::from_utf8_lossy(&bytes).into_owned()))
    });
    let read: Vec<_> = read.collect();
    let files: Vec<_> = read.iter().map(|(name, text)| (*name, text.as_str())).collect();
    shelving.put_folder(roots, &folder, &files);
}

/// Replaces the recorded marks of a unit.
pub(crate) fn remember(known: &mut KnownFiles, unit: &UnitId, marks: Vec<(FileId, Mark)>) {
    for (file, _) in members(known, unit) {
        known.remove(&file);
    }
    known.extend(marks.into_iter().collect::<BTreeMap<_, _>>());
}
