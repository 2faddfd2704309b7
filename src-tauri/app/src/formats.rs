//! **Pure.** The formats of other tools that can be read.
use touchstone_imports::FORMATS;

/// Format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatInfo {
    /// Short name, as in `inspect`.
    pub name: &'static str,
    /// Name of the tool.
    pub title: &'static str,
    /// Files that are read, in a few words.
    pub files: &'static str,
    /// Page of documentation in Markdown.
    pub documentation: &'static str,
}

/// Returns all formats, sorted by name.
pub fn all() -> Vec<FormatInfo> {
    let info = FORMATS.iter().map(|format| FormatInfo {
        name: format.name(),
        title: format.title(),
        files: format.files(),
        documentation: format.documentation(),
    });
    let mut all: Vec<FormatInfo> = info.collect();
    all.sort_by_key(|format| format.name);
    all
}
