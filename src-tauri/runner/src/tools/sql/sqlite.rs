//! Read-only queries on an SQLite file. Owns the safeguards: the file is opened read-only, an
//! allow-list checks every action of a statement, sizes are limited, and long queries are stopped.
use super::idle::{Idle, Opened};
use super::process::{self, Question};
use super::schema::{self, Column, Table, quoted};
use super::shape::{self, Caps, Rows};
use super::{placed, stopped, too_long};
use crate::tools::{Called, ToolFailure, Unusable};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Number of SQLite VM steps between two checks of the clock.
const STEPS: i32 = 1000;

/// Extra time after the deadline, because a single step may be slow.
const GRACE: Duration = Duration::from_millis(500);

/// Maximum number of bytes of a value that a statement may create or read. Some functions take
/// quadratic time without a check of the clock.
const LARGEST: i32 = 1_000_000;

/// Maximum number of SQLite VM steps per query, which limits the work on fast machines as well.
const MOST_STEPS: u64 = if cfg!(test) { 2_000_000 } else { 2_000_000_000 };

/// Page cache size in SQLite's notation: a negative number of KiB.
const CACHE: i64 = -2000;

/// A database in a file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    idle: Arc<Idle>,
}

impl Sqlite {
    pub(super) fn new(path: PathBuf) -> Self {
        Sqlite { path, idle: Arc::default() }
    }

    pub(super) async fn call(&self, sql: &str, caps: &Caps, stop: &CancellationToken) -> Called {
        self.answer(Question::Rows(sql.to_owned()), caps, stop).await
    }

    pub(super) async fn schema(&self, caps: &Caps) -> Result<String, ToolFailure> {
        match self.answer(Question::Schema, caps, &CancellationToken::new()).await? {
            Value::Text(schema) => Ok(schema),
            _ => Err(ToolFailure::new("The tables of the database could not be read.")),
        }
    }

    pub(super) async fn check(&self, caps: &Caps) -> Result<String, Unusable> {
        let found = self.answer(Question::Count, caps, &CancellationToken::new()).await;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match found {
            Ok(count) => Ok(format!(
                "SQLite file {name} with {} tables and views, opened for reading only.",
                json::write(&count, false)
            )),
            Err(failure) => Err(Unusable {
                message: format!("{name}: {failure}"),
                fix: Some(
                    "Check `database` in touchstone.yaml: a path is relative to that file."
                        .to_owned(),
                ),
            }),
        }
    }

    /// Answers a question, in a process with limited memory if this program can start one. Returns
    /// at the deadline, whatever the process or thread is doing; dropping the future ends the work.
    async fn answer(&self, question: Question, caps: &Caps, stop: &CancellationToken) -> Called {
        let permit = tokio::select! {
            biased;
            () = stop.cancelled() => return Err(stopped()),
            permit = process::turn() => permit,
        };
        let (path, caps_there) = (self.path.clone(), *caps);
        let idle = Arc::clone(&self.idle);
        let here = stop.child_token();
        let _ends_with_us = here.clone().drop_guard();
        let deadline = Instant::now() + caps.time;
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let watch = Watch::until(deadline, here.clone());
            if process::is_set_up() {
                process::ask(&path, &question, &caps_there, deadline + GRACE, &here)
            } else {
                answer(&path, &question, &caps_there, watch, &idle)
            }
        });
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(stopped()),
            done = work => match done {
                Ok(Err(_)) if Instant::now() >= deadline => Err(too_long(caps)),
                Ok(done) => done,
                Err(_) => Err(ToolFailure::new("The database could not be read: the reader broke off.")),
            },
            () = tokio::time::sleep(caps.time + GRACE) => Err(too_long(caps)),
        }
    }
}

/// Answers a question about a file, on this thread.
pub(super) fn answer(
    path: &Path,
    question: &Question,
    caps: &Caps,
    watch: Watch,
    idle: &Idle,
) -> Called {
    match question {
        Question::Rows(sql) => {
            let steps = Arc::clone(&watch.steps);
            let asked = match idle.take(path) {
                Some(mut waiting) => watch.over(&mut waiting.connection).map(|()| waiting),
                None => open(path, watch),
            };
            let asked = asked?;
            let rows = ask(&asked.connection, sql, caps)
                .map_err(|failure| too_much_work(&steps).unwrap_or(failure))?;
            // Only a connection that succeeded is reused.
            idle.give(asked);
            Ok(rows)
        }
        Question::Schema => {
            let mut guarded = open(path, watch)?.connection;
            // These queries need the schema, which the allow-list hides from models.
            lift(&mut guarded)?;
            let tables = tables(&guarded).map_err(|error| failure(&error, ""))?;
            Ok(Value::Text(schema::write("SQLite", &tables)))
        }
        Question::Count => {
            let guarded = open(path, watch)?.connection;
            let count = "SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view')";
            let count = guarded.query_row(count, [], |row| row.get::<_, i64>(0));
            Ok(Value::Number(count.map_err(|error| failure(&error, ""))?.to_string()))
        }
    }
}

fn too_much_work(steps: &AtomicU64) -> Option<ToolFailure> {
    (steps.load(Ordering::Relaxed) > MOST_STEPS).then(|| {
        ToolFailure::new(
            "The query took more than 2,000,000,000 steps and was stopped. Ask for less: a condition, or fewer rows.",
        )
    })
}

/// Conditions that end a query early.
pub(super) struct Watch {
    deadline: Instant,
    stop: CancellationToken,
    steps: Arc<AtomicU64>,
}

impl Watch {
    pub(super) fn until(deadline: Instant, stop: CancellationToken) -> Self {
        Self { deadline, stop, steps: Arc::default() }
    }

    /// Installs the watch on a connection, in place of an earlier one.
    fn over(self, connection: &mut Connection) -> Result<(), ToolFailure> {
        self.begin(connection).map_err(|error| failure(&error, ""))
    }

    fn begin(self, connection: &mut Connection) -> rusqlite::Result<()> {
        let Watch { deadline, stop, steps } = self;
        connection.busy_timeout(
            deadline.saturating_duration_since(Instant::now()).min(Duration::from_secs(5)),
        )?;
        let each = u64::try_from(STEPS).unwrap_or_default();
        let is_over = move || {
            let taken = steps.fetch_add(each, Ordering::Relaxed) + each;
            taken > MOST_STEPS || stop.is_cancelled() || Instant::now() >= deadline
        };
        connection.progress_handler(STEPS, Some(is_over))
    }
}

/// Opens a file with all safeguards in place.
fn open(path: &Path, watch: Watch) -> Result<Opened, ToolFailure> {
    // A symbolic link in the settings is resolved here, once; SQLite itself follows none.
    let path = fs_err::canonicalize(path)
        .map_err(|_| ToolFailure::new("The database file is not there."))?;
    if !path.is_file() {
        return Err(ToolFailure::new("The database is not a file."));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let guarded = Opened::on(path, |path| {
        let mut connection = Connection::open_with_flags(path, flags)?;
        guard(&mut connection, watch)?;
        Ok(connection)
    });
    guarded.map_err(|error: rusqlite::Error| failure(&error, ""))
}

fn guard(connection: &mut Connection, watch: Watch) -> rusqlite::Result<()> {
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        // A misspelled column is an error, instead of a string with its name.
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    ] {
        connection.set_db_config(setting, on)?;
    }
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, LARGEST),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    watch.begin(connection)?;
    // Otherwise the file determines the size of its page cache.
    connection.pragma_update(None, "cache_size", CACHE)?;
    // Temporary data is never written to disk. Its memory is limited by `process`.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.authorizer(Some(judge))
}

fn lift(connection: &mut Connection) -> Result<(), ToolFailure> {
    let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
    connection.authorizer(none).map_err(|error| failure(&error, ""))
}

/// Allows a statement to read, and to call functions that only compute.
fn judge(context: AuthContext<'_>) -> Authorization {
    let fine = match context.action {
        // Full-text tables use this pragma to detect changes of their file.
        AuthAction::Select
        | AuthAction::Recursive
        | AuthAction::Pragma { pragma_name: "data_version", pragma_value: None } => true,
        AuthAction::Read { table_name, .. } => {
            !HIDDEN.iter().any(|hidden| table_name.starts_with(hidden))
        }
        AuthAction::Function { function_name } => {
            FUNCTIONS.split_whitespace().any(|known| known.eq_ignore_ascii_case(function_name))
        }
        _ => false,
    };
    if fine { Authorization::Allow } else { Authorization::Deny }
}

/// Virtual tables that run pragmas or expose raw pages.
const HIDDEN: [&str; 3] = ["pragma_", "sqlite_dbpage", "fts3tokenize"];

/// Functions that only compute. Others cannot be called, such as `load_extension`, `fts3_tokenizer`
/// and `readfile`.
const FUNCTIONS: &str = "
    abs avg char coalesce concat concat_ws count format glob group_concat hex if ifnull iif instr last_insert_rowid length like
    likelihood likely lower ltrim max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex
    sqlite_version string_agg substr substring subtype sum total trim typeof unhex unicode unistr unistr_quote unlikely upper
    zeroblob date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp acos acosh
    asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh
    sqrt tan tanh trunc median percentile percentile_cont percentile_disc row_number rank dense_rank percent_rank cume_dist
    ntile lag lead first_value last_value nth_value -> ->> json json_array json_array_length json_error_position json_extract
    json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote json_remove json_replace
    json_set json_type json_valid json_each json_tree jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object
    jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set json_array_insert jsonb_array_insert match bm25
    highlight snippet offsets matchinfo";

fn ask(connection: &Connection, sql: &str, caps: &Caps) -> Called {
    let said = |error: &rusqlite::Error| failure(error, sql);
    let mut statement = connection.prepare(sql).map_err(|error| said(&error))?;
    if !statement.readonly() {
        return Err(ToolFailure::new(ONLY_READS));
    }
    if statement.parameter_count() > 0 {
        return Err(ToolFailure::new(
            "The query has places for values (`?`), and there are none: write the values.",
        ));
    }
    let width = statement.column_count();
    if width == 0 {
        return Err(ToolFailure::new("There is no query in this text."));
    }
    let mut shaped = Rows::new(caps, statement.column_names())?;
    let mut rows = statement.query([]).map_err(|error| said(&error))?;
    while let Some(row) = rows.next().map_err(|error| said(&error))? {
        let cells: Result<Vec<Value>, _> = (0..width).map(|at| row.get_ref(at).map(cell)).collect();
        if !shaped.push(cells.map_err(|error| said(&error))?) {
            break;
        }
    }
    Ok(shaped.finish())
}

fn cell(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::Number(whole.to_string()),
        ValueRef::Real(float) => shape::float(float),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => shape::bytes(&bytes.len().to_string()),
    }
}

const ONLY_READS: &str =
    "Only one query that reads can be run here: SELECT, WITH … SELECT, VALUES or EXPLAIN.";

/// Converts an error: the database's message, without the path of the file.
fn failure(error: &rusqlite::Error, sql: &str) -> ToolFailure {
    use rusqlite::Error::{MultipleStatement, SqlInputError, SqliteFailure};
    let code = error.sqlite_error_code();
    let words = match error {
        MultipleStatement => {
            return ToolFailure::new(format!("There is more than one statement. {ONLY_READS}"));
        }
        SqlInputError { msg, offset, .. } => {
            let before = usize::try_from(*offset).ok().and_then(|offset| sql.get(..offset));
            placed(msg, sql, before.map(|before| before.chars().count() + 1))
        }
        SqliteFailure(_, Some(words)) if code != Some(ErrorCode::CannotOpen) => words.clone(),
        SqliteFailure(failure, _) => rusqlite::ffi::code_to_str(failure.extended_code).to_owned(),
        _ => "the database could not be read".to_owned(),
    };
    ToolFailure::new(match code {
        Some(ErrorCode::AuthorizationForStatementDenied) => format!("{words}. {ONLY_READS}"),
        Some(ErrorCode::TooBig) => format!("{words}: a value may have at most {LARGEST} bytes."),
        Some(ErrorCode::OutOfMemory) => process::too_much_memory(),
        _ => words,
    })
}

/// Returns tables and views with their columns and keys, sorted by name.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<Table>> {
    let mut list = connection.prepare(
        "SELECT name, type FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'view', 'virtual')
         AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name COLLATE BINARY LIMIT 5000",
    )?;
    let named =
        list.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    named
        .map(|named| {
            let named = named?;
            // A view that cannot be queried here does not hide the other tables.
            table(connection, &named).or_else(|error| left_out(&named, &error).ok_or(error))
        })
        .collect()
}

/// Returns a view without columns, with a note on the reason that it cannot be queried.
fn left_out((name, kind): &(String, String), error: &rusqlite::Error) -> Option<Table> {
    let note = format!("Cannot be asked here: {}", failure(error, "").message);
    let of_whole_file = matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::OperationInterrupted
                | ErrorCode::OutOfMemory
                | ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
        )
    );
    let is_left_out = kind == "view" && !of_whole_file;
    is_left_out.then(|| Table {
        name: quoted(name),
        kind: "VIEW",
        note: Some(note),
        ..Table::default()
    })
}

fn table(connection: &Connection, (name, kind): &(String, String)) -> rusqlite::Result<Table> {
    let mut columns = Vec::new();
    let mut key: Vec<(i64, String)> = Vec::new();
    let mut asked = connection.prepare(
        "SELECT name, type, \"notnull\", pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1",
    )?;
    let mut rows = asked.query([name])?;
    while let Some(row) = rows.next()? {
        let column: String = row.get(0)?;
        let place: i64 = row.get(3)?;
        if place > 0 {
            key.push((place, quoted(&column)));
        }
        columns.push(Column {
            name: quoted(&column),
            kind: row.get(1)?,
            required: row.get(2)?,
            note: None,
        });
    }
    key.sort();
    let names: Vec<String> = key.into_iter().map(|(_, name)| name).collect();
    let mut keys = if names.is_empty() {
        Vec::new()
    } else {
        vec![format!("PRIMARY KEY ({})", names.join(", "))]
    };
    keys.extend(references(connection, name)?);
    let kind = if kind == "view" { "VIEW" } else { "TABLE" };
    Ok(Table { name: quoted(name), kind, note: None, columns, keys })
}

fn references(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut asked = connection
        .prepare("SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id DESC, seq")?;
    let mut rows = asked.query([table])?;
    let mut keys: Vec<(i64, String, Vec<String>, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, other): (i64, String) = (row.get(0)?, row.get(1)?);
        if keys.last().is_none_or(|(last, ..)| *last != id) {
            keys.push((id, other, Vec::new(), Vec::new()));
        }
        if let Some((_, _, from, to)) = keys.last_mut() {
            from.push(quoted(&row.get::<_, String>(2)?));
            to.extend(row.get::<_, Option<String>>(3)?.map(|to| quoted(&to)));
        }
    }
    let written = keys.into_iter().map(|(_, other, from, to)| {
        let to = if to.is_empty() { String::new() } else { format!("({})", to.join(", ")) };
        format!("FOREIGN KEY ({}) REFERENCES {}{to}", from.join(", "), quoted(&other))
    });
    Ok(written.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_bounded_by_steps_and_not_by_the_clock_alone() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("a.db");
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
        let asked = |most: u64| {
            let sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000000000) SELECT count(*) FROM \
                       (SELECT n FROM c LIMIT MOST)";
            let watch =
                Watch::until(Instant::now() + Duration::from_hours(1), CancellationToken::new());
            let question = Question::Rows(sql.replace("MOST", &most.to_string()));
            answer(&file, &question, &Caps::default(), watch, &Idle::default())
        };
        asked(100).unwrap();
        let failure = asked(MOST_STEPS).unwrap_err();
        assert!(failure.message.contains("steps and was stopped"), "{failure}");
    }

    #[test]
    fn the_file_does_not_say_how_much_of_it_is_kept_in_memory() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("greedy.db");
        let write = Connection::open(&path).unwrap();
        write.execute_batch("PRAGMA default_cache_size = 1000000; CREATE TABLE t (x)").unwrap();
        let kept = |connection: &Connection| -> i64 {
            connection.query_row("PRAGMA cache_size", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(kept(&Connection::open(&path).unwrap()), 1_000_000, "without guards it does");
        let watch = Watch::until(Instant::now() + Duration::from_mins(1), CancellationToken::new());
        let mut guarded = open(&path, watch).unwrap().connection;
        assert_eq!(
            ask(&guarded, "SELECT count(*) AS n FROM t", &Caps::default())
                .map(|rows| rows.items().len()),
            Ok(1)
        );
        lift(&mut guarded).unwrap();
        assert_eq!(kept(&guarded), CACHE);
    }
}
