//! The indexer's use of segments: rows of files that segments claim are there at once, and the
//! files stay in the backlog to be read.
use crate::claims::{self, index_version, is_claimed};
use crate::index::IndexError;
use crate::index_writer::OpenTransaction;
use crate::indexer::Indexer;
use crate::parse_unit::ParsedUnit;
use crate::reconcile::{KnownFiles, Mark, Unit, members, unit_of};
use crate::record::{self, Placed};
use crate::roots::{FileId, Roots};
use crate::segments::{Claim, RefusedSegment, each_segment, read_claims, segments};
use crate::suites::Tasks;
use crate::unit_id::UnitId;
use std::collections::HashSet;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Number of claims that are passed on, and of those that wait.
const BATCH: usize = 128;
const WAITING: usize = 16;
/// Bytes of claims after which they are passed on, if they are long.
const BATCH_BYTES: usize = 4 << 20;
/// Number of rows after which they are committed.
const COMMIT: usize = 4_000;
type Marks = Vec<(FileId, Mark)>;
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
        let backlog = std::mem::take(&mut self.backlog);
        let known = std::mem::take(&mut self.known);
        let mut taken_segments = std::mem::take(&mut self.taken_segments);
        let (mut open, mut entered) = (OpenTransaction::for_claims(is_fresh), Vec::new());
        let wanted = |unit: &UnitId| backlog.get(unit).filter(|unit| !is_known(&known, unit));
        let is_stopped = || shared.inbox.is_stopping();
        let reader = ClaimReader {
            roots: &shared.roots,
            tasks: &tasks,
            wanted: &wanted,
            is_stopped: &is_stopped,
        };
        let outcome = std::thread::scope(|threads| {
            let (send, receive) = sync_channel(WAITING);
            let seen = &mut taken_segments;
            let reading = threads.spawn(move || reader.read(seen, &send));
            let mut result = Ok(());
            for taken in receive {
                if result.is_ok() {
                    result = self.put_claims(taken, &mut open, &mut entered);
                }
                if result.is_err() {
                    break;
                }
            }
            let refused = reading.join().unwrap_or_default();
            (result, refused)
        });
        (self.backlog, self.known, self.taken_segments) = (backlog, known, taken_segments);
        let (mut result, refused) = outcome;
        if result.is_ok() {
            result = self.commit(&mut open);
        }
        if result.is_err() && !self.writer.sql.is_autocommit() {
            self.writer.sql.execute_batch("ROLLBACK")?;
        }
        let claimed = entered.len() as u64;
        for (unit, mut marks) in entered {
            if shared.limits.trust_claims {
                self.backlog.remove(&unit);
                for (_, mark) in &mut marks {
                    mark.settled = true;
                }
            }
            self.known.extend(marks);
        }
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

    fn put_claims(
        &mut self,
        taken: Taken,
        open: &mut OpenTransaction,
        entered: &mut Vec<(UnitId, Marks)>,
    ) -> Result<(), IndexError> {
        for (parsed, placed) in taken {
            entered.push((parsed.unit.clone(), parsed.marks.clone()));
            if open.is_fresh {
                self.add_claim(&parsed, placed, open)?;
            } else {
                self.put(parsed, placed, open)?;
            }
        }
        if open.len() >= COMMIT { self.commit(open) } else { Ok(()) }
    }
}

/// Returns true if a file of a unit was read before: then its row is better than a claim.
fn is_known(known: &KnownFiles, unit: &Unit) -> bool {
    unit.files.keys().any(|file| known.contains_key(file))
}

/// Reads segments, the newest first, and prepares rows.
struct ClaimReader<'a> {
    roots: &'a Roots,
    tasks: &'a Tasks,
    wanted: &'a (dyn Fn(&UnitId) -> Option<&'a Unit> + Sync),
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl ClaimReader<'_> {
    /// Passes rows on in batches. Returns the segments that are not as expected.
    fn read(&self, seen: &mut HashSet<String>, send: &SyncSender<Taken>) -> Vec<RefusedSegment> {
        let (mut done, mut refused) = (HashSet::new(), Vec::new());
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
                    self.pass(&mut batch, send)
                })
            });
            if let Err(why) = read {
                refused.push(RefusedSegment { name, why });
            }
            !(self.is_stopped)()
        });
        self.pass(&mut batch, send);
        refused
    }

    /// Returns false if nothing more is wanted.
    fn pass(&self, batch: &mut Taken, send: &SyncSender<Taken>) -> bool {
        let full = std::mem::replace(batch, Vec::with_capacity(BATCH));
        send.send(full).is_ok() && !(self.is_stopped)()
    }

    fn row(&self, claim: &Claim, done: &mut HashSet<i64>) -> Option<(ParsedUnit, Vec<Placed>)> {
        if claim.version != index_version() {
            return None;
        }
        let id = claims::unit(&claim.files)?;
        let unit = (self.wanted)(&id).filter(|unit| is_claimed(&claim.files, unit))?;
        if done.contains(&id.number()) {
            return None;
        }
        let stamps = unit.files.iter().map(|(file, found)| (file.clone(), found.stamp));
        let mut parsed = claims::read(claim.index_row.data(), id, stamps)?;
        done.insert(parsed.unit.number());
        let placed = record::place_rows(&mut parsed, self.tasks, &self.roots.models);
        Some((parsed, placed))
    }
}
