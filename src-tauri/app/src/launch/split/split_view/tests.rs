//! Tests of the view of split launches where the scheduler and files disagree or say little.
use super::*;
use touchstone_api::LaunchRequest;
use touchstone_runner::part::{PartHeader, PartJob, PartSum};

const NOW: i64 = 10_000_000;

fn submission(budget: Option<f64>) -> Submission {
    let job = SubmittedJob {
        scheduler: "slurm".to_owned(),
        id: "41".to_owned(),
        home: Some("west".to_owned()),
        user: Some(7),
        parts: "1-2".to_owned(),
        at_ms: NOW - 2 * PATIENCE_MS,
        host: "login1".to_owned(),
        ..SubmittedJob::default()
    };
    let one = Submission::new("1-a".to_owned(), 2, LaunchRequest::default());
    Submission { budget, jobs: vec![job], ..one }
}

fn log(part: u32, job: &str, at_ms: i64) -> PartLog {
    let job = PartJob { scheduler: "slurm".to_owned(), id: job.to_owned(), task: part };
    let header = PartHeader {
        at_ms,
        launch: "1-a".to_owned(),
        part,
        parts: 2,
        owed: 5,
        job: Some(job),
        ..PartHeader::default()
    };
    PartLog { header, sum: PartSum::default(), lives: false }
}

fn files(submission: Submission, logs: Vec<PartLog>) -> SplitFiles {
    group(vec![submission], logs).remove("1-a").unwrap()
}

/// What `squeue` says, asked from `login2` of a cluster.
fn scheduler(lines: &str, home: &str, user: u32) -> Scheduler {
    let names = [job_name("1-a")].into();
    let asker = Asker { host: "login2".to_owned(), home: Some(home.to_owned()), user: Some(user) };
    Scheduler {
        tasks: Some(std::sync::Arc::new(Tasks::from_plain(lines, &names))),
        note: None,
        asker,
    }
}

fn states(files: &SplitFiles, scheduler: &Scheduler) -> (SplitState, Vec<SplitPartState>) {
    let view = files.view("1-a", scheduler, NOW);
    (view.state, view.rows.iter().map(|row| row.state).collect())
}

#[test]
fn a_job_that_is_not_listed_is_gone_only_for_its_user_on_its_cluster() {
    use SplitPartState::{Lost, Waiting};
    let files = files(submission(None), Vec::new());
    assert_eq!(states(&files, &scheduler("", "west", 7)).1, [Lost, Lost]);
    for elsewhere in [scheduler("", "east", 7), scheduler("", "west", 8), Scheduler::default()] {
        assert_eq!(states(&files, &elsewhere), (SplitState::Waiting, vec![Waiting, Waiting]));
    }
}

#[test]
fn a_task_that_starts_again_is_not_lost() {
    use SplitPartState::{Lost, Running};
    let mut stopped = log(2, "41", NOW - 90_000);
    stopped.sum.finished = true;
    stopped.sum.stopping = Some("it was told to end".to_owned());
    let files = files(submission(None), vec![log(1, "41", NOW - 90_000), stopped]);
    let running = "41|1|RUNNING|None|n1|touchstone-1-a\n41|2|RUNNING|None|n1|touchstone-1-a\n";
    assert_eq!(states(&files, &scheduler(running, "west", 7)).1, [Running, Running]);
    let gone = "41|1|FAILED|None|n1|touchstone-1-a\n";
    assert_eq!(states(&files, &scheduler(gone, "west", 7)).1, [Lost, SplitPartState::Ended]);
}

#[test]
fn a_part_that_was_submitted_again_a_moment_ago_is_not_lost() {
    let mut submission = submission(None);
    let again =
        SubmittedJob { id: "42".to_owned(), at_ms: NOW - 1_000, ..submission.jobs[0].clone() };
    submission.jobs.push(SubmittedJob { parts: "1".to_owned(), ..again });
    let logs = vec![log(1, "41", NOW - 90_000), log(2, "41", NOW - 90_000)];
    let (_, states) = states(&files(submission, logs), &scheduler("", "west", 7));
    assert_eq!(states, [SplitPartState::Waiting, SplitPartState::Lost]);
}

#[test]
fn parts_that_run_or_wait_keep_what_they_may_still_spend() {
    let mut submission = submission(Some(10.0));
    submission.jobs[0].share = Some(4.0);
    let mut live = log(1, "41", NOW - 90_000);
    live.lives = true;
    live.sum.cost = 1.5;
    let files = files(submission, vec![live]);
    let queue = "41|1|RUNNING|None|n1|touchstone-1-a\n41|2|PENDING|None||touchstone-1-a\n";
    let view = files.view("1-a", &scheduler(queue, "west", 7), NOW);
    assert!((files.reserved(&view.rows, &[]) - 6.5).abs() < 1e-9);
    assert!((files.reserved(&view.rows, &[2]) - 2.5).abs() < 1e-9);
    assert_eq!(view.max_cost, Some(10.0));
}

#[test]
fn a_record_without_a_job_is_shown() {
    let launch = Submission { jobs: Vec::new(), ..submission(None) };
    assert_eq!(states(&files(launch, Vec::new()), &scheduler("", "west", 7)).1.len(), 2);
}
