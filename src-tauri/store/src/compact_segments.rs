//! Makes one segment of many small ones. Rows are copied as they are. Claims stay if they are about
//! the files as they are now: those of removed files and of files that changed are left out.
use crate::claims::{self, index_version, is_claimed};
use crate::folder_index::FolderIndex;
use crate::reconcile::Unit;
use crate::roots::{FileId, Root, Roots};
use crate::segments::{
    Claim, ClaimedFile, GROUP, MOST_INDEX_ROW, check_group, damaged, open_checked, open_segment,
    read_claims, schema, segments, start,
};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{
    AsBytes as _, BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::FileReader as _;
use parquet::file::writer::SerializedFileWriter;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Number of small segments from which they are made one.
const MANY: usize = 16;
/// Size up to which a segment is small, and maximum size of those that are made one together.
const SMALL: u64 = 16 << 20;
const MOST_BYTES: u64 = 128 << 20;
/// Maximum number of rows of the new segment.
const MOST_ROWS: usize = 200_000;
/// Maximum bytes of a group of rows when it is unpacked, and from which no further rows are added.
const MOST_GROUP: u64 = 512 << 20;
const FULL_GROUP: u64 = 64 << 20;
/// Number of rows that are read at a time.
const BATCH: usize = 1_024;

/// A segment that is to take the place of others.
#[derive(Debug)]
pub struct Compacted {
    /// Its bytes; empty if no claim is left.
    pub bytes: Vec<u8>,
    /// Names of the segments whose claims it holds.
    pub sources: Vec<String>,
    /// Number of claims.
    pub runs: u64,
}

/// Small segment with the files that each of its rows is about.
struct Source {
    name: String,
    rows: Vec<Vec<ClaimedFile>>,
}

impl FolderIndex {
    /// Makes one segment of the small ones of the folder. `None` if there are few. Segments that
    /// cannot be read whole, or that somebody else made one meanwhile, are left alone.
    pub fn compact_segments(&self) -> std::io::Result<Option<Compacted>> {
        let mut sources = small_segments(&self.roots);
        if sources.len() < MANY {
            return Ok(None);
        }
        // After the claims were read: a file that is claimed was there before.
        let units = self.units(&[FileId::new(Root::Output, "")])?;
        while sources.len() >= MANY {
            let (kept, runs) = rows_to_keep(&sources, &units);
            match copy(&self.roots, &sources, &kept) {
                Ok(bytes) => {
                    let bytes = if runs > 0 { bytes } else { Vec::new() };
                    let sources = sources.into_iter().map(|source| source.name).collect();
                    return Ok(Some(Compacted { bytes, sources, runs }));
                }
                Err((Some(bad), why)) => {
                    let bad = sources.remove(bad);
                    tracing::warn!(name = bad.name, why, "a segment is left alone");
                }
                Err((None, why)) => return Err(std::io::Error::other(why)),
            }
        }
        Ok(None)
    }
}

/// Reads the claims of small segments, the oldest first.
fn small_segments(roots: &Roots) -> Vec<Source> {
    let (mut sources, mut bytes, mut count) = (Vec::new(), 0, 0);
    for name in segments(roots).into_iter().rev() {
        let Ok(file) = open_segment(roots, &name) else { continue };
        let size = file.metadata().map_or(u64::MAX, |about| about.len());
        if size > SMALL || bytes + size > MOST_BYTES || count >= MOST_ROWS {
            continue;
        }
        let Some(rows) = claimed_files(file) else { continue };
        (bytes, count) = (bytes + size, count + rows.len());
        sources.push(Source { name, rows });
    }
    sources
}

/// Returns the files of each row of a segment. `None` for one that is not read, or that is for
/// another version.
fn claimed_files(file: fs_err::File) -> Option<Vec<Vec<ClaimedFile>>> {
    let (mut rows, mut is_known) = (Vec::new(), true);
    let read = read_claims(file, false, &mut |Claim { files, version, .. }| {
        is_known &= version == index_version() && rows.len() < MOST_ROWS;
        rows.push(files);
        is_known
    });
    (read.is_ok() && is_known).then_some(rows)
}

/// Tells which rows of each source stay: of several claims about a run the last. Returns their number
/// besides.
fn rows_to_keep(sources: &[Source], units: &HashMap<i64, Unit>) -> (Vec<Vec<bool>>, u64) {
    let mut last: HashMap<i64, (usize, usize)> = HashMap::new();
    for (at, source) in sources.iter().enumerate() {
        for (row, files) in source.rows.iter().enumerate() {
            let Some(number) = claims::unit(files).map(|unit| unit.number()) else { continue };
            if units.get(&number).is_some_and(|unit| is_claimed(files, &unit.files)) {
                last.insert(number, (at, row));
            }
        }
    }
    let mut kept: Vec<_> = sources.iter().map(|source| vec![false; source.rows.len()]).collect();
    for (at, row) in last.values() {
        if let Some(kept) = kept.get_mut(*at).and_then(|kept| kept.get_mut(*row)) {
            *kept = true;
        }
    }
    (kept, last.len() as u64)
}

/// Reason for which nothing was written, with the place of the source that is to blame.
type Failed = (Option<usize>, String);

fn copy(roots: &Roots, sources: &[Source], kept: &[Vec<bool>]) -> Result<Vec<u8>, Failed> {
    let failed = |why| (None, damaged(why));
    let out = start(Vec::new(), &schema(true)).map_err(failed)?;
    let mut copy = Copy { out, buffers: Vec::new(), rows: 0, bytes: 0 };
    for (at, (source, kept)) in sources.iter().zip(kept).enumerate() {
        if !kept.contains(&true) {
            continue;
        }
        let add = || copy.add(roots, &source.name, kept);
        catch_unwind(AssertUnwindSafe(add))
            .unwrap_or_else(|_| Err("its content crashed the reader.".to_owned()))
            .map_err(|why| (Some(at), why))?;
    }
    copy.flush().map_err(failed)?;
    copy.out.into_inner().map_err(failed)
}

/// Segment that is being made.
struct Copy {
    out: SerializedFileWriter<Vec<u8>>,
    buffers: Vec<Buffer>,
    rows: usize,
    /// Bytes of these rows.
    bytes: u64,
}

impl Copy {
    /// Adds the rows of a segment that are kept.
    fn add(&mut self, roots: &Roots, name: &str, kept: &[bool]) -> Result<(), String> {
        let file = open_segment(roots, name).map_err(|why| format!("{why}."))?;
        let pages = file.try_clone().map_err(|why| format!("{why}."))?;
        let reader = open_checked(file)?;
        let about = reader.metadata();
        let (own, other) = (self.out.schema_descr(), about.file_metadata().schema_descr());
        if own.columns() != other.columns() {
            return Err("it has other columns.".to_owned());
        }
        let all: Vec<usize> = (0..own.columns().len()).collect();
        let mut from = 0;
        for (at, group) in about.row_groups().iter().enumerate() {
            let unpacked = check_group(&pages, group, &all)?;
            if unpacked > MOST_GROUP {
                return Err("a group of its rows is too large.".to_owned());
            }
            if self.rows >= GROUP || self.bytes + unpacked > FULL_GROUP {
                self.flush().map_err(damaged)?;
            }
            let count = usize::try_from(group.num_rows()).unwrap_or(0);
            let mask = kept.get(from..from + count).ok_or("it changed while it was read.")?;
            from += count;
            let group = reader.get_row_group(at).map_err(damaged)?;
            self.buffers.resize_with(all.len(), Buffer::default);
            for (column, buffer) in self.buffers.iter_mut().enumerate() {
                let reader = group.get_column_reader(column).map_err(damaged)?;
                let about = other.column(column);
                let most = (about.max_def_level(), about.max_rep_level());
                self.bytes += buffer.add(reader, most, mask)?;
                // A value of a dictionary may be in many rows.
                if self.bytes > MOST_GROUP {
                    return Err("a group of its rows is too large.".to_owned());
                }
            }
            self.rows += mask.iter().filter(|kept| **kept).count();
        }
        Ok(())
    }

    /// Writes the rows that wait as a group.
    fn flush(&mut self) -> ParquetResult<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if rows == 0 {
            self.buffers.clear();
            return Ok(());
        }
        flush(&mut self.out, &mut self.buffers)
    }
}

fn flush(out: &mut SerializedFileWriter<Vec<u8>>, buffers: &mut Vec<Buffer>) -> ParquetResult<()> {
    let mut group = out.next_row_group()?;
    for buffer in std::mem::take(buffers) {
        let Some(mut column) = group.next_column()? else { break };
        match &buffer.values {
            Values::None => {}
            Values::Bool(values) => buffer.put(column.typed::<BoolType>(), values)?,
            Values::Int32(values) => buffer.put(column.typed::<Int32Type>(), values)?,
            Values::Int64(values) => buffer.put(column.typed::<Int64Type>(), values)?,
            Values::Double(values) => buffer.put(column.typed::<DoubleType>(), values)?,
            Values::Bytes(values) => buffer.put(column.typed::<ByteArrayType>(), values)?,
        }
        column.close()?;
    }
    group.close().map(drop)
}

/// Values of one column that wait to be written.
#[derive(Default)]
struct Buffer {
    values: Values,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

#[derive(Default)]
enum Values {
    #[default]
    None,
    Bool(Vec<<BoolType as DataType>::T>),
    Int32(Vec<<Int32Type as DataType>::T>),
    Int64(Vec<<Int64Type as DataType>::T>),
    Double(Vec<<DoubleType as DataType>::T>),
    Bytes(Vec<<ByteArrayType as DataType>::T>),
}

impl Buffer {
    fn add(
        &mut self,
        reader: ColumnReader,
        most: (i16, i16),
        mask: &[bool],
    ) -> Result<u64, String> {
        let mut levels = (&mut self.definitions, &mut self.repetitions);
        macro_rules! add {
            ($variant:ident, $reader:expr) => {{
                if matches!(self.values, Values::None) {
                    self.values = Values::$variant(Vec::new());
                }
                let Values::$variant(values) = &mut self.values else {
                    return Err("its columns have other types than expected.".to_owned());
                };
                add($reader, most, mask, values, &mut levels)
            }};
        }
        match reader {
            ColumnReader::BoolColumnReader(reader) => add!(Bool, reader),
            ColumnReader::Int32ColumnReader(reader) => add!(Int32, reader),
            ColumnReader::Int64ColumnReader(reader) => add!(Int64, reader),
            ColumnReader::DoubleColumnReader(reader) => add!(Double, reader),
            ColumnReader::ByteArrayColumnReader(reader) => add!(Bytes, reader),
            _ => Err("its columns have other types than expected.".to_owned()),
        }
    }

    fn put<D: DataType>(
        &self,
        column: &mut ColumnWriterImpl<'_, D>,
        values: &[D::T],
    ) -> ParquetResult<()> {
        let levels = |levels: &'_ [i16]| (!levels.is_empty()).then(|| levels.to_vec());
        let (definitions, repetitions) = (levels(&self.definitions), levels(&self.repetitions));
        column.write_batch(values, definitions.as_deref(), repetitions.as_deref()).map(drop)
    }
}

/// Copies the rows that are kept. Returns their bytes.
fn add<D: DataType>(
    mut reader: ColumnReaderImpl<D>,
    (most_definition, most_repetition): (i16, i16),
    mask: &[bool],
    into: &mut Vec<D::T>,
    levels: &mut (&mut Vec<i16>, &mut Vec<i16>),
) -> Result<u64, String> {
    let (mut row, mut bytes) = (0, 0);
    loop {
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        let (records, ..) = reader
            .read_records(
                BATCH,
                (most_definition > 0).then_some(&mut definitions),
                (most_repetition > 0).then_some(&mut repetitions),
                &mut values,
            )
            .map_err(damaged)?;
        if records == 0 {
            break;
        }
        let count = if most_definition > 0 { definitions.len() } else { values.len() };
        let mut values = values.into_iter();
        for at in 0..count {
            let definition = definitions.get(at).copied();
            let repetition = repetitions.get(at).copied();
            row += usize::from(repetition.unwrap_or(0) == 0);
            let is_there = definition.is_none_or(|level| level == most_definition);
            let value = if is_there { values.next() } else { None };
            if row > 0 && mask.get(row - 1) == Some(&true) {
                let len = value.as_ref().map_or(0, |value| value.as_bytes().len());
                if len > MOST_INDEX_ROW {
                    return Err("a value of it is too large.".to_owned());
                }
                bytes += len as u64;
                into.extend(value);
                levels.0.extend(definition);
                levels.1.extend(repetition);
            }
        }
    }
    if row == mask.len() {
        Ok(bytes)
    } else {
        Err("its columns have different numbers of rows.".into())
    }
}
