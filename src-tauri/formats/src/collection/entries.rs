//! **Pure.** Locates the members of a file: their keys and the ranges of their text.
use super::MOST_MEMBERS;
use super::form::Form;
use super::split::{self, Cursor, Next};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use touchstone_model::error::ReadErrorKind;
use touchstone_model::json;
use touchstone_model::node::Node;

/// Maximum length of a member's key, in bytes. File names are made from it, where each byte may
/// take three.
pub const MOST_KEY: usize = 60;

/// Maximum number of table columns that are read.
const MOST_COLUMNS: usize = 1_000;
/// Maximum number of keys next to the members that are read.
pub const MOST_BESIDE: usize = 100;

/// A member that has not been parsed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Key, unique in its file.
    pub(super) key: String,
    /// Id of its query; `None` if the file has no id for it.
    pub(super) id: Option<String>,
    /// Number of the evaluation of this query, from 1.
    pub(super) repeat: u32,
    /// Byte range of its text.
    pub(super) span: Range<usize>,
    /// Number of lines before it in the file.
    pub(super) lines: u32,
    /// Error that is known without parsing the member.
    pub(super) wrong: Option<(ReadErrorKind, String)>,
}

/// Members and metadata located in a file.
#[derive(Debug, Default)]
pub(super) struct FileEntries {
    pub(super) entries: Vec<Entry>,
    pub(super) columns: Vec<String>,
    /// Values next to the members, by key.
    pub(super) beside: Vec<(String, Range<usize>)>,
    /// Number of further such keys, over the maximum.
    pub(super) more: usize,
    /// Error in the file around its members, with its offset.
    pub(super) wrong: Option<(ReadErrorKind, String, usize)>,
}

/// Locates the members of a file.
pub(super) fn find(form: Form, bytes: &[u8]) -> FileEntries {
    let mut gathered = EntryCollector {
        repeats: matches!(form, Form::Results | Form::Rows | Form::RowLines),
        ..EntryCollector::default()
    };
    let (mut columns, mut beside, mut more) = (Vec::new(), Vec::new(), 0);
    let mut wrong: Option<(ReadErrorKind, String, usize)> = None;
    match form {
        Form::Converted | Form::PassRate => {
            let root = split::object(Cursor::new(bytes)).into_iter().flatten();
            root.take(MOST_MEMBERS + 1)
                .for_each(|next| gathered.add(bytes, next, |key, _| text_at(bytes, key)));
        }
        Form::Results | Form::Rows => {
            let items = if form == Form::Rows { "rows" } else { "results" };
            let is_kept =
                |name: &str| if form == Form::Rows { name != items } else { name == "metadata" };
            let root = split::object(Cursor::new(bytes)).into_iter().flatten();
            let mut listed = false;
            for next in root {
                let (key, span) = match next {
                    Next::Entry { key, value } => (key, value),
                    Next::Broken { key, from } => {
                        let message = "The file ends in the middle, or brackets and quotes do not match from here on.";
                        wrong.get_or_insert_with(|| {
                            (ReadErrorKind::Truncated, message.to_owned(), from)
                        });
                        (key, from..bytes.len())
                    }
                };
                match text_at(bytes, &key).as_deref() {
                    // Only the first list is read: a second one would circumvent the maximum.
                    Some(name) if name == items && !listed => {
                        listed = true;
                        let items = split::list(Cursor::within(bytes, &span));
                        if items.is_none() {
                            let message = format!(
                                "`{name}` is not a list, so no run of the file can be read."
                            );
                            wrong.get_or_insert((ReadErrorKind::BadValue, message, span.start));
                        }
                        let items = items.into_iter().flatten();
                        for (at, next) in items.take(MOST_MEMBERS + 1).enumerate() {
                            gathered.add(bytes, next, |_, value| id_of(form, bytes, value, at));
                        }
                    }
                    Some(name) if name == items => {
                        let message = format!(
                            "`{name}` appears more than once in this file; only the first is read."
                        );
                        wrong.get_or_insert((ReadErrorKind::Duplicate, message, span.start));
                    }
                    Some(name) if is_kept(name) && beside.len() < MOST_BESIDE => {
                        beside.push((name.to_owned(), span));
                    }
                    Some(name) => more += usize::from(is_kept(name)),
                    None => {}
                }
            }
            if !listed {
                let message =
                    format!("`{items}` is not a readable list, so no run of the file can be read.");
                wrong.get_or_insert((ReadErrorKind::BadValue, message, 0));
            }
        }
        Form::PassRateTable => columns = gathered.add_rows(bytes),
        Form::RowLines => gathered.add_lines(bytes),
    }
    if gathered.entries.len() > MOST_MEMBERS {
        let message = format!(
            "The file holds more than {MOST_MEMBERS} runs. The rest, from this one on, is not read."
        );
        gathered.entries.truncate(MOST_MEMBERS + 1);
        gathered.entries[MOST_MEMBERS].wrong = Some((ReadErrorKind::TooLarge, message));
    }
    count_lines(&mut gathered.entries, bytes);
    FileEntries { entries: gathered.entries, columns, beside, more, wrong }
}

/// Counts the lines before each member in a single pass. Counting for every broken member
/// separately would be quadratic.
fn count_lines(entries: &mut [Entry], bytes: &[u8]) {
    let (mut at, mut lines) = (0, 0_u32);
    for entry in entries {
        let between = bytes.get(at..entry.span.start).unwrap_or_default();
        lines = lines.saturating_add(
            u32::try_from(memchr::memchr_iter(b'\n', between).count()).unwrap_or(u32::MAX),
        );
        (entry.lines, at) = (lines, at.max(entry.span.start));
    }
}

/// Returns the id of a list item: as stored, or derived from its position for rows, which need no
/// id.
fn id_of(form: Form, bytes: &[u8], item: &Range<usize>, at: usize) -> Option<String> {
    let said = |key: &str| text_at(bytes, &split::value_of(bytes, item, key)?);
    match form {
        Form::Rows | Form::RowLines => said("inputs.id")
            .filter(|id| !id.trim().is_empty())
            .or_else(|| Some(format!("row-{}", at + 1))),
        _ => said("query_id"),
    }
}

/// Returns the text of the scalar in a range.
fn text_at(bytes: &[u8], span: &Range<usize>) -> Option<String> {
    let text = std::str::from_utf8(bytes.get(span.clone())?).ok()?;
    if text.starts_with(['{', '[']) {
        None
    } else {
        json::read(text).ok().as_ref().and_then(Node::word).map(str::to_owned)
    }
}

#[derive(Default)]
struct EntryCollector {
    entries: Vec<Entry>,
    keys: HashSet<String>,
    times: HashMap<String, u32>,
    /// True if a repeated id is another evaluation of the same query; otherwise it is an error.
    repeats: bool,
}

impl EntryCollector {
    fn add(
        &mut self,
        bytes: &[u8],
        next: Next,
        id: impl Fn(&Range<usize>, &Range<usize>) -> Option<String>,
    ) {
        match next {
            Next::Entry { key, value } => {
                let id = id(&key, &value);
                self.put(id, value, None);
            }
            Next::Broken { key, from } => {
                let span = from..bytes.len();
                let message = "The file ends in the middle of this run, or brackets and quotes do not match from here on.";
                let id = if key.is_empty() { None } else { id(&key, &span) };
                self.put(id, span, Some((ReadErrorKind::Truncated, message.to_owned())));
            }
        }
    }

    fn add_rows(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut rows = split::rows(bytes);
        let text = |span: &Range<usize>| std::str::from_utf8(&bytes[span.clone()]).ok();
        let cells = |row: &Range<usize>, most| {
            text(row).map(|row| split::cells(row, most)).unwrap_or_default()
        };
        let columns = rows.next().map(|row| cells(&row, MOST_COLUMNS)).unwrap_or_default();
        let at = columns.iter().position(|name| name == "query_id");
        for row in rows
            .filter(|row| !bytes[row.clone()].iter().all(u8::is_ascii_whitespace))
            .take(MOST_MEMBERS + 1)
        {
            let mut cells = cells(&row, columns.len());
            let few = cells.len() < columns.len();
            let message = || "The row has fewer cells than the first line has names.".to_owned();
            let wrong = few.then(|| (ReadErrorKind::Syntax, message()));
            let id = at.filter(|at| *at < cells.len()).map(|at| cells.swap_remove(at));
            self.put(id.filter(|_| !few), row, wrong);
        }
        columns
    }

    fn add_lines(&mut self, bytes: &[u8]) {
        let mut from = 0;
        let ends = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
        let lines = ends.map(|end| std::mem::replace(&mut from, end + 1)..end);
        let lines = lines.filter(|line| !bytes[line.clone()].iter().all(u8::is_ascii_whitespace));
        for (at, value) in lines.take(MOST_MEMBERS + 1).enumerate() {
            let next = Next::Entry { key: 0..0, value };
            self.add(bytes, next, |_, value| id_of(Form::RowLines, bytes, value, at));
        }
    }

    fn put(
        &mut self,
        id: Option<String>,
        span: Range<usize>,
        mut wrong: Option<(ReadErrorKind, String)>,
    ) {
        let id = id.filter(|id| !id.trim().is_empty());
        let times = id.as_ref().map_or(1, |id| {
            let times = self.times.entry(id.clone()).or_default();
            *times += 1;
            *times
        });
        if times > 1 && !self.repeats && wrong.is_none() {
            let id = id.as_deref().unwrap_or_default();
            wrong = Some((
                ReadErrorKind::Duplicate,
                format!("The id `{id}` appears more than once in this file."),
            ));
        }
        let named =
            id.as_ref().map(|id| if times > 1 { format!("{id}-run{times}") } else { id.clone() });
        let key = self.key(named);
        let repeat = if self.repeats { times } else { 1 };
        self.entries.push(Entry { key, id, repeat, span, lines: 0, wrong });
    }

    /// Returns a key that no other member has: the id, or a numbered key.
    fn key(&mut self, named: Option<String>) -> String {
        let fits = |key: &String| key.len() <= MOST_KEY;
        let at = self.entries.len() + 1;
        let counted =
            (0..).map(
                |more| if more == 0 { format!("entry-{at}") } else { format!("entry-{at}-{more}") },
            );
        for key in named.into_iter().filter(fits).chain(counted) {
            if self.keys.insert(key.clone()) {
                return key;
            }
        }
        String::new()
    }
}
