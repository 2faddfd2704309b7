//! Diffs answers with expected outputs or with each other, and two files given by the user.
use super::RunActions;
use super::reading::input_file;
use crate::error::{AppError, Code};
use touchstone_api::{DiffRequest, DiffView};
use touchstone_model::json;
use touchstone_scoring::diff::{Options, Span, Table, Tolerance, diff, plain};

pub use super::reading::input_file::InputFile;
pub use touchstone_scoring::diff::Style;

/// Options for comparing two files.
#[derive(Debug, Clone, Default)]
pub struct FileDiffOptions {
    /// Key fields that identify rows; if empty, they are detected.
    pub key: Vec<String>,
    /// Numeric tolerance: `0.5`, `1%`.
    pub tolerance: Option<String>,
    /// Ignore the order of rows.
    pub ignore_order: bool,
    /// Fields to ignore.
    pub ignore: Vec<String>,
}

/// Diff of two files, for terminals and programs.
#[derive(Debug, Clone)]
pub struct FileDiff {
    /// One-line summary.
    pub summary: String,
    /// True if nothing differs.
    pub equal: bool,
    /// Alignment of the rows: `by ticket_id`.
    pub aligned: Option<String>,
    /// Lines of styled pieces. Empty if both files are identical.
    pub lines: Vec<Vec<(Style, String)>>,
    /// The full diff as one JSON document.
    pub json: String,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl RunActions<'_> {
    /// Returns a window of the comparison of two answers.
    pub fn diff_answer(self, request: &DiffRequest) -> Result<DiffView, AppError> {
        let open = self.app.require_folder()?;
        Ok(open.reading.diff(&open.flow, request)?)
    }

    /// Compares two files, which need not be in any folder. `visible` converts a text to one line
    /// without terminal control characters.
    pub fn diff_files(
        expected: &InputFile,
        actual: &InputFile,
        wish: &FileDiffOptions,
        visible: &dyn Fn(&str) -> String,
    ) -> Result<FileDiff, AppError> {
        let tolerance = wish.tolerance.as_deref().map(str::parse::<Tolerance>).transpose();
        let options = Options {
            key: (!wish.key.is_empty()).then(|| wish.key.clone()),
            tolerance: tolerance.map_err(|why| AppError::new(Code::BadRequest, why))?,
            ignore_order: wish.ignore_order,
            places_say_nothing: wish.ignore_order,
            ignore: wish.ignore.clone(),
            ..Options::default()
        };
        let (left, left_note) = input_file::value(expected)?;
        let (right, right_note) = input_file::value(actual)?;
        let diff = diff(&left, &right, &options);
        let told = |line: Vec<Span>| line.into_iter().map(|span| (span.style, span.text)).collect();
        let alignment = Table::from_diff(&diff).and_then(|table| Some(table.alignment()?.words()));
        Ok(FileDiff {
            summary: diff.summary(),
            equal: diff.is_equal(),
            aligned: alignment,
            lines: plain(&diff, visible).into_iter().map(told).collect(),
            json: json::write(&diff.to_value(), false),
            notes: left_note.into_iter().chain(right_note).collect(),
        })
    }
}
