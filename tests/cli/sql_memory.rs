//! Tests of SQL that needs more memory than a machine has: it ends with an error that the model
//! sees, in a process with bounded memory, and writes nothing to disk. The process is the one that
//! the program itself uses.
use crate::evaluating::until;
use crate::sandbox::Sandbox;
use crate::scripted::{Reply, Scripted};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Arc, Mutex, OnceLock},
};

/// Maximum memory of a query process, in KiB: the limit of SQLite (128 MiB), rows in transit, and
/// the program.
const MOST_MEMORY: u64 = 320 << 10;
/// Maximum number of bytes that it may write, which is its answer.
const MOST_WRITTEN: u64 = 4 << 20;

/// Timeout of a query. Its memory has to end it, also on a machine that is busy.
const PATIENCE_MS: u64 = 600_000;

/// The query process, started like the program does.
struct QueryProcess {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl QueryProcess {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command
            .arg("answer-sqlite-questions")
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let questions = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, questions, answers }
    }

    fn ask(&mut self, database: &Path, sql: &str) -> Value {
        let path: String = database
            .to_str()
            .unwrap()
            .bytes()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        let question = json!({ "path": path, "question": "rows", "sql": sql, "rows": 100, "bytes": 1 << 20, "cell": 1 << 16,
            "columns": 200, "ms": PATIENCE_MS });
        writeln!(self.questions, "{question}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|why| panic!("{sql}: {why}: {line:?}"))
    }

    /// Reads a number of the process from `/proc`.
    fn number(&self, file: &str, name: &str) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        value.split_whitespace().next().unwrap().parse().unwrap()
    }
}

impl Drop for QueryProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn database(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.folder.join("sales.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE sales (id INTEGER PRIMARY KEY, amount REAL); INSERT INTO sales VALUES (1, 0.5)")
        .unwrap();
    path
}

/// Two queries that once exhausted the memory, and others like them.
const GREEDY: [(&str, &str); 16] = [
    (
        "a recursion that is materialised",
        "WITH RECURSIVE c(a, n) AS (SELECT zeroblob(900000), 1 UNION ALL SELECT zeroblob(900000), \
         n + 1 FROM c WHERE n < 40000), m AS MATERIALIZED (SELECT * FROM c) SELECT count(*) FROM m \
         x, m y",
    ),
    (
        "a list of JSON",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000), l AS \
         (SELECT json_group_array(hex(randomblob(4000))) OVER (PARTITION BY n % 10000) AS j FROM \
         c) SELECT count(*), sum(length(j)) FROM (SELECT j FROM l ORDER BY j)",
    ),
    (
        "an object of JSON",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) \
         SELECT length(json_group_object(n, hex(zeroblob(1000)))) FROM (SELECT n FROM c LIMIT 100000)",
    ),
    (
        "texts that are joined",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT \
         length(group_concat(n, hex(zeroblob(1000)))) FROM (SELECT n FROM c LIMIT 100000)",
    ),
    (
        "groups of texts that are joined",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT \
         count(*) FROM (SELECT group_concat(n) FROM c GROUP BY hex(randomblob(1000)))",
    ),
    (
        "a sort",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT x FROM (SELECT hex(randomblob(5000)) AS x FROM c) ORDER BY x",
    ),
    (
        "what is distinct",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT count(DISTINCT randomblob(20000)) FROM c",
    ),
    (
        "a union",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT \
         count(*) FROM (SELECT randomblob(20000) FROM c UNION SELECT randomblob(20000) FROM c)",
    ),
    (
        "a recursion that keeps what it saw",
        "WITH RECURSIVE c(a) AS (SELECT randomblob(50000) UNION SELECT randomblob(50000) FROM c LIMIT 1000000) SELECT count(*) FROM c",
    ),
    (
        "a queue that grows",
        "WITH RECURSIVE c(a) AS (SELECT zeroblob(100000) UNION ALL SELECT a FROM c UNION ALL SELECT a FROM c) SELECT count(*) FROM c",
    ),
    (
        "a window",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT \
         sum(length(x)) FROM (SELECT last_value(hex(zeroblob(20000)) || n) OVER (ORDER BY n ROWS \
         BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS x FROM c)",
    ),
    ("one blob", "SELECT length(randomblob(1000000000))"),
    ("one text", "SELECT length(printf('%1000000000d', 1))"),
    (
        "a text that grows",
        "SELECT length(replace(replace(hex(zeroblob(100000)), '0', hex(zeroblob(1000))), '0', hex(zeroblob(1000))))",
    ),
    (
        "a text that doubles, kept",
        "WITH RECURSIVE c(a, n) AS (SELECT 'x', 1 UNION ALL SELECT CASE WHEN length(a) < 400000 \
         THEN a || a ELSE a END, n + 1 FROM c WHERE n < 100000), m AS MATERIALIZED (SELECT * FROM \
         c) SELECT count(*) FROM m x, m y",
    ),
    (
        "numbered rows",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 1000000) SELECT \
         max(r) FROM (SELECT row_number() OVER (PARTITION BY x ORDER BY n) AS r FROM (SELECT n, \
         hex(randomblob(2000)) AS x FROM c))",
    ),
];

#[test]
fn a_query_that_needs_too_much_ends_with_an_error_within_bounded_memory_and_writes_nothing() {
    let sandbox = Sandbox::with("sql-memory", &[]);
    let database = database(&sandbox);
    for (name, sql) in GREEDY {
        let mut answering = QueryProcess::start();
        let answer = answering.ask(&database, sql);
        // A text that is too long for `printf` becomes null.
        let error = answer["error"].as_str().unwrap_or_default().to_owned();
        let is_nothing = name == "one text"
            && answer["value"][0].as_object().is_some_and(|row| row.values().all(Value::is_null));
        let is_said =
            is_nothing || ["of memory", "too big"].iter().any(|word| error.contains(word));
        let (peak, written) =
            (answering.number("status", "VmHWM:"), answering.number("io", "wchar:"));
        println!("{name}: {error}; peak {} MiB", peak >> 10);
        assert!(is_said, "{name}: {answer}");
        assert!(peak < MOST_MEMORY, "{name}: {peak} KiB");
        assert!(written < MOST_WRITTEN, "{name}: {written} bytes written");
        let next = answering.ask(&database, "SELECT id, amount FROM sales");
        assert_eq!(
            next,
            json!({ "value": [{ "id": 1, "amount": 0.5 }] }),
            "{name}: the next question is answered"
        );
    }
}

/// A folder with a task whose model runs these queries one by one, then ends. Each query is stopped
/// after some seconds. `look` is called at each request of the model.
fn asking(
    name: &str,
    queries: &'static [&'static str],
    seconds: u64,
    look: impl Fn() + Send + Sync + 'static,
) -> (Sandbox, Scripted) {
    let server = Scripted::start(move |seen| {
        look();
        let request = seen.json();
        let messages = request["messages"].as_array().unwrap();
        let results = messages.iter().filter(|message| message["role"] == "tool").count();
        let message = match queries.get(results) {
            None => json!({ "role": "assistant", "content": "<answer>done</answer>" }),
            Some(sql) => {
                json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("c{results}"), "type": "function", "function": {
                "name": request["tools"][0]["function"]["name"], "arguments": json!({ "sql": sql }).to_string() } }] })
            }
        };
        let finish = if message["tool_calls"].is_null() { "stop" } else { "tool_calls" };
        Reply::json(
            &json!({ "model": "m", "choices": [{ "index": 0, "finish_reason": finish, "message": message }],
            "usage": { "prompt_tokens": 1, "completion_tokens": 1 } }),
        )
    });
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any }}\n\
         tools:\n  sales: {{ kind: sql, database: 'sqlite:sales.db', seconds: {seconds} }}\n"
    );
    let task = "tool_calling_prompt: Count.\n";
    let sandbox =
        Sandbox::with(name, &[("touchstone.yaml", &workspace), ("tasks/count.yaml", task)]);
    database(&sandbox);
    (sandbox, server)
}

const RUN: [&str; 7] = ["run", ".", "--system", "tool_calling", "--model", "local", "--json"];

#[test]
fn a_run_is_told_that_its_query_needs_too_much_and_goes_on() {
    let (sandbox, server) = asking("sql-memory-run", &[GREEDY[0].1], 600, || ());
    let ran = sandbox.run(&RUN);
    assert_eq!(ran.status, 0, "{ran:?}");
    let told = server.seen().last().unwrap().json()["messages"].to_string();
    assert!(told.contains("needs more than 128 MiB of memory"), "{told}");
}

/// A query that runs until its deadline.
const ENDLESS: &str = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000000000) SELECT count(*) FROM c";

/// Seconds after which a query is stopped, longer than any test.
const LATER: u64 = 600;

/// A run whose query is in progress.
struct Busy {
    child: Child,
    reader: u32,
    sandbox: Sandbox,
    server: Scripted,
}

impl Busy {
    fn begin(name: &str, seconds: u64) -> Self {
        let (sandbox, server) = asking(name, &[ENDLESS], seconds, || ());
        let mut command = sandbox.command(&RUN);
        // In its own process group, since a terminal sends its signals to the whole group.
        let child =
            command.process_group(0).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut busy = Self { child, reader: 0, sandbox, server };
        busy.reader = busy.next_reader();
        busy
    }

    /// Waits until a query process other than the previous one is busy.
    fn next_reader(&self) -> u32 {
        let found = std::cell::Cell::new(None);
        until("a process answers", || {
            let others =
                readers(self.child.id()).into_iter().filter(|reader| *reader != self.reader);
            // The processes that listed the tables took almost no CPU time.
            let works = |reader: &u32| {
                fields(*reader)
                    .get(11)
                    .and_then(|ticks| ticks.parse().ok())
                    .is_some_and(|ticks: u64| ticks > 20)
            };
            found.set(others.into_iter().find(works));
            found.get().is_some()
        });
        found.get().unwrap()
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the fields of `/proc/PID/stat` from the state on; `Z` alone if the process is gone.
fn fields(process: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let rest = stat.rsplit_once(") ").map_or("Z", |(_, rest)| rest);
    rest.split_whitespace().map(str::to_owned).collect()
}

fn is_gone(process: u32) -> bool {
    matches!(fields(process)[0].as_str(), "Z" | "X")
}

/// Returns the query processes of a parent.
fn readers(parent: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let asks = |id: &u32| {
        fs::read_to_string(format!("/proc/{id}/cmdline"))
            .is_ok_and(|line| line.contains("answer-sqlite-questions"))
    };
    ids.filter(|id| fields(*id).get(1) == Some(&parent.to_string()) && asks(id)).collect()
}

fn signal(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(i32::try_from(process).unwrap()).unwrap(), signal).unwrap();
}

fn kill(process: u32) {
    signal(process, Signal::KILL);
}

#[test]
fn a_query_that_its_process_does_not_end_in_time_is_ended_with_the_process() {
    let mut busy = Busy::begin("sql-deadline", 15);
    // The process cannot look at its own clock any more.
    signal(busy.reader, Signal::STOP);
    assert!(busy.child.wait().unwrap().success(), "the run goes on");
    assert!(is_gone(busy.reader), "a stopped process is killed and not left behind");
    let told = busy.server.seen().last().unwrap().json()["messages"].to_string();
    assert!(told.contains("The query took longer than 15 seconds and was stopped."), "{told}");
    assert_eq!(busy.server.seen().len(), 2);
}

/// Returns the query processes that work in a folder.
fn readers_in(folder: &Path) -> BTreeSet<u32> {
    let parents = fs::read_dir("/proc").unwrap().flatten();
    let ids = parents.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_here =
        |id: &u32| fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == folder);
    ids.filter(is_here).flat_map(readers).collect()
}

#[test]
fn the_process_of_a_query_answers_the_next_one_unless_the_query_failed() {
    const QUERIES: [&str; 4] = [
        "SELECT id FROM sales",
        "SELECT amount FROM sales",
        "SELECT no_such_column FROM sales",
        "SELECT amount FROM sales",
    ];
    let folder = Arc::new(OnceLock::<PathBuf>::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (place, looks) = (Arc::clone(&folder), Arc::clone(&seen));
    let look = move || {
        let found = place.get().map(|folder| readers_in(folder)).unwrap_or_default();
        looks.lock().unwrap().push(found);
    };
    let (sandbox, server) = asking("sql-idle", &QUERIES, LATER, look);
    folder.set(sandbox.folder.canonicalize().unwrap()).unwrap();
    let ran = sandbox.run(&RUN);
    assert_eq!((ran.status, server.seen().len()), (0, 5), "{ran:?}");
    let told = server.seen().last().unwrap().json()["messages"].to_string();
    assert!(told.contains("0.5") && told.contains("no_such_column"), "{told}");
    let [before, first, second, failed, last] = seen.lock().unwrap().clone().try_into().unwrap();
    assert_eq!(before.len(), 1, "the process that listed the tables waits");
    assert_eq!((&first, &second), (&before, &before), "it answers both queries");
    assert_eq!(failed, BTreeSet::new(), "after a failure it is not used again");
    assert_eq!(last.len(), 1);
    assert!(last.is_disjoint(&first), "the next query has a new one");
}

#[test]
fn a_key_of_the_terminal_ends_no_question_and_a_second_one_leaves_nothing_at_work() {
    let mut busy = Busy::begin("sql-interrupted", LATER);
    until("interrupts are listened to", || {
        crate::evaluating::is_caught(&busy.child.id().to_string(), 2)
    });
    kill_process_group(busy.group(), Signal::INT).unwrap();
    assert_ne!(fields(busy.reader)[2], busy.child.id().to_string(), "it is in a group of its own");
    let (group, reader) = (busy.group(), busy.reader);
    assert!(!is_gone(reader));
    let child = std::cell::RefCell::new(&mut busy.child);
    // Two signals in quick succession may be received as one, so the signal is repeated.
    until("it has ended", || {
        let _ = kill_process_group(group, Signal::INT);
        child.borrow_mut().try_wait().unwrap().is_some()
    });
    until("nothing is at work", || is_gone(reader));
    assert_eq!(busy.server.seen().len(), 1, "no result was told to the model");
    let file = busy.sandbox.folder.join("results/count-tool_calling-local-variation0.yaml");
    let text = fs::read_to_string(file).unwrap_or_default();
    assert!(
        !text.contains("could not be read"),
        "a question that was given up is no error: {text}"
    );
}

#[test]
fn a_program_that_is_killed_leaves_no_question_at_work() {
    let busy = Busy::begin("sql-killed", LATER);
    kill(busy.child.id());
    until("nothing is at work", || is_gone(busy.reader));
}

#[test]
fn a_question_whose_reader_breaks_off_is_asked_once_more_and_then_is_an_error() {
    let mut busy = Busy::begin("sql-broken", LATER);
    kill(busy.reader);
    busy.reader = busy.next_reader();
    kill(busy.reader);
    assert!(busy.child.wait().unwrap().success());
    let told = busy.server.seen().last().unwrap().json()["messages"].to_string();
    assert!(told.contains("the reader broke off"), "{told}");
    assert_eq!(busy.server.seen().len(), 2);
}
