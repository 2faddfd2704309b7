//! Reads the claims of a segment, in bounded memory. Segments lie in a folder that others write
//! to: one that is not as expected is refused with the reason.
use super::columns::ClaimedFile;
use super::pages;
use fs_err::File;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum size of a segment in bytes.
pub(crate) const MOST_BYTES: u64 = 1 << 30;
/// Maximum size of the description at its end.
const MOST_FOOTER: u64 = 4 << 20;
/// Maximum number of groups of rows.
const MOST_GROUPS: usize = 1_000;
/// Maximum bytes of what is read of a group when it is unpacked.
const MOST_UNPACKED: u64 = 128 << 20;
/// Maximum number of rows in a group.
const MOST_ROWS: i64 = 1 << 20;
/// Maximum number of files of a run, and in a row of a batch on average.
const MOST_FILES: u64 = 16;
/// Maximum bytes of what the index needs of a row.
pub(crate) const MOST_INDEX_ROW: usize = 1 << 20;
/// Number of rows that are read at a time.
const BATCH: usize = 1_024;
/// Maximum length of a path.
const LONGEST_PATH: usize = 4_096;

/// What a segment claims of a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Claim {
    /// Files, with their stamps.
    pub(crate) files: Vec<ClaimedFile>,
    /// Version of the index that `index_row` is for.
    pub(crate) version: i32,
    /// What the index needs of the run.
    pub(crate) index_row: ByteArray,
}

/// Columns that claims are read from: path, physical type, maximum definition and repetition level.
const COLUMNS: [(&str, Type, i16, i16); 5] = [
    ("files.list.element.path", Type::BYTE_ARRAY, 1, 1),
    ("files.list.element.size", Type::INT64, 2, 1),
    ("files.list.element.mtime_ns", Type::INT64, 2, 1),
    ("index.version", Type::INT32, 0, 0),
    ("index.row", Type::BYTE_ARRAY, 0, 0),
];

/// Passes the claims of a segment to `give`, until it returns false. Fails with the reason as the
/// end of a sentence.
pub(crate) fn read(
    file: File,
    with_rows: bool,
    give: &mut dyn FnMut(Claim) -> bool,
) -> Result<(), String> {
    let read = || read_guarded(file, with_rows, give);
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err("its content crashed the reader.".to_owned()))
}

fn read_guarded(
    file: File,
    with_rows: bool,
    give: &mut dyn FnMut(Claim) -> bool,
) -> Result<(), String> {
    let pages = file.try_clone().map_err(|why| format!("{why}."))?;
    let reader = open_checked(file)?;
    let places = places(reader.metadata())?;
    let places = if with_rows { places.as_slice() } else { &places[..4] };
    for (at, group) in reader.metadata().row_groups().iter().enumerate() {
        if check_group(&pages, group, places)? > MOST_UNPACKED {
            return Err("a group of its rows is too large.".to_owned());
        }
        let group = reader.get_row_group(at).map_err(damaged)?;
        let mut columns = Vec::with_capacity(places.len());
        for place in places {
            columns.push(group.get_column_reader(*place).map_err(damaged)?);
        }
        if !read_group(columns, give)? {
            return Ok(());
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "callers map errors to text")]
pub(crate) fn damaged(why: parquet::errors::ParquetError) -> String {
    format!("it cannot be read as Parquet ({why}).")
}

/// Reads the description of a segment, which has a bounded size.
pub(crate) fn open_checked(file: File) -> Result<impl FileReader, String> {
    check_size(&file)?;
    let reader = SerializedFileReader::new(file.into_parts().0).map_err(damaged)?;
    if reader.metadata().num_row_groups() > MOST_GROUPS {
        return Err("it has too many groups of rows.".to_owned());
    }
    Ok(reader)
}

fn check_size(file: &File) -> Result<(), String> {
    let size = file.metadata().map_err(|why| format!("{why}."))?.len();
    if size > MOST_BYTES {
        return Err(format!("it is larger than {} MB.", MOST_BYTES >> 20));
    }
    let mut end = [0; 8];
    let at = size.checked_sub(8).ok_or("it is too short.")?;
    file.file().read_exact_at(&mut end, at).map_err(|why| format!("{why}."))?;
    let [a, b, c, d, ..] = end;
    if u64::from(u32::from_le_bytes([a, b, c, d])) > MOST_FOOTER.min(at) {
        return Err("its description is too long.".to_owned());
    }
    Ok(())
}

/// Returns the places of the columns in the file.
fn places(about: &ParquetMetaData) -> Result<Vec<usize>, String> {
    let schema = about.file_metadata().schema_descr();
    let place = |(name, kind, definition, repetition): &(&str, Type, i16, i16)| {
        let found = schema.columns().iter().position(|column| column.path().string() == *name);
        let is_as_expected = |at: &usize| {
            let column = schema.column(*at);
            column.physical_type() == *kind
                && column.max_def_level() == *definition
                && column.max_rep_level() == *repetition
        };
        found
            .filter(is_as_expected)
            .ok_or_else(|| format!("it has no column `{name}` as expected."))
    };
    COLUMNS.iter().map(place).collect()
}

pub(crate) fn check_group(
    file: &File,
    group: &RowGroupMetaData,
    places: &[usize],
) -> Result<u64, String> {
    let rows = group.num_rows();
    if !(0..=MOST_ROWS).contains(&rows) {
        return Err(format!("it has a group of {rows} rows."));
    }
    let most = u64::try_from(rows).unwrap_or(0).saturating_mul(MOST_FILES * 4) + 1;
    let mut unpacked = 0_u64;
    for place in places {
        let chunk = group.columns().get(*place).ok_or("a column of it is missing.")?;
        // The range of a chunk is computed without a check.
        let starts = chunk.dictionary_page_offset().into_iter().chain([chunk.data_page_offset()]);
        if starts.chain([chunk.compressed_size()]).any(|number| number < 0) {
            return Err("its description is damaged.".to_owned());
        }
        let (start, len) = chunk.byte_range();
        unpacked += pages::check(file, start, len, most)?;
    }
    Ok(unpacked)
}

/// Reads the claims of a group. Returns false if no more are wanted.
fn read_group(
    columns: Vec<ColumnReader>,
    give: &mut dyn FnMut(Claim) -> bool,
) -> Result<bool, String> {
    let mut columns = columns.into_iter();
    let mut next = || columns.next().ok_or("a column of it is missing.");
    let ColumnReader::ByteArrayColumnReader(mut paths) = next()? else { return Err(unlike()) };
    let ColumnReader::Int64ColumnReader(mut sizes) = next()? else { return Err(unlike()) };
    let ColumnReader::Int64ColumnReader(mut times) = next()? else { return Err(unlike()) };
    let ColumnReader::Int32ColumnReader(mut versions) = next()? else { return Err(unlike()) };
    let mut index_rows = match next() {
        Ok(ColumnReader::ByteArrayColumnReader(rows)) => Some(rows),
        _ => None,
    };
    loop {
        let versions = flat::<Int32Type>(&mut versions)?;
        let paths = lists::<ByteArrayType>(&mut paths, 1)?;
        let sizes = lists::<Int64Type>(&mut sizes, 2)?;
        let times = lists::<Int64Type>(&mut times, 2)?;
        let rows = index_rows.as_mut().map(flat::<ByteArrayType>).transpose()?;
        let count = versions.len();
        let counts = [paths.len(), sizes.len(), times.len()];
        let of_rows = rows.as_ref().map_or(count, Vec::len);
        if counts.into_iter().chain([of_rows]).any(|other| other != count) {
            return Err("its columns have different numbers of rows.".to_owned());
        }
        if count == 0 {
            return Ok(true);
        }
        let mut rows = rows.map(Vec::into_iter);
        let each = versions.into_iter().zip(paths).zip(sizes.into_iter().zip(times));
        for ((version, paths), (sizes, times)) in each {
            let index_row = rows.as_mut().and_then(Iterator::next);
            let index_row = index_row.unwrap_or_else(|| ByteArray::from(Vec::new()));
            if index_row.len() > MOST_INDEX_ROW {
                return Err("a row of it is too large.".to_owned());
            }
            if !give(Claim { files: files(&paths, &sizes, &times)?, version, index_row }) {
                return Ok(false);
            }
        }
    }
}

fn unlike() -> String {
    "its columns have other types than expected.".to_owned()
}

fn flat<D: DataType>(column: &mut ColumnReaderImpl<D>) -> Result<Vec<D::T>, String> {
    let mut values = Vec::with_capacity(BATCH);
    column.read_records(BATCH, None, None, &mut values).map_err(damaged)?;
    Ok(values)
}

/// Reads the next rows of a column of lists.
fn lists<D: DataType>(
    column: &mut ColumnReaderImpl<D>,
    most: i16,
) -> Result<Vec<Vec<D::T>>, String> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let read =
        column.read_records(BATCH, Some(&mut definitions), Some(&mut repetitions), &mut values);
    read.map_err(damaged)?;
    let mut lists: Vec<Vec<D::T>> = Vec::with_capacity(BATCH);
    let mut values = values.into_iter();
    for (definition, repetition) in definitions.into_iter().zip(repetitions) {
        if repetition == 0 {
            lists.push(Vec::new());
        }
        if definition == most {
            let (Some(list), Some(value)) = (lists.last_mut(), values.next()) else {
                return Err("its lists are damaged.".to_owned());
            };
            list.push(value);
        }
    }
    Ok(lists)
}

/// Checks the files of a claim.
fn files(paths: &[ByteArray], sizes: &[i64], times: &[i64]) -> Result<Vec<ClaimedFile>, String> {
    if paths.len() != sizes.len() || paths.len() != times.len() || paths.is_empty() {
        return Err("a row of it has files without stamps.".to_owned());
    }
    let file = |((path, size), mtime_ns): ((&ByteArray, &i64), &i64)| {
        let path = path.as_utf8().ok().filter(|path| is_below(path));
        let path = path.ok_or("a row of it names a file outside of the folder.")?;
        let size = u64::try_from(*size).map_err(|_| "a row of it has a negative size.")?;
        Ok(ClaimedFile { path: path.to_owned(), size, mtime_ns: *mtime_ns })
    };
    paths.iter().zip(sizes).zip(times).map(file).collect()
}

/// Returns true for a plain path below a folder.
pub(crate) fn is_below(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\0');
    path.len() <= LONGEST_PATH && path.split('/').all(is_plain)
}
