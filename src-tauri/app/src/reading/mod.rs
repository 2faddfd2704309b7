//! One open run: read from its files in full, shown in pieces of bounded size, however large the
//! files are. Owns how a run becomes steps, parts, tables and pieces of text. The index owns which
//! runs exist.
//!
//! ```text
//! id → index → files → formats → Run ─┬─ view: first steps, answer, facts   (bounded)
//!                                     ├─ pace: time per turn
//!                                     ├─ tried: the search tree
//!                                     ├─ table: rows, order, CSV
//!                                     ├─ text: any part, piece by piece
//!                                     ├─ find: occurrences of a text
//!                                     ├─ comparing: beside other runs
//!                                     └─ diffing: its answer beside the expected or another one
//! ```
mod body;
mod comparing;
mod desk;
mod diff_view;
mod diffing;
mod error;
mod find;
pub(crate) mod given;
mod many;
mod pace;
mod part_id;
mod pieces;
mod source;
mod stored;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod tried;
mod view;

pub(crate) use comparing::{MOST_RUNS, beside, differences};
pub(crate) use error::Unread;
pub(crate) use many::{Told, Whole};
pub(crate) use part_id::PartId;

use desk::{Desk, Opened};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use table::Table;
use touchstone_api::{
    Matches, RowPiece, RowRequest, RunLineage, RunRow, RunView, Span, StepPage, StoredVerdict,
    TextPiece, TreeView,
};
use touchstone_formats::run::Run;
use touchstone_formats::value::Value;
use touchstone_scoring::judges::Subject;
use touchstone_store::flow::Flow;
use touchstone_store::reviews::answer_mark;
use touchstone_store::snippet::{MAX_NEEDLE, Needle};

/// The open runs of one folder, with their caches.
#[derive(Default)]
pub(crate) struct Reading {
    desk: Desk,
    compared: diffing::Remembered,
}

impl Reading {
    /// Opens a run as its files are now. The lineage is left empty for the caller to fill from the
    /// index.
    pub(crate) fn open(&self, flow: &Flow, id: &str) -> Result<RunView, Unread> {
        let (row, opened) = self.look(flow, id)?;
        let asked = task::of(flow, &row);
        let run = &opened.run;
        let mut notes = opened.faults.clone();
        notes.extend(asked.iter().flat_map(|asked| asked.notes.clone()));
        notes.extend(view::notes(run));
        Ok(RunView {
            layout: opened.layout.to_owned(),
            version: opened.version.clone(),
            total_steps: count(run.steps.len()),
            steps: view::steps(run, 0, view::MAX_STEPS),
            pace: pace::of(run),
            tree: tried::brief(run),
            answer: view::answer(run),
            answer_mark: answer_mark(run.answer.as_ref().map(|answer| &answer.value)),
            task: asked.map(|asked| asked.show(flow)),
            facts: view::facts(run),
            lineage: RunLineage::default(),
            files: source::files(flow, &opened.files),
            notes,
            row,
        })
    }

    /// Returns the answer as the files are now; `None` if there is none or it cannot be read.
    pub(crate) fn answer(&self, flow: &Flow, id: &str) -> Result<Option<Value>, Unread> {
        let (_, opened) = self.look(flow, id)?;
        Ok(opened.run.answer.as_ref().map(|answer| answer.value.clone()))
    }

    /// Reads runs as the files are now, in the order of their ids.
    pub(crate) fn all(flow: &Flow, ids: &[&str]) -> Vec<Result<Run, Unread>> {
        let mut all: Vec<_> = ids.iter().map(|_| Err(Unread::Gone)).collect();
        let _ = Self::each(flow, ids, |at, told| {
            all[at] = told.map(|told| told.run);
            ControlFlow::Continue(())
        });
        all
    }

    /// Calls `take` for each run with the position of its id. Runs of a file that holds many come
    /// in the order of that file.
    pub(crate) fn each(
        flow: &Flow,
        ids: &[&str],
        take: impl FnMut(usize, Result<Told, Unread>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        many::each(flow, ids, take)
    }

    /// Returns the data of a run that judges see, as the files are now.
    pub(crate) fn subject(&self, flow: &Flow, id: &str) -> Result<(RunRow, Subject), Unread> {
        let (row, opened) = self.look(flow, id)?;
        let asked = task::of(flow, &row);
        let subject = Subject::of(&opened.run, asked.as_ref().and_then(task::Asked::prompt));
        let subject = match asked {
            Some(asked) => asked.put_to(subject, opened.run.layout, row.system.as_deref()),
            None => subject,
        };
        Ok((row, subject))
    }

    /// Returns the stored verdicts of a run, and a message if the model replies stored beside its
    /// file cannot be read.
    pub(crate) fn stored(
        &self,
        flow: &Flow,
        id: &str,
    ) -> Result<(Vec<StoredVerdict>, Option<String>), Unread> {
        // Only files that hold many runs have stored verdicts; others need not be opened.
        if source::row_of(flow, id)?.0.member.is_none() {
            return Ok((Vec::new(), None));
        }
        Ok(stored::of(flow, &self.look(flow, id)?.1))
    }

    /// Returns steps of the version that was opened. Fails if the files changed.
    pub(crate) fn steps(
        &self,
        flow: &Flow,
        id: &str,
        version: &str,
        span: Span,
    ) -> Result<StepPage, Unread> {
        let opened = self.version(flow, id, version)?;
        let steps = view::steps(&opened.run, span.offset as usize, span.limit as usize);
        Ok(StepPage {
            version: version.to_owned(),
            total_steps: count(opened.run.steps.len()),
            steps,
        })
    }

    /// Returns the search tree of the version that was opened. Fails if the files changed.
    pub(crate) fn tree(&self, flow: &Flow, id: &str, version: &str) -> Result<TreeView, Unread> {
        let opened = self.version(flow, id, version)?;
        Ok(tried::view(version, opened.run.tree.as_ref()))
    }

    /// Returns the path of a file of a run. Fails if the file cannot be opened.
    pub(crate) fn place(flow: &Flow, id: &str, at: u32) -> Result<PathBuf, Unread> {
        let file =
            source::row_of(flow, id)?.1.into_iter().nth(at as usize).ok_or(Unread::NoPart)?;
        source::place(flow, &file)
    }

    /// Returns a piece of the text of a part, or of a file as it is on disk.
    pub(crate) fn text(
        &self,
        flow: &Flow,
        id: &str,
        part: &str,
        span: (u64, u64),
    ) -> Result<TextPiece, Unread> {
        let (offset, limit) = span;
        if let PartId::Raw(at) = part_id(part)? {
            let file = source::row_of(flow, id)?.1.into_iter().nth(at).ok_or(Unread::NoPart)?;
            return source::raw(flow, &file, offset, limit);
        }
        self.with(flow, id, part, |value| Ok(pieces::piece(&pieces::text_of(value), offset, limit)))
    }

    /// Returns rows of a part that is a table.
    pub(crate) fn rows(
        &self,
        flow: &Flow,
        id: &str,
        part: &str,
        request: &RowRequest,
    ) -> Result<RowPiece, Unread> {
        self.with(flow, id, part, |value| {
            Ok(Table::of(value).ok_or(Unread::NoTable)?.read(request))
        })
    }

    /// Returns a part that is a table as CSV.
    pub(crate) fn csv(&self, flow: &Flow, id: &str, part: &str) -> Result<String, Unread> {
        self.with(flow, id, part, |value| Ok(Table::of(value).ok_or(Unread::NoTable)?.csv()))
    }

    /// Finds the occurrences of a text in a run.
    pub(crate) fn find(&self, flow: &Flow, id: &str, text: &str) -> Result<Matches, Unread> {
        if text.is_empty() {
            return Ok(Matches { total: 0, matches: Vec::new() });
        }
        let needle = Needle::anywhere(text).ok_or(Unread::LongNeedle { most: MAX_NEEDLE })?;
        Ok(find::find(&self.on_desk(flow, id)?.run, &needle))
    }

    fn with<T>(
        &self,
        flow: &Flow,
        id: &str,
        part: &str,
        show: impl FnOnce(&Value) -> Result<T, Unread>,
    ) -> Result<T, Unread> {
        let part = part_id(part)?;
        let opened = self.on_desk(flow, id)?;
        let value = match part {
            PartId::Prompt | PartId::Expected | PartId::Parameter(_) => {
                let (row, _) = source::row_of(flow, id)?;
                task::of(flow, &row).and_then(|asked| asked.value(part)).map(Cow::Owned)
            }
            part => part.value(&opened.run),
        };
        show(value.ok_or(Unread::NoPart)?.as_ref())
    }

    /// Returns the cached run, or reads it as it is now.
    fn on_desk(&self, flow: &Flow, id: &str) -> Result<Arc<Opened>, Unread> {
        match self.desk.find(id) {
            Some(opened) => Ok(opened),
            None => Ok(self.look(flow, id)?.1),
        }
    }

    /// Returns the run in the given version. Fails if its files hold another one by now.
    fn version(&self, flow: &Flow, id: &str, version: &str) -> Result<Arc<Opened>, Unread> {
        let opened = match self.desk.find(id).filter(|opened| opened.version == version) {
            Some(opened) => opened,
            None => self.look(flow, id)?.1,
        };
        if opened.version == version { Ok(opened) } else { Err(Unread::Changed) }
    }

    /// Returns the run as it is now; reads its files only if they changed.
    fn look(&self, flow: &Flow, id: &str) -> Result<(RunRow, Arc<Opened>), Unread> {
        let (row, files) = source::row_of(flow, id)?;
        let stamps = source::stamps(flow, &files);
        let tag = source::tag_of(flow, id)?;
        if let Some(opened) =
            self.desk.find(id).filter(|opened| opened.stamps == stamps && opened.tag == tag)
        {
            return Ok((row, opened));
        }
        let opened = Arc::new(source::read(flow, &row, files, (stamps, tag))?);
        self.desk.put(&opened);
        Ok((row, opened))
    }
}

fn part_id(text: &str) -> Result<PartId, Unread> {
    text.parse().map_err(|()| Unread::NoPart)
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}
