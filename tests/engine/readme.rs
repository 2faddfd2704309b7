//! Tests that every example file in the README can be read as the kind of file it shows.
use std::collections::BTreeSet;
use touchstone_formats::run::Standing;
use touchstone_formats::{suite, transcript, workspace};

const README: &str = include_str!("../../README.md");

/// Returns the code blocks of a language. A block ends with as many backticks as it began with, so
/// that it can contain other blocks.
fn blocks(language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = README.lines();
    while let Some(line) = lines.next() {
        let name = line.trim_start_matches('`');
        let fence = &line[..line.len() - name.len()];
        if fence.len() >= 3 {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
            if name == language {
                blocks.push(block.join("\n") + "\n");
            }
        }
    }
    blocks
}

#[test]
fn every_file_that_the_readme_shows_is_read_without_a_complaint() {
    let (mut transcripts, mut suites, mut workspaces) = (0, 0, 0);
    for text in blocks("yaml") {
        let first = text.split(':').next().unwrap();
        match first {
            "conversation" | "output" => {
                let run = transcript::read(text.as_bytes())
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(run.outline().standing, Standing::Answered, "{text}");
                transcripts += 1;
            }
            "input_dir" | "output_dir" | "name" | "models" | "systems" | "tools" => {
                let read = workspace::read(&text);
                let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(read.faults, [], "{text}");
                workspaces += 1;
            }
            _ => {
                let suite =
                    suite::read(&text, "tickets").unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert!(suite.warnings.is_empty(), "{:?}\n{text}", suite.warnings);
                for task in &suite.tasks {
                    assert_eq!(
                        task.prompt("tool_calling").map(|prompt| prompt.contains("{status}")),
                        Some(true),
                        "{text}"
                    );
                    let labels: BTreeSet<String> =
                        task.variations.iter().map(suite::Variation::label).collect();
                    assert!(
                        labels.len() == task.variations.len() && labels.len() > 1,
                        "{labels:?}\n{text}"
                    );
                }
                suites += 1;
            }
        }
    }
    assert!(
        transcripts >= 1 && suites >= 1,
        "{transcripts} transcripts, {suites} suites, {workspaces} workspaces"
    );
    for text in blocks("json") {
        assert!(touchstone_formats::json::read(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_block_of_the_readme_that_is_wrong_would_be_noticed() {
    assert!(transcript::read(b"conversation:\n  - user_message: [a\n").is_err());
    let wrong = suite::read("tool_calling_promt: a\n", "tickets");
    assert!(wrong.is_err() || wrong.is_ok_and(|suite| !suite.warnings.is_empty()));
}
