//! Settings: keys, the name of the reviewer, and the workspace file.
pub(crate) mod author;
pub(crate) mod keys;
pub(crate) mod setup;
pub(crate) mod workspace_settings;

use crate::App;

/// The actions on keys and settings.
#[derive(Clone, Copy)]
pub struct SettingsActions<'a> {
    pub(crate) app: &'a App,
}
