//! Verifies the sandbox by its behavior rather than by installed versions. A program inside tries
//! everything that must fail, once with the namespaces alone and once with all layers.
use super::advice;
use super::argv::{self, Parts};
use super::bounds::{self, Excess};
use super::find::{self, SearchPaths};
use super::outcome::EndCause;
use super::sandbox::{NotRun, Sandbox};
use super::verification_cache::{self, Verified};
use super::{PythonLimits, seccomp};
use crate::tools::Unusable;
use fs_err as fs;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const CANARY: &str = include_str!("canary.py");
/// Timeout of a probe. Generous, because slowness on a busy machine is no security hole.
const PATIENCE: Duration = Duration::from_secs(30);

/// Output of the program inside.
#[derive(Deserialize)]
struct ProbeOutput {
    python: String,
    found: BTreeMap<String, Option<String>>,
}

/// Probed properties: name, and the finding if a property does not hold.
type Found = BTreeMap<String, Option<String>>;

/// Returns a sandbox that was verified in this boot with these binaries and limits; verifies it now
/// if necessary. Fails if a property does not hold.
pub(super) async fn verified(
    cache: &Path,
    parts: Parts,
    limits: PythonLimits,
) -> Result<Sandbox, Unusable> {
    static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    let filter = seccomp::filter().map_err(|why| advice::refused(&why))?;
    let sandbox = Sandbox { parts, limits, filter: Some(filter) };
    let key =
        verification_cache::key(&sandbox).map_err(|error| advice::refused(&error.to_string()))?;
    let _alone = ONE_AT_A_TIME.lock().await;
    if verification_cache::is_known(cache, key) {
        return Ok(sandbox);
    }
    let (verified, found) = look(&sandbox).await?;
    let holes: Vec<(String, String)> =
        found.into_iter().filter_map(|(name, hole)| Some((name, hole?))).collect();
    if !holes.is_empty() {
        return Err(advice::leaky(&holes));
    }
    verification_cache::remember(cache, key, &verified);
    Ok(sandbox)
}

/// Checks the requirements of Python programs anew. Returns each check's name with its finding, or
/// an error with advice.
pub async fn checks(cache: &Path) -> Vec<(String, Result<String, Unusable>)> {
    checks_in(cache, &SearchPaths::default()).await
}

async fn checks_in(cache: &Path, places: &SearchPaths) -> Vec<(String, Result<String, Unusable>)> {
    verification_cache::forget(cache);
    let named = |name: &str, result| (name.to_owned(), result);
    let parts = match find::parts(places) {
        Ok(parts) => parts,
        Err(unusable) => return vec![named("Sandbox", Err(unusable))],
    };
    let filter = match seccomp::filter() {
        Ok(filter) => filter,
        Err(why) => return vec![named("Sandbox", Err(advice::refused(&why)))],
    };
    let sandbox = Sandbox { parts, limits: PythonLimits::default(), filter: Some(filter) };
    let (verified, found) = match look(&sandbox).await {
        Ok(looked) => looked,
        Err(unusable) => return vec![named("Sandbox", Err(unusable))],
    };
    if let (true, Ok(key)) =
        (found.values().all(Option::is_none), verification_cache::key(&sandbox))
    {
        verification_cache::remember(cache, key, &verified);
    }
    let at = sandbox.parts.bwrap.display();
    let limits = &sandbox.limits;
    let (total, files) = (limits.total >> 20, limits.names);
    let kernel = match bounds::control_group(limits) {
        Some(_) => {
            "The kernel enforces the memory limit, too, with a control group for each program."
        }
        None => {
            "This user cannot create control groups (version 2), so the kernel does not enforce the limit."
        }
    };
    let together = format!(
        "The processes of a program are watched and share a limit of {total} MiB of memory and {files} files. {kernel}"
    );
    let mut checks = vec![
        named("Sandbox", Ok(format!("{} at {at}; it can create namespaces.", verified.bubblewrap))),
        named("Python in the sandbox", Ok(format!("Python {}.", verified.python))),
        named("Limits of the sandbox", Ok(together)),
    ];
    checks.extend(found.into_iter().map(|(name, hole)| match hole {
        None => (format!("Sandbox: {name}"), Ok("holds.".to_owned())),
        Some(hole) => (format!("Sandbox: {name}"), Err(advice::leaky(&[(name, hole)]))),
    }));
    checks
}

/// Runs all probes, with the namespaces alone and with all layers.
async fn look(sandbox: &Sandbox) -> Result<(Verified, Found), Unusable> {
    let bubblewrap = version(&sandbox.parts.bwrap).await?;
    if !advice::is_new_enough(&bubblewrap) {
        return Err(advice::too_old(&bubblewrap));
    }
    let limits = PythonLimits { wall: PATIENCE, cpu: PATIENCE, ..sandbox.limits.clone() };
    let whole = Sandbox { limits, ..sandbox.clone() };
    let alone = Sandbox { filter: None, ..whole.clone() };
    let by_namespaces = try_all(&alone).await?;
    let told = try_all(&whole).await?;
    let mut found = told.found;
    for (property, hole) in by_namespaces.found {
        let hole = hole.map(|hole| format!("{hole} without the filter of system calls"));
        let known = found.entry(property).or_default();
        *known = known.take().or(hole);
    }
    found.insert("memory of all processes".to_owned(), ended_for(&whole, Excess::Memory).await?);
    found.insert("number of files".to_owned(), ended_for(&whole, Excess::Files).await?);
    Ok((Verified { bubblewrap, python: told.python }, found))
}

/// Checks that a program is ended when all its processes exceed a limit together, using limits
/// small enough to be exceeded here. Returns `None` if it is.
async fn ended_for(sandbox: &Sandbox, excess: Excess) -> Result<Option<String>, Unusable> {
    let limits = PythonLimits { total: 64 << 20, names: 1000, ..sandbox.limits.clone() };
    let program = match excess {
        Excess::Memory => HOLDING_MEMORY,
        Excess::Files => MAKING_FOLDERS,
    };
    let sandbox = Sandbox { limits, ..sandbox.clone() };
    let ran =
        sandbox.run(program, &CancellationToken::new()).await.map_err(|not_run| match not_run {
            NotRun::Refused(said) => advice::refused(&said),
            NotRun::Failed(why) => advice::leaky(&[("the probe".to_owned(), why)]),
        })?;
    Ok((ran.by != EndCause::Excess(excess))
        .then(|| format!("a program that took more was not ended ({:?})", ran.code)))
}

/// Each process uses less than the limit, all together use more.
const HOLDING_MEMORY: &str = "import os, time\nfor _ in range(3):\n    if os.fork() == 0: break\n\
    held = bytearray(b'x') * (32 << 20)\ntime.sleep(20)";
const MAKING_FOLDERS: &str =
    "import os, time\nfor number in range(1100): os.mkdir(f'/work/{number}')\ntime.sleep(20)";

async fn version(bwrap: &Path) -> Result<String, Unusable> {
    let asked = tokio::process::Command::new(bwrap)
        .arg("--version")
        .env_clear()
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(said)) if said.status.success() => {
            Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
        }
        Ok(Ok(said)) => Err(advice::refused(&String::from_utf8_lossy(&said.stderr))),
        Ok(Err(error)) => Err(advice::refused(&error.to_string())),
        Err(_) => Err(advice::refused("it did not answer")),
    }
}

async fn try_all(sandbox: &Sandbox) -> Result<ProbeOutput, Unusable> {
    let broken = |why: String| advice::leaky(&[("the probe".to_owned(), why)]);
    let outside = Outside::new().map_err(|error| broken(error.to_string()))?;
    let asked = probe_parameters(sandbox, &outside);
    let program =
        format!("import json\nASKED = json.loads({})\n{CANARY}", json!(asked.to_string()));
    let ran =
        sandbox.run(&program, &CancellationToken::new()).await.map_err(
            |not_run| match not_run {
                NotRun::Refused(said) => advice::refused(&said),
                NotRun::Failed(why) => broken(why),
            },
        )?;
    let stdout = ran.stdout.text();
    let Ok(mut told) =
        serde_json::from_str::<ProbeOutput>(stdout.lines().next_back().unwrap_or_default())
    else {
        let said = ran.stderr.text();
        let said = said.lines().next_back().unwrap_or("no word");
        return Err(broken(format!("it ended early ({:?}): {said}", ran.by)));
    };
    // Proven by the return of the call, which waits for every process that keeps the output open.
    told.found.insert("nothing lives on".to_owned(), None);
    told.found.insert(
        "UDP to this machine".to_owned(),
        outside.was_heard().then(|| "a word arrived".to_owned()),
    );
    let missing = EXPECTED.iter().filter(|name| !told.found.contains_key(**name));
    let missing: Vec<(String, Option<String>)> =
        missing.map(|name| ((*name).to_owned(), Some("it was not looked at".to_owned()))).collect();
    told.found.extend(missing);
    Ok(told)
}

/// Properties that have to be probed: a skipped probe proves nothing. `system calls` is missing,
/// because it is only probed with a filter.
const EXPECTED: [&str; 21] = [
    "environment",
    "other processes",
    "open files",
    "files",
    "read-only system",
    "size of the work folder",
    "devices",
    "namespaces",
    "network devices",
    "TCP to this machine",
    "ways to elsewhere",
    "UDP to this machine",
    "names of hosts",
    "unix sockets",
    "privileges",
    "namespaces within",
    "limits",
    "steering processes",
    "first to end",
    "memory",
    "processes",
];

fn probe_parameters(sandbox: &Sandbox, outside: &Outside) -> serde_json::Value {
    let limits = &sandbox.limits;
    let cpu = limits.cpu.as_secs();
    let kinds = ["user", "pid", "net", "ipc", "uts", "mnt"];
    let own = |kind: &str| {
        fs::read_link(format!("/proc/self/ns/{kind}")).unwrap_or_default().display().to_string()
    };
    let refused: BTreeMap<&str, _> = seccomp::REFUSED.iter().copied().collect();
    json!({
        "environment": argv::ENVIRONMENT.into_iter().collect::<BTreeMap<_, _>>(),
        "hidden": [outside.path.display().to_string()],
        "namespaces": kinds.into_iter().map(|kind| (kind, own(kind))).collect::<BTreeMap<_, _>>(),
        "files": limits.files,
        "shared_memory": argv::SHARED_MEMORY,
        "memory": limits.memory,
        "processes": limits.processes,
        "tcp": outside.tcp_port,
        "udp": outside.udp_port,
        "path": outside.path.display().to_string(),
        "abstract": outside.name,
        "unshare": libc::SYS_unshare,
        "clone3": libc::SYS_clone3,
        "refused": if sandbox.filter.is_some() { refused } else { BTreeMap::new() },
        "limits": {
            "RLIMIT_AS": [limits.memory, limits.memory],
            "RLIMIT_CPU": [cpu, cpu + 2],
            "RLIMIT_FSIZE": [limits.files, limits.files],
            "RLIMIT_NPROC": [limits.processes, limits.processes],
            "RLIMIT_NOFILE": [64, 64],
            "RLIMIT_CORE": [0, 0],
        },
    })
}

/// Sockets of every kind outside the sandbox, working from here, which the program must not reach.
struct Outside {
    tcp_port: u16,
    udp_port: u16,
    path: PathBuf,
    name: String,
    udp: UdpSocket,
    _open: (TcpListener, UnixListener, UnixListener),
}

impl Outside {
    fn new() -> std::io::Result<Self> {
        static TURN: AtomicU64 = AtomicU64::new(0);
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let name = format!("touchstone-canary-{}-{turn}", std::process::id());
        let tcp = TcpListener::bind("127.0.0.1:0")?;
        let udp = UdpSocket::bind("127.0.0.1:0")?;
        udp.set_nonblocking(true)?;
        let path = std::env::temp_dir().join(&name);
        let hidden = UnixListener::bind(&path)?;
        let named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
        let (tcp_port, udp_port) = (tcp.local_addr()?.port(), udp.local_addr()?.port());
        TcpStream::connect(tcp.local_addr()?)?;
        std::os::unix::net::UnixStream::connect(&path)?;
        Ok(Self { tcp_port, udp_port, path, name, udp, _open: (tcp, hidden, named) })
    }

    /// Returns true if a datagram arrived.
    fn was_heard(&self) -> bool {
        !matches!(self.udp.recv(&mut [0; 16]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // A leftover socket in the temporary folder does no harm.
        let _ = fs::remove_file(&self.path);
    }
}
