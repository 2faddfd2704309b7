//! Tests of robustness: after any loss or damage of the index, and in a read-only folder, the list
//! stays correct.
use crate::bench::{Bench, DEADLINE, answered, find_in, rows, try_rows, wait_until};
use fs_err as fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use touchstone_api::{Phase, RunRow, Span};
use touchstone_app::App;

type DamageFn = fn(&PathBuf);

fn bench() -> Bench {
    let bench = (0..40).fold(Bench::new(), |bench, n| {
        bench.answered(
            &format!("results/d{}/plans-tool_calling-claude-variation{n}.yaml", n % 3),
            &format!("word{n} zebra"),
        )
    });
    let bench = bench.file("results/bad.yaml", crate::bench::broken()).open();
    bench.wait_words();
    bench
}

fn database(bench: &Bench) -> PathBuf {
    find_in(&bench.cache(), "index.db")
        .into_iter()
        .find(|path| !path.to_string_lossy().contains("aside"))
        .unwrap()
}

fn assert_same(bench: &Bench, before: &[RunRow], what: &str) {
    assert_eq!(bench.rows(), before, "{what}");
    bench.wait_words();
    assert_eq!((bench.hits("zebra").len(), bench.hits("word7").len()), (40, 1), "{what}");
}

#[test]
fn an_index_that_was_damaged_in_any_way_is_made_anew_with_the_same_content() {
    let harm: [(&str, DamageFn); 6] = [
        ("header", |db| overwrite(db, 0, b"this is not a database at all")),
        ("empty", |db| fs::write(db, b"").unwrap()),
        ("half", |db| {
            fs::File::options()
                .write(true)
                .open(db)
                .unwrap()
                .set_len(fs::metadata(db).unwrap().len() / 2)
                .unwrap();
        }),
        ("gone", |db| fs::remove_file(db).unwrap()),
        ("text gone", |db| fs::remove_file(db.with_file_name("text-1.blob")).unwrap()),
        ("text foreign", |db| {
            fs::write(db.with_file_name("text-1.blob"), vec![b'x'; 1 << 20]).unwrap();
        }),
    ];
    let mut bench = bench();
    let before = bench.rows();
    for (what, harm) in harm {
        bench = bench.close();
        let db = database(&bench);
        harm(&db);
        bench = bench.open();
        wait_until("it is the same again", || (bench.rows() == before).then_some(()));
        assert_same(&bench, &before, what);
    }
}

#[test]
fn bytes_that_changed_anywhere_in_the_index_are_noticed() {
    let mut bench = bench();
    let before = bench.rows();
    bench = bench.close();
    let len = fs::metadata(database(&bench)).unwrap().len();
    for n in 0..12 {
        let db = database(&bench);
        let at = len * n / 12 + 100;
        let byte = fs::read(&db).unwrap()[usize::try_from(at).unwrap()];
        overwrite(&db, at, &[byte ^ 0x55]);
        bench = bench.open();
        wait_until("it is the same again", || (bench.rows() == before).then_some(()));
        assert_same(&bench, &before, &format!("byte {at}"));
        bench = bench.close();
        assert_ne!(database(&bench), db, "the index with a changed byte at {at} was kept");
    }
}

#[test]
fn an_index_of_another_version_is_moved_aside() {
    let bench = bench();
    let before = bench.rows();
    let bench = bench.close();
    let db = database(&bench);
    let sql = rusqlite::Connection::open(&db).unwrap();
    sql.pragma_update(None, "user_version", 9999).unwrap();
    drop(sql);
    let bench = bench.open();
    assert_same(&bench, &before, "newer version");
    assert!(
        find_in(&bench.cache(), "index.db")
            .iter()
            .any(|path| path.to_string_lossy().contains("aside"))
    );
}

#[test]
fn a_program_that_was_killed_leaves_an_index_that_can_be_used() {
    let bench = bench();
    let before = bench.rows();
    // Simulates a killed process: copies the files while it runs, without a checksum.
    let db = database(&bench);
    let build = db.parent().unwrap();
    let copy = bench.path("../copy");
    fs::create_dir_all(&copy).unwrap();
    for entry in fs::read_dir(build).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let build = build.to_owned();
    for lose_log in [false, true] {
        let app = bench.app();
        app.folder().close_folder().unwrap();
        fs::remove_dir_all(&build).unwrap();
        fs::create_dir_all(&build).unwrap();
        for entry in fs::read_dir(&copy).unwrap() {
            let entry = entry.unwrap();
            if !(lose_log && entry.file_name().to_string_lossy().contains("-wal")) {
                fs::copy(entry.path(), build.join(entry.file_name())).unwrap();
            }
        }
        app.folder().open(&bench.path("")).unwrap();
        app.folder().wait_ready(DEADLINE).unwrap();
        wait_until("it is the same again", || (bench.rows() == before).then_some(()));
        assert_same(&bench, &before, if lose_log { "log lost" } else { "killed" });
    }
}

#[test]
fn an_index_that_is_damaged_while_it_is_in_use_is_made_anew() {
    let bench = bench();
    let before = bench.rows();
    let db = database(&bench);
    let len = usize::try_from(fs::metadata(&db).unwrap().len()).unwrap();
    overwrite(&db, 0, &vec![0xAA; len]);
    let wal = db.with_file_name("index.db-wal");
    fs::File::options().write(true).open(wal).unwrap().set_len(0).unwrap();
    bench.put("results/new.yaml", answered("Fresh"));
    let after = wait_until("the list is whole again", || {
        // A query that hits the damage fails, and triggers a rebuild of the index.
        let rows = try_rows(bench.app()).ok()?;
        (rows.len() == before.len() + 1).then_some(rows)
    });
    assert!(before.iter().all(|row| after.contains(row)));
}

#[test]
fn a_folder_that_forbids_writing_is_read_and_nothing_is_written_into_it() {
    let bench = Bench::new()
        .answered("results/a.yaml", "Fine")
        .file("tasks/a.yaml", "tool_calling_prompt: x\n");
    let dirs = ["results", "tasks", ""];
    let set = |mode: u32| {
        for dir in dirs {
            fs::set_permissions(bench.path(dir), std::fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    let names = || dirs.map(|dir| fs::read_dir(bench.path(dir)).unwrap().count());
    let before = names();
    let app = bench.another_app();
    app.folder().open(&bench.path("")).unwrap();
    app.folder().wait_ready(DEADLINE).unwrap();
    assert!(app.folder().wait_searchable(DEADLINE).unwrap());
    assert_eq!(rows(&app).len(), 1);
    app.folder().close_folder().unwrap();
    assert_eq!(names(), before);
    set(0o755);
}

#[test]
fn two_programs_on_one_folder_both_follow_it() {
    let bench = Bench::new().answered("results/a.yaml", "Fine").open();
    let second = bench.another_app();
    second.folder().open(&bench.path("")).unwrap();
    second.folder().wait_ready(DEADLINE).unwrap();
    let both = |count: usize| {
        let len = |app: &App| rows(app).len();
        wait_until("both show it", || {
            (len(bench.app()) == count && len(&second) == count).then_some(())
        });
    };
    both(1);
    bench.put("results/b.yaml", answered("More"));
    both(2);
    bench.app().folder().close_folder().unwrap();
    bench.put("results/c.yaml", answered("More"));
    wait_until("the second goes on", || (rows(&second).len() == 3).then_some(()));
}

#[test]
fn a_cache_that_cannot_be_written_does_not_keep_the_folder_from_opening() {
    let bench = Bench::new().answered("results/a.yaml", "Fine");
    fs::write(bench.cache(), "a file where the folder should be").unwrap();
    let bench = bench.open();
    assert_eq!(bench.rows().len(), 1);
    assert!(
        bench
            .app()
            .folder()
            .doctor(true)
            .iter()
            .any(|check| check.name == "Cache folder" && !check.ok && check.fix.is_some())
    );
}

fn overwrite(path: &PathBuf, at: u64, bytes: &[u8]) {
    use std::io::{Seek as _, Write as _};
    let mut file = fs::File::options().write(true).open(path).unwrap();
    file.seek(std::io::SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_cache_that_is_deleted_while_it_is_in_use_is_made_anew_with_the_same_content() {
    let bench = bench();
    let before = bench.rows();
    fs::remove_dir_all(bench.cache()).unwrap();
    bench.put("results/later-tool_calling-claude-variation0.yaml", answered("after the loss"));
    // Open parts of the old index keep answering until a missing file is noticed; then all of it is
    // rebuilt.
    let found = |text: &str| {
        bench.app().runs().search(text, Span { offset: 0, limit: 500 }).map_or(0, |hits| hits.len())
    };
    wait_until("every text is found again", || {
        (found("zebra") == 40 && found("loss") == 1).then_some(())
    });
    wait_until("the list is whole again", || {
        let rows = try_rows(bench.app()).ok()?;
        (rows.len() == before.len() + 1 && before.iter().all(|row| rows.contains(row)))
            .then_some(())
    });
    assert!(!find_in(&bench.cache(), "index.db").is_empty(), "there is an index on disk again");
}

/// Returns every file of the index that is in use.
fn index_files(bench: &Bench) -> Vec<PathBuf> {
    let build = database(bench).parent().unwrap().to_owned();
    fs::read_dir(build).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn text_that_changed_behind_our_back_is_never_searched() {
    let mut bench = bench();
    for open in [false, true] {
        for at in [20, 300, 600, 1_200] {
            let text = |bench: &Bench| database(bench).with_file_name("text-1.blob");
            if !open {
                bench = bench.close();
            }
            let path = text(&bench);
            let byte = fs::read(&path).unwrap()[at];
            overwrite(&path, at.try_into().unwrap(), &[byte ^ 0x15]);
            if !open {
                bench = bench.open();
            }
            // A search during the rebuild is never wrong: it fails, or finds the current content.
            wait_until("the text is searched again", || {
                let status = bench.status();
                let found = crate::bench::try_hits(bench.app(), "zebra").ok()?;
                let is_whole = found.len() == 40;
                let now = bench.status();
                assert!(
                    is_whole || status.phase != Phase::Ready || now != status,
                    "{} of 40 while it said that it was ready",
                    found.len()
                );
                (is_whole && now.phase == Phase::Ready).then_some(())
            });
            bench.wait_words();
            assert_eq!(
                (bench.hits("zebra").len(), bench.hits("word7").len()),
                (40, 1),
                "byte {at}"
            );
        }
    }
}

#[test]
fn a_folder_in_the_place_of_any_file_of_the_index_is_moved_aside() {
    let mut bench = bench();
    let before = bench.rows();
    for name in ["index.db", "index.db-wal", "index.db-shm", "text-1.blob", "seal"] {
        bench = bench.close();
        let path = database(&bench).with_file_name(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.join("full")).unwrap();
        fs::write(path.join("full/of"), "things").unwrap();
        bench = bench.open();
        wait_until("it is the same again", || (bench.rows() == before).then_some(()));
        assert_same(&bench, &before, name);
    }
    for name in ["lock", "folder.txt", "aside"] {
        bench = bench.close();
        let path = database(&bench).parent().unwrap().with_file_name(name);
        let _ = fs::remove_file(&path);
        fs::create_dir_all(path.join("full")).unwrap();
        bench = bench.open();
        assert_same(&bench, &before, name);
    }
}

/// An action on an open folder.
type Action<'a> = &'a dyn Fn(&Bench);

#[test]
fn whatever_is_done_to_the_cache_while_it_is_in_use_no_answer_is_wrong() {
    let bench = bench();
    let mut count = bench.rows().len();
    let harm: [(&str, Action<'_>); 5] = [
        ("the whole cache goes", &|bench| fs::remove_dir_all(bench.cache()).unwrap()),
        ("the build goes", &|bench| fs::remove_dir_all(database(bench).parent().unwrap()).unwrap()),
        ("the log goes", &|bench| {
            fs::remove_file(database(bench).with_file_name("index.db-wal")).unwrap();
        }),
        ("the database is another", &|bench| {
            let path = database(bench);
            fs::remove_file(&path).unwrap();
            fs::create_dir(&path).unwrap();
        }),
        ("the text is gone", &|bench| {
            index_files(bench)
                .iter()
                .filter(|path| path.extension().is_some_and(|end| end == "blob"))
                .for_each(|path| {
                    fs::remove_file(path).unwrap();
                });
        }),
    ];
    for (what, harm) in harm {
        harm(&bench);
        count += 1;
        bench.put(&format!("results/more{count}.yaml"), answered("One zebra more"));
        let is_whole = |found: Option<usize>, expected: usize| {
            let status = bench.status();
            found.filter(|found| *found == expected && status.phase == Phase::Ready).map(|_| ())
        };
        wait_until(&format!("{what}: the list is whole"), || {
            is_whole(try_rows(bench.app()).ok().map(|rows| rows.len()), count)
        });
        wait_until(&format!("{what}: the text is whole"), || {
            let found = crate::bench::try_hits(bench.app(), "zebra").ok()?.len();
            is_whole(Some(found), count - 1)
        });
        bench.wait_words();
    }
}

#[test]
fn any_damage_to_any_file_of_a_closed_index_ends_in_the_answers_of_a_new_one() {
    let mut bench = bench();
    let before = bench.rows();
    // Pseudorandom generator with a fixed sequence.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below.max(1)
    };
    for turn in 0..24 {
        bench = bench.close();
        let mut files = index_files(&bench);
        files.sort();
        let file = files[usize::try_from(next(files.len() as u64)).unwrap()].clone();
        let len = fs::metadata(&file).unwrap().len();
        let what = match next(5) {
            0 if len > 0 => {
                let at = next(len);
                let byte = fs::read(&file).unwrap()[usize::try_from(at).unwrap()];
                overwrite(&file, at, &[byte ^ u8::try_from(1 + next(255)).unwrap()]);
                "a byte"
            }
            1 => {
                fs::File::options()
                    .write(true)
                    .open(&file)
                    .unwrap()
                    .set_len(next(len + 1))
                    .unwrap();
                "its end"
            }
            2 => {
                fs::remove_file(&file).unwrap();
                fs::create_dir(&file).unwrap();
                "a folder"
            }
            3 => {
                fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
                "rights"
            }
            _ => {
                fs::remove_file(&file).unwrap();
                "all of it"
            }
        };
        bench = bench.open();
        wait_until("it is the same again", || {
            (try_rows(bench.app()).ok()? == before).then_some(())
        });
        let whole =
            || crate::bench::try_hits(bench.app(), "zebra").ok().filter(|found| found.len() == 40);
        wait_until("its text is the same again", || whole().map(|_| ()));
        assert_same(&bench, &before, &format!("turn {turn}: {what} of {}", file.display()));
    }
}

#[test]
fn only_the_person_can_read_what_the_program_keeps() {
    let bench = bench();
    let look = |dir: PathBuf| {
        let mut dirs = vec![dir];
        while let Some(dir) = dirs.pop() {
            assert_eq!(
                fs::metadata(&dir).unwrap().permissions().mode() & 0o077,
                0,
                "{}",
                dir.display()
            );
            for entry in fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = fs::symlink_metadata(&path).unwrap();
                if meta.is_dir() {
                    dirs.push(path);
                } else {
                    assert_eq!(meta.permissions().mode() & 0o777, 0o600, "{}", path.display());
                }
            }
        }
    };
    look(bench.cache());
    look(bench.state());
    let bench = bench.close();
    look(bench.cache());
}

#[test]
fn of_indexes_that_are_not_used_any_more_one_copy_is_left_at_most() {
    let mut bench = bench();
    let before = bench.rows();
    for _ in 0..3 {
        bench = bench.close();
        fs::write(database(&bench), b"no database").unwrap();
        bench = bench.open();
        wait_until("it is the same again", || (bench.rows() == before).then_some(()));
    }
    bench = bench.close();
    let home = database(&bench).parent().unwrap().parent().unwrap().to_owned();
    // Leftovers of a killed process or an older version.
    fs::create_dir(home.join("build-1")).unwrap();
    let bench = bench.open();
    let mut names: Vec<String> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names.iter().filter(|name| name.starts_with("build-")).count(), 1, "{names:?}");
    assert_eq!(names.iter().filter(|name| *name == "aside").count(), 1, "{names:?}");
    assert!(bench.app().folder().old_indexes().files > 0);
    assert!(bench.app().folder().clear_old_indexes().unwrap().files > 0);
    assert_eq!(bench.app().folder().old_indexes().files, 0);
    assert_same(&bench, &before, "cleared");
}

#[test]
fn what_was_replaced_stays_until_the_person_has_it_deleted() {
    let bench = Bench::new()
        .answered("results/a.yaml", "Fine")
        .file("results/.touchstone/replaced/a.yaml", "paid for")
        .file("results/.touchstone/replaced/d/b.jsonl", "paid for, too")
        .open();
    let found = bench.app().folder().replaced().unwrap();
    assert_eq!((found.files, found.bytes), (2, 21));
    let told = |bench: &Bench| {
        let checks = bench.app().folder().doctor(false);
        checks.into_iter().find(|check| check.name == "Replaced results").unwrap().detail
    };
    assert!(told(&bench).contains("2 files, 21 B"), "{}", told(&bench));
    let bench = bench.reopen();
    assert_eq!(bench.app().folder().replaced().unwrap().files, 2);
    assert_eq!(bench.app().folder().clear_replaced().unwrap().files, 2);
    assert_eq!(bench.app().folder().replaced().unwrap().files, 0);
    assert_eq!(bench.rows().len(), 1);
    // A link is not deleted.
    let elsewhere = bench.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("mine"), "mine").unwrap();
    std::os::unix::fs::symlink(&elsewhere, bench.path("results/.touchstone/replaced")).unwrap();
    let _ = bench.app().folder().clear_replaced();
    assert!(elsewhere.join("mine").exists());
}
