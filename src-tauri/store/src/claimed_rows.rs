//! The indexer's use of segments: rows of files that segments claim are there at once, and the
//! files stay in the backlog to be read.
use crate::bulk_load::BulkLoad;
use crate::claims::{self, index_version, is_claimed};
use crate::index::IndexError;
use crate::index_writer::OpenTransaction;
use crate::indexer::Indexer;
use crate::parse_unit::ParsedUnit;
use crate::reconcile::{KnownFiles, Mark, Step, Unit, members, unit_of};
use crate::record::{self, Placed};
use crate::roots::{FileId, Roots};
use crate::scan::Found;
use crate::segments::{Claim, RefusedSegment, each_segment, read_claims, segments};
use crate::state_counts::StateCounts;
use crate::suites::Tasks;
use crate::unit_files::UnitFiles;
use crate::unit_id::UnitId;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Number of claims that are passed on, and of those that wait.
const BATCH: usize = 128;
const WAITING: usize = 16;
/// Bytes of claims after which they are passed on, if they are long.
const BATCH_BYTES: usize = 4 << 20;
/// Number of the first rows after which they are committed, and time after which further ones are.
const COMMIT: usize = 4_000;
const COMMIT_AFTER: Duration = Duration::from_secs(1);
type Passing<'p> = (&'p SyncSender<Taken>, &'p Receiver<Taken>);
type Taken = Vec<(ParsedUnit, Vec<Placed>)>;

impl Indexer {
    /// Takes the rows of waiting files that segments claim. An error of the index is handled like
    /// one of reading.
    pub(crate) fn take_claims(&mut self) {
        if let Err(error) = self.try_take_claims() {
            self.recover(&error);
        }
    }

    fn try_take_claims(&mut self) -> Result<(), IndexError> {
        let shared = self.shared.clone();
        let names = if self.backlog.is_empty() { Vec::new() } else { segments(&shared.roots) };
        // What an earlier one says of files that came since is read from them.
        if names.iter().all(|name| self.taken_segments.contains(name)) {
            return Ok(());
        }
        self.publish_tasks()?;
        let tasks = self.shelving.tasks();
        let is_fresh = self.is_empty();
        let bulk = if is_fresh { Some(BulkLoad::begin(&self.writer.sql)?) } else { None };
        let backlog = std::mem::take(&mut self.backlog);
        let known = std::mem::take(&mut self.known);
        let mut taken_segments = std::mem::take(&mut self.taken_segments);
        let mut entering = Entering { open: OpenTransaction::for_claims(is_fresh), bulk };
        let wanted = |unit: &UnitId| backlog.get(unit).filter(|files| !is_known(&known, files));
        let is_stopped = || shared.inbox.is_stopping();
        let reader = ClaimReader {
            roots: &shared.roots,
            tasks: &tasks,
            wanted: &wanted,
            is_stopped: &is_stopped,
        };
        let (result, Passed { refused, units }) =
            self.enter_claims(&reader, &mut taken_segments, &mut entering);
        (self.backlog, self.known, self.taken_segments) = (backlog, known, taken_segments);
        let is_open = result.is_err() && !self.writer.sql.is_autocommit();
        let undone = if is_open { self.writer.sql.execute_batch("ROLLBACK") } else { Ok(()) };
        // Files of these units are known from here on, and wait last to be read.
        let marks = self.backlog.claim(&units, shared.limits.trust_claims);
        self.known.append(&mut marks.into_iter().collect());
        let claimed = units.len() as u64;
        // Who closes the folder does not wait: the index is made anew when it is opened again.
        if let Some(bulk) = entering.bulk.filter(|_| !is_stopped()) {
            self.end_loading(bulk)?;
        }
        undone?;
        tracing::info!(claimed, "took rows from segments");
        self.shared.live.change(|standing| {
            standing.segments.claimed += claimed;
            for refused in refused {
                standing.segments.refuse(refused);
            }
        });
        self.tell_status();
        result
    }

    /// Enters rows while further ones are read. Returns what was read, too.
    fn enter_claims(
        &mut self,
        reader: &ClaimReader<'_>,
        seen: &mut HashSet<String>,
        entering: &mut Entering,
    ) -> (Result<(), IndexError>, Passed) {
        std::thread::scope(|threads| {
            let (send, receive) = sync_channel(WAITING);
            let (give_back, used) = channel();
            let reading = threads.spawn(move || reader.read(seen, (&send, &used)));
            // After an error the reader finds that nothing more is wanted.
            let entered = receive
                .into_iter()
                .try_for_each(|taken| self.put_claims(taken, entering, &give_back));
            let entered = entered.and_then(|()| self.commit_claims(entering));
            (entered, reading.join().unwrap_or_default())
        })
    }

    /// Marks files as not read whose claims were trusted. Returns all files of their units.
    pub(crate) fn unsettle_claims(&mut self, files: &[FileId]) -> Vec<FileId> {
        let mut unread = Vec::new();
        for file in files {
            for unit in [unit_of(file, false), UnitId { file: file.clone(), group: true }] {
                for (file, mark) in members(&self.known, &unit) {
                    self.known.insert(file.clone(), Mark { settled: false, ..mark });
                    unread.push(file);
                }
            }
        }
        unread
    }

    /// Makes the index whole, or has it made anew.
    fn end_loading(&self, bulk: BulkLoad) -> Result<(), IndexError> {
        bulk.end(&self.writer.sql).map_err(|error| {
            tracing::warn!(%error, "loading could not be ended");
            IndexError::Gone
        })
    }

    /// Returns true for a unit that waits as it is claimed, and whose files are as they were then.
    pub(crate) fn waits_unchanged(&self, step: &Step) -> bool {
        let Step::Read(unit) = step else { return false };
        self.backlog.is_claimed(&unit.id)
            && members(&self.known, &unit.id).len() == unit.files.len()
            && unit.files.iter().all(|(file, found)| {
                self.known
                    .get(file)
                    .is_some_and(|mark| mark.stamp == found.stamp && found.odd.is_none())
            })
    }

    /// Returns the next units to be read: those that segments claim last.
    pub(crate) fn next_units(&mut self, (live, rest): (usize, usize)) -> Vec<Unit> {
        let mut units = self.backlog.next(live, rest);
        let is_only_claims = units.is_empty();
        while is_only_claims
            && units.len() < rest
            && let Some(id) = self.backlog.next_claimed()
        {
            let known = members(&self.known, &id);
            // It may have been read meanwhile, because it changed or was opened.
            if known.iter().any(|(_, mark)| !mark.settled) {
                let files = known
                    .into_iter()
                    .map(|(file, mark)| (file, Found { stamp: mark.stamp, odd: None }));
                units.push(Unit { id, files: files.collect() });
            }
        }
        units
    }

    fn put_claims(
        &mut self,
        mut taken: Taken,
        entering: &mut Entering,
        give_back: &Sender<Taken>,
    ) -> Result<(), IndexError> {
        let open = &mut entering.open;
        if open.is_fresh {
            self.add_claims(&mut taken, open)?;
            // The reader may have ended.
            let _ = give_back.send(taken);
        } else {
            for (parsed, placed) in taken {
                self.put(parsed, placed, open)?;
            }
        }
        let is_first = self.tally == StateCounts::default();
        let is_due = if is_first { open.len() >= COMMIT } else { open.is_older_than(COMMIT_AFTER) };
        if is_due { self.commit_claims(entering) } else { Ok(()) }
    }

    fn commit_claims(&mut self, entering: &mut Entering) -> Result<(), IndexError> {
        if let Some(bulk) = &mut entering.bulk
            && entering.open.len() > 0
        {
            bulk.note(&self.writer.sql)?;
        }
        self.commit(&mut entering.open)
    }
}

/// Claims that are being entered.
struct Entering {
    open: OpenTransaction,
    /// Set if the index was empty.
    bulk: Option<BulkLoad>,
}

/// What was read of segments.
#[derive(Default)]
struct Passed {
    /// Segments that are not as expected.
    refused: Vec<RefusedSegment>,
    /// Numbers of the units whose rows were passed on.
    units: HashSet<i64>,
}

/// Returns true if a file of a unit was read before: then its row is better than a claim.
fn is_known(known: &KnownFiles, files: &UnitFiles) -> bool {
    files.keys().any(|file| known.contains_key(file))
}

/// Reads segments, the newest first, and prepares rows.
struct ClaimReader<'a> {
    roots: &'a Roots,
    tasks: &'a Tasks,
    wanted: &'a (dyn Fn(&UnitId) -> Option<&'a UnitFiles> + Sync),
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl ClaimReader<'_> {
    /// Passes rows on in batches, and frees those that were entered: two threads that free what the
    /// other one allocated wait for each other.
    fn read(&self, seen: &mut HashSet<String>, passing: Passing<'_>) -> Passed {
        let Passed { mut refused, units: mut done } = Passed::default();
        let (mut batch, mut bytes) = (Vec::with_capacity(BATCH), 0);
        each_segment(self.roots, seen, &mut |name, file| {
            let read = file.and_then(|file| {
                read_claims(file, true, &mut |claim| {
                    if let Some(row) = self.row(&claim, &mut done) {
                        bytes += claim.index_row.len();
                        batch.push(row);
                    }
                    if batch.len() < BATCH && bytes < BATCH_BYTES {
                        return true;
                    }
                    bytes = 0;
                    self.pass(&mut batch, passing)
                })
            });
            if let Err(why) = read {
                refused.push(RefusedSegment { name, why });
            }
            !(self.is_stopped)()
        });
        self.pass(&mut batch, passing);
        Passed { refused, units: done }
    }

    /// Returns false if nothing more is wanted.
    fn pass(&self, batch: &mut Taken, (send, used): Passing<'_>) -> bool {
        used.try_iter().for_each(drop);
        let full = std::mem::replace(batch, Vec::with_capacity(BATCH));
        send.send(full).is_ok() && !(self.is_stopped)()
    }

    fn row(&self, claim: &Claim, done: &mut HashSet<i64>) -> Option<(ParsedUnit, Vec<Placed>)> {
        if claim.version != index_version() {
            return None;
        }
        let id = claims::unit(&claim.files)?;
        let files = (self.wanted)(&id).filter(|files| is_claimed(&claim.files, files))?;
        if done.contains(&id.number()) {
            return None;
        }
        let stamps = files.iter().map(|(file, found)| (file.clone(), found.stamp));
        let mut parsed = claims::read(claim.index_row.data(), id, stamps)?;
        done.insert(parsed.unit.number());
        let placed = record::place_rows(&mut parsed, self.tasks, &self.roots.models);
        Some((parsed, placed))
    }
}
