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
/// Bytes that a value takes in memory besides its content.
const VALUE: u64 = 40;

/// What the header of a page states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PageHeader {
    unpacked: u64,
    packed: u64,
    values: u64,
    is_dictionary: bool,
}

/// Fails with a sentence if a column chunk holds a page that becomes too large, or more values than
/// `most_values` in all. Returns how many bytes it takes when it is unpacked.
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
        unpacked = unpacked.saturating_add(header.unpacked + header.values * VALUE);
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

/// Reads a header, and returns it with its length. `None` for anything that segments do not have:
/// the reader of the pages is more lenient, and must not see another header than this one.
fn read_header(bytes: &[u8]) -> Option<(PageHeader, usize)> {
    let mut reader = Compact { bytes, at: 0 };
    let [mut kind, mut unpacked, mut packed, mut sum, mut page] = [None; 5];
    let mut id = 0;
    while let Some(field) = reader.field(&mut id)? {
        let place = match (id, field) {
            (1, INT32) => &mut kind,
            (2, INT32) => &mut unpacked,
            (3, INT32) => &mut packed,
            (4, INT32) => {
                once(&mut sum, reader.int()?)?;
                continue;
            }
            (5 | 7, STRUCT) => {
                let values =
                    if id == 5 { reader.data_page()? } else { reader.dictionary_page()? };
                once(&mut page, (i64::from(id == 7) << 32) | values)?;
                continue;
            }
            _ => return None,
        };
        once(place, size(reader.int()?)?)?;
    }
    let is_dictionary = match kind? {
        DATA_PAGE => false,
        DICTIONARY_PAGE => true,
        _ => return None,
    };
    let page = page?;
    let values = u64::try_from(page & i64::from(u32::MAX)).ok()?;
    let is_as_stated = (page >> 32 != 0) == is_dictionary;
    let header = PageHeader {
        unpacked: u64::try_from(unpacked?).ok()?,
        packed: u64::try_from(packed?).ok()?,
        values,
        is_dictionary,
    };
    is_as_stated.then_some((header, reader.at))
}

/// Keeps a field; `None` if it is there already.
fn once(place: &mut Option<i64>, value: i64) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

fn size(number: i64) -> Option<i64> {
    (number >= 0).then_some(number)
}

const INT32: u8 = 5;
const STRUCT: u8 = 12;
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const RLE: i64 = 3;
/// Encodings of values that do not make more of the bytes of a page: plain and by dictionary.
const ENCODINGS: [i64; 4] = [0, 2, RLE, 8];

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

    /// Reads a number of 32 bits.
    fn int(&mut self) -> Option<i64> {
        let mut number = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                let signed = (number >> 1).cast_signed() ^ -((number & 1).cast_signed());
                return i32::try_from(signed).is_ok().then_some(signed);
            }
        }
        None
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
            more => *id + i64::from(more),
        };
        Some(Some(byte & 0x0f))
    }

    /// Reads the header of a page of values. Returns their number.
    fn data_page(&mut self) -> Option<i64> {
        let [mut values, mut encoding, mut definitions, mut repetitions] = [None; 4];
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            let place = match (id, kind) {
                (1, INT32) => &mut values,
                (2, INT32) => &mut encoding,
                (3, INT32) => &mut definitions,
                (4, INT32) => &mut repetitions,
                _ => return None,
            };
            once(place, self.int()?)?;
        }
        let is_plain = ENCODINGS.contains(&encoding?) && (definitions?, repetitions?) == (RLE, RLE);
        size(values?).filter(|_| is_plain)
    }

    /// Reads the header of a dictionary. Returns the number of its values.
    fn dictionary_page(&mut self) -> Option<i64> {
        let [mut values, mut encoding, mut sorted] = [None; 3];
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            match (id, kind) {
                (1, INT32) => once(&mut values, self.int()?)?,
                (2, INT32) => once(&mut encoding, self.int()?)?,
                (3, 1 | 2) => once(&mut sorted, 0)?,
                _ => return None,
            }
        }
        size(values?).filter(|_| matches!(encoding, Some(0 | 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind, sizes of 2 bytes, and the header of a page of one value.
    const GOOD: [u8; 17] =
        [0x15, 0, 0x15, 4, 0x15, 4, 0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];

    fn with(at: usize, bytes: &[u8], instead_of: usize) -> Vec<u8> {
        let mut all = GOOD.to_vec();
        all.splice(at..at + instead_of, bytes.iter().copied());
        all
    }

    #[test]
    fn a_header_is_read_as_it_is_written_by_segments_and_no_other() {
        let good = PageHeader { unpacked: 2, packed: 2, values: 1, is_dictionary: false };
        assert_eq!(read_header(&GOOD), Some((good, GOOD.len())));
        let dictionary = [0x15, 4, 0x15, 4, 0x15, 4, 0x4c, 0x15, 2, 0x15, 0, 0x11, 0, 0];
        let header = PageHeader { is_dictionary: true, ..good };
        assert_eq!(read_header(&dictionary), Some((header, dictionary.len())));
        let bad: [(&str, Vec<u8>); 13] = [
            ("a size as INT64", with(2, &[0x16], 1)),
            ("a size as INT16", with(2, &[0x14], 1)),
            ("the id 65538", with(2, &[0x05, 0x84, 0x80, 0x08], 1)),
            ("the size again", with(6, &[0x05, 4, 4], 0)),
            ("a header of both kinds", with(16, &[0x2c, 0x15, 2, 0x15, 0, 0], 0)),
            ("a dictionary in field 5", with(0, &[0x15, 4], 2)),
            ("a page in field 7", with(6, &[0x4c, 0x15, 2, 0x15, 0, 0], 10)),
            ("a size beyond 32 bits", with(3, &[0x84, 0x80, 0x80, 0x80, 0x20], 1)),
            ("a negative size", with(3, &[3], 1)),
            ("a negative number of values", with(8, &[3], 1)),
            ("deltas of byte arrays", with(10, &[14], 1)),
            ("levels of another encoding", with(12, &[8], 1)),
            ("a field more", with(16, &[0x5c, 0], 0)),
        ];
        for (what, bytes) in bad {
            assert_eq!(read_header(&bytes), None, "{what}");
        }
        for len in 0..GOOD.len() {
            assert_eq!(read_header(&GOOD[..len]), None, "{len}");
        }
    }
}
