//! **Pure.** Zip archives, of which one member at a time is inflated. Nothing in an archive is
//! trusted: sizes are bounded, checksums compared, and members must not share bytes.
use crate::source::Source;
use crate::zstd;
use flate2::read::DeflateDecoder;
use rawzip::{RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipLocator};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, BufReader, Read};
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum size of an inflated member in bytes.
pub(super) const MOST_INFLATED: u64 = 256 << 20;

/// Maximum number of members that are read from a directory.
const MOST_MEMBERS: usize = 2_000_000;

/// Size of the fixed part of a local header.
const LOCAL_HEADER: usize = 30;

const STORED: u16 = 0;
const DEFLATE: u16 = 8;
const ZSTD: u16 = 93;

/// Member of an archive.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) name: Box<str>,
    /// Offset of the local header.
    offset: u64,
    compressed: u64,
    inflated: u64,
    checksum: u32,
    method: u16,
    is_encrypted: bool,
}

impl Member {
    /// Returns a number that is another one when the content may be another one.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.checksum, self.inflated, self.compressed, self.method).hash(&mut hasher);
        hasher.finish()
    }
}

/// Zip archive whose directory has been read.
pub(super) struct Archive<'a> {
    source: &'a dyn Source,
    /// Members that were wanted, in order of the directory.
    pub(super) members: Vec<Member>,
    /// Offsets of all local headers, sorted.
    offsets: Vec<u64>,
    /// Offset at which the members end.
    end: u64,
    /// Error of the archive as a whole. Members may be missing then.
    pub(super) error: Option<ReadError>,
}

impl<'a> Archive<'a> {
    /// Reads the directory, and keeps the members whose names are wanted. An archive without a
    /// directory is scanned for complete members.
    pub(super) fn open(source: &'a dyn Source, wanted: impl Fn(&str) -> bool) -> Self {
        let mut archive =
            Archive { source, members: Vec::new(), offsets: Vec::new(), end: 0, error: None };
        if !archive.read_directory(&wanted) {
            archive.members.clear();
            archive.offsets.clear();
            archive.scan(&wanted);
        }
        archive.offsets.sort_unstable();
        archive
    }

    /// Returns false if there is no directory.
    fn read_directory(&mut self, wanted: &impl Fn(&str) -> bool) -> bool {
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let reader = Positioned(self.source);
        let located = ZipLocator::new().locate_in_reader(reader, &mut buffer, self.source.size());
        let Ok(archive) = located else { return false };
        self.end = archive.directory_offset();
        let mut entries = archive.entries(&mut buffer);
        loop {
            let entry = match entries.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => return true,
                Err(error) => {
                    let message = format!("The directory of the archive is damaged: {error}.");
                    self.error = Some(ReadError::new(ReadErrorKind::Syntax, message));
                    return true;
                }
            };
            let name = String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned();
            let member = Member {
                name: name.into_boxed_str(),
                offset: entry.local_header_offset(),
                compressed: entry.compressed_size_hint(),
                inflated: entry.uncompressed_size_hint(),
                checksum: entry.crc32(),
                method: entry.compression_method().as_u16(),
                is_encrypted: entry.flags().is_encrypted(),
            };
            if !self.add(member, wanted) {
                return true;
            }
        }
    }

    fn add(&mut self, member: Member, wanted: &impl Fn(&str) -> bool) -> bool {
        if self.offsets.len() >= MOST_MEMBERS {
            let message = format!("The archive has more than {MOST_MEMBERS} members.");
            self.error = Some(ReadError::new(ReadErrorKind::TooLarge, message));
            return false;
        }
        self.offsets.push(member.offset);
        if wanted(&member.name) {
            self.members.push(member);
        }
        true
    }

    /// Finds the members by their local headers, up to the first that is not complete.
    fn scan(&mut self, wanted: &impl Fn(&str) -> bool) {
        let mut offset = 0;
        while let Ok(Some(header)) = self.local_header(offset) {
            let Some(end) = header.data.checked_add(header.compressed) else { break };
            if header.has_descriptor || end > self.source.size() {
                break;
            }
            let member = Member {
                name: String::from_utf8_lossy(&header.name).into(),
                offset,
                compressed: header.compressed,
                inflated: header.inflated,
                checksum: header.checksum,
                method: header.method,
                is_encrypted: header.is_encrypted,
            };
            if !self.add(member, wanted) {
                return;
            }
            offset = end;
        }
        self.end = offset;
        let message = "The archive ends before the list of its members: it is still being written, or it was cut off. \
                       Only members that are complete were read.";
        self.error = Some(ReadError::new(ReadErrorKind::Truncated, message));
    }

    /// Reads a member whole. Fails if it would be larger than `most` bytes.
    pub(super) fn read(&self, member: &Member, most: u64) -> Result<Vec<u8>, ReadError> {
        let most = most.min(MOST_INFLATED);
        if member.inflated > most {
            return Err(too_large(&member.name));
        }
        let mut bytes = Vec::new();
        self.inflate(member, member.inflated, &mut bytes)?;
        let mut checksum = flate2::Crc::new();
        checksum.update(&bytes);
        if bytes.len() as u64 != member.inflated || checksum.sum() != member.checksum {
            return Err(damaged(&member.name, "its size or checksum is not that of the directory"));
        }
        Ok(bytes)
    }

    /// Reads the start of a member, as far as it can be read.
    pub(super) fn read_start(&self, member: &Member, most: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.inflate(member, most, &mut bytes);
        bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        bytes
    }

    /// Appends at most `most` bytes and one, or a little more, to `into`.
    fn inflate(&self, member: &Member, most: u64, into: &mut Vec<u8>) -> Result<(), ReadError> {
        let (start, end) = self.range(member)?;
        let range = Range { source: self.source, at: start, end };
        let broken = |error: io::Error| damaged(&member.name, &error.to_string());
        match member.method {
            STORED => range.take(most + 1).read_to_end(into).map(drop).map_err(broken),
            DEFLATE => DeflateDecoder::new(range)
                .take(most + 1)
                .read_to_end(into)
                .map(drop)
                .map_err(broken),
            ZSTD => zstd::decode(BufReader::new(range), most + 1, into).map_err(broken),
            method => {
                Err(damaged(&member.name, &format!("compression method {method} is not known")))
            }
        }
    }

    /// Returns the offsets of a member's data. Fails unless they lie between its own header and
    /// the next.
    fn range(&self, member: &Member) -> Result<(u64, u64), ReadError> {
        if member.is_encrypted {
            return Err(damaged(&member.name, "it is encrypted"));
        }
        let header = self.local_header(member.offset)?;
        let header = header.ok_or_else(|| damaged(&member.name, "its header is missing"))?;
        if String::from_utf8_lossy(&header.name) != *member.name {
            return Err(damaged(&member.name, "its header has another name"));
        }
        let after = self.offsets.partition_point(|offset| *offset <= member.offset);
        let shares = after >= 2 && self.offsets[after - 2] == member.offset;
        let next = self.offsets.get(after).copied().unwrap_or(self.end).max(member.offset);
        let end = header.data.checked_add(member.compressed).filter(|end| *end <= next);
        match end {
            Some(end) if !shares => Ok((header.data, end)),
            _ => Err(damaged(&member.name, "it overlaps another member")),
        }
    }

    fn local_header(&self, offset: u64) -> Result<Option<LocalHeader>, ReadError> {
        let mut fixed = [0; LOCAL_HEADER];
        if !read_exact(self.source, offset, &mut fixed)? || !fixed.starts_with(b"PK\x03\x04") {
            return Ok(None);
        }
        let (names, extras) = (usize::from(u16_at(&fixed, 26)), usize::from(u16_at(&fixed, 28)));
        let mut rest = vec![0; names + extras];
        if !read_exact(self.source, offset + LOCAL_HEADER as u64, &mut rest)? {
            return Ok(None);
        }
        let extra = rest.split_off(names);
        let flags = u16_at(&fixed, 6);
        let (mut compressed, mut inflated) =
            (u64::from(u32_at(&fixed, 18)), u64::from(u32_at(&fixed, 22)));
        if let Some((long_inflated, long_compressed)) = long_sizes(&extra) {
            if inflated == u64::from(u32::MAX) {
                inflated = long_inflated;
            }
            if compressed == u64::from(u32::MAX) {
                compressed = long_compressed;
            }
        }
        Ok(Some(LocalHeader {
            data: offset + (LOCAL_HEADER + names + extras) as u64,
            name: rest,
            compressed,
            inflated,
            checksum: u32_at(&fixed, 14),
            method: u16_at(&fixed, 8),
            is_encrypted: flags & 1 != 0,
            has_descriptor: flags & 8 != 0,
        }))
    }
}

struct LocalHeader {
    /// Offset of the data.
    data: u64,
    name: Vec<u8>,
    compressed: u64,
    inflated: u64,
    checksum: u32,
    method: u16,
    is_encrypted: bool,
    /// True if the sizes follow the data instead.
    has_descriptor: bool,
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|two| two.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Returns the inflated and the compressed size of the extra field for large members.
fn long_sizes(mut extra: &[u8]) -> Option<(u64, u64)> {
    while extra.len() >= 4 {
        let (kind, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let field = extra.get(4..4 + length)?;
        if kind == 1 {
            let number =
                |at: usize| Some(u64::from_le_bytes(field.get(at..at + 8)?.try_into().ok()?));
            return Some((number(0)?, number(8)?));
        }
        extra = &extra[4 + length..];
    }
    None
}

fn too_large(name: &str) -> ReadError {
    let most = MOST_INFLATED >> 20;
    let message =
        format!("`{name}` is larger than {most} MB, which is the most that is read of a run.");
    ReadError::new(ReadErrorKind::TooLarge, message)
}

fn damaged(name: &str, reason: &str) -> ReadError {
    let message = format!("`{name}` cannot be read from the archive: {reason}.");
    ReadError::new(ReadErrorKind::Syntax, message)
}

/// Returns false if the source ends before the buffer is full.
fn read_exact(source: &dyn Source, offset: u64, buffer: &mut [u8]) -> Result<bool, ReadError> {
    let mut filled = 0;
    while filled < buffer.len() {
        let count = source.read_at(offset + filled as u64, &mut buffer[filled..])?;
        if count == 0 {
            return Ok(false);
        }
        filled += count;
    }
    Ok(true)
}

/// Part of a source, read from its start to its end.
struct Range<'a> {
    source: &'a dyn Source,
    at: u64,
    end: u64,
}

impl Read for Range<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let length = buffer.len().min(left);
        let count =
            self.source.read_at(self.at, &mut buffer[..length]).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}

struct Positioned<'a>(&'a dyn Source);

impl ReaderAt for Positioned<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(offset, buffer).map_err(io::Error::other)
    }
}
