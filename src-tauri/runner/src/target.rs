//! Target command: a program named on the command line and started once per row. It gets the row as
//! JSON on standard input and writes its answer to standard output. It is the user's own program
//! and inherits their environment; neither files nor pages can name one.
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

/// Time limit for one row.
const WALL: Duration = Duration::from_mins(5);
/// Time that the output is still read after the program has ended, in case a child process holds it
/// open.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum bytes of an answer.
const LONGEST: u64 = 16 << 20;
const TOLD: usize = 400;
/// Maximum bytes of a script's first line that systems look at for the interpreter.
const LONGEST_FIRST_LINE: u64 = 256;
/// Maximum bytes of standard error to keep.
const PIECE: usize = 16 << 10;

/// Reason there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAnswer {
    /// The call was stopped; it can be repeated.
    Stopped,
    /// The call failed; a sentence.
    Failed(String),
}

/// Checks that the program exists, without starting it. Nothing needs to be prepared for a missing
/// program. The error is a sentence.
pub fn check(command: &[String]) -> Result<(), String> {
    let Some(program) = command.first() else {
        return Err("The target names no program.".to_owned());
    };
    let refused = |why: &str| Err(format!("The target `{program}` cannot be started: {why}."));
    let named = |path: &Path| match fs_err::metadata(path) {
        Ok(meta) if !meta.is_file() => Some("it is not a file"),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => {
            Some("it is not a program that you may run")
        }
        Ok(_) if !is_readable(path) => Some("the program that its first line names is not there"),
        Ok(_) => None,
        Err(_) => Some("there is no such file"),
    };
    if program.contains('/') {
        return named(Path::new(program)).map_or(Ok(()), refused);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&path).any(|dir| named(&dir.join(program)).is_none()) {
        return Ok(());
    }
    refused(
        "no program of that name is on the PATH. For a program of this folder, write its path: ./program",
    )
}

/// Returns false if the interpreter in the first line of a script is missing. Files that are not
/// scripts need none.
fn is_readable(script: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs_err::File::open(script)
        .and_then(|file| file.take(LONGEST_FIRST_LINE).read_to_end(&mut head));
    // A file that can be executed but not read is no script.
    let Some(line) = read.ok().and_then(|_| head.strip_prefix(b"#!")) else { return true };
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    line.split_whitespace().next().is_none_or(|reader| access(reader, Access::EXEC_OK).is_ok())
}

/// Process group of the target and its children; killed on drop. Its first member only waits until
/// its standard input is closed. That happens when this process is gone, however it ended, and
/// nothing can receive the answer.
struct Group {
    id: Pid,
    _guard: Child,
}

/// Shell command of the first member of a group.
const GUARD: &str = "read -r _ || kill -KILL 0";

impl Group {
    fn new() -> Result<Self, String> {
        let failed = |why: &dyn std::fmt::Display| {
            format!("The watchdog of targets could not be started: {why}.")
        };
        let guard = Command::new("/bin/sh")
            .args(["-c", GUARD])
            // It outlives the target's children, and needs no keys.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| failed(&why))?;
        let id = guard.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Ok(Self { id: id.ok_or_else(|| failed(&"it ended at once"))?, _guard: guard })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(self.id, Signal::KILL);
    }
}

/// Runs the target once and returns its standard output.
pub async fn ask(
    command: &[String],
    input: &[u8],
    stop: &CancellationToken,
) -> Result<Vec<u8>, NoAnswer> {
    let failed = |why: String| NoAnswer::Failed(why);
    let (program, arguments) =
        command.split_first().ok_or_else(|| failed("The target names no program.".to_owned()))?;
    let group = Group::new().map_err(failed)?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(group.id.as_raw_nonzero().get())
        .kill_on_drop(true)
        .spawn()
        .map_err(|why| failed(format!("The target `{program}` could not be started: {why}.")))?;
    tokio::select! {
        () = stop.cancelled() => Err(NoAnswer::Stopped),
        told = tokio::time::timeout(WALL, answer(&mut child, input)) => {
            told.unwrap_or_else(|_| Err(format!("The target took longer than {} s.", WALL.as_secs()))).map_err(failed)
        }
    }
}

/// Collects the output until the program ends. Its children may hold the output open; they get only
/// a short grace period.
async fn answer(child: &mut Child, input: &[u8]) -> Result<Vec<u8>, String> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let give = async {
        if let Some(mut stdin) = stdin {
            // A target that does not read its input may still answer.
            let _ = stdin.write_all(input).await;
        }
    };
    let (mut said, mut errors) = (Vec::new(), Vec::new());
    let mut wrong = None;
    let mut heard = Box::pin(async {
        let ((), all, ()) = tokio::join!(give, all(stdout, &mut said), tail(stderr, &mut errors));
        wrong = all.err();
    });
    let status = tokio::select! {
        () = &mut heard => child.wait().await,
        status = child.wait() => {
            let _ = tokio::time::timeout(GRACE, &mut heard).await;
            status
        }
    };
    drop(heard);
    if let Some(wrong) = wrong {
        return Err(wrong);
    }
    let status = status.map_err(|why| format!("The target could not be waited for: {why}."))?;
    if status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(errors.trim_ascii());
    let lines: Vec<&str> = errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last: String =
        lines.last().map_or_else(String::new, |line| line.chars().take(TOLD).collect());
    let last = if last.is_empty() { last } else { format!(" It said: {last}") };
    Err(format!("The target ended with {status}.{last}"))
}

/// Keeps the end of standard error. Its length, or a failure to read it, does not invalidate the
/// answer.
async fn tail(from: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let mut piece = vec![0; PIECE];
    let Some(mut from) = from else { return };
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        kept.extend_from_slice(piece.get(..read).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(PIECE));
    }
}

async fn all(from: Option<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>) -> Result<(), String> {
    if let Some(from) = from {
        let read = from.take(LONGEST + 1).read_to_end(bytes).await;
        read.map_err(|why| format!("The output of the target could not be read: {why}."))?;
    }
    if bytes.len() as u64 > LONGEST {
        return Err(format!("The target printed more than the limit of {} MB.", LONGEST >> 20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn what_ends_a_target_has_an_empty_environment() {
        let inherited = std::fs::read("/proc/self/environ").unwrap();
        assert!(!inherited.is_empty(), "a process that inherits would have one");
        let group = Group::new().unwrap();
        let environ = format!("/proc/{}/environ", group.id.as_raw_nonzero());
        assert_eq!(std::fs::read(environ).unwrap(), b"");
    }

    #[test]
    fn a_target_that_cannot_be_started_is_found_without_starting_it() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str, mode: u32| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let told =
            |program: &str| check(&[program.to_owned(), "x".to_owned()]).err().unwrap_or_default();
        for fine in ["sh", "/bin/sh", &file("a", "#!/bin/sh\n", 0o755), &file("b", "", 0o755)] {
            assert_eq!(told(fine), "");
        }
        assert!(
            told(&file("c", "#!/no/such x\n", 0o755)).contains("its first line names is not there")
        );
        assert!(told(&file("d", "#!/bin/sh\n", 0o644)).contains("not a program that you may run"));
        assert!(told(home.path().to_str().unwrap()).contains("it is not a file"));
        assert!(told("/no/such").ends_with("cannot be started: there is no such file."));
        assert!(told("no-such-program").contains("no program of that name is on the PATH"));
        assert!(check(&[]).is_err());
    }
}
