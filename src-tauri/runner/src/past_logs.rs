//! Reads the logs of launches that are over, newest first. A log that did not change is not read again.
use super::disk::{DiskError, Folder, SIDECARS};
use super::event::{RunEvent, RunEventKind};
use super::lock::host;
use super::log::FOLDER;
use super::progress::Progress;
use fs_err::File;
use rustix::fs::{Mode, OFlags};
use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of logs that are read, the newest first.
const MOST: usize = 20;
/// Maximum bytes of these logs together. A log for which there is no room is missing, as are older ones.
const MOST_BYTES: u64 = 16 << 20;

/// A launch of an earlier session, according to its log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PastLaunch {
    /// Id of the launch.
    pub id: String,
    /// Its progress. Runs that never started are not in it.
    pub progress: Progress,
    /// Number of runs that it was to make.
    pub planned: u64,
}

/// State of a file: size, modification time in nanoseconds, inode.
type Stamp = (u64, i64, i64, u64);

/// Logs that were read before.
#[derive(Debug, Default)]
pub struct PastLogs {
    seen: HashMap<String, (Stamp, Option<Arc<PastLaunch>>)>,
}

impl PastLogs {
    /// Returns the launches of an output directory that are over, the newest first, except those with
    /// these ids and the parts of split launches. A log that cannot be read is missing. Fails if their
    /// folder is there and cannot be read.
    pub fn read(
        &mut self,
        output_dir: &Path,
        except: &BTreeSet<String>,
    ) -> Result<Vec<Arc<PastLaunch>>, DiskError> {
        let folder = Folder::find(output_dir, &[SIDECARS, FOLDER])?;
        let Some(folder) = folder else {
            self.seen.clear();
            return Ok(Vec::new());
        };
        let names = folder.all_names()?.into_iter();
        let mut ids: Vec<(u64, String)> = names
            .filter_map(|name| Some(name.strip_suffix(".jsonl")?.to_owned()))
            .filter(|id| !except.contains(id))
            .map(|id| (begun(&id), id))
            .collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(MOST);
        let mut before = std::mem::take(&mut self.seen);
        let mut launches = Vec::new();
        let mut room = MOST_BYTES;
        for (_, id) in ids {
            let found = read(&folder, &id, before.remove(&id), room);
            let Some((stamp, launch)) = found else { continue };
            room = room.saturating_sub(stamp.0);
            let is_over = |launch: &&Arc<PastLaunch>| {
                launch.progress.ended_ms.is_some() || !may_live(&launch.id)
            };
            launches.extend(launch.as_ref().filter(is_over).cloned());
            self.seen.insert(id, (stamp, launch));
        }
        Ok(launches)
    }
}

/// Returns the time at the start of an id, in milliseconds since 1970.
fn begun(id: &str) -> u64 {
    id.split('-').next().and_then(|ms| ms.parse().ok()).unwrap_or(0)
}

/// Returns true if the process that makes a launch may still run: its number is in the id, after its
/// machine.
fn may_live(id: &str) -> bool {
    let mut parts = id.split('-').skip(1);
    let (Some(at), Some(process)) = (parts.next(), parts.next()) else { return true };
    let here: String = host().chars().filter(char::is_ascii_alphanumeric).collect();
    let process = process.parse().ok().and_then(rustix::process::Pid::from_raw);
    let is_gone =
        |process| rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH);
    at != here || !process.is_some_and(is_gone)
}

fn read(
    folder: &Folder,
    id: &str,
    known: Option<(Stamp, Option<Arc<PastLaunch>>)>,
    room: u64,
) -> Option<(Stamp, Option<Arc<PastLaunch>>)> {
    let name = format!("{id}.jsonl");
    let fd = folder.open(&name, OFlags::RDONLY, Mode::empty()).ok()?;
    let file = File::from_parts(fd.into(), folder.path.join(&name));
    let meta = file.metadata().ok()?;
    let stamp = (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino());
    if let Some((before, launch)) = known
        && before == stamp
    {
        return Some((stamp, launch));
    }
    // What is cut off would count as an end.
    if meta.len() > room {
        return Some((stamp, None));
    }
    let mut text = Vec::new();
    file.take(room).read_to_end(&mut text).ok()?;
    Some((stamp, parse(id, &text).map(Arc::new)))
}

/// Reads a log; `None` for that of a part, which begins with another line. A line that is not read counts
/// for nothing.
fn parse(id: &str, text: &[u8]) -> Option<PastLaunch> {
    let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let first: RunEvent = serde_json::from_slice(lines.next()?).ok()?;
    let mut launch = PastLaunch { id: id.to_owned(), ..PastLaunch::default() };
    let events = lines.filter_map(|line| serde_json::from_slice(line).ok());
    for event in std::iter::once(first).chain(events) {
        if let RunEventKind::Began { runs } = event.what {
            launch.planned = runs;
        }
        launch.progress.apply(&event);
    }
    Some(launch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Ending;
    use crate::log;

    fn event(at_ms: i64, run: Option<&str>, what: RunEventKind) -> RunEvent {
        RunEvent { at_ms, run: run.map(str::to_owned), what }
    }

    fn write(dir: &Path, id: &str, events: &[RunEvent]) {
        log::listener(dir, id, None).unwrap()(events);
    }

    #[test]
    fn launches_that_are_over_are_read_newest_first_and_those_that_may_go_on_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let here: String = host().chars().filter(char::is_ascii_alphanumeric).collect();
        let begin = |runs| event(5, None, RunEventKind::Began { runs });
        let run = [
            event(6, Some("a.yaml"), RunEventKind::Started { resumed: false }),
            event(7, Some("a.yaml"), RunEventKind::Ended { how: Ending::Answered, why: None }),
        ];
        let whole = [vec![begin(1)], run.to_vec(), vec![event(8, None, RunEventKind::Finished)]];
        write(dir.path(), "100-elsewhere-1-0", &whole.concat());
        write(dir.path(), "99-elsewhere-1-0", &[begin(3)]);
        write(dir.path(), &format!("300-{here}-{}-0", std::process::id()), &[begin(3)]);
        // No process has the largest number.
        let killed = format!("200-{here}-{}-0", i32::MAX);
        write(dir.path(), &killed, &[vec![begin(3)], run.to_vec()].concat());
        let mut logs = PastLogs::default();
        let mut read = |except: &[&str]| {
            let except = except.iter().map(|id| (*id).to_owned()).collect();
            logs.read(dir.path(), &except).unwrap()
        };
        let ids = |all: &[Arc<PastLaunch>]| -> Vec<String> {
            all.iter().map(|launch| launch.id.clone()).collect()
        };
        let all = read(&[]);
        assert_eq!(ids(&all), [killed.clone(), "100-elsewhere-1-0".to_owned()]);
        assert_eq!((all[0].planned, all[0].progress.runs().len()), (3, 1));
        assert_eq!(all[1].progress.ended_ms, Some(8));
        assert_eq!(ids(&read(&[&killed])), ["100-elsewhere-1-0"]);
        // What did not change is the same.
        assert!(Arc::ptr_eq(&read(&[])[1], &all[1]));
    }

    #[test]
    fn the_log_of_a_part_is_no_launch() {
        assert_eq!(parse("a", b"{\"event\":\"part\",\"launch\":\"a\"}\n"), None);
        assert_eq!(parse("a", b""), None);
    }
}
