//! **Pure.** Pages of a database in one state: those of its write-ahead log in the place of those
//! of its file.
use super::error::{busy, circle, damaged};
use crate::source::{Input, Source};
use std::cell::Cell;
use std::collections::HashMap;
use touchstone_model::error::{ReadError, ReadErrorKind};

/// First bytes of a database.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// Sizes of the headers of a log and of its frames, in bytes.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// First bytes of a rollback journal that is in use.
const JOURNAL: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Pages of a database in one state.
pub struct Pages<'a> {
    file: &'a dyn Source,
    log: Option<Log<'a>>,
    /// Version of the file when the state was taken.
    version: u64,
    /// Size of a page in bytes.
    size: usize,
    /// Bytes of a page that hold data.
    pub(super) usable: usize,
    /// Number of pages.
    pub(super) count: u32,
    /// Number of overflow pages that may still be read for the present table or row.
    overflow_left: Cell<u64>,
}

/// Write-ahead log: pages that were written since the file was last brought up to date.
struct Log<'a> {
    source: Box<dyn Source + 'a>,
    header: [u8; LOG_HEADER],
    /// Offset of the last committed frame of each page.
    frames: HashMap<u32, u64>,
    /// Number of pages of the database after the last commit.
    count: Option<u32>,
}

impl<'a> Pages<'a> {
    /// Takes the present state of a database.
    pub fn open(input: &Input<'a>) -> Result<Self, ReadError> {
        let file = input.source;
        let version = file.version();
        let beside = |end: &str| input.folder.open(&format!("{}{end}", input.path));
        if let Some(journal) = beside("-journal")
            && read_array(&*journal, 0)? == Some(JOURNAL)
        {
            return Err(busy());
        }
        let header: [u8; 100] =
            read_array(file, 0)?.ok_or_else(|| damaged("its header is cut off"))?;
        if !header.starts_with(MAGIC) {
            return Err(damaged("its header is no header of SQLite"));
        }
        let size = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let usable = size.saturating_sub(usize::from(header[20]));
        if !size.is_power_of_two() || !(512..=65_536).contains(&size) || usable < 480 {
            return Err(damaged("its pages have an impossible size"));
        }
        if !matches!(be32(&header[56..]), 0 | 1) {
            let message = "The database holds text that is not UTF-8, which is not read.";
            return Err(ReadError::new(ReadErrorKind::NotUtf8, message));
        }
        let has_log = header[18] == 2 && header[19] == 2;
        let log = match beside("-wal").filter(|_| has_log) {
            Some(source) => Log::read(source, size)?,
            None => None,
        };
        let in_file = u32::try_from(file.size() / size as u64).unwrap_or(u32::MAX);
        // A log may name any number, but adds at most one page with each frame.
        let with_log = log.as_ref().and_then(|log| {
            let frames = u32::try_from(log.frames.len()).unwrap_or(u32::MAX);
            Some(log.count?.min(in_file.saturating_add(frames)))
        });
        let count = with_log.unwrap_or(in_file);
        let overflow_left = Cell::new(0);
        Ok(Pages { file, log, version, size, usable, count, overflow_left })
    }

    /// Begins to read a table or a row. An overflow page belongs to one row, which reads it at most
    /// twice, so that more reads mean pages that refer to each other in a circle.
    pub(super) fn begin(&self) {
        self.overflow_left.set(2 * u64::from(self.count));
    }

    /// Reads a page of those that hold the rest of a row.
    pub(super) fn overflow_page(&self, number: u32) -> Result<Vec<u8>, ReadError> {
        let left = self.overflow_left.get().checked_sub(1).ok_or_else(circle)?;
        self.overflow_left.set(left);
        self.page(number)
    }

    /// Returns true if the state can still be read: neither the file nor the pages that were taken
    /// from the log have changed.
    pub(super) fn is_current(&self) -> bool {
        let same_log = self.log.as_ref().is_none_or(|log| {
            read_array(&*log.source, 0).is_ok_and(|header| header == Some(log.header))
        });
        same_log && self.file.version() == self.version
    }

    /// Reads a page by its number, which counts from 1.
    pub(super) fn page(&self, number: u32) -> Result<Vec<u8>, ReadError> {
        if number == 0 || number > self.count {
            return Err(damaged("it refers to a page that is not there"));
        }
        let mut page = vec![0; self.size];
        let in_log =
            self.log.as_ref().and_then(|log| Some((&*log.source, *log.frames.get(&number)?)));
        let (source, offset) = match in_log {
            Some((log, frame)) => (log, frame + FRAME_HEADER as u64),
            None => (self.file, u64::from(number - 1) * self.size as u64),
        };
        if source.read_at(offset, &mut page)? < self.size {
            return Err(damaged("it is cut off"));
        }
        Ok(page)
    }
}

impl<'a> Log<'a> {
    /// Finds the committed frames. Returns `None` if there are none.
    fn read(source: Box<dyn Source + 'a>, page: usize) -> Result<Option<Self>, ReadError> {
        let Some(header) = read_array::<LOG_HEADER>(&*source, 0)? else { return Ok(None) };
        let magic = be32(&header);
        let mut sum = Checksum { is_big: magic & 1 == 1, values: (0, 0) };
        sum.add(&header[..24]);
        let is_ours = magic & !1 == 0x377f_0682
            && usize::try_from(be32(&header[8..])) == Ok(page)
            && sum.values == (be32(&header[24..]), be32(&header[28..]));
        if !is_ours {
            return Ok(None);
        }
        let mut log = Log { source, header, frames: HashMap::new(), count: None };
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut frame = vec![0; FRAME_HEADER + page];
        let mut offset = LOG_HEADER as u64;
        while log.source.read_at(offset, &mut frame)? == frame.len() {
            sum.add(&frame[..8]);
            sum.add(&frame[FRAME_HEADER..]);
            let is_valid = frame[8..16] == header[16..24]
                && sum.values == (be32(&frame[16..]), be32(&frame[20..]));
            if !is_valid {
                break;
            }
            open.push((be32(&frame), offset));
            let count = be32(&frame[4..]);
            if count > 0 {
                log.frames.extend(open.drain(..));
                log.count = Some(count);
            }
            offset += frame.len() as u64;
        }
        Ok(log.count.is_some().then_some(log))
    }
}

/// Checksum of a log, over words of four bytes.
struct Checksum {
    is_big: bool,
    values: (u32, u32),
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        let word = |bytes: &[u8]| {
            let number = be32(bytes);
            if self.is_big { number } else { number.swap_bytes() }
        };
        let (mut first, mut second) = self.values;
        for pair in bytes.chunks_exact(8) {
            first = first.wrapping_add(word(pair)).wrapping_add(second);
            second = second.wrapping_add(word(&pair[4..])).wrapping_add(first);
        }
        self.values = (first, second);
    }
}

/// Returns the number in the first four bytes; 0 if there are fewer.
pub(super) fn be32(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

/// Reads as many bytes as the array has. Returns `None` if there are fewer.
fn read_array<const N: usize>(
    source: &dyn Source,
    offset: u64,
) -> Result<Option<[u8; N]>, ReadError> {
    let mut bytes = [0; N];
    Ok((source.read_at(offset, &mut bytes)? == N).then_some(bytes))
}
