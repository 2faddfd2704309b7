//! Values of labels in reviews: they follow the new name of their label.
use crate::error::{AppError, Code};
use crate::{App, OpenFolder};
use std::sync::Arc;
use touchstone_api::Phase;
use touchstone_runner::reviews::{FileChange, NewContent, rewrite, undo};
use touchstone_store::reviews;

/// Review files in which a label got another name, with what they were.
pub(super) struct RenamedReviews {
    open: Arc<OpenFolder>,
    changes: Vec<(String, FileChange)>,
}

impl RenamedReviews {
    /// Gives the values of a label another name, in the reviews of all people and runs, also of runs
    /// that are gone. Fails and changes nothing if a file cannot be read or written, or has values of
    /// the new name from before. Where it is cut short, some reviews have the new name and the label
    /// has the old one; giving it the new name is then refused, and shows how many reviews have it.
    pub(super) fn rename(app: &App, old: &str, new: &str) -> Result<Self, AppError> {
        let open = app.require_folder()?;
        if open.flow.live.now().phase != Phase::Ready {
            let message = "The label keeps its name: the folder is still being read.";
            return Err(
                AppError::new(Code::Failed, message).hint("Try again when all runs are listed.")
            );
        }
        let taken = open.ask(|index| open.lists.reviews_with_label(index, new))?;
        if !taken.is_empty() {
            let message = format!(
                "The label keeps its name: {} values of `{new}` from before.",
                if taken.len() == 1 {
                    "1 review has".into()
                } else {
                    format!("{} reviews have", taken.len())
                }
            );
            return Err(AppError::new(Code::BadRequest, message).hint("Choose another name."));
        }
        let names = open.ask(|index| open.lists.reviews_with_label(index, old))?;
        let mut renamed = Self { open, changes: Vec::new() };
        for name in names {
            if let Err(error) = renamed.rename_one(&name, old, new) {
                renamed.take_back();
                return Err(error);
            }
        }
        Ok(renamed)
    }

    fn rename_one(&mut self, name: &str, old: &str, new: &str) -> Result<(), AppError> {
        let refused = |why: &str| {
            let file = self.open.flow.roots.display_path(&reviews::file_of_name(name));
            let message = format!("The label keeps its name: {file} could not be changed: {why}");
            AppError::new(Code::Failed, message).hint("Correct the file, and try again.")
        };
        let (mut unreadable, mut has_both) = (None, false);
        let done = rewrite(&self.open.flow.roots.output_dir, name, |bytes| {
            let Some(bytes) = bytes else { return NewContent::Unchanged };
            match reviews::read(bytes) {
                Ok(file) if file.has_both_labels(old, new) => {
                    has_both = true;
                    NewContent::Unchanged
                }
                Ok(mut file) => {
                    if !file.rename_label(old, new) {
                        return NewContent::Unchanged;
                    }
                    NewContent::Text { text: file.write(), keep_old: false }
                }
                Err(error) => {
                    unreadable = Some(error);
                    NewContent::Unchanged
                }
            }
        });
        let change = done.map_err(|error| refused(&error.to_string()))?;
        if let Some(error) = unreadable {
            return Err(refused(&error.message));
        }
        if has_both {
            return Err(refused(&format!("it has values of `{new}`, too.")));
        }
        self.open.flow.look_at(&reviews::file_of_name(name));
        self.changes.extend(change.map(|change| (name.to_owned(), change)));
        Ok(())
    }

    /// Restores the files that were not changed by others since.
    pub(super) fn take_back(self) {
        let output_dir = &self.open.flow.roots.output_dir;
        for (name, change) in &self.changes {
            if let Err(error) = undo(output_dir, name, change) {
                tracing::warn!(%name, %error, "a review keeps the new name of a label");
            }
            self.open.flow.look_at(&reviews::file_of_name(name));
        }
    }
}
