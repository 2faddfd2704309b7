//! **Pure.** Logs of Inspect: `.eval` archives and `.json` files.
mod archive;
mod log;
mod message;
mod pieces;
mod sample;
mod scan;
#[cfg(test)]
mod tests;
mod timeline;

use crate::format::{Detected, Format, ImportedFile};
use crate::head::Head;
use crate::run::ImportedRun;
use crate::source::{Input, Source};
use archive::{Archive, MOST_INFLATED, Member};
use log::Log;
use pieces::{Chunks, SampleText};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;

/// Logs of Inspect.
#[derive(Debug, Clone, Copy)]
pub struct Inspect;

impl Format for Inspect {
    fn name(&self) -> &'static str {
        "inspect"
    }

    fn title(&self) -> &'static str {
        "Inspect"
    }

    fn files(&self) -> &'static str {
        "*.eval, *.json"
    }

    fn documentation(&self) -> &'static str {
        include_str!("documentation.md")
    }

    fn detect(&self, path: &str, start: &[u8], head: Option<&Head>) -> Option<Detected> {
        if is_archive(start) {
            return Some(Detected::Runs);
        }
        let Some(head) = head else {
            // No other program ends files so: opening it says what is wrong with it.
            return is_eval(path).then_some(Detected::Runs);
        };
        if is_log(head) {
            return Some(Detected::Runs);
        }
        let reason = if is_index(head) {
            "The index of a folder of Inspect logs; the logs beside it hold the runs."
        } else if head.has(&["eval_set_id", "tasks"]) && !head.is_list {
            "The list of tasks of an Inspect eval set; the logs beside it hold the runs."
        } else {
            return None;
        };
        Some(Detected::NoRun(reason.to_owned()))
    }

    fn open<'a>(&self, input: Input<'a>) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
        let mut magic = [0; 4];
        let is_zip = input.source.read_at(0, &mut magic)? == 4 && magic.starts_with(b"PK");
        let opened = if is_zip {
            open_archive(input.source)
        } else {
            let no_log = |error| {
                if is_eval(input.path) { no_archive(input.source.size()) } else { error }
            };
            open_json(input.source).map_err(no_log)
        };
        let mut file = opened?;
        log::folder_of(input.parent()).clone_into(&mut file.log.folder);
        Ok(Box::new(file))
    }
}

/// Returns true for the ending of an archive.
fn is_eval(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".eval")
}

/// Returns the error of a file that ends like an archive, and is none.
fn no_archive(size: u64) -> ReadError {
    if size == 0 {
        return ReadError::new(ReadErrorKind::Truncated, "The file is empty.");
    }
    let message = "The file ends in `.eval` like a log of Inspect, but does not begin like one: it is \
                   damaged, or another program wrote it.";
    ReadError::new(ReadErrorKind::BadValue, message)
        .advise("Copy the log again, or move the file to another folder.")
}

/// Returns true for a zip whose first member begins a log, whatever its ending.
fn is_archive(start: &[u8]) -> bool {
    let length = start.get(26..28).map_or(0, |two| usize::from(two[0]) | usize::from(two[1]) << 8);
    let name = start.get(30..30 + length).unwrap_or_default();
    start.starts_with(b"PK\x03\x04") && name == b"_journal/start.json"
}

/// Returns true for an object with the header of a log.
fn is_log(head: &Head) -> bool {
    const KEYS: [&str; 8] =
        ["task", "task_id", "run_id", "eval_id", "created", "dataset", "model", "task_version"];
    let inner = KEYS.iter().filter(|key| head.has_inner("eval", key)).count();
    let is_log = inner >= 3 || (inner > 0 && head.has(&["version", "status"]));
    is_log && !head.is_list && !head.is_lines && head.has(&["eval"])
}

/// Returns true for an object that holds headers by the names of their logs.
fn is_index(head: &Head) -> bool {
    let first = head.keys.first().map(String::as_str).unwrap_or_default();
    [".eval", ".json"].iter().any(|ending| first.ends_with(ending))
        && !head.is_list
        && ["eval", "status"].iter().all(|key| head.has_inner(first, key))
}

/// Opened log.
struct File<'a> {
    log: Log,
    store: Store<'a>,
    samples: Vec<Sample>,
    /// Hash of the header of an archive.
    header: u64,
    error: Option<ReadError>,
}

enum Store<'a> {
    Json(&'a dyn Source),
    Archive(Archive<'a>),
}

struct Sample {
    name: Box<str>,
    place: SampleLocation,
}

enum SampleLocation {
    /// Bytes of a JSON log.
    Bytes(Range<u64>),
    /// Index of a member.
    Member(usize),
    /// Members of a sample with chunks.
    Chunked(Box<ChunkedPlace>),
}

impl SampleLocation {
    /// Returns the indices of all members of a sample.
    fn members(&self) -> Box<dyn Iterator<Item = usize> + '_> {
        match self {
            SampleLocation::Bytes(_) => Box::new(std::iter::empty()),
            SampleLocation::Member(member) => Box::new(std::iter::once(*member)),
            SampleLocation::Chunked(place) => {
                let lists = [&place.messages, &place.attachments, &place.events];
                let chunks = lists.into_iter().flatten().map(|(_, member)| *member);
                Box::new(std::iter::once(place.sample).chain(place.metadata).chain(chunks))
            }
        }
    }
}

/// Indices of the members of a sample with chunks.
#[derive(Default)]
struct ChunkedPlace {
    sample: usize,
    metadata: Option<usize>,
    /// Lists by the index of their first item.
    messages: Vec<(u64, usize)>,
    attachments: Vec<(u64, usize)>,
    events: Vec<(u64, usize)>,
}

impl ImportedFile for File<'_> {
    fn len(&self) -> usize {
        self.samples.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.samples.get(at).map(|sample| sample.name.to_string())
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let missing = || ReadError::new(ReadErrorKind::BadValue, "The log has no such sample.");
        let sample = self.samples.get(at).ok_or_else(missing)?;
        let text = match (&self.store, &sample.place) {
            (Store::Json(source), SampleLocation::Bytes(place)) => {
                SampleText { whole: scan::read_text(*source, place, MOST_INFLATED)?, chunks: None }
            }
            (Store::Archive(archive), SampleLocation::Member(member)) => {
                let mut left = MOST_INFLATED;
                SampleText { whole: read_member(archive, *member, &mut left)?, chunks: None }
            }
            (Store::Archive(archive), SampleLocation::Chunked(chunks)) => {
                read_chunks(archive, chunks)?
            }
            _ => return Err(missing()),
        };
        sample::read(&self.log, &text)
    }

    fn fingerprint(&self, at: usize) -> Option<u64> {
        let Store::Archive(archive) = &self.store else { return None };
        let place = &self.samples.get(at)?.place;
        let members: Option<Vec<&Member>> =
            place.members().map(|member| archive.members.get(member)).collect();
        let mut hasher = DefaultHasher::new();
        self.header.hash(&mut hasher);
        for member in members? {
            (&member.name, member.fingerprint()).hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    fn file_error(&self) -> Option<ReadError> {
        self.error.clone()
    }
}

/// Reads a member as text, and takes its size from what is left.
fn read_member(archive: &Archive, at: usize, left: &mut u64) -> Result<String, ReadError> {
    let missing = || ReadError::new(ReadErrorKind::BadValue, "The log has no such sample.");
    let member = archive.members.get(at).ok_or_else(missing)?;
    let bytes = archive.read(member, *left)?;
    *left = left.saturating_sub(bytes.len() as u64);
    String::from_utf8(bytes).map_err(|_| {
        let message = format!("`{}` is no UTF-8 text.", member.name);
        ReadError::new(ReadErrorKind::NotUtf8, message)
    })
}

fn read_chunks(archive: &Archive, place: &ChunkedPlace) -> Result<SampleText, ReadError> {
    let mut left = MOST_INFLATED;
    let mut read = |at: usize| read_member(archive, at, &mut left);
    let whole = read(place.sample)?;
    let metadata = place.metadata.map(&mut read).transpose()?;
    let mut list = |chunks: &[(u64, usize)]| {
        chunks.iter().map(|(_, at)| read(*at)).collect::<Result<Vec<_>, _>>()
    };
    let chunks = Chunks {
        messages: list(&place.messages)?,
        attachments: list(&place.attachments)?,
        events: list(&place.events)?,
        metadata,
    };
    Ok(SampleText { whole, chunks: Some(chunks) })
}

fn open_json(source: &dyn Source) -> Result<File<'_>, ReadError> {
    let parts = scan::scan(source);
    let mut error = parts.error;
    let mut left = MOST_INFLATED;
    let mut texts = Vec::new();
    for (key, place) in &parts.header {
        if ["eval", "plan", "status", "error", "results"].contains(&key.as_str())
            && let Ok(text) = scan::read_text(source, place, left)
        {
            left = left.saturating_sub(text.len() as u64);
            texts.push((key.as_str(), text));
        }
    }
    let members: Vec<(&str, &str)> =
        texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
    let log = match Log::read(&members) {
        Ok(log) => log,
        Err(problem) if parts.samples.is_empty() => return Err(error.unwrap_or(problem)),
        Err(problem) => {
            error = error.or(Some(problem));
            Log::default()
        }
    };
    let named = parts.samples.into_iter().enumerate().map(|(at, sample)| Sample {
        name: sample.name.unwrap_or_else(|| format!("sample {}", at + 1)).into(),
        place: SampleLocation::Bytes(sample.place),
    });
    Ok(File { log, store: Store::Json(source), samples: keep_last(named), header: 0, error })
}

/// Keeps the last of the samples with equal names.
fn keep_last(samples: impl Iterator<Item = Sample>) -> Vec<Sample> {
    let mut kept: Vec<Sample> = Vec::new();
    let mut places: HashMap<Box<str>, usize> = HashMap::new();
    for sample in samples {
        if let Some(place) = places.get(&sample.name) {
            kept[*place] = sample;
        } else {
            places.insert(sample.name.clone(), kept.len());
            kept.push(sample);
        }
    }
    kept
}

const HEADER: &str = "header.json";
const START: &str = "_journal/start.json";

fn open_archive(source: &dyn Source) -> Result<File<'_>, ReadError> {
    let mut archive = Archive::open(source, |name| {
        name.starts_with("samples/") || [HEADER, START].contains(&name)
    });
    let mut error = archive.error.take();
    let samples = find_samples(&archive);
    let (mut log, mut header) = (None, DefaultHasher::new());
    for name in [HEADER, START] {
        let Some(at) = archive.members.iter().rposition(|member| &*member.name == name) else {
            continue;
        };
        let text = read_member(&archive, at, &mut MOST_INFLATED.clone());
        text.as_ref().ok().hash(&mut header);
        match text.and_then(|text| read_header(&text)) {
            Ok(read) => {
                log = Some(read);
                break;
            }
            Err(problem) => error = error.or(Some(problem)),
        }
    }
    if log.is_none() && samples.is_empty() {
        let message = "The archive holds no log of Inspect.";
        return Err(error.unwrap_or_else(|| ReadError::new(ReadErrorKind::BadValue, message)));
    }
    let log = log.unwrap_or_else(|| Log {
        notes: vec!["The log’s header is missing, and with it the task and the model.".to_owned()],
        ..Log::default()
    });
    let header = header.finish();
    Ok(File { log, store: Store::Archive(archive), samples, header, error })
}

fn read_header(text: &str) -> Result<Log, ReadError> {
    match json::skim::members(text) {
        Some(members) => Log::read(&members),
        None => Err(json::read_python(text).err().unwrap_or_else(|| {
            ReadError::new(ReadErrorKind::BadValue, "The header of the log is no object.")
        })),
    }
}

/// Finds the samples among the members, each with its parts.
fn find_samples(archive: &Archive) -> Vec<Sample> {
    let names = || archive.members.iter().filter_map(|member| member.name.strip_prefix("samples/"));
    let whole: HashSet<&str> = names().filter_map(|name| name.strip_suffix(".json")).collect();
    let chunked: HashSet<&str> = names()
        .filter_map(|name| name.strip_suffix("/sample.json"))
        .filter(|name| has_epoch(name))
        .collect();
    let mut parts: HashMap<&str, ChunkedPlace> = HashMap::new();
    let mut samples = Vec::new();
    for (at, member) in archive.members.iter().enumerate() {
        let Some(stem) =
            member.name.strip_prefix("samples/").and_then(|name| name.strip_suffix(".json"))
        else {
            continue;
        };
        let Some((name, part)) = split_part(stem, &chunked) else {
            samples.push(Sample {
                name: own_name(archive, member, stem),
                place: SampleLocation::Member(at),
            });
            continue;
        };
        if whole.contains(name) {
            continue;
        }
        let place = parts.entry(name).or_default();
        match part.split_once('/').map(|(list, start)| (list, start.parse())) {
            None if part == "sample" => {
                let chunked = ChunkedPlace { sample: at, ..ChunkedPlace::default() };
                let place = SampleLocation::Chunked(Box::new(chunked));
                samples.push(Sample { name: own_name(archive, member, name), place });
            }
            None if part == "metadata" => place.metadata = Some(at),
            Some(("messages", Ok(start))) => place.messages.push((start, at)),
            Some(("attachments", Ok(start))) => place.attachments.push((start, at)),
            Some(("events", Ok(start))) => place.events.push((start, at)),
            _ => {}
        }
    }
    let mut samples = keep_last(samples.into_iter());
    for sample in &mut samples {
        let SampleLocation::Chunked(place) = &mut sample.place else { continue };
        let name = &archive.members[place.sample].name;
        let name = name.strip_prefix("samples/").and_then(|name| name.strip_suffix("/sample.json"));
        let Some(mut found) = name.and_then(|name| parts.remove(name)) else { continue };
        for chunks in [&mut found.messages, &mut found.attachments, &mut found.events] {
            // Of chunks with the same start the last counts, and the sort keeps their order.
            chunks.reverse();
            chunks.sort_by_key(|(start, _)| *start);
            chunks.dedup_by_key(|(start, _)| *start);
        }
        found.sample = place.sample;
        **place = found;
    }
    samples
}

/// Returns true if a name ends like that of a sample.
fn has_epoch(name: &str) -> bool {
    let epoch = name.rsplit_once("_epoch_").map(|(_, epoch)| epoch);
    epoch.is_some_and(|epoch| !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the name of a sample with chunks and the name of the part, if the member is one.
fn split_part<'a>(stem: &'a str, chunked: &HashSet<&str>) -> Option<(&'a str, &'a str)> {
    stem.rmatch_indices('/')
        .take(2)
        .map(|(at, _)| (&stem[..at], &stem[at + 1..]))
        .find(|(name, _)| chunked.contains(name))
}

/// Returns the name of a sample. On Windows a `\` of an id becomes a `/` in the archive, so the
/// id of a name with slashes is looked up.
fn own_name(archive: &Archive, member: &Member, stem: &str) -> Box<str> {
    let own = || {
        let head = Head::read(&archive.read_start(member, 4_096))?;
        let id = json::read(&format!("\"{}\"", head.value("id")?)).ok()?;
        let id = id.text().filter(|id| id.contains('\\'))?;
        let name = format!("{id}_epoch_{}", head.value("epoch")?);
        (name.replace('\\', "/") == stem).then_some(name)
    };
    let own = if stem.contains('/') { own() } else { None };
    own.map_or_else(|| stem.into(), String::into_boxed_str)
}
