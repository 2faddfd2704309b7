//! Reports that are Parquet files: a row for each run that statistics count.
use super::ReportActions;
use super::redaction::is_session;
use super::reporting::{file_stem, noted};
use crate::error::{AppError, Code};
use crate::sensitive::scan_care::is_sensitive_run;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;
use touchstone_api::{Report, ReportFormat, ReportRequest};
use touchstone_formats::redact::DocumentRedactor;
use touchstone_store::segments::{RunRecord, reference, write_runs};

impl ReportActions<'_> {
    /// Creates a report in Parquet; without `whole`, a description of its columns.
    pub(super) fn parquet_report(
        self,
        request: &ReportRequest,
        whole: bool,
    ) -> Result<Report, AppError> {
        let open = self.app.require_folder()?;
        let scorer = request.scorer.as_deref();
        let scorers = crate::stats::scorers_with_scores(&open, scorer)?;
        let (mut records, misread) =
            open.ask(|index| open.lists.records(index, &request.filter, scorer))?;
        let (unreadable, unread) = self.unreadable(&request.filter)?.unzip();
        let left_out = open.ask(|index| open.lists.left_out(index, &request.filter))?;
        let sensitive = if request.include_sensitive {
            None
        } else {
            self.leave_out_texts_of_records(&mut records)?
        };
        let has_session = || records.iter().any(|run| is_session(Some(&run.layout)));
        let counts = request.redact.unwrap_or_else(has_session).then(|| {
            let mut redactor = DocumentRedactor::default();
            redactor.document(&mut records, |redactor, records| {
                for record in records {
                    redact_record(redactor, record);
                }
            });
            redactor.counts()
        });
        let runs = records.len() as u64;
        let (text, bytes) = if whole {
            let mut file = Vec::new();
            write_runs(&mut file, &records).map_err(|why| {
                AppError::new(Code::Failed, format!("The report could not be written: {why}."))
            })?;
            (STANDARD.encode(&file), file.len() as u64)
        } else {
            (preview(runs), 0)
        };
        let title = request.title.trim();
        let title = if title.is_empty() { &open.folder.name } else { title };
        let (end, media_type) = super::kind(ReportFormat::Parquet);
        let mut notes: Vec<String> = noted(&misread).chain(left_out.notes()).collect();
        notes.extend(sensitive.into_iter().chain(unread));
        notes.extend(counts.map(|counts| counts.describe()));
        Ok(Report {
            bytes,
            cut: false,
            base64: whole,
            text,
            file_name: format!("{}.{end}", file_stem(title)),
            media_type: media_type.to_owned(),
            baselines: Vec::new(),
            scorers,
            queries: false,
            runs,
            notes,
            redacted: counts.map(|counts| counts.total()),
            unreadable: unreadable.unwrap_or(0),
            causes_unread: 0,
            misread,
        })
    }

    /// Replaces reasons and notes of sensitive runs. Returns a sentence if there are any.
    fn leave_out_texts_of_records(
        self,
        records: &mut [RunRecord],
    ) -> Result<Option<String>, AppError> {
        let sensitive = self.app.sensitive().sensitive_kinds()?;
        let mut changed = false;
        for record in records {
            if !is_sensitive_run(&sensitive, record.task.as_deref(), Some(&record.layout)) {
                continue;
            }
            let texts = [&mut record.reason, &mut record.score_reason, &mut record.review_note];
            let scores = record.scores.iter_mut().map(|score| &mut score.says.reason);
            for text in texts.into_iter().flatten().chain(scores).filter(|text| !text.is_empty()) {
                crate::sensitive::scan_care::leave_out_quote(text);
                changed = true;
            }
        }
        Ok(changed.then(|| {
            "Reasons and notes of sensitive runs were left out; they can be included.".to_owned()
        }))
    }
}

fn redact_record(redactor: &mut DocumentRedactor, run: &mut RunRecord) {
    redactor.text(&mut run.path);
    let names = [&mut run.suite, &mut run.task, &mut run.variation_name, &mut run.system];
    let texts = [&mut run.model, &mut run.reason, &mut run.score_reason, &mut run.review_note];
    let rest = [&mut run.forked_from, &mut run.commit];
    let lists = run.tags.iter_mut().chain(&mut run.tools).chain(&mut run.missing_calls);
    let scores = run.scores.iter_mut().map(|score| &mut score.says.reason);
    names
        .into_iter()
        .chain(texts)
        .chain(rest)
        .flatten()
        .chain(lists)
        .chain(scores)
        .for_each(|text| redactor.text(text));
}

/// Describes the file in place of its bytes.
fn preview(runs: u64) -> String {
    let mut text = String::new();
    let of_runs = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let _ = writeln!(text, "A Parquet file with {of_runs}, one row for each.\n");
    // The columns of segments are not in reports.
    let tables = reference();
    text.push_str(tables.split("\n## Columns of segments").next().unwrap_or_default());
    text
}
