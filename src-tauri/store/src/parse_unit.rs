//! Reads the files of a unit and builds its row. Never fails: every error becomes part of the row.
//! Also splits the text into pieces for the search. Writes nothing.
use super::imports::{self, ImportFile, ImportRow, KnownFingerprints};
use super::layouts::{self, Coordinates, FileContent};
use super::limits::Limits;
use super::members;
use super::open::{self, Refused, Stamp, StartedFile};
use super::reconcile::{Mark, Unit};
use super::roots::{FileId, Roots};
use super::scoring::stored_run::{AlternativeAnswers, ResolvedAnswer};
use super::unit_id::UnitId;
use std::collections::HashSet;
use std::time::Duration;
use touchstone_api::RunState;
use touchstone_clock as clock;
use touchstone_formats::broken::CUT_OFF;
use touchstone_formats::own_formats;
use touchstone_imports::Detected;
use touchstone_imports::format::HEAD_BYTES;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::run::{Layout, Outline, RecordedState};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Maximum length of a text piece, in bytes.
const PIECE: usize = 64 << 10;

/// Parsed unit.
pub(crate) struct ParsedUnit {
    pub(crate) unit: UnitId,
    /// Files with their state at opening.
    pub(crate) marks: Vec<(FileId, Mark)>,
    pub(crate) outcome: Outcome,
    /// Time at which the unit must be read again even without a change event, in nanoseconds since
    /// 1970.
    pub(crate) again_ns: Option<i64>,
}

impl ParsedUnit {
    /// Returns true unless more parts of the unit follow.
    pub(crate) fn is_last(&self) -> bool {
        !matches!(self.outcome, Outcome::Part(_))
    }

    /// Rows of the unit.
    pub(crate) fn rows(&self) -> &[Row] {
        match &self.outcome {
            Outcome::Gone | Outcome::Suite(_) => &[],
            Outcome::Row(row) => std::slice::from_ref(row),
            Outcome::Part(rows) | Outcome::Last(rows, _) => rows,
        }
    }

    /// Mutable rows, to be completed with data from suites.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        match &mut self.outcome {
            Outcome::Gone | Outcome::Suite(_) => &mut [],
            Outcome::Row(row) => std::slice::from_mut(row),
            Outcome::Part(rows) | Outcome::Last(rows, _) => rows,
        }
    }
}

/// Result of parsing a unit.
pub(crate) enum Outcome {
    /// Nothing is left.
    Gone,
    /// Text of a suite.
    Suite(Vec<u8>),
    /// Row of a run or other file.
    Row(Box<Row>),
    /// Part of the rows of a file with many; more parts follow.
    Part(Vec<Row>),
    /// Last part, with the keys of all rows. Rows with other keys are no longer in the file.
    Last(Vec<Row>, HashSet<String>),
}

/// Row built from the files alone, without information from names and suites.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) state: Option<RunState>,
    pub(crate) reason: Option<String>,
    pub(crate) outline: Option<Outline>,
    /// Alternative sources of the answer, for files without a definite one.
    pub(crate) sought: Option<AlternativeAnswers>,
    /// Tag that holds the answer, as named by the suite.
    pub(crate) tag: Option<String>,
    pub(crate) fault: Option<ReadError>,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
    pub(crate) hash: u64,
    pub(crate) pieces: Vec<Piece>,
    /// True for what a segment claims of files that were not read.
    pub(crate) is_claim: bool,
    /// Prompt that it claims.
    pub(crate) claimed_prompt: Option<String>,
    /// Member data, if the file holds many runs.
    pub(crate) member: Option<MemberRow>,
    /// Coordinates that the content states; else they follow from the path.
    pub(crate) at: Option<Coordinates>,
    /// Data of an imported run that concerns other files.
    pub(crate) import: ImportRow,
}

/// Run within a file of many.
#[derive(Debug, Clone)]
pub(crate) struct MemberRow {
    /// Key of the run in the file.
    pub(crate) key: String,
}

/// Piece of the searchable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) step: Option<u32>,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Parses one unit and passes the result to `give`. A file with many runs is passed in parts to
/// limit memory use; parsing stops when `give` returns false. `known` is asked for the fingerprints
/// of runs of other tools that need not be read again.
pub(crate) fn look(
    roots: &Roots,
    limits: &Limits,
    unit: Unit,
    known: &dyn Fn(&UnitId) -> KnownFingerprints,
    give: &mut dyn FnMut(ParsedUnit) -> bool,
) {
    match look_whole(roots, limits, unit) {
        Sight::One(looked) => {
            give(looked);
        }
        Sight::Many(file) => members::look(limits, file, give),
        Sight::Import(file) => imports::look(roots, limits, file, known, give),
    }
}

/// Parsed unit, or a file with many runs that still has to be split.
enum Sight {
    One(ParsedUnit),
    Many(members::ManyFile),
    Import(ImportFile),
}

fn look_whole(roots: &Roots, limits: &Limits, unit: Unit) -> Sight {
    let odd = unit
        .files
        .iter()
        .find_map(|(file, found)| Some((file.clone(), found.stamp, found.odd.clone()?)));
    if let Some((file, stamp, reason)) = odd {
        return Sight::One(odd_one(unit.id, file, stamp, reason));
    }
    let now = clock::now_ns();
    let mut started = start_possible_import(roots, &unit);
    let import = started.as_ref().and_then(|started| look_for_import(&unit, started, now));
    if let Some(sight) = import {
        return sight;
    }
    let mut read = Vec::new();
    let mut marks = Vec::new();
    for (file, found) in unit.files {
        let content = if unit.id.group || layouts::is_plausible(&file) {
            open::read(roots, &file, limits.file_bytes)
        } else if layouts::is_told_by_its_head(&file) {
            let started = started.take().map_or_else(|| open::start(roots, &file, HEAD_BYTES), Ok);
            started.and_then(|started| sniff(limits, &file, started))
        } else {
            probe(roots, &file)
        };
        match content {
            Ok((bytes, stamp)) => {
                marks.push((
                    file.clone(),
                    Mark { stamp, settled: is_settled(stamp, now), odd: false },
                ));
                read.push((file, stamp, Ok(bytes)));
            }
            Err(Refused::Gone) => {}
            // The file has just become odd; the next listing makes it a row of its own.
            Err(Refused::Odd(_)) if unit.id.group => {}
            Err(Refused::Odd(why)) => {
                return Sight::One(odd_one(
                    unit.id,
                    file,
                    found.stamp,
                    format!("It is not read: {why}."),
                ));
            }
            Err(refused) => {
                marks.push((file.clone(), Mark { stamp: found.stamp, settled: true, odd: false }));
                read.push((file, found.stamp, Err(refused)));
            }
        }
    }
    if read.is_empty() {
        return Sight::One(ParsedUnit {
            unit: unit.id,
            marks,
            outcome: Outcome::Gone,
            again_ns: None,
        });
    }
    judge(limits, unit.id, marks, read)
}

/// Opens a file that another tool may have written, and reads its start. `None` for other files,
/// and for files that cannot be opened.
fn start_possible_import(roots: &Roots, unit: &Unit) -> Option<StartedFile> {
    let mut files = unit.files.keys();
    let (Some(file), None) = (files.next(), files.next()) else { return None };
    let may_be = !unit.id.group && imports::may_be_import(file);
    may_be.then(|| open::start(roots, file, HEAD_BYTES).ok()).flatten()
}

/// Detects a result file of another tool. A file that belongs to the tool and holds no run becomes
/// a row with the reason.
fn look_for_import(unit: &Unit, started: &StartedFile, now: i64) -> Option<Sight> {
    let file = &unit.id.file;
    let detected = imports::detect(file, &started.head)?;
    let stamp = started.stamp;
    let mark = Mark { stamp, settled: is_settled(stamp, now), odd: false };
    let marks = vec![(file.clone(), mark)];
    Some(match detected {
        Detected::Run | Detected::Runs => {
            Sight::Import(ImportFile { unit: unit.id.clone(), stamp, marks })
        }
        Detected::NoRun(reason) => {
            let row = Row {
                state: Some(RunState::Other),
                hash: xxh3_64(reason.as_bytes()),
                reason: Some(reason),
                size: stamp.size,
                modified_ms: stamp.modified_ms(),
                ..Row::default()
            };
            let outcome = Outcome::Row(Box::new(row));
            Sight::One(ParsedUnit { unit: unit.id.clone(), marks, outcome, again_ns: None })
        }
    })
}

type Read = (FileId, Stamp, Result<Vec<u8>, Refused>);

fn judge(
    limits: &Limits,
    unit: UnitId,
    mut marks: Vec<(FileId, Mark)>,
    mut read: Vec<Read>,
) -> Sight {
    let newest = read.iter().map(|(_, stamp, _)| stamp.mtime_ns).max().unwrap_or(0);
    let mut row = Row {
        size: read.iter().map(|(_, stamp, _)| stamp.size).sum(),
        modified_ms: newest.div_euclid(1_000_000),
        hash: hash(&read),
        ..Row::default()
    };
    let mut again_ns = None;
    match see(&unit, &read) {
        FileContent::Suite => {
            let text = read.into_iter().find_map(|(.., bytes)| bytes.ok()).unwrap_or_default();
            return Sight::One(ParsedUnit { unit, marks, outcome: Outcome::Suite(text), again_ns });
        }
        FileContent::Workspace => {
            return Sight::One(ParsedUnit { unit, marks, outcome: Outcome::Gone, again_ns });
        }
        FileContent::Many => {
            let bytes = read.pop().and_then(|(.., bytes)| bytes.ok()).unwrap_or_default();
            return Sight::Many(members::ManyFile { unit, marks, bytes, newest });
        }
        FileContent::Run(outline) => {
            row.accept(*outline);
        }
        FileContent::Other(reason) => {
            row.state = Some(RunState::Other);
            row.reason = Some(reason);
        }
        FileContent::Damaged(error) => {
            again_ns = row.fail(error, newest, limits);
            if again_ns.is_some() {
                unsettle(&mut marks);
            }
        }
    }
    Sight::One(ParsedUnit { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns })
}

impl Row {
    /// Applies the outline of a run.
    pub(super) fn accept(&mut self, outline: Outline) {
        self.state = Some(state_of(outline.standing));
        self.reason.clone_from(&outline.reason);
        self.pieces = pieces(&outline);
        self.sought = outline.is_sought.then(|| AlternativeAnswers {
            fence: outline.answer.clone(),
            finish: outline.finish.clone(),
        });
        self.outline = Some(outline);
    }

    /// Looks up the answer in the tag that the suite names, for files without a definite answer.
    pub(super) fn look_in(&mut self, tag: &str) {
        let Some((outline, sought)) = self.outline.as_mut().zip(self.sought.as_ref()) else {
            return;
        };
        let ResolvedAnswer { answer, tag, why } =
            sought.by(Some(tag), outline.last_message(), outline.told.gave_up == Some(true));
        if tag.is_none() {
            return;
        }
        self.tag = tag;
        self.state = Some(if answer.is_some() { RunState::Answered } else { RunState::NoAnswer });
        self.reason = why.map(str::to_owned).or(self.reason.take()).filter(|_| answer.is_none());
        outline.answer = answer;
    }

    /// Marks the row as unreadable. Returns the time for another attempt if the file may still be
    /// being written.
    pub(super) fn fail(
        &mut self,
        mut error: ReadError,
        newest: i64,
        limits: &Limits,
    ) -> Option<i64> {
        if error.kind == ReadErrorKind::Truncated && error.advice.is_none() {
            error = error.advise(CUT_OFF);
        }
        let young = is_young(newest, limits.settle);
        self.state = Some(if young { RunState::Writing } else { RunState::Damaged });
        self.reason = Some(error.message.clone());
        self.fault = Some(error);
        let settle = i64::try_from(limits.settle.as_nanos()).unwrap_or(i64::MAX);
        young.then(|| newest.saturating_add(settle).saturating_add(20_000_000))
    }
}

/// Marks the files as unsettled, so that they are read again even with unchanged stamps.
pub(super) fn unsettle(marks: &mut [(FileId, Mark)]) {
    for (_, mark) in marks {
        mark.settled = false;
    }
}

/// Detects the kind of the files. A panic of a parser is reported as a damaged file.
fn see(unit: &UnitId, read: &[Read]) -> FileContent {
    if let Some((_, _, Err(refused))) = read.iter().find(|(.., bytes)| bytes.is_err()) {
        let kind = if matches!(refused, Refused::TooLarge { .. }) {
            ReadErrorKind::TooLarge
        } else {
            ReadErrorKind::BadValue
        };
        return FileContent::Damaged(ReadError::new(kind, sentence(&refused.to_string())));
    }
    let files: Vec<(&FileId, &[u8])> =
        read.iter().map(|(file, _, bytes)| (file, bytes.as_deref().unwrap_or_default())).collect();
    let seen = members::guarded(|| match files.as_slice() {
        [(file, bytes)] if !unit.group => layouts::look(file, bytes),
        _ => layouts::look_group(&files),
    });
    seen.unwrap_or_else(FileContent::Damaged)
}

/// Reads the rest of a file that holds runs or queries. For others, returns the start if it
/// explains why the file is unrelated.
fn sniff(
    limits: &Limits,
    file: &FileId,
    started: StartedFile,
) -> Result<(Vec<u8>, Stamp), Refused> {
    match layouts::head(file, &started.head) {
        layouts::Head::Runs => started.read_all(limits.file_bytes),
        layouts::Head::Suite => started.read_all(limits.suite_bytes),
        layouts::Head::Other => Ok((started.head, started.stamp)),
        layouts::Head::Unread => Ok((Vec::new(), started.stamp)),
    }
}

fn odd_one(unit: UnitId, file: FileId, stamp: Stamp, reason: String) -> ParsedUnit {
    let row = Row {
        state: Some(RunState::Other),
        reason: Some(reason),
        modified_ms: stamp.modified_ms(),
        ..Row::default()
    };
    let marks = vec![(file, Mark { stamp, settled: true, odd: true })];
    ParsedUnit { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns: None }
}

/// Returns only the stamp, for files whose content is not used.
fn probe(roots: &Roots, file: &FileId) -> Result<(Vec<u8>, Stamp), Refused> {
    let (_, stamp) = open::open(roots, file)?;
    Ok((Vec::new(), stamp))
}

fn hash(read: &[Read]) -> u64 {
    let mut hasher = Xxh3::new();
    for (file, stamp, bytes) in read {
        hasher.update(file.name());
        match bytes {
            Ok(bytes) => hasher.update(bytes),
            Err(_) => hasher.update(&stamp.size.to_le_bytes()),
        }
    }
    hasher.digest()
}

/// Returns true when any later change is certain to produce a different stamp.
pub(crate) fn is_settled(stamp: Stamp, now_ns: i64) -> bool {
    clock::is_settled(stamp.mtime_ns, now_ns)
}

/// Returns true when the file changed within the settle time. A date in the future does not count.
fn is_young(mtime_ns: i64, settle: Duration) -> bool {
    let age = clock::now_ns().saturating_sub(mtime_ns);
    (-1_000_000_000..i64::try_from(settle.as_nanos()).unwrap_or(i64::MAX)).contains(&age)
}

fn state_of(standing: RecordedState) -> RunState {
    match standing {
        RecordedState::Answered => RunState::Answered,
        RecordedState::NoAnswer => RunState::NoAnswer,
        RecordedState::Waiting => RunState::Waiting,
        RecordedState::Error => RunState::Error,
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// Pieces of an outline's text. Long items are cut at spaces, so that indexing one piece is always
/// quick.
fn pieces(outline: &Outline) -> Vec<Piece> {
    let ends =
        outline.items.iter().skip(1).map(|item| item.start as usize).chain([outline.text.len()]);
    let mut pieces = Vec::with_capacity(outline.items.len());
    for (item, end) in outline.items.iter().zip(ends) {
        let mut start = item.start as usize;
        while end.saturating_sub(start) > PIECE {
            let cut = cut(&outline.text, start, start + PIECE);
            pieces.push(Piece { step: item.step, start, len: cut - start });
            start = cut;
        }
        if end > start {
            pieces.push(Piece { step: item.step, start, len: end - start });
        }
    }
    pieces
}

/// Returns a cut position up to `end`: after the last space, or else at a character boundary.
fn cut(text: &str, start: usize, end: usize) -> usize {
    let end = (start..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    let space = memchr::memrchr2(b' ', b'\n', &text.as_bytes()[start..end]);
    space.map_or(end, |at| start + at + 1)
}

/// Name of a layout in the index.
pub(crate) fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Imported(name) => name,
        own => own_formats::of_layout(own).map_or("", |format| format.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_model::run::TextItem;

    #[test]
    fn a_file_from_the_future_is_read_once_like_one_from_the_past() {
        let at = |ms: i64| Stamp { mtime_ns: ms * 1_000_000 + 1, ..Stamp::default() };
        let now = 5_000 * 1_000_000;
        for (ms, settled) in
            [(1_000, true), (4_999, false), (5_000, false), (5_010, false), (9_000, true)]
        {
            assert_eq!(is_settled(at(ms), now), settled, "{ms}");
        }
    }

    #[test]
    fn pieces_cover_the_items_in_order_and_none_is_long() {
        let words = "wörd ".repeat(40_000);
        let text = format!("first\n{words}\nlast\n");
        let last = u32::try_from(text.len() - 5).unwrap();
        let items = vec![
            TextItem { step: Some(0), start: 0 },
            TextItem { step: Some(1), start: 6 },
            TextItem { step: None, start: last },
        ];
        let outline = Outline { text: text.clone(), items, ..Outline::default() };
        let pieces = pieces(&outline);
        assert!(pieces.iter().all(|piece| piece.len <= PIECE && piece.len > 0));
        let joined: String =
            pieces.iter().map(|piece| &text[piece.start..piece.start + piece.len]).collect();
        assert_eq!(joined, text);
        assert_eq!((pieces[0].step, pieces.last().unwrap().step), (Some(0), None));
    }
}
