//! Why a run, or a part of one, could not be read, and what the page should make of it.
use crate::error::{AppError, Code};
use touchstone_store::index::IndexError;
use touchstone_store::open::Refused;

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
    /// Nobody knows what was asked.
    #[error("The suite of this run is not in the folder, so it is not known what was expected.")]
    NoTask,
    /// Nobody said what was expected.
    #[error("The suite says nothing of what was expected of this run.")]
    NoExpected,
    /// What was expected cannot be read.
    #[error("{0}")]
    BadExpected(String),
    /// There is nothing to compare with.
    #[error("The run to compare with has no answer.")]
    NoAnswer,
    /// A file that somebody named.
    #[error("{name} cannot be read. {why}")]
    Given {
        /// As it was named.
        name: String,
        /// Why.
        why: String,
    },
    /// A transcript that somebody named.
    #[error("{name} is a transcript without an answer.")]
    GivenNoAnswer {
        /// As it was named.
        name: String,
    },
    /// What its files say cannot be read.
    #[error("{0}")]
    Unreadable(String),
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
            Unread::NoTask => AppError::new(Code::NotFound, message)
                .hint("Open the folder that holds the suite too, or compare with the answer of another run."),
            Unread::NoExpected => AppError::new(Code::NotFound, message)
                .hint("Write `expected_output` into the suite, or compare with the answer of another run."),
            Unread::BadExpected(_) => {
                AppError::new(Code::Failed, message).hint("Mend that file, or the suite that names it.")
            }
            Unread::Given { .. } => {
                AppError::new(Code::BadRequest, message).hint("Give JSON, YAML, text or a transcript.")
            }
            Unread::GivenNoAnswer { .. } => AppError::new(Code::BadRequest, message)
                .hint("Give a run that ended with an answer, or the answer itself."),
            Unread::NoAnswer => AppError::new(Code::NotFound, message).hint("Choose a run that ended with an answer."),
            Unread::Unreadable(_) => AppError::new(Code::Failed, message).hint("Open the run to see why."),
            Unread::File { .. } => AppError::new(Code::Failed, message).hint("Check that it is a file you may read."),
            Unread::Index(error) => error.into(),
        }
    }
}
