//! Tests of trust: the agreement of judges with people, checked against hand-counted tables; stale
//! verdicts are named, not counted.
use super::bench::{Bench, wait_until};
use super::judging::{judge, request, workspace};
use super::running::stage::says;
use super::scripted::{Reply, Scripted, Seen};
use touchstone_api::{JudgeRequest, Review, Trust, Verdict};
use touchstone_app::App;
use touchstone_app::error::Code;

const TASK: &str = "tool_calling_prompt: How many plans are there?\n";

/// Reviews of a run, the verdicts of the judge, and the number of such runs.
const SAID: [(&str, &str, usize); 5] = [
    ("right", "solved", 6),
    ("right", "unsolved", 1),
    ("wrong", "unsolved", 3),
    ("wrong", "solved", 1),
    ("partly", "unsure", 1),
];

fn run(repeat: usize) -> String {
    let again = if repeat > 1 { format!("-run{repeat}") } else { String::new() };
    format!("count-tool_calling-o1-variation0{again}.yaml")
}

fn transcript(judge: &str) -> String {
    let said = format!("It is {judge}.");
    format!(
        "conversation:\n- user_message: How many?\n- assistant_message: {said}\nanswer: {said}\n"
    )
}

/// A judge that gives the verdict named in the answer of each run.
fn judges() -> Scripted {
    Scripted::start(|seen: &Seen| -> Reply {
        let asked = seen.json().to_string();
        let word = ["unsolved", "unsure", "solved", "gibberish"]
            .into_iter()
            .find(|word| asked.contains(&format!("It is {word}.")));
        match word {
            Some("gibberish") | None => says("hm"),
            Some(word) => {
                says(&format!(r#"{{"reason": "Because of {word}.", "verdict": "{word}"}}"#))
            }
        }
    })
}

fn bench(server: &Scripted) -> Bench {
    let mut bench =
        Bench::new().file("touchstone.yaml", workspace(server, "")).file("tasks/count.yaml", TASK);
    let mut repeat = 0;
    for (people, judge, times) in SAID {
        for _ in 0..times {
            repeat += 1;
            bench = bench
                .answered(&format!("results/{}", run(repeat)), &format!("It is {judge}."))
                .file(
                    &format!("results/.touchstone/reviews/{}", run(repeat)),
                    format!("verdict: {people}\nnote: I say {people}.\n"),
                );
        }
    }
    // Runs without a valid review: one with a verdict, one with unreadable replies, one whose
    // review is of another answer.
    bench
        .answered("results/count-tool_calling-o3-variation0.yaml", "It is solved.")
        .answered("results/count-tool_calling-o3-variation0-run2.yaml", "It is gibberish.")
        .answered("results/count-tool_calling-o3-variation0-run3.yaml", "It is solved.")
        .file(
            "results/.touchstone/reviews/count-tool_calling-o3-variation0-run3.yaml",
            "verdict: wrong\nanswer: another\n",
        )
        .open()
}

fn trust(app: &App, filter: &str, wanted: impl Fn(&Trust) -> bool) -> Trust {
    wait_until("what was said is told", || {
        Some(app.reviews().trust(filter).unwrap()).filter(&wanted)
    })
}

fn of_judge(trust: &Trust) -> (u64, u64, u64, u64) {
    trust
        .raters
        .iter()
        .find(|rater| rater.id == "sopr:ours:local")
        .map_or((0, 0, 0, 0), |rater| (rater.runs, rater.reviewed, rater.stale, rater.unread))
}

#[test]
fn the_agreement_of_a_judge_with_people_is_what_is_counted_by_hand() {
    let server = judges();
    let bench = bench(&server);
    let before = trust(bench.app(), "", |trust| trust.reviewed == 12);
    assert_eq!((before.pairs.len(), before.raters[0].stale), (0, 1), "{before:?}");
    judge(bench.app(), &request(1));
    let told = trust(bench.app(), "", |trust| of_judge(trust) == (14, 12, 0, 1));
    let pair = &told.pairs[0];
    assert_eq!((pair.first.name.as_str(), pair.second.name.as_str()), ("people", "sopr by local"));
    assert_eq!((pair.n, pair.same), (12, 10));
    // 10 of 12 agree; by chance it would be 7 * 7 + 1 * 1 + 4 * 4 of 144.
    assert!((pair.kappa.unwrap() - 9.0 / 13.0).abs() < 1e-12, "{pair:?}");
    assert!(pair.interval.is_some_and(|(low, high)| low < 9.0 / 13.0 && high > 9.0 / 13.0));
    assert_eq!(told.pairs.len(), 1);

    let pair = bench.app().reviews().agreement("people", "sopr:ours:local", "").unwrap();
    assert_eq!(pair.said, ["right", "in between", "wrong"]);
    assert_eq!(pair.table, [[6, 0, 1], [0, 1, 0], [1, 0, 3]]);
    let shown: Vec<_> = pair
        .disagreements
        .iter()
        .map(|one| {
            (
                one.path.clone(),
                one.first.as_str(),
                one.first_why.as_deref(),
                one.second.as_str(),
                one.second_why.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (run(11), "wrong", Some("I say wrong."), "right", Some("Because of solved.")),
            (run(7), "right", Some("I say right."), "wrong", Some("Because of unsolved.")),
        ]
    );
    assert_eq!(pair.disagreements_total, 2);
    let turned = bench.app().reviews().agreement("sopr:ours:local", "people", "").unwrap();
    assert_eq!((turned.table[0][2], turned.disagreements[0].first.as_str()), (1, "right"));
}

#[test]
fn only_the_runs_that_pass_count_and_what_is_not_understood_is_refused() {
    let server = judges();
    let bench = bench(&server);
    trust(bench.app(), "", |trust| trust.reviewed == 12);
    let view = judge(bench.app(), &JudgeRequest { filter: "review:yes".to_owned(), ..request(1) });
    assert_eq!((view.total, view.done), (12, 12), "only the runs that were reviewed are judged");
    let told = trust(bench.app(), "review:wrong", |trust| of_judge(trust).0 == 4);
    assert_eq!((told.reviewed, told.pairs[0].n, told.pairs[0].same), (4, 4, 3));
    assert_eq!((told.pairs[0].words.as_str(), told.raters[0].runs), ("too few to tell", 4));
    let app = bench.app();
    assert_eq!(app.reviews().trust("rewiev:yes").unwrap_err().code, Code::BadRequest);
    assert_eq!(app.reviews().agreement("people", "nobody", "").unwrap_err().code, Code::NotFound);
}

#[test]
fn a_verdict_of_another_answer_is_stale_until_it_is_judged_again() {
    let server = judges();
    let bench = bench(&server);
    judge(bench.app(), &request(1));
    trust(bench.app(), "", |trust| of_judge(trust) == (14, 12, 0, 1));
    let says = Review {
        verdict: Some(Verdict::Right),
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    };
    // An unsigned review would stay beside the one that is given here.
    bench.remove(&format!("results/.touchstone/reviews/{}", run(1)));
    bench.app().reviews().review_run(&bench.row(&run(1)).unwrap().id, Some(&says)).unwrap();
    let bench = bench.file(&format!("results/{}", run(1)), transcript("unsolved"));
    let told = trust(bench.app(), "", |trust| {
        of_judge(trust) == (13, 11, 1, 1) && trust.raters[0].stale == 2
    });
    assert_eq!((told.reviewed, told.pairs[0].n), (11, 11));
    bench.app().reviews().review_run(&bench.row(&run(1)).unwrap().id, Some(&says)).unwrap();
    judge(bench.app(), &request(1));
    let told =
        trust(bench.app(), "", |trust| of_judge(trust) == (14, 12, 0, 1) && trust.reviewed == 12);
    assert_eq!((told.pairs[0].n, told.pairs[0].same), (12, 9));
}

#[test]
fn what_was_gathered_is_there_again_when_the_folder_is_opened_again_without_an_index() {
    let server = judges();
    let bench = bench(&server);
    judge(bench.app(), &request(1));
    let told = trust(bench.app(), "", |trust| of_judge(trust) == (14, 12, 0, 1));
    let bench = bench.close();
    fs_err::remove_dir_all(bench.cache()).unwrap();
    let bench = bench.reopen();
    assert_eq!(
        trust(bench.app(), "", |trust| of_judge(trust) == (14, 12, 0, 1) && trust.reviewed == 12),
        told
    );
}

#[test]
fn the_automatic_score_is_a_rater_and_what_is_right_for_the_better_part_is_in_between() {
    let suite =
        "tool_calling_prompt: Which?\nvariations:\n- expected_output: [{ a: 1, b: 2, c: 3 }]\n";
    let mut bench = Bench::new().file("tasks/count.yaml", suite);
    for (repeat, (answer, people)) in [
        ("[{a: 1, b: 2, c: 3}]", "right"),
        ("[{a: 1, b: 2, c: 4}]", "partly"),
        ("[{a: 9, b: 9, c: 9}]", "right"),
    ]
    .iter()
    .enumerate()
    {
        let text = format!(
            "conversation:\n- user_message: Which?\n- assistant_message: These.\nanswer: {answer}\n"
        );
        bench = bench.file(&format!("results/{}", run(repeat + 1)), text).file(
            &format!("results/.touchstone/reviews/{}", run(repeat + 1)),
            format!("verdict: {people}\n"),
        );
    }
    let bench = bench.open();
    let told = trust(bench.app(), "", |trust| trust.reviewed == 3 && trust.pairs.len() == 1);
    assert_eq!(
        (told.pairs[0].n, told.pairs[0].same, told.pairs[0].second.name.as_str()),
        (3, 2, "automatic score")
    );
    let pair = bench.app().reviews().agreement("people", "score", "").unwrap();
    assert_eq!(pair.table, [[1, 0, 1], [0, 1, 0], [0, 0, 0]]);
    assert_eq!(pair.disagreements[0].path, run(3));
    assert!(pair.disagreements[0].second_why.is_some(), "{pair:?}");
    bench.write("results/.touchstone/sensitive/damaged.json", "{");
    let folded = bench.app().reviews().agreement("people", "score", "").unwrap();
    let reason = folded.disagreements[0].second_why.as_deref();
    assert_eq!(reason, Some("[sensitive text left out]"), "sensitive runs are not quoted");
}
