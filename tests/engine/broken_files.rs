//! Tests of invalid transcripts: each is one row with a reason, none blocks the others, and none is
//! waited for.
use crate::bench::{Bench, answered, broken, wait_until};
use fs_err as fs;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;
use std::time::Duration;
use touchstone_api::{ProblemKind, RunState};

#[test]
fn a_damaged_file_is_a_row_with_place_and_reason_and_hides_no_other() {
    let bench = Bench::new()
        .file("results/bad.yaml", broken())
        .answered("results/good.yaml", "Fine")
        .open();
    let row = bench.row("bad.yaml").unwrap();
    assert_eq!(row.state, RunState::Damaged);
    assert!(row.reason.is_some());
    assert_eq!(bench.row("good.yaml").unwrap().state, RunState::Answered);
    let problem =
        bench.problems().into_iter().find(|problem| problem.kind == ProblemKind::Damaged).unwrap();
    assert_eq!(
        (problem.file.as_str(), problem.line, problem.run),
        ("results/bad.yaml", Some(3), Some(row.id))
    );
    assert!(problem.excerpt.is_some_and(|line| line.contains("indented too deep")));
    assert_eq!(bench.status().counts.damaged, 1);
}

#[test]
fn broken_files_of_no_known_kind_are_damaged_and_others_are_no_runs() {
    let utf16: Vec<u8> =
        "\u{feff}conversation: []\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let bench = Bench::new()
        .file("results/bad.yaml", "a: [1, 2\nb: }\n")
        .file("results/wide.yaml", utf16)
        .file("results/cut.json", "{\"steps\": [1, 2")
        .file("results/in_a_text.json", "{\"messages\":[{\"role\":\"us\n")
        .file("results/random.eval", [0x93, 0, 7, 0xff, 12, 0xc3].repeat(300))
        .file("results/random.traj", [0x93, 0, 7, 0xff, 12, 0xc3].repeat(300))
        .file("results/wrong.json", "{\"steps\": 1,\n\"cost\": }")
        .file("results/settings.yaml", "name: x\nversion: 3\n")
        .file("results/settings.json", "{\"name\": \"x\"}")
        .file("results/large.json", format!("{{\"name\": [{}1]}}", "1, ".repeat(20_000)))
        .file("results/notes.txt", "{")
        .open();
    let of = |kind: ProblemKind| {
        let mut found: Vec<_> = bench.problems().into_iter().filter(|it| it.kind == kind).collect();
        found.sort_by(|one, other| one.file.cmp(&other.file));
        found
    };
    let damaged = of(ProblemKind::Damaged);
    let told: Vec<(&str, Option<u32>)> =
        damaged.iter().map(|it| (it.file.as_str(), it.line)).collect();
    assert_eq!(
        told,
        [
            ("results/bad.yaml", Some(2)),
            ("results/cut.json", Some(1)),
            ("results/in_a_text.json", Some(1)),
            ("results/random.eval", None),
            ("results/random.traj", None),
            ("results/wide.yaml", Some(1)),
            ("results/wrong.json", Some(2)),
        ]
    );
    assert!(damaged.iter().all(|it| it.advice.is_some() && it.run.is_some()), "{damaged:#?}");
    for at in [1, 2] {
        assert_eq!(damaged[at].message, "The JSON text ends in the middle.");
        let advice = damaged[at].advice.as_deref().unwrap();
        assert!(advice.starts_with("It was cut off, or is still being written."), "{advice}");
    }
    assert!(damaged[3].message.contains("like a log of Inspect"), "{}", damaged[3].message);
    let other = of(ProblemKind::NotTranscript);
    let files: Vec<&str> = other.iter().map(|it| it.file.as_str()).collect();
    assert_eq!(
        files,
        ["large.json", "notes.txt", "settings.json", "settings.yaml"]
            .map(|name| format!("results/{name}"))
    );
    assert!(other.iter().all(|it| it.run.is_none()), "nothing to open: {other:#?}");
}

#[test]
fn a_file_that_does_not_parse_is_being_written_until_it_has_not_changed_for_a_while() {
    let bench = Bench::new().limit(|limits| limits.settle = Duration::from_millis(1500)).open();
    bench.put("results/half.yaml", broken());
    bench.put("results/empty.yaml", "");
    bench.wait_state("half.yaml", RunState::Writing);
    bench.wait_state("empty.yaml", RunState::Writing);
    bench.wait_state("half.yaml", RunState::Damaged);
    bench.wait_state("empty.yaml", RunState::Damaged);
    bench.put("results/half.yaml", answered("Now whole"));
    bench.wait_state("half.yaml", RunState::Answered);
    assert_eq!(bench.rows().len(), 2);
}

#[test]
fn a_file_that_was_being_written_at_the_last_start_is_looked_at_again() {
    let bench = Bench::new().limit(|limits| limits.settle = Duration::from_hours(1)).open();
    bench.put("results/half.yaml", broken());
    bench.wait_state("half.yaml", RunState::Writing);
    let bench = bench.close().limit(|limits| limits.settle = Duration::ZERO).open();
    bench.wait_state("half.yaml", RunState::Damaged);
}

#[test]
fn pipes_sockets_links_and_folders_named_like_files_are_rows_with_a_reason_once() {
    let bench = Bench::new()
        .answered("results/good.yaml", "Fine")
        .answered("results/folder.yaml/inner.yaml", "Inner");
    let at = |name: &str| bench.path("results").join(name);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe.yaml"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let _socket = UnixListener::bind(at("socket.yaml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("zero.yaml")).unwrap();
    std::os::unix::fs::symlink("good.yaml", at("link.yaml")).unwrap();
    std::os::unix::fs::symlink(".", at("loop")).unwrap();
    let bench = bench.open();
    let odd = ["folder.yaml", "link.yaml", "loop", "pipe.yaml", "socket.yaml", "zero.yaml"];
    for name in odd {
        let row = bench.row(name).unwrap();
        assert_eq!(row.state, RunState::Other, "{name}");
        assert!(row.reason.is_some_and(|reason| reason.starts_with("It is a ")), "{name}");
    }
    assert_eq!(bench.rows().len(), odd.len() + 2);
    assert_eq!(bench.row("folder.yaml/inner.yaml").unwrap().state, RunState::Answered);
    let reported = bench
        .problems()
        .iter()
        .filter(|problem| problem.kind == ProblemKind::NotTranscript)
        .count();
    assert_eq!((reported, bench.status().counts.other_files), (odd.len(), odd.len() as u64));
}

#[test]
fn a_pipe_that_takes_the_place_of_a_file_and_the_other_way_round_changes_its_row() {
    let bench = Bench::new().answered("results/a.yaml", "Fine").open();
    bench.remove("results/a.yaml");
    std::os::unix::fs::symlink("/dev/zero", bench.path("results/a.yaml")).unwrap();
    bench.wait_state("a.yaml", RunState::Other);
    bench.put("results/a.yaml", answered("Back"));
    bench.wait_state("a.yaml", RunState::Answered);
    assert_eq!(bench.rows().len(), 1);
}

#[test]
fn a_name_that_is_no_utf8_is_shown_and_followed() {
    let bench = Bench::new();
    let path = bench.path("results").join(OsStr::from_bytes(b"caf\xe9.yaml"));
    fs::write(&path, answered("Fine")).unwrap();
    let bench = bench.open();
    assert_eq!(bench.row("caf\u{fffd}.yaml").unwrap().state, RunState::Answered);
    fs::remove_file(path).unwrap();
    wait_until("the row is gone", || bench.rows().is_empty().then_some(()));
}

#[test]
fn a_file_at_the_size_limit_is_read_and_one_byte_more_is_a_row_that_says_so() {
    let size = answered("Fine").len() as u64;
    let bench = Bench::new().limit(|limits| limits.file_bytes = size);
    let bench =
        bench.answered("results/fits.yaml", "Fine").answered("results/over.yaml", "Fine!").open();
    assert_eq!(bench.row("fits.yaml").unwrap().state, RunState::Answered);
    let over = bench.row("over.yaml").unwrap();
    assert_eq!(over.state, RunState::Damaged);
    assert!(over.reason.is_some_and(|reason| reason.contains(&size.to_string())));
}

#[test]
fn folders_are_entered_down_to_the_depth_limit_and_the_next_is_a_row() {
    let deep = |n: usize| (1..=n).fold(String::new(), |path, n| path + &format!("d{n}/"));
    let bench = Bench::new().limit(|limits| limits.depth = 4);
    let bench = bench
        .answered(&format!("results/{}in.yaml", deep(4)), "x")
        .answered(&format!("results/{}out.yaml", deep(5)), "x");
    let bench = bench.open();
    let shown: Vec<String> = bench.rows().into_iter().map(|row| row.path).collect();
    assert_eq!(shown, ["d1/d2/d3/d4/d5".to_owned(), format!("{}in.yaml", deep(4))]);
}

#[test]
fn more_names_than_fit_in_memory_are_cut_with_a_notice_and_what_is_listed_stays() {
    let bench = (0..30)
        .fold(Bench::new(), |bench, n| bench.answered(&format!("results/r{n:02}.yaml"), "x"));
    let bench = bench.limit(|limits| limits.listing_bytes = 4_000).open();
    let first = bench.rows();
    assert!((1..30).contains(&first.len()), "{}", first.len());
    assert!(bench.status().watching.notice.is_some_and(|notice| notice.contains("MiB")));
    assert_eq!(bench.reopen().rows(), first);
}

#[test]
fn what_yaml_can_do_to_a_reader_is_a_row_within_seconds() {
    let bomb = (1..10).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        let refs = vec![format!("*a{}", n - 1); 9].join(",");
        format!("{text}a{n}: &a{n} [{refs}]\n")
    });
    let hostile = [
        ("bomb", format!("{bomb}conversation: *a9\n")),
        ("brackets", format!("conversation: {}", "[".repeat(1_000_000))),
        (
            "deep",
            (0..5_000).fold("conversation:\n".to_owned(), |text, level| {
                text + &" ".repeat(level + 1) + "a:\n"
            }),
        ),
        ("twice", "conversation: []\nconversation: []\n".to_owned()),
        ("alias", "conversation: &a [*a]\n".to_owned()),
        ("nul", "conversation:\n- user_message: \"a\u{0}b\"\n".to_owned()),
        ("line", format!("conversation:\n- user_message: {}\n", "x".repeat(10 << 20))),
    ];
    let bench = hostile.iter().fold(Bench::new(), |bench, (name, text)| {
        bench.file(&format!("results/{name}.yaml"), text)
    });
    let bench = bench
        .file("results/latin.yaml", b"conversation:\n- user_message: caf\xe9\n")
        .answered("results/good.yaml", "Fine");
    let bench = bench.open();
    assert_eq!(bench.rows().len(), hostile.len() + 2);
    assert_eq!(bench.row("good.yaml").unwrap().state, RunState::Answered);
    assert_eq!(bench.row("line.yaml").unwrap().state, RunState::Waiting);
    for (name, words) in [
        ("bomb", "Aliases repeat too much"),
        ("brackets", "nested deeper than 64"),
        ("deep", "nested deeper than 64"),
        ("twice", "`conversation` appears twice"),
        ("alias", "inside the value it stands for"),
        ("nul", "NUL"),
        ("latin", "0xE9"),
    ] {
        let row = bench.row(&format!("{name}.yaml")).unwrap();
        assert_eq!(row.state, RunState::Damaged, "{name}");
        let reason = row.reason.unwrap();
        assert!(reason.contains(words), "{name}: {reason}");
    }
}

#[test]
fn a_folder_that_may_not_be_listed_is_a_row_and_the_others_are_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench =
        Bench::new().answered("results/shut/in.yaml", "x").answered("results/good.yaml", "Fine");
    fs::set_permissions(bench.path("results/shut"), std::fs::Permissions::from_mode(0o000))
        .unwrap();
    let may_all_the_same = fs::read_dir(bench.path("results/shut")).is_ok();
    let bench = bench.open();
    assert_eq!(bench.row("good.yaml").unwrap().state, RunState::Answered);
    // Root may list every folder.
    let expected = if may_all_the_same { "shut/in.yaml" } else { "shut" };
    assert!(bench.row(expected).is_some(), "{:?}", bench.states());
    fs::set_permissions(bench.path("results/shut"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
}
