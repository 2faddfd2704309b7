//! Reviews of runs by people: stored in a file beside the results, shown beside the automatic
//! scores and never in their place.
use super::ReviewActions;
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, PoisonError};
use touchstone_api::{Review, RunState, StepNote, Verdict};
use touchstone_clock as clock;
use touchstone_formats::review as said;
use touchstone_formats::review::{MOST_LABELS, MOST_STEPS};
use touchstone_model::error::ReadError;
use touchstone_runner::reviews::{FileChange, NewContent, rewrite, undo};
use touchstone_store::filter::Labels;
use touchstone_store::open::{self, Refused};
use touchstone_store::query;
use touchstone_store::reviews::{self, answer_mark};
use touchstone_store::roots::FileId;

/// Maximum bytes of a note; longer ones are accidentally pasted files.
const LONGEST: usize = 64 << 10;
/// Maximum bytes of an answer mark; real ones are far shorter.
const LONGEST_MARK: usize = 100;

/// Maximum number of changes that can be undone, and of their bytes.
const MOST_CHANGES: usize = 100;
const MOST_BYTES: usize = 4 << 20;

/// A run that can be reviewed.
struct Subject {
    /// Base name of its files.
    name: String,
    file: FileId,
}

/// Reviews of a run.
#[derive(Debug, Clone, Default)]
pub struct Reviews {
    /// Review that the person may change: their own.
    pub own: Option<Review>,
    /// Reviews by other people and by nobody known, in the order of the file.
    pub others: Vec<Review>,
    /// Message if the file cannot be read.
    pub problem: Option<String>,
}

/// The number of the next change. It begins at random and goes on for all folders of this process,
/// so that a page that outlives a restart names no change of another process.
static NEXT_CHANGE: LazyLock<AtomicU32> = LazyLock::new(|| {
    let [_, _, _, _, number @ ..] = RandomState::new().hash_one(0).to_be_bytes();
    AtomicU32::new(u32::from_be_bytes(number))
});

/// A change of a review file by this program.
#[derive(Debug, Clone)]
struct ReviewChange {
    number: u32,
    /// Id of the run.
    run: String,
    /// Base name of its files.
    name: String,
    content: FileChange,
}

/// The latest changes of review files by this program.
#[derive(Debug, Default)]
pub(crate) struct ReviewChanges {
    latest: VecDeque<ReviewChange>,
}

impl ReviewChanges {
    /// Keeps a change, and forgets the oldest ones. Returns its number.
    fn keep(&mut self, run: String, name: String, content: FileChange) -> u32 {
        let bytes = |change: &ReviewChange| {
            let FileChange { before, after } = &change.content;
            [before, after].into_iter().flatten().map(Vec::len).sum::<usize>()
        };
        let number = NEXT_CHANGE.fetch_add(1, Ordering::Relaxed);
        self.latest.push_back(ReviewChange { number, run, name, content });
        let mut held: usize = self.latest.iter().map(bytes).sum();
        while self.latest.len() > MOST_CHANGES || held > MOST_BYTES {
            let Some(oldest) = self.latest.pop_front() else { break };
            held -= bytes(&oldest);
        }
        number
    }
}

impl ReviewActions<'_> {
    /// Saves the review of a run. `None` or an empty review removes it. Returns the number of the
    /// change for [`Self::undo_review`]; `None` if nothing changed.
    pub fn review_run(self, id: &str, review: Option<&Review>) -> Result<Option<u32>, AppError> {
        self.review_run_of(None, None, id, review)
    }

    /// Like [`Self::review_run`], by a person with this name instead of that of the settings.
    /// With a folder, it fails if another one is open: a page may still show a run of the previous
    /// folder, and a run of this one may have the same id.
    pub fn review_run_of(
        self,
        folder: Option<&str>,
        author: Option<&str>,
        id: &str,
        review: Option<&Review>,
    ) -> Result<Option<u32>, AppError> {
        let open = self.require_same(folder)?;
        let author = self.app.settings().author_or(author)?;
        let subject = subject(&open, id)?;
        if let Err(lost) = open.check_directories_exist() {
            // The caller gets the error, and the watcher notices the loss for the rest of the
            // window.
            open.flow.look_at(&subject.file);
            return Err(lost);
        }
        let dir = &open.flow.roots.output_dir;
        let mut unreadable = None;
        let done = match review.filter(|review| !is_empty(review)) {
            // A folder without a review is not written to.
            None => match open::read(&open.flow.roots, &subject.file, reviews::MOST) {
                Err(Refused::Gone) => Ok(None),
                _ => rewrite(dir, &subject.name, |old| {
                    without(old, author.as_deref()).unwrap_or_else(|error| {
                        unreadable = Some(error);
                        NewContent::Unchanged
                    })
                }),
            },
            Some(review) => {
                check(review)?;
                let mark = match &review.answer {
                    Some(mark) => mark.clone(),
                    None => answer_mark(open.reading.answer(&open.flow, id)?.as_ref()),
                };
                let labels = open.labels();
                let mut refused = None;
                let done = rewrite(dir, &subject.name, |old| {
                    rewritten(old, review, author, mark, &mut |before| {
                        refused = check_labels(&labels, before, &review.labels).err();
                        refused.is_none()
                    })
                    .unwrap_or_else(|error| {
                        unreadable = Some(error);
                        NewContent::Unchanged
                    })
                });
                if let Some(refused) = refused {
                    return Err(refused);
                }
                done
            }
        };
        let change = done.map_err(|error| {
            AppError::new(Code::Failed, format!("The review could not be saved: {error}"))
        })?;
        open.flow.look_at(&subject.file);
        if let Some(error) = unreadable {
            let file = open.flow.roots.display_path(&subject.file);
            let message =
                format!("Not saved: the review file {file} cannot be read: {}", place_of(&error));
            return Err(AppError::new(Code::Failed, message).hint(FIX));
        }
        let mut changes = open.review_changes.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(change.map(|change| changes.keep(id.to_owned(), subject.name, change)))
    }

    /// Undoes a change of the review of a run: the former file is restored byte by byte. Fails if
    /// the file changed since, or if this process made no such change of this run.
    pub fn undo_review(self, folder: Option<&str>, id: &str, change: u32) -> Result<(), AppError> {
        let open = self.require_same(folder)?;
        let changes = || open.review_changes.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = || {
            AppError::new(Code::Gone, "Not undone: the former review is not known any more.")
                .hint("Change the review on the page of its run.")
        };
        let is_meant = |made: &ReviewChange| made.number == change && made.run == id;
        let found = changes().latest.iter().find(|made| is_meant(made)).cloned();
        let ReviewChange { name, content, .. } = found.ok_or_else(gone)?;
        open.check_directories_exist()?;
        let done = undo(&open.flow.roots.output_dir, &name, &content).map_err(|error| {
            AppError::new(Code::Failed, format!("The review could not be restored: {error}"))
        })?;
        changes().latest.retain(|made| !is_meant(made));
        open.flow.look_at(&reviews::file_of_name(&name));
        if done {
            return Ok(());
        }
        let error = AppError::new(Code::Gone, "Not undone: the review has changed since.");
        Err(error.hint("Open the run to see it."))
    }

    /// Returns the review of a run that the person of the settings may change, as its file is now,
    /// and a message if the file cannot be read.
    pub fn review_of(self, id: &str) -> Result<(Option<Review>, Option<String>), AppError> {
        let reviews = self.reviews_of(id, None)?;
        Ok((reviews.own, reviews.problem))
    }

    /// Returns the reviews of a run as the file is now, from the view of a person with this name
    /// or, without one, of that of the settings.
    pub fn reviews_of(self, id: &str, author: Option<&str>) -> Result<Reviews, AppError> {
        let open = self.app.require_folder()?;
        let Ok(Subject { file, .. }) = subject(&open, id) else { return Ok(Reviews::default()) };
        let broken =
            |why: &str| Reviews { problem: Some(damaged(&open, &file, why)), ..Reviews::default() };
        let (bytes, stamp) = match open::read(&open.flow.roots, &file, reviews::MOST) {
            Ok(read) => read,
            Err(Refused::Gone) => return Ok(Reviews::default()),
            Err(why) => return Ok(broken(&format!("{why}."))),
        };
        let sheet = match reviews::read(&bytes) {
            Ok(sheet) => sheet,
            Err(error) => return Ok(broken(&place_of(&error))),
        };
        let mark = if sheet.reviews().any(|said| said.answer.is_some()) {
            Some(answer_mark(open.reading.answer(&open.flow, id)?.as_ref()))
        } else {
            None
        };
        let shown = |said: &said::Review| Review {
            verdict: said.verdict.map(verdict_from_file),
            score: said.score,
            at_ms: said.at_ms().unwrap_or_else(|| stamp.modified_ms()),
            note: said.note.clone(),
            stale: said.answer.is_some() && said.answer != mark,
            answer: said.answer.clone(),
            author: said.author.clone(),
            steps: said.steps.iter().map(note_from_file).collect(),
            labels: said.labels.clone(),
        };
        let author = self.app.settings().author_or(author)?;
        let own = sheet.by(author.as_deref());
        let is_own = |said: &said::Review| own.is_some_and(|own| std::ptr::eq(own, said));
        Ok(Reviews {
            own: own.map(shown),
            others: sheet.reviews().filter(|said| !is_own(said)).map(shown).collect(),
            problem: None,
        })
    }

    /// Returns the open folder. Fails if it is not the one with this id.
    fn require_same(self, folder: Option<&str>) -> Result<Arc<OpenFolder>, AppError> {
        let open = self.app.require_folder()?;
        if folder.is_some_and(|folder| folder != roots_id(&open.flow.roots)) {
            let error = AppError::new(Code::Gone, "Nothing was saved: another folder is open now.");
            return Err(error.hint("Open the folder of the run again; your review is still there."));
        }
        Ok(open)
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
    review.verdict.is_none()
        && review.score.is_none()
        && review.note.trim().is_empty()
        && review.steps.is_empty()
        && review.labels.is_empty()
}

fn check(review: &Review) -> Result<(), AppError> {
    let bad = |why: &str| Err(AppError::new(Code::BadRequest, why));
    if review.score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return bad("A score is a number from 0 to 1.");
    }
    let notes = || review.steps.iter().map(|step| &step.note).chain([&review.note]);
    if notes().map(String::len).sum::<usize>() > LONGEST {
        return bad("The notes are longer than 64 KB. Shorten them.");
    }
    if review.steps.len() > MOST_STEPS {
        return bad("More than 500 steps have notes. Remove some.");
    }
    if review
        .answer
        .as_deref()
        .is_some_and(|mark| mark.len() > LONGEST_MARK || mark.contains(char::is_control))
    {
        return bad("The answer to review is not valid.");
    }
    if notes().any(|note| note.contains('\0')) {
        return bad("The note holds a NUL character. Remove it.");
    }
    Ok(())
}

/// Fails for a value of a label that people cannot give. Values that stay are not checked: the label
/// may have had another schema when they were given.
fn check_labels(
    labels: &Labels,
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Result<(), AppError> {
    let bad = |why: String| AppError::new(Code::BadRequest, why);
    if now.len() > MOST_LABELS {
        return Err(bad("More than 100 labels have values. Remove some.".to_owned()));
    }
    for (name, value) in now.iter().filter(|(name, value)| before.get(*name) != Some(value)) {
        let rule = labels.rules().iter().find(|rule| rule.label.name == *name);
        let rule = rule.ok_or_else(|| {
            bad(format!("There is no label named `{name}`."))
                .hint("Write it into touchstone.yaml: labels: { NAME: { kind: text } }.")
        })?;
        rule.label.kind.check(value).map_err(|why| bad(format!("Label `{name}`: {why}")))?;
    }
    Ok(())
}

/// Returns the new content of a review file. The old file is moved aside if writing it again would
/// not reproduce it, because it was edited by hand. `may_follow` decides from the former labels of the
/// person whether anything is written. A file that cannot be read may hold the reviews
/// of several people, so it is not replaced.
fn rewritten(
    old: Option<&[u8]>,
    review: &Review,
    author: Option<String>,
    mark: String,
    may_follow: &mut dyn FnMut(&BTreeMap<String, String>) -> bool,
) -> Result<NewContent, ReadError> {
    let mut sheet = old.map(reviews::read).transpose()?.unwrap_or_default();
    let keep_old = old.is_some_and(|old| sheet.write().as_bytes() != old);
    let before = sheet.by(author.as_deref()).cloned().unwrap_or_default();
    if !may_follow(&before.labels) {
        return Ok(NewContent::Unchanged);
    }
    let new = said::Review {
        verdict: review.verdict.map(verdict_to_file),
        score: review.score,
        note: review.note.clone(),
        answer: Some(mark),
        at: before.at.clone(),
        author: author.or(before.author.clone()),
        steps: review.steps.iter().map(note_to_file).collect(),
        labels: review.labels.clone(),
    };
    // A name alone is no reason to write.
    if new == (said::Review { author: new.author.clone(), ..before }) {
        return Ok(NewContent::Unchanged);
    }
    sheet.set(said::Review { at: Some(clock::format_utc(clock::now_ms())), ..new });
    Ok(NewContent::Text { text: sheet.write(), keep_old })
}

/// Returns the content of a review file without the review of this person. The old file is kept.
fn without(old: Option<&[u8]>, author: Option<&str>) -> Result<NewContent, ReadError> {
    let Some(old) = old else { return Ok(NewContent::Unchanged) };
    let mut sheet = reviews::read(old)?;
    if sheet.by(author).is_none() && sheet.reviews().next().is_some() {
        return Ok(NewContent::Unchanged);
    }
    Ok(if sheet.remove(author) {
        NewContent::Text { text: sheet.write(), keep_old: true }
    } else {
        NewContent::Removed
    })
}

/// Next step where a review file cannot be read.
const FIX: &str = "Fix the file, or move it away and review the run again.";

fn damaged(open: &OpenFolder, file: &FileId, why: &str) -> String {
    let file = open.flow.roots.display_path(file);
    format!("The review of this run cannot be read ({file}, {why}). {FIX}")
}

fn place_of(error: &ReadError) -> String {
    let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{line}{}", error.message)
}

fn note_from_file(said: &said::StepNote) -> StepNote {
    StepNote { step: said.step.saturating_sub(1), note: said.note.clone() }
}

fn note_to_file(note: &StepNote) -> said::StepNote {
    said::StepNote { step: note.step.saturating_add(1), note: note.note.clone() }
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
