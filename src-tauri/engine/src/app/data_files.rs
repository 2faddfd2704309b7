//! Data files that can be evaluated: those of the open folder, found when somebody asks, and those that the window's dialog handed in.
//! The page names them by ids alone.
use super::App;
use crate::error::{AppError, Code};
use crate::results::open;
use crate::results::roots::{FileId, Root, Roots};
use crate::rows::{DataFile, DataLook};
use fs_err as fs;
use std::collections::VecDeque;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_formats::json;
use touchstone_formats::value::Value;
use touchstone_scoring::azure::{Quirks, Row, Table};
use xxhash_rust::xxh3::xxh3_64;

/// Larger files are not read.
const LARGEST: u64 = 256 << 20;
/// Names that are looked at, files that are listed and folders that are gone down, at most.
const MOST_NAMES: usize = 50_000;
const MOST_FILES: usize = 500;
const DEEPEST: usize = 8;
/// Rows that are shown, and letters of each of their values.
const SHOWN_ROWS: usize = 5;
const SHOWN_LETTERS: usize = 200;
/// Rows that cannot be read and are named.
const SHOWN_WRONG: usize = 20;

/// Files that were handed in through a dialog, latest last.
#[derive(Default)]
pub(super) struct Handed(Mutex<Vec<PathBuf>>);

/// A data file, and where it is.
pub(super) struct Found {
    pub(super) file: DataFile,
    at: At,
}

impl Found {
    /// Where a person said that it is.
    pub(super) fn named_at(&self) -> Option<&Path> {
        match &self.at {
            At::Named(path) => Some(path),
            At::Below(_) => None,
        }
    }
}

enum At {
    /// Below the folder: never through a link.
    Below(FileId),
    /// Where a person said.
    Named(PathBuf),
}

impl App {
    /// Takes in a file that a person chose in a dialog. Only for front doors that have one: the page never names a path.
    pub fn register_data(&self, path: &Path) -> Result<DataFile, AppError> {
        let found = named(path)?;
        let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut handed = self.inner.handed.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !handed.contains(&full) {
            handed.push(full);
        }
        Ok(found.file)
    }

    /// What a data file holds: its columns, its first rows, and what of it cannot be read.
    pub fn look_at_data(&self, id: &str) -> Result<DataLook, AppError> {
        let found = self.data_file(id)?;
        let table = self.table(&found, &Quirks::default())?;
        Ok(look(found.file, &table))
    }

    /// All data files that the page may ask for, those that were handed in first.
    pub(super) fn data_files(&self) -> Vec<Found> {
        let handed = self.inner.handed.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let handed = handed.iter().rev().filter_map(|path| named(path).ok());
        let below = self.current().map(|open| below(&open.flow.roots)).unwrap_or_default();
        handed.chain(below).collect()
    }

    /// The data file of an id.
    pub(super) fn data_file(&self, id: &str) -> Result<Found, AppError> {
        let found = self.data_files().into_iter().find(|found| found.file.id == id);
        found.ok_or_else(|| AppError::new(Code::NotFound, "This data file is not there any more."))
    }

    /// Reads a data file.
    pub(super) fn table(&self, found: &Found, quirks: &Quirks) -> Result<Arc<Table>, AppError> {
        let shown = &found.file.path;
        let failed = |why: String| AppError::new(Code::BadRequest, format!("{shown} cannot be read: {why}"));
        let bytes = match &found.at {
            At::Below(file) => {
                let open = self.opened()?;
                open::read(&open.flow.roots, file, LARGEST).map_err(|why| failed(format!("{why}.")))?.0
            }
            At::Named(path) => read(path).map_err(failed)?,
        };
        let text = String::from_utf8(bytes).map_err(|_| failed("it holds bytes that are no UTF-8 text.".to_owned()))?;
        let csv = Path::new(shown).extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        Table::read(&text, csv, quirks).map(Arc::new).map_err(failed)
    }
}

/// A file that was named by its path.
pub(super) fn named(path: &Path) -> Result<Found, AppError> {
    let shown = path.to_string_lossy().into_owned();
    let failed = |why: String| {
        AppError::new(Code::BadRequest, format!("{shown} cannot be read: {why}"))
            .hint("Data files are JSON Lines or CSV: one row a line.")
    };
    let meta = fs::metadata(path).map_err(|why| failed(format!("{}.", open::reason(&why))))?;
    if !meta.is_file() {
        return Err(failed("it is no file.".to_owned()));
    }
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let id = format!("{:016x}", xxh3_64(full.as_os_str().as_bytes()));
    Ok(Found { file: DataFile { id, path: shown, size: meta.len() }, at: At::Named(path.to_owned()) })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = fs::File::open(path).map_err(|why| format!("{}.", open::reason(&why)))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|why| format!("{why}."))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than the {LARGEST} bytes that are read."));
    }
    Ok(bytes)
}

/// Data files of a folder: breadth first, so that the bounds cut off what lies deep, and nothing hidden.
fn below(roots: &Roots) -> Vec<Found> {
    let (mut found, mut names) = (Vec::new(), 0);
    let mut folders: VecDeque<FileId> = roots.each().into_iter().map(|root| FileId::new(root, Vec::new())).collect();
    while let Some(folder) = folders.pop_front() {
        let Some(path) = roots.path(&folder) else { continue };
        let mut entries: Vec<_> = fs::read_dir(path).into_iter().flatten().flatten().collect();
        names += entries.len();
        if names > MOST_NAMES {
            break;
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let file = folder.join(&name);
            if name.as_bytes().starts_with(b".") {
                continue;
            }
            if kind.is_dir() && file.depth() < DEEPEST {
                folders.push_back(file);
            } else if kind.is_file() && is_one(&name) && !found.iter().any(|other| same(roots, other, &file)) {
                found.push(of(roots, file, entry.metadata().map_or(0, |meta| meta.len())));
            }
            if found.len() == MOST_FILES {
                return found;
            }
        }
    }
    found
}

/// One directory may lie in the other.
fn same(roots: &Roots, other: &Found, file: &FileId) -> bool {
    matches!(&other.at, At::Below(known) if known.root != file.root && roots.path(known) == roots.path(file))
}

fn of(roots: &Roots, file: FileId, size: u64) -> Found {
    let root: &[u8] = if file.root == Root::Input { b"data of the input\0" } else { b"data of the output\0" };
    let id = format!("{:016x}", xxh3_64(&[root, &file.path].concat()));
    Found { file: DataFile { id, path: roots.shown(&file), size }, at: At::Below(file) }
}

fn is_one(name: &std::ffi::OsStr) -> bool {
    let end = Path::new(name).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    end.is_some_and(|end| end == "jsonl" || end == "csv")
}

fn look(file: DataFile, table: &Table) -> DataLook {
    let short = |value: &Value| {
        let text = match value {
            Value::Text(text) => text.clone(),
            other => json::write(other, false),
        };
        text.chars().take(SHOWN_LETTERS).collect()
    };
    let cells = |row: &Row| (0..table.columns.len()).map(|column| row.cell(column).map(short)).collect();
    DataLook {
        file,
        rows: table.rows.len() as u64,
        columns: table.columns.clone(),
        sample: table.rows.iter().take(SHOWN_ROWS).map(cells).collect(),
        wrong: table.wrong.iter().take(SHOWN_WRONG).map(|wrong| wrong.message.clone()).collect(),
    }
}
