//! Loads the content of a run: its row and file names from the index, the bytes through the safe
//! open. For security the page never names a file; it only has ids.
use super::error::RunReadError;
use super::pieces::{MARGIN, MAX_PIECE, raw_piece, short};
use super::run_cache::{OpenedRun, weight};
use super::view;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use touchstone_api::{RunFile, RunRow, RunState, TextPiece};
use touchstone_model::error::ReadError;
use touchstone_model::run::Run;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imports;
use touchstone_store::index::Reader;
use touchstone_store::layouts::{self, MemberPosition};
use touchstone_store::open::{self, Refused, Stamp};
use touchstone_store::query;
use touchstone_store::read_watch::ReadWatch;
use touchstone_store::roots::{FileId, Root};
use xxhash_rust::xxh3::Xxh3;

/// Stack of the parsing thread. Parsers are recursive.
pub(super) const STACK: usize = 8 << 20;
/// Maximum bytes of a message about a file, which may quote it.
const MAX_NOTE: usize = 1_000;

/// Returns the row of a run and its files, in the order in which `raw:<n>` counts them.
pub(super) fn row_of(flow: &FolderIndex, id: &str) -> Result<(RunRow, Vec<FileId>), RunReadError> {
    ask(flow, |index| {
        let row = query::row_by_key(index, id)?.ok_or(RunReadError::Unknown)?;
        Ok((row, names(index, id)?))
    })
}

/// Returns the tag in which the answer of a run was found, if its suite names one. Most have none.
pub(super) fn tag_of(flow: &FolderIndex, id: &str) -> Result<Option<String>, RunReadError> {
    const TAG: &str = "SELECT a.tag FROM runs r JOIN answers a ON a.run = r.id WHERE r.key = ?";
    ask(flow, |index| {
        let mut query = index.prepare_cached(TAG)?;
        let mut rows = query.query([id])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?.flatten())
    })
}

fn names(index: &Reader<'_>, id: &str) -> Result<Vec<FileId>, RunReadError> {
    const FILES: &str =
        "SELECT f.path FROM runs r JOIN files f ON f.unit = r.unit WHERE r.key = ? ORDER BY f.path";
    let mut query = index.prepare_cached(FILES)?;
    let paths = query.query_map([id], |row| row.get::<_, Vec<u8>>(0))?;
    Ok(paths
        .map(|path| path.map(|path| FileId::new(Root::Output, path)))
        .collect::<Result<_, _>>()?)
}

fn ask<T>(
    flow: &FolderIndex,
    ask: impl FnOnce(&Reader<'_>) -> Result<T, RunReadError>,
) -> Result<T, RunReadError> {
    let reader = flow.index.trust(flow.index.reader())?;
    match ask(&reader) {
        Err(RunReadError::Index(error)) => Ok(flow.index.trust(Err(error))?),
        other => other,
    }
}

/// Returns the current stamps of files; `None` for one that cannot be opened.
pub(super) fn stamps(flow: &FolderIndex, files: &[FileId]) -> Vec<Option<Stamp>> {
    files.iter().map(|file| open::open(&flow.roots, file).ok().map(|(_, stamp)| stamp)).collect()
}

/// Reads a run. Content that cannot be read becomes a fault that is shown; the files can still be
/// viewed raw. Fails only if no file exists.
pub(super) fn read(
    flow: &FolderIndex,
    row: &RunRow,
    files: Vec<FileId>,
    (stamps, tag): (Vec<Option<Stamp>>, Option<String>),
    watch: &ReadWatch,
) -> Result<OpenedRun, RunReadError> {
    let mut opened = OpenedRun {
        id: row.id.clone(),
        files,
        stamps,
        tag,
        version: String::new(),
        layout: "Not a transcript",
        spot: None,
        run: Run::default(),
        faults: Vec::new(),
        weight: 0,
    };
    if row.state == RunState::Other {
        opened.faults.extend(row.reason.as_deref().map(sentence));
        opened.version = version_of_stamps(&opened.stamps);
        return Ok(opened);
    }
    if row.format.is_some() && !opened.files.is_empty() {
        let (file, member) = (&opened.files[0], row.member.as_deref());
        let read = with_room(|| imports::read_watched_run(&flow.roots, file, member, Some(watch)));
        match read {
            Err(_) if watch.is_stopped() => return Err(RunReadError::Stopped),
            Ok((run, content)) => {
                opened.version = version_of_content(content);
                opened.layout = view::layout(run.layout);
                opened.weight = weight(&run);
                opened.run = run;
            }
            Err(error) => {
                opened.layout = "Damaged file of another tool";
                opened.version = version_of_stamps(&opened.stamps);
                opened.faults = faults(&error);
            }
        }
        return Ok(opened);
    }
    let mut contents = Vec::new();
    watch.start(opened.stamps.iter().flatten().map(|stamp| stamp.size).sum());
    for file in &opened.files {
        match open::read(&flow.roots, file, flow.limits.file_bytes) {
            Ok((bytes, _)) => contents.push((file, bytes)),
            Err(Refused::Gone) => {}
            Err(why) => {
                opened.faults.push(
                    RunReadError::File { file: flow.roots.display_path(file), why }.to_string(),
                );
            }
        }
    }
    if contents.is_empty() && opened.faults.is_empty() {
        return Err(RunReadError::Gone);
    }
    let mut hash = Xxh3::new();
    if row.member.is_none() {
        for (_, bytes) in &contents {
            hash.update(bytes);
        }
    }
    if opened.faults.is_empty() {
        match parse(&contents, (row.member.as_deref(), opened.tag.as_deref())) {
            Ok((run, spot)) => {
                hash.update(opened.tag.as_deref().unwrap_or_default().as_bytes());
                hash.update(&spot.map_or(0, |spot| spot.content).to_le_bytes());
                opened.spot = spot;
                opened.layout = view::layout(run.layout);
                opened.weight = weight(&run);
                opened.run = run;
            }
            Err(error) => {
                opened.layout = "Damaged transcript";
                hash.update(error.message.as_bytes());
                opened.faults = faults(&error);
            }
        }
    }
    opened.version = format!("{:016x}", hash.digest());
    Ok(opened)
}

/// Parses contents; a run of a file that holds many comes with its position.
fn parse(
    contents: &[(&FileId, Vec<u8>)],
    (member, tag): (Option<&str>, Option<&str>),
) -> Result<(Run, Option<MemberPosition>), ReadError> {
    let files: Vec<(&FileId, &[u8])> =
        contents.iter().map(|(file, bytes)| (*file, bytes.as_slice())).collect();
    with_room(|| match (member, files.as_slice()) {
        (Some(member), [(file, bytes)]) => {
            layouts::read_member(file, bytes, member).map(|(run, spot)| (run, Some(spot)))
        }
        // The version is the hash of the files themselves.
        _ => layouts::read_run(&files, tag).map(|run| (run, None)),
    })
}

/// Runs a parser on a thread with a large stack. A panic becomes an error of the file.
pub(super) fn with_room<T: Send>(
    work: impl FnOnce() -> Result<T, ReadError> + Send,
) -> Result<T, ReadError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("open".into())
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        let failed = |message: &str| {
            Err(ReadError::new(touchstone_model::error::ReadErrorKind::BadValue, message))
        };
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(run)) => run,
            Ok(Err(_)) => failed("Reading this file failed with an internal error."),
            Err(_) => failed("No thread is free to read this file."),
        }
    })
}

/// Formats an error of a file as sentences.
fn faults(error: &ReadError) -> Vec<String> {
    let mut faults = vec![sentence(&error.message)];
    if let Some(line) = error.line {
        let column = error.column.map(|column| format!(", column {column}")).unwrap_or_default();
        let excerpt =
            error.excerpt.as_deref().map(|excerpt| format!(": {excerpt}")).unwrap_or_default();
        faults.push(short(&format!("Line {line}{column}{excerpt}"), MAX_NOTE));
    }
    faults.extend(error.advice.as_deref().map(sentence));
    faults
}

pub(super) fn sentence(text: &str) -> String {
    short(text, MAX_NOTE)
}

/// Returns the version of a run of another tool by the hash of its content.
pub(super) fn version_of_content(hash: u64) -> String {
    format!("{hash:016x}")
}

fn version_of_stamps(stamps: &[Option<Stamp>]) -> String {
    let mut hash = Xxh3::new();
    for stamp in stamps.iter().flatten() {
        hash.update(&stamp.size.to_le_bytes());
        hash.update(&stamp.mtime_ns.to_le_bytes());
        hash.update(&stamp.inode.to_le_bytes());
    }
    format!("{:016x}", hash.digest())
}

/// Returns a piece of a file as it is on disk, without reading the rest. Works for files that are
/// too large or not text.
pub(super) fn raw(
    flow: &FolderIndex,
    file: &FileId,
    offset: u64,
    limit: u64,
) -> Result<TextPiece, RunReadError> {
    let unread = |why| RunReadError::File { file: flow.roots.display_path(file), why };
    let (opened, stamp) = open::open(&flow.roots, file).map_err(unread)?;
    let offset = offset.min(stamp.size);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX).clamp(4, MAX_PIECE);
    let from = offset.saturating_sub(MARGIN as u64);
    let asked = usize::try_from(offset - from).unwrap_or(0);
    let mut bytes = vec![0; asked + limit + MARGIN];
    let mut filled = 0;
    while filled < bytes.len() {
        match opened.file().read_at(&mut bytes[filled..], from + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(Refused::Io(error))),
        }
    }
    let (text, range) = raw_piece(&bytes[..filled], asked..asked + limit);
    let end = from + range.end as u64;
    // A file that grew while it was read is longer than its stamp says.
    let total = stamp.size.max(from + filled as u64);
    Ok(TextPiece {
        text,
        offset: from + range.start as u64,
        next: (end < total && filled > 0).then_some(end),
        total,
    })
}

/// Lists the files for the page.
pub(super) fn files(
    flow: &FolderIndex,
    row: &RunRow,
    files: &[FileId],
) -> Result<Vec<RunFile>, RunReadError> {
    let runs = if row.member.is_some() { ask(flow, |index| members(index, &row.id))? } else { 1 };
    let shown = |file: &FileId| RunFile {
        path: flow.roots.display_path(file),
        full_path: flow.roots.path(file).unwrap_or_default().to_string_lossy().into_owned(),
        size: open::open(&flow.roots, file).map_or(0, |(_, stamp)| stamp.size),
        runs,
    };
    Ok(files.iter().map(shown).collect())
}

/// Returns the number of runs in the file of a run.
fn members(index: &Reader<'_>, id: &str) -> Result<u32, RunReadError> {
    const COUNT: &str = "SELECT count(*) FROM runs \
         WHERE member IS NOT NULL AND unit = (SELECT unit FROM runs WHERE key = ?)";
    Ok(index.prepare_cached(COUNT)?.query_row([id], |row| row.get(0))?)
}

/// Returns the path of a file. Fails for one that is reached by a link or is not a file any more.
pub(super) fn file_path(flow: &FolderIndex, file: &FileId) -> Result<PathBuf, RunReadError> {
    open::open(&flow.roots, file)
        .map_err(|why| RunReadError::File { file: flow.roots.display_path(file), why })?;
    flow.roots.path(file).ok_or(RunReadError::Gone)
}
