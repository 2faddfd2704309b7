//! Tests of SQL queries to a PostgreSQL server: their results, and that no bypass writes, keeps
//! running or leaks into the next call. Every bypass is first shown to work without the protection.
use crate::postgres::{Database, PASSWORD, server};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_model::json;
use touchstone_model::value::Value;
use touchstone_runner::tools::sql::{SqlTool, postgres::opening};

fn tool_at(address: &str, more: &str) -> SqlTool {
    let settings =
        json::read(&format!(r#"{{"kind": "sql", "database": "{address}"{more}}}"#)).unwrap();
    SqlTool::open("shop", &settings, &server().dir, &|name| {
        (name == "PASSWORD").then(|| PASSWORD.to_owned())
    })
    .unwrap()
}

pub(crate) fn tool_as(role: &str, database: &Database, more: &str) -> SqlTool {
    tool_at(
        &format!("postgres://{role}:${{PASSWORD}}@127.0.0.1:{}/{}", database.port, database.name),
        more,
    )
}

pub(crate) fn params(sql: &str) -> Value {
    Value::Map(vec![(Value::from("sql"), Value::from(sql))])
}

pub(crate) async fn run_sql(tool: &SqlTool, sql: &str) -> String {
    let said = match tool.call(&params(sql), &CancellationToken::new()).await {
        Ok(value) => json::write(&value, false),
        Err(failure) => format!("error: {failure}"),
    };
    assert!(!said.contains("canary"), "{said}");
    said
}

/// Replaces the version numbers in a text, which differ between servers.
pub(crate) fn everywhere(text: &str) -> String {
    regex::Regex::new(r"(PostgreSQL|and) [\d.]+").unwrap().replace_all(text, "$1 SOME").into_owned()
}

/// A bypass: its control without the protections, and the calls of the model.
struct Bypass {
    name: &'static str,
    /// SQL that an unprotected tool would run first.
    before: &'static str,
    /// The calls of the model.
    calls: &'static [&'static str],
    /// SQL that an unprotected tool would run last.
    after: &'static str,
    simple: bool,
}

const INSERT: &str = "INSERT INTO items VALUES (3, 'three')";

const fn bypass(
    name: &'static str,
    before: &'static str,
    calls: &'static [&'static str],
    after: &'static str,
) -> Bypass {
    Bypass { name, before, calls, after, simple: false }
}

const WAYS: [Bypass; 16] = [
    Bypass {
        simple: true,
        ..bypass(
            "two statements in one",
            "BEGIN READ ONLY",
            &["COMMIT; INSERT INTO items VALUES (3, 'three')"],
            "ROLLBACK",
        )
    },
    bypass(
        "a setting changed in the call before",
        "SET default_transaction_read_only = on",
        &["SET default_transaction_read_only = off", INSERT],
        "",
    ),
    bypass(
        "a setting changed by a function",
        "SET default_transaction_read_only = on",
        &["SELECT set_config('default_transaction_read_only', 'off', false)", INSERT],
        "",
    ),
    bypass(
        "a block that commits",
        "SET default_transaction_read_only = on",
        &[
            "DO $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; INSERT INTO items VALUES (3, 'three'); END $$",
        ],
        "",
    ),
    bypass(
        "a procedure that commits",
        "SET default_transaction_read_only = on",
        &["CALL slip()"],
        "",
    ),
    bypass(
        "a transaction made one that writes",
        "BEGIN READ ONLY",
        &["SET TRANSACTION READ WRITE", INSERT],
        "COMMIT",
    ),
    bypass("a transaction ended in the call before", "BEGIN READ ONLY", &["COMMIT", INSERT], ""),
    bypass(
        "a transaction rolled back in the call before",
        "BEGIN READ ONLY",
        &["ROLLBACK", INSERT],
        "",
    ),
    bypass(
        "a transaction chained",
        "BEGIN READ ONLY",
        &["COMMIT AND CHAIN", "SET TRANSACTION READ WRITE", INSERT],
        "COMMIT",
    ),
    bypass(
        "a block that sets",
        "",
        &[
            "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); INSERT INTO items VALUES (3, 'x'); END $$",
        ],
        "",
    ),
    bypass("a plain statement", "", &[INSERT], ""),
    bypass(
        "a statement that gives rows",
        "",
        &["INSERT INTO items VALUES (3, 'three') RETURNING id"],
        "",
    ),
    bypass(
        "a query that deletes",
        "",
        &["WITH gone AS (DELETE FROM items RETURNING id) SELECT * FROM gone"],
        "",
    ),
    bypass("a plan that is carried out", "", &["EXPLAIN ANALYZE DELETE FROM items"], ""),
    bypass("a function that writes", "", &["SELECT sly()"], ""),
    bypass("a comment first", "", &["/* SELECT */ -- SELECT\n DELETE FROM items"], ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_way_round_writes_even_as_a_role_that_may() {
    let database = Database::new().await;
    for way in &WAYS {
        let open = database.as_role("rw").await;
        open.batch_execute(way.before).await.unwrap();
        for call in way.calls {
            // Only the result counts: an intermediate failure shows in the rows.
            if way.simple {
                let _ = open.simple_query(call).await;
            } else {
                let _ = open.execute(*call, &[]).await;
            }
        }
        let _ = open.batch_execute(way.after).await;
        assert_ne!(
            database.rows().await,
            2,
            "{}: does not write without guards, so it proves nothing",
            way.name
        );
        database.restore().await;

        let tool = tool_as("rw", &database, r#", "accept_writer": true"#);
        for call in way.calls {
            let said = run_sql(&tool, call).await;
            assert!(
                said.starts_with("error: ") || call.contains("set_config("),
                "{}: {call}: {said}",
                way.name
            );
        }
        assert_eq!(database.rows().await, 2, "{} wrote", way.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_transaction_alone_and_the_role_alone_keep_every_way_from_writing() {
    let database = Database::new().await;
    for way in &WAYS {
        for (role, guarded) in [("rw", true), ("ro", false)] {
            let client = database.as_role(role).await;
            for call in way.calls {
                if guarded {
                    client.batch_execute(&opening(Duration::from_secs(5))).await.unwrap();
                }
                let _ = client.execute(*call, &[]).await;
                if guarded {
                    client.batch_execute("ROLLBACK").await.unwrap();
                }
            }
            assert_eq!(database.rows().await, 2, "{} wrote as {role}", way.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_extended_protocol_alone_keeps_a_second_statement_from_running() {
    let database = Database::new().await;
    for before in ["", "BEGIN READ ONLY; SELECT 1"] {
        for first in ["SELECT 1", "SELECT 1; COMMIT", "COMMIT", "ROLLBACK; BEGIN"] {
            let both = format!("{first}; {INSERT}; COMMIT");
            // The role may write. A read-only transaction protects the data as long as it is not
            // ended.
            let is_held = !before.is_empty() && first == "SELECT 1";
            let open = database.as_role("rw").await;
            open.batch_execute(before).await.unwrap();
            let _ = open.simple_query(&both).await;
            assert_eq!(
                database.rows().await == 2,
                is_held,
                "{before}: {both}: the simple protocol"
            );
            database.restore().await;

            let open = database.as_role("rw").await;
            open.batch_execute(before).await.unwrap();
            let refused = open.execute(both.as_str(), &[]).await.unwrap_err();
            let refused = refused.as_db_error().unwrap().message().to_owned();
            assert_eq!(
                refused, "cannot insert multiple commands into a prepared statement",
                "{before}: {both}"
            );
            let _ = open.batch_execute("COMMIT").await;
            assert_eq!(database.rows().await, 2, "{before}: {both}: the extended protocol");

            let said =
                run_sql(&tool_as("rw", &database, r#", "accept_writer": true"#), &both).await;
            assert!(said.contains("cannot insert multiple commands"), "{both}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_transaction_does_not_hold_a_superuser_and_the_role_does() {
    let database = Database::new().await;
    let file = server().dir.join("copied");
    let copied = format!("COPY (SELECT 1) TO '{}'", file.display());
    let ways = [
        ("BEGIN READ ONLY; SELECT 1", "COPY (SELECT 1) TO PROGRAM 'cat >/dev/null'"),
        ("BEGIN READ ONLY; SELECT 1", copied.as_str()),
        ("BEGIN READ ONLY; SELECT 1", "SELECT pg_read_file('PG_VERSION')"),
        ("BEGIN READ ONLY; SELECT 1", "SELECT pg_import_system_collations('pg_catalog')"),
        // A newer server refuses large objects in a read-only transaction, so this one is shown
        // without it.
        ("BEGIN", "SELECT lo_import('PG_VERSION')"),
    ];
    let is_refused =
        |said: &str| said.contains("permission denied") || said.contains("must be superuser");
    for (before, sql) in ways {
        let boss = database.as_role("boss").await;
        boss.batch_execute(before).await.unwrap();
        let done = boss.execute(sql, &[]).await;
        assert!(done.is_ok(), "a superuser can, or it proves nothing: {sql}: {done:?}");
        assert_eq!(file.exists(), sql == copied, "{sql}");
        let _ = fs_err::remove_file(&file);

        let plain = database.as_role("ro").await;
        plain.batch_execute(before).await.unwrap();
        let refused = plain.execute(sql, &[]).await.unwrap_err();
        assert!(
            is_refused(refused.as_db_error().unwrap().message()),
            "{sql}: {refused:?}: the role alone"
        );
        let said = run_sql(&tool_as("ro", &database, ""), sql).await;
        assert!(is_refused(&said), "{sql}: {said}");
        assert!(!file.exists(), "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_role_that_reads_may_still_do_reaches_nobody() {
    let database = Database::new().await;
    let (_listening, mut heard) = database.listening("news").await;
    let (tool, plain) = (tool_as("ro", &database, ""), database.as_role("ro").await);
    for sql in ["NOTIFY news, 'a model'", "SELECT pg_notify('news', 'a model')"] {
        run_sql(&tool, sql).await;
        plain.batch_execute("NOTIFY news, 'anybody'").await.unwrap();
        assert_eq!(heard.recv().await.unwrap(), "anybody", "{sql} was heard");
    }
    // Queries of other users stay hidden; their connections are visible.
    let asked = "SELECT query FROM pg_stat_activity WHERE usename = 'boss' AND datname = current_database()";
    let boss = database.as_role("boss").await;
    boss.batch_execute("SELECT 'canary of the boss'").await.unwrap();
    let seen: String =
        database.as_role("postgres").await.query_one(asked, &[]).await.unwrap().get(0);
    assert_eq!(seen, "SELECT 'canary of the boss'", "a superuser sees it, or it proves nothing");
    assert_eq!(run_sql(&tool, asked).await, r#"[{"query":"<insufficient privilege>"}]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_time_that_one_call_lifts_holds_in_the_next() {
    let database = Database::new().await;
    let one = database.as_role("ro").await;
    one.batch_execute("SET statement_timeout = '200ms'").await.unwrap();
    let sleep = "SELECT pg_sleep(0.5)";
    one.execute(sleep, &[]).await.expect_err("a limit of the session ends it");
    one.execute("SET statement_timeout = 0", &[]).await.unwrap();
    one.execute(sleep, &[]).await.expect("and holds no more once it was lifted in a call before");

    let tool = tool_as("ro", &database, r#", "seconds": 1"#);
    for lift in ["SET statement_timeout = 0", "SELECT set_config('statement_timeout', '0', false)"]
    {
        run_sql(&tool, lift).await;
        let limit = "SELECT current_setting('statement_timeout') AS t, current_setting('lock_timeout') AS l";
        assert_eq!(run_sql(&tool, limit).await, r#"[{"t":"1s","l":"1s"}]"#, "after {lift}");
        let said = run_sql(&tool, "SELECT pg_sleep(60)").await;
        assert!(said.contains("took longer than 1 second"), "after {lift}: {said}");
        running(&database, 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_write_is_refused_unless_that_is_accepted() {
    let database = Database::new().await;
    let mut all = Vec::new();
    for role in ["ro", "rw", "member", "files", "boss"] {
        let tool = tool_as(role, &database, "");
        let checked = tool.check().await.unwrap_or_else(|unusable| {
            assert!(unusable.fix.unwrap().contains("GRANT SELECT"));
            unusable.message
        });
        all.push(everywhere(&checked));
        let called = run_sql(&tool, "SELECT count(*) AS n FROM items").await;
        assert_eq!(called == r#"[{"n":2}]"#, role == "ro", "{role}: {called}");
        let accepted = tool_as(role, &database, r#", "accept_writer": true"#);
        assert!(accepted.check().await.is_ok());
    }
    insta::assert_snapshot!(all.join("\n"), @"
    PostgreSQL SOME as ro, which may only read.
    The tool `shop`: The role rw may do more than read: it may write to public.items.
    The tool `shop`: The role member may do more than read: it may write to public.items.
    The tool `shop`: The role files may do more than read: it belongs to pg_read_server_files.
    The tool `shop`: The role boss may do more than read: it is a superuser, it may become the \
        superuser postgres, it may create roles or databases, or replicate and SOME more.
    ");
    let admin = database.as_role("postgres").await;
    for (grant, revoke, why) in [
        (
            "GRANT CREATE ON SCHEMA public TO ro",
            "REVOKE CREATE ON SCHEMA public FROM ro",
            "create tables in the schema public",
        ),
        (
            "GRANT UPDATE (name) ON items TO ro",
            "REVOKE UPDATE (name) ON items FROM ro",
            "write to public.items",
        ),
        (
            "GRANT TRUNCATE ON items TO PUBLIC",
            "REVOKE TRUNCATE ON items FROM PUBLIC",
            "write to public.items",
        ),
    ] {
        admin.batch_execute(grant).await.unwrap();
        let refused = tool_as("ro", &database, "").check().await.unwrap_err().message;
        assert!(refused.contains(why), "{grant}: {refused}");
        admin.batch_execute(revoke).await.unwrap();
        tool_as("ro", &database, "").check().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_call_is_left_for_the_next() {
    let database = Database::new().await;
    let one = database.as_role("ro").await;
    one.batch_execute(
        "SELECT pg_advisory_lock(7); SET search_path TO pg_catalog; CREATE TEMP TABLE t (x int)",
    )
    .await
    .unwrap();
    let left = "SELECT current_setting('search_path') || (SELECT count(*) FROM pg_catalog.pg_locks WHERE locktype = 'advisory' AND granted)
      || (SELECT count(*) FROM pg_catalog.pg_prepared_statements)::text AS left";
    let seen: String = one.query_one(left, &[]).await.unwrap().get(0);
    assert!(seen.starts_with("pg_catalog1"), "a session keeps what is set in it: {seen}");
    one.batch_execute("SELECT pg_advisory_unlock_all()").await.unwrap();

    let (first, second) = (tool_as("ro", &database, ""), tool_as("ro", &database, ""));
    for sql in [
        "SELECT pg_advisory_lock(7)",
        "SELECT set_config('search_path', 'pg_catalog', false)",
        "CREATE TEMP TABLE t (x int)",
        "PREPARE p AS SELECT 1",
        "LISTEN x",
        "DECLARE c CURSOR WITH HOLD FOR SELECT 1",
    ] {
        run_sql(&first, sql).await;
    }
    for tool in [&first, &second] {
        let clean = "SELECT current_setting('search_path') AS path, (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') AS locks";
        assert_eq!(run_sql(tool, clean).await, r#"[{"path":"\"$user\", public","locks":0}]"#);
        assert!(run_sql(tool, "SELECT * FROM t").await.contains("does not exist"));
        assert!(run_sql(tool, "EXECUTE p").await.contains("does not exist"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_ends_is_stopped_here_and_on_the_server() {
    let database = Database::new().await;
    let admin = database.as_role("postgres").await;
    admin.batch_execute("BEGIN; LOCK TABLE items IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let tool = tool_as("ro", &database, r#", "seconds": 1"#);
    for sql in [
        "SELECT pg_sleep(60)",
        "SELECT set_config('statement_timeout', '0', false), pg_sleep(60)",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "SELECT * FROM items",
    ] {
        let begun = Instant::now();
        let said = run_sql(&tool, sql).await;
        assert!(
            said.contains("took longer than 1 second") || said.contains("lock timeout"),
            "{sql}: {said}"
        );
        assert!(begun.elapsed() < Duration::from_secs(6), "{sql}: {:?}", begun.elapsed());
    }
    let stop = CancellationToken::new();
    let sleep = params("SELECT pg_sleep(60)");
    let patient = tool_as("ro", &database, "");
    let stopped = tokio::join!(patient.call(&sleep, &stop), async {
        running(&database, 1).await;
        stop.cancel();
    });
    assert_eq!(stopped.0.unwrap_err().message, "The query was stopped.");
    running(&database, 0).await;
}

/// Waits until a number of queries of `ro` run on the server.
async fn running(database: &Database, wanted: i64) {
    let admin = database.as_role("postgres").await;
    let begun = Instant::now();
    loop {
        let sql = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'ro' AND datname = \
            current_database() AND state = 'active' AND query LIKE '%pg_sleep%'";
        let now: i64 = admin.query_one(sql, &[]).await.unwrap().get(0);
        if now == wanted {
            return;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{now} queries run, {wanted} were expected"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_results_are_cut_and_say_so() {
    let database = Database::new().await;
    let tool = tool_as("ro", &database, r#", "rows": 3"#);
    insta::assert_snapshot!(
        run_sql(&tool, "SELECT generate_series(1, 1000000000000) AS n").await,
        @"{\"rows\":[{\"n\":1},{\"n\":2},{\"n\":3}],\"truncated\":true,\"note\":\"Only the first 3 \
         rows are here: there are more. Ask for less: fewer columns, a condition, or an aggregate.\"}"
    );
    let tool = tool_as("ro", &database, "");
    let rows = run_sql(&tool, "SELECT generate_series(1, 1000000000000) AS n;").await;
    assert!(rows.contains("Only the first 10000 rows are here"), "{}", &rows[rows.len() - 200..]);
    let bytes =
        run_sql(&tool, "SELECT repeat('x', 40000) AS x FROM generate_series(1, 1000)").await;
    assert!(bytes.contains("Only the first 26 rows are here") && bytes.len() < (1 << 20) + 300);
    for sql in [
        "SELECT repeat('x', 10000000) AS x",
        "SELECT array_agg(n) AS x FROM generate_series(1, 100000) n",
    ] {
        let cell = run_sql(&tool, sql).await;
        assert!(cell.len() < 66_000 && cell.contains("are cut"), "{sql}: {}", cell.len());
    }
    // The text after the `;` prevents the query from being wrapped, so the bytes of the connection
    // are counted.
    let raw = run_sql(&tool, "SELECT repeat('x', 300000000) AS x; -- raw").await;
    insta::assert_snapshot!(raw, @"error: The server sent more than 32 MiB. Ask for less.");
    let columns = vec!["1"; 201].join(", ");
    insta::assert_snapshot!(run_sql(&tool, &format!("SELECT {columns}")).await, @"\
        error: The result has 201 columns, and at most 200 come back: name those that are needed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gigabyte_in_one_value_does_not_arrive() {
    let database = Database::new().await;
    let said = run_sql(
        &tool_as("ro", &database, r#", "seconds": 5"#),
        "SELECT repeat('x', 1000000000) AS x",
    )
    .await;
    assert!(said.len() < 66_000, "{}", said.len());
    assert!(said.starts_with("error: ") || said.contains("are cut"), "{}", &said[..200]);
}
