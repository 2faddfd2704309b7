//! Reports: the indexed data of runs, summed up by `scoring`, in formats for people and programs.
//! Owns the content and the formats of a report; counts nothing itself and opens no file.
mod baseline;
mod causes;
mod compose;
pub mod converting;
mod csv;
pub(crate) mod evaluation_file;
pub(crate) mod evaluation_sheet;
mod evaluator_summaries;
pub mod exporting;
mod gate;
pub mod gating;
mod html;
mod json;
mod junit;
pub(crate) mod labels;
mod markdown;
mod notes;
pub(crate) mod page;
mod parquet_report;
mod published;
mod reporting;
pub mod rows_of_runs;

pub(crate) mod queries;
mod query_tables;
pub(crate) mod redaction;
pub(crate) mod result_file;
#[cfg(test)]
mod said_tests;
mod scorecard;
#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;
mod trend;
mod words;

pub(crate) use causes::causes;
pub(crate) use compose::{About, compose, stored_sums};
pub use gate::{gate_junit, gate_markdown};
pub(crate) use page::StoredSum;
pub(crate) use query_tables::tables;
pub(crate) use scorecard::scorecard_tables;

use crate::App;
use page::Page;
use touchstone_api::ReportFormat;

/// The actions on reports and exports.
#[derive(Clone, Copy)]
pub struct ReportActions<'a> {
    pub(crate) app: &'a App,
}

/// Formats a report.
pub(crate) fn write(
    page: &Page,
    format: ReportFormat,
    theme: Option<&str>,
) -> Result<String, serde_json::Error> {
    Ok(match format {
        ReportFormat::Html => html::write(page, theme),
        ReportFormat::Markdown => markdown::write(page),
        ReportFormat::Csv => csv::write(page),
        // The others are written per run, by `result_file`, `evaluation_file` and `parquet_report`.
        // Here only the page can be written.
        ReportFormat::Json
        | ReportFormat::StableToolBench
        | ReportFormat::Azure
        | ReportFormat::Parquet => json::write_document(page)?,
        ReportFormat::Jsonl => json::lines(page)?,
        ReportFormat::Junit => junit::write(page),
    })
}

/// Returns a sentence on the content that a format omits; `None` if it omits nothing.
pub(crate) fn left_out(page: &Page, format: ReportFormat) -> Option<String> {
    if format == ReportFormat::Csv { csv::left_out(page) } else { None }
}

/// Returns the file extension and the media type of a format.
pub(crate) fn kind(format: ReportFormat) -> (&'static str, &'static str) {
    match format {
        ReportFormat::Html => ("html", "text/html"),
        ReportFormat::Markdown => ("md", "text/markdown"),
        ReportFormat::Csv => ("csv", "text/csv"),
        ReportFormat::Json | ReportFormat::StableToolBench | ReportFormat::Azure => {
            ("json", "application/json")
        }
        ReportFormat::Jsonl => ("jsonl", "application/jsonl"),
        ReportFormat::Parquet => ("parquet", "application/vnd.apache.parquet"),
        ReportFormat::Junit => ("xml", "application/xml"),
    }
}
