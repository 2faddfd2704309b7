//! **Pure.** The database in which promptfoo keeps all evaluations. Newer evaluations have a row
//! for each result, older ones have all results in one text.
use super::naming::{Digest, NamePosition, place_tests};
use super::results::{DATABASE_RANK, Results, read_named, read_test};
use crate::format::ImportedFile;
use crate::pieces;
use crate::run::ImportedRun;
use crate::source::Input;
use crate::sqlite::{Columns, Database, Field, Pages, Record, Table};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use touchstone_formats::timestamps;
use touchstone_model::error::{ReadError, ReadErrorKind};
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum number of results that are read.
const MOST_RESULTS: usize = 2_000_000;

/// Maximum size of the id of an evaluation or of a result in bytes.
const MOST_ID_BYTES: usize = 1_000;

/// Columns of a result that its name depends on, with their keys in an exported file.
const NAMING: [(&str, &str); 7] = [
    ("test_idx", "testIdx"),
    ("prompt_idx", "promptIdx"),
    ("test_case", "testCase"),
    ("prompt_id", "promptId"),
    ("prompt", "prompt"),
    ("provider", "provider"),
    ("metadata", "metadata"),
];

/// All columns of a result that are read, first those that its name depends on.
const RESULT_COLUMNS: [(&str, &str); 16] = [
    NAMING[0],
    NAMING[1],
    NAMING[2],
    NAMING[3],
    NAMING[4],
    NAMING[5],
    NAMING[6],
    ("id", "id"),
    ("latency_ms", "latencyMs"),
    ("response", "response"),
    ("error", "error"),
    ("success", "success"),
    ("score", "score"),
    ("grading_result", "gradingResult"),
    ("named_scores", "namedScores"),
    ("failure_reason", "failureReason"),
];

/// Columns that hold text; the others of type text hold JSON.
const TEXTS: [&str; 3] = ["id", "prompt_id", "error"];

/// Evaluations of a database.
pub(super) struct Stored<'a> {
    database: Database<'a>,
    content: Content,
    /// Evaluation that was read last.
    last: RefCell<Option<(usize, SharedEvaluation)>>,
    /// Hashes of the evaluations, once one was asked for. `None` for one that cannot be read.
    hashes: OnceCell<Vec<Option<u64>>>,
}

/// Places of all results.
#[derive(Default)]
struct Content {
    evals: Option<Table>,
    results: Option<Table>,
    entries: Vec<Entry>,
    evaluations: Vec<Stub>,
    /// Names of results whose numbers are not known.
    names: Vec<String>,
    error: Option<ReadError>,
    /// Number of bytes that further rows can have.
    bytes_left: u64,
}

/// Result.
#[derive(Clone, Copy)]
struct Entry {
    evaluation: usize,
    /// Number of its row, or of the row of its evaluation.
    row: i64,
    kind: Kind,
    /// Number among results of the same name, from 1.
    copy: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// Numbers of the test and of the prompt.
    Row(i64, i64),
    /// Position of the name of a result that lacks one of these numbers.
    Named(usize),
    /// Position in the text of an older evaluation.
    Old(usize),
}

impl Kind {
    fn is_old(self) -> bool {
        matches!(self, Kind::Old(_))
    }
}

/// Evaluation, as far as it is always needed.
struct Stub {
    id: String,
    /// Number of its row, if it has one.
    row: Option<i64>,
    /// Places of its results.
    entries: Range<usize>,
}

/// Evaluation, or why it could not be read.
type SharedEvaluation = Result<Rc<Evaluation>, ReadError>;

/// Evaluation whose results are read.
enum Evaluation {
    New { places: Vec<NamePosition>, facts: Vec<(String, Value)> },
    Old(Results),
}

impl<'a> Stored<'a> {
    pub(super) fn open(input: Input<'a>) -> Result<Self, ReadError> {
        let database = Database::open(input)?;
        let content = database.read(Content::read)?;
        Ok(Stored { database, content, last: RefCell::new(None), hashes: OnceCell::new() })
    }

    /// Returns an evaluation, which is kept until another is asked for.
    fn evaluation(&self, at: usize) -> SharedEvaluation {
        if let Some((last, evaluation)) = &*self.last.borrow()
            && *last == at
        {
            return evaluation.clone();
        }
        let evaluation = self.database.read(|pages| self.read_evaluation(pages, at)).map(Rc::new);
        *self.last.borrow_mut() = Some((at, evaluation.clone()));
        evaluation
    }

    fn read_evaluation(&self, pages: &Pages<'_>, at: usize) -> Result<Evaluation, ReadError> {
        let stub = self.content.evaluations.get(at).ok_or_else(gone)?;
        let entries = self.content.entries.get(stub.entries.clone()).unwrap_or_default();
        let is_old = entries.first().is_some_and(|entry| entry.kind.is_old());
        let facts = match (&self.content.evals, stub.row) {
            (Some(evals), Some(row)) => read_facts(pages, evals, row, &stub.id),
            _ => list_facts(&stub.id, None, None),
        };
        if is_old {
            let evals = self.content.evals.as_ref().ok_or_else(gone)?;
            let text = read_old(pages, evals, stub.row.ok_or_else(gone)?)?;
            return Ok(Evaluation::Old(Results::read_stored(text, facts)?));
        }
        let table = self.content.results.as_ref().ok_or_else(gone)?;
        // A result that cannot be read fails in `read`, and leaves the others their names.
        let digest = |(at, entry): (usize, &Entry)| {
            let text = read_columns(pages, table, entry.row, &NAMING);
            text.map_or_else(|_| Digest::unreadable(at), |text| read_test(&text, at).0.digest())
        };
        let digests: Vec<Digest> = entries.iter().enumerate().map(digest).collect();
        Ok(Evaluation::New { places: place_tests(&digests), facts })
    }

    /// Returns a hash of each evaluation, with all that is read of its results.
    fn hash_evaluations(&self, pages: &Pages<'_>) -> Result<Vec<Option<u64>>, ReadError> {
        let stubs = &self.content.evaluations;
        let mut hashers = vec![Some(DefaultHasher::new()); stubs.len()];
        if let Some(table) = &self.content.results {
            let columns = RESULT_COLUMNS.map(|(column, _)| table.columns.position(column));
            let columns: Vec<usize> = columns.into_iter().flatten().collect();
            let places = self.content.entries.iter().filter(|entry| !entry.kind.is_old());
            let places: HashMap<i64, usize> =
                places.map(|entry| (entry.row, entry.evaluation)).collect();
            pages.rows(table, &columns, &mut |row, record| {
                let Some(place) = places.get(&row) else { return Ok(ControlFlow::Continue(())) };
                match (&mut hashers[*place], record) {
                    (Some(hasher), Ok(record)) => record.hash_into(hasher),
                    (hasher, _) => *hasher = None,
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        let evals = self.content.evals.as_ref();
        let hash = |(hasher, stub): (Option<DefaultHasher>, &Stub)| {
            let mut hasher = hasher?;
            if let (Some(evals), Some(row)) = (evals, stub.row) {
                let columns = ["description", "created_at", "results"];
                let columns = columns.map(|column| evals.columns.position(column));
                let columns: Vec<usize> = columns.into_iter().flatten().collect();
                pages.row(evals, row, &columns).ok()??.hash_into(&mut hasher);
            }
            Some(hasher.finish())
        };
        Ok(hashers.into_iter().zip(stubs).map(hash).collect())
    }

    fn read_result(
        &self,
        entry: Entry,
        place: NamePosition,
        facts: &[(String, Value)],
    ) -> Result<ImportedRun, ReadError> {
        let table = self.content.results.as_ref().ok_or_else(gone)?;
        let text =
            self.database.read(|pages| read_columns(pages, table, entry.row, &RESULT_COLUMNS))?;
        let name = read_test(&text, 0).0.name_at(place);
        Ok(read_named(&json::read_python(&text)?, name, DATABASE_RANK, facts))
    }
}

impl ImportedFile for Stored<'_> {
    fn len(&self) -> usize {
        self.content.entries.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        let entry = self.content.entries.get(at)?;
        let id = &self.content.evaluations.get(entry.evaluation)?.id;
        let name = match entry.kind {
            Kind::Row(test, prompt) => format!("{id} test {test} prompt {prompt}"),
            Kind::Named(at) => format!("{id} {}", self.content.names.get(at)?),
            Kind::Old(at) => format!("{id} result {at}"),
        };
        Some(if entry.copy > 1 { format!("{name} ({})", entry.copy) } else { name })
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        let entry = *self.content.entries.get(at).ok_or_else(gone)?;
        let evaluation = self.evaluation(entry.evaluation)?;
        match (&*evaluation, entry.kind) {
            (Evaluation::Old(results), Kind::Old(at)) => results.read(at),
            (Evaluation::New { places, facts }, Kind::Row(..) | Kind::Named(_)) => {
                let stub = self.content.evaluations.get(entry.evaluation).ok_or_else(gone)?;
                let place = places.get(at - stub.entries.start).ok_or_else(gone)?;
                self.read_result(entry, *place, facts)
            }
            _ => Err(gone()),
        }
    }

    /// Changes with the whole evaluation: the name of a result depends on the others.
    fn fingerprint(&self, at: usize) -> Option<u64> {
        let entry = self.content.entries.get(at)?;
        let read = || self.database.read(|pages| self.hash_evaluations(pages)).unwrap_or_default();
        let hash = (*self.hashes.get_or_init(read).get(entry.evaluation)?)?;
        let start = self.content.evaluations.get(entry.evaluation)?.entries.start;
        let mut hasher = DefaultHasher::new();
        (hash, at - start).hash(&mut hasher);
        Some(hasher.finish())
    }

    fn file_error(&self) -> Option<ReadError> {
        self.content.error.clone()
    }
}

impl Content {
    /// Lists the results of all evaluations.
    fn read(pages: &Pages<'_>) -> Result<Self, ReadError> {
        let mut content = Content {
            evals: pages.table("evals")?,
            results: pages.table("eval_results")?,
            bytes_left: pages.total_size(),
            ..Content::default()
        };
        if content.evals.is_none() && content.results.is_none() {
            let message = "The database has no table with evaluations of promptfoo.";
            return Err(ReadError::new(ReadErrorKind::NotTranscript, message));
        }
        // Places of the evaluations by id.
        let mut places = HashMap::new();
        for read in [Content::read_evals, Content::read_rows] {
            if let Err(error) = read(&mut content, pages, &mut places) {
                content.note(error);
            }
        }
        content.arrange();
        Ok(content)
    }

    /// Keeps the first error.
    fn note(&mut self, error: ReadError) {
        self.error.get_or_insert(error);
    }

    /// Counts the bytes of a row. Rows that are together larger than the database share their bytes,
    /// so that reading each of them could take for ever.
    fn count_bytes(&mut self, record: &Record) -> Result<(), ReadError> {
        let left = self.bytes_left.checked_sub(record.total_size());
        let message = "The database is damaged: its rows share their bytes.";
        let shared = || ReadError::new(ReadErrorKind::Syntax, message);
        self.bytes_left = left.ok_or_else(shared)?;
        Ok(())
    }

    /// Lists the evaluations, with the results of older ones.
    fn read_evals(
        &mut self,
        pages: &Pages<'_>,
        places: &mut HashMap<String, usize>,
    ) -> Result<(), ReadError> {
        let Some(table) = self.evals.clone() else { return Ok(()) };
        let columns = &table.columns;
        let Some(id) = columns.position("id") else { return Ok(()) };
        let results = columns.position("results");
        let mut old = Vec::new();
        let listed = pages.rows(&table, &[id], &mut |row, record| {
            if self.evaluations.len() >= MOST_RESULTS {
                self.note(too_many("evaluations"));
                return Ok(ControlFlow::Break(()));
            }
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    self.note(error);
                    return Ok(ControlFlow::Continue(()));
                }
            };
            self.count_bytes(&record)?;
            let Some(id) = evaluation_id(&record, id) else {
                let message = "The id of an evaluation is too long, or no text.";
                self.note(ReadError::new(ReadErrorKind::BadValue, message));
                return Ok(ControlFlow::Continue(()));
            };
            let at = self.evaluations.len();
            places.insert(id.to_owned(), at);
            self.evaluations.push(Stub { id: id.to_owned(), row: Some(row), entries: 0..0 });
            // Newer evaluations have next to nothing in this column.
            if results.is_some_and(|column| record.size(column) > 100) {
                old.push((at, row));
            }
            Ok(ControlFlow::Continue(()))
        });
        for (evaluation, row) in old {
            match read_old(pages, &table, row)
                .and_then(|text| Results::read_stored(text, Vec::new()))
            {
                Ok(results) => self.entries.extend((0..results.len()).map(|at| Entry {
                    evaluation,
                    row,
                    kind: Kind::Old(at),
                    copy: 1,
                })),
                Err(error) => self.note(error),
            }
        }
        listed
    }

    /// Lists the results that have a row each.
    fn read_rows(
        &mut self,
        pages: &Pages<'_>,
        places: &mut HashMap<String, usize>,
    ) -> Result<(), ReadError> {
        let Some(table) = self.results.clone() else { return Ok(()) };
        let wanted = ["eval_id", "test_idx", "prompt_idx"].map(|name| table.columns.position(name));
        let [Some(id), Some(test), Some(prompt)] = wanted else {
            let message = "The results of promptfoo's database lack a column.";
            return Err(ReadError::new(ReadErrorKind::BadValue, message));
        };
        // Older evaluations have no rows.
        let old: BTreeSet<usize> = self.entries.iter().map(|entry| entry.evaluation).collect();
        let own_id = table.columns.position("id");
        let columns: Vec<usize> = [id, test, prompt].into_iter().chain(own_id).collect();
        pages.rows(&table, &columns, &mut |row, record| {
            if self.entries.len() >= MOST_RESULTS {
                self.error = Some(too_many("results"));
                return Ok(ControlFlow::Break(()));
            }
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    self.note(error);
                    return Ok(ControlFlow::Continue(()));
                }
            };
            self.count_bytes(&record)?;
            let id = evaluation_id(&record, id).unwrap_or("unknown");
            let evaluation = places.get(id).copied().unwrap_or_else(|| {
                let at = self.evaluations.len();
                places.insert(id.to_owned(), at);
                self.evaluations.push(Stub { id: id.to_owned(), row: None, entries: 0..0 });
                at
            });
            if !old.contains(&evaluation) {
                let numbers = record.integer(test).zip(record.integer(prompt));
                let kind = numbers.map(|(test, prompt)| Kind::Row(test, prompt));
                let kind = kind.unwrap_or_else(|| {
                    // The id of the result stays the same when the database is packed.
                    let own = own_id.and_then(|column| evaluation_id(&record, column));
                    let own = own.filter(|own| !own.is_empty());
                    let name = own.map(|own| format!("result {own}"));
                    self.names.push(name.unwrap_or_else(|| format!("row {row}")));
                    Kind::Named(self.names.len() - 1)
                });
                self.entries.push(Entry { evaluation, row, kind, copy: 1 });
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Sorts the results by evaluation, and numbers those of equal names.
    fn arrange(&mut self) {
        self.entries.sort_by_key(|entry| entry.evaluation);
        let mut from = 0;
        while let Some(first) = self.entries.get(from) {
            let evaluation = first.evaluation;
            let rest = self.entries.get_mut(from..).unwrap_or_default();
            let count = rest.iter().take_while(|entry| entry.evaluation == evaluation).count();
            let mut copies: HashMap<(Option<&str>, Kind), u32> = HashMap::new();
            for entry in rest.iter_mut().take(count) {
                let key = match entry.kind {
                    Kind::Row(..) => (None, entry.kind),
                    Kind::Named(at) => (self.names.get(at).map(String::as_str), Kind::Named(0)),
                    Kind::Old(_) => continue,
                };
                let copy = copies.entry(key).or_default();
                *copy += 1;
                entry.copy = *copy;
            }
            if let Some(stub) = self.evaluations.get_mut(evaluation) {
                stub.entries = from..from + count;
            }
            from += count;
        }
    }
}

fn gone() -> ReadError {
    ReadError::new(ReadErrorKind::BadValue, "The database does not hold this result any more.")
}

fn too_many(what: &str) -> ReadError {
    let message = format!("Only the first {MOST_RESULTS} {what} are read.");
    ReadError::new(ReadErrorKind::TooLarge, message)
}

/// Returns the id of an evaluation or of a result. `None` if it is no text or too long for an id.
fn evaluation_id(record: &Record, column: usize) -> Option<&str> {
    record.text(column).filter(|id| id.len() <= MOST_ID_BYTES)
}

/// Reads columns of a result as the object that promptfoo exports.
fn read_columns(
    pages: &Pages<'_>,
    table: &Table,
    row: i64,
    columns: &[(&str, &str)],
) -> Result<String, ReadError> {
    let places: Vec<usize> =
        columns.iter().filter_map(|(column, _)| table.columns.position(column)).collect();
    let record = pages.row(table, row, &places)?.ok_or_else(gone)?;
    compose(&record, &table.columns, columns)
}

/// Reads the text with the results of an older evaluation.
fn read_old(pages: &Pages<'_>, evals: &Table, row: i64) -> Result<Vec<u8>, ReadError> {
    let column = evals.columns.position("results").ok_or_else(gone)?;
    let record = pages.row(evals, row, &[column])?.ok_or_else(gone)?;
    record.text(column).map(|text| text.as_bytes().to_vec()).ok_or_else(gone)
}

/// Reads what the database says about a whole evaluation. That is its id alone if its row cannot be
/// read.
fn read_facts(pages: &Pages<'_>, evals: &Table, row: i64, id: &str) -> Vec<(String, Value)> {
    let wanted = ["description", "created_at"].map(|name| evals.columns.position(name));
    let places: Vec<usize> = wanted.into_iter().flatten().collect();
    let record = pages.row(evals, row, &places).ok().flatten();
    let field = |column: Option<usize>| record.as_ref()?.get(column?);
    let text = |field: &Field| match field {
        Field::Integer(time) => Some(timestamps::from_milliseconds(*time)),
        Field::Bytes(bytes) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    };
    list_facts(id, field(wanted[0]).and_then(text), field(wanted[1]).and_then(text))
}

fn list_facts(
    id: &str,
    description: Option<String>,
    started: Option<String>,
) -> Vec<(String, Value)> {
    let facts = [
        ("evaluation", Some(id.to_owned())),
        ("evaluation description", description),
        ("evaluation started", started),
    ];
    let named = |(key, text): (&str, Option<String>)| Some((key.to_owned(), Value::Text(text?)));
    facts.into_iter().filter_map(named).collect()
}

/// Writes columns of a result as the object that promptfoo exports.
fn compose(
    record: &Record,
    table: &Columns,
    columns: &[(&str, &str)],
) -> Result<String, ReadError> {
    let mut members = Vec::new();
    for (column, key) in columns {
        let Some(at) = table.position(column) else { continue };
        let default = table.default_number(at).map(Field::Integer);
        let value = match record.get(at).or(default.as_ref()).unwrap_or(&Field::Null) {
            Field::Null => continue,
            Field::Integer(number) if *column == "success" => (*number != 0).to_string(),
            Field::Integer(number) => number.to_string(),
            Field::Real(number) => write_number(*number),
            Field::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| {
                    let message = format!("The column {column} holds bytes that are no text.");
                    ReadError::new(ReadErrorKind::NotUtf8, message)
                })?;
                write_text(column, text)?
            }
        };
        members.push(format!("\"{key}\":{value}"));
    }
    Ok(format!("{{{}}}", members.join(",")))
}

/// Writes the text of a column as JSON.
fn write_text(column: &str, text: &str) -> Result<String, ReadError> {
    if TEXTS.contains(&column) {
        return Ok(json::write(&Value::from(text), false));
    }
    if !pieces::is_whole(text) {
        let message = format!("The column {column} holds no complete JSON.");
        return Err(ReadError::new(ReadErrorKind::Syntax, message));
    }
    // The settings of a provider are left out of exported files.
    if column == "provider"
        && let Ok(Value::Map(mut entries)) = json::read_python(text)
    {
        entries.retain(|(key, _)| matches!(key.text(), Some("id" | "label")));
        return Ok(json::write(&Value::Map(entries), false));
    }
    Ok(text.to_owned())
}

/// Writes a number as JavaScript does.
fn write_number(number: f64) -> String {
    match number {
        number if !number.is_finite() => "null".to_owned(),
        number if number != 0.0 && number.abs() < 1e-6 => format!("{number:e}"),
        number => number.to_string(),
    }
}
