//! Answers queries on SQLite files in a separate process. A statement may need any amount of memory
//! before its first row, and SQLite counts memory per process; therefore each query has a process
//! with its own limit, which writes nothing to disk and is killed after a timeout. The process is
//! this program, started with `ARGUMENT`.
use super::idle::Idle;
use super::shape::Caps;
use super::sqlite::{self, Watch};
use super::stopped;
use crate::tools::{Called, ToolFailure};
use rusqlite::Connection;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use touchstone_model::json;
use touchstone_model::value::Value;

/// First argument that makes the program answer queries.
pub const ARGUMENT: &str = "answer-sqlite-questions";

/// Maximum memory that SQLite may use in one process, in MiB.
const HEAP: u64 = 128;

/// Maximum memory that a process may map in addition to its initial size, in MiB: for SQLite, rows
/// in transit, and the rest.
const MAPPED: u64 = 512;

/// Maximum number of queries answered concurrently; others wait.
const AT_A_TIME: usize = 8;

/// Maximum number of idle processes; they are shared by all databases.
const MOST_IDLE: usize = 4;

/// Interval of checks for cancellation while waiting for an answer.
const LOOK: Duration = Duration::from_millis(20);

/// Maximum number of bytes of a line. The size of rows is limited, and their text is escaped twice.
const LONGEST_ANSWER: usize = 64 << 20;

/// A request about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// Runs a model's query.
    Rows(String),
    /// Describes the tables as text.
    Schema,
    /// Counts tables and views.
    Count,
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static TURNS: Semaphore = Semaphore::const_new(AT_A_TIME);
static WAITING: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Sets the program to start with `ARGUMENT`. If it is not set, queries are answered in this
/// process, without a memory limit per query.
pub fn answer_with(program: PathBuf) {
    // Only the first call has an effect: a process has one program.
    let _ = PROGRAM.set(program);
}

pub(super) fn is_set_up() -> bool {
    PROGRAM.get().is_some()
}

/// Waits until another query may be answered.
pub(super) async fn turn() -> Option<SemaphorePermit<'static>> {
    TURNS.acquire().await.ok()
}

/// Returns the error for a query that needs too much memory.
pub(super) fn too_much_memory() -> String {
    format!(
        "The query needs more than {HEAP} MiB of memory and was stopped. Ask for less: a condition, fewer or shorter values, or an \
         aggregate that keeps less."
    )
}

/// Sends a request to a process, and kills the process if there is no answer by `deadline` or the
/// request is stopped. If the process exits early, it may have been killed by someone else, and the
/// request is sent once more to another process.
pub(super) fn ask(
    path: &Path,
    question: &Question,
    caps: &Caps,
    deadline: Instant,
    stop: &CancellationToken,
) -> Called {
    let broke_off = || ToolFailure::new("The database could not be read: the reader broke off.");
    let line = request(path, question, caps);
    let mut waiting = self::waiting().pop();
    for _ in 0..2 {
        // An idle process may have been killed meanwhile.
        let sent = waiting.take().and_then(|mut worker| worker.send(&line).ok().map(|()| worker));
        let mut worker = if let Some(worker) = sent {
            worker
        } else {
            let mut worker = Worker::start().map_err(|why| {
                ToolFailure::new(format!(
                    "The process that reads databases could not be started: {why}."
                ))
            })?;
            if worker.send(&line).is_err() {
                continue;
            }
            worker
        };
        let reply = match worker.reply(deadline, stop)? {
            WorkerReply::Line(reply) => reply,
            WorkerReply::Nothing => return Err(broke_off()),
            WorkerReply::End => continue,
        };
        let answer = answer_of(&reply).ok_or_else(broke_off)?;
        // Only a process that succeeded is reused.
        if answer.is_ok() {
            let mut waiting = self::waiting();
            if waiting.len() < MOST_IDLE {
                waiting.push(worker);
            }
        }
        return answer;
    }
    Err(broke_off())
}

/// Result of waiting for an answer.
enum WorkerReply {
    /// The answer.
    Line(String),
    /// An unusable answer, or none in time.
    Nothing,
    /// The process exited.
    End,
}

fn waiting() -> MutexGuard<'static, Vec<Worker>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that answers requests. It is killed on drop.
#[derive(Debug)]
struct Worker {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start() -> std::io::Result<Self> {
        let missing = || std::io::Error::other("its program is not known");
        let mut command = Command::new(PROGRAM.get().ok_or_else(missing)?);
        // The environment is cleared, because it may contain keys; only the path of libraries is
        // kept.
        command.arg(ARGUMENT).env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| name == "LD_LIBRARY_PATH"));
        // In its own process group, so that Ctrl-C in the terminal does not end queries in
        // progress.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(questions), Some(answers)) => {
                Ok(Self { child, questions, answers: BufReader::new(answers) })
            }
            _ => Err(std::io::Error::other("it has no pipes")),
        }
    }

    fn send(&mut self, line: &str) -> std::io::Result<()> {
        self.questions.write_all(line.as_bytes())?;
        self.questions.flush()
    }

    /// Returns the next line. Fails if the request was stopped.
    fn reply(
        &mut self,
        deadline: Instant,
        stop: &CancellationToken,
    ) -> Result<WorkerReply, ToolFailure> {
        let mut line = Vec::new();
        loop {
            if stop.is_cancelled() {
                return Err(stopped());
            }
            if Instant::now() >= deadline || line.len() > LONGEST_ANSWER {
                return Ok(WorkerReply::Nothing);
            }
            if self.answers.buffer().is_empty() && !self.has_more() {
                continue;
            }
            let Ok(piece) = self.answers.fill_buf() else { return Ok(WorkerReply::End) };
            if piece.is_empty() {
                return Ok(WorkerReply::End);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |end| end + 1);
            line.extend_from_slice(&piece[..end.unwrap_or(taken)]);
            self.answers.consume(taken);
            if end.is_some() {
                return Ok(String::from_utf8(line).map_or(WorkerReply::Nothing, WorkerReply::Line));
            }
        }
    }

    /// Waits briefly for output. Returns true if there is any, or if the output has ended.
    fn has_more(&self) -> bool {
        let moment = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
        let mut watched = [PollFd::new(self.answers.get_ref(), PollFlags::IN)];
        poll(&mut watched, Some(&moment)).is_ok_and(|ready| ready > 0)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn request(path: &Path, question: &Question, caps: &Caps) -> String {
    let number = |number: usize| Value::Number(number.to_string());
    let path: String = path.as_os_str().as_bytes().iter().fold(String::new(), |mut text, byte| {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    });
    let (kind, sql) = match question {
        Question::Rows(sql) => ("rows", sql.as_str()),
        Question::Schema => ("schema", ""),
        Question::Count => ("count", ""),
    };
    let fields = [
        ("path", Value::Text(path)),
        ("question", Value::from(kind)),
        ("sql", Value::from(sql)),
        ("rows", number(caps.rows)),
        ("bytes", number(caps.bytes)),
        ("cell", number(caps.cell)),
        ("columns", number(caps.columns)),
        ("ms", Value::Number(caps.time.as_millis().to_string())),
    ];
    let map = Value::Map(fields.map(|(name, value)| (Value::from(name), value)).into());
    format!("{}\n", json::write(&map, false))
}

/// Parses a request into file, question and limits.
fn read_request(line: &str) -> Option<(PathBuf, Question, Caps)> {
    let map = json::read(line).ok()?;
    let text = |name: &str| map.get(name).and_then(Value::text);
    let number = |name: &str| match map.get(name) {
        Some(Value::Number(text)) => text.parse::<usize>().ok(),
        _ => None,
    };
    let hex = text("path")?;
    let path: Option<Vec<u8>> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
        .collect();
    let question = match text("question")? {
        "rows" => Question::Rows(text("sql")?.to_owned()),
        "schema" => Question::Schema,
        "count" => Question::Count,
        _ => return None,
    };
    let caps = Caps {
        rows: number("rows")?,
        bytes: number("bytes")?,
        cell: number("cell")?,
        columns: number("columns")?,
        time: Duration::from_millis(number("ms")? as u64),
    };
    Some((PathBuf::from(std::ffi::OsString::from_vec(path?)), question, caps))
}

fn answer_of(line: &str) -> Option<Called> {
    let map = json::read(line).ok()?;
    if let Some(failure) = map.get("error").and_then(Value::text) {
        return Some(Err(ToolFailure::new(failure)));
    }
    map.get("value").cloned().map(Ok)
}

/// Answers requests from standard input, one per line, until it ends.
pub fn answer_questions() -> ExitCode {
    if end_with_who_asks().is_err() || bound().is_none() {
        // Without limits it answers nothing.
        return ExitCode::from(2);
    }
    let idle = Idle::default();
    let mut questions = BufReader::new(std::io::stdin().lock());
    let mut answers = std::io::stdout().lock();
    let mut line = String::new();
    loop {
        line.clear();
        match questions.by_ref().take(LONGEST_ANSWER as u64).read_line(&mut line) {
            Ok(0) | Err(_) => return ExitCode::SUCCESS,
            Ok(_) => {}
        }
        let Some((path, question, caps)) = read_request(&line) else { return ExitCode::from(2) };
        let watch = Watch::until(Instant::now() + caps.time, CancellationToken::new());
        let answer = match sqlite::answer(&path, &question, &caps, watch, &idle) {
            Ok(value) => ("value", value),
            Err(failure) => ("error", Value::Text(failure.message)),
        };
        let map = Value::Map(vec![(Value::from(answer.0), answer.1)]);
        if answers.write_all(format!("{}\n", json::write(&map, false)).as_bytes()).is_err()
            || answers.flush().is_err()
        {
            return ExitCode::SUCCESS;
        }
    }
}

/// Kills this process when the requesting process is gone, however it ended, because the answer is
/// no longer needed.
fn end_with_who_asks() -> std::io::Result<()> {
    let input = std::io::stdin();
    let watch = move || {
        // No events are requested; the closing of standard input's other end is always reported.
        let mut watched = [PollFd::new(&input, PollFlags::empty())];
        while poll(&mut watched, None).is_err() {}
        let _ = kill_process(getpid(), Signal::KILL);
    };
    std::thread::Builder::new()
        .name("who asks".to_owned())
        .stack_size(64 << 10)
        .spawn(watch)
        .map(drop)
}

/// Limits the memory of this process. Returns `None` if that fails.
fn bound() -> Option<()> {
    let heap = i64::try_from(HEAP << 20).ok()?;
    let connection = Connection::open_in_memory().ok()?;
    let is_set = connection
        .query_row(&format!("PRAGMA hard_heap_limit = {heap}"), [], |row| row.get::<_, i64>(0));
    if is_set != Ok(heap) {
        return None;
    }
    // Limit of the operating system, in case of memory that SQLite does not count.
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let mapped =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"))?;
    let most = (mapped.parse::<u64>().ok()? << 10) + (MAPPED << 20);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) }).ok()
}
