//! Content of a review or judgement file, and its storage in the index.
use super::super::index::IndexError;
use super::super::judgements;
use super::super::open::{self, Refused, Stamp};
use super::super::parse_unit::is_settled;
use super::super::roots::{FileId, Roots};
use super::super::scan::Found;
use super::stored_review::StoredReview;
use super::{MOST, Wrong, is_judged, read};
use rusqlite::{Connection, OptionalExtension as _, params};
use touchstone_clock as clock;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a note in the index, in characters. The full text is in the file.
const NOTE: usize = 600;

/// Result of reading a review or judgement file.
pub(super) enum LoadedReview {
    Gone,
    Unread { stamp: Stamp, wrong: Wrong },
    Sheet { stamp: Stamp, settled: bool, hash: u64, read: Result<ReviewContent, Wrong> },
}

/// Parsed content.
pub(super) enum ReviewContent {
    /// Reviews by people, as stored in the index.
    People(String),
    /// Judgements, as stored in the index.
    Judges(String),
}

impl LoadedReview {
    pub(super) fn load(roots: &Roots, file: &FileId, found: Option<Found>) -> Self {
        let Some(found) = found else { return LoadedReview::Gone };
        if let Some(odd) = found.odd {
            return LoadedReview::Unread { stamp: found.stamp, wrong: Wrong::because(odd) };
        }
        let judged = is_judged(file);
        let said = |bytes: &[u8]| {
            if judged {
                judgements::read(bytes)
                    .map(|sheet| ReviewContent::Judges(judgements::to_stored_json(&sheet)))
            } else {
                read(bytes).map(|sheet| ReviewContent::People(StoredReview::to_json(&sheet)))
            }
        };
        match open::read(roots, file, if judged { judgements::MOST } else { MOST }) {
            Ok((bytes, stamp)) => LoadedReview::Sheet {
                stamp,
                settled: is_settled(stamp, clock::now_ns()),
                hash: xxh3_64(&bytes),
                read: said(&bytes).map_err(Wrong::from_error),
            },
            Err(Refused::Gone) => LoadedReview::Gone,
            Err(why) => LoadedReview::Unread {
                stamp: found.stamp,
                wrong: Wrong::because(format!("The file cannot be read: {why}.")),
            },
        }
    }

    /// Stores the content in the index. Returns true when it changed.
    pub(super) fn put(self, sql: &Connection, file: &FileId) -> Result<bool, IndexError> {
        let (stamp, settled, hash, read) = match self {
            LoadedReview::Gone => {
                return Ok(sql
                    .prepare_cached("DELETE FROM reviews WHERE path = ?")?
                    .execute([&file.path])?
                    > 0);
            }
            LoadedReview::Unread { stamp, wrong } => {
                (stamp, true, xxh3_64(wrong.message.as_bytes()), Err(wrong))
            }
            LoadedReview::Sheet { stamp, settled, hash, read } => (stamp, settled, hash, read),
        };
        let mut known = sql.prepare_cached("SELECT hash FROM reviews WHERE path = ?")?;
        let before: Option<i64> = known.query_row([&file.path], |row| row.get(0)).optional()?;
        let (people, judged) = match read.as_ref().ok() {
            Some(ReviewContent::People(people)) => (Some(people), None),
            Some(ReviewContent::Judges(judged)) => (None, Some(judged)),
            None => (None, None),
        };
        let wrong = read.as_ref().err().and_then(|wrong| serde_json::to_string(wrong).ok());
        sql.prepare_cached(
            "INSERT INTO reviews (path, size, mtime_ns, inode, settled, hash, people, judged, problem)
             VALUES (?,?,?,?,?,?,?,?,?)
             ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode,
               settled = excluded.settled, hash = excluded.hash, people = excluded.people, judged = excluded.judged,
               problem = excluded.problem",
        )?
        .execute(params![
            file.path,
            stamp.size.cast_signed(),
            stamp.mtime_ns,
            stamp.inode.cast_signed(),
            settled,
            hash.cast_signed(),
            people,
            judged,
            wrong,
        ])?;
        Ok(before != Some(hash.cast_signed()))
    }
}

/// Shortens a text for the index.
pub(crate) fn beginning(text: &str) -> String {
    let text = text.trim();
    let mut cut: String = text.chars().take(NOTE).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}
