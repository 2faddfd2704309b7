//! Checks the pages of a column before they are unpacked: a page states how large it becomes, and a
//! small file may state any size.
use fs_err::File;
use std::os::unix::fs::FileExt as _;

/// Maximum bytes of a page when it is unpacked.
const MOST_PAGE: u64 = 64 << 20;
/// Maximum number of values of a page.
const MOST_VALUES: u64 = 4 << 20;
/// Maximum bytes of the header of a page.
const MOST_HEADER: usize = 64 << 10;
/// Bytes of a header that are read at first; few are longer.
const USUAL_HEADER: usize = 256;
/// Maximum depth of nested structures in a header.
const DEEPEST: u32 = 8;

/// What the header of a page states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PageHeader {
    unpacked: u64,
    packed: u64,
    values: u64,
    is_dictionary: bool,
}

/// Fails with a sentence if a column chunk holds a page that becomes too large, or more values than
/// `most_values` in all. Returns the sum of the unpacked sizes.
pub(super) fn check(file: &File, start: u64, len: u64, most_values: u64) -> Result<u64, String> {
    let (mut at, end) = (start, start.saturating_add(len));
    let (mut values, mut unpacked) = (0_u64, 0_u64);
    while at < end {
        let (header, size) = header_at(file, at, end)?;
        if header.unpacked > MOST_PAGE || header.values > MOST_VALUES {
            return Err(format!(
                "a page of it becomes {} MB large with {} values.",
                header.unpacked >> 20,
                header.values
            ));
        }
        values += if header.is_dictionary { 0 } else { header.values };
        if values > most_values {
            return Err("it has more values than its rows can have.".to_owned());
        }
        unpacked = unpacked.saturating_add(header.unpacked);
        let next = at.saturating_add(size as u64).saturating_add(header.packed);
        if next <= at || next > end {
            return Err(BROKEN.to_owned());
        }
        at = next;
    }
    Ok(unpacked)
}

const BROKEN: &str = "its pages are damaged.";

fn header_at(file: &File, at: u64, end: u64) -> Result<(PageHeader, usize), String> {
    for most in [USUAL_HEADER, MOST_HEADER] {
        let left = usize::try_from(end - at).unwrap_or(usize::MAX);
        let mut bytes = vec![0; most.min(left)];
        file.file().read_exact_at(&mut bytes, at).map_err(|_| BROKEN.to_owned())?;
        if let Some(found) = read_header(&bytes) {
            return Ok(found);
        }
    }
    Err(BROKEN.to_owned())
}

/// Reads a header, and returns it with its length.
fn read_header(bytes: &[u8]) -> Option<(PageHeader, usize)> {
    let mut reader = Compact { bytes, at: 0 };
    let mut header = PageHeader::default();
    let mut field = 0;
    while let Some(kind) = reader.field(&mut field)? {
        match (field, kind) {
            (2, INT32) => header.unpacked = u64::try_from(reader.int()?).ok()?,
            (3, INT32) => header.packed = u64::try_from(reader.int()?).ok()?,
            (5 | 7 | 8, STRUCT) => {
                header.values = reader.values()?;
                header.is_dictionary = field == 7;
            }
            _ => reader.skip(kind, 0)?,
        }
    }
    Some((header, reader.at))
}

const INT32: u8 = 5;
const STRUCT: u8 = 12;

/// Reader of Thrift's compact encoding.
struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn int(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    /// Returns the kind of the next field, and `None` at the end of a structure.
    #[expect(clippy::option_option, reason = "the end of a structure is not the end of the bytes")]
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.int()?,
            more => id.saturating_add(i64::from(more)),
        };
        Some(Some(byte & 0x0f))
    }

    /// Reads the header of one kind of page: its first field is the number of values.
    fn values(&mut self) -> Option<u64> {
        let (mut field, mut values) = (0, 0);
        while let Some(kind) = self.field(&mut field)? {
            match (field, kind) {
                (1, INT32) => values = u64::try_from(self.int()?).ok()?,
                _ => self.skip(kind, 1)?,
            }
        }
        Some(values)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        (end <= self.bytes.len()).then(|| self.at = end)
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.pass(8),
            8 => self.unsigned().and_then(|count| self.pass(count)),
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
                // Each item has a byte at least, those of flags included.
                if count > self.bytes.len() as u64 {
                    return None;
                }
                (0..count).try_for_each(|_| match head & 0x0f {
                    1 | 2 => self.pass(1),
                    kind => self.skip(kind, depth + 1),
                })
            }
            STRUCT => {
                let mut field = 0;
                while let Some(kind) = self.field(&mut field)? {
                    self.skip(kind, depth + 1)?;
                }
                Some(())
            }
            _ => None,
        }
    }
}
