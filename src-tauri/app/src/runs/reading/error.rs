//! Errors of reading a run or a part of it, and their conversion for the page.
use crate::error::{AppError, Code};
use touchstone_store::index::IndexError;
use touchstone_store::open::Refused;

/// Reason why a run, a part of it or a given file could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunReadError {
    /// The index has no such run.
    #[error("This run is no longer in the list.")]
    Unknown,
    /// None of the files of the run exists.
    #[error("The files of this run are not there any more.")]
    Gone,
    /// The page stopped the reading.
    #[error("Reading this run was stopped.")]
    Stopped,
    /// The content is not the version that was opened.
    #[error("The file has changed since it was opened.")]
    Changed,
    /// The run has no such part.
    #[error("The run has no such part.")]
    NoPart,
    /// Rows were requested of a part that is not a table.
    #[error("This part is not a table.")]
    NoTable,
    /// What a part describes is no image, sound or file that can be opened.
    #[error("This is not an image or a sound that can be opened.")]
    NoMedia,
    /// The file of an image or sound does not exist.
    #[error("{file} is named in the transcript, but does not exist.")]
    NoMediaFile {
        /// Path shown to the user.
        file: String,
    },
    /// An image, sound or file is too large.
    #[error("This is larger than {} MB, so it is not opened here.", most >> 20)]
    LargeMedia {
        /// Maximum size in bytes.
        most: usize,
    },
    /// The text to search for is too long.
    #[error("A text to be found has at most {most} bytes.")]
    LongNeedle {
        /// Maximum length in bytes.
        most: usize,
    },
    /// The suite of the run is not known, so the expected output is not either.
    #[error("The suite of this run is not in the folder, so it is not known what was expected.")]
    NoTask,
    /// The suite has no expected output for this run.
    #[error("The suite says nothing of what was expected of this run.")]
    NoExpected,
    /// The expected output cannot be read.
    #[error("{0}")]
    BadExpected(String),
    /// The run to compare with has no answer.
    #[error("The run to compare with has no answer.")]
    NoAnswer,
    /// A file given by the user cannot be read.
    #[error("{name} cannot be read. {why}")]
    Given {
        /// Name of the file, as given.
        name: String,
        /// The reason.
        why: String,
    },
    /// A transcript given by the user has no answer.
    #[error("{name} is a transcript without an answer.")]
    GivenNoAnswer {
        /// Name of the file, as given.
        name: String,
    },
    /// The content of the files cannot be parsed.
    #[error("{0}")]
    Unreadable(String),
    /// A file cannot be opened or read.
    #[error("{file} cannot be read: {why}.")]
    File {
        /// Path shown to the user.
        file: String,
        /// The reason.
        why: Refused,
    },
    /// Error of the index.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl From<rusqlite::Error> for RunReadError {
    fn from(error: rusqlite::Error) -> Self {
        RunReadError::Index(error.into())
    }
}

impl From<RunReadError> for AppError {
    fn from(error: RunReadError) -> Self {
        let message = error.to_string();
        match error {
            RunReadError::Unknown => AppError::new(Code::NotFound, message)
                .hint("It was removed or renamed; the list shows what is there now."),
            RunReadError::Gone | RunReadError::File { why: Refused::Gone, .. } => {
                AppError::new(Code::Gone, message).hint("Its file was moved or removed. Put it back, or go back to the list.")
            }
            RunReadError::Stopped => AppError::new(Code::Failed, message).hint("Open it again to read it."),
            RunReadError::Changed => AppError::new(Code::Gone, message).hint("Open it again to read the current file."),
            RunReadError::NoMedia | RunReadError::LargeMedia { .. } => AppError::new(Code::BadRequest, message)
                .hint("Open the file of the run in another program."),
            RunReadError::NoMediaFile { .. } => AppError::new(Code::NotFound, message)
                .hint("Put it where the transcript names it, and try again."),
            RunReadError::NoPart | RunReadError::NoTable | RunReadError::LongNeedle { .. } => AppError::new(Code::BadRequest, message),
            RunReadError::NoTask => AppError::new(Code::NotFound, message)
                .hint("Open the folder that holds the suite too, or compare with the answer of another run."),
            RunReadError::NoExpected => AppError::new(Code::NotFound, message)
                .hint("Write `expected_output` into the suite, or compare with the answer of another run."),
            RunReadError::BadExpected(_) => {
                AppError::new(Code::Failed, message).hint("Fix that file, or the suite that names it.")
            }
            RunReadError::Given { .. } => {
                AppError::new(Code::BadRequest, message).hint("Give JSON, YAML, text or a transcript.")
            }
            RunReadError::GivenNoAnswer { .. } => AppError::new(Code::BadRequest, message)
                .hint("Give a run that ended with an answer, or the answer itself."),
            RunReadError::NoAnswer => AppError::new(Code::NotFound, message).hint("Choose a run that ended with an answer."),
            RunReadError::Unreadable(_) => AppError::new(Code::Failed, message).hint("Open the run to see why."),
            RunReadError::File { .. } => AppError::new(Code::Failed, message).hint("Check that it is a file you may read."),
            RunReadError::Index(error) => error.into(),
        }
    }
}
