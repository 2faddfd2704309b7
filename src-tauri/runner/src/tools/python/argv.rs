//! **Pure.** Command line of the sandbox: its view of the machine, and its limits.
use super::PythonLimits;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Components of the sandbox on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// Path of `bwrap`.
    pub(super) bwrap: PathBuf,
    /// Path of `prlimit`, below /usr.
    pub(super) prlimit: PathBuf,
    /// Path of `python3`, below /usr.
    pub(super) python: PathBuf,
    /// Top-level folders such as /lib: symbolic links into /usr, or folders of their own.
    pub(super) tops: Vec<(PathBuf, Top)>,
    /// True if the process runs as root, and has to switch to user `nobody` first: the process
    /// limit does not apply to root.
    pub(super) as_nobody: bool,
}

/// Kind of a top-level folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Top {
    /// A symbolic link, with its target.
    Link(PathBuf),
    /// A folder or a file.
    Real,
}

/// Top-level folders with programs and libraries, if they exist.
pub(super) const TOPS: [&str; 5] = ["/lib", "/lib32", "/lib64", "/bin", "/sbin"];
/// Parts of /etc needed to find libraries outside the standard folders. The rest of /etc is hidden.
pub(super) const ETC: [&str; 2] = ["/etc/ld.so.cache", "/etc/alternatives"];
/// Complete environment to set. bubblewrap adds PWD.
pub(super) const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/work"),
    ("TMPDIR", "/work"),
    ("LANG", "C.UTF-8"),
];
/// Python code that runs before the program: it waits for the sandbox to be set up, closes leftover
/// file descriptors, and supervises the program as the first process of the sandbox.
pub(super) const PRELUDE: &str = include_str!("prelude.py");
/// Marker that the prelude writes to stderr once the sandbox is set up. It then reads the program:
/// length, line end, bytes.
pub(super) const READY: &[u8] = b"touchstone: ready for the program\n";
/// Size of /dev/shm in bytes, for locks between the processes of a program.
pub(super) const SHARED_MEMORY: u64 = 1 << 20;
/// User id that root switches to before starting a sandbox.
pub(super) const NOBODY: u32 = 65534;

/// Returns the arguments of bubblewrap for a program that is sent through stdin. With `filter`, a
/// seccomp filter is read from that file descriptor.
pub(super) fn arguments(
    parts: &Parts,
    limits: &PythonLimits,
    filter: Option<i32>,
) -> Vec<OsString> {
    let mut line = Line::default();
    line.all(&[
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
    ]);
    // The first process of the sandbox has to have the limits too: a process without them could be
    // controlled by all others.
    line.all(&["--as-pid-1"]);
    line.all(&[
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--hostname",
        "sandbox",
        "--cap-drop",
        "ALL",
        "--clearenv",
    ]);
    for (name, value) in ENVIRONMENT {
        line.all(&["--setenv", name, value]);
    }
    line.all(&["--ro-bind", "/usr", "/usr"]);
    for (at, top) in &parts.tops {
        match top {
            Top::Link(to) => line.all(&[OsStr::new("--symlink"), to.as_os_str(), at.as_os_str()]),
            Top::Real => line.all(&[OsStr::new("--ro-bind"), at.as_os_str(), at.as_os_str()]),
        }
    }
    let work = limits.files.to_string();
    // bubblewrap puts `/` and `/dev` into memory without a size limit; they are made read-only once
    // everything is mounted. A writable /proc would expose the memory of processes and their OOM
    // priority.
    line.all(&[
        "--proc",
        "/proc",
        "--remount-ro",
        "/proc",
        "--dev",
        "/dev",
        "--size",
        &SHARED_MEMORY.to_string(),
        "--tmpfs",
        "/dev/shm",
    ]);
    line.all(&[
        "--remount-ro",
        "/dev",
        "--size",
        &work,
        "--tmpfs",
        "/work",
        "--symlink",
        "work",
        "/tmp",
    ]);
    line.all(&["--remount-ro", "/", "--chdir", "/work"]);
    if let Some(descriptor) = filter {
        line.all(&["--seccomp", &descriptor.to_string()]);
    }
    line.all(&["--"]);
    line.path(&parts.prlimit);
    let cpu = limits.cpu.as_secs().max(1);
    // The soft limit ends a program with its own signal, which makes this case recognizable.
    line.all(&[format!("--cpu={cpu}:{}", cpu + 2), format!("--as={}", limits.memory)]);
    line.all(&[format!("--nproc={}", limits.processes), format!("--fsize={}", limits.files)]);
    line.all(&["--nofile=64", "--core=0"]);
    line.path(&parts.python);
    let armed = if filter.is_some() { "2" } else { "0" };
    line.all(&["-I", "-B", "-c", PRELUDE, armed, &seconds(limits.wall), &seconds(limits.grace)]);
    line.0
}

fn seconds(duration: std::time::Duration) -> String {
    format!("{}.{:03}", duration.as_secs(), duration.subsec_millis())
}

#[derive(Default)]
struct Line(Vec<OsString>);

impl Line {
    fn all<T: AsRef<OsStr>>(&mut self, words: &[T]) {
        self.0.extend(words.iter().map(|word| word.as_ref().to_owned()));
    }

    fn path(&mut self, path: &Path) {
        self.0.push(path.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(tops: Vec<(PathBuf, Top)>) -> Parts {
        let [bwrap, prlimit, python] =
            ["bwrap", "prlimit", "python3"].map(|name| Path::new("/usr/bin").join(name));
        Parts { bwrap, prlimit, python, tops, as_nobody: false }
    }

    fn line(tops: Vec<(PathBuf, Top)>, filter: Option<i32>) -> String {
        let arguments = arguments(&parts(tops), &PythonLimits::default(), filter);
        arguments
            .join(OsStr::new(" "))
            .into_string()
            .unwrap()
            .replace(PRELUDE, "PRELUDE")
            .replace(" --", "\n--")
    }

    #[test]
    fn the_command_line_is_the_one_that_was_verified() {
        let tops = vec![
            ("/lib".into(), Top::Link("usr/lib".into())),
            ("/sbin".into(), Top::Link("usr/sbin".into())),
        ];
        insta::assert_snapshot!(line(tops, Some(9)), @"
        --unshare-all
        --unshare-user
        --disable-userns
        --die-with-parent
        --new-session
        --as-pid-1
        --uid 1000
        --gid 1000
        --hostname sandbox
        --cap-drop ALL
        --clearenv
        --setenv PATH /usr/local/bin:/usr/bin:/bin
        --setenv HOME /work
        --setenv TMPDIR /work
        --setenv LANG C.UTF-8
        --ro-bind /usr /usr
        --symlink usr/lib /lib
        --symlink usr/sbin /sbin
        --proc /proc
        --remount-ro /proc
        --dev /dev
        --size 1048576
        --tmpfs /dev/shm
        --remount-ro /dev
        --size 67108864
        --tmpfs /work
        --symlink work /tmp
        --remount-ro /
        --chdir /work
        --seccomp 9
        -- /usr/bin/prlimit
        --cpu=20:22
        --as=1073741824
        --nproc=64
        --fsize=67108864
        --nofile=64
        --core=0 /usr/bin/python3 -I -B -c PRELUDE 2 30.000 2.000
        ");
    }

    #[test]
    fn folders_that_are_no_links_are_seen_and_cannot_be_written() {
        let line = line(vec![("/lib64".into(), Top::Real)], None);
        assert!(line.contains("--ro-bind /lib64 /lib64\n"));
        assert!(!line.contains("--seccomp"));
    }

    #[test]
    fn nothing_of_the_machine_can_be_written() {
        let line = line(Vec::new(), Some(3));
        for word in ["--bind ", "--dev-bind", "--bind-try", "--share-net"] {
            assert!(!line.contains(word), "{word}");
        }
    }
}
