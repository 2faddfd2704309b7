//! Tests that all lists of commands are equal: those of the page, the routes, the window and its
//! permissions.
use crate::commands;
use std::collections::BTreeSet;

fn names() -> BTreeSet<String> {
    commands::COMMANDS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

#[test]
fn a_page_that_may_only_look_begins_nothing_opens_nothing_and_asks_for_no_key() {
    let wanted = [
        "open_recent",
        "forget_recent",
        "open_demo",
        "pick_folder",
        "close_folder",
        "plan_launch",
        "start_launch",
        "stop_launch",
        "retry_launch",
        "nudge_run",
        "fork_run",
        "keys",
        "set_key",
        "forget_key",
        "test_model",
        "run_scorers",
        "review_run",
        "save_report",
        "plan_judging",
        "start_judging",
        "stop_judging",
        "pick_file",
        "plan_evaluating",
        "start_evaluating",
        "stop_evaluating",
        "reveal_file",
        "make_rows",
    ];
    let acts = commands::COMMANDS.iter().filter(|(_, access)| *access == commands::Access::Act);
    assert_eq!(acts.map(|(name, _)| *name).collect::<Vec<_>>(), wanted);
}

#[test]
fn the_page_asks_for_exactly_the_commands_there_are() {
    let page = include_str!("../../ui/src/backend/backend.ts");
    let body =
        page.split_once("export interface Commands {").unwrap().1.split_once("\n}").unwrap().0;
    let asked = body
        .lines()
        .filter_map(|line| line.trim().split_once(": ["))
        .map(|(name, _)| name.to_owned());
    assert_eq!(asked.collect::<BTreeSet<_>>(), names());
}

#[test]
fn the_window_offers_exactly_the_commands_there_are() {
    let window = include_str!("desktop.rs");
    let list = window.split_once("generate_handler![").unwrap().1.split_once(']').unwrap().0;
    let offered =
        list.split(',').map(|name| name.trim().rsplit("::").next().unwrap_or_default().to_owned());
    assert_eq!(offered.collect::<BTreeSet<_>>(), names());
}

#[test]
fn the_window_may_hear_events_and_call_our_commands_and_nothing_else() {
    let file: serde_json::Value =
        serde_json::from_str(include_str!("../capabilities/main.json")).unwrap();
    let mut wanted: BTreeSet<String> =
        names().iter().map(|name| format!("allow-{}", name.replace('_', "-"))).collect();
    wanted.extend(["core:event:allow-listen", "core:event:allow-unlisten"].map(str::to_owned));
    let may = file["permissions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned());
    assert_eq!(may.collect::<BTreeSet<_>>(), wanted);
    assert_eq!(file["windows"], serde_json::json!(["main"]));
    assert!(file.get("remote").is_none());
}

#[test]
fn the_routes_are_exactly_the_commands_there_are() {
    let source = include_str!("calls.rs");
    let arms = source
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\" => "))
        .map(|(name, _)| name.to_owned());
    assert_eq!(arms.collect::<BTreeSet<_>>(), names());
}
