//! Results of the output directory: reading, indexing, watching and querying them. Independent of
//! how runs are made.

mod background_tasks;
mod backlog;
pub mod blob;
mod bulk_load;
pub mod catalog;
mod claimed_rows;
mod claims;
mod compact;
pub mod compact_segments;
pub mod filter;
pub mod folder_index;
mod inbox;
pub mod index;
pub mod index_dir;
mod index_writer;
pub mod indexer;
mod ingest;
pub mod judgements;
pub mod layouts;
pub mod limits;
pub mod live;
mod load;
mod members;
pub mod open;
mod outcome;
pub mod overview;
mod parse_unit;
pub mod query;
mod read_throttle;
pub mod read_watch;
mod reconcile;
mod record;
mod repeats;
pub mod reviews;

mod checksum;
mod columns;
pub mod imported_verdicts;
pub mod imports;
mod rescore;
pub mod roots;
mod run_key;
mod run_set;
pub mod scan;
pub mod scoring;
pub mod sealing;
mod search;
pub mod segments;
pub mod settings;
mod snapshot_cache;
pub mod snippet;
mod state_counts;
pub mod suites;
#[cfg(test)]
mod test_index;
mod trust;
mod unit_files;
mod unit_id;
mod watch;
pub mod watching;
mod word_index;

/// Run id for a file, by its name and, for a file with many runs, the key of the member.
pub fn run_of_file(file: &roots::FileId, member: Option<&str>) -> String {
    reconcile::unit_of(file, false).key_of(member)
}

/// Run id for a file that holds a single run. Does not depend on the file's existence.
pub fn run_id(file: &roots::FileId) -> String {
    unit_id::UnitId { file: file.clone(), group: false }.key()
}
