//! Launches: what they would run, starting, watching, stopping and continuing them.
pub(crate) mod buying;
mod cells;
mod continue_run;
mod launch_checks;
mod launch_context;
mod launch_options;
mod launch_plan;
mod launch_prices;
pub(crate) mod launch_registry;
mod launch_selection;
mod omitted_runs;
mod part_origin;
mod revision;
mod selected_runs;
pub mod split;
mod starting;

use crate::App;

pub use launch_plan::PreparedLaunch;
pub use part_origin::{PartOrigin, new_launch_id};

/// The actions on launches.
#[derive(Clone, Copy)]
pub struct LaunchActions<'a> {
    pub(crate) app: &'a App,
}
