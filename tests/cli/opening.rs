//! Tests of `touchstone open`: what it serves, at which address, and what it refuses.
use crate::sandbox::Sandbox;
use crate::served::Served;
use serde_json::{Value, json};

const PROMPTFOO: &str =
    include_str!("../../src-tauri/imports/tests/fixtures/promptfoo/results.json");

fn sandbox(name: &str) -> Sandbox {
    Sandbox::with(
        name,
        &[("out/results.json", PROMPTFOO), ("out/other.json", PROMPTFOO), ("out/notes.txt", "x")],
    )
}

/// Part of the printed address that the page reads.
fn start(served: &Served) -> String {
    let said: Value = serde_json::from_str(&served.line).unwrap();
    let url = said["url"].as_str().unwrap();
    url.split_once('#').map_or_else(String::new, |(_, start)| start.to_owned())
}

#[test]
fn without_a_display_the_page_is_served_at_the_address_of_what_was_named() {
    let sandbox = sandbox("open-file");
    for (arguments, filter) in [
        (&["open", "out/results.json"][..], "q=file%3Aresults.json&single="),
        (
            &["open", "--serve", "out/results.json", "out/other.json"],
            "q=file%3Aresults.json%2Cother.json&single=",
        ),
        (&["open", "out"], ""),
    ] {
        let served = Served::start_with(&sandbox, &[arguments, &["--json"]].concat(), &[]);
        let expected = if filter.is_empty() { String::new() } else { format!("/runs?{filter}") };
        assert_eq!(start(&served), expected, "{arguments:?}");
        let (status, reply) = served.call("status", &json!({}));
        assert_eq!(status, 200);
        assert!(reply["folder"]["path"].as_str().unwrap().ends_with("/out"), "{reply}");
        let (status, _) = served.call("open_demo", &json!({}));
        assert_eq!(status, 403, "the page can only look");
    }
}

#[test]
fn a_page_that_was_served_by_open_may_run_when_that_is_allowed() {
    let sandbox = sandbox("open-run");
    let served = Served::start_with(&sandbox, &["open", "out", "--allow-run"], &[]);
    let (status, reply) = served.call("folders", &json!({}));
    assert_eq!((status, &reply["can_open"]), (200, &json!(true)));
}

#[test]
fn wrong_paths_end_with_two_and_a_sentence_with_the_next_step() {
    let sandbox = sandbox("open-wrong");
    for (arguments, message) in [
        (&["open", "out/gone.json"][..], "out/gone.json could not be opened: it is not there."),
        (&["open", "out", "gone"], "gone could not be opened: it is not there."),
        (&["open", "/dev/null"], "/dev/null could not be opened: it is neither"),
    ] {
        let ran = sandbox.run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?} {ran:?}");
        assert!(ran.err.contains(message), "{arguments:?} {}", ran.err);
        assert!(ran.err.contains("Check the path"), "{arguments:?} {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
    assert_eq!(sandbox.run(&["open"]).status, 2);
}
