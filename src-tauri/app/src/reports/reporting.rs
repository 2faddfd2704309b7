//! Creates and saves reports.
use super::page::{Page, Trend};
use super::redaction::is_session;
use super::{About, ReportActions, causes, compose, evaluation_file, scorecard_tables};
use crate::error::{AppError, Code};
use crate::labels::run_labels::RunLabels;
use crate::reports;
use crate::saving::keep_file;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::path::Path;
use touchstone_api::{
    FailuresRequest, FailuresState, FilterError, Report, ReportFormat, ReportRequest, SetsBy,
};
use touchstone_clock as clock;
use touchstone_formats::redact::{DocumentRedactor, Redactions};

/// Maximum bytes of a preview of a report that is not shown as a page.
const MAX_PREVIEW: usize = 256 << 10;

impl ReportActions<'_> {
    /// Creates a report; without `whole`, only the part that a preview shows. It covers the causes of
    /// failures that are known so far, and the transcripts of the others are read in the background.
    pub fn make_report(self, request: &ReportRequest, whole: bool) -> Result<Report, AppError> {
        let trouble = self.app.folder().suite_trouble(&request.filter)?.lines;
        let mut report = match request.format {
            ReportFormat::StableToolBench => self.result_file(request, whole)?,
            ReportFormat::Azure => self.evaluation_file(request, whole)?,
            ReportFormat::Parquet => self.parquet_report(request, whole)?,
            _ => return self.page_report(request, whole, trouble),
        };
        report.notes.splice(0..0, trouble);
        Ok(report)
    }

    fn page_report(
        self,
        request: &ReportRequest,
        whole: bool,
        trouble: Vec<String>,
    ) -> Result<Report, AppError> {
        let Gathered { mut page, scorers, misread, has_session, causes_unread } =
            self.gather(request, trouble)?;
        let (unreadable, unread) = self.unreadable(&request.filter)?.unzip();
        if let Some(name) = request.baseline.as_deref().filter(|_| whole) {
            crate::stats::known_baseline(page.groups.iter().map(|group| group.name.clone()), name)?;
        }
        let baselines = page.groups.iter().map(|group| group.name.clone()).collect();
        let open = self.app.require_folder()?;
        let is_redacted = request.redact.unwrap_or(has_session);
        let counts = is_redacted.then(|| page.redact(&open.folder.path));
        let mut text =
            reports::write(&page, request.format, request.theme.as_deref()).map_err(|why| {
                AppError::new(Code::Failed, format!("The report could not be written: {why}."))
            })?;
        let (end, media_type) = reports::kind(request.format);
        let left_out = reports::left_out(&page, request.format);
        let (bytes, cut) = cut_for_preview(&mut text, whole);
        Ok(Report {
            bytes,
            cut,
            base64: false,
            text,
            file_name: format!("{}.{end}", file_stem(&page.head.title)),
            media_type: media_type.to_owned(),
            baselines,
            scorers,
            queries: !page.queries.is_empty(),
            runs: page.head.runs,
            notes: noted(&misread)
                .chain(page.notes)
                .chain(left_out)
                .chain(unread)
                .chain(counts.map(|counts| counts.describe()))
                .collect(),
            redacted: counts.map(|counts| counts.total()),
            unreadable: unreadable.unwrap_or(0),
            causes_unread,
            misread,
        })
    }

    /// Returns the number of judgement files of these runs that cannot be read, and a sentence: the
    /// report is incomplete without them.
    pub(super) fn unreadable(self, filter: &str) -> Result<Option<(u64, String)>, AppError> {
        let open = self.app.require_folder()?;
        open.ask(|index| open.lists.unreadable(index, filter))
    }

    fn gather(self, request: &ReportRequest, trouble: Vec<String>) -> Result<Gathered, AppError> {
        let open = self.app.require_folder()?;
        let (mut runs, misread) =
            open.ask(|index| open.lists.scored(index, &request.filter, request.scorer.as_deref()))?;
        let scorers = crate::stats::known_scorers(&open, request.scorer.as_deref())?;
        let folder = &open.folder.name;
        let title = request.title.trim();
        let mut about = About {
            title: if title.is_empty() { folder.clone() } else { title.to_owned() },
            folder: folder.clone(),
            made: clock::format_utc_minutes(clock::now_ms()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            filter: request.filter.trim().to_owned(),
            baseline: request.baseline.clone(),
            runs: request.runs,
            versions: open.ask(|index| open.lists.scorer_versions(index))?,
            left_out: open.ask(|index| open.lists.left_out(index, &request.filter))?,
            trouble,
            labels: open.ask(|index| {
                Ok(RunLabels {
                    labels: open.lists.label_schemas(),
                    of_runs: open.lists.labels_of_runs(index, &request.filter)?,
                })
            })?,
        };
        let mut stored = open.ask(|index| open.lists.stored(index, &request.filter))?;
        let left_out = if request.include_sensitive {
            None
        } else {
            self.app.sensitive().leave_out_reasons(&mut runs, &mut stored, &mut about.labels)?
        };
        let mut causes_unread = 0;
        let mut page = compose(&about, &runs, &stored);
        page.notes.extend(left_out);
        if matches!(
            request.format,
            ReportFormat::Html | ReportFormat::Markdown | ReportFormat::Json
        ) {
            let by = request.sets.unwrap_or(SetsBy::Day);
            let failures =
                FailuresRequest { filter: request.filter.clone(), scorer: request.scorer.clone() };
            let map = self.app.failures().map_for_report(&failures, request.include_sensitive)?;
            if map.state != FailuresState::Done {
                causes_unread = map.failed.saturating_sub(map.read);
            }
            page.causes = Some(causes(&map, &page.groups));
            page.trend = crate::stats::trends::trends_of(&runs, by, about.left_out)
                .map(|(trends, plot)| Trend { by, trends, plot });
        }
        page.scan =
            scorecard_tables(&self.app.red_team().scorecard_of_read_parts(&request.filter)?);
        page.queries = self.query_tables(request)?;
        let has_session = runs.iter().any(|run| is_session(Some(&run.layout)));
        Ok(Gathered { page, scorers, misread, has_session, causes_unread })
    }

    /// Returns the bytes of a report.
    pub fn report_bytes(self, report: &Report) -> Result<Vec<u8>, AppError> {
        if !report.base64 {
            return Ok(report.text.clone().into_bytes());
        }
        STANDARD.decode(&report.text).map_err(|why| {
            AppError::new(Code::Failed, format!("The report could not be written: {why}."))
        })
    }

    /// Saves a report atomically, replacing an existing file. Fails in the output directory for one
    /// that would be read as runs: its runs would be counted twice.
    pub fn keep_report(self, report: &Report, path: &Path) -> Result<(), AppError> {
        if evaluation_file::is_of_runs(&report.text) {
            self.app.folder().refuse_among_results(path)?;
        }
        keep_file(self.report_bytes(report)?, path)
    }
}

/// Formats the misread parts of a filter as sentences.
pub(super) fn noted(misread: &[FilterError]) -> impl Iterator<Item = String> + '_ {
    misread.iter().map(|one| format!("{}: {}", one.token, one.message))
}

/// Cuts a text to the length of a preview. Returns its original size, and whether it was cut.
pub(super) fn cut_for_preview(text: &mut String, whole: bool) -> (u64, bool) {
    let bytes = text.len() as u64;
    let cut = !whole && text.len() > MAX_PREVIEW;
    if cut {
        text.truncate(text.floor_char_boundary(MAX_PREVIEW));
    }
    (bytes, cut)
}

/// Data of a report.
struct Gathered {
    page: Page,
    scorers: Vec<String>,
    misread: Vec<FilterError>,
    /// True if a run is a session of a coding agent.
    has_session: bool,
    /// Number of failed runs whose transcripts are not read yet.
    causes_unread: u64,
}

/// Redacts the texts of a JSON report, if it is to be redacted. Returns the numbers of places.
pub(super) fn redact_report(text: &mut String, is_redacted: bool) -> Option<Redactions> {
    is_redacted.then(|| {
        let mut redactor = DocumentRedactor::default();
        redactor.document(text, DocumentRedactor::json);
        redactor.counts()
    })
}

/// Converts a title to a file name that is valid on any system.
pub(super) fn file_stem(title: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '-' };
    let name: String = title.chars().take(60).map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "report".to_owned() } else { format!("{name}-report") }
}
