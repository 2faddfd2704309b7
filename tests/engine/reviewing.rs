//! Tests of reviews: a review is stored in a file beside the results, is shown wherever the run is
//! shown, and is never lost.
use crate::bench::{Bench, answered, find_in, rows, wait_until};
use fs_err as fs;
use std::collections::BTreeSet;
use touchstone_api::{
    Column, ProblemKind, QueueOrder, QueueProgress, ReportFormat, ReportRequest, Review, Sort,
    Stale, StepNote, Verdict,
};
use touchstone_app::App;
use touchstone_app::error::{AppError, Code};

const RUN: &str = "t-tool_calling-o1-variation0.yaml";
const FILE: &str = "results/.touchstone/reviews/t-tool_calling-o1-variation0.yaml";

pub(crate) fn says(verdict: Verdict) -> Review {
    Review {
        verdict: Some(verdict),
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    }
}

fn one_run() -> Bench {
    Bench::new().answered(&format!("results/{RUN}"), "Three.").open()
}

fn id(bench: &Bench, path: &str) -> String {
    wait_until(&format!("{path} is listed"), || bench.row(path)).id
}

fn review(bench: &Bench, path: &str, review: Option<&Review>) -> Result<(), AppError> {
    bench.app().reviews().review_run(&id(bench, path), review).map(drop)
}

fn read_back(app: &App, id: &str) -> (Option<Review>, Option<String>) {
    app.reviews().review_of(id).unwrap()
}

fn wait_verdict(bench: &Bench, path: &str, wanted: Option<Verdict>) {
    wait_until(&format!("{path} is said to be {wanted:?}"), || {
        bench.row(path).filter(|row| row.verdict == wanted).map(drop)
    });
}

/// Returns the content of the only file below a folder of the bench.
fn only_file(bench: &Bench, folder: &str, end: &str) -> String {
    let mut open = vec![bench.path(folder)];
    let mut found = Vec::new();
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            if entry.path().is_dir() { open.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].to_string_lossy().ends_with(end), "{found:?}");
    fs::read_to_string(&found[0]).unwrap()
}

#[test]
fn a_review_is_a_file_that_people_can_read_and_shows_in_the_list_and_on_the_run() {
    let bench = one_run();
    let id = id(&bench, RUN);
    assert!(
        !bench.path("results/.touchstone").exists(),
        "a folder that is only looked at is written to"
    );
    bench.forget_events();
    let given = Review {
        score: Some(0.75),
        note: "Off by one.\nSee row 2.".to_owned(),
        ..says(Verdict::Partly)
    };
    review(&bench, RUN, Some(&given)).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Partly));
    let (read, wrong) = read_back(bench.app(), &id);
    let read = read.unwrap();
    assert_eq!(Review { at_ms: 0, answer: None, author: None, ..read.clone() }, given);
    assert!(read.at_ms > 1_700_000_000_000 && wrong.is_none());
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(
        text.starts_with(
            "verdict: partly\nscore: 0.75\nnote: |-\n  Off by one.\n  See row 2.\nat: '2"
        ),
        "{text}"
    );
    let told = |stale: &Stale| matches!(stale, Stale::Runs { ids, .. } if ids.contains(&id));
    wait_until("the review is told of", || bench.events().iter().any(told).then_some(()));
    assert_eq!(bench.app().scoring().run_scores(&id).unwrap().review, Some(read));
}

#[test]
fn what_is_said_twice_is_written_once_and_taking_it_back_moves_it_aside() {
    let bench = one_run();
    let given = Review { note: "Keep me".to_owned(), ..says(Verdict::Wrong) };
    review(&bench, RUN, Some(&given)).unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    review(&bench, RUN, Some(&given)).unwrap();
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), text);
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    review(&bench, RUN, None).unwrap();
    wait_verdict(&bench, RUN, None);
    assert_eq!(read_back(bench.app(), &id(&bench, RUN)), (None, None));
    assert_eq!(only_file(&bench, "results/.touchstone/replaced/reviews", "Z.yaml"), text);
    review(&bench, RUN, None).unwrap();
    // An empty review is not stored.
    review(&bench, RUN, Some(&Review { verdict: None, note: " \n".to_owned(), ..given })).unwrap();
    assert!(!bench.path(FILE).exists());
}

#[test]
fn a_verdict_is_of_the_answer_that_was_looked_at_and_a_note_leaves_it_there() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let seen = bench.app().runs().open_run(&id).unwrap().answer_mark;
    bench.put(&format!("results/{RUN}"), answered("Three.").replace("- n: 3", "- n: 4"));
    wait_until("the other answer is read", || {
        (bench.app().runs().open_run(&id).unwrap().answer_mark != seen).then_some(())
    });
    review(&bench, RUN, Some(&Review { answer: Some(seen.clone()), ..says(Verdict::Right) }))
        .unwrap();
    let read = read_back(bench.app(), &id).0.unwrap();
    assert!(read.stale, "nobody has seen the answer that is there now");
    assert_eq!(bench.row(RUN).unwrap().verdict, None);
    review(&bench, RUN, Some(&Review { note: "And more.".to_owned(), ..read })).unwrap();
    let read = read_back(bench.app(), &id).0.unwrap();
    assert_eq!((read.stale, read.answer, read.note.as_str()), (true, Some(seen), "And more."));
    review(&bench, RUN, Some(&says(Verdict::Right))).unwrap();
    assert!(!read_back(bench.app(), &id).0.unwrap().stale, "said anew of what is there now");
    let odd = Review { answer: Some("a\nb".to_owned()), ..says(Verdict::Right) };
    assert_eq!(review(&bench, RUN, Some(&odd)).unwrap_err().code, Code::BadRequest);
}

#[test]
fn a_review_that_is_written_changed_or_removed_by_hand_shows() {
    let bench = one_run();
    let id = id(&bench, RUN);
    bench.write(FILE, "verdict: wrong\n");
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    bench.put(FILE, "# after a talk with Zoë\nverdict: Right\nby: me\n");
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    bench.forget_events();
    bench.put(FILE, "# after a talk with Zoë\nverdict: right\nby: me\nnote: now with a note\n");
    let told = |stale: &Stale| matches!(stale, Stale::Runs { ids, .. } if *ids == [id.clone()]);
    wait_until("a note alone is told of", || bench.events().iter().any(told).then_some(()));
    // Nobody has signed it, so it is of another person for everybody with a name.
    let reviews = bench.app().reviews().reviews_of(&id, Some("Ann")).unwrap();
    assert_eq!((reviews.own, reviews.others[0].note.as_str()), (None, "now with a note"));
    bench.remove(FILE);
    wait_verdict(&bench, RUN, None);
}

#[test]
fn a_rewrite_keeps_what_we_do_not_know_and_the_page_that_was_written_by_hand() {
    let bench = one_run();
    let hand = "# my own words\nauthor: Ann\nby: Zoë\nverdict: wrong # sure?\nscore: 0.50\n";
    bench.write(FILE, hand);
    let id = id(&bench, RUN);
    let review = |said: Review| {
        bench.app().reviews().review_run_of(None, Some("Ann"), &id, Some(&said)).unwrap();
    };
    review(Review { score: Some(0.5), ..says(Verdict::Right) });
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(text.starts_with("author: Ann\nby: Zoë\nverdict: right\nscore: 0.50\n"), "{text}");
    assert_eq!(only_file(&bench, "results/.touchstone/replaced/reviews", "Z.yaml"), hand);
    // A file written by this program needs no further copy.
    review(says(Verdict::Partly));
    assert_eq!(only_file(&bench, "results/.touchstone/replaced/reviews", "Z.yaml"), hand);
}

#[test]
fn a_damaged_review_is_a_problem_with_its_line_and_is_never_replaced() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let damaged = "note: a long one\nverdict: perfect\n";
    bench.write(FILE, damaged);
    let problem = wait_until("the problem is listed", || bench.problems().into_iter().next());
    assert_eq!(
        (problem.kind, problem.run.as_deref()),
        (ProblemKind::DamagedReview, Some(id.as_str()))
    );
    assert_eq!((problem.file.as_str(), problem.line), (FILE, Some(2)));
    assert_eq!(problem.message, "This is not a verdict.");
    assert_eq!(problem.advice.as_deref(), Some("Write right, partly or wrong."));
    assert_eq!(bench.status().counts.damaged_reviews, 1);
    let (read, wrong) = read_back(bench.app(), &id);
    let wrong = wrong.unwrap();
    assert!(
        read.is_none()
            && wrong.contains("line 2: This is not a verdict.")
            && wrong.contains("Fix the file"),
        "{wrong}"
    );
    assert!(bench.app().scoring().run_scores(&id).unwrap().notes.contains(&wrong));
    for said in [Some(says(Verdict::Right)), None] {
        let refused = review(&bench, RUN, said.as_ref()).unwrap_err();
        assert!(refused.message.contains("line 2: This is not a verdict."), "{refused}");
        assert!(refused.hint.is_some_and(|hint| hint.starts_with("Fix the file")));
    }
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), damaged);
    assert!(!bench.path("results/.touchstone/replaced").exists());
    fs::remove_file(bench.path(FILE)).unwrap();
    review(&bench, RUN, Some(&says(Verdict::Right))).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    wait_until("no problem is left", || bench.problems().is_empty().then_some(()));
    assert_eq!(bench.status().counts.damaged_reviews, 0);
}

#[test]
fn what_is_no_file_is_a_problem_and_is_not_followed() {
    let bench = one_run();
    bench.write("elsewhere.yaml", "verdict: right\n");
    fs::create_dir_all(bench.path("results/.touchstone/reviews")).unwrap();
    std::os::unix::fs::symlink(bench.path("elsewhere.yaml"), bench.path(FILE)).unwrap();
    let problem = wait_until("the problem is listed", || bench.problems().into_iter().next());
    assert_eq!(problem.message, "It is a link, and links are not followed.");
    assert_eq!(bench.row(RUN).unwrap().verdict, None);
    let refused = review(&bench, RUN, Some(&says(Verdict::Wrong))).unwrap_err();
    assert!(
        refused.message.contains("could not be saved") && refused.message.contains("move it away"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(bench.path("elsewhere.yaml")).unwrap(), "verdict: right\n");
}

#[test]
fn a_review_of_an_answer_that_changed_is_kept_but_not_counted_until_it_is_given_again() {
    let bench = one_run();
    let id = id(&bench, RUN);
    review(&bench, RUN, Some(&says(Verdict::Right))).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    // The file changed, but not the answer.
    bench.put(&format!("results/{RUN}"), answered("Three, I think."));
    wait_until("the new text is there", || {
        bench.hits("think").contains(&RUN.to_owned()).then_some(())
    });
    assert_eq!(bench.row(RUN).unwrap().verdict, Some(Verdict::Right));
    bench.put(&format!("results/{RUN}"), answered("Four.").replace("n: 3\n", "n: 4\n"));
    wait_verdict(&bench, RUN, None);
    let (read, _) = read_back(bench.app(), &id);
    assert_eq!(read.map(|read| (read.verdict, read.stale)), Some((Some(Verdict::Right), true)));
    review(&bench, RUN, Some(&says(Verdict::Right))).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    assert!(!read_back(bench.app(), &id).0.unwrap().stale);
}

#[test]
fn a_note_without_a_verdict_is_in_reports_until_the_run_has_another_answer() {
    let bench = one_run();
    let reported = |format| {
        let request = ReportRequest::for_format(format);
        bench.app().reports().make_report(&request, true).unwrap().text
    };
    let formats = [ReportFormat::Csv, ReportFormat::Html, ReportFormat::Junit];
    let note = Review { verdict: None, note: "Counted twice.".to_owned(), ..says(Verdict::Right) };
    review(&bench, RUN, Some(&note)).unwrap();
    wait_until("the note is in every report", || {
        formats.iter().all(|format| reported(*format).contains("Counted twice.")).then_some(())
    });
    bench.put(&format!("results/{RUN}"), answered("Four.").replace("n: 3\n", "n: 4\n"));
    wait_until("it is of another answer", || {
        (!reported(ReportFormat::Csv).contains("Counted twice.")).then_some(())
    });
    assert!(read_back(bench.app(), &id(&bench, RUN)).0.unwrap().stale, "and lies there still");
}

#[test]
fn reviews_follow_runs_into_folders_and_names_in_any_script() {
    let nested = "süd/東京/aufgabe nr 1-tool_calling-o1-variation0-run2.yaml";
    let group = "claude/promptql/oracle/last 20_run_1";
    let bench = Bench::new()
        .answered(&format!("results/{nested}"), "Three.")
        .file(&format!("results/{group}.result"), "[1]")
        .file(&format!("results/{group}.history"), "[]")
        .open();
    for path in [nested, group] {
        review(&bench, path, Some(&says(Verdict::Wrong))).unwrap();
        wait_verdict(&bench, path, Some(Verdict::Wrong));
        let file = format!("results/.touchstone/reviews/{}.yaml", path.trim_end_matches(".yaml"));
        assert!(bench.path(&file).exists(), "{file}");
        assert!(!read_back(bench.app(), &id(&bench, path)).0.unwrap().stale);
    }
    let member = bench.path(&format!("results/{group}.history"));
    assert_eq!(bench.app().runs().run_with(&member, None).unwrap(), id(&bench, group));
    assert_eq!(bench.rows().len(), 2, "a review is not a run");
}

#[test]
fn a_review_is_kept_only_in_the_folder_that_it_is_said_in() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let folder = bench.app().folder().status().folder.unwrap().id;
    let error = bench
        .app()
        .reviews()
        .review_run_of(Some("another"), None, &id, Some(&says(Verdict::Wrong)))
        .unwrap_err();
    assert_eq!((error.code, error.message.contains("another folder is open")), (Code::Gone, true));
    assert!(!bench.path("results/.touchstone/reviews").exists());
    bench
        .app()
        .reviews()
        .review_run_of(Some(&folder), None, &id, Some(&says(Verdict::Wrong)))
        .unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
}

#[test]
fn two_programs_on_one_folder_see_what_the_other_says() {
    let bench = one_run();
    let other = bench.another_app();
    other.folder().open(&bench.path("")).unwrap();
    other.folder().wait_ready(crate::bench::DEADLINE).unwrap();
    let id = id(&bench, RUN);
    other.reviews().review_run(&id, Some(&says(Verdict::Partly))).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Partly));
    bench.app().reviews().review_run(&id, Some(&says(Verdict::Right))).unwrap();
    wait_until("the other sees it", || {
        rows(&other).into_iter().find(|row| row.verdict == Some(Verdict::Right)).map(drop)
    });
    other.folder().close_folder().unwrap();
}

#[test]
fn an_index_made_anew_and_one_that_was_closed_meanwhile_know_what_people_said() {
    let bench = one_run();
    review(&bench, RUN, Some(&says(Verdict::Partly))).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Partly));
    let bench = bench.reopen();
    assert_eq!(bench.row(RUN).unwrap().verdict, Some(Verdict::Partly));
    let bench = bench.close();
    bench.put(FILE, "verdict: wrong\n");
    let bench = bench.open();
    assert_eq!(bench.row(RUN).unwrap().verdict, Some(Verdict::Wrong));
    let bench = bench.close();
    assert!(!find_in(&bench.cache(), "index.db").is_empty());
    fs::remove_dir_all(bench.cache()).unwrap();
    let bench = bench.open();
    assert_eq!(bench.row(RUN).unwrap().verdict, Some(Verdict::Wrong));
}

#[test]
fn a_review_waits_for_its_run_and_stays_when_the_run_goes() {
    let bench = Bench::new().file(FILE, "verdict: right\n").open();
    assert_eq!(bench.problems(), []);
    bench.put(&format!("results/{RUN}"), answered("Three."));
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    bench.remove(&format!("results/{RUN}"));
    wait_until("the run is gone", || bench.rows().is_empty().then_some(()));
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), "verdict: right\n");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence_and_writes_nothing() {
    let bench = Bench::new()
        .answered(&format!("results/{RUN}"), "Three.")
        .file("results/notes.txt", "no run")
        .open();
    let of = |score: f64, note: &str| Review {
        score: Some(score),
        note: note.to_owned(),
        ..says(Verdict::Right)
    };
    for bad in [
        of(1.5, ""),
        of(-0.1, ""),
        of(f64::NAN, ""),
        of(1.0, &"x".repeat(65 << 10)),
        of(1.0, "a\0b"),
    ] {
        let refused = review(&bench, RUN, Some(&bad)).unwrap_err();
        assert_eq!(refused.code, Code::BadRequest, "{refused}");
    }
    let refused = review(&bench, "notes.txt", Some(&says(Verdict::Right))).unwrap_err();
    assert_eq!((refused.code, refused.hint.is_some()), (Code::BadRequest, true));
    assert_eq!(bench.app().reviews().review_run("0000", None).unwrap_err().code, Code::NotFound);
    assert!(!bench.path("results/.touchstone").exists());
}

#[test]
fn very_many_reviews_are_all_read() {
    let names: Vec<String> =
        (0..350).map(|n| format!("t{n}-tool_calling-o1-variation0.yaml")).collect();
    let bench = names.iter().fold(Bench::new(), |bench, name| {
        bench
            .answered(&format!("results/{name}"), "Three.")
            .file(&format!("results/.touchstone/reviews/{name}"), "verdict: wrong\n")
    });
    let bench = bench.open();
    assert!(bench.rows().iter().all(|row| row.verdict == Some(Verdict::Wrong)));
}

#[test]
fn undo_restores_the_former_file_exactly_and_leaves_one_that_changed_since() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let by_hand = "# by hand\nverdict:   wrong\n";
    bench.write(FILE, by_hand);
    let undo = |id: &str, change| bench.app().reviews().undo_review(None, id, change);
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    let change =
        bench.app().reviews().review_run(&id, Some(&says(Verdict::Right))).unwrap().unwrap();
    assert_eq!(bench.app().reviews().review_run(&id, Some(&says(Verdict::Right))).unwrap(), None);
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    let another = undo("0000", change).unwrap_err();
    assert_eq!((another.code, another.message.starts_with("Not undone")), (Code::Gone, true));
    undo(&id, change).unwrap();
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), by_hand);
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    assert_eq!(undo(&id, change).unwrap_err().code, Code::Gone);
    let change =
        bench.app().reviews().review_run(&id, Some(&says(Verdict::Partly))).unwrap().unwrap();
    bench.put(FILE, "verdict: right\nby: somebody\n");
    let refused = undo(&id, change).unwrap_err();
    assert_eq!(refused.message, "Not undone: the review has changed since.");
    assert!(fs::read_to_string(bench.path(FILE)).unwrap().contains("somebody"));
    fs::remove_file(bench.path(FILE)).unwrap();
    let change =
        bench.app().reviews().review_run(&id, Some(&says(Verdict::Partly))).unwrap().unwrap();
    undo(&id, change).unwrap();
    assert!(!bench.path(FILE).exists());
}

#[test]
fn a_number_of_a_change_means_nothing_once_its_folder_was_opened_again() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let stale =
        bench.app().reviews().review_run(&id, Some(&says(Verdict::Right))).unwrap().unwrap();
    let bench = bench.reopen();
    let next = bench.app().reviews().review_run(&id, Some(&says(Verdict::Wrong))).unwrap().unwrap();
    assert_ne!(stale, next);
    assert_eq!(bench.app().reviews().undo_review(None, &id, stale).unwrap_err().code, Code::Gone);
    assert!(fs::read_to_string(bench.path(FILE)).unwrap().starts_with("verdict: wrong\n"));
}

#[test]
fn an_unsigned_review_stays_as_it_is_beside_the_ones_of_people_with_names() {
    let bench = one_run();
    let (app, id) = (bench.app(), id(&bench, RUN));
    bench.write(FILE, "verdict: wrong\n");
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    let reviewed = || app.runs().queue_progress("", Some("Zoë")).unwrap().reviewed;
    assert_eq!((reviewed(), app.runs().queue_progress("review:no", None).unwrap().total), (0, 0));
    app.reviews().review_run_of(None, Some("Zoë"), &id, None).unwrap();
    let noted = Review { verdict: None, note: "hm".to_owned(), ..says(Verdict::Right) };
    app.reviews().review_run_of(None, Some("Zoë"), &id, Some(&noted)).unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(text.starts_with("verdict: wrong\nothers:\n  - note: hm\n"), "{text}");
    app.reviews().review_run_of(None, Some("Zoë"), &id, Some(&says(Verdict::Right))).unwrap();
    wait_until("the verdict of Zoë is read", || (reviewed() == 1).then_some(()));
    app.reviews().review_run_of(None, Some("Zoë"), &id, None).unwrap();
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), "verdict: wrong\n");
}

#[test]
fn two_people_review_the_same_run_and_both_reviews_survive() {
    let bench = one_run();
    let (app, id) = (bench.app(), id(&bench, RUN));
    let by = |author: &str, verdict| {
        app.reviews().review_run_of(None, Some(author), &id, Some(&says(verdict))).unwrap();
    };
    by("Ann", Verdict::Right);
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    by("Zoë", Verdict::Wrong);
    wait_verdict(&bench, RUN, Some(Verdict::Wrong));
    let seen = |author: &str| {
        let scores = app.scoring().run_scores_for(&id, Some(author)).unwrap();
        let others: Vec<_> =
            scores.others.into_iter().map(|one| (one.author.unwrap(), one.verdict)).collect();
        (scores.review.and_then(|own| own.verdict), others)
    };
    assert_eq!(seen("Ann"), (Some(Verdict::Right), vec![("Zoë".to_owned(), Some(Verdict::Wrong))]));
    assert_eq!(seen("Bo").0, None);
    // Removing one leaves the other, which counts from then on.
    app.reviews().review_run_of(None, Some("Bo"), &id, None).unwrap();
    app.reviews().review_run_of(None, Some("Zoë"), &id, None).unwrap();
    wait_verdict(&bench, RUN, Some(Verdict::Right));
    assert_eq!(seen("Zoë"), (None, vec![("Ann".to_owned(), Some(Verdict::Right))]));
}

#[test]
fn a_queue_has_the_runs_of_its_filter_in_its_order_and_counts_what_one_person_reviewed() {
    let mut bench = Bench::new();
    for n in 0..6 {
        bench = bench.answered(&format!("results/t-tool_calling-o1-variation{n}.yaml"), "Three.");
    }
    let bench = bench.open();
    let path = |n: usize| format!("t-tool_calling-o1-variation{n}.yaml");
    let ids: Vec<_> = (0..6).map(|n| id(&bench, &path(n))).collect();
    let sort = Sort { column: Column::Path, descending: false };
    let queue = |order, author: &str, id: &str| {
        bench.app().runs().queue_around(("", &sort), order, Some(author), id).unwrap()
    };
    let review = |author: &str, n: usize, verdict| {
        bench
            .app()
            .reviews()
            .review_run_of(None, Some(author), &ids[n], Some(&says(verdict)))
            .unwrap();
    };
    assert_eq!(queue(QueueOrder::List, "Ann", "").ids, ids);
    review("Ann", 0, Verdict::Right);
    review("Ann", 2, Verdict::Wrong);
    review("Zoë", 1, Verdict::Partly);
    let progress = |author: &str| {
        let QueueProgress { total, reviewed, right, partly, wrong } =
            bench.app().runs().queue_progress("", Some(author)).unwrap();
        (total, reviewed, right, partly, wrong)
    };
    wait_until("all reviews are read", || {
        (progress("Ann") == (6, 2, 1, 0, 1) && progress("Zoë") == (6, 1, 0, 1, 0)).then_some(())
    });
    let order = |wanted: &[usize]| wanted.iter().map(|n| ids[*n].clone()).collect::<Vec<_>>();
    assert_eq!(queue(QueueOrder::Unreviewed, "Ann", "").ids, order(&[1, 3, 4, 5, 0, 2]));
    assert_eq!(queue(QueueOrder::Unreviewed, "Zoë", "").ids, order(&[0, 2, 3, 4, 5, 1]));
    let seeded = queue(QueueOrder::Random { seed: 7 }, "Ann", "").ids;
    assert_eq!(queue(QueueOrder::Random { seed: 7 }, "Zoë", &ids[3]).ids, seeded);
    assert_ne!(queue(QueueOrder::Random { seed: 8 }, "Ann", "").ids, seeded);
    let all = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(all(&seeded), all(&ids));
    let around = queue(QueueOrder::Random { seed: 7 }, "Ann", &seeded[4]);
    assert_eq!((around.before, around.total), (4, 6));
}

#[test]
fn notes_on_steps_are_part_of_the_review_and_need_no_verdict() {
    let bench = one_run();
    let id = id(&bench, RUN);
    let note = |step, note: &str| StepNote { step, note: note.to_owned() };
    let noted = Review { verdict: None, steps: vec![note(0, "odd")], ..says(Verdict::Right) };
    review(&bench, RUN, Some(&noted)).unwrap();
    let text = fs::read_to_string(bench.path(FILE)).unwrap();
    assert!(text.contains("steps:\n  - step: 1\n    note: odd\n"), "{text}");
    let read = read_back(bench.app(), &id).0.unwrap();
    assert_eq!(read.steps, noted.steps);
    // It is no verdict, so `review:` does not count it.
    wait_until("the file is read", || {
        (bench.app().runs().queue_progress("review:no", None).unwrap().total == 1).then_some(())
    });
    let many = vec![note(1, "x"); 501];
    let refused = review(&bench, RUN, Some(&Review { steps: many, ..noted })).unwrap_err();
    assert_eq!(refused.code, Code::BadRequest);
}
