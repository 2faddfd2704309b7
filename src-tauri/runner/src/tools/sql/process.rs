//! Questions to SQLite files in a process of their own. A statement may need any amount of memory
//! before its first row, and SQLite counts memory for a whole process, so whoever answers shares it
//! with nobody: it has a bound of its own, writes nothing to a disk, and is ended when it takes too
//! long. It is this program, begun again with `ARGUMENT`.
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
use touchstone_formats::json;
use touchstone_formats::value::Value;

/// The first argument of a process that answers questions.
pub const ARGUMENT: &str = "answer-sqlite-questions";

/// Most memory that SQLite may take in one process, in MiB.
const HEAP: u64 = 128;

/// Most memory that a process may map beyond what it has when it begins, in MiB: what SQLite may
/// take, rows on their way, and the rest.
const MAPPED: u64 = 512;

/// Questions that are answered at the same time; others wait for their turn.
const AT_A_TIME: usize = 8;

/// Processes that wait for the next question, about whatever database.
const MOST_IDLE: usize = 4;

/// Between two looks whether an answer is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Longest line of an answer: rows are bounded, and their text is escaped twice.
const LONGEST_ANSWER: usize = 64 << 20;

/// What is asked of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    /// What a model wrote.
    Rows(String),
    /// Its tables, as a text.
    Schema,
    /// How many tables and views it has.
    Count,
}

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static TURNS: Semaphore = Semaphore::const_new(AT_A_TIME);
static WAITING: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

/// Names the program that answers when it is begun with `ARGUMENT`. Without one, questions are
/// answered in this process, where nothing bounds the memory of a single one.
pub fn answer_with(program: PathBuf) {
    // The first word counts: a process has one program.
    let _ = PROGRAM.set(program);
}

pub(super) fn is_set_up() -> bool {
    PROGRAM.get().is_some()
}

/// Waits until another question may be answered.
pub(super) async fn turn() -> Option<SemaphorePermit<'static>> {
    TURNS.acquire().await.ok()
}

/// What a question comes to that needs too much memory.
pub(super) fn too_much_memory() -> String {
    format!(
        "The query needs more than {HEAP} MiB of memory and was stopped. Ask for less: a condition, fewer or shorter values, or an \
         aggregate that keeps less."
    )
}

/// Asks a process, and ends it when there is no answer by `deadline` or it was stopped. One that
/// breaks off says nothing about the question, for somebody else may have ended it: another is
/// asked, once.
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
        // One that waited may have been ended meanwhile.
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
            Heard::Line(reply) => reply,
            Heard::Nothing => return Err(broke_off()),
            Heard::End => continue,
        };
        let answer = answer_of(&reply).ok_or_else(broke_off)?;
        // Only one that did what it should is asked again.
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

/// What came of waiting for an answer.
enum Heard {
    /// The answer.
    Line(String),
    /// None that can be used, or none in time.
    Nothing,
    /// It broke off.
    End,
}

fn waiting() -> MutexGuard<'static, Vec<Worker>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that answers, ended when it is dropped.
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
        // No key of this process is in its surroundings. What its libraries are found by may be.
        command.arg(ARGUMENT).env_clear();
        command.envs(std::env::vars_os().filter(|(name, _)| name == "LD_LIBRARY_PATH"));
        // In a process group of its own: a key of the terminal that asks us to stop ends no
        // question that is under way.
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

    /// The next line. An error when nobody waits any more.
    fn reply(&mut self, deadline: Instant, stop: &CancellationToken) -> Result<Heard, ToolFailure> {
        let mut line = Vec::new();
        loop {
            if stop.is_cancelled() {
                return Err(stopped());
            }
            if Instant::now() >= deadline || line.len() > LONGEST_ANSWER {
                return Ok(Heard::Nothing);
            }
            if self.answers.buffer().is_empty() && !self.has_more() {
                continue;
            }
            let Ok(piece) = self.answers.fill_buf() else { return Ok(Heard::End) };
            if piece.is_empty() {
                return Ok(Heard::End);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(piece.len(), |end| end + 1);
            line.extend_from_slice(&piece[..end.unwrap_or(taken)]);
            self.answers.consume(taken);
            if end.is_some() {
                return Ok(String::from_utf8(line).map_or(Heard::Nothing, Heard::Line));
            }
        }
    }

    /// Waits a moment for something to read. True when there is, or an end.
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

/// A question as it was sent, with the file and the bounds.
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

/// Answers questions from standard input, a line each, until there are no more.
pub fn answer_questions() -> ExitCode {
    if end_with_who_asks().is_err() || bound().is_none() {
        // Without its bounds it answers nothing.
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

/// Watches whoever asks: when they are gone, however they ended, nobody wants the answer that is
/// being looked for.
fn end_with_who_asks() -> std::io::Result<()> {
    let input = std::io::stdin();
    let watch = move || {
        // Nothing is waited for but the other end of standard input being shut, which is always
        // told.
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

/// Bounds the memory of this process. None when that cannot be done.
fn bound() -> Option<()> {
    let heap = i64::try_from(HEAP << 20).ok()?;
    let connection = Connection::open_in_memory().ok()?;
    let is_set = connection
        .query_row(&format!("PRAGMA hard_heap_limit = {heap}"), [], |row| row.get::<_, i64>(0));
    if is_set != Ok(heap) {
        return None;
    }
    // The system's own bound, should memory be taken that SQLite does not count.
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let mapped =
        status.lines().find_map(|line| line.strip_prefix("VmSize:")?.trim().strip_suffix(" kB"))?;
    let most = (mapped.parse::<u64>().ok()? << 10) + (MAPPED << 20);
    setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) }).ok()
}
