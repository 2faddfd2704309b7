//! Records of launches that were handed to a scheduler, in `.touchstone/submissions/` of the output
//! directory. They hold what is needed to follow, stop and submit again, and no environment.
use super::atomic_write;
use super::disk::{DiskError, DiskErrorKind, Folder, PRIVATE, SIDECARS};
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use touchstone_api::LaunchRequest;

/// Folder inside `.touchstone`.
const FOLDER: &str = "submissions";
const FRESH: Mode = Mode::from_raw_mode(0o600);
/// Maximum bytes of a record.
const MOST: u64 = 4 << 20;
/// Maximum number of records that are read: the newest.
const MOST_RECORDS: usize = 1_000;
/// Version of the form.
const VERSION: u32 = 1;

/// A launch that was handed to a scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// Version of the form.
    pub version: u32,
    /// Id of the launch.
    pub launch: String,
    /// What it runs, in a few words.
    pub what: String,
    /// Number of its runs.
    pub total: u64,
    /// Number of parts.
    pub parts: u32,
    /// Number of parts that run at the same time; all if none is given.
    pub at_once: Option<u32>,
    /// The runs and their options.
    pub request: LaunchRequest,
    /// Budget of the whole launch in dollars, asked for or of touchstone.yaml.
    #[serde(default)]
    pub budget: Option<f64>,
    /// Jobs of the scheduler, in the order of submission.
    pub jobs: Vec<SubmittedJob>,
}

/// Job of a scheduler.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SubmittedJob {
    /// Name of the scheduler: `slurm`.
    pub scheduler: String,
    /// Id of the job; empty while it is not known whether it was submitted.
    pub id: String,
    /// Cluster that was named for it.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Cluster of the machine that it was submitted on.
    #[serde(default)]
    pub home: Option<String>,
    /// Number of the user who submitted it.
    #[serde(default)]
    pub user: Option<u32>,
    /// Dollars that each part may spend each time it is started.
    #[serde(default)]
    pub share: Option<f64>,
    /// Parts that it runs: `1-10,12`.
    pub parts: String,
    /// Time, in milliseconds since 1970.
    pub at_ms: i64,
    /// Machine that it was submitted on.
    pub host: String,
}

impl SubmittedJob {
    /// Returns true if the job runs this part.
    pub fn has_part(&self, part: u32) -> bool {
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let is_in = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let ends = number(first).zip(number(last));
            ends.is_some_and(|(first, last)| (first..=last).contains(&part))
        };
        self.parts.split(',').any(is_in)
    }
}

impl Submission {
    /// Creates a record without jobs.
    pub fn new(launch: String, parts: u32, request: LaunchRequest) -> Self {
        Self {
            version: VERSION,
            launch,
            what: String::new(),
            total: 0,
            parts,
            at_once: None,
            request,
            budget: None,
            jobs: Vec::new(),
        }
    }
}

/// Returns true for a text that may be the id of a launch, and so part of a file name and of the
/// name of a job.
pub fn is_launch_id(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    (1..=64).contains(&text.len()) && !text.starts_with('-') && text.chars().all(is_plain)
}

/// Writes a record, in place of an older one of the same launch. It is durable on return.
pub fn keep(output_dir: &Path, submission: &Submission) -> Result<(), DiskError> {
    let folder = Folder::make(output_dir, &[SIDECARS, FOLDER], PRIVATE)?;
    let failed = |why: String| {
        let path = folder.path.display().to_string();
        DiskError { kind: DiskErrorKind::Other, path, why }
    };
    if !is_launch_id(&submission.launch) {
        return Err(failed("this is no id of a launch.".to_owned()));
    }
    let bytes = serde_json::to_vec_pretty(submission).map_err(|why| failed(format!("{why}.")))?;
    atomic_write::put(&folder, &format!("{}.json", submission.launch), &bytes, FRESH)
}

/// Removes the record of a launch that was not submitted after all.
pub fn remove(output_dir: &Path, launch: &str) {
    let folder = Folder::find(output_dir, &[SIDECARS, FOLDER]).ok().flatten();
    if let Some(folder) = folder.filter(|_| is_launch_id(launch))
        && let Err(error) = folder.remove(&format!("{launch}.json"))
    {
        tracing::debug!(%error, "the record of a submission stays");
    }
}

/// Creates the folder for what the jobs of a launch print, and returns its path.
pub fn make_output_folder(output_dir: &Path, launch: &str) -> Result<PathBuf, DiskError> {
    Folder::make(output_dir, &[SIDECARS, FOLDER, launch], PRIVATE).map(|folder| folder.path)
}

/// Returns all records that can be read, of launches with a valid id. Fails if their folder is there
/// and cannot be read.
pub fn all(output_dir: &Path) -> Result<Vec<Submission>, DiskError> {
    let folder = Folder::find(output_dir, &[SIDECARS, FOLDER])?;
    let Some(folder) = folder else { return Ok(Vec::new()) };
    let mut names = folder.all_names()?;
    names.retain(|name| name.strip_suffix(".json").is_some_and(is_launch_id));
    // Ids begin with a time.
    names.sort_unstable_by(|one, other| other.cmp(one));
    let read = |name: &String| {
        let bytes = folder.read(name, MOST).ok()??;
        let read: Submission = serde_json::from_slice(&bytes)
            .inspect_err(|error| tracing::warn!(%error, name, "a submission cannot be read"))
            .ok()?;
        let is_named = name.strip_suffix(".json") == Some(read.launch.as_str());
        (read.version == VERSION && is_named && read.parts > 0).then_some(read)
    };
    Ok(names.iter().take(MOST_RECORDS).filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_record_is_replaced_as_a_whole_and_only_the_owner_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(all(dir.path()).unwrap(), []);
        let mut one = Submission::new("1-a".to_owned(), 4, LaunchRequest::default());
        keep(dir.path(), &one).unwrap();
        let job = SubmittedJob {
            scheduler: "slurm".to_owned(),
            id: "7".to_owned(),
            parts: "1-4".to_owned(),
            at_ms: 1,
            host: "h".to_owned(),
            ..SubmittedJob::default()
        };
        assert!(job.has_part(4) && !job.has_part(5));
        one.jobs.push(job);
        keep(dir.path(), &one).unwrap();
        let folder = dir.path().join(".touchstone/submissions");
        fs_err::write(folder.join("2-b.json"), b"{").unwrap();
        fs_err::write(folder.join("3-c.json"), fs_err::read(folder.join("1-a.json")).unwrap())
            .unwrap();
        assert_eq!(all(dir.path()).unwrap(), [one.clone()]);
        let mode = fs_err::metadata(folder.join("1-a.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        one.launch = "../../x".to_owned();
        assert!(keep(dir.path(), &one).is_err());
    }

    #[test]
    fn ids_are_plain() {
        for good in ["1-host-2-0", "a"] {
            assert!(is_launch_id(good), "{good}");
        }
        for bad in ["", "-a", "a b", "a/b", "a.b", "ä", &"x".repeat(65)] {
            assert!(!is_launch_id(bad), "{bad}");
        }
    }
}
