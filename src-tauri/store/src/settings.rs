//! Settings of the workspace file that scores and suites depend on. They are followed while the
//! folder is open; reading the file is the caller's part.
use super::index::{self, IndexError};
use super::indexer::{Change, Indexer};
use super::judgements::Marks;
use super::load;
use super::roots::{FileId, Root};
use std::sync::Arc;
use std::time::Instant;
use touchstone_formats::tool_offers::ToolOffer;
use touchstone_formats::workspace::renames::Renames;
use touchstone_model::value::Value;

/// Settings that suites are read with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SuiteSettings {
    /// Scorers for queries; empty means the defaults.
    pub query_scorers: Vec<Value>,
    /// Tools declared in the workspace file, if their parameters are given.
    pub tools: Vec<ToolOffer>,
    /// Entries of `tools` in the workspace file, each with the names of its tools. `None` where the
    /// names are only known after contacting the tool server.
    pub tool_names: Vec<(String, Option<Vec<String>>)>,
}

/// Settings from the workspace file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Settings that suites are read with.
    pub suites: SuiteSettings,
    /// Identities of the models.
    pub marks: Marks,
    /// Corrections to the names of imported runs.
    pub renames: Arc<Renames>,
}

/// Change of the workspace file.
#[derive(Debug)]
pub enum SettingsChange {
    /// It has these settings now.
    Read(Settings),
    /// It cannot be read now. The settings from before stay in effect.
    Unreadable,
}

/// Returns the change of the workspace file since the last call; at the first call, its state. It
/// is called every second, so an unchanged file should cost little.
pub type ReadSettings = Box<dyn FnMut() -> Option<SettingsChange> + Send>;

impl Indexer {
    /// Applies a change of the workspace file, and schedules that suites are read again if they
    /// depend on it.
    pub(crate) fn follow_settings(&mut self) {
        let Some(change) = (self.settings)() else { return };
        if let SettingsChange::Read(settings) = change {
            self.know_models(&Arc::new(settings.marks));
            self.renames = Some(settings.renames);
            if let Err(error) = self.heed_renames() {
                self.recover(&error);
            }
            if self.shelving.apply(settings.suites) {
                self.read_suites_again();
            }
        }
        match load::generation(&self.writer.sql) {
            // Problems and options of launches depend on the file even if no run changed.
            Ok(generation) => (self.publish)(Change::Runs { generation, ids: Vec::new() }),
            Err(error) => self.recover(&error),
        }
        self.tell_status();
    }

    /// Schedules that the files of other tools are read again if their names were corrected
    /// otherwise than in the index. An unreadable workspace file leaves the index as it is.
    pub(crate) fn heed_renames(&mut self) -> Result<(), IndexError> {
        let Some(renames) = &self.renames else { return Ok(()) };
        let hash = load::renames_hash(renames);
        if index::meta(&self.writer.sql, "renames")? == hash {
            return Ok(());
        }
        let change = self.writer.sql.unchecked_transaction()?;
        load::unsettle_imports(&change)?;
        load::put_meta(&change, "renames", hash)?;
        change.commit()?;
        self.known = load::known_files(&self.writer.sql)?;
        self.again.entry(Instant::now()).or_default().insert(FileId::new(Root::Output, ""));
        Ok(())
    }

    fn read_suites_again(&mut self) {
        if !self.shared.roots.existing().contains(&Root::Input) {
            return;
        }
        for (_, mark) in self.known.iter_mut().filter(|(file, _)| file.root == Root::Input) {
            mark.settled = false;
        }
        self.again.entry(Instant::now()).or_default().insert(FileId::new(Root::Input, ""));
    }
}
