//! One open run: read from its files in full, shown in pieces of bounded size, however large the
//! files are. Owns how a run becomes steps, parts, tables and pieces of text. The index owns which
//! runs exist.
//!
//! ```text
//! id → index → files → formats → Run ─┬─ view: first steps, answer, facts   (bounded)
//!                                     ├─ groups: sub-agents and abandoned branches
//!                                     ├─ outline: all steps in few marks, and its failures
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
mod diff_view;
mod diffing;
mod error;
mod find;
mod groups;
pub(crate) mod input_file;
mod many;
mod media;
mod opening;
mod outline;
mod pace;
mod part_id;
mod pieces;
mod run_cache;
mod search_tree;
mod source;
mod stored;
mod table;
mod task;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use comparing::{compare_sides, differences};
pub(crate) use error::RunReadError;
pub(crate) use many::{ParsedRun, RunsFile};
pub(crate) use media::MediaBytes;
pub(crate) use part_id::PartId;
pub(crate) use run_cache::MOST_RUNS;

use opening::{Opening, Openings};
use run_cache::{OpenedRun, RunCache};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use table::Table;
use touchstone_api::{
    Matches, ReadProgress, RowPiece, RowRequest, RunBeginning, RunLineage, RunOutline, RunRow,
    RunView, Span, StepPage, StoredVerdict, TextPiece, TreeView,
};
use touchstone_imports::ImportedRun;
use touchstone_judges::Subject;
use touchstone_model::run::{Run, RunNames, StepKind};
use touchstone_model::value::Value;
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::imports;
use touchstone_store::open::Stamp;
use touchstone_store::reviews::answer_mark;
use touchstone_store::roots::FileId;
use touchstone_store::snippet::{MAX_NEEDLE, Needle};

/// Bytes from which on the beginning of a file is shown while the rest is read.
const LARGE: u64 = 16 << 20;
/// Bytes of such a file that are read for it, and steps that are shown.
const BEGINNING: u64 = 1 << 20;
const MOST_FIRST: usize = 40;

/// The open runs of one folder, with their caches.
#[derive(Default)]
pub(crate) struct Reading {
    desk: RunCache,
    openings: Openings,
    compared: diffing::DiffCache,
}

impl Reading {
    /// Opens a run as its files are now. The lineage is left empty for the caller to fill from the
    /// index.
    pub(crate) fn open(&self, flow: &FolderIndex, id: &str) -> Result<RunView, RunReadError> {
        let (row, opened) = self.open_current(flow, id)?;
        let asked = task::for_run(flow, &row);
        let run = &opened.run;
        let mut notes = opened.faults.clone();
        notes.extend(asked.iter().flat_map(|asked| asked.notes.clone()));
        notes.extend(view::notes(run));
        Ok(RunView {
            layout: opened.layout.to_owned(),
            version: opened.version.clone(),
            total_steps: count(run.steps.len()),
            steps: view::steps(run, 0, view::MAX_STEPS),
            groups: groups::step_groups(run),
            pace: pace::turn_times(run),
            tree: search_tree::brief(run),
            answer: view::answer(run),
            answer_mark: answer_mark(run.answer.as_ref().map(|answer| &answer.value)),
            task: asked.map(|asked| asked.show(flow)),
            facts: view::facts(run),
            own_names: run.imported.as_deref().map(|imported| view::own_names(&imported.names)),
            lineage: RunLineage { edited: view::edited_part(run), ..RunLineage::default() },
            files: source::files(flow, &row, &opened.files)?,
            notes,
            row,
        })
    }

    /// Returns the answer as the files are now; `None` if there is none or it cannot be read.
    pub(crate) fn answer(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<Option<Value>, RunReadError> {
        let (_, opened) = self.open_current(flow, id)?;
        Ok(opened.run.answer.as_ref().map(|answer| answer.value.clone()))
    }

    /// Returns the first text in a message of the user; `None` if there is none or the run cannot
    /// be read. What describes an image, a sound or a file is no such text.
    pub(crate) fn first_question(&self, flow: &FolderIndex, id: &str) -> Option<String> {
        let (_, opened) = self.open_current(flow, id).ok()?;
        let questions = opened.run.steps.iter().filter(|step| step.kind == StepKind::User);
        let mut parts = questions.flat_map(|step| &step.parts);
        let text = parts.find_map(|part| {
            let text = part.value.text().filter(|text| !text.trim().is_empty());
            text.filter(|_| !part.is_media() && part.label != "media")
        });
        text.map(str::to_owned)
    }

    /// Returns the row of a run, and the names in its file if another tool wrote it.
    pub(crate) fn own_names(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<(RunRow, Option<RunNames>), RunReadError> {
        let (row, opened) = self.open_current(flow, id)?;
        Ok((row, opened.run.imported.as_deref().map(|imported| imported.names.clone())))
    }

    /// Reads runs as the files are now, in the order of their ids.
    pub(crate) fn all(flow: &FolderIndex, ids: &[&str]) -> Vec<Result<Run, RunReadError>> {
        let mut all: Vec<_> = ids.iter().map(|_| Err(RunReadError::Gone)).collect();
        let _ = Self::for_each_run(flow, ids, |at, told| {
            all[at] = told.map(|told| told.run);
            ControlFlow::Continue(())
        });
        all
    }

    /// Calls `take` for each run with the position of its id. Runs of a file that holds many come
    /// in the order of that file.
    pub(crate) fn for_each_run(
        flow: &FolderIndex,
        ids: &[&str],
        take: impl FnMut(usize, Result<ParsedRun, RunReadError>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        many::for_each_run(flow, ids, take)
    }

    /// Calls `take` for each run of another tool's files, as its reader returns it, with the
    /// position of its id.
    pub(crate) fn for_each_imported(
        flow: &FolderIndex,
        ids: &[&str],
        take: impl FnMut(usize, Result<ImportedRun, RunReadError>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        many::for_each_imported(flow, ids, take)
    }

    /// Returns the data of a run that judges see, as the files are now.
    pub(crate) fn subject(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<(RunRow, Subject), RunReadError> {
        let (row, opened) = self.open_current(flow, id)?;
        let asked = task::for_run(flow, &row);
        let subject =
            Subject::from_run(&opened.run, asked.as_ref().and_then(task::RunTask::prompt));
        let subject = match asked {
            Some(asked) => asked.extend_subject(subject, opened.run.layout, row.system.as_deref()),
            None => subject,
        };
        Ok((row, subject))
    }

    /// Returns the stored verdicts of a run, and a message if the model replies stored beside its
    /// file cannot be read.
    pub(crate) fn stored(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<(Vec<StoredVerdict>, Option<String>), RunReadError> {
        // Only files that hold many runs have stored verdicts; others need not be opened.
        if source::row_of(flow, id)?.0.member.is_none() {
            return Ok((Vec::new(), None));
        }
        Ok(stored::stored_verdicts(flow, &self.open_current(flow, id)?.1))
    }

    /// Returns steps of the version that was opened. Fails if the files changed.
    pub(crate) fn steps(
        &self,
        flow: &FolderIndex,
        id: &str,
        version: &str,
        span: Span,
    ) -> Result<StepPage, RunReadError> {
        let opened = self.version(flow, id, version)?;
        let steps = view::steps(&opened.run, span.offset as usize, span.limit as usize);
        Ok(StepPage {
            version: version.to_owned(),
            total_steps: count(opened.run.steps.len()),
            steps,
        })
    }

    /// Returns the outline of the version that was opened. Fails if the files changed.
    pub(crate) fn outline(
        &self,
        flow: &FolderIndex,
        id: &str,
        version: &str,
    ) -> Result<RunOutline, RunReadError> {
        Ok(outline::outline(version, &self.version(flow, id, version)?.run))
    }

    /// Returns the search tree of the version that was opened. Fails if the files changed.
    pub(crate) fn tree(
        &self,
        flow: &FolderIndex,
        id: &str,
        version: &str,
    ) -> Result<TreeView, RunReadError> {
        let opened = self.version(flow, id, version)?;
        Ok(search_tree::view(version, opened.run.tree.as_ref()))
    }

    /// Returns the path of a file of a run. Fails if the file cannot be opened.
    pub(crate) fn file_path(
        flow: &FolderIndex,
        id: &str,
        at: u32,
    ) -> Result<PathBuf, RunReadError> {
        let file =
            source::row_of(flow, id)?.1.into_iter().nth(at as usize).ok_or(RunReadError::NoPart)?;
        source::file_path(flow, &file)
    }

    /// Returns a piece of the text of a part, or of a file as it is on disk.
    pub(crate) fn text(
        &self,
        flow: &FolderIndex,
        id: &str,
        part: &str,
        span: (u64, u64),
    ) -> Result<TextPiece, RunReadError> {
        let (offset, limit) = span;
        if let PartId::Raw(at) = part_id(part)? {
            let file =
                source::row_of(flow, id)?.1.into_iter().nth(at).ok_or(RunReadError::NoPart)?;
            return source::raw(flow, &file, offset, limit);
        }
        self.with(flow, id, part, |value| Ok(pieces::piece(&pieces::text_of(value), offset, limit)))
    }

    /// Returns rows of a part that is a table.
    pub(crate) fn rows(
        &self,
        flow: &FolderIndex,
        id: &str,
        part: &str,
        request: &RowRequest,
    ) -> Result<RowPiece, RunReadError> {
        self.with(flow, id, part, |value| {
            Ok(Table::from_value(value).ok_or(RunReadError::NoTable)?.read(request))
        })
    }

    /// Returns a part that is a table as CSV.
    pub(crate) fn csv(
        &self,
        flow: &FolderIndex,
        id: &str,
        part: &str,
    ) -> Result<String, RunReadError> {
        self.with(flow, id, part, |value| {
            Ok(Table::from_value(value).ok_or(RunReadError::NoTable)?.csv())
        })
    }

    /// Returns the image, sound or file that a part of a step describes. Fails if the files changed
    /// since the version that was opened; a file beside the transcript is read as it is now.
    pub(crate) fn media(
        flow: &FolderIndex,
        id: &str,
        version: &str,
        part: &str,
    ) -> Result<MediaBytes, RunReadError> {
        media::read(flow, id, version, part)
    }

    /// Finds the occurrences of a text in a run.
    pub(crate) fn find(
        &self,
        flow: &FolderIndex,
        id: &str,
        text: &str,
    ) -> Result<Matches, RunReadError> {
        if text.is_empty() {
            return Ok(Matches { total: 0, matches: Vec::new() });
        }
        let needle = Needle::anywhere(text).ok_or(RunReadError::LongNeedle { most: MAX_NEEDLE })?;
        Ok(find::find(&self.cached_or_current(flow, id)?.run, &needle))
    }

    fn with<T>(
        &self,
        flow: &FolderIndex,
        id: &str,
        part: &str,
        show: impl FnOnce(&Value) -> Result<T, RunReadError>,
    ) -> Result<T, RunReadError> {
        let part = part_id(part)?;
        let opened = self.cached_or_current(flow, id)?;
        let value = match part {
            PartId::Prompt | PartId::Expected | PartId::Parameter(_) => {
                let (row, _) = source::row_of(flow, id)?;
                task::for_run(flow, &row).and_then(|asked| asked.value(part)).map(Cow::Owned)
            }
            part => part.value(&opened.run),
        };
        show(value.ok_or(RunReadError::NoPart)?.as_ref())
    }

    /// Returns the cached run, or reads it as it is now.
    fn cached_or_current(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<Arc<OpenedRun>, RunReadError> {
        match self.desk.find(id) {
            Some(opened) => Ok(opened),
            None => Ok(self.open_current(flow, id)?.1),
        }
    }

    /// Returns the run in the given version. Fails if its files hold another one by now.
    fn version(
        &self,
        flow: &FolderIndex,
        id: &str,
        version: &str,
    ) -> Result<Arc<OpenedRun>, RunReadError> {
        let opened = match self.desk.find(id).filter(|opened| opened.version == version) {
            Some(opened) => opened,
            None => self.open_current(flow, id)?.1,
        };
        if opened.version == version { Ok(opened) } else { Err(RunReadError::Changed) }
    }

    /// Returns the run as it is now; reads its files only if they changed.
    fn open_current(
        &self,
        flow: &FolderIndex,
        id: &str,
    ) -> Result<(RunRow, Arc<OpenedRun>), RunReadError> {
        let (row, files) = source::row_of(flow, id)?;
        let stamps = source::stamps(flow, &files);
        let tag = source::tag_of(flow, id)?;
        if let Some(opened) =
            self.desk.find(id).filter(|opened| opened.stamps == stamps && opened.tag == tag)
        {
            return Ok((row, opened));
        }
        let opening = self.openings.join(id);
        let read = self.read_once(flow, &row, (files, stamps, tag), &opening);
        self.openings.leave(id, opening);
        Ok((row, read?))
    }

    /// Reads a run, unless another thread did so in the meantime: what is large is read once.
    fn read_once(
        &self,
        flow: &FolderIndex,
        row: &RunRow,
        (files, stamps, tag): (Vec<FileId>, Vec<Option<Stamp>>, Option<String>),
        opening: &Opening,
    ) -> Result<Arc<OpenedRun>, RunReadError> {
        let _turn = opening.wait_for_turn();
        let is_same = |opened: &Arc<OpenedRun>| opened.stamps == stamps && opened.tag == tag;
        if let Some(opened) = self.desk.find(&row.id).filter(is_same) {
            return Ok(opened);
        }
        if opening.watch.is_stopped() {
            return Err(RunReadError::Stopped);
        }
        let opened = Arc::new(source::read(flow, row, files, (stamps, tag), &opening.watch)?);
        self.desk.put(&opened);
        Ok(opened)
    }

    /// Returns the row of a run with its first steps, from the beginning of its file. `None` for a file
    /// that is small, or whose beginning cannot be read without the rest.
    pub(crate) fn beginning(
        flow: &FolderIndex,
        id: &str,
    ) -> Result<Option<(RunRow, RunBeginning)>, RunReadError> {
        let (row, files) = source::row_of(flow, id)?;
        let is_large = row.format.is_some() && row.size >= LARGE;
        let Some(file) = files.first().filter(|file| is_large && imports::has_lines(file)) else {
            return Ok(None);
        };
        let member = row.member.as_deref();
        let read =
            source::with_room(|| imports::read_beginning(&flow.roots, file, member, BEGINNING));
        // The whole file says what is wrong with it.
        let steps = read.map(|run| view::steps(&run, 0, MOST_FIRST)).unwrap_or_default();
        Ok((!steps.is_empty()).then_some((row, RunBeginning { steps })))
    }

    /// Returns how far the reading of a run is; `None` if it is not being read.
    pub(crate) fn progress(&self, id: &str) -> Option<ReadProgress> {
        self.openings.progress(id)
    }

    /// Stops the reading of a run.
    pub(crate) fn stop(&self, id: &str) {
        self.openings.stop(id);
    }
}

fn part_id(text: &str) -> Result<PartId, RunReadError> {
    text.parse().map_err(|()| RunReadError::NoPart)
}

fn count(steps: usize) -> u32 {
    u32::try_from(steps).unwrap_or(u32::MAX)
}
