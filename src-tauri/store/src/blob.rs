//! Plain text of all runs, concatenated in one file next to the index, so that a search without an
//! index can read it sequentially. Owns the file layout, reading and the checksums of its blocks: a
//! read fails when the bytes are not the ones that were written. The index stores which bytes
//! belong to which run.
use super::index_dir::create_private;
use fs_err as fs;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Number of bytes covered by one checksum. Text is read in whole blocks, so even a small read
/// costs this much.
pub(crate) const BLOCK: u64 = 64 << 10;
/// Number of bytes copied at once.
const COPY: u64 = 2 << 20;

/// Starts every blob, so that no text has offset 0 and a foreign file is detected.
const MAGIC: &[u8; 16] = b"touchstone text\n";

/// Reader of the text. Stays valid while the file is rewritten, because it keeps the file that it
/// opened.
pub struct TextBlob {
    file: fs::File,
    len: u64,
    /// One checksum per block. The last one covers the bytes present in the last block.
    sums: Arc<Vec<u64>>,
}

impl TextBlob {
    /// Opens the text. `sums` are the checksums of its blocks up to `len`. Fails when the file is
    /// foreign, shorter than `len`, or does not match the number of checksums.
    pub(crate) fn open(dir: &Path, number: i64, len: u64, sums: Arc<Vec<u64>>) -> io::Result<Self> {
        let file = fs::File::open(path(dir, number))?;
        let mut head = [0; MAGIC.len()];
        file.file().read_exact_at(&mut head, 0)?;
        if &head != MAGIC
            || file.metadata()?.len() < len
            || sums.len() as u64 != len.div_ceil(BLOCK)
        {
            return Err(foreign());
        }
        Ok(Self { file, len, sums })
    }

    /// Number of bytes that belong to the index snapshot this was opened with.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true when the file holds no text.
    pub fn is_empty(&self) -> bool {
        self.len <= MAGIC.len() as u64
    }

    /// Returns true when an extent lies within the text. A damaged index may name any extent.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// Returns the bytes of one extent.
    pub fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut buffer = Vec::new();
        let extent = self.read_blocks(offset, len, &mut buffer)?;
        buffer.truncate(extent.end);
        buffer.drain(..extent.start);
        Ok(buffer)
    }

    /// Reads an extent and returns it as a slice of `buffer`, which grows to hold the surrounding
    /// blocks. Fails when the extent lies outside of the text or a checksum does not match.
    pub fn read_into<'b>(
        &self,
        offset: u64,
        len: usize,
        buffer: &'b mut Vec<u8>,
    ) -> io::Result<&'b [u8]> {
        let extent = self.read_blocks(offset, len, buffer)?;
        Ok(&buffer[extent])
    }

    /// Reads the blocks of an extent, and returns where it lies in the buffer.
    fn read_blocks(
        &self,
        offset: u64,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Range<usize>> {
        if !self.holds(offset, len as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let first = offset / BLOCK;
        let begin = first * BLOCK;
        let end = (offset + len as u64).next_multiple_of(BLOCK).min(self.len);
        let (from, size) = (length(offset - begin)?, length(end.saturating_sub(begin))?);
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        self.file.file().read_exact_at(&mut buffer[..size], begin)?;
        let sums = self.sums.iter().skip(length(first)?);
        let mut sums = sums.zip(buffer[..size].chunks(length(BLOCK)?));
        if sums.any(|(sum, block)| xxh3_64(block) != *sum) {
            return Err(foreign());
        }
        Ok(from..from + len)
    }
}

fn foreign() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the text beside the index is not the one it was made with",
    )
}

fn length(number: u64) -> io::Result<usize> {
    usize::try_from(number).map_err(io::Error::other)
}

/// Appends text. Each index has one, next to its single writing connection.
pub(crate) struct BlobWriter {
    file: BufWriter<fs::File>,
    at: u64,
    /// Checksum state of the last, partial block.
    sum: Xxh3,
    /// Checksums of complete blocks that are not in the index yet, by block number.
    whole: Vec<(u64, u64)>,
}

impl BlobWriter {
    /// Creates a new file.
    pub(crate) fn create(dir: &Path, number: i64) -> io::Result<Self> {
        let file = create_private(&path(dir, number))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut begun = Self { file, at: 0, sum: Xxh3::new(), whole: Vec::new() };
        begun.append(MAGIC)?;
        begun.flush()?;
        Ok(begun)
    }

    /// Continues after the last commit. Anything written after it is discarded.
    pub(crate) fn resume(dir: &Path, number: i64, text: &TextBlob) -> io::Result<Self> {
        let len = text.len();
        let begun = len % BLOCK;
        let mut sum = Xxh3::new();
        sum.update(&text.read(len - begun, length(begun)?)?);
        let mut file = fs::OpenOptions::new().write(true).open(path(dir, number))?;
        file.set_len(len)?;
        file.seek(SeekFrom::Start(len))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 18, file), at: len, sum, whole: Vec::new() })
    }

    /// Appends a text and returns its offset.
    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<u64> {
        let start = self.at;
        self.file.write_all(text)?;
        let mut rest = text;
        while !rest.is_empty() {
            let room = length(BLOCK - self.at % BLOCK)?.min(rest.len());
            let (now, later) = rest.split_at(room);
            self.sum.update(now);
            self.at += now.len() as u64;
            if self.at.is_multiple_of(BLOCK) {
                self.whole.push((self.at / BLOCK - 1, self.sum.digest()));
                self.sum.reset();
            }
            rest = later;
        }
        Ok(start)
    }

    /// Checksums of the blocks that changed since they were last saved, by block number.
    pub(crate) fn sums(&self) -> impl Iterator<Item = (u64, u64)> {
        let last = (!self.at.is_multiple_of(BLOCK)).then(|| (self.at / BLOCK, self.sum.digest()));
        self.whole.iter().copied().chain(last)
    }

    /// Marks the checksums as saved in the index.
    pub(crate) fn mark_saved(&mut self) {
        self.whole.clear();
    }

    /// Offset at which the next text will start.
    pub(crate) fn len(&self) -> u64 {
        self.at
    }

    /// Flushes everything to the operating system. Must be called before the commit that refers to
    /// the text.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the path of a blob.
pub(crate) fn path(dir: &Path, number: i64) -> PathBuf {
    dir.join(format!("text-{number}.blob"))
}

/// Copies an extent from one blob to another in chunks, without loading all of it into memory.
pub(crate) fn copy(from: &TextBlob, offset: u64, len: u64, to: &mut BlobWriter) -> io::Result<u64> {
    let start = to.at;
    let mut buffer = Vec::new();
    let mut done = 0;
    while done < len {
        let size = (len - done).min(COPY);
        to.append(from.read_into(offset + done, length(size)?, &mut buffer)?)?;
        done += size;
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        #[test]
        fn a_text_is_read_as_it_was_written_or_not_at_all(
            sizes in prop::collection::vec(0usize..100_000, 1..8),
            cut in any::<prop::sample::Index>(),
            flip in any::<prop::sample::Index>(),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let mut writer = BlobWriter::create(dir.path(), 1).unwrap();
            let (mut sums, mut all) = (std::collections::BTreeMap::new(), MAGIC.to_vec());
            let cut = cut.index(sizes.len());
            for (at, size) in sizes.iter().enumerate() {
                let text: Vec<u8> = (0..*size).map(|n| u8::try_from((n * 7 + at) % 251).unwrap()).collect();
                all.extend_from_slice(&text);
                writer.append(&text).unwrap();
                if at == cut {
                    // Simulates a commit followed by a restart.
                    writer.flush().unwrap();
                    sums.extend(writer.sums());
                    writer.mark_saved();
                    let text = TextBlob::open(dir.path(), 1, writer.len(), Arc::new(sums.values().copied().collect())).unwrap();
                    writer = BlobWriter::resume(dir.path(), 1, &text).unwrap();
                }
            }
            writer.flush().unwrap();
            sums.extend(writer.sums());
            let sums: Arc<Vec<u64>> = Arc::new(sums.into_values().collect());
            let open = || TextBlob::open(dir.path(), 1, all.len() as u64, sums.clone());
            prop_assert_eq!(open().unwrap().read(0, all.len()).unwrap(), all.clone());
            let flip = flip.index(all.len());
            let mut wrong = all.clone();
            wrong[flip] ^= 1;
            fs::write(path(dir.path(), 1), &wrong).unwrap();
            for at in [0, flip / 2, flip.saturating_sub(3), flip, all.len() - 1] {
                let len = (all.len() - at).min(10);
                if let Ok(read) = open().and_then(|text| text.read(at as u64, len)) {
                    prop_assert_eq!(read, &all[at..at + len]);
                }
            }
            prop_assert!(open().and_then(|text| text.read(flip as u64, 1)).is_err());
        }
    }
}
