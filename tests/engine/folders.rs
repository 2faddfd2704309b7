//! Tests of the open folder: recent folders have opaque ids, and a folder that cannot be opened
//! gives the reason.
use crate::bench::{Bench, DEADLINE, wait_until};
use fs_err as fs;
use touchstone_api::{Phase, Span, Stale};
use touchstone_app::error::Code;

#[test]
fn recent_folders_are_listed_newest_first_and_opened_by_id() {
    let bench = Bench::new().file("one/results/a.txt", "").file("two/results/b.txt", "");
    let app = bench.another_app();
    for name in ["one", "two", "one"] {
        app.folder().open(&bench.path(name)).unwrap();
    }
    let names = |app: &touchstone_app::App| -> Vec<String> {
        app.folder().folders(false, true).recent.into_iter().map(|folder| folder.name).collect()
    };
    assert_eq!(names(&app), ["one", "two"]);
    let two = app.folder().folders(false, true).recent.remove(1);
    drop(app);
    let app = bench.another_app();
    app.folder().open_recent(&two.id).unwrap();
    assert_eq!(app.folder().status().folder.unwrap().path, two.path);
    app.folder().forget_recent(&two.id).unwrap();
    assert_eq!(names(&app), ["one"]);
    assert_eq!(app.folder().open_recent(&two.id).unwrap_err().code, Code::NotFound);
    fs::remove_dir_all(bench.path("one")).unwrap();
    assert!(!app.folder().folders(false, true).recent[0].present);
}

#[test]
fn a_folder_that_cannot_be_opened_says_why_and_leaves_the_open_one_open() {
    let bench = Bench::new().answered("results/a.yaml", "Fine").file("file.txt", "").open();
    for (path, why) in [("nowhere", "it is not there"), ("file.txt", "it is a file")] {
        let error = bench.app().folder().open(&bench.path(path)).unwrap_err();
        assert!(error.message.contains(why) && error.hint.is_some(), "{error}");
    }
    assert_eq!(bench.rows().len(), 1);
}

#[test]
fn without_a_folder_everything_that_needs_one_says_so() {
    let app = Bench::new().another_app();
    assert_eq!(app.folder().status().phase, Phase::Closed);
    assert_eq!(
        app.folder().problems(Span { offset: 0, limit: 1 }).unwrap_err().code,
        Code::NoFolder
    );
    assert_eq!(app.folder().wait_ready(DEADLINE).unwrap_err().code, Code::NoFolder);
    assert_eq!(app.folder().open_demo().unwrap_err().code, Code::NotFound);
    assert!(app.folder().doctor(true).iter().all(|check| check.ok || check.fix.is_some()));
}

#[test]
fn opening_and_closing_a_folder_is_told() {
    let bench = Bench::new().open();
    bench.forget_events();
    bench.app().folder().close_folder().unwrap();
    wait_until("closing is told", || bench.events().contains(&Stale::Folder).then_some(()));
    bench.forget_events();
    bench.app().folder().open(&bench.path("")).unwrap();
    wait_until("opening is told", || bench.events().contains(&Stale::Folder).then_some(()));
}
