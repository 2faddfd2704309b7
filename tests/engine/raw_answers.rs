//! Tests of raw answers of `StableToolBench` in a folder: one run for each file, and the search
//! tree beside its steps.
use crate::bench::Bench;
use std::path::Path;
use touchstone_api::{RunState, RunView, TreeRowKind, TreeView};

const FOLDER: &str = "../../tests/fixtures/stabletoolbench/answers/harbour-model/G1_harbour";

fn bench() -> Bench {
    let mut bench = Bench::new();
    for entry in fs_err::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_str().unwrap().to_owned();
        bench = bench.file(
            &format!("results/harbour-model/G1_harbour/{name}"),
            fs_err::read(entry.path()).unwrap(),
        );
    }
    bench.file("results/notes.json", "{\"win\": 3}").file("results/empty.json", "").open()
}

fn open(bench: &Bench, name: &str) -> RunView {
    let row = bench.row(&format!("harbour-model/G1_harbour/{name}.json")).unwrap();
    bench.app().runs().open_run(&row.id).unwrap()
}

fn tree(bench: &Bench, view: &RunView) -> TreeView {
    bench.app().runs().read_tree(&view.row.id, &view.version).unwrap()
}

#[test]
fn a_raw_answer_is_a_run_with_its_query_its_method_and_its_model() {
    let bench = bench();
    let row = bench.row("harbour-model/G1_harbour/101_DFS_woFilter_w2.json").unwrap();
    assert_eq!(
        (row.task.as_deref(), row.system.as_deref()),
        (Some("G1_harbour/101"), Some("DFS_woFilter_w2"))
    );
    assert_eq!((row.model.as_deref(), row.state), (Some("harbour-model"), RunState::Answered));
    assert_eq!((row.tool_calls, row.tokens), (3, Some(8123)));
    let row = bench.row("harbour-model/G1_harbour/103_DFS_woFilter_w2.json").unwrap();
    assert_eq!(
        (row.state, row.reason.as_deref()),
        (RunState::NoAnswer, Some("Gave up without an answer."))
    );
    // Other JSON files are not runs, and an empty one is damaged.
    assert_eq!(bench.row("notes.json").unwrap().state, RunState::Other);
    assert_eq!(bench.row("empty.json").unwrap().state, RunState::Damaged);
}

#[test]
fn everything_that_was_tried_is_read_with_the_way_that_counts_marked() {
    let bench = bench();
    let view = open(&bench, "101_DFS_woFilter_w2");
    let brief = view.tree.clone().unwrap();
    assert_eq!((brief.tried, brief.on_way, brief.chosen_by), (17, 5, None));
    let tree = tree(&bench, &view);
    assert_eq!(tree.total, 18);
    for node in tree.nodes.iter().filter(|node| node.kind != TreeRowKind::Thought) {
        let Some(step) = node.step else { continue };
        assert_eq!(view.steps[step as usize].title.as_deref(), Some(&*node.text.text));
    }
    assert_eq!(tree.nodes.iter().filter(|node| node.finished).count(), 1);
    let chosen = open(&bench, "102_DFS_woFilter_w2");
    assert_eq!(
        chosen.tree.unwrap().chosen_by.as_deref(),
        Some("the first of the longest of 2 paths")
    );
}

#[test]
fn texts_of_nodes_are_read_whole_by_their_parts() {
    let bench = bench();
    let view = open(&bench, "101_DFS_woFilter_w2");
    let tree = tree(&bench, &view);
    let node = tree.nodes.iter().find(|node| node.finished).unwrap();
    let input = node.input.clone().unwrap();
    let piece = bench.app().runs().read_text(&view.row.id, &input.part, 0, 1 << 16).unwrap();
    assert_eq!(piece.total, input.bytes);
    assert!(piece.text.starts_with(&input.text) && piece.text.contains("6 Bft"));
    assert!(bench.app().runs().read_text(&view.row.id, "node:1000.0", 0, 10).is_err());
    assert!(bench.app().runs().read_text(&view.row.id, "node:1.7", 0, 10).is_err());
}

#[test]
fn a_run_without_branches_has_no_tree() {
    let bench =
        Bench::new().answered("results/plans-tool_calling-o1-variation0.yaml", "Three.").open();
    let row = bench.row("plans-tool_calling-o1-variation0.yaml").unwrap();
    let view = bench.app().runs().open_run(&row.id).unwrap();
    assert_eq!(view.tree, None);
    assert_eq!(tree(&bench, &view).nodes, []);
}
