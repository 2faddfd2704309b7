//! Which runs are sensitive, and what takes the place of their texts. The mark in the output
//! directory belongs to `sensitive_marks`.
use super::SensitiveActions;
use crate::OpenFolder;
use crate::error::AppError;
use crate::labels::run_labels::RunLabels;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use touchstone_api::{Hit, RunRow, SensitiveRuns, SnippetPiece, TaskRow};
use touchstone_formats::suite::Task;
use touchstone_imports::{Format, registry};
use touchstone_objects::copy::BucketCopy;
use touchstone_redteam::TAG;
use touchstone_store::imported_verdicts::Stored;
use touchstone_store::query::{self, ScoredRun};

/// Stands for the texts of sensitive runs where they are left out.
pub const LEFT_OUT: &str = "[sensitive text left out]";
/// Formats that only hold results of scans.
const FORMATS: [&str; 1] = ["azure_redteam"];

impl SensitiveActions<'_> {
    /// Returns which runs of the open folder are sensitive: those of suites of attacks, those that
    /// the mark of the output directory names, and results of scans of other tools.
    pub fn sensitive(self) -> Result<SensitiveRuns, AppError> {
        let open = self.app.require_folder()?;
        let mut sensitive = SensitiveRuns::clone(&*self.sensitive_kinds()?);
        let mut known = Vec::new();
        for format in sensitive.formats {
            if open.ask(|index| query::has_layout(index, &format))? {
                known.push(format);
            }
        }
        sensitive.formats = known;
        Ok(sensitive)
    }

    /// Like [`Self::sensitive`], with all formats that only hold such runs, also if no run is of them.
    /// Asked again while no mark, suite or run changes, it costs a few looks at folders.
    pub(crate) fn sensitive_kinds(self) -> Result<Arc<SensitiveRuns>, AppError> {
        self.app.require_folder()?.sensitive_kinds()
    }

    /// Marks the sensitive ones among rows.
    pub(crate) fn mark_sensitive<'r>(
        self,
        rows: impl IntoIterator<Item = &'r mut RunRow>,
    ) -> Result<(), AppError> {
        let sensitive = self.sensitive_kinds()?;
        for row in rows {
            row.sensitive = is_sensitive(&sensitive, row).then_some(true);
        }
        Ok(())
    }

    /// Marks the sensitive ones among rows of tasks.
    pub(crate) fn mark_sensitive_tasks<'r>(
        self,
        rows: impl IntoIterator<Item = &'r mut TaskRow>,
    ) -> Result<(), AppError> {
        let sensitive = self.sensitive_kinds()?;
        let titles = sensitive.formats.iter().filter_map(|name| registry::by_name(name));
        let titles: BTreeSet<&str> = titles.map(Format::title).collect();
        for row in rows {
            let is_recorded = row.recorded_by.as_deref().is_some_and(|by| titles.contains(by));
            let is_sensitive = is_recorded || is_sensitive_run(&sensitive, Some(&row.id), None);
            row.sensitive = is_sensitive.then_some(true);
        }
        Ok(())
    }

    /// Replaces the texts of sensitive runs among matches of a search. Returns their number.
    pub fn leave_out_snippets(self, hits: &mut [Hit]) -> Result<u64, AppError> {
        let (open, sensitive) = (self.app.require_folder()?, self.sensitive_kinds()?);
        let mut left_out = 0;
        for hit in hits {
            let row = open.ask(|index| query::row_by_key(index, &hit.id))?;
            // A run that is gone by now is not known to be harmless.
            if row.is_none_or(|row| is_sensitive(&sensitive, &row)) {
                let piece = SnippetPiece { text: LEFT_OUT.to_owned(), hit: false };
                hit.snippet.pieces = vec![piece];
                left_out += 1;
            }
        }
        Ok(left_out)
    }

    /// Removes sensitive runs from a list, unless they are to be included. Returns a note.
    pub(crate) fn leave_out_sensitive(
        self,
        include: bool,
        runs: &mut Vec<ScoredRun>,
    ) -> Result<Option<String>, AppError> {
        if include {
            return Ok(None);
        }
        let sensitive = self.sensitive_kinds()?;
        let before = runs.len();
        runs.retain(|run| !is_sensitive_run(&sensitive, run.task.as_deref(), Some(&run.layout)));
        let left_out = before - runs.len();
        Ok((left_out > 0).then(|| {
            format!("Sensitive runs that were left out, and can be included: {left_out}.")
        }))
    }

    /// Replaces reasons, notes and texts of labels of sensitive runs, which quote what was said. Returns
    /// a note.
    pub(crate) fn leave_out_reasons(
        self,
        runs: &mut [ScoredRun],
        stored: &mut Stored,
        labels: &mut RunLabels,
    ) -> Result<Option<String>, AppError> {
        let (sensitive, care) = (self.sensitive_kinds()?, self.quote_care()?);
        let mut changed = 0_u64;
        let mut replace = |text: &mut Option<String>| {
            if let Some(text) = text.as_mut().filter(|text| !text.is_empty()) {
                LEFT_OUT.clone_into(text);
                changed += 1;
            }
        };
        let mut texts = false;
        for run in runs {
            if is_sensitive_run(&sensitive, run.task.as_deref(), Some(&run.layout)) {
                replace(&mut run.reason);
                replace(&mut run.score_reason);
                replace(&mut run.review_note);
                for verdict in stored.get_mut(&run.id).into_iter().flatten() {
                    replace(&mut verdict.reason);
                }
                let of_run = labels.of_runs.get_mut(&run.id);
                texts |= of_run.is_some_and(|of_run| care.leave_out_labels(of_run));
            }
        }
        Ok((changed > 0 || texts).then(|| {
            "Reasons and notes of sensitive runs were left out; they can be included.".to_owned()
        }))
    }
}

/// Replaces a text that quotes a sensitive run; an empty one stays empty.
pub(crate) fn leave_out_quote(text: &mut String) {
    if !text.is_empty() {
        LEFT_OUT.clone_into(text);
    }
}

impl OpenFolder {
    /// Returns which runs of the folder are sensitive.
    pub(crate) fn sensitive_kinds(&self) -> Result<Arc<SensitiveRuns>, AppError> {
        let suites = self.flow.shelf.tasks();
        let known = || self.sensitive.lock().unwrap_or_else(PoisonError::into_inner);
        let is_clear = self.bucket.as_ref().is_none_or(BucketCopy::marks_are_known);
        let marked = known().marked_tasks(&self.flow.roots.output_dir).filter(|_| is_clear);
        self.ask(|index| {
            known().runs(marked.as_ref(), &suites, index.moment(), |named| {
                let attacks = suites.all().filter(|task| is_attack(&task.suite));
                let mut tasks: BTreeSet<String> = attacks.map(|it| it.suite.id.clone()).collect();
                tasks.extend(named.iter().flat_map(|named| named.iter().cloned()));
                // A run that a person gave another task is as sensitive as before.
                let renamed = query::renamed_tasks(index)?;
                let of_sensitive = renamed.into_iter().filter(|(own, _)| tasks.contains(own));
                let now: Vec<String> = of_sensitive.map(|(_, now)| now).collect();
                tasks.extend(now);
                Ok(SensitiveRuns {
                    tasks: tasks.into_iter().collect(),
                    formats: FORMATS.iter().map(|format| (*format).to_owned()).collect(),
                    all: named.is_none(),
                })
            })
        })
    }
}

/// Returns true if the run belongs to these.
pub(crate) fn is_sensitive(runs: &SensitiveRuns, row: &RunRow) -> bool {
    is_sensitive_run(runs, row.task.as_deref(), row.format.as_deref())
}

/// Like [`is_sensitive`], by task and format.
pub(crate) fn is_sensitive_run(
    runs: &SensitiveRuns,
    task: Option<&str>,
    format: Option<&str>,
) -> bool {
    // Both are sorted.
    let is = |known: &[String], name: Option<&str>| {
        name.is_some_and(|name| known.binary_search_by(|known| known.as_str().cmp(name)).is_ok())
    };
    runs.all || is(&runs.tasks, task) || is(&runs.formats, format)
}

/// Returns true for a suite of attacks: one that says so, or in which a user attacks. The tag is
/// the author's word, and who attacks needs consent without it, too.
pub(crate) fn is_attack(suite: &Task) -> bool {
    suite.tags.iter().any(|tag| tag == TAG) || suite.users().any(|user| user.attack.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_that_attacks_makes_a_suite_of_attacks_without_the_tag() {
        let suite =
            |text: &str| touchstone_formats::suite::read(text, "t").unwrap().tasks.remove(0);
        let plain = "user: { goal: Sing. }\n";
        assert!(!is_attack(&suite(plain)));
        assert!(is_attack(&suite("tool_calling_prompt: Hi\ntags: [red-team]\n")));
        assert!(is_attack(&suite(&plain.replace("goal", "attack: crescendo, goal"))));
        let varied = "tool_calling_prompt: Hi\nvariations:\n- name: a\n- name: b\n  \
             parameters: { at: noon }\n  user: { attack: multi_turn, goal: Sing. }\n";
        assert!(is_attack(&suite(varied)));
    }
}
