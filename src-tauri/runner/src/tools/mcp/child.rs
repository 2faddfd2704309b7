//! A started server process with all its descendants, and the end of its standard error. Owns the
//! processes: all of them are killed on drop.
use super::process_tree;
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{env, io};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Maximum number of bytes of one message. Parsed, it takes many times as much memory.
pub(super) const LARGEST: usize = 16 << 20;

/// Environment variables passed to a server in addition to those in the workspace file. None of
/// them holds a key.
const PASSED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
/// Maximum number of bytes of standard error to keep.
const REMEMBERED: usize = 8 << 10;
/// Maximum number of lines of standard error to report.
const MAX_ERROR_LINES: usize = 6;
/// Time for a server to exit by itself.
const MOMENT: Duration = Duration::from_secs(2);

/// A started server process.
pub(super) struct Server {
    child: Child,
    /// Process group; `None` once it was killed.
    group: Option<Pid>,
    /// Mark in the environment of its processes.
    mark: String,
    errors: Arc<Mutex<Vec<u8>>>,
    listening: JoinHandle<()>,
}

/// Pipes of the connection: the server's output and input.
pub(super) type Pipes = (LineBound<ChildStdout>, ChildStdin);

impl Server {
    /// Starts a program in `base`, in its own process group.
    pub(super) fn start(
        command: &[String],
        env: &[(String, String)],
        base: &Path,
    ) -> io::Result<(Self, Pipes)> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mark = process_tree::mark();
        let mut child = Command::new(resolve_program(program, base))
            .args(arguments)
            .current_dir(base)
            .env_clear()
            .envs(PASSED_ON.iter().filter_map(|name| Some((name, env::var_os(name)?))))
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env(process_tree::VARIABLE, &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || io::Error::other("a pipe to it is missing");
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let errors = Arc::default();
        let listening = tokio::spawn(remember(stderr, Arc::clone(&errors)));
        Ok((Self { child, group, mark, errors, listening }, (LineBound::new(stdout), stdin)))
    }

    /// Describes the end of the process and its last error output, such as `It ended with exit
    /// status 3. It said: …`.
    pub(super) async fn last_words(&mut self) -> String {
        let ended = match tokio::time::timeout(MOMENT, self.child.wait()).await {
            Ok(Ok(status)) => format!("It ended with {status}."),
            _ => "It did not end.".to_owned(),
        };
        self.kill();
        let _ = tokio::time::timeout(MOMENT, &mut self.listening).await;
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&errors);
        let lines: Vec<&str> =
            text.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).collect();
        match lines.get(lines.len().saturating_sub(MAX_ERROR_LINES)..) {
            Some(last) if !last.is_empty() => format!("{ended} It said: {}", last.join("\n")),
            _ => ended,
        }
    }

    /// Waits for the process to exit after its input was closed, then kills everything that is
    /// left.
    pub(super) async fn end(mut self) {
        let _ = tokio::time::timeout(MOMENT, self.child.wait()).await;
        self.kill();
        let _ = self.child.wait().await;
    }

    /// Kills the process and all descendants, including those that left its process group.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // Descendants are killed first, because dead processes start no new ones; the first
            // process is kept so that its children can be found.
            process_tree::end(&self.mark, self.child.id());
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        self.listening.abort();
    }
}

/// Resolves a program that contains a slash, such as `./server`, against the working directory; a
/// bare name is searched for in PATH.
fn resolve_program(program: &str, base: &Path) -> PathBuf {
    if program.contains('/') { base.join(program) } else { PathBuf::from(program) }
}

/// Keeps the end of standard error. Reads all of it, so that the server never blocks on a full
/// pipe.
async fn remember(mut stderr: ChildStderr, errors: Arc<Mutex<Vec<u8>>>) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut piece).await {
        let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.extend_from_slice(&piece[..count]);
        let excess = errors.len().saturating_sub(REMEMBERED);
        errors.drain(..excess);
    }
}

/// A reader that fails when a line is longer than the message limit. This bounds memory, and the
/// pending request gets an error.
pub(super) struct LineBound<R> {
    inner: R,
    line: usize,
    bound: Arc<Bound>,
}

/// Message length limit, and a flag set once a message exceeded it.
pub(super) struct Bound {
    pub(super) most: AtomicUsize,
    pub(super) exceeded: AtomicBool,
}

impl<R> LineBound<R> {
    fn new(inner: R) -> Self {
        let bound = Bound { most: LARGEST.into(), exceeded: AtomicBool::new(false) };
        Self { inner, line: 0, bound: Arc::new(bound) }
    }

    /// Returns the shared limit, which can be changed.
    pub(super) fn bound(&self) -> Arc<Bound> {
        Arc::clone(&self.bound)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineBound<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, into);
        let new = into.filled().get(before..).unwrap_or_default();
        self.line = match new.iter().rposition(|byte| *byte == b'\n') {
            Some(at) => new.len() - at - 1,
            None => self.line + new.len(),
        };
        if self.line > self.bound.most.load(Ordering::Relaxed) {
            self.bound.exceeded.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("a message is too long")));
        }
        polled
    }
}
