//! By which means the folder is followed, and what is to be said of that.
use super::conduct::Conductor;
use super::conduct::Shared;
use super::roots::{FileId, Root};
use super::scan::{self, Survey};
use crate::rows::Watching;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

/// Number and birth of a directory: numbers are given again to the next that is made.
pub(crate) type Identity = (u64, Option<SystemTime>);

fn identity(dir: &Path) -> Option<Identity> {
    let meta = dir.symlink_metadata().ok()?;
    Some((meta.ino(), meta.created().ok()))
}

impl Conductor {
    /// Before the first run there may be no folder for results. Where there never was any result, that is no trouble; where there was,
    /// it may come back.
    pub(crate) fn heed_unborn(&mut self, scopes: &[FileId], survey: &mut Survey) {
        // Only a list of all that lies there says whether anything does.
        if !scopes.contains(&FileId::new(Root::Output, "")) {
            return;
        }
        let Shared { roots, limits, .. } = &self.shared;
        let is_gone = |survey: &Survey| matches!(&survey.failed, Some((Root::Output, error)) if error.kind() == ErrorKind::NotFound);
        // Another program may have made it meanwhile, and told the index that both share of its first runs.
        if is_gone(survey) && roots.output_dir.is_dir() {
            *survey = scan::survey(roots, limits, scopes);
        }
        let is_gone = is_gone(survey);
        let is_opened = roots.folder == roots.output_dir;
        let unborn =
            is_gone && !is_opened && roots.folder.is_dir() && self.known.keys().all(|file| file.root != Root::Output);
        if unborn {
            survey.failed = None;
        }
        if unborn != self.unborn && (unborn || survey.failed.is_none()) {
            self.unborn = unborn;
            self.tell_watching();
        }
    }

    /// A directory that was removed and made again is not watched any more, whatever its name; nor is one that was made while the
    /// system lost count.
    pub(crate) fn watch_new_roots(&mut self) {
        let Shared { roots, limits, inbox, watch, .. } = &self.shared;
        let dirs = roots.each().into_iter().filter_map(|root| roots.dir(root));
        let now: Vec<_> = dirs.map(identity).collect();
        let others = !self.watched.is_empty() && self.watched != now;
        if std::mem::take(&mut self.rewatch) || others {
            watch.start(roots, limits.watch, inbox);
        }
        self.watched = now;
    }

    pub(crate) fn tell_watching(&self) {
        let most = self.shared.limits.entries;
        let cut = self.cut.then(|| format!("There are more than {most} files here; the rest is not shown."));
        let unborn = self.unborn.then(|| {
            let dir = self.shared.roots.output_dir.display();
            format!("Nobody has run anything here yet: {dir} is made with the first run.")
        });
        let notices: Vec<String> = self.watching.notice.clone().into_iter().chain(cut).chain(unborn).collect();
        let notice = (!notices.is_empty()).then(|| notices.join(" "));
        let watching = Watching { by: self.watching.by, notice };
        self.shared.live.change(|standing| standing.watching = watching);
        self.tell_status();
    }
}
