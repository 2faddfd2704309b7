//! **Pure.** Detects the layout of files and reads outlines and coordinates. The only module
//! through which the index calls `formats` for runs.
use super::open;
use super::roots::FileId;
use super::roots::Roots;
use super::scan::{is_query_name, is_suite_name};
use super::unit_id::UnitId;
use std::path::Path;
use touchstone_formats::collection::{self, Member};
use touchstone_formats::file_kind::{self, FileKind, detect};
use touchstone_formats::stabletoolbench::answers::raw;
use touchstone_formats::stabletoolbench::filter;
use touchstone_formats::{answer_tag, benchmark, broken, names, transcript};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::run::{Outline, Run};
use xxhash_rust::xxh3::xxh3_64;

/// Number of bytes at the start of a file that are needed to detect its kind.
const HEAD: usize = 16 << 10;
/// Model names recognized in paths without configuration.
const MODELS: [&str; 3] = ["claude", "o1", "o3-mini"];

/// Detected kind of a file, with its content.
pub(crate) enum FileContent {
    /// Run.
    Run(Box<Outline>),
    /// File with many runs.
    Many,
    /// Suite among the transcripts.
    Suite,
    /// Workspace file or list of query ids: neither a result nor an error.
    Workspace,
    /// Unrelated file, with the reason as a sentence.
    Other(String),
    /// Looks like a run but cannot be read.
    Damaged(ReadError),
}

/// Stem of a file that belongs to a run of a benchmark folder.
pub(crate) fn member(name: &str) -> Option<&str> {
    benchmark::member(name).map(|(stem, _)| stem)
}

/// Returns true when the name suggests that the file is worth reading. Other files become rows with
/// a reason.
pub(crate) fn is_plausible(file: &FileId) -> bool {
    is_suite_name(file)
}

/// Returns true for a set of queries, judged by the name and the start of the file.
pub(crate) fn is_query_set(roots: &Roots, file: &FileId) -> bool {
    let head = || open::read_head(roots, file, HEAD).map(|(head, _)| head).unwrap_or_default();
    is_query_name(file) && detect(&String::from_utf8_lossy(file.name()), &head()) == FileKind::Suite
}

/// Returns the key that makes a JSON file look like a task, for files that are not sets of queries.
pub(crate) fn task_key(roots: &Roots, file: &FileId) -> Option<String> {
    let (head, _) = open::read_head(roots, file, HEAD).ok()?;
    file_kind::task_key(&head).map(str::to_owned)
}

/// Returns true when only the start of the file shows if it is worth reading.
pub(crate) fn is_told_by_its_head(file: &FileId) -> bool {
    let name = String::from_utf8_lossy(file.name()).to_lowercase();
    Path::new(&name)
        .extension()
        .is_some_and(|end| ["json", "jsonl", "csv", "tsv"].iter().any(|known| end == *known))
}

/// Kind of a file, judged by its first bytes.
pub(crate) enum Head {
    /// Holds one or more runs; must be read.
    Runs,
    /// Holds queries; must be read.
    Suite,
    /// Unrelated, with a reason given by the content.
    Other,
    /// The name is sufficient; not read.
    Unread,
}

/// Classifies a file by its first bytes; [`HEAD`] bytes are enough.
pub(crate) fn head(file: &FileId, bytes: &[u8]) -> Head {
    match detect(&String::from_utf8_lossy(file.name()), bytes) {
        FileKind::Collection | FileKind::RawAnswer | FileKind::Transcript => Head::Runs,
        FileKind::Suite => Head::Suite,
        FileKind::Other(_) => Head::Other,
        _ => Head::Unread,
    }
}

/// Detects the kind of a file and parses its outline.
pub(crate) fn look(file: &FileId, bytes: &[u8]) -> FileContent {
    if filter::is_one(&file.to_display()) {
        return FileContent::Workspace;
    }
    if is_suite_name(file) && bytes.iter().all(u8::is_ascii_whitespace) {
        return FileContent::Damaged(ReadError::new(
            ReadErrorKind::Truncated,
            "The file is empty.",
        ));
    }
    match kind_of(file, bytes) {
        FileKind::Transcript | FileKind::BenchmarkMember => transcript::outline(bytes)
            .map_or_else(FileContent::Damaged, |outline| FileContent::Run(Box::new(outline))),
        FileKind::RawAnswer => raw::outline(bytes)
            .map_or_else(FileContent::Damaged, |outline| FileContent::Run(Box::new(outline))),
        FileKind::Collection => FileContent::Many,
        FileKind::Suite => FileContent::Suite,
        FileKind::Workspace => FileContent::Workspace,
        FileKind::Other(reason) => {
            let name = String::from_utf8_lossy(file.name());
            // Of other files than YAML only the start is read.
            let is_whole = is_suite_name(file) || bytes.len() < HEAD;
            let fault = if is_read(file) { broken::fault(&name, bytes, is_whole) } else { None };
            fault.map_or(FileContent::Other(reason), FileContent::Damaged)
        }
    }
}

/// Returns true for files of which at least the start is read.
fn is_read(file: &FileId) -> bool {
    is_plausible(file) || is_told_by_its_head(file)
}

fn kind_of(file: &FileId, bytes: &[u8]) -> FileKind {
    detect(&String::from_utf8_lossy(file.name()), &bytes[..bytes.len().min(HEAD)])
}

/// Parses the files of a run of a benchmark folder.
pub(crate) fn look_group(files: &[(&FileId, &[u8])]) -> FileContent {
    let mut parts = benchmark::Parts::default();
    for (file, bytes) in files {
        if let Some((_, kind)) = std::str::from_utf8(file.name()).ok().and_then(benchmark::member) {
            parts.set(kind, bytes);
        }
    }
    benchmark::outline(&parts)
        .map_or_else(FileContent::Damaged, |outline| FileContent::Run(Box::new(outline)))
}

/// Reads a complete run. `tag` is the tag that holds the answer, if the index recorded one.
pub fn read_run(files: &[(&FileId, &[u8])], tag: Option<&str>) -> Result<Run, ReadError> {
    let mut run = as_they_are(files)?;
    if let Some(tag) = tag {
        answer_tag::apply(&mut run, tag);
    }
    Ok(run)
}

fn as_they_are(files: &[(&FileId, &[u8])]) -> Result<Run, ReadError> {
    let mut parts = benchmark::Parts::default();
    let mut group = false;
    for (file, bytes) in files {
        if let Some((_, kind)) = std::str::from_utf8(file.name()).ok().and_then(benchmark::member) {
            parts.set(kind, bytes);
            group = true;
        }
    }
    match files {
        [(file, bytes)] if !group && kind_of(file, bytes) == FileKind::RawAnswer => {
            raw::read(bytes)
        }
        [(_, bytes)] if !group => transcript::read(bytes),
        _ => benchmark::read(&parts),
    }
}

/// Reads one run of a file with many, with its position and content hash.
pub fn read_member(
    file: &FileId,
    bytes: &[u8],
    member: &str,
) -> Result<(Run, MemberPosition), ReadError> {
    let many = collection::Collection::open(&file.to_display(), bytes)?;
    let at = many.find(member).unwrap_or(usize::MAX);
    Ok((many.run(at)?, MemberPosition { at, content: xxh3_64(many.bytes_of(at)) }))
}

/// Content hashes of the runs in a file, in file order; empty for other files.
pub fn contents(bytes: &[u8]) -> Vec<u64> {
    let Ok(many) = collection::Collection::open("", bytes) else { return Vec::new() };
    (0..many.len()).map(|at| xxh3_64(many.bytes_of(at))).collect()
}

/// Keys of the runs in a file, in file order; empty for other files.
pub fn keys(bytes: &[u8]) -> Vec<String> {
    let Ok(many) = collection::Collection::open("", bytes) else { return Vec::new() };
    (0..many.len()).map(|at| many.key(at).to_owned()).collect()
}

/// Position of a run within a file of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberPosition {
    /// Index in the file, from 0.
    pub at: usize,
    /// Hash of its text.
    pub content: u64,
}

/// Run properties derived from the path.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Coordinates {
    pub(crate) task: Option<String>,
    pub(crate) system: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) variation: Option<u32>,
    pub(crate) variation_name: Option<String>,
    pub(crate) repeat: u32,
    /// Fork number from the file name; 0 if the run is not a fork.
    pub(crate) fork: u32,
}

/// Coordinates of one run in a file with many. A query has one variation, so a missing variation
/// counts as 0.
pub(crate) fn of_member(member: &Member) -> Coordinates {
    let place = &member.place;
    Coordinates {
        variation: place.task.as_ref().map(|_| place.variation.unwrap_or(0)),
        task: place.task.clone(),
        system: place.system.clone(),
        model: place.model.clone(),
        variation_name: None,
        repeat: place.repeat,
        fork: 0,
    }
}

/// Derives the coordinates from the path of a unit.
pub(crate) fn coordinates(unit: &UnitId, models: &[String]) -> Coordinates {
    let none = Coordinates { repeat: 1, ..Coordinates::default() };
    if unit.group {
        let (dir, stem) = (
            String::from_utf8_lossy(unit.file.parent()),
            String::from_utf8_lossy(unit.file.name()),
        );
        let Some(at) = benchmark::coordinates(&dir, &stem) else { return none };
        let name = if at.mode == "retrieval" {
            at.variation
        } else {
            format!("{} ({})", at.variation, at.mode)
        };
        return Coordinates {
            task: at.task,
            system: Some(at.system),
            model: Some(at.model),
            variation: None,
            variation_name: Some(name),
            repeat: at.repeat,
            fork: 0,
        };
    }
    let known: Vec<&str> = MODELS.into_iter().chain(models.iter().map(String::as_str)).collect();
    let path = unit.file.to_display();
    if let Some(at) = raw::coordinates(&path).filter(|_| names::read(&path, &known).is_none()) {
        let (task, system) = (Some(at.task), Some(at.method));
        return Coordinates { task, system, model: at.model, variation: Some(0), ..none };
    }
    let Some(at) = names::read(&path, &known) else { return none };
    Coordinates {
        task: Some(at.task),
        system: Some(at.system.to_string()),
        model: Some(at.model),
        variation: Some(at.variation),
        variation_name: None,
        repeat: at.repeat,
        fork: at.fork,
    }
}
