//! Parses many units with two threads, scores their runs, and passes each on as soon as it is
//! ready. Owns the limits on waiting units and on bytes in memory.
use super::imports;
use super::inbox::Inbox;
use super::index::Index;
use super::limits::Limits;
use super::parse_unit::{self, ParsedUnit};
use super::reconcile::Unit;
use super::record::{self, Placed};
use super::roots::Roots;
use super::suites::Tasks;
use super::unit_id::UnitId;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use touchstone_formats::workspace::renames::Renames;

/// Below this number of units and of file bytes, threads are not worthwhile.
const FEW: usize = 8;
const FEW_BYTES: u64 = 256 << 10;
/// Number of threads that read and parse.
const READERS: usize = 2;
/// Maximum number of parsed units that wait to be written.
const WAITING: usize = 64;
/// Maximum number of file bytes in memory. A larger file is processed alone.
const BYTES: u64 = 32 << 20;
/// Thread stack size. The parsers recurse into nested data.
pub(crate) const STACK: usize = 8 << 20;

/// Context for parsing.
pub(crate) struct ParseContext<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) limits: &'a Limits,
    pub(crate) inbox: &'a Inbox,
    pub(crate) index: &'a Index,
    pub(crate) tasks: &'a Tasks,
    pub(crate) renames: &'a Renames,
}

impl ParseContext<'_> {
    /// Parses a unit and passes it to `give` in one or more parts, until `give` returns false.
    fn look(&self, unit: Unit, give: &mut dyn FnMut(ParsedUnit, Vec<Placed>) -> bool) {
        let known = |unit: &UnitId| {
            let reader = self.index.reader();
            let known = reader.and_then(|reader| imports::known_fingerprints(&reader, unit));
            // Without them, all runs are read.
            known.unwrap_or_default()
        };
        parse_unit::look(self.roots, self.limits, unit, &known, &mut |mut looked| {
            imports::rename(&mut looked, self.renames);
            let placed = record::place_rows(&mut looked, self.tasks, &self.roots.models);
            !self.inbox.is_stopping() && give(looked, placed)
        });
    }
}

/// Parses all units. Stops early when the folder is being closed or the receiver fails.
pub(crate) fn look_at<E>(
    eyes: &ParseContext<'_>,
    units: Vec<Unit>,
    mut take: impl FnMut(ParsedUnit, Vec<Placed>) -> Result<(), E>,
) -> Result<(), E> {
    let bytes = |unit: &Unit| unit.files.values().map(|found| found.stamp.size).sum::<u64>();
    if units.len() < FEW && units.iter().map(bytes).sum::<u64>() < FEW_BYTES {
        return units.into_iter().try_for_each(|unit| {
            let mut result = Ok(());
            eyes.look(unit, &mut |looked, placed| {
                result = take(looked, placed);
                result.is_ok()
            });
            result
        });
    }
    let (queue, budget) = (&Mutex::new(units.into_iter()), &Budget::default());
    std::thread::scope(|threads| {
        let (send, receive) = sync_channel(WAITING);
        for _ in 0..READERS {
            let send = send.clone();
            let work = move || read(eyes, queue, budget, &send);
            // Without a second thread, the first does all the work. Without any, the remaining
            // units are read after the next rescan.
            if let Err(error) = std::thread::Builder::new()
                .name("reader".into())
                .stack_size(STACK)
                .spawn_scoped(threads, work)
            {
                tracing::warn!(%error, "a thread for reading could not be started");
            }
        }
        drop(send);
        let mut result = Ok(());
        for ((looked, placed), bytes) in receive {
            if result.is_ok() {
                result = take(looked, placed);
            }
            if result.is_err() {
                lock(queue).by_ref().for_each(drop);
            }
            budget.give_back(bytes);
        }
        result
    })
}

type Seen = ((ParsedUnit, Vec<Placed>), u64);

fn read(
    eyes: &ParseContext<'_>,
    queue: &Mutex<std::vec::IntoIter<Unit>>,
    budget: &Budget,
    send: &SyncSender<Seen>,
) {
    loop {
        let Some(unit) = lock(queue).next() else { return };
        if eyes.inbox.is_stopping() {
            return;
        }
        let bytes =
            unit.files.values().map(|found| found.stamp.size.min(eyes.limits.file_bytes)).sum();
        budget.take(bytes);
        let mut held = bytes;
        let mut heard = true;
        eyes.look(unit, &mut |looked, placed| {
            // The bytes of a unit are released with its last part.
            let freed = if looked.is_last() { std::mem::take(&mut held) } else { 0 };
            heard = send.send(((looked, placed), freed)).is_ok();
            heard
        });
        budget.give_back(held);
        if !heard {
            return;
        }
    }
}

/// Limit on the bytes in memory.
#[derive(Default)]
struct Budget {
    held: Mutex<u64>,
    freed: Condvar,
}

impl Budget {
    fn take(&self, bytes: u64) {
        let mut held = lock(&self.held);
        while *held > 0 && *held + bytes > BYTES {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        *held += bytes;
    }

    fn give_back(&self, bytes: u64) {
        *lock(&self.held) -= bytes;
        self.freed.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
