//! Has the system tell of changes, and puts what it tells into the inbox. What it tells are hints: lost ones are made up for by
//! listing new directories again a little later, by a full scan after every sign of trouble, and by one now and then.
use super::inbox::{Hints, Inbox};
use super::open;
use super::roots::Roots;
use crate::rows::{WatchMeans, Watching};
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RenameMode};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Keeps the system telling until it is dropped.
pub(crate) struct Watch {
    _watcher: Option<RecommendedWatcher>,
}

/// Starts watching the roots, and tells through the inbox by which means. May take seconds for very many folders.
pub(crate) fn start(roots: &Roots, wanted: bool, inbox: &Arc<Inbox>) -> Watch {
    let outer = outer_dirs(roots);
    let unfit = outer.iter().find_map(|dir| unfit(dir));
    let started = match unfit {
        _ if !wanted => Err("Watching is switched off.".to_owned()),
        Some(kind) => Err(format!("This folder is on {kind}, which does not tell of changes.")),
        None => listen(&outer, inbox).map_err(|error| sentence(&error)),
    };
    let (watcher, watching) = match started {
        Ok(watcher) => (Some(watcher), Watching { by: WatchMeans::Native, notice: None }),
        Err(why) => (None, polling(&why)),
    };
    // What changed while the watch was being set up is only found by looking.
    inbox.add(|hints| {
        hints.watching = Some(watching);
        hints.rescan = true;
    });
    Watch { _watcher: watcher }
}

fn polling(why: &str) -> Watching {
    Watching { by: WatchMeans::Polling, notice: Some(format!("{why} It is listed again every few seconds instead.")) }
}

fn listen(dirs: &[PathBuf], inbox: &Arc<Inbox>) -> notify::Result<RecommendedWatcher> {
    let to = Arc::clone(inbox);
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(move |event| note(event, &to), config)?;
    for dir in dirs {
        watcher.watch(dir, RecursiveMode::Recursive)?;
    }
    Ok(watcher)
}

/// Puts one event into the inbox. Runs on the thread that empties the system's queue, so it does nothing else.
fn note(event: notify::Result<Event>, inbox: &Inbox) {
    match event {
        Ok(event) if event.need_rescan() => inbox.add(|hints| hints.rescan = true),
        Ok(event) => {
            if matters(event.kind) {
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

/// Our own reading makes events too; those are none of our business.
fn matters(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

fn put(event: Event, hints: &mut Hints) {
    // The name a file had before is the first of two; both are looked at, and one is found to be gone.
    let may_be_new_dir = matches!(
        event.kind,
        EventKind::Create(CreateKind::Folder | CreateKind::Any | CreateKind::Other)
            | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both | RenameMode::Any))
    );
    for path in event.paths {
        if may_be_new_dir {
            hints.new_dirs.insert(path);
        } else {
            hints.touched.insert(path);
        }
    }
}

fn sentence(error: &notify::Error) -> String {
    match &error.kind {
        notify::ErrorKind::MaxFilesWatch => "The system's limit of watched folders is reached \
             (raise fs.inotify.max_user_watches to watch this folder)."
            .to_owned(),
        notify::ErrorKind::Io(error) => format!("The folder could not be watched: {}.", open::reason(error)),
        _ => format!("The folder could not be watched: {error}."),
    }
}

/// The roots that lie in no other.
fn outer_dirs(roots: &Roots) -> Vec<PathBuf> {
    let dirs: Vec<&Path> = roots.each().into_iter().filter_map(|root| roots.dir(root)).collect();
    let outer = dirs.iter().filter(|dir| !dirs.iter().any(|other| other != *dir && dir.starts_with(other)));
    outer.map(|dir| dir.to_path_buf()).collect()
}

/// The kind of file system, when it is one that does not tell of changes others make.
fn unfit(dir: &Path) -> Option<&'static str> {
    let kind = rustix::fs::statfs(dir).ok()?.f_type;
    // The numbers are those of the kernel's magic.h; some do not fit the sign of the field.
    match u32::try_from(kind & 0xffff_ffff).ok()? {
        0x6969 => Some("a network folder (NFS)"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("a network folder (SMB)"),
        0x6573_5546 => Some("a FUSE file system"),
        0x0102_1997 => Some("a folder shared with a virtual machine (9p)"),
        0x00c3_6400 | 0x5346_414f => Some("a network folder"),
        _ => None,
    }
}
