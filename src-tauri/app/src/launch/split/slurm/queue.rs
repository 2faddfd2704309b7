//! **Pure.** Tasks of arrays as `squeue` lists them, as JSON of several versions or as plain text.
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Maximum number of a task that is read; Slurm allows up to 4,000,000.
const MOST_TASK: u32 = 4_000_000;

/// What the scheduler does with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It has not begun.
    Waiting,
    /// It runs or is about to.
    Running,
    /// It ended by itself.
    Ended,
    /// The scheduler or its machine ended it.
    Killed,
    /// A person ended it.
    Cancelled,
}

/// State of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    /// Id of the job of the array.
    pub(crate) job: String,
    /// What the scheduler does with it.
    pub(crate) activity: Activity,
    /// Activity in the words of Slurm.
    pub(crate) word: String,
    /// Machine.
    pub(crate) node: Option<String>,
}

/// Tasks of arrays: by the name of the job and the number of the task, the newest job first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tasks {
    each: HashMap<(String, u32), Vec<Task>>,
    /// Jobs of which all tasks that had not begun were cancelled.
    cancelled: BTreeSet<String>,
    jobs: BTreeSet<(String, u64)>,
}

/// Row of `squeue`.
struct Row<'a> {
    job: u64,
    /// Number of the task, or ranges of those that wait.
    tasks: &'a str,
    state: &'a str,
    reason: &'a str,
    node: &'a str,
    name: &'a str,
}

impl Tasks {
    /// Reads the answer to `squeue --json`; `None` if it is something else.
    pub(crate) fn from_json(bytes: &[u8], names: &BTreeSet<String>) -> Option<Self> {
        let answer: Value = serde_json::from_slice(bytes).ok()?;
        let jobs = answer.get("jobs")?.as_array()?;
        let mut tasks = Self::default();
        for job in jobs {
            let text = |key: &str| job.get(key).and_then(first_text).unwrap_or_default();
            // Versions since 23.02 wrap numbers: `{ "set": true, "number": 3 }`.
            let number = |key: &str| job.get(key).and_then(number);
            let one = number("array_task_id").map(|task| task.to_string());
            let array = number("array_job_id").filter(|id| *id > 0);
            let Some(id) = array.or_else(|| number("job_id")) else { continue };
            tasks.add(
                &Row {
                    job: id,
                    tasks: one.as_deref().unwrap_or(text("array_task_string")),
                    state: text("job_state"),
                    reason: text("state_reason"),
                    node: text("nodes"),
                    name: text("name"),
                },
                names,
            );
        }
        tasks.sort();
        Some(tasks)
    }

    /// Reads lines of `job|task|state|reason|node|name`.
    pub(crate) fn from_plain(text: &str, names: &BTreeSet<String>) -> Self {
        let mut tasks = Self::default();
        for line in text.lines() {
            let cells: Vec<&str> = line.trim().splitn(6, '|').collect();
            let [job, numbers, state, reason, node, name] = cells.as_slice() else { continue };
            let Ok(job) = job.parse() else { continue };
            let row = Row { job, tasks: numbers, state, reason, node, name };
            tasks.add(&row, names);
        }
        tasks.sort();
        tasks
    }

    fn add(&mut self, row: &Row<'_>, names: &BTreeSet<String>) {
        if !names.contains(row.name) {
            return;
        }
        let job = row.job.to_string();
        self.jobs.insert((row.name.to_owned(), row.job));
        let (activity, word) = words(row.state, row.reason);
        let numbers = expand(row.tasks);
        if numbers.is_empty() && activity == Activity::Cancelled {
            self.cancelled.insert(job.clone());
        }
        let node = Some(row.node.to_owned()).filter(|node| !node.is_empty());
        for number in numbers {
            let task = Task { job: job.clone(), activity, word: word.clone(), node: node.clone() };
            self.each.entry((row.name.to_owned(), number)).or_default().push(task);
        }
    }

    /// Adds the tasks of another cluster.
    pub(crate) fn extend(&mut self, other: Self) {
        for (key, tasks) in other.each {
            self.each.entry(key).or_default().extend(tasks);
        }
        self.cancelled.extend(other.cancelled);
        self.jobs.extend(other.jobs);
        self.sort();
    }

    fn sort(&mut self) {
        for tasks in self.each.values_mut() {
            tasks.sort_by_key(|task| std::cmp::Reverse(task.job.parse::<u64>().unwrap_or(0)));
        }
    }

    /// Returns the newest state of a task of the jobs with this name.
    pub(crate) fn newest(&self, name: &str, number: u32) -> Option<&Task> {
        self.each.get(&(name.to_owned(), number))?.first()
    }

    /// Returns the ids of the jobs with this name, the newest last.
    pub(crate) fn jobs(&self, name: &str) -> Vec<String> {
        let jobs = self.jobs.iter().filter(|(known, _)| known == name);
        jobs.map(|(_, job)| job.to_string()).collect()
    }

    /// Returns true if the tasks of a job that had not begun were cancelled.
    pub(crate) fn is_cancelled(&self, job: &str) -> bool {
        self.cancelled.contains(job)
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Object(map) => {
            let is_set = map.get("set").and_then(Value::as_bool).unwrap_or(true);
            map.get("number").and_then(Value::as_u64).filter(|_| is_set)
        }
        other => other.as_u64(),
    }
}

/// Returns a text, or the first of a list of texts.
fn first_text(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.as_array()?.first()?.as_str())
}

/// Expands `3-6%2`, `1,4-8:2` or `7`. What is not a number, such as `N/A`, is nothing.
fn expand(text: &str) -> Vec<u32> {
    let text = text.split('%').next().unwrap_or_default();
    let text = text.trim_matches(|letter| letter == '[' || letter == ']');
    let range = |part: &str| {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let step = step.parse::<usize>().ok().filter(|step| *step > 0)?;
        (last <= MOST_TASK).then(|| (first..=last).step_by(step))
    };
    text.split(',').filter_map(|part| range(part.trim())).flatten().collect()
}

/// Returns what a state of Slurm means, and words for it.
fn words(state: &str, reason: &str) -> (Activity, String) {
    use Activity::{Cancelled, Ended, Killed, Running, Waiting};
    let (activity, word) = match state {
        "PENDING" => (Waiting, waits(reason)),
        "REQUEUED" | "REQUEUE_HOLD" | "REQUEUE_FED" => (Waiting, "waits to start again"),
        "CONFIGURING" => (Running, "its machine is being prepared"),
        "RUNNING" | "RESIZING" | "SIGNALING" => (Running, "runs"),
        "COMPLETING" | "STAGE_OUT" => (Running, "is ending"),
        "SUSPENDED" | "STOPPED" => (Running, "is suspended"),
        "COMPLETED" => (Ended, "ended"),
        "FAILED" | "SPECIAL_EXIT" => (Ended, "ended with failures"),
        "CANCELLED" | "REVOKED" => (Cancelled, "was cancelled"),
        "TIMEOUT" | "DEADLINE" => (Killed, "was ended at its time limit"),
        "OUT_OF_MEMORY" => (Killed, "was ended for its use of memory"),
        "NODE_FAIL" | "BOOT_FAIL" => (Killed, "its machine failed"),
        "PREEMPTED" => (Killed, "had to make room for another job"),
        other => return (Waiting, other.to_lowercase().replace('_', " ")),
    };
    (activity, word.to_owned())
}

/// Returns why a task waits, in words.
fn waits(reason: &str) -> &'static str {
    match reason {
        "Resources" => "waits for free machines",
        "Priority" => "waits behind other jobs",
        "JobArrayTaskLimit" => "waits for other parts",
        "Dependency" => "waits for another job",
        "DependencyNeverSatisfied" => "waits for a job that failed, and never begins",
        "BeginTime" => "waits for its time",
        "JobHeldUser" | "JobHeldAdmin" => "is held: `scontrol release` lets it go",
        "Licenses" => "waits for licences",
        "Reservation" => "waits for its reservation",
        "PartitionDown" | "PartitionInactive" => "waits: its partition is down",
        "ReqNodeNotAvail" | "NodeDown" => "waits: its machines are not available",
        reason if reason.contains("Limit") => "waits: a limit of jobs is reached",
        _ => "waits",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> BTreeSet<String> {
        BTreeSet::from(["touchstone-abc".to_owned()])
    }

    /// Recorded from Slurm 22.05, with the fields that are read, and of another user.
    const OLD: &str = r#"{"meta":{"Slurm":{"version":{"major":22,"micro":8,"minor":5}}},"errors":[],"jobs":[
      {"array_job_id":1,"array_task_id":1,"array_task_string":"",
       "job_id":2,"job_state":"RUNNING","name":"touchstone-abc","nodes":"n1","state_reason":"None"},
      {"array_job_id":1,"array_task_id":2,"array_task_string":"",
       "job_id":3,"job_state":"FAILED","name":"touchstone-abc","nodes":"n1","state_reason":"NonZeroExitCode"},
      {"array_job_id":1,"array_task_id":null,"array_task_string":"3-6%2",
       "job_id":1,"job_state":"PENDING","name":"touchstone-abc","nodes":"","state_reason":"JobArrayTaskLimit"},
      {"array_job_id":9,"array_task_id":1,"array_task_string":"",
       "job_id":9,"job_state":"RUNNING","name":"other","nodes":"n1","state_reason":"None"}]}"#;
    /// Documented for versions since 23.02.
    const NEW: &str = r#"{"jobs":[
      {"array_job_id":{"set":true,"infinite":false,"number":1},"array_task_id":{"set":true,"infinite":false,"number":1},"array_task_string":"",
       "job_id":2,"job_state":["RUNNING"],"name":"touchstone-abc","nodes":"n1","state_reason":"None"},
      {"array_job_id":{"set":true,"infinite":false,"number":1},"array_task_id":{"set":true,"infinite":false,"number":2},"array_task_string":"",
       "job_id":3,"job_state":["FAILED"],"name":"touchstone-abc","nodes":"n1","state_reason":"NonZeroExitCode"},
      {"array_job_id":{"set":true,"infinite":false,"number":1},"array_task_id":{"set":false,"infinite":false,"number":0},"array_task_string":"3-6%2",
       "job_id":1,"job_state":["PENDING"],"name":"touchstone-abc","nodes":"","state_reason":"JobArrayTaskLimit"}]}"#;
    const PLAIN: &str = "1|3|PENDING|JobArrayTaskLimit||touchstone-abc\n\
        1|4|PENDING|JobArrayTaskLimit||touchstone-abc\n\
        1|5|PENDING|JobArrayTaskLimit||touchstone-abc\n\
        1|6|PENDING|JobArrayTaskLimit||touchstone-abc\n\
        1|1|RUNNING|None|n1|touchstone-abc\n\
        1|2|FAILED|NonZeroExitCode|n1|touchstone-abc\n\
        9|1|RUNNING|None|n1|other\n";

    #[test]
    fn all_versions_tell_the_same() {
        let old = Tasks::from_json(OLD.as_bytes(), &names()).unwrap();
        assert_eq!(Tasks::from_json(NEW.as_bytes(), &names()), Some(old.clone()));
        assert_eq!(Tasks::from_plain(PLAIN, &names()), old);
        let word = |number| old.newest("touchstone-abc", number).map(|task| task.word.as_str());
        let said: Vec<_> = [1, 2, 3, 6, 7].into_iter().map(word).collect();
        let waits = Some("waits for other parts");
        assert_eq!(said, [Some("runs"), Some("ended with failures"), waits, waits, None]);
        assert_eq!(old.jobs("touchstone-abc"), ["1"]);
        assert_eq!(Tasks::from_json(b"squeue: unrecognized option", &names()), None);
    }

    #[test]
    fn the_newest_job_counts_and_tasks_that_never_began_are_cancelled() {
        let text = "4|N/A|CANCELLED|JobArrayTaskLimit||touchstone-abc\n\
        4|1|TIMEOUT|x|n1|touchstone-abc\n\
        11|1|PENDING|Resources||touchstone-abc\n\
        ";
        let tasks = Tasks::from_plain(text, &names());
        let newest = tasks.newest("touchstone-abc", 1).unwrap();
        assert_eq!((newest.job.as_str(), newest.activity), ("11", Activity::Waiting));
        assert!(tasks.is_cancelled("4") && !tasks.is_cancelled("11"));
        assert_eq!(tasks.jobs("touchstone-abc"), ["4", "11"]);
    }

    #[test]
    fn ranges_are_expanded() {
        assert_eq!(expand("1,4-8:2%3"), [1, 4, 6, 8]);
        assert_eq!(expand("[3-4]"), [3, 4]);
        for nothing in ["", "N/A", "1-99999999", "x-2"] {
            assert_eq!(expand(nothing), [0_u32; 0], "{nothing}");
        }
    }
}
