//! Red teaming: suites of attacks, their wording, and how often they succeeded.
mod attack_baseline;
pub mod attack_suites;
pub mod rewording;
mod scan_targets;
pub mod scorecard;

use crate::App;

/// The actions on attacks.
#[derive(Clone, Copy)]
pub struct RedTeamActions<'a> {
    pub(crate) app: &'a App,
}
