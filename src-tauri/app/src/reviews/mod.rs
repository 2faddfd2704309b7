//! Reviews of people, and the agreement of raters.
pub(crate) mod reviewing;
mod trust;

pub use reviewing::Reviews;
