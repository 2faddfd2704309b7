//! Mark of an output directory that holds results of attacks: a file for each addition, so that
//! launches on several machines take nothing from each other. The content is owned by the caller.
use super::atomic_write;
use super::disk::{DiskError, Folder, PRIVATE, SIDECARS};
use rustix::fs::{AtFlags, CWD, Mode, Stat, statat};
use std::path::{Path, PathBuf};
use touchstone_clock as clock;
use xxhash_rust::xxh3::xxh3_64;

/// Folder inside `.touchstone`.
const FOLDER: &str = "sensitive";
/// End of the names of the files.
const END: &str = ".json";
/// Maximum bytes of a file.
const MOST: u64 = 64 << 20;
/// Mode of a new file: this user only.
const FRESH: Mode = Mode::from_raw_mode(0o600);

/// Time after a change during which another one may leave the same times behind.
const SETTLES_MS: i64 = 2_000;

/// Device, inode, mode, size, and the times of the last change of a folder or file.
type Identity = (u64, u64, u32, i64, (i64, i64), (i64, i64));

/// Tells whether a mark is still the one that was read, without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Folder of the program; its times change with everything in it, and do not count.
    sidecars: Option<(u64, u64, u32)>,
    folder: Option<Identity>,
    files: Vec<(PathBuf, Option<Identity>)>,
    /// False if the mark was read so soon after a change that the next one may look the same.
    settled: bool,
}

impl Stamp {
    /// Returns the stamp of the mark of a directory, to be taken before the mark is read.
    pub fn take(output_dir: &Path) -> Self {
        let now = clock::now_ms();
        let place = output_dir.join(SIDECARS);
        let folder = place.join(FOLDER);
        let its = identity(&folder);
        let names = its.and_then(|_| Folder::find(output_dir, &[SIDECARS, FOLDER]).ok().flatten());
        let names = names.map(|folder| folder.names("")).unwrap_or_default();
        let files = names.into_iter().filter(|name| is_of_mark(name)).map(|name| {
            let path = folder.join(name);
            let its = identity(&path);
            (path, its)
        });
        let files: Vec<_> = files.collect();
        let all = its.iter().chain(files.iter().filter_map(|(_, its)| its.as_ref()));
        let newest = all.map(|(.., changed)| changed.0 * 1_000 + changed.1 / 1_000_000).max();
        Self {
            sidecars: kind_of(&place),
            folder: its,
            files,
            settled: newest.is_none_or(|newest| newest + SETTLES_MS < now),
        }
    }

    /// Returns true if the mark of the directory has not changed.
    pub fn is_current(&self, output_dir: &Path) -> bool {
        let place = output_dir.join(SIDECARS);
        self.settled
            && self.sidecars == kind_of(&place)
            && (self.sidecars.is_none() || self.folder == identity(&place.join(FOLDER)))
            && self.files.iter().all(|(path, its)| *its == identity(path))
    }
}

fn stat(path: &Path) -> Option<Stat> {
    statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn kind_of(path: &Path) -> Option<(u64, u64, u32)> {
    stat(path).map(|stat| (stat.st_dev, stat.st_ino, stat.st_mode))
}

fn identity(path: &Path) -> Option<Identity> {
    let stat = stat(path)?;
    let nanos = |nanos| i64::try_from(nanos).unwrap_or_default();
    Some((
        stat.st_dev,
        stat.st_ino,
        stat.st_mode,
        stat.st_size,
        (stat.st_mtime, nanos(stat.st_mtime_nsec)),
        (stat.st_ctime, nanos(stat.st_ctime_nsec)),
    ))
}

fn is_of_mark(name: &str) -> bool {
    name.ends_with(END) && !name.starts_with('.')
}

/// Returns the contents of the mark; none if there is no mark.
pub fn read(output_dir: &Path) -> Result<Vec<Vec<u8>>, DiskError> {
    let Some(folder) = Folder::find(output_dir, &[SIDECARS, FOLDER])? else {
        return Ok(Vec::new());
    };
    let mut contents = Vec::new();
    for name in folder.names("") {
        if is_of_mark(&name) {
            contents.extend(folder.read(&name, MOST)?);
        }
    }
    Ok(contents)
}

/// Adds a content to the mark, and creates missing folders. It is durable on return.
pub fn add(output_dir: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    atomic_write::put(&folder, &format!("{:016x}{END}", xxh3_64(bytes)), bytes, FRESH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    /// Changes the times of the mark to a minute ago, so that the next change has another time.
    fn settle(dir: &Path) {
        let ago = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
        let folder = dir.join(".touchstone/sensitive");
        let inside = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        for path in inside.chain([folder.clone()]).collect::<Vec<_>>() {
            fs::File::open(path).unwrap().set_modified(ago).unwrap();
        }
    }

    fn settled(dir: &Path) -> Stamp {
        Stamp { settled: true, ..Stamp::take(dir) }
    }

    #[test]
    fn a_stamp_tells_every_change_of_a_mark() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path();
        let none = Stamp::take(dir);
        assert!(none.is_current(dir) && none.settled, "no mark stays no mark");
        fs::create_dir(dir.join(".touchstone")).unwrap();
        assert!(!none.is_current(dir));
        let empty = Stamp::take(dir);
        fs::create_dir(dir.join(".touchstone/runs")).unwrap();
        assert!(empty.is_current(dir), "other folders of the program say nothing");
        add(dir, b"{}").unwrap();
        assert!(!empty.is_current(dir));
        assert!(!Stamp::take(dir).is_current(dir), "a fresh mark is read again");
        settle(dir);
        let one = settled(dir);
        assert!(one.is_current(dir));
        add(dir, b"{\"tasks\": []}").unwrap();
        assert!(!one.is_current(dir), "another file");
        settle(dir);
        let two = settled(dir);
        let file = dir.join(".touchstone/sensitive").join(format!("{:016x}.json", xxh3_64(b"{}")));
        fs::write(&file, "[]").unwrap();
        assert!(!two.is_current(dir), "other content of the same length in the same file");
        let other = settled(dir);
        settle(dir);
        assert!(!other.is_current(dir));
        let last = settled(dir);
        fs::remove_dir_all(dir.join(".touchstone/sensitive")).unwrap();
        assert!(!last.is_current(dir));
    }

    #[test]
    fn a_link_in_the_place_of_the_folder_is_a_change() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("results");
        fs::create_dir_all(dir.join(".touchstone")).unwrap();
        fs::create_dir(home.path().join("empty")).unwrap();
        let before = Stamp::take(&dir);
        fs::remove_dir(dir.join(".touchstone")).unwrap();
        std::os::unix::fs::symlink("../empty", dir.join(".touchstone")).unwrap();
        assert!(!before.is_current(&dir));
        assert!(read(&dir).is_err());
    }
}
