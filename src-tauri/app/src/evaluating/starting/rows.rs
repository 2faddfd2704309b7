//! Writes the rows of runs in the open folder as a data file, in the results folder of the page. If
//! their content changed, a new file is written; no file is overwritten, because results may have
//! been made from it.
use super::{FOLDER, bad, disk};
use crate::error::AppError;
use crate::evaluating::EvaluationActions;
use crate::evaluating::data_files::LARGEST;
use crate::reports::rows_of_runs::{Choice, EvaluatorRows};
use std::path::Path;
use touchstone_api::RowsMade;
use touchstone_runner::atomic_write::add;
use touchstone_runner::disk::read;

/// Base name of the files.
const NAME: &str = "runs";
/// Maximum number of file names tried.
const TRIES: usize = 1_000;

impl EvaluationActions<'_> {
    /// Writes the rows of the runs that match a filter as a data file, like `messages --folder`.
    /// Existing files are not changed. Sensitive runs are left out unless they are to be included.
    pub fn make_rows(self, filter: &str, include_sensitive: bool) -> Result<RowsMade, AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        let (EvaluatorRows { lines, mut notes, sensitive }, misread) =
            self.app.reports().rows_up_to(
                filter,
                &Choice::default(),
                include_sensitive,
                usize::try_from(LARGEST).unwrap_or(usize::MAX),
            )?;
        if let Some(one) = misread.first() {
            return Err(bad(format!("{}: {}", one.token, one.message))
                .hint("Write the filter as in the list of runs."));
        }
        if lines.is_empty()
            && let Some(note) = sensitive.clone()
        {
            return Err(bad(note).hint("Include sensitive texts, or change the filter."));
        }
        notes.extend(sensitive);
        if lines.is_empty() {
            let message =
                "None of these runs makes a row: they hold no messages and no tool calls.";
            return Err(bad(message.to_owned()).hint("Change the filter, or leave it empty."));
        }
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let dir = &open.flow.roots.output_dir;
        let path = written(dir, text.as_bytes())?;
        let file = self.data_file_at(&open, &dir.join(path))?;
        Ok(RowsMade { file, rows: lines.len() as u64, notes })
    }
}

/// Writes the first free file name, or returns the one that already has this content.
fn written(dir: &Path, text: &[u8]) -> Result<String, AppError> {
    for turn in 1..=TRIES {
        let number = if turn == 1 { String::new() } else { format!("-{turn}") };
        let path = format!("{FOLDER}/{NAME}{number}.jsonl");
        if add(dir, &path, text).map_err(disk)?
            || read(dir, &path, LARGEST).map_err(disk)?.is_some_and(|old| old == text)
        {
            return Ok(path);
        }
    }
    let message = format!("{FOLDER} already holds {TRIES} files of rows.");
    Err(bad(message).hint("Delete those that you no longer need."))
}
