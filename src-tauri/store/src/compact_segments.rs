//! Makes one segment of many small ones. Rows are copied as they are. Of several claims about a run
//! the one of its newest files stays.
use crate::claims::{self, index_version};
use crate::roots::Roots;
use crate::segments::{
    GROUP, check_group, check_size, damaged, open_segment, read_claims, schema, segments, start,
};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
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
/// Maximum bytes of a group of rows when it is unpacked.
const MOST_GROUP: u64 = 512 << 20;
/// Number of rows that are read at a time.
const BATCH: usize = 1_024;

/// A segment that is to take the place of others.
#[derive(Debug)]
pub struct Compacted {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Names of the segments whose claims it holds.
    pub sources: Vec<String>,
    /// Number of claims.
    pub runs: u64,
}

/// Place of the claim about a run that stays: the time of its files, the source and the row.
type Newest = (i64, usize, usize);

/// Makes one segment of the small ones of a folder. `None` if there are few. Segments that cannot be
/// read whole stay as they are.
pub fn compact(roots: &Roots) -> std::io::Result<Option<Compacted>> {
    let mut sources = Vec::new();
    let (mut newest, mut bytes): (HashMap<i64, Newest>, u64) = (HashMap::new(), 0);
    // The oldest first: of two claims about the same files the later one stays.
    for name in segments(roots).into_iter().rev() {
        let Ok(file) = open_segment(roots, &name) else { continue };
        let size = file.metadata().map_or(u64::MAX, |about| about.len());
        if size > SMALL || bytes + size > MOST_BYTES || newest.len() >= MOST_ROWS {
            continue;
        }
        let Some(rows) = claimed_units(file) else { continue };
        let at = sources.len();
        for (row, (unit, mtime_ns)) in rows.iter().enumerate() {
            let claim = (*mtime_ns, at, row);
            let known = newest.entry(*unit).or_insert(claim);
            *known = (*known).max(claim);
        }
        bytes += size;
        sources.push((name, rows.len()));
    }
    if sources.len() < MANY {
        return Ok(None);
    }
    let mut kept: Vec<Vec<bool>> = sources.iter().map(|(_, rows)| vec![false; *rows]).collect();
    for (_, at, row) in newest.values() {
        if let Some(kept) = kept.get_mut(*at).and_then(|kept| kept.get_mut(*row)) {
            *kept = true;
        }
    }
    let copy = || copy(roots, &sources, &kept);
    let bytes = catch_unwind(AssertUnwindSafe(copy))
        .unwrap_or_else(|_| Err("its content crashed the reader.".to_owned()))
        .map_err(std::io::Error::other)?;
    let sources = sources.into_iter().map(|(name, _)| name).collect();
    Ok(Some(Compacted { bytes, sources, runs: newest.len() as u64 }))
}

/// Returns the units that a segment claims, with the times of their files. `None` for one that is
/// not read, or that is for another version.
fn claimed_units(file: fs_err::File) -> Option<Vec<(i64, i64)>> {
    let (mut rows, mut is_known) = (Vec::new(), true);
    let read = read_claims(file, false, &mut |claim| {
        let unit = claims::unit(&claim.files);
        is_known &= claim.version == index_version() && unit.is_some();
        let newest = claim.files.iter().map(|file| file.mtime_ns).max();
        rows.extend(unit.map(|unit| (unit.number(), newest.unwrap_or(0))));
        is_known
    });
    (read.is_ok() && is_known).then_some(rows)
}

fn copy(roots: &Roots, sources: &[(String, usize)], kept: &[Vec<bool>]) -> Result<Vec<u8>, String> {
    let mut out = start(Vec::new(), &schema(true)).map_err(damaged)?;
    let mut buffers: Vec<Buffer> = Vec::new();
    let mut rows = 0;
    for ((name, _), kept) in sources.iter().zip(kept) {
        let file = open_segment(roots, name).map_err(|why| format!("{why}."))?;
        check_size(&file)?;
        let pages = file.try_clone().map_err(|why| format!("{why}."))?;
        let reader = SerializedFileReader::new(file.into_parts().0).map_err(damaged)?;
        let about = reader.metadata();
        let (own, other) = (out.schema_descr(), about.file_metadata().schema_descr());
        if own.columns() != other.columns() {
            return Err(format!("{name} has other columns."));
        }
        let all: Vec<usize> = (0..own.columns().len()).collect();
        let mut from = 0;
        for (at, about) in about.row_groups().iter().enumerate() {
            if check_group(&pages, about, &all)? > MOST_GROUP {
                return Err(format!("{name} has a group of rows that is too large."));
            }
            let count = usize::try_from(about.num_rows()).unwrap_or(0);
            let mask = kept.get(from..from + count).ok_or("it changed while it was read.")?;
            from += count;
            let group = reader.get_row_group(at).map_err(damaged)?;
            for column in &all {
                if buffers.len() <= *column {
                    buffers.push(Buffer::default());
                }
                let reader = group.get_column_reader(*column).map_err(damaged)?;
                let about = other.column(*column);
                let most = (about.max_def_level(), about.max_rep_level());
                if let Some(buffer) = buffers.get_mut(*column) {
                    buffer.add(reader, most, mask)?;
                }
            }
            rows += mask.iter().filter(|kept| **kept).count();
            if rows >= GROUP {
                flush(&mut out, &mut buffers).map_err(damaged)?;
                rows = 0;
            }
        }
    }
    if rows > 0 {
        flush(&mut out, &mut buffers).map_err(damaged)?;
    }
    out.into_inner().map_err(damaged)
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
    fn add(&mut self, reader: ColumnReader, most: (i16, i16), mask: &[bool]) -> Result<(), String> {
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

/// Copies the rows that are kept.
fn add<D: DataType>(
    mut reader: ColumnReaderImpl<D>,
    (most_definition, most_repetition): (i16, i16),
    mask: &[bool],
    into: &mut Vec<D::T>,
    levels: &mut (&mut Vec<i16>, &mut Vec<i16>),
) -> Result<(), String> {
    let mut row = 0;
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
                into.extend(value);
                levels.0.extend(definition);
                levels.1.extend(repetition);
            }
        }
    }
    if row == mask.len() {
        Ok(())
    } else {
        Err("its columns have different numbers of rows.".into())
    }
}
