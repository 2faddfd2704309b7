//! Tests of the isolation of Python programs. Each access is first shown to work without the
//! sandbox, and each probe is shown to detect a sandbox that permits it.
use crate::python::{SECOND, program_params, run, short, tool};
use fs_err as fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use touchstone_runner::tools::Unusable;
use touchstone_runner::tools::python::{PythonLimits, PythonTool, SearchPaths, checks};

/// Runs a program without a sandbox; only used for harmless programs.
fn outside(program: &str) -> String {
    let mut python = Command::new("/usr/bin/python3");
    let said = python
        .args(["-I", "-B", "-c", program])
        .env("TOUCHSTONE_CANARY", "canary-in-the-environment")
        .output();
    String::from_utf8_lossy(&said.unwrap().stdout).into_owned()
}

#[tokio::test]
async fn no_socket_of_this_machine_is_reached() {
    let Some(tool) = tool(short()).await else { return };
    let folder = TempDir::new().unwrap();
    let (path, name) =
        (folder.path().join("socket"), format!("touchstone-test-{}", std::process::id()));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let _unix = UnixListener::bind(&path).unwrap();
    let _abstract =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let (tcp, udp) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    let connect =
        |family: &str, address: &str| format!("socket.socket(socket.{family}).connect({address})");
    let table = [
        ("TCP", connect("AF_INET", &format!("('127.0.0.1', {tcp})"))),
        (
            "UDP",
            format!(
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))"
            ),
        ),
        ("names", "socket.getaddrinfo('localhost', 80)".to_owned()),
        ("unix socket", connect("AF_UNIX", &format!("'{}'", path.display()))),
        ("abstract unix socket", connect("AF_UNIX", &format!("'\\0{name}'"))),
    ];
    for (what, act) in table {
        let program = format!(
            "import socket\ntry:\n    {act}\n    print('reached')\nexcept OSError as e: print('not', e.errno)"
        );
        assert_eq!(outside(&program), "reached\n", "{what}: without the sandbox");
        let ended = run(&tool, &program).await;
        assert!(ended.stdout.starts_with("not "), "{what}: {ended:?}");
    }
}

#[tokio::test]
async fn no_value_of_our_environment_is_seen_anywhere() {
    let Some(tool) = tool(short()).await else { return };
    let dump = "import os\nprint(dict(os.environ))\n\
                for p in os.listdir('/proc'):\n    for f in ['environ', 'cmdline']:\n        \
                try: print(p, f, open(f'/proc/{p}/{f}', 'rb').read())\n        except OSError: pass";
    assert!(outside(dump).contains("canary-in-the-environment"), "without the sandbox");
    let roomy = PythonLimits { output: 1 << 20, ..short() };
    let ended =
        run(&PythonTool::open(TempDir::new().unwrap().path(), roomy).await.unwrap(), dump).await;
    assert_eq!(ended.outcome, "ok", "{ended:?}");
    let ours: Vec<(String, String)> =
        std::env::vars().filter(|(_, value)| value.len() > 16).collect();
    assert!(!ours.is_empty(), "there is an environment to be seen");
    for (name, value) in ours {
        assert!(!ended.stdout.contains(&value), "{name} is seen");
    }
    assert!(!ended.stdout.contains("CARGO") && !run(&tool, dump).await.stdout.contains("CARGO"));
}

/// Shows the reason for starting bubblewrap with an empty environment instead of passing
/// `--clearenv`.
#[tokio::test]
async fn to_clear_the_environment_within_the_sandbox_would_not_be_enough() {
    let Some(tool) = tool(short()).await else { return };
    let look = "print(open('/proc/1/environ').read().replace('\\0', '\\n'))";
    let mut cleared = Command::new("bwrap");
    cleared.args([
        "--unshare-all",
        "--clearenv",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--",
        "/usr/bin/python3",
        "-c",
        look,
    ]);
    let said = cleared.env("TOUCHSTONE_CANARY", "canary-in-the-environment").output().unwrap();
    assert!(
        String::from_utf8_lossy(&said.stdout).contains("canary-in-the-environment"),
        "{said:?}"
    );
    let seen = run(&tool, look).await.stdout;
    assert!(seen.contains("HOME=/work\n") && !seen.contains("canary"), "{seen}");
}

#[tokio::test]
async fn nothing_that_we_have_open_is_inherited() {
    let Some(tool) = tool(short()).await else { return };
    // Left open for children by mistake, like a library might.
    let open = rustix::fs::memfd_create("left-open", rustix::fs::MemfdFlags::empty()).unwrap();
    let look = "import os\nfor fd in os.listdir('/proc/self/fd'):\n    try: print(fd, os.readlink('/proc/self/fd/' + fd))\n    \
                except OSError: pass";
    assert!(outside(look).contains("left-open"), "without the sandbox");
    let ended = run(&tool, look).await;
    drop(open);
    assert!(
        ended.stdout.starts_with("0 pipe:") && !ended.stdout.contains("left-open"),
        "{ended:?}"
    );
    assert_eq!(ended.stdout.lines().count(), 3, "{ended:?}");
}

#[tokio::test]
async fn no_file_of_this_machine_is_seen_but_the_system() {
    let Some(tool) = tool(short()).await else { return };
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("secret");
    fs::write(&file, "canary").unwrap();
    let file = file.display().to_string();
    for path in
        ["/root", "/home", "/etc/shadow", "/etc/passwd", "/var", "/run", "/sys", file.as_str()]
    {
        let program = format!("import os; print(os.path.lexists('{path}'))");
        assert_eq!(outside(&program), "True\n", "{path}: without the sandbox");
        assert_eq!(run(&tool, &program).await.stdout, "False\n", "{path}");
    }
    let list = "import os; print(*sorted(set(os.listdir('/')) - {'lib32', 'lib64', 'etc'}))";
    assert_eq!(run(&tool, list).await.stdout, "bin dev lib proc sbin tmp usr work\n");
}

#[tokio::test]
async fn only_the_work_folder_can_be_written_and_only_so_much() {
    let few = PythonLimits { files: 8 << 20, ..short() };
    let (Some(tool), Some(small)) = (tool(short()).await, tool(few).await) else { return };
    let walk = |top: &str| {
        format!(
            "import os\nfor top, folders, files in os.walk('{top}'):\n    folders.sort()\n    \
             if top.startswith(('/proc/', '/usr/')): folders.clear()\n    \
             try:\n        open(top + '/x', 'w').close(); print(top)\n    except OSError: pass"
        )
    };
    let fill = "import errno\ntotal = 0\ntry:\n    for n in range(80):\n        with open(f'f{n}', 'wb', 0) as f: total += f.write(bytes(1 << 20))\n\
                except OSError as e: print(e.errno == errno.ENOSPC)\nprint(total >> 20)";
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("below")).unwrap();
    let free = folder.path().display().to_string();
    assert_eq!(outside(&walk(&free)), format!("{free}\n{free}/below\n"), "without the sandbox");
    assert_eq!(
        outside(&format!("import os; os.chdir('{free}')\n{fill}")),
        "80\n",
        "without the sandbox"
    );
    drop(folder);
    assert_eq!(run(&tool, &walk("/")).await.stdout, "/dev/shm\n/work\n");
    assert_eq!(run(&small, fill).await.stdout, "True\n7\n");
    assert_eq!(run(&tool, fill).await.stdout, "True\n63\n");
}

#[tokio::test]
async fn there_is_no_privilege_and_no_way_to_one() {
    let Some(tool) = tool(short()).await else { return };
    let status = "for line in open('/proc/self/status'):\n    \
                  if line.startswith(('Cap', 'NoNewPrivs', 'Seccomp:')): print(*line.split())";
    let none = "CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\n\
                CapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n";
    assert_ne!(outside(status), none, "without the sandbox");
    assert_eq!(run(&tool, status).await.stdout, none);
}

/// System calls with harmless arguments, distinguished by their error: 1 is EPERM, 38 ENOSYS. All
/// but those of `KEPT` must get past EPERM without the sandbox, since otherwise their refusal
/// inside proves nothing.
const CALLS: &[(&str, i64, &str)] = &[
    ("keyctl", libc::SYS_keyctl, "0, -3, 0"),
    ("io_uring_setup", libc::SYS_io_uring_setup, "0, 0"),
    ("bpf", libc::SYS_bpf, "-1, 0, 0"),
    ("perf_event_open", libc::SYS_perf_event_open, "0, 0, -1, -1, 0"),
    ("userfaultfd", libc::SYS_userfaultfd, "-1"),
    ("ptrace", libc::SYS_ptrace, "0, 0, 0, 0"),
    ("process_vm_readv", libc::SYS_process_vm_readv, "0, 0, 0, 0, 0, 0"),
    ("memfd_create", libc::SYS_memfd_create, "0, 0"),
    ("unshare", libc::SYS_unshare, "0x10000000"),
    ("clone", libc::SYS_clone, "0x10000011, 0, 0, 0, 0"),
    ("setns", libc::SYS_setns, "-1, 0"),
    ("socket vsock", libc::SYS_socket, "40, 1, 0"),
    ("socket netlink", libc::SYS_socket, "16, 3, 0"),
    ("socket inet", libc::SYS_socket, "2, 1, 0"),
    ("socketpair inet", libc::SYS_socketpair, "2, 1, 0, 0"),
    ("connect", libc::SYS_connect, "-1, 0, 0"),
    ("request_key", libc::SYS_request_key, "0, 0, 0, 0"),
    ("fsopen", libc::SYS_fsopen, "0, 0"),
    ("a number of x32", 0x4000_0027, "0"),
];
/// Refused by many kernels to every user but root, so a refusal without the sandbox only counts as
/// a failure of the control for root.
const KEPT: [&str; 4] = ["io_uring_setup", "bpf", "perf_event_open", "fsopen"];

#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    let Some(tool) = tool(short()).await else { return };
    let calls: Vec<String> =
        CALLS.iter().map(|(_, number, arguments)| format!("({number}, [{arguments}])")).collect();
    let program = format!(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nfor number, arguments in [{}]:\n    pid = os.fork()\n    \
         if pid == 0:\n        r = libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))\n        \
         os._exit(ctypes.get_errno() if r == -1 else 0)\n    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
        calls.join(", ")
    );
    let free = outside(&program);
    assert_eq!(free.lines().count(), CALLS.len(), "{free}");
    let inside = run(&tool, &program).await;
    assert_eq!(inside.stdout.lines().count(), CALLS.len(), "{inside:?}");
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    for ((name, ..), (free, inside)) in CALLS.iter().zip(free.lines().zip(inside.stdout.lines())) {
        assert_eq!(inside, "1", "{name}");
        if free == "1" && !is_root && KEPT.contains(name) {
            println!("{name}: refused to this user without the sandbox too");
        } else {
            assert_ne!(
                free, "1",
                "{name}: refused without the sandbox too, so its refusal within proves nothing"
            );
        }
    }
}

/// Prints the number of visible processes to which each of these can be done, and the limits of the
/// least limited one.
const STEER: &str = "import os\nfor what in ['mem', 'oom_score_adj']:\n    done = 0\n    \
    for p in ['1', '2', 'self']:\n        try: os.close(os.open(f'/proc/{p}/{what}', os.O_WRONLY)); done += 1\n        \
    except OSError: pass\n    print(what, done)\n\
    rows = [l for p in os.listdir('/proc') if p.isdigit() for l in open(f'/proc/{p}/limits')]\n\
    print(sum('unlimited' in l for l in rows if l.startswith(('Max address', 'Max cpu', 'Max file size', 'Max processes'))))";

#[tokio::test]
async fn no_process_can_be_steered_and_none_is_without_limits() {
    let Some(tool) = tool(short()).await else { return };
    let free = outside(
        "import os\nos.close(os.open('/proc/self/mem', os.O_WRONLY)); print(open('/proc/self/limits').read())",
    );
    assert!(free.contains("unlimited"), "without the sandbox: {free}");
    let within = run(&tool, STEER).await;
    assert_eq!(within.stdout, "mem 0\noom_score_adj 0\n0\n", "{within:?}");
    // The instruction pointer of a process can be read, which is of no use if its memory cannot be
    // written.
    let attack = "import os\nat = open('/proc/1/syscall').read().split()\nm = os.open('/proc/1/mem', os.O_RDWR)\n\
                  os.pwrite(m, b'\\xcc', int(at[-1], 16))\nprint('steered')";
    let ended = run(&tool, attack).await;
    assert_eq!((ended.outcome.as_str(), ended.stdout.as_str()), ("exception", ""), "{ended:?}");
}

#[tokio::test]
async fn what_all_processes_hold_together_is_bounded() {
    let holding = |leave: &str| {
        format!(
            "import os, time\nr, w = os.pipe()\nfor n in range(5):\n    if os.fork() == 0:\n        {leave}\n        \
             held = bytearray(b'x') * (60 << 20); os.write(w, b'x'); time.sleep(60)\n\
             got = 0\nwhile got < 5: got += len(os.read(r, 5))"
        )
    };
    let folders =
        |most: u32| format!("import os, time\nfor n in range({most}): os.mkdir(f'{{n}}')");
    let links =
        "import os, time\nopen('f', 'w').close()\nfor n in range(3000): os.symlink('f', f'l{n}')";
    let bounded = PythonLimits { wall: SECOND * 20, total: 200 << 20, names: 2000, ..short() };
    let unbounded = PythonLimits { total: u64::MAX, names: u64::MAX, ..bounded.clone() };
    let (Some(tool), Some(control)) = (tool(bounded).await, tool(unbounded).await) else { return };
    let orphans = holding("os.setsid()\n        if os.fork(): os._exit(0)");
    for (what, program, outcome, harmless) in [
        ("processes", holding("pass"), "memory", holding("pass")),
        ("orphans", orphans.clone(), "memory", orphans),
        ("folders", folders(1_000_000), "files", folders(5000)),
        ("links", links.to_owned(), "files", links.to_owned()),
    ] {
        let ended = run(&tool, &format!("{program}\ntime.sleep(60)")).await;
        assert_eq!(
            (ended.outcome.as_str(), &ended.exit_code),
            (outcome, &None),
            "{what}: {ended:?}"
        );
        assert!(ended.stderr.contains("[The program was ended: "), "{what}: {ended:?}");
        let free = run(&control, &format!("{harmless}\nprint('all of it')")).await;
        assert_eq!(
            (free.stdout.as_str(), free.outcome.as_str()),
            ("all of it\n", "ok"),
            "{what}: without the bound"
        );
    }
}

#[tokio::test]
async fn processes_that_share_their_memory_hold_it_once() {
    let bounded = PythonLimits { wall: SECOND * 20, total: 200 << 20, ..short() };
    let Some(tool) = tool(bounded).await else { return };
    let sharing = "import os, signal\nheld = bytearray(b'x') * (60 << 20)\nchildren = []\nfor n in range(8):\n    \
                   pid = os.fork()\n    if pid == 0: signal.pause()\n    children.append(pid)\n\
                   for n in range(40): open('/proc/self/smaps_rollup').read()\nprint('shared')";
    assert_eq!(run(&tool, sharing).await.stdout, "shared\n");
}

#[tokio::test]
async fn as_many_processes_as_are_allowed_and_no_more() {
    let Some(tool) = tool(short()).await else { return };
    let count = "import os, signal\nn = 0\ntry:\n    while n < 100:\n        pid = os.fork()\n        if pid == 0: signal.pause()\n        \
                 n += 1\nexcept BlockingIOError: print('no more')\nprint(50 < n < 64)";
    assert_eq!(run(&tool, count).await.stdout, "no more\nTrue\n");
}

/// Creates a folder with a replacement of `bwrap` that every user can start.
fn with_bwrap(script: &str, mode: u32) -> (TempDir, SearchPaths) {
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = folder.path().join("bwrap");
    write_program(&path, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    let places = SearchPaths { path: folder.path().into(), ..SearchPaths::default() };
    (folder, places)
}

/// Writes a program by another process. A file that this process holds open for writing could be
/// inherited by a child of another test, and starting it would fail with "Text file busy".
fn write_program(path: &Path, text: &str) {
    let source = path.with_extension("source");
    fs::write(&source, text).unwrap();
    let copied = Command::new("cp").arg(&source).arg(path).status().unwrap();
    assert!(copied.success());
    fs::remove_file(source).unwrap();
}

async fn refusal(places: &SearchPaths) -> Unusable {
    let cache = TempDir::new().unwrap();
    let refusal =
        PythonTool::open_in(cache.path(), PythonLimits::default(), places).await.unwrap_err();
    assert_eq!(
        fs::read_dir(cache.path()).unwrap().count(),
        0,
        "what does not hold is not remembered"
    );
    refusal
}

#[tokio::test]
async fn without_a_sandbox_there_is_no_tool_and_nothing_is_started() {
    let folder = TempDir::new().unwrap();
    let started = folder.path().join("started");
    // The program exists and would report that it was started, but is not executable.
    let (_folder, places) = with_bwrap(&format!("touch {}", started.display()), 0o644);
    let unusable = refusal(&places).await;
    insta::assert_snapshot!(unusable.message, @"Python programs of models need bubblewrap, which is not installed.");
    insta::assert_snapshot!(unusable.fix.unwrap(), @"Install it: sudo apt install bubblewrap (Debian, Ubuntu), sudo dnf install bubblewrap (Fedora).");
    assert!(!started.exists());
    for python in ["/nowhere/python3", "/etc/hostname", "/usr/bin/no-python"] {
        let places = SearchPaths { python: python.into(), ..SearchPaths::default() };
        assert!(refusal(&places).await.fix.unwrap().contains("python3"), "{python}");
    }
}

#[tokio::test]
async fn a_sandbox_that_cannot_start_says_why_and_what_helps() {
    let says = |words: &str| {
        format!(
            "case $1 in --version) echo bubblewrap 0.9.0;; *) echo 'bwrap: {words}' >&2; exit 1;; esac"
        )
    };
    let table = [
        (says("setting up uid map: Permission denied"), "AppArmor", "/etc/apparmor.d/bwrap"),
        (
            says("loopback: Failed RTM_NEWADDR: Operation not permitted"),
            "AppArmor",
            "/etc/apparmor.d/bwrap",
        ),
        (
            says("Creating new namespace failed: Operation not permitted"),
            "Creating new namespace",
            "sysctl",
        ),
        ("echo bubblewrap 0.6.1".to_owned(), "0.6.1 is too old", "0.8 or newer"),
        ("exit 1".to_owned(), "said nothing", "terminal"),
        (
            "case $1 in --version) echo bubblewrap 0.9.0;; esac".to_owned(),
            "said nothing",
            "terminal",
        ),
    ];
    for (script, message, fix) in table {
        let (_folder, places) = with_bwrap(&script, 0o755);
        let unusable = refusal(&places).await;
        assert!(
            unusable.message.contains(message) && unusable.fix.as_ref().unwrap().contains(fix),
            "{script}: {unusable:?}"
        );
    }
}

/// Script that starts the real bubblewrap with each argument passed through `case`, in an
/// environment that contains only `environment`.
fn weakened(case: &str, environment: &str) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let bwrap = std::env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .find(|path| path.exists())
        .unwrap();
    format!(
        "n=$#; skip=0\nwhile [ $n -gt 0 ]; do a=$1; shift; n=$((n-1))\n  \
         if [ $skip = 1 ]; then skip=0; continue; fi\n  case $a in {case} *) set -- \"$@\" \"$a\";; esac\ndone\n\
         exec /usr/bin/env -i {environment} {} \"$@\"",
        bwrap.display()
    )
}

/// A sandbox with holes.
struct Holes {
    /// Properties whose violation must be detected.
    noticed: Vec<&'static str>,
    /// Changes of the arguments of bubblewrap; `environment` is its environment.
    cases: Vec<String>,
    environment: &'static str,
}

/// Returns sandboxes that each lack some properties; every property is missing once. `hosts` is the
/// directory with the name to look up, and with the list of name sources.
fn holes(hosts: &Path) -> Vec<Holes> {
    let insert = |at: &str, more: &str| format!("{at}) set -- \"$@\" {more} \"$a\";;");
    let replace = |word: &str, by: &str| format!("{word}) set -- \"$@\" {by};;");
    let leave_out = |word: &str| format!("{word}) skip=1;;");
    // Includes the signal to the sandbox that there is a filter, without which it does not start.
    let no_filter = || vec![leave_out("--seccomp"), replace("2", "0")];
    let mut network = vec![
        "network devices",
        "TCP to this machine",
        "UDP to this machine",
        "unix sockets",
        "environment",
    ];
    network.extend(["files", "limits", "processes", "memory"]);
    if is_connected() {
        network.push("ways to elsewhere");
    }
    let opened = vec![
        replace("--unshare-all", "--unshare-pid --unshare-ipc --unshare-uts"),
        insert("--proc", "--ro-bind /home /home"),
        replace("--clearenv", ""),
        replace("--nproc=64", "--nproc=200"),
        replace("--as=*", "--as=8000000000"),
    ];
    let mut unguarded = vec![
        replace("--unshare-all", "--unshare-pid --unshare-net --unshare-uts"),
        leave_out("--size"),
        leave_out("--uid"),
        replace("--disable-userns", ""),
    ];
    unguarded.extend(no_filter());
    let (file, order) = (hosts.join("hosts"), hosts.join("nsswitch.conf"));
    let named = format!(
        "--ro-bind {} /etc/hosts --ro-bind {} /etc/nsswitch.conf",
        file.display(),
        order.display()
    );
    let mut seen = vec![
        insert("--dev", &named),
        // Open file descriptors are not closed.
        "*'ready for the program'*) set -- \"$@\" \"$(printf %s \"$a\" | sed 's/os.close(int(name))/pass/')\"; exec 9</dev/null;;".to_owned(),
    ];
    seen.extend(no_filter());
    let writable =
        "--remount-ro) set -- \"$@\" --dev-bind /dev/null /dev/more; skip=1;;".to_owned();
    let mut alive = vec![
        replace("--unshare-all", "--unshare-net --unshare-ipc --unshare-uts"),
        replace("--as-pid-1", ""),
    ];
    alive.extend(no_filter());
    let guards = vec![
        "namespaces",
        "system calls",
        "size of the work folder",
        "namespaces within",
        "privileges",
    ];
    let of = |noticed, cases, environment| Holes { noticed, cases, environment };
    vec![
        of(network, opened, "CANARY=1"),
        of(guards, unguarded, ""),
        of(
            vec!["read-only system", "devices", "steering processes", "first to end"],
            vec![writable],
            "",
        ),
        // Process 1 is bubblewrap then, and has no limits.
        of(vec!["limits", "other processes"], vec![replace("--as-pid-1", "")], ""),
        of(vec!["open files", "names of hosts"], seen, ""),
        of(vec![OUTLIVED], alive, ""),
    ]
}

/// Properties enforced from outside, independent of bubblewrap. Other tests show that they would be
/// exceeded otherwise.
const WATCHED: [&str; 2] = ["memory of all processes", "number of files"];

/// Error for a process that outlives the sandbox. It delays the probe, so no other error is
/// reported.
const OUTLIVED: &str = "the probe: A process of the program outlived the sandbox";

/// Returns true if this machine has a route to other machines that a sandbox could permit.
fn is_connected() -> bool {
    let ways = fs::read_to_string("/proc/net/route").unwrap();
    let is_connected = ways.lines().skip(1).any(|line| !line.starts_with("lo\t"));
    if !is_connected {
        println!("ways to elsewhere: this machine has none, so none can be let through");
    }
    is_connected
}

#[tokio::test]
async fn a_sandbox_that_lets_something_through_is_noticed() {
    if tool(PythonLimits::default()).await.is_none() {
        return;
    }
    let hosts = TempDir::new().unwrap();
    fs::set_permissions(hosts.path(), PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(hosts.path().join("hosts"), "127.0.0.1 example.com\n").unwrap();
    fs::write(hosts.path().join("nsswitch.conf"), "hosts: files\n").unwrap();
    let holes = holes(hosts.path());
    for Holes { noticed, cases, environment } in &holes {
        let (_folder, places) = with_bwrap(&weakened(&cases.join(" "), environment), 0o755);
        let unusable = refusal(&places).await;
        for property in noticed {
            let said =
                if *property == OUTLIVED { OUTLIVED.to_owned() } else { format!("{property}: ") };
            assert!(unusable.message.contains(&said), "{property}: {}", unusable.message);
            let is_broken =
                unusable.message.contains(&format!("{property}: the probe itself failed"));
            assert!(!is_broken, "{property}: {}", unusable.message);
        }
    }
    // The unchanged script is accepted.
    let (_folder, places) = with_bwrap(&weakened("", ""), 0o755);
    let cache = TempDir::new().unwrap();
    PythonTool::open_in(cache.path(), PythonLimits::default(), &places).await.unwrap();
    // Every property that the doctor lists was missing once.
    let counted = checks(cache.path()).await;
    for property in counted.iter().filter_map(|(name, _)| name.strip_prefix("Sandbox: ")) {
        let shown = holes.iter().any(|holes| holes.noticed.contains(&property));
        assert!(
            shown
                || property == "nothing lives on"
                || WATCHED.contains(&property)
                || (property == "ways to elsewhere" && !is_connected()),
            "{property}: no sandbox without it is shown to be noticed"
        );
    }
}

#[tokio::test]
async fn what_was_verified_is_remembered_until_it_changes() {
    let Some(_) = tool(PythonLimits::default()).await else { return };
    let script = format!("[ -e \"${{0%/*}}/broken\" ] && exit 1\n{}", weakened("", ""));
    let (folder, places) = with_bwrap(&script, 0o755);
    let (cache, limits) = (TempDir::new().unwrap(), PythonLimits { files: 9 << 20, ..short() });
    let open = async || PythonTool::open_in(cache.path(), limits.clone(), &places).await;
    open().await.unwrap();
    fs::write(folder.path().join("broken"), "").unwrap();
    let tool = open().await.expect("it is not looked at again");
    let failure =
        tool.call(&program_params("print(1)"), &CancellationToken::new()).await.unwrap_err();
    assert!(failure.message.starts_with("The sandbox could not be started"), "{failure}");
    let path = folder.path().join("bwrap");
    write_program(&path, &format!("{}# changed\n", fs::read_to_string(&path).unwrap()));
    open().await.expect_err("another binary is looked at anew");
}

#[tokio::test]
async fn the_doctor_names_every_property() {
    if tool(PythonLimits::default()).await.is_none() {
        return;
    }
    let cache = TempDir::new().unwrap();
    let checks = checks(cache.path()).await;
    for (name, result) in &checks {
        assert!(result.is_ok(), "{name}: {result:?}");
    }
    let names: Vec<&str> = checks.iter().map(|(name, _)| name.as_str()).collect();
    for name in [
        "Sandbox",
        "Limits of the sandbox",
        "Python in the sandbox",
        "Sandbox: system calls",
        "Sandbox: memory",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(cache.path().join("python-sandbox.json").exists());
    assert_eq!(checks.len(), 28, "{names:?}");
}
