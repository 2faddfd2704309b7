//! Answers, compared with what was expected or with each other; and two files that somebody names.
use super::App;
use crate::error::{AppError, Code};
use crate::reading::given;
use touchstone_api::{DiffRequest, DiffView};
use touchstone_formats::json;
use touchstone_scoring::diff::{Options, Span, Table, Tolerance, diff, plain};

pub use crate::reading::given::Given;
pub use touchstone_scoring::diff::Style;

/// By which rules two files are compared.
#[derive(Debug, Clone, Default)]
pub struct DiffWish {
    /// Fields that tell which row is which; none means that they are found.
    pub key: Vec<String>,
    /// Numbers that are this near count as equal: `0.5`, `1%`.
    pub tolerance: Option<String>,
    /// It does not matter in which order rows stand.
    pub ignore_order: bool,
    /// Fields that never count.
    pub ignore: Vec<String>,
}

/// Two files, compared, for a terminal and for programs.
#[derive(Debug, Clone)]
pub struct PlainDiff {
    /// In one line.
    pub summary: String,
    /// Nothing differs.
    pub equal: bool,
    /// How rows found each other: `by ticket_id`.
    pub aligned: Option<String>,
    /// Lines in pieces that say what they are. Nothing when both are the same to the letter.
    pub lines: Vec<Vec<(Style, String)>>,
    /// Everything, as one JSON document.
    pub json: String,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl App {
    /// A part of the comparison of two answers.
    pub fn diff_answer(&self, request: &DiffRequest) -> Result<DiffView, AppError> {
        let open = self.opened()?;
        Ok(open.reading.diff(&open.flow, request)?)
    }

    /// Compares two files that need not be in any folder. `visible` makes a text of one line that
    /// steers no terminal.
    pub fn diff_files(
        expected: &Given,
        actual: &Given,
        wish: &DiffWish,
        visible: &dyn Fn(&str) -> String,
    ) -> Result<PlainDiff, AppError> {
        let tolerance = wish.tolerance.as_deref().map(str::parse::<Tolerance>).transpose();
        let options = Options {
            key: (!wish.key.is_empty()).then(|| wish.key.clone()),
            tolerance: tolerance.map_err(|why| AppError::new(Code::BadRequest, why))?,
            ignore_order: wish.ignore_order,
            places_say_nothing: wish.ignore_order,
            ignore: wish.ignore.clone(),
            ..Options::default()
        };
        let (left, left_note) = given::value(expected)?;
        let (right, right_note) = given::value(actual)?;
        let diff = diff(&left, &right, &options);
        let told = |line: Vec<Span>| line.into_iter().map(|span| (span.style, span.text)).collect();
        let alignment = Table::of(&diff).and_then(|table| Some(table.alignment()?.words()));
        Ok(PlainDiff {
            summary: diff.summary(),
            equal: diff.is_equal(),
            aligned: alignment,
            lines: plain(&diff, visible).into_iter().map(told).collect(),
            json: json::write(&diff.to_value(), false),
            notes: left_note.into_iter().chain(right_note).collect(),
        })
    }
}
