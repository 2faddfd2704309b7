//! Results of the output directory: reading, indexing, watching and querying them. Independent of
//! how runs are made.

mod backlog;
pub mod blob;
pub mod catalog;
mod background_tasks;
mod compact;
pub mod indexer;
mod index_writer;
pub mod filter;
pub mod folder_index;
pub mod index_dir;
mod inbox;
pub mod index;
mod ingest;
pub mod judgements;
pub mod layouts;
pub mod limits;
pub mod live;
mod load;
mod parse_unit;
mod members;
pub mod open;
pub mod overview;
mod read_throttle;
pub mod query;
mod reconcile;
mod record;
pub mod reviews;

mod rescore;
pub mod roots;
pub mod scan;
pub mod scoring;
mod checksum;
mod search;
#[cfg(test)]
mod test_index;
pub mod snippet;
pub mod imported_verdicts;
pub mod suites;
mod state_counts;
mod trust;
mod watch;
pub mod watching;
mod fts;

/// Run id for a file, by its name and, for a file with many runs, the key of the member.
pub fn run_of_file(file: &roots::FileId, member: Option<&str>) -> String {
    reconcile::unit_of(file, false).key_of(member)
}

/// Run id for a file that holds a single run. Does not depend on the file's existence.
pub fn run_id(file: &roots::FileId) -> String {
    reconcile::UnitId { file: file.clone(), group: false }.key()
}
