//! Tests of the first run of a folder that has tasks, but no results directory yet.
use super::{FIRST, TASK, folder_of, request, run, scripted, workspace};
use crate::bench::{Bench, wait_until};
use crate::conversation::Wire;
use fs_err as fs;
use touchstone_api::{LaunchState, Phase, WatchMeans};

fn bench(url: &str) -> Bench {
    let bench = folder_of(&workspace(url, "openai").replace("input_dir: tasks\n", ""), TASK);
    fs::remove_dir(bench.path("results")).unwrap();
    bench
}

#[test]
fn before_the_first_run_a_folder_has_its_tasks_and_no_trouble_and_nothing_is_made() {
    let bench = bench("http://127.0.0.1:9/v1").open();
    let status = wait_until("the tasks are read", || {
        Some(bench.status()).filter(|status| status.counts.tasks == 1)
    });
    assert_eq!((status.phase, status.counts.runs), (Phase::Ready, 0));
    let notice = wait_until("it is watched", || bench.status().watching.notice);
    assert!(
        notice.starts_with("There are no runs yet: ") && notice.contains("/results"),
        "{notice}"
    );
    // A new task causes no notice about results.
    bench.put("tasks/more.yaml", TASK);
    wait_until("it is read", || (bench.status().counts.tasks == 2).then_some(()));
    assert_eq!(bench.status().watching.notice, Some(notice));
    let checks = bench.app().folder().doctor(false);
    assert!(checks.iter().all(|check| check.ok), "{checks:?}");
    assert_eq!(bench.app().launches().plan_launch(&request()).unwrap().owed_total, 4);
    assert!(!bench.path("results").exists());
}

#[test]
fn the_first_run_makes_the_folder_for_results_which_is_watched_from_then_on() {
    let server = scripted(Wire::Chat, 1);
    let bench = bench(&server.url("/v1")).limit(|limits| limits.watch = true).open();
    let view = run(&bench, &request());
    assert_eq!((view.state, view.done, view.failed), (LaunchState::Done, 2, 0), "{:?}", view.runs);
    assert!(bench.path(FIRST).is_file());
    wait_until("both runs are listed", || (bench.status().counts.runs == 2).then_some(()));
    let watching = wait_until("it is watched without a word", || {
        Some(bench.status().watching).filter(|watching| watching.notice.is_none())
    });
    assert_eq!(watching.by, WatchMeans::Native);
}

#[test]
fn a_run_records_the_commit_of_its_folder_and_whether_files_have_changed() {
    let server = scripted(Wire::Chat, 2);
    let bench = bench(&server.url("/v1")).open();
    let git = |arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(bench.path("")).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]);
        let done = git.args(arguments).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "tasks", "touchstone.yaml"]);
    git(&["commit", "-q", "-m", "one"]);
    let hash = git(&["rev-parse", "--short=12", "HEAD"]).trim().to_owned();
    let commit = || {
        let text = fs::read_to_string(bench.path(FIRST)).unwrap();
        let line = text.lines().find(|line| line.trim_start().starts_with("commit:")).unwrap();
        line.trim().trim_start_matches("commit:").trim().trim_matches('\'').to_owned()
    };
    run(&bench, &request());
    assert_eq!(commit(), hash);
    bench.write("tasks/count.yaml", format!("{TASK}# changed\n"));
    run(&bench, &touchstone_api::LaunchRequest { start_over: true, ..request() });
    assert_eq!(commit(), format!("{hash}-dirty"));
}

#[test]
fn a_folder_for_results_that_had_some_and_is_gone_is_trouble() {
    let bench = bench("http://127.0.0.1:9/v1").answered(FIRST, "Three").open();
    let bench = bench.close();
    fs::rename(bench.path("results"), bench.path("elsewhere")).unwrap();
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    let failed = wait_until("it is told", || match app.folder().status().phase {
        Phase::Failed { reason, .. } => Some(reason),
        _ => None,
    });
    assert!(failed.contains("could not be listed: it is not there"), "{failed}");
    // Previously read runs are still shown.
    wait_until("the run is counted", || (app.folder().status().counts.runs == 1).then_some(()));
    assert!(app.folder().doctor(false).iter().any(|check| !check.ok));
    fs::rename(bench.path("elsewhere"), bench.path("results")).unwrap();
    wait_until("it is found again", || (app.folder().status().phase == Phase::Ready).then_some(()));
}
