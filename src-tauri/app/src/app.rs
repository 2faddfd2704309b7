//! The application: its state, the open folder, events, and the actions on each place. Decides
//! nothing about results.
use crate::error::{AppError, Code};
use crate::evaluating::evaluations::Evaluations;
use crate::evaluating::{DataFileRegistry, EvaluationActions};
use crate::events::{EventBus, Subscription};
use crate::failures::FailureActions;
use crate::folder::recent::Recent;
use crate::folder::{FolderActions, found_results};
use crate::judging::JudgingActions;
use crate::judging::judge_jobs::Judgings;
use crate::labels::LabelActions;
use crate::launch::LaunchActions;
use crate::launch::launch_registry::Launches;
use crate::launch::split::split_launches;
use crate::open_folder::OpenFolder;
use crate::paths;
use crate::red_team::RedTeamActions;
use crate::reports::ReportActions;
use crate::reviews::ReviewActions;
use crate::runs::RunActions;
use crate::scoring::ScoringActions;
use crate::sensitive::SensitiveActions;
use crate::settings::SettingsActions;
use crate::stats::StatsActions;
use crate::suites::SuiteActions;
use crate::suites::generate_jobs::Generations;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_api::AppEvent;
use touchstone_runner::http::keys::Keys;
use touchstone_store::limits::Limits;

/// Directories and limits of the program.
#[derive(Debug, Clone)]
pub struct AppConfig {
    /// Directory of the indexes; may be deleted at any time.
    pub cache_dir: PathBuf,
    /// Directory of the list of recent folders.
    pub state_dir: PathBuf,
    /// Directory of the sample data, if installed.
    pub demo_dir: Option<PathBuf>,
    /// Limits for reading and watching files.
    pub limits: Limits,
}

impl AppConfig {
    /// Returns the configuration with the system's standard directories.
    pub fn from_system(demo_dir: Option<PathBuf>) -> Self {
        let (cache_dir, state_dir) = paths::own_dirs();
        Self { cache_dir, state_dir, demo_dir, limits: Limits::default() }
    }
}

/// The application without a window. Clones share the same state.
#[derive(Clone)]
pub struct App {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) config: AppConfig,
    pub(crate) recent: Recent,
    pub(crate) open: Mutex<Option<Arc<OpenFolder>>>,
    pub(crate) bulletin: EventBus,
    pub(crate) launches: Launches,
    pub(crate) splits: Arc<split_launches::Splits>,
    pub(crate) judgings: Judgings,
    pub(crate) evaluations: Evaluations,
    pub(crate) generations: Generations,
    pub(crate) handed: DataFileRegistry,
    pub(crate) keys: Keys,
    pub(crate) looks: found_results::Looks,
}

impl App {
    /// Creates an application with no open folder.
    pub fn new(config: AppConfig) -> Self {
        Self::with_keys(config, Keys::system())
    }

    /// Like [`App::new`], with keys from another source than this system.
    pub fn with_keys(config: AppConfig, keys: Keys) -> Self {
        let recent = Recent::new(&config.state_dir);
        Self {
            inner: Arc::new(Inner {
                config,
                recent,
                open: Mutex::default(),
                bulletin: EventBus::start(),
                launches: Launches::default(),
                splits: Arc::default(),
                judgings: Judgings::default(),
                evaluations: Evaluations::default(),
                generations: Generations::default(),
                handed: DataFileRegistry::default(),
                keys,
                looks: found_results::Looks::default(),
            }),
        }
    }

    /// Calls `listener` with every event, on a separate thread, until the subscription is dropped.
    /// The listener should return quickly.
    pub fn subscribe(&self, listener: Box<dyn Fn(&AppEvent) + Send + Sync>) -> Subscription {
        self.inner.bulletin.subscribe(listener)
    }

    /// Returns the open folder, if any.
    pub(crate) fn current_folder(&self) -> Option<Arc<OpenFolder>> {
        self.lock().clone()
    }

    /// Returns the open folder. Fails if none is open.
    pub(crate) fn require_folder(&self) -> Result<Arc<OpenFolder>, AppError> {
        self.current_folder().ok_or_else(|| AppError::new(Code::NoFolder, "No folder is open."))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Arc<OpenFolder>>> {
        self.inner.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the actions on the open folder.
    pub fn folder(&self) -> FolderActions<'_> {
        FolderActions { app: self }
    }

    /// Returns the actions on runs.
    pub fn runs(&self) -> RunActions<'_> {
        RunActions { app: self }
    }

    /// Returns the actions on statistics of runs.
    pub fn stats(&self) -> StatsActions<'_> {
        StatsActions { app: self }
    }

    /// Returns the actions on failures of runs.
    pub fn failures(&self) -> FailureActions<'_> {
        FailureActions { app: self }
    }

    /// Returns the actions on reviews of people.
    pub fn reviews(&self) -> ReviewActions<'_> {
        ReviewActions { app: self }
    }

    /// Returns the actions on labels of runs.
    pub fn labels(&self) -> LabelActions<'_> {
        LabelActions { app: self }
    }

    /// Returns the actions on launches.
    pub fn launches(&self) -> LaunchActions<'_> {
        LaunchActions { app: self }
    }

    /// Returns the actions on judging.
    pub fn judging(&self) -> JudgingActions<'_> {
        JudgingActions { app: self }
    }

    /// Returns the actions on evaluations of data files.
    pub fn evaluations(&self) -> EvaluationActions<'_> {
        EvaluationActions { app: self }
    }

    /// Returns the actions on scores of runs.
    pub fn scoring(&self) -> ScoringActions<'_> {
        ScoringActions { app: self }
    }

    /// Returns the actions on reports and exports.
    pub fn reports(&self) -> ReportActions<'_> {
        ReportActions { app: self }
    }

    /// Returns the actions on suites and tasks.
    pub fn suites(&self) -> SuiteActions<'_> {
        SuiteActions { app: self }
    }

    /// Returns the actions on attacks.
    pub fn red_team(&self) -> RedTeamActions<'_> {
        RedTeamActions { app: self }
    }

    /// Returns the actions on sensitive runs.
    pub fn sensitive(&self) -> SensitiveActions<'_> {
        SensitiveActions { app: self }
    }

    /// Returns the actions on keys and settings.
    pub fn settings(&self) -> SettingsActions<'_> {
        SettingsActions { app: self }
    }
}
