//! **Pure.** Errors of databases.
use touchstone_model::error::{ReadError, ReadErrorKind};

/// Returns the error of a database whose pages are not as they should be.
pub(super) fn damaged(why: &str) -> ReadError {
    ReadError::new(ReadErrorKind::Syntax, format!("The database is damaged: {why}."))
}

/// Returns the error of a database whose pages refer to each other in a circle.
pub(super) fn circle() -> ReadError {
    damaged("its pages refer to each other in a circle")
}

/// Returns the error of a database that another program is writing to.
pub(super) fn busy() -> ReadError {
    let message = "Another program is writing to the database. It is read again after that.";
    ReadError::new(ReadErrorKind::Truncated, message)
}
