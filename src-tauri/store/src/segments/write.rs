//! Writes runs as Parquet: one row for each, compressed with zstd, in groups of bounded size.
use super::columns::{
    COLUMNS_VERSION, ClaimedFile, Column, FILE, Get, RUN, RunRecord, SCORE, STAMPS, ScoreRecord,
    TEXTS, schema,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::io::Write;
use std::sync::Arc;

/// Number of rows in a group, which are in memory at the same time.
pub(crate) const GROUP: usize = 20_000;
/// Maximum number of bytes of a page before compression. A page that holds one long value is longer.
const PAGE: usize = 256 << 10;
/// Level of the compression: fast, and a third smaller than none.
const LEVEL: i32 = 1;

/// Row of a segment.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentRow {
    /// The run.
    pub run: RunRecord,
    /// Its files.
    pub files: Vec<ClaimedFile>,
    /// What the index needs besides.
    pub index_row: Vec<u8>,
}

/// Returns the properties of all files that are written.
pub(crate) fn properties() -> Result<WriterProperties> {
    let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_data_page_size_limit(PAGE)
        .set_dictionary_page_size_limit(PAGE)
        .set_write_batch_size(256)
        .set_offset_index_disabled(true)
        .set_created_by(format!("touchstone {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(vec![about(
            "touchstone.columns",
            COLUMNS_VERSION.to_string(),
        )]))
        .build())
}

/// Starts a file with these columns.
pub(crate) fn start<W: Write + Send>(out: W, schema: &str) -> Result<SerializedFileWriter<W>> {
    let schema = Arc::new(parse_message_type(schema)?);
    SerializedFileWriter::new(out, schema, Arc::new(properties()?))
}

/// Writes runs as one file, for a report.
pub fn write_runs<W: Write + Send>(out: W, runs: &[RunRecord]) -> std::io::Result<()> {
    let write = || -> Result<()> {
        let mut file = start(out, &schema(false))?;
        for runs in runs.chunks(GROUP) {
            let mut group = file.next_row_group()?;
            put_runs(&mut group, &runs.iter().collect::<Vec<_>>())?;
            group.close()?;
        }
        file.close().map(drop)
    };
    write().map_err(std::io::Error::other)
}

/// Writes one group of rows of a segment.
pub(crate) fn put_segment<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &[SegmentRow],
    index_version: i32,
) -> Result<()> {
    let mut group = file.next_row_group()?;
    put_runs(&mut group, &rows.iter().map(|row| &row.run).collect::<Vec<_>>())?;
    let files: Vec<&[ClaimedFile]> = rows.iter().map(|row| row.files.as_slice()).collect();
    FILE.iter().try_for_each(|column| put_list(&mut group, &files, column))?;
    put::<Int32Type, _>(&mut group, &vec![index_version; rows.len()], None, None)?;
    let bytes = |row: &SegmentRow| ByteArray::from(row.index_row.clone());
    let bytes: Vec<ByteArray> = rows.iter().map(bytes).collect();
    put::<ByteArrayType, _>(&mut group, &bytes, None, None)?;
    group.close().map(drop)
}

fn put_runs<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    runs: &[&RunRecord],
) -> Result<()> {
    for column in RUN.iter().chain(&STAMPS) {
        let levels = Levels::flat(column.get.is_required());
        put_column(group, runs.iter().copied(), &column.get, levels)?;
    }
    for column in &TEXTS {
        let lists: Vec<&[String]> = runs.iter().map(|run| (column.get)(run)).collect();
        let (definitions, repetitions) = list_levels(&lists);
        let texts: Vec<ByteArray> =
            lists.iter().copied().flatten().map(|text| ByteArray::from(text.as_str())).collect();
        put::<ByteArrayType, _>(group, &texts, Some(&definitions), Some(&repetitions))?;
    }
    let scores: Vec<&[ScoreRecord]> = runs.iter().map(|run| run.scores.as_slice()).collect();
    SCORE.iter().try_for_each(|column| put_list(group, &scores, column))
}

/// Definition and repetition levels of lists: an empty list has one entry, which defines nothing.
fn list_levels<T>(lists: &[&[T]]) -> (Vec<i16>, Vec<i16>) {
    let (mut definitions, mut repetitions) = (Vec::new(), Vec::new());
    for list in lists {
        for at in 0..list.len().max(1) {
            definitions.push(i16::from(!list.is_empty()));
            repetitions.push(i16::from(at > 0));
        }
    }
    (definitions, repetitions)
}

fn put_list<W: Write + Send, T: 'static>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    lists: &[&[T]],
    column: &Column<T>,
) -> Result<()> {
    let (definitions, repetitions) = list_levels(lists);
    let levels = Levels {
        is_required: column.get.is_required(),
        of_items: Some((definitions, repetitions)),
    };
    put_column(group, lists.iter().copied().flatten(), &column.get, levels)
}

/// Levels of a column before it is known which values are missing.
struct Levels {
    is_required: bool,
    /// Of the items of lists.
    of_items: Option<(Vec<i16>, Vec<i16>)>,
}

impl Levels {
    fn flat(is_required: bool) -> Self {
        Self { is_required, of_items: None }
    }

    /// Returns the definition and repetition levels, given which values are there.
    fn levels(self, is_there: &[bool]) -> (Option<Vec<i16>>, Option<Vec<i16>>) {
        let Some((mut definitions, repetitions)) = self.of_items else {
            let levels = is_there.iter().map(|there| i16::from(*there)).collect();
            return ((!self.is_required).then_some(levels), None);
        };
        if !self.is_required {
            let mut is_there = is_there.iter();
            for level in definitions.iter_mut().filter(|level| **level == 1) {
                *level += i16::from(is_there.next().copied().unwrap_or(false));
            }
        }
        (Some(definitions), Some(repetitions))
    }
}

fn put_column<'a, W: Write + Send, T: 'static>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: impl Iterator<Item = &'a T> + Clone,
    get: &Get<T>,
    levels: Levels,
) -> Result<()> {
    let text = |text: &str| ByteArray::from(text);
    match get {
        Get::Text(get) => {
            put_values::<ByteArrayType, W>(group, rows.map(|row| Some(text(get(row)))), levels)
        }
        Get::MaybeText(get) => {
            put_values::<ByteArrayType, W>(group, rows.map(|row| get(row).map(text)), levels)
        }
        Get::Word(get) => {
            let words = rows.map(|row| get(row).as_deref().map(text));
            put_values::<ByteArrayType, W>(group, words, levels)
        }
        Get::Small(get) => {
            let small = |number| i32::try_from(number).unwrap_or(i32::MAX);
            put_values::<Int32Type, W>(group, rows.map(|row| get(row).map(small)), levels)
        }
        Get::Int(get) | Get::Time(get) => put_values::<Int64Type, W>(group, rows.map(get), levels),
        Get::Real(get) => {
            let finite = |number: &f64| number.is_finite();
            let numbers = rows.map(|row| get(row).filter(finite));
            put_values::<DoubleType, W>(group, numbers, levels)
        }
        Get::Flag(get) => put_values::<BoolType, W>(group, rows.map(get), levels),
    }
}

fn put_values<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<D::T>>,
    levels: Levels,
) -> Result<()> {
    let all: Vec<Option<D::T>> = values.collect();
    let is_there: Vec<bool> = all.iter().map(Option::is_some).collect();
    let (definitions, repetitions) = levels.levels(&is_there);
    let there: Vec<D::T> = all.into_iter().flatten().collect();
    put::<D, W>(group, &there, definitions.as_deref(), repetitions.as_deref())
}

fn put<D: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[D::T],
    definitions: Option<&[i16]>,
    repetitions: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    column.typed::<D>().write_batch(values, definitions, repetitions)?;
    column.close()
}

impl<T> Get<T> {
    fn is_required(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}
