//! **Pure.** Rows of a table, which stand in the leaves of a tree of pages.
use super::error::{circle, damaged};
use super::pages::{Pages, be32};
use std::collections::HashSet;
use std::ops::ControlFlow;
use touchstone_model::error::ReadError;

/// Maximum depth of a tree.
const MOST_LEVELS: usize = 24;

/// Row as it stands in its leaf.
pub(super) struct Cell {
    /// Number of the row.
    pub(super) row: i64,
    /// Size of the record in bytes.
    pub(super) size: u64,
    /// Start of the record.
    pub(super) start: Vec<u8>,
    /// First of the pages that hold the rest; 0 if there is none.
    pub(super) overflow: u32,
}

enum Node {
    /// Pages below, each with the highest number of a row in it; the last has none.
    Inner(Vec<(Option<i64>, u32)>),
    Leaf(Vec<Cell>),
}

/// Passes the rows of a tree in order until `take` breaks.
pub(super) fn walk(
    pages: &Pages<'_>,
    root: u32,
    take: &mut dyn FnMut(Cell) -> Result<ControlFlow<()>, ReadError>,
) -> Result<(), ReadError> {
    pages.begin();
    let mut seen = HashSet::new();
    let mut levels = vec![vec![root].into_iter()];
    while let Some(level) = levels.last_mut() {
        let Some(number) = level.next() else {
            levels.pop();
            continue;
        };
        if !seen.insert(number) || levels.len() > MOST_LEVELS {
            return Err(circle());
        }
        match node(pages, number)? {
            Node::Inner(below) => {
                let below: Vec<u32> = below.into_iter().map(|(_, page)| page).collect();
                levels.push(below.into_iter());
            }
            Node::Leaf(cells) => {
                for cell in cells {
                    if take(cell)?.is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }
    Ok(())
}

/// Finds a row by its number.
pub(super) fn find(pages: &Pages<'_>, root: u32, row: i64) -> Result<Option<Cell>, ReadError> {
    pages.begin();
    let mut number = root;
    for _ in 0..MOST_LEVELS {
        match node(pages, number)? {
            Node::Inner(below) => {
                let next = below.into_iter().find(|(last, _)| last.is_none_or(|last| row <= last));
                let Some((_, page)) = next else { return Ok(None) };
                number = page;
            }
            Node::Leaf(cells) => return Ok(cells.into_iter().find(|cell| cell.row == row)),
        }
    }
    Err(circle())
}

fn node(pages: &Pages<'_>, number: u32) -> Result<Node, ReadError> {
    let page = pages.page(number)?;
    let cut = || damaged("a page is not as it should be");
    // The first page begins with the header of the database.
    let header = if number == 1 { 100 } else { 0 };
    let kind = page[header];
    let count = usize::from(be16(&page[header + 3..]));
    let is_leaf = match kind {
        0x0d => true,
        0x05 => false,
        _ => return Err(cut()),
    };
    let places = header + if is_leaf { 8 } else { 12 };
    let place = |at: usize| {
        let from = places + at * 2;
        page.get(from..from + 2).map(|bytes| usize::from(be16(bytes)))
    };
    if is_leaf {
        let cell = |at| leaf_cell(pages.usable, page.get(place(at)?..pages.usable)?);
        // The rows of a page do not overlap, so together they are not larger than it.
        let mut left = pages.usable;
        let cells: Option<Vec<Cell>> = (0..count)
            .map(|at| {
                let cell = cell(at)?;
                left = left.checked_sub(cell.start.len())?;
                Some(cell)
            })
            .collect();
        return cells.map(Node::Leaf).ok_or_else(cut);
    }
    let below = |at| {
        let cell = page.get(place(at)?..pages.usable).filter(|cell| cell.len() > 4)?;
        let (row, _) = varint(&cell[4..])?;
        Some((Some(row.cast_signed()), be32(cell)))
    };
    let below: Option<Vec<_>> = (0..count).map(below).collect();
    let mut below = below.ok_or_else(cut)?;
    below.push((None, be32(&page[header + 8..])));
    Ok(Node::Inner(below))
}

fn leaf_cell(usable: usize, cell: &[u8]) -> Option<Cell> {
    let (size, after) = varint(cell)?;
    let (row, rest) = varint(cell.get(after..)?)?;
    let local = local_size(usable, size);
    let start = cell.get(after + rest..)?;
    let overflow = if (local as u64) < size { be32(start.get(local..local + 4)?) } else { 0 };
    Some(Cell { row: row.cast_signed(), size, start: start.get(..local)?.to_vec(), overflow })
}

/// Returns how many bytes of a record stand in the leaf.
fn local_size(usable: usize, size: u64) -> usize {
    let most = usable - 35;
    if let Some(size) = usize::try_from(size).ok().filter(|size| *size <= most) {
        return size;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let rest = size.saturating_sub(least as u64) % (usable as u64 - 4);
    let local = least + usize::try_from(rest).unwrap_or_default();
    if local <= most { local } else { least }
}

fn be16(bytes: &[u8]) -> u16 {
    bytes.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes))
}

/// Reads a number of up to nine bytes. Returns it with its length.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((number << 8 | u64::from(*byte), 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}
