//! Runs as Parquet: the columns, and the segments of a folder, immutable files that claim what
//! runs it has. A claim names the files of a run with their stamps; whoever opens the folder takes
//! it in place of reading the files, reads them later, and replaces what they say otherwise.
mod check;
mod columns;
mod compact;
mod files;
mod index_row;
mod pages;
mod read;
mod seal;
mod take;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use check::{checked, differing};
pub use columns::{COLUMNS_VERSION, ClaimedFile, RunRecord, ScoreRecord, reference};
pub use compact::{Compacted, compact};
pub use files::{FOLDER, RefusedSegment, segment_name, segments};
pub use seal::{Keep, Sealed, ToSeal};
pub(crate) use take::MANY;
pub use take::SegmentStatus;
pub use write::{SegmentRow, write_runs};
