//! Tests of PostgreSQL functions whose effects a rollback does not undo. Each is first shown to
//! have such an effect; a role that may run one is refused, and the statements in the error fix
//! that.
use crate::postgres::{Database, server};
use crate::sql_postgres::{said, tool_as};
use std::time::Duration;
use touchstone_runner::tools::sql::postgres::opening;

/// Returns the statements of a fix.
fn statements(fix: &str) -> Vec<String> {
    let found = regex::Regex::new("REVOKE EXECUTE [^;]*;").unwrap();
    found.find_iter(fix).map(|found| found.as_str().to_owned()).collect()
}

/// Runs a statement as `ro` in a read-only transaction, and rolls it back.
async fn rolled_back(database: &Database, sql: &str) {
    let client = database.as_role("ro").await;
    client.batch_execute(&opening(Duration::from_secs(5))).await.unwrap();
    client
        .execute(sql, &[])
        .await
        .unwrap_or_else(|why| panic!("without the check this works: {sql}: {why}"));
    client.batch_execute("ROLLBACK").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_survives_a_rollback_is_refused_until_the_printed_statements_take_it_away() {
    let database = Database::as_installed().await;
    let admin = database.as_role("postgres").await;
    let file = server().dir.join("survived");
    let program = format!(
        "CREATE FUNCTION by_owner() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
           $f$ BEGIN COPY (SELECT 1) TO PROGRAM 'cat > {}'; RETURN 1; END $f$",
        file.display()
    );
    admin.batch_execute(&program).await.unwrap();

    rolled_back(&database, "SELECT by_owner()").await;
    assert!(file.exists(), "the function of a superuser wrote a file");
    fs_err::remove_file(&file).unwrap();

    let end = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn > $1::text::numeric";
    let begin: String = admin
        .query_one("SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text", &[])
        .await
        .unwrap()
        .get(0);
    let message = "SELECT pg_logical_emit_message(false, 'p', repeat('x', 5000000))";
    rolled_back(&database, message).await;
    let wanted = (begin.parse::<f64>().unwrap() + 5e6).to_string();
    let has_grown: bool = admin.query_one(end, &[&wanted]).await.unwrap().get(0);
    assert!(has_grown, "the log of the server grew");

    let other = database.as_role("ro").await;
    let pid: i32 = other.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    rolled_back(&database, &format!("SELECT pg_terminate_backend({pid})")).await;
    let mut ended = false;
    while !ended {
        ended = other.execute("SELECT 1", &[]).await.is_err();
    }

    let refused = tool_as("ro", &database, "").check().await.unwrap_err();
    assert_eq!(
        refused.message,
        "The tool `shop`: The role ro may do more than read: it may run functions that a rollback does not undo: \
         pg_cancel_backend, pg_logical_emit_message, pg_terminate_backend, public.by_owner."
    );
    let fix = refused.fix.unwrap();
    assert!(fix.contains(&format!("in the database {}:", database.name)), "{fix}");
    let tool = tool_as("ro", &database, "");
    assert!(said(&tool, "SELECT by_owner()").await.contains("may do more than read"));
    assert!(!file.exists());

    let statements = statements(&fix);
    assert!(
        statements.contains(&"REVOKE EXECUTE ON ROUTINE public.by_owner() FROM PUBLIC;".to_owned()),
        "{statements:?}"
    );
    for statement in &statements {
        admin.batch_execute(statement).await.unwrap_or_else(|why| panic!("{statement}: {why}"));
    }
    assert!(tool_as("ro", &database, "").check().await.unwrap().contains("which may only read"));
    for sql in [
        "SELECT by_owner()",
        message,
        "SELECT pg_terminate_backend(0)",
        "SELECT pg_cancel_backend(0)",
    ] {
        let said = said(&tool, sql).await;
        assert!(said.contains("permission denied for function"), "{sql}: {said}");
    }
    assert!(!file.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_counts_however_the_role_came_by_it_and_only_if_it_can_be_called() {
    let database = Database::new().await;
    let admin = database.as_role("postgres").await;
    let function = |name: &str| {
        format!(
            "CREATE FUNCTION {name} RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'; REVOKE EXECUTE ON FUNCTION {name} FROM PUBLIC;"
        )
    };
    admin
        .batch_execute(&format!(
            "{}{}{} CREATE SCHEMA closed; {} GRANT EXECUTE ON FUNCTION closed.d() TO PUBLIC;
             CREATE FUNCTION on_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $f$ BEGIN RETURN NEW; END $f$;
             CREATE FUNCTION own() RETURNS int LANGUAGE sql AS 'SELECT 1';",
            function("a(int)"),
            function("a(text)"),
            function("\"odd Name\"()"),
            function("closed.d()")
        ))
        .await
        .unwrap();
    // None of these counts: a function without a grant to the role, in a closed schema, called by a
    // trigger, or with the rights of the caller.
    tool_as("ro", &database, "").check().await.unwrap();
    for (grant, name, statement) in [
        (
            "GRANT EXECUTE ON FUNCTION a(int) TO ro",
            "public.a",
            "REVOKE EXECUTE ON ROUTINE public.a(integer) FROM ro;",
        ),
        (
            "GRANT EXECUTE ON FUNCTION a(text) TO PUBLIC, ro",
            "public.a",
            "REVOKE EXECUTE ON ROUTINE public.a(text) FROM PUBLIC, ro;",
        ),
        (
            "GRANT EXECUTE ON FUNCTION \"odd Name\"() TO ro",
            "public.odd Name",
            "REVOKE EXECUTE ON ROUTINE public.\"odd Name\"() FROM ro;",
        ),
        (
            "GRANT EXECUTE ON FUNCTION pg_catalog.pg_read_file(text) TO ro",
            "pg_read_file",
            "REVOKE EXECUTE ON ROUTINE pg_catalog.pg_read_file(text) FROM ro;",
        ),
        (
            "GRANT EXECUTE ON FUNCTION pg_catalog.pg_stat_reset() TO ro",
            "pg_stat_reset",
            "REVOKE EXECUTE ON ROUTINE pg_catalog.pg_stat_reset() FROM ro;",
        ),
    ] {
        admin.batch_execute(grant).await.unwrap();
        let refused = tool_as("ro", &database, "").check().await.unwrap_err();
        assert!(refused.message.ends_with(&format!(": {name}.")), "{grant}: {}", refused.message);
        assert_eq!(statements(&refused.fix.unwrap()), [statement], "{grant}");
        let accepted = format!(r#", "accept_functions": ["{name}"]"#);
        tool_as("ro", &database, &accepted).check().await.unwrap();
        tool_as("ro", &database, r#", "accept_functions": ["other"]"#).check().await.unwrap_err();
        admin.batch_execute(statement).await.unwrap();
        tool_as("ro", &database, "").check().await.unwrap();
    }
    // Through a role of which it is a member.
    admin.batch_execute("GRANT EXECUTE ON FUNCTION a(int) TO rw").await.unwrap();
    let member = tool_as("member", &database, "").check().await.unwrap_err();
    assert_eq!(
        statements(&member.fix.unwrap()),
        ["REVOKE EXECUTE ON ROUTINE public.a(integer) FROM rw;"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_extension_that_reaches_other_servers_or_files_is_refused_until_it_is_taken_away() {
    let database = Database::new().await;
    let admin = database.as_role("postgres").await;
    for extension in ["dblink", "adminpack"] {
        if admin.batch_execute(&format!("CREATE EXTENSION {extension}")).await.is_err() {
            // Newer servers have no adminpack.
            continue;
        }
        // The functions of adminpack are reserved for superusers until they are granted to others.
        if extension == "adminpack" {
            admin
                .batch_execute("GRANT EXECUTE ON FUNCTION pg_file_unlink(text) TO PUBLIC")
                .await
                .unwrap();
        }
        let refused = tool_as("ro", &database, "").check().await.unwrap_err();
        let name =
            if extension == "dblink" { "public.dblink, public.dblink_" } else { "pg_file_unlink" };
        assert!(refused.message.contains(name), "{}", refused.message);
        for statement in statements(&refused.fix.unwrap()) {
            admin
                .batch_execute(&statement)
                .await
                .unwrap_or_else(|why| panic!("{statement}: {why}"));
        }
        tool_as("ro", &database, "").check().await.unwrap();
    }
    // Extensions that only compute are accepted.
    admin
        .batch_execute(
            "CREATE EXTENSION pg_trgm; CREATE EXTENSION citext; CREATE EXTENSION pgcrypto",
        )
        .await
        .unwrap();
    tool_as("ro", &database, "").check().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_advisory_lock_ends_with_its_call() {
    let database = Database::new().await;
    let tool = tool_as("ro", &database, "");
    for sql in [
        "SELECT pg_advisory_lock(7)",
        "SELECT pg_advisory_lock_shared(7)",
        "SELECT pg_try_advisory_lock(7)",
    ] {
        said(&tool, sql).await;
        let other = database.as_role("ro").await;
        let mut is_free = false;
        while !is_free {
            is_free = other.query_one("SELECT pg_try_advisory_lock(7)", &[]).await.unwrap().get(0);
        }
    }
}
