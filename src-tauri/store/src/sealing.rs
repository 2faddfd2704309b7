//! Makes segments: reads files that no segment claims yet, and writes what was read.
use crate::claims::{self, index_version, is_claimed};
use crate::folder_index::FolderIndex;
use crate::parse_unit;
use crate::reconcile::{KnownFiles, Relations, Step, Unit, reconcile};
use crate::record;
use crate::roots::{FileId, Root};
use crate::scan;
use crate::segments::{
    GROUP, MOST_INDEX_ROW, RefusedSegment, RunRecord, SegmentRow, each_segment, put_segment,
    read_claims, schema, start,
};
use crate::suites::Tasks;
use parquet::file::writer::SerializedFileWriter;
use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};

/// Number of rows of a segment.
const SEGMENT: usize = 200_000;
/// Bytes of rows that are in memory at the same time.
const GROUP_BYTES: usize = 32 << 20;
/// Number of threads that read.
const READERS: usize = 2;
/// Number of rows that wait to be written.
const WAITING: usize = 256;
/// Thread stack size, as for indexing.
const STACK: usize = 8 << 20;

/// Which files segments are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToSeal {
    /// All of the folder that no segment claims.
    Unclaimed,
    /// These files, by their paths below the output directory.
    Files(Vec<String>),
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Number of runs that were written.
    pub written: u64,
    /// Number of runs that a segment claimed already.
    pub known: u64,
    /// Files that are no single run or changed just now: they are read by whoever opens the folder.
    pub left_out: u64,
    /// Bytes of the segments.
    pub bytes: u64,
    /// Segments that are not as expected.
    pub refused: Vec<RefusedSegment>,
}

/// Takes the bytes of a segment; fails if they could not be kept.
pub type Keep<'a> = dyn FnMut(Vec<u8>) -> std::io::Result<()> + 'a;

/// Returns true for a run whose reasons are left out.
pub type IsSensitive<'a> = dyn Fn(&RunRecord) -> bool + Sync + 'a;

impl FolderIndex {
    /// Makes segments and passes each to `keep`, until `is_stopped` returns true. The tasks have to be
    /// read. `progress` is told how many of how many files are done.
    pub fn seal(
        &self,
        (what, is_sensitive): (&ToSeal, &IsSensitive<'_>),
        (is_stopped, progress): (&(dyn Fn() -> bool + Sync), &dyn Fn(u64, u64)),
        keep: &mut Keep<'_>,
    ) -> std::io::Result<Sealed> {
        let mut sealed = Sealed::default();
        let units = self.units_to_seal(what, &mut sealed)?;
        let total = units.len() as u64;
        let tasks = self.shelf.tasks();
        let queue = Mutex::new(units.into_iter());
        let work = || {
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            std::iter::from_fn(move || next().filter(|_| !is_stopped()))
        };
        std::thread::scope(|threads| {
            let (send, receive) = sync_channel(WAITING);
            for _ in 0..READERS {
                let (send, units, tasks) = (send.clone(), work(), &tasks);
                let read = move || {
                    for unit in units {
                        if send.send(self.row_of(unit, tasks, is_sensitive)).is_err() {
                            return;
                        }
                    }
                };
                let builder = std::thread::Builder::new().name("reader".into()).stack_size(STACK);
                builder.spawn_scoped(threads, read)?;
            }
            drop(send);
            write_all(&receive, (progress, total), keep, &mut sealed)
        })?;
        Ok(sealed)
    }

    fn row_of(
        &self,
        unit: Unit,
        tasks: &Tasks,
        is_sensitive: &IsSensitive<'_>,
    ) -> Option<SegmentRow> {
        let mut found = None;
        parse_unit::look(
            &self.roots,
            &self.limits,
            unit,
            &|_| HashMap::default(),
            &mut |mut parsed| {
                found = claims::write(&parsed).and_then(|(files, index_row)| {
                    let mut placed = record::place_rows(&mut parsed, tasks, &self.roots.models);
                    let row = parsed.rows().first()?;
                    let mut run = record::run_record(&parsed.unit, row, &placed.pop()?, tasks);
                    if is_sensitive(&run) {
                        run.leave_out_reasons();
                    }
                    Some(SegmentRow { run, files, index_row })
                });
                // A file of many runs is not read on.
                parsed.is_last()
            },
        );
        found.filter(|row| row.index_row.len() <= MOST_INDEX_ROW)
    }

    /// Lists the units that are not claimed.
    fn units_to_seal(&self, what: &ToSeal, sealed: &mut Sealed) -> std::io::Result<Vec<Unit>> {
        let mut units = match what {
            ToSeal::Unclaimed => self.units(&[FileId::new(Root::Output, "")])?,
            ToSeal::Files(paths) => {
                let file = |path: &String| FileId::new(Root::Output, path.as_bytes());
                self.units(&paths.iter().map(file).collect::<Vec<_>>())?
            }
        };
        if *what == ToSeal::Unclaimed {
            self.leave_out_claimed(&mut units, sealed);
        }
        let mut units: Vec<Unit> = units.into_values().collect();
        units.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        Ok(units)
    }

    /// Lists the units below these files, by their numbers.
    pub(crate) fn units(&self, scopes: &[FileId]) -> std::io::Result<HashMap<i64, Unit>> {
        let mut survey = scan::survey(&self.roots, &self.limits, scopes);
        if let Some(error) = survey.failed.remove(&Root::Output) {
            return Err(error);
        }
        if survey.cut {
            return Err(std::io::Error::other("the folder has more files than can be listed"));
        }
        let relations = Relations { owner: &|_| None, part_paths: &|_| Vec::new() };
        let steps = reconcile(&KnownFiles::new(), scopes, &survey.found, &relations);
        drop(survey);
        let units = steps.into_iter().filter_map(|step| match step {
            Step::Read(unit) => Some((unit.id.number(), unit)),
            Step::Forget(_) => None,
        });
        Ok(units.collect())
    }

    fn leave_out_claimed(&self, units: &mut HashMap<i64, Unit>, sealed: &mut Sealed) {
        each_segment(&self.roots, &mut HashSet::new(), &mut |name, file| {
            let read = file.and_then(|file| {
                read_claims(file, false, &mut |claim| {
                    let number = claims::unit(&claim.files).map(|unit| unit.number());
                    let unit = number.and_then(|number| units.get(&number));
                    let is_valid = claim.version == index_version()
                        && unit.is_some_and(|unit| is_claimed(&claim.files, &unit.files));
                    if is_valid && number.and_then(|number| units.remove(&number)).is_some() {
                        sealed.known += 1;
                    }
                    true
                })
            });
            if let Err(why) = read {
                sealed.refused.push(RefusedSegment { name, why });
            }
            true
        });
    }
}

fn write_all(
    rows: &Receiver<Option<SegmentRow>>,
    (progress, total): (&dyn Fn(u64, u64), u64),
    keep: &mut Keep<'_>,
    sealed: &mut Sealed,
) -> std::io::Result<()> {
    let mut segment = SegmentFile::default();
    for (done, row) in rows.iter().enumerate() {
        progress(done as u64 + 1, total);
        match row {
            Some(row) => segment.add(row)?,
            None => sealed.left_out += 1,
        }
        if segment.rows >= SEGMENT {
            std::mem::take(&mut segment).end(keep, sealed)?;
        }
    }
    segment.end(keep, sealed)
}

/// Segment that is being made.
#[derive(Default)]
pub(crate) struct SegmentFile {
    file: Option<SerializedFileWriter<Vec<u8>>>,
    group: Vec<SegmentRow>,
    group_bytes: usize,
    rows: usize,
}

impl SegmentFile {
    fn add(&mut self, row: SegmentRow) -> std::io::Result<()> {
        self.group_bytes += row.index_row.len() + 512;
        self.group.push(row);
        self.rows += 1;
        if self.group.len() >= GROUP || self.group_bytes >= GROUP_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let mut write = || -> parquet::errors::Result<()> {
            let file = match &mut self.file {
                Some(file) => file,
                None => self.file.insert(start(Vec::new(), &schema(true))?),
            };
            put_segment(file, &self.group, index_version())
        };
        write().map_err(std::io::Error::other)?;
        self.group.clear();
        self.group_bytes = 0;
        Ok(())
    }

    fn end(mut self, keep: &mut Keep<'_>, sealed: &mut Sealed) -> std::io::Result<()> {
        if !self.group.is_empty() {
            self.flush()?;
        }
        let Some(file) = self.file.take() else { return Ok(()) };
        let bytes = file.into_inner().map_err(std::io::Error::other)?;
        (sealed.written, sealed.bytes) =
            (sealed.written + self.rows as u64, sealed.bytes + bytes.len() as u64);
        keep(bytes)
    }
}
