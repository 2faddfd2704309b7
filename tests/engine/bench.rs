//! A folder, an application that has it open, and methods to act on both. Every wait has a timeout
//! and a condition.
use fs_err as fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use touchstone_api::{
    AppEvent, Column, ListRequest, Problem, RunRow, RunState, Sort, Span, Stale, Status,
};
use touchstone_app::error::AppError;
use touchstone_app::events::Subscription;
use touchstone_app::{App, AppConfig};
use touchstone_runner::http::keys::{KeyError, Keys, Vault};
use touchstone_store::limits::Limits;
use zeroize::Zeroizing;

/// Timeout of a condition on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A folder and an application.
pub(crate) struct Bench {
    home: TempDir,
    limits: Limits,
    keys: Vec<(String, String)>,
    app: Option<App>,
    events: Arc<Mutex<Vec<AppEvent>>>,
    listening: Option<Subscription>,
}

impl Bench {
    /// Creates an empty folder with `tasks` and `results` in it. Nothing is open yet.
    pub(crate) fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir_all(home.path().join("folder/tasks")).unwrap();
        fs::create_dir_all(home.path().join("folder/results")).unwrap();
        Self {
            home,
            limits: Limits::default(),
            keys: Vec::new(),
            app: None,
            events: Arc::default(),
            listening: None,
        }
    }

    /// Changes a limit before the folder is opened.
    pub(crate) fn limit(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets a key as if it were in the environment.
    pub(crate) fn key(mut self, name: &str, key: &str) -> Self {
        self.keys.push((name.to_owned(), key.to_owned()));
        self
    }

    /// Writes a file below the folder with an old modification time.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.write(path, content);
        self.age(path);
        self
    }

    /// Writes a transcript that ended with an answer.
    pub(crate) fn answered(self, path: &str, says: &str) -> Self {
        self.file(path, answered(says))
    }

    /// Opens the folder and waits until the list is complete.
    pub(crate) fn open(self) -> Self {
        self.open_at("folder")
    }

    /// Opens another folder of the bench.
    pub(crate) fn open_at(mut self, folder: &str) -> Self {
        let app = self.another_app();
        app.folder().open(&self.home.path().join(folder)).unwrap();
        let events = Arc::clone(&self.events);
        self.listening =
            Some(app.subscribe(Box::new(move |event| events.lock().unwrap().push(event.clone()))));
        app.folder().wait_ready(DEADLINE).unwrap();
        self.app = Some(app);
        self
    }

    /// Creates an application with the same cache that has nothing open.
    pub(crate) fn another_app(&self) -> App {
        self.app_with(None)
    }

    /// Like `another_app`, with sample data installed.
    pub(crate) fn app_with(&self, demo_dir: Option<PathBuf>) -> App {
        let limits = self.limits.clone();
        let config =
            AppConfig { cache_dir: self.cache(), state_dir: self.state(), demo_dir, limits };
        if self.keys.is_empty() {
            return App::new(config);
        }
        let keys = self.keys.clone();
        let look = move |name: &str| {
            keys.iter().find(|(known, _)| known == name).map(|(_, key)| key.clone())
        };
        App::with_keys(config, Keys::new(look, NoVault))
    }

    /// Directory of the user's state.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.path().join("state")
    }

    /// Closes the application.
    pub(crate) fn close(mut self) -> Self {
        self.listening = None;
        if let Some(app) = self.app.take() {
            app.launches().stop_all_launches(true, "The test ends.");
            assert!(app.launches().wait_launches(DEADLINE), "the launches did not stop");
            app.folder().close_folder().unwrap();
        }
        self
    }

    /// Closes the application and opens it again.
    pub(crate) fn reopen(self) -> Self {
        self.close().open()
    }

    /// The application. Panics if the bench is not open.
    pub(crate) fn app(&self) -> &App {
        self.app.as_ref().expect("the bench was opened")
    }

    /// Directory of the indexes.
    pub(crate) fn cache(&self) -> PathBuf {
        self.home.path().join("cache")
    }

    /// Returns a path below the folder.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.home.path().join("folder").join(path)
    }

    /// Writes a file now, in place.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a file under another name and renames it, like careful programs do.
    pub(crate) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let beside =
            path.with_file_name(format!(".{}.new", path.file_name().unwrap().to_string_lossy()));
        fs::write(&beside, content).unwrap();
        fs::rename(beside, path).unwrap();
    }

    /// Removes a file.
    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    /// Makes a file an hour old.
    pub(crate) fn age(&self, path: &str) {
        let file = fs::File::options().write(true).open(self.path(path)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_hours(1)).unwrap();
    }

    /// Status of the application.
    pub(crate) fn status(&self) -> Status {
        self.app().folder().status()
    }

    /// All rows, sorted by path, including files that are not runs.
    pub(crate) fn rows(&self) -> Vec<RunRow> {
        rows(self.app())
    }

    /// Path and state of every row.
    pub(crate) fn states(&self) -> Vec<(String, RunState)> {
        self.rows().into_iter().map(|row| (row.path, row.state)).collect()
    }

    /// Returns the row of a path.
    pub(crate) fn row(&self, path: &str) -> Option<RunRow> {
        self.rows().into_iter().find(|row| row.path == path)
    }

    /// All problems.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.app().folder().problems(Span { offset: 0, limit: 500 }).unwrap().problems
    }

    /// Runs whose text contains these words.
    pub(crate) fn hits(&self, words: &str) -> Vec<String> {
        hits(self.app(), words)
    }

    /// Waits until a path has a state.
    pub(crate) fn wait_state(&self, path: &str, state: RunState) -> RunRow {
        let seen = std::cell::RefCell::new(None);
        let found = || {
            let row = self.row(path);
            seen.replace(row.as_ref().map(|row| row.state));
            row.filter(|row| row.state == state)
        };
        wait_until_or(&|| format!("{path} is {state:?}, not {:?}", seen.borrow()), found)
    }

    /// Waits until the full-text index is complete.
    pub(crate) fn wait_words(&self) {
        assert!(
            self.app().folder().wait_searchable(DEADLINE).unwrap(),
            "the full-text index was not completed"
        );
    }

    /// Events so far.
    pub(crate) fn events(&self) -> Vec<Stale> {
        self.events.lock().unwrap().iter().map(|event| event.stale.clone()).collect()
    }

    /// Clears the events.
    pub(crate) fn forget_events(&self) {
        self.events.lock().unwrap().clear();
    }
}

/// A system without a keyring.
pub(crate) struct NoVault;

impl Vault for NoVault {
    fn open(&self) -> Result<(), KeyError> {
        Err(KeyError::NoKeyring("There is no keyring here.".to_owned()))
    }

    fn get(&self, _: &str) -> Result<Option<Zeroizing<String>>, KeyError> {
        Ok(None)
    }

    fn set(&self, _: &str, _: &str) -> Result<(), KeyError> {
        self.open()
    }

    fn forget(&self, _: &str) -> Result<(), KeyError> {
        self.open()
    }
}

/// All rows of an application, sorted by path.
pub(crate) fn rows(app: &App) -> Vec<RunRow> {
    try_rows(app).unwrap()
}

/// Like `rows`, for an index that may be damaged.
pub(crate) fn try_rows(app: &App) -> Result<Vec<RunRow>, AppError> {
    let mut rows = Vec::new();
    for filter in ["", "state:other"] {
        let mut offset = 0;
        loop {
            let sort = Sort { column: Column::Path, descending: false };
            let request =
                ListRequest { filter: filter.to_owned(), sort, span: Span { offset, limit: 200 } };
            let page = app.runs().list_runs(request)?;
            if page.rows.is_empty() {
                break;
            }
            offset += 200;
            rows.extend(page.rows);
        }
    }
    rows.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(rows)
}

/// Paths of the runs whose text contains these words.
pub(crate) fn hits(app: &App, words: &str) -> Vec<String> {
    try_hits(app, words).unwrap()
}

/// Like `hits`, for an index that may be damaged.
pub(crate) fn try_hits(app: &App, words: &str) -> Result<Vec<String>, AppError> {
    let sort = Sort { column: Column::Path, descending: false };
    let request =
        ListRequest { filter: words.to_owned(), sort, span: Span { offset: 0, limit: 200 } };
    Ok(app.runs().list_runs(request)?.rows.into_iter().map(|row| row.path).collect())
}

/// Returns a path in the project's root directory.
pub(crate) fn beside_the_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Waits until `look` returns a value.
pub(crate) fn wait_until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    wait_until_or(&|| what.to_owned(), look)
}

fn wait_until_or<T>(what: &dyn Fn() -> String, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + DEADLINE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain until {}", what());
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// A transcript that ended with an answer.
pub(crate) fn answered(says: &str) -> String {
    format!(
        "conversation:\n- user_message: |\n    How many plans are there?\n- tool_call:\n    id: c1\n    name: query_plans\n    \
         params: {{ sql: select 1 }}\n    result: '[{{\"n\": 3}}]'\n- assistant_message: |\n    {says}\nanswer:\n- n: 3\n"
    )
}

/// A file that is neither a transcript nor valid YAML.
pub(crate) fn broken() -> &'static str {
    "conversation:\n- user_message: hello\n  - assistant_message: indented too deep\n"
}

/// Finds all files of a name in a cache directory, of any index.
pub(crate) fn find_in(dir: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(find_in(&path, name));
        } else if path.file_name().is_some_and(|n| n == name) {
            found.push(path);
        }
    }
    found.sort();
    found
}
