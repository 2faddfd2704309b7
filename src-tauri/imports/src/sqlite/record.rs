//! **Pure.** Values of a row.
use super::btree::{Cell, varint};
use super::error::damaged;
use super::pages::{Pages, be32};
use touchstone_formats::{ReadError, ReadErrorKind};

/// Maximum size of a row that is read, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Maximum number of columns.
const MOST_COLUMNS: usize = 2_000;

/// Value of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Field {
    /// Null.
    Null,
    /// Whole number.
    Integer(i64),
    /// Number with a fraction.
    Real(f64),
    /// Text, or bytes that are no text.
    Bytes(Vec<u8>),
}

/// First columns of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    fields: Vec<Field>,
    /// Sizes of all columns that the row has, in bytes.
    sizes: Vec<u64>,
}

impl Record {
    /// Reads the columns up to `last`.
    pub(super) fn read(pages: &Pages<'_>, cell: &Cell, last: usize) -> Result<Self, ReadError> {
        let cut = || damaged("a row is cut off");
        let (header, _) = varint(&cell.start).ok_or_else(cut)?;
        // A header of more columns than there can be is not read.
        if header > 9 * MOST_COLUMNS as u64 {
            return Err(damaged("a row has too many columns"));
        }
        let bytes = read_start(pages, cell, header)?;
        let header = usize::try_from(header).unwrap_or_default();
        let mut at = varint(&bytes).ok_or_else(cut)?.1;
        let mut kinds = Vec::new();
        while at < header {
            let (kind, length) = bytes.get(at..header).and_then(varint).ok_or_else(cut)?;
            kinds.push(kind);
            at += length;
        }
        let sizes: Vec<u64> = kinds.iter().map(|kind| size_of(*kind)).collect();
        let wanted = kinds.len().min(last + 1);
        let end = sizes[..wanted].iter().fold(header as u64, |sum, size| sum.saturating_add(*size));
        let bytes = read_start(pages, cell, end)?;
        let mut at = header;
        let fields = kinds[..wanted].iter().zip(&sizes).map(|(kind, size)| {
            let end = at.saturating_add(usize::try_from(*size).unwrap_or(usize::MAX));
            let field = field(*kind, bytes.get(at..end)?);
            at = end;
            Some(field)
        });
        let fields: Option<Vec<Field>> = fields.collect();
        Ok(Record { fields: fields.ok_or_else(cut)?, sizes })
    }

    /// Returns a column. `None` if the row is older than the column.
    pub fn get(&self, column: usize) -> Option<&Field> {
        self.fields.get(column)
    }

    /// Returns the text of a column.
    pub fn text(&self, column: usize) -> Option<&str> {
        match self.get(column)? {
            Field::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Returns the whole number of a column.
    pub fn integer(&self, column: usize) -> Option<i64> {
        match self.get(column)? {
            Field::Integer(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the size of a column in bytes, also of one that was not read.
    pub fn size(&self, column: usize) -> u64 {
        self.sizes.get(column).copied().unwrap_or_default()
    }
}

/// Reads the first bytes of a record.
fn read_start(pages: &Pages<'_>, cell: &Cell, count: u64) -> Result<Vec<u8>, ReadError> {
    if count > cell.size {
        return Err(damaged("a row is cut off"));
    }
    if count > MOST_BYTES {
        let message = format!("The row is larger than {} MB.", MOST_BYTES >> 20);
        return Err(ReadError::new(ReadErrorKind::TooLarge, message));
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut bytes = cell.start[..cell.start.len().min(count)].to_vec();
    let mut next = cell.overflow;
    while bytes.len() < count {
        let page = pages.overflow_page(next)?;
        next = be32(&page);
        let rest = count - bytes.len();
        bytes.extend(page[4..pages.usable].iter().take(rest));
    }
    Ok(bytes)
}

/// Returns the size of a value of a kind, in bytes.
fn size_of(kind: u64) -> u64 {
    match kind {
        1..=4 => kind,
        5 => 6,
        6 | 7 => 8,
        12.. => (kind - 12) / 2,
        _ => 0,
    }
}

fn field(kind: u64, bytes: &[u8]) -> Field {
    match kind {
        1..=6 => {
            let sign = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) { -1 } else { 0 };
            Field::Integer(bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte)))
        }
        7 => {
            bytes.first_chunk().map_or(Field::Null, |bytes| Field::Real(f64::from_be_bytes(*bytes)))
        }
        8 => Field::Integer(0),
        9 => Field::Integer(1),
        12.. => Field::Bytes(bytes.to_vec()),
        _ => Field::Null,
    }
}
