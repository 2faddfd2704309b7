//! Tests of files with many runs: each run is a row, regardless of the others.
use crate::bench::{Bench, answered, beside_the_project, wait_until};
use fs_err as fs;
use touchstone_api::{
    ForkRequest, LaunchRequest, OverviewRequest, OverviewView, Review, RunState, Span, Stale,
    Verdict,
};

const FILE: &str = "results/lantern_cot/G1_instruction.json";

fn fixture(name: &str) -> String {
    fs::read_to_string(beside_the_project("tests/fixtures/stabletoolbench/results").join(name))
        .unwrap()
}

/// An entry of a file of converted answers.
pub(crate) fn entry(id: u32, says: &str) -> String {
    let finish = format!(r#"{{\"return_type\": \"give_answer\", \"final_answer\": \"{says}\"}}"#);
    format!(
        r#""{id}": {{"query": "Question {id}?", "available_tools": [], "answer": {{"method": "CoT@1", "total_steps": 4,
        "final_answer": "{finish}", "answer_details": [{{"role": "system", "message": "", "next": [{{"role": "user", "message": "", "next": [
        {{"role": "tool", "message": {{"name": "look_up_for_atlas", "arguments": "{{}}", "response": "Found on sheet{id}."}}, "next": [
        {{"role": "tool", "message": {{"name": "Finish", "arguments": "{finish}", "response": ""}}, "next": []}}]}}]}}]}}]}}}}"#
    )
}

/// A file of such entries.
pub(crate) fn file(entries: &[String]) -> String {
    format!("{{{}}}", entries.join(",\n"))
}

fn three() -> String {
    file(&[entry(1, "One."), entry(2, "Two."), entry(3, "Three.")])
}

fn path(member: &str) -> String {
    format!("lantern_cot/G1_instruction.json#{member}")
}

/// Paths of all rows, without the folder.
fn members(bench: &Bench) -> Vec<String> {
    let short = |path: String| path.rsplit('/').next().unwrap_or_default().to_owned();
    bench.rows().into_iter().map(|row| short(row.path)).collect()
}

fn wait_members(bench: &Bench, wanted: &[&str]) {
    wait_until(&format!("the rows are {wanted:?}"), || (members(bench) == wanted).then_some(()));
}

/// Runs reported by events.
fn changed_run_ids(bench: &Bench) -> Vec<String> {
    let ids = bench
        .events()
        .into_iter()
        .map(|stale| if let Stale::Runs { ids, .. } = stale { ids } else { Vec::new() });
    ids.flatten().collect()
}

#[test]
fn every_run_of_a_file_is_a_row_with_its_place() {
    let bench = Bench::new()
        .file(
            "results/converted/lantern_cot/G1_instruction.json",
            fixture("converted/lantern_cot/G1_instruction.json"),
        )
        .file(
            "results/pass/lantern_cot/G1_instruction_lantern_cot.csv",
            fixture("pass_rate/lantern_cot/G1_instruction_lantern_cot.csv"),
        )
        .file(
            "results/tools/trail_helper_G1_instruction.json",
            fixture("trail_helper_G1_instruction.json"),
        )
        .file(
            "results/tools/seven_steps_G2_category_k12_q3.json",
            fixture("seven_steps_G2_category_k12_q3.json"),
        )
        .file("results/preference.json", r#"{"1": {"a": 0, "b": 3, "round_0": "complete"}}"#)
        .file("results/other.json", "{\"rows\": []}")
        .open();
    let shown = |row: touchstone_api::RunRow| {
        let word = |word: Option<String>| word.unwrap_or_else(|| "-".to_owned());
        let place = [row.task, row.system, row.model].map(word).join(" ");
        format!(
            "{} | {place} {} {} {:?}",
            row.path,
            row.variation.map_or(-1, i64::from),
            row.repeat,
            row.state
        )
    };
    let rows: Vec<String> = bench.rows().into_iter().map(shown).collect();
    assert_eq!(
        rows,
        [
            "converted/lantern_cot/G1_instruction.json#9101 | G1_instruction/9101 CoT@1 lantern_cot 0 1 Answered",
            "converted/lantern_cot/G1_instruction.json#9102 | G1_instruction/9102 CoT@1 lantern_cot 0 1 NoAnswer",
            "other.json | - - - -1 1 Other",
            "pass/lantern_cot/G1_instruction_lantern_cot.csv#9101 | G1_instruction/9101 - lantern_cot 0 1 Answered",
            "pass/lantern_cot/G1_instruction_lantern_cot.csv#9102 | G1_instruction/9102 - lantern_cot 0 1 NoAnswer",
            "preference.json | - - - -1 1 Other",
            "tools/seven_steps_G2_category_k12_q3.json#70001 | G2_category/70001 seven_steps - 0 1 Answered",
            "tools/seven_steps_G2_category_k12_q3.json#70002 | G2_category/70002 seven_steps - 0 1 Answered",
            "tools/seven_steps_G2_category_k12_q3.json#70003 | G2_category/70003 seven_steps - 0 1 Error",
            "tools/trail_helper_G1_instruction.json#9101 | G1_instruction/9101 trail_helper - 0 1 Answered",
            "tools/trail_helper_G1_instruction.json#9101-run2 | G1_instruction/9101 trail_helper - 0 2 Answered",
            "tools/trail_helper_G1_instruction.json#9102 | G1_instruction/9102 trail_helper - 0 1 NoAnswer",
            "tools/trail_helper_G1_instruction.json#9103 | G1_instruction/9103 trail_helper - 0 1 Answered",
        ]
    );
    let why = bench.row("preference.json").unwrap().reason.unwrap();
    assert!(why.contains("A preference between two answers"), "{why}");
    let view = bench
        .app()
        .runs()
        .open_run(&bench.row("tools/trail_helper_G1_instruction.json#9103").unwrap().id)
        .unwrap();
    assert_eq!(view.files[0].path, "results/tools/trail_helper_G1_instruction.json");
    assert!(
        view.notes.iter().any(|note| note.contains("as stored in the file")),
        "{:?}",
        view.notes
    );
    assert!(view.facts.iter().any(|fact| fact.key == "scores.sopr_score"), "{:?}", view.facts);
    assert_eq!(view.row.score, None);
}

#[test]
fn when_one_run_of_a_file_changes_only_that_one_is_told_of() {
    let bench = Bench::new().file(FILE, three()).open();
    assert_eq!(
        members(&bench),
        ["G1_instruction.json#1", "G1_instruction.json#2", "G1_instruction.json#3"]
    );
    let before: Vec<String> = bench.rows().into_iter().map(|row| row.id).collect();
    // The events of the first scan arrive before any later ones.
    bench.put("results/z.yaml", answered("Last."));
    let last = wait_until("the last file is listed", || bench.row("z.yaml")).id;
    wait_until("it is told of", || changed_run_ids(&bench).contains(&last).then_some(()));
    bench.forget_events();
    bench.put(FILE, file(&[entry(1, "One."), entry(2, "Zwei."), entry(3, "Three.")]));
    wait_until("the other answer is found", || (bench.hits("Zwei") == [path("2")]).then_some(()));
    wait_until("it is told of", || changed_run_ids(&bench).contains(&before[1]).then_some(()));
    let others = changed_run_ids(&bench).into_iter().filter(|id| *id != last && *id != before[1]);
    assert_eq!(others.collect::<Vec<_>>(), Vec::<String>::new());
    assert!(bench.hits("\"Two.\"").is_empty());
    assert_eq!(
        bench.rows().into_iter().map(|row| row.id).filter(|id| *id != last).collect::<Vec<_>>(),
        before
    );
}

#[test]
fn a_run_that_leaves_its_file_leaves_the_list_and_so_do_all_with_the_file() {
    let bench = Bench::new().file(FILE, three()).open();
    bench.put(FILE, file(&[entry(3, "Three."), entry(1, "One."), entry(4, "Four.")]));
    wait_members(
        &bench,
        &["G1_instruction.json#1", "G1_instruction.json#3", "G1_instruction.json#4"],
    );
    assert_eq!(bench.status().counts.runs, 3);
    bench.remove(FILE);
    wait_members(&bench, &[]);
    assert_eq!((bench.status().counts.runs, bench.hits("sheet").len()), (0, 0));
}

#[test]
fn a_broken_run_is_one_damaged_row_and_a_file_that_ends_in_the_middle_keeps_what_it_has() {
    let text = three();
    let bench = Bench::new()
        .file(FILE, text.replacen("\"query\": \"Question 2?\"", "\"query\": oops", 1))
        .file("results/cut.json", &text[..text.len() - 40])
        .open();
    let states = bench.states();
    let states: Vec<(&str, RunState)> =
        states.iter().map(|(path, state)| (path.as_str(), *state)).collect();
    assert_eq!(
        states,
        [
            ("cut.json#1", RunState::Answered),
            ("cut.json#2", RunState::Answered),
            ("cut.json#3", RunState::Damaged),
            ("lantern_cot/G1_instruction.json#1", RunState::Answered),
            ("lantern_cot/G1_instruction.json#2", RunState::Damaged),
            ("lantern_cot/G1_instruction.json#3", RunState::Answered),
        ]
    );
    let problems = bench.problems();
    let problem =
        problems.iter().find(|problem| problem.file.contains("G1_instruction.json#2")).unwrap();
    assert!(problem.line.is_some_and(|line| line > 4), "{problem:?}");
    let view = bench.app().runs().open_run(&bench.row(&path("2")).unwrap().id).unwrap();
    assert!(view.notes.iter().any(|note| note.contains("not a JSON value")), "{:?}", view.notes);
    bench.put(FILE, three());
    bench.wait_state(&path("2"), RunState::Answered);
}

#[test]
fn a_file_may_become_one_that_holds_many_runs_and_back() {
    let bench = Bench::new().file(FILE, "{\"rows\": []}").open();
    assert_eq!(members(&bench), ["G1_instruction.json"]);
    bench.put(FILE, three());
    wait_members(
        &bench,
        &["G1_instruction.json#1", "G1_instruction.json#2", "G1_instruction.json#3"],
    );
    bench.put(FILE, "{\"rows\": [1]}");
    wait_members(&bench, &["G1_instruction.json"]);
}

#[test]
fn an_index_that_was_made_before_knows_the_runs_of_a_file() {
    let bench = Bench::new().file(FILE, three()).open();
    let before = bench.rows();
    let bench = bench.close();
    bench.forget_events();
    let bench = bench.open();
    assert_eq!(bench.rows(), before);
    assert!(changed_run_ids(&bench).is_empty());
    let bench = bench.close();
    bench.write(FILE, file(&[entry(1, "One."), entry(3, "Drei.")]));
    bench.age(FILE);
    let bench = bench.open();
    wait_members(&bench, &["G1_instruction.json#1", "G1_instruction.json#3"]);
    assert_eq!(bench.hits("Drei"), [path("3")]);
}

#[test]
fn what_is_found_in_one_of_many_opens_at_its_step() {
    let bench = Bench::new().file(FILE, three()).open();
    for _ in 0..2 {
        let hits = bench.app().runs().search("sheet2", Span { offset: 0, limit: 10 }).unwrap();
        let [hit] = hits.as_slice() else { panic!("{hits:?}") };
        let view = bench.app().runs().open_run(&hit.id).unwrap();
        assert_eq!(
            (view.row.path.as_str(), view.row.member.as_deref()),
            (path("2").as_str(), Some("2"))
        );
        let found = bench.app().runs().find_in_run(&hit.id, "sheet2").unwrap();
        assert_eq!((found.total, found.matches[0].step), (1, hit.snippet.step));
        bench.wait_words();
    }
    let ids: Vec<String> = bench.rows().into_iter().map(|row| row.id).collect();
    assert_eq!(bench.app().runs().compare_runs(&ids[..2]).unwrap().runs.len(), 2);
}

#[test]
fn a_review_of_one_of_many_is_a_file_of_its_own_and_holds_while_the_others_change() {
    let bench = Bench::new().file(FILE, three()).open();
    let id = bench.row(&path("2")).unwrap().id;
    let review = Review {
        verdict: Some(Verdict::Wrong),
        score: None,
        note: String::new(),
        at_ms: 0,
        stale: false,
        answer: None,
        author: None,
        steps: Vec::new(),
        labels: std::collections::BTreeMap::new(),
    };
    bench.app().reviews().review_run(&id, Some(&review)).unwrap();
    let verdict = |member: &str| bench.row(&path(member)).and_then(|row| row.verdict);
    wait_until("the verdict is shown", || verdict("2"));
    assert_eq!((verdict("1"), verdict("3")), (None, None));
    assert!(
        bench.path("results/.touchstone/reviews/lantern_cot/G1_instruction.json/2.yaml").is_file()
    );
    bench.put(FILE, file(&[entry(1, "Eins."), entry(2, "Two."), entry(3, "Three.")]));
    wait_until("the other answer is found", || (bench.hits("Eins") == [path("1")]).then_some(()));
    assert_eq!(verdict("2"), Some(Verdict::Wrong));
    bench.put(FILE, file(&[entry(1, "Eins."), entry(2, "Zwei."), entry(3, "Three.")]));
    wait_until("the verdict is of another answer", || verdict("2").is_none().then_some(()));
    assert!(bench.app().reviews().review_of(&id).unwrap().0.unwrap().stale);
    let bench = bench.reopen();
    assert!(bench.problems().is_empty(), "{:?}", bench.problems());
}

#[test]
fn nothing_is_made_of_gone_on_with_or_expected_because_of_runs_of_others() {
    let tasks = r#"[{"query_id": 1, "query": "Question 1?", "api_list": [], "relevant APIs": []},
                    {"query_id": 9, "query": "Question 9?", "api_list": [], "relevant APIs": []}]"#;
    let text = three();
    let bench = Bench::new().file("tasks/G1_instruction.json", tasks).file(FILE, &text).open();
    let id = bench.row(&path("1")).unwrap().id;
    let request = LaunchRequest { runs: vec![id.clone()], ..LaunchRequest::default() };
    let plan = bench.app().launches().plan_launch(&request).unwrap();
    let whys: Vec<&str> = plan.skipped.iter().map(|planned| planned.why.as_str()).collect();
    assert!(
        plan.owed.is_empty() && whys.iter().all(|why| why.contains("never changed")),
        "{whys:?}"
    );
    for refused in [
        bench.app().launches().fork_run(&id, &ForkRequest::new(0, None)).map(drop).unwrap_err(),
        bench.app().launches().nudge_run(&id, "Go on.", false).map(drop).unwrap_err(),
    ] {
        assert!(refused.to_string().contains("never changed"), "{refused}");
    }
    let request = OverviewRequest {
        filter: String::new(),
        scorer: None,
        folded: false,
        except: Vec::new(),
        find: None,
        view: OverviewView::default(),
        span: Span { offset: 0, limit: 50 },
    };
    let overview = bench.app().stats().overview(&request).unwrap();
    assert_eq!(overview.missing, Some(0));
    assert_eq!(fs::read_to_string(bench.path(FILE)).unwrap(), text);
}
