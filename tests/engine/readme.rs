//! Examples of files in the README, the guides and the references are valid, and links lead
//! somewhere.
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_formats::{suite, transcript, workspace};
use touchstone_model::run::RecordedState;

/// Pages whose examples are checked.
const PAGES: [&str; 11] = [
    include_str!("../../README.md"),
    include_str!("../../docs/guide/your-folder.md"),
    include_str!("../../docs/guide/launching.md"),
    include_str!("../../docs/guide/scoring.md"),
    include_str!("../../docs/guide/judges.md"),
    include_str!("../../docs/guide/evaluate.md"),
    include_str!("../../docs/guide/stabletoolbench.md"),
    include_str!("../../docs/guide/sharing.md"),
    include_str!("../../docs/reference/touchstone-yaml.md"),
    include_str!("../../docs/reference/suites.md"),
    include_str!("../../docs/reference/scorers.md"),
];

/// Returns the blocks of code in a language, from all pages.
fn blocks(language: &str) -> Vec<String> {
    PAGES.iter().flat_map(|page| blocks_of(page, language)).collect()
}

/// Returns the blocks of code in a language. A block ends with as many backticks as it began with,
/// so that others may stand in it.
fn blocks_of(page: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
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
fn every_file_that_the_pages_show_is_read_without_a_complaint() {
    let (mut transcripts, mut suites, mut workspaces) = (0, 0, 0);
    for text in blocks("yaml") {
        let first = text.split(':').next().unwrap();
        match first {
            "conversation" | "output" => {
                let run = transcript::read(text.as_bytes())
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
                assert_eq!(
                    transcript::outline_of(&run).standing,
                    RecordedState::Answered,
                    "{text}"
                );
                transcripts += 1;
            }
            "input_dir" | "output_dir" | "name" | "models" | "systems" | "tools" | "run"
            | "queries" | "imports" | "views" | "labels" => {
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
                        task.prompt(&touchstone_formats::system::System::ToolCalling)
                            .map(|prompt| prompt.contains("{status}")),
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
        assert!(touchstone_model::json::read(&text).is_ok(), "{text}");
    }
}

#[test]
fn a_wrong_block_is_noticed() {
    assert!(transcript::read(b"conversation:\n  - user_message: [a\n").is_err());
    let wrong = suite::read("tool_calling_promt: a\n", "tickets");
    assert!(wrong.is_err() || wrong.is_ok_and(|suite| !suite.warnings.is_empty()));
}

/// Returns all Markdown files below a folder.
fn markdown_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(markdown_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns the anchors of a page: its headings in lower case, with `-` for spaces and without other
/// signs.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let plain = line.trim_start_matches('#').trim().to_lowercase();
        let kept = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the targets of links and pictures in a page.
fn targets(text: &str) -> Vec<&str> {
    let between = move |from: &'static str, to: char| {
        text.split(from).skip(1).filter_map(move |rest| rest.split(to).next())
    };
    between("](", ')').chain(between("src=\"", '"')).chain(between("srcset=\"", '"')).collect()
}

#[test]
fn every_relative_link_and_picture_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|dir| dir.join("ARCHITECTURE.md").is_file())
        .unwrap();
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut pages: Vec<PathBuf> = top.iter().map(|name| root.join(name)).collect();
    pages.extend(markdown_below(&root.join("docs")));
    let (mut links, mut broken) = (0, Vec::new());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let local = targets(&text).into_iter().filter(|target| !target.contains("://"));
        for target in local {
            links += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file =
                if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let leads = file.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap()).contains(anchor));
            if !leads {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(links > 100, "{links} links");
}

#[test]
fn every_path_that_the_architecture_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|dir| dir.join("ARCHITECTURE.md").is_file())
        .unwrap();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let rooms = ["src-tauri/", "ui/", "tests/", "docs/", "scripts/"];
    let named = text.split('`').skip(1).step_by(2);
    let paths: Vec<&str> = named
        .filter(|name| rooms.iter().any(|room| name.starts_with(room)) && !name.contains('*'))
        .collect();
    assert!(paths.len() > 40, "{paths:?}");
    let missing: Vec<&str> = paths.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names {missing:#?}");
}
