//! Why a run, or a part of one, could not be read, and what the page should make of it.
use crate::error::{AppError, Code};
use crate::results::index::IndexError;
use crate::results::open::Refused;

/// Why not.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    /// The index does not know it.
    #[error("This run is not in the list any more.")]
    Unknown,
    /// None of its files is there.
    #[error("The files of this run are not there any more.")]
    Gone,
    /// It is not the version that was opened.
    #[error("The file has changed since it was opened.")]
    Changed,
    /// No such part.
    #[error("The run has no such part.")]
    NoPart,
    /// It is asked for rows, but has none.
    #[error("This part is not a table.")]
    NoTable,
    /// A text that is too long to be searched.
    #[error("A text to be found has at most {most} bytes.")]
    LongNeedle {
        /// How long it may be.
        most: usize,
    },
    /// A file that cannot be read.
    #[error("{file} cannot be read: {why}.")]
    File {
        /// As the person sees it.
        file: String,
        /// Why.
        why: Refused,
    },
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl From<rusqlite::Error> for Unread {
    fn from(error: rusqlite::Error) -> Self {
        Unread::Index(error.into())
    }
}

impl From<Unread> for AppError {
    fn from(error: Unread) -> Self {
        let message = error.to_string();
        match error {
            Unread::Unknown => AppError::new(Code::NotFound, message)
                .hint("It was removed or renamed; the list shows what is there now."),
            Unread::Gone | Unread::File { why: Refused::Gone, .. } => {
                AppError::new(Code::Gone, message).hint("The list is about to leave it out.")
            }
            Unread::Changed => AppError::new(Code::Gone, message).hint("Open it again to read it as it is now."),
            Unread::NoPart | Unread::NoTable | Unread::LongNeedle { .. } => AppError::new(Code::BadRequest, message),
            Unread::File { .. } => AppError::new(Code::Failed, message).hint("Check that it is a file you may read."),
            Unread::Index(error) => error.into(),
        }
    }
}
