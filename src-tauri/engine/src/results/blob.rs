//! The plain text of all runs, one after the other in one file beside the index, so that a search without any index reads
//! straight through it. Owns its layout and its reading; which bytes belong to which run is in the index.
use fs_err as fs;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Begins every blob, so that no text has offset 0 and a foreign file is noticed.
const MAGIC: &[u8; 16] = b"touchstone text\n";

/// Reads the text. Stays valid while the file is rewritten: it keeps reading the one it opened.
pub struct TextBlob {
    file: fs::File,
    len: u64,
}

impl TextBlob {
    pub(crate) fn open(dir: &Path, number: i64, len: u64) -> io::Result<Self> {
        let file = fs::File::open(path(dir, number))?;
        let mut head = [0; MAGIC.len()];
        file.file().read_exact_at(&mut head, 0)?;
        if &head != MAGIC || file.metadata()?.len() < len {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the text beside the index is not the one it was made with",
            ));
        }
        Ok(Self { file, len })
    }

    /// How many bytes belong to the snapshot of the index it came with.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.len <= MAGIC.len() as u64
    }

    /// Whether an extent lies within the text. An index that was damaged may name any.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.len)
    }

    /// The bytes of one extent.
    pub fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        if !self.holds(offset, len as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut bytes = vec![0; len];
        self.file.file().read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Fills a buffer from an offset on, as far as the text goes; returns how much. For scans that go chunk by chunk and choose
    /// their own overlap.
    pub fn read_into(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        self.file.file().read_exact_at(&mut buffer[..wanted], offset)?;
        Ok(wanted)
    }
}

/// Appends text. There is one for each index, beside its one writing connection.
pub(crate) struct BlobWriter {
    file: BufWriter<fs::File>,
    at: u64,
}

impl BlobWriter {
    /// Begins a new file.
    pub(crate) fn create(dir: &Path, number: i64) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 18, fs::File::create(path(dir, number))?);
        file.write_all(MAGIC)?;
        file.flush()?;
        Ok(Self { file, at: MAGIC.len() as u64 })
    }

    /// Goes on where the last commit ended; what was written after it is overwritten.
    pub(crate) fn resume(dir: &Path, number: i64, len: u64) -> io::Result<Self> {
        TextBlob::open(dir, number, len)?;
        let mut file = fs::OpenOptions::new().write(true).open(path(dir, number))?;
        file.set_len(len)?;
        file.seek(SeekFrom::Start(len))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 18, file), at: len })
    }

    /// Adds a text and tells where it begins.
    pub(crate) fn append(&mut self, text: &[u8]) -> io::Result<u64> {
        let start = self.at;
        self.file.write_all(text)?;
        self.at += text.len() as u64;
        Ok(start)
    }

    /// Where the next text begins.
    pub(crate) fn len(&self) -> u64 {
        self.at
    }

    /// Hands everything to the system. To be done before the commit that refers to it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Where a blob lies.
pub(crate) fn path(dir: &Path, number: i64) -> PathBuf {
    dir.join(format!("text-{number}.blob"))
}

/// Copies an extent from one blob to another without holding all of it.
pub(crate) fn copy(from: &TextBlob, offset: u64, len: u64, to: &mut BlobWriter) -> io::Result<u64> {
    let start = to.at;
    let mut file = from.file.try_clone()?;
    file.seek(SeekFrom::Start(offset))?;
    let copied = io::copy(&mut file.take(len), &mut to.file)?;
    to.at += copied;
    if copied == len { Ok(start) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
