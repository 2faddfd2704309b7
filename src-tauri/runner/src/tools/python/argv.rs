//! **Pure.** The command line of the sandbox: what a program sees of the machine, and its limits.
use super::PythonLimits;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What the sandbox is made of on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    /// `bwrap`.
    pub(super) bwrap: PathBuf,
    /// `prlimit`, below /usr.
    pub(super) prlimit: PathBuf,
    /// `python3`, below /usr.
    pub(super) python: PathBuf,
    /// Top folders such as /lib: links into /usr, with where they lead, or folders of their own.
    pub(super) tops: Vec<(PathBuf, Top)>,
    /// True when root starts the sandbox, and must become nobody first: the limit of processes does
    /// not hold for root.
    pub(super) as_nobody: bool,
}

/// What a top folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Top {
    /// A link, with what it says.
    Link(PathBuf),
    /// A folder or a file.
    Real,
}

/// Top folders that hold programs and libraries, where they exist.
pub(super) const TOPS: [&str; 5] = ["/lib", "/lib32", "/lib64", "/bin", "/sbin"];
/// Parts of /etc that libraries outside the standard folders are found by: no more of /etc is seen.
pub(super) const ETC: [&str; 2] = ["/etc/ld.so.cache", "/etc/alternatives"];
/// The whole environment that is asked for. bubblewrap adds PWD.
pub(super) const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/work"),
    ("TMPDIR", "/work"),
    ("LANG", "C.UTF-8"),
];
/// What stands before the program: it waits until the sandbox stands, shuts what was left open, and
/// looks after the program as the first process of the sandbox.
pub(super) const PRELUDE: &str = include_str!("prelude.py");
/// What the prelude says on stderr once the sandbox stands. Then it reads the program: its length,
/// a line end, its bytes.
pub(super) const READY: &[u8] = b"touchstone: ready for the program\n";
/// For locks between processes of one program.
pub(super) const SHARED_MEMORY: u64 = 1 << 20;
/// The user that root becomes before it starts a sandbox.
pub(super) const NOBODY: u32 = 65534;

/// Arguments of bubblewrap, for a program that comes by stdin. With `filter`, a filter of system
/// calls is read from that descriptor.
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
    // So that the first process of the sandbox has the limits, too: one without could be steered by
    // all others.
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
    // bubblewrap makes `/` and `/dev` of memory without a limit; they are shut again once
    // everything is in its place. What can be written below /proc is the memory of processes, and
    // who ends first where memory runs out.
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
    // The soft limit ends a program with a signal of its own, so that it can be told from others.
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
