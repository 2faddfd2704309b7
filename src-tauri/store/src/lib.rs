//! The results flow: what lies in the output directory, read, indexed, followed and asked. Knows
//! nothing of how runs are made.

mod backlog;
pub mod blob;
pub mod catalog;
mod chores;
mod compact;
pub mod conduct;
mod enter;
pub mod filter;
pub mod flow;
pub mod home;
mod inbox;
pub mod index;
mod ingest;
pub mod judgements;
pub mod layouts;
pub mod limits;
pub mod live;
mod load;
mod look;
mod members;
pub mod open;
pub mod overview;
mod pace;
pub mod query;
mod reconcile;
mod record;
pub mod reviews;

mod renewing;
pub mod roots;
pub mod scan;
pub mod scoring;
mod seal;
mod search;
#[cfg(test)]
mod shelf;
pub mod snippet;
pub mod stored;
pub mod suites;
mod tally;
mod trust;
mod watch;
pub mod watching;
mod words;

/// The id of the run that a file belongs to, by its name; of one of many in it, by what it is
/// called there.
pub fn run_of_file(file: &roots::FileId, member: Option<&str>) -> String {
    reconcile::unit_of(file, false).key_of(member)
}

/// The id of the run that a file of its own is: the same whether the file is there or not.
pub fn run_id(file: &roots::FileId) -> String {
    reconcile::UnitId { file: file.clone(), group: false }.key()
}
