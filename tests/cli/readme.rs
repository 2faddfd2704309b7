//! Types every command that the README and the guides show, as it stands there.
use crate::sandbox::Sandbox;
use std::fs;

/// The README and all guides.
const PAGES: [&str; 9] = [
    include_str!("../../README.md"),
    include_str!("../../docs/guide/your-folder.md"),
    include_str!("../../docs/guide/launching.md"),
    include_str!("../../docs/guide/scoring.md"),
    include_str!("../../docs/guide/failures.md"),
    include_str!("../../docs/guide/judges.md"),
    include_str!("../../docs/guide/evaluate.md"),
    include_str!("../../docs/guide/stabletoolbench.md"),
    include_str!("../../docs/guide/sharing.md"),
];
const MAKEFILE: &str = include_str!("../../Makefile");
const FILE: &str = "results/tickets-tool_calling-claude-variation0.yaml";
/// Answers to queries, and the queries.
const ANSWERS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/fixtures/stabletoolbench/results/converted/lantern_cot/G1_instruction.json"
);
/// Rows of a data file.
const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/evaluate/rows.jsonl");
const QUERIES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stabletoolbench/queries");

/// Labels that the pages use.
const LABELS: &str = concat!(
    "labels:\n",
    "  gave-up: no answer\n",
    "  severity: { kind: category, values: [low, high] }\n",
    "  points: { kind: number, min: 0, max: 5 }\n",
    "  owner: { kind: text }\n",
);

/// Returns the commands of a program in all pages, each once and without the remark behind it.
fn typed(program: &str) -> Vec<&'static str> {
    let lines = PAGES.iter().flat_map(|page| page.lines());
    let mut typed: Vec<&str> = Vec::new();
    for line in lines.map(|line| line.split("  #").next().unwrap_or_default().trim()) {
        let is_command = line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '));
        if is_command && !typed.contains(&line) {
            typed.push(line);
        }
    }
    typed
}

/// Splits a line into words like a shell. Only single quotes keep spaces in a word.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, piece) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn every_command_of_the_pages_is_understood_and_does_something() {
    let sandbox = Sandbox::usual("readme");
    fs::write(sandbox.folder.join("touchstone.yaml"), LABELS).unwrap();
    let shown = typed("touchstone");
    assert!(shown.len() >= 25, "{shown:?}");
    for line in shown {
        let mut words: Vec<String> = words(line).split_off(1);
        let acts = words
            .first()
            .is_some_and(|word| ["open", "serve", "run", "nudge", "fork"].contains(&word.as_str()));
        let nested =
            words.get(1).filter(|word| words[0] == "stabletoolbench" && *word == "serve").cloned();
        let scores_answers = words.starts_with(&["stabletoolbench".to_owned(), "score".to_owned()]);
        for word in &mut words {
            match word.as_str() {
                "FOLDER" => ".".clone_into(word),
                "FILE" if scores_answers => ANSWERS.clone_into(word),
                "FILE" | "run.yaml" => FILE.clone_into(word),
                "rows.jsonl" => ROWS.clone_into(word),
                "solvable_queries" => QUERIES.clone_into(word),
                _ => {}
            }
        }
        // A server would not end, and runs would ask real models, so their flags are looked up in
        // the help.
        if acts || nested.is_some() {
            let command = std::iter::once(words[0].as_str()).chain(nested.as_deref());
            let help = sandbox.run(&command.chain(["--help"]).collect::<Vec<_>>());
            assert_eq!(help.status, 0, "{line}");
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                assert!(
                    help.out.contains(flag.as_str()),
                    "{flag} of `{line}` is not in the help:\n{}",
                    help.out
                );
            }
            continue;
        }
        let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = sandbox.run(&arguments);
        assert_ne!(ran.status, 2, "{line}: {}", ran.err);
        let silent = words[0] == "search" || words.iter().any(|word| word == "--out");
        assert!(!ran.out.is_empty() || silent, "{line} says nothing");
    }
    assert_eq!(sandbox.run(&["no-such-command"]).status, 2, "unknown commands fail");
}

#[test]
fn every_make_command_of_the_pages_is_in_the_makefile() {
    let shown = typed("make");
    assert!(shown.len() >= 3, "{shown:?}");
    let inline = PAGES.iter().flat_map(|page| page.split('`').skip(1).step_by(2));
    let inline = inline.filter(|code| code.starts_with("make "));
    for line in shown.into_iter().chain(inline) {
        let target = line.split_whitespace().nth(1).unwrap();
        assert!(
            MAKEFILE.lines().any(|rule| rule.starts_with(&format!("{target}:"))),
            "make {target} of `{line}`"
        );
    }
}
