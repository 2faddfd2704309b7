//! Runs as Parquet: the columns, and the segments of a folder, immutable files that claim what
//! runs it has. A claim names the files of a run with their stamps; whoever opens the folder takes
//! it in place of reading the files, reads them later, and replaces what they say otherwise.
mod check;
mod columns;
mod files;
mod pages;
mod read;
mod status;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use check::{checked, differing};
pub(crate) use columns::schema;
pub use columns::{COLUMNS_VERSION, ClaimedFile, RunRecord, ScoreRecord, reference};
pub use files::{FOLDER, RefusedSegment, segment_name, segments};
pub(crate) use files::{MANY, each_segment, open_segment};
pub(crate) use read::{
    Claim, MOST_INDEX_ROW, check_group, damaged, open_checked, read as read_claims,
};
pub use status::SegmentStatus;
pub(crate) use write::{GROUP, put_segment, start};
pub use write::{SegmentRow, write_runs};
