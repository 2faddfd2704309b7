//! The segments of a folder as files: their names and order.
use crate::open::{self, Refused};
use crate::roots::{FileId, Root, Roots};
use fs_err as fs;
use fs_err::File;
use std::collections::HashSet;

/// Folder of the segments, in the output directory.
pub const FOLDER: &str = ".touchstone/segments";
/// Ending of a segment.
const END: &str = ".parquet";
/// Number of waiting files from which segments are looked at again while the folder is open.
pub(crate) const MANY: usize = 1_000;
/// Maximum number of segments that are read: the newest.
const MOST: usize = 20_000;
/// Number of times that segments are listed if some go away meanwhile.
const ROUNDS: usize = 3;

/// Returns the name of a segment: sorted by name, segments are sorted by time.
pub fn segment_name(now_ms: i64, host: &str, shard: u32, number: u32) -> String {
    let host: String = host.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    let host = if host.is_empty() { "host".to_owned() } else { host };
    format!("{now_ms:013}-{host}-{shard}-{number}{END}")
}

/// Returns the names of the segments of a folder, the newest first. Files that are still being
/// written have other names.
pub fn segments(roots: &Roots) -> Vec<String> {
    let Ok(entries) = fs::read_dir(roots.output_dir.join(FOLDER)) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_segment(name)).collect();
    names.sort_unstable_by(|one, other| other.cmp(one));
    names.truncate(MOST);
    names
}

fn is_segment(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.');
    name.ends_with(END) && !name.starts_with('.') && name.chars().all(is_plain)
}

/// Opens a segment, as any file of the folder: not through a link.
pub(crate) fn open_segment(roots: &Roots, name: &str) -> Result<File, Refused> {
    let file = FileId::new(Root::Output, format!("{FOLDER}/{name}").into_bytes());
    open::open(roots, &file).map(|(file, _)| file)
}

/// Passes each segment that is not in `seen` to `each`, the newest first, until it returns false. If
/// one went away, its claims are in another one, and they are listed again.
pub(crate) fn each_segment(
    roots: &Roots,
    seen: &mut HashSet<String>,
    each: &mut dyn FnMut(String, Result<File, String>) -> bool,
) {
    for _ in 0..ROUNDS {
        let mut is_gone = false;
        for name in segments(roots) {
            if !seen.insert(name.clone()) {
                continue;
            }
            match open_segment(roots, &name) {
                Err(Refused::Gone) => is_gone = true,
                file => {
                    if !each(name, file.map_err(|why| format!("{why}."))) {
                        return;
                    }
                }
            }
        }
        if !is_gone {
            return;
        }
    }
}

/// A segment that is not used, with the reason as a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSegment {
    /// Name.
    pub name: String,
    /// Reason.
    pub why: String,
}
