//! Tests of trust: the workspace file is trusted, but not a link or other object under its name;
//! and the index is readable by the user alone.
use crate::bench::{Bench, DEADLINE, wait_until};
use fs_err as fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use touchstone_api::ProblemKind;

fn bench() -> Bench {
    Bench::new().answered("results/a.yaml", "Fine")
}

fn link(to: &Path, at: &Path) {
    std::os::unix::fs::symlink(to, at).unwrap();
}

#[test]
fn what_is_no_readable_file_under_the_name_of_the_workspace_file_is_a_problem_and_the_folder_opens()
{
    type Lay = fn(&Path);
    let lays: [(&str, Lay); 5] = [
        ("a pipe", |at| {
            assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success());
        }),
        ("an endless device behind a link", |at| link(Path::new("/dev/zero"), at)),
        ("a folder", |at| fs::create_dir(at).unwrap()),
        ("a very long file", |at| fs::File::create(at).unwrap().set_len(1 << 40).unwrap()),
        ("bytes that are no text", |at| fs::write(at, b"input_dir: \xff").unwrap()),
    ];
    for (what, lay) in lays {
        let bench = bench();
        lay(&bench.path("touchstone.yaml"));
        let bench = bench.open();
        assert!(bench.row("a.yaml").is_some(), "{what}");
        let problems = bench.problems();
        assert!(
            problems
                .iter()
                .any(|p| p.kind == ProblemKind::SuiteError && p.file == "touchstone.yaml"),
            "{what}: {problems:?}"
        );
    }
}

#[test]
fn a_link_is_taken_for_a_directory_only_when_the_workspace_file_names_it() {
    let lay = || {
        let bench = bench();
        fs::rename(bench.path("results"), bench.path("../elsewhere")).unwrap();
        link(&bench.path("../elsewhere"), &bench.path("results"));
        bench
    };
    let guessed = lay().open();
    assert!(guessed.row("a.yaml").is_none() && guessed.row("results/a.yaml").is_none());
    assert!(guessed.row("results").unwrap().reason.unwrap().contains("link"));
    let named = lay().file("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n").open();
    assert!(named.row("a.yaml").is_some());
}

#[test]
fn nobody_else_may_look_into_the_index_or_the_list_of_folders() {
    let bench = bench();
    fs::create_dir(bench.cache()).unwrap();
    fs::set_permissions(bench.cache(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let bench = bench.open();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for entry in fs::read_dir(bench.cache()).unwrap().flatten() {
        assert_eq!(mode(&entry.path()), 0o700, "{:?}", entry.path());
    }
    let state = bench.cache().with_file_name("state");
    assert_eq!((mode(&state), mode(&state.join("recent.json"))), (0o700, 0o600));
}

#[test]
fn an_index_that_names_text_which_is_not_there_is_made_anew() {
    for harm in [
        "UPDATE runs SET text_len = 1 << 60",
        "UPDATE runs SET text_offset = 1 << 62",
        "UPDATE items SET len = 1 << 60",
    ] {
        let bench = bench().answered("results/b.yaml", "zebra").open();
        bench.wait_words();
        let index = crate::bench::find_in(&bench.cache(), "index.db").pop().unwrap();
        let sql = rusqlite::Connection::open(index).unwrap();
        sql.busy_timeout(DEADLINE).unwrap();
        sql.execute_batch(harm).unwrap();
        drop(sql);
        wait_until("the text is found again", || {
            let found = crate::bench::try_hits(bench.app(), "zebra").ok()?;
            (found == ["b.yaml"]).then_some(())
        });
    }
}
