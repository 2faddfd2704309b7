//! Tests of the list over real files: the index and the queries agree.
use crate::bench::{Bench, rows, wait_until};
use touchstone_api::{Column, ListRequest, RunPage, Sort, Span};

fn list(bench: &Bench, filter: &str, column: Column, descending: bool) -> RunPage {
    let span = Span { offset: 0, limit: 100 };
    let request =
        ListRequest { filter: filter.to_owned(), sort: Sort { column, descending }, span };
    bench.app().runs().list_runs(request).unwrap()
}

fn paths(page: &RunPage) -> Vec<&str> {
    page.rows.iter().map(|row| row.path.as_str()).collect()
}

fn bench() -> Bench {
    Bench::new()
        .answered("results/b-tool_calling-o1-variation0.yaml", "Three.")
        .answered("results/a-promptql-o3-mini-variation1-run2.yaml", "Four.")
        .answered("results/notes/loose.yaml", "Five.")
        .file("results/broken.yaml", crate::bench::broken())
        .file("results/readme.txt", "hello")
        .open()
}

#[test]
fn tokens_ask_for_what_the_index_wrote() {
    let bench = bench();
    for (filter, expected) in [
        ("model:o1", vec!["b-tool_calling-o1-variation0.yaml"]),
        ("model:o3-mini variation:1 repeat:2", vec!["a-promptql-o3-mini-variation1-run2.yaml"]),
        ("-task:*", vec!["broken.yaml", "notes/loose.yaml"]),
        ("state:damaged", vec!["broken.yaml"]),
        ("state:other", vec!["readme.txt"]),
        ("path:notes", vec!["notes/loose.yaml"]),
        (
            "tool:query_plans model:*",
            vec!["a-promptql-o3-mini-variation1-run2.yaml", "b-tool_calling-o1-variation0.yaml"],
        ),
        ("tool:query_plan", vec![]),
        ("answer:yes calls:1 turns:>0 layout:tool_calling path:loose", vec!["notes/loose.yaml"]),
        ("size:>1mb", vec![]),
        ("three", vec!["b-tool_calling-o1-variation0.yaml"]),
        (
            "-three state:answered",
            vec!["a-promptql-o3-mini-variation1-run2.yaml", "notes/loose.yaml"],
        ),
    ] {
        assert_eq!(paths(&list(&bench, filter, Column::Path, false)), expected, "{filter}");
    }
}

#[test]
fn every_value_that_facets_offer_finds_as_many_runs_as_they_say() {
    let bench = bench();
    let facets = bench.app().runs().facets().unwrap();
    let mut asked = 0;
    for facet in &facets.keys {
        for value in &facet.values {
            let token = format!("{}:{}", facet.key, value.value);
            assert_eq!(
                list(&bench, &token, Column::Path, false).total,
                value.count.unwrap(),
                "{token}"
            );
            asked += 1;
        }
    }
    assert!(asked > 15, "{facets:?}");
}

#[test]
fn every_order_holds_every_run_once() {
    use Column::{
        Cost, Model, Modified, Path, Repeat, Seconds, Size, State, System, Task, Tokens, ToolCalls,
        Turns, Variation,
    };
    let bench = bench();
    let all: Vec<String> = rows(bench.app())
        .into_iter()
        .map(|row| row.path)
        .filter(|path| path != "readme.txt")
        .collect();
    for column in [
        Cost, Model, Modified, Path, Repeat, Seconds, Size, State, System, Task, Tokens, ToolCalls,
        Turns, Variation,
    ] {
        for descending in [false, true] {
            let page = list(&bench, "", column.clone(), descending);
            let mut sorted = paths(&page);
            sorted.sort_unstable();
            assert_eq!(sorted, all, "{column:?}");
        }
    }
}

#[test]
fn a_list_of_before_does_not_outlive_a_change() {
    let bench = bench();
    let before = list(&bench, "three", Column::Path, false);
    bench.put("results/new.yaml", crate::bench::answered("Three again."));
    bench.wait_state("new.yaml", touchstone_api::RunState::Answered);
    let after = list(&bench, "three", Column::Path, false);
    assert_eq!((before.total, after.total), (1, 2));
    assert!(after.generation > before.generation);
    assert_eq!(list(&bench, "", Column::Path, false).total, 5);
}

#[test]
fn columns_of_ones_own_are_parts_of_answers_facts_scores_and_labels_and_none_is_never_zero() {
    let answer = |answer: &str, more: &str| {
        format!(
            "conversation:\n- user_message: hi\n- assistant_message: yes\nanswer: {answer}\n{more}"
        )
    };
    let bench = Bench::new()
        .file("touchstone.yaml", "labels: { again: 'repeat:>1' }\n")
        .file(
            "tasks/t.yaml",
            "tool_calling_prompt: hi\nexpected_output: { id: 7 }\nscorers: [fields]\n",
        )
        .file(
            "results/t-tool_calling-o1-variation0.yaml",
            answer("{ items: [{ id: 1.50 }, { id: a b }] }", "run: { version: 1.2.0, cost: 0 }\n"),
        )
        .file("results/t-tool_calling-o1-variation0-run2.yaml", answer("0", "note: { deep: x }\n"))
        .file(
            "results/t-tool_calling-o1-variation0-run3.yaml",
            "conversation:\n- user_message: hi\n",
        )
        .file("results/t-tool_calling-o1-variation0-run4.yaml", answer(&"x".repeat(9 << 20), ""))
        .open();
    let id = |run: &str| {
        let path = format!("t-tool_calling-o1-variation0{run}.yaml");
        wait_until("the run is listed", || bench.row(&path)).id
    };
    let runs = [id(""), id("-run2"), id("-run3"), "none".to_owned()];
    wait_until("it is scored", || bench.rows().iter().any(|row| row.score.is_some()).then_some(()));
    let of = |column: &str| {
        let values = bench.app().runs().own_columns(&[column.to_owned()], &runs).unwrap().values;
        values.into_iter().map(|mut row| row.remove(0)).collect::<Vec<_>>()
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(of("answer.items[0].id"), [some("1.50"), None, None, None]);
    assert_eq!(of("answer.items[1].id"), [some("a b"), None, None, None]);
    assert_eq!(
        of("answer"),
        [some("{\"items\":[{\"id\":1.50},{\"id\":\"a b\"}]}"), some("0"), None, None]
    );
    let large = bench.app().runs().own_columns(&["answer".to_owned()], &[id("-run4")]).unwrap();
    assert_eq!(large.values, [[some("larger than 1 MB")]]);
    assert_eq!(of("fact:run.version"), [some("1.2.0"), None, None, None]);
    assert_eq!(of("fact:run.cost"), [some("0"), None, None, None]);
    assert_eq!(of("fact:note"), [None, None, None, None]);
    assert_eq!(of("label:again"), [None, some("yes"), some("yes"), None]);
    assert_eq!(of("score:fields")[0], some("0"));
    assert_eq!(of("score:none"), [None, None, None, None]);
    // The same values are ordered and asked for: "repeats" stands for the runs by their repeat.
    let own = |column: &str| Column::Own(column.to_owned().try_into().unwrap());
    let repeats = |filter: &str, column: Column, descending: bool| {
        let rows = list(&bench, filter, column, descending).rows;
        rows.iter().map(|row| row.repeat.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(repeats("", own("fact:run.version"), false), "1 2 3 4");
    assert_eq!(repeats("", own("label:again"), false), "2 3 4 1");
    assert_eq!(repeats("", own("answer"), false), "2 1 3 4", "a number, a map, and none");
    assert_eq!(repeats("", own("answer"), true), "1 2 3 4");
    assert_eq!(repeats("fact:run.version=1.2*", Column::Path, false), "1");
    assert_eq!(repeats("-fact:run.version", Column::Path, false), "2 3 4");
    assert_eq!(repeats("answer.items[0].id=1.5", Column::Path, false), "1");
    assert_eq!(repeats("score:fields<0.5 -score:fields=*", Column::Path, false), "");
    assert!(repeats("score:fields=*", Column::Path, false).contains('1'));
    let facets = bench.app().runs().facets().unwrap();
    assert!(facets.parts.contains(&"answer.items[0].id".to_owned()), "{:?}", facets.parts);
    let of_files = facets.keys.iter().find(|facet| facet.key == "fact").unwrap();
    assert!(of_files.values.iter().any(|value| value.value == "run.version"), "{of_files:?}");
    let quotes = ["answer", "fact:a", "label:again", "score:a"].map(str::to_owned);
    assert_eq!(
        bench.app().runs().own_columns(&quotes, &[]).unwrap().quotes,
        [true, true, false, false]
    );
    let wrong = bench.app().runs().own_columns(&["costs".to_owned()], &[]).unwrap_err();
    assert!(wrong.message.starts_with("There is no column “costs”."), "{}", wrong.message);
    assert!(bench.app().runs().own_columns(&[], &vec![String::new(); 501]).is_err());
}
