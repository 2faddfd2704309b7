//! The mark of an output directory: which of its tasks hold attacks. Owns the content of its files,
//! and remembers what they and those of the folders above said.
use super::scan_care::is_attack;
use crate::error::{AppError, Code};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_api::SensitiveRuns;
use touchstone_runner::execute::Job;
use touchstone_runner::sensitive_mark::{self, Stamp};
use touchstone_store::suites::Tasks;

/// Number of folders above the output directory whose marks count, too.
const ABOVE: usize = 16;

/// Content of a file of the mark.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Mark {
    /// Tasks whose runs are sensitive.
    tasks: BTreeSet<String>,
}

/// Tasks that a mark names.
type MarkedTasks = Arc<BTreeSet<String>>;

/// What was read of marks, and which runs followed from it.
#[derive(Default)]
pub(crate) struct KnownMarks {
    folders: HashMap<PathBuf, (Stamp, MarkedTasks)>,
    /// The tasks of all marks together, with the marks of the folders that they are of.
    together: Option<(Vec<MarkedTasks>, MarkedTasks)>,
    runs: Option<KnownRuns>,
}

/// Sensitive runs, with what they follow from.
struct KnownRuns {
    marked: Option<MarkedTasks>,
    suites: Arc<Tasks>,
    moment: (PathBuf, u64),
    runs: Arc<SensitiveRuns>,
}

impl KnownMarks {
    /// Returns the tasks that are marked, by their names in this output directory: it may be a folder
    /// of results that were marked as a whole. `None` if the mark cannot be read.
    pub(super) fn marked_tasks(&mut self, output_dir: &Path) -> Option<MarkedTasks> {
        let mut marks = vec![self.mark(output_dir).ok()?];
        let above = output_dir.ancestors().skip(1).take(ABOVE);
        // A folder above is not part of this one, and may be unreadable.
        marks.extend(above.map(|folder| self.mark(folder).unwrap_or_default()));
        if let Some((of, tasks)) = &self.together
            && of.len() == marks.len()
            && of.iter().zip(&marks).all(|(one, other)| Arc::ptr_eq(one, other))
        {
            return Some(Arc::clone(tasks));
        }
        let tasks = Arc::new(join(output_dir, &marks));
        self.together = Some((marks, Arc::clone(&tasks)));
        Some(tasks)
    }

    /// Returns the mark of one folder. Reads it if it changed since it was read.
    fn mark(&mut self, folder: &Path) -> Result<MarkedTasks, String> {
        if let Some((stamp, tasks)) = self.folders.get(folder)
            && stamp.is_current(folder)
        {
            return Ok(Arc::clone(tasks));
        }
        // Taken first: a change while it is read shows at the next look.
        let stamp = Stamp::take(folder);
        let tasks = read_mark(folder).inspect_err(|_| drop(self.folders.remove(folder)))?;
        let known = self.folders.get(folder).map(|(_, known)| known);
        let tasks = match known {
            Some(known) if **known == tasks => Arc::clone(known),
            _ => Arc::new(tasks),
        };
        self.folders.insert(folder.to_owned(), (stamp, Arc::clone(&tasks)));
        Ok(tasks)
    }

    /// Returns the sensitive runs that follow from marked tasks, suites and a moment of the index;
    /// the same as before if these are.
    pub(super) fn runs<E>(
        &mut self,
        marked: Option<&MarkedTasks>,
        suites: &Arc<Tasks>,
        moment: (&Path, u64),
        find: impl FnOnce(Option<&BTreeSet<String>>) -> Result<SensitiveRuns, E>,
    ) -> Result<Arc<SensitiveRuns>, E> {
        if let Some(known) = &self.runs
            && known.marked.as_ref().map(Arc::as_ptr) == marked.map(Arc::as_ptr)
            && Arc::ptr_eq(&known.suites, suites)
            && (known.moment.0.as_path(), known.moment.1) == moment
        {
            return Ok(Arc::clone(&known.runs));
        }
        let runs = Arc::new(find(marked.map(Arc::as_ref))?);
        self.runs = Some(KnownRuns {
            marked: marked.cloned(),
            suites: Arc::clone(suites),
            moment: (moment.0.to_owned(), moment.1),
            runs: Arc::clone(&runs),
        });
        Ok(runs)
    }
}

/// Returns the tasks of the marks of a folder and of those above it, by their names in the folder.
fn join(output_dir: &Path, marks: &[MarkedTasks]) -> BTreeSet<String> {
    let mut tasks = BTreeSet::new();
    for (folder, marked) in output_dir.ancestors().zip(marks) {
        let Ok(below) = output_dir.strip_prefix(folder) else { continue };
        let inside = |task: &String| {
            let rest = Path::new(task).strip_prefix(below).ok()?;
            rest.to_str().map(str::to_owned)
        };
        tasks.extend(marked.iter().filter_map(inside));
    }
    tasks
}

/// Returns the tasks that the mark of a folder names. Fails if the mark cannot be read as a whole.
fn read_mark(folder: &Path) -> Result<BTreeSet<String>, String> {
    let mut tasks = BTreeSet::new();
    for bytes in sensitive_mark::read(folder).map_err(|error| error.to_string())? {
        let mark: Mark = serde_json::from_slice(&bytes).map_err(|error| format!("{error}."))?;
        tasks.extend(mark.tasks);
    }
    Ok(tasks)
}

/// Marks an output directory, in which runs of attacks begin, as sensitive.
pub(crate) fn mark_attacks(output_dir: &Path, jobs: &[Job]) -> Result<(), AppError> {
    let attacks = jobs.iter().map(|job| &job.slot).filter(|slot| is_attack(&slot.task));
    mark_tasks(output_dir, attacks.map(|slot| slot.at.task.clone()).collect())
}

/// Adds tasks to the mark. Nothing that is marked is ever removed.
fn mark_tasks(output_dir: &Path, mut tasks: BTreeSet<String>) -> Result<(), AppError> {
    if tasks.is_empty() {
        return Ok(());
    }
    let failed = |why: String| {
        AppError::new(Code::Failed, format!("The results could not be marked as sensitive: {why}"))
            .hint("Make `.touchstone/sensitive` of the output folder readable, or move it away.")
    };
    let known = read_mark(output_dir).map_err(failed)?;
    tasks.retain(|task| !known.contains(task));
    if tasks.is_empty() {
        return Ok(());
    }
    let bytes =
        serde_json::to_vec_pretty(&Mark { tasks }).map_err(|error| failed(format!("{error}.")))?;
    sensitive_mark::add(output_dir, &bytes).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    fn tasks(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn launches_that_mark_one_folder_take_nothing_from_each_other() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/a"])).unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/a", "red-team/b"])).unwrap();
        assert_eq!(read_mark(dir.path()).unwrap(), tasks(&["red-team/a", "red-team/b"]));
        let files = fs::read_dir(dir.path().join(".touchstone/sensitive")).unwrap().count();
        assert_eq!(files, 2, "no file is written twice");
    }

    #[test]
    fn a_mark_that_cannot_be_read_is_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["a"])).unwrap();
        let folder = dir.path().join(".touchstone/sensitive");
        fs::write(folder.join("damaged.json"), "{").unwrap();
        assert!(mark_tasks(dir.path(), tasks(&["b"])).is_err());
        assert_eq!(fs::read_to_string(folder.join("damaged.json")).unwrap(), "{");
        assert!(marked_tasks(dir.path()).is_none());
    }

    #[test]
    fn the_mark_of_a_folder_counts_in_the_folders_inside() {
        let dir = tempfile::tempdir().unwrap();
        mark_tasks(dir.path(), tasks(&["red-team/deep/a", "other/b"])).unwrap();
        let inside = dir.path().join("red-team/deep");
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(*marked_tasks(&inside).unwrap(), tasks(&["a"]));
    }

    fn marked_tasks(dir: &Path) -> Option<MarkedTasks> {
        KnownMarks::default().marked_tasks(dir)
    }

    #[test]
    fn marks_that_appear_and_go_are_seen_at_the_next_look_and_unchanged_ones_are_not_read() {
        let home = tempfile::tempdir().unwrap();
        let inside = home.path().join("a/b");
        fs::create_dir_all(&inside).unwrap();
        let mut known = KnownMarks::default();
        let none = known.marked_tasks(&inside).unwrap();
        assert!(none.is_empty());
        assert!(Arc::ptr_eq(&none, &known.marked_tasks(&inside).unwrap()));
        mark_tasks(home.path(), tasks(&["a/b/x", "c"])).unwrap();
        let above = known.marked_tasks(&inside).unwrap();
        assert_eq!(*above, tasks(&["x"]));
        assert!(Arc::ptr_eq(&above, &known.marked_tasks(&inside).unwrap()));
        mark_tasks(&inside, tasks(&["y"])).unwrap();
        assert_eq!(*known.marked_tasks(&inside).unwrap(), tasks(&["x", "y"]));
        let folder = inside.join(".touchstone/sensitive");
        fs::write(folder.join("damaged.json"), "{").unwrap();
        assert!(known.marked_tasks(&inside).is_none(), "a mark that cannot be read marks all");
        fs::remove_file(folder.join("damaged.json")).unwrap();
        assert_eq!(*known.marked_tasks(&inside).unwrap(), tasks(&["x", "y"]));
        fs::remove_dir_all(home.path().join(".touchstone")).unwrap();
        assert_eq!(*known.marked_tasks(&inside).unwrap(), tasks(&["y"]));
        fs::remove_dir_all(&folder).unwrap();
        assert!(known.marked_tasks(&inside).unwrap().is_empty());
    }

    #[test]
    fn runs_are_found_again_only_after_a_change() {
        let (mut known, suites) = (KnownMarks::default(), Arc::<Tasks>::default());
        let marked = Some(Arc::new(tasks(&["a"])));
        let mut found = 0;
        let mut look = |marked: &Option<MarkedTasks>, suites: &Arc<Tasks>, moment: u64| {
            let find = |named: Option<&BTreeSet<String>>| {
                found += 1;
                let tasks = named.into_iter().flatten().cloned().collect();
                Ok::<_, ()>(SensitiveRuns { tasks, ..SensitiveRuns::default() })
            };
            let runs = known.runs(marked.as_ref(), suites, (Path::new("b"), moment), find).unwrap();
            (runs.tasks.len(), found)
        };
        assert_eq!(look(&marked, &suites, 1), (1, 1));
        assert_eq!(look(&marked, &suites, 1), (1, 1));
        assert_eq!(look(&None, &suites, 1), (0, 2));
        assert_eq!(look(&marked, &suites, 1), (1, 3));
        assert_eq!(look(&marked, &suites, 2), (1, 4));
        assert_eq!(look(&marked, &Arc::default(), 2), (1, 5));
    }
}
