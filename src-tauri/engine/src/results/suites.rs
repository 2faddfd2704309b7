//! The suites of the open folder, read and kept in memory: there are few, and every run may ask for its task.
//! Owns reading them and what is wrong with them.
use super::roots::{FileId, Roots};
use super::scan::is_suite_name;
use crate::rows::{Problem, ProblemKind};
use std::collections::{BTreeMap, HashMap};
use std::panic::catch_unwind;
use std::sync::{Arc, PoisonError, RwLock};
use touchstone_formats::{ReadError, ReadErrorKind, suite};
use xxhash_rust::xxh3::xxh3_64;

/// One task, and where it was read.
#[derive(Debug)]
pub struct Task {
    /// What its suite says.
    pub suite: Arc<suite::Task>,
    /// The file of the suite, or its folder when it is a folder of loose prompts.
    pub file: FileId,
}

impl Task {
    /// What a variation is called.
    pub fn variation_name(&self, index: usize) -> Option<String> {
        let label = self.suite.variations.get(index)?.label();
        (!label.is_empty()).then_some(label)
    }
}

/// All tasks.
#[derive(Debug, Default)]
pub struct Tasks {
    by_id: BTreeMap<String, Arc<Task>>,
    /// Benchmark folders name a task by the folder of its suite.
    by_folder: HashMap<String, Option<Arc<Task>>>,
}

impl Tasks {
    /// The task that a run names: by its id, or by the folder that holds only this suite.
    pub fn get(&self, name: &str) -> Option<&Arc<Task>> {
        self.by_id.get(name).or_else(|| self.by_folder.get(name)?.as_ref())
    }

    /// All of them, by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.by_id.values()
    }

    fn of(tasks: impl Iterator<Item = Arc<Task>>) -> Self {
        let mut all = Self::default();
        for task in tasks {
            if let Some((folder, _)) = task.suite.id.rsplit_once('/') {
                let alone = !all.by_folder.contains_key(folder);
                all.by_folder.insert(folder.to_owned(), alone.then(|| Arc::clone(&task)));
            }
            all.by_id.insert(task.suite.id.clone(), task);
        }
        // A suite that is written down beats the loose prompts that lie beside it.
        let written = |folder: &str| all.by_folder.get(folder).is_some_and(Option::is_some);
        all.by_id.retain(|id, task| task.file.shown() != *id || !written(id));
        all
    }
}

/// The suites that were read, shared with whoever shows a run.
#[derive(Debug, Default)]
pub struct Shelf {
    tasks: RwLock<Arc<Tasks>>,
    problems: RwLock<Arc<Vec<Problem>>>,
}

impl Shelf {
    /// All tasks as they are now.
    pub fn tasks(&self) -> Arc<Tasks> {
        Arc::clone(&self.tasks.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is wrong with suite files, errors first.
    pub fn problems(&self) -> Arc<Vec<Problem>> {
        Arc::clone(&self.problems.read().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Shelved {
    hash: u64,
    tasks: Vec<Arc<Task>>,
    problems: Vec<Problem>,
}

/// The shelf, from the side of the one who fills it.
pub(crate) struct Shelving {
    shelf: Arc<Shelf>,
    files: BTreeMap<FileId, Shelved>,
    tasks: Arc<Tasks>,
    changed: bool,
    /// Nobody has seen anything of it yet.
    new: bool,
}

impl Shelving {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { shelf, files: BTreeMap::new(), tasks: Arc::default(), changed: true, new: true }
    }

    /// The tasks as they were when last published.
    pub(crate) fn tasks(&self) -> Arc<Tasks> {
        Arc::clone(&self.tasks)
    }

    /// Reads a suite.
    pub(crate) fn put(&mut self, roots: &Roots, file: &FileId, bytes: &[u8]) {
        let hash = xxh3_64(bytes);
        if self.files.get(file).is_some_and(|shelved| shelved.hash == hash) {
            return;
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| ReadError::new(ReadErrorKind::NotUtf8, "The file holds bytes that are no UTF-8 text."));
        let suite = text.and_then(|text| {
            catch_unwind(|| suite::read(text, &task_id(file))).unwrap_or_else(|_| {
                let message = "The file could not be read: its content brought the reader to a stop.";
                Err(ReadError::new(ReadErrorKind::Syntax, message))
            })
        });
        self.keep(roots, file, hash, suite);
    }

    /// Reads a folder of loose prompts.
    pub(crate) fn put_folder(&mut self, roots: &Roots, folder: &FileId, files: &[(&str, &str)]) {
        match suite::from_folder(&folder.shown(), files) {
            None => self.remove(folder),
            Some(suite) => {
                let hash = xxh3_64(files.iter().flat_map(|(name, text)| [*name, *text]).collect::<String>().as_bytes());
                self.keep(roots, folder, hash, suite);
            }
        }
    }

    fn keep(&mut self, roots: &Roots, file: &FileId, hash: u64, suite: Result<suite::Suite, ReadError>) {
        let (tasks, problems) = match suite {
            Ok(suite) => {
                let tasks =
                    suite.tasks.into_iter().map(|suite| Arc::new(Task { suite: Arc::new(suite), file: file.clone() }));
                let warnings = suite.warnings.into_iter().map(|warning| Problem {
                    line: warning.line,
                    column: warning.column,
                    excerpt: warning.excerpt,
                    ..blank(ProblemKind::SuiteWarning, roots, file, warning.message)
                });
                (tasks.collect(), warnings.collect())
            }
            Err(error) => (Vec::new(), vec![problem(roots.shown(file), error)]),
        };
        self.files.insert(file.clone(), Shelved { hash, tasks, problems });
        self.changed = true;
    }

    /// Notes why something that is named like a suite is none.
    pub(crate) fn refuse(&mut self, roots: &Roots, file: &FileId, reason: &str) {
        let problem = blank(ProblemKind::SuiteError, roots, file, reason.to_owned());
        self.files.insert(file.clone(), Shelved { hash: 0, tasks: Vec::new(), problems: vec![problem] });
        self.changed = true;
    }

    /// Forgets a file that is no suite any more.
    pub(crate) fn remove(&mut self, file: &FileId) {
        self.changed |= self.files.remove(file).is_some();
    }

    /// True until it is published for the first time.
    pub(crate) fn is_new(&self) -> bool {
        self.new
    }

    /// True when nothing changed since it was published.
    pub(crate) fn is_settled(&self) -> bool {
        !self.changed
    }

    /// Shows what changed to everyone; returns what stands for all tasks, or nothing when nothing changed.
    pub(crate) fn publish(&mut self) -> Option<i64> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        self.new = false;
        self.tasks = Arc::new(Tasks::of(self.files.values().flat_map(|shelved| shelved.tasks.iter().cloned())));
        let mut problems: Vec<Problem> = self.files.values().flat_map(|shelved| shelved.problems.clone()).collect();
        problems.sort_by_key(|problem| problem.kind);
        *self.shelf.tasks.write().unwrap_or_else(PoisonError::into_inner) = self.tasks();
        *self.shelf.problems.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(problems);
        let parts: Vec<String> =
            self.files.iter().map(|(file, shelved)| format!("{file:?} {:x}\n", shelved.hash)).collect();
        Some(if parts.is_empty() { 0 } else { xxh3_64(parts.concat().as_bytes()).cast_signed() })
    }

    /// How many tasks there are, and how many files with something wrong.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let wrong = self.files.values().filter(|shelved| !shelved.problems.is_empty()).count();
        (self.tasks.by_id.len() as u64, wrong as u64)
    }
}

/// The id of the task in a file.
fn task_id(file: &FileId) -> String {
    let path = file.shown();
    let stem = path.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    if is_suite_name(file) { stem.unwrap_or(path) } else { path }
}

/// A suite or workspace file that cannot be read, named as the person sees it.
pub(crate) fn problem(file: String, error: ReadError) -> Problem {
    Problem {
        kind: ProblemKind::SuiteError,
        file,
        run: None,
        message: error.message,
        line: error.line,
        column: error.column,
        excerpt: error.excerpt,
        advice: error.advice,
    }
}

fn blank(kind: ProblemKind, roots: &Roots, file: &FileId, message: String) -> Problem {
    let file = roots.shown(file);
    Problem { kind, file, run: None, message, line: None, column: None, excerpt: None, advice: None }
}
