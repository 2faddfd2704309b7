//! **Pure.** Access to the bytes of a file and of its neighbours, given by the caller.
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Maximum size of a file that a reader loads whole, in bytes.
pub const MOST_BYTES: u64 = 512 << 20;

/// Bytes of a file, read piece by piece.
pub trait Source {
    /// Returns the size in bytes.
    fn size(&self) -> u64;

    /// Reads bytes at an offset into the buffer and returns their number, which is less than the
    /// length of the buffer only at the end of the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError>;

    /// Returns a number that changes when the content does, for files that another program may be
    /// writing to.
    fn version(&self) -> u64 {
        0
    }
}

impl Source for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let rest = usize::try_from(offset).ok().and_then(|from| self.get(from..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        self.as_slice().read_at(offset, buffer)
    }
}

/// Files below the results folder, by path with `/` between names.
pub trait Folder {
    /// Opens a file. Returns `None` if there is no such file or it cannot be read.
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>>;

    /// Returns the names of the files and folders directly in a folder, sorted; folders end in `/`.
    fn list(&self, folder: &str) -> Vec<String>;
}

/// Folder without files, for a file that stands alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFolder;

impl Folder for NoFolder {
    fn open(&self, _path: &str) -> Option<Box<dyn Source + '_>> {
        None
    }

    fn list(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }
}

/// File that is to be read.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Path below the results folder.
    pub path: &'a str,
    /// Content of the file.
    pub source: &'a dyn Source,
    /// The folder that holds it.
    pub folder: &'a dyn Folder,
}

impl<'a> Input<'a> {
    /// Returns the file name.
    pub fn name(&self) -> &'a str {
        self.path.rsplit_once('/').map_or(self.path, |(_, name)| name)
    }

    /// Returns the path of the folder that holds the file; empty at the top.
    pub fn parent(&self) -> &'a str {
        self.path.rsplit_once('/').map_or("", |(parent, _)| parent)
    }

    /// Reads the whole file. Fails if it is larger than [`MOST_BYTES`].
    pub fn read_all(&self) -> Result<Vec<u8>, ReadError> {
        read_all(self.source)
    }

    /// Reads a file by its path relative to the folder of this one. Returns `None` if there is no
    /// such file, it is larger than [`MOST_BYTES`], or the path leaves the results folder.
    pub fn read_beside(&self, relative: &str) -> Option<Vec<u8>> {
        let path = resolve(self.parent(), relative)?;
        read_all(&*self.folder.open(&path)?).ok()
    }
}

/// Reads everything. Fails if it is larger than [`MOST_BYTES`].
pub fn read_all(source: &dyn Source) -> Result<Vec<u8>, ReadError> {
    let size = check_size(source)?;
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        let count = source.read_at(filled as u64, &mut bytes[filled..])?;
        if count == 0 {
            break;
        }
        filled += count;
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Returns the size. Fails if it is more than [`MOST_BYTES`].
pub fn check_size(source: &dyn Source) -> Result<u64, ReadError> {
    let size = source.size();
    if size > MOST_BYTES {
        let message = format!(
            "The file is larger than {} MB, which is the most that is read at once.",
            MOST_BYTES >> 20
        );
        return Err(ReadError::new(ReadErrorKind::TooLarge, message));
    }
    Ok(size)
}

/// Joins a folder and a relative path. Returns `None` for absolute paths and paths that leave the
/// results folder.
pub fn resolve(folder: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') || relative.contains('\\') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_path_never_leaves_the_results_folder() {
        assert_eq!(resolve("a/b", "../c/./d.json").as_deref(), Some("a/c/d.json"));
        assert_eq!(resolve("", "x").as_deref(), Some("x"));
        for (folder, relative) in [("a", "../../x"), ("a", "/etc/passwd"), ("a", "..\\x")] {
            assert_eq!(resolve(folder, relative), None, "{relative}");
        }
    }

    #[test]
    fn a_source_gives_what_is_left() {
        let mut buffer = [0; 4];
        let source = b"abcdef".to_vec();
        assert_eq!(source.read_at(4, &mut buffer), Ok(2));
        assert_eq!(&buffer[..2], b"ef");
        assert_eq!(source.read_at(9, &mut buffer), Ok(0));
        assert_eq!(read_all(&source), Ok(source.clone()));
    }
}
