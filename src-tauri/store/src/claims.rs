//! **Pure.** What the index needs of a run besides the columns that people read: the outline of its
//! files without its text. Where a run belongs and how it is scored is worked out anew by whoever
//! reads it, from the tasks and settings that he has.
use crate::index::SCHEMA_VERSION;
use crate::open::Stamp;
use crate::parse_unit::{Outcome, ParsedUnit, Row};
use crate::reconcile::{Mark, unit_of};
use crate::record::prompt;
use crate::roots::{FileId, Root};
use crate::segments::ClaimedFile;
use crate::unit_files::UnitFiles;
use crate::unit_id::UnitId;
use serde::{Deserialize, Serialize};
use touchstone_formats::own_formats::{self, OWN_FORMATS};
use touchstone_model::run::Outline;

#[derive(Serialize)]
struct Written<'a> {
    layout: &'a str,
    outline: &'a Outline,
    /// The last message of the model, which scorers read.
    said: Option<&'a str>,
    prompt: Option<String>,
    hash: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    layout: String,
    outline: Outline,
    said: Option<String>,
    prompt: Option<String>,
    hash: u64,
}

/// Serializes what was read of a unit. `None` for one that is no single run of a known layout: it is
/// left to be read from its files.
pub(crate) fn write(parsed: &ParsedUnit) -> Option<(Vec<ClaimedFile>, Vec<u8>)> {
    let Outcome::Row(row) = &parsed.outcome else { return None };
    let outline = row.outline.as_ref()?;
    let is_own = row.member.is_none() && row.at.is_none() && row.fault.is_none();
    let layout = own_formats::of_layout(outline.layout)?.name;
    if !is_own || parsed.again_ns.is_some() {
        return None;
    }
    let files = parsed.marks.iter().map(|(file, mark)| {
        let path = std::str::from_utf8(&file.path).ok()?.to_owned();
        let is_certain = mark.settled && !mark.odd && file.root == Root::Output;
        let Stamp { size, mtime_ns, .. } = mark.stamp;
        is_certain.then_some(ClaimedFile { path, size, mtime_ns })
    });
    let files = files.collect::<Option<Vec<_>>>()?;
    let said = outline.said.map(|_| outline.last_message());
    let prompt = prompt(outline);
    let bytes =
        serde_json::to_vec(&Written { layout, outline, said, prompt, hash: row.hash }).ok()?;
    Some((files, bytes))
}

/// Returns the unit that claimed files make up; `None` if they are of several.
pub(crate) fn unit(files: &[ClaimedFile]) -> Option<UnitId> {
    let mut units = files.iter().map(|file| unit_of(&file_id(file), false));
    let first = units.next()?;
    units.all(|unit| unit == first).then_some(first)
}

pub(crate) fn file_id(file: &ClaimedFile) -> FileId {
    FileId::new(Root::Output, file.path.as_bytes())
}

/// Reads what was serialized for the files of a unit with these stamps. Its marks are not settled,
/// so that the files are read, now or at the next start.
pub(crate) fn read(
    bytes: &[u8],
    unit: UnitId,
    stamps: impl Iterator<Item = (FileId, Stamp)>,
) -> Option<ParsedUnit> {
    let Read { layout, mut outline, said, prompt, hash } = serde_json::from_slice(bytes).ok()?;
    outline.layout = OWN_FORMATS.iter().find(|format| format.name == layout)?.layout;
    outline.said = said.as_ref().and_then(|said| Some((0, u32::try_from(said.len()).ok()?)));
    outline.text = said.unwrap_or_default();
    let marks: Vec<(FileId, Mark)> =
        stamps.map(|(file, stamp)| (file, Mark { stamp, settled: false, odd: false })).collect();
    let newest = marks.iter().map(|(_, mark)| mark.stamp.mtime_ns).max().unwrap_or(0);
    let mut row = Row {
        size: marks.iter().map(|(_, mark)| mark.stamp.size).sum(),
        modified_ms: newest.div_euclid(1_000_000),
        hash,
        is_claim: true,
        claimed_prompt: prompt,
        ..Row::default()
    };
    row.accept(outline);
    Some(ParsedUnit { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns: None })
}

/// Version of the index in segments.
pub(crate) fn index_version() -> i32 {
    i32::try_from(SCHEMA_VERSION).unwrap_or(i32::MAX)
}

/// Returns true if a claim is about the files of a unit as they are now.
pub(crate) fn is_claimed(files: &[ClaimedFile], found: &UnitFiles) -> bool {
    files.len() == found.len()
        && files.iter().all(|file| {
            found.get(&file_id(file)).is_some_and(|found| {
                let Stamp { size, mtime_ns, .. } = found.stamp;
                found.odd.is_none() && size == file.size && mtime_ns == file.mtime_ns
            })
        })
}
