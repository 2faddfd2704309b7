//! Documents of written runs. What is large waits in a file without a name until the document is
//! taken, so that memory stays bounded however many runs it has.
use crate::error::{AppError, Code};
use fs_err as fs;
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use touchstone_api::ExportedFile;

/// Maximum number of bytes of a document that wait in memory.
const MOST_IN_MEMORY: usize = 8 << 20;
/// Number of bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// Places of a text in a spool.
type SpooledText = (Arc<Spool>, Vec<Range<u64>>);

/// A document of one or more written runs.
#[derive(Debug)]
pub struct ExportedDocument {
    /// Suggested file name.
    pub file_name: String,
    media_type: &'static str,
    /// Text before the spooled one, or all of it.
    start: String,
    middle: Option<SpooledText>,
    end: &'static str,
}

impl ExportedDocument {
    pub(super) fn from_text(text: String, file_name: String, media_type: &'static str) -> Self {
        Self { file_name, media_type, start: text, middle: None, end: "" }
    }

    pub(super) fn from_parts(
        file_name: String,
        media_type: &'static str,
        (start, middle, end): (String, SpooledText, &'static str),
    ) -> Self {
        Self { file_name, media_type, start, middle: Some(middle), end }
    }

    /// Passes the text to `put`, piece by piece.
    pub fn write<E: From<AppError>>(
        self,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        put(self.start.as_bytes())?;
        if let Some((spool, places)) = self.middle {
            places.into_iter().try_for_each(|place| spool.read(place, put))?;
        }
        put(self.end.as_bytes())
    }

    /// Returns the whole document.
    pub(super) fn into_file(self, notes: Vec<String>) -> Result<ExportedFile, AppError> {
        let (file_name, media_type) = (self.file_name.clone(), self.media_type.to_owned());
        let mut bytes = Vec::new();
        self.write::<AppError>(&mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(ExportedFile { text, file_name, media_type, notes })
    }
}

/// Texts that are kept until they are read: the last of them in memory, and what is before that in a
/// file. The file has no name, and is gone when the texts are.
#[derive(Debug)]
pub(super) struct Spool {
    /// Folder of the file.
    dir: PathBuf,
    file: Option<fs::File>,
    /// Length of the file.
    written: u64,
    memory: Vec<u8>,
}

impl Spool {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), file: None, written: 0, memory: Vec::new() }
    }

    /// Appends a text, and returns its place.
    pub(super) fn write(&mut self, text: &str) -> Result<Range<u64>, AppError> {
        let start = self.written + self.memory.len() as u64;
        if self.memory.len() + text.len() <= MOST_IN_MEMORY {
            self.memory.extend_from_slice(text.as_bytes());
        } else {
            self.write_out(text).map_err(|why| self.failed(&why))?;
        }
        Ok(start..start + text.len() as u64)
    }

    /// Moves what is in memory, and a text behind it, to the file.
    fn write_out(&mut self, text: &str) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => nameless_file(&self.dir)?,
        };
        let file = self.file.insert(file);
        file.write_all(&self.memory)?;
        file.write_all(text.as_bytes())?;
        self.written += (self.memory.len() + text.len()) as u64;
        self.memory.clear();
        Ok(())
    }

    /// Passes what is at a place to `put`, piece by piece.
    fn read<E: From<AppError>>(
        &self,
        place: Range<u64>,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut at, end) = (place.start, place.end.min(self.written));
        let mut buffer = vec![0; PIECE.min(length(at, end))];
        while let Some(file) = self.file.as_ref().filter(|_| at < end) {
            let piece = &mut buffer[..PIECE.min(length(at, end))];
            file.file().read_exact_at(piece, at).map_err(|why| self.failed(&why))?;
            put(piece)?;
            at += piece.len() as u64;
        }
        let (from, to) = (length(self.written, at), length(self.written, place.end));
        put(self.memory.get(from..to).unwrap_or_default())
    }

    fn failed(&self, why: &io::Error) -> AppError {
        let message = format!("The runs could not be kept in {}: {why}.", self.dir.display());
        AppError::new(Code::Failed, message).hint("Free some space there, and try again.")
    }
}

/// Returns the number of bytes between two places, in their order.
fn length(from: u64, to: u64) -> usize {
    usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)
}

/// Number of files that were created, so that no two have the same name while they have one.
static CREATED: AtomicU64 = AtomicU64::new(0);

/// Creates a file in a folder and removes its name.
fn nameless_file(dir: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(dir)?;
    let number = CREATED.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!(".export-{}-{number}", std::process::id()));
    // `create_new` does not follow links.
    let file = fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_were_written_and_only_a_part_of_them_is_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [0_usize, 1, 7, 40] {
            let mut spool = Spool::new(&folder.path().join("new"));
            // Two documents, whose texts are written in turn.
            let mut expected = [String::new(), String::new()];
            let mut places = [Vec::new(), Vec::new()];
            for number in 0..pieces {
                let text = format!("{number},").repeat(400_000);
                places[number % 2].push(spool.write(&text).unwrap());
                expected[number % 2].push_str(&text);
            }
            assert!(spool.memory.len() <= MOST_IN_MEMORY);
            let length = expected.iter().map(String::len).sum::<usize>();
            assert_eq!(spool.file.is_some(), length > MOST_IN_MEMORY, "{pieces}");
            let spool = Arc::new(spool);
            for (places, expected) in places.into_iter().zip(expected) {
                let document = ExportedDocument::from_parts(
                    "a.json".to_owned(),
                    "application/json",
                    ("[".to_owned(), (Arc::clone(&spool), places), "]"),
                );
                let text = document.into_file(Vec::new()).unwrap().text;
                assert!(text == format!("[{expected}]"), "{pieces}");
            }
        }
        let names = fs::read_dir(folder.path().join("new")).unwrap().count();
        assert_eq!(names, 0, "no file has a name");
    }

    #[test]
    fn a_text_that_lies_in_the_file_and_in_memory_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path());
        let long = "long ".repeat(MOST_IN_MEMORY / 4);
        spool.write(&long).unwrap();
        spool.write("short").unwrap();
        let mut text = Vec::new();
        let place = long.len() as u64 - 5..long.len() as u64 + 3;
        spool
            .read::<AppError>(place, &mut |piece| {
                text.extend_from_slice(piece);
                Ok(())
            })
            .unwrap();
        assert_eq!(text, b"long sho");
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mut spool = Spool::new(&file);
        let error = spool.write(&" ".repeat(MOST_IN_MEMORY + 1)).unwrap_err();
        assert!(error.message.contains("file"), "{}", error.message);
    }
}
