//! A control group for a sandbox, if this user may create one. The kernel then enforces the memory
//! limit for all its processes, and kills them as a unit. Only cgroup version 2 is used, because
//! ordinary users have no access to version 1.
use fs_err as fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const NAME: &str = "touchstone";

/// A control group that is removed on drop.
#[derive(Debug)]
pub(super) struct ControlGroup {
    folder: PathBuf,
}

impl ControlGroup {
    /// Creates a control group with these limits. Returns `None` if this user may not, or if the
    /// kernel does not account both memory and processes.
    pub(super) fn make(memory: u64, processes: u64) -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        Self::make_in_any(&parents(&mounts, &own), memory, processes)
    }

    /// Creates a control group in the first of the folders in which that is possible.
    fn make_in_any(parents: &[PathBuf], memory: u64, processes: u64) -> Option<Self> {
        parents.iter().find_map(|parent| Self::make_in(parent, memory, processes).ok())
    }

    fn make_in(parent: &Path, memory: u64, processes: u64) -> io::Result<Self> {
        static TURN: AtomicU64 = AtomicU64::new(0);
        let passed_on = fs::read_to_string(parent.join("cgroup.subtree_control"))?;
        if !["memory", "pids"]
            .iter()
            .all(|wanted| passed_on.split_whitespace().any(|word| word == *wanted))
        {
            return Err(io::ErrorKind::Unsupported.into());
        }
        remove_left_over(parent);
        let turn = TURN.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{NAME}-{}-{turn}", std::process::id()));
        fs::create_dir(&folder)?;
        let group = Self { folder };
        group.set("memory.max", &memory.to_string())?;
        group.set("memory.oom.group", "1")?;
        group.set("pids.max", &processes.to_string())?;
        // The file does not exist if the kernel does not account swap.
        let _ = group.set("memory.swap.max", "0");
        Ok(group)
    }

    /// Moves a process into the group.
    pub(super) fn take(&self, process: u32) -> io::Result<()> {
        self.set("cgroup.procs", &process.to_string())
    }

    /// Returns true if the kernel killed its processes for using too much memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let ended = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        ended.is_some_and(|count| count.trim() != "0")
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.folder.join(file), value)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // If a process has not quite exited, the next start of the program removes the group.
        let _ = self.set("cgroup.kill", "1");
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Returns the folders in which a group may be created: inside this process's own group, or beside
/// it, since a group that contains processes cannot delegate controllers.
fn parents(mounts: &str, own: &str) -> Vec<PathBuf> {
    let root = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        // The root of the hierarchy, not a bind mount of a part.
        let mut fields = place.split(' ').skip(3);
        (kind.starts_with("cgroup2 ") && fields.next() == Some("/"))
            .then(|| fields.next())
            .flatten()
    });
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let (Some(root), Some(path)) = (root, path) else { return Vec::new() };
    let own = Path::new(root).join(path.trim_end_matches('/'));
    let beside = own.parent().filter(|parent| parent.starts_with(root)).map(Path::to_owned);
    [Some(own), beside].into_iter().flatten().collect()
}

/// Removes leftover groups of programs that have exited. A group with processes cannot be removed.
fn remove_left_over(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(NAME)?.strip_prefix('-')?.split_once('-'));
        if process.is_some_and(|(process, _)| !Path::new("/proc").join(process).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /sys rw - sysfs sysfs rw\n\
                          31 24 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn a_group_is_made_below_our_own_or_beside_it() {
        let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/a.scope\n";
        let at = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice";
        assert_eq!(parents(MOUNTS, own), [Path::new(at).join("a.scope"), at.into()]);
        assert_eq!(parents(MOUNTS, "0::/\n"), [Path::new("/sys/fs/cgroup")]);
        // Version 1, a mounted subtree, no mount at all.
        assert_eq!(
            parents(
                "31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
                "4:memory:/a\n"
            )
            .len(),
            0
        );
        assert_eq!(
            parents("31 24 0:27 /part /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", own).len(),
            0
        );
        assert_eq!(parents("", "").len(), 0);
    }

    #[test]
    fn of_a_tree_the_first_folder_that_counts_is_taken_and_nothing_is_left_in_the_others() {
        let tree = tempfile::tempdir().unwrap();
        let own = tree.path().join("app.slice/a.scope");
        fs::create_dir_all(&own).unwrap();
        let mounts = format!("31 24 0:27 / {} rw - cgroup2 cgroup2 rw\n", tree.path().display());
        let found = parents(&mounts, "3:cpu:/elsewhere\n0::/app.slice/a.scope\n");
        assert_eq!(found, [own.clone(), tree.path().join("app.slice")]);
        let make = || ControlGroup::make_in_any(&found, 1 << 20, 8);
        assert!(make().is_none(), "no folder says what it counts");
        // A group with processes passes nothing on, and the one above it does.
        fs::write(own.join("cgroup.subtree_control"), "\n").unwrap();
        fs::write(tree.path().join("app.slice/cgroup.subtree_control"), "memory pids\n").unwrap();
        let group = make().unwrap();
        assert_eq!(group.folder.parent(), Some(found[1].as_path()));
        let name = group.folder.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("{NAME}-{}-", std::process::id())), "{name}");
        assert_eq!(fs::read_dir(&own).unwrap().count(), 1, "only what was there before");
        let killed = group.folder.join("cgroup.kill");
        drop(group);
        assert_eq!(fs::read_to_string(killed).unwrap(), "1", "its processes end with it");
    }

    /// Creates a real group; prints the reason if this machine has none.
    fn real_group(memory: u64) -> Option<ControlGroup> {
        let group = ControlGroup::make(memory, 16);
        if group.is_none() {
            let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
            let has_any = mounts.contains(" - cgroup2 ");
            let why = if has_any {
                "no group of version 2 that this user may use counts memory and processes"
            } else {
                "no cgroup of version 2 is mounted"
            };
            eprintln!("not run: {why}");
        }
        group
    }

    /// Starts a shell in the group that runs `then` once it is a member.
    fn member(group: &ControlGroup, then: &str) -> std::process::Child {
        use std::io::Write as _;
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", &format!("read -r _; {then}")]).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        group.take(child.id()).unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"\n");
        child
    }

    #[test]
    fn a_real_group_ends_what_takes_too_much_memory_and_says_so() {
        use std::os::unix::process::ExitStatusExt as _;
        let Some(group) = real_group(64 << 20) else { return };
        assert!(!group.ran_out_of_memory());
        // It keeps the end of an endless file, which is longer than the limit.
        let mut greedy = member(&group, "exec tail -c 300000000 /dev/zero");
        assert_eq!(greedy.wait().unwrap().signal(), Some(9));
        assert!(group.ran_out_of_memory());
    }

    #[test]
    fn a_real_group_that_is_dropped_ends_its_processes() {
        use std::os::unix::process::ExitStatusExt as _;
        let Some(group) = real_group(1 << 30) else { return };
        let mut sleeper = member(&group, "exec sleep 1000");
        drop(group);
        assert_eq!(sleeper.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_group_has_its_bounds_before_anything_is_in_it_and_is_not_made_where_nothing_is_counted() {
        let parent = tempfile::tempdir().unwrap();
        let control = parent.path().join("cgroup.subtree_control");
        let make = || ControlGroup::make_in(parent.path(), 1 << 30, 64);
        make().unwrap_err();
        for passed_on in ["", "cpu io\n", "memory\n", "pids cpu\n"] {
            fs::write(&control, passed_on).unwrap();
            make().unwrap_err();
        }
        fs::write(&control, "cpu memory pids\n").unwrap();
        let left_over = parent.path().join(format!("{NAME}-4194999-0"));
        fs::create_dir(&left_over).unwrap();
        let group = make().unwrap();
        let read = |file: &str| fs::read_to_string(group.folder.join(file)).unwrap();
        assert_eq!(
            (read("memory.max"), read("pids.max"), read("memory.oom.group")),
            ("1073741824".into(), "64".into(), "1".into())
        );
        assert!(!left_over.exists(), "what a program left behind is removed");
        assert!(make().unwrap().folder != group.folder, "each has one of its own");
        group.take(77).unwrap();
        assert_eq!(read("cgroup.procs"), "77");
        for (events, ended) in
            [("low 0\noom 1\noom_kill 3\n", true), ("oom 1\noom_kill 0\n", false), ("", false)]
        {
            fs::write(group.folder.join("memory.events"), events).unwrap();
            assert_eq!(group.ran_out_of_memory(), ended, "{events}");
        }
    }
}
