//! Reads the files of one unit and says what row they make. Nothing in here can fail: whatever is wrong becomes the row.
//! Owns the text pieces that search uses; writes nothing.
use super::layouts::{self, Seen};
use super::limits::Limits;
use super::open::{self, Refused, Stamp};
use super::reconcile::{Mark, Unit, UnitId};
use super::roots::{FileId, Roots};
use crate::clock;
use crate::rows::RunState;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
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
    /// When it must be looked at again although nothing tells of a change, in nanoseconds since 1970.
    pub(crate) again_ns: Option<i64>,
}

/// What became of it.
pub(crate) enum Outcome {
    /// There is nothing any more.
    Gone,
    /// A suite: its text goes to the shelf.
    Suite(Vec<u8>),
    /// A row of the list.
    Row(Box<Row>),
}

/// What the files say, without what their names and the suites say.
#[derive(Debug, Default)]
pub(crate) struct Row {
    pub(crate) state: Option<RunState>,
    pub(crate) reason: Option<String>,
    pub(crate) outline: Option<Outline>,
    pub(crate) fault: Option<ReadError>,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
    pub(crate) hash: u64,
    pub(crate) pieces: Vec<Piece>,
}

/// A piece of the searchable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) step: Option<u32>,
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Reads and judges one unit.
pub(crate) fn look(roots: &Roots, limits: &Limits, unit: Unit) -> Looked {
    let odd = unit.files.iter().find_map(|(file, found)| Some((file.clone(), found.stamp, found.odd.clone()?)));
    if let Some((file, stamp, reason)) = odd {
        return odd_one(unit.id, file, stamp, reason);
    }
    let now = clock::now_ns();
    let mut read = Vec::new();
    let mut marks = Vec::new();
    for (file, found) in unit.files {
        let limit = match () {
            () if unit.id.group || layouts::is_plausible(&file) => limits.file_bytes,
            () if layouts::is_query_set(roots, &file) => limits.suite_bytes,
            () => 0,
        };
        match if limit == 0 { probe(roots, &file) } else { open::read(roots, &file, limit) } {
            Ok((bytes, stamp)) => {
                marks.push((file.clone(), Mark { stamp, settled: is_settled(stamp, now), odd: false }));
                read.push((file, stamp, Ok(bytes)));
            }
            Err(Refused::Gone) => {}
            // It has just become a row of its own, which the next look at it finds.
            Err(Refused::Odd(_)) if unit.id.group => {}
            Err(Refused::Odd(why)) => {
                return odd_one(unit.id, file, found.stamp, format!("It is not read: {why}."));
            }
            Err(refused) => {
                marks.push((file.clone(), Mark { stamp: found.stamp, settled: true, odd: false }));
                read.push((file, found.stamp, Err(refused)));
            }
        }
    }
    if read.is_empty() {
        return Looked { unit: unit.id, marks, outcome: Outcome::Gone, again_ns: None };
    }
    judge(limits, unit.id, marks, read)
}

type Read = (FileId, Stamp, Result<Vec<u8>, Refused>);

fn judge(limits: &Limits, unit: UnitId, mut marks: Vec<(FileId, Mark)>, read: Vec<Read>) -> Looked {
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
            return Looked { unit, marks, outcome: Outcome::Suite(text), again_ns };
        }
        Seen::Workspace => return Looked { unit, marks, outcome: Outcome::Gone, again_ns },
        Seen::Run(outline) => {
            row.state = Some(state_of(outline.standing));
            row.reason.clone_from(&outline.reason);
            row.pieces = pieces(&outline);
            row.outline = Some(*outline);
        }
        Seen::Other(reason) => {
            row.state = Some(RunState::Other);
            row.reason = Some(reason);
        }
        Seen::Damaged(error) => {
            let young = is_young(newest, limits.settle);
            row.state = Some(if young { RunState::Writing } else { RunState::Damaged });
            row.reason = Some(error.message.clone());
            row.fault = Some(error);
            if young {
                let settle = i64::try_from(limits.settle.as_nanos()).unwrap_or(i64::MAX);
                again_ns = Some(newest.saturating_add(settle).saturating_add(20_000_000));
                for (_, mark) in &mut marks {
                    mark.settled = false;
                }
            }
        }
    }
    Looked { unit, marks, outcome: Outcome::Row(Box::new(row)), again_ns }
}

/// What the files are. A parser that panics has met a damaged file, whatever its state of mind.
fn see(unit: &UnitId, read: &[Read]) -> Seen {
    if let Some((_, _, Err(refused))) = read.iter().find(|(.., bytes)| bytes.is_err()) {
        let kind =
            if matches!(refused, Refused::TooLarge { .. }) { ReadErrorKind::TooLarge } else { ReadErrorKind::BadValue };
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

fn odd_one(unit: UnitId, file: FileId, stamp: Stamp, reason: String) -> Looked {
    let row =
        Row { state: Some(RunState::Other), reason: Some(reason), modified_ms: stamp.modified_ms(), ..Row::default() };
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

/// Whether a later change is sure to bear another stamp. File systems that keep whole seconds need more time for that.
pub(crate) fn is_settled(stamp: Stamp, now_ns: i64) -> bool {
    let grain = if stamp.mtime_ns % 1_000_000_000 == 0 { 2_000_000_000 } else { 50_000_000 };
    now_ns.saturating_sub(stamp.mtime_ns) > grain
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
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// The items of an outline, long ones cut at spaces, so that indexing one never takes long.
fn pieces(outline: &Outline) -> Vec<Piece> {
    let ends = outline.items.iter().skip(1).map(|item| item.start as usize).chain([outline.text.len()]);
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::run::TextItem;

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
        let joined: String = pieces.iter().map(|piece| &text[piece.start..piece.start + piece.len]).collect();
        assert_eq!(joined, text);
        assert_eq!((pieces[0].step, pieces.last().unwrap().step), (Some(0), None));
    }
}
