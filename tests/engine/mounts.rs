//! Small disks for tests, mounted in a namespace of their own.
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the calling test again in its own user and mount namespace, where it may mount small disks,
/// and returns true, so that the caller ends. Inside the namespace it returns false. Set
/// `TOUCHSTONE_WITHOUT_MOUNTS=1` where namespaces are not available: then these tests print that
/// they are skipped.
pub(crate) fn is_run_where_disks_can_be_mounted() -> bool {
    let test = std::thread::current().name().unwrap_or("main").to_owned();
    if std::env::var_os("TEST_MAY_MOUNT").is_some() {
        return false;
    }
    if std::env::var_os("TOUCHSTONE_WITHOUT_MOUNTS").is_some() {
        eprintln!("not run: TOUCHSTONE_WITHOUT_MOUNTS is set");
        return true;
    }
    // With a single test thread the name of the test is unknown, so it runs here, and fails if it
    // may not mount.
    if test == "main" {
        return false;
    }
    let ran = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &test, "--nocapture"])
        .envs([("TEST_MAY_MOUNT", "1"), ("RUST_TEST_THREADS", "2")])
        .output()
        .expect("`unshare` of util-linux is needed; set TOUCHSTONE_WITHOUT_MOUNTS=1 where there is none");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let hint = "Set TOUCHSTONE_WITHOUT_MOUNTS=1 where user namespaces are not allowed.";
    assert!(ran.status.success() && out.contains("1 passed"), "{out}{err}\n{hint}");
    true
}

/// A small disk mounted over a folder.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    /// Mounts a new disk.
    pub(crate) fn mount(path: &Path, options: &str) -> Self {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(path)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Self(path.to_owned())
    }

    /// Changes the options of the disk.
    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
