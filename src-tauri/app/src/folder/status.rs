//! The state of the open folder.
use super::FolderActions;
use crate::error::{AppError, Code};
use std::time::Duration;
use touchstone_api::{
    Counts, Folders, IndexReport, Phase, SearchProgress, Status, WatchMeans, Watching,
};

impl FolderActions<'_> {
    /// Returns the state that the frame of the window shows.
    pub fn status(self) -> Status {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let Some(open) = self.app.current_folder() else {
            return Status {
                version,
                folder: None,
                phase: Phase::Closed,
                generation: 0,
                counts: Counts::default(),
                search: SearchProgress::default(),
                scoring: None,
                watching: Watching { by: WatchMeans::Off, notice: None },
                bucket: None,
            };
        };
        let now = open.flow.live.now();
        let mut counts = now.counts;
        counts.suite_problems += u64::from(!open.workspace_problems().is_empty());
        counts.suite_problems += open.bucket_problems().len() as u64;
        Status {
            version,
            folder: Some(open.folder.clone()),
            phase: now.phase,
            generation: now.generation,
            counts,
            search: now.search,
            scoring: now.scoring,
            watching: now.watching,
            bucket: Self::bucket_view(&open),
        }
    }

    /// Returns the folders that can be opened on this host.
    pub fn folders(self, can_pick: bool, can_open: bool) -> Folders {
        let demo = self.app.inner.config.demo_dir.as_ref().is_some_and(|dir| dir.is_dir());
        Folders { recent: self.app.inner.recent.list(), demo, can_pick, can_open }
    }

    /// Waits until the list of runs is complete. If the index later turns out to be damaged and is
    /// rebuilt, queries wait for up to `timeout` too.
    pub fn wait_ready(self, timeout: Duration) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        open.patience.get_or_init(|| timeout);
        open.flow.live.stir();
        if !open.flow.live.wait(|now| !matches!(now.phase, Phase::Indexing { .. }), timeout) {
            let message =
                format!("{} was not read within {} seconds.", open.folder.path, timeout.as_secs());
            return Err(AppError::new(Code::Failed, message));
        }
        match open.flow.live.now().phase {
            Phase::Failed { reason, hint } => Err(AppError::new(Code::Failed, reason).hint(hint)),
            _ => Ok(()),
        }
    }

    /// Waits until the full-text index is complete. Returns false on timeout.
    pub fn wait_searchable(self, timeout: Duration) -> Result<bool, AppError> {
        let open = self.app.require_folder()?;
        open.flow.live.stir();
        Ok(open.flow.live.wait(|now| now.took.search.is_some(), timeout))
    }

    /// Returns counts and durations of the opening of the folder.
    pub fn index_report(self) -> Result<IndexReport, AppError> {
        let now = self.app.require_folder()?.flow.live.now();
        let ms =
            |time: Option<Duration>| time.and_then(|time| u64::try_from(time.as_millis()).ok());
        Ok(IndexReport {
            files: now.took.files,
            runs: now.counts.runs,
            damaged: now.counts.damaged,
            not_transcripts: now.counts.other_files,
            scan_ms: ms(now.took.scan).unwrap_or(0),
            index_ms: ms(now.took.index).unwrap_or(0),
            search_ready_ms: ms(now.took.search),
        })
    }
}
