//! Tests of the access levels of commands.
use super::*;

#[test]
fn a_page_that_may_only_look_begins_nothing_opens_nothing_and_asks_for_no_key() {
    let wanted = [
        "open_recent",
        "open_bucket",
        "found_results",
        "open_found",
        "forget_recent",
        "open_demo",
        "pick_folder",
        "close_folder",
        "save_label",
        "change_label",
        "remove_label",
        "save_media",
        "reveal_file",
        "plan_launch",
        "confirm_scan",
        "start_launch",
        "stop_launch",
        "stop_split_launch",
        "submit_again",
        "retry_launch",
        "nudge_run",
        "fork_run",
        "keys",
        "set_key",
        "forget_key",
        "test_model",
        "plan_cause_names",
        "start_cause_names",
        "stop_cause_names",
        "save_baseline",
        "save_report",
        "save_export",
        "make_suite",
        "plan_generation",
        "start_generation",
        "stop_generation",
        "run_scorers",
        "review_run",
        "undo_review",
        "rename_run",
        "plan_judging",
        "start_judging",
        "stop_judging",
        "pick_file",
        "plan_evaluating",
        "start_evaluating",
        "stop_evaluating",
        "make_rows",
    ];
    let looking = Page::Served { may_act: false };
    let refused = COMMANDS.iter().filter(|(_, access)| looking.check(*access).is_err());
    assert_eq!(refused.map(|(name, _)| *name).collect::<Vec<_>>(), wanted);
    // With `--allow-run` all but what needs this machine's screen.
    let acting = Page::Served { may_act: true };
    let refused = COMMANDS.iter().filter(|(_, access)| acting.check(*access).is_err());
    assert_eq!(
        refused.map(|(name, _)| *name).collect::<Vec<_>>(),
        ["pick_folder", "save_media", "reveal_file", "save_report", "save_export", "pick_file"]
    );
}

#[test]
fn no_two_commands_have_the_same_name() {
    let names: std::collections::BTreeSet<_> = COMMANDS.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), COMMANDS.len());
}

#[test]
fn the_window_may_listen_to_events_and_call_our_commands_and_nothing_else() {
    let capability = include_str!(concat!(env!("OUT_DIR"), "/capabilities/main.json"));
    let capability: serde_json::Value = serde_json::from_str(capability).unwrap();
    let permissions = capability["permissions"].as_array().unwrap().iter();
    let (core, own): (Vec<_>, Vec<_>) = permissions
        .map(|name| name.as_str().unwrap())
        .partition(|name| name.starts_with("core:") || !name.starts_with("allow-"));
    assert_eq!(core, ["core:event:allow-listen", "core:event:allow-unlisten"]);
    assert_eq!(own.len(), COMMANDS.len());
    assert_eq!(capability["windows"], serde_json::json!(["main"]));
    assert!(capability.get("remote").is_none());
}
