//! Result files of other tools: opens them for their readers, and builds their rows.
use super::index::IndexError;
use super::layouts::Coordinates;
use super::limits::Limits;
use super::members::guarded;
use super::open::{self, Stamp};
use super::parse_unit::{MemberRow, Outcome, ParsedUnit, Row, unsettle};
use super::read_watch::ReadWatch;
use super::reconcile::Mark;
use super::roots::{FileId, Root, Roots};
use super::scan::stamp;
use super::scoring::scoring_spec::ScoringSpec;
use super::suites::Task;
use super::unit_id::UnitId;
use fs_err as fs;
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Write as _};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use touchstone_api::RunState;
use touchstone_formats::suite::{self, Expected, Variation};
use touchstone_formats::transcript::outline_of;
use touchstone_formats::workspace::renames::Renames;
use touchstone_imports::convert::{MediaContents, to_run, to_run_and_media};
use touchstone_imports::format::HEAD_BYTES;
use touchstone_imports::media::without_contents;
use touchstone_imports::registry;
use touchstone_imports::{
    Detected, Folder, Format, ImportedFile, ImportedRun, Input, MediaContent, Repeat, Source,
};
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::run::RunNames;
use touchstone_model::run::{Layout, Outline, Part, Run, StoredAnswer};
use touchstone_model::value::Value;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Maximum number of rows and of text bytes in one part.
const ROWS: usize = 100;
const BYTES: usize = 256 << 10;
/// Maximum number of names that a reader gets of a folder.
const MOST_NAMES: usize = 100_000;

/// Endings of files that may be results of other tools; the start of the file decides.
const ENDINGS: [&str; 11] = [
    "json",
    "jsonl",
    "csv",
    "eval",
    "traj",
    "zst",
    "db",
    "db-wal",
    "db-shm",
    "db-journal",
    "ndjson",
];

/// Returns true for files whose start must be read to know whether another tool wrote them.
pub(crate) fn may_be_import(file: &FileId) -> bool {
    let name = String::from_utf8_lossy(file.name()).to_lowercase();
    file.root == Root::Output
        && Path::new(&name).extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known))
}

/// Detects by the start of a file whether another tool wrote it. Returns `None` for other files.
pub(crate) fn detect(file: &FileId, head: &[u8]) -> Option<Detected> {
    let detected = guarded(|| registry::detect(&file.to_display(), head)).ok().flatten();
    detected.map(|(_, detected)| detected)
}

/// Returns the file whose run changes with another, if a format has that as a part of a run.
pub(crate) fn owner(roots: &Roots, file: &FileId) -> Option<FileId> {
    let path = std::str::from_utf8(&file.path).ok().filter(|_| file.root == Root::Output)?;
    let owner = guarded(|| registry::owner(path, &ResultsFolder(roots))).ok().flatten();
    owner.map(|owner| FileId::new(Root::Output, owner))
}

/// Returns the starts of the paths of files that may be parts of the run of a file.
pub(crate) fn part_paths(file: &FileId) -> Vec<FileId> {
    let path = std::str::from_utf8(&file.path).ok().filter(|_| file.root == Root::Output);
    let starts = path.and_then(|path| guarded(|| registry::part_paths(path)).ok());
    let starts = starts.into_iter().flatten();
    starts.map(|start| FileId::new(Root::Output, start)).collect()
}

/// Like [`owner`], of a file that is gone, as far as the index knows that another file stands for
/// its run.
pub(crate) fn indexed_owner(
    index: &Connection,
    file: &FileId,
) -> Result<Option<FileId>, IndexError> {
    const OWNER: &str = "SELECT f.path FROM runs part \
         JOIN runs whole ON whole.identity = part.identity AND whole.unit <> part.unit \
         AND whole.identity_rank > part.identity_rank \
         JOIN files f ON f.unit = whole.unit \
         WHERE part.unit = ? AND part.member IS NOT NULL LIMIT 1";
    let unit = UnitId { file: file.clone(), group: false }.number();
    let path = index.prepare_cached(OWNER)?.query_row([unit], |row| row.get::<_, Vec<u8>>(0));
    Ok(path.optional()?.map(|path| FileId::new(Root::Output, path)))
}

/// Open file, read piece by piece.
struct DiskFile<'a> {
    file: fs::File,
    size: u64,
    /// Hears of what is read, and can stop it.
    watch: Option<&'a ReadWatch>,
}

impl DiskFile<'_> {
    /// Ends the file behind its last whole line among the first bytes; at its beginning if there is
    /// none.
    fn cut_at_line(&mut self, most: u64) -> Result<(), ReadError> {
        let mut bytes = vec![0; usize::try_from(most.min(self.size)).unwrap_or_default()];
        let count = self.read_at(0, &mut bytes)?;
        let end = bytes[..count].iter().rposition(|byte| *byte == b'\n');
        self.size = end.map_or(0, |at| at as u64 + 1);
        Ok(())
    }
}

impl Source for DiskFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize, ReadError> {
        if self.watch.is_some_and(ReadWatch::is_stopped) {
            return Err(ReadError::new(ReadErrorKind::BadValue, "Reading was stopped."));
        }
        let rest = usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let most = buffer.len().min(rest);
        let buffer = &mut buffer[..most];
        let mut filled = 0;
        while filled < buffer.len() {
            match self.file.file().read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let message = format!("The file could not be read: {error}.");
                    return Err(ReadError::new(ReadErrorKind::BadValue, message));
                }
            }
        }
        if let Some(watch) = self.watch {
            watch.add(filled as u64);
        }
        Ok(filled)
    }

    fn version(&self) -> u64 {
        let stamp = self.file.file().metadata().map(|meta| stamp(&meta));
        stamp.map_or(0, |stamp| xxh3_64(format!("{stamp:?}").as_bytes()))
    }
}

/// Results folder, as readers see it.
struct ResultsFolder<'a>(&'a Roots);

impl Folder for ResultsFolder<'_> {
    fn open(&self, path: &str) -> Option<Box<dyn Source + '_>> {
        let (file, stamp) = open::open(self.0, &FileId::new(Root::Output, path)).ok()?;
        Some(Box::new(DiskFile { file, size: stamp.size, watch: None }))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let mut dir = self.0.output_dir.clone();
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            dir.push(name);
            // Links are not followed.
            if name == ".." || !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                return Vec::new();
            }
        }
        let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(MOST_NAMES);
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                let end = if entry.file_type().ok()?.is_dir() { "/" } else { "" };
                Some(format!("{}{end}", entry.file_name().to_str()?))
            })
            .collect();
        names.sort();
        names
    }
}

/// Opens a file with its reader and passes it to `then`; with `most`, only its first lines, of at most
/// that many bytes. A panic of the reader is an error of the file.
fn with_file<T>(
    roots: &Roots,
    file: &FileId,
    (watch, most): (Option<&ReadWatch>, Option<u64>),
    then: impl FnOnce(&'static dyn Format, &mut dyn ImportedFile) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let refused = |why: open::Refused| {
        ReadError::new(ReadErrorKind::BadValue, format!("The file could not be read: {why}."))
    };
    let path = file.to_display();
    let (opened, stamp) = open::open(roots, file).map_err(refused)?;
    if let Some(watch) = watch {
        watch.start(stamp.size);
    }
    let mut source = DiskFile { file: opened, size: stamp.size, watch };
    if let Some(most) = most {
        source.cut_at_line(most)?;
    }
    let folder = ResultsFolder(roots);
    guarded(|| {
        let mut head = vec![0; HEAD_BYTES];
        let count = source.read_at(0, &mut head)?;
        let Some((format, _)) = registry::detect(&path, &head[..count]) else {
            let message = "The file is no longer of the format that it had.";
            return Err(ReadError::new(ReadErrorKind::NotTranscript, message));
        };
        let input = Input { path: &path, source: &source, folder: &folder };
        let mut opened = registry::open(format, input)?;
        then(format, &mut *opened)
    })
    .flatten()
}

/// Reads one run of a file whole, with a hash of its content.
pub fn read_run(
    roots: &Roots,
    file: &FileId,
    member: Option<&str>,
) -> Result<(Run, u64), ReadError> {
    read_watched_run(roots, file, member, None)
}

/// Like [`read_run`], and tells `watch` of what is read.
pub fn read_watched_run(
    roots: &Roots,
    file: &FileId,
    member: Option<&str>,
    watch: Option<&ReadWatch>,
) -> Result<(Run, u64), ReadError> {
    let (mut run, media) = read_with_media(roots, file, member, watch)?;
    let hash = hash_with_media(&mut run, &media);
    Ok((run, hash))
}

/// Returns true for files of lines, whose beginning can be read without the rest.
pub fn has_lines(file: &FileId) -> bool {
    [".jsonl", ".ndjson"].iter().any(|end| file.path.ends_with(end.as_bytes()))
}

/// Reads a run as far as the first lines of its file tell, of at most `most` bytes. Fails if these do
/// not hold the run.
pub fn read_beginning(
    roots: &Roots,
    file: &FileId,
    member: Option<&str>,
    most: u64,
) -> Result<Run, ReadError> {
    with_file(roots, file, (None, Some(most)), |format, opened| {
        let at = member_keys(opened).iter().position(|key| key.as_deref() == member);
        let run = guarded(|| opened.take(at.ok_or_else(gone)?)).flatten()?;
        Ok(to_run(run, format.name()))
    })
}

/// Reads the content of an image, sound or file that a part of a step describes; `None` if that
/// part describes none. Also returns the hash of the content of the run that was read for it, as
/// [`read_run`] does.
pub fn read_media(
    roots: &Roots,
    file: &FileId,
    member: Option<&str>,
    (step, part): (usize, usize),
) -> Result<(Option<MediaContent>, u64), ReadError> {
    let (mut run, mut media) = read_with_media(roots, file, member, None)?;
    let hash = hash_with_media(&mut run, &media);
    Ok((media.take(step, part), hash))
}

fn read_with_media(
    roots: &Roots,
    file: &FileId,
    member: Option<&str>,
    watch: Option<&ReadWatch>,
) -> Result<(Run, MediaContents), ReadError> {
    let mut found = None;
    for_each_run(roots, file, (&[member], watch), to_run_and_media, |_, run| {
        found = Some(run);
        ControlFlow::Break(())
    });
    found.unwrap_or_else(|| Err(gone()))
}

/// Writer of what is hashed.
struct HashWriter(Xxh3);

impl fmt::Write for HashWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}

/// Adds everything that is shown of a run to a hash. The texts of its steps, which may be large, are
/// added as they are.
fn hash_run(run: &mut Run, hash: &mut HashWriter) -> fmt::Result {
    let mut steps = std::mem::take(&mut run.steps);
    write!(hash, "{run:?}")?;
    for step in &mut steps {
        let parts = std::mem::take(&mut step.parts);
        write!(hash, "{step:?}{}", parts.len())?;
        for Part { label, language, value, raw, .. } in &parts {
            write!(hash, "{label:?}{language:?}")?;
            // A value that was parsed from a text says nothing more.
            match raw.as_deref().or(value.text()) {
                Some(text) => write!(hash, "{} {text}", text.len())?,
                None => write!(hash, "{value:?}")?,
            }
        }
        step.parts = parts;
    }
    run.steps = steps;
    Ok(())
}

/// Hash of everything that is shown of a run, with the images in its file. Files beside it that it
/// names are not part of it.
fn hash_with_media(run: &mut Run, media: &MediaContents) -> u64 {
    let mut hash = HashWriter(Xxh3::new());
    // Writing to a hash never fails.
    let _ = hash_run(run, &mut hash);
    let mut hash = hash.0;
    for content in media.iter() {
        let (kind, text) = match content {
            MediaContent::Encoded(text) => (1, text.as_str()),
            MediaContent::File(path) => (2, path.as_str()),
            MediaContent::LeftOut => (3, ""),
        };
        hash.update(&[kind]);
        hash.update(&text.len().to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.digest()
}

/// Reads runs of a file like [`read_runs_as`], in the common model.
pub fn read_runs(
    roots: &Roots,
    file: &FileId,
    members: &[Option<&str>],
    take: impl FnMut(usize, Result<Run, ReadError>) -> ControlFlow<()>,
) {
    read_runs_as(roots, file, members, to_run, take);
}

/// Reads runs of a file, without the contents of images, sounds and files in them. The file is
/// opened once. Converts each run with the name of its format, and passes it with its place in
/// `members` to `take` until that breaks. An error of the file is passed for each of the runs.
pub fn read_runs_as<T>(
    roots: &Roots,
    file: &FileId,
    members: &[Option<&str>],
    convert: impl Fn(ImportedRun, &'static str) -> T,
    take: impl FnMut(usize, Result<T, ReadError>) -> ControlFlow<()>,
) {
    without_contents(|| for_each_run(roots, file, (members, None), convert, take));
}

fn for_each_run<T>(
    roots: &Roots,
    file: &FileId,
    (members, watch): (&[Option<&str>], Option<&ReadWatch>),
    convert: impl Fn(ImportedRun, &'static str) -> T,
    mut take: impl FnMut(usize, Result<T, ReadError>) -> ControlFlow<()>,
) {
    let mut next = 0;
    let read = with_file(roots, file, (watch, None), |format, opened| {
        let keys = member_keys(&*opened);
        let places: HashMap<Option<&str>, usize> =
            keys.iter().enumerate().map(|(at, key)| (key.as_deref(), at)).collect();
        for member in members {
            let run = places.get(member).ok_or_else(gone).and_then(|at| {
                // A run that is asked for alone is not asked for again.
                let read = || if members.len() == 1 { opened.take(*at) } else { opened.read(*at) };
                guarded(read).flatten().map(|run| convert(run, format.name()))
            });
            next += 1;
            if take(next - 1, run).is_break() {
                next = members.len();
                break;
            }
        }
        Ok(())
    });
    if let Err(error) = read {
        let _ = (next..members.len()).try_for_each(|at| take(at, Err(error.clone())));
    }
}

fn gone() -> ReadError {
    ReadError::new(ReadErrorKind::BadValue, "The file does not hold this run any more.")
}

/// Returns true for the name of a format in the index.
pub fn is_import(layout: &str) -> bool {
    registry::by_name(layout).is_some()
}

/// Returns the keys of the runs in a file. Runs of equal names get a number, so that keys are
/// unique.
fn member_keys(opened: &dyn ImportedFile) -> Vec<Option<String>> {
    let mut seen: HashMap<String, u32> = HashMap::new();
    let number = |at: usize| {
        let name = opened.member(at)?;
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        Some(if *count == 1 { name } else { format!("{name} ({count})") })
    };
    (0..opened.len()).map(number).collect()
}

/// Hash of everything that a row shows of a run.
fn content_hash(outline: &Outline) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(outline.text.as_bytes());
    let rest = Outline { text: String::new(), items: Vec::new(), ..outline.clone() };
    hash.update(format!("{rest:?}").as_bytes());
    hash.digest()
}

/// Data of an imported run that concerns other files.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ImportRow {
    /// File or group within which repeats are numbered; `None` if the file states the number.
    pub(crate) source: Option<String>,
    /// Number of the repeat in the file; `None` if those of the group are numbered by their start.
    pub(crate) repeat: Option<u32>,
    /// Start by which they are numbered.
    pub(crate) group_start: Option<f64>,
    /// Key of the run in all files that may hold it.
    pub(crate) identity: Option<i64>,
    /// Rank among these files.
    pub(crate) rank: f64,
    /// Fingerprint of the content in its file. A run with that of the index is not read again.
    pub(crate) fingerprint: Option<u64>,
    /// Task in its file, if a person corrected it.
    pub(crate) own_task: Option<String>,
}

/// Fingerprints of runs that the index has, by the ids of the runs.
pub(crate) type KnownFingerprints = HashMap<String, u64>;

/// Loads the fingerprints of the runs of a file.
pub(crate) fn known_fingerprints(
    index: &Connection,
    unit: &UnitId,
) -> Result<KnownFingerprints, IndexError> {
    const SELECT: &str = "SELECT key, import_hash FROM runs \
         WHERE unit = ? AND member IS NOT NULL AND import_hash IS NOT NULL";
    let mut select = index.prepare_cached(SELECT)?;
    let rows = select.query_map([unit.number()], |row| {
        Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// File of another tool that is to be parsed.
pub(super) struct ImportFile {
    pub(super) unit: UnitId,
    pub(super) stamp: Stamp,
    pub(super) marks: Vec<(FileId, Mark)>,
}

/// Parses a file of another tool and passes its rows to `give` until it returns false. Runs that
/// have the fingerprints that `known` returns for the file are left as they are.
pub(super) fn look(
    roots: &Roots,
    limits: &Limits,
    file: ImportFile,
    known: &dyn Fn(&UnitId) -> KnownFingerprints,
    give: &mut dyn FnMut(ParsedUnit) -> bool,
) {
    let ImportFile { unit, stamp, mut marks } = file;
    let mut unread = marks.clone();
    unsettle(&mut unread);
    let blank = || Row { size: stamp.size, modified_ms: stamp.modified_ms(), ..Row::default() };
    let (mut rows, mut keys, mut again_ns) = (Vec::new(), HashSet::new(), None);
    let mut stopped = false;
    let file = unit.file.clone();
    let path = file.to_display();
    let read = with_file(roots, &file, (None, None), |format, opened| {
        let members = member_keys(&*opened);
        let mut weight = 0;
        let mut known_runs = None;
        for (at, key) in members.iter().enumerate() {
            let id = unit.key_of(key.as_deref());
            // Taken before the run is read: a change in between is noticed the next time.
            let fingerprint = key.as_ref().and_then(|_| opened.fingerprint(at));
            if let Some(now) = fingerprint
                && known_runs.get_or_insert_with(|| known(&unit)).get(&id) == Some(&now)
            {
                keys.insert(id);
                continue;
            }
            let mut row = blank();
            match guarded(|| without_contents(|| opened.take(at))).flatten() {
                Ok(run) => {
                    take(&mut row, run, (&path, key.clone()), format.name());
                    row.import.fingerprint = fingerprint;
                }
                Err(error) => {
                    row.member = key.clone().map(|key| MemberRow { key });
                    row.hash = xxh3_64(error.message.as_bytes());
                    again_ns = again_ns.max(row.fail(error, stamp.mtime_ns, limits));
                }
            }
            weight += row.outline.as_ref().map_or(0, |outline| outline.text.len());
            keys.insert(id);
            rows.push(row);
            if rows.len() >= ROWS || weight >= BYTES {
                weight = 0;
                let outcome = Outcome::Part(std::mem::take(&mut rows));
                let part = ParsedUnit {
                    unit: unit.clone(),
                    marks: unread.clone(),
                    outcome,
                    again_ns: None,
                };
                if !give(part) {
                    stopped = true;
                    return Ok(None);
                }
            }
        }
        Ok(opened.file_error().or_else(|| members.is_empty().then(no_runs)))
    });
    if stopped {
        return;
    }
    let around = read.unwrap_or_else(Some);
    if let Some(error) = around.filter(|_| !keys.contains(&unit.key_of(None))) {
        let mut row = blank();
        row.hash = xxh3_64(error.message.as_bytes());
        if error.kind == ReadErrorKind::NotTranscript {
            (row.state, row.reason) = (Some(RunState::Other), Some(error.message));
        } else {
            again_ns = again_ns.max(row.fail(error, stamp.mtime_ns, limits));
        }
        keys.insert(unit.key_of(None));
        rows.push(row);
    }
    if again_ns.is_some() {
        unsettle(&mut marks);
    }
    give(ParsedUnit { unit, marks, outcome: Outcome::Last(rows, keys), again_ns });
}

fn no_runs() -> ReadError {
    ReadError::new(ReadErrorKind::NotTranscript, "The file holds no runs yet.")
}

/// Fills a row from a run of the file at a path.
fn take(
    row: &mut Row,
    run: ImportedRun,
    (path, key): (&str, Option<String>),
    format: &'static str,
) {
    let (source, repeat, start) = match &run.repeat {
        // It is not numbered among the runs of other files, as little as one whose name states it.
        Repeat::Stated(number) => (None, Some(*number), None),
        Repeat::Number(number) => (Some(path.to_owned()), Some(*number), None),
        Repeat::Ordered { group, start } => (Some(format!("{format}:{group}")), None, *start),
    };
    row.at = Some(Coordinates {
        variation: run.task.as_ref().map(|_| 0),
        task: run.task.clone(),
        system: run.system.clone(),
        model: run.model.clone(),
        variation_name: None,
        repeat: repeat.unwrap_or(1),
        fork: 0,
    });
    row.import = ImportRow {
        source,
        repeat,
        group_start: start,
        identity: run
            .identity
            .as_ref()
            .map(|identity| xxh3_64(identity.key.as_bytes()).cast_signed()),
        rank: run.identity.as_ref().map_or(0.0, |identity| identity.rank),
        fingerprint: None,
        own_task: None,
    };
    row.member = key.map(|key| MemberRow { key });
    let outline = outline_of(&to_run(run, format));
    let mut hash = Xxh3::new();
    hash.update(&content_hash(&outline).to_le_bytes());
    hash.update(format!("{:?}{:?}", row.at, row.import).as_bytes());
    row.hash = hash.digest();
    row.accept(outline);
}

/// Corrects the names of imported runs as a person wrote them down. Changed names count as a change
/// of the row.
pub(crate) fn rename(parsed: &mut ParsedUnit, renames: &Renames) {
    if renames.is_empty() {
        return;
    }
    let path = parsed.unit.file.to_display();
    let is_import = |row: &&mut Row| {
        row.outline.as_ref().is_some_and(|run| matches!(run.layout, Layout::Imported(_)))
    };
    for row in parsed.rows_mut().iter_mut().filter(is_import) {
        let Some(at) = &mut row.at else { continue };
        let from =
            RunNames { task: at.task.take(), system: at.system.take(), model: at.model.take() };
        let to = renames.apply(&path, from.clone());
        if to != from {
            row.hash ^= xxh3_64(format!("{to:?}").as_bytes());
        }
        row.import.own_task = from.task.filter(|own| to.task.as_ref() != Some(own));
        at.variation = to.task.as_ref().map(|_| 0);
        RunNames { task: at.task, system: at.system, model: at.model } = to;
    }
}

/// Builds the task of a run that carries its own expected answer. Of several accepted answers, the
/// one that was given is expected, else the first.
pub fn own_task(id: &str, file: &FileId, expected: &Value, answer: Option<&Value>) -> Arc<Task> {
    let accepted = expected.items();
    let is_given = |one: &&Value| answer.is_some_and(|answer| is_equal_text(one, answer));
    let chosen = accepted.iter().find(is_given).or_else(|| accepted.first()).unwrap_or(expected);
    let variation = Variation { expected: Expected::Value(chosen.clone()), ..Variation::default() };
    let suite =
        suite::Task { id: id.to_owned(), variations: vec![variation], ..suite::Task::default() };
    let spec =
        ScoringSpec::new(&suite, &suite.variations[0], (&[], None), &mut |_| Err(String::new()));
    let suite = Arc::new(suite);
    Arc::new(Task { suite, file: file.clone(), yardsticks: vec![spec], tools: Vec::new() })
}

fn is_equal_text(one: &Value, other: &Value) -> bool {
    match (one.text(), other.text()) {
        (Some(one), Some(other)) => one.trim() == other.trim(),
        _ => one == other,
    }
}

/// Builds the task of a run from the index. Returns `None` if its file records no expected answer.
pub fn own_task_of(
    id: Option<&str>,
    path: &str,
    expected: Option<&str>,
    answer: Option<&StoredAnswer>,
) -> Option<Arc<Task>> {
    let expected = StoredAnswer { json: Some(expected?.to_owned()), lenient: false }.value()?;
    let file = FileId::new(Root::Output, path.split('#').next().unwrap_or_default());
    let answer = answer.and_then(StoredAnswer::value);
    Some(own_task(id.unwrap_or_default(), &file, &expected, answer.as_ref()))
}

/// Returns the task of a run that carries its own expected answer, by the id of the run.
pub fn own_task_by_key(index: &Connection, key: &str) -> Result<Option<Arc<Task>>, IndexError> {
    const SELECT: &str = "SELECT r.task, r.path, a.expected, a.answer \
                          FROM runs r JOIN answers a ON a.run = r.id WHERE r.key = ?";
    let task = index.prepare_cached(SELECT)?.query_row([key], |row| own_task_of_row(row, 0, 1));
    Ok(task.optional()?.flatten())
}

/// Like [`own_task_of`], from a row with the task at one index, and the path, the expected and the
/// given answer at another and behind it.
pub(crate) fn own_task_of_row(
    row: &rusqlite::Row<'_>,
    task: usize,
    at: usize,
) -> rusqlite::Result<Option<Arc<Task>>> {
    let expected = row.get_ref(at + 1)?.as_str_or_null().unwrap_or_default();
    if expected.is_none() {
        return Ok(None);
    }
    let (id, path): (Option<String>, String) = (row.get(task)?, row.get(at)?);
    let json: Option<String> = row.get(at + 2)?;
    let answer = StoredAnswer { json, lenient: false };
    Ok(own_task_of(id.as_deref(), &path, expected, Some(&answer)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Index;
    use crate::reconcile::Unit;
    use crate::scan::Found;
    use crate::suites::Tasks;
    use crate::{parse_unit, record};
    use touchstone_model::run::Step;

    #[test]
    fn readers_see_no_links_and_nothing_outside_of_the_results() {
        let home = tempfile::tempdir().unwrap();
        let output_dir = home.path().join("out");
        fs::create_dir_all(output_dir.join("a/b")).unwrap();
        fs::write(output_dir.join("a/x.json"), "{}").unwrap();
        fs::write(home.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("a", output_dir.join("link")).unwrap();
        let folder = output_dir.clone();
        let roots = Roots { folder, output_dir, ..Roots::default() };
        let folder = ResultsFolder(&roots);
        assert_eq!(folder.list("a"), ["b/", "x.json"]);
        assert!(folder.list("link").is_empty() && folder.list("..").is_empty());
        assert!(folder.open("a/x.json").is_some());
        assert!(folder.open("link/x.json").is_none() && folder.open("../secret").is_none());
    }

    #[test]
    fn the_hash_of_a_run_changes_with_all_that_is_shown_of_it_and_leaves_it_as_it_is() {
        let part = |label: &str, value: Value, raw: Option<&str>| Part {
            label: label.to_owned(),
            value,
            raw: raw.map(str::to_owned),
            ..Part::default()
        };
        let run = |parts: Vec<Vec<Part>>| Run {
            steps: parts.into_iter().map(|parts| Step { parts, ..Step::default() }).collect(),
            ..Run::default()
        };
        let text = |text: &str| part("message", Value::from(text), None);
        let fact = ("key".to_owned(), Value::from("value"));
        let mut hashes = HashSet::new();
        for mut run in [
            run(Vec::new()),
            run(vec![vec![text("a"), text("b")]]),
            run(vec![vec![text("a")], vec![text("b")]]),
            run(vec![vec![text("ab")]]),
            run(vec![vec![part("result", Value::from("ab"), None)]]),
            run(vec![vec![part("result", Value::Bool(true), None)]]),
            run(vec![vec![part("result", Value::Null, Some("null"))]]),
            Run { facts: vec![fact], ..Run::default() },
        ] {
            let before = run.clone();
            assert!(hashes.insert(hash_with_media(&mut run, &MediaContents::default())), "{run:?}");
            assert_eq!(run, before);
        }
    }

    #[test]
    fn only_runs_without_the_fingerprint_that_the_index_knows_are_read_again() {
        let home = tempfile::tempdir().unwrap();
        let output_dir = home.path().join("out");
        fs::create_dir_all(&output_dir).unwrap();
        let database = Connection::open(output_dir.join("promptfoo.db")).unwrap();
        let columns = "id text, eval_id text, prompt_idx integer, test_idx integer, response text";
        database
            .execute_batch(&format!(
                "CREATE TABLE evals (id text); INSERT INTO evals VALUES ('a'), ('b');
                 CREATE TABLE eval_results ({columns});"
            ))
            .unwrap();
        let add = |evaluation: &str, test: i64, output: &str| {
            let insert = "INSERT INTO eval_results VALUES (?1 || ?2, ?1, 0, ?2, ?3)";
            let response = format!("{{\"output\":\"{output}\"}}");
            database.execute(insert, (evaluation, test, response)).unwrap();
        };
        add("a", 0, "x");
        add("b", 0, "y");
        let folder = output_dir.clone();
        let roots = Roots { folder, output_dir, ..Roots::default() };
        let (index, mut writer) =
            Index::open(&home.path().join("cache"), &roots.output_dir).unwrap();
        let mut read = || {
            let file = FileId::new(Root::Output, "promptfoo.db");
            let found = Found { stamp: open::open(&roots, &file).unwrap().1, odd: None };
            let id = UnitId { file: file.clone(), group: false };
            let unit = Unit { id, files: [(file, found)].into_iter().collect() };
            let known = |unit: &UnitId| known_fingerprints(&index.reader().unwrap(), unit).unwrap();
            let mut names = Vec::new();
            parse_unit::look(&roots, &Limits::default(), unit, &known, &mut |mut parsed| {
                let members = parsed.rows().iter().filter_map(|row| row.member.as_ref());
                names.extend(members.map(|member| member.key.clone()));
                let placed = record::place_rows(&mut parsed, &Tasks::default(), &[]);
                record::put(&mut writer, &parsed, placed).unwrap();
                true
            });
            let count = "SELECT count(*) FROM runs";
            let count: i64 = writer.sql.query_row(count, [], |row| row.get(0)).unwrap();
            (names, count)
        };
        let names = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("{name} prompt 0")).collect()
        };
        assert_eq!(read(), (names(&["a test 0", "b test 0"]), 2));
        assert_eq!(read(), (names(&[]), 2));
        add("b", 1, "z");
        assert_eq!(read(), (names(&["b test 0", "b test 1"]), 3));
        // The first result is what it was, and now has the fingerprint of the new evaluation.
        assert_eq!(read(), (names(&[]), 3));
        database.execute("DELETE FROM eval_results WHERE id = 'a0'", []).unwrap();
        assert_eq!(read(), (names(&[]), 2));
    }

    #[test]
    fn of_several_accepted_answers_the_given_one_is_expected() {
        let file = FileId::new(Root::Output, "x.eval");
        let expected = Value::List(vec![Value::from("a"), Value::from("b")]);
        let chosen = |answer: &str| {
            let task = own_task("t", &file, &expected, Some(&Value::from(answer)));
            task.yardsticks[0].expected.as_deref().cloned()
        };
        assert_eq!(chosen(" b\n"), Some(Value::from("b")));
        assert_eq!(chosen("c"), Some(Value::from("a")));
    }
}
