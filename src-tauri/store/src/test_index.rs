//! Index filled with synthetic runs, for tests of queries.
use super::index::{Index, Reader, Writer};
use super::word_index::fill::{Done, Filling};
use super::word_index::segments::forget;
use rusqlite::params;
use std::sync::Arc;
use touchstone_api::{Column, ListRequest, RunPage, Sort, Span};
use touchstone_model::run::Outline;

const WAITING: &str = "SELECT NOT EXISTS (SELECT 1 FROM runs WHERE words IS NULL AND text_len > 0)";

/// Index in a temporary folder.
pub(super) struct TestIndex {
    index: Arc<Index>,
    writer: Writer,
    _dir: tempfile::TempDir,
}

/// Run in a test; other columns get default values.
#[derive(Default, Clone)]
pub(super) struct TestRun {
    pub(super) path: String,
    pub(super) task: Option<String>,
    pub(super) model: Option<String>,
    pub(super) state: usize,
    pub(super) turns: i64,
    pub(super) tokens: Option<i64>,
    pub(super) modified_ms: i64,
    /// Step and text of each item.
    pub(super) items: Vec<(Option<u32>, String)>,
    /// Outline with the steps, and with the text instead of items.
    pub(super) outline: Option<Outline>,
}

impl TestIndex {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (index, writer) =
            Index::open(&dir.path().join("cache"), &dir.path().join("out")).unwrap();
        Self { index: Arc::new(index), writer, _dir: dir }
    }

    pub(super) fn with(books: &[TestRun]) -> Self {
        let mut shelf = Self::new();
        shelf.add(books);
        shelf
    }

    /// Changes rows.
    pub(super) fn change(&self, sql: &str) {
        self.writer.sql.execute_batch(sql).unwrap();
        let grow = "UPDATE meta SET value = value + 1 WHERE key = 'generation'";
        self.writer.sql.execute_batch(grow).unwrap();
    }

    /// Deletes a run, or makes it something that is no run.
    pub(super) fn remove(&self, path: &str, is_kept: bool) {
        let write = self.writer.sql.unchecked_transaction().unwrap();
        let run = "SELECT id FROM runs WHERE path = ?";
        let run: i64 = write.query_row(run, [path], |row| row.get(0)).unwrap();
        forget(&write, run).unwrap();
        let steps = "DELETE FROM steps WHERE run = (SELECT id FROM runs WHERE path = ?)";
        write.execute(steps, [path]).unwrap();
        if is_kept {
            let damaged =
                "UPDATE runs SET state = 'damaged', has_answer = 0, words = NULL WHERE path = ?";
            write.execute(damaged, [path]).unwrap();
        } else {
            write.execute("DELETE FROM runs WHERE path = ?", [path]).unwrap();
        }
        write.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'", []).unwrap();
        write.commit().unwrap();
    }

    /// Adds runs, without full-text entries.
    pub(super) fn add(&mut self, books: &[TestRun]) {
        let write = self.writer.sql.unchecked_transaction().unwrap();
        for book in books {
            let items: Vec<(Option<u32>, String)> = match &book.outline {
                None => {
                    let ended = |text: &String| format!("{text}\n");
                    book.items.iter().map(|(step, text)| (*step, ended(text))).collect()
                }
                Some(outline) => items(outline),
            };
            let text: String = items.iter().map(|(_, text)| text.as_str()).collect();
            let start = self.writer.blob.append(text.as_bytes()).unwrap();
            let run = insert(&write, book, start, text.len());
            if let Some(outline) = &book.outline {
                let steps = "INSERT INTO steps (run, start, steps) VALUES (?,?,?)";
                let start = i64::try_from(start).unwrap();
                write.execute(steps, params![run, start, outline.steps]).unwrap();
                let answered = "UPDATE runs SET has_answer = ?, steps = ? WHERE id = ?";
                let has_answer = outline.answer.is_some();
                write.execute(answered, params![has_answer, outline.step_count, run]).unwrap();
            }
            let mut at = i64::try_from(start).unwrap();
            for (step, text) in &items {
                let len = i64::try_from(text.len()).unwrap();
                let item = "INSERT INTO items (run, step, start, len) VALUES (?,?,?,?)";
                write.prepare_cached(item).unwrap().execute(params![run, step, at, len]).unwrap();
                at += len;
            }
        }
        self.writer.blob.flush().unwrap();
        let len = i64::try_from(self.writer.blob.len()).unwrap();
        write.execute("UPDATE meta SET value = ? WHERE key = 'blob_len'", [len]).unwrap();
        super::index::put_sums(&write, &self.writer.blob).unwrap();
        write.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'", []).unwrap();
        write.commit().unwrap();
    }

    pub(super) fn finish(&self) {
        self.writer.sql.execute_batch(include_str!("sort_indexes.sql")).unwrap();
    }

    /// Completes the full-text index.
    pub(super) fn complete(&self) {
        let mut filling = Filling::default();
        while !matches!(filling.step(&self.writer, &|| false).unwrap(), Done::Nothing) {}
        assert!(self.reader().query_row(WAITING, [], |row| row.get::<_, bool>(0)).unwrap());
    }

    pub(super) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(super) fn writer_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }

    pub(super) fn index(&self) -> Arc<Index> {
        Arc::clone(&self.index)
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        self.index.reader().unwrap()
    }
}

/// Steps and texts of the items of an outline.
fn items(outline: &Outline) -> Vec<(Option<u32>, String)> {
    let ends = outline.items.iter().skip(1).map(|item| item.start as usize);
    let ends = ends.chain([outline.text.len()]);
    let text = |start: u32, end| outline.text[start as usize..end].to_owned();
    outline.items.iter().zip(ends).map(|(item, end)| (item.step, text(item.start, end))).collect()
}

fn insert(write: &rusqlite::Connection, book: &TestRun, start: u64, len: usize) -> i64 {
    const RUN: &str =
        "INSERT INTO runs (key, path, unit, layout, task, model, repeat, state, state_order, turns, tool_calls,
        failed_calls, nudges, missing_calls, tools, tokens, size, modified_ms, has_answer, content_hash, text_offset,
        text_len, unfinished) VALUES (?,?,0,'tool_calling',?,?,1,?,?,?,0,0,0,'[]','',?,100,?,0,0,?,?,0)";
    let state = crate::filter::STATES[book.state].1;
    let order = [0, 1, 2, 3, 4, 5, 6][book.state];
    let (start, len) = (i64::try_from(start).unwrap(), i64::try_from(len).unwrap());
    write
        .prepare_cached(RUN)
        .unwrap()
        .execute(params![
            format!("key of {}", book.path),
            book.path,
            book.task,
            book.model,
            state,
            order,
            book.turns,
            book.tokens,
            book.modified_ms,
            start,
            len
        ])
        .unwrap();
    write.last_insert_rowid()
}

/// Request for the first hundred rows.
pub(super) fn request(filter: &str, column: Column, descending: bool) -> ListRequest {
    let span = Span { offset: 0, limit: 100 };
    ListRequest { filter: filter.to_owned(), sort: Sort { column, descending }, span }
}

/// Paths of a page, in order.
pub(super) fn paths(page: &RunPage) -> String {
    page.rows.iter().map(|row| row.path.as_str()).collect::<Vec<_>>().join(" ")
}
