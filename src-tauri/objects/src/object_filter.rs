//! **Pure.** Chooses which objects are copied, by their keys. Keys are untrusted: one that could lead
//! out of the copy, or that a disk cannot hold, is refused with a reason.
use touchstone_store::roots::{FileId, Root};
use touchstone_store::scan;

/// Maximum length of a name on a disk in bytes.
const LONGEST_NAME: usize = 255;
/// Folder of the program beside results, and what of it is read.
const OURS: &str = ".touchstone";
const READ: [&str; 4] = ["reviews", "judgements", "sensitive", "cause-names.json"];

/// Use of an object for the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectUse {
    /// It is copied to this path, which is its key.
    Copied,
    /// It is not read: a hidden or temporary file, or one that only the making of runs uses.
    Ignored,
    /// It cannot be copied, for this reason.
    Refused(&'static str),
}

/// Returns the use of an object, by its key below the prefix. `deepest` is the number of folders
/// that are listed.
pub(crate) fn object_use(key: &str, deepest: usize) -> ObjectUse {
    if key.is_empty() {
        return ObjectUse::Ignored;
    }
    if key.starts_with('/') {
        return ObjectUse::Refused("its name begins with a slash");
    }
    // What other tools create for an empty folder.
    let parts: Vec<&str> = key.strip_suffix('/').unwrap_or(key).split('/').collect();
    if parts.iter().any(|part| matches!(*part, "." | "..")) {
        return ObjectUse::Refused("its name has a part `.` or `..`");
    }
    if parts.iter().any(|part| part.is_empty()) {
        return ObjectUse::Refused("its name has an empty part");
    }
    if key.contains('\\') {
        return ObjectUse::Refused("its name has a backslash");
    }
    if key.chars().any(char::is_control) {
        return ObjectUse::Refused("its name has control characters");
    }
    if parts.iter().any(|part| part.len() > LONGEST_NAME) {
        return ObjectUse::Refused("a part of its name is longer than 255 bytes");
    }
    if key.ends_with('/') || !is_read(&parts) {
        return ObjectUse::Ignored;
    }
    let own = if parts.contains(&OURS) { 2 } else { 0 };
    if parts.len() > deepest + 1 + own {
        return ObjectUse::Refused("it is in too many folders");
    }
    ObjectUse::Copied
}

fn is_read(parts: &[&str]) -> bool {
    let is_hidden =
        |parts: &[&str]| scan::is_hidden(&FileId::new(Root::Output, parts.join("/").into_bytes()));
    match parts.iter().position(|part| *part == OURS) {
        None => !is_hidden(parts),
        Some(at) => {
            let (before, ours) = parts.split_at(at);
            let read = ours.get(1).is_some_and(|kind| READ.contains(kind));
            read && (before.is_empty() || !is_hidden(before)) && !is_hidden(&ours[1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_copied_to_itself_or_left_out_or_refused_with_the_reason() {
        let long = "x".repeat(256);
        let deep = format!("{}a.yaml", "d/".repeat(17));
        let fits = format!("{}a.yaml", "d/".repeat(16));
        let review = format!(".touchstone/reviews/{}a.yaml", "d/".repeat(16));
        for (key, place) in [
            ("a.yaml", "copied"),
            ("results/o1/état 1.json", "copied"),
            ("a/.touchstone/reviews/x.yaml", "copied"),
            (".touchstone/judgements/a/b.yaml", "copied"),
            (".touchstone/sensitive/1.json", "copied"),
            (".touchstone/cause-names.json", "copied"),
            (fits.as_str(), "copied"),
            (review.as_str(), "copied"),
            ("", "ignored"),
            ("folder/", "ignored"),
            (".git/config", "ignored"),
            ("a/.cache/x", "ignored"),
            ("a.tmp", "ignored"),
            (".touchstone/segments/1.parquet", "ignored"),
            (".touchstone/journal/a.jsonl", "ignored"),
            (".touchstone/launches/a.jsonl", "ignored"),
            (".touchstone/reviews/.x.yaml", "ignored"),
            (".git/.touchstone/reviews/x.yaml", "ignored"),
            (".touchstone", "ignored"),
            ("../a.yaml", "`..`"),
            ("a/../../etc/passwd", "`..`"),
            ("..", "`..`"),
            ("../", "`..`"),
            ("a/./b", "`.`"),
            (".git/../a", "`..`"),
            ("/etc/passwd", "slash"),
            ("/", "slash"),
            ("a//b", "empty"),
            ("a//", "empty"),
            ("a\\..\\b", "backslash"),
            ("a\0b", "control"),
            ("a\nb", "control"),
            (long.as_str(), "255"),
            (deep.as_str(), "too many"),
        ] {
            match (object_use(key, 16), place) {
                (ObjectUse::Copied, "copied") | (ObjectUse::Ignored, "ignored") => {}
                (ObjectUse::Refused(why), words) if why.contains(words) => {}
                (other, _) => panic!("{key:?}: {other:?}, not {place}"),
            }
        }
    }
}
