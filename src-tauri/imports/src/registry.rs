//! **Pure.** The formats that can be read, and how they are recognised.
use crate::format::{Detected, Format, HEAD_BYTES, ImportedFile};
use crate::head::Head;
use crate::run::ImportedRun;
use crate::source::{Folder, Input};
use crate::text::is_blank;
use touchstone_formats::own_formats::OWN_FORMATS;
use touchstone_model::error::ReadError;

/// All formats. The first that detects a file reads it. Harbor comes first, because agents leave
/// their own sessions in the folders of its trials; plain chats come last, because other tools write
/// messages, too.
pub static FORMATS: &[&dyn Format] = &[
    &crate::harbor::Harbor,
    &crate::inspect::Inspect,
    &crate::langfuse::Langfuse,
    &crate::openai_agents_sdk::OpenAiAgentsSdk,
    &crate::otel::Otel,
    &crate::promptfoo::Promptfoo,
    &crate::agentdojo::AgentDojo,
    &crate::deepeval::DeepEval,
    &crate::agentv::AgentV,
    &crate::azure_redteam::AzureRedTeam,
    &crate::tau::Tau2Bench,
    &crate::tau::TauBench,
    &crate::lm_eval::LmEval,
    &crate::bfcl::Bfcl,
    &crate::claude_code::ClaudeCode,
    &crate::codex::Codex,
    &crate::gemini_cli::GeminiCli,
    &crate::mini_swe_agent::MiniSweAgent,
    &crate::openhands::OpenHands,
    &crate::swe_agent::SweAgent,
    &crate::chats::Chats,
];

/// Detects the format of a file from its path and its first [`HEAD_BYTES`].
pub fn detect(path: &str, start: &[u8]) -> Option<(&'static dyn Format, Detected)> {
    let start = &start[..start.len().min(HEAD_BYTES)];
    let head = Head::read(start);
    FORMATS.iter().find_map(|format| Some((*format, format.detect(path, start, head.as_ref())?)))
}

/// Opens a file with its format. Figures that cannot be and names that are empty are missing in the
/// runs that are read.
pub fn open<'a>(
    format: &dyn Format,
    input: Input<'a>,
) -> Result<Box<dyn ImportedFile + 'a>, ReadError> {
    Ok(Box::new(Checked(format.open(input)?)))
}

/// File whose runs are checked when they are read.
struct Checked<'a>(Box<dyn ImportedFile + 'a>);

impl ImportedFile for Checked<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn member(&self, at: usize) -> Option<String> {
        self.0.member(at).map(|name| if is_blank(&name) { format!("run {}", at + 1) } else { name })
    }

    fn read(&self, at: usize) -> Result<ImportedRun, ReadError> {
        self.0.read(at).map(ImportedRun::without_impossible_values)
    }

    fn take(&mut self, at: usize) -> Result<ImportedRun, ReadError> {
        self.0.take(at).map(ImportedRun::without_impossible_values)
    }

    fn fingerprint(&self, at: usize) -> Option<u64> {
        self.0.fingerprint(at)
    }

    fn file_error(&self) -> Option<ReadError> {
        self.0.file_error()
    }
}

/// Returns the path of the file whose run changes with this one, if a format has it as a part of a
/// run.
pub fn owner(path: &str, folder: &dyn Folder) -> Option<String> {
    FORMATS.iter().find_map(|format| format.owner(path, folder)).filter(|owner| owner != path)
}

/// Returns the starts of the paths of files that may be parts of the run of this one in any format.
pub fn part_paths(path: &str) -> Vec<String> {
    FORMATS.iter().flat_map(|format| format.part_paths(path)).collect()
}

/// Returns all formats, sorted by name.
pub fn sorted() -> Vec<&'static dyn Format> {
    let mut formats = FORMATS.to_vec();
    formats.sort_by_key(|format| format.name());
    formats
}

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}

/// Format of run files, for a list of all formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedFormat {
    /// Short name, as in the filter `format`.
    pub name: &'static str,
    /// Title, or the name of the tool.
    pub title: &'static str,
    /// Files that are read, in a few words.
    pub files: &'static str,
    /// Page of documentation, in Markdown.
    pub documentation: &'static str,
}

/// Returns Touchstone's own formats, and behind them those of other tools, sorted by name.
pub fn listed() -> Vec<ListedFormat> {
    let own = OWN_FORMATS.iter().map(|format| ListedFormat {
        name: format.name,
        title: format.title,
        files: format.files,
        documentation: format.documentation,
    });
    let others = sorted().into_iter().map(|format| ListedFormat {
        name: format.name(),
        title: format.title(),
        files: format.files(),
        documentation: format.documentation(),
    });
    own.chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::path::Path;

    /// Returns the reference page of all formats.
    fn reference() -> String {
        let formats = listed();
        let mut page = String::from(
            "# Formats\n\nThe run files that Touchstone reads: first its own, then those of other tools. Written \
             from the readers; `touchstone formats` prints it.\n\n\
             | format | title or tool | files |\n|---|---|---|\n",
        );
        for format in &formats {
            let files = format.files.replace('|', "\\|");
            let _ =
                writeln!(page, "| [`{0}`](#{0}) | {1} | `{files}` |", format.name, format.title);
        }
        for format in &formats {
            let text = format.documentation.trim();
            // Headings of a page are one level below the name of its format.
            let lines = text.lines().filter(|line| !line.starts_with("# ")).map(|line| {
                if line.starts_with("## ") { format!("#{line}") } else { line.to_owned() }
            });
            let text = lines.collect::<Vec<_>>().join("\n");
            let _ = write!(page, "\n## {}\n\n{}\n", format.name, text.trim());
        }
        page
    }

    #[test]
    fn formats_of_other_tools_and_our_own_have_different_names() {
        let names: std::collections::BTreeSet<&str> =
            listed().iter().map(|format| format.name).collect();
        assert_eq!(names.len(), FORMATS.len() + OWN_FORMATS.len());
    }

    #[test]
    fn the_reference_page_says_what_the_readers_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/formats.md");
        if std::env::var_os("TOUCHSTONE_WRITE").is_some() {
            fs_err::write(&path, reference()).unwrap();
        }
        let written = fs_err::read_to_string(&path).unwrap_or_default();
        assert!(
            written == reference(),
            "Run: TOUCHSTONE_WRITE=1 cargo test -p touchstone-imports reference_page"
        );
    }
}
