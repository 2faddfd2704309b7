//! File watcher: forwards change events of the operating system to the inbox. Events are hints.
//! Lost ones are compensated by listing new directories again shortly afterwards, and by a full
//! scan after every error and at regular intervals. If events were lost, the watches are set up
//! again, because a directory whose creation was missed is not watched.
use super::inbox::{Hints, Inbox};
use super::open;
use super::roots::Roots;
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_api::{WatchMeans, Watching};

/// Application folder next to the results, and its subfolders that are only used by the making of
/// runs.
const OURS: &[u8] = b".touchstone";
const OF_RUNS: [&[u8]; 2] = [b"journal", b"locks"];
/// Its subfolders that tell of launches.
const OF_LAUNCHES: [&[u8]; 2] = [b"launches", b"submissions"];
/// Prefix of temporary files that are about to replace others. The replacement itself causes an
/// event.
const TEMPORARY: &[u8] = b".touchstone-";

/// File watcher, active from its start until it is dropped.
#[derive(Default)]
pub(crate) struct Watch {
    watcher: Mutex<Option<RecommendedWatcher>>,
}

impl Watch {
    /// Starts watching the roots, replacing earlier watches, and reports the means of watching
    /// through the inbox. May take seconds for very many folders.
    pub(crate) fn start(&self, roots: &Roots, wanted: bool, inbox: &Arc<Inbox>) {
        let outer = outer_dirs(roots);
        let unfit = outer.iter().find_map(|dir| unfit(dir));
        let mut slot = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        // The old watches are dropped first, because both together might exceed the system's limit.
        *slot = None;
        let started = match unfit {
            _ if !wanted => Err("Watching is switched off.".to_owned()),
            Some(kind) => Err(format!("This folder is on {kind}, which does not report changes.")),
            None => listen(&outer, inbox).map_err(|error| sentence(&error)),
        };
        let watching = match started {
            Ok(watcher) => {
                *slot = Some(watcher);
                Watching { by: WatchMeans::Native, notice: None }
            }
            Err(why) => polling(&why),
        };
        // Changes made while the watch was being set up are only found by listing.
        inbox.add(|hints| {
            hints.watching = Some(watching);
            hints.rescan = true;
        });
    }
}

fn polling(why: &str) -> Watching {
    Watching {
        by: WatchMeans::Polling,
        notice: Some(format!("{why} Touchstone lists it every few seconds instead.")),
    }
}

fn listen(dirs: &[PathBuf], inbox: &Arc<Inbox>) -> notify::Result<RecommendedWatcher> {
    let to = Arc::clone(inbox);
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(move |event| note(event, &to), config)?;
    for dir in dirs {
        match dir.parent() {
            // The creation of the directory causes an event in its parent.
            Some(above) if !dir.exists() => watcher.watch(above, RecursiveMode::NonRecursive)?,
            _ => watcher.watch(dir, RecursiveMode::Recursive)?,
        }
    }
    Ok(watcher)
}

/// Adds an event to the inbox. Runs on the thread that empties the system's queue, so it must be
/// fast.
fn note(event: notify::Result<Event>, inbox: &Inbox) {
    match event {
        Ok(event) if event.need_rescan() => inbox.add(Hints::lose_count),
        Ok(mut event) => {
            let all = event.paths.len();
            event.paths.retain(|path| !is_in(path, &OF_LAUNCHES));
            if event.paths.len() < all && matters(event.kind) {
                // A log grows with every reply; its end closes it.
                inbox.note_launches(matches!(event.kind, EventKind::Modify(ModifyKind::Data(_))));
            }
            event.paths.retain(|path| !is_of_runs(path));
            if matters(event.kind) && !event.paths.is_empty() {
                inbox.add(|hints| put(event, hints));
            }
        }
        Err(error) => inbox.add(|hints| {
            hints.rescan = true;
            if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) {
                hints.watching = Some(polling(&sentence(&error)));
            }
        }),
    }
}

/// Returns false for read accesses, which include the application's own.
fn matters(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

fn put(event: Event, hints: &mut Hints) {
    // A rename has the old name first. Both are listed, and the old one is found to be gone.
    let may_be_new_dir = matches!(
        event.kind,
        EventKind::Create(CreateKind::Folder | CreateKind::Any | CreateKind::Other)
            | EventKind::Modify(ModifyKind::Name(
                RenameMode::To | RenameMode::Both | RenameMode::Any
            ))
    );
    for path in event.paths {
        if may_be_new_dir {
            hints.new_dirs.insert(path);
        } else {
            hints.touched.insert(path);
        }
    }
}

/// Returns true for internal files of running runs. They have no rows and change with every
/// response and tool call.
fn is_of_runs(path: &Path) -> bool {
    let is_temporary =
        || path.file_name().is_some_and(|name| name.as_bytes().starts_with(TEMPORARY));
    let is_ours = path.iter().any(|name| name.as_bytes() == OURS);
    if is_ours { is_in(path, &OF_RUNS) } else { is_temporary() }
}

/// Returns true for paths in these folders of the application folder.
fn is_in(path: &Path, folders: &[&[u8]]) -> bool {
    let mut names = path.iter().map(OsStr::as_bytes).skip_while(|name| *name != OURS).skip(1);
    names.next().is_some_and(|kind| folders.contains(&kind))
}

fn sentence(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => "The system's limit of watched folders is reached \
             (raise fs.inotify.max_user_watches to watch this folder)."
            .to_owned(),
        notify::ErrorKind::Io(error)
            if error.raw_os_error() == Some(Errno::MFILE.raw_os_error()) =>
        {
            "The system's limit of programs that watch folders is reached \
             (raise fs.inotify.max_user_instances to watch this folder)."
                .to_owned()
        }
        notify::ErrorKind::Io(error) => {
            format!("The folder could not be watched: {}.", open::reason(error))
        }
        notify::ErrorKind::PathNotFound => {
            "The folder could not be watched: it is not there.".to_owned()
        }
        _ => format!("The folder could not be watched: {error}."),
    }
}

/// Returns the roots that are not inside another one.
fn outer_dirs(roots: &Roots) -> Vec<PathBuf> {
    let dirs: Vec<&Path> =
        roots.existing().into_iter().filter_map(|root| roots.dir(root)).collect();
    let outer =
        dirs.iter().filter(|dir| !dirs.iter().any(|other| other != *dir && dir.starts_with(other)));
    outer.map(|dir| dir.to_path_buf()).collect()
}

/// Returns the kind of file system, if it does not report changes made by others.
fn unfit(dir: &Path) -> Option<&'static str> {
    // Some magic numbers do not fit the signed field.
    told_by_nobody(u32::try_from(rustix::fs::statfs(dir).ok()?.f_type & 0xffff_ffff).ok()?)
}

/// Returns the kind of a file system without change events, by its number in the kernel's magic.h.
fn told_by_nobody(kind: u32) -> Option<&'static str> {
    match kind {
        0x6969 => Some("a network folder (NFS)"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("a network folder (SMB)"),
        0x6573_5546 => Some("a FUSE file system"),
        0x0102_1997 => Some("a folder shared with a virtual machine (9p)"),
        0x0bd0_0bd0 | 0x4750_4653 | 0x1983_0326 | 0x0116_1970 => Some("a file system of a cluster"),
        0x00c3_6400 | 0x5346_414f => Some("a network folder"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::inbox::Woken;
    use super::super::limits::Limits;
    use super::*;
    use notify::event::Flag;
    use std::time::{Duration, Instant};

    /// Returns the hints that result from these events.
    fn hints_from(events: Vec<notify::Result<Event>>) -> Hints {
        let inbox = Inbox::new(&Limits { quiet: Duration::ZERO, ..Limits::default() });
        for event in events {
            note(event, &inbox);
        }
        match inbox.wait(Instant::now()) {
            Woken::Hints(hints) => hints,
            other => panic!("nothing was told: {other:?}"),
        }
    }

    #[test]
    fn after_a_queue_that_overflowed_everything_is_listed_and_watched_anew() {
        let hints = hints_from(vec![Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan))]);
        assert!(hints.rescan && hints.rewatch && hints.watching.is_none(), "{hints:?}");
    }

    #[test]
    fn where_no_more_folders_may_be_watched_it_is_polled_and_the_sentence_names_the_limit() {
        let hints = hints_from(vec![Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch))]);
        let watching = hints.watching.unwrap();
        assert!(hints.rescan && watching.by == WatchMeans::Polling);
        let notice = watching.notice.unwrap();
        assert!(
            notice.contains("fs.inotify.max_user_watches")
                && notice.ends_with("every few seconds instead.")
        );
    }

    #[test]
    fn any_other_trouble_has_everything_listed_and_changes_nothing_about_the_watch() {
        let hints = hints_from(vec![Err(notify::Error::generic("trouble"))]);
        assert!(hints.rescan && !hints.rewatch && hints.watching.is_none(), "{hints:?}");
    }

    #[test]
    fn our_own_reading_is_no_change_and_a_name_that_is_new_may_be_a_folder() {
        let inbox = Inbox::new(&Limits::default());
        let reading = [
            AccessKind::Open(AccessMode::Any),
            AccessKind::Read,
            AccessKind::Close(AccessMode::Read),
        ];
        for kind in reading {
            note(Ok(Event::new(EventKind::Access(kind)).add_path("/f/a.yaml".into())), &inbox);
        }
        assert!(!inbox.is_pressing());
        let moved = EventKind::Modify(ModifyKind::Name(RenameMode::To));
        let hints = hints_from(vec![
            Ok(Event::new(EventKind::Access(AccessKind::Close(AccessMode::Write)))
                .add_path("/f/a.yaml".into())),
            Ok(Event::new(moved).add_path("/f/b".into())),
        ]);
        assert_eq!(hints.touched, [PathBuf::from("/f/a.yaml")].into());
        assert_eq!(hints.new_dirs, [PathBuf::from("/f/b")].into());
        assert!(!hints.rescan);
    }

    #[test]
    fn internal_files_of_runs_are_no_changes_and_transcripts_are() {
        let inbox = Inbox::new(&Limits::default());
        let written = || Event::new(EventKind::Access(AccessKind::Close(AccessMode::Write)));
        for path in ["journal/a/b.jsonl", "locks/a.lock", "journal"] {
            note(Ok(written().add_path(Path::new("/f/results/.touchstone").join(path))), &inbox);
        }
        note(
            Ok(written().add_path("/f/results/a/.touchstone-0123456789abcdef-1-2.tmp".into())),
            &inbox,
        );
        assert!(!inbox.is_pressing());
        let moved = Event::new(EventKind::Modify(ModifyKind::Name(RenameMode::Both)));
        let hints = hints_from(vec![
            Ok(moved.add_path("/f/.touchstone-0-1-2.tmp".into()).add_path("/f/a.yaml".into())),
            Ok(written().add_path("/f/.touchstone/reviews/a.yaml".into())),
            Ok(written().add_path("/f/.touchstone/judgements/a.yaml".into())),
            Ok(written().add_path("/f/.touchstone".into())),
            Ok(written().add_path("/f/journal/a.yaml".into())),
        ]);
        let paths = |names: &[&str]| names.iter().map(|name| Path::new("/f").join(name)).collect();
        assert_eq!(hints.new_dirs, paths(&["a.yaml"]));
        let told = [
            ".touchstone/reviews/a.yaml",
            ".touchstone/judgements/a.yaml",
            ".touchstone",
            "journal/a.yaml",
        ];
        assert_eq!(hints.touched, paths(&told));
    }

    #[test]
    fn logs_of_launches_are_told_apart_and_not_at_every_line() {
        let log = || Path::new("/f/results/.touchstone/launches/1.jsonl").to_owned();
        let grown = EventKind::Modify(ModifyKind::Data(notify::event::DataChange::Any));
        let inbox = Inbox::new(&Limits { quiet: Duration::ZERO, ..Limits::default() });
        note(Ok(Event::new(grown).add_path(log())), &inbox);
        let Woken::Hints(hints) = inbox.wait(Instant::now()) else { panic!("nothing was told") };
        assert!(hints.is_only_launches(), "{hints:?}");
        note(Ok(Event::new(grown).add_path(log())), &inbox);
        assert!(!inbox.is_pressing(), "it was told a moment ago");
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        note(Ok(Event::new(closed).add_path(log())), &inbox);
        assert!(inbox.is_pressing(), "the end is always told");
        note(Ok(Event::new(closed).add_path("/f/results/a.yaml".into())), &inbox);
        let Woken::Hints(hints) = inbox.wait(Instant::now()) else { panic!("nothing was told") };
        assert!(hints.launches && !hints.is_only_launches());
    }

    #[test]
    fn a_folder_that_cannot_be_watched_is_polled_for_a_reason_in_words() {
        let home = tempfile::tempdir().unwrap();
        let roots = |output: &Path| Roots {
            folder: output.to_owned(),
            input_dir: None,
            output_dir: output.to_owned(),
            ..Roots::default()
        };
        let gone = home.path().join("gone");
        let deep = gone.join("deep");
        for (dir, wanted, by, words) in [
            (home.path(), true, WatchMeans::Native, ""),
            (home.path(), false, WatchMeans::Polling, "switched off"),
            (gone.as_path(), true, WatchMeans::Native, ""),
            (
                deep.as_path(),
                true,
                WatchMeans::Polling,
                "could not be watched: it is not there. Touchstone lists",
            ),
        ] {
            let inbox =
                Arc::new(Inbox::new(&Limits { quiet: Duration::ZERO, ..Limits::default() }));
            let watch = Watch::default();
            watch.start(&roots(dir), wanted, &inbox);
            let Woken::Hints(hints) = inbox.wait(Instant::now()) else {
                panic!("nothing was told")
            };
            let watching = hints.watching.unwrap();
            assert_eq!(watching.by, by, "{words}");
            assert!(hints.rescan && watching.notice.unwrap_or_default().contains(words), "{words}");
        }
    }

    #[test]
    fn file_systems_that_tell_nothing_are_known_by_their_numbers() {
        // ext, tmpfs, btrfs, xfs, overlay, ZFS, F2FS.
        for local in
            [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010]
        {
            assert_eq!(told_by_nobody(local), None, "{local:x}");
        }
        for (remote, words) in [
            (0x6969, "NFS"),
            (0x517b, "SMB"),
            (0xff53_4d42, "SMB"),
            (0xfe53_4d42, "SMB"),
            (0x6573_5546, "FUSE"),
            (0x0102_1997, "9p"),
            (0x00c3_6400, "network"),
            (0x0bd0_0bd0, "cluster"),
        ] {
            assert!(told_by_nobody(remote).is_some_and(|kind| kind.contains(words)), "{remote:x}");
        }
    }
}
