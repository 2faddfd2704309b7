//! The tree of forks of a run.
use crate::bench::{Bench, wait_until};
use touchstone_api::{LineageNode, RunState};

const TALK: &str = "conversation:\n- user_message: How many?\n- assistant_message: 7\n";

fn name(rest: &str) -> String {
    format!("count-tool_calling-o1-variation0{rest}.yaml")
}

fn file(rest: &str) -> String {
    format!("results/{}", name(rest))
}

/// A run that says which run it was copied from.
fn fork_of(rest: &str, step: u32) -> String {
    format!("{TALK}answer: 7\nrun: {{forked_from: {{file: {}, step: {step}}}}}\n", name(rest))
}

/// The tree that a run shows: each run by the end of its name, indented by its depth.
fn tree(bench: &Bench, rest: &str) -> Vec<String> {
    let row = bench.rows().into_iter().find(|row| row.path == name(rest)).unwrap();
    let show = |node: &LineageNode| {
        let end = node.path.trim_start_matches("count-tool_calling-o1-variation0");
        let step = node.step.map(|step| format!(" {step}")).unwrap_or_default();
        let gone = if node.id.is_none() { " gone" } else { "" };
        format!("{}{}{step}{gone}", ". ".repeat(node.depth as usize), end.trim_end_matches(".yaml"))
    };
    bench.app().runs().open_run(&row.id).unwrap().lineage.tree.iter().map(show).collect()
}

#[test]
fn every_run_of_a_tree_shows_the_whole_tree_in_the_order_of_its_forks() {
    let bench = Bench::new()
        .file(&file("-run1"), format!("{TALK}answer: 7\n"))
        .file(&file("-fork1"), fork_of("-run1", 1))
        .file(&file("-fork2"), fork_of("-fork1", 0))
        .file(&file("-fork3"), fork_of("-run1", 0))
        .file(&file("-run2"), format!("{TALK}answer: 7\n"))
        .open();
    wait_until("all are read", || (bench.rows().len() == 5).then_some(()));
    let whole = ["-run1", ". -fork1 1", ". . -fork2 0", ". -fork3 0"];
    for rest in ["-run1", "-fork1", "-fork2", "-fork3"] {
        assert_eq!(tree(&bench, rest), whole, "{rest}");
    }
    assert!(tree(&bench, "-run2").is_empty(), "a run without relatives has no tree");
    let row = bench.rows().into_iter().find(|row| row.path == name("-run1")).unwrap();
    let states = bench.app().runs().open_run(&row.id).unwrap().lineage.tree;
    assert!(states.iter().all(|node| node.state == Some(RunState::Answered)), "{states:?}");
}

#[test]
fn a_tree_begins_with_an_origin_that_is_gone_and_ends_where_files_name_each_other() {
    let bench = Bench::new()
        .file(&file("-fork1"), fork_of("-run9", 3))
        .file(&file("-fork2"), fork_of("-fork3", 0))
        .file(&file("-fork3"), fork_of("-fork2", 0))
        .open();
    wait_until("all are read", || (bench.rows().len() == 3).then_some(()));
    assert_eq!(tree(&bench, "-fork1"), ["-run9 gone", ". -fork1 3"]);
    assert_eq!(tree(&bench, "-fork2").len(), 2, "each run is shown once");
}
