//! Suites of the open folder, kept in memory, because there are few and every run may need its
//! task. Owns reading the suites and their problems.
use super::limits::SuiteUsage;
use super::roots::{FileId, Roots};
use super::scan::{is_query_name, is_suite_name};
use super::scoring::referenced_files::{ReferencedFiles, beside};
use super::scoring::scoring_spec::ScoringSpec;
use super::settings::SuiteSettings;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::catch_unwind;
use std::sync::{Arc, PoisonError, RwLock};
use touchstone_api::{Problem, ProblemKind};
use touchstone_formats::stabletoolbench::filter::{self, Ids};
use touchstone_formats::suite;
use touchstone_formats::suite::Expected;
use touchstone_formats::system::System;
use touchstone_formats::tool_offers::{self, ToolOffer};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::nearest::nearest;
use touchstone_model::value::Value;
use touchstone_scoring::scorers;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum number of listed problems of referenced files per task.
const MOST_PROBLEMS: usize = 20;
/// Start of the message for a suite that exceeds the limits.
const LEFT_OUT: &str = "This suite is left out";
/// Maximum length of a line excerpt, in characters.
const LONGEST_LINE: usize = 200;

/// Task with its source file.
#[derive(Debug)]
pub struct Task {
    /// Content of the suite.
    pub suite: Arc<suite::Task>,
    /// File of the suite, or the folder for a folder of loose prompts.
    pub file: FileId,
    /// Scoring spec of each variation.
    pub yardsticks: Vec<ScoringSpec>,
    /// Tools from the workspace file that are available to its runs.
    pub tools: Vec<ToolOffer>,
}

impl Task {
    /// Index of a variation, by its number or, in layouts without numbers, by its name.
    pub fn variation(&self, number: Option<u32>, name: Option<&str>) -> Option<usize> {
        let variations = &self.suite.variations;
        if let Some(number) = number {
            return Some(number as usize).filter(|at| *at < variations.len());
        }
        let name = name?;
        let name = name.strip_suffix(" (oracle)").unwrap_or(name);
        variations.iter().position(|variation| variation.name.as_deref() == Some(name))
    }

    /// Returns the prompt for a system, with the parameters of a variation. `given` selects the
    /// prompt that includes the data.
    pub fn prompt(
        &self,
        variation: Option<usize>,
        system: Option<&str>,
        given: bool,
    ) -> Option<String> {
        let system = system.map_or(System::ToolCalling, System::from);
        if let Some(user) = self.suite.user_of(variation) {
            // What the user wants is the closest to a prompt.
            return Some(self.suite.fill(&user.goal, variation));
        }
        let prompts = &self.suite.prompts;
        let text = match (given, &system) {
            (false, system) => self.suite.prompt(system),
            (true, System::PromptQl) => prompts.promptql_oracle.as_deref(),
            (true, _) => prompts.tool_calling_oracle.as_deref(),
        };
        text.map(|text| self.suite.fill(text, variation))
    }

    /// Variation number under which runs are counted: their own or, in layouts without numbers, the
    /// number of the variation with their name.
    pub fn counted_as(&self, number: Option<u32>, name: Option<&str>) -> Option<u32> {
        let by_name = || {
            let name = name?;
            let found =
                self.suite.variations.iter().position(|variation| variation.label() == name)?;
            u32::try_from(found).ok()
        };
        number.or_else(by_name)
    }

    /// Label of a variation.
    pub fn variation_name(&self, index: usize) -> Option<String> {
        let label = self.suite.variations.get(index)?.label();
        (!label.is_empty()).then_some(label)
    }
}

/// All tasks, with lookup by name.
#[derive(Debug, Default)]
pub struct Tasks {
    by_id: BTreeMap<String, Arc<Task>>,
    /// Tasks by the folder of their suite, as benchmark folders name them. `None` for folders with
    /// several suites.
    by_folder: HashMap<String, Option<Arc<Task>>>,
    /// Queries by set and id, or by the id alone, which is unique within a benchmark. `None` for
    /// ambiguous names.
    queries: HashMap<String, Option<Arc<Task>>>,
    /// Errors of suites without tasks, by the name that the task would have.
    pub broken: BTreeMap<String, String>,
}

impl Tasks {
    /// Looks up a task by its id, by a folder that contains only this suite, or by set and id of
    /// its query.
    pub fn get(&self, name: &str) -> Option<&Arc<Task>> {
        let by_query = || {
            // The set may have been in a different directory when the result was made.
            let from = name.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
            self.queries.get(name.get(from..)?)?.as_ref()
        };
        self.by_id.get(name).or_else(|| self.by_folder.get(name)?.as_ref()).or_else(by_query)
    }

    /// Returns all names of a task: its id, then the folder that contains only its suite, set and
    /// id of its query, and its title.
    pub fn names_of(&self, task: &suite::Task) -> Vec<String> {
        let is_same = |known: &Option<Arc<Task>>| {
            known.as_ref().is_some_and(|known| known.suite.id == task.id)
        };
        let folder = task.id.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let folder = folder.filter(|folder| self.by_folder.get(folder).is_some_and(is_same));
        let query = task
            .query
            .as_ref()
            .map(|query| [format!("{}/{}", query.set, query.id), query.id.clone()]);
        let others = folder.into_iter().chain(query.into_iter().flatten()).chain(task.name.clone());
        std::iter::once(task.id.clone()).chain(others).collect()
    }

    /// Returns the id of a query that is referred to by another name. `None` for other tasks, and
    /// when the name is the id.
    pub(crate) fn query_id(&self, name: &str) -> Option<&str> {
        let suite = &self.get(name)?.suite;
        (suite.query.is_some() && suite.id != name).then_some(&suite.id)
    }

    /// All tasks, by id.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Task>> {
        self.by_id.values()
    }

    pub(crate) fn from_tasks(tasks: impl Iterator<Item = Arc<Task>>) -> Self {
        let mut all = Self::default();
        for task in tasks {
            if let Some((folder, _)) = task.suite.id.rsplit_once('/') {
                let alone = !all.by_folder.contains_key(folder);
                all.by_folder.insert(folder.to_owned(), alone.then(|| Arc::clone(&task)));
            }
            if let Some(query) = &task.suite.query {
                for name in [query.id.clone(), format!("{}/{}", query.set, query.id)] {
                    let meant = all.queries.entry(name).or_insert_with(|| Some(Arc::clone(&task)));
                    // Samples repeat queries of the sets they were taken from; an identical query
                    // with the same name is not ambiguous.
                    if !meant.as_ref().is_some_and(|known| asks_the_same(&known.suite, &task.suite))
                    {
                        *meant = None;
                    }
                }
            }
            all.by_id.insert(task.suite.id.clone(), task);
        }
        // A suite file takes precedence over loose prompts next to it.
        let written = |folder: &str| all.by_folder.get(folder).is_some_and(Option::is_some);
        all.by_id.retain(|id, task| task.file.to_display() != *id || !written(id));
        all
    }
}

fn asks_the_same(one: &suite::Task, other: &suite::Task) -> bool {
    let of = |task: &suite::Task| {
        task.query.as_ref().map(|query| (query.gold.clone(), query.apis.clone()))
    };
    one.prompts == other.prompts && one.users().eq(other.users()) && of(one) == of(other)
}

/// Shared store of the current suites and their problems.
#[derive(Debug, Default)]
pub struct SuiteStore {
    tasks: RwLock<Arc<Tasks>>,
    problems: RwLock<Arc<Vec<Problem>>>,
    settings: RwLock<Arc<SuiteSettings>>,
}

impl SuiteStore {
    /// Current tasks.
    pub fn tasks(&self) -> Arc<Tasks> {
        Arc::clone(&self.tasks.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Settings that the suites were read with.
    pub fn settings(&self) -> Arc<SuiteSettings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Problems of suite files, errors first.
    pub fn problems(&self) -> Arc<Vec<Problem>> {
        Arc::clone(&self.problems.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Default)]
struct LoadedSuite {
    hash: u64,
    suites: Vec<Arc<suite::Task>>,
    /// Problems of the file itself.
    problems: Vec<Problem>,
    fitted: Fitted,
    held: SuiteUsage,
    /// True when the suite was left out because of the limits.
    left_out: bool,
    /// For a file that only looks like a task: its folder. Next to a real task it is considered a
    /// part of it, which is not a problem.
    looks_like_task_in: Option<Vec<u8>>,
}

impl SuiteUsage {
    /// Adds the tasks of a file.
    fn with(self, tasks: &[suite::Task], bytes: usize) -> Self {
        tasks.iter().fold(
            Self { bytes: self.bytes.saturating_add(bytes), ..self },
            |mut held, task| {
                held.variations += task.variations.len();
                held.values += task.expected_tool_calls.len() + task.tags.len();
                held.values += task.scorers.iter().map(count).sum::<usize>();
                held.values += task.extra.iter().map(|(_, value)| count(value)).sum::<usize>();
                for variation in &task.variations {
                    held.values +=
                        variation.parameters.iter().map(|(_, value)| count(value)).sum::<usize>();
                    held.values += variation.oracle_files.len();
                    if let Expected::Value(value) = &variation.expected {
                        held.values += count(value);
                    }
                }
                held
            },
        )
    }

    fn less(self, other: &Self) -> Self {
        Self {
            variations: self.variations.saturating_sub(other.variations),
            values: self.values.saturating_sub(other.values),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    fn fits(&self, most: &Self) -> bool {
        self.variations <= most.variations && self.values <= most.values && self.bytes <= most.bytes
    }
}

/// Number of values in a value, including itself.
fn count(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Map(entries) => 1 + entries.iter().map(|(_, item)| 1 + count(item)).sum::<usize>(),
        _ => 1,
    }
}

/// Tasks built from a suite and the files it refers to.
#[derive(Default)]
struct Fitted {
    tasks: Vec<Arc<Task>>,
    companions: BTreeSet<FileId>,
    /// Problems of the referenced files.
    problems: Vec<Problem>,
}

impl LoadedSuite {
    fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().chain(&self.fitted.problems)
    }
}

/// Loader that fills the shared store.
pub(crate) struct SuiteLoader {
    shelf: Arc<SuiteStore>,
    /// Limits for all suites together.
    most: SuiteUsage,
    /// Current usage of all suites.
    held: SuiteUsage,
    /// True when a suite was removed, so that left-out suites may fit now.
    has_room: bool,
    files: BTreeMap<FileId, LoadedSuite>,
    companions: ReferencedFiles,
    settings: Arc<SuiteSettings>,
    tasks: Arc<Tasks>,
    changed: bool,
    /// Files that look like tasks but are parts of one.
    beside: BTreeSet<FileId>,
    /// True until the first publication.
    new: bool,
}

impl SuiteLoader {
    pub(crate) fn new(shelf: Arc<SuiteStore>, most: SuiteUsage) -> Self {
        let (files, companions) = (BTreeMap::new(), ReferencedFiles::default());
        Self {
            shelf,
            most,
            held: SuiteUsage::default(),
            has_room: false,
            files,
            companions,
            settings: Arc::default(),
            tasks: Arc::default(),
            changed: true,
            beside: BTreeSet::new(),
            new: true,
        }
    }

    /// Sets the settings that suites are read with from now on. Returns true when they differ from
    /// those before, so that every suite must be read again.
    pub(crate) fn apply(&mut self, settings: SuiteSettings) -> bool {
        if *self.settings == settings {
            return false;
        }
        self.settings = Arc::new(settings);
        // The hashes are cleared so that unchanged files are read again.
        self.files.values_mut().for_each(|shelved| shelved.hash = 0);
        self.changed = true;
        true
    }

    /// Tasks as of the last publication.
    pub(crate) fn tasks(&self) -> Arc<Tasks> {
        Arc::clone(&self.tasks)
    }

    /// Reads a suite file.
    pub(crate) fn put(&mut self, roots: &Roots, file: &FileId, bytes: &[u8]) {
        let hash = xxh3_64(bytes);
        if self.files.get(file).is_some_and(|shelved| shelved.hash == hash) {
            return;
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|_| ReadError::new(ReadErrorKind::NotUtf8, "The file is not UTF-8 text."));
        let suite = text.and_then(|text| {
            catch_unwind(|| suite::read(text, &task_id(file))).unwrap_or_else(|_| {
                let message = "The file could not be read: its content crashed the reader.";
                Err(ReadError::new(ReadErrorKind::Syntax, message))
            })
        });
        self.keep(roots, file, (hash, bytes.len()), suite);
        let Some(shelved) = self.files.get_mut(file) else { return };
        // Queries have no scorers of their own; those from the workspace file are checked there.
        let suites: Vec<_> =
            shelved.suites.iter().filter(|task| task.query.is_none()).cloned().collect();
        let mut add = |kind, section, message: String| {
            let at = place_of(bytes, section, &message);
            let (line, excerpt) =
                at.map_or((None, None), |(line, excerpt)| (Some(line), Some(excerpt)));
            shelved.problems.push(Problem { line, excerpt, ..blank(kind, roots, file, message) });
        };
        for task in &suites {
            for complaint in scorers::complaints(&task.scorers) {
                let kind = if complaint.left_out {
                    ProblemKind::SuiteError
                } else {
                    ProblemKind::SuiteWarning
                };
                add(kind, "scorers", complaint.message);
            }
            for (section, message) in unknown_tools(&self.settings, task) {
                add(ProblemKind::SuiteWarning, section, message);
            }
        }
    }

    /// Reads a folder of loose prompts.
    pub(crate) fn put_folder(&mut self, roots: &Roots, folder: &FileId, files: &[(&str, &str)]) {
        match suite::from_folder(&folder.to_display(), files) {
            None if files.is_empty() => self.remove(folder),
            None => {
                let names: Vec<String> =
                    files.iter().map(|(name, _)| format!("`{name}`")).collect();
                let reason = format!(
                    "The folder looks like a task and is not read: it holds {}, and a task needs `promptql_prompt.txt` or \
                     `other_models_prompt.txt`. Rename its prompt, or write a YAML suite.",
                    names.join(", ")
                );
                self.pass_over(roots, folder, true, reason);
            }
            Some(suite) => {
                let all = files.iter().flat_map(|(name, text)| [*name, *text]).collect::<String>();
                self.keep(roots, folder, (xxh3_64(all.as_bytes()), all.len()), suite);
            }
        }
    }

    fn keep(
        &mut self,
        roots: &Roots,
        file: &FileId,
        (hash, bytes): (u64, usize),
        suite: Result<suite::Suite, ReadError>,
    ) {
        self.take_off(file);
        let suite = suite.and_then(|suite| match self.held.with(&suite.tasks, bytes) {
            held if held.fits(&self.most) => Ok((suite, held)),
            _ => Err(self.no_room()),
        });
        let mut shelved = LoadedSuite { hash, ..LoadedSuite::default() };
        match suite {
            Ok((suite, held)) => {
                let warnings = suite.warnings.into_iter().map(|warning| Problem {
                    line: warning.line,
                    column: warning.column,
                    excerpt: warning.excerpt,
                    ..blank(ProblemKind::SuiteWarning, roots, file, warning.message)
                });
                shelved.problems = warnings.collect();
                shelved.suites = suite
                    .tasks
                    .into_iter()
                    .map(|task| Arc::new(with_scorers(&self.settings, task)))
                    .collect();
                shelved.held = held.less(&self.held);
                self.held = held;
            }
            Err(error) => {
                // The hash is cleared so that the unchanged file is read again when there is space.
                shelved.left_out =
                    error.kind == ReadErrorKind::TooLarge && error.message.starts_with(LEFT_OUT);
                shelved.hash = if shelved.left_out { 0 } else { hash };
                shelved.problems = vec![problem(roots.display_path(file), error)];
            }
        }
        shelved.fitted = fit(roots, &self.settings, (file, &shelved.suites), &mut self.companions);
        self.files.insert(file.clone(), shelved);
        self.changed = true;
    }

    fn no_room(&self) -> ReadError {
        let SuiteUsage { variations, values, bytes } = self.most;
        let message = format!(
            "{LEFT_OUT}: the suites of this folder together hold more than {variations} variations, {values} values or {} MB.",
            bytes >> 20
        );
        let advice = "Move suites that you do not need out of the folder; it is read as soon as there is room.";
        ReadError::new(ReadErrorKind::TooLarge, message).advise(advice)
    }

    /// Removes a file. Returns true when it was present.
    fn take_off(&mut self, file: &FileId) -> bool {
        let Some(gone) = self.files.remove(file) else { return false };
        self.held = self.held.less(&gone.held);
        self.has_room |= gone.held != SuiteUsage::default();
        true
    }

    /// Returns the suites that were left out because of the limits, if space has become available
    /// since the last call.
    pub(crate) fn take_left_out(&mut self) -> Vec<FileId> {
        if !std::mem::take(&mut self.has_room) {
            return Vec::new();
        }
        let left_out = self.files.iter().filter(|(_, shelved)| shelved.left_out);
        left_out.map(|(file, _)| file.clone()).collect()
    }

    /// Checks the referenced files within the scopes (gold answers and scorer programs) and
    /// rebuilds the affected suites.
    pub(crate) fn look_beside(&mut self, roots: &Roots, scopes: &[FileId]) {
        let changed = self.companions.changed(roots, scopes);
        if changed.is_empty() {
            return;
        }
        for (file, shelved) in &mut self.files {
            if !shelved.fitted.companions.is_disjoint(&changed) {
                shelved.fitted =
                    fit(roots, &self.settings, (file, &shelved.suites), &mut self.companions);
                self.changed = true;
            }
        }
    }

    /// Records an error for a file that is named like a suite but is not readable as one.
    pub(crate) fn refuse(&mut self, roots: &Roots, file: &FileId, reason: &str) {
        let problem = blank(ProblemKind::SuiteError, roots, file, reason.to_owned());
        self.take_off(file);
        self.files.insert(
            file.clone(),
            LoadedSuite { problems: vec![problem], ..LoadedSuite::default() },
        );
        self.changed = true;
    }

    /// Records a warning for something that looks like a task but is not read as one: a file, or a
    /// folder with `is_folder`.
    pub(crate) fn pass_over(
        &mut self,
        roots: &Roots,
        file: &FileId,
        is_folder: bool,
        reason: String,
    ) {
        let problem = blank(ProblemKind::SuiteWarning, roots, file, reason);
        let folder = if is_folder { &*file.path } else { file.parent() };
        let looks_like_task_in = Some(folder.to_owned());
        self.files.insert(
            file.clone(),
            LoadedSuite { problems: vec![problem], looks_like_task_in, ..LoadedSuite::default() },
        );
        self.changed = true;
    }

    /// Removes a file that is no longer a suite.
    pub(crate) fn remove(&mut self, file: &FileId) {
        self.changed |= self.take_off(file);
    }

    /// Returns true before the first publication.
    pub(crate) fn is_new(&self) -> bool {
        self.new
    }

    /// Returns true when nothing changed since the last publication.
    pub(crate) fn is_settled(&self) -> bool {
        !self.changed
    }

    /// Publishes changes. Returns a hash of all tasks, or `None` when nothing changed.
    pub(crate) fn publish(&mut self) -> Option<i64> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        self.new = false;
        let all = || self.files.values();
        self.companions.keep(&all().flat_map(|shelved| &shelved.fitted.companions).collect());
        let mut tasks =
            Tasks::from_tasks(all().flat_map(|shelved| shelved.fitted.tasks.iter().cloned()));
        let wrong = self.files.iter().filter_map(|(file, shelved)| {
            let error =
                shelved.problems.iter().find(|problem| problem.kind == ProblemKind::SuiteError)?;
            Some((task_id(file), error.to_line()))
                .filter(|(name, _)| !tasks.by_id.contains_key(name))
        });
        tasks.broken = wrong.collect();
        self.tasks = Arc::new(tasks);
        self.beside = self.beside_tasks();
        let shown = self
            .files
            .iter()
            .filter(|(file, _)| !self.beside.contains(*file))
            .map(|(_, shelved)| shelved);
        let mut problems: Vec<Problem> = shown.flat_map(LoadedSuite::problems).cloned().collect();
        problems.sort_by_key(|problem| problem.kind);
        *self.shelf.settings.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::clone(&self.settings);
        *self.shelf.tasks.write().unwrap_or_else(PoisonError::into_inner) = self.tasks();
        *self.shelf.problems.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(problems);
        let parts = self.files.iter().map(|(file, shelved)| {
            let yardsticks = shelved.fitted.tasks.iter().flat_map(|task| &task.yardsticks);
            let stand = yardsticks
                .flat_map(|one| [false, true].map(|folder| one.panel(folder).fingerprint));
            format!("{file:?} {:x} {:?}\n", shelved.hash, stand.collect::<Vec<_>>())
        });
        let parts: String = parts.collect();
        Some(if parts.is_empty() { 0 } else { xxh3_64(parts.as_bytes()).cast_signed() })
    }

    /// Returns the files that look like tasks but are parts of one: they are in the folder of a
    /// task, or a suite refers to them.
    fn beside_tasks(&self) -> BTreeSet<FileId> {
        let with_tasks = || self.files.iter().filter(|(_, shelved)| !shelved.suites.is_empty());
        let folders: BTreeSet<&[u8]> =
            with_tasks().flat_map(|(file, _)| [file.parent(), &*file.path]).collect();
        let named: BTreeSet<&FileId> =
            self.files.values().flat_map(|shelved| &shelved.fitted.companions).collect();
        let looking = self
            .files
            .iter()
            .filter_map(|(file, shelved)| Some((file, shelved.looks_like_task_in.as_ref()?)));
        // At the top of the input directory, unrelated suites are next to each other.
        let is_part = |(file, folder): &(&FileId, &Vec<u8>)| {
            named.contains(file) || (!folder.is_empty() && folders.contains(folder.as_slice()))
        };
        looking.filter(is_part).map(|(file, _)| file.clone()).collect()
    }

    /// Number of tasks, and number of files with problems.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let shown = self.files.iter().filter(|(file, _)| !self.beside.contains(*file));
        let wrong = shown.filter(|(_, shelved)| shelved.problems().next().is_some()).count();
        (self.tasks.by_id.len() as u64, wrong as u64)
    }
}

/// Adds the scorers from the workspace file to a query without its own.
fn with_scorers(settings: &SuiteSettings, mut task: suite::Task) -> suite::Task {
    if task.query.is_some() && task.scorers.is_empty() {
        task.scorers.clone_from(&settings.query_scorers);
    }
    task
}

/// Reads the files that a suite refers to and builds its tasks.
fn fit(
    roots: &Roots,
    settings: &SuiteSettings,
    (file, suites): (&FileId, &[Arc<suite::Task>]),
    companions: &mut ReferencedFiles,
) -> Fitted {
    let mut fitted = Fitted::default();
    let ids = ids(roots, file, suites, companions, &mut fitted);
    for suite in
        suites.iter().filter(|suite| suite.query.as_ref().is_none_or(|query| ids.admit(&query.id)))
    {
        let mut yardsticks = Vec::with_capacity(suite.variations.len());
        let tools = tool_offers::of_task(&settings.tools, suite.tools.as_deref());
        for variation in &suite.variations {
            let mut named = |path: &str| {
                let at = beside(roots, file, path)?;
                fitted.companions.insert(at.clone());
                Some(at)
            };
            let gold = match &variation.expected {
                Expected::File(path) => named(path).map(|gold| companions.gold(roots, &gold)),
                Expected::Value(_) | Expected::None => None,
            };
            let mut program = |path: &str| match named(path) {
                Some(program) => companions.program(roots, &program),
                None => Err("it lies outside the input directory.".to_owned()),
            };
            yardsticks.push(ScoringSpec::new(suite, variation, (&tools, gold), &mut program));
        }
        let unread = yardsticks.iter().flat_map(ScoringSpec::unread_programs);
        let unread =
            unread.map(|(path, why)| format!("The scorer {path} could not be read: {why}"));
        let mut messages: Vec<String> =
            yardsticks.iter().filter_map(|one| one.trouble.clone()).chain(unread).collect();
        messages.dedup();
        let blank = |message| blank(ProblemKind::SuiteWarning, roots, file, message);
        fitted.problems.extend(messages.into_iter().take(MOST_PROBLEMS).map(blank));
        fitted.tasks.push(Arc::new(Task {
            suite: Arc::clone(suite),
            file: file.clone(),
            yardsticks,
            tools,
        }));
    }
    fitted
}

/// Selects the queries of a set that are tasks; all of them if there is no list of ids.
fn ids(
    roots: &Roots,
    file: &FileId,
    suites: &[Arc<suite::Task>],
    companions: &mut ReferencedFiles,
    fitted: &mut Fitted,
) -> Ids {
    let is_set = suites.first().is_some_and(|suite| suite.query.is_some());
    let at = filter::beside(&file.to_display())
        .filter(|_| is_set)
        .and_then(|path| beside(roots, file, &path));
    let Some(at) = at else { return Ids::default() };
    let read = companions.ids(roots, &at);
    fitted.companions.insert(at.clone());
    let known = suites.iter().filter_map(|suite| Some(suite.query.as_ref()?.id.as_str()));
    let mut warn =
        |message| fitted.problems.push(blank(ProblemKind::SuiteWarning, roots, &at, message));
    match read {
        None => Ids::default(),
        Some(Err(why)) => {
            warn(format!("The ids could not be read, so every query of the set is a task: {why}"));
            Ids::default()
        }
        Some(Ok(ids)) => {
            let unknown = ids.unknown(known);
            if unknown > 0 {
                warn(format!(
                    "{unknown} of these ids match no query in {}.",
                    roots.display_path(file)
                ));
            }
            ids
        }
    }
}

/// Warnings about tools that are missing in the workspace file, each with its key in the suite.
/// Expected calls are not checked when the names of some tools are unknown.
fn unknown_tools(settings: &SuiteSettings, task: &suite::Task) -> Vec<(&'static str, String)> {
    let all = &settings.tool_names;
    if all.is_empty() {
        return Vec::new();
    }
    let entries = || all.iter().map(|(entry, _)| entry.as_str());
    let is_entry = |name: &&String| !entries().any(|entry| entry == name.as_str());
    let unknown = task.tools.iter().flatten().filter(is_entry).map(|name| {
        let message = format!(
            "`{name}` is not a tool of touchstone.yaml, so no run can be made. {}",
            advice(name, entries())
        );
        ("tools", message)
    });
    let mut told: Vec<_> = unknown.take(MOST_PROBLEMS).collect();
    let has = |entry: &String| task.tools.as_ref().is_none_or(|own| own.contains(entry));
    let own = all.iter().filter(|(entry, _)| has(entry)).map(|(_, names)| names.as_deref());
    let Some(own) = own.collect::<Option<Vec<_>>>().filter(|_| told.is_empty()) else {
        return told;
    };
    let known = || own.iter().copied().flatten().map(String::as_str).chain([tool_offers::PYTHON]);
    let elsewhere =
        |name: &str| all.iter().any(|(_, names)| names.iter().flatten().any(|known| known == name));
    let expected =
        task.expected_tool_calls.iter().filter(|name| !known().any(|known| known == name.as_str()));
    let expected = expected.map(|name| {
        let message = if elsewhere(name) {
            format!("`{name}` is not among the tools that the task names under `tools`, so no run can call it. Add its tool there.")
        } else {
            format!("`{name}` is not a tool of touchstone.yaml, so no run can call it. {}", advice(name, known()))
        };
        ("expected_tool_calls", message)
    });
    told.extend(expected.take(MOST_PROBLEMS));
    told
}

/// Suggests the most similar known name, or lists all of them.
fn advice<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => format!(
            "Its tools are {}.",
            known.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}

/// Finds the line of a warning: the first one after the section key that contains the word in
/// backquotes at the start of the warning.
fn place_of(bytes: &[u8], section: &str, warning: &str) -> Option<(u32, String)> {
    let text = std::str::from_utf8(bytes).ok()?;
    let word = warning.strip_prefix('`')?.split('`').next()?;
    let lines =
        text.lines().enumerate().skip_while(|(_, line)| !line.trim_start().starts_with(section));
    let (at, line) = lines.into_iter().find(|(_, line)| line.contains(word))?;
    Some((u32::try_from(at + 1).ok()?, line.chars().take(LONGEST_LINE).collect()))
}

/// Id of the task in a file.
fn task_id(file: &FileId) -> String {
    let path = file.to_display();
    let stem = path.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    if is_suite_name(file) || is_query_name(file) { stem.unwrap_or(path) } else { path }
}

/// Problem of an unreadable suite or workspace file; `file` is the display path.
pub fn problem(file: String, error: ReadError) -> Problem {
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
    let file = roots.display_path(file);
    Problem {
        kind,
        file,
        run: None,
        message,
        line: None,
        column: None,
        excerpt: None,
        advice: None,
    }
}
