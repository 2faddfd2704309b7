//! Reads the files of one unit and says what row they make. Nothing in here can fail: whatever is
//! wrong becomes the row. Owns the text pieces that search uses; writes nothing.
use super::layouts::{self, Coordinates, Seen};
use super::limits::Limits;
use super::members;
use super::open::{self, Refused, Stamp};
use super::reconcile::{Mark, Unit, UnitId};
use super::roots::{FileId, Roots};
use super::scoring::held::{Found, Sought};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use touchstone_api::RunState;
use touchstone_clock as clock;
use touchstone_formats::run::{Layout, Outline, Standing};
use touchstone_formats::{ReadError, ReadErrorKind};
use xxhash_rust::xxh3::Xxh3;

/// The longest piece of text that is indexed at once.
const PIECE: usize = 64 << 10;

/// One unit, looked at.
pub(crate) struct Looked {
    pub(crate) unit: UnitId,
    /// Its files as they were when they were opened.
    pub(crate) marks: Vec<(FileId, Mark)>,
    pub(crate) outcome: Outcome,
    /// When it must be looked at again although nothing tells of a change, in nanoseconds since
    /// 1970.
    pub(crate) again_ns: Option<i64>,
}

impl Looked {
    /// True unless more of the same unit is to come.
    pub(crate) fn is_last(&self) -> bool {
        !matches!(self.outcome, Outcome::Part(_))
    }

    /// The rows that it gives.
    pub(crate) fn rows(&self) -> &[Row] {
        match &self.outcome {
            Outcome::Gone | Outcome::Suite(_) => &[],
            Outcome::Row(row) => std::slice::from_ref(row),
            Outcome::Part(rows) | Outcome::Last(rows, _) => rows,
        }
    }

    /// The same, for what suites say of them.
    pub(crate) fn rows_mut(&mut self) -> &mut [Row] {
        match &mut self.outcome {
            Outcome::Gone | Outcome::Suite(_) => &mut [],
            Outcome::Row(row) => std::slice::from_mut(row),
            Outcome::Part(rows) | Outcome::Last(rows, _) => rows,
        }
    }
}

/// What became of it.
pub(crate) enum Outcome {
    /// There is nothing any more.
    Gone,
    /// A suite: its text goes to the shelf.
    Suite(Vec<u8>),
    /// A row of the list.
    Row(Box<Row>),
    /// Some of the rows of a file that holds many, and more are to come.
    Part(Vec<Row>),
    /// The last of them, with the keys of all: what has another is not in the file any more.
    Last(Vec<Row>, HashSet<String>),
}

/// What the files say, without what their names and the suites say.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) state: Option<RunState>,
    pub(crate) reason: Option<String>,
    pub(crate) outline: Option<Outline>,
    /// What else may be its answer, where the files give none of their own.
    pub(crate) sought: Option<Sought>,
    /// The tag that decides what its answer is, as its suite names it.
    pub(crate) tag: Option<String>,
    pub(crate) fault: Option<ReadError>,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
    pub(crate) hash: u64,
    pub(crate) pieces: Vec<Piece>,
    /// Which run of its file it is, when the file holds many.
    pub(crate) member: Option<MemberRow>,
}

/// One of the runs of a file that holds many.
#[derive(Debug, Clone)]
pub(crate) struct MemberRow {
    /// What it is called there.
    pub(crate) key: String,
    pub(crate) at: Coordinates,
}

/// A piece of the searchable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) step: Option<u32>,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Reads and judges one unit. A file that holds many runs is given in parts, so that memory holds
/// few of them; the rest of the work is left when `give` says so.
pub(crate) fn look(
    roots: &Roots,
    limits: &Limits,
    unit: Unit,
    give: &mut dyn FnMut(Looked) -> bool,
) {
    match look_whole(roots, limits, unit) {
        Sight::One(looked) => {
            give(looked);
        }
        Sight::Many(file) => members::look(limits, file, give),
    }
}

/// What was found at first sight.
enum Sight {
    One(Looked),
    Many(members::ManyFile),
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
    let mut read = Vec::new();
    let mut marks = Vec::new();
    for (file, found) in unit.files {
        let content = if unit.id.group || layouts::is_plausible(&file) {
            open::read(roots, &file, limits.file_bytes)
        } else if layouts::is_told_by_its_head(&file) {
            sniff(roots, limits, &file)
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
            // It has just become a row of its own, which the next look at it finds.
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
        return Sight::One(Looked { unit: unit.id, marks, outcome: Outcome::Gone, again_ns: None });
    }
    judge(limits, unit.id, marks, read)
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
        Seen::Suite => {
            let text = read.into_iter().find_map(|(.., bytes)| bytes.ok()).unwrap_or_default();
            return Sight::One(Looked { unit, marks, outcome: Outcome::Suite(text), again_ns });
        }
        Seen::Workspace => {
            return Sight::One(Looked { unit, marks, outcome: Outcome::Gone, again_ns });
        }
        Seen::Many => {
            let bytes = read.pop().and_then(|(.., bytes)| bytes.ok()).unwrap_or_default();
            return Sight::Many(members::ManyFile { unit, marks, bytes, newest });
        }
        Seen::Run(outline) => {
            row.take(*outline);
        }
        Seen::Other(reason) => {
            row.state = Some(RunState::Other);
            row.reason = Some(reason);
        }
        Seen::Damaged(error) => {
            again_ns = row.fail(error, newest, limits);
            if again_ns.is_some() {
                unsettle(&mut marks);
            }
        }
    }
    Sight::One(Looked { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns })
}

impl Row {
    /// Takes over what a run says.
    pub(super) fn take(&mut self, outline: Outline) {
        self.state = Some(state_of(outline.standing));
        self.reason.clone_from(&outline.reason);
        self.pieces = pieces(&outline);
        self.sought = outline
            .is_sought
            .then(|| Sought { fence: outline.answer.clone(), finish: outline.finish.clone() });
        self.outline = Some(outline);
    }

    /// Finds the answer where the suite of the run has it, when the files give none of their own.
    pub(super) fn look_in(&mut self, tag: &str) {
        let Some((outline, sought)) = self.outline.as_mut().zip(self.sought.as_ref()) else {
            return;
        };
        let Found { answer, tag, why } =
            sought.by(Some(tag), outline.said(), outline.told.gave_up == Some(true));
        if tag.is_none() {
            return;
        }
        self.tag = tag;
        self.state = Some(if answer.is_some() { RunState::Answered } else { RunState::NoAnswer });
        self.reason = why.map(str::to_owned).or(self.reason.take()).filter(|_| answer.is_none());
        outline.answer = answer;
    }

    /// It cannot be read; says when it must be looked at again because it may still be written.
    pub(super) fn fail(&mut self, error: ReadError, newest: i64, limits: &Limits) -> Option<i64> {
        let young = is_young(newest, limits.settle);
        self.state = Some(if young { RunState::Writing } else { RunState::Damaged });
        self.reason = Some(error.message.clone());
        self.fault = Some(error);
        let settle = i64::try_from(limits.settle.as_nanos()).unwrap_or(i64::MAX);
        young.then(|| newest.saturating_add(settle).saturating_add(20_000_000))
    }
}

/// Has the files of a unit looked at again, although their stamps stay.
pub(super) fn unsettle(marks: &mut [(FileId, Mark)]) {
    for (_, mark) in marks {
        mark.settled = false;
    }
}

/// What the files are. A parser that panics has met a damaged file, whatever its state of mind.
fn see(unit: &UnitId, read: &[Read]) -> Seen {
    if let Some((_, _, Err(refused))) = read.iter().find(|(.., bytes)| bytes.is_err()) {
        let kind = if matches!(refused, Refused::TooLarge { .. }) {
            ReadErrorKind::TooLarge
        } else {
            ReadErrorKind::BadValue
        };
        return Seen::Damaged(ReadError::new(kind, sentence(&refused.to_string())));
    }
    let files: Vec<(&FileId, &[u8])> =
        read.iter().map(|(file, _, bytes)| (file, bytes.as_deref().unwrap_or_default())).collect();
    let seen = catch_unwind(AssertUnwindSafe(|| match files.as_slice() {
        [(file, bytes)] if !unit.group => layouts::look(file, bytes),
        _ => layouts::look_group(&files),
    }));
    seen.unwrap_or_else(|_| {
        let message = "The file could not be read: its content brought the reader to a stop.";
        Seen::Damaged(
            ReadError::new(ReadErrorKind::Syntax, message)
                .advise("Please report this file; it shows a fault in Touchstone."),
        )
    })
}

/// The whole of a file that holds runs or queries; of others the beginning, when it says why they
/// are none of ours.
fn sniff(roots: &Roots, limits: &Limits, file: &FileId) -> Result<(Vec<u8>, Stamp), Refused> {
    let (head, stamp) = open::read_head(roots, file, layouts::HEAD)?;
    match layouts::head(file, &head) {
        layouts::Head::Runs => open::read(roots, file, limits.file_bytes),
        layouts::Head::Suite => open::read(roots, file, limits.suite_bytes),
        layouts::Head::Other => Ok((head, stamp)),
        layouts::Head::Unread => Ok((Vec::new(), stamp)),
    }
}

fn odd_one(unit: UnitId, file: FileId, stamp: Stamp, reason: String) -> Looked {
    let row = Row {
        state: Some(RunState::Other),
        reason: Some(reason),
        modified_ms: stamp.modified_ms(),
        ..Row::default()
    };
    let marks = vec![(file, Mark { stamp, settled: true, odd: true })];
    Looked { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns: None }
}

/// Only the stamp, for files whose content says nothing.
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

/// Whether a later change is sure to bear another stamp.
pub(crate) fn is_settled(stamp: Stamp, now_ns: i64) -> bool {
    clock::is_settled(stamp.mtime_ns, now_ns)
}

/// Changed just now. A date in the future is none.
fn is_young(mtime_ns: i64, settle: Duration) -> bool {
    let age = clock::now_ns().saturating_sub(mtime_ns);
    (-1_000_000_000..i64::try_from(settle.as_nanos()).unwrap_or(i64::MAX)).contains(&age)
}

fn state_of(standing: Standing) -> RunState {
    match standing {
        Standing::Answered => RunState::Answered,
        Standing::NoAnswer => RunState::NoAnswer,
        Standing::Waiting => RunState::Waiting,
        Standing::Error => RunState::Error,
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// The items of an outline, long ones cut at spaces, so that indexing one never takes long.
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

/// Where to cut before `end`: after the last space, else between two characters.
fn cut(text: &str, start: usize, end: usize) -> usize {
    let end = (start..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(start);
    let space = memchr::memrchr2(b' ', b'\n', &text.as_bytes()[start..end]);
    space.map_or(end, |at| start + at + 1)
}

/// How a layout is written in the index.
pub(crate) fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::ToolCalling => "tool_calling",
        Layout::PromptQl => "prompt_ql",
        Layout::BenchmarkFolder => "benchmark_folder",
        Layout::RawAnswer => "raw_answer",
        Layout::ConvertedAnswer => "converted_answer",
        Layout::PassRate => "pass_rate",
        Layout::ResultFile => "result_file",
        Layout::Evaluation => "evaluation",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::run::TextItem;

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
