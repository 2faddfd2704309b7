//! The one error type that the page and the command line receive: the operation that failed, its
//! subject, and the next step. Errors of single modules are defined in those modules.
use serde::Serialize;
use touchstone_store::index::IndexError;

/// Error categories that the page handles differently; there is exactly one variant per difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No folder is open yet: the page shows the start screen.
    NoFolder,
    /// The run or file is no longer in the index.
    NotFound,
    /// The file changed or was removed between listing and reading: the page requests it again.
    Gone,
    /// The request is invalid.
    BadRequest,
    /// The host that received the request does not offer this action.
    NotAllowed,
    /// Any other error; the message describes it.
    Failed,
}

/// Error shown on the page and on the command line.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AppError {
    /// Category of the error.
    pub code: Code,
    /// One sentence with the failed operation, its subject and the reason.
    pub message: String,
    /// Suggested next step, if there is one.
    pub hint: Option<String>,
}

impl AppError {
    /// Creates an error without a hint.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// Sets the suggested next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n{hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AppError {}

impl From<IndexError> for AppError {
    fn from(error: IndexError) -> Self {
        AppError::new(Code::Failed, format!("The index could not be used: {error}."))
            .hint("A damaged index is rebuilt automatically. If this error stays, run `touchstone doctor`.")
    }
}
