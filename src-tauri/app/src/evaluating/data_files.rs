//! Data files for evaluations: files of the open folder, searched for on request, and files chosen
//! in the dialog of the window. The page refers to them by id only.
use super::EvaluationActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use fs_err as fs;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use touchstone_api::{DataFile, DataLook};
use touchstone_judges::azure::{Quirks, Row, Table};
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_store::open::{self, Refused};
use touchstone_store::roots::{FileId, Root, Roots};
use xxhash_rust::xxh3::xxh3_64;

/// Maximum size of a file that is read.
pub(super) const LARGEST: u64 = 256 << 20;
/// Limits of the search through a folder.
const USUAL: Bounds =
    Bounds { names: 400_000, names_of_one: 100_000, files: 500, deepest: 8, looked_into: 500 };
/// Bytes read of a JSON file to see whether it is a list.
const HEAD: u64 = 64;
/// Hint shown when the search was cut off by its limits.
const NOT_ALL: &str = "The folder holds too many files to list all of its data files. Move a \
    missing one to the top of the folder, or name it on the command line: touchstone evaluate \
    --data FILE";
/// Number of rows shown (`SHOWN_ROWS`), and characters of each of their values (`SHOWN_LETTERS`).
const SHOWN_ROWS: usize = 5;
const SHOWN_LETTERS: usize = 200;
/// Maximum number of unreadable rows that are listed.
const SHOWN_WRONG: usize = 20;

/// Files that the page may refer to by id.
#[derive(Default)]
pub(crate) struct DataFileRegistry {
    /// Files from a dialog, latest last.
    paths: Mutex<Vec<PathBuf>>,
    /// Files found by the latest search of the folder, by id. Looking one of them up needs no new
    /// search.
    listed: Mutex<Listed>,
}

#[derive(Default)]
struct Listed {
    of: Weak<OpenFolder>,
    files: HashMap<String, FoundFile>,
}

/// Search limits: names in total and per folder, listed files, depth, and files that are opened.
#[derive(Clone, Copy)]
struct Bounds {
    names: usize,
    names_of_one: usize,
    files: usize,
    deepest: usize,
    /// Number of JSON files whose beginning is read to see whether they are data files.
    looked_into: usize,
}

/// A data file and its location.
#[derive(Clone)]
pub(super) struct FoundFile {
    pub(super) file: DataFile,
    at: FileLocation,
}

impl FoundFile {
    /// Returns the path, if the user gave it.
    pub(super) fn named_at(&self) -> Option<&Path> {
        match &self.at {
            FileLocation::Named(path) => Some(path),
            FileLocation::Below(..) => None,
        }
    }
}

#[derive(Clone)]
enum FileLocation {
    /// Below a directory of the folder; symbolic links are never followed.
    Below(Arc<Roots>, FileId),
    /// Path given by the user.
    Named(PathBuf),
}

impl EvaluationActions<'_> {
    /// Registers a file that the user chose in a dialog. Only for front ends with a dialog: for
    /// security the page never gives a path.
    pub fn register_data(self, path: &Path) -> Result<DataFile, AppError> {
        let found = named(path)?;
        let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut handed = lock(&self.app.inner.handed.paths);
        if !handed.contains(&full) {
            handed.push(full);
        }
        Ok(found.file)
    }

    /// Returns a preview of a data file: its columns, first rows, and unreadable rows.
    pub fn look_at_data(self, id: &str) -> Result<DataLook, AppError> {
        let found = self.data_file(id)?;
        let table = table(&found, &Quirks::default())?;
        Ok(preview(found.file, &table))
    }

    /// Returns all data files that the page may use, registered ones first, and a hint if the
    /// search was cut off.
    pub(super) fn data_files(self) -> (Vec<DataFile>, Option<String>) {
        let handed = self.handed().map(|found| found.file);
        let (below, all) =
            self.app.current_folder().map_or((Vec::new(), true), |open| self.look_through(&open));
        (handed.chain(below).collect(), (!all).then(|| NOT_ALL.to_owned()))
    }

    /// Returns the data file with this id. Fails if it does not exist any more.
    pub(super) fn data_file(self, id: &str) -> Result<FoundFile, AppError> {
        let gone = || AppError::new(Code::NotFound, "This data file no longer exists.");
        if let Some(found) = self.handed().find(|found| found.file.id == id) {
            return Ok(found);
        }
        let open = self.app.current_folder().ok_or_else(gone)?;
        if self.listed(&open, id).is_none() {
            self.look_through(&open);
        }
        let mut found = self.listed(&open, id).ok_or_else(gone)?;
        if let FileLocation::Below(roots, file) = &found.at {
            match open::open(roots, file) {
                Ok((_, stamp)) => found.file.size = stamp.size,
                Err(Refused::Gone) => return Err(gone()),
                // The error is reported when the file is read.
                Err(_) => {}
            }
        }
        Ok(found)
    }

    /// Returns a data file that was created in the open folder, with its id in the listing.
    pub(super) fn data_file_at(
        self,
        open: &Arc<OpenFolder>,
        path: &Path,
    ) -> Result<DataFile, AppError> {
        self.look_through(open);
        let listed = lock(&self.app.inner.handed.listed);
        let is_it = |found: &&FoundFile| matches!(&found.at, FileLocation::Below(roots, file) if roots.path(file).as_deref() == Some(path));
        let file = listed.files.values().find(is_it).map(|found| found.file.clone());
        drop(listed);
        // If the listing was cut off, the file is registered by path.
        file.map_or_else(|| self.register_data(path), Ok)
    }

    fn handed(self) -> impl Iterator<Item = FoundFile> + use<> {
        let paths = lock(&self.app.inner.handed.paths).clone();
        paths.into_iter().rev().filter_map(|path| named(&path).ok())
    }

    fn listed(self, open: &Arc<OpenFolder>, id: &str) -> Option<FoundFile> {
        let listed = lock(&self.app.inner.handed.listed);
        listed.of.upgrade().filter(|of| Arc::ptr_eq(of, open))?;
        listed.files.get(id).cloned()
    }

    /// Searches a folder and caches the result; also returns whether the search was complete.
    fn look_through(self, open: &Arc<OpenFolder>) -> (Vec<DataFile>, bool) {
        let (found, all) = below(&open.flow.roots, USUAL);
        let files = found.iter().map(|found| found.file.clone()).collect();
        let by_id = found.into_iter().map(|found| (found.file.id.clone(), found)).collect();
        *lock(&self.app.inner.handed.listed) = Listed { of: Arc::downgrade(open), files: by_id };
        (files, all)
    }
}

/// Reads a data file into a table.
pub(super) fn table(found: &FoundFile, quirks: &Quirks) -> Result<Arc<Table>, AppError> {
    let shown = &found.file.path;
    let failed =
        |why: String| AppError::new(Code::BadRequest, format!("{shown} cannot be read: {why}"));
    let bytes = match &found.at {
        FileLocation::Below(roots, file) => {
            open::read(roots, file, LARGEST).map_err(|why| failed(format!("{why}.")))?.0
        }
        FileLocation::Named(path) => read(path).map_err(failed)?,
    };
    let text = String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text.".to_owned()))?;
    let end = Path::new(shown).extension().map(OsStr::to_ascii_lowercase);
    let csv = end.is_some_and(|end| end == "csv" || end == "tsv");
    Table::read(&text, csv, quirks).map(Arc::new).map_err(failed)
}

/// Returns a data file given by path.
pub(super) fn named(path: &Path) -> Result<FoundFile, AppError> {
    let shown = path.to_string_lossy().into_owned();
    let failed = |why: String| {
        AppError::new(Code::BadRequest, format!("{shown} cannot be read: {why}"))
            .hint("Data files are JSON Lines, a JSON list, or CSV.")
    };
    let meta = fs::metadata(path).map_err(|why| failed(format!("{}.", open::reason(&why))))?;
    if !meta.is_file() {
        return Err(failed("it is not a file.".to_owned()));
    }
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let id = format!("{:016x}", xxh3_64(full.as_os_str().as_bytes()));
    Ok(FoundFile {
        file: DataFile { id, path: shown, size: meta.len() },
        at: FileLocation::Named(path.to_owned()),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let file = fs::File::open(path).map_err(|why| format!("{}.", open::reason(&why)))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|why| format!("{why}."))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than the limit of {LARGEST} bytes."));
    }
    Ok(bytes)
}

/// Searches a folder for data files; also returns whether the search was complete. Breadth first,
/// so that the limits cut off deep files; hidden files are skipped. Directly in the opened folder
/// only files count, not its subfolders, which may hold anything.
fn below(roots: &Roots, bounds: Bounds) -> (Vec<FoundFile>, bool) {
    let top = Roots { input_dir: None, output_dir: roots.folder.clone(), ..roots.clone() };
    let (roots, top) = (Arc::new(roots.clone()), Arc::new(top));
    let mut folders: VecDeque<(&Arc<Roots>, FileId)> =
        roots.existing().into_iter().map(|root| (&roots, FileId::new(root, Vec::new()))).collect();
    folders.push_back((&top, FileId::new(Root::Output, Vec::new())));
    let mut seen: HashSet<PathBuf> =
        folders.iter().filter_map(|(of, root)| of.path(root)).collect();
    let (mut found, mut names, mut all, mut looked) = (Vec::new(), 0, true, 0);
    while let Some((of, folder)) = folders.pop_front() {
        let Some(path) = of.path(&folder) else { continue };
        let (entries, read, whole) = entries(&path, bounds.names_of_one.min(bounds.names - names));
        names += read;
        all &= whole;
        let is_top = Arc::ptr_eq(of, &top);
        for (name, is_folder, size) in entries {
            let file = folder.join(&name);
            // One directory may lie inside the other.
            if is_folder && is_top || !seen.insert(path.join(&name)) {
                continue;
            }
            if is_folder {
                let deep = file.depth() >= bounds.deepest;
                all &= !deep;
                folders.extend((!deep).then_some((of, file)));
            } else if is_json(&name) && looked == bounds.looked_into {
                all = false;
            } else if is_json(&name) && !is_list(of, &file, &mut looked) {
                // Most JSON files are not lists of rows.
            } else if found.len() == bounds.files {
                return (found, false);
            } else {
                found.push(FoundFile {
                    file: described(of, &file, size, is_top),
                    at: FileLocation::Below(Arc::clone(of), file),
                });
            }
        }
    }
    (found, all)
}

/// Name, whether it is a folder, and size.
type Entry = (OsString, bool, u64);

/// Returns the folders and data files in a folder sorted by name, the number of names read, and
/// whether these were all.
fn entries(path: &Path, most: usize) -> (Vec<Entry>, usize, bool) {
    let mut names = fs::read_dir(path).into_iter().flatten().flatten();
    let (mut found, mut read) = (Vec::new(), 0);
    for entry in names.by_ref().take(most) {
        read += 1;
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        if name.as_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            found.push((name, true, 0));
        } else if kind.is_file() && is_data_file(&name) {
            let size = entry.metadata().map_or(0, |meta| meta.len());
            found.push((name, false, size));
        }
    }
    found.sort();
    (found, read, names.next().is_none())
}

fn described(roots: &Roots, file: &FileId, size: u64, is_top: bool) -> DataFile {
    let root: &[u8] = match file.root {
        _ if is_top => b"data of the folder\0",
        Root::Input => b"data of the input\0",
        Root::Output => b"data of the output\0",
    };
    DataFile {
        id: format!("{:016x}", xxh3_64(&[root, &file.path].concat())),
        path: roots.display_path(file),
        size,
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_data_file(name: &OsStr) -> bool {
    let end = Path::new(name).extension().map(OsStr::to_ascii_lowercase);
    end.is_some_and(|end| end == "jsonl" || end == "csv" || end == "tsv" || end == "json")
}

fn is_json(name: &OsStr) -> bool {
    Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("json"))
}

/// Returns true if a JSON file begins as a list; most JSON files are something else.
fn is_list(roots: &Roots, file: &FileId, looked: &mut usize) -> bool {
    *looked += 1;
    let mut head = Vec::new();
    let Ok((opened, _)) = open::open(roots, file) else { return false };
    let read = opened.take(HEAD).read_to_end(&mut head);
    let head = head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&head);
    read.is_ok() && head.trim_ascii_start().first() == Some(&b'[')
}

fn preview(file: DataFile, table: &Table) -> DataLook {
    let short = |value: &Value| {
        let text = match value {
            Value::Text(text) => text.clone(),
            other => json::write(other, false),
        };
        text.chars().take(SHOWN_LETTERS).collect()
    };
    let cells =
        |row: &Row| (0..table.columns.len()).map(|column| row.cell(column).map(short)).collect();
    DataLook {
        file,
        rows: table.rows.len() as u64,
        columns: table.columns.clone(),
        sample: table.rows.iter().take(SHOWN_ROWS).map(cells).collect(),
        wrong: table.wrong.iter().take(SHOWN_WRONG).map(|wrong| wrong.message.clone()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(folder: &Path, bounds: Bounds) -> (Vec<String>, bool) {
        let roots = Roots {
            folder: folder.to_owned(),
            input_dir: Some(folder.join("tasks")),
            output_dir: folder.join("results"),
            ..Roots::default()
        };
        let (found, all) = below(&roots, bounds);
        (found.into_iter().map(|found| found.file.path).collect(), all)
    }

    #[test]
    fn data_files_among_very_many_others_are_listed_and_what_is_left_out_is_told() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["tasks/a/b", "results/runs", "other"] {
            fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for at in 0..40 {
            fs::write(home.path().join(format!("results/runs/{at}.yaml")), "").unwrap();
        }
        for file in [
            "top.csv",
            "tasks/1.jsonl",
            "tasks/a/2.jsonl",
            "tasks/a/b/3.jsonl",
            "results/4.csv",
            "other/5.csv",
        ] {
            fs::write(home.path().join(file), "a\n1\n").unwrap();
        }
        let all =
            ["results/4.csv", "tasks/1.jsonl", "top.csv", "tasks/a/2.jsonl", "tasks/a/b/3.jsonl"];
        let told = |(names, all): (Vec<String>, bool)| (names.join(" "), all);
        let first = |count: usize| all[..count].join(" ");
        let of = |bounds| told(listed(home.path(), bounds));
        assert_eq!(of(USUAL), (first(5), true));
        // Forty names in one folder hide none of another.
        assert_eq!(of(Bounds { names_of_one: 39, ..USUAL }), (first(5), false));
        assert_eq!(of(Bounds { files: 5, ..USUAL }), (first(5), true));
        assert_eq!(of(Bounds { files: 4, ..USUAL }), (first(4), false));
        assert_eq!(of(Bounds { deepest: 2, ..USUAL }), (first(4), false));
        assert_eq!(of(Bounds { names: 9, ..USUAL }), (first(3), false));
        // A JSON file is a data file if it begins as a list, as long as the limit of opened files
        // allows.
        fs::write(home.path().join("tasks/0.json"), "{}").unwrap();
        assert_eq!(
            (of(USUAL), of(Bounds { looked_into: 1, ..USUAL })),
            ((first(5), true), (first(5), true))
        );
        fs::write(home.path().join("top.json"), " \n[{}]").unwrap();
        let with_list = all[..3]
            .iter()
            .chain(&["top.json"])
            .chain(&all[3..])
            .copied()
            .collect::<Vec<_>>()
            .join(" ");
        assert_eq!(of(USUAL), (with_list, true));
        assert_eq!(of(Bounds { looked_into: 1, ..USUAL }), (first(5), false));
    }

    #[test]
    fn a_file_that_two_directories_hold_is_listed_once() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("rows.csv"), "a\n").unwrap();
        let here = home.path().to_owned();
        let (input_dir, output_dir) = (Some(here.clone()), here.clone());
        let roots = Roots { folder: here, input_dir, output_dir, ..Roots::default() };
        assert_eq!(below(&roots, USUAL).0.len(), 1);
    }
}
