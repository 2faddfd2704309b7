//! Documents of written runs. What is large waits in a file without a name until the document is
//! taken, so that memory stays bounded however many runs it has.
use crate::error::{AppError, Code};
use fs_err as fs;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use touchstone_api::ExportedFile;

/// Maximum number of bytes of a document that wait in memory.
const MOST_IN_MEMORY: usize = 8 << 20;
/// Number of bytes that are copied at a time.
const PIECE: usize = 1 << 16;

/// A document of one or more written runs.
#[derive(Debug)]
pub struct ExportedDocument {
    /// Suggested file name.
    pub file_name: String,
    media_type: &'static str,
    /// Text before the spooled one, or all of it.
    start: String,
    middle: Option<Spool>,
    end: &'static str,
}

impl ExportedDocument {
    pub(super) fn from_text(text: String, file_name: String, media_type: &'static str) -> Self {
        Self { file_name, media_type, start: text, middle: None, end: "" }
    }

    pub(super) fn from_parts(
        file_name: String,
        media_type: &'static str,
        (start, middle, end): (String, Spool, &'static str),
    ) -> Self {
        Self { file_name, media_type, start, middle: Some(middle), end }
    }

    /// Passes the text to `put`, piece by piece.
    pub fn write<E: From<AppError>>(
        self,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        put(self.start.as_bytes())?;
        if let Some(spool) = self.middle {
            spool.read(put)?;
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

/// Text that is kept until it is read: the end of it in memory, and what is before that in a file.
/// The file has no name, and is gone when the text is.
#[derive(Debug)]
pub(super) struct Spool {
    /// Folder of the file.
    dir: PathBuf,
    memory: Vec<u8>,
    file: Option<fs::File>,
}

impl Spool {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), memory: Vec::new(), file: None }
    }

    /// Appends a text.
    pub(super) fn write(&mut self, text: &str) -> Result<(), AppError> {
        if self.memory.len() + text.len() <= MOST_IN_MEMORY {
            self.memory.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        let written = self.write_out().and_then(|file| file.write_all(text.as_bytes()));
        written.map_err(|why| self.failed(&why))
    }

    /// Moves what is in memory to the file, which it returns.
    fn write_out(&mut self) -> io::Result<&mut fs::File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => nameless_file(&self.dir)?,
        };
        let file = self.file.insert(file);
        file.write_all(&self.memory)?;
        self.memory.clear();
        Ok(file)
    }

    /// Passes the text to `put`, piece by piece.
    fn read<E: From<AppError>>(
        mut self,
        put: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(mut file) = self.file.take() {
            file.rewind().map_err(|why| self.failed(&why))?;
            let mut piece = vec![0; PIECE];
            loop {
                match file.read(&mut piece) {
                    Ok(0) => break,
                    Ok(length) => put(piece.get(..length).unwrap_or_default())?,
                    Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                    Err(why) => return Err(self.failed(&why).into()),
                }
            }
        }
        put(&self.memory)
    }

    fn failed(&self, why: &io::Error) -> AppError {
        let message = format!("The runs could not be kept in {}: {why}.", self.dir.display());
        AppError::new(Code::Failed, message).hint("Free some space there, and try again.")
    }
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
    fn a_text_is_read_as_it_was_written_and_only_a_part_of_it_is_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for pieces in [0_usize, 1, 7, 40] {
            let mut spool = Spool::new(&folder.path().join("new"));
            let mut expected = String::new();
            for number in 0..pieces {
                let text = format!("{number},").repeat(400_000);
                spool.write(&text).unwrap();
                expected.push_str(&text);
            }
            assert!(spool.memory.len() <= MOST_IN_MEMORY);
            assert_eq!(spool.file.is_some(), expected.len() > MOST_IN_MEMORY, "{pieces}");
            let document = ExportedDocument::from_parts(
                "a.json".to_owned(),
                "application/json",
                ("[".to_owned(), spool, "]"),
            );
            let text = document.into_file(Vec::new()).unwrap().text;
            assert!(text == format!("[{expected}]"), "{pieces}");
        }
        let names = fs::read_dir(folder.path().join("new")).unwrap().count();
        assert_eq!(names, 0, "no file has a name");
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
