//! Segments of the open folder: written by parts of a launch while they run, and by hand.
use super::FolderActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::sensitive::scan_care::is_sensitive_run;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use touchstone_clock as clock;
use touchstone_runner::event::{RunEvent, RunEventKind};
use touchstone_runner::launch::Listener;
use touchstone_runner::lock::host;
use touchstone_runner::{disk::DiskError, segment_files};
use touchstone_store::sealing::{Sealed, ToSeal};
use touchstone_store::segments::{RunRecord, SegmentStatus, segment_name};

/// Interval at which a part writes what it finished.
const BETWEEN: Duration = Duration::from_mins(3);
/// Number of finished runs after which it does not wait for that.
const MANY: usize = 5_000;
/// Time after which the stamp of a file that was just written is certain.
const SETTLE: Duration = Duration::from_millis(80);

/// What was written by hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenSegments {
    /// What was read and written.
    pub sealed: Sealed,
    /// Names of the new segments.
    pub names: Vec<String>,
    /// Number of small segments that were made one.
    pub compacted: u64,
}

impl FolderActions<'_> {
    /// Writes segments for all runs of the open folder that no segment claims, and makes many small
    /// ones one. `progress` is told how many of how many files are read.
    pub fn write_segments(
        self,
        is_stopped: &(dyn Fn() -> bool + Sync),
        progress: &dyn Fn(u64, u64),
    ) -> Result<WrittenSegments, AppError> {
        let mut written = self.write_unclaimed(is_stopped, progress)?;
        let open = self.app.require_folder()?;
        let names = &mut written.names;
        let dir = &open.flow.roots.output_dir;
        while !is_stopped() {
            let made = open.flow.compact_segments().map_err(|why| failed(&why))?;
            let Some(made) = made else { break };
            // The claims are safe under another name before the old ones go.
            if made.runs > 0 {
                names.push(segment_files::add(dir, &namer(0), &made.bytes).map_err(unwritten)?);
            }
            segment_files::remove(dir, &made.sources).map_err(unwritten)?;
            names.retain(|name| !made.sources.contains(name));
            written.compacted += made.sources.len() as u64;
        }
        Ok(written)
    }

    /// Writes segments for all runs of the open folder that no segment claims.
    pub fn write_unclaimed(
        self,
        is_stopped: &(dyn Fn() -> bool + Sync),
        progress: &dyn Fn(u64, u64),
    ) -> Result<WrittenSegments, AppError> {
        let open = self.app.require_folder()?;
        open.check_directories_exist()?;
        let mut names = Vec::new();
        let sealed = seal(&open, 0, &ToSeal::Unclaimed, (is_stopped, progress), &mut names)?;
        Ok(WrittenSegments { sealed, names, compacted: 0 })
    }

    /// Returns what the open folder took from segments.
    pub fn segment_status(self) -> Result<SegmentStatus, AppError> {
        Ok(self.app.require_folder()?.flow.live.now().segments)
    }
}

fn namer(shard: u32) -> impl Fn(u32) -> String {
    let (now_ms, host) = (clock::now_ms(), host());
    move |number| segment_name(now_ms, &host, shard, number)
}

fn seal(
    open: &OpenFolder,
    shard: u32,
    what: &ToSeal,
    watching: (&(dyn Fn() -> bool + Sync), &dyn Fn(u64, u64)),
    names: &mut Vec<String>,
) -> Result<Sealed, AppError> {
    let dir = &open.flow.roots.output_dir;
    let mut unkept = None;
    let mut keep = |bytes: Vec<u8>| {
        let added = segment_files::add(dir, &namer(shard), &bytes);
        added.map(|name| names.push(name)).map_err(|why| {
            let error = std::io::Error::other(why.to_string());
            unkept = Some(why);
            error
        })
    };
    // If it is not known which runs are sensitive, no reason is written.
    let sensitive = open.sensitive_kinds().ok();
    let is_sensitive = |run: &RunRecord| {
        sensitive.as_ref().is_none_or(|sensitive| {
            is_sensitive_run(sensitive, run.task.as_deref(), Some(&run.layout))
        })
    };
    let sealed = open.flow.seal((what, &is_sensitive), watching, &mut keep);
    if let Some(why) = unkept {
        return Err(unwritten(why));
    }
    if let Err(why) = segment_files::clear_left_over(dir) {
        tracing::debug!(%why, "what is left over of segments was not removed");
    }
    sealed.map_err(|why| failed(&why))
}

fn failed(why: &std::io::Error) -> AppError {
    AppError::new(Code::Failed, format!("The segments could not be written: {why}."))
        .hint("The results are not changed. Check the output directory, and try again.")
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped")]
fn unwritten(why: DiskError) -> AppError {
    AppError::new(Code::Failed, format!("The segments could not be written: {why}"))
        .hint("The results are not changed. Free some space, and try again.")
}

/// Writes what a part of a launch finished, every few minutes and at its end, on a thread of its own:
/// its log and its sign of life never wait for a slow disk. The runs do not depend on it: if it cannot
/// write, whoever opens the folder reads the files.
pub(crate) fn listener(open: Arc<OpenFolder>, shard: u32) -> Listener {
    let mut sealer = Sealer::start(open, shard);
    Box::new(move |events: &[RunEvent]| {
        for event in events {
            match (&event.what, &event.run) {
                (RunEventKind::Ended { .. }, Some(run)) => {
                    if let Some(sealer) = &sealer {
                        sealer.ended(run);
                    }
                }
                // The launch is over once the last segment is written.
                (RunEventKind::Finished, _) => drop(sealer.take()),
                _ => {}
            }
        }
    })
}

/// Thread that writes what ended. Dropping it waits for the last segment.
struct Sealer {
    ended: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Sealer {
    fn start(open: Arc<OpenFolder>, shard: u32) -> Option<Self> {
        let (ended, runs) = channel();
        let seal = move || seal_ended(&open, shard, &runs);
        let thread = std::thread::Builder::new().name("segments".to_owned()).spawn(seal);
        let thread = thread.map_err(|why| tracing::warn!(%why, "no segments are written")).ok()?;
        Some(Self { ended: Some(ended), thread: Some(thread) })
    }

    fn ended(&self, run: &str) {
        if let Some(ended) = &self.ended {
            // The thread is gone only if it crashed: then the files are read.
            let _ = ended.send(run.to_owned());
        }
    }
}

impl Drop for Sealer {
    fn drop(&mut self) {
        drop(self.ended.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("writing segments crashed");
        }
    }
}

fn seal_ended(open: &OpenFolder, shard: u32, runs: &Receiver<String>) {
    let (mut waiting, mut last, mut most) = (Vec::new(), Instant::now(), MANY);
    loop {
        let is_over = match runs.recv_timeout(BETWEEN.saturating_sub(last.elapsed())) {
            Ok(run) => {
                waiting.push(run);
                false
            }
            Err(error) => error == RecvTimeoutError::Disconnected,
        };
        if !is_over && waiting.len() < most && last.elapsed() < BETWEEN {
            continue;
        }
        if !waiting.is_empty() {
            std::thread::sleep(SETTLE);
            let what = ToSeal::Files(std::mem::take(&mut waiting));
            let sealed = seal(open, shard, &what, (&|| false, &|_, _| {}), &mut Vec::new());
            most = MANY;
            if let (Err(error), ToSeal::Files(unwritten)) = (sealed, what) {
                tracing::warn!(%error, "a segment was not written");
                // They are written with the next ones.
                most += unwritten.len();
                waiting = unwritten;
            }
        }
        if is_over {
            return;
        }
        last = Instant::now();
    }
}
