//! Tests of reused connections: they are as restricted as new ones, and used only while the file is
//! the one they were opened on.
use super::{BLOCKED, DatabaseFolder, SALES, run_sql, runtime};
use crate::bench::wait_until;
use fs_err as fs;
use rusqlite::Connection;
use std::time::Duration;
use touchstone_runner::tools::sql::SqlTool;

const COUNT: &str = "SELECT count(*) AS n FROM regions";
/// Runs enough steps for the time limit to be checked.
const LONG: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000) SELECT count(*) AS n FROM n";
const ENDLESS: &str =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS n FROM n";

impl DatabaseFolder {
    /// A tool whose connection has answered and is idle.
    fn warm(&self) -> SqlTool {
        let tool = self.tool_with(r#", "seconds": 1"#);
        self.ask_until_one_waits(&tool, 2);
        tool
    }

    /// Sends queries until the last change of the file is so old that a later one is sure to be
    /// detected.
    fn ask_until_one_waits(&self, tool: &SqlTool, regions: u32) {
        wait_until("a connection waits", || {
            assert_eq!(run_sql(tool, COUNT), format!(r#"[{{"n":{regions}}}]"#));
            (self.open_handles() == 1).then_some(())
        });
    }

    /// Number of times this process has the database open.
    fn open_handles(&self) -> usize {
        let database = fs::canonicalize(self.path("sales.db")).unwrap();
        let open = fs::read_dir("/proc/self/fd")
            .unwrap()
            .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        open.filter(|path| *path == database).count()
    }
}

/// Waits until a later change of the files written so far is sure to be detected.
fn settle() {
    DatabaseFolder::new().warm();
}

#[test]
fn one_connection_answers_one_question_after_the_other() {
    let ground = DatabaseFolder::new();
    let tool = ground.warm();
    for _ in 0..3 {
        assert_eq!(run_sql(&tool, COUNT), r#"[{"n":2}]"#);
        assert_eq!(ground.open_handles(), 1);
    }
    drop(tool);
    assert_eq!(ground.open_handles(), 0, "it ends with its tool");
}

#[test]
fn a_connection_that_answered_refuses_what_a_new_one_does() {
    for (sql, why) in BLOCKED {
        let ground = DatabaseFolder::new();
        let (before, tool) = (ground.files(), ground.warm());
        let said = run_sql(&tool, &sql.replace("{dir}", &ground.home.path().display().to_string()));
        assert!(said.starts_with("error: ") && said.contains(why), "{sql}: {said}");
        assert_eq!(ground.open_handles(), 0, "one that refused is asked nothing more: {sql}");
        drop(tool);
        assert!(ground.files() == before, "{sql} changed a file");
    }
}

#[test]
fn each_question_has_a_clock_of_its_own() {
    let ground = DatabaseFolder::new();
    let (tool, other) = (ground.warm(), ground.tool_with(r#", "seconds": 1"#));
    let too_long = "error: The query took longer than 1 second and was stopped. Ask for less.";
    // During this query, the time limit of the previous one expires.
    assert_eq!(run_sql(&other, ENDLESS), too_long);
    assert_eq!(run_sql(&tool, LONG), r#"[{"n":20000}]"#);
    assert_eq!(run_sql(&tool, ENDLESS), too_long);
    assert_eq!(ground.open_handles(), 0, "one that was stopped is asked nothing more");
    assert_eq!(run_sql(&tool, LONG), r#"[{"n":20000}]"#);
}

#[test]
fn another_file_in_its_place_is_opened_anew() {
    let ground = DatabaseFolder::new();
    let tool = ground.warm();
    let third = SALES.replace("(2, 'süd')", "(2, 'süd'), (3, 'east')");
    Connection::open(ground.path("next.db")).unwrap().execute_batch(&third).unwrap();
    let next = fs::read(ground.path("next.db")).unwrap();
    assert_eq!(
        next.len() as u64,
        fs::metadata(ground.path("sales.db")).unwrap().len(),
        "only what is in it differs"
    );

    let first = fs::read(ground.path("sales.db")).unwrap();
    fs::write(ground.path("sales.db"), &next).unwrap();
    ground.ask_until_one_waits(&tool, 3);

    fs::write(ground.path("again.db"), &first).unwrap();
    fs::rename(ground.path("again.db"), ground.path("sales.db")).unwrap();
    ground.ask_until_one_waits(&tool, 2);

    fs::remove_file(ground.path("sales.db")).unwrap();
    assert_eq!(run_sql(&tool, COUNT), "error: The database file is not there.");
    fs::write(ground.path("sales.db"), &next).unwrap();
    assert_eq!(run_sql(&tool, COUNT), r#"[{"n":3}]"#, "made again");
}

#[test]
fn where_another_program_writes_to_a_log_no_connection_waits() {
    let ground = DatabaseFolder::new();
    let tool = ground.warm();
    let write = Connection::open(ground.path("sales.db")).unwrap();
    write.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    write.execute("INSERT INTO regions VALUES (3, 'east')", []).unwrap();
    settle();
    for _ in 0..2 {
        assert_eq!(run_sql(&tool, COUNT), r#"[{"n":3}]"#);
    }
    drop(write);
    assert_eq!(ground.open_handles(), 0);
    assert!(!ground.path("sales.db-wal").exists(), "the last to close clears it away");
    settle();
    assert_eq!(run_sql(&tool, COUNT), r#"[{"n":3}]"#);
    assert_eq!(ground.open_handles(), 0);
}

#[test]
fn what_a_full_text_table_counts_is_not_told_to_the_next_one_who_asks() {
    let ground = DatabaseFolder::new();
    let open = Connection::open(ground.path("sales.db")).unwrap();
    open.execute_batch(
        "CREATE VIRTUAL TABLE words USING fts5(t); INSERT INTO words VALUES ('good morning');",
    )
    .unwrap();
    // The hidden column, which counts the queries so far.
    let count = "SELECT words FROM words";
    let counted = || open.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_ne!(counted(), counted(), "one connection counts, or this proves nothing");
    drop(open);
    let tool = ground.tool();
    let first = run_sql(&tool, count);
    assert!(first.starts_with(r#"[{"words":"#), "{first}");
    settle();
    for _ in 0..3 {
        assert_eq!(run_sql(&tool, count), first);
        assert_eq!(ground.open_handles(), 0);
    }
}

#[test]
fn nobody_who_writes_waits_for_a_connection_that_waits() {
    let ground = DatabaseFolder::new();
    let tool = ground.warm();
    let write = Connection::open(ground.path("sales.db")).unwrap();
    write.busy_timeout(Duration::ZERO).unwrap();
    write.execute_batch("BEGIN EXCLUSIVE; INSERT INTO regions VALUES (3, 'east'); COMMIT").unwrap();
    assert_eq!(run_sql(&tool, COUNT), r#"[{"n":3}]"#, "and what was written is seen");
}

#[test]
fn only_a_few_queries_may_wait() {
    let ground = DatabaseFolder::new();
    let tool = ground.tool_with(r#", "seconds": 60"#);
    ground.ask_until_one_waits(&tool, 2);
    runtime().block_on(async {
        let (sql, stop) = (super::params(LONG), tokio_util::sync::CancellationToken::new());
        let asked = futures_util::future::join_all((0..16).map(|_| tool.call(&sql, &stop)));
        let asked = tokio::time::timeout(Duration::from_mins(1), asked).await.unwrap();
        assert!(asked.iter().all(Result::is_ok), "{asked:?}");
    });
    assert!((1..=4).contains(&ground.open_handles()), "{}", ground.open_handles());
}
