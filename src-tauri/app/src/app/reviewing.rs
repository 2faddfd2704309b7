//! Reviews of runs by people: stored in a file beside the results, shown beside the automatic
//! scores and never in their place.
use super::{App, OpenFolder};
use crate::error::{AppError, Code};
use crate::recent::roots_id;
use std::path::Path;
use touchstone_api::{Review, RunState, Verdict};
use touchstone_clock as clock;
use touchstone_formats::review as said;
use touchstone_runner::reviews::{Rewritten, rewrite, take_away};
use touchstone_store::open::{self, Refused};
use touchstone_store::reviews::{self, answer_mark};
use touchstone_store::roots::{FileId, Root};
use touchstone_store::{query, run_of_file};

/// Maximum bytes of a note; longer ones are accidentally pasted files.
const LONGEST: usize = 64 << 10;
/// Maximum bytes of an answer mark; real ones are far shorter.
const LONGEST_MARK: usize = 100;

/// A run that can be reviewed.
struct Subject {
    /// Base name of its files.
    name: String,
    file: FileId,
}

impl App {
    /// Saves the review of a run. `None` or an empty review removes it, which moves its file aside.
    pub fn review_run(&self, id: &str, review: Option<&Review>) -> Result<(), AppError> {
        self.review_run_of(None, id, review)
    }

    /// Like [`App::review_run`], but fails if another folder is open: a page may still show a run
    /// of the previous folder, and a run of this one may have the same id.
    pub fn review_run_of(
        &self,
        folder: Option<&str>,
        id: &str,
        review: Option<&Review>,
    ) -> Result<(), AppError> {
        let open = self.require_folder()?;
        if folder.is_some_and(|folder| folder != roots_id(&open.flow.roots)) {
            let error =
                AppError::new(Code::Gone, "The review was not saved: another folder is open now.");
            return Err(error.hint("Open the folder of the run again; your review is still there."));
        }
        let subject = subject(&open, id)?;
        if let Err(lost) = open.check_directories_exist() {
            // The caller gets the error, and the watcher notices the loss for the rest of the
            // window.
            open.flow.look_at(&subject.file);
            return Err(lost);
        }
        let dir = &open.flow.roots.output_dir;
        let done = match review.filter(|review| !is_empty(review)) {
            None => take_away(dir, &subject.name).map(drop),
            Some(review) => {
                check(review)?;
                let mark = match &review.answer {
                    Some(mark) => mark.clone(),
                    None => answer_mark(open.reading.answer(&open.flow, id)?.as_ref()),
                };
                rewrite(dir, &subject.name, |old| rewritten(old, review, mark))
            }
        };
        done.map_err(|error| {
            AppError::new(Code::Failed, format!("The review could not be saved: {error}"))
        })?;
        open.flow.look_at(&subject.file);
        Ok(())
    }

    /// Returns the review of a run as its file is now, and a message if the file cannot be read.
    pub fn review_of(&self, id: &str) -> Result<(Option<Review>, Option<String>), AppError> {
        let open = self.require_folder()?;
        let Ok(Subject { file, .. }) = subject(&open, id) else { return Ok((None, None)) };
        let (bytes, stamp) = match open::read(&open.flow.roots, &file, reviews::MOST) {
            Ok(read) => read,
            Err(Refused::Gone) => return Ok((None, None)),
            Err(why) => return Ok((None, Some(damaged(&open, &file, &format!("{why}."))))),
        };
        let said = match reviews::read(&bytes) {
            Ok(sheet) => sheet.review().clone(),
            Err(error) => {
                let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
                return Ok((
                    None,
                    Some(damaged(&open, &file, &format!("{line}{}", error.message))),
                ));
            }
        };
        let stale = match &said.answer {
            None => false,
            Some(mark) => *mark != answer_mark(open.reading.answer(&open.flow, id)?.as_ref()),
        };
        let review = Review {
            verdict: said.verdict.map(verdict_from_file),
            score: said.score,
            at_ms: said.at_ms().unwrap_or_else(|| stamp.modified_ms()),
            note: said.note,
            stale,
            answer: said.answer,
        };
        Ok((Some(review), None))
    }

    /// Returns the id of the run to which a file belongs, including runs of several files and runs
    /// in a file of many.
    pub fn run_with(&self, file: &Path, member: Option<&str>) -> Result<String, AppError> {
        let open = self.require_folder()?;
        let found = open.flow.roots.locate(file).filter(|file| file.root == Root::Output);
        let outside = || {
            AppError::new(
                Code::BadRequest,
                format!("{} is not in the output directory.", file.display()),
            )
        };
        Ok(run_of_file(&found.ok_or_else(outside)?, member))
    }
}

/// Returns the run with this id. Fails if it cannot be reviewed.
fn subject(open: &OpenFolder, id: &str) -> Result<Subject, AppError> {
    let cannot = |why: &str, next: &str| Err(AppError::new(Code::BadRequest, why).hint(next));
    let row = open.ask(|index| query::row_by_key(index, id))?;
    let row =
        row.ok_or_else(|| AppError::new(Code::NotFound, "This run is no longer in the list."))?;
    if row.state == RunState::Other {
        return cannot(
            "This file is not a run, so there is nothing to review.",
            "Open a transcript.",
        );
    }
    let name = reviews::name_of(&row);
    let file = reviews::file_of_name(&name);
    let keys = reviews::keys_of(&file);
    let first = open.ask(|index| {
        let there =
            |key: &String| query::row_by_key(index, key).map(|row| row.map(|_| key.clone()));
        keys.iter().map(there).find_map(Result::transpose).transpose()
    })?;
    match first {
        Some(first) if first == id => Ok(Subject { name, file }),
        Some(_) if keys.iter().any(|key| key == id) => {
            cannot("Another run has the file name that the review needs.", "Rename one of the two.")
        }
        _ => cannot(
            "The name of this run is not UTF-8 text, so it cannot have a review.",
            "Rename its file.",
        ),
    }
}

fn is_empty(review: &Review) -> bool {
    review.verdict.is_none() && review.score.is_none() && review.note.trim().is_empty()
}

fn check(review: &Review) -> Result<(), AppError> {
    let bad = |why: &str| Err(AppError::new(Code::BadRequest, why));
    if review.score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return bad("A score is a number from 0 to 1.");
    }
    if review.note.len() > LONGEST {
        return bad("The note is longer than 64 KB. Shorten it.");
    }
    if review
        .answer
        .as_deref()
        .is_some_and(|mark| mark.len() > LONGEST_MARK || mark.contains(char::is_control))
    {
        return bad("The answer to review is not valid.");
    }
    if review.note.contains('\0') {
        return bad("The note holds a NUL character. Remove it.");
    }
    Ok(())
}

/// Returns the new content of a review file. The old file is moved aside if writing it again would
/// not reproduce it, because it is damaged or was edited by hand.
fn rewritten(old: Option<&[u8]>, review: &Review, mark: String) -> Rewritten {
    let sheet = old.map(reviews::read);
    let keep_old = match (&sheet, old) {
        (Some(Ok(sheet)), Some(old)) => sheet.write().as_bytes() != old,
        (Some(Err(_)), _) => true,
        _ => false,
    };
    let mut sheet = sheet.and_then(Result::ok).unwrap_or_default();
    let before = sheet.review().clone();
    let new = said::Review {
        verdict: review.verdict.map(verdict_to_file),
        score: review.score,
        note: review.note.clone(),
        answer: Some(mark),
        at: before.at.clone(),
    };
    if new == before {
        return Rewritten { text: None, keep_old: false };
    }
    sheet.set(said::Review { at: Some(clock::format_utc(clock::now_ms())), ..new });
    Rewritten { text: Some(sheet.write()), keep_old }
}

fn damaged(open: &OpenFolder, file: &FileId, why: &str) -> String {
    let file = open.flow.roots.display_path(file);
    format!(
        "The review of this run cannot be read ({file}, {why}). Fix the file, or review the run again; the file is moved aside first."
    )
}

fn verdict_from_file(verdict: said::Verdict) -> Verdict {
    match verdict {
        said::Verdict::Right => Verdict::Right,
        said::Verdict::Partly => Verdict::Partly,
        said::Verdict::Wrong => Verdict::Wrong,
    }
}

fn verdict_to_file(verdict: Verdict) -> said::Verdict {
    match verdict {
        Verdict::Right => said::Verdict::Right,
        Verdict::Partly => said::Verdict::Partly,
        Verdict::Wrong => said::Verdict::Wrong,
    }
}
