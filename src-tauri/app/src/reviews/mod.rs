//! Reviews of people, and the agreement of raters.
pub(crate) mod reviewing;
mod trust;

use crate::App;

pub use reviewing::Reviews;

/// The actions on reviews.
#[derive(Clone, Copy)]
pub struct ReviewActions<'a> {
    pub(crate) app: &'a App,
}
