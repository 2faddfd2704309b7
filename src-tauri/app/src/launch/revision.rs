//! The commit of a folder, which runs record when they begin. Programs that settings of the folder name
//! are not run: the folder may come from a stranger, and so may the settings of its repository. So the
//! files of git are read here, and git itself only compares the files, without these settings.
use crate::settings::author::wait;
use fs_err as fs;
use std::fs::DirBuilder;
use std::io::Read as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use touchstone_clock as clock;

/// Maximum bytes of a file of git that is read.
const MOST_BYTES: u64 = 16 << 20;
/// Characters of a hash that are recorded.
const SHORT: usize = 12;
/// Maximum number of folders above that are searched, and of references that lead to others.
const MOST_LEVELS: usize = 64;
const MOST_REFERENCES: usize = 5;
/// Maximum time to compare the files.
const MOST_TIME: Duration = Duration::from_secs(5);
/// Mark of a commit whose files have been changed since.
const DIRTY: &str = "-dirty";

/// Folders of a repository.
struct Repository {
    top: PathBuf,
    /// Where the head and the index of this work tree are.
    git: PathBuf,
    /// Where objects and references are.
    common: PathBuf,
}

/// Returns the short hash of the commit that a folder is at, with `-dirty` where files have changed
/// since, apart from those in the output folder. Without the mark nothing has changed, or git could not
/// say. `None` outside of a repository. No name of a branch or of a remote is part of it.
pub(super) fn of_folder(folder: &Path, output_dir: &Path) -> Option<String> {
    within(MOST_TIME, folder, output_dir)
}

fn within(most: Duration, folder: &Path, output_dir: &Path) -> Option<String> {
    let repository = find(&folder.canonicalize().ok()?)?;
    let hash = head(&repository)?;
    let is_dirty = changed(&repository, &hash, output_dir, most).unwrap_or(false);
    Some(format!("{}{}", hash.get(..SHORT)?, if is_dirty { DIRTY } else { "" }))
}

fn find(folder: &Path) -> Option<Repository> {
    let (top, git) = folder.ancestors().take(MOST_LEVELS).find_map(|top| {
        let git = top.join(".git");
        git.symlink_metadata().is_ok().then(|| (top.to_owned(), git))
    })?;
    let git =
        if git.is_dir() { git } else { top.join(read(&git)?.strip_prefix("gitdir:")?.trim()) };
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |it| git.join(it.trim()));
    Some(Repository { top, git, common })
}

fn read(path: &Path) -> Option<String> {
    // What is no file may never end.
    fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// Returns the hash that the head leads to.
fn head(repository: &Repository) -> Option<String> {
    let mut text = read(&repository.git.join("HEAD"))?;
    for _ in 0..MOST_REFERENCES {
        let Some(name) = text.strip_prefix("ref:").map(|name| name.trim().to_owned()) else {
            let is_hash =
                text.trim().len() >= 40 && text.trim().bytes().all(|b| b.is_ascii_hexdigit());
            return is_hash.then(|| text.trim().to_owned());
        };
        if name.split('/').any(|part| part == "..") || name.starts_with('/') {
            return None;
        }
        text = read(&repository.git.join(&name))
            .or_else(|| read(&repository.common.join(&name)))
            .or_else(|| packed(repository, &name))?;
    }
    None
}

/// Returns the hash of a packed reference.
fn packed(repository: &Repository, name: &str) -> Option<String> {
    let all = read(&repository.common.join("packed-refs"))?;
    all.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
}

/// Returns true if files that git knows have been changed. `None` if git cannot say.
fn changed(repository: &Repository, hash: &str, output_dir: &Path, most: Duration) -> Option<bool> {
    // With an own folder for its settings, git runs no filter or monitor that the repository names.
    let name = format!("touchstone-git-{}-{}", std::process::id(), clock::now_ms());
    let own = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&own).ok()?;
    let code = prepare(&own, hash).and_then(|()| {
        let mut child = compare(repository, &own, output_dir).spawn().ok()?;
        wait(&mut child, most)?.code()
    });
    if let Err(error) = fs::remove_dir_all(&own) {
        tracing::warn!(%error, "a temporary folder stays");
    }
    // Other codes are errors.
    code.filter(|code| (0..=1).contains(code)).map(|code| code == 1)
}

fn prepare(own: &Path, hash: &str) -> Option<()> {
    fs::create_dir(own.join("refs")).ok()?;
    fs::create_dir(own.join("objects")).ok()?;
    fs::write(own.join("HEAD"), format!("{hash}\n")).ok()
}

/// Returns the command that ends with 1 if files differ from the commit, and with 0 if none does.
fn compare(repository: &Repository, own: &Path, output_dir: &Path) -> Command {
    let mut git = Command::new("git");
    git.args(["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=all", "HEAD", "--", "."]);
    if let Ok(results) = output_dir.canonicalize()
        && let Ok(below) = results.strip_prefix(&repository.top)
        && !below.as_os_str().is_empty()
    {
        git.arg(format!(":(exclude,top,literal){}", below.display()));
    }
    let removed = ["GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"];
    for name in removed {
        git.env_remove(name);
    }
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.current_dir(&repository.top)
        .env("GIT_DIR", own)
        .env("GIT_WORK_TREE", &repository.top)
        .env("GIT_INDEX_FILE", repository.git.join("index"))
        .env("GIT_OBJECT_DIRECTORY", repository.common.join("objects"))
        .env("GIT_OPTIONAL_LOCKS", "0");
    git
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_mins(1);

    fn git(folder: &Path, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(folder)
            .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
            .args(arguments);
        let done = git.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn a_folder_has_the_commit_of_its_repository_and_is_dirty_after_a_change() {
        let place = tempfile::tempdir().unwrap();
        let (top, results) = (place.path().join("a b"), place.path().join("a b/results"));
        std::fs::create_dir_all(&results).unwrap();
        assert_eq!(within(PATIENCE, &top, &results), None);
        git(&top, &["init", "-q"]);
        assert_eq!(within(PATIENCE, &top, &results), None);
        for file in ["suite.yaml", "results/run.yaml"] {
            std::fs::write(top.join(file), "x").unwrap();
        }
        git(&top, &["add", "."]);
        git(&top, &["commit", "-q", "-m", "one"]);
        let hash = git(&top, &["rev-parse", "HEAD"]);
        let short = hash[..SHORT].to_owned();
        let of = |folder: &Path| within(PATIENCE, folder, &results).unwrap();
        assert_eq!([of(&top), of(&results)], [short.clone(), short.clone()]);
        git(&top, &["pack-refs", "--all"]);
        assert_eq!(of(&top), short);
        std::fs::write(top.join("results/run.yaml"), "longer").unwrap();
        std::fs::write(top.join("new.txt"), "x").unwrap();
        assert_eq!(of(&top), short);
        std::fs::write(top.join("suite.yaml"), "longer").unwrap();
        assert_eq!(of(&top), format!("{short}{DIRTY}"));
        let tree = place.path().join("tree");
        git(&top, &["worktree", "add", "-q", "--detach", tree.to_str().unwrap()]);
        assert_eq!(within(PATIENCE, &tree, &results).unwrap(), short);
    }

    #[test]
    fn programs_that_the_repository_names_are_not_run() {
        let place = tempfile::tempdir().unwrap();
        let (top, ran) = (place.path(), place.path().join("ran"));
        git(top, &["init", "-q"]);
        std::fs::write(top.join("a.txt"), "x").unwrap();
        git(top, &["add", "."]);
        git(top, &["commit", "-q", "-m", "one"]);
        let program = format!("touch '{}'; cat", ran.display());
        for key in ["core.fsmonitor", "filter.x.clean", "filter.x.process"] {
            git(top, &["config", key, &program]);
        }
        std::fs::write(top.join(".gitattributes"), "*.txt filter=x\n").unwrap();
        std::fs::write(top.join("a.txt"), "y").unwrap();
        assert!(within(PATIENCE, top, &top.join("results")).unwrap().ends_with(DIRTY));
        assert!(!ran.exists());
    }
}
