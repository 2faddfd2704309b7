//! Reports: what the index knows of runs, summed up by `scoring`, written in the formats that
//! people and programs read. Owns what stands in a report and how it is written; counts nothing
//! itself and opens no file.
mod compose;
mod csv;
pub(crate) mod evaluation_file;
pub(crate) mod evaluation_sheet;
mod html;
mod json;
mod junit;
mod markdown;
mod notes;
pub(crate) mod page;

pub(crate) mod queries;
mod queries_said;
pub(crate) mod result_file;
#[cfg(test)]
mod said_tests;
#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use compose::{About, compose};
pub(crate) use queries_said::tables;

use page::Page;
use touchstone_api::ReportFormat;

/// Writes a report.
pub(crate) fn write(
    page: &Page,
    format: ReportFormat,
    theme: Option<&str>,
) -> Result<String, serde_json::Error> {
    Ok(match format {
        ReportFormat::Html => html::write(page, theme),
        ReportFormat::Markdown => markdown::write(page),
        ReportFormat::Csv => csv::write(page),
        // These are written run by run, from the transcripts: `result_file`, `evaluation_file`.
        // Without them there is only the page.
        ReportFormat::Json | ReportFormat::StableToolBench | ReportFormat::Azure => {
            json::whole(page)?
        }
        ReportFormat::Jsonl => json::lines(page)?,
        ReportFormat::Junit => junit::write(page),
    })
}

/// What a format leaves out of a page, in a sentence.
pub(crate) fn left_out(page: &Page, format: ReportFormat) -> Option<String> {
    if format == ReportFormat::Csv { csv::left_out(page) } else { None }
}

/// The end of the name of a file, and its media type.
pub(crate) fn kind(format: ReportFormat) -> (&'static str, &'static str) {
    match format {
        ReportFormat::Html => ("html", "text/html"),
        ReportFormat::Markdown => ("md", "text/markdown"),
        ReportFormat::Csv => ("csv", "text/csv"),
        ReportFormat::Json | ReportFormat::StableToolBench | ReportFormat::Azure => {
            ("json", "application/json")
        }
        ReportFormat::Jsonl => ("jsonl", "application/jsonl"),
        ReportFormat::Junit => ("xml", "application/xml"),
    }
}
