//! Tests of SQL queries to an SQLite file: their results, and that no query of a model changes a
//! file, reaches another or keeps running. Everything that is blocked is first shown to work on a
//! connection without the protections.
use fs_err as fs;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_runner::tools::sql::SqlTool;

mod connections;

/// A folder with a database in it.
pub(crate) struct DatabaseFolder {
    home: TempDir,
}

const SALES: &str = "
CREATE TABLE regions (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE sales (id INTEGER PRIMARY KEY, region_id INTEGER REFERENCES regions(id), amount REAL, note, picture BLOB);
CREATE INDEX by_name ON regions (name);
CREATE VIEW totals AS SELECT region_id, sum(amount) AS total FROM sales GROUP BY region_id;
INSERT INTO regions VALUES (1, 'north'), (2, 'süd');
INSERT INTO sales VALUES (1, 1, 0.1, 'first', x'0102'), (2, 1, 0.2, NULL, NULL), (9007199254740993, 2, 1e300, 7, x'00');
";

impl DatabaseFolder {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        Connection::open(home.path().join("sales.db")).unwrap().execute_batch(SALES).unwrap();
        DatabaseFolder { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn tool(&self) -> SqlTool {
        self.tool_with("")
    }

    fn tool_with(&self, more: &str) -> SqlTool {
        tool(
            self.home.path(),
            &format!(r#"{{"kind": "sql", "database": "sqlite:sales.db"{more}}}"#),
        )
        .unwrap()
    }

    /// Every file with its content, to detect changes.
    fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = fs::read_dir(self.home.path()).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> =
            entries.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    }
}

fn tool(base: &Path, settings: &str) -> Result<SqlTool, String> {
    let settings = json::read(settings).map_err(|error| error.to_string())?;
    SqlTool::open("sales", &settings, base, &|_| None).map_err(|unusable| unusable.message)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn params(sql: &str) -> Value {
    Value::Map(vec![(Value::from("sql"), Value::from(sql))])
}

fn run_sql(tool: &SqlTool, sql: &str) -> String {
    match runtime().block_on(tool.call(&params(sql), &CancellationToken::new())) {
        Ok(value) => json::write(&value, false),
        Err(failure) => format!("error: {failure}"),
    }
}

#[test]
fn rows_come_back_as_they_are_kept() {
    let ground = DatabaseFolder::new();
    let tool = ground.tool();
    insta::assert_snapshot!(
        run_sql(&tool, "SELECT * FROM sales ORDER BY id"),
        @"[{\"id\":1,\"region_id\":1,\"amount\":0.1,\"note\":\"first\",\"picture\":\"<2 \
         bytes>\"},{\"id\":2,\"region_id\":1,\"amount\":0.2,\"note\":null,\"picture\":null},\
         {\"id\":9007199254740993,\"region_id\":2,\"amount\":1e300,\"note\":7,\"picture\":\"<1 \
         byte>\"}]"
    );
    insta::assert_snapshot!(
        run_sql(&tool, "SELECT 0.1 + 0.2 AS sum, 1e999 AS much, 5.0, x'' AS x"),
        @r#"[{"sum":0.30000000000000004,"much":"Infinity","5.0":5.0,"x":"<0 bytes>"}]"#
    );
    insta::assert_snapshot!(run_sql(&tool, "SELECT s.id, r.id, r.name AS id FROM sales s JOIN \
        regions r ON r.id = region_id LIMIT 1"), @r#"[{"id":1,"id_2":1,"id_3":"north"}]"#);
    insta::assert_snapshot!(run_sql(&tool, "SELECT CAST(x'61ff' AS TEXT) AS torn"), @r#"[{"torn":"a�"}]"#);
    insta::assert_snapshot!(run_sql(&tool, "SELECT * FROM totals WHERE region_id = 3"), @"[]");
}

#[test]
fn what_analysts_write_is_allowed() {
    let ground = DatabaseFolder::new();
    let tool = ground.tool();
    for sql in [
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 5) SELECT sum(x) FROM n",
        "-- a comment first\n/* and another */ SELECT 1;",
        "SELECT 1; -- a comment behind",
        "VALUES (1, 2)",
        "EXPLAIN SELECT * FROM sales",
        "EXPLAIN QUERY PLAN SELECT * FROM sales WHERE id = 1",
        "SELECT name, row_number() OVER (ORDER BY id), lag(name) OVER (ORDER BY id) FROM regions",
        "SELECT strftime('%Y', '2024-05-06'), date('2024-05-06', '+1 day'), julianday('2024-01-01')",
        "SELECT json_extract('{\"a\": 1}', '$.a'), '{\"a\": 1}' ->> 'a', value FROM json_each('[1, 2]')",
        "SELECT upper(name) || printf('%.2f', 1.5), name LIKE 'n%', name GLOB 'n*', round(1.25, 1), coalesce(NULL, 1) FROM regions",
        "SELECT group_concat(name, ', '), string_agg(name, ';'), count(DISTINCT name), total(id) FROM regions",
        "SELECT sql FROM sqlite_schema WHERE type = 'table'",
        "SELECT * FROM sales NATURAL JOIN (SELECT id FROM regions UNION SELECT 1 EXCEPT SELECT 2 INTERSECT SELECT 1)",
        "SELECT CASE WHEN amount > 1 THEN 'much' END, CAST(amount AS INTEGER), iif(1, 2, 3), unhex('41') FROM sales",
    ] {
        let said = run_sql(&tool, sql);
        assert!(!said.starts_with("error"), "{sql}: {said}");
    }
}

#[test]
fn full_text_tables_can_be_asked() {
    let ground = DatabaseFolder::new();
    let write = Connection::open(ground.path("sales.db")).unwrap();
    write
        .execute_batch(
            "CREATE VIRTUAL TABLE words USING fts5(t); INSERT INTO words VALUES ('good morning');",
        )
        .unwrap();
    insta::assert_snapshot!(run_sql(&ground.tool(), "SELECT t, bm25(words) < 0 AS ranked FROM \
        words WHERE words MATCH 'morning'"), @r#"[{"t":"good morning","ranked":1}]"#);
}

/// Statements that must fail, with a part of the error. `open` shows that each works without the
/// protections.
const BLOCKED: [(&str, &str); 26] = [
    ("INSERT INTO regions VALUES (3, 'east')", "not authorized"),
    ("UPDATE regions SET name = 'x'", "not authorized"),
    ("DELETE FROM sales", "not authorized"),
    ("DROP TABLE sales", "not authorized"),
    ("CREATE TABLE t (x)", "not authorized"),
    ("CREATE TEMP TABLE t (x)", "not authorized"),
    ("CREATE TEMP VIEW v AS SELECT 1", "not authorized"),
    ("ALTER TABLE regions RENAME TO r", "not authorized"),
    ("VACUUM", "Only one query that reads"),
    ("VACUUM INTO '{dir}/copy.db'", "Only one query that reads"),
    ("ATTACH '{dir}/other.db' AS other", "not authorized"),
    ("PRAGMA user_version = 7", "not authorized"),
    ("PRAGMA query_only = 0", "not authorized"),
    ("PRAGMA writable_schema = 1", "not authorized"),
    ("PRAGMA journal_mode = WAL", "not authorized"),
    ("PRAGMA table_info(regions)", "not authorized"),
    ("SELECT * FROM pragma_table_info('regions')", "prohibited"),
    ("SELECT * FROM pragma_database_list", "prohibited"),
    ("BEGIN IMMEDIATE", "not authorized"),
    ("SAVEPOINT s", "not authorized"),
    ("REINDEX", "not authorized"),
    ("ANALYZE", "not authorized"),
    ("/* first */ -- second\n DELETE FROM sales", "not authorized"),
    ("EXPLAIN DELETE FROM sales", "not authorized"),
    (
        "WITH gone AS (SELECT 1) DELETE FROM sales WHERE id IN (SELECT * FROM gone)",
        "not authorized",
    ),
    ("INSERT INTO regions VALUES (4, 'west') RETURNING id", "not authorized"),
];

#[test]
fn everything_but_reading_is_refused_and_works_without_the_guards() {
    for (sql, why) in BLOCKED {
        let open = DatabaseFolder::new();
        let sql_there = sql.replace("{dir}", &open.home.path().display().to_string());
        let unguarded = Connection::open(open.path("sales.db")).unwrap();
        let tried = unguarded.prepare(&sql_there).and_then(|mut statement| {
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        });
        assert!(tried.is_ok(), "without guards this works, or it proves nothing: {sql}: {tried:?}");

        let ground = DatabaseFolder::new();
        let before = ground.files();
        let said = run_sql(
            &ground.tool(),
            &sql.replace("{dir}", &ground.home.path().display().to_string()),
        );
        assert!(said.starts_with("error: ") && said.contains(why), "{sql}: {said}");
        assert!(
            !said.contains(&ground.home.path().display().to_string()) || sql.contains("{dir}"),
            "{said}"
        );
        assert!(ground.files() == before, "{sql} changed a file");
    }
}

#[test]
fn a_second_statement_is_refused_and_not_run() {
    let open = DatabaseFolder::new();
    let both = "SELECT 1; DELETE FROM sales";
    Connection::open(open.path("sales.db")).unwrap().execute_batch(both).unwrap();
    let left: i64 = Connection::open(open.path("sales.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM sales", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0, "a batch runs both");
    let ground = DatabaseFolder::new();
    for sql in
        [both, "SELECT 1; SELECT 2", "SELECT 1;; /* x */ ;DROP TABLE sales", ";SELECT 1; COMMIT"]
    {
        let before = ground.files();
        let said = run_sql(&ground.tool(), sql);
        assert!(said.starts_with("error: "), "{sql}: {said}");
        assert!(ground.files() == before, "{sql} changed a file");
    }
    insta::assert_snapshot!(run_sql(&ground.tool(), "SELECT 1; SELECT 2"), @"\
        error: There is more than one statement. Only one query that reads can be run here: \
        SELECT, WITH … SELECT, VALUES or EXPLAIN.");
}

#[test]
fn functions_that_reach_out_are_not_there() {
    let unguarded = Connection::open_in_memory().unwrap();
    for sql in ["SELECT fts3_tokenizer('simple') IS NOT NULL", "SELECT sqlite_compileoption_get(0)"]
    {
        assert!(unguarded.query_row(sql, [], |_| Ok(())).is_ok(), "{sql}");
    }
    let known = unguarded
        .query_row("SELECT load_extension('/nonexistent')", [], |_| Ok(()))
        .unwrap_err()
        .to_string();
    assert!(!known.contains("no such function"), "the function is there without guards: {known}");
    let ground = DatabaseFolder::new();
    let given = [
        "SELECT load_extension('/tmp/x.so')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT sqlite_compileoption_get(0)",
        "SELECT readfile('/etc/passwd')",
        "SELECT writefile('/tmp/touchstone-x', 'y')",
        "SELECT edit('x')",
    ];
    insta::assert_snapshot!(given.map(|sql| run_sql(&ground.tool(), sql)).join("\n"), @"
    error: not authorized to use function: load_extension (at character 8: `load_extension('/tmp/x.s`)
    error: not authorized to use function: fts3_tokenizer (at character 8: `fts3_tokenizer('simple')`)
    error: not authorized to use function: sqlite_compileoption_get (at character 8: `sqlite_compileoption_get`)
    error: no such function: readfile (at character 8: `readfile('/etc/passwd')`)
    error: no such function: writefile (at character 8: `writefile('/tmp/touchsto`)
    error: no such function: edit (at character 8: `edit('x')`)
    ");
}

#[test]
fn what_never_ends_is_stopped_in_time() {
    let ground = DatabaseFolder::new();
    let tool = ground.tool_with(r#", "seconds": 1"#);
    for sql in [
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000000000000) SELECT max(x) FROM n",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000) SELECT count(*) FROM n a, n b, n c",
    ] {
        let begun = Instant::now();
        assert_eq!(
            run_sql(&tool, sql),
            "error: The query took longer than 1 second and was stopped. Ask for less."
        );
        assert!(begun.elapsed() < Duration::from_secs(4), "{sql}: {:?}", begun.elapsed());
    }
}

#[test]
fn a_person_who_presses_stop_does_not_wait() {
    let ground = DatabaseFolder::new();
    let tool = ground.tool();
    let stop = CancellationToken::new();
    let begun = Instant::now();
    let result = runtime().block_on(async {
        let endless = params("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n");
        let (result, ()) = tokio::join!(tool.call(&endless, &stop), async { stop.cancel() });
        result
    });
    assert_eq!(result.unwrap_err().message, "The query was stopped.");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn large_results_are_cut_and_say_so() {
    let ground = DatabaseFolder::new();
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 1000000000000) SELECT x FROM n";
    insta::assert_snapshot!(
        run_sql(&ground.tool_with(r#", "rows": 3"#), endless),
        @"{\"rows\":[{\"x\":1},{\"x\":2},{\"x\":3}],\"truncated\":true,\"note\":\"Only the first 3 \
         rows are here: there are more. Ask for less: fewer columns, a condition, or an aggregate.\"}"
    );
    let whole = run_sql(&ground.tool(), endless);
    assert!(
        whole.contains("Only the first 10000 rows are here")
            && whole.contains("\"truncated\":true")
    );
    let wide = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100) SELECT hex(zeroblob(20000)) AS h FROM n";
    let cut = run_sql(&ground.tool(), wide);
    assert!(
        cut.contains("Only the first 26 rows are here: more do not fit into 1 MiB."),
        "{}",
        &cut[cut.len() - 200..]
    );
    assert!(cut.len() < (1 << 20) + 300);
    let cell = run_sql(&ground.tool(), "SELECT hex(zeroblob(40000)) AS h");
    assert!(
        cell.len() < 66_000 && cell.contains("Values longer than 64 KiB are cut"),
        "{}",
        cell.len()
    );
    for large in [
        "SELECT randomblob(500000000)",
        "SELECT hex(zeroblob(900000))",
        "SELECT printf('%.*c', 500000000, 'x')",
    ] {
        let said = run_sql(&ground.tool(), large);
        assert!(
            said.contains("too big") || said.contains("null"),
            "{large}: {}",
            &said[..said.len().min(200)]
        );
    }
    let columns = vec!["1"; 201].join(", ");
    insta::assert_snapshot!(run_sql(&ground.tool(), &format!("SELECT {columns}")), @"\
        error: The result has 201 columns, and at most 200 come back: name those that are needed.");
}

#[test]
fn a_large_value_can_be_asked_about_without_being_shown() {
    let ground = DatabaseFolder::new();
    let write = Connection::open(ground.path("sales.db")).unwrap();
    write
        .execute_batch(
            "CREATE TABLE books (id, text); INSERT INTO books VALUES (1, hex(zeroblob(2000000)))",
        )
        .unwrap();
    insta::assert_snapshot!(run_sql(&ground.tool(), "SELECT id FROM books"), @r#"[{"id":1}]"#);
    insta::assert_snapshot!(run_sql(&ground.tool(), "SELECT length(text) AS l FROM books"), @"\
        error: string or blob too big: a value may have at most 1000000 bytes.");
}

#[test]
fn errors_are_in_the_words_of_the_database_with_their_place() {
    let ground = DatabaseFolder::new();
    let given = [
        "SELECT nme FROM regions",
        "SELECT \"north\" FROM regions",
        "SELECT 'ü' FRMO regions",
        "SELECT * FROM nowhere",
        "SELECT",
        "SELECT ?1",
        "-- nothing",
        "",
        "SELECT abs(-9223372036854775808)",
    ];
    insta::assert_snapshot!(given.map(|sql| run_sql(&ground.tool(), sql)).join("\n"), @r#"
    error: no such column: nme (at character 8: `nme FROM regions`)
    error: no such column: "north" - should this be a string literal in single-quotes? (at character 8: `"north" FROM regions`)
    error: near "regions": syntax error (at character 17: `regions`)
    error: no such table: nowhere
    error: incomplete input
    error: The query has places for values (`?`), and there are none: write the values.
    error: There is no query in this text.
    error: `sql` is empty.
    error: integer overflow
    "#);
    let wrong =
        runtime().block_on(ground.tool().call(&Value::from("SELECT 1"), &CancellationToken::new()));
    insta::assert_snapshot!(wrong.unwrap_err(), @"The arguments have to be a JSON object with the query as text in `sql`.");
}

#[test]
fn the_schema_is_read_as_sql_and_stays_the_same() {
    let ground = DatabaseFolder::new();
    let write = Connection::open(ground.path("sales.db")).unwrap();
    write.execute_batch("CREATE VIRTUAL TABLE words USING fts5(t); CREATE TABLE \"Odd name\" (\"a b\", k TEXT, PRIMARY KEY (k, \"a b\"))").unwrap();
    let schema = runtime().block_on(ground.tool().schema()).unwrap();
    assert_eq!(runtime().block_on(ground.tool().schema()).unwrap(), schema);
    insta::assert_snapshot!(schema, @r#"
    -- SQLite
    CREATE TABLE "Odd name" (
      "a b",
      k TEXT,
      PRIMARY KEY (k, "a b")
    );
    CREATE TABLE regions (
      id INTEGER,
      name TEXT NOT NULL,
      PRIMARY KEY (id)
    );
    CREATE TABLE sales (
      id INTEGER,
      region_id INTEGER,
      amount REAL,
      note,
      picture BLOB,
      PRIMARY KEY (id),
      FOREIGN KEY (region_id) REFERENCES regions(id)
    );
    CREATE VIEW totals (
      region_id INTEGER,
      total
    );
    CREATE TABLE words (
      t
    );
    "#);
}

#[test]
fn a_file_that_is_written_meanwhile_is_read_as_it_is_now() {
    for mode in ["DELETE", "WAL"] {
        let ground = DatabaseFolder::new();
        let write = Connection::open(ground.path("sales.db")).unwrap();
        write.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |_| Ok(())).unwrap();
        let tool = ground.tool();
        assert_eq!(run_sql(&tool, "SELECT count(*) AS n FROM regions"), r#"[{"n":2}]"#);
        write.execute("INSERT INTO regions VALUES (3, 'east')", []).unwrap();
        assert_eq!(run_sql(&tool, "SELECT count(*) AS n FROM regions"), r#"[{"n":3}]"#);
        write.execute_batch("BEGIN IMMEDIATE; INSERT INTO regions VALUES (4, 'west');").unwrap();
        assert_eq!(run_sql(&tool, "SELECT count(*) AS n FROM regions"), r#"[{"n":3}]"#, "{mode}");
    }
}

#[test]
fn a_database_that_cannot_be_used_says_why_and_how_to_mend_it() {
    let ground = DatabaseFolder::new();
    fs::write(
        ground.path("text.db"),
        "this is no database, and long enough to be looked at as one: ".repeat(50),
    )
    .unwrap();
    fs::create_dir(ground.path("folder")).unwrap();
    let check = |database: &str| {
        let tool = tool(ground.home.path(), &format!(r#"{{"database": "{database}"}}"#)).unwrap();
        runtime()
            .block_on(tool.check())
            .unwrap_or_else(|unusable| format!("{} | {}", unusable.message, unusable.fix.unwrap()))
    };
    let given = ["sqlite:sales.db", "sqlite:missing.db", "sqlite:text.db", "sqlite:folder"];
    insta::assert_snapshot!(given.map(check).join("\n"), @"
    SQLite file sales.db with 3 tables and views, opened for reading only.
    The tool `sales`: missing.db: The database file is not there. | Check `database` in touchstone.yaml: a path is relative to that file.
    The tool `sales`: text.db: file is not a database | Check `database` in touchstone.yaml: a path is relative to that file.
    The tool `sales`: folder: The database is not a file. | Check `database` in touchstone.yaml: a path is relative to that file.
    ");
    let given = [
        "{}",
        r#"{"database": "sqlite:sales.db", "rows": 0}"#,
        r#"{"database": "sqlite:sales.db", "accept_writer": "yes"}"#,
        r#"{"database": "postgres://me:hunter2@h/d"}"#,
    ];
    let refused = given.map(|settings| tool(ground.home.path(), settings).unwrap_err());
    insta::assert_snapshot!(refused.join("\n"), @"
    The tool `sales`: `database` is missing.
    The tool `sales`: `rows` has to be a whole number above 0.
    The tool `sales`: `accept_writer` has to be true or false.
    The tool `sales`: The address of the database holds a password, and passwords do not belong in this file.
    ");
}

#[test]
fn the_tool_is_offered_with_one_parameter() {
    let ground = DatabaseFolder::new();
    let offer = ground.tool_with(r#", "description": "Sales of all shops.""#).offer();
    insta::assert_snapshot!(format!("{}: {}\n{}", offer.name, offer.description, json::write(&offer.parameters, false)), @r#"
    sales: Sales of all shops. Runs one read-only SQL query (SQLite) and gives its rows back as a list of objects.
    {"type":"object","properties":{"sql":{"type":"string","description":"One SQLite query."}},"required":["sql"],"additionalProperties":false}
    "#);
}

#[test]
fn a_view_that_may_not_be_asked_is_left_out_with_the_reason_and_hides_nothing_else() {
    for forbidden in [
        "SELECT load_extension('/tmp/x.so')",
        "SELECT * FROM pragma_database_list",
        "SELECT name FROM pragma_table_info('sales')",
        "SELECT * FROM gone",
        "SELECT no_such_function(1)",
    ] {
        let ground = DatabaseFolder::new();
        let write = Connection::open(ground.path("sales.db")).unwrap();
        write
            .execute_batch(&format!(
                "CREATE TABLE gone (x); CREATE VIEW forbidden AS {forbidden}; DROP TABLE gone"
            ))
            .unwrap();
        drop(write);
        let tool = ground.tool();
        runtime().block_on(tool.check()).unwrap_or_else(|why| panic!("{forbidden}: {why}"));
        let schema =
            runtime().block_on(tool.schema()).unwrap_or_else(|why| panic!("{forbidden}: {why}"));
        assert!(
            schema.contains("CREATE TABLE sales") && schema.contains("CREATE VIEW totals"),
            "{forbidden}: {schema}"
        );
        assert!(
            schema.contains("VIEW forbidden") && schema.contains("Cannot be asked here: "),
            "{forbidden}: {schema}"
        );
        assert_eq!(
            run_sql(&tool, "SELECT count(*) AS n FROM sales"),
            r#"[{"n":3}]"#,
            "{forbidden}"
        );
        assert!(run_sql(&tool, "SELECT * FROM forbidden").starts_with("error: "), "{forbidden}");
    }
}
