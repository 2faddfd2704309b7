//! **Pure.** Values of a row.
use super::btree::{Cell, varint};
use super::error::damaged;
use super::pages::{Pages, be32};
use std::hash::{Hash as _, Hasher};
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum size of the columns that are read of a row, in bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Maximum size of a row in SQLite, in bytes.
const LARGEST_ROW: u64 = i32::MAX as u64;

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

/// Columns of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Columns that were read, by their place.
    fields: Vec<(usize, Field)>,
    /// Sizes of all columns that the row has, in bytes.
    sizes: Vec<u64>,
}

impl Record {
    /// Reads columns by their places. The others may be of any size.
    pub(super) fn read(
        pages: &Pages<'_>,
        cell: &Cell,
        columns: &[usize],
    ) -> Result<Self, ReadError> {
        let cut = || damaged("a row is cut off");
        let (header, _) = varint(&cell.start).ok_or_else(cut)?;
        // A header of more columns than there can be is not read.
        if header > 9 * MOST_COLUMNS as u64 {
            return Err(damaged("a row has too many columns"));
        }
        let bytes = read_parts(pages, cell, std::slice::from_ref(&(0..header)))?;
        let header = usize::try_from(header).unwrap_or_default();
        let mut at = varint(&bytes).ok_or_else(cut)?.1;
        let mut kinds = Vec::new();
        while at < header {
            let (kind, length) = bytes.get(at..header).and_then(varint).ok_or_else(cut)?;
            kinds.push(kind);
            at += length;
        }
        let sizes: Vec<u64> = kinds.iter().map(|kind| size_of(*kind)).collect();
        let mut end = header as u64;
        let place = |size: &u64| {
            let from = end;
            end = end.saturating_add(*size);
            from..end
        };
        let places: Vec<Range<u64>> = sizes.iter().map(place).collect();
        let mut wanted: Vec<usize> =
            columns.iter().copied().filter(|column| *column < kinds.len()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let parts: Vec<_> = wanted.iter().map(|column| places[*column].clone()).collect();
        let bytes = read_parts(pages, cell, &parts)?;
        let mut rest = &bytes[..];
        let fields = wanted.into_iter().map(|column| {
            let (value, after) = rest.split_at_checked(usize::try_from(sizes[column]).ok()?)?;
            rest = after;
            Some((column, field(kinds[column], value)))
        });
        let fields: Option<Vec<_>> = fields.collect();
        Ok(Record { fields: fields.ok_or_else(cut)?, sizes })
    }

    /// Adds the columns that were read to a hash.
    pub fn hash_into(&self, hasher: &mut impl Hasher) {
        for (column, field) in &self.fields {
            column.hash(hasher);
            match field {
                Field::Null => 0_u8.hash(hasher),
                Field::Integer(number) => (1_u8, number).hash(hasher),
                Field::Real(number) => (2_u8, number.to_bits()).hash(hasher),
                Field::Bytes(bytes) => (3_u8, bytes).hash(hasher),
            }
        }
    }

    /// Returns a column. `None` if it was not read, or the row is older than it.
    pub fn get(&self, column: usize) -> Option<&Field> {
        self.fields.iter().find(|(at, _)| *at == column).map(|(_, field)| field)
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

    /// Returns the size of all columns in bytes.
    pub fn total_size(&self) -> u64 {
        self.sizes.iter().fold(0, |sum, size| sum.saturating_add(*size))
    }
}

/// Reads parts of a record, which are in order, and joins them. What lies between them is not kept.
fn read_parts(pages: &Pages<'_>, cell: &Cell, parts: &[Range<u64>]) -> Result<Vec<u8>, ReadError> {
    let ends = parts.iter().filter(|part| !part.is_empty()).map(|part| part.end);
    let end = ends.max().unwrap_or_default();
    if end > cell.size.min(pages.total_size()).min(LARGEST_ROW) {
        return Err(damaged("a row is cut off"));
    }
    let count = parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.end - part.start));
    if count > MOST_BYTES {
        let message = format!("The row is larger than {} MB.", MOST_BYTES >> 20);
        return Err(ReadError::new(ReadErrorKind::TooLarge, message));
    }
    let mut bytes = Vec::new();
    let mut keep = |from: u64, held: &[u8]| {
        let place = |at: u64| {
            usize::try_from(at.saturating_sub(from)).map_or(held.len(), |at| at.min(held.len()))
        };
        for part in parts {
            bytes.extend_from_slice(&held[place(part.start)..place(part.end)]);
        }
        from + held.len() as u64
    };
    let mut at = keep(0, &cell.start);
    let mut next = cell.overflow;
    while at < end {
        let page = pages.overflow_page(next)?;
        next = be32(&page);
        at = keep(at, &page[4..pages.usable]);
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
