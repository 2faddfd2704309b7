//! Tests of a folder on a file system that is really unmounted: its runs are not deleted.
use crate::bench::{Bench, DEADLINE, answered, rows, wait_until};
use crate::mounts::{Mounted, is_run_where_disks_can_be_mounted};
use touchstone_api::Phase;
use touchstone_app::App;

const NAME: &str = "plans-tool_calling-claude-variation0.yaml";

fn paths(app: &App) -> Vec<String> {
    rows(app).into_iter().map(|row| row.path).collect()
}

fn wait_lost(app: &App) {
    let reason = wait_until("the folder is missed", || match app.folder().status().phase {
        Phase::Failed { reason, .. } => Some(reason),
        _ => None,
    });
    assert!(reason.contains("nothing is mounted there any more"), "{reason}");
}

#[test]
fn runs_of_a_file_system_that_is_unmounted_stay_until_it_is_back() {
    if is_run_where_disks_can_be_mounted() {
        return;
    }
    let bench = Bench::new();
    let results = bench.path("results");
    let mount = Mounted::mount(&results, "size=1m");
    let bench = bench.file(&format!("results/{NAME}"), answered("Three")).open();
    assert_eq!(paths(bench.app()), [NAME]);
    drop(mount);
    assert!(results.is_dir() && !results.join(NAME).exists(), "it is an empty folder now");
    wait_lost(bench.app());
    assert_eq!(paths(bench.app()), [NAME], "nobody deleted the run");

    // The index remembers it for the next start.
    let bench = bench.close();
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap_err();
    wait_lost(&app);
    assert_eq!(paths(&app), [NAME]);

    // Another file system in its place is listed as it is.
    let _mount = Mounted::mount(&results, "size=1m");
    bench.write("results/other-tool_calling-claude-variation0.yaml", answered("Four"));
    wait_until("what is mounted now is shown", || {
        let is_ready = app.folder().status().phase == Phase::Ready;
        let is_listed = paths(&app) == ["other-tool_calling-claude-variation0.yaml"];
        (is_ready && is_listed).then_some(())
    });
    app.folder().close_folder().unwrap();
}
