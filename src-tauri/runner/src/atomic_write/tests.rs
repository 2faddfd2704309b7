//! Tests that files are whole, whatever happens while they are replaced.
use super::*;
use crate::disk::DiskErrorKind;
use fs_err as fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const RUN: &str = "a/b/t-promptql-o1-variation0.yaml";

pub(crate) fn below(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(dir).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_file_is_replaced_whole_and_nothing_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    for text in ["first", "", "second\n"] {
        replace(dir.path(), RUN, text.as_bytes()).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(RUN)).unwrap(), text);
        assert_eq!(below(dir.path()), [RUN]);
    }
}

#[test]
fn adding_a_file_never_replaces_another() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(add(dir.path(), RUN, b"first"), Ok(true));
    assert_eq!(add(dir.path(), RUN, b"second"), Ok(false));
    assert_eq!(
        (fs::read(dir.path().join(RUN)).unwrap(), below(dir.path())),
        (b"first".to_vec(), vec![RUN.to_owned()])
    );
}

#[test]
fn a_file_keeps_its_mode() {
    let dir = tempfile::tempdir().unwrap();
    replace(dir.path(), "r.yaml", b"1").unwrap();
    for mode in [0o600, 0o664, 0o444] {
        fs::set_permissions(dir.path().join("r.yaml"), std::fs::Permissions::from_mode(mode))
            .unwrap();
        replace(dir.path(), "r.yaml", b"2").unwrap();
        assert_eq!(
            fs::metadata(dir.path().join("r.yaml")).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
}

#[test]
fn a_name_may_be_as_long_as_names_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let name = format!("{}.yaml", "x".repeat(250));
    replace(dir.path(), &name, b"1").unwrap();
    assert_eq!(below(dir.path()), std::slice::from_ref(&name));
    // Also where a suffix is added: twice, in order to number the second, and not in the middle of
    // a character.
    for name in [&name, &name, &format!("{}x.yaml", "\u{e9}".repeat(124))] {
        replace(dir.path(), name, b"1").unwrap();
        let to = move_aside(dir.path(), name).unwrap().unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"1");
    }
    assert_eq!(below(dir.path()).len(), 3, "{:?}", below(dir.path()));
}

#[test]
fn links_and_folders_in_the_way_are_refused_and_what_they_lead_to_stays() {
    let dir = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("victim"), "x").unwrap();
    symlink(other.path().join("victim"), dir.path().join("r.yaml")).unwrap();
    symlink(other.path(), dir.path().join("d")).unwrap();
    fs::create_dir(dir.path().join("f.yaml")).unwrap();
    for path in ["r.yaml", "d/r.yaml", "d/e/r.yaml", "f.yaml"] {
        assert_eq!(
            replace(dir.path(), path, b"y").map_err(|error| error.kind),
            Err(DiskErrorKind::InTheWay),
            "{path}"
        );
    }
    assert_eq!(
        move_aside(dir.path(), "r.yaml").map_err(|error| error.kind),
        Err(DiskErrorKind::InTheWay)
    );
    assert_eq!(below(other.path()), ["victim"]);
    assert_eq!(fs::read_to_string(other.path().join("victim")).unwrap(), "x");
    // Without the link it works.
    fs::remove_file(dir.path().join("r.yaml")).unwrap();
    replace(dir.path(), "r.yaml", b"y").unwrap();
}

#[test]
fn what_a_dead_process_left_is_swept_and_only_that() {
    let dir = tempfile::tempdir().unwrap();
    replace(dir.path(), RUN, b"1").unwrap();
    replace(dir.path(), "a/b/other.yaml", b"1").unwrap();
    let left = |name: &str| {
        fs::write(dir.path().join("a/b").join(format!("{}1-1.tmp", temporaries_of(name))), "")
            .unwrap();
    };
    left("t-promptql-o1-variation0.yaml");
    left("other.yaml");
    sweep(dir.path(), RUN).unwrap();
    assert_eq!(below(dir.path()).len(), 3);
    sweep(dir.path(), "a/b/other.yaml").unwrap();
    assert_eq!(below(dir.path()), ["a/b/other.yaml", RUN]);
    sweep(dir.path(), "nowhere/r.yaml").unwrap();
}

#[test]
fn the_temporary_file_is_none_that_lists_and_watchers_see() {
    use touchstone_store::roots::{FileId, Root};
    let file = FileId::new(Root::Output, format!("a/{}1-1.tmp", temporaries_of("r.yaml")));
    assert!(touchstone_store::scan::is_hidden(&file));
}

#[test]
fn nothing_that_was_moved_aside_is_ever_written_over() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(move_aside(dir.path(), RUN), Ok(None));
    let mut places = std::collections::BTreeSet::new();
    for turn in 0..5 {
        replace(dir.path(), RUN, turn.to_string().as_bytes()).unwrap();
        let place = move_aside(dir.path(), RUN).unwrap().unwrap();
        assert!(place.starts_with(dir.path().join(".touchstone/replaced/a/b")), "{place:?}");
        assert_eq!(fs::read_to_string(&place).unwrap(), turn.to_string());
        places.insert(place);
    }
    assert_eq!(places.len(), 5);
    assert!(!dir.path().join(RUN).exists());
}

thread_local! {
    /// Edit that another program makes after the new content was written and before it is named.
    static EDIT: std::cell::RefCell<Option<Box<dyn FnOnce()>>> = std::cell::RefCell::default();
}

pub(super) fn before_exchange(_: &str) {
    if let Some(edit) = EDIT.take() {
        edit();
    }
}

#[test]
fn an_edit_at_any_instant_of_a_write_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("r.yaml");
    let replaced = |at: Option<PathBuf>| at.map(|path| fs::read_to_string(path).unwrap());
    let (first, kept) = replace_own(dir.path(), "r.yaml", b"first", None).unwrap();
    assert_eq!((kept, below(dir.path())), (None, vec!["r.yaml".to_owned()]));
    assert_eq!(stamp_of(dir.path(), "r.yaml"), Ok(Some(first)));
    let (second, kept) = replace_own(dir.path(), "r.yaml", b"second", Some(first)).unwrap();
    assert_eq!((replaced(kept), below(dir.path()).len()), (None, 1), "own content is not kept");

    // Before the write, in place and by a new file; and a file that appeared where none was.
    fs::write(&file, "edited").unwrap();
    let (third, kept) = replace_own(dir.path(), "r.yaml", b"third", Some(second)).unwrap();
    assert_eq!(replaced(kept).as_deref(), Some("edited"));
    let (_, kept) = replace_own(dir.path(), "r.yaml", b"fourth", None).unwrap();
    assert_eq!(replaced(kept).as_deref(), Some("third"));
    assert_ne!(stamp_of(dir.path(), "r.yaml"), Ok(Some(third)));

    // Between the look and the exchange.
    for (last, edit) in [(stamp_of(dir.path(), "r.yaml").unwrap(), "fifth"), (None, "sixth")] {
        if last.is_none() {
            fs::remove_file(&file).unwrap();
        }
        let target = file.clone();
        EDIT.set(Some(Box::new(move || {
            let temp = target.with_extension("edit");
            fs::write(&temp, edit).unwrap();
            fs::rename(&temp, &target).unwrap();
        })));
        let (stamp, kept) = replace_own(dir.path(), "r.yaml", b"own", last).unwrap();
        assert_eq!(replaced(kept).as_deref(), Some(edit));
        assert_eq!(fs::read_to_string(&file).unwrap(), "own");
        assert_eq!(stamp_of(dir.path(), "r.yaml"), Ok(Some(stamp)));
    }

    // Right after the exchange: it is an edit for the next write.
    let own = stamp_of(dir.path(), "r.yaml").unwrap();
    fs::write(&file, "seventh").unwrap();
    let (_, kept) = replace_own(dir.path(), "r.yaml", b"own", own).unwrap();
    assert_eq!(replaced(kept).as_deref(), Some("seventh"));
}

#[test]
fn starting_over_moves_the_journal_aside_too() {
    let dir = tempfile::tempdir().unwrap();
    replace(dir.path(), RUN, b"x").unwrap();
    fs::create_dir_all(dir.path().join(".touchstone/journal/a/b")).unwrap();
    fs::write(dir.path().join(".touchstone/journal").join(journal_of(RUN)), "y").unwrap();
    start_over(dir.path(), RUN).unwrap().unwrap();
    let left = below(dir.path());
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(
        left.iter()
            .all(|path| path.starts_with(".touchstone/replaced/a/b/t-promptql-o1-variation0-2")),
        "{left:?}"
    );
    assert_eq!(start_over(dir.path(), RUN), Ok(None));
}

#[test]
fn a_folder_that_may_not_be_written_is_an_error_with_the_next_step() {
    let dir = tempfile::tempdir().unwrap();
    replace(dir.path(), "d/r.yaml", b"1").unwrap();
    let sub = dir.path().join("d");
    fs::set_permissions(&sub, std::fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(sub.join("probe"), "").is_ok() {
        eprintln!("left out: this user may write everywhere");
        return;
    }
    let tried = replace(dir.path(), "d/r.yaml", b"2");
    fs::set_permissions(&sub, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(tried.map_err(|error| error.kind), Err(DiskErrorKind::NotPermitted));
    assert_eq!(fs::read_to_string(sub.join("r.yaml")).unwrap(), "1");
    assert_eq!(below(dir.path()), ["d/r.yaml"]);
}

#[test]
fn a_disk_that_is_read_only_is_one_where_writing_is_not_permitted() {
    let Some(disk) = Mounted::with_size("64k") else { return };
    replace(disk.path(), "r.yaml", b"1").unwrap();
    disk.make_read_only();
    for tried in [replace(disk.path(), "r.yaml", b"2"), replace(disk.path(), "d/r.yaml", b"2")] {
        assert_eq!(tried.map_err(|error| error.kind), Err(DiskErrorKind::NotPermitted));
    }
    assert_eq!(fs::read_to_string(disk.path().join("r.yaml")).unwrap(), "1");
}

/// Small in-memory disk; unmounted on drop.
pub(crate) struct Mounted(tempfile::TempDir);

impl Mounted {
    /// Runs the calling test once more in user and mount namespaces of its own, where any user may
    /// mount. Returns the disk there, and `None` in the outer process, whose test then ends. Set
    /// `TOUCHSTONE_WITHOUT_MOUNTS=1` on systems without namespaces.
    pub(crate) fn with_size(size: &str) -> Option<Self> {
        let test = std::thread::current().name().unwrap_or("main").to_owned();
        // If a single thread runs all tests, the name of the test is not known.
        let inside = std::env::var_os("TEST_MAY_MOUNT").is_some();
        if !inside && std::env::var_os("TOUCHSTONE_WITHOUT_MOUNTS").is_some() {
            eprintln!("not run: TOUCHSTONE_WITHOUT_MOUNTS is set");
            return None;
        }
        if inside || test == "main" {
            let disk = Mounted(tempfile::tempdir().unwrap());
            assert!(
                mount(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], disk.path()),
                "nothing can be mounted"
            );
            return Some(disk);
        }
        let ran = std::process::Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "--"])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture"])
            .envs([("TEST_MAY_MOUNT", "1"), ("RUST_TEST_THREADS", "2")])
            .output()
            .expect("`unshare` of util-linux is needed; set TOUCHSTONE_WITHOUT_MOUNTS=1 where there is none");
        let (out, err) =
            (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let hint = "Set TOUCHSTONE_WITHOUT_MOUNTS=1 where user namespaces are not allowed.";
        assert!(ran.status.success() && out.contains("1 passed"), "{out}{err}\n{hint}");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], self.path()));
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Unmounting fails harmlessly if nothing was mounted.
        let _ = std::process::Command::new("umount").arg("-l").arg(self.path()).output();
    }
}

fn mount(arguments: &[&str], at: &Path) -> bool {
    let done = std::process::Command::new("mount").args(arguments).arg(at).output();
    done.is_ok_and(|done| done.status.success())
}
