//! The one error that crosses the front doors: what was tried, on what, and what to do next. Owns
//! no module's own errors.
use serde::Serialize;

/// What the page does differently about; one variant for each difference and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No folder is open yet: the page shows the start screen.
    NoFolder,
    /// The run or file is not in the index any more.
    NotFound,
    /// The file changed or went away between listing and reading: the page asks again.
    Gone,
    /// The request does not make sense as it was asked.
    BadRequest,
    /// This front door does not offer the act.
    NotAllowed,
    /// Anything else; the message says what happened.
    Failed,
}

/// An error as the page and the command line see it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(export))]
pub struct AppError {
    /// What kind it is.
    pub code: Code,
    /// One sentence: what could not be done, to what, and why.
    pub message: String,
    /// The next step, when there is one.
    pub hint: Option<String>,
}

impl AppError {
    /// An error of one kind, with its sentence.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// The same error with the next step.
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
