//! Starts a program in the sandbox, reads its output, and ends it. Owns the process for its whole
//! life: when a call returns or is dropped, no process of the program is left.
use super::PythonLimits;
use super::argv::{self, NOBODY, Parts, READY};
use super::bounds::{Bounds, Excess, SandboxView};
use super::cgroup::ControlGroup;
use super::outcome::EndCause;
use super::stream::OutputBuffer;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::process::{Pid, Signal};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// A sandbox that can be started any number of times.
#[derive(Debug, Clone)]
pub(super) struct Sandbox {
    pub(super) parts: Parts,
    pub(super) limits: PythonLimits,
    /// Seccomp filter. `None` only while the namespaces are probed alone.
    pub(super) filter: Option<Vec<u8>>,
}

/// Result of a program that ran.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) by: EndCause,
    pub(super) late: bool,
    pub(super) stdout: OutputBuffer,
    pub(super) stderr: OutputBuffer,
}

/// Error of a program that did not run properly, with a message for the user.
#[derive(Debug)]
pub(super) enum NotRun {
    /// bubblewrap exited before the program started, with this output.
    Refused(String),
    /// Another failure.
    Failed(String),
}

/// Time for the last output and the last process after the end.
const LAST_BREATH: Duration = Duration::from_secs(5);

impl Sandbox {
    /// Runs a program to its end.
    pub(super) async fn run(&self, program: &str, stop: &CancellationToken) -> Result<Ran, NotRun> {
        // Taken before the start: on a busy machine the clock inside the sandbox may start well
        // before this task is notified.
        let began = Instant::now();
        let mut child = start(self.clone()).await?;
        let mut group = Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
        let (ready, is_ready) = oneshot::channel();
        let mut feeding =
            Box::pin(feed(child.stdin.take(), program, is_ready, (child.id(), &self.limits)));
        let (mut fed, mut watching, mut in_group) = (false, None, None);
        let bounds = Bounds { memory: self.limits.total, files: self.limits.names };
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let reading = async {
            tokio::join!(
                drain(out, self.limits.output, None),
                drain(err, self.limits.output, Some(ready))
            )
        };
        let mut reading = std::pin::pin!(reading);
        let mut read = None;
        // The first process of the sandbox enforces the time limit; this timeout is for the case
        // that it does not.
        let mut over =
            std::pin::pin!(sleep(self.limits.wall + self.limits.grace + Duration::from_secs(1)));
        let (mut by, status) = loop {
            tokio::select! {
                biased;
                ended = child.wait() => break (EndCause::Itself, Some(ended?)),
                () = stop.cancelled() => break (EndCause::Stop, None),
                () = &mut over => break (EndCause::Clock, None),
                inside = &mut feeding, if !fed => {
                    fed = true;
                    if let Some(SandboxView { root, group }) = inside {
                        watching = Some(Box::pin(SandboxView::exceeds(root, bounds)));
                        in_group = group;
                    }
                }
                excess = next(&mut watching) => break (EndCause::Excess(excess), None),
                both = &mut reading, if read.is_none() => read = Some(both),
            }
        };
        let late = began.elapsed() >= self.limits.wall;
        // If bubblewrap is killed while it starts, its child may survive. The child exits when it
        // gets no program.
        drop(feeding);
        if status.is_none() {
            group.end();
            let gone = timeout(LAST_BREATH, child.wait()).await;
            gone.map_err(|_| NotRun::Failed("The sandbox could not be ended.".to_owned()))??;
        }
        group.0 = None;
        // The pipes close with the last process that holds them; this waits for all processes, and
        // detects one that survives.
        let outlived =
            |_| NotRun::Failed("A process of the program outlived the sandbox.".to_owned());
        let (stdout, mut stderr) = match read {
            Some(both) => both,
            None => timeout(LAST_BREATH, &mut reading).await.map_err(outlived)?,
        };
        if !stderr.take_off(READY) && by == EndCause::Itself {
            return Err(NotRun::Refused(stderr.text()));
        }
        if by == EndCause::Itself
            && in_group.is_some_and(|group: ControlGroup| group.ran_out_of_memory())
        {
            by = EndCause::Excess(Excess::Memory);
        }
        let code = status.and_then(|status| status.code());
        Ok(Ran { code, by, late, stdout, stderr })
    }
}

impl From<io::Error> for NotRun {
    fn from(error: io::Error) -> Self {
        Self::Failed(format!("The sandbox could not be started: {error}."))
    }
}

/// Sends the program once the sandbox is set up and found. If this is dropped earlier, nothing is
/// sent, and nothing runs.
async fn feed(
    stdin: Option<ChildStdin>,
    program: &str,
    is_ready: oneshot::Receiver<()>,
    (bubblewrap, limits): (Option<u32>, &PythonLimits),
) -> Option<SandboxView> {
    let (Some(mut stdin), Ok(())) = (stdin, is_ready.await) else { return None };
    // A sandbox that is not found has exited, which the caller notices. A sandbox that cannot be
    // watched gets no program.
    let inside = SandboxView::mark(bubblewrap?, limits)?;
    let framed = format!("{}\n{program}", program.len());
    // Fails if the sandbox has exited meanwhile.
    let _ = stdin.write_all(framed.as_bytes()).await;
    Some(inside)
}

/// Waits for the future, or forever if there is none.
async fn next<F: Future + Unpin>(waiting: &mut Option<F>) -> F::Output {
    match waiting {
        Some(waiting) => waiting.await,
        None => std::future::pending().await,
    }
}

/// Process group of a call. It is killed on drop.
struct Group(Option<Pid>);

impl Group {
    fn end(&mut self) {
        if let Some(pid) = self.0.take() {
            // bubblewrap leads its own process group, which also ends a half-built sandbox. The
            // error for a group that is already gone is ignored.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

async fn drain(
    stream: Option<impl AsyncRead + Unpin>,
    cap: usize,
    mut ready: Option<oneshot::Sender<()>>,
) -> OutputBuffer {
    let mut kept = OutputBuffer::new(cap);
    let Some(mut stream) = stream else { return kept };
    let mut chunk = vec![0; 64 * 1024];
    // An error means that nothing more will arrive.
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        kept.push(&chunk[..read]);
        if kept.starts_with(READY)
            && let Some(ready) = ready.take()
        {
            // The receiver is gone when the call is being ended.
            let _ = ready.send(());
        }
    }
    kept
}

/// Returns the filter as an anonymous, immutable file.
fn sealed(filter: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("filter", MemfdFlags::ALLOW_SEALING)?;
    let mut rest = filter;
    while !rest.is_empty() {
        rest = &rest[rustix::io::write(&file, rest)?..];
    }
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file)
}

type Job = Box<dyn FnOnce() + Send>;

/// Returns the queue of the thread that starts all sandboxes. Sandboxes end when the thread that
/// started them ends (`--die-with-parent`), so it has to live as long as this process, which
/// tokio's threads do not.
fn starter() -> io::Result<&'static mpsc::Sender<Job>> {
    static STARTER: OnceLock<mpsc::Sender<Job>> = OnceLock::new();
    if let Some(starter) = STARTER.get() {
        return Ok(starter);
    }
    let (sender, jobs) = mpsc::channel::<Job>();
    std::thread::Builder::new()
        .name("sandboxes".to_owned())
        .spawn(move || jobs.into_iter().for_each(|job| job()))?;
    // If two are created at once, one is dropped, and its thread ends before it has started
    // anything.
    Ok(STARTER.get_or_init(|| sender))
}

async fn start(sandbox: Sandbox) -> io::Result<Child> {
    let (reply, started) = oneshot::channel();
    let runtime = Handle::current();
    let job = move || {
        let _inside = runtime.enter();
        // Fails if the call was dropped meanwhile; dropping the child then kills it.
        let _ = reply.send(spawn(&sandbox));
    };
    starter()?.send(Box::new(job)).map_err(|_| io::Error::other("its thread is gone"))?;
    started.await.map_err(|_| io::Error::other("its thread is gone"))?
}

fn spawn(sandbox: &Sandbox) -> io::Result<Child> {
    // bubblewrap has to inherit this descriptor. Other processes that are started at this moment
    // inherit it too, which is harmless: its content is the same in every copy of this program and
    // cannot be changed.
    let filter = sandbox.filter.as_deref().map(sealed).transpose()?;
    let arguments =
        argv::arguments(&sandbox.parts, &sandbox.limits, filter.as_ref().map(AsRawFd::as_raw_fd));
    let mut command = Command::new(&sandbox.parts.bwrap);
    // The environment is empty, because bubblewrap is process 1 of the sandbox, and programs can
    // read its environment.
    command.args(arguments).env_clear().current_dir("/").process_group(0).kill_on_drop(true);
    if sandbox.parts.as_nobody {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}
